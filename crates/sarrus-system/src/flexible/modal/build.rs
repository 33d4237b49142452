//! The bodies, rows and forces that a reduced structure becomes.

use super::floating::{Floating, Picture};
use super::inertia::InertiaInvariants;
use super::invariants::NodeMass;
use super::points::points;
use super::reduce::{Failed, ReducedShapes};
use super::shapes::Shapes;
use super::source::failed;
use super::stiffness::ModalStiffness;
use super::structure::ModalStructure;
use super::tie::ModalTie;
use crate::flexible::prelude::*;
use sarrus_math::Vec3;
use sarrus_math::solve::{cholesky, symmetric_eigenpairs};
use sarrus_model::transform::{Frame, quaternion};

/// The part of the mass at an interface node that its own body carries, at most.
const OWN: f64 = 0.5;

/// Returns where the amplitudes are kept: bodies after the frame with three or two of them each, by amplitude. In the plane a body has two places, and one that
/// turns an angle as well.
fn amplitudes(n: usize, planar: bool) -> Vec<(usize, usize)> {
    let twos = if planar { (n - 3 * (n % 2)) / 2 } else { [0, 2, 1][n % 3] };
    let threes = (n - 2 * twos) / 3;
    let coordinates: &[usize] = if planar { &[0, 1, 5] } else { &[0, 1, 2] };
    let sizes = std::iter::repeat_n(3, threes).chain(std::iter::repeat_n(2, twos));
    sizes
        .enumerate()
        .flat_map(|(body, size)| coordinates[..size].iter().map(move |&k| (body + 1, k)))
        .collect()
}

/// Computes how a node moves, from `middle`.
fn shapes(structure: &ModalStructure, reduced: &ReducedShapes, node: usize, middle: &[f64; 3]) -> Shapes {
    let both = |shape: &Vec<f64>| structure.node(shape, node);
    Shapes {
        r: (Vec3(structure.nodes[node].p) - Vec3(*middle)).0,
        S: reduced.shapes.iter().map(|shape| both(shape)[0]).collect(),
        P: reduced.shapes.iter().map(|shape| both(shape)[1]).collect(),
        quadratic: reduced.quadratic.iter().map(|shape| both(shape)[0]).collect(),
    }
}

/// The part of the lumps of the interface that bodies of their own carry, so that half of M or more is left for every motion: with D
/// the lumps and Φ all motions and shapes, ΦᵀMΦ = 1, that is 1 - s ΦᵀDΦ ≥ ½.
fn share(structure: &ModalStructure, reduced: &ReducedShapes, interface: &[usize]) -> Option<f64> {
    let directions = structure.directions();
    let all = || reduced.rigid.iter().chain(&reduced.shapes);
    // rows of LᵀΦ with D = L Lᵀ
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for &node in interface {
        let (mass, inertia) = structure.lump(node);
        let rotations: Vec<usize> = directions.iter().filter(|k| **k >= 3).map(|k| k - 3).collect();
        let m = rotations.len();
        let mut L: Vec<f64> = (0..m * m).map(|k| inertia.0[rotations[k / m]][rotations[k % m]]).collect();
        cholesky(&mut L, m).ok()?;
        for (i, &k) in directions.iter().filter(|k| **k < 3).enumerate() {
            debug_assert_eq!(i, k);
            rows.push(all().map(|shape| mass.sqrt() * structure.node(shape, node)[0][k]).collect());
        }
        for i in 0..m {
            // columns of L are kept in rows
            let angle = |shape: &Vec<f64>| {
                (i..m).map(|j| L[i * m + j] * structure.node(shape, node)[1][rotations[j]]).sum()
            };
            rows.push(all().map(angle).collect());
        }
    }
    let n = rows.len();
    let square: Vec<f64> =
        (0..n * n).map(|k| rows[k / n].iter().zip(&rows[k % n]).map(|(a, b)| a * b).sum()).collect();
    let largest = symmetric_eigenpairs(&square, n).ok()?.last()?.0;
    Some(OWN / largest.max(1.0))
}

/// Returns where the axes of the structure stand in the model pose: of beams those of the world.
fn structure_frame(reader: &Reader) -> Result<Frame> {
    if reader.has("members") {
        return Ok(Frame { p: [0.0; 3], q: [1.0, 0.0, 0.0, 0.0], angle: 0.0 });
    }
    let (wrong, right) = if reader.is_planar() { ("orientation", "angle") } else { ("angle", "orientation") };
    if reader.has(wrong) {
        let space = if reader.is_planar() { "planar" } else { "spatial" };
        let message = format!("{} has no `{wrong}`: the space is {space}", reader.title());
        return Err(reader.error(wrong, message).hint(format!("use `{right}`")));
    }
    Ok(reader.body_frame()?.frame)
}

/// The member; `middle` is its mass and centre.
pub(super) fn build(
    reader: &Reader,
    structure: &ModalStructure,
    middle: (f64, [f64; 3]),
    interface: &[usize],
    shown: &[(String, usize)],
    reduced: ReducedShapes,
    damping: &[f64],
) -> Result<Member> {
    let name = reader.element().name.clone();
    let planar = structure.planar;
    let n = reduced.squares.len();
    let of = |node: usize| shapes(structure, &reduced, node, &middle.1);
    let structure_frame = structure_frame(reader)?;
    let rotated = Mat3::from_quat(structure_frame.q);
    let start = |p: [f64; 3], axes: &Mat3, angle: f64| {
        let p = (Vec3(structure_frame.p) + rotated * Vec3(p)).0;
        // in the plane the angle alone says it
        let axes = if planar { Mat3::rot_z(structure_frame.angle + angle) } else { rotated * *axes };
        (p, quaternion(&axes.0), structure_frame.angle + angle)
    };
    let (mut bodies, mut own): (Vec<Body>, Vec<NodeMass>) = (Vec::new(), Vec::new());
    let [rigid, point] = if planar {
        [BodyKind::PlanarRigid, BodyKind::PlanarPoint]
    } else {
        [BodyKind::Rigid, BodyKind::Point]
    };
    let has_both = |node: usize| {
        let (mass, inertia) = structure.lump(node);
        let rotates = structure.directions().iter().filter(|k| **k >= 3);
        mass > 0.0 && rotates.map(|k| inertia.0[k - 3][k - 3]).all(|x| x > 0.0)
    };
    if let Some(&node) = interface.iter().find(|node| !has_both(**node)) {
        let at = &structure.nodes[node].names[0];
        let needs = if structure.rotates { "mass and inertia" } else { "mass" };
        let message = format!("interface node `{at}` of {} needs {needs}", reader.title());
        return Err(reader.error("interface", message).hint("choose a node that has it"));
    }
    let share =
        share(structure, &reduced, interface).ok_or_else(|| failed(reader, structure, &Failed::Mass))?;
    for (k, &node) in interface.iter().enumerate() {
        let at = &structure.nodes[node];
        let (mass, inertia) = structure.lump(node);
        let (mass, inertia) = (share * mass, Mat3(inertia.0.map(|row| row.map(|x| share * x))));
        own.push(NodeMass { shapes: of(node), mass, inertia });
        let local = at.axes.transpose() * (inertia * at.axes);
        let kind = if structure.rotates { rigid } else { point };
        let local = match (structure.rotates, planar) {
            (true, false) => local,
            // what is used of it is the last
            (true, true) => diagonal(local.0[2][2]),
            (false, _) => Mat3::identity(),
        };
        bodies.push(body(
            format!("{name}.node{}", k + 1),
            kind,
            mass,
            local,
            start(at.p, &at.axes, at.angle),
        ));
    }
    let visible = bodies.len();

    let inertia = InertiaInvariants::new(structure, middle, &reduced, &own);
    let tensor = inertia.at_rest().ok_or_else(|| failed(reader, structure, &Failed::Mass))?;
    let order = amplitudes(n, planar);
    let frame = bodies.len();
    let frame_body =
        body(format!("{name}.frame"), rigid, inertia.mass, tensor, start(middle.1, &Mat3::identity(), 0.0));
    bodies.push(Body { shares: true, ..frame_body });
    for after in 1..=order.last().map_or(0, |(body, _)| *body) {
        let held = order.iter().filter(|(body, _)| *body == after).count();
        let kind = match (held, planar) {
            (3, false) => BodyKind::Point,
            (3, true) => BodyKind::PlanarRigid,
            _ => BodyKind::PlanarPoint,
        };
        let start = ([0.0; 3], [1.0, 0.0, 0.0, 0.0], 0.0);
        bodies.push(Body {
            shares: true,
            rotor: false,
            between: Some([frame as u32; 2]),
            ..body(format!("{name}.amplitudes{after}"), kind, 0.0, Mat3([[0.0; 3]; 3]), start)
        });
    }
    let holders: Vec<usize> = (frame..bodies.len()).collect();

    let mut rows = Vec::new();
    for (k, &node) in interface.iter().enumerate() {
        let at = &structure.nodes[node];
        let tie = ModalTie {
            directions: structure.directions(),
            shapes: of(node),
            axes: if planar { Mat3::rot_z(at.angle) } else { at.axes },
            amplitudes: order.clone(),
            node: holders.len(),
        };
        let bodies = holders.iter().copied().chain([k]).collect();
        rows.push(MemberRows { name: format!("{name}.node{}", k + 1), bodies, rows: Arc::new(tie) });
    }
    let with_field = reader.model().forces.iter().any(|e| e.kind == "field");
    let points = if with_field { points(structure, middle, &reduced) } else { Vec::new() };
    let shown = shown.iter().map(|(name, node)| (name.clone(), Arc::new(of(*node)))).collect();
    let roots = reduced.squares.iter().map(|s| s.sqrt());
    let stiffness = ModalStiffness {
        amplitudes: order.iter().map(|(body, k)| (body - 1, *k)).collect(),
        damping: roots.zip(damping).map(|(root, ratio)| 2.0 * ratio * root).collect(),
        squares: reduced.squares,
    };
    let modes = reduced
        .shapes
        .iter()
        .map(|shape| (0..structure.nodes.len()).map(|node| structure.node(shape, node)[0]).collect());
    let picture = Picture {
        nodes: structure.nodes.iter().map(|of| (Vec3(of.p) - Vec3(middle.1)).0).collect(),
        modes: modes.collect(),
        lines: structure.bars.iter().map(|bar| bar.nodes).collect(),
    };
    let forces =
        vec![MemberForce { name: name.clone(), bodies: holders[1..].to_vec(), load: Arc::new(stiffness) }];
    let floating = Floating {
        frame: frame as u32,
        amplitudes: order,
        inertia: Arc::new(inertia),
        picture: Arc::new(picture),
        points: Arc::new(points),
    };
    Ok(Member {
        name,
        bodies,
        visible,
        part: "node",
        first: 1,
        mirrored: interface.iter().map_while(|node| structure.nodes[*node].mirrored.clone()).collect(),
        rows,
        joints: Vec::new(),
        forces,
        floating: Some(floating),
        shown,
        id: 0,
    })
}

fn diagonal(x: f64) -> Mat3 {
    Mat3([[x, 0.0, 0.0], [0.0, x, 0.0], [0.0, 0.0, x]])
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
        rotor: false,
        surfaces: Vec::new(),
    }
}
