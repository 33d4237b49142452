//! A method that steps in the coordinates of a [`Chart`], for a run that sees the problem's own.
//!
//! q̇ and ẏ of the chart's coordinates q and speeds y. Where these satisfy every constraint, ẏ comes from the chart
//! itself (articulated bodies, of a tree). Otherwise the problem's accelerations at the expanded state, found by any formulation
//! with all rows, give it: v̇ = V ẏ + V̇ y holds exactly up to rounding, as the rows that the chart satisfies are among
//! those solved for. Coordinates that the chart knows as functions of time it puts in place itself. After a step the problem brings the expanded state onto what is left of its rows, and the chart
//! reads its coordinates again: what the chart satisfies of itself never drifts.
//!
//! A state that comes in is taken as it is where it is the one that went out; otherwise the chart reads it, so that
//! the caller that changes the state of a run (events, breaks) need not know.
//!
//! Needs the [`Ode`] view.
//!
//! Costs two passes over the chart per right-hand side on top of the problem's; where the chart gives ẏ, it saves the
//! factorization.

use crate::chart::Chart;
use crate::control::StepControl;
use crate::error::{SolveError, StepError};
use crate::problem::{Accel, Equations, GroupKind, Stage, State, Structure};
use crate::rotations::MOST_ROTATION;
use crate::views::{Ode, Step, StepInfo};

/// A method in the coordinates of a chart.
pub struct InChart {
    method: Box<dyn Step>,
    workspace: ChartWorkspace,
    /// True if the chart has coordinates of rotations in space.
    has_quaternions: bool,
    /// Coordinates at the end of the last step.
    end: State,
    /// The problem's state there.
    shown: State,
    /// True if they belong to a step.
    known: bool,
    /// Coordinates inside the step.
    between: State,
}

/// The chart, and what right-hand sides need.
struct ChartWorkspace {
    chart: Box<dyn Chart>,
    /// True if the chart finds accelerations, where it can.
    own: bool,
    constrained: bool,
    /// Coordinates of a state that is moved.
    moved: State,
    /// The problem's states and their rates.
    full: State,
    other: State,
    rates: State,
    /// The problem's f; J and the rest are never filled.
    eq: Equations,
    accel: Accel,
}

impl InChart {
    /// `method` in the coordinates of `chart`. `own` lets the chart find accelerations where it can.
    pub fn new(method: Box<dyn Step>, chart: Box<dyn Chart>, own: bool) -> InChart {
        let state = State::default;
        let has_quaternions = chart.structure().groups.iter().any(|g| g.kind == GroupKind::Rotation);
        let workspace = ChartWorkspace {
            own: own && chart.is_whole(),
            chart,
            constrained: false,
            moved: state(),
            full: state(),
            other: state(),
            rates: state(),
            eq: Equations::default(),
            accel: Accel::default(),
        };
        InChart {
            method,
            workspace,
            has_quaternions,
            end: state(),
            shown: state(),
            known: false,
            between: state(),
        }
    }
}

impl Step for InChart {
    fn order(&self) -> u32 {
        self.method.order()
    }

    fn dense_order(&self) -> u32 {
        self.method.dense_order()
    }

    fn is_adaptive(&self) -> bool {
        self.method.is_adaptive()
    }

    fn rotation_limit(&self) -> f64 {
        if self.has_quaternions { self.method.rotation_limit() } else { MOST_ROTATION }
    }

    fn prepare(&mut self, structure: &Structure) {
        let ChartWorkspace { chart, moved, full, other, rates, eq, accel, .. } = &mut self.workspace;
        let own = chart.structure();
        self.method.prepare(own);
        for state in [&mut self.end, &mut self.between, moved] {
            resize(state, own);
        }
        for state in [&mut self.shown, full, other, rates] {
            resize(state, structure);
        }
        *eq = Equations::zeros(structure);
        *accel = Accel::zeros(structure);
        self.known = false;
    }

    fn step(
        &mut self,
        ode: &mut dyn Ode,
        s: &mut State,
        control: &mut StepControl,
    ) -> Result<StepInfo, StepError> {
        if !(self.known && self.shown == *s) {
            self.workspace.chart.compress(s, &mut self.end);
            self.workspace.chart.accept(&self.end);
        }
        self.known = false;
        let info = self.method.step(
            &mut ChartRhs { ode, workspace: &mut self.workspace },
            &mut self.end,
            control,
        )?;
        self.workspace.chart.expand(&self.end, s);
        self.shown.copy_from(s);
        self.known = true;
        Ok(info)
    }

    fn dense(
        &mut self,
        ode: &mut dyn Ode,
        control: &mut StepControl,
        t: f64,
        out: &mut State,
    ) -> Result<(), StepError> {
        self.method.dense(
            &mut ChartRhs { ode, workspace: &mut self.workspace },
            control,
            t,
            &mut self.between,
        )?;
        self.workspace.chart.expand(&self.between, out);
        Ok(())
    }
}

fn resize(state: &mut State, s: &Structure) {
    state.q.resize(s.nq, 0.0);
    state.v.resize(s.nv, 0.0);
    state.x.resize(s.nx, 0.0);
}

/// A right-hand side in the coordinates of a chart.
struct ChartRhs<'a> {
    ode: &'a mut dyn Ode,
    workspace: &'a mut ChartWorkspace,
}

impl ChartRhs<'_> {
    /// ẏ from the chart, with the problem's f; without, where nothing acts but weight.
    fn own_rates(&mut self, s: &State, dv: &mut [f64], dx: &mut [f64]) -> Result<(), SolveError> {
        let ChartWorkspace { chart, full, eq, accel, .. } = &mut *self.workspace;
        let Some(view) = self.ode.staggered() else { return self.rates(s, dv, dx) };
        if view.has_only_weight() && chart.gravity_accelerations(s, dv) {
            dx.fill(0.0);
            view.note(1, 0, 0);
            return Ok(());
        }
        chart.expand(s, full);
        view.update(full, Stage::LOADS, eq);
        if let Some(index) = eq.f.iter().position(|f| !f.is_finite()) {
            return Err(SolveError::NotFinite { quantity: "f", index });
        }
        chart.accelerations(&eq.f, dv);
        chart.efforts(&mut eq.phi_t, &mut accel.lambda);
        view.xdot(full, eq, accel, dx);
        view.note(1, 0, 0);
        Ok(())
    }

    /// ẏ from the problem's accelerations.
    fn rates(&mut self, s: &State, dv: &mut [f64], dx: &mut [f64]) -> Result<(), SolveError> {
        let ChartWorkspace { chart, full, moved, rates, constrained, .. } = &mut *self.workspace;
        chart.expand(s, full);
        if *constrained {
            moved.copy_from(s);
            if self.ode.project_stage(full) {
                chart.compress(full, moved);
                chart.expand(moved, full);
            }
        }
        let solved = self.ode.rhs(full, &mut rates.q, &mut rates.v, dx);
        chart.speed_rates(&rates.v, dv);
        solved
    }
}

impl Ode for ChartRhs<'_> {
    fn structure(&self) -> &Structure {
        self.workspace.chart.structure()
    }

    fn begin_step(&mut self, h: f64) {
        self.ode.begin_step(h);
    }

    fn set_constrained_stages(&mut self, constrained: bool) -> bool {
        self.workspace.constrained = !self.workspace.own && self.ode.set_constrained_stages(constrained);
        self.workspace.constrained
    }

    fn is_exact(&self) -> bool {
        self.ode.is_exact()
    }

    fn project_tangent(&mut self, s: &State, delta: &mut State) -> bool {
        let ChartWorkspace { chart, full, other, moved, rates, own, .. } = &mut *self.workspace;
        if *own {
            return false;
        }
        // the change as one of the problem's state, and back
        chart.expand(s, full);
        let sum = |to: &mut [f64], a: &[f64], b: &[f64]| {
            to.iter_mut().zip(a).zip(b).for_each(|((to, a), b)| *to = a + b);
        };
        let difference = |to: &mut [f64], a: &[f64], b: &[f64]| {
            to.iter_mut().zip(a).zip(b).for_each(|((to, a), b)| *to = a - b);
        };
        moved.copy_from(s);
        sum(&mut moved.q, &s.q, &delta.q);
        sum(&mut moved.v, &s.v, &delta.v);
        chart.expand(moved, other);
        difference(&mut rates.q, &other.q, &full.q);
        difference(&mut rates.v, &other.v, &full.v);
        if !self.ode.project_tangent(full, rates) {
            return false;
        }
        sum(&mut other.q, &full.q, &rates.q);
        sum(&mut other.v, &full.v, &rates.v);
        chart.compress(other, moved);
        difference(&mut delta.q, &moved.q, &s.q);
        difference(&mut delta.v, &moved.v, &s.v);
        true
    }

    fn rhs(&mut self, s: &State, dq: &mut [f64], dv: &mut [f64], dx: &mut [f64]) -> Result<(), SolveError> {
        if self.workspace.own {
            self.own_rates(s, dv, dx)?;
        } else {
            self.rates(s, dv, dx)?;
        }
        let s = if self.workspace.constrained { &self.workspace.moved } else { s };
        self.workspace.chart.qdot(s, dq);
        Ok(())
    }

    fn normalize(&self, q: &mut [f64]) {
        self.workspace.chart.normalize(q);
    }

    fn finish_step(&mut self, s: &mut State, h: f64) -> Result<bool, StepError> {
        let ChartWorkspace { chart, full, own, .. } = &mut *self.workspace;
        chart.fill(s);
        chart.expand(s, full);
        let mut moved = false;
        match if *own { self.ode.staggered() } else { None } {
            Some(view) => view.accept(full),
            None => {
                moved = self.ode.finish_step(full, h)?;
                if moved {
                    chart.compress(full, s);
                }
            }
        }
        chart.accept(s);
        Ok(moved)
    }
}
