//! The forces. One file each, one line each in [`KINDS`].
//!
//! `nonideal = true` makes a force C instead of Q: the constraints' own, which does work in the motions that they allow
//! \[Udwadia2006\]. M v̇ = Q + C - Jᵀλ, so it acts as any other, and its power is booked; it is marked for reports.

mod actuator;
mod along;
mod buoyancy;
mod bushing;
mod clearance;
mod closure;
mod drag;
mod field;
mod flanks;
mod force;
mod friction;
mod immersion;
mod joint_spring;
mod spring;
mod stops;
mod tension;
mod torque;
mod vector;

pub(crate) use bushing::{Bushing, half_rotation, rotated, rotation_of_half};
pub use clearance::{CLEARANCE_OPTION, Clearance, has_clearance};
pub use closure::ClosureForce;
pub use flanks::Flanks;
pub use friction::reactive as reactive_friction;
pub use joint_spring::{
    BALL_KEYS, COORDINATE_KEYS, JOINT_OPTION_KEYS, has_isotropic_friction, joint_springs,
};
pub use stops::{StopLimits, rigid as rigid_limits};

use crate::added_mass::AddedMass;
use crate::context::Context;
use crate::load::Load;
use crate::names::{Directory, Named};
use sarrus_math::Real;
use sarrus_model::suggest::did_you_mean;
use sarrus_model::{Element, Key, KeyType, Model, Reader, Result};
use std::sync::Arc;

/// Describes what force files use.
mod prelude {
    pub use super::along::LineOfAction;
    pub(crate) use super::at_most;
    pub use super::vector::VectorFormula;
    pub use super::{BuiltForce, ForceKind};
    pub use crate::at::At;
    pub use crate::context::Context;
    pub use crate::formula::{Formula, ReadLevel};
    pub use crate::load::{Force, Wrench};
    pub use crate::names::Named;
    pub use crate::signal::Signal;
    pub use sarrus_math::{Mat3, Pose, Real, Vec3};
    pub use sarrus_model::reader::ComponentMap;
    pub use sarrus_model::{Key, KeyType, Reader, Result};
    pub use sarrus_solve::tables::{LoadKind, LoadRecord};
}

/// A damping force of a one-sided spring, at most as large as the elastic one: the spring never pulls what it can only push.
pub(crate) fn at_most<R: Real>(elastic: R, damping: R) -> R {
    let (size, limit) = (damping.value(), elastic.value().abs());
    if size.abs() <= limit {
        damping
    } else if (size > 0.0) == (elastic.value() > 0.0) {
        elastic
    } else {
        -elastic
    }
}

/// Of an expression that is nowhere cut off.
pub(crate) const NO_LIMITS: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// A registered kind of force.
pub struct ForceKind {
    /// Name in model files.
    pub name: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// Examples in a planar model with bodies `a`, `b`, the point `dot`, the hinge `h` between the first two, and the fluids
    /// `water`, `stream` (which flows) and `sea` (with a surface), for the conformance test.
    pub planar: &'static [&'static str],
    /// Examples in a spatial model, likewise.
    pub spatial: &'static [&'static str],
    /// Reads one.
    pub read: fn(&mut Context) -> Result<BuiltForce>,
}

/// A force that was read.
#[derive(Clone)]
pub struct BuiltForce {
    /// Its bodies; those that only its expressions read come last.
    pub ids: Vec<u32>,
    /// Holds what it does.
    pub load: Arc<dyn Load>,
    /// Holds what its name stands for in expressions, where it can be read.
    pub named: Option<Named>,
    /// True if it is the constraints' own force beside -Jᵀλ, such as friction in a guide.
    pub nonideal: bool,
    /// Added mass that each of its bodies has from it.
    pub added_mass: AddedMass,
}

impl BuiltForce {
    /// A force on the bodies `ids`.
    pub fn new(ids: Vec<u32>, load: impl Load + 'static) -> Self {
        BuiltForce::of(ids, Arc::new(load))
    }

    /// A force that is shared.
    pub(crate) fn of(ids: Vec<u32>, load: Arc<dyn Load>) -> Self {
        BuiltForce { ids, load, named: None, nonideal: false, added_mass: AddedMass::default() }
    }
}

/// Every kind of force, in the order of `sarrus list forces`.
pub static KINDS: &[ForceKind] = &[
    force::KIND,
    torque::KIND,
    actuator::KIND,
    spring::KIND,
    bushing::KIND,
    drag::KIND,
    buoyancy::KIND,
    field::KIND,
];

/// Keys that every force takes.
pub static COMMON_KEYS: &[Key] =
    &[Key::new("nonideal", KeyType::Flag, "false", "whether it is the constraints' own non-ideal force")];

/// The kind of an element of `[forces]`.
pub fn kind(model: &Model, element: &Element) -> Result<&'static ForceKind> {
    let name = element.kind.as_str();
    if let Some(kind) = KINDS.iter().find(|kind| kind.name == name) {
        return Ok(kind);
    }
    let reader = Reader::open(model, element);
    let names = || KINDS.iter().map(|kind| kind.name);
    let known = || format!("one of: {}", names().collect::<Vec<_>>().join(" "));
    if name.is_empty() {
        return Err(reader.missing("kind").hint(known()));
    }
    let message = format!("{}: there is no force of kind `{name}`", reader.title());
    Err(reader.error("kind", message).hint(did_you_mean(name, names()).unwrap_or_else(known)))
}

/// Reads an element of `[forces]`.
pub fn read(model: &Model, directory: &Directory, element: &Element) -> Result<BuiltForce> {
    let kind = kind(model, element)?;
    let keys = [kind.keys, COMMON_KEYS].concat();
    let mut ctx = Context::new(Reader::new(model, element, &keys)?, directory);
    let nonideal = ctx.reader.flag_or("nonideal", false)?;
    Ok(BuiltForce { nonideal, ..(kind.read)(&mut ctx)? })
}
