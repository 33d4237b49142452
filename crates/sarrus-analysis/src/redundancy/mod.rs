//! Redundancy: which reactions are unique, who shares what is not, and what of it is the mechanism's.
//!
//! Reactions that move nothing are multipliers with Jᵀλ = 0. A component of a reaction is a linear functional of λ, and it
//! is unique exactly when it vanishes on all of them \[Wojtyra2005\]. So a few random multipliers are projected on that
//! null space ([`sarrus_solve::Kkt::null_parts`]) and the components read off: O(N), and no rank is taken of anything
//! large.
//!
//! | file | question |
//! |---|---|
//! | `scaled` | the rows in a common unit, and random null vectors of them |
//! | `reactions` | which components vanish there |
//! | `sets` | the smallest sets of elements that share a redundancy |
//! | `mobility` | is the redundancy of the mechanism, or of this position? |
//! | `along` | all of it over a motion |
//! | `distribute` | what the reactions are if joints give way |

mod along;
mod distribute;
mod mobility;
mod reactions;
mod report;
mod scaled;
mod sets;

pub use along::along;
pub use distribute::distribute;
pub use report::*;

pub(crate) use mobility::{Nearby, nearby_rank};
pub(crate) use scaled::Scaled;

use sarrus_solve::{Equations, SolveError, State};
use sarrus_system::Mechanism;

/// What is known of the reactions at one instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Rows that others determine, as the factorization has chosen them.
    pub dependent: Vec<usize>,
    /// Elements with their components.
    pub reactions: Vec<ReactionReport>,
    /// How clear the decision was; none where no row is redundant.
    pub uniqueness: Option<UniquenessReport>,
}

impl Analysis {
    /// Names of the columns that are not unique.
    pub fn not_unique(&self) -> Vec<String> {
        let columns = self.reactions.iter().filter(|r| r.family != "constraint");
        columns.flat_map(|r| r.not_unique.iter().map(move |c| format!("{}.{c}", r.name))).collect()
    }
}

/// Tells the unique reactions at `s` from the others, with J of `eq` there. `redundant` says that rows are known to be:
/// otherwise nothing is projected where the factorization finds none.
pub(crate) fn analyse(
    mechanism: &mut Mechanism,
    s: &State,
    eq: &Equations,
    scaled: &mut Scaled,
    redundant: bool,
) -> Result<Analysis, SolveError> {
    let structure = mechanism.system().structure.clone();
    let dependent = scaled.kkt.dependent_rows().to_vec();
    let nulls =
        if redundant || !dependent.is_empty() { Some(scaled.random_nulls(&structure)?) } else { None };
    let vectors = nulls.as_ref().map_or(&[][..], |n| &n.vectors);
    let components = reactions::components(mechanism, s, eq, &scaled.lengths, vectors);
    let uniqueness = nulls.as_ref().map(|n| reactions::uniqueness(&components, n));
    let reactions = components.into_iter().map(reactions::Components::report).collect();
    Ok(Analysis { dependent, reactions, uniqueness })
}

/// Sets of elements that share a redundancy, and these merged where they overlap.
pub(crate) fn shared(
    mechanism: &Mechanism,
    analysis: &Analysis,
    scaled: &mut Scaled,
) -> (Vec<GroupReport>, Vec<GroupReport>, usize) {
    let system = mechanism.system();
    let found = sets::sets(&system.structure, scaled, &analysis.dependent);
    let names = |sets: &[sets::Set]| {
        sets.iter()
            .map(|set| {
                let mut elements: Vec<String> =
                    set.elements.iter().map(|&e| system.elements[e].name.clone()).collect();
                // a joint may have its rows in two elements, one after the other
                elements.dedup();
                GroupReport { redundant: set.redundant, elements }
            })
            .collect()
    };
    (names(&found.sets), names(&sets::merged(&found.sets)), found.unresolved)
}
