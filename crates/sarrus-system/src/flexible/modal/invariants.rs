//! The invariants of a modal body's inertia, from the mass matrix of its structure.
//!
//! A linear structure tells its mass only by M: the kinetic energy of nodal velocities w is ½ wᵀM w. What a frame that turns
//! largely needs is asked of M through fields of displacements. With y = M φ of a shape φ, by node a force y_a and a torque z_a,
//!
//! ```text
//! ∫ φ dm          = Σ y_a                       the translations' share of M φ
//! ∫ r φᵀ dm  = E1 = Σ r_a y_aᵀ + ½ ε z_a + Z    the fields x_α e_β, which turn by ½ curl; (ε z)_αβ = e_α×e_β·z
//! ∫ φ_i·φ_j dm    = φ_iᵀ M φ_j
//! ∫ φ_i φ_jᵀ dm = E2 = Σ_ab m_ab u_ia u_jbᵀ     m_ab = the mean of M_ab over the directions
//! ```
//!
//! The first and the third are exact, whatever M is: mass, centre, inertia at rest, momenta of shapes and their energy are those
//! of the finite elements. So is the skew part of E1, which is the angular momentum of φ, also of turns.
//!
//! The symmetric part of E1 (centrifugal loads on shapes) and E2 (how bending changes the inertia, and gyroscopic forces between shapes) are exact
//!
//! - where M interpolates all directions alike and nodes do not turn, M_ab = m_ab 1: solids;
//! - where turns have a mass of their own at each node, a tensor J with the second moments V = ½ tr(J) 1 - J: lumped M, and that
//!   of `beam`. A section that rotates by θ̃ = P η adds -V θ̃ to E1 and, with its quadratic part, θ̃_i V θ̃_jᵀ to E2 and V θ̃_i θ̃_j to F.
//!
//! Elements that interpolate by turns too, as cubic beams do, and across by other functions than along, are between: in a stretched
//! field A r the nodes turn by what K likes best, -K_θθ⁻¹K_θu A r, which of a straight beam is its slope, and Z = Σ θ_a·z_a is then exact but for the sections'
//! own inertia; of E2 the rotations' share is left out, which is off by the square of an element's length over the body's. All invariants
//! obey the symmetries by which the forces of inertia follow from M(η), so energy and momentum are conserved all the same.
//!
//! Cost: n products with M, n² with the nodes; and n² products with M where there are quadratic shapes.

use super::inertia::{InertiaInvariants, Tensor, axial_f64, outer};
use super::reduce::ReducedShapes;
use super::shapes::Shapes;
use super::structure::ModalStructure;
use sarrus_math::solve::{cholesky, cholesky_solve};
use sarrus_math::{Mat3, Vec3};

/// Masses in two directions nearer than this part are the same.
const SAME: f64 = 1e-6;
/// Entries of M below this part of the largest are none.
const NONE: f64 = 1e-12;
/// Defines what holds turns that nothing holds, such as those of straight beams about themselves, as a part of what holds the others.
const LOOSE: f64 = 1e-9;

/// A mass and a tensor of inertia that a body of its own carries at a node.
pub struct NodeMass {
    /// Holds what the node does.
    pub shapes: Shapes,
    /// m \[kg\].
    pub mass: f64,
    /// J in the axes of the frame \[kg m²\].
    pub inertia: Mat3,
}

/// The mass of a structure and its centre; in words why it has none.
pub fn middle(structure: &ModalStructure) -> Result<(f64, [f64; 3]), String> {
    let of = |k: usize, is_rotation: bool| {
        first(structure, &multiply(structure, &whole(structure, k, is_rotation, &[0.0; 3])))
    };
    let linear = if structure.planar { 2 } else { 3 };
    let masses: Vec<[f64; 3]> = (0..linear).map(|k| of(k, false)).collect();
    let mass = (0..linear).map(|k| masses[k][k]).sum::<f64>() / linear as f64;
    if !(mass > 0.0) {
        return Err("the mass of the whole is not positive".into());
    }
    for (k, p) in masses.iter().enumerate() {
        let off = (0..3).any(|i| (p[i] - if i == k { mass } else { 0.0 }).abs() > SAME * mass);
        if off {
            let axis = ["x", "y", "z"][k];
            return Err(format!(
                "moved along {axis} at 1 m/s the whole has the momentum ({:.6}, {:.6}, {:.6}), and not that of one mass, {mass:.6} kg, along {axis}",
                p[0], p[1], p[2]
            ));
        }
    }
    // e_k × c
    let angle = [0, 1, 2].map(|k| of(k, true));
    let c = [angle[2][1], -angle[2][0], angle[1][0]];
    Ok((mass, c.map(|c| c / mass)))
}

/// A motion of the whole: along an axis, or about it through `from`.
pub(super) fn whole(structure: &ModalStructure, k: usize, is_rotation: bool, from: &[f64; 3]) -> Vec<f64> {
    let mut axis = [0.0; 3];
    axis[k] = 1.0;
    let mut out = Vec::with_capacity(structure.size());
    for node in &structure.nodes {
        let (u, theta) = if is_rotation {
            (Vec3(axis).cross(Vec3(node.p) - Vec3(*from)).0, axis)
        } else {
            (axis, [0.0; 3])
        };
        let all = [u, theta].concat();
        out.extend(structure.directions().iter().map(|&k| all[k]));
    }
    out
}

/// M φ.
pub(super) fn multiply(structure: &ModalStructure, shape: &[f64]) -> Vec<f64> {
    let rows = structure.M.chunks_exact(shape.len().max(1));
    rows.map(|row| row.iter().zip(shape).map(|(m, x)| m * x).sum()).collect()
}

/// ∫ φ dm from M φ.
fn first(structure: &ModalStructure, y: &[f64]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for node in 0..structure.nodes.len() {
        let [force, _] = structure.node(y, node);
        (0..3).for_each(|k| sum[k] += force[k]);
    }
    sum
}

/// ½ ε z added, times `factor`.
fn subtract_squared_rotation(sum: &mut Tensor, factor: f64, z: &[f64; 3]) {
    for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        sum[i][j] += 0.5 * factor * z[k];
        sum[j][i] -= 0.5 * factor * z[k];
    }
}

/// Describes how nodes turn.
enum NodeRotation {
    /// With tensors of inertia of their own, of which these are the second moments V, by node.
    Sections(Vec<Mat3>),
    /// In fields that stretch by ½ (e_α e_βᵀ + e_β e_αᵀ): α, β, and all nodes' turns.
    Slopes(Vec<(usize, usize, Vec<[f64; 3]>)>),
}

impl NodeRotation {
    fn of(structure: &ModalStructure, middle: &[f64; 3]) -> NodeRotation {
        let (size, wide) = (structure.size(), structure.directions().len());
        let rotates = |k: usize| structure.directions()[k % wide] >= 3;
        let largest =
            (0..size).filter(|k| rotates(*k)).map(|k| structure.M[k * (size + 1)].abs()).fold(0.0, f64::max);
        // M between turns and anything but the rotations of the same node
        let apart = (0..size * size).filter(|k| {
            let (i, j) = (k / size, k % size);
            (rotates(i) || rotates(j)) && (i / wide != j / wide || rotates(i) != rotates(j))
        });
        if apart.map(|k| structure.M[k].abs()).fold(0.0, f64::max) <= NONE * largest {
            let tensors = (0..structure.nodes.len()).map(|node| structure.lump(node).1);
            return NodeRotation::Sections(tensors.map(|J| moments(&J)).collect());
        }
        NodeRotation::Slopes(slopes(structure, middle))
    }
}

/// V = ½ tr(J) 1 - J.
fn moments(J: &Mat3) -> Mat3 {
    let half = 0.5 * (J.0[0][0] + J.0[1][1] + J.0[2][2]);
    Mat3([0, 1, 2].map(|i| [0, 1, 2].map(|j| if i == j { half - J.0[i][j] } else { -J.0[i][j] })))
}

/// θ = -K_θθ⁻¹K_θu A r of the fields that stretch.
fn slopes(structure: &ModalStructure, middle: &[f64; 3]) -> Vec<(usize, usize, Vec<[f64; 3]>)> {
    let (size, directions) = (structure.size(), structure.directions());
    let wide = directions.len();
    let [slides, rotations] = [false, true]
        .map(|rotates| (0..size).filter(|k| (directions[k % wide] >= 3) == rotates).collect::<Vec<usize>>());
    let n = rotations.len();
    let K = |i: usize, j: usize| structure.K[i * size + j];
    let mut L: Vec<f64> = (0..n * n).map(|k| K(rotations[k / n], rotations[k % n])).collect();
    let mean = (0..n).map(|k| L[k * (n + 1)]).sum::<f64>() / n.max(1) as f64;
    (0..n).for_each(|k| L[k * (n + 1)] += LOOSE * mean);
    if cholesky(&mut L, n).is_err() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (a, b) in [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)] {
        let field = |k: &usize| {
            let r = Vec3(structure.nodes[k / wide].p) - Vec3(*middle);
            let axis = directions[k % wide];
            0.5 * (f64::from(axis == a) * r.0[b] + f64::from(axis == b) * r.0[a])
        };
        let field: Vec<f64> = slides.iter().map(field).collect();
        let load = |i: &usize| -slides.iter().zip(&field).map(|(j, u)| K(*i, *j) * u).sum::<f64>();
        let mut theta: Vec<f64> = rotations.iter().map(load).collect();
        cholesky_solve(&L, n, &mut theta);
        let mut nodes = vec![[0.0; 3]; structure.nodes.len()];
        rotations.iter().zip(&theta).for_each(|(k, x)| nodes[k / wide][directions[k % wide] - 3] = *x);
        all.push((a, b, nodes));
    }
    all
}

/// ∫ r φᵀ dm of a shape from M φ, with r from `middle`.
fn second(
    structure: &ModalStructure,
    shape: &[f64],
    y: &[f64],
    middle: &[f64; 3],
    rotations: &NodeRotation,
) -> Tensor {
    let mut sum = [[0.0; 3]; 3];
    for (k, node) in structure.nodes.iter().enumerate() {
        let [force, torque] = structure.node(y, k);
        outer(&mut sum, 1.0, &(Vec3(node.p) - Vec3(*middle)).0, &force);
        match rotations {
            NodeRotation::Sections(V) => rotate_section(&mut sum, 1.0, &V[k], &structure.node(shape, k)[1]),
            NodeRotation::Slopes(fields) => {
                subtract_squared_rotation(&mut sum, 1.0, &torque);
                for (a, b, theta) in fields {
                    let work = Vec3(theta[k]).dot(Vec3(torque));
                    sum[*a][*b] += work;
                    if a != b {
                        sum[*b][*a] += work;
                    }
                }
            }
        }
    }
    sum
}

/// -V θ̃ added, times `factor`.
fn rotate_section(sum: &mut Tensor, factor: f64, V: &Mat3, theta: &[f64; 3]) {
    let rotated = *V * Mat3::skew(Vec3(*theta));
    (0..9).for_each(|k| sum[k / 3][k % 3] -= factor * rotated.0[k / 3][k % 3]);
}

/// θ̃_i V θ̃_jᵀ and V (θ̃_i θ̃_j + θ̃_j θ̃_i)/2, the parts of E2 and F of a section that turns.
fn rotate_twice(V: &Mat3, i: &[f64; 3], j: &[f64; 3]) -> [Mat3; 2] {
    let [i, j] = [i, j].map(|theta| Mat3::skew(Vec3(*theta)));
    let (one, other) = (i * j, j * i);
    let mean = Mat3([0, 1, 2].map(|a| [0, 1, 2].map(|b| 0.5 * (one.0[a][b] + other.0[a][b]))));
    [i * (*V * j.transpose()), *V * mean]
}

/// Σ_b m_ab u_b of each shape, by node.
fn spread(structure: &ModalStructure, shapes: &[Vec<[f64; 3]>]) -> Vec<Vec<[f64; 3]>> {
    let (size, directions, nodes) = (structure.size(), structure.directions(), structure.nodes.len());
    let wide = directions.len();
    let linear = directions.iter().filter(|k| **k < 3).count();
    let mut out = vec![vec![[0.0; 3]; nodes]; shapes.len()];
    for a in 0..nodes {
        for b in 0..nodes {
            // the translations come first
            let mean = (0..linear).map(|k| structure.M[(wide * a + k) * size + wide * b + k]).sum::<f64>();
            let mean = mean / linear as f64;
            if mean != 0.0 {
                for (to, from) in out.iter_mut().zip(shapes) {
                    (0..3).for_each(|k| to[a][k] += mean * from[b][k]);
                }
            }
        }
    }
    out
}

impl InertiaInvariants {
    /// Of a structure with its mass and centre, without what bodies of their `own` carry at nodes.
    pub fn new(
        structure: &ModalStructure,
        (mass, middle): (f64, [f64; 3]),
        reduced: &ReducedShapes,
        own: &[NodeMass],
    ) -> Self {
        let n = reduced.shapes.len();
        let momenta: Vec<Vec<f64>> = reduced.shapes.iter().map(|shape| multiply(structure, shape)).collect();
        let rotations = NodeRotation::of(structure, &middle);
        let second = |shape: &[f64], y: &[f64]| second(structure, shape, y, &middle, &rotations);
        let mut tensor = [[0.0; 3]; 3];
        for k in 0..3 {
            let motion = whole(structure, k, true, &middle);
            let column = axial_f64(&second(&motion, &multiply(structure, &motion)));
            (0..3).for_each(|i| tensor[i][k] = column[i]);
        }
        let slides: Vec<Vec<[f64; 3]>> = reduced
            .shapes
            .iter()
            .map(|shape| (0..structure.nodes.len()).map(|node| structure.node(shape, node)[0]).collect())
            .collect();
        let spreads = spread(structure, &slides);
        let mut E2 = vec![[[0.0; 3]; 3]; n * n];
        let mut amplitudes = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                slides[i].iter().zip(&spreads[j]).for_each(|(u, m)| outer(&mut E2[i * n + j], 1.0, u, m));
                amplitudes[i * n + j] = reduced.shapes[i].iter().zip(&momenta[j]).map(|(a, b)| a * b).sum();
            }
        }
        let bent: Vec<Vec<f64>> = reduced.quadratic.iter().map(|g| multiply(structure, g)).collect();
        let mut all = InertiaInvariants {
            planar: structure.planar,
            n,
            mass,
            c: [0.0; 3],
            C1: momenta.iter().map(|y| first(structure, y)).collect(),
            C2: bent.iter().map(|y| first(structure, y)).collect(),
            tensor,
            E1: reduced.shapes.iter().zip(&momenta).map(|(shape, y)| second(shape, y)).collect(),
            E2,
            F: reduced.quadratic.iter().zip(&bent).map(|(g, y)| second(g, y)).collect(),
            amplitudes,
        };
        if let NodeRotation::Sections(V) = &rotations {
            for (node, V) in V.iter().enumerate() {
                let theta: Vec<[f64; 3]> =
                    reduced.shapes.iter().map(|shape| structure.node(shape, node)[1]).collect();
                all.add_sections(1.0, V, &theta);
            }
        }
        own.iter().for_each(|own| all.subtract(own));
        all
    }

    /// Computes what a section that rotates by `theta` adds to E2 and F; only both together are the inertia of what turns.
    fn add_sections(&mut self, factor: f64, V: &Mat3, theta: &[[f64; 3]]) {
        if self.F.is_empty() {
            return;
        }
        let n = self.n;
        for i in 0..n {
            for j in 0..n {
                let [first, second] = rotate_twice(V, &theta[i], &theta[j]);
                add(&mut self.E2[i * n + j], factor, &first);
                add(&mut self.F[i * n + j], factor, &second);
            }
        }
    }

    fn subtract(&mut self, own: &NodeMass) {
        let NodeMass { shapes, mass: m, inertia } = own;
        let (m, n, r, V) = (-m, self.n, &shapes.r, moments(inertia));
        self.mass += m;
        (0..3).for_each(|k| self.c[k] += m * r[k]);
        let square: f64 = r.iter().map(|x| x * x).sum();
        outer(&mut self.tensor, -m, r, r);
        for a in 0..3 {
            self.tensor[a][a] += m * square;
            (0..3).for_each(|b| self.tensor[a][b] -= inertia.0[a][b]);
        }
        for (i, S) in shapes.S.iter().enumerate() {
            (0..3).for_each(|k| self.C1[i][k] += m * S[k]);
            let angle = (*inertia * Vec3(shapes.P[i])).0;
            outer(&mut self.E1[i], m, r, S);
            rotate_section(&mut self.E1[i], -1.0, &V, &shapes.P[i]);
            for (j, other) in shapes.S.iter().enumerate() {
                outer(&mut self.E2[i * n + j], m, S, other);
                self.amplitudes[i * n + j] +=
                    m * Vec3(*S).dot(Vec3(*other)) - Vec3(angle).dot(Vec3(shapes.P[j]));
            }
        }
        for (k, g) in shapes.quadratic.iter().enumerate() {
            (0..3).for_each(|a| self.C2[k][a] += m * g[a]);
            outer(&mut self.F[k], m, r, g);
        }
        self.add_sections(-1.0, &V, &shapes.P);
    }
}

fn add(sum: &mut Tensor, factor: f64, a: &Mat3) {
    (0..9).for_each(|k| sum[k / 3][k % 3] += factor * a.0[k / 3][k % 3]);
}
