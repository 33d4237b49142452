//! Joints with their options, trees and loops of them.

use super::{Builder, JointDraft, round, sometimes};
use crate::scene::{SceneTable, set};
use crate::table;
use sarrus::model::Space;
use sarrus::system::coordinate::Coordinate;
use sarrus::system::joint::AxisRole;
use sarrus::system::joints::{JointKind, KINDS};

impl Builder<'_> {
    /// The registered kinds of this space.
    pub fn joint_kinds(&self) -> Vec<&'static JointKind> {
        let space = if self.scene.planar { Space::Planar } else { Space::Spatial };
        KINDS.iter().filter(|k| k.space == space).collect()
    }

    /// A kind by name.
    pub fn joint_kind(&self, name: &str) -> Option<&'static JointKind> {
        self.joint_kinds().into_iter().find(|k| k.name == name)
    }

    /// `n` bodies, each on a joint with an earlier one or the ground; without `grounded` the first is free.
    pub fn grow(&mut self, n: usize, grounded: bool) {
        let origin = self.rng.vector(0.5);
        let mut tip = self.near_point(origin, 0.0);
        for i in 0..n {
            let parent = match i {
                0 if !grounded => None,
                0 => Some(("ground".to_string(), tip, false)),
                _ => {
                    let body = self.bodies[self.rng.below(i)].clone();
                    Some((body.name.clone(), body.at, body.point))
                }
            };
            let at = self.near_point(parent.as_ref().map_or(tip, |p| p.1), 0.6);
            let body = self.new_body(at);
            tip = at;
            let Some((parent, near, parent_is_point)) = parent else { continue };
            // a body now and then is free, or hangs on forces alone
            if grounded && i > 0 && self.rng.chance(0.06) {
                continue;
            }
            let round_kind = if self.scene.planar { "revolute" } else { "spherical" };
            let only_round = body.point || parent_is_point;
            let kinds = self.joint_kinds();
            let kind = match only_round {
                true => self.joint_kind(round_kind),
                false if self.normal.is_some() => {
                    let names = ["revolute", "revolute", "prismatic", "cylindrical", "planar", "fixed"];
                    let name = *self.rng.pick(&names);
                    self.joint_kind(name)
                }
                false if self.rng.chance(0.35) => self.joint_kind("revolute"),
                false => Some(*self.rng.pick(&kinds)),
            };
            let Some(kind) = kind else { continue };
            let middle = [0, 1, 2].map(|k| round(0.5 * (near[k] + at[k])));
            // points may join at themselves alone
            let position = if body.point && !parent_is_point && self.rng.chance(0.5) { near } else { middle };
            let position = if parent_is_point { near } else { position };
            self.add_joint(kind, [parent, body.name], position, false);
        }
    }

    /// One more joint between two bodies, or a body and the ground.
    pub fn close(&mut self) {
        let Some([first, second]) = self.two() else { return };
        if first.name == second.name || first.point || second.point {
            return;
        }
        let weak = ["spherical", "cylindrical", "planar", "universal", "revolute"];
        let name = if self.scene.planar { "revolute" } else { *self.rng.pick(&weak) };
        let Some(kind) = self.joint_kind(name) else { return };
        let at = self.near_point(second.at, 0.3);
        self.add_joint(kind, [first.name, second.name], at, true);
    }

    /// Four-bars in a row or one slider-crank, in a plane; in space with parallel axes, and so redundant.
    pub fn four_bars(&mut self) {
        let e = self.in_plane();
        let shift = self.rng.vector(0.4);
        let at = |x: f64, y: f64, z: f64| {
            [0, 1, 2].map(|i| round(shift[i] + x * e[0][i] + y * e[1][i] + z * e[2][i]))
        };
        let planar = self.scene.planar;
        let n = if self.rng.chance(0.75) { 1 } else { 2 };
        let crank = [self.rng.between(-0.1, 0.2), self.rng.between(0.15, 0.3)];
        let rocker = [self.rng.between(-0.2, 0.2), self.rng.between(0.25, 0.5)];
        let point = move |p: [f64; 3]| if planar { [p[0], p[1], 0.0] } else { p };
        let slider = self.rng.chance(0.3);
        let joint = |b: &mut Self, kind: &str, bodies: [&str; 2], position: [f64; 3], closes: bool| {
            if let Some(kind) = b.joint_kind(kind) {
                b.add_joint(kind, bodies.map(str::to_string), point(position), closes);
            }
        };
        let mut left = ("ground".to_string(), at(0.0, 0.0, 0.0), at(crank[0], crank[1], 0.0), String::new());
        left.3 = self.plain_bar(point(left.1), point(left.2));
        joint(self, "revolute", ["ground", &left.3], left.1, false);
        for k in 1..=n {
            let x = 0.5 * k as f64;
            let top = at(x + rocker[0], if slider { crank[1] } else { rocker[1] }, 0.0);
            let coupler = self.plain_bar(point(left.2), point(top));
            // in the plane of motion bars may be one behind the other
            joint(self, "revolute", [&left.3, &coupler], left.2, false);
            if slider && k == n {
                let block = self.new_body(point(top));
                let kind = if block.point { None } else { Some(()) };
                joint(self, "revolute", [&coupler, &block.name], top, false);
                if kind.is_some()
                    && let Some(kind) = self.joint_kind("prismatic")
                {
                    let name = self.add_joint(kind, ["ground".into(), block.name.clone()], point(top), true);
                    let along = self.vector(e[0].map(round));
                    self.set(&name, "axis", along);
                    self.unset(&name, "axis_on");
                }
                return;
            }
            let foot = at(x, 0.0, 0.0);
            let bar = self.plain_bar(point(foot), point(top));
            joint(self, "revolute", ["ground", &bar], foot, false);
            joint(self, "revolute", [&coupler, &bar], top, true);
            left = ("ground".into(), foot, top, bar);
        }
        if self.options && self.rng.chance(0.2) {
            self.close();
        }
    }

    /// Two directions across the common normal, and it.
    fn in_plane(&self) -> [[f64; 3]; 3] {
        let Some(n) = self.normal.filter(|_| !self.scene.planar) else {
            return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        };
        let length = n.iter().map(|x| x * x).sum::<f64>().sqrt();
        let n = n.map(|x| x / length);
        let (x, y) = sarrus::system::constraints::perpendiculars(n);
        [x, y, n]
    }

    fn plain_bar(&mut self, from: [f64; 3], to: [f64; 3]) -> String {
        let name = self.name("b");
        let mass = self.rng.scaled(0.2, 3.0);
        let middle = [0, 1, 2].map(|i| 0.5 * (from[i] + to[i]));
        let table = table!["from" => self.vector(from), "to" => self.vector(to), "mass" => mass];
        self.add("bodies", &name, table);
        self.bodies.push(super::BodyDraft { name: name.clone(), at: middle, point: false, origin: None });
        name
    }

    /// A joint of a kind, with the axes that it takes and perhaps options.
    pub fn add_joint(
        &mut self,
        kind: &'static JointKind,
        bodies: [String; 2],
        at: [f64; 3],
        closes: bool,
    ) -> String {
        let name = self.name("j");
        let mut table = table!["kind" => kind.name, "bodies" => bodies.to_vec(), "at" => self.vector(at)];
        let normal = self.normal;
        let axis = |b: &mut Self| normal.unwrap_or_else(|| b.rng.direction());
        match kind.axis {
            AxisRole::None => {}
            AxisRole::Z => set(&mut table, "axis", axis(self)),
            AxisRole::ZX | AxisRole::Cross => {
                let z = axis(self);
                let length = z.iter().map(|x| x * x).sum::<f64>().sqrt();
                let (x, _) = sarrus::system::constraints::perpendiculars(z.map(|x| x / length));
                set(&mut table, "axis", z);
                set(&mut table, "axis2", x);
            }
            AxisRole::X => {
                let along = [self.rng.between(0.2, 1.0), self.rng.between(-1.0, 1.0), 0.0];
                set(&mut table, "axis", self.vector(along));
            }
        }
        if kind.name == "screw" {
            let lead = self.rng.between(0.05, 0.5);
            set(&mut table, "lead", if self.rng.chance(0.5) { lead } else { -lead });
        }
        if self.options {
            self.joint_options(kind, &mut table, closes);
        }
        let rigid = |b: &String| b == "ground" || self.bodies.iter().any(|o| o.name == *b && !o.point);
        if bodies.iter().all(rigid) {
            self.local(&mut table, &bodies, (kind.axis == AxisRole::Z).then_some("axis"));
        }
        self.add("joints", &name, table);
        self.joints.push(JointDraft { name: name.clone(), kind, bodies, closes });
        name
    }

    fn joint_options(&mut self, kind: &'static JointKind, table: &mut SceneTable, closes: bool) {
        let sense =
            ["cylindrical", "screw"].contains(&kind.name) || (self.scene.planar && kind.name == "revolute");
        if sense {
            sometimes(self.rng, table, 0.15, "sense", "against");
        }
        let rates = [self.rng.between(1.0, 8.0), self.rng.between(1.0, 8.0)];
        sometimes(self.rng, table, 0.05, "baumgarte", rates);
        sometimes(self.rng, table, 0.05, "compliance", table!["force" => 1e-6, "torque" => 1e-5]);
        match kind.coordinates {
            [] => {
                let mu = self.rng.between(0.02, 0.3);
                if kind.name == "spherical" {
                    sometimes(self.rng, table, 0.15, "friction", table!["mu" => mu, "radius" => 0.02]);
                }
            }
            [one] => {
                let options = self.coordinate_options(one, kind.name, closes);
                table.extend(options);
            }
            several => {
                for c in several {
                    if self.rng.chance(0.4) {
                        let options = self.coordinate_options(c, kind.name, closes);
                        if !options.is_empty() {
                            set(table, c.name, options);
                        }
                    }
                }
            }
        }
        if ["revolute", "spherical"].contains(&kind.name) && !closes && self.rng.chance(0.05) {
            let law = table!["kind" => "linear", "stiffness" => 1e5, "restitution" => 0.6];
            set(table, "clearance", table!["gap" => 1e-3, "law" => law]);
            crate::scene::unset(table, "armature");
        }
    }

    fn coordinate_options(&mut self, c: &Coordinate, kind: &str, closes: bool) -> SceneTable {
        let mut table = SceneTable::new();
        let rng = &mut *self.rng;
        let angle = c.is_angle();
        let value = rng.between(-0.5, 0.5);
        sometimes(rng, &mut table, 0.15, "reads", value);
        if rng.chance(0.35) {
            set(&mut table, "stiffness", rng.scaled(1.0, if angle { 50.0 } else { 500.0 }));
            let rest = rng.between(-0.5, 0.5);
            sometimes(rng, &mut table, 0.7, "rest", rest);
        }
        if rng.chance(0.3) {
            set(&mut table, "damping", rng.scaled(0.01, 2.0));
        }
        if rng.chance(0.06) && !closes {
            let by = rng.between(0.2, 1.0);
            set(&mut table, "lock_at", round(value + if rng.chance(0.5) { by } else { -by }));
        } else if rng.chance(0.12) {
            let base = if table.iter().any(|(k, _)| k == "reads") { value } else { 0.0 };
            let (lo, hi) = (round(base - rng.between(0.1, 0.8)), round(base + rng.between(0.1, 0.8)));
            let limits = if rng.chance(0.2) { [lo, f64::INFINITY] } else { [lo, hi] };
            set(&mut table, "limits", limits);
            let stop = match rng.below(3) {
                0 => None,
                1 => Some(table!["restitution" => rng.between(0.0, 1.0)]),
                _ => {
                    Some(table!["stiffness" => rng.scaled(100.0, 5000.0), "damping" => rng.between(0.0, 5.0)])
                }
            };
            if let Some(stop) = stop {
                set(&mut table, "stop", stop);
            }
        }
        if rng.chance(0.15) {
            let mut friction: SceneTable = match rng.below(3) {
                0 => table![(if angle { "torque" } else { "force" }) => rng.scaled(0.01, 1.0)],
                _ => table!["mu" => rng.between(0.02, 0.2), "radius" => rng.between(0.01, 0.04)],
            };
            sometimes(rng, &mut friction, 0.8, "slip_speed", 0.1);
            set(&mut table, "friction", friction);
        }
        if rng.chance(0.1) && kind != "fixed" {
            set(&mut table, "armature", rng.scaled(0.001, 0.2));
        }
        table
    }
}
