//! Sine and cosine to some 100 bits: numbers as unevaluated sums of two, the series of Taylor.

use std::f64::consts::{FRAC_2_PI, PI};

/// high + low, |low| ≤ half an ulp of high.
type Double = (f64, f64);

/// a + b, exact.
fn sum(a: f64, b: f64) -> Double {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// a b, exact.
fn product(a: f64, b: f64) -> Double {
    let p = a * b;
    (p, a.mul_add(b, -p))
}

fn plus(a: Double, b: Double) -> Double {
    let (s, e) = sum(a.0, b.0);
    sum(s, e + a.1 + b.1)
}

fn times(a: Double, b: Double) -> Double {
    let (p, e) = product(a.0, b.0);
    sum(p, e + a.0 * b.1 + a.1 * b.0)
}

fn over(a: Double, b: f64) -> Double {
    let q = a.0 / b;
    let (p, e) = product(q, b);
    sum(q, ((a.0 - p) - e + a.1) / b)
}

/// π/2 as a sum, to 212 bits.
const HALF_PI: [f64; 4] = [PI / 2.0, 6.123233995736766e-17, -1.4973849048591698e-33, 5.562271104316826e-50];

/// sin x and cos x.
fn sin_cos(x: f64) -> [Double; 2] {
    let n = (x * FRAC_2_PI).round();
    let mut r = (x, 0.0);
    for part in HALF_PI {
        let (p, e) = product(-n, part);
        r = plus(plus(r, (p, 0.0)), (e, 0.0));
    }

    // Σ (-1)ᵏ r²ᵏ⁺¹ / (2k + 1)! and Σ (-1)ᵏ r²ᵏ / (2k)!; at π/4 the terms left out are below 2⁻¹⁰⁶
    let minus_r2 = times((-r.0, -r.1), r);
    let series = |mut term: Double, first: f64| {
        let (mut total, mut k) = (term, first);
        while k < 30.0 {
            term = over(times(term, minus_r2), k * (k + 1.0));
            total = plus(total, term);
            k += 2.0;
        }
        total
    };
    let (s, c) = (series(r, 2.0), series((1.0, 0.0), 1.0));
    let minus = |a: Double| (-a.0, -a.1);
    match n.rem_euclid(4.0) as u8 {
        0 => [s, c],
        1 => [c, minus(s)],
        2 => [minus(s), minus(c)],
        _ => [minus(c), s],
    }
}

/// The greater of the errors of sine and cosine, in units of the last place.
pub fn ulps(x: f64, got: (f64, f64)) -> f64 {
    let exact = sin_cos(x);
    let error = |got: f64, exact: Double| {
        let size = exact.0.abs();
        ((got - exact.0) - exact.1).abs() / (size.next_up() - size)
    };
    error(got.0, exact[0]).max(error(got.1, exact[1]))
}
