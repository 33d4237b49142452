//! Spring and damper of a joint coordinate, written as options of the joint.

use super::friction::{FRICTION_KEYS, constant, constant_ball};
use super::prelude::*;
use super::spring::{Spring, linear};
use super::stops::{STOP_KEYS, springy};
use super::tension::{Only, Tension};
use crate::names::JointEntry;

/// Options of a joint coordinate: on the joint itself, or in a table named after the coordinate.
pub static JOINT_OPTION_KEYS: &[Key] = &[
    Key::new(
        "reads",
        KeyType::Number,
        "0; of a planar revolute joint the angle between the bodies",
        "what the coordinate reads in the model pose [m, rad]",
    ),
    Key::new("stiffness", KeyType::Number, "0", "of a spring along the coordinate [N/m, N m/rad]"),
    Key::new("rest", KeyType::Number, "reading in the model pose", "where that spring is slack [m, rad]"),
    Key::new("damping", KeyType::Number, "0", "of a damper along the coordinate [N s/m, N m s/rad]"),
    Key::new("lock_at", KeyType::Number, "never", "value at which the coordinate locks for good [m, rad]"),
    Key::new("limits", KeyType::Numbers, "none", "lowest and highest value; `inf` for none [m, rad]"),
    Key::new("stop", KeyType::Table(STOP_KEYS), "restitution = 0", "what is at the limits"),
    Key::new("friction", KeyType::Table(FRICTION_KEYS), "none", "of the reaction, or constant"),
    Key::new(
        "armature",
        KeyType::Number,
        "0",
        "inertia of the coordinate itself, as of a geared rotor [kg, kg m^2]",
    ),
];

/// Tables of options by coordinate, for joints with several.
pub static COORDINATE_KEYS: &[Key] = &[
    Key::new("position", KeyType::Table(JOINT_OPTION_KEYS), "", "options of this coordinate"),
    Key::new("angle", KeyType::Table(JOINT_OPTION_KEYS), "", "options of this coordinate"),
    Key::new("angle1", KeyType::Table(JOINT_OPTION_KEYS), "", "options of this coordinate"),
    Key::new("angle2", KeyType::Table(JOINT_OPTION_KEYS), "", "options of this coordinate"),
    Key::new("x", KeyType::Table(JOINT_OPTION_KEYS), "", "options of this coordinate"),
    Key::new("y", KeyType::Table(JOINT_OPTION_KEYS), "", "options of this coordinate"),
];

/// Springs and dampers of a joint whose table `ctx` has open; `joint` is its index in the directory. Each has the name
/// of the joint, with several coordinates `A.angle`.
pub fn joint_springs(ctx: &Context, joint: usize) -> Result<Vec<(String, BuiltForce)>> {
    let entry = &ctx.directory.joints[joint];
    let coordinates = entry.face.coordinates();
    let mut springs = Vec::new();
    if let [_] = coordinates {
        springs.extend(spring(ctx, &ctx.reader, joint, 0)?.map(|built| (entry.name.clone(), built)));
        springs.extend(companion_forces(ctx, &ctx.reader, joint, 0, &entry.name)?);
    } else if let Some(key) = options().find(|key| ctx.reader.has(key.name) && !is_of_ball(entry, key)) {
        let message = match coordinates.len() {
            0 => format!("{} has no coordinate for `{}`", ctx.reader.title(), key.name),
            n => format!("{} has {n} coordinates: `{}` belongs to one of them", ctx.reader.title(), key.name),
        };
        let tables: Vec<String> =
            coordinates.iter().map(|c| format!("`{} = {{ {} = … }}`", c.name, key.name)).collect();
        let hint = (!tables.is_empty()).then(|| format!("write {}", tables.join(" or ")));
        return Err(ctx.reader.error(key.name, message).maybe_hint(hint));
    }
    if has_isotropic_friction(entry.face.kind()) {
        let friction = constant_ball(ctx, joint)?;
        springs.extend(friction.map(|built| (format!("{}.friction", entry.name), built)));
    }
    for key in COORDINATE_KEYS.iter().filter(|key| ctx.reader.has(key.name)) {
        let Some(k) = entry.find(key.name).filter(|_| coordinates.len() > 1) else {
            let message = format!("{} takes no table `{}`", ctx.reader.title(), key.name);
            let hint = match coordinates {
                [_] => "it has one coordinate: write its options on the joint itself".to_owned(),
                [] => "it has no coordinates with options".to_owned(),
                list => format!("it has {}", list.iter().map(|c| c.name).collect::<Vec<_>>().join(", ")),
            };
            return Err(ctx.reader.error(key.name, message).hint(hint));
        };
        if let Some(reader) = ctx.reader.sub(key.name, JOINT_OPTION_KEYS)? {
            let name = format!("{}.{}", entry.name, key.name);
            let beside = companion_forces(ctx, &reader, joint, k, &name)?;
            springs.extend(spring(ctx, &reader, joint, k)?.map(|built| (name, built)));
            springs.extend(beside);
        }
    }
    Ok(springs)
}

/// Springy stops and constant friction of a coordinate.
fn companion_forces(
    ctx: &Context,
    reader: &Reader,
    joint: usize,
    k: usize,
    name: &str,
) -> Result<Vec<(String, BuiltForce)>> {
    let stop = springy(ctx, reader, joint, k)?.map(|built| (format!("{name}.stop"), built));
    let friction = constant(ctx, reader, joint, k)?.map(|built| (format!("{name}.friction"), built));
    Ok(stop.into_iter().chain(friction).collect())
}

/// Returns whether a joint takes `friction` though it has no single coordinate: against every turn.
pub fn has_isotropic_friction(kind: &str) -> bool {
    kind == "spherical"
}

fn is_of_ball(entry: &JointEntry, key: &Key) -> bool {
    key.name == "friction" && has_isotropic_friction(entry.face.kind())
}

/// The key `friction` of such a joint.
pub static BALL_KEYS: &[Key] =
    &[Key::new("friction", KeyType::Table(FRICTION_KEYS), "none", "of the reaction, or constant")];

fn options() -> impl Iterator<Item = &'static Key> {
    JOINT_OPTION_KEYS.iter()
}

/// The spring that `reader` describes, where it describes one.
fn spring(ctx: &Context, reader: &Reader, joint: usize, k: usize) -> Result<Option<BuiltForce>> {
    let (ids, along) = LineOfAction::of_joint(ctx, joint, k);
    let Some(law) = linear(ctx, reader, &along, &ids, 0.0)? else { return Ok(None) };
    Ok(Some(BuiltForce::new(ids, Spring { along, tension: Tension { law, only: Only::Both } })))
}
