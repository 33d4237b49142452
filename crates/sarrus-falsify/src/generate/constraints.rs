//! Constraints, gears and racks on axles that fit them.

use super::{Builder, round, settings, sometimes};
use crate::scene::{SceneTable, get, set};
use crate::table;

/// A tree with one or two constraints, or a body that rolls or cuts.
pub(super) fn constrained(b: &mut Builder) {
    match b.rng.below(5) {
        0 => b.rolling(),
        1 => b.wheels(),
        _ => {
            let n = b.rng.count(1, 4);
            b.grow(n, true);
            for _ in 0..b.rng.count(1, 2) {
                b.constraint();
            }
        }
    }
    b.set_moving();
    b.load();
    settings::choose(b);
}

impl Builder<'_> {
    /// A constraint between random bodies, true in the model pose.
    pub fn constraint(&mut self) {
        let name = self.name("c");
        let Some([first, second]) = self.two() else { return };
        let planar = self.scene.planar;
        let pair = [first.name.clone(), second.name.clone()];
        let bodies = pair.clone();
        let round_bodies = !first.point && !second.point;
        let at = if second.point { second.at } else { self.near_point(second.at, 0.2) };
        let origin = |b: &Self, p: bool| if p { b.vector([0.0; 3]) } else { b.vector([0.1, -0.05, 0.08]) };
        let readings = self.coordinates();
        let mut table: SceneTable = match self.rng.below(13) {
            0 if round_bodies => table!["kind" => "point", "bodies" => bodies, "at" => self.vector(at)],
            1 | 2 => {
                let start = if first.point { first.at } else { self.near_point(first.at, 0.2) };
                if start == at {
                    return;
                }
                table!["kind" => "distance", "bodies" => bodies, "ends" => [self.vector(start), self.vector(at)]]
            }
            3 | 4 if !first.point => {
                let kind = *self.rng.pick(&["point_on_line", "point_on_plane"]);
                let axis = self.any_axis();
                table!["kind" => kind, "bodies" => bodies, "at" => self.vector(at), "axis" => axis]
            }
            5 if round_bodies => {
                let axis = self.any_axis();
                let kind = *self.rng.pick(&["parallel", "angle"]);
                if kind == "angle" {
                    let (u, v) = if planar {
                        (self.vector([1.0, 0.2, 0.0]), self.vector([0.3, 1.0, 0.0]))
                    } else {
                        (self.vector([1.0, 0.2, 0.1]), self.vector([0.3, 1.0, -0.2]))
                    };
                    table!["kind" => kind, "bodies" => bodies, "axes" => [u, v]]
                } else {
                    table!["kind" => kind, "bodies" => bodies, "axes" => [axis.clone(), axis]]
                }
            }
            6 if round_bodies => {
                let (u, v) = (self.vector([1.0, 0.0, 0.0]), self.vector([0.0, 1.0, 0.0]));
                table!["kind" => "perpendicular", "bodies" => bodies, "axes" => [u, v]]
            }
            7 | 8 if readings.len() > 1 => {
                let i = self.rng.below(readings.len());
                let j = self.rng.below(readings.len());
                if i == j {
                    return;
                }
                let factor = self.rng.between(0.3, 2.0);
                let coordinates = [readings[i].value(), readings[j].value()];
                if self.rng.chance(0.3) {
                    let zero = format!("{} - {factor}*sin({})", coordinates[0], coordinates[1]);
                    table!["kind" => "expression", "zero" => zero]
                } else {
                    table!["kind" => "coupler", "coordinates" => coordinates, "factors" => [1.0, -factor], "value" => self.rng.between(-0.1, 0.1)]
                }
            }
            9 => {
                let on = origin(self, second.point);
                let (key, on) =
                    if self.rng.chance(0.3) { ("at", self.vector(second.at)) } else { ("on", on) };
                if planar {
                    table!["kind" => "point_on_curve", "body" => second.name, key => on, "path" => ["2*s", "0.3*sin(2*s)"]]
                } else if self.rng.chance(0.5) {
                    let curve = ["s", "0.5*sin(s)", "0.2*s"];
                    table!["kind" => "point_on_curve", "body" => second.name, key => on, "path" => curve]
                } else {
                    table!["kind" => "point_on_curve", "body" => second.name, key => on, "implicit" => "z - 0.3*x^2 + 0.2*y*x"]
                }
            }
            10 if !second.point => {
                let mut table =
                    table!["kind" => "knife_edge", "body" => second.name, "on" => origin(self, false)];
                if self.rng.chance(0.4) {
                    crate::scene::unset(&mut table, "on");
                    set(&mut table, "at", self.vector(second.at));
                }
                if !planar {
                    sometimes(self.rng, &mut table, 0.3, "up", [0.0, 0.1, 1.0]);
                }
                let blade = if planar { self.vector([1.0, 0.3, 0.0]) } else { self.vector([1.0, 0.3, 0.05]) };
                set(&mut table, if self.rng.chance(0.5) { "axis" } else { "axis_on" }, blade);
                table
            }
            11 => {
                let name = second.name;
                let zero = format!("{name}.vx*sin(0.5*{name}.y) - {name}.vy*cos(0.5*{name}.y) - 0.1*t");
                table!["kind" => "linear_velocity", "zero" => zero]
            }
            _ => return,
        };
        if round_bodies && get(&table, "bodies").is_some() {
            let key = ["axis", "axes"].into_iter().find(|k| get(&table, k).is_some());
            self.local(&mut table, &pair, key);
        }
        self.add("constraints", &name, table);
    }

    /// A direction of the space.
    pub fn any_axis(&mut self) -> crate::scene::SceneValue {
        let mut v = self.rng.direction();
        if self.scene.planar {
            v[2] = 0.0;
            if v[0].abs() + v[1].abs() < 0.2 {
                v = [1.0, 0.5, 0.0];
            }
        }
        self.vector(v)
    }

    /// A ball or a disc that rolls on the plane, perhaps with a pendulum on it.
    fn rolling(&mut self) {
        let radius = self.rng.between(0.1, 0.5);
        let planar = self.scene.planar;
        let at = if planar { [0.3, radius, 0.0] } else { [0.3, 0.2, radius] };
        let name = self.name("b");
        let mass = self.rng.scaled(0.5, 4.0);
        let ball = self.rng.chance(0.5);
        let mut table = table!["at" => self.vector(at), "mass" => mass];
        let inertia = super::bodies::digits(0.4 * mass * radius * radius);
        if ball || planar {
            if planar {
                set(&mut table, "inertia", inertia)
            } else {
                set(&mut table, "inertia", [inertia; 3])
            }
        } else {
            set(&mut table, "inertia", [0.6 * inertia, 0.6 * inertia, inertia].map(super::bodies::digits));
            let tilt =
                table!["axis" => [1.0, 0.0, 0.0], "angle" => format!("{} deg", self.rng.count(60, 85))];
            set(&mut table, "orientation", tilt);
        }
        self.add("bodies", &name, table);
        self.bodies.push(super::BodyDraft { name: name.clone(), at, point: false, origin: None });
        let constraint = self.name("c");
        let kind = if ball { "rolling_ball" } else { "rolling_disc" };
        let mut rolling = table!["kind" => kind, "body" => name.clone(), "radius" => radius];
        if (ball || planar) && self.rng.chance(0.3) {
            let normal = if planar { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
            set(
                &mut rolling,
                "plane",
                table!["at" => self.vector([0.0; 3]), "normal" => self.vector(normal)],
            );
        }
        if !ball && !planar && self.rng.chance(0.3) {
            set(&mut rolling, "axis_on", [0.0, 0.0, 1.0]);
        }
        self.add("constraints", &constraint, rolling);
        if self.rng.chance(0.4)
            && let Some(kind) = self.joint_kind("revolute")
        {
            let position = self.near_point(at, 0.2);
            let bob = self.new_body(position);
            if !bob.point {
                self.add_joint(kind, [name.clone(), bob.name], at, false);
            }
        }
        if planar {
            set(&mut self.scene.initial, &format!("{name}.rate"), self.rng.between(-5.0, 5.0));
        } else {
            let spin = self.rng.vector(6.0);
            self.state(format!("{name}.omega"), spin);
        }
    }

    /// Wheels on parallel axles of the ground or of an arm, in mesh; or a rack and its pinion.
    fn wheels(&mut self) {
        let radii = [self.rng.between(0.1, 0.3), self.rng.between(0.1, 0.3)];
        self.normal = (!self.scene.planar).then_some([0.0, 0.0, 1.0]);
        let at = [0.0, 0.0, 0.0];
        let rack = self.rng.chance(0.35);
        let internal = !rack && self.rng.chance(0.25) && (radii[0] - radii[1]).abs() > 0.02;
        let distance = if internal { radii[0] - radii[1] } else { radii[0] + radii[1] };
        let along = if rack { [0.0, -radii[1], 0.0] } else { [round(distance), 0.0, 0.0] };
        let (Some(pin), Some(slide)) = (self.joint_kind("revolute"), self.joint_kind("prismatic")) else {
            return;
        };
        let wheel = |b: &mut Self, position: [f64; 3], kind, parent: &str| {
            let name = b.name("b");
            let (size, mass) = (0.3, b.rng.scaled(0.5, 3.0));
            let table = b.stated(position, size, mass);
            b.add("bodies", &name, table);
            let body = super::BodyDraft { name: name.clone(), at: position, point: false, origin: None };
            b.bodies.push(body);
            let joint = b.add_joint(kind, [parent.to_string(), name.clone()], position, false);
            (name, joint)
        };
        let carried = !rack && self.rng.chance(0.3);
        let carrier = if carried { wheel(self, at, pin, "ground").0 } else { "ground".into() };
        let first = wheel(self, if rack { along } else { at }, if rack { slide } else { pin }, &carrier);
        let second = wheel(self, if rack { at } else { along }, pin, &carrier);
        let name = self.name("c");
        let bodies = [first.0.clone(), second.0.clone()];
        let mut table = if rack {
            let way = self.vector([1.0, 0.0, 0.0]);
            self.set(&first.1, "axis", way.clone());
            self.unset(&first.1, "axis_on");
            let mut table = table!["kind" => "rack", "bodies" => bodies, "radius" => radii[1]];
            if self.scene.planar {
                set(&mut table, "axis", way);
            } else {
                set(&mut table, "axes", [way, self.vector([0.0, 0.0, 1.0])]);
            }
            table
        } else {
            let teeth = self.rng.chance(0.3) && !internal;
            let mut table = table!["kind" => "gear", "bodies" => bodies];
            match teeth {
                true => set(&mut table, "teeth", [18.0, 27.0]),
                false => set(&mut table, "radii", radii),
            }
            set(&mut table, "mesh", if internal { "internal" } else { "external" });
            sometimes(self.rng, &mut table, 0.2, "at", [self.scene.vector(at), self.scene.vector(along)]);
            if !self.scene.planar {
                let z = self.vector([0.0, 0.0, 1.0]);
                sometimes(self.rng, &mut table, 0.3, "axes", [z.clone(), z]);
            }
            table
        };
        if rack {
            sometimes(self.rng, &mut table, 0.2, "at", self.scene.vector(at));
        }
        if carried {
            set(&mut table, "carrier", carrier);
        }
        sometimes(self.rng, &mut table, 0.3, "pressure_angle", "14.5 deg");
        if !self.scene.planar {
            sometimes(self.rng, &mut table, 0.3, "helix_angle", "15 deg");
        }
        if self.rng.chance(0.3) && table.iter().all(|(k, _)| k != "teeth") {
            set(&mut table, "stiffness", self.rng.scaled(1e3, 1e5));
            let (damping, backlash) = (self.rng.scaled(1.0, 30.0), self.rng.between(0.0005, 0.002));
            sometimes(self.rng, &mut table, 0.6, "damping", damping);
            sometimes(self.rng, &mut table, 0.5, "backlash", backlash);
        }
        self.add("constraints", &name, table);
    }
}
