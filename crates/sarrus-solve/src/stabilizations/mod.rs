//! Stabilizations: how positions and velocities are kept on the constraints, although only J v̇ = γ is solved.
//!
//! Two hooks, both idle by default: [`shift`](Stabilization::shift) changes γ before the formulation,
//! [`project`](Stabilization::project) changes the state after an accepted step. A new one is a file here with its
//! `impl Stabilization`, and a row in [`KINDS`].

mod baumgarte;
mod none;
mod partitioned;
mod projection;
mod violation_correction;

use crate::error::{MethodError, SolveError};
use crate::findings::MethodStatistics;
use crate::kkt::Kkt;
use crate::options::{OptionDoc, Options};
use crate::problem::{Equations, Problem, RowBlock, State, Structure};

/// Keeps a motion on its constraints.
pub trait Stabilization: Send {
    /// Says how accurate the integrator is asked to be, before the run.
    fn set_tolerance(&mut self, _rtol: f64, _atol: f64) {}

    /// Changes γ, from the Φ and Φ̇ of `eq`, for a step of size `h` \[s\]; `h` = 0 where no step is being made.
    fn shift(&self, _problem: &dyn Problem, _eq: &mut Equations, _h: f64) {}

    /// Returns whether it leaves γ alone, and its projection is the nearest state in the mass metric, or none.
    fn is_plain(&self) -> bool {
        false
    }

    /// Returns whether [`project`](Stabilization::project) does anything.
    fn projects(&self) -> bool {
        false
    }

    /// Brings an accepted state onto the constraints. `eq` is room to work in, with the masses filled.
    fn project(
        &mut self,
        _problem: &mut dyn Problem,
        _kkt: &mut Kkt,
        _eq: &mut Equations,
        _s: &mut State,
    ) -> Result<Projection, SolveError> {
        Ok(Projection::default())
    }

    /// Returns what it found on the way, for the report.
    fn statistics(&self) -> MethodStatistics {
        MethodStatistics::default()
    }
}

/// Holds what a projection did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Projection {
    /// True if the state was changed.
    pub moved: bool,
    /// Newton iterations on positions.
    pub iterations: u32,
}

/// A row of the registry.
pub struct StabilizationKind {
    /// Name in model files and flags.
    pub name: &'static str,
    /// One line on what it is.
    pub doc: &'static str,
    /// True if it works on dense matrices of all velocities and rows: time O(n³), memory O(n²).
    pub dense: bool,
    /// Its options.
    pub options: &'static [OptionDoc],
    /// Makes it, or says which option is wrong.
    pub new: fn(&Options) -> Result<Box<dyn Stabilization>, MethodError>,
}

/// Every stabilization, in the order of `sarrus list stabilizations`.
pub static KINDS: &[StabilizationKind] =
    &[none::KIND, baumgarte::KIND, projection::KIND, partitioned::KIND, violation_correction::KIND];

/// The kind called `name`.
pub fn find(name: &str) -> Result<&'static StabilizationKind, MethodError> {
    KINDS.iter().find(|k| k.name == name).ok_or_else(|| MethodError::UnknownKind {
        family: "stabilization",
        name: name.to_string(),
        known: KINDS.iter().map(|k| k.name).collect(),
    })
}

/// The stabilization `name` with `options`.
pub fn make(name: &str, options: &Options) -> Result<Box<dyn Stabilization>, MethodError> {
    let kind = find(name)?;
    options.check(kind.name, kind.options)?;
    (kind.new)(options)
}

/// The size of the terms of Φ in scalar row `i` of `row`, whose rounding is that of Φ: slopes times positions, of which `largest` is the
/// largest. Lever arms go with angles, so what slopes above one count for is themselves, or the largest position.
fn terms(structure: &Structure, eq: &Equations, row: &RowBlock, i: usize, largest: f64) -> f64 {
    let mut terms = 0.0;
    for e in &structure.entries[row.entries.clone()] {
        let size = structure.cols[e.col].size;
        for slope in &eq.J[e.offset + i * size..][..size] {
            let slope = slope.abs();
            terms += (slope * largest).min(slope.max(largest));
        }
    }
    terms
}
