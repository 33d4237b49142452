//! Accelerations: time derivatives of signals that are velocities, along the motion with v̇ of the equations of motion.
//!
//! A velocity is a function of poses and twists; evaluated over jets of two coefficients it has its derivative in the second.

use super::{ColumnSource, RowSource};
use crate::at::At;
use crate::signal::Signal;
use crate::system::System;
use crate::tangent;
use sarrus_math::{Jet, Pose, Twist};

/// Bodies whose jets fit on the stack: a body, or the two of a joint.
const FEW: usize = 2;

/// The time derivative of a velocity.
#[derive(Clone)]
pub(crate) struct Acceleration {
    velocity: Signal,
    /// The bodies that the velocity reads, by its own numbers.
    ids: Vec<u32>,
    /// 0, 1, ...: the numbers of their jets.
    indices: Vec<u32>,
}

impl Acceleration {
    /// That of the velocity that `read` finds, given what numbers a body.
    pub fn of(read: impl FnOnce(&mut dyn FnMut(u32) -> usize) -> Option<Signal>) -> Option<Acceleration> {
        let mut ids = Vec::with_capacity(FEW);
        let velocity = read(&mut |body| match ids.iter().position(|&id| id == body) {
            Some(index) => index,
            None => {
                ids.push(body);
                ids.len() - 1
            }
        })?;
        let indices = (0..ids.len() as u32).collect();
        velocity.needs_velocity().then_some(Acceleration { velocity, ids, indices })
    }

    /// Unit, for results.
    pub fn unit(&self) -> &'static str {
        if self.velocity.unit() == "rad/s" { "rad/s^2" } else { "m/s^2" }
    }

    /// The value where v̇ is that of `row`.
    pub fn eval(&self, row: &RowSource) -> f64 {
        let n = self.ids.len();
        let (mut few, mut many) = (([Pose::identity(); FEW], [Twist::zero(); FEW]), (vec![], vec![]));
        let (poses, twists) = if n <= FEW {
            (&mut few.0[..n], &mut few.1[..n])
        } else {
            many.0.resize(n, Pose::identity());
            many.1.resize(n, Twist::zero());
            (&mut many.0[..], &mut many.1[..])
        };
        for ((&id, pose), twist) in self.ids.iter().zip(&mut *poses).zip(&mut *twists) {
            let id = id as usize;
            let body = &row.system.directory.bodies[id];
            let [vdot, wdot] = tangent::acceleration(body, &row.snapshot.accel.vdot);
            let (v, w) = ([row.at.twists[id].v.0, vdot], [row.at.twists[id].w.0, wdot]);
            *pose = row.at.poses[id].jet(&v, &w);
            *twist = Twist::jet(pose, &v, &w);
        }
        let t = Jet::<2>::variable(row.at.t);
        let at = At { t, poses, twists, ids: &self.indices, discrete: row.at.discrete, outs: &[] };
        self.velocity.eval(&at).derivative(1)
    }
}

/// The acceleration with a full name, such as `crank.ax` or `A.accel`.
pub(super) fn acceleration_named(system: &System, name: &str) -> Option<ColumnSource> {
    let acceleration = Acceleration::of(|index_of| system.directory.velocity_of(name, index_of))?;
    Some(ColumnSource::Acceleration(Box::new(acceleration)))
}
