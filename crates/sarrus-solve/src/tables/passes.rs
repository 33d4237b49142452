//! The loops over some bodies or parts.

use super::RowRecord;
use super::block::BodyRows;
use super::engine::{BodySpace, MultiplierRange};
use super::factor::Square;
use super::pattern::EliminationPattern;
use sarrus_math::lane::Lane;

/// Holds what M⁻¹ Jᵀ z is taken from.
#[derive(Clone, Copy)]
pub(super) enum SolveTarget<'a, L: Lane, const C: usize> {
    Zero,
    Other(&'a [[L; C]]),
    /// Holds what is there, and only in these lanes.
    Own(L::Mask),
}

/// Roundings in a row of Φ or Φ̇.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Slopes of a row by the positions of two bodies add up to no more, in any direction.
const TRANSLATIONS: f64 = 4.0;

/// By how much rows of Φ or Φ̇ are more than rounding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Excess<L> {
    /// The largest, or a number below zero.
    pub most: L,
    /// Of all rows, for numbers that are none.
    pub sum: L,
}

impl<L: Lane> Excess<L> {
    #[inline(always)]
    pub fn new() -> Self {
        Excess { most: L::splat(-1.0), sum: L::splat(0.0) }
    }
}

/// The size of the terms of a row: slopes times positions. Lever arms go with angles, so what large slopes count for is themselves.
#[inline(always)]
fn terms<L: Lane>(slopes: L, largest: L) -> L {
    (slopes * largest).min(slopes.max(L::splat(TRANSLATIONS) * largest))
}

/// Takes note of rows of some parts, where the largest position, or velocity, is `largest`.
#[inline(always)]
pub(super) fn check_violation<
    L: Lane,
    S: BodySpace<L, C>,
    B: BodyRows<L, S, N, C>,
    const N: usize,
    const C: usize,
>(
    J: &[[B; 2]],
    value: &[[L; N]],
    largest: L,
    excess: &mut Excess<L>,
) {
    let Excess { mut most, mut sum } = *excess;
    for (J, value) in J.iter().zip(value) {
        let (a, b) = (J[0].abs_row_sums(), J[1].abs_row_sums());
        for i in 0..N {
            sum += value[i];
            most = most.max(value[i].abs() - L::splat(ROUNDING) * terms(a[i] + b[i], largest));
        }
    }
    *excess = Excess { most, sum };
}

/// Places some bodies; those that are where they were get their velocities only.
#[inline(always)]
pub(super) fn update_kinematics<L: Lane, S: BodySpace<L, C>, const C: usize>(
    states: &mut [S::BodyState],
    q: &[L],
    v: &[L],
    is_current: bool,
) {
    if is_current {
        for (state, v) in states.iter_mut().zip(v.as_chunks().0) {
            S::set_velocity(state, v);
        }
    } else {
        S::update_all(states, q, v);
    }
}

/// Computes what the weight and the rotation of some bodies alone accelerate them by.
#[inline(always)]
pub(super) fn free_acceleration<L: Lane, S: BodySpace<L, C>, const C: usize>(
    states: &[S::BodyState],
    inertias: &[S::Inertia],
    x0: &mut [[L; C]],
) {
    for ((x, state), inertia) in x0.iter_mut().zip(states).zip(inertias) {
        *x = S::over_mass(inertia, &S::own_force(inertia, state));
    }
}

/// Rows of some parts.
#[inline(always)]
pub(super) fn fill<
    L: Lane,
    S: BodySpace<L, C>,
    B: BodyRows<L, S, N, C>,
    const N: usize,
    const C: usize,
    const PHI: bool,
>(
    states: &[S::BodyState],
    records: &[RowRecord<L>],
    (bodies, shapes): (&[[u32; 2]], &[B::Shape]),
    J: &mut [[B; 2]],
    value: &mut [[L; N]],
) {
    for (((bodies, shape), J), value) in bodies.iter().zip(shapes).zip(J).zip(value) {
        B::fill::<PHI>(records, shape, bodies.map(|b| &states[b as usize]), J, value);
    }
}

/// J x of some parts, less γ where there is one.
#[inline(always)]
pub(super) fn multiply<
    L: Lane,
    S: BodySpace<L, C>,
    B: BodyRows<L, S, N, C>,
    const N: usize,
    const C: usize,
>(
    bodies: &[[u32; 2]],
    J: &[[B; 2]],
    x: &[[L; C]],
    gamma: Option<&[[L; N]]>,
    z: &mut [[L; N]],
) {
    for (k, ((bodies, J), z)) in bodies.iter().zip(J).zip(z).enumerate() {
        let [a, b] = bodies.map(|b| &x[b as usize]);
        let (a, b) = (J[0].times(a), J[1].times(b));
        for i in 0..N {
            z[i] = a[i] + b[i];
        }
        if let Some(gamma) = gamma {
            for i in 0..N {
                z[i] -= gamma[k][i];
            }
        }
    }
}

/// Diagonal blocks of S of some parts, and its diagonal.
#[inline(always)]
pub(super) fn diagonal<
    L: Lane,
    S: BodySpace<L, C>,
    B: BodyRows<L, S, N, C>,
    const N: usize,
    const C: usize,
>(
    inertias: &[S::Inertia],
    (bodies, spans): (&[[u32; 2]], &[MultiplierRange]),
    J: &[[B; 2]],
    D: &mut [Square<L, N>],
    scale: &mut [[L; N]],
) {
    for ((((bodies, span), J), D), scale) in bodies.iter().zip(spans).zip(J).zip(D).zip(scale) {
        let [m_A, m_B] = bodies.map(|b| &inertias[b as usize]);
        let (a, b) = (J[0].schur_block(m_A, &J[0]), J[1].schur_block(m_B, &J[1]));
        for i in 0..N {
            for j in i..N {
                D[i][j] = a[i][j] + b[i][j];
            }
        }
        // padding; a stand-in has nothing of its own
        for i in if span.rows > 0 { span.rows as usize } else { N }..N {
            D[i][i] = L::splat(1.0);
        }
        for i in 0..N {
            scale[i] = D[i][i];
        }
    }
}

/// Blocks of S off its diagonal, from number `first` on.
#[inline(always)]
pub(super) fn schur_block<
    L: Lane,
    S: BodySpace<L, C>,
    B: BodyRows<L, S, N, C>,
    const N: usize,
    const C: usize,
>(
    pattern: &EliminationPattern,
    inertias: &[S::Inertia],
    J: &[[B; 2]],
    first: usize,
    off: &mut [Square<L, N>],
) {
    let mut from = if first == 0 { 0 } else { pattern.coupling_ends[first - 1] as usize };
    for (to, &end) in off.iter_mut().zip(&pattern.coupling_ends[first..]) {
        let mut sum = [[L::splat(0.0); N]; N];
        for c in &pattern.couplings[from..end as usize] {
            let [later, earlier] = [c.later, c.earlier].map(|s| &J[s.part()][s.side()]);
            let block = later.schur_block(&inertias[c.body as usize], earlier);
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

/// Takes M⁻¹ Jᵀ z from x of the bodies after number `first`.
#[inline(always)]
pub(super) fn apply_constraint_impulse<
    L: Lane,
    S: BodySpace<L, C>,
    B: BodyRows<L, S, N, C>,
    const N: usize,
    const C: usize,
>(
    pattern: &EliminationPattern,
    inertias: &[S::Inertia],
    J: &[[B; 2]],
    z: &[[L; N]],
    first: usize,
    from: SolveTarget<'_, L, C>,
    x: &mut [[L; C]],
) {
    let mut begin = pattern.body_ends[first] as usize;
    let bodies = pattern.body_ends[first + 1..].iter().zip(&inertias[first + 1..]);
    for (i, (x, (&end, inertia))) in x.iter_mut().zip(bodies).enumerate() {
        let mut force = [L::splat(0.0); C];
        for s in &pattern.at_bodies[begin..end as usize] {
            force = J[s.part()][s.side()].add_transposed(&z[s.part()], &force);
        }
        begin = end as usize;
        let change = S::over_mass(inertia, &force);
        for p in 0..C {
            x[p] = match from {
                SolveTarget::Zero => -change[p],
                SolveTarget::Other(from) => from[first + i][p] - change[p],
                SolveTarget::Own(wanted) => L::select(wanted, x[p] - change[p], x[p]),
            };
        }
    }
}
