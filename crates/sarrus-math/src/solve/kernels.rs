//! Products of small blocks, stored by rows, with the inner length known at compile time.
//!
//! Every product is written as sums of scaled rows, never as dot products: a row of N numbers stays in
//! registers and vectorizes without a horizontal sum.

/// C -= A B with A of `n` × `m`, B of `m` × N, C of `n` × N.
#[inline(always)]
fn sub_product<const N: usize>(C: &mut [f64], A: &[f64], B: &[f64], n: usize, m: usize) {
    let (C, _) = C[..n * N].as_chunks_mut::<N>();
    let (B, _) = B[..m * N].as_chunks::<N>();
    for (c, a) in C.iter_mut().zip(A[..n * m].chunks_exact(m)) {
        let mut sum = *c;
        for (a, b) in a.iter().zip(B) {
            for i in 0..N {
                sum[i] -= a * b[i];
            }
        }
        *c = sum;
    }
}

/// C = A B with A of `n` × `m`, B of `m` × N, C of `n` × N.
#[inline(always)]
fn set_product<const N: usize>(C: &mut [f64], A: &[f64], B: &[f64], n: usize, m: usize) {
    let (C, _) = C[..n * N].as_chunks_mut::<N>();
    let (B, _) = B[..m * N].as_chunks::<N>();
    for (c, a) in C.iter_mut().zip(A[..n * m].chunks_exact(m)) {
        let mut sum = [0.0; N];
        for (a, b) in a.iter().zip(B) {
            for i in 0..N {
                sum[i] += a * b[i];
            }
        }
        *c = sum;
    }
}

/// C += A B with A of `n` × `m`, B of `m` × N, C of `n` × N.
#[inline(always)]
fn add_product<const N: usize>(C: &mut [f64], A: &[f64], B: &[f64], n: usize, m: usize) {
    let (C, _) = C[..n * N].as_chunks_mut::<N>();
    let (B, _) = B[..m * N].as_chunks::<N>();
    for (c, a) in C.iter_mut().zip(A[..n * m].chunks_exact(m)) {
        let mut sum = *c;
        for (a, b) in a.iter().zip(B) {
            for i in 0..N {
                sum[i] += a * b[i];
            }
        }
        *c = sum;
    }
}

/// The three products share their choice of kernel: equal sizes fully unrolled, then by width, then any.
macro_rules! product {
    ($name:ident, $kernel:ident, $doc:literal, |$c:ident, $x:ident| $any:expr) => {
        #[doc = $doc]
        #[inline]
        pub fn $name(C: &mut [f64], A: &[f64], B: &[f64], n: usize, m: usize, k: usize) {
            match (n, m, k) {
                (1, 1, 1) => $kernel::<1>(C, A, B, 1, 1),
                (2, 2, 2) => $kernel::<2>(C, A, B, 2, 2),
                (2, 3, 2) => $kernel::<2>(C, A, B, 2, 3),
                (2, 3, 3) => $kernel::<3>(C, A, B, 2, 3),
                (3, 3, 3) => $kernel::<3>(C, A, B, 3, 3),
                (3, 6, 3) => $kernel::<3>(C, A, B, 3, 6),
                (5, 5, 5) => $kernel::<5>(C, A, B, 5, 5),
                (5, 6, 5) => $kernel::<5>(C, A, B, 5, 6),
                (5, 6, 6) => $kernel::<6>(C, A, B, 5, 6),
                (6, 6, 6) => $kernel::<6>(C, A, B, 6, 6),
                (_, _, 1) => $kernel::<1>(C, A, B, n, m),
                (_, _, 2) => $kernel::<2>(C, A, B, n, m),
                (_, _, 3) => $kernel::<3>(C, A, B, n, m),
                (_, _, 4) => $kernel::<4>(C, A, B, n, m),
                (_, _, 5) => $kernel::<5>(C, A, B, n, m),
                (_, _, 6) => $kernel::<6>(C, A, B, n, m),
                _ => {
                    for i in 0..n {
                        for j in 0..k {
                            let $x: f64 = (0..m).map(|p| A[i * m + p] * B[p * k + j]).sum();
                            let $c = &mut C[i * k + j];
                            $any;
                        }
                    }
                }
            }
        }
    };
}

product!(subtract, sub_product, "C -= A B, with A of `n` × `m` and B of `m` × `k`.", |c, x| *c -= x);
product!(assign, set_product, "C = A B, with A of `n` × `m` and B of `m` × `k`.", |c, x| *c = x);
product!(accumulate, add_product, "C += A B, with A of `n` × `m` and B of `m` × `k`.", |c, x| *c += x);

/// A = Tᵀ B with T of `m` × `n` and B of `m` × `m`: the rows of the product without a transposed copy.
#[inline]
pub fn assign_transposed(A: &mut [f64], T: &[f64], B: &[f64], n: usize, m: usize) {
    #[inline(always)]
    fn go<const M: usize>(A: &mut [f64], T: &[f64], B: &[f64], n: usize) {
        let (A, _) = A[..n * M].as_chunks_mut::<M>();
        let (B, _) = B[..M * M].as_chunks::<M>();
        let T = &T[..M * n];
        for i in 0..n {
            let mut sum = [0.0; M];
            for p in 0..M {
                for j in 0..M {
                    sum[j] += T[p * n + i] * B[p][j];
                }
            }
            A[i] = sum;
        }
    }
    match (n, m) {
        (2, 2) => go::<2>(A, T, B, 2),
        (3, 3) => go::<3>(A, T, B, 3),
        (5, 5) => go::<5>(A, T, B, 5),
        (6, 6) => go::<6>(A, T, B, 6),
        (_, 1) => go::<1>(A, T, B, n),
        (_, 2) => go::<2>(A, T, B, n),
        (_, 3) => go::<3>(A, T, B, n),
        (_, 4) => go::<4>(A, T, B, n),
        (_, 5) => go::<5>(A, T, B, n),
        (_, 6) => go::<6>(A, T, B, n),
        _ => {
            for (i, a) in A[..n * m].chunks_exact_mut(m).enumerate() {
                a.fill(0.0);
                for (p, b) in B[..m * m].chunks_exact(m).enumerate() {
                    for (a, b) in a.iter_mut().zip(b) {
                        *a += T[p * n + i] * b;
                    }
                }
            }
        }
    }
}

/// T = Aᵀ with A of `n` × `m`.
#[inline]
pub fn transpose(T: &mut [f64], A: &[f64], n: usize, m: usize) {
    #[inline(always)]
    fn go(T: &mut [f64], A: &[f64], n: usize, m: usize) {
        let (T, A) = (&mut T[..n * m], &A[..n * m]);
        for i in 0..n {
            for j in 0..m {
                T[j * n + i] = A[i * m + j];
            }
        }
    }
    match (n, m) {
        (2, 2) => go(T, A, 2, 2),
        (3, 3) => go(T, A, 3, 3),
        (5, 5) => go(T, A, 5, 5),
        (6, 6) => go(T, A, 6, 6),
        (2, 3) => go(T, A, 2, 3),
        (3, 6) => go(T, A, 3, 6),
        (5, 6) => go(T, A, 5, 6),
        _ => go(T, A, n, m),
    }
}

/// y -= A x with A of `n` × `m`.
#[inline]
pub fn subtract_mul(y: &mut [f64], A: &[f64], x: &[f64], n: usize, m: usize) {
    #[inline(always)]
    fn go(y: &mut [f64], A: &[f64], x: &[f64], n: usize, m: usize) {
        let x = &x[..m];
        for (y, a) in y[..n].iter_mut().zip(A[..n * m].chunks_exact(m)) {
            let mut sum = 0.0;
            for (a, x) in a.iter().zip(x) {
                sum += a * x;
            }
            *y -= sum;
        }
    }
    match (n, m) {
        (1, 1) => go(y, A, x, 1, 1),
        (2, 2) => go(y, A, x, 2, 2),
        (3, 3) => go(y, A, x, 3, 3),
        (5, 5) => go(y, A, x, 5, 5),
        (6, 6) => go(y, A, x, 6, 6),
        (2, 3) => go(y, A, x, 2, 3),
        (3, 6) => go(y, A, x, 3, 6),
        (5, 6) => go(y, A, x, 5, 6),
        _ => go(y, A, x, n, m),
    }
}

/// y -= Aᵀ x with A of `n` × `m`.
#[inline]
pub fn subtract_mul_transposed(y: &mut [f64], A: &[f64], x: &[f64], n: usize, m: usize) {
    #[inline(always)]
    fn go(y: &mut [f64], A: &[f64], x: &[f64], n: usize, m: usize) {
        let y = &mut y[..m];
        for (x, a) in x[..n].iter().zip(A[..n * m].chunks_exact(m)) {
            for (y, a) in y.iter_mut().zip(a) {
                *y -= a * x;
            }
        }
    }
    match (n, m) {
        (1, 1) => go(y, A, x, 1, 1),
        (2, 2) => go(y, A, x, 2, 2),
        (3, 3) => go(y, A, x, 3, 3),
        (5, 5) => go(y, A, x, 5, 5),
        (6, 6) => go(y, A, x, 6, 6),
        (2, 3) => go(y, A, x, 2, 3),
        (3, 6) => go(y, A, x, 3, 6),
        (5, 6) => go(y, A, x, 5, 6),
        _ => go(y, A, x, n, m),
    }
}

/// r -= A x and t += |A| s with A of `n` × `m`: a residual and the size of its terms in one pass.
#[inline]
pub fn subtract_mul_sized(r: &mut [f64], t: &mut [f64], A: &[f64], x: &[f64], s: &[f64], n: usize, m: usize) {
    #[inline(always)]
    fn go(r: &mut [f64], t: &mut [f64], A: &[f64], x: &[f64], s: &[f64], n: usize, m: usize) {
        let (x, s) = (&x[..m], &s[..m]);
        for ((r, t), a) in r[..n].iter_mut().zip(&mut t[..n]).zip(A[..n * m].chunks_exact(m)) {
            let (mut sum, mut size) = (0.0, 0.0);
            for ((a, x), s) in a.iter().zip(x).zip(s) {
                sum += a * x;
                size += a.abs() * s;
            }
            *r -= sum;
            *t += size;
        }
    }
    match (n, m) {
        (2, 3) => go(r, t, A, x, s, 2, 3),
        (3, 6) => go(r, t, A, x, s, 3, 6),
        (5, 6) => go(r, t, A, x, s, 5, 6),
        _ => go(r, t, A, x, s, n, m),
    }
}

/// s += |A|ᵀ |x| with A of `n` × `m`.
#[inline]
pub fn add_size_transposed(s: &mut [f64], A: &[f64], x: &[f64], n: usize, m: usize) {
    #[inline(always)]
    fn go(s: &mut [f64], A: &[f64], x: &[f64], n: usize, m: usize) {
        let s = &mut s[..m];
        for (x, a) in x[..n].iter().zip(A[..n * m].chunks_exact(m)) {
            for (s, a) in s.iter_mut().zip(a) {
                *s += (a * x).abs();
            }
        }
    }
    match (n, m) {
        (2, 3) => go(s, A, x, 2, 3),
        (3, 6) => go(s, A, x, 3, 6),
        (5, 6) => go(s, A, x, 5, 6),
        _ => go(s, A, x, n, m),
    }
}

/// x = A x in place, with the symmetric A of `n` × `n`; `scratch` holds at least `n` numbers.
#[inline]
pub fn multiply(x: &mut [f64], A: &[f64], n: usize, scratch: &mut [f64]) {
    #[inline(always)]
    fn go<const N: usize>(x: &mut [f64], A: &[f64]) {
        let (A, _) = A[..N * N].as_chunks::<N>();
        let mut sum = [0.0; N];
        for (x, a) in x[..N].iter().zip(A) {
            for i in 0..N {
                sum[i] += a[i] * x;
            }
        }
        x[..N].copy_from_slice(&sum);
    }
    match n {
        1 => go::<1>(x, A),
        2 => go::<2>(x, A),
        3 => go::<3>(x, A),
        4 => go::<4>(x, A),
        5 => go::<5>(x, A),
        6 => go::<6>(x, A),
        _ => {
            let (x, copy) = (&mut x[..n], &mut scratch[..n]);
            copy.copy_from_slice(x);
            for (x, a) in x.iter_mut().zip(A[..n * n].chunks_exact(n)) {
                *x = a.iter().zip(copy.iter()).map(|(a, x)| a * x).sum();
            }
        }
    }
}

/// Holds what to do with a pivot that is too small.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    /// Leave its row and column out: the inverse has zeros there.
    Drop,
    /// Put this number in its place.
    Use(f64),
    /// Give up.
    Stop,
}

/// Replaces the symmetric `A` (`n` × `n`) by its inverse, by Gauss-Jordan elimination without pivoting.
///
/// The pivots are those of the LDLᵀ factorization. Where `good` refuses one, `decide` is given its index, its
/// value, and column k of the matrix as eliminated so far: entries above the pivot are D₁₁⁻¹ D₁ₖ of the rows before
/// it. Stops with the index of a pivot that `decide` gives up on.
#[inline]
pub fn invert(
    A: &mut [f64],
    n: usize,
    good: impl Fn(usize, f64) -> bool,
    decide: Decide<'_>,
) -> Result<(), usize> {
    match n {
        1 => invert_small::<1>(A, good, decide),
        2 => invert_small::<2>(A, good, decide),
        3 => invert_small::<3>(A, good, decide),
        4 => invert_small::<4>(A, good, decide),
        5 => invert_small::<5>(A, good, decide),
        6 => invert_small::<6>(A, good, decide),
        _ => invert_any(A, n, good, decide),
    }
}

/// Answers for a pivot that is not good: its index, its value, and the column above it.
pub type Decide<'a> = &'a mut dyn FnMut(usize, f64, &dyn Fn(usize) -> f64) -> Action;

fn invert_any(
    A: &mut [f64],
    n: usize,
    good: impl Fn(usize, f64) -> bool,
    decide: Decide<'_>,
) -> Result<(), usize> {
    for k in 0..n {
        let mut pivot = A[k * n + k];
        if !good(k, pivot) {
            match decide(k, pivot, &|i| A[i * n + k]) {
                Action::Use(other) => pivot = other,
                Action::Stop => return Err(k),
                Action::Drop => {
                    for i in 0..n {
                        A[i * n + k] = 0.0;
                        A[k * n + i] = 0.0;
                    }
                    continue;
                }
            }
        }
        let d = 1.0 / pivot;
        A[k * n + k] = 1.0;
        for j in 0..n {
            A[k * n + j] *= d;
        }
        for i in (0..n).filter(|&i| i != k) {
            let f = std::mem::take(&mut A[i * n + k]);
            for j in 0..n {
                A[i * n + j] -= f * A[k * n + j];
            }
        }
    }
    Ok(())
}

#[inline(always)]
fn invert_small<const N: usize>(
    A: &mut [f64],
    good: impl Fn(usize, f64) -> bool,
    decide: Decide<'_>,
) -> Result<(), usize> {
    let mut a = [[0.0; N]; N];
    a.copy_from_slice(&A.as_chunks::<N>().0[..N]);
    // one by one, as a loop would keep the block in memory instead of registers
    sweep::<N, 0>(&mut a, &good, decide)?;
    sweep::<N, 1>(&mut a, &good, decide)?;
    sweep::<N, 2>(&mut a, &good, decide)?;
    sweep::<N, 3>(&mut a, &good, decide)?;
    sweep::<N, 4>(&mut a, &good, decide)?;
    sweep::<N, 5>(&mut a, &good, decide)?;
    A.as_chunks_mut::<N>().0[..N].copy_from_slice(&a);
    Ok(())
}

/// Eliminates with pivot K, if there is one.
#[inline(always)]
fn sweep<const N: usize, const K: usize>(
    a: &mut [[f64; N]; N],
    good: &impl Fn(usize, f64) -> bool,
    decide: Decide<'_>,
) -> Result<(), usize> {
    if K >= N {
        return Ok(());
    }
    let mut pivot = a[K][K];
    if !good(K, pivot) {
        match ask(a, K, decide) {
            Action::Use(other) => pivot = other,
            Action::Stop => return Err(K),
            Action::Drop => {
                a[K] = [0.0; N];
                a.iter_mut().for_each(|row| row[K] = 0.0);
                return Ok(());
            }
        }
    }
    let d = 1.0 / pivot;
    let mut row = a[K];
    row[K] = 1.0;
    for j in 0..N {
        row[j] *= d;
    }
    for i in 0..N {
        if i != K {
            let f = a[i][K];
            a[i][K] = 0.0;
            for j in 0..N {
                a[i][j] -= f * row[j];
            }
        }
    }
    a[K] = row;
    Ok(())
}

#[cold]
#[inline(never)]
fn ask<const N: usize>(a: &[[f64; N]; N], k: usize, decide: Decide<'_>) -> Action {
    // a copy, so that the block itself need not have an address
    let a = *a;
    decide(k, a[k][k], &|i| a[i][k])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, seed: f64) -> Vec<f64> {
        (0..n).map(|i| (seed + 1.7 * i as f64).sin()).collect()
    }

    #[test]
    fn products_of_every_size_agree_with_their_definition() {
        for (n, m, k) in (1..9).flat_map(|n| (1..9).flat_map(move |m| (1..9).map(move |k| (n, m, k)))) {
            let (A, B, C) = (numbers(n * m, 1.0), numbers(m * k, 2.0), numbers(n * k, 3.0));
            let AB = |i: usize, j: usize| -> f64 { (0..m).map(|p| A[i * m + p] * B[p * k + j]).sum() };
            let (mut sub, mut set, mut add) = (C.clone(), C.clone(), C.clone());
            subtract(&mut sub, &A, &B, n, m, k);
            assign(&mut set, &A, &B, n, m, k);
            accumulate(&mut add, &A, &B, n, m, k);
            for i in 0..n {
                for j in 0..k {
                    let at = i * k + j;
                    assert!((sub[at] - (C[at] - AB(i, j))).abs() < 1e-14);
                    assert!((set[at] - AB(i, j)).abs() < 1e-14);
                    assert!((add[at] - (C[at] + AB(i, j))).abs() < 1e-14);
                }
            }

            let mut T = vec![0.0; n * m];
            transpose(&mut T, &A, n, m);
            let D = numbers(m * m, 7.0);
            let mut AD = A.clone();
            assign_transposed(&mut AD, &T, &D, n, m);
            let mut expected = vec![0.0; n * m];
            assign(&mut expected, &A, &D, n, m, m);
            assert!(AD.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-14));
            let x = numbers(n.max(m), 4.0);
            let (mut y, mut z) = (numbers(n, 5.0), numbers(m, 6.0));
            let (y0, z0) = (y.clone(), z.clone());
            subtract_mul(&mut y, &A, &x, n, m);
            subtract_mul_transposed(&mut z, &A, &x, n, m);
            let mut ys = y0.clone();
            let (mut yt, mut zt) = (vec![0.0; n], vec![0.0; m]);
            subtract_mul_sized(&mut ys, &mut yt, &A, &x, &x, n, m);
            add_size_transposed(&mut zt, &A, &x, n, m);
            for i in 0..n {
                let sum: f64 = (0..m).map(|p| T[p * n + i] * x[p]).sum();
                let size: f64 = (0..m).map(|p| T[p * n + i].abs() * x[p]).sum();
                assert!((y[i] - (y0[i] - sum)).abs() < 1e-14);
                assert!((ys[i] - y[i]).abs() < 1e-14);
                assert!((yt[i] - size).abs() < 1e-14);
            }
            for j in 0..m {
                let sum: f64 = (0..n).map(|p| A[p * m + j] * x[p]).sum();
                let size: f64 = (0..n).map(|p| (A[p * m + j] * x[p]).abs()).sum();
                assert!((z[j] - (z0[j] - sum)).abs() < 1e-14);
                assert!((zt[j] - size).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn the_inverse_times_the_block_is_the_identity() {
        for n in 1..9 {
            let B = numbers(n * n, 1.0);
            let mut A = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..n {
                    A[i * n + j] = (0..n).map(|p| B[i * n + p] * B[j * n + p]).sum();
                }
                A[i * n + i] += 1.0;
            }
            let mut inverse = A.clone();
            invert(&mut inverse, n, |_, pivot| pivot > 0.0, &mut |_, _, _| Action::Stop).unwrap();
            let mut product = vec![0.0; n * n];
            assign(&mut product, &A, &inverse, n, n, n);
            for i in 0..n {
                for j in 0..n {
                    let one = if i == j { 1.0 } else { 0.0 };
                    assert!((product[i * n + j] - one).abs() < 1e-12);
                }
            }

            let x = numbers(n, 8.0);
            let mut y = x.clone();
            multiply(&mut y, &A, n, &mut vec![0.0; n]);
            multiply(&mut y, &inverse, n, &mut vec![0.0; n]);
            assert!(x.iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }

    /// The second row is half the first: what is left of it is its pivot, zero, and A₁₁⁻¹ A₁₂ = ½ above.
    #[test]
    fn a_refused_pivot_is_shown_and_can_be_dropped_replaced_or_given_up() {
        let good = |_: usize, pivot: f64| pivot > 1e-12;
        let block = [2.0, 1.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 4.0];
        let mut A = block;
        assert_eq!(invert(&mut A, 3, good, &mut |_, _, _| Action::Stop), Err(1));

        let mut A = block;
        let mut seen = Vec::new();
        let mut drop = |k: usize, pivot: f64, column: &dyn Fn(usize) -> f64| {
            seen.push((k, pivot, column(0)));
            Action::Drop
        };
        invert(&mut A, 3, good, &mut drop).unwrap();
        assert_eq!(seen, [(1, 0.0, 0.5)]);
        assert_eq!(A, [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25]);

        // as if the middle were 0.5 + 0.25
        let mut A = block;
        invert(&mut A, 3, good, &mut |_, _, _| Action::Use(0.25)).unwrap();
        let mut B = [2.0, 1.0, 0.0, 1.0, 0.75, 0.0, 0.0, 0.0, 4.0];
        invert(&mut B, 3, good, &mut |_, _, _| Action::Stop).unwrap();
        assert_eq!(A, B);
    }
}
