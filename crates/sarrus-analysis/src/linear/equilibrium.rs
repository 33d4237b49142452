//! A position in which all stays at rest: f(q, 0) = Jᵀλ, Φ(q) = 0.
//!
//! At rest M a + Jᵀλ = f, J a = 0 gives λ and the acceleration a with which the mechanism would set off; an equilibrium has none.
//! Steps are Newton's, with the tangent K of the forces and of Jᵀλ, held back by a multiple of a metric G where they lead too far,
//!
//! ```text
//! (K + μG) δ + Jᵀν = M a,   J δ = 0,   q ← q ⊕ δ, brought back onto Φ = 0 in the metric G,
//! δᵀG δ = δᵀM δ + c Σ |turn of one body against the other|² over all that are tied together.
//! ```
//!
//! With M alone a long chain would be let down link by link, since where it is held a link turns n times as far as the chain sinks;
//! with c, the inertia of the whole, it swings down as one.
//!
//! δ must lead along the forces (δᵀM a > 0), so that where these have a potential it falls, and the equilibrium that is found is one
//! that a damped motion from the start would come to rest in, and not the nearest unstable one; a step over which they do no
//! work, and that does not lower a, is taken back. Times stand still: drivers hold where they are at the start. Cost: a sparse factorization a step.

use super::linearize::mass_dot;
use super::metric::Metric;
use crate::VERSION;
use crate::assemble::assemble;
use crate::error::SetupError;
use crate::failure;
use crate::settings::{Overrides, Settings};
use sarrus_math::solve::SparseLu;
use sarrus_model::Model;
use sarrus_solve::{
    Accel, Equations, HUB_DEGREE, Kkt, Problem, Rank, Rows, SolveError, Stage, State, Tangent,
};
use sarrus_system::{Columns, Mechanism, System};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Trials before giving up.
const TRIALS: u32 = 1000;
/// An acceleration that is rest, relative to M⁻¹f.
const REST: f64 = 1e-11;
/// The same once no step makes it smaller.
const NEARLY: f64 = 1e-8;
/// Corrections that bring a position onto the constraints, at most.
const CORRECTIONS: u32 = 20;
/// A violation that is rounding, relative to the size of the mechanism ...
const ROUNDING: f64 = 1e-15;
/// ... and one that will do where corrections make it no smaller.
const ON: f64 = 1e-11;
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

/// Where a search for rest is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// Steps tried, those that were taken back included.
    pub trials: u32,
    /// Steps made.
    pub steps: u32,
    /// What is left of the forces, relative to them.
    pub residual: f64,
}

/// Finds the equilibrium that the start of `model` leads to.
pub fn equilibrium(model: &Model, system: &Arc<System>) -> Result<Equilibrium, SetupError> {
    equilibrium_with(model, system, &mut |_| {})
}

/// The same, with `watch` told before every trial how far it is.
pub fn equilibrium_with(
    model: &Model,
    system: &Arc<System>,
    watch: &mut dyn FnMut(&Search),
) -> Result<Equilibrium, SetupError> {
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
    let metric = Metric::new(system, &state);
    let mut trials = 0;
    while trials < TRIALS {
        if here.size <= REST * here.full {
            break;
        }
        watch(&Search { trials, steps: iterations, residual: here.size / here.full });
        trials += 1;
        mechanism.tangent(&state, &vec![0.0; s.nv], &here.accel.lambda, &mut tangent);
        let typical = metric.stiffness(&here.eq, &tangent);
        let more = |mu: f64| (10.0 * mu).max(1e-3 * typical);
        let held = metric.entries(system, &state, &here.eq, mu);
        let Some(delta) = step(s, &here, &tangent, held).filter(|delta| {
            let along = mass_dot(s, &here.eq, delta, &here.accel.vdot);
            along > 0.0 && delta.iter().all(|d| d.abs() <= LONGEST * size)
        }) else {
            mu = more(mu);
            continue;
        };
        trial.copy_from(&state);
        mechanism.retract(&mut trial.q, &delta);
        let there = project(&mut mechanism, &metric, &here, &mut trial)
            .then(|| rest(&mut mechanism, &mut kkt, &trial).ok())
            .flatten();
        // the work of what is left of the forces over the step, by the trapezoidal rule: their potential falls, where they have one
        let better = |there: &Rest| {
            let work = |rest: &Rest| mass_dot(s, &rest.eq, &delta, &rest.accel.vdot);
            there.size < here.size || work(&here) + work(there) > 0.0
        };
        match there {
            Some(there) if better(&there) => {
                state.copy_from(&trial);
                mechanism.accept(&state);
                here = there;
                iterations += 1;
                // a step nearly as long as it may be would be too long with less
                let long = delta.iter().fold(0.0_f64, |a, d| a.max(d.abs())) > 0.3 * LONGEST * size;
                mu = match mu {
                    mu if long => mu,
                    mu if mu < 1e-9 * typical => 0.0,
                    mu => 0.1 * mu,
                };
            }
            _ if here.size <= NEARLY * here.full => break,
            _ => mu = more(mu),
        }
    }
    if !(here.size <= NEARLY * here.full) {
        return Err(SetupError::NoEquilibrium { residual: here.size / here.full, iterations, trials });
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

/// δ of (K + μG) δ + Jᵀν = M a, J δ = 0, from the entries of μG; none where that has no solution.
fn step(
    s: &sarrus_solve::Structure,
    here: &Rest,
    tangent: &Tangent,
    mut entries: Vec<(usize, usize, f64)>,
) -> Option<Vec<f64>> {
    for pair in &tangent.pairs {
        let [row, col] = pair.at.map(|i| s.cols[i]);
        for i in 0..row.size {
            for j in 0..col.size {
                entries.push((row.start + i, col.start + j, tangent.K[pair.offset + i * col.size + j]));
            }
        }
    }
    let mut x = vec![0.0; s.nv + s.nc];
    here.eq.mass_mul(s, &here.accel.vdot, &mut x[..s.nv]);
    solve(s, &here.eq.J, &here.dependent, entries, x)
}

/// δ of A δ + Jᵀν = a, J δ = b, from the entries of A and x = (a, b); rows that depend on others take no part.
fn solve(
    s: &sarrus_solve::Structure,
    J: &[f64],
    dependent: &[usize],
    mut entries: Vec<(usize, usize, f64)>,
    mut x: Vec<f64>,
) -> Option<Vec<f64>> {
    let (nv, nc) = (s.nv, s.nc);
    let mut is_dependent = vec![false; nc];
    dependent.iter().for_each(|&row| is_dependent[row] = true);
    for row in &s.rows {
        for i in 0..row.size {
            let at = nv + row.start + i;
            // a row that depends on others takes no part
            if is_dependent[row.start + i] {
                entries.push((at, at, 1.0));
                continue;
            }
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                for j in 0..col.size {
                    let value = J[e.offset + i * col.size + j];
                    if value != 0.0 {
                        entries.push((at, col.start + j, value));
                        entries.push((col.start + j, at, value));
                    }
                }
            }
        }
    }
    SparseLu::new(nv + nc, &entries).ok()?.solve(&mut x).ok()?;
    x.truncate(nv);
    Some(x)
}

/// Brings `state` onto the constraints by the least displacement in the metric: G δ + Jᵀν = 0, J δ = -Φ. Returns whether it is there.
///
/// In the metric of M alone the light links of a long chain would turn far, and nothing be found.
fn project(m: &mut Mechanism, metric: &Metric, here: &Rest, state: &mut State) -> bool {
    let system = m.system().clone();
    let s = &system.structure;
    let size = state.q.iter().fold(1.0_f64, |a, q| a.max(q.abs()));
    let mut eq = Equations::new(m);
    let mut before = f64::INFINITY;
    for _ in 0..CORRECTIONS {
        m.update(state, Stage::POSITION, &mut eq);
        let off = eq.phi.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        // to rounding, or to where it gets no better
        if off <= ROUNDING * size || (off <= ON * size && off > 0.3 * before) {
            return true;
        }
        if !off.is_finite() || off > 2.0 * before {
            return false;
        }
        before = off;
        let mut x = vec![0.0; s.nv + s.nc];
        x[s.nv..].iter_mut().zip(&eq.phi).for_each(|(x, phi)| *x = -phi);
        here.dependent.iter().for_each(|&row| x[s.nv + row] = 0.0);
        let entries = metric.entries(&system, state, &eq, 1.0);
        let Some(delta) = solve(s, &eq.J, &here.dependent, entries, x) else { return false };
        m.retract(&mut state.q, &delta);
    }
    false
}
