//! Bounds on the motion of all bodies over a step, from samples of its dense output.
//!
//! A step is sampled at Chebyshev-Lobatto nodes, as many as the degree of its dense output asks for. They bound for each body the speed,
//! the acceleration of its centre of mass, |ω| and |ω̇| over the step: |p| ≤ Λ max |pₖ| for a polynomial p with the values pₖ at the
//! nodes, with Λ the Lebesgue constant.
//!
//! **Enclosures.** Between instants a and b a coordinate x with |ẍ - m| ≤ s leaves its chord by at most w²/8 (|m| + s), and its rate
//! the chord's by w/2 (|m| + s), w = b - a. Entries of a rotation matrix have second derivatives up to |ω̇| + |ω|²; Ṙ = ω × R. With
//! these any formula of positions, velocities and time is bounded by evaluating it over [`Enclosure`].
//!
//! **Velocities and states of controllers** are bounded in the same way, by second derivatives from the nodes. Outputs of controllers
//! follow in the order of these ([`ControllerElement::enclose`](crate::system::ControllerElement)).

use crate::at::At;
use crate::formula::Formula;
use crate::mechanism::Mechanism;
use crate::reads::{ControllerState, Reads};
use crate::system::System;
use sarrus_math::{Enclosure, Interval, Mat3, Pose, Real, Twist, Vec3};
use sarrus_model::Space;
use sarrus_solve::State;
use std::cell::RefCell;

/// Bounds the Lebesgue constant of up to [`MOST_NODES`] Chebyshev-Lobatto intervals: 2/π (ln 8 + 0.5772 + ln 8/π).
const LEBESGUE: f64 = 2.3;
/// Least and most intervals between nodes.
const MOST_NODES: usize = 8;
const FEWEST_NODES: usize = 3;

/// All bodies at an instant.
#[derive(Clone, Debug, Default)]
pub struct BodiesAtInstant {
    /// Time \[s\].
    pub t: f64,
    pub(crate) poses: Vec<Pose>,
    pub(crate) twists: Vec<Twist>,
    /// Last accepted values of multivalued quantities, where formulas are bounded.
    pub(crate) discrete: Vec<f64>,
    /// Gaps given by expressions, by contact \[m\].
    pub(crate) gaps: Vec<f64>,
    /// Outputs and states of the controllers.
    pub(crate) outs: Vec<f64>,
    /// Holds what expressions read on a path of statics, where `t` is the part of the path and twists are its directions.
    pub(crate) still: Option<Still>,
}

/// Time and velocities where all is at rest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Still {
    /// Time \[s\].
    pub t: f64,
    /// None of which is other than zero.
    pub twists: Vec<Twist>,
}

impl BodiesAtInstant {
    /// Time and velocities that expressions read.
    pub(crate) fn read(&self) -> (f64, &[Twist]) {
        self.still.as_ref().map_or((self.t, &self.twists), |still| (still.t, &still.twists))
    }

    /// Takes over another.
    pub fn copy_from(&mut self, other: &BodiesAtInstant) {
        self.t = other.t;
        self.poses.clone_from(&other.poses);
        self.twists.clone_from(&other.twists);
        self.discrete.clone_from(&other.discrete);
        self.gaps.clone_from(&other.gaps);
        self.still.clone_from(&other.still);
        self.outs.clone_from(&other.outs);
    }
}

/// Bounds on the motion of a body over a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyBound {
    /// Speed \[m/s\].
    pub speed: f64,
    /// Mean acceleration, and the deviation from it \[m/s²\].
    pub mean: Vec3,
    pub spread: f64,
    /// |ω| and |ω̇|.
    pub w: f64,
    pub alpha: f64,
    /// Mean second derivative of a planar body's angle, and the deviation from it \[rad/s²\].
    pub rotation: [f64; 2],
    /// Means of v̈, and of ω̈ in body and world axes, and the deviations from these; infinite where they are not asked for.
    pub(crate) bends: [(Vec3, f64); 3],
}

pub(crate) const AT_REST: BodyBound = BodyBound {
    speed: 0.0,
    mean: Vec3([0.0; 3]),
    spread: 0.0,
    w: 0.0,
    alpha: 0.0,
    rotation: [0.0; 2],
    bends: [(Vec3([0.0; 3]), 0.0); 3],
};
/// Second derivatives of which nothing is known.
const UNKNOWN: (Vec3, f64) = (Vec3([0.0; 3]), f64::INFINITY);

/// Bounds the motion over a step.
#[derive(Clone)]
pub struct MotionBounds {
    pub(crate) nodes: Vec<BodiesAtInstant>,
    /// Intervals, fractions of the step at the nodes, and the matrix of differentiation over the step.
    pub(crate) n: usize,
    fractions: Vec<f64>,
    D: Vec<f64>,
    pub(crate) bounds: Vec<BodyBound>,
    /// By place among the outputs of controllers: of a state the mean second derivative, and the deviation from it.
    states: Vec<[f64; 2]>,
    /// True if velocities have bounds on their second derivatives.
    bends: bool,
    pub(crate) planar: bool,
    pub(crate) h: f64,
    workspace: RefCell<Workspace>,
    /// By body, of those that were read last.
    all: RefCell<Workspace>,
}

/// Bounds of the bodies that a formula reads.
#[derive(Clone, Default)]
struct Workspace {
    poses: Vec<Pose<Enclosure>>,
    twists: Vec<Twist<Enclosure>>,
    ids: Vec<u32>,
    outs: Vec<Enclosure>,
    own: Vec<Enclosure>,
}

impl MotionBounds {
    /// Of the bodies of `system`, for dense output of `order`.
    pub fn of(system: &System, order: u32) -> MotionBounds {
        let planar = system.directory.space == Space::Planar;
        MotionBounds::new([system.directory.bodies.len(), system.outs], planar, order)
    }

    /// The same with bounds on second derivatives of velocities.
    pub fn with_bends(self) -> MotionBounds {
        MotionBounds { bends: true, ..self }
    }

    /// Of `bodies`, and controllers with `outs`, for dense output of `order`.
    fn new([bodies, outs]: [usize; 2], planar: bool, order: u32) -> MotionBounds {
        let n = (order as usize).clamp(FEWEST_NODES, MOST_NODES);
        let fractions: Vec<f64> =
            (0..=n).map(|k| 0.5 - 0.5 * (std::f64::consts::PI * k as f64 / n as f64).cos()).collect();
        MotionBounds {
            nodes: vec![BodiesAtInstant::default(); n + 1],
            n,
            D: differentiation(&fractions),
            fractions,
            bounds: vec![AT_REST; bodies],
            states: vec![[0.0; 2]; outs],
            bends: false,
            planar,
            h: 0.0,
            workspace: RefCell::default(),
            all: RefCell::default(),
        }
    }

    /// Fractions of a step at which it is sampled.
    pub fn fractions(&self) -> &[f64] {
        &self.fractions
    }

    /// The frame of a node.
    pub fn node(&mut self, k: usize) -> &mut BodiesAtInstant {
        &mut self.nodes[k]
    }

    /// The first and the last frame of the step.
    pub fn ends(&self) -> [&BodiesAtInstant; 2] {
        [&self.nodes[0], &self.nodes[self.n]]
    }

    /// Bounds the motion of `bodies` over the step that the nodes sample, and states of controllers by their places among the outputs.
    pub fn begin(&mut self, bodies: impl Iterator<Item = usize>, states: impl Iterator<Item = usize>) {
        self.h = self.nodes[self.n].t - self.nodes[0].t;
        for body in bodies.filter(|body| *body > 0) {
            self.bounds[body] = self.bound(body);
        }
        for state in states {
            self.states[state] = self.second(|k| self.nodes[k].outs[state]);
        }
    }

    /// Rates at the nodes of what has these values there.
    fn rates(&self, value: impl Fn(usize) -> Vec3) -> [Vec3; MOST_NODES + 1] {
        let scale = 1.0 / self.h;
        let mut rates = [Vec3::zero(); MOST_NODES + 1];
        for (k, rate) in rates[..=self.n].iter_mut().enumerate() {
            *rate = self.derivative(k, &value) * scale;
        }
        rates
    }

    /// Mean rate of what has these values at the nodes.
    fn mean(&self, value: impl Fn(usize) -> Vec3) -> Vec3 {
        (value(self.n) - value(0)) * (1.0 / self.h)
    }

    /// Bound on the deviation of a rate from its mean, from those at the nodes.
    fn spread(&self, rates: &[Vec3; MOST_NODES + 1], mean: Vec3) -> f64 {
        LEBESGUE * rates[..=self.n].iter().map(|rate| (*rate - mean).norm()).fold(0.0, f64::max)
    }

    /// Rates at the nodes of a path with these values there, and a bound on the deviation of its second derivative from the mean.
    fn twice(&self, value: impl Fn(usize) -> Vec3) -> ([Vec3; MOST_NODES + 1], f64) {
        let rates = self.rates(value);
        let again = self.rates(|k| rates[k]);
        (rates, self.spread(&again, self.mean(|k| rates[k])))
    }

    /// Mean of the second derivative of a number with these values at the nodes, and a bound on the deviation from it.
    pub(crate) fn second(&self, value: impl Fn(usize) -> f64) -> [f64; 2] {
        let (rates, rest) = self.twice(|k| Vec3([value(k), 0.0, 0.0]));
        [(rates[self.n] - rates[0])[0] / self.h, rest]
    }

    /// Over the whole step and with respect to its fraction.
    fn derivative(&self, k: usize, value: &impl Fn(usize) -> Vec3) -> Vec3 {
        let row = &self.D[k * (self.n + 1)..][..=self.n];
        row.iter().enumerate().fold(Vec3::zero(), |sum, (j, d)| sum + (value(j) - value(k)) * *d)
    }

    /// Of a velocity with these values at the nodes: a bound on the deviation of its rate from the mean, and its second derivative.
    fn velocity(&self, value: impl Fn(usize) -> Vec3) -> (f64, (Vec3, f64)) {
        let mean = self.mean(&value);
        if !self.bends {
            return (self.spread(&self.rates(value), mean), UNKNOWN);
        }
        let (rates, rest) = self.twice(value);
        (self.spread(&rates, mean), (self.mean(|k| rates[k]), rest))
    }

    fn bound(&self, body: usize) -> BodyBound {
        let n = self.n;
        let v = |k: usize| self.nodes[k].twists[body].v;
        let w = |k: usize| self.nodes[k].twists[body].w;
        let p = |k: usize| self.nodes[k].poses[body].p;
        if (0..=n).all(|k| v(k).norm_squared() == 0.0 && w(k).norm_squared() == 0.0) && p(n) == p(0) {
            return AT_REST;
        }
        // largest value of a vector: between its ends, and beyond by its deviation from the straight line
        let largest = |value: &dyn Fn(usize) -> Vec3| {
            let line = |k: usize| value(0) + (value(n) - value(0)) * self.fractions[k];
            let off = (0..=n).map(|k| (value(k) - line(k)).norm()).fold(0.0, f64::max);
            value(0).norm().max(value(n).norm()) + LEBESGUE * off
        };
        let (rates, path) = self.twice(p);
        let (off, bend) = self.velocity(v);
        // the interpolants of positions and of velocities differ by the error of the step
        let mean = self.mean(v);
        let spread = off.max(path) + (self.mean(|k| rates[k]) - mean).norm();
        let speed = largest(&v).max(largest(&|k| rates[k]));
        let bound =
            BodyBound { speed, mean, spread, bends: [bend, AT_REST.bends[1], AT_REST.bends[2]], ..AT_REST };
        if (0..=n).all(|k| w(k).norm_squared() == 0.0) {
            return bound;
        }
        let (off, (spin, rest)) = self.velocity(w);
        let (most, alpha) = (largest(&w), self.mean(w).norm() + off);
        // ω̈ in world axes is ω̈ + ω × ω̇ of body axes, turned
        let world = (Vec3::zero(), spin.norm() + rest + most * alpha);
        BodyBound {
            w: most,
            alpha,
            rotation: if self.planar { self.second(|k| self.nodes[k].poses[body].angle) } else { [0.0; 2] },
            bends: [bend, (spin, rest), if self.planar { (spin, rest) } else { world }],
            ..bound
        }
    }

    /// Bounds a formula of the bodies `ids` between two frames.
    pub(crate) fn enclose(
        &self,
        formula: &Formula,
        ids: &[u32],
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> Enclosure {
        let mut local = std::mem::take(&mut self.workspace.borrow_mut().ids);
        local.clear();
        local.extend(0..ids.len() as u32);
        let bound = self.between(ids, &local, a, b, |at| formula.enclose(at));
        self.workspace.borrow_mut().ids = local;
        bound
    }

    /// Returns what `read` sees between two frames of `bodies`, where `ids` are places among these.
    pub(crate) fn between<T>(
        &self,
        bodies: &[u32],
        ids: &[u32],
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
        read: impl FnOnce(&At<Enclosure>) -> T,
    ) -> T {
        // taken out, so that `read` may ask for bounds itself
        let mut workspace = self.workspace.take();
        let Workspace { poses, twists, .. } = &mut workspace;
        poses.clear();
        poses.extend(bodies.iter().map(|id| self.pose(*id as usize, a, b)));
        twists.clear();
        twists.extend(bodies.iter().map(|id| self.twist(*id as usize, a, b)));
        let t = time(a, b);
        let seen = read(&At { t, poses, twists, ids, discrete: &a.discrete, outs: &[] });
        self.workspace.replace(workspace);
        seen
    }

    /// Returns what `read` sees between two frames, where `ids` are numbers of bodies and it reads nothing but `reads`.
    pub(crate) fn among<T>(
        &self,
        reads: &Reads,
        ids: &[u32],
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
        read: impl FnOnce(&At<Enclosure>) -> T,
    ) -> T {
        let mut workspace = self.all.take();
        let Workspace { poses, twists, outs, own, .. } = &mut workspace;
        if poses.len() < self.bounds.len() {
            poses.resize(self.bounds.len(), self.pose(0, a, b));
            twists.resize(self.bounds.len(), self.twist(0, a, b));
            outs.resize(self.states.len(), Enclosure::jumping(Interval::ALL));
        }
        for body in reads.bodies.iter().map(|body| *body as usize) {
            if reads.poses {
                poses[body] = self.pose(body, a, b);
            }
            twists[body] = self.twist(body, a, b);
        }
        let t = time(a, b);
        for state in &reads.states {
            outs[state.index] = self.state(state, a, b);
        }
        for element in &reads.controllers {
            element.enclose(&At { t, poses, twists, ids: &element.ids, discrete: &a.discrete, outs }, own);
            outs[element.out..][..own.len()].copy_from_slice(own);
        }
        let seen = read(&At { t, poses, twists, ids, discrete: &a.discrete, outs });
        self.all.replace(workspace);
        seen
    }

    /// A state of a controller between two frames.
    fn state(&self, state: &ControllerState, a: &BodiesAtInstant, b: &BodiesAtInstant) -> Enclosure {
        let ends = [a.outs[state.index], b.outs[state.index]];
        if state.held {
            return Enclosure::constant(Interval::point(ends[0]).hull(Interval::point(ends[1])));
        }
        coordinate(ends, self.states[state.index], b.t - a.t)
    }

    fn pose(&self, body: usize, a: &BodiesAtInstant, b: &BodiesAtInstant) -> Pose<Enclosure> {
        let (own, w) = (&self.bounds[body], b.t - a.t);
        let [A, B] = [&a.poses[body], &b.poses[body]];
        let p = |i: usize| match self.level(|frame| frame.poses[body].p[i]) {
            Some(p) => Enclosure::from_f64(p),
            None => coordinate([A.p[i], B.p[i]], [own.mean[i], own.spread], w),
        };
        if self.planar {
            let pose = Pose::planar(p(0), p(1), coordinate([A.angle, B.angle], own.rotation, w));
            return Pose { p: Vec3([pose.p[0], pose.p[1], p(2)]), ..pose };
        }
        let p = Vec3([p(0), p(1), p(2)]);
        if own.w == 0.0 {
            return Pose { p, rot: Mat3::from_f64(A.rot.0), angle: Enclosure::from_f64(A.angle) };
        }
        let off = around(0.0, w * w / 8.0 * (own.alpha + own.w * own.w));
        let unit = around(0.0, 1.0);
        let entry = |r: usize, c: usize| {
            (Interval::point(A.rot.0[r][c]).hull(Interval::point(B.rot.0[r][c])) + off).meet(unit)
        };
        let R: [[Interval; 3]; 3] = std::array::from_fn(|r| std::array::from_fn(|c| entry(r, c)));
        let omega = self.rate(body, a, b, |twist| twist.w_W);
        let alpha = [around(0.0, own.alpha); 3];
        let mut rot = Mat3::from_f64([[0.0; 3]; 3]);
        for c in 0..3 {
            let column = [R[0][c], R[1][c], R[2][c]];
            let d = cross(omega, column);
            let (rotating, centripetal) = (cross(alpha, column), cross(omega, d));
            for r in 0..3 {
                rot.0[r][c] = Enclosure { v: column[r], d: d[r], dd: rotating[r] + centripetal[r] };
            }
        }
        Pose { p, rot, angle: Enclosure::from_f64(0.0) }
    }

    /// ω between two frames, in the axes of `of`.
    fn rate(
        &self,
        body: usize,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
        of: impl Fn(&Twist) -> Vec3,
    ) -> [Interval; 3] {
        let (own, w) = (&self.bounds[body], b.t - a.t);
        let [A, B] = [of(&a.twists[body]), of(&b.twists[body])];
        // no farther from either end than the acceleration allows
        std::array::from_fn(|i| match self.level(|frame| of(&frame.twists[body])[i]) {
            Some(rate) => Interval::point(rate),
            None => around(0.5 * (A[i] + B[i]), 0.5 * w * own.alpha),
        })
    }

    /// The value at all nodes, where it is the same: then a polynomial of their number is constant.
    fn level(&self, value: impl Fn(&BodiesAtInstant) -> f64) -> Option<f64> {
        let first = value(&self.nodes[0]);
        self.nodes.iter().all(|node| value(node) == first).then_some(first)
    }

    fn twist(&self, body: usize, a: &BodiesAtInstant, b: &BodiesAtInstant) -> Twist<Enclosure> {
        if a.still.is_some() {
            return Twist::zero();
        }
        let (own, w) = (&self.bounds[body], b.t - a.t);
        let number = |of: fn(&Twist) -> Vec3, bend: usize, i: usize, v: Interval, d: Interval| {
            let (mean, rest) = own.bends[bend];
            let ends = [a, b].map(|frame| of(&frame.twists[body])[i]);
            let chord = coordinate(ends, [mean[i], rest], w);
            Enclosure { v: chord.v.meet(v), d: chord.d.meet(d), dd: chord.dd }
        };
        let revolutions = |of: fn(&Twist) -> Vec3, bend: usize| {
            let (rate, alpha) = (self.rate(body, a, b, of), around(0.0, own.alpha));
            Vec3(std::array::from_fn(|i| match rate[i].is_point() {
                true => Enclosure::constant(rate[i]),
                false => number(of, bend, i, rate[i], alpha),
            }))
        };
        let v = |i: usize| {
            if let Some(v) = self.level(|frame| frame.twists[body].v[i]) {
                return Enclosure::from_f64(v);
            }
            let d = around(own.mean[i], own.spread);
            let middle = 0.5 * (a.twists[body].v[i] + b.twists[body].v[i]);
            number(|twist| twist.v, 0, i, around(middle, 0.5 * w * d.magnitude()), d)
        };
        Twist {
            v: Vec3([v(0), v(1), v(2)]),
            w: revolutions(|twist| twist.w, 1),
            w_W: revolutions(|twist| twist.w_W, 2),
        }
    }
}

/// The time between two frames.
fn time(a: &BodiesAtInstant, b: &BodiesAtInstant) -> Enclosure {
    match &a.still {
        Some(still) => Enclosure::from_f64(still.t),
        None => Enclosure { v: Interval::new(a.t, b.t), d: Interval::ONE, dd: Interval::ZERO },
    }
}

/// A coordinate with `ends` at two instants `w` apart, whose second derivative deviates from `mean` by at most `spread`.
fn coordinate(ends: [f64; 2], [mean, spread]: [f64; 2], w: f64) -> Enclosure {
    let [a, b] = ends;
    if a == b && mean == 0.0 && spread == 0.0 {
        return Enclosure::from_f64(a);
    }
    let most = mean.abs() + spread;
    // rounding of the ends, as a part of the chord's slope
    let slack = 2.0 * f64::EPSILON * (a.abs() + b.abs());
    let chord = Interval::point(a).hull(Interval::point(b));
    Enclosure {
        v: chord + around(0.0, w * w / 8.0 * most + slack),
        d: around((b - a) / w, 0.5 * w * most + slack / w),
        dd: around(mean, spread),
    }
}

/// The numbers up to `radius` away from `x`; exact where that is zero.
fn around(x: f64, radius: f64) -> Interval {
    if radius == 0.0 { Interval::point(x) } else { Interval::around(x, radius) }
}

fn cross(a: [Interval; 3], b: [Interval; 3]) -> [Interval; 3] {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

impl Mechanism {
    /// All bodies and controllers at `s`, for [`MotionBounds`].
    pub fn frame(&mut self, s: &State, frame: &mut BodiesAtInstant) {
        self.update_all_kinematics(s);
        self.fill_frame(s, frame);
    }

    /// The bodies where they were evaluated last, at `s`.
    pub(crate) fn fill_frame(&mut self, s: &State, frame: &mut BodiesAtInstant) {
        frame.t = s.t;
        self.with_contacts(s, |_, bodies, _| {
            frame.poses.clear();
            frame.poses.extend_from_slice(bodies.poses);
            frame.twists.clear();
            frame.twists.extend_from_slice(bodies.twists);
            frame.discrete.clear();
            frame.discrete.extend_from_slice(bodies.discrete);
            frame.still = None;
            frame.outs.clear();
            frame.outs.extend_from_slice(bodies.outs);
        });
    }
}

/// The matrix of differentiation on Chebyshev-Lobatto nodes, without its diagonal \[Berrut2004\].
fn differentiation(x: &[f64]) -> Vec<f64> {
    let n = x.len() - 1;
    let weight = |k: usize| {
        let sign = if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        if k == 0 || k == n { 0.5 * sign } else { sign }
    };
    let entry = |k: usize, j: usize| if j == k { 0.0 } else { weight(j) / weight(k) / (x[k] - x[j]) };
    (0..=n).flat_map(|k| (0..=n).map(move |j| (k, j))).map(|(k, j)| entry(k, j)).collect()
}
