//! What a run has to tell beside its numbers: what its methods found on the way.

use crate::method::Method;
use crate::report::{FoundReport, PartitionReport, RankReport, StabilityReport};
use sarrus_solve::{Findings, PartitionFound, RankFound, StabilityFound};
use sarrus_system::System;
use sarrus_system::body::BodyKind;
use sarrus_system::system::NearSingular;

/// Below this |sin β| Euler angles are worth a word: their rates are twenty times the body's own.
const NEAR: f64 = 0.05;
/// Above this share of the stability limit steps are worth a word.
const NEAR_LIMIT: f64 = 0.5;
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

/// How orientations of spatial bodies are integrated, where there are any.
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

/// The same as [`findings`], for the report.
pub(crate) fn found(found: &[Findings; 3], system: &System) -> Vec<FoundReport> {
    let report = |(part, f): (&'static str, &Findings)| FoundReport {
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
pub(crate) fn findings(method: &Method, found: &[Findings; 3], system: &System) -> Vec<String> {
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
        notes.extend(found.stability.and_then(|s| near_limit(&s)).map(|text| format!("{who} {text}")));
    }
    notes
}

fn near_limit(found: &StabilityFound) -> Option<String> {
    let StabilityFound { omega, ratio, .. } = *found;
    (ratio > NEAR_LIMIT).then(|| {
        format!("came near to its stability limit: ω h/2 = {ratio:.2} of 1, at ω = {omega:.4} rad/s or less")
    })
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

/// How near a body came to where its Euler angles are singular, where that is near.
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
