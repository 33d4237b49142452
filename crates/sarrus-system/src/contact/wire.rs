//! Contacts in the equations of a mechanism: forces, books, what is remembered, what is read.

use super::broad::Broad;
use super::friction::RELAX;
use super::memory::{Key, Memories, Memory, Snapshot};
use super::place::{Act, Two, act, approach, onset, remember};
use super::surface::{Touch, bounds, slots, thickness, touches};
use super::{Contact, ContactElement, SurfaceEntry, Tally, What, gap};
use crate::at::At;
use crate::body::BodyKind;
use crate::derive::Scratch;
use crate::load::Wrench;
use crate::system::{FIRST_STATE, System};
use sarrus_math::{Pose, Twist, Vec3};
use sarrus_model::Space;

/// Marks the slip of a place among the gaps.
pub const TURN: u32 = 1 << 31;

/// Pairs of surfaces up to which all are looked at.
const FEW: usize = 64;

/// How far ahead candidates are sought, as a part of the mean size of the surfaces: more means more pairs that do not touch, less
/// that they are found anew more often.
const AHEAD: f64 = 0.15;

/// Places up to which each has states of its own.
pub(crate) const MOST_STATES: usize = 512;

/// Two surfaces that an entry watches: the entry's number, and theirs.
pub type Candidate = [u32; 3];

/// What evaluates contacts, and what it remembers.
#[derive(Clone)]
pub(crate) struct Room {
    /// Pairs to look at, in ascending order.
    pub candidates: Vec<Candidate>,
    /// Who finds them, where there are more than a few.
    broad: Option<Broad>,
    /// The thickness of each surface \[m\].
    thick: Vec<f64>,
    /// By entry and surface: 1 where it is on the first side, 2 on the second, 3 on both.
    sides: Vec<Vec<u8>>,
    /// What is remembered of their places.
    pub memories: Memories,
    /// Power turned into heat, by entry: along the normal, across it \[W\].
    pub heat: Vec<[f64; 2]>,
    /// Rates of the states of places, laid out as x.
    pub rates: Vec<f64>,
    /// Power of gaps that change with time \[W\].
    pub work: f64,
    /// Gap, force and slip by entry.
    pub readings: Vec<[f64; 3]>,
    J: Vec<f64>,
}

/// The bodies of a mechanism at an instant.
#[derive(Clone, Copy)]
pub(crate) struct Bodies<'a> {
    pub system: &'a System,
    pub t: f64,
    pub x: &'a [f64],
    pub poses: &'a [Pose<f64>],
    pub twists: &'a [Twist<f64>],
    pub hints: &'a [f64],
    pub outs: &'a [f64],
}

impl<'a> Bodies<'a> {
    pub fn at(&self, ids: &'a [u32]) -> At<'a, f64> {
        At { t: self.t, poses: self.poses, twists: self.twists, ids, hints: self.hints, outs: self.outs }
    }

    pub fn two(&self, ids: [u32; 2]) -> Two<'a, f64> {
        let [a, b] = ids.map(|id| id as usize);
        Two {
            poses: [&self.poses[a], &self.poses[b]],
            twists: [&self.twists[a], &self.twists[b]],
            mass: reduced_mass(self.system, ids),
        }
    }
}

/// 1/(1/m₁ + 1/m₂), with the ground without end.
pub(crate) fn reduced_mass(system: &System, ids: [u32; 2]) -> f64 {
    let inverse = |id: u32| if id == 0 { 0.0 } else { 1.0 / system.directory.bodies[id as usize].mass };
    1.0 / ids.map(inverse).iter().sum::<f64>()
}

/// A pair of surfaces with what its places need.
pub(crate) struct Pair<'a> {
    pub entry: &'a ContactElement,
    pub number: u32,
    pub surfaces: [u32; 2],
    pub own: [&'a SurfaceEntry; 2],
}

impl<'a> Pair<'a> {
    pub fn new(system: &'a System, [number, a, b]: Candidate) -> Pair<'a> {
        let own = [a, b].map(|i| &system.surfaces[i as usize]);
        Pair { entry: &system.contacts[number as usize], number, surfaces: [a, b], own }
    }

    pub fn contact(&self) -> &'a Contact {
        &self.entry.contact
    }

    pub fn ids(&self) -> [u32; 2] {
        self.own.map(|s| s.body)
    }

    pub fn key(&self, slot: u32) -> Key {
        (self.number, self.surfaces[0], self.surfaces[1], slot)
    }

    /// K at a place.
    pub fn stiffness(&self, radius: f64) -> f64 {
        self.contact().law.stiffness.unwrap_or_else(|| {
            let compliance: f64 = self.own.iter().map(|s| s.compliance).sum();
            4.0 / 3.0 / compliance * radius.sqrt()
        })
    }

    pub fn rounding(&self) -> [f64; 2] {
        self.own.map(|s| super::surface::rounding(&s.surface.geometry))
    }

    /// Whether balls about the centres of mass that hold the surfaces are nearer than `reach`.
    pub fn is_near(&self, bodies: &Bodies, reach: f64) -> bool {
        let [a, b] = self.ids().map(|id| &bodies.poses[id as usize]);
        let far = self.own[0].far + self.own[1].far + reach;
        // not if it is no number
        !((a.p - b.p).norm_squared() > far * far)
    }

    /// Places nearer than `reach`.
    fn touches(&self, bodies: &Bodies, reach: f64, found: &mut impl FnMut(Touch<f64>)) {
        if !self.is_near(bodies, reach) {
            return;
        }
        let [a, b] = self.ids().map(|id| &bodies.poses[id as usize]);
        let planar = bodies.system.directory.space == Space::Planar;
        touches(&self.own[0].surface, &self.own[1].surface, [a, b], reach, planar, found);
    }

    /// A memory with the stretch that is a state, where a place has one.
    pub fn with_state(&self, bodies: &Bodies, slot: u32, memory: Memory) -> Memory {
        match self.entry.state_of(self.surfaces, slot) {
            Some(x) => Memory { stretch: [0, 1, 2].map(|k| bodies.x[x + k]), ..memory },
            None => memory,
        }
    }

    /// What a place that overlaps does.
    fn act(&self, bodies: &Bodies, touch: &Touch<f64>, memory: &Memory) -> Act<f64> {
        let (two, memory) = (bodies.two(self.ids()), self.with_state(bodies, touch.slot, *memory));
        act(self.contact(), self.stiffness(touch.radius), self.rounding(), touch, &two, &memory)
    }
}

impl Room {
    /// For a system, nothing remembered.
    pub fn new(system: &System) -> Room {
        let mut candidates = Vec::new();
        let sides = system.contacts.iter().map(|entry| flags(system, &entry.contact.what)).collect();
        let count: usize = system.contacts.iter().map(|entry| entry.contact.what.count()).sum();
        let planar = system.directory.space == Space::Planar;
        let broad = (count > FEW).then(|| Broad::new(margin(system), planar));
        if broad.is_none() {
            for (number, entry) in system.contacts.iter().enumerate() {
                if let What::Surfaces { sides, apart } = &entry.contact.what {
                    pairs(&system.surfaces, number as u32, sides, apart, FEW, &mut candidates);
                }
            }
        }
        let n = system.contacts.len();
        Room {
            candidates,
            broad,
            thick: system.surfaces.iter().map(|own| thickness(&own.surface.geometry, planar)).collect(),
            sides,
            memories: Memories::new(n),
            heat: vec![[0.0; 2]; n],
            rates: vec![0.0; FIRST_STATE + system.states.len()],
            work: 0.0,
            readings: vec![[0.0; 3]; n],
            J: Vec::new(),
        }
    }

    /// Whether there are contacts.
    pub fn is_empty(&self) -> bool {
        self.heat.is_empty()
    }

    /// Makes the candidates hold where the bodies are.
    pub(super) fn refresh(&mut self, bodies: &Bodies) {
        let Some(broad) = &mut self.broad else { return };
        let system = bodies.system;
        let surface = |i: usize| (&system.surfaces[i].surface, system.surfaces[i].body as usize);
        let sides = &self.sides;
        let of = |entry: usize, i: usize, j: usize| {
            let (a, b) =
                (sides[entry].get(i).copied().unwrap_or(0), sides[entry].get(j).copied().unwrap_or(0));
            if !((a & 1 != 0 && b & 2 != 0) || (a & 2 != 0 && b & 1 != 0)) {
                return false;
            }
            let What::Surfaces { apart, .. } = &system.contacts[entry].contact.what else { return false };
            let [a, b] = [i, j].map(|i| system.surfaces[i].body);
            apart.binary_search(&[a.min(b), a.max(b)]).is_err()
        };
        let entries = system.contacts.len();
        let allowed = |i: usize, j: usize| (0..entries).any(|entry| of(entry, i, j));
        if broad.update(system.surfaces.len(), surface, bodies.poses, allowed) {
            self.candidates.clear();
            for &[i, j] in broad.pairs() {
                let own = (0..entries).filter(|entry| of(*entry, i as usize, j as usize));
                self.candidates.extend(own.map(|entry| [entry as u32, i, j]));
            }
            self.candidates.sort_unstable();
        }
    }

    /// How many pairs are looked at where the bodies are.
    pub fn in_play(&mut self, bodies: &Bodies) -> usize {
        self.refresh(bodies);
        self.candidates.len()
    }

    /// The longest time in which nothing that touches gets through something else, by the speeds of now \[s\]; with `all` also nothing
    /// that may touch, or past those that are looked at.
    pub fn time_to_pass(&self, bodies: &Bodies, all: bool) -> f64 {
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
        let pass = |&candidate: &Candidate| {
            let [_, a, b] = candidate;
            let thick = self.thick[a as usize] + self.thick[b as usize];
            // sheets have nothing to get through
            if !(thick > 0.0 && thick.is_finite()) {
                return f64::INFINITY;
            }
            let pair = Pair::new(system, candidate);
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

    /// The gap of every place of a candidate, whose contact acts, in the order of their keys; with [`TURN`] in the last, of a place
    /// whose bristle slides, how fast it does: where that goes below 0 it turns back, and sticks.
    pub fn gaps(&mut self, bodies: &Bodies, scratch: &mut Scratch, out: &mut Vec<(Key, f64)>) {
        out.clear();
        self.refresh(bodies);
        for &candidate in &self.candidates {
            let pair = Pair::new(bodies.system, candidate);
            if !pair.entry.yields() {
                continue;
            }
            let remembers = pair.contact().friction.filter(|friction| friction.remembers());
            pair.touches(bodies, f64::INFINITY, &mut |touch| {
                let key = pair.key(touch.slot);
                out.push((key, touch.gap));
                let Some(friction) = remembers else { return };
                let memory = self.memories.at(bodies.t).find(key);
                let mut along = 1.0;
                if touch.gap < 0.0 && memory.closed {
                    let act = pair.act(bodies, &touch, &memory);
                    if friction.slides(act.normal.force, act.stretch) {
                        along = act.slip.dot(act.stretch) / act.stretch.norm();
                    }
                }
                out.push(((key.0, key.1, key.2, key.3 | TURN), along));
            });
        }
        self.for_each_gap(bodies, scratch, |i, _, here, _, _| out.push(((i as u32, 0, 0, 0), here.gap)));
        out.sort_unstable_by_key(|(key, _)| *key);
    }

    /// Calls `found` with every place that overlaps, and what it does.
    fn for_each(&self, bodies: &Bodies, mut found: impl FnMut(&Pair, &Touch<f64>, &Act<f64>)) {
        let remembered = self.memories.at(bodies.t);
        for &candidate in &self.candidates {
            let pair = Pair::new(bodies.system, candidate);
            if !pair.entry.yields() {
                continue;
            }
            pair.touches(bodies, 0.0, &mut |touch| {
                let key = pair.key(touch.slot);
                let memory =
                    if pair.contact().remembers() { remembered.find(key) } else { Memory::unknown(key) };
                let act = pair.act(bodies, &touch, &memory);
                found(&pair, &touch, &act);
            });
        }
    }

    /// Calls `found` with every place that overlaps where the bodies are, what it does, and whether its first surface is on the second
    /// side of its entry.
    pub fn for_each_place(&mut self, bodies: &Bodies, mut found: impl FnMut(&Pair, &Act<f64>, bool)) {
        self.refresh(bodies);
        self.for_each(bodies, |pair, _, act| {
            let [a, b] = pair.surfaces.map(|i| self.sides[pair.number as usize][i as usize]);
            found(pair, act, a & 1 == 0 || b & 2 == 0);
        });
    }

    /// Calls `found` with every gap that is closed, its number, its bodies, and its normal force.
    fn for_each_gap(
        &self,
        bodies: &Bodies,
        scratch: &mut Scratch,
        mut found: impl FnMut(usize, &ContactElement, &gap::GapAt, Option<super::laws::Normal<f64>>, &mut Scratch),
    ) {
        let remembered = self.memories.at(bodies.t);
        for (i, entry) in bodies.system.contacts.iter().enumerate() {
            if let What::Gap { ids, rows } = &entry.contact.what
                && entry.yields()
            {
                let here = gap::find(&**rows, &bodies.at(ids), scratch);
                let memory = remembered.find((i as u32, 0, 0, 0));
                let force = gap::force(&entry.contact.law, &here, memory.onset);
                found(i, entry, &here, force, scratch);
            }
        }
    }

    /// Adds the forces to `f`, and takes down the powers.
    pub fn add_forces(&mut self, bodies: &Bodies, scratch: &mut Scratch, f: &mut [f64]) {
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
                add_wrench(bodies, id, &wrench, f);
            }
            let own = &mut heat[pair.number as usize];
            let [along, across] = act.heat();
            *own = [own[0] + along, own[1] + across];
        });
        let (mut J, mut work) = (std::mem::take(&mut self.J), 0.0);
        self.for_each_gap(bodies, scratch, |i, entry, here, normal, scratch| {
            let (Some(normal), What::Gap { ids, rows }) = (normal, &entry.contact.what) else { return };
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
    pub fn stored(&mut self, bodies: &Bodies, scratch: &mut Scratch) -> [f64; 2] {
        self.refresh(bodies);
        let (mut along, mut across) = (0.0, 0.0);
        self.for_each(bodies, |pair, touch, act| {
            let contact = pair.contact();
            along += contact.law.stored(pair.stiffness(touch.radius), -touch.gap);
            across += contact.friction.as_ref().map_or(0.0, |friction| friction.stored(act.stretch));
        });
        self.for_each_gap(bodies, scratch, |_, entry, here, normal, _| {
            if normal.is_some() {
                let law = &entry.contact.law;
                along += law.stored(law.stiffness.unwrap_or(0.0), -here.gap);
            }
        });
        [along, across]
    }

    /// Gap, force and slip of every entry: the smallest, the sum, the largest over its places.
    pub fn read(&mut self, bodies: &Bodies, scratch: &mut Scratch) {
        self.refresh(bodies);
        let mut readings = std::mem::take(&mut self.readings);
        readings.fill([f64::INFINITY, 0.0, 0.0]);
        for &candidate in &self.candidates {
            let pair = Pair::new(bodies.system, candidate);
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
            if let (What::Gap { ids, rows }, Some(_)) = (&entry.contact.what, entry.contact.rigid) {
                own[0] = gap::find(&**rows, &bodies.at(ids), scratch).gap;
            }
        }
        self.readings = readings;
    }

    /// Takes note of an accepted step.
    pub fn accept(&mut self, bodies: &Bodies, scratch: &mut Scratch) {
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
            let mut sums = Sums::default();
            for &candidate in &self.candidates {
                let pair = Pair::new(bodies.system, candidate);
                if !pair.entry.yields() {
                    continue;
                }
                sums.enter(pair.number as usize, now);
                pair.touches(bodies, reach, &mut |touch| {
                    let old = before.find(pair.key(touch.slot));
                    let two = bodies.two(pair.ids());
                    if touch.gap < 0.0 {
                        let act = pair.act(bodies, &touch, &old);
                        let memory = remember(&old, &touch, &two, act.speed, Some((&act, passed)));
                        sums.add(now, passed, &old, &memory, -touch.gap, act.normal.force);
                        now.places.push(memory);
                    } else {
                        let (speed, _) = approach(&touch, &two, touch.points[0]);
                        now.places.push(remember(&old, &touch, &two, speed, None));
                        sums.leave(passed, &old);
                    }
                });
            }
            sums.enter(usize::MAX, now);
            for (i, entry) in bodies.system.contacts.iter().enumerate().filter(|(_, e)| e.yields()) {
                let What::Gap { ids, rows } = &entry.contact.what else { continue };
                let here = gap::find(&**rows, &bodies.at(ids), scratch);
                let old = before.find((i as u32, 0, 0, 0));
                let normal = gap::force(&entry.contact.law, &here, old.onset);
                let closed = normal.is_some();
                let onset =
                    if closed { onset(&old, -here.gap, -here.rate, passed) } else { (-here.rate).max(0.0) };
                let memory = Memory { closed, onset, ..old };
                now.places.push(memory);
                let mut sums = Sums { entry: i, ..Sums::default() };
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

    /// What entries have done so far.
    pub fn tallies(&self) -> &[Tally] {
        self.memories.tallies()
    }
}

/// Sums over the places of an entry at an accepted step.
#[derive(Default)]
struct Sums {
    entry: usize,
    force: f64,
    closed: bool,
    passed: f64,
}

impl Sums {
    /// The next place belongs to `entry`; what was summed of another is taken down.
    fn enter(&mut self, entry: usize, now: &mut Snapshot) {
        if entry == self.entry {
            return;
        }
        if let Some(tally) = now.tallies.get_mut(self.entry) {
            tally.largest_force = tally.largest_force.max(self.force);
            if self.closed {
                tally.time += self.passed;
            }
        }
        *self = Sums { entry, ..Sums::default() };
    }

    /// A place that is closed.
    fn add(&mut self, now: &mut Snapshot, passed: f64, old: &Memory, new: &Memory, depth: f64, force: f64) {
        let tally = &mut now.tallies[self.entry];
        if !old.closed {
            tally.onsets += 1;
            tally.fastest = tally.fastest.max(new.onset);
        }
        // an instant that is taken down again is no step
        tally.touches += u64::from(passed > 0.0);
        tally.depth = tally.depth.max(depth);
        tally.deepest = tally.deepest.max(depth);
        self.force += force;
        self.leave(passed, old);
    }

    /// A place that may have been closed since the last step.
    fn leave(&mut self, passed: f64, old: &Memory) {
        self.closed |= old.closed;
        self.passed = passed;
    }
}

impl ContactElement {
    /// Its states of places in x: the first, and the one after the last.
    pub(crate) fn range(&self) -> Option<(usize, usize)> {
        let first = self.states.first()?.1;
        Some((first, first + self.count))
    }
}

/// The states that places of an entry need: the pairs of its surfaces with the first of each, counted from `first`, and how many.
pub(crate) fn states(
    surfaces: &[SurfaceEntry],
    contact: &Contact,
    first: usize,
) -> (Vec<([u32; 2], usize)>, usize) {
    let What::Surfaces { sides, apart } = &contact.what else { return (Vec::new(), 0) };
    let mut pairs_found = Vec::new();
    // one more than may be, so that too many are seen to be
    pairs(surfaces, 0, sides, apart, MOST_STATES + 1, &mut pairs_found);
    let (mut all, mut count) = (Vec::new(), 0);
    for [_, a, b] in pairs_found {
        all.push(([a, b], first + count));
        count += 3 * slots(&surfaces[a as usize].surface, &surfaces[b as usize].surface) as usize;
    }
    (all, count)
}

impl What {
    /// How many pairs of surfaces there may be.
    fn count(&self) -> usize {
        match self {
            What::Surfaces { sides, .. } => sides[0].len().saturating_mul(sides[1].len()),
            What::Gap { .. } => 0,
        }
    }
}

/// On which sides of an entry each surface is.
fn flags(system: &System, what: &What) -> Vec<u8> {
    let What::Surfaces { sides, .. } = what else { return Vec::new() };
    let mut flags = vec![0; system.surfaces.len()];
    for (side, bit) in sides.iter().zip([1, 2]) {
        side.iter().for_each(|&i| flags[i as usize] |= bit);
    }
    flags
}

/// How far ahead candidates are sought: a part of the mean size of the surfaces \[m\].
fn margin(system: &System) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for own in system.surfaces.iter() {
        let body = &system.directory.bodies[own.body as usize];
        let bounds = bounds(&own.surface, &Pose::from_quat(body.start.0, body.start.1));
        let size = (0..3).map(|i| bounds.high[i] - bounds.low[i]).fold(0.0, f64::max);
        if size.is_finite() {
            (sum, count) = (sum + size, count + 1.0);
        }
    }
    if sum > 0.0 { AHEAD * sum / count } else { 1.0 }
}

/// The pairs of an entry, at least `most` of them where there are more.
pub(crate) fn pairs(
    surfaces: &[SurfaceEntry],
    number: u32,
    sides: &[Vec<u32>; 2],
    apart: &[[u32; 2]],
    most: usize,
    candidates: &mut Vec<Candidate>,
) {
    let first = candidates.len();
    'all: for &a in &sides[0] {
        for &b in &sides[1] {
            // each may be there twice
            if candidates.len() - first > 2 * most {
                break 'all;
            }
            let [body_a, body_b] = [a, b].map(|i| surfaces[i as usize].body);
            if body_a == body_b || apart.binary_search(&[body_a.min(body_b), body_a.max(body_b)]).is_ok() {
                continue;
            }
            // two of one list once
            candidates.push([number, a.min(b), a.max(b)]);
        }
    }
    candidates[first..].sort_unstable();
    candidates.dedup();
}

/// Pairs of bodies of an entry that both move, unless they are more than `most`.
pub(crate) fn body_pairs(
    system: &System,
    sides: &[Vec<u32>; 2],
    apart: &[[u32; 2]],
    most: usize,
) -> Vec<[u32; 2]> {
    let bodies = moving(system, sides);
    if bodies[0].len().saturating_mul(bodies[1].len()) > most {
        return Vec::new();
    }
    let pairs = bodies[0].iter().flat_map(|&a| bodies[1].iter().map(move |&b| [a.min(b), a.max(b)]));
    pairs.filter(|pair| pair[0] != pair[1] && apart.binary_search(pair).is_err()).collect()
}

/// The bodies of either side that move.
pub(crate) fn moving(system: &System, sides: &[Vec<u32>; 2]) -> [Vec<u32>; 2] {
    sides.each_ref().map(|side| {
        let bodies = side.iter().map(|&i| system.surfaces[i as usize].body);
        let mut bodies: Vec<u32> = bodies.filter(|id| *id != 0).collect();
        bodies.dedup();
        bodies
    })
}

pub(crate) fn add_wrench(bodies: &Bodies, id: u32, wrench: &Wrench<f64>, f: &mut [f64]) {
    let body = &bodies.system.directory.bodies[id as usize];
    let f = &mut f[body.v..body.v + body.kind.nv()];
    let (force, torque): (Vec3<f64>, Vec3<f64>) = (wrench.force, wrench.torque);
    match body.kind {
        BodyKind::Ground => {}
        BodyKind::Rigid | BodyKind::RigidEuler => {
            let torque = bodies.poses[id as usize].rot.transpose_mul(torque);
            for i in 0..3 {
                f[i] += force.0[i];
                f[3 + i] += torque.0[i];
            }
        }
        BodyKind::PlanarRigid => {
            f[0] += force.0[0];
            f[1] += force.0[1];
            f[2] += torque.0[2];
        }
        BodyKind::Point | BodyKind::PlanarPoint => {
            f.iter_mut().zip(&force.0).for_each(|(f, w)| *f += w);
        }
    }
}
