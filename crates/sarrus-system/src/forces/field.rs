//! A force at the centre of mass of each of several bodies: wind, a magnet, a second gravity.
//!
//! One expression for all; in it `x y z vx vy vz mass` are those of the body at hand.

use super::prelude::*;
use crate::placed::Map;

/// The force: a vector per body.
#[derive(Clone, Debug)]
pub struct Field {
    forces: Vec<VectorFormula>,
}

impl Force for Field {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        for (force, out) in self.forces.iter().zip(out) {
            out.force += force.eval(at);
        }
    }

    fn is_load(&self) -> bool {
        true
    }
}

fn read(ctx: &mut Context) -> Result<Built> {
    let mut ids = ctx.distinct_bodies()?;
    let vector =
        ctx.reader.expressions("force", Turns::Polar, false)?.ok_or_else(|| ctx.reader.missing("force"))?;
    let dimensions = if ctx.is_planar() { 2 } else { 3 };
    let mut forces = Vec::with_capacity(ids.len());
    for place in 0..ids.len() {
        let mass = ctx.directory.bodies[ids[place] as usize].mass;
        let mut binder = ctx.binder(Level::Force, ids);
        let transform = Some(ctx.reader.transform()).filter(|t| !t.is_identity());
        let position = |axis| Signal::Position(place, [0.0; 3], axis);
        binder.local_vector(&["x", "y", "z"][..dimensions], position, transform.map(Map::points));
        let velocity = |axis| Signal::Velocity(place, [0.0; 3], axis);
        binder.local_vector(&["vx", "vy", "vz"][..dimensions], velocity, transform.map(Map::polar));
        binder.local("mass", Signal::Constant(mass));
        forces.push(VectorFormula::bind(&mut binder, &vector)?);
        ids = binder.ids;
    }
    Ok(Built::new(ids, Field { forces }))
}

/// `kind = "field"`
pub const KIND: Kind = Kind {
    name: "field",
    doc: "force at the centre of mass of each body, of its `x y z vx vy vz mass` and `t`",
    keys: &[
        Key::new("bodies", KeyType::Bodies, "", "the bodies"),
        Key::new("force", KeyType::Expressions, "", "of `x y z vx vy vz mass t`, in world axes [N]"),
    ],
    planar: &["bodies = ['a', 'b'], force = ['-mass*x', '-0.5*vy']"],
    spatial: &["bodies = ['a', 'b'], force = ['-mass*x', '-0.5*vy', 'mass*sin(t) + b.x']"],
    read,
};
