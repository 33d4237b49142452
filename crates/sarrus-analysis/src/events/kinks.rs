//! Constraints that keep the motion at a kink of their expressions, as a follower does that a cam is pressed against at the tip of a tooth.
//!
//! There the row of J jumps, and the motion goes to and fro across it ever faster: step control alone would go on with ever shorter steps
//! without an end. So after every [`EVERY`] steps it is estimated how many are left. Where these are too many, rows of J are compared on both
//! sides of the position, ever nearer to it: one that differs by the same however near has a kink there. One that is found twice in
//! succession ends the run.

use sarrus_solve::{Equations, Problem, Stage, State, Structure};
use sarrus_system::Mechanism;

/// Steps between two checks.
const EVERY: u64 = 5000;
/// Steps that a run may have left.
const MOST_LEFT: f64 = 1e7;
/// Distances to the sides at which rows are compared \[m, rad\].
const ASIDE: [f64; 5] = [1e-5, 1e-6, 1e-7, 1e-8, 1e-9];
/// Part of a row by which it jumps at a kink.
const JUMP: f64 = 1e-3;
/// Part of a jump that is still there ten times as near.
const STAYS: f64 = 0.5;
/// Velocities of a mechanism beyond which sides are not compared: each costs some evaluations of J.
const MOST: usize = 5000;

/// Watches the length of steps.
#[derive(Clone)]
pub(crate) struct Kinks {
    t_end: f64,
    /// Steps since the last check, and its time \[s\].
    steps: u64,
    since: f64,
    /// The constraint that was found there.
    last: Option<String>,
}

impl Kinks {
    /// For a run over `span` \[s\].
    pub fn new(span: (f64, f64)) -> Kinks {
        Kinks { t_end: span.1, steps: 0, since: span.0, last: None }
    }

    /// Notes a step that ends at `s`. Returns why the run ends, if it does.
    pub fn note_step(&mut self, mechanism: &mut Mechanism, s: &State) -> Option<String> {
        self.steps += 1;
        if self.steps < EVERY {
            return None;
        }
        let mean = (s.t - self.since) / self.steps as f64;
        (self.steps, self.since) = (0, s.t);
        let is_slow = self.t_end - s.t > MOST_LEFT * mean;
        let found = if is_slow { find(mechanism, s).map(|row| mechanism.name_of_row(row)) } else { None };
        let before = std::mem::replace(&mut self.last, found);
        let name = self.last.as_ref().filter(|_| self.last == before)?;
        Some(format!(
            "{name} keeps the motion at a kink of its expression, near t = {} s: it goes to and fro there in steps of {mean:.1e} s; the run \
             stops there and is not certified; round the kink off, as a table of kind `cubic` or `smoothstep` does, or let a rigid contact \
             hold it",
            s.t
        ))
    }
}

/// A row of J with a kink at `s`.
fn find(mechanism: &mut Mechanism, s: &State) -> Option<usize> {
    let structure = mechanism.structure().clone();
    if structure.nv > MOST {
        return None;
    }
    let mut sides = [Equations::new(mechanism), Equations::new(mechanism)];
    let mut found = None;
    for i in 0..structure.nv {
        let mut before: Vec<f64> = Vec::new();
        for aside in ASIDE {
            for (eq, aside) in sides.iter_mut().zip([-aside, aside]) {
                let (mut there, mut delta) = (s.clone(), vec![0.0; structure.nv]);
                delta[i] = aside;
                mechanism.retract(&mut there.q, &delta);
                mechanism.update(&there, Stage::POSITION, eq);
            }
            let changes = row_changes(&structure, [&sides[0].J, &sides[1].J]);
            let stays = |row: &usize| changes[*row] > JUMP && changes[*row] > STAYS * before[*row];
            found = found.or_else(|| (0..before.len()).find(stays));
            before = changes;
        }
    }
    mechanism.update(s, Stage::POSITION, &mut sides[0]);
    found
}

/// By how much each row differs, relative to its length.
fn row_changes(structure: &Structure, [a, b]: [&[f64]; 2]) -> Vec<f64> {
    let mut jumps = vec![0.0; structure.nc];
    for row in &structure.rows {
        for i in 0..row.size {
            let (mut differs, mut size) = (0.0, 0.0);
            for entry in &structure.entries[row.entries.clone()] {
                let width = structure.cols[entry.col].size;
                let own = entry.offset + i * width..entry.offset + (i + 1) * width;
                for (a, b) in a[own.clone()].iter().zip(&b[own]) {
                    differs += (a - b) * (a - b);
                    size += a * a + b * b;
                }
            }
            jumps[row.start + i] = if size > 0.0 { (differs / size).sqrt() } else { 0.0 };
        }
    }
    jumps
}
