//! Describes how far a mechanism that stands still is from rest: M a + Jᵀλ = f, J a = 0 gives the acceleration a with which it would set off.

use super::linearize::{free_accelerations, mass_dot};
use sarrus_solve::{
    Accel, ActiveRows, Equations, Kkt, Problem, RankDemand, SolveError, Stage, State, Structure,
};
use sarrus_system::Mechanism;

/// Solutions for forces that depend on multipliers: two where these forces do no work.
const REACTIVE: u32 = 20;
/// Change of the multipliers, relative to the largest, at which these are found.
const CONVERGED: f64 = 1e-13;

/// Rounding of forces, relative to the loads, with which they are known to a digit no more.
const HIDES: f64 = 0.1;

/// Holds what forces do to a mechanism at rest.
pub(super) struct Rest {
    pub eq: Equations,
    pub accel: Accel,
    /// ‖a‖ in the metric of M.
    pub size: f64,
    /// ‖M⁻¹F‖ likewise, F the sizes of all forces added up: f itself vanishes where nothing but springs hold a body.
    pub full: f64,
    /// The same of the loads alone.
    loads: f64,
    /// Holds what rounding makes of ‖a‖, where that is known.
    pub rounding: f64,
    pub potential: f64,
    pub dependent: Vec<usize>,
}

impl Rest {
    /// Returns what is left of the forces, relative to them; nothing where it is rounding.
    pub fn residual(&self) -> f64 {
        if self.full > 0.0 && self.size > self.rounding { self.size / self.full } else { 0.0 }
    }

    /// The same, where what is left is rounding.
    pub fn rounded(self) -> Rest {
        Rest { rounding: self.size, ..self }
    }

    /// The same, where rounding makes forces `f` (nv), beside loads of at least the sizes `loads`.
    pub fn with_loads(self, s: &Structure, f: &[f64], loads: &[f64]) -> Rest {
        let size = |f: &[f64]| {
            let a = free_accelerations(s, &self.eq, f);
            mass_dot(s, &self.eq, &a, &a).max(0.0).sqrt()
        };
        let (rounding, loads) = (size(f), self.loads.max(size(loads)));
        // near a singular stiffness it would hide the loads themselves
        let hides = loads > 0.0 && rounding > HIDES * loads;
        Rest { rounding: if hides { 0.0 } else { rounding }, ..self }
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

/// Returns where `state` stands.
pub(super) fn rest(m: &mut Mechanism, kkt: &mut Kkt, state: &State) -> Result<Rest, SolveError> {
    let s = m.structure().clone();
    let (mut eq, mut accel) = (Equations::new(m), Accel::zeros(&s));
    m.update(state, Stage::FORCE, &mut eq);
    if let Some(index) = eq.f.iter().position(|f| !f.is_finite()) {
        return Err(SolveError::NotFinite { quantity: "f", index });
    }
    // drivers stand still
    eq.gamma.fill(0.0);
    kkt.factor(&eq, ActiveRows::All, RankDemand::ResolveRank)?;
    let mut solve = |eq: &Equations, accel: &mut Accel| -> Result<(), SolveError> {
        kkt.solve(eq, &eq.f, &eq.gamma, &mut accel.vdot, &mut accel.lambda)?.check()?;
        // as a run shows them, and as conditions and forces that read reactions see them
        kkt.least_norm(eq, &mut accel.lambda)
    };
    solve(&eq, &mut accel)?;
    if m.reactive_forces() > 0 {
        let f = eq.f.clone();
        for _ in 0..REACTIVE {
            let before = accel.lambda.clone();
            eq.f.copy_from_slice(&f);
            add_reactive(m, state, &mut eq, &before);
            solve(&eq, &mut accel)?;
            let largest = accel.lambda.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            let change =
                accel.lambda.iter().zip(&before).fold(0.0_f64, |most, (x, y)| most.max((x - y).abs()));
            if change <= CONVERGED * largest {
                break;
            }
        }
    }
    let norm = |x: &[f64]| mass_dot(&s, &eq, x, x).max(0.0).sqrt();
    let (size, net) = (norm(&accel.vdot), norm(&free_accelerations(&s, &eq, &eq.f)));
    let [all, loads] = force_sizes(m, state).map(|sizes| norm(&free_accelerations(&s, &eq, &sizes)));
    let full = net.max(all);
    Ok(Rest {
        potential: m.energy(state).potential,
        dependent: kkt.dependent_rows().to_vec(),
        eq,
        accel,
        size,
        full,
        loads,
        rounding: 0.0,
    })
}

/// Sizes of the forces on each velocity (nv), added up: of gravity and every force that acts, and of the loads among them.
pub(super) fn force_sizes(m: &mut Mechanism, state: &State) -> [Vec<f64>; 2] {
    let system = m.system().clone();
    let bodies = &system.directory.bodies;
    let linear = if system.wide == 3 { 2 } else { 3 };
    let mut all = vec![0.0; system.structure.nv];
    for body in bodies.iter().skip(1) {
        let n = linear.min(body.kind.nv());
        all[body.v..][..n].iter_mut().zip(system.gravity).for_each(|(f, g)| *f += body.mass * g.abs());
    }
    let mut loads = all.clone();
    let each = system.forces.iter().enumerate().filter(|(_, force)| force.enabled);
    let which: Vec<(usize, usize)> = each
        .flat_map(|(i, force)| (0..force.ids.len()).map(move |k| (i, k)))
        .filter(|&(i, k)| system.forces[i].ids[k] != 0)
        .collect();
    m.wrenches(state, &which, |i, wrench| {
        let (force, k) = which[i];
        let body = &bodies[system.forces[force].ids[k] as usize];
        let (nv, torque) = (body.kind.nv(), wrench.torque.norm());
        for j in 0..nv {
            let size = if j < linear { wrench.force.0[j].abs() } else { torque };
            all[body.v + j] += size;
            loads[body.v + j] += if system.forces[force].load.is_load() { size } else { 0.0 };
        }
    });
    [all, loads]
}
