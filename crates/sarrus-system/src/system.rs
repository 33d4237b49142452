//! A model compiled: flat lists, places instead of names, nothing that changes with time.

use crate::body::BodyKind;
use crate::compile::DriverEfforts;
use crate::constraint::Rows;
use crate::contact::rigid::{RigidContactPoint, Sliding};
use crate::contact::{ContactElement, ENERGY_STATES, SurfaceEntry};
use crate::controllers::Controller;
use crate::events::Events;
use crate::flexible::modal::floating::Floating;
use crate::formula::Formula;
use crate::load::Load;
use crate::mechanism::Mechanism;
use crate::names::Directory;
use crate::primitive::Compound;
use sarrus_math::quat_to_euler;
use sarrus_solve::{GroupKind, State, Structure, StructureBuilder, StructureError};
use std::collections::HashMap;
use std::sync::Arc;

/// Holds what an element of rows came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// `[joints]`
    Joint,
    /// `[constraints]`
    Constraint,
    /// `[drivers]`
    Driver,
    /// A coordinate of a joint that an event has locked.
    Lock,
    /// A place of `[contacts]` that stays closed.
    Contact,
    /// Inside a flexible member: written by no user.
    Internal,
    /// A value of `[initial]`, kept during assembly.
    Hold,
}

impl Family {
    /// `joint`, `constraint`, ...
    pub fn name(self) -> &'static str {
        match self {
            Family::Joint => "joint",
            Family::Constraint => "constraint",
            Family::Driver => "driver",
            Family::Lock => "lock",
            Family::Contact => "contact",
            Family::Internal => "element",
            Family::Hold => "initial value",
        }
    }
}

/// The number of an element that the model does not have: a value kept during assembly.
pub const NO_ID: usize = usize::MAX;

/// Rows between bodies.
#[derive(Clone)]
pub struct ConstraintElement {
    /// Its name.
    pub name: String,
    /// Holds what it came from.
    pub family: Family,
    /// Its bodies; 0 is ground.
    pub ids: Vec<u32>,
    /// The rows.
    pub rows: Arc<dyn Rows>,
    /// Friction of a place that slides.
    pub sliding: Option<Arc<Sliding>>,
    /// The place of a rigid contact that it holds, or keeps from slipping.
    pub point: Option<RigidContactPoint>,
    /// Rates α and β of its own for Baumgarte's stabilization \[1/s\].
    pub rates: Option<[f64; 2]>,
    /// Its number among all elements of the model, those that are not enabled included; [`NO_ID`] where it is none of them.
    pub id: usize,
    /// First row in λ.
    pub start: usize,
    /// Per body: first index of its block in J and its columns, `None` for ground.
    pub(crate) blocks: Vec<Option<BlockSlot>>,
}

impl ConstraintElement {
    /// An element that is not laid out yet.
    pub fn new(name: String, family: Family, ids: Vec<u32>, rows: Arc<dyn Rows>) -> Self {
        ConstraintElement {
            name,
            family,
            ids,
            rows,
            sliding: None,
            point: None,
            rates: None,
            id: NO_ID,
            start: 0,
            blocks: vec![],
        }
    }

    /// Copies blocks of `rows` × `wide`, one body after the other, to their places in an array laid out as J, dropping the columns
    /// that a body lacks.
    pub(crate) fn scatter(&self, rows: usize, wide: usize, from: &[f64], J: &mut [f64]) {
        for (i, block) in self.blocks.iter().enumerate() {
            let Some(block) = block else { continue };
            let from = &from[i * rows * wide..(i + 1) * rows * wide];
            if block.columns == wide && block.stride == wide {
                J[block.offset..block.offset + rows * wide].copy_from_slice(from);
            } else {
                for (i, from) in from.chunks_exact(wide).enumerate() {
                    let to = &mut J[block.offset + i * block.stride..][..block.columns];
                    to.copy_from_slice(&from[..block.columns]);
                }
            }
        }
    }
}

/// Marks where a body's block of an element goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockSlot {
    /// Its first number.
    pub offset: usize,
    /// Describes how many columns the body has.
    pub columns: usize,
    /// From one row to the next: more than that where bodies share a block.
    pub stride: usize,
}

/// A force on bodies.
#[derive(Clone)]
pub struct ForceElement {
    /// Its name.
    pub name: String,
    /// Its bodies.
    pub ids: Vec<u32>,
    /// Holds what it does.
    pub load: Arc<dyn Load>,
    /// True if it is the constraints' own non-ideal force, C of M v̇ = Q + C - Jᵀλ.
    pub nonideal: bool,
    /// True if it acts.
    pub enabled: bool,
}

impl ForceElement {
    /// A force that was read, called `name`.
    pub(crate) fn new(name: String, force: crate::forces::BuiltForce) -> Self {
        ForceElement { name, ids: force.ids, load: force.load, nonideal: force.nonideal, enabled: true }
    }
}

/// A controller with its places.
#[derive(Clone)]
pub struct ControllerElement {
    /// Its name.
    pub name: String,
    /// Bodies that its expressions read.
    pub ids: Vec<u32>,
    /// Holds what it does.
    pub controller: Arc<dyn Controller>,
    /// First of its states in x.
    pub x: usize,
    /// First of its outputs among the outputs; its states follow them.
    pub out: usize,
    /// Names of its outputs and states, with their places among the outputs.
    pub outputs: Vec<(String, usize)>,
    /// Places among the outputs that its outputs read directly.
    pub reads: Vec<usize>,
}

impl ControllerElement {
    /// The states that can be read, with their places among the outputs: the first of its states in x.
    pub fn named_states(&self) -> &[(String, usize)] {
        &self.outputs[self.controller.outputs().len()..]
    }
}

/// Describes how near a body is to where its Euler angles zxz are singular.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearSingular {
    /// Its number.
    pub body: u32,
    /// |sin β|.
    pub sin_beta: f64,
    /// Time \[s\].
    pub t: f64,
}

/// Places in x of the energy accounting: work done on the mechanism, energy dissipated.
pub const WORK: usize = 0;
/// Energy dissipated, in x.
pub const DISSIPATED: usize = 1;
/// First state that a controller may have.
pub const FIRST_STATE: usize = 2;

/// Holds what a model has beyond what acts at the moment: events may enable it.
#[derive(Default)]
pub struct AllElements {
    /// Every joint, constraint and driver, by [`ConstraintElement::id`].
    pub elements: Vec<ConstraintElement>,
    /// Identifies which of them act when a run starts.
    pub enabled: Vec<bool>,
    /// Holds what happens on the way.
    pub events: Events,
}

/// The compiled model.
pub struct System {
    /// Names, bodies, joints.
    pub directory: Arc<Directory>,
    /// Gravity \[m/s²\].
    pub gravity: [f64; 3],
    /// Rows that act, in the order of λ.
    pub elements: Vec<ConstraintElement>,
    /// All that the model has.
    pub all: Arc<AllElements>,
    /// Place among `elements` by [`ConstraintElement::id`]; none of what does not act.
    element_index: Vec<Option<usize>>,
    /// Places among `elements` of what slides.
    pub(crate) slides: Vec<usize>,
    /// Numbers of what does not act.
    pub(crate) idle: Vec<usize>,
    /// Forces, also those that do not act.
    pub forces: Vec<ForceElement>,
    /// Every surface that can be touched, in the order of the bodies.
    pub surfaces: Arc<Vec<SurfaceEntry>>,
    /// Contacts, also those that do not act.
    pub contacts: Vec<ContactElement>,
    /// Controllers, in an order in which each reads only earlier ones.
    pub controllers: Vec<ControllerElement>,
    /// Sizes and block pattern.
    pub structure: Structure,
    /// By body, its block of M; the ground has none.
    columns: Vec<usize>,
    /// Width of a Jacobian block before the columns a body lacks are dropped: 6, planar 3.
    pub wide: usize,
    /// Hints in the model pose.
    pub discrete: Vec<f64>,
    /// Number of controllers' outputs and states together.
    pub outs: usize,
    /// Time at which a run starts \[s\].
    pub t_start: f64,
    /// States of controllers at the start, from `FIRST_STATE` on, and the energy accounts of contacts.
    pub states: Vec<f64>,
    /// Drivers by the number of their element in [`System::all`], with the names of their rows' efforts.
    pub efforts: DriverEfforts,
    /// Formulas of drivers, constraints, forces and controllers that read the time.
    pub timed: Vec<Formula>,
}

/// Returns whether heat may arise where nothing shows in the motion, as of friction that reverses.
fn may_dissipate_without_motion(directory: &Directory, forces: &[ForceElement]) -> bool {
    forces.iter().any(|f| f.load.dissipates_without_motion())
        || directory.joints.iter().flat_map(|joint| &joint.friction).any(Option::is_some)
}

impl System {
    /// Returns whether heat may arise where nothing shows in the motion, as of friction that reverses.
    pub fn dissipates_without_motion(&self) -> bool {
        may_dissipate_without_motion(&self.directory, &self.forces)
    }

    /// Puts the parts together and lays out q, v, x, λ and J.
    pub(crate) fn build(parts: SystemParts) -> Result<System, StructureError> {
        let SystemParts {
            directory,
            gravity,
            all,
            mut elements,
            forces,
            surfaces,
            contacts,
            controllers,
            discrete,
            outs,
            t_start,
            states,
            efforts,
            timed,
        } = parts;
        let mut builder: StructureBuilder = Structure::builder();
        let mut nq = 0;
        let mut columns = vec![usize::MAX; directory.bodies.len()];
        let modal: HashMap<usize, &Floating> =
            directory.floating.iter().map(|f| (f.frame as usize, f)).collect();
        let mut rotating =
            directory.added.iter().filter(|(_, a)| !a.is_constant()).map(|(id, _)| *id as usize).peekable();
        for (i, body) in directory.bodies.iter().enumerate().skip(1) {
            if columns[i] == usize::MAX {
                // the bodies of a modal one have a block together
                let shared = modal.get(&i);
                let size = shared.map_or(body.kind.nv(), |f| f.inertia.nv());
                columns[i] = builder.column(size);
                if rotating.next_if_eq(&i).is_some() {
                    builder.varying(columns[i]);
                }
                if let Some(floating) = shared {
                    builder.varying(columns[i]);
                    let own = columns[i];
                    floating.bodies().for_each(|id| columns[id as usize] = own);
                }
            }
            groups(&mut builder, body.kind, body.q, body.v);
            nq += body.kind.nq();
        }
        for element in &mut elements {
            let rows = &element.rows;
            let ids = || element.ids.iter().filter(|&&id| id != 0);
            let mut cols: Vec<usize> = Vec::with_capacity(element.ids.len());
            for (i, &id) in ids().enumerate() {
                let col = columns[id as usize];
                // one body twice is an error that the builder finds; two bodies of one block are not
                if !cols.contains(&col) || ids().take(i).any(|&other| other == id) {
                    cols.push(col);
                }
            }
            builder.row(rows.rows(), rows.holonomic(), &cols);
        }
        // a driver brings what dampers take, so that neither the motion nor the balance of energy tells an error of it
        let driven = elements.iter().any(|e| e.family == Family::Driver);
        if may_dissipate_without_motion(&directory, &forces) || (driven && forces.iter().any(|f| f.enabled)) {
            builder.group(GroupKind::Auxiliary, DISSIPATED, 1);
        }
        // drivers move by themselves: steps that resolve a motion need not resolve the power that it takes
        if elements.iter().any(|element| element.family == Family::Driver) {
            builder.group(GroupKind::Energy, WORK, 1);
        }
        for (start, len) in integrated(&controllers) {
            builder.group(GroupKind::Auxiliary, start, len);
        }
        // impacts are short beside the steps that positions alone would ask for: their energy accounts close only if they count too
        for contact in &contacts {
            builder.group(GroupKind::Auxiliary, contact.x, ENERGY_STATES);
            if contact.count > 0 {
                builder.group(GroupKind::Auxiliary, contact.x + ENERGY_STATES, contact.count);
            }
        }
        let structure = builder.build(nq, FIRST_STATE + states.len())?;
        for (element, row) in elements.iter_mut().zip(&structure.rows) {
            element.start = row.start;
            let entries = &structure.entries[row.entries.clone()];
            element.blocks = element
                .ids
                .iter()
                .map(|&id| {
                    let entry = entries.iter().find(|e| e.col == columns[id as usize])?;
                    let (col, body) = (structure.cols[entry.col], &directory.bodies[id as usize]);
                    let offset = entry.offset + body.v - col.start;
                    Some(BlockSlot { offset, columns: body.kind.nv(), stride: col.size })
                })
                .collect();
        }
        let mut indices = vec![None; all.elements.len()];
        for (i, element) in elements.iter().enumerate() {
            if let Some(index) = indices.get_mut(element.id) {
                *index = Some(i);
            }
        }
        let slides = (0..elements.len()).filter(|&i| elements[i].sliding.is_some()).collect();
        let idle = (0..indices.len()).filter(|&id| indices[id].is_none()).collect();
        let wide = if directory.space == sarrus_model::Space::Planar { 3 } else { 6 };
        Ok(System {
            directory,
            gravity,
            all,
            element_index: indices,
            slides,
            idle,
            elements,
            forces,
            surfaces,
            contacts,
            controllers,
            structure,
            columns,
            wide,
            discrete,
            outs,
            t_start,
            states,
            efforts,
            timed,
        })
    }

    /// The same mechanism with other rows: the assembly adds the values to be kept, events lock joints.
    pub fn with_elements(&self, elements: Vec<ConstraintElement>) -> Result<System, StructureError> {
        self.with_parts(elements, self.forces.clone(), self.contacts.clone())
    }

    /// The same mechanism with other rows, and other forces and contacts acting.
    pub fn with_parts(
        &self,
        elements: Vec<ConstraintElement>,
        forces: Vec<ForceElement>,
        contacts: Vec<ContactElement>,
    ) -> Result<System, StructureError> {
        System::build(SystemParts {
            directory: self.directory.clone(),
            gravity: self.gravity,
            all: self.all.clone(),
            elements,
            forces,
            surfaces: self.surfaces.clone(),
            contacts,
            controllers: self.controllers.clone(),
            discrete: self.discrete.clone(),
            outs: self.outs,
            t_start: self.t_start,
            states: self.states.clone(),
            efforts: self.efforts.clone(),
            timed: self.timed.clone(),
        })
    }

    /// Adds a force that no file can say: see [`ClosureForce`](crate::forces::ClosureForce).
    ///
    /// ```
    /// use sarrus_math::Vec3;
    /// use sarrus_system::forces::ClosureForce;
    ///
    /// # fn example(mut system: sarrus_system::System) {
    /// let bob = system.directory.body("bob").expect("a body of the model");
    /// // a wind that grows with height
    /// let wind = ClosureForce::on(vec![bob], |at, wrenches| {
    ///     wrenches[0].force += Vec3([0.1 * at.pose(0).p.z(), 0.0, 0.0]);
    /// });
    /// system.add_force("wind", wind);
    /// # }
    /// ```
    pub fn add_force(&mut self, name: &str, force: crate::forces::BuiltForce) {
        self.forces.push(ForceElement::new(name.to_owned(), force));
    }

    /// The place in x of a value that is set from outside, by its path: `X.out` of a controller `X` of kind `input`, or `X.name`.
    pub fn input(&self, path: &str) -> Option<usize> {
        let (name, own) = path.rsplit_once('.')?;
        let element = self.controllers.iter().find(|c| c.name == name && c.controller.is_input())?;
        let index = element.named_states().iter().position(|(state, _)| state == own)?;
        Some(element.x + index)
    }

    /// The model pose, at rest, at the start of the run.
    pub fn start(&self) -> State {
        let mut state = State::zeros(&self.structure);
        state.t = self.t_start;
        for body in &self.directory.bodies {
            let (p, q, angle) = body.start;
            let out = &mut state.q[body.q..body.q + body.kind.nq()];
            match body.kind {
                BodyKind::Ground => {}
                BodyKind::Rigid => {
                    out[..3].copy_from_slice(&p);
                    out[3..].copy_from_slice(&q);
                }
                BodyKind::RigidEuler => {
                    out[..3].copy_from_slice(&p);
                    out[3..].copy_from_slice(&quat_to_euler(&q, [0.0; 3]));
                }
                BodyKind::PlanarRigid => out.copy_from_slice(&[p[0], p[1], angle]),
                BodyKind::Point => out.copy_from_slice(&p),
                BodyKind::PlanarPoint => out.copy_from_slice(&p[..2]),
            }
        }
        state.x[FIRST_STATE..].copy_from_slice(&self.states);
        state
    }

    /// Times after `from` and up to `to` at which a driver, constraint, force or controller switches because of the
    /// time alone, in ascending order: its value or a derivative may jump there. Each is the first floating point
    /// number on the new side. Among them are times around short features, such as a pulse, which a step might else pass over.
    pub fn breakpoints(&self, from: f64, to: f64) -> Vec<f64> {
        let mut all = Vec::new();
        let mut own = Vec::new();
        for formula in &self.timed {
            own.clear();
            formula.breakpoints(from, to.next_up(), &mut own);
            let at_end = own.contains(&to);
            own.retain(|t| *t > from && *t < to);
            formula.features([from, to], &own, &mut all);
            all.extend_from_slice(&own);
            all.extend(at_end.then_some(to));
        }
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// The body nearest to where its Euler angles zxz are singular, sin β = 0; none where no body has such angles.
    pub fn nearest_singular(&self, s: &State) -> Option<NearSingular> {
        let bodies = self.directory.bodies.iter().enumerate();
        bodies
            .filter(|(_, body)| body.kind == BodyKind::RigidEuler)
            .map(|(i, body)| NearSingular { body: i as u32, sin_beta: s.q[body.q + 4].sin().abs(), t: s.t })
            .min_by(|a, b| a.sin_beta.total_cmp(&b.sin_beta))
    }

    /// A copy of the mechanism to compute with.
    pub fn mechanism(self: &Arc<Self>) -> Mechanism {
        Mechanism::new(self.clone())
    }

    /// Rows that hold joints with play in the middle of it, for the start of a run.
    pub fn centring(&self) -> Vec<ConstraintElement> {
        let joints = self.directory.joints.iter().filter(|joint| self.element_index(joint.element).is_some());
        let rows = joints.filter_map(|joint| {
            let centre = Arc::new(Compound(joint.clearance.as_ref()?.centre()));
            Some(ConstraintElement::new(joint.name.clone(), Family::Joint, joint.bodies.to_vec(), centre))
        });
        rows.collect()
    }

    /// Index in [`Structure::cols`] of the block that holds the velocities of the body `id`, which is not the ground.
    pub fn column(&self, id: u32) -> usize {
        self.columns[id as usize]
    }

    /// The body whose velocities come first in a block of [`Structure::cols`]: the only one, or the frame of a modal body.
    pub fn first_body(&self, column: usize) -> u32 {
        // in ascending order: bodies come in the order of their velocities
        self.columns[1..].partition_point(|c| *c < column) as u32 + 1
    }

    /// Returns where the velocities of the body `id` begin in its block.
    pub(crate) fn offset(&self, id: u32) -> usize {
        self.directory.bodies[id as usize].v - self.structure.cols[self.column(id)].start
    }

    /// The rows of the element with this number in [`System::all`], where it acts.
    pub fn element(&self, id: usize) -> Option<&ConstraintElement> {
        self.element_index(id).map(|i| &self.elements[i])
    }

    /// Their place among `elements`.
    pub fn element_index(&self, id: usize) -> Option<usize> {
        self.element_index.get(id).copied().flatten()
    }

    /// The element that row `row` of λ belongs to.
    pub fn element_of_row(&self, row: usize) -> Option<&ConstraintElement> {
        self.structure.row_block_of(row).map(|i| &self.elements[i])
    }
}

/// Holds what a system is built from.
pub(crate) struct SystemParts {
    pub directory: Arc<Directory>,
    pub gravity: [f64; 3],
    pub all: Arc<AllElements>,
    pub elements: Vec<ConstraintElement>,
    pub forces: Vec<ForceElement>,
    pub surfaces: Arc<Vec<SurfaceEntry>>,
    pub contacts: Vec<ContactElement>,
    pub controllers: Vec<ControllerElement>,
    pub discrete: Vec<f64>,
    pub outs: usize,
    pub t_start: f64,
    pub states: Vec<f64>,
    pub efforts: DriverEfforts,
    pub timed: Vec<Formula>,
}

/// The states of controllers that are integrated, as stretches of x: start and length. Those that are held have no error.
fn integrated(controllers: &[ControllerElement]) -> Vec<(usize, usize)> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for element in
        controllers.iter().filter(|c| c.controller.sampling().is_none() && !c.controller.is_input())
    {
        let n = element.controller.states();
        match stretches.last_mut() {
            Some((start, len)) if *start + *len == element.x => *len += n,
            _ if n > 0 => stretches.push((element.x, n)),
            _ => {}
        }
    }
    stretches
}

/// Error-norm groups of a body of some kind with its coordinates from `q` and velocities from `v` on: whole vectors, so that the
/// world's axes do not matter.
pub(crate) fn groups(builder: &mut StructureBuilder, kind: BodyKind, q: usize, v: usize) {
    match kind {
        BodyKind::Ground => {}
        BodyKind::Rigid => {
            builder.group(GroupKind::Position, q, 3);
            builder.group(GroupKind::Rotation, q + 3, 4);
            builder.group(GroupKind::Velocity, v, 3);
            builder.group(GroupKind::AngularVelocity, v + 3, 3);
        }
        BodyKind::RigidEuler => {
            builder.group(GroupKind::Position, q, 3);
            builder.group(GroupKind::Angle, q + 3, 3);
            builder.group(GroupKind::Velocity, v, 3);
            builder.group(GroupKind::AngularVelocity, v + 3, 3);
        }
        BodyKind::PlanarRigid => {
            builder.group(GroupKind::Position, q, 2);
            builder.group(GroupKind::Angle, q + 2, 1);
            builder.group(GroupKind::Velocity, v, 2);
            builder.group(GroupKind::AngularVelocity, v + 2, 1);
        }
        BodyKind::Point | BodyKind::PlanarPoint => {
            builder.group(GroupKind::Position, q, kind.nq());
            builder.group(GroupKind::Velocity, v, kind.nv());
        }
    }
}
