//! The motion of the two arms in closed form, and what is read off a motion.
//!
//! With x = X0 - v t the tip is at (x, 1/2): q2 = π + 2 asin(x/√2), q1 = atan2(1/2, x) - atan2(sin q2/2, 1 + cos q2/2). The arms are
//! slender rods of 1 m, 2 kg and 0.5 m, 1 kg. Torques are τ = M ẏ + h + G: the generalized constraint force Bᵀλ of (76), whose M11,
//! M12, Coriolis and gravity terms are misprinted (gravity along -y here).

use sarrus::math::{Jet, Real};

/// Where the tip starts \[m\], and how long it takes to the same distance on the other side \[s\].
pub const X0: f64 = 0.8406250193166068;
/// Speed of the tip along -x \[m/s\].
pub const SPEED: f64 = 2.0;
/// When the second arm is folded back over the first \[s\].
pub const FOLDED: f64 = 0.4203125096583034;
/// The start: q1, q2 \[rad\], q̇1, q̇2 \[rad/s\]; exact, and as printed.
pub const START: [f64; 4] = [1.0471975511965974, 4.414660294605572, 1.4252014687477599, -3.5172402033174213];
#[expect(clippy::approx_constant, reason = "rounded as in print")]
pub const PRINTED: [f64; 4] = [1.047198, 4.41466, 1.4252, -3.51724];
/// Weight of 1 kg \[N\].
pub const GRAVITY: f64 = 9.81;

/// Joint angles, rates and accelerations at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Motion {
    pub t: f64,
    pub q: [f64; 2],
    pub y: [f64; 2],
    pub ydot: [f64; 2],
}

/// The exact one.
pub fn motion(t: f64) -> Motion {
    let x = (Jet::<3>::variable(t) * -1.0 + FOLDED) * SPEED;
    let q2 = (x / 2f64.sqrt()).asin() * 2.0 + std::f64::consts::PI;
    let q1 = Jet::constant(0.5).atan2(x) - (q2.sin() * 0.5).atan2(q2.cos() * 0.5 + 1.0);
    Motion { t, q: [q1.c[0], q2.c[0]], y: [q1.c[1], q2.c[1]], ydot: [2.0 * q1.c[2], 2.0 * q2.c[2]] }
}

/// h1, h2 of (66), (67) \[m\] and their rates \[m/s\].
pub fn tip(t: f64, [q1, q2, y1, y2]: [f64; 4]) -> ([f64; 2], [f64; 2]) {
    let ((s1, c1), (s12, c12), w) = (q1.sin_cos(), (q1 + q2).sin_cos(), y1 + y2);
    (
        [s1 + 0.5 * s12 - 0.5, c1 + 0.5 * c12 + SPEED * t - X0],
        [c1 * y1 + 0.5 * c12 * w, -s1 * y1 - 0.5 * s12 * w + SPEED],
    )
}

impl Motion {
    /// Torques at shoulder and elbow \[N m\].
    pub fn torques(&self) -> [f64; 2] {
        let ([q1, q2], [y1, y2], [a1, a2]) = (self.q, self.y, self.ydot);
        let (i1, i2) = (1.0 / 6.0, 1.0 / 48.0);
        let (s2, c2) = q2.sin_cos();
        let m = [25.0 / 16.0 + 0.5 * c2 + i1 + i2, 1.0 / 16.0 + 0.25 * c2 + i2, 1.0 / 16.0 + i2];
        let lower = 0.25 * GRAVITY * (q1 + q2).cos();
        [
            m[0] * a1 + m[1] * a2 - 0.25 * y2 * (2.0 * y1 + y2) * s2 + 2.0 * GRAVITY * q1.cos() + lower,
            m[1] * a1 + m[2] * a2 + 0.25 * y1 * y1 * s2 + lower,
        ]
    }

    /// Larger of the two errors of the torques \[N m\]; infinite where they are not finite.
    pub fn error(&self) -> f64 {
        let (found, exact) = (self.torques(), motion(self.t).torques());
        let off = (found[0] - exact[0]).abs().max((found[1] - exact[1]).abs());
        if found.iter().all(|x| x.is_finite()) { off } else { f64::INFINITY }
    }

    /// How far the velocity of the tip is from the one that is asked for, in percent of that.
    pub fn slip(&self) -> f64 {
        let [a, b] = tip(self.t, [self.q[0], self.q[1], self.y[0], self.y[1]]).1;
        100.0 * a.hypot(b) / SPEED
    }
}

/// Largest error of the torques and of the velocity of the tip.
pub fn worst(track: &[Motion]) -> (f64, f64) {
    let most = |of: fn(&Motion) -> f64| track.iter().map(of).fold(0.0, f64::max);
    (most(Motion::error), most(Motion::slip))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An independent computation of the exact motion, to twelve digits.
    #[test]
    fn torques_are_those_of_the_reference() {
        for (t, torques) in [
            (0.0, [9.416296488700159, 1.5496664428895541]),
            (0.2, [5.3071018170332565, 0.8525393840489446]),
            (FOLDED, [0.0, 0.0]),
            (0.5, [-1.944528527502468, -0.31157945631289796]),
            (0.8, [-8.726889559927109, -1.4220942147973568]),
        ] {
            let found = motion(t).torques();
            assert!((0..2).all(|i| (found[i] - torques[i]).abs() < 1e-12), "{t}: {found:?}");
        }
        let at = motion(0.0);
        let start = [at.q[0], at.q[1], at.y[0], at.y[1]];
        assert!((0..4).all(|i| (start[i] - START[i]).abs() < 1e-13), "{start:?}");
        assert!(motion(0.3).slip() < 1e-12);
    }
}
