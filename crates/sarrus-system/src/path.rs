//! Straight paths between two positions, on which time stands still: what a step of statics could pass over.
//!
//! Over the part s of a path, from 0 to 1, each body moves at a constant velocity and rotates at a constant angular velocity from the one pose
//! to the other. Frames have s for their time; expressions read the time of the first position, and velocities of zero. Positions between the
//! ends fulfil no constraints, which they leave by the square of the path's length.

use crate::at::At;
use crate::contact::ContactSides;
use crate::motion::{AT_REST, BodiesAtInstant, BodyBound, MotionBounds};
use crate::system::System;
use sarrus_math::{
    Mat3, Pose, Twist, Vec3, quat_conjugate, quat_from_rotation_vector, quat_mul, quat_to_rotation_vector,
};

impl MotionBounds {
    /// Bounds the motion along the path from one position to another.
    pub fn along(&mut self, system: &System, from: &BodiesAtInstant, to: &BodiesAtInstant) {
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
            self.bounds[body] = BodyBound { speed: way.v.norm(), w: way.w.norm(), ..AT_REST };
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
    pub fn part(&self, system: &System, s: f64, frame: &mut BodiesAtInstant) {
        frame.copy_from(&self.nodes[0]);
        frame.t = s;
        for (pose, way) in frame.poses.iter_mut().zip(&frame.twists).skip(1) {
            pose.p += way.v * s;
            if way.w.norm_squared() == 0.0 {
                continue;
            }
            let rotated = way.w * s;
            pose.rot = if self.planar {
                pose.angle += rotated.0[2];
                Pose::planar(0.0, 0.0, pose.angle).rot
            } else {
                pose.rot * Mat3::from_quat(quat_from_rotation_vector(&rotated.0))
            };
        }
        let BodiesAtInstant { poses, discrete, gaps, still: Some(still), .. } = frame else { return };
        for (gap, entry) in gaps.iter_mut().zip(&system.contacts) {
            if let ContactSides::Gap { ids, rows } = &entry.contact.what {
                *gap =
                    rows.0.eval(&At { t: still.t, poses, twists: &still.twists, ids, discrete, outs: &[] });
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

#[cfg(test)]
mod tests {
    use super::*;
    use sarrus_math::Real;

    /// A body in space at p, rotated by the vector `turn`.
    fn pose(p: [f64; 3], rotation: [f64; 3]) -> Pose {
        Pose::from_quat(p, quat_from_rotation_vector(&rotation))
    }

    fn frame(body: Pose) -> BodiesAtInstant {
        BodiesAtInstant {
            t: 7.0,
            poses: vec![Pose::identity(), body],
            twists: vec![Twist::zero(); 2],
            ..BodiesAtInstant::default()
        }
    }

    #[test]
    fn bounds_along_a_path_hold_all_positions_on_it_and_time_and_velocities_stand_still() {
        let model = sarrus_io::load_str(
            "test.toml",
            "format = \"sarrus/1\"\nrun.t_end = 1\nbodies.b = { at = [0, 0, 0], mass = 1, inertia = [1, 1, 1] }\n",
            &sarrus_io::LoadOptions::default(),
        );
        let model = model.unwrap_or_else(|e| panic!("{}", e.render()));
        let system = crate::compile(&model).unwrap();
        for k in 0..20 {
            let x = f64::from(k);
            let from = pose([x.sin(), 0.3, -0.2 * x.cos()], [x.cos(), 2.0 * (3.0 * x).sin(), 0.5]);
            let to = pose([x.cos(), 0.1 * x, 0.0], [x.cos() + 0.3, 2.0 * (3.0 * x).sin() - 0.4, 0.9]);
            let mut motion = MotionBounds::of(&system, 1);
            motion.along(&system, &frame(from), &frame(to));
            let (mut a, mut b, mut inside) =
                (BodiesAtInstant::default(), BodiesAtInstant::default(), BodiesAtInstant::default());
            for [low, high] in [[0.0, 1.0], [0.2, 0.3], [0.75, 1.0]] {
                motion.part(&system, low, &mut a);
                motion.part(&system, high, &mut b);
                for i in 0..=10 {
                    motion.part(&system, low + (high - low) * 0.1 * f64::from(i), &mut inside);
                    let here = inside.poses[1];
                    motion.between(&[1], &[0], &a, &b, |at| {
                        let bound = at.pose(0);
                        for r in 0..3 {
                            assert!(bound.p.0[r].v.contains(here.p.0[r]), "{k} {r}");
                            for c in 0..3 {
                                let entry = bound.rot.0[r][c].v;
                                let slack = 1e-14;
                                assert!(entry.lo - slack <= here.rot.0[r][c]);
                                assert!(here.rot.0[r][c] <= entry.hi + slack, "{k} {r} {c}");
                            }
                        }
                        assert_eq!(at.t.value(), 7.0);
                        assert!(at.t.is_constant() && at.twist(0).v.0.iter().all(|v| v.is_zero()));
                    });
                }
            }
            // the way ends where it is to
            let (mut end, last) = (BodiesAtInstant::default(), motion.ends()[1].poses[1]);
            motion.part(&system, 1.0, &mut end);
            for r in 0..3 {
                assert!((end.poses[1].p.0[r] - last.p.0[r]).abs() < 1e-14);
                (0..3).for_each(|c| {
                    assert!((end.poses[1].rot.0[r][c] - last.rot.0[r][c]).abs() < 1e-13);
                });
            }
        }
    }
}
