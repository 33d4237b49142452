//! One-sided constraints and latches on the way to rest: `limits` and `lock_at` of joints, rigid contacts, and events.
//!
//! Each is watched as a margin, which is negative while nothing happens: a coordinate beyond its limit, a coordinate beyond the value at which it is
//! locked, the overlap of a rigid contact. A step that makes one positive ends where the first of them is zero, a row g = 0 holds it from there
//! on, and the way to rest continues with that row: an active-set method. At rest limits and rigid contacts are decided by the complementarity
//! problem of a run, 0 ≤ N ⊥ g̈ ≥ 0 with Coulomb's law.
//!
//! Refused, since where they lead depends on more than the position: events of the file whose condition becomes true on the way, and rigid
//! contacts that slide with friction. Cost: a copy of the system's lists for each change, sixty positions for each margin that is met.

use crate::error::SetupError;
use crate::events::{Active, EventChanges, EventLoop, GapHold};
use crate::method::{Method, ModelFacts};
use crate::settings::Settings;
use sarrus_model::Model;
use sarrus_solve::{Accel, Equations, Problem, State};
use sarrus_system::conditions::ConditionValue;
use sarrus_system::contact::rigid::Gap;
use sarrus_system::events::{Lock, When};
use sarrus_system::{Conditions, Mechanism, System};
use std::sync::Arc;

/// A margin that is rounding, relative to the size of the mechanism: a tenth of the gap that a run takes for closed.
const TOUCHES: f64 = 1e-11;
/// Halvings of a step in which a margin is located: to a unit in the last place.
const HALVINGS: u32 = 53;

/// Hint where statics cannot tell.
pub(super) const RUN: &str =
    "`sarrus run` with damping shows where the motion ends; `sarrus modes --about TIME` takes a state of it";

/// Holds what is watched.
enum StopTest {
    /// A coordinate that is locked where it reaches a value; the side on which it started.
    Latch { lock: Lock, value: f64, side: f64, name: String },
    /// A rigid contact, or a limit of a joint.
    Gap(usize),
}

/// Holds what was met, in words, and where the mechanism stands.
pub(super) struct Stops {
    events: EventLoop,
    conditions: Conditions,
    list: Vec<StopTest>,
    gaps: Vec<Gap>,
    /// Events of the file, each with whether its condition held at the last check.
    triggers: Vec<(usize, bool)>,
    /// Holds what happened, in words.
    pub notes: Vec<String>,
    /// True if nothing is met at the moment.
    pub ignored: bool,
    /// Columns of reactions that are not unique with the gaps that were closed where these were decided last.
    pub not_unique: Vec<String>,
}

/// Holds what latches and events have seen.
pub(super) struct WatchedStops {
    sides: Vec<f64>,
    triggers: Vec<(usize, bool)>,
}

impl Stops {
    /// Of a model whose mechanism starts at `state`; none where nothing is to be watched.
    pub fn new(
        model: &Model,
        system: &Arc<System>,
        settings: &Settings,
        mechanism: &mut Mechanism,
        state: &State,
    ) -> Result<Option<Stops>, SetupError> {
        let events = &system.all.events.list;
        let mut gaps = system.gaps();
        gaps.extend(system.stops());
        if events.is_empty() && gaps.is_empty() {
            return Ok(None);
        }
        let method = Method::resolve(settings, &ModelFacts::new(system, None))?;
        let event_loop = EventLoop::paused_dynamics(system, &method, settings);
        let conditions = Conditions::new(model, system).map_err(SetupError::Model)?;
        let (mut list, mut triggers, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for (i, event) in events.iter().enumerate() {
            match &event.when {
                When::Reaches { value, .. } => {
                    let Some(&lock) = event.actions.lock.first() else { continue };
                    list.push(StopTest::Latch { lock, value: *value, side: 0.0, name: event.name.clone() });
                }
                When::Holds(_) => {
                    // one that holds from the start on is refused with the others
                    triggers.push((i, false));
                    if conditions.is_timed(i) {
                        notes.push(format!(
                            "event `{}` waits for a time: times stand still at t = {}, so it takes no part",
                            event.name, state.t
                        ));
                    }
                }
            }
        }
        list.extend((0..gaps.len()).map(StopTest::Gap));
        let not_unique = Vec::new();
        let mut stops =
            Stops { events: event_loop, conditions, list, gaps, triggers, notes, ignored: false, not_unique };
        stops.arm(mechanism, state);
        Ok(Some(stops))
    }

    /// Number of things that are watched.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The system of what acts, under the loads of `loaded`.
    pub fn system(&mut self, loaded: Arc<System>) -> Result<Arc<System>, SetupError> {
        self.events.system = loaded;
        let system = self.events.active.system(&self.events.system);
        system.map(Arc::new).map_err(|error| SetupError::NotStatic { what: error.to_string(), hint: RUN })
    }

    /// Returns whether anything is met at `state`, beyond rounding.
    pub fn is_met(&mut self, mechanism: &mut Mechanism, state: &State) -> bool {
        let near = TOUCHES * size(state);
        !self.ignored && self.margins(mechanism, state).iter().any(|margin| *margin > near)
    }

    /// Returns what latches and events have seen so far.
    pub fn watched(&self) -> WatchedStops {
        let side = |stop: &StopTest| if let StopTest::Latch { side, .. } = stop { *side } else { 0.0 };
        WatchedStops { sides: self.list.iter().map(side).collect(), triggers: self.triggers.clone() }
    }

    /// Continues with what they had seen before.
    pub fn watch_as(&mut self, watched: WatchedStops) {
        for (stop, before) in self.list.iter_mut().zip(watched.sides) {
            if let StopTest::Latch { side, .. } = stop {
                *side = before;
            }
        }
        self.triggers = watched.triggers;
    }

    /// Latches begin to wait on the side where they stand.
    pub fn arm(&mut self, mechanism: &mut Mechanism, state: &State) {
        if self.ignored {
            return;
        }
        let near = TOUCHES * size(state);
        let directory = mechanism.system().directory.clone();
        let values: Vec<Option<f64>> = mechanism.observe(state, |at| {
            let value = |stop: &StopTest| match stop {
                StopTest::Latch { lock, .. } => lock.value(&directory, at),
                _ => None,
            };
            self.list.iter().map(value).collect()
        });
        for (stop, here) in self.list.iter_mut().zip(values) {
            if let (StopTest::Latch { value, side, .. }, Some(here)) = (stop, here)
                && *side == 0.0
                && (here - *value).abs() > near
            {
                *side = (here - *value).signum();
            }
        }
    }

    /// The margins at `state`; those of what is held are none.
    fn margins(&mut self, mechanism: &mut Mechanism, state: &State) -> Vec<f64> {
        let directory = mechanism.system().directory.clone();
        let mut gaps = vec![0.0; self.gaps.len()];
        mechanism.gap_values(state, &self.gaps, &mut gaps);
        let (active, list) = (&self.events.active, &self.list);
        mechanism.observe(state, |at| {
            let coordinate = |lock: &Lock| match lock.value(&directory, at) {
                Some(value) if !active.is_locked(lock) => value,
                _ => f64::NAN,
            };
            let margin = |stop: &StopTest| match stop {
                // at the value from the start on
                StopTest::Latch { lock, side, .. } if *side == 0.0 && !active.is_locked(lock) => {
                    f64::INFINITY
                }
                StopTest::Latch { lock, value, side, .. } => -side * (coordinate(lock) - value),
                StopTest::Gap(i) if active.is_held(*i) || !active.acts(self.gaps[*i].contact) => f64::NAN,
                StopTest::Gap(i) => -gaps[*i],
            };
            list.iter().map(margin).map(|m| if m.is_nan() { f64::NEG_INFINITY } else { m }).collect()
        })
    }

    /// Takes `state` along `way` to where the first margin is zero, and holds it there by rows of what acts. Hints are those at `state`.
    pub fn meet(&mut self, mechanism: &mut Mechanism, state: &mut State, way: &[f64]) {
        let near = TOUCHES * size(state);
        let part = |mechanism: &mut Mechanism, from: &State, share: f64| {
            let mut there = from.clone();
            let step: Vec<f64> = way.iter().map(|x| share * x).collect();
            mechanism.retract(&mut there.q, &step);
            there
        };
        let first = |margins: &[f64]| {
            let most = margins.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            most.filter(|(_, margin)| **margin > near).map(|(i, _)| i)
        };
        let (mut open, mut closed) = (0.0, 1.0);
        let mut met = None;
        for _ in 0..HALVINGS {
            let share = 0.5 * (open + closed);
            let there = part(mechanism, state, share);
            match first(&self.margins(mechanism, &there)) {
                Some(which) => (closed, met) = (share, Some(which)),
                None => open = share,
            }
        }
        let there = part(mechanism, state, closed);
        let met = met.or_else(|| first(&self.margins(mechanism, &there)));
        state.copy_from(&there);
        if let Some(which) = met {
            self.hold(which, mechanism, state);
        }
    }

    /// Holds what `which` watches from now on.
    fn hold(&mut self, which: usize, mechanism: &mut Mechanism, state: &State) {
        let (active, name) = (&mut self.events.active, |lock: &Lock, system: &System| {
            system.directory.joints[lock.joint].name.clone()
        });
        match &self.list[which] {
            StopTest::Latch { lock, value, .. } => {
                let joint = name(lock, mechanism.system());
                self.notes.push(format!("joint `{joint}` locks at {value} (`lock_at`) on the way"));
                active.lock(lock, mechanism, state, &mut EventChanges::default());
            }
            StopTest::Gap(i) => {
                let rows = self.gaps[*i].hold(&self.events.system, None);
                let rows = active.register(GapHold { gap: *i, across: false }, rows);
                active.add_hold(rows);
            }
        }
    }

    /// Decides rigid contacts and limits that are closed at `state`, a position on all rows. Returns whether what acts has changed.
    pub fn decide(&mut self, mechanism: &mut Mechanism, state: &mut State) -> Result<bool, SetupError> {
        if self.gaps.is_empty() {
            return Ok(false);
        }
        let before = self.events.active.hold_ids();
        let mut held = mechanism.system().mechanism();
        held.copy_discrete_state(mechanism);
        let mut there = state.clone();
        match self.events.close_gaps(self.gaps.clone(), &mut held, &mut there) {
            Ok(not_unique) => self.not_unique = not_unique,
            Err(error) => return Err(SetupError::NotStatic { what: error.to_string(), hint: RUN }),
        }
        if let Some(name) = self.events.active.slides() {
            let what = format!("rigid contact `{name}` slides with friction on the way");
            return Err(SetupError::NotStatic { what, hint: RUN });
        }
        Ok(before != self.events.active.hold_ids())
    }

    /// Checks the conditions of the file's events; an error where one holds that did not at the last check, or at the start.
    pub fn watch_events(
        &mut self,
        mechanism: &mut Mechanism,
        state: &State,
        known: (&Equations, &Accel),
    ) -> Result<(), SetupError> {
        let which: Vec<usize> = self.triggers.iter().map(|(i, _)| *i).collect();
        if which.is_empty() || self.ignored {
            return Ok(());
        }
        let verdicts = self.judge(&which, mechanism, state, known);
        for (i, held) in &mut self.triggers {
            if verdicts[*i].holds && !*held {
                let event = &self.events.system.all.events.list[*i].name;
                let what = format!("the condition of event `{event}` holds at the start or on the way");
                return Err(SetupError::NotStatic { what, hint: RUN });
            }
            *held = verdicts[*i].holds;
        }
        Ok(())
    }

    /// Verdicts by event.
    fn judge(
        &self,
        which: &[usize],
        mechanism: &mut Mechanism,
        state: &State,
        (eq, accel): (&Equations, &Accel),
    ) -> Vec<ConditionValue> {
        let none = ConditionValue { holds: false, margin: f64::NEG_INFINITY };
        let mut verdicts = vec![none; self.conditions.len()];
        self.conditions.judge(which, mechanism, state, Some((eq, accel)), &mut verdicts);
        verdicts
    }

    /// Returns what acts is again as it was. Returns whether it was something else meanwhile.
    pub fn restore(&mut self, active: &Active) -> bool {
        let changed = !self.events.active.is_same(active);
        if changed {
            self.events.active = active.clone();
        }
        changed
    }

    /// Returns what acts.
    pub fn active(&self) -> &Active {
        &self.events.active
    }

    /// Returns what holds the mechanism at the end, in words.
    pub fn words(&self, system: &System) -> Vec<String> {
        let mut words = Vec::new();
        for stop in &self.list {
            match stop {
                StopTest::Latch { lock, name, .. } if !self.active().is_locked(lock) => words.push(format!(
                    "`{name}` is not reached on the way: a motion that overshoots may reach it"
                )),
                StopTest::Gap(i) if self.active().is_held(*i) => {
                    let word = match self.gaps[*i].limit.map(|limit| &system.all.events.limits[limit]) {
                        Some(limit) => {
                            let joint = &system.directory.joints[limit.joint].name;
                            format!("joint `{joint}` rests at its limit, {}", limit.value)
                        }
                        None => {
                            format!("rigid contact `{}` is closed", system.gap_name(self.gaps[*i].contact))
                        }
                    };
                    if !words.contains(&word) {
                        words.push(word);
                    }
                }
                _ => {}
            }
        }
        words
    }
}

/// The size of a mechanism, or 1 \[m\].
fn size(s: &State) -> f64 {
    s.q.iter().fold(1.0_f64, |a, x| a.max(x.abs()))
}
