//! Scenes that touch: compliant laws with friction, and rigid contacts.

use super::{BodyDraft, Builder, round, settings, sometimes};
use crate::scene::{SceneTable, SceneValue, set};
use crate::table;

/// Bodies that fall on a floor, or on each other, with a compliant law.
pub(super) fn compliant(b: &mut Builder) {
    b.thrown(3);
    let mut law = table!["kind" => *b.rng.pick(&["hertz", "linear"]), "stiffness" => b.rng.scaled(2e3, 1e5)];
    match b.rng.below(5) {
        0 => {}
        1 => set(&mut law, "damping", b.rng.between(0.0, 20.0)),
        2 => set(&mut law, "factor", b.rng.between(0.0, 0.8)),
        _ => {
            set(&mut law, "restitution", b.rng.between(0.2, 1.0));
            let word = *b.rng.pick(&["hunt_crossley", "lankarani_nikravesh", "flores", "exact"]);
            sometimes(b.rng, &mut law, 0.5, "damping", word);
        }
    }
    let is_linear = law[0].1 == SceneValue::from("linear");
    let mut contact = b.sides();
    set(&mut contact, "law", law);
    if b.rng.chance(0.6) {
        let mu = b.rng.between(0.05, 0.8);
        let friction = match b.rng.below(3) {
            0 => table!["kind" => "coulomb", "mu" => mu, "slip_speed" => 0.01],
            1 => {
                let mut table = table!["kind" => "bristle", "mu" => mu];
                if !is_linear {
                    set(&mut table, "stiffness", 2e4);
                }
                sometimes(b.rng, &mut table, 0.3, "damping", 20.0);
                table
            }
            _ => {
                let mut table = table!["kind" => "lugre", "mu" => mu, "mu_static" => round(1.2 * mu)];
                sometimes(b.rng, &mut table, 0.4, "stiffness", 1e4);
                sometimes(b.rng, &mut table, 0.3, "damping", 10.0);
                sometimes(b.rng, &mut table, 0.3, "slip_speed", 0.01);
                table
            }
        };
        set(&mut contact, "friction", friction);
    }
    sometimes(b.rng, &mut contact, 0.1, "acts_at", "centre");
    let name = b.name("k");
    b.add("contacts", &name, contact);
    if b.rng.chance(0.1) {
        let body = b.bodies[0].name.clone();
        let gap = table![
            "gap" => format!("{body}.y + 0.4 + 0.1*sin(3*t)"), "law" => table!["kind" => "linear", "stiffness" => 5e3],
        ];
        let name = b.name("k");
        b.add("contacts", &name, gap);
    }
    if b.rng.chance(0.3) {
        b.load();
    }
    settings::choose(b);
}

/// The same with rigid contacts.
pub(super) fn rigid(b: &mut Builder) {
    b.thrown(2);
    let mut contact = b.sides();
    set(&mut contact, "method", "impulsive");
    let restitution = b.rng.between(0.0, 1.0);
    sometimes(b.rng, &mut contact, 0.8, "restitution", restitution);
    sometimes(b.rng, &mut contact, 0.3, "rule", "poisson");
    if b.rng.chance(0.5) {
        set(&mut contact, "friction", table!["mu" => b.rng.between(0.05, 0.8)]);
    }
    let name = b.name("k");
    b.add("contacts", &name, contact);
    if b.rng.chance(0.2) {
        b.load();
    }
    settings::choose(b);
}

impl Builder<'_> {
    /// Up to `most` bodies above a surface of the ground, thrown; one of them perhaps on a joint.
    fn thrown(&mut self, most: usize) {
        self.scene.gravity = if self.scene.planar { [0.0, -9.81, 0.0] } else { [0.0, 0.0, -9.81] };
        if self.rng.chance(0.25) {
            self.scene.gravity[0] = self.rng.between(-4.0, 4.0);
        }
        self.normal = None;
        let up = if self.scene.planar { 1 } else { 2 };
        let n = self.rng.count(1, most);
        let mut height = 0.0;
        for i in 0..n {
            let size = self.rng.between(0.1, 0.3);
            height += size + self.rng.between(0.02, 0.25);
            let mut at = [round(0.02 * i as f64), 0.0, 0.0];
            at[up] = round(height);
            height += size;
            let name = self.name("b");
            let mut table = table!["at" => self.vector(at), "mass" => self.rng.scaled(0.2, 3.0)];
            if self.rng.chance(0.5) {
                if self.scene.planar {
                    set(&mut table, "angle", self.rng.between(-1.5, 1.5));
                } else {
                    let orientation = self.orientation();
                    set(&mut table, "orientation", orientation);
                }
            }
            let mut shape = if self.rng.chance(0.5) {
                table!["kind" => "sphere", "radius" => super::bodies::digits(0.5 * size)]
            } else {
                self.solid(size, true)
            };
            set(&mut shape, "name", "skin");
            set(&mut table, "shape", shape);
            self.add("bodies", &name, table);
            self.bodies.push(BodyDraft { name: name.clone(), at, point: false, origin: None });
            let mut v = self.rng.vector(1.0);
            v[up] = -self.rng.between(0.0, 2.0);
            self.state(format!("{name}.velocity"), self.vector(v));
            if self.rng.chance(0.4) {
                match self.scene.planar {
                    true => {
                        set(&mut self.scene.initial, &format!("{name}.rate"), self.rng.between(-5.0, 5.0))
                    }
                    false => set(&mut self.scene.initial, &format!("{name}.omega"), self.rng.vector(4.0)),
                }
            }
        }
    }

    /// The ground's surface, and what touches it.
    fn sides(&mut self) -> SceneTable {
        let wide =
            if self.scene.planar { SceneValue::from([6.0, 0.2]) } else { SceneValue::from([6.0, 6.0, 0.2]) };
        let below = if self.scene.planar { [0.0, -0.1, 0.0] } else { [0.0, 0.0, -0.1] };
        let shape: SceneTable = match self.rng.below(8) {
            0 => table!["kind" => "plane"],
            1 => table!["kind" => "box", "size" => wide, "on" => self.vector(below)],
            2 if !self.scene.planar => {
                let tube = self.rng.chance(0.5);
                // walls to the left and right, or all round
                let rotated = table!["axis" => [1.0, 0.0, 0.0], "angle" => "90 deg"];
                let width = self.rng.between(2.0, 4.0);
                let on = self.vector([0.0, 0.0, 1.0]);
                table!["kind" => "channel", "width" => width, "tube" => tube, "on" => on, "orientation_on" => rotated]
            }
            _ => table!["kind" => "half_space"],
        };
        self.add("ground", "shape", shape);
        let all: Vec<String> = self.bodies.iter().map(|b| b.name.clone()).collect();
        let between: SceneValue = match self.rng.below(3) {
            0 => ["*", "ground"].into(),
            1 if all.len() > 1 => vec![SceneValue::from(all.clone()), SceneValue::from(vec!["*"])].into(),
            _ => vec![
                SceneValue::from(all.iter().map(|n| format!("{n}.skin")).collect::<Vec<_>>()),
                "ground".into(),
            ]
            .into(),
        };
        table!["between" => between]
    }
}
