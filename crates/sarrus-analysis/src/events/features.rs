//! Features of constraints within a step, which its stages may have passed over: a short tooth of a cam, a bump of a curve, a kink.
//!
//! Along the dense output of a step every expression Φ(q, t) = 0 or ψ(q, v, t) = 0 of a constraint that acts has to vanish, up to the
//! error of the dense output. Where bounds of [`windows`](super::windows) cannot exclude that it leaves this band the step is halved, and
//! where it leaves it the step is taken again, up to that instant. So stages meet what is behind it. Steps of fixed size are not cut: the
//! report says so, and the run is not certified.
//!
//! At a kink the rate of an expression jumps, and velocities with it, without the impulse that this takes. Such a run is not certified.

use super::MechanismStep;
use super::chatter::Firings;
use super::search::{ConditionSample, crossing};
use super::windows::{Margin, Margins, Windows};
use sarrus_math::{Enclosure, Interval};
use sarrus_solve::StepError;
use sarrus_system::Laws;
use sarrus_system::conditions::ConditionValue;
use sarrus_system::laws::Law;
use sarrus_system::motion::{BodiesAtInstant, MotionBounds};
use sarrus_system::system::System;
use std::sync::Arc;

/// Tolerances by which positions and velocities of dense output may be off.
const DENSE: f64 = 100.0;
/// Steps shorter than this many units in the last place of the time are not cut.
const NEAR: f64 = 256.0;

/// Part of a step beside a kink over which rates are compared.
const BESIDE: f64 = 1e-6;
/// Cuts within a thousandth of the run that are one too many.
const MOST: usize = 2000;

/// Watches the expressions of constraints.
#[derive(Clone)]
pub(super) struct Features {
    /// The system that they are of, and they.
    system: Option<Arc<System>>,
    laws: Option<Laws>,
    /// By expression: how far it may be off.
    bands: Vec<f64>,
    windows: Windows,
    frames: [BodiesAtInstant; 2],
    scratch: BodiesAtInstant,
    cuts: Firings,
    /// Constraints of which a part was passed over, and when first \[s\].
    passed: Vec<(String, f64)>,
    /// Constraints whose rate jumped, and when first \[s\].
    kinked: Vec<(String, f64)>,
    /// Constraints whose search was given up in an earlier leg, and when first \[s\].
    left: Vec<(String, f64)>,
}

/// |Φ| less its band.
struct Off<'a> {
    laws: &'a Laws,
    bands: &'a [f64],
}

impl Off<'_> {
    fn margin(&self, i: usize, frame: &BodiesAtInstant) -> f64 {
        self.laws.list()[i].value(frame).abs() - self.bands[i]
    }
}

impl Margins for Off<'_> {
    fn count(&self) -> usize {
        self.laws.list().len()
    }

    fn bodies(&self) -> impl Iterator<Item = usize> {
        self.laws.bodies()
    }

    fn enclose(
        &self,
        i: usize,
        motion: &MotionBounds,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> Enclosure {
        let value = self.laws.list()[i].enclose(motion, a, b);
        value.most(-value) - Enclosure::constant(Interval::point(self.bands[i]))
    }
}

/// A constraint that leaves its band within a step.
struct Feature {
    /// Number of its expression.
    law: usize,
    /// The instant at which it does \[s\].
    at: f64,
}

impl Features {
    /// Of a run over `span` \[s\].
    pub fn new(span: (f64, f64)) -> Features {
        Features {
            system: None,
            laws: None,
            bands: Vec::new(),
            windows: Windows::default(),
            frames: Default::default(),
            scratch: BodiesAtInstant::default(),
            cuts: Firings::of(1, span, MOST),
            passed: Vec::new(),
            kinked: Vec::new(),
            left: Vec::new(),
        }
    }

    /// When a step that begins at `t` is cut for a constraint that leaves its band before `limit`. Where `adaptive` is not set, or after too
    /// many cuts, that is only kept for the report.
    pub fn cut(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        limit: f64,
        adaptive: bool,
        tolerances: [f64; 2],
    ) -> Result<Option<f64>, StepError> {
        let Some(Feature { law, at }) = self.first(step, limit, tolerances)? else {
            self.note_kinks(step, limit, tolerances)?;
            return Ok(None);
        };
        if adaptive && !self.cuts.chatter(0, step.info.t) {
            return Ok(Some(at));
        }
        let title = self.title(law);
        if !self.passed.iter().any(|(known, _)| *known == title) {
            self.passed.push((title, at));
        }
        Ok(None)
    }

    /// Returns whether a part of a constraint was passed over, or velocities jumped at a kink of one.
    pub fn passed_over(&self) -> bool {
        !(self.passed.is_empty() && self.kinked.is_empty())
    }

    /// Notes expressions whose rate jumps in a step up to `limit`.
    fn note_kinks(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        limit: f64,
        [rtol, atol]: [f64; 2],
    ) -> Result<(), StepError> {
        let Features { laws: Some(laws), bands, windows, frames: [a, b], scratch, kinked, .. } = self else {
            return Ok(());
        };
        if laws.switches() == 0 {
            return Ok(());
        }
        // bounds of this step, also where no expression had to be searched
        let motion = windows.sample(step, &Off { laws, bands })?;
        let start = step.info.t;
        for i in 0..laws.switches() {
            let law = &laws.list()[laws.law_of(i)];
            let argument = |step: &mut MechanismStep<'_, '_>, t: f64, frame: &mut BodiesAtInstant| {
                let (ode, s) = step.at(t)?;
                ode.problem_mut().frame(s, frame);
                Ok::<f64, StepError>(laws.argument(i, frame))
            };
            let cell = laws.cell(i, argument(step, start, a)?);
            let beyond = |u: f64| (cell[0] - u).max(u - cell[1]);
            let last = beyond(argument(step, limit, b)?);
            if !(last > 0.0) {
                continue;
            }
            let judged = |margin: f64| ConditionValue { holds: margin > 0.0, margin };
            let ends = [(start, judged(beyond(laws.argument(i, a)))), (limit, judged(last))];
            let at = if ends[0].1.holds {
                start
            } else {
                crossing(ends[0], ends[1], |t| Ok::<_, StepError>(judged(beyond(argument(step, t, b)?))))?
            };
            let w = BESIDE * (limit - start);
            if at - 2.0 * w < start || at + 2.0 * w > limit {
                continue;
            }
            let mut rate = |step: &mut MechanismStep<'_, '_>, from: f64| {
                argument(step, from, a)?;
                argument(step, from + w, b)?;
                Ok::<Interval, StepError>(law.enclose(motion, a, b).d)
            };
            let [before, after] = [rate(step, at - 2.0 * w)?, rate(step, at + w)?];
            let jump = (after.lo - before.hi).max(before.lo - after.hi);
            let (positions, velocities) = (DENSE * atol, DENSE * (atol + rtol * law.size(b)));
            let moved = laws.noise_of_value(laws.law_of(i), b, scratch, [positions, 0.0]);
            if jump > moved / positions * velocities && !kinked.iter().any(|(title, _)| *title == law.title) {
                kinked.push((law.title.clone(), at));
            }
        }
        Ok(())
    }

    /// Facts for the report.
    pub fn notes(&self) -> Vec<String> {
        let passed = self.passed.iter().map(|(title, t)| {
            format!(
                "{title}: a step passes over a part of its expression at t = {t} s, and perhaps again later; the run is not certified; \
                 give a smaller `step`, or an integrator with adaptive steps"
            )
        });
        let kinked = self.kinked.iter().map(|(title, t)| {
            format!(
                "{title}: its expression has a kink, at which velocities jump without an impulse, first at t = {t} s; the run is not certified; \
                 round the kink off (a table: `interpolation = \"cubic\"`)"
            )
        });
        let own = self.windows.given_up.iter().map(|(law, t)| (self.title(*law), *t));
        let given_up = self.left.iter().cloned().chain(own).map(|(title, t)| {
            format!(
                "{title}: its expression could not be bounded over some steps, first at t = {t} s: a short part of it may be passed over \
                 there; a smaller `step` settles it"
            )
        });
        passed.chain(kinked).chain(given_up).collect()
    }

    /// Returns whether any constraint that acts has an expression to be searched.
    fn update(&mut self, system: &Arc<System>) -> bool {
        if !self.system.as_ref().is_some_and(|known| Arc::ptr_eq(known, system)) {
            // numbers are those of another list
            let given_up = std::mem::take(&mut self.windows.given_up);
            let given_up: Vec<_> = given_up.iter().map(|(law, t)| (self.title(*law), *t)).collect();
            self.left.extend(given_up);
            self.laws = Laws::rows(system);
            self.windows = Windows::default();
            self.system = Some(system.clone());
        }
        self.laws.is_some()
    }

    /// The title of a constraint, such as "constraint `cam`".
    fn title(&self, law: usize) -> String {
        self.laws.as_ref().map_or_else(String::new, |laws| laws.list()[law].title.clone())
    }

    /// The first constraint that leaves its band before `limit`, in a step to relative and absolute `tolerances`.
    fn first(
        &mut self,
        step: &mut MechanismStep<'_, '_>,
        limit: f64,
        tolerances: [f64; 2],
    ) -> Result<Option<Feature>, StepError> {
        let system = step.ode.problem().system().clone();
        if !self.update(&system) {
            return Ok(None);
        }
        let Features { laws: Some(laws), bands, windows, frames, scratch, .. } = self else {
            return Ok(None);
        };
        let (t, near) = (step.info.t, NEAR * f64::EPSILON * step.info.t.abs().max(step.end.t.abs()));
        if !(limit - t > near) {
            return Ok(None);
        }
        windows.begin();
        let mut ends = std::mem::take(frames);
        for (frame, at) in ends.iter_mut().zip([t, limit]) {
            let (ode, s) = step.at(at)?;
            ode.problem_mut().frame(s, frame);
        }
        bands.clear();
        for i in 0..laws.list().len() {
            bands.push(band(laws, i, &ends, scratch, limit - t, tolerances));
        }
        let off = Off { laws, bands };
        let judged = |margin: f64| ConditionValue { holds: margin > 0.0, margin };
        let mut first: Option<Feature> = None;
        let [start, frame] = &mut ends;
        for i in 0..laws.list().len() {
            let end = first.as_ref().map_or(limit, |found| found.at);
            let mut at = |step: &mut MechanismStep<'_, '_>, t: f64| -> Result<ConditionValue, StepError> {
                let (ode, s) = step.at(t)?;
                ode.problem_mut().frame(s, frame);
                Ok(judged(off.margin(i, frame)))
            };
            let points: [ConditionSample; 2] = [(t, judged(off.margin(i, start))), (end, at(step, end)?)];
            // a start that is off is not for a step to mend
            if points[0].1.holds {
                continue;
            }
            let margin = Margin { number: i, sign: 1.0, rounding: 0.1 * off.bands[i] };
            if windows.is_clear(step, &off, margin, points)? {
                continue;
            }
            windows.begin_search();
            let found = windows.first(step, &off, margin, points, &mut at)?;
            let Some([a, b]) = found else { continue };
            let at = crossing(a, b, |t| at(step, t))?;
            if at - t > near && at < end - near {
                first = Some(Feature { law: i, at });
            }
        }
        self.frames = ends;
        Ok(first)
    }
}

/// Returns how far expression `i` may be off along a step of length `h`: what positions and velocities that are off by [`DENSE`] tolerances make of it.
fn band(
    laws: &Laws,
    i: usize,
    ends: &[BodiesAtInstant; 2],
    scratch: &mut BodiesAtInstant,
    h: f64,
    [rtol, atol]: [f64; 2],
) -> f64 {
    let law: &Law = &laws.list()[i];
    let size = ends.iter().map(|frame| law.size(frame)).fold(0.0, f64::max);
    let velocities = DENSE * (atol + rtol * size);
    let positions = DENSE * atol + 0.1 * h * velocities;
    let of = |frame: &BodiesAtInstant, scratch: &mut BodiesAtInstant| {
        laws.noise_of_value(i, frame, scratch, [positions, velocities])
    };
    let band = of(&ends[0], scratch).min(of(&ends[1], scratch));
    // rounding of what is read
    if band.is_finite() { band.max(f64::EPSILON) } else { f64::INFINITY }
}
