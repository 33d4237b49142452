//! Describes what solves for rest, with the rows that act.

use super::newton::EquilibriumNewton;
use crate::error::SetupError;
use crate::failure;
use sarrus_solve::{Equations, HUB_DEGREE, Kkt, SolveError, State, Tangent};
use sarrus_system::{Mechanism, System};
use std::sync::Arc;

/// Holds what solves for rest, of a system with the rows of `mechanism`.
pub(super) struct Solvers {
    pub kkt: Kkt,
    pub tangent: Tangent,
    /// None where there is nothing elastic.
    pub newton: Option<EquilibriumNewton>,
    /// Loads that depend on the position, and so hold what they act on: they vanish at rest.
    pub holding: Vec<usize>,
}

impl Solvers {
    pub fn new(
        system: &Arc<System>,
        mechanism: &mut Mechanism,
        state: &State,
    ) -> Result<Solvers, SetupError> {
        let equations = Equations::new(mechanism);
        let kkt = Kkt::new(&system.structure, &equations, HUB_DEGREE).map_err(named(system))?;
        let mut tangent = system.new_tangent();
        let linear = if system.wide == 3 { 2 } else { 3 };
        let mut holds = |force: usize| {
            mechanism.force_tangent(state, force, &mut tangent);
            tangent.pairs.iter().any(|pair| {
                let [rows, wide] = pair.at.map(|i| system.structure.cols[i].size);
                let mut block = tangent.K[pair.offset..][..rows * wide].chunks_exact(wide);
                block.any(|row| row.iter().take(linear).any(|K| *K != 0.0))
            })
        };
        let loads = system.forces.iter().enumerate().filter(|(_, f)| f.enabled && f.load.is_load());
        let holding: Vec<usize> = loads.map(|(i, _)| i).filter(|i| holds(*i)).collect();
        let elastic = !holding.is_empty() || system.forces.iter().any(|f| f.enabled && !f.load.is_load());
        let newton = if elastic { EquilibriumNewton::new(mechanism, &tangent) } else { None };
        Ok(Solvers { kkt, tangent, newton, holding })
    }
}

/// With the name of the element that cannot be solved for.
pub(super) fn named(system: &Arc<System>) -> impl Fn(SolveError) -> SetupError {
    |source: SolveError| {
        let element = failure::element(&source, &system.mechanism());
        SetupError::Start { source, element }
    }
}
