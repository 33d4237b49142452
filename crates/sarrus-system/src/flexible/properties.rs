//! Describes what a member is per length: its section with its material. Each product is given by the section, or follows from its shape, or is
//! missing, which is an error only where a member needs it.

use super::section::{BeamSection, SectionGeometry};
use sarrus_model::materials::Material;
use sarrus_model::{Diagnostic, Reader, Result};

/// The section of a member with the material of that member.
pub struct Properties<'a> {
    reader: &'a Reader<'a>,
    section: BeamSection,
    material: Option<Material>,
}

impl<'a> Properties<'a> {
    /// Reads `section` and `material` of a member.
    pub fn read(reader: &'a Reader<'a>, sections: &[BeamSection]) -> Result<Self> {
        let Some((own, span)) = reader.plain_name("section")? else {
            return Err(reader.missing("section").hint("such as `section = \"bar\"` with [sections.bar]"));
        };
        let name = format!("{}{own}", reader.scope().prefix);
        let Some(section) = sections.iter().find(|s| s.name == name) else {
            let known = sections.iter().map(|s| s.name.as_str());
            let near = sarrus_model::suggest::did_you_mean(&name, known);
            let hint = near.unwrap_or_else(|| format!("define it under [sections.{own}]"));
            return Err(reader.at(span, format!("section `{own}` does not exist")).hint(hint));
        };
        reader.record("section", || sarrus_model::record::ResolvedValue::Text(name.clone()));
        Ok(Properties { reader, section: section.clone(), material: reader.material("material")? })
    }

    /// `damping` of the member, or that of its material \[s\].
    pub fn damping(&self) -> Result<f64> {
        let own = self.reader.not_negative_opt("damping")?;
        Ok(own.or(self.material.as_ref().and_then(|m| m.damping)).unwrap_or(0.0))
    }

    /// Returns what is missing where a product is neither given nor follows.
    fn missing(&self, key: &str, of_material: &[&str]) -> Diagnostic {
        let section = &self.section.name;
        let has = |word: &str| {
            self.material.as_ref().is_some_and(|m| match word {
                "young" => m.young.is_some(),
                "poisson" => m.poisson.is_some(),
                _ => m.density.is_some(),
            })
        };
        let lacking: Vec<&str> = of_material.iter().copied().filter(|word| !has(word)).collect();
        let quoted: Vec<String> = lacking.iter().map(|word| format!("`{word}`")).collect();
        let example = |word: &str| match word {
            "young" => "young = 210e9",
            "poisson" => "poisson = 0.3",
            _ => "density = 7850",
        };
        let examples: Vec<&str> = lacking.iter().map(|word| example(word)).collect();
        let why = match (&self.section.shape, &self.material) {
            (None, _) => format!("section `{section}` is given without it"),
            (_, None) => "it has no material".to_string(),
            (_, Some(m)) => format!("material `{}` has no {}", m.name, quoted.join(" and no ")),
        };
        let hint = match &self.section.shape {
            None => format!("add `{key}` to [sections.{section}]"),
            Some(_) => match &self.material {
                Some(m) => {
                    let common =
                        if lacking.contains(&"poisson") { " (metals 0.3, rubber 0.49)" } else { " (steel)" };
                    let examples = examples.join(", ");
                    format!(
                        "add `{examples}`{common} to [materials.{}], or give `{key}` in [sections.{section}]",
                        m.name
                    )
                }
                None => format!("give it a `material`, or `{key}` in [sections.{section}]"),
            },
        };
        self.reader.error("section", format!("{} needs {key}: {why}", self.reader.title())).hint(hint)
    }

    fn young(&self) -> Option<(SectionGeometry, f64)> {
        Some((self.section.shape?, self.material.as_ref()?.young?))
    }

    fn shear(&self) -> Option<(SectionGeometry, f64, f64)> {
        let poisson = self.material.as_ref()?.poisson?;
        self.young().map(|(shape, young)| (shape, young / (2.0 * (1.0 + poisson)), poisson))
    }

    fn density(&self) -> Option<(SectionGeometry, f64)> {
        Some((self.section.shape?, self.material.as_ref()?.density?))
    }

    /// A \[m²\], where the section has a shape.
    pub fn area(&self) -> Option<f64> {
        self.section.shape.map(|shape| shape.area)
    }

    /// EA \[N\].
    pub fn ea(&self) -> Result<f64> {
        let own = self.section.ea.or_else(|| self.young().map(|(s, e)| e * s.area));
        own.ok_or_else(|| self.missing("EA", &["young"]))
    }

    /// GA along y and z \[N\].
    pub fn ga(&self) -> Result<[f64; 2]> {
        let found = || self.shear().map(|(s, g, nu)| s.shear.factors(nu).map(|k| k * g * s.area));
        self.section.ga.or_else(found).ok_or_else(|| self.missing("GA", &["young", "poisson"]))
    }

    /// EI about y and z \[N m²\].
    pub fn ei(&self) -> Result<[f64; 2]> {
        let found = || self.young().map(|(s, e)| s.moments.map(|i| e * i));
        self.section.ei.or_else(found).ok_or_else(|| self.missing("EI", &["young"]))
    }

    /// GJ \[N m²\].
    pub fn gj(&self) -> Result<f64> {
        let found = || self.shear().map(|(s, g, _)| g * s.torsion);
        self.section.gj.or_else(found).ok_or_else(|| self.missing("GJ", &["young", "poisson"]))
    }

    /// ρA \[kg/m\].
    pub fn rho_a(&self) -> Result<f64> {
        let own = self.section.rho_a.or_else(|| self.density().map(|(s, rho)| rho * s.area));
        own.ok_or_else(|| self.missing("rhoA", &["density"]))
    }

    /// ρI about y and z \[kg m\].
    pub fn rho_i(&self) -> Result<[f64; 2]> {
        let found = || self.density().map(|(s, rho)| s.moments.map(|i| rho * i));
        self.section.rho_i.or_else(found).ok_or_else(|| self.missing("rhoI", &["density"]))
    }
}
