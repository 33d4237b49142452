//! Gears and racks: the force between teeth at the pitch point, along the line of action.
//!
//! P is the pitch point and n the tooth force of size 1 on the first body without its separating part, both fixed in the carrier:
//! n = cos α (cos β t - sin β a), with t the way of the first wheel at P, a the direction of the teeth at helix angle 0 (the axle, of a
//! bevel gear the common line of the cones), α the normal pressure angle and β the helix angle. The row is
//!
//! Φ = s₁ - s₂,  sᵢ = n·(shift of wheel i at its centre) + (ρᵢ × n)·(rotation of wheel i),  ρᵢ = P - centre of i,
//!
//! all against the carrier. Axles that the carrier holds leave the rotations alone: the wheels roll on each other. The constraint force is n at P on the
//! first body and -n at P on the second, and nothing on the carrier; -λ is the normal force F between teeth.
//!
//! The separating part F sin α pushes the bodies apart on either flank, along w. It grows with |λ|: see [`crate::separation`]. With
//! stiffness the mesh is a force ([`Flanks`]) and has a potential for each flank.

use super::coupler::Coupler;
use super::prelude::*;
use crate::coordinate::{CoordinateRef, Reading};
use crate::forces::Flanks;
use crate::joint::{BodyFixedFrame, Frames};
use sarrus_model::record::ResolvedValue;
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

/// Sum of factors times coordinates.
type Terms = Vec<(f64, CoordinateRef)>;

/// A body and its index in the element's list.
type ListedBody = (u32, usize);

/// The largest difference between given radii and those of the axles, relative to their distance, that goes without a note.
const FITS: f64 = 1e-3;
/// Axles count as parallel up to this sine, and a distance as none up to this part of the positions.
const PARALLEL: f64 = 1e-9;

/// The separating force between two bodies in mesh.
#[derive(Clone, Debug)]
pub struct GearMesh {
    /// The distance that it widens times `factor`; bodies by their places in the element's list.
    pub separation: Terms,
    /// Separating part of the force along the row.
    pub factor: f64,
    /// The smaller pitch radius, or the only one \[m\]; 0 where there is no pitch point.
    pub radius: f64,
    /// Holds what of the geometry does not fit.
    pub note: Option<String>,
}

/// A wheel on its axle.
struct Wheel {
    body: ListedBody,
    /// Its centre in the model pose: on the carrier and on itself.
    on_carrier: Vec3<f64>,
    on_body: Vec3<f64>,
    /// Its axle.
    axis: Vec3<f64>,
    /// Its angle against the carrier.
    angle: CoordinateRef,
}

/// Geometry of a mesh.
struct Pitch {
    P: Vec3<f64>,
    /// t, a and w.
    along: Vec3<f64>,
    across: Vec3<f64>,
    apart: Vec3<f64>,
}

/// Angles of the teeth.
struct Teeth {
    pressure: f64,
    helix: f64,
}

impl Teeth {
    fn read(ctx: &Context) -> Result<Teeth> {
        let (pressure, helix) =
            (ctx.reader.number_opt("pressure_angle")?, ctx.reader.number_opt("helix_angle")?);
        let pressure = pressure.unwrap_or(20_f64.to_radians());
        if !(0.0..FRAC_PI_2).contains(&pressure) {
            let message = format!("{} has a pressure angle outside 0 to 90 degrees", ctx.reader.title());
            let hint = "0 to 30 deg; a number alone is in radians";
            return Err(ctx.reader.error("pressure_angle", message).hint(hint));
        }
        let Some(helix) = helix else { return Ok(Teeth { pressure, helix: 0.0 }) };
        if ctx.is_planar() {
            let message = format!("{} has a helix angle in a planar model", ctx.reader.title());
            let hint = "teeth across the plane have none; `space = \"spatial\"` has axial forces";
            return Err(ctx.reader.error("helix_angle", message).hint(hint));
        }
        if !(helix.abs() < FRAC_PI_2) {
            let message = format!("{} has a helix angle of 90 degrees or more", ctx.reader.title());
            let hint = "0 to 45 deg; a number alone is in radians";
            return Err(ctx.reader.error("helix_angle", message).hint(hint));
        }
        // the image of a right-handed wheel is left-handed
        let hand = ctx.reader.handedness();
        if hand < 0.0 {
            ctx.reader.record("helix_angle", || ResolvedValue::Number(hand * helix));
        }
        Ok(Teeth { pressure, helix: hand * helix })
    }

    /// Tangential part of the normal force.
    fn tangential(&self) -> f64 {
        self.pressure.cos() * self.helix.cos()
    }

    /// n.
    fn direction(&self, pitch: &Pitch) -> Vec3<f64> {
        (pitch.along.scale(self.helix.cos()) - pitch.across.scale(self.helix.sin()))
            .scale(self.pressure.cos())
    }
}

/// A frame fixed in a body at a point and with axes of the world.
fn frame(ctx: &Context, body: u32, p: Vec3<f64>, axes: [[f64; 3]; 3]) -> BodyFixedFrame {
    let angle = -ctx.directory.bodies[body as usize].start.2;
    let axes = axes.map(|axis| Vec3(ctx.world_to_body(body, axis)));
    BodyFixedFrame { p: ctx.point_to_body(body, p.0), rot: Mat3::from_cols(axes[0], axes[1], axes[2]), angle }
}

/// Computes how far `b` at the point `on[1]` is from `a` at `on[0]`, along a direction of `a`.
fn shift(ctx: &Context, [a, b]: [ListedBody; 2], on: [Vec3<f64>; 2], way: Vec3<f64>) -> CoordinateRef {
    let (x, y) = perpendiculars(way.0);
    let axes = [way.0, x, y];
    let frames = Frames { F: frame(ctx, a.0, on[0], axes), M: frame(ctx, b.0, on[1], axes) };
    CoordinateRef { frames, reading: Reading::Shift(0), offset: 0.0, discrete_index: None, a: a.1, b: b.1 }
}

impl Wheel {
    fn new(
        ctx: &Context,
        discrete: &mut Vec<f64>,
        body: ListedBody,
        carrier: ListedBody,
        axis: [f64; 3],
        at: Option<[f64; 3]>,
    ) -> Wheel {
        let [on_carrier, on_body] = at.map_or_else(|| centre(ctx, body.0, carrier.0, axis), |p| [Vec3(p); 2]);
        let (x, y) = perpendiculars(axis);
        let reading = if ctx.is_planar() { Reading::PlanarAngle } else { Reading::RotationZ };
        let axes = [x, y, axis];
        let frames =
            Frames { F: frame(ctx, carrier.0, on_carrier, axes), M: frame(ctx, body.0, on_body, axes) };
        let discrete_index = reading.wraps().then(|| {
            discrete.push(0.0);
            discrete.len() as u32 - 1
        });
        let rotation =
            CoordinateRef { frames, reading, offset: 0.0, discrete_index, a: carrier.1, b: body.1 };
        Wheel { body, on_carrier, on_body, axis: Vec3(axis), angle: rotation }
    }

    /// Adds `factor` times the displacement of the wheel's point at P along `way`.
    fn displacement(
        &self,
        ctx: &Context,
        carrier: ListedBody,
        P: Vec3<f64>,
        way: Vec3<f64>,
        factor: f64,
        out: &mut Terms,
    ) {
        let rho = P - self.on_carrier;
        let torque = rho.cross(way);
        let rotation = torque.dot(self.axis);
        let tilt = torque - self.axis.scale(rotation);
        let least = f64::EPSILON * 16.0 * rho.norm() * way.norm();
        if rotation.abs() > least {
            out.push((factor * rotation, self.angle.clone()));
        }
        let on = [self.on_carrier, self.on_body];
        let size = way.norm();
        out.push((factor * size, shift(ctx, [carrier, self.body], on, way.scale(1.0 / size))));
        let size = tilt.norm();
        if size > least {
            let (z, about) = (self.axis, tilt.scale(1.0 / size));
            let x = about.cross(z);
            let axes = [x.0, z.cross(x).0, z.0];
            let frames =
                Frames { F: frame(ctx, carrier.0, on[0], axes), M: frame(ctx, self.body.0, on[1], axes) };
            let (a, b) = (carrier.1, self.body.1);
            out.push((
                factor * size,
                CoordinateRef { frames, reading: Reading::Tilt, offset: 0.0, discrete_index: None, a, b },
            ));
        }
    }
}

/// The centre of a wheel in the model pose, on its carrier and on itself: that of its joint with the carrier about the axle, of its other joints about
/// it where these are on one line, or its origin.
fn centre(ctx: &Context, body: u32, carrier: u32, axis: [f64; 3]) -> [Vec3<f64>; 2] {
    let axis = Vec3(axis);
    let mut found: Vec<([u32; 2], [Vec3<f64>; 2])> = Vec::new();
    for joint in ctx.directory.joints.iter().filter(|j| j.bodies.contains(&body)) {
        let [F, M] = [(joint.frames.F, 0), (joint.frames.M, 1)]
            .map(|(frame, i)| frame.frame_pose(&ctx.model_pose(joint.bodies[i])));
        let rotates = |c: &crate::coordinate::Coordinate| match c.reading {
            Reading::PlanarAngle => true,
            Reading::RotationZ => F.rot.col(2).cross(axis).norm() <= 1e-6,
            _ => false,
        };
        if joint.face.coordinates().iter().any(rotates) {
            let own = usize::from(joint.bodies[1] == body);
            let on = if own == 1 { [F.p, M.p] } else { [M.p, F.p] };
            found.push(([joint.bodies[1 - own], body], on));
        }
    }
    if let Some((_, on)) = found.iter().find(|(bodies, _)| bodies[0] == carrier) {
        return *on;
    }
    if let Some((_, first)) = found.first().filter(|_| body != 0) {
        let off = |p: Vec3<f64>| (p - first[1]).cross(axis).norm();
        let size = 1.0 + first[1].norm();
        if found.iter().all(|(_, on)| off(on[1]) <= FITS * FITS * size) {
            return [first[1]; 2];
        }
    }
    let origin = ctx.model_pose(body).point(&ctx.file_origin(body));
    [origin; 2]
}

/// Bodies of a gear or rack with their carrier: ids without repeats, and the places of (first, second, carrier).
fn with_carrier(ctx: &mut Context) -> Result<(Vec<u32>, [ListedBody; 3])> {
    let bodies = ctx.bodies2()?;
    let carrier = ctx.body_or_ground("carrier")?;
    let mut ids = bodies.to_vec();
    let index = match ids.iter().position(|&id| id == carrier) {
        Some(index) => index,
        None => {
            ids.push(carrier);
            2
        }
    };
    Ok((ids, [(bodies[0], 0), (bodies[1], 1), (carrier, index)]))
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
        ctx.reader
            .record("axes", || ResolvedValue::List(axes.iter().map(|a| ResolvedValue::numbers(a)).collect()));
    }
    Ok(axes)
}

/// Describes how two wheels meet.
#[derive(Clone, Copy, PartialEq)]
enum WheelContact {
    External,
    Internal,
    Bevel,
}

/// Reads `kind = "gear"`.
pub fn gear(ctx: &mut Context, discrete: &mut Vec<f64>) -> Result<BuiltRows> {
    let soft = compliant(ctx)?;
    let teeth = Teeth::read(ctx)?;
    let (ids, [first, second, carrier]) = with_carrier(ctx)?;
    for wheel in [first, second] {
        ctx.require_orientation(wheel.0, "bodies")?;
    }
    let key = ctx.reader.require_one_of(&["teeth", "radii"])?;
    let sizes = ctx.reader.array::<2>(key)?.ok_or_else(|| ctx.reader.missing(key))?;
    if sizes.iter().any(|&z| z <= 0.0) {
        return Err(ctx.reader.error(key, "must be positive"));
    }
    let meeting = match ctx.reader.choice("mesh", &["external", "internal", "bevel"])? {
        Some(1) => WheelContact::Internal,
        Some(2) => WheelContact::Bevel,
        _ => WheelContact::External,
    };
    let mut axes = if ctx.is_planar() { [[0.0, 0.0, 1.0]; 2] } else { axles(ctx)? };
    if meeting == WheelContact::Bevel && ctx.reader.handedness() < 0.0 {
        // axes of bevel wheels point away from the apex, in an image too; that both are reversed changes nothing between them
        axes = axes.map(|axis| axis.map(|x| -x));
        ctx.reader
            .record("axes", || ResolvedValue::List(axes.iter().map(|a| ResolvedValue::numbers(a)).collect()));
    }
    let at = ctx.reader.points2("at")?;
    let point = |i: usize| at.map(|at| at[i]);
    // ground may be the fixed ring: it turns against the carrier like any wheel
    let wheels = [
        Wheel::new(ctx, discrete, first, carrier, axes[0], point(0)),
        Wheel::new(ctx, discrete, second, carrier, axes[1], point(1)),
    ];
    if at.is_none() && wheels.iter().any(|wheel| ctx.stands_in(wheel.body.0)) {
        let points = [wheels[0].on_carrier.0, wheels[1].on_carrier.0];
        let planar = ctx.is_planar();
        ctx.reader.record("at", || {
            ResolvedValue::List(points.iter().map(|p| ResolvedValue::vector(*p, planar)).collect())
        });
    }
    let radii = (key == "radii").then_some(sizes);
    if soft.is_some() && radii.is_none() {
        let message =
            format!("{} has a stiffness at its pitch circle, which is not known", ctx.reader.title());
        return Err(ctx.reader.error("teeth", message).hint("give `radii` [m] instead of `teeth`"));
    }
    let (pitch, note) = if meeting == WheelContact::Bevel {
        cones(ctx, &wheels, sizes, radii)?
    } else {
        cylinders(ctx, &wheels, sizes, radii, meeting)?
    };
    let own = || wheels.iter().map(|wheel| wheel.angle.clone()).collect();
    let Some(pitch) = pitch else {
        let [a, b] = [0, 1].map(|i| wheels[i].angle.clone());
        let built = finish(ctx, discrete, ids, vec![(1.0, a), (sizes[1] / sizes[0], b)], own());
        return Ok(BuiltRows {
            mesh: Some(GearMesh { separation: vec![], factor: 0.0, radius: 0.0, note }),
            ..built
        });
    };
    let radius = wheels.iter().fold(f64::INFINITY, |least: f64, wheel| {
        let rho = pitch.P - wheel.on_carrier;
        least.min(rho.cross(wheel.axis).norm())
    });
    let displacement = |way: Vec3<f64>| {
        let mut terms = Terms::new();
        wheels[0].displacement(ctx, carrier, pitch.P, way, 1.0, &mut terms);
        wheels[1].displacement(ctx, carrier, pitch.P, way, -1.0, &mut terms);
        terms
    };
    let found = (displacement(teeth.direction(&pitch)), displacement(pitch.apart));
    Ok(mesh_of(ctx, discrete, ids, found, own(), &teeth, radius, note, soft))
}

/// The pitch point of two wheels on parallel axles: between the axles in the ratio of their sizes.
fn cylinders(
    ctx: &Context,
    [one, two]: &[Wheel; 2],
    sizes: [f64; 2],
    radii: Option<[f64; 2]>,
    meeting: WheelContact,
) -> Result<(Option<Pitch>, Option<String>)> {
    if one.axis.cross(two.axis).norm() > 1e-6 {
        let message = format!("{} has axles that are not parallel", ctx.reader.title());
        let hint = "wheels whose axles meet have `mesh = \"bevel\"`; a pure coupling of angles is `coupler`";
        return Err(ctx.reader.error("axes", message).hint(hint));
    }
    let apart = two.on_carrier - one.on_carrier;
    let apart = apart - one.axis.scale(apart.dot(one.axis));
    let d = apart.norm();
    let [z1, z2] = sizes;
    let sum = if meeting == WheelContact::Internal { z1 - z2 } else { z1 + z2 };
    if !(d > PARALLEL * (1.0 + one.on_carrier.norm())) || sum == 0.0 {
        let message = if sum == 0.0 {
            format!("{} has a wheel in a ring of the same size", ctx.reader.title())
        } else {
            format!("{} has two wheels on one axle: there is no pitch point", ctx.reader.title())
        };
        let hint = "give the axles with `at`; a pure coupling of angles is `coupler`";
        return Err(ctx.reader.error("bodies", message).hint(hint));
    }
    let e = apart.scale(1.0 / d);
    let rho = e.scale(d * z1 / sum);
    let out = rho.scale(1.0 / rho.norm());
    // the smaller wheel in a ring is pushed to its own centre, and the ring away from it
    let is_ring = meeting == WheelContact::Internal && z1 > z2;
    let P = one.on_carrier + rho;
    let pitch =
        Pitch { P, along: one.axis.cross(out), across: one.axis, apart: if is_ring { out } else { -out } };
    let note = radii.and_then(|[r1, r2]| {
        let fits = if meeting == WheelContact::Internal { (r1 - r2).abs() } else { r1 + r2 };
        let name = ctx.reader.title();
        ((fits - d).abs() > FITS * d).then(|| {
            format!(
                "{name}: radii of {r1} and {r2} m do not fit axles that are {d:.6} m apart; the tooth force acts at radii of \
                 {:.6} and {:.6} m (`at` gives the axles)",
                (d * z1 / sum).abs(),
                (d * z2 / sum).abs()
            )
        })
    });
    Ok((Some(pitch), note))
}

/// The pitch point of bevel gears: on the line along which their cones touch.
fn cones(
    ctx: &Context,
    [one, two]: &[Wheel; 2],
    [z1, z2]: [f64; 2],
    radii: Option<[f64; 2]>,
) -> Result<(Option<Pitch>, Option<String>)> {
    let name = ctx.reader.title();
    let (u, v) = (one.axis, two.axis);
    let (c, s) = (u.dot(v), u.cross(v).norm());
    if ctx.is_planar() || s <= 1e-6 {
        let message = format!("{name} has bevel wheels on parallel axles");
        let hint =
            "in space give the `axes`, away from the apex; parallel axles have `external` or `internal`";
        return Err(ctx.reader.error(if ctx.is_planar() { "mesh" } else { "axes" }, message).hint(hint));
    }
    // tan δ₁ = sin Σ / (z₂/z₁ + cos Σ)
    let delta = s.atan2(z2 / z1 + c);
    let other = c.acos() - delta;
    let g = (u.scale(other.sin()) + v.scale(delta.sin())).scale(1.0 / s);
    // points of the axles nearest to each other
    let from = two.on_carrier - one.on_carrier;
    let (a, b) = (from.dot(u), from.dot(v));
    let near =
        [one.on_carrier + u.scale((a - b * c) / (s * s)), two.on_carrier + v.scale((a * c - b) / (s * s))];
    let off = (near[1] - near[0]).norm();
    let apex = (near[0] + near[1]).scale(0.5);
    let cone = match radii {
        Some([r1, r2]) => 0.5 * (r1 / delta.sin() + r2 / other.sin()),
        // both wheels lie at their pitch circles, or neither is known to
        None => {
            let along =
                [(one.on_carrier - apex).dot(u) / delta.cos(), (two.on_carrier - apex).dot(v) / other.cos()];
            let mean = 0.5 * (along[0] + along[1]);
            let fit = delta.cos() > PARALLEL && other.cos() > PARALLEL && mean > 0.0;
            if fit && (along[0] - along[1]).abs() <= FITS * mean { mean } else { 0.0 }
        }
    };
    if !(cone > 0.0) {
        let note = format!(
            "{name}: bevel wheels with `teeth` have no known size: a pure coupling of angles, without a tooth force in the bearings; give \
             `radii`"
        );
        return Ok((None, Some(note)));
    }
    let pitch = Pitch {
        P: apex + g.scale(cone),
        along: u.cross(g).scale(1.0 / delta.sin()),
        across: g,
        apart: (u - g.scale(delta.cos())).scale(1.0 / delta.sin()),
    };
    let note = (off > FITS * cone).then(|| {
        format!("{name}: the axles of bevel wheels do not meet: they pass at {off:.6} m; the tooth force acts between them")
    });
    Ok((Some(pitch), note))
}

/// Reads `kind = "rack"`.
pub fn rack(ctx: &mut Context, discrete: &mut Vec<f64>) -> Result<BuiltRows> {
    let soft = compliant(ctx)?;
    let teeth = Teeth::read(ctx)?;
    let (ids, [rack, pinion, carrier]) = with_carrier(ctx)?;
    ctx.require_orientation(pinion.0, "bodies")?;
    let radius = ctx.reader.positive("radius")?;
    let hand = ctx.reader.handedness();
    let [way, axle] = if ctx.is_planar() {
        // the mirrored pinion turns clockwise: said of the other sense, the way is the other one
        let way = ctx.reader.direction_or("axis", [1.0, 0.0, 0.0])?.map(|x| hand * x);
        if hand < 0.0 {
            ctx.reader.record("axis", || ResolvedValue::vector(way, true));
        }
        [way, [0.0, 0.0, 1.0]]
    } else {
        // the way is a direction of motion, the axle an axis of rotation
        let [way, axle] = two_axes(ctx)?.ok_or_else(|| ctx.reader.missing("axes"))?;
        let axes = [way.map(|x| hand * x), axle];
        if hand < 0.0 {
            ctx.reader.record("axes", || {
                ResolvedValue::List(axes.iter().map(|a| ResolvedValue::numbers(a)).collect())
            });
        }
        axes
    };
    let (along, axis) = (Vec3(way), Vec3(axle));
    if along.dot(axis).abs() > 1e-6 {
        let message = format!("{} goes along the axle of its pinion", ctx.reader.title());
        let hint = "the way of the rack is at right angles to the axle; a pure coupling is `coupler`";
        return Err(ctx.reader.error(if ctx.is_planar() { "axis" } else { "axes" }, message).hint(hint));
    }
    let at = ctx.reader.point("at")?;
    let wheel = Wheel::new(ctx, discrete, pinion, carrier, axle, at);
    if at.is_none() && ctx.stands_in(pinion.0) {
        let planar = ctx.is_planar();
        ctx.reader.record("at", || ResolvedValue::vector(wheel.on_carrier.0, planar));
    }
    let out = along.cross(axis);
    let pitch = Pitch { P: wheel.on_carrier + out.scale(radius), along, across: axis, apart: out };
    let displacement = |way: Vec3<f64>| {
        // P, which the carrier keeps, as the rack sees it: so the force acts there however far the rack has gone
        let size = way.norm();
        let own = shift(ctx, [rack, carrier], [pitch.P; 2], way.scale(1.0 / size));
        let mut terms = vec![(-size, own)];
        wheel.displacement(ctx, carrier, pitch.P, way, -1.0, &mut terms);
        terms
    };
    let found = (displacement(teeth.direction(&pitch)), displacement(pitch.apart));
    let own = vec![wheel.angle.clone()];
    Ok(mesh_of(ctx, discrete, ids, found, own, &teeth, radius, None, soft))
}

/// The mesh with the displacements along n and w: a row, or with stiffness a force, with as much play on both sides in the model pose.
fn mesh_of(
    ctx: &Context,
    discrete: &[f64],
    ids: Vec<u32>,
    (mut along, mut apart): (Terms, Terms),
    own: Vec<CoordinateRef>,
    teeth: &Teeth,
    radius: f64,
    note: Option<String>,
    soft: Option<[f64; 3]>,
) -> BuiltRows {
    if teeth.pressure == 0.0 {
        apart.clear();
    }
    // per unit of the normal force; with stiffness of the tangential one
    let unit = if soft.is_some() { teeth.tangential() } else { 1.0 };
    along.iter_mut().for_each(|(factor, _)| *factor /= unit);
    let factor = teeth.pressure.sin() / unit;
    apart.iter_mut().for_each(|(own, _)| *own *= factor);
    let mesh = GearMesh { separation: apart.clone(), factor, radius, note };
    let built = finish(ctx, discrete, ids, along.clone(), own.clone());
    let Some([backlash, stiffness, damping]) = soft else {
        return BuiltRows { mesh: Some(mesh), ..built };
    };
    let own_discrete =
        own.into_iter().filter_map(|c| c.discrete_index.map(|discrete_index| (discrete_index, c))).collect();
    let value = model_value(ctx, discrete, &built.ids, &along);
    let limits = [-0.5 * backlash, 0.5 * backlash];
    let flanks = Flanks {
        terms: along,
        apart,
        scale: 1.0 / unit,
        value,
        limits,
        stiffness,
        damping,
        is_angle: false,
        own_discrete,
    };
    BuiltRows { mesh: Some(mesh), instead: Some(Arc::new(flanks)), ..built }
}

/// The sum of the rotations in the model pose; a centre belongs on its axle, wherever the model pose has it.
fn model_value(ctx: &Context, discrete: &[f64], ids: &[u32], terms: &Terms) -> f64 {
    in_model_pose(ctx, ids, discrete, |at| {
        let rotates =
            terms.iter().filter(|(_, c)| matches!(c.reading, Reading::PlanarAngle | Reading::RotationZ));
        rotates.map(|(factor, c)| factor * c.value(at)).sum()
    })
}

fn finish(
    ctx: &Context,
    discrete: &[f64],
    ids: Vec<u32>,
    terms: Terms,
    own: Vec<CoordinateRef>,
) -> BuiltRows {
    let own_discrete =
        own.into_iter().filter_map(|c| c.discrete_index.map(|discrete_index| (discrete_index, c))).collect();
    let value = model_value(ctx, discrete, &ids, &terms);
    BuiltRows::new(ids, Coupler { terms, value, unit: "N", own_discrete })
}
