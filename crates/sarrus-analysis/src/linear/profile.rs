//! A number along a path of statics, resolved from its start on: a force expression, or the gap of a contact.
//!
//! The path is halved, the earlier half first, until bounds of the number between two samples say that nothing is hidden between them. It
//! counts as resolved up to the last sample up to which the number is what a step of Newton's iteration may take it for; what that is,
//! the number itself says.

use sarrus_system::motion::BodiesAtInstant;

/// Halvings at which a piece of a path is a position.
const DEEPEST: usize = 30;
/// Pieces of a path that are halved for one number, at most; a step ends there, unless it would be shorter than this part of the path.
const MOST: usize = 1000;
const SHORTEST: f64 = 1e-2;

/// A sample: the part of the path, and the number there.
pub(super) type PathSample = (f64, f64);

/// A number with bounds along a path.
pub(super) trait PathProfile {
    /// The number in a frame.
    fn value(&self, frame: &BodiesAtInstant) -> f64;

    /// The frame of a part of the path.
    fn part(&self, s: f64, frame: &mut BodiesAtInstant);

    /// Decides whether nothing is hidden between two frames with these numbers.
    fn is_fine(&self, frames: [&BodiesAtInstant; 2], values: [f64; 2]) -> bool;

    /// Returns whether a step may lead to `last` over what the samples before it show, of which the first is the start.
    fn may_continue_to(&self, before: &[PathSample], last: PathSample) -> bool;

    /// Halvings of the path, at most.
    fn deepest(&self) -> usize {
        DEEPEST
    }
}

/// Resolves numbers along paths.
#[derive(Default)]
pub(super) struct Scan {
    frames: Vec<BodiesAtInstant>,
    samples: Vec<PathSample>,
    halved: usize,
    /// True if too many halvings of the last path have left a piece of it untold.
    pub gave_up: bool,
}

impl Scan {
    /// The part of the path between two frames up to which it is resolved, 1 where it is so as a whole; never 0.
    pub fn share(&mut self, profile: &impl PathProfile, [a, b]: [&BodiesAtInstant; 2]) -> f64 {
        (self.halved, self.gave_up) = (0, false);
        let values = [a, b].map(|frame| profile.value(frame));
        if profile.is_fine([a, b], values) && profile.may_continue_to(&[(a.t, values[0])], (b.t, values[1])) {
            return 1.0;
        }
        self.frames.resize_with(DEEPEST + 2, BodiesAtInstant::default);
        self.frames[0].copy_from(a);
        self.frames[1].copy_from(b);
        self.samples.clear();
        self.samples.push((a.t, values[0]));
        if self.pieces(profile, [0, 1], values, 0) {
            return 1.0;
        }
        self.samples.last().map_or(1.0, |last| last.0)
    }

    /// Adds samples up to the second frame; false where a step may not lead to one of them.
    fn pieces(
        &mut self,
        profile: &impl PathProfile,
        [a, b]: [usize; 2],
        values: [f64; 2],
        depth: usize,
    ) -> bool {
        let [from, to] = [self.frames[a].t, self.frames[b].t];
        let fine = profile.is_fine([&self.frames[a], &self.frames[b]], values);
        let exhausted = !fine && self.halved >= MOST;
        if exhausted && from >= SHORTEST {
            return false;
        }
        self.gave_up |= exhausted;
        if fine || exhausted || depth >= profile.deepest().min(DEEPEST) {
            let last = (to, values[1]);
            // the first piece has no sample within, and a step leads at least so far
            let may_continue = self.samples.len() == 1 || profile.may_continue_to(&self.samples, last);
            if may_continue {
                self.samples.push(last);
            }
            return may_continue;
        }
        self.halved += 1;
        let middle = depth + 2;
        profile.part(0.5 * (from + to), &mut self.frames[middle]);
        let value = profile.value(&self.frames[middle]);
        self.pieces(profile, [a, middle], [values[0], value], depth + 1)
            && self.pieces(profile, [middle, b], [value, values[1]], depth + 1)
    }
}
