//! Rest on and beside thin shapes that yield: a contact that is closed at rest is found with its penetration, and no shape is passed through.

use sarrus::analysis::{Equilibrium, EquilibriumOptions, SetupError, equilibrium_with};
use sarrus::prelude::*;
use std::sync::Arc;

const G: f64 = 9.81;

fn rest(text: &str, load_steps: Option<u32>) -> Result<Equilibrium, SetupError> {
    let model =
        load_str("test.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    equilibrium_with(&model, &system, &EquilibriumOptions { load_steps }, &mut |_| {})
}

/// `name` at rest, which must be within `tolerance` of `due`.
fn rests_at(text: &str, load_steps: Option<u32>, name: &str, due: f64, tolerance: f64) {
    let found = rest(text, load_steps).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let value = found.report.values[name];
    assert!((value - due).abs() <= tolerance, "{value} instead of {due}\n{text}");
    assert!(found.report.residual <= 1e-7, "{} left\n{text}", found.report.residual);
    assert_ne!(found.report.stable, Some(false), "{text}");
}

fn linear(stiffness: f64) -> String {
    format!("law = {{ kind = \"linear\", stiffness = {stiffness}, damping = 100 }}")
}

/// A body of 2 kg at a height above the ground.
fn above(space: bool, height: f64, shape: &str, ground: &str, contact: &str) -> String {
    let (head, at, inertia) = if space {
        ("", format!("[0.02, -0.01, {height}]"), "[0.01, 0.01, 0.01]")
    } else {
        ("space = \"planar\"\n", format!("[0.02, {height}]"), "0.01")
    };
    format!(
        "format = \"sarrus/1\"\n{head}run.t_end = 1\nground.shape = {{ {ground} }}\n\
         bodies.b = {{ at = {at}, mass = 2, inertia = {inertia}, shape = {{ {shape} }} }}\n\
         contacts.c = {{ between = [\"b\", \"ground\"], {contact} }}\n"
    )
}

fn plate(space: bool, thick: f64) -> String {
    if space {
        format!("kind = \"box\", size = [1, 1, {thick}]")
    } else {
        format!("kind = \"box\", size = [1, {thick}]")
    }
}

const BALL: &str = "kind = \"sphere\", radius = 0.01";

fn up(space: bool) -> &'static str {
    if space { "b.z" } else { "b.y" }
}

#[test]
fn a_small_ball_rests_on_plates_of_any_thickness_from_any_height() {
    for space in [false, true] {
        for height in [0.02, 0.1, 0.3, 3.0] {
            for thick in [1e-3, 2e-3, 4e-3, 0.01] {
                for k in [1e4, 1e6, 1e9] {
                    let text = above(space, height, BALL, &plate(space, thick), &linear(k));
                    rests_at(&text, None, up(space), 0.5 * thick + 0.01 - 2.0 * G / k, 1e-10);
                }
            }
        }
    }
}

#[test]
fn a_ball_rests_on_a_plane_and_on_a_plate_by_hertz() {
    for k in [1e4, 1e8] {
        rests_at(
            &above(true, 0.5, BALL, "kind = \"plane\"", &linear(k)),
            None,
            "b.z",
            0.01 - 2.0 * G / k,
            1e-10,
        );
    }
    for k in [1e5, 1e7, 1e10_f64] {
        let contact = format!("law = {{ kind = \"hertz\", stiffness = {k} }}");
        let depth = (2.0 * G / k).powf(2.0 / 3.0);
        rests_at(&above(true, 0.5, BALL, &plate(true, 0.004), &contact), None, "b.z", 0.012 - depth, 1e-9);
    }
}

#[test]
fn a_box_rests_on_all_its_corners_on_a_plate_a_plane_and_a_half_space() {
    for space in [false, true] {
        let (shape, corners) = if space {
            ("kind = \"box\", size = [0.2, 0.2, 0.1]", 4.0)
        } else {
            ("kind = \"box\", size = [0.2, 0.1]", 2.0)
        };
        for height in [0.1, 0.3, 2.0] {
            for k in [1e4, 1e7] {
                let depth = 2.0 * G / (corners * k);
                for (ground, top) in [
                    (plate(space, 1e-3), 5e-4),
                    (plate(space, 4e-3), 2e-3),
                    (plate(space, 0.01), 5e-3),
                    ("kind = \"plane\"".into(), 0.0),
                    ("kind = \"half_space\"".into(), 0.0),
                ] {
                    let text = above(space, height, shape, &ground, &linear(k));
                    rests_at(&text, None, up(space), top + 0.05 - depth, 1e-10);
                }
            }
        }
    }
}

#[test]
fn a_tilted_box_comes_to_lie_flat_on_a_thin_plate() {
    for angle in [5, 20, 40] {
        let text = above(false, 0.3, "kind = \"box\", size = [0.2, 0.1]", &plate(false, 4e-3), &linear(1e5));
        let text = text.replace("mass = 2", &format!("angle = \"{angle} deg\", mass = 2"));
        rests_at(&text, None, "b.y", 0.052 - 2.0 * G / 2e5, 1e-9);
        rests_at(&text, None, "b.angle", 0.0, 1e-9);
    }
}

#[test]
fn balls_on_a_slide_rest_on_each_other_and_on_a_plate() {
    for k in [1e4, 1e7] {
        let ball = |name: &str, z: f64, mass: f64| {
            format!(
                "bodies.{name} = {{ at = [0, 0, {z}], mass = {mass}, inertia = [0.01, 0.01, 0.01], shape = {{ {BALL} }} }}\n\
                 joints.on_{name} = {{ kind = \"prismatic\", bodies = [\"ground\", \"{name}\"], at = [0, 0, 0], axis = [0, 0, 1] }}\n"
            )
        };
        let text = format!(
            "format = \"sarrus/1\"\nrun.t_end = 1\nground.shape = {{ {} }}\n{}{}\
             contacts.floor = {{ between = [\"low\", \"ground\"], {law} }}\ncontacts.touch = {{ between = [\"low\", \"high\"], {law} }}\n",
            plate(true, 4e-3),
            ball("low", 0.2, 2.0),
            ball("high", 0.5, 1.0),
            law = linear(k)
        );
        let low = 0.012 - 3.0 * G / k;
        rests_at(&text, None, "low.z", low, 1e-10);
        rests_at(&text, None, "high.z", low + 0.02 - G / k, 1e-10);
    }
}

#[test]
fn a_hanging_mass_rests_against_the_side_of_a_thin_wall_that_it_swings_to() {
    let (k, arm, radius) = (1e6, 0.8, 0.02);
    for thick in [1e-3, 5e-3] {
        for wall in [0.1, 0.3] {
            let text = format!(
                "format = \"sarrus/1\"\nspace = \"planar\"\nrun.t_end = 1\n\
                 ground.shape = {{ kind = \"box\", size = [{thick}, 4], on = [{wall}, 0] }}\n\
                 bodies.b = {{ at = [{arm}, 0], mass = 2, inertia = 0.01, shape = {{ kind = \"disc\", radius = {radius} }} }}\n\
                 joints.j = {{ kind = \"revolute\", bodies = [\"ground\", \"b\"], at = [0, 0] }}\n\
                 contacts.c = {{ between = [\"b\", \"ground\"], {} }}\n",
                linear(k)
            );
            // m g x = N |y|, with N = k δ and x = face + radius - δ
            let left =
                |x: f64| 2.0 * G * x - k * (wall + 0.5 * thick + radius - x) * (arm * arm - x * x).sqrt();
            let (mut a, mut b) = (wall, wall + 0.5 * thick + radius);
            for _ in 0..100 {
                let middle = 0.5 * (a + b);
                if left(middle) < 0.0 { a = middle } else { b = middle }
            }
            rests_at(&text, None, "b.x", a, 1e-10);
        }
    }
}

/// A ball of radius 1 cm on a slide along x, beside what `more` says.
fn on_slide(joint: &str, more: &str) -> String {
    format!(
        "format = \"sarrus/1\"\ngravity = [0, 0, 0]\nrun.t_end = 1\n\
         bodies.b = {{ at = [0, 0, 0], mass = 2, inertia = [0.01, 0.01, 0.01], shape = {{ {BALL} }} }}\n\
         joints.s = {{ kind = \"prismatic\", bodies = [\"ground\", \"b\"], at = [0, 0, 0], axis = [1, 0, 0], stiffness = 50, reads = 0{joint} }}\n{more}"
    )
}

#[test]
fn a_spring_or_a_load_pulls_a_ball_against_a_thin_wall_and_no_farther() {
    for k in [1e4, 1e7] {
        for thick in [1e-3, 0.01] {
            let wall = format!(
                "ground.shape = {{ kind = \"box\", size = [{thick}, 1, 1], on = [0.5, 0, 0] }}\n\
                 contacts.c = {{ between = [\"b\", \"ground\"], {} }}\n",
                linear(k)
            );
            let face = 0.49 - 0.5 * thick;
            // 50 (1 - x) = k (x - face)
            let due = (50.0 + k * face) / (50.0 + k);
            rests_at(&on_slide(", rest = 1", &wall), None, "b.x", due, 1e-10);
            let pull = wall + "forces.pull = { kind = \"force\", body = \"b\", force = [50, 0, 0] }\n";
            for load_steps in [None, Some(1), Some(4)] {
                rests_at(&on_slide(", rest = 0", &pull), load_steps, "b.x", due, 1e-10);
            }
        }
    }
}

#[test]
fn a_gap_given_by_an_expression_that_opens_again_is_not_passed() {
    let contact = format!("contacts.c = {{ gap = \"abs(b.x - 0.5) - 0.002\", {} }}\n", linear(1e5));
    rests_at(&on_slide(", rest = 1", &contact), None, "b.x", (50.0 + 1e5 * 0.498) / (50.0 + 1e5), 1e-10);
}

#[test]
fn rigid_shapes_are_not_passed_through_either() {
    for thick in [1e-3, 0.01] {
        for height in [0.1, 0.5, 2.0] {
            let rigid = "method = \"impulsive\"";
            let text = above(true, height, BALL, &plate(true, thick), rigid);
            rests_at(&text, None, "b.z", 0.01 + 0.5 * thick, 1e-10);
        }
        let wall = format!(
            "ground.shape = {{ kind = \"box\", size = [{thick}, 1, 1], on = [0.5, 0, 0] }}\n\
             contacts.c = {{ between = [\"b\", \"ground\"], method = \"impulsive\" }}\n"
        );
        rests_at(&on_slide(", rest = 1", &wall), None, "b.x", 0.49 - 0.5 * thick, 1e-10);
    }
}
