//! A modal body: a structure that bends little while its frame moves largely.
//!
//! The [`structure`] is meshed from beams, or given by its matrices ([`files`]), and [reduced](mod@reduce) to few amplitudes η. The body then
//! consists of
//!
//! - the frame, a body `X.frame`, at the centre of mass where η = 0, with the axes of the world in the model pose;
//! - internal points that hold three or two amplitudes each as their coordinates. Together with the frame they have one block of M, which
//!   changes with η, and their [`inertia`] is that of the masses of the mesh, with half of those at the interface;
//! - the interface nodes, bodies `X.node1`, … with the other half, each [`tie`]d to frame and amplitudes by six rows. They move as the
//!   shapes say, so it does not matter who carries their mass; shared, both blocks of M are far from singular;
//! - the [`stiffness`] and damping of the amplitudes.
//!
//! Exact for small η to the second order in the energy: steady and unsteady rotation, with the stiffening by axial loads where the
//! shapes have their quadratic part (`geometric_stiffness`). Not for members that bend so much that linear stiffness does not hold:
//! for these `beam`. Constraint modes of the interface are stiff; implicit methods pass over them, explicit ones have to follow them.

pub mod files;
pub mod floating;
pub mod inertia;
pub mod recover;
pub mod reduce;
pub mod shapes;
mod source;
pub mod stiffness;
pub mod structure;
pub mod tie;

use super::prelude::*;
use floating::{Floating, Picture};
use inertia::Inertia;
use reduce::{Failed, Reduced, reduce};
use sarrus_model::Model;
use sarrus_model::transform::{apply, quaternion};
use shapes::{Lump, Shapes};
use source::{failed, nodes, ratios, source};
use std::collections::HashMap;
use stiffness::{MOST_AMPLITUDES, Stiffness};
use structure::Structure;
use tie::Tie;

/// The part of the mass at an interface node that its own body carries.
const OWN: f64 = 0.5;

/// Names of the beams that modal bodies are made of: they are no beams of their own. With the body that takes each.
pub(crate) fn taken(model: &Model) -> HashMap<String, String> {
    let mut taken = HashMap::new();
    for element in model.flexible.iter().filter(|e| e.kind == KIND.name) {
        // what is wrong with the list is said when the body is read
        for (name, _) in Reader::open(model, element).names("members").unwrap_or_default() {
            taken.insert(name, element.name.clone());
        }
    }
    taken
}

/// Where the amplitudes are kept: bodies after the frame with three or two of them each, by amplitude.
fn amplitudes(n: usize) -> Vec<(usize, usize)> {
    let twos = [0, 2, 1][n % 3];
    let threes = (n - 2 * twos) / 3;
    let sizes = std::iter::repeat_n(3, threes).chain(std::iter::repeat_n(2, twos));
    sizes.enumerate().flat_map(|(body, size)| (0..size).map(move |k| (body + 1, k))).collect()
}

fn read(reader: &Reader, sections: &[Section]) -> Result<Member> {
    if reader.is_planar() {
        return Err(reader.element_error("is a modal body, which a planar model cannot have"))
            .map_err(|e| e.hint("space = \"spatial\", or a `beam`"));
    }
    let (structure, interface) = source(reader, sections)?;
    let modes = reader.count_opt("modes")?.unwrap_or(6) as usize;
    let knows_bars = !structure.bars.is_empty();
    let quadratic = reader.flag_or("geometric_stiffness", knows_bars)?;
    if quadratic && !knows_bars {
        let message = format!("{}: matrices do not say how loads stiffen it", reader.title());
        return Err(reader.error("geometric_stiffness", message).hint("`members` do; leave it out here"));
    }
    let held = 6 * (structure.nodes.len() - interface.len());
    let n = (modes.min(held) + 6 * interface.len()).saturating_sub(6);
    if modes > held || !(2..=MOST_AMPLITUDES).contains(&n) {
        let least = if interface.len() == 1 { 2 } else { 0 };
        let most = held.min(MOST_AMPLITUDES + 6 - 6 * interface.len().min(20));
        let message = format!("`modes` of {} cannot be {modes}", reader.title());
        return Err(reader.error("modes", message).hint(format!("{least} to {most} here")));
    }
    let reduced =
        reduce(&structure, &interface, modes, quadratic).map_err(|why| failed(reader, &structure, &why))?;
    let damping = ratios(reader, reduced.squares.len())?;
    let shown = nodes(reader, &structure, "show")?;
    build(reader, &structure, &interface, &shown, reduced, &damping)
}

/// How the nodes `nodes` move together, all with the same share, from `middle`.
fn shapes(structure: &Structure, reduced: &Reduced, nodes: &[usize], middle: &[f64; 3]) -> Shapes {
    let share = 1.0 / nodes.len() as f64;
    let mean = |shape: &Vec<f64>, first: usize| {
        [0, 1, 2].map(|k| nodes.iter().map(|&n| share * shape[6 * n + first + k]).sum::<f64>())
    };
    let place = |k: usize| nodes.iter().map(|&n| share * structure.nodes[n].p[k]).sum::<f64>();
    Shapes {
        r: [0, 1, 2].map(|k| place(k) - middle[k]),
        S: reduced.shapes.iter().map(|shape| mean(shape, 0)).collect(),
        P: reduced.shapes.iter().map(|shape| mean(shape, 3)).collect(),
        quadratic: reduced.quadratic.iter().map(|shape| mean(shape, 0)).collect(),
    }
}

fn build(
    reader: &Reader,
    structure: &Structure,
    interface: &[usize],
    shown: &[(String, usize)],
    reduced: Reduced,
    damping: &[f64],
) -> Result<Member> {
    let name = reader.element().name.clone();
    let n = reduced.squares.len();
    let middle = structure.middle();
    let from = reader.point("at")?.unwrap_or_else(|| reader.transform().point([0.0; 3]));
    let turned = match reader.orientation("orientation")? {
        Some(q) => Mat3::from_quat(q),
        None if reader.has("members") => Mat3::identity(),
        None => Mat3(reader.transform().q),
    };
    let from = if reader.has("members") { [0.0; 3] } else { from };
    let in_world = |p: [f64; 3]| {
        let p = apply(&turned.0, p);
        [0, 1, 2].map(|k| from[k] + p[k])
    };

    let mut bodies: Vec<Body> = Vec::new();
    for (k, &node) in interface.iter().enumerate() {
        let of = &structure.nodes[node];
        let own = structure.weights.iter().filter(|w| w.nodes == [node]);
        let (mut mass, mut inertia) = (0.0, Mat3([[0.0; 3]; 3]));
        for weight in own {
            mass += OWN * weight.lump.mass;
            let local = of.axes.transpose() * (weight.lump.inertia * of.axes);
            (0..9).for_each(|i| inertia.0[i / 3][i % 3] += OWN * local.0[i / 3][i % 3]);
        }
        if !(mass > 0.0 && (0..3).all(|i| inertia.0[i][i] > 0.0)) {
            let message =
                format!("interface node `{}` of {} needs mass and inertia", of.names[0], reader.title());
            return Err(reader.error("interface", message).hint("choose a node that has both"));
        }
        let start = (in_world(of.p), quaternion(&(turned * of.axes).0), 0.0);
        bodies.push(body(format!("{name}.node{}", k + 1), BodyKind::Rigid, mass, inertia, start));
    }
    let visible = bodies.len();

    // what those bodies do not carry
    let rest = |w: &structure::Weight| {
        let shared = w.nodes.len() == 1 && interface.contains(&w.nodes[0]);
        let part = if shared { 1.0 - OWN } else { 1.0 };
        Lump { mass: part * w.lump.mass, inertia: Mat3(w.lump.inertia.0.map(|row| row.map(|x| part * x))) }
    };
    let lumps: Vec<_> =
        structure.weights.iter().map(|w| (rest(w), shapes(structure, &reduced, &w.nodes, &middle))).collect();
    let inertia = Inertia::new(&lumps, n);
    let tensor = inertia.at_rest().ok_or_else(|| failed(reader, structure, &Failed::Mass))?;
    let places = amplitudes(n);
    let frame = bodies.len();
    let start = (in_world(middle), quaternion(&turned.0), 0.0);
    let frame_body = body(format!("{name}.frame"), BodyKind::Rigid, inertia.mass, tensor, start);
    bodies.push(Body { shares: true, ..frame_body });
    for after in 1..=places.last().map_or(0, |(body, _)| *body) {
        let held = places.iter().filter(|(body, _)| *body == after).count();
        let kind = if held == 3 { BodyKind::Point } else { BodyKind::PlanarPoint };
        let start = ([0.0; 3], [1.0, 0.0, 0.0, 0.0], 0.0);
        bodies.push(Body {
            shares: true,
            between: Some([frame as u32; 2]),
            ..body(format!("{name}.amplitudes{after}"), kind, 0.0, Mat3([[0.0; 3]; 3]), start)
        });
    }
    let holders: Vec<usize> = (frame..bodies.len()).collect();

    let mut rows = Vec::new();
    for (k, &node) in interface.iter().enumerate() {
        let tie = Tie {
            shapes: shapes(structure, &reduced, &[node], &middle),
            axes: structure.nodes[node].axes,
            amplitudes: places.clone(),
            node: holders.len(),
        };
        let bodies = holders.iter().copied().chain([k]).collect();
        rows.push(Part { name: format!("{name}.node{}", k + 1), bodies, rows: Arc::new(tie) });
    }
    let shown =
        shown.iter().map(|(node, of)| (node.clone(), Arc::new(shapes(structure, &reduced, &[*of], &middle))));
    let shown = shown.collect();
    let roots = reduced.squares.iter().map(|s| s.sqrt());
    let stiffness = Stiffness {
        amplitudes: places.iter().map(|(body, k)| (body - 1, *k)).collect(),
        damping: roots.zip(damping).map(|(root, ratio)| 2.0 * ratio * root).collect(),
        squares: reduced.squares,
    };
    let at = |shape: &Vec<f64>, n: usize| [0, 1, 2].map(|k| shape[6 * n + k]);
    let all = 0..structure.nodes.len();
    let picture = Picture {
        nodes: structure.nodes.iter().map(|of| [0, 1, 2].map(|k| of.p[k] - middle[k])).collect(),
        modes: reduced.shapes.iter().map(|s| all.clone().map(|n| at(s, n)).collect()).collect(),
        lines: structure.bars.iter().map(|bar| bar.nodes).collect(),
    };
    let forces =
        vec![Spring { name: name.clone(), bodies: holders[1..].to_vec(), load: Arc::new(stiffness) }];
    let floating = Floating {
        frame: frame as u32,
        amplitudes: places,
        inertia: Arc::new(inertia),
        picture: Arc::new(picture),
    };
    Ok(Member {
        name,
        bodies,
        visible,
        part: "node",
        first: 1,
        mirrored: Vec::new(),
        rows,
        joints: Vec::new(),
        forces,
        floating: Some(floating),
        shown,
        id: 0,
    })
}

fn body(name: String, kind: BodyKind, mass: f64, inertia: Mat3, start: ([f64; 3], [f64; 4], f64)) -> Body {
    Body {
        name,
        kind,
        mass,
        inertia,
        com: [0.0; 3],
        q: 0,
        v: 0,
        start,
        markers: Vec::new(),
        between: None,
        shares: false,
    }
}

/// `kind = "modal"`
pub const KIND: Kind = Kind {
    name: "modal",
    doc: "a body that bends little: a floating frame with few shapes of a beam structure, or of given matrices",
    keys: &[
        Key::new("members", KeyType::Names, "", "beams that it consists of; they are no beams of their own"),
        Key::new("mass", KeyType::Text, "", "M instead: Matrix Market, six rows a node, lumped"),
        Key::new("stiffness", KeyType::Text, "", "K: Matrix Market, six rows a node, without supports"),
        Key::new("nodes", KeyType::Text, "", "their nodes: CSV of name, x, y, z"),
        Key::new("interface", KeyType::Names, "", "nodes that become bodies: node1, node2, …"),
        Key::new("show", KeyType::Names, "", "further nodes whose places and displacements are results"),
        Key::new("modes", KeyType::Number, "6", "shapes beside those of the interface, with that held"),
        Key::new(
            "damping",
            KeyType::Either(&KeyType::Number, &KeyType::Numbers),
            "0",
            "damping ratio, or one of each amplitude",
        ),
        Key::new(
            "geometric_stiffness",
            KeyType::Flag,
            "true, of matrices false",
            "whether axial loads stiffen and soften it",
        ),
        Key::new("at", KeyType::Point, "the origin", "where the origin of `nodes` is [m]"),
        Key::new("orientation", KeyType::Orientation, "", "how their axes stand"),
    ],
    planar: &[],
    spatial: &[],
    read,
};
