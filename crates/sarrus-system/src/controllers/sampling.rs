//! Describes what sampled controllers have in common: they check the mechanism every `period` and hold their outputs in between.
//!
//! With the instants t_k = t_0 + k·period, k = 0, 1, …, t_0 the start of the run, and y all that can be read,
//!
//! ```text
//! u_k = g(x_k, y(t_k)),    x_{k+1} = f(x_k, u_k, y(t_k)),    u(t) = u_k for t_k + delay ≤ t < t_{k+1} + delay.
//! ```
//!
//! y is what holds at t_k under the outputs that act until then, reactions and accelerations included: there is no loop to
//! solve. Where a force switches or an event happens at t_k itself, it is what holds behind that. Before the first outputs act
//! they are 0, or what `[initial]` says. Outputs, states, and outputs that wait for their time lie in x with the rate 0, in
//! this order, so that the caller that carries x carries all of a controller but its clock; the last ones have no names. Who keeps the
//! clock is [`Sampler`](crate::Sampler).
//!
//! A controller of another kind needs a [`SampledLaw`]. Costs a new first evaluation of the forces at every instant, and with
//! integrators of many steps a new start: not for what is meant to be continuous.

use super::Controller;
use crate::at::At;
use sarrus_model::{Key, KeyType, Reader, Result, RuntimeExpr};

/// Most outputs that may wait for their time.
const MOST_WAITING: f64 = 1000.0;

/// The key of the period.
pub(super) const PERIOD: Key =
    Key::new("period", KeyType::Number, "", "time between samples [s]; outputs are held in between");
/// The key of the delay.
pub(super) const DELAY: Key =
    Key::new("delay", KeyType::Number, "0", "with `period`: from a sample until its outputs act [s]");

/// Describes when a controller looks and acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// Time between samples \[s\].
    pub period: f64,
    /// From a sample until its outputs act \[s\].
    pub delay: f64,
}

impl Times {
    /// Reads `period` and `delay`; none where the controller is continuous.
    pub(super) fn read(reader: &Reader) -> Result<Option<Times>> {
        let Some(period) = reader.positive_opt("period")? else {
            if reader.has("delay") {
                let message = format!("`delay` of {} needs `period`", reader.title());
                return Err(reader.error("delay", message).hint("only a sampled controller has a delay"));
            }
            return Ok(None);
        };
        let delay = reader.not_negative_opt("delay")?.unwrap_or(0.0);
        if delay > MOST_WAITING * period {
            let message = format!("`delay` of {} is more than {MOST_WAITING} periods", reader.title());
            return Err(reader.error("delay", message).hint("a longer `period` or a shorter `delay`"));
        }
        Ok(Some(Times { period, delay }))
    }

    /// Number of samples that may wait for their time at once.
    pub fn waiting(&self) -> usize {
        // a delay of whole periods but for rounding is one of whole periods
        if self.delay == 0.0 { 0 } else { (self.delay / self.period + 1e-6) as usize + 1 }
    }
}

/// Identifies which of its own names a controller reads without its name before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnNames {
    /// None.
    None,
    /// Its states, as they are before the sample.
    States,
    /// Those, and the outputs of this sample.
    All,
}

/// An expression that is read at a sample; it may read all that measures read.
#[derive(Clone, Debug)]
pub struct SampledRead {
    /// The expression.
    pub expr: RuntimeExpr,
    /// Its own names.
    pub own: OwnNames,
}

/// Holds what a sampled controller makes of what it reads.
pub trait SampledLaw: Send + Sync {
    /// New states and outputs from the values of [`Sampling::reads`]; `first` at the first sample of a run.
    fn sample(&self, read: &[f64], first: bool, states: &mut [f64], outputs: &mut [f64]);
}

/// Describes how a controller is sampled.
pub struct Sampling {
    /// The time.
    pub times: Times,
    /// Holds what it reads; where one reads outputs ([`OwnNames::All`]), the outputs are the first of these.
    pub reads: Vec<SampledRead>,
    /// Number of its outputs, the first of its states in x.
    pub outputs: usize,
    /// Number of its own states, which follow.
    pub states: usize,
    /// Holds what it does.
    pub law: Box<dyn SampledLaw>,
}

/// A controller that is sampled.
pub(super) struct Sampled {
    sampling: Sampling,
    start: Vec<f64>,
}

impl Sampled {
    /// One whose own states start at `states`.
    pub fn new(
        times: Times,
        reads: Vec<SampledRead>,
        outputs: usize,
        states: &[f64],
        law: impl SampledLaw + 'static,
    ) -> Sampled {
        let mut start = vec![0.0; outputs];
        start.extend_from_slice(states);
        start.resize(start.len() + outputs * times.waiting(), 0.0);
        let sampling = Sampling { times, reads, outputs, states: states.len(), law: Box::new(law) };
        Sampled { sampling, start }
    }
}

impl Controller for Sampled {
    fn states(&self) -> usize {
        self.start.len()
    }

    fn start(&self) -> Vec<f64> {
        self.start.clone()
    }

    /// None: what it gives out is held among its states.
    fn outputs(&self) -> &[String] {
        &[]
    }

    fn output(&self, _at: &At<f64>, _x: &[f64], _out: &mut [f64]) {}

    fn rates(&self, _at: &At<f64>, _x: &[f64], _out: &[f64], xdot: &mut [f64]) {
        xdot.fill(0.0);
    }

    fn sampling(&self) -> Option<&Sampling> {
        Some(&self.sampling)
    }
}
