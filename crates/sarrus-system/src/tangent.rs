//! The tangent of the equations of motion: how M v̇ + Jᵀλ - f and the constraints change with positions and velocities.
//!
//! ```text
//! δ(M v̇ + Jᵀλ - f) = K δq + D δv + M δv̇ + Jᵀδλ,     K = ∂(Jᵀλ)/∂q - ∂f/∂q,  D = -∂f/∂v
//! δΦ̇ = Φ̇_q δq + J δv,    δΦ̈ = Φ̈_q δq + Φ̈_v δv + J δv̇
//! ```
//!
//! with δq in the directions of the velocities; of a modal body K has ∂(M v̇)/∂q too. K and D have a block for every two bodies that an
//! element connects; the others are laid out as J. All derivatives are exact (duals and jets), but for forces written in Rust as closures and for what controllers put
//! out, which count as constant.

use crate::at::At;
use crate::body::{Body, BodyKind};
use crate::contact;
use crate::derive::columns;
use crate::load::Wrench;
use crate::mechanism::Mechanism;
use crate::system::System;
use crate::variation::Variation;
use sarrus_math::{Dual, Mat3, Pose, Twist};
use sarrus_solve::{State, Tangent};

impl System {
    /// Workspace for the tangent.
    pub fn new_tangent(&self) -> Tangent {
        let elements = self.elements.iter().map(|e| &e.ids);
        let connected = elements.chain(self.forces.iter().map(|f| &f.ids));
        let moving = |ids: &[u32]| -> Vec<usize> {
            ids.iter().filter(|id| **id != 0).map(|id| self.column(*id)).collect()
        };
        let touching = contact::tangent::connected(self).into_iter();
        let touching = touching.map(|ids| moving(&ids));
        Tangent::new(&self.structure, connected.map(|ids| moving(ids)).chain(touching))
    }
}

impl Mechanism {
    /// The tangent at `s`, where the accelerations are `vdot` (nv) and the multipliers `lambda` (nc).
    pub fn tangent(&mut self, s: &State, vdot: &[f64], lambda: &[f64], out: &mut Tangent) {
        self.tangent_with(s, vdot, lambda, true, out);
    }

    /// K and D of one applied force alone; nothing else of `out` is touched.
    pub fn force_tangent(&mut self, s: &State, force: usize, out: &mut Tangent) {
        let system = self.system().clone();
        out.K.fill(0.0);
        out.D.fill(0.0);
        self.observe(s, |at| add_forces(&system, force..force + 1, at, out));
    }

    /// K and D of all but the applied forces: rows, inertia, contacts, and friction of joints; nothing else of `out` is touched.
    pub fn tangent_without_forces(&mut self, s: &State, vdot: &[f64], lambda: &[f64], out: &mut Tangent) {
        self.tangent_of(0..0, s, vdot, lambda, false, out);
        self.add_joint_friction(s, out);
    }

    /// The tangent; Φ̇_q, Φ̈_q and Φ̈_v only `with_variations`.
    pub(crate) fn tangent_with(
        &mut self,
        s: &State,
        vdot: &[f64],
        lambda: &[f64],
        with_variations: bool,
        out: &mut Tangent,
    ) {
        let all = 0..self.system().forces.len();
        self.tangent_of(all, s, vdot, lambda, with_variations, out);
    }

    /// The tangent with some of the applied forces, and all else.
    pub(crate) fn tangent_of(
        &mut self,
        forces: std::ops::Range<usize>,
        s: &State,
        vdot: &[f64],
        lambda: &[f64],
        with_variations: bool,
        out: &mut Tangent,
    ) {
        let system = self.system().clone();
        out.K.fill(0.0);
        out.D.fill(0.0);
        self.observe(s, |at| {
            add_gyroscopic(&system, at, out);
            add_floating(&system, at, vdot, out);
            add_added_mass(&system, at, vdot, out);
            add_forces(&system, forces, at, out);
            add_rows(&system, at, vdot, lambda, with_variations, out);
        });
        self.with_contacts(s, |contacts, bodies, _| contacts.add_tangent(bodies, out));
        // a torque from outside stays in the world while the body turns: -∂(Rᵀτ)/∂q = -[Rᵀτ]×
        for (id, body) in system.directory.bodies.iter().enumerate().take(self.pushed()) {
            if body.kind.rotates_in_space() {
                let torque = self.pose(id).rot.transpose_mul(self.external(id as u32).torque);
                let (rotated, (index, stride)) =
                    (Mat3::skew(torque), block_index(&system, out, [id as u32; 2]));
                for r in 0..3 {
                    for c in 0..3 {
                        out.K[index + (3 + r) * stride + 3 + c] -= rotated.0[r][c];
                    }
                }
            }
        }
    }
}

pub(crate) fn kind_columns(system: &System, id: u32) -> usize {
    system.directory.bodies[id as usize].kind.nv()
}

/// ω × I ω of each body, in D.
fn add_gyroscopic(system: &System, at: &At<f64>, out: &mut Tangent) {
    for (i, body) in system.directory.bodies.iter().enumerate().skip(1) {
        if !matches!(body.kind, BodyKind::Rigid | BodyKind::RigidEuler) || body.shares {
            continue;
        }
        let (w, inertia) = (at.twists[i].w, &body.inertia);
        let momentum = *inertia * w;
        let (a, b) = (Mat3::skew(w), Mat3::skew(momentum));
        let (index, _) = block_index(system, out, [i as u32; 2]);
        let block = &mut out.D[index..][..36];
        for r in 0..3 {
            for c in 0..3 {
                let angle: f64 = (0..3).map(|k| a.0[r][k] * inertia.0[k][c]).sum();
                block[(3 + r) * 6 + 3 + c] += angle - b.0[r][c];
            }
        }
    }
}

/// The inertia of modal bodies.
fn add_floating(system: &System, at: &At<f64>, vdot: &[f64], out: &mut Tangent) {
    for floating in &system.directory.floating {
        let index = system.column(floating.frame);
        let (col, slot) = (system.structure.cols[index], out.first_entry([index, index]));
        let own = slot..slot + col.size * col.size;
        let (K, D) = (&mut out.K[own.clone()], &mut out.D[own]);
        floating.tangent(at, &system.gravity, &vdot[col.start..][..col.size], K, D);
    }
}

/// The inertia of the fluid around bodies.
fn add_added_mass(system: &System, at: &At<f64>, vdot: &[f64], out: &mut Tangent) {
    for (id, added) in &system.directory.added {
        let index = system.column(*id);
        let (col, slot) = (system.structure.cols[index], out.first_entry([index, index]));
        let own = slot..slot + col.size * col.size;
        let i = *id as usize;
        let moving = (&at.poses[i], &at.twists[i]);
        let (K, D) = (&mut out.K[own.clone()], &mut out.D[own]);
        added.add_tangent(&system.directory.bodies[i], moving, &vdot[col.start..][..col.size], K, D);
    }
}

/// The first number of the block of two bodies, and the step from a row to the next.
pub(crate) fn block_index(system: &System, out: &Tangent, [a, b]: [u32; 2]) -> (usize, usize) {
    let cols = [a, b].map(|id| system.column(id));
    let stride = system.structure.cols[cols[1]].size;
    (out.first_entry(cols) + system.offset(a) * stride + system.offset(b), stride)
}

/// -∂f/∂q and -∂f/∂v of some of the applied forces.
fn add_forces(system: &System, which: std::ops::Range<usize>, at: &At<f64>, out: &mut Tangent) {
    let columns = columns(system.wide);
    let outs: Vec<Dual<6>> = at.outs.iter().map(|x| Dual::constant(*x)).collect();
    for force in system.forces[which].iter().filter(|f| f.enabled) {
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
                    discrete: at.discrete,
                    outs: &outs,
                };
                force.load.wrench_dual(&seeded, &mut wrenches);
                let wide = kind_columns(system, force.ids[moved]);
                for i in (0..n).filter(|i| force.ids[*i] != 0) {
                    let f = generalized(&system.directory.bodies[body(i)], &poses[i], &wrenches[i]);
                    let (index, stride) = block_index(system, out, [force.ids[i], force.ids[moved]]);
                    let part = if velocities { &mut out.D } else { &mut out.K };
                    for (r, f) in f.iter().enumerate().take(kind_columns(system, force.ids[i])) {
                        let row = &mut part[index + r * stride..][..wide];
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
pub(crate) fn generalized(body: &Body, pose: &Pose<Dual<6>>, wrench: &Wrench<Dual<6>>) -> [Dual<6>; 6] {
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
fn add_rows(
    system: &System,
    at: &At<f64>,
    vdot: &[f64],
    lambda: &[f64],
    with_variations: bool,
    out: &mut Tangent,
) {
    let wide = system.wide;
    let accelerations: Vec<[[f64; 3]; 2]> =
        system.directory.bodies.iter().map(|b| acceleration(b, vdot)).collect();
    let (mut own, mut square, mut variations) = (Vec::new(), Vec::new(), Variation::default());
    for element in &system.elements {
        let (n, rows) = (element.ids.len(), element.rows.rows());
        let here = At {
            t: at.t,
            poses: at.poses,
            twists: at.twists,
            ids: &element.ids,
            discrete: at.discrete,
            outs: at.outs,
        };
        let size = n * wide;
        square.clear();
        square.resize(size * size, 0.0);
        element.rows.curvature(&here, wide, &lambda[element.start..][..rows], &mut square);
        for (a, &id_a) in element.ids.iter().enumerate().filter(|(_, id)| **id != 0) {
            for (b, &id_b) in element.ids.iter().enumerate().filter(|(_, id)| **id != 0) {
                let [m, columns] = [id_a, id_b].map(|id| kind_columns(system, id));
                let (index, stride) = block_index(system, out, [id_a, id_b]);
                for i in 0..m {
                    let from = &square[(a * wide + i) * size + b * wide..][..columns];
                    let to = &mut out.K[index + i * stride..][..columns];
                    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
                }
            }
        }
        if !with_variations {
            continue;
        }
        own.clear();
        own.extend(element.ids.iter().map(|id| accelerations[*id as usize]));
        element.rows.variation(&here, wide, &own, &mut variations);
        let parts = [
            (&variations.phidot_q, &mut out.phidot_q),
            (&variations.phiddot_q, &mut out.phiddot_q),
            (&variations.phiddot_v, &mut out.phiddot_v),
        ];
        for (from, to) in parts {
            element.scatter(rows, wide, from, to);
        }
    }
}

/// v̇ in the world and ω̇ in body axes.
pub(crate) fn acceleration(body: &Body, vdot: &[f64]) -> [[f64; 3]; 2] {
    let a = |i: usize| vdot[body.v + i];
    match body.kind {
        BodyKind::Ground => [[0.0; 3]; 2],
        BodyKind::Rigid | BodyKind::RigidEuler => [[a(0), a(1), a(2)], [a(3), a(4), a(5)]],
        BodyKind::PlanarRigid => [[a(0), a(1), 0.0], [0.0, 0.0, a(2)]],
        BodyKind::Point => [[a(0), a(1), a(2)], [0.0; 3]],
        BodyKind::PlanarPoint => [[a(0), a(1), 0.0], [0.0; 3]],
    }
}
