//! Friction in joints that depends on the joint's own reaction.
//!
//! With R the force and T the torque of the reaction at the joint's point, μ, r and v_s as the file gives them, and w the rate of the coordinate:
//!
//! - about an axis (revolute, cylindrical, universal): torque -μ r |R| tanh(w/v_s), r the radius of the journal;
//! - along an axis (prismatic, cylindrical): force -μ (|R⊥| + |T|/r) tanh(w/v_s), R⊥ what of R is across the axis, and r half the length of the
//!   guide, whose ends bear T as a couple; without r it does not count.
//!
//! It is the constraints' own force C, which does work; the reaction is without it. R depends on the accelerations, which depend on
//! friction: [`sarrus_solve::Dynamics`] finds both together. Below v_s it is a damper, so nothing sticks for good: it creeps. What
//! is lost is booked as dissipated.

use crate::at::At;
use crate::body::BodyKind;
use crate::columns::joint_wrench;
use crate::coordinate::CoordinateRef;
use crate::names::Directory;
use crate::system::System;
use sarrus_math::{Pose, Real, Vec3};
use sarrus_solve::Equations;

/// Friction of a coordinate, as the file says it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction {
    /// μ.
    pub mu: f64,
    /// r \[m\].
    pub radius: Option<f64>,
    /// v_s \[m/s, rad/s\].
    pub slip_speed: f64,
}

/// The same in a system.
#[derive(Clone, Debug)]
pub(crate) struct JointFriction {
    joint: usize,
    /// Bodies by their own numbers.
    coordinate: CoordinateRef,
    friction: Friction,
    is_angle: bool,
}

/// Every coordinate with friction.
pub(crate) fn all(directory: &Directory) -> Vec<JointFriction> {
    let mut list = Vec::new();
    for (joint, entry) in directory.joints.iter().enumerate() {
        for (k, friction) in entry.friction.iter().enumerate() {
            let Some(friction) = *friction else { continue };
            let [a, b] = entry.bodies.map(|body| body as usize);
            let is_angle = entry.face.coordinates()[k].is_angle();
            list.push(JointFriction { joint, coordinate: entry.coordinate(k, a, b), friction, is_angle });
        }
    }
    list
}

impl JointFriction {
    /// n of the multipliers `lambda`: the largest force or torque of this friction. `at` sees all bodies by their own numbers.
    pub fn intensity(&self, system: &System, eq: &Equations, lambda: &[f64], at: &At<f64>) -> f64 {
        let ([fx, fy, fz, tx, ty, tz], _) = joint_wrench(system, eq, |row| lambda[row], at, self.joint);
        let (force, torque) = (Vec3([fx, fy, fz]), Vec3([tx, ty, tz]));
        let Friction { mu, radius, .. } = self.friction;
        if self.is_angle {
            return mu * radius.unwrap_or(0.0) * force.norm();
        }
        let frames = &self.coordinate.frames;
        let (F, M) = (frames.F.place(at.pose(self.coordinate.a)), frames.M.place(at.pose(self.coordinate.b)));
        let (axis, _) = self.coordinate.reading.direction(&F, &M);
        let across = force - axis.scale(force.dot(axis));
        mu * (across.norm() + radius.map_or(0.0, |r| torque.norm() / r))
    }

    /// tanh(w/v_s), and w.
    fn slip(&self, at: &At<f64>) -> (f64, f64) {
        let w = self.coordinate.speed(at);
        (Real::tanh(w / self.friction.slip_speed), w)
    }

    /// Adds the force of the intensity `n` to `f`.
    pub fn add(&self, system: &System, at: &At<f64>, n: f64, f: &mut [f64]) {
        let effort = -n * self.slip(at).0;
        let wrenches = self.coordinate.effort(at, effort);
        for (id, (force, torque)) in [self.coordinate.a, self.coordinate.b].into_iter().zip(wrenches) {
            let body = &system.directory.bodies[id];
            add_wrench(body.kind, &at.poses[id], force, torque, &mut f[body.v..body.v + body.kind.nv()]);
        }
    }

    /// Heat of the intensity `n` \[W\].
    pub fn heat(&self, at: &At<f64>, n: f64) -> f64 {
        let (slip, w) = self.slip(at);
        n * slip * w
    }
}

/// Adds a wrench about the centre of mass, in world axes, to the generalized forces of a body.
fn add_wrench(kind: BodyKind, pose: &Pose<f64>, force: Vec3<f64>, torque: Vec3<f64>, f: &mut [f64]) {
    match kind {
        BodyKind::Ground => {}
        BodyKind::Rigid | BodyKind::RigidEuler => {
            let torque = pose.rot.transpose_mul(torque);
            for i in 0..3 {
                f[i] += force.0[i];
                f[3 + i] += torque.0[i];
            }
        }
        BodyKind::PlanarRigid => {
            f[0] += force.0[0];
            f[1] += force.0[1];
            f[2] += torque.0[2];
        }
        BodyKind::Point | BodyKind::PlanarPoint => f.iter_mut().zip(&force.0).for_each(|(f, w)| *f += w),
    }
}
