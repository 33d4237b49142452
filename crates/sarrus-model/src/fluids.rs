//! Fluids: what bodies float and swim in.

use crate::key::{Key, KeyType};
use crate::model::{Element, Model};
use crate::reader::Reader;
use crate::record::ResolvedValue;
use crate::transform::{apply, dot, unit};
use crate::{Diagnostic, Result};

/// A fluid as the file says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fluid {
    /// kg/m³
    pub density: f64,
    /// Its velocity, the same everywhere, in world axes (m/s).
    pub velocity: [f64; 3],
    /// Marks where its free surface is; none: all is immersed.
    pub surface: Option<FreeSurface>,
}

/// The free surface of a fluid: the plane up·x = height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeSurface {
    /// Against gravity, of length 1.
    pub up: [f64; 3],
    /// Height of the surface above the world's origin (m).
    pub height: f64,
}

/// The keys of `[fluids.X]`.
pub const KEYS: &[Key] = &[
    Key::new("density", KeyType::Number, "", "its density [kg/m³]"),
    Key::new("velocity", KeyType::Vector, "at rest", "velocity of the fluid, the same everywhere [m/s]"),
    Key::new(
        "surface",
        KeyType::Number,
        "all is immersed",
        "height of the free surface against gravity, from the origin [m]",
    ),
];

impl Fluid {
    /// Reads an entry of `[fluids]`.
    pub fn read(model: &Model, element: &Element) -> Result<Fluid> {
        let reader = Reader::new(model, element, KEYS)?;
        let density = reader.positive("density")?;
        let velocity = reader.vector_or("velocity", [0.0; 3])?;
        let surface = match reader.number_opt("surface")? {
            None => None,
            Some(height) => Some(Fluid::surface(&reader, height)?),
        };
        Ok(Fluid { density, velocity, surface })
    }

    fn surface(reader: &Reader, height: f64) -> Result<FreeSurface> {
        let Some(up) = unit(reader.model().gravity.map(|g| -g)) else {
            let message =
                format!("{} has a surface, but there is no gravity to make it level", reader.title());
            return Err(reader.error("surface", message).hint("leave `surface` out, or give `gravity`"));
        };
        let transform = reader.transform();
        let angle = apply(&transform.q, up);
        if dot(angle, up) < 1.0 - 1e-12 {
            let message = format!("{} has a surface that its file turns out of the level", reader.title());
            return Err(reader.error("surface", message).hint("define the fluid in the file that includes"));
        }
        let height = height + dot(up, transform.d);
        reader.record("surface", || ResolvedValue::Number(height));
        Ok(FreeSurface { up, height })
    }
}

/// Reads every fluid of a model, whether something swims in it or not.
pub fn check(model: &Model) -> std::result::Result<(), Vec<Diagnostic>> {
    let errors: Vec<Diagnostic> =
        model.fluids.iter().filter_map(|element| Fluid::read(model, element).err()).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

impl Reader<'_> {
    /// The fluid that a key names; it must be given.
    pub fn fluid(&self, key: &str) -> Result<Fluid> {
        let Some((own, span)) = self.plain_name(key)? else {
            return Err(self.missing(key).hint("such as `fluid = \"water\"` with [fluids.water]"));
        };
        let name = format!("{}{own}", self.scope().prefix);
        let Some(element) = self.model().fluids.iter().find(|e| e.name == name) else {
            let known = self.model().fluids.iter().map(|e| e.name.clone());
            let hint = crate::suggest::did_you_mean(&name, known);
            let hint = hint.unwrap_or_else(|| format!("define it under [fluids.{own}]"));
            return Err(self.at(span, format!("fluid `{own}` does not exist")).hint(hint));
        };
        self.record(key, || ResolvedValue::Text(name.clone()));
        Fluid::read(self.model(), element)
    }
}
