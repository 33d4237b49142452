//! Bodies in the plane: q = (x, y, angle), v = q̇.
//!
//! Rows are those of the planar primitives of joints: with r_A, r_B turned into the world and ω the rates,
//!
//! | row | Φ | on B | on A | γ |
//! |---|---|---|---|---|
//! | coincident | p_B + r_B - p_A - r_A | (1, ⊥r_B) | -(1, ⊥r_A) | ω_B² r_B - ω_A² r_A |
//! | on line | n·d, d = p_B + r_B - p_A - r_A | (n, n·⊥r_B) | -(n, n·⊥(d + r_A)) | see the code |
//! | angle | angle_B - angle_A - angle | (0, 0, 1) | (0, 0, -1) | 0 |
//!
//! where ⊥(x, y) = (-y, x).

use super::engine::BodySpace;
use super::{Description, LoadKind, LoadRecord, RowKind, RowRecord};
use sarrus_math::lane::{Lane, sin_cos_all};

/// Bodies below which eight at a time are no gain.
const FEW: usize = 3;

/// Bodies in the plane.
#[derive(Debug, Clone, Copy)]
pub struct PlanarBodies;

/// A body: place, sine and cosine of its angle, velocity.
#[derive(Debug, Clone, Copy)]
pub struct PlanarBodyState<L> {
    pub p: [L; 2],
    angle: L,
    sin: L,
    cos: L,
    v: [L; 2],
    pub rate: L,
}

impl<L: Lane> PlanarBodyState<L> {
    #[inline(always)]
    pub fn rotate<const D: usize>(&self, r: &[L; D]) -> [L; 2] {
        [self.cos * r[0] - self.sin * r[1], self.sin * r[0] + self.cos * r[1]]
    }
}

/// 1/m, 1/I and weight.
#[derive(Debug, Clone, Copy)]
pub struct PlanarInertia<L> {
    pub over_mass: L,
    pub over_inertia: L,
    weight: [L; 2],
}

impl<L: Lane> BodySpace<L, 3> for PlanarBodies {
    const NQ: usize = 3;
    type BodyState = PlanarBodyState<L>;
    type Inertia = PlanarInertia<L>;

    #[inline(always)]
    fn ground() -> PlanarBodyState<L> {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        PlanarBodyState { p: [zero; 2], angle: zero, sin: zero, cos: one, v: [zero; 2], rate: zero }
    }

    #[inline(always)]
    fn update_kinematics(q: &[L], v: &[L]) -> PlanarBodyState<L> {
        let (sin, cos) = q[2].sin_cos();
        PlanarBodyState { p: [q[0], q[1]], angle: q[2], sin, cos, v: [v[0], v[1]], rate: v[2] }
    }

    #[inline(always)]
    fn update_all(states: &mut [PlanarBodyState<L>], q: &[L], v: &[L]) {
        if L::WIDTH > 1 || states.len() < FEW {
            for ((state, q), v) in states.iter_mut().zip(q.chunks_exact(3)).zip(v.chunks_exact(3)) {
                *state = <PlanarBodies as BodySpace<L, 3>>::update_kinematics(q, v);
            }
            return;
        }
        // of a single variant sines and cosines of eight bodies at a time
        for ((states, q), v) in states.chunks_mut(8).zip(q.chunks(24)).zip(v.chunks(24)) {
            let [mut angles, mut sin, mut cos] = [[0.0; 8]; 3];
            for i in 0..states.len() {
                angles[i] = q[3 * i + 2].lane(0);
            }
            let n = states.len();
            sin_cos_all(&angles[..n], &mut sin[..n], &mut cos[..n]);
            for (i, state) in states.iter_mut().enumerate() {
                let (q, v) = (&q[3 * i..3 * i + 3], &v[3 * i..3 * i + 3]);
                let (sin, cos) = (L::splat(sin[i]), L::splat(cos[i]));
                *state =
                    PlanarBodyState { p: [q[0], q[1]], angle: q[2], sin, cos, v: [v[0], v[1]], rate: v[2] };
            }
        }
    }

    #[inline(always)]
    fn set_velocity(state: &mut PlanarBodyState<L>, v: &[L; 3]) {
        (state.v, state.rate) = ([v[0], v[1]], v[2]);
    }

    fn inertia(variants: &[&Description], body: usize) -> PlanarInertia<L> {
        let mut out: PlanarInertia<L> = <PlanarBodies as BodySpace<L, 3>>::no_inertia();
        for (i, variant) in variants.iter().enumerate() {
            let b = &variant.bodies[body];
            out.over_mass.set_lane(i, 1.0 / b.mass);
            out.over_inertia.set_lane(i, 1.0 / b.inertia[2][2]);
            (0..2).for_each(|k| out.weight[k].set_lane(i, b.gravitational_mass * variant.gravity[k]));
        }
        out
    }

    fn no_inertia() -> PlanarInertia<L> {
        let zero = L::splat(0.0);
        PlanarInertia { over_mass: zero, over_inertia: zero, weight: [zero; 2] }
    }

    #[inline(always)]
    fn over_mass(m: &PlanarInertia<L>, x: &[L; 3]) -> [L; 3] {
        [m.over_mass * x[0], m.over_mass * x[1], m.over_inertia * x[2]]
    }

    #[inline(always)]
    fn own_force(m: &PlanarInertia<L>, _: &PlanarBodyState<L>) -> [L; 3] {
        [m.weight[0], m.weight[1], L::splat(0.0)]
    }

    #[inline(always)]
    fn rows<const N: usize, const PHI: bool>(
        record: &RowRecord<L>,
        [A, B]: [&PlanarBodyState<L>; 2],
        at: usize,
        [J_A, J_B]: [&mut [[L; 3]; N]; 2],
        value: &mut [L; N],
    ) -> usize {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        match record.kind {
            RowKind::Coincident => {
                let (a, b) = (A.rotate(&record.r_A), B.rotate(&record.r_B));
                J_A[at] = [-one, zero, a[1]];
                J_A[at + 1] = [zero, -one, -a[0]];
                J_B[at] = [one, zero, -b[1]];
                J_B[at + 1] = [zero, one, b[0]];
                let (a2, b2) = (A.rate * A.rate, B.rate * B.rate);
                for i in 0..2 {
                    value[at + i] =
                        if PHI { (B.p[i] + b[i]) - (A.p[i] + a[i]) } else { b2 * b[i] - a2 * a[i] };
                }
                return 2;
            }
            RowKind::InPlane => {
                let (n, a, b) = (A.rotate(&record.a), A.rotate(&record.r_A), B.rotate(&record.r_B));
                // the point of B seen from A's centre of mass
                let far = [(B.p[0] + b[0]) - A.p[0], (B.p[1] + b[1]) - A.p[1]];
                let d = [far[0] - a[0], far[1] - a[1]];
                J_B[at] = [n[0], n[1], n[1] * b[0] - n[0] * b[1]];
                J_A[at] = [-n[0], -n[1], n[0] * far[1] - n[1] * far[0]];
                value[at] = if PHI {
                    n[0] * d[0] + n[1] * d[1]
                } else {
                    let (w_A, w_B) = (A.rate, B.rate);
                    let ux = B.v[0] - w_B * b[1] - A.v[0] + w_A * a[1];
                    let uy = B.v[1] + w_B * b[0] - A.v[1] - w_A * a[0];
                    let (a2, b2) = (w_A * w_A, w_B * w_B);
                    let s = [a2 * a[0] - b2 * b[0], a2 * a[1] - b2 * b[1]];
                    let rotating = (w_A + w_A) * (n[0] * uy - n[1] * ux);
                    a2 * (n[0] * d[0] + n[1] * d[1]) - rotating - (n[0] * s[0] + n[1] * s[1])
                };
            }
            RowKind::Angle => {
                J_A[at] = [zero, zero, -one];
                J_B[at] = [zero, zero, one];
                value[at] = if PHI { B.angle - A.angle - record.a[0] } else { zero };
            }
            // a spatial row: descriptions of planar models have none
            RowKind::Perpendicular => value[at] = zero,
        }
        1
    }

    #[inline(always)]
    fn load(record: &LoadRecord<L>, [A, B]: [&PlanarBodyState<L>; 2], powers: &mut [L; 2]) -> [[L; 3]; 2] {
        let zero = L::splat(0.0);
        match record.kind {
            LoadKind::Torque => {
                powers[0] += record.p[2] * B.rate;
                [[zero; 3], [zero, zero, record.p[2]]]
            }
            LoadKind::Force => {
                let (r, [x, y, ..]) = (B.rotate(&record.r_B), record.p);
                let torque = r[0] * y - r[1] * x;
                powers[0] += x * B.v[0] + y * B.v[1] + torque * B.rate;
                [[zero; 3], [x, y, torque]]
            }
            LoadKind::Spring => {
                let (a, b) = (A.rotate(&record.r_A), B.rotate(&record.r_B));
                let d = [(B.p[0] + b[0]) - (A.p[0] + a[0]), (B.p[1] + b[1]) - (A.p[1] + a[1])];
                let u = [
                    (B.v[0] - B.rate * b[1]) - (A.v[0] - A.rate * a[1]),
                    (B.v[1] + B.rate * b[0]) - (A.v[1] + A.rate * a[0]),
                ];
                let length = (d[0] * d[0] + d[1] * d[1]).sqrt();
                let (over, tension) = tension(record, length, d[0] * u[0] + d[1] * u[1], powers);
                let [x, y] = [d[0] * tension * over, d[1] * tension * over];
                [[x, y, a[0] * y - a[1] * x], [-x, -y, b[1] * x - b[0] * y]]
            }
        }
    }

    #[inline(always)]
    fn retract(q: &mut [L], delta: &[L; 3]) {
        for i in 0..3 {
            q[i] += delta[i];
        }
    }

    #[inline(always)]
    fn qdot(_: &[L], v: &[L], out: &mut [L]) {
        [out[0], out[1], out[2]] = [v[0], v[1], v[2]];
    }

    #[inline(always)]
    fn normalize(_: &mut [L]) {}
}

/// 1/l, or zero where a spring has no length and so no direction, and the tension of a spring; `along` is l times the rate of l.
#[inline(always)]
pub(super) fn tension<L: Lane>(record: &LoadRecord<L>, length: L, along: L, powers: &mut [L; 2]) -> (L, L) {
    let zero = L::splat(0.0);
    let over = L::select(zero.lt(length), L::splat(1.0) / length, zero);
    let [stiffness, damping, rest, preload] = record.p;
    let rate = along * over;
    powers[1] += damping * rate * rate;
    (over, stiffness * (length - rest) + damping * rate + preload)
}
