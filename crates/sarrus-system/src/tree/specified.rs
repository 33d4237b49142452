//! Specified speeds: coordinates of the tree that drivers give as functions of time \[Kane1985\].
//!
//! Where drivers prescribe every coordinate of a joint of the tree, q = f(t), y = ḟ(t), ẏ = f̈(t) are put in place of what was
//! integrated, so that they are no unknowns and their rows hold to rounding. Articulated bodies take the joint as given
//! ([`hybrid_dynamics`](Tree::hybrid_dynamics)) and find the effort τ that it needs, which is that of the driver: λ = -τ of its
//! row. A driver of a speed gives y and ẏ alone; q is integrated.
//!
//! The step control still sees their rates, as a program that is not resolved would do work that is not resolved.
//!
//! Not for: a second driver of the same coordinate, drivers of points and distances, joints of which only some coordinates
//! are given. These stay rows.

use super::graph::{InboardJoint, Link};
use super::{Tree, numbers};
use crate::at::At;
use crate::formula::Formula;
use crate::system::System;
use sarrus_math::Jet;

/// A coordinate that a driver gives.
pub(super) struct Specified {
    /// Row of the driver in λ.
    row: usize,
    /// Its link, coordinate and speed.
    link: usize,
    q: usize,
    y: usize,
    /// Holds what the joint's reading has over the tree's coordinate.
    offset: f64,
    target: Formula,
    /// True if the program is that of the speed.
    is_speed: bool,
    /// Coordinate (none of a speed), speed and its rate where it was evaluated last.
    now: [f64; 3],
}

impl Specified {
    /// The link that it moves.
    pub fn link(&self) -> usize {
        self.link
    }

    /// The coordinate, its speed and the rate of that at time `t`.
    fn at(&self, t: f64) -> [f64; 3] {
        let at = At { t: Jet::<3>::variable(t), poses: &[], twists: &[], ids: &[], discrete: &[], outs: &[] };
        let program = self.target.eval(&at);
        let d = |k: usize| program.derivative(k);
        if self.is_speed { [f64::NAN, d(0), d(1)] } else { [d(0) - self.offset, d(1), d(2)] }
    }
}

/// Returns what drivers among `cut`, indices of elements, give of `links`.
pub(super) fn find(system: &System, links: &[Link], cut: &[usize]) -> Vec<Specified> {
    let mut link_of = vec![usize::MAX; system.directory.joints.len()];
    for (i, link) in links.iter().enumerate() {
        if let InboardJoint::Joint(on) = &link.hinge {
            link_of[on.joint] = i;
        }
    }
    let mut found: Vec<Specified> = Vec::new();
    for element in cut.iter().map(|&index| &system.elements[index]) {
        let Some(program) = element.rows.program() else { continue };
        let Some(link) = links.get(link_of[program.joint]) else { continue };
        let InboardJoint::Joint(on) = &link.hinge else { continue };
        // of a quaternion the speeds are fewer than the numbers: such a joint has a coordinate that no driver gives
        let columns = numbers(on).enumerate().find(|(_, (_, number))| *number == program.number);
        let Some((k, (i, _))) = columns else { continue };
        let (q, y) = (link.q + i, link.y + k);
        if !program.target.needs_controller() && found.iter().all(|given| given.q != q) {
            let offset = system.directory.joints[program.joint].readings[program.number].0;
            let (row, is_speed) = (element.start, program.is_speed);
            let target = program.target.clone();
            let link = link_of[program.joint];
            found.push(Specified { row, link, q, y, offset, target, is_speed, now: [0.0; 3] });
        }
    }
    // a joint is given with all its speeds, or none
    let mut given = vec![0; links.len()];
    found.iter().for_each(|f| given[f.link] += 1);
    found.retain(|f| given[f.link] == links[f.link].ny);
    found
}

impl Tree {
    /// Returns whether drivers give the speeds of `link`.
    pub fn is_given(&self, link: usize) -> bool {
        self.given[link]
    }

    /// Puts what is given at time `t` into coordinates and speeds.
    pub(super) fn fill(&self, t: f64, q: &mut [f64], y: &mut [f64]) {
        for given in &self.specified {
            let [value, speed, _] = given.at(t);
            if !given.is_speed {
                q[given.q] = value;
            }
            y[given.y] = speed;
        }
    }

    /// Places all links at coordinates `q` and speeds `y`, but where these are given at time `t`: in the plane no more than that asks
    /// for, and nothing where they are there already.
    pub(super) fn update_specified(&mut self, t: f64, q: &[f64], y: &[f64]) {
        let (own_q, own_y) = &mut self.own;
        if self.specified.is_empty() && self.known && own_q == q && own_y == y {
            if self.planar.is_none() {
                self.orthonormalize();
            }
            return;
        }
        own_q.copy_from_slice(q);
        own_y.copy_from_slice(y);
        for given in &mut self.specified {
            given.now = given.at(t);
            if !given.is_speed {
                own_q[given.q] = given.now[0];
            }
            own_y[given.y] = given.now[1];
        }
        (self.known, self.is_orthonormal) = (true, false);
        match &mut self.planar {
            Some(planar) => planar.update_kinematics(own_q, own_y),
            None => self.orthonormalize(),
        }
    }

    /// Rates of given coordinates, where they were evaluated last.
    pub(super) fn fill_qdot(&self, qdot: &mut [f64]) {
        self.specified.iter().for_each(|given| qdot[given.q] = given.now[1]);
    }

    /// Rates of given speeds, where they were evaluated last.
    pub(super) fn fill_ydot(&self, ydot: &mut [f64]) {
        self.specified.iter().for_each(|given| ydot[given.y] = given.now[2]);
    }

    /// ẏ under the forces `f` with what is given; the efforts of drivers are kept for [`efforts`](Tree::efforts).
    pub(super) fn accelerate(&mut self, f: &[f64], ydot: &mut [f64]) {
        if self.specified.is_empty() {
            return match (&mut self.planar, &mut self.plain) {
                (Some(planar), _) => planar.accelerations(f, ydot),
                (_, Some(plain)) => {
                    plain.update_kinematics(&self.own.0, &self.own.1);
                    plain.accelerations(f, ydot);
                }
                _ => self.forward_dynamics(f, None, ydot),
            };
        }
        self.fill_ydot(ydot);
        let (given, mut tau) = (std::mem::take(&mut self.given), std::mem::take(&mut self.tau));
        tau.fill(0.0);
        self.hybrid_dynamics(f, &given, ydot, &mut tau);
        (self.given, self.tau) = (given, tau);
    }

    /// Φ_t and λ of the drivers' rows as [`accelerate`](Tree::accelerate) found them; other rows are left alone.
    pub(super) fn efforts(&self, phi_t: &mut [f64], lambda: &mut [f64]) {
        for given in &self.specified {
            phi_t[given.row] = -given.now[1];
            lambda[given.row] = -self.tau[given.y];
        }
    }
}
