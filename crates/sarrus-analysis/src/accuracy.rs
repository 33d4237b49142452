//! Accuracy of a run: how far its columns are from those of the exact solution, estimated from a companion run.
//!
//! Step control bounds local errors; global errors grow from them with the sensitivity of the motion. A companion run solves the same
//! model by the same method at another tolerance or step, and the columns of both are compared at the same times.
//!
//! - A **coarse** companion takes fewer steps. Global errors grow with the tolerance, so that its own error dominates the
//!   difference, which then bounds the error of the run from above.
//! - A **fine** companion takes more. Its error is small beside that of the run, whose error the difference then is.
//!
//! By default the coarse companion runs, and the fine one only where that bound exceeds the limit: it is sharper. With
//! `full` certification the fine one runs and all rows are compared.
//!
//! Errors are judged relative to the scale of their unit: [`Scales`].

use crate::advice;
use crate::clock::Clock;
use crate::error::SetupError;
use crate::method::Method;
use crate::report::{CertificateItem, Report, Status};
use crate::settings::{RunOverrides, Settings};
use crate::simulate::{Outcome, Progress, Simulate, Watch};
use crate::trajectory::Trajectory;
use sarrus_model::Model;
use sarrus_model::settings::Certification;
use sarrus_solve::integrators::{self, Proceed};
use sarrus_system::System;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Tolerance of the coarse companion over that of the run.
const COARSE: f64 = 100.0;
/// Tolerance of the fine companion over that of the run.
const FINE: f64 = 0.01;
/// A coarse companion takes at most this part of the steps of the run. Where samples, tables or switches force steps to end, it may not.
const FEWER: f64 = 0.75;
/// The least relative tolerance that a fine companion is given: below it rounding decides.
const LEAST: f64 = 1e-14;
/// Events of two runs at instants that differ by less than this part of the time are one.
const SAME_EVENT: f64 = 1e-6;
/// Rows compared by default.
const ROWS: f64 = 100.0;
/// Rounding that errors are known to, relative to the largest value of their unit.
const ROUNDING: f64 = 1e-13;
/// Evaluations of the right-hand side times unknowns beyond which no companion runs by default: some ten seconds.
const MOST_WORK: f64 = 3e8;
/// Numbers in the columns of a companion beyond which it does not run.
const MOST_NUMBERS: f64 = 1e8;
/// Most columns that a report lists; beyond them those with the largest relative errors.
const MOST_COLUMNS: usize = 10_000;
/// Part of the largest value in a family of columns that is the least scale of its errors.
const OFFSET: f64 = 1e-3;
/// Part of what is natural for a mechanism that is the least scale of its velocities, accelerations and forces.
const NATURAL: f64 = 1e-3;
/// Likewise of a radian in the time of the run, and of its size.
const LEAST_RATE: f64 = 1e-6;

/// Estimated global errors of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Accuracy {
    /// The largest error of a column over the scale of its unit.
    #[serde(flatten)]
    pub item: CertificateItem,
    /// The column with that error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<String>,
    /// `bound`: the difference to a coarser run, which is larger than the error; `difference`: to a finer one, which is the error.
    pub estimate: &'static str,
    /// Relative tolerance of the companion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtol: Option<f64>,
    /// Step of the companion \[s\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// Processor time of the companions over that of the run, where the system tells it.
    pub cost: Option<f64>,
    /// Estimated absolute errors by column; those with the largest relative errors where there are very many.
    pub columns: BTreeMap<String, f64>,
}

/// Holds what a companion is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Companion {
    Coarse,
    Fine,
}

/// Runs a compiled model and estimates the accuracy of the run.
pub fn certify(
    model: &Model,
    system: &Arc<System>,
    request: &Simulate,
    watch: &mut dyn Watch,
) -> Result<Outcome, SetupError> {
    let settings = Settings::read(model, &request.overrides)?;
    let level = settings.certify.level;
    if level == Certification::Basic {
        return crate::simulate(model, system, request, watch);
    }
    let mut own = request.clone();
    if !request.record {
        // columns are compared even where none are kept
        own = Simulate { record: true, ..request.clone() };
        own.overrides.every = Some((settings.t_end - settings.t_start) / ROWS);
        if system.structure.nv as f64 * ROWS > MOST_NUMBERS {
            return crate::simulate(model, system, request, watch);
        }
    }
    let (mut outcome, method) = crate::simulate::with_method(model, system, &own, watch)?;
    let case = EstimatedRun { model, system, request: &own, settings: &settings, method: &method };
    match case.estimate(&outcome, watch) {
        Ok(Some(accuracy)) => {
            let item = accuracy.item;
            outcome.report.certificate.add_accuracy(accuracy);
            if !item.passed {
                let fixed = method.step.filter(|_| !method.adaptive);
                let advice = advice::more_exact(&item, &method, fixed);
                outcome.report.advice.push(format!(
                    "accuracy: {advice}; where the motion is chaotic no tolerance helps for long"
                ));
            }
        }
        Ok(None) => {}
        Err(why) => outcome.report.notes.push(format!("the accuracy of the run is not estimated: {why}")),
    }
    if !request.record {
        outcome.trajectory = Trajectory::default();
        outcome.report.counts.samples = 0;
        outcome.report.units.clear();
    }
    Ok(outcome)
}

/// A run whose accuracy is to be estimated.
struct EstimatedRun<'a> {
    model: &'a Model,
    system: &'a Arc<System>,
    request: &'a Simulate,
    settings: &'a Settings,
    method: &'a Method,
}

impl EstimatedRun<'_> {
    /// The accuracy of the run that ended as `outcome`; none where the run did not end by itself.
    fn estimate(&self, outcome: &Outcome, watch: &mut dyn Watch) -> Result<Option<Accuracy>, String> {
        let report = &outcome.report;
        if report.status == Status::Failed || outcome.trajectory.len() < 2 {
            return Ok(None);
        }
        let unknowns = (self.system.structure.nv + self.system.structure.nc) as f64;
        let work = report.counts.rhs as f64 * unknowns;
        if self.settings.certify.level == Certification::Standard && work > MOST_WORK {
            return Err("a long run of a large model; `--certify full` estimates it".into());
        }
        let clock = Clock::start();
        let cost = || Some(clock.cpu()? / report.cpu_s?.max(1e-9));
        let limit = self.settings.certify.accuracy;
        let mut best = None;
        let steps = report.counts.steps;
        if self.settings.certify.level == Certification::Standard || self.at(Companion::Fine, steps).is_none()
        {
            best = self.compare(outcome, Companion::Coarse, watch)?;
        }
        if best.as_ref().is_none_or(|found| !(found.item.value <= limit)) {
            match self.compare(outcome, Companion::Fine, watch) {
                Ok(Some(found)) => best = Some(found),
                Ok(None) => {}
                Err(why) if best.is_none() => return Err(why),
                Err(_) => {}
            }
        }
        Ok(best.map(|found| Accuracy { cost: cost(), ..found }))
    }

    /// Tolerances and step of a companion of a run of so many `steps`; none where rounding would decide.
    fn at(&self, companion: Companion, steps: u64) -> Option<(RunOverrides, f64)> {
        let Method { rtol, atol, step, .. } = *self.method;
        let span = self.settings.t_end - self.settings.t_start;
        // forced ends of steps make them shorter than what was asked for
        let mean = span / steps.max(1) as f64;
        let mut over = self.request.overrides.clone();
        over.integrator = Some(self.method.integrator.choice());
        // of a difference to a coarser run all is counted; to a finer one of order p, that has the error e/2^p, the difference is less
        let mut share = 1.0;
        if self.method.adaptive {
            let factor = if companion == Companion::Coarse { COARSE } else { FINE };
            over.rtol = Some(rtol * factor).filter(|rtol| *rtol >= LEAST);
            over.rtol?;
            over.atol = Some(atol * factor);
            if companion == Companion::Fine {
                over.step = Some(step.map_or(mean, |step| step.min(mean)));
            }
        } else {
            let step = step.unwrap_or(span / 1000.0);
            let order = integrators::find(&self.method.integrator.name).map_or(1, |kind| kind.least_order);
            let factor = if companion == Companion::Coarse { 2.0 } else { 0.5 };
            over.step = Some(if companion == Companion::Coarse { step } else { step.min(mean) } * factor);
            if companion == Companion::Fine {
                share = 1.0 - 0.5_f64.powi(order.max(1) as i32);
            }
        }
        Some((over, share))
    }

    /// Runs a companion and compares columns; none where rounding would decide.
    fn compare(
        &self,
        outcome: &Outcome,
        companion: Companion,
        watch: &mut dyn Watch,
    ) -> Result<Option<Accuracy>, String> {
        let steps = outcome.report.counts.steps;
        let Some((mut over, share)) = self.at(companion, steps) else { return Ok(None) };
        let (main, every) = (&outcome.trajectory, self.settings.every);
        let every = self.request.overrides.every.unwrap_or(every);
        // what fixed steps pass over may lie between rows that are far apart
        let numbers = main.width() as f64 * main.len() as f64;
        let sparse = self.method.adaptive || numbers > MOST_NUMBERS;
        if companion == Companion::Coarse && sparse {
            let rows = (self.settings.t_end - self.settings.t_start) / every;
            over.every = Some((rows / ROWS).floor().max(1.0) * every);
        }
        if numbers.min(main.width() as f64 * ROWS) > MOST_NUMBERS {
            return Err("its columns hold too many numbers".into());
        }
        over.peaks = Some(false);
        let (rtol, step) = (over.rtol, over.step.filter(|_| !self.method.adaptive));
        let request = Simulate { overrides: over, record: true };
        let mut silent = Silent { watch, t: outcome.report.t_end, stopped: false };
        let done = crate::simulate(self.model, self.system, &request, &mut silent);
        if silent.stopped {
            return Err("it was interrupted".into());
        }
        let other = done.map_err(|error| error.to_string())?;
        if other.report.status != outcome.report.status {
            let at = match (rtol, step) {
                (Some(rtol), _) => format!("rtol = {rtol:e}"),
                (_, step) => format!("a step of {} s", step.unwrap_or(0.0)),
            };
            return Err(format!("a run at {at} ends otherwise ({})", other.report.reason));
        }
        if companion == Companion::Coarse && other.report.counts.steps as f64 > FEWER * steps as f64 {
            return Ok(None);
        }
        let jumps = [outcome, &other].map(|run| run.report.events.iter().map(|event| event.t).collect());
        let (apart, rows) = differences(main, &other.trajectory, &jumps);
        if rows < 2 {
            return Err("its rows are at other times than those of the companion".into());
        }
        let scales = Scales::new(main, &outcome.report, &Natural::of(self.system)).of_columns(main);
        let error = |(apart, (scale, rounding)): (f64, &(f64, f64))| (apart / share + rounding, *scale);
        let errors = apart.into_iter().zip(&scales).map(error).enumerate().skip(1);
        let mut all: Vec<(f64, usize, f64)> = errors.map(|(i, (e, s))| (e / s, i, e)).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let worst = all.first().filter(|w| w.0 > 0.0);
        let name = |i: usize| main.names()[i].clone();
        Ok(Some(Accuracy {
            item: CertificateItem::new(worst.map_or(0.0, |w| w.0), self.settings.certify.accuracy),
            worst: worst.map(|w| name(w.1)),
            estimate: if companion == Companion::Coarse { "bound" } else { "difference" },
            rtol,
            step,
            cost: None,
            columns: all.iter().take(MOST_COLUMNS).map(|&(_, i, e)| (name(i), e)).collect(),
        }))
    }
}

/// Asks a watch whether to stop, and shows it nothing else of a companion.
struct Silent<'a> {
    watch: &'a mut dyn Watch,
    t: f64,
    stopped: bool,
}

impl Watch for Silent<'_> {
    fn step(&mut self, progress: &Progress) -> Proceed {
        let flow = self.watch.step(&Progress { t: self.t, steps: progress.steps });
        self.stopped |= flow == Proceed::Stop;
        flow
    }
}

/// Largest difference of each column over the rows that both have, and how many those are; what is not a number in either is left out, and
/// so are rows between the instants at which both runs have the same event: there one stands before a jump and the other behind it.
fn differences(a: &Trajectory, b: &Trajectory, jumps: &[Vec<f64>; 2]) -> (Vec<f64>, usize) {
    let mut rows = 0;
    let mut found = vec![0.0_f64; a.width()];
    let mut others = b.rows().peekable();
    for row in a.rows() {
        let near = 1e-9 * row[0].abs().max(1e-300);
        while others.next_if(|other| other[0] < row[0] - near).is_some() {}
        let Some(other) = others.next_if(|other| other[0] <= row[0] + near) else { continue };
        rows += 1;
        if is_at_jump(row[0], near, jumps) {
            continue;
        }
        for ((found, x), y) in found.iter_mut().zip(row).zip(other) {
            // false where one is not a number
            if (x - y).abs() > *found {
                *found = (x - y).abs();
            }
        }
    }
    (found, rows)
}

/// Returns whether an instant lies between the instants that both runs have for an event, or at one.
fn is_at_jump(t: f64, near: f64, jumps: &[Vec<f64>; 2]) -> bool {
    let beside = |times: &[f64]| {
        let k = times.partition_point(|jump| *jump < t);
        [k.checked_sub(1), Some(k)].map(|k| k.and_then(|k| times.get(k)).map(|jump| jump - t))
    };
    let [a, b] = [beside(&jumps[0]), beside(&jumps[1])];
    let at = |side: &[Option<f64>; 2]| side.iter().flatten().any(|off| off.abs() <= near);
    // an event before the instant in one run, and behind it in the other, that is much the same
    let across = |before: Option<f64>, behind: Option<f64>| match (before, behind) {
        (Some(before), Some(behind)) => behind - before <= SAME_EVENT * t.abs(),
        _ => false,
    };
    at(&a) || at(&b) || across(a[0], b[1]) || across(b[0], a[1])
}

/// Holds what errors of a quantity are measured against, by unit.
///
/// Positions and angles: the widest range of a column, as their origin means nothing; an angle at most one revolution. Others: the largest
/// value. Where a mechanism rests, or moves steadily, some of these are rounding. They are measured against what its size, mass, gravity and
/// speed make natural.
struct Scales {
    by_unit: HashMap<&'static str, f64>,
    /// The largest value.
    largest: HashMap<&'static str, f64>,
}

/// Holds what a mechanism makes natural.
struct Natural {
    /// Radius of gyration, at its largest \[m\].
    radius: f64,
    mass: f64,
    gravity: f64,
}

impl Natural {
    fn of(system: &System) -> Natural {
        let bodies = system.directory.bodies.iter().skip(1).filter(|body| body.mass > 0.0);
        let (mut radius, mut mass) = (0.0_f64, 0.0);
        for body in bodies {
            let largest = (0..3).map(|i| body.inertia.0[i][i]).fold(0.0, f64::max);
            radius = radius.max((largest / body.mass).sqrt());
            mass += body.mass;
        }
        let gravity = system.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        Natural { radius, mass, gravity }
    }
}

impl Scales {
    fn new(run: &Trajectory, report: &Report, natural: &Natural) -> Scales {
        let mut ranges: HashMap<&'static str, [f64; 2]> = HashMap::new();
        let mut bounds = vec![[f64::INFINITY, f64::NEG_INFINITY]; run.width()];
        for row in run.rows() {
            for (bound, x) in bounds.iter_mut().zip(row) {
                *bound = [bound[0].min(*x), bound[1].max(*x)];
            }
        }
        for ((name, unit), [least, most]) in run.names().iter().zip(run.units()).zip(bounds) {
            if is_measured(name) && least <= most && least.is_finite() && most.is_finite() {
                let family = ranges.entry(unit).or_default();
                family[0] = family[0].max(most - least);
                family[1] = family[1].max(least.abs()).max(most.abs());
            }
        }
        let largest = |unit: &str| ranges.get(unit).map_or(0.0, |r| r[1]);
        let range = |unit: &str| ranges.get(unit).map_or(0.0, |[range, most]| range.max(OFFSET * most));
        let span = (report.t_end - report.t_start).max(f64::MIN_POSITIVE);
        let Natural { radius, mass, gravity } = *natural;

        let length = range("m").max(radius);
        let swing = if length > 0.0 { (gravity / length).sqrt() } else { 0.0 };
        let rate = largest("rad/s").max(NATURAL * swing).max(LEAST_RATE / span);
        let speed = largest("m/s").max(NATURAL * length * rate.max(swing));
        let acceleration = largest("m/s^2").max(NATURAL * (length * rate * rate).max(gravity));
        // an angular acceleration is as exact as the acceleration that it gives to points of a body
        let spin = if radius > 0.0 { largest("m/s^2") / radius } else { 0.0 };
        let force = largest("N").max(NATURAL * mass * acceleration);
        let mut by_unit: HashMap<&'static str, f64> =
            ranges.iter().map(|(unit, [_, most])| (*unit, most.max(f64::MIN_POSITIVE))).collect();
        by_unit.extend([
            ("m", range("m").max(LEAST_RATE * radius).max(f64::MIN_POSITIVE)),
            ("rad", range("rad").clamp(OFFSET, std::f64::consts::TAU)),
            ("m/s", speed.max(f64::MIN_POSITIVE)),
            ("rad/s", rate),
            ("m/s^2", acceleration.max(f64::MIN_POSITIVE)),
            ("rad/s^2", largest("rad/s^2").max(NATURAL * (rate * rate).max(swing * swing)).max(spin)),
            ("N", force.max(f64::MIN_POSITIVE)),
            ("N m", largest("N m").max(NATURAL * force * length).max(f64::MIN_POSITIVE)),
            ("J", report.energy.scale),
        ]);
        let largest = ranges.into_iter().map(|(unit, [_, most])| (unit, most)).collect();
        Scales { by_unit, largest }
    }

    /// The scale of each column and its rounding; infinite for those that are errors themselves.
    fn of_columns(&self, run: &Trajectory) -> Vec<(f64, f64)> {
        let of = |(name, unit): (&String, &&'static str)| {
            let rounding = ROUNDING * self.largest.get(unit).copied().unwrap_or(0.0);
            match () {
                () if !is_measured(name) => (f64::INFINITY, 0.0),
                () if [".q0", ".q1", ".q2", ".q3"].iter().any(|q| name.ends_with(q)) => (1.0, ROUNDING),
                () => (self.by_unit.get(unit).copied().unwrap_or(1.0), rounding),
            }
        };
        run.names().iter().zip(run.units()).map(of).collect()
    }
}

/// Returns whether a column is a quantity of the mechanism rather than an error of the run.
fn is_measured(name: &str) -> bool {
    !name.starts_with("violation.") && name != "energy.balance"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trajectory(rows: &[[f64; 2]]) -> Trajectory {
        let mut t = Trajectory::new(vec!["t".into(), "a.x".into()], vec!["s", "m"]);
        rows.iter().for_each(|row| t.push().copy_from_slice(row));
        t
    }

    #[test]
    fn rows_are_compared_at_the_times_that_both_have() {
        let a = trajectory(&[[0.0, 1.0], [0.5, 7.0], [1.0, 2.0], [2.0, 3.0]]);
        let b = trajectory(&[[0.0, 1.0], [1.0 + 1e-15, 2.5], [1.5, 9.0]]);
        let (apart, rows) = differences(&a, &b, &Default::default());
        assert_eq!((apart[1], rows), (0.5, 2));
        assert_eq!(differences(&b, &a, &Default::default()).0[1], 0.5);
    }

    #[test]
    fn rows_at_a_jump_are_left_out() {
        let a = trajectory(&[[0.0, 1.0], [1.0, 5.0], [2.0, 3.0]]);
        let b = trajectory(&[[0.0, 1.0], [1.0, -5.0], [2.0, 3.5]]);
        let jumps = |x: f64, y: f64| [vec![x], vec![y]];
        for (x, y) in [(1.0 - 1e-15, 1.0 + 1e-15), (1.0 - 1e-8, 1.0 + 1e-8), (1.0, 1.0 + 1e-7)] {
            assert_eq!(differences(&a, &b, &jumps(x, y)).0[1], 0.5, "{x} {y}");
            assert_eq!(differences(&b, &a, &jumps(y, x)).0[1], 0.5, "{x} {y}");
        }
        // other events are none
        assert_eq!(differences(&a, &b, &jumps(0.9, 1.1)).0[1], 10.0);
        assert_eq!(differences(&a, &b, &jumps(0.99, 0.99)).0[1], 10.0);
    }

    #[test]
    fn what_is_not_a_number_is_left_out() {
        let a = trajectory(&[[0.0, f64::NAN], [1.0, 2.0]]);
        let b = trajectory(&[[0.0, 1.0], [1.0, 2.25]]);
        assert_eq!(differences(&a, &b, &Default::default()).0[1], 0.25);
    }
}
