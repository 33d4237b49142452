//! Describes what is remembered of points that touch, or nearly do.
//!
//! It changes where a step is accepted, and only there, so that a step can be tried again and the equations within it are functions
//! of the state. What was remembered when the step began is kept: the states inside the last step, which samples and events look
//! at, see that.

use super::EntryTally;
use super::bristle::BristleAnchor;
use super::candidates::CandidatePair;
use super::laws::ImpactOnset;

/// A point: entry, its two surfaces, and which of their points.
pub type ContactPointKey = (u32, u32, u32, u32);

/// Holds what is remembered of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Identifies which point.
    pub key: ContactPointKey,
    /// True if it was closed.
    pub closed: bool,
    /// Gap and its rate where the step began at which it was open; none where it was closed or not seen \[m, m/s\]. Of a point that has
    /// closed since, until the end of that step is settled.
    pub open: Option<[f64; 2]>,
    /// Describes how it closed or, while it is open, would close now.
    pub onset: ImpactOnset,
    /// Stretch of a bristle that is a state, world axes \[m\].
    pub stretch: [f64; 3],
    /// The contact point of a bristle that remembers, of a point that was closed or about to close.
    pub anchor: Option<BristleAnchor>,
}

impl Memory {
    /// Nothing is known of the point.
    pub fn unknown(key: ContactPointKey) -> Self {
        Memory {
            key,
            closed: false,
            open: None,
            onset: ImpactOnset::default(),
            stretch: [0.0; 3],
            anchor: None,
        }
    }
}

/// Holds what is remembered at an instant.
#[derive(Clone, Debug, Default)]
pub struct ContactSnapshot {
    /// Of points, in the order of their keys.
    pub memories: Vec<Memory>,
    /// Of entries: what they have done so far.
    pub tallies: Vec<EntryTally>,
    /// Pairs that are open, in ascending order; gaps given by expressions as [`gap_of`].
    pub open: Vec<CandidatePair>,
    /// Pairs that were open at the start of the step and are closed at its end, in ascending order: the step is about to be cut.
    pub crossed: Vec<CandidatePair>,
}

/// Stands for the gap of an entry among pairs.
pub fn gap_of(entry: usize) -> CandidatePair {
    [entry as u32, u32::MAX, u32::MAX]
}

impl ContactSnapshot {
    /// Returns what is remembered of a point.
    pub fn find(&self, key: ContactPointKey) -> Memory {
        match self.memories.binary_search_by(|memory| memory.key.cmp(&key)) {
            Ok(i) => self.memories[i],
            Err(_) => Memory::unknown(key),
        }
    }

    /// Returns whether a pair was open where the step began that this belongs to.
    pub fn was_open(&self, pair: CandidatePair) -> bool {
        self.open.binary_search(&pair).is_ok() || self.crossed.binary_search(&pair).is_ok()
    }

    /// Takes down a pair that is apart by `gap`, after an instant of which `before` is remembered.
    pub fn note_gap(&mut self, pair: CandidatePair, gap: f64, grazing: f64, before: &ContactSnapshot) {
        if gap > grazing {
            self.open.push(pair);
        } else if gap < -grazing && before.was_open(pair) {
            self.crossed.push(pair);
        }
    }

    fn clear(&mut self, entries: usize) {
        self.memories.clear();
        self.open.clear();
        self.crossed.clear();
        self.tallies.clear();
        self.tallies.resize(entries, EntryTally::default());
    }
}

/// All that is remembered, at the last accepted step and at the one before.
#[derive(Clone, Debug, Default)]
pub struct Memories {
    now: ContactSnapshot,
    before: ContactSnapshot,
    fresh: ContactSnapshot,
    /// Time of the accepted step before the last, and of the last \[s\]; none yet.
    times: Option<[f64; 2]>,
}

impl Memories {
    /// Nothing, of so many entries.
    pub fn new(entries: usize) -> Memories {
        let mut memories = Memories::default();
        for part in [&mut memories.now, &mut memories.before, &mut memories.fresh] {
            part.clear(entries);
        }
        memories
    }

    /// Returns what the equations at time `t` see.
    pub fn at(&self, t: f64) -> &ContactSnapshot {
        match self.times {
            Some([_, now]) if t < now => &self.before,
            _ => &self.now,
        }
    }

    /// The last step stays as it is.
    pub fn commit(&mut self) {
        self.now.crossed.clear();
        self.now.memories.iter_mut().filter(|memory| memory.closed).for_each(|memory| memory.open = None);
    }

    /// Returns what entries have done up to the last accepted step.
    pub fn tallies(&self) -> &[EntryTally] {
        &self.now.tallies
    }

    /// Takes over what `next` makes of what was remembered, and of the time that has passed since, at an accepted step at `t`.
    pub fn accept(&mut self, t: f64, next: impl FnOnce(&ContactSnapshot, f64, &mut ContactSnapshot)) {
        let entries = self.now.tallies.len();
        self.fresh.clear(entries);
        match self.times {
            Some([before, now]) if t > now || before == now => {
                next(&self.now, t - now, &mut self.fresh);
                std::mem::swap(&mut self.before, &mut self.now);
                self.times = Some([now, t]);
            }
            Some([before, now]) if t == now => {
                next(&self.now, 0.0, &mut self.fresh);
                self.times = Some([before, now]);
            }
            // taken back: a step that was cut ends earlier
            Some([before, _]) if t >= before => {
                next(&self.before, t - before, &mut self.fresh);
                self.times = Some([before, t]);
            }
            // another run begins
            _ => {
                self.now.clear(entries);
                self.before.clear(entries);
                next(&self.before, 0.0, &mut self.fresh);
                self.times = Some([t, t]);
            }
        }
        self.fresh.memories.sort_unstable_by_key(|memory| memory.key);
        self.fresh.open.sort_unstable();
        self.fresh.crossed.sort_unstable();
        std::mem::swap(&mut self.now, &mut self.fresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(memories: &mut Memories, t: f64) {
        memories.accept(t, |before, passed, now| {
            now.tallies[0] = before.tallies[0];
            now.tallies[0].time += passed;
            now.memories.push(Memory { onset: t.into(), ..Memory::unknown((0, 0, 0, 0)) });
        });
    }

    #[test]
    fn a_step_that_is_cut_counts_once_and_its_inside_sees_its_start() {
        let mut memories = Memories::new(1);
        [0.0, 1.0, 3.0].iter().for_each(|&t| count(&mut memories, t));
        let onset = |memories: &Memories, t| memories.at(t).find((0, 0, 0, 0)).onset.speed;
        assert_eq!([onset(&memories, 2.0), onset(&memories, 3.0)], [1.0, 3.0]);
        count(&mut memories, 2.0);
        assert_eq!(memories.tallies()[0].time, 2.0);
        count(&mut memories, 2.0);
        count(&mut memories, 2.5);
        assert_eq!(memories.tallies()[0].time, 2.5);
        assert_eq!([onset(&memories, 2.25), onset(&memories, 2.5)], [2.0, 2.5]);
    }

    #[test]
    fn another_run_begins_with_nothing() {
        let mut memories = Memories::new(1);
        [0.0, 1.0, 3.0, 0.0].iter().for_each(|&t| count(&mut memories, t));
        assert_eq!(memories.tallies()[0].time, 0.0);
    }
}
