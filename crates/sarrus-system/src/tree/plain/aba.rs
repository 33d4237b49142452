//! Articulated bodies of plain joints \[Featherstone1983\].
//!
//! A link with all that hangs on it answers the acceleration (a, α) of O with the force A a + B α + p and the torque
//! Bᵀa + J α + t about O. Of a body alone A = m 1, B α = m α × c, J = its inertia about O, p = m ω × (ω × c) - f, t = ω × J ω - c × f.
//! A pin with U = (B s, J s) and D = sᵀJ s, or a slider with U = (A s, Bᵀs) and D = sᵀA s, leaves
//!
//! (A, B, J) - U Uᵀ/D,  (p, t) + U (τ - sᵀt)/D,
//!
//! and hands on what the bias adds. A ball hands no torque on: A' = A - B J⁻¹Bᵀ, p' = p - B J⁻¹t alone. The parent feels A', B' - A'r̃
//! and so on at r. Outwards ẏ = (τ - sᵀt - Uᵀ(a, α))/D, of a ball α = -J⁻¹(t + Bᵀa).
//!
//! Two passes; for a pin some 330 products and 290 sums with its place and one division.

use super::symmetric::SymmetricMat3;
use super::{LinkData, PlainLinkState, PlainTree, Subspace};
use sarrus_math::{Mat3, Vec3};

/// Holds what a link and all beyond it answer.
#[derive(Clone, Copy)]
pub(super) struct ArticulatedInertia {
    A: SymmetricMat3,
    B: Mat3,
    J: SymmetricMat3,
    p: Vec3,
    t: Vec3,
    /// U and 1/D of a pin or a slider, and the effort less what it bears; J⁻¹ of a ball.
    retained: [f64; 8],
}

impl ArticulatedInertia {
    pub const NONE: ArticulatedInertia = ArticulatedInertia {
        A: SymmetricMat3::ZERO,
        B: Mat3([[0.0; 3]; 3]),
        J: SymmetricMat3::ZERO,
        p: Vec3([0.0; 3]),
        t: Vec3([0.0; 3]),
        retained: [0.0; 8],
    };

    /// Of a body alone under the force `f`, with the torque `t` of the answer, both in world axes.
    #[inline(always)]
    fn body(
        own: &LinkData,
        at: &PlainLinkState,
        J: SymmetricMat3,
        c: Vec3,
        f: Vec3,
        t: Vec3,
    ) -> ArticulatedInertia {
        let m = own.mass;
        let [x, y, z] = c.scale(m).0;
        ArticulatedInertia {
            A: SymmetricMat3::diagonal(m),
            B: Mat3([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]),
            J,
            p: at.w.cross(at.w.cross(c)).scale(m) - f,
            t,
            retained: [0.0; 8],
        }
    }

    #[inline(always)]
    fn add(&mut self, other: &ArticulatedInertia) {
        self.A.add(&other.A);
        self.J.add(&other.J);
        for i in 0..3 {
            for j in 0..3 {
                self.B.0[i][j] += other.B.0[i][j];
            }
        }
        self.p += other.p;
        self.t += other.t;
    }

    /// Takes U Uᵀ/D from the answer for a joint whose U is (`v`, `w`); `left` is its effort less what it bears.
    #[inline(always)]
    fn release(&mut self, v: Vec3, w: Vec3, D: f64, left: f64) {
        let inverse = 1.0 / D;
        self.retained = [v.0[0], v.0[1], v.0[2], w.0[0], w.0[1], w.0[2], inverse, left];
    }

    /// Returns what the parent feels of a link that has `retained` its joint's part.
    #[inline(always)]
    fn handed_on(&self, at: &PlainLinkState) -> ArticulatedInertia {
        let k = &self.retained;
        let (v, w) = (Vec3([k[0], k[1], k[2]]), Vec3([k[3], k[4], k[5]]));
        let (by_v, by_w) = (v.scale(-k[6]), w.scale(-k[6]));
        let mut rest = *self;
        rest.A.add_product(by_v, v);
        rest.J.add_product(by_w, w);
        for i in 0..3 {
            for j in 0..3 {
                rest.B.0[i][j] += by_v.0[i] * w.0[j];
            }
        }
        rest.p -= by_v.scale(k[7]);
        rest.t -= by_w.scale(k[7]);
        rest.carried(at)
    }

    /// The same at the parent's point, with the bias of the joint.
    #[inline(always)]
    fn carried(&self, at: &PlainLinkState) -> ArticulatedInertia {
        let ArticulatedInertia { A, B, J, .. } = self;
        let r = at.r;
        let p = self.p + A.mul(at.bias_v) + *B * at.bias_w;
        let t = self.t + B.transpose_mul(at.bias_v) + J.mul(at.bias_w) + r.cross(p);
        // B' = B - A r̃, of which row i is row i of B less (row i of A) × r; J' = J - Bᵀr̃ + r̃ B'
        let rows: [Vec3; 3] = std::array::from_fn(|i| B.row(i) - A.row(i).cross(r));
        let (x, y, z) = (r.0[0], r.0[1], r.0[2]);
        let rotated = [
            rows[2].scale(y) - rows[1].scale(z),
            rows[0].scale(z) - rows[2].scale(x),
            rows[1].scale(x) - rows[0].scale(y),
        ];
        let less: [Vec3; 3] = std::array::from_fn(|i| rotated[i] - B.col(i).cross(r));
        let mut J = *J;
        J.add(&SymmetricMat3([
            less[0].0[0],
            less[0].0[1],
            less[0].0[2],
            less[1].0[1],
            less[1].0[2],
            less[2].0[2],
        ]));
        ArticulatedInertia { A: *A, B: Mat3(rows.map(|row| row.0)), J, p, t, retained: [0.0; 8] }
    }

    /// A' and p' of a link that turns freely about O, with J⁻¹.
    #[inline(always)]
    fn freed(&self, inverse: &SymmetricMat3) -> (SymmetricMat3, Vec3) {
        let rows: [Vec3; 3] = std::array::from_fn(|i| self.B.row(i));
        let K = rows.map(|row| inverse.mul(row));
        let at = |i: usize, j: usize| K[i].dot(rows[j]);
        let mut A = self.A;
        A.add(&SymmetricMat3([-at(0, 0), -at(0, 1), -at(0, 2), -at(1, 1), -at(1, 2), -at(2, 2)]));
        (A, self.p - Vec3(K.map(|row| row.dot(self.t))))
    }
}

impl PlainTree {
    /// ẏ where nothing acts but weight and, where given, `tau` along the speeds, where the links were evaluated.
    pub fn forward_dynamics_gravity_only(&mut self, tau: Option<&[f64]>, ydot: &mut [f64]) {
        let g = self.gravity;
        let alone = |own: &LinkData, at: &PlainLinkState| {
            let (J, c, f) = (own.J.rotated(&at.R), at.R * own.c, g.scale(own.gravitational_mass));
            ArticulatedInertia::body(own, at, J, c, f, at.w.cross(J.mul(at.w)) - c.cross(f))
        };
        self.solve(alone, tau, ydot);
    }

    /// ẏ under the forces `f` on the bodies (nv of the system, with their gyroscopic torques), where the links were evaluated.
    pub fn accelerations(&mut self, f: &[f64], ydot: &mut [f64]) {
        let alone = |own: &LinkData, at: &PlainLinkState| {
            let f = &f[own.v as usize..];
            let (force, mut torque) = (Vec3([f[0], f[1], f[2]]), Vec3([0.0; 3]));
            if own.subspace != Subspace::Point {
                torque = at.R * (own.axes * Vec3([f[3], f[4], f[5]]));
            }
            let (J, c) = (own.J.rotated(&at.R), at.R * own.c);
            let mut new = ArticulatedInertia::body(own, at, J, c, force, -torque);
            // f has the gyroscopic torque about the centre of mass alone
            new.t += c.cross(new.p);
            new
        };
        self.solve(alone, None, ydot);
    }

    /// Inwards, then outwards, with the answers of the bodies `alone`.
    #[inline(always)]
    fn solve(
        &mut self,
        alone: impl Fn(&LinkData, &PlainLinkState) -> ArticulatedInertia,
        tau: Option<&[f64]>,
        ydot: &mut [f64],
    ) {
        let n = self.own.len();
        let effort = |k: usize| tau.map_or(0.0, |tau| tau[k]);
        // what the link behind gives to the one at hand: in a chain it never goes through memory
        let mut carry = ArticulatedInertia::NONE;
        for i in (1..n).rev() {
            let (own, at) = (&self.own[i], &self.states[i]);
            let (parent, k) = (own.parent as usize, own.y as usize);
            let mut answer = alone(own, at);
            answer.add(&carry);
            if own.subtrees {
                answer.add(&self.answers[i]);
            }
            let up = match own.subspace {
                Subspace::Pin => {
                    let (v, w) = (answer.B * at.s, answer.J.mul(at.s));
                    answer.release(v, w, at.s.dot(w), effort(k) - at.s.dot(answer.t));
                    answer.handed_on(at)
                }
                Subspace::Slider => {
                    let (v, w) = (answer.A.mul(at.s), answer.B.transpose_mul(at.s));
                    answer.release(v, w, at.s.dot(v), effort(k) - at.s.dot(answer.p));
                    answer.handed_on(at)
                }
                Subspace::Weld => answer.carried(at),
                Subspace::Ball => {
                    // its efforts act on it and back on the parent
                    let mut back = Vec3([0.0; 3]);
                    if let Some(tau) = tau {
                        let N = self.states[parent].R * own.X;
                        back = rotated_out(own, at, &N, Vec3([tau[k], tau[k + 1], tau[k + 2]]));
                        answer.t -= back;
                    }
                    let inverse = answer.J.inverse();
                    answer.retained[..6].copy_from_slice(&inverse.0);
                    let (A, p) = answer.freed(&inverse);
                    let free = PlainLinkState { bias_w: Vec3([0.0; 3]), ..*at };
                    ArticulatedInertia { A, p, t: back, ..ArticulatedInertia::NONE }.carried(&free)
                }
                Subspace::Free | Subspace::Point => ArticulatedInertia::NONE,
            };
            // outwards a pin or a slider needs no more
            match own.subspace {
                Subspace::Pin | Subspace::Slider => self.answers[i].retained = answer.retained,
                _ => self.answers[i] = answer,
            }
            if parent + 1 == i {
                carry = up;
                continue;
            }
            carry = ArticulatedInertia::NONE;
            if own.begins {
                self.answers[parent] = up;
            } else {
                self.answers[parent].add(&up);
            }
        }

        for i in 1..n {
            let (own, at, answer) = (&self.own[i], &self.states[i], &self.answers[i]);
            let (parent, y) = (own.parent as usize, own.y as usize);
            let [a_p, alpha_p] = self.rates[parent];
            let mut a = a_p + alpha_p.cross(at.r) + at.bias_v;
            let mut alpha = alpha_p + at.bias_w;
            let k = &answer.retained;
            match own.subspace {
                Subspace::Pin | Subspace::Slider => {
                    let felt = Vec3([k[0], k[1], k[2]]).dot(a) + Vec3([k[3], k[4], k[5]]).dot(alpha);
                    ydot[y] = (k[7] - felt) * k[6];
                    match own.subspace {
                        Subspace::Pin => alpha += at.s.scale(ydot[y]),
                        _ => a += at.s.scale(ydot[y]),
                    }
                }
                Subspace::Ball => {
                    let inverse = SymmetricMat3([k[0], k[1], k[2], k[3], k[4], k[5]]);
                    let own_alpha = -inverse.mul(answer.t + answer.B.transpose_mul(a));
                    let N = self.states[parent].R * own.X;
                    let own_rates = rotated_in(own, at, &N, own_alpha - alpha);
                    ydot[y..y + 3].copy_from_slice(&own_rates.0);
                    alpha = own_alpha;
                }
                Subspace::Weld => {}
                Subspace::Free => {
                    // what pushes it are its efforts: forces in world axes, torques in its own
                    let (mut p, mut t) = (answer.p, answer.t);
                    if let Some(tau) = tau {
                        p -= Vec3([tau[y], tau[y + 1], tau[y + 2]]);
                        t -= at.R * Vec3([tau[y + 3], tau[y + 4], tau[y + 5]]);
                    }
                    let pushed = ArticulatedInertia { p, t, ..*answer };
                    let inverse = answer.J.inverse();
                    let (A, p) = pushed.freed(&inverse);
                    a = -A.inverse().mul(p);
                    alpha = -inverse.mul(t + answer.B.transpose_mul(a));
                    ydot[y..y + 3].copy_from_slice(&a.0);
                    ydot[y + 3..y + 6].copy_from_slice(&at.R.transpose_mul(alpha).0);
                }
                Subspace::Point => {
                    let force = Vec3([effort(y), effort(y + 1), effort(y + 2)]);
                    a = (force - answer.p).scale(1.0 / own.mass);
                    ydot[y..y + 3].copy_from_slice(&a.0);
                }
            }
            self.rates[i] = [a, alpha];
        }
    }
}

/// Numbers along the speeds of a ball, as a vector in world axes; `N` are its axes on the parent.
#[inline(always)]
pub(super) fn rotated_out(own: &LinkData, at: &PlainLinkState, N: &Mat3, x: Vec3) -> Vec3 {
    if own.sense > 0.0 { at.R * x } else { -(*N * x) }
}

/// The same back.
#[inline(always)]
pub(super) fn rotated_in(own: &LinkData, at: &PlainLinkState, N: &Mat3, x: Vec3) -> Vec3 {
    if own.sense > 0.0 { at.R.transpose_mul(x) } else { -N.transpose_mul(x) }
}
