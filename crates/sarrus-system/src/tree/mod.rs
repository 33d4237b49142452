//! Joint coordinates: a spanning tree of the joints, and the recursions along it.
//!
//! The coordinates q of the tree are those of its joints (and of bodies that hang on nothing), the speeds y their
//! rates, of a ball joint the rates in axes of the second body. A body's velocity is linear in y, v = V(q) y; the columns of
//! V are Kane's partial velocities \[Kane1985\], \[Amirouche1991, section 5\]. V is never formed: a body adds its own joint's few
//! columns to what its parent has, so that everything is a pass or two over the links.
//!
//! | what | pass | file |
//! |---|---|---|
//! | poses, v = V y, bias V̇ y | outwards | [`forward`](self) |
//! | q and y of given poses and velocities | outwards | `read.rs` |
//! | generalized force Vᵀ f, inverse dynamics | out, in | `rnea.rs` |
//! | mass matrix VᵀM V | in | `crba.rs` |
//! | ẏ from forces, O(n) | in, out | `aba.rs` |
//! | the last three for trees of plain joints, by fewer operations | | `planar`, `plain` |
//!
//! What joints do not move along their degrees of freedom they satisfy to rounding, for ever. Joints that close loops are cut: their rows,
//! and those of constraints and drivers, remain constraints between bodies ([`Tree::cut`]). Where drivers give the coordinates of a
//! joint of the tree, these are no unknowns (`specified.rs`).

mod aba;
mod chart;
mod crba;
mod dynamics;
mod forward;
mod graph;
pub mod motion;
mod plain;
mod planar;
mod read;
mod rnea;
mod small;
pub mod spatial;
mod specified;
mod weight;

pub use dynamics::TreeDynamics;
pub use graph::{Connection, InboardJoint, Link};

use crate::body::BodyKind;
use crate::system::{System, groups};
use motion::JointMotion;
use plain::PlainTree;
use planar::PlanarTree;
use sarrus_math::{Mat3, Pose, Vec3};
use sarrus_solve::{GroupKind, NormGroup, Structure, StructureError};
use small::Factor;
use spatial::{Inertia6, Vec6};
use specified::Specified;
use std::sync::Arc;

/// A spanning tree with the workspace for its recursions.
pub struct Tree {
    system: Arc<System>,
    links: Vec<Link>,
    cut: Vec<usize>,
    structure: Structure,
    /// Links by the state that was evaluated last.
    states: Vec<LinkState>,
    /// Partial velocities at the bodies' centres of mass, world axes, one per speed.
    s: Vec<Vec6>,
    motion: JointMotion,
    /// Coordinates last accepted: turns are counted from there.
    last: Vec<f64>,
    /// Quaternions of bodies last accepted, by body: their sign is kept.
    quaternions: Vec<[f64; 4]>,
    /// Velocities or accelerations, by link.
    rates: Vec<Vec6>,
    /// Forces, by link.
    forces: Vec<Vec6>,
    inertias: Vec<Inertia6>,
    factors: Vec<Factor>,
    /// Of an articulated body: columns of I s L⁻ᵀ and L⁻¹(τ - sᵀp), one per speed.
    W: Vec<Vec6>,
    z: Vec<f64>,
    visits: u64,
    /// Holds what drivers give.
    specified: Vec<Specified>,
    /// Links whose speeds are given.
    given: Vec<bool>,
    /// Efforts of what is given, one per speed.
    tau: Vec<f64>,
    /// Coordinates and speeds that were evaluated last, with what is given in its place.
    own: (Vec<f64>, Vec<f64>),
    /// True if `own` has been evaluated, and whether all that follows from it is known, not only what a tree in the plane needs.
    known: bool,
    is_orthonormal: bool,
    /// Recursions of their own, where the tree is in the plane.
    planar: Option<PlanarTree>,
    /// The same in space, where all joints are plain.
    plain: Option<PlainTree>,
}

/// A link at an instant.
#[derive(Clone, Copy)]
struct LinkState {
    /// Of the body.
    pose: Pose,
    quaternion: [f64; 4],
    /// From the parent's centre of mass to its own, world axes \[m\].
    r: Vec3,
    /// From the joint's point to its own centre of mass.
    d: Vec3,
    velocity: Vec6,
    /// Acceleration at ẏ = 0, over that of the parent.
    bias: Vec6,
}

impl LinkState {
    const START: LinkState = LinkState {
        pose: Pose {
            p: Vec3([0.0; 3]),
            rot: Mat3([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
            angle: 0.0,
        },
        quaternion: [1.0, 0.0, 0.0, 0.0],
        r: Vec3([0.0; 3]),
        d: Vec3([0.0; 3]),
        velocity: Vec6::ZERO,
        bias: Vec6::ZERO,
    };
}

impl Tree {
    /// The tree of a system; `hints` are the last accepted values of its angles, as a mechanism has them.
    pub fn new(system: &Arc<System>, discrete: &[f64]) -> Result<Tree, StructureError> {
        let (links, cut) = graph::span(system);
        let structure = layout(system, &links)?;
        let (n, ny) = (links.len(), structure.nv);
        let specified = specified::find(system, &links, &cut);
        let mut given = vec![false; n];
        specified.iter().for_each(|s| given[s.link()] = true);
        let mut tree = Tree {
            system: system.clone(),
            cut,
            states: vec![LinkState::START; n],
            s: vec![Vec6::ZERO; ny],
            motion: JointMotion::default(),
            last: vec![0.0; structure.nq],
            quaternions: system.directory.bodies.iter().map(|body| body.start.1).collect(),
            rates: vec![Vec6::ZERO; n],
            forces: vec![Vec6::ZERO; n],
            inertias: vec![Inertia6::body(0.0, Mat3([[0.0; 3]; 3])); n],
            factors: vec![Factor::EMPTY; n],
            W: vec![Vec6::ZERO; ny],
            z: vec![0.0; ny],
            visits: 0,
            specified,
            given,
            tau: vec![0.0; ny],
            own: (vec![0.0; structure.nq], vec![0.0; ny]),
            known: false,
            is_orthonormal: true,
            planar: PlanarTree::new(system, &links),
            plain: PlainTree::new(system, &links),
            links,
            structure,
        };
        for link in &tree.links {
            let InboardJoint::Joint(on) = &link.hinge else { continue };
            let joint = &system.directory.joints[on.joint];
            for (i, number) in numbers(on) {
                let (offset, discrete_index) = joint.readings[number];
                if let Some(discrete_index) = discrete_index {
                    tree.last[link.q + i] = discrete[discrete_index as usize] - offset;
                }
            }
        }
        Ok(tree)
    }

    /// The system that it is a tree of.
    pub fn system(&self) -> &Arc<System> {
        &self.system
    }

    /// Its links, parents first.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Places among the system's elements of those whose rows its coordinates do not satisfy of themselves.
    pub fn cut(&self) -> &[usize] {
        &self.cut
    }

    /// Returns whether its coordinates satisfy every row of the system whatever their values: no loop, constraint, driver or lock.
    pub fn is_whole(&self) -> bool {
        self.cut.is_empty()
    }

    /// Sizes and groups of its coordinates and speeds; it has no rows.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// Links visited by recursions so far, which is what they cost.
    pub fn visits(&self) -> u64 {
        self.visits
    }

    /// Inertia of the body of `link` where it is, world axes.
    #[inline]
    fn inertia(&self, link: usize) -> Inertia6 {
        let body = &self.system.directory.bodies[self.links[link].body];
        let I_W = match body.kind {
            BodyKind::Rigid | BodyKind::RigidEuler => {
                let R = &self.states[link].pose.rot;
                *R * (body.inertia * R.transpose())
            }
            // about z alone; the other axes are never rotated about
            _ => {
                let I = body.inertia.0[2][2];
                Mat3([[I, 0.0, 0.0], [0.0, I, 0.0], [0.0, 0.0, I]])
            }
        };
        Inertia6::body(body.mass, I_W)
    }

    /// Returns what `x`, an array of v or of forces on it, says of the body of `link`: linear and angular, world axes.
    #[inline]
    fn of_body(&self, link: usize, x: &[f64]) -> Vec6 {
        let body = &self.system.directory.bodies[self.links[link].body];
        let x = &x[body.v..];
        match body.kind {
            BodyKind::Ground => Vec6::ZERO,
            BodyKind::Rigid | BodyKind::RigidEuler => {
                Vec6 { v: Vec3([x[0], x[1], x[2]]), w: self.states[link].pose.rot * Vec3([x[3], x[4], x[5]]) }
            }
            BodyKind::PlanarRigid => Vec6 { v: Vec3([x[0], x[1], 0.0]), w: Vec3([0.0, 0.0, x[2]]) },
            BodyKind::Point => Vec6 { v: Vec3([x[0], x[1], x[2]]), w: Vec3::zero() },
            BodyKind::PlanarPoint => Vec6 { v: Vec3([x[0], x[1], 0.0]), w: Vec3::zero() },
        }
    }
}

/// The numbers of a joint that are coordinates, with the place of the coordinate.
fn numbers(on: &Connection) -> impl Iterator<Item = (usize, usize)> + '_ {
    let quaternion = on.face.quaternion().map_or(usize::MAX..usize::MAX, |k| k..k + 4);
    let before = quaternion.start;
    (0..on.face.pose_numbers())
        .filter(move |i| !quaternion.contains(i))
        .map(move |i| (i, on.face.number(if i < before { i } else { i - 4 })))
}

/// Sizes and groups: whole vectors, where the numbers of a joint are lengths along several axes.
fn layout(system: &System, links: &[Link]) -> Result<Structure, StructureError> {
    let mut builder = Structure::builder();
    let mut nq = 0;
    for link in links {
        if link.ny > 0 {
            builder.column(link.ny);
        }
        nq += link.nq;
        match &link.hinge {
            InboardJoint::Free => {
                let kind = match system.directory.bodies[link.body].kind {
                    BodyKind::RigidEuler => BodyKind::Rigid,
                    other => other,
                };
                groups(&mut builder, kind, link.q, link.y);
            }
            InboardJoint::Joint(on) => {
                let mut y = link.y;
                let mut quaternion = on.face.quaternion();
                let mut of_joint = numbers(on).peekable();
                loop {
                    if let Some(k) = quaternion.filter(|k| of_joint.peek().is_none_or(|(i, _)| k < i)) {
                        builder.group(GroupKind::Rotation, link.q + k, 4);
                        builder.group(GroupKind::AngularVelocity, y, 3);
                        (y, quaternion) = (y + 3, None);
                        continue;
                    }
                    let Some((i, number)) = of_joint.next() else { break };
                    let is_angle = |number: usize| on.face.coordinates()[number].is_angle();
                    let mut len = 1;
                    while !is_angle(number) && of_joint.next_if(|(_, next)| !is_angle(*next)).is_some() {
                        len += 1;
                    }
                    let kinds = match is_angle(number) {
                        true => [GroupKind::Angle, GroupKind::AngularVelocity],
                        false => [GroupKind::Position, GroupKind::Velocity],
                    };
                    builder.group(kinds[0], link.q + i, len);
                    builder.group(kinds[1], y, len);
                    y += len;
                }
            }
        }
    }
    let retained = |g: &&NormGroup| matches!(g.kind, GroupKind::Auxiliary | GroupKind::Energy);
    for group in system.structure.groups.iter().filter(retained) {
        builder.group(group.kind, group.start, group.len);
    }
    builder.build(nq, system.structure.nx)
}
