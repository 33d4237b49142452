//! Tests of single pairs at points where features change, vanish or are many.

use super::mesh::{Hull, Raw, TriangleMesh};
use crate::contact::surface::{Geometry, Surface, Touch, bounds, rounding, touches};
use sarrus_math::{Dual, Jet, Mat3, Pose, Real, Vec3};
use std::sync::Arc;

fn plain(geometry: Geometry) -> Surface {
    Surface { geometry, p: [0.0; 3], rot: Mat3::identity() }
}

fn at(p: [f64; 3]) -> Pose {
    Pose { p: Vec3(p), ..Pose::identity() }
}

fn found<R: Real>(a: Geometry, b: Geometry, at: [&Pose<R>; 2], planar: bool) -> Vec<Touch<R>> {
    let mut all = Vec::new();
    touches(&plain(a), &plain(b), at, f64::INFINITY, planar, &mut |touch| all.push(touch));
    all
}

fn ball(radius: f64) -> Geometry {
    Geometry::Ball { radius }
}

fn block(half: [f64; 3]) -> Geometry {
    Geometry::Box { half }
}

fn cube_raw() -> Raw {
    let corners = (0..8).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { 1.0 } else { -1.0 }));
    let quads: [[u32; 4]; 6] =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let faces = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    Raw { corners: corners.collect(), faces }
}

fn solids() -> Vec<Geometry> {
    vec![
        block([1.0; 3]),
        Geometry::Cylinder { half: 1.0, radius: 1.0, along: 2 },
        Geometry::Cylinder { half: 1.0, radius: 1.0, along: 0 },
        Geometry::Convex(Arc::new(Hull::new(&cube_raw().corners).unwrap())),
        Geometry::Mesh(Arc::new(TriangleMesh::new(cube_raw(), true).unwrap())),
    ]
}

/// Everything on everything, one exactly where the other is: numbers, with derivatives of the first and of third order.
#[test]
fn surfaces_at_one_place_give_numbers() {
    let mut all = solids();
    all.extend([
        ball(0.5),
        Geometry::Ends { half: 0.5, radius: 0.1 },
        Geometry::Capsule { half: 0.5, radius: 0.1 },
    ]);
    all.extend([Geometry::HalfSpace, Geometry::Plane]);
    all.extend([true, false].map(|tube| Geometry::Channel { half: 1.0, tube }));
    let here = Pose::identity();
    let dual = [here.seed::<12>(0, &[0, 1, 2, 3, 4, 5]), here.seed::<12>(6, &[0, 1, 2, 3, 4, 5])];
    let jet: [Pose<Jet<4>>; 2] =
        [here.jet(&[[1.0, 2.0, 3.0]], &[[0.3, 0.2, 0.1]]), here.jet(&[[0.0; 3]], &[[0.1, 0.0, -0.4]])];
    for a in &all {
        for b in &all {
            for planar in [false, true] {
                for touch in found(a.clone(), b.clone(), [&here, &here], planar) {
                    assert!(
                        touch.gap.is_finite() && (touch.normal.norm() - 1.0).abs() < 1e-12,
                        "{a:?} {b:?}"
                    );
                }
                for touch in found(a.clone(), b.clone(), [&dual[0], &dual[1]], planar) {
                    let all = [touch.gap].into_iter().chain(touch.normal.0).chain(touch.points[0].0);
                    assert!(all.flat_map(|x| x.d).all(f64::is_finite), "{a:?} {b:?}: {touch:?}");
                }
                for touch in found(a.clone(), b.clone(), [&jet[0], &jet[1]], planar) {
                    let all = [touch.gap].into_iter().chain(touch.normal.0).chain(touch.points[0].0);
                    assert!(all.flat_map(|x| x.c).all(f64::is_finite), "{a:?} {b:?}: {touch:?}");
                }
            }
        }
    }
}

/// A ball that sinks into a solid through its top: the normal stays up, and the gap falls with the height, past the centre's entry.
#[test]
fn the_normal_stays_while_a_ball_sinks_in() {
    for solid in solids() {
        for k in 0..=30 {
            let z = 1.4 - 0.05 * k as f64;
            let all = found(ball(0.25), solid.clone(), [&at([0.1, 0.05, z]), &Pose::identity()], false);
            let deepest = all.iter().min_by(|s, t| s.gap.total_cmp(&t.gap)).unwrap();
            // below this another side is nearer
            if z > 0.2 {
                assert!((deepest.gap - (z - 1.25)).abs() < 1e-2, "{solid:?} {z}: {deepest:?}");
                assert!(deepest.normal.z() > 0.95, "{solid:?} {z}: {deepest:?}");
            }
        }
    }
}

#[test]
fn a_ball_on_a_flat_of_triangles_touches_once_and_in_a_groove_twice() {
    let mesh = || Geometry::Mesh(Arc::new(TriangleMesh::new(cube_raw(), true).unwrap()));
    let touching = |all: Vec<Touch<f64>>| all.into_iter().filter(|t| t.gap < 0.0).count();
    // on, beside and across the diagonal of the top
    for p in [[0.0, 0.0], [0.3, 0.3], [0.31, 0.3], [0.5, -0.5]] {
        let all = found(ball(0.25), mesh(), [&at([p[0], p[1], 1.2]), &Pose::identity()], false);
        assert_eq!(touching(all), 1, "{p:?}");
    }
    let groove = Raw {
        corners: vec![
            [-1.0, -1.0, 1.0],
            [0.0, -1.0, 0.0],
            [1.0, -1.0, 1.0],
            [-1.0, 1.0, 1.0],
            [0.0, 1.0, 0.0],
            [1.0, 1.0, 1.0],
        ],
        faces: vec![[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]],
    };
    let groove = Geometry::Mesh(Arc::new(TriangleMesh::new(groove, false).unwrap()));
    let all = found(ball(0.3), groove, [&at([0.0, 0.1, 0.4]), &Pose::identity()], false);
    let gap = 0.4 / 2f64.sqrt() - 0.3;
    assert_eq!(
        all.iter().filter(|t| (t.gap - gap).abs() < 1e-12 && t.normal.z() > 0.7).count(),
        2,
        "{all:?}"
    );
}

#[test]
fn parallel_capsules_touch_at_both_ends_of_what_is_side_by_side() {
    let capsule = Geometry::Capsule { half: 1.0, radius: 0.1 };
    let all = found(capsule.clone(), capsule.clone(), [&at([0.6, 0.0, 0.19]), &Pose::identity()], false);
    let mut x: Vec<f64> = all.iter().map(|t| t.points[0].x()).collect();
    x.sort_by(f64::total_cmp);
    assert_eq!(all.len(), 2);
    assert!((x[0] + 0.4).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
    assert!(all.iter().all(|t| (t.gap + 0.01).abs() < 1e-15 && t.normal.z() == 1.0));
    // crossed: one
    let crossed = Pose { rot: Mat3::rot_z(0.3), ..at([0.0, 0.0, 0.19]) };
    assert_eq!(found(capsule.clone(), capsule, [&crossed, &Pose::identity()], false).len(), 1);
}

/// Boxes of one size, flush: all four corners carry, none slips off sideways.
#[test]
fn stacked_boxes_touch_at_all_corners() {
    for b in [block([0.5, 0.4, 0.3]), block([0.5, 0.4, 2.0])] {
        let Geometry::Box { half } = b else { panic!("no box") };
        let all = found(
            block([0.5, 0.4, 0.3]),
            b,
            [&at([0.0, 0.0, 0.3 + half[2] - 1e-4]), &Pose::identity()],
            false,
        );
        assert_eq!(all.len(), 4, "{all:?}");
        for t in &all {
            assert!((t.gap + 1e-4).abs() < 1e-12 && (t.normal.z() - 1.0).abs() < 1e-12, "{t:?}");
            assert!((t.points[0].x().abs() - 0.5).abs() < 1e-9 && (t.points[0].y().abs() - 0.4).abs() < 1e-9);
        }
        let slots: std::collections::HashSet<u32> = all.iter().map(|t| t.slot).collect();
        assert_eq!(slots.len(), 4);
    }
    let flat = block([0.5, 0.4, 0.0]);
    let all =
        found(flat.clone(), flat, [&Pose::planar(0.2, 0.7999, 0.0), &Pose::planar(0.0, 0.0, 0.0)], true);
    let mut x: Vec<f64> = all.iter().map(|t| t.points[0].x()).collect();
    x.sort_by(f64::total_cmp);
    assert!(all.len() == 2 && (x[0] + 0.3).abs() < 1e-12 && (x[1] - 0.5).abs() < 1e-12, "{all:?}");
    assert!(all.iter().all(|t| (t.gap + 1e-4).abs() < 1e-12 && t.normal.y() == 1.0));
}

/// Two bricks with crossed edges up and down: the gap is that of the edges' lines.
#[test]
fn crossed_edges_touch_at_their_crossing() {
    let s = 0.5f64.sqrt();
    // an edge along x on top, one along y at the bottom
    let lower = Pose { rot: Mat3([[1.0, 0.0, 0.0], [0.0, s, -s], [0.0, s, s]]), ..at([0.0; 3]) };
    let upper = Pose {
        rot: Mat3([[s, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, s]]),
        ..at([0.1, -0.2, 2.0 * 2f64.sqrt() - 0.01])
    };
    let all = found(block([1.0; 3]), block([1.0; 3]), [&upper, &lower], false);
    let deepest = all.iter().min_by(|s, t| s.gap.total_cmp(&t.gap)).unwrap();
    assert!((deepest.gap + 0.01).abs() < 1e-12 && (deepest.normal.z() - 1.0).abs() < 1e-12, "{deepest:?}");
    assert!((deepest.points[0].x() - 0.1).abs() < 1e-9 && deepest.points[0].y().abs() < 1e-9, "{deepest:?}");
}

#[test]
fn a_cylinder_stands_on_four_points_lies_on_two_and_rolls() {
    let cylinder = Geometry::Cylinder { half: 0.5, radius: 0.2, along: 2 };
    let touching = |pose: &Pose| {
        let all = found(cylinder.clone(), Geometry::HalfSpace, [pose, &Pose::identity()], false);
        all.into_iter().filter(|t| t.gap < 1e-3).collect::<Vec<_>>()
    };
    assert_eq!(touching(&at([0.0, 0.0, 0.5])).len(), 4);
    let lying = Mat3([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]);
    assert_eq!(touching(&Pose { rot: lying, ..at([0.0, 0.0, 0.2]) }).len(), 2);
    // rolling about its axis moves neither gap nor point
    let pose = Pose { rot: lying, ..at([0.0, 0.0, 0.2]) }.seed::<6>(0, &[0, 1, 2, 3, 4, 5]);
    for ground in [Geometry::HalfSpace, block([2.0, 2.0, 0.0])] {
        let all = found(cylinder.clone(), ground, [&pose, &Pose::<f64>::identity().lift()], false);
        for t in all.iter().filter(|t| t.gap.v < 1e-3) {
            assert!(
                t.gap.d[5].abs() < 1e-9 && t.points[0].0.iter().all(|x: &Dual<6>| x.d[5].abs() < 1e-6),
                "{t:?}"
            );
        }
    }
}

#[test]
fn a_plane_is_touched_on_the_side_of_the_body() {
    for side in [1.0, -1.0] {
        let all = found(ball(0.2), Geometry::Plane, [&at([3.0, 0.0, 0.15 * side]), &Pose::identity()], false);
        assert!((all[0].gap + 0.05).abs() < 1e-15 && all[0].normal.z() == side);
        // a body's far end that has come through is still pushed back
        let long = Geometry::Ends { half: 1.0, radius: 0.1 };
        let tilted = Pose {
            rot: Mat3([[0.6, 0.0, -0.8], [0.0, 1.0, 0.0], [0.8, 0.0, 0.6]]),
            ..at([0.0, 0.0, 0.75 * side])
        };
        let all = found(long, Geometry::Plane, [&tilted, &Pose::identity()], false);
        assert!(all.iter().all(|t| t.normal.z() == side));
    }
}

/// Ball on ball, on flat, in a tube, on a round side; nothing flat on flat.
#[test]
fn the_radius_is_that_of_hertz() {
    let here = Pose::identity();
    let radius = |a, b| found(a, b, [&at([0.1, 0.2, 0.3]), &here], false)[0].radius;
    let close = |x: f64, y: f64| assert!((x - y).abs() < 1e-14 * y, "{x} {y}");
    close(radius(ball(0.2), ball(0.3)), 1.0 / (1.0 / 0.2 + 1.0 / 0.3));
    close(radius(ball(0.2), Geometry::HalfSpace), 0.2);
    close(radius(ball(0.2), block([1.0; 3])), 0.2);
    close(radius(Geometry::Capsule { half: 1.0, radius: 0.1 }, Geometry::Plane), 0.1);
    let tube = Geometry::Channel { half: 1.0, tube: true };
    close(radius(ball(0.2), tube), 1.0 / (5.0f64 * (5.0 - 1.0)).sqrt());
    let rod = Geometry::Cylinder { half: 1.0, radius: 0.2, along: 0 };
    close(radius(ball(0.2), rod), 1.0 / (5.0f64 * 10.0).sqrt());
    assert_eq!(radius(block([1.0; 3]), Geometry::HalfSpace), f64::INFINITY);
    assert_eq!((rounding(&ball(0.2)), rounding(&block([1.0; 3]))), (0.2, 0.0));
}

/// Bounds hold what is inside, and not much more: the farthest point found by walking over the surface.
#[test]
fn bounds_are_the_least_boxes() {
    let pose = Pose::from_quat([0.3, -0.2, 0.1], sarrus_math::quat_normalize([0.5, 0.4, -0.6, 0.3]));
    for along in [0, 2] {
        let rod = plain(Geometry::Cylinder { half: 0.7, radius: 0.2, along });
        let found = bounds(&rod, &pose);
        let mut high = [f64::NEG_INFINITY; 3];
        for k in 0..20_000 {
            let (sin, cos) = (k as f64 * 1e-3).sin_cos();
            for x in [-0.7, 0.7] {
                let mut p = [0.0; 3];
                (p[along], p[(along + 1) % 3], p[(along + 2) % 3]) = (x, 0.2 * cos, 0.2 * sin);
                let p = pose.point(&p);
                (0..3).for_each(|i| high[i] = high[i].max(p[i]));
            }
        }
        for i in 0..3 {
            assert!(
                (found.high[i] - high[i]).abs() < 1e-6
                    && (0.5 * (found.high[i] + found.low[i]) - pose.p[i]).abs() < 1e-12
            );
        }
    }
    assert_eq!(bounds(&plain(Geometry::HalfSpace), &pose).low[0], f64::NEG_INFINITY);
}

/// A capsule that stands with one end on a cube and rises over its edge touches with that end, not with the edge too.
#[test]
fn an_edge_below_a_rising_capsule_is_no_place() {
    let (s, c) = (0.5, 0.75f64.sqrt());
    let rot = Mat3([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]]);
    let pose = Pose { rot, ..at([0.7 + 0.5 * c, 0.0, 1.05 + 0.5 * s]) };
    let capsule = Geometry::Capsule { half: 0.5, radius: 0.3 };
    let all = found(capsule, block([1.0; 3]), [&pose, &Pose::identity()], false);
    let touching: Vec<_> = all.iter().filter(|t| t.gap < 0.0).collect();
    assert!(touching.len() == 1 && (touching[0].gap + 0.25).abs() < 1e-12, "{touching:?}");
}
