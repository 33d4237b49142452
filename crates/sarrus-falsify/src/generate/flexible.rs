//! Beams, rods and modal bodies, with a body at the end.

use super::{Builder, settings, sometimes};
use crate::scene::{SceneTable, set};
use crate::table;

/// A flexible member on a joint, or free.
pub(super) fn flexible(b: &mut Builder) {
    let planar = b.scene.planar;
    let run = table!["t_end" => 0.1, "max_steps" => 40_000.0, "wall_limit" => 2.0];
    (b.scene.run, b.scene.every) = (run, 0.1 / 200.0);
    let section = b.section();
    b.add("sections", "profile", section.0);
    b.add(
        "materials",
        "soft",
        table!["density" => 1100.0, "young" => 5e6, "poisson" => 0.45, "damping" => 1e-3],
    );
    let (from, to) = ([0.0; 3], [b.rng.between(0.5, 1.0), b.rng.between(-0.2, 0.2), 0.0]);
    let member = b.name("s");
    let kind = *b.rng.pick(&["beam", "beam", "segmented_rod", "modal"]);
    let mut table: SceneTable = table!["kind" => if kind == "modal" { "beam" } else { kind }];
    if kind == "beam" && b.rng.chance(0.25) {
        let middle = [0.5 * to[0], to[1] + 0.1, 0.0];
        set(&mut table, "path", [from, middle, to].map(|p| b.scene.vector(p)).to_vec());
    } else {
        set(&mut table, "from", b.vector(from));
        set(&mut table, "to", b.vector(to));
    }
    set(&mut table, "section", "profile");
    if section.1 {
        set(&mut table, "material", "soft");
    }
    match kind {
        "segmented_rod" => set(&mut table, "segments", b.rng.count(3, 6) as f64),
        _ => set(&mut table, "elements", b.rng.count(2, 4) as f64),
    }
    if kind == "beam" {
        let order = b.rng.count(1, 3);
        if order > 1 {
            set(&mut table, "order", order as f64);
        } else {
            sometimes(b.rng, &mut table, 0.3, "mass_matrix", "lumped");
        }
    }
    let damping = b.rng.scaled(1e-4, 1e-2);
    sometimes(b.rng, &mut table, 0.4, "damping", damping);
    if !planar {
        sometimes(b.rng, &mut table, 0.4, "up", [0.0, 0.3, 1.0]);
    }
    if kind == "segmented_rod" {
        sometimes(b.rng, &mut table, 0.2, "shape", table!["kind" => "capsule", "radius" => 0.02]);
    }
    b.add("flexible", &member, table);
    let (start, end) = match kind {
        "modal" => modal(b, &member, to),
        _ => (format!("{member}.start"), format!("{member}.end")),
    };
    if b.rng.chance(0.75) {
        let kind = *b.rng.pick(&["fixed", "revolute"]);
        let joint = table!["kind" => kind, "bodies" => ["ground".to_string(), start], "at" => b.vector(from)];
        let name = b.name("j");
        b.add("joints", &name, joint);
    }
    if b.rng.chance(0.5) && !end.is_empty() {
        let position = b.near_point(to, 0.05);
        let mass = b.new_body(position);
        if !mass.point {
            let name = b.name("j");
            let joint = table!["kind" => "fixed", "bodies" => [end, mass.name], "at" => b.vector(to)];
            b.add("joints", &name, joint);
        }
    }
    settings::for_flexible(b);
}

/// A section, and whether it needs a material.
fn section(b: &mut Builder) -> (SceneTable, bool) {
    let planar = b.scene.planar;
    let size = b.rng.between(0.03, 0.06);
    let table = match b.rng.below(5) {
        0 => table!["kind" => "circle", "radius" => size],
        1 => table!["kind" => "tube", "radius" => size, "wall" => 0.2 * size],
        2 | 3 => {
            let mut table = table!["kind" => "rectangle", "width" => 1.5 * size, "height" => size];
            sometimes(b.rng, &mut table, 0.3, "wall", 0.2 * size);
            table
        }
        _ => {
            let pair =
                |y: f64, z: f64| if planar { y.into() } else { crate::scene::SceneValue::from([y, z]) };
            let mut table =
                table!["kind" => "given", "EA" => 5e4, "GA" => pair(1.5e4, 1.5e4), "EI" => pair(20.0, 30.0)];
            set(&mut table, "rhoA", 5.0);
            set(&mut table, "rhoI", pair(2e-3, 3e-3));
            if !planar {
                set(&mut table, "GJ", 15.0);
            }
            return (table, false);
        }
    };
    (table, true)
}

impl Builder<'_> {
    fn section(&mut self) -> (SceneTable, bool) {
        section(self)
    }
}

/// A modal body of the beam; its start and its end as bodies, where the end is an interface.
fn modal(b: &mut Builder, beam: &str, to: [f64; 3]) -> (String, String) {
    let name = b.name("s");
    let both = b.rng.chance(0.4);
    let mut interface = vec![format!("{beam}.start")];
    if both {
        interface.push(format!("{beam}.end"));
    }
    let mut table = table!["kind" => "modal", "members" => vec![beam.to_string()], "interface" => interface];
    set(&mut table, "modes", b.rng.count(2, 4) as f64);
    sometimes(b.rng, &mut table, 0.5, "damping", 0.02);
    sometimes(b.rng, &mut table, 0.2, "geometric_stiffness", false);
    if !both {
        set(&mut table, "show", vec![format!("{beam}.end")]);
    }
    if to[1] == 0.0 {
        crate::scene::unset(&mut table, "damping");
    }
    b.add("flexible", &name, table);
    (format!("{name}.node1"), if both { format!("{name}.node2") } else { String::new() })
}
