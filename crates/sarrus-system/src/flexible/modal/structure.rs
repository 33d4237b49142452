//! The linear structure that a modal body is reduced from: nodes, stiffness, and mass.
//!
//! Displacements are those of [`ModalStructure::directions`] of each node, in the axes in which the nodes are given, one node after the other:
//! (ux, uy, uz, θx, θy, θz), in the plane (ux, uy, θ), and without the rotations where nodes are those of a solid. A beam is meshed as the
//! `beam` kind does it, and its elements are that element's for small displacements: with d = u₂ - u₁ and the mean turn
//! θ of the two ends, in the element's axes,
//!
//! Γ = d/L - θ × e₁, κ = (θ₂ - θ₁)/L,  U = ½ L (ΓᵀCₙΓ + κᵀCₘκ).
//!
//! Its mass is that of points, also where it is `consistent`: a sixth at each end and the rest in the middle, which moves with the mean
//! of the ends. Nodes of members at one place are one node: so members join. Dense, for at most [`MOST_ROWS`] displacements.

use crate::flexible::beam::{self, Constants};
use crate::flexible::prelude::*;
use sarrus_math::Vec3;
use sarrus_model::Frame;

/// Most displacements of a structure: matrices are dense.
pub const MOST_ROWS: usize = 1800;
/// Nodes nearer than this part of an element are one.
const SAME: f64 = 1e-6;

/// A node.
#[derive(Clone, Debug)]
pub struct StructureNode {
    /// Its names: `arm.node0`, `arm.start`.
    pub names: Vec<String>,
    /// Marks where it is \[m\].
    pub p: [f64; 3],
    /// Its axes, as columns.
    pub axes: Mat3,
    /// Planar: the angle of its x axis, counted \[rad\].
    pub angle: f64,
    /// Of a beam in a mirrored file: the frame that it means by this one.
    pub mirrored: Option<Frame>,
}

/// Holds what carries an axial force: bending shortens it.
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
pub struct ModalStructure {
    /// True if it lies in the plane.
    pub planar: bool,
    /// True if its nodes turn.
    pub rotates: bool,
    /// Its nodes.
    pub nodes: Vec<StructureNode>,
    /// K, symmetric, by rows.
    pub K: Vec<f64>,
    /// M, likewise.
    pub M: Vec<f64>,
    /// Its bars; empty where nothing is known of them.
    pub bars: Vec<Bar>,
}

/// The displacements of a node, of (ux, uy, uz, θx, θy, θz).
pub fn directions(planar: bool, rotates: bool) -> &'static [usize] {
    match (planar, rotates) {
        (false, true) => &[0, 1, 2, 3, 4, 5],
        (false, false) => &[0, 1, 2],
        (true, true) => &[0, 1, 5],
        (true, false) => &[0, 1],
    }
}

impl ModalStructure {
    /// Meshes beams; an error is a number of nodes that are too many.
    pub fn of_beams(
        members: &[Reader],
        sections: &[BeamSection],
    ) -> Result<std::result::Result<Self, usize>> {
        let planar = members.first().is_some_and(|reader| reader.is_planar());
        let mut all = ModalStructure { planar, rotates: true, ..ModalStructure::default() };
        let mut meshes = Vec::new();
        for reader in members {
            let line = MemberLine::read(reader, "elements", 4, true)?;
            let properties = Properties::read(reader, sections)?;
            let constants = Constants::read(&properties, planar)?;
            if beam::order(reader)? > 1 {
                let message =
                    format!("{} is a member of a modal body: its elements have order 1", reader.title());
                return Err(reader
                    .error("order", message)
                    .hint("more `elements`: a modal body costs no more with them"));
            }
            let consistent = beam::is_consistent(reader)?;
            let mesh = line.mesh();
            let own = line.unmirrored(reader).map(|own| own.mesh());
            let near = SAME * mesh.pieces.iter().map(|p| p.length).fold(f64::INFINITY, f64::min);
            let name = &reader.element().name;
            let last = mesh.stations.len() - 1;
            let mut indices = Vec::with_capacity(mesh.stations.len());
            for (k, station) in mesh.stations.iter().enumerate() {
                let mut names = vec![format!("{name}.node{k}")];
                names.extend((k == 0).then(|| format!("{name}.start")));
                names.extend((k == last).then(|| format!("{name}.end")));
                let apart = |node: &StructureNode| (Vec3(node.p) - Vec3(station.p)).norm();
                match all.nodes.iter().position(|node| apart(node) <= near) {
                    Some(at) => {
                        all.nodes[at].names.append(&mut names);
                        indices.push(at);
                    }
                    None => {
                        indices.push(all.nodes.len());
                        let Station { p, axes, angle } = station.clone();
                        let own = own.as_ref().map(|own| own.stations[k].frame(planar));
                        let mirrored = own.map(|frame| reader.transform().frame(&frame));
                        all.nodes.push(StructureNode { names, p, axes, angle, mirrored });
                    }
                }
            }
            if all.size() > MOST_ROWS {
                return Ok(Err(all.nodes.len()));
            }
            meshes.push((mesh, indices, constants, consistent));
        }
        let size = all.size();
        (all.K, all.M) = (vec![0.0; size * size], vec![0.0; size * size]);
        for (mesh, indices, constants, consistent) in &meshes {
            for (k, piece) in mesh.pieces.iter().enumerate() {
                let ends = [indices[k], indices[k + 1]];
                all.add_beam(ends, &piece.middle.axes, piece.length, constants, *consistent);
            }
        }
        Ok(Ok(all))
    }

    fn add_beam(&mut self, ends: [usize; 2], axes: &Mat3, L: f64, of: &Constants, consistent: bool) {
        let mass = of.mass * L;
        let [one, two, three] = [0, 1, 2].map(|i| axes.col(i).scale(0.5 * L * of.inertia[i]));
        let inertia = Mat3::from_cols(one, two, three) * axes.transpose();
        // a sixth at the ends and the rest in the middle is a third at the ends and a sixth between them
        let [own, between] = if consistent { [mass / 3.0, mass / 6.0] } else { [mass / 2.0, 0.0] };
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
        let (size, directions) = (self.size(), self.directions());
        let wide = directions.len();
        for i in 0..2 * wide {
            for j in 0..2 * wide {
                let [(a, ka), (b, kb)] = [i, j].map(|i| (i / wide, directions[i % wide]));
                let sum: f64 = (0..6).map(|s| B[s][6 * a + ka] * C[s] * B[s][6 * b + kb]).sum();
                let weight = match (a == b, ka < 3, kb < 3) {
                    (true, true, true) if ka == kb => own,
                    (false, true, true) if ka == kb => between,
                    (true, false, false) => inertia.0[ka - 3][kb - 3],
                    _ => 0.0,
                };
                let at = (wide * ends[a] + i % wide) * size + wide * ends[b] + j % wide;
                self.K[at] += L * sum;
                self.M[at] += weight;
            }
        }
    }

    /// The displacements of a node.
    pub fn directions(&self) -> &'static [usize] {
        directions(self.planar, self.rotates)
    }

    /// Number of displacements.
    pub fn size(&self) -> usize {
        self.directions().len() * self.nodes.len()
    }

    /// Returns how many motions it has as a rigid body.
    pub fn rigid(&self) -> usize {
        if self.planar { 3 } else { 6 }
    }

    /// Returns what a node does in a shape: displacement and turn.
    pub fn node(&self, shape: &[f64], node: usize) -> [[f64; 3]; 2] {
        let directions = self.directions();
        let mut out = [[0.0; 3]; 2];
        for (x, &k) in shape[directions.len() * node..].iter().zip(directions) {
            out[k / 3][k % 3] = *x;
        }
        out
    }

    /// A mass and a tensor of inertia that a node has for itself: the mean over directions, and the block of M.
    pub fn lump(&self, node: usize) -> (f64, Mat3) {
        let (size, directions) = (self.size(), self.directions());
        let first = directions.len() * node;
        let linear = directions.iter().filter(|k| **k < 3).count();
        let mut inertia = Mat3([[0.0; 3]; 3]);
        let mut mass = 0.0;
        for (i, &a) in directions.iter().enumerate() {
            for (j, &b) in directions.iter().enumerate() {
                let x = self.M[(first + i) * size + first + j];
                if a >= 3 && b >= 3 {
                    inertia.0[a - 3][b - 3] = x;
                } else if i == j {
                    mass += x / linear as f64;
                }
            }
        }
        (mass, inertia)
    }
}
