//! Names of a model at run time: what a dotted path means.

use crate::added_mass::AddedMass;
use crate::body::{Body, BodyKind};
use crate::coordinate::CoordinateRef;
use crate::flexible::Member;
use crate::flexible::modal::floating::Floating;
use crate::flexible::modal::recover::RecoveredNode;
use crate::forces::{Clearance, StopLimits};
use crate::formula::Formula;
use crate::friction::CoordinateFriction;
use crate::joint::{Frames, JointFace};
use crate::row_options::Compliance;
use crate::separation::Separation;
use crate::signal::{PointDistance, Signal};
use sarrus_model::suggest::suggest;
use sarrus_model::{RuntimeExpr, Space};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// A joint with its index in the system.
#[derive(Clone)]
pub struct JointEntry {
    /// Its name.
    pub name: String,
    /// Holds what it does.
    pub face: Arc<dyn JointFace>,
    /// Its frames.
    pub frames: Frames,
    /// First and second body.
    pub bodies: [u32; 2],
    /// Per coordinate: offset of the reading, and place of its hint.
    pub readings: Vec<(f64, Option<u32>)>,
    /// Number of its rows among all elements of the model.
    pub element: usize,
    /// Per coordinate: the value at which it locks, if it does \[m, rad\].
    pub lock_at: Vec<Option<f64>>,
    /// Per coordinate: its rigid limits, if it has such.
    pub limits: Vec<Option<StopLimits>>,
    /// Its play, if it has any.
    pub clearance: Option<Arc<Clearance>>,
    /// Per coordinate: its friction that depends on the reaction, if it has such; of a ball joint one against every turn.
    pub friction: Vec<Option<CoordinateFriction>>,
    /// Extent to which it gives way under its reaction, where the model says so.
    pub compliance: Option<Compliance>,
}

impl JointEntry {
    /// Coordinate `k` for a reader that has the joint's bodies at places `a` and `b`.
    pub fn coordinate(&self, k: usize, a: usize, b: usize) -> CoordinateRef {
        let (offset, discrete_index) = self.readings[k];
        let reading = self.face.coordinates()[k].reading;
        CoordinateRef { frames: self.frames, reading, offset, discrete_index, a, b }
    }

    /// Index of the coordinate called `name`.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.face.coordinates().iter().position(|c| c.name == name)
    }
}

/// A flexible member: the bodies it is made of.
#[derive(Clone, Debug)]
pub struct FlexibleEntry {
    /// Its name.
    pub name: String,
    /// Holds what its bodies are called after the dot: `node`, `seg`.
    pub part: &'static str,
    /// The number of the first of them.
    pub first: usize,
    /// Its bodies by number, those of the model.
    pub bodies: Range<u32>,
    /// The same with internal ones, which carry mass too.
    pub all: Range<u32>,
}

impl FlexibleEntry {
    /// The names of its bodies, in words.
    pub fn parts(&self) -> String {
        let (name, last) = (&self.name, self.first + self.bodies.len() - 1);
        let part = |k: usize| format!("`{name}.{}{k}`", self.part);
        if last == self.first {
            return format!("{}, also called `{name}.start` and `{name}.end`", part(last));
        }
        format!("{} to {}, `{name}.start` and `{name}.end`", part(self.first), part(last))
    }
}

/// Holds what a name stands for.
#[derive(Clone, Debug)]
pub enum Named {
    /// A body.
    Body(u32),
    /// Index among the joints.
    Joint(usize),
    /// Something between two points, with readable `length` and `speed`: bodies and points.
    Pair(u32, u32, Box<PointDistance>),
    /// A controller: its outputs and states as places among the outputs.
    Controller(Vec<(String, usize)>),
    /// Index among the flexible members.
    Flexible(usize),
    /// Index among the nodes of modal bodies that are shown.
    Node(usize),
    /// A measure made of an expression.
    Measure(Box<RuntimeExpr>),
    /// Anything else: it has readings only in results.
    Other(&'static str),
}

/// All names.
pub struct Directory {
    /// Planar or spatial.
    pub space: Space,
    /// Bodies; 0 is ground.
    pub bodies: Vec<Body>,
    /// Joints.
    pub joints: Vec<JointEntry>,
    /// Flexible members.
    pub flexible: Vec<FlexibleEntry>,
    /// Modal bodies.
    pub floating: Vec<Floating>,
    /// Nodes of theirs that are shown.
    pub shown: Vec<RecoveredNode>,
    /// Added mass of the fluid around bodies, by number in ascending order.
    pub added: Vec<(u32, AddedMass)>,
    /// Gears and racks with a pitch point.
    pub meshes: Vec<Separation>,
    /// Holds what of the model's geometry does not fit.
    pub notes: Vec<String>,
    /// Number of discrete variables so far.
    pub discrete: usize,
    /// Time at which a run starts \[s\].
    pub t_start: f64,
    names: HashMap<String, Named>,
    /// Formulas that read the time, collected while a model is compiled.
    timed: Mutex<Vec<Formula>>,
}

const AXES: [&str; 3] = ["x", "y", "z"];
const VELOCITIES: [&str; 3] = ["vx", "vy", "vz"];
const OMEGAS: [&str; 3] = ["wx", "wy", "wz"];
const ACCELERATIONS: [&str; 3] = ["ax", "ay", "az"];
const ALPHAS: [&str; 3] = ["alphax", "alphay", "alphaz"];
const QUATERNION: [&str; 4] = ["q0", "q1", "q2", "q3"];

fn index(list: &[&str], word: &str) -> Option<usize> {
    list.iter().position(|&w| w == word)
}

/// The velocity of a body, marker or node whose derivative is called `word`.
fn velocity_word(word: &str) -> Option<&'static str> {
    let linear = index(&ACCELERATIONS, word).map(|i| VELOCITIES[i]);
    let angular = || index(&ALPHAS, word).map(|i| OMEGAS[i]);
    linear.or_else(angular).or_else(|| (word == "alpha").then_some("rate"))
}

impl Directory {
    /// An empty directory with the bodies in it.
    pub fn new(space: Space, bodies: Vec<Body>, t_start: f64) -> Self {
        let named = bodies.iter().enumerate().filter(|(_, b)| !b.is_internal());
        let names = named.map(|(i, b)| (b.name.clone(), Named::Body(i as u32))).collect();
        let (joints, flexible, floating, shown) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Directory {
            space,
            bodies,
            joints,
            flexible,
            floating,
            added: Vec::new(),
            meshes: Vec::new(),
            notes: Vec::new(),
            shown,
            discrete: 0,
            t_start,
            names,
            timed: Mutex::default(),
        }
    }

    /// Adds a flexible member whose bodies are there.
    pub(crate) fn add_member(&mut self, member: &Member) {
        let [bodies, all] = member.numbers();
        let name = member.name.clone();
        self.add(&name, Named::Flexible(self.flexible.len()));
        self.add(&format!("{name}.start"), Named::Body(bodies.start));
        self.add(&format!("{name}.end"), Named::Body(bodies.end - 1));
        let (part, first) = (member.part, member.first);
        for (node, shapes) in &member.shown {
            let name = format!("{name}.{node}");
            self.add(&name, Named::Node(self.shown.len()));
            self.shown.push(RecoveredNode { name, floating: self.floating.len(), shapes: shapes.clone() });
        }
        self.floating.extend(member.floating.clone());
        self.flexible.push(FlexibleEntry { name, part, first, bodies, all });
    }

    /// Keeps a formula that reads the time.
    pub(crate) fn note(&self, formula: &Formula) {
        self.timed.lock().unwrap_or_else(PoisonError::into_inner).push(formula.clone());
    }

    /// Hands out the formulas that read the time, bound so far.
    pub(crate) fn timed_formulas(&self) -> Vec<Formula> {
        std::mem::take(&mut *self.timed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a name.
    pub fn add(&mut self, name: &str, named: Named) {
        self.names.insert(name.to_owned(), named);
    }

    /// Returns what `name` stands for.
    pub fn get(&self, name: &str) -> Option<&Named> {
        self.names.get(name)
    }

    /// The body called `name`.
    pub fn body(&self, name: &str) -> Option<u32> {
        match self.names.get(name) {
            Some(Named::Body(id)) => Some(*id),
            _ => None,
        }
    }

    /// The body of the marker called `name`, and the marker from its centre of mass \[m\].
    pub fn marker(&self, name: &str) -> Option<(u32, [f64; 3])> {
        let (_, Named::Body(id), marker) = self.find(name)? else { return None };
        let body = &self.bodies[*id as usize];
        let (_, p) = body.markers.iter().find(|(known, _)| known == marker)?;
        Some((*id, body.from_com(*p)))
    }

    /// The modal body that the body `id` belongs to: its frame, or its amplitudes.
    pub fn floating_of(&self, id: u32) -> Option<&Floating> {
        self.floating.iter().find(|f| f.bodies().contains(&id))
    }

    /// The flexible member called `name`.
    pub fn member(&self, name: &str) -> Option<&FlexibleEntry> {
        match self.names.get(name) {
            Some(Named::Flexible(i)) => Some(&self.flexible[*i]),
            _ => None,
        }
    }

    /// A path or pattern that begins with another name of a body, such as `arm.end.x`, with the body's own: `arm.node4.x`.
    pub fn own_name(&self, path: &str) -> String {
        for member in &self.flexible {
            let Some(rest) = path.trim_start_matches('!').strip_prefix(member.name.as_str()) else {
                continue;
            };
            for (word, id) in [(".start", member.bodies.start), (".end", member.bodies.end - 1)] {
                if let Some(rest) =
                    rest.strip_prefix(word).filter(|rest| rest.is_empty() || rest.starts_with('.'))
                {
                    let not = if path.starts_with('!') { "!" } else { "" };
                    return format!("{not}{}{rest}", self.bodies[id as usize].name);
                }
            }
        }
        path.to_owned()
    }

    /// Returns what a node that is shown has as columns.
    pub(crate) fn node_columns(&self) -> &'static [&'static str] {
        if self.space == sarrus_model::Space::Planar {
            &["x", "y", "vx", "vy", "ux", "uy"]
        } else {
            &["x", "y", "z", "vx", "vy", "vz", "ux", "uy", "uz"]
        }
    }

    /// An amplitude of the modal body that the member `i` is: `eta1`, or its rate `eta1_rate`.
    fn amplitude(&self, i: usize, word: &str, index_of: &mut dyn FnMut(u32) -> usize) -> Option<Signal> {
        let floating = self.floating.iter().find(|f| self.flexible[i].all.contains(&f.frame))?;
        let number = word.strip_prefix("eta")?;
        let (number, rate) = number.strip_suffix("_rate").map_or((number, false), |number| (number, true));
        let &(after, k) = floating.amplitudes.get(number.parse::<usize>().ok()?.checked_sub(1)?)?;
        let body = index_of(floating.frame + after as u32);
        // in the plane one may be an angle
        Some(match (k < 3, rate) {
            (true, false) => Signal::Position(body, [0.0; 3], k),
            (true, true) => Signal::Velocity(body, [0.0; 3], k),
            (false, false) => Signal::Angle(body),
            (false, true) => Signal::Omega(body, k - 3),
        })
    }

    /// The joint called `name`.
    pub fn joint(&self, name: &str) -> Option<usize> {
        match self.names.get(name) {
            Some(Named::Joint(i)) => Some(*i),
            _ => None,
        }
    }

    /// The expression of the measure called `name`.
    pub fn measure(&self, name: &str) -> Option<&RuntimeExpr> {
        match self.names.get(name) {
            Some(Named::Measure(expr)) => Some(expr),
            _ => None,
        }
    }

    /// The name nearest to `word`, for hints.
    pub fn suggestion(&self, word: &str) -> Option<String> {
        suggest(word, self.names.keys())
    }

    /// Returns what a point of a body is called: columns of a body.
    pub fn body_columns(&self, body: &Body) -> Vec<&'static str> {
        match body.kind {
            BodyKind::Ground => vec![],
            BodyKind::Rigid | BodyKind::RigidEuler => [&AXES[..], &QUATERNION, &VELOCITIES, &OMEGAS].concat(),
            BodyKind::PlanarRigid => vec!["x", "y", "angle", "vx", "vy", "rate"],
            BodyKind::Point => [&AXES[..], &VELOCITIES].concat(),
            BodyKind::PlanarPoint => vec!["x", "y", "vx", "vy"],
        }
    }

    /// Accelerations that a body has as columns: the derivatives of its velocities.
    pub(crate) fn body_accelerations(&self, body: &Body) -> Vec<&'static str> {
        match body.kind {
            BodyKind::Ground => vec![],
            BodyKind::Rigid | BodyKind::RigidEuler => [ACCELERATIONS, ALPHAS].concat(),
            BodyKind::PlanarRigid => vec!["ax", "ay", "alpha"],
            BodyKind::Point => ACCELERATIONS.to_vec(),
            BodyKind::PlanarPoint => vec!["ax", "ay"],
        }
    }

    /// Accelerations that a joint has as columns.
    pub(crate) fn joint_accelerations(&self, joint: &JointEntry) -> Vec<&'static str> {
        if joint.face.quaternion().is_some() {
            return ALPHAS.to_vec();
        }
        joint.face.coordinates().iter().map(|c| c.accel).collect()
    }

    /// Returns what `path` begins with and the rest of it. Names may have dots themselves (includes): the longest known one wins.
    pub(crate) fn find<'p>(&self, path: &'p str) -> Option<(&'p str, &Named, &'p str)> {
        let mut split = path.len();
        loop {
            if let Some(named) = self.names.get(&path[..split]) {
                return Some((&path[..split], named, path.get(split + 1..).unwrap_or("")));
            }
            split = path[..split].rfind('.')?;
        }
    }

    /// The velocity whose time derivative `path` names, if it names an acceleration: that of `crank.vx` for `crank.ax`.
    pub(crate) fn velocity_of(&self, path: &str, index_of: &mut dyn FnMut(u32) -> usize) -> Option<Signal> {
        match self.find(path)? {
            (_, Named::Body(id), rest) => self.velocity_of_body(*id, rest, index_of),
            (_, Named::Joint(joint), rest) => self.velocity_of_joint(*joint, rest, index_of),
            (name, named @ Named::Node(_), rest) => {
                let velocity = velocity_word(rest)?;
                self.read_named(name, named, velocity, index_of).ok()?.pop()
            }
            _ => None,
        }
    }

    /// The velocity of a body or of one of its markers whose derivative the body calls `rest`.
    pub(crate) fn velocity_of_body(
        &self,
        id: u32,
        rest: &str,
        index_of: &mut dyn FnMut(u32) -> usize,
    ) -> Option<Signal> {
        // a marker of that name is a point
        if self.bodies[id as usize].markers.iter().any(|(marker, _)| marker == rest) {
            return None;
        }
        let (marker, word) =
            rest.rsplit_once('.').map_or((None, rest), |(marker, word)| (Some(marker), word));
        let velocity = velocity_word(word)?;
        let signals = match marker {
            Some(marker) => self.read_body(id, &format!("{marker}.{velocity}"), index_of),
            None => self.read_body(id, velocity, index_of),
        };
        signals?.pop()
    }

    /// The speed of a joint whose derivative it calls `rest`.
    pub(crate) fn velocity_of_joint(
        &self,
        joint: usize,
        rest: &str,
        index_of: &mut dyn FnMut(u32) -> usize,
    ) -> Option<Signal> {
        let face = &self.joints[joint].face;
        let speed = match face.quaternion() {
            Some(_) => OMEGAS[index(&ALPHAS, rest)?],
            None => face.coordinates().iter().find(|c| c.accel == rest)?.speed,
        };
        self.read_joint(joint, speed, index_of)?.pop()
    }

    /// The signals of a path: one, or the three components of a point. `place` gives a body's place in the
    /// reader's list.
    pub fn read(&self, path: &str, index_of: &mut dyn FnMut(u32) -> usize) -> Result<Vec<Signal>, String> {
        if let Some((name, named, rest)) = self.find(path) {
            return self.read_named(name, named, rest, index_of).map_err(|message| {
                match self.velocity_of(path, &mut |body| body as usize) {
                    Some(_) => format!(
                        "`{path}` is an acceleration, known only when the equations of motion are solved; measures and events can read it, this cannot"
                    ),
                    None => message,
                }
            });
        }
        let word = path.split('.').next().unwrap_or(path);
        Err(match self.suggestion(word) {
            Some(near) => format!("`{path}` is not known; did you mean `{near}`?"),
            None => format!("`{path}` is not known"),
        })
    }

    fn read_named(
        &self,
        name: &str,
        named: &Named,
        rest: &str,
        index_of: &mut dyn FnMut(u32) -> usize,
    ) -> Result<Vec<Signal>, String> {
        let known = |list: &[&str]| {
            let near = suggest(rest, list.iter().copied());
            let hint = near.map(|n| format!("; did you mean `{name}.{n}`?"));
            let hint = hint.unwrap_or_else(|| format!("; it has {}", list.join(", ")));
            if rest.is_empty() {
                format!("`{name}` is not a number{hint}")
            } else {
                format!("`{name}` has no `{rest}`{hint}")
            }
        };
        match named {
            Named::Body(id) => self.read_body(*id, rest, index_of).ok_or_else(|| {
                let body = &self.bodies[*id as usize];
                let mut list = self.body_columns(body);
                list.extend(body.markers.iter().map(|(marker, _)| marker.as_str()));
                known(&list)
            }),
            Named::Joint(joint) => self.read_joint(*joint, rest, index_of).ok_or_else(|| {
                if matches!(rest, "fx" | "fy" | "fz" | "tx" | "ty" | "tz") {
                    return format!(
                        "`{name}.{rest}` is a reaction, known only after a step; measures can read it, this cannot"
                    );
                }
                known(&self.joint_columns(&self.joints[*joint]))
            }),
            Named::Pair(a, b, distance) => {
                let distance = PointDistance { a: index_of(*a), b: index_of(*b), ..**distance };
                match rest {
                    "length" => Ok(vec![Signal::Length(distance)]),
                    "speed" => Ok(vec![Signal::LengthRate(distance)]),
                    _ => Err(known(&["length", "speed"])),
                }
            }
            Named::Controller(outputs) => match outputs.iter().find(|(output, _)| output == rest) {
                Some((_, slot)) => Ok(vec![Signal::Output(*slot)]),
                None => Err(known(&outputs.iter().map(|(o, _)| o.as_str()).collect::<Vec<_>>())),
            },
            Named::Measure(_) => Err(known(&[])),
            Named::Node(i) => {
                let (shown, fields) = (&self.shown[*i], self.node_columns());
                let signals = shown.read(&self.floating[shown.floating], rest, index_of);
                signals.filter(|_| fields.contains(&rest)).ok_or_else(|| known(fields))
            }
            Named::Flexible(i) => {
                if let Some(signal) = self.amplitude(*i, rest, index_of) {
                    return Ok(vec![signal]);
                }
                if rest.starts_with("element") {
                    return Err(format!("`{name}.{rest}` is known only after a step; measures can read it, this cannot"));
                }
                let parts = self.flexible[*i].parts();
                Err(match rest.split('.').next().unwrap_or("") {
                    "" => format!("`{name}` is not a number; its bodies are {parts}"),
                    word => format!("`{name}` has no `{word}`; its bodies are {parts}"),
                })
            }
            Named::Other(what) => Err(format!("`{name}` is a {what}; its values are known only after a step; measures and events can read them, this cannot")),
        }
    }

    /// The signals of what a body calls `rest`.
    pub(crate) fn read_body(
        &self,
        id: u32,
        rest: &str,
        index_of: &mut dyn FnMut(u32) -> usize,
    ) -> Option<Vec<Signal>> {
        let body = &self.bodies[id as usize];
        let origin = body.from_com([0.0; 3]);
        let dimensions = if self.space == Space::Planar { 2 } else { 3 };
        let point = |r: [f64; 3], word: &str, i: usize| {
            if let Some(axis) = index(&AXES[..dimensions], word) {
                return Some(vec![Signal::Position(i, r, axis)]);
            }
            index(&VELOCITIES[..dimensions], word).map(|axis| vec![Signal::Velocity(i, r, axis)])
        };
        // markers first: a marker's bare name is its position
        let (marker, field) = rest.split_once('.').unwrap_or((rest, ""));
        // a marker from an included file has a dotted name of its own
        let found = body.markers.iter().find(|(m, _)| m == rest || m == marker).or_else(|| {
            body.markers
                .iter()
                .find(|(m, _)| rest.strip_prefix(m.as_str()).is_some_and(|r| r.starts_with('.')))
        });
        if let Some((m, p)) = found {
            let field = if m == marker { field } else { rest[m.len()..].trim_start_matches('.') };
            let (i, r) = (index_of(id), body.from_com(*p));
            if field.is_empty() {
                return Some((0..3).map(|axis| Signal::Position(i, r, axis)).collect());
            }
            return point(r, field, i);
        }
        if body.kind == BodyKind::Ground {
            return None;
        }
        let i = index_of(id);
        if let Some(signals) = point(origin, rest, i) {
            return Some(signals);
        }
        let signal = match (body.kind, rest) {
            (BodyKind::PlanarRigid, "angle") => Signal::Angle(i),
            (BodyKind::PlanarRigid, "rate") => Signal::Omega(i, 2),
            (BodyKind::Rigid | BodyKind::RigidEuler, word) => {
                match (index(&QUATERNION, word), index(&OMEGAS, word)) {
                    (Some(k), _) => Signal::Quaternion(i, k),
                    (_, Some(k)) => Signal::Omega(i, k),
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(vec![signal])
    }

    /// Names of a joint's coordinates and speeds, in the order of columns.
    pub fn joint_columns(&self, joint: &JointEntry) -> Vec<&'static str> {
        if joint.face.quaternion().is_some() {
            return [&QUATERNION[..], &OMEGAS].concat();
        }
        let coordinates = joint.face.coordinates();
        if joint.face.kind() == "planar" {
            // x y angle vx vy rate
            return coordinates.iter().map(|c| c.name).chain(coordinates.iter().map(|c| c.speed)).collect();
        }
        coordinates.iter().flat_map(|c| [c.name, c.speed]).collect()
    }

    /// The signals of what a joint calls `rest`.
    pub(crate) fn read_joint(
        &self,
        index_: usize,
        rest: &str,
        index_of: &mut dyn FnMut(u32) -> usize,
    ) -> Option<Vec<Signal>> {
        let joint = &self.joints[index_];
        let (a, b) = (index_of(joint.bodies[0]), index_of(joint.bodies[1]));
        if joint.face.quaternion().is_some() {
            if let Some(i) = index(&QUATERNION, rest) {
                return Some(vec![Signal::RelativeQuaternion(joint.frames, a, b, i)]);
            }
            return index(&OMEGAS, rest)
                .map(|i| vec![Signal::RelativeAngularVelocity(joint.frames, a, b, i)]);
        }
        for (k, coordinate) in joint.face.coordinates().iter().enumerate() {
            if rest == coordinate.name {
                return Some(vec![Signal::Coordinate(joint.coordinate(k, a, b))]);
            }
            if rest == coordinate.speed {
                return Some(vec![Signal::Speed(joint.coordinate(k, a, b))]);
            }
        }
        None
    }
}
