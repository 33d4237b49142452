//! Fewer frames: those that interpolation between their neighbours misses by less than a bound are left out.
//!
//! From a frame that is kept, the next one is as far on as all frames between stay within the bound of interpolation
//! (poses as in [`crate::between`], columns linearly), found by doubling and halving: n log w comparisons, w the frames between two kept ones. Large models are judged by a part of their bodies and columns; the
//! error that is reported ([`measure`]) is that of all of them, at all frames.

use crate::between;
use crate::motion::PoseTable;
use serde::Serialize;

/// Frames between two that are kept, at most.
const FARTHEST: usize = 64;
/// Bodies and columns that frames are chosen by, at most.
const JUDGES: usize = 100;

/// Columns that stay below this part of the largest one are measured by it.
const ROUND_OFF: f64 = 1e-12;

/// Holds what was left out, and by how much interpolation misses it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Thinning {
    /// Frames that are there.
    pub retained: usize,
    /// Frames that there were.
    pub of: usize,
    /// Of a body's origin \[m\].
    pub position: f64,
    /// Of its orientation \[rad\].
    pub angle: f64,
    /// Of a column, relative to its largest absolute value; columns that are [noise](is_noise) do not count.
    pub columns: f64,
}

/// Describes how much may be missed; as in [`Thinning`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThinningBound {
    /// Of a body's origin \[m\].
    pub position: f64,
    /// Of its orientation \[rad\].
    pub angle: f64,
    /// Of a column, relative to its largest absolute value.
    pub columns: f64,
}

/// The angle between two orientations \[rad\]: |a ∓ b| = 2 sin(θ/4), which round-off does not magnify as it does acos.
fn angle(a: [f64; 4], b: [f64; 4]) -> f64 {
    let apart = |sign: f64| a.iter().zip(&b).map(|(x, y)| (x - sign * y).powi(2)).sum::<f64>().sqrt();
    4.0 * (0.5 * apart(1.0).min(apart(-1.0))).min(1.0).asin()
}

/// Holds what is compared: bodies and columns by number, and the columns' scales.
struct ThinningMetric<'a> {
    motion: &'a PoseTable,
    bodies: Vec<usize>,
    columns: Vec<(usize, f64)>,
}

impl ThinningMetric<'_> {
    fn pose(&self, frame: usize, body: usize) -> ([f64; 3], [f64; 4]) {
        between::pose(self.motion, body, [frame, frame], 0.0)
    }

    /// By how much frame `k` is missed between `i` and `j`; NaN where one is not a number and another is.
    fn miss(&self, i: usize, j: usize, k: usize) -> ThinningBound {
        let t = &self.motion.table.t;
        let span = t[j] - t[i];
        let u = if span > 0.0 { (t[k] - t[i]) / span } else { 0.0 };
        let mut miss = ThinningBound { position: 0.0, angle: 0.0, columns: 0.0 };
        for &body in &self.bodies {
            let ((p, q), (pk, qk)) = (between::pose(self.motion, body, [i, j], u), self.pose(k, body));
            let apart = (0..3).map(|c| (p[c] - pk[c]).powi(2)).sum::<f64>().sqrt();
            miss.position = worse(miss.position, apart);
            miss.angle = worse(miss.angle, angle(q, qk));
        }
        for &(column, scale) in &self.columns {
            let x = &self.motion.table.columns[column];
            if x[i].is_nan() && x[j].is_nan() && x[k].is_nan() {
                continue;
            }
            miss.columns = worse(miss.columns, ((1.0 - u) * x[i] + u * x[j] - x[k]).abs() / scale);
        }
        miss
    }

    fn fits(&self, i: usize, j: usize, bound: &ThinningBound) -> bool {
        (i + 1..j).all(|k| {
            let miss = self.miss(i, j, k);
            miss.position <= bound.position && miss.angle <= bound.angle && miss.columns <= bound.columns
        })
    }
}

/// The larger; not a number where one is none.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// Round-off in most runs, or what jumps from step to step, which no interpolation follows: neither kept for nor counted.
pub fn is_noise(column: &str) -> bool {
    column.starts_with("violation.") || column == "energy.balance" || column == "run.step"
}

fn judge<'a>(motion: &'a PoseTable, columns: &[usize], most: usize) -> ThinningMetric<'a> {
    let columns: Vec<usize> =
        columns.iter().copied().filter(|&column| !is_noise(&motion.table.names[column])).collect();
    let every = |n: usize| n.div_ceil(most).max(1);
    let largest = |column: usize| {
        let all = motion.table.columns[column].iter().filter(|x| x.is_finite());
        all.fold(0.0_f64, |most, x| most.max(x.abs()))
    };
    // what is nothing beside all others is round-off too, such as the torque in a hinge
    let floor = ROUND_OFF * columns.iter().map(|&c| largest(c)).fold(0.0, f64::max);
    let scale = |column: usize| match largest(column).max(floor) {
        0.0 => 1.0,
        scale => scale,
    };
    ThinningMetric {
        motion,
        bodies: (0..motion.bodies).step_by(every(motion.bodies)).collect(),
        columns: columns.iter().step_by(every(columns.len())).map(|&c| (c, scale(c))).collect(),
    }
}

/// Frames to keep, the first and the last among them, such that the others are missed by no more than `bound`.
pub fn choose(motion: &PoseTable, columns: &[usize], bound: &ThinningBound) -> Vec<usize> {
    let n = motion.table.len();
    let judge = judge(motion, columns, JUDGES);
    let mut retained = Vec::new();
    let mut i = 0;
    while i < n {
        retained.push(i);
        if i + 1 >= n {
            break;
        }
        // the next one fits always: twice as far as long as that does, then between the last that did and the first that did not
        let limit = (i + FARTHEST).min(n - 1);
        let (mut good, mut bad, mut step) = (i + 1, limit + 1, 1);
        while good < limit {
            let far = (good + step).min(limit);
            if !judge.fits(i, far, bound) {
                bad = far;
                break;
            }
            good = far;
            step *= 2;
        }
        while bad - good > 1 {
            let middle = good.midpoint(bad);
            if judge.fits(i, middle, bound) { good = middle } else { bad = middle }
        }
        i = good;
    }
    retained
}

/// By how much interpolation between `rows` misses the frames that are not among them.
pub fn measure(motion: &PoseTable, rows: &[usize], columns: &[usize]) -> Thinning {
    let judge = judge(motion, columns, usize::MAX);
    let mut found =
        Thinning { retained: rows.len(), of: motion.table.len(), position: 0.0, angle: 0.0, columns: 0.0 };
    for pair in rows.windows(2) {
        for k in pair[0] + 1..pair[1] {
            let miss = judge.miss(pair[0], pair[1], k);
            found.position = worse(found.position, miss.position);
            found.angle = worse(found.angle, miss.angle);
            found.columns = worse(found.columns, miss.columns);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ColumnTable;

    /// A point on a circle that turns with it, and its height as a column.
    fn wheel(n: usize) -> PoseTable {
        let t: Vec<f64> = (0..n).map(|i| i as f64 / n as f64).collect();
        let angle = |t: f64| 6.0 * t;
        let poses = t.iter().flat_map(|&t| {
            let (s, c) = (0.5 * angle(t)).sin_cos();
            [angle(t).cos(), angle(t).sin(), 0.0, c, 0.0, 0.0, s].map(|x| x as f32)
        });
        let names = vec!["y".to_string()];
        let columns = vec![t.iter().map(|&t| angle(t).sin()).collect()];
        PoseTable {
            poses: poses.collect(),
            bodies: 1,
            table: ColumnTable { units: names.clone(), names, t, columns },
            ..PoseTable::default()
        }
    }

    #[test]
    fn what_is_left_out_stays_within_the_bound() {
        let motion = wheel(1000);
        let bound = ThinningBound { position: 1e-3, angle: 1e-3, columns: 1e-3 };
        let rows = choose(&motion, &[0], &bound);
        let found = measure(&motion, &rows, &[0]);
        assert_eq!((rows[0], *rows.last().unwrap(), found.of), (0, 999, 1000));
        assert!(found.position <= 1e-3 && found.columns <= 1e-3 && found.angle <= 1e-3, "{found:?}");
        // a chord of angle a misses a circle by a²/8: a = 0.089 here, 67 chords of 6 rad, at least
        assert!((68..110).contains(&rows.len()), "{}", rows.len());
        // turned evenly, slerp has nothing to miss but f32
        assert!(found.angle < 4e-7, "{found:?}");
    }

    #[test]
    fn a_jump_is_kept() {
        let mut motion = wheel(100);
        motion.table.columns[0] = (0..100).map(|i| if i < 50 { 0.0 } else { 1.0 }).collect();
        let rows = choose(&motion, &[0], &ThinningBound { position: 1.0, angle: 4.0, columns: 0.01 });
        assert!(rows.contains(&49) && rows.contains(&50), "{rows:?}");
    }

    #[test]
    fn numbers_that_are_missing_now_and_then_are_kept_apart() {
        let mut motion = wheel(30);
        motion.table.columns[0][10] = f64::NAN;
        let rows = choose(&motion, &[0], &ThinningBound { position: 9.0, angle: 4.0, columns: 9.0 });
        assert!([9, 10, 11].iter().all(|row| rows.contains(row)), "{rows:?}");
    }

    #[test]
    fn few_frames_are_all_kept() {
        for n in 0..3 {
            let rows = choose(&wheel(n), &[0], &ThinningBound { position: 9.0, angle: 9.0, columns: 9.0 });
            assert_eq!(rows.len(), n);
        }
    }
}
