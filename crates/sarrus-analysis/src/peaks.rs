//! Least and largest value of every column over a whole run, with their times.
//!
//! Values are those of rows, of both sides of events, of ends of steps without a row, and of instants in a step at which a parabola through
//! the last three has its vertex: there the columns are evaluated on the dense output. So every peak is a value that the column has; none is
//! extrapolated.
//!
//! Cost: an evaluation off the rows takes the equations of motion once and a row of columns. Each is paid from a credit that rows and right
//! sides earn, so that a run with many short steps checks some of them only. Memory is some fifteen numbers a column.

use std::collections::HashSet;

/// Evaluations that a run may make at once, up to so many columns: more of them share the same,
const START: f64 = 128.0;
const COLUMNS: f64 = 1000.0;
/// what a row earns,
const PER_ROW: f64 = 0.1;
/// and what a right-hand side earns.
const PER_RHS: f64 = 1.0 / 128.0;
/// Part of a column's range by which a vertex must exceed the peak so far to be evaluated.
const GAIN: f64 = 1e-4;
/// A range below this part of the largest value of all columns is rounding.
const ROUNDING: f64 = 1e-12;
/// Vertices nearer than this part of their parabolas are one.
const NEAR: f64 = 1e-2;
/// Instants that are kept.
const NEARBY: usize = 8;
/// Vertices that are evaluated in a step.
pub(crate) const MOST: usize = 4;
/// Part of a contact's largest force by which a later one exceeds it to be worth a row of its own.
const WORTH: f64 = 1e-2;

/// Least and largest value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ColumnRange {
    /// Least value, and when \[s\].
    pub min: (f64, f64),
    /// Largest value, and when \[s\].
    pub max: (f64, f64),
    /// True if instants are searched for at which it is at its peak.
    searched: bool,
}

impl ColumnRange {
    fn add(&mut self, x: f64, t: f64) {
        if x < self.min.0 {
            self.min = (x, t);
        }
        if x > self.max.0 {
            self.max = (x, t);
        }
    }

    /// By how much `x` lies outside, relative to the range; nothing where that is below `floor`.
    fn gain(&self, x: f64, floor: f64) -> f64 {
        let outside = (x - self.max.0).max(self.min.0 - x);
        let range = self.max.0 - self.min.0;
        if self.searched && range > floor { outside / range } else { 0.0 }
    }
}

/// Of a column that has no value yet.
fn range(name: &str) -> ColumnRange {
    let rounds = name.starts_with("violation.") || name == "energy.balance";
    let [min, max] = [f64::INFINITY, f64::NEG_INFINITY].map(|x| (x, f64::NAN));
    ColumnRange { min, max, searched: !rounds }
}

/// The values at an instant: the time, then a number per column.
type SampleRow = Vec<f64>;

/// Peaks of all columns so far.
#[derive(Clone)]
pub(crate) struct Peaks {
    ranges: Vec<ColumnRange>,
    /// Largest size of any value.
    largest: f64,
    /// The last instants since the last jump, vertices among them, in the order of time.
    near: Vec<SampleRow>,
    /// Marks where the step at hand begins \[s\].
    start: f64,
    /// Vertices inside it: gain and time \[s\].
    vertices: Vec<(f64, f64)>,
    /// Evaluations that may be made.
    credit: f64,
    /// Right-hand sides that have earned.
    rhs: u64,
    /// Columns of contact forces, each with the largest force that has a row of its own.
    forces: Vec<(usize, f64)>,
}

impl Peaks {
    /// Of columns called `names`, `t` first, of which those of `forces` are forces of contacts.
    pub fn new(names: &[String], forces: &[String]) -> Peaks {
        let forces: HashSet<&String> = forces.iter().collect();
        let forces = names.iter().enumerate().filter(|(_, name)| forces.contains(name));
        Peaks {
            ranges: names.iter().skip(1).map(|name| range(name)).collect(),
            largest: 0.0,
            near: Vec::with_capacity(NEARBY + 1),
            start: f64::NEG_INFINITY,
            vertices: Vec::with_capacity(2 * MOST),
            credit: START * (COLUMNS / names.len() as f64).min(1.0),
            rhs: 0,
            forces: forces.map(|(column, _)| (column, 0.0)).collect(),
        }
    }

    /// The ranges, in the order of the columns; of a column without any number the least value is above the largest.
    pub fn ranges(&self) -> &[ColumnRange] {
        &self.ranges
    }

    /// Time of the last instant \[s\].
    pub fn last(&self) -> Option<f64> {
        self.near.last().map(|row| row[0])
    }

    /// Returns whether a parabola has its three points with the next instant.
    pub fn has_two(&self) -> bool {
        self.near.len() >= 2
    }

    /// Columns may jump here: no parabola goes across.
    pub fn part(&mut self) {
        self.near.clear();
    }

    /// Right-hand sides so far, which earn credit.
    pub fn earn(&mut self, rhs: u64) {
        self.credit += PER_RHS * rhs.saturating_sub(self.rhs) as f64;
        self.rhs = rhs;
    }

    /// A row earns credit.
    pub fn earn_row(&mut self) {
        self.credit += PER_ROW;
    }

    /// Returns whether there is credit for an evaluation.
    pub fn affords(&self) -> bool {
        self.credit >= 1.0
    }

    /// Takes the credit of an evaluation, down to nothing.
    pub fn pay(&mut self) {
        self.credit = (self.credit - 1.0).max(0.0);
    }

    /// Takes the values at an instant of the step at hand; searches for vertices beside it.
    pub fn add(&mut self, row: &[f64]) {
        self.note(row);
        let index = self.near.partition_point(|own| own[0] < row[0]);
        let mut new = if self.near.len() > NEARBY { self.near.remove(0) } else { vec![0.0; row.len()] };
        let index = index.min(self.near.len());
        new.copy_from_slice(row);
        self.near.insert(index, new);
        for three in self.near[index.saturating_sub(2)..(index + 3).min(self.near.len())].windows(3) {
            let window = [three[0][0].max(self.start), three[2][0]];
            let three = [&three[0][..], &three[1], &three[2]];
            vertices(&self.ranges, ROUNDING * self.largest, window, three, &mut self.vertices);
        }
    }

    /// Searches for vertices behind the last instant, up to the end of the step at hand \[s\].
    pub fn check_ahead(&mut self, end: f64) {
        if let [.., a, b, c] = &self.near[..] {
            let window = [c[0].max(self.start), end];
            vertices(&self.ranges, ROUNDING * self.largest, window, [a, b, c], &mut self.vertices);
        }
    }

    /// Takes the values at any instant.
    pub fn note(&mut self, row: &[f64]) {
        let t = row[0];
        for (range, &x) in self.ranges.iter_mut().zip(&row[1..]) {
            range.add(x, t);
            if x.is_finite() {
                self.largest = self.largest.max(x.abs());
            }
        }
    }

    /// The vertex with the largest gain, which is taken. Unless it `must` be found, there is credit for it, and the less there is the larger
    /// its gain.
    pub fn next_vertex(&mut self, must: bool) -> Option<f64> {
        let least = if must { GAIN } else { GAIN * (START / self.credit).max(1.0) };
        let all = self.vertices.iter().enumerate();
        let (best, &(gain, t)) = all.max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
        if gain < least || !(must || self.affords()) {
            return None;
        }
        self.vertices.swap_remove(best);
        Some(t)
    }

    /// Another step begins at `start` \[s\].
    pub fn begin_step(&mut self, start: f64) {
        self.start = start;
        self.vertices.clear();
    }

    /// The contact force that is at its largest at a vertex with the values `row`, where it is worth a row of its own.
    pub fn largest_force(&self, row: &[f64]) -> Option<usize> {
        let is_largest = |(column, reported): &&(usize, f64)| {
            row[*column] >= self.ranges[*column - 1].max.0 && row[*column] > (1.0 + WORTH) * reported
        };
        self.forces.iter().find(is_largest).map(|(column, _)| *column)
    }

    /// There is a row of its own for a contact force.
    pub fn note_force(&mut self, column: usize, force: f64) {
        self.forces.iter_mut().filter(|own| own.0 == column).for_each(|own| own.1 = force);
    }
}

/// Adds vertices of the parabolas through three instants that lie between two times.
fn vertices(
    ranges: &[ColumnRange],
    floor: f64,
    [low, high]: [f64; 2],
    [a, b, c]: [&[f64]; 3],
    out: &mut Vec<(f64, f64)>,
) {
    let (t, h1, h2) = (b[0], b[0] - a[0], c[0] - b[0]);
    if !(h1 > 0.0 && h2 > 0.0 && low < high) {
        return;
    }
    let (i1, i2, i) = (1.0 / h1, 1.0 / h2, 1.0 / (h1 + h2));
    for (((range, a), b), c) in ranges.iter().zip(&a[1..]).zip(&b[1..]).zip(&c[1..]) {
        let (d1, d2) = ((b - a) * i1, (c - b) * i2);
        let bend = (d2 - d1) * i;
        // slopes at the second, and at both ends
        let slope = d1 + bend * h1;
        let [first, last] = [low, high].map(|end| slope + 2.0 * bend * (end - t));
        if first * last < 0.0 {
            let tau = -0.5 * slope / bend;
            let gain = range.gain(b + 0.5 * slope * tau, floor);
            if gain > GAIN {
                insert(out, (gain, t + tau), NEAR * (h1 + h2));
            }
        }
    }
}

/// Keeps a vertex unless there is one at nearly the same time, or others with more gain.
fn insert(out: &mut Vec<(f64, f64)>, new: (f64, f64), near: f64) {
    let same = out.iter().position(|(_, t)| (t - new.1).abs() < near);
    let least = || (0..out.len()).min_by(|&i, &j| out[i].0.total_cmp(&out[j].0));
    match same.or_else(|| if out.len() < 2 * MOST { None } else { least() }) {
        Some(i) if out[i].0 < new.0 => out[i] = new,
        Some(_) => {}
        None => out.push(new),
    }
}
