//! Newton on positions with a line search, the slide back towards the model pose, and the linear solve for velocities.

use super::AssemblyError;
use crate::components::parts;
use crate::rank::TOLERANCE;
use crate::start::RowRank;
use sarrus_solve::{
    ActiveRows as Which, Equations, HUB_DEGREE, HeldVelocity, Kkt, Problem, RankDemand, SingularStart,
    SolveError, Stage, State, Structure, kinematic_units, refine_positions, set_out,
};
use sarrus_system::{ConstraintElement, Mechanism, System};
use std::sync::Arc;

/// Corrections before giving up.
const ITERATIONS: usize = 100;
/// Largest turn of a body in a step that counts turns, well below half of one \[rad\].
const REVOLUTION: f64 = 1.0;
/// Most steps of that size: 1600 turns.
const FARTHEST: f64 = 1e4;
/// Steps back towards the model pose.
const SLIDES: usize = 10;
/// Violation that counts as closed, relative to the size of the mechanism: roundings of a long chain of products.
pub(super) const CLOSED: f64 = 1e-12;
/// Violation that still counts as assembled: data typed with six digits in a redundant mechanism. The report shows it.
pub(super) const TOLERABLE: f64 = 1e-6;
/// A singular position is searched for where a pivot, the square of an angle, is below this.
const WEAK: f64 = 2.5e-3;

/// Defines what may be left of the velocity equations, relative to the velocities, before geometry alone is asked.
const EXACT: f64 = 1e-11;
/// Violation over the singular value of rows that nearly depend on others.
const MISFIT: f64 = 10.0;

/// An element that is off: its index, by how much.
pub(super) type OffElement = (usize, f64);

/// Holds what came of velocities.
pub(super) struct Velocities {
    /// The system that has the values to be kept as its last elements.
    pub all: Arc<System>,
    /// Elements of it that contradict others, worst first.
    pub off: Vec<OffElement>,
    /// By column of M: whether the velocities of it follow from the metric, not from rows alone.
    pub open: Vec<bool>,
}

/// The system with values to be kept, and its equations.
fn held(
    system: &Arc<System>,
    holds: Vec<ConstraintElement>,
    discrete: &[f64],
) -> Result<(Mechanism, Equations), AssemblyError> {
    let centring = system.centring();
    let all = if centring.is_empty() && holds.is_empty() {
        system.clone()
    } else {
        Arc::new(system.with_elements([&system.elements[..], &centring[..], &holds[..]].concat())?)
    };
    let mut mechanism = all.mechanism();
    mechanism.set_discrete(discrete);
    let eq = Equations::new(&mechanism);
    Ok((mechanism, eq))
}

/// A solver that is made when it is first needed: parts that fit as they are written need none.
#[derive(Default)]
struct Lazy(Option<Kkt>);

impl Lazy {
    fn get(&mut self, m: &Mechanism, eq: &Equations) -> Result<&mut Kkt, SolveError> {
        let kkt = match self.0.take() {
            Some(kkt) => kkt,
            None => Kkt::new(m.structure(), eq, HUB_DEGREE)?,
        };
        Ok(self.0.insert(kkt))
    }

    /// Returns whether it has come upon rows that nearly depend on others, or do.
    fn is_weak(&self) -> bool {
        self.0.as_ref().is_some_and(|kkt| kkt.smallest_pivot() < WEAK || !kkt.dependent_rows().is_empty())
    }
}

pub(super) fn norm(system: &System, eq: &Equations) -> f64 {
    let rows = system.structure.holonomic_rows().flat_map(|rows| eq.phi[rows].iter());
    let square: f64 = rows.map(|x| x * x).sum();
    if square.is_finite() { square.sqrt() } else { f64::INFINITY }
}

/// Returns whether the parts fit as they are.
pub(super) fn is_closed(
    system: &Arc<System>,
    discrete: &[f64],
    state: &State,
) -> Result<bool, AssemblyError> {
    let (mut m, mut eq) = held(system, vec![], discrete)?;
    m.update(state, Stage::POSITION, &mut eq);
    Ok(norm(m.system(), &eq) <= closed(&m.system().structure, state))
}

/// Returns whether Φ̇ = 0 at `state`.
pub(super) fn is_at_rest(
    system: &Arc<System>,
    discrete: &[f64],
    state: &State,
) -> Result<bool, AssemblyError> {
    let (mut m, mut eq) = held(system, vec![], discrete)?;
    m.update(state, Stage::VELOCITY, &mut eq);
    Ok(eq.phidot.iter().all(|x| *x == 0.0))
}

/// The size of coordinates.
fn size(state: &State) -> f64 {
    state.q.iter().fold(1.0_f64, |a, x| a.max(x.abs()))
}

/// ‖Φ‖ that counts as closed.
fn closed(s: &Structure, state: &State) -> f64 {
    CLOSED * size(state) * (s.nc.max(1) as f64).sqrt()
}

/// Brings the parts together; what stays apart is returned, farthest first, with the system that has the values of `holds` as its last
/// elements. With `near`, then slides towards it.
pub(super) fn close(
    system: &Arc<System>,
    holds: Vec<ConstraintElement>,
    discrete: &mut [f64],
    state: &mut State,
    near: Option<&[f64]>,
) -> Result<(Arc<System>, Vec<OffElement>), AssemblyError> {
    let (mut m, mut eq) = held(system, holds, discrete)?;
    let all = m.system().clone();
    let mut kkt = Lazy::default();
    if !all.structure.varying.is_empty() {
        // masses as in the model pose
        kkt.get(&m, &eq)?;
    }
    m.normalize(&mut state.q);
    let (closed, tolerable) = (closed(&all.structure, state), TOLERABLE * size(state));
    m.update(state, Stage::POSITION, &mut eq);
    let start = (state.q.clone(), m.discrete().to_vec());
    let mut off = newton(&mut m, &mut eq, &mut kkt, state, closed, Test::Residual)?;
    if !(off <= tolerable) {
        let (q, discrete) = (state.q.clone(), m.discrete().to_vec());
        state.q.copy_from_slice(&start.0);
        m.set_discrete(&start.1);
        // where that cannot be solved either, the first says what is apart
        let natural =
            newton(&mut m, &mut eq, &mut kkt, state, closed, Test::Natural).unwrap_or(f64::INFINITY);
        if natural <= tolerable {
            off = natural;
        } else {
            state.q.copy_from_slice(&q);
            m.set_discrete(&discrete);
            m.update(state, Stage::POSITION, &mut eq);
        }
    }
    if off > closed && off <= tolerable && kkt.is_weak() {
        // what cannot be decomposed is left as it is
        let _ = refine_positions(&mut m, state);
        m.update(state, Stage::POSITION, &mut eq);
        off = norm(&all, &eq);
    }
    if !(off <= tolerable) {
        let off = apart(&all, &eq.phi, tolerable, true);
        return Ok((all, off));
    }
    discrete.copy_from_slice(m.discrete());
    if let Some(near) = near {
        slide(&mut m, &mut eq, &mut kkt, state, near, off.max(closed))?;
    }
    Ok((all, vec![]))
}

/// Holds what a step of Newton's method must make smaller.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Test {
    /// ‖Φ‖.
    Residual,
    /// The correction that is left, J⁺Φ with J from before the step, in the mass metric: the natural monotonicity test of \[Deuflhard2004\].
    /// ‖Φ‖ compares lengths with angles, so that a nut on a fine thread could turn by small steps only. Steps turn no body by more than
    /// [`REVOLUTION`], so that joint angles count their turns.
    Natural,
}

/// Corrects positions by Newton's method with a line search until ‖Φ‖ ≤ `closed`; returns ‖Φ‖.
fn newton(
    m: &mut Mechanism,
    eq: &mut Equations,
    kkt: &mut Lazy,
    state: &mut State,
    closed: f64,
    test: Test,
) -> Result<f64, AssemblyError> {
    let all = m.system().clone();
    let (nv, nc) = (all.structure.nv, all.structure.nc);
    let (zero, mut b, mut delta, mut mu) = (vec![0.0; nv], vec![0.0; nc], vec![0.0; nv], vec![0.0; nc]);
    let (mut left, mut moment) = (vec![0.0; nv], vec![0.0; nv]);
    let mut length = |eq: &Equations, delta: &[f64]| {
        eq.mass_mul(&all.structure, delta, &mut moment);
        delta.iter().zip(&moment).map(|(a, b)| a * b).sum::<f64>().sqrt()
    };
    m.update(state, Stage::POSITION, eq);
    let mut next = eq.clone();
    let mut off = norm(&all, eq);
    let (mut done, mut most) = (0, ITERATIONS);
    while off > closed && done < most {
        let kkt = kkt.get(m, eq)?;
        kkt.factor(eq, Which::Holonomic, RankDemand::Any)?;
        b.iter_mut().zip(&eq.phi).for_each(|(b, phi)| *b = -phi);
        kkt.solve(eq, &zero, &b, &mut delta, &mut mu)?;
        let (from, before, mut t) = (state.q.clone(), off, 1.0);
        let mut far = 0.0;
        if test == Test::Natural {
            let angle = largest_rotation(&all, &delta);
            t = 1.0_f64.min(REVOLUTION / angle);
            most = most.max(ITERATIONS + (angle / REVOLUTION).min(FARTHEST) as usize);
            far = length(eq, &delta);
        }
        // halve the step until the parts come nearer
        let is_nearer = loop {
            state.q.copy_from_slice(&from);
            let step: Vec<f64> = delta.iter().map(|d| t * d).collect();
            m.retract(&mut state.q, &step);
            m.update(state, Stage::POSITION, &mut next);
            off = norm(&all, &next);
            let is_nearer = match test {
                Test::Residual => off < (1.0 - 1e-4 * t) * before,
                Test::Natural => {
                    b.iter_mut().zip(&next.phi).for_each(|(b, phi)| *b = -phi);
                    kkt.solve(eq, &zero, &b, &mut left, &mut mu)?;
                    off.is_finite() && length(eq, &left) < (1.0 - 1e-4 * t) * far
                }
            };
            if is_nearer || t < 1e-6 {
                break is_nearer || off < before;
            }
            t *= 0.5;
        };
        if !is_nearer {
            state.q.copy_from_slice(&from);
            return Ok(before);
        }
        std::mem::swap(eq, &mut next);
        m.accept(state);
        done += 1;
    }
    Ok(off)
}

/// The largest angle by which a body turns with `delta` \[rad\].
fn largest_rotation(system: &System, delta: &[f64]) -> f64 {
    let bodies = system.directory.bodies.iter().filter(|body| body.kind.rotates() && !body.is_internal());
    let is_rotated = bodies.map(|body| {
        let first = body.v + if body.kind.rotates_in_space() { 3 } else { 2 };
        delta[first..body.v + body.kind.nv()].iter().map(|x| x * x).sum::<f64>().sqrt()
    });
    is_rotated.fold(0.0, f64::max)
}

/// Moves along the constraints to the position nearest to `near`, as long as that keeps Φ where it is.
fn slide(
    m: &mut Mechanism,
    eq: &mut Equations,
    kkt: &mut Lazy,
    state: &mut State,
    near: &[f64],
    closed: f64,
) -> Result<(), AssemblyError> {
    let all = m.system().clone();
    let (nv, nc) = (all.structure.nv, all.structure.nc);
    let (mut away, mut pull) = (vec![0.0; nv], vec![0.0; nv]);
    let (mut b, mut delta, mut mu) = (vec![0.0; nc], vec![0.0; nv], vec![0.0; nc]);
    let distance = |m: &Mechanism, q: &[f64], away: &mut [f64], pull: &mut [f64], eq: &Equations| {
        m.difference(q, near, away);
        eq.mass_mul(&all.structure, away, pull);
        away.iter().zip(pull.iter()).map(|(a, b)| a * b).sum::<f64>()
    };
    let mut best = distance(m, &state.q, &mut away, &mut pull, eq);
    for _ in 0..SLIDES {
        if best == 0.0 {
            break;
        }
        let kkt = kkt.get(m, eq)?;
        kkt.factor(eq, Which::Holonomic, RankDemand::Any)?;
        pull.iter_mut().for_each(|x| *x = -*x);
        b.iter_mut().zip(&eq.phi).for_each(|(b, phi)| *b = -phi);
        kkt.solve(eq, &pull, &b, &mut delta, &mut mu)?;
        let from = state.q.clone();
        m.retract(&mut state.q, &delta);
        // back onto the constraints: the slide leaves them by its square
        for _ in 0..3 {
            m.update(state, Stage::POSITION, eq);
            b.iter_mut().zip(&eq.phi).for_each(|(b, phi)| *b = -phi);
            kkt.factor(eq, Which::Holonomic, RankDemand::Any)?;
            pull.fill(0.0);
            kkt.solve(eq, &pull, &b, &mut delta, &mut mu)?;
            m.retract(&mut state.q, &delta);
        }
        m.update(state, Stage::POSITION, eq);
        let now = distance(m, &state.q, &mut away, &mut pull, eq);
        if !(now < best * (1.0 - 1e-12)) || norm(&all, eq) > closed {
            state.q.copy_from_slice(&from);
            m.update(state, Stage::POSITION, eq);
            break;
        }
        let gain = best - now;
        best = now;
        if gain < 1e-9 * best {
            break;
        }
    }
    Ok(())
}

/// Velocities nearest to those of `state` in the mass metric that satisfy the rows of a system.
struct NearestVelocities {
    v: Vec<f64>,
    /// -Φ_t.
    b: Vec<f64>,
    kkt: Kkt,
    /// The pivot below which a row counts as dependent, before any was checked.
    limit: f64,
    is_weak: bool,
    /// Describes how many rows depend on others, where singular values tell.
    dependent: Option<usize>,
}

impl NearestVelocities {
    fn find(
        m: &mut Mechanism,
        eq: &mut Equations,
        state: &State,
    ) -> Result<NearestVelocities, AssemblyError> {
        let all = m.system().clone();
        let mut kkt = Kkt::new(&all.structure, eq, HUB_DEGREE)?;
        let [_, limit, _] = kkt.pivots();
        let (nv, nc) = (all.structure.nv, all.structure.nc);
        let (mut a, mut b, mut v, mut mu) = (vec![0.0; nv], vec![0.0; nc], vec![0.0; nv], vec![0.0; nc]);
        m.update(state, Stage::VELOCITY, eq);
        kkt.factor(eq, Which::All, RankDemand::Any)?;
        let mut dependent = None;
        let is_weak = kkt.smallest_pivot() < WEAK || !kkt.dependent_rows().is_empty();
        if is_weak {
            // the same decision as everywhere; a large model has that of its pivots
            let rows = RowRank::by_values(&all.structure, eq);
            dependent = rows.and_then(|rows| rows.rank_to_resolve(&all.structure));
            if let Some(dependent) = dependent {
                kkt.resolve_rank(eq, dependent)?;
            }
        }
        eq.mass_mul(&all.structure, &state.v, &mut a);
        b.iter_mut().zip(&eq.phi_t).for_each(|(b, phi_t)| *b = -phi_t);
        let solved = kkt.solve(eq, &a, &b, &mut v, &mut mu)?;
        if solved.residual > EXACT || kkt.smallest_pivot() < WEAK {
            polish(eq, &all.structure, dependent, &b, &mut v)?;
        }
        Ok(NearestVelocities { v, b, kkt, limit, is_weak, dependent })
    }

    /// Returns what came of it at `state`, where `off` may be left relative to velocities; `given` are those that it departed from.
    fn judge(
        &self,
        m: &mut Mechanism,
        eq: &mut Equations,
        (state, given): (&State, &[f64]),
        off: f64,
    ) -> Result<Velocities, AssemblyError> {
        m.update(state, Stage::VELOCITY, eq);
        let size = state.v.iter().chain(&self.b).fold(1e-3_f64, |a, x| a.max(x.abs()));
        let all = m.system().clone();
        let off = apart(&all, &eq.phidot, off * size, false);
        let s = &all.structure;
        let columns = |v: &[f64]| -> Vec<bool> {
            let differs = |k: usize| (v[k] - state.v[k]).abs() > TOLERABLE * size;
            s.cols.iter().map(|col| (col.start..col.start + col.size).any(differs)).collect()
        };
        let mut open = columns(given);
        for part in parts(s) {
            let velocities: usize = part.cols.iter().map(|col| s.cols[*col].size).sum();
            let rows = part.rows.iter().map(|row| &s.rows[*row]).flat_map(|r| r.start..r.start + r.size);
            if rows.filter(|row| !self.kkt.is_dependent(*row)).count() >= velocities {
                part.cols.iter().for_each(|col| open[*col] = false);
            }
        }
        if open.contains(&true) {
            // what rows decide is the same in any metric
            let mut other = given.to_vec();
            polish(eq, s, self.dependent, &self.b, &mut other)?;
            open.iter_mut().zip(columns(&other)).for_each(|(open, differs)| *open &= differs);
        }
        Ok(Velocities { all, off, open })
    }
}

/// Velocities nearest to those given, in the mass metric.
pub(super) fn nearest_velocities(
    system: &Arc<System>,
    holds: Vec<ConstraintElement>,
    discrete: &[f64],
    state: &mut State,
) -> Result<Velocities, AssemblyError> {
    let (mut m, mut eq) = held(system, holds, discrete)?;
    let nearest = NearestVelocities::find(&mut m, &mut eq, state)?;
    let given = std::mem::replace(&mut state.v, nearest.v.clone());
    nearest.judge(&mut m, &mut eq, (state, &given), TOLERABLE)
}

/// The same with care near singular positions, which are returned too. The solver is left in `spare`, where it is wanted and nothing
/// was to be kept, so that it is of the rows of `system`.
pub(super) fn velocities(
    system: &Arc<System>,
    holds: Vec<ConstraintElement>,
    discrete: &[f64],
    state: &mut State,
    workspace: Option<&mut Option<Kkt>>,
) -> Result<(Velocities, Vec<SingularStart>), AssemblyError> {
    let (mut m, mut eq) = held(system, holds, discrete)?;
    let all = m.system().clone();
    let nearest = NearestVelocities::find(&mut m, &mut eq, state)?;
    let given = std::mem::replace(&mut state.v, nearest.v.clone());
    let kkt = &nearest.kkt;
    let mut singular_starts = Vec::new();
    if kkt.smallest_pivot() < WEAK || !kkt.dependent_rows().is_empty() {
        let mut plain = system.mechanism();
        plain.set_discrete(discrete);
        // what cannot be decomposed shows when it is run
        singular_starts =
            set_out(&mut plain, state, &given, &preserved(system, &all, &eq)).unwrap_or_default();
    }
    let limit = TOLERABLE.max(if nearest.is_weak { misfit(system, discrete, state) } else { 0.0 });
    let found = nearest.judge(&mut m, &mut eq, (state, &given), limit)?;
    // one that had to look harder for dependent rows would continue to
    if let Some(workspace) =
        workspace.filter(|_| Arc::ptr_eq(&all, system) && kkt.pivots()[1] == nearest.limit)
    {
        *workspace = Some(nearest.kkt);
    }
    Ok((found, singular_starts))
}

/// Returns what rows that count as dependent may be off by, relative to velocities: a value that is kept moves them, and they lack a little.
fn misfit(system: &Arc<System>, discrete: &[f64], state: &State) -> f64 {
    let mut plain = system.mechanism();
    plain.set_discrete(discrete);
    let mut eq = Equations::new(&plain);
    plain.update(state, Stage::VELOCITY, &mut eq);
    let near = RowRank::by_values(&system.structure, &eq).and_then(|rows| rows.near);
    near.filter(|sigma| *sigma <= TOLERANCE).map_or(0.0, |sigma| MISFIT * sigma)
}

/// Takes from `v` what the metric of M leaves of J v = `b`: with very light bodies it has few digits, and geometry has all.
fn polish(
    eq: &Equations,
    s: &Structure,
    dependent: Option<usize>,
    b: &[f64],
    v: &mut [f64],
) -> Result<(), AssemblyError> {
    let mut left = b.to_vec();
    for row in &s.rows {
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            for (i, J) in eq.J[e.offset..][..row.size * col.size].chunks_exact(col.size).enumerate() {
                left[row.start + i] -= J.iter().zip(&v[col.start..]).map(|(j, v)| j * v).sum::<f64>();
            }
        }
    }
    let size = b.iter().chain(&*v).fold(0.0_f64, |a, x| a.max(x.abs()));
    if left.iter().all(|r| r.abs() <= EXACT * size) {
        return Ok(());
    }
    let units = kinematic_units(s, &eq.J);
    let mut plain = eq.clone();
    plain.mass.fill(0.0);
    plain.minv.fill(0.0);
    for col in &s.cols {
        for i in 0..col.size {
            let (at, square) = (col.mass + i * (col.size + 1), units[col.start + i].powi(2));
            (plain.mass[at], plain.minv[at]) = (square.recip(), square);
        }
    }
    let mut kkt = Kkt::new(s, &plain, HUB_DEGREE)?;
    match dependent {
        Some(dependent) => kkt.resolve_rank(&plain, dependent).map(|_| ())?,
        None => kkt.factor(&plain, Which::All, RankDemand::Any)?,
    }
    let (mut delta, mut mu) = (vec![0.0; s.nv], vec![0.0; s.nc]);
    kkt.solve(&plain, &vec![0.0; s.nv], &left, &mut delta, &mut mu)?;
    v.iter_mut().zip(&delta).for_each(|(v, d)| *v += d);
    Ok(())
}

/// The rows of `all` that `system` has not: values that are to be kept.
fn preserved(system: &System, all: &System, eq: &Equations) -> Vec<HeldVelocity> {
    let mut retained = Vec::new();
    for row in all.structure.rows.iter().filter(|row| row.start >= system.structure.nc) {
        for i in 0..row.size {
            let mut held = HeldVelocity { entries: Vec::new(), value: -eq.phi_t[row.start + i] };
            for e in &all.structure.entries[row.entries.clone()] {
                let col = all.structure.cols[e.col];
                let J = &eq.J[e.offset + i * col.size..][..col.size];
                held.entries.extend(J.iter().enumerate().map(|(k, x)| (col.start + k, *x)));
            }
            retained.push(held);
        }
    }
    retained
}

/// Elements whose rows are off by more than `limit`, worst first.
fn apart(system: &System, values: &[f64], limit: f64, holonomic: bool) -> Vec<OffElement> {
    let mut off: Vec<OffElement> = Vec::new();
    for (i, element) in system.elements.iter().enumerate() {
        let n = if holonomic { element.rows.holonomic() } else { element.rows.rows() };
        let error = values[element.start..element.start + n].iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(error <= limit) {
            off.push((i, error));
        }
    }
    off.sort_by(|a, b| b.1.total_cmp(&a.1));
    off
}
