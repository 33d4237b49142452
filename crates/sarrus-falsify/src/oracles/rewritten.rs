//! Symmetries: the same mechanism in another model file moves the same way.

use super::{Oracle, OracleVerdict, RunComparison, SceneRun, against, unique_columns};
use crate::compare::{ColumnPair, Extent, is_motion};
use crate::rng::Rng;
use crate::run::{run, run_resolved};
use crate::scene::{SceneFile, set};
use crate::transform::{Placement, doubled, permuted, renamed, split};
use sarrus::analysis::Outcome;
use std::collections::HashMap;

/// Names.
pub const RENAMED: Oracle =
    Oracle { name: "renamed", doc: "other names change nothing", cheap: false, judge: rename };
/// Order.
pub const PERMUTED: Oracle =
    Oracle { name: "permuted", doc: "the order of elements changes nothing", cheap: false, judge: permute };
/// The resolved file.
pub const RESOLVED: Oracle = Oracle {
    name: "resolved",
    doc: "the model as written resolved moves the same way",
    cheap: false,
    judge: resolve,
};
/// Place and orientation.
pub const MOUNTED: Oracle = Oracle {
    name: "placed",
    doc: "moved and turned, gravity too, it moves the same way",
    cheap: false,
    judge: mount,
};
/// Reflection.
pub const MIRRORED: Oracle = Oracle {
    name: "mirrored",
    doc: "mirrored, gravity too, it moves as the mirror image",
    cheap: false,
    judge: mirror,
};
/// Two bodies fixed together.
pub const SPLIT_BODY: Oracle = Oracle {
    name: "split_body",
    doc: "a body in two parts, fixed together, moves as one",
    cheap: false,
    judge: split_body,
};
/// A redundant joint.
pub const DOUBLED_JOINT: Oracle =
    Oracle { name: "doubled_joint", doc: "a joint twice moves as once", cheap: false, judge: double_joint };

/// Notes of runs whose motion depends on what the model leaves open: which of many reactions acts, how fast what overlaps at the start came
/// together.
const OPEN: [&str; 2] = ["depends on reactions that are not unique", "stored in it, and come out as motion"];

/// Returns whether anything is left open that motion depends on.
fn is_open(outcome: &Outcome) -> bool {
    let report = &outcome.report;
    !report.reactions.motion_not_unique.is_empty()
        || report.singular.iter().any(|s| s.outcome != "passed")
        || report.notes.iter().any(|note| OPEN.iter().any(|open| note.contains(open)))
}

/// Returns whether an expression of the scene reads a reaction that is not unique in a run.
fn reads_open(scene: &SceneFile, outcome: &Outcome) -> bool {
    let text = scene.toml();
    outcome.report.reactions.not_unique.iter().any(|column| text.contains(column.as_str()))
}

fn rename(case: &mut SceneRun, rng: &mut Rng) -> OracleVerdict {
    let (variant, names) = renamed(&case.scene, rng);
    let pairs = |base: &Outcome, other: &Outcome| by_name(base, other, &names);
    against(case, &variant, &run, &RunComparison { pairs: &pairs, must_load: true, other_method: false })
}

/// Pairs of columns whose elements have other names.
fn by_name(base: &Outcome, other: &Outcome, names: &HashMap<String, String>) -> Vec<ColumnPair> {
    let back: HashMap<&str, &str> = names.iter().map(|(old, new)| (new.as_str(), old.as_str())).collect();
    let old = |name: &str| match name.split_once('.') {
        Some((element, rest)) => format!("{}.{rest}", back.get(element).unwrap_or(&element)),
        None => (*back.get(name).unwrap_or(&name)).to_string(),
    };
    let mut other = other.clone();
    let columns = other.trajectory.names().iter().map(|n| old(n)).collect();
    other.trajectory = sarrus::analysis::Trajectory::new(columns, other.trajectory.units().to_vec());
    other.report.reactions.not_unique.iter_mut().for_each(|n| *n = old(n));
    unique_columns(base, &other, Extent::All)
}

fn permute(case: &mut SceneRun, rng: &mut Rng) -> OracleVerdict {
    let variant = permuted(&case.scene, rng);
    let pairs = |base: &Outcome, other: &Outcome| {
        if is_open(base) { Vec::new() } else { unique_columns(base, other, Extent::All) }
    };
    against(case, &variant, &run, &RunComparison { pairs: &pairs, must_load: true, other_method: false })
}

fn resolve(case: &mut SceneRun, _: &mut Rng) -> OracleVerdict {
    let variant = case.scene.clone();
    let pairs = |base: &Outcome, other: &Outcome| unique_columns(base, other, Extent::All);
    against(
        case,
        &variant,
        &run_resolved,
        &RunComparison { pairs: &pairs, must_load: true, other_method: false },
    )
}

fn mount(case: &mut SceneRun, rng: &mut Rng) -> OracleVerdict {
    compare_mounted(case, &Placement::random(case.scene.planar, false, rng))
}

fn mirror(case: &mut SceneRun, rng: &mut Rng) -> OracleVerdict {
    compare_mounted(case, &Placement::random(case.scene.planar, true, rng))
}

fn compare_mounted(case: &mut SceneRun, placement: &Placement) -> OracleVerdict {
    let mut variant = placement.mounted(&case.scene);
    // what bodies stand at when their angles are integrated depends on the axes
    set(&mut variant.run, "rotation", "quaternion");
    let scene = case.scene.clone();
    let pairs = move |base: &Outcome, other: &Outcome| {
        if is_open(base) { Vec::new() } else { moved_pairs(&scene, base, other, placement) }
    };
    // a column that cannot be read in turned axes is refused by name
    against(case, &variant, &run, &RunComparison { pairs: &pairs, must_load: false, other_method: true })
}

/// Positions and velocities of bodies in turned axes, coordinates of joints as they are.
fn moved_pairs(scene: &SceneFile, base: &Outcome, other: &Outcome, placement: &Placement) -> Vec<ColumnPair> {
    let (base, other) = (&base.trajectory, &other.trajectory);
    let index_of = |name: &str| other.index(&format!("m.{name}"));
    // the angle of a joint with a point mass counts from the world's axes: a point has none
    let points: Vec<&str> =
        scene.section("bodies").filter(|e| e.kind() == "point").map(|e| e.name.as_str()).collect();
    let on_point = |e: &&crate::scene::SceneElement| points.iter().any(|p| SceneFile::mentions(&e.value, p));
    let joints: Vec<&str> =
        scene.section("joints").filter(|e| !on_point(e)).map(|e| e.name.as_str()).collect();
    let mut out = Vec::new();
    for (i, name) in base.names().iter().enumerate() {
        let Some((element, last)) = name.rsplit_once('.') else { continue };
        let axis = |prefix: &str| ["x", "y", "z"].iter().position(|a| last == format!("{prefix}{a}"));
        if joints.contains(&element) {
            let scalar = ["angle", "rate", "position", "speed", "angle1", "angle2", "rate1", "rate2"];
            if scalar.contains(&last)
                && let Some(other) = index_of(name)
            {
                out.push(ColumnPair { base: i, other: vec![(other, 1.0)], shift: 0.0 });
            }
            continue;
        }
        let (prefix, axis, shifts) = match (axis(""), axis("v")) {
            (Some(axis), _) => ("", axis, true),
            (_, Some(axis)) => ("v", axis, false),
            _ => continue,
        };
        if !is_motion(name) || index_of(&format!("{element}.vx")).is_none() {
            continue;
        }
        // x = (R S)ᵀ (x' - p)
        let mut pair = ColumnPair { base: i, other: Vec::new(), shift: 0.0 };
        for (j, to) in ["x", "y", "z"].iter().enumerate() {
            let factor = placement.map[j][axis];
            if shifts {
                pair.shift -= factor * placement.shift[j];
            }
            if let Some(column) = index_of(&format!("{element}.{prefix}{to}")) {
                pair.other.push((column, factor));
            }
        }
        out.push(pair);
    }
    out
}

fn split_body(case: &mut SceneRun, rng: &mut Rng) -> OracleVerdict {
    if case.certified().is_none() {
        return OracleVerdict::Silent;
    }
    // by default bristles are damped by the masses of the bodies that touch, of which one is a part then
    if case.scene.toml().contains("bristle") {
        return OracleVerdict::Silent;
    }
    match split(&case.scene, rng) {
        Some(variant) => same_motion(case, &variant),
        None => OracleVerdict::Silent,
    }
}

fn double_joint(case: &mut SceneRun, rng: &mut Rng) -> OracleVerdict {
    if case.certified().is_none() {
        return OracleVerdict::Silent;
    }
    match doubled(&case.scene, rng) {
        Some(variant) => same_motion(case, &variant),
        None => OracleVerdict::Silent,
    }
}

fn same_motion(case: &mut SceneRun, variant: &SceneFile) -> OracleVerdict {
    let scene = case.scene.clone();
    let pairs = |base: &Outcome, other: &Outcome| {
        if is_open(base) || is_open(other) || reads_open(&scene, other) {
            return Vec::new();
        }
        unique_columns(base, other, Extent::Motion)
    };
    against(case, variant, &run, &RunComparison { pairs: &pairs, must_load: false, other_method: true })
}
