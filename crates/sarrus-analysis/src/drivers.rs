//! Drivers that contradict each other.
//!
//! Drivers can be followed together where velocities with J v = -Φ_t exist. What no v satisfies, r = -Φ_t - J v over the rows that
//! depend on others, is their contradiction; where they agreed at the start and drift apart, it shows in Φ in the same way.
//! Which drivers it is between is found by a deletion filter \[Chinneck1991\]: each is left out in turn, for good if the
//! contradiction remains. What is left is a smallest set: without any one of its drivers the others can be followed.
//!
//! Cost: a factorization per driver, where a run or an assembly fails.

use sarrus_solve::{
    Equations, HUB_DEGREE, Kkt, Problem, Rank, Rows, SolveError, Stage, State, Structure, digits,
};
use sarrus_system::{Family, Mechanism, System};

/// Fraction of a contradiction that is none: rounding, once one of its drivers is left out.
const NONE: f64 = 1e-3;
/// Contradiction of rates, relative to the largest rate, that is more than rounding and an integrator's error.
const RELATIVE: f64 = 1e-6;

/// Drivers that no motion follows together, and since when.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contradiction {
    /// Their names.
    pub drivers: Vec<String>,
    /// Time \[s\].
    pub t: f64,
    /// By how much they contradict each other [m, rad, or that per s].
    pub by: f64,
}

impl Contradiction {
    /// In words, with what to do about it.
    pub fn message(&self) -> String {
        let quoted: Vec<String> = self.drivers.iter().map(|name| format!("`{name}`")).collect();
        let [most @ .., last] = &quoted[..] else { return String::new() };
        format!(
            "drivers {} and {last} contradict each other at t = {} (off by {:.1e}): leave out one of them, or let {} prescribe \
             the same motion",
            most.join(", "),
            digits(&self.t),
            self.by,
            if quoted.len() == 2 { "both" } else { "all" }
        )
    }
}

/// Whether there are drivers enough to contradict each other.
pub(crate) fn can_contradict(system: &System) -> bool {
    system.elements.iter().filter(|e| e.family == Family::Driver).count() > 1
}

/// The contradiction between drivers at `s`, in rates or in positions, where it is larger than `limits` of these.
pub(crate) fn find(mechanism: &mut Mechanism, s: &State, limits: [f64; 2]) -> Option<Contradiction> {
    let system = mechanism.system().clone();
    if !can_contradict(&system) {
        return None;
    }
    let mut eq = Equations::new(mechanism);
    mechanism.update(s, Stage::VELOCITY, &mut eq);
    let mut phi = eq.phi.clone();
    for row in &system.structure.rows {
        phi[row.start + row.holonomic..row.start + row.size].fill(0.0);
    }
    let found = |b: &[f64], limit: f64| {
        between(&system, &eq, b, limit).map(|(drivers, by)| Contradiction { drivers, t: s.t, by })
    };
    found(&eq.phi_t, limits[1]).or_else(|| found(&phi, limits[0]))
}

/// The contradiction at `s` in rates, relative to the rates, or in accelerations, relative to their terms, once a step from there
/// has failed.
pub(crate) fn find_in_rates(mechanism: &mut Mechanism, s: &State) -> Option<Contradiction> {
    let largest = |of: &[f64]| of.iter().fold(f64::MIN_POSITIVE, |a, x| a.max(x.abs()));
    if let Some(found) = find(mechanism, s, [f64::INFINITY, RELATIVE * largest(&s.v)]) {
        return Some(found);
    }
    let system = mechanism.system().clone();
    if !can_contradict(&system) {
        return None;
    }
    let mut eq = Equations::new(mechanism);
    mechanism.update(s, Stage::FORCE, &mut eq);
    mechanism.gamma_terms(s, &mut eq.gamma_terms);
    let limit = RELATIVE * largest(&eq.gamma).max(largest(&eq.gamma_terms));
    between(&system, &eq, &eq.gamma, limit).map(|(drivers, by)| Contradiction { drivers, t: s.t, by })
}

/// Drivers in a smallest set that `b` contradicts by more than `limit`, and by how much.
fn between(system: &System, eq: &Equations, b: &[f64], limit: f64) -> Option<(Vec<String>, f64)> {
    let mut out = vec![false; system.elements.len()];
    let whole = contradiction(&system.structure, eq, b, &out).ok()?;
    if !(whole > limit) {
        return None;
    }
    let is_driver = |i: &usize| system.elements[*i].family == Family::Driver;
    for i in (0..out.len()).filter(is_driver) {
        out[i] = true;
        // one that is needed for the contradiction stays
        if contradiction(&system.structure, eq, b, &out).is_ok_and(|left| left <= NONE * whole) {
            out[i] = false;
        }
    }
    let left: Vec<String> = (0..out.len())
        .filter(|i| is_driver(i) && !out[*i])
        .map(|i| system.elements[i].name.clone())
        .collect();
    // of one alone the constraints are to blame, as lengths of a few digits in a redundant mechanism
    Some((left, whole)).filter(|(left, _)| left.len() > 1)
}

/// The largest of b - J x that is left over the rows of all blocks but those that are `out`.
fn contradiction(s: &Structure, eq: &Equations, b: &[f64], out: &[bool]) -> Result<f64, SolveError> {
    let mut builder = Structure::builder();
    for col in &s.cols {
        builder.column(col.size);
    }
    let (mut J, mut right) = (Vec::with_capacity(eq.J.len()), Vec::with_capacity(b.len()));
    for (row, _) in s.rows.iter().zip(out).filter(|(_, out)| !**out) {
        let entries = &s.entries[row.entries.clone()];
        let cols: Vec<usize> = entries.iter().map(|e| e.col).collect();
        builder.row(row.size, row.size, &cols);
        for e in entries {
            J.extend_from_slice(&eq.J[e.offset..][..row.size * s.cols[e.col].size]);
        }
        right.extend_from_slice(&b[row.start..][..row.size]);
    }
    let bad = |_| SolveError::NotFinite { quantity: "J", index: 0 };
    let s = builder.build(0, 0).map_err(bad)?;
    let reduced = Equations { mass: eq.mass.clone(), minv: eq.minv.clone(), J, ..Equations::zeros(&s) };
    let mut kkt = Kkt::new(&s, &reduced, HUB_DEGREE)?;
    kkt.factor(&reduced, Rows::All, Rank::Settle)?;
    let (mut x, mut mu) = (vec![0.0; s.nv], vec![0.0; s.nc]);
    kkt.solve(&reduced, &vec![0.0; s.nv], &right, &mut x, &mut mu)?;
    x.iter_mut().for_each(|x| *x = -*x);
    reduced.add_J_mul(&s, &x, &mut right);
    Ok(right.iter().fold(0.0_f64, |a, r| a.max(r.abs())))
}
