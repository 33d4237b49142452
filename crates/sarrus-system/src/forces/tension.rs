//! The law of a spring-damper: its tension as a function of length and speed.
//!
//! T = E + c l̇ with the elastic part E = k (l - rest) + preload, or an expression. Tension shortens: the power is -T l̇.
//!
//! `pull` keeps only E > 0, `push` only E < 0, and the damping is then at most |E|: a slack cable neither pulls nor damps, a taut
//! one never pushes, and T is continuous where it becomes taut. Without elasticity, k = preload = 0, the damper acts alone where its
//! force has the sign that is kept. Of an expression the sign of T decides.
//!
//! Energy of the linear law: ∫E dl is stored, and (T - E) l̇ is dissipated. It is never negative: T - E is the damping, which has
//! the sign of l̇.

use super::NO_LIMITS;
use super::prelude::*;

/// Identifies which tension acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// Both signs.
    Both,
    /// T > 0: a cable.
    Pull,
    /// T < 0: a stop.
    Push,
}

impl Only {
    fn clamp<R: Real>(self, tension: R) -> R {
        match self {
            Only::Pull if tension.value() < 0.0 => R::zero(),
            Only::Push if tension.value() > 0.0 => R::zero(),
            _ => tension,
        }
    }
}

/// Tension as a function of length and speed.
#[derive(Clone, Debug)]
pub enum TensionLaw {
    /// k (l - rest) + preload + c l̇.
    Linear {
        /// k ≥ 0 \[N/m, N m/rad\].
        stiffness: f64,
        /// c ≥ 0 \[N s/m, N m s/rad\].
        damping: f64,
        /// Length without elastic tension \[m, rad\].
        rest: f64,
        /// Tension at rest \[N, N m\].
        preload: f64,
    },
    /// Anything.
    Expression(Formula),
}

/// A law, and which part of it acts.
#[derive(Clone, Debug)]
pub struct Tension {
    /// The law.
    pub law: TensionLaw,
    /// Identifies which sign of it acts.
    pub only: Only,
}

impl Tension {
    /// T \[N, N m\].
    pub fn value<R: Real>(&self, at: &At<R>, along: &LineOfAction) -> R {
        match &self.law {
            TensionLaw::Linear { .. } => {
                let elastic = self.only.clamp(self.elastic(along.length(at)));
                elastic + self.damper(elastic, at, along)
            }
            TensionLaw::Expression(formula) => self.only.clamp(formula.eval(at)),
        }
    }

    /// T - E, given the elastic part that acts.
    fn damper<R: Real>(&self, elastic: R, at: &At<R>, along: &LineOfAction) -> R {
        let TensionLaw::Linear { stiffness, damping, preload, .. } = self.law else { return R::zero() };
        if damping == 0.0 {
            return R::zero();
        }
        let force = along.speed(at) * damping;
        match self.only {
            Only::Both => force,
            only if stiffness == 0.0 && preload == 0.0 => only.clamp(force),
            _ => at_most(elastic, force),
        }
    }

    /// Calls `found` with what is cut off of it, and the values at which that is: an expression, or the linear law where only one sign acts.
    pub fn laws(&self, along: &LineOfAction, found: &mut dyn FnMut(&Formula, [f64; 2])) {
        let limits = match self.only {
            Only::Both => NO_LIMITS,
            Only::Pull => [0.0, f64::INFINITY],
            Only::Push => [f64::NEG_INFINITY, 0.0],
        };
        let text = match &self.law {
            TensionLaw::Expression(formula) => return found(formula, limits),
            TensionLaw::Linear { .. } if self.only == Only::Both => return,
            TensionLaw::Linear { stiffness: 0.0, damping, preload: 0.0, .. } => format!("{damping:e}*speed"),
            TensionLaw::Linear { stiffness, rest, preload, .. } => {
                format!("{stiffness:e}*(length - ({rest:e})) + ({preload:e})")
            }
        };
        let [length, speed] = along.signals();
        let formula = Formula::of(&text, vec![("length", length), ("speed", speed)]);
        formula.iter().for_each(|formula| found(formula, limits));
    }

    /// E before it is cut off.
    fn elastic<R: Real>(&self, length: R) -> R {
        match &self.law {
            TensionLaw::Linear { stiffness, rest, preload, .. } => (length - *rest) * *stiffness + *preload,
            TensionLaw::Expression(_) => R::zero(),
        }
    }

    /// ∫E dl from where it vanishes, for k = 0 from rest \[J\].
    pub fn stored<R: Real>(&self, length: R) -> R {
        let TensionLaw::Linear { stiffness, rest, .. } = &self.law else { return R::zero() };
        let elastic = self.only.clamp(self.elastic(length));
        if *stiffness > 0.0 { elastic * elastic / (2.0 * stiffness) } else { elastic * (length - *rest) }
    }

    /// Heat \[W\].
    pub fn heat<R: Real>(&self, at: &At<R>, along: &LineOfAction) -> R {
        let TensionLaw::Linear { damping, .. } = &self.law else { return R::zero() };
        if *damping == 0.0 {
            return R::zero();
        }
        let elastic = self.only.clamp(self.elastic(along.length(at)));
        self.damper(elastic, at, along) * along.speed(at)
    }

    /// Returns whether it dissipates only in a part of the motion: a step may miss where that begins.
    pub fn is_one_sided_damper(&self) -> bool {
        self.only != Only::Both && matches!(self.law, TensionLaw::Linear { damping, .. } if damping > 0.0)
    }

    /// Returns whether stored energy and heat are all of its power.
    pub fn accounts_for_power(&self) -> bool {
        matches!(self.law, TensionLaw::Linear { .. })
    }
}
