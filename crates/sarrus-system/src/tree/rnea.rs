//! Generalized forces: recursive Newton-Euler \[Luh1980\], \[Featherstone2008, chapter 5\].
//!
//! τ = VᵀM (V ẏ + V̇ y) - Vᵀ f, where f are the applied less the inertial forces on the bodies, as [`Equations::f`] has
//! them. Accelerations outwards, then what each body with all that hangs on it needs inwards, τ = sᵀ F of each joint.
//! O(n), two passes.
//!
//! With ẏ = 0 it is the bias c(q, y) of M ẏ + c = τ.
//!
//! [`Equations::f`]: sarrus_solve::Equations::f

use super::Tree;
use super::spatial::Vec6;

impl Tree {
    /// τ that gives the speeds the rates `ydot` under the forces `f` on the bodies (nv of the system), at the state that
    /// was evaluated last. Without `ydot` the bias.
    pub fn inverse_dynamics(&mut self, f: &[f64], ydot: Option<&[f64]>, tau: &mut [f64]) {
        self.orthonormalize();
        self.visits += 2 * self.links.len() as u64;
        for i in 0..self.links.len() {
            let (link, state) = (&self.links[i], &self.states[i]);
            let parent = link.parent.map_or(Vec6::ZERO, |parent| self.rates[parent]);
            let mut a = parent.carried(state.r).plus(&state.bias);
            if let Some(ydot) = ydot {
                for k in link.y..link.y + link.ny {
                    a.add_scaled(ydot[k], &self.s[k]);
                }
            }
            self.rates[i] = a;
            self.forces[i] = self.inertia(i).mul(&a).minus(&self.of_body(i, f));
        }
        self.gather(tau);
    }

    /// Vᵀ f: what forces `f` on the bodies (nv of the system) amount to along the speeds, where the links are evaluated.
    pub fn generalized_force(&mut self, f: &[f64], out: &mut [f64]) {
        self.orthonormalize();
        self.visits += self.links.len() as u64;
        for i in 0..self.links.len() {
            self.forces[i] = self.of_body(i, f);
        }
        self.gather(out);
    }

    /// τ = sᵀ F, with F the forces of a link and of all that hangs on it.
    fn gather(&mut self, tau: &mut [f64]) {
        for i in (0..self.links.len()).rev() {
            let link = &self.links[i];
            let F = self.forces[i];
            for k in link.y..link.y + link.ny {
                tau[k] = self.s[k].dot(&F);
            }
            if let Some(parent) = link.parent {
                self.forces[parent] = self.forces[parent].plus(&F.gathered(self.states[i].r));
            }
        }
    }
}
