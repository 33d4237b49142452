//! A ball or a disc that rolls on a plane without slipping.
//!
//! With c the centre, n the plane's normal and d from the centre to the contact point:
//! Φ = n·(c - p0) + n·d (it touches), ψ = t_i·(ċ + ω × d) for two directions t_i of the plane (it does not slip).
//! Ball: d = -r n. Disc with axle a: d = -r (n - (n·a) a)/|n - (n·a) a|, the lowest point of the rim.
//! In the plane, not slipping integrates: t·c + r·angle keeps its value, so both rows are holonomic.

use super::prelude::*;
use sarrus_model::record::ResolvedValue;

/// In space: 1 holonomic row and 2 at velocity level.
pub struct Rolling {
    /// Centre, from the centre of mass \[m\].
    r_C: [f64; 3],
    radius: f64,
    /// A point of the plane \[m\].
    p0: [f64; 3],
    n: [f64; 3],
    t: [[f64; 3]; 2],
    /// Axle of a disc, in body axes.
    axle_B: Option<[f64; 3]>,
}

impl Rolling {
    /// From the centre to the contact point.
    fn arm<R: Real>(&self, at: &At<R>) -> Vec3<R> {
        let n = Vec3::from_f64(self.n);
        match &self.axle_B {
            None => n.scale_f64(-self.radius),
            Some(axle_B) => {
                let a = at.pose(0).rotate(axle_B);
                let up = n - a.scale(a.dot(n));
                up.scale(R::from_f64(-self.radius) / up.norm())
            }
        }
    }
}

impl Constraint for Rolling {
    fn rows(&self) -> usize {
        3
    }

    fn holonomic(&self) -> usize {
        1
    }

    fn multiplier(&self, row: usize) -> Multiplier {
        Multiplier::lambda(row, "N")
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        let contact = at.pose(0).point(&self.r_C) + self.arm(at);
        phi[0] = (contact - Vec3::from_f64(self.p0)).dot_f64(&self.n);
    }

    fn velocity<R: Real>(&self, at: &At<R>, psi: &mut [R]) {
        let slip = at.twist(0).point_velocity(at.pose(0), &self.r_C) + at.twist(0).w_W.cross(self.arm(at));
        psi[0] = slip.dot_f64(&self.t[0]);
        psi[1] = slip.dot_f64(&self.t[1]);
    }
}

/// In the plane: 2 holonomic rows.
pub struct PlanarRolling {
    r_C: [f64; 3],
    radius: f64,
    p0: [f64; 3],
    n: [f64; 3],
    /// t·c + r·angle in the model pose.
    start: f64,
}

impl PlanarRolling {
    fn rolled<R: Real>(&self, at: &At<R>) -> R {
        let c = at.pose(0).point(&self.r_C);
        c.dot_f64(&[self.n[1], -self.n[0], 0.0]) + at.pose(0).angle * self.radius
    }
}

impl Constraint for PlanarRolling {
    fn rows(&self) -> usize {
        2
    }

    fn multiplier(&self, row: usize) -> Multiplier {
        Multiplier::lambda(row, "N")
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        phi[0] = (at.pose(0).point(&self.r_C) - Vec3::from_f64(self.p0)).dot_f64(&self.n) - self.radius;
        phi[1] = self.rolled(at) - self.start;
    }
}

const PLANE: &[Key] = &[
    Key::new("at", KeyType::Point, "the origin", "a point of the plane [m]"),
    Key::new("normal", KeyType::Vector, "z, planar y", "its normal, on the side of the body"),
];

fn read(ctx: &mut Context, disc: bool) -> Result<BuiltRows> {
    let body = ctx.body("body")?;
    if !ctx.directory.bodies[body as usize].kind.rotates() {
        return Err(ctx.reader.error("body", "does not turn, so it cannot roll").hint("name a rigid body"));
    }
    let radius = ctx.reader.positive("radius")?;
    let up = if ctx.is_planar() { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
    let (p0, n) = match ctx.reader.sub("plane", PLANE)? {
        None => {
            let (p0, n) = (ctx.reader.transform().point([0.0; 3]), ctx.reader.transform().vector(up));
            if !ctx.reader.transform().is_identity() {
                let entries = [("at", p0), ("normal", n)];
                let plain =
                    entries.map(|(key, v)| (key.to_string(), ResolvedValue::vector(v, ctx.is_planar())));
                ctx.reader.record("plane", || ResolvedValue::Table(plain.to_vec()));
            }
            (p0, n)
        }
        Some(plane) => {
            let p0 = match plane.point("at")? {
                Some(p0) => p0,
                None => {
                    let p0 = plane.transform().point([0.0; 3]);
                    if !plane.transform().is_identity() {
                        plane.record("at", || ResolvedValue::vector(p0, plane.is_planar()));
                    }
                    p0
                }
            };
            (p0, plane.direction_or("normal", up)?)
        }
    };
    let r_C = ctx.directory.bodies[body as usize].from_com([0.0; 3]);
    if ctx.is_planar() {
        let mut rolling = PlanarRolling { r_C, radius, p0, n, start: 0.0 };
        rolling.start = in_model_pose(ctx, &[body], &[], |at| rolling.rolled(at));
        return Ok(BuiltRows::new(vec![body], rolling));
    }
    let axle_B = if disc {
        let axle = match ctx.direction_on(body, "axis", "axis_on", true)? {
            Some(axle) => axle,
            None => ctx.default_on(body, "axis_on", [0.0, 0.0, 1.0], true),
        };
        let lean = ctx.model_pose(body).rotate(&axle).dot_f64(&n).abs();
        if lean > 1.0 - 1e-12 {
            let error = ctx.reader.element_error("the disc lies flat on the plane: it touches everywhere");
            return Err(error.hint("tilt it in the model pose, or turn its axle with `axis_on`"));
        }
        Some(axle)
    } else {
        None
    };
    let (x, y) = perpendiculars(n);
    Ok(BuiltRows::new(vec![body], Rolling { r_C, radius, p0, n, t: [x, y], axle_B }))
}

/// Reads `kind = "rolling_ball"`.
pub fn ball(ctx: &mut Context, _: &mut Vec<f64>) -> Result<BuiltRows> {
    read(ctx, false)
}

/// Reads `kind = "rolling_disc"`.
pub fn disc(ctx: &mut Context, _: &mut Vec<f64>) -> Result<BuiltRows> {
    read(ctx, true)
}
