//! Armature: inertia of a joint coordinate itself, ½ A q̇², as of a rotor behind a gearbox (A = N² J_m).
//!
//! M would couple the two bodies of the joint and change with the pose. Instead a rotor of its own, with the one number ρ and the
//! mass A, is tied to the coordinate by a row:
//!
//! ```text
//! A ρ̈ = -λ,   Φ = ρ - q;   the bodies feel λ = -A q̈ along the coordinate
//! ```
//!
//! so that M stays constant and block diagonal, and every method that knows rows knows armature. ρ is x of a point, whose other
//! numbers are held at zero: three velocities and rows more (planar two). It is no body of the model: no gravity acts on it, it counts in the
//! kinetic energy and in no momentum, and the joint's reaction is without λ, which acts along the degree of freedom. What a fast rotor does as a gyroscope
//! it leaves out: for that model the rotor as a body, with a gear.

use crate::at::At;
use crate::body::{Body, BodyKind};
use crate::constraint::Constraint;
use crate::constraints::in_model_pose;
use crate::context::Context;
use crate::coordinate::CoordinateRef;
use crate::forces::JOINT_OPTION_KEYS;
use crate::joints;
use crate::names::Directory;
use crate::system::{ConstraintElement, Family};
use sarrus_math::{Mat3, Real};
use sarrus_model::{Diagnostic, Model, Reader, Result, Space};
use std::sync::Arc;

/// The rotor of a coordinate.
pub(crate) struct Rotor {
    /// Index among the joints.
    pub joint: usize,
    /// Identifies which of its coordinates.
    k: usize,
    /// Number of its body.
    pub body: u32,
}

/// ρ = q, and nothing else moves.
struct ArmatureTie {
    coordinate: CoordinateRef,
    rows: usize,
}

impl Constraint for ArmatureTie {
    fn rows(&self) -> usize {
        self.rows
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        phi.copy_from_slice(&at.pose(2).p.0[..self.rows]);
        phi[0] -= self.coordinate.value(at);
    }
}

/// Reads every `armature` and adds the rotors to `bodies`, whose coordinates stand one after the other.
pub(crate) fn read(
    model: &Model,
    bodies: &mut Vec<Body>,
) -> std::result::Result<Vec<Rotor>, Vec<Diagnostic>> {
    let (mut rotors, mut errors) = (Vec::new(), Vec::new());
    for (joint, element) in model.joints.iter().enumerate() {
        let kind = joints::KINDS.iter().find(|k| k.space == model.space && k.name == element.kind);
        let coordinates = kind.map_or(&[][..], |kind| kind.coordinates);
        let reader = Reader::open(model, element);
        for (k, coordinate) in coordinates.iter().enumerate() {
            match inertia(&reader, (coordinates.len() > 1).then_some(coordinate.name)) {
                Ok(Some(A)) if A > 0.0 => {
                    let body = bodies.len() as u32;
                    bodies.push(rotor(&element.name, A, model.space, bodies));
                    rotors.push(Rotor { joint, k, body });
                }
                Ok(_) => {}
                Err(error) => errors.push(error),
            }
        }
    }
    if errors.is_empty() { Ok(rotors) } else { Err(errors) }
}

/// A of a coordinate, whose options stand in a table of their own where the joint has several.
fn inertia(reader: &Reader, table: Option<&str>) -> Result<Option<f64>> {
    match table {
        None => reader.not_negative_opt("armature"),
        Some(name) => match reader.sub(name, JOINT_OPTION_KEYS)? {
            Some(options) => options.not_negative_opt("armature"),
            None => Ok(None),
        },
    }
}

fn rotor(joint: &str, A: f64, space: Space, bodies: &[Body]) -> Body {
    let (q, v) = bodies.last().map_or((0, 0), |b| (b.q + b.kind.nq(), b.v + b.kind.nv()));
    Body {
        name: format!("{joint}.armature"),
        kind: if space == Space::Planar { BodyKind::PlanarPoint } else { BodyKind::Point },
        mass: A,
        inertia: Mat3([[0.0; 3]; 3]),
        com: [0.0; 3],
        q,
        v,
        start: ([0.0; 3], [1.0, 0.0, 0.0, 0.0], 0.0),
        markers: Vec::new(),
        between: Some([0; 2]),
        shares: false,
        rotor: true,
        surfaces: Vec::new(),
    }
}

impl Rotor {
    /// The rows that tie it to its coordinate, whose value in the model pose becomes its own.
    pub fn tie(&self, model: &Model, directory: &mut Directory) -> ConstraintElement {
        let entry = &directory.joints[self.joint];
        let coordinate = entry.coordinate(self.k, 0, 1);
        let name = format!("{}.armature", entry.name);
        let [a, b] = entry.bodies;
        let here = CoordinateRef { discrete_index: None, ..coordinate.clone() };
        let ctx = Context::new(Reader::open(model, &model.joints[self.joint]), directory);
        let start = in_model_pose(&ctx, &[a, b], &[], |at| here.value(at));
        let body = &mut directory.bodies[self.body as usize];
        body.start.0[0] = start;
        let rows = Arc::new(ArmatureTie { coordinate, rows: body.kind.nv() });
        ConstraintElement::new(name, Family::Internal, vec![a, b, self.body], rows)
    }
}
