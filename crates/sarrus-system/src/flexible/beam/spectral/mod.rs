//! A beam element of order p ≥ 2: p + 1 nodes at the points of Gauss and Lobatto, where strains are taken too.
//!
//! The cross sections at the nodes have the axes A_i = R_i D_i, where the constant D_i make all of them equal to the element's own axes in
//! the undeformed mesh, as in [`element`](super::element). With the slopes x'_i = Σ_j D_ij x_j of [`Lobatto`], scaled to the length L, and the
//! rotation vectors φ_ij of A_iᵀA_j
//!
//! y_i = x'_i - (Πa)_i,  Γ_i = A_iᵀy_i,  κ_i = Σ_j D_ij φ_ij,  U = ½ Σ_i w_i (Γ_iᵀCₙΓ_i + κ_iᵀCₘκ_i),
//!
//! where a_i = A_i e₁ are the normals of the sections and Π takes from them their part along Legendre's polynomial of degree p ([`Lobatto::smooth`]),
//! which slopes do not have. There are as many strains then as ways to deform, 3p in the plane and 6p in space. With a itself, Γ_i = A_iᵀx'_i - e₁, one
//! would be left over, which bending cannot help but strain, and slender elements would be far too stiff: this is the reduced integration of \[Simo1986\] for any
//! order. Smoothing Γ in place of a would let sections turn along P_p and the chord grow longer without strain.
//!
//! Turns are seen from the node itself: there the derivative of the rotation vector is the identity, so that κ_i is the slope of the rotation
//! and no more. Motions of the whole change neither Γ nor κ, and nothing depends on the way by which a position was reached. In the plane φ_ij is the
//! difference of two counted angles. In space the unit quaternion of A_iᵀA_j is the product of those between neighbouring nodes, each with a
//! scalar part that is not negative. Its sign counts turns beyond π, so that |φ_ij| reaches up to 2π. φ_ji = -φ_ij, so that half of them
//! are computed. Rates are exact, with the D(φ) of the bushing:
//!
//! ẏ_i = v'_i - (Π[ω × a])_i,  Γ̇_i = A_iᵀ(ẏ_i - ω_i × y_i),  κ̇_i = Σ_j D_ij D(φ_ij) A_iᵀ(ω_j - ω_i).
//!
//! With n_i = w_i Cₙ(Γ_i + τΓ̇_i), m_i = w_i Cₘ(κ_i + τκ̇_i), N_i = A_i n_i and M_ij = D_ij A_i D(φ_ij)ᵀm_i the power of the strains is
//!
//! Σ_i (N_i·v'_i - (y_i × N_i + a_i × (ΠᵀN)_i)·ω_i + Σ_j M_ij·(ω_j - ω_i)),
//!
//! so the force on node j is -Σ_i D_ij N_i, the torque y_j × N_j + a_j × (ΠᵀN)_j + Σ_k (M_jk - M_kj).
//!
//! Masses at the same points: M is diagonal. Displacements converge with L^(p+1), at the ends of elements with L^(2p), so few elements do; the fastest
//! vibration is that of p elements of order 1, twice as fast at the ends, where nodes are nearer, or the rotation of sections against shear,
//! √(GA/ρI), which no mesh changes. Costs of an evaluation in the plane 6(p + 1)² products, in space p(p + 1)/2 rotation vectors.
//!
//! In space not for elements that turn by nearly a full revolution from node to node, where rotation vectors are singular: their wrenches are no numbers then,
//! and every analysis stops. Nor for neighbouring nodes that turn by half a revolution against each other.

mod planar;

use super::lobatto::{Lobatto, POINTS};
use crate::at::At;
use crate::forces::{half_rotation, rotated, rotation_of_half};
use crate::load::{BeamBending, Load, Wrench};
use sarrus_math::{Dual, Jet, Mat3, Real, Vec3};
use std::f64::consts::TAU;

/// Rotation of an element in space, from node to node, beyond which it has no numbers \[rad\]. D(φ), which is infinite at a full revolution, is (θ/2) cot(θ/2)
/// across φ: here two hundred times what it is undeformed.
const MAX_ROTATION: f64 = 0.995 * TAU;

/// The element, between its nodes.
#[derive(Clone, Debug)]
pub struct Spectral {
    /// True if it bends in the plane only.
    planar: bool,
    /// w and D on its length.
    rule: Lobatto,
    /// Dᵀ.
    across: [[f64; POINTS]; POINTS],
    /// D_i: the element's axes in those of its nodes, undeformed.
    axes: [Mat3; POINTS],
    /// Planar: their angles \[rad\].
    angles: [f64; POINTS],
    /// EA, GAy, GAz \[N\].
    stretch: [f64; 3],
    /// GJ, EIy, EIz \[N m²\].
    bend: [f64; 3],
    /// τ: strain rates times this are added to the strains \[s\].
    damping: f64,
}

impl Spectral {
    /// An element with `rule` on its length; `ends` are the element's axes in those of its first and last node, and, planar, their angles.
    pub fn new(
        planar: bool,
        rule: Lobatto,
        ends: [(Mat3, f64); 2],
        [stretch, bend]: [[f64; 3]; 2],
        damping: f64,
    ) -> Spectral {
        let across = std::array::from_fn(|j| std::array::from_fn(|i| rule.slopes[i][j]));
        let (mut axes, mut angles) = ([Mat3::identity(); POINTS], [0.0; POINTS]);
        for (index, (own, angle)) in [0, rule.points - 1].into_iter().zip(ends) {
            (axes[index], angles[index]) = (own, angle);
        }
        Spectral { planar, rule, across, axes, angles, stretch, bend, damping }
    }

    /// A_i of all nodes.
    fn sections<R: Real>(&self, at: &At<R>) -> [Mat3<R>; POINTS] {
        let mut out = [Mat3::identity(); POINTS];
        for (i, out) in out.iter_mut().enumerate().take(self.rule.points) {
            *out = at.pose(i).rot.mul_mat_f64(&self.axes[i]);
        }
        out
    }

    /// Spatial: cos(θ/2) and sin(θ/2) n of A_kᵀA_k+1, whose turn is θ ≤ π about n. No numbers where these turns add up to [`MAX_ROTATION`].
    fn neighbours<R: Real>(&self, sections: &[Mat3<R>; POINTS]) -> [(R, Vec3<R>); POINTS] {
        let mut out = [(R::one(), Vec3::zero()); POINTS];
        if self.planar {
            return out;
        }
        let mut sum = 0.0;
        for k in 0..self.rule.points - 1 {
            out[k] = half_rotation(&sections[k].transpose_mul_mat(&sections[k + 1]));
            sum += out[k].1.norm_squared().value().sqrt();
        }
        // θ ≤ π sin(θ/2): most elements are far from a full revolution
        if sum >= 2.0 {
            let rotation = |(w, v): &(R, Vec3<R>)| 2.0 * v.norm_squared().value().sqrt().atan2(w.value());
            if out[..self.rule.points - 1].iter().map(rotation).sum::<f64>() >= MAX_ROTATION {
                out[0].0 = R::from_f64(f64::NAN);
            }
        }
        out
    }

    /// φ_ij of all pairs.
    fn rotations<R: Real>(&self, at: &At<R>, sections: &[Mat3<R>; POINTS]) -> [[Vec3<R>; POINTS]; POINTS] {
        let (mut phi, neighbours) = ([[Vec3::zero(); POINTS]; POINTS], self.neighbours(sections));
        // angles are counted, so a beam may be wound up
        let angle = |k: usize| at.pose(k).angle + self.angles[k];
        for i in 0..self.rule.points {
            let mut half = (R::one(), Vec3::zero());
            for j in i + 1..self.rule.points {
                phi[i][j] = if self.planar {
                    Vec3([R::zero(), R::zero(), angle(j) - angle(i)])
                } else {
                    half = composed(half, neighbours[j - 1]);
                    rotation_of_half(half.0, half.1)
                };
                phi[j][i] = -phi[i][j];
            }
        }
        phi
    }

    /// Slope at node i of what is `of` at the nodes.
    fn slope<R: Real>(&self, i: usize, of: impl Fn(usize) -> Vec3<R>) -> Vec3<R> {
        let here = of(i);
        let mut sum = Vec3::zero();
        for j in (0..self.rule.points).filter(|j| *j != i) {
            sum += (of(j) - here).scale_f64(self.rule.slopes[i][j]);
        }
        sum
    }

    /// a_i.
    fn normals<R: Real>(&self, sections: &[Mat3<R>; POINTS]) -> [Vec3<R>; POINTS] {
        let mut out = [Vec3::zero(); POINTS];
        for (out, section) in out.iter_mut().zip(sections).take(self.rule.points) {
            *out = *section * Vec3::from_f64([1.0, 0.0, 0.0]);
        }
        out
    }

    /// y at all nodes: the slopes of what is `of` there, less what is left of `turning` when smoothed.
    fn apart<R: Real>(
        &self,
        of: impl Fn(usize) -> Vec3<R>,
        mut rotating: [Vec3<R>; POINTS],
    ) -> [Vec3<R>; POINTS] {
        self.rule.smooth(&mut rotating, false, Vec3::zero(), |a, b, c| a + b.scale_f64(c));
        let mut out = [Vec3::zero(); POINTS];
        for i in 0..self.rule.points {
            out[i] = self.slope(i, &of) - rotating[i];
        }
        out
    }

    /// Γ at all nodes times `strain`, which is 0 or 1, and its rate times `rate`; and y.
    fn stretch<R: Real>(
        &self,
        at: &At<R>,
        sections: &[Mat3<R>; POINTS],
        [strain, rate]: [f64; 2],
    ) -> [[Vec3<R>; POINTS]; 2] {
        let mut rotating = self.normals(sections);
        let y = self.apart(|j| at.pose(j).p, rotating);
        let mut out = [Vec3::zero(); POINTS];
        if strain != 0.0 {
            for i in 0..self.rule.points {
                out[i] = sections[i].transpose_mul(y[i]);
            }
        }
        if rate != 0.0 {
            for (k, a) in rotating.iter_mut().enumerate().take(self.rule.points) {
                *a = at.twist(k).w_W.cross(*a);
            }
            let velocity = self.apart(|j| at.twist(j).v, rotating);
            for i in 0..self.rule.points {
                let seen = velocity[i] - at.twist(i).w_W.cross(y[i]);
                out[i] += sections[i].transpose_mul(seen).scale_f64(rate);
            }
        }
        [out, y]
    }

    /// κ_i, likewise.
    fn bend<R: Real>(
        &self,
        at: &At<R>,
        section: &Mat3<R>,
        phi: &[Vec3<R>; POINTS],
        i: usize,
        [strain, rate]: [f64; 2],
    ) -> Vec3<R> {
        let mut out = Vec3::zero();
        if strain != 0.0 {
            out = self.slope(i, |j| phi[j]).scale_f64(strain);
        }
        if rate != 0.0 {
            let omega = at.twist(i).w_W;
            let bending = self.slope(i, |j| {
                let w = section.transpose_mul(at.twist(j).w_W - omega);
                if self.planar { w } else { rotated(phi[j], w, -0.5) }
            });
            out += bending.scale_f64(rate);
        }
        out
    }

    /// Σ w_i (aᵀCₙa + bᵀCₘb) over the nodes, of strains or rates.
    fn sum<R: Real>(&self, at: &At<R>, which: [f64; 2]) -> R {
        let sections = self.sections(at);
        let [stretch, _] = self.stretch(at, &sections, which);
        let (mut sum, phi) = (R::zero(), self.rotations(at, &sections));
        for i in 0..self.rule.points {
            let (a, b) = (stretch[i], self.bend(at, &sections[i], &phi[i], i, which));
            sum += (a.dot(times(&self.stretch, a)) + b.dot(times(&self.bend, b))) * self.rule.weights[i];
        }
        sum
    }

    /// Adds the wrenches.
    fn add_wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        let (points, which) = (self.rule.points, [1.0, self.damping]);
        let sections = self.sections(at);
        let phi = self.rotations(at, &sections);
        let [stretch, y] = self.stretch(at, &sections, which);
        let mut forces = [Vec3::zero(); POINTS];
        for i in 0..points {
            forces[i] = sections[i] * times(&self.stretch, stretch[i]).scale_f64(self.rule.weights[i]);
        }
        let mut rotating = forces;
        self.rule.smooth(&mut rotating, true, Vec3::zero(), |a, b, c| a + b.scale_f64(c));
        let normals = self.normals(&sections);
        for i in 0..points {
            let (section, phi, D, force) = (&sections[i], &phi[i], &self.rule.slopes[i], forces[i]);
            let w = self.rule.weights[i];
            let m = times(&self.bend, self.bend(at, section, phi, i, which)).scale_f64(w);
            out[i].torque += y[i].cross(force) + normals[i].cross(rotating[i]);
            for j in 0..points {
                out[j].force -= force.scale_f64(D[j]);
            }
            for j in (0..points).filter(|j| *j != i) {
                let rotated = if self.planar { m } else { rotated(phi[j], m, 0.5) };
                let moment = *section * rotated.scale_f64(D[j]);
                out[i].torque += moment;
                out[j].torque -= moment;
            }
        }
    }
}

/// cos(θ/2) and sin(θ/2) n of one rotation after the other: their product as unit quaternions.
fn composed<R: Real>((w, v): (R, Vec3<R>), (x, u): (R, Vec3<R>)) -> (R, Vec3<R>) {
    (w * x - v.dot(u), u.scale(w) + v.scale(x) + v.cross(u))
}

fn times<R: Real>(diagonal: &[f64; 3], a: Vec3<R>) -> Vec3<R> {
    Vec3([a.0[0] * diagonal[0], a.0[1] * diagonal[1], a.0[2] * diagonal[2]])
}

/// Describes what sections carry at each node of the element.
macro_rules! at_nodes {
    ($($k:literal)* => $($what:literal $unit:literal)*) => {
        at_nodes!(@all [$($k)*] [$(($what, $unit))*])
    };
    (@all [$($k:literal)*] $each:tt) => { [$(at_nodes!(@one $k $each)),*] };
    (@one $k:literal [$(($what:literal, $unit:literal))*]) => { [$((concat!($what, $k), $unit)),*] };
}

static PLANAR: [[(&str, &str); 3]; POINTS] = at_nodes!(0 1 2 3 4 5 6 7 8 => "N" "N" "Q" "N" "M" "N m");
static SPATIAL: [[(&str, &str); 6]; POINTS] =
    at_nodes!(0 1 2 3 4 5 6 7 8 => "N" "N" "Qy" "N" "Qz" "N" "Mx" "N m" "My" "N m" "Mz" "N m");

impl Load for Spectral {
    fn wrench(&self, at: &At<f64>, out: &mut [Wrench<f64>]) {
        if self.planar {
            self.planar_wrench(at, out);
        } else {
            self.add_wrench(at, out);
        }
    }

    fn wrench_dual(&self, at: &At<Dual<6>>, out: &mut [Wrench<Dual<6>>]) {
        self.add_wrench(at, out);
    }

    fn potential(&self, at: &At<f64>) -> f64 {
        0.5 * if self.planar { self.planar_stored(at) } else { self.sum(at, [1.0, 0.0]) }
    }

    fn dissipation(&self, at: &At<f64>) -> f64 {
        if self.damping == 0.0 {
            return 0.0;
        }
        self.damping * if self.planar { self.planar_lost(at) } else { self.sum(at, [0.0, 1.0]) }
    }

    fn is_load(&self) -> bool {
        false
    }

    fn potential_rate(&self, at: &At<Jet<2>>) -> f64 {
        0.5 * self.sum(at, [1.0, 0.0]).derivative(1)
    }

    fn accounts_for_power(&self) -> bool {
        true
    }

    fn is_beam(&self) -> bool {
        true
    }

    fn bent(&self, at: &At<f64>) -> Option<BeamBending> {
        let (sections, last) = (self.sections(at), self.rule.points - 1);
        let phi = self.rotations(at, &sections);
        let kappa = |i: usize| {
            let others = (0..=last).filter(|j| *j != i);
            others.fold(Vec3::zero(), |sum, j| sum + phi[i][j].scale_f64(self.rule.slopes[i][j]))
        };
        let length = self.rule.weights[..=last].iter().sum();
        Some(BeamBending { order: last, length, axes: [sections[0]; 2], kappa: [kappa(0), kappa(last)] })
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        let points = self.rule.points;
        if self.planar { PLANAR[..points].as_flattened() } else { SPATIAL[..points].as_flattened() }
    }

    fn reading(&self, k: usize, at: &At<f64>) -> f64 {
        let (i, k) = if self.planar { (k / 3, [0, 1, 5][k % 3]) } else { (k / 6, k % 6) };
        let (sections, which) = (self.sections(at), [1.0, self.damping]);
        if k < 3 {
            let [stretch, _] = self.stretch(at, &sections, which);
            return times(&self.stretch, stretch[i]).0[k];
        }
        let phi = self.rotations(at, &sections);
        times(&self.bend, self.bend(at, &sections[i], &phi[i], i, which)).0[k - 3]
    }
}
