//! The generalized-α family on the group of positions and rotations: `generalized_alpha`, `hht`, `newmark`, and `trapezoidal`.
//!
//! With δ the tangent vector of the step, q₁ = q₀ ⊕ δ \[Bruls2010\], \[Arnold2007\],
//!
//! ```text
//! δ = h v₀ + h² (½ - β) a₀ + h² β a₁,    v₁ = v₀ + h (1 - γ) a₀ + h γ a₁,
//! (1 - αₘ) a₁ + αₘ a₀ = (1 - α_f) v̇₁ + α_f v̇₀,
//! ```
//!
//! M v̇₁ + Jᵀλ₁ = f and the constraints at the end of the step. Order 2 for γ = ½ + α_f - αₘ, in q, v and λ: a₀ begins as
//! v̇(t₀ + (αₘ - α_f) h), without which λ would be of order 1 for a while.
//!
//! | kind | αₘ, α_f | β | damping |
//! |---|---|---|---|
//! | `generalized_alpha` | (2ρ - 1)/(ρ + 1), ρ/(ρ + 1) | ¼ (γ + ½)² | what oscillates fast shrinks by ρ a step \[Chung1993\] |
//! | `hht` | 0, -α | ¼ (1 - α)² | likewise, by (1 + α)/(1 - α) \[Hilber1977\] |
//! | `newmark` | 0, 0 | given | none with β = ¼, γ = ½ \[Newmark1959\] |
//! | `trapezoidal` | 0, 0 | | none: v and δ by the trapezoidal rule, solved with λ at once, eqs 8-13 of \[Park1990\] |
//!
//! First-order states go by the trapezoidal rule. Needs steps that resolve what shall be accurate, not what is stiff. With `adaptive`
//! the error of positions is (β - 1/6) h² (v̇₁ - v̇₀), that of v from the third derivative through three instants.
//!
//! Cost: one to three iterations of Newton a step, each an evaluation and one or two solutions. For stiff members and long runs; for
//! tight tolerances take `radau5` or `bdf`, for smooth motion of rigid bodies an explicit method.

use super::{End, Scheme, Stepper, options};
use crate::control::{StepControl, error_norm};
use crate::error::{MethodError, SolveError, StepError};
use crate::implicit::{Kinematics, Newton, NewtonOptions, StageTarget};
use crate::options::{OptionDoc, Options};
use crate::problem::{Accel, Stage, State};
use crate::views::{ImplicitOde, Integrator};

/// The coefficients of a member of the family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewmarkCoefficients {
    /// αₘ.
    pub alpha_m: f64,
    /// α_f.
    pub alpha_f: f64,
    /// β.
    pub beta: f64,
    /// γ.
    pub gamma: f64,
    /// True if positions follow velocities by the trapezoidal rule, in place of β.
    pub trapezoidal: bool,
}

impl NewmarkCoefficients {
    /// Generalized α whose fastest oscillations shrink by ρ a step.
    pub fn generalized_alpha(rho: f64) -> NewmarkCoefficients {
        let (alpha_m, alpha_f) = ((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0));
        NewmarkCoefficients::second_order(alpha_m, alpha_f)
    }

    /// Hilber, Hughes and Taylor's, α from -1/3 to 0.
    pub fn hht(alpha: f64) -> NewmarkCoefficients {
        NewmarkCoefficients::second_order(0.0, -alpha)
    }

    /// Newmark's.
    pub fn newmark(beta: f64, gamma: f64) -> NewmarkCoefficients {
        NewmarkCoefficients { alpha_m: 0.0, alpha_f: 0.0, beta, gamma, trapezoidal: false }
    }

    /// The trapezoidal rule.
    pub fn trapezoidal() -> NewmarkCoefficients {
        NewmarkCoefficients { trapezoidal: true, ..NewmarkCoefficients::newmark(0.25, 0.5) }
    }

    fn second_order(alpha_m: f64, alpha_f: f64) -> NewmarkCoefficients {
        let gamma = 0.5 + alpha_f - alpha_m;
        NewmarkCoefficients {
            alpha_m,
            alpha_f,
            gamma,
            beta: 0.25 * (gamma + 0.5).powi(2),
            trapezoidal: false,
        }
    }
}

const DAMPED: &[OptionDoc] = &[
    OptionDoc {
        name: "rho",
        default: "0.8",
        doc: "the fastest oscillations shrink by this factor a step, 0 to 1; 1: none is damped",
    },
    options::CONSTRAINTS,
    options::ADAPTIVE,
    options::NEWTON,
    options::ITERATIONS,
    options::SAFETY,
    options::GROWTH,
    options::MIN_STEP,
];

/// Options of `generalized_alpha`.
pub const GENERALIZED_ALPHA: &[OptionDoc] = DAMPED;
/// Options of `hht`.
pub const HHT: &[OptionDoc] = &[
    OptionDoc { name: "alpha", default: "-0.1", doc: "damping of the fastest oscillations, -1/3 to 0" },
    options::CONSTRAINTS,
    options::ADAPTIVE,
    options::NEWTON,
    options::ITERATIONS,
    options::SAFETY,
    options::GROWTH,
    options::MIN_STEP,
];
/// Options of `newmark`.
pub const NEWMARK: &[OptionDoc] = &[
    OptionDoc {
        name: "beta",
        default: "0.25",
        doc: "weight of the new accelerations in positions, 0.01 to 1",
    },
    OptionDoc {
        name: "gamma",
        default: "0.5",
        doc: "weight of the new accelerations in velocities, 0.5 to 1",
    },
    options::CONSTRAINTS,
    options::ADAPTIVE,
    options::NEWTON,
    options::ITERATIONS,
    options::SAFETY,
    options::GROWTH,
    options::MIN_STEP,
];
/// Options of `trapezoidal`.
pub const TRAPEZOIDAL: &[OptionDoc] = &[
    options::CONSTRAINTS,
    options::ADAPTIVE,
    options::NEWTON,
    options::ITERATIONS,
    options::SAFETY,
    options::GROWTH,
    options::MIN_STEP,
];

/// The integrator `kind` with what `options` ask for.
pub fn from_options(kind: &'static str, options: &Options) -> Result<Integrator, MethodError> {
    let read = |option, default: f64, expected, accept: fn(f64) -> bool| {
        options.number(kind, option, expected, accept).map(|x| x.unwrap_or(default))
    };
    let (known, family) = match kind {
        "hht" => {
            let alpha = read("alpha", -0.1, "from -1/3 to 0", |x| (-1.0 / 3.0 - 1e-9..=0.0).contains(&x))?;
            (HHT, NewmarkCoefficients::hht(alpha))
        }
        "newmark" => {
            let beta = read("beta", 0.25, "between 0.01 and 1", |x| (0.01..=1.0).contains(&x))?;
            let gamma = read("gamma", 0.5, "between 0.5 and 1", |x| (0.5..=1.0).contains(&x))?;
            (NEWMARK, NewmarkCoefficients::newmark(beta, gamma))
        }
        "trapezoidal" => (TRAPEZOIDAL, NewmarkCoefficients::trapezoidal()),
        _ => {
            let rho = read("rho", 0.8, "between 0 and 1", |x| (0.0..=1.0).contains(&x))?;
            (GENERALIZED_ALPHA, NewmarkCoefficients::generalized_alpha(rho))
        }
    };
    options.check(kind, known)?;
    let adaptive = options.word(kind, "adaptive", "`yes` or `no`", &["no", "yes"])? == Some(1);
    let scheme = Newmark::new(family, options::newton(kind, options)?, adaptive);
    Ok(Integrator::Implicit(Box::new(Stepper::new(scheme, options::limits(kind, options)?))))
}

/// A member of the family, with its memory.
pub struct Newmark {
    family: NewmarkCoefficients,
    options: NewtonOptions,
    adaptive: bool,
    newton: Option<Newton>,
    target: StageTarget,
    /// v̇ and λ at both ends.
    accel: [Accel; 2],
    /// ẋ at both ends.
    xdot: [Vec<f64>; 2],
    /// a at both ends.
    a: [Vec<f64>; 2],
    /// v̇ and ẋ where the step before this began, and its size \[s\]; zero before the second step.
    before: (Vec<f64>, Vec<f64>, f64),
    delta: State,
}

impl Newmark {
    /// A member of the family.
    pub fn new(family: NewmarkCoefficients, options: NewtonOptions, adaptive: bool) -> Newmark {
        Newmark {
            family,
            options,
            adaptive,
            newton: None,
            target: StageTarget::zeros(&Default::default()),
            accel: Default::default(),
            xdot: Default::default(),
            a: Default::default(),
            before: Default::default(),
            delta: State::default(),
        }
    }

    /// a at the start: v̇ a little earlier or later, as \[Arnold2007\] has it.
    fn begin_a(&mut self, view: &mut dyn ImplicitOde, s: &State, h: Option<f64>) -> Result<(), SolveError> {
        self.a[0].copy_from_slice(&self.accel[0].vdot);
        let shift = self.family.alpha_m - self.family.alpha_f;
        let Some(h) = h.filter(|_| shift != 0.0) else { return Ok(()) };
        let shift = shift * h;
        let [Accel { vdot, .. }, found] = &mut self.accel;
        let mut near = s.clone();
        near.t += shift;
        let move_by = |v: &f64, a: &f64| shift * (v + 0.5 * shift * a);
        let rotation: Vec<f64> = s.v.iter().zip(&*vdot).map(|(v, a)| move_by(v, a)).collect();
        view.retract(&mut near.q, &rotation);
        near.v.iter_mut().zip(&*vdot).for_each(|(v, a)| *v += shift * a);
        // where that is no state of the mechanism, or its accelerations are others, v̇ itself has to do
        if view.project(&mut near).is_err() || view.accelerations(&near, found).is_err() {
            return Ok(());
        }
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let change: Vec<f64> = found.vdot.iter().zip(&*vdot).map(|(a, b)| a - b).collect();
        if norm(&change) <= 0.5 * norm(vdot) {
            self.a[0].copy_from_slice(&found.vdot);
        }
        Ok(())
    }
}

impl Scheme for Newmark {
    fn order(&self) -> u32 {
        2
    }

    fn is_adaptive(&self) -> bool {
        self.adaptive
    }

    fn error_power(&self) -> u32 {
        3
    }

    fn begin(&mut self, view: &mut dyn ImplicitOde, s: &State, h: Option<f64>) -> Result<(), SolveError> {
        let mut newton = Newton::new(view, s, self.options)?;
        let structure = view.structure();
        let (nv, nx) = (structure.nv, structure.nx);
        self.target = StageTarget::zeros(structure);
        self.accel = [Accel::zeros(structure), Accel::zeros(structure)];
        self.xdot = [vec![0.0; nx], vec![0.0; nx]];
        self.a = [vec![0.0; nv], vec![0.0; nv]];
        self.before = (vec![0.0; nv], vec![0.0; nx], 0.0);
        self.delta = State::zeros(structure);
        view.accelerations(s, &mut self.accel[0])?;
        view.update(s, Stage::FORCE, &mut newton.eq);
        view.xdot(s, &newton.eq, &self.accel[0], &mut self.xdot[0]);
        newton.accel.clone_from(&self.accel[0]);
        newton.xdot.copy_from_slice(&self.xdot[0]);
        self.newton = Some(newton);
        self.begin_a(view, s, h)
    }

    fn advance(
        &mut self,
        view: &mut dyn ImplicitOde,
        start: &State,
        end: &mut State,
        control: &StepControl,
    ) -> Result<(), StepError> {
        let Newmark { family, target, accel, xdot, a, .. } = self;
        let NewmarkCoefficients { alpha_m, alpha_f, beta, gamma, trapezoidal } = *family;
        let Some(newton) = &mut self.newton else { return Err(StepError::View { t: start.t }) };
        let h = end.t - start.t;
        if self.adaptive {
            newton.options.tolerance = self.options.tolerance.min(1e-2 * control.rtol).max(1e-12);
        }
        let share = (1.0 - alpha_f) / (1.0 - alpha_m);
        // a₁ = share v̇₁ + known
        for i in 0..a[0].len() {
            let known = (alpha_f * accel[0].vdot[i] - alpha_m * a[0][i]) / (1.0 - alpha_m);
            target.v[i] = start.v[i] + h * ((1.0 - gamma) * a[0][i] + gamma * known);
            target.delta[i] = h * start.v[i] + h * h * ((0.5 - beta) * a[0][i] + beta * known);
        }
        for (i, x) in target.x.iter_mut().enumerate() {
            *x = start.x[i] + 0.5 * h * xdot[0][i];
        }
        (target.t, target.h, target.gamma_x) = (end.t, h, 0.5 * h);
        (target.gamma, target.beta) = (h * gamma * share, h * h * beta * share);
        if trapezoidal {
            target.kinematics = Kinematics::Velocities;
            target.delta.iter_mut().zip(&start.v).for_each(|(d, v)| *d = 0.5 * h * v);
        }
        newton.accel.clone_from(&accel[0]);
        newton.solve(view, start, target)?;

        end.q.copy_from_slice(&newton.state.q);
        end.v.copy_from_slice(&newton.state.v);
        end.x.copy_from_slice(&newton.state.x);
        accel[1].clone_from(&newton.accel);
        xdot[1].copy_from_slice(&newton.xdot);
        for i in 0..a[0].len() {
            let known = (alpha_f * accel[0].vdot[i] - alpha_m * a[0][i]) / (1.0 - alpha_m);
            a[1][i] = share * accel[1].vdot[i] + known;
        }
        Ok(())
    }

    fn error(
        &mut self,
        view: &mut dyn ImplicitOde,
        start: &State,
        end: &State,
        control: &StepControl,
    ) -> f64 {
        let h = end.t - start.t;
        let Newmark { family, accel, xdot, before, delta, target, .. } = self;
        // positions, as numbers of q
        let weight = h * h * (family.beta - 1.0 / 6.0).abs().max(1.0 / 12.0);
        for (i, d) in target.delta.iter_mut().enumerate() {
            *d = weight * (accel[1].vdot[i] - accel[0].vdot[i]);
        }
        delta.q.copy_from_slice(&end.q);
        view.retract(&mut delta.q, &target.delta);
        delta.q.iter_mut().zip(&end.q).for_each(|(d, q)| *d -= q);
        // v and x: h³/12 of their third derivatives
        let third = |y: [&[f64]; 3], i: usize| {
            let slope = (y[2][i] - y[1][i]) / h;
            match before.2 {
                0.0 => h * h * slope / 12.0,
                hp => h * h * h / 6.0 * (slope - (y[1][i] - y[0][i]) / hp) / (h + hp),
            }
        };
        for i in 0..delta.v.len() {
            delta.v[i] = third([&before.0, &accel[0].vdot, &accel[1].vdot], i);
        }
        for i in 0..delta.x.len() {
            delta.x[i] = third([&before.1, &xdot[0], &xdot[1]], i);
        }
        error_norm(view.structure(), control, start, end, delta)
    }

    fn accept(&mut self, _view: &mut dyn ImplicitOde, start: &State, end: &State) {
        self.before.0.copy_from_slice(&self.accel[0].vdot);
        self.before.1.copy_from_slice(&self.xdot[0]);
        self.before.2 = end.t - start.t;
    }

    fn advance_start(&mut self) {
        self.accel.swap(0, 1);
        self.xdot.swap(0, 1);
        self.a.swap(0, 1);
    }

    fn ends(&self) -> [End<'_>; 2] {
        [0, 1].map(|i| End { vdot: &self.accel[i].vdot, xdot: &self.xdot[i] })
    }

    fn multipliers(&self) -> &[f64] {
        &self.accel[1].lambda
    }

    fn report_counts(&mut self, view: &mut dyn ImplicitOde) -> u64 {
        self.newton.as_mut().map_or(0, |newton| newton.report_counts(view))
    }
}
