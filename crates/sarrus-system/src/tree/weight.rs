//! The recursions of trees on which nothing acts but weight, straight from coordinates and speeds: no body's state is asked for.

use super::Tree;

impl Tree {
    /// ẏ at `q` and `y` under `tau` along the speeds and weight. Returns false, and has done nothing, where it takes the general path.
    pub(super) fn accelerations_from(
        &mut self,
        q: &[f64],
        y: &[f64],
        tau: Option<&[f64]>,
        ydot: &mut [f64],
    ) -> bool {
        if !self.specified.is_empty() {
            return false;
        }
        match (&mut self.planar, &mut self.plain) {
            (Some(planar), _) if tau.is_none() && planar.is_plain() => {
                planar.forward_dynamics_gravity_only(q, y, ydot);
                self.visits += 3 * self.links.len() as u64;
            }
            (_, Some(plain)) if plain.is_plain() => {
                plain.update_kinematics(q, y);
                plain.forward_dynamics_gravity_only(tau, ydot);
                self.visits += 4 * self.links.len() as u64;
            }
            _ => return false,
        }
        self.cache(q, y);
        true
    }

    /// τ = M ẏ + c at `q` and `y`, without `ydot` the bias c, where nothing acts but weight; likewise.
    pub(super) fn weigh(&mut self, q: &[f64], y: &[f64], ydot: Option<&[f64]>, tau: &mut [f64]) -> bool {
        let given = !self.specified.is_empty();
        let Some(plain) = self.plain.as_mut().filter(|plain| plain.is_plain() && !given) else {
            return false;
        };
        plain.update_kinematics(q, y);
        plain.inverse_dynamics(ydot, tau);
        self.visits += 3 * self.links.len() as u64;
        self.cache(q, y);
        true
    }

    /// M (ny × ny, by rows) at `q` and `y`.
    pub(super) fn weigh_matrix(&mut self, q: &[f64], y: &[f64], M: &mut [f64]) {
        if let Some(plain) = &mut self.plain {
            plain.update_kinematics(q, y);
            plain.mass_matrix(self.structure.nv, M);
            self.visits += 2 * self.links.len() as u64;
            return self.cache(q, y);
        }
        self.update_kinematics(q, y);
        self.mass_matrix(M);
    }

    /// Takes note of what was evaluated; the general recursions find the rest when they are asked.
    fn cache(&mut self, q: &[f64], y: &[f64]) {
        self.own.0.copy_from_slice(q);
        self.own.1.copy_from_slice(y);
        (self.known, self.is_orthonormal) = (true, false);
    }
}
