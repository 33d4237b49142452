//! About which state a linear analysis is.

use super::equilibrium::{EquilibriumOptions, Search, equilibrium_with};
use crate::error::SetupError;
use crate::failure::with_functions;
use crate::run::Run;
use crate::settings::{Overrides, Settings};
use sarrus_model::Model;
use sarrus_solve::integrators::Because;
use sarrus_solve::{Problem, State};
use sarrus_system::{Mechanism, System};
use std::str::FromStr;
use std::sync::Arc;

/// About which state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum About {
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

impl FromStr for About {
    type Err = AboutError;

    fn from_str(text: &str) -> Result<About, AboutError> {
        match text {
            "equilibrium" => Ok(About::Equilibrium),
            "start" => Ok(About::Start),
            _ => text
                .parse()
                .ok()
                .filter(|t: &f64| t.is_finite())
                .map(About::Time)
                .ok_or_else(|| AboutError(text.into())),
        }
    }
}

impl About {
    /// The mechanism, and the state in it; `watch` sees how an equilibrium is looked for.
    pub(super) fn find(
        self,
        model: &Model,
        system: &Arc<System>,
        watch: &mut dyn FnMut(&Search),
    ) -> Result<(Mechanism, State), SetupError> {
        let t_start = Settings::read(model, &Overrides::default())?.t_start;
        let t = match self {
            About::Equilibrium => {
                let found = equilibrium_with(model, system, &EquilibriumOptions::default(), watch)?;
                let mut mechanism = found.system.mechanism();
                mechanism.set_hints(&found.hints);
                // bristles of contacts that touch hold from here on
                mechanism.accept(&found.state);
                return Ok((mechanism, found.state));
            }
            About::Time(t) if t < t_start => return Err(SetupError::BeforeStart { t, t_start }),
            About::Time(t) => t,
            About::Start => t_start,
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
