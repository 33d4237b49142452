//! Units that may follow a number, as factors to SI.
//!
//! A factor is kept as a quotient of numbers that are exact where the definition is, so that `9 mm` is
//! the double nearest to 0.009 and `180 deg` is π to the last bit.

use crate::dimension::Dimension;
use std::f64::consts::PI;

/// A unit: one of it is `numerator/denominator` in SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Describes how it is written.
    pub name: &'static str,
    /// Factor above the line.
    pub numerator: f64,
    /// Factor below the line.
    pub denominator: f64,
    /// Holds what it measures.
    pub dimension: Dimension,
}

const fn unit(name: &'static str, numerator: f64, denominator: f64, dimension: Dimension) -> Unit {
    Unit { name, numerator, denominator, dimension }
}

/// All units, by what they measure.
pub const UNITS: &[Unit] = &[
    unit("m", 1.0, 1.0, Dimension::LENGTH),
    unit("km", 1000.0, 1.0, Dimension::LENGTH),
    unit("cm", 1.0, 100.0, Dimension::LENGTH),
    unit("mm", 1.0, 1000.0, Dimension::LENGTH),
    unit("um", 1.0, 1e6, Dimension::LENGTH),
    unit("in", 127.0, 5000.0, Dimension::LENGTH),
    unit("ft", 381.0, 1250.0, Dimension::LENGTH),
    unit("kg", 1.0, 1.0, Dimension::MASS),
    unit("g", 1.0, 1000.0, Dimension::MASS),
    unit("lb", 45_359_237.0, 1e8, Dimension::MASS),
    unit("tonne", 1000.0, 1.0, Dimension::MASS),
    unit("s", 1.0, 1.0, Dimension::TIME),
    unit("ms", 1.0, 1000.0, Dimension::TIME),
    unit("us", 1.0, 1e6, Dimension::TIME),
    unit("min", 60.0, 1.0, Dimension::TIME),
    unit("h", 3600.0, 1.0, Dimension::TIME),
    unit("N", 1.0, 1.0, Dimension::FORCE),
    unit("kN", 1000.0, 1.0, Dimension::FORCE),
    unit("MN", 1e6, 1.0, Dimension::FORCE),
    unit("lbf", 44_482_216_152_605.0, 1e13, Dimension::FORCE),
    unit("Pa", 1.0, 1.0, Dimension::PRESSURE),
    unit("kPa", 1000.0, 1.0, Dimension::PRESSURE),
    unit("MPa", 1e6, 1.0, Dimension::PRESSURE),
    unit("GPa", 1e9, 1.0, Dimension::PRESSURE),
    unit("bar", 1e5, 1.0, Dimension::PRESSURE),
    // 1 lbf over 1 in², both exact
    unit("psi", 44_482_216_152_605.0, 6_451_600_000.0, Dimension::PRESSURE),
    unit("J", 1.0, 1.0, Dimension::TORQUE),
    unit("kJ", 1000.0, 1.0, Dimension::TORQUE),
    unit("W", 1.0, 1.0, Dimension::POWER),
    unit("kW", 1000.0, 1.0, Dimension::POWER),
    unit("Nm", 1.0, 1.0, Dimension::TORQUE),
    unit("Nmm", 1.0, 1000.0, Dimension::TORQUE),
    unit("Hz", 1.0, 1.0, Dimension::FREQUENCY),
    unit("rpm", PI, 30.0, Dimension::ANGULAR_VELOCITY),
    unit("rad", 1.0, 1.0, Dimension::ANGLE),
    unit("deg", PI, 180.0, Dimension::ANGLE),
    unit("rev", 2.0 * PI, 1.0, Dimension::ANGLE),
];

/// The unit called `name`.
pub fn unit_named(name: &str) -> Option<&'static Unit> {
    UNITS.iter().find(|u| u.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_has_its_defined_size() {
        let sizes = [
            ("in", 0.0254),
            ("ft", 0.3048),
            ("lb", 0.45359237),
            ("lbf", 0.45359237 * 9.80665),
            ("psi", 6894.757293168361),
            ("rpm", 2.0 * PI / 60.0),
            ("deg", PI / 180.0),
            ("tonne", 1000.0),
            ("Nmm", 1e-3),
            ("GPa", 1e9),
            ("h", 3600.0),
        ];
        for (name, size) in sizes {
            let u = unit_named(name).unwrap();
            let value = u.numerator / u.denominator;
            assert!(
                (value - size).abs() <= 2e-16 * size.abs() + f64::EPSILON * size,
                "{name}: {value} {size}"
            );
        }
    }

    #[test]
    fn names_are_unique() {
        for (i, u) in UNITS.iter().enumerate() {
            assert!(UNITS[..i].iter().all(|other| other.name != u.name), "{}", u.name);
        }
    }
}
