//! The mass matrix of plain joints: composite rigid bodies \[Walker1982\].
//!
//! All that hangs on a link is one body, of mass m, first moment μ = m c and inertia J about O; from r away it is m, μ + m r and
//! J + 2 (r·μ) 1 - r μᵀ - μ rᵀ + m (|r|² 1 - r rᵀ). A degree of freedom (s_v, s_w) needs the force m s_v + s_w × μ and the torque μ × s_v + J s_w, which the
//! joints on the way to the ground feel.

use super::symmetric::SymmetricMat3;
use super::{PlainTree, Subspace};
use sarrus_math::{Mat3, Vec3};

/// All that hangs on a link as one body.
#[derive(Clone, Copy)]
pub(super) struct Composite {
    mass: f64,
    moment: Vec3,
    J: SymmetricMat3,
}

impl Composite {
    pub const NONE: Composite = Composite { mass: 0.0, moment: Vec3([0.0; 3]), J: SymmetricMat3::ZERO };

    /// The same about the parent's point.
    #[inline(always)]
    fn carried(&self, r: Vec3) -> Composite {
        let (m, moment) = (self.mass, self.moment + r.scale(self.mass));
        let mut J = self.J;
        // with μ' = μ + m r: J + (r·μ + r·μ') 1 - r μ'ᵀ - μ rᵀ, symmetric as m r rᵀ is
        J.add(&SymmetricMat3::diagonal(r.dot(self.moment) + r.dot(moment)));
        J.add_product(-r, moment);
        J.add_product(-self.moment, r);
        Composite { mass: m, moment, J }
    }
}

impl PlainTree {
    /// M (ny × ny, by rows), where the links were evaluated.
    pub fn mass_matrix(&mut self, n: usize, M: &mut [f64]) {
        M[..n * n].fill(0.0);
        for ((own, at), all) in self.own.iter().zip(&self.states).zip(&mut self.composites).skip(1) {
            *all =
                Composite { mass: own.mass, moment: (at.R * own.c).scale(own.mass), J: own.J.rotated(&at.R) };
        }
        for i in (1..self.own.len()).rev() {
            let (all, r) = (self.composites[i], self.states[i].r);
            let (axes, count) = self.axes(i);
            for (k, [v, w]) in axes.iter().enumerate().take(count) {
                let F = v.scale(all.mass) + w.cross(all.moment);
                let N = all.moment.cross(*v) + all.J.mul(*w);
                self.column(i, self.own[i].y as usize + k, F, N, n, M);
            }
            let parent = self.own[i].parent as usize;
            if parent > 0 {
                let up = all.carried(r);
                let on = &mut self.composites[parent];
                on.mass += up.mass;
                on.moment += up.moment;
                on.J.add(&up.J);
            }
        }
    }

    /// Entries of the speed `k` of link `i`, which needs the force `F` and the torque `N`, with all speeds up to the ground.
    fn column(&self, i: usize, k: usize, F: Vec3, mut N: Vec3, n: usize, M: &mut [f64]) {
        let mut at = i;
        loop {
            let own = &self.own[at];
            let mut set_entry = |j: usize, entry: f64| (M[k * n + j], M[j * n + k]) = (entry, entry);
            match own.subspace {
                Subspace::Pin => set_entry(own.y as usize, self.states[at].s.dot(N)),
                Subspace::Slider => set_entry(own.y as usize, self.states[at].s.dot(F)),
                Subspace::Weld => {}
                _ => {
                    let (axes, count) = self.axes(at);
                    for (j, [v, w]) in axes.iter().enumerate().take(count) {
                        set_entry(own.y as usize + j, v.dot(F) + w.dot(N));
                    }
                }
            }
            N += self.states[at].r.cross(F);
            at = own.parent as usize;
            if at == 0 {
                break;
            }
        }
    }

    /// The degrees of freedom of link `i`, linear and angular, and how many there are.
    #[inline(always)]
    fn axes(&self, i: usize) -> ([[Vec3; 2]; 6], usize) {
        let (own, at) = (&self.own[i], &self.states[i]);
        let zero = Vec3([0.0; 3]);
        let mut axes = [[zero; 2]; 6];
        let one = Mat3::identity();
        let count = match own.subspace {
            Subspace::Pin => {
                axes[0] = [zero, at.s];
                1
            }
            Subspace::Slider => {
                axes[0] = [at.s, zero];
                1
            }
            Subspace::Weld => 0,
            Subspace::Ball => {
                let N = self.states[own.parent as usize].R * own.X;
                for j in 0..3 {
                    axes[j][1] = if own.sense > 0.0 { at.R.col(j) } else { -N.col(j) };
                }
                3
            }
            Subspace::Free | Subspace::Point => {
                for j in 0..3 {
                    axes[j][0] = one.col(j);
                    axes[j + 3][1] = at.R.col(j);
                }
                if own.subspace == Subspace::Free { 6 } else { 3 }
            }
        };
        (axes, count)
    }
}
