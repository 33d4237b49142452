//! Generalized forces of plain joints under weight: recursive Newton-Euler \[Luh1980\].
//!
//! Outwards the accelerations (a, α) of O, and with them what each body needs: F = m (a + α × c + ω × (ω × c)) - f and, about O,
//! N = J α + ω × J ω + c × (m a - f), the inertia in the link's own axes so that it is never turned. Inwards F and N of all that hangs
//! on a link; along its degrees of freedom they are τ. Some 170 products and 140 sums a pin, with its place.

use super::aba::{rotated_in, rotated_out};
use super::{PlainTree, Subspace};
use sarrus_math::Vec3;

impl PlainTree {
    /// τ that gives the speeds the rates `ydot` where nothing else acts but weight, where the links were evaluated. Without `ydot` the bias.
    pub fn inverse_dynamics(&mut self, ydot: Option<&[f64]>, tau: &mut [f64]) {
        let n = self.own.len();
        for i in 1..n {
            let (own, at) = (&self.own[i], &self.states[i]);
            let parent = own.parent as usize;
            let [a_p, alpha_p] = self.rates[parent];
            let mut a = a_p + alpha_p.cross(at.r) + at.bias_v;
            let mut alpha = alpha_p + at.bias_w;
            if let Some(ydot) = ydot {
                let y = &ydot[own.y as usize..];
                match own.subspace {
                    Subspace::Pin => alpha += at.s.scale(y[0]),
                    Subspace::Slider => a += at.s.scale(y[0]),
                    Subspace::Weld => {}
                    Subspace::Ball => {
                        let N = self.states[parent].R * own.X;
                        alpha += rotated_out(own, at, &N, Vec3([y[0], y[1], y[2]]));
                    }
                    Subspace::Free => {
                        a += Vec3([y[0], y[1], y[2]]);
                        alpha += at.R * Vec3([y[3], y[4], y[5]]);
                    }
                    Subspace::Point => a += Vec3([y[0], y[1], y[2]]),
                }
            }
            self.rates[i] = [a, alpha];
            let (c, f) = (at.R * own.c, self.gravity.scale(own.gravitational_mass));
            let wrench = a.scale(own.mass) - f;
            let force = wrench + (alpha.cross(c) + at.w.cross(at.w.cross(c))).scale(own.mass);
            let (w, rotation) = (at.R.transpose_mul(at.w), at.R.transpose_mul(alpha));
            let torque = at.R * (own.J.mul(rotation) + w.cross(own.J.mul(w))) + c.cross(wrench);
            self.forces[i] = [force, torque];
        }
        for i in (1..n).rev() {
            let (own, at) = (&self.own[i], &self.states[i]);
            let parent = own.parent as usize;
            let [F, N] = self.forces[i];
            let tau = &mut tau[own.y as usize..];
            match own.subspace {
                Subspace::Pin => tau[0] = at.s.dot(N),
                Subspace::Slider => tau[0] = at.s.dot(F),
                Subspace::Weld => {}
                Subspace::Ball => {
                    let axes = self.states[parent].R * own.X;
                    tau[..3].copy_from_slice(&rotated_in(own, at, &axes, N).0);
                }
                Subspace::Free => {
                    tau[..3].copy_from_slice(&F.0);
                    tau[3..6].copy_from_slice(&at.R.transpose_mul(N).0);
                }
                Subspace::Point => tau[..3].copy_from_slice(&F.0),
            }
            if parent > 0 {
                self.forces[parent][0] += F;
                self.forces[parent][1] += N + at.r.cross(F);
            }
        }
    }
}
