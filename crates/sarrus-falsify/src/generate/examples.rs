//! Examples of the registries, each kind as its author wrote it, in a world that has what they name. A new kind is exercised from the
//! day it is registered.

use super::{Builder, settings};
use crate::scene::{SceneValue, set};
use crate::table;
use sarrus::system::{constraints, controllers, drivers, forces};

/// Bodies `a`, `b`, `c` and `dot`, hinges `h` and `g`, and up to three elements of registered kinds.
pub(super) fn examples(b: &mut Builder) {
    let planar = b.scene.planar;
    b.normal = None;
    let world: [(&str, [f64; 3], [f64; 3]); 3] = [
        ("a", [0.1, 0.5, 0.2], [0.05, -0.02, 0.03]),
        ("b", [0.7, -0.1, 0.9], [-0.03, 0.04, 0.01]),
        ("c", [1.2, 0.4, 0.2], [0.0; 3]),
    ];
    for (i, (name, at, com)) in world.into_iter().enumerate() {
        let k = 1.0 + 0.3 * i as f64;
        let mut table = table!["at" => b.vector(at), "mass" => k, "com" => b.vector(com)];
        if planar {
            table.extend(table!["angle" => 0.4 * k, "inertia" => 0.2 * k]);
        } else {
            let rotation = table!["axis" => [1.0, k, -0.5], "angle" => 0.4 * k];
            table.extend(table!["orientation" => rotation, "inertia" => [0.2 * k, 0.3, 0.4]]);
        }
        let size = if planar { SceneValue::from([0.4, 0.2]) } else { SceneValue::from([0.4, 0.2, 0.3]) };
        table.extend(table!["shape" => table!["kind" => "box", "size" => size]]);
        b.add("bodies", name, table);
        b.bodies.push(super::BodyDraft { name: name.into(), at, point: false, origin: None });
    }
    let dot = table!["kind" => "point", "at" => b.vector([1.0, 0.0, 0.0]), "mass" => 1.0];
    b.add("bodies", "dot", dot);
    for (name, bodies, at) in [("h", ["a", "b"], [0.4, 0.2, 0.6]), ("g", ["b", "c"], [0.9, 0.1, 0.5])] {
        let mut table = table!["kind" => "revolute", "bodies" => bodies, "at" => b.vector(at)];
        if !planar {
            table.extend(table!["axis" => [1.0, 0.2, 2.0]]);
        }
        b.add("joints", name, table);
    }
    let flow = b.vector([0.4, 0.1, -0.2]);
    b.add("fluids", "water", table!["density" => 100.0]);
    b.add("fluids", "stream", table!["density" => 90.0, "velocity" => flow]);
    b.add("fluids", "sea", table!["density" => 100.0, "surface" => 0.1]);
    let all = registered(planar);
    for i in 0..b.rng.count(1, 3) {
        let (section, kind, example) = *b.rng.pick(&all);
        let name = format!("X{i}");
        b.add(section, &name, SceneValue::Raw(format!("{{ kind = '{kind}', {example} }}")));
    }
    if b.rng.chance(0.5) {
        let kind = if planar { "revolute" } else { "spherical" };
        let at = b.vector([-0.2, 0.3, 0.1]);
        b.add("joints", "hold", table!["kind" => kind, "bodies" => ["ground", "a"], "at" => at]);
    }
    if b.rng.chance(0.5) {
        set(&mut b.scene.initial, "h.rate", b.rng.between(-3.0, 3.0));
    }
    settings::choose(b);
}

/// Section, kind and keys of every example of a space.
fn registered(planar: bool) -> Vec<(&'static str, &'static str, &'static str)> {
    let mut out = Vec::new();
    let mut add = |section, kind, planar_ones: &'static [&'static str], spatial: &'static [&'static str]| {
        let of = if planar { planar_ones } else { spatial };
        out.extend(of.iter().map(|example| (section, kind, *example)));
    };
    constraints::KINDS.iter().for_each(|k| add("constraints", k.name, k.planar, k.spatial));
    drivers::KINDS.iter().for_each(|k| add("drivers", k.name, k.planar, k.spatial));
    forces::KINDS.iter().for_each(|k| add("forces", k.name, k.planar, k.spatial));
    controllers::KINDS.iter().for_each(|k| add("controllers", k.name, k.planar, k.spatial));
    out
}
