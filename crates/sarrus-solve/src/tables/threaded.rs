//! The loops of a solution shared among threads, for one large model: each of their rounds stands for itself, so that no bit depends on who makes them.

use super::block::BodyRows;
use super::cache_blocks::BLOCK_BODIES;
use super::engine::{BodySpace, Engine};
use super::factor::{FactorColumns, Pivots};
use super::passes::{
    SolveTarget, apply_constraint_impulse, check_violation, diagonal, fill, free_acceleration, multiply,
    schur_block, update_kinematics,
};
use super::pattern::EliminationPattern;
use super::solve::spread;
use super::subtrees::Branch;
use rayon::prelude::*;
use sarrus_math::lane::Lane;

impl<L: Lane, S: BodySpace<L, C>, B: BodyRows<L, S, N, C>, const N: usize, const C: usize>
    Engine<L, S, B, N, C>
{
    /// Makes rows and columns of all strips, by several threads.
    pub(super) fn prepare_together<const PHI: bool>(&mut self, state: Option<(&[L], &[L])>, anew: bool) {
        let Engine {
            pattern,
            inertias,
            states: body_states,
            bodies,
            shapes,
            spans,
            records,
            J,
            value,
            z,
            x0,
            scale,
            factors,
            excess,
            largest,
            is_current,
            ..
        } = self;
        if let Some((q, v)) = state {
            let body_states =
                body_states[1..].par_chunks_mut(BLOCK_BODIES).zip(x0[1..].par_chunks_mut(BLOCK_BODIES));
            let states = q.par_chunks(BLOCK_BODIES * S::NQ).zip(v.par_chunks(BLOCK_BODIES * C));
            body_states.zip(inertias[1..].par_chunks(BLOCK_BODIES).zip(states)).for_each(
                |((body_states, x0), (m, (q, v)))| {
                    update_kinematics::<L, S, C>(body_states, q, v, *is_current);
                    if !PHI {
                        free_acceleration::<L, S, C>(body_states, m, x0);
                    }
                },
            );
        }
        let rows = J
            .par_chunks_mut(BLOCK_BODIES)
            .zip(value.par_chunks_mut(BLOCK_BODIES))
            .zip(z.par_chunks_mut(BLOCK_BODIES));
        let parts = bodies.par_chunks(BLOCK_BODIES).zip(shapes.par_chunks(BLOCK_BODIES));
        rows.zip(parts).for_each(|(((J, value), z), parts)| {
            fill::<L, S, B, N, C, PHI>(body_states, records, parts, J, value);
            if PHI {
                z.copy_from_slice(value);
            } else {
                multiply(parts.0, J, x0, Some(value), z);
            }
        });
        if PHI {
            check_violation(J, value, *largest, excess);
        }
        if anew {
            let rows = factors.D.par_chunks_mut(BLOCK_BODIES).zip(scale.par_chunks_mut(BLOCK_BODIES));
            let parts = bodies
                .par_chunks(BLOCK_BODIES)
                .zip(spans.par_chunks(BLOCK_BODIES))
                .zip(J.par_chunks(BLOCK_BODIES));
            rows.zip(parts).for_each(|((D, scale), (parts, J))| diagonal(inertias, parts, J, D, scale));
            let blocks = factors.B.par_chunks_mut(BLOCK_BODIES).enumerate();
            blocks.for_each(|(i, B)| schur_block(pattern, inertias, J, i * BLOCK_BODIES, B));
        }
    }

    /// Eliminates all parts, branches by several threads.
    pub(super) fn eliminate_together(&mut self, anew: bool) {
        let Engine { pattern, factors, scale, z, pivots, .. } = self;
        let count = pattern.subtrees.len();
        let eliminate = |own: &Branch, columns: &mut FactorColumns<'_, L, N>, pivots: &mut Pivots<L>| {
            if anew {
                columns.factor(pattern, own.own.clone(), pivots);
            } else {
                columns.lower(pattern, own.own.clone());
            }
        };
        let columns = factors.columns(scale, z);
        share(pattern, &pattern.subtrees, columns, &mut pivots[..count], &eliminate);
        self.collect(anew);
        self.eliminate_parts(self.pattern.branch(count), anew, count);
    }

    /// Goes up all columns.
    pub(super) fn ascend_together(&mut self, from: SolveTarget<'_, L, C>, x: &mut [[L; C]]) {
        let Engine { pattern, factors, inertias, J, z, scale, pivots, .. } = self;
        let count = pattern.subtrees.len();
        factors.columns(scale, z).upper(pattern, pattern.branch(count));
        spread(pattern, z);
        let upper = |own: &Branch, columns: &mut FactorColumns<'_, L, N>, _: &mut Pivots<L>| {
            columns.upper(pattern, own.own.clone())
        };
        share(pattern, &pattern.subtrees, factors.columns(scale, z), &mut pivots[..count], &upper);
        let bodies = x.par_chunks_mut(BLOCK_BODIES).enumerate();
        bodies.for_each(|(i, x)| {
            apply_constraint_impulse::<L, S, B, N, C>(pattern, inertias, J, z, i * BLOCK_BODIES, from, x)
        });
    }
}

/// Does the same to the columns of all branches, by several threads.
fn share<L: Lane, const N: usize>(
    pattern: &EliminationPattern,
    subtrees: &[Branch],
    mut columns: FactorColumns<'_, L, N>,
    pivots: &mut [Pivots<L>],
    act: &(impl Fn(&Branch, &mut FactorColumns<'_, L, N>, &mut Pivots<L>) + Sync),
) {
    match subtrees {
        [] => {}
        [branch] => act(branch, &mut columns, &mut pivots[0]),
        _ => {
            let (early, late) = subtrees.split_at(subtrees.len() / 2);
            let (first, second) = columns.split(pattern, late[0].own.start);
            let (early_pivots, late_pivots) = pivots.split_at_mut(early.len());
            rayon::join(
                || share(pattern, early, first, early_pivots, act),
                || share(pattern, late, second, late_pivots, act),
            );
        }
    }
}
