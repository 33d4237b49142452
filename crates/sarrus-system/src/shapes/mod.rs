//! Shapes: where a body's mass is, and what is drawn and touched of it. One file each, one line each in [`KINDS`].
//!
//! All that the equations need of a solid of uniform density is its volume V, its centre e and its inertia per mass K about it, in its
//! own axes; for all but those from files e = 0 and K = diag(k²). Placed on a body, at p and rotated by R, several solids of one density
//! make
//!
//! c = Σ Vᵢ gᵢ / Σ Vᵢ,  K = Σ Vᵢ (Rᵢ Kᵢ Rᵢᵀ + |dᵢ|² 1 - dᵢ dᵢᵀ) / Σ Vᵢ,  gᵢ = pᵢ + Rᵢ eᵢ,  dᵢ = gᵢ - c,
//!
//! the centre of mass and the inertia per mass about it. Solids that overlap are counted twice where they do.

pub mod capsule;
pub mod cuboid;
pub mod disc;
pub mod ends;
pub mod mesh;
pub mod rod;
pub mod sphere;
pub mod surface;
pub mod volume;

use crate::contact::surface::{Geometry, Surface};
use sarrus_math::{Mat3, Pose, Vec3};
use sarrus_model::model::ground_shape;
use sarrus_model::record::ResolvedValue;
use sarrus_model::suggest::did_you_mean;
use sarrus_model::transform::{matrix, quaternion, quaternion_product, unit};
use sarrus_model::{Attachment, Key, KeyType, Reader, Result, Span};

/// Describes what shape files use.
mod prelude {
    pub use super::{Dimensions, OwnAxis, ShapeGeometry, ShapeKind, SolidMeasure, UniformSolid};
    pub use crate::contact::surface::Geometry;
    pub use sarrus_model::Result;
}

/// Describes how much of a solid there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SolidMeasure {
    /// m³
    Volume(f64),
    /// m², where the thickness is not said.
    Area(f64),
}

/// Uniform density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformSolid {
    /// Its volume or area.
    pub measure: SolidMeasure,
    /// Moments of inertia per mass about its axes through its centre \[m²\].
    pub k2: [f64; 3],
    /// Entries yz, zx, xy of the same tensor \[m²\]; 0 where the axes are principal ones.
    pub off: [f64; 3],
    /// Its centre, own axes \[m\].
    pub centre: [f64; 3],
}

impl UniformSolid {
    /// Centred at its own origin with principal axes along its own axes.
    pub fn centred(measure: SolidMeasure, k2: [f64; 3]) -> Self {
        UniformSolid { measure, k2, off: [0.0; 3], centre: [0.0; 3] }
    }
}

/// The axis that `axis_on` turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnAxis {
    /// It lies along x.
    X,
    /// It rotates about z; in the plane it has no axis to turn.
    Z,
    /// z, in the plane y; the two ways along it differ.
    Normal,
}

/// A registered kind of shape.
pub struct ShapeKind {
    /// Name in model files.
    pub name: &'static str,
    /// One line on what it is.
    pub doc: &'static str,
    /// Those of [`KEYS`] that are its own.
    pub accepted: &'static [&'static str],
    /// Its axis.
    pub axis: OwnAxis,
    /// Holds what it weighs and what of it is touched.
    pub read: fn(&Dimensions) -> Result<ShapeGeometry>,
}

/// Holds what a shape's dimensions make.
#[derive(Clone, Debug)]
pub struct ShapeGeometry {
    /// Holds what has mass of it; none for a surface without end.
    pub solid: Option<UniformSolid>,
    /// Holds what can be touched of it.
    pub geometry: Option<Geometry>,
    /// Reason why it is a surface without inside, where it might have one.
    pub open: Option<String>,
}

impl ShapeGeometry {
    /// A solid that can be touched.
    pub fn new(solid: UniformSolid, geometry: Geometry) -> Self {
        ShapeGeometry { solid: Some(solid), geometry: Some(geometry), open: None }
    }
}

/// Every kind of shape, in the order of `sarrus list shapes`.
pub static KINDS: &[ShapeKind] = &[
    rod::KIND,
    capsule::KIND,
    disc::KIND,
    sphere::KIND,
    cuboid::KIND,
    surface::PLANE,
    surface::HALF_SPACE,
    surface::CHANNEL,
    ends::KIND,
    mesh::MESH,
    mesh::CONVEX,
];

/// Holds what a shape is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Drawn, touched and weighed.
    All,
    /// Drawn.
    Visual,
    /// Touched.
    Contact,
    /// Weighed.
    Mass,
}

const ROLES: &[&str] = &["all", "visual", "contact", "mass"];

/// The keys of a shape; [`ShapeKind::accepted`] says which of the dimensions a kind has.
pub const KEYS: &[Key] = &[
    Key::new("kind", KeyType::Text, "", "which shape it is"),
    Key::new(
        "length",
        KeyType::Number,
        "the bar's own",
        "length along x [m]; of a capsule between the balls' centres",
    ),
    Key::new("radius", KeyType::Number, "", "radius [m]"),
    Key::new(
        "thickness",
        KeyType::Number,
        "thin",
        "thickness of a disc [m]; without it the mass must be given",
    ),
    Key::new(
        "size",
        KeyType::Numbers,
        "",
        "edges of a box along x, y, z [m]; planar x, y, and the mass must be given",
    ),
    Key::new("width", KeyType::Number, "", "free width of a channel [m]"),
    Key::new("tube", KeyType::Flag, "false", "a channel that is round, not two plates"),
    Key::new("file", KeyType::Text, "", "STL or OBJ file"),
    Key::new("scale", KeyType::Number, "1", "times the file's numbers [1]"),
    Key::new("on", KeyType::Local, "the body's origin", "where its own origin is on the body [m]"),
    Key::new(
        "axis_on",
        KeyType::LocalVector,
        "its own axis",
        "where its own axis points on the body; of a box the first edge",
    ),
    Key::new(
        "orientation_on",
        KeyType::Orientation,
        "the body's axes",
        "instead of `axis_on`, spatial: its axes on the body",
    ),
    Key::new("name", KeyType::Name, "", "name by which contacts call it"),
    Key::new("role", KeyType::Choice(ROLES), "all", "what it is for"),
    Key::new("color", KeyType::Text, "the material's", "for pictures"),
];

/// Keys of [`KEYS`] that every kind takes.
const EVERY: &[&str] = &["kind", "on", "axis_on", "orientation_on", "name", "role", "color", "note", "extra"];

/// The dimensions of a shape that is read.
pub struct Dimensions<'a, 'r> {
    /// Its table.
    pub reader: &'r Reader<'a>,
    /// Length of the bar that it is on \[m\].
    pub bar: Option<f64>,
}

impl Dimensions<'_, '_> {
    /// `length`, by default the bar's.
    pub fn length(&self) -> Result<f64> {
        match (self.reader.positive_opt("length")?, self.bar) {
            (Some(length), _) => Ok(length),
            (None, Some(length)) => {
                // the resolved file may have no bar to take it from
                self.reader.record("length", || ResolvedValue::Number(length));
                Ok(length)
            }
            (None, None) => Err(self
                .reader
                .missing("length")
                .hint("only a bar, with `from` and `to`, has a length of its own")),
        }
    }

    /// Returns whether it is in the plane.
    pub fn planar(&self) -> bool {
        self.reader.is_planar()
    }

    /// `radius`.
    pub fn radius(&self) -> Result<f64> {
        self.reader.positive("radius")
    }
}

/// A shape on its body.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Its kind.
    pub kind: &'static str,
    /// Its name.
    pub name: Option<String>,
    /// Holds what it is for.
    pub role: Role,
    /// Its origin from the body's, body axes \[m\].
    pub p: [f64; 3],
    /// Its own axes to the body's.
    pub rot: Mat3,
    /// Holds what has mass of it.
    pub solid: Option<UniformSolid>,
    /// Holds what can be touched of it; see [`Shape::surface`].
    pub geometry: Option<Geometry>,
    /// Reason why it is a surface without inside, where it might have one.
    pub open: Option<String>,
    /// Marks where it stands in the file.
    pub span: Span,
}

impl Shape {
    /// Computes what can be touched of it, on a body with its centre of mass at `com`; none where its role is another.
    pub fn surface(&self, com: [f64; 3]) -> Option<Surface> {
        let touched = matches!(self.role, Role::All | Role::Contact);
        let geometry = self.geometry.clone().filter(|_| touched)?;
        Some(Surface { geometry, p: [0, 1, 2].map(|i| self.p[i] - com[i]), rot: self.rot })
    }

    /// Returns what counts for the mass of its body.
    fn weighed(&self) -> Option<(&Shape, UniformSolid)> {
        let solid = self.solid.filter(|_| matches!(self.role, Role::All | Role::Mass))?;
        Some((self, solid))
    }
}

/// The shapes under `shape`, on a bar of length `bar`.
pub fn read(reader: &Reader, bar: Option<f64>) -> Result<Vec<Shape>> {
    reader.subs("shape", KEYS)?.iter().map(|table| read_one(table, bar)).collect()
}

/// The shapes that an attachment brings to a body whose origin has `pose` in the model pose, on that body; the resolved file says
/// them there. Those of an included file's ground are called after it, see [`ground_shape`].
pub fn attached(reader: &Reader, from: &Attachment, pose: &Pose) -> Result<Vec<Shape>> {
    let mut shapes = read(reader, None)?;
    if from.prefix.is_empty() {
        return Ok(shapes);
    }
    let axes = pose.rot.transpose() * Mat3(from.frame.rotation());
    for (shape, table) in shapes.iter_mut().zip(reader.subs("shape", KEYS)?) {
        let position = Vec3(from.frame.point(shape.p));
        shape.p = pose.to_local(position - pose.p).0;
        table.record("on", || ResolvedValue::vector(shape.p, reader.is_planar()));
        carry(shape, axes, &table);
        let name = ground_shape(&from.prefix, shape.name.as_deref());
        table.record("name", || ResolvedValue::Text(name.clone()));
        shape.name = Some(name);
        if from.body != "ground" {
            // it changes nothing about the mass of a body
            let role = if matches!(shape.role, Role::All | Role::Contact) { "contact" } else { "visual" };
            table.record("role", || ResolvedValue::Text(role.into()));
        }
    }
    Ok(shapes)
}

/// Turns a shape by the axes of what carries it, by numbers that the resolved file has too.
fn carry(shape: &mut Shape, axes: Mat3, table: &Reader) {
    if !table.is_planar() {
        let q = quaternion(&(axes * shape.rot).0);
        table.unrecord("axis_on");
        table.record("orientation_on", || ResolvedValue::numbers(&q));
        shape.rot = Mat3(matrix(q));
    } else if let Some(own) = planar_axis(shape.kind) {
        let axis = (axes * shape.rot * Vec3(own)).0;
        table.record("axis_on", || ResolvedValue::vector(axis, true));
        shape.rot = arc(own, unit(axis).unwrap_or(own));
    }
}

/// The axis that `axis_on` turns in the plane; none where it looks the same all round.
fn planar_axis(kind: &str) -> Option<[f64; 3]> {
    let kind = KINDS.iter().find(|k| k.name == kind)?;
    Some(kind.own_axis(true)).filter(|axis| axis[2] == 0.0)
}

impl ShapeKind {
    /// The axis that `axis_on` turns, of length 1.
    fn own_axis(&self, planar: bool) -> [f64; 3] {
        match self.axis {
            OwnAxis::X => [1.0, 0.0, 0.0],
            OwnAxis::Normal if planar => [0.0, 1.0, 0.0],
            OwnAxis::Z | OwnAxis::Normal => [0.0, 0.0, 1.0],
        }
    }
}

fn read_one(reader: &Reader, bar: Option<f64>) -> Result<Shape> {
    let kind = kind_of(reader)?;
    let own = |key: &str| EVERY.contains(&key) || kind.accepted.contains(&key);
    if let Some(entry) = reader.table().entries.iter().find(|entry| !own(&entry.key)) {
        let accepted_keys: Vec<&str> = kind.accepted.iter().chain(&EVERY[1..7]).copied().collect();
        let message = format!("{} is a {}: it has no key `{}`", reader.title(), kind.name, entry.key);
        return Err(reader
            .at(entry.key_span, message)
            .hint(format!("it takes: {}", accepted_keys.join(" "))));
    }
    let role = match reader.choice("role", ROLES)? {
        None | Some(0) => Role::All,
        Some(1) => Role::Visual,
        Some(2) => Role::Contact,
        Some(_) => Role::Mass,
    };
    reader.text("color")?;
    let form = (kind.read)(&Dimensions { reader, bar })?;
    Ok(Shape {
        kind: kind.name,
        name: reader.plain_name("name")?.map(|(name, _)| name),
        role,
        p: reader.own_point("on")?.unwrap_or_default(),
        rot: orientation(reader, kind)?,
        solid: form.solid,
        geometry: form.geometry,
        open: form.open,
        span: reader.table().span,
    })
}

fn kind_of(reader: &Reader) -> Result<&'static ShapeKind> {
    let Some(name) = reader.text("kind")? else {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        return Err(reader.missing("kind").hint(format!("one of: {}", names.join(" "))));
    };
    KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| {
        let hint = match name {
            "cylinder" => Some("a `rod` lies along x, a `disc` about z".to_owned()),
            _ => did_you_mean(name, KINDS.iter().map(|kind| kind.name)),
        };
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        let hint = hint.unwrap_or_else(|| format!("one of: {}", names.join(" ")));
        reader.error("kind", format!("shape `{name}` does not exist")).hint(hint)
    })
}

/// The rotation that takes the shape's own axis to `axis_on`.
fn orientation(reader: &Reader, kind: &ShapeKind) -> Result<Mat3> {
    let planar = reader.is_planar();
    let own = kind.own_axis(planar);
    if reader.one_of(&["axis_on", "orientation_on"])? == Some("orientation_on") {
        return oriented(reader, kind);
    }
    if planar && kind.axis == OwnAxis::Z && reader.has("axis_on") {
        let message = format!("{}: the axis of a planar {} is z", reader.title(), kind.name);
        return Err(reader.error("axis_on", message).hint("leave `axis_on` out"));
    }
    let axis = match reader.own_point("axis_on")? {
        Some(axis) => unit(axis).ok_or_else(|| reader.no_length("axis_on"))?,
        // all but these look the same in the mirror
        None if kind.axis != OwnAxis::Normal => own,
        None => {
            let axis = reader.transform().local(own);
            if axis != own {
                reader.record("axis_on", || ResolvedValue::vector(axis, planar));
            }
            axis
        }
    };
    Ok(arc(own, axis))
}

/// The rotation that `orientation_on` says.
fn oriented(reader: &Reader, kind: &ShapeKind) -> Result<Mat3> {
    if reader.is_planar() {
        let message = format!("{} has no `orientation_on`: the space is planar", reader.title());
        return Err(reader.error("orientation_on", message).hint("use `axis_on`"));
    }
    let mut q = reader.orientation_on("orientation_on")?.unwrap_or([1.0, 0.0, 0.0, 0.0]);
    let own = kind.own_axis(false);
    if kind.axis == OwnAxis::Normal && reader.transform().local(own) != own {
        // the mirror turns its normal round
        q = quaternion_product(q, [0.0, 1.0, 0.0, 0.0]);
        reader.record("orientation_on", || ResolvedValue::numbers(&q));
    }
    Ok(Mat3(matrix(q)))
}

/// The shortest rotation from `a` to `b`, both of length 1; past a right angle, that from -`a` after half a rotation about an
/// axis square to `a`, which is another only for shapes that do not mind.
///
/// R = 1 + ṽ + ṽ²/(1 + c), v = a × b, c = a·b: exact between coordinate axes.
fn arc(a: [f64; 3], b: [f64; 3]) -> Mat3 {
    let (a, b) = (Vec3(a), Vec3(b));
    let mut c = a.dot(b);
    if c < 0.0 {
        // a is a coordinate axis
        let half_rotation = if a.z() == 0.0 { [-1.0, -1.0, 1.0] } else { [1.0, -1.0, -1.0] };
        let flip =
            Mat3([[half_rotation[0], 0.0, 0.0], [0.0, half_rotation[1], 0.0], [0.0, 0.0, half_rotation[2]]]);
        return arc((-a).0, b.0) * flip;
    }
    c += 1.0;
    let v = Mat3::skew(a.cross(b));
    let v2 = v * v;
    let identity = Mat3::<f64>::identity();
    Mat3([0, 1, 2].map(|i| [0, 1, 2].map(|j| identity.0[i][j] + v.0[i][j] + v2.0[i][j] / c)))
}

/// The mass of several solids of one density, per mass.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Together, where each has one \[m³\].
    pub volume: Option<f64>,
    /// Centre of mass from the body's origin, body axes \[m\].
    pub centre: [f64; 3],
    /// Inertia per mass about the centre of mass, body axes \[m²\]; exactly symmetric.
    pub k2: Mat3,
}

/// The mass of the shapes whose role it is; none where there are none.
pub fn distribution(reader: &Reader, shapes: &[Shape]) -> Result<Option<Distribution>> {
    refuse_open(reader, shapes)?;
    let solids: Vec<(&Shape, UniformSolid)> = shapes.iter().filter_map(Shape::weighed).collect();
    let volume = |(_, solid): &(&Shape, UniformSolid)| match solid.measure {
        SolidMeasure::Volume(volume) => Some(volume),
        SolidMeasure::Area(_) => None,
    };
    let volumes: Option<Vec<f64>> = solids.iter().map(volume).collect();
    let measures: Vec<f64> = match (solids.as_slice(), &volumes) {
        ([], _) => return Ok(None),
        ([(shape, solid)], _) => {
            let k2 = rotated(&shape.rot, solid);
            return Ok(Some(Distribution {
                volume: volumes.map(|v| v[0]),
                centre: centre_of(shape, solid),
                k2,
            }));
        }
        (_, Some(volumes)) => volumes.clone(),
        (_, None) => solids.iter().map(|solid| area(reader, *solid)).collect::<Result<_>>()?,
    };

    // the centre of all, then each about it
    let total: f64 = measures.iter().sum();
    let mut centre = [0.0; 3];
    for ((shape, solid), measure) in solids.iter().zip(&measures) {
        let own = centre_of(shape, solid);
        for i in 0..3 {
            centre[i] += measure / total * own[i];
        }
    }
    let mut k2 = Mat3([[0.0; 3]; 3]);
    for ((shape, solid), measure) in solids.iter().zip(&measures) {
        let own = rotated(&shape.rot, solid);
        let from = centre_of(shape, solid);
        let arm = steiner([0, 1, 2].map(|i| from[i] - centre[i]));
        for i in 0..3 {
            for j in 0..3 {
                k2.0[i][j] += measure / total * (own.0[i][j] + arm.0[i][j]);
            }
        }
    }
    Ok(Some(Distribution { volume: volumes.map(|_| total), centre, k2 }))
}

/// A surface that should weigh something but encloses nothing.
fn refuse_open(reader: &Reader, shapes: &[Shape]) -> Result<()> {
    let weighed = |shape: &&Shape| matches!(shape.role, Role::All | Role::Mass);
    let Some((shape, why)) = shapes.iter().filter(weighed).find_map(|s| Some((s, s.open.as_ref()?))) else {
        return Ok(());
    };
    let point = reader.text("kind")? == Some("point");
    if reader.has("mass") && (point || reader.has("inertia")) {
        return Ok(());
    }
    let message =
        format!("`shape` of {}: this {} has no inside: {why}", reader.element().title(), shape.kind);
    let hint =
        "give `mass` and `inertia`, take kind `convex`, or close the surface in the program that wrote it";
    Err(reader.at(shape.span, message).hint(hint))
}

/// Returns what a solid weighs beside others when one of them has no thickness.
fn area(reader: &Reader, (shape, solid): (&Shape, UniformSolid)) -> Result<f64> {
    match solid.measure {
        SolidMeasure::Area(area) => Ok(area),
        SolidMeasure::Volume(_) => {
            let message = format!(
                "`shape` of {}: this {} has a volume, another shape only an area; which is the heavier is not said",
                reader.element().title(),
                shape.kind
            );
            let hint = "give the disc's `thickness`, or `mass`, `com` and `inertia` with `role = \"visual\"` on the shapes";
            Err(reader.at(shape.span, message).hint(hint))
        }
    }
}

/// |d|² 1 - d dᵀ: the inertia per mass of a point at d \[m²\].
pub fn steiner(d: [f64; 3]) -> Mat3 {
    let [x, y, z] = d;
    Mat3([[y * y + z * z, -x * y, -x * z], [-x * y, z * z + x * x, -y * z], [-x * z, -y * z, x * x + y * y]])
}

/// Returns where a solid's centre is on the body.
fn centre_of(shape: &Shape, solid: &UniformSolid) -> [f64; 3] {
    if solid.centre == [0.0; 3] { shape.p } else { (Vec3(shape.p) + shape.rot * Vec3(solid.centre)).0 }
}

/// R K Rᵀ, exactly symmetric.
fn rotated(rot: &Mat3, solid: &UniformSolid) -> Mat3 {
    let R = &rot.0;
    let entry = |i: usize, j: usize| {
        let own = (0..3).map(|k| solid.k2[k] * (R[i][k] * R[j][k])).sum::<f64>();
        if solid.off == [0.0; 3] {
            return own;
        }
        own + (0..3)
            .map(|k| {
                let (a, b) = ((k + 1) % 3, (k + 2) % 3);
                solid.off[k] * (R[i][a] * R[j][b] + R[i][b] * R[j][a])
            })
            .sum::<f64>()
    };
    Mat3([0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXES: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    /// A k² that no formula can mistake for another: the moments of a point at d.
    #[test]
    fn a_point_away_from_the_centre_has_the_moments_of_its_distances() {
        let k2 = steiner([1.0, 2.0, -3.0]);
        assert_eq!(k2.0, [[13.0, -2.0, 3.0], [-2.0, 10.0, 6.0], [3.0, 6.0, 5.0]]);
    }

    #[test]
    fn turns_between_axes_are_exact() {
        for a in AXES {
            for b in AXES.into_iter().chain(AXES.map(|x| x.map(|x| -x))) {
                let rot = arc(a, b);
                assert_eq!((rot * Vec3(a)).0, b);
                assert!(rot.0.iter().flatten().all(|x| [0.0, 1.0, -1.0].contains(x)), "{a:?} {b:?}: {rot:?}");
                assert_eq!(rot.row(0).cross(rot.row(1)), rot.row(2));
            }
        }
    }

    #[test]
    fn turns_take_the_axis_there_and_stay_rotations() {
        for b in [[0.3, -0.5, 0.7], [-0.999, 1e-9, 1e-5], [-1.0, 0.0, 1e-12], [0.1, 0.1, -2.0]] {
            let b = unit(b).unwrap();
            for a in AXES {
                let rot = arc(a, b);
                assert!((rot * Vec3(a) - Vec3(b)).norm() < 4e-16);
                assert!((rot.col(0).cross(rot.col(1)) - rot.col(2)).norm() < 4e-16);
                assert!((rot.col(0).norm() - 1.0).abs() < 4e-16);
            }
        }
    }

    /// In the plane an axis turns in the plane.
    #[test]
    fn turns_in_the_plane_leave_z_alone() {
        for b in [[0.6, 0.8, 0.0], [-0.6, 0.8, 0.0], [-1.0, 0.0, 0.0]] {
            for a in &AXES[..2] {
                assert_eq!(arc(*a, b).col(2).0, [0.0, 0.0, 1.0]);
                assert_eq!(
                    rotated(&arc(*a, b), &UniformSolid::centred(SolidMeasure::Volume(1.0), [1.0, 2.0, 3.0]))
                        .0[2],
                    [0.0, 0.0, 3.0]
                );
            }
        }
    }

    #[test]
    fn every_kind_is_listed_once_and_takes_known_keys() {
        for (i, kind) in KINDS.iter().enumerate() {
            assert!(KINDS[..i].iter().all(|other| other.name != kind.name));
            assert!(kind.accepted.iter().all(|key| KEYS.iter().any(|k| k.name == *key)), "{}", kind.name);
        }
        assert!(EVERY[..7].iter().all(|key| KEYS.iter().any(|k| k.name == *key)));
    }
}
