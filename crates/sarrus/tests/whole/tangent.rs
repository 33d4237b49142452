//! Tangent matrices are the derivatives of the equations, on every shipped model.

use sarrus::prelude::*;
use sarrus::solve::Tangent;
use sarrus::solve::{Equations, Problem, Stage, State, Structure};
use sarrus::system::Mechanism;
use std::sync::Arc;

/// Numbers without a pattern in [-0.5, 0.5].
fn noise(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|i| ((i as f64 + 1.0) * seed).sin() * 43_758.545_3).map(|x| x.rem_euclid(1.0) - 0.5).collect()
}

/// Returns what a tangent is about: M v̇ + Jᵀλ - f (M changes where there are modal bodies), Φ̇, and Φ̈ = J v̇ - γ.
fn values(m: &mut Mechanism, s: &State, vdot: &[f64], lambda: &[f64], eq: &mut Equations) -> [Vec<f64>; 3] {
    let structure = m.structure().clone();
    m.update(s, Stage::FORCE, eq);
    let mut force = vec![0.0; eq.f.len()];
    eq.mass_mul(&structure, vdot, &mut force);
    force.iter_mut().zip(&eq.f).for_each(|(force, f)| *force -= f);
    eq.add_Jt_mul(&structure, lambda, &mut force);
    let mut second: Vec<f64> = eq.gamma.iter().map(|g| -g).collect();
    eq.add_J_mul(&structure, vdot, &mut second);
    [force, eq.phidot.clone(), second]
}

/// y += the blocks of K or D times x.
fn add_pairs(s: &Structure, tangent: &Tangent, blocks: &[f64], x: &[f64], y: &mut [f64]) {
    for pair in &tangent.pairs {
        let [row, col] = pair.at.map(|i| s.cols[i]);
        for i in 0..row.size {
            let block = &blocks[pair.offset + i * col.size..][..col.size];
            y[row.start + i] += block.iter().zip(&x[col.start..]).map(|(a, b)| a * b).sum::<f64>();
        }
    }
}

/// Differences over ±h are off by h² and rounding over h, each relative to the sizes at hand.
#[test]
fn tangents_are_the_derivatives_of_the_equations_on_every_model() {
    let (h, mut compared) = (1e-5, 0);
    for (name, text) in sarrus_zoo::MODELS {
        let model = load_str(&format!("{name}.toml"), text, &LoadOptions::default())
            .unwrap_or_else(|e| panic!("{}", e.render()));
        let system = Arc::new(compile(&model).unwrap());
        let s = system.structure.clone();
        // what controllers put out counts as constant
        if !system.controllers.is_empty() {
            continue;
        }
        compared += 1;
        let start = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap();
        let mut m = system.mechanism();
        m.set_discrete(&start.discrete);
        let mut state = start.state;
        // anywhere near the start, moving in any way, on the constraints or not
        m.retract(&mut state.q, &noise(s.nv, 12.9).iter().map(|x| 0.02 * x).collect::<Vec<_>>());
        state.v.iter_mut().zip(noise(s.nv, 78.2)).for_each(|(v, n)| *v += n);
        let (vdot, lambda) = (noise(s.nv, 37.7), noise(s.nc, 93.9));
        let mut tangent = system.new_tangent();
        m.tangent(&state, &vdot, &lambda, &mut tangent);
        let mut eq = Equations::new(&m);
        let direction = noise(s.nv, 5.3);

        for velocities in [false, true] {
            let mut ends = [1.0, -1.0].map(|side| {
                let mut moved = state.clone();
                let step: Vec<f64> = direction.iter().map(|d| side * h * d).collect();
                if velocities {
                    moved.v.iter_mut().zip(&step).for_each(|(v, d)| *v += d);
                } else {
                    m.retract(&mut moved.q, &step);
                }
                values(&mut m, &moved, &vdot, &lambda, &mut eq)
            });
            let sizes = values(&mut m, &state, &vdot, &lambda, &mut eq)
                .map(|x| x.iter().fold(1.0_f64, |a, x| a.max(x.abs())));
            let [mut force, mut rate, mut second] = [vec![0.0; s.nv], vec![0.0; s.nc], vec![0.0; s.nc]];
            let with = |J: &[f64]| Equations { J: J.to_vec(), ..Equations::zeros(&s) };
            if velocities {
                add_pairs(&s, &tangent, &tangent.D, &direction, &mut force);
                eq.add_J_mul(&s, &direction, &mut rate);
                with(&tangent.phiddot_v).add_J_mul(&s, &direction, &mut second);
            } else {
                add_pairs(&s, &tangent, &tangent.K, &direction, &mut force);
                with(&tangent.phidot_q).add_J_mul(&s, &direction, &mut rate);
                with(&tangent.phiddot_q).add_J_mul(&s, &direction, &mut second);
            }
            let [plus, minus] = &mut ends;
            for (k, found) in [force, rate, second].iter().enumerate() {
                let largest = found.iter().fold(sizes[k], |a, x| a.max(x.abs()));
                for (i, found) in found.iter().enumerate() {
                    let difference = (plus[k][i] - minus[k][i]) / (2.0 * h);
                    let what = ["force", "first", "second"][k];
                    let far = (found - difference).abs();
                    assert!(
                        far < 1e-7 * largest,
                        "{name}, v {velocities}, {what} [{i}]: {found} is not {difference}"
                    );
                }
            }
        }
    }
    assert!(compared > sarrus_zoo::MODELS.len() / 2, "{compared}");
}
