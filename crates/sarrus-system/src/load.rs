//! Describes what a force is: wrenches on bodies, written once over [`Real`], and where its power goes.

use crate::at::At;
use crate::body::BodyKind;
use crate::formula::Formula;
use sarrus_math::{Dual, Mat3, Pose, Real, Vec3};
use sarrus_solve::tables::LoadRecord;

/// A force through the centre of mass and a torque about it, both in world axes \[N, N m\].
#[derive(Clone, Copy, Debug)]
pub struct Wrench<R> {
    /// Force \[N\].
    pub force: Vec3<R>,
    /// Torque about the centre of mass \[N m\].
    pub torque: Vec3<R>,
}

impl<R: Real> Wrench<R> {
    /// No wrench.
    pub fn zero() -> Self {
        Wrench { force: Vec3::zero(), torque: Vec3::zero() }
    }

    /// Adds a force at a point `arm` away from the centre of mass, world axes.
    pub fn add_force_at(&mut self, force: Vec3<R>, arm: Vec3<R>) {
        self.force += force;
        self.torque += arm.cross(force);
    }

    /// Adds a torque.
    pub fn add_torque(&mut self, torque: Vec3<R>) {
        self.torque += torque;
    }
}

impl Wrench<f64> {
    /// Adds it to the generalized forces `f` of a body of some kind at `pose`; what such a body cannot take is left out.
    pub(crate) fn add_to(&self, kind: BodyKind, pose: &Pose<f64>, f: &mut [f64]) {
        let (force, torque) = (self.force.0, self.torque);
        match kind {
            BodyKind::Ground => {}
            BodyKind::Rigid | BodyKind::RigidEuler => {
                let torque = pose.rot.transpose_mul(torque);
                for i in 0..3 {
                    f[i] += force[i];
                    f[3 + i] += torque.0[i];
                }
            }
            BodyKind::PlanarRigid => {
                f[0] += force[0];
                f[1] += force[1];
                f[2] += torque.0[2];
            }
            BodyKind::Point | BodyKind::PlanarPoint => f.iter_mut().zip(&force).for_each(|(f, w)| *f += w),
        }
    }
}

/// A force, as its author writes it.
pub trait Force: Send + Sync + 'static {
    /// Adds its wrench on each of its bodies.
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]);

    /// Stored energy \[J\].
    fn potential<R: Real>(&self, _at: &At<R>) -> R {
        R::zero()
    }

    /// Power it turns into heat \[W\], not negative.
    fn dissipation<R: Real>(&self, _at: &At<R>) -> R {
        R::zero()
    }

    /// Returns whether stored energy and dissipation account for all its power. If not, all its power counts as work done on
    /// the mechanism.
    fn accounts_for_power(&self) -> bool {
        false
    }

    /// Returns whether it is a load, which statics may bring on bit by bit, and no part of the mechanism, as springs are.
    fn is_load(&self) -> bool {
        false
    }

    /// Returns whether heat may arise where nothing shows in the motion, as from a spring that is let go, or of friction that reverses: step control then checks it too.
    fn dissipates_without_motion(&self) -> bool {
        false
    }

    /// New values of the discrete state that it keeps (see [`At::discrete`]).
    fn update_discrete(&self, _at: &At<f64>, _discrete: &mut [f64]) {}

    /// The largest angular speed \[rad/s\] between two bodies of which it counts the angle.
    fn relative_rotation(&self, _at: &At<f64>) -> f64 {
        0.0
    }

    /// Itself as a record, where it is of a kind that tables know; its bodies are then the places of its own, of a load on one body twice
    /// that.
    fn record(&self) -> Option<LoadRecord> {
        None
    }

    /// Returns whether it is a beam element.
    fn is_beam(&self) -> bool {
        false
    }

    /// Returns how a beam element bends; none of another force.
    fn bent(&self, _at: &At<f64>) -> Option<BeamBending> {
        None
    }

    /// Calls `found` with each expression that it is made of, and the values at which it is cut off.
    fn laws(&self, _found: &mut dyn FnMut(&Formula, [f64; 2])) {}

    /// Calls `found` with each expression of it that cannot be bounded over a step.
    fn unbounded(&self, _found: &mut dyn FnMut(&Formula)) {}

    /// Names and units of what it shows in results (`force`, `torque`, `length`, ...).
    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Value of reading `k`.
    fn reading(&self, _k: usize, _at: &At<f64>) -> f64 {
        0.0
    }
}

/// Describes how a beam element bends.
#[derive(Clone, Copy, Debug)]
pub struct BeamBending {
    /// Its order.
    pub order: usize,
    /// Its undeformed length \[m\].
    pub length: f64,
    /// Axes of its first section, and of the one in the middle, of order 1.
    pub axes: [Mat3; 2],
    /// κ at its ends, the same of order 1, in the axes of the sections there \[1/m\].
    pub kappa: [Vec3<f64>; 2],
}

/// The face of a force that a system stores.
pub trait Load: Send + Sync {
    /// Adds its wrench on each of its bodies.
    fn wrench(&self, at: &At<f64>, out: &mut [Wrench<f64>]);
    /// The same with derivatives, for tangent matrices.
    fn wrench_dual(&self, at: &At<Dual<6>>, out: &mut [Wrench<Dual<6>>]);
    /// Stored energy \[J\].
    fn potential(&self, at: &At<f64>) -> f64;
    /// Power it turns into heat \[W\].
    fn dissipation(&self, at: &At<f64>) -> f64;
    /// Returns whether stored energy and dissipation account for all its power.
    fn accounts_for_power(&self) -> bool;
    /// Returns whether it is a load, which statics may bring on bit by bit.
    fn is_load(&self) -> bool;
    /// Rate of its stored energy along a motion, by jets: the oracle of the conformance test.
    fn potential_rate(&self, at: &At<sarrus_math::Jet<2>>) -> f64;
    /// Returns whether heat may arise where nothing shows in the motion.
    fn dissipates_without_motion(&self) -> bool {
        false
    }
    /// New values of the discrete state that it keeps.
    fn update_discrete(&self, _at: &At<f64>, _discrete: &mut [f64]) {}
    /// The largest angular speed \[rad/s\] between two bodies of which it counts the angle.
    fn relative_rotation(&self, _at: &At<f64>) -> f64 {
        0.0
    }
    /// Itself as a record, where it is of a kind that tables know.
    fn record(&self) -> Option<LoadRecord> {
        None
    }
    /// Returns whether it is a beam element.
    fn is_beam(&self) -> bool {
        false
    }

    /// Returns how a beam element bends; none of another force.
    fn bent(&self, _at: &At<f64>) -> Option<BeamBending> {
        None
    }

    /// Calls `found` with each expression that it is made of, and the values at which it is cut off.
    fn laws(&self, _found: &mut dyn FnMut(&Formula, [f64; 2])) {}
    /// Calls `found` with each expression of it that cannot be bounded over a step.
    fn unbounded(&self, _found: &mut dyn FnMut(&Formula)) {}
    /// Returns whether it is a function of the state that is written in a program.
    fn is_given(&self) -> bool {
        false
    }
    /// Names and units of what it shows in results.
    fn readings(&self) -> &'static [(&'static str, &'static str)];
    /// Value of reading `k`.
    fn reading(&self, k: usize, at: &At<f64>) -> f64;
}

impl<F: Force> Load for F {
    fn wrench(&self, at: &At<f64>, out: &mut [Wrench<f64>]) {
        Force::wrench(self, at, out);
    }

    fn wrench_dual(&self, at: &At<Dual<6>>, out: &mut [Wrench<Dual<6>>]) {
        Force::wrench(self, at, out);
    }

    fn potential(&self, at: &At<f64>) -> f64 {
        Force::potential(self, at)
    }

    fn dissipation(&self, at: &At<f64>) -> f64 {
        Force::dissipation(self, at)
    }

    fn accounts_for_power(&self) -> bool {
        Force::accounts_for_power(self)
    }

    fn is_load(&self) -> bool {
        Force::is_load(self)
    }

    fn potential_rate(&self, at: &At<sarrus_math::Jet<2>>) -> f64 {
        Force::potential(self, at).derivative(1)
    }

    fn dissipates_without_motion(&self) -> bool {
        Force::dissipates_without_motion(self)
    }

    fn update_discrete(&self, at: &At<f64>, discrete: &mut [f64]) {
        Force::update_discrete(self, at, discrete);
    }

    fn relative_rotation(&self, at: &At<f64>) -> f64 {
        Force::relative_rotation(self, at)
    }

    fn record(&self) -> Option<LoadRecord> {
        Force::record(self)
    }

    fn is_beam(&self) -> bool {
        Force::is_beam(self)
    }

    fn bent(&self, at: &At<f64>) -> Option<BeamBending> {
        Force::bent(self, at)
    }

    fn laws(&self, found: &mut dyn FnMut(&Formula, [f64; 2])) {
        Force::laws(self, found);
    }

    fn unbounded(&self, found: &mut dyn FnMut(&Formula)) {
        Force::unbounded(self, found);
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        Force::readings(self)
    }

    fn reading(&self, k: usize, at: &At<f64>) -> f64 {
        Force::reading(self, k, at)
    }
}
