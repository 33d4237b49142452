//! About which state a linear analysis is.

use super::equilibrium::{EquilibriumOptions, EquilibriumSearch, equilibrium_with};
use crate::error::SetupError;
use crate::failure::with_functions;
use crate::run::Run;
use crate::settings::{RunOverrides, Settings};
use sarrus_model::Model;
use sarrus_solve::integrators::Because;
use sarrus_solve::{Problem, State};
use sarrus_system::{Mechanism, System};
use std::str::FromStr;
use std::sync::Arc;

/// About which state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OperatingPoint {
    /// The equilibrium that is found from the start.
    Equilibrium,
    /// The start of a run.
    Start,
    /// The state of a run at this time \[s\].
    Time(f64),
}

/// A word that is no state to linearize about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither `equilibrium`, `start` nor a time in seconds")]
pub struct AboutError(String);

impl FromStr for OperatingPoint {
    type Err = AboutError;

    fn from_str(text: &str) -> Result<OperatingPoint, AboutError> {
        match text {
            "equilibrium" => Ok(OperatingPoint::Equilibrium),
            "start" => Ok(OperatingPoint::Start),
            _ => text
                .parse()
                .ok()
                .filter(|t: &f64| t.is_finite())
                .map(OperatingPoint::Time)
                .ok_or_else(|| AboutError(text.into())),
        }
    }
}

impl OperatingPoint {
    /// The mechanism, and the state in it; `watch` sees how an equilibrium is searched for.
    pub(super) fn find(
        self,
        model: &Model,
        system: &Arc<System>,
        watch: &mut dyn FnMut(&EquilibriumSearch),
    ) -> Result<(Mechanism, State), SetupError> {
        let t_start = Settings::read(model, &RunOverrides::default())?.t_start;
        let t = match self {
            OperatingPoint::Equilibrium => {
                let found = equilibrium_with(model, system, &EquilibriumOptions::default(), watch)?;
                let mut mechanism = found.system.mechanism();
                mechanism.set_discrete(&found.discrete);
                // bristles of contacts that touch hold from here on
                mechanism.accept(&found.state);
                return Ok((mechanism, found.state));
            }
            OperatingPoint::Time(t) if t < t_start => return Err(SetupError::BeforeStart { t, t_start }),
            OperatingPoint::Time(t) => t,
            OperatingPoint::Start => t_start,
        };
        // with all that acts there: locks, limits and rigid contacts that are closed, what events have switched
        let mut run = with_functions(|| Run::up_to(model, system, t))?;
        if run.ended.because != Because::End {
            let report = run.report();
            return Err(SetupError::NotReached { t, at: report.t_end, why: report.reason });
        }
        Ok((run.mechanism, run.state))
    }
}
