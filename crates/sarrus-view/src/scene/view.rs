//! `[view]`: points whose paths are drawn, the body that is followed, where the camera stands.

use super::{Cast, Point3};
use sarrus::model::settings::VIEW_KEYS;
use sarrus::model::suggest::did_you_mean;
use sarrus::model::{Diagnostic, Key, KeyType, Model, Reader, Result, Span};
use sarrus::system::Directory;
use serde::Serialize;

/// Holds what `[view]` asks for.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ViewSettings {
    /// Points whose paths are drawn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<Trace>,
    /// The body that the camera follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow: Option<i32>,
    /// Marks where the camera stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<Camera>,
}

/// A point whose path is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trace {
    /// As the file has it.
    pub name: String,
    /// Its body.
    pub body: i32,
    /// Marks where it is on it \[m\].
    pub on: Point3,
}

/// A camera in the world \[m\].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Camera {
    /// Marks where it is.
    pub from: Point3,
    /// Holds what it checks.
    pub to: Point3,
}

const CAMERA_KEYS: &[Key] = &[
    Key::new("from", KeyType::Numbers, "", "where the camera is, x y z in the world [m]"),
    Key::new("to", KeyType::Numbers, "[0, 0, 0]", "what it looks at [m]"),
];

pub(super) fn read(model: &Model, directory: &Directory, cast: &Cast) -> Result<ViewSettings> {
    let reader = Reader::new(model, &model.view, VIEW_KEYS)?;
    let trace = reader.names("trace")?.into_iter().map(|(name, span)| {
        let (id, on) = point(&reader, directory, &name, span)?;
        Ok(Trace { body: cast.index_of(id), on, name })
    });
    let trace = trace.collect::<Result<Vec<_>>>()?;
    let follow = match reader.name("follow")? {
        None => None,
        Some((name, span)) => match directory.body(&name) {
            Some(id) if id != 0 => Some(cast.index_of(id)),
            _ => return Err(no_body(&reader, directory, &name, span)),
        },
    };
    Ok(ViewSettings { trace, follow, camera: camera(&reader)? })
}

/// `crank`, `crank.tip`, `arm.end`: a body and a point of it.
fn point(reader: &Reader, directory: &Directory, name: &str, span: Span) -> Result<(u32, Point3)> {
    if let Some(id) = directory.body(name) {
        return Ok((id, [0.0; 3]));
    }
    // names may have dots themselves: the longest that is a body wins
    for (at, _) in name.rmatch_indices('.') {
        let Some(id) = directory.body(&name[..at]) else { continue };
        let (body, marker) = (&directory.bodies[id as usize], &name[at + 1..]);
        if let Some((_, on)) = body.markers.iter().find(|(m, _)| m == marker) {
            return Ok((id, *on));
        }
        let known = body.markers.iter().map(|(m, _)| m.as_str());
        let hint = did_you_mean(marker, known.clone()).unwrap_or_else(|| match body.markers.is_empty() {
            true => format!(
                "it has none; `[bodies.{}.markers]` makes one, `{}` alone is its origin",
                body.name, body.name
            ),
            false => format!("it has: {}", known.collect::<Vec<_>>().join(" ")),
        });
        return Err(reader.at(span, format!("body `{}` has no marker `{marker}`", body.name)).hint(hint));
    }
    Err(no_body(reader, directory, name, span))
}

fn no_body(reader: &Reader, directory: &Directory, name: &str, span: Span) -> Diagnostic {
    let bodies = directory.bodies.iter().skip(1).filter(|b| !b.is_internal()).map(|b| b.name.as_str());
    let hint = did_you_mean(name, bodies).unwrap_or_else(|| "a body, or a marker such as `crank.tip`".into());
    reader.at(span, format!("`{name}` of [view] is no body of the model")).hint(hint)
}

fn camera(reader: &Reader) -> Result<Option<Camera>> {
    if !reader.has("camera") {
        return Ok(None);
    }
    let hint = "such as `camera = { from = [2, -3, 1.5], to = [0, 0, 0] }`, in m";
    let sub = reader.sub("camera", CAMERA_KEYS).map_err(|_| {
        reader.error("camera", "`camera` of [view] must be a table with `from` and `to`").hint(hint)
    })?;
    let Some(sub) = sub else { return Ok(None) };
    let three = |key: &str| match sub.numbers(key)?.as_deref() {
        None => Ok(None),
        Some([x, y, z]) => Ok(Some([*x, *y, *z])),
        Some(other) => {
            let message = format!("`{key}` of the camera needs three numbers, it has {}", other.len());
            Err(sub.error(key, message).hint(hint))
        }
    };
    let Some(from) = three("from")? else { return Err(sub.missing("from").hint(hint)) };
    let to = three("to")?.unwrap_or_default();
    if from == to {
        return Err(sub.error("from", "the camera stands where it looks at").hint(hint));
    }
    Ok(Some(Camera { from, to }))
}
