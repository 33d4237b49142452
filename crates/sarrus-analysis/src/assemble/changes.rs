//! Describes what least change has made of the velocities of a start, for its report.

use super::close::TOLERABLE;
use super::preferred::{Preferred, is_rigid};
use sarrus_solve::State;
use sarrus_system::System;
use sarrus_system::body::BodyKind;

/// Most bodies that a note names.
const NAMED: usize = 4;

/// A body or member that starts with another velocity than what is stated of it, or than rest.
#[derive(Debug, Clone, PartialEq)]
pub struct VelocityChange {
    /// Its name.
    pub name: String,
    /// By how much the velocity of its centre of mass differs, of a member the most of its bodies \[m/s\].
    pub speed: f64,
    /// By how much its angular velocity differs \[rad/s\].
    pub rate: f64,
    /// True if constraints and stated values leave more than one choice, so that it follows from least change.
    pub is_chosen: bool,
}

/// Differences of `state` from the velocities `stated`, largest first; `open` are the columns of M that rows do not decide.
pub(super) fn find(system: &System, stated: &[f64], state: &State, open: &[bool]) -> Vec<VelocityChange> {
    let largest = state.v.iter().chain(stated).fold(0.0_f64, |a, x| a.max(x.abs()));
    let directory = &system.directory;
    let mut members = vec![None; directory.bodies.len()];
    for (i, member) in directory.flexible.iter().enumerate() {
        member.all.clone().for_each(|id| members[id as usize] = Some(i));
    }
    let mut found: Vec<VelocityChange> = Vec::new();
    let mut of_member: Vec<Option<usize>> = vec![None; directory.flexible.len()];
    for (id, body) in directory.bodies.iter().enumerate().skip(1).filter(|(_, b)| !b.is_internal()) {
        let linear = if matches!(body.kind, BodyKind::PlanarRigid | BodyKind::PlanarPoint) { 2 } else { 3 };
        let range = body.v..body.v + body.kind.nv();
        let off: Vec<f64> = state.v[range.clone()].iter().zip(&stated[range]).map(|(a, b)| a - b).collect();
        let length = |d: &[f64]| d.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (speed, rate) = (length(&off[..linear]), length(&off[linear..]));
        if speed.max(rate) <= TOLERABLE * largest {
            continue;
        }
        let is_chosen = open[system.column(id as u32)];
        if let Some(entry) = members[id].and_then(|member| of_member[member]) {
            let entry: &mut VelocityChange = &mut found[entry];
            (entry.speed, entry.rate) = (entry.speed.max(speed), entry.rate.max(rate));
            entry.is_chosen |= is_chosen;
            continue;
        }
        let name = match members[id] {
            Some(member) => {
                of_member[member] = Some(found.len());
                directory.flexible[member].name.clone()
            }
            None => body.name.clone(),
        };
        found.push(VelocityChange { name, speed, rate, is_chosen });
    }
    found.sort_by(|a, b| (b.speed + b.rate).total_cmp(&(a.speed + a.rate)));
    found
}

/// Returns what a user should know of them: those that follow from least change alone.
pub(super) fn note(changes: &[VelocityChange]) -> Option<String> {
    let chosen: Vec<&VelocityChange> = changes.iter().filter(|change| change.is_chosen).collect();
    let named = chosen.iter().take(NAMED).map(|c| match (c.speed > 0.0, c.rate > 0.0) {
        (true, true) => format!("`{}` by {:.3e} m/s and {:.3e} rad/s", c.name, c.speed, c.rate),
        (false, _) => format!("`{}` by {:.3e} rad/s", c.name, c.rate),
        _ => format!("`{}` by {:.3e} m/s", c.name, c.speed),
    });
    let named: Vec<String> = named.collect();
    let more = chosen.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| {
        format!(
            "[initial] leaves velocities open: they change least, weighted by mass, from what is stated and from rest ({}{more}); \
             state more of them to decide",
            named.join(", ")
        )
    })
}

/// Members that cannot keep their undeformed shape at the start.
pub(super) fn deformed(system: &System, preferred: &[Preferred], what: &str) -> Option<String> {
    let members = system.directory.flexible.iter().enumerate();
    let names: Vec<String> =
        members.filter(|(i, _)| !is_rigid(preferred, *i)).map(|(_, m)| format!("`{}`", m.name)).collect();
    (!names.is_empty()).then(|| {
        let (is, its) = if names.len() == 1 { ("starts", "its") } else { ("start", "their") };
        format!("{} {is} {what}: [initial] and the constraints leave no rigid motion, so {its} bodies move as little as possible", names.join(", "))
    })
}
