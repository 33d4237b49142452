//! Bodies in space: q = (p, unit quaternion), v = (ṗ, ω in body axes).
//!
//! Rows are those of the primitives of joints, with the signs of `sarrus-system`'s table; γ is minus the second derivative at ω̇ = 0.

use super::engine::BodySpace;
use super::planar::tension;
use super::{Description, LoadKind, LoadRecord, RowKind, RowRecord};
use sarrus_math::lane::Lane;

/// Bodies in space.
#[derive(Debug, Clone, Copy)]
pub struct Spatial;

pub type V<L> = [L; 3];

#[inline(always)]
pub fn cross<L: Lane>(a: V<L>, b: V<L>) -> V<L> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
pub fn dot<L: Lane>(a: V<L>, b: V<L>) -> L {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub fn add<L: Lane>(a: V<L>, b: V<L>) -> V<L> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub fn sub<L: Lane>(a: V<L>, b: V<L>) -> V<L> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn neg<L: Lane>(a: V<L>) -> V<L> {
    [-a[0], -a[1], -a[2]]
}

#[inline(always)]
pub fn scale<L: Lane>(a: V<L>, s: L) -> V<L> {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// ω × (ω × r).
#[inline(always)]
pub fn spin2<L: Lane>(w: V<L>, r: V<L>) -> V<L> {
    cross(w, cross(w, r))
}

#[inline(always)]
pub fn mul<L: Lane>(M: &[V<L>; 3], x: V<L>) -> V<L> {
    [dot(M[0], x), dot(M[1], x), dot(M[2], x)]
}

/// A row of J.
#[inline(always)]
fn row<L: Lane>(v: V<L>, w: V<L>) -> [L; 6] {
    [v[0], v[1], v[2], w[0], w[1], w[2]]
}

/// A body: place, axes, velocity, ω in body and in world axes.
#[derive(Debug, Clone, Copy)]
pub struct SpatialBodyState<L> {
    pub p: V<L>,
    pub R: [V<L>; 3],
    v: V<L>,
    w_B: V<L>,
    pub w: V<L>,
}

impl<L: Lane> SpatialBodyState<L> {
    #[inline(always)]
    pub fn rotate(&self, r: &V<L>) -> V<L> {
        mul(&self.R, *r)
    }

    /// A force and a torque, both in world axes, as it acts on the velocities.
    #[inline(always)]
    fn feels(&self, f: V<L>, torque: V<L>) -> [L; 6] {
        row(f, self.back(torque))
    }

    /// Into body axes.
    #[inline(always)]
    pub fn back(&self, r: V<L>) -> V<L> {
        let R = &self.R;
        let [x, y, z] = [scale(R[0], r[0]), scale(R[1], r[1]), scale(R[2], r[2])];
        add(add(x, y), z)
    }
}

/// 1/m, I, I⁻¹ and weight.
#[derive(Debug, Clone, Copy)]
pub struct SpatialInertia<L> {
    pub over_mass: L,
    I: [V<L>; 3],
    pub over_I: [V<L>; 3],
    weight: V<L>,
}

impl<L: Lane> BodySpace<L, 6> for Spatial {
    const NQ: usize = 7;
    type BodyState = SpatialBodyState<L>;
    type Inertia = SpatialInertia<L>;

    #[inline(always)]
    fn ground() -> SpatialBodyState<L> {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let mut R = [[zero; 3]; 3];
        (0..3).for_each(|i| R[i][i] = one);
        SpatialBodyState { p: [zero; 3], R, v: [zero; 3], w_B: [zero; 3], w: [zero; 3] }
    }

    #[inline(always)]
    fn update_kinematics(q: &[L], v: &[L]) -> SpatialBodyState<L> {
        let (w, x, y, z) = (q[3], q[4], q[5], q[6]);
        // orthogonal for any length: stages of an integrator leave the unit sphere by their own error
        let s = L::splat(2.0) / (w * w + x * x + y * y + z * z);
        let (xx, yy, zz) = (x * x * s, y * y * s, z * z * s);
        let (xy, xz, yz) = (x * y * s, x * z * s, y * z * s);
        let (wx, wy, wz) = (w * x * s, w * y * s, w * z * s);
        let one = L::splat(1.0);
        let R = [
            [one - (yy + zz), xy - wz, xz + wy],
            [xy + wz, one - (xx + zz), yz - wx],
            [xz - wy, yz + wx, one - (xx + yy)],
        ];
        let w_B = [v[3], v[4], v[5]];
        SpatialBodyState { p: [q[0], q[1], q[2]], R, v: [v[0], v[1], v[2]], w_B, w: mul(&R, w_B) }
    }

    #[inline(always)]
    fn set_velocity(state: &mut SpatialBodyState<L>, v: &[L; 6]) {
        state.v = [v[0], v[1], v[2]];
        state.w_B = [v[3], v[4], v[5]];
        state.w = mul(&state.R, state.w_B);
    }

    fn inertia(variants: &[&Description], body: usize) -> SpatialInertia<L> {
        let mut out: SpatialInertia<L> = <Spatial as BodySpace<L, 6>>::no_inertia();
        for (i, variant) in variants.iter().enumerate() {
            let b = &variant.bodies[body];
            out.over_mass.set_lane(i, 1.0 / b.mass);
            let inverse = inverse(&b.inertia);
            for k in 0..3 {
                for j in 0..3 {
                    out.I[k][j].set_lane(i, b.inertia[k][j]);
                    out.over_I[k][j].set_lane(i, inverse[k][j]);
                }
                out.weight[k].set_lane(i, b.gravitational_mass * variant.gravity[k]);
            }
        }
        out
    }

    fn no_inertia() -> SpatialInertia<L> {
        let zero = L::splat(0.0);
        SpatialInertia { over_mass: zero, I: [[zero; 3]; 3], over_I: [[zero; 3]; 3], weight: [zero; 3] }
    }

    #[inline(always)]
    fn over_mass(m: &SpatialInertia<L>, x: &[L; 6]) -> [L; 6] {
        let [a, b, c] = mul(&m.over_I, [x[3], x[4], x[5]]);
        [m.over_mass * x[0], m.over_mass * x[1], m.over_mass * x[2], a, b, c]
    }

    #[inline(always)]
    fn own_force(m: &SpatialInertia<L>, state: &SpatialBodyState<L>) -> [L; 6] {
        let t = cross(mul(&m.I, state.w_B), state.w_B);
        [m.weight[0], m.weight[1], m.weight[2], t[0], t[1], t[2]]
    }

    #[inline(always)]
    fn rows<const N: usize, const PHI: bool>(
        record: &RowRecord<L>,
        [A, B]: [&SpatialBodyState<L>; 2],
        at: usize,
        [J_A, J_B]: [&mut [[L; 6]; N]; 2],
        value: &mut [L; N],
    ) -> usize {
        let zero = L::splat(0.0);
        match record.kind {
            RowKind::Coincident => {
                for (J, state, r, sign) in
                    [(&mut *J_A, A, &record.r_A, -1.0), (&mut *J_B, B, &record.r_B, 1.0)]
                {
                    let sign = L::splat(sign);
                    let r = scale(*r, sign);
                    for i in 0..3 {
                        let mut one = [zero; 3];
                        one[i] = sign;
                        // row i of -R r̃ is r × R_i
                        J[at + i] = row(one, cross(r, state.R[i]));
                    }
                }
                let (a, b) = (A.rotate(&record.r_A), B.rotate(&record.r_B));
                let both =
                    if PHI { sub(add(B.p, b), add(A.p, a)) } else { sub(spin2(A.w, a), spin2(B.w, b)) };
                value[at..at + 3].copy_from_slice(&both);
                return 3;
            }
            RowKind::Perpendicular => {
                let (a, b) = (A.rotate(&record.a), B.rotate(&record.r_B));
                J_A[at] = row([zero; 3], cross(record.a, A.back(b)));
                J_B[at] = row([zero; 3], cross(record.r_B, B.back(a)));
                value[at] = if PHI {
                    dot(a, b)
                } else {
                    let both = dot(cross(A.w, a), cross(B.w, b));
                    -(dot(b, spin2(A.w, a)) + dot(a, spin2(B.w, b)) + (both + both))
                };
            }
            RowKind::InPlane => {
                let (n, a, b) = (A.rotate(&record.a), A.rotate(&record.r_A), B.rotate(&record.r_B));
                // the point of B seen from A's centre of mass
                let far = sub(add(B.p, b), A.p);
                J_B[at] = row(n, cross(record.r_B, B.back(n)));
                J_A[at] = row(neg(n), cross(record.a, A.back(far)));
                let d = sub(far, a);
                value[at] = if PHI {
                    dot(n, d)
                } else {
                    let rate = sub(add(B.v, cross(B.w, b)), add(A.v, cross(A.w, a)));
                    let second = sub(spin2(B.w, b), spin2(A.w, a));
                    let rotating = dot(cross(A.w, n), rate);
                    -(dot(d, spin2(A.w, n)) + (rotating + rotating) + dot(n, second))
                };
            }
            // a planar row: descriptions of spatial models have none
            RowKind::Angle => value[at] = zero,
        }
        1
    }

    #[inline(always)]
    fn load(record: &LoadRecord<L>, [A, B]: [&SpatialBodyState<L>; 2], powers: &mut [L; 2]) -> [[L; 6]; 2] {
        let zero = L::splat(0.0);
        let p = [record.p[0], record.p[1], record.p[2]];
        match record.kind {
            LoadKind::Torque => {
                powers[0] += dot(p, B.w);
                [[zero; 6], B.feels([zero; 3], p)]
            }
            LoadKind::Force => {
                let torque = cross(B.rotate(&record.r_B), p);
                powers[0] += dot(p, B.v) + dot(torque, B.w);
                [[zero; 6], B.feels(p, torque)]
            }
            LoadKind::Spring => {
                let (a, b) = (A.rotate(&record.r_A), B.rotate(&record.r_B));
                let d = sub(add(B.p, b), add(A.p, a));
                let u = sub(add(B.v, cross(B.w, b)), add(A.v, cross(A.w, a)));
                let (over, tension) = tension(record, dot(d, d).sqrt(), dot(d, u), powers);
                let f = scale(d, tension * over);
                [A.feels(f, cross(a, f)), B.feels(neg(f), cross(f, b))]
            }
        }
    }

    #[inline(always)]
    fn retract(q: &mut [L], delta: &[L; 6]) {
        for i in 0..3 {
            q[i] += delta[i];
        }
        // the rotation by a small vector d is (cos |d|/2, sin |d|/2 d/|d|); as corrections are small, both by their series
        let half = L::splat(0.5);
        let d = [delta[3] * half, delta[4] * half, delta[5] * half];
        let s = dot(d, d);
        let one = L::splat(1.0);
        let c = one - s * (L::splat(1.0 / 2.0) - s * (1.0 / 24.0));
        let k = one - s * (L::splat(1.0 / 6.0) - s * (1.0 / 120.0));
        let [x, y, z] = scale(d, k);
        let [qw, qx, qy, qz] = [q[3], q[4], q[5], q[6]];
        q[3] = qw * c - qx * x - qy * y - qz * z;
        q[4] = qw * x + qx * c + qy * z - qz * y;
        q[5] = qw * y - qx * z + qy * c + qz * x;
        q[6] = qw * z + qx * y - qy * x + qz * c;
        <Spatial as BodySpace<L, 6>>::normalize(q);
    }

    #[inline(always)]
    fn qdot(q: &[L], v: &[L], out: &mut [L]) {
        [out[0], out[1], out[2]] = [v[0], v[1], v[2]];
        let half = L::splat(0.5);
        let (x, y, z) = (v[3] * half, v[4] * half, v[5] * half);
        out[3] = -(q[4] * x + q[5] * y + q[6] * z);
        out[4] = q[3] * x + q[5] * z - q[6] * y;
        out[5] = q[3] * y - q[4] * z + q[6] * x;
        out[6] = q[3] * z + q[4] * y - q[5] * x;
    }

    #[inline(always)]
    fn normalize(q: &mut [L]) {
        let size = q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6];
        let over = L::splat(1.0) / size.sqrt();
        for i in 3..7 {
            q[i] *= over;
        }
    }
}

/// The inverse of a symmetric matrix, by its adjugate.
fn inverse(m: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let [x, y, z] = *m;
    let (a, b, c) = (cross(y, z), cross(z, x), cross(x, y));
    let over = 1.0 / dot(x, a);
    [0, 1, 2].map(|i| [a[i] * over, b[i] * over, c[i] * over])
}
