//! Bodies, their shapes and how they start.

use super::{BodyDraft, Builder, round};
use crate::scene::{SceneTable, SceneValue, set};
use crate::table;

/// Materials with a density.
const MATERIALS: [&str; 6] = ["steel", "aluminium", "titanium", "brass", "abs", "wood"];

impl Builder<'_> {
    /// A body beside `at`, of a random make.
    pub fn new_body(&mut self, at: [f64; 3]) -> BodyDraft {
        let name = self.name("b");
        let size = self.rng.between(0.2, 0.8);
        let mut body = BodyDraft { name: name.clone(), at, point: false, origin: None };
        let mass = self.rng.scaled(0.2, 5.0);
        let mut table: SceneTable = match self.rng.below(10) {
            0 => {
                body.point = true;
                table!["kind" => "point", "at" => self.vector(at), "mass" => mass]
            }
            1..=3 => self.bar(at, size, mass),
            4..=6 => self.shaped(at, size, mass),
            _ => self.stated(at, size, mass),
        };
        if self.options && !body.point && self.rng.chance(0.15) {
            let position = self.any(0.3);
            let key = if self.rng.chance(0.5) { "on" } else { "at" };
            let position = if key == "at" { self.vector(self.clone_point(at)) } else { position };
            set(&mut table, "markers", table!["tip" => table![key => position]]);
        }
        let is_rotated =
            ["from", "angle", "orientation"].iter().any(|k| crate::scene::get(&table, k).is_some());
        body.origin = (!is_rotated).then_some(at);
        if !body.point && self.rng.chance(0.05) {
            set(&mut table, "kind", "rigid");
        }
        self.add("bodies", &name, table);
        self.bodies.push(body.clone());
        body
    }

    fn clone_point(&self, at: [f64; 3]) -> [f64; 3] {
        at.map(|x| round(x + 0.1))
    }

    fn bar(&mut self, at: [f64; 3], size: f64, mass: f64) -> SceneTable {
        let mut along = self.rng.direction();
        if self.scene.planar {
            along = [along[0] + 0.1, along[1], 0.0];
        }
        let length = along.iter().map(|x| x * x).sum::<f64>().sqrt();
        let end = |sign: f64| [0, 1, 2].map(|i| round(at[i] + sign * 0.5 * size * along[i] / length));
        let mut table =
            table!["from" => self.vector(end(-1.0)), "to" => self.vector(end(1.0)), "mass" => mass];
        if self.rng.chance(0.3) {
            let kind = *self.rng.pick(&["rod", "capsule", "ends"]);
            let shape = table!["kind" => kind, "radius" => self.rng.between(0.01, 0.05)];
            set(&mut table, "shape", shape);
        }
        table
    }

    fn pose(&mut self, at: [f64; 3]) -> SceneTable {
        let mut table = table!["at" => self.vector(at)];
        if self.rng.chance(0.3) {
            return table;
        }
        if self.scene.planar {
            let angle = self.rng.between(-3.0, 3.0);
            set(&mut table, "angle", angle);
        } else {
            let orientation = self.orientation();
            set(&mut table, "orientation", orientation);
        }
        table
    }

    /// An orientation in one of the ways of writing it.
    pub fn orientation(&mut self) -> SceneValue {
        match self.rng.below(4) {
            0 => SceneValue::from([1.0, self.rng.between(-1.0, 1.0), self.rng.between(-1.0, 1.0), 0.3]),
            1 => {
                let axis = self.rng.direction();
                table!["axis" => axis, "angle" => self.rng.between(-3.0, 3.0)].into()
            }
            2 => {
                let sequence = *self.rng.pick(&["zxz", "xyz", "zyx"]);
                table!["euler" => sequence, "angles" => self.rng.vector(1.2)].into()
            }
            _ => {
                let [a, b] = *self.rng.pick(&[["x", "y"], ["x", "z"], ["y", "z"]]);
                let (u, v) = (self.rng.between(0.1, 1.0), self.rng.between(-0.5, 0.5));
                table![a => [1.0, u, v], b => [-u, 1.0, 0.3]].into()
            }
        }
    }

    /// Mass, inertia and perhaps centre of mass as numbers.
    pub fn stated(&mut self, at: [f64; 3], size: f64, mass: f64) -> SceneTable {
        let mut table = self.pose(at);
        set(&mut table, "mass", mass);
        // moments of a box: no one is above the sum of the others
        let edges = [0; 3].map(|_| size * self.rng.between(0.3, 1.0));
        let moment = |i: usize, j: usize| digits(mass * (edges[i].powi(2) + edges[j].powi(2)) / 12.0);
        let moments = [moment(1, 2), moment(0, 2), moment(0, 1)];
        if self.scene.planar {
            set(&mut table, "inertia", moments[2]);
        } else if self.rng.chance(0.2) {
            let off = |k: f64| digits(k * moments.iter().fold(f64::MAX, |m, x| m.min(*x)));
            let (a, b) = (off(0.05), off(-0.03));
            let rows = [[moments[0], a, b], [a, moments[1], 0.0], [b, 0.0, moments[2]]];
            set(&mut table, "inertia", rows.map(SceneValue::from).to_vec());
        } else {
            set(&mut table, "inertia", moments);
        }
        if self.rng.chance(0.4) {
            let com = self.any(0.15);
            set(&mut table, "com", com);
            // about the origin the moments must be large enough
            if self.options && self.rng.chance(0.3) {
                let about = 0.2 * mass;
                let inertia =
                    if self.scene.planar { about.into() } else { SceneValue::from([about, about, about]) };
                set(&mut table, "inertia", inertia);
                set(&mut table, "inertia_about", "origin");
            }
        }
        table
    }

    fn shaped(&mut self, at: [f64; 3], size: f64, mass: f64) -> SceneTable {
        let mut table = self.pose(at);
        let dense = self.rng.chance(0.3);
        let shape = self.solid(size * if dense { 0.3 } else { 1.0 }, dense);
        if dense && !self.scene.planar {
            let material = *self.rng.pick(&MATERIALS);
            set(&mut table, "material", material);
        } else {
            set(&mut table, "mass", mass);
        }
        if self.rng.chance(0.15) {
            let mut second = self.solid(0.3 * size, true);
            set(&mut second, "on", self.any(0.2));
            set(&mut second, "role", *self.rng.pick(&["all", "mass"]));
            set(&mut second, "color", "red");
            set(&mut table, "shape", vec![shape, second]);
        } else {
            set(&mut table, "shape", shape);
        }
        table
    }

    /// A solid of about this size; `weighs`: with a volume.
    pub fn solid(&mut self, size: f64, weighs: bool) -> SceneTable {
        let d = |k: f64| digits(k * size);
        let thin = d(0.2);
        let mut shape = match self.rng.below(6) {
            0 => table!["kind" => "rod", "length" => d(1.0), "radius" => thin],
            1 => table!["kind" => "capsule", "length" => d(0.7), "radius" => thin],
            2 => table!["kind" => "disc", "radius" => d(0.5), "thickness" => thin],
            3 => table!["kind" => "sphere", "radius" => d(0.4)],
            4 => table!["kind" => "ends", "length" => d(0.8), "radius" => thin],
            _ if self.scene.planar => table!["kind" => "box", "size" => [d(1.0), d(0.6)]],
            _ => table!["kind" => "box", "size" => [d(1.0), d(0.6), d(0.4)]],
        };
        if !weighs && shape[0].1 == SceneValue::from("disc") && self.rng.chance(0.3) {
            crate::scene::unset(&mut shape, "thickness");
        }
        if self.options && self.rng.chance(0.2) {
            if self.scene.planar {
                set(&mut shape, "axis_on", [1.0, self.rng.between(-1.0, 1.0)]);
            } else if self.rng.chance(0.5) {
                set(&mut shape, "axis_on", [0.3, 1.0, self.rng.between(-1.0, 1.0)]);
            } else {
                let orientation = self.orientation();
                set(&mut shape, "orientation_on", orientation);
            }
        }
        shape
    }

    /// Gives the mechanism a motion at the start, in one of the ways of writing it.
    pub fn set_moving(&mut self) {
        if self.rng.chance(0.25) {
            return;
        }
        let closes = self.joints.iter().any(|j| j.closes);
        let tied: Vec<String> = self.joints.iter().flat_map(|j| j.bodies.clone()).collect();
        let free = |b: &BodyDraft| !tied.contains(&b.name);
        for body in self.bodies.clone() {
            if free(&body) || self.joints.iter().all(|j| !j.bodies.contains(&"ground".to_string())) {
                self.set_body_moving(&body);
                if !free(&body) {
                    break;
                }
            }
        }
        let coordinates = self.coordinates();
        if coordinates.is_empty() {
            return;
        }
        let loops: Vec<String> = self.joints.iter().filter(|j| j.closes).map(|j| j.name.clone()).collect();
        let mut n = if closes { 1 } else { self.rng.count(1, coordinates.len().min(3)) };
        for _ in 0..2 * n {
            let coordinate = &coordinates[self.rng.below(coordinates.len())];
            if n == 0 || loops.contains(&coordinate.joint) {
                continue;
            }
            n -= 1;
            let speed =
                self.rng.between(-4.0, 4.0) * if coordinate.coordinate.is_angle() { 1.0 } else { 0.5 };
            if self.rng.chance(0.2) {
                self.state(coordinate.speed(), format!("{speed} + 0.5*2"));
            } else {
                self.state(coordinate.speed(), round(speed));
            }
            if !closes && self.rng.chance(0.25) {
                set(&mut self.scene.initial, &coordinate.value(), self.rng.between(-0.6, 0.6));
            }
        }
    }

    fn set_body_moving(&mut self, body: &BodyDraft) {
        let name = &body.name;
        let v = self.any(2.0);
        match self.rng.below(3) {
            0 if self.scene.planar => {
                set(&mut self.scene.initial, &format!("{name}.vx"), self.rng.between(-2.0, 2.0));
                set(&mut self.scene.initial, &format!("{name}.vy"), self.rng.between(-2.0, 2.0));
            }
            _ => self.state(format!("{name}.velocity"), v),
        }
        if body.point {
            return;
        }
        match self.rng.below(3) {
            0 => {}
            _ if self.scene.planar => {
                set(&mut self.scene.initial, &format!("{name}.rate"), self.rng.between(-5.0, 5.0))
            }
            1 => set(&mut self.scene.initial, &format!("{name}.omega"), self.rng.vector(5.0)),
            _ => set(&mut self.scene.initial, &format!("{name}.omega_on"), self.rng.vector(5.0)),
        }
    }
}

/// Three significant digits.
pub(crate) fn digits(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}
