//! A simulation from the file's start to its end, and who may watch it.

use crate::assemble::AssemblyReport;
use crate::clock::Clock;
use crate::error::SetupError;
use crate::failure::with_functions;
use crate::instants::Instants;
use crate::method::Method;
use crate::report::Report;
use crate::run::Run;
use crate::settings::{RunOverrides, Settings};
use crate::trajectory::Trajectory;
use sarrus_model::Model;
use sarrus_solve::integrators::Proceed;
use sarrus_solve::{Accel, Equations, State};
use sarrus_system::{Mechanism, System};
use std::sync::Arc;

/// Holds what is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulate {
    /// Holds what is said over the file.
    pub overrides: RunOverrides,
    /// True if the trajectory is kept; without it a run is as fast and as small as it can be.
    pub record: bool,
}

impl Default for Simulate {
    /// As the file says, with the trajectory.
    fn default() -> Self {
        Simulate { overrides: RunOverrides::default(), record: true }
    }
}

/// Holds what a run leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The samples; none where they were not asked for.
    pub trajectory: Trajectory,
    /// Rows at events, impacts and switches, and of the largest contact forces.
    pub instants: Instants,
    /// Describes how it went.
    pub report: Report,
}

/// Holds what a run is about to do.
#[derive(Debug, Clone, Copy)]
pub struct RunPlan<'a> {
    /// Holds what is asked for.
    pub settings: &'a Settings,
    /// The method taken.
    pub method: &'a Method,
    /// Holds what assembly did.
    pub assembly: &'a AssemblyReport,
}

/// Marks where a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Time \[s\].
    pub t: f64,
    /// Accepted steps.
    pub steps: u64,
}

/// Holds what is known of a sample beside its state.
#[derive(Clone, Copy)]
pub struct SampleDiagnostics<'a> {
    /// Size of the step that it lies in or ends \[s\]; none at the start.
    pub step: Option<f64>,
    /// Equations, accelerations and multipliers there, where a column needs them.
    pub solved: Option<(&'a Equations, &'a Accel)>,
    /// Holds what reactions are judged with, where closed contacts or limits may bear beside rows that hold all the same.
    pub judged: Option<&'a Arc<System>>,
}

/// Object that watches a run, and may stop it.
pub trait Watch: Send {
    /// The run is about to begin.
    fn begin(&mut self, _plan: &RunPlan) {}

    /// A step was accepted.
    fn step(&mut self, _progress: &Progress) -> Proceed {
        Proceed::Continue
    }

    /// A sample of the trajectory is taken at `s`.
    fn sample(&mut self, _mechanism: &mut Mechanism, _s: &State, _seen: &SampleDiagnostics) {}

    /// The same sample as the trajectory has it, a number per column, `t` first; comes right after [`sample`](Watch::sample).
    fn row(&mut self, _row: &[f64]) {}
}

/// No one watches.
impl Watch for () {}

impl<W: Watch + ?Sized> Watch for &mut W {
    fn begin(&mut self, plan: &RunPlan) {
        (**self).begin(plan);
    }

    fn step(&mut self, progress: &Progress) -> Proceed {
        (**self).step(progress)
    }

    fn sample(&mut self, mechanism: &mut Mechanism, s: &State, seen: &SampleDiagnostics) {
        (**self).sample(mechanism, s, seen);
    }

    fn row(&mut self, row: &[f64]) {
        (**self).row(row);
    }
}

/// Runs a compiled model.
pub fn simulate(
    model: &Model,
    system: &Arc<System>,
    request: &Simulate,
    watch: &mut dyn Watch,
) -> Result<Outcome, SetupError> {
    with_method(model, system, request, watch).map(|(outcome, _)| outcome)
}

/// The same, with the method that was taken.
pub(crate) fn with_method(
    model: &Model,
    system: &Arc<System>,
    request: &Simulate,
    watch: &mut dyn Watch,
) -> Result<(Outcome, Arc<Method>), SetupError> {
    with_functions(|| {
        let mut run = Run::new(model, system, request, Box::new(watch))?;
        let clock = Clock::start();
        run.run_to(run.settings.t_end)?;
        run.spent = (clock.wall(), clock.cpu());
        let (report, method) = (run.report(), run.method.clone());
        let (trajectory, instants) = run.into_rows();
        Ok((Outcome { trajectory, instants, report }, method))
    })
}
