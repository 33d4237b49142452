//! The spanning tree of a system's joints, from the ground.
//!
//! Bodies are reached one after the other, each by the joint with the fewest degrees of freedom that leads to a new one, among
//! equals the one nearest to the ground, among these the first in the file (Prim's algorithm). The tree then has the
//! fewest coordinates that any has; every loop is cut at a joint with most degrees of freedom, among equals at the one farthest
//! from the ground, so that its two arms are about as long. A body that no joint leads to stands free on the ground with its
//! own coordinates, and what hangs on it follows; of several that hang together the one with most joints is that body,
//! among equals the heaviest.
//!
//! A point mass has no orientation to carry a joint's frame: it always stands free, and its joints are cut.
//!
//! Costs O(n log n) for n joints, once per topology.

use crate::body::BodyKind;
use crate::joint::{Frames, JointFace};
use crate::system::System;
use sarrus_math::{Mat3, Pose, Vec3};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Holds what a body hangs on.
#[derive(Clone)]
#[allow(clippy::large_enum_variant)] // nearly all are joints, read in every pass
pub enum InboardJoint {
    /// Nothing: its coordinates are its own, against the ground.
    Free,
    /// A joint.
    Joint(Connection),
}

/// A joint of the tree.
#[derive(Clone)]
pub struct Connection {
    /// Its index in the directory.
    pub joint: usize,
    /// Holds what it does.
    pub face: Arc<dyn JointFace>,
    /// Its frames.
    pub frames: Frames,
    /// True if the parent is the joint's second body.
    pub reversed: bool,
    /// Shift of M in axes of F that `pose` does not have: of a thread whose zero of position is not that of its angle \[m\].
    pub shift: Vec3,
}

/// A body in the tree, with what it hangs on.
#[derive(Clone)]
pub struct Link {
    /// Number of the body.
    pub body: usize,
    /// Place of the parent among the links, which is before this one's; none for the ground.
    pub parent: Option<usize>,
    /// Holds what it hangs on.
    pub hinge: InboardJoint,
    /// First of its coordinates.
    pub q: usize,
    /// Number of coordinates it has.
    pub nq: usize,
    /// First of its speeds.
    pub y: usize,
    /// Number of speeds it has.
    pub ny: usize,
}

/// The links in an order in which parents come first, and the indices of elements whose rows the tree does not satisfy.
pub(super) fn span(system: &System) -> (Vec<Link>, Vec<usize>) {
    let directory = &system.directory;
    let n = directory.bodies.len();
    let mut beside: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (index, joint) in directory.joints.iter().enumerate() {
        let [a, b] = joint.bodies.map(|body| body as usize);
        let carries = |body: usize| body == 0 || directory.bodies[body].kind.rotates();
        let is_tight = joint.clearance.is_none();
        if is_tight && a != b && system.element_index(joint.element).is_some() && carries(a) && carries(b) {
            beside[a].push(index);
            beside[b].push(index);
        }
    }
    // roots of what does not hang on the ground
    let mut roots: Vec<usize> = (1..n).collect();
    roots.sort_by(|&a, &b| {
        let mass = |i: usize| directory.bodies[i].mass;
        beside[b].len().cmp(&beside[a].len()).then(mass(b).total_cmp(&mass(a)))
    });

    let mut span =
        SpanningTree { links: Vec::with_capacity(n - 1), indices: vec![None; n], heap: BinaryHeap::new() };
    let mut is_tree = vec![false; system.elements.len()];
    span.reach(0, None, 0, &beside, system);
    let mut roots = roots.into_iter();
    loop {
        while let Some(Reverse((_, depth, index))) = span.heap.pop() {
            let joint = &directory.joints[index];
            let [a, b] = joint.bodies.map(|body| body as usize);
            let reversed = match (span.is_reached(a), span.is_reached(b)) {
                (true, true) => continue,
                (a, _) => !a,
            };
            let (parent, child) = if reversed { (b, a) } else { (a, b) };
            let hinge = InboardJoint::Joint(connection(system, index, reversed));
            span.reach(child, Some((parent, hinge)), depth, &beside, system);
            let rows = 1 + usize::from(joint.face.coupling().is_some());
            for id in joint.element..joint.element + rows {
                if let Some(slot) = system.element_index(id) {
                    is_tree[slot] = true;
                }
            }
        }
        match roots.find(|&body| !span.is_reached(body)) {
            Some(root) => span.reach(root, Some((0, InboardJoint::Free)), 0, &beside, system),
            None => break,
        }
    }
    let cut = (0..is_tree.len()).filter(|&i| !is_tree[i] && system.elements[i].rows.rows() > 0).collect();
    (span.links, cut)
}

/// A tree that grows.
struct SpanningTree {
    links: Vec<Link>,
    /// Link by body; the ground has a place of no meaning.
    indices: Vec<Option<usize>>,
    /// Joints that lead on: degrees of freedom, depth, index.
    heap: BinaryHeap<Reverse<(usize, usize, usize)>>,
}

impl SpanningTree {
    fn is_reached(&self, body: usize) -> bool {
        self.indices[body].is_some()
    }

    /// Adds a body; the ground comes first, on nothing.
    fn reach(
        &mut self,
        body: usize,
        on: Option<(usize, InboardJoint)>,
        depth: usize,
        beside: &[Vec<usize>],
        system: &System,
    ) {
        self.indices[body] = Some(self.links.len());
        if let Some((parent, hinge)) = on {
            let (q, y) = self.links.last().map_or((0, 0), |link| (link.q + link.nq, link.y + link.ny));
            let (nq, ny) = match &hinge {
                InboardJoint::Free => {
                    // a quaternion, whatever the body's own angles are
                    let kind = match system.directory.bodies[body].kind {
                        BodyKind::RigidEuler => BodyKind::Rigid,
                        other => other,
                    };
                    (kind.nq(), kind.nv())
                }
                InboardJoint::Joint(on) => (on.face.pose_numbers(), on.face.dof()),
            };
            let parent = if parent == 0 { None } else { self.indices[parent] };
            self.links.push(Link { body, parent, hinge, q, nq, y, ny });
        }
        for &index in &beside[body] {
            let dof = system.directory.joints[index].face.dof();
            self.heap.push(Reverse((dof, depth + 1, index)));
        }
    }
}

fn connection(system: &System, index: usize, reversed: bool) -> Connection {
    let joint = &system.directory.joints[index];
    let mut shift = Vec3::zero();
    if joint.face.coupling().is_some() {
        // the thread keeps the position and the angle together as they are in the model pose
        let [F, M] = [(joint.frames.F, joint.bodies[0]), (joint.frames.M, joint.bodies[1])]
            .map(|(frame, body)| frame.frame_pose(&model_pose(system, body as usize)));
        let reading = joint.face.coordinates()[joint.face.number(0)].reading;
        let along = joint.face.pose(&[reading.value(&F, &M)]).p;
        shift = Vec3([0.0, 0.0, F.to_local(M.p - F.p).z() - along.z()]);
    }
    Connection { joint: index, face: joint.face.clone(), frames: joint.frames, reversed, shift }
}

fn model_pose(system: &System, body: usize) -> Pose {
    let body = &system.directory.bodies[body];
    let (p, q, angle) = body.start;
    match body.kind {
        BodyKind::Rigid | BodyKind::RigidEuler => Pose::from_quat(p, q),
        BodyKind::PlanarRigid => Pose::planar(p[0], p[1], angle),
        _ => Pose { p: Vec3(p), rot: Mat3::identity(), angle: 0.0 },
    }
}
