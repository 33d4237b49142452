//! Stiffness and damping as sums of squares: zᵀK z = Σ ±(g·z)² + zᵀR z, with rows g of single applied forces.
//!
//! Entries of K add up terms of very different size: in a strip of thickness h the stiffness of shear is (l/h)² times that of bending, and
//! ε of it may hide the latter. A single element tells them apart. Its symmetric part S, scaled to a unit diagonal, has eigenvalues λ
//! with vectors u, and
//!
//! ```text
//! D⁻¹S D⁻¹ = Σ λ u uᵀ,    S = Σ ±g gᵀ,    g = √|λ| D u,    D² = |diag S|
//! ```
//!
//! With the noise E of the entries, λ is off by |u|ᵀE|u|; eigenvalues within that are zero: an element does nothing along a rigid motion of what it
//! connects. From λu = S u, u is off by E|u|/|λ|, so that g·z is off by ρ, the sum over the same of g, and a stiffness that is a sum of squares
//! alone by Σρ². R is what is not of applied forces, the parts of those that are not symmetric, and entries whose diagonal is smaller or unknown.
//!
//! E has two parts: rounding of the entries, and what they change by where the positions move within their own rounding. The second is measured at
//! displaced states, since terms may cancel within an entry; those of constants are estimated with the radii of gyration as levers. Cost: a few tangents of each force, O(n³) for the n velocities that it couples.

use super::hidden::moves;
use super::linearize::{ROUNDING, rounded_positions, subtract_pairs};
use sarrus_math::solve::{NotDecomposed, symmetric_eigenpairs, transposed_product};
use sarrus_solve::{Problem, State, Structure, Tangent, TangentBlock};
use sarrus_system::{Mechanism, System};

/// Displaced states at which noise is measured: at one alone it may be zero by chance.
const SAMPLES: u64 = 6;
/// Extent to which they are displaced, over the rounding of positions: enough for all that is rounded to be rounded otherwise.
const FAR: f64 = 8.0;
/// Noise over the largest change that is measured: each is the difference of two errors, which may be alike.
const MEASURED: f64 = 2.0;
/// Entries beyond this, scaled to a unit diagonal, belong to no square: in a positive matrix none is beyond one, and rounding or a prestress adds little.
const BEYOND: f64 = 2.0;

/// Noise of an entry, scaled to a unit diagonal, from which one of its rows belongs to no square: half of the digits, so that it costs others no more.
const UNKNOWN: f64 = 1.5e-8;

/// ±g gᵀ of one applied force.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RankOneTerm {
    pub force: usize,
    /// Places among the velocities, g there, and its noise.
    g: Vec<(usize, f64, f64)>,
    pub positive: bool,
}

impl RankOneTerm {
    /// g·z and ρ.
    pub fn along(&self, z: &[f64]) -> (f64, f64) {
        self.g
            .iter()
            .fold((0.0, 0.0), |(sum, off), (at, g, noise)| (sum + g * z[*at], off + f64::abs(noise * z[*at])))
    }

    /// The largest |g_i z_i|², of which the rest of the row may cancel.
    pub fn parts(&self, z: &[f64]) -> f64 {
        self.g.iter().fold(0.0_f64, |most, (at, g, _)| most.max((g * z[*at]).powi(2)))
    }

    /// The largest |g_i|.
    pub fn largest(&self) -> f64 {
        self.g.iter().fold(0.0_f64, |most, (_, g, _)| most.max(g.abs()))
    }

    fn sign(&self) -> f64 {
        if self.positive { 1.0 } else { -1.0 }
    }
}

/// Identifies which part of a tangent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TangentPart {
    Stiffness,
    Damping,
}

impl TangentPart {
    fn of(self, tangent: &Tangent) -> &[f64] {
        match self {
            TangentPart::Stiffness => &tangent.K,
            TangentPart::Damping => &tangent.D,
        }
    }
}

/// A matrix over the velocities.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Squares {
    pub rows: Vec<RankOneTerm>,
    /// R, laid out as K of a tangent.
    rest: Vec<f64>,
    /// The noise of its entries that come from applied forces.
    noise: Vec<f64>,
}

/// Stiffness and damping at `state`, with accelerations, multipliers and the blocks of M; `layout` is that of the tangent.
pub(super) fn squares(
    mechanism: &mut Mechanism,
    state: &State,
    (vdot, lambda, mass): (&[f64], &[f64], &[f64]),
    layout: &Tangent,
) -> Result<[Squares; 2], NotDecomposed> {
    let system = mechanism.system().clone();
    let mut here = layout.clone();
    mechanism.tangent_without_forces(state, vdot, lambda, &mut here);
    let mut parts = [TangentPart::Stiffness, TangentPart::Damping]
        .map(|part| (part, part.of(&here).to_vec()))
        .map(|(part, rest)| (part, Squares { rows: Vec::new(), noise: vec![0.0; rest.len()], rest }));
    let displaced: Vec<State> = (1..=SAMPLES).map(|k| displaced(mechanism, state, k)).collect();
    let mut there = here.clone();
    for (index, force) in system.forces.iter().enumerate().filter(|(_, f)| f.enabled) {
        mechanism.force_tangent(state, index, &mut here);
        let mut cols: Vec<usize> =
            force.ids.iter().filter(|id| **id != 0).map(|id| system.column(*id)).collect();
        cols.sort_unstable();
        cols.dedup();
        let mut local =
            parts.each_ref().map(|(part, _)| ForceMatrix::new(&system, &cols, &here, part.of(&here)));
        if local.iter().all(ForceMatrix::is_zero) {
            continue;
        }
        for state in &displaced {
            mechanism.force_tangent(state, index, &mut there);
            for (local, (part, _)) in local.iter_mut().zip(&parts) {
                local.compare(&ForceMatrix::new(&system, &cols, &there, part.of(&there)));
            }
        }
        for (local, (_, squares)) in local.into_iter().zip(&mut parts) {
            local.decompose(index, &system, mass, &here, squares)?;
        }
    }
    mechanism.observe(state, |_| ());
    Ok(parts.map(|(_, squares)| squares))
}

/// `state` with positions moved by little more than their rounding, by shares that a multiplicative hash gives.
fn displaced(mechanism: &Mechanism, state: &State, sample: u64) -> State {
    let mut by = rounded_positions(mechanism.system(), state);
    for (i, by) in by.iter_mut().enumerate() {
        // those that are no lengths are angles
        let size = FAR * if *by > 0.0 { *by } else { f64::EPSILON };
        let hash = (SAMPLES * (i as u64 + 1) + sample).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        // from half of it to all, either way
        let share = 0.5 + 0.5 * ((hash >> 12) as f64 / (1_u64 << 52) as f64);
        *by = if hash.count_ones().is_multiple_of(2) { share * size } else { -share * size };
    }
    let mut there = state.clone();
    mechanism.retract(&mut there.q, &by);
    there
}

/// The matrix of one force over the velocities of the bodies that it connects.
struct ForceMatrix {
    cols: Vec<usize>,
    /// Places among the velocities.
    at: Vec<usize>,
    X: Vec<f64>,
    /// Largest change of each entry within the rounding of positions.
    change: Vec<f64>,
}

impl ForceMatrix {
    fn new(system: &System, cols: &[usize], tangent: &Tangent, from: &[f64]) -> ForceMatrix {
        let s = &system.structure;
        let at: Vec<usize> =
            cols.iter().flat_map(|c| s.cols[*c].start..s.cols[*c].start + s.cols[*c].size).collect();
        let n = at.len();
        let mut local =
            ForceMatrix { cols: cols.to_vec(), at, X: vec![0.0; n * n], change: vec![0.0; n * n] };
        local.each(s, tangent, |index, own, local| local.X[own] = from[index]);
        local
    }

    /// Every number, by its index in the layout of `tangent` and its own.
    fn each(
        &mut self,
        s: &Structure,
        tangent: &Tangent,
        mut see: impl FnMut(usize, usize, &mut ForceMatrix),
    ) {
        let (n, cols) = (self.at.len(), self.cols.clone());
        let mut first = 0;
        for &a in &cols {
            let mut second = 0;
            for &b in &cols {
                let [rows, wide] = [a, b].map(|c| s.cols[c].size);
                let index = tangent.first_entry([a, b]);
                for i in 0..rows {
                    for j in 0..wide {
                        see(index + i * wide + j, (first + i) * n + second + j, self);
                    }
                }
                second += wide;
            }
            first += s.cols[a].size;
        }
    }

    fn is_zero(&self) -> bool {
        self.X.iter().all(|x| *x == 0.0)
    }

    fn compare(&mut self, other: &ForceMatrix) {
        for ((change, x), y) in self.change.iter_mut().zip(&self.X).zip(&other.X) {
            *change = change.max((x - y).abs());
        }
    }

    /// Sizes of the diagonal before anything cancels in it: of rotations at least the stiffness of displacements, on levers as long as the radius of
    /// gyration.
    fn sizes(&self, system: &System, mass: &[f64]) -> Vec<f64> {
        let n = self.at.len();
        let mut sizes: Vec<f64> = (0..n).map(|i| self.X[i * (n + 1)].abs()).collect();
        let mut first = 0;
        for &col in &self.cols {
            let body = &system.directory.bodies[system.first_body(col) as usize];
            let (linear, own) = (moves(body.kind), system.structure.cols[col]);
            let inertia = |i: usize| mass[own.mass + i * (own.size + 1)];
            let square = (linear..body.kind.nv()).map(inertia).fold(0.0, f64::max) / inertia(0);
            let entries = (0..linear * linear).map(|k| (first + k / linear) * n + first + k % linear);
            let largest = entries.fold(0.0_f64, |most, k| most.max(self.X[k].abs()));
            for size in &mut sizes[first + linear..first + body.kind.nv()] {
                *size = size.max(square * largest);
            }
            first += system.structure.cols[col].size;
        }
        sizes
    }

    /// Adds rows, and what is not symmetric, to `out`.
    fn decompose(
        mut self,
        force: usize,
        system: &System,
        mass: &[f64],
        layout: &Tangent,
        out: &mut Squares,
    ) -> Result<(), NotDecomposed> {
        let n = self.at.len();
        let sizes = self.sizes(system, mass);
        let noise: Vec<f64> = (0..n * n)
            .map(|k| {
                let across = k % n * n + k / n;
                let cancels = [k / n, k % n].iter().any(|&i| sizes[i] > self.X[i * (n + 1)].abs());
                let both = if cancels { (sizes[k / n] * sizes[k % n]).sqrt() } else { 0.0 };
                let size = self.X[k].abs().max(self.X[across].abs()).max(both);
                ROUNDING * size + MEASURED * self.change[k].max(self.change[across])
            })
            .collect();
        let seen = |x: f64, k: usize| if x.abs() > noise[k] { x } else { 0.0 };
        let half = |k: usize, sign: f64| seen(0.5 * (self.X[k] + sign * self.X[k % n * n + k / n]), k);
        let [mut S, skew] = [1.0, -1.0].map(|sign| (0..n * n).map(|k| half(k, sign)).collect::<Vec<f64>>());
        let mut rest = skew;
        let own = known_diagonal(&S, &noise, n);
        for k in 0..n * n {
            if S[k].abs() > BEYOND * (own[k / n] * own[k % n]).sqrt() {
                rest[k] += std::mem::take(&mut S[k]);
            }
        }
        for own in connected(&S, n) {
            rows_of(&S, &noise, n, &own, |positive, g| {
                let g = own.iter().zip(g).map(|(&i, (g, noise))| (self.at[i], g, noise)).collect();
                out.rows.push(RankOneTerm { force, g, positive });
            })?;
        }
        self.each(&system.structure, layout, |index, own, _| {
            out.rest[index] += rest[own];
            out.noise[index] += if rest[own] == 0.0 { 0.0 } else { noise[own] };
        });
        Ok(())
    }
}

/// |S_ii| of rows that belong to squares, and zero of others: of each pair whose noise is too large, the one that is in more of these.
fn known_diagonal(S: &[f64], noise: &[f64], n: usize) -> Vec<f64> {
    let mut own: Vec<f64> = (0..n).map(|i| S[i * (n + 1)].abs()).collect();
    loop {
        let too_large = |i: usize, j: usize| noise[i * n + j] > UNKNOWN * (own[i] * own[j]).sqrt();
        let unknown = |i: usize| (0..n).filter(|&j| own[j] > 0.0 && too_large(i, j)).count();
        let worst = (0..n).filter(|&i| own[i] > 0.0).map(|i| (unknown(i), i)).max();
        match worst {
            Some((count, i)) if count > 0 => own[i] = 0.0,
            _ => return own,
        }
    }
}

/// Indices that entries of the symmetric matrix connect, in groups; zero rows are in none.
fn connected(S: &[f64], n: usize) -> Vec<Vec<usize>> {
    let mut seen = vec![false; n];
    let mut groups = Vec::new();
    for first in 0..n {
        let (mut group, mut next) = (Vec::new(), vec![first]);
        while let Some(i) = next.pop() {
            if !std::mem::replace(&mut seen[i], true) {
                group.push(i);
                next.extend((0..n).filter(|j| S[i * n + j] != 0.0 && !seen[*j]));
            }
        }
        if group.iter().any(|i| (0..n).any(|j| S[i * n + j] != 0.0)) {
            group.sort_unstable();
            groups.push(group);
        }
    }
    groups
}

/// ±g gᵀ of the part `own` of S; each entry of g with its noise.
fn rows_of(
    S: &[f64],
    noise: &[f64],
    n: usize,
    own: &[usize],
    mut see: impl FnMut(bool, Vec<(f64, f64)>),
) -> Result<(), NotDecomposed> {
    let m = own.len();
    let d: Vec<f64> = own.iter().map(|i| S[i * n + i].abs().sqrt()).collect();
    let scaled = |X: &[f64]| -> Vec<f64> {
        (0..m * m).map(|k| X[own[k / m] * n + own[k % m]] / (d[k / m] * d[k % m])).collect()
    };
    let E = scaled(noise);
    for (value, u) in symmetric_eigenpairs(&scaled(S), m)? {
        let off: Vec<f64> =
            E.chunks_exact(m).map(|row| row.iter().zip(&u).map(|(e, u)| e * u.abs()).sum()).collect();
        let size = value.abs();
        if size > off.iter().zip(&u).map(|(off, u)| off * u.abs()).sum::<f64>() {
            let entry = |i: usize| (size.sqrt() * d[i] * u[i], d[i] * off[i] / size.sqrt());
            see(value > 0.0, (0..m).map(entry).collect());
        }
    }
    Ok(())
}

impl Squares {
    /// R z + Σ over rows that are not `positive`, of ±g (g·z).
    pub fn add_squares(&self, s: &Structure, layout: &Tangent, z: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; z.len()];
        subtract_pairs(s, layout, &self.rest, z, &mut y);
        for row in self.rows.iter().filter(|row| !row.positive) {
            let along = row.along(z).0;
            row.g.iter().for_each(|(at, g, _)| y[*at] += g * along);
        }
        y.iter_mut().for_each(|y| *y = -*y);
        y
    }

    /// Returns whether nothing is beside squares.
    pub fn is_positive(&self) -> bool {
        self.rest.iter().all(|x| *x == 0.0) && self.rows.iter().all(|row| row.positive)
    }

    /// G z, by row.
    fn all_along(&self, z: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|row| row.along(z).0).collect()
    }

    /// zᵀX z' for all columns of both, by rows of the first.
    pub fn between(
        &self,
        s: &Structure,
        layout: &Tangent,
        first: &[Vec<f64>],
        second: &[Vec<f64>],
    ) -> Vec<f64> {
        let [mut left, right] =
            [first, second].map(|Z| Z.iter().map(|z| self.all_along(z)).collect::<Vec<_>>());
        let signs: Vec<f64> = self.rows.iter().map(RankOneTerm::sign).collect();
        left.iter_mut().for_each(|x| x.iter_mut().zip(&signs).for_each(|(x, sign)| *x *= sign));
        let mut out = transposed_product(&left, &right);
        if self.rest.iter().all(|x| *x == 0.0) {
            return out;
        }
        let negative = |z: &Vec<f64>| {
            let mut y = vec![0.0; z.len()];
            subtract_pairs(s, layout, &self.rest, z, &mut y);
            y
        };
        let negative: Vec<Vec<f64>> = second.iter().map(negative).collect();
        out.iter_mut().zip(transposed_product(first, &negative)).for_each(|(out, x)| *out -= x);
        out
    }

    /// zᵀX z, and what rounding makes of it.
    pub fn along(&self, s: &Structure, layout: &Tangent, z: &[f64]) -> (f64, f64) {
        let mut sum = SumOfSquares::of(&self.rows, z);
        let (rest, terms) = quadratic(s, layout, &self.rest, z);
        sum.parts[usize::from(rest < 0.0)] += rest.abs();
        let measured = quadratic(s, layout, &self.noise, z).1;
        (sum.value(), sum.noise() + measured + ROUNDING * terms)
    }
}

/// A sum of squares, along a motion.
pub(super) struct SumOfSquares {
    /// Positive and negative ones.
    parts: [f64; 2],
    /// Σρ².
    off: f64,
}

impl SumOfSquares {
    pub fn of(rows: &[RankOneTerm], z: &[f64]) -> SumOfSquares {
        let (mut parts, mut off) = ([0.0; 2], 0.0);
        for row in rows {
            let (along, noise) = row.along(z);
            parts[usize::from(!row.positive)] += along * along;
            off += noise * noise;
        }
        SumOfSquares { parts, off }
    }

    pub fn value(&self) -> f64 {
        self.parts[0] - self.parts[1]
    }

    /// Returns what rounding makes of it: squares that cancel others are off by 2|g·z|ρ.
    pub fn noise(&self) -> f64 {
        let cancelling = self.parts[0].min(self.parts[1]);
        self.off + 2.0 * (self.off * cancelling).sqrt() + ROUNDING * cancelling
    }
}

/// zᵀX z and Σ|z_i X_ij z_j|.
pub(super) fn quadratic(s: &Structure, layout: &Tangent, X: &[f64], z: &[f64]) -> (f64, f64) {
    let (mut sum, mut terms) = (0.0, 0.0);
    for TangentBlock { at, offset, .. } in &layout.pairs {
        let [row, col] = at.map(|i| s.cols[i]);
        for i in 0..row.size {
            for j in 0..col.size {
                let term = z[row.start + i] * X[offset + i * col.size + j] * z[col.start + j];
                sum += term;
                terms += term.abs();
            }
        }
    }
    (sum, terms)
}
