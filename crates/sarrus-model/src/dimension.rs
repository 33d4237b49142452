//! Dimensions of quantities: exponents of length, mass, time and angle.
//!
//! A number with a unit has a dimension; a plain number fits anywhere. Angles count as an exponent of their own, so that `30 deg` is
//! no mass, but two dimensions that differ in it alone fit each other: the radian is 1 in SI, and ωr is a velocity.

use std::fmt;

/// Exponents of length, mass, time and angle, doubled so that square roots stay whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimension([i16; 4]);

impl Dimension {
    /// That of a plain number.
    pub const NONE: Dimension = Dimension([0, 0, 0, 0]);
    /// m
    pub const LENGTH: Dimension = Dimension([2, 0, 0, 0]);
    /// kg
    pub const MASS: Dimension = Dimension([0, 2, 0, 0]);
    /// s
    pub const TIME: Dimension = Dimension([0, 0, 2, 0]);
    /// rad
    pub const ANGLE: Dimension = Dimension([0, 0, 0, 2]);
    /// N
    pub const FORCE: Dimension = Dimension([2, 2, -4, 0]);
    /// N m, J
    pub const TORQUE: Dimension = Dimension([4, 2, -4, 0]);
    /// W
    pub const POWER: Dimension = Dimension([4, 2, -6, 0]);
    /// Pa
    pub const PRESSURE: Dimension = Dimension([-2, 2, -4, 0]);
    /// 1/s
    pub const FREQUENCY: Dimension = Dimension([0, 0, -2, 0]);
    /// rad/s
    pub const ANGULAR_VELOCITY: Dimension = Dimension([0, 0, -2, 2]);

    /// That of a product.
    pub fn times(self, other: Dimension) -> Dimension {
        Dimension(std::array::from_fn(|k| self.0[k].saturating_add(other.0[k])))
    }

    /// That of a quotient.
    pub fn over(self, other: Dimension) -> Dimension {
        Dimension(std::array::from_fn(|k| self.0[k].saturating_sub(other.0[k])))
    }

    /// That of a power, where its exponents are halves of whole numbers.
    pub fn power(self, exponent: f64) -> Option<Dimension> {
        let mut out = [0; 4];
        for (out, own) in out.iter_mut().zip(self.0) {
            let x = f64::from(own) * exponent;
            if x.fract() != 0.0 || x.abs() > f64::from(i16::MAX) {
                return None;
            }
            *out = x as i16;
        }
        Some(Dimension(out))
    }

    /// Returns whether it is that of a plain number: nothing is left of any unit.
    pub fn is_none(self) -> bool {
        self == Dimension::NONE
    }

    /// Returns whether a quantity of one is allowed where the other is wanted: angles aside they are equal.
    pub fn fits(self, other: Dimension) -> bool {
        self.0[..3] == other.0[..3]
    }

    /// The dimension of a unit as documents write it: `N m/rad`, `kg m²`, `1/s`.
    pub fn of_unit(text: &str) -> Option<Dimension> {
        let (above, below) = text.split_once('/').unwrap_or((text, ""));
        let mut dimension = Dimension::NONE;
        for (part, sign) in [(above, 1.0), (below, -1.0)] {
            for word in part.split_whitespace().filter(|word| *word != "1") {
                let cut = word.find(['^', '²', '³']).unwrap_or(word.len());
                let power = match word.get(cut..)? {
                    "" => 1.0,
                    "²" => 2.0,
                    "³" => 3.0,
                    caret => caret.strip_prefix('^')?.parse().ok()?,
                };
                let unit = crate::units::unit_named(word.get(..cut)?)?;
                dimension = dimension.times(unit.dimension.power(sign * power)?);
            }
        }
        Some(dimension)
    }

    /// The dimensions that the text of a key names in brackets, each of which is allowed: `[m, rad]`. Nothing where it names none.
    pub fn of_doc(doc: &str) -> Vec<Dimension> {
        let inside = doc.split('[').skip(1).filter_map(|rest| rest.split_once(']').map(|(inside, _)| inside));
        let units = inside.map(|list| list.split(',').map(|unit| Dimension::of_unit(unit.trim())).collect());
        units.flat_map(|list: Option<Vec<Dimension>>| list.unwrap_or_default()).collect()
    }
}

/// Dimensions that have a name, with the unit of each.
const NAMED: &[(Dimension, &str)] = &[
    (Dimension::LENGTH, "a length [m]"),
    (Dimension::MASS, "a mass [kg]"),
    (Dimension::TIME, "a time [s]"),
    (Dimension::ANGLE, "an angle [rad]"),
    (Dimension::FORCE, "a force [N]"),
    (Dimension::TORQUE, "a torque or energy [N m]"),
    (Dimension::POWER, "a power [W]"),
    (Dimension::PRESSURE, "a pressure [Pa]"),
    (Dimension::FREQUENCY, "a frequency [1/s]"),
    (Dimension::ANGULAR_VELOCITY, "an angular velocity [rad/s]"),
    (Dimension([2, 0, -2, 0]), "a velocity [m/s]"),
    (Dimension([2, 0, -4, 0]), "an acceleration [m/s^2]"),
    (Dimension([4, 0, 0, 0]), "an area [m^2]"),
    (Dimension([6, 0, 0, 0]), "a volume [m^3]"),
    (Dimension([-6, 2, 0, 0]), "a density [kg/m^3]"),
    (Dimension([4, 2, 0, 0]), "a moment of inertia [kg m^2]"),
    (Dimension([0, 2, -4, 0]), "a stiffness [N/m]"),
    (Dimension([0, 2, -2, 0]), "a damping [N s/m]"),
    (Dimension::NONE, "a number without unit"),
];

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, name)) = NAMED.iter().find(|(dimension, _)| dimension == self) {
            return f.write_str(name);
        }
        let mut words = Vec::new();
        for (name, exponent) in ["m", "kg", "s", "rad"].iter().zip(self.0) {
            match exponent {
                0 => {}
                2 => words.push((*name).to_string()),
                _ if exponent % 2 == 0 => words.push(format!("{name}^{}", exponent / 2)),
                _ => words.push(format!("{name}^({exponent}/2)")),
            }
        }
        write!(f, "a quantity in [{}]", words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_documents_are_read() {
        let same = [
            ("N m/rad", Dimension::TORQUE.over(Dimension::ANGLE)),
            ("kg m²", Dimension::MASS.times(Dimension::LENGTH).times(Dimension::LENGTH)),
            ("1/s", Dimension::FREQUENCY),
            ("kg m^2", Dimension([4, 2, 0, 0])),
            ("N s/m", Dimension([0, 2, -2, 0])),
            ("m³", Dimension([6, 0, 0, 0])),
            ("J", Dimension::TORQUE),
        ];
        for (text, dimension) in same {
            assert_eq!(Dimension::of_unit(text), Some(dimension), "{text}");
        }
        for text in ["alpha", "m^x", "y", "m s-1"] {
            assert_eq!(Dimension::of_unit(text), None, "{text}");
        }
        assert_eq!(Dimension::of_doc("its place [m, rad]"), [Dimension::LENGTH, Dimension::ANGLE]);
        assert_eq!(Dimension::of_doc("options [alpha, beta]"), []);
    }

    #[test]
    fn angles_alone_make_no_difference() {
        let speed = Dimension::LENGTH.over(Dimension::TIME);
        assert!(Dimension::ANGULAR_VELOCITY.times(Dimension::LENGTH).fits(speed));
        assert!(!Dimension::ANGLE.fits(Dimension::LENGTH) && Dimension::ANGLE.fits(Dimension::NONE));
        assert_eq!(Dimension::LENGTH.power(0.5).and_then(|root| root.power(2.0)), Some(Dimension::LENGTH));
        assert_eq!(Dimension::LENGTH.power(1.0 / 3.0), None);
        assert_eq!(Dimension::FORCE.over(Dimension::LENGTH).to_string(), "a stiffness [N/m]");
        assert_eq!(Dimension([2, 2, 0, 0]).to_string(), "a quantity in [m kg]");
    }
}
