//! A force on the mass of several bodies: wind, a magnet, a second gravity.
//!
//! One expression for all; in it `x y z vx vy vz mass` are those of the body at hand, and the force acts at its centre of mass. Of a modal
//! body they are those of each node of its mesh with its share of the mass, and the force acts on frame and shapes as the
//! [consistent](crate::flexible::modal::points) mass has it. Cost there: O(n²) for n amplitudes and each node.

use super::prelude::*;
use crate::file_placement::AffineMap;
use crate::flexible::modal::floating::Floating;
use crate::flexible::modal::points::{MassPoint, ModalParts};
use crate::formula::Binder;
use sarrus_math::Twist;
use sarrus_model::Transform;
use std::sync::Arc;

/// The force: a vector per body, and one per node of modal bodies.
#[derive(Clone, Debug)]
pub struct Field {
    /// Place of each body that is none of a modal one.
    bodies: Vec<(usize, VectorFormula)>,
    modal: Vec<Modal>,
}

/// A modal body in the field.
#[derive(Clone, Debug)]
struct Modal {
    parts: ModalParts,
    points: Arc<Vec<MassPoint>>,
    forces: Vec<VectorFormula>,
    /// A place of no body, which stands for the node at hand.
    node: usize,
}

impl Modal {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        let (eta, rate) = self.parts.motion(at);
        let n = at.ids.len();
        let mut poses: Vec<Pose<R>> = (0..n).map(|i| *at.pose(i)).collect();
        let mut twists: Vec<Twist<R>> = (0..n).map(|i| *at.twist(i)).collect();
        let ids: Vec<u32> = (0..n as u32).collect();
        for (point, force) in self.points.iter().zip(&self.forces) {
            (poses[self.node].p, twists[self.node].v) = point.state(at, &self.parts, (&eta, &rate));
            let here = At {
                t: at.t,
                poses: &poses,
                twists: &twists,
                ids: &ids,
                discrete: at.discrete,
                outs: at.outs,
            };
            point.add_force(at, &self.parts, &eta, force.eval(&here), out);
        }
    }
}

impl Force for Field {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        for (body, force) in &self.bodies {
            out[*body].force += force.eval(at);
        }
        self.modal.iter().for_each(|modal| modal.wrench(at, out));
    }

    fn laws(&self, found: &mut dyn FnMut(&Formula, [f64; 2])) {
        self.bodies.iter().for_each(|(_, force)| force.laws(found));
    }

    fn unbounded(&self, found: &mut dyn FnMut(&Formula)) {
        // all nodes have the same expression
        let nodes = self.modal.iter().filter_map(|modal| modal.forces.first());
        nodes.for_each(|force| force.laws(&mut |formula, _| found(formula)));
    }

    fn is_load(&self) -> bool {
        true
    }
}

/// Makes position, velocity and mass of what stands at a place readable, in the axes of a file that is moved by `transform`.
fn locals(binder: &mut Binder, index: usize, mass: f64, dimensions: usize, transform: Option<&Transform>) {
    let position = |axis| Signal::Position(index, [0.0; 3], axis);
    binder.local_vector(&["x", "y", "z"][..dimensions], position, transform.map(AffineMap::points));
    let velocity = |axis| Signal::Velocity(index, [0.0; 3], axis);
    binder.local_vector(&["vx", "vy", "vz"][..dimensions], velocity, transform.map(AffineMap::polar));
    binder.local("mass", Signal::Constant(mass));
}

/// Refuses a node of a modal body by itself: its mass is that of the whole.
fn refuse_nodes(ctx: &Context, ids: &[u32]) -> Result<()> {
    for member in ctx.directory.flexible.iter() {
        let Some(of) = ctx.directory.floating.iter().find(|f| member.all.contains(&f.frame)) else {
            continue;
        };
        if let Some(node) = ids.iter().find(|id| member.all.contains(id) && !ids.contains(&of.frame)) {
            let (node, name) = (&ctx.directory.bodies[*node as usize].name, &member.name);
            let message = format!(
                "{} acts on mass, and `{node}` is a node of the modal body `{name}`",
                ctx.reader.title()
            );
            let hint = format!("name `{name}`: it acts on all of it; or give a `force` at the node");
            return Err(ctx.reader.error("bodies", message).hint(hint));
        }
    }
    Ok(())
}

fn read(ctx: &mut Context) -> Result<BuiltForce> {
    let named = ctx.distinct_bodies()?;
    let vector = ctx
        .reader
        .expressions("force", ComponentMap::Polar, false)?
        .ok_or_else(|| ctx.reader.missing("force"))?;
    let dimensions = if ctx.is_planar() { 2 } else { 3 };
    let transform = Some(ctx.reader.transform().clone()).filter(|t| !t.is_identity());
    let transform = transform.as_ref();
    refuse_nodes(ctx, &named)?;
    let floating: Vec<&Floating> =
        ctx.directory.floating.iter().filter(|f| named.contains(&f.frame)).collect();
    let of_modal: Vec<std::ops::Range<u32>> = ctx
        .directory
        .flexible
        .iter()
        .filter(|member| floating.iter().any(|f| member.all.contains(&f.frame)))
        .map(|member| member.all.clone())
        .collect();
    let mut ids: Vec<u32> =
        named.into_iter().filter(|id| !of_modal.iter().any(|all| all.contains(id))).collect();
    let (count, mut bodies, mut modal) = (ids.len(), Vec::with_capacity(ids.len()), Vec::new());
    for index in 0..count {
        let mass = ctx.directory.bodies[ids[index] as usize].mass;
        let mut binder = ctx.binder(ReadLevel::Force, ids);
        locals(&mut binder, index, mass, dimensions, transform);
        bodies.push((index, VectorFormula::bind(&mut binder, &vector)?));
        ids = binder.ids;
    }
    for of in floating {
        let mut binder = ctx.binder(ReadLevel::Force, ids);
        let parts = ModalParts::new(of, &mut |body| binder.body_index(body));
        // the first place of the ground is its own, the second that of the node at hand
        binder.body_index(0);
        let node = binder.ids.len();
        binder.ids.push(0);
        ids = binder.ids;
        let mut forces = Vec::with_capacity(of.points.len());
        for point in of.points.iter() {
            let mut binder = ctx.binder(ReadLevel::Force, ids);
            locals(&mut binder, node, point.mass, dimensions, transform);
            forces.push(VectorFormula::bind(&mut binder, &vector)?);
            ids = binder.ids;
        }
        modal.push(Modal { parts, points: of.points.clone(), forces, node });
    }
    Ok(BuiltForce::new(ids, Field { bodies, modal }))
}

/// `kind = "field"`
pub const KIND: ForceKind = ForceKind {
    name: "field",
    doc: "force at the centre of mass of each body, of its `x y z vx vy vz mass` and `t`; of modal bodies at each node",
    keys: &[
        Key::new("bodies", KeyType::Bodies, "", "the bodies"),
        Key::new("force", KeyType::Expressions, "", "of `x y z vx vy vz mass t`, in world axes [N]"),
    ],
    planar: &["bodies = ['a', 'b'], force = ['-mass*x', '-0.5*vy']"],
    spatial: &["bodies = ['a', 'b'], force = ['-mass*x', '-0.5*vy', 'mass*sin(t) + b.x']"],
    read,
};
