//! Expressions of forces that switch or peak in the state within a step.
//!
//! The stages of a long step see nothing of a force that acts between them, and the error estimate neither. So each accepted step is
//! looked into on its dense output, with the bounds of [`windows`](super::windows).
//!
//! - **Choices.** Where the argument of an `if`, `abs`, `min`, … leaves its cell the step ends, just behind that instant, so that a jump
//!   or a kink lies between steps. The next step ends at the next such instant of the old motion, at the latest.
//! - **Peaks** of what is no polynomial: a step ends before one that its samples do not resolve ([`peaks`](super::peaks)), and the next
//!   one within it.
//!
//! What stages beyond a switch or a peak have seen spoils the dense output before it, also where the error estimate sees nothing of it. So
//! such a step is taken again, from its start to before the switch or peak.
//!
//! What changes velocities by less than the tolerances ask for is left alone, and so is an argument that leaves its cell by less than
//! rounding. A force that keeps the motion at one of its switches ends the run ([`stays`](super::stays)). Steps of fixed size are not cut: where they pass over a peak or a window, the report says so and is not certified.

use super::MechanismStep;
use super::chatter::{Firings, MOST};
use super::features::Features;
use super::peaks::{Grid, Peak};
use super::search::{ConditionSample, crossing};
use super::stays::Stays;
use super::windows::{Margin, Margins, Windows};
use sarrus_math::{Enclosure, Interval};
use sarrus_solve::StepError;
use sarrus_system::Laws;
use sarrus_system::conditions::ConditionValue;
use sarrus_system::motion::{BodiesAtInstant, MotionBounds};
use sarrus_system::system::System;

/// Part of a step at its start where choices that change are those that ended the step before.
const PAST: f64 = 1e-9;
/// Part of a step at its start within which a choice that began right at a level has left it.
const CONVERGED: f64 = 1e-6;
/// Changes of a choice in a step that are checked until one changes its expression.
const TRIES: usize = 64;
/// Part of the absolute tolerance that is rounding of positions and velocities.
const NOISE: f64 = 1e-3;
/// Part of the absolute tolerance up to which velocities may be changed unseen.
const UNSEEN: f64 = 1e-2;
/// Part of the absolute tolerance by which dense output may be spoilt.
const SPOILT: f64 = 0.1;
/// Times nearer than this many units in the last place are one: a step that is taken again ends a quarter of that before a switch, at least.
const NEAR: f64 = 256.0;
/// Part of a step that is left before a switch where it is taken again.
const GAP: f64 = 1e-9;

/// Watches the expressions of forces.
#[derive(Clone)]
pub(crate) struct Switches {
    laws: Laws,
    /// By choice, the neighbouring levels of its argument.
    cells: Vec<[f64; 2]>,
    windows: Windows,
    grid: Grid,
    frames: [BodiesAtInstant; 2],
    /// By law: whether it is checked in this step.
    counts: Vec<bool>,
    /// By law: how much it may change in this step.
    widths: Vec<f64>,
    /// True if steps adapt to errors, and the tolerances: relative, absolute.
    adaptive: bool,
    tolerances: [f64; 2],
    firings: Firings,
    stays: Stays,
    found: Option<StepEnd>,
    /// Time when the next steps have to end \[s\], and for how long the one after that goes over a switch \[s\].
    until: f64,
    sliver: f64,
    /// For which law that is.
    last: Option<usize>,
    /// By law: since when it is no longer located; when a fixed step has passed over a part of it first \[s\].
    chattered: Vec<Option<f64>>,
    passed: Vec<Option<f64>>,
    features: Features,
}

/// Holds what ends a step.
#[derive(Clone, Copy)]
struct StepEnd {
    /// The expression of a force or controller; none of a constraint.
    law: Option<usize>,
    at: f64,
    until: f64,
    sliver: f64,
    /// True if the step is taken again.
    again: bool,
}

/// Margins of choices: positive outside of their cells.
struct ChoiceMargins<'a> {
    laws: &'a Laws,
    cells: &'a [[f64; 2]],
}

impl Margins for ChoiceMargins<'_> {
    fn count(&self) -> usize {
        self.laws.switches()
    }

    fn bodies(&self) -> impl Iterator<Item = usize> {
        self.laws.bodies()
    }

    fn states(&self) -> impl Iterator<Item = usize> {
        self.laws.states()
    }

    fn enclose(
        &self,
        i: usize,
        motion: &MotionBounds,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> Enclosure {
        let u = self.laws.enclose_argument(i, motion, a, b);
        let [lo, hi] = self.cells[i].map(|level| Enclosure::constant(Interval::point(level)));
        match self.cells[i].map(f64::is_finite) {
            [true, true] => (lo - u).most(u - hi),
            [true, false] => lo - u,
            _ => u - hi,
        }
    }
}

/// Forces that one note names.
const MOST_NAMED: usize = 3;

impl Switches {
    /// For the forces and constraints of `system`, where any has such expressions, in a run over `span` \[s\] with steps to relative and absolute `tolerances`.
    pub fn new(system: &System, span: (f64, f64), adaptive: bool, tolerances: [f64; 2]) -> Option<Switches> {
        let laws = Laws::new(system)?;
        let count = laws.list().len();
        Some(Switches {
            cells: vec![[0.0; 2]; laws.switches()],
            windows: Windows::default(),
            grid: Grid::default(),
            frames: Default::default(),
            counts: vec![false; count],
            widths: vec![0.0; count],
            adaptive,
            tolerances,
            firings: Firings::new(2 * count, span),
            stays: Stays::new(laws.switches(), span),
            found: None,
            until: f64::INFINITY,
            sliver: 0.0,
            last: None,
            chattered: vec![None; count],
            passed: vec![None; count],
            features: Features::new(span),
            laws,
        })
    }

    /// Returns when the next step has to end \[s\].
    pub fn until(&self) -> f64 {
        self.until
    }

    /// Returns whether a step of fixed size has passed over a part of an expression.
    pub fn passed_over(&self) -> bool {
        self.passed.iter().any(Option::is_some) || self.features.passed_over()
    }

    /// Returns why the run ends, where an expression keeps the motion at one of its switches.
    pub fn stays(&self) -> Option<String> {
        self.stays.why(&self.laws)
    }

    /// Facts for the report.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.features.notes();
        let mut add = |law: usize, text: String| {
            let note = format!("{}: {text}", self.laws.list()[law].title);
            if !notes.contains(&note) {
                notes.push(note);
            }
        };
        for law in 0..self.laws.list().len() {
            if let Some(t) = self.passed[law] {
                add(
                    law,
                    format!(
                        "at t = {t} s its expression takes values that no stage of a step of fixed size has met, there and perhaps again \
                     later; the run is not certified; give a smaller `step`, or an integrator with adaptive steps"
                    ),
                );
            }
            if let Some(t) = self.chattered[law] {
                add(
                    law,
                    format!(
                        "its expression switched {MOST} times within a thousandth of the run: from t = {t} s on its switches and peaks are \
                     not located, only stepped over with the error control"
                    ),
                );
            }
        }
        let mut given_up: Vec<(usize, f64)> = Vec::new();
        let choices = self.windows.given_up.iter().map(|(i, t)| (self.laws.law_of(*i), *t));
        for (law, t) in choices.chain(self.grid.given_up.iter().copied()) {
            if !given_up.iter().any(|(known, _)| *known == law) {
                given_up.push((law, t));
            }
        }
        if let Some((_, t)) = given_up.first() {
            let named = |(law, _): &(usize, f64)| self.laws.list()[*law].title.as_str();
            let names: Vec<&str> = given_up.iter().take(MOST_NAMED).map(named).collect();
            let more = if given_up.len() > MOST_NAMED { " and others" } else { "" };
            notes.push(format!(
                "expressions of {}{more} could not be bounded over some steps, first at t = {t} s: a short part of one may be passed \
                 over there; a smaller `step` settles it",
                names.join(", ")
            ));
        }
        notes
    }

    /// The step is cut for what was found.
    pub fn accept_cut(&mut self) {
        let Some(found) = self.found else { return };
        (self.until, self.sliver, self.last) = (found.until, found.sliver, found.law);
        let kind = if found.again { self.laws.list().len() } else { 0 };
        if let Some(law) = found.law
            && self.firings.chatter(kind + law, found.at)
        {
            self.chattered[law].get_or_insert(found.at);
        }
    }

    /// Returns when the step is to be cut for a choice that changes, or before a peak.
    pub fn cut(&mut self, step: &mut MechanismStep<'_, '_>) -> Result<Option<f64>, StepError> {
        let mut pending = None;
        if step.end.t >= self.until {
            let (sliver, end) = (std::mem::take(&mut self.sliver), step.end.t);
            // in a segment of its own: differences over so short a step are rounding to methods that remember steps
            let found = StepEnd { law: self.last, at: end, until: end + sliver, sliver: 0.0, again: true };
            pending = (sliver > 0.0).then_some(found);
            self.until = f64::INFINITY;
        }
        self.found = None;
        if self.adaptive {
            self.check_start(step)?;
        }
        self.search(step)?;
        self.search_constraints(step)?;
        self.found = self.found.or(pending);
        Ok(self.found.map(|found| found.at))
    }

    /// Checks the choices where the step starts.
    fn check_start(&mut self, step: &mut MechanismStep<'_, '_>) -> Result<(), StepError> {
        let Switches { laws, stays, frames: [frame, scratch], tolerances, .. } = self;
        let (ode, s) = step.at(step.info.t)?;
        ode.problem_mut().frame(s, frame);
        let system = ode.problem().system().clone();
        let h = step.info.h;
        stays.check(laws, [frame, scratch], h, *tolerances, |law| law.acts(&system));
        Ok(())
    }

    /// Looks into the step for what ends it.
    fn search(&mut self, step: &mut MechanismStep<'_, '_>) -> Result<(), StepError> {
        if !self.count(step)? {
            return Ok(());
        }
        if !self.adaptive {
            return self.note_passed(step);
        }
        self.change(step)?;
        // short of a jump
        let (t, h) = (step.info.t, step.end.t - step.info.t);
        let limit = self.found.map_or(step.end.t, |found| found.at - PAST * h);
        if limit > t {
            self.find_peak(step, limit)?;
        }
        Ok(())
    }

    /// Searches for features of constraints before what was found.
    fn search_constraints(&mut self, step: &mut MechanismStep<'_, '_>) -> Result<(), StepError> {
        let limit = self.found.map_or(step.end.t, |found| if found.again { found.until } else { found.at });
        if let Some(at) = self.features.cut(step, limit, self.adaptive, self.tolerances)? {
            self.found = Some(self.again(step.info.t, None, at, 0.0));
        }
        Ok(())
    }

    /// Returns how a step that begins at `t` is cut for a switch at `at`, where law `law` changes: there, or at once and taken again.
    fn decide(&self, t: f64, h: f64, law: usize, at: f64, next: f64) -> StepEnd {
        let near = NEAR * f64::EPSILON * t.abs().max(at.abs());
        let part = (at - t) / h;
        let spoilt = part * part * h * self.widths[law] * self.laws.list()[law].response;
        if spoilt <= SPOILT * self.tolerances[1] || at - t <= near {
            let until = if next > at + near { next } else { f64::INFINITY };
            return StepEnd { law: Some(law), at, until, sliver: 0.0, again: false };
        }
        let gap = (GAP * (at - t)).max(0.25 * near);
        self.again(t, Some(law), at - gap, 2.0 * gap)
    }

    /// A step that is taken again, up to `until`; the step after that has the length `sliver`, if any.
    fn again(&self, t: f64, law: Option<usize>, until: f64, sliver: f64) -> StepEnd {
        StepEnd { law, at: t, until, sliver, again: true }
    }

    /// Returns which expressions count in the step: those that may change velocities by more than the tolerances.
    fn count(&mut self, step: &mut MechanismStep<'_, '_>) -> Result<bool, StepError> {
        let h = step.end.t - step.info.t;
        let Switches {
            laws, cells, windows, counts, widths, chattered, passed, adaptive, tolerances, ..
        } = self;
        let system = step.ode.problem().system().clone();
        for (i, law) in laws.list().iter().enumerate() {
            let known = if *adaptive { chattered[i] } else { passed[i] };
            counts[i] = known.is_none() && law.acts(&system);
        }
        windows.begin();
        if !counts.contains(&true) {
            return Ok(false);
        }
        let motion = windows.sample(step, &ChoiceMargins { laws, cells })?;
        let [a, b] = motion.ends();
        for (i, law) in laws.list().iter().enumerate() {
            if !counts[i] {
                continue;
            }
            let value = law.enclose(motion, a, b).v;
            widths[i] = value.hi - value.lo;
            // what is no number counts
            counts[i] = !(widths[i] * law.response * h <= UNSEEN * tolerances[1]);
        }
        Ok(counts.contains(&true))
    }

    /// The first choice that changes.
    fn change(&mut self, step: &mut MechanismStep<'_, '_>) -> Result<(), StepError> {
        let (mut first, mut second) = ((f64::INFINITY, 0), f64::INFINITY);
        for i in 0..self.laws.switches() {
            if !self.counts[self.laws.law_of(i)] {
                continue;
            }
            let Some(t) = self.leaves(step, i)? else { continue };
            if t < first.0 {
                (first, second) = ((t, i), first.0);
            } else if t > first.0 {
                second = second.min(t);
            }
        }
        let (at, i) = first;
        if !(at < step.end.t) {
            return Ok(());
        }
        let h = step.end.t - step.info.t;
        // back again
        let past = at + PAST * h;
        if past < step.end.t {
            let u = self.argument(step, i, past)?;
            self.cells[i] = self.laws.cell(i, u);
            // which only shortens the next step: a search that is given up says nothing
            let given_up = self.windows.given_up.len();
            second = self.exit(step, i, past)?.map_or(second, |t| second.min(t));
            self.windows.given_up.truncate(given_up);
        }
        self.found = Some(self.decide(step.info.t, h, self.laws.law_of(i), at, second));
        Ok(())
    }

    /// Returns when choice `i` changes in the step, and its expression with it.
    fn leaves(&mut self, step: &mut MechanismStep<'_, '_>, i: usize) -> Result<Option<f64>, StepError> {
        let (t, h) = (step.info.t, step.end.t - step.info.t);
        let mut from = t + PAST * h;
        for _ in 0..TRIES {
            from = self.smooth_until(step, i, from)?;
            if !(from < step.end.t) {
                return Ok(None);
            }
            let u = self.argument(step, i, from)?;
            self.cells[i] = self.laws.cell(i, u);
            let Some(found) = self.exit(step, i, from)? else { return Ok(None) };
            // else it began right at a level
            if found > t + 2.0 * PAST * h && self.smooth_until(step, i, found - PAST * h)? <= found {
                return Ok(Some(found));
            }
            from = found.max(t + CONVERGED * h);
        }
        Ok(None)
    }

    /// Up to when from `from` on the bounds of the expression that makes choice `i` show neither a jump nor a kink.
    fn smooth_until(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        i: usize,
        from: f64,
    ) -> Result<f64, StepError> {
        let law = &self.laws.list()[self.laws.law_of(i)];
        let Some(motion) = self.windows.motion().filter(|_| law.has_bends) else { return Ok(from) };
        let [a, b] = &mut self.frames;
        let (ode, s) = step.at(from)?;
        ode.problem_mut().frame(s, a);
        let (mut w, least) = (step.end.t - from, PAST * (step.end.t - step.info.t));
        while w > least {
            let (ode, s) = step.at(from + w)?;
            ode.problem_mut().frame(s, b);
            let bound = law.enclose(motion, a, b).dd;
            if bound.lo.is_finite() && bound.hi.is_finite() {
                return Ok(b.t);
            }
            w *= 0.5;
        }
        Ok(from)
    }

    fn argument(&mut self, step: &mut MechanismStep<'_, '_>, i: usize, t: f64) -> Result<f64, StepError> {
        let (ode, s) = step.at(t)?;
        ode.problem_mut().frame(s, &mut self.frames[0]);
        Ok(self.laws.argument(i, &self.frames[0]))
    }

    /// Returns when the argument of choice `i` leaves its cell after `from`.
    fn exit(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        i: usize,
        from: f64,
    ) -> Result<Option<f64>, StepError> {
        let Switches { laws, cells, windows, frames: [frame, scratch], tolerances, .. } = self;
        let beyond = ChoiceMargins { laws, cells };
        let [lo, hi] = cells[i];
        let (start, end) = (step.info.t, step.end.t);
        let (ode, s) = step.at(end)?;
        ode.problem_mut().frame(s, frame);
        let rounding = laws.noise(i, frame, scratch, NOISE * tolerances[1]);
        let mut at =
            |step: &mut MechanismStep<'_, '_>, t: f64, least: f64| -> Result<ConditionValue, StepError> {
                let (ode, s) = step.at(t)?;
                ode.problem_mut().frame(s, frame);
                let u = laws.argument(i, frame);
                let margin = (lo - u).max(u - hi);
                Ok(ConditionValue { holds: margin > least, margin })
            };
        let margin = Margin { number: i, sign: 1.0, rounding };
        let points: [ConditionSample; 2] =
            [(from, at(step, from, rounding)?), (end, at(step, end, rounding)?)];
        if from <= start + 2.0 * PAST * (end - start) && windows.is_clear(step, &beyond, margin, points)? {
            return Ok(None);
        }
        windows.begin_search();
        let given_up = windows.given_up.len();
        let found = windows.first(step, &beyond, margin, points, &mut |step, t| at(step, t, rounding))?;
        if found.is_some() {
            // what it may have missed before that is searched for again
            windows.given_up.truncate(given_up);
        }
        let Some([a, b]) = found else { return Ok(None) };
        // up to rounding it may have left before
        if a.1.margin > 0.0 {
            return Ok(Some(a.0));
        }
        Ok(Some(crossing(a, b, |t| at(step, t, 0.0))?))
    }

    /// The first peak before `limit` that the step does not resolve.
    fn find_peak(&mut self, step: &mut MechanismStep<'_, '_>, limit: f64) -> Result<(), StepError> {
        let t = step.info.t;
        let Switches { laws, windows, grid, counts, tolerances, .. } = self;
        let (mut is_set, mut first) = (false, None);
        for (i, law) in laws.list().iter().enumerate() {
            if !(law.peaks && counts[i]) {
                continue;
            }
            if !std::mem::replace(&mut is_set, true) {
                grid.locate(step, limit)?;
            }
            let Some(motion) = windows.motion() else { return Ok(()) };
            let Some(Peak { from, at }) = grid.peak(step, motion, (laws, i), *tolerances)? else { continue };
            let until = if from - t > 0.1 * (at - t) { from } else { at };
            if first.is_none_or(|(_, earlier)| until < earlier) {
                first = Some((i, until));
            }
        }
        let near = NEAR * f64::EPSILON * t.abs().max(limit.abs());
        if let Some((law, until)) = first.filter(|(_, until)| until - t > near) {
            self.found = Some(self.again(t, Some(law), until, 0.0));
        }
        Ok(())
    }

    /// Notes expressions of which a step of fixed size has passed over a part.
    fn note_passed(&mut self, step: &mut MechanismStep<'_, '_>) -> Result<(), StepError> {
        let Switches { laws, windows, grid, counts, tolerances, passed, .. } = self;
        grid.locate_stages(step)?;
        let Some(motion) = windows.motion() else { return Ok(()) };
        for i in (0..counts.len()).filter(|i| counts[*i]) {
            passed[i] = grid.unmet(step, motion, (laws, i), *tolerances)?.map(|peak| peak.at);
        }
        Ok(())
    }
}
