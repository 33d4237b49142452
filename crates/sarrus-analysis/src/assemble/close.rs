//! Newton on positions with a line search, the slide back towards the model pose, and the linear solve for velocities.

use super::AssemblyError;
use crate::rank::TOLERANCE;
use crate::start::Rows;
use sarrus_solve::{
    Equations, HUB_DEGREE, Held, Kkt, Problem, Rank, Rows as Which, SolveError, Stage, Standing, State,
    Structure, kinematic_units, set_out, sharpen,
};
use sarrus_system::system::Family;
use sarrus_system::{ConstraintElement, Mechanism, System};
use std::sync::Arc;

/// Corrections before giving up.
const ITERATIONS: usize = 100;
/// Steps back towards the model pose.
const SLIDES: usize = 10;
/// Violation that counts as closed, relative to the size of the mechanism: roundings of a long chain of products.
const CLOSED: f64 = 1e-12;
/// Violation that still counts as assembled: data typed with six digits in a redundant mechanism. The report shows it.
const TOLERABLE: f64 = 1e-6;
/// A singular position is looked for where a pivot, the square of an angle, is below this.
const WEAK: f64 = 2.5e-3;

/// What may be left of the velocity equations, relative to the velocities, before geometry alone is asked.
const EXACT: f64 = 1e-11;
/// Violation over the singular value of rows that nearly depend on others.
const MISFIT: f64 = 10.0;

/// An element that is off: its name, its family, by how much.
pub(super) type Off = (String, Family, f64);

/// The system with values to be kept, and its equations.
fn held(
    system: &Arc<System>,
    holds: Vec<ConstraintElement>,
    hints: &[f64],
) -> Result<(Mechanism, Equations), AssemblyError> {
    let centring = system.centring();
    let all = if centring.is_empty() && holds.is_empty() {
        system.clone()
    } else {
        Arc::new(system.with_elements([&system.elements[..], &centring[..], &holds[..]].concat())?)
    };
    let mut mechanism = all.mechanism();
    mechanism.set_hints(hints);
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

    /// Whether it has come upon rows that nearly depend on others, or do.
    fn is_weak(&self) -> bool {
        self.0.as_ref().is_some_and(|kkt| kkt.smallest_pivot() < WEAK || !kkt.dependent_rows().is_empty())
    }
}

pub(super) fn norm(system: &System, eq: &Equations) -> f64 {
    let rows = system.structure.holonomic_rows().flat_map(|rows| eq.phi[rows].iter());
    let square: f64 = rows.map(|x| x * x).sum();
    if square.is_finite() { square.sqrt() } else { f64::INFINITY }
}

/// Brings the parts together; what stays apart is returned, farthest first. With `near`, then slides towards it.
pub(super) fn close(
    system: &Arc<System>,
    holds: Vec<ConstraintElement>,
    hints: &mut [f64],
    state: &mut State,
    near: Option<&[f64]>,
) -> Result<Vec<Off>, AssemblyError> {
    let (mut m, mut eq) = held(system, holds, hints)?;
    let all = m.system().clone();
    let mut kkt = Lazy::default();
    if !all.structure.varying.is_empty() {
        // masses as in the model pose
        kkt.get(&m, &eq)?;
    }
    m.normalize(&mut state.q);
    let size = state.q.iter().fold(1.0_f64, |a, x| a.max(x.abs()));
    let rows = (all.structure.nc.max(1) as f64).sqrt();
    let (closed, tolerable) = (CLOSED * size * rows, TOLERABLE * size);
    let (nv, nc) = (all.structure.nv, all.structure.nc);
    let (mut a, mut b, mut delta, mut mu) = (vec![0.0; nv], vec![0.0; nc], vec![0.0; nv], vec![0.0; nc]);
    m.update(state, Stage::POSITION, &mut eq);
    let mut off = norm(&all, &eq);
    for _ in 0..ITERATIONS {
        if off <= closed {
            break;
        }
        let kkt = kkt.get(&m, &eq)?;
        kkt.factor(&eq, Which::Holonomic, Rank::Any)?;
        b.iter_mut().zip(&eq.phi).for_each(|(b, phi)| *b = -phi);
        a.fill(0.0);
        kkt.solve(&eq, &a, &b, &mut delta, &mut mu)?;
        // halve the step until the parts come nearer
        let (from, before, mut t) = (state.q.clone(), off, 1.0);
        loop {
            state.q.copy_from_slice(&from);
            let step: Vec<f64> = delta.iter().map(|d| t * d).collect();
            m.retract(&mut state.q, &step);
            m.update(state, Stage::POSITION, &mut eq);
            off = norm(&all, &eq);
            if off < (1.0 - 1e-4 * t) * before || t < 1e-6 {
                break;
            }
            t *= 0.5;
        }
        if !(off < before) {
            state.q.copy_from_slice(&from);
            m.update(state, Stage::POSITION, &mut eq);
            off = norm(&all, &eq);
            break;
        }
        m.accept(state);
    }
    if off > closed && off <= tolerable && kkt.is_weak() {
        // what cannot be decomposed is left as it is
        let _ = sharpen(&mut m, state);
        m.update(state, Stage::POSITION, &mut eq);
        off = norm(&all, &eq);
    }
    if !(off <= tolerable) {
        return Ok(apart(&all, &eq.phi, tolerable, true));
    }
    hints.copy_from_slice(m.hints());
    if let Some(near) = near {
        slide(&mut m, &mut eq, &mut kkt, state, near, off.max(closed))?;
    }
    Ok(vec![])
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
        kkt.factor(eq, Which::Holonomic, Rank::Any)?;
        pull.iter_mut().for_each(|x| *x = -*x);
        b.iter_mut().zip(&eq.phi).for_each(|(b, phi)| *b = -phi);
        kkt.solve(eq, &pull, &b, &mut delta, &mut mu)?;
        let from = state.q.clone();
        m.retract(&mut state.q, &delta);
        // back onto the constraints: the slide leaves them by its square
        for _ in 0..3 {
            m.update(state, Stage::POSITION, eq);
            b.iter_mut().zip(&eq.phi).for_each(|(b, phi)| *b = -phi);
            kkt.factor(eq, Which::Holonomic, Rank::Any)?;
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

/// Velocities nearest to those given, in the mass metric; contradictions are returned, worst first, and singular positions
/// nearby. The solver is left in `spare`, where it is wanted and nothing was to be kept, so that it is of the rows of `system`.
pub(super) fn velocities(
    system: &Arc<System>,
    holds: Vec<ConstraintElement>,
    hints: &[f64],
    state: &mut State,
    spare: Option<&mut Option<Kkt>>,
) -> Result<(Vec<Off>, Vec<Standing>), AssemblyError> {
    let (mut m, mut eq) = held(system, holds, hints)?;
    let all = m.system().clone();
    let mut kkt = Kkt::new(&all.structure, &eq, HUB_DEGREE)?;
    let [_, limit, _] = kkt.pivots();
    let (nv, nc) = (all.structure.nv, all.structure.nc);
    let (mut a, mut b, mut v, mut mu) = (vec![0.0; nv], vec![0.0; nc], vec![0.0; nv], vec![0.0; nc]);
    m.update(state, Stage::VELOCITY, &mut eq);
    kkt.factor(&eq, Which::All, Rank::Any)?;
    let mut dependent = None;
    let is_weak = kkt.smallest_pivot() < WEAK || !kkt.dependent_rows().is_empty();
    if is_weak {
        // the same decision as everywhere; a large model has that of its pivots
        let rows = Rows::by_values(&all.structure, &eq);
        dependent = rows.and_then(|rows| rows.to_settle(&all.structure));
        if let Some(dependent) = dependent {
            kkt.settle(&eq, dependent)?;
        }
    }
    eq.mass_mul(&all.structure, &state.v, &mut a);
    b.iter_mut().zip(&eq.phi_t).for_each(|(b, phi_t)| *b = -phi_t);
    let solved = kkt.solve(&eq, &a, &b, &mut v, &mut mu)?;
    if solved.residual > EXACT || kkt.smallest_pivot() < WEAK {
        polish(&eq, &all.structure, dependent, &b, &mut v)?;
    }
    let given = std::mem::replace(&mut state.v, v);
    let mut standing = Vec::new();
    if kkt.smallest_pivot() < WEAK || !kkt.dependent_rows().is_empty() {
        let mut plain = system.mechanism();
        plain.set_hints(hints);
        // what cannot be decomposed shows when it is run
        standing = set_out(&mut plain, state, &given, &kept(system, &all, &eq)).unwrap_or_default();
    }
    // one that had to look harder for dependent rows would go on to
    if let Some(spare) = spare.filter(|_| Arc::ptr_eq(&all, system) && kkt.pivots()[1] == limit) {
        *spare = Some(kkt);
    }
    m.update(state, Stage::VELOCITY, &mut eq);
    let size = state.v.iter().chain(&b).fold(1e-3_f64, |a, x| a.max(x.abs()));
    let limit = TOLERABLE.max(if is_weak { misfit(system, hints, state) } else { 0.0 });
    Ok((apart(&all, &eq.phidot, limit * size, false), standing))
}

/// What rows that count as dependent may be off by, relative to velocities: a value that is kept moves them, and they lack a little.
fn misfit(system: &Arc<System>, hints: &[f64], state: &State) -> f64 {
    let mut plain = system.mechanism();
    plain.set_hints(hints);
    let mut eq = Equations::new(&plain);
    plain.update(state, Stage::VELOCITY, &mut eq);
    let near = Rows::by_values(&system.structure, &eq).and_then(|rows| rows.near);
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
        Some(dependent) => kkt.settle(&plain, dependent).map(|_| ())?,
        None => kkt.factor(&plain, Which::All, Rank::Any)?,
    }
    let (mut delta, mut mu) = (vec![0.0; s.nv], vec![0.0; s.nc]);
    kkt.solve(&plain, &vec![0.0; s.nv], &left, &mut delta, &mut mu)?;
    v.iter_mut().zip(&delta).for_each(|(v, d)| *v += d);
    Ok(())
}

/// The rows of `all` that `system` has not: values that are to be kept.
fn kept(system: &System, all: &System, eq: &Equations) -> Vec<Held> {
    let mut kept = Vec::new();
    for row in all.structure.rows.iter().filter(|row| row.start >= system.structure.nc) {
        for i in 0..row.size {
            let mut held = Held { entries: Vec::new(), value: -eq.phi_t[row.start + i] };
            for e in &all.structure.entries[row.entries.clone()] {
                let col = all.structure.cols[e.col];
                let J = &eq.J[e.offset + i * col.size..][..col.size];
                held.entries.extend(J.iter().enumerate().map(|(k, x)| (col.start + k, *x)));
            }
            kept.push(held);
        }
    }
    kept
}

/// Elements whose rows are off by more than `limit`, worst first.
fn apart(system: &System, values: &[f64], limit: f64, holonomic: bool) -> Vec<Off> {
    let mut off: Vec<Off> = Vec::new();
    for element in &system.elements {
        let n = if holonomic { element.rows.holonomic() } else { element.rows.rows() };
        let error = values[element.start..element.start + n].iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(error <= limit) {
            off.push((element.name.clone(), element.family, error));
        }
    }
    off.sort_by(|a, b| b.2.total_cmp(&a.2));
    off
}
