//! Beams and modal bodies: meshes, sections, shapes of modes.

use super::shapes::hex;
use super::{Cast, Point3, Pose7, rest};
use sarrus::model::{Element, Model, Reader, Space};
use sarrus::system::Directory;
use sarrus::system::flexible::{beam, modal};
use serde::Serialize;

/// A flexible member.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Flexible {
    /// Nodes that are bodies.
    Beam {
        /// Its name.
        name: String,
        /// Its nodes from start to end.
        nodes: Vec<i32>,
        /// On each node the axes of the section, where they are not the node's.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        frames: Vec<[f64; 4]>,
        /// Poses of the nodes, undeformed.
        rest: Vec<Pose7>,
        /// Its section.
        section: SectionShape,
        /// `#rrggbb`.
        #[serde(skip_serializing_if = "Option::is_none")]
        color: Option<String>,
    },
    /// A frame with shapes.
    Modal {
        /// Its name.
        name: String,
        /// Its frame.
        body: i32,
        /// Nodes at rest.
        nodes: Vec<Point3>,
        /// Chains of nodes.
        lines: Vec<Vec<usize>>,
        /// Section of its members.
        section: SectionShape,
        /// By amplitude, how far each node goes per unit.
        modes: Vec<Vec<Point3>>,
        /// Columns of the amplitudes.
        amplitudes: Vec<String>,
        /// `#rrggbb`.
        #[serde(skip_serializing_if = "Option::is_none")]
        color: Option<String>,
    },
}

/// The outline of a cross section \[m\].
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SectionShape {
    /// `circle`, `tube` or `rectangle`.
    pub kind: &'static str,
    /// Outer radius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Thickness of the wall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<f64>,
    /// Across.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// Up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<f64>,
}

/// A section that is given by stiffnesses is drawn as a circle, its length over this in radius.
const SLENDER: f64 = 100.0;

/// The section that a member names; `length` of the member shows how thick one is that has no shape.
pub(super) fn section(model: &Model, reader: &Reader, length: f64) -> SectionShape {
    let plain = SectionShape { kind: "circle", radius: Some(length / SLENDER), ..SectionShape::default() };
    let Ok(Some((name, _))) = reader.plain_name("section") else { return plain };
    let full = format!("{}{name}", reader.scope().prefix);
    let found = model.sections.iter().find(|s| s.name == full || s.name == name);
    let Some(element) = found else { return plain };
    let of = Reader::open(model, element);
    let number = |key: &str| of.positive_opt(key).ok().flatten();
    let (radius, wall) = (number("radius"), number("wall"));
    match element.kind.as_str() {
        "circle" => SectionShape { kind: "circle", radius, ..SectionShape::default() },
        "tube" => SectionShape { kind: "tube", radius, wall, ..SectionShape::default() },
        "rectangle" => SectionShape {
            kind: "rectangle",
            width: number("width"),
            height: number("height"),
            wall,
            radius: None,
        },
        _ => plain,
    }
}

/// All beams and modal bodies of a model.
pub(super) fn all(model: &Model, directory: &Directory, cast: &Cast) -> Vec<Flexible> {
    model.flexible.iter().filter_map(|element| one(model, element, directory, cast)).collect()
}

fn one(model: &Model, element: &Element, directory: &Directory, cast: &Cast) -> Option<Flexible> {
    // a beam that a modal body is made of is no member of its own
    let member = directory.member(&element.name)?;
    let reader = Reader::open(model, element);
    let color = |reader: &Reader| reader.material("material").ok().flatten()?.color.as_deref().and_then(hex);
    let name = element.name.clone();
    if element.kind == beam::KIND.name {
        let rest: Vec<Pose7> = member.bodies.clone().map(|id| rest(directory, id)).collect();
        // in the plane the section's height lies in the plane, its width along z: a quarter rotation about the beam
        let quarter = [0.5_f64.sqrt(), 0.5_f64.sqrt(), 0.0, 0.0];
        let planar = directory.space == Space::Planar;
        return Some(Flexible::Beam {
            name,
            nodes: member.bodies.clone().map(|id| cast.index_of(id)).collect(),
            frames: if planar { vec![quarter; rest.len()] } else { Vec::new() },
            section: section(model, &reader, length(&rest)),
            rest,
            color: color(&reader),
        });
    }
    if element.kind != modal::KIND.name {
        return None;
    }
    let floating = directory.floating.iter().find(|f| member.all.contains(&f.frame))?;
    let picture = &floating.picture;
    let mut lines: Vec<Vec<usize>> = Vec::new();
    for [a, b] in &picture.lines {
        match lines.last_mut() {
            Some(line) if line.last() == Some(a) => line.push(*b),
            _ => lines.push(vec![*a, *b]),
        }
    }
    let extent = picture.nodes.iter().flatten().fold(0.0_f64, |most, x| most.max(x.abs()));
    let members = reader.names("members").unwrap_or_default();
    let first = members.first().and_then(|(name, _)| model.flexible.iter().find(|e| e.name == *name));
    let first = first.map(|element| Reader::open(model, element));
    let source = first.as_ref().unwrap_or(&reader);
    Some(Flexible::Modal {
        body: cast.index_of(floating.frame),
        nodes: picture.nodes.clone(),
        lines,
        section: section(model, source, 2.0 * extent),
        modes: picture.modes.clone(),
        amplitudes: (1..=picture.modes.len()).map(|k| format!("{name}.eta{k}")).collect(),
        color: color(source),
        name,
    })
}

fn length(rest: &[Pose7]) -> f64 {
    let apart = |pair: &[Pose7]| (0..3).map(|k| (pair[1][k] - pair[0][k]).powi(2)).sum::<f64>().sqrt();
    rest.windows(2).map(apart).sum()
}
