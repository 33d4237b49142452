//! Describes what springs and actuators act along: the line between two points, or a joint coordinate.
//!
//! An effort e along a length l does the power e·l̇. On a line with the unit vector u from the first point to the second
//! it is the force -e u on the first and e u on the second; where the points coincide there is no direction and no
//! force.

use super::prelude::*;
use crate::coordinate::CoordinateRef;
use crate::signal::PointDistance;

/// A line between two points, or a joint coordinate.
#[derive(Clone, Debug)]
pub enum LineOfAction {
    /// Between two points; the length is their distance.
    Line(PointDistance),
    /// A joint coordinate; the length is its value. `true`: it is an angle.
    Coordinate(CoordinateRef, bool),
}

impl LineOfAction {
    /// Reads `joint`, or `bodies` with `ends` or `on`.
    pub fn read(ctx: &mut Context) -> Result<(Vec<u32>, Self)> {
        if ctx.reader.require_one_of(&["bodies", "joint"])? == "bodies" {
            let bodies = ctx.bodies2()?;
            let [r_A, r_B] = ctx.ends(bodies)?;
            return Ok((bodies.to_vec(), LineOfAction::Line(PointDistance { a: 0, r_A, b: 1, r_B })));
        }
        for key in ["ends", "on"] {
            if ctx.reader.has(key) {
                let message = format!("{} acts along a joint: `{key}` has no place here", ctx.reader.title());
                return Err(ctx
                    .reader
                    .error(key, message)
                    .hint("give `bodies` instead of `joint`, or leave it out"));
            }
        }
        let (joint, k) = ctx.joint_coordinate("joint")?;
        Ok(LineOfAction::of_joint(ctx, joint, k))
    }

    /// Along coordinate `k` of a joint.
    pub fn of_joint(ctx: &Context, joint: usize, k: usize) -> (Vec<u32>, Self) {
        let entry = &ctx.directory.joints[joint];
        let angle = entry.face.coordinates()[k].is_angle();
        (entry.bodies.to_vec(), LineOfAction::Coordinate(entry.coordinate(k, 0, 1), angle))
    }

    /// Returns what its element's name stands for in expressions.
    pub fn named(&self, ids: &[u32]) -> Option<Named> {
        match self {
            LineOfAction::Line(distance) => Some(Named::Pair(ids[0], ids[1], Box::new(*distance))),
            LineOfAction::Coordinate(..) => None,
        }
    }

    /// Returns whether the length is an angle.
    pub fn is_angle(&self) -> bool {
        matches!(self, LineOfAction::Coordinate(_, true))
    }

    /// Its length in the model pose.
    pub fn model_length(&self, ctx: &Context, ids: &[u32]) -> f64 {
        // the offset of a coordinate is made for the model pose: no turns to count there
        let here = match self {
            LineOfAction::Coordinate(c, angle) => {
                LineOfAction::Coordinate(CoordinateRef { discrete_index: None, ..c.clone() }, *angle)
            }
            line => line.clone(),
        };
        crate::constraints::in_model_pose(ctx, &ids[..2], &[], |at| here.length(at))
    }

    /// `length` and `speed` as an expression of the element may read them.
    pub fn signals(&self) -> [Signal; 2] {
        match self {
            LineOfAction::Line(distance) => [Signal::Length(*distance), Signal::LengthRate(*distance)],
            LineOfAction::Coordinate(c, _) => [Signal::Coordinate(c.clone()), Signal::Speed(c.clone())],
        }
    }

    /// The length \[m, rad\].
    pub fn length<R: Real>(&self, at: &At<R>) -> R {
        match self {
            LineOfAction::Line(distance) => distance.length(at),
            LineOfAction::Coordinate(c, _) => c.value(at),
        }
    }

    /// Its rate \[m/s, rad/s\].
    pub fn speed<R: Real>(&self, at: &At<R>) -> R {
        match self {
            LineOfAction::Line(distance) => distance.rate(at),
            LineOfAction::Coordinate(c, _) => c.speed(at),
        }
    }

    /// Adds the wrenches of an effort that lengthens.
    pub fn add_wrench<R: Real>(&self, at: &At<R>, effort: R, out: &mut [Wrench<R>]) {
        match self {
            LineOfAction::Line(PointDistance { a, r_A, b, r_B }) => {
                let (A, B) = (at.pose(*a), at.pose(*b));
                let (arm_A, arm_B) = (A.rotate(r_A), B.rotate(r_B));
                let d = (B.p + arm_B) - (A.p + arm_A);
                let length = d.norm();
                if length.value() == 0.0 {
                    return;
                }
                let force = d.scale(effort / length);
                out[*a].add_force_at(-force, arm_A);
                out[*b].add_force_at(force, arm_B);
            }
            LineOfAction::Coordinate(c, _) => {
                let [on_A, on_B] = c.effort(at, effort);
                for (index, (force, torque)) in [(c.a, on_A), (c.b, on_B)] {
                    out[index].force += force;
                    out[index].torque += torque;
                }
            }
        }
    }
}
