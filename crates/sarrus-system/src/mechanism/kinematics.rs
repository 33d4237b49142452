//! Bodies where a state has them.

use super::Mechanism;
use crate::body::BodyKind;
use sarrus_math::{Mat3, Pose, Twist, Vec3};
use sarrus_solve::State;

impl Mechanism {
    /// Poses and velocities of all bodies from `s`.
    pub(super) fn update_kinematics(&mut self, s: &State) {
        let bodies = &self.system.directory.bodies;
        self.angles.update(bodies, &s.q);
        let moving = bodies.iter().zip(&mut self.poses).zip(&mut self.twists).enumerate().skip(1);
        for (i, ((body, pose), twist)) in moving {
            let (q, v) = (&s.q[body.q..], &s.v[body.v..]);
            match body.kind {
                BodyKind::Ground => {}
                BodyKind::Rigid | BodyKind::RigidEuler => {
                    let w = Vec3([v[3], v[4], v[5]]);
                    pose.p = Vec3([q[0], q[1], q[2]]);
                    // orthogonal for any length: stages of an integrator leave the unit sphere by their own error
                    pose.rot = Mat3::from_quat(body.quaternion(&s.q));
                    *twist = Twist { v: Vec3([v[0], v[1], v[2]]), w, w_W: pose.rot * w };
                }
                BodyKind::PlanarRigid => {
                    let w = Vec3([0.0, 0.0, v[2]]);
                    let (sin, cos) = self.angles.of(i, q[2]);
                    let rot = Mat3([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]]);
                    *pose = Pose { p: Vec3([q[0], q[1], 0.0]), rot, angle: q[2] };
                    *twist = Twist { v: Vec3([v[0], v[1], 0.0]), w, w_W: w };
                }
                BodyKind::Point => {
                    pose.p = Vec3([q[0], q[1], q[2]]);
                    twist.v = Vec3([v[0], v[1], v[2]]);
                }
                BodyKind::PlanarPoint => {
                    pose.p = Vec3([q[0], q[1], 0.0]);
                    twist.v = Vec3([v[0], v[1], 0.0]);
                }
            }
        }
    }
}
