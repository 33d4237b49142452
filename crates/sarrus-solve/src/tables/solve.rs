//! S λ = J M⁻¹ f - γ, and v̇ = M⁻¹(f - Jᵀλ).
//!
//! Strip by strip: bodies are evaluated, rows made and columns of S when the elimination of a strip first needs them, so that a large model passes through the
//! cache once on the way down and once on the way up. Where threads share the work each loop goes over all of it; the order in which numbers are added is the same.

use super::block::BodyRows;
use super::cache_blocks::{BLOCK_BODIES, CacheBlocks};
use super::engine::{BodySpace, Engine, Health, are_equal, nothing};
use super::factor::Pivots;
use super::passes::{
    Excess, SolveTarget, apply_constraint_impulse, check_violation, diagonal, fill, free_acceleration,
    multiply, schur_block, update_kinematics,
};
use super::pattern::EliminationPattern;
use rayon::prelude::*;
use sarrus_math::lane::{Lane, Mask};
use std::ops::Range;

/// Pivots above this fraction leave a residual of rounding: block LDLᵀ is backward stable, and what the inverses of its diagonal blocks lose is
/// no more than that. Below, the residual is checked.
const SAFE_PIVOT: f64 = 1e-2;
/// Parts from which on loops are shared among threads.
const SHARED: usize = 4096;
/// Threads from which on that is worth while where elimination has no branches: loops that go over all of a model each lose what strips gain.
const THREADS: usize = 4;

impl<L: Lane, S: BodySpace<L, C>, B: BodyRows<L, S, N, C>, const N: usize, const C: usize>
    Engine<L, S, B, N, C>
{
    /// Returns whether loops over bodies and parts are shared among threads: each of their rounds stands for itself, so that no bit depends on it.
    #[inline(always)]
    fn is_shared(&self) -> bool {
        let fewest = if self.pattern.subtrees.is_empty() { THREADS } else { 2 };
        L::WIDTH == 1 && self.bodies.len() >= SHARED && rayon::current_num_threads() >= fewest
    }

    /// Places all bodies.
    #[inline(always)]
    pub fn update_kinematics(&mut self, q: &[L], v: &[L]) {
        if self.is_shared() {
            let body_states = self.states[1..].par_chunks_mut(BLOCK_BODIES);
            let states = q.par_chunks(BLOCK_BODIES * S::NQ).zip(v.par_chunks(BLOCK_BODIES * C));
            body_states.zip(states).for_each(|(body_states, (q, v))| {
                update_kinematics::<L, S, C>(body_states, q, v, self.is_current)
            });
        } else {
            update_kinematics::<L, S, C>(&mut self.states[1..], q, v, self.is_current);
        }
    }

    /// J and Φ where the bodies are.
    #[inline(always)]
    pub fn evaluate(&mut self) {
        self.is_reported = false;
        let shared = self.is_shared();
        let Engine { states, bodies, shapes, records, J, value, .. } = self;
        if shared {
            let rows = J.par_chunks_mut(BLOCK_BODIES).zip(value.par_chunks_mut(BLOCK_BODIES));
            let parts = bodies.par_chunks(BLOCK_BODIES).zip(shapes.par_chunks(BLOCK_BODIES));
            rows.zip(parts).for_each(|((J, value), parts)| {
                fill::<L, S, B, N, C, true>(states, records, parts, J, value)
            });
        } else {
            fill::<L, S, B, N, C, true>(states, records, (bodies, shapes), J, value);
        }
    }

    /// Goes down the columns of S: L⁻¹ z, with factors that are made `anew` or with those that there are. In z is J M⁻¹ f - γ, or Φ; by how much that is more than
    /// rounding, in units of `rounding`, is in `excess`. Without a `state` bodies have their places, and M⁻¹ f is there.
    #[inline(always)]
    pub fn eliminate<const PHI: bool>(&mut self, state: Option<(&[L], &[L])>, anew: bool) {
        self.excess = Excess::new();
        self.pivots.fill(Pivots::new());
        if self.is_shared() {
            self.prepare_together::<PHI>(state, anew);
            self.eliminate_together(anew);
        } else {
            self.done.iter_mut().for_each(|done| done.fill(false));
            let blocks = std::mem::take(&mut self.blocks);
            let (count, n) = (self.pattern.subtrees.len(), self.bodies.len());
            for block in 0..blocks.count() {
                let parts = parts(block, n);
                // what stand-ins have goes to all parts that are in no branch
                let is_last = count > 0 && parts.contains(&self.pattern.branch(count).start);
                for other in block..if is_last { blocks.count() } else { block + 1 } {
                    self.prepare::<PHI>(&blocks, other, state, anew);
                }
                for b in 0..=count {
                    let own = self.pattern.branch(b);
                    if b == count && parts.contains(&own.start) {
                        self.collect(anew);
                    }
                    self.eliminate_parts(common(&parts, own), anew, b);
                }
            }
            self.blocks = blocks;
        }
        if anew {
            self.gather_pivots();
        }
    }

    /// Eliminates parts of one branch, or of the rest.
    #[inline(always)]
    pub(super) fn eliminate_parts(&mut self, parts: Range<usize>, anew: bool, branch: usize) {
        let Engine { pattern, factors, scale, z, pivots, .. } = self;
        let mut columns = factors.columns(scale, z);
        if anew {
            columns.factor(pattern, parts, &mut pivots[branch]);
        } else {
            columns.lower(pattern, parts);
        }
    }

    /// Gathers what branches take from their stand-ins, and adds it to what these stand in for.
    #[inline(always)]
    pub(super) fn collect(&mut self, anew: bool) {
        let Engine { pattern, factors, scale, z, .. } = self;
        for branch in &pattern.subtrees {
            let (mut columns, parts) = (factors.columns(scale, z), branch.own.end..branch.all().end);
            if anew {
                columns.stand_in(pattern, parts);
            } else {
                columns.lower(pattern, parts);
            }
        }
        factors.collect(pattern, anew, z);
    }

    /// Makes rows and columns of a strip where that is not done yet.
    #[inline(always)]
    fn prepare<const PHI: bool>(
        &mut self,
        blocks: &CacheBlocks,
        block: usize,
        state: Option<(&[L], &[L])>,
        anew: bool,
    ) {
        if std::mem::replace(&mut self.done[2][block], true) {
            return;
        }
        let alone = [block as u32];
        for &other in if anew { blocks.needs(block) } else { &alone } {
            self.make_rows::<PHI>(blocks, other as usize, state);
        }
        if anew {
            self.make_columns(parts(block, self.bodies.len()));
        }
    }

    /// Columns of S of some parts.
    #[inline(always)]
    fn make_columns(&mut self, parts: Range<usize>) {
        let Engine { pattern, inertias, bodies, spans, J, scale, factors, .. } = self;
        let blocks = pattern.begin(parts.start)..pattern.begin(parts.end);
        let own = (&bodies[parts.clone()], &spans[parts.clone()]);
        diagonal(inertias, own, &J[parts.clone()], &mut factors.D[parts.clone()], &mut scale[parts]);
        schur_block(pattern, inertias, J, blocks.start, &mut factors.B[blocks]);
    }

    /// Factors of the rows that are there, of a model of one strip, and L⁻¹ z with them.
    #[inline(always)]
    pub fn factor(&mut self) {
        debug_assert!(self.blocks.count() <= 1 && self.pattern.subtrees.is_empty());
        let parts = 0..self.bodies.len();
        self.pivots.fill(Pivots::new());
        self.make_columns(parts.clone());
        self.eliminate_parts(parts, true, 0);
        self.gather_pivots();
    }

    /// The smallest pivot of new factors.
    #[inline(always)]
    fn gather_pivots(&mut self) {
        let mut all = self.pivots[0];
        self.pivots[1..].iter().for_each(|pivots| all.merge(pivots));
        self.pivot = all.smallest();
        self.factorizations += 1;
    }

    /// Makes rows of a strip, and their right-hand side, where that is not done yet.
    #[inline(always)]
    fn make_rows<const PHI: bool>(
        &mut self,
        blocks: &CacheBlocks,
        block: usize,
        state: Option<(&[L], &[L])>,
    ) {
        if std::mem::replace(&mut self.done[1][block], true) {
            return;
        }
        let own = parts(block, self.bodies.len());
        let Engine {
            done,
            states,
            inertias,
            x0,
            bodies,
            shapes,
            records,
            J,
            value,
            z,
            excess,
            largest,
            is_current,
            ..
        } = self;
        if let Some((q, v)) = state {
            for &block in blocks.bodies(block) {
                if !std::mem::replace(&mut done[0][block as usize], true) {
                    let some = parts(block as usize, states.len() - 1);
                    let (q, v) = (&q[some.start * S::NQ..some.end * S::NQ], &v[some.start * C..some.end * C]);
                    let some = some.start + 1..some.end + 1;
                    let own = &mut states[some.clone()];
                    update_kinematics::<L, S, C>(own, q, v, *is_current);
                    if !PHI {
                        free_acceleration::<L, S, C>(own, &inertias[some.clone()], &mut x0[some]);
                    }
                }
            }
        }
        let parts = (&bodies[own.clone()], &shapes[own.clone()]);
        let (J, value, z) = (&mut J[own.clone()], &mut value[own.clone()], &mut z[own]);
        fill::<L, S, B, N, C, PHI>(states, records, parts, J, value);
        if PHI {
            check_violation(J, value, *largest, excess);
            z.copy_from_slice(value);
        } else {
            multiply(parts.0, J, x0, Some(value), z);
        }
    }

    /// L⁻¹ z of a right-hand side that is there.
    #[inline(always)]
    pub fn lower(&mut self) {
        let count = self.pattern.subtrees.len();
        for b in 0..=count {
            if b == count {
                self.collect(false);
            }
            let Engine { pattern, factors, scale, z, .. } = self;
            factors.columns(scale, z).lower(pattern, pattern.branch(b));
        }
    }

    /// Goes up the columns of S, and takes M⁻¹ Jᵀ z from x, which has no ground.
    #[inline(always)]
    pub(super) fn ascend(&mut self, from: SolveTarget<'_, L, C>, x: &mut [[L; C]]) {
        if self.is_shared() {
            return self.ascend_together(from, x);
        }
        let Engine { pattern, blocks, factors, inertias, J, z, scale, .. } = self;
        let count = pattern.subtrees.len();
        for block in (0..blocks.count()).rev() {
            let parts = parts(block, z.len());
            for b in (0..=count).rev() {
                let own = pattern.branch(b);
                factors.columns(scale, z).upper(pattern, common(&parts, own.clone()));
                if b == count && parts.contains(&own.start) {
                    spread(pattern, z);
                }
            }
            for &block in blocks.complete(block) {
                let some = self::parts(block as usize, x.len());
                apply_constraint_impulse::<L, S, B, N, C>(
                    pattern,
                    inertias,
                    J,
                    z,
                    some.start,
                    from,
                    &mut x[some],
                );
            }
        }
    }

    /// Solves S z = z, of which L⁻¹ z is done, with -M⁻¹ Jᵀ z into x.
    #[inline(always)]
    pub fn change(&mut self) {
        let mut x = std::mem::take(&mut self.x);
        self.ascend(SolveTarget::Zero, &mut x[1..]);
        self.x = x;
    }

    /// Forces on all bodies.
    #[inline(always)]
    fn forces(&mut self, f: Option<&[L]>) {
        if let Some(f) = f {
            for (to, f) in self.f[1..].iter_mut().zip(f.as_chunks().0) {
                *to = *f;
            }
            return;
        }
        for ((f, inertia), state) in self.f.iter_mut().zip(&self.inertias).zip(&self.states).skip(1) {
            *f = S::own_force(inertia, state);
        }
        self.f[0] = [L::splat(0.0); C];
        self.powers = [L::splat(0.0); 2];
        for load in self.loads.iter().flatten() {
            let bodies = load.bodies.map(|b| &self.states[b]);
            let both = S::load(load, bodies, &mut self.powers);
            for (body, force) in load.bodies.into_iter().zip(both) {
                for p in 0..C {
                    self.f[body][p] += force[p];
                }
            }
        }
    }

    #[inline(always)]
    pub fn solve(&mut self, q: &[L], v: &[L], f: Option<&[L]>, vdot: &mut [[L; C]]) -> Health<L> {
        self.is_reported = false;
        self.is_held &= are_equal(&self.held[0], q);
        self.is_current &= self.is_held;
        let mut state = Some((q, v));
        if f.is_some() || self.loads.as_ref().is_some_and(|loads| !loads.is_empty()) {
            self.update_kinematics(q, v);
            self.forces(f);
            for ((x, f), inertia) in self.x0.iter_mut().zip(&self.f).zip(&self.inertias).skip(1) {
                *x = S::over_mass(inertia, f);
            }
            state = None;
        }
        self.eliminate::<false>(state, !self.is_held);
        let x0 = std::mem::take(&mut self.x0);
        self.ascend(SolveTarget::Other(&x0[1..]), vdot);
        self.x0 = x0;

        let doubtful = self.pivot.lt(L::splat(SAFE_PIVOT));
        let (mut residual, mut refinements) = (L::splat(0.0), 0);
        if doubtful.any() {
            (residual, refinements) = self.refine(doubtful, vdot);
        }
        let mut sum = [L::splat(0.0); C];
        for x in &*vdot {
            for p in 0..C {
                sum[p] += x[p];
            }
        }
        for sum in sum {
            residual += nothing(sum);
        }
        Health { pivot: self.pivot, residual, refinements }
    }
}

/// Numbers of a strip, of so many in all.
#[inline(always)]
fn parts(block: usize, all: usize) -> Range<usize> {
    block * BLOCK_BODIES..((block + 1) * BLOCK_BODIES).min(all)
}

/// Returns what two ranges have in common.
#[inline(always)]
fn common(a: &Range<usize>, b: Range<usize>) -> Range<usize> {
    let begin = a.start.max(b.start);
    begin..a.end.min(b.end).max(begin)
}

/// Gives stand-ins what they stand in for.
#[inline(always)]
pub(super) fn spread<L: Lane, const N: usize>(pattern: &EliminationPattern, x: &mut [[L; N]]) {
    for branch in &pattern.subtrees {
        for (i, &from) in branch.stands_for.iter().enumerate() {
            x[branch.own.end + i] = x[from as usize];
        }
    }
}
