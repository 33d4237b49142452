//! A torque on a body, in world axes or in the body's.

use super::prelude::*;

/// The force.
#[derive(Clone, Debug)]
pub struct AppliedTorque {
    /// The torque \[N m\].
    torque: VectorFormula,
    /// Axes of `torque` in those of the body; none: world axes.
    axes: Option<Mat3>,
}

impl Force for AppliedTorque {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        let torque = self.torque.eval(at);
        out[0].add_torque(self.axes.map_or(torque, |axes| at.pose(0).rot.mul_mat_f64(&axes) * torque));
    }

    fn laws(&self, found: &mut dyn FnMut(&Formula, [f64; 2])) {
        self.torque.laws(found);
    }

    fn is_load(&self) -> bool {
        true
    }

    fn record(&self) -> Option<LoadRecord> {
        self.axes.is_none().then(|| self.torque.record(LoadKind::Torque, [0.0; 3]))?
    }
}

fn read(ctx: &mut Context) -> Result<BuiltForce> {
    let body = ctx.body("body")?;
    ctx.require_orientation(body, "body")?;
    let key = ctx.reader.require_one_of(&["torque", "torque_on"])?;
    let mut binder = ctx.binder(ReadLevel::Force, vec![body]);
    let torque = if ctx.is_planar() {
        let z = ctx.reader.axial_expression(key)?.ok_or_else(|| ctx.reader.missing(key))?;
        VectorFormula::bind_z(&mut binder, &z)?
    } else {
        let map = if key == "torque" { ComponentMap::Axial } else { ComponentMap::LocalAxial };
        let vector = ctx.reader.expressions(key, map, false)?.ok_or_else(|| ctx.reader.missing(key))?;
        VectorFormula::bind(&mut binder, &vector)?
    };
    let axes = (key == "torque_on" && !ctx.is_planar()).then(|| ctx.file_axes(body));
    Ok(BuiltForce::new(binder.ids, AppliedTorque { torque, axes }))
}

/// `kind = "torque"`
pub const KIND: ForceKind = ForceKind {
    name: "torque",
    doc: "torque on a body, in world or body axes; planar a number",
    keys: &[
        Key::new("body", KeyType::Body, "", "the body"),
        Key::new("torque", KeyType::Expressions, "", "in world axes; planar a number [N m]"),
        Key::new("torque_on", KeyType::Expressions, "", "in body axes; planar a number [N m]"),
    ],
    planar: &["body = 'b', torque = '3 - 0.1*b.rate'"],
    spatial: &["body = 'b', torque = [1, 0, 't']", "body = 'b', torque_on = ['-0.1*b.wx', 0, 'sin(t)']"],
    read,
};
