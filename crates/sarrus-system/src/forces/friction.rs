//! Friction of a joint coordinate, written as an option of the joint.
//!
//! With `force` or `torque` it is a force of its own, -F tanh(w/v_s) along the coordinate, w its rate; with `mu` it depends on the reaction,
//! which [`crate::friction`] does. All its power is heat.

use super::prelude::*;
use crate::friction::{CoordinateFriction, over_speed};

/// The keys of `friction`.
pub static FRICTION_KEYS: &[Key] = &[
    Key::new("mu", KeyType::Number, "", "coefficient of friction, of the joint's reaction [1]"),
    Key::new(
        "radius",
        KeyType::Number,
        "",
        "with `mu`: of the journal or ball; of a guide half its length, over which it bears torques [m]",
    ),
    Key::new("force", KeyType::Number, "", "along a length: constant instead [N]"),
    Key::new("torque", KeyType::Number, "", "about an axis: constant instead [N m]"),
    Key::new("slip_speed", KeyType::Number, "0.001", "where it is at 3/4 of its size [m/s, rad/s]"),
];

/// Constant friction along a coordinate.
#[derive(Clone, Debug)]
struct Constant {
    along: LineOfAction,
    size: f64,
    slip_speed: f64,
}

impl Constant {
    fn effort<R: Real>(&self, at: &At<R>) -> R {
        (self.along.speed(at) / self.slip_speed).tanh() * -self.size
    }
}

impl Force for Constant {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        self.along.add_wrench(at, self.effort(at), out);
    }

    fn dissipation<R: Real>(&self, at: &At<R>) -> R {
        -(self.effort(at) * self.along.speed(at))
    }

    fn accounts_for_power(&self) -> bool {
        true
    }

    fn dissipates_without_motion(&self) -> bool {
        true
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        if self.along.is_angle() { &[("torque", "N m")] } else { &[("force", "N")] }
    }

    fn reading(&self, _k: usize, at: &At<f64>) -> f64 {
        self.effort(at)
    }
}

/// Constant friction of a ball: the torque -T tanh(|ω|/v_s) ω/|ω|, ω how the second body turns against the first.
#[derive(Clone, Debug)]
struct BallFriction {
    torque: f64,
    slip_speed: f64,
}

impl BallFriction {
    /// T tanh(|ω|/v_s)/|ω|, and ω.
    fn over_speed<R: Real>(&self, at: &At<R>) -> (R, Vec3<R>) {
        let w = at.twist(1).w_W - at.twist(0).w_W;
        (over_speed(w.dot(w), self.slip_speed) * self.torque, w)
    }
}

impl Force for BallFriction {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        let (factor, w) = self.over_speed(at);
        out[0].add_torque(w.scale(factor));
        out[1].add_torque(-w.scale(factor));
    }

    fn dissipation<R: Real>(&self, at: &At<R>) -> R {
        let (factor, w) = self.over_speed(at);
        factor * w.dot(w)
    }

    fn accounts_for_power(&self) -> bool {
        true
    }

    fn dissipates_without_motion(&self) -> bool {
        true
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        &[("torque", "N m")]
    }

    fn reading(&self, _k: usize, at: &At<f64>) -> f64 {
        let (factor, w) = self.over_speed(at);
        factor * w.norm()
    }
}

/// The table `friction`, checked, with its `slip_speed`.
fn open<'a>(reader: &Reader<'a>, is_angle: bool) -> Result<Option<(Reader<'a>, f64)>> {
    let Some(table) = reader.sub("friction", FRICTION_KEYS)? else { return Ok(None) };
    let (constant, other) = if is_angle { ("torque", "force") } else { ("force", "torque") };
    if table.has(other) {
        let message = format!("`friction` of {}: its coordinate has a `{constant}`", reader.title());
        return Err(table.error(other, message));
    }
    if table.require_one_of(&["mu", constant])? == constant && table.has("radius") {
        let message = format!("`friction` of {} is constant: `radius` has no effect", reader.title());
        return Err(table.error("radius", message).hint("leave it out, or give `mu`"));
    }
    let slip_speed = table.positive_opt("slip_speed")?.unwrap_or(1e-3);
    Ok(Some((table, slip_speed)))
}

/// Friction of the coordinate whose options `reader` has open, where it depends on the reaction.
pub fn reactive(reader: &Reader, is_angle: bool) -> Result<Option<CoordinateFriction>> {
    let Some((table, slip_speed)) = open(reader, is_angle)? else { return Ok(None) };
    let Some(mu) = table.not_negative_opt("mu")? else { return Ok(None) };
    let radius = table.positive_opt("radius")?;
    if is_angle && radius.is_none() {
        return Err(table.missing("radius").hint("that of the journal or ball, at which friction acts [m]"));
    }
    Ok(Some(CoordinateFriction { mu, radius, slip_speed }))
}

/// Constant friction of a ball joint, where it has such.
pub(super) fn constant_ball(ctx: &Context, joint: usize) -> Result<Option<BuiltForce>> {
    let Some((table, slip_speed)) = open(&ctx.reader, true)? else { return Ok(None) };
    let ids = ctx.directory.joints[joint].bodies.to_vec();
    let torque = table.not_negative_opt("torque")?;
    Ok(torque.map(|torque| BuiltForce::new(ids, BallFriction { torque, slip_speed })))
}

/// Constant friction of the coordinate, where it has such.
pub(super) fn constant(ctx: &Context, reader: &Reader, joint: usize, k: usize) -> Result<Option<BuiltForce>> {
    let (ids, along) = LineOfAction::of_joint(ctx, joint, k);
    let is_angle = along.is_angle();
    let Some((table, slip_speed)) = open(reader, is_angle)? else { return Ok(None) };
    let size = table.not_negative_opt(if is_angle { "torque" } else { "force" })?;
    Ok(size.map(|size| BuiltForce::new(ids, Constant { along, size, slip_speed })))
}
