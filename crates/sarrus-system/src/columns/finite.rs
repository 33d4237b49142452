//! Numbers of a row that are not finite though they should be, and why.
//!
//! Two are as documented: accelerations and multipliers that are not known at a position, with all that reads them, and the gap of a
//! contact of which nothing is near, which is infinite.

use super::{ColumnSource, Columns, Measures, RowSource};
use crate::mechanism::Mechanism;
use sarrus_solve::{Accel, Equations, State};

/// Numbers that are not finite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NonFiniteNumbers {
    /// Describes how many.
    pub count: usize,
    /// Place of the first among the columns, and why it is not finite, where that is known.
    pub first: Option<(usize, Option<String>)>,
}

impl Columns {
    /// Returns what is not finite in the `values` of a row at `s`; `known` are the equations and accelerations there, if they are.
    pub fn not_finite(
        &self,
        m: &mut Mechanism,
        s: &State,
        known: Option<(&Equations, &Accel)>,
        values: &[f64],
    ) -> NonFiniteNumbers {
        self.with_row(m, s, known, |row, _| {
            let mut found = NonFiniteNumbers::default();
            for (i, source) in self.sources.iter().enumerate().filter(|(i, _)| !values[*i].is_finite()) {
                if self.measures.is_absent(source, row, known.is_some()) {
                    continue;
                }
                found.count += 1;
                let why = || source.measure().and_then(|value| self.measures.fault(value, row));
                found.first.get_or_insert_with(|| (i, why()));
            }
            found
        })
    }
}

impl Measures {
    /// Returns what first went wrong in the expression behind a value that is not finite.
    pub(super) fn fault(&self, value: usize, row: &RowSource) -> Option<String> {
        let (_, measure) = self.of(value)?;
        measure.fault(row, &|value| self.fault(value, row))
    }

    /// Returns whether a source has no number as documented, or reads one that has none.
    fn is_absent(&self, source: &ColumnSource, row: &RowSource, known: bool) -> bool {
        match source {
            ColumnSource::Contact(..) => source.read(row) == f64::INFINITY,
            ColumnSource::Measure(value) => self.of(*value).is_some_and(|(_, measure)| {
                (!known && measure.needs_solution())
                    || measure.sources().any(|source| self.is_absent(source, row, known))
            }),
            source => !known && source.needs_solution(),
        }
    }
}
