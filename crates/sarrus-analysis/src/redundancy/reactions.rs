//! Describes which components of which reactions vanish on the null space of Jᵀ.
//!
//! A component c = gᵀλ has the part |P g| / |g| in the null space, P the projector on it, in scaled rows. For random λ of
//! unit variance the root mean square of gᵀPλ is that part. A component that is unique leaves rounding, one that is not a
//! number of the order of one: the two clusters are far apart, and how far is reported.

use super::report::{ReactionReport, UniquenessReport};
use sarrus_solve::{Equations, State};
use sarrus_system::columns::{REACTIONS, reaction_rows, reactions};
use sarrus_system::{Family, Mechanism, System};
use std::collections::HashMap;

/// Parts up to this count as zero.
pub(super) const PART: f64 = 1e-6;
/// A component this far below the terms that it is a sum of is rounding: the element cannot exert it.
const ABSENT: f64 = 1e-9;

/// Random multipliers, in scaled rows, that move nothing.
pub(crate) struct RandomNulls {
    /// One after the other.
    pub vectors: Vec<Vec<f64>>,
    /// Proximal steps that they took.
    pub iterations: u32,
}

/// An element with the parts of its components in the null space.
pub(crate) struct NullComponents {
    name: String,
    family: &'static str,
    parts: Vec<(String, f64)>,
    directions: usize,
    free: usize,
}

impl NullComponents {
    /// With the decision.
    pub fn report(self) -> ReactionReport {
        let (unique, not_unique): (Vec<_>, Vec<_>) = self.parts.into_iter().partition(|(_, p)| *p <= PART);
        let names = |list: Vec<(String, f64)>| list.into_iter().map(|(name, _)| name).collect();
        ReactionReport {
            name: self.name,
            family: self.family,
            unique: names(unique),
            not_unique: names(not_unique),
            directions: self.directions,
            directions_not_unique: self.free,
        }
    }
}

/// Components of all joints, then of constraints, drivers and closed rigid contacts, in the model's order.
pub(crate) fn components(
    mechanism: &mut Mechanism,
    s: &State,
    eq: &Equations,
    lengths: &[f64],
    nulls: &[Vec<f64>],
) -> Vec<NullComponents> {
    let system = mechanism.system().clone();
    let mut all = mechanism.observe(s, |at| {
        let joints = system.directory.joints.iter().enumerate();
        joints
            .map(|(i, joint)| {
                of_joint(&system, &joint.name, &reaction_rows(&system, eq, at, i), lengths, nulls)
            })
            .collect::<Vec<_>>()
    });
    let efforts: HashMap<usize, Vec<String>> = system
        .efforts
        .iter()
        .map(|(element, efforts)| (*element, efforts.iter().map(|(name, _)| name.to_string()).collect()))
        .collect();
    for element in &system.elements {
        if matches!(
            element.family,
            Family::Joint | Family::Lock | Family::Internal | Family::Hold | Family::Contact
        ) {
            continue;
        }
        let rows: Vec<usize> = (element.start..element.start + element.rows.rows()).collect();
        let names = match element.family {
            Family::Constraint => (0..rows.len()).map(|k| element.rows.multiplier(k).name).collect(),
            _ => efforts.get(&element.id).cloned().unwrap_or_else(|| row_names(rows.len())),
        };
        let parts = rows.iter().zip(names).map(|(&row, name)| (name, part(&[(row, 1.0)], nulls))).collect();
        let free = rank(&rows, nulls);
        let family = element.family.name();
        all.push(NullComponents { name: element.name.clone(), family, parts, directions: rows.len(), free });
    }
    all.extend(of_contacts(&system, lengths, nulls));
    all
}

/// Rigid contacts that are closed: the normal force of each, which is the sum over the points at which it touches, how these share it, and
/// the friction of those that stick.
fn of_contacts(system: &System, lengths: &[f64], nulls: &[Vec<f64>]) -> Vec<NullComponents> {
    let held = || system.elements.iter().filter(|e| e.family == Family::Contact);
    let mut names: Vec<&str> = Vec::new();
    for element in held() {
        if !names.contains(&element.name.as_str()) {
            names.push(&element.name);
        }
    }
    let of_contact = |name: &&str| {
        let rows = |along: bool| -> Vec<usize> {
            let own = held().filter(|e| e.name == *name && (e.rows.holonomic() == 1) == along);
            own.flat_map(|e| e.start..e.start + e.rows.rows()).collect()
        };
        let (normals, across) = (rows(true), rows(false));
        let largest = |rows: &[usize]| rows.iter().map(|&row| part(&[(row, 1.0)], nulls)).fold(0.0, f64::max);
        // λ of a row is that of the scaled row over its length
        let sum: Vec<(usize, f64)> = normals.iter().map(|&row| (row, 1.0 / lengths[row])).collect();
        let mut parts = vec![("force".to_string(), part(&sum, nulls))];
        if normals.len() > 1 {
            parts.push(("distribution".into(), largest(&normals)));
        }
        if !across.is_empty() {
            parts.push(("friction".into(), largest(&across)));
        }
        let all: Vec<usize> = normals.into_iter().chain(across).collect();
        let (family, free) = (Family::Contact.name(), rank(&all, nulls));
        NullComponents { name: name.to_string(), family, parts, directions: all.len(), free }
    };
    names.iter().map(of_contact).collect()
}

fn of_joint(
    system: &System,
    name: &str,
    map: &[sarrus_system::columns::RowWrench],
    lengths: &[f64],
    nulls: &[Vec<f64>],
) -> NullComponents {
    let mut parts = Vec::new();
    for &k in reactions(system) {
        let size = map.iter().fold(0.0_f64, |m, r| m.max(r.size[k / 3]));
        if map.iter().all(|r| r.wrench[k].abs() <= ABSENT * size) {
            continue;
        }
        // λ of a row is that of the scaled row over its length
        let functional: Vec<(usize, f64)> =
            map.iter().map(|r| (r.row, r.wrench[k] / lengths[r.row])).collect();
        parts.push((REACTIONS[k].to_string(), part(&functional, nulls)));
    }
    let rows: Vec<usize> = map.iter().map(|r| r.row).collect();
    let free = rank(&rows, nulls);
    NullComponents {
        name: name.to_owned(),
        family: Family::Joint.name(),
        parts,
        directions: rows.len(),
        free,
    }
}

/// |P g| / |g| of a functional, from the null vectors.
fn part(functional: &[(usize, f64)], nulls: &[Vec<f64>]) -> f64 {
    let norm = functional.iter().map(|(_, g)| g * g).sum::<f64>().sqrt();
    if nulls.is_empty() || norm == 0.0 {
        return 0.0;
    }
    let square: f64 = nulls
        .iter()
        .map(|w| functional.iter().map(|&(row, g)| g * w[row]).sum::<f64>())
        .map(|value| value * value)
        .sum();
    (square / nulls.len() as f64).sqrt() / norm
}

/// Dimension of what the null vectors do in `rows`: elimination with the largest pivot left.
fn rank(rows: &[usize], nulls: &[Vec<f64>]) -> usize {
    let mut A: Vec<Vec<f64>> = rows.iter().map(|&r| nulls.iter().map(|w| w[r]).collect()).collect();
    let mut found = 0;
    while found < A.len() {
        let at = |A: &[Vec<f64>]| {
            let all = A[found..].iter().enumerate();
            all.flat_map(|(i, a)| a.iter().enumerate().map(move |(j, x)| (x.abs(), i, j)))
                .max_by(|a, b| a.0.total_cmp(&b.0))
        };
        let Some((size, i, j)) = at(&A) else { break };
        if !(size > PART) {
            break;
        }
        A.swap(found, found + i);
        let (head, tail) = A.split_at_mut(found + 1);
        let pivot = &head[found];
        for row in tail {
            let factor = row[j] / pivot[j];
            row.iter_mut().zip(pivot).for_each(|(x, p)| *x -= factor * p);
        }
        found += 1;
    }
    found
}

/// Names of multipliers that are no columns.
fn row_names(rows: usize) -> Vec<String> {
    if rows == 1 {
        return vec!["multiplier".into()];
    }
    (1..=rows).map(|i| format!("multiplier {i}")).collect()
}

/// Redundant rows as estimated from random null vectors of J: the trace of the projector.
pub(crate) fn spread(nulls: &RandomNulls) -> f64 {
    nulls.vectors.iter().flatten().map(|w| w * w).sum::<f64>() / nulls.vectors.len() as f64
}

/// Returns how clear the decision was; `dimension` are the redundant rows as estimated.
pub(crate) fn uniqueness(
    components: &[NullComponents],
    nulls: &RandomNulls,
    dimension: f64,
) -> UniquenessReport {
    let parts = || components.iter().flat_map(|c| c.parts.iter().map(|(_, p)| *p));
    let zero = parts().filter(|p| *p <= PART).max_by(f64::total_cmp);
    let nonzero = parts().filter(|p| *p > PART).min_by(f64::total_cmp);
    let starts = nulls.vectors.len();
    UniquenessReport {
        margin: nonzero.map(|n| n / zero.unwrap_or(0.0).max(f64::EPSILON)),
        zero,
        nonzero,
        tolerance: PART,
        starts,
        iterations: nulls.iterations,
        dimension,
        // the variance of |P λ|² for normal λ is twice the dimension
        dimension_error: (2.0 * dimension / starts as f64).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redundancy::Scaled;
    use sarrus_solve::Structure;

    /// Two elements with eleven rows each that say the same: all eleven multipliers may be shared in any way.
    #[test]
    fn directions_of_an_element_with_many_rows_are_all_counted() {
        let n = 11;
        let mut b = Structure::builder();
        let body = b.column(n + 1);
        b.row(n, n, &[body]);
        b.row(n, n, &[body]);
        let s = b.build(n + 1, 0).unwrap();
        let mut eq = Equations::zeros(&s);
        (0..=n).for_each(|i| (eq.mass[i * (n + 2)], eq.minv[i * (n + 2)]) = (1.0, 1.0));
        for i in 0..n {
            let at = |element: usize| (element * n + i) * (n + 1);
            (eq.J[at(0) + i], eq.J[at(0) + n]) = (1.0, 0.5);
            (eq.J[at(1) + i], eq.J[at(1) + n]) = (3.0, 1.5);
        }
        let mut scaled = Scaled::new(&s, &eq, None).unwrap();
        let nulls = scaled.random_nulls(&s).unwrap();
        let rows: Vec<usize> = (0..n).collect();
        assert_eq!(rank(&rows, &nulls.vectors), n);
    }
}
