//! A system as records, for what is stepped by tables: single runs, and ensembles in lanes.

use crate::body::BodyKind;
use crate::primitive::Primitive;
use crate::system::{FIRST_STATE, System};
use sarrus_model::Space;
use sarrus_solve::tables::{
    BodyRecord, Description, ElementRecord, LoadKind, LoadRecord, RowKind, RowRecord,
};

impl System {
    /// The model as records; none where a body is no rigid one, or rows are not made of the primitives of joints.
    pub fn describe(&self) -> Option<Description> {
        let planar = self.directory.space == Space::Planar;
        let kind = if planar { BodyKind::PlanarRigid } else { BodyKind::Rigid };
        if !self.directory.added.is_empty() || !self.directory.floating.is_empty() {
            return None;
        }
        let mut bodies = Vec::with_capacity(self.directory.bodies.len());
        for (i, body) in self.directory.bodies.iter().skip(1).enumerate() {
            let in_a_row = body.q == i * kind.nq() && body.v == i * kind.nv();
            if body.kind != kind || !in_a_row || body.shares {
                return None;
            }
            bodies.push(BodyRecord {
                mass: body.mass,
                gravitational_mass: body.gravitational_mass(),
                inertia: body.inertia.0,
            });
        }
        let mut elements = Vec::with_capacity(self.elements.len());
        for element in self.elements.iter().filter(|e| e.rows.rows() > 0) {
            let &[a, b] = &*element.ids else { return None };
            let rows = element.rows.primitives()?.iter().map(row).collect();
            elements.push(ElementRecord { bodies: [a, b].map(|id| id as usize), rows });
        }
        Some(Description { planar, gravity: self.gravity, bodies, elements, loads: self.load_records() })
    }

    /// Forces as records, where all are of kinds that have one and nothing else has states.
    fn load_records(&self) -> Option<Vec<LoadRecord>> {
        if self.structure.nx > FIRST_STATE || !self.contacts.is_empty() || !self.controllers.is_empty() {
            return None;
        }
        let acting = self.forces.iter().filter(|force| force.enabled);
        let record = |force: &crate::system::ForceElement| {
            let own = force.load.record()?;
            let [a, b] = own.bodies.map(|index| force.ids[index] as usize);
            let a = if own.kind == LoadKind::Spring { a } else { 0 };
            Some(LoadRecord { bodies: [a, b], ..own })
        };
        acting.map(record).collect()
    }
}

fn row(primitive: &Primitive) -> RowRecord {
    let none = [0.0; 3];
    let (kind, a, r_A, r_B) = match primitive {
        Primitive::Coincident { r_A, r_B } | Primitive::Coincident2 { r_A, r_B } => {
            (RowKind::Coincident, none, *r_A, *r_B)
        }
        Primitive::Perpendicular { a_A, b_B } => (RowKind::Perpendicular, *a_A, none, *b_B),
        Primitive::InPlane { a_A, r_A, r_B } | Primitive::OnLine2 { a_A, r_A, r_B } => {
            (RowKind::InPlane, *a_A, *r_A, *r_B)
        }
        Primitive::Angle2 { angle } => (RowKind::Angle, [*angle, 0.0, 0.0], none, none),
    };
    RowRecord { kind, a, r_A, r_B }
}
