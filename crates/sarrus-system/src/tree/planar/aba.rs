//! Articulated bodies in the plane \[Featherstone1983\].
//!
//! A link with all that hangs on it answers the acceleration (a, α) of its point O with the force A a + b α + p and the torque
//! bᵀa + J α + t about O. Of a body alone A = m 1, b = m c⊥, J = I + m |c|², p = -m ω² c - f, t = c⊥·p less its torque. A pin has
//! its axis in O: nothing is to be factored, and what is left of the answer is a matrix of two rows, as no torque is handed on,
//!
//! A' = A - b bᵀ/J,  p' = p + A'β - b t/J,
//!
//! which the parent feels at r: A_p += A', b_p += A'r⊥, J_p += r⊥ᵀA'r⊥, p_p += p', t_p += r⊥·p'. Outwards a = a_p + α_p r⊥ + β and
//! α = -(t + bᵀa)/J, the absolute one; ẏ is the difference.
//!
//! Two passes over the links, some 60 products and sums and a division a pin besides its sine and cosine. The way from the J of one
//! link to that of its parent bounds the time: r⊥ᵀA'r⊥ is r⊥ᵀA r⊥ - (b·r⊥)²/J, of which all but the last product is ready before 1/J is.

use super::{PlanarLinkData, PlanarLinkState, PlanarSubspace, PlanarTree};

/// Holds what a link and all beyond it answer.
#[derive(Clone, Copy)]
pub(super) struct PlanarArticulatedInertia {
    /// A: xx, xy, yy.
    A: [f64; 3],
    b: [f64; 2],
    J: f64,
    p: [f64; 2],
    t: f64,
    /// 1/J of a pin, 1/(eᵀA e) of a slider.
    inverse: f64,
}

impl PlanarArticulatedInertia {
    pub const NONE: PlanarArticulatedInertia =
        PlanarArticulatedInertia { A: [0.0; 3], b: [0.0; 2], J: 0.0, p: [0.0; 2], t: 0.0, inverse: 0.0 };

    /// Of a body alone under the force (`f`, `torque`) at its centre of mass.
    #[inline(always)]
    fn body(
        own: &PlanarLinkData,
        at: &PlanarLinkState,
        f: [f64; 2],
        torque: f64,
    ) -> PlanarArticulatedInertia {
        let (m, c) = (own.mass, at.rotated(own.c));
        let mw2 = m * at.w * at.w;
        let p = [-mw2 * c[0] - f[0], -mw2 * c[1] - f[1]];
        // c⊥·p: what turns with the body points along c
        let t = c[1] * f[0] - c[0] * f[1] - torque;
        PlanarArticulatedInertia { A: [m, 0.0, m], b: [-m * c[1], m * c[0]], J: own.J, p, t, inverse: 0.0 }
    }

    #[inline(always)]
    fn add(&mut self, other: &PlanarArticulatedInertia) {
        for i in 0..3 {
            self.A[i] += other.A[i];
        }
        for i in 0..2 {
            self.b[i] += other.b[i];
            self.p[i] += other.p[i];
        }
        self.J += other.J;
        self.t += other.t;
    }

    /// A x.
    #[inline(always)]
    fn apply(&self, x: [f64; 2]) -> [f64; 2] {
        [self.A[0] * x[0] + self.A[1] * x[1], self.A[1] * x[0] + self.A[2] * x[1]]
    }

    /// The same at the parent's point, `r` before its own, with the bias of the joint; it hands torques on.
    fn carried(&self, r: [f64; 2], bias: [f64; 2]) -> PlanarArticulatedInertia {
        let across = [-r[1], r[0]];
        let (of_bias, of_rotation) = (self.apply(bias), self.apply(across));
        let p = [self.p[0] + of_bias[0], self.p[1] + of_bias[1]];
        PlanarArticulatedInertia {
            A: self.A,
            b: [self.b[0] + of_rotation[0], self.b[1] + of_rotation[1]],
            J: self.J + 2.0 * dot(across, self.b) + dot(across, of_rotation),
            p,
            t: self.t + dot(self.b, bias) + dot(across, p),
            inverse: 0.0,
        }
    }
}

#[inline(always)]
fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

impl PlanarTree {
    /// ẏ at coordinates `q` and speeds `y` where nothing acts but weight; leaves the links placed there.
    // inlined into its caller, its arrays are no longer kept in registers: 12 % more instructions
    #[inline(never)]
    pub fn forward_dynamics_gravity_only(&mut self, q: &[f64], y: &[f64], ydot: &mut [f64]) {
        self.update_angles(q);
        let g = self.gravity;
        let mut last = PlanarLinkState::GROUND;
        for (i, own) in self.own.iter().enumerate().skip(1) {
            let parent = if own.parent as usize + 1 == i { last } else { self.states[own.parent as usize] };
            last = super::link_kinematics(own, &parent, q, y, self.angles.each_ref().map(|a| a[i]));
            self.states[i] = last;
            self.answers[i] = PlanarArticulatedInertia::body(
                own,
                &last,
                [own.gravitational_mass * g[0], own.gravitational_mass * g[1]],
                0.0,
            );
        }
        self.solve(ydot);
    }

    /// ẏ under the forces `f` on the bodies (nv of the system), where the links were evaluated.
    pub fn accelerations(&mut self, f: &[f64], ydot: &mut [f64]) {
        let links = self.own.iter().zip(&self.states).zip(&mut self.answers);
        for ((own, at), answer) in links.skip(1) {
            let f = &f[own.body.1 as usize..];
            let torque = if own.subspace == PlanarSubspace::Point { 0.0 } else { f[2] };
            *answer = PlanarArticulatedInertia::body(own, at, [f[0], f[1]], torque);
        }
        self.solve(ydot);
    }

    /// Inwards, then outwards, from the answers of the bodies alone.
    fn solve(&mut self, ydot: &mut [f64]) {
        let n = self.own.len();
        // what the link behind gives to the one at hand: in a chain it never goes through memory
        let mut carry = PlanarArticulatedInertia::NONE;
        for i in (1..n).rev() {
            let (own, at) = (&self.own[i], &self.states[i]);
            let parent = own.parent as usize;
            let answer = &mut self.answers[i];
            answer.add(&carry);
            let up = match own.subspace {
                PlanarSubspace::Pin => pin(answer, at),
                PlanarSubspace::Slider => slider(answer, at, self.states[parent].rotated(own.e)),
                PlanarSubspace::Weld => answer.carried(at.r, at.bias),
                PlanarSubspace::Free | PlanarSubspace::Point => PlanarArticulatedInertia::NONE,
            };
            carry = PlanarArticulatedInertia::NONE;
            if parent + 1 == i {
                carry = up;
            } else if parent > 0 {
                self.answers[parent].add(&up);
            }
        }

        let mut last = [0.0; 3];
        for i in 1..n {
            let (own, at, answer) = (&self.own[i], &self.states[i], &self.answers[i]);
            let parent = own.parent as usize;
            let [x, y, alpha] = if parent + 1 == i { last } else { self.rates[parent] };
            let a = [x - alpha * at.r[1] + at.bias[0], y + alpha * at.r[0] + at.bias[1]];
            let k = own.first as usize;
            last = match own.subspace {
                PlanarSubspace::Pin => {
                    let own_alpha = -(answer.t + dot(answer.b, a)) * answer.inverse;
                    ydot[k] = own.sense * (own_alpha - alpha);
                    [a[0], a[1], own_alpha]
                }
                PlanarSubspace::Slider => {
                    let e = self.states[parent].rotated(own.e);
                    let wrench = answer.apply(a);
                    let force = [
                        answer.p[0] + wrench[0] + answer.b[0] * alpha,
                        answer.p[1] + wrench[1] + answer.b[1] * alpha,
                    ];
                    let along = -dot(e, force) * answer.inverse;
                    ydot[k] = along;
                    [a[0] + e[0] * along, a[1] + e[1] * along, alpha]
                }
                PlanarSubspace::Weld => [a[0], a[1], alpha],
                PlanarSubspace::Free => {
                    let own = free(answer);
                    ydot[k..k + 3].copy_from_slice(&own);
                    own
                }
                PlanarSubspace::Point => {
                    let a = [-answer.p[0] / answer.A[0], -answer.p[1] / answer.A[2]];
                    ydot[k..k + 2].copy_from_slice(&a);
                    [a[0], a[1], 0.0]
                }
            };
            self.rates[i] = last;
        }
    }
}

/// Returns what a parent feels of a link on a pin.
#[inline(always)]
fn pin(answer: &mut PlanarArticulatedInertia, at: &PlanarLinkState) -> PlanarArticulatedInertia {
    let PlanarArticulatedInertia { A, b, J, p, t, .. } = *answer;
    let across = [-at.r[1], at.r[0]];
    let of_rotation = answer.apply(across);
    let (rotation, along) = (dot(across, of_rotation), dot(b, across));
    let inverse = 1.0 / J;
    answer.inverse = inverse;
    let (share, k) = (along * inverse, [b[0] * inverse, b[1] * inverse]);
    let A = [A[0] - k[0] * b[0], A[1] - k[0] * b[1], A[2] - k[1] * b[1]];
    let p = [
        p[0] - k[0] * t + A[0] * at.bias[0] + A[1] * at.bias[1],
        p[1] - k[1] * t + A[1] * at.bias[0] + A[2] * at.bias[1],
    ];
    PlanarArticulatedInertia {
        A,
        b: [of_rotation[0] - b[0] * share, of_rotation[1] - b[1] * share],
        J: rotation - along * share,
        p,
        t: dot(across, p),
        inverse: 0.0,
    }
}

/// The same on a slider along `e`.
fn slider(
    answer: &mut PlanarArticulatedInertia,
    at: &PlanarLinkState,
    e: [f64; 2],
) -> PlanarArticulatedInertia {
    let PlanarArticulatedInertia { A, b, J, p, t, .. } = *answer;
    let (U, rotation) = (answer.apply(e), dot(b, e));
    let inverse = 1.0 / dot(e, U);
    answer.inverse = inverse;
    let (k, share, force) = ([U[0] * inverse, U[1] * inverse], rotation * inverse, dot(e, p));
    let left = PlanarArticulatedInertia {
        A: [A[0] - k[0] * U[0], A[1] - k[0] * U[1], A[2] - k[1] * U[1]],
        b: [b[0] - k[0] * rotation, b[1] - k[1] * rotation],
        J: J - share * rotation,
        p: [p[0] - k[0] * force, p[1] - k[1] * force],
        t: t - share * force,
        inverse: 0.0,
    };
    left.carried(at.r, at.bias)
}

/// The acceleration at which a link answers nothing.
fn free(answer: &PlanarArticulatedInertia) -> [f64; 3] {
    let PlanarArticulatedInertia { A, b, J, p, t, .. } = *answer;
    let k = [b[0] / J, b[1] / J];
    let A = [A[0] - k[0] * b[0], A[1] - k[0] * b[1], A[2] - k[1] * b[1]];
    let p = [p[0] - k[0] * t, p[1] - k[1] * t];
    let determinant = A[0] * A[2] - A[1] * A[1];
    let a = [(A[1] * p[1] - A[2] * p[0]) / determinant, (A[1] * p[0] - A[0] * p[1]) / determinant];
    [a[0], a[1], -(t + dot(b, a)) / J]
}
