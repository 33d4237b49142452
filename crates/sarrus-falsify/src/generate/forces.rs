//! Forces of all kinds.

use super::{BodyDraft, Builder, sometimes};
use crate::scene::{SceneTable, SceneValue, set};
use crate::table;

impl Builder<'_> {
    /// A force of any kind.
    pub fn force(&mut self) {
        match self.rng.below(12) {
            0 => self.applied_force(),
            1 => self.twist(),
            2..=4 => self.internal_force(),
            5 | 6 => self.motor(),
            7 => self.joint_spring(),
            8 => self.field(),
            9 => self.drag(),
            10 => self.buoyancy(),
            _ => self.applied_force(),
        }
    }

    fn add_force(&mut self, mut table: SceneTable) {
        sometimes(self.rng, &mut table, 0.03, "nonideal", true);
        let name = self.name("f");
        self.add("forces", &name, table);
    }

    fn components(&mut self, size: f64, varies: bool) -> SceneValue {
        let v = self.rng.vector(size);
        if !varies {
            return self.vector(v);
        }
        let w = self.rng.between(1.0, 10.0);
        let n = if self.scene.planar { 2 } else { 3 };
        SceneValue::from(v[..n].iter().map(|x| format!("{x}*sin({w}*t) + 0.5")).collect::<Vec<_>>())
    }

    fn applied_force(&mut self) {
        let Some(body) = self.body() else { return };
        let varies = self.rng.chance(0.4);
        let key = if self.rng.chance(0.4) && !body.point { "force_on" } else { "force" };
        let force = self.components(5.0, varies);
        let mut table = table!["kind" => "force", "body" => body.name, key => force];
        if !body.point {
            match self.rng.below(3) {
                0 => set(&mut table, "on", self.scene.vector([0.1, 0.05, -0.08])),
                1 => set(&mut table, "at", self.scene.vector(body.at)),
                _ => {}
            }
        }
        self.add_force(table);
    }

    fn twist(&mut self) {
        let Some(body) = self.body().filter(|b| !b.point) else { return };
        let name = body.name;
        let varies = self.rng.chance(0.4);
        let size = 1.0;
        let table = if self.scene.planar {
            let torque = self.rng.between(-size, size);
            match varies {
                true => {
                    table!["kind" => "torque", "torque" => format!("{torque} - 0.1*{name}.rate"), "body" => name]
                }
                false => table!["kind" => "torque", "body" => name, "torque" => torque],
            }
        } else {
            let key = if self.rng.chance(0.4) { "torque_on" } else { "torque" };
            let torque = self.components(size, varies);
            table!["kind" => "torque", "body" => name, key => torque]
        };
        self.add_force(table);
    }

    fn ends(&mut self, table: &mut SceneTable, pair: &[BodyDraft; 2]) -> Option<()> {
        let [first, second] = pair;
        let point_of =
            |b: &mut Self, body: &BodyDraft| if body.point { body.at } else { b.near_point(body.at, 0.15) };
        let (p, q) = (point_of(self, first), point_of(self, second));
        let far = (0..3).map(|i| (p[i] - q[i]).powi(2)).sum::<f64>() > 0.01;
        set(table, "ends", [self.vector(p), self.vector(q)]);
        far.then_some(())
    }

    /// A force between two bodies: spring, actuator or bushing.
    pub fn internal_force(&mut self) {
        let Some(pair) = self.two() else { return };
        let bodies = [pair[0].name.clone(), pair[1].name.clone()];
        let mut table = match self.rng.below(5) {
            0..=2 => table!["kind" => "spring", "bodies" => bodies],
            3 => table!["kind" => "actuator", "bodies" => bodies],
            _ if pair.iter().any(|b| b.point) => return,
            _ => {
                let at = self.vector(pair[1].at);
                let mut table = table!["kind" => "bushing", "bodies" => bodies, "at" => at];
                let n = if self.scene.planar { 3 } else { 6 };
                let list = |b: &mut Self, lo, hi| (0..n).map(|_| b.rng.scaled(lo, hi)).collect::<Vec<f64>>();
                set(&mut table, "stiffness", list(self, 5.0, 300.0));
                if self.rng.chance(0.6) {
                    set(&mut table, "damping", list(self, 0.1, 5.0));
                }
                if !self.scene.planar {
                    let axis = self.any_axis();
                    sometimes(self.rng, &mut table, 0.5, "axis", axis);
                }
                let bodies = [pair[0].name.clone(), pair[1].name.clone()];
                self.local(&mut table, &bodies, None);
                self.add_force(table);
                return;
            }
        };
        if self.ends(&mut table, &pair).is_none() {
            return;
        }
        if table[0].1 == SceneValue::from("actuator") {
            let force = format!("{}*sin(3*t)", self.rng.between(1.0, 5.0));
            set(&mut table, "force", force);
            sometimes(self.rng, &mut table, 0.2, "limits", [-3.0, 3.0]);
        } else {
            self.spring_law(&mut table);
        }
        self.add_force(table);
    }

    fn spring_law(&mut self, table: &mut SceneTable) {
        if self.rng.chance(0.15) {
            set(table, "tension", "20*length^3 + 0.5*speed");
        } else {
            set(table, "stiffness", self.rng.scaled(5.0, 500.0));
            let (damping, rest) = (self.rng.scaled(0.05, 5.0), self.rng.between(0.05, 0.8));
            sometimes(self.rng, table, 0.5, "damping", damping);
            sometimes(self.rng, table, 0.4, "rest", rest);
            let preload = self.rng.between(-2.0, 4.0);
            sometimes(self.rng, table, 0.2, "preload", preload);
        }
        let only = *self.rng.pick(&["pull", "push"]);
        sometimes(self.rng, table, 0.15, "only", only);
    }

    fn motor(&mut self) {
        let coordinates = self.coordinates();
        if coordinates.is_empty() {
            return;
        }
        let coordinate = coordinates[self.rng.below(coordinates.len())].clone();
        let (k, c) = (self.rng.between(-5.0, 5.0), self.rng.between(0.0, 1.0));
        let effort = match self.rng.below(3) {
            0 => format!("{k}"),
            1 => format!("{k}*cos(4*t)"),
            _ => format!("{k} - {c}*{}", coordinate.speed()),
        };
        let mut table =
            table!["kind" => "actuator", "joint" => coordinate.key(), coordinate.effort() => effort];
        sometimes(self.rng, &mut table, 0.15, "limits", [-2.0, 2.0]);
        self.add_force(table);
    }

    fn joint_spring(&mut self) {
        let coordinates = self.coordinates();
        if coordinates.is_empty() {
            return;
        }
        let coordinate = coordinates[self.rng.below(coordinates.len())].clone();
        let mut table = table!["kind" => "spring", "joint" => coordinate.key()];
        self.spring_law(&mut table);
        self.add_force(table);
    }

    fn some_bodies(&mut self) -> Vec<String> {
        let mut names: Vec<String> = self.bodies.iter().map(|b| b.name.clone()).collect();
        self.rng.shuffle(&mut names);
        let n = self.rng.count(1, names.len().max(1));
        names.truncate(n);
        names
    }

    fn field(&mut self) {
        let bodies = self.some_bodies();
        let mut force = vec!["-3*mass*x".to_string(), "-0.3*vy + 0.2*mass*sin(t)".into()];
        if !self.scene.planar {
            force.push("-mass*z - 0.1*vz".into());
        }
        if !bodies.is_empty() {
            self.add_force(table!["kind" => "field", "bodies" => bodies, "force" => force]);
        }
    }

    /// A fluid, once; at rest, in a stream or with a surface.
    fn fluid(&mut self, still: bool) -> String {
        let kind = if still { 0 } else { self.rng.below(3) };
        let name = ["water", "stream", "sea"][kind];
        if self.scene.section("fluids").all(|e| e.name != name) {
            let mut table = table!["density" => self.rng.scaled(50.0, 1000.0)];
            match kind {
                1 => set(&mut table, "velocity", self.scene.vector([0.4, 0.1, -0.2])),
                2 => set(&mut table, "surface", self.rng.between(-0.5, 0.5)),
                _ => {}
            }
            self.add("fluids", name, table);
        }
        name.into()
    }

    fn drag(&mut self) {
        let bodies = self.some_bodies();
        let added = self.rng.chance(0.2);
        let fluid = self.fluid(added);
        let mut table = table!["kind" => "drag", "bodies" => bodies.clone(), "fluid" => fluid];
        let mut law = |c: f64| table!["coefficient" => c, "area" => self.rng.between(0.001, 0.05)];
        let points = self.bodies.iter().any(|b| b.point && bodies.contains(&b.name));
        match points {
            true => set(&mut table, "isotropic", law(0.5)),
            false => {
                let (axial, transverse) = (law(0.05), law(1.2));
                set(&mut table, "axial", axial);
                set(&mut table, "transverse", transverse);
            }
        }
        if added && !bodies.is_empty() {
            let (along, across) = (self.rng.between(0.05, 0.5), self.rng.between(0.05, 0.5));
            set(&mut table, "added_mass", if points { [along, along] } else { [along, across] });
        }
        if !bodies.is_empty() {
            self.add_force(table);
        }
    }

    fn buoyancy(&mut self) {
        let bodies = self.some_bodies();
        if bodies.is_empty() || self.scene.gravity == [0.0; 3] {
            return;
        }
        let fluid = self.fluid(false);
        let volume = self.rng.scaled(1e-4, 2e-3);
        self.add_force(
            table!["kind" => "buoyancy", "bodies" => bodies, "fluid" => fluid, "volume" => volume],
        );
    }
}
