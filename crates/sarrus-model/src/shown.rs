//! `[view] units`: units in which a summary and plots show results. Files stay in SI.

use crate::dimension::Dimension;
use crate::key::{Key, KeyType};
use crate::model::Model;
use crate::reader::Reader;
use crate::settings::VIEW_KEYS;
use crate::units::{UNITS, unit_named};
use crate::{Diagnostic, Result};

/// The keys of `units`.
pub const UNIT_KEYS: &[Key] = &[
    Key::new("length", KeyType::Text, "m", "a unit of length, such as mm"),
    Key::new("angle", KeyType::Text, "rad", "a unit of angle, such as deg"),
    Key::new(
        "rate",
        KeyType::Text,
        "rad/s",
        "of angular velocity: rpm, or an angle over a time such as deg/s",
    ),
    Key::new("force", KeyType::Text, "N", "a unit of force, such as kN"),
    Key::new("torque", KeyType::Text, "N m", "a unit of torque, such as Nmm"),
    Key::new("mass", KeyType::Text, "kg", "a unit of mass, such as g"),
    Key::new("energy", KeyType::Text, "J", "a unit of energy, such as kJ"),
];

/// Defines what each key is of, in the order of [`UNIT_KEYS`].
const DIMENSIONS: [Dimension; UNIT_KEYS.len()] = [
    Dimension::LENGTH,
    Dimension::ANGLE,
    Dimension::ANGULAR_VELOCITY,
    Dimension::FORCE,
    Dimension::TORQUE,
    Dimension::MASS,
    Dimension::TORQUE,
];

/// Units to show results in, by the SI unit of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DisplayUnits(Vec<UnitScale>);

/// One of them: `numerator/denominator` in SI.
#[derive(Clone, Debug, PartialEq)]
struct UnitScale {
    si: &'static str,
    name: String,
    numerator: f64,
    denominator: f64,
}

impl DisplayUnits {
    /// Those that the model's `[view]` asks for.
    pub fn read(model: &Model) -> Result<DisplayUnits> {
        let view = Reader::new(model, &model.view, VIEW_KEYS)?;
        let table = view.sub("units", UNIT_KEYS).map_err(|error| match view.value("units") {
            Some(value) if value.as_table().is_none() => {
                error.hint("such as `units = { length = \"mm\", force = \"kN\" }`")
            }
            _ => error,
        })?;
        let Some(table) = table else { return Ok(DisplayUnits::default()) };
        let mut scales = Vec::new();
        for (key, dimension) in UNIT_KEYS.iter().zip(DIMENSIONS) {
            let Some(text) = table.text(key.name)? else { continue };
            let scale = scale(key.default, text, dimension);
            scales.push(scale.ok_or_else(|| wrong(&table, key.name, text, dimension))?);
        }
        Ok(DisplayUnits(scales))
    }

    /// A value in the SI unit `si`, in the unit in which it is shown, and the name of that.
    pub fn value<'a>(&'a self, x: f64, si: &'a str) -> (f64, &'a str) {
        match self.0.iter().find(|scale| scale.si == si) {
            Some(scale) => (x * scale.denominator / scale.numerator, &scale.name),
            None => (x, si),
        }
    }
}

/// A unit of the table, or one over another. Frequencies are no angular velocities: 1 Hz may be 1 rad/s or one revolution per second.
fn scale(si: &'static str, text: &str, dimension: Dimension) -> Option<UnitScale> {
    let (above, below) = match text.split_once('/') {
        Some((above, below)) => (unit_named(above.trim())?, Some(unit_named(below.trim())?)),
        None if text == si => {
            return Some(UnitScale { si, name: text.to_string(), numerator: 1.0, denominator: 1.0 });
        }
        None => (unit_named(text)?, None),
    };
    let own = below.map_or(above.dimension, |below| above.dimension.over(below.dimension));
    let [n, d] = below.map_or([1.0, 1.0], |below| [below.numerator, below.denominator]);
    let (numerator, denominator) = (above.numerator * d, above.denominator * n);
    (own == dimension).then(|| UnitScale { si, name: text.to_string(), numerator, denominator })
}

fn wrong(table: &Reader, key: &str, text: &str, dimension: Dimension) -> Diagnostic {
    let fitting = UNITS.iter().filter(|unit| unit.dimension == dimension).map(|unit| unit.name);
    let more = if dimension == Dimension::ANGULAR_VELOCITY { " rad/s deg/s rev/min" } else { "" };
    let hint = format!("one of: {}{more}", fitting.collect::<Vec<_>>().join(" "));
    table.error(key, format!("`{text}` is no unit of {key}")).hint(hint)
}
