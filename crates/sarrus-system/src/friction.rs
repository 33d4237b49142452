//! Friction in joints that depends on the joint's own reaction.
//!
//! With R the force and T the torque of the reaction at the joint's point, μ, r and v_s as the file gives them, and w the rate of the coordinate:
//!
//! - about an axis (revolute, cylindrical, universal): torque -μ r |R| tanh(w/v_s), r the radius of the journal;
//! - about a point (spherical): torque -μ r |R| tanh(|ω|/v_s) ω/|ω|, r the radius of the ball and ω how the bodies turn against each other;
//! - along an axis (prismatic, cylindrical): force -μ (|R⊥| + |T|/r) tanh(w/v_s), R⊥ what of R is across the axis, and r half the length of the
//!   guide, whose ends bear T as a couple; without r it does not count.
//!
//! It is the constraints' own force C, which does work; the reaction is without it. R depends on the accelerations, which depend on
//! friction: [`sarrus_solve::Dynamics`] finds both together, implicit integrators with λ among the unknowns of Newton's iteration. Below v_s it is a damper, so nothing sticks for good: it creeps. What
//! is lost is booked as dissipated.

use crate::at::At;
use crate::columns::{clearance_force, joint_wrench};
use crate::coordinate::CoordinateRef;
use crate::load::Wrench;
use crate::names::Directory;
use crate::system::System;
use crate::tangent::{block_index, kind_columns};
use sarrus_math::{Dual, Real, Vec3};
use sarrus_solve::{Equations, Tangent};

/// Friction of a coordinate, as the file says it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoordinateFriction {
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
    slide: Slide,
    friction: CoordinateFriction,
    /// n of the last forces, for the tangent.
    n: f64,
}

/// Along what it acts; bodies by their own numbers.
#[derive(Clone, Debug)]
enum Slide {
    /// A length.
    Along(CoordinateRef),
    /// An angle.
    About(CoordinateRef),
    /// Every turn of the second body against the first.
    Ball([usize; 2]),
}

/// Every coordinate with friction, and every ball.
pub(crate) fn all(directory: &Directory) -> Vec<JointFriction> {
    let mut list = Vec::new();
    for (joint, entry) in directory.joints.iter().enumerate() {
        for (k, friction) in entry.friction.iter().enumerate() {
            let Some(friction) = *friction else { continue };
            let [a, b] = entry.bodies.map(|body| body as usize);
            let slide = match entry.face.coordinates().get(k) {
                Some(c) if c.is_angle() => Slide::About(entry.coordinate(k, a, b)),
                Some(_) => Slide::Along(entry.coordinate(k, a, b)),
                None => Slide::Ball([a, b]),
            };
            list.push(JointFriction { joint, slide, friction, n: 0.0 });
        }
    }
    list
}

/// tanh(|ω|/v_s)/|ω| of ω² = `square`, smooth at rest.
pub(crate) fn over_speed<R: Real>(square: R, slip_speed: f64) -> R {
    let x2 = square * (1.0 / (slip_speed * slip_speed));
    if x2.value() < 1e-6 {
        // tanh(x)/x = 1 - x²/3 + ..., whose next term is rounding here
        return (R::one() - x2 * (1.0 / 3.0)) * (1.0 / slip_speed);
    }
    let speed = square.sqrt();
    (speed / slip_speed).tanh() / speed
}

impl JointFriction {
    /// Index among the joints.
    pub fn joint(&self) -> usize {
        self.joint
    }

    /// n of the multipliers `lambda`: the largest force or torque of this friction. `at` sees all bodies by their own numbers.
    pub fn intensity(&self, system: &System, eq: &Equations, lambda: &[f64], at: &At<f64>) -> f64 {
        let ([fx, fy, fz, tx, ty, tz], _) = joint_wrench(system, eq, |row| lambda[row], at, self.joint);
        let touch = clearance_force(system, at, self.joint);
        let (force, torque) = (Vec3([fx, fy, fz]) + touch, Vec3([tx, ty, tz]));
        let CoordinateFriction { mu, radius, .. } = self.friction;
        let Slide::Along(coordinate) = &self.slide else {
            return mu * radius.unwrap_or(0.0) * force.norm();
        };
        let frames = &coordinate.frames;
        let (F, M) = (frames.F.frame_pose(at.pose(coordinate.a)), frames.M.frame_pose(at.pose(coordinate.b)));
        let (axis, _) = coordinate.reading.direction(&F, &M);
        let across = force - axis.scale(force.dot(axis));
        mu * (across.norm() + radius.map_or(0.0, |r| torque.norm() / r))
    }

    /// Wrenches on its two bodies of the intensity 1, with their numbers.
    fn unit(&self, at: &At<f64>) -> Wrenches {
        match &self.slide {
            Slide::Along(c) | Slide::About(c) => {
                let [on_a, on_b] = c.effort(at, -Real::tanh(c.speed(at) / self.friction.slip_speed));
                [(c.a, on_a), (c.b, on_b)]
            }
            Slide::Ball([a, b]) => {
                let w = at.twist(*b).w_W - at.twist(*a).w_W;
                let torque = w.scale(over_speed(w.dot(w), self.friction.slip_speed));
                [(*a, (Vec3::zero(), torque)), (*b, (Vec3::zero(), -torque))]
            }
        }
    }

    /// Adds the force of the intensity `n` to `f`.
    pub fn add(&mut self, system: &System, at: &At<f64>, n: f64, f: &mut [f64]) {
        self.n = n;
        for (id, (force, torque)) in self.unit(at) {
            let body = &system.directory.bodies[id];
            let own = &mut f[body.v..body.v + body.kind.nv()];
            let wrench = Wrench { force: force.scale(n), torque: torque.scale(n) };
            wrench.add_to(body.kind, &at.poses[id], own);
        }
    }

    /// Heat of the intensity `n` \[W\].
    pub fn heat(&self, at: &At<f64>, n: f64) -> f64 {
        match &self.slide {
            Slide::Along(c) | Slide::About(c) => {
                let w = c.speed(at);
                n * Real::tanh(w / self.friction.slip_speed) * w
            }
            Slide::Ball([a, b]) => {
                let w = at.twist(*b).w_W - at.twist(*a).w_W;
                n * w.dot(w) * over_speed(w.dot(w), self.friction.slip_speed)
            }
        }
    }

    /// Adds -∂C/∂v at the intensity of the last forces to D. What n does with q, v and λ is left to the caller that iterates: beside the
    /// corner at rest it is small.
    pub fn add_tangent(&self, system: &System, at: &At<f64>, out: &mut Tangent) {
        let slip = self.friction.slip_speed;
        match &self.slide {
            Slide::Along(c) | Slide::About(c) => {
                let x = Real::tanh(c.speed(at) / slip);
                let [on_a, on_b] = c.effort(at, 1.0);
                let one = [(c.a, on_a), (c.b, on_b)];
                self.add_product(system, at, self.n * (1.0 - x * x) / slip, &one, out);
            }
            Slide::Ball([a, b]) => {
                // C = -n h(ω²) ω: h 1 + 2 h' ω ωᵀ, along and across ω
                let w = at.twist(*b).w_W - at.twist(*a).w_W;
                let about = |axis: Vec3<f64>| [(*a, (Vec3::zero(), -axis)), (*b, (Vec3::zero(), axis))];
                let square = Dual::<1>::variable(w.dot(w), 0);
                let h = over_speed(square, slip);
                for i in 0..3 {
                    let mut axis = Vec3([0.0; 3]);
                    axis.0[i] = 1.0;
                    let one = about(axis);
                    self.add_product(system, at, self.n * h.value(), &one, out);
                }
                let one = about(w);
                self.add_product(system, at, 2.0 * self.n * h.d[0], &one, out);
            }
        }
    }

    /// D += `factor` g gᵀ, g the generalized forces of wrenches on the two bodies.
    fn add_product(&self, system: &System, at: &At<f64>, factor: f64, one: &Wrenches, out: &mut Tangent) {
        let g = |(id, (force, torque)): (usize, (Vec3<f64>, Vec3<f64>))| {
            let mut g = [0.0; 6];
            Wrench { force, torque }.add_to(system.directory.bodies[id].kind, &at.poses[id], &mut g);
            g
        };
        for &row in one.iter().filter(|(id, _)| *id != 0) {
            for &col in one.iter().filter(|(id, _)| *id != 0) {
                let (g_row, g_col) = (g(row), g(col));
                let [m, n] = [row.0, col.0].map(|id| kind_columns(system, id as u32));
                let (index, stride) = block_index(system, out, [row.0 as u32, col.0 as u32]);
                for (i, x) in g_row.iter().enumerate().take(m) {
                    let own = &mut out.D[index + i * stride..][..n];
                    own.iter_mut().zip(&g_col).for_each(|(d, y)| *d += factor * x * y);
                }
            }
        }
    }
}

/// Wrenches on two bodies, with their numbers.
type Wrenches = [(usize, (Vec3<f64>, Vec3<f64>)); 2];
