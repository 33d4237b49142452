//! A position in which all stays at rest: f(q, 0) = Jᵀλ, Φ(q) = 0.
//!
//! At rest M a + Jᵀλ = f, J a = 0 gives λ and the acceleration a with which the mechanism would set off; an equilibrium has none.
//! Steps are Newton's, with the tangent K of the forces and of Jᵀλ, held back by a multiple of M where they lead too far,
//!
//! ```text
//! (K + μM) δ + Jᵀν = M a,   J δ = 0,   q ← q ⊕ δ, brought back onto Φ = 0.
//! ```
//!
//! δ must lead along the forces (δᵀM a > 0), so that where these have a potential it falls, and the equilibrium that is found is one
//! that a damped motion from the start would come to rest in, and not the nearest unstable one; a step over which they do no
//! work, and that does not lower a, is taken back. Times stand still: drivers hold where they are at the start. Cost: a sparse factorization a step.

use super::linearize::mass_dot;
use crate::VERSION;
use crate::assemble::assemble;
use crate::error::SetupError;
use crate::failure;
use crate::settings::{Overrides, Settings};
use sarrus_math::solve::SparseLu;
use sarrus_model::Model;
use sarrus_solve::{
    Accel, Dynamics, Equations, HUB_DEGREE, Kkt, Options, Problem, Rank, Rows, SolveError, Stage, State,
    Tangent, formulations, stabilizations,
};
use sarrus_system::{Columns, Mechanism, System};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Trials before giving up.
const TRIALS: u32 = 400;
/// An acceleration that is rest, relative to M⁻¹f.
const REST: f64 = 1e-11;
/// The same once no step makes it smaller.
const NEARLY: f64 = 1e-8;
/// Longest step \[rad, and relative to the size of the mechanism\].
const LONGEST: f64 = 0.3;

/// An equilibrium.
#[derive(Debug, Clone)]
pub struct Equilibrium {
    /// The state, at rest.
    pub state: State,
    /// Turns of joint angles and the like.
    pub hints: Vec<f64>,
    /// How it was found, and what holds there.
    pub report: EquilibriumReport,
}

/// How an equilibrium was found, and what holds there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EquilibriumReport {
    /// Name of the model.
    pub model: String,
    /// Version of the program.
    pub version: &'static str,
    /// Steps made.
    pub iterations: u32,
    /// What is left of the forces, relative to them.
    pub residual: f64,
    /// Potential energy at the start and here \[J\].
    pub potential: [f64; 2],
    /// Every column of results, at rest: positions, joint coordinates, reactions.
    pub values: BTreeMap<String, f64>,
    /// Findings in words.
    pub notes: Vec<String>,
}

impl EquilibriumReport {
    /// As indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// What forces do to a mechanism at rest.
struct Rest {
    eq: Equations,
    accel: Accel,
    /// ‖a‖ and ‖M⁻¹f‖ in the metric of M.
    size: f64,
    full: f64,
    potential: f64,
    dependent: Vec<usize>,
}

/// Finds the equilibrium that the start of `model` leads to.
pub fn equilibrium(model: &Model, system: &Arc<System>) -> Result<Equilibrium, SetupError> {
    let settings = Settings::read(model, &Overrides::default())?;
    let columns = Columns::new(model, system, &settings.columns)?;
    let assembled = assemble(model, system, settings.assembly)?;
    let mut mechanism = system.mechanism();
    mechanism.set_hints(&assembled.hints);
    let mut state = assembled.state;
    state.v.fill(0.0);
    let named = |source: SolveError| {
        let element = failure::element(&source, &system.mechanism());
        SetupError::Start { source, element }
    };
    let s = &system.structure;
    let mut kkt = Kkt::new(s, &Equations::new(&mechanism), HUB_DEGREE).map_err(named)?;
    let mut tangent = system.new_tangent();
    let mut here = rest(&mut mechanism, &mut kkt, &state).map_err(named)?;
    let first = here.potential;
    let conservative = system.forces.iter().filter(|f| f.enabled).all(|f| f.load.keeps_books());
    let size = state.q.iter().fold(1.0_f64, |a, q| a.max(q.abs()));

    let (mut mu, mut iterations) = (0.0, 0);
    let mut trial = state.clone();
    for _ in 0..TRIALS {
        if here.size <= REST * here.full {
            break;
        }
        mechanism.tangent(&state, &vec![0.0; s.nv], &here.accel.lambda, &mut tangent);
        let typical = stiffness(s, &here, &tangent);
        let more = |mu: f64| (10.0 * mu).max(1e-3 * typical);
        let Some(delta) = step(s, &here, &tangent, mu).filter(|delta| {
            let along = mass_dot(s, &here.eq, delta, &here.accel.vdot);
            along > 0.0 && delta.iter().all(|d| d.abs() <= LONGEST * size)
        }) else {
            mu = more(mu);
            continue;
        };
        trial.copy_from(&state);
        mechanism.retract(&mut trial.q, &delta);
        let there = project(&mut mechanism, &mut trial).and_then(|()| rest(&mut mechanism, &mut kkt, &trial));
        // the work of what is left of the forces over the step, by the trapezoidal rule: their potential falls, where they have one
        let better = |there: &Rest| {
            let work = |rest: &Rest| mass_dot(s, &rest.eq, &delta, &rest.accel.vdot);
            there.size < here.size || work(&here) + work(there) > 0.0
        };
        match there {
            Ok(there) if better(&there) => {
                state.copy_from(&trial);
                mechanism.accept(&state);
                here = there;
                iterations += 1;
                mu = if mu < 1e-9 * typical { 0.0 } else { 0.1 * mu };
            }
            _ if here.size <= NEARLY * here.full => break,
            _ => mu = more(mu),
        }
    }
    if !(here.size <= NEARLY * here.full) {
        return Err(SetupError::NoEquilibrium { residual: here.size / here.full, iterations });
    }

    let mut row = vec![0.0; columns.names.len()];
    here.accel.vdot.fill(0.0);
    columns.row(&mut mechanism, &state, &here.eq, &here.accel, &mut row);
    let values = columns.names.iter().cloned().zip(row).collect();
    let mut notes = Vec::new();
    if !conservative {
        notes.push("some forces have no potential: whether the rest is stable, `sarrus modes` tells".into());
    }
    if !here.dependent.is_empty() {
        notes.push(format!("{} rows depend on others: reactions are of minimum norm", here.dependent.len()));
    }
    let residual = if here.full > 0.0 { here.size / here.full } else { 0.0 };
    let report = EquilibriumReport {
        model: model.name.clone(),
        version: VERSION,
        iterations,
        residual,
        potential: [first, here.potential],
        values,
        notes,
    };
    Ok(Equilibrium { state, hints: mechanism.hints().to_vec(), report })
}

fn rest(m: &mut Mechanism, kkt: &mut Kkt, state: &State) -> Result<Rest, SolveError> {
    let s = m.structure().clone();
    let (mut eq, mut accel) = (Equations::new(m), Accel::zeros(&s));
    m.update(state, Stage::FORCE, &mut eq);
    // drivers stand still
    eq.gamma.fill(0.0);
    kkt.factor(&eq, Rows::All, Rank::Settle)?;
    kkt.solve(&eq, &eq.f, &eq.gamma, &mut accel.vdot, &mut accel.lambda)?.check()?;
    let mut free = vec![0.0; s.nv];
    for c in &s.cols {
        let rows = eq.minv[c.mass..][..c.size * c.size].chunks_exact(c.size);
        for (out, row) in free[c.start..].iter_mut().zip(rows) {
            *out = row.iter().zip(&eq.f[c.start..]).map(|(m, f)| m * f).sum();
        }
    }
    let norm = |x: &[f64]| mass_dot(&s, &eq, x, x).max(0.0).sqrt();
    let (size, full) = (norm(&accel.vdot), norm(&free));
    Ok(Rest {
        potential: m.energy(state).potential,
        dependent: kkt.dependent_rows().to_vec(),
        eq,
        accel,
        size,
        full,
    })
}

/// A stiffness of the mechanism over its mass \[1/s²\]: what a would take to change by itself.
fn stiffness(s: &sarrus_solve::Structure, here: &Rest, tangent: &Tangent) -> f64 {
    let largest = tangent.K.iter().fold(0.0_f64, |a, k| a.max(k.abs()));
    let lightest = s
        .cols
        .iter()
        .flat_map(|c| (0..c.size).map(move |i| c.mass + i * (c.size + 1)))
        .fold(f64::INFINITY, |a, i| a.min(here.eq.mass[i]));
    if largest > 0.0 { largest / lightest } else { 1.0 }
}

/// δ of (K + μM) δ + Jᵀν = M a, J δ = 0; none where that has no solution.
fn step(s: &sarrus_solve::Structure, here: &Rest, tangent: &Tangent, mu: f64) -> Option<Vec<f64>> {
    let (nv, nc) = (s.nv, s.nc);
    let mut entries = Vec::new();
    for pair in &tangent.pairs {
        let [row, col] = pair.at.map(|i| s.cols[i]);
        for i in 0..row.size {
            for j in 0..col.size {
                let mass =
                    if pair.at[0] == pair.at[1] { here.eq.mass[row.mass + i * row.size + j] } else { 0.0 };
                let value = tangent.K[pair.offset + i * col.size + j] + mu * mass;
                entries.push((row.start + i, col.start + j, value));
            }
        }
    }
    for row in &s.rows {
        for i in 0..row.size {
            let at = nv + row.start + i;
            // a row that depends on others takes no part
            if here.dependent.contains(&(row.start + i)) {
                entries.push((at, at, 1.0));
                continue;
            }
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                for j in 0..col.size {
                    let J = here.eq.J[e.offset + i * col.size + j];
                    if J != 0.0 {
                        entries.push((at, col.start + j, J));
                        entries.push((col.start + j, at, J));
                    }
                }
            }
        }
    }
    let mut x = vec![0.0; nv + nc];
    here.eq.mass_mul(s, &here.accel.vdot, &mut x[..nv]);
    SparseLu::new(nv + nc, &entries).ok()?.solve(&mut x).ok()?;
    x.truncate(nv);
    Some(x)
}

/// Brings `state` onto the constraints, at rest.
fn project(m: &mut Mechanism, state: &mut State) -> Result<(), SolveError> {
    let none = Options::new();
    let (Ok(formulation), Ok(stabilization)) =
        (formulations::make("proximal", &none), stabilizations::make("projection", &none))
    else {
        return Ok(());
    };
    Dynamics::new(m, formulation, stabilization)?.project(state)?;
    state.v.fill(0.0);
    Ok(())
}
