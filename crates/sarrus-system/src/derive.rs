//! J, Φ_t, γ and the jerk terms of a constraint from its residual: dual numbers in the directions of the
//! velocities, Taylor jets along the motion.
//!
//! Along a motion with v̇ = 0 the second derivative of Φ is J̇ v + Φ_tt + ..., so γ is its negative; for a row at
//! velocity level the same holds one derivative down. The buffers live in a [`DerivativeWorkspace`] so that a step
//! allocates nothing.
//!
//! [`taylor`] expands Φ and J along any motion, for the crossing of singular positions.

use crate::at::At;
use crate::constraint::{Constraint, JacobianBlocks};
use sarrus_math::{Dual, Jet, Pose, Real, Twist};
use sarrus_solve::COEFFICIENTS;

/// The velocity columns (vx vy vz wx wy wz) that a planar body has.
pub const PLANAR_COLUMNS: [usize; 3] = [0, 1, 5];
/// The velocity columns of a body in space.
pub const SPATIAL_COLUMNS: [usize; 6] = [0, 1, 2, 3, 4, 5];

/// Velocity columns of a block of the given width.
pub fn columns(wide: usize) -> &'static [usize] {
    if wide == 3 { &PLANAR_COLUMNS } else { &SPATIAL_COLUMNS }
}

/// Seeded copies of an element's bodies, kept between evaluations.
#[derive(Clone, Default)]
pub struct DerivativeWorkspace {
    ids: Vec<u32>,
    dual_poses: Vec<Pose<Dual<6>>>,
    dual_twists: Vec<Twist<Dual<6>>>,
    duals: Vec<Dual<6>>,
    jets2: Jets<2>,
    jets3: Jets<3>,
    jets4: Jets<4>,
    taylor_poses: Vec<Pose<Dual<6, Taylor>>>,
    taylor_twists: Vec<Twist<Dual<6, Taylor>>>,
    taylor_duals: Vec<Dual<6, Taylor>>,
}

/// A number along a motion, as far as passages want it.
pub type Taylor = Jet<COEFFICIENTS>;

#[derive(Clone)]
struct Jets<const K: usize> {
    poses: Vec<Pose<Jet<K>>>,
    twists: Vec<Twist<Jet<K>>>,
    values: Vec<Jet<K>>,
}

impl<const K: usize> Default for Jets<K> {
    fn default() -> Self {
        Self { poses: Vec::new(), twists: Vec::new(), values: Vec::new() }
    }
}

fn local_ids(ids: &mut Vec<u32>, n: usize) {
    while ids.len() < n {
        ids.push(ids.len() as u32);
    }
}

/// ∂Φ/∂v and ∂ψ/∂v, one body at a time.
pub fn jacobian<C: Constraint>(
    c: &C,
    at: &At<f64>,
    scratch: &mut DerivativeWorkspace,
    J: &mut JacobianBlocks,
) {
    let n = at.ids.len();
    let (rows, holonomic) = (c.rows(), c.holonomic());
    let columns = columns(J.wide);
    local_ids(&mut scratch.ids, n);
    scratch.dual_poses.clear();
    scratch.dual_poses.extend((0..n).map(|i| at.pose(i).lift()));
    scratch.dual_twists.clear();
    if holonomic < rows {
        scratch.dual_twists.extend((0..n).map(|i| at.twist(i).lift()));
    }
    scratch.duals.clear();
    scratch.duals.resize(rows, Dual::zero());
    for body in 0..n {
        // ground does not move; its block is never used
        if at.ids[body] == 0 {
            continue;
        }
        if holonomic > 0 {
            scratch.dual_poses[body] = at.pose(body).seed(0, columns);
            let seeded = At {
                t: Dual::from_f64(at.t),
                poses: &scratch.dual_poses,
                twists: &[],
                ids: &scratch.ids[..n],
                discrete: at.discrete,
                outs: &[],
            };
            c.residual(&seeded, &mut scratch.duals[..holonomic]);
            scratch.dual_poses[body] = at.pose(body).lift();
        }
        if holonomic < rows {
            scratch.dual_twists[body] = at.twist(body).seed(at.pose(body), 0, columns);
            let seeded = At {
                t: Dual::from_f64(at.t),
                poses: &scratch.dual_poses,
                twists: &scratch.dual_twists,
                ids: &scratch.ids[..n],
                discrete: at.discrete,
                outs: &[],
            };
            c.velocity(&seeded, &mut scratch.duals[holonomic..]);
            scratch.dual_twists[body] = at.twist(body).lift();
        }
        for (row, value) in scratch.duals.iter().enumerate() {
            let wide = J.wide;
            J.row(body, row).copy_from_slice(&value.d[..wide]);
        }
    }
}

/// Evaluates Φ and ψ along the motion as jets; `moving = false` lets only time pass.
fn expand<'s, C: Constraint, const K: usize>(
    c: &C,
    at: &At<f64>,
    ids: &mut Vec<u32>,
    jets: &'s mut Jets<K>,
    moving: bool,
) -> &'s [Jet<K>] {
    let n = at.ids.len();
    let (rows, holonomic) = (c.rows(), c.holonomic());
    local_ids(ids, n);
    jets.poses.clear();
    jets.twists.clear();
    for i in 0..n {
        if moving && at.ids[i] != 0 {
            let twist = at.twist(i);
            let (v, w) = ([twist.v.0], [twist.w.0]);
            let pose = at.pose(i).jet(&v, &w);
            jets.twists.push(Twist::jet(&pose, &v, &w));
            jets.poses.push(pose);
        } else {
            jets.poses.push(at.pose(i).lift());
            jets.twists.push(Twist::zero());
        }
    }
    jets.values.clear();
    jets.values.resize(rows, Jet::zero());
    let expanded = At {
        t: Jet::variable(at.t),
        poses: &jets.poses,
        twists: &jets.twists,
        ids: &ids[..n],
        discrete: at.discrete,
        outs: &[],
    };
    c.residual(&expanded, &mut jets.values[..holonomic]);
    c.velocity(&expanded, &mut jets.values[holonomic..]);
    &jets.values
}

/// γ = -(Φ̈ at v̇ = 0), for rows at velocity level -(ψ̇ at v̇ = 0).
pub fn gamma<C: Constraint>(c: &C, at: &At<f64>, scratch: &mut DerivativeWorkspace, gamma: &mut [f64]) {
    let holonomic = c.holonomic();
    let values = expand(c, at, &mut scratch.ids, &mut scratch.jets3, true);
    for (i, (out, value)) in gamma.iter_mut().zip(values).enumerate() {
        *out = -value.derivative(if i < holonomic { 2 } else { 1 });
    }
}

/// Φ_t, and ψ at v = 0.
pub fn phi_t<C: Constraint>(c: &C, at: &At<f64>, scratch: &mut DerivativeWorkspace, phi_t: &mut [f64]) {
    let holonomic = c.holonomic();
    let values = expand(c, at, &mut scratch.ids, &mut scratch.jets2, false);
    for (i, (out, value)) in phi_t.iter_mut().zip(values).enumerate() {
        *out = value.derivative(if i < holonomic { 1 } else { 0 });
    }
}

/// Φ̇ and ψ along the motion.
pub fn rates<C: Constraint>(c: &C, at: &At<f64>, scratch: &mut DerivativeWorkspace, rates: &mut [f64]) {
    let holonomic = c.holonomic();
    let values = expand(c, at, &mut scratch.ids, &mut scratch.jets2, true);
    for (i, (out, value)) in rates.iter_mut().zip(values).enumerate() {
        *out = value.derivative(if i < holonomic { 1 } else { 0 });
    }
}

/// Third derivative of Φ, second of ψ, along the motion with v̇ = 0.
pub fn jerk<C: Constraint>(c: &C, at: &At<f64>, scratch: &mut DerivativeWorkspace, jerk: &mut [f64]) {
    let holonomic = c.holonomic();
    let values = expand(c, at, &mut scratch.ids, &mut scratch.jets4, true);
    for (i, (out, value)) in jerk.iter_mut().zip(values).enumerate() {
        *out = value.derivative(if i < holonomic { 3 } else { 2 });
    }
}

/// Taylor coefficients of Φ along the motion of `at`, which must have twists too. A row at velocity level gives the integral
/// of ψ in place of Φ, so that coefficient k + 1 of every row is J vₖ / (k + 1) and what earlier coefficients give.
pub fn taylor<C: Constraint>(c: &C, at: &At<Taylor>, phi: &mut [Taylor]) {
    let holonomic = c.holonomic();
    c.residual(at, &mut phi[..holonomic]);
    c.velocity(at, &mut phi[holonomic..]);
    for psi in &mut phi[holonomic..] {
        for k in (1..COEFFICIENTS).rev() {
            psi.c[k] = psi.c[k - 1] / k as f64;
        }
        psi.c[0] = 0.0;
    }
}

/// Taylor coefficients of J along the motion of `at`, laid out as [`JacobianBlocks`] of `wide` columns.
pub fn taylor_jacobian<C: Constraint>(
    c: &C,
    at: &At<Taylor>,
    scratch: &mut DerivativeWorkspace,
    wide: usize,
    J: &mut [Taylor],
) {
    let n = at.ids.len();
    let (rows, holonomic) = (c.rows(), c.holonomic());
    let columns = columns(wide);
    local_ids(&mut scratch.ids, n);
    let DerivativeWorkspace { ids, taylor_poses: poses, taylor_twists: twists, taylor_duals: duals, .. } =
        scratch;
    poses.clear();
    poses.extend((0..n).map(|i| at.pose(i).seed(0, &[])));
    twists.clear();
    twists.extend((0..n).map(|i| at.twist(i).seed(at.pose(i), 0, &[])));
    duals.clear();
    duals.resize(rows, Dual::zero());
    for body in (0..n).filter(|&body| at.ids[body] != 0) {
        let (pose, twist) = (poses[body], twists[body]);
        let t = Dual::constant(at.t);
        if holonomic > 0 {
            poses[body] = at.pose(body).seed(0, columns);
            let seeded = At { t, poses, twists: &[], ids: &ids[..n], discrete: at.discrete, outs: &[] };
            c.residual(&seeded, &mut duals[..holonomic]);
            poses[body] = pose;
        }
        if holonomic < rows {
            twists[body] = at.twist(body).seed(at.pose(body), 0, columns);
            let seeded = At { t, poses, twists, ids: &ids[..n], discrete: at.discrete, outs: &[] };
            c.velocity(&seeded, &mut duals[holonomic..]);
            twists[body] = twist;
        }
        for (row, value) in duals.iter().enumerate() {
            J[(body * rows + row) * wide..][..wide].copy_from_slice(&value.d[..wide]);
        }
    }
}
