//! Inertia tensors: made from what a file gives, and checked.
//!
//! A tensor I is that of some distribution of mass if and only if its principal moments are positive and each is at most
//! the sum of the other two. Equality is a flat body and common; a moment of 0 is refused, since M would be singular.

use crate::shapes::steiner;
use sarrus_math::Mat3;
use sarrus_model::reader::WrittenInertia;
use sarrus_model::record::ResolvedValue;
use sarrus_model::{Reader, Result};

/// Describes how far, of the largest, a moment may exceed the sum of the others: tables are printed with some ten digits.
const TRIANGLE: f64 = 1e-9;

/// Below this part of the largest, a moment computed from a full tensor is roundoff.
const ROUNDOFF: f64 = 1e-14;

/// A mass that can be divided by.
pub fn in_range(mass: f64) -> Option<f64> {
    (mass > 0.0 && mass.is_finite() && mass.recip().is_finite()).then_some(mass)
}

/// The tensor with these moments.
pub fn diagonal(m: [f64; 3]) -> Mat3 {
    Mat3([[m[0], 0.0, 0.0], [0.0, m[1], 0.0], [0.0, 0.0, m[2]]])
}

fn is_diagonal(I: &Mat3) -> bool {
    I.0[0][1] == 0.0 && I.0[0][2] == 0.0 && I.0[1][2] == 0.0
}

/// An inertia as given; a planar one stands for all three axes, so that it can be inverted.
pub fn tensor(given: WrittenInertia) -> Mat3 {
    match given {
        WrittenInertia::Planar(I) => diagonal([I; 3]),
        WrittenInertia::Moments(moments) => diagonal(moments),
        WrittenInertia::Tensor(rows) => Mat3(rows),
    }
}

/// m K, with zeros without a sign off the diagonal; planar: of its last entry.
pub fn scaled(k2: &Mat3, mass: f64, planar: bool) -> Mat3 {
    if planar {
        return diagonal([mass * k2.0[2][2]; 3]);
    }
    if is_diagonal(k2) {
        return diagonal([0, 1, 2].map(|i| mass * k2.0[i][i]));
    }
    Mat3(k2.0.map(|row| row.map(|x| mass * x)))
}

/// I_C = I_O - m (|com|² 1 - com comᵀ).
pub fn about_centre(I: Mat3, mass: f64, com: [f64; 3], planar: bool) -> Mat3 {
    let arm = steiner(com);
    if planar {
        return diagonal([I.0[2][2] - mass * arm.0[2][2]; 3]);
    }
    Mat3([0, 1, 2].map(|i| [0, 1, 2].map(|j| I.0[i][j] - mass * arm.0[i][j])))
}

/// Writes an inertia that was not given to the resolved file.
pub fn record(reader: &Reader, I: &Mat3) {
    reader.record("inertia", || {
        if reader.is_planar() {
            ResolvedValue::Number(I.0[2][2])
        } else if is_diagonal(I) {
            ResolvedValue::numbers(&[I.0[0][0], I.0[1][1], I.0[2][2]])
        } else {
            ResolvedValue::List(I.0.iter().map(|row| ResolvedValue::numbers(row)).collect())
        }
    });
}

/// Refuses an inertia that no body has, or with which it could not be moved.
pub fn check(reader: &Reader, I: &Mat3, about_origin: bool) -> Result<()> {
    // texts are made only when needed: this runs for every body
    let what = || match about_origin {
        true => format!("`inertia` of {}, less m·com² to be about the centre of mass,", reader.title()),
        false => format!("`inertia` of {}", reader.title()),
    };
    let refuse = |problem: &str, hint: &str| {
        let key = if reader.has("inertia") { "inertia" } else { "shape" };
        Err(reader.error(key, format!("{} {problem}", what())).hint(hint))
    };
    if I.0.iter().flatten().any(|x| !x.is_finite()) {
        return refuse("is not finite", "check the units");
    }
    if reader.is_planar() {
        let I = I.0[2][2];
        return match in_range(I) {
            Some(_) => Ok(()),
            None if I < 0.0 => {
                refuse(&format!("must be positive, it is {I}"), "kg m², about the centre of mass")
            }
            None => refuse("is 0", "M would be singular: give it a small one, or make the body a `point`"),
        };
    }

    let m = principal_moments(I);
    let moments = || format!("(principal moments {:.6e}, {:.6e}, {:.6e})", m[0], m[1], m[2]);
    let least = if is_diagonal(I) { 0.0 } else { ROUNDOFF * m[2].abs() };
    if m[0].abs() <= least || (m[0] > 0.0 && in_range(m[0]).is_none()) {
        return refuse(
            &format!("has a moment of 0 {}", moments()),
            "M would be singular: give it a small moment (a thin rod has m r²/2), or make the body a `point`",
        );
    }
    let sign = "off the diagonal stands -∫xy dm; some programs print the opposite sign";
    if m[0] < 0.0 {
        let hint = if is_diagonal(I) { "kg m², about the centre of mass" } else { sign };
        return refuse(&format!("has a negative moment {}", moments()), hint);
    }
    if m[2] - m[1] - m[0] > TRIANGLE * m[2] {
        let hint =
            if is_diagonal(I) { "is it about the centre of mass, are the units the same?" } else { sign };
        return refuse(
            &format!("is impossible: one moment exceeds the sum of the others {}", moments()),
            hint,
        );
    }
    Ok(())
}

/// Eigenvalues of a symmetric matrix, ascending, by Jacobi's rotations; cubic convergence, a handful of sweeps.
fn principal_moments(I: &Mat3) -> [f64; 3] {
    // scaled, so that squares neither over- nor underflow
    let size = I.0.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
    if size == 0.0 {
        return [0.0; 3];
    }
    let mut a = I.0.map(|row| row.map(|x| x / size));
    for _ in 0..20 {
        if a[0][1] == 0.0 && a[0][2] == 0.0 && a[1][2] == 0.0 {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            rotate_away(&mut a, p, q);
        }
    }
    let mut m =
        if is_diagonal(I) { [I.0[0][0], I.0[1][1], I.0[2][2]] } else { [0, 1, 2].map(|i| size * a[i][i]) };
    m.sort_by(f64::total_cmp);
    m
}

/// One rotation that makes a_pq = 0.
fn rotate_away(a: &mut [[f64; 3]; 3], p: usize, q: usize) {
    if a[p][q].abs() <= 1e-300 {
        (a[p][q], a[q][p]) = (0.0, 0.0);
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    let r = 3 - p - q;
    let (apq, arp, arq) = (a[p][q], a[r][p], a[r][q]);
    a[p][p] -= t * apq;
    a[q][q] += t * apq;
    (a[p][q], a[q][p]) = (0.0, 0.0);
    (a[r][p], a[p][r]) = (c * arp - s * arq, c * arp - s * arq);
    (a[r][q], a[q][r]) = (s * arp + c * arq, s * arp + c * arq);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principal_moments_do_not_depend_on_the_axes() {
        let m = [0.1, 2.0, 2.05];
        for q in [[0.9, 0.1, -0.3, 0.3], [0.1, 0.7, 0.7, 0.1], [0.5, 0.5, 0.5, 0.5], [1.0, 1e-9, 0.0, 0.0]] {
            let R = Mat3::from_quat(q);
            let I = R * diagonal(m) * R.transpose();
            let I = Mat3([0, 1, 2].map(|i| [0, 1, 2].map(|j| 0.5 * (I.0[i][j] + I.0[j][i]))));
            for scale in [1.0, 1e-200, 1e200] {
                let found = principal_moments(&Mat3(I.0.map(|row| row.map(|x| scale * x))));
                for (found, expected) in found.iter().zip(m) {
                    assert!((found / scale - expected).abs() < 2e-15, "{q:?} {found}");
                }
            }
        }
    }

    /// [[2, -1, 0], [-1, 2, -1], [0, -1, 2]] has 2 - √2, 2, 2 + √2.
    #[test]
    fn principal_moments_of_a_full_tensor() {
        let m = principal_moments(&Mat3([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]));
        for (found, expected) in m.iter().zip([2.0 - 2f64.sqrt(), 2.0, 2.0 + 2f64.sqrt()]) {
            assert!((found - expected).abs() < 1e-15);
        }
        assert_eq!(principal_moments(&Mat3([[0.0; 3]; 3])), [0.0; 3]);
        assert_eq!(principal_moments(&diagonal([3.0, 1e-300, 2.0])), [1e-300, 2.0, 3.0]);
    }
}
