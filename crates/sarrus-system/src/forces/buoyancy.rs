//! Buoyancy: the weight of the fluid that bodies displace, up through the centre of what is displaced.
//!
//! All immersed: -ρ V g at the centre of the volume, with the energy ρ V g·p. With a free surface: what [`super::immersion`] says,
//! and the energy of the fluid that was lifted. It accounts for its power: all its power is stored. The volume is that of the body's shapes,
//! or of its section in a flexible member, which of a tube is its wall: a closed tube needs `volume`.

use super::immersion::{ImmersedPiece, pieces};
use super::prelude::*;
use sarrus_model::fluids::Fluid;

/// The force.
#[derive(Clone, Debug)]
pub struct Buoyancy {
    fluid: Fluid,
    /// Acceleration of free fall \[m/s²\].
    gravity: [f64; 3],
    pieces: Vec<ImmersedPiece>,
}

impl Buoyancy {
    /// ρ |g| \[N/m³\].
    fn weight(&self) -> f64 {
        self.fluid.density * Vec3(self.gravity).norm()
    }

    /// Immersed volume \[m³\].
    fn volume(&self, at: &At<f64>) -> f64 {
        let share = |piece: &ImmersedPiece| match &self.fluid.surface {
            Some(surface) => piece.mean(at.pose(piece.body), surface).share,
            None => 1.0,
        };
        self.pieces.iter().map(|piece| piece.volume * share(piece)).sum()
    }
}

impl Force for Buoyancy {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        for piece in &self.pieces {
            let pose = at.pose(piece.body);
            let out = &mut out[piece.body];
            match &self.fluid.surface {
                None => {
                    let force = self.gravity.map(|g| -self.fluid.density * piece.volume * g);
                    out.add_force_at(Vec3::from_f64(force), pose.rotate(&piece.p));
                }
                Some(surface) => {
                    let mean = piece.mean(pose, surface);
                    let weight = self.weight() * piece.volume;
                    let force = Vec3::from_f64(surface.up).scale(mean.share * weight);
                    out.add_force_at(force, pose.rotate(&piece.p));
                    out.add_torque(mean.torque.scale_f64(weight));
                }
            }
        }
    }

    fn potential<R: Real>(&self, at: &At<R>) -> R {
        let mut stored = R::zero();
        for piece in &self.pieces {
            let pose = at.pose(piece.body);
            stored += match &self.fluid.surface {
                None => pose.point(&piece.p).dot_f64(&self.gravity) * (self.fluid.density * piece.volume),
                Some(surface) => piece.mean(pose, surface).depth * (self.weight() * piece.volume),
            };
        }
        stored
    }

    fn accounts_for_power(&self) -> bool {
        true
    }

    fn is_load(&self) -> bool {
        true
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        &[("force", "N"), ("volume", "m^3")]
    }

    fn reading(&self, k: usize, at: &At<f64>) -> f64 {
        match k {
            0 => self.weight() * self.volume(at),
            _ => self.volume(at),
        }
    }
}

fn read(ctx: &mut Context) -> Result<BuiltForce> {
    let ids = ctx.distinct_bodies()?;
    let fluid = ctx.reader.fluid("fluid")?;
    let volume = ctx.reader.positive_opt("volume")?;
    let pieces = pieces(ctx, &ids, volume, fluid.surface.is_some())?;
    for piece in pieces.iter().filter(|piece| piece.p != [0.0; 3]) {
        ctx.require_orientation(ids[piece.body], "bodies")?;
    }
    let gravity = ctx.model.gravity;
    Ok(BuiltForce::new(ids, Buoyancy { fluid, gravity, pieces }))
}

/// `kind = "buoyancy"`
pub const KIND: ForceKind = ForceKind {
    name: "buoyancy",
    doc: "weight of the displaced fluid, all immersed or up to the fluid's surface",
    keys: &[
        Key::new("bodies", KeyType::Bodies, "", "the bodies; a flexible member stands for all its parts"),
        Key::new("fluid", KeyType::Name, "", "what they are in, of [fluids]"),
        Key::new("volume", KeyType::Number, "from shapes or section", "of each body or segment [m³]"),
    ],
    planar: &[
        "bodies = ['a', 'b'], fluid = 'water', volume = 0.01",
        "bodies = ['a', 'b'], fluid = 'sea', volume = 0.01",
    ],
    spatial: &[
        "bodies = ['a', 'b'], fluid = 'water'",
        "bodies = ['a', 'b'], fluid = 'sea'",
        "bodies = ['a', 'b', 'dot'], fluid = 'sea', volume = 0.01",
    ],
    read,
};
