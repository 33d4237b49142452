//! Added mass: the inertia of the fluid that a body moves, by Kirchhoff's equations \[Lamb1932, section 124\].
//!
//! An ideal fluid at rest, in which a body moves with the velocity v of its centre of mass, has the kinetic energy ½ vᵀA v,
//!
//! A = R diag(a, b, b) Rᵀ = b 1 + (a - b) u uᵀ,
//!
//! u the body's x axis, a the added mass along it and b that across. So M of the body has m 1 + A, which turns with it, and
//!
//! (m 1 + A) v̇ = F - Ȧ v,  I ω̇ + ω × I ω = T - v × A v,  Ȧ v = (a - b) (u̇ (u·v) + u (u̇·v)),  u̇ = ω × u.
//!
//! The torque is Munk's, which turns a slender body across its way. Gravity acts on m alone. The fluid's energy counts as kinetic. Turning
//! moves no fluid here: what resists that belongs to the body's `inertia`.

use crate::body::{Body, BodyKind};
use sarrus_math::{Dual, Pose, Real, Twist, Vec3};

/// Added mass of a body along its x axis and across \[kg\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AddedMass {
    /// a.
    pub axial: f64,
    /// b.
    pub transverse: f64,
}

impl AddedMass {
    /// Returns whether M does not change with it.
    pub fn is_constant(&self) -> bool {
        self.axial == self.transverse
    }

    /// Returns whether there is none.
    pub fn is_none(&self) -> bool {
        *self == AddedMass::default()
    }

    fn axis<R: Real>(pose: &Pose<R>) -> Vec3<R> {
        pose.rot.col(0)
    }

    /// A v.
    fn momentum<R: Real>(&self, u: Vec3<R>, v: Vec3<R>) -> Vec3<R> {
        v.scale_f64(self.transverse) + u.scale(u.dot(v) * (self.axial - self.transverse))
    }

    /// Kinetic energy of the fluid \[J\].
    pub fn kinetic(&self, pose: &Pose<f64>, twist: &Twist<f64>) -> f64 {
        0.5 * self.momentum(Self::axis(pose), twist.v).dot(twist.v)
    }

    /// Linear part of M and of M⁻¹ of `body`, with `n` velocities a row.
    pub fn fill(&self, body: &Body, pose: &Pose<f64>, mass: &mut [f64], minv: &mut [f64]) {
        let (n, plane) = (body.kind.nv(), linear(body.kind));
        let u = Self::axis(pose);
        let (across, along) = (body.mass + self.transverse, body.mass + self.axial);
        let difference = self.axial - self.transverse;
        for i in 0..plane {
            for j in 0..plane {
                let (one, uu) = (if i == j { 1.0 } else { 0.0 }, u.0[i] * u.0[j]);
                mass[i * n + j] = across * one + difference * uu;
                minv[i * n + j] = (one - difference / along * uu) / across;
            }
        }
    }

    /// Force in world axes and torque in body axes on the body, v̇ aside.
    fn bias<R: Real>(&self, pose: &Pose<R>, twist: &Twist<R>) -> [Vec3<R>; 2] {
        let (u, v) = (Self::axis(pose), twist.v);
        let rate = twist.w_W.cross(u);
        let difference = self.axial - self.transverse;
        let force = (rate.scale(u.dot(v)) + u.scale(rate.dot(v))).scale_f64(-difference);
        let torque = -v.cross(self.momentum(u, v));
        [force, pose.rot.transpose_mul(torque)]
    }

    /// Adds that to the generalized forces of `body`.
    pub fn add_force(&self, body: &Body, pose: &Pose<f64>, twist: &Twist<f64>, f: &mut [f64]) {
        if self.is_constant() {
            return;
        }
        let [force, torque] = self.bias(pose, twist);
        scatter(body.kind, force, torque, |i, x| f[i] += x);
    }

    /// Adds ∂(A v̇ - f)/∂q and -∂f/∂v of `body` to its blocks of K and D.
    pub fn add_tangent(
        &self,
        body: &Body,
        (pose, twist): (&Pose<f64>, &Twist<f64>),
        vdot: &[f64],
        K: &mut [f64],
        D: &mut [f64],
    ) {
        if self.is_constant() {
            return;
        }
        let n = body.kind.nv();
        let columns: &[usize] = if n == 3 { &[0, 1, 5] } else { &[0, 1, 2, 3, 4, 5] };
        let mut accelerations = [0.0; 3];
        accelerations[..linear(body.kind)].copy_from_slice(&vdot[..linear(body.kind)]);
        for velocities in [false, true] {
            let (at, moving): (Pose<Dual<6>>, Twist<Dual<6>>) = if velocities {
                (pose.lift(), twist.seed(pose, 0, columns))
            } else {
                let at = pose.seed(0, columns);
                let moving = twist.seed_with(&at, 0, &[]);
                (at, moving)
            };
            let [mut force, torque] = self.bias(&at, &moving);
            if !velocities {
                force -= self.momentum(Self::axis(&at), Vec3::from_f64(accelerations));
            }
            let to = if velocities { &mut *D } else { &mut *K };
            scatter(body.kind, force, torque, |row, x: Dual<6>| {
                to[row * n..][..n].iter_mut().zip(&x.d).for_each(|(to, d)| *to -= d);
            });
        }
    }
}

fn linear(kind: BodyKind) -> usize {
    if matches!(kind, BodyKind::PlanarRigid | BodyKind::PlanarPoint) { 2 } else { 3 }
}

/// Hands over each component by its index among the velocities.
fn scatter<R: Real>(kind: BodyKind, force: Vec3<R>, torque: Vec3<R>, mut add: impl FnMut(usize, R)) {
    (0..linear(kind)).for_each(|i| add(i, force.0[i]));
    match kind {
        BodyKind::Rigid | BodyKind::RigidEuler => (0..3).for_each(|i| add(3 + i, torque.0[i])),
        BodyKind::PlanarRigid => add(2, torque.0[2]),
        _ => {}
    }
}
