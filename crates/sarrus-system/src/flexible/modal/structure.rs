//! The linear structure that a modal body is reduced from: nodes with six displacements each, stiffness, and masses.
//!
//! Displacements are u = (ux, uy, uz, θx, θy, θz) a node, in the axes in which the nodes are given, one node after the other. A beam
//! is meshed as the `beam` kind does it, and its elements are that element's for small displacements: with d = u₂ - u₁ and the mean turn
//! θ of the two ends, in the element's axes,
//!
//! Γ = d/L - θ × e₁, κ = (θ₂ - θ₁)/L,  U = ½ L (ΓᵀCₙΓ + κᵀCₘκ).
//!
//! Its mass is that of points, also where it is `consistent`: a sixth at each end and the rest in the middle, which moves with the mean
//! of the ends. Nodes of members at one place are one node: so members join. Dense, for at most [`MOST_NODES`] nodes.

use super::shapes::Lump;
use crate::flexible::beam::{self, Constants};
use crate::flexible::prelude::*;
use sarrus_math::Vec3;

/// Most nodes of a structure: matrices are dense.
pub const MOST_NODES: usize = 300;
/// Nodes nearer than this part of an element are one.
const SAME: f64 = 1e-6;

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its names: `arm.node0`, `arm.start`.
    pub names: Vec<String>,
    /// Where it is \[m\].
    pub p: [f64; 3],
    /// Its axes, as columns.
    pub axes: Mat3,
}

/// Mass at a node, or at the mean of several.
#[derive(Clone, Debug)]
pub struct Weight {
    /// The nodes, all with the same share.
    pub nodes: Vec<usize>,
    /// What is there.
    pub lump: Lump,
}

/// What carries an axial force: bending shortens it.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Its ends.
    pub nodes: [usize; 2],
    /// Along it.
    pub axis: [f64; 3],
    /// L \[m\].
    pub length: f64,
    /// EA \[N\].
    pub stretch: f64,
}

/// The structure.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// K, symmetric, 6 rows a node.
    pub K: Vec<f64>,
    /// Its masses.
    pub weights: Vec<Weight>,
    /// Its bars; empty where nothing is known of them.
    pub bars: Vec<Bar>,
}

impl Structure {
    /// Meshes beams; an error is a number of nodes that are too many.
    pub fn of_beams(members: &[Reader], sections: &[Section]) -> Result<std::result::Result<Self, usize>> {
        let mut all = Structure::default();
        let mut meshes = Vec::new();
        for reader in members {
            let line = Line::read(reader, "elements", 4, true)?;
            let properties = Properties::read(reader, sections)?;
            let constants = Constants::read(&properties, false)?;
            let consistent = beam::is_consistent(reader)?;
            let mesh = line.mesh();
            let near = SAME * mesh.pieces.iter().map(|p| p.length).fold(f64::INFINITY, f64::min);
            let name = &reader.element().name;
            let last = mesh.stations.len() - 1;
            let mut places = Vec::with_capacity(mesh.stations.len());
            for (k, station) in mesh.stations.iter().enumerate() {
                let mut names = vec![format!("{name}.node{k}")];
                names.extend((k == 0).then(|| format!("{name}.start")));
                names.extend((k == last).then(|| format!("{name}.end")));
                let apart = |node: &Node| (Vec3(node.p) - Vec3(station.p)).norm();
                match all.nodes.iter().position(|node| apart(node) <= near) {
                    Some(at) => {
                        all.nodes[at].names.append(&mut names);
                        places.push(at);
                    }
                    None => {
                        places.push(all.nodes.len());
                        all.nodes.push(Node { names, p: station.p, axes: station.axes });
                    }
                }
            }
            if all.nodes.len() > MOST_NODES {
                return Ok(Err(all.nodes.len()));
            }
            meshes.push((mesh, places, constants, consistent));
        }
        let size = 6 * all.nodes.len();
        all.K = vec![0.0; size * size];
        for (mesh, places, constants, consistent) in &meshes {
            for (k, piece) in mesh.pieces.iter().enumerate() {
                let ends = [places[k], places[k + 1]];
                all.add_beam(ends, &piece.middle.axes, piece.length, constants, *consistent);
            }
        }
        Ok(Ok(all))
    }

    fn add_beam(&mut self, ends: [usize; 2], axes: &Mat3, L: f64, of: &Constants, consistent: bool) {
        let mass = of.mass * L;
        let [one, two, three] = [0, 1, 2].map(|i| axes.col(i).scale(0.5 * L * of.inertia[i]));
        let inertia = Mat3::from_cols(one, two, three) * axes.transpose();
        let none = Mat3([[0.0; 3]; 3]);
        let share = if consistent { mass / 6.0 } else { mass / 2.0 };
        for end in ends {
            self.weights.push(Weight { nodes: vec![end], lump: Lump { mass: share, inertia } });
        }
        if consistent {
            let lump = Lump { mass: 4.0 * share, inertia: none };
            self.weights.push(Weight { nodes: ends.to_vec(), lump });
        }
        let axis = axes.col(0).0;
        self.bars.push(Bar { nodes: ends, axis, length: L, stretch: of.stretch[0] });

        // strains from the 12 displacements
        let mut B = [[0.0; 12]; 6];
        for (end, sign) in [(0, -1.0), (1, 1.0)] {
            for i in 0..3 {
                let a = axes.col(i);
                // -(θ × e₁) along e_i is θ·(e_i × e₁)
                let b = a.cross(axes.col(0));
                for k in 0..3 {
                    B[i][6 * end + k] = sign * a.0[k] / L;
                    B[i][6 * end + 3 + k] = 0.5 * b.0[k];
                    B[3 + i][6 * end + 3 + k] = sign * a.0[k] / L;
                }
            }
        }
        let C = [of.stretch, of.bend].concat();
        let size = 6 * self.nodes.len();
        let place = |i: usize| 6 * ends[i / 6] + i % 6;
        for i in 0..12 {
            for j in 0..12 {
                let sum: f64 = (0..6).map(|s| B[s][i] * C[s] * B[s][j]).sum();
                self.K[place(i) * size + place(j)] += L * sum;
            }
        }
    }

    /// M, dense.
    pub fn mass(&self) -> Vec<f64> {
        let size = 6 * self.nodes.len();
        let mut M = vec![0.0; size * size];
        for weight in &self.weights {
            let share = 1.0 / weight.nodes.len() as f64;
            for &a in &weight.nodes {
                for &b in &weight.nodes {
                    for i in 0..3 {
                        M[(6 * a + i) * size + 6 * b + i] += share * share * weight.lump.mass;
                        for j in 0..3 {
                            M[(6 * a + 3 + i) * size + 6 * b + 3 + j] +=
                                share * share * weight.lump.inertia.0[i][j];
                        }
                    }
                }
            }
        }
        M
    }

    /// The place of a mass \[m\].
    pub fn place(&self, weight: &Weight) -> [f64; 3] {
        let share = 1.0 / weight.nodes.len() as f64;
        [0, 1, 2].map(|k| weight.nodes.iter().map(|&n| share * self.nodes[n].p[k]).sum())
    }

    /// The centre of mass \[m\].
    pub fn middle(&self) -> [f64; 3] {
        let mass: f64 = self.weights.iter().map(|w| w.lump.mass).sum();
        [0, 1, 2].map(|k| self.weights.iter().map(|w| w.lump.mass * self.place(w)[k]).sum::<f64>() / mass)
    }
}
