//! The equations of motion of a system: M, f, J, γ, Φ, Φ̇ at a state.
//!
//! v = (ṗ of the centre of mass in world axes, ω in body axes), so M = diag(m, m, m, I) is constant and the only
//! inertial force is the gyroscopic torque: I ω̇ + ω × I ω = torque. Of a modal body M changes with its amplitudes, and
//! [`Inertia`](crate::flexible::modal::inertia::Inertia) has the equations.

use crate::at::At;
use crate::body::{Body, BodyKind};
use crate::books::Books;
use crate::constraint::Blocks;
use crate::contact::{BOOKS, PlaceKey, Tally};
use crate::contact::{rigid, wire};
use crate::derive::{Scratch, Taylor};
use crate::flexible::modal::floating::Room;
use crate::friction::{self, JointFriction};
use crate::load::Wrench;
use crate::names::Directory;
use crate::system::{DISSIPATED, FIRST_STATE, Family, NearSingular, System, WORK};
use sarrus_math::lane::sin_cos_all;
use sarrus_math::{
    Mat3, Pose, Real, Twist, Vec3, euler_derivative, quat_conjugate, quat_derivative,
    quat_from_rotation_vector, quat_mul, quat_normalize, quat_to_euler, quat_to_rotation_vector,
};
use sarrus_solve::tables::Description;
use sarrus_solve::{Accel, COEFFICIENTS, Equations, Expansion, Problem, Stage, State, Structure, Tangent};
use std::sync::Arc;

/// Energy books at an instant \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Gravity and springs.
    pub potential: f64,
    /// Work done by forces and drivers since the start.
    pub work: f64,
    /// Energy dissipated since the start.
    pub dissipated: f64,
}

impl Energy {
    /// Kinetic + potential + dissipated - work done: constant along an exact motion.
    pub fn balance(&self) -> f64 {
        self.kinetic + self.potential + self.dissipated - self.work
    }
}

/// A system with the buffers to evaluate it.
#[derive(Clone)]
pub struct Mechanism {
    system: Arc<System>,
    poses: Vec<Pose<f64>>,
    twists: Vec<Twist<f64>>,
    hints: Vec<f64>,
    fresh_hints: Vec<f64>,
    outs: Vec<f64>,
    own_outs: Vec<f64>,
    scratch: Scratch,
    block: Vec<f64>,
    wrenches: Vec<Wrench<f64>>,
    all: Vec<u32>,
    nearest_singular: Option<NearSingular>,
    motion: Motion,
    /// Room for modal bodies.
    room: Room<f64>,
    /// Contacts, and what they remember.
    contacts: wire::Room,
    /// Friction that depends on reactions.
    frictions: Vec<JointFriction>,
    /// What acts on each body from outside, about its centre of mass in world axes.
    external: Vec<Wrench<f64>>,
    /// Bodies from here on have none.
    pushed: usize,
    turns: Turns,
    books: Books,
}

/// Angles of all bodies in the plane with their sines and cosines, which are found eight at a time; empty without flexible members: rigid
/// bodies alone are stepped by tables, which do the same.
#[derive(Clone, Default)]
struct Turns {
    angles: Vec<f64>,
    sin: Vec<f64>,
    cos: Vec<f64>,
}

impl Turns {
    fn new(directory: &Directory) -> Turns {
        let bends = !directory.flexible.is_empty();
        let room = || vec![0.0; if bends { directory.bodies.len() } else { 0 }];
        Turns { angles: room(), sin: room(), cos: room() }
    }

    fn update(&mut self, bodies: &[Body], q: &[f64]) {
        for (angle, body) in self.angles.iter_mut().zip(bodies) {
            if body.kind == BodyKind::PlanarRigid {
                *angle = q[body.q + 2];
            }
        }
        sin_cos_all(&self.angles, &mut self.sin, &mut self.cos);
    }

    /// Sine and cosine of the angle of the body `i`.
    #[inline(always)]
    fn of(&self, i: usize, angle: f64) -> (f64, f64) {
        match (self.sin.get(i), self.cos.get(i)) {
            (Some(sin), Some(cos)) => (*sin, *cos),
            _ => angle.sin_cos(),
        }
    }
}

/// Bodies along a motion; empty until it is asked for.
#[derive(Clone, Default)]
struct Motion {
    poses: Vec<Pose<Taylor>>,
    twists: Vec<Twist<Taylor>>,
    /// Bodies that are expanded.
    known: Vec<bool>,
    phi: Vec<Taylor>,
    J: Vec<Taylor>,
    block: Vec<f64>,
}

impl Mechanism {
    /// A mechanism in the model pose.
    pub fn new(system: Arc<System>) -> Self {
        let n = system.directory.bodies.len();
        let largest =
            system.elements.iter().map(|e| e.ids.len() * e.rows.rows() * system.wide).max().unwrap_or(0);
        let most = system.forces.iter().map(|f| f.ids.len()).max().unwrap_or(0);
        Mechanism {
            poses: vec![Pose::identity(); n],
            twists: vec![Twist::zero(); n],
            hints: system.hints.clone(),
            fresh_hints: system.hints.clone(),
            outs: vec![0.0; system.outs],
            own_outs: vec![0.0; system.outs],
            scratch: Scratch::default(),
            block: vec![0.0; largest],
            wrenches: vec![Wrench::zero(); most],
            all: (0..n as u32).collect(),
            nearest_singular: None,
            motion: Motion::default(),
            contacts: wire::Room::new(&system),
            room: Room::new(system.directory.floating.iter().map(|f| f.inertia.n).max().unwrap_or(0)),
            frictions: friction::all(&system.directory),
            external: vec![Wrench::zero(); n],
            pushed: 0,
            turns: Turns::new(&system.directory),
            books: Books::new(&system.directory.bodies),
            system,
        }
    }

    /// The system.
    pub fn system(&self) -> &Arc<System> {
        &self.system
    }

    /// Last accepted values of multivalued quantities.
    pub fn hints(&self) -> &[f64] {
        &self.hints
    }

    /// Starts from other hints, as an assembly has found them.
    pub fn set_hints(&mut self, hints: &[f64]) {
        self.hints.copy_from_slice(hints);
    }

    /// Calls `act` with the contacts and the bodies where they are, at `s`.
    pub(crate) fn with_contacts<T>(
        &mut self,
        s: &State,
        act: impl FnOnce(&mut wire::Room, &wire::Bodies, &mut Scratch) -> T,
    ) -> T {
        let Mechanism { system, poses, twists, hints, outs, contacts, scratch, .. } = self;
        act(contacts, &wire::Bodies { system, t: s.t, x: &s.x, poses, twists, hints, outs }, scratch)
    }

    /// Goes on where `other` is, a mechanism of the same model of which other parts act: with its hints, what acts from outside, and
    /// what its contacts remember, which it loses.
    pub fn go_on_from(&mut self, other: &mut Mechanism) {
        self.be_like(other);
        std::mem::swap(&mut self.contacts, &mut other.contacts);
    }

    /// With the hints of `other`, a mechanism of the same model, and what acts on it from outside.
    pub fn be_like(&mut self, other: &Mechanism) {
        self.hints.copy_from_slice(&other.hints);
        self.external.copy_from_slice(&other.external);
        self.pushed = other.pushed;
    }

    /// What acts on the body `id` from outside until it is said anew: a force through its centre of mass and a torque about it, both in
    /// world axes. Its power counts as work. What a planar body or a point cannot take is left out.
    pub fn push(&mut self, id: u32, wrench: Wrench<f64>) {
        let id = id as usize;
        self.external[id] = wrench;
        self.pushed = self.pushed.max(id + 1);
    }

    /// What acts on the body `id` from outside.
    pub fn external(&self, id: u32) -> Wrench<f64> {
        self.external[id as usize]
    }

    /// Bodies from this one on are not pushed.
    pub(crate) fn pushed(&self) -> usize {
        self.pushed
    }

    /// Where the body `id` was placed last.
    pub(crate) fn pose(&self, id: usize) -> &Pose<f64> {
        &self.poses[id]
    }

    /// Nothing acts from outside.
    pub fn let_go(&mut self) {
        self.external[..self.pushed].fill(Wrench::zero());
        self.pushed = 0;
    }

    /// Gap, force and slip of every contact at `s`.
    pub fn contact_readings(&mut self, s: &State) -> &[[f64; 3]] {
        self.place(s);
        if !self.contacts.is_empty() {
            self.control(s);
            self.with_contacts(s, |contacts, bodies, scratch| contacts.read(bodies, scratch));
        }
        &self.contacts.readings
    }

    /// The gap of every place that contacts watch at `s`, in the order of their keys: entry, two surfaces, and which of their places.
    pub fn contact_gaps(&mut self, s: &State, out: &mut Vec<(PlaceKey, f64)>) {
        self.place(s);
        self.with_contacts(s, |contacts, bodies, scratch| contacts.gaps(bodies, scratch, out));
    }

    /// The same to be kept, until it is put back.
    pub(crate) fn take_readings(&mut self, s: &State) -> Vec<[f64; 3]> {
        self.contact_readings(s);
        std::mem::take(&mut self.contacts.readings)
    }

    /// Puts back the room for readings.
    pub(crate) fn put_readings(&mut self, readings: Vec<[f64; 3]>) {
        self.contacts.readings = readings;
    }

    /// How many pairs of surfaces contacts look at, at `s`, and how long nothing gets through another at its speeds \[s\]: of those that
    /// touch, and of all where they are more than `few`.
    pub fn contact_crowd(&mut self, s: &State, few: usize) -> (usize, f64) {
        self.place(s);
        self.with_contacts(s, |contacts, bodies, _| {
            let pairs = contacts.in_play(bodies);
            (pairs, contacts.time_to_pass(bodies, pairs > few))
        })
    }

    /// What every contact has done up to the last accepted step.
    pub fn tallies(&self) -> &[Tally] {
        self.contacts.tallies()
    }

    /// Adds what friction of places that slide turns into heat.
    fn book_slides(&mut self, s: &State, accel: &Accel, xdot: &mut [f64]) {
        if self.system.slides.is_empty() {
            return;
        }
        let system = self.system.clone();
        for element in system.slides.iter().map(|&i| &system.elements[i]) {
            let N = -accel.lambda[element.start];
            let heat = self.with_contacts(s, |_, bodies, _| rigid::heat(element, bodies, N));
            xdot[DISSIPATED] += heat;
            if let Some(contact) = system.contacts.iter().find(|c| c.contact.name == element.name) {
                xdot[contact.x + 1] += heat;
            }
        }
    }

    /// Takes note of how near `s` comes to where Euler angles are singular; done at every accepted step.
    pub fn note_angles(&mut self, s: &State) {
        if !self.books.has_angles {
            return;
        }
        let Some(here) = self.system.nearest_singular(s) else { return };
        if self.nearest_singular.as_ref().is_none_or(|nearest| here.sin_beta < nearest.sin_beta) {
            self.nearest_singular = Some(here);
        }
    }

    /// The nearest that any body has come to where its Euler angles are singular; none where none has such.
    pub fn nearest_singular(&self) -> Option<NearSingular> {
        self.nearest_singular
    }

    /// Poses and velocities of all bodies from `s`.
    fn place(&mut self, s: &State) {
        let bodies = &self.system.directory.bodies;
        if !self.turns.angles.is_empty() {
            self.turns.update(bodies, &s.q);
        }
        let placed = bodies.iter().zip(&mut self.poses).zip(&mut self.twists).enumerate().skip(1);
        for (i, ((body, pose), twist)) in placed {
            let (q, v) = (&s.q[body.q..], &s.v[body.v..]);
            match body.kind {
                BodyKind::Ground => {}
                BodyKind::Rigid | BodyKind::RigidEuler => {
                    let w = Vec3([v[3], v[4], v[5]]);
                    pose.p = Vec3([q[0], q[1], q[2]]);
                    // orthogonal for any length: stages of an integrator leave the unit sphere by their own error
                    pose.rot = Mat3::from_quat(body.quaternion(&s.q));
                    *twist = Twist { v: Vec3([v[0], v[1], v[2]]), w, w_W: pose.rot * w };
                }
                BodyKind::PlanarRigid => {
                    let w = Vec3([0.0, 0.0, v[2]]);
                    let (sin, cos) = self.turns.of(i, q[2]);
                    let rot = Mat3([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]]);
                    *pose = Pose { p: Vec3([q[0], q[1], 0.0]), rot, angle: q[2] };
                    *twist = Twist { v: Vec3([v[0], v[1], 0.0]), w, w_W: w };
                }
                BodyKind::Point => {
                    pose.p = Vec3([q[0], q[1], q[2]]);
                    twist.v = Vec3([v[0], v[1], v[2]]);
                }
                BodyKind::PlanarPoint => {
                    pose.p = Vec3([q[0], q[1], 0.0]);
                    twist.v = Vec3([v[0], v[1], 0.0]);
                }
            }
        }
    }

    /// The whole mechanism at `s`, for whoever reads bodies by their own numbers.
    pub fn observe<T>(&mut self, s: &State, read: impl FnOnce(&At<f64>) -> T) -> T {
        self.place(s);
        self.control(s);
        read(&self.at(s.t, &self.all))
    }

    /// Calls `found` with what forces do at `s` to one of their bodies each, by the numbers of force and body among its own: a force through
    /// the centre of mass and a torque about it, world axes. Those that are not enabled do nothing.
    pub fn wrenches(
        &mut self,
        s: &State,
        which: &[(usize, usize)],
        mut found: impl FnMut(usize, &Wrench<f64>),
    ) {
        self.observe(s, |_| ());
        let system = self.system.clone();
        for (i, &(force, body)) in which.iter().enumerate() {
            let force = &system.forces[force];
            let Mechanism { wrenches, poses, twists, hints, outs, .. } = self;
            let wrenches = &mut wrenches[..force.ids.len()];
            wrenches.fill(Wrench::zero());
            if force.enabled {
                force.load.wrench(&At { t: s.t, poses, twists, ids: &force.ids, hints, outs }, wrenches);
            }
            found(i, &wrenches[body]);
        }
    }

    fn at<'a>(&'a self, t: f64, ids: &'a [u32]) -> At<'a, f64> {
        At { t, poses: &self.poses, twists: &self.twists, ids, hints: &self.hints, outs: &self.outs }
    }

    /// States and outputs of the controllers; outputs each after those that it reads.
    fn control(&mut self, s: &State) {
        self.copy_states(s);
        for element in &self.system.controllers {
            let n = element.controller.states();
            let count = element.controller.outputs().len();
            let own = &mut self.own_outs[..count];
            let at = At {
                t: s.t,
                poses: &self.poses,
                twists: &self.twists,
                ids: &element.ids,
                hints: &self.hints,
                outs: &self.outs,
            };
            element.controller.output(&at, &s.x[element.x..element.x + n], own);
            self.outs[element.out..element.out + count].copy_from_slice(own);
        }
    }

    /// States of the controllers among their outputs: they can be read like them, by any controller.
    fn copy_states(&mut self, s: &State) {
        for element in &self.system.controllers {
            let (first, n) = (element.controller.outputs().len(), element.named_states().len());
            self.outs[element.out + first..][..n].copy_from_slice(&s.x[element.x..element.x + n]);
        }
    }

    /// Sets the controllers' states whose start depends on where the mechanism starts; for the assembled start of a run.
    pub fn initialize_controllers(&mut self, s: &mut State) {
        self.place(s);
        self.control(s);
        for element in &self.system.controllers {
            let n = element.controller.states();
            let at = self.at(s.t, &element.ids);
            element.controller.initialize(&at, &mut s.x[element.x..element.x + n]);
        }
    }

    fn update_rows(&mut self, s: &State, stage: Stage, eq: &mut Equations) {
        let system = self.system.clone();
        for element in &system.elements {
            let (first, n) = (element.start, element.rows.rows());
            let at = At {
                t: s.t,
                poses: &self.poses,
                twists: &self.twists,
                ids: &element.ids,
                hints: &self.hints,
                outs: &self.outs,
            };
            let block = &mut self.block[..element.ids.len() * n * system.wide];
            let mut blocks = Blocks { data: block, rows: n, wide: system.wide };
            element.rows.jacobian(&at, &mut self.scratch, &mut blocks);
            element.scatter(n, system.wide, block, &mut eq.J);
            element.rows.phi(&at, &mut eq.phi[first..first + n]);
            if stage.includes(Stage::VELOCITY) {
                element.rows.phi_t(&at, &mut self.scratch, &mut eq.phi_t[first..first + n]);
            }
            if stage.includes(Stage::FORCE) {
                element.rows.gamma(&at, &mut self.scratch, &mut eq.gamma[first..first + n]);
            }
        }
        if stage.includes(Stage::VELOCITY) {
            eq.phidot.copy_from_slice(&eq.phi_t);
            let mut phidot = std::mem::take(&mut eq.phidot);
            eq.add_J_mul(&system.structure, &s.v, &mut phidot);
            eq.phidot = phidot;
        }
    }

    fn update_forces(&mut self, s: &State, eq: &mut Equations) {
        let system = self.system.clone();
        let g = system.gravity;
        for (body, twist) in system.directory.bodies.iter().zip(&self.twists).skip(1) {
            let f = &mut eq.f[body.v..body.v + body.kind.nv()];
            let plane =
                if matches!(body.kind, BodyKind::PlanarRigid | BodyKind::PlanarPoint) { 2 } else { 3 };
            for i in 0..plane {
                f[i] = body.heavy() * g[i];
            }
            match body.kind {
                BodyKind::Rigid | BodyKind::RigidEuler => {
                    let gyroscopic = twist.w.cross(body.inertia * twist.w);
                    for i in 0..3 {
                        f[3 + i] = -gyroscopic.0[i];
                    }
                }
                BodyKind::PlanarRigid => f[2] = 0.0,
                _ => {}
            }
        }
        for (id, added) in &system.directory.added {
            let body = &system.directory.bodies[*id as usize];
            let (pose, twist) = (&self.poses[*id as usize], &self.twists[*id as usize]);
            added.add_force(body, pose, twist, &mut eq.f[body.v..body.v + body.kind.nv()]);
        }
        for floating in &system.directory.floating {
            let first = system.directory.bodies[floating.frame as usize].v;
            let size = floating.inertia.nv();
            floating.force(&self.poses, &self.twists, &g, &mut self.room);
            eq.f[first..first + size].copy_from_slice(&self.room.f[..size]);
        }
        for force in system.forces.iter().filter(|f| f.enabled) {
            let wrenches = &mut self.wrenches[..force.ids.len()];
            wrenches.fill(Wrench::zero());
            let at = At {
                t: s.t,
                poses: &self.poses,
                twists: &self.twists,
                ids: &force.ids,
                hints: &self.hints,
                outs: &self.outs,
            };
            force.load.wrench(&at, wrenches);
            for (&id, wrench) in force.ids.iter().zip(wrenches) {
                let body = &system.directory.bodies[id as usize];
                add_wrench(body, &self.poses[id as usize], wrench, &mut eq.f);
            }
        }
        for id in 0..self.pushed {
            add_wrench(&system.directory.bodies[id], &self.poses[id], &self.external[id], &mut eq.f);
        }
        self.with_contacts(s, |contacts, bodies, scratch| contacts.add_forces(bodies, scratch, &mut eq.f));
    }

    /// Power of the forces that keep no books, and power dissipated, at the current places.
    fn powers(&mut self, t: f64) -> (f64, f64) {
        let system = self.system.clone();
        let (mut work, mut heat) = (0.0, 0.0);
        for force in system.forces.iter().filter(|f| f.enabled) {
            let at = At {
                t,
                poses: &self.poses,
                twists: &self.twists,
                ids: &force.ids,
                hints: &self.hints,
                outs: &self.outs,
            };
            if force.load.keeps_books() {
                heat += force.load.dissipation(&at);
                continue;
            }
            let wrenches = &mut self.wrenches[..force.ids.len()];
            wrenches.fill(Wrench::zero());
            force.load.wrench(&at, wrenches);
            for (&id, wrench) in force.ids.iter().zip(wrenches) {
                let twist = &self.twists[id as usize];
                work += wrench.force.dot(twist.v) + wrench.torque.dot(twist.w_W);
            }
        }
        for (wrench, twist) in self.external[..self.pushed].iter().zip(&self.twists) {
            work += wrench.force.dot(twist.v) + wrench.torque.dot(twist.w_W);
        }
        (work, heat)
    }

    /// The work of lifting the mechanism by its own size at `s`: a scale for its energies \[J\].
    pub fn weight(&mut self, s: &State) -> f64 {
        self.place(s);
        let g = Vec3(self.system.gravity).norm();
        let bodies = &self.system.directory.bodies;
        let placed = self.poses.iter().zip(bodies).filter(|(_, body)| !body.rotor);
        let size = placed.fold(0.0_f64, |size, (pose, _)| size.max(pose.p.norm()));
        g * size * bodies.iter().skip(1).map(|b| b.heavy()).sum::<f64>()
    }

    /// Energy books at `s`.
    pub fn energy(&mut self, s: &State) -> Energy {
        let system = self.system.clone();
        let (kinetic, potential) = self.books.energies(s, Vec3(system.gravity));
        let mut energy = Energy { kinetic, potential, work: s.x[WORK], dissipated: s.x[DISSIPATED] };
        let directory = &system.directory;
        let is_bare = directory.added.is_empty() && directory.floating.is_empty() && self.contacts.is_empty();
        if is_bare && !system.forces.iter().any(|f| f.enabled) {
            return energy;
        }
        self.place(s);
        self.control(s);
        for (id, added) in &system.directory.added {
            energy.kinetic += added.kinetic(&self.poses[*id as usize], &self.twists[*id as usize]);
        }
        for floating in &system.directory.floating {
            let books = floating.books_in(&self.poses, &self.twists, &system.gravity, &mut self.room);
            energy.kinetic += books.0;
            energy.potential += books.1;
        }
        for force in system.forces.iter().filter(|f| f.enabled) {
            energy.potential += force.load.potential(&self.at(s.t, &force.ids));
        }
        if !self.contacts.is_empty() {
            let [along, across] =
                self.with_contacts(s, |contacts, bodies, scratch| contacts.stored(bodies, scratch));
            energy.potential += along + across;
            // booked as dissipated with all work of friction
            energy.dissipated -= across;
        }
        energy
    }
}

impl Problem for Mechanism {
    fn structure(&self) -> &Structure {
        &self.system.structure
    }

    fn mass(&self, mass: &mut [f64], minv: &mut [f64]) {
        let system = &self.system;
        let bodies = system.directory.bodies.iter().enumerate().skip(1);
        for (id, body) in bodies.filter(|(_, body)| !body.shares) {
            let col = &system.structure.cols[system.column(id as u32)];
            let n = col.size;
            let turning = if body.kind.turns() { body.kind.nv() - linear(body.kind) } else { 0 };
            let (mass, minv) = (&mut mass[col.mass..col.mass + n * n], &mut minv[col.mass..col.mass + n * n]);
            mass.fill(0.0);
            minv.fill(0.0);
            for i in 0..n - turning {
                mass[i * n + i] = body.mass;
                minv[i * n + i] = 1.0 / body.mass;
            }
            if turning == 1 {
                mass[n * n - 1] = body.inertia.0[2][2];
                minv[n * n - 1] = 1.0 / body.inertia.0[2][2];
            } else if turning == 3 {
                let inverse = inverse(&body.inertia);
                for i in 0..3 {
                    for j in 0..3 {
                        mass[(3 + i) * n + 3 + j] = body.inertia.0[i][j];
                        minv[(3 + i) * n + 3 + j] = inverse.0[i][j];
                    }
                }
            }
        }
        // in the model pose, where amplitudes are zero; every update says them anew
        let poses: Vec<Pose<f64>> =
            system.directory.bodies.iter().map(|b| Pose::from_quat(b.start.0, b.start.1)).collect();
        for (id, added) in &system.directory.added {
            let col = &system.structure.cols[system.column(*id)];
            let own = col.mass..col.mass + col.size * col.size;
            let body = &system.directory.bodies[*id as usize];
            added.fill(body, &poses[*id as usize], &mut mass[own.clone()], &mut minv[own]);
        }
        for floating in &system.directory.floating {
            let col = &system.structure.cols[system.column(floating.frame)];
            let own = col.mass..col.mass + col.size * col.size;
            let mut room = Room::new(floating.inertia.n);
            floating.mass(&poses, &mut room, &mut mass[own.clone()], Some(&mut minv[own]));
        }
    }

    fn update(&mut self, s: &State, stage: Stage, eq: &mut Equations) {
        self.place(s);
        if stage.includes(Stage::POSITION) {
            for (id, added) in self.system.directory.added.iter().filter(|(_, a)| !a.is_constant()) {
                let col = &self.system.structure.cols[self.system.column(*id)];
                let own = col.mass..col.mass + col.size * col.size;
                let body = &self.system.directory.bodies[*id as usize];
                let (mass, minv) = (&mut eq.mass[own.clone()], &mut eq.minv[own]);
                added.fill(body, &self.poses[*id as usize], mass, minv);
            }
            for floating in &self.system.directory.floating {
                let col = &self.system.structure.cols[self.system.column(floating.frame)];
                let own = col.mass..col.mass + col.size * col.size;
                let (mass, minv) = (&mut eq.mass[own.clone()], &mut eq.minv[own]);
                floating.mass(&self.poses, &mut self.room, mass, Some(minv));
            }
        }
        if stage.includes(Stage::LOADS) {
            self.control(s);
            self.update_forces(s, eq);
        }
        if stage.includes(Stage::POSITION) {
            self.update_rows(s, stage, eq);
        }
    }

    fn qdot(&self, s: &State, qdot: &mut [f64]) {
        for body in self.system.directory.bodies.iter().skip(1) {
            let (q, v) = (&s.q[body.q..], &s.v[body.v..]);
            let out = &mut qdot[body.q..body.q + body.kind.nq()];
            match body.kind {
                BodyKind::Rigid => {
                    out[..3].copy_from_slice(&v[..3]);
                    let rates = quat_derivative(&[q[3], q[4], q[5], q[6]], &[v[3], v[4], v[5]]);
                    out[3..].copy_from_slice(&rates);
                }
                BodyKind::RigidEuler => {
                    out[..3].copy_from_slice(&v[..3]);
                    out[3..].copy_from_slice(&euler_derivative([q[3], q[4], q[5]], [v[3], v[4], v[5]]));
                }
                _ => out.copy_from_slice(&v[..body.kind.nv()]),
            }
        }
    }

    fn xdot(&mut self, s: &State, eq: &Equations, accel: &Accel, xdot: &mut [f64]) {
        // `update` has placed the bodies and run the controllers at this state
        let (work, heat) = self.powers(s.t);
        // drivers: the constraint force -Jᵀλ does work -λᵀJ v = λᵀΦ_t where Φ̇ = 0
        let driven: f64 = eq.phi_t.iter().zip(&accel.lambda).map(|(a, b)| a * b).sum();
        let rubbed: f64 = {
            let at = self.at(s.t, &self.all);
            let heat = |f: &JointFriction| f.heat(&at, f.intensity(&self.system, eq, &accel.lambda, &at));
            self.frictions.iter().map(heat).sum()
        };
        xdot[WORK] = work + driven + self.contacts.work;
        xdot[DISSIPATED] = heat + rubbed;
        for (contact, heat) in self.system.contacts.iter().zip(&self.contacts.heat) {
            xdot[contact.x..contact.x + BOOKS].copy_from_slice(heat);
            xdot[DISSIPATED] += heat[0] + heat[1];
            if let Some((first, last)) = contact.range() {
                xdot[first..last].copy_from_slice(&self.contacts.rates[first..last]);
            }
        }
        self.book_slides(s, accel, xdot);
        for element in &self.system.controllers {
            let n = element.controller.states();
            let x = &s.x[element.x..element.x + n];
            let own = &self.outs[element.out..element.out + element.outputs.len()];
            element.controller.rates(
                &self.at(s.t, &element.ids),
                x,
                own,
                &mut xdot[element.x..element.x + n],
            );
        }
        debug_assert!(xdot.len() >= FIRST_STATE);
    }

    fn has_only_weight(&self) -> bool {
        let (system, directory) = (&self.system, &self.system.directory);
        self.pushed == 0
            && self.contacts.is_empty()
            && self.frictions.is_empty()
            && system.controllers.is_empty()
            && directory.added.is_empty()
            && directory.floating.is_empty()
            && system.forces.iter().all(|force| !force.enabled)
    }

    fn retract(&self, q: &mut [f64], delta: &[f64]) {
        for body in self.system.directory.bodies.iter().skip(1) {
            let d = &delta[body.v..body.v + body.kind.nv()];
            let before = body.quaternion(q);
            let q = &mut q[body.q..body.q + body.kind.nq()];
            if body.kind.turns_in_space() {
                for i in 0..3 {
                    q[i] += d[i];
                }
                let turn = quat_from_rotation_vector(&[d[3], d[4], d[5]]);
                let turned = quat_normalize(quat_mul(&before, &turn));
                if body.kind == BodyKind::Rigid {
                    q[3..].copy_from_slice(&turned);
                } else if d[3..] != [0.0; 3] {
                    let near = [q[3], q[4], q[5]];
                    q[3..].copy_from_slice(&quat_to_euler(&turned, near));
                }
            } else {
                for (q, d) in q.iter_mut().zip(d) {
                    *q += d;
                }
            }
        }
    }

    fn difference(&self, a: &[f64], b: &[f64], delta: &mut [f64]) {
        for body in self.system.directory.bodies.iter().skip(1) {
            let out = &mut delta[body.v..body.v + body.kind.nv()];
            let [to, from] = [a, b].map(|q| body.quaternion(q));
            let (a, b) = (&a[body.q..], &b[body.q..]);
            if body.kind.turns_in_space() {
                for i in 0..3 {
                    out[i] = a[i] - b[i];
                }
                let turn = quat_mul(&quat_conjugate(&from), &to);
                out[3..].copy_from_slice(&quat_to_rotation_vector(&turn));
            } else {
                for i in 0..out.len() {
                    out[i] = a[i] - b[i];
                }
            }
        }
    }

    fn normalize(&self, q: &mut [f64]) {
        for &start in self.books.quaternions() {
            let q = &mut q[start..start + 4];
            let unit = quat_normalize([q[0], q[1], q[2], q[3]]);
            q.copy_from_slice(&unit);
        }
    }

    fn accept(&mut self, s: &State) {
        self.note_angles(s);
        if !self.contacts.is_empty() {
            self.place(s);
            self.control(s);
            self.with_contacts(s, |contacts, bodies, scratch| contacts.accept(bodies, scratch));
        }
        if self.hints.is_empty() {
            return;
        }
        self.place(s);
        let system = self.system.clone();
        // everyone reads the old hints, so the new ones are written aside
        self.fresh_hints.copy_from_slice(&self.hints);
        for joint in &system.directory.joints {
            for k in 0..joint.readings.len() {
                if let Some(hint) = joint.readings[k].1 {
                    let at = At {
                        t: s.t,
                        poses: &self.poses,
                        twists: &self.twists,
                        ids: &joint.bodies,
                        hints: &self.hints,
                        outs: &self.outs,
                    };
                    self.fresh_hints[hint as usize] = joint.coordinate(k, 0, 1).value(&at);
                }
            }
        }
        // what does not act now may be enabled later, and follows too
        let idle = system.idle.iter().map(|&id| &system.whole.elements[id]);
        for element in system.elements.iter().chain(idle) {
            let at = At {
                t: s.t,
                poses: &self.poses,
                twists: &self.twists,
                ids: &element.ids,
                hints: &self.hints,
                outs: &self.outs,
            };
            element.rows.update_hints(&at, &mut self.fresh_hints);
        }
        for force in &system.forces {
            let at = At {
                t: s.t,
                poses: &self.poses,
                twists: &self.twists,
                ids: &force.ids,
                hints: &self.hints,
                outs: &self.outs,
            };
            force.load.update_hints(&at, &mut self.fresh_hints);
        }
        std::mem::swap(&mut self.hints, &mut self.fresh_hints);
    }

    fn frictions(&self) -> usize {
        self.system.slides.len()
    }

    fn friction(&mut self, s: &State, k: usize, c: &mut [f64]) -> usize {
        let system = self.system.clone();
        let element = &system.elements[system.slides[k]];
        self.with_contacts(s, |_, bodies, _| rigid::add_friction(element, bodies, c));
        element.start
    }

    fn name_of_row(&self, row: usize) -> String {
        match self.system.element_of_row(row) {
            Some(e) if e.family == Family::Hold => format!("initial value `{}`", e.name),
            Some(e) => format!("{} `{}`", e.family.name(), e.name),
            None => format!("row {row}"),
        }
    }

    fn description(&self) -> Option<Description> {
        self.system.describe()
    }

    fn is_pushed(&self) -> bool {
        self.pushed > 0
    }

    fn reactive_forces(&self) -> usize {
        self.frictions.len()
    }

    fn intensities(&mut self, s: &State, eq: &Equations, lambda: &[f64], out: &mut [f64]) {
        let at = self.at(s.t, &self.all);
        for (n, friction) in out.iter_mut().zip(&self.frictions) {
            *n = friction.intensity(&self.system, eq, lambda, &at);
        }
    }

    fn add_reactive_forces(&mut self, s: &State, n: &[f64], f: &mut [f64]) {
        let mut frictions = std::mem::take(&mut self.frictions);
        let at = self.at(s.t, &self.all);
        for (n, friction) in n.iter().zip(&mut frictions) {
            friction.add(&self.system, &at, *n, f);
        }
        self.frictions = frictions;
    }

    fn rates(&self, block: usize) -> Option<[f64; 2]> {
        self.system.elements[block].rates
    }

    fn new_tangent(&self) -> Option<Tangent> {
        Some(self.system.new_tangent())
    }

    fn fill_tangent(
        &mut self,
        s: &State,
        vdot: &[f64],
        lambda: &[f64],
        with_variations: bool,
        out: &mut Tangent,
    ) {
        self.tangent_with(s, vdot, lambda, with_variations, out);
        let at = self.at(s.t, &self.all);
        self.frictions.iter().for_each(|friction| friction.add_tangent(&self.system, &at, out));
    }

    fn expand(
        &mut self,
        s: &State,
        v: &[Vec<f64>],
        blocks: &[usize],
        with_J: bool,
        out: &mut Expansion,
    ) -> bool {
        // an expansion of the motion takes M as constant
        if !self.system.structure.varying.is_empty() {
            return false;
        }
        self.place(s);
        let system = self.system.clone();
        let mut motion = std::mem::take(&mut self.motion);
        motion.restart(self.poses.len());
        for element in blocks.iter().map(|&block| &system.elements[block]) {
            for &id in &element.ids {
                motion.follow(&system, id as usize, &self.poses[id as usize], v);
            }
            let Motion { poses, twists, phi, J, block, .. } = &mut motion;
            let t = Taylor::variable(s.t);
            let at = At { t, poses, twists, ids: &element.ids, hints: &self.hints, outs: &self.outs };
            let (n, wide) = (element.rows.rows(), system.wide);
            phi.clear();
            phi.resize(n, Taylor::zero());
            element.rows.taylor(&at, phi);
            for (i, phi) in phi.iter().enumerate() {
                (0..COEFFICIENTS).for_each(|k| out.phi[k][element.start + i] = phi.c[k]);
            }
            if !with_J {
                continue;
            }
            J.clear();
            J.resize(element.ids.len() * n * wide, Taylor::zero());
            element.rows.taylor_jacobian(&at, &mut self.scratch, wide, J);
            for k in 0..COEFFICIENTS {
                block.clear();
                block.extend(J.iter().map(|J| J.c[k]));
                element.scatter(n, wide, block, &mut out.J[k]);
            }
        }
        self.motion = motion;
        true
    }
}

impl Motion {
    /// Forgets everything but its room.
    fn restart(&mut self, bodies: usize) {
        self.poses.resize(bodies, Pose::identity());
        self.twists.resize(bodies, Twist::zero());
        self.known.clear();
        self.known.resize(bodies, false);
        // ground stays where it is
        self.known[0] = true;
    }

    /// Expands the body `id`, at `pose` now, where velocities have the coefficients `v`.
    fn follow(&mut self, system: &System, id: usize, pose: &Pose<f64>, v: &[Vec<f64>]) {
        if std::mem::replace(&mut self.known[id], true) {
            return;
        }
        let body = &system.directory.bodies[id];
        let (mut linear, mut angular) = ([[0.0; 3]; COEFFICIENTS], [[0.0; 3]; COEFFICIENTS]);
        let mut factorial = 1.0;
        for (k, v) in v.iter().enumerate().take(COEFFICIENTS) {
            factorial *= k.max(1) as f64;
            let v = &v[body.v..body.v + body.kind.nv()];
            let (first, turn) = match body.kind {
                BodyKind::Ground => (0, None),
                BodyKind::Rigid | BodyKind::RigidEuler => (3, Some([v[3], v[4], v[5]])),
                BodyKind::PlanarRigid => (2, Some([0.0, 0.0, v[2]])),
                BodyKind::Point => (3, None),
                BodyKind::PlanarPoint => (2, None),
            };
            (0..first).for_each(|i| linear[k][i] = factorial * v[i]);
            angular[k] = turn.unwrap_or_default().map(|w| factorial * w);
        }
        let moving = pose.jet(&linear, &angular);
        self.twists[id] = Twist::jet(&moving, &linear, &angular);
        self.poses[id] = moving;
    }
}

/// Adds `wrench` to the forces `f` of all bodies.
fn add_wrench(body: &Body, pose: &Pose<f64>, wrench: &Wrench<f64>, f: &mut [f64]) {
    let f = &mut f[body.v..body.v + body.kind.nv()];
    match body.kind {
        BodyKind::Ground => {}
        BodyKind::Rigid | BodyKind::RigidEuler => {
            let torque = pose.rot.transpose_mul(wrench.torque);
            for i in 0..3 {
                f[i] += wrench.force.0[i];
                f[3 + i] += torque.0[i];
            }
        }
        BodyKind::PlanarRigid => {
            f[0] += wrench.force.0[0];
            f[1] += wrench.force.0[1];
            f[2] += wrench.torque.0[2];
        }
        BodyKind::Point | BodyKind::PlanarPoint => {
            for (f, w) in f.iter_mut().zip(&wrench.force.0) {
                *f += w;
            }
        }
    }
}

fn linear(kind: BodyKind) -> usize {
    match kind {
        BodyKind::PlanarRigid | BodyKind::PlanarPoint => 2,
        _ => 3,
    }
}

/// Inverse of a symmetric positive definite tensor, by cofactors.
fn inverse(a: &Mat3<f64>) -> Mat3<f64> {
    let [x, y, z] = [a.row(0), a.row(1), a.row(2)];
    let (yz, zx, xy) = (y.cross(z), z.cross(x), x.cross(y));
    let factor = 1.0 / x.dot(yz);
    Mat3::from_cols(yz.scale(factor), zx.scale(factor), xy.scale(factor))
}
