//! Rest of a mechanism and of its controllers' states at once, where one of them has none while the other is held: a cart on a free slide that a
//! lag or an integral alone keeps in place.
//!
//! ```text
//! [ K + μG - F_o o_q   Jᵀ   -f_x     ] [ δ  ]   [ f - Jᵀλ ]
//! [ J                  0     0       ] [ ν  ] = [ 0       ]
//! [ -r_q               0    -r_x + κ ] [ δx ]   [ r       ]
//! ```
//!
//! with r the rates of the states, o what continuous controllers put out and F_o the forces of that. r_q of continuous controllers is exact; that of
//! sampled ones and the columns of x are differences, which cost steps and no digits: the iteration ends where forces and r vanish. κ keeps
//! a state where it is that nothing changes, as an integral at a limit. Newton's iteration also comes to rests that are not stable, so the modes
//! are checked. Cost: a sparse factorization a step, and with sampled controllers an evaluation of these for each velocity.

use super::basis::check_size;
use super::control::ControllerStates;
use super::linearize::dot;
use super::modes::modes_at;
use super::rest::Rest;
use super::search::{NEARLY, is_rest, project};
use super::statics::{SavedPosition, Statics, StaticsOutcome};
use crate::error::SetupError;
use sarrus_math::solve::SparseLu;
use sarrus_solve::{Equations, Problem, Stage, State};

/// Steps, at most.
const STEPS: u32 = 100;
/// Steps of differences, relative.
const PROBE: f64 = 1e-6;
/// κ, relative to the largest r_x or 1/s: far below what a law changes with its own state.
const RETAINED: f64 = 1e-9;
/// μ, relative to the largest stiffness over the metric: only what nothing else holds is held by it.
const HELD: f64 = 1e-12;
/// Longest step, relative to the size of the mechanism.
const LONGEST: f64 = 0.3;

/// The rest that is found from `start` under the share `load` of the loads; none where there is none, or where it is not stable.
pub(super) fn together(
    control: &ControllerStates,
    statics: &mut Statics<'_>,
    start: &SavedPosition,
    load: f64,
) -> Result<Option<StaticsOutcome>, SetupError> {
    if statics.stops.is_some() {
        return Ok(None);
    }
    statics.load(load)?;
    statics.restore(start)?;
    let size = start.state.q.iter().fold(1.0_f64, |a, q| a.max(q.abs()));
    let (mut longest, mut last) = (LONGEST * size, Vec::new());
    let mut largest = vec![0.0_f64; control.state_indices().count()];
    for _ in 0..STEPS {
        let rest = statics.rest()?;
        let r = control.rates(&mut statics.mechanism, &statics.state, &rest.eq, &rest.accel);
        let x = control.state_indices().map(|index| statics.state.x[index].abs());
        for ((most, r), x) in largest.iter_mut().zip(&r).zip(x) {
            *most = most.max(r.abs()).max(x);
        }
        let converged = r.iter().zip(&largest).all(|(r, most)| r.abs() <= NEARLY * most);
        if converged && is_rest(&rest) {
            return Ok(is_stable(control, statics).then_some(StaticsOutcome { rest, found: true }));
        }
        let Some((delta, dx)) = step(control, statics, &rest, &r) else { return Ok(None) };
        // from one limit of an output to the other and back: what it holds is between
        if dot(&delta, &last) < 0.0 {
            longest *= 0.5;
        }
        let far = delta.iter().fold(0.0_f64, |a, d| a.max(d.abs()));
        let share = if far > longest { longest / far } else { 1.0 };
        let delta: Vec<f64> = delta.iter().map(|d| share * d).collect();
        let mut state = statics.resolved(&delta);
        control.state_indices().zip(&dx).for_each(|(index, dx)| state.x[index] += share * dx);
        if !project(&mut statics.mechanism, &statics.metric, &rest, &mut state) {
            return Ok(None);
        }
        statics.state.copy_from(&state);
        statics.mechanism.accept(&state);
        last = delta;
        statics.counts.trials += 1;
        statics.counts.steps += 1;
    }
    Ok(None)
}

/// Returns whether nothing is seen to grow away from the rest at hand; what sampled controllers do is not seen.
fn is_stable(control: &ControllerStates, statics: &mut Statics<'_>) -> bool {
    if control.is_sampled() || check_size(&statics.system.structure, "equilibrium").is_err() {
        return true;
    }
    let found = modes_at("", &mut statics.mechanism, &statics.state);
    found.is_ok_and(|modes| modes.stable != Some(false))
}

/// (δ, δx); none where that has no solution.
fn step(
    control: &ControllerStates,
    statics: &mut Statics<'_>,
    rest: &Rest,
    r: &[f64],
) -> Option<(Vec<f64>, Vec<f64>)> {
    let system = statics.system.clone();
    let s = &system.structure;
    let (nv, nc, n) = (s.nv, s.nc, r.len());
    let mut entries = statics.stiffness_entries(rest, HELD);
    let tangent = statics.mechanism.control_tangent(&statics.state);
    for (output, force) in &tangent.acts {
        let columns: Vec<(usize, f64)> = nonzero(&output.q).collect();
        for (i, f) in nonzero(force) {
            entries.extend(columns.iter().map(|(j, o)| (i, *j, -f * o)));
        }
    }
    let mut out = vec![false; nc];
    rest.dependent.iter().for_each(|&row| out[row] = true);
    for row in &s.rows {
        for i in row.start..row.start + row.size {
            if out[i] {
                entries.push((nv + i, nv + i, 1.0));
                continue;
            }
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                for j in 0..col.size {
                    let value = rest.eq.J[e.offset + (i - row.start) * col.size + j];
                    if value != 0.0 {
                        entries.extend([(nv + i, col.start + j, value), (col.start + j, nv + i, value)]);
                    }
                }
            }
        }
    }
    let (mechanism, state) = (&mut statics.mechanism, &statics.state);
    let mut eq = Equations::new(mechanism);
    let mut check = |moved: &State| {
        mechanism.update(moved, Stage::FORCE, &mut eq);
        (eq.f.clone(), control.rates(mechanism, moved, &eq, &rest.accel))
    };
    let (f, _) = check(state);
    let mut largest = 1.0_f64;
    for (k, index) in control.state_indices().enumerate() {
        let by = PROBE * state.x[index].abs().max(1.0);
        let mut moved = state.clone();
        moved.x[index] += by;
        let (force, rates) = check(&moved);
        for i in 0..nv {
            entries.push((i, nv + nc + k, -(force[i] - f[i]) / by));
        }
        for i in 0..n {
            let slope = (rates[i] - r[i]) / by;
            largest = largest.max(slope.abs());
            entries.push((nv + nc + i, nv + nc + k, -slope));
        }
    }
    entries.extend((0..n).map(|i| (nv + nc + i, nv + nc + i, RETAINED * largest)));
    let exact: Vec<Option<usize>> = control
        .state_indices()
        .map(|index| tangent.states.iter().position(|state| state.x == index))
        .collect();
    for (i, exact) in exact.iter().enumerate() {
        let Some(exact) = exact else { continue };
        entries.extend(nonzero(&tangent.rates[*exact].q).map(|(j, slope)| (nv + nc + i, j, -slope)));
    }
    if exact.iter().any(Option::is_none) {
        for j in 0..nv {
            let mut by = vec![0.0; nv];
            by[j] = PROBE;
            let mut moved = state.clone();
            system.mechanism().retract(&mut moved.q, &by);
            let (_, rates) = check(&moved);
            for i in (0..n).filter(|i| exact[*i].is_none() && rates[*i] != r[*i]) {
                entries.push((nv + nc + i, j, -(rates[i] - r[i]) / PROBE));
            }
        }
    }
    mechanism.update(state, Stage::FORCE, &mut eq);
    let mut x = vec![0.0; nv + nc + n];
    rest.eq.mass_mul(s, &rest.accel.vdot, &mut x[..nv]);
    x[nv + nc..].copy_from_slice(r);
    SparseLu::new(nv + nc + n, &entries).ok()?.solve(&mut x).ok()?;
    x.iter().all(|x| x.is_finite()).then(|| (x[..nv].to_vec(), x[nv + nc..].to_vec()))
}

fn nonzero(x: &[f64]) -> impl Iterator<Item = (usize, f64)> + '_ {
    x.iter().copied().enumerate().filter(|(_, x)| *x != 0.0)
}
