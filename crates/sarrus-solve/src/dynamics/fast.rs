//! The way of most steps: accelerations and projections by [`tables`](crate::tables), where a model has them.
//!
//! Tables know full rank and nothing else. Where they say that a solution is not good, where a singular position may be near, or where
//! right-hand sides are taken on the constraints, the general path is taken, which decides everything anew.

use super::Dynamics;
use crate::problem::{Accel, Equations, Problem, Stage, State};
use crate::tables::{Health, Tables, tables};

/// Calls that are left to the general path after several that tables could not answer, at most.
const MOST_LEFT: u32 = 63;

/// Tables, once it is known whether there are any.
#[derive(Default)]
pub(super) enum Fast {
    /// No one has asked.
    #[default]
    Unknown,
    /// There are none.
    Without,
    /// There are.
    With(Box<FastPath>),
}

/// Tables, and when to ask them.
pub(super) struct FastPath {
    tables: Box<dyn Tables<f64>>,
    /// True if they know all loads.
    has_loads: bool,
    /// Holds what they found where others ask for it: the general path, until it has said whether a singular position is near, or what accounts for work.
    found: Accel,
    is_asking: bool,
    /// Calls to leave to the general path, and how many that will be the next time.
    left: u32,
    next: u32,
}

impl FastPath {
    /// Takes note of whether tables had an answer.
    fn note(&mut self, good: bool) {
        if good {
            self.next = 0;
        } else {
            self.left = self.next;
            self.next = (2 * self.next + 1).min(MOST_LEFT);
        }
    }

    /// Keeps what they found.
    fn store(&mut self, vdot: &[f64], health: &Health<f64>) {
        self.found.vdot.copy_from_slice(vdot);
        self.tables.multipliers(&mut self.found.lambda);
        (self.found.residual, self.found.refinements) = (health.residual, health.refinements);
    }

    /// Returns whether to ask.
    fn is_due(&mut self) -> bool {
        let due = self.left == 0;
        self.left = self.left.saturating_sub(1);
        due
    }
}

impl<P: Problem + ?Sized> Dynamics<'_, P> {
    /// Tables to ask now, if there are any. Taken out, to be put back.
    fn release_tables(&mut self) -> Option<Box<FastPath>> {
        self.make_tables();
        let due = match &mut self.fast {
            // off the constraints redundant rows look independent, by the square of the violation
            Fast::With(fast) => !self.constrained && !self.kkt.has_resolved_rank() && fast.is_due(),
            _ => false,
        };
        if !due {
            return None;
        }
        match std::mem::take(&mut self.fast) {
            Fast::With(fast) => Some(fast),
            _ => None,
        }
    }

    /// Finds out whether there are tables.
    fn make_tables(&mut self) {
        if let Fast::Unknown = self.fast {
            self.fast = self.find_tables().map_or(Fast::Without, Fast::With);
        }
    }

    fn find_tables(&self) -> Option<Box<FastPath>> {
        let plain = self.formulation.is_plain() && self.stabilization.is_plain();
        if !plain || self.problem.frictions() > 0 || !self.reactive.is_empty() {
            return None;
        }
        let model = self.problem.description()?;
        let tables = tables(&[&model])?;
        let found = Accel::zeros(self.problem.structure());
        Some(Box::new(FastPath {
            tables,
            has_loads: model.loads.is_some(),
            found,
            is_asking: false,
            left: 0,
            next: 0,
        }))
    }

    /// The right-hand side by tables. Returns whether it is there.
    pub(super) fn rhs_by_tables(
        &mut self,
        s: &State,
        dq: &mut [f64],
        dv: &mut [f64],
        dx: &mut [f64],
    ) -> bool {
        let Some(mut fast) = self.release_tables() else { return false };
        let has_loads = fast.has_loads && !self.problem.is_pushed();
        if !has_loads {
            self.problem.update(s, Stage::LOADS, &mut self.eq);
        }
        let f = (!has_loads).then_some(&*self.eq.f);
        let health = fast.tables.accelerate(s.t, &s.q, &s.v, f, dv);
        let good = health.good() == 1;
        fast.note(good);
        let plain = good && self.passes_singularity(s, health.pivot);
        fast.is_asking = good && !plain;
        if fast.is_asking {
            fast.store(dv, &health);
        }
        if plain {
            self.pivots = [self.pivots[0].min(health.pivot), self.pivots[1].max(health.pivot)];
            self.counts.refinements += u64::from(health.refinements);
            fast.tables.qdot(&s.q, &s.v, dq);
            if has_loads {
                dx.copy_from_slice(&fast.tables.powers());
            } else {
                fast.store(dv, &health);
                self.problem.xdot(s, &self.eq, &fast.found, dx);
            }
        }
        self.fast = Fast::With(fast);
        plain
    }

    /// Takes what tables have found at the time `t`, where the general path has said that no singular position is near: whether it was asked must
    /// not show in the results.
    pub(super) fn restore_tables(&mut self, t: f64) {
        let Fast::With(fast) = &mut self.fast else { return };
        if std::mem::take(&mut fast.is_asking) && self.near.as_ref().is_some_and(|near| near.is_outside(t)) {
            self.accel.clone_from(&fast.found);
        }
    }

    /// Moves `s` onto its constraints by tables. Returns whether that was done, and if so whether anything was moved.
    pub(super) fn project_by_tables(&mut self, s: &mut State) -> Option<bool> {
        if !self.stabilization.projects() {
            return None;
        }
        let mut fast = self.release_tables()?;
        let before = &mut self.nearest;
        before.q.clone_from(&s.q);
        before.v.clone_from(&s.v);
        let (health, iterations) = fast.tables.project(&mut s.q, &mut s.v);
        let good = health.good() == 1;
        fast.note(good);
        let done = if good {
            self.counts.projection_iterations += u64::from(iterations);
            Some(fast.tables.moved())
        } else {
            s.q.copy_from_slice(&before.q);
            s.v.copy_from_slice(&before.v);
            None
        };
        self.fast = Fast::With(fast);
        done
    }

    /// Φ and Φ̇ at `s`, into `eq`; of the rest of it nothing is promised.
    pub fn violation(&mut self, s: &State, eq: &mut Equations) {
        // also where no one has asked for them: what is noted of a step must not depend on who else looks
        self.make_tables();
        match &mut self.fast {
            Fast::With(fast) => fast.tables.violation(&s.q, &s.v, &mut eq.phi, &mut eq.phidot),
            _ => self.problem.update(s, Stage::VELOCITY, eq),
        }
    }

    /// Factorizations of tables so far.
    pub(super) fn factorizations_of_tables(&self) -> u64 {
        match &self.fast {
            Fast::With(fast) => fast.tables.factorizations(),
            _ => 0,
        }
    }
}
