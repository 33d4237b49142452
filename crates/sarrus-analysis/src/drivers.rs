//! Drivers that contradict each other, or a lock, a constraint or the joints of the mechanism.
//!
//! Drivers can be followed together where velocities with J v = -Φ_t exist. What no v satisfies, r = -Φ_t - J v over the rows that
//! depend on others, is their contradiction; where they agreed at the start and drift apart, it shows in Φ in the same way.
//! Which elements it is between is found by a deletion filter \[Chinneck1991\]: each driver, lock and constraint is left out in turn, for
//! good if the contradiction remains. What is left is a smallest set: without any one of them the others can be followed. Where a
//! single driver or lock is left, joints stand against it: those that r, which lies in the null space of Jᵀ, has a part in.
//!
//! Cost: a factorization per driver, lock and constraint, where a run or an assembly fails.

use sarrus_solve::{
    ActiveRows, Equations, HUB_DEGREE, Kkt, Problem, RankDemand, SolveError, Stage, State, Structure, digits,
};
use sarrus_system::{Family, Mechanism, System};

/// Fraction of a contradiction that is none: rounding, once one of its drivers is left out.
const NONE: f64 = 1e-3;
/// Contradiction of rates, relative to the largest rate, that is more than rounding and an integrator's error.
const RELATIVE: f64 = 1e-6;

/// Joints or drivers that are named, at most.
const NAMED: usize = 6;

/// Elements that no motion follows together, and since when.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contradiction {
    /// Their families and names, drivers last but where joints are named.
    pub elements: Vec<(Family, String)>,
    /// Joints beyond those.
    pub more: usize,
    /// Time \[s\].
    pub t: f64,
    /// By how much they contradict each other [m, rad, or that per s].
    pub by: f64,
}

impl Contradiction {
    /// In words, with what to do about it.
    pub fn message(&self) -> String {
        let all_drivers = self.elements.iter().all(|(family, _)| *family == Family::Driver);
        let quoted = |(family, name): &(Family, String)| match all_drivers {
            true => format!("`{name}`"),
            false => format!("{} `{name}`", family.name()),
        };
        let mut quoted: Vec<String> = self.elements.iter().map(quoted).collect();
        if self.more > 0 {
            quoted.push(format!("{} more joints", self.more));
        }
        let [most @ .., last] = &quoted[..] else { return String::new() };
        let advice = match (all_drivers, quoted.len()) {
            (true, 2) => "leave out one of them, or let both prescribe the same motion",
            (true, _) => "leave out one of them, or let all prescribe the same motion",
            _ => "leave out one of them, or prescribe a motion that all of them allow",
        };
        format!(
            "{}{} and {last} contradict each other at t = {} (off by {:.1e}): {advice}",
            if all_drivers { "drivers " } else { "" },
            most.join(", "),
            digits(&self.t),
            self.by,
        )
    }
}

/// Returns whether there are elements that prescribe a motion, and so may contradict others.
pub(crate) fn can_contradict(system: &System) -> bool {
    system.elements.iter().any(|e| matches!(e.family, Family::Driver | Family::Lock))
}

/// Drivers that may be to blame where constraints contradict each other and no smallest set is found: at a singular position the joints do so too,
/// at velocities that drivers ask for.
pub(crate) fn suspects(system: &System) -> String {
    let drivers = system.elements.iter().filter(|e| e.family == Family::Driver);
    let quoted: Vec<String> = drivers.map(|e| format!("`{}`", e.name)).collect();
    match &quoted[..] {
        [most @ .., last] if !most.is_empty() && quoted.len() <= NAMED => {
            format!("; drivers {} and {last} prescribe the motion: leave out one of them", most.join(", "))
        }
        _ => String::new(),
    }
}

/// The contradiction between drivers, locks and constraints at `s`, in rates or in positions, where it is larger than `limits` of these.
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
        between(&system, &eq, b, limit, false).map(|found| Contradiction { t: s.t, ..found })
    };
    found(&eq.phi_t, limits[1]).or_else(|| found(&phi, limits[0]))
}

/// The contradiction at `s` in rates, relative to the rates, or in accelerations, relative to their terms, once a step from there
/// has failed.
pub(crate) fn find_in_rates(mechanism: &mut Mechanism, s: &State) -> Option<Contradiction> {
    let largest = |of: &[f64]| of.iter().fold(f64::MIN_POSITIVE, |a, x| a.max(x.abs()));
    let limit = RELATIVE * largest(&s.v);
    if let Some(found) = find(mechanism, s, [f64::INFINITY, limit]) {
        return Some(found);
    }
    let system = mechanism.system().clone();
    if !can_contradict(&system) {
        return None;
    }
    let mut eq = Equations::new(mechanism);
    mechanism.update(s, Stage::FORCE, &mut eq);
    mechanism.gamma_terms(s, &mut eq.gamma_terms);
    let next = RELATIVE * largest(&eq.gamma).max(largest(&eq.gamma_terms));
    let found = between(&system, &eq, &eq.gamma, next, false);
    // of one alone joints are to blame, unless that is as little as lengths of a few digits make in a redundant mechanism
    let clear = (NONE * largest(&eq.phi_t)).max(limit);
    let found = found.or_else(|| between(&system, &eq, &eq.phi_t, clear, true));
    found.map(|found| Contradiction { t: s.t, ..found })
}

/// A smallest set of elements that `b` contradicts by more than `limit`: two and more drivers, locks or constraints, or one of the first two and
/// joints, where these are `with_joints`.
fn between(
    system: &System,
    eq: &Equations,
    b: &[f64],
    limit: f64,
    with_joints: bool,
) -> Option<Contradiction> {
    let elements = &system.elements;
    let largest = |of: &[f64]| of.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let left_over = |out: &[bool]| contradiction(&system.structure, eq, b, out, false);
    let mut out = vec![false; elements.len()];
    let whole = largest(&left_over(&out).ok()?);
    if !(whole > limit) {
        return None;
    }
    // drivers last: they are left out only where no other element can be
    let of = |family: Family| (0..elements.len()).filter(move |i| elements[*i].family == family);
    let order: Vec<usize> =
        [Family::Constraint, Family::Lock, Family::Driver].into_iter().flat_map(of).collect();
    for &i in &order {
        out[i] = true;
        // one that is needed for the contradiction stays
        if left_over(&out).is_ok_and(|left| largest(&left) <= NONE * whole) {
            out[i] = false;
        }
    }
    let named = |i: usize| (elements[i].family, elements[i].name.clone());
    let left: Vec<usize> = order.into_iter().filter(|i| !out[*i]).collect();
    let mut found =
        Contradiction { elements: left.iter().map(|i| named(*i)).collect(), more: 0, t: 0.0, by: whole };
    let prescribes = |i: &usize| elements[*i].family != Family::Constraint;
    match &left[..] {
        [one] if with_joints && prescribes(one) => {
            let rest = contradiction(&system.structure, eq, b, &out, true).ok()?;
            let size = |i: &usize| largest(&rest[elements[*i].start..][..elements[*i].rows.rows()]);
            let mut joints: Vec<usize> = of(Family::Joint).filter(|i| size(i) > NONE * whole).collect();
            joints.sort_by(|a, b| size(b).total_cmp(&size(a)));
            found.more = joints.len().saturating_sub(NAMED);
            found.elements.extend(joints.iter().take(NAMED).map(|i| named(*i)));
            Some(found).filter(|_| !joints.is_empty())
        }
        [_, _, ..] if left.iter().any(prescribes) => Some(found),
        _ => None,
    }
}

/// Returns what is left of b - J x over the rows of all blocks but those that are `out`: in the rows that depend on others, or in
/// least squares where it `is_shared` by all.
fn contradiction(
    whole: &Structure,
    eq: &Equations,
    b: &[f64],
    out: &[bool],
    is_shared: bool,
) -> Result<Vec<f64>, SolveError> {
    let mut builder = Structure::builder();
    for col in &whole.cols {
        builder.column(col.size);
    }
    let (mut J, mut right) = (Vec::with_capacity(eq.J.len()), Vec::with_capacity(b.len()));
    for (row, _) in whole.rows.iter().zip(out).filter(|(_, out)| !**out) {
        let entries = &whole.entries[row.entries.clone()];
        let cols: Vec<usize> = entries.iter().map(|e| e.col).collect();
        builder.row(row.size, row.size, &cols);
        for e in entries {
            J.extend_from_slice(&eq.J[e.offset..][..row.size * whole.cols[e.col].size]);
        }
        right.extend_from_slice(&b[row.start..][..row.size]);
    }
    let bad = |_| SolveError::NotFinite { quantity: "J", index: 0 };
    let s = builder.build(0, 0).map_err(bad)?;
    let reduced = Equations { mass: eq.mass.clone(), minv: eq.minv.clone(), J, ..Equations::zeros(&s) };
    let mut kkt = Kkt::new(&s, &reduced, HUB_DEGREE)?;
    kkt.factor(&reduced, ActiveRows::All, RankDemand::ResolveRank)?;
    let (mut x, mut mu) = (vec![0.0; s.nv], vec![0.0; s.nc]);
    let none = vec![0.0; s.nv];
    let report = kkt.solve(&reduced, &none, &right, &mut x, &mut mu)?;
    if is_shared {
        kkt.agree(report, &reduced, &none, &right, &mut x, &mut mu)?;
    }
    x.iter_mut().for_each(|x| *x = -*x);
    reduced.add_J_mul(&s, &x, &mut right);
    // rows that are out have nothing left
    let mut left = vec![0.0; b.len()];
    let retained = whole
        .rows
        .iter()
        .zip(out)
        .filter(|(_, out)| !**out)
        .flat_map(|(row, _)| row.start..row.start + row.size);
    retained.zip(right).for_each(|(i, r)| left[i] = r);
    Ok(left)
}
