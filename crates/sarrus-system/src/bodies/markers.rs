//! Markers: named points of a body, its own and those that an included file brings.

use super::GROUND_KEYS;
use crate::body::BodyKind;
use crate::contact::{self, Touchable};
use crate::shapes;
use sarrus_math::{Pose, Vec3};
use sarrus_model::expr::is_name;
use sarrus_model::record::{KeyPath, ResolvedValue};
use sarrus_model::{Attachment, Key, KeyType, Model, Reader, Result, Section};
use std::collections::HashSet;

/// The keys of a marker.
pub const MARKER_KEYS: &[Key] = &[
    Key::new("at", KeyType::Point, "", "where it is in the model pose [m]"),
    Key::new("on", KeyType::Local, "", "where it is on the body [m]"),
    Key::new("orientation", KeyType::Orientation, "the body's axes", "its axes in the model pose"),
    Key::new("orientation_on", KeyType::Orientation, "the body's axes", "its axes on the body"),
];

/// Readable as `body.x` and so on; a marker of such a name would hide them.
const RESERVED: &[&str] = &[
    "x", "y", "z", "q0", "q1", "q2", "q3", "angle", "vx", "vy", "vz", "wx", "wy", "wz", "rate", "velocity",
    "omega", "omega_on",
];

/// Name and place, from the body's origin \[m\].
pub type Markers = Vec<(String, [f64; 3])>;

/// Holds what markers are put on.
pub struct Carrier<'a> {
    name: &'a str,
    kind: BodyKind,
    /// Of its origin, in the model pose.
    pose: Pose,
}

impl<'a> Carrier<'a> {
    /// The world.
    pub fn ground() -> Self {
        Carrier { name: "ground", kind: BodyKind::Ground, pose: Pose::identity() }
    }

    /// A body whose origin has `pose` in the model pose.
    pub fn body(name: &'a str, kind: BodyKind, pose: Pose) -> Self {
        Carrier { name, kind, pose }
    }

    fn local(&self, p_W: [f64; 3]) -> [f64; 3] {
        self.pose.to_local(Vec3(p_W) - self.pose.p).0
    }

    /// Refuses a place beside a point mass, which has no orientation to carry it.
    fn marker_point(&self, marker: &Reader, key: &str, p: [f64; 3]) -> Result<[f64; 3]> {
        if !matches!(self.kind, BodyKind::Point | BodyKind::PlanarPoint) {
            return Ok(p);
        }
        if Vec3(p).norm() > 1e-9 * (1.0 + self.pose.p.norm()) {
            let message = format!(
                "{}: body `{}` is a point mass and carries nothing beside it",
                marker.title(),
                self.name
            );
            return Err(marker.error(key, message).hint("make the body `rigid`"));
        }
        Ok([0.0; 3])
    }
}

/// The markers that a body's own table gives it.
pub fn own(reader: &Reader, carrier: &Carrier) -> Result<Markers> {
    let mut markers = Markers::new();
    for (name, marker) in read(reader, carrier)? {
        let p = match marker.require_one_of(&["at", "on"])? {
            "at" => {
                carrier.marker_point(&marker, "at", carrier.local(marker.point("at")?.unwrap_or_default()))?
            }
            _ => carrier.marker_point(&marker, "on", marker.own_point("on")?.unwrap_or_default())?,
        };
        marker.orientation("orientation")?;
        marker.orientation_on("orientation_on")?;
        markers.push((name, p));
    }
    Ok(markers)
}

/// The markers that a body gets from `[ground]`, from an included file's ground or from a body that it replaces, and the surfaces,
/// from its origin. Shapes that come along change nothing about the mass of a body.
pub fn attached(
    model: &Model,
    attachments: &[&Attachment],
    carrier: &Carrier,
) -> Result<(Markers, Vec<Touchable>)> {
    let (mut markers, mut surfaces) = (Markers::new(), Vec::new());
    for attachment in attachments {
        // a replaced body keeps its table, which has a body's keys
        let reader = if attachment.shapes {
            Reader::new(model, &attachment.element, GROUND_KEYS)?
        } else {
            Reader::new(model, &attachment.element, super::KEYS)?
        };
        if attachment.shapes {
            let shapes = shapes::attached(&reader, attachment, &carrier.pose)?;
            surfaces.extend(contact::touchable(&shapes, None));
        }
        for (name, marker) in read(&reader, carrier)? {
            let key = marker.require_one_of(&["at", "on"])?;
            let p_W = match key {
                "at" => marker.point("at")?.unwrap_or_default(),
                _ => attachment.frame.point(marker.own_point("on")?.unwrap_or_default()),
            };
            let p = carrier.marker_point(&marker, key, carrier.local(p_W))?;
            let orientation = match marker.orientation_on("orientation_on")? {
                Some(q) => Some(sarrus_math::quat_mul(&attachment.frame.q, &q)),
                None => marker.orientation("orientation")?,
            };
            let name = format!("{}{name}", attachment.prefix);
            if !attachment.prefix.is_empty() && attachment.shapes {
                for key in ["at", "orientation_on"] {
                    marker.unrecord(key);
                }
                marker.record("on", || ResolvedValue::vector(p, model.is_planar()));
                if let Some(q) = orientation {
                    marker.record("orientation", || ResolvedValue::numbers(&q));
                }
            } else if !attachment.prefix.is_empty() {
                record(model, carrier, &name, p, orientation);
            }
            markers.push((name, p));
        }
    }
    Ok((markers, surfaces))
}

/// The tables of `markers`, their names checked.
fn read<'a>(reader: &Reader<'a>, carrier: &Carrier) -> Result<Vec<(String, Reader<'a>)>> {
    let tables = reader.map_of_tables("markers", MARKER_KEYS)?;
    let mut seen = HashSet::with_capacity(tables.len());
    for (name, marker) in &tables {
        // the resolved file has names with dots, from included files
        let problem = if !name.split('.').all(is_name) {
            format!("{}: `{name}` is not a name", marker.title())
        } else if RESERVED.contains(&name.as_str()) {
            format!(
                "body `{}` cannot have a marker `{name}`: `{}.{name}` is the body's own",
                carrier.name, carrier.name
            )
        } else if !seen.insert(name) {
            format!("body `{}` has two markers `{name}`", carrier.name)
        } else {
            marker.one_of(&["orientation", "orientation_on"])?;
            for key in ["if", "enabled", "kind"] {
                if marker.has(key) {
                    return Err(marker.error(key, format!("{} has no key `{key}`", marker.title())));
                }
            }
            continue;
        };
        return Err(marker.element_error(problem).hint("choose another name"));
    }
    Ok(tables)
}

/// Writes a marker of a replaced body to the body that carries it in the resolved file.
fn record(model: &Model, carrier: &Carrier, name: &str, p: [f64; 3], orientation: Option<[f64; 4]>) {
    let Some(Ok(mut recorder)) = model.recorder.as_ref().map(|recorder| recorder.lock()) else { return };
    let section = if carrier.kind == BodyKind::Ground { Section::Ground } else { Section::Bodies };
    let path_of = |key: &str| KeyPath {
        section,
        element: carrier.name.to_owned(),
        path: vec!["markers".into(), name.to_owned(), key.to_owned()],
    };
    recorder.insert(&path_of("on"), ResolvedValue::vector(p, model.is_planar()));
    if let Some(q) = orientation {
        recorder.insert(&path_of("orientation"), ResolvedValue::numbers(&q));
    }
}
