//! Describes what happens at an instant at which something happens to a gap.

use super::super::{EventLoop, NoStart, active::GapHold, jump::APART};
use super::impact::{self, gained};
use super::instant::{ContactInstant, dot};
use super::shares::Shares;
use super::staying::Staying;
use super::watch::{GapWatch, LOOSEST, Now};
use super::{CLOSED, LOW, NEAR, SLOW, size};
use crate::recorder::{Recorder, RunStop};
use crate::report::{EventReport, ImpulseReport};
use sarrus_model::Space;
use sarrus_solve::complementarity::{ContactPoint, ContactStatus, Contacts};
use sarrus_solve::{Problem, SolveError, State, StepError};
use sarrus_system::contact::geometry::frozen::FrozenFeature;
use sarrus_system::contact::rigid::{Gap, Sliding};
use sarrus_system::system::{DISSIPATED, WORK};
use sarrus_system::{ConstraintElement, Mechanism, System};
use std::sync::Arc;

/// Instants at the same time that are too many.
const AT_ONCE: usize = 50;

/// Instants at the same time from which on flights that time cannot resolve are none.
const FEW: usize = 3;

/// Describes how far behind the end of a surface the run continues, as a part of its duration: the motion there is that before it to rounding.
const BEHIND: f64 = 1e-11;
/// Acceleration of a gap beside those of all forces from which on it parts.
const PARTS: f64 = 1e-8;
/// Rate of a gap that is held, as a part of the fastest velocity, where its normal has jumped.
const OFF: f64 = 1e-6;

/// Start of the note on contacts that continue as they are where no solution is found, at a margin that is watched no closer ([`LOOSEST`]).
const EDGE: &str = "rigid contacts at the edge of sticking stay as they are";

/// Cosine of the angle by which a slip turns where it turns back; one that merely turns passes 90 degrees.
const BACK: f64 = -0.5;

/// Word for a pair that continues at other corners and edges.
const MOVED: &str = "touches at other points";

/// Words for impacts that end in rest.
const RESTS: &str = "comes to rest";

/// Holds what is reported of a contact at an instant.
#[derive(Default)]
struct Reported {
    words: Vec<String>,
    impulses: Vec<ImpulseReport>,
    lost: f64,
}

impl EventLoop {
    /// Impacts at `state`, and what stays closed there.
    pub(in super::super) fn touch(
        &mut self,
        mechanism: &mut Mechanism,
        state: &mut State,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), StepError> {
        let Some(mut gaps) = recorder.gaps.take() else { return Ok(()) };
        let done = self.touch_gaps(&mut gaps, mechanism, state, recorder);
        gaps.begin(mechanism, state.t, |contact| self.active.acts(contact));
        recorder.gaps = Some(gaps);
        done
    }

    fn touch_gaps(
        &mut self,
        gaps: &mut GapWatch,
        mechanism: &mut Mechanism,
        state: &mut State,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), StepError> {
        let mut reported = self.nothing_reported();
        self.correct_gaps(gaps, mechanism, state, &mut reported)?;
        gaps.judge(mechanism, state);
        recorder.enter(mechanism, state);
        self.report(gaps, reported, self.time(state), recorder);
        Ok(())
    }

    /// The gaps of `list` that are closed at `state` and bear: `mechanism` gets their rows. Returns the columns that are not unique with these.
    pub(crate) fn close_gaps(
        &mut self,
        list: Vec<Gap>,
        mechanism: &mut Mechanism,
        state: &mut State,
    ) -> Result<Vec<String>, StepError> {
        let mut gaps = GapWatch::new(list);
        if gaps.list.is_empty() {
            return Ok(Vec::new());
        }
        let mut reported = self.nothing_reported();
        self.correct_gaps(&mut gaps, mechanism, state, &mut reported)?;
        gaps.judge(mechanism, state);
        Ok(gaps.not_unique)
    }

    /// The deepest overlap of rigid contacts at `state`, where it is more than rows may miss ([`APART`]).
    pub(in super::super) fn overlap(
        &self,
        mechanism: &mut Mechanism,
        state: &State,
        recorder: &Recorder<'_>,
    ) -> Option<NoStart> {
        let gaps = recorder.gaps.as_ref()?;
        let mut values = vec![0.0; gaps.list.len()];
        mechanism.gap_values(state, &gaps.list, &mut values);
        let own = gaps.list.iter().zip(&values).filter(|(gap, _)| gap.limit.is_none());
        let (gap, value) = own.min_by(|a, b| a.1.total_cmp(b.1))?;
        let name = self.system.gap_name(gap.contact).to_string();
        (*value < -APART * size(state)).then_some(NoStart::Overlap(name, -value))
    }

    /// Nothing to report yet, by contact and then by limit.
    fn nothing_reported(&self) -> Vec<Reported> {
        let count = self.system.contacts.len() + self.system.all.events.limits.len();
        std::iter::repeat_with(Reported::default).take(count).collect()
    }

    /// Impacts at `state`, and the rows of what stays closed.
    fn correct_gaps(
        &mut self,
        gaps: &mut GapWatch,
        mechanism: &mut Mechanism,
        state: &mut State,
        reported: &mut [Reported],
    ) -> Result<(), StepError> {
        let t = state.t;
        let solve = |source| StepError::Solve { t, source };
        // what holds whatever the gaps do
        let mut free = self.without_holds(mechanism, state)?;
        let which = self.closed(gaps, &mut free, state);
        gaps.fastest = state.v.iter().fold(gaps.fastest, |most, v| most.max(v.abs()));
        let at = ContactInstant::new(&mut free, state, &gaps.list, which).map_err(solve)?;
        // from rest too there is a speed to compare with: that of a fall over the size of the mechanism
        gaps.pull = at.free.iter().fold(0.0_f64, |most, a| most.max(a.abs()));
        gaps.fastest = gaps.fastest.max((gaps.pull * size(state)).sqrt());
        let slow = SLOW * gaps.fastest;
        gaps.idle = idle(&at, slow);
        let mut at = self.movable(gaps, &mut free, state, at, slow)?;
        correct_overlap(gaps, &at, &free, state);
        if at.first.iter().any(|&i| at.rates()[i] < -slow) {
            self.hit(gaps, &at, state, slow, reported)?;
            at = ContactInstant::new(&mut free, state, &gaps.list, at.which).map_err(solve)?;
        }
        if self.come_to_rest(gaps, &at, slow, &mut free, state, reported)? {
            at = ContactInstant::new(&mut free, state, &gaps.list, at.which).map_err(solve)?;
        }
        gaps.rebounds.fill(false);
        let u = at.rates();
        at.which.iter().zip(&at.first).for_each(|(&own, &i)| gaps.rebounds[own] = u[i] > slow);
        let staying = self.staying(gaps, &at, slow, t)?;
        let before = gaps.now.clone();
        self.hold(gaps, staying, &mut free, mechanism, state, reported)?;
        let shares = || Shares { free: free.system().clone(), watched: Vec::new() };
        gaps.shares = self.is_shared.then(shares);
        gaps.judged = self.with_idle(gaps, &mut free, state);
        gaps.loosen(&before, self.is_shared);
        Ok(())
    }

    /// The closed gaps `at`, but for those that joints and drivers leave no degree of freedom: no impulse acts on these. One that is forced through its
    /// limit or its surfaces is an error.
    fn movable(
        &self,
        gaps: &GapWatch,
        free: &mut Mechanism,
        state: &State,
        at: ContactInstant,
        slow: f64,
    ) -> Result<ContactInstant, StepError> {
        let t = state.t;
        let solve = |source| StepError::Solve { t, source };
        if !at.fixed.contains(&true) {
            return Ok(at);
        }
        // it is met where it is closed, and again where it is not open any more
        let deep = -0.5 * CLOSED * size(state);
        for (k, own) in at.rows.iter().enumerate().filter(|(k, _)| at.fixed[*k]) {
            if own.gap < deep && own.rates[0] < -slow {
                let name = self.system.gap_name(gaps.list[at.which[k]].contact).to_string();
                return Err(solve(SolveError::Forced { name }));
            }
        }
        let movable = at.which.iter().zip(&at.fixed).filter(|(_, fixed)| !**fixed).map(|(own, _)| *own);
        ContactInstant::new(free, state, &gaps.list, movable.collect()).map_err(solve)
    }

    /// The system of what acts, with the rows of gaps that are idle; none where no gap is.
    fn with_idle(&mut self, gaps: &GapWatch, free: &mut Mechanism, state: &State) -> Option<Arc<System>> {
        if gaps.idle.is_empty() {
            return None;
        }
        let rows = gaps.idle.iter().map(|&i| {
            let gap = free.observe(state, |at| gaps.list[i].frozen(at));
            self.active.register(GapHold { gap: i, across: false }, gap.hold(&self.system, None))
        });
        let rows: Vec<ConstraintElement> = rows.collect();
        let held = self.active.remove_holds();
        self.active.set_holds(held.iter().cloned().chain(rows).collect());
        let system = self.active.system(&self.system);
        self.active.set_holds(held);
        system.ok().map(Arc::new)
    }

    /// Behind a break in time: brings `state` onto the rows that hold whatever the gaps do, and returns the mechanism of these
    /// rows. The work of that impulse is a driver's.
    pub(in super::super) fn cross(
        &mut self,
        mechanism: &mut Mechanism,
        state: &mut State,
    ) -> Result<Mechanism, StepError> {
        let mut free = self.without_holds(mechanism, state)?;
        let before = free.energy(state);
        super::super::jump::make_consistent(&mut free, state);
        let after = free.energy(state);
        state.x[WORK] += after.kinetic + after.potential - before.kinetic - before.potential;
        Ok(free)
    }

    /// Where no step leads on from `state`: whether a contact that is held slides over the end of its surface there. Its normal jumps, and its row
    /// contradicts the motion from there on. If so, `state` is brought just behind it ([`BEHIND`]), where the contact is seen to part or to hit.
    pub(in super::super) fn pass_edge(
        &mut self,
        mechanism: &Mechanism,
        state: &mut State,
        recorder: &Recorder<'_>,
    ) -> bool {
        let Some(gaps) = &recorder.gaps else { return false };
        let held = || gaps.list.iter().zip(&gaps.now).filter(|(_, now)| **now != Now::Open);
        if held().next().is_none() || self.passed_at == state.t {
            return false;
        }
        let Ok(mut free) = self.without_holds(mechanism, state) else { return false };
        let mut behind = state.clone();
        let ahead = BEHIND * (self.schedule.span.1 - self.schedule.span.0);
        let way: Vec<f64> = state.v.iter().map(|v| v * ahead).collect();
        free.retract(&mut behind.q, &way);
        behind.t += ahead;
        super::super::jump::make_consistent(&mut free, &mut behind);
        let fast = OFF * gaps.fastest;
        let ends = held().any(|(gap, _)| !(free.gap_rows(&behind, gap).rates[0].abs() <= fast));
        if ends {
            state.copy_from(&behind);
            self.passed_at = state.t;
        }
        ends
    }

    /// The mechanism without the rows of points that are held.
    fn without_holds(&mut self, mechanism: &Mechanism, state: &State) -> Result<Mechanism, StepError> {
        let held = self.active.remove_holds();
        let system = self.active.system(&self.system);
        self.active.set_holds(held);
        let system: Arc<System> = Arc::new(system.map_err(|_| StepError::NotFinite { t: state.t })?);
        let mut free = system.mechanism();
        free.copy_discrete_state(mechanism);
        Ok(free)
    }

    /// Gaps that are closed at `state`.
    fn closed(&self, gaps: &GapWatch, free: &mut Mechanism, state: &State) -> Vec<usize> {
        let mut values = vec![0.0; gaps.list.len()];
        free.gap_values(state, &gaps.list, &mut values);
        let near = NEAR * size(state);
        let closed = |i: usize| values[i] <= near || (gaps.now[i] != Now::Open && values[i].is_finite());
        (0..values.len()).filter(|&i| self.active.acts(gaps.list[i].contact) && closed(i)).collect()
    }

    /// An impact: velocities jump.
    fn hit(
        &mut self,
        gaps: &mut GapWatch,
        at: &ContactInstant,
        state: &mut State,
        slow: f64,
        reported: &mut [Reported],
    ) -> Result<(), StepError> {
        let before = at.rates();
        let low = LOW * size(state);
        let (mut e, mut rules, mut points) = (Vec::new(), Vec::new(), Vec::new());
        for (own, &i) in at.which.iter().zip(&at.first) {
            let Gap { contact, rigid, .. } = &gaps.list[*own];
            let rigid = *rigid;
            let approaches = before[i] < -slow;
            // pressed on and hardly rebounding: it stays
            let height = (rigid.restitution * before[i]).powi(2) / (-2.0 * at.free[i]).max(f64::MIN_POSITIVE);
            let rests = match gaps.list[*own].limit {
                Some(limit) => approaches && self.rests_at(limit, -before[i]),
                None => at.free[i] < 0.0 && height <= low,
            };
            if approaches {
                gaps.tallies[*contact].close(state.t, -before[i]);
            }
            e.push(if approaches && !rests { rigid.restitution } else { 0.0 });
            rules.push(rigid.rule);
            points.push(ContactPoint { mu: rigid.mu, across: at.rows[rules.len() - 1].rates.len() - 1 });
        }
        let found = impact::solve(at, &points, &e, &rules, &before)
            .map_err(|_| self.no_force(gaps, at, state.t, None))?;
        // ΔT = ½κᵀ(u⁺ + u⁻) and what drivers do
        state.x[WORK] += dot(&at.work, &found.kappa);
        for (x, kappa) in at.response.iter().zip(&found.kappa) {
            state.v.iter_mut().zip(x).for_each(|(v, x)| *v += x * kappa);
        }
        for ((point, &own), &i) in points.iter().zip(&at.which).zip(&at.first) {
            let rows = i..=i + point.across;
            let contact = gaps.list[own].contact;
            let kappa = &found.kappa[rows.clone()];
            if kappa[0] == 0.0 && before[i] >= -slow {
                continue;
            }
            let lost = -gained(kappa, &before[rows.clone()], &found.after[rows]);
            state.x[DISSIPATED] += lost;
            if let Some(element) = self.system.contacts.get(contact) {
                let along = -0.5 * kappa[0] * (before[i] + found.after[i]);
                state.x[element.x] += along;
                state.x[element.x + 1] += lost - along;
            }
            let reported = &mut reported[contact];
            reported.lost += lost;
            let limit = gaps.list[own].limit;
            reported.impulses.push(match limit {
                Some(limit) => self.impulse_at(limit, kappa[0]),
                None => ImpulseReport {
                    joint: self.system.gap_name(contact).to_string(),
                    coordinate: "normal",
                    impulse: kappa.to_vec(),
                    unit: "N s",
                },
            });
            if reported.words.is_empty() {
                let rebounds = found.after[i] > slow;
                reported.words.push(match limit.map(|limit| self.system.all.events.limits[limit].value) {
                    Some(value) if rebounds => format!("rebounds from {value}"),
                    Some(value) => format!("hits {value}"),
                    None => "impact".into(),
                });
                if !found.is_unique {
                    reported.words.push("impulses are not unique: those of least norm are shown".into());
                }
                if !found.is_motion_unique {
                    reported.words.push("velocities after it depend on how impulses are shared".into());
                }
                if found.corrected {
                    reported.words.push("the rule would have made energy: less restitution was taken".into());
                }
            }
        }
        Ok(())
    }

    /// Ends a sequence of impacts over several points in rest. An impact without restitution at one point can throw off another, as of
    /// a block that rocks. The times between such impacts shrink to nothing. Points that would rise no higher than [`LOW`], and are
    /// pressed on, close together with those that stay: velocities are brought onto their rows, with the least change, which loses
    /// energy. Returns whether any did.
    fn come_to_rest(
        &mut self,
        gaps: &GapWatch,
        at: &ContactInstant,
        slow: f64,
        free: &mut Mechanism,
        state: &mut State,
        reported: &mut [Reported],
    ) -> Result<bool, StepError> {
        let size = size(state);
        // where the time does not tell one instant from the next, neither does it tell a flight
        let low = size * if self.touched_at == state.t && self.at_once >= FEW { CLOSED } else { LOW };
        let u = at.rates();
        let rises = |k: usize| u[at.first[k]] > slow;
        let all = 0..at.which.len();
        if !all.clone().any(rises) {
            return Ok(false);
        }
        // under what the others bear: bodies that fall together do not press on each other by themselves
        let others: Vec<usize> = all.clone().filter(|k| !rises(*k)).collect();
        let borne = Staying::new(at, &gaps.list, &others, gaps.still(), |_, speed| speed > 10.0 * slow);
        let impact_speeds = match borne.contacts().solve() {
            Ok(found) => borne.accelerations(at, &others, &found.kappa),
            // forces are searched for again with those that may close
            Err(_) => at.free.clone(),
        };
        let is_low = |k: usize| {
            let i = at.first[k];
            // a flight that does not rise above the surface is none either
            rises(k)
                && impact_speeds[i] < 0.0
                && u[i] * u[i] <= -2.0 * impact_speeds[i] * low.max(-at.rows[k].gap)
        };
        let lows = all.clone().filter(|k| is_low(*k)).map(|k| u[at.first[k]]);
        let Some(fastest) = lows.reduce(f64::max) else { return Ok(false) };
        // slips as slow as these flights are part of them
        let still = (10.0 * slow).max(fastest);
        let near: Vec<usize> = all.filter(|&k| !rises(k) || is_low(k)).collect();
        let problem = Staying::new(at, &gaps.list, &near, gaps.still(), |_, speed| speed > still);
        let Ok(found) = problem.contacts().solve() else { return Ok(false) };
        let each = near.iter().zip(&found.status).zip(problem.slips.iter().zip(&problem.points));
        let each: Vec<_> = each.filter(|((_, status), _)| **status != ContactStatus::Open).collect();
        let stays: Vec<usize> = each.iter().map(|((k, _), _)| **k).collect();
        if !stays.iter().any(|&k| rises(k)) {
            return Ok(false);
        }
        let mut rows = Vec::new();
        for ((k, status), (slip, point)) in each {
            let i = at.which[*k];
            let gap = free.observe(state, |at| gaps.list[i].frozen(at));
            rows.push(self.active.register(GapHold { gap: i, across: false }, gap.hold(&self.system, None)));
            // one that sticks does so from here on: a slip that is left would be one of the flights
            if *status == ContactStatus::Stick
                && slip.is_none()
                && point.across > 0
                && let Some(across) = gap.stick(&self.system)
            {
                rows.push(self.active.register(GapHold { gap: i, across: true }, across));
            }
        }
        let before = self.active.remove_holds();
        self.active.set_holds(rows);
        let system = self.active.system(&self.system);
        self.active.set_holds(before);
        let system: Arc<System> = Arc::new(system.map_err(|_| StepError::NotFinite { t: state.t })?);
        let mut held = system.mechanism();
        held.copy_discrete_state(free);
        let mut rests = state.clone();
        super::super::jump::make_consistent(&mut held, &mut rests);
        let lost = held.energy(state).kinetic - held.energy(&rests).kinetic;
        state.v.copy_from_slice(&rests.v);
        state.x[DISSIPATED] += lost;
        // by the contact of the first
        let contact = gaps.list[at.which[stays[0]]].contact;
        if let Some(element) = self.system.contacts.get(contact) {
            state.x[element.x] += lost;
        }
        reported[contact].lost += lost;
        for contact in stays.iter().filter(|&&k| rises(k)).map(|&k| gaps.list[at.which[k]].contact) {
            let words = &mut reported[contact].words;
            if gaps.list.iter().any(|gap| gap.contact == contact && gap.limit.is_none())
                && !words.iter().any(|word| word == RESTS)
            {
                words.push(RESTS.into());
            }
        }
        Ok(true)
    }

    /// Of the points at an instant, which stay closed: what they do, and how they slip.
    fn staying(
        &mut self,
        gaps: &mut GapWatch,
        at: &ContactInstant,
        slow: f64,
        t: f64,
    ) -> Result<Vec<(usize, Now, Vec<f64>)>, StepError> {
        let u = at.rates();
        let stays: Vec<usize> = (0..at.which.len()).filter(|&k| u[at.first[k]] <= slow).collect();
        (self.is_shared, gaps.is_unique) = (false, true);
        if stays.is_empty() {
            return Ok(Vec::new());
        }
        let problem = Staying::new(at, &gaps.list, &stays, gaps.still(), |_, speed| speed > 10.0 * slow);
        // contacts whose friction takes away all of their compliance
        let sliding = stays.iter().enumerate().filter(|(own, _)| problem.slips[*own].is_some());
        let jams = sliding.map(|(own, &k)| (own, k, problem.own(own).0)).filter(|(.., left)| !(*left > 0.0));
        let jams: Vec<(usize, usize, f64)> = jams.collect();
        let found = problem.contacts().solve();
        let held = stays.iter().zip(&problem.slips).all(|(&k, slip)| match gaps.now[at.which[k]] {
            Now::Open => false,
            Now::Held | Now::Sticks => slip.is_none(),
            Now::Slides => slip.is_some(),
        });
        let margin = if found.is_err() && held { problem.contacts().margin().0 } else { f64::NEG_INFINITY };
        if margin >= -LOOSEST * gaps.largest {
            return Ok(self.hold_closed(gaps, at, &stays, &problem, margin, t));
        }
        let found = found.map_err(|_| {
            let worst = jams.iter().min_by(|a, b| a.2.total_cmp(&b.2));
            self.no_force(gaps, at, t, worst.map(|&(_, k, left)| (k, left)))
        })?;
        for &(_, k, _) in jams.iter().filter(|(own, ..)| found.status[*own] == ContactStatus::Open) {
            let name = self.system.gap_name(gaps.list[at.which[k]].contact);
            gaps.notes.push(format!(
                "contact `{name}`: more than one contact force satisfies Coulomb's law (Painlevé's paradox): it is taken to part"
            ));
        }
        // where slips differ, the motion depends on how forces are shared: each is watched by itself
        let planar = self.system.directory.space == Space::Planar;
        gaps.is_unique = found.is_unique;
        self.is_shared = !found.is_unique && (planar || problem.is_parallel);
        let Staying { slips, points, .. } = problem;
        let each = stays.iter().zip(&found.status).zip(slips).zip(&points);
        let each = each.filter_map(|(((&k, status), slip), point)| {
            let own = at.which[k];
            match (status, slip) {
                (ContactStatus::Open, _) => None,
                (_, Some(d)) => Some((own, Now::Slides, d)),
                (ContactStatus::Slide(d), None) => Some((own, Now::Slides, d[..point.across].to_vec())),
                (ContactStatus::Stick, None) if point.across > 0 => Some((own, Now::Sticks, Vec::new())),
                (ContactStatus::Stick, None) => Some((own, Now::Held, Vec::new())),
            }
        });
        Ok(each.collect())
    }

    /// Contacts as they are, at the edge of the cones where no solution was found, with a note.
    fn hold_closed(
        &mut self,
        gaps: &mut GapWatch,
        at: &ContactInstant,
        stays: &[usize],
        problem: &Staying,
        margin: f64,
        t: f64,
    ) -> Vec<(usize, Now, Vec<f64>)> {
        if margin < 0.0 && !gaps.notes.iter().any(|n| n.starts_with(EDGE)) {
            gaps.notes.push(format!(
                "{EDGE} from t = {t:.6} s on: no solution was found there, and friction may exceed Coulomb's limit by up to {:.1e} of \
                 the largest normal force",
                LOOSEST
            ));
        }
        (self.is_shared, gaps.is_unique) = (true, false);
        let same = stays.iter().zip(&problem.slips);
        same.map(|(&k, slip)| (at.which[k], gaps.now[at.which[k]], slip.clone().unwrap_or_default()))
            .collect()
    }

    /// Goes over to the system with these points held.
    fn hold(
        &mut self,
        gaps: &mut GapWatch,
        staying: Vec<(usize, Now, Vec<f64>)>,
        free: &mut Mechanism,
        mechanism: &mut Mechanism,
        state: &mut State,
        reported: &mut [Reported],
    ) -> Result<(), StepError> {
        let mut now = vec![Now::Open; gaps.list.len()];
        let mut holds = Vec::new();
        let mut ids = vec![[None; 2]; gaps.list.len()];
        let mut features = vec![None; gaps.list.len()];
        for (i, what, slip) in staying {
            let gap = &free.observe(state, |at| gaps.list[i].frozen(at));
            features[i] = gap.feature();
            let sliding: Option<Sliding> = match what {
                Now::Slides => free.observe(state, |at| gap.sliding(at, &slip, gaps.still())),
                _ => None,
            };
            now[i] = what;
            let along =
                self.active.register(GapHold { gap: i, across: false }, gap.hold(&self.system, sliding));
            ids[i][0] = Some(along.id);
            holds.push(along);
            if what == Now::Sticks
                && let Some(rows) = gap.stick(&self.system)
            {
                let across = self.active.register(GapHold { gap: i, across: true }, rows);
                ids[i][1] = Some(across.id);
                holds.push(across);
            }
        }
        let before = self.active.remove_holds();
        let direction = |list: &[ConstraintElement], id: Option<usize>| {
            let element = list.iter().find(|e| Some(e.id) == id)?;
            element.sliding.as_ref().map(|sliding| sliding.direction)
        };
        for (i, (old, new)) in gaps.now.iter().zip(&now).enumerate() {
            let word = match (old, new) {
                (Now::Slides, Now::Slides) => {
                    let [old, new] = [direction(&before, gaps.ids[i][0]), direction(&holds, ids[i][0])];
                    match (old, new) {
                        (Some(old), Some(new)) if dot(&old, &new) < BACK => "slides back",
                        _ => continue,
                    }
                }
                (old, new) if old == new => continue,
                (Now::Open, _) | (_, Now::Open) if gaps.continues(&now, i) => MOVED,
                (Now::Open, Now::Held) => "stays closed",
                (_, Now::Sticks) => "sticks",
                (_, Now::Slides) => "slides",
                (_, Now::Open) => "parts",
                _ => continue,
            };
            let words = &mut reported[gaps.list[i].contact].words;
            let word = match gaps.list[i].limit.map(|limit| self.system.all.events.limits[limit].value) {
                Some(value) => {
                    words.retain(|word| !word.starts_with("hits"));
                    format!("{} {value}", if *new == Now::Open { "leaves" } else { "rests at" })
                }
                None => word.to_string(),
            };
            if !words.contains(&word) {
                words.push(word);
            }
        }
        // one that closes without an impact counts too, as one that is closed from the start
        for (i, gap) in gaps.list.iter().enumerate() {
            let closes = gaps.now[i] == Now::Open && now[i] != Now::Open && !gaps.continues(&now, i);
            if closes && reported[gap.contact].impulses.is_empty() {
                gaps.tallies[gap.contact].close(state.t, 0.0);
            }
        }
        let slides = now.contains(&Now::Slides) || gaps.now.contains(&Now::Slides);
        // an event may have dropped the rows of what is still held
        let missing = holds.iter().any(|own| mechanism.system().element_index(own.id).is_none());
        let same = |(a, b): (&Option<FrozenFeature>, &Option<FrozenFeature>)| match (a, b) {
            (Some(a), Some(b)) => a.is_same(b),
            (a, b) => a.is_none() && b.is_none(),
        };
        let moved = !gaps.features.iter().zip(&features).all(same);
        let changed = slides || missing || moved || now != gaps.now;
        (gaps.now, gaps.ids, gaps.features) = (now, ids, features);
        self.active.set_holds(holds);
        if changed {
            let found = state.q.clone();
            let rebuilt = self.rebuild(mechanism, state, &found)?;
            // at rest, rows that are redundant contradict each other by rounding
            let fast = state.v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
            if fast > SLOW * gaps.fastest {
                rebuilt.impulses()?;
            }
        }
        Ok(())
    }

    /// Reports an instant.
    fn report(&mut self, gaps: &mut GapWatch, reported: Vec<Reported>, t: f64, recorder: &mut Recorder<'_>) {
        for (contact, reported) in reported.into_iter().enumerate() {
            if reported.words.is_empty() {
                continue;
            }
            recorder.events.push(EventReport {
                t,
                name: self.system.gap_name(contact).to_string(),
                actions: reported.words,
                impulses: reported.impulses,
                energy_lost: reported.lost,
            });
        }
        self.at_once = if self.touched_at == t { self.at_once + 1 } else { 0 };
        self.touched_at = t;
        if self.at_once > AT_ONCE {
            let name = gaps.list.first().map(|gap| self.system.gap_name(gap.contact).to_string());
            let often = format!("{AT_ONCE} times at one instant");
            recorder.stop.get_or_insert(RunStop::Chatter(name.unwrap_or_default(), often));
        }
    }

    /// No force will do at an instant; `one` is the point that it is due to, with what is left of its compliance.
    fn no_force(&self, gaps: &GapWatch, at: &ContactInstant, t: f64, one: Option<(usize, f64)>) -> StepError {
        let index = one.map_or(0, |(k, _)| k);
        let own = at.which.get(index).map(|&i| gaps.list[i].contact);
        let contact = own.map_or(String::new(), |i| self.system.gap_name(i).to_string());
        if one.is_none() && at.rows.iter().all(|own| own.rates.len() == 1) {
            // without friction there are forces unless what holds whatever they do forces its way
            return StepError::Solve { t, source: SolveError::Forced { name: contact } };
        }
        let stands = at.stands.get(index).cloned().unwrap_or_default();
        let source = SolveError::NoForce { contact, at: stands, left: one.map(|(_, left)| left) };
        StepError::Solve { t, source }
    }
}

/// Closed gaps that joints, locks and drivers leave no degree of freedom and that do not part: they may bear any force beside what holds them. A run leaves
/// it to the latter, and verdicts on reactions count both.
fn idle(at: &ContactInstant, slow: f64) -> Vec<usize> {
    let fixed = at.first.iter().enumerate().filter(|(k, _)| at.fixed[*k]);
    let rests =
        |&(k, &i): &(usize, &usize)| at.rows[k].rates[0].abs() <= slow && at.free[i] <= PARTS * at.scale;
    fixed.filter(rests).map(|(k, _)| at.which[k]).collect()
}

/// Brings coordinates that are beyond their limits by no more than rows may miss ([`APART`]) back onto these, with as little as will do:
/// δ = M⁻¹Nᵀκ along what joints and drivers leave free, 0 ≤ κ ⊥ g + W κ ≥ 0. Else one that parts would be met again where it starts.
fn correct_overlap(gaps: &GapWatch, at: &ContactInstant, free: &Mechanism, state: &mut State) {
    let most = APART * size(state);
    let limits = |k: &usize| gaps.list[at.which[*k]].limit.is_some() && at.rows[*k].gap >= -most;
    let own: Vec<usize> = (0..at.which.len()).filter(limits).collect();
    let g: Vec<f64> = own.iter().map(|&k| at.rows[k].gap).collect();
    if !g.iter().any(|g| *g < 0.0) {
        return;
    }
    let n = at.len();
    let rows = || own.iter().map(|&k| at.first[k]);
    let W: Vec<f64> = rows().flat_map(|i| rows().map(move |j| at.W[i * n + j])).collect();
    let points = vec![ContactPoint { mu: 0.0, across: 0 }; own.len()];
    // where none is found it stays as it is, and the certificate tells
    let Ok(found) = (Contacts { points: &points, W: &W, symmetric: &W, b: &g }).solve() else { return };
    let mut delta = vec![0.0; state.v.len()];
    for (i, kappa) in rows().zip(&found.kappa) {
        delta.iter_mut().zip(&at.response[i]).for_each(|(d, x)| *d += kappa * x);
    }
    free.retract(&mut state.q, &delta);
}
