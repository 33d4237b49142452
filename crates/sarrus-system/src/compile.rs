//! Model to system: names become places, kinds become rows and forces.

use crate::added_mass::AddedMass;
use crate::armature;
use crate::bodies::read_bodies;
use crate::body::{Body, BodyKind};
use crate::constraint::Constraint;
use crate::constraints::{self, BuiltRows, coupler::Coupler, gear::GearMesh};
use crate::contact::{self, ContactElement};
use crate::context::Context;
use crate::controllers;
use crate::coordinate::CoordinateRef;
use crate::drivers::{self, Efforts};
use crate::events::Events;
use crate::flexible::{self, Member};
use crate::forces;
use crate::joint::{AxisRole, JointFace, PointJoint};
use crate::joints::{self, frames};
use crate::names::{Directory, JointEntry, Named};
use crate::primitive::Compound;
use crate::row_options::{self, JOINT_KEYS, ROW_KEYS};
use crate::separation::Separation;
use crate::signal::PointDistance;
use crate::system::{
    AllElements, ConstraintElement, ControllerElement, FIRST_STATE, Family, ForceElement, System, SystemParts,
};
use sarrus_model::record::ResolvedValue;
use sarrus_model::settings::{Rotation, RunSettings};
use sarrus_model::{Diagnostic, Element, Key, Model, Reader, Result, Space};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Errors reported at once; more would only repeat themselves.
const MOST_ERRORS: usize = 20;

/// Collects errors while the rest of the model is still read.
#[derive(Default)]
struct ErrorCollector(Vec<Diagnostic>);

impl ErrorCollector {
    fn ok_or_record<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                if self.0.len() < MOST_ERRORS {
                    self.0.push(error);
                }
                None
            }
        }
    }

    fn check(&mut self) -> std::result::Result<(), Vec<Diagnostic>> {
        if self.0.is_empty() { Ok(()) } else { Err(std::mem::take(&mut self.0)) }
    }
}

/// Compiles a model.
pub fn compile(model: &Model) -> std::result::Result<System, Vec<Diagnostic>> {
    let run = RunSettings::read(model).map_err(|e| vec![e])?;
    let mut bodies = read_bodies(model)?;
    sarrus_model::fluids::check(model)?;
    let members = flexible::read(model, &mut bodies)?;
    let rotors = armature::read(model, &mut bodies)?;
    if run.rotation == Rotation::EulerZxz {
        use_euler_angles(&mut bodies);
    }
    if bodies.len() == 1 {
        let error = Diagnostic::bare("the model has no bodies");
        return Err(vec![
            error.hint("add one under [bodies], such as `bar = { from = [0, 0], to = [1, 0], mass = 1 }`"),
        ]);
    }
    let mut errors = ErrorCollector::default();
    refuse_disabled(model, &mut errors);
    let is_enabled = |element: &Element| Reader::open(model, element).flag_or("enabled", true);
    let mut discrete = Vec::new();
    let mut directory = Directory::new(model.space, bodies, run.t_start());
    let mut elements: Vec<ConstraintElement> = Vec::new();
    let mut enabled: Vec<bool> = Vec::new();
    members.iter().for_each(|member| directory.add_member(member));

    // joints first: everything else may read their coordinates
    let mut known = HashMap::new();
    for element in &model.joints {
        let joint = joint(model, element, &directory, &mut discrete, &mut known).and_then(|(entry, rows)| {
            let of = |built| row_element(model, element, Family::Joint, built);
            Ok((entry, rows.into_iter().map(of).collect::<Result<Vec<_>>>()?))
        });
        if let Some((mut entry, rows)) = errors.ok_or_record(joint) {
            entry.element = elements.len();
            elements.extend(rows);
            enabled.resize(elements.len(), errors.ok_or_record(is_enabled(element)).unwrap_or(true));
            directory.add(&element.name, Named::Joint(directory.joints.len()));
            directory.joints.push(entry);
        }
    }
    errors.check()?;
    for member in &members {
        elements.extend(inside(member, &mut directory, elements.len()));
    }
    enabled.resize(elements.len(), true);
    for rotor in &rotors {
        elements.push(rotor.tie(model, &mut directory));
        enabled.push(enabled[directory.joints[rotor.joint].element]);
    }

    // names that expressions may read
    for element in model.forces.iter().chain(&model.drivers) {
        let what = if matches!(element.section, sarrus_model::Section::Drivers) { "driver" } else { "force" };
        let pair = errors.ok_or_record(pair(model, element, &directory)).flatten();
        directory.add(&element.name, pair.unwrap_or(Named::Other(what)));
    }
    for element in &model.constraints {
        directory.add(&element.name, Named::Other("constraint"));
    }
    for element in &model.measures {
        let named = match crate::measures::expression(model, element) {
            Some(expr) => errors.ok_or_record(expr).map(|expr| Named::Measure(Box::new(expr))),
            None => Some(Named::Other("measure")),
        };
        if let Some(named) = named {
            directory.add(&element.name, named);
        }
    }
    for element in &model.contacts {
        directory.add(&element.name, contact::read::named());
    }
    let mut outs = 0;
    for element in &model.controllers {
        if let Some(outputs) = errors.ok_or_record(controllers::outputs(model, element, outs)) {
            outs += outputs.len();
            directory.add(&element.name, Named::Controller(outputs));
        }
    }
    errors.check()?;
    directory.discrete = discrete.len();

    // rows, and forces that act in place of such
    let mut meshes = Vec::new();
    for element in &model.constraints {
        let built = with_kind(
            model,
            element,
            &directory,
            constraints::KINDS.iter().map(|k| (k.name, k.keys, k.read)),
            ROW_KEYS,
        )
        .and_then(|(mut ctx, read)| read(&mut ctx, &mut discrete));
        let on = errors.ok_or_record(is_enabled(element)).unwrap_or(true);
        let built = errors.ok_or_record(built.and_then(|b| moving(model, element, b)));
        if let Some(mesh) = built.as_ref().and_then(|b| b.mesh.as_ref().map(|mesh| (mesh, b))) {
            note_mesh(&mut directory, &element.name, mesh, elements.len());
        }
        match built {
            Some(BuiltRows { ids, instead: Some(load), .. }) => {
                let built = forces::BuiltForce::of(ids, load);
                meshes.push(ForceElement { enabled: on, ..ForceElement::new(element.name.clone(), built) });
            }
            Some(built) => {
                elements.extend(errors.ok_or_record(row_element(model, element, Family::Constraint, built)))
            }
            None => {}
        }
        enabled.resize(elements.len(), on);
        directory.discrete = discrete.len();
    }
    let mut efforts = Vec::new();
    for element in &model.drivers {
        let kinds = drivers::KINDS.iter().map(|k| (k.name, k.keys, k.read));
        let built = with_kind(model, element, &directory, kinds, ROW_KEYS)
            .and_then(|(mut ctx, read)| read(&mut ctx, &mut discrete))
            .and_then(|(built, efforts)| {
                let built = moving(model, element, built)?;
                Ok((row_element(model, element, Family::Driver, built)?, efforts))
            });
        if let Some((rows, names)) = errors.ok_or_record(built) {
            efforts.push((elements.len(), names));
            elements.push(rows);
            enabled.resize(elements.len(), errors.ok_or_record(is_enabled(element)).unwrap_or(true));
        }
    }

    // forces: those of the file, then the springs inside joints
    let mut loads = Vec::new();
    let mut added = BTreeMap::new();
    for element in &model.forces {
        if let Some(built) = errors.ok_or_record(forces::read(model, &directory, element)) {
            let enabled = errors.ok_or_record(is_enabled(element)).unwrap_or(true);
            add_mass(&mut added, &built);
            loads.push(ForceElement { enabled, ..ForceElement::new(element.name.clone(), built) });
        }
    }
    directory.added = added.into_iter().collect();
    loads.append(&mut meshes);
    for (index, element) in model.joints.iter().enumerate() {
        let ctx = Context::new(Reader::open(model, element), &directory);
        for (name, built) in errors.ok_or_record(forces::joint_springs(&ctx, index)).unwrap_or_default() {
            let enabled = enabled[directory.joints[index].element];
            loads.push(ForceElement { enabled, ..ForceElement::new(name, built) });
        }
        let entry = &directory.joints[index];
        if let Some(clearance) = &entry.clearance {
            let built = forces::BuiltForce::of(entry.bodies.to_vec(), clearance.clone());
            let name = format!("{}.clearance", entry.name);
            loads.push(ForceElement { enabled: enabled[entry.element], ..ForceElement::new(name, built) });
        }
    }

    for member in &members {
        for spring in &member.forces {
            let built = forces::BuiltForce::of(member.ids(&spring.bodies), spring.load.clone());
            loads.push(ForceElement::new(spring.name.clone(), built));
        }
    }

    let (controllers, mut states) = control(model, &directory, &mut discrete, &mut errors);
    // only contacts ask for them
    let surfaces = if model.contacts.is_empty() { Vec::new() } else { contact::read::surfaces(&directory) };
    let mut contacts = Vec::new();
    for element in &model.contacts {
        let reader = contact::read::Surfaces { directory: &directory, all: &surfaces };
        let enabled = errors.ok_or_record(is_enabled(element)).unwrap_or(true);
        let x = FIRST_STATE + states.len();
        let read = reader.read(model, element).and_then(|contact| {
            let mut own = (Vec::new(), 0);
            if contact.friction.is_some_and(|friction| friction.has_states()) {
                own = contact::candidates::states(&surfaces, &contact, x + contact::ENERGY_STATES);
                reader.check_states(&Reader::open(model, element), own.1)?;
            }
            Ok((contact, own))
        });
        if let Some((contact, (own, count))) = errors.ok_or_record(read) {
            states.resize(states.len() + contact::ENERGY_STATES + count, 0.0);
            let (contact, own) = (Arc::new(contact), Arc::new(own));
            contacts.push(ContactElement { contact, enabled, x, states: own, count });
        }
    }
    errors.check()?;
    for (id, element) in elements.iter_mut().enumerate() {
        element.id = id;
    }
    let events = Events::read(model, &directory, &elements, &loads, &contacts, &controllers)?;
    let timed = directory.timed_formulas();
    let acting = elements.iter().zip(&enabled).filter(|(_, on)| **on).map(|(e, _)| e.clone()).collect();
    let system = System::build(SystemParts {
        directory: Arc::new(directory),
        gravity: model.gravity,
        all: Arc::new(AllElements { elements, enabled, events }),
        elements: acting,
        forces: loads,
        surfaces: Arc::new(surfaces),
        contacts,
        controllers,
        discrete,
        outs,
        t_start: run.t_start(),
        states,
        efforts,
        timed,
    });
    system.map_err(|error| vec![Diagnostic::bare(format!("the model cannot be laid out: {error}"))])
}

/// Keeps what others read of a mesh whose row, if it has one, is element number `id`.
fn note_mesh(directory: &mut Directory, name: &str, (mesh, built): (&GearMesh, &BuiltRows), id: usize) {
    directory.notes.extend(mesh.note.clone());
    if mesh.radius == 0.0 {
        return;
    }
    let body = |index: usize| built.ids[index] as usize;
    let of = |(factor, c): &(f64, CoordinateRef)| {
        (*factor, CoordinateRef { a: body(c.a), b: body(c.b), ..c.clone() })
    };
    directory.meshes.push(Separation {
        name: name.to_owned(),
        element: built.instead.is_none().then_some(id),
        terms: mesh.separation.iter().map(of).collect(),
        factor: mesh.factor,
        radius: mesh.radius,
    });
}

/// Adds the added mass that bodies have from a force.
fn add_mass(added: &mut BTreeMap<u32, AddedMass>, built: &forces::BuiltForce) {
    let AddedMass { axial, transverse } = built.added_mass;
    if built.added_mass.is_none() {
        return;
    }
    for &id in built.ids.iter().filter(|id| **id != 0) {
        let sum = added.entry(id).or_default();
        sum.axial += axial;
        sum.transverse += transverse;
    }
}

/// Gives spatial bodies Euler angles in place of quaternions, and all of them new places in q.
fn use_euler_angles(bodies: &mut [Body]) {
    let mut q = 0;
    for body in bodies {
        if body.kind == BodyKind::Rigid {
            body.kind = BodyKind::RigidEuler;
        }
        body.q = q;
        q += body.kind.nq();
    }
}

/// Refuses `enabled = false` on what acts always.
fn refuse_disabled(model: &Model, errors: &mut ErrorCollector) {
    for element in [&model.controllers, &model.measures, &model.events].into_iter().flatten() {
        let reader = Reader::open(model, element);
        let enabled = reader.flag_or("enabled", true).and_then(|enabled| {
            let message = || format!("{} cannot be disabled", reader.title());
            if enabled { Ok(()) } else { Err(reader.error("enabled", message())) }
        });
        let hint =
            "joints, constraints, drivers, forces and contacts can; `if = false` leaves any element out";
        errors.ok_or_record(enabled.map_err(|e| e.hint(hint)));
    }
}

/// Opens an element whose kind is in the list; every kind takes the keys `common`.
fn with_kind<'a, F>(
    model: &'a Model,
    element: &'a Element,
    directory: &'a Directory,
    kinds: impl Iterator<Item = (&'static str, &'static [Key], F)> + Clone,
    common: &[Key],
) -> Result<(Context<'a>, F)> {
    match kinds.clone().find(|(name, ..)| *name == element.kind) {
        Some((_, keys, read)) => {
            let keys = [keys, common].concat();
            Ok((Context::new(Reader::new(model, element, &keys)?, directory), read))
        }
        None => Err(unknown_kind(model, element, kinds.map(|(name, ..)| name))),
    }
}

/// The error for a kind that does not exist.
pub(crate) fn unknown_kind(
    model: &Model,
    element: &Element,
    kinds: impl Iterator<Item = &'static str> + Clone,
) -> Diagnostic {
    let reader = Reader::open(model, element);
    let section = element.section;
    if !reader.has("kind") {
        let list: Vec<&str> = kinds.collect();
        return reader.missing("kind").hint(format!("one of: {}", list.join(", ")));
    }
    let message = format!("{} `{}` does not exist", section.singular(), element.kind);
    let near = sarrus_model::suggest::suggest(&element.kind, kinds.clone());
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of: {}", kinds.collect::<Vec<_>>().join(", ")),
    };
    reader.error("kind", format!("kind of {message}")).hint(hint)
}

fn row_element(
    model: &Model,
    element: &Element,
    family: Family,
    built: BuiltRows,
) -> Result<ConstraintElement> {
    let rates = row_options::rates(&Reader::open(model, element))?;
    Ok(ConstraintElement {
        rates,
        ..ConstraintElement::new(element.name.clone(), family, built.ids, built.rows)
    })
}

/// Refuses rows that are on the ground alone.
fn moving(model: &Model, element: &Element, built: BuiltRows) -> Result<BuiltRows> {
    if built.ids.iter().all(|&id| id == 0) {
        return Err(Reader::open(model, element).element_error("constrains no moving body"));
    }
    Ok(built)
}

/// Bodies and points of something between two points, so that others can read its `length` and `speed`.
fn pair(model: &Model, element: &Element, directory: &Directory) -> Result<Option<Named>> {
    let mut ctx = Context::new(Reader::open(model, element), directory);
    if !matches!(element.kind.as_str(), "spring" | "actuator" | "distance") || !ctx.reader.has("bodies") {
        return Ok(None);
    }
    let bodies = ctx.bodies2()?;
    let [r_A, r_B] = ctx.ends(bodies)?;
    Ok(Some(Named::Pair(bodies[0], bodies[1], Box::new(PointDistance { a: 0, r_A, b: 1, r_B }))))
}

/// Reads a joint: its entry and its rows. `known` are the keys of kinds that were read before.
fn joint(
    model: &Model,
    element: &Element,
    directory: &Directory,
    discrete: &mut Vec<f64>,
    known: &mut HashMap<&'static str, Vec<Key>>,
) -> Result<(JointEntry, Vec<BuiltRows>)> {
    let space = model.space;
    let kinds = joints::KINDS.iter().filter(|k| k.space == space);
    let Some(kind) = kinds.clone().find(|k| k.name == element.kind) else {
        let error = unknown_kind(model, element, kinds.map(|k| k.name));
        let elsewhere = joints::KINDS.iter().any(|k| k.name == element.kind);
        let other = if space == Space::Planar { "spatial" } else { "planar" };
        return Err(if elsewhere { error.note(format!("it exists in a {other} model")) } else { error });
    };
    let mut reader = Reader::open(model, element);
    let mut face: Arc<dyn JointFace> = {
        let keys = known.entry(kind.name).or_insert_with(|| with_misplaced(joint_keys(kind)));
        let units = reader.check(keys, true)?;
        if let [only] = kind.coordinates
            && units
        {
            reader.check_units(keys, usize::from(!only.reading.is_length()))?;
        }
        (kind.read)(&mut reader)?.into()
    };
    let mut ctx = Context::new(reader, directory);
    let bodies = ctx.bodies2()?;
    for id in bodies {
        let body = &directory.bodies[id as usize];
        if id != 0
            && !body.kind.rotates()
            && (face.kind() != "spherical")
            && !(space == Space::Planar && face.kind() == "revolute")
        {
            let message =
                format!("body `{}` is a point mass: it cannot carry a {} joint", body.name, face.kind());
            return Err(ctx
                .reader
                .error("bodies", message)
                .hint("use a rigid body, or the constraint `point`"));
        }
    }
    if let Some(&point) = bodies.iter().find(|&&id| id != 0 && !directory.bodies[id as usize].kind.rotates())
    {
        let options = forces::JOINT_OPTION_KEYS.iter().chain(forces::BALL_KEYS);
        match options.map(|key| key.name).find(|key| ctx.reader.has(key)) {
            Some(key) => ctx.require_orientation(point, key)?,
            None => face = Arc::new(PointJoint(face)),
        }
    }
    let frames = frames::read(&ctx, bodies, kind.axis, kind.name != "prismatic")?;
    let (F, M) =
        (frames.F.frame_pose(&ctx.model_pose(bodies[0])), frames.M.frame_pose(&ctx.model_pose(bodies[1])));
    let mut readings = Vec::new();
    for coordinate in face.coordinates() {
        let raw = coordinate.reading.value(&F, &M);
        let given = option(&ctx, face.as_ref(), coordinate.name, "reads")?;
        // a pin reads the angle between the bodies unless told otherwise, everything else 0
        let between = coordinate.reading == crate::coordinate::Reading::PlanarAngle;
        let reads = given.unwrap_or(if between { raw } else { 0.0 });
        // also 0: the angle to the body that stands in may be another
        if given.is_none() && between && bodies.iter().any(|&body| ctx.stands_in(body)) {
            ctx.reader.record("reads", || ResolvedValue::Number(reads));
        }
        let discrete_index = coordinate.reading.wraps().then(|| {
            discrete.push(reads);
            discrete.len() as u32 - 1
        });
        readings.push((reads - raw, discrete_index));
    }
    let lock_at = face.coordinates().iter().map(|c| option(&ctx, face.as_ref(), c.name, "lock_at"));
    let lock_at = lock_at.collect::<Result<Vec<_>>>()?;
    let limits = face.coordinates().iter().map(|c| match options(&ctx, face.as_ref(), c.name)? {
        Some(reader) => forces::rigid_limits(&reader),
        None => Ok(None),
    });
    let limits = limits.collect::<Result<Vec<_>>>()?;
    let friction = face.coordinates().iter().map(|c| match options(&ctx, face.as_ref(), c.name)? {
        Some(reader) => forces::reactive_friction(&reader, c.is_angle()),
        None => Ok(None),
    });
    let mut friction = friction.collect::<Result<Vec<_>>>()?;
    if forces::has_isotropic_friction(face.kind()) {
        friction.reserve_exact(1);
        friction.push(forces::reactive_friction(&ctx.reader, true)?);
    }
    let compliance = row_options::compliance(&ctx.reader)?;
    let clearance =
        forces::Clearance::read(&ctx.reader, directory, face.as_ref(), frames, discrete)?.map(Arc::new);
    let name = element.name.clone();
    let entry = JointEntry {
        name,
        face,
        frames,
        bodies,
        readings,
        element: 0,
        lock_at,
        limits,
        clearance,
        friction,
        compliance,
    };
    let own = entry.clearance.as_ref().map_or_else(|| entry.face.rows(&frames), |clearance| clearance.rest());
    let mut rows = vec![BuiltRows::new(bodies.to_vec(), Compound(own))];
    if let Some(factors) = entry.face.coupling() {
        let terms: Vec<_> =
            factors.iter().enumerate().map(|(k, &f)| (f, entry.coordinate(k, 0, 1))).collect();
        let mut row = Coupler { terms, value: 0.0, unit: "", own_discrete: vec![] };
        let mut sum = [0.0];
        constraints::in_model_pose(&ctx, &bodies, discrete, |at| row.residual(at, &mut sum));
        row.value = sum[0];
        rows.push(BuiltRows::new(bodies.to_vec(), row));
    }
    Ok((entry, rows))
}

/// The rows inside a flexible member, from number `first` on: of its joints, which join those of the model, and the others.
fn inside(member: &Member, directory: &mut Directory, first: usize) -> Vec<ConstraintElement> {
    let mut elements = Vec::new();
    for hinge in &member.joints {
        let bodies = hinge.bodies.map(|index| member.id + index as u32);
        directory.add(&hinge.name, Named::Joint(directory.joints.len()));
        directory.joints.push(JointEntry {
            name: hinge.name.clone(),
            face: hinge.face.clone(),
            frames: hinge.frames,
            bodies,
            readings: vec![(0.0, None); hinge.face.coordinates().len()],
            element: first + elements.len(),
            lock_at: vec![None; hinge.face.coordinates().len()],
            limits: vec![None; hinge.face.coordinates().len()],
            clearance: None,
            friction: vec![None; hinge.face.coordinates().len()],
            compliance: None,
        });
        let rows = Arc::new(Compound(hinge.face.rows(&hinge.frames)));
        elements.push(ConstraintElement::new(hinge.name.clone(), Family::Joint, bodies.to_vec(), rows));
    }
    for part in &member.rows {
        let (name, ids) = (part.name.clone(), member.ids(&part.bodies));
        elements.push(ConstraintElement::new(name, Family::Internal, ids, part.rows.clone()));
    }
    elements
}

/// Every key that a joint of the kind takes.
pub fn joint_keys(kind: &joints::JointKind) -> Vec<Key> {
    let mut keys = frames::KEYS.to_vec();
    match kind.axis {
        AxisRole::None => {}
        AxisRole::Z | AxisRole::X => keys.extend_from_slice(frames::AXIS_KEYS),
        AxisRole::ZX | AxisRole::Cross => {
            keys.extend_from_slice(frames::AXIS_KEYS);
            keys.extend_from_slice(frames::AXIS2_KEYS);
        }
    }
    keys.extend_from_slice(kind.keys);
    match kind.coordinates {
        [] if forces::has_isotropic_friction(kind.name) => keys.extend_from_slice(forces::BALL_KEYS),
        [] => {}
        [_] => keys.extend_from_slice(forces::JOINT_OPTION_KEYS),
        several => {
            let named = |key: &&Key| several.iter().any(|c| c.name == key.name);
            keys.extend(forces::COORDINATE_KEYS.iter().filter(named).copied());
        }
    }
    keys.extend_from_slice(JOINT_KEYS);
    keys.extend_from_slice(ROW_KEYS);
    if forces::has_clearance(kind.name) {
        keys.extend_from_slice(forces::CLEARANCE_OPTION);
    }
    keys
}

/// Those keys, and the options that a joint with other coordinates takes: [`forces::joint_springs`] says where they
/// belong.
fn with_misplaced(mut keys: Vec<Key>) -> Vec<Key> {
    let options = forces::JOINT_OPTION_KEYS.iter().chain(forces::COORDINATE_KEYS);
    for option in options.chain(forces::CLEARANCE_OPTION) {
        if !keys.iter().any(|key| key.name == option.name) {
            keys.push(Key { doc: "not available here", ..*option });
        }
    }
    keys
}

/// Returns what the file says of a coordinate under `key`, such as what it reads in the model pose.
fn option(ctx: &Context, face: &dyn JointFace, coordinate: &str, key: &str) -> Result<Option<f64>> {
    match options(ctx, face, coordinate)? {
        Some(options) => options.number_opt(key),
        None => Ok(None),
    }
}

/// The table that has the options of a coordinate.
fn options<'a>(ctx: &Context<'a>, face: &dyn JointFace, coordinate: &str) -> Result<Option<Reader<'a>>> {
    if face.coordinates().len() == 1 {
        return Ok(Some(ctx.reader.clone()));
    }
    ctx.reader.sub(coordinate, forces::JOINT_OPTION_KEYS)
}

/// Reads the controllers and puts each after those that it reads.
fn control(
    model: &Model,
    directory: &Directory,
    discrete: &mut Vec<f64>,
    errors: &mut ErrorCollector,
) -> (Vec<ControllerElement>, Vec<f64>) {
    let mut built = Vec::new();
    for element in &model.controllers {
        let kinds = controllers::KINDS.iter().map(|k| (k.name, k.keys, k.read));
        let read =
            with_kind(model, element, directory, kinds, &[]).and_then(|(mut ctx, read)| read(&mut ctx));
        if let Some(controller) = errors.ok_or_record(read) {
            built.push((element, controller));
        }
    }
    let order = match controllers::order(&built.iter().map(|(_, b)| b).collect::<Vec<_>>()) {
        Ok(order) => order,
        Err(cycle) => {
            let names: Vec<&str> = cycle.iter().map(|&i| built[i].0.name.as_str()).collect();
            let reader = Reader::open(model, built[cycle[0]].0);
            let message = format!("controllers read each other in a circle: {}", names.join(" -> "));
            errors.0.push(
                reader.element_error(message).hint("break the circle with a state of an `ode` controller"),
            );
            return (vec![], vec![]);
        }
    };
    let mut states = Vec::new();
    let mut elements = Vec::new();
    for i in order {
        let (element, controller) = &built[i];
        let Some(Named::Controller(outputs)) = directory.get(&element.name) else { continue };
        let sliding = controller.controller.with_discrete_index(discrete.len());
        discrete.extend(sliding.iter().map(|_| 0.0));
        elements.push(ControllerElement {
            name: element.name.clone(),
            ids: controller.ids.clone(),
            controller: sliding.unwrap_or_else(|| controller.controller.clone()),
            x: FIRST_STATE + states.len(),
            out: outputs.first().map_or(0, |(_, slot)| *slot),
            outputs: outputs.clone(),
            reads: controller.reads.clone(),
        });
        states.extend(controller.controller.start());
    }
    (elements, states)
}

/// Names of efforts, by driver.
pub type DriverEfforts = Vec<(usize, Efforts)>;
