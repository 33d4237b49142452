//! Decides whether a motion is steady, and the frame in which it is.
//!
//! A motion is steady where it follows a [`Flow`] and the equations of motion are the same all along it. Both are checked:
//!
//! - velocities and accelerations at the state are those of the flow;
//! - carried along by a finite step of the flow, the state has the accelerations that were carried along, and each small motion the response,
//!   and the constraints hold as before. This compares exact values at two states: no differences are taken for derivatives.
//!
//! The frame is the one that fits velocities and accelerations best with the least rotation: a rotor between its bearings is seen from
//! the ground. Where that fails, frames that stand still or move with one of the bodies are tried. Cost: for each frame that fits, a
//! factorization and four solutions for each degree of freedom and level.

use super::flow::{Flow, MovingState, angular, linear};
use super::linearize::{EquationsAtState, Small, dot, free_accelerations, momentum, rounded_positions};
use sarrus_math::Vec3;
use sarrus_math::solve::Svd;
use sarrus_solve::Structure;
use sarrus_system::Mechanism;
use serde::Serialize;

/// Residuals up to this are steady: eigenvalues hold to about as much.
pub(super) const STEADY: f64 = 1e-6;
/// Residuals of the motion itself from which equations need no comparison.
const FAR: f64 = 1e-3;
/// Extent to which the flow carries the fastest body, for comparison \[rad\]: far enough to see changes, and less than a quarter of a revolution, so
/// that no relative angle leaves its branch.
const STEP: f64 = 0.7;
/// Rates up to this, relative to the fastest, are rounding.
const ZERO_RATE: f64 = 1e-10;
/// Singular values up to this leave the rotation of the frame open.
const OPEN: f64 = 1e-9;
/// Bodies whose own frames are tried.
const FRAMES: usize = 6;
/// Defines what rounding leaves of the largest terms.
const ROUNDING: f64 = 1e-13;

/// The motion of a state that is not at rest, and how steady it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SteadyMotion {
    /// True if the motion is steady: then eigenvalues are those seen from the frame.
    pub steady: bool,
    /// The largest relative change of accelerations and coefficients along the motion, while its fastest body rotates by 0.7 rad.
    pub residual: f64,
    /// Angular velocity of the frame, world axes \[rad/s\].
    pub omega: [f64; 3],
    /// Velocity of the frame where it is least: on its axis, where it rotates \[m/s\].
    pub velocity: [f64; 3],
    /// The point of its axis that is nearest to the origin \[m\].
    pub point: [f64; 3],
    /// Bodies that spin in the frame.
    pub spins: Vec<SteadySpin>,
}

/// The rotation of a body in the frame of a steady motion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SteadySpin {
    /// The body.
    pub body: String,
    /// Its angular velocity in the frame, body axes \[rad/s\].
    pub omega: [f64; 3],
}

/// Small motions to compare: positions with the velocities that follow them, and velocities.
pub(super) struct SmallMotions<'a> {
    pub displacements: &'a [Vec<f64>],
    pub follow: &'a [Vec<f64>],
    pub velocities: &'a [Vec<f64>],
}

/// The flow of the motion, and how steady that is.
pub(super) fn find(
    mechanism: &mut Mechanism,
    moving: &MovingState,
    instant: &EquationsAtState,
    small: &mut Small,
    columns: &SmallMotions,
    scale: f64,
) -> (Flow, SteadyMotion) {
    let sizes = MotionSizes::new(moving);
    let mut best: Option<(Flow, f64)> = None;
    for flow in candidates(moving, &sizes) {
        let s = &moving.system.structure;
        let mut residual = misfit(s, instant, moving, &flow, &sizes, scale);
        if residual < FAR {
            let change = change(mechanism, moving, small, columns, &flow, &sizes, scale);
            // a state that cannot be evaluated is another one
            residual = residual.max(change.unwrap_or(1.0));
        }
        if best.as_ref().is_none_or(|(_, least)| residual < *least) {
            best = Some((flow, residual));
        }
        if best.as_ref().is_some_and(|(_, least)| *least <= STEADY) {
            break;
        }
    }
    let (flow, residual) = best.unwrap_or_else(|| (Flow::new(moving, Vec3::zero(), Vec3::zero()), 1.0));
    let described = describe(moving, &flow, residual, &sizes);
    (flow, described)
}

fn describe(moving: &MovingState, flow: &Flow, residual: f64, sizes: &MotionSizes) -> SteadyMotion {
    let square = flow.rotation.norm_squared();
    let (along, point) = if square > 0.0 {
        let along = flow.rotation.scale(flow.rotation.dot(flow.drift) / square);
        (along, flow.rotation.cross(flow.drift).scale(1.0 / square))
    } else {
        (flow.drift, Vec3::zero())
    };
    let spins = moving
        .in_space()
        .filter(|(i, body)| !body.is_internal() && flow.spin(*i).norm() > 100.0 * ZERO_RATE * sizes.rate)
        .map(|(i, body)| SteadySpin { body: body.name.clone(), omega: flow.spin(i).0 })
        .collect();
    let rounded = |x: Vec3<f64>, size: f64| x.0.map(|x| if x.abs() <= ZERO_RATE * size { 0.0 } else { x });
    SteadyMotion {
        steady: residual <= STEADY,
        residual,
        omega: rounded(flow.rotation, sizes.rate),
        velocity: rounded(along, sizes.rate * sizes.length),
        point: rounded(point, sizes.length),
        spins,
    }
}

/// The size of the mechanism and of its motion.
struct MotionSizes {
    /// Mean position of the bodies \[m\], and their mean velocity.
    centre: Vec3<f64>,
    velocity: Vec3<f64>,
    /// The farthest body from there, or a radius of gyration \[m\].
    length: f64,
    /// The fastest rotation \[1/s\].
    rate: f64,
}

impl MotionSizes {
    fn new(moving: &MovingState) -> MotionSizes {
        let n = moving.in_space().count().max(1) as f64;
        let (mut centre, mut velocity) = (Vec3::zero(), Vec3::zero());
        for (i, body) in moving.in_space() {
            centre += moving.poses[i].p.scale(1.0 / n);
            velocity += linear(body, &moving.state.v).scale(1.0 / n);
        }
        let (mut length, mut gyration, mut rotation, mut speed) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
        for (i, body) in moving.in_space() {
            let I = &body.inertia.0;
            length = length.max((moving.poses[i].p - centre).norm());
            gyration = gyration.max(((I[0][0] + I[1][1] + I[2][2]) / body.mass).sqrt());
            rotation = rotation.max(angular(body, &moving.state.v).norm());
            speed = speed.max((linear(body, &moving.state.v) - velocity).norm());
        }
        let length = [length, gyration].into_iter().find(|l| *l > 0.0 && l.is_finite()).unwrap_or(1.0);
        let rate = rotation.max(speed / length);
        // all of it moves along: as far as it is long is a radian
        let along = velocity.norm() / length;
        let coordinates = moving.state.v.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        let rates = [rate, along, coordinates, 1.0];
        let rate = rates.into_iter().find(|r| *r > ZERO_RATE * coordinates).unwrap_or(1.0);
        MotionSizes { centre, velocity, length, rate }
    }
}

/// Flows that may carry the motion, the likeliest first.
fn candidates(moving: &MovingState, sizes: &MotionSizes) -> Vec<Flow> {
    let mut screws = Vec::new();
    let mut add = |rotation: Vec3<f64>, drift: Vec3<f64>| {
        let rotation = if rotation.norm() <= ZERO_RATE * sizes.rate { Vec3::zero() } else { rotation };
        let same = |(a, b): &(Vec3<f64>, Vec3<f64>)| {
            let off = (*a - rotation).norm() * sizes.length + (*b - drift).norm();
            off <= 1e-3 * STEADY * sizes.rate * sizes.length
        };
        if !screws.iter().any(same) {
            screws.push((rotation, drift));
        }
    };
    if let Some(rotation) = fit(moving, sizes) {
        let drift = sizes.velocity - rotation.cross(sizes.centre);
        add(rotation, drift);
    }
    add(Vec3::zero(), Vec3::zero());
    let mut bodies: Vec<_> = moving.in_space().filter(|(_, b)| b.kind.rotates()).collect();
    bodies.sort_by(|a, b| b.1.mass.total_cmp(&a.1.mass));
    for (i, body) in bodies.into_iter().take(FRAMES) {
        let pose = &moving.poses[i];
        let rotation = pose.rot * angular(body, &moving.state.v);
        add(rotation, linear(body, &moving.state.v) - rotation.cross(pose.p));
    }
    screws.into_iter().map(|(rotation, drift)| Flow::new(moving, rotation, drift)).collect()
}

/// The least Ω that fits v_i - v̄ = Ω × (p_i - p̄), a_i = Ω × v_i and α_i = Ω × ω_i best.
fn fit(moving: &MovingState, sizes: &MotionSizes) -> Option<Vec3<f64>> {
    let (mut rows, mut right) = (Vec::new(), Vec::new());
    let mut add = |x: Vec3<f64>, rotated: Vec3<f64>, weight: f64| {
        // Ω × x = turned
        let [a, b, c] = x.scale(weight).0;
        rows.extend_from_slice(&[0.0, c, -b, -c, 0.0, a, b, -a, 0.0]);
        right.extend_from_slice(&rotated.scale(weight).0);
    };
    let speed = sizes.rate * sizes.length;
    for (i, body) in moving.in_space() {
        let pose = &moving.poses[i];
        let v = linear(body, &moving.state.v);
        add(pose.p - sizes.centre, v - sizes.velocity, 1.0 / sizes.length);
        add(v, linear(body, moving.vdot), 1.0 / speed);
        let [w, wdot] = [angular(body, &moving.state.v), angular(body, moving.vdot)];
        add(pose.rot * w, pose.rot * wdot, 1.0 / sizes.rate);
    }
    let mut svd = Svd::thin(right.len(), 3);
    svd.factor(&rows).ok()?;
    let rank = svd.sigma().iter().take_while(|s| **s > OPEN).count();
    let mut rotation = [0.0; 3];
    svd.solve(rank, &right, &mut rotation);
    Some(Vec3(rotation))
}

/// √(xᵀM x).
fn norm(s: &Structure, instant: &EquationsAtState, x: &[f64]) -> f64 {
    dot(x, &momentum(s, &instant.eq, x)).max(0.0).sqrt()
}

/// Returns how far velocities and accelerations at the state are from those of the flow.
fn misfit(
    s: &Structure,
    instant: &EquationsAtState,
    moving: &MovingState,
    flow: &Flow,
    sizes: &MotionSizes,
    scale: f64,
) -> f64 {
    let [speeds, accelerations] = flow.misfit(moving);
    let speed = norm(s, instant, &moving.state.v);
    // positions are rounded, and stiff elements respond to that
    let response = scale * norm(s, instant, &rounded_positions(moving.system, moving.state));
    let off = (norm(s, instant, &accelerations) - response).max(0.0);
    let most = norm(s, instant, &free_accelerations(s, &instant.eq, &instant.eq.f)).max(sizes.rate * speed);
    let relative = |part: f64, whole: f64| if part > 0.0 { part / whole } else { 0.0 };
    relative(norm(s, instant, &speeds), speed).max(relative(off, most))
}

/// The largest relative change of accelerations, of the responses of small motions, and of constraints over a step of the flow.
fn change(
    mechanism: &mut Mechanism,
    moving: &MovingState,
    small: &mut Small,
    columns: &SmallMotions,
    flow: &Flow,
    sizes: &MotionSizes,
    scale: f64,
) -> Option<f64> {
    let system = mechanism.system().clone();
    let s = &system.structure;
    let step = flow.over(STEP / sizes.rate);
    let state = step.state(moving, mechanism);
    let mut there = system.mechanism();
    there.copy_discrete_state(mechanism);
    let instant = EquationsAtState::new(&mut there, &state).ok()?;
    let mut small_there = instant.small(&system, &state).ok()?;
    let norm = |x: &[f64]| norm(s, &instant, x);
    let difference = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };

    let carried = step.accelerations(moving);
    let most = norm(&free_accelerations(s, &instant.eq, &instant.eq.f))
        .max(sizes.rate * norm(&state.v))
        .max(f64::MIN_POSITIVE);
    let response = scale * norm(&rounded_positions(&system, &state));
    let off = (norm(&difference(&instant.accel.vdot, &carried)) - response).max(0.0);
    let mut largest = off / most;

    let still = vec![0.0; s.nv];
    let positions = columns.displacements.iter().zip(columns.follow);
    let pairs = positions.chain(std::iter::repeat(&still).zip(columns.velocities));
    for (dq, dv) in pairs {
        let mut expected = small.respond(dq, dv).ok()?;
        let [rates, accelerations] = &expected;
        expected = step.carry(moving, rates, accelerations);
        step.add_slip(moving, dq, dv, &mut expected);
        let [dq, dv] = step.carry(moving, dq, dv);
        let found = small_there.respond(&dq, &dv).ok()?;
        let size = (sizes.rate * norm(&dq)).max(norm(&dv));
        let response = (sizes.rate * norm(&found[0])).max(norm(&found[1])).max(sizes.rate * size);
        let off = (sizes.rate * norm(&difference(&found[0], &expected[0])))
            .max(norm(&difference(&found[1], &expected[1])) - ROUNDING * scale * norm(&dq));
        let [position, velocity] = small_there.off_constraints(&dq, &dv).ok()?;
        let off_constraints = (sizes.rate * norm(&position)).max(norm(&velocity));
        largest = largest.max(off / response).max(off_constraints / size);
    }
    Some(largest)
}
