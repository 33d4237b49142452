//! Pairs of a linear and an angular vector at the centre of mass of a body, in world axes, and inertias between them.
//!
//! A velocity or acceleration (v, w) of a body, carried over r = C - C_p from the centre of mass C_p of its parent,
//! is T (v_p, w_p) = (v_p + w_p × r, w_p); a force (f, t) goes the other way by Tᵀ: (f, t + r × f). With axes of the
//! world nothing is turned on the way, and with centres of mass as points nothing grows with the distance from the
//! world's origin, as m r² would.

use sarrus_math::{Mat3, Vec3};

/// A linear and an angular part: a velocity, an acceleration, or a force with its torque.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vec6 {
    /// Linear part: velocity of the point, or force.
    pub v: Vec3,
    /// Angular part: rotation rate, or torque about the point.
    pub w: Vec3,
}

impl Vec6 {
    /// Nothing.
    pub const ZERO: Vec6 = Vec6 { v: Vec3([0.0; 3]), w: Vec3([0.0; 3]) };

    /// From its parts.
    #[inline]
    pub fn new(v: Vec3, w: Vec3) -> Vec6 {
        Vec6 { v, w }
    }

    /// Power of a force along a velocity.
    #[inline]
    pub fn dot(&self, other: &Vec6) -> f64 {
        self.v.dot(other.v) + self.w.dot(other.w)
    }

    /// This, times `factor`.
    #[inline]
    pub fn scale(&self, factor: f64) -> Vec6 {
        Vec6 { v: self.v.scale(factor), w: self.w.scale(factor) }
    }

    /// Adds `factor` times `other`.
    #[inline]
    pub fn add_scaled(&mut self, factor: f64, other: &Vec6) {
        self.v += other.v.scale(factor);
        self.w += other.w.scale(factor);
    }

    /// This plus `other`.
    #[inline]
    pub fn plus(&self, other: &Vec6) -> Vec6 {
        Vec6 { v: self.v + other.v, w: self.w + other.w }
    }

    /// This less `other`.
    #[inline]
    pub fn minus(&self, other: &Vec6) -> Vec6 {
        Vec6 { v: self.v - other.v, w: self.w - other.w }
    }

    /// T: the velocity at a point that is `r` away.
    #[inline]
    pub fn carried(&self, r: Vec3) -> Vec6 {
        Vec6 { v: self.v + self.w.cross(r), w: self.w }
    }

    /// Tᵀ: the force at `r` away, at the point itself.
    #[inline]
    pub fn gathered(&self, r: Vec3) -> Vec6 {
        Vec6 { v: self.v, w: self.w + r.cross(self.v) }
    }
}

/// A symmetric map from accelerations to forces, [A B; Bᵀ C]: the inertia of a body, or of all that hangs on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia6 {
    /// Force of a linear acceleration \[kg\].
    pub A: Mat3,
    /// Force of an angular one \[kg m\].
    pub B: Mat3,
    /// Torque of an angular one \[kg m²\].
    pub C: Mat3,
}

impl Inertia6 {
    /// Of a rigid body at its centre of mass, with its tensor in world axes.
    #[inline]
    pub fn body(mass: f64, I_W: Mat3) -> Inertia6 {
        let m = [[mass, 0.0, 0.0], [0.0, mass, 0.0], [0.0, 0.0, mass]];
        Inertia6 { A: Mat3(m), B: Mat3([[0.0; 3]; 3]), C: I_W }
    }

    /// The force of an acceleration.
    #[inline]
    pub fn mul(&self, a: &Vec6) -> Vec6 {
        Vec6 { v: self.A * a.v + self.B * a.w, w: self.B.transpose_mul(a.v) + self.C * a.w }
    }

    /// Adds `factor` u uᵀ.
    #[inline]
    pub fn add_square(&mut self, factor: f64, u: &Vec6) {
        for i in 0..3 {
            let (v, w) = (factor * u.v.0[i], factor * u.w.0[i]);
            for j in 0..3 {
                self.A.0[i][j] += v * u.v.0[j];
                self.B.0[i][j] += v * u.w.0[j];
                self.C.0[i][j] += w * u.w.0[j];
            }
        }
    }

    /// Adds `other`, which belongs to a point `r` away: Tᵀ I T.
    ///
    /// With T = [1 -r̃; 0 1]: B' = B - A r̃ and C' = C - Bᵀr̃ + r̃ B', where row i of A r̃ is (row i of A) × r.
    #[inline]
    pub fn gather(&mut self, other: &Inertia6, r: Vec3) {
        let (A, B, C) = (&other.A, &other.B, &other.C);
        let carried: [Vec3; 3] = std::array::from_fn(|i| B.row(i) - A.row(i).cross(r));
        for i in 0..3 {
            let C = C.row(i) - B.col(i).cross(r);
            let (j, k) = ([1, 2, 0][i], [2, 0, 1][i]);
            let rotated = carried[k].scale(r.0[j]) - carried[j].scale(r.0[k]);
            for n in 0..3 {
                self.A.0[i][n] += A.0[i][n];
                self.B.0[i][n] += carried[i].0[n];
                self.C.0[i][n] += C.0[n] + rotated.0[n];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const R: Vec3 = Vec3([0.3, -0.7, 0.4]);
    const A: Vec6 = Vec6 { v: Vec3([1.0, 2.0, -0.5]), w: Vec3([0.2, -0.9, 0.6]) };
    const F: Vec6 = Vec6 { v: Vec3([-0.4, 0.8, 0.1]), w: Vec3([0.5, 0.3, -0.2]) };

    fn inertia() -> Inertia6 {
        let mut I = Inertia6::body(1.7, Mat3([[0.5, 0.02, 0.01], [0.02, 0.4, -0.03], [0.01, -0.03, 0.3]]));
        I.add_square(0.3, &A);
        I
    }

    #[test]
    fn power_does_not_depend_on_the_point() {
        assert!((F.dot(&A.carried(R)) - F.gathered(R).dot(&A)).abs() < 1e-15);
    }

    /// Tᵀ I T a, in one go and step by step.
    #[test]
    fn an_inertia_gathered_acts_as_one_that_is_carried() {
        let mut gathered = Inertia6::body(0.0, Mat3([[0.0; 3]; 3]));
        gathered.gather(&inertia(), R);
        let expected = inertia().mul(&A.carried(R)).gathered(R);
        let off = gathered.mul(&A).minus(&expected);
        assert!(off.v.norm() + off.w.norm() < 1e-14, "{off:?}");
    }

    #[test]
    fn the_square_of_a_vector_is_added() {
        let mut I = inertia();
        I.add_square(-2.0, &F);
        let off = I.mul(&A).minus(&inertia().mul(&A)).minus(&F.scale(-2.0 * F.dot(&A)));
        assert!(off.v.norm() + off.w.norm() < 1e-14, "{off:?}");
    }
}
