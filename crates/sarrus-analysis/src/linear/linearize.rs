//! ẋ = A x for small motions along the constraints about a state.
//!
//! With δq in the directions of the velocities (rotates about the body's own axes), and K, D, Φ̇_q, Φ̈_q, Φ̈_v of the
//! [tangent](sarrus_system::tangent),
//!
//! ```text
//! δq̇ = δv - ω × δθ
//! M δv̇ + Jᵀδλ = -K δq - D δv,    J δv̇ = -Φ̈_q δq - Φ̈_v δv
//! J δq = 0 (rows with a position level),    J δv = -Φ̇_q δq (all rows).
//! ```
//!
//! δq = Z_q ξ, δv = Z_v η + W ξ with [bases](super::principal) of what J leaves free, orthonormal in the metric of M, and W ξ the least δv that
//! Φ̇_q δq asks for, which is orthogonal to them. J Z_v = 0, so Z_vᵀM δv̇ = -Z_vᵀ(K δq + D δv) without δλ.
//!
//! - At rest in equilibrium A is that of the motion itself, A = [0 1; -ZᵀKZ -ZᵀDZ].
//! - About a [steady motion](super::steady) A is constant in the frame of that motion. A [flow](super::flow) with the generator Γ carries
//!   the free motions along, and ξ̇ = Z_qᵀM (δq̇ - (Γ δ)_q), η̇ = Z_vᵀM (δv̇ - (Γ δ)_v).
//! - About any other motion A is the derivative at that instant, and its eigenvalues mean little. The bases turn with J Ż = -J̇ Z,
//!   J̇ = Φ̈_v - Φ̇_q, and no more than that needs (ZᵀM Ż = 0): ξ̇ = Z_qᵀM δq̇, η̇ = Z_vᵀM δv̇ + Ż_vᵀM W ξ.
//!
//! Rolling and other rows without a position level leave more positions free than velocities. States of continuous
//! [controllers](sarrus_system::control) that forces depend on are unknowns too. All derivatives are exact; what sampled controllers hold
//! counts as constant.
//!
//! Cost: O(nv nc²) for the bases, one sparse solution for each degree of freedom and level, O(nv f²) for A of f degrees of freedom; where the mechanism moves,
//! some more for the search for a frame. Where nothing moves or damps, the half of A that belongs to velocities is known.

use super::basis::{check_size, free_motions};
use super::flow::{Flow, MovingState};
use super::hidden::{moves, rounded_forces};
use super::principal::principal;
use super::rest::force_sizes;
use super::squares::{Squares, quadratic, squares};
use super::steady::{self, SteadyMotion};
use crate::error::SetupError;
use crate::failure;
use sarrus_solve::{
    Accel, ActiveRows, Dynamics, Equations, HUB_DEGREE, Kkt, Options, Problem, RankDemand, SolveError, State,
    Structure, Tangent, formulations, stabilizations,
};
use sarrus_system::body::BodyKind;
use sarrus_system::control::{ControlState, Gradient, LinearControllers};
use sarrus_system::{Mechanism, System};

/// A linear system ẋ = A x of small motions, x = (ξ, η, χ).
#[derive(Debug, Clone, PartialEq)]
pub struct Linearization {
    /// Describes how many positions ξ are free.
    pub positions: usize,
    /// Describes how many velocities η are free.
    pub speeds: usize,
    /// Names of the controllers' states χ.
    pub states: Vec<String>,
    /// Those of them that change at the state, with their rates: with these there is no rest.
    pub unsettled: Vec<(String, f64)>,
    /// Names of sampled controllers that forces depend on: they count as constant.
    pub held: Vec<String>,
    /// True if forces depend on continuous controllers.
    pub controlled: bool,
    /// A, by rows.
    pub A: Vec<f64>,
    /// Displacements (nv) of each ξ; turns are about the body's own axes.
    pub displacements: Vec<Vec<f64>>,
    /// Velocities (nv) of each η.
    pub velocities: Vec<Vec<f64>>,
    /// v̇ at the state (nv).
    pub vdot: Vec<f64>,
    /// zᵀK z of each ξ \[1/s²\].
    pub stiffness: Vec<f64>,
    /// Stiffnesses zᵀK z up to this are rounding, of each ξ \[1/s²\]: of the entries of K, and of what is left of the forces at rest.
    pub rounding: Vec<f64>,
    /// Dampings zᵀD z up to this are rounding, of each η \[1/s\].
    pub damping_rounding: Vec<f64>,
    /// The largest Σ |z_i| |K_ij| |z_j| of a free motion, or what the largest load could come to on it \[1/s²\]: what rounding in
    /// ZᵀKZ is relative to, however much cancels in it.
    pub scale: f64,
    /// The motion of the state, and how steady it is; none at rest. Where it is steady, A is that seen from its frame.
    pub motion: Option<SteadyMotion>,
    /// K by elements.
    pub(super) springs: Squares,
    /// Forces that nothing balances at the state \[N\].
    pub(super) unbalanced: f64,
}

impl Linearization {
    /// Size of A.
    pub fn size(&self) -> usize {
        self.positions + self.speeds + self.states.len()
    }

    /// ZᵀDZ by rows, where K and D are symmetric and positions follow velocities alone: masses, springs and dampers. ZᵀKZ is then diagonal.
    pub fn symmetric(&self) -> Option<Vec<f64>> {
        let (n, f) = (self.size(), self.positions);
        if f != self.speeds || self.motion.is_some() || self.controlled {
            return None;
        }
        let block = |i: usize, j: usize| self.A[i * n + j];
        let values_of =
            |first: usize| -> Vec<f64> { (0..f * f).map(|k| -block(f + k / f, first + k % f)).collect() };
        let parts = [values_of(0), values_of(f)];
        let sizes = [
            (0..f).map(|i| self.stiffness[i].abs() + self.rounding[i] / SAME).collect(),
            (0..f)
                .map(|i| {
                    let row = (0..f).fold(0.0_f64, |a, j| a.max(parts[1][i * f + j].abs()));
                    row + self.damping_rounding[i] / SAME
                })
                .collect::<Vec<f64>>(),
        ];
        let same = parts.iter().zip(&sizes).all(|(X, size)| {
            (0..f * f).all(|k| {
                let both = (size[k / f] * size[k % f]).sqrt();
                (X[k] - X[k % f * f + k / f]).abs() <= SAME * both
            })
        });
        let follow = (0..f).all(|i| {
            (0..f).all(|j| {
                let one = if i == j { 1.0 } else { 0.0 };
                block(i, j) == 0.0 && (block(i, f + j) - one).abs() <= SAME
            })
        });
        let [_, D] = parts;
        (same && follow).then(|| (0..f * f).map(|k| 0.5 * (D[k] + D[k % f * f + k / f])).collect())
    }
}

/// Rounding in entries of A, relative to those of both their modes.
const SAME: f64 = 1e-9;
/// Accelerations up to this, relative to those that its forces alone would give, are rest; so is what rounding of positions makes.
pub(super) const REST: f64 = 1e-8;
/// Defines what rounding leaves of the terms of a stiffness that cancel: entries of K are sums of some products, each rounded, and add up to it.
pub(super) const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// The equations of motion at a state, with their solution and tangent.
pub(super) struct EquationsAtState {
    pub eq: Equations,
    pub accel: Accel,
    pub tangent: Tangent,
}

impl EquationsAtState {
    pub fn new(mechanism: &mut Mechanism, state: &State) -> Result<EquationsAtState, SetupError> {
        let system = mechanism.system().clone();
        let named = |source: SolveError| {
            let element = failure::element(&source, &system.mechanism());
            SetupError::Start { source, element }
        };
        let (eq, accel) = {
            let none = Options::new();
            let made = formulations::make("proximal", &none)
                .and_then(|f| Ok((f, stabilizations::make("none", &none)?)));
            let (formulation, stabilization) =
                made.map_err(|source| SetupError::Method { source, at: sarrus_model::Span::NONE })?;
            let mut dynamics = Dynamics::new(mechanism, formulation, stabilization).map_err(named)?;
            dynamics.evaluate(state).map_err(named)?;
            (dynamics.equations().clone(), dynamics.accel().clone())
        };
        let mut tangent = mechanism.system().new_tangent();
        // with the friction of joints, whose intensities the evaluation has found
        mechanism.fill_tangent(state, &accel.vdot, &accel.lambda, true, &mut tangent);
        Ok(EquationsAtState { eq, accel, tangent })
    }

    /// Small motions about the state.
    pub fn small<'a>(&'a self, system: &'a System, state: &'a State) -> Result<Small<'a>, SolveError> {
        let mut kkt = Kkt::new(&system.structure, &self.eq, HUB_DEGREE)?;
        kkt.factor(&self.eq, ActiveRows::All, RankDemand::ResolveRank)?;
        Ok(Small { system, eq: &self.eq, tangent: &self.tangent, kkt, state })
    }
}

/// Linearizes about `state`, which is on the constraints.
pub fn linearize(mechanism: &mut Mechanism, state: &State) -> Result<Linearization, SetupError> {
    check_size(mechanism.structure(), "modes")?;
    let system = mechanism.system().clone();
    let named = |source: SolveError| {
        let element = failure::element(&source, &system.mechanism());
        SetupError::Start { source, element }
    };
    let instant = EquationsAtState::new(mechanism, state)?;
    let EquationsAtState { eq, accel, tangent } = &instant;
    let s = &system.structure;
    let rolling = s.rows.iter().any(|r| r.holonomic < r.size);
    let at_rest = state.v.iter().all(|v| *v == 0.0);
    // accelerations that are rounding would load modal bodies by their inertia
    let stays = at_rest && {
        let [sizes, _] = force_sizes(mechanism, state);
        let off = rounded_forces(mechanism, state);
        let [most, off] = [&sizes, &off].map(|f| free_accelerations(s, eq, f));
        let norm = |x: &[f64]| mass_dot(s, eq, x, x).sqrt();
        norm(&accel.vdot) <= REST * norm(&most) + norm(&off)
    };
    let vdot = if stays { vec![0.0; s.nv] } else { accel.vdot.clone() };
    let decomposed = squares(mechanism, state, (&vdot, &accel.lambda, &eq.mass), tangent);
    let [springs, dampers] = decomposed.map_err(|_| SetupError::NoModes { size: s.nv })?;
    let basis = |holonomic_only: bool| -> Result<Vec<Vec<f64>>, SetupError> {
        let N = free_motions(s, eq, holonomic_only)?;
        principal(s, eq, tangent, &springs, &N).map_err(|_| SetupError::NoModes { size: 2 * N.len() })
    };
    let Zv = basis(false)?;
    let Zq = if rolling { basis(true)? } else { Zv.clone() };

    let mut small = instant.small(&system, state).map_err(named)?;
    let (fq, fv) = (Zq.len(), Zv.len());
    let control = mechanism.control_tangent(state);
    let n = fq + fv + control.states.len();
    let mut A = vec![0.0; n * n];
    let zero = vec![0.0; s.nv];
    let no_states = vec![0.0; control.states.len()];
    let momenta = |Z: &[Vec<f64>]| -> Vec<Vec<f64>> { Z.iter().map(|z| momentum(s, eq, z)).collect() };
    let MZv = momenta(&Zv);
    let MZq = if rolling { momenta(&Zq) } else { MZv.clone() };
    let load = largest(&eq.f);
    let terms: Vec<f64> = Zq.iter().map(|z| without_cancelling(s, tangent, load, z)).collect();
    let own: Vec<(f64, f64)> = Zq.iter().map(|z| springs.along(s, tangent, z)).collect();
    let scale = largest(&terms);
    // a force that nothing balances acts on what it is carried along as one that turns with it, and so does one beside its row
    let left = largest(&momentum(s, eq, &accel.vdot));
    let left = if stays {
        left
    } else if at_rest {
        left.min(REST * load)
    } else {
        0.0
    };
    let unbalanced = left + load * largest(&eq.phi);
    // entries of z are sums of rounded terms: δzᵀK δz
    let summed = ROUNDING * ROUNDING * s.nv as f64 * largest(&tangent.K);
    let beside = |z: &[f64]| (unbalanced + summed + ROUNDING * load) * largest(z).powi(2);
    let rounding: Vec<f64> = Zq.iter().zip(&own).map(|(z, (_, off))| off + beside(z)).collect();
    let damping_rounding: Vec<f64> = Zv.iter().map(|z| dampers.along(s, tangent, z).1).collect();
    // at rest, with nothing that damps, velocities change positions and nothing else
    let none = |x: &[f64]| x.iter().all(|x| *x == 0.0);
    let controlled = control.acts.iter().any(|(o, _)| !(none(&o.q) && none(&o.v) && none(&o.x)));
    let undamped = at_rest && !rolling && !controlled && none(&tangent.D) && none(&tangent.phiddot_v);
    let moving = MovingState::new(&system, mechanism, state, &accel.vdot);
    let found = if at_rest {
        None
    } else {
        let follow: Result<Vec<_>, _> = Zq.iter().map(|z| small.follow(z)).collect();
        let follow = &follow.map_err(named)?;
        let columns = steady::SmallMotions { displacements: &Zq, follow, velocities: &Zv };
        Some(steady::find(mechanism, &moving, &instant, &mut small, &columns, scale))
    };
    let flow: Option<&Flow> = found.as_ref().filter(|(_, motion)| motion.steady).map(|(flow, _)| flow);
    let spin: Vec<Vec<f64>> =
        if flow.is_some() || (at_rest && none(&tangent.phidot_q) && none(&tangent.phiddot_v)) {
            Vec::new()
        } else {
            Zv.iter().map(|z| small.rotate(z)).collect::<Result<_, _>>().map_err(named)?
        };
    let pushes: Vec<Vec<f64>> =
        control.acts.iter().map(|(_, f)| Zv.iter().map(|z| dot(z, f)).collect()).collect();
    let add_control = |A: &mut [f64], j: usize, dq: &[f64], dv: &[f64], dx: &[f64]| {
        for ((output, _), step) in control.acts.iter().zip(&pushes) {
            let change = output.along(dq, dv, dx);
            step.iter().enumerate().for_each(|(i, step)| A[(fq + i) * n + j] += change * step);
        }
        for (k, rate) in control.rates.iter().enumerate() {
            A[(fq + fv + k) * n + j] = rate.along(dq, dv, dx);
        }
    };
    for k in 0..control.states.len() {
        let mut dx = no_states.clone();
        dx[k] = 1.0;
        add_control(&mut A, fq + fv + k, &zero, &zero, &dx);
    }
    let stiff = springs.between(s, tangent, &Zv, &Zq);
    let damped = if undamped { Vec::new() } else { dampers.between(s, tangent, &Zv, &Zv) };
    for j in 0..fq + fv {
        if undamped && j >= fq {
            A[(j - fq) * n + j] = 1.0;
            continue;
        }
        let (dq, dv) = if j < fq {
            let dv = small.follow(&Zq[j]).map_err(named)?;
            let moved = momentum(s, eq, &dv);
            for (i, spin) in spin.iter().enumerate() {
                A[(fq + i) * n + j] = dot(spin, &moved);
            }
            (&Zq[j], dv)
        } else {
            (&zero, Zv[j - fq].clone())
        };
        let mut rates = small.rates(dq, &dv);
        if j < fq {
            (0..fv).for_each(|i| A[(fq + i) * n + j] -= stiff[i * fq + j]);
            if !none(&dv) {
                let f = small.forces(&zero, &dv);
                Zv.iter().enumerate().for_each(|(i, z)| A[(fq + i) * n + j] += dot(z, &f));
            }
        } else {
            (0..fv).for_each(|i| A[(fq + i) * n + j] -= damped[i * fv + j - fq]);
        }
        add_control(&mut A, j, dq, &dv, &no_states);
        if let Some(flow) = flow {
            let mut accelerations = zero.clone();
            flow.subtract(&moving, dq, &dv, [&mut rates, &mut accelerations]);
            for (i, z) in MZv.iter().enumerate() {
                A[(fq + i) * n + j] += dot(z, &accelerations);
            }
        }
        if !none(&rates) {
            for (i, z) in MZq.iter().enumerate() {
                A[i * n + j] += dot(z, &rates);
            }
        }
    }
    let motion = found.map(|(_, motion)| motion);
    let unsettled = unsettled(mechanism, state, &instant, &control);
    Ok(Linearization {
        positions: fq,
        speeds: fv,
        states: control.states.into_iter().map(|s| s.name).collect(),
        unsettled,
        held: control.held,
        controlled,
        A,
        displacements: Zq,
        velocities: Zv,
        vdot: instant.accel.vdot,
        stiffness: own.iter().map(|(k, _)| *k).collect(),
        rounding,
        damping_rounding,
        scale,
        springs,
        unbalanced,
        motion,
    })
}

/// The controllers' states that change at `state`, with their rates: more than rest leaves of their terms.
fn unsettled(
    mechanism: &mut Mechanism,
    state: &State,
    instant: &EquationsAtState,
    control: &LinearControllers,
) -> Vec<(String, f64)> {
    let mut xdot = vec![0.0; state.x.len()];
    mechanism.observe(state, |_| ());
    mechanism.xdot(state, &instant.eq, &instant.accel, &mut xdot);
    let far = largest(&state.q).max(largest(&state.v));
    let changes = |(of, rate): &(&ControlState, &Gradient)| {
        let size = |x: &[f64]| x.iter().map(|x| x.abs()).sum::<f64>();
        let of_states: f64 = control.states.iter().zip(&rate.x).map(|(s, r)| (r * state.x[s.x]).abs()).sum();
        xdot[of.x].abs() > REST * (far * (size(&rate.q) + size(&rate.v)) + of_states)
    };
    let found = control.states.iter().zip(&control.rates).filter(changes);
    found.map(|(of, _)| (of.name.clone(), xdot[of.x])).collect()
}

/// Σ |z_i| |K_ij| |z_j|, and at least the largest load times the largest |z_i|²: loads may have cancelled within an entry.
fn without_cancelling(s: &Structure, tangent: &Tangent, load: f64, z: &[f64]) -> f64 {
    quadratic(s, tangent, &tangent.K, z).1.max(load * largest(z).powi(2))
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most, x| most.max(x.abs()))
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    // in lanes: a sum in one is as slow as its additions wait for each other
    let mut lanes = [0.0; 8];
    let (x, y) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = x.remainder().iter().zip(y.remainder()).map(|(a, b)| a * b).sum();
    for (x, y) in x.zip(y) {
        for i in 0..8 {
            lanes[i] += x[i] * y[i];
        }
    }
    rest + lanes.iter().sum::<f64>()
}

/// M x.
pub(super) fn momentum(s: &Structure, eq: &Equations, x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; s.nv];
    eq.mass_mul(s, x, &mut y);
    y
}

/// M⁻¹ f: the accelerations that forces alone would give.
pub fn free_accelerations(s: &Structure, eq: &Equations, f: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; s.nv];
    for col in &s.cols {
        let minv = eq.minv[col.mass..][..col.size * col.size].chunks_exact(col.size);
        for (out, row) in out[col.start..].iter_mut().zip(minv) {
            *out = row.iter().zip(&f[col.start..]).map(|(m, f)| m * f).sum();
        }
    }
    out
}

/// Displacements within the rounding of positions.
pub(super) fn rounded_positions(system: &System, state: &State) -> Vec<f64> {
    let far = state.q.iter().fold(0.0_f64, |a, q| a.max(q.abs()));
    let mut out = vec![0.0; system.structure.nv];
    for body in system.directory.bodies.iter().skip(1) {
        out[body.v..][..moves(body.kind)].fill(f64::EPSILON * far);
    }
    out
}

/// Small motions about one state.
pub(super) struct Small<'a> {
    system: &'a System,
    eq: &'a Equations,
    tangent: &'a Tangent,
    kkt: Kkt,
    state: &'a State,
}

impl Small<'_> {
    /// The least δv that keeps the constraints on velocities with δq.
    fn follow(&mut self, dq: &[f64]) -> Result<Vec<f64>, SolveError> {
        let mut b = vec![0.0; self.eq.gamma.len()];
        subtract_rows(&self.system.structure, &self.tangent.phidot_q, dq, &mut b);
        self.least(&b)
    }

    /// Returns how a free motion turns along the motion of the state, Ż.
    fn rotate(&mut self, z: &[f64]) -> Result<Vec<f64>, SolveError> {
        let mut b = vec![0.0; self.eq.gamma.len()];
        subtract_rows(&self.system.structure, &self.tangent.phidot_q, z, &mut b);
        b.iter_mut().for_each(|b| *b = -*b);
        subtract_rows(&self.system.structure, &self.tangent.phiddot_v, z, &mut b);
        self.least(&b)
    }

    /// The least x with J x = b.
    fn least(&mut self, b: &[f64]) -> Result<Vec<f64>, SolveError> {
        let s = &self.system.structure;
        let (mut x, mut mu) = (vec![0.0; s.nv], vec![0.0; s.nc]);
        if b.iter().any(|b| *b != 0.0) {
            self.kkt.solve(self.eq, &vec![0.0; s.nv], b, &mut x, &mut mu)?;
        }
        Ok(x)
    }

    /// The least changes of (δq, δv) that bring them onto the constraints.
    pub fn off_constraints(&mut self, dq: &[f64], dv: &[f64]) -> Result<[Vec<f64>; 2], SolveError> {
        let s = &self.system.structure;
        let [mut at_position, mut at_velocity] = [(); 2].map(|()| vec![0.0; s.nc]);
        subtract_rows(s, &self.eq.J, dq, &mut at_position);
        for row in &s.rows {
            at_position[row.start + row.holonomic..row.start + row.size].fill(0.0);
        }
        subtract_rows(s, &self.eq.J, dv, &mut at_velocity);
        subtract_rows(s, &self.tangent.phidot_q, dq, &mut at_velocity);
        Ok([self.least(&at_position)?, self.least(&at_velocity)?])
    }

    /// -K δq - D δv.
    pub fn forces(&self, dq: &[f64], dv: &[f64]) -> Vec<f64> {
        let s = &self.system.structure;
        let mut f = vec![0.0; s.nv];
        subtract_pairs(s, self.tangent, &self.tangent.K, dq, &mut f);
        subtract_pairs(s, self.tangent, &self.tangent.D, dv, &mut f);
        f
    }

    /// δq̇.
    fn rates(&self, dq: &[f64], dv: &[f64]) -> Vec<f64> {
        let mut rates = dv.to_vec();
        for body in self.system.directory.bodies.iter().skip(1) {
            if matches!(body.kind, BodyKind::Rigid | BodyKind::RigidEuler) {
                let [w, d] = [&self.state.v, dq].map(|x| &x[body.v + 3..][..3]);
                for i in 0..3 {
                    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                    rates[body.v + 3 + i] -= w[j] * d[k] - w[k] * d[j];
                }
            }
        }
        rates
    }

    /// δq̇ and δv̇.
    pub fn respond(&mut self, dq: &[f64], dv: &[f64]) -> Result<[Vec<f64>; 2], SolveError> {
        let s = &self.system.structure;
        let f = self.forces(dq, dv);
        let mut b = vec![0.0; s.nc];
        subtract_rows(s, &self.tangent.phiddot_q, dq, &mut b);
        subtract_rows(s, &self.tangent.phiddot_v, dv, &mut b);
        let (mut x, mut mu) = (vec![0.0; s.nv], vec![0.0; s.nc]);
        self.kkt.solve(self.eq, &f, &b, &mut x, &mut mu)?;
        Ok([self.rates(dq, dv), x])
    }
}

/// y -= the blocks of K or D times x.
pub(super) fn subtract_pairs(s: &Structure, tangent: &Tangent, blocks: &[f64], x: &[f64], y: &mut [f64]) {
    for pair in &tangent.pairs {
        let [row, col] = pair.at.map(|i| s.cols[i]);
        for i in 0..row.size {
            let block = &blocks[pair.offset + i * col.size..][..col.size];
            y[row.start + i] -= block.iter().zip(&x[col.start..]).map(|(a, b)| a * b).sum::<f64>();
        }
    }
}

/// y -= B x, B laid out as J.
fn subtract_rows(s: &Structure, B: &[f64], x: &[f64], y: &mut [f64]) {
    for row in &s.rows {
        for e in &s.entries[row.entries.clone()] {
            let col = s.cols[e.col];
            for i in 0..row.size {
                let block = &B[e.offset + i * col.size..][..col.size];
                y[row.start + i] -= block.iter().zip(&x[col.start..]).map(|(a, b)| a * b).sum::<f64>();
            }
        }
    }
}

/// aᵀM b.
pub(super) fn mass_dot(s: &Structure, eq: &Equations, a: &[f64], b: &[f64]) -> f64 {
    dot(a, &momentum(s, eq, b))
}
