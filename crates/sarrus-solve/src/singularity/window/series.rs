//! The coefficients of motion and tangents of a [`Window`](super::Window), by Newton's method, and v̇ and λ from them.
//!
//! Room is made once, and kept from one solution to the next; what λ needs is not.

use super::{Window, add, dot, is_done, norm, zeros};
use crate::error::SolveError;
use crate::formulations::dense::Root;
use crate::problem::{COEFFICIENTS, Equations, Expansion, Problem, State};
use crate::singularity::dependent_rows::DependentRows;
use sarrus_math::solve::Complete;

/// Expansions, at most.
const EXPANSIONS: u32 = 12;
/// Sweeps over the coefficients for one expansion, at most.
const SWEEPS: u32 = 12;
/// The same for the first expansions.
const ROUGH: [u32; 2] = [3, 6];
/// Defines what the series may leave out, relative.
const LEFT_OUT: f64 = 1e-12;
/// Coefficients that are never left out.
const FEWEST: usize = 6;
/// Changes of v̇ from one expansion to the next may fall so much slower than they did.
const SURELY: f64 = 100.0;

/// Holds what a window found.
#[derive(Debug, Clone, Default)]
pub struct WindowSeries {
    /// v̇, scaled.
    pub a: Vec<f64>,
    /// λ, or that of the regular rows alone where the others are too near to vanishing.
    pub lambda: Vec<f64>,
    /// Removes parts of λ in the null space of redundant rows; none in large parts.
    pub complete: Option<Complete>,
    /// True if it is whole.
    pub is_whole: bool,
    /// |U_dᵀ Φ₂|: zero on a branch that crosses.
    pub off_branch: f64,
    /// Size of the last change, relative to v̇.
    pub change: f64,
}

/// Workspace for [`accelerate`], and what it has found last.
#[derive(Debug, Clone, Default)]
pub struct SeriesWorkspace {
    /// Coefficients of the motion, scaled; c₁ is the velocity.
    c: Vec<Vec<f64>>,
    /// Holds what is added to them.
    delta: Vec<Vec<f64>>,
    /// Those of its velocities (nv), as they are expanded.
    v: Vec<Vec<f64>>,
    /// Coefficients of tangents, and how many are in use.
    pub(super) jets: Vec<Vec<Vec<f64>>>,
    pub(super) dof: usize,
    /// Scaled forces, and what v̇ leaves of them.
    f: Vec<f64>,
    rest: Vec<f64>,
    pub(super) regular: Vec<f64>,
    pub(super) dependent: Vec<f64>,
    xi: Vec<f64>,
    H: Vec<f64>,
}

impl SeriesWorkspace {
    fn prepare(&mut self, nc: usize, nv: usize, all: usize) {
        [&mut self.c, &mut self.delta].into_iter().for_each(|c| zeros(c, COEFFICIENTS, nv));
        zeros(&mut self.v, COEFFICIENTS, all);
        [&mut self.f, &mut self.rest].into_iter().for_each(|f| f.resize(nv, 0.0));
        [&mut self.regular, &mut self.dependent].into_iter().for_each(|r| r.resize(nc, 0.0));
    }
}

/// Solves for v̇ at `s` with the forces of `eq`, with Taylor coefficients up to t^`orders`, 2 ≤ `orders` < [`COEFFICIENTS`].
/// `targets` are the coefficients that Φ shall have from the second on; λ is found only `with_lambda`. Changes of v̇ up to `still`, relative, are
/// the last. `nearby` begins with what was found last, with the same window at a state nearby. The workspace holds D and D₁ as the window has them.
pub fn accelerate(
    window: &mut Window<'_>,
    problem: &mut dyn Problem,
    s: &State,
    eq: &Equations,
    root: &Root,
    orders: usize,
    targets: &[Vec<f64>],
    with_lambda: bool,
    still: f64,
    nearby: bool,
    work: &mut SeriesWorkspace,
    workspace: &mut Expansion,
) -> Result<WindowSeries, SolveError> {
    let part = window.part;
    let orders = enough(window.dependent, part.bound(&workspace.J[1]), orders);
    let orders = orders.clamp(2, COEFFICIENTS - 1);
    if !nearby {
        work.prepare(part.nc(), part.nv(), s.v.len());
        work.dof = window.tangents(&workspace.J[0], &workspace.J[1], &mut work.jets);
    }
    part.velocities_of(eq, root, &s.v, &mut work.c[1]);
    part.forces_of(root, &eq.f, &mut work.f);
    work.v[0].copy_from_slice(&s.v);
    let weight = window.weight();
    let mut found = WindowSeries::default();
    let mut before = f64::INFINITY;
    // with one order less the higher coefficients stay zero: a single row of the next derivative
    let last = if orders == 2 { 2 } else { orders - 1 };
    let rough: &[u32] = if nearby { &[] } else { &ROUGH };
    for expansion in 0..EXPANSIONS {
        for k in 1..orders {
            part.write_velocities(root, &work.c[k + 1], (k + 1) as f64, &mut work.v[k]);
        }
        if !problem.expand(s, &work.v[..orders], &part.blocks, true, workspace) {
            return Err(SolveError::NotFinite { quantity: "expansion", index: 0 });
        }
        workspace.J.iter_mut().take(orders + 1).for_each(|J| part.scale(root, J));
        let (D, phi) = (&workspace.J, &workspace.phi);
        // the first expansions are rough: so may be what is made of them
        let sweeps = *rough.get(expansion as usize).unwrap_or(&SWEEPS);
        window.tangent_jets(D, orders, sweeps, still, work);

        // the change of c that the constraints ask for
        let SeriesWorkspace { c, delta, jets, dof, f, rest, regular, dependent, xi, H, .. } = &mut *work;
        let jets = &jets[..*dof];
        delta.iter_mut().for_each(|d| d.fill(0.0));
        let mut last_change = f64::INFINITY;
        for _ in 0..sweeps {
            let (mut change, mut w) = (0.0, 1.0);
            let at = |k: usize, delta: &[Vec<f64>], out: &mut [f64]| {
                for (out, &i) in out.iter_mut().zip(&part.rows) {
                    *out = phi[k][i] - targets[k][i];
                }
                (2..=k.min(orders)).for_each(|j| part.add_mul(&D[k - j], &delta[j], out));
            };
            at(2, delta, regular);
            for k in 2..=last {
                at(k + 1, delta, dependent);
                let size = window.correct(regular, dependent, &mut delta[k]);
                window.accumulate_up(&D[1], regular, dependent);
                change = f64::max(change, w * size / (norm(&c[2]) + norm(&delta[2]) + f64::MIN_POSITIVE));
                w *= weight;
            }
            if is_done(change, last_change, still) {
                break;
            }
            last_change = change;
        }
        c.iter_mut().zip(&*delta).for_each(|(c, d)| add(1.0, d, c));
        // and what virtual work adds along the tangents
        virtual_work(jets, f, &c[2], rest, H, xi)?;
        for (T, xi) in jets.iter().zip(&*xi) {
            (0..orders - 1).for_each(|k| add(*xi, &T[k], &mut c[k + 2]));
            add(*xi, &T[0], &mut delta[2]);
        }
        found.change = norm(&delta[2]) / (norm(&c[2]) + f64::MIN_POSITIVE);
        if !found.change.is_finite() {
            return Err(SolveError::NotFinite { quantity: "vdot", index: 0 });
        }
        // the next change would be this one times the rate at which they fall, or a good deal more
        let falling = if before.is_finite() { found.change / before } else { 1.0 };
        let next = SURELY * found.change * falling.min(1.0);
        if expansion as usize >= rough.len() && (next <= still || is_done(found.change, before, still)) {
            break;
        }
        before = found.change;
    }
    let SeriesWorkspace { c, f, rest, regular, .. } = &mut *work;
    if found.change > 1e-6 {
        return Err(SolveError::NoConvergence { iterations: EXPANSIONS, residual: found.change });
    }
    // what the nearly dependent rows leave at the order at which they were not asked
    part.rows_of(&workspace.phi[2], regular);
    regular.iter_mut().zip(&part.rows).for_each(|(r, &i)| *r -= targets[2][i]);
    let along = (0..window.dependent.len()).map(|i| dot(window.dependent.u(i), regular).powi(2));
    found.off_branch = along.sum::<f64>().sqrt();
    found.a = c[2].iter().map(|x| 2.0 * x).collect();
    rest.iter_mut().zip(&*f).zip(&found.a).for_each(|((r, f), a)| *r = f - a);
    let weakest = window.dependent.sigma.iter().copied().fold(f64::INFINITY, f64::min);
    found.is_whole = weakest > window.whole() * window.dependent.largest;
    if with_lambda {
        (found.lambda, found.complete) = window.multipliers(&workspace.J[0], rest, found.is_whole)?;
    }
    Ok(found)
}

/// Number of coefficients, of at most `orders`, that leave nothing to speak of: D turns at about `speed` over its size.
fn enough(dependent: &DependentRows, speed: f64, orders: usize) -> usize {
    let angle = dependent.ahead.abs() * speed / dependent.largest;
    (FEWEST..orders).find(|&k| angle.powi(k as i32 - 1) <= LEFT_OUT).unwrap_or(orders)
}

/// ξ with T₀ᵀ(2 c₂ + 2 T₀ ξ - f) = 0; `rest` and `H` are room.
fn virtual_work(
    jets: &[Vec<Vec<f64>>],
    f: &[f64],
    c2: &[f64],
    rest: &mut [f64],
    H: &mut Vec<f64>,
    xi: &mut Vec<f64>,
) -> Result<(), SolveError> {
    let n = jets.len();
    rest.iter_mut().zip(f).zip(c2).for_each(|((r, f), c)| *r = 0.5 * f - c);
    xi.clear();
    xi.extend(jets.iter().map(|T| dot(&T[0], rest)));
    H.clear();
    for a in jets {
        H.extend(jets.iter().map(|b| dot(&a[0], &b[0])));
    }
    sarrus_math::solve::cholesky(H, n)
        .map_err(|i| SolveError::NotFinite { quantity: "tangents", index: i })?;
    sarrus_math::solve::cholesky_solve(H, n, xi);
    Ok(())
}
