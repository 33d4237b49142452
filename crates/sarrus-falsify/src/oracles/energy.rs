//! Energies from masses in the file and columns of the results, and their balance with the power of forces integrated over the rows.

use super::masses::{self, StatedBody, V3, dot};
use super::{Oracle, OracleVerdict, SceneRun, judge_residual};
use crate::scene::{SceneElement, SceneFile, SceneValue, get};
use sarrus::analysis::Trajectory;

/// Energy.
pub const ENERGY: Oracle = Oracle {
    name: "energy",
    doc: "kinetic energy is that of the masses, and changes by the power of all forces",
    cheap: true,
    judge: |case, _| judge(case),
};

/// One term of the power, from the columns of a row.
enum Power {
    /// ± force · speed.
    Product(f64, usize, usize),
    /// -k (q - rest) q̇ - c q̇².
    Spring([f64; 3], usize, usize),
    /// A constant force on a body's centre of mass, or a constant torque on it, in world axes.
    Constant(usize, V3, bool),
}

fn judge(case: &mut SceneRun) -> OracleVerdict {
    let Some(base) = case.certified() else { return OracleVerdict::Silent };
    let (scene, run) = (&case.scene, &base.trajectory);
    let Some(bodies) = masses::bodies(scene, run) else { return OracleVerdict::Silent };
    let has = |key: &str| {
        scene.elements.iter().any(|e| e.section != "measures" && SceneFile::has_key(&e.value, key))
    };
    if has("armature")
        || has("added_mass")
        || scene.elements.iter().any(|e| matches!(e.value, SceneValue::Raw(_)))
    {
        return OracleVerdict::Silent;
    }
    let Some(column) = run.index("energy.kinetic") else { return OracleVerdict::Silent };
    let kinetic: Vec<f64> = run.rows().map(|row| kinetic(&bodies, row)).collect();
    let scale = kinetic.iter().fold(1e-9_f64, |m, x| m.max(*x));
    for (row, mine) in run.rows().zip(&kinetic) {
        if !((row[column] - mine).abs() <= 1e-9 * scale) {
            return OracleVerdict::Wrong(format!(
                "energy.kinetic is {:e} and that of the masses {mine:e} at t = {}",
                row[column], row[0]
            ));
        }
    }
    // impacts take energy within no time
    let Some(powers) = powers(scene, run, &bodies).filter(|_| scene.is_smooth()) else {
        return OracleVerdict::Agrees;
    };
    let gravity = scene.gravity;
    judge_residual(case, "energy misses its power", &|run| balance(run, &bodies, gravity, &powers))
}

fn kinetic(bodies: &[StatedBody], row: &[f64]) -> f64 {
    bodies.iter().map(|b| b.kinetic(&b.motion(row))).sum()
}

/// Keys of joints that store or take no energy.
const IDLE: [&str; 10] =
    ["kind", "bodies", "at", "on", "axis", "axis_on", "axis2", "lead", "baumgarte", "compliance"];

/// All powers beside that of gravity; none if an element is not known.
fn powers(scene: &SceneFile, run: &Trajectory, bodies: &[StatedBody]) -> Option<Vec<Power>> {
    let mut out = Vec::new();
    for e in &scene.elements {
        let column = |last: &str| run.index(&format!("{}.{last}", e.name));
        let pair = |force: &str, speed: String| Some((column(force)?, run.index(&speed)?));
        match (e.section, e.kind()) {
            ("bodies" | "controllers" | "measures" | "materials", _) => {}
            ("constraints", "distance" | "point" | "coupler" | "parallel" | "angle" | "perpendicular")
            | (
                "constraints",
                "point_on_line" | "point_on_plane" | "rolling_ball" | "rolling_disc" | "knife_edge",
            ) => {}
            ("joints", _) => out.extend(springs_of(e, run)?),
            ("forces", "spring") if e.get("bodies").is_some() => {
                let (force, speed) = pair("force", format!("{}.speed", e.name))?;
                out.push(Power::Product(-1.0, force, speed));
            }
            ("drivers", "distance") => {
                let (force, speed) = pair("force", format!("{}.speed", e.name))?;
                out.push(Power::Product(1.0, force, speed));
            }
            ("forces", "actuator") if e.get("bodies").is_some() => {
                let (force, speed) = pair("force", format!("{}.speed", e.name))?;
                out.push(Power::Product(1.0, force, speed));
            }
            ("forces", "actuator") | ("drivers", "joint") => {
                let joint = e.get("joint")?.text()?;
                if joint.contains('.') {
                    return None;
                }
                let rotating = pair("torque", format!("{joint}.rate"));
                let (effort, speed) = rotating.or_else(|| pair("force", format!("{joint}.speed")))?;
                out.push(Power::Product(1.0, effort, speed));
            }
            ("forces", kind @ ("force" | "torque")) => {
                let body =
                    bodies.iter().position(|b| e.get("body").and_then(SceneValue::text) == Some(&b.name))?;
                if e.get("at").is_some() || e.get("on").is_some() {
                    return None;
                }
                let value = e.get(kind)?;
                let vector = match (value.numbers(), value.number()) {
                    (Some(v), _) => [v[0], v[1], v.get(2).copied().unwrap_or(0.0)],
                    (_, Some(x)) => [0.0, 0.0, x],
                    _ => return None,
                };
                out.push(Power::Constant(body, vector, kind == "torque"));
            }
            _ => return None,
        }
    }
    Some(out)
}

/// Springs and dampers along the only coordinate of a joint.
fn springs_of(e: &SceneElement, run: &Trajectory) -> Option<Option<Power>> {
    let own = ["stiffness", "damping", "rest", "reads"];
    let keys = e.keys()?;
    if !keys.iter().all(|(k, _)| IDLE.contains(&k.as_str()) || own.contains(&k.as_str())) {
        return None;
    }
    let read = |key: &str| get(keys, key).map_or(Some(None), |v| v.number().map(Some));
    let [stiffness, damping, rest, reads] =
        [read("stiffness")?, read("damping")?, read("rest")?, read("reads")?];
    if stiffness.is_none() && damping.is_none() {
        return Some(None);
    }
    let column = |last: &str| run.index(&format!("{}.{last}", e.name));
    let columns = column("angle").zip(column("rate")).or_else(|| column("position").zip(column("speed")))?;
    // where neither is stated the spring is slack at a reading that only the program knows
    let rest = rest.or(reads);
    if stiffness.is_some() && rest.is_none() {
        return None;
    }
    let law = [stiffness.unwrap_or(0.0), damping.unwrap_or(0.0), rest.unwrap_or(0.0)];
    Some(Some(Power::Spring(law, columns.0, columns.1)))
}

/// The largest difference between the change of energy and the work, relative to the energy that goes through, and when.
fn balance(run: &Trajectory, bodies: &[StatedBody], gravity: V3, powers: &[Power]) -> Option<(f64, f64)> {
    let power = |row: &[f64]| -> (f64, f64) {
        let motions: Vec<_> = bodies.iter().map(|b| b.motion(row)).collect();
        let terms = powers.iter().map(|p| match p {
            Power::Product(sign, force, speed) => sign * row[*force] * row[*speed],
            Power::Spring([k, c, rest], q, speed) => -(k * (row[*q] - rest) + c * row[*speed]) * row[*speed],
            Power::Constant(body, v, rotating) => {
                dot(*v, if *rotating { motions[*body].w } else { motions[*body].v })
            }
        });
        let weight: f64 = bodies.iter().zip(&motions).map(|(b, m)| b.mass * dot(gravity, m.v)).sum();
        let all: Vec<f64> = terms.chain([weight]).collect();
        (all.iter().sum(), all.iter().map(|x| x.abs()).sum())
    };
    let rows: Vec<&[f64]> = run.rows().collect();
    let values: Vec<(f64, f64)> = rows.iter().map(|row| power(row)).collect();
    let energies: Vec<f64> = rows.iter().map(|row| kinetic(bodies, row)).collect();
    let (mut work, mut flow, mut unsure) = (0.0, 0.0, 0.0);
    let mut worst = (0.0, 0.0);
    let mut scale = energies.first().copied()?.max(1e-9);
    // Simpson's rule over four intervals against that over two: the error of the former is a fifteenth of the difference
    for i in (4..rows.len()).step_by(4) {
        let h = rows[i][0] - rows[i - 1][0];
        if (rows[i - 3][0] - rows[i - 4][0] - h).abs() > 1e-6 * h {
            break;
        }
        let p = |k: usize| values[i - 4 + k].0;
        let fine = h / 3.0 * (p(0) + 4.0 * p(1) + 2.0 * p(2) + 4.0 * p(3) + p(4));
        let coarse = 2.0 * h / 3.0 * (p(0) + 4.0 * p(2) + p(4));
        work += fine;
        unsure += (fine - coarse).abs();
        flow += h * values[i - 4..i].iter().map(|v| v.1).sum::<f64>();
        scale = scale.max(energies[i]).max(flow);
        let off = (energies[i] - energies[0] - work).abs() - unsure;
        if !(off / scale <= worst.0) {
            worst = (off / scale, rows[i][0]);
        }
    }
    Some(worst)
}
