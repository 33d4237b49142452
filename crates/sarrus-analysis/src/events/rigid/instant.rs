//! Points that are closed at an instant: their rows, what they do to each other, and what moves without them.

use crate::linear::free_accelerations;
use sarrus_solve::{
    ActiveRows, Equations, HUB_DEGREE, Kkt, Problem, RankDemand, SolveError, Stage, State, Structure,
};
use sarrus_system::Mechanism;
use sarrus_system::body::BodyKind;
use sarrus_system::contact::rigid::{Gap, GapRows};

/// Compliance of a gap, over that without joints and drivers, that is rounding: as of rows that depend on others
/// ([`sarrus_solve::complementarity`]).
const FIXED: f64 = 1e-11;

/// The points at an instant.
pub(super) struct ContactInstant {
    /// Gaps, by their numbers.
    pub which: Vec<usize>,
    /// Their rows.
    pub rows: Vec<GapRows>,
    /// First row of each.
    pub first: Vec<usize>,
    /// W = N (M⁻¹ - M⁻¹Jᵀ(J M⁻¹Jᵀ)⁻¹J M⁻¹) Nᵀ, by rows: what an impulse at one does to the velocity of another.
    pub W: Vec<f64>,
    /// Holds what an impulse at a row does to v.
    pub response: Vec<Vec<f64>>,
    /// u̇ without them.
    pub free: Vec<f64>,
    /// Largest of the accelerations: those by forces alone, and those that rows ask for.
    pub scale: f64,
    /// Work that drivers, and gaps that the time moves, do on the mechanism by an impulse of 1 at a row \[J\].
    pub work: Vec<f64>,
    /// Of each, whether what holds whatever they do leaves its gap no degree of freedom.
    pub fixed: Vec<bool>,
    /// Of a planar body at each, how it stands, in words.
    pub stands: Vec<String>,
}

impl ContactInstant {
    /// Of the gaps `which` at `s`, where `mechanism` has the rows that hold whatever they do.
    pub fn new(
        mechanism: &mut Mechanism,
        s: &State,
        gaps: &[Gap],
        which: Vec<usize>,
    ) -> Result<ContactInstant, SolveError> {
        let rows: Vec<GapRows> = which.iter().map(|&i| mechanism.gap_rows(s, &gaps[i])).collect();
        let mut first = Vec::new();
        let mut n = 0;
        for own in &rows {
            first.push(n);
            n += own.rates.len();
        }
        let mut eq = Equations::new(mechanism);
        mechanism.update(s, Stage::FORCE, &mut eq);
        let mut kkt = Kkt::new(mechanism.structure(), &eq, HUB_DEGREE)?;
        kkt.factor(&eq, ActiveRows::All, RankDemand::Any)?;
        let (nv, nc) = (mechanism.structure().nv, mechanism.structure().nc);
        let (still, mut mu) = (vec![0.0; nc], vec![0.0; nc]);
        let N: Vec<&[f64]> = rows.iter().flat_map(|own| own.N.iter().map(Vec::as_slice)).collect();
        let rates = rows.iter().flat_map(|own| &own.rates);
        let mut response = Vec::with_capacity(n);
        let mut work = Vec::with_capacity(n);
        for (N, rate) in N.iter().zip(rates) {
            let mut x = vec![0.0; nv];
            kkt.solve(&eq, N, &still, &mut x, &mut mu)?;
            response.push(x);
            work.push(dot(&mu, &eq.phi_t) + dot(N, &s.v) - rate);
        }
        let alone = |i: usize| compliance(mechanism.structure(), &eq, N[i]);
        let fixed = first.iter().map(|&i| !(dot(N[i], &response[i]) > FIXED * alone(i))).collect();
        let mut W: Vec<f64> = N.iter().flat_map(|N| response.iter().map(|x| dot(N, x))).collect();
        for i in 0..n {
            for j in 0..i {
                let mean = 0.5 * (W[i * n + j] + W[j * n + i]);
                (W[i * n + j], W[j * n + i]) = (mean, mean);
            }
        }
        let mut vdot = vec![0.0; nv];
        kkt.solve(&eq, &eq.f, &eq.gamma, &mut vdot, &mut mu)?;
        let gamma = rows.iter().flat_map(|own| &own.gamma);
        let free = N.iter().zip(gamma).map(|(N, gamma)| dot(N, &vdot) - gamma).collect();
        let alone = free_accelerations(mechanism.structure(), &eq, &eq.f);
        let scale = eq.gamma.iter().chain(&alone).fold(0.0_f64, |most, a| most.max(a.abs()));
        let stands = which.iter().map(|&i| stands(mechanism, s, &gaps[i])).collect();
        Ok(ContactInstant { which, rows, first, W, response, free, scale, work, fixed, stands })
    }

    /// u of all rows.
    pub fn rates(&self) -> Vec<f64> {
        self.rows.iter().flat_map(|own| own.rates.iter().copied()).collect()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.free.len()
    }
}

/// N M⁻¹Nᵀ.
fn compliance(structure: &Structure, eq: &Equations, N: &[f64]) -> f64 {
    let cols = structure.cols.iter().map(|col| {
        let (N, minv) = (&N[col.start..][..col.size], &eq.minv[col.mass..][..col.size * col.size]);
        N.iter().zip(minv.chunks_exact(col.size)).map(|(n, row)| n * dot(row, N)).sum::<f64>()
    });
    cols.sum()
}

/// Returns how the first body of a gap stands, where an angle says it.
fn stands(mechanism: &Mechanism, s: &State, gap: &Gap) -> String {
    let bodies = &mechanism.system().directory.bodies;
    let body = gap.ids.iter().filter(|id| **id != 0).map(|&id| &bodies[id as usize]).next();
    match body.filter(|body| body.kind == BodyKind::PlanarRigid) {
        Some(body) => format!(" (`{}` at an angle of {:.6} rad)", body.name, s.q[body.q + 2]),
        None => String::new(),
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
