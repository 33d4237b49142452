//! Positions are the integrals of the velocities in the same results, and velocities those of the accelerations.
//!
//! x₁ - x₀ = h/2 (v₀ + v₁) + h²/12 (a₀ - a₁) up to fifth order. What the rows do not resolve is at most of the size of the
//! last term, taken over the rows beside it; where velocities jump, of the size of these.

use super::{Oracle, OracleVerdict, SceneRun};
use crate::scene::SceneFile;
use sarrus::analysis::Trajectory;

/// Derivatives.
pub const KINEMATICS: Oracle = Oracle {
    name: "kinematics",
    doc: "velocities are the derivatives of positions, accelerations those of velocities",
    cheap: true,
    judge: |case, _| judge(case),
};

/// Columns of a position, its velocity and its acceleration, by their last names.
const CHAINS: [[&str; 3]; 8] = [
    ["x", "vx", "ax"],
    ["y", "vy", "ay"],
    ["z", "vz", "az"],
    ["angle", "rate", "alpha"],
    ["angle", "rate", "accel"],
    ["position", "speed", "accel"],
    ["angle1", "rate1", "accel1"],
    ["angle2", "rate2", "accel2"],
];

fn judge(case: &mut SceneRun) -> OracleVerdict {
    let Some(base) = case.certified() else { return OracleVerdict::Silent };
    // fixed steps of first order have positions and velocities of their own errors
    let Some(rtol) = base.report.method.rtol else { return OracleVerdict::Silent };
    let floor = 1e-6 + 10.0 * rtol;
    let (run, smooth) = (&base.trajectory, case.scene.is_smooth());
    let instants = &base.instants.rows;
    // bodies of a joint that does not act leave its axis, about which its angle is read
    let disabled = |element: &str| {
        let mut events = case.scene.section("events").filter(|e| e.get("disable").is_some());
        events.any(|e| SceneFile::mentions(&e.value, element))
    };
    let mut seen = false;
    for (i, name) in run.names().iter().enumerate() {
        let Some((element, last)) = name.rsplit_once('.') else { continue };
        for chain in CHAINS.iter().filter(|chain| chain[0] == last && !disabled(element)) {
            let index_of = |last: &str| run.index(&format!("{element}.{last}"));
            // of a joint that slides and turns, `accel` is that of its speed
            if chain[1..] == ["rate", "accel"] && index_of("alpha").is_some() {
                continue;
            }
            if let (Some(v), Some(a)) = (index_of(chain[1]), index_of(chain[2])) {
                seen = true;
                if let Some(found) = unlike([run, instants], [i, v, a], smooth, floor) {
                    return OracleVerdict::Wrong(format!(
                        "{name} is not the integral of its velocity: {found}"
                    ));
                }
            }
        }
    }
    if seen { OracleVerdict::Agrees } else { OracleVerdict::Silent }
}

/// Determines where a position and its velocity contradict each other.
fn unlike(
    [run, instants]: [&Trajectory; 2],
    [x, v, a]: [usize; 3],
    smooth: bool,
    floor: f64,
) -> Option<String> {
    let speeds: Vec<[f64; 2]> = instants.rows().map(|row| [row[0], row[v].abs()]).collect();
    let column = |c: usize| run.rows().map(move |row| row[c]).collect::<Vec<f64>>();
    let (t, x, v, a) = (column(0), column(x), column(v), column(a));
    let largest = |list: &[f64]| list.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let (scale_x, scale_v) = (largest(&x).max(0.1), largest(&v));
    for i in 1..t.len() {
        let h = t[i] - t[i - 1];
        let beside = i.saturating_sub(2)..(i + 2).min(t.len());
        let spread = |list: &[f64]| {
            let all = &list[beside.clone()];
            let (lo, hi) = all.iter().fold((f64::MAX, f64::MIN), |(lo, hi), x| (lo.min(*x), hi.max(*x)));
            hi - lo
        };
        let hermite = 0.5 * h * (v[i - 1] + v[i]) + h * h / 12.0 * (a[i - 1] - a[i]);
        let residual = (x[i] - x[i - 1] - hermite).abs();
        // impacts turn velocities round between two rows
        let between = speeds.iter().filter(|[at, _]| *at >= t[i - 1] && *at <= t[i]);
        let fastest = between.map(|[_, speed]| *speed).fold(largest(&v[beside.clone()]), f64::max);
        let jump = if smooth { 0.0 } else { h * (spread(&v) + 4.0 * fastest) };
        let allowed = h * h * spread(&a) + jump + floor * (scale_x + h * scale_v);
        if !(residual <= allowed) {
            return Some(format!(
                "off by {residual:.2e} between t = {} and {}, {allowed:.2e} allowed",
                t[i - 1],
                t[i]
            ));
        }
    }
    None
}
