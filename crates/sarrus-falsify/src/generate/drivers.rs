//! Drivers: smooth functions of the time that fit the model pose.

use super::Builder;
use crate::scene::{SceneTable, set};
use crate::table;

impl Builder<'_> {
    /// A function of the time that is zero at the start, in `t`.
    fn program(&mut self, size: f64) -> String {
        let (a, w) = (self.rng.between(0.1, 1.0) * size, self.rng.between(1.0, 8.0));
        match self.rng.below(5) {
            0 => format!("{a:.3}*sin({w}*t)"),
            1 => format!("{a:.3}*t"),
            2 => format!("{a:.3}*t^2"),
            3 => format!("{a:.3}*smoothstep(t, 0.05, 0.4)"),
            _ => format!("{a:.3}*(1 - cos({w}*t))"),
        }
    }

    /// A driver of a joint, a point or a distance.
    pub fn driver(&mut self) {
        let name = self.name("d");
        let coordinates = self.coordinates();
        let angles: Vec<_> =
            coordinates.iter().filter(|p| !["x", "y"].contains(&p.coordinate.name)).collect();
        let table: SceneTable = match self.rng.below(6) {
            0..=3 if !angles.is_empty() => {
                let coordinate = angles[self.rng.below(angles.len())].clone();
                let reads = self.scene.elements.iter().find(|e| e.name == coordinate.joint).and_then(|e| {
                    e.get("reads").or_else(|| match e.get(coordinate.coordinate.name) {
                        Some(crate::scene::SceneValue::Table(t)) => crate::scene::get(t, "reads"),
                        _ => None,
                    })
                });
                let base = reads.and_then(crate::scene::SceneValue::number).unwrap_or(0.0);
                let way = coordinate.coordinate;
                let program = self.program(1.0);
                // what is stated of a driven joint would contradict it
                self.scene.initial.retain(|(k, _)| !k.starts_with(&format!("{}.", coordinate.joint)));
                let mut table = table!["kind" => "joint", "joint" => coordinate.key()];
                match (way.is_angle(), self.rng.chance(0.6)) {
                    (true, true) => set(&mut table, "angle", format!("{base} + {program}")),
                    (true, false) => set(&mut table, "rate", program),
                    (false, true) => set(&mut table, "position", format!("{base} + {program}")),
                    (false, false) => set(&mut table, "speed", program),
                }
                table
            }
            4 => {
                let Some(body) = self.body() else { return };
                let mut table = table!["kind" => "point", "body" => body.name.clone()];
                self.scene.initial.retain(|(k, _)| !k.starts_with(&format!("{}.", body.name)));
                let n = if self.scene.planar { 2 } else { 3 };
                let driven = self.rng.below(n);
                let way: Vec<String> =
                    (0..n).map(|i| if i == driven { self.program(0.5) } else { "free".into() }).collect();
                set(&mut table, "velocity", way);
                if !body.point {
                    let on = self.any(0.1);
                    match self.rng.chance(0.3) {
                        true => set(&mut table, "at", self.vector(body.at)),
                        false => set(&mut table, "on", on),
                    }
                }
                table
            }
            _ => {
                let Some([first, second]) = self.two() else { return };
                let d = [0, 1, 2].map(|i| first.at[i] - second.at[i]);
                let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
                if !(length > 0.1) {
                    return;
                }
                let ends = [self.vector(first.at), self.vector(second.at)];
                let program = self.program(0.05);
                let from = format!("hypot({}, {}, {}) + {program}", d[0], d[1], d[2]);
                table!["kind" => "distance", "bodies" => [first.name, second.name], "ends" => ends, "length" => from]
            }
        };
        self.add("drivers", &name, table);
    }
}
