//! Large parts: nearly dependent rows from the pivots of the block-sparse factorization, and solutions with B by it.
//!
//! The rows whose pivots fall below what a window can reach are left out of the factorization. Of each of them, e, elimination leaves
//! u = e - ν over the kept rows k with D_k Dᵀu = 0: what Dᵀu still is says how far it is from depending on the others, and
//! g = Ḋᵀu, less its part along D_k, how fast that changes. With Ξ and Γ the products of these vectors among the rows left out, combinations
//! without Γ are permanent redundancies, and of the others Ξ y = s² Γ y gives the times s to the loss of rank: nearly dependent are those
//! with s ≤ τ. A row that is needed for one that is neither is kept, and all is done again.
//!
//! B then consists of the kept rows, at order k, and of the combinations U, at order k + 1: its solutions are those of the factors with a
//! correction in the few vectors g.
//!
//! Cost: O(N) for each row left out and for each solution. Not for parts with more degrees of freedom than [`MAX_DOF`]: each of them has a
//! direction of its own to be followed.

use super::dependent_rows::{DependentRows, STEADY};
use super::jump::SingularState;
use super::part::Subsystem;
use super::window::{add, dot, norm};
use crate::error::SolveError;
use crate::formulations::dense::Root;
use crate::kkt::{HUB_DEGREE, Kkt};
use crate::problem::{Equations, Structure};
use sarrus_math::solve::{SymmetricEigen, cholesky, cholesky_solve};

/// Most degrees of freedom of a part.
pub const MAX_DOF: usize = 48;
/// Most rows left out.
const LEFT_OUT: usize = 160;
/// Rows left out of which one is expected to move.
const SAMPLED: usize = 16;
/// A row is checked if its pivot is below the square of this times what its own change can reach.
const REACH: f64 = 3.0;
/// Pivots below this part of the row's diagonal are zero where all rows that count are wanted.
const ZERO: f64 = 1e-10;

/// The solver and room for it.
pub struct Sparse {
    kkt: Kkt,
    eq: Equations,
    floor: Vec<f64>,
    rest: Vec<f64>,
    b: Vec<f64>,
    x: Vec<f64>,
    mu: Vec<f64>,
    nu: Vec<f64>,
    s: Vec<f64>,
    /// D of the last factors, in its blocks.
    D: Vec<f64>,
    /// Scaled vectors of nearly dependent combinations: g = D₁ᵀu, and what of it is orthogonal to the kept rows.
    g: Vec<Vec<f64>>,
    across: Vec<Vec<f64>>,
    /// Cholesky factor of their products.
    products: Vec<f64>,
}

impl Sparse {
    /// For a problem of structure `s` with the masses of `eq`.
    pub fn new(s: &Structure, eq: &Equations) -> Result<Sparse, SolveError> {
        Ok(Sparse {
            kkt: Kkt::new(s, eq, HUB_DEGREE)?,
            eq: eq.clone(),
            floor: vec![0.0; s.nc],
            rest: vec![0.0; s.nv],
            b: vec![0.0; s.nc],
            x: vec![0.0; s.nv],
            mu: vec![0.0; s.nc],
            nu: vec![0.0; s.nc],
            s: Vec::new(),
            D: vec![0.0; s.J_len],
            g: Vec::new(),
            across: Vec::new(),
            products: Vec::new(),
        })
    }

    /// The least scaled x with D x = `r` over the kept rows; returns also ν with x = Dᵀν.
    fn nearest(
        &mut self,
        part: &Subsystem,
        root: &Root,
        r: &[f64],
    ) -> Result<(Vec<f64>, Vec<f64>), SolveError> {
        self.b.fill(0.0);
        part.write_rows(r, &mut self.b);
        self.kkt.nearest(&self.eq, &self.rest, &self.b, &mut self.x, &mut self.mu)?;
        let (mut x, mut nu) = (vec![0.0; part.nv()], vec![0.0; part.nc()]);
        part.velocities_of(&self.eq, root, &self.x, &mut x);
        part.rows_of(&self.mu, &mut nu);
        nu.iter_mut().for_each(|nu| *nu = -*nu);
        Ok((x, nu))
    }

    /// ν with D Dᵀν = `r` over the kept rows, as the factors give it, taken from `u`.
    fn subtract_once(&mut self, part: &Subsystem, r: &[f64], u: &mut [f64]) {
        self.b.fill(0.0);
        part.write_rows(r, &mut self.b);
        self.kkt.multipliers_once(&self.b, &mut self.mu);
        u.iter_mut().zip(&part.rows).for_each(|(u, &i)| *u += self.mu[i]);
    }

    /// `y` = Dᵀ`u`, of which products with rows, in `r`, are left over.
    fn left_of(part: &Subsystem, D: &[f64], u: &[f64], y: &mut [f64], r: &mut [f64]) {
        y.fill(0.0);
        part.add_mul_transposed(D, u, y);
        r.fill(0.0);
        part.add_mul(D, y, r);
    }

    /// Computes what of the scaled `y` is orthogonal to the kept rows.
    fn across(&mut self, part: &Subsystem, D: &[f64], y: &mut [f64]) {
        let (mut r, mut nu) = (vec![0.0; part.nc()], vec![0.0; part.nc()]);
        part.add_mul(D, y, &mut r);
        self.subtract_once(part, &r, &mut nu);
        part.add_mul_transposed(D, &nu, y);
    }

    /// u = e - ν of the `row` left out, with Dᵀu orthogonal to the kept rows, and Dᵀu.
    fn eliminate(&mut self, part: &Subsystem, D: &[f64], row: usize) -> (Vec<f64>, Vec<f64>) {
        let (mut u, mut left) = (vec![0.0; part.nc()], vec![0.0; part.nv()]);
        let mut r = vec![0.0; part.nc()];
        u[row] = 1.0;
        Self::left_of(part, D, &u, &mut left, &mut r);
        // once more for what the first time leaves: little remains
        for _ in 0..2 {
            self.subtract_once(part, &r, &mut u);
            Self::left_of(part, D, &u, &mut left, &mut r);
        }
        (u, left)
    }

    /// The nearly dependent combinations within `tau` \[s\] at D = J L⁻ᵀ and D₁; the factors are then those of the other rows.
    pub fn find(
        &mut self,
        part: &Subsystem,
        J: &[f64],
        D: &[f64],
        D1: &[f64],
        tau: f64,
    ) -> Result<DependentRows, SolveError> {
        let (nc, nv) = (part.nc(), part.nv());
        let largest = part.bound(D);
        let none = DependentRows { rank: nc, ahead: f64::INFINITY, largest, ..DependentRows::default() };
        let speed = part.bound(D1);
        self.eq.J.copy_from_slice(J);
        self.D.copy_from_slice(D);
        self.floor.fill(0.0);
        let reach: Vec<f64> = part.row_norms(D1).iter().map(|d| (REACH * tau * d).powi(2)).collect();
        part.write_rows(&reach, &mut self.floor);
        for _ in 0..4 {
            self.kkt.factor_above(&self.eq, &self.floor)?;
            let out: Vec<usize> = part.indices_of(self.kkt.dependent_rows());
            if out.is_empty() || out.len() > LEFT_OUT {
                return Ok(none);
            }
            // u, Dᵀu and g of each row left out
            let (mut U, mut x, mut g) = (Vec::new(), Vec::new(), Vec::new());
            for &row in &out {
                let (mut u, mut left) = self.eliminate(part, D, row);
                let mut rate = vec![0.0; nv];
                part.add_mul_transposed(D1, &u, &mut rate);
                self.across(part, D, &mut rate);
                let size = norm(&u);
                [&mut u, &mut left].into_iter().for_each(|v| v.iter_mut().for_each(|v| *v /= size));
                g.push(rate.iter().map(|r| r / size).collect::<Vec<f64>>());
                U.push(u);
                x.push(left);
            }
            let pencil = Pencil::new(&x, &g, STEADY * speed)?;
            // to keep more rows makes no combination vanish sooner
            if !pencil.times.iter().any(|time| *time <= tau) {
                return Ok(none);
            }
            // rows that are needed
            let weak: Vec<usize> = pencil.needed(tau, &x, largest);
            if weak.is_empty() {
                return Ok(self.add_subsystem(part, &pencil, tau, &U, &x, &g, D1, none));
            }
            weak.iter().for_each(|&k| self.floor[part.rows[out[k]]] = 0.0);
        }
        Ok(none)
    }

    /// Computes how many rows become dependent within `tau` \[s\], where those are too many to be followed, and when the first that moves does: they
    /// vanish together. `redundant` rows say nothing new anywhere.
    pub fn count(
        &mut self,
        part: &Subsystem,
        J: &[f64],
        D: &[f64],
        D1: &[f64],
        tau: f64,
        redundant: usize,
    ) -> Result<Option<SingularState>, SolveError> {
        let (nc, nv, slow) = (part.nc(), part.nv(), STEADY * part.bound(D1));
        self.eq.J.copy_from_slice(J);
        self.floor.fill(0.0);
        let reach: Vec<f64> = part.row_norms(D1).iter().map(|d| (tau * d).powi(2)).collect();
        part.write_rows(&reach, &mut self.floor);
        self.kkt.factor_above(&self.eq, &self.floor)?;
        let out: Vec<usize> = part.indices_of(self.kkt.dependent_rows());
        if out.len() <= LEFT_OUT {
            return Ok(None);
        }
        // enough of them to have one that moves beside those of redundant loops
        for &row in out.iter().take(SAMPLED) {
            let (u, left) = self.eliminate(part, D, row);
            let mut rate = vec![0.0; nv];
            part.add_mul_transposed(D1, &u, &mut rate);
            self.across(part, D, &mut rate);
            let (speed, size) = (norm(&rate), norm(&u));
            if speed <= slow * size || norm(&left) > tau * speed {
                continue;
            }
            let dependent = DependentRows {
                U: u.iter().map(|u| u / size).collect(),
                sigma: vec![0.0],
                ..DependentRows::default()
            };
            let ahead = -dot(&left, &rate) / (speed * speed);
            let rows = part.leading_rows(&dependent);
            // those that are zero for good are zero elsewhere too
            let losses = out.len().saturating_sub(redundant).min(nc);
            return Ok(Some(SingularState { losses, ahead, rows }));
        }
        Ok(None)
    }

    fn add_subsystem(
        &mut self,
        part: &Subsystem,
        pencil: &Pencil,
        tau: f64,
        U: &[Vec<f64>],
        x: &[Vec<f64>],
        g: &[Vec<f64>],
        D1: &[f64],
        none: DependentRows,
    ) -> DependentRows {
        let (nc, nv) = (part.nc(), part.nv());
        let mut dependent = none;
        dependent.rank = nc - U.len();
        self.g.clear();
        self.across.clear();
        for (time, y) in pencil.times.iter().zip(&pencil.vectors).filter(|(time, _)| **time <= tau) {
            let mix = |from: &[Vec<f64>], n: usize| {
                let mut sum = vec![0.0; n];
                from.iter().zip(y).for_each(|(v, y)| add(*y, v, &mut sum));
                sum
            };
            let (mut u, x, mut across) = (mix(U, nc), mix(x, nv), mix(g, nv));
            let size = norm(&u);
            u.iter_mut().for_each(|u| *u /= size);
            across.iter_mut().for_each(|g| *g /= size);
            let rate = norm(&across);
            let ahead = -dot(&x, &across) / size / (rate * rate);
            if ahead.abs() < dependent.ahead.abs() {
                dependent.ahead = ahead;
            }
            let mut whole = vec![0.0; nv];
            part.add_mul_transposed(D1, &u, &mut whole);
            self.g.push(whole);
            self.across.push(across);
            dependent.U.extend(u);
            dependent.sigma.push(time * rate);
            dependent.rate.push(rate);
        }
        dependent.rank += dependent.sigma.len();
        dependent
    }

    /// Products of the vectors g, for [`correct`](Sparse::correct); an error where B has no rank.
    pub fn prepare(&mut self, part: &Subsystem) -> Result<(), SolveError> {
        let n = self.across.len();
        self.products.clear();
        for a in &self.across {
            self.products.extend(self.across.iter().map(|b| dot(a, b)));
        }
        let singular = SolveError::RankDeficient { row: part.rows[0], pivot: 0.0, scale: 1.0 };
        cholesky(&mut self.products, n).map_err(|_| singular)
    }

    /// `y` = B⁺ r, as the factors give it without refinement: what it leaves is seen in the next right-hand side.
    pub fn correct(
        &mut self,
        part: &Subsystem,
        dependent: &DependentRows,
        regular: &[f64],
        singular_rows: &[f64],
        y: &mut [f64],
    ) {
        self.b.fill(0.0);
        part.write_rows(regular, &mut self.b);
        self.kkt.multipliers_once(&self.b, &mut self.mu);
        part.rows_of(&self.mu, &mut self.nu[..part.nc()]);
        y.fill(0.0);
        part.add_mul_transposed(&self.D, &self.nu, y);
        y.iter_mut().for_each(|y| *y = -*y);
        self.s.clear();
        let asked = self.g.iter().enumerate().map(|(k, g)| dot(dependent.u(k), singular_rows) - dot(g, y));
        self.s.extend(asked);
        cholesky_solve(&self.products, self.g.len(), &mut self.s);
        self.s.iter().zip(&self.across).for_each(|(s, g)| add(*s, g, y));
    }

    /// Multipliers of least norm of the kept rows for the scaled force `f`, or of all that count where they are wanted.
    pub fn multipliers(
        &mut self,
        part: &Subsystem,
        root: &Root,
        D: &[f64],
        f: &[f64],
        all: bool,
    ) -> Result<Vec<f64>, SolveError> {
        if all {
            self.floor.iter_mut().zip(self.kkt.scale()).for_each(|(f, s)| *f = ZERO * s);
            self.kkt.factor_above(&self.eq, &self.floor)?;
        }
        let (mut rest, mut lambda) = (f.to_vec(), vec![0.0; part.nc()]);
        for _ in 0..2 {
            let mut r = vec![0.0; part.nc()];
            part.add_mul(D, &rest, &mut r);
            let (along, nu) = self.nearest(part, root, &r)?;
            add(-1.0, &along, &mut rest);
            add(1.0, &nu, &mut lambda);
        }
        // rows left out share what the others carry
        self.mu.fill(0.0);
        part.write_rows(&lambda, &mut self.mu);
        self.kkt.least_norm(&self.eq, &mut self.mu)?;
        part.rows_of(&self.mu, &mut lambda);
        Ok(lambda)
    }
}

/// Ξ y = s² Γ y over the rows left out.
struct Pencil {
    /// s of each combination that moves at all, ascending.
    times: Vec<f64>,
    /// The combinations.
    vectors: Vec<Vec<f64>>,
    /// Combinations that do not.
    steady: Vec<Vec<f64>>,
}

impl Pencil {
    /// From Dᵀu and g; rates up to `slow` are none.
    fn new(x: &[Vec<f64>], g: &[Vec<f64>], slow: f64) -> Result<Pencil, SolveError> {
        let n = x.len();
        let mut eigen = SymmetricEigen::new(n);
        eigen.factor(&gram(g))?;
        let (mut basis, mut steady) = (Vec::new(), Vec::new());
        for (i, &value) in eigen.values().iter().enumerate() {
            let rate = value.max(0.0).sqrt();
            let y = eigen.vector(i);
            if rate <= slow {
                steady.push(y.to_vec());
            } else {
                basis.push(y.iter().map(|y| y / rate).collect::<Vec<f64>>());
            }
        }
        let mixed: Vec<Vec<f64>> = basis.iter().map(|y| mix(y, x)).collect();
        let m = basis.len();
        let mut inner = SymmetricEigen::new(m);
        if m > 0 {
            inner.factor(&gram(&mixed))?;
        }
        let (mut times, mut vectors) = (Vec::new(), Vec::new());
        let largest = if m > 0 { inner.values().iter().fold(0.0_f64, |l, x| l.max(*x)) } else { 0.0 };
        for i in 0..m {
            // where that is small from the vectors themselves: their squares have half the digits
            let square = inner.values()[i];
            let is_small = !(square > SQUARES * largest);
            times.push(if is_small { norm(&mix(inner.vector(i), &mixed)) } else { square.sqrt() });
            vectors.push(mix(inner.vector(i), &basis));
        }
        Ok(Pencil { times, vectors, steady })
    }

    /// Indices of rows that belong to combinations which are neither nearly dependent nor redundant.
    fn needed(&self, tau: f64, x: &[Vec<f64>], largest: f64) -> Vec<usize> {
        let weak = self.times.iter().zip(&self.vectors).filter(|(time, _)| **time > tau).map(|(_, y)| y);
        let still = self.steady.iter().filter(|y| norm(&mix(y, x)) > STILL * largest);
        let mut rows: Vec<usize> = weak.chain(still).map(|y| largest_of(y)).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}

/// Squares above this part of the largest have digits enough.
const SQUARES: f64 = 1e-6;
/// A combination that does not move and is above this part of the largest singular value is no redundancy.
const STILL: f64 = 1e-6;

fn largest_of(y: &[f64]) -> usize {
    (0..y.len()).fold(0, |best, i| if y[i].abs() > y[best].abs() { i } else { best })
}

/// Products of vectors among each other.
fn gram(v: &[Vec<f64>]) -> Vec<f64> {
    let n = v.len();
    let mut products = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let product = dot(&v[i], &v[j]);
            (products[i * n + j], products[j * n + i]) = (product, product);
        }
    }
    products
}

/// Σ yᵢ vᵢ.
fn mix(y: &[f64], v: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; v.first().map_or(0, Vec::len)];
    v.iter().zip(y).for_each(|(v, y)| add(*y, v, &mut sum));
    sum
}
