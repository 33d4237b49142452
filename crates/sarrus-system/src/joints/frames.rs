//! Describes where a joint sits: its frames on both bodies, from the file.

use super::cylindrical::Sense;
use crate::context::Context;
use crate::joint::{AxisRole, BodyFixedFrame, Frames};
use sarrus_math::{Mat3, Vec3};
use sarrus_model::record::ResolvedValue;
use sarrus_model::transform::unit;
use sarrus_model::{Key, KeyType, Result};
use std::f64::consts::TAU;

/// Keys that every joint takes to say where it is.
pub const KEYS: &[Key] = &[
    Key::new("bodies", KeyType::Bodies, "", "first and second body"),
    Key::new("at", KeyType::Point, "", "the joint's point in the model pose [m]"),
    Key::new(
        "on",
        KeyType::Local,
        "",
        "the point on each body [m], or a marker; assembly brings them together",
    ),
];
/// Keys of joints with an axis.
pub const AXIS_KEYS: &[Key] = &[
    Key::new("axis", KeyType::Vector, "z, planar prismatic x", "its axis in the model pose"),
    Key::new("axis_on", KeyType::LocalVector, "", "the axis on each body"),
];
/// Keys of joints with two axes.
pub const AXIS2_KEYS: &[Key] = &[Key::new(
    "axis2",
    KeyType::Vector,
    "x",
    "its second axis in the model pose (universal: on the second body)",
)];

/// Reads the frames of a joint between two bodies.
pub fn read(ctx: &Context, bodies: [u32; 2], axis: AxisRole, axial: bool) -> Result<Frames> {
    let [p_A, p_B] = ctx.points_on_two(bodies)?.ok_or_else(|| {
        ctx.reader.missing("at").hint("`at` is the joint's point in the world, `on` gives it on each body")
    })?;
    let (A, B) = (ctx.model_pose(bodies[0]), ctx.model_pose(bodies[1]));
    if ctx.is_planar() {
        return planar(ctx, bodies, axis, [p_A, p_B]);
    }
    // world axes of F (x, z) and M (x, z) in the model pose
    let ([x_F, z_F], [x_M, z_M]) = match axis {
        AxisRole::None | AxisRole::X => {
            let axes = [A.rot.col(0), A.rot.col(2)];
            (axes, axes)
        }
        AxisRole::Z | AxisRole::ZX => {
            let [z_A, z_B] = match ctx.directions_on_two(bodies, "axis", "axis_on", axial)? {
                Some(axes) => axes,
                None => {
                    let z = ctx.direction_or("axis", [0.0, 0.0, 1.0], axial)?;
                    bodies.map(|body| ctx.world_to_body(body, z))
                }
            };
            let (z_F, z_M) = (A.rotate(&z_A), B.rotate(&z_B));
            let x = match axis {
                AxisRole::ZX => second_axis(ctx, z_F)?,
                _ => common_x(z_F, z_M),
            };
            ([across(x, z_F), z_F], [across(x, z_M), z_M])
        }
        AxisRole::Cross => {
            let z = match ctx.direction_on(bodies[0], "axis", "axis_on", axial)? {
                Some(z_A) => A.rotate(&z_A),
                None => Vec3(ctx.direction_or("axis", [0.0, 0.0, 1.0], axial)?),
            };
            let x = Vec3(ctx.reader.axis_or("axis2", [1.0, 0.0, 0.0])?);
            if z.dot(x).abs() > 1e-6 {
                let degrees = z.dot(x).clamp(-1.0, 1.0).acos().to_degrees();
                let message = format!("`axis` and `axis2` are at {degrees:.3} degrees, not at right angles");
                return Err(ctx
                    .reader
                    .error("axis2", message)
                    .hint("a universal joint crosses at right angles"));
            }
            ([across(x, z), z], [x, across(z, x)])
        }
    };
    let frame = |pose: &sarrus_math::Pose<f64>, p: [f64; 3], x: Vec3<f64>, z: Vec3<f64>| {
        let axes = Mat3::from_cols(x, z.cross(x), z);
        BodyFixedFrame { p, rot: pose.rot.transpose_mul_mat(&axes), angle: 0.0 }
    };
    Ok(Frames { F: frame(&A, p_A, x_F, z_F), M: frame(&B, p_B, x_M, z_M) })
}

/// x of both frames of a joint whose axes are at `z_F` and `z_M`. Where they differ it is across both, so that M reads 0
/// turned onto F by the shortest way, however the world lies; where they agree any direction reads the same.
fn common_x(z_F: Vec3<f64>, z_M: Vec3<f64>) -> Vec3<f64> {
    let x = z_F.cross(z_M);
    let length = x.norm();
    if length > 1e-6 { x.scale(1.0 / length) } else { Vec3(crate::constraints::perpendiculars(z_F.0).0) }
}

/// The part of `a` across the unit vector `b`, of length 1.
fn across(a: Vec3<f64>, b: Vec3<f64>) -> Vec3<f64> {
    let rest = a - b.scale(a.dot(b));
    let length = rest.norm();
    if length < 1e-9 {
        // `a` lies along `b`: any direction across will do, since assembly has to turn the bodies anyway
        return Vec3(crate::constraints::perpendiculars(b.0).0);
    }
    rest.scale(1.0 / length)
}

/// `axis2` of a planar joint: the way of x; by default x of the file, or y where x is the normal.
fn second_axis(ctx: &Context, z: Vec3<f64>) -> Result<Vec3<f64>> {
    let given = ctx.reader.direction("axis2")?.map(Vec3);
    let x = given.unwrap_or_else(|| {
        let transform = ctx.reader.transform();
        let [x, y] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(|a| Vec3(transform.vector(a)));
        let x = if x.dot(z).abs() > 1.0 - 1e-9 { y } else { x };
        if !transform.is_identity() {
            ctx.reader.record("axis2", || ResolvedValue::numbers(&x.0));
        }
        x
    });
    match unit((x - z.scale(x.dot(z))).0) {
        Some(x) => Ok(Vec3(x)),
        None => Err(ctx.reader.error("axis2", "is parallel to `axis`").hint("give a direction in the plane")),
    }
}

fn planar(ctx: &Context, bodies: [u32; 2], axis: AxisRole, [p_A, p_B]: [[f64; 3]; 2]) -> Result<Frames> {
    let [start_A, start_B] = bodies.map(|body| ctx.directory.bodies[body as usize].start.2);
    let [angle_A, angle_B] = match axis {
        AxisRole::X => {
            let axes = match ctx.directions_on_two(bodies, "axis", "axis_on", false)? {
                Some(axes) => axes,
                None => {
                    let x = ctx.reader.direction_or("axis", [1.0, 0.0, 0.0])?;
                    bodies.map(|body| ctx.world_to_body(body, x))
                }
            };
            axes.map(|axis| axis[1].atan2(axis[0]))
        }
        // a weld keeps the angle between the bodies' axes; a pin reads it, between the axes that the file means
        _ if ctx.reader.element().kind == "fixed" => [0.0, start_A - start_B],
        _ => bodies.map(|body| ctx.file_angle(body)),
    };
    // headings are known up to turns: take M in the rotation in which it is nearest to F
    let apart = (start_B + angle_B) - (start_A + angle_A);
    let revolutions = if axis == AxisRole::X { TAU * (apart / TAU).round() } else { 0.0 };
    // the axis of a pin is z, which a mirrored file reverses
    let z = if ctx.reader.element().kind == "revolute" { Sense::read(&ctx.reader)?.0 } else { 1.0 };
    let about = Mat3([[1.0, 0.0, 0.0], [0.0, z, 0.0], [0.0, 0.0, z]]);
    let frame = |p: [f64; 3], angle: f64| BodyFixedFrame { p, rot: Mat3::rot_z(angle) * about, angle };
    Ok(Frames { F: frame(p_A, angle_A), M: frame(p_B, angle_B - revolutions) })
}
