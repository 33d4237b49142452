//! The motion does not depend on the world's axes, on the order of bodies and joints, or on a joint said twice.

use sarrus::model::{Element, Section};
use sarrus::prelude::*;
use sarrus_zoo::MODELS;
use std::sync::Arc;

const RTOL: f64 = 1e-10;

fn load_model(name: &str, text: &str) -> Model {
    load_str(&format!("{name}.toml"), text, &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{}", e.render()))
}

fn run_it(model: &Model, t_end: f64, columns: &[String]) -> Outcome {
    let system = compile(model).unwrap_or_else(|errors| {
        let all: Vec<String> = errors.iter().map(|e| e.render(&model.sources)).collect();
        panic!("{}", all.join("\n"))
    });
    let overrides = RunOverrides {
        rtol: Some(RTOL),
        atol: Some(1e-2 * RTOL),
        t_end: Some(t_end),
        every: Some(t_end / 4.0),
        columns: Some(columns.to_vec()),
        ..RunOverrides::default()
    };
    let run = simulate(model, &Arc::new(system), &Simulate { overrides, record: true }, &mut ())
        .unwrap_or_else(|e| panic!("{}: {e}", model.name));
    assert_eq!(run.report.status, Status::Completed, "{}: {:?}", model.name, run.report.reason);
    run
}

/// A time short enough for chaos not to matter, long enough for every part to have moved.
fn duration(model: &Model) -> f64 {
    let run = sarrus::model::settings::RunSettings::read(model).unwrap();
    run.t_end().min(1.0)
}

/// The bodies of a model, those of flexible members included.
fn bodies(model: &Model) -> Vec<String> {
    let system = compile(model).unwrap();
    let bodies = system.directory.bodies.iter().skip(1).filter(|b| !b.is_internal());
    bodies.map(|b| b.name.clone()).collect()
}

/// Returns where bodies are: positions, in space all three, in the plane two and the angle.
fn positions(model: &Model) -> Vec<String> {
    let fields: &[&str] = if model.is_planar() { &["x", "y", "angle"] } else { &["x", "y", "z"] };
    bodies(model).iter().flat_map(|b| fields.iter().map(move |f| format!("{b}.{f}"))).collect()
}

fn same(what: &str, a: &Outcome, b: &Outcome, columns: &[String], map: impl Fn(&str) -> String) {
    for column in columns {
        let (x, y) = (a.trajectory.column(column).unwrap(), b.trajectory.column(&map(column)).unwrap());
        for (x, y) in x.zip(y) {
            // errors grow along a motion, by as much as the motion is sensitive: a few hundred tolerances
            assert!((x - y).abs() <= 1e4 * RTOL * (1.0 + x.abs()), "{what}: {column} is {x} and {y}");
        }
    }
}

/// Numbers the elements of a section anew after their order has changed.
fn renumber(model: &mut Model, section: Section) {
    let names: Vec<String> = model.elements(section).iter().map(|e| e.name.clone()).collect();
    for (index, name) in names.iter().enumerate() {
        model.names.get_mut(name).unwrap().index = index as u32;
    }
}

#[test]
fn the_order_of_bodies_and_joints_does_not_matter() {
    for (name, text) in MODELS {
        let model = load_model(name, text);
        let (t, columns) = (duration(&model), positions(&model));
        let mut other = load_model(name, text);
        let sections =
            [Section::Bodies, Section::Flexible, Section::Joints, Section::Constraints, Section::Forces];
        for section in sections {
            other.elements_mut(section).unwrap().reverse();
            renumber(&mut other, section);
        }
        same(
            &format!("{name} permuted"),
            &run_it(&model, t, &columns),
            &run_it(&other, t, &columns),
            &columns,
            str::to_owned,
        );
    }
}

#[test]
fn a_joint_said_twice_does_not_matter() {
    for (name, text) in MODELS {
        let model = load_model(name, text);
        if model.joints.is_empty() {
            continue;
        }
        let (t, columns) = (duration(&model), positions(&model));
        let mut other = load_model(name, text);
        // its springs and dampers would count twice, which is a different mechanism
        let plain = |e: &&Element| !["stiffness", "damping"].iter().any(|k| e.table.get(k).is_some());
        let again = Element { name: "said_again".into(), ..other.joints.iter().find(plain).unwrap().clone() };
        let named = *other.names.get(&other.joints[0].name).unwrap();
        other.names.insert(
            "said_again".into(),
            sarrus::model::model::NameEntry { index: other.joints.len() as u32, ..named },
        );
        other.joints.push(again);
        same(
            &format!("{name} doubled"),
            &run_it(&model, t, &columns),
            &run_it(&other, t, &columns),
            &columns,
            str::to_owned,
        );
    }
}

#[test]
fn the_axes_of_the_world_do_not_matter() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    for (name, text) in MODELS {
        let model = load_model(name, text);
        let (t, columns) = (duration(&model), positions(&model));
        let (angle, shift) = (0.7_f64, [0.3, -0.2, 0.5]);
        // the model as a part of another one, turned and moved, with gravity turned along
        let planar = model.is_planar();
        let rotation = |v: [f64; 3]| {
            let (s, c) = angle.sin_cos();
            if planar {
                return [c * v[0] - s * v[1], s * v[0] + c * v[1], 0.0];
            }
            // about the axis (1, 2, 2)/3
            let k = [1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0];
            let dot: f64 = (0..3).map(|i| k[i] * v[i]).sum();
            let cross = [k[1] * v[2] - k[2] * v[1], k[2] * v[0] - k[0] * v[2], k[0] * v[1] - k[1] * v[0]];
            std::array::from_fn(|i| v[i] * c + cross[i] * s + k[i] * dot * (1.0 - c))
        };
        let g = rotation(model.gravity);
        let (space, gravity, placement) = if planar {
            (
                "planar",
                format!("[{:?}, {:?}]", g[0], g[1]),
                format!("at = [{}, {}], angle = {angle:?}", shift[0], shift[1]),
            )
        } else {
            let placement =
                format!("at = {shift:?}, orientation = {{ axis = [1, 2, 2], angle = {angle:?} }}");
            ("spatial", format!("{g:?}"), placement)
        };
        let file = folder.join(format!("{name}.toml"));
        let outer = format!(
            "format = 'sarrus/1'\nspace = '{space}'\ngravity = {gravity}\ninclude.m = {{ file = {:?}, {placement} }}\n",
            file.to_str().unwrap()
        );
        let rotated = load_model("turned", &outer);
        let rotated_columns: Vec<String> = columns.iter().map(|c| format!("m.{c}")).collect();
        let (a, b) = (run_it(&model, t, &columns), run_it(&rotated, t, &rotated_columns));
        for body in bodies(&model) {
            for (row_a, row_b) in a.trajectory.rows().zip(b.trajectory.rows()) {
                let read =
                    |run: &Outcome, row: &[f64], name: String| row[run.trajectory.index(&name).unwrap()];
                let third = if planar { "angle" } else { "z" };
                let p = ["x", "y", third].map(|f| read(&a, row_a, format!("{body}.{f}")));
                let q = ["x", "y", third].map(|f| read(&b, row_b, format!("m.{body}.{f}")));
                let mut expected = rotation(p);
                if planar {
                    expected[2] = p[2] + angle;
                } else {
                    expected[2] += shift[2];
                }
                expected[0] += shift[0];
                expected[1] += shift[1];
                for i in 0..3 {
                    let off = (expected[i] - q[i]).abs();
                    assert!(
                        off <= 1e4 * RTOL * (1.0 + p[i].abs()),
                        "{name} turned: {body} is off by {off:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_shipped_model_certifies_itself() {
    for (name, text) in MODELS {
        let model = load_model(name, text);
        let system = Arc::new(compile(&model).unwrap());
        let run =
            simulate(&model, &system, &Simulate { record: false, ..Simulate::default() }, &mut ()).unwrap();
        assert_eq!(run.report.status, Status::Completed, "{name}: {:?}", run.report.reason);
        assert!(run.report.certificate.passed, "{name}: {:?}", run.report.certificate);
    }
}
