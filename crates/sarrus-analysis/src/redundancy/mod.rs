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
//! | `sliding` | what friction of contacts that slide adds to these, and whether the motion depends on it |
//! | `sets` | minimal sets of elements that share a redundancy |
//! | `neighbours` | elements around a row, until they share one |
//! | `minimal` | the minimal sets among them |
//! | `echelon` | which null vectors are known from elsewhere |
//! | `joined` | who hangs together |
//! | `mobility` | is the redundancy of the mechanism, or of this position? |
//! | `along` | all of it over a motion |
//! | `distribute` | what the reactions are if joints give way |

mod along;
mod distribute;
mod echelon;
mod joined;
mod minimal;
mod mobility;
mod neighbours;
mod reactions;
mod report;
mod scaled;
mod sets;
mod sliding;

pub use along::along;
pub use distribute::distribute;
pub use report::*;
pub use sliding::Undetermined;

pub(crate) use mobility::{Nearby, nearby_rank};
pub(crate) use scaled::Scaled;

use sarrus_solve::{Equations, Problem, SolveError, Stage, State};
use sarrus_system::Mechanism;
use std::borrow::Cow;

/// Holds what is known of the reactions at one instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Rows that others determine, as the factorization has chosen them.
    pub dependent: Vec<usize>,
    /// Elements with their components.
    pub reactions: Vec<ReactionReport>,
    /// Describes how clear the decision was; none where no row is redundant.
    pub uniqueness: Option<UniquenessReport>,
    /// Motion that depends on how contacts that slide share their load.
    pub undetermined: Undetermined,
}

impl Analysis {
    /// Names of the columns that are not unique.
    pub fn not_unique(&self) -> Vec<String> {
        let columns = self.reactions.iter().flat_map(|r| r.not_unique.iter().map(move |c| (r, c)));
        // of a contact the normal force is one, how its points share it is not
        let columns = columns.filter(|(r, c)| r.family != "contact" || *c == "force");
        columns.map(|(r, c)| format!("{}.{c}", r.name)).collect()
    }
}

/// The equations of which null vectors are sought: tooth forces of meshes with their separating part.
pub(crate) fn with_tooth_forces<'a>(
    mechanism: &mut Mechanism,
    s: &State,
    eq: &'a Equations,
) -> Cow<'a, Equations> {
    mechanism.rows_with_separation(s, eq).map_or(Cow::Borrowed(eq), Cow::Owned)
}

/// Informs the unique reactions at `s` from the others, with J of `eq` there. `redundant` says that rows are known to be:
/// otherwise nothing is projected where the factorization finds none.
pub(crate) fn analyse(
    mechanism: &mut Mechanism,
    s: &State,
    eq: &Equations,
    scaled: &mut Scaled,
    redundant: bool,
) -> Result<Analysis, SolveError> {
    let system = mechanism.system().clone();
    let dependent = scaled.kkt.dependent_rows().to_vec();
    let mut nulls =
        if redundant || !dependent.is_empty() { Some(scaled.random_nulls(&system.structure)?) } else { None };
    let spread = nulls.as_ref().map(reactions::spread);
    let undetermined = match &mut nulls {
        Some(nulls) => sliding::complete(mechanism, s, scaled, nulls)?,
        None => Undetermined::default(),
    };
    let vectors = nulls.as_ref().map_or(&[][..], |n| &n.vectors);
    let components = reactions::components(mechanism, s, eq, &scaled.lengths, vectors);
    let uniqueness = nulls.as_ref().zip(spread);
    let uniqueness = uniqueness.map(|(n, spread)| reactions::uniqueness(&components, n, spread));
    let reactions = components.into_iter().map(reactions::NullComponents::report).collect();
    Ok(Analysis { dependent, reactions, uniqueness, undetermined })
}

/// Returns what is not unique at `s` with the contacts that `mechanism` holds; none where that cannot be determined.
pub(crate) fn with_contacts(mechanism: &mut Mechanism, s: &State) -> Option<Analysis> {
    let mut eq = Equations::new(mechanism);
    mechanism.update(s, Stage::FORCE, &mut eq);
    let structure = mechanism.structure().clone();
    let whole = with_tooth_forces(mechanism, s, &eq);
    let scaled = Scaled::new(&structure, &whole, None);
    scaled.and_then(|mut scaled| analyse(mechanism, s, &eq, &mut scaled, true)).ok()
}

/// Elements that share redundancies.
#[derive(Default)]
pub(crate) struct SharedRedundancies {
    /// Minimal sets of elements.
    pub sets: Vec<GroupReport>,
    /// Elements that hang together by redundancies at all.
    pub groups: Vec<GroupReport>,
    /// Redundancies whose elements were not searched for.
    pub unresolved: usize,
    /// True if there are more sets than these.
    pub more: bool,
}

/// Elements that share redundancies.
pub(crate) fn shared(mechanism: &Mechanism, analysis: &Analysis, scaled: &mut Scaled) -> SharedRedundancies {
    let system = mechanism.system();
    // a joint may have its rows in two elements, one after the other
    let mut owner: Vec<usize> = Vec::with_capacity(system.elements.len());
    for (i, element) in system.elements.iter().enumerate() {
        let same = |last: &&usize| system.elements[**last].name == element.name;
        owner.push(owner.last().filter(same).copied().unwrap_or(i));
    }
    let found = sets::sets(&system.structure, &owner, scaled, &analysis.dependent);
    let name = |&e: &usize| system.elements[e].name.clone();
    let names = |sets: Vec<sets::Set>| {
        let report = |s: sets::Set| GroupReport {
            redundant: s.redundant,
            elements: s.elements.iter().map(name).collect(),
        };
        sets.into_iter().map(report).collect()
    };
    SharedRedundancies {
        sets: names(found.sets),
        groups: names(found.groups),
        unresolved: found.unresolved,
        more: found.more,
    }
}
