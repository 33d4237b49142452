//! The problem of the accelerations at contacts that stay closed.
//!
//! Of a contact that slides only the row along the normal is solved for, with friction of known direction in its column, so that W
//! is not symmetric. Of one that does not slip all rows are.

use super::instant::{ContactInstant, dot};
use sarrus_solve::complementarity::{ContactPoint, Contacts};
use sarrus_system::contact::rigid::{Gap, SAME_WAY};

/// The problem.
pub(super) struct Staying {
    pub points: Vec<ContactPoint>,
    /// Directions of those that slide.
    pub slips: Vec<Option<Vec<f64>>>,
    /// The column of each along its normal.
    pub columns: Vec<usize>,
    /// True if contacts of the same two bodies that slide do so the same way: how they share their forces is then of no account.
    pub is_parallel: bool,
    W: Vec<f64>,
    symmetric: Vec<f64>,
    b: Vec<f64>,
}

impl Staying {
    /// Of the contacts `stays` among those at an instant; `slides` says, by its number there and its speed, whether one slides. A slip up to
    /// `still` is rounding.
    pub fn new(
        at: &ContactInstant,
        gaps: &[Gap],
        stays: &[usize],
        still: f64,
        slides: impl Fn(usize, f64) -> bool,
    ) -> Staying {
        let (n, u) = (at.len(), at.rates());
        let (mut rows, mut points, mut columns) = (vec![], vec![], vec![]);
        let mut slips: Vec<Option<Vec<f64>>> = vec![];
        let mut is_parallel = true;
        for &k in stays {
            let (i, across) = (at.first[k], at.rows[k].rates.len() - 1);
            let slip = &u[i + 1..][..across];
            let speed = dot(slip, slip).sqrt();
            let slides = across > 0 && slides(k, speed);
            let own = if slides { 0 } else { across };
            columns.push(rows.len());
            rows.extend(i..=i + own);
            points.push(ContactPoint { mu: gaps[at.which[k]].rigid.mu, across: own });
            let mut own = slides.then(|| slip.iter().map(|u| u / speed).collect::<Vec<f64>>());
            if let Some(d) = &mut own {
                // contacts of two bodies that slide the same way do so to the last digit: their columns depend on each other
                let bodies = &gaps[at.which[k]].ids;
                let other = stays.iter().zip(&slips).find(|(j, _)| gaps[at.which[**j]].ids == *bodies);
                if let Some((_, Some(other))) = other {
                    let off = d.iter().zip(other).fold(0.0_f64, |off, (a, b)| off.max((a - b).abs()));
                    if off <= SAME_WAY + still / speed {
                        d.clone_from(other);
                    } else {
                        is_parallel = false;
                    }
                }
            }
            slips.push(own);
        }
        let m = rows.len();
        let mut W: Vec<f64> = rows.iter().flat_map(|&i| rows.iter().map(move |&j| at.W[i * n + j])).collect();
        let symmetric = W.clone();
        let b: Vec<f64> = rows.iter().map(|&i| at.free[i]).collect();
        for ((&k, slip), (point, &column)) in stays.iter().zip(&slips).zip(points.iter().zip(&columns)) {
            let Some(d) = slip else { continue };
            let across = at.first[k] + 1;
            for (r, &i) in rows.iter().enumerate() {
                W[r * m + column] -=
                    point.mu * d.iter().enumerate().map(|(l, d)| at.W[i * n + across + l] * d).sum::<f64>();
            }
        }
        Staying { points, slips, columns, is_parallel, W, symmetric, b }
    }

    /// As it is solved.
    pub fn contacts(&self) -> Contacts<'_> {
        Contacts { points: &self.points, W: &self.W, symmetric: &self.symmetric, b: &self.b }
    }

    /// Accelerations of all rows at the instant under the forces `kappa` of the contacts `stays`, by whose numbers this was made.
    pub fn accelerations(&self, at: &ContactInstant, stays: &[usize], kappa: &[f64]) -> Vec<f64> {
        let n = at.len();
        let mut forces = vec![0.0; n];
        for (own, &k) in stays.iter().enumerate() {
            let (i, column, point) = (at.first[k], self.columns[own], &self.points[own]);
            forces[i..=i + point.across].copy_from_slice(&kappa[column..=column + point.across]);
            for (l, d) in self.slips[own].iter().flatten().enumerate() {
                forces[i + 1 + l] = -point.mu * d * kappa[column];
            }
        }
        (0..n).map(|i| at.free[i] + dot(&at.W[i * n..][..n], &forces)).collect()
    }

    /// Of a contact, what friction leaves of its own compliance, over all of it, and its acceleration where nothing is borne.
    pub fn own(&self, contact: usize) -> (f64, f64) {
        let (column, m) = (self.columns[contact], self.b.len());
        let own = column * m + column;
        (self.W[own] / self.symmetric[own], self.b[column])
    }
}
