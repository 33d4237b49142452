//! Sparse LU with pivoting of matrices that share one pattern: analysed once, factored as often as their numbers change.
//!
//! Real or complex. Cost: a column ordering and the symbolic part once; at each [`factor`](PatternLu::factor) the numbers alone, in
//! room that is kept. Pivoting by rows, so that a zero diagonal does no harm.

use super::sparse_lu::NotFactored;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::traits::ComplexField;
use faer::{Conj, MatMut, Par, Spec};

/// A complex number.
pub use faer::c64;
/// A number, real or complex.
pub use faer::traits::ComplexField as Field;

/// A square sparse matrix of one pattern, and its factors.
pub struct PatternLu<T: ComplexField> {
    n: usize,
    pattern: SymbolicSparseColMat<usize>,
    /// The numbers, one for each place of the pattern, by columns.
    pub values: Vec<T>,
    symbolic: SymbolicLu<usize>,
    numeric: NumericLu<usize, T>,
    scratch: MemBuffer,
    is_factored: bool,
}

impl<T: ComplexField> PatternLu<T> {
    /// Analyses the n × n pattern with the entries (row, column), which may come more than once. Returns also where in
    /// [`values`](PatternLu::values) each of them is.
    pub fn new(n: usize, entries: &[(usize, usize)]) -> Result<(PatternLu<T>, Vec<usize>), NotFactored> {
        let failed = NotFactored { n };
        if entries.iter().any(|&(i, j)| i >= n || j >= n) {
            return Err(failed);
        }
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_unstable_by_key(|&e| (entries[e].1, entries[e].0));
        let (mut col_ptr, mut row_idx, mut indices) = (vec![0; n + 1], Vec::new(), vec![0; entries.len()]);
        let mut last = None;
        for e in order {
            if last != Some(entries[e]) {
                last = Some(entries[e]);
                row_idx.push(entries[e].0);
                col_ptr[entries[e].1 + 1] = row_idx.len();
            }
            indices[e] = row_idx.len() - 1;
        }
        // columns without entries end where the one before them does
        for j in 0..n {
            col_ptr[j + 1] = col_ptr[j + 1].max(col_ptr[j]);
        }
        let values = vec![T::zero_impl(); row_idx.len()];
        let pattern = SymbolicSparseColMat::new_checked(n, n, col_ptr, None, row_idx);
        let symbolic = factorize_symbolic_lu(pattern.as_ref(), Default::default()).map_err(|_| failed)?;
        let factor = symbolic.factorize_numeric_lu_scratch::<T>(Par::Seq, Spec::default());
        let solve = symbolic.solve_in_place_scratch::<T>(1, Par::Seq);
        let workspace = MemBuffer::try_new(factor.or(solve)).map_err(|_| failed)?;
        let numeric = NumericLu::new();
        Ok((
            PatternLu { n, pattern, values, symbolic, numeric, scratch: workspace, is_factored: false },
            indices,
        ))
    }

    /// Rows.
    pub fn size(&self) -> usize {
        self.n
    }

    /// Factors the matrix with the numbers at hand. An error where a column has no pivot.
    pub fn factor(&mut self) -> Result<(), NotFactored> {
        let matrix = SparseColMatRef::new(self.pattern.as_ref(), &self.values);
        let stack = MemStack::new(&mut self.scratch);
        let done =
            self.symbolic.factorize_numeric_lu(&mut self.numeric, matrix, Par::Seq, stack, Spec::default());
        self.is_factored = done.is_ok();
        done.map(|_| ()).map_err(|_| NotFactored { n: self.n })
    }

    /// x ← A⁻¹ x with the last factors. What comes out may be no number where the matrix was nearly singular.
    pub fn solve(&mut self, x: &mut [T]) -> Result<(), NotFactored> {
        if !self.is_factored || x.len() != self.n {
            return Err(NotFactored { n: self.n });
        }
        let stack = MemStack::new(&mut self.scratch);
        let x = MatMut::from_column_major_slice_mut(x, self.n, 1);
        LuRef::new_unchecked(&self.symbolic, &self.numeric).solve_in_place_with_conj(
            Conj::No,
            x,
            Par::Seq,
            stack,
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pattern_serves_many_matrices() {
        // [[a 2] [3 0]]: the corner needs pivoting
        let (mut lu, at) = PatternLu::<f64>::new(2, &[(0, 0), (0, 1), (1, 0), (0, 0)]).unwrap();
        assert_eq!((at[0], lu.values.len()), (at[3], 3));
        for a in [1.0, -5.0, 0.0] {
            (lu.values[at[0]], lu.values[at[1]], lu.values[at[2]]) = (a, 2.0, 3.0);
            lu.factor().unwrap();
            let mut x = [a * 4.0 + 2.0 * 7.0, 3.0 * 4.0];
            lu.solve(&mut x).unwrap();
            assert!((x[0] - 4.0).abs() < 1e-14 && (x[1] - 7.0).abs() < 1e-14, "{x:?}");
        }
    }

    #[test]
    fn complex_numbers_are_taken_as_they_are() {
        let (mut lu, at) = PatternLu::<c64>::new(1, &[(0, 0)]).unwrap();
        lu.values[at[0]] = c64::new(3.0, 4.0);
        lu.factor().unwrap();
        let mut x = [c64::new(25.0, 0.0)];
        lu.solve(&mut x).unwrap();
        assert!((x[0].re - 3.0).abs() < 1e-14 && (x[0].im + 4.0).abs() < 1e-14, "{x:?}");
    }

    #[test]
    fn what_cannot_be_factored_is_an_error_or_no_number() {
        assert!(PatternLu::<f64>::new(1, &[(1, 0)]).is_err());
        let (mut lu, at) = PatternLu::<f64>::new(2, &[(0, 0), (1, 0), (0, 1), (1, 1)]).unwrap();
        assert!(lu.solve(&mut [1.0, 1.0]).is_err(), "not factored yet");
        at.iter().for_each(|&i| lu.values[i] = 1.0);
        let mut x = [1.0, 2.0];
        assert!(lu.factor().is_err() || lu.solve(&mut x).is_err() || x.iter().any(|x| !x.is_finite()));
    }
}
