//! What must never happen whatever the model: a panic, and a refusal without a hint.

use super::{Case, Oracle, Verdict};
use crate::run::Run;

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

fn panics(case: &mut Case) -> Verdict {
    match &case.run {
        Run::Panicked(message) => Verdict::Wrong(message.clone()),
        _ => Verdict::Agrees,
    }
}

fn hints(case: &mut Case) -> Verdict {
    let Run::Refused(all) = &case.run else { return Verdict::Silent };
    match all.iter().find(|d| d.hint.as_ref().is_none_or(|h| h.trim().is_empty())) {
        Some(bare) => Verdict::Wrong(format!("refused without a hint: {}", bare.message)),
        None => Verdict::Agrees,
    }
}
