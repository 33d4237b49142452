//! Forces that keep the motion at a switch of their own, as dry friction by `sign(b.vx)` does at rest.
//!
//! There the switch has no end: from either side the force drives the motion back. Step control alone would go on with steps that change
//! velocities by no more than the tolerances. So a choice is counted where it has changed from the start of a step to that of a later one,
//! and its argument has been no farther from the level in between than positions, velocities and states that are off by [`NEAR`]
//! tolerances bring about. [`MOST`] of these within the window of [`Firings`] end the run.

use super::chatter::Firings;
use sarrus_system::Laws;
use sarrus_system::laws::Law;
use sarrus_system::motion::Frame;

/// Changes of one choice that are one too many.
const MOST: usize = 1000;
/// Tolerances by which the motion may be off the switch.
const NEAR: f64 = 1000.0;

/// Watches the choices at the starts of steps.
#[derive(Clone)]
pub(super) struct Stays {
    /// By choice: the cell of its argument, and the farthest that this was from the next level in it.
    cells: Vec<[f64; 2]>,
    farthest: Vec<f64>,
    firings: Firings,
    /// The expression that keeps the motion, and when that was found \[s\].
    found: Option<(usize, f64)>,
}

impl Stays {
    /// For `choices` in a run over `span` \[s\].
    pub fn new(choices: usize, span: (f64, f64)) -> Stays {
        Stays {
            cells: vec![[f64::NAN; 2]; choices],
            farthest: vec![f64::INFINITY; choices],
            firings: Firings::of(choices, span, MOST),
            found: None,
        }
    }

    /// Looks at the choices of those expressions for which `acts` holds, at the start of a step.
    pub fn look(
        &mut self,
        laws: &Laws,
        [frame, scratch]: [&mut Frame; 2],
        tolerances: [f64; 2],
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
            if cell == self.cells[i] {
                self.farthest[i] = self.farthest[i].max(off);
                continue;
            }
            let [rtol, atol] = tolerances;
            let mut near = || laws.noise(i, frame, scratch, NEAR * (atol + rtol * law.size(frame)));
            let known = self.cells[i][0] <= self.cells[i][1];
            if known && self.farthest[i].max(off) <= near() && self.firings.chatter(i, frame.t) {
                self.found.get_or_insert((number, frame.t));
            }
            (self.cells[i], self.farthest[i]) = (cell, off);
        }
    }

    /// Why the run ends, if it does.
    pub fn why(&self, laws: &Laws) -> Option<String> {
        let (law, t) = self.found?;
        Some(format!(
            "{} keeps the motion at a switch of its expression, near t = {t} s, as dry friction by `sign` does at rest: it switched {MOST} \
             times within a thousandth of the run, and would go on; the run ends there and is not certified; give a smooth law, such as \
             `-F*tanh(b.vx/1e-3)`, `friction` of a joint, or `coulomb` friction of a contact",
            laws.list()[law].title
        ))
    }
}
