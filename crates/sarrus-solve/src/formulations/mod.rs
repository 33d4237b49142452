//! Formulations: how v̇ and λ follow from M v̇ + Jᵀλ = f and J v̇ = γ.
//!
//! A new one is a file here with its `impl Formulation`, and a row in [`KINDS`].

mod augmented_lagrangian;
mod correction;
pub(crate) mod dense;
mod dense_formulation;
mod direct;
mod least_squares_1;
mod least_squares_2;
mod null_space;
mod partitioned;
mod penalty;
mod proximal;
mod pseudo_inverse;
mod udwadia_kalaba;
mod udwadia_phohomsiri;
mod weakest;

use crate::error::{MethodError, SolveError};
use crate::findings::MethodStatistics;
use crate::kkt::Kkt;
use crate::options::{OptionDoc, Options};
use crate::problem::{Accel, Equations, Structure};

/// Accelerations and multipliers at one instant.
pub trait Formulation: Send {
    /// Solves the equations of a problem of structure `s`, which is the same at every call. The hot path: does not
    /// allocate after the first call.
    fn accelerations(
        &mut self,
        s: &Structure,
        eq: &Equations,
        kkt: &mut Kkt,
        out: &mut Accel,
    ) -> Result<(), SolveError>;

    /// The same for a right-hand side of an integrator that projects, where no one reads λ: it need not be the one of least norm, and where constraints
    /// contradict each other by the violation v̇ may be any that keeps an independent set of them.
    fn motion(
        &mut self,
        s: &Structure,
        eq: &Equations,
        kkt: &mut Kkt,
        out: &mut Accel,
    ) -> Result<(), SolveError> {
        self.accelerations(s, eq, kkt, out)
    }

    /// Returns what it found on the way, for the report.
    fn statistics(&self) -> MethodStatistics {
        MethodStatistics::default()
    }

    /// Returns how near the rows that took part in the last call are to dependent: falls with the square of the smallest singular
    /// value of J. `kkt` is what the call was given.
    fn smallest_pivot(&self, kkt: &Kkt) -> f64 {
        kkt.smallest_pivot()
    }

    /// Returns whether it solves M v̇ + Jᵀλ = f, J v̇ = γ as they are where J has full rank, so that [`tables`](crate::tables) may do it.
    fn is_plain(&self) -> bool {
        false
    }

    /// Factorizations of its own so far, beside those of the shared solver.
    fn factorizations(&self) -> u64 {
        0
    }
}

/// Holds what a formulation asks of a model, and what it gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// True if rows that depend on others are an error.
    pub full_rank: bool,
    /// True if v̇ is that of the constrained mechanism up to rounding; if not, it tends there with an option.
    pub exact: bool,
    /// True if it works on dense matrices of all velocities and rows: time O(n³), memory O(n²).
    pub dense: bool,
    /// True if it makes its forces from the violation, which no stabilization may then take away.
    pub violation: bool,
}

impl Needs {
    /// Nothing: any rank, any rows, exact and sparse.
    pub const NOTHING: Needs = Needs { full_rank: false, exact: true, dense: false, violation: false };
}

/// A row of the registry.
pub struct FormulationKind {
    /// Name in model files and flags.
    pub name: &'static str,
    /// One line on what it is.
    pub doc: &'static str,
    /// Holds what it asks of a model.
    pub needs: Needs,
    /// Its options.
    pub options: &'static [OptionDoc],
    /// Makes it, or says which option is wrong.
    pub new: fn(&Options) -> Result<Box<dyn Formulation>, MethodError>,
}

/// Every formulation, in the order of `sarrus list formulations`.
pub static KINDS: &[FormulationKind] = &[
    proximal::KIND,
    direct::KIND,
    partitioned::KIND,
    null_space::KIND,
    pseudo_inverse::KIND,
    udwadia_kalaba::KIND,
    least_squares_1::KIND,
    least_squares_2::KIND,
    udwadia_phohomsiri::KIND,
    augmented_lagrangian::KIND,
    penalty::KIND,
];

/// The kind called `name`.
pub fn find(name: &str) -> Result<&'static FormulationKind, MethodError> {
    KINDS.iter().find(|k| k.name == name).ok_or_else(|| MethodError::UnknownKind {
        family: "formulation",
        name: name.to_string(),
        known: KINDS.iter().map(|k| k.name).collect(),
    })
}

/// The formulation `name` with `options`.
pub fn make(name: &str, options: &Options) -> Result<Box<dyn Formulation>, MethodError> {
    let kind = find(name)?;
    options.check(kind.name, kind.options)?;
    (kind.new)(options)
}

/// Solves with the current factors and refuses a bad residual.
fn solve(eq: &Equations, kkt: &mut Kkt, out: &mut Accel) -> Result<(), SolveError> {
    let report = kkt.solve(eq, &eq.f, &eq.gamma, &mut out.vdot, &mut out.lambda)?;
    out.residual = report.residual;
    out.refinements = report.refinements;
    report.check()
}
