//! Straight paths between two positions, on which time stands still: what a step of statics could pass over.
//!
//! Over the part s of a path, from 0 to 1, each body moves at a constant velocity and rotates at a constant angular velocity from the one pose
//! to the other. Frames have s for their time; expressions read the time of the first position, and velocities of zero. Positions between the
//! ends fulfil no constraints, which they leave by the square of the path's length.

use crate::at::At;
use crate::contact::What;
use crate::motion::{AT_REST, Bound, Frame, Motion};
use crate::system::System;
use sarrus_math::{
    Mat3, Pose, Twist, Vec3, quat_conjugate, quat_from_rotation_vector, quat_mul, quat_to_rotation_vector,
};

impl Motion {
    /// Bounds the motion along the path from one position to another.
    pub fn along(&mut self, system: &System, from: &Frame, to: &Frame) {
        let planar = self.planar;
        let start = &mut self.nodes[0];
        let mut still = start.still.take().unwrap_or_default();
        still.t = from.t;
        still.twists.resize(from.poses.len(), Twist::zero());
        start.copy_from(from);
        start.t = 0.0;
        start.still = Some(still);
        for (body, (a, b)) in from.poses.iter().zip(&to.poses).enumerate().skip(1) {
            let way = way(a, b, planar);
            start.twists[body] = way;
            self.bounds[body] = Bound { speed: way.v.norm(), w: way.w.norm(), ..AT_REST };
        }
        self.h = 1.0;
        for k in 1..=self.n {
            let mut node = std::mem::take(&mut self.nodes[k]);
            self.part(system, self.fractions()[k], &mut node);
            self.nodes[k] = node;
        }
        let end = &mut self.nodes[self.n];
        end.poses.clone_from(&to.poses);
        end.gaps.clone_from(&to.gaps);
        end.t = 1.0;
    }

    /// All bodies at the part `s` of the path.
    pub fn part(&self, system: &System, s: f64, frame: &mut Frame) {
        frame.copy_from(&self.nodes[0]);
        frame.t = s;
        for (pose, way) in frame.poses.iter_mut().zip(&frame.twists).skip(1) {
            pose.p += way.v * s;
            if way.w.norm_squared() == 0.0 {
                continue;
            }
            let turned = way.w * s;
            pose.rot = if self.planar {
                pose.angle += turned.0[2];
                Pose::planar(0.0, 0.0, pose.angle).rot
            } else {
                pose.rot * Mat3::from_quat(quat_from_rotation_vector(&turned.0))
            };
        }
        let Frame { poses, hints, gaps, still: Some(still), .. } = frame else { return };
        for (gap, entry) in gaps.iter_mut().zip(&system.contacts) {
            if let What::Gap { ids, rows } = &entry.contact.what {
                *gap = rows.0.eval(&At { t: still.t, poses, twists: &still.twists, ids, hints, outs: &[] });
            }
        }
    }
}

/// The velocity with which a body is at `b` one unit after `a`.
fn way(a: &Pose, b: &Pose, planar: bool) -> Twist {
    let v = b.p - a.p;
    let w = if planar {
        [0.0, 0.0, b.angle - a.angle]
    } else {
        quat_to_rotation_vector(&quat_mul(&quat_conjugate(&a.rot.to_quat()), &b.rot.to_quat()))
    };
    Twist::new(a, v, Vec3(w))
}
