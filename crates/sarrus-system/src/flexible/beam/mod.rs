//! A beam: nodes that are bodies, and an [`element`] between each and the next, or elements of higher order, each over several ([`spectral`]).
//!
//! A node carries half of the rotary inertia ρI L of each element beside it, and of its mass ρA L a half (`lumped`) or a sixth, with
//! two thirds on a point in the [`middle`] (`consistent`). Rotary inertia is lumped in both: the error is of the element's own order, L².
//! Elements of higher order have all of their mass at the nodes, by the weights of their rule, which costs them no order.
//! Explicit methods take steps below 2/ω of the fastest vibration of an element, about L/√(E/ρ) along it and less across a slender one.

pub mod element;
pub mod error;
pub mod lobatto;
pub mod middle;
mod rods;
pub mod spectral;

use super::mesh::MemberMesh;
use super::prelude::*;
use element::BeamElement;
use lobatto::{Lobatto, MOST};
use middle::Middle;
use sarrus_math::Vec3;
use spectral::Spectral;

const MASS_MATRICES: &[&str] = &["consistent", "lumped"];

/// The constant products of a section in the axes of an element: stiffnesses and inertia per length.
pub(super) struct Constants {
    /// EA, GAy, GAz \[N\].
    pub stretch: [f64; 3],
    /// GJ, EIy, EIz \[N m²\].
    pub bend: [f64; 3],
    /// ρA \[kg/m\].
    pub mass: f64,
    /// ρ(Iy + Iz), ρIy, ρIz \[kg m\]; planar the last only.
    pub inertia: [f64; 3],
}

impl Constants {
    /// Of a beam.
    pub fn read(of: &Properties, planar: bool) -> Result<Constants> {
        let (ea, [ga_y, ga_z], [ei_y, ei_z]) = (of.ea()?, of.ga()?, of.ei()?);
        let [rho_y, rho_z] = of.rho_i()?;
        // a planar beam bends up and down, which is about y and shears along z of its section
        let (stretch, bend, inertia) = if planar {
            ([ea, ga_z, 0.0], [0.0, 0.0, ei_y], [rho_y; 3])
        } else {
            ([ea, ga_y, ga_z], [of.gj()?, ei_y, ei_z], [rho_y + rho_z, rho_y, rho_z])
        };
        Ok(Constants { stretch, bend, mass: of.rho_a()?, inertia })
    }
}

/// Returns whether mass is spread along elements, of order 1.
pub(super) fn is_consistent(reader: &Reader) -> Result<bool> {
    Ok(reader.choice("mass_matrix", MASS_MATRICES)?.unwrap_or(0) == 0)
}

/// The order of the elements.
pub(super) fn order(reader: &Reader) -> Result<usize> {
    let order = reader.count_opt("order")?.unwrap_or(1);
    if !(1..=MOST as u64).contains(&order) {
        let message = format!("`order` of {} cannot be {order}", reader.title());
        return Err(reader
            .error("order", message)
            .hint(format!("from 1 to {MOST}; beyond that more `elements`")));
    }
    if order > 1 && reader.has("mass_matrix") && is_consistent(reader)? {
        let message =
            format!("`mass_matrix` of {} is lumped: its elements are of order {order}", reader.title());
        let hint = "leave it out: mass at the nodes is as accurate as such elements are";
        return Err(reader.error("mass_matrix", message).hint(hint));
    }
    Ok(order as usize)
}

/// Holds what the elements of a beam are made of.
struct Make {
    name: String,
    planar: bool,
    constants: Constants,
    damping: f64,
}

/// Rows and forces between nodes.
type Ties = (Vec<MemberRows>, Vec<MemberForce>);

fn read(reader: &Reader, sections: &[BeamSection]) -> Result<Member> {
    let planar = reader.is_planar();
    let line = MemberLine::read(reader, "elements", 4, true)?;
    let properties = Properties::read(reader, sections)?;
    let constants = Constants::read(&properties, planar)?;
    let damping = properties.damping()?;
    let rule = Lobatto::new(order(reader)?);
    let name = reader.element().name.clone();

    let inside: Vec<f64> = rule.inside().collect();
    let mesh = line.mesh();
    let stations = mesh.stations_with(&inside);
    let mut bodies: Vec<Body> = stations
        .iter()
        .enumerate()
        .map(|(k, station)| node(format!("{name}.node{k}"), station, planar))
        .collect();
    let visible = bodies.len();
    let make = Make { name: name.clone(), planar, constants, damping };
    let (rows, forces) = if inside.is_empty() {
        make.of_order_one(&mesh, is_consistent(reader)?, &mut bodies)
    } else {
        make.of_order(&mesh, &rule, &mut bodies)
    };
    let mirrored = line.unmirrored(reader).map(|own| own.mesh().stations_with(&inside)).unwrap_or_default();
    let mirrored = mirrored.iter().map(|s| reader.transform().frame(&s.frame(planar))).collect();
    let joints = Vec::new();
    Ok(Member {
        name,
        bodies,
        visible,
        part: "node",
        first: 0,
        mirrored,
        rows,
        joints,
        forces,
        floating: None,
        shown: Vec::new(),
        id: 0,
    })
}

impl Make {
    /// Elements between each node and the next.
    fn of_order_one(&self, mesh: &MemberMesh, consistent: bool, bodies: &mut Vec<Body>) -> Ties {
        let (planar, constants) = (self.planar, &self.constants);
        let (mut rows, mut forces) = (Vec::new(), Vec::new());
        for (k, piece) in mesh.pieces.iter().enumerate() {
            let name = format!("{}.element{}", self.name, k + 1);
            let mass = constants.mass * piece.length;
            let share = if consistent { mass / 6.0 } else { mass / 2.0 };
            let ends = [&mesh.stations[k], &mesh.stations[k + 1]];
            let axes = ends.map(|end| end.axes.transpose_mul_mat(&piece.middle.axes));
            for (end, axes) in axes.iter().enumerate() {
                let body = &mut bodies[k + end];
                body.mass += share;
                add(&mut body.inertia, &rotated(axes, constants.inertia), 0.5 * piece.length);
            }
            if consistent {
                let kind = if planar { BodyKind::PlanarPoint } else { BodyKind::Point };
                rows.push(MemberRows {
                    name: name.clone(),
                    bodies: vec![k, k + 1, bodies.len()],
                    rows: Arc::new(Middle { dimensions: if planar { 2 } else { 3 } }),
                });
                bodies.push(Body {
                    kind,
                    mass: 4.0 * share,
                    inertia: Mat3::identity(),
                    start: (piece.middle.p, [1.0, 0.0, 0.0, 0.0], 0.0),
                    between: Some([k as u32, k as u32 + 1]),
                    ..node(name.clone(), &piece.middle, planar)
                });
            }
            let element = BeamElement {
                planar,
                length: piece.length,
                axes,
                angles: ends.map(|end| piece.middle.angle - end.angle),
                stretch: constants.stretch,
                bend: constants.bend,
                damping: self.damping,
            };
            forces.push(MemberForce { name, bodies: vec![k, k + 1], load: Arc::new(element) });
        }
        (rows, forces)
    }

    /// Elements over the nodes of `rule`.
    fn of_order(&self, mesh: &MemberMesh, rule: &Lobatto, bodies: &mut [Body]) -> Ties {
        let (constants, last) = (&self.constants, rule.points - 1);
        let mut forces = Vec::new();
        for (k, piece) in mesh.pieces.iter().enumerate() {
            let rule = rule.scaled(piece.length);
            let ends = [&mesh.stations[k], &mesh.stations[k + 1]]
                .map(|end| (end.axes.transpose_mul_mat(&piece.middle.axes), piece.middle.angle - end.angle));
            let nodes = k * last..(k + 1) * last + 1;
            for (i, body) in bodies[nodes.clone()].iter_mut().enumerate() {
                let axes = if i == 0 {
                    ends[0].0
                } else if i == last {
                    ends[1].0
                } else {
                    Mat3::identity()
                };
                body.mass += constants.mass * rule.weights[i];
                add(&mut body.inertia, &rotated(&axes, constants.inertia), rule.weights[i]);
            }
            let stiffness = [constants.stretch, constants.bend];
            forces.push(MemberForce {
                name: format!("{}.element{}", self.name, k + 1),
                bodies: nodes.collect(),
                load: Arc::new(Spectral::new(self.planar, rule, ends, stiffness, self.damping)),
            });
        }
        (Vec::new(), forces)
    }
}

/// A node, without mass yet.
fn node(name: String, station: &Station, planar: bool) -> Body {
    let frame = station.frame(planar);
    Body {
        name,
        kind: if planar { BodyKind::PlanarRigid } else { BodyKind::Rigid },
        mass: 0.0,
        inertia: Mat3([[0.0; 3]; 3]),
        com: [0.0; 3],
        q: 0,
        v: 0,
        start: (frame.p, frame.q, frame.angle),
        markers: Vec::new(),
        between: None,
        shares: false,
        rotor: false,
        surfaces: Vec::new(),
    }
}

/// D diag(a) Dᵀ.
fn rotated(axes: &Mat3, a: [f64; 3]) -> Mat3 {
    let scaled = Mat3::from_cols(axes.col(0).scale(a[0]), axes.col(1).scale(a[1]), axes.col(2).scale(a[2]));
    scaled * axes.transpose()
}

fn add(sum: &mut Mat3, a: &Mat3, factor: f64) {
    for i in 0..3 {
        let row: Vec3<f64> = a.row(i).scale(factor);
        (0..3).for_each(|j| sum.0[i][j] += row.0[j]);
    }
}

/// `kind = "beam"`
pub const KIND: MemberKind = MemberKind {
    name: "beam",
    doc: "a beam that bends, shears, twists and turns largely, in elements between its nodes",
    keys: &[
        Key::new("from", KeyType::Point, "", "its start in the model pose [m]"),
        Key::new("to", KeyType::Point, "", "its end [m]"),
        Key::new("path", KeyType::Points, "", "points that it goes through, undeformed, instead [m]"),
        Key::new("section", KeyType::Name, "", "its cross section, of [sections]"),
        Key::new("material", KeyType::Name, "", "material: stiffness and density of the section's shape"),
        Key::new("elements", KeyType::Number, "4", "how many [1]; of a `path` from each point to the next"),
        Key::new("order", KeyType::Number, "1", "of an element, up to 8 [1]: it has one node more than that"),
        Key::new(
            "mass_matrix",
            KeyType::Choice(MASS_MATRICES),
            "consistent, above order 1 lumped",
            "whether mass is spread along elements or stands at the nodes",
        ),
        Key::new("damping", KeyType::Number, "the material's, or 0", "times the stiffness [s]"),
        Key::new(
            "up",
            KeyType::Vector,
            "z, of a vertical one x",
            "the side of the section that is up, spatial",
        ),
    ],
    planar: &[
        "from = [0, 0], to = [1, 0.3], section = 's', damping = 0.01",
        "path = [[0, 0], [0.5, 0], [0.5, 0.4]], elements = 2, section = 's', mass_matrix = 'lumped'",
        "from = [0, 0], to = [1, 0.3], section = 's', elements = 2, order = 3, damping = 0.01",
        "path = [[0, 0], [0.5, 0], [0.5, 0.4]], elements = 1, section = 's', order = 4",
    ],
    spatial: &[
        "from = [0, 0, 0], to = [1, 0.3, 0.2], up = [0, 1, 1], section = 's', damping = 0.01",
        "path = [[0, 0, 0], [0.5, 0, 0], [0.5, 0.4, 0.3]], elements = 2, section = 's', mass_matrix = 'lumped'",
        "from = [0, 0, 0], to = [1, 0.3, 0.2], up = [0, 1, 1], section = 's', elements = 2, order = 3, damping = 0.01",
        "path = [[0, 0, 0], [0.5, 0, 0], [0.5, 0.4, 0.3]], elements = 1, section = 's', order = 4",
    ],
    read,
};
