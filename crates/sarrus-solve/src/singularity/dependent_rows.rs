//! Describes which combinations of rows become dependent, and how soon.
//!
//! D = Σ σᵢ uᵢ wᵢᵀ over a part. Along the motion D(s) ≈ D + s Ḋ, so among the left vectors U of small σ and the right vectors W of
//! small σ, those of the null space included, R = Uᵀ Ḋ W shows what the σ are about to do. With R = X ρ Yᵀ the combinations
//! U X change at the rates ρ: one is
//!
//! - *nearly dependent* if |Dᵀ u| ≤ τ ρ: it is, was or will be zero within about τ;
//! - *permanently redundant* if both vanish: u may turn along the motion, but uᵀ Ḋ then stays in the rows of D, and W is
//!   orthogonal to those;
//! - regular otherwise, however small σ is. A limit on σ alone would take a row for nearly dependent that is only weak, and would then
//!   let go of it.
//!
//! The next instant at which rank is lost is that of the smallest root s of det(UᵀDW + s R) = 0 over the nearly dependent ones.

use super::part::Subsystem;
use crate::error::SolveError;
use sarrus_math::solve::Svd;

/// Singular values up to this part of the largest are zero.
pub const ZERO: f64 = 1e-9;
/// Rates up to this part of |Ḋ| are zero.
pub const STEADY: f64 = 1e-6;

/// Dangerous combinations of the rows of a part.
#[derive(Debug, Clone, Default)]
pub struct DependentRows {
    /// They, orthonormal, one after the other (nc each).
    pub U: Vec<f64>,
    /// |Dᵀ u| of each.
    pub sigma: Vec<f64>,
    /// ρ of each \[1/s\], in units of σ.
    pub rate: Vec<f64>,
    /// Time to the nearest loss of rank, negative where it is past \[s\].
    pub ahead: f64,
    /// Rank of the rows where none of them is nearly dependent.
    pub rank: usize,
    /// The largest singular value.
    pub largest: f64,
}

impl DependentRows {
    /// Returns how many.
    pub fn len(&self) -> usize {
        self.sigma.len()
    }

    /// The combination `i`.
    pub fn u(&self, i: usize) -> &[f64] {
        let n = self.U.len() / self.len();
        &self.U[i * n..][..n]
    }

    /// Adds `factor` times the part of `x` along the combinations to `to`.
    pub fn add_along(&self, x: &[f64], factor: f64, to: &mut [f64]) {
        for i in 0..self.len() {
            let along = factor * dot(self.u(i), x);
            to.iter_mut().zip(self.u(i)).for_each(|(to, u)| *to += along * u);
        }
    }

    /// Those within `tau` \[s\] at D with rate D1, both scaled; `dense` is room.
    pub fn find(
        part: &Subsystem,
        D: &[f64],
        D1: &[f64],
        tau: f64,
        dense: &mut Vec<f64>,
    ) -> Result<DependentRows, SolveError> {
        let (nc, nv) = (part.nc(), part.nv());
        let mut none = DependentRows { rank: nc.min(nv), ahead: f64::INFINITY, ..DependentRows::default() };
        if nc == 0 || nv == 0 {
            return Ok(none);
        }
        part.dense(D, dense);
        if let Some(index) = dense.iter().position(|x| !x.is_finite()) {
            return Err(SolveError::NotFinite { quantity: "J", index });
        }
        let mut svd = Svd::full(nc, nv);
        svd.factor(dense)?;
        let sigma = svd.sigma();
        none.largest = sigma[0];
        none.rank = sigma.iter().filter(|s| **s > ZERO * sigma[0]).count();

        // no rate is above |Ḋ|, nor, among few, above |R|: what is beyond τ times that is out of reach. Leaving it in could mix
        // it with what is not, where rates are alike
        let speed = part.bound(D1);
        let mut bound = speed;
        let (mut first, mut small) = (0, Svd::thin(0, 0));
        loop {
            let reach = (tau * bound).max(ZERO * sigma[0]);
            let next = sigma.partition_point(|s| *s > reach);
            if next == sigma.len() || speed == 0.0 {
                return Ok(none);
            }
            if bound < speed && next == first {
                break;
            }
            first = next;
            small = rates(part, D1, &svd, first, nc, nv)?;
            bound = small.sigma()[0].min(bound.next_down());
        }
        let mut dependent = DependentRows { U: Vec::new(), sigma: Vec::new(), rate: Vec::new(), ..none };
        let mut chosen = Vec::new();
        for (k, &rate) in small.sigma().iter().enumerate() {
            let x = small.left(k);
            // Dᵀ U x = W Σ x
            let size = x.iter().zip(&sigma[first..]).map(|(x, s)| (x * s).powi(2)).sum::<f64>().sqrt();
            if rate <= STEADY * speed || size > tau * rate {
                continue;
            }
            chosen.push(k);
            let start = dependent.U.len();
            dependent.U.resize(start + nc, 0.0);
            for (i, x) in x.iter().enumerate() {
                let u = svd.left(first + i);
                dependent.U[start..].iter_mut().zip(u).for_each(|(to, u)| *to += x * u);
            }
            dependent.sigma.push(size);
            dependent.rate.push(rate);
        }
        if dependent.sigma.is_empty() {
            return Ok(dependent);
        }
        dependent.ahead = soonest(&small, &chosen, &sigma[first..]);
        // rows at rounding that are about to count are no redundancy
        dependent.rank = rank_with(&svd, &dependent, nc);
        Ok(dependent)
    }
}

/// Number of rows that count when the nearly dependent ones do: singular values of D with the part along U taken away, and U.
fn rank_with(svd: &Svd, dependent: &DependentRows, nc: usize) -> usize {
    let sigma = svd.sigma();
    let zero = ZERO * sigma[0];
    // left vectors of values that are zero, less what of them is nearly dependent
    let null = sigma.iter().filter(|s| **s <= zero).count();
    let first = sigma.len() - null;
    let mut inside = 0.0;
    for i in 0..dependent.len() {
        let u = &dependent.U[i * nc..][..nc];
        inside += (first..sigma.len()).map(|k| dot(svd.left(k), u).powi(2)).sum::<f64>();
    }
    first + inside.round() as usize
}

/// Time to the nearest zero, each of the chosen ones by itself: exact for one, and for several that vanish together.
fn soonest(small: &Svd, chosen: &[usize], sigma: &[f64]) -> f64 {
    chosen.iter().fold(f64::INFINITY, |best, &k| {
        let (x, y) = (small.left(k), small.right(k));
        let a: f64 = x.iter().zip(y).zip(sigma).map(|((x, y), s)| x * y * s).sum();
        let ahead = -a / small.sigma()[k];
        if ahead.abs() < best.abs() { ahead } else { best }
    })
}

/// R = Uᵀ Ḋ W of the vectors from `first` on, decomposed.
fn rates(
    part: &Subsystem,
    D1: &[f64],
    svd: &Svd,
    first: usize,
    nc: usize,
    nv: usize,
) -> Result<Svd, SolveError> {
    let (few, wide) = (nc.min(nv) - first, nv - first);
    let mut R = vec![0.0; few * wide];
    let mut y = vec![0.0; nc];
    for j in 0..wide {
        y.fill(0.0);
        part.add_mul(D1, svd.right(first + j), &mut y);
        for i in 0..few {
            R[i * wide + j] = dot(svd.left(first + i), &y);
        }
    }
    let mut small = Svd::thin(few, wide);
    small.factor(&R)?;
    Ok(small)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
