//! A point on a curve or surface given by an expression, in the frame of a body.
//!
//! Implicit: Φ = f(x, y, z), one row: a curve in the plane, a surface in space.
//! Path c(s): the nearest parameter s solves (p - c)·c' = 0, and Φ is what remains of p - c across the tangent: one row
//! in the plane, two in space. s is carried along as a hint; derivatives of s come from repeating the Newton step
//! s ← s + (p - c)·c'/k over the scalar with the slope k = |c'|² - (p - c)·c'' of the value, which gains an order each time.

use super::prelude::*;
use crate::file_placement::AffineMap;
use crate::formula::{Formula, ReadLevel};
use crate::signal::Signal;
use sarrus_math::Dual;
use sarrus_model::expr::{Binding, Program};

/// f(x, y, z) = 0 with x, y, z bound to the point's coordinates.
pub struct ImplicitSurface(Formula);

impl Constraint for ImplicitSurface {
    fn rows(&self) -> usize {
        1
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        phi[0] = self.0.eval(at);
    }

    fn depends_on_time(&self) -> bool {
        self.0.needs_time()
    }

    fn laws(&self, found: &mut dyn FnMut(&Formula)) {
        found(&self.0);
    }

    /// The force on the body in the direction in which f grows; λ is that force only where |∇f| = 1.
    fn multiplier(&self, _: usize) -> Multiplier {
        Multiplier::force("N", MultiplierScale::Gradient)
    }
}

/// A point on a path.
pub struct PathPoint {
    /// The point's coordinates in the frame.
    point: Vec<Signal>,
    /// c(s), one program a component, slot 0 is s.
    curve: Vec<Program>,
    discrete_index: u32,
}

impl PathPoint {
    /// c and c' at `s`.
    fn curve<R: Real>(&self, s: R) -> (Vec3<R>, Vec3<R>) {
        let seeded = Dual::<1, R>::variable(s, 0);
        let mut c = Vec3::zero();
        let mut tangent = Vec3::zero();
        for (i, program) in self.curve.iter().enumerate() {
            let value = program.eval(&|_| seeded);
            c.0[i] = value.v;
            tangent.0[i] = value.d[0];
        }
        (c, tangent)
    }

    fn point<R: Real>(&self, at: &At<R>) -> Vec3<R> {
        let mut p = Vec3::zero();
        for (p, signal) in p.0.iter_mut().zip(&self.point) {
            *p = signal.eval(at);
        }
        p
    }

    /// |c'|² - (p - c)·c'', positive where s is a nearest point; |c'|² where it is not.
    fn slope(&self, p: [f64; 3], s: f64) -> f64 {
        let seeded = Dual::<1, Dual<1>>::variable(Dual::variable(s, 0), 0);
        let (mut square, mut bend) = (0.0, 0.0);
        for (program, p) in self.curve.iter().zip(p) {
            let c = program.eval(&|_| seeded);
            square += c.d[0].v * c.d[0].v;
            bend += (p - c.v.v) * c.d[0].d[0];
        }
        if square - bend > 0.1 * square { square - bend } else { square }
    }

    /// The parameter nearest to `p`, from a value near it.
    fn nearest(&self, p: [f64; 3], start: f64) -> f64 {
        let mut s = start;
        for _ in 0..50 {
            let (c, tangent) = self.curve(s);
            let step = (Vec3(p) - c).dot(tangent) / self.slope(p, s);
            if !step.is_finite() {
                return start;
            }
            s += step;
            if step.abs() <= 1e-15 * (1.0 + s.abs()) {
                break;
            }
        }
        s
    }

    /// Of many parameters the one whose point is nearest: where the run starts.
    fn search(&self, p: [f64; 3]) -> f64 {
        let distance = |s: f64| (Vec3(p) - self.curve(s).0).norm();
        let samples = (-4000..=4000).map(|i| i as f64 * 0.005);
        let best =
            samples.filter(|&s| distance(s).is_finite()).min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        self.nearest(p, best.unwrap_or(0.0))
    }
}

impl Constraint for PathPoint {
    fn rows(&self) -> usize {
        self.curve.len() - 1
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        let p = self.point(at);
        let nearest = self.nearest(p.value(), at.discrete[self.discrete_index as usize]);
        let slope = self.slope(p.value(), nearest);
        let mut s = R::from_f64(nearest);
        let (mut c, mut tangent) = self.curve(s);
        // jets of up to four coefficients: one order a step, and one to spare
        for _ in 0..4 {
            s += (p - c).dot(tangent) / slope;
            (c, tangent) = self.curve(s);
        }
        let u = tangent.scale(R::one() / tangent.norm());
        let off = p - c;
        if self.curve.len() == 2 {
            phi[0] = off.0[1] * u.0[0] - off.0[0] * u.0[1];
            return;
        }
        // two directions across the tangent, from the axis that is least along it
        let value = u.value();
        let least = (1..3).fold(0, |best, i| if value[i].abs() < value[best].abs() { i } else { best });
        let mut axis = [0.0; 3];
        axis[least] = 1.0;
        let across = u.cross(Vec3::from_f64(axis));
        let across = across.scale(R::one() / across.norm());
        phi[0] = off.dot(across);
        phi[1] = off.dot(u.cross(across));
    }

    fn unsearched(&self) -> Option<&'static str> {
        let is_smooth = |program: &Program| program.is_polynomial() && program.choices().next().is_none();
        (!self.curve.iter().all(is_smooth)).then_some("it follows a path, which has no bounds")
    }

    /// In the plane the force on the body, to the left of the path's direction.
    fn multiplier(&self, row: usize) -> Multiplier {
        match Constraint::rows(self) {
            1 => Multiplier::force("N", MultiplierScale::Factor(-1.0)),
            _ => Multiplier::lambda(row, "N"),
        }
    }

    fn update_discrete(&self, at: &At<f64>, discrete: &mut [f64]) {
        discrete[self.discrete_index as usize] =
            self.nearest(self.point(at).0, at.discrete[self.discrete_index as usize]);
    }
}

/// Reads `kind = "point_on_curve"`.
pub fn read(ctx: &mut Context, discrete: &mut Vec<f64>) -> Result<BuiltRows> {
    let body = ctx.body("body")?;
    let frame = ctx.body_or_ground("frame")?;
    if frame == body {
        return Err(ctx.reader.error("frame", "the curve moves with the point's own body"));
    }
    let origin = ctx.directory.bodies[body as usize].from_com([0.0; 3]);
    let r = ctx.point_on(body, "at", "on")?.unwrap_or(origin);
    let carrier = ctx.body_frame(frame);
    let from_file = ctx.from_file_frame(frame);
    let coordinate = |i: usize| Signal::Relative(1, carrier, 0, r, i);
    let ids = vec![body, frame];
    if ctx.reader.require_one_of(&["implicit", "path"])? == "implicit" {
        let mut binder = ctx.binder(ReadLevel::Position, ids);
        let names: &[&str] = if ctx.is_planar() { &["x", "y"] } else { &["x", "y", "z"] };
        let map = from_file.map(|(q, d)| AffineMap::inverse_of(&q, d));
        binder.local_vector(names, coordinate, map);
        let formula = binder.scalar(&ctx.reader.require_expression("implicit")?)?;
        return Ok(BuiltRows::new(binder.ids, ImplicitSurface(formula)));
    }
    let n = if ctx.is_planar() { 2 } else { 3 };
    let list = ctx.reader.points_along("path", from_file.as_ref());
    let list = list.map_err(|error| error.hint("one expression of `s` for each axis"))?;
    let list = list.ok_or_else(|| ctx.reader.missing("path"))?;
    let mut bind = |path: &str| match path {
        "s" => Ok(Binding::Scalar(0)),
        other => Err(format!("`{other}` cannot be read here: a path is a function of `s` and parameters")),
    };
    let curve: Vec<Program> =
        ctx.model.compile_vector(&list, &["s"], &mut bind)?.into_iter().flatten().collect();
    discrete.push(0.0);
    let path = PathPoint {
        point: (0..n).map(coordinate).collect(),
        curve,
        discrete_index: discrete.len() as u32 - 1,
    };
    let start = in_model_pose(ctx, &ids, discrete, |at| path.search(path.point(at).0));
    discrete[path.discrete_index as usize] = start;
    Ok(BuiltRows::new(ids, path))
}
