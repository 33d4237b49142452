//! Constraints made of the rows of [`crate::primitive`]: coincident points, points on lines and planes, parallel and
//! perpendicular axes.

use super::prelude::*;
use crate::primitive::{Compound, Primitive};

/// `point`: two points coincide.
pub fn point(ctx: &mut Context, _: &mut Vec<f64>) -> Result<BuiltRows> {
    let bodies = ctx.bodies2()?;
    let [r_A, r_B] = ctx.points_on_two(bodies)?.ok_or_else(|| ctx.reader.missing("at"))?;
    let row = if ctx.is_planar() {
        Primitive::Coincident2 { r_A, r_B }
    } else {
        Primitive::Coincident { r_A, r_B }
    };
    Ok(BuiltRows::new(bodies.to_vec(), Compound(vec![row])))
}

/// A point of the second body in planes of the first, with the given normals (first body's axes).
fn planes(ctx: &mut Context, bodies: [u32; 2], normals: Vec<[f64; 3]>) -> Result<BuiltRows> {
    let [r_A, r_B] = ctx.points_on_two(bodies)?.ok_or_else(|| ctx.reader.missing("at"))?;
    let planar = ctx.is_planar();
    let row = |a_A| {
        if planar { Primitive::OnLine2 { a_A, r_A, r_B } } else { Primitive::InPlane { a_A, r_A, r_B } }
    };
    Ok(BuiltRows::new(bodies.to_vec(), Compound(normals.into_iter().map(row).collect())))
}

/// `axis` or `axis_on` of the first body, in its axes; the default is in the file's world.
fn axis_of_first(ctx: &Context, body: u32, default: [f64; 3]) -> Result<[f64; 3]> {
    match ctx.direction_on(body, "axis", "axis_on", false)? {
        Some(axis) => Ok(axis),
        None => Ok(ctx.world_to_body(body, ctx.reader.direction_or("axis", default)?)),
    }
}

/// `point_on_line`: a point of the second body on a line of the first.
pub fn point_on_line(ctx: &mut Context, _: &mut Vec<f64>) -> Result<BuiltRows> {
    let bodies = ctx.bodies2()?;
    let default = if ctx.is_planar() { [1.0, 0.0, 0.0] } else { [0.0, 0.0, 1.0] };
    let axis = axis_of_first(ctx, bodies[0], default)?;
    let normals = if ctx.is_planar() {
        vec![[-axis[1], axis[0], 0.0]]
    } else {
        let (x, y) = perpendiculars(axis);
        vec![x, y]
    };
    planes(ctx, bodies, normals)
}

/// `point_on_plane`: a point of the second body in a plane of the first.
pub fn point_on_plane(ctx: &mut Context, _: &mut Vec<f64>) -> Result<BuiltRows> {
    let bodies = ctx.bodies2()?;
    let default = if ctx.is_planar() { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
    let normal = axis_of_first(ctx, bodies[0], default)?;
    planes(ctx, bodies, vec![normal])
}

/// `parallel`: two directions stay parallel.
pub fn parallel(ctx: &mut Context, _: &mut Vec<f64>) -> Result<BuiltRows> {
    let bodies = ctx.bodies2()?;
    let [a, b] = two_directions(ctx, bodies)?;
    let rows = if ctx.is_planar() {
        // the angle that brings b along a, by the shorter way: parallel, or opposed
        vec![Primitive::Angle2 { angle: nearest_half_revolution(ctx, bodies, heading(a) - heading(b)) }]
    } else {
        let (x, y) = perpendiculars(a);
        vec![Primitive::Perpendicular { a_A: x, b_B: b }, Primitive::Perpendicular { a_A: y, b_B: b }]
    };
    Ok(BuiltRows::new(bodies.to_vec(), Compound(rows)))
}

/// `perpendicular`: two directions stay at right angles.
pub fn perpendicular(ctx: &mut Context, _: &mut Vec<f64>) -> Result<BuiltRows> {
    let bodies = ctx.bodies2()?;
    let [a_A, b_B] = two_directions(ctx, bodies)?;
    let row = if ctx.is_planar() {
        let angle = heading(a_A) - heading(b_B) + std::f64::consts::FRAC_PI_2;
        Primitive::Angle2 { angle: nearest_half_revolution(ctx, bodies, angle) }
    } else {
        Primitive::Perpendicular { a_A, b_B }
    };
    Ok(BuiltRows::new(bodies.to_vec(), Compound(vec![row])))
}

fn heading(a: [f64; 3]) -> f64 {
    a[1].atan2(a[0])
}

/// `angle` moved by half turns to be nearest to the angle of the bodies in the model pose.
fn nearest_half_revolution(ctx: &Context, bodies: [u32; 2], angle: f64) -> f64 {
    let [a, b] = bodies.map(|id| ctx.directory.bodies[id as usize].start.2);
    let pi = std::f64::consts::PI;
    angle + pi * ((b - a - angle) / pi).round()
}
