//! The rows of J in a common unit, D J with D such that every row has length 1 in the metric of M⁻¹, their factors, and
//! random multipliers that move nothing.
//!
//! Without that the unit of a row would decide how large its multiplier is, and a component in kN would look unique
//! beside one in N m. Costs a factorization; the random vectors one more and a few solutions each.

use super::reactions::RandomNulls;
use sarrus_solve::{ActiveRows, Equations, HUB_DEGREE, Kkt, RankDemand, SolveError, Structure};

/// Random starts, at least: more than a joint has components, so that they span whatever its reactions can.
const STARTS: usize = 8;
/// Random starts more than the largest element has rows: as many would span its null space too, but only just.
const EXTRA: usize = 2;

/// Scaled rows with their factors.
pub(crate) struct Scaled {
    /// The equations with scaled rows.
    pub eq: Equations,
    /// Length that each row had.
    pub lengths: Vec<f64>,
    /// Factored at these rows.
    pub kkt: Kkt,
}

impl Scaled {
    /// Scales and factors; `dependent` rows are to be found, where it is known how many there are.
    pub fn new(s: &Structure, eq: &Equations, dependent: Option<usize>) -> Result<Scaled, SolveError> {
        Scaled::with(Kkt::new(s, eq, HUB_DEGREE)?, s, eq, dependent)
    }

    /// The same with a solver for these rows.
    pub fn with(
        mut kkt: Kkt,
        s: &Structure,
        eq: &Equations,
        dependent: Option<usize>,
    ) -> Result<Scaled, SolveError> {
        let mut scaled = eq.clone();
        let lengths = scale(s, eq, &mut scaled.J);
        match dependent {
            Some(n) => kkt.resolve_rank(&scaled, n).map(|_| ())?,
            None => kkt.factor(&scaled, ActiveRows::All, RankDemand::ResolveRank)?,
        }
        Ok(Scaled { eq: scaled, lengths, kkt })
    }

    /// The same at another instant.
    pub fn update(&mut self, s: &Structure, eq: &Equations) -> Result<(), SolveError> {
        self.lengths = scale(s, eq, &mut self.eq.J);
        self.kkt.factor(&self.eq, ActiveRows::All, RankDemand::ResolveRank)
    }

    /// Random multipliers that move nothing, the same every time.
    pub fn random_nulls(&mut self, s: &Structure) -> Result<RandomNulls, SolveError> {
        let mut random = Random(0x5A22_0053);
        let starts = s.rows.iter().fold(STARTS, |n, row| n.max(row.size + EXTRA));
        let mut vectors: Vec<Vec<f64>> =
            (0..starts).map(|_| (0..s.nc).map(|_| random.normal()).collect()).collect();
        let iterations = self.kkt.null_parts(&self.eq, &mut vectors)?;
        Ok(RandomNulls { vectors, iterations })
    }
}

/// Rows of J over their lengths, into `out`; returns the lengths. A row of zeros stays.
fn scale(s: &Structure, eq: &Equations, out: &mut [f64]) -> Vec<f64> {
    let mut lengths = vec![0.0; s.nc];
    for row in &s.rows {
        for i in 0..row.size {
            let mut square = 0.0;
            for e in &s.entries[row.entries.clone()] {
                let col = s.cols[e.col];
                let n = col.size;
                let J = &eq.J[e.offset + i * n..][..n];
                for (j, minv) in J.iter().zip(eq.minv[col.mass..].chunks_exact(n)) {
                    square += j * minv.iter().zip(J).map(|(m, j)| m * j).sum::<f64>();
                }
            }
            let length = if square > 0.0 { square.sqrt() } else { 1.0 };
            lengths[row.start + i] = length;
            for e in &s.entries[row.entries.clone()] {
                let n = s.cols[e.col].size;
                let at = e.offset + i * n;
                out[at..at + n].iter_mut().zip(&eq.J[at..]).for_each(|(o, j)| *o = j / length);
            }
        }
    }
    lengths
}

/// A generator of random numbers, the same on every machine: SplitMix \[Steele2014\], with the mixer Mix13 of
/// \[Stafford2011\] in place of the one in print.
pub(super) struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform above 0, up to 1.
    fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Normal with variance 1.
    pub fn normal(&mut self) -> f64 {
        let (a, b) = (self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}
