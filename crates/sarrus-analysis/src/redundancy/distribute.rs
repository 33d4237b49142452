//! Reactions that are not unique, as joints that give way would share them.
//!
//! Minimizes Σ ½ wᵀC w over the joints, w = G λ the wrench at the joint's point in the axes of its frame M and C its
//! compliance, over all λ with Jᵀλ = f - M v̇: of all reactions that give this motion, those that store the least energy
//! in the joints. With H = GᵀC G = L Lᵀ, element by element, and ν = Lᵀλ it is the ν of least norm with (L⁻¹J)ᵀν = f - M v̇
//! ([`sarrus_solve::Kkt::least_multipliers`]), O(N). M is no part of it: as a metric each body takes the stiffness of
//! its own joints, which makes stiff and soft ones comparable.
//!
//! Joints without `compliance`, constraints and drivers are rigid: their compliance is a small fraction of the mean of
//! those given. The thread of a screw counts as an element of its own. Not a dynamic analysis: joints do not move.

use super::report::{DistributedReaction, DistributionReport};
use crate::error::SetupError;
use crate::failure;
use sarrus_math::solve::{cholesky, cholesky_backward, cholesky_forward, cholesky_solve};
use sarrus_model::Space;
use sarrus_solve::{
    Accel, Equations, HUB_DEGREE, Kkt, Options, Problem, SolveError, Stage, State, Structure, formulations,
};
use sarrus_system::columns::{REACTIONS, RowWrench, reaction_rows, reactions};
use sarrus_system::{Family, Mechanism, System};
use std::collections::HashMap;

/// Compliance of what is rigid, as a fraction of the mean of the compliances given.
const RIGID: f64 = 1e-6;
/// Part of a body's mass in its metric, relative: what its own joints leave free needs some.
const FREE: f64 = 1e-3;

/// Distributes the reactions at `s` by the compliance of the joints.
pub fn distribute(mechanism: &mut Mechanism, s: &State) -> Result<DistributionReport, SetupError> {
    let system = mechanism.system().clone();
    let Some(mean) = Mean::new(&system) else { return Err(SetupError::NoCompliance) };
    solve(mechanism, &system, &mean, s).map_err(|source| {
        let element = failure::element(&source, mechanism);
        SetupError::Start { source, element }
    })
}

/// Mean compliances of force and torque over the joints that have one.
struct Mean {
    force: f64,
    torque: f64,
    joints: usize,
}

impl Mean {
    fn new(system: &System) -> Option<Mean> {
        let given: Vec<_> = system.directory.joints.iter().filter_map(|j| j.compliance).collect();
        let mean = |values: Vec<f64>| {
            let positive: Vec<f64> = values.into_iter().filter(|c| *c > 0.0).collect();
            (!positive.is_empty()).then(|| positive.iter().sum::<f64>() / positive.len() as f64)
        };
        let force = mean(given.iter().flat_map(|c| c.force).collect());
        let torque = mean(given.iter().flat_map(|c| c.torque).collect());
        // where only one is given, the other is as at a lever of a metre
        let (force, torque) = (force.or(torque)?, torque.or(force)?);
        Some(Mean { force, torque, joints: given.len() })
    }
}

fn solve(
    mechanism: &mut Mechanism,
    system: &System,
    mean: &Mean,
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
        let M = system.directory.joints.iter().map(|j| j.frames.M.place(&at.poses[j.bodies[1] as usize]));
        M.map(|M| {
            if system.directory.space == Space::Planar {
                planar_axes(M.angle)
            } else {
                [0, 1, 2].map(|i| M.rot.col(i).0)
            }
        })
        .collect()
    });
    let roots = roots(system, &eq, mean, &maps, &axes)?;

    // ν of least norm for the rows L⁻¹J
    let mut weighted = eq.clone();
    for (block, row) in structure.rows.iter().enumerate() {
        for e in &structure.entries[row.entries.clone()] {
            let n = structure.cols[e.col].size;
            forward(&roots[block], &mut weighted.J[e.offset..][..row.size * n], row.size, n);
        }
    }
    take_stiffness_as_metric(structure, &mut weighted)?;
    let mut kkt = Kkt::new(structure, &weighted, HUB_DEGREE)?;
    let mut lambda = vec![0.0; structure.nc];
    let residual = kkt.least_multipliers(&weighted, &g, &mut lambda)?;
    for (block, row) in structure.rows.iter().enumerate() {
        cholesky_backward(&roots[block], row.size, &mut lambda[row.start..][..row.size]);
    }

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
        compliant: mean.joints,
        rigid: RIGID,
        residual,
        reactions: reactions.collect(),
    })
}

/// L of every block row, by columns.
fn roots(
    system: &System,
    eq: &Equations,
    mean: &Mean,
    maps: &[Vec<RowWrench>],
    axes: &[[[f64; 3]; 3]],
) -> Result<Vec<Vec<f64>>, SolveError> {
    let structure = &system.structure;
    let by_name: HashMap<&str, usize> =
        system.directory.joints.iter().enumerate().map(|(i, j)| (j.name.as_str(), i)).collect();
    let (rigid_force, rigid_torque) = (RIGID * mean.force, RIGID * mean.torque);
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

/// M of each body is the stiffness of its own rows, with a little of its mass.
fn take_stiffness_as_metric(s: &Structure, eq: &mut Equations) -> Result<(), SolveError> {
    let mut K = vec![0.0; s.mass_len];
    for row in &s.rows {
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            let n = col.size;
            for J in eq.J[e.offset..][..row.size * n].chunks_exact(n) {
                for i in 0..n {
                    for j in 0..n {
                        K[col.mass + i * n + j] += J[i] * J[j];
                    }
                }
            }
        }
    }
    for col in &s.cols {
        let n = col.size;
        let (K, M) = (&mut K[col.mass..][..n * n], &mut eq.mass[col.mass..][..n * n]);
        let stiffest = (0..n).fold(0.0_f64, |m, i| m.max(K[i * n + i] / M[i * n + i]));
        if stiffest == 0.0 {
            continue;
        }
        K.iter_mut().zip(&*M).for_each(|(k, m)| *k += FREE * stiffest * m);
        M.copy_from_slice(K);
        cholesky(K, n).map_err(|i| SolveError::NotFinite { quantity: "stiffness", index: col.start + i })?;
        let minv = &mut eq.minv[col.mass..][..n * n];
        for i in 0..n {
            let mut x = vec![0.0; n];
            x[i] = 1.0;
            cholesky_solve(K, n, &mut x);
            (0..n).for_each(|j| minv[j * n + i] = x[j]);
        }
        // symmetric to the last digit
        for i in 0..n {
            (0..i).for_each(|j| minv[i * n + j] = minv[j * n + i]);
        }
    }
    Ok(())
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
