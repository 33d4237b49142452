//! Linear and angular momentum where gravity alone acts from outside: p = p₀ + M g t, and about the common centre of mass L = L₀.

use super::masses::{self, StatedBody, V3, add, cross, norm};
use super::{Oracle, OracleVerdict, SceneRun, judge_residual};
use crate::scene::{SceneElement, SceneFile, SceneValue};
use sarrus::analysis::Trajectory;

/// Momentum.
pub const MOMENTUM: Oracle = Oracle {
    name: "momentum",
    doc: "momentum and angular momentum are kept where nothing external acts",
    cheap: true,
    judge: |case, _| judge(case),
};

/// Kinds that act between the bodies that they name, and on nothing else.
const INTERNAL: [&str; 10] = [
    "spring",
    "actuator",
    "bushing",
    "point",
    "distance",
    "point_on_line",
    "point_on_plane",
    "parallel",
    "perpendicular",
    "angle",
];

fn is_internal(e: &SceneElement) -> bool {
    if SceneFile::mentions(&e.value, "ground") || matches!(e.value, SceneValue::Raw(_)) {
        return false;
    }
    match e.section {
        "bodies" | "joints" | "controllers" | "measures" | "materials" => true,
        "constraints" | "forces" => INTERNAL.contains(&e.kind()) || e.kind() == "coupler",
        "drivers" => ["joint", "distance"].contains(&e.kind()),
        _ => false,
    }
}

fn judge(case: &mut SceneRun) -> OracleVerdict {
    if !case.scene.elements.iter().all(is_internal) {
        return OracleVerdict::Silent;
    }
    let Some(base) = case.certified() else { return OracleVerdict::Silent };
    let Some(bodies) = masses::bodies(&case.scene, &base.trajectory) else { return OracleVerdict::Silent };
    let gravity = case.scene.gravity;
    judge_residual(case, "momentum changes", &|run| deviation(run, &bodies, gravity))
}

/// The largest change of a momentum relative to the largest momentum of a single body, and when.
fn deviation(run: &Trajectory, bodies: &[StatedBody], gravity: V3) -> Option<(f64, f64)> {
    let mass: f64 = bodies.iter().map(|b| b.mass).sum();
    let mut first: Option<(f64, V3, V3)> = None;
    let (mut scale, mut worst) = ([1e-9_f64; 2], Vec::new());
    for row in run.rows() {
        let all: Vec<_> = bodies.iter().map(|b| (b, b.motion(row))).collect();
        let sum = |f: &dyn Fn(&masses::BodyMotion) -> V3| {
            all.iter().fold([0.0; 3], |sum, (b, m)| add(sum, b.mass, f(m)))
        };
        let (centre, p) = (sum(&|m| m.at).map(|x| x / mass), sum(&|m| m.v));
        let mut spin = [0.0; 3];
        for (b, m) in &all {
            let arm = add(m.at, -1.0, centre);
            let orbital = cross(arm, add(m.v, -1.0 / mass, p));
            spin = add(add(spin, b.mass, orbital), 1.0, m.spin);
            scale[0] = scale[0].max(b.mass * norm(m.v));
            scale[1] = scale[1].max(b.mass * norm(arm) * norm(m.v) + norm(m.spin));
        }
        let (t0, p0, rotating0) = *first.get_or_insert((row[0], p, spin));
        let falls = add(p0, mass * (row[0] - t0), gravity);
        worst.push((norm(add(p, -1.0, falls)), norm(add(spin, -1.0, rotating0)), row[0]));
    }
    let relative = worst.iter().map(|(p, l, t)| ((p / scale[0]).max(l / scale[1]), *t));
    relative.reduce(|a, b| if a.0 >= b.0 { a } else { b })
}
