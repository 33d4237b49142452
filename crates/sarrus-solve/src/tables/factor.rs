//! Block LDLᵀ of S, all blocks N × N, and what its pivots tell.

use super::pattern::Pattern;
use sarrus_math::lane::Lane;

/// A square block, by rows.
pub type Square<L, const N: usize> = [[L; N]; N];

/// S, then its factors: inverses of the diagonal blocks, and L.
#[derive(Debug, Clone)]
pub struct Factors<L, const N: usize> {
    /// Diagonal blocks of S, of which what is below the diagonal is not read; then the inverses of those of D.
    pub D: Vec<Square<L, N>>,
    /// Off-diagonal blocks of S, which elimination changes.
    pub B: Vec<Square<L, N>>,
    /// Blocks of L.
    L: Vec<Square<L, N>>,
}

impl<L: Lane, const N: usize> Factors<L, N> {
    pub fn new(pattern: &Pattern) -> Self {
        let zero = [[L::splat(0.0); N]; N];
        let blocks = vec![zero; pattern.below.len()];
        Factors { D: vec![zero; pattern.order.len()], B: blocks.clone(), L: blocks }
    }

    /// Factors what `D` and `B` hold. Returns the smallest pivot as a fraction of its row's diagonal.
    #[inline(always)]
    pub fn factor(&mut self, pattern: &Pattern, scale: &[[L; N]]) -> L {
        let Factors { D, B, L: factors } = self;
        // least = num / den, without a division each
        let (mut num, mut den) = (L::splat(f64::MAX), L::splat(1.0));
        let (mut first, mut update) = (0, 0);
        for (k, &end) in pattern.ends.iter().enumerate() {
            let end = end as usize;
            let (inverse, pivots) = invert(&D[k]);
            D[k] = inverse;
            for i in 0..N {
                let less = (pivots[i] * den).lt(num * scale[k][i]);
                num = L::select(less, pivots[i], num);
                den = L::select(less, scale[k][i], den);
            }
            for b in first..end {
                factors[b] = product(&B[b], &inverse);
            }
            for b in first..end {
                let Bt = B[b];
                subtract_symmetric(&mut D[pattern.below[b].row as usize], &factors[b], &Bt);
                let last = pattern.below[b].updates as usize;
                for u in &pattern.updates[update..last] {
                    subtract_product(&mut B[u.to as usize], &factors[u.rows as usize], &Bt);
                }
                update = last;
            }
            first = end;
        }
        num / den
    }

    /// Replaces the right side by the solution, both in the order of elimination.
    #[inline(always)]
    pub fn solve(&self, pattern: &Pattern, x: &mut [[L; N]]) {
        let mut first = 0;
        for (k, &end) in pattern.ends.iter().enumerate() {
            let own = x[k];
            for b in first..end as usize {
                let to = &mut x[pattern.below[b].row as usize];
                let F = &self.L[b];
                for i in 0..N {
                    let mut sum = to[i];
                    for j in 0..N {
                        sum -= F[i][j] * own[j];
                    }
                    to[i] = sum;
                }
            }
            first = end as usize;
        }
        for k in (0..pattern.ends.len()).rev() {
            let begin = if k == 0 { 0 } else { pattern.ends[k - 1] as usize };
            let (z, D) = (x[k], &self.D[k]);
            let mut own = [L::splat(0.0); N];
            for i in 0..N {
                for j in 0..N {
                    own[i] += D[i][j] * z[j];
                }
            }
            for b in begin..pattern.ends[k] as usize {
                let from = &x[pattern.below[b].row as usize];
                let F = &self.L[b];
                for i in 0..N {
                    for j in 0..N {
                        own[j] -= F[i][j] * from[i];
                    }
                }
            }
            x[k] = own;
        }
    }
}

/// The inverse of a symmetric block, and its pivots, those of LDLᵀ, by sweeping one row after the other.
#[inline(always)]
fn invert<L: Lane, const N: usize>(A: &Square<L, N>) -> (Square<L, N>, [L; N]) {
    let mut a = *A;
    let mut pivots = [L::splat(0.0); N];
    for k in 0..N {
        pivots[k] = a[k][k];
        let d = L::splat(1.0) / a[k][k];
        for i in 0..N {
            if i == k {
                continue;
            }
            let f = a[i.min(k)][i.max(k)] * d;
            for j in i..N {
                if j != k {
                    a[i][j] -= f * a[j.min(k)][j.max(k)];
                }
            }
        }
        for i in 0..N {
            if i != k {
                a[i.min(k)][i.max(k)] *= d;
            }
        }
        a[k][k] = -d;
    }
    let mut inverse = a;
    for i in 0..N {
        for j in i..N {
            inverse[i][j] = -a[i][j];
            inverse[j][i] = inverse[i][j];
        }
    }
    (inverse, pivots)
}

/// A B.
#[inline(always)]
fn product<L: Lane, const N: usize>(A: &Square<L, N>, B: &Square<L, N>) -> Square<L, N> {
    let mut C = [[L::splat(0.0); N]; N];
    for i in 0..N {
        for p in 0..N {
            for j in 0..N {
                C[i][j] += A[i][p] * B[p][j];
            }
        }
    }
    C
}

/// C -= A Bᵀ.
#[inline(always)]
fn subtract_product<L: Lane, const N: usize>(C: &mut Square<L, N>, A: &Square<L, N>, B: &Square<L, N>) {
    for i in 0..N {
        for j in 0..N {
            let mut sum = C[i][j];
            for p in 0..N {
                sum -= A[i][p] * B[j][p];
            }
            C[i][j] = sum;
        }
    }
}

/// The same for a symmetric product: on and above the diagonal.
#[inline(always)]
fn subtract_symmetric<L: Lane, const N: usize>(C: &mut Square<L, N>, A: &Square<L, N>, B: &Square<L, N>) {
    for i in 0..N {
        for j in i..N {
            let mut sum = C[i][j];
            for p in 0..N {
                sum -= A[i][p] * B[j][p];
            }
            C[i][j] = sum;
        }
    }
}
