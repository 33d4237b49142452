//! Describes what must never happen whatever the model: a panic, and a refusal without a hint.

use super::{Oracle, OracleVerdict, SceneRun};
use crate::run::RunEnd;

/// No panic.
pub const PANIC: Oracle = Oracle {
    name: "panic",
    doc: "no model makes the program panic",
    cheap: true,
    judge: |case, _| panics(case),
};

/// Hints.
pub const HINT: Oracle =
    Oracle { name: "hint", doc: "every refusal has a hint", cheap: true, judge: |case, _| hints(case) };

fn panics(case: &mut SceneRun) -> OracleVerdict {
    match &case.run {
        RunEnd::Panicked(message) => OracleVerdict::Wrong(message.clone()),
        _ => OracleVerdict::Agrees,
    }
}

fn hints(case: &mut SceneRun) -> OracleVerdict {
    let RunEnd::Refused(all) = &case.run else { return OracleVerdict::Silent };
    match all.iter().find(|d| d.hint.as_ref().is_none_or(|h| h.trim().is_empty())) {
        Some(bare) => OracleVerdict::Wrong(format!("refused without a hint: {}", bare.message)),
        None => OracleVerdict::Agrees,
    }
}
