//! Expressions of forces that switch or peak in positions and velocities: what a step could pass over.
//!
//! An integrator sees a force at its stages only. Here each expression has its choices by value, with the arguments that decide them,
//! and bounds over a step ([`Motion`]). Expressions that read controllers, and functions given by a program, have no bounds.

use crate::at::At;
use crate::body::Body;
use crate::formula::Formula;
use crate::motion::{Frame, Motion};
use crate::system::System;
use sarrus_math::Enclosure;
use sarrus_model::expr::Choice;
use std::sync::Arc;

/// The expressions of a system's forces that switch or peak.
#[derive(Clone)]
pub struct Laws {
    list: Vec<Law>,
    switches: Vec<Switch>,
    /// Bodies that they read, each once.
    bodies: Vec<u32>,
}

/// An expression of a force.
#[derive(Clone)]
pub struct Law {
    /// Name of the force.
    pub name: String,
    /// Whether it may peak where no choice changes.
    pub peaks: bool,
    /// Whether it reads velocities: then its second derivative has no bounds.
    pub moves: bool,
    /// Whether it has bounds.
    pub bounded: bool,
    /// Bounds the acceleration per unit of it \[1/kg, 1/(kg m²)\].
    pub response: f64,
    /// Place among the forces.
    force: usize,
    formula: Formula,
    /// The force's bodies, and those that the expression reads.
    ids: Arc<[u32]>,
    bodies: Vec<u32>,
}

/// A choice of an expression.
#[derive(Clone)]
struct Switch {
    law: usize,
    formula: Formula,
    what: What,
}

#[derive(Clone)]
enum What {
    Choice(Choice),
    /// The value is cut off at these.
    Limits([f64; 2]),
}

impl Laws {
    /// Those of `system`, if there are any.
    pub fn new(system: &System) -> Option<Laws> {
        Laws::of(system, false)
    }

    /// The same with all others that depend on the position: polynomials, and functions given by a program, which have no bounds.
    pub fn all(system: &System) -> Option<Laws> {
        Laws::of(system, true)
    }

    fn of(system: &System, all: bool) -> Option<Laws> {
        let (mut list, mut switches) = (Vec::new(), Vec::new());
        for (force, element) in system.forces.iter().enumerate() {
            let ids: Arc<[u32]> = element.ids.as_slice().into();
            let bodies = &system.directory.bodies;
            let response =
                element.ids.iter().map(|id| response(&bodies[*id as usize], *id)).fold(0.0, f64::max);
            element.load.laws(&mut |formula, limits| {
                let bounded = formula.is_bounded();
                if formula.needs_only_time() || formula.needs_controller() || !(bounded || all) {
                    return;
                }
                let law = list.len();
                let mut own = Vec::new();
                formula.choices(&mut |formula, choice| {
                    if !formula.needs_only_time() {
                        own.push(Switch { law, formula: formula.clone(), what: What::Choice(choice) });
                    }
                });
                if limits.iter().any(|limit| limit.is_finite()) {
                    own.push(Switch { law, formula: formula.clone(), what: What::Limits(limits) });
                }
                let peaks = !formula.is_polynomial();
                if !peaks && own.is_empty() && !all {
                    return;
                }
                let mut read = Vec::new();
                formula.bodies(&mut |place| read.extend(ids.get(place)));
                read.sort_unstable();
                read.dedup();
                let (name, formula, ids) = (element.name.clone(), formula.clone(), ids.clone());
                let moves = formula.needs_velocity();
                list.push(Law { name, peaks, moves, bounded, response, force, formula, ids, bodies: read });
                switches.append(&mut own);
            });
        }
        let mut bodies: Vec<u32> = list.iter().flat_map(|law: &Law| law.bodies.iter().copied()).collect();
        bodies.sort_unstable();
        bodies.dedup();
        (!list.is_empty()).then_some(Laws { list, switches, bodies })
    }

    /// The expressions.
    pub fn list(&self) -> &[Law] {
        &self.list
    }

    /// How many choices they make.
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

    /// The argument of choice `i` in a frame.
    pub fn argument(&self, i: usize, frame: &Frame) -> f64 {
        let Switch { law, formula, what } = &self.switches[i];
        let at = self.list[*law].at(frame);
        match what {
            What::Choice(choice) => formula.argument(*choice, &at),
            What::Limits(_) => formula.eval(&at),
        }
    }

    /// Bounds on it between two frames.
    pub fn enclose_argument(&self, i: usize, motion: &Motion, a: &Frame, b: &Frame) -> Enclosure {
        let Switch { law, formula, what } = &self.switches[i];
        self.list[*law].between(motion, a, b, |at| match what {
            What::Choice(choice) => formula.enclose_argument(*choice, at),
            What::Limits(_) => formula.enclose(at),
        })
    }

    /// The neighbouring levels between which the argument `u` of choice `i` is.
    pub fn cell(&self, i: usize, u: f64) -> [f64; 2] {
        let Switch { formula, what, .. } = &self.switches[i];
        match what {
            What::Choice(choice) => formula.program().cell(*choice, u),
            What::Limits([lo, _]) if u < *lo => [f64::NEG_INFINITY, *lo],
            What::Limits([_, hi]) if u > *hi => [*hi, f64::INFINITY],
            What::Limits(limits) => *limits,
        }
    }

    /// What positions and velocities that are off by `delta` make of the argument of choice `i`; `scratch` is overwritten.
    pub fn noise(&self, i: usize, frame: &Frame, scratch: &mut Frame, delta: f64) -> f64 {
        let law = &self.list[self.switches[i].law];
        scratch.copy_from(frame);
        for (k, body) in law.bodies.iter().map(|body| *body as usize).filter(|body| *body > 0).enumerate() {
            let off = if k.is_multiple_of(2) { delta } else { -delta };
            let (pose, twist) = (&mut scratch.poses[body], &mut scratch.twists[body]);
            pose.angle += off;
            for number in [&mut pose.p, &mut twist.v, &mut twist.w, &mut twist.w_W] {
                number.0.iter_mut().for_each(|x| *x += off);
            }
        }
        (self.argument(i, scratch) - self.argument(i, frame)).abs()
    }
}

impl Law {
    /// Whether its force acts in `system`, of the same model.
    pub fn acts(&self, system: &System) -> bool {
        system.forces.get(self.force).is_some_and(|force| force.enabled)
    }

    /// The bodies that it acts on or reads.
    pub fn ids(&self) -> impl Iterator<Item = usize> {
        self.ids.iter().map(|id| *id as usize)
    }

    /// Its value in a frame.
    pub fn value(&self, frame: &Frame) -> f64 {
        self.formula.eval(&self.at(frame))
    }

    /// Bounds on it between two frames.
    pub fn enclose(&self, motion: &Motion, a: &Frame, b: &Frame) -> Enclosure {
        self.between(motion, a, b, |at| self.formula.enclose(at))
    }

    /// The largest speed of the bodies that it reads \[m/s, rad/s\].
    pub fn speed(&self, frame: &Frame) -> f64 {
        let twists = self.bodies.iter().map(|body| &frame.twists[*body as usize]);
        twists.map(|twist| twist.v.norm().max(twist.w.norm())).fold(0.0, f64::max)
    }

    fn at<'a>(&'a self, frame: &'a Frame) -> At<'a, f64> {
        let ((t, twists), Frame { poses, hints, .. }) = (frame.read(), frame);
        At { t, poses, twists, ids: &self.ids, hints, outs: &[] }
    }

    fn between<T>(&self, motion: &Motion, a: &Frame, b: &Frame, read: impl FnOnce(&At<Enclosure>) -> T) -> T {
        motion.among(&self.bodies, &self.ids, a, b, read)
    }
}

/// Bounds the acceleration of a body per unit of force or torque; the ground has none.
fn response(body: &Body, id: u32) -> f64 {
    if id == 0 {
        return 0.0;
    }
    let inertia = (0..3).map(|i| body.inertia.0[i][i]).filter(|x| *x > 0.0);
    inertia.chain([body.mass]).map(|x| 1.0 / x).fold(0.0, f64::max)
}
