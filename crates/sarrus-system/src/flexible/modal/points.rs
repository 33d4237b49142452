//! The mass of a modal body at the nodes of its mesh, for forces that act on all of it.
//!
//! With m_b = Σ_a M_ab of a node, a field of accelerations a_b gives the generalized forces φᵀM a of a consistent mass: the share F_b = m_b a_b
//! acts on shape j by F_b·Ŝ_bj, Ŝ_bj = (M φ_j)_b/m_b. In a uniform field these are the forces of gravity; in any other the
//! accelerations between nodes are interpolated as displacements are. The force depends on where the node itself is and how it moves.

use super::floating::{Floating, amplitude, rate};
use super::invariants::{multiply, whole};
use super::reduce::ReducedShapes;
use super::shapes::Shapes;
use super::structure::ModalStructure;
use crate::at::At;
use crate::load::Wrench;
use sarrus_math::{Real, Vec3};

/// Masses of nodes up to this part of the whole are none: a force there acts at the node.
const NONE: f64 = 1e-12;

/// A node and its share of the mass.
#[derive(Clone, Debug)]
pub struct MassPoint {
    /// m_b \[kg\].
    pub mass: f64,
    /// Marks where it is; without turns.
    shapes: Shapes,
    /// On what its share of a force acts: r̂, Ŝ, ĝ.
    spread: Shapes,
}

/// All nodes of a structure with its mass and centre.
pub(super) fn points(
    structure: &ModalStructure,
    (mass, middle): (f64, [f64; 3]),
    reduced: &ReducedShapes,
) -> Vec<MassPoint> {
    let of =
        |shapes: &[Vec<f64>]| -> Vec<Vec<f64>> { shapes.iter().map(|x| multiply(structure, x)).collect() };
    let (momenta, bent) = (of(&reduced.shapes), of(&reduced.quadratic));
    let linear = if structure.planar { 2 } else { 3 };
    let slides: Vec<Vec<f64>> = (0..linear).map(|k| whole(structure, k, false, &middle)).collect();
    let axes = if structure.planar { 2..3 } else { 0..3 };
    let revolutions: Vec<(usize, Vec<f64>)> = axes.map(|k| (k, whole(structure, k, true, &middle))).collect();
    let revolutions: Vec<(usize, Vec<f64>)> =
        revolutions.into_iter().map(|(k, x)| (k, multiply(structure, &x))).collect();
    let slides = of(&slides);
    (0..structure.nodes.len())
        .map(|node| {
            let at = |shape: &Vec<f64>| structure.node(shape, node)[0];
            let r = (Vec3(structure.nodes[node].p) - Vec3(middle)).0;
            let all = |shapes: &[Vec<f64>]| shapes.iter().map(at).collect::<Vec<_>>();
            let shapes = |r, S, quadratic| Shapes { r, S, P: Vec::new(), quadratic };
            let node_shapes = shapes(r, all(&reduced.shapes), all(&reduced.quadratic));
            let own = (0..linear).map(|k| at(&slides[k])[k]).sum::<f64>() / linear as f64;
            let spread = if own.abs() <= NONE * mass {
                node_shapes.clone()
            } else {
                // (e_k × r) × e_k over the axes is r twice, in the plane once
                let arm = revolutions.iter().fold(Vec3::zero(), |sum, (k, y)| {
                    let mut axis = [0.0; 3];
                    axis[*k] = 1.0;
                    sum + Vec3(at(y)).cross(Vec3(axis))
                });
                let arm = arm.scale(1.0 / (own * (revolutions.len() - revolutions.len() / 2) as f64));
                let over = |list: Vec<[f64; 3]>| list.into_iter().map(|x| x.map(|x| x / own)).collect();
                shapes(arm.0, over(all(&momenta)), over(all(&bent)))
            };
            MassPoint { mass: own, shapes: node_shapes, spread }
        })
        .collect()
}

/// A modal body whose parts stand at places in the list of an element.
#[derive(Clone, Debug)]
pub struct ModalParts {
    /// The place of its frame.
    pub frame: usize,
    /// By amplitude: the place of the body that holds it, and which of its coordinates it is.
    amplitudes: Vec<(usize, usize)>,
}

impl ModalParts {
    /// With `shapes` giving the place of a body.
    pub fn new(of: &Floating, index_of: &mut dyn FnMut(u32) -> usize) -> ModalParts {
        let frame = index_of(of.frame);
        let amplitudes =
            of.amplitudes.iter().map(|&(after, k)| (index_of(of.frame + after as u32), k)).collect();
        ModalParts { frame, amplitudes }
    }

    /// The amplitudes and their rates.
    pub fn motion<R: Real>(&self, at: &At<R>) -> (Vec<R>, Vec<R>) {
        self.amplitudes
            .iter()
            .map(|&(body, k)| (amplitude(at.pose(body), k), rate(at.twist(body), k)))
            .unzip()
    }
}

impl MassPoint {
    /// Position and velocity in the world.
    pub fn state<R: Real>(
        &self,
        at: &At<R>,
        of: &ModalParts,
        (eta, rate): (&[R], &[R]),
    ) -> (Vec3<R>, Vec3<R>) {
        let (pose, twist) = (at.pose(of.frame), at.twist(of.frame));
        let s = self.shapes.insert_placements(|j| eta[j]);
        let inner = twist.w.cross(s) + self.shapes.rate(|j| eta[j], |j| rate[j]);
        (pose.p + pose.rot * s, twist.v + pose.rot * inner)
    }

    /// Adds a force in world axes to frame and amplitudes.
    pub fn add_force<R: Real>(
        &self,
        at: &At<R>,
        of: &ModalParts,
        eta: &[R],
        force: Vec3<R>,
        out: &mut [Wrench<R>],
    ) {
        let rot = &at.pose(of.frame).rot;
        out[of.frame].add_force_at(force, *rot * self.spread.insert_placements(|j| eta[j]));
        let own = rot.transpose_mul(force);
        let n = self.spread.S.len();
        for (j, &(body, k)) in of.amplitudes.iter().enumerate() {
            let mut shape = Vec3::from_f64(self.spread.S[j]);
            for (i, eta) in eta.iter().enumerate().take(if self.spread.quadratic.is_empty() { 0 } else { n })
            {
                shape += Vec3::from_f64(self.spread.quadratic[i * n + j]).scale(*eta);
            }
            let to = if k < 3 { &mut out[body].force } else { &mut out[body].torque };
            to.0[k % 3] += shape.dot(own);
        }
    }
}
