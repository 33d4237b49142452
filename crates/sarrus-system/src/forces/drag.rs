//! Quadratic drag of a fluid on bodies, along and across their x axis.
//!
//! With v the velocity of the centre of mass relative to the fluid, u the body's x axis, v_a = v·u and v_t = v - v_a u:
//!
//! F = -½ρ (C_a A_a |v_a| v_a u + C_t A_t |v_t| v_t + C A |v| v),
//!
//! at the centre of mass. The part across acts against v_t itself, with its own magnitude, whatever its direction about x (a round
//! rod). Balls and points take `isotropic`. F is continuously differentiable, at v = 0 too. Where the fluid has a surface, F is as much less as
//! of the body is above it. In a fluid at rest all its power is dissipated; a fluid that flows does work. There is no torque: what
//! turns is braked only as far as its parts move, so take several bodies, or a member with many. `added_mass` is the inertia of the
//! fluid that moves along, which [`crate::added_mass`] puts into M, whether the force is enabled or not.

use super::immersion::{ImmersedPiece, pieces};
use super::prelude::*;
use crate::added_mass::AddedMass;
use sarrus_model::fluids::Fluid;

/// The force.
#[derive(Clone, Debug)]
pub struct Drag {
    bodies: usize,
    fluid: Fluid,
    /// ½ρCA along x, across it, and in any direction \[kg/m\].
    factors: [f64; 3],
    /// Marks where the fluid has a surface: the volumes that say how much is under it.
    pieces: Vec<ImmersedPiece>,
}

impl Drag {
    /// Of each body the force \[N\] and the velocity relative to the fluid \[m/s\].
    fn each<R: Real>(&self, at: &At<R>, mut act: impl FnMut(usize, Vec3<R>, Vec3<R>)) {
        let [axial, transverse, isotropic] = self.factors;
        for body in 0..self.bodies {
            let v = at.twist(body).v - Vec3::from_f64(self.fluid.velocity);
            let u = at.pose(body).rotate(&[1.0, 0.0, 0.0]);
            let mut force = Vec3::zero();
            let along = v.dot(u);
            if axial != 0.0 {
                force += u.scale(along.abs() * along * -axial);
            }
            for (factor, v) in [(transverse, v - u.scale(along)), (isotropic, v)] {
                let squared = v.norm_squared();
                // |v| v has the derivative 0 where v vanishes, and |v| none
                if factor != 0.0 && squared.value() > 0.0 {
                    force += v.scale(squared.sqrt() * -factor);
                }
            }
            if let Some(surface) = &self.fluid.surface {
                force = force.scale(self.share(at, body, surface));
            }
            act(body, force, v);
        }
    }

    /// The part of a body that is under the surface.
    fn share<R: Real>(&self, at: &At<R>, body: usize, surface: &sarrus_model::fluids::FreeSurface) -> R {
        let (mut under, mut whole) = (R::zero(), 0.0);
        for piece in self.pieces.iter().filter(|piece| piece.body == body) {
            under += piece.mean(at.pose(body), surface).share * piece.volume;
            whole += piece.volume;
        }
        under / whole
    }
}

impl Force for Drag {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        self.each(at, |body, force, _| out[body].force += force);
    }

    fn dissipation<R: Real>(&self, at: &At<R>) -> R {
        let mut heat = R::zero();
        self.each(at, |_, force, v| heat -= force.dot(v));
        heat
    }

    fn accounts_for_power(&self) -> bool {
        self.fluid.velocity == [0.0; 3]
    }

    fn is_load(&self) -> bool {
        true
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        &[("force", "N")]
    }

    fn reading(&self, _k: usize, at: &At<f64>) -> f64 {
        let mut sum = Vec3::zero();
        self.each(at, |_, force, _| sum += force);
        sum.norm()
    }
}

const PART: &[Key] = &[
    Key::new("coefficient", KeyType::Number, "", "drag coefficient C [1]"),
    Key::new("area", KeyType::Number, "", "area A that it goes with, of each body or segment [m²]"),
];

/// ½ρCA of a part.
fn factor(ctx: &Context, key: &str, density: f64) -> Result<f64> {
    let Some(reader) = ctx.reader.sub(key, PART)? else { return Ok(0.0) };
    let number = |key| reader.not_negative_opt(key).and_then(|x| x.ok_or_else(|| reader.missing(key)));
    Ok(0.5 * density * number("coefficient")? * number("area")?)
}

/// `added_mass` of each body.
fn added_mass(ctx: &Context, ids: &[u32], fluid: &Fluid) -> Result<AddedMass> {
    let Some([axial, transverse]) = ctx.reader.array::<2>("added_mass")? else {
        return Ok(AddedMass::default());
    };
    let refuse = |why: &str, hint: &str| {
        let message = format!("`added_mass` of {} {why}", ctx.reader.title());
        Err(ctx.reader.error("added_mass", message).hint(hint))
    };
    if axial < 0.0 || transverse < 0.0 {
        return refuse("must not be negative", "along body x and across it [kg]");
    }
    if fluid.velocity != [0.0; 3] || fluid.surface.is_some() {
        return refuse("goes with a fluid at rest without a surface", "define another fluid for it");
    }
    let bodies = ids.iter().map(|&id| &ctx.directory.bodies[id as usize]);
    if bodies.clone().any(|body| body.shares) {
        return refuse("goes not with modal bodies", "take a `beam` or a `segmented_rod`");
    }
    if axial != transverse && bodies.clone().any(|body| !body.kind.rotates()) {
        return refuse(
            "differs along x and across it, which a point mass does not",
            "give it two equal numbers",
        );
    }
    Ok(AddedMass { axial, transverse })
}

fn read(ctx: &mut Context) -> Result<BuiltForce> {
    let ids = ctx.distinct_bodies()?;
    let fluid = ctx.reader.fluid("fluid")?;
    let added_mass = added_mass(ctx, &ids, &fluid)?;
    let factors = [
        factor(ctx, "axial", fluid.density)?,
        factor(ctx, "transverse", fluid.density)?,
        factor(ctx, "isotropic", fluid.density)?,
    ];
    if !["axial", "transverse", "isotropic", "added_mass"].iter().any(|key| ctx.reader.has(key)) {
        let message = format!("{} needs `axial`, `transverse` or `isotropic`", ctx.reader.title());
        return Err(ctx
            .reader
            .element_error(message)
            .hint("such as `transverse = { coefficient = 1.2, area = 0.1 }`"));
    }
    for key in ["axial", "transverse"].iter().filter(|key| ctx.reader.has(key)) {
        ids.iter().try_for_each(|&id| {
            ctx.require_orientation(id, key).map_err(|e| e.hint("a point has `isotropic` drag"))
        })?;
    }
    let pieces = if fluid.surface.is_some() { pieces(ctx, &ids, Some(1.0), true)? } else { Vec::new() };
    Ok(BuiltForce {
        added_mass,
        ..BuiltForce::new(ids.clone(), Drag { bodies: ids.len(), fluid, factors, pieces })
    })
}

/// `kind = "drag"`
pub const KIND: ForceKind = ForceKind {
    name: "drag",
    doc: "drag of a fluid with the square of the velocity, along and across body x",
    keys: &[
        Key::new("bodies", KeyType::Bodies, "", "the bodies; a flexible member stands for all its parts"),
        Key::new("fluid", KeyType::Name, "", "what they are in, of [fluids]"),
        Key::new("axial", KeyType::Table(PART), "none", "½ρCA|v|v along body x"),
        Key::new("transverse", KeyType::Table(PART), "none", "the same across it, against that part of v"),
        Key::new("isotropic", KeyType::Table(PART), "none", "the same against the whole of v: balls, points"),
        Key::new("added_mass", KeyType::Numbers, "none", "of each body: along body x and across it [kg]"),
    ],
    planar: &[
        "bodies = ['a', 'b'], fluid = 'water', axial = { coefficient = 0.02, area = 0.3 }, \
         transverse = { coefficient = 1.2, area = 0.1 }",
        "bodies = ['a', 'b', 'dot'], fluid = 'stream', isotropic = { coefficient = 0.4, area = 0.1 }",
    ],
    spatial: &[
        "bodies = ['a', 'b'], fluid = 'water', axial = { coefficient = 0.02, area = 0.3 }, \
         transverse = { coefficient = 1.2, area = 0.1 }",
        "bodies = ['a', 'b', 'dot'], fluid = 'sea', isotropic = { coefficient = 0.4, area = 0.1 }",
        "bodies = ['b'], fluid = 'stream', transverse = { coefficient = 1.2, area = 0.1 }",
    ],
    read,
};
