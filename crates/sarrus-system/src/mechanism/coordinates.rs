//! Coordinates of bodies: their rates, moves along velocities, differences, and unit Euler parameters.

use crate::body::{Body, BodyKind};
use sarrus_math::{
    euler_derivative, quat_conjugate, quat_derivative, quat_from_rotation_vector, quat_mul, quat_normalize,
    quat_to_euler, quat_to_rotation_vector,
};
use sarrus_solve::State;

pub(super) fn qdot(bodies: &[Body], s: &State, qdot: &mut [f64]) {
    for body in bodies.iter().skip(1) {
        let (q, v) = (&s.q[body.q..], &s.v[body.v..]);
        let out = &mut qdot[body.q..body.q + body.kind.nq()];
        match body.kind {
            BodyKind::Rigid => {
                out[..3].copy_from_slice(&v[..3]);
                let rates = quat_derivative(&[q[3], q[4], q[5], q[6]], &[v[3], v[4], v[5]]);
                out[3..].copy_from_slice(&rates);
            }
            BodyKind::RigidEuler => {
                out[..3].copy_from_slice(&v[..3]);
                out[3..].copy_from_slice(&euler_derivative([q[3], q[4], q[5]], [v[3], v[4], v[5]]));
            }
            _ => out.copy_from_slice(&v[..body.kind.nv()]),
        }
    }
}

pub(super) fn retract(bodies: &[Body], q: &mut [f64], delta: &[f64]) {
    for body in bodies.iter().skip(1) {
        let d = &delta[body.v..body.v + body.kind.nv()];
        let before = body.quaternion(q);
        let q = &mut q[body.q..body.q + body.kind.nq()];
        if body.kind.rotates_in_space() {
            for i in 0..3 {
                q[i] += d[i];
            }
            let rotation = quat_from_rotation_vector(&[d[3], d[4], d[5]]);
            let angle = quat_normalize(quat_mul(&before, &rotation));
            if body.kind == BodyKind::Rigid {
                q[3..].copy_from_slice(&angle);
            } else if d[3..] != [0.0; 3] {
                let near = [q[3], q[4], q[5]];
                q[3..].copy_from_slice(&quat_to_euler(&angle, near));
            }
        } else {
            for (q, d) in q.iter_mut().zip(d) {
                *q += d;
            }
        }
    }
}

pub(super) fn difference(bodies: &[Body], a: &[f64], b: &[f64], delta: &mut [f64]) {
    for body in bodies.iter().skip(1) {
        let out = &mut delta[body.v..body.v + body.kind.nv()];
        let [to, from] = [a, b].map(|q| body.quaternion(q));
        let (a, b) = (&a[body.q..], &b[body.q..]);
        if body.kind.rotates_in_space() {
            for i in 0..3 {
                out[i] = a[i] - b[i];
            }
            let rotation = quat_mul(&quat_conjugate(&from), &to);
            out[3..].copy_from_slice(&quat_to_rotation_vector(&rotation));
        } else {
            for i in 0..out.len() {
                out[i] = a[i] - b[i];
            }
        }
    }
}

pub(super) fn normalize(quaternions: &[usize], q: &mut [f64]) {
    for &start in quaternions {
        let q = &mut q[start..start + 4];
        let unit = quat_normalize([q[0], q[1], q[2], q[3]]);
        q.copy_from_slice(&unit);
    }
}
