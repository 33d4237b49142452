//! A variant that goes alone, by the general path.

use super::{FixedStep, Stopped, Variant, VariantOutcome, VariantWatch};
use crate::control::{StepControl, StepLimits};
use crate::dynamics::{Dynamics, StepMode};
use crate::formulations;
use crate::integrators::ExplicitRk;
use crate::options::Options;
use crate::problem::State;
use crate::stabilizations;
use crate::views::{Ode, Step};

/// From its start to the end.
pub(super) fn run_scalar(
    member: &mut Variant,
    i: usize,
    method: &FixedStep,
    watch: VariantWatch<'_>,
) -> VariantOutcome {
    continue_scalar(member, i, 0, method, watch)
}

/// From its start, `n` steps after that of the others, to the end.
pub(super) fn continue_scalar(
    member: &mut Variant,
    i: usize,
    n: u64,
    method: &FixedStep,
    watch: VariantWatch<'_>,
) -> VariantOutcome {
    let mut state = member.start.clone();
    let error = step(member, &mut state, i, n, method, watch).err();
    if error.is_none() {
        watch(i, &state);
    }
    VariantOutcome { state, left: None, error }
}

fn step(
    member: &mut Variant,
    s: &mut State,
    i: usize,
    n: u64,
    method: &FixedStep,
    watch: VariantWatch<'_>,
) -> Result<(), Stopped> {
    let formulation = formulations::make("proximal", &Options::default())?;
    let drift = if method.projects { "projection" } else { "none" };
    let stabilization = stabilizations::make(drift, &Options::default())?;
    let mut dynamics = Dynamics::new(&mut *member.problem, formulation, stabilization)?;
    dynamics.regularize(method.regularize, StepMode::Fixed)?;
    let mut rk = ExplicitRk::new(method.tableau, StepLimits::default());
    rk.prepare(Ode::structure(&dynamics));
    // tolerances play no part in steps of one size
    let mut control = StepControl::new(1e-6, 1e-8, Some(method.step))?;
    control.t_end = method.t_end;
    let mut n = n;
    while s.t < method.t_end {
        rk.step(&mut dynamics, s, &mut control)?;
        n += 1;
        if method.every > 0 && n.is_multiple_of(method.every) && s.t < method.t_end {
            watch(i, s);
        }
    }
    Ok(())
}
