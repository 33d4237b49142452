//! Joints in space of points that coincide, rows ±(1 | A), and of directions at right angles, rows (0 | A): of J only A and the sign, or
//! zero, are kept.

use super::block::BodyRows;
use super::factor::Square;
use super::spatial::{Spatial, SpatialBodyState, SpatialInertia, V, add, cross, dot, mul, spin2, sub};
use super::{RowKind, RowRecord};
use sarrus_math::lane::Lane;

/// Columns of J for ω, and the sign of the ones for ṗ; zero where there are none.
#[derive(Debug, Clone, Copy)]
pub struct Jointed<L> {
    sign: L,
    A: [V<L>; 3],
}

impl<L: Lane> BodyRows<L, Spatial, 3, 6> for Jointed<L> {
    type Shape = [u32; 2];

    fn shape(_: &[RowRecord<L>], first: usize, last: usize) -> [u32; 2] {
        [first as u32, last as u32]
    }

    fn zero() -> Self {
        let zero = L::splat(0.0);
        Jointed { sign: zero, A: [[zero; 3]; 3] }
    }

    #[inline(always)]
    fn fill<const PHI: bool>(
        records: &[RowRecord<L>],
        &[first, last]: &[u32; 2],
        [A, B]: [&SpatialBodyState<L>; 2],
        J: &mut [Self; 2],
        value: &mut [L; 3],
    ) {
        let records = &records[first as usize..last as usize];
        let [J_A, J_B] = J;
        if records[0].kind == RowKind::Coincident {
            let one = L::splat(1.0);
            let [r_A, r_B] = [&records[0].r_A, &records[0].r_B];
            (J_A.sign, J_B.sign) = (-one, one);
            for i in 0..3 {
                // row i of -R r̃ is r × R_i
                J_A.A[i] = cross(A.R[i], *r_A);
                J_B.A[i] = cross(*r_B, B.R[i]);
            }
            let (a, b) = (A.rotate(r_A), B.rotate(r_B));
            *value = if PHI { sub(add(B.p, b), add(A.p, a)) } else { sub(spin2(A.w, a), spin2(B.w, b)) };
            return;
        }
        for (i, record) in records.iter().enumerate() {
            let (a, b) = (A.rotate(&record.a), B.rotate(&record.r_B));
            J_A.A[i] = cross(record.a, A.back(b));
            J_B.A[i] = cross(record.r_B, B.back(a));
            value[i] = if PHI {
                dot(a, b)
            } else {
                let both = dot(cross(A.w, a), cross(B.w, b));
                -(dot(b, spin2(A.w, a)) + dot(a, spin2(B.w, b)) + (both + both))
            };
        }
    }

    #[inline(always)]
    fn times(&self, x: &[L; 6]) -> [L; 3] {
        let w = [x[3], x[4], x[5]];
        let mut out = [L::splat(0.0); 3];
        for i in 0..3 {
            out[i] = dot(self.A[i], w);
        }
        for i in 0..3 {
            out[i] += self.sign * x[i];
        }
        out
    }

    #[inline(always)]
    fn add_transposed(&self, z: &[L; 3], x: &[L; 6]) -> [L; 6] {
        let mut out = *x;
        for i in 0..3 {
            out[i] += self.sign * z[i];
        }
        for i in 0..3 {
            for p in 0..3 {
                out[3 + p] += self.A[i][p] * z[i];
            }
        }
        out
    }

    #[inline(always)]
    fn schur_block(&self, m: &SpatialInertia<L>, other: &Self) -> Square<L, 3> {
        let through = m.over_mass * self.sign * other.sign;
        let mut out = [[L::splat(0.0); 3]; 3];
        for i in 0..3 {
            let W = mul(&m.over_I, self.A[i]);
            for j in 0..3 {
                out[i][j] = dot(W, other.A[j]);
            }
        }
        for i in 0..3 {
            out[i][i] += through;
        }
        out
    }

    #[inline(always)]
    fn abs_row_sums(&self) -> [L; 3] {
        let ones = self.sign.abs();
        let mut out = [ones; 3];
        for i in 0..3 {
            let a = self.A[i];
            out[i] += a[0].abs() + a[1].abs() + a[2].abs();
        }
        out
    }

    #[inline(always)]
    fn sizes(&self, x: &[L; 6]) -> [L; 3] {
        let ones = self.sign.abs();
        let mut out = [L::splat(0.0); 3];
        for i in 0..3 {
            let a = self.A[i];
            out[i] = ones * x[i] + a[0].abs() * x[3] + a[1].abs() * x[4] + a[2].abs() * x[5];
        }
        out
    }
}
