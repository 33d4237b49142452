//! Contacts that close and open within a step of an adaptive integrator.
//!
//! The force of a contact begins with a kink or a jump: a step over it loses the order of the method, and one that is long beside
//! the contact may not see it at all. So the first touch inside a step is bounded from below ([`super::advance`]), and the step ends
//! there. Pairs that are open at its start bear nothing in it, so that what stages find beyond the touch does not spoil the motion up
//! to it. Places of pairs that touch are sampled inside the step too, and it ends where one of them closes or opens, located as events
//! are.
//!
//! A bristle that slides and turns back is met likewise: from there on it sticks.
//!
//! Steps of fixed size, and those with more than [`MOST_PLACES`] pairs in play, end at a touch only if they would pass over it: where
//! the surfaces are apart again, or deep in each other, at the end. Else the error control finds the steps. No step is longer than
//! what touches takes to get through, by the speeds and the thickness of both, and in a crowd what may touch. Where places close
//! and open [`MOST`] times within a thousandth of the run, they are no longer located, and the report says so.

use super::advance::Ahead;
use super::chatter::{Firings, MOST};
use super::search::{Point, crossing, may_reach, peak};
use sarrus_solve::integrators::Taken;
use sarrus_solve::{Dynamics, State, StepError};
use sarrus_system::Mechanism;
use sarrus_system::conditions::Verdict;
use sarrus_system::contact::TURN;

/// Places up to which onsets are located.
const MOST_PLACES: usize = 64;
/// A step of a crowd that is shorter than this part of the time in which anything gets through another cannot pass over a contact.
const BRIEF: f64 = 0.1;
/// Where in a step gaps are looked at, as parts of it.
const PLACES: [f64; 8] = [0.0, 1e-3, 0.2, 0.4, 0.6, 0.8, 0.999, 1.0];

type Gaps = Vec<((u32, u32, u32, u32), f64)>;

/// Watches the gaps of a run.
#[derive(Clone)]
pub(crate) struct Onsets {
    /// Gaps by place of the step.
    looks: Vec<(f64, Gaps)>,
    scratch: Gaps,
    firings: Firings,
    /// When the step was cut last.
    cut_at: f64,
    met: bool,
    /// Pairs that are looked at, and when the next step has to end \[s\].
    pairs: usize,
    until: f64,
    /// How long nothing gets through another from the start of the step \[s\].
    longest: f64,
    /// The shortest step that is asked for \[s\].
    least: f64,
    /// Since when places were too many \[s\].
    crowded: Option<f64>,
    /// Since when they chattered \[s\].
    chattered: Option<f64>,
    /// Whether steps adapt to errors.
    adaptive: bool,
    /// Overlaps at the start.
    overlaps: Vec<String>,
}

impl Onsets {
    /// For a run over `span` \[s\].
    pub fn new(span: (f64, f64), adaptive: bool) -> Onsets {
        Onsets {
            adaptive,
            overlaps: Vec::new(),
            looks: PLACES.iter().map(|_| (0.0, Vec::new())).collect(),
            scratch: Vec::new(),
            firings: Firings::new(1, span),
            cut_at: f64::NEG_INFINITY,
            met: false,
            pairs: 0,
            until: f64::INFINITY,
            longest: 0.0,
            least: 1e-9 * (span.1 - span.0),
            crowded: None,
            chattered: None,
        }
    }

    /// The step is cut where a place has closed or opened.
    pub fn take(&mut self) {
        self.met = true;
        if self.firings.chatter(0, self.cut_at) {
            self.chattered = Some(self.cut_at);
        }
    }

    /// Whether the last leg ended for it; asked once.
    pub fn met(&mut self) -> bool {
        std::mem::take(&mut self.met)
    }

    /// Looks ahead from an accepted step: the next one ends before anything that touches, or in a crowd may touch, is through.
    pub fn look_ahead(&mut self, mechanism: &mut Mechanism, s: &State) {
        let (pairs, longest) = mechanism.contact_crowd(s, MOST_PLACES);
        self.pairs = pairs;
        self.longest = longest;
        self.until = s.t + longest.max(self.least);
        // smooth up to the touch that ends the step
        mechanism.lock_contacts(self.locates());
    }

    /// Whether every onset ends a step.
    pub fn locates(&self) -> bool {
        self.adaptive && self.pairs <= MOST_PLACES && self.chattered.is_none()
    }

    /// Whether a step over `h` that ends at `end` is too short for any of a crowd to get far into another, by the speeds at both ends.
    pub fn is_brief(&self, mechanism: &mut Mechanism, h: f64, end: &State) -> bool {
        if self.pairs <= MOST_PLACES || h > BRIEF * self.longest {
            return false;
        }
        let (pairs, longest) = mechanism.contact_crowd(end, MOST_PLACES);
        pairs > MOST_PLACES && h <= BRIEF * longest
    }

    /// When the next step has to end \[s\].
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
                "more than {MOST_PLACES} places were in play from t = {t} on: while they are, onsets are not located, only stepped \
                 over with the error control"
            )),
            _ => None,
        }
    }

    /// Looks into a step whose gaps are bounded by `ahead`; returns the time at which it is to be cut.
    pub fn cut(
        &mut self,
        step: &mut Taken<'_, Dynamics<'_, Mechanism>>,
        ahead: Ahead,
    ) -> Result<Option<f64>, StepError> {
        let touch = match ahead {
            Ahead::Met { soft: Some(t), .. } | Ahead::Until(t) => Some(t),
            _ => None,
        };
        let change = if ahead == Ahead::Clear { None } else { self.change(step)? };
        let first = touch.into_iter().chain(change).reduce(f64::min).filter(|first| *first < step.end.t);
        self.cut_at = first.unwrap_or(self.cut_at);
        Ok(first)
    }

    /// The first time at which a sampled place closes or opens.
    fn change(&mut self, step: &mut Taken<'_, Dynamics<'_, Mechanism>>) -> Result<Option<f64>, StepError> {
        let (t, h) = (step.info.t, step.end.t - step.info.t);
        if !self.locates() {
            if self.adaptive {
                self.crowded.get_or_insert(t);
            }
            return Ok(None);
        }
        for ((time, gaps), place) in self.looks.iter_mut().zip(PLACES) {
            *time = if place == 1.0 { step.end.t } else { t + place * h };
            let (ode, s) = step.at(*time)?;
            ode.problem_mut().contact_gaps(s, gaps);
            if gaps.len() > MOST_PLACES {
                self.crowded.get_or_insert(t);
                return Ok(None);
            }
        }
        let mut first: Option<f64> = None;
        for &(key, start) in &self.looks[0].1 {
            let mut closed = start < 0.0;
            // a slip that turns back is met once; what it does then is the bristle's
            let turns = key.3 & TURN != 0;
            if turns && closed {
                continue;
            }
            for k in 1..PLACES.len() {
                // whether the place has changed, and how far it is from that
                let verdict = |gap: f64| {
                    let margin = if closed { gap } else { -gap };
                    Verdict { holds: (gap < 0.0) != closed, margin }
                };
                let look = |k: usize| -> Option<Point> {
                    let (time, gaps) = &self.looks[k];
                    let i = gaps.binary_search_by_key(&key, |(key, _)| *key).ok()?;
                    Some((*time, verdict(gaps[i].1)))
                };
                let scratch = &mut self.scratch;
                let mut judge = |t: f64| -> Result<Verdict, StepError> {
                    let (ode, s) = step.at(t)?;
                    ode.problem_mut().contact_gaps(s, scratch);
                    let i = scratch.binary_search_by_key(&key, |(key, _)| *key);
                    Ok(i.map_or(Verdict { holds: false, margin: f64::NEG_INFINITY }, |i| {
                        verdict(scratch[i].1)
                    }))
                };
                let (Some(before), Some(here)) = (look(k - 1), look(k)) else { break };
                let found = if here.1.holds {
                    Some(crossing(before, here, &mut judge)?)
                } else if let Some(after) = (k + 1 < PLACES.len()).then(|| look(k + 1)).flatten()
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
                        if turns {
                            break;
                        }
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
