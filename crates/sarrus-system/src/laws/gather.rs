//! Describes which expressions of a system are looked into over its steps, and which cannot be.

use super::{Law, LawSubject, Laws, Of, Switch};
use crate::body::Body;
use crate::contact::ContactSides;
use crate::controllers::ExpressionRole;
use crate::formula::Formula;
use crate::reads::Reads;
use crate::system::{ControllerElement, System};
use std::cell::RefCell;

/// Not cut off.
const NO_LIMITS: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// Holds what is not looked into: a step may pass over a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsearched {
    /// Holds what it is, such as "force `f`".
    pub title: String,
    /// Reason why it has no bounds.
    pub why: String,
}

/// Returns what of `system` is not looked into, each element once.
pub fn unsearched(system: &System) -> Vec<Unsearched> {
    let mut gather = Gather::new(system, false);
    gather.add_rows();
    let mut found = gather.unsearched;
    found.dedup_by(|a, b| a.title == b.title);
    found
}

/// The expressions of `system` that switch or peak and have bounds; `all` others of forces too, unless they read controllers.
pub(super) fn all(system: &System, all: bool) -> Laws {
    Gather::new(system, all).laws()
}

/// The expressions of the constraints that act in `system`.
pub(super) fn rows(system: &System) -> Laws {
    let mut found = Gather::empty(system, false);
    found.add_rows();
    found.laws()
}

impl Gather<'_> {
    fn laws(self) -> Laws {
        let Gather { list, switches, .. } = self;
        let bodies = once(list.iter().flat_map(|law| law.reads.bodies.iter().copied()));
        let states = list.iter().flat_map(|law| &law.reads.states).filter(|state| !state.held);
        let states = once(states.map(|state| state.index as u32));
        Laws { list, switches, bodies, states, own: RefCell::default() }
    }
}

/// Returns whether a constraint of the model, or a gap that a rigid contact may hold, is no polynomial.
pub(super) fn has_rows(system: &System) -> bool {
    let mut found = false;
    let mut note = |formula: &Formula| found |= !is_plain(formula);
    let all = system.all.elements.iter().chain(&system.elements);
    all.for_each(|element| element.rows.laws(&mut note));
    for entry in &system.contacts {
        if let ContactSides::Gap { rows, .. } = &entry.contact.what {
            note(&rows.0);
        }
    }
    found
}

fn once(all: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<u32> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}

struct Gather<'a> {
    system: &'a System,
    all: bool,
    list: Vec<Law>,
    switches: Vec<Switch>,
    unsearched: Vec<Unsearched>,
}

/// An element with expressions.
struct LawOwner<'a> {
    title: String,
    ids: &'a [u32],
    of: Of,
    response: f64,
}

impl<'a> Gather<'a> {
    fn empty(system: &'a System, all: bool) -> Gather<'a> {
        Gather { system, all, list: Vec::new(), switches: Vec::new(), unsearched: Vec::new() }
    }

    fn new(system: &'a System, all: bool) -> Gather<'a> {
        let mut found = Gather::empty(system, all);
        found.add_forces();
        if !all {
            system.controllers.iter().for_each(|element| found.add_rates(element));
        }
        found
    }

    fn add_forces(&mut self) {
        let bodies = &self.system.directory.bodies;
        for (force, element) in self.system.forces.iter().enumerate() {
            let owner = || LawOwner {
                title: format!("force `{}`", element.name),
                ids: &element.ids,
                of: Of::Force(force),
                response: element
                    .ids
                    .iter()
                    .map(|id| response(&bodies[*id as usize], *id))
                    .fold(0.0, f64::max),
            };
            element.load.laws(&mut |formula, limits| self.add(&owner(), formula, limits));
            element.load.unbounded(&mut |formula| {
                if !is_plain(formula) {
                    self.leave_out(&owner(), "it acts on the nodes of a modal body".to_string());
                }
            });
            if element.load.is_given() {
                self.leave_out(&owner(), "a program gives it".to_string());
            }
        }
    }

    fn add_rows(&mut self) {
        for element in &self.system.elements {
            let owner = || LawOwner {
                title: format!("{} `{}`", element.family.name(), element.name),
                ids: &element.ids,
                of: Of::Row,
                response: 1.0,
            };
            element.rows.laws(&mut |formula| self.add(&owner(), formula, NO_LIMITS));
            if let Some(why) = element.rows.unsearched() {
                self.leave_out(&owner(), why.to_string());
            }
        }
    }

    /// The rates of the states of a controller.
    fn add_rates(&mut self, element: &ControllerElement) {
        element.controller.parts(&mut |part, formula| {
            let ExpressionRole::Rate(state, factor) = part else { return };
            let Some((_, index)) = element.named_states().get(state) else { return };
            let owner = LawOwner {
                title: format!("controller `{}`", element.name),
                ids: &element.ids,
                of: Of::State(*index),
                response: factor.abs(),
            };
            self.add(&owner, formula, NO_LIMITS);
        });
    }

    fn leave_out(&mut self, owner: &LawOwner, why: String) {
        self.unsearched.push(Unsearched { title: owner.title.clone(), why });
    }

    fn add(&mut self, owner: &LawOwner, formula: &Formula, limits: [f64; 2]) {
        if formula.needs_only_time() {
            if formula.needs_time() && !formula.is_bounded() {
                self.leave_out(owner, calls(formula, &Reads::default()));
            }
            return;
        }
        let is_idle = is_plain(formula) && limits == NO_LIMITS && !formula.needs_controller();
        if if self.all { formula.needs_controller() } else { is_idle } {
            return;
        }
        let reads = Reads::of(formula, owner.ids, self.system);
        let mut own = Vec::new();
        let law = self.list.len();
        choices(formula, &mut |what| own.push(Switch { law, what, by: None }));
        if limits != NO_LIMITS {
            own.push(Switch { law, what: LawSubject::Limits(limits), by: None });
        }
        let mut peaks = !formula.is_polynomial();
        for (by, element) in reads.controllers.iter().enumerate() {
            let by = Some(by);
            element.controller.parts(&mut |part, formula| {
                if part == ExpressionRole::Output && !formula.needs_only_time() {
                    peaks |= !formula.is_polynomial();
                    choices(formula, &mut |what| own.push(Switch { law, what, by }));
                }
            });
            let limits = element.controller.cut_off().map(|own| own.limits());
            own.extend(limits.map(|limits| Switch { law, what: LawSubject::Limits(limits), by }));
            // of another kind: nothing is known of it
            peaks |= !element.controller.is_bounded();
        }
        if !peaks && own.is_empty() && !self.all {
            return;
        }
        let bounded = formula.is_bounded();
        if !(bounded || self.all) || reads.controllers.iter().any(|own| !own.controller.is_bounded()) {
            return self.leave_out(owner, calls(formula, &reads));
        }
        self.list.push(Law {
            title: owner.title.clone(),
            peaks,
            bounded,
            has_bends: reads.controllers.iter().all(|element| element.controller.has_bends()),
            response: owner.response,
            of: owner.of,
            formula: formula.clone(),
            limits,
            ids: owner.ids.into(),
            reads,
        });
        self.switches.append(&mut own);
    }
}

/// Returns whether a formula is a polynomial without choices.
fn is_plain(formula: &Formula) -> bool {
    let mut chooses = false;
    choices(formula, &mut |_| chooses = true);
    !chooses && formula.is_polynomial()
}

/// Calls `found` with each choice that does not depend on time alone.
fn choices(formula: &Formula, found: &mut dyn FnMut(LawSubject)) {
    formula.choices(&mut |formula, choice| {
        if !formula.needs_only_time() {
            found(LawSubject::Choice(formula.clone(), choice));
        }
    });
}

/// Returns why an expression has no bounds.
fn calls(formula: &Formula, reads: &Reads) -> String {
    let mut names = Vec::new();
    let mut note = |name: &str| names.push(format!("`{name}`"));
    formula.functions(&mut note);
    for element in &reads.controllers {
        element.controller.parts(&mut |part, formula| {
            if part == ExpressionRole::Output {
                formula.functions(&mut note);
            }
        });
    }
    names.dedup();
    let unknown = || reads.controllers.iter().find(|element| !element.controller.is_bounded());
    match (names.is_empty(), unknown()) {
        (true, Some(element)) => {
            format!("it reads controller `{}`, whose outputs have no bounds", element.name)
        }
        _ => format!("it calls {}, given by a program", names.join(", ")),
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
