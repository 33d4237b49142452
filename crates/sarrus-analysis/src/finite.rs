//! Numbers that should be finite and are not: in rows of results, and in conditions of events.

use sarrus_solve::{Accel, Equations, State, digits};
use sarrus_system::{Columns, Mechanism};

/// Holds what was found in a run so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NonFiniteColumns {
    /// Describes how many.
    pub count: u64,
    first: Option<First>,
}

#[derive(Clone, Debug, PartialEq)]
struct First {
    t: f64,
    what: String,
    why: Option<String>,
}

impl NonFiniteColumns {
    /// Takes note of `count` numbers at `t`; `report` says of the first what it is and why, where that is known.
    pub fn add(&mut self, count: u64, t: f64, describe: impl FnOnce() -> (String, Option<String>)) {
        self.count += count;
        if self.first.as_ref().is_none_or(|first| t < first.t) {
            let (what, why) = describe();
            self.first = Some(First { t, what, why });
        }
    }

    /// Takes note of what is not finite in the `row` of `columns` at `s`; `known` are the equations and accelerations there, if they are.
    pub fn check(
        &mut self,
        columns: &Columns,
        mechanism: &mut Mechanism,
        s: &State,
        known: Option<(&Equations, &Accel)>,
        row: &[f64],
    ) {
        if row.iter().all(|x| x.is_finite()) {
            return;
        }
        let found = columns.not_finite(mechanism, s, known, row);
        if let Some((i, why)) = found.first {
            self.add(found.count as u64, s.t, || {
                (format!("column `{}` is {}", columns.names[i], row[i]), why)
            });
        }
    }

    /// With what another one has found.
    pub fn with(mut self, other: Option<&NonFiniteColumns>) -> NonFiniteColumns {
        if let Some(NonFiniteColumns { count, first: Some(First { t, what, why }) }) = other {
            self.add(*count, *t, || (what.clone(), why.clone()));
        }
        self
    }

    /// In words.
    pub fn note(&self) -> Option<String> {
        let First { t, what, why } = self.first.as_ref()?;
        let why = why.as_ref().map_or(String::new(), |why| format!(": {why}"));
        let more =
            if self.count > 1 { format!("; {} such values in all", self.count) } else { String::new() };
        Some(format!("{what} at t = {}{why}{more}; the run is not certified", digits(t)))
    }
}
