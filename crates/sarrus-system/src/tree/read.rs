//! Coordinates and speeds of bodies whose poses and velocities are given, and rates of speeds from accelerations.
//!
//! A coordinate is read from the joint's frames, its rotation the nearest to the one last accepted. Speeds are those of
//! least squares of what is left of a body's velocity over its parent's, at the joint's point P: s y = (v - v_p - w_p × r,
//! w - w_p). Where the joint holds there is nothing left over, and they are exact; where it does not, the part across it is
//! dropped. Accelerations likewise, less their bias.

use super::graph::InboardJoint;
use super::motion::MAX_JOINT_DOF;
use super::small::Factor;
use super::spatial::Vec6;
use super::{Tree, numbers};
use crate::body::BodyKind;
use crate::coordinate::nearest_revolution;
use sarrus_math::{Mat3, Pose, Vec3};
use sarrus_solve::State;

impl Tree {
    /// Coordinates and speeds of the bodies' state `s` into `q` and `y`; leaves the links placed there.
    pub fn read(&mut self, s: &State, q: &mut [f64], y: &mut [f64]) {
        self.visits += self.links.len() as u64;
        for i in 0..self.links.len() {
            let link = &self.links[i];
            let body = &self.system.directory.bodies[link.body];
            if body.kind.rotates_in_space() {
                self.quaternions[link.body] = body.quaternion(&s.q);
            }
            let out = &mut q[link.q..link.q + link.nq];
            let on = match &link.hinge {
                InboardJoint::Free if body.kind == BodyKind::RigidEuler => {
                    out[..3].copy_from_slice(&s.q[body.q..body.q + 3]);
                    out[3..].copy_from_slice(&body.quaternion(&s.q));
                    continue;
                }
                InboardJoint::Free => {
                    out.copy_from_slice(&s.q[body.q..body.q + link.nq]);
                    continue;
                }
                InboardJoint::Joint(on) => on,
            };
            let [A, B] = self.system.directory.joints[on.joint].bodies.map(|body| self.pose(body, s));
            let (F, M) = (on.frames.F.frame_pose(&A), on.frames.M.frame_pose(&B));
            let last = &self.last[link.q..link.q + link.nq];
            for (k, number) in numbers(on) {
                let reading = on.face.coordinates()[number].reading;
                let value = reading.value(&F, &M);
                out[k] = if reading.wraps() { value + nearest_revolution(value, last[k]) } else { value };
            }
            if let Some(k) = on.face.quaternion() {
                let quat = F.rot.transpose_mul_mat(&M.rot).to_quat();
                let dot: f64 = quat.iter().zip(&last[k..]).map(|(a, b)| a * b).sum();
                let sign = if dot < 0.0 { -1.0 } else { 1.0 };
                out[k..k + 4].copy_from_slice(&quat.map(|x| sign * x));
            }
        }
        y.fill(0.0);
        self.update_kinematics(q, y);
        self.speeds(&s.v, y);
        self.update_kinematics(q, y);
    }

    /// y of the bodies' velocities `v` where the links are evaluated.
    fn speeds(&mut self, v: &[f64], y: &mut [f64]) {
        for i in 0..self.links.len() {
            self.rates[i] = self.of_body(i, v);
            self.own_rates(i, Vec6::ZERO, y);
        }
    }

    /// ẏ of the bodies' accelerations `vdot`, at the state that was evaluated last.
    pub fn speed_rates(&mut self, vdot: &[f64], ydot: &mut [f64]) {
        self.orthonormalize();
        self.visits += self.links.len() as u64;
        for i in 0..self.links.len() {
            self.rates[i] = self.of_body(i, vdot);
            self.own_rates(i, self.states[i].bias, ydot);
        }
    }

    /// Least squares of what the rates of link `i` have over those of its parent and over `bias`.
    fn own_rates(&self, i: usize, bias: Vec6, out: &mut [f64]) {
        let (link, state) = (&self.links[i], &self.states[i]);
        let parent = link.parent.map_or(Vec6::ZERO, |parent| self.rates[parent].carried(state.r));
        let at_P = |x: &Vec6| Vec6 { v: x.v - x.w.cross(state.d), w: x.w };
        let left = at_P(&self.rates[i].minus(&parent).minus(&bias));
        let (n, s) = (link.ny, &self.s[link.y..link.y + link.ny]);
        let mut columns = [Vec6::ZERO; MAX_JOINT_DOF];
        for (column, s) in columns.iter_mut().zip(s) {
            *column = at_P(s);
        }
        let out = &mut out[link.y..link.y + n];
        for (out, column) in out.iter_mut().zip(&columns) {
            *out = column.dot(&left);
        }
        let factor = Factor::new(n, |i, j| columns[i].dot(&columns[j]));
        factor.forward(out);
        factor.backward(out);
    }

    /// The pose of body `body` at `s`.
    fn pose(&self, body: u32, s: &State) -> Pose {
        let body = &self.system.directory.bodies[body as usize];
        let q = &s.q[body.q..];
        match body.kind {
            BodyKind::Ground => Pose::identity(),
            BodyKind::Rigid | BodyKind::RigidEuler => {
                Pose::from_quat([q[0], q[1], q[2]], body.quaternion(&s.q))
            }
            BodyKind::PlanarRigid => Pose::planar(q[0], q[1], q[2]),
            BodyKind::Point => Pose { p: Vec3([q[0], q[1], q[2]]), rot: Mat3::identity(), angle: 0.0 },
            BodyKind::PlanarPoint => Pose { p: Vec3([q[0], q[1], 0.0]), rot: Mat3::identity(), angle: 0.0 },
        }
    }
}
