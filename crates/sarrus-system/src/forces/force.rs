//! A force on a point of a body, in world axes or in the body's.

use super::prelude::*;

/// The force.
#[derive(Clone, Debug)]
pub struct AppliedForce {
    /// Marks where it acts, from the centre of mass in body axes \[m\].
    point: [f64; 3],
    /// The force \[N\].
    force: VectorFormula,
    /// Axes of `force` in those of the body; none: world axes.
    axes: Option<Mat3>,
}

impl Force for AppliedForce {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        let pose = at.pose(0);
        let force = self.force.eval(at);
        let force = self.axes.map_or(force, |axes| pose.rot.mul_mat_f64(&axes) * force);
        out[0].add_force_at(force, pose.rotate(&self.point));
    }

    fn laws(&self, found: &mut dyn FnMut(&Formula, [f64; 2])) {
        self.force.laws(found);
    }

    fn is_load(&self) -> bool {
        true
    }

    fn record(&self) -> Option<LoadRecord> {
        self.axes.is_none().then(|| self.force.record(LoadKind::Force, self.point))?
    }
}

fn read(ctx: &mut Context) -> Result<BuiltForce> {
    let body = ctx.body("body")?;
    let point = ctx.point_on(body, "at", "on")?.unwrap_or([0.0; 3]);
    let key = ctx.reader.require_one_of(&["force", "force_on"])?;
    let map = if key == "force" { ComponentMap::Polar } else { ComponentMap::Local };
    let vector = ctx.reader.expressions(key, map, false)?.ok_or_else(|| ctx.reader.missing(key))?;
    let axes = (key == "force_on").then(|| ctx.file_axes(body));
    let mut binder = ctx.binder(ReadLevel::Force, vec![body]);
    let force = VectorFormula::bind(&mut binder, &vector)?;
    Ok(BuiltForce::new(binder.ids, AppliedForce { point, force, axes }))
}

/// `kind = "force"`
pub const KIND: ForceKind = ForceKind {
    name: "force",
    doc: "force on a point of a body, in world or body axes",
    keys: &[
        Key::new("body", KeyType::Body, "", "the body"),
        Key::new(
            "at",
            KeyType::Point,
            "centre of mass",
            "where it acts, in the world; it moves with the body",
        ),
        Key::new("on", KeyType::Local, "centre of mass", "where it acts, on the body or a marker"),
        Key::new("force", KeyType::Expressions, "", "in world axes [N]"),
        Key::new("force_on", KeyType::Expressions, "", "in body axes [N]"),
    ],
    planar: &[
        r#"body = 'b', force = [3, "2*t"]"#,
        r#"body = 'b', on = [0.1, 0.2], force_on = ["-3*b.vx", "a.y"]"#,
    ],
    spatial: &[
        r#"body = 'b', force = "[1, 2, 3]*cos(t)""#,
        r#"body = 'b', at = [0.1, 0.2, 0.3], force_on = [1, "2*t", "-3*b.vx"]"#,
    ],
    read,
};
