//! Describes what a run has to tell beside its numbers: what its methods found on the way.

use crate::advice;
use crate::events::{GapWatch, LimitExcess};
use crate::following::DriverDeviation;
use crate::method::Method;
use crate::report::{FoundReport, PartitionReport, RankReport, StabilityReport};
use sarrus_solve::{
    MethodStatistics, PartitionFound, RankFound, Rotated, Rotations, StabilityFound, State, StiffnessMonitor,
    digits,
};
use sarrus_system::body::BodyKind;
use sarrus_system::laws::{self, Unsearched};
use sarrus_system::system::NearSingular;
use sarrus_system::{Family, Mechanism, MeshError, System};

/// Below this |sin β| Euler angles are worth a word: their rates are twenty times the body's own.
const NEAR: f64 = 0.05;
/// Above this share of the stability limit steps are worth a word.
const NEAR_LIMIT: f64 = 0.5;
/// Part of a pitch radius up to which a mesh may open or close.
const PARTED: f64 = 1e-2;
/// Most coordinates that are named one by one.
const MOST: usize = 12;

/// Forces that are the constraints' own.
pub(crate) fn nonideal(system: &System) -> Option<String> {
    let names: Vec<String> =
        system.forces.iter().filter(|f| f.nonideal).map(|f| format!("`{}`", f.name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "constraints are not ideal: {} belong to them; reactions are without these, their power is in energy.work",
            names.join(", ")
        )
    })
}

/// Modal bodies, whose modes and mesh the certificate does not judge.
pub(crate) fn modal(system: &System) -> Option<String> {
    let frames: Vec<u32> = system.directory.floating.iter().map(|body| body.frame).collect();
    let members =
        system.directory.flexible.iter().filter(|m| frames.iter().any(|frame| m.all.contains(frame)));
    let names: Vec<String> = members.map(|m| format!("`{}`", m.name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "the certificate does not judge how far the modes and the mesh of {} leave them off: a run with more `modes`, or finer \
             `members`, tells",
            names.join(", ")
        )
    })
}

/// The rigid limit that a coordinate was beyond by more than `most`, if one was.
pub(crate) fn beyond_limit(gaps: Option<&GapWatch>, system: &System, most: f64) -> Option<String> {
    let LimitExcess { depth, at } = gaps.and_then(GapWatch::beyond)?;
    let (limit, t) = at.filter(|_| !(depth <= most))?;
    let limit = &system.all.events.limits[limit];
    Some(format!(
        "joint `{}` is {depth:.3e} beyond its limit {} at t = {t}: a rigid limit is never passed, so the run is not certified",
        system.directory.joints[limit.joint].name, limit.value
    ))
}

/// The drivers whose coordinates, or their rates, are off their functions by more than the limit beside.
pub(crate) fn not_followed(off: [(Option<DriverDeviation>, f64); 2], system: &System) -> Vec<String> {
    let found = off.into_iter().zip(["", "the rate of "]).filter_map(|((off, limit), what)| {
        let DriverDeviation { by, t, driver } = off.filter(|off| !(off.by <= limit))?;
        let name = &system.all.elements[driver].name;
        Some(format!(
            "driver `{name}`: {what}what it drives is {by:.3e} off its function at t = {}",
            digits(&t)
        ))
    });
    found.collect()
}

/// The beam whose mesh leaves it off by more than `limit` of its length.
pub(crate) fn coarse(mesh: &MeshError, limit: f64) -> Option<String> {
    let MeshError { beam, relative, elements, order } = mesh;
    (!(*relative <= limit)).then(|| {
        let parts = match order {
            0 => format!("{elements} rigid segments"),
            _ => format!("{elements} elements of order {order}"),
        };
        format!(
            "the mesh of `{beam}`, {parts}, leaves it off by an estimated {relative:.1e} of its length; {} will do",
            advice::finer(mesh, limit)
        )
    })
}

/// Forces and controllers that are not looked into over steps, by why that is.
pub(crate) fn unsearched(system: &System) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for Unsearched { title, why } in laws::unsearched(system) {
        match groups.iter_mut().find(|(known, _)| *known == why) {
            Some((_, titles)) => titles.push(title),
            None => groups.push((why, vec![title])),
        }
    }
    let note = |(why, titles): (String, Vec<String>)| {
        let more = titles.len().saturating_sub(MOST);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!(
            "{}{more}: {why}, so that switches and short peaks are not searched for; what is shorter than a step may be passed over; \
             give a `step` that is shorter",
            titles[..titles.len().min(MOST)].join(", ")
        )
    };
    groups.into_iter().map(note).collect()
}

/// Friction that depends on reactions which are not unique, of which `not_unique` are the names.
pub(crate) fn undetermined_friction(system: &System, not_unique: &[String]) -> Option<String> {
    let shared = |joint: &str| not_unique.iter().any(|c| c.rsplit_once('.').is_some_and(|(j, _)| j == joint));
    let joints = system.directory.joints.iter().filter(|j| j.friction.iter().any(Option::is_some));
    let names: Vec<String> = joints.filter(|j| shared(&j.name)).map(|j| format!("`{}`", j.name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "friction in {} depends on reactions that are not unique: it is that of the smallest ones, and the motion with it; \
             take away redundant constraints, or give friction as `force` or `torque`",
            names.join(", ")
        )
    })
}

/// Meshes whose bodies have come apart or together by a part of their radius, at the end of a run.
pub(crate) fn parted(mechanism: &mut Mechanism, state: &State) -> Vec<String> {
    let system = mechanism.system().clone();
    let moved = mechanism.observe(state, |at| {
        system.directory.meshes.iter().map(|mesh| mesh.distance(at)).collect::<Vec<f64>>()
    });
    let meshes = system.directory.meshes.iter().zip(moved);
    meshes
        .filter(|(mesh, moved)| moved.abs() > PARTED * mesh.radius)
        .map(|(mesh, moved)| {
            let sense = if moved > 0.0 { "further apart" } else { "nearer together" };
            format!(
                "the bodies of `{}` are {:.3e} m {sense} than their mesh says: its `carrier` does not hold both of them; \
                 the tooth force acts where the carrier has the pitch point",
                mesh.name,
                moved.abs()
            )
        })
        .collect()
}

/// Steps limited by stability from which on another integrator is worth a note.
const MANY_STEPS: u64 = 1000;

/// Steps that stability has limited rather than accuracy, where there are many of them.
pub(crate) fn stiffness(found: &StiffnessMonitor, steps: u64, integrator: &str) -> Option<String> {
    let StiffnessMonitor { limited, first, .. } = *found;
    (limited >= MANY_STEPS).then(|| {
        format!(
            "the model is stiff: stability, not accuracy, limits about {limited} of the {steps} steps of `{integrator}`, from t = {:.4} s on; \
             `--integrator radau5` may take far fewer",
            first.unwrap_or(0.0)
        )
    })
}

/// Steps that were bounded for the rotation in them, and a step that rotates something too far.
pub(crate) fn rotations(
    rotations: &Rotations,
    integrator: &str,
    is_fixed: bool,
    system: &System,
) -> Vec<String> {
    let mut notes = Vec::new();
    let limit = rotations.worst.map_or(rotations.limit, |worst| worst.limit);
    if rotations.bounded > 0 {
        notes.push(format!(
            "the rotation of a step was bounded to {limit} rad: {} steps from t = {} on were shortened for it, so that no revolution is \
             lost",
            rotations.bounded, rotations.first_bounded
        ));
    }
    if let Some(Rotated { t, h, angle, limit, index }) = rotations.worst
        && angle > limit
    {
        let rotates =
            |i: usize| system.directory.bodies.iter().find(|b| (b.v..b.v + b.kind.nv()).contains(&i));
        let what = index.and_then(rotates).map_or("a joint".into(), |body| format!("`{}`", body.name));
        let hint = if is_fixed {
            format!("; take steps of {:.2e} s or less (--step), or an adaptive integrator", h * limit / angle)
        } else {
            "; tighter tolerances shorten it".into()
        };
        notes.push(format!(
            "the step of {h:.4} s from t = {t:.6} rotates {what} by {angle:.3} rad, where `{integrator}` resolves {limit:.3} rad: \
             angles, and what depends on them, may be wrong{hint}"
        ));
    }
    notes
}

/// Returns what flexible members add to the sizes of a model.
pub(crate) fn internal(system: &System) -> Option<String> {
    let inside = || system.directory.bodies.iter().filter(|b| b.is_internal());
    let velocities: usize = inside().map(|b| b.kind.nv()).sum();
    let rows = system.elements.iter().filter(|e| e.family == Family::Internal);
    let rows: usize = rows.map(|e| e.rows.rows()).sum();
    let modal = !system.directory.floating.is_empty();
    if velocities > 0 && inside().all(|b| b.rotor) {
        return Some(format!(
            "{velocities} velocities and {rows} rows are of rotors, which are the armature of joints"
        ));
    }
    let what = match (modal, inside().any(|b| !b.shares && !b.rotor)) {
        (true, true) => {
            "inside flexible members: amplitudes of shapes, and points that carry mass between nodes"
        }
        (true, false) => "inside modal bodies: amplitudes of their shapes, and what ties the nodes to them",
        _ => "of points inside beam elements, which carry mass between the nodes",
    };
    (velocities > 0).then(|| format!("{velocities} velocities and {rows} rows are {what}"))
}

/// Returns how orientations of spatial bodies are integrated, where there are any.
pub(crate) fn rotation(system: &System) -> Option<&'static str> {
    system.directory.bodies.iter().find_map(|body| match body.kind {
        BodyKind::Rigid => Some("quaternion"),
        BodyKind::RigidEuler => Some("euler_zxz"),
        _ => None,
    })
}

/// Rates of elements that no stabilization reads.
pub(crate) fn idle_rates(method: &Method, system: &System) -> Option<String> {
    let given = system.elements.iter().filter(|e| e.rates.is_some()).count();
    (given > 0 && method.stabilization.name != "baumgarte").then(|| {
        format!(
            "`baumgarte` of {given} elements has no effect on stabilization `{}`",
            method.stabilization.name
        )
    })
}

/// The same as [`statistics_notes`], for the report.
pub(crate) fn found(found: &[MethodStatistics; 3], system: &System) -> Vec<FoundReport> {
    let report = |(part, f): (&'static str, &MethodStatistics)| FoundReport {
        part,
        rank: f.rank.map(|RankFound { least, most, tolerance, margin }| RankReport {
            least,
            most,
            tolerance,
            margin,
        }),
        partition: f.partition.as_ref().map(|p| PartitionReport {
            independent: p.independent.iter().map(|&i| velocity(system, i)).collect(),
            choices: p.choices,
            condition: p.condition,
        }),
        iterations: f.iterations,
        stability: f.stability.map(|StabilityFound { omega, ratio, epsilon }| StabilityReport {
            omega,
            ratio,
            epsilon,
        }),
    };
    let all = ["formulation", "stabilization", "integrator"].into_iter().zip(found).map(report);
    let any = |f: &FoundReport| f.rank.is_some() || f.partition.is_some() || f.stability.is_some();
    all.filter(|f| any(f) || f.iterations > 0).collect()
}

/// Rank decisions, choices of coordinates, and steps that are near their limit.
pub(crate) fn statistics_notes(
    method: &Method,
    found: &[MethodStatistics; 3],
    system: &System,
) -> Vec<String> {
    let parts = [
        ("formulation", &method.formulation),
        ("stabilization", &method.stabilization),
        ("integrator", &method.integrator),
    ];
    let mut notes = Vec::new();
    for ((family, part), found) in parts.into_iter().zip(found) {
        let who = format!("{family} `{}`", part.name);
        notes.extend(found.rank.map(|rank| format!("{who} {}", rank_decisions(&rank))));
        notes.extend(found.partition.as_ref().map(|p| format!("{who} {}", choices(p, system))));
        let limit = found.stability.and_then(|s| near_limit(&s, method.step.filter(|_| !method.adaptive)));
        notes.extend(limit.map(|text| format!("{who} {text}")));
    }
    notes
}

/// Steps near the stability limit or beyond it. The frequency that goes with the worst of fixed steps `h` is 2/h of it; the
/// highest one may be of another, shorter step.
fn near_limit(found: &StabilityFound, h: Option<f64>) -> Option<String> {
    let ratio = found.ratio;
    if !ratio.is_finite() {
        return Some("went far beyond its stability limit ω h/2 = 1".into());
    }
    let phrase = if ratio > 1.0 { "went beyond" } else { "came near to" };
    let size = if ratio < 1e3 { format!("{ratio:.2}") } else { format!("{ratio:.1e}") };
    let pair = h.map_or(String::new(), |h| format!(", ω = {:.3e} rad/s at h = {h} s", 2.0 * ratio / h));
    (ratio > NEAR_LIMIT).then(|| format!("{phrase} its stability limit ω h/2 = 1: {size}{pair}"))
}

fn rank_decisions(rank: &RankFound) -> String {
    let RankFound { least, most, tolerance, margin } = *rank;
    let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
    if margin.is_infinite() {
        return format!("found rank {range} (tolerance {tolerance:.1e}, nothing near it)");
    }
    format!("found rank {range} (tolerance {tolerance:.1e}, margin {margin:.1e} at its least)")
}

fn choices(found: &PartitionFound, system: &System) -> String {
    let mut names: Vec<String> = found.independent.iter().take(MOST).map(|&i| velocity(system, i)).collect();
    if found.independent.len() > MOST {
        names.push(format!("{} more", found.independent.len() - MOST));
    }
    if names.is_empty() {
        names.push("none".into());
    }
    let times = if found.choices == 1 { "once".into() } else { format!("{} times", found.choices) };
    let now = if found.choices == 1 { "" } else { ", at last" };
    format!(
        "chose its independent velocities {times}{now}: {} (condition {:.1e} at its worst)",
        names.join(", "),
        found.condition
    )
}

/// The name of a velocity: `crank.rate`, `ball.wx`.
fn velocity(system: &System, index: usize) -> String {
    const PLANAR: [&str; 3] = ["vx", "vy", "rate"];
    const SPATIAL: [&str; 6] = ["vx", "vy", "vz", "wx", "wy", "wz"];
    let bodies = &system.directory.bodies;
    let body = bodies.iter().skip(1).find(|b| (b.v..b.v + b.kind.nv()).contains(&index));
    match body {
        Some(body) if system.wide == 3 => format!("{}.{}", body.name, PLANAR[index - body.v]),
        Some(body) => format!("{}.{}", body.name, SPATIAL[index - body.v]),
        None => format!("velocity {index}"),
    }
}

/// Returns how near a body came to where its Euler angles are singular, where that is near.
pub(crate) fn near_singular(near: &NearSingular, system: &System) -> Option<String> {
    let NearSingular { body, sin_beta, t } = *near;
    (sin_beta < NEAR).then(|| {
        format!(
            "body `{}` came near to where its Euler angles zxz are singular: |sin β| = {sin_beta:.1e} at t = {t}; \
             `run.rotation = \"quaternion\"` has no such place",
            system.directory.bodies[body as usize].name
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frequency_note(ratio: f64, omega: f64) -> Option<String> {
        near_limit(&StabilityFound { omega, ratio, epsilon: None }, Some(0.01))
    }

    /// ω = 2 · 0.7/0.01, whatever was seen in another step.
    #[test]
    fn a_limit_is_told_with_the_frequency_of_the_worst_step() {
        let near = frequency_note(0.7, 1e9).unwrap();
        assert!(
            near.contains("came near") && near.contains("0.70") && near.contains("1.400e2 rad/s"),
            "{near}"
        );
        let beyond = frequency_note(2.5, 1e9).unwrap();
        assert!(beyond.contains("went beyond") && !beyond.contains("near"), "{beyond}");
        assert_eq!(frequency_note(0.4, 1e9), None);
    }

    #[test]
    fn huge_ratios_have_an_exponent_and_infinite_ones_no_number() {
        let huge = frequency_note(5e17, 1e20).unwrap();
        assert!(huge.contains("5.0e17") && !huge.contains("00000"), "{huge}");
        for ratio in [f64::INFINITY, f64::NAN] {
            let text = frequency_note(ratio, ratio).unwrap();
            assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
        }
    }
}
