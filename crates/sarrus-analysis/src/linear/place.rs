//! About which state a linear analysis is.

use super::equilibrium::{EquilibriumOptions, Search, equilibrium_with};
use crate::assemble::assemble;
use crate::error::SetupError;
use crate::settings::{Overrides, Settings};
use crate::simulate::{Seen, Simulate, Watch, simulate};
use sarrus_model::Model;
use sarrus_solve::State;
use sarrus_system::{Mechanism, System};
use std::str::FromStr;
use std::sync::{Arc, Mutex};

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

/// The last state that a run shows.
struct Last(Mutex<Option<(State, Vec<f64>)>>);

impl Watch for &Last {
    fn sample(&mut self, mechanism: &mut Mechanism, s: &State, _: &Seen) {
        if let Ok(mut last) = self.0.lock() {
            *last = Some((s.clone(), mechanism.hints().to_vec()));
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
        let settings = Settings::read(model, &Overrides::default())?;
        let mut mechanism = system.mechanism();
        let state = match self {
            About::Equilibrium => {
                let found = equilibrium_with(model, system, &EquilibriumOptions::default(), watch)?;
                mechanism = found.system.mechanism();
                mechanism.set_hints(&found.hints);
                found.state
            }
            About::Start => {
                let assembled = assemble(model, system, settings.assembly)?;
                mechanism.set_hints(&assembled.hints);
                assembled.state
            }
            About::Time(t) if t < settings.t_start => {
                return Err(SetupError::BeforeStart { t, t_start: settings.t_start });
            }
            About::Time(t) if t == settings.t_start => return About::Start.find(model, system, watch),
            About::Time(t) => {
                let last = Last(Mutex::new(None));
                let overrides =
                    Overrides { t_end: Some(t), every: Some(t - settings.t_start), ..Overrides::default() };
                let run = simulate(model, system, &Simulate { overrides, record: true }, &mut &last)?;
                let reached = last.0.into_inner().ok().flatten().filter(|(s, _)| s.t >= t);
                let (state, hints) = reached.ok_or(SetupError::NotReached {
                    t,
                    at: run.report.t_end,
                    why: run.report.reason,
                })?;
                mechanism.set_hints(&hints);
                state
            }
        };
        Ok((mechanism, state))
    }
}
