//! Cross sections: what a beam or rod is per length, from a shape and a material or from given numbers.
//!
//! The axes of a section are y, across, and z, up; a planar model bends about y and calls that z. Shapes give the area A, the
//! second moments Iy = ∫z² dA and Iz = ∫y² dA, the torsion constant J and the shear factors ky, kz, and with E, G = E/(2(1 + ν)) and ρ
//!
//! EA, GA = (ky, kz) G A, EI = E (Iy, Iz), GJ, ρA, ρI = ρ (Iy, Iz).
//!
//! Shear factors: circle 6(1 + ν)/(7 + 6ν) and tube 6(1 + ν)(1 + μ²)²/((7 + 6ν)(1 + μ²)² + (20 + 12ν)μ²), μ the inner over the outer radius
//! \[Cowper1966\]; rectangle 5/6; hollow rectangle the part of the area in the two walls along the force. Torsion: Saint-Venant's
//! series for the rectangle \[Timoshenko1970, section 109\], Bredt's formula for the hollow one. Any of the products may be given instead.

use sarrus_model::{Element, Key, KeyType, Model, Reader, Result};
use std::f64::consts::PI;

/// A registered kind of section.
pub struct SectionKind {
    /// Name in model files.
    pub name: &'static str,
    /// One line on what it is.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// Reads its shape.
    read: fn(&Reader) -> Result<Option<SectionGeometry>>,
}

const RADIUS: Key = Key::new("radius", KeyType::Number, "", "outer radius [m]");
const PAIR: KeyType = KeyType::Either(&KeyType::Number, &KeyType::Numbers);
const EA: Key = Key::new("EA", KeyType::Number, "E A", "stiffness against stretching [N]");
const GA: Key =
    Key::new("GA", PAIR, "k G A", "against shear, the shear factor in it [N]; spatial also [y, z]");
const EI: Key = Key::new("EI", PAIR, "E I", "against bending [N m²]; spatial also [y, z]: about y and z");
const GJ: Key = Key::new("GJ", KeyType::Number, "G J", "against torsion, spatial [N m²]");
const RHO_A: Key = Key::new("rhoA", KeyType::Number, "density A", "mass per length [kg/m]");
const RHO_I: Key =
    Key::new("rhoI", PAIR, "density I", "rotary inertia per length [kg m]; spatial also [y, z]");

/// Every kind of section, in the order of `sarrus list sections`.
pub static KINDS: &[SectionKind] = &[
    SectionKind {
        name: "circle",
        doc: "a solid circle",
        keys: &[RADIUS, EA, GA, EI, GJ, RHO_A, RHO_I],
        read: |reader| Ok(Some(SectionGeometry::tube(reader.positive("radius")?, 0.0))),
    },
    SectionKind {
        name: "tube",
        doc: "a hollow circle",
        keys: &[
            RADIUS,
            Key::new("wall", KeyType::Number, "", "thickness of the wall [m]"),
            EA,
            GA,
            EI,
            GJ,
            RHO_A,
            RHO_I,
        ],
        read: tube,
    },
    SectionKind {
        name: "rectangle",
        doc: "a rectangle, solid or hollow",
        keys: &[
            Key::new("width", KeyType::Number, "", "across [m]; planar: out of the plane"),
            Key::new("height", KeyType::Number, "", "along `up` [m]; planar: in the plane"),
            Key::new("wall", KeyType::Number, "solid", "thickness of the walls [m]"),
            EA,
            GA,
            EI,
            GJ,
            RHO_A,
            RHO_I,
        ],
        read: rectangle,
    },
    SectionKind {
        name: "given",
        doc: "stiffnesses and masses per length as numbers",
        keys: &[EA, GA, EI, GJ, RHO_A, RHO_I],
        read: |_| Ok(None),
    },
];

/// The geometry of a section; pairs are y and z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SectionGeometry {
    pub area: f64,
    pub moments: [f64; 2],
    pub torsion: f64,
    pub shear: Shear,
}

/// Describes how shear factors follow from Poisson's ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shear {
    /// Circle or tube with this ratio of inner to outer radius.
    Round(f64),
    /// The same at any ratio.
    Fixed([f64; 2]),
}

impl Shear {
    pub fn factors(self, poisson: f64) -> [f64; 2] {
        match self {
            Shear::Fixed(k) => k,
            Shear::Round(mu) => {
                let s = (1.0 + mu * mu).powi(2);
                let k = 6.0 * (1.0 + poisson) * s
                    / ((7.0 + 6.0 * poisson) * s + (20.0 + 12.0 * poisson) * mu * mu);
                [k, k]
            }
        }
    }
}

impl SectionGeometry {
    fn tube(radius: f64, inner: f64) -> SectionGeometry {
        let fourth = PI / 4.0 * (radius.powi(4) - inner.powi(4));
        SectionGeometry {
            area: PI * (radius * radius - inner * inner),
            moments: [fourth; 2],
            torsion: 2.0 * fourth,
            shear: Shear::Round(inner / radius),
        }
    }
}

fn tube(reader: &Reader) -> Result<Option<SectionGeometry>> {
    let (radius, wall) = (reader.positive("radius")?, reader.positive("wall")?);
    if wall >= radius {
        let message = format!("`wall` of {} is not thinner than its radius", reader.title());
        return Err(reader.error("wall", message).hint("a solid one is a `circle`"));
    }
    Ok(Some(SectionGeometry::tube(radius, radius - wall)))
}

fn rectangle(reader: &Reader) -> Result<Option<SectionGeometry>> {
    let (b, h) = (reader.positive("width")?, reader.positive("height")?);
    let Some(t) = reader.positive_opt("wall")? else {
        let moments = [b * h.powi(3) / 12.0, h * b.powi(3) / 12.0];
        let shear = Shear::Fixed([5.0 / 6.0; 2]);
        return Ok(Some(SectionGeometry { area: b * h, moments, torsion: torsion(b, h), shear }));
    };
    if 2.0 * t >= b.min(h) {
        let message = format!("`wall` of {} leaves no room inside", reader.title());
        return Err(reader.error("wall", message).hint("a solid one has no `wall`"));
    }
    let (bi, hi) = (b - 2.0 * t, h - 2.0 * t);
    let area = b * h - bi * hi;
    let moments = [(b * h.powi(3) - bi * hi.powi(3)) / 12.0, (h * b.powi(3) - hi * bi.powi(3)) / 12.0];
    let (bm, hm) = (b - t, h - t);
    let torsion = 2.0 * t * (bm * hm).powi(2) / (bm + hm);
    let shear = Shear::Fixed([2.0 * t * b / area, 2.0 * t * h / area]);
    Ok(Some(SectionGeometry { area, moments, torsion, shear }))
}

/// Saint-Venant's torsion constant of a solid rectangle: a b³ (1/3 - 64 b/(π⁵ a) Σ tanh(nπa/2b)/n⁵), n odd, a ≥ b.
fn torsion(width: f64, height: f64) -> f64 {
    let (a, b) = (width.max(height), width.min(height));
    // the terms fall with n⁵: the twentieth is below 1e-8 of the first, and its tanh is 1
    let sum: f64 =
        (0..200).map(|k| f64::from(2 * k + 1)).map(|n| (n * PI * a / (2.0 * b)).tanh() / n.powi(5)).sum();
    a * b.powi(3) * (1.0 / 3.0 - 64.0 / PI.powi(5) * b / a * sum)
}

/// A section as the file says it.
#[derive(Clone, Debug)]
pub struct BeamSection {
    pub(super) name: String,
    pub(super) shape: Option<SectionGeometry>,
    pub(super) ea: Option<f64>,
    pub(super) ga: Option<[f64; 2]>,
    pub(super) ei: Option<[f64; 2]>,
    pub(super) gj: Option<f64>,
    pub(super) rho_a: Option<f64>,
    pub(super) rho_i: Option<[f64; 2]>,
}

impl BeamSection {
    /// Reads an entry of `[sections]`.
    pub fn read(model: &Model, element: &Element) -> Result<BeamSection> {
        let Some(kind) = KINDS.iter().find(|k| k.name == element.kind) else {
            return Err(crate::compile::unknown_kind(model, element, KINDS.iter().map(|k| k.name)));
        };
        let reader = Reader::new(model, element, kind.keys)?;
        Ok(BeamSection {
            name: element.name.clone(),
            shape: (kind.read)(&reader)?,
            ea: reader.positive_opt("EA")?,
            ga: pair(&reader, "GA")?,
            ei: pair(&reader, "EI")?,
            gj: reader.positive_opt("GJ")?,
            rho_a: reader.positive_opt("rhoA")?,
            rho_i: pair(&reader, "rhoI")?,
        })
    }
}

/// One number for both directions, or in space one each.
fn pair(reader: &Reader, key: &str) -> Result<Option<[f64; 2]>> {
    let listed = reader.value(key).is_some_and(|v| v.as_list().is_some());
    if !listed {
        return Ok(reader.positive_opt(key)?.map(|x| [x; 2]));
    }
    if reader.is_planar() {
        let message = format!("`{key}` of {} is one number: the space is planar", reader.title());
        return Err(reader.error(key, message));
    }
    let pair = reader.array::<2>(key)?;
    if pair.is_some_and(|pair| pair.iter().any(|x| *x <= 0.0)) {
        return Err(reader.error(key, format!("`{key}` of {} must be positive", reader.title())));
    }
    Ok(pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// \[Timoshenko1970, section 109\]: 0.1406, 0.229 and 0.312 for sides 1, 2 and 10 times the shorter; 1/3 for a strip.
    #[test]
    fn torsion_constants_of_rectangles_are_those_of_the_tables() {
        for (ratio, expected, digits) in [(1.0, 0.1406, 1e-4), (2.0, 0.229, 5e-4), (10.0, 0.312, 5e-4)] {
            let c = torsion(ratio * 0.3, 0.3) / (ratio * 0.3_f64.powi(4));
            assert!((c - expected).abs() < digits, "{ratio}: {c}");
            assert_eq!(torsion(ratio * 0.3, 0.3), torsion(0.3, ratio * 0.3));
        }
        // a strip: 1/3 - 0.630 b/(3 a)
        assert!((torsion(1e3, 1.0) / 1e3 - (1.0 / 3.0 - 0.210e-3)).abs() < 1e-6);
    }

    /// A tube without a hole is a circle; a thin one has the factor 2(1 + ν)/(4 + 3ν) of \[Cowper1966\].
    #[test]
    fn shear_factors_have_their_limits() {
        let nu = 0.3;
        let circle = 6.0 * (1.0 + nu) / (7.0 + 6.0 * nu);
        assert!((Shear::Round(0.0).factors(nu)[0] - circle).abs() < 1e-15);
        let thin = 2.0 * (1.0 + nu) / (4.0 + 3.0 * nu);
        assert!((Shear::Round(1.0).factors(nu)[0] - thin).abs() < 1e-15);
    }
}
