//! Newton's iteration for rest, of an elastic mechanism near it: f(q) = Jᵀλ, Φ(q) = 0.
//!
//! ```text
//! [ K    κJᵀ ] [ δ   ]   [ f - Jᵀλ ]
//! [ κJ   0   ] [ ν/κ ] = [ -κΦ     ],   q ← q ⊕ δ,   λ ← λ + ν
//! ```
//!
//! K is exact, so the iteration converges quadratically, in a few steps. κ, the largest entry of K, gives all blocks one size. Positions
//! come onto the constraints together with the forces, and nothing is asked of the residual on the way: a step that bends a slender beam
//! stretches it by the square of the rotation, which raises the residual by EA/EI, and the next step takes that back. What is asked is that
//! steps become shorter.
//!
//! Where something may move that nothing elastic holds, or far from rest, the iteration is held back by a metric G: with Δ, the way since
//! it began, K + μG takes the place of K, and f - μGΔ that of f. It comes to rest on the way that a damped motion would take, the farther the
//! smaller μ is: a step of the proximal point method \[Rockafellar1976\], which bends and swings stiff members without stretching them.
//!
//! Steps end where force expressions and contacts are no longer resolved on the way ([`Paths`]).
//!
//! Rows that depend on others are left out. Cost: a tangent and a sparse factorization of one pattern a step. Not where nothing holds the
//! mechanism (K is singular along what is free), nor far from rest.

use super::paths::Paths;
use super::rest::add_reactive;
use super::squares::quadratic;
use sarrus_math::solve::PatternLu;
use sarrus_solve::implicit::ChangeScale;
use sarrus_solve::{Equations, GroupKind, Problem, Stage, State, Structure, Tangent};
use sarrus_system::Mechanism;

/// Most steps, and most of those that are shortened to what is resolved of them.
const MOST: u32 = 30;
const SHORTENED: u32 = 30;
/// A last step, relative to the first where that is short: what is left after it is its square.
const LAST: f64 = 1e-9;
/// The same while it is held back, which is no rest anyhow.
const ROUGH: f64 = 1e-4;
/// A step that rounding may keep from becoming shorter, where stiffnesses differ by many digits.
const ROUNDING: f64 = 1e-6;
/// Rounding of a sum of some products, over that of one of them.
const OPERATIONS: f64 = 16.0;
/// Steps that are longer than the one before them, at most.
const LONGER: u32 = 4;

/// Reason why the iteration stopped short.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NewtonStop {
    /// A step led up a potential: towards a rest that is not stable.
    Uphill,
    /// Steps were too long, or became no shorter, or there were none.
    Lost,
    /// Something one-sided was met on this way.
    Met(Vec<f64>),
}

/// Holds what the iteration may do.
#[derive(Debug, Clone, Copy)]
pub(super) struct IterationBounds {
    /// Longest step \[rad, and relative to the size of the mechanism\].
    pub longest: f64,
    /// True if every step must lead along the forces.
    pub downhill: bool,
}

/// μG: entries (row, column, value), of which those at one place add up.
pub(super) type MetricEntries = [(usize, usize, f64)];

/// The iteration, for systems of one pattern.
pub(super) struct EquilibriumNewton {
    lu: PatternLu<f64>,
    /// Marks where the numbers of K, of J and Jᵀ, and of the diagonal of the rows go.
    pairs: Vec<usize>,
    rows: Vec<[usize; 2]>,
    diagonal: Vec<usize>,
    scale: ChangeScale,
    eq: Equations,
    x: Vec<f64>,
    still: Vec<f64>,
    /// Δ.
    way: Vec<f64>,
    /// Length of the first step.
    first: f64,
    /// The largest position that iterations have begun at \[m\].
    size: f64,
}

impl EquilibriumNewton {
    /// For the pattern of `m` and `tangent`; none where it is too large.
    pub fn new(m: &Mechanism, tangent: &Tangent) -> Option<EquilibriumNewton> {
        let s = m.structure();
        let mut entries = Vec::new();
        for pair in &tangent.pairs {
            let [a, b] = pair.at.map(|i| s.cols[i]);
            (0..a.size).for_each(|i| (0..b.size).for_each(|j| entries.push((a.start + i, b.start + j))));
        }
        let pairs = entries.len();
        each_of_J(s, |row, col, _| entries.extend([(s.nv + row, col), (col, s.nv + row)]));
        let rows = entries.len();
        entries.extend((0..s.nc).map(|i| (s.nv + i, s.nv + i)));
        let (lu, indices) = PatternLu::new(s.nv + s.nc, &entries).ok()?;
        Some(EquilibriumNewton {
            pairs: indices[..pairs].to_vec(),
            rows: indices[pairs..rows].chunks_exact(2).map(|at| [at[0], at[1]]).collect(),
            diagonal: indices[rows..].to_vec(),
            lu,
            scale: ChangeScale::new(s),
            eq: Equations::new(m),
            x: vec![0.0; s.nv + s.nc],
            still: vec![0.0; s.nv],
            way: vec![0.0; s.nv],
            first: 0.0,
            size: 0.0,
        })
    }

    /// Takes `state` and `lambda` to rest, as far as they are not `held` back. `out` are the scalar rows that depend on others; `made` counts the steps.
    pub fn solve(
        &mut self,
        m: &mut Mechanism,
        tangent: &mut Tangent,
        state: &mut State,
        lambda: &mut [f64],
        out: &[bool],
        held: &MetricEntries,
        bounds: IterationBounds,
        mut paths: Option<&mut Paths>,
        made: &mut u32,
    ) -> Result<(), NewtonStop> {
        let s = m.structure().clone();
        self.scale.measure(&s, state);
        // a body on its way through the origin is not small
        self.scale.at_least(self.size);
        self.size = self.scale.length();
        self.way.fill(0.0);
        let (mut before, mut longer) = (f64::INFINITY, 0);
        let (mut whole, mut shortened) = (0, 0);
        while whole < MOST && shortened < SHORTENED {
            m.update(state, Stage::FORCE, &mut self.eq);
            add_reactive(m, state, &mut self.eq, lambda);
            m.tangent(state, &self.still, lambda, tangent);
            for &(i, j, value) in held {
                self.eq.f[i] -= value * self.way[j];
                let [a, b] = [i, j].map(|i| s.cols.partition_point(|c| c.start <= i) - 1);
                let index = tangent.first_entry([a, b]) + (i - s.cols[a].start) * s.cols[b].size;
                tangent.K[index + j - s.cols[b].start] += value;
            }
            self.step(&s, tangent, lambda, out).ok_or(NewtonStop::Lost)?;
            let (delta, nu) = self.x.split_at(s.nv);
            let length = self.scale.size(delta, 1.0, 0.0, 1.0).0;
            if !(length <= bounds.longest) {
                return Err(NewtonStop::Lost);
            }
            // what is rounding leads anywhere
            let (work, terms) = quadratic(&s, tangent, &tangent.K, delta);
            if bounds.downhill && !(work >= -OPERATIONS * f64::EPSILON * terms) {
                return Err(NewtonStop::Uphill);
            }
            if *made == 0 {
                self.first = length;
            }
            longer += u32::from(length > before);
            if longer > LONGER {
                return Err(NewtonStop::Lost);
            }
            *made += 1;
            let from = paths.is_some().then(|| state.clone());
            m.retract(&mut state.q, delta);
            let mut share = 1.0;
            if let (Some(paths), Some(from)) = (paths.as_deref_mut(), &from) {
                let limit = paths.limit(m, from, state);
                if limit.rigid {
                    return Err(NewtonStop::Lost);
                }
                share = limit.share;
            }
            if let Some(from) = from.filter(|_| share < 1.0) {
                let part: Vec<f64> = delta.iter().map(|d| share * d).collect();
                state.copy_from(&from);
                m.retract(&mut state.q, &part);
            }
            self.way.iter_mut().zip(delta).for_each(|(way, delta)| *way += share * delta);
            m.accept(state);
            lambda.iter_mut().zip(nu).for_each(|(lambda, nu)| *lambda += share * nu);
            if share < 1.0 {
                // the next one may be longer
                shortened += 1;
                before = f64::INFINITY;
                continue;
            }
            whole += 1;
            let last = if held.is_empty() { LAST * self.first.min(1.0) } else { ROUGH };
            if length <= last || (length <= ROUNDING && length > 0.5 * before) {
                return Ok(());
            }
            before = length;
        }
        Err(NewtonStop::Lost)
    }

    /// Forgets Δ of the last iteration.
    pub fn begin(&mut self) {
        self.way.fill(0.0);
        self.first = 0.0;
    }

    /// Returns whether Δ of the last iteration is more than `times` its first step, which is along the tangent. Steps of rounding lead anywhere.
    pub fn strays(&self, times: f64) -> bool {
        let length = self.scale.size(&self.way, 1.0, 0.0, 1.0).0;
        length > ROUNDING && length > times * self.first
    }

    /// The same, than a displacement along another tangent.
    pub fn strays_from(&self, times: f64, displacement: &[f64]) -> bool {
        let length = |x: &[f64]| self.scale.size(x, 1.0, 0.0, 1.0).0;
        length(&self.way) > (times * length(displacement)).max(ROUNDING)
    }

    /// Returns whether f - Jᵀλ is rounding of its terms in each equation, at `state` with the tangent there.
    pub fn is_rounding(
        &mut self,
        m: &mut Mechanism,
        state: &State,
        lambda: &[f64],
        tangent: &Tangent,
    ) -> bool {
        let s = m.structure().clone();
        m.update(state, Stage::FORCE, &mut self.eq);
        add_reactive(m, state, &mut self.eq, lambda);
        let (mut left, mut terms) = (self.eq.f.clone(), self.rounding(&s, state, tangent));
        terms.iter_mut().zip(&left).for_each(|(term, f)| *term += f64::EPSILON * f.abs());
        each_of_J(&s, |row, col, at| {
            let force = self.eq.J[at] * lambda[row];
            left[col] -= force;
            terms[col] += f64::EPSILON * force.abs();
        });
        left.iter().zip(&terms).all(|(left, term)| left.abs() <= OPERATIONS * term)
    }

    /// Factors K of `tangent` bordered by the rows J without those that are `out`; None where that is singular.
    pub fn factor(&mut self, s: &Structure, tangent: &Tangent, J: &[f64], out: &[bool]) -> Option<f64> {
        let largest = tangent.K.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        let kappa = if largest > 0.0 { largest } else { 1.0 };
        let values = &mut self.lu.values;
        values.fill(0.0);
        let mut indices = self.pairs.iter();
        for pair in &tangent.pairs {
            let n = pair.at.map(|i| s.cols[i].size).iter().product();
            tangent.K[pair.offset..][..n].iter().zip(&mut indices).for_each(|(K, &to)| values[to] += K);
        }
        let mut indices = self.rows.iter();
        each_of_J(s, |row, _, at| {
            if let Some(slots) = indices.next().filter(|_| !out[row]) {
                slots.iter().for_each(|&to| values[to] += kappa * J[at]);
            }
        });
        self.diagonal.iter().zip(out).filter(|(_, out)| **out).for_each(|(&to, _)| values[to] = kappa);
        self.lu.factor().ok()?;
        Some(kappa)
    }

    /// The displacement along the rows that forces make, with the last factors; None where there is none.
    pub fn displacement(&mut self, force: &[f64]) -> Option<Vec<f64>> {
        self.x.fill(0.0);
        self.x[..force.len()].copy_from_slice(force);
        self.lu.solve(&mut self.x).ok()?;
        let found = self.x[..force.len()].to_vec();
        found.iter().all(|x| x.is_finite()).then_some(found)
    }

    /// Δ of the last iteration.
    pub fn way(&self) -> &[f64] {
        &self.way
    }

    /// Forces (nv) that rounding of positions makes: a unit in the last place of the largest length, and of a radian, times |K|.
    pub fn rounding(&self, s: &Structure, state: &State, tangent: &Tangent) -> Vec<f64> {
        let largest = |kind| {
            let groups = s.groups.iter().filter(move |g| g.kind == kind);
            groups.flat_map(|g| &state.q[g.start..][..g.len]).fold(0.0_f64, |a, q| a.max(q.abs()))
        };
        let mut unit = vec![largest(GroupKind::Position); s.nv];
        for rotation in s.groups.iter().filter(|g| g.kind == GroupKind::AngularVelocity) {
            unit[rotation.start..][..rotation.len].fill(1.0);
        }
        let mut f = vec![0.0; s.nv];
        for pair in &tangent.pairs {
            let [a, b] = pair.at.map(|i| s.cols[i]);
            for i in 0..a.size {
                let row = &tangent.K[pair.offset + i * b.size..][..b.size];
                f[a.start + i] +=
                    row.iter().zip(&unit[b.start..]).map(|(K, u)| f64::EPSILON * K.abs() * u).sum::<f64>();
            }
        }
        f
    }

    /// (δ, ν) in `x`.
    fn step(&mut self, s: &Structure, tangent: &Tangent, lambda: &[f64], out: &[bool]) -> Option<()> {
        let J = std::mem::take(&mut self.eq.J);
        let factored = self.factor(s, tangent, &J, out);
        self.eq.J = J;
        let kappa = factored?;
        let (r, c) = self.x.split_at_mut(s.nv);
        r.fill(0.0);
        self.eq.add_Jt_mul(s, lambda, r);
        r.iter_mut().zip(&self.eq.f).for_each(|(r, f)| *r = f - *r);
        for ((c, phi), out) in c.iter_mut().zip(&self.eq.phi).zip(out) {
            *c = if *out { 0.0 } else { -kappa * phi };
        }
        self.lu.solve(&mut self.x).ok()?;
        self.x[s.nv..].iter_mut().for_each(|nu| *nu *= kappa);
        self.x.iter().all(|x| x.is_finite()).then_some(())
    }
}

/// Every number of J: its row, its column, and its index among the numbers.
fn each_of_J(s: &Structure, mut see: impl FnMut(usize, usize, usize)) {
    for row in &s.rows {
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            for i in 0..row.size {
                (0..col.size).for_each(|j| see(row.start + i, col.start + j, e.offset + i * col.size + j));
            }
        }
    }
}
