//! A force written in Rust.

use super::BuiltForce;
use crate::at::At;
use crate::load::{Load, Wrench};
use sarrus_math::{Dual, Jet, Pose, Twist, Vec3};

/// A force that is a function: it adds its wrenches on the bodies it was made for, in their order.
///
/// All its power counts as work done on the mechanism. Its derivatives are not known and count as zero where a tangent
/// matrix asks for them.
pub struct ClosureForce<F>(F);

impl<F> ClosureForce<F>
where
    F: Fn(&At<f64>, &mut [Wrench<f64>]) + Send + Sync + 'static,
{
    /// The force `f` on the bodies `ids`.
    pub fn on(ids: Vec<u32>, f: F) -> BuiltForce {
        BuiltForce::new(ids, ClosureForce(f))
    }
}

impl<F> Load for ClosureForce<F>
where
    F: Fn(&At<f64>, &mut [Wrench<f64>]) + Send + Sync,
{
    fn wrench(&self, at: &At<f64>, out: &mut [Wrench<f64>]) {
        (self.0)(at, out);
    }

    fn wrench_dual(&self, at: &At<Dual<6>>, out: &mut [Wrench<Dual<6>>]) {
        let value = |a: Vec3<Dual<6>>| Vec3(a.value());
        let poses: Vec<Pose> = at.poses.iter().map(Pose::value).collect();
        let twists: Vec<Twist> =
            at.twists.iter().map(|t| Twist { v: value(t.v), w: value(t.w), w_W: value(t.w_W) }).collect();
        let mut wrenches = vec![Wrench::zero(); out.len()];
        let outs: Vec<f64> = at.outs.iter().map(|x| x.v).collect();
        let here =
            At { t: at.t.v, poses: &poses, twists: &twists, ids: at.ids, discrete: at.discrete, outs: &outs };
        (self.0)(&here, &mut wrenches);
        for (out, wrench) in out.iter_mut().zip(&wrenches) {
            out.force += Vec3::from_f64(wrench.force.0);
            out.torque += Vec3::from_f64(wrench.torque.0);
        }
    }

    fn potential(&self, _at: &At<f64>) -> f64 {
        0.0
    }

    fn dissipation(&self, _at: &At<f64>) -> f64 {
        0.0
    }

    fn accounts_for_power(&self) -> bool {
        false
    }

    fn is_load(&self) -> bool {
        true
    }

    fn is_given(&self) -> bool {
        true
    }

    fn potential_rate(&self, _at: &At<Jet<2>>) -> f64 {
        0.0
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn reading(&self, _k: usize, _at: &At<f64>) -> f64 {
        0.0
    }
}
