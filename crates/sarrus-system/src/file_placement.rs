//! Columns as an included file means them.
//!
//! A file that is moved, turned or mirrored (x_W = Q x + d) reads its own world: positions Qᵀ(x_W - d), polar vectors Qᵀa,
//! axial ones det(Q) Qᵀa, and vectors in body axes L a or det(Q) L a (see [`sarrus_model::transform`]). Each of these is a sum
//! of columns of the model. Expressions are bound to the sums, and `[initial]` holds them, so that the resolved file says the
//! same in columns of the model. The axes are those of the model pose: they do not move with the body that `ground` becomes.

use crate::body::Body;
use crate::names::{Directory, Named};
use sarrus_math::Mat3;
use sarrus_model::expr::{Bind, Binding, LinearSum};
use sarrus_model::scope::{ElementScope, ScopeData};
use sarrus_model::transform::{Matrix3, NO_PART, apply, multiply, transposed};
use sarrus_model::{Element, Frame, Model, Section, Span, Transform};
use std::f64::consts::TAU;

/// From numbers of the model to those of the file: m a + o.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AffineMap {
    m: Matrix3,
    o: [f64; 3],
}

impl AffineMap {
    /// The inverse of q a + d, q orthogonal.
    pub fn inverse_of(q: &Matrix3, d: [f64; 3]) -> AffineMap {
        let m = transposed(q);
        AffineMap { m, o: apply(&m, d).map(|x| -x) }
    }

    /// World points.
    pub fn points(t: &Transform) -> AffineMap {
        AffineMap::inverse_of(&t.q, t.d)
    }

    /// Polar world vectors.
    pub fn polar(t: &Transform) -> AffineMap {
        AffineMap::inverse_of(&t.q, [0.0; 3])
    }

    /// Axial world vectors.
    fn axial(t: &Transform) -> AffineMap {
        AffineMap::polar(t).times(t.sign())
    }

    fn times(&self, s: f64) -> AffineMap {
        AffineMap { m: self.m.map(|row| row.map(|x| s * x)), o: self.o.map(|x| s * x) }
    }

    /// Component `i` as a sum of the components called `names`; those without a name are 0.
    pub fn sum(&self, i: usize, names: &[Option<String>; 3]) -> AffineReading {
        let parts = self.m[i].iter().zip(names).filter(|(c, _)| c.abs() > NO_PART);
        let terms = parts.filter_map(|(c, name)| Some((*c, name.clone()?))).collect();
        AffineReading { terms, offset: self.o[i] + 0.0 }
    }
}

/// Σ factor·column + offset.
#[derive(Clone, Debug, PartialEq)]
pub struct AffineReading {
    /// Factors and columns of the model.
    pub terms: Vec<(f64, String)>,
    /// The offset.
    pub offset: f64,
}

impl AffineReading {
    fn one(factor: f64, name: &str, offset: f64) -> AffineReading {
        AffineReading { terms: vec![(factor, name.to_owned())], offset }
    }

    /// The sum bound to slots. A component of an effort that no driver has is none.
    fn bound(&self, bind: &mut Bind<'_>) -> Result<LinearSum, String> {
        let (mut terms, mut first_error) = (Vec::new(), None);
        for (factor, name) in &self.terms {
            match bind(name) {
                Ok(Binding::Scalar(slot)) => terms.push((*factor, slot, name.clone())),
                Ok(_) => return Err(format!("`{name}` cannot be read as a number")),
                Err(message) => {
                    first_error.get_or_insert(message);
                }
            }
        }
        match first_error {
            Some(message) if terms.is_empty() => Err(message),
            _ => Ok(LinearSum { terms, offset: self.offset }),
        }
    }
}

/// Readings bound to slots.
pub(crate) fn bound(readings: &[AffineReading], bind: &mut Bind<'_>) -> Result<Binding, String> {
    readings.iter().map(|reading| reading.bound(bind)).collect::<Result<_, _>>().map(Binding::Sums)
}

/// Holds what a path is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A number of an expression.
    Expression,
    /// A value of `[initial]` or `[guess]`.
    Start,
}

/// A file that does not lie where the model does.
pub struct FilePlacement<'a> {
    model: &'a Model,
    directory: &'a Directory,
    scope: &'a ScopeData,
    planar: bool,
}

const AXES: [&str; 3] = ["x", "y", "z"];
const FORCES: [&str; 3] = ["fx", "fy", "fz"];
const TORQUES: [&str; 3] = ["tx", "ty", "tz"];
const MOMENTA: [&str; 3] = ["px", "py", "pz"];
const ANGLE_NAMES: [&str; 3] = ["lx", "ly", "lz"];
const POLAR: [[&str; 3]; 2] = [["vx", "vy", "vz"], ["ax", "ay", "az"]];
const LOCAL: [[&str; 3]; 2] = [["wx", "wy", "wz"], ["alphax", "alphay", "alphaz"]];
const QUATERNION: [&str; 4] = ["q0", "q1", "q2", "q3"];
/// Constraints whose multiplier is the same in every file: that of a length, or of an expression in the file's own columns.
const INVARIANT: [&str; 3] = ["distance", "expression", "linear_velocity"];

type ColumnsOfName = Result<Option<Vec<AffineReading>>, String>;

impl<'a> FilePlacement<'a> {
    /// The file with this scope, where it is moved, turned or mirrored.
    pub fn of(model: &'a Model, directory: &'a Directory, scope: u32) -> Option<Self> {
        let scope = model.scopes.get(scope as usize).filter(|scope| !scope.transform.is_identity())?;
        Some(FilePlacement { model, directory, scope, planar: model.is_planar() })
    }

    /// Returns where it is evaluated.
    pub fn transform(&self) -> &'a Transform {
        &self.scope.transform
    }

    /// Returns what the file means by a full path: one reading, or three of a vector; none where it is the column itself.
    pub fn read(&self, path: &str, purpose: Purpose) -> ColumnsOfName {
        let Some((name, named, rest)) = self.directory.find(path) else { return Ok(None) };
        let element = || self.model.find(name);
        match named {
            Named::Body(id) => self.body(path, *id, rest, purpose),
            Named::Node(_) => self.node(path, rest),
            _ if !self.transform().rotates() && !self.is_offset(element()) => Ok(None),
            Named::Joint(joint) => self.joint(path, *joint, rest, purpose),
            Named::Flexible(_) => self.member(path, rest),
            Named::Measure(_) | Named::Controller(_) => Ok(None),
            Named::Pair(..) | Named::Other(_) => match element() {
                Some(e) if e.section == Section::Measures => self.measure(path, e, rest),
                Some(e) if e.section == Section::Constraints => self.constraint(path, e),
                Some(e) if e.section == Section::Drivers => Ok(self.effort(path)),
                _ => Ok(None),
            },
        }
    }

    /// Returns whether a reading of an element depends on where the file lies, not only on its axes.
    fn is_offset(&self, element: Option<&Element>) -> bool {
        element.is_some_and(|e| matches!(e.kind.as_str(), "point" | "momentum"))
    }

    fn sign(&self) -> f64 {
        self.transform().sign()
    }

    /// The names of three components beside the one that `path` ends with; in the plane those along z are missing, or the
    /// others where it is about z.
    fn neighbour(&self, path: &str, words: &[&str; 3], about: bool) -> [Option<String>; 3] {
        let stem = path.rsplit_once('.').map_or("", |(stem, _)| stem);
        std::array::from_fn(|k| {
            let there = !self.planar || (k == 2) == about;
            there.then(|| format!("{stem}.{}", words[k]))
        })
    }

    /// Component `i` of a vector.
    fn component(
        &self,
        path: &str,
        words: &[&str; 3],
        i: usize,
        map: &AffineMap,
        about: bool,
    ) -> ColumnsOfName {
        Ok(Some(vec![map.sum(i, &self.neighbour(path, words, about))]))
    }

    /// A position or velocity or acceleration in world axes.
    fn of_point(&self, path: &str, word: &str) -> Option<ColumnsOfName> {
        let index_of = |words: &[&str; 3]| words.iter().position(|w| *w == word);
        if let Some(i) = index_of(&AXES) {
            return Some(self.component(path, &AXES, i, &AffineMap::points(self.transform()), false));
        }
        let (words, i) = POLAR.iter().find_map(|words| Some((words, index_of(words)?)))?;
        if !self.transform().rotates() {
            return Some(Ok(None));
        }
        Some(self.component(path, words, i, &AffineMap::polar(self.transform()), false))
    }

    fn body(&self, path: &str, id: u32, rest: &str, purpose: Purpose) -> ColumnsOfName {
        let body = &self.directory.bodies[id as usize];
        if body.markers.iter().any(|(marker, _)| marker == rest) {
            // a marker's bare name is its position
            let names =
                std::array::from_fn(|k| (k < 2 || !self.planar).then(|| format!("{path}.{}", AXES[k])));
            let map = AffineMap::points(self.transform());
            return Ok(Some((0..3).map(|i| map.sum(i, &names)).collect()));
        }
        let word = rest.rsplit('.').next().unwrap_or(rest);
        if let Some(found) = self.of_point(path, word) {
            return found;
        }
        if !self.transform().rotates() {
            return Ok(None);
        }
        match word {
            "rate" | "alpha" if self.sign() > 0.0 => Ok(None),
            "rate" | "alpha" => Ok(Some(vec![AffineReading::one(-1.0, path, 0.0)])),
            "angle" => {
                let own = self.member_frame(body, path)?;
                let s = self.sign();
                let offset = match own {
                    Some(frame) => s * (frame.angle - body.start.2 - self.transform().angle),
                    None => self.whole_revolutions(id) - s * self.transform().angle,
                };
                Ok(Some(vec![AffineReading::one(s, path, offset)]))
            }
            _ => match LOCAL.iter().find_map(|words| Some((words, words.iter().position(|w| *w == word)?))) {
                Some((words, i)) => {
                    let own = self.member_frame(body, path)?;
                    self.component(path, words, i, &self.local_axial(body, own), false)
                }
                None => self.quaternion(path, word, purpose, {
                    let own = self.member_frame(body, path)?;
                    let t = self.transform();
                    own.is_none() && near_identity(&mirrored(&t.q, &t.l))
                }),
            },
        }
    }

    /// A component of a quaternion. It is known up to the sign of all four, which a sum of columns does not tell; a start says
    /// which it is.
    fn quaternion(&self, path: &str, word: &str, purpose: Purpose, is_only_mirrored: bool) -> ColumnsOfName {
        let Some(i) = QUATERNION.iter().position(|w| *w == word) else { return Ok(None) };
        let t = self.transform();
        if purpose == Purpose::Start && is_only_mirrored {
            let factor = if i == 0 { 1.0 } else { t.sign() * t.l[i - 1] };
            return Ok(Some(vec![AffineReading::one(factor, path, 0.0)]));
        }
        let hint = match purpose {
            Purpose::Expression => "read positions of markers, or `wx wy wz`",
            Purpose::Start => "give `orientation` in [bodies], which turns with the file",
        };
        Err(format!("`{path}` cannot be read in an included file that is turned or mirrored; {hint}"))
    }

    /// Whole turns between the angle of a part of a flexible member in the file and in the model: both count along the member,
    /// from an angle of its first part that is at most half a revolution.
    fn whole_revolutions(&self, id: u32) -> f64 {
        let Some(member) = self.directory.flexible.iter().find(|m| m.all.contains(&id)) else { return 0.0 };
        let first = self.directory.bodies[member.bodies.start as usize].start.2;
        -TAU * (self.sign() * (first - self.transform().angle) / TAU).round()
    }

    /// The frame that a mirrored file means by that of a part of a flexible member.
    fn member_frame(&self, body: &Body, path: &str) -> Result<Option<Frame>, String> {
        if !self.transform().is_reflected() {
            return Ok(None);
        }
        let Some(member) = self.model.flexible_of(&body.name) else { return Ok(None) };
        let own = self.model.scopes.get(member.scope as usize).map(|s| s.prefix.as_str());
        if own != Some(self.scope.prefix.as_str()) {
            return Err(format!(
                "`{path}` belongs to a flexible member of a file inside one that is mirrored; read it in the file of the member"
            ));
        }
        Ok(self.model.placement_of(&body.name).and_then(|placement| placement.mirrored.clone()))
    }

    /// From body axes of the model to those that the file means, for axial vectors.
    fn local_axial(&self, body: &Body, own: Option<Frame>) -> AffineMap {
        let t = self.transform();
        let axes = match own {
            Some(frame) => multiply(&transposed(&rotation(body, self.planar)), &frame.rotation()),
            None => Mat3::identity().0,
        };
        AffineMap::inverse_of(&mirrored(&axes, &t.l), [0.0; 3]).times(t.sign())
    }

    /// The frame that the file means by that of a body which stands in for one of its own.
    fn stand_in(&self, name: &str) -> Option<&'a Frame> {
        let prefix = &self.scope.prefix;
        let own = |full: &str| full.strip_prefix(prefix.as_str()).is_some_and(|n| !n.contains('.'));
        let ground = self.model.aliases.get(&format!("{prefix}ground")).filter(|a| a.body == name);
        let replaced = || self.model.aliases.iter().find(|(full, a)| own(full) && a.body == name);
        ground.or_else(|| replaced().map(|(_, a)| a)).map(|a| &a.frame)
    }

    fn node(&self, path: &str, rest: &str) -> ColumnsOfName {
        match self.of_point(path, rest) {
            Some(found) => found,
            None => self.unless_mirrored(path),
        }
    }

    fn unless_mirrored(&self, path: &str) -> ColumnsOfName {
        if self.sign() > 0.0 {
            return Ok(None);
        }
        Err(format!(
            "`{path}` cannot be read in an included file that is mirrored: its sign depends on the axes of the element; read it in the outer file"
        ))
    }

    fn joint(&self, path: &str, joint: usize, rest: &str, purpose: Purpose) -> ColumnsOfName {
        let entry = &self.directory.joints[joint];
        if entry.face.quaternion().is_some() {
            let first = &self.directory.bodies[entry.bodies[0] as usize];
            let own = match self.stand_in(&first.name) {
                Some(frame) => Some(frame.clone()),
                None => self.member_frame(first, path)?,
            };
            if let Some((words, i)) =
                LOCAL.iter().find_map(|words| Some((words, words.iter().position(|w| *w == rest)?)))
            {
                return self.component(path, words, i, &self.local_axial(first, own), false);
            }
            if QUATERNION.contains(&rest) {
                let map = self.local_axial(first, own);
                let t = self.transform();
                let plain = (0..3).all(|i| (map.m[i][i] - t.sign() * t.l[i]).abs() <= NO_PART);
                let same = plain && t.sign() > 0.0;
                return if same { Ok(None) } else { self.quaternion(path, rest, purpose, plain) };
            }
        }
        Ok(self.effort(path))
    }

    /// A force or torque in world axes.
    fn effort(&self, path: &str) -> Option<Vec<AffineReading>> {
        let word = path.rsplit('.').next()?;
        let index_of = |words: &[&str; 3]| words.iter().position(|w| *w == word);
        let t = self.transform();
        let reading = match (index_of(&FORCES), index_of(&TORQUES)) {
            (Some(i), _) => AffineMap::polar(t).sum(i, &self.neighbour(path, &FORCES, false)),
            (_, Some(i)) => AffineMap::axial(t).sum(i, &self.neighbour(path, &TORQUES, true)),
            _ => return None,
        };
        Some(vec![reading])
    }

    /// Internal forces and amplitudes of a flexible member.
    fn member(&self, path: &str, rest: &str) -> ColumnsOfName {
        let word = rest.rsplit('.').next().unwrap_or(rest);
        if !rest.starts_with("element") || word.starts_with('N') {
            return if word.starts_with("eta") { self.unless_mirrored(path) } else { Ok(None) };
        }
        // in the plane y of an element is to the left of its line, and a mirror turns left to right
        match (self.sign() > 0.0, self.planar) {
            (true, _) => Ok(None),
            (false, true) => Ok(Some(vec![AffineReading::one(-1.0, path, 0.0)])),
            (false, false) => self.unless_mirrored(path),
        }
    }

    fn constraint(&self, path: &str, element: &Element) -> ColumnsOfName {
        let curve = element.kind == "point_on_curve" && element.table.get("implicit").is_some();
        if INVARIANT.contains(&element.kind.as_str()) || curve {
            return Ok(None);
        }
        let word = path.rsplit('.').next().unwrap_or(path);
        if self.sign() > 0.0 && !word.starts_with("lambda") {
            return Ok(None);
        }
        Err(format!(
            "`{path}` cannot be read in an included file that is turned or mirrored: its direction depends on the axes of the model; read it in the outer file"
        ))
    }

    fn measure(&self, path: &str, element: &Element, rest: &str) -> ColumnsOfName {
        let t = self.transform();
        match element.kind.as_str() {
            "angle" if self.planar && self.sign() < 0.0 => {
                Ok(Some(vec![AffineReading::one(-1.0, path, 0.0)]))
            }
            "point" => {
                let carrier = self.named_body(element, "relative_to");
                let map = self.carried(&carrier);
                match AXES.iter().position(|w| *w == rest) {
                    Some(i) => self.component(path, &AXES, i, &map, false),
                    None => Ok(None),
                }
            }
            "momentum" => Ok(self.momentum(path, rest)),
            "reaction" => match self.named_body(element, "axes").as_str() {
                "ground" => Ok(self.effort(path)),
                name if self.stand_in(name).is_some() => Err(format!(
                    "`{path}` is in the axes of a body that stands in for one of the file; read it in the outer file"
                )),
                _ => {
                    let own = |words: &[&str; 3]| words.iter().position(|w| *w == rest);
                    let map = AffineMap::inverse_of(&mirrored(&Mat3::identity().0, &t.l), [0.0; 3]);
                    match (own(&FORCES), own(&TORQUES)) {
                        (Some(i), _) => self.component(path, &FORCES, i, &map, false),
                        (_, Some(i)) => self.component(path, &TORQUES, i, &map.times(t.sign()), true),
                        _ => Ok(None),
                    }
                }
            },
            _ => Ok(None),
        }
    }

    /// The body that a key of an element names, in the model; the world is the ground.
    fn named_body(&self, element: &Element, key: &str) -> String {
        let scope = self.model.scopes.get(element.scope as usize).unwrap_or(self.scope);
        let text = element.table.get(key).and_then(|v| v.as_text());
        let context = ElementScope::new(scope, element.locals.as_deref());
        let own = text.and_then(|text| context.expand(text, Span::NONE).ok());
        let own = own.as_deref().filter(|own| *own != "world").unwrap_or("ground");
        self.model.resolve(scope, own)
    }

    /// From coordinates in the frame of a body to those that the file means by it.
    fn carried(&self, name: &str) -> AffineMap {
        let l = &self.transform().l;
        let Some(id) = self.directory.body(name) else { return AffineMap::points(self.transform()) };
        let (Some(frame), body) = (self.stand_in(name), &self.directory.bodies[id as usize]) else {
            return AffineMap::inverse_of(&mirrored(&Mat3::identity().0, l), [0.0; 3]);
        };
        let (q, d) = file_frame(body, self.planar, frame, l);
        AffineMap::inverse_of(&q, d)
    }

    /// Linear momentum, and angular momentum about the file's origin: det(Q) Qᵀ (L - d × p).
    fn momentum(&self, path: &str, rest: &str) -> Option<Vec<AffineReading>> {
        let t = self.transform();
        let index_of = |words: &[&str; 3]| words.iter().position(|w| *w == rest);
        let linear = self.neighbour(path, &MOMENTA, false);
        if let Some(i) = index_of(&MOMENTA) {
            return Some(vec![AffineMap::polar(t).sum(i, &linear)]);
        }
        let i = index_of(&ANGLE_NAMES)?;
        let axial = AffineMap::axial(t);
        let mut reading = axial.sum(i, &self.neighbour(path, &ANGLE_NAMES, true));
        let [x, y, z] = t.d;
        let across = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
        let arm = AffineMap { m: multiply(&axial.m, &across), o: [0.0; 3] }.times(-1.0);
        reading.terms.extend(arm.sum(i, &linear).terms);
        Some(vec![reading])
    }
}

/// Columns of `a` with the signs `l`.
fn mirrored(a: &Matrix3, l: &[f64; 3]) -> Matrix3 {
    std::array::from_fn(|i| std::array::from_fn(|k| a[i][k] * l[k]))
}

fn near_identity(a: &Matrix3) -> bool {
    let one = Mat3::<f64>::identity().0;
    (0..3).all(|i| (0..3).all(|k| (a[i][k] - one[i][k]).abs() <= NO_PART))
}

/// The axes of a body in the model pose.
fn rotation(body: &Body, planar: bool) -> Matrix3 {
    let (_, q, angle) = body.start;
    if planar { Mat3::rot_z(angle).0 } else { sarrus_model::transform::matrix(q) }
}

/// From coordinates in a frame of the file, mirrored with it, to those in the frame of the body that carries it: q a + d.
pub(crate) fn file_frame(body: &Body, planar: bool, frame: &Frame, l: &[f64; 3]) -> (Matrix3, [f64; 3]) {
    let to_body = transposed(&rotation(body, planar));
    let from_com = apply(&to_body, std::array::from_fn(|k| frame.p[k] - body.start.0[k]));
    let origin = body.from_com([0.0; 3]);
    let d = std::array::from_fn(|k| from_com[k] - origin[k]);
    (mirrored(&multiply(&to_body, &frame.rotation()), l), d)
}
