//! Controllers with what they drive, measures and events.

use super::{Builder, sometimes};
use crate::scene::{SceneTable, set};
use crate::table;

impl Builder<'_> {
    /// A controller and an actuator that follows it.
    pub fn controller(&mut self) {
        let coordinates = self.coordinates();
        if coordinates.is_empty() {
            return;
        }
        let coordinate = coordinates[self.rng.below(coordinates.len())].clone();
        let name = self.name("u");
        let (value, speed) = (coordinate.value(), coordinate.speed());
        let kp = self.rng.between(0.5, 8.0);
        let period = *self.rng.pick(&[0.01, 0.02, 0.05]);
        let (table, out): (SceneTable, &str) = match self.rng.below(5) {
            0 | 1 => {
                let mut table =
                    table!["kind" => "pid", "input" => format!("0.3*sin(t) - {value}"), "kp" => kp];
                let (ki, kd) = (self.rng.between(0.1, 4.0), self.rng.between(0.05, 0.5));
                sometimes(self.rng, &mut table, 0.6, "ki", ki);
                if self.rng.chance(0.5) {
                    set(&mut table, "kd", kd);
                    set(&mut table, "filter", 0.05);
                }
                sometimes(self.rng, &mut table, 0.3, "limits", [-2.0, 2.0]);
                if self.rng.chance(0.3) {
                    set(&mut table, "period", period);
                    sometimes(self.rng, &mut table, 0.4, "delay", 0.5 * period);
                }
                (table, "out")
            }
            2 => {
                let mut table = table![
                    "kind" => "ode", "states" => table!["s" => 0.1, "r" => 0.0],
                    "rates" => table!["s" => "r", "r" => format!("-9*s - 0.5*r - {speed}")],
                    "outputs" => table!["u" => "3*s - 0.2*r"],
                ];
                if self.rng.chance(0.2) {
                    let update = table!["s" => "0.9*s + 0.01*r", "r" => format!("0.9*r - 0.05*{speed}")];
                    table[2] = ("update".into(), update.into());
                    set(&mut table, "period", period);
                    sometimes(self.rng, &mut table, 0.5, "delay", 0.5 * period);
                }
                (table, "u")
            }
            3 => {
                let mut table = table![
                    "kind" => "sampled", "period" => period, "states" => table!["s" => 0.0],
                    "update" => table!["s" => format!("0.8*s + 0.1*{value}")],
                    "outputs" => table!["u" => format!("-{kp}*s - 0.3*{speed}")],
                ];
                sometimes(self.rng, &mut table, 0.4, "delay", 0.5 * period);
                (table, "u")
            }
            _ if self.rng.chance(0.5) => {
                (table!["kind" => "input", "values" => table!["u" => kp, "w" => 1.0]], "u")
            }
            _ => (table!["kind" => "input", "value" => kp], "out"),
        };
        self.add("controllers", &name, table);
        let force = self.name("f");
        let effort = format!("{name}.{out}");
        self.add(
            "forces",
            &force,
            table!["kind" => "actuator", "joint" => coordinate.key(), coordinate.effort() => effort],
        );
    }

    /// A measure of any kind.
    pub fn measure(&mut self) {
        let Some([first, second]) = self.two() else { return };
        let name = self.name("m");
        let bodies = [first.name.clone(), second.name.clone()];
        let some: Vec<String> = self.bodies.iter().map(|b| b.name.clone()).collect();
        let joint = self.joints.first().map(|j| j.name.clone());
        let round = !first.point && !second.point;
        let table = match self.rng.below(7) {
            0 => {
                let ends = [self.vector(first.at), self.vector(second.at)];
                table!["kind" => "distance", "bodies" => bodies, "ends" => ends]
            }
            1 if round => {
                let (u, v) = (self.vector([1.0, 0.2, 0.0]), self.vector([0.4, 1.0, 0.0]));
                table!["kind" => "angle", "bodies" => bodies, "axes" => [u, v]]
            }
            2 => {
                let mut table = table!["kind" => "point", "body" => second.name];
                if !first.point {
                    sometimes(self.rng, &mut table, 0.5, "relative_to", first.name);
                }
                table
            }
            3 if joint.is_some() => {
                let joint = joint.unwrap_or_default();
                let mut table = table!["kind" => "reaction", "joint" => joint];
                sometimes(self.rng, &mut table, 0.3, "about", self.scene.vector(second.at));
                table
            }
            4 => table!["kind" => "momentum", "bodies" => some],
            5 => table!["kind" => "energy", "bodies" => some],
            _ => {
                self.add("measures", &name, format!("{0}.vx^2 + sin({0}.y)*t", second.name));
                return;
            }
        };
        self.add("measures", &name, table);
    }

    /// An event that switches something.
    pub fn event(&mut self) {
        let coordinates = self.coordinates();
        let Some(body) = self.body() else { return };
        let when = match self.rng.below(3) {
            0 => format!("t > {}", self.rng.between(0.05, 0.4)),
            1 if !coordinates.is_empty() => {
                let coordinate = &coordinates[self.rng.below(coordinates.len())];
                let value = self.rng.between(0.1, 0.8);
                format!("{} > {value}", coordinate.value())
            }
            _ => format!("{}.y < {}", body.name, self.rng.between(-0.6, 0.4)),
        };
        let mut table = table!["when" => when];
        sometimes(self.rng, &mut table, 0.6, "once", true);
        let names = |section: &str, b: &Self| -> Vec<String> {
            b.scene.section(section).map(|e| e.name.clone()).collect()
        };
        let lockable: Vec<String> =
            self.joints.iter().filter(|j| !j.kind.coordinates.is_empty()).map(|j| j.name.clone()).collect();
        let forces = names("forces", self);
        let inputs: Vec<String> = self
            .scene
            .section("controllers")
            .filter(|e| e.get("value").is_some())
            .map(|e| e.name.clone())
            .collect();
        match self.rng.below(6) {
            0 | 1 if !lockable.is_empty() => {
                let joint = self.rng.pick(&lockable).clone();
                set(&mut table, "lock", vec![joint.clone()]);
                if self.rng.chance(0.4) {
                    let later = self.name("e");
                    let release = table!["when" => "t > 0.45", "release" => vec![joint], "once" => true];
                    self.add("events", &later, release);
                }
            }
            2 if !forces.is_empty() => {
                let force = self.rng.pick(&forces).clone();
                set(&mut table, "disable", vec![force.clone()]);
                if self.rng.chance(0.4) {
                    let later = self.name("e");
                    let enable = table!["when" => "t > 0.45", "enable" => vec![force], "once" => true];
                    self.add("events", &later, enable);
                }
            }
            3 if !inputs.is_empty() => {
                let input = format!("{}.out", self.rng.pick(&inputs));
                set(&mut table, "set", table![input => "0.5"]);
            }
            4 if self.joints.len() > 1 => {
                let joint = self.joints[self.joints.len() - 1].name.clone();
                set(&mut table, "disable", vec![joint]);
            }
            _ => set(&mut table, "stop", "it is where it should be"),
        }
        let name = self.name("e");
        self.add("events", &name, table);
    }
}
