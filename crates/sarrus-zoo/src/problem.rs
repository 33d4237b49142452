//! Describes what a case consists of.

/// Describes how the numbers of a [`ReferenceValues`] are to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceKind {
    /// As they are.
    Value,
    /// As a unit quaternion, scalar first: q and -q are the same orientation.
    Quaternion,
}

/// Values that columns of the trajectory must have at one time: one quantity, compared as one vector.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceValues {
    /// Time \[s\].
    pub t: f64,
    /// Columns of the trajectory.
    pub columns: &'static [&'static str],
    /// One value a column, in SI units.
    pub values: &'static [f64],
    /// Extent to which the values themselves can be trusted (absolute, in the columns' units).
    pub tol: f64,
    /// Describes how to compare.
    pub kind: ReferenceKind,
}

impl ReferenceValues {
    /// Values compared as they are.
    pub const fn value(
        t: f64,
        columns: &'static [&'static str],
        values: &'static [f64],
        tol: f64,
    ) -> ReferenceValues {
        ReferenceValues { t, columns, values, tol, kind: ReferenceKind::Value }
    }

    /// A unit quaternion, scalar first, compared up to its sign.
    pub const fn quaternion(
        t: f64,
        columns: &'static [&'static str],
        values: &'static [f64],
        tol: f64,
    ) -> ReferenceValues {
        ReferenceValues { t, columns, values, tol, kind: ReferenceKind::Quaternion }
    }

    /// Largest deviation of `found` from the values. NaN, or a wrong number of values, gives infinity.
    pub fn deviation(&self, found: &[f64]) -> f64 {
        if found.len() != self.values.len() || found.iter().any(|x| x.is_nan()) {
            return f64::INFINITY;
        }
        let apart =
            |sign: f64| found.iter().zip(self.values).map(|(x, y)| (x - sign * y).abs()).fold(0.0, f64::max);
        match self.kind {
            ReferenceKind::Value => apart(1.0),
            ReferenceKind::Quaternion => apart(1.0).min(apart(-1.0)),
        }
    }

    /// The deviation over the largest of the values.
    pub fn relative_error(&self, found: &[f64]) -> f64 {
        self.deviation(found) / self.scale()
    }

    /// The best relative error that the reference's own digits can judge.
    pub fn relative_tolerance(&self) -> f64 {
        self.tol / self.scale()
    }

    fn scale(&self) -> f64 {
        let largest = self.values.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        if largest > 0.0 { largest } else { 1.0 }
    }
}

/// A mechanism with known answers.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceProblem {
    /// Name of the case.
    pub name: &'static str,
    /// The model file's text.
    pub model: &'static str,
    /// Parameters to set, as `--set name=value` would.
    pub set: &'static [(&'static str, &'static str)],
    /// The run must reach this time \[s\]; no reference is later.
    pub t_end: f64,
    /// Holds what must come out.
    pub references: &'static [ReferenceValues],
    /// Marks where the definition and the numbers come from.
    pub source: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: ReferenceValues =
        ReferenceValues::quaternion(0.0, &["b.q0", "b.q1", "b.q2", "b.q3"], &[0.0, 0.6, 0.0, 0.8], 1e-12);
    const FAR: ReferenceValues = ReferenceValues::value(0.0, &["b.x", "b.y"], &[0.0, -200.0], 1e-6);

    #[test]
    fn a_quaternion_and_its_negative_are_the_same_orientation() {
        assert!(UP.deviation(&[0.0, -0.6, 0.0, -0.8]) < 1e-15);
        assert!(UP.deviation(&[0.0, 0.6, 0.0, -0.8]) > 1.0);
    }

    #[test]
    fn the_sign_of_a_value_counts() {
        assert_eq!(FAR.deviation(&[0.0, 200.0]), 400.0);
        assert_eq!(FAR.relative_error(&[0.0, -202.0]), 0.01);
    }

    #[test]
    fn nan_and_missing_values_are_infinitely_wrong() {
        assert_eq!(FAR.deviation(&[f64::NAN, -200.0]), f64::INFINITY);
        assert_eq!(FAR.deviation(&[0.0]), f64::INFINITY);
    }
}
