//! Rates of the speeds from forces: articulated bodies \[Featherstone1983\], \[Featherstone2008, chapter 7\].
//!
//! A body with all that hangs on it, free to move at its joints, answers an acceleration a with the force I a + p.
//! Inwards, with D = sᵀI s = L Lᵀ, W = I s L⁻ᵀ and z = L⁻¹(τ - sᵀp) of each joint:
//!
//! I_p += Tᵀ(I - W Wᵀ)T,  p_p += Tᵀ(p + (I - W Wᵀ)β + W z)
//!
//! and outwards a = T a_p + β, ẏ = L⁻ᵀ(z - Wᵀa), a += s ẏ. For the leaves I = M, p = -f.
//!
//! A joint whose rates are given, a specified speed, is stiff inwards, I_p += TᵀI T, p_p += Tᵀ(p + I (β + s ẏ)), and tells
//! what it needs outwards, τ = sᵀ(I a + p) \[Featherstone2008, section 9.2\].
//!
//! O(n), three passes, nothing factored but the degrees of freedom of a joint. Needs positive masses, and coordinates that satisfy
//! every constraint of themselves: what is cut takes no part.

use super::Tree;
use super::motion::MAX_JOINT_DOF;
use super::small::Factor;
use super::spatial::Vec6;

impl Tree {
    /// ẏ under the forces `f` on the bodies (nv of the system) and, where given, `tau` along the speeds, at the state that
    /// was evaluated last.
    pub fn forward_dynamics(&mut self, f: &[f64], tau: Option<&[f64]>, ydot: &mut [f64]) {
        self.orthonormalize();
        self.load(f);
        for i in (0..self.links.len()).rev() {
            self.articulate(i, tau);
        }
        for i in 0..self.links.len() {
            self.outward_pass(i, ydot);
        }
    }

    /// The same where the links for which `given` holds have their rates in `ydot`: their entries of `tau` are found, of all
    /// others those of `ydot`.
    pub fn hybrid_dynamics(&mut self, f: &[f64], given: &[bool], ydot: &mut [f64], tau: &mut [f64]) {
        self.orthonormalize();
        self.load(f);
        for i in (0..self.links.len()).rev() {
            if given[i] {
                self.prescribed_pass(i, ydot);
            } else {
                self.articulate(i, Some(tau));
            }
        }
        for i in 0..self.links.len() {
            if !given[i] {
                self.outward_pass(i, ydot);
                continue;
            }
            let mut a = self.carried(i);
            let own = self.links[i].y..self.links[i].y + self.links[i].ny;
            for k in own.clone() {
                a.add_scaled(ydot[k], &self.s[k]);
            }
            let force = self.inertias[i].mul(&a).plus(&self.forces[i]);
            for k in own {
                tau[k] = self.s[k].dot(&force);
            }
            self.rates[i] = a;
        }
    }

    /// Inertias and forces of the bodies alone.
    fn load(&mut self, f: &[f64]) {
        self.visits += 3 * self.links.len() as u64;
        for i in 0..self.links.len() {
            self.inertias[i] = self.inertia(i);
            self.forces[i] = self.of_body(i, f).scale(-1.0);
        }
    }

    /// The acceleration of link `i` at ẏ = 0 of its joint.
    fn carried(&self, i: usize) -> Vec6 {
        let (link, state) = (&self.links[i], &self.states[i]);
        let parent = link.parent.map_or(Vec6::ZERO, |parent| self.rates[parent]);
        parent.carried(state.r).plus(&state.bias)
    }

    /// ẏ and the acceleration of link `i`.
    fn outward_pass(&mut self, i: usize, ydot: &mut [f64]) {
        let mut a = self.carried(i);
        let own = self.links[i].y..self.links[i].y + self.links[i].ny;
        let ydot = &mut ydot[own.clone()];
        for (ydot, k) in ydot.iter_mut().zip(own.clone()) {
            *ydot = self.z[k] - self.W[k].dot(&a);
        }
        self.factors[i].backward(ydot);
        for (ydot, k) in ydot.iter().zip(own) {
            a.add_scaled(*ydot, &self.s[k]);
        }
        self.rates[i] = a;
    }

    /// Gives what link `i` and all beyond it answer to an acceleration to its parent, with the joint given.
    fn prescribed_pass(&mut self, i: usize, ydot: &[f64]) {
        let (link, state) = (&self.links[i], &self.states[i]);
        let Some(parent) = link.parent else { return };
        let mut own = state.bias;
        for k in link.y..link.y + link.ny {
            own.add_scaled(ydot[k], &self.s[k]);
        }
        let (I, r) = (self.inertias[i], state.r);
        let p = self.forces[i].plus(&I.mul(&own)).gathered(r);
        self.inertias[parent].gather(&I, r);
        self.forces[parent] = self.forces[parent].plus(&p);
    }

    /// The same with the joint free under `tau`.
    fn articulate(&mut self, i: usize, tau: Option<&[f64]>) {
        let (link, state) = (&self.links[i], &self.states[i]);
        let (n, first) = (link.ny, link.y);
        let s = &self.s[first..first + n];
        let (mut I, mut p) = (self.inertias[i], self.forces[i]);
        let mut U = [Vec6::ZERO; MAX_JOINT_DOF];
        for (U, s) in U.iter_mut().zip(s) {
            *U = I.mul(s);
        }
        let factor = Factor::new(n, |i, j| s[i].dot(&U[j]));
        let z = &mut self.z[first..first + n];
        for (k, (z, s)) in z.iter_mut().zip(s).enumerate() {
            *z = tau.map_or(0.0, |tau| tau[first + k]) - s.dot(&p);
        }
        factor.forward(z);
        // W = U L⁻ᵀ, column by column
        let W = &mut self.W[first..first + n];
        for k in 0..n {
            let mut column = U[k];
            for (j, W) in W[..k].iter().enumerate() {
                column.add_scaled(-factor.at(k, j), W);
            }
            W[k] = column.scale(1.0 / factor.at(k, k));
        }
        self.factors[i] = factor;
        if let Some(parent) = link.parent {
            for (W, z) in W.iter().zip(z.iter()) {
                I.add_square(-1.0, W);
                p.add_scaled(*z, W);
            }
            let p = p.plus(&I.mul(&state.bias)).gathered(state.r);
            self.inertias[parent].gather(&I, state.r);
            self.forces[parent] = self.forces[parent].plus(&p);
        }
    }
}
