//! The generator: random mechanisms over all registered kinds. A scene depends on the seed and its index alone.

mod bodies;
mod closed;
mod constraints;
mod contacts;
mod control;
mod drivers;
mod examples;
mod flexible;
mod forces;
mod joints;
pub mod settings;
#[cfg(test)]
mod tests;

use crate::rng::Rng;
use crate::scene::{SceneElement, SceneFile, SceneTable, SceneValue, set};
use sarrus::system::coordinate::Coordinate;
use sarrus::system::joints::{JointKind, KINDS};

/// A body of the scene under construction.
#[derive(Clone, Debug)]
pub(crate) struct BodyDraft {
    /// Its name.
    pub name: String,
    /// Where it is, about.
    pub at: [f64; 3],
    /// True if it is a point mass.
    pub point: bool,
    /// Its origin, where its axes are those of the world.
    pub origin: Option<[f64; 3]>,
}

/// A joint of the scene under construction.
#[derive(Clone)]
pub(crate) struct JointDraft {
    /// Its name.
    pub name: String,
    /// Its registered kind.
    pub kind: &'static JointKind,
    /// Its bodies; `ground` among them.
    pub bodies: [String; 2],
    /// True if it closes a loop.
    pub closes: bool,
}

/// A coordinate of a joint.
#[derive(Clone)]
pub(crate) struct CoordinateDraft {
    /// The joint's name.
    pub joint: String,
    /// The coordinate.
    pub coordinate: &'static Coordinate,
    /// True if it is the only one of its joint.
    pub alone: bool,
}

impl CoordinateDraft {
    /// `A` or, of a joint with several, `A.angle`.
    pub fn key(&self) -> String {
        if self.alone { self.joint.clone() } else { self.value() }
    }

    /// `A.angle`
    pub fn value(&self) -> String {
        format!("{}.{}", self.joint, self.coordinate.name)
    }

    /// `A.rate`
    pub fn speed(&self) -> String {
        format!("{}.{}", self.joint, self.coordinate.speed)
    }

    /// `torque` or `force`.
    pub fn effort(&self) -> &'static str {
        if self.coordinate.is_angle() { "torque" } else { "force" }
    }
}

/// A scene under construction.
pub(crate) struct Builder<'r> {
    pub rng: &'r mut Rng,
    pub scene: SceneFile,
    pub bodies: Vec<BodyDraft>,
    pub joints: Vec<JointDraft>,
    /// The direction of all joint axes, where a spatial mechanism moves as a planar one.
    pub normal: Option<[f64; 3]>,
    /// True if joints and bodies get options.
    pub options: bool,
    count: usize,
}

/// Holds what is generated, how often, and how.
type Recipe = (&'static str, usize, fn(&mut Builder));

/// Scene `index` of the campaign with this seed.
pub fn generate(seed: u64, index: u64) -> SceneFile {
    let mut rng = Rng::new(seed, index);
    let recipes: [Recipe; 9] = [
        ("tree", 20, tree),
        ("loop", 20, closed_loop),
        ("floating", 8, floating),
        ("constrained", 10, constraints::constrained),
        ("contact", 8, contacts::compliant),
        ("rigid_contact", 8, contacts::rigid),
        ("flexible", 6, flexible::flexible),
        ("examples", 12, examples::examples),
        ("closed_form", 8, closed::closed_form),
    ];
    let mut ticket = rng.below(recipes.iter().map(|r| r.1).sum());
    for (flavour, weight, make) in recipes {
        if ticket < weight {
            let mut builder = Builder::new(&mut rng, flavour);
            make(&mut builder);
            return builder.scene;
        }
        ticket -= weight;
    }
    SceneFile::default()
}

impl<'r> Builder<'r> {
    fn new(rng: &'r mut Rng, flavour: &'static str) -> Builder<'r> {
        let planar = rng.chance(0.45);
        let t_end = *rng.pick(&[0.2, 0.5, 0.5, 1.0, 1.0, 2.0]);
        let run = crate::table!["t_end" => t_end, "max_steps" => 40_000.0, "wall_limit" => 2.0];
        let mut scene = SceneFile {
            flavour,
            planar,
            run,
            every: t_end / 200.0,
            gravity: [0.0; 3],
            ..SceneFile::default()
        };
        match rng.below(8) {
            0 => {}
            1 => scene.gravity = rng.vector(10.0),
            _ => scene.gravity[if planar { 1 } else { 2 }] = -9.81,
        }
        if planar {
            scene.gravity[2] = 0.0;
        }
        let normal = (!planar && rng.chance(0.4)).then(|| rng.direction());
        let options = rng.chance(0.5);
        Builder { rng, scene, bodies: Vec::new(), joints: Vec::new(), normal, options, count: 0 }
    }

    /// A vector of the space.
    pub fn vector(&self, v: [f64; 3]) -> SceneValue {
        self.scene.vector(v)
    }

    /// A random vector of the space.
    pub fn any(&mut self, size: f64) -> SceneValue {
        let v = self.rng.vector(size);
        self.vector(v)
    }

    /// A random point beside `at`.
    pub fn near_point(&mut self, at: [f64; 3], size: f64) -> [f64; 3] {
        let by = self.rng.vector(size);
        let mut out = [0, 1, 2].map(|i| round(at[i] + by[i]));
        if self.scene.planar {
            out[2] = 0.0;
        }
        out
    }

    /// A name that no element has.
    pub fn name(&mut self, letter: &str) -> String {
        self.count += 1;
        format!("{letter}{}", self.count)
    }

    /// Adds an element.
    pub fn add(&mut self, section: &'static str, name: &str, value: impl Into<SceneValue>) {
        let mut value = value.into();
        if let SceneValue::Table(table) = &mut value
            && ["constraints", "drivers"].contains(&section)
        {
            let rates = [self.rng.between(1.0, 8.0), self.rng.between(1.0, 8.0)];
            sometimes(self.rng, table, 0.12, "baumgarte", rates);
        }
        self.scene.elements.push(SceneElement { section, name: name.into(), value });
    }

    /// Sets a key of an element that has a table.
    pub fn set(&mut self, name: &str, key: &str, value: impl Into<SceneValue>) {
        if let Some(e) = self.scene.elements.iter_mut().find(|e| e.name == name)
            && let SceneValue::Table(table) = &mut e.value
        {
            set(table, key, value);
        }
    }

    /// Removes a key of an element that has a table.
    pub fn unset(&mut self, name: &str, key: &str) {
        if let Some(e) = self.scene.elements.iter_mut().find(|e| e.name == name)
            && let SceneValue::Table(table) = &mut e.value
        {
            crate::scene::unset(table, key);
        }
    }

    /// States a value at the start, once.
    pub fn state(&mut self, path: String, value: impl Into<SceneValue>) {
        set(&mut self.scene.initial, &path, value);
    }

    /// All joint coordinates with a name of their own.
    pub fn coordinates(&self) -> Vec<CoordinateDraft> {
        let of = |j: &JointDraft| {
            let alone = j.kind.coordinates.len() == 1;
            let name = j.name.clone();
            j.kind.coordinates.iter().map(move |c| CoordinateDraft {
                joint: name.clone(),
                coordinate: c,
                alone,
            })
        };
        self.joints.iter().flat_map(of).collect()
    }

    /// The same place and axis on the two bodies in place of the world's, now and then, where the axes of both are known.
    pub fn local(&mut self, table: &mut SceneTable, bodies: &[String; 2], axis: Option<&str>) {
        let ground = [0.0; 3];
        let origin = |name: &String| match name.as_str() {
            "ground" => Some(ground),
            name => self.bodies.iter().find(|b| b.name == name).and_then(|b| b.origin),
        };
        let (Some(first), Some(second)) = (origin(&bodies[0]), origin(&bodies[1])) else { return };
        let kind = crate::scene::get(table, "kind").and_then(SceneValue::text).unwrap_or("");
        let is_joint = KINDS.iter().any(|k| k.name == kind);
        if !self.rng.chance(0.6) {
            return;
        }
        if let Some(at) = crate::scene::get(table, "at").and_then(SceneValue::numbers) {
            let on = |o: [f64; 3]| at.iter().zip(o).map(|(x, o)| round(x - o)).collect::<Vec<f64>>();
            *table = std::mem::take(table).into_iter().filter(|(k, _)| k != "at").collect();
            set(table, "on", vec![SceneValue::from(on(first)), SceneValue::from(on(second))]);
        }
        if let Some(key) = axis
            && let Some(value) = crate::scene::get(table, key).cloned()
        {
            *table = std::mem::take(table).into_iter().filter(|(k, _)| k != key).collect();
            // a joint has its axis on each body, a line or plane on the first alone
            let on = match (key, value) {
                ("axis", one) if is_joint => vec![one.clone(), one].into(),
                (_, all) => all,
            };
            set(table, "axis_on", on);
        }
    }

    /// A body by chance; none where there is none.
    pub fn body(&mut self) -> Option<BodyDraft> {
        let n = self.bodies.len();
        (n > 0).then(|| self.bodies[self.rng.below(n)].clone())
    }

    /// Two bodies by chance, the first perhaps the ground.
    pub fn two(&mut self) -> Option<[BodyDraft; 2]> {
        let second = self.body()?;
        let at = self.rng.vector(0.5);
        let ground = BodyDraft { name: "ground".into(), at, point: false, origin: Some([0.0; 3]) };
        let first = self.body().filter(|b| b.name != second.name).unwrap_or(ground);
        Some([first, second])
    }
}

/// Three decimals.
pub(crate) fn round(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}

/// Optional keys: each with its chance.
pub(crate) fn sometimes(
    rng: &mut Rng,
    table: &mut SceneTable,
    chance: f64,
    key: &str,
    value: impl Into<SceneValue>,
) {
    if rng.chance(chance) {
        set(table, key, value);
    }
}

/// Bodies on joints, the first on the ground.
fn tree(b: &mut Builder) {
    let n = b.rng.count(1, 5);
    b.grow(n, true);
    b.set_moving();
    b.load();
    settings::choose(b);
}

/// A tree with one to three more joints.
fn closed_loop(b: &mut Builder) {
    if !b.scene.planar && b.rng.chance(0.7) {
        b.normal = Some(b.rng.direction());
    }
    if b.scene.planar || b.normal.is_some() {
        b.four_bars();
    } else {
        let n = b.rng.count(2, 5);
        b.grow(n, true);
        for _ in 0..b.rng.count(1, 2) {
            b.close();
        }
    }
    b.set_moving();
    b.load();
    settings::choose(b);
}

/// Bodies that nothing ties to the ground.
fn floating(b: &mut Builder) {
    if b.rng.chance(0.5) {
        b.scene.gravity = [0.0; 3];
    }
    let n = b.rng.count(1, 4);
    b.grow(n, false);
    b.set_moving();
    if b.rng.chance(0.6) {
        for _ in 0..b.rng.count(1, 2) {
            b.internal_force();
        }
    }
    settings::choose(b);
}

impl Builder<'_> {
    /// Forces, drivers, controllers, measures and events.
    fn load(&mut self) {
        for _ in 0..self.rng.below(4) {
            self.force();
        }
        if self.rng.chance(0.2) {
            self.driver();
        }
        if self.rng.chance(0.15) {
            self.constraint();
        }
        if self.rng.chance(0.25) {
            self.controller();
        }
        if self.rng.chance(0.2) {
            self.measure();
        }
        if self.rng.chance(0.12) {
            self.event();
        }
    }
}
