//! The program over cones, by Clarabel.
//!
//! min ½κᵀSκ + (b + (W - S)κ' + μ|u_t'| e_n)ᵀκ over κ_n ≥ 0, |κ_t| ≤ μκ_n, with κ' and u' of the iteration before. In units in which
//! the diagonal of S along the normals is 1; a little of |κ|² beside it chooses among those that do the same.

use super::{Contacts, norm};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SolverStatus,
};

/// Weight of |κ|².
const LITTLE: f64 = 1e-8;
/// Programs before what is known must do.
const PROGRAMS: usize = 60;
/// Relative change at which they end.
const SAME: f64 = 1e-8;

/// κ, roughly; none where there is none.
pub(super) fn solve(contacts: &Contacts, first: &[usize]) -> Option<Vec<f64>> {
    let n = contacts.rows();
    let mut unit = vec![1.0; n];
    for (place, &i) in contacts.places.iter().zip(first) {
        let own = contacts.symmetric[i * n + i];
        let own = if own > 0.0 { 1.0 / own.sqrt() } else { 1.0 };
        unit[i..=i + place.across].fill(own);
    }
    let P = upper(n, |i, j| {
        unit[i] * contacts.symmetric[i * n + j] * unit[j] + if i == j { LITTLE } else { 0.0 }
    });
    // s = -A x lies in the cones
    let (mut rows, mut cones) = (Vec::new(), Vec::new());
    for (place, &i) in contacts.places.iter().zip(first) {
        if place.across == 0 || place.mu == 0.0 {
            rows.push((i, -1.0));
            cones.push(NonnegativeConeT(1));
        } else {
            rows.push((i, -place.mu));
            rows.extend((1..=place.across).map(|k| (i + k, -1.0)));
            cones.push(SecondOrderConeT(1 + place.across));
        }
    }
    let A = sparse(rows.len(), n, |row, col| if rows[row].0 == col { rows[row].1 } else { 0.0 });
    let settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
    let zeros = vec![0.0; rows.len()];
    let mut kappa = vec![0.0; n];
    // tolerances of the solver are absolute: numbers of about 1
    let size =
        contacts.b.iter().zip(&unit).fold(f64::MIN_POSITIVE, |most, (b, unit)| most.max((b * unit).abs()));
    for _ in 0..PROGRAMS {
        let u = contacts.rates(&kappa);
        let mut q: Vec<f64> = (0..n)
            .map(|i| {
                let row = i * n..(i + 1) * n;
                let rest = contacts.W[row.clone()].iter().zip(&contacts.symmetric[row]).zip(&kappa);
                contacts.b[i] + rest.map(|((w, s), k)| (w - s) * k).sum::<f64>()
            })
            .collect();
        for (place, &i) in contacts.places.iter().zip(first) {
            q[i] += place.mu * norm(&u[i + 1..][..place.across]);
        }
        q.iter_mut().zip(&unit).for_each(|(q, unit)| *q *= unit / size);
        let mut solver = DefaultSolver::new(&P, &q, &A, &zeros, &cones, settings.clone()).ok()?;
        solver.solve();
        if !matches!(solver.solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved) {
            return None;
        }
        let next: Vec<f64> = solver.solution.x.iter().zip(&unit).map(|(x, unit)| x * unit * size).collect();
        let moved: Vec<f64> = next.iter().zip(&kappa).map(|(a, b)| a - b).collect();
        kappa = next;
        if norm(&moved) <= SAME * norm(&kappa) {
            break;
        }
    }
    Some(kappa)
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
