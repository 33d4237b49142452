//! Volume, centre and inertia of what triangles enclose, by the divergence theorem.
//!
//! Each triangle a, b, c makes with the origin a tetrahedron of signed volume D/6, D = a·(b × c), for which
//!
//! ∫ x dV = D/24 (a + b + c),  ∫ x xᵀ dV = D/120 (s sᵀ + a aᵀ + b bᵀ + c cᵀ),  s = a + b + c.
//!
//! Their sums over a closed surface do not depend on the origin, which is put into its middle to keep digits.

use super::prelude::*;
use crate::contact::geometry::mesh::Raw;
use sarrus_math::Vec3;
use std::collections::HashMap;

/// Returns why triangles enclose nothing.
pub fn open(raw: &Raw) -> Option<String> {
    let mut edges: HashMap<[u32; 2], [u32; 2]> = HashMap::new();
    for face in &raw.faces {
        for k in 0..3 {
            let (a, b) = (face[k], face[(k + 1) % 3]);
            edges.entry([a.min(b), a.max(b)]).or_default()[usize::from(a > b)] += 1;
        }
    }
    // the first in the file's order, so that the message is always the same
    let (edge, [one, other]) = edges.into_iter().filter(|(_, n)| *n != [1, 1]).min()?;
    let [p, q] = edge.map(|i| raw.corners[i as usize]);
    let at = format!("the edge from {p:?} to {q:?}");
    Some(match one + other {
        1 => format!("{at} belongs to one triangle only"),
        2 => format!("the two triangles at {at} are turned opposite ways"),
        n => format!("{at} belongs to {n} triangles"),
    })
}

/// Turns closed triangles outward. Their solid; none if it has no volume.
pub fn solid(raw: &mut Raw) -> Option<UniformSolid> {
    let n = raw.corners.len().max(1) as f64;
    let middle = raw.corners.iter().fold(Vec3::zero(), |sum, p| sum + Vec3(*p)).scale(1.0 / n);
    let (mut volume, mut first, mut second) = (0.0, Vec3::zero(), [[0.0; 3]; 3]);
    for face in &raw.faces {
        let corners = face.map(|i| Vec3(raw.corners[i as usize]) - middle);
        let [a, b, c] = corners;
        let D = a.dot(b.cross(c));
        let s = a + b + c;
        volume += D / 6.0;
        first += s.scale(D / 24.0);
        for i in 0..3 {
            for j in 0..3 {
                let own: f64 = corners.iter().map(|p| p[i] * p[j]).sum();
                second[i][j] += D / 120.0 * (s[i] * s[j] + own);
            }
        }
    }
    // all numbers turn their sign with the orientation, so what is per volume does not
    if !(volume.abs() > 0.0 && volume.is_finite()) {
        return None;
    }
    if volume < 0.0 {
        raw.faces.iter_mut().for_each(|face| face.swap(1, 2));
    }
    let c = first.scale(1.0 / volume);
    let about = |i: usize, j: usize| second[i][j] / volume - c[i] * c[j];
    let k2 = [about(1, 1) + about(2, 2), about(2, 2) + about(0, 0), about(0, 0) + about(1, 1)];
    let off = [-about(1, 2), -about(2, 0), -about(0, 1)];
    let good = k2.iter().all(|k| *k > 0.0 && k.is_finite());
    good.then(|| UniformSolid {
        measure: SolidMeasure::Volume(volume.abs()),
        k2,
        off,
        centre: (c + middle).0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::cuboid;

    /// A box, its corners moved by p and rotated about z by the angle with this sine and cosine.
    fn block([a, b, c]: [f64; 3], p: [f64; 3], (sin, cos): (f64, f64)) -> Raw {
        let corners = (0..8).map(|i| {
            let sign = |k: usize| if i >> k & 1 == 1 { 0.5 } else { -0.5 };
            let (x, y) = (a * sign(0), b * sign(1));
            [p[0] + cos * x - sin * y, p[1] + sin * x + cos * y, p[2] + c * sign(2)]
        });
        let quads: [[u32; 4]; 6] =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let faces = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
        Raw { corners: corners.collect(), faces }
    }

    #[test]
    fn a_box_of_triangles_weighs_as_a_box() {
        let edges = [0.4, 0.7, 1.1];
        let p = [10.0, -20.0, 5.0];
        let mut raw = block(edges, p, (0.6, 0.8));
        assert_eq!(open(&raw), None);
        let (found, expected) = (solid(&mut raw).unwrap(), cuboid::solid(edges));
        let (SolidMeasure::Volume(V), SolidMeasure::Volume(V0)) = (found.measure, expected.measure) else {
            panic!("no volume")
        };
        assert!((V - V0).abs() < 1e-13 * V0);
        assert!((Vec3(found.centre) - Vec3(p)).norm() < 1e-13 * Vec3(p).norm());
        // K = R k² Rᵀ about z
        let [kx, ky, kz] = expected.k2;
        let moments = [0.64 * kx + 0.36 * ky, 0.36 * kx + 0.64 * ky, kz];
        for i in 0..3 {
            assert!((found.k2[i] - moments[i]).abs() < 1e-12, "{:?} {moments:?}", found.k2);
        }
        let off = [0.0, 0.0, 0.48 * (kx - ky)];
        for i in 0..3 {
            assert!((found.off[i] - off[i]).abs() < 1e-12, "{:?} {off:?}", found.off);
        }
    }

    #[test]
    fn triangles_inside_out_are_turned() {
        let mut raw = block([1.0, 1.0, 1.0], [0.0; 3], (0.0, 1.0));
        let outward = raw.clone();
        raw.faces.iter_mut().for_each(|face| face.swap(1, 2));
        let found = solid(&mut raw).unwrap();
        assert_eq!(found.measure, SolidMeasure::Volume(1.0));
        assert_eq!(raw.faces, outward.faces);
    }

    #[test]
    fn a_surface_with_a_hole_is_open_and_says_where() {
        let mut raw = block([1.0, 1.0, 1.0], [0.0; 3], (0.0, 1.0));
        raw.faces.pop();
        assert!(open(&raw).unwrap().ends_with("belongs to one triangle only"));
        let mut raw = block([1.0, 1.0, 1.0], [0.0; 3], (0.0, 1.0));
        raw.faces[3].swap(0, 1);
        assert!(open(&raw).unwrap().ends_with("are turned opposite ways"), "{:?}", open(&raw));
    }
}
