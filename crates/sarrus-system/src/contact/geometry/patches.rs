//! Tests of patches: as on a half-space, whatever the triangulation and the order; gradients of an energy; the least way out.

use super::mesh::{Hull, Raw, TriangleMesh};
use crate::contact::surface::{Geometry, Surface, Touch, touches};
use sarrus_math::{Mat3, Pose, Vec3, quat_from_rotation_vector, quat_normalize};
use std::sync::Arc;

fn plain(geometry: Geometry) -> Surface {
    Surface { geometry, p: [0.0; 3], rot: Mat3::identity() }
}

fn posed(p: [f64; 3], rotation: [f64; 3]) -> Pose {
    Pose::from_quat(p, quat_from_rotation_vector(&rotation))
}

/// Computes what overlaps, the deepest first.
fn overlaps(a: &Geometry, b: &Geometry, at: [&Pose; 2]) -> Vec<Touch<f64>> {
    let mut all = Vec::new();
    touches(&plain(a.clone()), &plain(b.clone()), at, 0.0, false, &mut |touch| all.push(touch));
    all.sort_by(|s, t| s.gap.total_cmp(&t.gap));
    all
}

fn block(half: [f64; 3]) -> Geometry {
    Geometry::Box { half }
}

fn corners(half: [f64; 3]) -> Vec<[f64; 3]> {
    (0..8).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { half[k] } else { -half[k] })).collect()
}

fn hull(half: [f64; 3]) -> Geometry {
    Geometry::Convex(Arc::new(Hull::new(&corners(half)).unwrap()))
}

/// A prism with a regular outline of n corners.
fn prism(n: usize, radius: f64, half: f64) -> Geometry {
    let ring = (0..n).map(|k| (k as f64 * std::f64::consts::TAU / n as f64).sin_cos());
    let points: Vec<[f64; 3]> =
        ring.flat_map(|(s, c)| [-half, half].map(|z| [radius * c, radius * s, z])).collect();
    Geometry::Convex(Arc::new(Hull::new(&points).unwrap()))
}

/// A sheet of n by n squares of two triangles each, from -1 to 1.
fn sheet(n: u32) -> Geometry {
    let at = |i: u32| -1.0 + 2.0 * f64::from(i) / f64::from(n);
    let corner = |i: u32| [at(i % (n + 1)), at(i / (n + 1)), 0.0];
    let square = |k: u32| {
        let i = k % n + k / n * (n + 1);
        // diagonals either way
        if (k % n + k / n).is_multiple_of(2) {
            [[i, i + 1, i + n + 2], [i, i + n + 2, i + n + 1]]
        } else {
            [[i, i + 1, i + n + 1], [i + 1, i + n + 2, i + n + 1]]
        }
    };
    let raw = Raw {
        corners: (0..(n + 1) * (n + 1)).map(corner).collect(),
        faces: (0..n * n).flat_map(square).collect(),
    };
    Geometry::Mesh(Arc::new(TriangleMesh::new(raw, false).unwrap()))
}

/// A closed step, which is not convex: its lower floor is z = 0 for x < 2, its upper one z = 1.
fn step() -> Geometry {
    let outline = [[-1.5, -0.5], [3.0, -0.5], [3.0, 1.0], [2.0, 1.0], [2.0, 0.0], [-1.5, 0.0]];
    let corners: Vec<[f64; 3]> = [-1.5, 1.5].iter().flat_map(|y| outline.map(|[x, z]| [x, *y, z])).collect();
    let mut faces = Vec::new();
    for k in 0..6u32 {
        let next = (k + 1) % 6;
        faces.extend([[k, next, next + 6], [k, next + 6, k + 6]]);
    }
    for [a, b, c] in [[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4]] {
        faces.extend([[a, c, b], [a + 6, b + 6, c + 6]]);
    }
    let faces = faces.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    let mut raw = Raw { corners, faces };
    let volume = crate::shapes::volume::solid(&mut raw).unwrap();
    assert_eq!(volume.measure, crate::shapes::SolidMeasure::Volume(3.0 * (4.5 * 0.5 + 1.0)));
    Geometry::Mesh(Arc::new(TriangleMesh::new(raw, true).unwrap()))
}

fn bodies() -> Vec<Geometry> {
    vec![
        block([0.3, 0.2, 0.1]),
        hull([0.3, 0.2, 0.1]),
        prism(6, 0.25, 0.1),
        Geometry::Cylinder { half: 0.1, radius: 0.2, along: 2 },
        Geometry::Cylinder { half: 0.3, radius: 0.1, along: 0 },
        Geometry::Capsule { half: 0.3, radius: 0.1 },
        Geometry::Ball { radius: 0.1 },
        Geometry::Ends { half: 0.3, radius: 0.1 },
    ]
}

/// Each body on boxes, hulls and meshes whose top is z = 0: the same points as on a half-space, wherever it lies, however little it is tilted,
/// in either order.
#[test]
fn a_floor_of_any_kind_is_a_half_space() {
    let low = Pose { p: Vec3([0.0, 0.0, -0.5]), ..Pose::identity() };
    let floors = [
        (block([1.5, 1.5, 0.5]), low),
        (hull([1.5, 1.5, 0.5]), low),
        (sheet(1), Pose::identity()),
        (sheet(8), Pose::identity()),
        (sheet(12), Pose::identity()),
        (step(), Pose::identity()),
    ];
    let tilts = [0.0, 1e-9, 1e-7, 1e-5, 3e-5, 1e-4, 1e-3, 0.02];
    let spots = [[0.0, 0.0], [0.25, 0.0], [0.125, 0.0625], [0.1, 0.07], [-0.3, 0.21], [0.5, 0.5]];
    for body in bodies() {
        for (floor, at) in &floors {
            for (k, tilt) in tilts.iter().enumerate() {
                for (j, [x, y]) in spots.iter().enumerate() {
                    let yaw = quat_from_rotation_vector(&[0.0, 0.0, 0.37 * j as f64]);
                    let lean = quat_from_rotation_vector(&[tilt * 0.6, -tilt * 0.8 * (k as f64).cos(), 0.0]);
                    let rot = Mat3::from_quat(lean) * Mat3::from_quat(yaw);
                    let pose = Pose { p: Vec3([*x, *y, 0.1 - 1e-5]), rot, angle: 0.0 };
                    let expected = overlaps(&body, &Geometry::HalfSpace, [&pose, &Pose::identity()]);
                    let one = overlaps(&body, floor, [&pose, at]);
                    let other = overlaps(floor, &body, [at, &pose]);
                    let case = format!("{body:?} on {floor:?}, tilt {tilt}, at {x} {y}");
                    assert_eq!(expected.len(), one.len(), "{case}: {expected:?} {one:?}");
                    assert_eq!(one.len(), other.len(), "{case}");
                    for t in &expected {
                        let same = |s: &&Touch<f64>, sign: f64| {
                            (s.gap - t.gap).abs() < 1e-12
                                && (s.normal * sign - t.normal).norm() < 1e-12
                                && (s.points[usize::from(sign < 0.0)] - t.points[0]).norm() < 1e-9
                        };
                        assert_eq!(one.iter().filter(|s| same(s, 1.0)).count(), 1, "{case}: {t:?} {one:?}");
                        assert_eq!(
                            other.iter().filter(|s| same(s, -1.0)).count(),
                            1,
                            "{case}: {t:?} {other:?}"
                        );
                    }
                    assert!(one.iter().all(|t| t.weight == 1.0), "{case}");
                }
            }
        }
    }
}

/// Pseudo-random numbers between -1 and 1.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn pose(&mut self, far: f64) -> Pose {
        let p = [0, 1, 2].map(|_| far * self.next());
        Pose::from_quat(p, quat_normalize([0, 1, 2, 3].map(|_| self.next())))
    }
}

fn energy(all: &[Touch<f64>]) -> f64 {
    all.iter().map(|t| 0.5 * t.weight * t.gap * t.gap).sum()
}

/// Force and torque of the points on the first body, about its centre.
fn wrench(all: &[Touch<f64>], at: &Pose) -> [Vec3; 2] {
    all.iter().fold([Vec3::zero(); 2], |[f, m], t| {
        let force = t.normal * (-t.gap * t.weight);
        let arm = (t.points[0] + t.points[1]) * 0.5 - at.p;
        [f + force, m + arm.cross(force)]
    })
}

/// Forces are gradients of the energy that the points store, for all pairs of bodies with faces in random poses.
#[test]
fn forces_are_gradients_of_the_energy() {
    let polyhedra = [block([0.3, 0.2, 0.1]), hull([0.25, 0.3, 0.15]), prism(5, 0.3, 0.2)];
    let mut others = polyhedra.to_vec();
    others.extend([sheet(3), step()]);
    let (mut draw, mut compared) = (Draw(7), 0);
    let h = 1e-7;
    for a in &polyhedra {
        for b in &others {
            for _ in 0..60 {
                let (at, here) = (Pose::identity(), draw.pose(0.35));
                let all = overlaps(a, b, [&here, &at]);
                if all.is_empty() || all[0].gap < -0.05 {
                    continue;
                }
                let slots = |all: &[Touch<f64>]| {
                    let mut slots: Vec<_> = all.iter().map(|t| (t.slot, t.weight.to_bits())).collect();
                    slots.sort_unstable();
                    slots
                };
                let [force, torque] = wrench(&all, &here);
                for k in 0..6 {
                    let moved = |step: f64| {
                        let mut shift = [0.0; 3];
                        shift[k % 3] = step;
                        let mut pose = here;
                        if k < 3 {
                            pose.p += Vec3(shift);
                        } else {
                            pose.rot = Mat3::from_quat(quat_from_rotation_vector(&shift)) * pose.rot;
                        }
                        overlaps(a, b, [&pose, &at])
                    };
                    let (more, less) = (moved(h), moved(-h));
                    // weights turn with the outlines, and new features end the comparison
                    if slots(&more) != slots(&all) || slots(&less) != slots(&all) {
                        continue;
                    }
                    compared += 1;
                    let slope = (energy(&more) - energy(&less)) / (2.0 * h);
                    let own = if k < 3 { force[k] } else { torque[k - 3] };
                    assert!((slope + own).abs() < 1e-7, "{a:?} {b:?} {here:?} {k}: {slope} {own} {all:?}");
                }
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

/// The support function of a body.
fn support(geometry: &Geometry, pose: &Pose, n: Vec3) -> f64 {
    let d = pose.to_local(n);
    let far = match geometry {
        Geometry::Box { half } => (0..3).map(|k| (d[k] * half[k]).abs()).sum(),
        Geometry::Convex(hull) => {
            hull.corners().iter().map(|p| d.dot(Vec3(*p))).fold(f64::NEG_INFINITY, f64::max)
        }
        Geometry::Cylinder { half, radius, along } => {
            (d[*along] * half).abs() + radius * (1.0 - d[*along] * d[*along]).max(0.0).sqrt()
        }
        Geometry::Capsule { half, radius } => d.x().abs() * half + radius,
        Geometry::Ball { radius } => *radius,
        _ => f64::NAN,
    };
    n.dot(pose.p) + far
}

/// The least overlap over all directions, by a spiral of them and finer ones about the best.
fn least_overlap(a: &Geometry, b: &Geometry, at: [&Pose; 2]) -> (f64, Vec3) {
    let overlap = |n: Vec3| support(b, at[1], n) + support(a, at[0], -n);
    let mut best = (f64::INFINITY, Vec3::zero());
    let count = 2000;
    for k in 0..count {
        let z = 1.0 - (2.0 * k as f64 + 1.0) / count as f64;
        let (s, c) = (k as f64 * 2.399_963_229_728_653).sin_cos();
        let n = Vec3([c * (1.0 - z * z).sqrt(), s * (1.0 - z * z).sqrt(), z]);
        if overlap(n) < best.0 {
            best = (overlap(n), n);
        }
    }
    let mut width = 0.05;
    let mut draw = Draw(3);
    for _ in 0..4000 {
        let n = best.1 + Vec3([0, 1, 2].map(|_| width * draw.next()));
        let n = n * (1.0 / n.norm());
        if overlap(n) < best.0 {
            best = (overlap(n), n);
        } else {
            width = (width * 0.995).max(1e-9);
        }
    }
    best
}

/// Convex bodies that overlap by any depth are pushed the shortest way out: the deepest point has its depth and normal.
#[test]
fn deep_overlaps_are_pushed_the_shortest_way_out() {
    let bodies = [block([0.3, 0.2, 0.1]), hull([0.25, 0.3, 0.15]), prism(5, 0.3, 0.2)];
    let mut draw = Draw(11);
    let capsules = [(0.3, 0.05), (0.1, 0.15)].map(|(half, radius)| Geometry::Capsule { half, radius });
    for a in bodies.iter().chain(&capsules) {
        for b in &bodies {
            for _ in 0..25 {
                let (at, here) = (Pose::identity(), draw.pose(0.3));
                let (depth, n) = least_overlap(a, b, [&here, &at]);
                let all = overlaps(a, b, [&here, &at]);
                if depth < -1e-6 {
                    assert!(all.is_empty(), "{a:?} {b:?} {here:?}: {depth} {all:?}");
                    continue;
                }
                let deepest = all.first().unwrap_or_else(|| panic!("{a:?} {b:?} {here:?}: {depth}"));
                assert!(-deepest.gap <= depth + 1e-9, "{a:?} {b:?} {here:?}: {depth} {n:?} {all:?}");
                let exact = support(b, &at, deepest.normal) + support(a, &here, -deepest.normal);
                assert!(
                    (exact + deepest.gap).abs() < 1e-9,
                    "{a:?} {b:?} {here:?}: {exact} {depth} {deepest:?}"
                );
            }
        }
    }
}

/// A box that is rotated about the vertical on another of its size, or hangs over: its points weigh four, and carry the same.
#[test]
fn a_rectangle_weighs_four_wherever_it_lies() {
    let (a, b) = (block([0.3, 0.2, 0.1]), block([0.3, 0.2, 0.1]));
    for yaw in [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.7, 1.5] {
        for [x, y] in [[0.0, 0.0], [1e-12, -1e-12], [0.1, 0.0], [0.2, 0.15], [0.0, 1e-9]] {
            let all = overlaps(&a, &b, [&posed([x, y, 0.2 - 1e-4], [0.0, 0.0, yaw]), &Pose::identity()]);
            let weight: f64 = all.iter().map(|t| t.weight).sum();
            assert!((weight - 4.0).abs() < 1e-6, "{yaw} {x} {y}: {all:?}");
            assert!(all.iter().all(|t| (t.gap + 1e-4).abs() < 1e-12 && (t.normal.z() - 1.0).abs() < 1e-9));
        }
    }
}
