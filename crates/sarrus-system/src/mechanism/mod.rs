//! The equations of motion of a system: M, f, J, γ, Φ, Φ̇ at a state.
//!
//! v = (ṗ of the centre of mass in world axes, ω in body axes), so M = diag(m, m, m, I) is constant and the only
//! inertial force is the gyroscopic torque: I ω̇ + ω × I ω = torque. Of a modal body M changes with its amplitudes, and
//! [`Inertia`](crate::flexible::modal::inertia::InertiaInvariants) has the equations.

mod angles;
mod coordinates;
mod energy;
mod forces;
mod gamma_terms;
mod kinematics;
mod ledger;
mod masses;
mod motion;
mod saturation;

pub use energy::Energy;

use crate::at::At;
use crate::constraint::JacobianBlocks;
use crate::contact::pair::BodyKinematics;
use crate::contact::{ENERGY_STATES, EntryTally, Halfway, PointKey};
use crate::contact::{rigid, wire};
use crate::derive::DerivativeWorkspace;
use crate::flexible::modal::floating::ModalWorkspace;
use crate::friction::{self, JointFriction};
use crate::load::Wrench;
use crate::separation::{self, Separation};
use crate::system::{DISSIPATED, FIRST_STATE, Family, NearSingular, System, WORK};
use angles::BodyAngles;
use ledger::Ledger;
use motion::MotionBuffer;
use sarrus_math::{Pose, Twist};
use sarrus_solve::tables::Description;
use sarrus_solve::{Accel, Equations, Expansion, Problem, Stage, State, Structure, Tangent};
use std::sync::Arc;

/// A system with the buffers to evaluate it.
#[derive(Clone)]
pub struct Mechanism {
    system: Arc<System>,
    poses: Vec<Pose<f64>>,
    twists: Vec<Twist<f64>>,
    /// Velocities that are tried, at rest between trials; empty until then.
    probes: Vec<Twist<f64>>,
    discrete: Vec<f64>,
    fresh_discrete: Vec<f64>,
    outs: Vec<f64>,
    own_outs: Vec<f64>,
    scratch: DerivativeWorkspace,
    block: Vec<f64>,
    wrenches: Vec<Wrench<f64>>,
    all: Vec<u32>,
    nearest_singular: Option<NearSingular>,
    motion: MotionBuffer,
    /// Workspace for modal bodies.
    workspace: ModalWorkspace<f64>,
    /// Contacts, and what they remember.
    contacts: wire::ContactWorkspace,
    /// Friction that depends on reactions.
    frictions: Vec<JointFriction>,
    /// Separating forces of meshes.
    separations: Vec<Separation>,
    /// Holds what acts on each body from outside, about its centre of mass in world axes.
    external: Vec<Wrench<f64>>,
    /// Bodies from here on have none.
    pushed: usize,
    angles: BodyAngles,
    ledger: Ledger,
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
            probes: Vec::new(),
            discrete: system.discrete.clone(),
            fresh_discrete: system.discrete.clone(),
            outs: vec![0.0; system.outs],
            own_outs: vec![0.0; system.outs],
            scratch: DerivativeWorkspace::default(),
            block: vec![0.0; largest],
            wrenches: vec![Wrench::zero(); most],
            all: (0..n as u32).collect(),
            nearest_singular: None,
            motion: MotionBuffer::default(),
            contacts: wire::ContactWorkspace::new(&system),
            workspace: ModalWorkspace::new(
                system.directory.floating.iter().map(|f| f.inertia.n).max().unwrap_or(0),
            ),
            frictions: friction::all(&system.directory),
            separations: separation::all(&system.directory),
            external: vec![Wrench::zero(); n],
            pushed: 0,
            angles: BodyAngles::new(&system.directory),
            ledger: Ledger::new(&system.directory.bodies),
            system,
        }
    }

    /// The system.
    pub fn system(&self) -> &Arc<System> {
        &self.system
    }

    /// Names of the joints and meshes whose forces depend on reactions, in the order of their intensities.
    pub fn reactive_names(&self) -> Vec<String> {
        let joints = &self.system.directory.joints;
        let frictions = self.frictions.iter().map(|f| joints[f.joint()].name.clone());
        frictions.chain(self.separations.iter().map(|s| s.name.clone())).collect()
    }

    /// Last accepted values of multivalued quantities.
    pub fn discrete(&self) -> &[f64] {
        &self.discrete
    }

    /// J with all of the tooth force of meshes in their rows, as where one flank of each bears; none where that is J itself.
    pub fn rows_with_separation(&mut self, s: &State, eq: &Equations) -> Option<Equations> {
        if self.separations.is_empty() {
            return None;
        }
        self.update_kinematics(s);
        let (mut whole, mut f) = (eq.clone(), vec![0.0; self.system.structure.nv]);
        let at = self.at(s.t, &self.all);
        self.separations.iter().for_each(|x| x.add_to_row(&self.system, &at, &mut f, &mut whole));
        Some(whole)
    }

    /// Starts from other discrete state, as an assembly has found them.
    pub fn set_discrete(&mut self, discrete: &[f64]) {
        self.discrete.copy_from_slice(discrete);
    }

    /// Calls `act` with the contacts and the bodies where they are, at `s`.
    pub(crate) fn with_contacts<T>(
        &mut self,
        s: &State,
        act: impl FnOnce(&mut wire::ContactWorkspace, &BodyKinematics, &mut DerivativeWorkspace) -> T,
    ) -> T {
        let Mechanism { system, poses, twists, discrete, outs, contacts, scratch, .. } = self;
        act(contacts, &BodyKinematics { system, t: s.t, x: &s.x, poses, twists, discrete, outs }, scratch)
    }

    /// Continues where `other` is, a mechanism of the same model of which other parts act: with its discrete state, what acts from outside, and
    /// what its contacts remember, which it loses.
    pub fn resume_from(&mut self, other: &mut Mechanism) {
        self.copy_discrete_state(other);
        std::mem::swap(&mut self.contacts, &mut other.contacts);
    }

    /// With the discrete state of `other`, a mechanism of the same model, and what acts on it from outside.
    pub fn copy_discrete_state(&mut self, other: &Mechanism) {
        self.discrete.copy_from_slice(&other.discrete);
        self.external.copy_from_slice(&other.external);
        self.pushed = other.pushed;
    }

    /// Sets what acts on the body `id` from outside until it is set anew: a force through its centre of mass and a torque about it, both in
    /// world axes. Its power counts as work. What a planar body or a point cannot take is left out.
    pub fn set_external_wrench(&mut self, id: u32, wrench: Wrench<f64>) {
        let id = id as usize;
        self.external[id] = wrench;
        self.pushed = self.pushed.max(id + 1);
    }

    /// Returns what acts on the body `id` from outside.
    pub fn external(&self, id: u32) -> Wrench<f64> {
        self.external[id as usize]
    }

    /// The tangent of joint friction at the state of the last update, added.
    pub(crate) fn add_joint_friction(&self, s: &State, out: &mut Tangent) {
        let at = self.at(s.t, &self.all);
        self.frictions.iter().for_each(|friction| friction.add_tangent(&self.system, &at, out));
    }

    /// Bodies from this one on are not pushed.
    pub(crate) fn pushed(&self) -> usize {
        self.pushed
    }

    /// Returns where the body `id` was evaluated last.
    pub(crate) fn pose(&self, id: usize) -> &Pose<f64> {
        &self.poses[id]
    }

    /// Nothing acts from outside.
    pub fn clear_external_wrenches(&mut self) {
        self.external[..self.pushed].fill(Wrench::zero());
        self.pushed = 0;
    }

    /// Gap, force and slip of every contact at `s`.
    pub fn contact_readings(&mut self, s: &State) -> &[[f64; 3]] {
        self.update_kinematics(s);
        if !self.contacts.is_empty() {
            self.control(s);
            self.with_contacts(s, |contacts, bodies, scratch| contacts.read(bodies, scratch));
        }
        &self.contacts.readings
    }

    /// The same where they were read last.
    pub fn last_readings(&self) -> &[[f64; 3]] {
        &self.contacts.readings
    }

    /// The gap of every place that contacts watch at `s`, in the order of their keys: entry, two surfaces, and which of their places.
    pub fn contact_gaps(&mut self, s: &State, out: &mut Vec<(PointKey, f64)>) {
        self.update_kinematics(s);
        self.with_contacts(s, |contacts, bodies, scratch| contacts.gaps(bodies, scratch, out));
    }

    /// Takes down where bristles are at `s`, half-way in a step.
    pub fn note_bristles(&mut self, s: &State, out: &mut Halfway) {
        self.update_kinematics(s);
        self.with_contacts(s, |contacts, bodies, _| contacts.note_halfway(bodies, out));
    }

    /// The error of bristles at the end `s` of a step over `h`, over what `[rtol, atol]` allow: 1 or less is as the tolerances ask for.
    pub fn bristle_error(&mut self, s: &State, halfway: &Halfway, h: f64, tolerances: [f64; 2]) -> f64 {
        self.update_kinematics(s);
        self.with_contacts(s, |contacts, bodies, _| contacts.halfway_error(bodies, halfway, h, tolerances))
    }

    /// Places the bodies at `s`, and nothing else.
    pub(crate) fn update_bodies(&mut self, s: &State) {
        self.update_kinematics(s);
    }

    /// Places the bodies at `s`, and runs the controllers there.
    pub(crate) fn update_all_kinematics(&mut self, s: &State) {
        self.update_kinematics(s);
        self.control(s);
    }

    /// The same to be kept, until it is put back.
    pub(crate) fn save_readings(&mut self, s: &State) -> Vec<[f64; 3]> {
        self.contact_readings(s);
        std::mem::take(&mut self.contacts.readings)
    }

    /// Puts back the workspace for readings.
    pub(crate) fn restore_readings(&mut self, readings: Vec<[f64; 3]>) {
        self.contacts.readings = readings;
    }

    /// Returns how many pairs of surfaces contacts check, at `s`, and how long nothing gets through another at its speeds \[s\]: of those that
    /// touch, and of all where they are more than `few`.
    pub fn contact_crowd(&mut self, s: &State, few: usize) -> (usize, f64) {
        self.update_kinematics(s);
        self.with_contacts(s, |contacts, bodies, _| {
            let pairs = contacts.in_play(bodies);
            (pairs, contacts.time_to_pass(bodies, pairs > few))
        })
    }

    /// Decides whether pairs that are open where a step starts bear nothing in it: the equations stay smooth over a touch, at which those who
    /// asks for it has to end the step.
    pub fn lock_contacts(&mut self, locks: bool) {
        self.contacts.locks = locks;
        self.contacts.memories.commit();
    }

    /// Calls `found` with the contacts that overlap at `s`: number, depth \[m\], and the energy that overlaps store \[J\], 0 of rigid ones.
    pub fn contact_overlaps(&mut self, s: &State, found: impl FnMut(usize, f64, f64)) {
        self.observe(s, |_| ());
        self.with_contacts(s, |contacts, bodies, scratch| contacts.overlaps(bodies, scratch, found));
    }

    /// Returns what every contact has done up to the last accepted step.
    pub fn tallies(&self) -> &[EntryTally] {
        self.contacts.tallies()
    }

    /// Takes note of how near `s` comes to where Euler angles are singular; done at every accepted step.
    pub fn note_angles(&mut self, s: &State) {
        if !self.ledger.has_angles {
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

    /// The whole mechanism at `s`, for the caller that reads bodies by their own numbers.
    pub fn observe<T>(&mut self, s: &State, read: impl FnOnce(&At<f64>) -> T) -> T {
        self.update_kinematics(s);
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
            let Mechanism { wrenches, poses, twists, discrete, outs, .. } = self;
            let wrenches = &mut wrenches[..force.ids.len()];
            wrenches.fill(Wrench::zero());
            if force.enabled {
                force.load.wrench(&At { t: s.t, poses, twists, ids: &force.ids, discrete, outs }, wrenches);
            }
            found(i, &wrenches[body]);
        }
    }

    fn at<'a>(&'a self, t: f64, ids: &'a [u32]) -> At<'a, f64> {
        At { t, poses: &self.poses, twists: &self.twists, ids, discrete: &self.discrete, outs: &self.outs }
    }

    /// States and outputs of the controllers; outputs each after those that it reads.
    fn control(&mut self, s: &State) {
        self.copy_states(s);
        for element in &self.system.controllers {
            let at = At {
                t: s.t,
                poses: &self.poses,
                twists: &self.twists,
                ids: &element.ids,
                discrete: &self.discrete,
                outs: &self.outs,
            };
            let x = &s.x[element.x..element.x + element.controller.states()];
            let count = element.show(&at, x, &mut self.own_outs);
            self.outs[element.out..element.out + count].copy_from_slice(&self.own_outs[..count]);
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
        self.update_kinematics(s);
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
                discrete: &self.discrete,
                outs: &self.outs,
            };
            let block = &mut self.block[..element.ids.len() * n * system.wide];
            let mut blocks = JacobianBlocks { data: block, rows: n, wide: system.wide };
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
}

impl Problem for Mechanism {
    fn structure(&self) -> &Structure {
        &self.system.structure
    }

    fn mass(&self, mass: &mut [f64], minv: &mut [f64]) {
        self.fill_masses(mass, minv);
    }

    fn update(&mut self, s: &State, stage: Stage, eq: &mut Equations) {
        self.update_kinematics(s);
        if stage.includes(Stage::POSITION) {
            self.update_masses(eq);
        }
        if stage.includes(Stage::LOADS) {
            self.control(s);
            self.update_forces(s, eq);
        }
        if stage.includes(Stage::POSITION) {
            self.update_rows(s, stage, eq);
        }
    }

    fn gamma_terms(&mut self, s: &State, terms: &mut Vec<f64>) {
        self.sizes_of_gamma(s.t, terms);
    }

    fn qdot(&self, s: &State, qdot: &mut [f64]) {
        coordinates::qdot(&self.system.directory.bodies, s, qdot);
    }

    fn xdot(&mut self, s: &State, eq: &Equations, accel: &Accel, xdot: &mut [f64]) {
        // `update` has placed the bodies and run the controllers at this state
        let (work, heat) = self.powers(s.t);
        // drivers: the constraint force -Jᵀλ does work -λᵀJ v = λᵀΦ_t where Φ̇ = 0
        let driven: f64 = eq.phi_t.iter().zip(&accel.lambda).map(|(a, b)| a * b).sum();
        let (rubbed, parted): (f64, f64) = {
            let at = self.at(s.t, &self.all);
            let heat = |f: &JointFriction| f.heat(&at, f.intensity(&self.system, eq, &accel.lambda, &at));
            let power = |x: &Separation| x.power(&at, x.intensity(&self.system, &accel.lambda));
            (self.frictions.iter().map(heat).sum(), self.separations.iter().map(power).sum())
        };
        xdot[WORK] = work + driven + parted + self.contacts.work;
        xdot[DISSIPATED] = heat + rubbed;
        for (contact, heat) in self.system.contacts.iter().zip(&self.contacts.heat) {
            xdot[contact.x..contact.x + ENERGY_STATES].copy_from_slice(heat);
            xdot[DISSIPATED] += heat[0] + heat[1];
            if let Some((first, last)) = contact.range() {
                xdot[first..last].copy_from_slice(&self.contacts.rates[first..last]);
            }
        }
        self.slide_rates(s, accel, xdot);
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
            && self.separations.is_empty()
            && system.controllers.is_empty()
            && directory.added.is_empty()
            && directory.floating.is_empty()
            && system.forces.iter().all(|force| !force.enabled)
    }

    fn retract(&self, q: &mut [f64], delta: &[f64]) {
        coordinates::retract(&self.system.directory.bodies, q, delta);
    }

    fn difference(&self, a: &[f64], b: &[f64], delta: &mut [f64]) {
        coordinates::difference(&self.system.directory.bodies, a, b, delta);
    }

    fn normalize(&self, q: &mut [f64]) {
        coordinates::normalize(self.ledger.quaternions(), q);
    }

    fn accept(&mut self, s: &State) {
        self.note_angles(s);
        if !self.contacts.is_empty() {
            self.update_kinematics(s);
            self.control(s);
            self.with_contacts(s, |contacts, bodies, scratch| contacts.accept(bodies, scratch));
        }
        if self.discrete.is_empty() {
            return;
        }
        self.update_kinematics(s);
        let system = self.system.clone();
        // everyone reads the old discrete state, so the new ones are written aside
        self.fresh_discrete.copy_from_slice(&self.discrete);
        for joint in &system.directory.joints {
            for k in 0..joint.readings.len() {
                if let Some(discrete_index) = joint.readings[k].1 {
                    let at = At {
                        t: s.t,
                        poses: &self.poses,
                        twists: &self.twists,
                        ids: &joint.bodies,
                        discrete: &self.discrete,
                        outs: &self.outs,
                    };
                    self.fresh_discrete[discrete_index as usize] = joint.coordinate(k, 0, 1).value(&at);
                }
            }
        }
        // what does not act now may be enabled later, and follows too
        let idle = system.idle.iter().map(|&id| &system.all.elements[id]);
        for element in system.elements.iter().chain(idle) {
            let at = At {
                t: s.t,
                poses: &self.poses,
                twists: &self.twists,
                ids: &element.ids,
                discrete: &self.discrete,
                outs: &self.outs,
            };
            element.rows.update_discrete(&at, &mut self.fresh_discrete);
        }
        for force in &system.forces {
            let at = At {
                t: s.t,
                poses: &self.poses,
                twists: &self.twists,
                ids: &force.ids,
                discrete: &self.discrete,
                outs: &self.outs,
            };
            force.load.update_discrete(&at, &mut self.fresh_discrete);
        }
        std::mem::swap(&mut self.discrete, &mut self.fresh_discrete);
    }

    fn relative_rotation(&mut self, s: &State) -> Option<f64> {
        if self.discrete.is_empty() {
            return None;
        }
        self.update_kinematics(s);
        let system = &self.system;
        let joints = system.directory.joints.iter().flat_map(|joint| {
            let counted = (0..joint.readings.len()).filter(|&k| joint.readings[k].1.is_some());
            counted.map(|k| joint.coordinate(k, 0, 1).rotation(&self.at(s.t, &joint.bodies)))
        });
        let rows = system.elements.iter().map(|e| e.rows.relative_rotation(&self.at(s.t, &e.ids)));
        let forces = system.forces.iter().map(|f| f.load.relative_rotation(&self.at(s.t, &f.ids)));
        Some(joints.chain(rows).chain(forces).fold(0.0, f64::max))
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
        self.frictions.len() + self.separations.len()
    }

    fn intensities(&mut self, s: &State, eq: &Equations, lambda: &[f64], out: &mut [f64]) {
        let at = self.at(s.t, &self.all);
        let (rubbing, parting) = out.split_at_mut(self.frictions.len());
        for (n, friction) in rubbing.iter_mut().zip(&self.frictions) {
            *n = friction.intensity(&self.system, eq, lambda, &at);
        }
        for (n, separation) in parting.iter_mut().zip(&self.separations) {
            *n = separation.intensity(&self.system, lambda);
        }
    }

    fn add_reactive_forces(&mut self, s: &State, n: &[f64], f: &mut [f64]) {
        let mut frictions = std::mem::take(&mut self.frictions);
        let at = self.at(s.t, &self.all);
        for (n, friction) in n.iter().zip(&mut frictions) {
            friction.add(&self.system, &at, *n, f);
        }
        for (n, separation) in n[frictions.len()..].iter().zip(&self.separations) {
            separation.add(&self.system, &at, *n, f);
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
        self.add_joint_friction(s, out);
    }

    fn expand(
        &mut self,
        s: &State,
        v: &[Vec<f64>],
        blocks: &[usize],
        with_J: bool,
        out: &mut Expansion,
    ) -> bool {
        self.expand_rows(s, v, blocks, with_J, out)
    }
}
