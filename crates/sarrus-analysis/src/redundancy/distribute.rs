//! Reactions that are not unique, as joints that give way would share them.
//!
//! Minimizes Σ ½ wᵀC w over the joints, w = G λ the wrench at the joint's point in the axes of its frame M and C its
//! compliance, over all λ with Jᵀλ = g, g = f - M v̇: of all reactions that give this motion, those that store the least energy
//! in the joints. With H = GᵀC G = L Lᵀ, element by element, ν = Lᵀλ, A = L⁻¹J S, and displacements u = S w of the bodies, the minimum is
//!
//! ```text
//! [ 1   -A ] [ ν ]   [ 0   ]
//! [ Aᵀ  ε1 ] [ w ] = [ Sᵀg ],
//! ```
//!
//! the augmented system of a least-norm problem \[Bjorck1996, section 1.4.4\]. S scales each body by the stiffness of its own joints, S Sᵀ = (JᵀH⁻¹J)_b⁻¹, so that
//! all entries are at most 1 however far compliances are apart. ε, a small number, fixes displacements that no joint resists; iterative refinement with
//! ε = 0 in the residual takes it out again. A sparse LU with pivoting, O(N). M is no part of it, but for what the joints of a body leave free.
//!
//! Joints without `compliance`, constraints and drivers are rigid: their compliance is a small fraction of the smallest one given, so
//! that those given stay as they are. The thread of a screw counts as an element of its own. Not a dynamic analysis: joints do not move.

use super::report::{DistributedReaction, DistributionReport};
use crate::error::SetupError;
use crate::failure;
use sarrus_math::solve::{SparseLu, cholesky, cholesky_backward, cholesky_forward};
use sarrus_model::Space;
use sarrus_solve::{
    Accel, Equations, HUB_DEGREE, Kkt, Options, Problem, SolveError, Stage, State, Structure, formulations,
};
use sarrus_system::columns::{REACTIONS, RowWrench, reaction_rows, reactions};
use sarrus_system::{Family, Mechanism, System};
use std::collections::HashMap;

/// Compliance of what is rigid, as a fraction of the smallest of the compliances given.
const RIGID: f64 = 1e-6;
/// Part of a body's mass in its metric, relative: what its own joints leave free needs some.
const FREE: f64 = 1e-3;
/// ε. Refinement takes an error along a singular value σ of A down by ε/(ε + σ²): to rounding for all σ² far above it, and σ² has the size of the
/// ratio of a soft joint's stiffness to a stiff one's.
const SOFT: f64 = 1e-14;
/// Refinements, at most.
const REFINEMENTS: u32 = 50;
/// Residual of equilibrium and optimality at which the solution is one: what the proximal accelerations that g comes from hold to.
const SOLVED: f64 = 1e-7;

/// Distributes the reactions at `s` by the compliance of the joints.
pub fn distribute(mechanism: &mut Mechanism, s: &State) -> Result<DistributionReport, SetupError> {
    let system = mechanism.system().clone();
    let Some(least) = Least::new(&system) else { return Err(SetupError::NoCompliance) };
    solve(mechanism, &system, &least, s).map_err(|source| {
        let element = failure::element(&source, mechanism);
        SetupError::Start { source, element }
    })
}

/// Smallest compliances of force and torque over the joints that have one.
struct Least {
    force: f64,
    torque: f64,
    joints: usize,
}

impl Least {
    fn new(system: &System) -> Option<Least> {
        let given: Vec<_> = system.directory.joints.iter().filter_map(|j| j.compliance).collect();
        let least = |values: Vec<f64>| values.into_iter().filter(|c| *c > 0.0).reduce(f64::min);
        let force = least(given.iter().flat_map(|c| c.force).collect());
        let torque = least(given.iter().flat_map(|c| c.torque).collect());
        // where only one is given, the other is as at a lever of a metre
        let (force, torque) = (force.or(torque)?, torque.or(force)?);
        Some(Least { force, torque, joints: given.len() })
    }
}

fn solve(
    mechanism: &mut Mechanism,
    system: &System,
    least: &Least,
    s: &State,
) -> Result<DistributionReport, SolveError> {
    let structure = &system.structure;
    let mut eq = Equations::new(mechanism);
    mechanism.update(s, Stage::FORCE, &mut eq);
    let mut kkt = Kkt::new(structure, &eq, HUB_DEGREE)?;
    let mut accel = Accel::zeros(structure);
    let Ok(mut proximal) = formulations::make("proximal", &Options::new()) else {
        return Err(SolveError::NotFinite { quantity: "lambda", index: 0 });
    };
    proximal.accelerations(structure, &eq, &mut kkt, &mut accel)?;
    let reactive = mechanism.reactive_forces();
    if reactive > 0 {
        // of the reactions of least norm
        let mut n = vec![0.0; reactive];
        mechanism.intensities(s, &eq, &accel.lambda, &mut n);
        mechanism.add_reactive_forces(s, &n, &mut eq.f);
        proximal.accelerations(structure, &eq, &mut kkt, &mut accel)?;
    }
    let mut g = vec![0.0; structure.nv];
    eq.add_Jt_mul(structure, &accel.lambda, &mut g);

    let maps: Vec<Vec<RowWrench>> = mechanism.observe(s, |at| {
        (0..system.directory.joints.len()).map(|j| reaction_rows(system, &eq, at, j)).collect()
    });
    let axes: Vec<[[f64; 3]; 3]> = mechanism.observe(s, |at| {
        let M =
            system.directory.joints.iter().map(|j| j.frames.M.frame_pose(&at.poses[j.bodies[1] as usize]));
        M.map(|M| {
            if system.directory.space == Space::Planar {
                planar_axes(M.angle)
            } else {
                [0, 1, 2].map(|i| M.rot.col(i).0)
            }
        })
        .collect()
    });
    let roots = roots(system, &eq, least, &maps, &axes)?;

    let (lambda, residual) = least_energy(structure, &eq, &roots, &g)?;

    let read =
        |map: &[RowWrench], lambda: &[f64], k: usize| map.iter().map(|r| r.wrench[k] * lambda[r.row]).sum();
    let components = reactions(system);
    let reactions = system.directory.joints.iter().zip(&maps).map(|(joint, map)| DistributedReaction {
        name: joint.name.clone(),
        components: components.iter().map(|&k| REACTIONS[k]).collect(),
        minimum_norm: components.iter().map(|&k| read(map, &accel.lambda, k)).collect(),
        distributed: components.iter().map(|&k| read(map, &lambda, k)).collect(),
    });
    Ok(DistributionReport {
        by: "stiffness",
        compliant: least.joints,
        rigid: RIGID,
        residual,
        reactions: reactions.collect(),
    })
}

/// L of every block row, by columns.
fn roots(
    system: &System,
    eq: &Equations,
    least: &Least,
    maps: &[Vec<RowWrench>],
    axes: &[[[f64; 3]; 3]],
) -> Result<Vec<Vec<f64>>, SolveError> {
    let structure = &system.structure;
    let by_name: HashMap<&str, usize> =
        system.directory.joints.iter().enumerate().map(|(i, j)| (j.name.as_str(), i)).collect();
    let (rigid_force, rigid_torque) = (RIGID * least.force, RIGID * least.torque);
    let mut all = Vec::with_capacity(structure.rows.len());
    for (row, element) in structure.rows.iter().zip(&system.elements) {
        let n = row.size;
        let mut H = vec![0.0; n * n];
        match by_name.get(element.name.as_str()).filter(|_| element.family == Family::Joint) {
            Some(&j) => {
                let given = system.directory.joints[j].compliance;
                let map: Vec<&RowWrench> =
                    maps[j].iter().filter(|r| (row.start..row.start + n).contains(&r.row)).collect();
                for k in 0..6 {
                    let c = match (k < 3, given) {
                        (true, Some(c)) => c.force[k].max(rigid_force),
                        (false, Some(c)) => c.torque[k - 3].max(rigid_torque),
                        (true, None) => rigid_force,
                        (false, None) => rigid_torque,
                    };
                    let along = |r: &RowWrench| -> f64 {
                        (0..3).map(|i| axes[j][k % 3][i] * r.wrench[k / 3 * 3 + i]).sum()
                    };
                    for (a, ra) in map.iter().enumerate() {
                        for (b, rb) in map.iter().enumerate() {
                            H[a * n + b] += c * along(ra) * along(rb);
                        }
                    }
                }
            }
            None => {
                for i in 0..n {
                    let (force, torque) = sizes(system, eq, row.entries.clone(), i);
                    H[i * n + i] = rigid_force * force + rigid_torque * torque;
                }
            }
        }
        // a row that exerts nothing has a multiplier that means nothing
        let largest = (0..n).fold(f64::MIN_POSITIVE, |m, i| m.max(H[i * n + i]));
        (0..n).for_each(|i| H[i * n + i] += 1e-14 * largest);
        cholesky(&mut H, n)
            .map_err(|i| SolveError::NotFinite { quantity: "compliance", index: row.start + i })?;
        all.push(H);
    }
    Ok(all)
}

/// Squares of the force and of the torque that a unit multiplier of a row exerts on its first body.
fn sizes(system: &System, eq: &Equations, entries: std::ops::Range<usize>, i: usize) -> (f64, f64) {
    let s = &system.structure;
    let Some(e) = s.entries[entries].first() else { return (1.0, 0.0) };
    let n = s.cols[e.col].size;
    let planar = system.directory.space == Space::Planar;
    let linear = if planar { n.min(2) } else { n.min(3) };
    let J = &eq.J[e.offset + i * n..][..n];
    let square = |J: &[f64]| J.iter().map(|x| x * x).sum();
    (square(&J[..linear]), square(&J[linear..]))
}

/// λ of least energy with Jᵀλ = g, and what is left of that equation and of the minimum, relative.
fn least_energy(
    s: &Structure,
    eq: &Equations,
    roots: &[Vec<f64>],
    g: &[f64],
) -> Result<(Vec<f64>, f64), SolveError> {
    let mut A = eq.J.clone();
    for (block, row) in s.rows.iter().enumerate() {
        for e in &s.entries[row.entries.clone()] {
            let n = s.cols[e.col].size;
            forward(&roots[block], &mut A[e.offset..][..row.size * n], row.size, n);
        }
    }
    let scales = stiffness_roots(s, eq, &A)?;
    for row in &s.rows {
        for e in &s.entries[row.entries.clone()] {
            let n = s.cols[e.col].size;
            let own = A[e.offset..][..row.size * n].chunks_exact_mut(n);
            own.for_each(|a| cholesky_forward(&scales[e.col], n, a));
        }
    }
    let mut r = g.to_vec();
    s.cols
        .iter()
        .zip(&scales)
        .for_each(|(c, scale)| cholesky_forward(scale, c.size, &mut r[c.start..][..c.size]));
    let (mut x, residual) = least_norm(s, &A, &r)?;
    for (block, row) in s.rows.iter().enumerate() {
        cholesky_backward(&roots[block], row.size, &mut x[row.start..][..row.size]);
    }
    x.truncate(s.nc);
    Ok((x, residual))
}

/// (ν, w) with ν = A w, Aᵀν = r, and the largest residual relative to r.
fn least_norm(s: &Structure, A: &[f64], r: &[f64]) -> Result<(Vec<f64>, f64), SolveError> {
    let (nc, n) = (s.nc, s.nc + s.nv);
    let mut entries: Vec<(usize, usize, f64)> =
        (0..n).map(|i| (i, i, if i < nc { 1.0 } else { SOFT })).collect();
    for row in &s.rows {
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            for (k, a) in A[e.offset..][..row.size * col.size].iter().enumerate() {
                let (i, j) = (row.start + k / col.size, nc + col.start + k % col.size);
                entries.extend([(i, j, -a), (j, i, *a)]);
            }
        }
    }
    let unsolved = |_| SolveError::NotFinite { quantity: "lambda", index: 0 };
    let lu = SparseLu::new(n, &entries).map_err(unsolved)?;
    let whole = r.iter().fold(f64::MIN_POSITIVE, |most, r| most.max(r.abs()));
    let mut off = vec![0.0; n];
    off[nc..].copy_from_slice(r);
    let (mut x, mut best, mut left) = (vec![0.0; n], vec![0.0; n], f64::INFINITY);
    for _ in 0..REFINEMENTS {
        let now = off.iter().fold(0.0_f64, |most, x| most.max(x.abs())) / whole;
        if !(now < left) {
            break;
        }
        left = now;
        best.copy_from_slice(&x);
        if left <= f64::EPSILON {
            break;
        }
        lu.solve(&mut off).map_err(unsolved)?;
        x.iter_mut().zip(&off).for_each(|(x, d)| *x += d);
        // 0 - (ν - A w), r - Aᵀν
        off[nc..].copy_from_slice(r);
        off[..nc].iter_mut().zip(&x).for_each(|(off, x)| *off = -x);
        for &(i, j, a) in entries[n..].iter() {
            off[i] -= a * x[j];
        }
    }
    if left <= SOLVED {
        Ok((best, left))
    } else {
        Err(SolveError::NoConvergence { iterations: REFINEMENTS, residual: left })
    }
}

/// Roots of the stiffness that each body has from its own rows, (AᵀA)_b, with a little of its mass.
fn stiffness_roots(s: &Structure, eq: &Equations, A: &[f64]) -> Result<Vec<Vec<f64>>, SolveError> {
    let mut all: Vec<Vec<f64>> = s.cols.iter().map(|col| vec![0.0; col.size * col.size]).collect();
    for row in &s.rows {
        for e in &s.entries[row.entries.clone()] {
            let n = s.cols[e.col].size;
            for a in A[e.offset..][..row.size * n].chunks_exact(n) {
                for (k, K) in all[e.col].iter_mut().enumerate() {
                    *K += a[k / n] * a[k % n];
                }
            }
        }
    }
    for (col, K) in s.cols.iter().zip(&mut all) {
        let (n, M) = (col.size, &eq.mass[col.mass..][..col.size * col.size]);
        let stiffest = (0..n).fold(0.0_f64, |most, i| most.max(K[i * n + i] / M[i * n + i]));
        // a body without joints is as stiff as anything
        let share = if stiffest > 0.0 { FREE * stiffest } else { 1.0 };
        K.iter_mut().zip(M).for_each(|(K, M)| *K += share * M);
        cholesky(K, n).map_err(|i| SolveError::NotFinite { quantity: "stiffness", index: col.start + i })?;
    }
    Ok(all)
}

/// X ← L⁻¹ X, by rows, with `width` columns.
fn forward(L: &[f64], X: &mut [f64], n: usize, width: usize) {
    let mut x = vec![0.0; n];
    for j in 0..width {
        x.iter_mut().zip(X[j..].iter().step_by(width)).for_each(|(x, X)| *x = *X);
        cholesky_forward(L, n, &mut x);
        X[j..].iter_mut().step_by(width).zip(&x).for_each(|(X, x)| *X = *x);
    }
}

fn planar_axes(angle: f64) -> [[f64; 3]; 3] {
    let (s, c) = angle.sin_cos();
    [[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]
}
