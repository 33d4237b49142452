//! The mass matrix VᵀM V of the speeds: composite rigid bodies \[Walker1982\], \[Featherstone2008, chapter 6\].
//!
//! A degree of freedom accelerates all that hangs on it as one body, of inertia I_c; the force for it, I_c s, is felt by the
//! joints on the way to the ground: an entry is s_jᵀ of it, carried inwards. Freedoms on different branches do not meet.
//!
//! O(n · depth) entries that are not zero, in a dense n × n matrix: to check, not to step with.

use super::Tree;
use super::spatial::Vec6;

impl Tree {
    /// M (ny × ny, by rows) at the state that was evaluated last.
    pub fn mass_matrix(&mut self, M: &mut [f64]) {
        self.orthonormalize();
        let n = self.structure.nv;
        self.visits += 2 * self.links.len() as u64;
        M[..n * n].fill(0.0);
        for i in 0..self.links.len() {
            self.inertias[i] = self.inertia(i);
        }
        for i in (0..self.links.len()).rev() {
            let (link, r, I) = (&self.links[i], self.states[i].r, self.inertias[i]);
            for k in link.y..link.y + link.ny {
                let mut F: Vec6 = I.mul(&self.s[k]);
                let mut at = i;
                loop {
                    let on = &self.links[at];
                    for j in on.y..on.y + on.ny {
                        let entry = self.s[j].dot(&F);
                        (M[k * n + j], M[j * n + k]) = (entry, entry);
                    }
                    let Some(parent) = on.parent else { break };
                    F = F.gathered(self.states[at].r);
                    at = parent;
                    self.visits += 1;
                }
            }
            if let Some(parent) = link.parent {
                self.inertias[parent].gather(&I, r);
            }
        }
    }
}
