//! The loops: places, rows, loads, S, accelerations.

use super::block::Block;
use super::factor::{Factors, Square};
use super::pattern::Pattern;
use super::{Description, LoadRecord, OfTime, RowRecord, Slope, Tables};
use rayon::prelude::*;
use sarrus_math::lane::{Lane, Mask};
use std::sync::Arc;

/// A residual at this fraction of its terms is rounding.
const ROUNDING: f64 = 1e-14;
/// The largest that is accepted.
const UNSOLVED: f64 = 1e-10;
/// Passes of refinement, at most.
const PASSES: u32 = 3;
/// Pivots above this fraction leave a residual of rounding: block LDLᵀ is backward stable, and what the inverses of its diagonal blocks lose is
/// no more than that. Below, the residual is looked at.
const SAFE_PIVOT: f64 = 1e-2;
/// Keeps sizes of terms from zero.
const TINY: f64 = 1e-290;
/// A pivot below this fraction of its row's diagonal is not for tables.
const LEAST_PIVOT: f64 = 1e-9;

/// Parts from which on loops are shared among threads, and how many rounds a thread takes at a time.
const SHARED: usize = 4096;
const SHARE: usize = 1024;

/// How well a solution went, in each lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Health<L> {
    /// Smallest pivot as a fraction of its row's diagonal.
    pub pivot: L,
    /// Largest residual relative to its terms, zero where pivots are large and nobody looked; not a number where one is not finite.
    pub residual: L,
    /// Passes of refinement.
    pub refinements: u32,
}

impl<L: Lane> Health<L> {
    /// The lanes whose solutions can be used, a bit each.
    #[inline(always)]
    pub fn good(&self) -> u8 {
        (L::splat(LEAST_PIVOT).lt(self.pivot) & self.residual.le(L::splat(UNSOLVED))).bits()
    }
}

/// Bodies in the plane or in space, with C velocities.
pub(super) trait Frame<L: Lane, const C: usize>: Copy + Send + 'static {
    /// Numbers of a position.
    const NQ: usize;
    /// Position and velocity of a body, unpacked.
    type Place: Copy + Send + Sync;
    /// M, M⁻¹ and weight.
    type Inertia: Copy + Send + Sync;

    fn ground() -> Self::Place;
    fn place(q: &[L], v: &[L]) -> Self::Place;
    /// Places all bodies.
    #[inline(always)]
    fn place_all(places: &mut [Self::Place], q: &[L], v: &[L]) {
        for ((place, q), v) in places.iter_mut().zip(q.chunks_exact(Self::NQ)).zip(v.chunks_exact(C)) {
            *place = Self::place(q, v);
        }
    }
    /// Gives a body that is where it was another velocity.
    fn set_velocity(place: &mut Self::Place, v: &[L; C]);
    fn inertia(variants: &[&Description], body: usize) -> Self::Inertia;
    fn no_inertia() -> Self::Inertia;
    /// M⁻¹ x.
    fn over_mass(inertia: &Self::Inertia, x: &[L; C]) -> [L; C];
    /// Gravity and the gyroscopic torque.
    fn own_force(inertia: &Self::Inertia, place: &Self::Place) -> [L; C];
    /// Rows of `record` from row `at` on: J at both bodies, and Φ or γ. Returns how many.
    fn rows<const N: usize, const PHI: bool>(
        record: &RowRecord<L>,
        bodies: [&Self::Place; 2],
        at: usize,
        J: [&mut [[L; C]; N]; 2],
        value: &mut [L; N],
    ) -> usize;
    /// Forces of a load on its two bodies; adds to its power, or to the power that it turns into heat.
    fn load(record: &LoadRecord<L>, bodies: [&Self::Place; 2], powers: &mut [L; 2]) -> [[L; C]; 2];
    /// q ⊕ δ.
    fn retract(q: &mut [L], delta: &[L; C]);
    fn qdot(q: &[L], v: &[L], out: &mut [L]);
    fn normalize(q: &mut [L]);
}

/// Number by number: in lanes a call to copy a few of them would cost more than they do.
#[inline(always)]
pub(super) fn copy<L: Lane, const C: usize>(to: &mut [L; C], from: &[L; C]) {
    for p in 0..C {
        to[p] = from[p];
    }
}

/// Zero, and not a number where `x` is not finite.
#[inline(always)]
pub(super) fn nothing<L: Lane>(x: L) -> L {
    x * L::splat(0.0)
}

/// Rows that are eliminated together, in that order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element {
    pub bodies: [u32; 2],
    /// Its records.
    first: u32,
    last: u32,
    /// Rows that it has; the rest of N is padding.
    rows: u32,
    /// First of its multipliers.
    start: u32,
}

/// Tables with row blocks of N rows and bodies of C velocities.
pub(super) struct Engine<L: Lane, S: Frame<L, C>, B: Block<L, S, N, C>, const N: usize, const C: usize> {
    pub pattern: Pattern,
    inertias: Vec<S::Inertia>,
    places: Vec<S::Place>,
    pub elements: Vec<Element>,
    records: Vec<RowRecord<L>>,
    loads: Option<Vec<LoadRecord<L>>>,
    /// Loads that change with time, one function for each lane.
    timed: Vec<(usize, Vec<OfTime>)>,
    /// When they were asked last \[s\]: stages of a step share their times.
    asked_at: f64,
    pub powers: [L; 2],
    pub J: Vec<[B; 2]>,
    /// Φ or γ.
    pub value: Vec<[L; N]>,
    scale: Vec<[L; N]>,
    factors: Factors<L, N>,
    pub pivot: L,
    pub factorizations: u64,
    pub moved: bool,
    /// Positions that the factors belong to.
    pub held: Vec<L>,
    pub is_held: bool,
    /// Whether places belong to them too.
    pub is_placed: bool,
    f: Vec<[L; C]>,
    /// M⁻¹ f, and accelerations; the ground's are zero.
    x0: Vec<[L; C]>,
    pub x: Vec<[L; C]>,
    lambda: Vec<[L; N]>,
    pub z: Vec<[L; N]>,
}

impl<L: Lane, S: Frame<L, C>, B: Block<L, S, N, C>, const N: usize, const C: usize> Engine<L, S, B, N, C> {
    pub fn new(variants: &[&Description], pattern: Pattern) -> Self {
        let model = variants[0];
        let gather = |read: &dyn Fn(&Description) -> [f64; 4]| {
            let mut out = [L::splat(0.0); 4];
            for (i, variant) in variants.iter().enumerate() {
                let x = read(variant);
                (0..4).for_each(|k| out[k].set_lane(i, x[k]));
            }
            out
        };
        let three = |read: &dyn Fn(&Description) -> [f64; 3]| {
            let [x, y, z, _] = gather(&|d| {
                let [x, y, z] = read(d);
                [x, y, z, 0.0]
            });
            [x, y, z]
        };
        let (mut elements, mut records) = (Vec::new(), Vec::new());
        for part in &pattern.parts {
            let e = part.element;
            for k in part.records.clone() {
                records.push(RowRecord {
                    kind: model.elements[e].rows[k].kind,
                    a: three(&|d| d.elements[e].rows[k].a),
                    r_A: three(&|d| d.elements[e].rows[k].r_A),
                    r_B: three(&|d| d.elements[e].rows[k].r_B),
                });
            }
            elements.push(Element {
                bodies: model.elements[e].bodies.map(|b| b as u32),
                first: (records.len() - part.records.len()) as u32,
                last: records.len() as u32,
                rows: part.rows as u32,
                start: part.start as u32,
            });
        }
        let record = |k: usize| {
            let of = |d: &Description| {
                d.loads.as_ref().map_or([[0.0; 4]; 3], |loads| {
                    let l = &loads[k];
                    [[l.r_A[0], l.r_A[1], l.r_A[2], 0.0], [l.r_B[0], l.r_B[1], l.r_B[2], 0.0], l.p]
                })
            };
            let [r_A, r_B] = [0, 1].map(|i| gather(&|d| of(d)[i]));
            let [r_A, r_B] = [r_A, r_B].map(|[x, y, z, _]| [x, y, z]);
            (r_A, r_B, gather(&|d| of(d)[2]))
        };
        let loads = model.loads.as_ref().map(|loads| {
            let all = loads.iter().enumerate().map(|(k, load)| {
                let (r_A, r_B, p) = record(k);
                LoadRecord { kind: load.kind, bodies: load.bodies, r_A, r_B, p, timed: None }
            });
            all.collect()
        });
        let of_time = |k: usize| -> Option<Vec<OfTime>> {
            variants.iter().map(|d| d.loads.as_ref()?.get(k)?.timed.clone()).collect()
        };
        let count = model.loads.as_ref().map_or(0, Vec::len);
        let timed = (0..count).filter_map(|k| Some((k, of_time(k)?))).collect();
        let (n, bodies, zero) = (elements.len(), model.bodies.len() + 1, L::splat(0.0));
        let mut inertias = vec![S::no_inertia()];
        inertias.extend((0..model.bodies.len()).map(|b| S::inertia(variants, b)));
        Engine {
            factors: Factors::new(&pattern),
            pattern,
            inertias,
            places: vec![S::ground(); bodies],
            elements,
            records,
            loads,
            timed,
            asked_at: f64::NAN,
            powers: [zero; 2],
            J: vec![[B::zero(); 2]; n],
            value: vec![[zero; N]; n],
            scale: vec![[zero; N]; n],
            pivot: zero,
            factorizations: 0,
            moved: false,
            held: vec![zero; S::NQ * (bodies - 1)],
            is_held: false,
            is_placed: false,
            f: vec![[zero; C]; bodies],
            x0: vec![[zero; C]; bodies],
            x: vec![[zero; C]; bodies],
            lambda: vec![[zero; N]; n],
            z: vec![[zero; N]; n],
        }
    }

    /// Whether loops over bodies and parts are shared among threads: each of their rounds stands for itself, so that no bit depends on it.
    #[inline(always)]
    fn is_shared(&self) -> bool {
        L::WIDTH == 1 && self.elements.len() >= SHARED && rayon::current_num_threads() > 1
    }

    /// Places all bodies.
    #[inline(always)]
    pub fn place(&mut self, q: &[L], v: &[L]) {
        self.is_placed = false;
        if self.is_shared() {
            let places = self.places[1..].par_chunks_mut(SHARE);
            let states = q.par_chunks(SHARE * S::NQ).zip(v.par_chunks(SHARE * C));
            places.zip(states).for_each(|(places, (q, v))| S::place_all(places, q, v));
        } else {
            S::place_all(&mut self.places[1..], q, v);
        }
    }

    /// J, and Φ or γ, where the bodies are.
    #[inline(always)]
    pub fn evaluate<const PHI: bool>(&mut self) {
        let shared = self.is_shared();
        let Engine { places, elements, records, J, value, .. } = self;
        if shared {
            let rows = J.par_chunks_mut(SHARE).zip(value.par_chunks_mut(SHARE));
            rows.zip(elements.par_chunks(SHARE)).for_each(|((J, value), elements)| {
                fill::<L, S, B, N, C, PHI>(places, records, elements, J, value)
            });
        } else {
            fill::<L, S, B, N, C, PHI>(places, records, elements, J, value);
        }
    }

    /// Of the bodies that move.
    #[inline(always)]
    pub fn accelerations(&self) -> &[[L; C]] {
        &self.x[1..]
    }

    /// S and its factors at the J at hand.
    #[inline(always)]
    pub fn factor(&mut self) {
        let shared = self.is_shared();
        let Engine { pattern, inertias, elements, J, scale, factors, .. } = self;
        let Factors { D, B: off, .. } = factors;
        if shared {
            let rows = D.par_chunks_mut(SHARE).zip(scale.par_chunks_mut(SHARE));
            rows.zip(elements.par_chunks(SHARE).zip(J.par_chunks(SHARE)))
                .for_each(|((D, scale), (elements, J))| diagonal(inertias, elements, J, D, scale));
            let blocks = off.par_chunks_mut(SHARE).enumerate();
            blocks.for_each(|(i, off)| couple(pattern, inertias, J, i * SHARE, off));
        } else {
            diagonal(inertias, elements, J, D, scale);
            couple(pattern, inertias, J, 0, off);
        }
        self.pivot = factors.factor(pattern, scale);
        self.factorizations += 1;
    }

    /// Solves S z = z; x is what M⁻¹ Jᵀ z leaves of what it is taken from.
    #[inline(always)]
    pub fn correct(&mut self, from: From<L>) {
        self.factors.solve(&self.pattern, &mut self.z);
        let shared = self.is_shared();
        let Engine { pattern, inertias, J, z, x0, x, .. } = self;
        if shared {
            let bodies = x.par_chunks_mut(SHARE).enumerate();
            bodies.for_each(|(i, x)| {
                take::<L, S, B, N, C>(pattern, inertias, J, z, i * SHARE, &x0[i * SHARE..], x, from)
            });
        } else {
            take::<L, S, B, N, C>(pattern, inertias, J, z, 0, x0, x, from);
        }
    }

    /// Forces on all bodies.
    #[inline(always)]
    fn forces(&mut self, f: Option<&[L]>) {
        if let Some(f) = f {
            for (to, f) in self.f[1..].iter_mut().zip(f.as_chunks().0) {
                copy(to, f);
            }
            return;
        }
        for ((f, inertia), place) in self.f.iter_mut().zip(&self.inertias).zip(&self.places).skip(1) {
            *f = S::own_force(inertia, place);
        }
        self.f[0] = [L::splat(0.0); C];
        self.powers = [L::splat(0.0); 2];
        for load in self.loads.iter().flatten() {
            let bodies = load.bodies.map(|b| &self.places[b]);
            let both = S::load(load, bodies, &mut self.powers);
            for (body, force) in load.bodies.into_iter().zip(both) {
                for p in 0..C {
                    self.f[body][p] += force[p];
                }
            }
        }
    }

    /// J x - γ into z, and how large it is beside its terms: numerator and denominator of the largest.
    #[inline(always)]
    fn residual(&mut self) -> (L, L) {
        let (mut num, mut den) = (L::splat(0.0), L::splat(1.0));
        for (((element, J), gamma), z) in self.elements.iter().zip(&self.J).zip(&self.value).zip(&mut self.z)
        {
            let [a, b] = element.bodies.map(|b| b as usize);
            let (Ja, Jb) = (J[0].times(&self.x[a]), J[1].times(&self.x[b]));
            let (mut size_a, mut size_b) = ([L::splat(0.0); C], [L::splat(0.0); C]);
            for p in 0..C {
                size_a[p] = self.x[a][p].abs() + self.x0[a][p].abs();
                size_b[p] = self.x[b][p].abs() + self.x0[b][p].abs();
            }
            let (sa, sb) = (J[0].sizes(&size_a), J[1].sizes(&size_b));
            for i in 0..N {
                z[i] = Ja[i] + Jb[i] - gamma[i];
                let (r, terms) = (z[i].abs(), sa[i] + sb[i] + gamma[i].abs() + L::splat(TINY));
                let more = (num * terms).lt(r * den);
                num = L::select(more, r, num);
                den = L::select(more, terms, den);
            }
        }
        (num, den)
    }

    /// Whether the factors belong to the positions `q`.
    #[inline(always)]
    fn is_at(&self, q: &[L]) -> bool {
        for (a, b) in self.held.iter().zip(q) {
            if !a.eq(*b).all() {
                return false;
            }
        }
        true
    }

    #[inline(always)]
    fn solve(&mut self, q: &[L], v: &[L], f: Option<&[L]>, with_lambda: bool) -> Health<L> {
        let same = self.is_held && self.is_at(q);
        if same && self.is_placed {
            for (place, v) in self.places[1..].iter_mut().zip(v.as_chunks().0) {
                S::set_velocity(place, v);
            }
        } else {
            self.place(q, v);
        }
        self.evaluate::<false>();
        if !same {
            self.is_held = false;
            self.factor();
        }
        self.forces(f);
        for ((x, f), inertia) in self.x0.iter_mut().zip(&self.f).zip(&self.inertias).skip(1) {
            *x = S::over_mass(inertia, f);
        }
        for (((element, J), gamma), z) in self.elements.iter().zip(&self.J).zip(&self.value).zip(&mut self.z)
        {
            let [a, b] = element.bodies.map(|b| &self.x0[b as usize]);
            let (a, b) = (J[0].times(a), J[1].times(b));
            for i in 0..N {
                z[i] = a[i] + b[i] - gamma[i];
            }
        }
        self.correct(From::Free);
        if with_lambda {
            self.lambda.copy_from_slice(&self.z);
        }

        let doubtful = self.pivot.lt(L::splat(SAFE_PIVOT));
        let (mut residual, mut refinements) = (L::splat(0.0), 0);
        if doubtful.any() {
            (residual, refinements) = self.refine(doubtful);
        }
        let mut sum = L::splat(0.0);
        for x in &self.x {
            for p in 0..C {
                sum += x[p];
            }
        }
        Health { pivot: self.pivot, residual: residual + nothing(sum), refinements }
    }

    /// Refines the solution in the lanes that are `doubtful`. Returns the largest residual, relative to its terms, and how many passes it took.
    #[inline(always)]
    fn refine(&mut self, doubtful: L::Mask) -> (L, u32) {
        let mut refinements = 0;
        let (mut num, mut den) = self.residual();
        let is_large = |num: L, den: L| (L::splat(ROUNDING) * den).lt(num);
        let mut wanting = doubtful & is_large(num, den);
        while wanting.any() && refinements < PASSES {
            // a lane that needs no refinement gets none
            self.correct(From::Here(wanting));
            for (lambda, z) in self.lambda.iter_mut().zip(&self.z) {
                for i in 0..N {
                    lambda[i] = L::select(wanting, lambda[i] + z[i], lambda[i]);
                }
            }
            refinements += 1;
            let before = (num, den);
            (num, den) = self.residual();
            let falls = (num * before.1 * L::splat(2.0)).lt(before.0 * den);
            wanting = wanting & falls & is_large(num, den);
        }
        (L::select(doubtful, num / den, L::splat(0.0)), refinements)
    }
}

/// Rows of some parts.
#[inline(always)]
fn fill<L: Lane, S: Frame<L, C>, B: Block<L, S, N, C>, const N: usize, const C: usize, const PHI: bool>(
    places: &[S::Place],
    records: &[RowRecord<L>],
    elements: &[Element],
    J: &mut [[B; 2]],
    value: &mut [[L; N]],
) {
    for ((element, J), value) in elements.iter().zip(J).zip(value) {
        let bodies = element.bodies.map(|b| &places[b as usize]);
        B::fill::<PHI>(&records[element.first as usize..element.last as usize], bodies, J, value);
    }
}

/// Diagonal blocks of S of some parts, and its diagonal.
#[inline(always)]
fn diagonal<L: Lane, S: Frame<L, C>, B: Block<L, S, N, C>, const N: usize, const C: usize>(
    inertias: &[S::Inertia],
    elements: &[Element],
    J: &[[B; 2]],
    D: &mut [Square<L, N>],
    scale: &mut [[L; N]],
) {
    for (((element, J), D), scale) in elements.iter().zip(J).zip(D).zip(scale) {
        let [m_A, m_B] = element.bodies.map(|b| &inertias[b as usize]);
        let (a, b) = (J[0].couple(m_A, &J[0]), J[1].couple(m_B, &J[1]));
        for i in 0..N {
            for j in i..N {
                D[i][j] = a[i][j] + b[i][j];
            }
        }
        for i in element.rows as usize..N {
            D[i][i] = L::splat(1.0);
        }
        for i in 0..N {
            scale[i] = D[i][i];
        }
    }
}

/// Blocks of S off its diagonal, from number `first` on.
#[inline(always)]
fn couple<L: Lane, S: Frame<L, C>, B: Block<L, S, N, C>, const N: usize, const C: usize>(
    pattern: &Pattern,
    inertias: &[S::Inertia],
    J: &[[B; 2]],
    first: usize,
    off: &mut [Square<L, N>],
) {
    let mut from = if first == 0 { 0 } else { pattern.coupling_ends[first - 1] as usize };
    for (to, &end) in off.iter_mut().zip(&pattern.coupling_ends[first..]) {
        let mut sum = [[L::splat(0.0); N]; N];
        for c in &pattern.couplings[from..end as usize] {
            let J_later = &J[c.later.0 as usize][c.later.1 as usize];
            let other = &J[c.earlier.0 as usize][c.earlier.1 as usize];
            let block = J_later.couple(&inertias[c.body as usize], other);
            for i in 0..N {
                for j in 0..N {
                    sum[i][j] += block[i][j];
                }
            }
        }
        *to = sum;
        from = end as usize;
    }
}

/// What a correction is taken from.
#[derive(Clone, Copy)]
pub(super) enum From<L: Lane> {
    /// The accelerations without constraints, x0.
    Free,
    /// Zero.
    Rest,
    /// x, in these lanes; the others keep theirs.
    Here(L::Mask),
}

/// x of the bodies from number `first` on.
#[inline(always)]
fn take<L: Lane, S: Frame<L, C>, B: Block<L, S, N, C>, const N: usize, const C: usize>(
    pattern: &Pattern,
    inertias: &[S::Inertia],
    J: &[[B; 2]],
    z: &[[L; N]],
    first: usize,
    x0: &[[L; C]],
    x: &mut [[L; C]],
    from: From<L>,
) {
    let mut begin = if first == 0 { 0 } else { pattern.body_ends[first - 1] as usize };
    let bodies = x.iter_mut().zip(x0).zip(&pattern.body_ends[first..]).zip(&inertias[first..]);
    for (((x, x0), &end), inertia) in bodies {
        let mut push = [L::splat(0.0); C];
        for &(k, side) in &pattern.at_bodies[begin..end as usize] {
            push = J[k as usize][side as usize].add_transposed(&z[k as usize], &push);
        }
        begin = end as usize;
        let change = S::over_mass(inertia, &push);
        for p in 0..C {
            x[p] = match from {
                From::Free => x0[p] - change[p],
                From::Rest => L::splat(0.0) - change[p],
                From::Here(wanted) => L::select(wanted, x[p] - change[p], x[p]),
            };
        }
    }
}

impl<L, S, B, const N: usize, const C: usize> Tables<L> for Engine<L, S, B, N, C>
where
    L: Lane,
    S: Frame<L, C>,
    B: Block<L, S, N, C> + 'static,
{
    fn accelerate(
        &mut self,
        t: f64,
        q: &[L],
        v: &[L],
        f: Option<&[L]>,
        vdot: &mut [L],
        lambda: &mut [L],
    ) -> Health<L> {
        let timed = if t == self.asked_at { &[][..] } else { &self.timed };
        self.asked_at = t;
        for (k, functions) in timed {
            let Some(load) = self.loads.as_mut().and_then(|loads| loads.get_mut(*k)) else { continue };
            let mut p = [0.0; 3];
            for (i, function) in functions.iter().enumerate() {
                // variants of one system have one function
                if i == 0 || !Arc::ptr_eq(&function.0, &functions[i - 1].0) {
                    p = (function.0)(t);
                }
                (0..3).for_each(|j| load.p[j].set_lane(i, p[j]));
            }
        }
        L::vectorize(
            #[inline(always)]
            || {
                let health = self.solve(q, v, f, !lambda.is_empty());
                for (out, x) in vdot.as_chunks_mut().0.iter_mut().zip(self.accelerations()) {
                    copy(out, x);
                }
                if !lambda.is_empty() {
                    for (element, own) in self.elements.iter().zip(&self.lambda) {
                        let n = element.rows as usize;
                        lambda[element.start as usize..][..n].copy_from_slice(&own[..n]);
                    }
                }
                health
            },
        )
    }

    fn powers(&self) -> [L; 2] {
        self.powers
    }

    fn project(&mut self, q: &mut [L], v: &mut [L]) -> (Health<L>, u32) {
        L::vectorize(
            #[inline(always)]
            || self.onto_constraints(q, v),
        )
    }

    fn violation(&mut self, q: &[L], v: &[L], phi: &mut [L], phidot: &mut [L]) {
        L::vectorize(
            #[inline(always)]
            || {
                self.place(q, v);
                self.evaluate::<true>();
                self.rates(v);
            },
        );
        for ((element, value), rate) in self.elements.iter().zip(&self.value).zip(&self.z) {
            let (first, n) = (element.start as usize, element.rows as usize);
            phi[first..first + n].copy_from_slice(&value[..n]);
            phidot[first..first + n].copy_from_slice(&rate[..n]);
        }
    }

    fn moved(&self) -> bool {
        self.moved
    }

    fn qdot(&self, q: &[L], v: &[L], out: &mut [L]) {
        L::vectorize(
            #[inline(always)]
            || {
                let bodies = q.chunks_exact(S::NQ).zip(v.chunks_exact(C)).zip(out.chunks_exact_mut(S::NQ));
                for ((q, v), out) in bodies {
                    S::qdot(q, v, out);
                }
            },
        );
    }

    fn advance(&self, slope: Slope<'_, L>, stage: [&mut [L]; 3], sum: [&mut [L]; 3]) {
        L::vectorize(
            #[inline(always)]
            || self.take_slope(slope, stage, sum),
        );
    }

    fn normalize(&self, q: &mut [L]) {
        L::vectorize(
            #[inline(always)]
            || {
                for q in q.chunks_exact_mut(S::NQ) {
                    S::normalize(q);
                }
            },
        );
    }

    fn factorizations(&self) -> u64 {
        self.factorizations
    }
}
