//! Motion and multipliers in separate modules: the parts of the staggered procedure \[Park1990, section V\].
//!
//! A step asks two modules in turn, and all that passes between them are vectors, and J from the one generator that both
//! share ([`Staggered::update`](crate::Staggered::update)):
//!
//! | module | is given | gives | here |
//! |---|---|---|---|
//! | [`MotionModule`] (CINT) | velocities, the impulse of all forces over a part of a step | velocities, displacements | [`VariationalMotion`], [`CentralDifference`] |
//! | [`MultiplierModule`] (LINT) | J, and by how much velocities violate their constraints | the impulse of the multipliers that takes it away | [`SparseMultipliers`] |
//! | [`MultiplierController`] | the state and λ | forces | none |
//!
//! Either module can be replaced, and a controller put between them, by [`StaggeredMethod`](crate::integrators::StaggeredMethod).

mod blocks;
mod cint;
pub(crate) mod euler_parameters;
mod lint;
mod spin;
mod watch;

pub(crate) use blocks::{BlockDiagonal, add_J_mul, add_J_mul_each, add_Jt_mul, add_Jt_mul_each};
pub use cint::{CentralDifference, VariationalMotion};
pub use lint::{Epsilon, SparseMultipliers};
pub use spin::RotationMap;
pub(crate) use watch::{StepVerdict, StepWatch};

use crate::error::SolveError;
use crate::problem::{Equations, State, Structure};

/// CINT: moves bodies under given impulses; knows no constraints.
///
/// A step of size h goes in three parts: [`open`](MotionModule::open) from the velocities v at its start to those, w, that
/// carry it; [`displace`](MotionModule::displace), the displacement that they make; [`close`](MotionModule::close), from w
/// to the velocities at its end.
pub trait MotionModule: Send {
    /// Takes the blocks of M and M⁻¹, as in [`Equations::mass`]. May allocate.
    fn prepare(&mut self, s: &Structure, mass: &[f64], minv: &[f64]);

    /// Takes out of the force `f`, which holds the inertial force at `v`, what this module accounts for itself.
    fn applied(&self, v: &[f64], f: &mut [f64]);

    /// w from `v` and `impulse` (nv, as the applied force times time), near `w` where `warm`. Returns false where there is no
    /// such w.
    fn open(&mut self, v: &[f64], impulse: &[f64], h: f64, warm: bool, w: &mut [f64]) -> bool;

    /// The displacement of `w` over `h`, as a tangent vector (nv).
    fn displace(&mut self, w: &[f64], h: f64, delta: &mut [f64]);

    /// To first order, how w of the last [`open`](MotionModule::open) answers to a change of `impulse`, and how far that moves where
    /// [`displace`](MotionModule::displace) ends, as a tangent vector there.
    fn respond(&mut self, impulse: &[f64], h: f64, change: &mut [f64], moved: &mut [f64]);

    /// v at the end from `w` and `impulse`.
    fn close(&mut self, w: &[f64], impulse: &[f64], h: f64, v: &mut [f64]);
}

/// LINT: the multipliers that keep velocities on their constraints; knows no motion.
pub trait MultiplierModule: Send {
    /// Begins a run with the masses and the J of `eq`. May allocate.
    fn prepare(&mut self, s: &Structure, eq: &Equations) -> Result<(), SolveError>;

    /// Takes the J of `eq` for the solutions that follow. Must not allocate.
    fn load_jacobian(&mut self, s: &Structure, eq: &Equations) -> Result<(), SolveError>;

    /// η (nc) with J M⁻¹Jᵀ η = `r`, so that velocities v with J v = r become v - M⁻¹Jᵀη with none of that left. Must not
    /// allocate.
    fn solve(&mut self, r: &[f64], eta: &mut [f64]) -> Result<(), SolveError>;

    /// η of two right-hand sides at once.
    fn solve_pair(&mut self, r: [&[f64]; 2], eta: [&mut [f64]; 2]) -> Result<(), SolveError> {
        let [first, second] = eta;
        self.solve(r[0], first)?;
        self.solve(r[1], second)
    }

    /// Factorizations made so far.
    fn factorizations(&self) -> u64 {
        0
    }

    /// The ε in use, relative to the diagonal of J M⁻¹Jᵀ, where there is one.
    fn epsilon(&self) -> Option<f64> {
        None
    }
}

/// Stands between the modules: sees the multipliers, and adds forces.
///
/// ```
/// use sarrus_solve::State;
/// use sarrus_solve::staggered::MultiplierController;
///
/// /// Dry friction on the first velocity, from the force of the first constraint.
/// struct Friction(f64);
///
/// impl MultiplierController for Friction {
///     fn act(&mut self, s: &State, lambda: &[f64], f: &mut [f64]) {
///         f[0] -= self.0 * lambda[0].abs() * s.v[0].signum();
///     }
/// }
/// ```
pub trait MultiplierController: Send {
    /// Adds to the forces `f` (nv) at `s`. λ is that of the constraints there, extrapolated from the two instants before.
    fn act(&mut self, s: &State, lambda: &[f64], f: &mut [f64]);
}
