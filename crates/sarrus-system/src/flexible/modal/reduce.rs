//! Craig and Bampton's reduction \[Craig1968\] of a linear structure, made free of rigid motions.
//!
//! With the interface nodes b and the others i the shapes are those of unit displacements of the interface, -K_ii⁻¹K_ib, and the
//! lowest modes of K_ii, M_ii with the interface held. The reduced K̂, M̂ are then diagonalized: six motions of the whole without
//! stiffness, in the plane three, are left to the frame, and the others are the amplitudes, with ΦᵀMΦ = 1 and ΦᵀKΦ = diag(ω²). Being orthogonal
//! to rigid motions they neither move the centre of mass nor turn the whole (the mean axes, where η = 0).
//!
//! Bending shortens: a bar whose ends move apart by d_i η_i across it comes ½ L w_i·w_j η_i η_j shorter, w = d/L. The displacements g_ij
//! that keep bars at their length, or do so at the least energy where the structure is a closed frame, satisfy
//! K g_ij = -Σ EA w_i·w_j (t₂ - t₁), with t along the bar at its ends; they are the dual of the geometric stiffness: a load F in
//! equilibrium does the work ½ ηᵀ(F·g)η, which is -½ ηᵀGη with the G of axial forces that F brings about.
//!
//! Dense: the cube of the number of displacements.

use super::structure::ModalStructure;
use sarrus_math::Vec3;
use sarrus_math::solve::{
    NotDecomposed, cholesky, cholesky_backward, cholesky_forward, cholesky_solve, symmetric_eigenpairs,
};

/// ω² of a rigid motion below this part of the first of a shape.
const RIGID: f64 = 1e-5;

/// Shapes of a structure, by its displacements.
pub struct ReducedShapes {
    /// Motions of the whole, orthonormal as the shapes are.
    pub rigid: Vec<Vec<f64>>,
    /// ω² \[1/s²\], ascending.
    pub squares: Vec<f64>,
    /// Φ, a shape each.
    pub shapes: Vec<Vec<f64>>,
    /// g, n × n by rows; empty where it was not asked for.
    pub quadratic: Vec<Vec<f64>>,
}

/// Reason why a structure cannot be reduced.
pub enum Failed {
    /// Held by the interface it still moves freely: a mechanism, or parts that are not connected.
    Loose(usize),
    /// M of the reduced shapes is not positive.
    Mass,
    /// Rigid motions cost energy: K holds the body.
    Held,
    /// There are more motions without stiffness than those of the whole.
    Mechanism,
    /// Eigenvalues were not found.
    Decomposition,
}

impl From<NotDecomposed> for Failed {
    fn from(_: NotDecomposed) -> Self {
        Failed::Decomposition
    }
}

/// aᵀ A b.
fn form(A: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let n = a.len();
    let rows = A.chunks_exact(n).zip(a).filter(|(_, a)| **a != 0.0);
    rows.map(|(row, a)| a * row.iter().zip(b).map(|(x, b)| x * b).sum::<f64>()).sum()
}

fn part(A: &[f64], size: usize, rows: &[usize], cols: &[usize]) -> Vec<f64> {
    rows.iter().flat_map(|&i| cols.iter().map(move |&j| A[i * size + j])).collect()
}

/// The lowest eigenpairs of K x = ω² M x, from K = L Lᵀ: those of L⁻¹M L⁻ᵀ are 1/ω².
fn held_modes(L: &[f64], M: &[f64], n: usize, count: usize) -> Result<Vec<Vec<f64>>, Failed> {
    let mut A = M.to_vec();
    // twice L⁻¹ on the rows, with a transposition between: A is symmetric
    for _ in 0..2 {
        A.chunks_exact_mut(n).for_each(|row| cholesky_forward(L, n, row));
        A = (0..n * n).map(|k| A[(k % n) * n + k / n]).collect();
    }
    let pairs = symmetric_eigenpairs(&A, n)?;
    // ascending 1/ω²: the last are the lowest modes
    let lowest = pairs.into_iter().rev().take(count);
    Ok(lowest
        .map(|(_, mut x)| {
            cholesky_backward(L, n, &mut x);
            x
        })
        .collect())
}

/// Reduces `structure` to its `interface` nodes and `modes` shapes with these held.
pub fn reduce(
    structure: &ModalStructure,
    interface: &[usize],
    modes: usize,
    quadratic: bool,
) -> Result<ReducedShapes, Failed> {
    let (size, wide, whole) = (structure.size(), structure.directions().len(), structure.rigid());
    let (K, M) = (&structure.K, &structure.M);
    let b: Vec<usize> = interface.iter().flat_map(|node| wide * node..wide * (node + 1)).collect();
    let i: Vec<usize> = (0..size).filter(|k| !b.contains(k)).collect();
    let n = i.len();
    let mut L = part(K, size, &i, &i);
    cholesky(&mut L, n).map_err(|k| Failed::Loose(i[k] / wide))?;

    let mut basis: Vec<Vec<f64>> = Vec::new();
    for &column in &b {
        let mut x: Vec<f64> = i.iter().map(|&row| -K[row * size + column]).collect();
        cholesky_solve(&L, n, &mut x);
        let mut shape = vec![0.0; size];
        i.iter().zip(&x).for_each(|(&k, x)| shape[k] = *x);
        shape[column] = 1.0;
        basis.push(shape);
    }
    for x in held_modes(&L, &part(M, size, &i, &i), n, modes)? {
        let mut shape = vec![0.0; size];
        i.iter().zip(&x).for_each(|(&k, x)| shape[k] = *x);
        basis.push(shape);
    }

    let r = basis.len();
    let reduced =
        |A: &[f64]| -> Vec<f64> { (0..r * r).map(|k| form(A, &basis[k / r], &basis[k % r])).collect() };
    let (mut root, mut stiffness) = (reduced(M), reduced(K));
    cholesky(&mut root, r).map_err(|_| Failed::Mass)?;
    for _ in 0..2 {
        stiffness.chunks_exact_mut(r).for_each(|row| cholesky_forward(&root, r, row));
        stiffness = (0..r * r).map(|k| stiffness[(k % r) * r + k / r]).collect();
    }
    let pairs = symmetric_eigenpairs(&stiffness, r)?;
    let (mut squares, mut shapes, mut rigid) = (Vec::new(), Vec::new(), Vec::new());
    let first = pairs.get(whole).map_or(f64::INFINITY, |(square, _)| *square);
    if pairs.iter().take(whole).any(|(square, _)| square.abs() > RIGID * first) {
        return Err(if first > 0.0 { Failed::Held } else { Failed::Mechanism });
    }
    for (k, (square, mut x)) in pairs.into_iter().enumerate() {
        if k >= whole && square <= 0.0 {
            return Err(Failed::Mechanism);
        }
        cholesky_backward(&root, r, &mut x);
        let mut shape = vec![0.0; size];
        for (x, basis) in x.iter().zip(&basis) {
            shape.iter_mut().zip(basis).for_each(|(s, b)| *s += x * b);
        }
        if k < whole {
            rigid.push(shape);
        } else {
            squares.push(square);
            shapes.push(shape);
        }
    }
    let quadratic = if quadratic { shortening(structure, &shapes, interface[0])? } else { Vec::new() };
    Ok(ReducedShapes { rigid, squares, shapes, quadratic })
}

/// g, with the node `fixed` where it is.
fn shortening(
    structure: &ModalStructure,
    shapes: &[Vec<f64>],
    fixed: usize,
) -> Result<Vec<Vec<f64>>, Failed> {
    let (size, wide) = (structure.size(), structure.directions().len());
    let free: Vec<usize> = (0..size).filter(|k| k / wide != fixed).collect();
    let m = free.len();
    let mut L = part(&structure.K, size, &free, &free);
    cholesky(&mut L, m).map_err(|k| Failed::Loose(free[k] / wide))?;
    // slopes of all bars across themselves, by shape
    let slope = |shape: &[f64], bar: &super::structure::Bar| {
        let [a, b] = bar.nodes.map(|n| Vec3(structure.node(shape, n)[0]));
        let d = (b - a).scale(1.0 / bar.length);
        let t = Vec3(bar.axis);
        d - t.scale(t.dot(d))
    };
    let slopes: Vec<Vec<Vec3<f64>>> =
        shapes.iter().map(|s| structure.bars.iter().map(|bar| slope(s, bar)).collect()).collect();
    let n = shapes.len();
    let mut out = vec![Vec::new(); n * n];
    for i in 0..n {
        for j in 0..=i {
            let mut load = vec![0.0; size];
            for (k, bar) in structure.bars.iter().enumerate() {
                let pull = -bar.stretch * slopes[i][k].dot(slopes[j][k]);
                for (node, sign) in [(bar.nodes[0], -1.0), (bar.nodes[1], 1.0)] {
                    let axes = structure.directions().iter().enumerate().filter(|(_, a)| **a < 3);
                    axes.for_each(|(k, &a)| load[wide * node + k] += sign * pull * bar.axis[a]);
                }
            }
            let mut x: Vec<f64> = free.iter().map(|&k| load[k]).collect();
            cholesky_solve(&L, m, &mut x);
            let mut g = vec![0.0; size];
            free.iter().zip(&x).for_each(|(&k, x)| g[k] = *x);
            out[j * n + i] = g.clone();
            out[i * n + j] = g;
        }
    }
    Ok(out)
}
