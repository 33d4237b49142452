//! Enclosures hold what they enclose: values, difference quotients and their differences, along random motions.

use sarrus_math::{Enclosure, Interval, Real};

/// Numbers in [0, 1), the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn within(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.next()
    }
}

/// x + v t + a t²/2 over [0, w].
#[derive(Clone, Copy)]
struct Motion {
    x: f64,
    v: f64,
    a: f64,
}

impl Motion {
    fn random(random: &mut Random, range: f64, w: f64) -> Motion {
        let x = random.within(-range, range);
        Motion { x, v: random.within(-range, range) / w.max(0.1), a: random.within(-range, range) }
    }

    fn at(&self, t: f64) -> f64 {
        self.x + self.v * t + 0.5 * self.a * t * t
    }

    fn over(&self, w: f64) -> Enclosure {
        let s = Interval::new(0.0, w);
        let (x, v, a) = (Interval::point(self.x), Interval::point(self.v), Interval::point(self.a));
        let half = a * Interval::point(0.5);
        Enclosure { v: x + s * (v + half * s), d: v + a * s, dd: a }
    }
}

const SAMPLES: usize = 40;

/// Asserts that samples of f over [0, w] lie in its enclosure; samples that are no number end it.
fn check(name: &str, w: f64, f: impl Fn(f64) -> f64, bound: Enclosure) -> bool {
    let t = |k: usize| w * k as f64 / SAMPLES as f64;
    let y: Vec<f64> = (0..=SAMPLES).map(|k| f(t(k))).collect();
    if y.iter().any(|y| !y.is_finite()) {
        let finite = y.iter().filter(|y| y.is_finite());
        finite.for_each(|y| assert!(bound.v.contains(*y), "{name}: {y} in {:?}", bound.v));
        return false;
    }
    let size = y.iter().fold(0.0f64, |m, y| m.max(y.abs()));
    let step = w / SAMPLES as f64;
    // rounding of the samples themselves
    let [r0, r1, r2] = [0, 1, 2].map(|k| 64.0 * f64::EPSILON * (size + 1.0) / step.powi(k));
    let inside = |bound: Interval, y: f64, slack: f64| bound.lo - slack <= y && y <= bound.hi + slack;
    for k in 0..=SAMPLES {
        assert!(inside(bound.v, y[k], r0), "{name}: value {} in {:?}", y[k], bound.v);
        if k > 0 {
            let rate = (y[k] - y[k - 1]) / step;
            assert!(inside(bound.d, rate, r1), "{name}: rate {rate} in {:?}", bound.d);
        }
        if k > 1 {
            let bend = (y[k] - 2.0 * y[k - 1] + y[k - 2]) / (step * step);
            let slack = r2 + 1e-9 * bend.abs();
            assert!(inside(bound.dd, bend, slack), "{name}: second derivative {bend} in {:?}", bound.dd);
        }
    }
    let least = y.iter().copied().fold(f64::INFINITY, f64::min);
    let most = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let ends = [y[0], y[SAMPLES]];
    assert!(bound.lower(ends, w) <= least + r0, "{name}: {} below {least}", bound.lower(ends, w));
    assert!(bound.upper(ends, w) >= most - r0, "{name}: {} above {most}", bound.upper(ends, w));
    true
}

/// Functions of one number, over any scalar.
fn one<R: Real>(k: usize, x: R) -> (&'static str, R) {
    match k {
        0 => ("sqrt", x.sqrt()),
        1 => ("exp", x.exp()),
        2 => ("ln", x.ln()),
        3 => ("sin", x.sin()),
        4 => ("cos", x.cos()),
        5 => ("tan", x.tan()),
        6 => ("atan", x.atan()),
        7 => ("asin", x.asin()),
        8 => ("acos", x.acos()),
        9 => ("sinh", x.sinh_cosh().0),
        10 => ("cosh", x.sinh_cosh().1),
        11 => ("tanh", x.tanh()),
        12 => ("cube", x.powi(3)),
        13 => ("square", x.powi(2)),
        14 => ("inverse", x.powi(-1)),
        15 => ("inverse square", x.powi(-2)),
        16 => ("power", x.powf(R::from_f64(2.5))),
        17 => ("root", x.powf(R::from_f64(-0.4))),
        18 => ("abs", x.abs()),
        19 => ("affine", (x * 3.0 - 1.0) / 7.0 + 2.0),
        20 => ("bell", (-(x * x) * 4.0).exp()),
        _ => ("wave", (x * 9.0).sin() * x - (x * 5.0).cos() / (x * x + 0.5)),
    }
}

/// Functions of two numbers.
fn two<R: Real>(k: usize, x: R, y: R) -> (&'static str, R) {
    match k {
        0 => ("sum", x + y),
        1 => ("difference", x - y),
        2 => ("product", x * y),
        3 => ("quotient", x / y),
        4 => ("angle", y.atan2(x)),
        5 => ("power", x.powf(y)),
        _ => ("mixed", (x * y).sin() / ((x - y).abs() + 0.1)),
    }
}

#[test]
fn enclosures_hold_every_function_of_one_number() {
    let mut random = Random(7);
    let mut defined = [0; 22];
    for _ in 0..1500 {
        for (k, count) in defined.iter_mut().enumerate() {
            let w = 10f64.powf(random.within(-4.0, 0.7));
            let x = Motion::random(&mut random, 3.0, w);
            let (name, bound) = one(k, x.over(w));
            *count += usize::from(check(name, w, |t| one(k, x.at(t)).1, bound));
        }
    }
    assert!(defined.iter().all(|count| *count > 150), "{defined:?}");
}

#[test]
fn enclosures_hold_every_function_of_two_numbers() {
    let mut random = Random(11);
    let mut defined = [0; 7];
    for _ in 0..3000 {
        for (k, count) in defined.iter_mut().enumerate() {
            let w = 10f64.powf(random.within(-4.0, 0.7));
            let (x, y) = (Motion::random(&mut random, 3.0, w), Motion::random(&mut random, 3.0, w));
            let (name, bound) = two(k, x.over(w), y.over(w));
            *count += usize::from(check(name, w, |t| two(k, x.at(t), y.at(t)).1, bound));
            let bound = x.over(w).least(y.over(w));
            check("least", w, |t| x.at(t).min(y.at(t)), bound);
            let bound = x.over(w).most(y.over(w));
            check("most", w, |t| x.at(t).max(y.at(t)), bound);
        }
    }
    assert!(defined.iter().all(|count| *count > 300), "{defined:?}");
}

/// On short intervals bounds are as close as the square of their length.
#[test]
fn bounds_close_in_quadratically() {
    let x = Motion { x: 0.3, v: 2.0, a: -1.0 };
    let off = |w: f64| {
        let f = |t: f64| one(21, x.at(t)).1;
        let bound = one(21, x.over(w)).1;
        f(0.0).min(f(w)) - bound.lower([f(0.0), f(w)], w)
    };
    assert!(off(1e-4) < 1e-6, "{}", off(1e-4));
    assert!(off(1e-3) < 1e-4, "{}", off(1e-3));
}

/// Two functions with the same bounds are not the same function.
#[test]
fn equal_bounds_may_cross() {
    let unit = Interval::new(-1.0, 1.0);
    let f = Enclosure { v: unit, d: unit, dd: unit };
    assert_eq!(f.least(f).dd.lo, f64::NEG_INFINITY);
    assert_eq!(f.abs().dd.hi, f64::INFINITY);
}

#[test]
fn a_pole_is_no_monotonic_function() {
    let x = Motion { x: -1.0, v: 2.0, a: 0.0 }.over(1.0);
    assert_eq!(x.powi(-1).d, Interval::ALL);
    assert_eq!((Enclosure::from_f64(1.0) / x).d, Interval::ALL);
    assert_eq!((x * 2.0).tan().d, Interval::ALL);
}
