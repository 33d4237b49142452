//! Describes what went wrong in a step, said with names instead of rows.

use crate::drivers::{self, Contradiction};
use crate::error::SetupError;
use crate::report::FailureReport;
use sarrus_model::functions::{Fault, fault, forget_fault};
use sarrus_solve::{Accel, Equations, GroupKind, Problem, SolveError, Stage, State, StepError, digits};
use sarrus_system::Mechanism;

/// Motion beyond this has grown without bound: what reads it is not to blame.
const UNBOUNDED: f64 = 1e100;

/// Angle in a step up to which Newton's iteration starts well \[rad\]: rotations are linear in it to a sixth, sin 1 = 0.84.
const REVOLUTION: f64 = 1.0;

/// Names what `error` is about, in a step of size `h` from `s`.
pub(crate) fn explain(error: &StepError, mechanism: &mut Mechanism, s: &State, h: f64) -> FailureReport {
    // a function that gave no number in this step, before what reads it
    if let Some(fault) = fault().filter(|_| !matches!(error, StepError::Jump { .. })) {
        let message =
            format!("{} at t = {}, for the arguments {}", fault.what(), short(error.t()), fault.arguments());
        let element = Some(format!("function `{}`", fault.name()));
        return FailureReport { message, element, t: error.t(), number: None };
    }
    let blamed = match error {
        StepError::StepTooSmall { h_min, .. } => controller(mechanism, s, h_min.min(h)),
        StepError::NotFinite { .. }
        | StepError::StepTooLarge { .. }
        | StepError::NoStep { .. }
        | StepError::Solve { source: SolveError::NotFinite { .. }, .. } => controller(mechanism, s, h),
        _ => None,
    };
    match blamed {
        Some((element, message)) => {
            FailureReport { message, element: Some(element), t: error.t(), number: None }
        }
        None => {
            let contradiction = match error {
                StepError::Solve { source: SolveError::Inconsistent { .. }, .. }
                | StepError::Project { .. }
                | StepError::Newton { .. }
                | StepError::NoStep { .. }
                | StepError::StepTooSmall { .. } => drivers::find_in_rates(mechanism, s),
                _ => None,
            };
            let is_open = contradiction.is_none();
            let mut report = contradiction
                .map_or_else(|| describe_failure(error, mechanism), |found| contradicting(&found));
            if let StepError::Solve { source: SolveError::Inconsistent { .. }, .. } = error
                && is_open
            {
                report.message += &drivers::suspects(mechanism.system());
            }
            if let StepError::Newton { h, .. } | StepError::NoStep { h, .. } = error {
                report.message += &shorter_step(mechanism, s, *h);
            }
            report
        }
    }
}

/// The step in which no body rotates by more than [`REVOLUTION`], where one of `h` turns some body farther.
fn shorter_step(mechanism: &Mechanism, s: &State, h: f64) -> String {
    let groups = mechanism.structure().groups.iter().filter(|g| g.kind == GroupKind::AngularVelocity);
    let speed = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let fastest = groups.map(|g| speed(&s.v[g.start..][..g.len])).fold(0.0, f64::max);
    if !(fastest * h > REVOLUTION) {
        return String::new();
    }
    format!(
        "; bodies turn by {:.1} rad in it, which is too far to be linearized: take steps of {:.1e} s or less ({REVOLUTION:.0} rad)",
        fastest * h,
        REVOLUTION / fastest
    )
}

/// Drivers that contradict each other.
pub(crate) fn contradicting(found: &Contradiction) -> FailureReport {
    let element = found.elements.last().map(|(family, name)| format!("{} `{name}`", family.name()));
    FailureReport { message: found.message(), element, t: found.t, number: Some(found.by) }
}

/// Runs what may call functions given by a program; where it cannot begin because one gave no number, the error names it.
pub(crate) fn with_functions<T>(work: impl FnOnce() -> Result<T, SetupError>) -> Result<T, SetupError> {
    forget_fault();
    work().map_err(|error| match (fault(), &error) {
        (Some(fault), SetupError::Start { .. } | SetupError::Assembly(_) | SetupError::Rank(_)) => {
            SetupError::Function { fault: Box::<Fault>::new(fault) }
        }
        _ => error,
    })
}

/// The controller with an output, a state or a rate that is not a number in the step from `s`, and what of it.
fn controller(mechanism: &mut Mechanism, s: &State, h: f64) -> Option<(String, String)> {
    if s.q.iter().chain(&s.v).any(|x| !(x.abs() < UNBOUNDED)) {
        return None;
    }
    let system = mechanism.system().clone();
    let (mut eq, accel) = (Equations::new(mechanism), Accel::zeros(&system.structure));
    let (mut trial, mut xdot) = (s.clone(), vec![0.0; s.x.len()]);
    let named = |name: &str, what: String, t: f64| {
        let message = format!("{what} of controller `{name}` is not a finite number at t = {}", short(t));
        Some((format!("controller `{name}`"), message))
    };
    for t in [s.t, s.t + 0.5 * h, s.t + h] {
        trial.t = t;
        let bad = mechanism.observe(&trial, |at| {
            let mut outputs =
                system.controllers.iter().flat_map(|c| c.outputs.iter().map(move |out| (c, out)));
            outputs.find(|(_, (_, index))| !at.outs[*index].is_finite())
        });
        if let Some((element, (out, _))) = bad {
            return named(&element.name, format!("`{out}`"), t);
        }
        mechanism.update(&trial, Stage::FORCE, &mut eq);
        mechanism.xdot(&trial, &eq, &accel, &mut xdot);
        for element in &system.controllers {
            let rates = &xdot[element.x..][..element.controller.states()];
            if let Some(i) = rates.iter().position(|rate| !rate.is_finite()) {
                let state = element.named_states().get(i).map_or("a state", |(state, _)| state);
                return named(&element.name, format!("the rate of `{state}`"), t);
            }
        }
    }
    None
}

/// Returns what `error` says of rows and velocities.
fn describe_failure(error: &StepError, mechanism: &Mechanism) -> FailureReport {
    let element = match error {
        StepError::Solve { source, .. } | StepError::Project { source, .. } => element(source, mechanism),
        StepError::Newton { worst, .. } => body_of(*worst, mechanism),
        StepError::Jump { row, .. } => Some(mechanism.name_of_row(*row)),
        _ => None,
    };
    let name = element.as_deref().unwrap_or("one of them");
    let (message, number) = match error {
        StepError::Solve { t, source } => {
            let (why, number) = solve(source, name);
            (format!("no accelerations at t = {}: {why}", short(*t)), number)
        }
        StepError::Project { t, source } => {
            let (why, number) = solve(source, name);
            // what comes back from nowhere within a step, as of a linearized method, would from a shorter one
            let far = matches!(source, SolveError::Projection { iterations: 1.., .. });
            let help = if far { "; a shorter step may help" } else { "" };
            (format!("no way back onto the constraints at t = {}: {why}{help}", short(*t)), number)
        }
        StepError::StepTooSmall { t, h_min } => (
            format!(
                "the step size fell below {h_min:.1e} s, the least allowed, at t = {}: the motion changes faster than that \
                 (a singularity, a force without bound, or a `min_step` that is too long for the tolerance)",
                short(*t)
            ),
            Some(*h_min),
        ),
        StepError::StepTooLarge { t, h, omega } => (
            format!(
                "the step of {} s is too large at t = {}: the fastest motion has about {omega:.3e} rad/s, and steps \
                 must stay below 2/ω = {:.3e} s",
                short(*h),
                short(*t),
                2.0 / omega
            ),
            Some(*omega),
        ),
        StepError::NoStep { t, h } => (
            format!(
                "the equations of a step of {} s cannot be solved at t = {}: bodies turn too far in it, or there is no way \
                 onto the constraints; a shorter step may help",
                short(*h),
                short(*t)
            ),
            None,
        ),
        StepError::Newton { t, h, iterations, rate, .. } => (
            format!(
                "Newton's iteration for a step of {} s did not converge at t = {} ({iterations} iterations, the last changes \
                 {rate:.1e} times those before, most at {name}): a shorter step may help",
                short(*h),
                short(*t)
            ),
            Some(*rate),
        ),
        StepError::Jump { t, by, .. } => (
            format!(
                "{name} asks for a position that jumps by {:.3e} at t = {}, and no motion follows that: lead it there in a finite time, as by \
                 `smoothstep`, or drive its speed",
                by.abs(),
                short(*t)
            ),
            Some(*by),
        ),
        StepError::View { .. } => (error.to_string(), None),
        StepError::NotFinite { t } => (
            format!(
                "the motion grew beyond all numbers after t = {}: a smaller step or tolerance may help",
                short(*t)
            ),
            None,
        ),
    };
    FailureReport { message, element, t: error.t(), number }
}

/// A time in the digits that matter: seven, and of tiny ones three with an exponent.
fn short(t: f64) -> String {
    if t != 0.0 && t.abs() < 1e-4 { format!("{t:.2e}") } else { digits(&t).to_string() }
}

/// The element or body that an error is about.
pub(crate) fn element(error: &SolveError, mechanism: &Mechanism) -> Option<String> {
    if let Some(row) = error.row() {
        return Some(mechanism.name_of_row(row));
    }
    let velocity = match *error {
        SolveError::Mass { velocity } | SolveError::Overbent { velocity } => velocity,
        SolveError::NotFinite { quantity: "f" | "vdot", index } => index,
        _ => return None,
    };
    body_of(velocity, mechanism)
}

/// The body that a velocity is of.
fn body_of(velocity: usize, mechanism: &Mechanism) -> Option<String> {
    let bodies = &mechanism.system().directory.bodies;
    let body = bodies.iter().find(|b| (b.v..b.v + b.kind.nv()).contains(&velocity))?;
    let what = if body.is_internal() { "element" } else { "body" };
    Some(format!("{what} `{}`", body.name))
}

/// Returns why equations could not be solved, and the number that told.
pub(crate) fn solve(error: &SolveError, name: &str) -> (String, Option<f64>) {
    match error {
        SolveError::RankDeficient { pivot, scale, .. } => (
            format!("{name} repeats what other constraints say (pivot {pivot:.1e} of {scale:.1e})"),
            Some(*pivot),
        ),
        SolveError::Inconsistent { residual, .. } => (
            format!("constraints contradict each other, most at {name} (relative residual {residual:.1e})"),
            Some(*residual),
        ),
        SolveError::Projection { violation, iterations: 0, .. } => (
            format!("{name} is {violation:.1e} apart: what is enabled must fit where it is"),
            Some(*violation),
        ),
        SolveError::Projection { violation, iterations, .. } => {
            (format!("{name} is still {violation:.1e} apart after {iterations} iterations"), Some(*violation))
        }
        SolveError::Unsolved { residual, .. } => (
            format!("the equations cannot be solved, least at {name} (relative residual {residual:.1e})"),
            Some(*residual),
        ),
        SolveError::NoConvergence { residual, .. } | SolveError::SelfLocking { residual, .. } => {
            (error.to_string(), Some(*residual))
        }
        SolveError::Jammed { left, .. } => (
            format!(
                "no contact force of {name} satisfies Coulomb's law here, or more than one does: friction drives it together as fast \
                 as any normal force drives it apart (Painlevé's paradox); what follows is an impact without collision, or a jam; a smaller `mu`, or surfaces that give way (`law` in \
                 place of `method = \"impulsive\"`), have a solution"
            ),
            Some(*left),
        ),
        SolveError::NotFinite { quantity: "f", .. } => {
            (format!("the force on {name} is not a finite number"), None)
        }
        SolveError::NotFinite { quantity: "vdot", .. } => {
            (format!("the acceleration of {name} is not a finite number"), None)
        }
        SolveError::NotFinite { .. } => (format!("a term of {name} is not a finite number"), None),
        other => (other.to_string(), None),
    }
}
