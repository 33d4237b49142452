//! Forces that keep the motion at a switch of their own, as dry friction by `sign(b.vx)` does at rest.
//!
//! There the switch has no end: from either side the force drives the motion back. Step control alone would continue with steps in which
//! the force changes velocities by no more than the tolerances. Two things are counted at the starts of steps, of choices whose arguments
//! are no farther from a level than positions, velocities and states that are off by [`NEAR`] tolerances bring about:
//!
//! - **Changes** of a choice whose argument has been that near since the last one. [`CHANGES`] within the window of [`Firings`] end the run.
//! - **Short steps** in which all of the expression does no more than some tolerances, while it jumps that near. Methods that solve for the
//!   end of a step to the tolerances may stay on one side. [`STEPS`] of these within the window end the run.

use super::chatter::Firings;
use sarrus_system::Laws;
use sarrus_system::laws::Law;
use sarrus_system::motion::BodiesAtInstant;

/// Changes of one choice that are one too many.
const CHANGES: usize = 1000;
/// Short steps at one choice that are one too many.
const STEPS: usize = 10_000;
/// Tolerances by which the motion may be off the switch.
const NEAR: f64 = 1000.0;
/// Tolerances that an expression uses up in a short step.
const SHORT: f64 = 10.0;
/// Part of the expression by which it jumps there.
const JUMP: f64 = 0.1;

/// Watches the choices at the starts of steps.
#[derive(Clone)]
pub(super) struct Stays {
    /// By choice: the cell of its argument, and the farthest that this was from the next level in it.
    cells: Vec<[f64; 2]>,
    farthest: Vec<f64>,
    changes: Firings,
    steps: Firings,
    /// The expression that keeps the motion, and when that was found \[s\].
    found: Option<(usize, f64)>,
}

impl Stays {
    /// For `choices` in a run over `span` \[s\].
    pub fn new(choices: usize, span: (f64, f64)) -> Stays {
        Stays {
            cells: vec![[f64::NAN; 2]; choices],
            farthest: vec![f64::INFINITY; choices],
            changes: Firings::of(choices, span, CHANGES),
            steps: Firings::of(choices, span, STEPS),
            found: None,
        }
    }

    /// Checks the choices of those expressions for which `acts` holds, at the start of a step of length `h` \[s\].
    pub fn check(
        &mut self,
        laws: &Laws,
        [frame, scratch]: [&mut BodiesAtInstant; 2],
        h: f64,
        [rtol, atol]: [f64; 2],
        acts: impl Fn(&Law) -> bool,
    ) {
        for i in 0..laws.switches() {
            let number = laws.law_of(i);
            let law = &laws.list()[number];
            if !acts(law) {
                continue;
            }
            let u = laws.argument(i, frame);
            let cell = laws.cell(i, u);
            let off = (u - cell[0]).min(cell[1] - u);
            let tolerance = atol + rtol * law.size(frame);
            let value = law.value(frame).abs();
            let mut near = |off: f64| off <= laws.noise(i, frame, scratch, NEAR * tolerance);
            let mut one_too_many = false;
            if cell != self.cells[i] {
                let known = self.cells[i][0] <= self.cells[i][1];
                one_too_many = known && near(self.farthest[i].max(off)) && self.changes.chatter(i, frame.t);
                (self.cells[i], self.farthest[i]) = (cell, off);
            } else {
                self.farthest[i] = self.farthest[i].max(off);
                let is_short = off > 0.0 && value * law.response * h <= SHORT * tolerance;
                one_too_many |= is_short
                    && near(off)
                    && laws.jump(i, frame, scratch, NEAR * tolerance) > JUMP * value
                    && self.steps.chatter(i, frame.t);
            }
            if one_too_many {
                self.found.get_or_insert((number, frame.t));
            }
        }
    }

    /// Returns why the run ends, if it does.
    pub fn why(&self, laws: &Laws) -> Option<String> {
        let (law, t) = self.found?;
        Some(format!(
            "{} keeps the motion at a switch of its expression, near t = {t} s, as dry friction by `sign` does at rest: it goes to and fro \
             there without end; the run stops there and is not certified; give a smooth law, such as `-F*tanh(b.vx/1e-3)`, `friction` of a \
             joint, or `coulomb` friction of a contact",
            laws.list()[law].title
        ))
    }
}
