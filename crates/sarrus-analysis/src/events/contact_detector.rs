//! Contacts that close and open within a step of an adaptive integrator.
//!
//! The force of a contact begins with a kink or a jump: a step over it loses the order of the method, and one that is long beside
//! the contact may not see it at all. So the first touch inside a step is bounded from below ([`super::advance`]), and the step ends
//! there. Pairs that are open at its start bear nothing in it, so that what stages find beyond the touch does not spoil the motion up
//! to it. Points of pairs that touch are sampled inside the step too, and it ends where one of them closes or opens, located as events
//! are.
//!
//! A step also ends where a bristle breaks loose, and where one that slides sticks again.
//!
//! Steps of fixed size, and those with more than [`MAX_CHECKS`] pairs in play, end at a touch only if they would pass over it: where
//! the surfaces are apart again, or deep in each other, at the end. Else the error control finds the steps. No step is longer than
//! what touches takes to get through, by the speeds and the thickness of both, and in a crowd what may touch. Where points close
//! and open [`MOST`] times within a thousandth of the run, they are no longer located, and the report says so.

use super::advance::Ahead;
use super::chatter::{Firings, MOST};
use super::search::{ConditionSample, crossing, may_reach, peak};
use sarrus_solve::integrators::TakenStep;
use sarrus_solve::{Dynamics, State, StepError};
use sarrus_system::Mechanism;
use sarrus_system::conditions::ConditionValue;
use sarrus_system::contact::{Halfway, SLACK};

/// Points up to which onsets are located.
const MAX_CHECKS: usize = 64;
/// A step of a crowd that is shorter than this part of the time in which anything gets through another cannot pass over a contact.
const BRIEF: f64 = 0.1;
/// Marks where in a step gaps are checked, as parts of it.
const FRACTIONS: [f64; 8] = [0.0, 1e-3, 0.2, 0.4, 0.6, 0.8, 0.999, 1.0];

type PairKey = (u32, u32, u32, u32);
type PairGaps = Vec<(PairKey, f64)>;

/// Watches the gaps of a run.
#[derive(Clone)]
pub(crate) struct ContactDetector {
    /// Gaps by index of the step.
    samples: Vec<(f64, PairGaps)>,
    scratch: PairGaps,
    firings: Firings,
    /// When the step was cut last, and whether that was for the sake of accuracy, or of a bound alone.
    cut_at: f64,
    shortened: bool,
    met: bool,
    /// Pairs that are checked, and when the next step has to end \[s\].
    pairs: usize,
    until: f64,
    /// Duration for which nothing gets through another from the start of the step \[s\].
    longest: f64,
    /// The shortest step that is asked for \[s\].
    least: f64,
    /// Since when points were too many \[s\].
    crowded: Option<f64>,
    /// Since when they chattered \[s\].
    chattered: Option<f64>,
    /// True if steps adapt to errors.
    adaptive: bool,
    /// Overlaps at the start.
    overlaps: Vec<String>,
    /// Tolerances of a step: relative, absolute.
    tolerances: [f64; 2],
    halfway: Halfway,
    /// The longest step in which bristles are followed as the tolerances ask \[s\].
    stride: f64,
}

impl ContactDetector {
    /// For a run over `span` \[s\] with steps to relative and absolute `tolerances`.
    pub fn new(span: (f64, f64), adaptive: bool, tolerances: [f64; 2]) -> ContactDetector {
        ContactDetector {
            adaptive,
            overlaps: Vec::new(),
            tolerances,
            halfway: Halfway::default(),
            stride: f64::INFINITY,
            samples: FRACTIONS.iter().map(|_| (0.0, Vec::new())).collect(),
            scratch: Vec::new(),
            firings: Firings::new(1, span),
            cut_at: f64::NEG_INFINITY,
            shortened: false,
            met: false,
            pairs: 0,
            until: f64::INFINITY,
            longest: 0.0,
            least: 1e-9 * (span.1 - span.0),
            crowded: None,
            chattered: None,
        }
    }

    /// The step is cut where a point has closed or opened.
    pub fn accept_cut(&mut self) {
        self.met = true;
        if !self.shortened && self.firings.chatter(0, self.cut_at) {
            self.chattered = Some(self.cut_at);
        }
    }

    /// Returns whether the step is cut for the sake of accuracy, or of a bound, alone.
    pub fn is_shortened(&self) -> bool {
        self.shortened
    }

    /// Returns whether the last segment ended for it; asked once.
    pub fn met(&mut self) -> bool {
        std::mem::take(&mut self.met)
    }

    /// Looks ahead from an accepted step: the next one ends before anything that touches, or in a crowd may touch, is through.
    pub fn check_ahead(&mut self, mechanism: &mut Mechanism, s: &State) {
        let (pairs, longest) = mechanism.contact_crowd(s, MAX_CHECKS);
        self.pairs = pairs;
        self.longest = longest;
        self.until = s.t + longest.min(self.stride).max(self.least);
        // smooth up to the touch that ends the step
        mechanism.lock_contacts(self.locates());
    }

    /// Returns whether every onset ends a step.
    pub fn locates(&self) -> bool {
        self.adaptive && self.pairs <= MAX_CHECKS && self.chattered.is_none()
    }

    /// Returns whether a step over `h` that ends at `end` is too short for any of a crowd to get far into another, by the speeds at both ends.
    pub fn is_brief(&self, mechanism: &mut Mechanism, h: f64, end: &State) -> bool {
        if self.pairs <= MAX_CHECKS || h > BRIEF * self.longest {
            return false;
        }
        let (pairs, longest) = mechanism.contact_crowd(end, MAX_CHECKS);
        pairs > MAX_CHECKS && h <= BRIEF * longest
    }

    /// Returns when the next step has to end \[s\].
    pub fn until(&self) -> f64 {
        self.until
    }

    /// Notes what overlaps at `s`, where the run starts.
    pub fn note_overlaps(&mut self, mechanism: &mut Mechanism, s: &State) {
        let system = mechanism.system().clone();
        mechanism.contact_overlaps(s, |i, depth, energy| {
            let entry = &system.contacts[i].contact;
            let stored = if entry.rigid.is_some() {
                "rigid bodies cannot overlap: the overlap stays until they part".to_string()
            } else {
                format!("{energy:.4e} J are stored in it, and come out as motion")
            };
            self.overlaps.push(format!(
                "contact `{}` overlaps by {depth:.4e} m at the start: {stored}; move the bodies apart unless this is meant",
                entry.name
            ));
        });
    }

    /// Facts for the report.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        self.overlaps.iter().cloned().chain(self.note())
    }

    fn note(&self) -> Option<String> {
        match (self.chattered, self.crowded) {
            (Some(t), _) => Some(format!(
                "contacts closed and opened {MOST} times within a thousandth of the run: from t = {t} on their onsets are not \
                 located, only stepped over with the error control"
            )),
            (None, Some(t)) => Some(format!(
                "more than {MAX_CHECKS} places were in play from t = {t} on: while they are, onsets are not located, only stepped \
                 over with the error control"
            )),
            _ => None,
        }
    }

    /// Looks into a step whose gaps are bounded by `ahead`; returns the time at which it is to be cut.
    pub fn cut(
        &mut self,
        step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>,
        ahead: Ahead,
    ) -> Result<Option<f64>, StepError> {
        let touch = match ahead {
            Ahead::Met { soft: Some(t), .. } | Ahead::Until(t) => Some(t),
            _ => None,
        };
        let change = if ahead == Ahead::Clear { None } else { self.change(step)? };
        let first = touch.into_iter().chain(change).reduce(f64::min).filter(|first| *first < step.end.t);
        self.stride = f64::INFINITY;
        let shorter = if ahead != Ahead::Clear && self.locates() { self.shorten(step, first)? } else { None };
        // where a bound ends it nothing touches
        self.shortened = shorter.is_some() || matches!(ahead, Ahead::Until(t) if first == Some(t));
        let first = shorter.or(first);
        self.cut_at = first.unwrap_or(self.cut_at);
        Ok(first)
    }

    /// Returns where a step that is to end at `first`, or as it is, has to end for bristles to be followed as closely as the tolerances ask, if
    /// that is earlier. Their stretch at the end is compared with that of two halves, which differs with the fourth power of the step.
    fn shorten(
        &mut self,
        step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>,
        first: Option<f64>,
    ) -> Result<Option<f64>, StepError> {
        let (t, end) = (step.info.t, first.unwrap_or(step.end.t));
        let h = end - t;
        let mut halfway = std::mem::take(&mut self.halfway);
        let (ode, s) = step.at(t + 0.5 * h)?;
        ode.problem_mut().note_bristles(s, &mut halfway);
        let mut error = None;
        if !halfway.is_empty() {
            let (ode, s) = step.at(end)?;
            error = Some(ode.problem_mut().bristle_error(s, &halfway, h, self.tolerances));
        }
        self.halfway = halfway;
        let Some(error) = error else { return Ok(None) };
        let share = 0.9 * error.max(1e-6).powf(-0.25);
        self.stride = (h * share.clamp(0.2, 2.0)).max(self.least);
        Ok((error > 1.0 && self.stride < h).then_some(t + self.stride))
    }

    /// The first time at which a sampled point closes or opens, or its bristle breaks loose or sticks again.
    fn change(
        &mut self,
        step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>,
    ) -> Result<Option<f64>, StepError> {
        let (t, h) = (step.info.t, step.end.t - step.info.t);
        if !self.locates() {
            if self.adaptive {
                self.crowded.get_or_insert(t);
            }
            return Ok(None);
        }
        for ((time, gaps), fraction) in self.samples.iter_mut().zip(FRACTIONS) {
            *time = if fraction == 1.0 { step.end.t } else { t + fraction * h };
            let (ode, s) = step.at(*time)?;
            ode.problem_mut().contact_gaps(s, gaps);
            if gaps.len() > MAX_CHECKS {
                self.crowded.get_or_insert(t);
                return Ok(None);
            }
        }
        let mut first: Option<f64> = None;
        for &(key, start) in &self.samples[0].1 {
            let mut closed = start < 0.0;
            if key.3 & SLACK != 0 {
                let found = slip(&self.samples, key, &mut self.scratch, step)?;
                first = first.into_iter().chain(found.filter(|found| *found > t + 1e-9 * h)).reduce(f64::min);
                continue;
            }
            for k in 1..FRACTIONS.len() {
                // whether the point has changed, and how far it is from that
                let verdict = |gap: f64| {
                    let margin = if closed { gap } else { -gap };
                    ConditionValue { holds: (gap < 0.0) != closed, margin }
                };
                let check = |k: usize| -> Option<ConditionSample> {
                    let (time, gaps) = &self.samples[k];
                    let i = gaps.binary_search_by_key(&key, |(key, _)| *key).ok()?;
                    Some((*time, verdict(gaps[i].1)))
                };
                let scratch = &mut self.scratch;
                let mut judge = |t: f64| -> Result<ConditionValue, StepError> {
                    let (ode, s) = step.at(t)?;
                    ode.problem_mut().contact_gaps(s, scratch);
                    let i = scratch.binary_search_by_key(&key, |(key, _)| *key);
                    Ok(i.map_or(ConditionValue { holds: false, margin: f64::NEG_INFINITY }, |i| {
                        verdict(scratch[i].1)
                    }))
                };
                let (Some(before), Some(here)) = (check(k - 1), check(k)) else { break };
                let found = if here.1.holds {
                    Some(crossing(before, here, &mut judge)?)
                } else if let Some(after) = (k + 1 < FRACTIONS.len()).then(|| check(k + 1)).flatten()
                    && before.1.margin <= here.1.margin
                    && here.1.margin > after.1.margin
                    && !after.1.holds
                    && may_reach(before, here, after)
                    && let Some(held) = peak(before.0, here, after.0, &mut judge)?
                {
                    let from = if held.0 > here.0 { here } else { before };
                    Some(crossing(from, held, &mut judge)?)
                } else {
                    None
                };
                if let Some(found) = found {
                    // what changes right where the step began is past it, and may change back
                    if found <= t + 1e-9 * h {
                        closed = !closed;
                        continue;
                    }
                    first = Some(first.map_or(found, |first| first.min(found)));
                    break;
                }
            }
        }
        Ok(first)
    }
}

/// When a bristle whose slack was sampled breaks loose or, where it slides, sticks again: there its slack is least.
fn slip(
    samples: &[(f64, PairGaps)],
    key: PairKey,
    scratch: &mut PairGaps,
    step: &mut TakenStep<'_, Dynamics<'_, Mechanism>>,
) -> Result<Option<f64>, StepError> {
    let of = |gaps: &PairGaps| gaps.binary_search_by_key(&key, |(key, _)| *key).ok().map(|i| gaps[i].1);
    let mut judge = |t: f64| -> Result<ConditionValue, StepError> {
        let (ode, s) = step.at(t)?;
        ode.problem_mut().contact_gaps(s, scratch);
        let margin = -of(scratch).unwrap_or(f64::INFINITY);
        Ok(ConditionValue { holds: margin > 0.0, margin })
    };
    let slack = |k: usize| samples.get(k).and_then(|sample| of(&sample.1)).filter(|slack| slack.is_finite());
    let mut slides = slack(1).is_some_and(|slack| slack < 0.0);
    for k in 1..samples.len() {
        let (before, Some(here)) = (slack(k - 1).unwrap_or(0.0), slack(k)) else { break };
        let point =
            |k: usize, slack: f64| (samples[k].0, ConditionValue { holds: slack < 0.0, margin: -slack });
        // one that has no slack from the start on slides since then
        if !slides && here < 0.0 && before > 0.0 {
            return crossing(point(k - 1, before), point(k, here), judge).map(Some);
        }
        if slides && here > before {
            // the condition never holds: the search continues to the top
            let mut top = point(k - 1, before);
            let mut least = |t: f64| -> Result<ConditionValue, StepError> {
                let verdict = ConditionValue { holds: false, ..judge(t)? };
                if verdict.margin > top.1.margin {
                    top = (t, verdict);
                }
                Ok(verdict)
            };
            peak(samples[k.max(2) - 2].0, point(k - 1, before), samples[k].0, &mut least)?;
            return Ok(Some(top.0));
        }
        slides |= here < 0.0;
    }
    Ok(None)
}
