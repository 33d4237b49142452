//! Coordinate partitioning: the equations of motion of the independent velocities alone [Wehage1982],
//! [Park1990, eqs. 14-19].
//!
//! With J v̇ = γ solved for the dependent velocities u, v̇ = E v̇_e + G, where E = [-J_u⁺J_e; I] and G = [J_u⁺γ; 0],
//!
//! EᵀM E v̇_e = Eᵀ(f - M G),  J_uᵀλ = (f - M v̇)_u,
//!
//! which is eq. 17 of \[Park1990\], (M_e + TᵀM_i T) v̇_e = f_e - Tᵀf_i + TᵀM_i B_i⁻¹γ, with T = J_u⁺J_e, also for bodies of
//! which some velocities are dependent and some are not, where M couples u and e. λ is that of least norm. The
//! residuals of both equations are corrected once or twice.
//!
//! Takes J of any rank: J_u⁺ is a least-squares solution over all rows, and rows that contradict each other are an error.
//! Dependent velocities are chosen by pivoting, kept, and chosen again where J_u asks for it (see `partition.rs`);
//! the report says how often. Cost: dense, O(nc nv r + nv (nv - r)²) for rank r. Not for large models: use `proximal`.

use super::{Formulation, Kind, Needs};
use crate::error::SolveError;
use crate::findings::Findings;
use crate::kkt::{Kkt, Rows};
use crate::partition::Partition;
use crate::problem::{Accel, Equations, Structure};
use sarrus_math::solve::{cholesky, cholesky_solve};

/// A residual at this fraction of its terms is rounding.
const ROUNDING: f64 = 4e-15;
/// Corrections of the residual, at most.
const CORRECTIONS: u32 = 2;
/// Largest residual accepted.
const UNSOLVED: f64 = 1e-6;
/// The same where rows are redundant: contradicting constraints show one of order one, positions off by an integrator's
/// error show that error.
const CONTRADICTION: f64 = 1e-3;
/// Fraction of the largest term in all equations that counts as noise in any of them.
const NOISE: f64 = 1e-12;

pub(super) const KIND: Kind = Kind {
    name: "partitioned",
    doc: "equations of independent velocities, chosen by pivoting",
    needs: Needs { dense: true, ..Needs::NOTHING },
    options: &[],
    new: |_| Ok(Box::new(Partitioned::new())),
};

struct Partitioned {
    partition: Partition,
    /// E, column by column (nv each).
    E: Vec<f64>,
    /// EᵀM E, factored.
    H: Vec<f64>,
    /// M times something (nv).
    momentum: Vec<f64>,
    /// v̇_e.
    y: Vec<f64>,
    motion: Residual,
    rows: Residual,
    /// A correction.
    delta: Accel,
    /// Unit vector (nc) near that of the smallest eigenvalue of D_r J M⁻¹Jᵀ D_r, whose diagonal is about one.
    weak: Vec<f64>,
    /// That eigenvalue, from above.
    weakest: f64,
}

/// What is left of an equation, and how large its terms are.
#[derive(Default)]
struct Residual {
    value: Vec<f64>,
    terms: Vec<f64>,
}

impl Partitioned {
    fn new() -> Partitioned {
        Partitioned {
            partition: Partition::new(Rows::All),
            E: Vec::new(),
            H: Vec::new(),
            momentum: Vec::new(),
            y: Vec::new(),
            motion: Residual::default(),
            rows: Residual::default(),
            delta: Accel::default(),
            weak: Vec::new(),
            weakest: 1.0,
        }
    }
}

impl Formulation for Partitioned {
    fn accelerations(
        &mut self,
        s: &Structure,
        eq: &Equations,
        _kkt: &mut Kkt,
        out: &mut Accel,
    ) -> Result<(), SolveError> {
        self.make_room(s);
        self.partition.factor(s, eq)?;
        self.reduce(s, eq)?;
        self.solve(s, eq, &eq.f, &eq.gamma, out);
        let mut delta = std::mem::take(&mut self.delta);
        for correction in 0..=CORRECTIONS {
            let worst = self.find_residuals(s, eq, out)?;
            out.residual = worst;
            out.refinements = correction;
            if worst <= ROUNDING || correction == CORRECTIONS {
                break;
            }
            let (a, b) = (std::mem::take(&mut self.motion.value), std::mem::take(&mut self.rows.value));
            self.solve(s, eq, &a, &b, &mut delta);
            (self.motion.value, self.rows.value) = (a, b);
            out.vdot.iter_mut().zip(&delta.vdot).for_each(|(x, d)| *x += d);
            out.lambda.iter_mut().zip(&delta.lambda).for_each(|(x, d)| *x += d);
        }
        let checked = self.check();
        self.find_weakest(s, eq, &mut delta);
        self.delta = delta;
        checked
    }

    fn smallest_pivot(&self, _kkt: &Kkt) -> f64 {
        self.weakest
    }

    fn factorizations(&self) -> u64 {
        self.partition.factorizations()
    }

    fn findings(&self) -> Findings {
        self.partition.findings().clone()
    }
}

impl Partitioned {
    fn make_room(&mut self, s: &Structure) {
        for (room, n) in [
            (&mut self.momentum, s.nv),
            (&mut self.motion.value, s.nv),
            (&mut self.motion.terms, s.nv),
            (&mut self.delta.vdot, s.nv),
            (&mut self.rows.value, s.nc),
            (&mut self.rows.terms, s.nc),
            (&mut self.delta.lambda, s.nc),
        ] {
            room.resize(n, 0.0);
        }
        if self.weak.len() != s.nc {
            self.weak.extend((0..s.nc).map(anything));
        }
    }

    /// One inverse iteration, from where the last call left off: with M x + Jᵀμ = 0 and J x = b, μ = -(J M⁻¹Jᵀ)⁻¹b.
    fn find_weakest(&mut self, s: &Structure, eq: &Equations, room: &mut Accel) {
        let norm = |z: &[f64]| dot(z, z).sqrt();
        let (mut a, mut z) = (std::mem::take(&mut self.motion.value), std::mem::take(&mut self.weak));
        a.fill(0.0);
        let before = norm(&z);
        let scale = |z: &mut [f64], partition: &Partition| {
            z.iter_mut().zip(partition.row_scale()).for_each(|(z, scale)| *z /= scale);
        };
        scale(&mut z, &self.partition);
        self.solve(s, eq, &a, &z, room);
        z.copy_from_slice(&room.lambda);
        scale(&mut z, &self.partition);
        let after = norm(&z);
        self.weakest = if after > 0.0 { before / after } else { 1.0 };
        for (i, z) in z.iter_mut().enumerate() {
            *z = if after.is_normal() { *z / after } else { anything(i) };
        }
        (self.motion.value, self.weak) = (a, z);
    }

    /// E, and EᵀM E factored.
    fn reduce(&mut self, s: &Structure, eq: &Equations) -> Result<(), SolveError> {
        let Partitioned { partition, E, H, momentum, y, .. } = self;
        let (rank, scale, qr) = (partition.rank(), partition.col_scale(), partition.factors());
        let independent = partition.independent();
        let n = independent.len();
        y.resize(n.max(rank), 0.0);
        E.clear();
        E.resize(n * s.nv, 0.0);
        H.clear();
        H.resize(n * n, 0.0);
        for (k, &e) in independent.iter().enumerate() {
            // the column over √M_ee, so that EᵀM E is about one on its diagonal
            let column = &mut E[k * s.nv..][..s.nv];
            let T = &mut y[..rank];
            T.copy_from_slice(&qr.column(rank + k)[..rank]);
            qr.solve_r(T);
            partition.dependent().iter().zip(T).for_each(|(&u, t)| column[u] = -scale[u] * *t);
            column[e] = scale[e];
        }
        for k in 0..n {
            eq.mass_mul(s, &E[k * s.nv..][..s.nv], momentum);
            for i in k..n {
                H[k * n + i] = dot(&E[i * s.nv..][..s.nv], momentum);
            }
        }
        cholesky(H, n).map_err(|k| SolveError::Mass { velocity: independent[k] })
    }

    /// v̇ and λ for the right sides `a` (nv) and `b` (nc).
    fn solve(&mut self, s: &Structure, eq: &Equations, a: &[f64], b: &[f64], out: &mut Accel) {
        let Partitioned { partition, E, H, momentum, y, .. } = self;
        let n = partition.independent().len();
        let left = |x: &[f64], momentum: &mut [f64]| {
            eq.mass_mul(s, x, momentum);
            momentum.iter_mut().zip(a).for_each(|(p, a)| *p = a - *p);
        };
        partition.solve(b, &mut out.vdot);
        left(&out.vdot, momentum);
        let y = &mut y[..n];
        let columns = || E.chunks_exact(s.nv.max(1));
        y.iter_mut().zip(columns()).for_each(|(y, column)| *y = dot(column, momentum));
        cholesky_solve(H, n, y);
        for (y, column) in y.iter().zip(columns()) {
            out.vdot.iter_mut().zip(column).for_each(|(x, e)| *x += e * y);
        }
        left(&out.vdot, momentum);
        partition.solve_transposed(momentum, &mut out.lambda);
    }

    /// What is left of M v̇ + Jᵀλ = f and J v̇ = γ. Returns the largest, relative to its terms.
    fn find_residuals(&mut self, s: &Structure, eq: &Equations, out: &Accel) -> Result<f64, SolveError> {
        let Partitioned { motion, rows, momentum, .. } = self;
        eq.mass_mul(s, &out.vdot, momentum);
        motion.value.iter_mut().zip(&eq.f).zip(&*momentum).for_each(|((r, f), p)| *r = f - p);
        motion.terms.iter_mut().zip(&eq.f).zip(&*momentum).for_each(|((t, f), p)| *t = f.abs() + p.abs());
        rows.value.copy_from_slice(&eq.gamma);
        rows.terms.iter_mut().zip(&eq.gamma).for_each(|(t, gamma)| *t = gamma.abs());
        for row in &s.rows {
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                let block = &eq.J[e.offset..][..row.size * col.size];
                for (i, J) in (row.start..).zip(block.chunks_exact(col.size)) {
                    for (j, J) in (col.start..).zip(J) {
                        let (force, rate) = (J * out.lambda[i], J * out.vdot[j]);
                        motion.value[j] -= force;
                        motion.terms[j] += force.abs();
                        rows.value[i] -= rate;
                        rows.terms[i] += rate.abs();
                    }
                }
            }
        }
        let index = |values: &[f64]| values.iter().position(|x| !x.is_finite());
        if let Some(index) = index(&motion.value) {
            return Err(SolveError::NotFinite { quantity: "f", index });
        }
        if let Some(index) = index(&rows.value) {
            return Err(SolveError::NotFinite { quantity: "gamma", index });
        }
        Ok(motion.worst().1.max(rows.worst().1))
    }

    fn check(&self) -> Result<(), SolveError> {
        let (velocity, residual) = self.motion.worst();
        if residual > UNSOLVED {
            return Err(SolveError::Unsolved { velocity, residual });
        }
        let (row, residual) = self.rows.worst();
        if residual > if self.partition.is_redundant() { CONTRADICTION } else { UNSOLVED } {
            return Err(SolveError::Inconsistent { row, residual });
        }
        Ok(())
    }
}

impl Residual {
    /// Where it is largest relative to its terms, and how large.
    fn worst(&self) -> (usize, f64) {
        let noise = NOISE * self.terms.iter().fold(0.0_f64, |a, b| a.max(*b));
        let mut worst = (0, 0.0);
        for (i, (value, terms)) in self.value.iter().zip(&self.terms).enumerate() {
            let size = terms.max(noise);
            if size > 0.0 && value.abs() > worst.1 * size {
                worst = (i, value.abs() / size);
            }
        }
        worst
    }
}

/// Numbers without a pattern that a mechanism could have too.
fn anything(i: usize) -> f64 {
    (1.0 + i as f64).sin()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
