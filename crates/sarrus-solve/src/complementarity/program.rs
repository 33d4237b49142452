//! The program over cones, by Clarabel.
//!
//! min ½κᵀSκ + (b + (W - S)κ' + μ|u_t'| e_n)ᵀκ over κ_n ≥ 0, |κ_t| ≤ μκ_n, with κ' and u' of the iteration before. In units in which
//! the diagonal of S along the normals is 1; a little of |κ|² beside it chooses among those that do the same.

use super::{Contacts, norm};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SupportedConeT,
};

/// Weight of |κ|².
const LITTLE: f64 = 1e-8;
/// Programs of a sequence.
pub(super) const PROGRAMS: usize = 60;
/// Relative change of κ at which a sequence ends.
const SAME: f64 = 1e-9;
/// Accuracy that a program is solved to; one that ends short of it is used as it is, since its solution is only a guess.
const EXACT: f64 = 1e-11;
/// Programs after which μ|u_t| changes by half a step only.
const FULL_STEPS: usize = 15;

/// A sequence of programs.
pub(super) struct Programs<'a> {
    contacts: &'a Contacts<'a>,
    first: &'a [usize],
    unit: Vec<f64>,
    P: CscMatrix<f64>,
    A: CscMatrix<f64>,
    cones: Vec<SupportedConeT<f64>>,
    size: f64,
    steps: usize,
    /// κ of the last one.
    pub kappa: Vec<f64>,
    /// μ|u_t'| that it was solved with, by point.
    pub shift: Vec<f64>,
}

impl<'a> Programs<'a> {
    /// None solved yet.
    pub fn new(contacts: &'a Contacts<'a>, first: &'a [usize]) -> Programs<'a> {
        let n = contacts.rows();
        let mut unit = vec![1.0; n];
        for (point, &i) in contacts.points.iter().zip(first) {
            let own = contacts.symmetric[i * n + i];
            let own = if own > 0.0 { 1.0 / own.sqrt() } else { 1.0 };
            unit[i..=i + point.across].fill(own);
        }
        let P = upper(n, |i, j| {
            unit[i] * contacts.symmetric[i * n + j] * unit[j] + if i == j { LITTLE } else { 0.0 }
        });
        // s = -A x lies in the cones
        let (mut rows, mut cones) = (Vec::new(), Vec::new());
        for (point, &i) in contacts.points.iter().zip(first) {
            if point.across == 0 || point.mu == 0.0 {
                rows.push((i, -1.0));
                cones.push(NonnegativeConeT(1));
            } else {
                rows.push((i, -point.mu));
                rows.extend((1..=point.across).map(|k| (i + k, -1.0)));
                cones.push(SecondOrderConeT(1 + point.across));
            }
        }
        let A = sparse(rows.len(), n, |row, col| if rows[row].0 == col { rows[row].1 } else { 0.0 });
        // tolerances of the solver are absolute: numbers of about 1
        let size = contacts.b.iter().zip(&unit);
        let size = size.fold(f64::MIN_POSITIVE, |most, (b, unit)| most.max((b * unit).abs()));
        let shift = vec![0.0; first.len()];
        Programs { contacts, first, unit, P, A, cones, size, steps: 0, kappa: vec![0.0; n], shift }
    }

    /// Solves the next; returns whether κ has changed.
    pub fn step(&mut self) -> Option<bool> {
        let (contacts, unit, size) = (self.contacts, &self.unit, self.size);
        let n = contacts.rows();
        let u = contacts.rates(&self.kappa);
        let part = if self.steps < FULL_STEPS { 1.0 } else { 0.5 };
        self.steps += 1;
        for ((point, &i), shift) in contacts.points.iter().zip(self.first).zip(&mut self.shift) {
            *shift += part * (point.mu * norm(&u[i + 1..][..point.across]) - *shift);
        }
        let mut q: Vec<f64> = (0..n)
            .map(|i| {
                let row = i * n..(i + 1) * n;
                let rest = contacts.W[row.clone()].iter().zip(&contacts.symmetric[row]).zip(&self.kappa);
                contacts.b[i] + rest.map(|((w, s), k)| (w - s) * k).sum::<f64>()
            })
            .collect();
        self.first.iter().zip(&self.shift).for_each(|(&i, shift)| q[i] += shift);
        q.iter_mut().zip(unit).for_each(|(q, unit)| *q *= unit / size);
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: EXACT,
            tol_gap_rel: EXACT,
            tol_feas: EXACT,
            ..DefaultSettings::default()
        };
        let zeros = vec![0.0; self.A.m];
        let mut solver = DefaultSolver::new(&self.P, &q, &self.A, &zeros, &self.cones, settings).ok()?;
        solver.solve();
        let next: Vec<f64> = solver.solution.x.iter().zip(unit).map(|(x, unit)| x * unit * size).collect();
        if next.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let moved: Vec<f64> = next.iter().zip(&self.kappa).map(|(a, b)| a - b).collect();
        self.kappa = next;
        Some(norm(&moved) > SAME * norm(&self.kappa))
    }
}

fn upper(n: usize, value: impl Fn(usize, usize) -> f64) -> CscMatrix<f64> {
    sparse(n, n, |i, j| if i <= j { value(i, j) } else { 0.0 })
}

fn sparse(m: usize, n: usize, value: impl Fn(usize, usize) -> f64) -> CscMatrix<f64> {
    let (mut colptr, mut rowval, mut nzval) = (vec![0], Vec::new(), Vec::new());
    for j in 0..n {
        for i in 0..m {
            let x = value(i, j);
            if x != 0.0 {
                rowval.push(i);
                nzval.push(x);
            }
        }
        colptr.push(rowval.len());
    }
    CscMatrix::new(m, n, colptr, rowval, nzval)
}
