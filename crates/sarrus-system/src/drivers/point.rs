//! The position or velocity of a point, and the rotation of its body, as functions of time.
//!
//! Φ_i = p_i - f_i(t) for the components that are not free, in the plane also angle - f(t); at velocity level
//! ψ_i = ṗ_i - f_i(t), and rate or ω in world axes.

use super::Efforts;
use crate::at::At;
use crate::constraint::Constraint;
use crate::constraints::BuiltRows;
use crate::context::Context;
use crate::formula::{Binder, Formula, ReadLevel};
use sarrus_math::Real;
use sarrus_model::Result;
use sarrus_model::reader::ComponentMap;

/// A driven component: which one, and its program.
type DrivenComponent = (usize, Formula);

/// The driver.
pub struct PointDriver {
    /// The point, from the centre of mass \[m\].
    r: [f64; 3],
    position: Vec<DrivenComponent>,
    angle: Option<Formula>,
    velocity: Vec<DrivenComponent>,
    /// Components of ω in world axes; planar only z.
    omega: Vec<DrivenComponent>,
}

impl Constraint for PointDriver {
    fn rows(&self) -> usize {
        self.holonomic() + self.velocity.len() + self.omega.len()
    }

    fn holonomic(&self) -> usize {
        self.position.len() + self.angle.iter().len()
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        let p = at.pose(0).point(&self.r);
        let mut out = phi.iter_mut();
        for ((i, target), phi) in self.position.iter().zip(&mut out) {
            *phi = p.0[*i] - target.eval(at);
        }
        if let (Some(target), Some(phi)) = (&self.angle, out.next()) {
            *phi = at.pose(0).angle - target.eval(at);
        }
    }

    fn velocity<R: Real>(&self, at: &At<R>, psi: &mut [R]) {
        let twist = at.twist(0);
        let u = twist.point_velocity(at.pose(0), &self.r);
        let mut out = psi.iter_mut();
        for ((i, target), psi) in self.velocity.iter().zip(&mut out) {
            *psi = u.0[*i] - target.eval(at);
        }
        for ((i, target), psi) in self.omega.iter().zip(&mut out) {
            *psi = twist.w_W.0[*i] - target.eval(at);
        }
    }

    fn depends_on_time(&self) -> bool {
        true
    }
}

fn driven(components: Vec<Option<Formula>>) -> Vec<DrivenComponent> {
    components.into_iter().enumerate().filter_map(|(i, f)| f.map(|f| (i, f))).collect()
}

/// Reads `[drivers.X] kind = "point"`.
pub fn read(ctx: &mut Context, _: &mut Vec<f64>) -> Result<(BuiltRows, Efforts)> {
    let body = ctx.body("body")?;
    if body == 0 {
        return Err(ctx.reader.error("body", "the ground does not move").hint("name a moving body"));
    }
    let rotates = ctx.directory.bodies[body as usize].kind.rotates();
    let origin = ctx.directory.bodies[body as usize].from_com([0.0; 3]);
    let r = ctx.point_on(body, "at", "on")?.unwrap_or(origin);
    let (mut positions, mut speeds) =
        (ctx.binder(ReadLevel::Time, vec![]), ctx.binder(ReadLevel::Rate, vec![]));
    ctx.reader.one_of(&["position", "velocity"])?;
    ctx.reader.one_of(&["angle", "rate"])?;
    let vector = |binder: &mut Binder, key: &str, how: ComponentMap| -> Result<Vec<DrivenComponent>> {
        match ctx.reader.expressions(key, how, true)? {
            Some(vector) => Ok(driven(binder.vector(&vector)?)),
            None => Ok(vec![]),
        }
    };
    let position = vector(&mut positions, "position", ComponentMap::Point)?;
    let velocity = vector(&mut speeds, "velocity", ComponentMap::Polar)?;
    let mut omega = if ctx.is_planar() { vec![] } else { vector(&mut speeds, "omega", ComponentMap::Axial)? };
    let mut angle = None;
    if ctx.is_planar() {
        if let Some(expr) = ctx.reader.heading_expression("angle")? {
            angle = Some(positions.scalar(&expr)?);
        }
        if let Some(expr) = ctx.reader.axial_expression("rate")? {
            omega.push((2, speeds.scalar(&expr)?));
        }
    }
    for key in if ctx.is_planar() { ["omega", "omega"] } else { ["angle", "rate"] } {
        if ctx.reader.has(key) {
            let hint =
                if ctx.is_planar() { "use `angle` or `rate`" } else { "use `omega`, or drive a joint" };
            return Err(ctx.reader.error(key, format!("`{key}` does not exist in this space")).hint(hint));
        }
    }
    if !rotates && (angle.is_some() || !omega.is_empty()) {
        return Err(ctx.reader.error("body", "is a point mass and does not turn"));
    }
    let driver = PointDriver { r, position, angle, velocity, omega };
    if driver.rows() == 0 {
        return Err(ctx.reader.element_error("drives nothing").hint("give `position` or `velocity`"));
    }
    let mut efforts = Vec::new();
    let forces = ["fx", "fy", "fz"];
    let torques = ["tx", "ty", "tz"];
    efforts.extend(driver.position.iter().map(|(i, _)| (forces[*i].to_string(), "N")));
    efforts.extend(driver.angle.iter().map(|_| ("tz".to_string(), "N m")));
    efforts.extend(driver.velocity.iter().map(|(i, _)| (forces[*i].to_string(), "N")));
    efforts.extend(driver.omega.iter().map(|(i, _)| (torques[*i].to_string(), "N m")));
    Ok((BuiltRows::new(vec![body], driver), efforts))
}
