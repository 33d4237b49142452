//! Formulations: how v̇ and λ follow from M v̇ + Jᵀλ = f and J v̇ = γ.
//!
//! A new one is a file here with its `impl Formulation`, and a row in [`KINDS`].

mod direct;
mod proximal;

use crate::error::{MethodError, SolveError};
use crate::kkt::Kkt;
use crate::options::{OptionDoc, Options};
use crate::problem::{Accel, Equations};

/// Accelerations and multipliers at one instant.
pub trait Formulation: Send {
    /// Solves the equations. The hot path: does not allocate.
    fn accelerations(&mut self, eq: &Equations, kkt: &mut Kkt, out: &mut Accel) -> Result<(), SolveError>;
}

/// A row of the registry.
pub struct Kind {
    /// Name in model files and flags.
    pub name: &'static str,
    /// One line on what it is.
    pub doc: &'static str,
    /// Its options.
    pub options: &'static [OptionDoc],
    /// Makes it, or says which option is wrong.
    pub new: fn(&Options) -> Result<Box<dyn Formulation>, MethodError>,
}

/// Every formulation, in the order of `sarrus list formulations`.
pub static KINDS: &[Kind] = &[proximal::KIND, direct::KIND];

/// The formulation `name` with `options`.
pub fn make(name: &str, options: &Options) -> Result<Box<dyn Formulation>, MethodError> {
    let kind = KINDS.iter().find(|k| k.name == name).ok_or_else(|| MethodError::UnknownKind {
        family: "formulation",
        name: name.to_string(),
        known: KINDS.iter().map(|k| k.name).collect(),
    })?;
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
