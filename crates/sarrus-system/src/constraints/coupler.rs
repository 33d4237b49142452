//! Linear combinations of joint coordinates: couplers, gears, racks, and the thread of a screw.
//!
//! Φ = Σ factor·coordinate - value. A gear measures both wheels against the carrier; a rack measures its shift and the
//! pinion's angle.

use super::prelude::*;
use crate::coordinate::{CoordinateRef, Reading};
use crate::forces::Flanks;
use crate::joint::{Fixed, Frames};
use sarrus_model::record::Plain;
use std::sync::Arc;

/// The constraint.
pub struct Coupler {
    /// Factors and coordinates.
    pub terms: Vec<(f64, CoordinateRef)>,
    /// What they add up to.
    pub value: f64,
    /// Hints of coordinates that belong to no joint and are kept here.
    pub own_hints: Vec<(u32, CoordinateRef)>,
}

impl Constraint for Coupler {
    fn rows(&self) -> usize {
        1
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        phi[0] = R::from_f64(-self.value);
        for (factor, coordinate) in &self.terms {
            phi[0] += coordinate.value(at) * *factor;
        }
    }

    fn update_hints(&self, at: &At<f64>, hints: &mut [f64]) {
        for (hint, coordinate) in &self.own_hints {
            hints[*hint as usize] = coordinate.value(at);
        }
    }

    fn relative_rotation(&self, at: &At<f64>) -> f64 {
        self.own_hints.iter().map(|(_, coordinate)| coordinate.rotation(at)).fold(0.0, f64::max)
    }
}

/// Reads `kind = "coupler"`.
#[allow(clippy::ptr_arg)] // the registry's signature: other kinds add hints
pub fn read(ctx: &mut Context, hints: &mut Vec<f64>) -> Result<Built> {
    let named = ctx.joint_coordinates("coordinates")?;
    let factors = ctx.reader.numbers("factors")?.ok_or_else(|| ctx.reader.missing("factors"))?;
    if named.is_empty() {
        return Err(ctx.reader.error("coordinates", "names no coordinate"));
    }
    if factors.len() != named.len() {
        let message = format!("{} coordinates but {} factors", named.len(), factors.len());
        return Err(ctx.reader.error("factors", message).hint("give one factor for each coordinate"));
    }
    let mut ids = Vec::new();
    let mut place = |body: u32| match ids.iter().position(|&id| id == body) {
        Some(i) => i,
        None => {
            ids.push(body);
            ids.len() - 1
        }
    };
    let mut terms = Vec::new();
    for ((joint, k), factor) in named.into_iter().zip(factors) {
        let joint = &ctx.directory.joints[joint];
        let (a, b) = (place(joint.bodies[0]), place(joint.bodies[1]));
        terms.push((factor, joint.coordinate(k, a, b)));
    }
    finish(ctx, hints, ids, terms, Vec::new(), ctx.reader.number_opt("value")?)
}

/// A coordinate that no joint has: body `b` against body `a` in frames at `p` (world) with the given z axis.
fn free_coordinate(
    ctx: &Context,
    hints: &mut Vec<f64>,
    reading: Reading,
    [a, b]: [Placed; 2],
    axis: [f64; 3],
) -> CoordinateRef {
    let p = ctx.directory.bodies[b.0 as usize].start.0;
    // the measured direction is x of the frames for a shift, z for a turn
    let (x, y) = perpendiculars(axis);
    let axes = if let Reading::Shift(_) = reading { [axis, x, y] } else { [x, y, axis] };
    let frame = |body: u32| {
        let (com, _, angle) = ctx.directory.bodies[body as usize].start;
        let local = axes.map(|axis| Vec3(ctx.world_to_body(body, axis)));
        let r = ctx.world_to_body(body, [p[0] - com[0], p[1] - com[1], p[2] - com[2]]);
        Fixed { p: r, rot: Mat3::from_cols(local[0], local[1], local[2]), angle: -angle }
    };
    let frames = Frames { F: frame(a.0), M: frame(b.0) };
    let hint = reading.wraps().then(|| {
        hints.push(0.0);
        hints.len() as u32 - 1
    });
    CoordinateRef { frames, reading, offset: 0.0, hint, a: a.1, b: b.1 }
}

fn turn_reading(ctx: &Context) -> Reading {
    if ctx.is_planar() { Reading::PlanarAngle } else { Reading::TurnZ }
}

/// A body and its place in the element's list.
type Placed = (u32, usize);

/// Bodies of a gear or rack with their carrier: ids without repeats, and the places of (first, second, carrier).
fn with_carrier(ctx: &mut Context) -> Result<(Vec<u32>, [Placed; 3])> {
    let bodies = ctx.bodies2()?;
    let carrier = ctx.body_or_ground("carrier")?;
    let mut ids = bodies.to_vec();
    let place = match ids.iter().position(|&id| id == carrier) {
        Some(place) => place,
        None => {
            ids.push(carrier);
            2
        }
    };
    Ok((ids, [(bodies[0], 0), (bodies[1], 1), (carrier, place)]))
}

/// Play, stiffness and damping of a mesh that is not ideal.
fn compliant(ctx: &Context) -> Result<Option<[f64; 3]>> {
    let number = |key| ctx.reader.not_negative_opt(key);
    let (backlash, damping) = (number("backlash")?, number("damping")?);
    match ctx.reader.positive_opt("stiffness")? {
        Some(stiffness) => Ok(Some([backlash.unwrap_or(0.0), stiffness, damping.unwrap_or(0.0)])),
        None => match ["backlash", "damping"].into_iter().find(|key| ctx.reader.has(key)) {
            Some(key) => {
                let message = format!("{} has `{key}` but no `stiffness`", ctx.reader.title());
                Err(ctx.reader.error(key, message).hint("an ideal mesh has no play; give `stiffness` [N/m]"))
            }
            None => Ok(None),
        },
    }
}

/// `axes`: two axes of rotation, in the world.
fn two_axes(ctx: &Context) -> Result<Option<[[f64; 3]; 2]>> {
    match ctx.reader.axes("axes")? {
        None => Ok(None),
        Some(axes) => match axes[..] {
            [a, b] => Ok(Some([a, b])),
            _ => Err(ctx.reader.error("axes", format!("expected 2 directions, found {}", axes.len()))),
        },
    }
}

/// `axes` of a gear in space; by default both along z of the file.
fn axles(ctx: &Context) -> Result<[[f64; 3]; 2]> {
    if let Some(axes) = two_axes(ctx)? {
        return Ok(axes);
    }
    let axes = [ctx.reader.transform().axial([0.0, 0.0, 1.0]); 2];
    if !ctx.reader.transform().is_identity() {
        ctx.reader.record("axes", || Plain::List(axes.iter().map(|a| Plain::numbers(a)).collect()));
    }
    Ok(axes)
}

/// Reads `kind = "gear"`.
pub fn gear(ctx: &mut Context, hints: &mut Vec<f64>) -> Result<Built> {
    let soft = compliant(ctx)?;
    let (ids, [first, second, carrier]) = with_carrier(ctx)?;
    for wheel in [first, second] {
        ctx.must_turn(wheel.0, "bodies")?;
    }
    let key = ctx.reader.require_one_of(&["teeth", "radii"])?;
    let sizes = ctx.reader.array::<2>(key)?.ok_or_else(|| ctx.reader.missing(key))?;
    if sizes.iter().any(|&z| z <= 0.0) {
        return Err(ctx.reader.error(key, "must be positive"));
    }
    let mesh = ctx.reader.choice("mesh", &["external", "internal", "bevel"])?.unwrap_or(0);
    let sign = if mesh == 1 { -1.0 } else { 1.0 };
    let axes = if ctx.is_planar() { [[0.0, 0.0, 1.0]; 2] } else { axles(ctx)? };
    let reading = turn_reading(ctx);
    let mut turn = |wheel: (u32, usize), axis| free_coordinate(ctx, hints, reading, [carrier, wheel], axis);
    let (a, b) = (turn(first, axes[0]), turn(second, axes[1]));
    // ground may be the fixed ring: it turns against the carrier like any wheel
    let Some(soft) = soft else {
        let terms = vec![(1.0, a.clone()), (sign * sizes[1] / sizes[0], b.clone())];
        return finish(ctx, hints, ids, terms, vec![a, b], None);
    };
    if key == "teeth" {
        let message =
            format!("{} has a stiffness at its pitch circle, which is not known", ctx.reader.title());
        return Err(ctx.reader.error("teeth", message).hint("give `radii` [m] instead of `teeth`"));
    }
    let terms = vec![(sizes[0], a.clone()), (sign * sizes[1], b.clone())];
    mesh_of(ctx, hints, ids, terms, vec![a, b], soft)
}

/// Reads `kind = "rack"`.
pub fn rack(ctx: &mut Context, hints: &mut Vec<f64>) -> Result<Built> {
    let soft = compliant(ctx)?;
    let (ids, [rack, pinion, carrier]) = with_carrier(ctx)?;
    ctx.must_turn(pinion.0, "bodies")?;
    let radius = ctx.reader.positive("radius")?;
    let hand = ctx.reader.handedness();
    let [way, axle] = if ctx.is_planar() {
        // the mirrored pinion turns clockwise: said of the other sense, the way is the other one
        let way = ctx.reader.direction_or("axis", [1.0, 0.0, 0.0])?.map(|x| hand * x);
        if hand < 0.0 {
            ctx.reader.record("axis", || Plain::vector(way, true));
        }
        [way, [0.0, 0.0, 1.0]]
    } else {
        // the way is a direction of motion, the axle an axis of rotation
        let [way, axle] = two_axes(ctx)?.ok_or_else(|| ctx.reader.missing("axes"))?;
        let axes = [way.map(|x| hand * x), axle];
        if hand < 0.0 {
            ctx.reader.record("axes", || Plain::List(axes.iter().map(|a| Plain::numbers(a)).collect()));
        }
        axes
    };
    let shift = free_coordinate(ctx, hints, Reading::Shift(0), [carrier, rack], way);
    let turn = free_coordinate(ctx, hints, turn_reading(ctx), [carrier, pinion], axle);
    let terms = vec![(1.0, shift), (-radius, turn.clone())];
    match soft {
        Some(soft) => mesh_of(ctx, hints, ids, terms, vec![turn], soft),
        None => finish(ctx, hints, ids, terms, vec![turn], None),
    }
}

/// A mesh with play and stiffness: a force in place of the row, with as much play on both sides in the model pose.
fn mesh_of(
    ctx: &Context,
    hints: &[f64],
    ids: Vec<u32>,
    terms: Vec<(f64, CoordinateRef)>,
    own: Vec<CoordinateRef>,
    [backlash, stiffness, damping]: [f64; 3],
) -> Result<Built> {
    let own_hints: Vec<_> = own.iter().filter_map(|c| c.hint.map(|hint| (hint, c.clone()))).collect();
    let built = finish(ctx, hints, ids, terms.clone(), own, None)?;
    let value = in_model_pose(ctx, &built.ids, hints, |at| {
        terms.iter().map(|(factor, c)| factor * c.value(at)).sum::<f64>()
    });
    let limits = [-0.5 * backlash, 0.5 * backlash];
    let flanks = Flanks { terms, value, limits, stiffness, damping, is_angle: false, own_hints };
    Ok(Built { instead: Some(Arc::new(flanks)), ..built })
}

fn finish(
    ctx: &Context,
    hints: &[f64],
    ids: Vec<u32>,
    terms: Vec<(f64, CoordinateRef)>,
    own: Vec<CoordinateRef>,
    value: Option<f64>,
) -> Result<Built> {
    let own_hints = own.into_iter().filter_map(|c| c.hint.map(|hint| (hint, c))).collect();
    let mut coupler = Coupler { terms, value: 0.0, own_hints };
    coupler.value = match value {
        Some(value) => value,
        None => {
            let mut sum = [0.0];
            in_model_pose(ctx, &ids, hints, |at| coupler.residual(at, &mut sum));
            sum[0]
        }
    };
    Ok(Built::new(ids, coupler))
}
