//! Describes what a step of statics could pass over: short features of force expressions, and thin shapes that yield.
//!
//! A step is judged by forces at its ends. So its path is looked into before, with bounds over all of it ([`Profile`]), and the step is shortened to
//! where these are resolved:
//!
//! - a force expression may not leave the range of its values at both ends, nor be far from the straight line between them, so that a step ends
//!   at a peak, and at the foot of a steep flank;
//! - surfaces that are open may not close and open again, those that are closed not get deeper and back, and none by more than a part of
//!   their thickness at once; a gap given by an expression is bounded like a force.
//!
//! What is below a millionth of the forces on a body is not searched for. Cost: nothing without such forces and contacts; else a few frames of all bodies and
//! the bounds of each expression and of the pairs whose swept boxes meet, and some more where these are halved.

use super::profile::{PathProfile, PathSample, Scan};
use super::rest::force_sizes;
use sarrus_math::Enclosure;
use sarrus_solve::State;
use sarrus_system::contact::sweep::{GapSource, SHALLOW, Sweep};
use sarrus_system::laws::Law;
use sarrus_system::motion::{BodiesAtInstant, MotionBounds};
use sarrus_system::{Laws, Mechanism, System};

/// Order of the polynomials along a path.
const STRAIGHT: u32 = 1;
/// Peaks that are not searched for, relative to the forces on a body.
const TINY: f64 = 1e-6;
/// Deviation from a straight line that is none, relative to these forces, and to the change from one end to the other.
const COARSE: f64 = 1e-2;
const BENT: f64 = 0.5;
/// Halvings of a path along which a function without bounds is sampled.
const SAMPLED: usize = 5;
/// An overlap that counts as a force of an expression, relative to the size of the mechanism.
const OVERLAP: f64 = 1e-3;
/// Describes how much deeper than at both ends closed surfaces may get on the way, over their thickness.
const DEEPER: f64 = 1e-3;
/// Defines what is left of a thickness counts as at least this part of it.
const LEFT: f64 = 0.1;
/// Change of an expression that is a jump, relative to the forces on a body.
const JUMP: f64 = 1e-3;

/// Describes how far a step may lead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PathLimit {
    /// The part of it that is resolved; 1 where all is.
    pub share: f64,
    /// True if a rigid contact is closed there.
    pub rigid: bool,
}

const NO_LIMIT: PathLimit = PathLimit { share: 1.0, rigid: false };

/// Looks into paths.
pub(super) struct Paths {
    laws: Option<Laws>,
    motion: MotionBounds,
    sweep: Option<Sweep>,
    ends: [BodiesAtInstant; 2],
    scan: Scan,
    /// Names of what could not be bounded.
    unbounded: Vec<String>,
}

impl Paths {
    /// For `system`, where anything could be passed over.
    pub fn new(system: &System) -> Option<Paths> {
        let laws = Laws::all(system);
        let sweep = (!system.contacts.is_empty()).then(|| Sweep::new(system, STRAIGHT));
        (laws.is_some() || sweep.is_some()).then(|| Paths {
            laws,
            motion: MotionBounds::of(system, STRAIGHT),
            sweep,
            ends: Default::default(),
            scan: Scan::default(),
            unbounded: Vec::new(),
        })
    }

    /// Returns how far a step from one position may lead to another.
    pub fn limit(&mut self, m: &mut Mechanism, from: &State, to: &State) -> PathLimit {
        let system = m.system().clone();
        m.contact_frame(from, &mut self.ends[0]);
        m.contact_frame(to, &mut self.ends[1]);
        let mut limit = NO_LIMIT;
        self.limit_by_contacts(&system, size(from), &mut limit);
        if self.laws.is_some() {
            let [sizes, _] = force_sizes(m, from);
            self.limit_by_laws(&system, &sizes, &mut limit);
        }
        limit
    }

    fn limit_by_laws(&mut self, system: &System, sizes: &[f64], limit: &mut PathLimit) {
        let Paths { laws: Some(laws), motion, ends: [from, to], scan, unbounded, .. } = self else { return };
        motion.along(system, from, to);
        let motion = &*motion;
        let ends = motion.ends();
        for law in laws.list().iter().filter(|law| law.acts(system)) {
            let profile = Bounded {
                value: |frame: &BodiesAtInstant| law.value(frame),
                bound: |a: &BodiesAtInstant, b: &BodiesAtInstant| law.enclose(motion, a, b),
                part: |s: f64, frame: &mut BodiesAtInstant| motion.part(system, s, frame),
                base: scale(law, system, sizes),
                deepest: if law.bounded { usize::MAX } else { SAMPLED },
            };
            let share = scan.share(&profile, ends);
            if share < limit.share {
                *limit = PathLimit { share, rigid: false };
            }
            if (!law.bounded || scan.gave_up) && !unbounded.contains(&law.title) {
                unbounded.push(law.title.clone());
            }
        }
    }

    fn limit_by_contacts(&mut self, system: &System, size: f64, limit: &mut PathLimit) {
        let Paths { sweep: Some(sweep), ends: [from, to], scan, unbounded, .. } = self else { return };
        sweep.begin_along(system, from, to);
        let sweep = &*sweep;
        let ends = sweep.ends();
        for i in 0..sweep.meetings() {
            let meeting = sweep.meeting(i);
            let entry = &system.contacts[meeting.contact()];
            if !entry.enabled || sweep.quick(system, meeting, ends[0], ends[1]) > 0.0 {
                continue;
            }
            let gap = sweep.gap(system, meeting, ends[0]);
            let share = match meeting {
                GapSource::Gap(_) => {
                    let profile = Bounded {
                        value: |frame: &BodiesAtInstant| sweep.gap(system, meeting, frame).min(0.0),
                        bound: |a: &BodiesAtInstant, b: &BodiesAtInstant| {
                            sweep.overlap(system, meeting, a, b)
                        },
                        part: |s: f64, frame: &mut BodiesAtInstant| sweep.path().part(system, s, frame),
                        base: OVERLAP * size,
                        deepest: usize::MAX,
                    };
                    scan.share(&profile, ends)
                }
                GapSource::Pair(_) => scan.share(&GapPair::new(sweep, system, meeting, gap), ends),
            };
            let title = || format!("contact `{}`", entry.contact.name);
            if scan.gave_up && !unbounded.contains(&title()) {
                unbounded.push(title());
            }
            if share < limit.share {
                let rigid = entry.contact.rigid.is_some() && {
                    let mut frame = BodiesAtInstant::default();
                    sweep.path().part(system, share, &mut frame);
                    sweep.gap(system, meeting, &frame) < 0.0
                };
                *limit = PathLimit { share, rigid };
            }
        }
    }

    /// The force whose expression jumps most between two positions that are nearly one, if any does.
    pub fn jump(&mut self, m: &mut Mechanism, from: &State, to: &State) -> Option<String> {
        let system = m.system().clone();
        let [sizes, _] = force_sizes(m, from);
        let laws = self.laws.as_ref()?;
        let [a, b] = &mut self.ends;
        m.frame(from, a);
        m.frame(to, b);
        self.motion.along(&system, a, b);
        let [a, b] = self.motion.ends();
        let jumps = laws.list().iter().filter(|law| law.acts(&system)).map(|law| {
            let values = [a, b].map(|frame| law.value(frame));
            let base = values.iter().fold(scale(law, &system, &sizes), |most, x| most.max(x.abs()));
            ((values[1] - values[0]).abs() / base.max(f64::MIN_POSITIVE), law)
        });
        let largest = jumps.max_by(|x, y| x.0.total_cmp(&y.0));
        largest.filter(|(change, _)| *change > JUMP).map(|(_, law)| law.title.clone())
    }

    /// Returns what could not be bounded, in words.
    pub fn note(&self) -> Option<String> {
        let names = &self.unbounded;
        (!names.is_empty()).then(|| {
            format!(
                "{} could not be bounded over some steps to this rest: a short part of it that would hold the mechanism may have been passed \
                 over; a damped run tells",
                names.join(", ")
            )
        })
    }
}

/// The largest of the forces, or of the torques, on bodies of an expression.
fn scale(law: &Law, system: &System, sizes: &[f64]) -> f64 {
    let own = law.ids().map(|id| &system.directory.bodies[id]);
    let own = own.flat_map(|body| &sizes[body.v..body.v + body.kind.nv()]);
    own.fold(0.0_f64, |most, x| most.max(*x))
}

/// The size of a mechanism, or 1 \[m\].
fn size(s: &State) -> f64 {
    s.q.iter().fold(1.0_f64, |a, x| a.max(x.abs()))
}

/// A number with bounds from an enclosure.
struct Bounded<V, B, P> {
    value: V,
    bound: B,
    part: P,
    /// Holds what it is compared with.
    base: f64,
    deepest: usize,
}

impl<V, B, P> Bounded<V, B, P> {
    /// Returns what two values are compared with: a large one at the far end does not hide what is before it.
    fn scale(&self, a: f64, b: f64) -> f64 {
        self.base.max(a.abs().min(b.abs())).max(f64::MIN_POSITIVE)
    }
}

impl<V, B, P> PathProfile for Bounded<V, B, P>
where
    V: Fn(&BodiesAtInstant) -> f64,
    B: Fn(&BodiesAtInstant, &BodiesAtInstant) -> Enclosure,
    P: Fn(f64, &mut BodiesAtInstant),
{
    fn value(&self, frame: &BodiesAtInstant) -> f64 {
        (self.value)(frame)
    }

    fn part(&self, s: f64, frame: &mut BodiesAtInstant) {
        (self.part)(s, frame);
    }

    fn is_fine(&self, [a, b]: [&BodiesAtInstant; 2], values: [f64; 2]) -> bool {
        let (bound, w) = ((self.bound)(a, b), b.t - a.t);
        let [least, most] = [values[0].min(values[1]), values[0].max(values[1])];
        let beyond = (bound.upper(values, w) - most).max(least - bound.lower(values, w));
        let bend = (w * w / 8.0 * bound.dd.magnitude()).min(most - least + beyond);
        let scale = self.scale(values[0], values[1]);
        beyond <= TINY * scale && bend <= COARSE * scale
    }

    fn may_continue_to(&self, before: &[PathSample], (s, value): PathSample) -> bool {
        let Some(&(start, first)) = before.first() else { return true };
        let scale = self.scale(first, value);
        let (least, most) = (first.min(value) - 2.0 * TINY * scale, first.max(value) + 2.0 * TINY * scale);
        let off = (BENT * (value - first).abs()).max(2.0 * COARSE * scale);
        before.iter().all(|&(at, x)| {
            let line = first + (value - first) * (at - start) / (s - start);
            least <= x && x <= most && (x - line).abs() <= off
        })
    }

    fn deepest(&self) -> usize {
        self.deepest
    }
}

/// The gap of two surfaces.
struct GapPair<'a> {
    sweep: &'a Sweep,
    system: &'a System,
    meeting: GapSource,
    /// Least gap to which a step may lead \[m\].
    least: f64,
    /// The same where a step that has to be shortened may end.
    enough: f64,
    /// Describes how much deeper it may be on the way, where it is open at both ends and where it is not \[m\].
    slack: [f64; 2],
}

impl<'a> GapPair<'a> {
    fn new(sweep: &'a Sweep, system: &'a System, meeting: GapSource, gap: f64) -> Self {
        let (depth, thick) = ((-gap).max(0.0), sweep.thickness(meeting));
        let deeper = SHALLOW * (thick - depth).max(LEFT * thick);
        // nothing gets through what has no other side
        let slack = if thick.is_finite() { DEEPER * thick } else { f64::INFINITY };
        let grazing = sweep.grazing(system, meeting);
        let (least, enough) = (-depth - deeper, -depth - 0.5 * deeper);
        GapPair { sweep, system, meeting, least, enough, slack: [grazing, slack.max(grazing)] }
    }

    /// Least gap that may be between these.
    fn floor(&self, a: f64, b: f64) -> f64 {
        let open = a >= 0.0 && b >= 0.0;
        a.min(b).min(0.0) - self.slack[usize::from(!open)]
    }
}

impl PathProfile for GapPair<'_> {
    fn value(&self, frame: &BodiesAtInstant) -> f64 {
        self.sweep.gap(self.system, self.meeting, frame)
    }

    fn part(&self, s: f64, frame: &mut BodiesAtInstant) {
        self.sweep.path().part(self.system, s, frame);
    }

    fn is_fine(&self, [a, b]: [&BodiesAtInstant; 2], gaps: [f64; 2]) -> bool {
        if gaps[1] < self.least {
            return gaps[0] <= self.enough;
        }
        let floor = self.floor(gaps[0], gaps[1]);
        floor == f64::NEG_INFINITY || self.sweep.lower(self.system, self.meeting, a, b, gaps) >= floor
    }

    fn may_continue_to(&self, before: &[PathSample], (_, gap): PathSample) -> bool {
        let Some(&(_, first)) = before.first() else { return true };
        let slack = 2.0 * self.slack[usize::from(first < 0.0 || gap < 0.0)];
        let floor = first.min(gap).min(0.0) - slack;
        gap >= self.least && before.iter().all(|(_, gap)| *gap >= floor)
    }
}
