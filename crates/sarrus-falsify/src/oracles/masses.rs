//! Masses and inertias as the model file states them, and what follows from them with the columns of a run: an account that
//! shares no code with the simulator.

use crate::scene::{SceneElement, SceneFile, SceneValue};
use sarrus::analysis::Trajectory;

/// A vector.
pub type V3 = [f64; 3];

/// a + k b.
pub fn add(a: V3, k: f64, b: V3) -> V3 {
    [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]]
}

/// a · b.
pub fn dot(a: V3, b: V3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a × b.
pub fn cross(a: V3, b: V3) -> V3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The length of a.
pub fn norm(a: V3) -> f64 {
    dot(a, a).sqrt()
}

/// A body of which the file states everything that motion depends on.
#[derive(Clone, Debug)]
pub struct StatedBody {
    /// Its name.
    pub name: String,
    /// Mass \[kg\].
    pub mass: f64,
    /// Centre of mass in body axes \[m\].
    pub com: V3,
    /// Inertia about the centre of mass in body axes \[kg m²\].
    pub inertia: [V3; 3],
    indices: Vec<Option<usize>>,
}

/// The motion of a body at a row.
#[derive(Clone, Copy, Debug)]
pub struct BodyMotion {
    /// Centre of mass.
    pub at: V3,
    /// Its velocity.
    pub v: V3,
    /// Angular velocity in world axes.
    pub w: V3,
    /// Angular momentum about the centre of mass in world axes.
    pub spin: V3,
    /// Acceleration of the centre of mass.
    pub a: V3,
}

const COLUMNS: [&str; 20] = [
    "x", "y", "z", "q0", "q1", "q2", "q3", "vx", "vy", "vz", "wx", "wy", "wz", "ax", "ay", "az", "alphax",
    "alphay", "alphaz", "angle",
];

/// All bodies of a scene; none if the mass of one is not known from the file alone.
pub fn bodies(scene: &SceneFile, run: &Trajectory) -> Option<Vec<StatedBody>> {
    if scene.section("flexible").next().is_some() || scene.section("include").next().is_some() {
        return None;
    }
    scene.section("bodies").map(|e| body(scene, e, run)).collect()
}

fn point(scene: &SceneFile, value: &SceneValue) -> Option<V3> {
    let list = value.numbers()?;
    if list.len() != if scene.planar { 2 } else { 3 } {
        return None;
    }
    let mut out = [0.0; 3];
    out[..list.len()].copy_from_slice(&list);
    Some(out)
}

fn body(scene: &SceneFile, e: &SceneElement, run: &Trajectory) -> Option<StatedBody> {
    let mass = e.get("mass")?.number()?;
    let com = match e.get("com") {
        Some(com) => point(scene, com)?,
        None => [0.0; 3],
    };
    let diagonal = |d: V3| [[d[0], 0.0, 0.0], [0.0, d[1], 0.0], [0.0, 0.0, d[2]]];
    let inertia = match (e.kind(), e.get("inertia")) {
        ("point", _) => diagonal([0.0; 3]),
        (_, Some(inertia)) if e.get("inertia_about").is_none() => match inertia.number() {
            Some(moment) => diagonal([0.0, 0.0, moment]),
            None => diagonal(point(scene, inertia).filter(|_| !scene.planar)?),
        },
        (_, None) if e.get("shape").is_none() && e.get("com").is_none() => {
            let arm = add(point(scene, e.get("to")?)?, -1.0, point(scene, e.get("from")?)?);
            let (l2, r2) = (dot(arm, arm), dot(arm, arm) / 1600.0);
            let across = mass * (3.0 * r2 + l2) / 12.0;
            if scene.planar {
                diagonal([0.0, 0.0, mass * l2 / 12.0])
            } else {
                diagonal([mass * r2 / 2.0, across, across])
            }
        }
        _ => return None,
    };
    let column = |last: &str| {
        let last = match (scene.planar, last) {
            (true, "wz") => "rate",
            (true, "alphaz") => "alpha",
            (_, last) => last,
        };
        run.index(&format!("{}.{last}", e.name))
    };
    let indices: Vec<_> = COLUMNS.iter().map(|c| column(c)).collect();
    indices[0].is_some().then(|| StatedBody { name: e.name.clone(), mass, com, inertia, indices })
}

impl StatedBody {
    /// Its motion at a row of the results.
    pub fn motion(&self, row: &[f64]) -> BodyMotion {
        let c = |i: usize| self.indices[i].map_or(0.0, |p| row[p]);
        let v3 = |i: usize| [c(i), c(i + 1), c(i + 2)];
        let axes = if self.indices[3].is_some() {
            let [w, x, y, z] = [c(3), c(4), c(5), c(6)];
            [
                [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)],
                [2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)],
                [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)],
            ]
        } else {
            let (s, k) = c(19).sin_cos();
            [[k, s, 0.0], [-s, k, 0.0], [0.0, 0.0, 1.0]]
        };
        let world = |r: V3| add(add(add([0.0; 3], r[0], axes[0]), r[1], axes[1]), r[2], axes[2]);
        let (arm, w, alpha) = (world(self.com), world(v3(10)), world(v3(16)));
        let w_body = v3(10);
        let spin = world([0, 1, 2].map(|i| dot(self.inertia[i], w_body)));
        let a = add(add(v3(13), 1.0, cross(alpha, arm)), 1.0, cross(w, cross(w, arm)));
        BodyMotion { at: add(v3(0), 1.0, arm), v: add(v3(7), 1.0, cross(w, arm)), w, spin, a }
    }

    /// Its kinetic energy.
    pub fn kinetic(&self, m: &BodyMotion) -> f64 {
        0.5 * (self.mass * dot(m.v, m.v) + dot(m.w, m.spin))
    }
}
