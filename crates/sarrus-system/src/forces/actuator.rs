//! An effort along a joint coordinate or between two points, equal and opposite on the two bodies.
//!
//! The effort e is an expression, cut off at `limits`; positive, it pushes the points apart or the coordinate up. All
//! its power e·l̇ is work done on the mechanism.

use super::prelude::*;

/// The force.
#[derive(Clone, Debug)]
pub struct Actuator {
    along: LineOfAction,
    effort: Formula,
    limits: [f64; 2],
}

impl Actuator {
    fn effort<R: Real>(&self, at: &At<R>) -> R {
        let (effort, [lo, hi]) = (self.effort.eval(at), self.limits);
        let x = effort.value();
        if x < lo {
            R::from_f64(lo)
        } else if x > hi {
            R::from_f64(hi)
        } else {
            effort
        }
    }
}

impl Force for Actuator {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        self.along.add_wrench(at, self.effort(at), out);
    }

    fn laws(&self, found: &mut dyn FnMut(&Formula, [f64; 2])) {
        found(&self.effort, self.limits);
    }

    fn is_load(&self) -> bool {
        true
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        match self.along {
            LineOfAction::Line(_) => &[("force", "N"), ("length", "m"), ("speed", "m/s")],
            LineOfAction::Coordinate(_, true) => &[("torque", "N m")],
            LineOfAction::Coordinate(_, false) => &[("force", "N")],
        }
    }

    fn reading(&self, k: usize, at: &At<f64>) -> f64 {
        match k {
            0 => self.effort(at),
            1 => self.along.length(at),
            _ => self.along.speed(at),
        }
    }
}

fn read(ctx: &mut Context) -> Result<BuiltForce> {
    let (ids, along) = LineOfAction::read(ctx)?;
    let named = along.named(&ids);
    let (right, wrong) = if along.is_angle() { ("torque", "force") } else { ("force", "torque") };
    if ctx.reader.has(wrong) {
        let what = match along {
            LineOfAction::Line(_) => "the line between two points",
            LineOfAction::Coordinate(_, true) => "an angle",
            LineOfAction::Coordinate(_, false) => "a length",
        };
        let message = format!("{} acts along {what}: it takes `{right}`, not `{wrong}`", ctx.reader.title());
        return Err(ctx.reader.error(wrong, message));
    }
    let expr = ctx.reader.require_expression(right)?;
    let limits = ctx.reader.limits("limits")?.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    let mut binder = ctx.binder(ReadLevel::Force, ids);
    let effort = binder.scalar(&expr)?;
    Ok(BuiltForce { named, ..BuiltForce::new(binder.ids, Actuator { along, effort, limits }) })
}

/// `kind = "actuator"`
pub const KIND: ForceKind = ForceKind {
    name: "actuator",
    doc: "effort along a joint coordinate or between two points, equal and opposite on the two bodies",
    keys: &[
        Key::new("joint", KeyType::Name, "", "a joint with one coordinate, or `A.angle`"),
        Key::new("bodies", KeyType::Bodies, "", "instead of a joint: the two bodies"),
        Key::new("ends", KeyType::Points, "", "a point on each, in the world"),
        Key::new("on", KeyType::Local, "", "a point on each, in its body or a marker"),
        Key::new("force", KeyType::Expression, "", "along a length; positive pushes apart [N]"),
        Key::new("torque", KeyType::Expression, "", "along an angle [N m]"),
        Key::new("limits", KeyType::Numbers, "none", "lowest and highest effort [N, N m]"),
    ],
    planar: &[
        "joint = 'h', torque = '5 - 2*h.rate + a.vx', limits = [-20, 20]",
        "bodies = ['a', 'b'], ends = [[0.1, 0.2], [1.2, -0.1]], force = '10*sin(t)'",
    ],
    spatial: &[
        "joint = 'h', torque = '5 - 2*h.rate + a.vx', limits = [-20, 20]",
        "bodies = ['a', 'b'], on = [[0.1, 0.2, 0.3], [0, 0, 0.1]], force = '10*sin(t)'",
    ],
    read,
};
