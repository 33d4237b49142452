//! The bodies of a model, from their tables: pose, mass, inertia, markers.
//!
//! A body's frame has its origin O where the file says; the equations use its centre of mass C. In the model pose
//! p_C = p_O + R com. What is not given follows from the shapes: m = ρ V, com and I = m K from where their volume is
//! ([`crate::shapes`]); a bar without a shape has m l²/12 in the plane and is a rod of radius l/40 in space. An inertia
//! about O becomes the one about C by I_C = I_O - m (|com|² 1 - com comᵀ).
//!
//! Whatever follows is recorded for the resolved file as if it had been given, so that reading it again gives the same bits.

mod inertia;
mod markers;
#[cfg(test)]
mod tests;

use crate::body::{Body, BodyKind};
use crate::contact::{self, Touchable, surface::Surface};
use crate::shapes::{self, Distribution, Shape, rod};
use markers::Carrier;
use sarrus_math::{Mat3, Pose, Vec3};
use sarrus_model::record::ResolvedValue;
use sarrus_model::suggest::did_you_mean;
use sarrus_model::{Attachment, Diagnostic, Element, Frame, Key, KeyType, Model, Reader, Result};
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) use inertia::in_range;
pub use markers::MARKER_KEYS;

/// The kinds of body: name and one line on what it is.
pub const KINDS: &[(&str, &str)] =
    &[("rigid", "a rigid body"), ("point", "a point mass: it has no orientation and takes no torque")];

/// The keys of `[bodies.X]`.
pub const KEYS: &[Key] = &[
    Key::new(
        "kind",
        KeyType::Choice(&["rigid", "point"]),
        "rigid",
        "a point mass has no orientation and takes no torque",
    ),
    Key::new("from", KeyType::Point, "", "one end of a bar [m]: its origin is in the middle, x along it"),
    Key::new("to", KeyType::Point, "", "the other end of a bar [m]"),
    Key::new("at", KeyType::Point, "the world's origin", "the body's origin in the model pose [m]"),
    Key::new("angle", KeyType::Number, "0", "planar: angle of the body's x axis in the model pose [rad]"),
    Key::new(
        "orientation",
        KeyType::Orientation,
        "the world's axes",
        "spatial: orientation in the model pose",
    ),
    Key::new("mass", KeyType::Number, "volume of the shape times density of the material", "mass [kg]"),
    Key::new(
        "inertia",
        KeyType::Inertia,
        "that of the shape at this mass",
        "moments about the centre of mass, or the tensor, body axes [kg m²]; planar a number",
    ),
    Key::new("inertia_about", KeyType::Choice(ABOUT), "com", "what `inertia` is about"),
    Key::new(
        "com",
        KeyType::Local,
        "the shape's centre if it gives the inertia, else the origin",
        "centre of mass, body axes [m]",
    ),
    Key::new("material", KeyType::Name, "", "material: its density gives the mass"),
    Key::new(
        "shape",
        KeyType::Tables(shapes::KEYS),
        "bar: a rod, radius = length/40",
        "what it looks like, where its mass is",
    ),
    Key::new("markers", KeyType::Map(&KeyType::Table(MARKER_KEYS)), "", "named points or frames"),
];

/// The keys of `[ground]`.
pub const GROUND_KEYS: &[Key] = &[
    Key::new("markers", KeyType::Map(&KeyType::Table(MARKER_KEYS)), "", "named points or frames"),
    Key::new("shape", KeyType::Tables(shapes::KEYS), "", "what it looks like"),
];

const ABOUT: &[&str] = &["com", "origin"];

/// Errors that are reported at once: the hundred thousand links of a chain have the same one.
const MOST_ERRORS: usize = 20;

/// The bodies of a model; the first is the ground.
pub fn read_bodies(model: &Model) -> std::result::Result<Vec<Body>, Vec<Diagnostic>> {
    let mut attachments: HashMap<&str, Vec<&Attachment>> = HashMap::new();
    for attachment in &model.attachments {
        attachments.entry(&attachment.body).or_default().push(attachment);
    }
    let attached = |name: &str| attachments.get(name).map_or(&[][..], Vec::as_slice);

    let mut bodies = Vec::with_capacity(model.bodies.len() + 1);
    let mut errors = Vec::new();
    let mut ground = ground();
    match markers::attached(model, attached("ground"), &Carrier::ground()) {
        Ok((markers, surfaces)) => (ground.markers, ground.surfaces) = (markers, surfaces),
        Err(error) => errors.push(error),
    }
    bodies.push(ground);

    let (mut q, mut v) = (0, 0);
    for element in &model.bodies {
        match read_body(model, element, attached(&element.name)) {
            Ok(mut body) => {
                (body.q, body.v) = (q, v);
                q += body.kind.nq();
                v += body.kind.nv();
                bodies.push(body);
            }
            Err(error) => errors.push(error),
        }
        if errors.len() >= MOST_ERRORS {
            break;
        }
    }
    if errors.is_empty() { Ok(bodies) } else { Err(errors) }
}

/// The world as a body; its mass and inertia are never used.
fn ground() -> Body {
    Body {
        name: "ground".into(),
        kind: BodyKind::Ground,
        mass: 0.0,
        inertia: Mat3::identity(),
        com: [0.0; 3],
        q: 0,
        v: 0,
        start: ([0.0; 3], [1.0, 0.0, 0.0, 0.0], 0.0),
        markers: Vec::new(),
        between: None,
        shares: false,
        rotor: false,
        surfaces: Vec::new(),
    }
}

/// One body, without its index in q and v.
fn read_body(model: &Model, element: &Element, attachments: &[&Attachment]) -> Result<Body> {
    let reader = Reader::new(model, element, KEYS)?;
    if reader.has("enabled") {
        let error = reader.error("enabled", format!("{} cannot be switched off", reader.title()));
        return Err(error.hint("`if = \"…\"` leaves it out of the model"));
    }
    let kind = kind_of(&reader)?;
    refuse_keys(&reader, kind)?;

    let given = reader.body_frame()?;
    let frame = BodyOrigin::new(&given.frame, kind);
    if !kind.rotates() {
        // turned with its file, which a point does not show
        reader.unrecord("angle");
        reader.unrecord("orientation");
    }

    let shapes = shapes::read(&reader, given.length)?;
    let distribution = shapes::distribution(&reader, &shapes)?;
    let mass = read_mass(&reader, &shapes, distribution.as_ref())?;
    let (com, inertia) = if kind.rotates() {
        read_inertia(&reader, mass, distribution, given.length)?
    } else {
        ([0.0; 3], Mat3::identity())
    };
    if shapes.is_empty()
        && let Some(length) = given.length
    {
        let bar_alone = !attachments.iter().any(|a| a.shapes && a.element.table.get("shape").is_some());
        record_rod(&reader, length, bar_alone);
    }

    let p = frame.pose.point(&com).0;
    if !p.iter().all(|x| x.is_finite()) {
        return Err(
            reader.element_error(format!("{} is too far away: its position is not finite", reader.title()))
        );
    }
    let carrier = Carrier::body(&element.name, kind, frame.pose);
    let mut markers = markers::own(&reader, &carrier)?;
    let (attached, more) = markers::attached(model, attachments, &carrier)?;
    markers.extend(attached);
    let material = reader.material("material")?;
    let touches = !model.contacts.is_empty();
    let mut surfaces = if touches { contact::touchable(&shapes, material.as_ref()) } else { Vec::new() };
    if let (true, true, Some(length)) = (touches, shapes.is_empty(), given.length) {
        // the rod that it is drawn as
        let geometry = rod::geometry(length, rod::of_bar(length).0, reader.is_planar());
        let surface = Surface { geometry, p: [0.0; 3], rot: Mat3::identity() };
        surfaces.push(Touchable { name: None, surface, material: material.map(Arc::new) });
    }
    surfaces.extend(more);
    // they are given from the origin
    for own in &mut surfaces {
        own.surface.p = [0, 1, 2].map(|i| own.surface.p[i] - com[i]);
    }
    Ok(Body {
        name: element.name.clone(),
        kind,
        mass,
        inertia,
        com,
        q: 0,
        v: 0,
        start: (p, frame.quaternion, frame.pose.angle),
        markers,
        between: None,
        shares: false,
        rotor: false,
        surfaces,
    })
}

/// Marks where a body's origin is in the model pose.
struct BodyOrigin {
    pose: Pose,
    quaternion: [f64; 4],
}

impl BodyOrigin {
    fn new(frame: &Frame, kind: BodyKind) -> Self {
        let p = Vec3(frame.p);
        match kind {
            BodyKind::Rigid | BodyKind::RigidEuler => {
                BodyOrigin { pose: Pose::from_quat(frame.p, frame.q), quaternion: frame.q }
            }
            // the angle alone says how it is turned: the resolved file has nothing else
            BodyKind::PlanarRigid => {
                let (sin, cos) = (0.5 * frame.angle).sin_cos();
                let pose = Pose { p, rot: Mat3::rot_z(frame.angle), angle: frame.angle };
                BodyOrigin { pose, quaternion: [cos, 0.0, 0.0, sin] }
            }
            BodyKind::Ground | BodyKind::Point | BodyKind::PlanarPoint => {
                BodyOrigin { pose: Pose { p, ..Pose::identity() }, quaternion: [1.0, 0.0, 0.0, 0.0] }
            }
        }
    }
}

fn kind_of(reader: &Reader) -> Result<BodyKind> {
    match (reader.text("kind")?.unwrap_or("rigid"), reader.is_planar()) {
        ("rigid", false) => Ok(BodyKind::Rigid),
        ("rigid", true) => Ok(BodyKind::PlanarRigid),
        ("point", false) => Ok(BodyKind::Point),
        ("point", true) => Ok(BodyKind::PlanarPoint),
        (other, _) => {
            let hint = did_you_mean(other, KINDS.iter().map(|(name, _)| *name));
            let hint = hint.unwrap_or_else(|| "one of: rigid point".into());
            Err(reader.error("kind", format!("`kind` of {} cannot be `{other}`", reader.title())).hint(hint))
        }
    }
}

/// Refuses keys that mean nothing for this kind of body in this space.
fn refuse_keys(reader: &Reader, kind: BodyKind) -> Result<()> {
    if !kind.rotates() {
        for key in ["from", "to", "angle", "orientation", "inertia", "inertia_about", "com"] {
            if reader.has(key) {
                let message = format!("{} is a point mass: it has no `{key}`", reader.title());
                let hint = if key == "from" || key == "to" {
                    "give its place by `at`"
                } else {
                    "leave it out, or make the body `rigid`"
                };
                return Err(reader.error(key, message).hint(hint));
            }
        }
    }
    let (wrong, right, space) = match reader.is_planar() {
        true => ("orientation", "angle", "planar"),
        false => ("angle", "orientation", "spatial"),
    };
    if reader.has(wrong) {
        let message = format!("{} has no `{wrong}`: the space is {space}", reader.title());
        return Err(reader.error(wrong, message).hint(format!("use `{right}`")));
    }
    if reader.has("inertia_about") && !reader.has("inertia") {
        let message = format!("{} says `inertia_about` but gives no `inertia`", reader.title());
        return Err(reader
            .error("inertia_about", message)
            .hint("give `inertia`, or leave `inertia_about` out"));
    }
    Ok(())
}

/// `mass`, or that of the shapes.
fn read_mass(reader: &Reader, shapes: &[Shape], distribution: Option<&Distribution>) -> Result<f64> {
    let material = reader.material("material")?;
    if let Some(mass) = reader.number_opt("mass")? {
        if mass <= 0.0 {
            let message = format!("`mass` of {} must be positive, it is {mass}", reader.title());
            let hint = "what has no mass is no body: give it a small one, or join its neighbours directly";
            return Err(reader.error("mass", message).hint(hint));
        }
        return inertia::in_range(mass).ok_or_else(|| out_of_range(reader, "mass", mass));
    }

    let missing = reader.missing("mass");
    let Some(distribution) = distribution else {
        let hint = match shapes {
            [] => "`mass`, or a `shape` and a `material` with a density",
            _ => "its shapes have none: their kind or their `role` says so",
        };
        return Err(missing.hint(hint));
    };
    let Some(material) = material else {
        return Err(missing.hint("or a `material`: its density times the volume of the shape"));
    };
    let Some(density) = material.density else {
        let message = format!("{} needs `mass`: material `{}` has no density", reader.title(), material.name);
        return Err(reader.error("material", message).hint("give `mass`, or the material a `density`"));
    };
    let Some(volume) = distribution.volume else {
        let hint = if reader.is_planar() {
            "a planar shape has no volume: give `mass`, or a disc its `thickness`"
        } else {
            "a disc without `thickness` has no volume"
        };
        return Err(missing.hint(hint));
    };
    let mass =
        inertia::in_range(density * volume).ok_or_else(|| out_of_range(reader, "shape", density * volume))?;
    reader.record("mass", || ResolvedValue::Number(mass));
    Ok(mass)
}

fn out_of_range(reader: &Reader, key: &str, mass: f64) -> Diagnostic {
    let message = format!(
        "{} cannot have a mass of {mass:e} kg: numbers of this size cannot be computed with",
        reader.title()
    );
    reader.error(key, message).hint("check the units")
}

/// Centre of mass, and the inertia about it.
fn read_inertia(
    reader: &Reader,
    mass: f64,
    distribution: Option<Distribution>,
    bar: Option<f64>,
) -> Result<([f64; 3], Mat3)> {
    let planar = reader.is_planar();
    let com = reader.own_point("com")?;
    let about_origin = reader.choice("inertia_about", ABOUT)? == Some(1);
    if let Some(given) = reader.inertia("inertia")? {
        let com = com.unwrap_or_default();
        let mut I = inertia::tensor(given);
        if about_origin {
            I = inertia::about_centre(I, mass, com, planar);
        }
        inertia::check(reader, &I, about_origin)?;
        return Ok((com, I));
    }

    // the density is uniform, so the shapes say where the centre is too
    let (centre, k2) = match (distribution, bar) {
        (Some(distribution), _) => (distribution.centre, distribution.k2),
        (None, Some(l)) if planar => ([0.0; 3], inertia::diagonal([l * l / 12.0; 3])),
        (None, Some(l)) => ([0.0; 3], inertia::diagonal(rod::of_bar(l).1.k2)),
        (None, None) => return Err(missing_inertia(reader)),
    };
    let I = inertia::scaled(&k2, mass, planar);
    inertia::check(reader, &I, false)?;
    inertia::record(reader, &I);
    if com.is_none() && centre != [0.0; 3] {
        reader.record("com", || ResolvedValue::vector(centre, planar));
    }
    Ok((com.unwrap_or(centre), I))
}

fn missing_inertia(reader: &Reader) -> Diagnostic {
    let hint = if reader.is_planar() {
        "`inertia = 0.1` (kg m², about the centre of mass), a shape such as `{ kind = \"disc\", radius = 0.1 }`, or `kind = \"point\"`"
    } else {
        "`inertia = [Ixx, Iyy, Izz]` (kg m², about the centre of mass), a shape such as `{ kind = \"sphere\", radius = 0.1 }`, \
         or `kind = \"point\"`"
    };
    reader.element_error(format!("{} needs `inertia` or a `shape` that gives it", reader.title())).hint(hint)
}

/// Notes the rod that a bar is where the resolved file has no bar, or shapes beside it.
fn record_rod(reader: &Reader, length: f64, bar_alone: bool) {
    if bar_alone && reader.transform().is_identity() {
        return;
    }
    reader.record("shape", || {
        let (radius, _) = rod::of_bar(length);
        let entries = [
            ("kind", ResolvedValue::Text("rod".into())),
            ("length", ResolvedValue::Number(length)),
            ("radius", ResolvedValue::Number(radius)),
        ];
        ResolvedValue::Table(entries.map(|(key, value)| (key.to_owned(), value)).to_vec())
    });
}
