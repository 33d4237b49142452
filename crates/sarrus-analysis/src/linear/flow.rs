//! Steady motions as flows of a group, and how a flow carries states and small motions along.
//!
//! Along a steady motion all bodies share the screw motion of one frame, and each may spin and slide in it at rates constant in its own axes:
//!
//! ```text
//! x_i(t) = exp(t (Ω, ξ)) x_i(0) exp(t (σ_i, u_i)),    ω_i = R_iᵀΩ + σ_i,    v_i = ξ + Ω × p_i + R_i u_i.
//! ```
//!
//! Coordinates that are nowhere in space (amplitudes of modal bodies, rotors of armatures) advance at their rates. With Q = exp(τΩ),
//! E = exp(τσ) and c = ∫ exp(sσ) u ds, neighbours of the motion are carried by
//!
//! ```text
//! δp' = Q (δp + R (δθ × c)),    δθ' = Eᵀδθ,    δv' = Q (δv + R (δω × c + δθ × (ω × c))),    δω' = Eᵀδω,
//! ```
//!
//! and Γ, the derivative of that at τ = 0, is what the linearization in the frame of the motion is less than A. Cost: O(bodies).

use sarrus_math::{Mat3, Pose, Vec3, quat_from_rotation_vector};
use sarrus_solve::{Problem, State};
use sarrus_system::body::{Body, BodyKind};
use sarrus_system::{Mechanism, System};

/// Angles below which sines are taken from their series \[rad\].
const SMALL_ANGLE: f64 = 1e-4;

/// The motion of one body beyond that of the frame.
#[derive(Debug, Clone, Copy, PartialEq)]
enum RelativeMotion {
    /// A coordinate that is nowhere in space.
    Coordinate,
    /// A point: it has no axes in which it could move.
    Point,
    /// σ and u in body axes.
    Body { spin: Vec3<f64>, slide: Vec3<f64> },
}

/// A state with the poses of its bodies and its accelerations.
pub(super) struct MovingState<'a> {
    pub system: &'a System,
    pub state: &'a State,
    pub vdot: &'a [f64],
    pub poses: Vec<Pose<f64>>,
    /// Marks whether a body is a coordinate that is nowhere in space.
    abstracts: Vec<bool>,
}

impl<'a> MovingState<'a> {
    pub fn new(system: &'a System, mechanism: &mut Mechanism, state: &'a State, vdot: &'a [f64]) -> Self {
        let poses = mechanism.observe(state, |at| at.poses.to_vec());
        let directory = &system.directory;
        let mut abstracts: Vec<bool> = directory.bodies.iter().map(|b| b.rotor || b.shares).collect();
        directory.floating.iter().for_each(|f| abstracts[f.frame as usize] = false);
        MovingState { system, state, vdot, poses, abstracts }
    }

    /// The bodies that are somewhere in space, by number.
    pub fn in_space(&self) -> impl Iterator<Item = (usize, &'a Body)> + '_ {
        let bodies = self.system.directory.bodies.iter().enumerate().skip(1);
        bodies.filter(|(i, _)| !self.abstracts[*i])
    }
}

/// The components of x that belong to the position of a body: world axes.
pub(super) fn linear(body: &Body, x: &[f64]) -> Vec3<f64> {
    let at = |i: usize| x[body.v + i];
    match body.kind {
        BodyKind::Ground => Vec3::zero(),
        BodyKind::PlanarRigid | BodyKind::PlanarPoint => Vec3([at(0), at(1), 0.0]),
        BodyKind::Rigid | BodyKind::RigidEuler | BodyKind::Point => Vec3([at(0), at(1), at(2)]),
    }
}

/// The components of x that belong to the rotation of a body: body axes.
pub(super) fn angular(body: &Body, x: &[f64]) -> Vec3<f64> {
    let at = |i: usize| x[body.v + i];
    match body.kind {
        BodyKind::Rigid | BodyKind::RigidEuler => Vec3([at(3), at(4), at(5)]),
        BodyKind::PlanarRigid => Vec3([0.0, 0.0, at(2)]),
        BodyKind::Ground | BodyKind::Point | BodyKind::PlanarPoint => Vec3::zero(),
    }
}

/// Writes both into x.
fn set_velocity(body: &Body, linear: Vec3<f64>, angular: Vec3<f64>, x: &mut [f64]) {
    let x = &mut x[body.v..][..body.kind.nv()];
    let wide = x.len();
    match body.kind {
        BodyKind::Ground => {}
        BodyKind::PlanarRigid => x.copy_from_slice(&[linear.0[0], linear.0[1], angular.0[2]]),
        BodyKind::Point | BodyKind::PlanarPoint => x.copy_from_slice(&linear.0[..wide]),
        BodyKind::Rigid | BodyKind::RigidEuler => {
            x[..3].copy_from_slice(&linear.0);
            x[3..].copy_from_slice(&angular.0);
        }
    }
}

/// The flow that a state moves along, if its motion is steady.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Flow {
    /// Ω of the frame, world axes \[rad/s\].
    pub rotation: Vec3<f64>,
    /// ξ, the velocity of the point of the frame at the world's origin \[m/s\].
    pub drift: Vec3<f64>,
    own: Vec<RelativeMotion>,
}

impl Flow {
    /// The flow whose frame has the screw (Ω, ξ): what is left of the velocities is the bodies' own.
    pub fn new(moving: &MovingState, rotation: Vec3<f64>, drift: Vec3<f64>) -> Flow {
        let mut own = vec![RelativeMotion::Coordinate; moving.poses.len()];
        for (i, body) in moving.in_space() {
            own[i] = if body.kind.rotates() {
                let pose = &moving.poses[i];
                let [v, w] = [linear(body, &moving.state.v), angular(body, &moving.state.v)];
                let spin = w - pose.rot.transpose_mul(rotation);
                RelativeMotion::Body {
                    spin,
                    slide: pose.rot.transpose_mul(v - drift - rotation.cross(pose.p)),
                }
            } else {
                RelativeMotion::Point
            };
        }
        Flow { rotation, drift, own }
    }

    /// σ of a body, in body axes.
    pub fn spin(&self, i: usize) -> Vec3<f64> {
        if let RelativeMotion::Body { spin, .. } = self.own[i] { spin } else { Vec3::zero() }
    }

    /// Velocities that the flow does not have, and accelerations: zero on a steady motion.
    pub fn misfit(&self, moving: &MovingState) -> [Vec<f64>; 2] {
        let (mut speeds, mut accelerations) = (vec![0.0; moving.vdot.len()], moving.vdot.to_vec());
        for (i, body) in moving.in_space() {
            let pose = &moving.poses[i];
            let [v, w] = [linear(body, &moving.state.v), angular(body, &moving.state.v)];
            let [a, wdot] = [linear(body, moving.vdot), angular(body, moving.vdot)];
            let (mut a_own, mut v_left) = (Vec3::zero(), Vec3::zero());
            match self.own[i] {
                RelativeMotion::Body { spin, slide } => a_own = pose.rot * spin.cross(slide),
                _ => v_left = v - self.drift - self.rotation.cross(pose.p),
            }
            set_velocity(body, v_left, Vec3::zero(), &mut speeds);
            let rotated = pose.rot.transpose_mul(self.rotation).cross(w);
            set_velocity(body, a - self.rotation.cross(v) - a_own, wdot - rotated, &mut accelerations);
        }
        [speeds, accelerations]
    }

    /// Γ (δq, δv), subtracted from `rates` and `accelerations`.
    pub fn subtract(
        &self,
        moving: &MovingState,
        dq: &[f64],
        dv: &[f64],
        [rates, accelerations]: [&mut [f64]; 2],
    ) {
        for (i, body) in moving.in_space() {
            let rot = &moving.poses[i].rot;
            let [x, theta] = [linear(body, dq), angular(body, dq)];
            let [v, w] = [linear(body, dv), angular(body, dv)];
            let (mut gx, mut gv) = (self.rotation.cross(x), self.rotation.cross(v));
            let (mut gtheta, mut gw) = (Vec3::zero(), Vec3::zero());
            if let RelativeMotion::Body { spin, slide } = self.own[i] {
                let omega = angular(body, &moving.state.v);
                gx += *rot * theta.cross(slide);
                gv += *rot * (w.cross(slide) + theta.cross(omega.cross(slide)));
                gtheta = theta.cross(spin);
                gw = w.cross(spin);
            }
            let [r, rt] = [linear(body, rates), angular(body, rates)];
            set_velocity(body, r - gx, rt - gtheta, rates);
            let [a, at] = [linear(body, accelerations), angular(body, accelerations)];
            set_velocity(body, a - gv, at - gw, accelerations);
        }
    }

    /// The flow for a time τ.
    pub fn over(&self, tau: f64) -> FlowStep {
        let own = self.own.iter().map(|own| match own {
            RelativeMotion::Body { spin, slide } => {
                (rotation(spin.scale(tau)), mean_rotation(spin.scale(tau), slide.scale(tau)))
            }
            _ => (Mat3::identity(), Vec3::zero()),
        });
        FlowStep { flow: self.clone(), tau, frame: rotation(self.rotation.scale(tau)), own: own.collect() }
    }
}

/// exp(θ×).
fn rotation(theta: Vec3<f64>) -> Mat3<f64> {
    Mat3::from_quat(quat_from_rotation_vector(&theta.0))
}

/// ∫₀¹ exp(sθ×) x ds.
fn mean_rotation(theta: Vec3<f64>, x: Vec3<f64>) -> Vec3<f64> {
    let square = theta.norm_squared();
    let angle = square.sqrt();
    let (a, b) = if angle < SMALL_ANGLE {
        (0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0)
    } else {
        ((1.0 - angle.cos()) / square, (angle - angle.sin()) / (square * angle))
    };
    let once = theta.cross(x);
    x + once.scale(a) + theta.cross(once).scale(b)
}

/// A flow over some time.
pub(super) struct FlowStep {
    flow: Flow,
    tau: f64,
    /// Q.
    frame: Mat3<f64>,
    /// E and c of each body.
    own: Vec<(Mat3<f64>, Vec3<f64>)>,
}

impl FlowStep {
    /// The state that the flow leads to.
    pub fn state(&self, moving: &MovingState, mechanism: &Mechanism) -> State {
        let FlowStep { flow, tau, .. } = self;
        let mut state = moving.state.clone();
        state.t += tau;
        // R' = R exp(τ RᵀΩ) exp(τσ); coordinates advance
        let [mut first, mut second] = [(); 2].map(|()| vec![0.0; state.v.len()]);
        for (i, body) in moving.system.directory.bodies.iter().enumerate().skip(1) {
            if matches!(flow.own[i], RelativeMotion::Coordinate) {
                let own = body.v..body.v + body.kind.nv();
                first[own.clone()].iter_mut().zip(&state.v[own]).for_each(|(d, v)| *d = tau * v);
                continue;
            }
            let pose = &moving.poses[i];
            let moved = self.frame * (pose.p + pose.rot * self.own[i].1)
                + mean_rotation(flow.rotation.scale(*tau), flow.drift.scale(*tau));
            set_velocity(body, moved - pose.p, pose.rot.transpose_mul(flow.rotation).scale(*tau), &mut first);
            set_velocity(body, Vec3::zero(), flow.spin(i).scale(*tau), &mut second);
        }
        mechanism.retract(&mut state.q, &first);
        mechanism.retract(&mut state.q, &second);
        for (i, body) in moving.in_space() {
            let (rotated, c) = &self.own[i];
            let [v, w] = [linear(body, &moving.state.v), angular(body, &moving.state.v)];
            let v = self.frame * (v + moving.poses[i].rot * w.cross(*c));
            set_velocity(body, v, rotated.transpose_mul(w), &mut state.v);
        }
        state
    }

    /// The accelerations there, if the flow carries the motion along.
    pub fn accelerations(&self, moving: &MovingState) -> Vec<f64> {
        let mut out = moving.vdot.to_vec();
        for (i, body) in moving.in_space() {
            let (rotated, c) = &self.own[i];
            let w = angular(body, &moving.state.v);
            let [a, wdot] = [linear(body, moving.vdot), angular(body, moving.vdot)];
            let own = wdot.cross(*c) + w.cross(w.cross(*c));
            set_velocity(
                body,
                self.frame * (a + moving.poses[i].rot * own),
                rotated.transpose_mul(wdot),
                &mut out,
            );
        }
        out
    }

    /// (δq, δv) carried along.
    pub fn carry(&self, moving: &MovingState, dq: &[f64], dv: &[f64]) -> [Vec<f64>; 2] {
        let (mut q, mut v) = (dq.to_vec(), dv.to_vec());
        for (i, body) in moving.in_space() {
            let ((rotated, c), rot) = (&self.own[i], &moving.poses[i].rot);
            let [x, theta] = [linear(body, dq), angular(body, dq)];
            let [u, w] = [linear(body, dv), angular(body, dv)];
            let omega = angular(body, &moving.state.v);
            let own = w.cross(*c) + theta.cross(omega.cross(*c));
            set_velocity(
                body,
                self.frame * (x + *rot * theta.cross(*c)),
                rotated.transpose_mul(theta),
                &mut q,
            );
            set_velocity(body, self.frame * (u + *rot * own), rotated.transpose_mul(w), &mut v);
        }
        [q, v]
    }

    /// The derivative of [`carry`](Step::carry) along the motion, added: c keeps its axes in a body, which rotate.
    pub fn add_slip(
        &self,
        moving: &MovingState,
        dq: &[f64],
        dv: &[f64],
        [rates, accelerations]: &mut [Vec<f64>; 2],
    ) {
        for (i, body) in moving.in_space() {
            let (c, rot) = (self.own[i].1, &moving.poses[i].rot);
            let [theta, w] = [angular(body, dq), angular(body, dv)];
            let [omega, wdot] = [angular(body, &moving.state.v), angular(body, moving.vdot)];
            let own = omega.cross(w.cross(c) + theta.cross(omega.cross(c))) + theta.cross(wdot.cross(c));
            let [r, a] = [linear(body, rates), linear(body, accelerations)];
            let [rt, at] = [angular(body, rates), angular(body, accelerations)];
            set_velocity(body, r + self.frame * (*rot * omega.cross(theta.cross(c))), rt, rates);
            set_velocity(body, a + self.frame * (*rot * own), at, accelerations);
        }
    }
}
