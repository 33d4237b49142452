//! Equations on given block patterns, with a dense oracle.
#![allow(dead_code)] // each test file uses its own part

use sarrus_solve::{Equations, Structure};

/// A seeded sequence of numbers in (-1, 1).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(2).wrapping_add(1))
    }

    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Bodies of the sizes `cols`, elements of (rows, bodies).
pub fn structure(cols: &[usize], rows: &[(usize, Vec<usize>)]) -> Structure {
    let mut b = Structure::builder();
    cols.iter().for_each(|&size| {
        b.column(size);
    });
    rows.iter().for_each(|(size, cols)| {
        b.row(*size, *size, cols);
    });
    b.build(0, 0).unwrap()
}

/// Random J, f and γ, random positive definite masses.
pub fn random_equations(s: &Structure, seed: u64) -> Equations {
    let mut random = Random::new(seed);
    let mut eq = Equations::zeros(s);
    for col in &s.cols {
        let n = col.size;
        let L: Vec<f64> = (0..n * n).map(|_| random.next()).collect();
        for i in 0..n {
            for j in 0..n {
                let one = if i == j { 1.0 } else { 0.0 };
                eq.mass[col.mass + i * n + j] =
                    one + (0..n).map(|k| L[i * n + k] * L[j * n + k]).sum::<f64>();
            }
        }
        let inverse = invert(&eq.mass[col.mass..][..n * n], n);
        eq.minv[col.mass..][..n * n].copy_from_slice(&inverse);
    }
    eq.J.iter_mut().for_each(|x| *x = random.next());
    eq.f.iter_mut().for_each(|x| *x = random.next());
    eq.gamma.iter_mut().for_each(|x| *x = random.next());
    eq
}

/// Dense inverse by Gauss-Jordan with row exchanges.
pub fn invert(A: &[f64], n: usize) -> Vec<f64> {
    let mut columns = Vec::new();
    for j in 0..n {
        let mut e = vec![0.0; n];
        e[j] = 1.0;
        columns.push(solve_dense(A.to_vec(), e, n).unwrap());
    }
    (0..n * n).map(|k| columns[k % n][k / n]).collect()
}

/// Dense solution by elimination with row exchanges; `None` where singular.
pub fn solve_dense(mut A: Vec<f64>, mut b: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| A[i * n + k].abs().total_cmp(&A[j * n + k].abs()))?;
        if A[p * n + k].abs() < 1e-12 {
            return None;
        }
        for j in 0..n {
            A.swap(k * n + j, p * n + j);
        }
        b.swap(k, p);
        for i in k + 1..n {
            let f = A[i * n + k] / A[k * n + k];
            for j in k..n {
                A[i * n + j] -= f * A[k * n + j];
            }
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        for j in k + 1..n {
            b[k] -= A[k * n + j] * b[j];
        }
        b[k] /= A[k * n + k];
    }
    Some(b)
}

/// J as a dense matrix, nc × nv by rows.
pub fn dense_J(s: &Structure, eq: &Equations) -> Vec<f64> {
    let mut J = vec![0.0; s.nc * s.nv];
    for row in &s.rows {
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            for i in 0..row.size {
                for j in 0..col.size {
                    J[(row.start + i) * s.nv + col.start + j] = eq.J[e.offset + i * col.size + j];
                }
            }
        }
    }
    J
}

/// [M Jᵀ; J 0] [v̇; λ] = [f; γ] by dense elimination.
pub fn dense_solution(s: &Structure, eq: &Equations) -> Option<(Vec<f64>, Vec<f64>)> {
    let n = s.nv + s.nc;
    let J = dense_J(s, eq);
    let mut K = vec![0.0; n * n];
    for col in &s.cols {
        for i in 0..col.size {
            for j in 0..col.size {
                K[(col.start + i) * n + col.start + j] = eq.mass[col.mass + i * col.size + j];
            }
        }
    }
    for i in 0..s.nc {
        for j in 0..s.nv {
            K[(s.nv + i) * n + j] = J[i * s.nv + j];
            K[j * n + s.nv + i] = J[i * s.nv + j];
        }
    }
    let b = eq.f.iter().chain(&eq.gamma).copied().collect();
    let mut x = solve_dense(K, b, n)?;
    let lambda = x.split_off(s.nv);
    Some((x, lambda))
}

/// Largest component of M x + Jᵀμ - f and of J x - γ.
pub fn residual(s: &Structure, eq: &Equations, x: &[f64], mu: &[f64]) -> (f64, f64) {
    let mut motion = vec![0.0; s.nv];
    eq.mass_mul(s, x, &mut motion);
    eq.add_Jt_mul(s, mu, &mut motion);
    let mut rows = vec![0.0; s.nc];
    eq.add_J_mul(s, x, &mut rows);
    (difference(&motion, &eq.f), difference(&rows, &eq.gamma))
}

/// Largest component of a - b; infinite where it is not a number.
pub fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let worst = |w: f64, d: f64| if d.is_nan() { f64::INFINITY } else { w.max(d) };
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, worst)
}

/// A chain of `n` planar bars of length 1 on pins, straight along (cos, sin) of `angle`, one end on the ground.
pub fn planar_chain(n: usize, angle: f64) -> (Structure, Equations) {
    let rows: Vec<_> = (0..n).map(|i| (2, if i == 0 { vec![0] } else { vec![i - 1, i] })).collect();
    let s = structure(&vec![3; n], &rows);
    let mut eq = Equations::zeros(&s);
    let (sin, cos) = angle.sin_cos();
    for (i, col) in s.cols.iter().enumerate() {
        for (k, m) in [1.0, 1.0, 1.0 / 12.0].into_iter().enumerate() {
            eq.mass[col.mass + 4 * k] = m;
            eq.minv[col.mass + 4 * k] = 1.0 / m;
        }
        eq.f[3 * i + 1] = -9.81;
        eq.gamma[2 * i] = 0.3 * (i as f64).sin();
    }
    for row in &s.rows {
        let entries = &s.entries[row.entries.clone()];
        for (k, e) in entries.iter().enumerate() {
            // the pin is at the far end of the earlier bar and at the near end of the later one
            let (sign, arm) = if k + 1 == entries.len() { (1.0, -0.5) } else { (-1.0, 0.5) };
            let block = [sign, 0.0, -sign * arm * sin, 0.0, sign, sign * arm * cos];
            eq.J[e.offset..][..6].copy_from_slice(&block);
        }
    }
    (s, eq)
}

/// A chain of `n` spatial bars of length 1, all along one direction, on hinges about z, one end on the ground: a cantilever
/// in z. Inertia principal or `full`.
pub fn spatial_chain(n: usize, full: bool) -> (Structure, Equations) {
    let rows: Vec<_> = (0..n).map(|i| (5, if i == 0 { vec![0] } else { vec![i - 1, i] })).collect();
    let s = structure(&vec![6; n], &rows);
    let mut eq = Equations::zeros(&s);
    for (i, col) in s.cols.iter().enumerate() {
        let mut inertia = [0.02, 0.0, 0.0, 0.0, 0.09, 0.0, 0.0, 0.0, 0.1];
        if full {
            inertia = [0.02, 0.001, 0.002, 0.001, 0.09, 0.003, 0.002, 0.003, 0.1];
        }
        let inverse = invert(&inertia, 3);
        for k in 0..3 {
            eq.mass[col.mass + 7 * k] = 1.0;
            eq.minv[col.mass + 7 * k] = 1.0;
            for l in 0..3 {
                eq.mass[col.mass + 6 * (3 + k) + 3 + l] = inertia[3 * k + l];
                eq.minv[col.mass + 6 * (3 + k) + 3 + l] = inverse[3 * k + l];
            }
        }
        eq.f[6 * i + 2] = -9.81;
        eq.gamma[5 * i] = 0.3 * (i as f64).sin();
    }
    let d = [0.6, 0.48, 0.64];
    for row in &s.rows {
        let entries = &s.entries[row.entries.clone()];
        for (k, e) in entries.iter().enumerate() {
            let (sign, arm) = if k + 1 == entries.len() { (1.0, -0.5) } else { (-1.0, 0.5) };
            let J = &mut eq.J[e.offset..][..30];
            let r = d.map(|x| arm * x);
            let cross = [[0.0, r[2], -r[1]], [-r[2], 0.0, r[0]], [r[1], -r[0], 0.0]];
            for i in 0..3 {
                J[6 * i + i] = sign;
                (0..3).for_each(|j| J[6 * i + 3 + j] = sign * cross[i][j]);
            }
            J[6 * 3 + 3] = sign;
            J[6 * 4 + 4] = sign;
        }
    }
    (s, eq)
}
