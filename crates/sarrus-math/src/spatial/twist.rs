//! Describes how a body moves.

use crate::{Dual, Jet, Pose, Real, Vec3};

/// Velocity of the centre of mass and angular velocity of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twist<R = f64> {
    /// ṗ in W \[m/s\].
    pub v: Vec3<R>,
    /// ω in the body's axes \[rad/s\].
    pub w: Vec3<R>,
    /// ω in W \[rad/s\].
    pub w_W: Vec3<R>,
}

impl<R: Real> Twist<R> {
    /// At rest.
    #[inline]
    pub fn zero() -> Self {
        Twist { v: Vec3::zero(), w: Vec3::zero(), w_W: Vec3::zero() }
    }

    /// From ṗ in W and ω in the body's axes.
    #[inline]
    pub fn new(pose: &Pose<R>, v: Vec3<R>, w: Vec3<R>) -> Self {
        Twist { v, w, w_W: pose.rot * w }
    }

    /// Velocity in W of the point `p_B` of the body.
    #[inline]
    pub fn point_velocity(&self, pose: &Pose<R>, p_B: &[f64; 3]) -> Vec3<R> {
        self.v + self.w_W.cross(pose.rotate(p_B))
    }

    /// The twist with derivatives in the velocity at a fixed pose: slot `first + i` is along `columns[i]` of
    /// (vx, vy, vz in W, ωx, ωy, ωz in B).
    #[inline]
    pub fn seed<const N: usize>(&self, pose: &Pose<R>, first: usize, columns: &[usize]) -> Twist<Dual<N, R>> {
        let mut t = Twist {
            v: Vec3(self.v.0.map(Dual::constant)),
            w: Vec3(self.w.0.map(Dual::constant)),
            w_W: Vec3(self.w_W.0.map(Dual::constant)),
        };
        for (i, &column) in columns.iter().enumerate() {
            let slot = first + i;
            if column < 3 {
                t.v.0[column].d[slot] = R::one();
                continue;
            }
            t.w.0[column - 3].d[slot] = R::one();
            for r in 0..3 {
                t.w_W.0[r].d[slot] = pose.rot.0[r][column - 3];
            }
        }
        t
    }

    /// As [`Twist::seed`], at a pose that has derivatives of its own (in other slots).
    #[inline]
    pub fn seed_with<const N: usize>(
        &self,
        pose: &Pose<Dual<N, R>>,
        first: usize,
        columns: &[usize],
    ) -> Twist<Dual<N, R>> {
        let mut v = Vec3(self.v.0.map(Dual::constant));
        let mut w = Vec3(self.w.0.map(Dual::constant));
        for (i, &column) in columns.iter().enumerate() {
            let part = if column < 3 { &mut v } else { &mut w };
            part.0[column % 3].d[first + i] = R::one();
        }
        Twist::new(pose, v, w)
    }
}

impl Twist<f64> {
    /// The same twist as a constant.
    #[inline]
    pub fn lift<R: Real>(&self) -> Twist<R> {
        Twist { v: Vec3::from_f64(self.v.0), w: Vec3::from_f64(self.w.0), w_W: Vec3::from_f64(self.w_W.0) }
    }
}

impl<const K: usize> Twist<Jet<K>> {
    /// The twist along [`Pose::jet`] of the same `v` and `w`, `pose` being that jet.
    #[inline]
    pub fn jet(pose: &Pose<Jet<K>>, v: &[[f64; 3]], w: &[[f64; 3]]) -> Self {
        let mut t = [Vec3::<Jet<K>>::zero(); 2];
        for (t, derivatives) in t.iter_mut().zip([v, w]) {
            let mut factorial = 1.0;
            for (k, d) in derivatives.iter().take(K).enumerate() {
                factorial *= k.max(1) as f64;
                for i in 0..3 {
                    t.0[i].c[k] = d[i] / factorial;
                }
            }
        }
        let [v, w] = t;
        Twist::new(pose, v, w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; 3] = [0.2, -0.4, 0.9];
    const V: [[f64; 3]; 3] = [[1.0, -2.0, 0.5], [0.3, 0.2, 0.1], [-1.0, 0.0, 2.0]];
    const W: [[f64; 3]; 3] = [[0.7, 0.1, -0.9], [2.0, -0.3, 0.4], [0.5, 0.6, -0.8]];

    fn pose() -> Pose {
        Pose::from_quat([1.0, 2.0, -3.0], [0.8, -0.3, 0.5, 0.2])
    }

    fn twist() -> Twist {
        Twist::new(&pose(), Vec3(V[0]), Vec3(W[0]))
    }

    #[test]
    fn the_velocity_of_a_point_is_the_derivative_of_its_position() {
        let moving: Pose<Jet<4>> = pose().jet(&V, &W);
        let position = moving.point(&P);
        let velocity = Twist::jet(&moving, &V, &W).point_velocity(&moving, &P);
        let now = twist().point_velocity(&pose(), &P);
        for i in 0..3 {
            assert!((now[i] - position[i].c[1]).abs() < 1e-15);
            // one coefficient of the position more than of the velocity
            for k in 0..3 {
                let rate = (k + 1) as f64 * position[i].c[k + 1];
                assert!((velocity[i].c[k] - rate).abs() < 5e-15, "{k}");
            }
        }
    }

    /// v and ω enter linearly, so the derivatives add up to the value; and ∂ṗ/∂v at a fixed pose is ∂p/∂(δp, δθ).
    #[test]
    fn the_velocity_jacobian_is_the_position_jacobian() {
        let columns = [0, 1, 2, 3, 4, 5];
        let seeded = twist().seed::<7>(&pose(), 1, &columns);
        let velocity = seeded.point_velocity(&pose().lift(), &P);
        let position = pose().seed::<7>(1, &columns).point(&P);
        let rates = [V[0], W[0]].concat();
        for i in 0..3 {
            assert!((0..7).all(|k| (velocity[i].d[k] - position[i].d[k]).abs() < 1e-15));
            let sum: f64 = (0..6).map(|k| velocity[i].d[k + 1] * rates[k]).sum();
            assert!((sum - velocity[i].v).abs() < 1e-15);
        }
    }

    #[test]
    fn seeding_at_a_constant_pose_is_seeding_the_twist_alone() {
        let columns = [5, 0, 3];
        let a = twist().seed::<4>(&pose(), 1, &columns);
        let b = twist().seed_with::<4>(&pose().lift(), 1, &columns);
        assert_eq!((a.v, a.w), (b.v, b.w));
        for i in 0..3 {
            assert!((0..4).all(|k| (a.w_W[i].d[k] - b.w_W[i].d[k]).abs() < 1e-16));
        }
    }

    /// ω in W turns with the body: ∂(R ω)/∂θ_a = R (e_a × ω).
    #[test]
    fn a_seeded_pose_turns_the_angular_velocity() {
        let seeded = twist().seed_with(&pose().seed::<6>(0, &[3, 4, 5]), 3, &[3, 4, 5]);
        for a in 0..3 {
            let mut axis = [0.0; 3];
            axis[a] = 1.0;
            let expected = pose().rot * Vec3(axis).cross(Vec3(W[0]));
            for i in 0..3 {
                assert!((seeded.w_W[i].d[a] - expected[i]).abs() < 1e-15);
                assert!((seeded.w_W[i].d[3 + a] - pose().rot.0[i][a]).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn missing_derivatives_are_zero_and_surplus_ones_are_dropped() {
        let moving: Pose<Jet<2>> = pose().jet(&V, &W);
        let t = Twist::jet(&moving, &V, &[]);
        assert_eq!((t.v[0].c, t.w, t.w_W), ([1.0, 0.3], Vec3::zero(), Vec3::zero()));
        assert_eq!(Twist::<f64>::zero().lift::<Jet<2>>(), Twist::zero());
    }
}
