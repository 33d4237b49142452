//! Expressions of forces and controllers that switch or peak in positions, velocities and outputs: what a step could pass over.
//!
//! An integrator sees a force, and the rate of a state, at its stages only. Here each expression has its choices by value, with the
//! arguments that decide them, and bounds over a step ([`MotionBounds`]). The choices that outputs of controllers make are among those of each
//! expression that reads them. What has no bounds is listed: functions given by a program, and forces on the nodes of modal bodies.

mod gather;

pub use gather::{Unsearched, unsearched};

use crate::at::At;
use crate::formula::Formula;
use crate::motion::{BodiesAtInstant, MotionBounds};
use crate::reads::Reads;
use crate::system::System;
use sarrus_math::{Enclosure, Interval, Mat3, Vec3};
use sarrus_model::expr::Choice;
use std::cell::RefCell;
use std::sync::Arc;

/// The expressions of a system that switch or peak.
#[derive(Clone)]
pub struct Laws {
    list: Vec<Law>,
    switches: Vec<Switch>,
    /// Bodies that they read, and states by their places among the outputs, each once.
    bodies: Vec<u32>,
    states: Vec<u32>,
    /// Outputs of a controller.
    own: RefCell<Vec<f64>>,
}

/// An expression of a force, or of a controller.
#[derive(Clone)]
pub struct Law {
    /// Holds what it belongs to, such as "force `f`".
    pub title: String,
    /// True if it may peak where no choice changes.
    pub peaks: bool,
    /// True if it has bounds.
    pub bounded: bool,
    /// True if its second derivative has bounds.
    pub has_bends: bool,
    /// Bounds what it changes per unit of it: an acceleration \[1/kg, 1/(kg m²)\], or the rate of a state.
    pub response: f64,
    of: Of,
    formula: Formula,
    /// The values at which the formula is cut off.
    limits: [f64; 2],
    /// The bodies of its element.
    ids: Arc<[u32]>,
    reads: Reads,
}

/// Holds what an expression changes.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    /// Velocities, by a force: its index among the forces.
    Force(usize),
    /// A state of a controller: its index among the outputs.
    State(usize),
    /// The motion, by a constraint that acts.
    Row,
}

/// A choice of an expression.
#[derive(Clone)]
struct Switch {
    law: usize,
    what: LawSubject,
    /// Of a controller that the expression reads: which of those.
    by: Option<usize>,
}

#[derive(Clone)]
enum LawSubject {
    Choice(Formula, Choice),
    /// The value is cut off at these: of the expression itself, or of the controller's demand.
    Limits([f64; 2]),
}

impl Laws {
    /// Those of `system`; none where also no constraint of the model has such.
    pub fn new(system: &System) -> Option<Laws> {
        Some(gather::all(system, false)).filter(|laws| !laws.list.is_empty() || gather::has_rows(system))
    }

    /// The same with all others that depend on the position: polynomials, and functions given by a program, which have no bounds. Those
    /// that read controllers are left out.
    pub fn all(system: &System) -> Option<Laws> {
        Some(gather::all(system, true)).filter(|laws| !laws.list.is_empty())
    }

    /// The expressions of the constraints that act in `system`, where these are no polynomials: along a motion they vanish.
    pub fn rows(system: &System) -> Option<Laws> {
        Some(gather::rows(system)).filter(|laws| !laws.list.is_empty())
    }

    /// The expressions.
    pub fn list(&self) -> &[Law] {
        &self.list
    }

    /// Number of choices they make.
    pub fn switches(&self) -> usize {
        self.switches.len()
    }

    /// The expression that makes choice `i`.
    pub fn law_of(&self, i: usize) -> usize {
        self.switches[i].law
    }

    /// The bodies that they read.
    pub fn bodies(&self) -> impl Iterator<Item = usize> {
        self.bodies.iter().map(|body| *body as usize)
    }

    /// The states of controllers that they read, by their places among the outputs.
    pub fn states(&self) -> impl Iterator<Item = usize> {
        self.states.iter().map(|state| *state as usize)
    }

    /// The argument of choice `i` in a frame.
    pub fn argument(&self, i: usize, frame: &BodiesAtInstant) -> f64 {
        let Switch { law, what, by } = &self.switches[i];
        let law = &self.list[*law];
        let element = by.map(|by| &law.reads.controllers[by]);
        let at = law.at(frame);
        let at = At { ids: element.map_or(at.ids, |element| &element.ids), ..at };
        match (what, element) {
            (LawSubject::Choice(formula, choice), _) => formula.argument(*choice, &at),
            (LawSubject::Limits(_), None) => law.formula.eval(&at),
            (LawSubject::Limits(_), Some(element)) => {
                let cut_off = element.controller.cut_off();
                cut_off.map_or(f64::NAN, |own| own.demand(&at, element.states_in(at.outs)))
            }
        }
    }

    /// Bounds on it between two frames.
    pub fn enclose_argument(
        &self,
        i: usize,
        motion: &MotionBounds,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> Enclosure {
        let Switch { law, what, by } = &self.switches[i];
        let law = &self.list[*law];
        let element = by.map(|by| &law.reads.controllers[by]);
        let ids = element.map_or(&law.ids[..], |element| &element.ids);
        motion.among(&law.reads, ids, a, b, |at| match (what, element) {
            (LawSubject::Choice(formula, choice), _) => formula.enclose_argument(*choice, at),
            (LawSubject::Limits(_), None) => law.formula.enclose(at),
            (LawSubject::Limits(_), Some(element)) => {
                let cut_off = element.controller.cut_off();
                cut_off.map_or(Enclosure::jumping(Interval::ALL), |own| {
                    own.enclose_demand(at, element.states_in(at.outs))
                })
            }
        })
    }

    /// The neighbouring levels between which the argument `u` of choice `i` is.
    pub fn cell(&self, i: usize, u: f64) -> [f64; 2] {
        match &self.switches[i].what {
            LawSubject::Choice(formula, choice) => formula.program().cell(*choice, u),
            LawSubject::Limits([lo, _]) if u < *lo => [f64::NEG_INFINITY, *lo],
            LawSubject::Limits([_, hi]) if u > *hi => [*hi, f64::INFINITY],
            LawSubject::Limits(limits) => *limits,
        }
    }

    /// Returns what positions, velocities and states that are off by `delta` make of the argument of choice `i`; `scratch` is overwritten.
    pub fn noise(&self, i: usize, frame: &BodiesAtInstant, scratch: &mut BodiesAtInstant, delta: f64) -> f64 {
        self.shift(self.law_of(i), frame, scratch, [delta; 2]);
        (self.argument(i, scratch) - self.argument(i, frame)).abs()
    }

    /// Computes what positions that are off by the first of `deltas`, and velocities and states by the second, make of expression `law`.
    pub fn noise_of_value(
        &self,
        law: usize,
        frame: &BodiesAtInstant,
        scratch: &mut BodiesAtInstant,
        deltas: [f64; 2],
    ) -> f64 {
        let value = self.list[law].value(frame);
        let [a, b] = self.values_off(law, frame, scratch, deltas);
        (a - value).abs().max((b - value).abs())
    }

    /// By how much the expression that makes choice `i` differs where they are off one way and the other.
    pub fn jump(&self, i: usize, frame: &BodiesAtInstant, scratch: &mut BodiesAtInstant, delta: f64) -> f64 {
        let [a, b] = self.values_off(self.law_of(i), frame, scratch, [delta; 2]);
        (a - b).abs()
    }

    fn values_off(
        &self,
        law: usize,
        frame: &BodiesAtInstant,
        scratch: &mut BodiesAtInstant,
        deltas: [f64; 2],
    ) -> [f64; 2] {
        [1.0, -1.0].map(|sign| {
            self.shift(law, frame, scratch, deltas.map(|delta| sign * delta));
            self.list[law].value(scratch)
        })
    }

    /// A frame whose positions, and velocities and states, of those that `law` reads, are off by up to two numbers.
    fn shift(
        &self,
        law: usize,
        frame: &BodiesAtInstant,
        out: &mut BodiesAtInstant,
        [positions, rates]: [f64; 2],
    ) {
        let reads = &self.list[law].reads;
        // so that sums and differences of what is read are off too
        let sign = |k: usize| if k.is_multiple_of(2) { 1.0 } else { -0.7 };
        out.copy_from(frame);
        for (k, body) in reads.bodies.iter().map(|body| *body as usize).filter(|body| *body > 0).enumerate() {
            let by = Vec3([1.0, 0.6, -0.8]) * sign(k);
            let (pose, twist) = (&mut out.poses[body], &mut out.twists[body]);
            let rotation = by * positions;
            pose.p += rotation;
            pose.angle += rotation[2];
            pose.rot =
                pose.rot * Mat3::from_quat([1.0, 0.5 * rotation[0], 0.5 * rotation[1], 0.5 * rotation[2]]);
            for rate in [&mut twist.v, &mut twist.w, &mut twist.w_W] {
                *rate += by * rates;
            }
        }
        for (k, state) in reads.states.iter().filter(|state| !state.held).enumerate() {
            out.outs[state.index] += sign(k) * rates;
        }
        reads.follow(out, &mut self.own.borrow_mut());
    }
}

impl Law {
    /// Returns whether it acts in `system`, of the same model.
    pub fn acts(&self, system: &System) -> bool {
        match self.of {
            Of::Force(force) => system.forces.get(force).is_some_and(|force| force.enabled),
            Of::State(_) | Of::Row => true,
        }
    }

    /// The bodies that it acts on or reads.
    pub fn ids(&self) -> impl Iterator<Item = usize> {
        self.ids.iter().map(|id| *id as usize)
    }

    /// Its value in a frame.
    pub fn value(&self, frame: &BodiesAtInstant) -> f64 {
        let [lo, hi] = self.limits;
        self.formula.eval(&self.at(frame)).max(lo).min(hi)
    }

    /// Bounds on it between two frames.
    pub fn enclose(&self, motion: &MotionBounds, a: &BodiesAtInstant, b: &BodiesAtInstant) -> Enclosure {
        let value = motion.among(&self.reads, &self.ids, a, b, |at| self.formula.enclose(at));
        let [lo, hi] = self.limits.map(|level| Enclosure::constant(Interval::point(level)));
        match self.limits.map(f64::is_finite) {
            [true, true] => value.most(lo).least(hi),
            [true, false] => value.most(lo),
            [false, true] => value.least(hi),
            [false, false] => value,
        }
    }

    /// The size of what it changes: the largest speed of the bodies that it reads \[m/s, rad/s\], or the state.
    pub fn size(&self, frame: &BodiesAtInstant) -> f64 {
        if let Of::State(index) = self.of {
            return frame.outs[index].abs();
        }
        let bodies = if self.reads.bodies.is_empty() { &self.ids } else { &self.reads.bodies[..] };
        let twists = bodies.iter().map(|body| &frame.twists[*body as usize]);
        twists.map(|twist| twist.v.norm().max(twist.w.norm())).fold(0.0, f64::max)
    }

    fn at<'a>(&'a self, frame: &'a BodiesAtInstant) -> At<'a, f64> {
        let ((t, twists), BodiesAtInstant { poses, discrete, outs, .. }) = (frame.read(), frame);
        At { t, poses, twists, ids: &self.ids, discrete, outs }
    }
}
