//! J of an element at one of its bodies, and what the loops do with it; kinds that know where its zeros and ones are.

use super::RowRecord;
use super::engine::BodySpace;
use super::factor::Square;
use sarrus_math::lane::Lane;

/// N rows of J at a body of C velocities.
pub(super) trait BodyRows<L: Lane, F: BodySpace<L, C>, const N: usize, const C: usize>:
    Copy + Send + Sync
{
    /// Holds what `fill` reads.
    type Shape: Copy + Send + Sync;
    /// Of the records `first` to `last` of all.
    fn shape(records: &[RowRecord<L>], first: usize, last: usize) -> Self::Shape;
    /// No rows.
    fn zero() -> Self;
    /// Rows of an element at both its bodies, and Φ or γ.
    fn fill<const PHI: bool>(
        records: &[RowRecord<L>],
        shape: &Self::Shape,
        bodies: [&F::BodyState; 2],
        J: &mut [Self; 2],
        value: &mut [L; N],
    );
    /// J x.
    fn times(&self, x: &[L; C]) -> [L; N];
    /// x + Jᵀ z.
    fn add_transposed(&self, z: &[L; N], x: &[L; C]) -> [L; C];
    /// J M⁻¹ Kᵀ with the rows K of another element at the same body.
    fn schur_block(&self, inertia: &F::Inertia, other: &Self) -> Square<L, N>;
    /// Sums of |J| along rows.
    fn abs_row_sums(&self) -> [L; N];
    /// |J| x.
    fn sizes(&self, x: &[L; C]) -> [L; N];
}

/// Any rows.
#[derive(Debug, Clone, Copy)]
pub struct DenseRows<L, const N: usize, const C: usize>(pub [[L; C]; N]);

impl<L: Lane, F: BodySpace<L, C>, const N: usize, const C: usize> BodyRows<L, F, N, C>
    for DenseRows<L, N, C>
{
    type Shape = [u32; 2];

    fn shape(_: &[RowRecord<L>], first: usize, last: usize) -> [u32; 2] {
        [first as u32, last as u32]
    }

    fn zero() -> Self {
        DenseRows([[L::splat(0.0); C]; N])
    }

    #[inline(always)]
    fn fill<const PHI: bool>(
        records: &[RowRecord<L>],
        &[first, last]: &[u32; 2],
        bodies: [&F::BodyState; 2],
        J: &mut [Self; 2],
        value: &mut [L; N],
    ) {
        let mut at = 0;
        for record in &records[first as usize..last as usize] {
            let [a, b] = J;
            at += F::rows::<N, PHI>(record, bodies, at, [&mut a.0, &mut b.0], value);
        }
    }

    #[inline(always)]
    fn times(&self, x: &[L; C]) -> [L; N] {
        let mut out = [L::splat(0.0); N];
        for i in 0..N {
            out[i] = self.0[i][0] * x[0];
            for p in 1..C {
                out[i] += self.0[i][p] * x[p];
            }
        }
        out
    }

    #[inline(always)]
    fn add_transposed(&self, z: &[L; N], x: &[L; C]) -> [L; C] {
        let mut out = *x;
        for i in 0..N {
            for p in 0..C {
                out[p] += self.0[i][p] * z[i];
            }
        }
        out
    }

    #[inline(always)]
    fn schur_block(&self, inertia: &F::Inertia, other: &Self) -> Square<L, N> {
        let mut out = [[L::splat(0.0); N]; N];
        for i in 0..N {
            let W = F::over_mass(inertia, &self.0[i]);
            for j in 0..N {
                out[i][j] = W[0] * other.0[j][0];
                for p in 1..C {
                    out[i][j] += W[p] * other.0[j][p];
                }
            }
        }
        out
    }

    #[inline(always)]
    fn abs_row_sums(&self) -> [L; N] {
        let mut out = [L::splat(0.0); N];
        for i in 0..N {
            for p in 0..C {
                out[i] += self.0[i][p].abs();
            }
        }
        out
    }

    #[inline(always)]
    fn sizes(&self, x: &[L; C]) -> [L; N] {
        let mut out = [L::splat(0.0); N];
        for i in 0..N {
            for p in 0..C {
                out[i] += self.0[i][p].abs() * x[p];
            }
        }
        out
    }
}
