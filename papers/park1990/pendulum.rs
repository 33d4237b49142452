//! Example B, the spatial double pendulum: trajectories, order, and how many samples of a period a step may be.

use super::reference::{FORCES, Q, V};
use crate::claim::PaperError;
use crate::runs::{Case, Tally, largest};
use crate::table::Table;
use sarrus::analysis::{MethodText, Outcome, RunOverrides, Simulate, Status, assemble, simulate};
use sarrus::model::settings::Assembly;
use sarrus::solve::{
    Dynamics, Equations, Options, Problem, Stage, StepControl, formulations, integrators, stabilizations,
};
use std::f64::consts::TAU;

const MODEL: &str = include_str!("../../models/double_pendulum.toml");
/// Forms of the procedure.
pub const FORMS: [&str; 3] = ["symmetric", "paper", "one_step"];
/// Samples of the period of the highest frequency.
pub const SAMPLES: [usize; 5] = [5, 10, 20, 40, 80];
/// End of the trajectories \[s\], as far as the motion can be known to many digits.
pub const T_SHORT: f64 = 5.0;
/// Step of the long runs that are drawn \[s\].
pub const H_LONG: f64 = 0.01;
/// A run is lost when its energy is wrong by more than this part of what kinetic energy it may have \[1\].
const LOST: f64 = 0.1;

/// A run with a step of so many samples.
pub struct Sample {
    pub form: &'static str,
    pub samples: usize,
    /// Step \[s\].
    pub h: f64,
    /// Distance of the mass centres from where they should be at [`T_SHORT`] \[m\].
    pub error: f64,
    /// The long run.
    pub long: Long,
}

/// What became of a long run.
pub struct Long {
    /// When it was lost \[s\], if it was: its energy is wrong by a tenth of the largest kinetic energy.
    pub lost: Option<f64>,
    /// When it could not continue \[s\], if it came to that.
    pub ended: Option<f64>,
    /// Time \[s\] and energy error \[J\].
    pub energy: Vec<(f64, f64)>,
    /// Time \[s\] and ‖Φ‖ \[m\].
    pub violation: Vec<(f64, f64)>,
}

impl Long {
    /// Largest energy error in a part of the run \[J\].
    pub fn swing(&self, from: f64, to: f64) -> f64 {
        largest(self.energy.iter().filter(|e| e.0 >= from && e.0 <= to).map(|e| e.1.abs()))
    }
}

/// Errors relative to the largest value at 1 s, by step.
pub struct Order {
    pub form: &'static str,
    /// Steps \[s\] with the errors of q, v and λ.
    pub errors: Vec<(f64, [f64; 3])>,
}

impl Order {
    /// Orders between the two smallest steps.
    pub fn last(&self) -> [f64; 3] {
        let [.., (h, coarse), (half, fine)] = &self.errors[..] else { return [f64::NAN; 3] };
        std::array::from_fn(|i| (coarse[i] / fine[i]).log2() / (h / half).log2())
    }
}

/// Everything that was run.
pub struct Runs {
    /// The motion, by `dop853` at 1e-12.
    pub path: Outcome,
    /// Its largest error at 1 s against the reference, in q.
    pub path_error: f64,
    pub orders: Vec<Order>,
    pub samples: Vec<Sample>,
    /// At [`H_LONG`], by form.
    pub long: Vec<Long>,
    pub t_long: f64,
    /// Largest rate of turning of a bar \[rad/s\], and the highest frequency of small swings \[rad/s\].
    pub rates: [f64; 2],
}

fn method(form: &str) -> String {
    format!("staggered:form={form}")
}

fn bad(what: &str, reason: impl ToString) -> PaperError {
    PaperError::Run { what: what.to_string(), reason: reason.to_string() }
}

/// A run that may fail.
fn run(case: &Case, method: &str, overrides: RunOverrides) -> Result<Outcome, PaperError> {
    let MethodText(integrator) = method.parse().map_err(|e| bad(method, e))?;
    let overrides = RunOverrides { integrator: Some(integrator), ..overrides };
    simulate(&case.model, &case.system, &Simulate { overrides, record: true }, &mut ())
        .map_err(|e| bad(method, e))
}

/// Errors of q, v and of the method's own λ at 1 s, relative to the largest of each.
fn errors(case: &Case, form: &str, h: f64) -> Result<[f64; 3], PaperError> {
    let what = method(form);
    let bad = |e: &dyn std::fmt::Display| bad(&what, e);
    let start = assemble(&case.model, &case.system, Assembly::default()).map_err(|e| bad(&e))?;
    let mut mechanism = case.system.mechanism();
    mechanism.set_discrete(&start.discrete);
    let none = Options::new();
    let formulation = formulations::make("proximal", &none).map_err(|e| bad(&e))?;
    let stabilization = stabilizations::make("none", &none).map_err(|e| bad(&e))?;
    let mut dynamics = Dynamics::new(&mut mechanism, formulation, stabilization).map_err(|e| bad(&e))?;
    let mut options = Options::new();
    options.set("form", form);
    let kind = integrators::find("staggered").map_err(|e| bad(&e))?;
    let mut steps = (kind.new)(&options).map_err(|e| bad(&e))?;
    let mut control = StepControl::new(1e-6, 1e-8, Some(h)).map_err(|e| bad(&e))?;
    control.t_end = 1.0;
    let mut s = start.state;
    steps.prepare(&case.system.structure);
    while s.t < 1.0 {
        steps.step(&mut dynamics, &mut s, &mut control).map_err(|e| bad(&e))?;
    }
    let structure = &case.system.structure;
    let mut eq = Equations::new(dynamics.problem());
    dynamics.problem_mut().update(&s, Stage::POSITION, &mut eq);
    let lambda = steps.multipliers().ok_or_else(|| bad(&"no multipliers"))?;
    let mut forces = Vec::new();
    for (row, body) in structure.rows.iter().zip(0..) {
        // -Jᵀλ of a joint on the bar beyond it
        let Some(entry) = structure.entries[row.entries.clone()].iter().find(|e| e.col == body) else {
            continue;
        };
        let J = &eq.J[entry.offset..];
        forces.extend(
            (0..3).map(|j| -(0..row.size).map(|i| J[6 * i + j] * lambda[row.start + i]).sum::<f64>()),
        );
    }
    let relative = |found: &[f64], known: &[f64]| {
        largest(found.iter().zip(known).map(|(a, b)| (a - b).abs())) / largest(known.iter().map(|x| x.abs()))
    };
    Ok([relative(&s.q, &Q), relative(&s.v, &V), relative(&forces, &FORCES)])
}

fn column(run: &Outcome, name: &str) -> Vec<f64> {
    run.trajectory.column(name).map(Iterator::collect).unwrap_or_default()
}

/// Points of a mass centre.
pub fn path(run: &Outcome, body: &str) -> [Vec<f64>; 3] {
    ["x", "y", "z"].map(|axis| column(run, &format!("{body}.{axis}")))
}

/// A run of `t_end` seconds, which may be lost on the way.
fn long(case: &Case, form: &str, h: f64, t_end: f64) -> Result<Long, PaperError> {
    let columns = Some(["energy.*", "violation.position"].map(String::from).to_vec());
    let overrides = RunOverrides {
        step: Some(h),
        t_end: Some(t_end),
        every: Some(0.1),
        columns,
        ..RunOverrides::default()
    };
    let run = run(case, &method(form), overrides)?;
    let (t, balance) = (column(&run, "t"), column(&run, "energy.balance"));
    let energy: Vec<_> = t.iter().zip(&balance).map(|(t, e)| (*t, e - balance[0])).collect();
    let violation = t.iter().copied().zip(column(&run, "violation.position")).collect();
    // hanging straight down the bars have the least potential energy, -2 g
    let most = balance.first().map_or(1.0, |e| e + 2.0 * 9.81);
    let lost = energy.iter().find(|e| !(e.1.abs() <= LOST * most)).map(|e| e.0);
    let ended = (run.report.status != Status::Completed).then_some(run.report.t_end);
    Ok(Long { lost: lost.or(ended), ended, energy, violation })
}

/// The highest frequency of small swings in a plane \[rad/s\]: det(K - ω² M) = 0 in the two angles, for cylinders of 1 kg, 1 m
/// and `radius` \[m\].
fn highest_frequency(radius: f64) -> f64 {
    let inertia = (3.0 * radius * radius + 1.0) / 12.0;
    let M = [inertia + 1.25, 0.5, inertia + 0.25];
    let K = [1.5 * 9.81, 0.5 * 9.81];
    let (a, b, c) = (M[0] * M[2] - M[1] * M[1], -(K[0] * M[2] + K[1] * M[0]), K[0] * K[1]);
    ((-b + (b * b - 4.0 * a * c).sqrt()) / (2.0 * a)).sqrt()
}

/// Makes all runs.
pub fn runs(steps: &[f64], samples: &[usize], t_long: f64, tally: &mut Tally) -> Result<Runs, PaperError> {
    let case = Case::new("double pendulum", MODEL, &[], None)?;
    tally.next("double pendulum, reference")?;
    let tight = RunOverrides {
        rtol: Some(1e-12),
        atol: Some(1e-13),
        t_end: Some(T_SHORT),
        every: Some(0.01),
        ..RunOverrides::default()
    };
    let path_run = run(&case, "dop853", tight)?;
    let ends = ["upper", "lower"].map(|body| path(&path_run, body));
    let at = path_run.trajectory.rows().position(|row| (row[0] - 1.0).abs() < 1e-9).unwrap_or(0);
    let path_error =
        largest((0..3).flat_map(|i| [ends[0][i][at] - Q[i], ends[1][i][at] - Q[7 + i]]).map(f64::abs));
    let spin = |body: &str| {
        let w = ["wx", "wy", "wz"].map(|c| column(&path_run, &format!("{body}.{c}")));
        largest((0..w[0].len()).map(|k| w[0][k].hypot(w[1][k]).hypot(w[2][k])))
    };
    let rates = [largest([spin("upper"), spin("lower")]), highest_frequency(0.05)];
    let (mut orders, mut all, mut longs) = (Vec::new(), Vec::new(), Vec::new());
    for form in FORMS {
        tally.next(&format!("double pendulum, order of form {form}"))?;
        let errors =
            steps.iter().map(|h| Ok((*h, errors(&case, form, *h)?))).collect::<Result<_, PaperError>>()?;
        orders.push(Order { form, errors });
        for &samples in samples {
            tally.next(&format!("double pendulum, form {form}, {samples} samples"))?;
            let h = TAU / rates[1] / samples as f64;
            // the same end for every step
            let step = T_SHORT / (T_SHORT / h).ceil();
            let short = RunOverrides {
                step: Some(step),
                t_end: Some(T_SHORT),
                every: Some(T_SHORT),
                ..RunOverrides::default()
            };
            let outcome = run(&case, &method(form), short)?;
            let apart = |(body, known): (&str, &[Vec<f64>; 3])| {
                let found = path(&outcome, body);
                (0..3)
                    .map(|i| known[i][known[i].len() - 1] - found[i][found[i].len() - 1])
                    .fold(0.0, f64::hypot)
            };
            let error = largest(["upper", "lower"].into_iter().zip(&ends).map(apart));
            all.push(Sample { form, samples, h, error, long: long(&case, form, h, t_long)? });
        }
        tally.next(&format!("double pendulum, {t_long} s with form {form}"))?;
        longs.push(long(&case, form, H_LONG, t_long)?);
    }
    Ok(Runs { path: path_run, path_error, orders, samples: all, long: longs, t_long, rates })
}

/// Errors by step.
pub fn orders_table(runs: &Runs) -> Table {
    let mut table = Table::new(
        "Double pendulum: error at 1 s relative to the largest value, and order against the row above",
        &["form", "h [s]", "q", "v", "λ", "order q", "order v", "order λ"],
    );
    for order in &runs.orders {
        let mut before: Option<&(f64, [f64; 3])> = None;
        for row in &order.errors {
            let mut cells = vec![order.form.to_string(), row.0.to_string()];
            cells.extend(row.1.map(|e| format!("{e:.2e}")));
            for i in 0..3 {
                let ratio = before.map(|b| (b.1[i] / row.1[i]).log2() / (b.0 / row.0).log2());
                cells.push(ratio.map_or("-".into(), |x| format!("{x:.2}")));
            }
            table.rows.push(cells);
            before = Some(row);
        }
    }
    table
}

/// Samples per period.
pub fn samples_table(runs: &Runs) -> Table {
    let mut table = Table::new(
        &format!(
            "Double pendulum: samples of the period of {:.2} rad/s, the highest frequency of small swings",
            runs.rates[1]
        ),
        &[
            "form",
            "samples",
            "h [s]",
            "of the fastest turn",
            "error at 5 s [m]",
            "lost at [s]",
            "ends at [s]",
            "energy error in 5 s [J]",
        ],
    );
    for s in &runs.samples {
        table.rows.push(vec![
            s.form.to_string(),
            s.samples.to_string(),
            format!("{:.4}", s.h),
            format!("{:.1}", TAU / runs.rates[0] / s.h),
            format!("{:.1e}", s.error),
            s.long.lost.map_or(format!("not in {}", runs.t_long), |t| format!("{t:.1}")),
            format!("{:.1}", s.long.ended.unwrap_or(runs.t_long)),
            format!("{:.1e}", s.long.swing(0.0, T_SHORT)),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::highest_frequency;

    /// Two thin rods: ω² = (3 ± √(36/7)) g/l.
    #[test]
    fn thin_rods_swing_at_their_known_frequency() {
        let known = ((3.0 + (36.0_f64 / 7.0).sqrt()) * 9.81).sqrt();
        assert!((highest_frequency(0.0) - known).abs() < 1e-12);
    }
}
