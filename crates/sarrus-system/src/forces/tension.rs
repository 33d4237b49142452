//! The law of a spring-damper: its tension as a function of length and speed.
//!
//! T = k (l - rest) + preload + c l̇, or an expression; `pull` keeps only T > 0, `push` only T < 0. Tension shortens:
//! the power is -T l̇.
//!
//! Books of the linear law: with the elastic part E = k (l - rest) + preload cut off like T itself, stored energy is
//! ∫E dl and (T - E) l̇ is heat. It is never negative: cutting off keeps the order of T and E, and without it
//! (T - E) l̇ = c l̇².

use super::prelude::*;

/// Which tension acts.
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
    fn keep<R: Real>(self, tension: R) -> R {
        match self {
            Only::Pull if tension.value() < 0.0 => R::zero(),
            Only::Push if tension.value() > 0.0 => R::zero(),
            _ => tension,
        }
    }
}

/// Tension as a function of length and speed.
#[derive(Clone, Debug)]
pub enum Law {
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
    pub law: Law,
    /// Which sign of it acts.
    pub only: Only,
}

impl Tension {
    /// T \[N, N m\].
    pub fn value<R: Real>(&self, at: &At<R>, along: &Along) -> R {
        self.only.keep(match &self.law {
            Law::Linear { damping, .. } => {
                let elastic = self.elastic(along.length(at));
                if *damping == 0.0 { elastic } else { elastic + along.speed(at) * *damping }
            }
            Law::Expression(formula) => formula.eval(at),
        })
    }

    /// E before it is cut off.
    fn elastic<R: Real>(&self, length: R) -> R {
        match &self.law {
            Law::Linear { stiffness, rest, preload, .. } => (length - *rest) * *stiffness + *preload,
            Law::Expression(_) => R::zero(),
        }
    }

    /// ∫E dl from where it vanishes, for k = 0 from rest \[J\].
    pub fn stored<R: Real>(&self, length: R) -> R {
        let Law::Linear { stiffness, rest, .. } = &self.law else { return R::zero() };
        let elastic = self.only.keep(self.elastic(length));
        if *stiffness > 0.0 { elastic * elastic / (2.0 * stiffness) } else { elastic * (length - *rest) }
    }

    /// Heat \[W\].
    pub fn heat<R: Real>(&self, at: &At<R>, along: &Along) -> R {
        let Law::Linear { damping, .. } = &self.law else { return R::zero() };
        if *damping == 0.0 {
            return R::zero();
        }
        let elastic = self.only.keep(self.elastic(along.length(at)));
        let speed = along.speed(at);
        match self.only {
            Only::Both => speed * speed * *damping,
            _ => (self.value(at, along) - elastic) * speed,
        }
    }

    /// Whether stored energy and heat are all of its power.
    pub fn keeps_books(&self) -> bool {
        matches!(self.law, Law::Linear { .. })
    }
}
