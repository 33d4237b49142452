//! Describes what an element's kind reads from its table, in terms of the system: bodies by number, points from their
//! centres of mass, directions in their axes, joint coordinates.

use crate::body::BodyKind;
use crate::file_placement::file_frame;
use crate::formula::{Binder, ReadLevel};
use crate::joint::BodyFixedFrame;
use crate::names::Directory;
use sarrus_math::{Mat3, Pose, Vec3};
use sarrus_model::record::ResolvedValue;
use sarrus_model::transform::Matrix3;
use sarrus_model::{BodyPoint, BodyRef, Diagnostic, Model, Reader, Result, Section, Space, Span};
use std::collections::HashSet;

/// An element's table together with the system it is to join.
pub struct Context<'a> {
    /// The table.
    pub reader: Reader<'a>,
    /// The model.
    pub model: &'a Model,
    /// The names of the system.
    pub directory: &'a Directory,
    /// The bodies named so far, as the file writes them: `on` in an included file may mean the frame of the body that
    /// one stands for.
    named: Vec<(u32, BodyRef)>,
}

impl<'a> Context<'a> {
    /// A context for the element that `reader` has open.
    pub fn new(reader: Reader<'a>, directory: &'a Directory) -> Self {
        Context { model: reader.model(), reader, directory, named: Vec::new() }
    }

    /// Returns whether the model is planar.
    pub fn is_planar(&self) -> bool {
        self.directory.space == Space::Planar
    }

    /// An error that names a thing of the model, with the index of a repeated element.
    fn unknown(&self, name: &str, span: Span, section: Section) -> Diagnostic {
        let error = self.model.unknown(name, span, &[section]);
        match &self.reader.element().locals {
            Some(locals) => error.note(locals.describe()),
            None => error,
        }
    }

    /// Number of a body that the file names; 0 is ground.
    pub fn number(&mut self, body: BodyRef) -> Result<u32> {
        let Some(id) = self.directory.body(&body.name) else {
            return Err(self
                .no_part(&body)
                .unwrap_or_else(|| self.unknown(&body.name, body.span, Section::Bodies)));
        };
        self.named.push((id, body));
        Ok(id)
    }

    /// The error for a name that is a flexible member, or none of the bodies of one.
    fn no_part(&self, body: &BodyRef) -> Option<Diagnostic> {
        if let Some(member) = self.directory.member(&body.name) {
            let message = format!("`{}` is made of several bodies", body.name);
            return Some(self.reader.at(body.span, message).hint(format!("one of: {}", member.parts())));
        }
        let (name, part) = body.name.rsplit_once('.')?;
        if let Some(modal) = crate::flexible::modal::used_names(self.model).get(name) {
            let message = format!("`{name}` is a member of the modal body `{modal}`, and no beam of its own");
            let hint = format!("make it one of the `interface` of `{modal}`: these are its bodies");
            return Some(self.reader.at(body.span, message).hint(hint));
        }
        let member = self.directory.member(name)?;
        let message = format!("`{name}` has no body `{part}`");
        Some(self.reader.at(body.span, message).hint(format!("it has {}", member.parts())))
    }

    /// The body that a key names; it must be given.
    pub fn body(&mut self, key: &str) -> Result<u32> {
        let body = self.reader.require_body(key)?;
        self.number(body)
    }

    /// The body that a key names, or the ground of the file: in an included file what that stands for.
    pub fn body_or_ground(&mut self, key: &str) -> Result<u32> {
        if let Some(body) = self.reader.body(key)? {
            return self.number(body);
        }
        let own = format!("{}ground", self.reader.scope().prefix);
        let Some(alias) = self.model.aliases.get(&own) else { return Ok(0) };
        let (name, frame) = (alias.body.clone(), alias.frame.clone());
        if name != "ground" {
            self.reader.record(key, || ResolvedValue::Text(name.clone()));
        }
        self.number(BodyRef { name, span: Span::NONE, stand_in: Some(frame) })
    }

    /// The two bodies of `bodies`, which differ.
    pub fn bodies2(&mut self) -> Result<[u32; 2]> {
        let [a, b] = self.reader.bodies2("bodies")?;
        let span = b.span;
        let pair = [self.number(a)?, self.number(b)?];
        if pair[0] == pair[1] {
            // a body of a flexible member has two names at its ends
            let name = &self.directory.bodies[pair[0] as usize].name;
            let message = format!("{} connects `{name}` to itself", self.reader.title());
            return Err(self.reader.at(span, message));
        }
        Ok(pair)
    }

    /// The bodies of `bodies`, one or more; a flexible member stands for all its bodies, those inside it that only carry mass
    /// included.
    pub fn bodies(&mut self) -> Result<Vec<u32>> {
        if !self.reader.has("bodies") {
            return Err(self.reader.missing("bodies"));
        }
        let list = self.reader.bodies("bodies")?;
        if list.is_empty() {
            return Err(self.reader.error("bodies", format!("{} needs a body", self.reader.title())));
        }
        let mut ids = Vec::with_capacity(list.len());
        for body in list {
            match self.directory.member(&body.name) {
                Some(member) => ids.extend(member.all.clone()),
                None => ids.push(self.number(body)?),
            }
        }
        Ok(ids)
    }

    /// The bodies of `bodies`, each of them once.
    pub fn distinct_bodies(&mut self) -> Result<Vec<u32>> {
        let ids = self.bodies()?;
        let mut seen = HashSet::new();
        match ids.iter().find(|id| !seen.insert(**id)) {
            None => Ok(ids),
            Some(&twice) => {
                let name = &self.directory.bodies[twice as usize].name;
                Err(self.reader.error("bodies", format!("{} names `{name}` twice", self.reader.title())))
            }
        }
    }

    fn body_ref(&self, body: u32) -> BodyRef {
        match self.named.iter().rev().find(|(id, _)| *id == body) {
            Some((_, body)) => body.clone(),
            None => {
                let name = self.directory.bodies[body as usize].name.clone();
                BodyRef { name, span: Span::NONE, stand_in: None }
            }
        }
    }

    /// Pose of a body in the model pose, at its centre of mass.
    pub fn model_pose(&self, body: u32) -> Pose<f64> {
        let (p, q, angle) = self.directory.bodies[body as usize].start;
        match self.directory.space {
            Space::Planar => Pose { p: Vec3(p), rot: Mat3::rot_z(angle), angle },
            Space::Spatial => Pose::from_quat(p, q),
        }
    }

    /// The frame of a body, from its centre of mass.
    pub fn body_frame(&self, body: u32) -> BodyFixedFrame {
        let p = self.directory.bodies[body as usize].from_com([0.0; 3]);
        BodyFixedFrame { p, rot: Mat3::identity(), angle: 0.0 }
    }

    /// The origin of a body as the file means it, from its centre of mass: that of the ground of an included file lies where
    /// the file does.
    pub fn file_origin(&self, body: u32) -> [f64; 3] {
        match self.body_ref(body).stand_in {
            Some(frame) => self.point_to_body(body, frame.p),
            None => self.directory.bodies[body as usize].from_com([0.0; 3]),
        }
    }

    /// Returns how coordinates in the frame that the file means by that of a body become those in the body's own, q a + d, where they
    /// differ: the ground of an included file lies where the file does, mirrored if the file is.
    pub fn from_file_frame(&self, body: u32) -> Option<(Matrix3, [f64; 3])> {
        let transform = self.reader.transform();
        let entry = &self.directory.bodies[body as usize];
        match self.body_ref(body).stand_in {
            Some(frame) => Some(file_frame(entry, self.is_planar(), &frame, &transform.l)),
            None if transform.is_reflected() => {
                let l = transform.l;
                let q = std::array::from_fn(|i| std::array::from_fn(|k| if i == k { l[k] } else { 0.0 }));
                Some((q, [0.0; 3]))
            }
            None => None,
        }
    }

    /// Planar: the angle of the axes of [`Context::file_axes`] \[rad\].
    pub fn file_angle(&self, body: u32) -> f64 {
        let start = self.directory.bodies[body as usize].start.2;
        self.body_ref(body).stand_in.map_or(0.0, |frame| frame.angle - start)
    }

    /// Returns whether the body stands in for one of an included file, so that a reading against its axes must be said.
    pub fn stands_in(&self, body: u32) -> bool {
        self.body_ref(body).stand_in.is_some()
    }

    /// The direction on a body that is meant where the file says none, of length 1: `default` in the axes of the
    /// file's body. `on_key` says it in the resolved file where they are not the body's own.
    pub fn default_on(&self, body: u32, on_key: &str, default: [f64; 3], axial: bool) -> [f64; 3] {
        let transform = self.reader.transform();
        let local = if axial { transform.local_axial(default) } else { transform.local(default) };
        let a = self.file_axes(body).mul_f64(&local).0;
        if a != default {
            self.reader.record(on_key, || ResolvedValue::vector(a, self.is_planar()));
        }
        a
    }

    /// A direction in the world, of length 1, that a key may say. `axial`: an axis of rotation.
    pub fn direction_or(&self, key: &str, default: [f64; 3], axial: bool) -> Result<[f64; 3]> {
        if axial { self.reader.axis_or(key, default) } else { self.reader.direction_or(key, default) }
    }

    /// A world vector of the model pose in the axes of a body.
    pub fn world_to_body(&self, body: u32, a_W: [f64; 3]) -> [f64; 3] {
        self.model_pose(body).to_local(Vec3(a_W)).0
    }

    /// A world point of the model pose, from the centre of mass of a body in its axes.
    pub fn point_to_body(&self, body: u32, p_W: [f64; 3]) -> [f64; 3] {
        let pose = self.model_pose(body);
        pose.to_local(Vec3(p_W) - pose.p).0
    }

    /// A place of a body, from its centre of mass.
    fn connection_point(&self, body: u32, on: &BodyPoint, key: &str) -> Result<[f64; 3]> {
        let entry = &self.directory.bodies[body as usize];
        match on {
            BodyPoint::At(p) => Ok(entry.from_com(*p)),
            BodyPoint::Marker(name) => match entry.markers.iter().find(|(marker, _)| marker == name) {
                Some((_, p)) => Ok(entry.from_com(*p)),
                None => {
                    let message = format!("body `{}` has no marker `{name}`", entry.name);
                    Err(self.reader.error(key, message))
                }
            },
        }
    }

    /// A point on one body, from its centre of mass: given in the world (`at_key`) or on the body (`on_key`).
    pub fn point_on(
        &self,
        body: u32,
        at_key: &'static str,
        on_key: &'static str,
    ) -> Result<Option<[f64; 3]>> {
        match self.reader.one_of(&[at_key, on_key])? {
            None => Ok(None),
            Some(key) if key == at_key => match self.reader.point(at_key)? {
                Some(p_W) => self.rotation_arm(body, self.point_to_body(body, p_W), at_key).map(Some),
                None => Ok(None),
            },
            Some(_) => match self.reader.local(on_key, &self.body_ref(body))? {
                Some(on) => {
                    self.rotation_arm(body, self.connection_point(body, &on, on_key)?, on_key).map(Some)
                }
                None => Ok(None),
            },
        }
    }

    /// A point on each of two bodies, from their centres of mass: one in the world (`at`), two in the world (`ends`), or
    /// two on the bodies (`on`).
    pub fn points_on_two(&self, bodies: [u32; 2]) -> Result<Option<[[f64; 3]; 2]>> {
        let Some(key) = self.reader.one_of(&["at", "ends", "on"])? else { return Ok(None) };
        let [a, b] = bodies;
        let in_world = |[p_W, q_W]: [[f64; 3]; 2]| [self.point_to_body(a, p_W), self.point_to_body(b, q_W)];
        let points = match key {
            "at" => self.reader.point(key)?.map(|p_W| in_world([p_W, p_W])),
            "ends" => self.reader.points2(key)?.map(in_world),
            _ => match self.reader.locals2(key, &bodies.map(|body| self.body_ref(body)))? {
                Some([on_A, on_B]) => {
                    Some([self.connection_point(a, &on_A, key)?, self.connection_point(b, &on_B, key)?])
                }
                None => None,
            },
        };
        match points {
            Some([r_A, r_B]) => Ok(Some([self.rotation_arm(a, r_A, key)?, self.rotation_arm(b, r_B, key)?])),
            None => Ok(None),
        }
    }

    /// As [`Context::points_on_two`] for `ends` or `on`, one of which must be given.
    pub fn ends(&self, bodies: [u32; 2]) -> Result<[[f64; 3]; 2]> {
        self.reader.require_one_of(&["ends", "on"])?;
        self.points_on_two(bodies)?.ok_or_else(|| self.reader.missing("ends"))
    }

    /// Returns whether a body is a point mass.
    fn is_point(&self, body: u32) -> bool {
        matches!(self.directory.bodies[body as usize].kind, BodyKind::Point | BodyKind::PlanarPoint)
    }

    /// Refuses a point away from a point mass, which has no orientation to carry it.
    fn rotation_arm(&self, body: u32, r: [f64; 3], key: &str) -> Result<[f64; 3]> {
        let entry = &self.directory.bodies[body as usize];
        if !self.is_point(body) {
            return Ok(r);
        }
        let scale = 1.0 + Vec3(entry.start.0).norm();
        if Vec3(r).norm() > 1e-9 * scale {
            let message = format!("body `{}` is a point mass: nothing can act beside it", entry.name);
            return Err(self
                .reader
                .error(key, message)
                .hint("give the point of the body itself, or make it `rigid`"));
        }
        Ok([0.0; 3])
    }

    /// Refuses a body that cannot take a torque.
    pub fn require_orientation(&self, body: u32, key: &str) -> Result<()> {
        let entry = &self.directory.bodies[body as usize];
        if !self.is_point(body) {
            return Ok(());
        }
        let message = format!("body `{}` is a point mass: it takes no torque and does not turn", entry.name);
        Err(self.reader.error(key, message).hint("make it `rigid`, with an inertia"))
    }

    /// The axes that the file means by those of a body, in the body's own: they differ only where the body stands in for
    /// one of an included file.
    pub fn file_axes(&self, body: u32) -> Mat3 {
        match self.body_ref(body).stand_in {
            Some(frame) => self.model_pose(body).rot.transpose() * Mat3(frame.rotation()),
            None => Mat3::identity(),
        }
    }

    /// A direction on a body, of length 1 in its axes: given in the world (`key`) or on the body (`on_key`). `axial`: an
    /// axis of rotation, which a mirrored file reverses.
    pub fn direction_on(
        &self,
        body: u32,
        key: &'static str,
        on_key: &'static str,
        axial: bool,
    ) -> Result<Option<[f64; 3]>> {
        match self.reader.one_of(&[key, on_key])? {
            Some(given) if given == key => {
                let a_W = if axial && !self.is_planar() {
                    self.reader.axis_or(key, [0.0, 0.0, 1.0])?
                } else {
                    self.reader.direction_or(key, [1.0, 0.0, 0.0])?
                };
                Ok(Some(self.world_to_body(body, a_W)))
            }
            _ => self.reader.local_direction(on_key, &self.body_ref(body), axial),
        }
    }

    /// A direction on each of two bodies, of length 1 in their axes: one in the world (`key`), or one on each (`on_key`).
    pub fn directions_on_two(
        &self,
        bodies: [u32; 2],
        key: &'static str,
        on_key: &'static str,
        axial: bool,
    ) -> Result<Option<[[f64; 3]; 2]>> {
        if self.reader.one_of(&[key, on_key])? == Some(key) {
            let a = self.direction_on(bodies[0], key, on_key, axial)?;
            let b = self.direction_on(bodies[1], key, on_key, axial)?;
            return Ok(a.zip(b).map(|(a, b)| [a, b]));
        }
        self.reader.local_directions2(on_key, &bodies.map(|body| self.body_ref(body)), axial)
    }

    /// Binds run-time expressions of this element, whose own bodies are `ids`.
    pub fn binder(&self, level: ReadLevel, ids: Vec<u32>) -> Binder<'a> {
        Binder::new(self.model, self.directory, level, ids)
    }

    /// The joint coordinate that a key names: a joint with one, or `"A.angle"`.
    pub fn joint_coordinate(&self, key: &str) -> Result<(usize, usize)> {
        match self.reader.name(key)? {
            Some((name, span)) => self.coordinate_named(&name, span),
            None => Err(self.reader.missing(key)),
        }
    }

    /// The joint coordinates of a list of names.
    pub fn joint_coordinates(&self, key: &str) -> Result<Vec<(usize, usize)>> {
        self.reader.names(key)?.iter().map(|(name, span)| self.coordinate_named(name, *span)).collect()
    }

    /// The joint coordinate with a full name: its joint and its index among the joint's coordinates.
    pub fn coordinate_named(&self, name: &str, span: Span) -> Result<(usize, usize)> {
        let list = |joint: usize| -> Vec<String> {
            let entry = &self.directory.joints[joint];
            entry.face.coordinates().iter().map(|c| format!("`{}.{}`", entry.name, c.name)).collect()
        };
        if let Some(joint) = self.directory.joint(name) {
            let given = list(joint);
            return match given.len() {
                1 => Ok((joint, 0)),
                0 => {
                    let entry = &self.directory.joints[joint];
                    let message = match entry.bodies.iter().find(|&&body| self.is_point(body)) {
                        Some(&point) => format!(
                            "joint `{name}` holds the point mass `{}`, which has no orientation: it has no coordinate",
                            self.directory.bodies[point as usize].name
                        ),
                        None => {
                            let kind = entry.face.kind();
                            format!("joint `{name}` is {kind}: it has no coordinate that a number says")
                        }
                    };
                    Err(self.reader.at(span, message).hint("make it `rigid`, with an inertia"))
                }
                _ => Err(self
                    .reader
                    .at(span, format!("joint `{name}` has several coordinates"))
                    .hint(format!("one of: {}", given.join(" ")))),
            };
        }
        if let Some((joint_name, coordinate)) = name.rsplit_once('.')
            && let Some(joint) = self.directory.joint(joint_name)
        {
            return match self.directory.joints[joint].find(coordinate) {
                Some(k) => Ok((joint, k)),
                None => {
                    let message = format!("joint `{joint_name}` has no coordinate `{coordinate}`");
                    let given = list(joint);
                    let hint = (!given.is_empty()).then(|| format!("one of: {}", given.join(" ")));
                    Err(self.reader.at(span, message).maybe_hint(hint))
                }
            };
        }
        Err(self.unknown(name, span, Section::Joints))
    }
}
