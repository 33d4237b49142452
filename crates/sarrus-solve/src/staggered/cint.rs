//! CINT: the two motion modules.
//!
//! **[`VariationalMotion`]**, for steps that begin and end with half a kick. Translations: w = ṗ + m⁻¹ impulse, displacement h w.
//! Rotations turn by exp(h w) or by Cayley's map of it. With the kinetic energy of w as discrete Lagrangian the momenta at both ends of
//! a step, in body axes, are those of w pulled back by the derivative of the map \[Marsden2001\], \[Iserles2000\]: with ξ = h w
//!
//! ```text
//! J w + ½ ξ × J w + a (ξ·J w) ξ - b |ξ|² J w = J ω + impulse      at the start, for w;
//! J ω = J w - ½ ξ × J w + a (ξ·J w) ξ - b |ξ|² J w + impulse      at the end, for ω;
//! a = b = (1 - (θ/2) cot(θ/2))/θ², θ = |ξ|, for exp;   a = ¼, b = 0 for Cayley's map.
//! ```
//!
//! The step is symmetric, symplectic, and keeps the angular momentum of a free body in space to rounding. No gyroscopic
//! force is evaluated: the two terms are it. With exp a steady rotation about a principal axis is exact; Cayley's map turns
//! it too slowly, by (h|ω|)²/3 of the angle, which for slender bodies that spin is the largest error of all. Costs a Newton
//! iteration on three numbers per body, three or four times.
//!
//! **[`CentralDifference`]**, the module of \[Park1990, eqs. 53-54\]: w = v + M⁻¹ impulse, gyroscopic forces among the others,
//! displacement h w, and the Euler parameters by their mid-point rule, q' = 2 (q + (h/2) A q)/Δ - q with A = A(ω)/2 of
//! eq. 55 and Δ = 1 + (h²/16)|ω|². (Eq. 54 prints h²/4: A holds the factor ½ already.) With this Δ the update is exactly
//! a rotation, of the angle 4 atan(h|ω|/4), and keeps |q| = 1 by itself.

use super::spin::{RotationMap, SpinningBody, spins, three};
use super::{BlockDiagonal, MotionModule};
use crate::problem::Structure;

/// Holds what both modules keep.
#[derive(Debug, Clone, Default)]
struct ModuleBodies {
    minv: BlockDiagonal,
    spins: Vec<SpinningBody>,
}

impl ModuleBodies {
    fn new(s: &Structure, mass: &[f64], minv: &[f64]) -> ModuleBodies {
        ModuleBodies { minv: BlockDiagonal::new(s, minv), spins: spins(s, mass) }
    }

    /// `out` = `v` + M⁻¹ `impulse`.
    fn kick(&self, v: &[f64], impulse: &[f64], out: &mut [f64]) {
        self.minv.add_to(v, impulse, out);
    }

    /// M⁻¹ impulse, and h times that.
    fn respond(&self, impulse: &[f64], h: f64, change: &mut [f64], moved: &mut [f64]) {
        self.minv.mul(impulse, change);
        moved.iter_mut().zip(&*change).for_each(|(m, c)| *m = h * c);
    }

    /// h w, with rotates by `angle(h|ω|)`.
    fn displace(&self, w: &[f64], h: f64, delta: &mut [f64], angle: impl Fn(f64) -> f64) {
        delta.iter_mut().zip(w).for_each(|(d, w)| *d = h * w);
        for spin in &self.spins {
            let size = h * three(w, spin.at).norm();
            if size > 0.0 {
                let factor = angle(size) / size;
                delta[spin.at..][..3].iter_mut().for_each(|d| *d *= factor);
            }
        }
    }
}

/// Half kicks with momenta from a discrete Lagrangian; see the head of the file.
#[derive(Debug, Clone, Default)]
pub struct VariationalMotion {
    map: RotationMap,
    bodies: ModuleBodies,
    /// Marks where Newton's iterations begin (nv).
    near: Vec<f64>,
    /// The last w (nv).
    w: Vec<f64>,
}

impl VariationalMotion {
    /// With rotates by `map`.
    pub fn new(map: RotationMap) -> VariationalMotion {
        VariationalMotion { map, ..VariationalMotion::default() }
    }
}

impl MotionModule for VariationalMotion {
    fn prepare(&mut self, s: &Structure, mass: &[f64], minv: &[f64]) {
        self.bodies = ModuleBodies::new(s, mass, minv);
        (self.near, self.w) = (vec![0.0; s.nv], vec![0.0; s.nv]);
    }

    fn applied(&self, v: &[f64], f: &mut [f64]) {
        for spin in &self.bodies.spins {
            let gyroscopic = spin.gyroscopic(three(v, spin.at));
            f[spin.at..][..3].iter_mut().zip(&gyroscopic.0).for_each(|(f, g)| *f += g);
        }
    }

    fn open(&mut self, v: &[f64], impulse: &[f64], h: f64, warm: bool, w: &mut [f64]) -> bool {
        let VariationalMotion { map, bodies, near, w: last } = self;
        if warm {
            near.copy_from_slice(w);
        }
        bodies.kick(v, impulse, w);
        for spin in &bodies.spins {
            let momentum = spin.inertia * three(v, spin.at) + three(impulse, spin.at);
            let start = three(if warm { near } else { w }, spin.at);
            let Some(rate) = spin.rate(*map, momentum, h, start) else { return false };
            w[spin.at..][..3].copy_from_slice(&rate.0);
        }
        last.copy_from_slice(w);
        true
    }

    fn respond(&mut self, impulse: &[f64], h: f64, change: &mut [f64], moved: &mut [f64]) {
        let VariationalMotion { map, bodies, w, .. } = self;
        bodies.respond(impulse, h, change, moved);
        for spin in &bodies.spins {
            let [rate, rotation] = spin.respond(*map, three(w, spin.at), h, three(impulse, spin.at));
            change[spin.at..][..3].copy_from_slice(&rate.0);
            moved[spin.at..][..3].copy_from_slice(&rotation.0);
        }
    }

    fn displace(&mut self, w: &[f64], h: f64, delta: &mut [f64]) {
        let map = self.map;
        self.bodies.displace(w, h, delta, |size| map.angle(size));
    }

    fn close(&mut self, w: &[f64], impulse: &[f64], h: f64, v: &mut [f64]) {
        let VariationalMotion { map, bodies, .. } = self;
        bodies.kick(w, impulse, v);
        for spin in &bodies.spins {
            let [_, end] = spin.momentum_at_ends(*map, three(w, spin.at), h);
            let rate = spin.inverse * (end + three(impulse, spin.at));
            v[spin.at..][..3].copy_from_slice(&rate.0);
        }
    }
}

/// Central differences with the mid-point rule for Euler parameters; see the head of the file.
#[derive(Debug, Clone, Default)]
pub struct CentralDifference {
    bodies: ModuleBodies,
}

impl MotionModule for CentralDifference {
    fn prepare(&mut self, s: &Structure, mass: &[f64], minv: &[f64]) {
        self.bodies = ModuleBodies::new(s, mass, minv);
    }

    fn applied(&self, _v: &[f64], _f: &mut [f64]) {}

    fn open(&mut self, v: &[f64], impulse: &[f64], _h: f64, _warm: bool, w: &mut [f64]) -> bool {
        self.bodies.kick(v, impulse, w);
        true
    }

    fn respond(&mut self, impulse: &[f64], h: f64, change: &mut [f64], moved: &mut [f64]) {
        self.bodies.respond(impulse, h, change, moved);
    }

    fn displace(&mut self, w: &[f64], h: f64, delta: &mut [f64]) {
        self.bodies.displace(w, h, delta, |size| 4.0 * (0.25 * size).atan());
    }

    fn close(&mut self, w: &[f64], impulse: &[f64], _h: f64, v: &mut [f64]) {
        self.bodies.kick(w, impulse, v);
    }
}
