//! `[run]`: methods, coordinates and tolerances, from the registries.

use super::Builder;
use crate::rng::Rng;
use crate::scene::{SceneFile, SceneTable, SceneValue, set, unset};
use crate::table;
use sarrus::solve::{OptionDoc, formulations, integrators, stabilizations};

/// Keys of `[run]` that say how, not what.
const HOW: [&str; 10] = [
    "integrator",
    "formulation",
    "stabilization",
    "rtol",
    "atol",
    "step",
    "coordinates",
    "rotation",
    "regularize",
    "certify",
];

/// Chooses how a scene is run; a part of the scenes leaves it to the program.
pub(super) fn choose(b: &mut Builder) {
    if b.rng.chance(0.5) {
        how(&mut b.scene, b.rng);
    }
    if b.rng.chance(0.03) {
        set(&mut b.scene.run, "t_start", 0.0);
    }
    if b.rng.chance(0.02) {
        set(&mut b.scene.run, "assembly", "velocity");
    }
}

/// The same for flexible members, which explicit methods take long for.
pub(super) fn for_flexible(b: &mut Builder) {
    if b.rng.chance(0.3) {
        let integrator = *b.rng.pick(&["radau5", "bdf", "dop853"]);
        set(&mut b.scene.run, "integrator", integrator);
    }
}

/// Runs a scene in another way.
pub fn replace(scene: &mut SceneFile, rng: &mut Rng) {
    HOW.iter().for_each(|key| unset(&mut scene.run, key));
    how(scene, rng);
}

fn how(scene: &mut SceneFile, rng: &mut Rng) {
    let t_end = scene.t_end();
    let run = &mut scene.run;
    if rng.chance(0.55) {
        let kind = rng.pick(integrators::KINDS);
        set(run, "integrator", method(kind.name, kind.options, rng));
        if !kind.adaptive {
            // first-order methods take the time that they need
            let steps = if kind.least_order == 1 { 20_000.0 } else { 2000.0 };
            set(run, "step", t_end / steps);
            let certify = table!["position" => 1e-4, "velocity" => 1e-3, "energy" => 1e-2];
            set(run, "certify", certify);
        } else if rng.chance(0.4) {
            set(run, "rtol", *rng.pick(&[1e-5, 1e-6, 1e-7, 1e-9, 1e-10]));
        }
    } else if rng.chance(0.4) {
        let rtol = *rng.pick(&[1e-5, 1e-6, 1e-7, 1e-9, 1e-10]);
        set(run, "rtol", rtol);
        if rng.chance(0.3) {
            set(run, "atol", rtol / 100.0);
        }
    }
    let resolves = run.iter().any(|(k, v)| k == "integrator" && !explicit(v));
    if !resolves && rng.chance(0.45) {
        let kind = rng.pick(formulations::KINDS);
        set(run, "formulation", method(kind.name, kind.options, rng));
    }
    if !resolves && rng.chance(0.4) {
        let kind = rng.pick(stabilizations::KINDS);
        set(run, "stabilization", method(kind.name, kind.options, rng));
    }
    if rng.chance(0.25) {
        set(run, "coordinates", "joint");
    }
    if rng.chance(0.05) && !scene.planar {
        set(&mut scene.run, "rotation", "euler_zxz");
    }
    if rng.chance(0.06) {
        match rng.below(3) {
            0 => set(&mut scene.run, "regularize", false),
            1 => set(&mut scene.run, "regularize", "amirouche"),
            _ => set(&mut scene.run, "regularize", "jets"),
        }
    }
}

/// Returns whether an integrator leaves constraints to formulation and stabilization.
fn explicit(value: &SceneValue) -> bool {
    let name = match value {
        SceneValue::Table(table) => crate::scene::get(table, "kind").and_then(SceneValue::text),
        value => value.text(),
    };
    let kind = integrators::KINDS.iter().find(|k| Some(k.name) == name);
    kind.is_none_or(|k| !k.view.resolves_constraints())
}

/// A method, now and then with its documented options written out.
fn method(name: &str, options: &'static [OptionDoc], rng: &mut Rng) -> SceneValue {
    if options.is_empty() || rng.chance(0.6) {
        return name.into();
    }
    let mut table: SceneTable = table!["kind" => name];
    let option = rng.pick(options);
    match option.default.parse::<f64>() {
        Ok(x) => set(&mut table, option.name, x),
        // a description, or the value of another option
        Err(_) if option.default.contains(' ') || options.iter().any(|o| o.name == option.default) => {
            return name.into();
        }
        Err(_) => set(&mut table, option.name, option.default.trim_matches(['"', '`'])),
    }
    table.into()
}
