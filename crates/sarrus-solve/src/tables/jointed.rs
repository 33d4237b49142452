//! Joints in space that hold two points together: three rows ±(1 | A), and rows (0 | B) for directions at right angles. Of J only A and B are
//! kept, one under the other.

use super::RowRecord;
use super::block::Block;
use super::factor::Square;
use super::spatial::{Inertia, Place, Spatial, V, add, cross, dot, mul, spin2, sub};
use sarrus_math::lane::Lane;

/// Columns of J for ω, and the sign of the ones for ṗ.
#[derive(Debug, Clone, Copy)]
pub struct Jointed<L, const N: usize> {
    sign: L,
    A: [V<L>; N],
}

impl<L: Lane, const N: usize> Block<L, Spatial, N, 6> for Jointed<L, N> {
    fn zero() -> Self {
        let zero = L::splat(0.0);
        Jointed { sign: zero, A: [[zero; 3]; N] }
    }

    #[inline(always)]
    fn fill<const PHI: bool>(
        records: &[RowRecord<L>],
        [A, B]: [&Place<L>; 2],
        J: &mut [Self; 2],
        value: &mut [L; N],
    ) {
        let one = L::splat(1.0);
        let [J_A, J_B] = J;
        let [r_A, r_B] = [&records[0].r_A, &records[0].r_B];
        (J_A.sign, J_B.sign) = (-one, one);
        for i in 0..3 {
            // row i of -R r̃ is r × R_i
            J_A.A[i] = cross(A.R[i], *r_A);
            J_B.A[i] = cross(*r_B, B.R[i]);
        }
        let (a, b) = (A.turn(r_A), B.turn(r_B));
        let both = if PHI { sub(add(B.p, b), add(A.p, a)) } else { sub(spin2(A.w, a), spin2(B.w, b)) };
        value[..3].copy_from_slice(&both);
        for (i, record) in records[1..].iter().enumerate() {
            let (a, b) = (A.turn(&record.a), B.turn(&record.r_B));
            J_A.A[3 + i] = cross(record.a, A.back(b));
            J_B.A[3 + i] = cross(record.r_B, B.back(a));
            value[3 + i] = if PHI {
                dot(a, b)
            } else {
                let both = dot(cross(A.w, a), cross(B.w, b));
                -(dot(b, spin2(A.w, a)) + dot(a, spin2(B.w, b)) + (both + both))
            };
        }
    }

    #[inline(always)]
    fn times(&self, x: &[L; 6]) -> [L; N] {
        let w = [x[3], x[4], x[5]];
        let mut out = [L::splat(0.0); N];
        for i in 0..N {
            out[i] = dot(self.A[i], w);
        }
        for i in 0..3 {
            out[i] += self.sign * x[i];
        }
        out
    }

    #[inline(always)]
    fn add_transposed(&self, z: &[L; N], x: &[L; 6]) -> [L; 6] {
        let mut out = *x;
        for i in 0..3 {
            out[i] += self.sign * z[i];
        }
        for i in 0..N {
            for p in 0..3 {
                out[3 + p] += self.A[i][p] * z[i];
            }
        }
        out
    }

    #[inline(always)]
    fn couple(&self, m: &Inertia<L>, other: &Self) -> Square<L, N> {
        let through = m.over_mass * self.sign * other.sign;
        let mut out = [[L::splat(0.0); N]; N];
        for i in 0..N {
            let W = mul(&m.over_I, self.A[i]);
            for j in 0..N {
                out[i][j] = dot(W, other.A[j]);
            }
        }
        for i in 0..3 {
            out[i][i] += through;
        }
        out
    }

    #[inline(always)]
    fn slopes(&self) -> [L; N] {
        let one = L::splat(1.0);
        let mut out = [L::splat(0.0); N];
        for i in 0..N {
            out[i] = self.A[i][0].abs() + self.A[i][1].abs() + self.A[i][2].abs();
        }
        for i in 0..3 {
            out[i] += one;
        }
        out
    }

    #[inline(always)]
    fn sizes(&self, x: &[L; 6]) -> [L; N] {
        let mut out = [L::splat(0.0); N];
        for i in 0..N {
            out[i] = self.A[i][0].abs() * x[3] + self.A[i][1].abs() * x[4] + self.A[i][2].abs() * x[5];
        }
        for i in 0..3 {
            out[i] += x[i];
        }
        out
    }
}
