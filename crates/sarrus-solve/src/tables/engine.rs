//! The tables of a model, and what they answer.

use super::advance::{Slope, add_slope};
use super::block::BodyRows;
use super::cache_blocks::{BLOCK_BODIES, CacheBlocks};
use super::factor::{Factors, Pivots};
use super::passes::Excess;
use super::pattern::EliminationPattern;
use super::{Description, LoadRecord, RowKind, RowRecord, Tables, VectorOfTime};
use sarrus_math::lane::{Lane, Mask};
use std::sync::Arc;

/// The largest residual that is accepted.
const UNSOLVED: f64 = 1e-10;
/// A pivot below this fraction of its row's diagonal is not for tables.
const LEAST_PIVOT: f64 = 1e-9;

/// Describes how well a solution went, in each lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Health<L> {
    /// Smallest pivot as a fraction of its row's diagonal.
    pub pivot: L,
    /// Largest residual relative to its terms, zero where pivots are large and no one looked; not a number where one is not finite.
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
pub(super) trait BodySpace<L: Lane, const C: usize>: Copy + Send + 'static {
    /// Numbers of a position.
    const NQ: usize;
    /// Position and velocity of a body, unpacked.
    type BodyState: Copy + Send + Sync;
    /// M, M⁻¹ and weight.
    type Inertia: Copy + Send + Sync;

    fn ground() -> Self::BodyState;
    fn update_kinematics(q: &[L], v: &[L]) -> Self::BodyState;
    /// Places all bodies.
    #[inline(always)]
    fn update_all(states: &mut [Self::BodyState], q: &[L], v: &[L]) {
        for ((state, q), v) in states.iter_mut().zip(q.chunks_exact(Self::NQ)).zip(v.chunks_exact(C)) {
            *state = Self::update_kinematics(q, v);
        }
    }
    /// Gives a body that is where it was another velocity.
    fn set_velocity(state: &mut Self::BodyState, v: &[L; C]);
    fn inertia(variants: &[&Description], body: usize) -> Self::Inertia;
    fn no_inertia() -> Self::Inertia;
    /// M⁻¹ x.
    fn over_mass(inertia: &Self::Inertia, x: &[L; C]) -> [L; C];
    /// Gravity and the gyroscopic torque.
    fn own_force(inertia: &Self::Inertia, state: &Self::BodyState) -> [L; C];
    /// Rows of `record` from row `at` on: J at both bodies, and Φ or γ. Returns how many.
    fn rows<const N: usize, const PHI: bool>(
        record: &RowRecord<L>,
        bodies: [&Self::BodyState; 2],
        at: usize,
        J: [&mut [[L; C]; N]; 2],
        value: &mut [L; N],
    ) -> usize;
    /// Forces of a load on its two bodies; adds to its power, or to the power that it turns into heat.
    fn load(record: &LoadRecord<L>, bodies: [&Self::BodyState; 2], powers: &mut [L; 2]) -> [[L; C]; 2];
    /// q ⊕ δ.
    fn retract(q: &mut [L], delta: &[L; C]);
    fn qdot(q: &[L], v: &[L], out: &mut [L]);
    fn normalize(q: &mut [L]);
}

/// Zero, and not a number where `x` is not finite.
#[inline(always)]
pub(super) fn nothing<L: Lane>(x: L) -> L {
    x * L::splat(0.0)
}

/// Returns whether numbers are the same, in all lanes.
#[inline(always)]
pub(super) fn are_equal<L: Lane>(a: &[L], b: &[L]) -> bool {
    for (a, b) in a.iter().zip(b) {
        if !a.eq(*b).all() {
            return false;
        }
    }
    true
}

/// Multipliers of a part, by number.
#[derive(Debug, Clone, Copy)]
pub(super) struct MultiplierRange {
    pub start: u32,
    /// Rows that it has; the rest of N is padding.
    pub rows: u32,
}

/// Tables with row blocks of N rows and bodies of C velocities.
pub(super) struct Engine<L: Lane, S: BodySpace<L, C>, B: BodyRows<L, S, N, C>, const N: usize, const C: usize>
{
    pub pattern: EliminationPattern,
    pub blocks: CacheBlocks,
    /// Strips that are done: of bodies that are evaluated, of parts whose rows are there, of parts whose columns of S are.
    pub done: [Vec<bool>; 3],
    pub inertias: Vec<S::Inertia>,
    pub states: Vec<S::BodyState>,
    /// Bodies of each part, and what its rows are made of.
    pub bodies: Vec<[u32; 2]>,
    pub shapes: Vec<B::Shape>,
    pub records: Vec<RowRecord<L>>,
    pub spans: Vec<MultiplierRange>,
    pub loads: Option<Vec<LoadRecord<L>>>,
    /// Loads that change with time, one function for each lane.
    timed: Vec<(usize, Vec<VectorOfTime>)>,
    /// Time when they were asked last \[s\]: stages of a step share their times.
    asked_at: f64,
    pub powers: [L; 2],
    pub J: Vec<[B; 2]>,
    /// Φ or γ.
    pub value: Vec<[L; N]>,
    pub scale: Vec<[L; N]>,
    pub factors: Factors<L, N>,
    /// The smallest pivots of branches, of the rest, and of all.
    pub pivots: Vec<Pivots<L>>,
    pub pivot: L,
    pub factorizations: u64,
    pub moved: bool,
    /// Positions that the factors belong to, and velocities that were brought onto the constraints with them.
    pub held: [Vec<L>; 2],
    pub is_held: bool,
    /// True if bodies are evaluated there.
    pub is_current: bool,
    /// True if Φ and Φ̇ at these are in `value` and `z`.
    pub is_reported: bool,
    pub f: Vec<[L; C]>,
    /// M⁻¹ f, and changes of velocities; the ground's are zero.
    pub x0: Vec<[L; C]>,
    pub x: Vec<[L; C]>,
    /// Of the rows that were checked.
    pub excess: Excess<L>,
    /// The largest position, at least one.
    pub largest: L,
    /// Multipliers that are refined.
    pub lambda: Vec<[L; N]>,
    /// A right-hand side, then its solution.
    pub z: Vec<[L; N]>,
}

impl<L: Lane, S: BodySpace<L, C>, B: BodyRows<L, S, N, C>, const N: usize, const C: usize>
    Engine<L, S, B, N, C>
{
    pub fn new(variants: &[&Description], pattern: EliminationPattern) -> Self {
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
        let (mut bodies, mut shapes, mut spans, mut records) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for part in &pattern.parts {
            if part.rows == 0 {
                // a stand-in is between the ground and itself: neither S nor a right-hand side have anything of it
                let zeros = [L::splat(0.0); 3];
                records.push(RowRecord { kind: RowKind::Coincident, a: zeros, r_A: zeros, r_B: zeros });
                shapes.push(B::shape(&records, records.len() - 1, records.len()));
                bodies.push([0; 2]);
                spans.push(MultiplierRange { start: 0, rows: 0 });
                continue;
            }
            let e = part.element;
            for k in part.records.clone() {
                records.push(RowRecord {
                    kind: model.elements[e].rows[k].kind,
                    a: three(&|d| d.elements[e].rows[k].a),
                    r_A: three(&|d| d.elements[e].rows[k].r_A),
                    r_B: three(&|d| d.elements[e].rows[k].r_B),
                });
            }
            shapes.push(B::shape(&records, records.len() - part.records.len(), records.len()));
            bodies.push(model.elements[e].bodies.map(|b| b as u32));
            spans.push(MultiplierRange { start: part.start as u32, rows: part.rows as u32 });
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
        let of_time = |k: usize| -> Option<Vec<VectorOfTime>> {
            variants.iter().map(|d| d.loads.as_ref()?.get(k)?.timed.clone()).collect()
        };
        let count = model.loads.as_ref().map_or(0, Vec::len);
        let timed = (0..count).filter_map(|k| Some((k, of_time(k)?))).collect();
        let (n, moving, zero) = (bodies.len(), model.bodies.len() + 1, L::splat(0.0));
        let mut inertias = vec![S::no_inertia()];
        inertias.extend((0..model.bodies.len()).map(|b| S::inertia(variants, b)));
        Engine {
            factors: Factors::new(&pattern),
            blocks: CacheBlocks::new(&pattern, &bodies),
            pivots: vec![Pivots::new(); pattern.subtrees.len() + 1],
            done: [false; 3].map(|done| vec![done; n.max(moving).div_ceil(BLOCK_BODIES)]),
            pattern,
            inertias,
            states: vec![S::ground(); moving],
            bodies,
            shapes,
            spans,
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
            held: [S::NQ, C].map(|n| vec![zero; n * (moving - 1)]),
            is_held: false,
            is_current: false,
            is_reported: false,
            f: vec![[zero; C]; moving],
            x0: vec![[zero; C]; moving],
            x: vec![[zero; C]; moving],
            excess: Excess::new(),
            largest: zero,
            lambda: vec![[zero; N]; n],
            z: vec![[zero; N]; n],
        }
    }
}

impl<L, S, B, const N: usize, const C: usize> Tables<L> for Engine<L, S, B, N, C>
where
    L: Lane,
    S: BodySpace<L, C>,
    B: BodyRows<L, S, N, C> + 'static,
{
    fn accelerate(&mut self, t: f64, q: &[L], v: &[L], f: Option<&[L]>, vdot: &mut [L]) -> Health<L> {
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
            || self.solve(q, v, f, vdot.as_chunks_mut().0),
        )
    }

    fn multipliers(&self, lambda: &mut [L]) {
        for (span, own) in self.spans.iter().zip(&self.z) {
            let n = span.rows as usize;
            lambda[span.start as usize..][..n].copy_from_slice(&own[..n]);
        }
    }

    fn powers(&self) -> [L; 2] {
        self.powers
    }

    fn project(&mut self, q: &mut [L], v: &mut [L]) -> (Health<L>, u32) {
        L::vectorize(
            #[inline(always)]
            || self.project_positions(q, v),
        )
    }

    fn violation(&mut self, q: &[L], v: &[L], phi: &mut [L], phidot: &mut [L]) {
        L::vectorize(
            #[inline(always)]
            || {
                // a projection leaves them
                if !(self.is_reported && are_equal(&self.held[0], q) && are_equal(&self.held[1], v)) {
                    self.is_current = false;
                    self.update_kinematics(q, v);
                    self.evaluate();
                    self.rates(v);
                }
            },
        );
        for ((span, value), rate) in self.spans.iter().zip(&self.value).zip(&self.z) {
            let (first, n) = (span.start as usize, span.rows as usize);
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
            || add_slope::<L, S, C>(slope, stage, sum),
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
