//! A slope, taken into the sum that ends a step, and the stage that it leads to: one pass over the state, in which no slope is stored.

use super::engine::BodySpace;
use sarrus_math::lane::Lane;

/// Holds what a slope k counts for.
#[derive(Debug, Clone, Copy)]
pub struct SlopeWeights {
    /// Size of the step \[s\].
    pub h: f64,
    /// True if it is the first of the step, which begins the sum.
    pub is_first: bool,
    /// The next stage is start + h a k; none after the last slope, with which the sum becomes the end: start + h Σ b k.
    pub a: Option<f64>,
    /// Its share in the sum.
    pub b: f64,
}

/// A slope of a step from `start`: positions, velocities and energy accounts, as all states here.
#[derive(Debug, Clone, Copy)]
pub struct Slope<'a, L> {
    /// Marks where the step starts.
    pub start: [&'a [L]; 3],
    /// Accelerations, and powers of loads.
    pub rates: [&'a [L]; 2],
    /// Holds what it counts for.
    pub weights: SlopeWeights,
}

#[inline(always)]
pub(super) fn add_slope<L: Lane, S: BodySpace<L, C>, const C: usize>(
    slope: Slope<'_, L>,
    stage: [&mut [L]; 3],
    sum: [&mut [L]; 3],
) {
    let Slope { start: [start_q, start_v, start_x], rates: [vdot, xdot], weights } = slope;
    let ([q, v, x], [sum_q, sum_v, sum_x]) = (stage, sum);
    // positions first: q̇ needs the velocities of this stage
    let ours = q.chunks_exact_mut(S::NQ).zip(v.chunks_exact(C));
    let theirs = start_q.chunks_exact(S::NQ).zip(sum_q.chunks_exact_mut(S::NQ));
    for ((q, v), (start, sum)) in ours.zip(theirs) {
        let mut k = [L::splat(0.0); 7];
        S::qdot(q, v, &mut k);
        add(weights, start, &k, q, sum);
    }
    add(weights, start_v, vdot, v, sum_v);
    add(weights, start_x, xdot, x, sum_x);
}

#[inline(always)]
fn add<L: Lane>(weights: SlopeWeights, start: &[L], k: &[L], next: &mut [L], sum: &mut [L]) {
    let SlopeWeights { h, is_first, a, b } = weights;
    let numbers = next.iter_mut().zip(sum).zip(start.iter().zip(k));
    for ((next, sum), (&start, &k)) in numbers {
        let own = L::splat(b) * k;
        let all = if is_first { own } else { *sum + own };
        match a {
            Some(a) => (*next, *sum) = (start + L::splat(h) * (L::splat(a) * k), all),
            None => *sum = start + L::splat(h) * all,
        }
    }
}
