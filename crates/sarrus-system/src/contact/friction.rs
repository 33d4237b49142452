//! The force across the normal, by the slip v and the normal force N.
//!
//! ```text
//! coulomb   F = -μ N tanh(|v|/v_s) v/|v|          smooth; below v_s it creeps
//! bristle   F = -k ξ - c φ v, |F| ≤ μ N           ξ the stretch of a spring whose foot slides where it would pull more than μ N
//! lugre     F = -N (σ₀ z + σ₁ ż)                  ż = v - σ₀ |v| z/g(v),  g = μ + (μ_s - μ) exp(-(v/v_s)²)
//! ```
//!
//! A bristle sticks truly: it holds at rest without creep. Its stretch is memory that changes at accepted steps, and within a step a
//! function of the state (`bristle.rs`). The damping acts while it sticks, φ = 1 - (k|ξ|/μN)², so that the force is continuous
//! where it breaks loose. c is by default critical for the reduced mass of the two bodies.
//!
//! Adaptive integrators end a step where a bristle breaks loose, and where one that slides sticks again.
//!
//! LuGre \[CanudasDeWit1995\] has the stretch z as a state of x, for every point that the surfaces of an entry can touch at: it creeps
//! before it breaks loose, and takes less to keep going than to set off. σ₀ and σ₁ are per normal force, so that nothing is stiff
//! where N begins. Bristles of a point that is open relax within milliseconds.
//!
//! Work of friction is booked as dissipated, less what bristles store, k|ξ|²/2, which is at most (μN)²/2k each.

use super::bristle::BristlePath;
use sarrus_math::{Real, Vec3};

/// A law for friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrictionLaw {
    /// Coulomb's, smooth at rest.
    Coulomb {
        /// μ.
        mu: f64,
        /// v_s \[m/s\].
        slip_speed: f64,
    },
    /// A spring with a slider.
    Bristle {
        /// μ.
        mu: f64,
        /// k \[N/m\].
        stiffness: f64,
        /// c \[N s/m\]; none: critical for the reduced mass.
        damping: Option<f64>,
    },
    /// Bristles with a state of their own.
    Lugre {
        /// μ while it slides.
        mu: f64,
        /// μ_s, to set off.
        mu_static: f64,
        /// v_s \[m/s\].
        slip_speed: f64,
        /// σ₀ \[1/m\].
        stiffness: f64,
        /// σ₁ \[s/m\].
        damping: f64,
    },
}

/// Rate at which bristles of a point that is open relax \[1/s\].
pub const RELAX: f64 = 1e3;

impl FrictionLaw {
    /// Returns whether points must remember a stretch.
    pub fn remembers(&self) -> bool {
        matches!(self, FrictionLaw::Bristle { .. })
    }

    /// The longest stretch of a bristle under a normal force `N` \[m\]; others have none.
    pub fn longest<R: Real>(&self, N: R) -> Option<R> {
        match *self {
            FrictionLaw::Bristle { mu, stiffness, .. } => Some(N * R::from_f64(mu / stiffness)),
            FrictionLaw::Coulomb { .. } | FrictionLaw::Lugre { .. } => None,
        }
    }

    /// Force of a bristle of this stretch \[N\].
    pub fn pull(&self, stretch: Vec3<f64>) -> f64 {
        match self {
            FrictionLaw::Bristle { stiffness, .. } => stiffness * stretch.norm(),
            FrictionLaw::Coulomb { .. } | FrictionLaw::Lugre { .. } => 0.0,
        }
    }

    /// Returns whether points have states of their own.
    pub fn has_states(&self) -> bool {
        matches!(self, FrictionLaw::Lugre { .. })
    }

    /// Energy that a bristle of this stretch holds \[J\].
    pub fn stored(&self, stretch: Vec3<f64>) -> f64 {
        match self {
            FrictionLaw::Bristle { stiffness, .. } => 0.5 * stiffness * stretch.norm_squared(),
            FrictionLaw::Coulomb { .. } | FrictionLaw::Lugre { .. } => 0.0,
        }
    }

    /// Force on the first body at slip `v`, square to the normal, under a normal force `N`; `path` is that of the bristle, `mass` the
    /// reduced mass. With it the stretch that is left after sliding, of `lugre` its rate, and whether a bristle slides.
    pub fn force<R: Real>(
        &self,
        N: R,
        v: Vec3<R>,
        path: &BristlePath<R>,
        mass: f64,
    ) -> (Vec3<R>, Vec3<R>, bool) {
        let stretch = path.stretch;
        match *self {
            FrictionLaw::Coulomb { mu, slip_speed } => {
                let square = v.norm_squared() * R::from_f64(1.0 / (slip_speed * slip_speed));
                let factor = R::from_f64(-mu / slip_speed) * N * tanh_over(square);
                (v.scale(factor), Vec3::zero(), false)
            }
            FrictionLaw::Bristle { mu, stiffness, damping } => {
                let c = damping.unwrap_or_else(|| 2.0 * (stiffness * mass).sqrt());
                let most = R::from_f64(mu) * N;
                if !(most.value() > 0.0) {
                    return (Vec3::zero(), Vec3::zero(), true);
                }
                let (stretch, slides) = path.dragged(most * R::from_f64(1.0 / stiffness));
                let share = stretch.norm_squared() * R::from_f64(stiffness * stiffness) / (most * most);
                let damped = v.scale(R::from_f64(-c) * (R::one() - share));
                let force = stretch.scale_f64(-stiffness) + damped;
                let size = force.norm_squared().value().sqrt();
                let force = if size > most.value() { force.scale(most / force.norm()) } else { force };
                (force, stretch, slides)
            }
            FrictionLaw::Lugre { mu, mu_static, slip_speed, stiffness, damping } => {
                let square = v.norm_squared();
                // |v|, whose slope at rest counts as none
                let size = if square.is_zero() || square.value() == 0.0 { R::zero() } else { square.sqrt() };
                let ratio = square * R::from_f64(-1.0 / (slip_speed * slip_speed));
                let g = R::from_f64(mu) + R::from_f64(mu_static - mu) * ratio.exp();
                let rate = if g.value() > 0.0 {
                    v - stretch.scale(size * R::from_f64(stiffness) / g)
                } else {
                    Vec3::zero()
                };
                let pull = stretch.scale_f64(stiffness) + rate.scale_f64(damping);
                (pull.scale(-N), rate, false)
            }
        }
    }
}

/// tanh(√s)/√s, analytic at 0.
fn tanh_over<R: Real>(s: R) -> R {
    if s.value() < 1e-3 {
        let c = [1.0, -1.0 / 3.0, 2.0 / 15.0, -17.0 / 315.0, 62.0 / 2835.0, -1382.0 / 155_925.0];
        return c.iter().rev().fold(R::zero(), |sum, c| sum * s + R::from_f64(*c));
    }
    let root = s.sqrt();
    root.tanh() / root
}
