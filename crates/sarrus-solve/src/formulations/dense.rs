//! Dense matrices from the blocks of M and J, for formulations that need whole ones; all by rows.

use crate::error::SolveError;
use crate::problem::{ColBlock, Equations, Structure};
use sarrus_math::solve::{NotDecomposed, cholesky};

impl From<NotDecomposed> for SolveError {
    fn from(e: NotDecomposed) -> SolveError {
        SolveError::Decomposition { rows: e.m, columns: e.n }
    }
}

/// Refuses numbers that are not finite, before a decomposition meets them.
pub(super) fn check_finite(eq: &Equations) -> Result<(), SolveError> {
    for (quantity, values) in [("J", &eq.J), ("f", &eq.f), ("gamma", &eq.gamma)] {
        if let Some(index) = values.iter().position(|x| !x.is_finite()) {
            return Err(SolveError::NotFinite { quantity, index });
        }
    }
    Ok(())
}

/// `A` = J, nc × nv.
pub(super) fn fill_J(s: &Structure, eq: &Equations, A: &mut [f64]) {
    A.fill(0.0);
    for row in &s.rows {
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            let block = eq.J[e.offset..][..row.size * col.size].chunks_exact(col.size);
            for (i, J) in block.enumerate() {
                A[(row.start + i) * s.nv + col.start..][..col.size].copy_from_slice(J);
            }
        }
    }
}

/// Diagonal of J M⁻¹Jᵀ: the inverse of the mass that each row alone would feel \[1/kg\].
pub(crate) fn fill_inverse_masses(s: &Structure, eq: &Equations, out: &mut [f64]) {
    out.fill(0.0);
    for row in &s.rows {
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            let n = col.size;
            let minv = &eq.minv[col.mass..][..n * n];
            let block = eq.J[e.offset..][..row.size * n].chunks_exact(n);
            for (out, J) in out[row.start..].iter_mut().zip(block) {
                for (m, j) in minv.chunks_exact(n).zip(J) {
                    *out += j * m.iter().zip(J).map(|(m, j)| m * j).sum::<f64>();
                }
            }
        }
    }
}

/// y = M⁻¹ x.
pub(super) fn inverse_mass_mul(s: &Structure, eq: &Equations, x: &[f64], y: &mut [f64]) {
    blocks_mul(s, &eq.minv, x, y);
}

fn blocks_mul(s: &Structure, blocks: &[f64], x: &[f64], y: &mut [f64]) {
    for col in &s.cols {
        let n = col.size;
        let x = &x[col.start..][..n];
        for (y, row) in y[col.start..].iter_mut().zip(blocks[col.mass..][..n * n].chunks_exact(n)) {
            *y = row.iter().zip(x).map(|(a, x)| a * x).sum();
        }
    }
}

/// C with C Cᵀ = M⁻¹, block by block: C = L⁻ᵀ with M = L Lᵀ, which is M^{-1/2} of \[Pekal2016\].
pub(crate) struct Root {
    C: Vec<f64>,
    transposed: Vec<f64>,
    /// Workspace for L of one block.
    scratch: Vec<f64>,
}

impl Root {
    /// The root for the masses of `eq`.
    pub fn new(s: &Structure, eq: &Equations) -> Result<Root, SolveError> {
        let mut root =
            Root { C: vec![0.0; s.mass_len], transposed: vec![0.0; s.mass_len], scratch: Vec::new() };
        s.cols.iter().try_for_each(|col| root.fill(col, eq))?;
        Ok(root)
    }

    /// Takes the masses of `eq` that vary. Does not allocate.
    pub fn follow(&mut self, s: &Structure, eq: &Equations) -> Result<(), SolveError> {
        s.varying.iter().try_for_each(|&col| self.fill(&s.cols[col], eq))
    }

    fn fill(&mut self, col: &ColBlock, eq: &Equations) -> Result<(), SolveError> {
        let n = col.size;
        let L = &mut self.scratch;
        L.clear();
        L.extend_from_slice(&eq.mass[col.mass..][..n * n]);
        cholesky(L, n).map_err(|i| SolveError::Mass { velocity: col.start + i })?;
        // L comes by columns, so its columns are the rows of Lᵀ; solve Lᵀ C = I from below
        let C = &mut self.C[col.mass..][..n * n];
        for j in 0..n {
            for i in (0..=j).rev() {
                let one = if i == j { 1.0 } else { 0.0 };
                let sum: f64 = (i + 1..=j).map(|k| L[i * n + k] * C[k * n + j]).sum();
                C[i * n + j] = (one - sum) / L[i * n + i];
            }
        }
        for i in 0..n {
            for j in 0..n {
                self.transposed[col.mass + i * n + j] = C[j * n + i];
            }
        }
        Ok(())
    }

    /// The block of C at `mass`, n × n.
    pub fn block(&self, mass: usize, n: usize) -> &[f64] {
        &self.C[mass..][..n * n]
    }

    /// The same of Cᵀ.
    pub fn transposed(&self, mass: usize, n: usize) -> &[f64] {
        &self.transposed[mass..][..n * n]
    }

    /// y = C x.
    pub fn mul(&self, s: &Structure, x: &[f64], y: &mut [f64]) {
        blocks_mul(s, &self.C, x, y);
    }

    /// y = Cᵀ x.
    pub fn mul_transposed(&self, s: &Structure, x: &[f64], y: &mut [f64]) {
        blocks_mul(s, &self.transposed, x, y);
    }

    /// `A` = J C, nc × nv.
    pub fn fill_JC(&self, s: &Structure, eq: &Equations, A: &mut [f64]) {
        A.fill(0.0);
        for row in &s.rows {
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                let n = col.size;
                let columns = &self.transposed[col.mass..][..n * n];
                let block = eq.J[e.offset..][..row.size * n].chunks_exact(n);
                for (i, J) in block.enumerate() {
                    let out = &mut A[(row.start + i) * s.nv + col.start..][..n];
                    for (a, C) in out.iter_mut().zip(columns.chunks_exact(n)) {
                        *a = J.iter().zip(C).map(|(j, c)| j * c).sum();
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A full block of three velocities and a row on it.
    fn one_body() -> (Structure, Equations) {
        let mut b = Structure::builder();
        b.column(3);
        b.row(1, 1, &[0]);
        let s = b.build(3, 0).unwrap();
        let mut eq = Equations::zeros(&s);
        // M = L Lᵀ with rows of L (2), (1, 2), (0, 1, 1)
        eq.mass = vec![4.0, 2.0, 0.0, 2.0, 5.0, 2.0, 0.0, 2.0, 2.0];
        eq.minv = vec![0.375, -0.25, 0.25, -0.25, 0.5, -0.5, 0.25, -0.5, 1.0];
        eq.J = vec![1.0, 2.0, 3.0];
        (s, eq)
    }

    #[test]
    fn the_root_squared_is_the_inverse_mass() {
        let (s, eq) = one_body();
        let root = Root::new(&s, &eq).unwrap();
        let (mut y, mut z, mut expected) = ([0.0; 3], [0.0; 3], [0.0; 3]);
        root.mul_transposed(&s, &[1.0, -2.0, 0.5], &mut y);
        root.mul(&s, &y, &mut z);
        inverse_mass_mul(&s, &eq, &[1.0, -2.0, 0.5], &mut expected);
        for i in 0..3 {
            assert!((z[i] - expected[i]).abs() < 1e-15, "{z:?} {expected:?}");
        }
    }

    /// J M⁻¹Jᵀ = |J C|², with all of M⁻¹.
    #[test]
    fn a_row_feels_the_whole_mass_block() {
        let (s, eq) = one_body();
        let mut A = [0.0; 3];
        Root::new(&s, &eq).unwrap().fill_JC(&s, &eq, &mut A);
        let mut inverse = [0.0];
        fill_inverse_masses(&s, &eq, &mut inverse);
        // 0.375 + 2 + 9 + 2 (-0.5 + 0.75 - 3)
        assert!((inverse[0] - 5.875).abs() < 1e-14, "{inverse:?}");
        assert!((A.iter().map(|a| a * a).sum::<f64>() - 5.875).abs() < 1e-14, "{A:?}");
    }

    #[test]
    fn a_mass_that_is_not_positive_is_named() {
        let (s, mut eq) = one_body();
        eq.mass[4] = 1.0;
        assert!(matches!(Root::new(&s, &eq), Err(SolveError::Mass { velocity: 1 })));
    }
}
