//! Materials: density for mass, the rest for contacts and flexible bodies.

use crate::Result;
use crate::key::{Key, KeyType};
use crate::reader::Reader;

/// Properties of a material; what is not known is left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Material {
    /// Its name; materials have a namespace of their own.
    pub name: String,
    /// kg/m³
    pub density: Option<f64>,
    /// Young's modulus (Pa).
    pub young: Option<f64>,
    /// Poisson's ratio.
    pub poisson: Option<f64>,
    /// Times the stiffness (s).
    pub damping: Option<f64>,
    /// Coefficient of restitution.
    pub restitution: Option<f64>,
    /// Coefficient of friction.
    pub friction: Option<f64>,
    /// For pictures, as the file writes it.
    pub color: Option<String>,
}

/// The keys of `[materials.X]`.
pub const KEYS: &[Key] = &[
    Key::new("density", KeyType::Number, "", "its density [kg/m³]"),
    Key::new("young", KeyType::Number, "", "Young's modulus [Pa]"),
    Key::new("poisson", KeyType::Number, "", "Poisson's ratio [1]"),
    Key::new("damping", KeyType::Number, "", "times the stiffness [s]"),
    Key::new("restitution", KeyType::Number, "", "coefficient of restitution, 0 to 1 [1]"),
    Key::new("friction", KeyType::Number, "", "coefficient of friction [1]"),
    Key::new("color", KeyType::Text, "", "for pictures"),
];

/// Name, density, Young's modulus, Poisson's ratio and colour of the built-in materials: usual
/// handbook values at room temperature (structural steel, EN AW-6061, Ti-6Al-4V, CuZn37, injection
/// moulded ABS, spruce along the grain).
const BUILT_IN: [(&str, f64, f64, f64, &str); 6] = [
    ("steel", 7850.0, 210e9, 0.3, "#8a8f98"),
    ("aluminium", 2700.0, 69e9, 0.33, "#c0c4c8"),
    ("titanium", 4430.0, 114e9, 0.34, "#9a938c"),
    ("brass", 8440.0, 103e9, 0.34, "#c8a84a"),
    ("abs", 1050.0, 2.3e9, 0.36, "#e8e4d8"),
    ("wood", 450.0, 11e9, 0.4, "#b98a55"),
];

/// The materials that every model knows.
pub fn built_in() -> Vec<Material> {
    BUILT_IN
        .iter()
        .map(|(name, density, young, poisson, color)| Material {
            name: name.to_string(),
            density: Some(*density),
            young: Some(*young),
            poisson: Some(*poisson),
            color: Some(color.to_string()),
            ..Material::default()
        })
        .collect()
}

impl Material {
    /// Reads an entry of `[materials]`.
    pub fn read(reader: &Reader<'_>) -> Result<Material> {
        let poisson = reader.number_opt("poisson")?;
        if poisson.is_some_and(|p| !(-1.0..=0.5).contains(&p)) {
            return Err(reader.error("poisson", "Poisson's ratio lies between -1 and 0.5"));
        }
        Ok(Material {
            name: reader.element().name.clone(),
            density: reader.positive_opt("density")?,
            young: reader.positive_opt("young")?,
            poisson,
            damping: reader.not_negative_opt("damping")?,
            restitution: reader.not_negative_opt("restitution")?,
            friction: reader.not_negative_opt("friction")?,
            color: reader.text("color")?.map(str::to_string),
        })
    }
}

impl Reader<'_> {
    /// The material a key names: the file's own, the including files', a built-in one.
    pub fn material(&self, key: &str) -> Result<Option<Material>> {
        let Some((name, span)) = self.plain_name(key)? else { return Ok(None) };
        let full = format!("{}{name}", self.scope().prefix);
        let own = self.model().materials.iter().find(|m| m.name == full);
        let found = own.cloned().or_else(|| built_in().into_iter().find(|m| m.name == name));
        let Some(found) = found else {
            let built_in = built_in();
            let known = self.model().materials.iter().chain(&built_in).map(|m| m.name.clone());
            return Err(self
                .at(span, format!("material `{name}` does not exist"))
                .maybe_hint(crate::suggest::did_you_mean(&name, known)));
        };
        self.record(key, || crate::record::ResolvedValue::Text(found.name.clone()));
        Ok(Some(found))
    }
}
