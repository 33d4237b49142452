//! Describes what a node of a modal body does: where it is, and how it moves with the amplitudes.

use sarrus_math::{Mat3, Real, Vec3};

/// s = r + S η + ½ ηᵀg η and the rotation P η of a node, in the axes of the frame.
#[derive(Clone, Debug)]
pub struct Shapes {
    /// r \[m\].
    pub r: [f64; 3],
    /// S, a column an amplitude.
    pub S: Vec<[f64; 3]>,
    /// P, likewise.
    pub P: Vec<[f64; 3]>,
    /// g, symmetric, by rows; empty where it is zero.
    pub quadratic: Vec<[f64; 3]>,
}

impl Shapes {
    /// s at the amplitudes that `eta` gives.
    pub fn insert_placements<R: Real>(&self, eta: impl Fn(usize) -> R) -> Vec3<R> {
        let n = self.S.len();
        let mut s = Vec3::from_f64(self.r);
        for j in 0..n {
            let mut shape = Vec3::from_f64(self.S[j]);
            if !self.quadratic.is_empty() {
                for i in 0..n {
                    shape += Vec3::from_f64(self.quadratic[i * n + j]).scale(eta(i)).scale_f64(0.5);
                }
            }
            s += shape.scale(eta(j));
        }
        s
    }

    /// ṡ at the amplitudes that `eta` gives with their rates.
    pub fn rate<R: Real>(&self, eta: impl Fn(usize) -> R, rate: impl Fn(usize) -> R) -> Vec3<R> {
        let n = self.S.len();
        let mut out = Vec3::zero();
        for j in 0..n {
            let mut shape = Vec3::from_f64(self.S[j]);
            if !self.quadratic.is_empty() {
                for i in 0..n {
                    shape += Vec3::from_f64(self.quadratic[i * n + j]).scale(eta(i));
                }
            }
            out += shape.scale(rate(j));
        }
        out
    }

    /// The rotation with the Gibbs vector P η/2: that by P η to the second order, and the same over every scalar.
    pub fn rotation<R: Real>(&self, eta: impl Fn(usize) -> R) -> Mat3<R> {
        let mut half = Vec3::<R>::zero();
        for (j, P) in self.P.iter().enumerate() {
            half += Vec3::from_f64(*P).scale(eta(j) * 0.5);
        }
        let factor = R::from_f64(2.0) / (half.norm_squared() + 1.0);
        let column = |k: usize| {
            let mut e = [0.0; 3];
            e[k] = 1.0;
            let e = Vec3::from_f64(e);
            let once = half.cross(e);
            e + (once + half.cross(once)).scale(factor)
        };
        Mat3::from_cols(column(0), column(1), column(2))
    }
}
