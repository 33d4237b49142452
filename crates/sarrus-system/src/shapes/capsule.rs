//! A rod with a half ball on either end; the length is that between the balls' centres.
//!
//! With V₁ = π r² l of the rod, V₂ = 4/3 π r³ of both half balls and their shares s₁, s₂ of V = V₁ + V₂,
//! k²_x = s₁ r²/2 + s₂ 2r²/5, k²_y = k²_z = s₁ (r²/4 + l²/12) + s₂ (2r²/5 + l²/4 + 3lr/8):
//! a half ball has its centre of mass 3r/8 from its flat side.

use super::{prelude::*, rod, sphere};

/// The kind.
pub const KIND: ShapeKind = ShapeKind {
    name: "capsule",
    doc: "a rod along x with a half ball on either end",
    accepted: &["length", "radius"],
    axis: OwnAxis::X,
    read: |dimensions| {
        let (l, r) = (dimensions.length()?, dimensions.radius()?);
        Ok(ShapeGeometry::new(solid(l, r), Geometry::Capsule { half: 0.5 * l, radius: r }))
    },
};

/// A capsule of length l between the balls' centres and radius r \[m\].
pub fn solid(l: f64, r: f64) -> UniformSolid {
    let (rod, ball) = (rod::solid(l, r), sphere::solid(r));
    let (SolidMeasure::Volume(V1) | SolidMeasure::Area(V1)) = rod.measure;
    let (SolidMeasure::Volume(V2) | SolidMeasure::Area(V2)) = ball.measure;
    let V = V1 + V2;
    let (s1, s2) = (V1 / V, V2 / V);
    let along = s1 * rod.k2[0] + s2 * ball.k2[0];
    let across = s1 * rod.k2[1] + s2 * (ball.k2[1] + l * l / 4.0 + 3.0 * l * r / 8.0);
    UniformSolid::centred(SolidMeasure::Volume(V), [along, across, across])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// ∫ of discs along x: dV = π ρ² dx, dI_x = ½ρ² dV, dI_y = (¼ρ² + x²) dV; Simpson's rule is exact, each piece
    /// being a polynomial of degree 4 in x save for the quartic ρ⁴, which 1000 pieces put below 1e-12.
    #[test]
    fn a_capsule_is_the_sum_of_its_slices() {
        let (l, r) = (0.7, 0.2);
        let rho2 = |x: f64| if x < l / 2.0 { r * r } else { (r * r - (x - l / 2.0).powi(2)).max(0.0) };
        let integrate = |f: &dyn Fn(f64) -> f64, a: f64, b: f64| {
            let n = 1000;
            let h = (b - a) / n as f64;
            (0..n)
                .map(|i| a + i as f64 * h)
                .map(|x| (f(x) + 4.0 * f(x + h / 2.0) + f(x + h)) * h / 6.0)
                .sum::<f64>()
        };
        let whole = |f: &dyn Fn(f64) -> f64| {
            2.0 * (integrate(f, 0.0, l / 2.0 - 1e-15) + integrate(f, l / 2.0, l / 2.0 + r))
        };
        let V = whole(&|x| PI * rho2(x));
        let along = whole(&|x| PI * rho2(x) * rho2(x) / 2.0) / V;
        let across = whole(&|x| PI * rho2(x) * (rho2(x) / 4.0 + x * x)) / V;
        let solid = solid(l, r);
        let SolidMeasure::Volume(volume) = solid.measure else { panic!("no volume") };
        for (found, expected) in
            [(volume, V), (solid.k2[0], along), (solid.k2[1], across), (solid.k2[2], across)]
        {
            assert!((found - expected).abs() < 1e-11 * expected, "{found} {expected}");
        }
    }

    #[test]
    fn a_capsule_without_length_is_a_ball() {
        let (capsule, ball) = (solid(1e-300, 0.3), sphere::solid(0.3));
        assert_eq!(capsule, ball);
    }
}
