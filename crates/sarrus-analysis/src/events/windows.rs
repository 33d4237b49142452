//! Conditions that hold for a moment within a step: found by bounds on their margin, so that none is passed over.
//!
//! The margin of a condition on positions, velocities and time is bounded between two instants ([`Conditions::enclose`]). Where its
//! upper bound is negative the condition does not hold in between. Else the interval is halved, the earlier half first, until the
//! condition holds at an instant or the interval is one.

use super::MechanismStep;
use super::advance::DEEPEST;
use super::search::ConditionSample;
use sarrus_math::Enclosure;
use sarrus_solve::StepError;
use sarrus_system::Conditions;
use sarrus_system::conditions::ConditionValue;
use sarrus_system::motion::{BodiesAtInstant, MotionBounds};

/// Margins that have bounds between two frames.
pub(super) trait Margins {
    /// The number of them.
    fn count(&self) -> usize;

    /// The bodies that their bounds read.
    fn bodies(&self) -> impl Iterator<Item = usize>;

    /// The states of controllers that they read, by their places among the outputs.
    fn states(&self) -> impl Iterator<Item = usize> {
        std::iter::empty()
    }

    /// Bounds on margin `i` between two frames.
    fn enclose(&self, i: usize, motion: &MotionBounds, a: &BodiesAtInstant, b: &BodiesAtInstant)
    -> Enclosure;
}

impl Margins for Conditions {
    fn count(&self) -> usize {
        self.len()
    }

    fn bodies(&self) -> impl Iterator<Item = usize> {
        self.bounded_bodies()
    }

    fn enclose(
        &self,
        i: usize,
        motion: &MotionBounds,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> Enclosure {
        Conditions::enclose(self, i, motion, a, b)
    }
}

/// Reports what a condition is at an instant of the step.
type ConditionTest<'a> =
    &'a mut dyn FnMut(&mut MechanismStep<'_, '_>, f64) -> Result<ConditionValue, StepError>;

/// Intervals of a step that are halved for one event; then its samples alone count, and the report says so.
const MOST: usize = 500;
/// Likewise where that has happened in many steps before: rounding decides there, and no halving helps.
const FEWEST: usize = 8;

/// Finds moments at which conditions hold.
#[derive(Clone, Default)]
pub(super) struct Windows {
    motion: Option<MotionBounds>,
    /// Start of the step that the motion is of \[s\].
    sampled: Option<f64>,
    frames: Vec<BodiesAtInstant>,
    halved: usize,
    /// Intervals that may be halved for each event, and whether the last step took all of them. Then the next has half as many.
    allowed: Vec<(usize, bool)>,
    /// Events whose search was given up, and when first \[s\].
    pub given_up: Vec<(usize, f64)>,
    /// Number of times that that happened.
    pub times_given_up: u64,
    /// Events whose margin may have been positive by no more than rounding, and when first \[s\].
    pub grazed: Vec<(usize, f64)>,
}

/// A condition, and the sign and size of its margin.
#[derive(Clone, Copy)]
pub(super) struct Margin {
    /// Number of the condition.
    pub number: usize,
    /// Its verdict's margin over that of the condition.
    pub sign: f64,
    /// Margins up to this size are rounding.
    pub rounding: f64,
}

impl Windows {
    /// A new step.
    pub fn begin(&mut self) {
        self.sampled = None;
    }

    /// A new search in the same step.
    pub fn begin_search(&mut self) {
        self.halved = 0;
    }

    /// Decides whether a condition that holds at neither end of the step holds nowhere in it.
    pub fn is_clear(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        conditions: &impl Margins,
        margin: Margin,
        points: [ConditionSample; 2],
    ) -> Result<bool, StepError> {
        self.begin_search();
        self.allowed.resize(conditions.count(), (MOST, false));
        let (most, exhausted) = &mut self.allowed[margin.number];
        *most = if *exhausted { (*most / 2).max(FEWEST) } else { (2 * *most).min(MOST) };
        *exhausted = false;
        if points.iter().any(|(_, verdict)| verdict.holds) {
            return Ok(false);
        }
        let motion = self.sample(step, conditions)?;
        let [a, b] = motion.ends();
        let upper = margin.decide(conditions, motion, [a, b], points);
        self.note_grazed(margin.number, points[0].0, upper);
        Ok(upper.is_some())
    }

    /// Notes a margin that is decided and may be above zero all the same.
    fn note_grazed(&mut self, number: usize, t: f64, upper: Option<f64>) {
        if upper.is_some_and(|upper| upper > 0.0) && !self.grazed.iter().any(|(i, _)| *i == number) {
            self.grazed.push((number, t));
        }
    }

    /// The first instants between which a condition that does not hold at `a` begins to hold: not at the first, at the second.
    pub fn first(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        conditions: &impl Margins,
        margin: Margin,
        [a, b]: [ConditionSample; 2],
        judge: ConditionTest<'_>,
    ) -> Result<Option<[ConditionSample; 2]>, StepError> {
        self.sample(step, conditions)?;
        let Some(motion) = self.motion.take() else { return Ok(None) };
        self.frames.resize_with(DEEPEST + 3, BodiesAtInstant::default);
        let mut search = WindowSearch { conditions, margin, motion: &motion, judge };
        let result =
            self.ends(step, [a.0, b.0]).and_then(|()| self.search(&mut search, step, [0, 1], [a, b], 0));
        self.motion = Some(motion);
        let (most, exhausted) = &mut self.allowed[margin.number];
        if self.halved >= *most {
            *exhausted = true;
            self.times_given_up += 1;
            if !self.given_up.iter().any(|(i, _)| *i == margin.number) {
                self.given_up.push((margin.number, a.0));
            }
        }
        result
    }

    /// An instant within the interval up to which a condition only ceases to hold, and at which it is false.
    pub fn leaves(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        conditions: &impl Margins,
        margin: Margin,
        [a, b]: [ConditionSample; 2],
        judge: ConditionTest<'_>,
        is_false: &dyn Fn(&ConditionValue) -> bool,
    ) -> Result<Option<ConditionSample>, StepError> {
        self.sample(step, conditions)?;
        let Some(motion) = self.motion.take() else { return Ok(None) };
        self.frames.resize_with(DEEPEST + 3, BodiesAtInstant::default);
        let (mut w, mut result) = (b.0 - a.0, Ok(None));
        for _ in 0..DEEPEST {
            w *= 0.5;
            if let Err(error) = self.ends(step, [a.0, a.0 + w]) {
                result = Err(error);
                break;
            }
            let bound = conditions.enclose(margin.number, &motion, &self.frames[0], &self.frames[1]);
            let rate = (bound * margin.sign).d;
            if rate.hi < 0.0 {
                result = judge(step, a.0 + w).map(|verdict| is_false(&verdict).then_some((a.0 + w, verdict)));
                break;
            }
            if rate.lo > 0.0 {
                break;
            }
        }
        self.motion = Some(motion);
        result
    }

    /// Bounds the motion over the step, once.
    pub fn sample(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        conditions: &impl Margins,
    ) -> Result<&MotionBounds, StepError> {
        self.allowed.resize(conditions.count(), (MOST, false));
        let (t, end) = (step.info.t, step.end.t);
        let system = step.ode.problem().system().clone();
        let order = step.order();
        let motion = self.motion.get_or_insert_with(|| MotionBounds::of(&system, order).with_bends());
        if self.sampled == Some(t) {
            return Ok(motion);
        }
        let last = motion.fractions().len() - 1;
        for k in 0..=last {
            let at = if k == last { end } else { t + motion.fractions()[k] * (end - t) };
            let (ode, s) = step.at(at)?;
            ode.problem_mut().frame(s, motion.node(k));
        }
        motion.begin(conditions.bodies(), conditions.states());
        self.sampled = Some(t);
        Ok(motion)
    }

    /// The bounds of the step that was sampled last.
    pub fn motion(&self) -> Option<&MotionBounds> {
        self.motion.as_ref()
    }

    fn ends(&mut self, step: &mut MechanismStep<'_, '_>, times: [f64; 2]) -> Result<(), StepError> {
        for (k, t) in times.into_iter().enumerate() {
            let (ode, s) = step.at(t)?;
            ode.problem_mut().frame(s, &mut self.frames[k]);
        }
        Ok(())
    }

    fn search(
        &mut self,
        search: &mut WindowSearch<'_, impl Margins>,
        step: &mut MechanismStep<'_, '_>,
        [a, b]: [usize; 2],
        points: [ConditionSample; 2],
        depth: usize,
    ) -> Result<Option<[ConditionSample; 2]>, StepError> {
        let holds = points[1].1.holds;
        let bracket = holds.then_some(points);
        let frames = [&self.frames[a], &self.frames[b]];
        let upper = search.margin.decide(search.conditions, search.motion, frames, points);
        self.note_grazed(search.margin.number, points[0].0, upper);
        if upper.is_some() {
            return Ok(bracket);
        }
        let t = 0.5 * (points[0].0 + points[1].0);
        let (most, _) = self.allowed[search.margin.number];
        if depth >= DEEPEST || self.halved >= most || !(t > points[0].0 && t < points[1].0) {
            return Ok(bracket);
        }
        self.halved += 1;
        let middle = depth + 2;
        let (ode, s) = step.at(t)?;
        ode.problem_mut().frame(s, &mut self.frames[middle]);
        let here = (t, (search.judge)(step, t)?);
        let found = self.search(search, step, [a, middle], [points[0], here], depth + 1)?;
        if found.is_some() || here.1.holds {
            return Ok(found);
        }
        self.search(search, step, [middle, b], [here, points[1]], depth + 1)
    }
}

struct WindowSearch<'a, M> {
    conditions: &'a M,
    margin: Margin,
    motion: &'a MotionBounds,
    judge: ConditionTest<'a>,
}

impl Margin {
    /// Where a condition that does not hold at the first frame holds nowhere up to the second, but for rounding, the largest that its margin
    /// may be; where it begins to hold once, zero.
    fn decide(
        &self,
        conditions: &impl Margins,
        motion: &MotionBounds,
        [a, b]: [&BodiesAtInstant; 2],
        points: [ConditionSample; 2],
    ) -> Option<f64> {
        let bound = conditions.enclose(self.number, motion, a, b) * self.sign;
        if points[1].1.holds {
            return (bound.d.lo > 0.0).then_some(0.0);
        }
        let ends = points.map(|(_, verdict)| verdict.margin);
        Some(bound.upper(ends, b.t - a.t)).filter(|upper| *upper <= self.rounding)
    }
}
