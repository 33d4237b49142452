//! Short peaks of an expression within a step, which its stages may have passed over.
//!
//! The expression is sampled on a grid of the step's dense output. It counts as resolved where the polynomial through every other
//! sample meets those between, and where between neighbours the bounds of its value and rate stay near the samples. What may lie
//! outside is halved, the earlier half first, until a sample shows a peak, or the impulse that may be hidden is below the tolerances.
//! Changes that velocities off by [`DENSE`] tolerances bring about are none: between the ends of a step dense output may be that far off,
//! as where stability limits the steps of an explicit method.

use super::MechanismStep;
use super::advance::DEEPEST;
use sarrus_solve::StepError;
use sarrus_system::Laws;
use sarrus_system::laws::Law;
use sarrus_system::motion::{BodiesAtInstant, MotionBounds};

/// Intervals between the samples of a step, even.
const INTERVALS: usize = 8;
/// Places at which the stages of steps of fixed size stand, as parts of the step: those that the methods have in common.
const STAGES: [f64; 3] = [0.0, 0.5, 1.0];
/// Deviation from what the samples tell, relative to their range, that steps resolve: at samples; between them, of values and of rates.
const MISFIT: f64 = 0.1;
const OFF: f64 = 0.05;
const STEEPER: f64 = 3.0;
/// The same of values for steps of fixed size.
const OFF_FIXED: f64 = 0.5;
/// Part of the tolerances that may be hidden between two samples.
const SHARE: f64 = 0.1;
/// Tolerances by which velocities of dense output may be off; and positions, over those times the step.
const DENSE: f64 = 100.0;
const DENSE_POSITIONS: f64 = 0.1;
/// Change relative to the largest value that is none, where no mass tells.
const SMALL: f64 = 1e-9;
/// Intervals of a step that are halved for one expression; and where they were too few in many steps before.
const MOST: usize = 500;
const FEWEST: usize = 8;

/// A peak: the last instant before it \[s\] up to which the step is good, and an instant that shows it.
#[derive(Clone, Copy)]
pub(super) struct Peak {
    pub from: f64,
    pub at: f64,
}

/// Samples of a step.
#[derive(Clone, Default)]
pub(super) struct Grid {
    /// Expressions that could not be bounded, and when first \[s\].
    pub given_up: Vec<(usize, f64)>,
    /// The samples, and then frames of intervals that are halved.
    frames: Vec<BodiesAtInstant>,
    count: usize,
    values: Vec<f64>,
    halved: usize,
    /// Intervals that may be halved, by expression.
    allowed: Vec<usize>,
    scratch: BodiesAtInstant,
}

/// Holds what the samples tell of an expression.
struct ExpressionSamples {
    /// Least and largest value, and the steepest slope between two neighbours.
    least: f64,
    most: f64,
    slope: f64,
    /// Deviation of values that is resolved.
    off: f64,
    /// Integral over an interval that may be hidden.
    share: f64,
    /// Holds what the tolerances leave of the velocities, or the state, that it changes.
    tolerance: f64,
    /// Holds what these tolerances make of its value, once that is asked for.
    noise: Option<f64>,
}

impl Grid {
    /// Samples a step up to `limit`.
    pub fn locate(&mut self, step: &mut MechanismStep<'_, '_>, limit: f64) -> Result<(), StepError> {
        let part = |k: usize| 0.5 - 0.5 * (std::f64::consts::PI * k as f64 / INTERVALS as f64).cos();
        self.locate_samples(step, INTERVALS + 1, limit, part)
    }

    /// Samples it where stages of a fixed step stand.
    pub fn locate_stages(&mut self, step: &mut MechanismStep<'_, '_>) -> Result<(), StepError> {
        let end = step.end.t;
        self.locate_samples(step, STAGES.len(), end, |k| STAGES[k])
    }

    fn locate_samples(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        count: usize,
        limit: f64,
        part: impl Fn(usize) -> f64,
    ) -> Result<(), StepError> {
        self.count = count;
        self.frames.resize_with(count + DEEPEST + 1, BodiesAtInstant::default);
        let t = step.info.t;
        for (k, frame) in self.frames[..count].iter_mut().enumerate() {
            let at = if k + 1 == count { limit } else { t + part(k) * (limit - t) };
            let (ode, s) = step.at(at)?;
            ode.problem_mut().frame(s, frame);
        }
        Ok(())
    }

    /// The first peak of an expression that the samples do not resolve.
    pub fn peak(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        motion: &MotionBounds,
        (laws, i): (&Laws, usize),
        tolerances: [f64; 2],
    ) -> Result<Option<Peak>, StepError> {
        let mut facts = self.facts(&laws.list()[i], tolerances, OFF);
        let found = self.search(step, motion, (laws, i), &mut facts)?;
        let misfit = self.misfit((laws, i), &mut facts);
        // the earlier one
        Ok(match (found, misfit) {
            (Some(found), Some(misfit)) if misfit.at < found.at => Some(misfit),
            (None, misfit) => misfit,
            (found, _) => found,
        })
    }

    /// The first value of an expression that stages of a fixed step have not met.
    pub fn unmet(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        motion: &MotionBounds,
        (laws, i): (&Laws, usize),
        tolerances: [f64; 2],
    ) -> Result<Option<Peak>, StepError> {
        let facts = self.facts(&laws.list()[i], tolerances, OFF_FIXED);
        self.search(step, motion, (laws, i), &mut ExpressionSamples { slope: f64::INFINITY, ..facts })
    }

    /// The least that errors of dense output make of the value at an end of the step: a sample on a narrow peak says nothing of the rest.
    fn noise(&mut self, (laws, i): (&Laws, usize), facts: &mut ExpressionSamples) -> f64 {
        let scratch = &mut self.scratch;
        let ends = [0, self.count - 1].map(|k| &self.frames[k]);
        let off = DENSE * facts.tolerance;
        let deltas = [DENSE_POSITIONS * (ends[1].t - ends[0].t) * off, off];
        *facts.noise.get_or_insert_with(|| {
            let at = ends.map(|frame| laws.noise_of_value(i, frame, scratch, deltas));
            Some(at[0].min(at[1])).filter(|noise| noise.is_finite()).unwrap_or(0.0)
        })
    }

    fn facts(&mut self, law: &Law, [rtol, atol]: [f64; 2], off: f64) -> ExpressionSamples {
        let frames = &self.frames[..self.count];
        self.values.clear();
        self.values.extend(frames.iter().map(|frame| law.value(frame)));
        let (least, most) = self
            .values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), x| (least.min(*x), most.max(*x)));
        let slopes = (1..self.count).map(|k| {
            let w = frames[k].t - frames[k - 1].t;
            ((self.values[k] - self.values[k - 1]) / w).abs()
        });
        let h = frames[self.count - 1].t - frames[0].t;
        let size = frames.iter().map(|frame| law.size(frame)).fold(0.0, f64::max);
        // of what has no mass nothing is known
        let tolerance = atol + rtol * size;
        let budget = if law.response.is_finite() {
            tolerance / law.response
        } else {
            SMALL * least.abs().max(most.abs()) * h
        };
        ExpressionSamples {
            least,
            most,
            slope: slopes.fold(0.0, f64::max),
            off: off * (most - least),
            share: SHARE * budget,
            tolerance,
            noise: None,
        }
    }

    /// The first sample that the polynomial through the even ones misses.
    fn misfit(&mut self, law: (&Laws, usize), facts: &mut ExpressionSamples) -> Option<Peak> {
        for k in (1..self.count).step_by(2) {
            let t = |k: usize| self.frames[k].t;
            let even = || (0..self.count).step_by(2);
            let weight =
                |j: usize| even().filter(|i| *i != j).map(|i| (t(k) - t(i)) / (t(j) - t(i))).product::<f64>();
            let fit: f64 = even().map(|j| weight(j) * self.values[j]).sum();
            let (error, w) = ((self.values[k] - fit).abs(), t(k + 1) - t(k - 1));
            let peak = Peak { from: t(k - 1), at: t(k) };
            let is_off = error > MISFIT * (facts.most - facts.least) && error * w > 10.0 * facts.share;
            if is_off && error > self.noise(law, facts) {
                return Some(peak);
            }
        }
        None
    }

    fn search(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        motion: &MotionBounds,
        (laws, i): (&Laws, usize),
        facts: &mut ExpressionSamples,
    ) -> Result<Option<Peak>, StepError> {
        if self.allowed.len() <= i {
            self.allowed.resize(i + 1, MOST);
        }
        self.halved = 0;
        let mut found = None;
        for k in 1..self.count {
            let values = [self.values[k - 1], self.values[k]];
            found = self.seek(step, motion, (laws, i), facts, [k - 1, k], values, 0)?;
            if found.is_some() {
                break;
            }
        }
        let exhausted = self.halved >= self.allowed[i];
        if exhausted && !self.given_up.iter().any(|(known, _)| *known == i) {
            self.given_up.push((i, self.frames[0].t));
        }
        self.allowed[i] =
            if exhausted { (self.allowed[i] / 2).max(FEWEST) } else { (2 * self.allowed[i]).min(MOST) };
        Ok(found)
    }

    fn seek(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        motion: &MotionBounds,
        (laws, i): (&Laws, usize),
        facts: &mut ExpressionSamples,
        [a, b]: [usize; 2],
        values: [f64; 2],
        depth: usize,
    ) -> Result<Option<Peak>, StepError> {
        let [ta, tb] = [self.frames[a].t, self.frames[b].t];
        let w = tb - ta;
        let law = &laws.list()[i];
        let bound = law.enclose(motion, &self.frames[a], &self.frames[b]);
        let [least, most] = [values[0].min(values[1]), values[0].max(values[1])];
        let beyond = (bound.upper(values, w) - most).max(least - bound.lower(values, w));
        let is_resolved = beyond <= facts.off && bound.d.magnitude() <= STEEPER * facts.slope;
        // what is no number is not negligible
        if beyond * w <= facts.share || is_resolved || beyond <= self.noise((laws, i), facts) {
            return Ok(None);
        }
        let t = 0.5 * (ta + tb);
        if depth >= DEEPEST || self.halved >= self.allowed[i] || !(t > ta && t < tb) {
            return Ok(None);
        }
        self.halved += 1;
        let middle = self.count + depth;
        let (ode, s) = step.at(t)?;
        ode.problem_mut().frame(s, &mut self.frames[middle]);
        let value = law.value(&self.frames[middle]);
        let outside = (value - facts.most).max(facts.least - value);
        let rise = (value - values[0]).abs().max((value - values[1]).abs());
        let noise = self.noise((laws, i), facts);
        let counts = |change: f64| change > noise && change * w > facts.share;
        if outside > facts.off && counts(outside) || rise > 0.5 * STEEPER * facts.slope * w && counts(rise) {
            return Ok(Some(Peak { from: ta, at: t }));
        }
        let found = self.seek(step, motion, (laws, i), facts, [a, middle], [values[0], value], depth + 1)?;
        match found {
            None => self.seek(step, motion, (laws, i), facts, [middle, b], [value, values[1]], depth + 1),
            found => Ok(found),
        }
    }
}
