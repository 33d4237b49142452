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
        Factors { D: vec![zero; pattern.parts.len()], B: blocks.clone(), L: blocks }
    }

    /// Factors what `D` and `B` hold. Returns the smallest pivot as a fraction of its row's diagonal.
    #[inline(always)]
    pub fn factor(&mut self, pattern: &Pattern, scale: &[[L; N]]) -> L {
        let Factors { D, B, L: factors } = self;
        // least = num / den, without a division each
        let (mut num, mut den, mut least) = (L::splat(f64::MAX), L::splat(1.0), L::splat(f64::MAX));
        let (mut first, mut update) = (0, 0);
        for (k, &end) in pattern.ends.iter().enumerate() {
            let end = end as usize;
            let (inverse, minors) = invert(&D[k]);
            let mut before = L::splat(1.0);
            D[k] = inverse;
            for i in 0..N {
                // the pivot over its row's diagonal
                let (top, below) = (minors[i], before * scale[k][i]);
                before = minors[i];
                let less = (top * den).lt(num * below);
                num = L::select(less, top, num);
                den = L::select(less, below, den);
                least = least.min(top);
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
        // ratios say nothing once a minor is not positive
        L::select(L::splat(0.0).lt(least), num / den, L::splat(0.0))
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
                own[i] = D[i][0] * z[0];
                for j in 1..N {
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

/// The inverse of a symmetric block of two or three rows, of which only what is on and above the diagonal is read, and its leading minors: the ratios of these are
/// the pivots of LDLᵀ. By cofactors, so that there is one division: divisions wait for each other.
#[inline(always)]
fn invert<L: Lane, const N: usize>(A: &Square<L, N>) -> (Square<L, N>, [L; N]) {
    let zero = L::splat(0.0);
    let mut out = ([[zero; N]; N], [zero; N]);
    if N == 2 {
        write(&mut out, two(A[0][0], A[0][1], A[1][1]));
    } else {
        write(&mut out, three([A[0][0], A[0][1], A[0][2]], [A[1][1], A[1][2]], A[2][2]));
    }
    out
}

/// The same sizes under another name: N is M.
#[inline(always)]
fn write<L: Lane, const N: usize, const M: usize>(
    (out, minors): &mut (Square<L, N>, [L; N]),
    (own, own_minors): (Square<L, M>, [L; M]),
) {
    for i in 0..M {
        minors[i] = own_minors[i];
        for j in 0..M {
            out[i][j] = own[i][j];
        }
    }
}

/// The inverse of [a b; b c], and its leading minors.
#[inline(always)]
fn two<L: Lane>(a: L, b: L, c: L) -> (Square<L, 2>, [L; 2]) {
    let det = a * c - b * b;
    let over = L::splat(1.0) / det;
    let off = -(b * over);
    ([[c * over, off], [off, a * over]], [a, det])
}

/// The inverse of a symmetric matrix of three rows, and its leading minors.
#[inline(always)]
fn three<L: Lane>([a, b, c]: [L; 3], [d, e]: [L; 2], f: L) -> (Square<L, 3>, [L; 3]) {
    let (x, y, z) = (d * f - e * e, c * e - b * f, b * e - c * d);
    let minor = a * d - b * b;
    let det = a * x + b * y + c * z;
    let over = L::splat(1.0) / det;
    let (x, y, z) = (x * over, y * over, z * over);
    let (u, v, w) = ((a * f - c * c) * over, (b * c - a * e) * over, minor * over);
    ([[x, y, z], [y, u, v], [z, v, w]], [a, minor, det])
}

/// A B.
#[inline(always)]
fn product<L: Lane, const N: usize>(A: &Square<L, N>, B: &Square<L, N>) -> Square<L, N> {
    let mut C = [[L::splat(0.0); N]; N];
    for i in 0..N {
        for j in 0..N {
            C[i][j] = A[i][0] * B[0][j];
        }
        for p in 1..N {
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

#[cfg(test)]
mod tests {
    use super::super::pattern::{Below, Part};
    use super::*;

    /// Three parts, of which the first two meet.
    fn pattern(rows: usize) -> Pattern {
        let part = |element: usize| Part { element, records: 0..1, rows, start: element * rows };
        Pattern {
            parts: (0..3).map(part).collect(),
            below: vec![Below { row: 1, updates: 0 }],
            ends: vec![1, 1, 1],
            updates: Vec::new(),
            couplings: Vec::new(),
            coupling_ends: vec![0],
            at_bodies: Vec::new(),
            body_ends: vec![0],
        }
    }

    /// [I B 0; Bᵀ I 0; 0 0 C] with B = diag(b) and ones on the diagonal of C, whose first two rows have c between them: the pivots of the middle are 1 - b², the
    /// smallest of C is 1 - c².
    fn factored<const N: usize>(b: [f64; N], c: f64) -> (Factors<f64, N>, f64) {
        let pattern = pattern(N);
        let mut factors = Factors::new(&pattern);
        for i in 0..N {
            (0..3).for_each(|k| factors.D[k][i][i] = 1.0);
            factors.B[0][i][i] = b[i];
        }
        factors.D[2][0][1] = c;
        let pivot = factors.factor(&pattern, &[[1.0; N]; 3]);
        (factors, pivot)
    }

    fn near(a: f64, b: f64) -> bool {
        // a dozen roundings of numbers about one
        (a - b).abs() < 16.0 * f64::EPSILON
    }

    #[test]
    fn the_smallest_pivot_is_found_in_whatever_part_it_is() {
        assert!(near(factored([0.6, 0.8], 0.5).1, 0.36));
        assert!(near(factored([0.6, 0.5], 0.9).1, 0.19));
        assert!(near(factored([0.6, 0.8, 0.1], 0.5).1, 0.36));
        assert!(near(factored([0.1, 0.5, 0.6], 0.9).1, 0.19));
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_pivot_to_tell() {
        // an odd and an even number of negative pivots, the last part good or not: ratios of minors alone would be positive in several of these
        for c in [0.1, 0.7, 2.0] {
            for b in [[2.0, 0.1], [0.1, 2.0], [2.0, 1.0005], [1.0005, 2.0], [3.0, 3.0]] {
                assert_eq!(factored(b, c).1, 0.0, "{b:?} {c}");
                assert_eq!(factored([b[0], b[1], 0.3], c).1, 0.0, "{b:?} {c}");
                assert_eq!(factored([0.3, b[0], b[1]], c).1, 0.0, "{b:?} {c}");
                assert_eq!(factored([b[0], 0.3, b[1]], c).1, 0.0, "{b:?} {c}");
            }
        }
        assert_eq!(factored([0.5, 0.5], 2.0).1, 0.0);
        assert_eq!(factored([1.0, 0.5], 0.0).1, 0.0);
    }

    /// Solves with full blocks, and returns the largest residual.
    fn residual<const N: usize>() -> f64 {
        let pattern = pattern(N);
        let mut factors = Factors::<f64, N>::new(&pattern);
        for i in 0..N {
            for j in 0..N {
                let small = 0.3 + 0.2 * i as f64 - 0.35 * j as f64;
                factors.B[0][i][j] = small;
                // symmetric, and more than the rest of its row on the diagonal
                (0..3).for_each(|k| {
                    factors.D[k][i][j] = if i == j { 4.0 } else { 0.7 - 0.3 * (i + j + k) as f64 }
                });
            }
        }
        let (D, B) = (factors.D.clone(), factors.B[0]);
        factors.factor(&pattern, &[[4.0; N]; 3]);
        let right = |k: usize, i: usize| 1.0 + i as f64 - 2.0 * k as f64;
        let mut x: [[f64; N]; 3] = std::array::from_fn(|k| std::array::from_fn(|i| right(k, i)));
        factors.solve(&pattern, &mut x);
        let mut largest = 0.0_f64;
        for i in 0..N {
            for k in 0..3 {
                let mut rest = -right(k, i);
                for j in 0..N {
                    rest += D[k][i][j] * x[k][j];
                    rest += match k {
                        0 => B[j][i] * x[1][j],
                        1 => B[i][j] * x[0][j],
                        _ => 0.0,
                    };
                }
                largest = largest.max(rest.abs());
            }
        }
        largest
    }

    #[test]
    fn what_is_factored_is_solved() {
        // some hundred roundings of numbers below ten, and a condition below ten
        assert!(residual::<2>() < 1e-13, "{}", residual::<2>());
        assert!(residual::<3>() < 1e-13, "{}", residual::<3>());
    }
}
