//! The equations of a tree, M(q) ẏ + c(q, y) = τ, with the forces of the model in c.
//!
//! ```
//! # use std::sync::Arc;
//! # fn example(system: &Arc<sarrus_system::System>) -> Result<(), Box<dyn std::error::Error>> {
//! let mut robot = sarrus_system::TreeDynamics::new(system)?;
//! let mut s = robot.start();
//! s.q[0] = 0.3;
//! let n = s.v.len();
//! let (mut M, mut c, mut a) = (vec![0.0; n * n], vec![0.0; n], vec![0.0; n]);
//! robot.mass_matrix(&s, &mut M);
//! robot.bias(&s, &mut c);
//! robot.forward_dynamics(&s, &vec![0.0; n], &mut a);    // M a + c = 0
//! # Ok(())
//! # }
//! ```

use super::Tree;
use crate::mechanism::Mechanism;
use crate::system::System;
use sarrus_solve::{Chart, Equations, Problem, Stage, State, StructureError};
use std::sync::Arc;

/// A system in the coordinates of its tree. Loops, constraints and drivers take no part: see [`Tree::is_whole`].
pub struct TreeDynamics {
    mechanism: Mechanism,
    tree: Tree,
    eq: Equations,
    /// State of the bodies.
    bodies: State,
}

impl TreeDynamics {
    /// Of a system in its model pose.
    pub fn new(system: &Arc<System>) -> Result<TreeDynamics, StructureError> {
        let mechanism = system.mechanism();
        let tree = Tree::new(system, mechanism.discrete())?;
        let (eq, bodies) = (Equations::new(&mechanism), system.start());
        Ok(TreeDynamics { mechanism, tree, eq, bodies })
    }

    /// The tree: the order of links, coordinates and speeds.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Coordinates of the model pose, at rest.
    pub fn start(&mut self) -> State {
        let mut s = State::zeros(self.tree.structure());
        self.tree.compress(&self.mechanism.system().start(), &mut s);
        s
    }

    /// State of the bodies at the coordinates and speeds of `s`.
    pub fn bodies(&mut self, s: &State) -> &State {
        self.tree.expand(s, &mut self.bodies);
        &self.bodies
    }

    /// M (ny × ny, by rows).
    pub fn mass_matrix(&mut self, s: &State, M: &mut [f64]) {
        self.tree.weigh_matrix(&s.q, &s.v, M);
    }

    /// c: centrifugal and gyroscopic forces, less gravity and all other forces of the model.
    pub fn bias(&mut self, s: &State, c: &mut [f64]) {
        if self.mechanism.has_only_weight() && self.tree.weigh(&s.q, &s.v, None, c) {
            return;
        }
        self.update(s);
        self.tree.inverse_dynamics(&self.eq.f, None, c);
    }

    /// τ = M ẏ + c.
    pub fn inverse_dynamics(&mut self, s: &State, ydot: &[f64], tau: &mut [f64]) {
        if self.mechanism.has_only_weight() && self.tree.weigh(&s.q, &s.v, Some(ydot), tau) {
            return;
        }
        self.update(s);
        self.tree.inverse_dynamics(&self.eq.f, Some(ydot), tau);
    }

    /// ẏ = M⁻¹(τ - c), in O(n).
    pub fn forward_dynamics(&mut self, s: &State, tau: &[f64], ydot: &mut [f64]) {
        if self.mechanism.has_only_weight() && self.tree.accelerations_from(&s.q, &s.v, Some(tau), ydot) {
            return;
        }
        self.update(s);
        self.tree.forward_dynamics(&self.eq.f, Some(tau), ydot);
    }

    /// The same with specified speeds: links for which `given` holds have their rates in `ydot`, and what these need in
    /// `tau` is found.
    pub fn hybrid_dynamics(&mut self, s: &State, given: &[bool], ydot: &mut [f64], tau: &mut [f64]) {
        self.update(s);
        self.tree.hybrid_dynamics(&self.eq.f, given, ydot, tau);
    }

    /// Forces on the bodies at `s`.
    fn update(&mut self, s: &State) {
        self.tree.expand(s, &mut self.bodies);
        self.mechanism.update(&self.bodies, Stage::LOADS, &mut self.eq);
    }
}
