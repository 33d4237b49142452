//! Poses between two frames: cubic in time, with the velocities at both ends, as the page draws them.
//!
//! The path of a body's origin is missed by h⁴/384 of its fourth derivative, and so are the points at which joints hold bodies together. The
//! rotation is a cubic rotation vector from the first orientation; by how many revolutions it goes the angular velocities tell. Bodies that
//! rotate by more than `FAR` between two frames go straight: there a cubic follows no arc. Without velocities positions are linear, and
//! orientations go the short way at constant rate.

use crate::motion::{POSE, PoseTable, RATES};
use std::f64::consts::{PI, TAU};

/// Rotations beyond which positions go straight \[rad\].
const FAR: f64 = 2.0;

type Vector3 = [f64; 3];
type Quaternion = [f64; 4];

/// A body at a frame.
#[derive(Clone, Copy)]
struct BodyAtFrame {
    p: Vector3,
    q: Quaternion,
    /// Velocities, where they are known.
    rates: Option<[Vector3; 2]>,
}

fn body(motion: &PoseTable, frame: usize, body: usize) -> BodyAtFrame {
    let i = frame * motion.bodies + body;
    let pose: &[f32] = &motion.poses[i * POSE..(i + 1) * POSE];
    let x = |k: usize| f64::from(pose[k]);
    let rates = motion.rates.get(i * RATES..(i + 1) * RATES).filter(|own| own.iter().all(|x| x.is_finite()));
    let rates = rates.map(|own| [0, 3].map(|first| [0, 1, 2].map(|k| f64::from(own[first + k]))));
    BodyAtFrame { p: [x(0), x(1), x(2)], q: [x(3), x(4), x(5), x(6)], rates }
}

/// The pose of body `i` the part `u` of the way from frame `a` to frame `b`: place, and unit quaternion.
pub fn pose(motion: &PoseTable, i: usize, [a, b]: [usize; 2], u: f64) -> (Vector3, Quaternion) {
    let h = motion.table.t[b] - motion.table.t[a];
    let (a, b) = (body(motion, a, i), body(motion, b, i));
    let short = rotation(a.q, b.q);
    let (Some([v, w]), Some([v1, w1]), true) = (a.rates, b.rates, h > 0.0) else {
        let phi = short.map(|x| u * x);
        return ([0, 1, 2].map(|k| (1.0 - u) * a.p[k] + u * b.p[k]), rotated(phi, a.q));
    };
    let mean = [0, 1, 2].map(|k| 0.5 * h * (w[k] + w1[k]));
    let phi = unwrapped(short, mean);
    let far = norm(phi) > FAR;
    let scaled = |x: Vector3| x.map(|x| h * x);
    let rate = if far { scaled(w1) } else { vector_rate(phi, scaled(w1)) };
    let angle = [0, 1, 2].map(|k| cubic(0.0, h * w[k], phi[k], rate[k], u));
    let p = [0, 1, 2].map(|k| match far {
        true => (1.0 - u) * a.p[k] + u * b.p[k],
        false => cubic(a.p[k], h * v[k], b.p[k], h * v1[k], u),
    });
    (p, rotated(angle, a.q))
}

/// The cubic with values `a`, `b` and slopes `da`, `db` at 0 and 1.
fn cubic(a: f64, da: f64, b: f64, db: f64, u: f64) -> f64 {
    let v = 1.0 - u;
    v * v * ((1.0 + 2.0 * u) * a + u * da) + u * u * ((1.0 + 2.0 * v) * b - v * db)
}

fn norm(a: Vector3) -> f64 {
    dot(a, a).sqrt()
}

fn dot(a: Vector3, b: Vector3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vector3, b: Vector3) -> Vector3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn product(a: Quaternion, b: Quaternion) -> Quaternion {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

/// The shortest rotation vector, in world axes, from `a` to `b`.
fn rotation(a: Quaternion, b: Quaternion) -> Vector3 {
    let [w, x, y, z] = product(b, [a[0], -a[1], -a[2], -a[3]]);
    let sign = if w < 0.0 { -1.0 } else { 1.0 };
    let sine = norm([x, y, z]);
    let angle = 2.0 * sine.atan2(w.abs());
    let scale = if sine > 1e-12 { sign * angle / sine } else { 2.0 * sign };
    [x, y, z].map(|x| scale * x)
}

/// `q` rotated by `phi`, in world axes.
fn rotated(phi: Vector3, q: Quaternion) -> Quaternion {
    let angle = norm(phi);
    let scale = if angle > 1e-12 { (0.5 * angle).sin() / angle } else { 0.5 };
    let rotation = [(0.5 * angle).cos(), scale * phi[0], scale * phi[1], scale * phi[2]];
    let all = product(rotation, q);
    let length = all.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 { all.map(|x| x / length) } else { q }
}

/// The rotation vector of the same rotation that is nearest to `mean`.
fn unwrapped(short: Vector3, mean: Vector3) -> Vector3 {
    let (angle, far) = (norm(short), norm(mean));
    if angle <= 1e-3 && far < PI {
        return short;
    }
    let axis = if angle > 1e-3 { short.map(|x| x / angle) } else { mean.map(|x| x / far) };
    let revolutions = ((dot(mean, axis) - angle) / TAU).round();
    axis.map(|x| x * (angle + TAU * revolutions))
}

/// The derivative of the rotation vector `phi` under the angular velocity `w`, in world axes.
fn vector_rate(phi: Vector3, w: Vector3) -> Vector3 {
    let angle = norm(phi);
    let c = if angle < 1e-2 {
        1.0 / 12.0
    } else {
        (1.0 - 0.5 * angle * (1.0 + angle.cos()) / angle.sin()) / (angle * angle)
    };
    let once = cross(phi, w);
    let twice = cross(phi, once);
    [0, 1, 2].map(|k| w[k] - 0.5 * once[k] + c * twice[k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ColumnTable;

    /// A point of a wheel at `radius` about z that turns at `rate`, at two frames.
    fn wheel(rate: f64, h: f64, radius: f64) -> PoseTable {
        let mut motion = PoseTable { bodies: 1, ..PoseTable::default() };
        motion.table = ColumnTable { t: vec![0.0, h], ..ColumnTable::default() };
        for t in [0.0, h] {
            let (s, c) = (rate * t).sin_cos();
            let q = [(0.5 * rate * t).cos(), (0.5 * rate * t).sin()];
            motion.poses.extend([radius * c, radius * s, 0.0, q[0], 0.0, 0.0, q[1]].map(|x| x as f32));
            motion
                .rates
                .extend([-radius * rate * s, radius * rate * c, 0.0, 0.0, 0.0, rate].map(|x| x as f32));
        }
        motion
    }

    #[test]
    fn an_arc_is_followed_to_the_fourth_order() {
        let miss = |angle: f64| {
            let (p, q) = pose(&wheel(angle, 1.0, 1.0), 0, [0, 1], 0.5);
            let exact = [(0.5 * angle).cos(), (0.5 * angle).sin()];
            assert!((q[0] - (0.25 * angle).cos()).abs() < 1e-6 && (q[3] - (0.25 * angle).sin()).abs() < 1e-6);
            (p[0] - exact[0]).hypot(p[1] - exact[1])
        };
        // θ⁴/384 of the radius
        for angle in [0.5_f64, 0.9] {
            let exact = angle.powi(4) / 384.0;
            assert!((miss(angle) / exact - 1.0).abs() < 0.1, "{} where {exact} is exact", miss(angle));
        }
    }

    #[test]
    fn revolutions_between_two_frames_are_shown() {
        for revolutions in [3.0, 3.3, 0.7, -2.5] {
            let (_, q) = pose(&wheel(revolutions * TAU, 1.0, 0.0), 0, [0, 1], 0.25);
            let angle = 0.25 * revolutions * TAU;
            let along = q[0] * (0.5 * angle).cos() + q[3] * (0.5 * angle).sin();
            assert!(along.abs() > 1.0 - 1e-6, "{revolutions}: {q:?}");
        }
    }

    #[test]
    fn a_rotation_about_a_changing_axis_keeps_its_rates() {
        // exp(t a) exp(t b): its angular velocity in world axes is a + exp(t a) b
        let (a, b) = ([0.6, 0.0, 0.2], [0.0, 0.7, -0.3]);
        let at = |t: f64| rotated(a.map(|x| t * x), rotated(b.map(|x| t * x), [1.0, 0.0, 0.0, 0.0]));
        let rate = |t: f64| {
            let angle = rotated(a.map(|x| t * x), [1.0, 0.0, 0.0, 0.0]);
            let spun =
                product(product(angle, [0.0, b[0], b[1], b[2]]), [angle[0], -angle[1], -angle[2], -angle[3]]);
            [0, 1, 2].map(|k| a[k] + spun[k + 1])
        };
        let miss = |h: f64| {
            let mut motion = PoseTable { bodies: 1, ..PoseTable::default() };
            motion.table = ColumnTable { t: vec![0.0, h], ..ColumnTable::default() };
            for t in [0.0, h] {
                motion.poses.extend([0.0; 3].iter().chain(&at(t)).map(|x| *x as f32));
                motion.rates.extend([0.0; 3].iter().chain(&rate(t)).map(|x| *x as f32));
            }
            norm(rotation(at(0.5 * h), pose(&motion, 0, [0, 1], 0.5).1))
        };
        assert!(miss(0.5) < 2e-4 && miss(1.0) < 3e-3, "{} {}", miss(0.5), miss(1.0));
    }
}
