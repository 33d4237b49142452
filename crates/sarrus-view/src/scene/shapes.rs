//! Shapes of bodies, of segments and of the ground, in the frames and dimensions of the model file.

use super::{Point3, Pose7};
use crate::motion::join;
use sarrus::math::Pose;
use sarrus::model::transform::quaternion;
use sarrus::model::{Diagnostic, Key, Model, Reader, Result};
use sarrus::system::Directory;
use sarrus::system::bodies::{GROUND_KEYS, KEYS};
use sarrus::system::contact::surface::Geometry;
use sarrus::system::flexible;
use sarrus::system::shapes::{self, Role, rod};
use serde::Serialize;
use std::collections::HashMap;

/// A shape on its body; dimensions that a kind does not have are left out \[m\].
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SceneShape {
    /// As in the model file.
    pub kind: &'static str,
    /// Its frame on the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pose: Option<Pose7>,
    /// `#rrggbb`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// `all`, `visual`, `contact` or `mass`.
    pub role: &'static str,
    /// Along x.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Radius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Of a disc.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
    /// Edges of a box.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Point3>,
    /// Of a channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// Marks whether a channel is round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tube: Option<bool>,
    /// Centres of balls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<Point3>>,
    /// Of a surface from a file: x y z of its corners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertices: Option<Vec<f64>>,
    /// Its triangles, three corners each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub triangles: Option<Vec<u32>>,
}

/// Shapes by the number of their body; what is wrong with them goes to `errors`.
pub(super) fn all(
    model: &Model,
    directory: &Directory,
    errors: &mut Vec<Diagnostic>,
) -> HashMap<u32, Vec<SceneShape>> {
    let mut found: HashMap<u32, Vec<SceneShape>> = HashMap::new();
    let mut add_shapes = |id: Option<u32>, shapes: Result<Vec<SceneShape>>| match (id, shapes) {
        (Some(id), Ok(shapes)) => found.entry(id).or_default().extend(shapes),
        (None, Ok(_)) => {}
        (_, Err(error)) => errors.push(error),
    };
    for element in &model.bodies {
        let shapes = Reader::new(model, element, KEYS).and_then(|reader| {
            let bar = reader.body_frame()?.length;
            let color = reader.material("material")?.and_then(|m| m.color);
            of(&reader, shapes::read(&reader, bar)?, bar, color.as_deref())
        });
        add_shapes(directory.body(&element.name), shapes);
    }
    for attachment in model.attachments.iter().filter(|a| a.shapes && a.body == "ground") {
        let keys: Vec<Key> = GROUND_KEYS.to_vec();
        let shapes = Reader::new(model, &attachment.element, &keys).and_then(|reader| {
            let moved = shapes::attached(&reader, attachment, &Pose::identity())?;
            of(&reader, moved, None, None)
        });
        add_shapes(Some(0), shapes);
    }
    for element in model.flexible.iter().filter(|e| e.kind == flexible::segmented_rod::KIND.name) {
        let Some(member) = directory.member(&element.name) else { continue };
        let reader = Reader::open(model, element);
        let shapes = segment(model, &reader, member.bodies.len());
        for id in member.bodies.clone() {
            add_shapes(Some(id), shapes.clone());
        }
    }
    found
}

/// Returns what a segment of a rod looks like: its `shape`, or its section.
fn segment(model: &Model, reader: &Reader, count: usize) -> Result<Vec<SceneShape>> {
    let end = |key| reader.point(key).map(Option::unwrap_or_default);
    let (from, to) = (end("from")?, end("to")?);
    let l = (0..3).map(|k| (to[k] - from[k]).powi(2)).sum::<f64>().sqrt() / count.max(1) as f64;
    let color = reader.material("material")?.and_then(|m| m.color);
    let mut shapes = if reader.has("shape") {
        of(reader, shapes::read(reader, Some(l))?, Some(l), color.as_deref())?
    } else {
        Vec::new()
    };
    // balls at the ends are for touching: what lies between them is seen too
    if shapes.iter().all(|shape| shape.kind == "ends") {
        let section = super::flexible::section(model, reader, l * count as f64);
        let color = color.as_deref().and_then(hex);
        let blank = SceneShape { role: "visual", color, ..SceneShape::default() };
        shapes.push(match (section.width, section.height) {
            // the section's y is across, planar out of the plane
            (Some(w), Some(h)) if reader.is_planar() => {
                SceneShape { kind: "box", size: Some([l, h, w]), ..blank }
            }
            (Some(w), Some(h)) => SceneShape { kind: "box", size: Some([l, w, h]), ..blank },
            _ => SceneShape { kind: "rod", length: Some(l), radius: section.radius, ..blank },
        });
    }
    Ok(shapes)
}

/// The shapes under `shape`; a bar without any is a rod.
fn of(
    reader: &Reader,
    read: Vec<shapes::Shape>,
    bar: Option<f64>,
    color: Option<&str>,
) -> Result<Vec<SceneShape>> {
    let color = color.and_then(hex);
    if read.is_empty() {
        let of_bar = |length: f64| SceneShape {
            kind: "rod",
            role: "all",
            length: Some(length),
            radius: Some(rod::of_bar(length).0),
            color: color.clone(),
            ..SceneShape::default()
        };
        return Ok(bar.map(of_bar).into_iter().collect());
    }
    let tables = reader.subs("shape", shapes::KEYS)?;
    read.iter()
        .zip(&tables)
        .map(|(shape, table)| {
            let is_moved = shape.p != [0.0; 3] || shape.rot != sarrus::math::Mat3::identity();
            let own = table.text("color")?.and_then(hex).or_else(|| color.clone());
            let raw = match &shape.geometry {
                Some(Geometry::Mesh(mesh)) => Some(mesh.raw()),
                Some(Geometry::Convex(hull)) => Some(hull.raw()),
                _ => None,
            };
            let blank = SceneShape {
                vertices: raw.map(|raw| raw.corners.concat()),
                triangles: raw.map(|raw| raw.faces.concat()),
                kind: shape.kind,
                pose: is_moved.then(|| join(shape.p, quaternion(&shape.rot.0))),
                color: own,
                role: match shape.role {
                    Role::All => "all",
                    Role::Visual => "visual",
                    Role::Contact => "contact",
                    Role::Mass => "mass",
                },
                ..SceneShape::default()
            };
            dimensions(blank, table, bar)
        })
        .collect()
}

fn dimensions(shape: SceneShape, table: &Reader, bar: Option<f64>) -> Result<SceneShape> {
    let length = || table.positive_opt("length").map(|l| l.or(bar));
    let radius = table.positive_opt("radius")?;
    Ok(match shape.kind {
        "rod" | "capsule" => SceneShape { length: length()?, radius, ..shape },
        "disc" => {
            SceneShape { radius, thickness: Some(table.positive_opt("thickness")?.unwrap_or(0.0)), ..shape }
        }
        "sphere" => SceneShape { radius, ..shape },
        "box" => {
            let size = table.numbers("size")?.unwrap_or_default();
            let edge = |k: usize| size.get(k).copied().unwrap_or(0.0);
            SceneShape { size: Some([edge(0), edge(1), edge(2)]), ..shape }
        }
        "channel" => SceneShape {
            width: table.positive_opt("width")?,
            tube: Some(table.flag_opt("tube")?.unwrap_or(false)),
            ..shape
        },
        "ends" => {
            let half = 0.5 * length()?.unwrap_or(0.0);
            SceneShape { radius, points: Some(vec![[-half, 0.0, 0.0], [half, 0.0, 0.0]]), ..shape }
        }
        _ => shape,
    })
}

/// Names of colours beside `#rrggbb` and `#rgb`.
const NAMED: &[(&str, &str)] = &[
    ("black", "#000000"),
    ("white", "#ffffff"),
    ("grey", "#808080"),
    ("gray", "#808080"),
    ("silver", "#c0c0c0"),
    ("red", "#d62728"),
    ("green", "#2ca02c"),
    ("blue", "#1f77b4"),
    ("yellow", "#f0c808"),
    ("orange", "#ff7f0e"),
    ("purple", "#9467bd"),
    ("brown", "#8c564b"),
    ("pink", "#e377c2"),
    ("cyan", "#17becf"),
];

/// A colour as `#rrggbb`; none of a text that is no colour, which pictures do without.
pub(super) fn hex(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    if let Some((_, hex)) = NAMED.iter().find(|(name, _)| *name == text) {
        return Some((*hex).to_string());
    }
    let digits = text.strip_prefix('#')?;
    if !digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    match digits.len() {
        6 => Some(text),
        3 => Some(digits.chars().fold(String::from("#"), |s, c| s + &c.to_string().repeat(2))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn colours_become_six_digits() {
        assert_eq!(hex("#4682B4").as_deref(), Some("#4682b4"));
        assert_eq!(hex("#abc").as_deref(), Some("#aabbcc"));
        assert_eq!(hex("Red").as_deref(), Some("#d62728"));
        for wrong in ["", "#12", "#ggg", "url(x)", "#12345é"] {
            assert_eq!(hex(wrong), None, "{wrong}");
        }
    }
}
