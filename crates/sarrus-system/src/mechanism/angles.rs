//! Sines and cosines of the angles of bodies in the plane.

use crate::body::{Body, BodyKind};
use crate::names::Directory;
use sarrus_math::lane::sin_cos_all;

/// Angles of all bodies in the plane with their sines and cosines, which are found eight at a time; empty without flexible members: rigid
/// bodies alone are stepped by tables, which do the same.
#[derive(Clone, Default)]
pub(super) struct BodyAngles {
    angles: Vec<f64>,
    sin: Vec<f64>,
    cos: Vec<f64>,
}

impl BodyAngles {
    pub fn new(directory: &Directory) -> BodyAngles {
        let bends = !directory.flexible.is_empty();
        let workspace = || vec![0.0; if bends { directory.bodies.len() } else { 0 }];
        BodyAngles { angles: workspace(), sin: workspace(), cos: workspace() }
    }

    pub fn update(&mut self, bodies: &[Body], q: &[f64]) {
        if self.angles.is_empty() {
            return;
        }
        for (angle, body) in self.angles.iter_mut().zip(bodies) {
            if body.kind == BodyKind::PlanarRigid {
                *angle = q[body.q + 2];
            }
        }
        sin_cos_all(&self.angles, &mut self.sin, &mut self.cos);
    }

    /// Sine and cosine of the angle of the body `i`.
    #[inline(always)]
    pub fn of(&self, i: usize, angle: f64) -> (f64, f64) {
        match (self.sin.get(i), self.cos.get(i)) {
            (Some(sin), Some(cos)) => (*sin, *cos),
            _ => angle.sin_cos(),
        }
    }
}
