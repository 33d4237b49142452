//! Multipliers that contacts which slide leave open, and the motion that follows from them.
//!
//! With friction c_k N_k, N_k = -λ_k, in the rows of contacts that slide, multipliers may change by ζ where
//!
//! ```text
//! M a + Jᵀζ = -Σ c_k ζ_k,   J a = 0
//! ```
//!
//! Without friction these are the null vectors z of Jᵀ, and a = 0. With it, each z is completed: ζ = z + Σ μ_k n_k with μ_k the multipliers of least
//! norm that c_k causes, and n_k = -ζ_k. That is one linear system over the contacts that slide, of the same matrix as in a run. Contacts that slide the same way
//! have friction that only depends on their sum, and a = 0. A box that slides and turns on four corners has a ≠ 0: its motion depends on how they
//! share the load.

use super::reactions::RandomNulls;
use super::scaled::Scaled;
use sarrus_math::solve::Svd;
use sarrus_solve::{Equations, Problem, SolveError, Stage, State};
use sarrus_system::{Family, Mechanism};

/// Acceleration, relative to the terms that it is a sum of, up to which it is rounding, and load, relative to the multipliers that it is one
/// of: as for components of reactions.
const PART: f64 = super::reactions::PART;

/// Contacts that slide, with bodies whose accelerations depend on how contacts share their load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Undetermined {
    /// Names of the contacts.
    pub contacts: Vec<String>,
    /// Names of the bodies.
    pub bodies: Vec<String>,
}

/// Completes the null vectors of J by friction. Returns what moves with them.
pub(super) fn complete(
    mechanism: &mut Mechanism,
    s: &State,
    scaled: &mut Scaled,
    nulls: &mut RandomNulls,
) -> Result<Undetermined, SolveError> {
    let n = mechanism.frictions();
    if n == 0 || nulls.vectors.is_empty() {
        return Ok(Undetermined::default());
    }
    let system = mechanism.system().clone();
    let (nv, nc) = (system.structure.nv, system.structure.nc);
    mechanism.update(s, Stage::FORCE, &mut Equations::new(mechanism));
    let (mut rows, mut moves, mut effects) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..n {
        let (mut c, mut a, mut mu) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; nc]);
        rows.push(mechanism.friction(s, k, &mut c));
        scaled.kkt.solve(&scaled.eq, &c, &vec![0.0; nc], &mut a, &mut mu)?;
        scaled.kkt.least_norm(&scaled.eq, &mut mu)?;
        moves.push(a);
        effects.push(mu);
    }
    // in scaled rows λ is the multiplier over the length of its row
    let lengths: Vec<f64> = rows.iter().map(|&row| scaled.lengths[row]).collect();
    let entry = |i: usize, k: usize| f64::from(u8::from(i == k)) + effects[k][rows[i]] / lengths[i];
    let A: Vec<f64> = (0..n).flat_map(|i| (0..n).map(move |k| (i, k))).map(|(i, k)| entry(i, k)).collect();
    let mut svd = Svd::thin(n, n);
    if svd.factor(&A).is_err() {
        return Ok(Undetermined::default());
    }
    let (mut moved, mut terms) = (vec![0.0_f64; nv], vec![0.0_f64; nv]);
    let mut loads = vec![false; n];
    for vector in &mut nulls.vectors {
        let right: Vec<f64> = rows.iter().zip(&lengths).map(|(&row, length)| -vector[row] / length).collect();
        let mut change = vec![0.0; n];
        svd.solve(n, &right, &mut change);
        let size = vector.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let mut own = vec![0.0; nv];
        for (k, (change, (a, mu))) in change.iter().zip(moves.iter().zip(&effects)).enumerate() {
            vector.iter_mut().zip(mu).for_each(|(v, mu)| *v += change * mu);
            // beside the multipliers of contacts that stick and of joints a load may be rounding
            if !(change.abs() * lengths[k] > PART * size) {
                continue;
            }
            loads[k] = true;
            for ((own, terms), a) in own.iter_mut().zip(&mut terms).zip(a) {
                *own += change * a;
                *terms = terms.max((change * a).abs());
            }
        }
        moved.iter_mut().zip(&own).for_each(|(moved, own)| *moved = moved.max(own.abs()));
    }
    let bodies = system.directory.bodies.iter().skip(1).filter(|body| {
        let own = |list: &[f64]| list[body.v..][..body.kind.nv()].iter().fold(0.0_f64, |m, x| m.max(*x));
        own(&moved) > PART * own(&terms)
    });
    let bodies: Vec<String> = bodies.map(|body| body.name.clone()).collect();
    let mut contacts: Vec<String> = Vec::new();
    if !bodies.is_empty() {
        for (&row, _) in rows.iter().zip(&loads).filter(|(_, loads)| **loads) {
            let element = system.element_of_row(row).filter(|e| e.family == Family::Contact);
            contacts.extend(element.map(|e| e.name.clone()).filter(|name| !contacts.contains(name)));
        }
    }
    Ok(Undetermined { contacts, bodies })
}

impl Undetermined {
    /// Returns what a reader should know, if anything is open.
    pub(crate) fn note(&self) -> Option<String> {
        let list = |names: &[String]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        (!self.bodies.is_empty()).then(|| {
            format!(
                "the motion of {} is not unique: the points of {} slide in different directions, so that friction depends on how they share \
                 the load, which rigid bodies do not determine; it is shared as equal stiff springs at the points would. \
                 `method = \"compliant\"` with a stiffness determines it",
                list(&self.bodies),
                list(&self.contacts)
            )
        })
    }
}
