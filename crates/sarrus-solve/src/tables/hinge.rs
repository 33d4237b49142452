//! A hinge in the plane: J = ±(1, ⊥r), of which only the arm r is kept.

use super::RowRecord;
use super::block::BodyRows;
use super::factor::Square;
use super::planar::{PlanarBodies, PlanarBodyState, PlanarInertia};
use sarrus_math::lane::Lane;

/// Rows (1, 0, -y) and (0, 1, x), both with a sign.
#[derive(Debug, Clone, Copy)]
pub struct HingeRows<L> {
    sign: L,
    /// The arm, in world axes, with the sign \[m\].
    r: [L; 2],
}

impl<L: Lane> BodyRows<L, PlanarBodies, 2, 3> for HingeRows<L> {
    /// The points.
    type Shape = [[L; 2]; 2];

    fn shape(records: &[RowRecord<L>], first: usize, _: usize) -> [[L; 2]; 2] {
        let RowRecord { r_A, r_B, .. } = &records[first];
        [[r_A[0], r_A[1]], [r_B[0], r_B[1]]]
    }

    fn zero() -> Self {
        HingeRows { sign: L::splat(0.0), r: [L::splat(0.0); 2] }
    }

    #[inline(always)]
    fn fill<const PHI: bool>(
        _: &[RowRecord<L>],
        [r_A, r_B]: &[[L; 2]; 2],
        [A, B]: [&PlanarBodyState<L>; 2],
        J: &mut [Self; 2],
        value: &mut [L; 2],
    ) {
        let (a, b) = (A.rotate(r_A), B.rotate(r_B));
        let one = L::splat(1.0);
        *J = [HingeRows { sign: -one, r: [-a[0], -a[1]] }, HingeRows { sign: one, r: b }];
        let (a2, b2) = (A.rate * A.rate, B.rate * B.rate);
        for i in 0..2 {
            value[i] = if PHI { (B.p[i] + b[i]) - (A.p[i] + a[i]) } else { b2 * b[i] - a2 * a[i] };
        }
    }

    #[inline(always)]
    fn times(&self, x: &[L; 3]) -> [L; 2] {
        [self.sign * x[0] - self.r[1] * x[2], self.sign * x[1] + self.r[0] * x[2]]
    }

    #[inline(always)]
    fn add_transposed(&self, z: &[L; 2], x: &[L; 3]) -> [L; 3] {
        let torque = self.r[0] * z[1] - self.r[1] * z[0];
        [x[0] + self.sign * z[0], x[1] + self.sign * z[1], x[2] + torque]
    }

    #[inline(always)]
    fn schur_block(&self, m: &PlanarInertia<L>, other: &Self) -> Square<L, 2> {
        let through = m.over_mass * self.sign * other.sign;
        let [x, y] = [self.r[0] * m.over_inertia, self.r[1] * m.over_inertia];
        let [a, b] = other.r;
        [[through + y * b, -(y * a)], [-(x * b), through + x * a]]
    }

    #[inline(always)]
    fn abs_row_sums(&self) -> [L; 2] {
        let one = L::splat(1.0);
        [one + self.r[1].abs(), one + self.r[0].abs()]
    }

    #[inline(always)]
    fn sizes(&self, x: &[L; 3]) -> [L; 2] {
        [x[0] + self.r[1].abs() * x[2], x[1] + self.r[0].abs() * x[2]]
    }
}
