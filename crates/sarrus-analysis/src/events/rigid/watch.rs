//! Gaps along a run: when one closes, and when one that is held lets go.
//!
//! Every watched number is positive while nothing happens: an open gap; what a held point bears; what friction could bear
//! beyond what it does, where it sticks; how fast it slips, where it slides; how far it is from the end of its face or edge. Each is checked inside a step as events are
//! ([`super::super::detect`]), and the first that becomes negative ends the step there. Gaps that are open are bounded over the
//! step ([`super::super::advance`]): where one closes, it is checked right before and right after. One that starts at zero, as the gap of a ball
//! that stays away by itself does, must first have been positive by more than rounding; before that it is met where it is
//! negative by more than rounding. A gap that has just rebounded is known to be open right after.
//!
//! Forces may jump where a held contact passes the end of a face, and a row there would pull. So the state right before what ends a step is
//! kept: columns at that instant are those of this state ([`GapWatch::before`]).

use super::super::advance::Ahead;
use super::super::search::{ConditionSample, bracket, may_reach, peak};
use super::shares::Shares;
use super::{CLOSED, NEAR, ROUNDING, SLOW, size};
use crate::redundancy::{Undetermined, with_contacts};
use sarrus_math::Vec3;
use sarrus_model::Space;
use sarrus_solve::integrators::TakenStep;
use sarrus_solve::{Accel, Dynamics, SolveError, State, StepError};
use sarrus_system::conditions::ConditionValue;
use sarrus_system::contact::geometry::frozen::FrozenFeature;
use sarrus_system::contact::rigid::{Gap, SAME_WAY, Sliding};
use sarrus_system::contact::sweep::GapSource;
use sarrus_system::{At, Mechanism, System};
use std::sync::Arc;

/// Marks where in a step numbers are checked, as parts of it.
const FRACTIONS: [f64; 8] = [0.0, 1e-3, 0.2, 0.4, 0.6, 0.8, 0.999, 1.0];
/// Halvings of a step in which an open gap is searched for.
const HALVINGS: i32 = 40;
/// Forces smaller than this, over the largest seen, are rounding.
const LITTLE: f64 = 1e-9;

/// Cosine of the angle by which a slip rotates before the direction in which it slides is taken anew. One that ends must be seen to
/// turn back: friction would else follow it to and fro.
const STRAIGHT: f64 = 0.9;

/// Where a step that a slip ends in is taken again up to, as a part of the way there, and how much farther the next one goes: friction behind
/// the end spoils the dense output before it.
const APPROACH: [f64; 2] = [0.999, 0.002];

/// Doublings of what counts as nothing: to 2e-5 of the largest force, where programs can tell whether contacts slip.
const MOST_SAME: i32 = 14;

/// Margin to Coulomb's cones, as a part of the largest normal force, that all these doublings allow.
pub(super) const LOOSEST: f64 = LITTLE * (1 << MOST_SAME) as f64;

/// Holds what is done at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Now {
    /// Nothing: it is open, or parts.
    Open,
    /// It is held; friction does not act.
    Held,
    /// It is held and sticks.
    Sticks,
    /// It is held and slides.
    Slides,
}

/// A number that is watched.
#[derive(Clone, Copy, Debug)]
pub(super) enum WatchedGap {
    Gap(usize),
    /// The row, and of a point that sticks the rows across with μ.
    Bears(usize),
    Grips(usize, usize, usize, f64),
    /// The element.
    Slips(usize),
    /// The element: how far its slip is from turning by more than [`STRAIGHT`] says.
    Rotates(usize),
    /// The element: how far its index is from the ends of the face or edges that it is on.
    Ends(usize),
    /// All that is held, where forces are not unique.
    Shares,
}

/// Farthest beyond a rigid limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LimitExcess {
    /// The distance \[m, rad\].
    pub depth: f64,
    /// Identifies which limit, and when \[s\].
    pub at: Option<(usize, f64)>,
}

/// Holds what happened at a contact.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactTally {
    /// Number of points that closed.
    pub onsets: u64,
    /// Time when the first did \[s\].
    pub first: Option<f64>,
    /// The fastest of them \[m/s\].
    pub fastest: f64,
    /// Largest normal force, all points together \[N\].
    pub largest_force: f64,
    /// Time during which a point was closed \[s\].
    pub time: f64,
    /// Points that were closed, summed over the steps.
    pub touches: u64,
}

impl ContactTally {
    /// A point closes at `t` \[s\] at this speed \[m/s\].
    pub fn close(&mut self, t: f64, speed: f64) {
        self.onsets += 1;
        self.first.get_or_insert(t);
        self.fastest = self.fastest.max(speed);
    }
}

/// Watches the gaps of a run.
#[derive(Clone)]
pub(crate) struct GapWatch {
    /// All of them.
    pub(super) list: Vec<Gap>,
    /// Holds what is done at each.
    pub(super) now: Vec<Now>,
    /// Numbers of the rows of each that is held: along, across.
    pub(super) ids: Vec<[Option<usize>; 2]>,
    /// Features that these rows are of.
    pub(super) features: Vec<Option<FrozenFeature>>,
    /// Fastest velocity so far.
    pub(super) fastest: f64,
    /// Largest acceleration that contacts would have without their forces, at the last instant \[m/s²\].
    pub(super) pull: f64,
    /// Identifies which have just rebounded: they are at zero, and open.
    pub(super) rebounds: Vec<bool>,
    /// Forces of what is held, where they are not unique.
    pub(super) shares: Option<Shares>,
    /// True if the forces of what is held are unique.
    pub(super) is_unique: bool,
    /// Holds what reactions are judged with where closed gaps have no degree of freedom: the system of what acts, and the rows of these gaps.
    pub judged: Option<Arc<System>>,
    /// These gaps.
    pub(super) idle: Vec<usize>,
    /// Holds what was held where forces were not unique, each once, by gaps and rows, with whether slips had one direction.
    analysed: Vec<(Vec<Now>, Vec<usize>, bool)>,
    /// The columns that this concerns, and the motion.
    pub not_unique: Vec<String>,
    undetermined: Undetermined,
    /// Number of times that what is held was found to stay as it is.
    same: i32,
    /// Holds what a reader should know.
    pub(super) notes: Vec<String>,
    /// Holds what happened so far, by contact and then by limit.
    pub tallies: Vec<ContactTally>,
    /// Contacts that are held, each with the row along its normal.
    bearing: Vec<(usize, usize)>,
    /// Force of each in the step at hand \[N\].
    bears: Vec<f64>,
    /// When something happens to a gap in the step at hand \[s\], and the state right before, while that is known.
    before: (f64, State),
    /// When the next step, and the one after it, have to end, and how long a step is that a slip may end in \[s\].
    until: [f64; 2],
    brief: f64,
    /// True if what was found first in the step at hand is that a slip ends or turns.
    is_slip: bool,
    /// Until when steps are counted \[s\].
    counted: f64,
    watched: Vec<WatchedGap>,
    armed: Vec<bool>,
    /// Pairs with a point that is held.
    held: Vec<GapSource>,
    /// Values by index of the step.
    samples: Vec<(f64, Vec<f64>)>,
    values: Vec<f64>,
    gap_values: Vec<f64>,
    near: State,
    /// First of the limits in the list, which one acts, and the farthest beyond one so far.
    limits: usize,
    acts: Vec<bool>,
    beyond: LimitExcess,
    /// Largest normal force while contacts do the same.
    pub(super) largest: f64,
    met: bool,
}

impl GapWatch {
    /// Of a system with these gaps: those of contacts, then those of limits.
    pub fn new(list: Vec<Gap>) -> GapWatch {
        let n = list.len();
        let limits = list.iter().position(|gap| gap.limit.is_some()).unwrap_or(n);
        let contacts = list.iter().map(|gap| gap.contact + 1).max().unwrap_or(0);
        GapWatch {
            now: vec![Now::Open; n],
            ids: vec![[None; 2]; n],
            features: vec![None; n],
            rebounds: vec![false; n],
            shares: None,
            is_unique: true,
            judged: None,
            idle: Vec::new(),
            analysed: Vec::new(),
            not_unique: Vec::new(),
            undetermined: Undetermined::default(),
            same: 0,
            gap_values: vec![0.0; n],
            list,
            fastest: 0.0,
            pull: 0.0,
            notes: Vec::new(),
            tallies: vec![ContactTally::default(); contacts],
            bearing: Vec::new(),
            bears: vec![0.0; contacts],
            before: (f64::INFINITY, State::default()),
            until: [f64::INFINITY; 2],
            brief: 0.0,
            is_slip: false,
            counted: f64::NAN,
            watched: Vec::new(),
            armed: Vec::new(),
            held: Vec::new(),
            samples: Vec::new(),
            values: Vec::new(),
            near: State::default(),
            limits,
            acts: vec![true; n - limits],
            beyond: LimitExcess::default(),
            largest: 0.0,
            met: false,
        }
    }

    /// Returns what a reader should know.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        self.notes.iter().cloned().chain(self.undetermined.note())
    }

    /// Bodies whose motion depends on how contacts that slide share their load.
    pub fn motion_not_unique(&self) -> Vec<String> {
        self.undetermined.bodies.clone()
    }

    /// Notes what is not unique at `s`, once for each combination of what contacts do.
    pub(super) fn judge(&mut self, mechanism: &mut Mechanism, s: &State) {
        if self.is_unique && self.judged.is_none() {
            return;
        }
        let mut own = self.with_all_closed(mechanism);
        let mechanism = own.as_mut().unwrap_or(mechanism);
        let rows = mechanism.system().elements.iter().map(|e| e.id).collect();
        let key = (self.now.clone(), rows, is_one_way(mechanism, s));
        if self.analysed.contains(&key) {
            return;
        }
        self.analysed.push(key);
        let Some(found) = with_contacts(mechanism, s) else { return };
        self.not_unique.extend(found.not_unique());
        let Undetermined { contacts, bodies } = &mut self.undetermined;
        for (all, new) in [(contacts, found.undetermined.contacts), (bodies, found.undetermined.bodies)] {
            new.into_iter().for_each(|name| {
                if !all.contains(&name) {
                    all.push(name);
                }
            });
        }
    }

    /// Returns what reactions at `s` are judged with, while the gaps without degree of freedom that this counts are closed.
    pub fn judged_at(&mut self, mechanism: &mut Mechanism, s: &State) -> Option<&Arc<System>> {
        self.judged.as_ref()?;
        mechanism.gap_values(s, &self.list, &mut self.gap_values);
        let near = NEAR * size(s);
        let closed = self.idle.iter().all(|&i| self.gap_values[i] <= near);
        self.judged.as_ref().filter(|_| closed)
    }

    /// Returns what reactions are judged with, where that is more than `mechanism` holds.
    pub fn with_all_closed(&self, mechanism: &Mechanism) -> Option<Mechanism> {
        let mut own = self.judged.as_ref()?.mechanism();
        own.copy_discrete_state(mechanism);
        Some(own)
    }

    /// Returns whether gap `i` opens or closes because its pair continues in the same way at other points, where contacts do `now` from here on.
    pub(super) fn continues(&self, now: &[Now], i: usize) -> bool {
        let Some(meeting) = self.list[i].meeting else { return false };
        let pair = || (0..self.list.len()).filter(|&j| self.list[j].meeting == Some(meeting));
        let opens = |what: Now| pair().any(|j| self.now[j] == what && now[j] == Now::Open);
        let closes = |what: Now| pair().any(|j| self.now[j] == Now::Open && now[j] == what);
        match (self.now[i], now[i]) {
            (Now::Open, what) => opens(what),
            (what, Now::Open) => closes(what),
            _ => false,
        }
    }

    /// Returns how many are closed and bear, or may bear.
    pub fn closed(&self) -> usize {
        self.now.iter().filter(|now| **now != Now::Open).count() + self.idle.len()
    }

    /// Returns whether the last segment ended for one; asked once.
    pub fn met(&mut self) -> bool {
        std::mem::take(&mut self.met)
    }

    /// Returns whether a number is that of a gap which the sweep bounds over a step; limits are not.
    fn is_swept(&self, watched: WatchedGap) -> bool {
        matches!(watched, WatchedGap::Gap(i) if self.list[i].meeting.is_some())
    }

    /// Returns whether contacts are among the gaps, and not limits alone.
    pub fn have_contacts(&self) -> bool {
        self.limits > 0
    }

    /// Notes how far coordinates are beyond their limits at `s`, a step or a row of a run.
    pub fn note_limits(&mut self, mechanism: &mut Mechanism, s: &State) {
        if self.acts.is_empty() {
            return;
        }
        let (own, values) = (&self.list[self.limits..], &mut self.gap_values[self.limits..]);
        mechanism.gap_values(s, own, values);
        for ((gap, value), _) in own.iter().zip(values).zip(&self.acts).filter(|(_, acts)| **acts) {
            if -*value > self.beyond.depth {
                self.beyond = LimitExcess { depth: -*value, at: gap.limit.map(|limit| (limit, s.t)) };
            }
        }
    }

    /// Farthest beyond a limit so far; none without limits.
    pub fn beyond(&self) -> Option<LimitExcess> {
        (!self.acts.is_empty()).then_some(self.beyond)
    }

    /// Counts the step that ends at `t` \[s\].
    pub fn note_step(&mut self, t: f64) {
        let length = t - std::mem::replace(&mut self.counted, t);
        // what lies behind the cut of a step is no motion
        let end = t.min(self.before.0.next_down());
        let samples = self.samples.iter().filter(|(time, _)| *time <= end).map(|(_, values)| values);
        for (i, tally) in self.tallies.iter_mut().enumerate() {
            let points = self.bearing.iter().filter(|(contact, _)| *contact == i).count();
            if points > 0 {
                let forces = samples.clone().filter_map(|values| values.get(self.watched.len() + i));
                tally.largest_force = forces.fold(tally.largest_force, |most, force| most.max(*force));
                tally.time += length;
                tally.touches += points as u64;
            }
        }
    }

    /// The state right before `t` \[s\], where something happens to a gap by then in the step at hand.
    pub fn before(&self, t: f64) -> Option<&State> {
        (t >= self.before.0).then_some(&self.before.1)
    }

    /// Instant at which the next step has to end \[s\].
    pub fn until(&self) -> f64 {
        self.until[0]
    }

    /// Returns whether a step may be taken again.
    pub fn can_retake(&self) -> bool {
        self.watched.iter().any(|watched| matches!(watched, WatchedGap::Rotates(_)))
    }

    /// Returns whether a step that ends a slip, or rotates it, at `end` is to be taken again: then steps end shortly before that and shortly behind it.
    fn approaches(&mut self, t: f64, h: f64, end: f64) -> bool {
        let way = end - t;
        if h <= self.brief || way <= 1e3 * f64::EPSILON * end.abs() {
            self.brief = 0.0;
            return false;
        }
        let first = t + APPROACH[0] * way;
        self.until = [first, first + APPROACH[1] * way];
        self.brief = 2.0 * APPROACH[1] * way;
        true
    }

    /// The step at hand is over.
    pub fn pass(&mut self) {
        self.before.0 = f64::INFINITY;
    }

    /// Pairs with a index that is held.
    pub fn held(&self) -> &[GapSource] {
        &self.held
    }

    /// The step is cut for one.
    pub fn accept_cut(&mut self) {
        self.met = true;
    }

    /// A segment begins with the rows of `mechanism`; `acts` says which contacts do.
    pub(super) fn begin(&mut self, mechanism: &Mechanism, t: f64, acts: impl Fn(usize) -> bool) {
        self.counted = t;
        self.pass();
        self.bearing.clear();
        self.watched.clear();
        let own = self.list[self.limits..].iter();
        self.acts.iter_mut().zip(own).for_each(|(own, gap)| *own = acts(gap.contact));
        let elements = &mechanism.system().elements;
        let element = |id: Option<usize>| elements.iter().enumerate().find(|(_, e)| Some(e.id) == id);
        for (i, gap) in self.list.iter().enumerate().filter(|(_, gap)| acts(gap.contact)) {
            let Some((index, own)) = element(self.ids[i][0]) else {
                self.watched.push(WatchedGap::Gap(i));
                continue;
            };
            self.bearing.push((gap.contact, own.start));
            self.watched.push(WatchedGap::Bears(own.start));
            if let Some((_, across)) = element(self.ids[i][1]) {
                let n = across.rows.rows();
                self.watched.push(WatchedGap::Grips(own.start, across.start, n, gap.rigid.mu));
            }
            if own.sliding.is_some() {
                self.watched.push(WatchedGap::Slips(index));
                if mechanism.system().directory.space != Space::Planar {
                    self.watched.push(WatchedGap::Rotates(index));
                }
            }
            if self.features[i].is_some() {
                self.watched.push(WatchedGap::Ends(index));
            }
        }
        if let Some(shares) = &mut self.shares {
            // together, beside the gaps and the slips
            let (alone, bear) = self.watched.iter().partition(|w| !w.bears());
            (self.watched, shares.watched) = (alone, bear);
            self.watched.push(WatchedGap::Shares);
        }
        self.held.clear();
        let held = self.list.iter().zip(&self.now).filter(|(_, now)| **now != Now::Open);
        self.held.extend(held.filter_map(|(gap, _)| gap.meeting));
        self.held.dedup();
        self.armed.clear();
        let rebounds = |watched: &WatchedGap| matches!(watched, WatchedGap::Gap(i) if self.rebounds[*i]);
        self.armed.extend(self.watched.iter().map(rebounds));
    }

    /// After an instant before which contacts did what `before` says. Where forces are not unique (`shared`), a program found that nothing has to
    /// change, to its own accuracy: if that repeats, what counts as nothing grows.
    pub(super) fn loosen(&mut self, before: &[Now], shared: bool) {
        let same = self.now == before;
        // forces of a segment that continues are compared with those before: where they pass zero there are no others
        if !same {
            self.largest = 0.0;
        }
        self.same = if same && shared { self.same + 1 } else { 0 };
    }

    /// The slip that is rounding \[m/s\].
    pub(super) fn still(&self) -> f64 {
        ROUNDING * self.fastest
    }

    /// Returns what counts as nothing, by watched number.
    fn nothing(&self, watched: WatchedGap, s: &State) -> f64 {
        match watched {
            WatchedGap::Gap(_) | WatchedGap::Ends(_) => CLOSED * size(s),
            WatchedGap::Bears(_) | WatchedGap::Grips(..) => LITTLE * self.largest,
            WatchedGap::Slips(_) => SLOW * self.fastest,
            WatchedGap::Rotates(_) => 0.0,
            WatchedGap::Shares => LITTLE * self.largest * 2.0_f64.powi(self.same.min(MOST_SAME)),
        }
    }

    /// Looks into a step whose gaps are bounded by `ahead`; returns the time at which it is to be cut.
    pub fn cut(
        &mut self,
        step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>,
        ahead: Ahead,
    ) -> Result<Option<f64>, StepError> {
        if self.watched.is_empty() {
            return Ok(None);
        }
        let (t, h) = (step.info.t, step.end.t - step.info.t);
        if step.end.t >= self.until[0] {
            self.until = [self.until[1], f64::INFINITY];
        }
        self.fastest = step.end.v.iter().fold(self.fastest, |most, v| most.max(v.abs()));
        let mut samples = std::mem::take(&mut self.samples);
        let mut times = [f64::INFINITY; FRACTIONS.len() + 2];
        let gaps_only = self.watched.iter().all(|watched| self.is_swept(*watched));
        let count = if ahead == Ahead::Clear && gaps_only {
            // open all the time
            times[0] = step.end.t;
            1
        } else {
            FRACTIONS.iter().zip(&mut times).for_each(|(fraction, time)| *time = t + fraction * h);
            times[FRACTIONS.len() - 1] = step.end.t;
            if let Ahead::Met { bracket, .. } = ahead {
                // before the first look after the start a gap that has just rebounded may still be negative by rounding
                let [open, closed] = bracket;
                times[FRACTIONS.len()] = if open > times[1] { open } else { f64::INFINITY };
                times[FRACTIONS.len() + 1] = closed;
            }
            times.sort_unstable_by(f64::total_cmp);
            let mut count = 1;
            for k in 1..times.len() {
                if times[k].is_finite() && times[k] > times[count - 1] {
                    times[count] = times[k];
                    count += 1;
                }
            }
            count
        };
        samples.resize_with(count, Default::default);
        for ((time, values), at) in samples.iter_mut().zip(times) {
            *time = at;
            let (ode, s) = step.at(*time)?;
            self.read(ode, s, values).map_err(|source| StepError::Solve { t: *time, source })?;
        }
        let found = self.first(step, &samples);
        if let Ok(Some([before, _])) = found {
            samples.push((before, self.check_before(step, before)?));
        }
        self.samples = samples;
        if !self.is_unique {
            // slips may turn from each other within a segment
            let (ode, s) = step.at(t + h)?;
            self.judge(ode.parts().0, s);
        }
        let found = found?;
        if let Some([_, end]) = found.filter(|_| self.is_slip)
            && self.approaches(t, h, end)
        {
            return Ok(Some(t));
        }
        self.before.0 = found.map_or(f64::INFINITY, |[_, t]| t);
        Ok(found.map(|[_, t]| t))
    }

    /// Keeps the state at `t` \[s\], right before something happens; returns the watched numbers there.
    fn check_before(
        &mut self,
        step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>,
        t: f64,
    ) -> Result<Vec<f64>, StepError> {
        let (ode, s) = step.at(t)?;
        let mut near = std::mem::take(&mut self.before.1);
        near.copy_from(s);
        if ode.project(&mut near).is_err() {
            near.copy_from(s);
        }
        let mut values = Vec::new();
        let done = self.read(ode, &near, &mut values);
        self.before.1 = near;
        done.map(|()| values).map_err(|source| StepError::Solve { t, source })
    }

    /// The first instant at which something happens, after one at which nothing has yet.
    fn first(
        &mut self,
        step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>,
        samples: &[(f64, Vec<f64>)],
    ) -> Result<Option<[f64; 2]>, StepError> {
        let mut first: Option<[f64; 2]> = None;
        let mut arms = vec![false; self.watched.len()];
        for i in 0..self.watched.len() {
            let nothing = self.nothing(self.watched[i], step.end);
            let is_swept = self.is_swept(self.watched[i]);
            let is_gap = matches!(self.watched[i], WatchedGap::Gap(_));
            let mut armed = self.armed[i];
            for k in 1..samples.len() {
                armed |= samples[k - 1].1[i] > nothing;
                let level = if armed { 0.0 } else { -nothing };
                let verdict = |value: f64| ConditionValue { holds: value < level, margin: level - value };
                let at = |k: usize| -> ConditionSample { (samples[k].0, verdict(samples[k].1[i])) };
                let mut judge = |t: f64| -> Result<ConditionValue, StepError> {
                    let (ode, s) = step.at(t)?;
                    // as the run will continue from there: on the constraints, where there is a way
                    self.near.copy_from(s);
                    if ode.project(&mut self.near).is_err() {
                        self.near.copy_from(s);
                    }
                    let (near, mut values) =
                        (std::mem::take(&mut self.near), std::mem::take(&mut self.values));
                    let done = self.read(ode, &near, &mut values);
                    let value = values.get(i).copied().unwrap_or(f64::NAN);
                    (self.near, self.values) = (near, values);
                    done.map_err(|source| StepError::Solve { t, source })?;
                    Ok(verdict(value))
                };
                let (before, here) = (at(k - 1), at(k));
                let found = if here.1.holds && before.1.holds && here.1.margin <= before.1.margin && is_gap {
                    // a rebound that still rises through rounding
                    None
                } else if here.1.holds {
                    // a rebound that ends before the first look: it was open somewhere in between
                    let mut from = before;
                    for halving in 1..HALVINGS {
                        if !from.1.holds {
                            break;
                        }
                        let t = before.0 + (here.0 - before.0) * 0.5_f64.powi(halving);
                        from = (t, judge(t)?);
                    }
                    Some(if from.1.holds { [before.0; 2] } else { bracket(from, here, &mut judge)? })
                } else if !is_swept
                    && let Some(after) = (k + 1 < samples.len()).then(|| at(k + 1))
                    && before.1.margin <= here.1.margin
                    && here.1.margin > after.1.margin
                    && !after.1.holds
                    && may_reach(before, here, after)
                    && let Some(held) = peak(before.0, here, after.0, &mut judge)?
                {
                    let from = if held.0 > here.0 { here } else { before };
                    Some(bracket(from, held, &mut judge)?)
                } else {
                    None
                };
                if let Some(found) = found {
                    let is_first = first.is_none_or(|first| found[1] < first[1]);
                    let is_slip = matches!(self.watched[i], WatchedGap::Slips(_) | WatchedGap::Rotates(_));
                    self.is_slip = if is_first { is_slip && self.can_retake() } else { self.is_slip };
                    let earlier = |first: [f64; 2]| [first[0].min(found[0]), first[1].min(found[1])];
                    first = Some(first.map_or(found, earlier));
                    break;
                }
            }
            arms[i] = armed || samples.last().is_some_and(|(_, values)| values[i] > nothing);
        }
        if first.is_none() {
            self.armed = arms;
        }
        Ok(first)
    }

    /// The watched numbers at `s`.
    fn read(
        &mut self,
        ode: &mut Dynamics<'_, Mechanism>,
        s: &State,
        out: &mut Vec<f64>,
    ) -> Result<(), SolveError> {
        out.clear();
        self.bears.fill(0.0);
        let mut solved = self.watched.iter().any(WatchedGap::bears);
        if solved {
            ode.evaluate(s)?;
        }
        let shared = match &self.shares {
            // rows that contradict each other have no accelerations: the margin tells
            Some(shares) => {
                solved = ode.evaluate(s).is_ok();
                let (mechanism, eq, accel) = ode.parts();
                shares.margin(mechanism, s, solved.then_some((eq, accel)), self)?
            }
            None => (0.0, 0.0),
        };
        self.largest = self.largest.max(shared.1);
        let (mechanism, _, accel) = ode.parts();
        if solved {
            for own in self.bearing.chunk_by(|a, b| a.0 == b.0) {
                self.bears[own[0].0] = own.iter().map(|&(_, row)| -accel.lambda[row]).sum();
            }
        }
        mechanism.gap_values(s, &self.list, &mut self.gap_values);
        self.fill_pairs();
        let system = mechanism.system().clone();
        for watched in &self.watched {
            let value = match *watched {
                WatchedGap::Gap(i) => self.gap_values[i],
                WatchedGap::Bears(_) | WatchedGap::Grips(..) => watched.force(accel, &mut self.largest),
                WatchedGap::Shares => shared.0,
                WatchedGap::Slips(index) | WatchedGap::Rotates(index) => {
                    let element = &system.elements[index];
                    let rotates = matches!(watched, WatchedGap::Rotates(_));
                    let slip = |at: &At<f64>| {
                        let at = At { ids: &element.ids, ..*at };
                        let own = |sliding: &Sliding| match rotates {
                            true => straightness(sliding, &at) - STRAIGHT,
                            false => sliding.onward(&at),
                        };
                        element.sliding.as_deref().map_or(0.0, own)
                    };
                    mechanism.observe(s, slip)
                }
                WatchedGap::Ends(index) => {
                    let element = &system.elements[index];
                    let within = |at: &At<f64>| {
                        element.point.as_ref().and_then(|own| own.within(&At { ids: &element.ids, ..*at }))
                    };
                    mechanism.observe(s, within).unwrap_or(f64::INFINITY)
                }
            };
            out.push(value);
        }
        // behind them, what contacts bear
        out.extend_from_slice(&self.bears);
        Ok(())
    }
}

/// Cosine of the angle between the friction of a contact and that of where it began to slide.
fn straightness(sliding: &Sliding, at: &At<f64>) -> f64 {
    sliding.way(at).map_or(1.0, |way| way.dot(Vec3(sliding.direction)))
}

/// Returns whether all contacts that slide do so in one direction.
fn is_one_way(mechanism: &mut Mechanism, s: &State) -> bool {
    let system = mechanism.system().clone();
    mechanism.observe(s, |at| {
        let sliding = system.elements.iter().filter_map(|e| Some((e.sliding.as_ref()?, &e.ids)));
        let mut ways = sliding.filter_map(|(sliding, ids)| sliding.way(&At { ids, ..*at }));
        let Some(first) = ways.next() else { return true };
        ways.all(|way| (way - first).norm() <= SAME_WAY)
    })
}

impl GapWatch {
    /// Gives points that are not there, as other features of their pair are nearer, the gap of these. So a pair that closes between two looks is found where it closes, also
    /// if other features are nearest by then.
    fn fill_pairs(&mut self) {
        let mut from = 0;
        for own in self.list.chunk_by(|a, b| a.meeting.is_some() && a.meeting == b.meeting) {
            let range = from..from + own.len();
            from = range.end;
            let (values, now) = (&mut self.gap_values[range.clone()], &self.now[range]);
            let open = values.iter().zip(now).filter(|(_, now)| **now == Now::Open);
            let least = open.map(|(value, _)| *value).fold(f64::INFINITY, f64::min);
            values.iter_mut().filter(|value| value.is_infinite()).for_each(|value| *value = least);
        }
    }
}

impl WatchedGap {
    /// Returns whether it is of a force.
    fn bears(&self) -> bool {
        matches!(self, WatchedGap::Bears(_) | WatchedGap::Grips(..))
    }

    /// Returns how much less than that force could be; the largest normal force is noted.
    pub(super) fn force(&self, accel: &Accel, largest: &mut f64) -> f64 {
        let mut normal = |row: usize| {
            let N = -accel.lambda[row];
            *largest = largest.max(N.abs());
            N
        };
        match *self {
            WatchedGap::Bears(row) => normal(row),
            WatchedGap::Grips(row, across, n, mu) => {
                let pulls = &accel.lambda[across..across + n];
                mu * normal(row) - pulls.iter().map(|x| x * x).sum::<f64>().sqrt()
            }
            WatchedGap::Gap(_)
            | WatchedGap::Slips(_)
            | WatchedGap::Rotates(_)
            | WatchedGap::Ends(_)
            | WatchedGap::Shares => f64::INFINITY,
        }
    }
}
