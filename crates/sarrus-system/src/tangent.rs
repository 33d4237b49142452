//! The tangent of the equations of motion: how M v̇ + Jᵀλ - f and the constraints change with positions and velocities.
//!
//! ```text
//! δ(M v̇ + Jᵀλ - f) = K δq + D δv + M δv̇ + Jᵀδλ,     K = ∂(Jᵀλ)/∂q - ∂f/∂q,  D = -∂f/∂v
//! δΦ̇ = Φ̇_q δq + J δv,    δΦ̈ = Φ̈_q δq + Φ̈_v δv + J δv̇
//! ```
//!
//! with δq in the directions of the velocities. K and D have a block for every two bodies that an element connects; the others are
//! laid out as J. All derivatives are exact (duals and jets), but for forces written in Rust as closures and for what controllers put
//! out, which count as constant.

use crate::at::At;
use crate::body::{Body, BodyKind};
use crate::derive::columns;
use crate::load::Wrench;
use crate::mechanism::Mechanism;
use crate::system::System;
use crate::variation::Variation;
use sarrus_math::{Dual, Mat3, Pose, Twist};
use sarrus_solve::State;
use std::collections::HashMap;

/// A block of K and D: rows and columns of two bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Indices in [`sarrus_solve::Structure::cols`], of the rows and of the columns.
    pub at: [usize; 2],
    /// First number of the block, by rows, in [`Tangent::K`] and [`Tangent::D`].
    pub offset: usize,
}

/// K, D and the variations of the constraints at a state.
#[derive(Debug, Clone, Default)]
pub struct Tangent {
    /// The blocks of K and D, each pair of bodies once.
    pub pairs: Vec<Pair>,
    /// ∂(Jᵀλ - f)/∂q.
    pub K: Vec<f64>,
    /// -∂f/∂v.
    pub D: Vec<f64>,
    /// ∂Φ̇/∂q, laid out as J.
    pub phidot_q: Vec<f64>,
    /// ∂Φ̈/∂q, likewise.
    pub phiddot_q: Vec<f64>,
    /// ∂Φ̈/∂v, likewise.
    pub phiddot_v: Vec<f64>,
    places: HashMap<[usize; 2], usize>,
    /// Room for one element.
    square: Vec<f64>,
    rows: Variation,
}

impl Tangent {
    /// Room for the tangent of `system`.
    pub fn new(system: &System) -> Tangent {
        let mut tangent = Tangent::default();
        let cols = &system.structure.cols;
        (0..cols.len()).for_each(|i| tangent.add_pair(system, [i, i]));
        let elements = system.elements.iter().map(|e| &e.ids);
        for ids in elements.chain(system.forces.iter().map(|f| &f.ids)) {
            for &a in ids.iter().filter(|id| **id != 0) {
                ids.iter().filter(|id| **id != 0).for_each(|&b| {
                    tangent.add_pair(system, [a as usize - 1, b as usize - 1]);
                });
            }
        }
        for part in [&mut tangent.phidot_q, &mut tangent.phiddot_q, &mut tangent.phiddot_v] {
            part.resize(system.structure.J_len, 0.0);
        }
        tangent
    }

    fn add_pair(&mut self, system: &System, at: [usize; 2]) {
        if self.places.contains_key(&at) {
            return;
        }
        let [m, n] = at.map(|i| system.structure.cols[i].size);
        let offset = self.K.len();
        self.places.insert(at, offset);
        self.pairs.push(Pair { at, offset });
        self.K.resize(offset + m * n, 0.0);
        self.D.resize(offset + m * n, 0.0);
    }
}

impl Mechanism {
    /// The tangent at `s`, where the accelerations are `vdot` (nv) and the multipliers `lambda` (nc).
    pub fn tangent(&mut self, s: &State, vdot: &[f64], lambda: &[f64], out: &mut Tangent) {
        let system = self.system().clone();
        out.K.fill(0.0);
        out.D.fill(0.0);
        self.observe(s, |at| {
            add_gyroscopic(&system, at, out);
            add_forces(&system, at, out);
            add_rows(&system, at, vdot, lambda, out);
        });
    }
}

fn kind_columns(system: &System, id: u32) -> usize {
    system.directory.bodies[id as usize].kind.nv()
}

/// ω × I ω of each body, in D.
fn add_gyroscopic(system: &System, at: &At<f64>, out: &mut Tangent) {
    for (i, body) in system.directory.bodies.iter().enumerate().skip(1) {
        if !matches!(body.kind, BodyKind::Rigid | BodyKind::RigidEuler) {
            continue;
        }
        let (w, inertia) = (at.twists[i].w, &body.inertia);
        let momentum = *inertia * w;
        let (a, b) = (Mat3::skew(w), Mat3::skew(momentum));
        let block = &mut out.D[out.places[&[i - 1, i - 1]]..][..36];
        for r in 0..3 {
            for c in 0..3 {
                let turned: f64 = (0..3).map(|k| a.0[r][k] * inertia.0[k][c]).sum();
                block[(3 + r) * 6 + 3 + c] += turned - b.0[r][c];
            }
        }
    }
}

/// -∂f/∂q and -∂f/∂v of the applied forces.
fn add_forces(system: &System, at: &At<f64>, out: &mut Tangent) {
    let columns = columns(system.wide);
    for force in system.forces.iter().filter(|f| f.enabled) {
        let n = force.ids.len();
        let ids: Vec<u32> = (0..n as u32).collect();
        let body = |i: usize| force.ids[i] as usize;
        let mut poses: Vec<Pose<Dual<6>>> = (0..n).map(|i| at.poses[body(i)].lift()).collect();
        let mut twists: Vec<Twist<Dual<6>>> = (0..n).map(|i| at.twists[body(i)].lift()).collect();
        let mut wrenches = vec![Wrench::zero(); n];
        for moved in (0..n).filter(|i| force.ids[*i] != 0) {
            let (pose, twist) = (&at.poses[body(moved)], &at.twists[body(moved)]);
            for velocities in [false, true] {
                if velocities {
                    poses[moved] = pose.lift();
                    twists[moved] = twist.seed(pose, 0, columns);
                } else {
                    poses[moved] = pose.seed(0, columns);
                    twists[moved] = twist.seed_with(&poses[moved], 0, &[]);
                }
                wrenches.fill(Wrench::zero());
                let seeded = At {
                    t: Dual::constant(at.t),
                    poses: &poses,
                    twists: &twists,
                    ids: &ids,
                    hints: at.hints,
                    outs: at.outs,
                };
                force.load.wrench_dual(&seeded, &mut wrenches);
                let wide = kind_columns(system, force.ids[moved]);
                for i in (0..n).filter(|i| force.ids[*i] != 0) {
                    let f = generalized(&system.directory.bodies[body(i)], &poses[i], &wrenches[i]);
                    let place = out.places[&[body(i) - 1, body(moved) - 1]];
                    let part = if velocities { &mut out.D } else { &mut out.K };
                    for (row, f) in
                        part[place..].chunks_mut(wide).zip(&f).take(kind_columns(system, force.ids[i]))
                    {
                        row.iter_mut().zip(&f.d).for_each(|(x, d)| *x -= d);
                    }
                }
            }
            poses[moved] = pose.lift();
            twists[moved] = twist.lift();
        }
    }
}

/// The wrench as generalized forces: forces in the world, torques in body axes.
fn generalized(body: &Body, pose: &Pose<Dual<6>>, wrench: &Wrench<Dual<6>>) -> [Dual<6>; 6] {
    let f = wrench.force.0;
    match body.kind {
        BodyKind::PlanarRigid => {
            let t = wrench.torque.0[2];
            [f[0], f[1], t, t, t, t]
        }
        _ => {
            let t = pose.rot.transpose_mul(wrench.torque).0;
            [f[0], f[1], f[2], t[0], t[1], t[2]]
        }
    }
}

/// ∂(Jᵀλ)/∂q, and the variations of the rows.
fn add_rows(system: &System, at: &At<f64>, vdot: &[f64], lambda: &[f64], out: &mut Tangent) {
    let wide = system.wide;
    let accelerations: Vec<[[f64; 3]; 2]> =
        system.directory.bodies.iter().map(|b| acceleration(b, vdot)).collect();
    let mut own = Vec::new();
    for element in &system.elements {
        let (n, rows) = (element.ids.len(), element.rows.rows());
        let here = At {
            t: at.t,
            poses: at.poses,
            twists: at.twists,
            ids: &element.ids,
            hints: at.hints,
            outs: at.outs,
        };
        let size = n * wide;
        out.square.clear();
        out.square.resize(size * size, 0.0);
        element.rows.curvature(&here, wide, &lambda[element.start..][..rows], &mut out.square);
        for (a, &id_a) in element.ids.iter().enumerate().filter(|(_, id)| **id != 0) {
            for (b, &id_b) in element.ids.iter().enumerate().filter(|(_, id)| **id != 0) {
                let [m, columns] = [id_a, id_b].map(|id| kind_columns(system, id));
                let place = out.places[&[id_a as usize - 1, id_b as usize - 1]];
                for i in 0..m {
                    let from = &out.square[(a * wide + i) * size + b * wide..][..columns];
                    let to = &mut out.K[place + i * columns..][..columns];
                    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
                }
            }
        }
        own.clear();
        own.extend(element.ids.iter().map(|id| accelerations[*id as usize]));
        element.rows.variation(&here, wide, &own, &mut out.rows);
        let parts = [
            (&out.rows.phidot_q, &mut out.phidot_q),
            (&out.rows.phiddot_q, &mut out.phiddot_q),
            (&out.rows.phiddot_v, &mut out.phiddot_v),
        ];
        for (from, to) in parts {
            element.scatter(rows, wide, from, to);
        }
    }
}

/// v̇ in the world and ω̇ in body axes.
fn acceleration(body: &Body, vdot: &[f64]) -> [[f64; 3]; 2] {
    let a = |i: usize| vdot[body.v + i];
    match body.kind {
        BodyKind::Ground => [[0.0; 3]; 2],
        BodyKind::Rigid | BodyKind::RigidEuler => [[a(0), a(1), a(2)], [a(3), a(4), a(5)]],
        BodyKind::PlanarRigid => [[a(0), a(1), 0.0], [0.0, 0.0, a(2)]],
        BodyKind::Point => [[a(0), a(1), a(2)], [0.0; 3]],
        BodyKind::PlanarPoint => [[a(0), a(1), 0.0], [0.0; 3]],
    }
}
