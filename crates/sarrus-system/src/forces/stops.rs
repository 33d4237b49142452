//! Limits of a joint coordinate, written as options of the joint: `limits = [lo, hi]` and what is at them, `stop`.
//!
//! With `stiffness` (and `damping`) a stop is a force, [`Flanks`]. Otherwise it is rigid: an impact with `restitution`, which events
//! carry out, and a row that holds the coordinate there while it is pressed on.

use super::flanks::Flanks;
use super::prelude::*;

/// The keys of `stop`.
pub static STOP_KEYS: &[Key] = &[
    Key::new("stiffness", KeyType::Number, "rigid", "of a springy stop [N/m, N m/rad]"),
    Key::new("damping", KeyType::Number, "0", "of a springy stop [N s/m, N m s/rad]"),
    Key::new(
        "restitution",
        KeyType::Number,
        "0",
        "of a rigid stop: speed after an impact over that before [1]",
    ),
];

/// Rigid limits of a coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopLimits {
    /// Lowest and highest value; either may be infinite \[m, rad\].
    pub values: [f64; 2],
    /// Speed after an impact over that before.
    pub restitution: f64,
}

/// Holds what there is at the limits.
enum StopForce {
    Springy { stiffness: f64, damping: f64 },
    Rigid { restitution: f64 },
}

/// `limits` and `stop` of the coordinate whose options `reader` has open.
fn read(reader: &Reader) -> Result<Option<([f64; 2], StopForce)>> {
    let limits = reader.limits("limits")?;
    let stop = reader.sub("stop", STOP_KEYS)?;
    let Some(limits) = limits else {
        return match stop {
            Some(_) => Err(reader
                .error("stop", format!("{} has a `stop` but no `limits`", reader.title()))
                .hint("`limits = [lo, hi]` says where it stops")),
            None => Ok(None),
        };
    };
    let Some(stop) = stop else { return Ok(Some((limits, StopForce::Rigid { restitution: 0.0 }))) };
    stop.one_of(&["stiffness", "restitution"])?;
    if let Some(stiffness) = stop.positive_opt("stiffness")? {
        let damping = stop.not_negative_opt("damping")?.unwrap_or(0.0);
        return Ok(Some((limits, StopForce::Springy { stiffness, damping })));
    }
    if stop.has("damping") {
        let message = format!("`stop` of {} has `damping` but no `stiffness`", reader.title());
        return Err(stop.error("damping", message).hint("a rigid stop has `restitution`"));
    }
    let restitution = stop.not_negative_opt("restitution")?.unwrap_or(0.0);
    if restitution > 1.0 {
        let message = format!("`restitution` of {} is {restitution}: a stop gives no energy", reader.title());
        return Err(stop.error("restitution", message).hint("0 to 1"));
    }
    Ok(Some((limits, StopForce::Rigid { restitution })))
}

/// Rigid limits, where there are such.
pub fn rigid(reader: &Reader) -> Result<Option<StopLimits>> {
    Ok(match read(reader)? {
        Some((values, StopForce::Rigid { restitution })) => Some(StopLimits { values, restitution }),
        _ => None,
    })
}

/// The force of springy limits, where there are such.
pub(super) fn springy(ctx: &Context, reader: &Reader, joint: usize, k: usize) -> Result<Option<BuiltForce>> {
    let Some((limits, StopForce::Springy { stiffness, damping })) = read(reader)? else { return Ok(None) };
    let entry = &ctx.directory.joints[joint];
    let is_angle = entry.face.coordinates()[k].is_angle();
    let terms = vec![(1.0, entry.coordinate(k, 0, 1))];
    let flanks = Flanks {
        terms,
        value: 0.0,
        apart: Vec::new(),
        scale: 1.0,
        limits,
        stiffness,
        damping,
        is_angle,
        own_discrete: Vec::new(),
    };
    Ok(Some(BuiltForce::new(entry.bodies.to_vec(), flanks)))
}
