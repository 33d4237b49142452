//! Poses, velocities and their bias, from the ground outwards.
//!
//! With C the centre of mass of a body, C_p that of its parent, P the joint's point on the joint's second body (M's
//! origin), r = C - C_p, d = C - P, σ = 1 where the parent is the joint's first body A and -1 where it is the second, and
//! R the axes of F in the world:
//!
//! | | |
//! |---|---|
//! | partial velocities at C | s_w = σ R S_w, s_v = σ R S_v + s_w × d |
//! | velocity | w = w_p + s_w y, v = v_p + w_p × r + s_v y |
//! | bias, angular | β_w = w_p × s_w y + σ R Ṡ_w y |
//! | bias, linear | β_v = w_p × ṙ + u̇ + β_w × d + s_w y × ḋ |
//!
//! where u = σ R S_v y is the velocity at P against the parent, u̇ = w_A × u + σ R Ṡ_v y with w_A the rate of the first
//! body, ṙ = v - v_p and ḋ = w × d, for σ = -1 with u added, as P then stays on the parent. An acceleration is
//! (a_p + α_p × r + s_v ẏ + β_v, α_p + s_w ẏ + β_w): that of the centre of mass, not a spatial one.
//!
//! In β_w the rate of the parent may stand for w_A in either case: they differ by s_w y, along which s_w y × s_w y = 0.

use super::graph::{Connection, InboardJoint};
use super::spatial::Vec6;
use super::{LinkState, Tree};
use crate::body::BodyKind;
use sarrus_math::{Mat3, Pose, Vec3, quat_normalize, quat_to_euler};
use sarrus_solve::State;

impl Tree {
    /// Places all links at coordinates `q` and speeds `y`.
    pub fn update_kinematics(&mut self, q: &[f64], y: &[f64]) {
        self.own.0.copy_from_slice(q);
        self.own.1.copy_from_slice(y);
        if let Some(planar) = &mut self.planar {
            planar.update_kinematics(q, y);
        }
        (self.known, self.is_orthonormal) = (true, true);
        self.update_links(q, y);
    }

    /// Finds of the coordinates that were evaluated last what the recursions in the plane do without.
    pub(super) fn orthonormalize(&mut self) {
        if !self.is_orthonormal {
            let own = std::mem::take(&mut self.own);
            self.update_links(&own.0, &own.1);
            (self.own, self.is_orthonormal) = (own, true);
        }
    }

    /// Poses, velocities, partial velocities and bias of all links.
    fn update_links(&mut self, q: &[f64], y: &[f64]) {
        self.visits += self.links.len() as u64;
        for i in 0..self.links.len() {
            let link = &self.links[i];
            let parent = link.parent.map_or(LinkState::START, |parent| self.states[parent]);
            let (q, y) = (&q[link.q..link.q + link.nq], &y[link.y..link.y + link.ny]);
            let s = &mut self.s[link.y..link.y + link.ny];
            let body = &self.system.directory.bodies[link.body];
            let old = self.quaternions[link.body];
            self.states[i] = match &link.hinge {
                InboardJoint::Free => free(body.kind, old, q, y, s),
                InboardJoint::Joint(on) => {
                    on.face.motion(q, y, &mut self.motion);
                    self.motion.pose.p += on.shift;
                    let (pose, quaternion, at) =
                        joint_state(on, body.kind, old, &parent.pose, &self.motion.pose);
                    let sense = if on.reversed { -1.0 } else { 1.0 };
                    let d = pose.p - at.P;
                    let mut own = [Vec6::ZERO; 2];
                    for ((s, S), y) in s.iter_mut().zip(&self.motion.S).zip(y) {
                        let (u, w) = ((at.R * S.v).scale(sense), (at.R * S.w).scale(sense));
                        *s = Vec6 { v: u + w.cross(d), w };
                        own[0].add_scaled(*y, &Vec6 { v: u, w });
                        own[1].add_scaled(*y, s);
                    }
                    let [at_P, at_C] = own;
                    let r = pose.p - parent.pose.p;
                    let velocity = parent.velocity.carried(r).plus(&at_C);
                    let (w_p, u, z) = (parent.velocity.w, at_P.v, at_P.w);
                    let w_A = if on.reversed { velocity.w } else { w_p };
                    let ddot = velocity.w.cross(d) + if on.reversed { u } else { Vec3::zero() };
                    let bias_w = w_p.cross(z) + (at.R * self.motion.bias.w).scale(sense);
                    let bias_u = w_A.cross(u) + (at.R * self.motion.bias.v).scale(sense);
                    let bias_v =
                        w_p.cross(velocity.v - parent.velocity.v) + bias_u + bias_w.cross(d) + z.cross(ddot);
                    LinkState { pose, quaternion, r, d, velocity, bias: Vec6 { v: bias_v, w: bias_w } }
                }
            };
        }
    }

    /// Writes the state of all bodies, as placed last, into `out`.
    pub fn write(&mut self, out: &mut State) {
        if let Some(planar) = &mut self.planar {
            return planar.write(&self.own.0, &self.own.1, out);
        }
        for (link, state) in self.links.iter().zip(&self.states) {
            let body = &self.system.directory.bodies[link.body];
            let q = &mut out.q[body.q..body.q + body.kind.nq()];
            let v = &mut out.v[body.v..body.v + body.kind.nv()];
            let (p, rate) = (state.pose.p.0, &state.velocity);
            match body.kind {
                BodyKind::Ground => {}
                BodyKind::Rigid | BodyKind::RigidEuler => {
                    q[..3].copy_from_slice(&p);
                    if body.kind == BodyKind::Rigid {
                        q[3..].copy_from_slice(&state.quaternion);
                    } else {
                        let near = [q[3], q[4], q[5]];
                        q[3..].copy_from_slice(&quat_to_euler(&state.quaternion, near));
                    }
                    v[..3].copy_from_slice(&rate.v.0);
                    v[3..].copy_from_slice(&state.pose.rot.transpose_mul(rate.w).0);
                }
                BodyKind::PlanarRigid => {
                    q.copy_from_slice(&[p[0], p[1], state.pose.angle]);
                    v.copy_from_slice(&[rate.v.0[0], rate.v.0[1], rate.w.0[2]]);
                }
                BodyKind::Point | BodyKind::PlanarPoint => {
                    let n = q.len();
                    q.copy_from_slice(&p[..n]);
                    v.copy_from_slice(&rate.v.0[..n]);
                }
            }
        }
    }
}

/// A body with coordinates of its own.
fn free(kind: BodyKind, old: [f64; 4], q: &[f64], y: &[f64], s: &mut [Vec6]) -> LinkState {
    let (pose, quaternion) = match kind {
        BodyKind::Ground => return LinkState::START,
        BodyKind::Rigid | BodyKind::RigidEuler => {
            let quat = [q[3], q[4], q[5], q[6]];
            (Pose::from_quat([q[0], q[1], q[2]], quat), quat_normalize(quat))
        }
        BodyKind::PlanarRigid => (Pose::planar(q[0], q[1], q[2]), old),
        BodyKind::Point => (Pose { p: Vec3([q[0], q[1], q[2]]), ..Pose::identity() }, old),
        BodyKind::PlanarPoint => (Pose { p: Vec3([q[0], q[1], 0.0]), ..Pose::identity() }, old),
    };
    // ṗ in world axes; ω in body axes, in the plane about z
    let linear = if matches!(kind, BodyKind::PlanarRigid | BodyKind::PlanarPoint) { 2 } else { 3 };
    let mut velocity = Vec6::ZERO;
    for (i, (s, y)) in s.iter_mut().zip(y).enumerate() {
        *s = match i.checked_sub(linear) {
            None => super::motion::shift(i),
            Some(_) if linear == 2 => super::motion::rotation_axis(2),
            Some(k) => Vec6 { v: Vec3::zero(), w: pose.rot.col(k) },
        };
        velocity.add_scaled(*y, s);
    }
    LinkState { pose, quaternion, r: pose.p, d: Vec3::zero(), velocity, bias: Vec6::ZERO }
}

/// Marks where a joint is.
struct JointPose {
    /// Its point.
    P: Vec3,
    /// Axes of F.
    R: Mat3,
}

/// The body at the far end of a joint with motion `X`.
fn joint_state(
    on: &Connection,
    kind: BodyKind,
    old: [f64; 4],
    parent: &Pose,
    X: &Pose,
) -> (Pose, [f64; 4], JointPose) {
    let (near, far) = if on.reversed { (&on.frames.M, &on.frames.F) } else { (&on.frames.F, &on.frames.M) };
    let start = near.frame_pose(parent);
    let (R, origin, axes, P, rotation);
    if on.reversed {
        R = start.rot * X.rot.transpose();
        origin = start.p - R * X.p;
        (axes, P) = (R, start.p);
        rotation = -X.angle;
    } else {
        R = start.rot;
        origin = start.p + R * X.p;
        (axes, P) = (R * X.rot, origin);
        rotation = X.angle;
    }
    let at = JointPose { P, R };
    if kind == BodyKind::PlanarRigid {
        // z of F points away in a mirrored file: its angles count the other way
        let angle = start.angle + R.0[2][2] * rotation - far.angle;
        let rot = Mat3::rot_z(angle);
        return (Pose { p: origin - rot.mul_f64(&far.p), rot, angle }, old, at);
    }
    let rot = axes.mul_mat_f64(&far.rot.transpose());
    let (mut pose, quaternion) = orthonormal_pose(rot, old);
    pose.p = origin - pose.rot.mul_f64(&far.p);
    (pose, quaternion, at)
}

/// A rotation whose axes are at right angles to the last digit, with its quaternion on the side of `old`.
fn orthonormal_pose(rot: Mat3, old: [f64; 4]) -> (Pose, [f64; 4]) {
    let q = rot.to_quat();
    let dot: f64 = q.iter().zip(&old).map(|(a, b)| a * b).sum();
    let q = if dot < 0.0 { q.map(|x| -x) } else { q };
    (Pose::from_quat([0.0; 3], q), q)
}
