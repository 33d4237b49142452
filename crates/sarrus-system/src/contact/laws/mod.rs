//! The force along the normal: N(δ, δ̇) ≥ 0 of the overlap δ and its rate.
//!
//! ```text
//! hertz    N = K δ^(3/2) (1 + χ δ̇/v)     K = 4/3 E* √R,  1/E* = (1-ν₁²)/E₁ + (1-ν₂²)/E₂,  1/R = 1/R₁ + 1/R₂
//! linear   N = K δ       (1 + χ δ̇/v)
//! ```
//!
//! with v the speed at which the point closed, and χ from the coefficient of restitution e ([`restitution`]): `hunt_crossley`
//! 3(1-e)/2 \[Hunt1975\], `lankarani_nikravesh` 3(1-e²)/4 \[Lankarani1990\], `flores` 8(1-e)/(5e) \[Flores2011\], or `exact`, which
//! delivers e. With `factor` c instead N = K δⁿ (1 + c δ̇), and with a number d, N = K δⁿ + d δ̇ whatever n is: a force that jumps
//! when a point closes.
//!
//! v holds until the first compression ends, also where other forces speed it up ([`ImpactOnset`]). A point that is then hit again is damped
//! by the faster of the two speeds, v = max(v, δ̇). So is one that closed below [`SLOWEST`], since the damping of a body at rest would
//! be stiff without end. N never pulls: what the damping would pull is left out, and the elastic energy that goes with it is booked as
//! dissipated: the heat is (N - K δⁿ) δ̇ ≥ 0.

pub mod restitution;

use sarrus_math::Real;

/// Speeds of closing below this are damped as if they were it \[m/s\].
pub const SLOWEST: f64 = 1e-3;

/// Describes how an overlap is resisted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elastic {
    /// K δ^(3/2).
    Hertz,
    /// K δ.
    Linear,
}

/// Describes how the rate is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damping {
    /// 1 + χ δ̇/v.
    Restitution {
        /// Its name in model files.
        kind: &'static str,
        /// χ.
        chi: f64,
        /// e, as the file says.
        nominal: f64,
    },
    /// 1 + c δ̇, c \[s/m\].
    Factor(f64),
    /// d δ̇ beside it, d \[N s/m\].
    Dashpot(f64),
}

/// A law for the normal force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalForceLaw {
    /// Describes how an overlap is resisted.
    pub elastic: Elastic,
    /// K \[N/m^(3/2), N/m\]; none where it follows from the materials.
    pub stiffness: Option<f64>,
    /// Describes how its rate is.
    pub damping: Damping,
}

/// Describes how an overlap began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImpactOnset {
    /// Speed at which it began; of a later compression the largest so far \[m/s\].
    pub speed: f64,
    /// True if its first compression lasts.
    pub first: bool,
}

impl ImpactOnset {
    /// An impact at this speed; below [`SLOWEST`] it is none.
    pub fn at(speed: f64) -> Self {
        ImpactOnset { speed: speed.max(0.0), first: speed >= SLOWEST }
    }

    /// The same after an accepted step at which the overlap grows with `speed`.
    pub fn after(self, speed: f64) -> Self {
        if self.first && speed > 0.0 { self } else { ImpactOnset::from(self.speed.max(speed)) }
    }
}

/// The largest speed so far.
impl From<f64> for ImpactOnset {
    fn from(speed: f64) -> Self {
        ImpactOnset { speed, first: false }
    }
}

/// A normal force.
#[derive(Clone, Copy, Debug)]
pub struct Normal<R> {
    /// N \[N\].
    pub force: R,
    /// K δⁿ, the elastic part \[N\].
    pub elastic: R,
}

impl NormalForceLaw {
    /// Returns whether the force jumps where a point closes.
    pub fn jumps(&self) -> bool {
        matches!(self.damping, Damping::Dashpot(d) if d != 0.0)
    }

    /// The force at an overlap `depth` that grows with `speed`, of stiffness `K`, where the point closed at `onset`. At no overlap it is
    /// that of the closed side.
    pub fn force<R: Real>(&self, K: f64, depth: R, speed: R, onset: impl Into<ImpactOnset>) -> Normal<R> {
        let (K, onset) = (R::from_f64(K), onset.into());
        let elastic = match self.elastic {
            _ if depth.value() <= 0.0 => R::zero(),
            Elastic::Hertz => K * depth * depth.sqrt(),
            Elastic::Linear => K * depth,
        };
        let force = match self.damping {
            Damping::Restitution { chi, .. } => {
                let slow = onset.speed.max(SLOWEST);
                let chi = R::from_f64(chi);
                // hit again, and harder: v is the speed itself
                let again = !onset.first && speed.value() > slow;
                let ratio = if again { R::one() } else { speed / R::from_f64(slow) };
                elastic * (R::one() + chi * ratio)
            }
            Damping::Factor(c) => elastic * (R::one() + R::from_f64(c) * speed),
            Damping::Dashpot(d) => elastic + R::from_f64(d) * speed,
        };
        let force = if force.value() > 0.0 { force } else { R::zero() };
        Normal { force, elastic }
    }

    /// Energy that an overlap stores \[J\].
    pub fn stored<R: Real>(&self, K: f64, depth: R) -> R {
        if depth.value() <= 0.0 {
            return R::zero();
        }
        match self.elastic {
            Elastic::Hertz => depth * depth * depth.sqrt() * (0.4 * K),
            Elastic::Linear => depth * depth * (0.5 * K),
        }
    }

    /// The restitution that an impact at `speed` \[m/s\] delivers, of bodies on which nothing else acts; none where it depends on
    /// their masses.
    pub fn delivered(&self, speed: f64) -> Option<f64> {
        match self.damping {
            Damping::Restitution { chi, .. } => Some(restitution::delivered(chi)),
            Damping::Factor(c) => Some(restitution::delivered(c * speed)),
            Damping::Dashpot(0.0) => Some(1.0),
            Damping::Dashpot(_) => None,
        }
    }

    /// The restitution that the file asks for.
    pub fn nominal(&self) -> Option<f64> {
        match self.damping {
            Damping::Restitution { nominal, .. } => Some(nominal),
            _ => None,
        }
    }
}
