//! Two runs of what should be one motion, and how far tolerance and sensitivity let them be apart.

use sarrus::analysis::Trajectory;
use std::collections::{BTreeMap, HashMap};

/// Multiple of the error and of the sensitivity that a difference may have.
const FACTOR: f64 = 30.0;
/// Multiple of rtol, amplified as the motion amplifies a perturbation, up to which an error estimate is believed.
const BELIEVED: f64 = 300.0;
/// A difference of this part of a column's scale never counts.
const FLOOR: f64 = 3e-7;
/// Where errors or sensitivity reach this part of a column's scale, nothing can be said from there on.
const CHAOS: f64 = 1e-3;
/// Scale of columns that stay below it: bodies have about a metre and a kilogram.
const LEAST: f64 = 0.1;
/// Multiple of the errors that certificates estimate.
const ESTIMATED: f64 = 3.0;
/// Size of the perturbations that sensitivity is measured by.
pub const PERTURBATION: f64 = 1e-9;

/// Identifies which columns are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All that both have, save those that are no property of the motion.
    All,
    /// Positions and velocities of bodies and joints.
    Motion,
}

/// A column of one run and the same number in the other run: Σ factor·column + shift.
#[derive(Clone, Debug)]
pub struct ColumnPair {
    /// Index in the first run.
    pub base: usize,
    /// Terms of the second run.
    pub other: Vec<(usize, f64)>,
    /// Holds what is added to them.
    pub shift: f64,
}

/// The worst difference.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstDifference {
    /// Column.
    pub column: String,
    /// Time \[s\].
    pub t: f64,
    /// Value in the first run.
    pub base: f64,
    /// Value in the second run.
    pub other: f64,
    /// Holds what tolerance and sensitivity allow.
    pub allowed: f64,
}

impl std::fmt::Display for WorstDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let WorstDifference { column, t, base, other, allowed } = self;
        let apart = (base - other).abs();
        write!(
            f,
            "{column} at t = {t}: {base:e} against {other:e}, apart by {apart:.2e} where {allowed:.2e} is allowed"
        )
    }
}

const POSITIONS: [&str; 10] = ["x", "y", "z", "angle", "position", "angle1", "angle2", "q0", "q1", "q2"];
const SPEEDS: [&str; 10] = ["vx", "vy", "vz", "rate", "speed", "wx", "wy", "wz", "rate1", "rate2"];

/// Returns whether a column is a position or velocity.
pub fn is_motion(name: &str) -> bool {
    let Some((element, last)) = name.rsplit_once('.') else { return false };
    element != "energy" && (is_position(name) || SPEEDS.contains(&last))
}

/// Returns whether a column is a position, which cannot jump.
pub fn is_position(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, last)| POSITIONS.contains(&last))
}

/// Returns whether a column depends on how the run was made, or on where energies are counted from.
fn is_of_the_run(name: &str) -> bool {
    name == "t" || name.starts_with("violation.") || name.starts_with("energy.")
}

/// Columns of the same name.
pub fn same_columns(a: &Trajectory, b: &Trajectory, extent: Extent, skip: &[String]) -> Vec<ColumnPair> {
    let index_of: HashMap<&str, usize> = b.names().iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
    let wanted = |name: &str| match extent {
        Extent::All => !is_of_the_run(name) || name == "energy.kinetic",
        Extent::Motion => is_motion(name),
    };
    let columns = a.names().iter().enumerate().filter(|(_, n)| wanted(n) && !skip.contains(n));
    columns
        .filter_map(|(base, name)| {
            let other = vec![(*index_of.get(name.as_str())?, 1.0)];
            Some(ColumnPair { base, other, shift: 0.0 })
        })
        .collect()
}

/// Largest values of the columns of one unit: what a column's error is relative to.
pub fn scales(run: &Trajectory) -> Vec<f64> {
    let mut by_unit: HashMap<&str, f64> = HashMap::new();
    for row in run.rows() {
        for (x, unit) in row.iter().zip(run.units()) {
            let largest = by_unit.entry(unit).or_insert(LEAST);
            *largest = largest.max(if x.is_finite() { x.abs() } else { 0.0 });
        }
    }
    run.units().iter().map(|u| by_unit.get(u).copied().unwrap_or(1.0)).collect()
}

/// Holds what a difference at a row and column may be; none from where on nothing can be said.
pub trait Allowance {
    /// For the row and the column of the first run.
    fn allowed(&self, row: usize, column: usize) -> Option<f64>;
}

/// A fixed part of each column's scale: a first look.
pub struct FixedScale<'a> {
    /// Scales of the columns.
    pub scales: &'a [f64],
    /// The part.
    pub part: f64,
}

impl Allowance for FixedScale<'_> {
    fn allowed(&self, _: usize, column: usize) -> Option<f64> {
        Some(self.part * self.scales[column])
    }
}

/// Errors and sensitivity of a run, as running maxima.
#[derive(Clone, Debug, Default)]
pub struct Sensitivity {
    width: usize,
    scales: Vec<f64>,
    data: Vec<f64>,
    /// First row of which nothing can be said.
    end: usize,
}

impl Sensitivity {
    /// From a run, one with finer tolerances (or steps), and two perturbed ones that need not agree with it; `rtol` of the run, if it has one.
    pub fn new(
        base: &Trajectory,
        finer: &Trajectory,
        perturbed: [&Trajectory; 2],
        rtol: Option<f64>,
        smooth: bool,
    ) -> Option<Sensitivity> {
        let width = base.width();
        let rows = [finer, perturbed[0], perturbed[1]].iter().map(|t| t.len()).fold(base.len(), usize::min);
        if [finer, perturbed[0], perturbed[1]].iter().any(|t| t.names() != base.names()) || rows == 0 {
            return None;
        }
        let scales = scales(base);
        let mut out = Sensitivity { width, data: Vec::with_capacity(rows * width), end: rows, scales };
        let (mut error, mut spread) = (vec![0.0_f64; width], vec![0.0_f64; width]);
        for row in 0..rows {
            for c in 0..width {
                spread[c] = spread[c].max(apart(perturbed[0], perturbed[1], row, c, smooth));
                error[c] = error[c].max(apart(base, finer, row, c, smooth));
                let scale = out.scales[c];
                let believed = rtol.map_or(f64::INFINITY, |rtol| {
                    BELIEVED * (rtol / PERTURBATION * spread[c] + rtol * scale)
                });
                let allowed = (FACTOR * error[c]).min(believed) + FACTOR * spread[c] + FLOOR * scale;
                out.data.push(allowed);
                let name = &base.names()[c];
                if is_motion(name) && spread[c] + error[c].min(believed) > CHAOS * scale {
                    out.end = out.end.min(row);
                }
            }
            if out.end <= row {
                break;
            }
        }
        Some(out)
    }

    /// With the errors that certificates estimate of the run and of another, of columns in the order of `pairs`.
    pub fn with_estimates(
        &mut self,
        (names, own): (&[String], &BTreeMap<String, f64>),
        (other_names, other): (&[String], &BTreeMap<String, f64>),
        pairs: &[ColumnPair],
    ) {
        let of = |map: &BTreeMap<String, f64>, name: &String| map.get(name).copied().unwrap_or(0.0);
        for pair in pairs {
            let others = pair.other.iter().map(|(c, k)| k.abs() * of(other, &other_names[*c])).sum::<f64>();
            let more = ESTIMATED * (of(own, &names[pair.base]) + others);
            for row in 0..self.rows() {
                self.data[row * self.width + pair.base] += more;
            }
        }
    }

    /// With the error of a second run against one with finer tolerances, of the same columns in the order of `pairs`.
    pub fn with_error_of(
        &mut self,
        other: &Trajectory,
        finer: &Trajectory,
        pairs: &[ColumnPair],
        smooth: bool,
    ) {
        let rows = other.len().min(finer.len());
        self.end = self.end.min(rows);
        for pair in pairs {
            let mut error = 0.0_f64;
            for row in 0..self.end {
                let all = pair.other.iter();
                let now: f64 = all.map(|(c, k)| k.abs() * apart(other, finer, row, *c, smooth)).sum();
                error = error.max(now);
                self.data[row * self.width + pair.base] += FACTOR * error;
                if is_motion(&other.names()[pair.other[0].0]) && error > CHAOS * self.scales[pair.base] {
                    self.end = row;
                    break;
                }
            }
        }
    }

    /// Rows of which something can be said.
    pub fn rows(&self) -> usize {
        self.end
    }
}

impl Allowance for Sensitivity {
    fn allowed(&self, row: usize, column: usize) -> Option<f64> {
        (row < self.end).then(|| self.data[row * self.width + column])
    }
}

/// Returns how far two runs are apart in a number; where motions may jump, in the range of the rows beside it.
fn apart(a: &Trajectory, b: &Trajectory, row: usize, column: usize, smooth: bool) -> f64 {
    beyond(a, b, row, column, smooth).max(beyond(b, a, row, column, smooth))
}

fn beyond(a: &Trajectory, b: &Trajectory, row: usize, column: usize, smooth: bool) -> f64 {
    let at = |t: &Trajectory, row: usize| t.row(row).map_or(f64::NAN, |r| r[column]);
    let direct = (at(a, row) - at(b, row)).abs();
    if smooth || is_position(&a.names()[column]) {
        return direct;
    }
    let (lo, hi) = range(row, b.len(), |row| at(b, row));
    let x = at(a, row);
    if x.is_nan() { direct } else { (lo - x).max(x - hi).max(0.0) }
}

fn range(row: usize, rows: usize, at: impl Fn(usize) -> f64) -> (f64, f64) {
    let beside = row.saturating_sub(1)..(row + 2).min(rows);
    beside.map(at).fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)))
}

/// The difference that exceeds what is allowed by the largest factor.
pub fn worst(
    base: &Trajectory,
    other: &Trajectory,
    pairs: &[ColumnPair],
    allowance: &dyn Allowance,
    smooth: bool,
) -> Option<WorstDifference> {
    let mut worst: Option<(f64, WorstDifference)> = None;
    for row in 0..base.len().min(other.len()) {
        let Some(here) = base.row(row) else { break };
        for pair in pairs {
            let Some(allowed) = allowance.allowed(row, pair.base) else {
                return worst.map(|(_, d)| d);
            };
            let value = |row: usize| {
                let cells = other.row(row).unwrap_or(&[]);
                pair.shift + pair.other.iter().map(|(c, k)| k * cells[*c]).sum::<f64>()
            };
            let (x, y) = (here[pair.base], value(row));
            let apart = if smooth || is_position(&base.names()[pair.base]) {
                (x - y).abs()
            } else {
                let (lo, hi) = range(row, other.len(), value);
                (lo - x).max(x - hi).max(0.0)
            };
            if apart <= allowed {
                continue;
            }
            let excess = if apart.is_finite() { apart / allowed.max(f64::MIN_POSITIVE) } else { f64::MAX };
            if worst.as_ref().is_none_or(|(e, _)| excess > *e) {
                let column = base.names()[pair.base].clone();
                worst = Some((excess, WorstDifference { column, t: here[0], base: x, other: y, allowed }));
            }
        }
    }
    worst.map(|(_, d)| d)
}
