//! The constraints. One file each, one line each in [`KINDS`].

pub mod angle;
pub mod compounds;
pub mod coupler;
pub mod distance;
pub mod expression;
pub mod gear;
pub mod knife_edge;
pub mod point_on_curve;
pub mod rolling;

use crate::at::At;
use crate::constraint::{Constraint, Rows};
use crate::context::Context;
use crate::load::Load;
use sarrus_math::{Twist, Vec3};
use sarrus_model::{Key, KeyType, Result};
use std::sync::Arc;

/// Describes what constraint files use.
mod prelude {
    pub use super::{BuiltRows, in_model_pose, perpendiculars, two_directions};
    pub use crate::at::At;
    pub use crate::constraint::{Constraint, JacobianBlocks, Multiplier, MultiplierScale};
    pub use crate::context::Context;
    pub use sarrus_math::{Mat3, Real, Vec3};
    pub use sarrus_model::{Key, KeyType, Result};
}

/// Rows and the bodies they are on.
pub struct BuiltRows {
    /// Bodies; 0 is ground.
    pub ids: Vec<u32>,
    /// The rows.
    pub rows: Arc<dyn Rows>,
    /// A force that acts instead of the rows: a mesh with stiffness.
    pub instead: Option<Arc<dyn Load>>,
    /// The separating force of teeth.
    pub mesh: Option<gear::GearMesh>,
}

impl BuiltRows {
    /// A constraint on bodies.
    pub fn new(ids: Vec<u32>, constraint: impl Constraint) -> Self {
        BuiltRows { ids, rows: Arc::new(constraint), instead: None, mesh: None }
    }
}

/// A registered kind of constraint.
pub struct ConstraintKind {
    /// Name in model files.
    pub name: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// Examples in a planar model with bodies `a`, `b`, `c` and joint `h`, for the conformance test.
    pub planar: &'static [&'static str],
    /// Examples in a spatial model, likewise.
    pub spatial: &'static [&'static str],
    /// Reads one; new discrete variables are added to the list.
    pub read: fn(&mut Context, &mut Vec<f64>) -> Result<BuiltRows>,
}

const STIFFNESS: Key = Key::new(
    "stiffness",
    KeyType::Number,
    "ideal: no force but a row",
    "of the mesh at the pitch circle [N/m]; a gear then needs `radii`",
);
const DAMPING: Key = Key::new("damping", KeyType::Number, "0", "of the mesh, with `stiffness` [N s/m]");
const BACKLASH: Key = Key::new("backlash", KeyType::Number, "0", "play of the mesh, with `stiffness` [m]");
const PRESSURE: Key = Key::new(
    "pressure_angle",
    KeyType::Number,
    "20 deg",
    "of the teeth, in the normal section [rad]; 0: no separating force",
);
const HELIX: Key =
    Key::new("helix_angle", KeyType::Number, "0", "spatial: of the teeth [rad], right-handed if positive");
const BODIES: Key = Key::new("bodies", KeyType::Bodies, "", "the two bodies");
const BODY: Key = Key::new("body", KeyType::Body, "", "the body");
const AT: Key = Key::new("at", KeyType::Point, "", "the point in the model pose [m]");
const ENDS: Key = Key::new("ends", KeyType::Points, "", "the two points in the model pose [m]");
const ON: Key = Key::new("on", KeyType::Local, "", "the point on each body [m], or a marker");
const ON_ONE: Key = Key::new("on", KeyType::Local, "the origin", "the point on the body [m], or a marker");
const AXES: Key = Key::new("axes", KeyType::Vectors, "", "two world directions, the first on the first body");
const AXIS_ON: Key =
    Key::new("axis_on", KeyType::LocalVector, "", "the direction on the body, or on each of two");

/// Every kind of constraint, in the order of `sarrus list constraints`.
pub static KINDS: &[ConstraintKind] = &[
    ConstraintKind {
        name: "point",
        doc: "keeps two points together",
        keys: &[BODIES, AT, ON],
        planar: &["bodies = ['a', 'b'], at = [0.3, 0.2]"],
        spatial: &["bodies = ['a', 'b'], on = [[0.1, 0.2, 0.3], [-0.2, 0.1, 0.4]]"],
        read: compounds::point,
    },
    ConstraintKind {
        name: "distance",
        doc: "keeps two points at a fixed distance: a massless bar",
        keys: &[
            BODIES,
            ENDS,
            ON,
            Key::new("length", KeyType::Number, "as in the model pose", "the distance [m]"),
        ],
        planar: &["bodies = ['a', 'b'], ends = [[0.1, 0.2], [0.9, 0.6]]"],
        spatial: &["bodies = ['a', 'b'], on = [[0.1, 0.2, 0.3], [-0.2, 0.1, 0.4]], length = 1.5"],
        read: distance::read,
    },
    ConstraintKind {
        name: "point_on_line",
        doc: "keeps a point of the second body on a line of the first",
        keys: &[
            BODIES,
            AT,
            ON,
            Key::new("axis", KeyType::Vector, "z, planar x", "the way of the line"),
            AXIS_ON,
        ],
        planar: &["bodies = ['a', 'b'], at = [0.3, 0.2], axis = [1, 2]"],
        spatial: &["bodies = ['a', 'b'], at = [0.3, 0.2, 0.1], axis = [1, 2, 3]"],
        read: compounds::point_on_line,
    },
    ConstraintKind {
        name: "point_on_plane",
        doc: "keeps a point of the second body in a plane of the first",
        keys: &[
            BODIES,
            AT,
            ON,
            Key::new("axis", KeyType::Vector, "z, planar y", "normal of the plane"),
            AXIS_ON,
        ],
        planar: &["bodies = ['a', 'b'], at = [0.3, 0.2], axis = [1, 2]"],
        spatial: &["bodies = ['a', 'b'], at = [0.3, 0.2, 0.1], axis = [1, 2, 3]"],
        read: compounds::point_on_plane,
    },
    ConstraintKind {
        name: "point_on_curve",
        doc: "keeps a point on a curve or surface given by expressions",
        keys: &[
            BODY,
            AT,
            ON_ONE,
            Key::new("implicit", KeyType::Expression, "", "f(x, y, z) = 0 [any]"),
            Key::new("path", KeyType::Expressions, "", "the point as a function of `s` [m]"),
            Key::new("frame", KeyType::Body, "ground", "the body that carries the curve"),
        ],
        planar: &[
            "body = 'a', on = [0.1, 0.2], implicit = 'y - sin(x)'",
            "body = 'a', frame = 'b', path = ['cos(s)', '2*sin(s)']",
        ],
        spatial: &[
            "body = 'a', on = [0.1, 0.2, 0], implicit = 'z - x*y^2', frame = 'b'",
            "body = 'a', path = ['cos(s)', 'sin(s)', '0.3*s']",
        ],
        read: point_on_curve::read,
    },
    ConstraintKind {
        name: "parallel",
        doc: "keeps two directions parallel",
        keys: &[BODIES, AXES, AXIS_ON],
        planar: &["bodies = ['a', 'b'], axes = [[1, 0], [1, 0.5]]"],
        spatial: &["bodies = ['a', 'b'], axes = [[1, 2, 3], [1, 2, 2.5]]"],
        read: compounds::parallel,
    },
    ConstraintKind {
        name: "perpendicular",
        doc: "keeps two directions at right angles",
        keys: &[BODIES, AXES, AXIS_ON],
        planar: &["bodies = ['a', 'b'], axes = [[1, 0], [0.2, 1]]"],
        spatial: &["bodies = ['a', 'b'], axis_on = [[1, 2, 3], [3, 0.1, -1]]"],
        read: compounds::perpendicular,
    },
    ConstraintKind {
        name: "angle",
        doc: "keeps the angle between two directions",
        keys: &[
            BODIES,
            AXES,
            AXIS_ON,
            Key::new("value", KeyType::Number, "as in the model pose", "the angle [rad]"),
        ],
        planar: &["bodies = ['a', 'b'], axes = [[1, 0], [0.2, 1]], value = '70 deg'"],
        spatial: &["bodies = ['a', 'b'], axis_on = [[1, 2, 3], [3, 0.1, -1]], value = '70 deg'"],
        read: angle::read,
    },
    ConstraintKind {
        name: "coupler",
        doc: "ties joint coordinates: sum of factor times coordinate = value",
        keys: &[
            Key::new("coordinates", KeyType::Names, "", "joint coordinates, such as \"A.angle\""),
            Key::new("factors", KeyType::Numbers, "", "one factor each"),
            Key::new("value", KeyType::Number, "as in the model pose", "what they add up to"),
        ],
        planar: &["coordinates = ['h.angle', 'g.angle'], factors = [1, -2.5]"],
        spatial: &["coordinates = ['h.angle', 'g.angle'], factors = [1, -2.5]"],
        read: coupler::read,
    },
    ConstraintKind {
        name: "gear",
        doc: "two wheels in mesh on axles of their carrier, with the tooth force at the pitch point (bevel: axes point away from the apex)",
        keys: &[
            BODIES,
            Key::new("teeth", KeyType::Numbers, "", "teeth of the two wheels [1]"),
            Key::new("radii", KeyType::Numbers, "", "pitch radii instead of teeth [m]"),
            Key::new(
                "mesh",
                KeyType::Choice(&["external", "internal", "bevel"]),
                "external",
                "which way they turn",
            ),
            Key::new("carrier", KeyType::Body, "ground", "the body that carries both axles"),
            Key::new("axes", KeyType::Vectors, "z", "spatial: the two axles in the model pose"),
            Key::new(
                "at",
                KeyType::Points,
                "their joints with the carrier, other joints about the axle, or origins",
                "the centres of the wheels in the model pose [m]",
            ),
            PRESSURE,
            HELIX,
            BACKLASH,
            STIFFNESS,
            DAMPING,
        ],
        planar: &[
            "bodies = ['a', 'b'], teeth = [20, 35]",
            "bodies = ['ground', 'b'], radii = [0.2, 0.1], mesh = 'internal', carrier = 'a'",
        ],
        spatial: &[
            "bodies = ['a', 'b'], teeth = [20, 35], axes = [[0, 0, 1], [1, 0, 0]], mesh = 'bevel'",
            "bodies = ['a', 'b'], radii = [0.2, 0.35], axes = [[0, 0, 1], [1, 0.2, 0]], mesh = 'bevel', carrier = 'c'",
            "bodies = ['a', 'b'], teeth = [20, 35], helix_angle = '20 deg'",
        ],
        read: gear::gear,
    },
    ConstraintKind {
        name: "rack",
        doc: "a rack in mesh with a pinion, with the tooth force at the pitch point",
        keys: &[
            Key::new("bodies", KeyType::Bodies, "", "the rack, then the pinion"),
            Key::new("radius", KeyType::Number, "", "pitch radius of the pinion [m]"),
            Key::new(
                "axis",
                KeyType::Vector,
                "x",
                "planar: where the rack goes when the pinion turns counter-clockwise",
            ),
            Key::new("axes", KeyType::Vectors, "", "spatial: that way, and the pinion's axle"),
            Key::new("carrier", KeyType::Body, "ground", "the body that carries both"),
            Key::new(
                "at",
                KeyType::Point,
                "its joint with the carrier, another joint about the axle, or its origin",
                "the centre of the pinion in the model pose [m]",
            ),
            PRESSURE,
            HELIX,
            BACKLASH,
            STIFFNESS,
            DAMPING,
        ],
        planar: &["bodies = ['a', 'b'], radius = 0.2, axis = [1, 0]"],
        spatial: &["bodies = ['a', 'b'], radius = 0.2, axes = [[1, 0, 0], [0, 0, 1]], carrier = 'c'"],
        read: gear::rack,
    },
    ConstraintKind {
        name: "expression",
        doc: "keeps an expression of positions and t at zero",
        keys: &[Key::new("zero", KeyType::Expression, "", "what stays zero")],
        planar: &["zero = 'a.x*b.y - 0.3*sin(h.angle) - 0.1*t'"],
        spatial: &["zero = 'a.x*b.y - 0.3*sin(h.angle) + a.q1 - 0.1*t^2'"],
        read: expression::read,
    },
    ConstraintKind {
        name: "rolling_ball",
        doc: "a ball that rolls on a plane without slipping",
        keys: &[
            BODY,
            Key::new("radius", KeyType::Number, "", "radius about the body's origin [m]"),
            Key::new("plane", KeyType::Any, "z = 0, planar y = 0", "{ at, normal } of the plane"),
        ],
        planar: &["body = 'a', radius = 0.4"],
        spatial: &["body = 'a', radius = 0.4, plane = { at = [0, 0, 0.1], normal = [0.1, 0.2, 1] }"],
        read: rolling::ball,
    },
    ConstraintKind {
        name: "rolling_disc",
        doc: "a thin disc that rolls on a plane without slipping",
        keys: &[
            BODY,
            Key::new("radius", KeyType::Number, "", "radius about the body's origin [m]"),
            Key::new("plane", KeyType::Any, "z = 0, planar y = 0", "{ at, normal } of the plane"),
            Key::new("axis", KeyType::Vector, "", "the axle in the model pose"),
            Key::new("axis_on", KeyType::LocalVector, "z", "the axle on the body"),
        ],
        planar: &["body = 'a', radius = 0.4"],
        spatial: &["body = 'a', radius = 0.4, axis_on = [0.2, 1, 0.1]"],
        read: rolling::disc,
    },
    ConstraintKind {
        name: "knife_edge",
        doc: "a blade or wheel that moves only along itself",
        keys: &[
            BODY,
            AT,
            ON_ONE,
            Key::new("axis", KeyType::Vector, "", "the way of the blade in the model pose"),
            Key::new("axis_on", KeyType::LocalVector, "x", "the way of the blade on the body"),
            Key::new(
                "up",
                KeyType::Vector,
                "z",
                "spatial: at right angles to what it forbids, in the model pose",
            ),
        ],
        planar: &["body = 'a', on = [0.3, 0.1], axis_on = [1, 0.2]"],
        spatial: &["body = 'a', on = [0.3, 0.1, 0], axis = [1, 0.2, 0]"],
        read: knife_edge::read,
    },
    ConstraintKind {
        name: "linear_velocity",
        doc: "keeps an expression that is linear in velocities at zero",
        keys: &[Key::new("zero", KeyType::Expression, "", "what stays zero")],
        planar: &["zero = 'a.vx*sin(a.angle) - a.vy*cos(a.angle) - 0.2*t'"],
        spatial: &["zero = 'a.vx*b.y - 2*h.rate + a.wz - 0.3'"],
        read: expression::linear_velocity,
    },
];

/// Two unit vectors at right angles to the unit vector `a` and to each other, right-handed: (x, y, a).
pub fn perpendiculars(a: [f64; 3]) -> ([f64; 3], [f64; 3]) {
    // the world axis that is least along `a`; x first, so that an axis along z keeps x and y
    let least = (1..3).fold(0, |best, i| if a[i].abs() < a[best].abs() - 1e-3 { i } else { best });
    let mut axis = [0.0; 3];
    axis[least] = 1.0;
    let (a, axis) = (Vec3(a), Vec3(axis));
    let x = axis - a.scale(a.dot(axis));
    let x = x.scale(1.0 / x.norm());
    (x.0, a.cross(x).0)
}

/// `axes` or `axis_on`: a direction on each of two bodies, in their axes.
pub fn two_directions(ctx: &Context, bodies: [u32; 2]) -> Result<[[f64; 3]; 2]> {
    for body in bodies {
        ctx.require_orientation(body, "bodies")?;
    }
    if ctx.reader.require_one_of(&["axes", "axis_on"])? == "axes" {
        let axes = ctx.reader.directions("axes")?.unwrap_or_default();
        let [a, b] = axes[..] else {
            return Err(ctx.reader.error("axes", format!("expected 2 directions, found {}", axes.len())));
        };
        return Ok([ctx.world_to_body(bodies[0], a), ctx.world_to_body(bodies[1], b)]);
    }
    let found = ctx.directions_on_two(bodies, "axis", "axis_on", false)?;
    found.ok_or_else(|| ctx.reader.missing("axis_on"))
}

/// Evaluates something in the model pose, at rest.
pub fn in_model_pose<T>(ctx: &Context, ids: &[u32], discrete: &[f64], read: impl FnOnce(&At<f64>) -> T) -> T {
    let poses: Vec<_> = ids.iter().map(|&id| ctx.model_pose(id)).collect();
    let twists = vec![Twist::zero(); ids.len()];
    let indices: Vec<u32> = (0..ids.len() as u32).collect();
    read(&At { t: 0.0, poses: &poses, twists: &twists, ids: &indices, discrete, outs: &[] })
}
