//! Describes which function gave no number: what a failed run says in place of "not finite".
//!
//! An integrator that meets a number that is not finite knows the row, not the call behind it, and the state of the stage at which it
//! happened is gone. So a call that gives no number leaves a note, and the program that reads it confirms the note where its own result
//! is no number either: the side of an `if` that is not taken does not count. Notes belong to the thread, as a run does: two runs
//! of one model at a time do not mix theirs. The caller that steps forgets the note after each step that succeeds.

use super::MOST_ARGUMENTS;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

/// Holds what a function did.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    name: Arc<str>,
    arguments: ([f64; MOST_ARGUMENTS], usize),
    what: FaultKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum FaultKind {
    /// Its value is this.
    Value(f64),
    /// A derivative is not finite.
    Derivative,
    /// Derivatives of this order are needed.
    Order(usize),
}

impl Fault {
    fn new(name: &Arc<str>, x: &[f64], what: FaultKind) -> Fault {
        let mut all = [0.0; MOST_ARGUMENTS];
        let n = x.len().min(MOST_ARGUMENTS);
        all[..n].copy_from_slice(&x[..n]);
        Fault { name: name.clone(), arguments: (all, n), what }
    }

    /// A value that is not finite.
    pub(super) fn value(name: &Arc<str>, x: &[f64], value: f64) -> Fault {
        Fault::new(name, x, FaultKind::Value(value))
    }

    /// A derivative that is not finite.
    pub(super) fn derivative(name: &Arc<str>, x: &[f64]) -> Fault {
        Fault::new(name, x, FaultKind::Derivative)
    }

    /// Derivatives of an order that there are none of.
    pub(super) fn order(name: &Arc<str>, x: &[f64], order: usize) -> Fault {
        Fault::new(name, x, FaultKind::Order(order))
    }

    /// The function's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what it did: ``function `law` gave NaN``.
    pub fn what(&self) -> String {
        let name = &self.name;
        match self.what {
            FaultKind::Value(value) => format!("function `{name}` gave {value}"),
            FaultKind::Derivative => format!("function `{name}` gave a derivative that is not finite"),
            FaultKind::Order(order) => format!(
                "function `{name}` is given by a program and has no derivatives of order {order}, which the passage of a \
                 singular position needs"
            ),
        }
    }

    /// For which arguments, in seven digits: `(0.3, -1.25)`.
    pub fn arguments(&self) -> String {
        let (all, n) = &self.arguments;
        let short = |x: &f64| format!("{x:.6e}").parse().unwrap_or(*x).to_string();
        format!("({})", all[..*n].iter().map(short).collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for {}", self.what(), self.arguments())
    }
}

thread_local! {
    /// Of the last call, and of the last call that a program's result depends on.
    static NOTES: RefCell<[Option<Fault>; 2]> = const { RefCell::new([None, None]) };
}

/// Leaves a note of a call.
#[cold]
pub(super) fn note(fault: Fault) {
    NOTES.with_borrow_mut(|[call, _]| *call = Some(fault));
}

/// A program that calls functions begins: notes of calls before are none of its own.
pub(crate) fn begin() {
    NOTES.with_borrow_mut(|[call, _]| *call = None);
}

/// Its result is not a number: the note of the call becomes that of the thread.
#[cold]
pub(crate) fn confirm() {
    NOTES.with_borrow_mut(|[call, confirmed]| {
        if let Some(fault) = call.take() {
            *confirmed = Some(fault);
        }
    });
}

/// The last fault of a function on this thread that left an expression without a number, since it was forgotten.
pub fn fault() -> Option<Fault> {
    NOTES.with_borrow(|[_, confirmed]| confirmed.clone())
}

/// Forgets the faults of this thread: a step has succeeded, or a run begins.
pub fn forget_fault() {
    NOTES.with_borrow_mut(|notes| *notes = [None, None]);
}
