//! Flexible members. One file each, one line each in [`KINDS`].
//!
//! A member becomes bodies, named after it (`arm.node0`, `rod.seg1`), with rows, joints and forces between them. Wherever the model asks
//! for a body they are bodies like any other; `X` alone stands for all of them where a list is asked for. A kind that needs points
//! that carry mass but are no bodies of the model marks them as internal ([`Body::between`]): they count in energies and
//! momenta and show nowhere.

pub mod beam;
mod mesh;
pub mod modal;
mod properties;
pub mod section;
pub mod segmented_rod;

use crate::bodies::in_range;
use crate::body::Body;
use crate::constraint::Rows;
use crate::joint::{Frames, JointFace};
use crate::load::Load;
use modal::floating::Floating;
use sarrus_model::model::BodyPlacement;
use sarrus_model::transform::Frame;
use sarrus_model::{Diagnostic, Element, Key, Model, Reader, Result};
use section::BeamSection;
use std::collections::HashMap;
use std::sync::Arc;

/// Describes what files of members use.
mod prelude {
    pub use super::mesh::{MemberLine, Station};
    pub use super::properties::Properties;
    pub use super::section::BeamSection;
    pub use super::{Member, MemberForce, MemberJoint, MemberKind, MemberRows};
    pub use crate::body::{Body, BodyKind};
    pub use sarrus_math::Mat3;
    pub use sarrus_model::{Key, KeyType, Reader, Result};
    pub use std::sync::Arc;
}

/// A registered kind of member.
pub struct MemberKind {
    /// Name in model files.
    pub name: &'static str,
    /// One line on what it is.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// Examples in a planar model with the sections `s` (given) and the material steel.
    pub planar: &'static [&'static str],
    /// Examples in a spatial model, likewise.
    pub spatial: &'static [&'static str],
    /// Reads one.
    pub read: fn(&Reader, &[BeamSection]) -> Result<Member>,
}

/// Every kind of member, in the order of `sarrus list flexible`.
pub static KINDS: &[MemberKind] = &[beam::KIND, segmented_rod::KIND, modal::KIND];

/// Rows between bodies of a member, which no user wrote.
pub struct MemberRows {
    /// Name.
    pub name: String,
    /// Bodies, as places in [`Member::bodies`].
    pub bodies: Vec<usize>,
    /// The rows.
    pub rows: Arc<dyn Rows>,
}

/// A joint between two bodies of a member.
pub struct MemberJoint {
    /// Name.
    pub name: String,
    /// Bodies, as places in [`Member::bodies`].
    pub bodies: [usize; 2],
    /// Holds what it does; it reads 0 in the model pose.
    pub face: Arc<dyn JointFace>,
    /// Its frames.
    pub frames: Frames,
}

/// A force between bodies of a member.
pub struct MemberForce {
    /// Name, that its readings go by.
    pub name: String,
    /// Bodies, as places in [`Member::bodies`].
    pub bodies: Vec<usize>,
    /// Holds what it does.
    pub load: Arc<dyn Load>,
}

/// A member that was read.
pub struct Member {
    /// Its full name.
    pub name: String,
    /// Its bodies in order, with their full names; the internal ones last.
    pub bodies: Vec<Body>,
    /// Describes how many of them are bodies of the model.
    pub visible: usize,
    /// Holds what its bodies are called after the dot, with their number: `node`, `seg`.
    pub part: &'static str,
    /// The number of the first.
    pub first: usize,
    /// In a mirrored file, the frames that it means by those of the bodies.
    pub mirrored: Vec<Frame>,
    /// Rows.
    pub rows: Vec<MemberRows>,
    /// Joints.
    pub joints: Vec<MemberJoint>,
    /// Forces.
    pub forces: Vec<MemberForce>,
    /// Of a modal body its frame and amplitudes, by index in [`Member::bodies`] until the member has its number.
    pub floating: Option<Floating>,
    /// Nodes of a modal body that are shown, by their names in it.
    pub shown: Vec<(String, Arc<modal::shapes::Shapes>)>,
    /// Number of its first body in the system.
    pub id: u32,
}

impl Member {
    /// Numbers of bodies in the system from places in [`Member::bodies`].
    pub fn ids(&self, indices: &[usize]) -> Vec<u32> {
        indices.iter().map(|&index| self.id + index as u32).collect()
    }

    /// Its bodies by number: those of the model, and all.
    pub fn numbers(&self) -> [std::ops::Range<u32>; 2] {
        // amplitudes are no places, and their mass is with the frame
        let all = self.floating.as_ref().map_or(self.bodies.len(), |f| (f.frame - self.id) as usize + 1);
        [self.visible, all].map(|n| self.id..self.id + n as u32)
    }
}

/// Reads the members of a model and adds their bodies to `bodies`, whose coordinates stand one after the other.
pub fn read(model: &Model, bodies: &mut Vec<Body>) -> std::result::Result<Vec<Member>, Vec<Diagnostic>> {
    let (mut members, mut errors, mut sections) = (Vec::new(), Vec::new(), Vec::new());
    for element in &model.sections {
        match BeamSection::read(model, element) {
            Ok(section) => sections.push(section),
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let (mut q, mut v) = bodies.last().map_or((0, 0), |b| (b.q + b.kind.nq(), b.v + b.kind.nv()));
    let mut placements = HashMap::new();
    let taken = modal::used_names(model);
    for element in
        model.flexible.iter().filter(|e| !(e.kind == beam::KIND.name && taken.contains_key(&e.name)))
    {
        match read_one(model, element, &sections) {
            Ok(mut member) => {
                member.id = bodies.len() as u32;
                for body in &mut member.bodies {
                    (body.q, body.v) = (q, v);
                    q += body.kind.nq();
                    v += body.kind.nv();
                    body.between = body.between.map(|pair| pair.map(|index| index + member.id));
                }
                if let Some(floating) = &mut member.floating {
                    floating.frame += member.id;
                }
                bodies.extend(member.bodies.iter().cloned());
                insert_placements(&member, &mut placements);
                members.push(member);
            }
            Err(error) => errors.push(error),
        }
    }
    for attachment in model.attachments.iter().filter(|a| placements.contains_key(&a.body)) {
        if attachment.element.table.get("markers").is_some() {
            let reader = Reader::open(model, &attachment.element);
            let message = format!("`{}` of a flexible member carries no markers", attachment.body);
            errors.push(reader.error("markers", message).hint("give points by `at` or `on` instead"));
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    // compiled again, a model places them again where they are
    let _ = model.placements.set(placements);
    Ok(members)
}

/// Area of the section of a member \[m²\] and its mass per length \[kg/m\]; none where it has no shape, or is modal.
pub(crate) fn area_and_mass(model: &Model, element: &Element) -> Result<Option<(f64, f64)>> {
    if element.kind == modal::KIND.name {
        return Ok(None);
    }
    let sections = model.sections.iter().map(|e| BeamSection::read(model, e)).collect::<Result<Vec<_>>>()?;
    let reader = Reader::open(model, element);
    let properties = properties::Properties::read(&reader, &sections)?;
    let mass = properties.rho_a()?;
    Ok(properties.area().map(|area| (area, mass)))
}

fn read_one(model: &Model, element: &Element, sections: &[BeamSection]) -> Result<Member> {
    let Some(kind) = KINDS.iter().find(|k| k.name == element.kind) else {
        return Err(crate::compile::unknown_kind(model, element, KINDS.iter().map(|k| k.name)));
    };
    let reader = Reader::new(model, element, kind.keys)?;
    if reader.has("enabled") {
        let error = reader.error("enabled", format!("{} cannot be switched off", reader.title()));
        return Err(error.hint("`if = \"…\"` leaves it out of the model"));
    }
    let member = (kind.read)(&reader, sections)?;
    for body in member.bodies.iter().filter(|b| !b.shares) {
        let moments = (0..3).map(|i| body.inertia.0[i][i]);
        // of what is given as numbers only signs were checked
        if let Some(x) = [body.mass].into_iter().chain(moments).find(|x| in_range(*x).is_none()) {
            let message = format!(
                "{}: `{}` cannot have a mass or inertia of {x:e}: numbers of this size cannot be computed with",
                reader.title(),
                body.name
            );
            return Err(reader.error("section", message).hint("check the units of section and material"));
        }
    }
    Ok(member)
}

/// Notes where the bodies of a member stand, by all their names.
fn insert_placements(member: &Member, placements: &mut HashMap<String, BodyPlacement>) {
    let visible = &member.bodies[..member.visible];
    for (i, body) in visible.iter().enumerate() {
        let (p, q, angle) = body.start;
        let mirrored = member.mirrored.get(i).cloned();
        let entry = BodyPlacement { frame: Frame { p, q, angle }, mirrored };
        if i == 0 {
            placements.insert(format!("{}.start", member.name), entry.clone());
        }
        if i + 1 == member.visible {
            placements.insert(format!("{}.end", member.name), entry.clone());
        }
        placements.insert(body.name.clone(), entry);
    }
}
