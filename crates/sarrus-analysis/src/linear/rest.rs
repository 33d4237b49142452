//! How far a mechanism that stands still is from rest: M a + Jᵀλ = f, J a = 0 gives the acceleration a with which it would set off.

use super::linearize::mass_dot;
use sarrus_solve::{Accel, Equations, Kkt, Problem, Rank, Rows, SolveError, Stage, State, Structure};
use sarrus_system::Mechanism;

/// Solutions for forces that depend on multipliers: two where these forces do no work.
const REACTIVE: u32 = 20;
/// Change of the multipliers, relative to the largest, at which these are found.
const SETTLED: f64 = 1e-13;

/// What forces do to a mechanism at rest.
pub(super) struct Rest {
    pub eq: Equations,
    pub accel: Accel,
    /// ‖a‖ and ‖M⁻¹f‖ in the metric of M.
    pub size: f64,
    pub full: f64,
    /// What rounding makes of ‖a‖, where that is known.
    pub rounding: f64,
    pub potential: f64,
    pub dependent: Vec<usize>,
}

impl Rest {
    /// What is left of the forces, relative to them; nothing where it is rounding.
    pub fn residual(&self) -> f64 {
        if self.full > 0.0 && self.size > self.rounding { self.size / self.full } else { 0.0 }
    }

    /// The same, where rounding makes forces `f` (nv).
    pub fn beside(self, s: &Structure, f: &[f64]) -> Rest {
        let a = free(s, &self.eq, f);
        Rest { rounding: mass_dot(s, &self.eq, &a, &a).max(0.0).sqrt(), ..self }
    }
}

/// Adds the forces that depend on the multipliers `lambda`, at the state of the last update.
pub(super) fn add_reactive(m: &mut Mechanism, state: &State, eq: &mut Equations, lambda: &[f64]) {
    let count = m.reactive_forces();
    if count > 0 {
        let mut n = vec![0.0; count];
        m.intensities(state, eq, lambda, &mut n);
        m.add_reactive_forces(state, &n, &mut eq.f);
    }
}

/// Where `state` stands.
pub(super) fn rest(m: &mut Mechanism, kkt: &mut Kkt, state: &State) -> Result<Rest, SolveError> {
    let s = m.structure().clone();
    let (mut eq, mut accel) = (Equations::new(m), Accel::zeros(&s));
    m.update(state, Stage::FORCE, &mut eq);
    // drivers stand still
    eq.gamma.fill(0.0);
    kkt.factor(&eq, Rows::All, Rank::Settle)?;
    kkt.solve(&eq, &eq.f, &eq.gamma, &mut accel.vdot, &mut accel.lambda)?.check()?;
    if m.reactive_forces() > 0 {
        let f = eq.f.clone();
        for _ in 0..REACTIVE {
            let before = accel.lambda.clone();
            eq.f.copy_from_slice(&f);
            add_reactive(m, state, &mut eq, &before);
            kkt.solve(&eq, &eq.f, &eq.gamma, &mut accel.vdot, &mut accel.lambda)?.check()?;
            let largest = accel.lambda.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            let change =
                accel.lambda.iter().zip(&before).fold(0.0_f64, |most, (x, y)| most.max((x - y).abs()));
            if change <= SETTLED * largest {
                break;
            }
        }
    }
    let free = free(&s, &eq, &eq.f);
    let norm = |x: &[f64]| mass_dot(&s, &eq, x, x).max(0.0).sqrt();
    let (size, full) = (norm(&accel.vdot), norm(&free));
    Ok(Rest {
        potential: m.energy(state).potential,
        dependent: kkt.dependent_rows().to_vec(),
        eq,
        accel,
        size,
        full,
        rounding: 0.0,
    })
}

/// M⁻¹f.
fn free(s: &Structure, eq: &Equations, f: &[f64]) -> Vec<f64> {
    let mut free = vec![0.0; s.nv];
    for c in &s.cols {
        let rows = eq.minv[c.mass..][..c.size * c.size].chunks_exact(c.size);
        for (out, row) in free[c.start..].iter_mut().zip(rows) {
            *out = row.iter().zip(&f[c.start..]).map(|(m, f)| m * f).sum();
        }
    }
    free
}
