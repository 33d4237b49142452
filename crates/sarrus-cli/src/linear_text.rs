//! Describes what `sarrus modes`, `equilibrium` and `inverse` say, as text.

use crate::printer::{group, number, plural, short, table, time};
use crate::style::Painter;
use sarrus::analysis::{
    EquilibriumReport, LoadStep, Mode, ModeKind, ModesReport, PrescribedReport, Status, SteadyMotion,
};
use sarrus::system::System;

/// Modes that are listed where not all are asked for.
const LISTED: usize = 20;
/// Bodies named for a mode.
const BODIES: usize = 3;

/// A table of modes, slowest first.
pub fn modes(r: &ModesReport, all: bool, paint: Painter) -> String {
    let steady = r.motion.as_ref().filter(|m| m.steady);
    let state = match r.stable {
        Some(true) => paint.green("stable"),
        Some(false) => paint.red("not stable"),
        None if r.equilibrium || steady.is_some() => paint.yellow("undecided"),
        None if r.motion.is_some() => paint.yellow("not steady"),
        None => paint.yellow("no equilibrium"),
    };
    let phrase = match steady {
        _ if r.equilibrium => "at rest".to_string(),
        Some(_) => format!("in steady motion at t = {} s", time(r.t)),
        None => format!("at t = {} s", time(r.t)),
    };
    let mut text = format!("{}: {state} {phrase}, ", paint.bold(&r.model));
    text += &if r.positions == r.speeds {
        plural_of(r.positions, "degree of freedom", "degrees of freedom")
    } else {
        format!(
            "{}, {}",
            plural(r.positions, "free position"),
            plural_of(r.speeds, "free velocity", "free velocities")
        )
    };
    if !r.states.is_empty() {
        text += &format!(", {} of controllers", plural(r.states.len(), "state"));
    }
    // what nothing drives back is not said to be stable
    let back = |n: usize| if n == 1 { "it" } else { "them" };
    text += &match r.modes.iter().filter(|m| m.kind == ModeKind::Free).count() {
        0 => String::new(),
        n if steady.is_some() => {
            format!("; {n} of the {} modes are zero: they lead to steady motions nearby", r.modes.len())
        }
        // with rolling, positions and velocities are not the same in number, and modes stand for either, as zeros in chains do
        n if n < r.modes.len() && (r.positions != r.speeds || n >= r.positions) => {
            format!("; {n} of the {} modes are free: nothing drives {} back", r.modes.len(), back(n))
        }
        n if n == r.positions => format!(", free: nothing drives {} back", back(n)),
        n => format!(", {n} of them free: nothing drives {} back", back(n)),
    };
    text += "\n";
    text += &steady.map_or_else(String::new, steady_motion);
    text += "\n";
    if r.modes.is_empty() {
        return text + "  nothing can move\n";
    }
    let head = ["mode", "frequency", "damping", "eigenvalue", "moves"].map(String::from);
    let shown = if all { usize::MAX } else { LISTED };
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(r.modes.iter().take(shown).map(row)).collect();
    text += &table(&rows);
    if r.modes.len() > shown {
        text += &format!("  ... {} in all: --all lists them\n", r.modes.len());
    }
    text
}

/// The frame from which a steady motion is seen.
fn steady_motion(m: &SteadyMotion) -> String {
    let size = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let list = |x: [f64; 3]| {
        let largest = size(x);
        // rounding beside the largest component is nothing
        let words = x.map(|x| if x.abs() <= 1e-9 * largest { "0".into() } else { short(x) });
        format!("({})", words.join(", "))
    };
    let (rotation, speed) = (size(m.omega), size(m.velocity));
    let mut motion = Vec::new();
    if rotation > 0.0 {
        let axis = list(m.omega.map(|x| x / rotation));
        motion.push(format!("rotates about {axis} through {} at {} rad/s", list(m.point), short(rotation)));
    }
    if speed > 0.0 && (rotation == 0.0 || speed > 1e-9 * rotation * size(m.point).max(1.0)) {
        motion.push(format!("moves along {} at {} m/s", list(m.velocity.map(|x| x / speed)), short(speed)));
    }
    let motion = if motion.is_empty() { "stands still".to_string() } else { motion.join(" and ") };
    let mut text = format!("  seen from a frame that {motion}");
    let spins: Vec<String> = m
        .spins
        .iter()
        .take(BODIES)
        .map(|s| format!("{} spins at {} rad/s", s.body, short(size(s.omega))))
        .collect();
    if !spins.is_empty() {
        let more = m.spins.len() - spins.len();
        let more = if more > 0 { format!(" and {more} more spin") } else { String::new() };
        text += &format!(", in which {}{more}", spins.join(", "));
    }
    text + &format!("; steady to {}\n", number(m.residual))
}

fn plural_of(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", group(n as u64), if n == 1 { one } else { many })
}

fn row(m: &Mode) -> [String; 5] {
    let kind = match m.kind {
        ModeKind::Oscillation => "swings",
        ModeKind::Decay => "dies away",
        ModeKind::Growth => "grows",
        ModeKind::Free => "free",
        ModeKind::Undecided => "undecided",
    };
    let [re, im] = m.eigenvalue;
    let value = match m.kind {
        ModeKind::Free | ModeKind::Undecided => "0".to_string(),
        ModeKind::Oscillation => format!("{} ± {}i", short(re), short(im)),
        _ => short(re),
    };
    let bodies: Vec<String> = m
        .bodies
        .iter()
        .filter(|b| b.share >= 0.005)
        .take(BODIES)
        .map(|b| format!("{} {:.0} %", b.name, 100.0 * b.share))
        .collect();
    [
        kind.to_string(),
        m.frequency.map_or(String::new(), |f| format!("{} Hz", short(f))),
        m.damping_ratio.map_or(String::new(), |d| if d.abs() < 1e-9 { "0".into() } else { short(d) }),
        format!("{value} 1/s"),
        bodies.join(", "),
    ]
}

/// Joint coordinates and reactions at rest.
pub fn equilibrium(r: &EquilibriumReport, system: &System, paint: Painter) -> String {
    let mut text = format!(
        "{}: at rest after {}, {} of the forces left; potential energy {} J, {} J at the start\n\n",
        paint.bold(&r.model),
        plural(r.iterations as usize, "step"),
        number(r.residual),
        short(r.potential[1]),
        short(r.potential[0]),
    );
    if !r.load_steps.is_empty() {
        text += &load_steps(r);
        text += "\n";
    }
    let mut rows = vec![["joint", "coordinates", "reaction on the second body"].map(String::from)];
    for joint in &system.directory.joints {
        let of = |words: &[&str]| {
            let parts: Vec<String> = words
                .iter()
                .filter_map(|w| {
                    let value = r.values.get(&format!("{}.{w}", joint.name))?;
                    // what is rounding beside the weight of things is nothing
                    Some(format!("{w} = {}", if value.abs() < 1e-9 { "0".into() } else { short(*value) }))
                })
                .collect();
            parts.join("  ")
        };
        rows.push([
            joint.name.clone(),
            of(&["angle", "angle1", "angle2", "position", "x", "y"]),
            of(&["fx", "fy", "fz", "tx", "ty", "tz"]),
        ]);
    }
    if rows.len() > 1 {
        text += &table(&rows);
    }
    if !r.reactions_not_unique.is_empty() {
        let names = r.reactions_not_unique.join(", ");
        text += &format!("\n  not unique, the values of least norm are shown: {names}\n");
    }
    text + "\n  all columns: --json; how it swings about this: sarrus modes\n"
}

/// Returns how the loads were brought on.
fn load_steps(r: &EquilibriumReport) -> String {
    let head = ["load", "steps", "forces left", "potential energy", "moved farthest"].map(String::from);
    let row = |step: &LoadStep| {
        [
            short(step.load),
            step.iterations.to_string(),
            if step.residual == 0.0 { "rounding".into() } else { format!("{:.1e}", step.residual) },
            format!("{} J", short(step.potential)),
            step.farthest
                .as_ref()
                .map_or_else(String::new, |(body, by)| format!("{body} by {} m", short(*by))),
        ]
    };
    // the first, the last, and some between
    let (n, rows) = (r.load_steps.len(), std::iter::once(head));
    let every = n.div_ceil(LISTED);
    let listed = r.load_steps.iter().enumerate().filter(|(i, _)| (n - 1 - i) % every == 0);
    let rows: Vec<[String; 5]> = rows.chain(listed.map(|(_, step)| row(step))).collect();
    let mut text = table(&rows);
    if every > 1 {
        text += &format!("  ... {n} in all: --out writes them\n");
    }
    text
}

/// Returns what the drivers need.
pub fn inverse(r: &PrescribedReport, paint: Painter) -> String {
    let status =
        if r.status == Status::Completed { paint.green("completed") } else { paint.red(r.status.name()) };
    let samples = plural(r.samples, "sample");
    let mut text = format!("{}: {status} at t = {} s, {samples}\n\n", paint.bold(&r.model), time(r.t_end));
    let mut rows = vec![["driver", "largest", "at", "rms", ""].map(String::from)];
    for d in &r.drivers {
        rows.push([
            d.column.clone(),
            format!("{} {}", short(d.largest), d.unit),
            format!("{} s", time(d.at)),
            format!("{} {}", short(d.rms), d.unit),
            if d.unique { String::new() } else { "NOT unique".into() },
        ]);
    }
    if rows.len() > 1 {
        text += &table(&rows);
    }
    text
}
