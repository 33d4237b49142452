//! A beam element: two nodes, constant strain, large rotations.
//!
//! The cross sections at the nodes have the axes A₁ = R₁D₁ and A₂ = R₂D₂, where R₁, R₂ are the nodes' and the constant
//! D's make both equal to the element's own axes in the undeformed mesh: x along the chord, y and z along the principal axes
//! of the section. So an initial curvature, or a corner, is in the D's, and the element itself is straight when undeformed.
//! With r = x₂ - x₁, the rotation vector φ of A₁ᵀA₂ and the middle section R = A₁ exp(φ/2) the strains are
//!
//! Γ = Rᵀr/L - e₁, κ = φ/L,  U = ½ L (ΓᵀCₙΓ + κᵀCₘκ),  Cₙ = diag(EA, GAy, GAz), Cₘ = diag(GJ, EIy, EIz):
//!
//! the beam of \[Simo1985\] with one point of integration, which does not lock in shear \[Simo1986\]. Γ and κ do not change under a motion
//! of the whole, since φ/2 is half way from either end. Their rates are exact: with w = A₁ᵀ(ω₂ - ω₁)
//!
//! φ̇ = D(φ) w (the D of the bushing), the middle turns with ω = ω₁ + A₁ G w, G = (1 + exp(φ̃/2))⁻¹ = ½ (1 - ũ),
//! u = tan(|φ|/4) φ/|φ|, L Γ̇ = Rᵀ(v₂ - v₁ - ω × r).
//!
//! (Spin of exp(φ/2): J(φ/2) φ̇/2 with J(z) = (eᶻ - 1)/z, and J(z/2)/(2 J(z)) = 1/(1 + e^(z/2)) = ½ (1 - tanh(z/4)).) With n = Cₙ(Γ + τΓ̇) and
//! m = Cₘ(κ + τκ̇), N = R n, c = r × N and h = A₁(Dᵀm - Gᵀ A₁ᵀ c), the power of the strains is
//!
//! L (n·Γ̇ + m·κ̇) = N·(v₂ - v₁) - c·ω₁ + h·(ω₂ - ω₁),
//!
//! so the wrenches are (N, c + h) on node 1 and (-N, -h) on node 2. U is the stored energy, L τ (Γ̇ᵀCₙΓ̇ + κ̇ᵀCₘκ̇) turns into heat.
//! The error is of order L². Not for elements whose ends turn by half a revolution against each other in space.

use crate::at::At;
use crate::forces::{half_rotation, rotated, rotation_of_half};
use crate::load::{BeamBending, Force, Wrench};
use sarrus_math::{Mat3, Real, Vec3};

/// The element, between its two nodes.
#[derive(Clone, Debug)]
pub struct BeamElement {
    /// True if it bends in the plane only.
    pub planar: bool,
    /// L of the undeformed chord \[m\].
    pub length: f64,
    /// D₁ and D₂: the element's axes in those of its nodes, undeformed.
    pub axes: [Mat3; 2],
    /// Planar: their angles \[rad\].
    pub angles: [f64; 2],
    /// EA, GAy, GAz \[N\].
    pub stretch: [f64; 3],
    /// GJ, EIy, EIz \[N m²\].
    pub bend: [f64; 3],
    /// τ: strain rates times this are added to the strains \[s\].
    pub damping: f64,
}

/// Describes how the element is deformed.
struct ElementDeformation<R> {
    /// r \[m\].
    r: Vec3<R>,
    /// A₁.
    first: Mat3<R>,
    /// R.
    middle: Mat3<R>,
    /// φ \[rad\].
    phi: Vec3<R>,
    /// u.
    u: Vec3<R>,
}

impl<R: Real> ElementDeformation<R> {
    /// G a for `sign` = -1, Gᵀa for 1.
    fn share(&self, a: Vec3<R>, sign: f64) -> Vec3<R> {
        (a + self.u.cross(a).scale_f64(sign)).scale_f64(0.5)
    }
}

impl BeamElement {
    fn deformed<R: Real>(&self, at: &At<R>) -> ElementDeformation<R> {
        let (one, two) = (at.pose(0), at.pose(1));
        let r = two.p - one.p;
        if self.planar {
            // angles are counted, so a beam may be wound up
            let start = one.angle + self.angles[0];
            let phi = two.angle + self.angles[1] - start;
            let phi_z = Vec3([R::zero(), R::zero(), phi]);
            let middle = Mat3::rot_z(start + phi * 0.5);
            return ElementDeformation { r, first: Mat3::rot_z(start), middle, phi: phi_z, u: Vec3::zero() };
        }
        let first = one.rot.mul_mat_f64(&self.axes[0]);
        let second = two.rot.mul_mat_f64(&self.axes[1]);
        let (w, v) = half_rotation(&first.transpose_mul_mat(&second));
        // tan(θ/4) n = sin(θ/2) n/(1 + cos(θ/2)), and exp(φ/2) = 1 + 2/(1 + u²) (ũ + ũ²)
        let u = v.scale(R::one() / (w + 1.0));
        let factor = R::from_f64(2.0) / (u.norm_squared() + 1.0);
        let column = |i: usize| {
            let mut e = [0.0; 3];
            e[i] = 1.0;
            let e = Vec3::from_f64(e);
            let once = u.cross(e);
            e + (once + u.cross(once)).scale(factor)
        };
        let half = Mat3::from_cols(column(0), column(1), column(2));
        ElementDeformation { r, middle: first * half, first, phi: rotation_of_half(w, v), u }
    }

    /// Γ and κ.
    fn strains<R: Real>(&self, here: &ElementDeformation<R>) -> [Vec3<R>; 2] {
        let per_length = 1.0 / self.length;
        let stretch = here.middle.transpose_mul(here.r).scale_f64(per_length);
        [stretch - Vec3::from_f64([1.0, 0.0, 0.0]), here.phi.scale_f64(per_length)]
    }

    /// Γ̇ and κ̇.
    fn rates<R: Real>(&self, at: &At<R>, here: &ElementDeformation<R>) -> [Vec3<R>; 2] {
        let per_length = 1.0 / self.length;
        let (one, two) = (at.twist(0), at.twist(1));
        let w = here.first.transpose_mul(two.w_W - one.w_W);
        let omega = one.w_W + here.first * here.share(w, -1.0);
        let stretch = here.middle.transpose_mul(two.v - one.v - omega.cross(here.r));
        let phi = if self.planar { w } else { rotated(here.phi, w, -0.5) };
        [stretch.scale_f64(per_length), phi.scale_f64(per_length)]
    }

    /// n and m: what the sections carry, in the axes of the middle one.
    fn efforts<R: Real>(&self, at: &At<R>, here: &ElementDeformation<R>) -> [Vec3<R>; 2] {
        let [mut stretch, mut bend] = self.strains(here);
        if self.damping != 0.0 {
            let [stretching, bending] = self.rates(at, here);
            stretch += stretching.scale_f64(self.damping);
            bend += bending.scale_f64(self.damping);
        }
        [times(&self.stretch, stretch), times(&self.bend, bend)]
    }

    /// ½ L (aᵀCₙa + bᵀCₘb).
    fn energy<R: Real>(&self, [a, b]: [Vec3<R>; 2]) -> R {
        (a.dot(times(&self.stretch, a)) + b.dot(times(&self.bend, b))) * (0.5 * self.length)
    }
}

fn times<R: Real>(diagonal: &[f64; 3], a: Vec3<R>) -> Vec3<R> {
    Vec3([a.0[0] * diagonal[0], a.0[1] * diagonal[1], a.0[2] * diagonal[2]])
}

impl Force for BeamElement {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        let here = self.deformed(at);
        let [n, m] = self.efforts(at, &here);
        let force = here.middle * n;
        let c = here.r.cross(force);
        let moment = if self.planar { m } else { rotated(here.phi, m, 0.5) };
        let h = here.first * (moment - here.share(here.first.transpose_mul(c), 1.0));
        out[0].force += force;
        out[0].torque += c + h;
        out[1].force -= force;
        out[1].torque -= h;
    }

    fn potential<R: Real>(&self, at: &At<R>) -> R {
        self.energy(self.strains(&self.deformed(at)))
    }

    fn dissipation<R: Real>(&self, at: &At<R>) -> R {
        if self.damping == 0.0 {
            return R::zero();
        }
        self.energy(self.rates(at, &self.deformed(at))) * (2.0 * self.damping)
    }

    fn accounts_for_power(&self) -> bool {
        true
    }

    fn is_beam(&self) -> bool {
        true
    }

    fn bent(&self, at: &At<f64>) -> Option<BeamBending> {
        let here = self.deformed(at);
        let [_, kappa] = self.strains(&here);
        Some(BeamBending {
            order: 1,
            length: self.length,
            axes: [here.first, here.middle],
            kappa: [kappa; 2],
        })
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        if self.planar {
            &[("N", "N"), ("Q", "N"), ("M", "N m")]
        } else {
            &[("N", "N"), ("Qy", "N"), ("Qz", "N"), ("Mx", "N m"), ("My", "N m"), ("Mz", "N m")]
        }
    }

    fn reading(&self, k: usize, at: &At<f64>) -> f64 {
        let [n, m] = self.efforts(at, &self.deformed(at));
        let k = if self.planar { [0, 1, 5][k] } else { k };
        if k < 3 { n.0[k] } else { m.0[k - 3] }
    }
}
