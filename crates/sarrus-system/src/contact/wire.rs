//! Contacts in the equations of a mechanism: forces, energy accounts, what is remembered, what is read.

use super::broad::Broad;
use super::candidates::{CandidatePair, WatchedPairs, margin, pairs};
use super::contact_point::{Act, anchor, approach, impact_onset, remember};
use super::friction::RELAX;
use super::laws::ImpactOnset;
use super::memory::{ContactPointKey, ContactSnapshot, Memories, Memory, gap_of};
use super::pair::{BodyKinematics, ContactPair};
use super::surface::{Touch, thickness, through};
use super::sweep::{grazing, grazing_gap, nearly};
use super::{Contact, ContactElement, ContactSides, EntryTally, gap};
use crate::derive::DerivativeWorkspace;
use crate::load::Wrench;
use crate::system::{FIRST_STATE, System};
use sarrus_model::Space;

/// Marks the slack of a bristle among the gaps.
pub const SLACK: u32 = 1 << 31;

/// Pairs of surfaces up to which all are checked.
const FEW: usize = 64;

/// Bristles half-way in a step.
#[derive(Clone, Debug, Default)]
pub struct Halfway {
    memories: Vec<Memory>,
}

impl Halfway {
    /// Returns whether no point has a bristle.
    pub fn is_empty(&self) -> bool {
        self.memories.is_empty()
    }
}

/// Holds what evaluates contacts, and what it remembers.
#[derive(Clone)]
pub(crate) struct ContactWorkspace {
    /// Pairs to check, in ascending order.
    pub candidates: Vec<CandidatePair>,
    /// Object that finds them, where there are more than a few.
    broad: Option<Broad>,
    /// The thickness of each surface \[m\].
    thick: Vec<f64>,
    /// Identifies which pairs entries watch.
    wanted: WatchedPairs,
    /// Holds what is remembered of their points.
    pub memories: Memories,
    /// True if a pair that is open where a step starts bears nothing in it. The caller that says so finds the first touch and ends the step there.
    pub locks: bool,
    /// Power turned into heat, by entry: along the normal, across it \[W\].
    pub heat: Vec<[f64; 2]>,
    /// Rates of the states of points, laid out as x.
    pub rates: Vec<f64>,
    /// Power of gaps that change with time \[W\].
    pub work: f64,
    /// Gap, force and slip by entry.
    pub readings: Vec<[f64; 3]>,
    J: Vec<f64>,
}

impl ContactWorkspace {
    /// For a system, nothing remembered.
    pub fn new(system: &System) -> ContactWorkspace {
        let mut candidates = Vec::new();
        let count: usize = system.contacts.iter().map(|entry| entry.contact.what.count()).sum();
        let planar = system.directory.space == Space::Planar;
        let broad = (count > FEW).then(|| Broad::new(margin(system), planar));
        if broad.is_none() {
            for (number, entry) in system.contacts.iter().enumerate() {
                if let ContactSides::Surfaces { sides, apart } = &entry.contact.what {
                    pairs(&system.surfaces, number as u32, sides, apart, FEW, &mut candidates);
                }
            }
        }
        let n = system.contacts.len();
        ContactWorkspace {
            candidates,
            broad,
            thick: system.surfaces.iter().map(|own| thickness(&own.surface.geometry, planar)).collect(),
            wanted: WatchedPairs::new(system),
            memories: Memories::new(n),
            locks: false,
            heat: vec![[0.0; 2]; n],
            rates: vec![0.0; FIRST_STATE + system.states.len()],
            work: 0.0,
            readings: vec![[0.0; 3]; n],
            J: Vec::new(),
        }
    }

    /// Returns whether there are contacts.
    pub fn is_empty(&self) -> bool {
        self.heat.is_empty()
    }

    /// Makes the candidates hold where the bodies are.
    pub(super) fn refresh(&mut self, bodies: &BodyKinematics) {
        let Some(broad) = &mut self.broad else { return };
        let system = bodies.system;
        let surface = |i: usize| (&system.surfaces[i].surface, system.surfaces[i].body as usize);
        let wanted = &self.wanted;
        let of = |entry: usize, i: usize, j: usize| wanted.has(system, entry, i, j);
        let entries = system.contacts.len();
        let allowed = |i: usize, j: usize| wanted.any(system, i, j);
        if broad.update(system.surfaces.len(), surface, bodies.poses, allowed) {
            self.candidates.clear();
            for &[i, j] in broad.pairs() {
                let own = (0..entries).filter(|entry| of(*entry, i as usize, j as usize));
                self.candidates.extend(own.map(|entry| [entry as u32, i, j]));
            }
            self.candidates.sort_unstable();
        }
    }

    /// Number of pairs that are checked where the bodies are.
    pub fn in_play(&mut self, bodies: &BodyKinematics) -> usize {
        self.refresh(bodies);
        self.candidates.len()
    }

    /// The longest time in which nothing that touches gets through something else, by the speeds of now \[s\]; with `all` also nothing
    /// that may touch, or past those that are checked.
    pub fn time_to_pass(&self, bodies: &BodyKinematics, all: bool) -> f64 {
        let system = bodies.system;
        let speed = |i: u32| {
            let own = &system.surfaces[i as usize];
            let twist = &bodies.twists[own.body as usize];
            // what has no end turns as if it were small
            let far = if own.far.is_finite() { own.far } else { 0.0 };
            twist.v.norm() + twist.w_W.norm() * far
        };
        let margin = self.broad.as_ref().filter(|_| all).map_or(f64::INFINITY, Broad::margin);
        // two of them that approach each other are seen before they meet
        let fastest = (0..system.surfaces.len() as u32).map(speed).fold(0.0, f64::max);
        let pass = |&candidate: &CandidatePair| {
            let [_, a, b] = candidate;
            let pair = ContactPair::new(system, candidate);
            let thick = through(self.thick[a as usize] + self.thick[b as usize], pair.own.map(|own| own.far));
            if !thick.is_finite() {
                return f64::INFINITY;
            }
            let mut touching = false;
            if !all {
                // one that is just met counts
                pair.touches(bodies, 1e-3 * thick, &mut |_| touching = true);
            }
            let [p, q] = pair.ids().map(|id| bodies.poses[id as usize].p);
            let apart = ((p - q).norm() - pair.own[0].far - pair.own[1].far).max(0.0);
            if all || touching { (apart + thick) / (speed(a) + speed(b)) } else { f64::INFINITY }
        };
        self.candidates.iter().map(pass).fold(0.5 * margin / fastest, f64::min)
    }

    /// The gap of every point of a candidate, whose contact acts, in the order of their keys; with [`SLACK`] in the last, how much
    /// farther its bristle could stretch: it sticks while that is positive, and slides while it falls below 0. Infinite while it is open.
    pub fn gaps(
        &mut self,
        bodies: &BodyKinematics,
        scratch: &mut DerivativeWorkspace,
        out: &mut Vec<(ContactPointKey, f64)>,
    ) {
        out.clear();
        self.refresh(bodies);
        for &candidate in &self.candidates {
            let pair = ContactPair::new(bodies.system, candidate);
            if !pair.entry.yields() {
                continue;
            }
            pair.touches(bodies, f64::INFINITY, &mut |touch| {
                let key = pair.key(touch.slot);
                out.push((key, touch.gap));
                let memory = self.memories.at(bodies.t).find(key);
                if memory.anchor.is_some() {
                    let slack = (touch.gap < 0.0).then(|| {
                        let act = pair.act(bodies, &touch, &memory);
                        // what rounding of points leaves is none
                        let least = 32.0 * f64::EPSILON * act.point.norm();
                        if act.slack.abs() > least { act.slack } else { 0.0 }
                    });
                    out.push(((key.0, key.1, key.2, key.3 | SLACK), slack.unwrap_or(f64::INFINITY)));
                }
            });
        }
        self.for_each_gap(bodies, scratch, |i, _, here, _, _| out.push(((i as u32, 0, 0, 0), here.gap)));
        out.sort_unstable_by_key(|(key, _)| *key);
    }

    /// Takes down where bristles are half-way in a step.
    pub fn note_halfway(&mut self, bodies: &BodyKinematics, out: &mut Halfway) {
        out.memories.clear();
        self.refresh(bodies);
        for &candidate in &self.candidates {
            let pair = ContactPair::new(bodies.system, candidate);
            if !pair.entry.yields() || !pair.has_bristles() {
                continue;
            }
            pair.touches(bodies, 0.0, &mut |touch| {
                let memory = self.memories.at(bodies.t).find(pair.key(touch.slot));
                if memory.anchor.is_some() {
                    let act = pair.act(bodies, &touch, &memory);
                    let two = bodies.two(pair.ids());
                    let anchor = anchor(pair.contact(), pair.rounding(), &touch, &two, &act, &memory);
                    out.memories.push(Memory { anchor, ..memory });
                }
            });
        }
        out.memories.sort_unstable_by_key(|point_memory| point_memory.key);
    }

    /// By how much forces of bristles at the end of a step over `h` differ if it is taken in two halves: the change of the velocity that makes,
    /// over what is allowed by the tolerances, which are relative and absolute \[m/s\]. The largest over the points.
    pub fn halfway_error(
        &mut self,
        bodies: &BodyKinematics,
        halfway: &Halfway,
        h: f64,
        [rtol, atol]: [f64; 2],
    ) -> f64 {
        self.refresh(bodies);
        let mut most = 0.0_f64;
        for &candidate in &self.candidates {
            let pair = ContactPair::new(bodies.system, candidate);
            if !pair.entry.yields() || !pair.has_bristles() {
                continue;
            }
            pair.touches(bodies, 0.0, &mut |touch| {
                let key = pair.key(touch.slot);
                let Ok(i) = halfway.memories.binary_search_by_key(&key, |memory| memory.key) else { return };
                let once = pair.act(bodies, &touch, &self.memories.at(bodies.t).find(key));
                let twice = pair.act(bodies, &touch, &halfway.memories[i]);
                let two = bodies.two(pair.ids());
                let speed = |i: usize| {
                    let arm = once.point - two.poses[i].p;
                    two.twists[i].v.norm() + two.twists[i].w_W.norm() * arm.norm()
                };
                // a stretch that does not count now, as the damping makes up for it, counts later
                let friction = pair.contact().friction.iter();
                let pull = friction.map(|friction| friction.pull(once.stretch - twice.stretch)).sum::<f64>();
                let change = (once.across - twice.across).norm().max(pull * touch.weight) * h / two.mass;
                most = most.max(change / (atol + rtol * speed(0).max(speed(1))));
            });
        }
        most
    }

    /// Returns whether a pair bears nothing in the step that began with what is `remembered`.
    pub(super) fn is_locked(&self, remembered: &ContactSnapshot, candidate: CandidatePair) -> bool {
        self.locks && remembered.was_open(candidate)
    }

    /// Returns whether a point with this gap bears in the step that began with this memory of it. One whose force jumps keeps its side of the
    /// jump over a step: those who asked for locks ends the step where it closes, up to grazing.
    pub(super) fn bears(&self, contact: &Contact, gap: f64, memory: &Memory) -> bool {
        if self.locks && contact.law.jumps() {
            memory.open.is_none() && (memory.closed || gap < 0.0)
        } else {
            gap < 0.0
        }
    }

    /// Returns how far out points are searched for that bear \[m\].
    pub(super) fn reach(&self, pair: &ContactPair) -> f64 {
        if self.locks && pair.contact().law.jumps() { nearly(pair.own) } else { 0.0 }
    }

    /// Returns whether a point is closed where a step ends: one whose force jumps also where it is about to.
    fn closes(&self, contact: &Contact, gap: f64, speed: f64, nearly: f64) -> bool {
        gap < 0.0 || self.locks && contact.law.jumps() && gap < nearly && speed > 0.0
    }

    /// Calls `found` with every point that overlaps, and what it does.
    fn for_each(&self, bodies: &BodyKinematics, mut found: impl FnMut(&ContactPair, &Touch<f64>, &Act<f64>)) {
        let remembered = self.memories.at(bodies.t);
        for &candidate in &self.candidates {
            let pair = ContactPair::new(bodies.system, candidate);
            if !pair.entry.yields() || self.is_locked(remembered, candidate) {
                continue;
            }
            pair.touches(bodies, self.reach(&pair), &mut |touch| {
                let key = pair.key(touch.slot);
                let memory =
                    if pair.contact().remembers() { remembered.find(key) } else { Memory::unknown(key) };
                if self.bears(pair.contact(), touch.gap, &memory) {
                    let act = pair.act(bodies, &touch, &memory);
                    found(&pair, &touch, &act);
                }
            });
        }
    }

    /// Calls `found` with every point that overlaps where the bodies are, what it does, and whether its first surface is on the second
    /// side of its entry.
    pub fn for_each_point(
        &mut self,
        bodies: &BodyKinematics,
        mut found: impl FnMut(&ContactPair, &Act<f64>, bool),
    ) {
        self.refresh(bodies);
        self.for_each(bodies, |pair, _, act| {
            let [a, b] = pair.surfaces.map(|i| self.wanted.sides[pair.number as usize][i as usize]);
            found(pair, act, a & 1 == 0 || b & 2 == 0);
        });
    }

    /// Calls `found` with every gap that is closed, its number, its bodies, and its normal force.
    fn for_each_gap(
        &self,
        bodies: &BodyKinematics,
        scratch: &mut DerivativeWorkspace,
        mut found: impl FnMut(
            usize,
            &ContactElement,
            &gap::GapAt,
            Option<super::laws::Normal<f64>>,
            &mut DerivativeWorkspace,
        ),
    ) {
        let remembered = self.memories.at(bodies.t);
        for (i, entry) in bodies.system.contacts.iter().enumerate() {
            if let ContactSides::Gap { ids, rows } = &entry.contact.what
                && entry.yields()
            {
                let here = gap::find(&**rows, &bodies.at(ids), scratch);
                let memory = remembered.find((i as u32, 0, 0, 0));
                let locked = self.is_locked(remembered, gap_of(i));
                let bears = !locked && self.bears(&entry.contact, here.gap, &memory);
                let force = gap::force(&entry.contact.law, &here, memory.onset, bears);
                found(i, entry, &here, force, scratch);
            }
        }
    }

    /// Adds the forces to `f`, and takes down the powers.
    pub fn add_forces(&mut self, bodies: &BodyKinematics, scratch: &mut DerivativeWorkspace, f: &mut [f64]) {
        if self.is_empty() {
            return;
        }
        self.refresh(bodies);
        let mut heat = std::mem::take(&mut self.heat);
        heat.fill([0.0; 2]);
        let mut rates = std::mem::take(&mut self.rates);
        for (first, last) in bodies.system.contacts.iter().filter_map(ContactElement::range) {
            (first..last).for_each(|k| rates[k] = -RELAX * bodies.x[k]);
        }
        self.for_each(bodies, |pair, touch, act| {
            if let Some(x) = pair.entry.state_of(pair.surfaces, touch.slot) {
                rates[x..x + 3].copy_from_slice(&act.stretch.0);
            }
            for (id, sign) in pair.ids().into_iter().zip([1.0, -1.0]) {
                let mut wrench = Wrench::zero();
                let arm = act.point - bodies.poses[id as usize].p;
                wrench.add_force_at(act.force * sign, arm);
                bodies.add_wrench(id, &wrench, f);
            }
            let own = &mut heat[pair.number as usize];
            let [along, across] = act.heat();
            *own = [own[0] + along, own[1] + across];
        });
        let (mut J, mut work) = (std::mem::take(&mut self.J), 0.0);
        self.for_each_gap(bodies, scratch, |i, entry, here, normal, scratch| {
            let (Some(normal), ContactSides::Gap { ids, rows }) = (normal, &entry.contact.what) else {
                return;
            };
            let wide = bodies.system.wide;
            gap::gradient(&**rows, &bodies.at(ids), scratch, wide, &mut J);
            for (&id, J) in ids.iter().zip(J.chunks_exact(wide)).filter(|(id, _)| **id != 0) {
                let body = &bodies.system.directory.bodies[id as usize];
                let f = &mut f[body.v..body.v + body.kind.nv()];
                f.iter_mut().zip(J).for_each(|(f, J)| *f += J * normal.force);
            }
            heat[i][0] += (normal.elastic - normal.force) * here.rate;
            work -= normal.force * here.driven;
        });
        (self.heat, self.J, self.work, self.rates) = (heat, J, work, rates);
    }

    /// Energy stored at an instant: by overlaps, and by bristles \[J\].
    pub fn stored(&mut self, bodies: &BodyKinematics, scratch: &mut DerivativeWorkspace) -> [f64; 2] {
        self.refresh(bodies);
        let (mut along, mut across) = (0.0, 0.0);
        self.for_each(bodies, |pair, touch, act| {
            let contact = pair.contact();
            along += touch.weight * contact.law.stored(pair.stiffness(touch.radius), -touch.gap);
            let bristle = contact.friction.as_ref().map_or(0.0, |friction| friction.stored(act.stretch));
            across += touch.weight * bristle;
        });
        self.for_each_gap(bodies, scratch, |_, entry, here, normal, _| {
            if normal.is_some() {
                let law = &entry.contact.law;
                along += law.stored(law.stiffness.unwrap_or(0.0), -here.gap);
            }
        });
        [along, across]
    }

    /// Calls `found` with the entries that overlap by more than grazing: number, depth \[m\], and the energy that overlaps store \[J\], which
    /// rigid ones do not.
    pub fn overlaps(
        &mut self,
        bodies: &BodyKinematics,
        scratch: &mut DerivativeWorkspace,
        mut found: impl FnMut(usize, f64, f64),
    ) {
        self.refresh(bodies);
        for (i, entry) in bodies.system.contacts.iter().enumerate().filter(|(_, entry)| entry.enabled) {
            let (mut deepest, mut energy) = (0.0_f64, 0.0);
            let law = &entry.contact.law;
            let soft = entry.contact.rigid.is_none();
            for &candidate in self.candidates.iter().filter(|candidate| candidate[0] == i as u32) {
                let pair = ContactPair::new(bodies.system, candidate);
                pair.touches(bodies, 0.0, &mut |touch| {
                    if -touch.gap > grazing(pair.own) {
                        deepest = deepest.max(-touch.gap);
                    }
                    if soft {
                        energy += touch.weight * law.stored(pair.stiffness(touch.radius), -touch.gap);
                    }
                });
            }
            if let ContactSides::Gap { ids, rows } = &entry.contact.what {
                let gap = gap::find(&**rows, &bodies.at(ids), scratch).gap;
                if -gap > grazing_gap(gap) {
                    deepest = -gap;
                    energy = if soft { law.stored(law.stiffness.unwrap_or(0.0), -gap) } else { 0.0 };
                }
            }
            if deepest > 0.0 {
                found(i, deepest, energy);
            }
        }
    }

    /// Gap, force and slip of every entry: the smallest, the sum, the largest over its points.
    pub fn read(&mut self, bodies: &BodyKinematics, scratch: &mut DerivativeWorkspace) {
        self.refresh(bodies);
        let mut readings = std::mem::take(&mut self.readings);
        readings.fill([f64::INFINITY, 0.0, 0.0]);
        for &candidate in &self.candidates {
            let pair = ContactPair::new(bodies.system, candidate);
            let own = &mut readings[pair.number as usize];
            pair.touches(bodies, f64::INFINITY, &mut |touch| own[0] = own[0].min(touch.gap));
        }
        self.for_each(bodies, |pair, _, act| {
            let own = &mut readings[pair.number as usize];
            own[1] += act.normal.force;
            own[2] = own[2].max(act.slip.norm());
        });
        self.for_each_gap(bodies, scratch, |i, _, here, normal, _| {
            readings[i][0] = here.gap;
            readings[i][1] = normal.map_or(0.0, |normal| normal.force);
        });
        for (entry, own) in bodies.system.contacts.iter().zip(&mut readings) {
            if let (ContactSides::Gap { ids, rows }, Some(_)) = (&entry.contact.what, entry.contact.rigid) {
                own[0] = gap::find(&**rows, &bodies.at(ids), scratch).gap;
            }
        }
        self.readings = readings;
    }

    /// Takes note of an accepted step.
    pub fn accept(&mut self, bodies: &BodyKinematics, scratch: &mut DerivativeWorkspace) {
        if self.is_empty() {
            return;
        }
        self.refresh(bodies);
        // farther ones are not all there
        let reach = self.broad.as_ref().map_or(f64::INFINITY, Broad::margin);
        let mut memories = std::mem::take(&mut self.memories);
        memories.accept(bodies.t, |before, passed, now| {
            now.tallies.copy_from_slice(&before.tallies);
            now.tallies.iter_mut().for_each(|tally| tally.depth = 0.0);
            let mut sums = ContactSums::default();
            for &candidate in &self.candidates {
                let pair = ContactPair::new(bodies.system, candidate);
                if !pair.entry.yields() {
                    continue;
                }
                sums.enter(pair.number as usize, now);
                let mut least = reach;
                pair.touches(bodies, reach, &mut |touch| {
                    least = least.min(touch.gap);
                    let old = before.find(pair.key(touch.slot));
                    let two = bodies.two(pair.ids());
                    let (speed, _) = approach(&touch, &two, touch.points[0]);
                    let near = nearly(pair.own);
                    let act = (touch.gap < near).then(|| pair.act(bodies, &touch, &old));
                    let anchor = act
                        .as_ref()
                        .and_then(|act| anchor(pair.contact(), pair.rounding(), &touch, &two, act, &old));
                    if let Some(act) = act.filter(|_| self.closes(pair.contact(), touch.gap, speed, near)) {
                        let mut memory = remember(&old, &touch, act.speed, anchor, Some(passed));
                        sums.add(now, passed, &old, &memory, -touch.gap, act.normal.force);
                        if passed == 0.0 && !old.closed {
                            // closed from the start: as if it had come to this depth from a touch
                            let stored = pair.contact().law.stored(pair.stiffness(touch.radius), -touch.gap);
                            let depth = (2.0 * stored / two.mass).sqrt();
                            memory.onset = memory.onset.speed.max(depth).into();
                        }
                        now.memories.push(memory);
                    } else {
                        now.memories.push(remember(&old, &touch, speed, anchor, None));
                        sums.leave(passed, &old);
                    }
                });
                now.note_gap(candidate, least, grazing(pair.own), before);
            }
            sums.enter(usize::MAX, now);
            for (i, entry) in bodies.system.contacts.iter().enumerate().filter(|(_, e)| e.yields()) {
                let ContactSides::Gap { ids, rows } = &entry.contact.what else { continue };
                let here = gap::find(&**rows, &bodies.at(ids), scratch);
                let old = before.find((i as u32, 0, 0, 0));
                let speed = -here.rate;
                let closed = self.closes(&entry.contact, here.gap, speed, grazing_gap(here.gap));
                let normal = gap::force(&entry.contact.law, &here, old.onset, closed);
                let onset =
                    if closed { impact_onset(&old, here.gap, speed, passed) } else { ImpactOnset::at(speed) };
                let open =
                    if closed { old.open.filter(|_| !old.closed) } else { Some([here.gap, here.rate]) };
                let memory = Memory { closed, open, onset, ..old };
                now.memories.push(memory);
                now.note_gap(gap_of(i), here.gap, grazing_gap(here.gap), before);
                let mut sums = ContactSums { entry: i, ..ContactSums::default() };
                match normal {
                    Some(normal) => sums.add(now, passed, &old, &memory, -here.gap, normal.force),
                    None => sums.leave(passed, &old),
                }
                sums.enter(usize::MAX, now);
            }
            for (now, before) in now.tallies.iter_mut().zip(&before.tallies) {
                if before.onsets == 0 && now.onsets > 0 {
                    now.first = Some(bodies.t);
                }
            }
        });
        self.memories = memories;
    }

    /// Returns what entries have done so far.
    pub fn tallies(&self) -> &[EntryTally] {
        self.memories.tallies()
    }
}

/// Sums over the points of an entry at an accepted step.
#[derive(Default)]
struct ContactSums {
    entry: usize,
    force: f64,
    closed: bool,
    passed: f64,
}

impl ContactSums {
    /// The next point belongs to `entry`; what was summed of another is taken down.
    fn enter(&mut self, entry: usize, now: &mut ContactSnapshot) {
        if entry == self.entry {
            return;
        }
        if let Some(tally) = now.tallies.get_mut(self.entry) {
            tally.largest_force = tally.largest_force.max(self.force);
            if self.closed {
                tally.time += self.passed;
            }
        }
        *self = ContactSums { entry, ..ContactSums::default() };
    }

    /// A point that is closed.
    fn add(
        &mut self,
        now: &mut ContactSnapshot,
        passed: f64,
        old: &Memory,
        new: &Memory,
        depth: f64,
        force: f64,
    ) {
        let tally = &mut now.tallies[self.entry];
        if !old.closed {
            tally.onsets += 1;
            tally.fastest = tally.fastest.max(new.onset.speed);
        }
        // an instant that is taken down again is no step
        tally.touches += u64::from(passed > 0.0);
        tally.depth = tally.depth.max(depth);
        tally.deepest = tally.deepest.max(depth);
        self.force += force;
        self.leave(passed, old);
    }

    /// A point that may have been closed since the last step.
    fn leave(&mut self, passed: f64, old: &Memory) {
        self.closed |= old.closed;
        self.passed = passed;
    }
}

impl ContactElement {
    /// Its states of points in x: the first, and the one after the last.
    pub(crate) fn range(&self) -> Option<(usize, usize)> {
        let first = self.states.first()?.1;
        Some((first, first + self.count))
    }
}
