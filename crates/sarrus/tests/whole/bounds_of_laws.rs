//! Bounds on expressions of forces over intervals of a step: values, difference quotients and those of these lie in them.

use crate::common::load;
use sarrus::math::{Enclosure, Interval};
use sarrus::solve::State;
use sarrus::system::body::BodyKind;
use sarrus::system::controllers::mode;
use sarrus::system::motion::{BodiesAtInstant, MotionBounds};
use sarrus::system::system::FIRST_STATE;
use sarrus::system::{Laws, Mechanism, System};
use std::sync::Arc;

/// Numbers in [0, 1), the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn polynomial(&mut self) -> [f64; 5] {
        std::array::from_fn(|_| 2.0 * self.next() - 1.0)
    }
}

fn value(c: &[f64; 5], t: f64) -> f64 {
    c.iter().rev().fold(0.0, |sum, c| sum * t + c)
}

fn rate(c: &[f64; 5], t: f64) -> f64 {
    (1..5).rev().fold(0.0, |sum, k| sum * t + k as f64 * c[k])
}

/// Positions, velocities and states as polynomials of time.
struct Motions {
    positions: Vec<[f64; 5]>,
    states: Vec<[f64; 5]>,
}

impl Motions {
    fn state(&self, system: &System, t: f64) -> State {
        let mut s = system.start();
        s.t = t;
        for body in &system.directory.bodies {
            let own = &self.positions[body.v..];
            let rotates = matches!(body.kind, BodyKind::Rigid);
            for (i, c) in own.iter().enumerate().take(if rotates { 3 } else { body.kind.nv() }) {
                (s.q[body.q + i], s.v[body.v + i]) = (value(c, t), rate(c, t));
            }
            if rotates {
                let (rotation, omega) = rotate([&own[3], &own[4]], t);
                s.q[body.q + 3..][..4].copy_from_slice(&rotation);
                s.v[body.v + 3..][..3].copy_from_slice(&omega);
            }
        }
        for (x, c) in s.x[FIRST_STATE..].iter_mut().zip(&self.states) {
            *x = value(c, t);
        }
        s
    }
}

/// The quaternion of a rotation by α about z after one by β about x, and its angular velocity in the turned axes.
fn rotate([alpha, beta]: [&[f64; 5]; 2], t: f64) -> ([f64; 4], [f64; 3]) {
    let [a, b] = [alpha, beta].map(|c| 0.5 * value(c, t));
    let rotation = [a.cos() * b.cos(), a.cos() * b.sin(), a.sin() * b.sin(), a.sin() * b.cos()];
    let (about_z, about_x) = (rate(alpha, t), rate(beta, t));
    (rotation, [about_x, about_z * (2.0 * b).sin(), about_z * (2.0 * b).cos()])
}

/// A state of a controller; one that is held stays.
fn state(system: &System, x: usize, random: &mut Random) -> [f64; 5] {
    let c = random.polynomial();
    let own = system.controllers.iter().rfind(|element| element.x <= x).unwrap();
    if own.controller.is_held(x - own.x) { [c[0], 0.0, 0.0, 0.0, 0.0] } else { c }
}

/// Checks the bounds of every law of a system over many intervals; returns how many bounds of each kind were finite.
fn check(system: &Arc<System>, mechanism: &mut Mechanism, random: &mut Random) -> [usize; 4] {
    let laws = Laws::new(system).unwrap();
    let order = 8;
    let mut count = [0; 4];
    for _ in 0..40 {
        let start = system.start();
        let motions = Motions {
            positions: start.v.iter().map(|_| random.polynomial()).collect(),
            states: (FIRST_STATE..start.x.len()).map(|x| state(system, x, random)).collect(),
        };
        let mut motion = MotionBounds::of(system, order).with_bends();
        for k in 0..motion.fractions().len() {
            let t = motion.fractions()[k];
            mechanism.frame(&motions.state(system, t), motion.node(k));
        }
        motion.begin(laws.bodies(), laws.states());
        let mut frame = |t: f64| {
            let mut frame = BodiesAtInstant::default();
            mechanism.frame(&motions.state(system, t), &mut frame);
            frame
        };
        for _ in 0..6 {
            let w = 10f64.powf(-2.5 * random.next());
            let from = (1.0 - w) * random.next();
            let frames: Vec<BodiesAtInstant> =
                (0..=30).map(|k| frame(from + w * f64::from(k) / 30.0)).collect();
            let mut sample = |bound: Enclosure, values: Vec<f64>, what: &str| {
                inside(bound, &values, w / 30.0, what);
                for (k, bound) in [bound.v, bound.d, bound.dd].into_iter().enumerate() {
                    count[k] += usize::from(bound.lo.is_finite() && bound.hi.is_finite());
                }
                count[3] += 1;
            };
            for (i, law) in laws.list().iter().enumerate() {
                let values = frames.iter().map(|frame| law.value(frame)).collect();
                sample(law.enclose(&motion, &frames[0], &frames[30]), values, &format!("{} {i}", law.title));
            }
            for i in 0..laws.switches() {
                let values = frames.iter().map(|frame| laws.argument(i, frame)).collect();
                let bound = laws.enclose_argument(i, &motion, &frames[0], &frames[30]);
                sample(bound, values, &format!("choice {i}"));
            }
        }
    }
    count
}

fn inside(bound: Enclosure, values: &[f64], step: f64, what: &str) {
    let size = values.iter().fold(1.0f64, |most, x| most.max(x.abs()));
    let within = |bound: Interval, x: f64, order: i32| {
        let slack = 256.0 * f64::EPSILON * size / step.powi(order) + 1e-9 * x.abs();
        bound.lo - slack <= x && x <= bound.hi + slack
    };
    let rates: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]) / step).collect();
    for x in values {
        assert!(within(bound.v, *x, 0), "{what}: {x} in {:?}", bound.v);
    }
    for rate in &rates {
        assert!(within(bound.d, *rate, 1), "{what}: rate {rate} in {:?}", bound.d);
    }
    for pair in rates.windows(2) {
        let bend = (pair[1] - pair[0]) / step;
        assert!(within(bound.dd, bend, 2), "{what}: second derivative {bend} in {:?}", bound.dd);
    }
}

/// Bodies `a` and `b` with forces along x on the first.
fn system(space: &str, forces: &[&str], controllers: &str) -> Arc<System> {
    let (zero, inertia) = if space == "planar" { ("0", "1") } else { ("0, 0", "[1, 1, 1]") };
    let forces: Vec<String> = forces
        .iter()
        .enumerate()
        .map(|(i, force)| {
            format!("forces.f{i} = {{ kind = 'force', body = 'a', force = ['{force}', {zero}] }}")
        })
        .collect();
    let text = format!(
        "space = '{space}'
        bodies.a = {{ at = [0, {zero}], mass = 1, inertia = {inertia}, markers.m = {{ on = [0.3, {zero}] }} }}
        bodies.b = {{ at = [1, {zero}], mass = 1, inertia = {inertia}, markers.m = {{ on = [0.1, {zero}] }} }}
        {}
        {controllers}",
        forces.join("\n")
    );
    load(&text).1
}

const FORCES: [&str; 9] = [
    "sin(c.out)",
    "exp(-(d.u)^2)*a.vx",
    "tanh(e.out) + abs(c.integral)",
    "if(d.s > 0.2, d.s^2, sin(d.u))",
    "hypot(a.vx, a.vy)*a.vx + tanh(a.rate)*b.vy",
    "sin(a.m.vx)*cos(b.angle)",
    "exp(-g.out^2) + i.out*sin(a.x)",
    "sqrt(1 + c.out^2 + d.v^2)",
    "max(d.u, e.filtered)*d.u",
];
const CONTROLLERS: &str = "
    controllers.c = { kind = 'pid', input = '1 - a.x*b.y', kp = 0.7, ki = 2, limits = [-1, 1.5] }
    controllers.d = { kind = 'ode', states = { s = 0, r = 0 }, rates = { s = 'sin(r)*a.vx', r = 'abs(s)' }, outputs = { u = 's*a.vy - r*e.out', v = 'cos(u2)' } }
    controllers.e = { kind = 'pid', input = 'a.vx - d.s', kp = 1, kd = 0.3, filter = 0.4 }
    controllers.g = { kind = 'pid', input = 'sin(a.x)*b.y + a.angle', kp = 0.2, kd = 0.5 }
    controllers.i = { kind = 'input', value = 1.3 }";

#[test]
fn expressions_that_read_controllers_and_velocities_lie_in_their_bounds() {
    let system = system("planar", &FORCES, &CONTROLLERS.replace("cos(u2)", "cos(s*r)"));
    let mut random = Random(3);
    let [values, rates, bends, all] = check(&system, &mut system.mechanism(), &mut random);
    assert_eq!(values, all);
    // all but jumps, and kinks and the rate of an exact derivative
    assert!(rates * 10 > all * 8 && bends * 10 > all * 6, "{rates} and {bends} of {all}");
}

#[test]
fn expressions_that_read_turning_bodies_lie_in_their_bounds() {
    let forces = [
        "sin(a.wx*a.vy)",
        "tanh(a.m.vx)*b.wy",
        "exp(-a.wz^2)*a.m.vz",
        "sin(c.out)",
        "hypot(b.wx, b.wy)*b.m.vy",
    ];
    let pid = "controllers.c = { kind = 'pid', input = 'a.m.x*b.m.y', kp = 0.3, kd = 0.4 }";
    let system = system("spatial", &forces, pid);
    let mut random = Random(7);
    let [values, rates, bends, all] = check(&system, &mut system.mechanism(), &mut random);
    assert_eq!(values, all);
    assert!(rates * 10 > all * 9 && bends * 10 > all * 7, "{rates} and {bends} of {all}");
}

/// The integral is what the limit leaves for it.
#[test]
fn an_integral_that_follows_a_limit_lies_in_its_bounds() {
    for side in [1.0, -1.0] {
        let system = system(
            "planar",
            &["sin(c.integral) + exp(-c.out^2)"],
            "controllers.c = { kind = 'pid', input = '1 - a.x*b.y', kp = 0.7, ki = 2, kd = 0.4, filter = 0.3, limits = [-1, 1.5] }",
        );
        let mut mechanism = system.mechanism();
        let mut s = system.start();
        let limited = mechanism.limited()[0];
        mechanism.set_mode(limited, side * mode::SLIDES, &mut s);
        let mut random = Random(5);
        let [values, rates, _, all] = check(&system, &mut mechanism, &mut random);
        assert_eq!([values, rates], [all, all]);
    }
}
