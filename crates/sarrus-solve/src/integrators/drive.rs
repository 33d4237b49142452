//! The loop that every run goes through: steps, samples between them, and how it ended.

use crate::control::{StepControl, StepCounts};
use crate::error::StepError;
use crate::problem::State;
use crate::views::{Integrator, Ode, StepInfo};

/// Times within this many units in the last place are one.
const NEAR: f64 = 16.0;
/// A fixed step shorter than this part of the size asked for is a sliver.
const SLIVER: f64 = 1e-6;

/// States whether to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proceed {
    /// Take the next step.
    Continue,
    /// End here; what has been computed stays.
    Stop,
}

/// Object that is notified of a run while it continues.
///
/// `ode` is handed out as the type that [`integrate`] was called with, so that an observer can ask it for more
/// than rates (multipliers, energies).
pub trait Observer<O: ?Sized> {
    /// The state at a time asked for by the samples.
    fn sample(&mut self, _ode: &mut O, _s: &State) {}

    /// Returns whether a step may be [cut](Observer::cut) at its start.
    fn can_retake(&self) -> bool {
        false
    }

    /// A step was taken. If something happens inside it that ends the run there, the time \[s\] of it, not after its end: the rest of the
    /// step is given up. At its start, where [`can_retake`](Observer::can_retake) says so, all of it is, and the run ends where it was.
    ///
    /// `ode` has taken note of the end of the step ([`Ode::finish_step`]); the caller that cuts it must take that back.
    fn cut(&mut self, _step: &mut TakenStep<'_, O>) -> Result<Option<f64>, StepError> {
        Ok(None)
    }

    /// The samples of a step, which may have been cut, have been given.
    fn inside(&mut self, _step: &mut TakenStep<'_, O>) {}

    /// A step was accepted and ended at `s`, or was cut there; its samples have been given before.
    fn step(&mut self, _ode: &mut O, _s: &State, _info: &StepInfo) -> Proceed {
        Proceed::Continue
    }

    /// The next time \[s\] at which the observer changes the state: a step ends there. Samples at that time see the change.
    fn instant(&self) -> Option<f64> {
        None
    }

    /// That time has come: changes first-order states of `s`, and nothing else. The next one must be later.
    fn change(&mut self, _ode: &mut O, _s: &mut State) -> Result<Change, StepError> {
        Ok(Change::Made)
    }
}

/// Holds what an observer has done to the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It may have changed it; the run continues from there.
    Made,
    /// The same, and something else happens there: the run ends as if the step had been cut at its end.
    Cut,
}

/// A step that was taken, open for questions about the states inside it.
pub struct TakenStep<'a, O: ?Sized> {
    /// Whose step it is.
    pub ode: &'a mut O,
    /// Holds what it was.
    pub info: StepInfo,
    /// The state at its end.
    pub end: &'a State,
    method: &'a mut Integrator,
    control: &'a mut StepControl,
    between: &'a mut State,
}

impl<O: Ode> TakenStep<'_, O> {
    /// Order of the dense output.
    pub fn order(&self) -> u32 {
        self.method.dense_order()
    }

    /// Informs the step control the energy exchanged so far \[J\].
    pub fn set_energy_scale(&mut self, scale: f64) {
        self.control.energy_scale = scale;
    }

    /// The state at time `t` \[s\] inside the step, by dense output; it is off the constraints by the accuracy of that.
    pub fn at(&mut self, t: f64) -> Result<(&mut O, &State), StepError> {
        if t < self.end.t {
            self.method.dense(self.ode, self.control, t, self.between)?;
            return Ok((self.ode, self.between));
        }
        Ok((self.ode, self.end))
    }
}

/// Watches nothing.
impl<O: ?Sized> Observer<O> for () {}

/// Times at which samples are wanted, in increasing order.
pub struct Samples<'a> {
    next: Option<f64>,
    rest: Box<dyn Iterator<Item = f64> + Send + 'a>,
}

impl<'a> Samples<'a> {
    /// The times of `times`, which must increase.
    pub fn new(times: impl Iterator<Item = f64> + Send + 'a) -> Samples<'a> {
        let mut rest = Box::new(times);
        Samples { next: rest.next(), rest }
    }

    /// None at all.
    pub fn none() -> Samples<'a> {
        Samples::new(std::iter::empty())
    }

    /// `start`, `start + every`, ... and `end` itself, each computed from `start` so that rounding does not
    /// accumulate. An `every` that is not positive gives both ends only.
    pub fn every(start: f64, every: f64, end: f64) -> Samples<'a> {
        let inner = move |k: u64| start + k as f64 * every;
        let last = end - 1e-9 * every;
        let grid = (1_u64..).map(inner).take_while(move |t| every > 0.0 && *t < last);
        Samples::new(std::iter::once(start).chain(grid).chain((end > start).then_some(end)))
    }

    /// The next time, which stays.
    pub fn peek(&self) -> Option<f64> {
        self.next
    }

    /// Takes the next time.
    pub fn next_time(&mut self) -> Option<f64> {
        self.next_break(f64::INFINITY)
    }

    /// Takes the next time if it is not after `t`.
    pub fn next_break(&mut self, t: f64) -> Option<f64> {
        let next = self.next.filter(|next| *next <= t)?;
        self.next = self.rest.next();
        Some(next)
    }
}

/// Describes how a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// Time reached \[s\].
    pub at: f64,
    /// Reason why there.
    pub because: Because,
    /// Work done under this [`StepControl`].
    pub counts: StepCounts,
}

/// Reason why a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Because {
    /// The end was reached.
    End,
    /// The observer stopped it.
    Stopped,
    /// The observer has cut a step: something happens there.
    Cut,
    /// A step was not taken.
    Failed(StepError),
}

/// Advances `s` to `t_end` (exactly), telling `observer` about the samples and steps on the way.
///
/// Time runs forward: where `t_end` is not after `s.t` there is nothing to do. Samples before `s.t` are passed
/// over, those after `t_end` stay in `samples` for the next call. However the run ends, `s` is the last accepted
/// state and the observer has everything up to it.
///
/// ```
/// use sarrus_solve::{GroupKind, Ode, Options, SolveError, State, StepControl, StepError, Structure};
/// use sarrus_solve::integrators::{self, Because, Samples, integrate};
///
/// /// ẋ = -x.
/// struct Decay(Structure);
///
/// impl Ode for Decay {
///     fn structure(&self) -> &Structure {
///         &self.0
///     }
///     fn rhs(&mut self, s: &State, _: &mut [f64], _: &mut [f64], dx: &mut [f64]) -> Result<(), SolveError> {
///         dx[0] = -s.x[0];
///         Ok(())
///     }
///     fn normalize(&self, _: &mut [f64]) {}
///     fn finish_step(&mut self, _: &mut State, _: f64) -> Result<bool, StepError> {
///         Ok(false)
///     }
/// }
///
/// let mut structure = Structure::builder();
/// structure.group(GroupKind::Auxiliary, 0, 1);
/// let mut ode = Decay(structure.build(0, 1)?);
///
/// let mut method = (integrators::find("dop853")?.new)(&Options::new())?;
/// let mut control = StepControl::new(1e-10, 1e-12, None)?;
/// let mut s = State { x: vec![1.0], ..State::default() };
/// let ended = integrate(&mut ode, &mut method, &mut control, &mut s, 1.0, &mut Samples::none(), &mut ());
/// assert_eq!(ended.because, Because::End);
/// assert!((s.x[0] - (-1.0_f64).exp()).abs() < 1e-10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn integrate<O: Ode>(
    ode: &mut O,
    method: &mut Integrator,
    control: &mut StepControl,
    s: &mut State,
    t_end: f64,
    samples: &mut Samples<'_>,
    observer: &mut dyn Observer<O>,
) -> Ended {
    method.prepare(ode.structure());
    continue_drive(ode, method, control, s, t_end, samples, observer)
}

/// As [`integrate`], from where the last call with the same `method` ended: what it remembers of the steps before still holds.
pub fn continue_drive<O: Ode>(
    ode: &mut O,
    method: &mut Integrator,
    control: &mut StepControl,
    s: &mut State,
    t_end: f64,
    samples: &mut Samples<'_>,
    observer: &mut dyn Observer<O>,
) -> Ended {
    control.t_end = t_end;
    let (mut between, mut before) = (s.clone(), s.clone());
    let near = |t: f64| NEAR * f64::EPSILON * t.abs();

    // the start
    let early = if s.t < t_end { near(s.t) } else { 0.0 };
    let due = observer.instant().is_some_and(|t| t <= s.t + early);
    let changed = if due { observer.change(ode, s) } else { Ok(Change::Made) };
    sample_here(ode, s, &mut between, samples, observer);
    let mut because = match changed {
        Ok(Change::Made) => Because::End,
        Ok(Change::Cut) => Because::Cut,
        Err(error) => Because::Failed(error),
    };

    while because == Because::End && t_end - s.t > near(t_end) {
        // an instant that differs from the end by rounding is not a step away from it
        let instant = observer.instant().filter(|t| t_end - t > near(t_end));
        control.t_end = instant.map_or(t_end, |t| t.min(t_end));
        let again = observer.can_retake();
        if again {
            before.copy_from(s);
        }
        let mut info = match method.step(ode, s, control) {
            Ok(info) => info,
            Err(error) => {
                because = Because::Failed(error);
                break;
            }
        };

        let is_sliver = !method.is_adaptive() && control.step.is_some_and(|step| info.h < SLIVER * step);

        // what happens inside the step ends it
        let mut step = TakenStep { ode, info, end: s, method, control, between: &mut between };
        let cut = match observer.cut(&mut step) {
            Ok(cut) => cut,
            Err(error) => {
                because = Because::Failed(error);
                break;
            }
        };
        if let Some(t) = cut {
            let start = (again && t <= info.t).then_some(&before);
            if let Err(error) = shorten(ode, method, control, t, start, s) {
                because = Because::Failed(error);
                break;
            }
            info.h = s.t - info.t;
        }

        // samples inside the step, and at its end if nothing changes there
        let due = observer.instant().is_some_and(|t| t <= s.t);
        let last = if due { s.t - near(s.t) } else { s.t };
        let mut step = TakenStep { ode, info, end: s, method, control, between: &mut between };
        let sampled = sample(&mut step, last, samples, observer);
        observer.inside(&mut step);
        let flow = observer.step(ode, s, &info);
        because = match sampled {
            Err(error) => Because::Failed(error),
            Ok(()) if flow == Proceed::Stop => Because::Stopped,
            // what happens there comes before what is due
            Ok(()) if cut.is_some() => Because::Cut,
            Ok(()) if due => match observer.change(ode, s) {
                Ok(Change::Made) => Because::End,
                Ok(Change::Cut) => Because::Cut,
                Err(error) => Because::Failed(error),
            },
            Ok(()) => Because::End,
        };
        if due && (cut.is_none() || because != Because::Cut) {
            sample_here(ode, s, &mut between, samples, observer);
        }
        // what a multistep method keeps of so short a step is rounding, divided by its length
        if is_sliver {
            method.prepare(ode.structure());
        }
    }
    if because == Because::End && s.t < t_end {
        // closer than time can tell
        s.t = t_end;
        sample_here(ode, s, &mut between, samples, observer);
    }
    Ended { at: s.t, because, counts: control.counts }
}

/// Makes `t` the end of the step that ended at `s`; `start` is the state there, where it is known.
fn shorten<O: Ode>(
    ode: &mut O,
    method: &mut Integrator,
    control: &mut StepControl,
    t: f64,
    start: Option<&State>,
    s: &mut State,
) -> Result<(), StepError> {
    let h = s.t - t;
    if let Some(start) = start {
        s.copy_from(start);
    } else if h > 0.0 {
        method.dense(ode, control, t, s)?;
    }
    // what was taken back is noted again
    ode.finish_step(s, h).map(|_| ())
}

/// Gives the samples up to `last` of the step just taken.
fn sample<O: Ode>(
    step: &mut TakenStep<'_, O>,
    last: f64,
    samples: &mut Samples<'_>,
    observer: &mut dyn Observer<O>,
) -> Result<(), StepError> {
    while let Some(t) = samples.next_break(last) {
        let (ode, s) = step.at(t)?;
        observer.sample(ode, s);
    }
    Ok(())
}

/// Gives the samples at `s`, up to rounding of their times, and passes over those before it.
fn sample_here<O: Ode>(
    ode: &mut O,
    s: &State,
    between: &mut State,
    samples: &mut Samples<'_>,
    observer: &mut dyn Observer<O>,
) {
    while let Some(t) = samples.next_break(s.t) {
        if t == s.t {
            observer.sample(ode, s);
        } else if s.t - t <= NEAR * f64::EPSILON * s.t.abs() {
            between.copy_from(s);
            between.t = t;
            observer.sample(ode, between);
        }
    }
}
