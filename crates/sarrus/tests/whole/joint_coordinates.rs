//! Runs in joint coordinates and with a pose per body are the same runs.

use sarrus::analysis::Outcome;
use sarrus::model::settings::{Coordinates, MethodChoice, RunSettings};
use sarrus::prelude::*;
use sarrus::solve::Chart;
use sarrus::solve::{ActiveRows, Equations, HUB_DEGREE, Kkt, Problem, RankDemand, Stage, State};
use sarrus::system::Tree;
use sarrus_zoo::MODELS;
use std::sync::Arc;

fn load_model(name: &str, text: &str) -> (Model, Arc<System>) {
    let model = load_str(&format!("{name}.toml"), text, &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

fn run_with(model: &Model, system: &Arc<System>, overrides: RunOverrides) -> Outcome {
    let run = simulate(model, system, &Simulate { overrides, record: true }, &mut ())
        .unwrap_or_else(|e| panic!("{}: {e}", model.name));
    assert_eq!(run.report.status, Status::Completed, "{}: {:?}", model.name, run.report.reason);
    run
}

fn joint() -> RunOverrides {
    RunOverrides { coordinates: Some(Coordinates::Joint), ..RunOverrides::default() }
}

/// Positions, orientations and velocities of all bodies, coordinates and speeds of all joints. All loops, drivers, gears, rolling, redundant rows and
/// locking joints of the shipped models are among them.
#[test]
fn joint_and_absolute_coordinates_agree_on_every_shipped_model() {
    // errors grow along a motion, by as much as it is sensitive: by three orders where most
    const RTOL: f64 = 1e-13;
    let mut worst: Vec<(f64, String)> = Vec::new();
    for (name, text) in MODELS {
        let (model, system) = load_model(name, text);
        let most = match *name {
            // singular positions on the way magnify rounding, in either coordinates
            "bennett" | "n_four_bar" | "n_four_bar_spatial" => 1.0,
            // every impact magnifies what was before it
            "bouncing_ball" => 1.0,
            "pile" => 0.15,
            "chain_on_floor" => 0.1,
            // fast vibrations and stiff struts take very many steps, whose errors add up
            "beam_pendulum" | "crane" | "governor" => 0.3,
            _ => 3.0,
        };
        let t_end = RunSettings::read(&model).unwrap().t_end().min(most);
        let overrides = |coordinates| RunOverrides {
            coordinates: Some(coordinates),
            // a file may ask for one that resolves the constraints itself
            integrator: Some(MethodChoice { kind: "dop853".into(), ..MethodChoice::default() }),
            rtol: Some(RTOL),
            atol: Some(RTOL),
            t_end: Some(t_end),
            every: Some(t_end / 4.0),
            ..RunOverrides::default()
        };
        let [a, b] = [Coordinates::Absolute, Coordinates::Joint]
            .map(|coordinates| run_with(&model, &system, overrides(coordinates)));
        assert_eq!(b.report.method.coordinates, "joint");
        assert_eq!(a.trajectory.names(), b.trajectory.names());
        let moves = |column: &str| {
            let fields = [
                "x", "y", "z", "angle", "vx", "vy", "vz", "rate", "wx", "wy", "wz", "q0", "q1", "q2", "q3",
                "position", "speed",
            ];
            column.rsplit_once('.').is_some_and(|(_, field)| fields.contains(&field))
        };
        let mut off = (0.0_f64, String::new());
        for column in a.trajectory.names().iter().filter(|c| moves(c)) {
            let (x, y) = (a.trajectory.column(column).unwrap(), b.trajectory.column(column).unwrap());
            for (x, y) in x.zip(y) {
                // of a joint q and -q are one rotation, and where two components are equally large rounding decides between
                // them; the sign of a body's is continuous from the start
                let of_body = column
                    .rsplit_once('.')
                    .is_some_and(|(name, _)| model.bodies.iter().any(|b| b.name == name));
                let angle = if column.contains(".q") && !of_body { (x + y).abs() } else { f64::INFINITY };
                let difference = (x - y).abs().min(angle) / (1.0 + x.abs());
                if difference > off.0 || difference.is_nan() {
                    off = (difference, format!("{name}: {column} is {x} and {y}"));
                }
            }
        }
        println!("{name:28} {:.1e} {}", off.0, b.report.method.formulation);
        worst.push(off);
    }
    let wrong: Vec<&str> =
        worst.iter().filter(|(off, _)| !(*off <= 1e-9)).map(|(_, text)| text.as_str()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where the joints of a shipped model make a tree, articulated bodies accelerate as all rows together say.
#[test]
fn articulated_bodies_agree_with_the_equations_between_bodies_on_every_shipped_tree() {
    let mut trees = 0;
    for (name, text) in MODELS {
        let (model, system) = load_model(name, text);
        let start = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap();
        let mut mechanism = system.mechanism();
        mechanism.set_discrete(&start.discrete);
        let mut tree = Tree::new(&system, &start.discrete).unwrap();
        if !tree.is_whole() {
            continue;
        }
        trees += 1;
        let mut own = State::zeros(tree.structure());
        tree.compress(&start.state, &mut own);
        let mut bodies = start.state.clone();
        // away from the start, where most are at rest
        for (i, (q, v)) in own.q.iter_mut().zip(&mut own.v).enumerate() {
            *q += 0.3 * (i as f64 + 1.0).sin();
            *v += (2.0 * i as f64).cos();
        }
        tree.normalize(&mut own.q);
        tree.expand(&own, &mut bodies);
        let mut eq = Equations::new(&mechanism);
        mechanism.update(&bodies, Stage::FORCE, &mut eq);
        let s = &system.structure;
        let mut kkt = Kkt::new(s, &eq, HUB_DEGREE).unwrap();
        kkt.factor(&eq, ActiveRows::All, RankDemand::Any).unwrap();
        let (mut vdot, mut lambda) = (vec![0.0; s.nv], vec![0.0; s.nc]);
        kkt.solve(&eq, &eq.f, &eq.gamma, &mut vdot, &mut lambda).unwrap();
        let (mut read, mut found) = (own.v.clone(), own.v.clone());
        tree.speed_rates(&vdot, &mut read);
        tree.forward_dynamics(&eq.f, None, &mut found);
        let size = read.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        for (a, b) in found.iter().zip(&read) {
            assert!((a - b).abs() < 1e-10 * size, "{name}: {a} against {b}");
        }
    }
    assert!(trees >= 4, "{trees}");
}

/// A flywheel under a constant torque: θ = ½ (T/I) t² is without error for any step, and is counted over fifty turns.
#[test]
fn turns_are_counted_however_little_the_error_limits_the_step() {
    let text = "format = 'sarrus/1'\ngravity = [0, 0, 0]\nrun.t_end = 10\n\
        bodies.wheel = { mass = 1, inertia = [0.3, 0.3, 0.5] }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'wheel'], at = [0, 0, 0] }\n\
        forces.T = { kind = 'torque', body = 'wheel', torque = [0, 0, 3] }\n";
    let (model, system) = load_model("wheel", text);
    for integrator in ["dop853", "rk45", "abm"] {
        let kind = MethodChoice { kind: integrator.into(), ..MethodChoice::default() };
        let run =
            run_with(&model, &system, RunOverrides { integrator: Some(kind), every: Some(0.5), ..joint() });
        let (t, angle) = (run.trajectory.column("t").unwrap(), run.trajectory.column("A.angle").unwrap());
        for (t, angle) in t.zip(angle) {
            assert!((angle - 3.0 * t * t).abs() < 1e-6, "{integrator}: {angle} at {t}");
        }
        // known beforehand, not found by trial
        let counts = run.report.counts;
        assert!(5 * counts.rejected < counts.steps, "{integrator}: {counts:?}");
    }
}

/// A tree takes no factorization, whatever its length, and nothing of its joints to project.
#[test]
fn a_tree_is_run_without_factorizations() {
    let (model, system) = load_model("chain", sarrus_zoo::model("chain").unwrap());
    let overrides = RunOverrides { t_end: Some(0.5), columns: Some(vec!["tip.*".into()]), ..joint() };
    let report = run_with(&model, &system, overrides).report;
    assert_eq!(report.method.formulation, "articulated_body");
    assert_eq!((report.counts.newton_iterations, report.method.stabilization.as_str()), (0, "none"));
    assert!(report.counts.factorizations < report.counts.steps, "{:?}", report.counts);
    assert!(report.violation.position.max < 1e-14, "{:?}", report.violation);
    assert!(report.certificate.passed);
}

/// Named methods are taken, also on a tree; loops are closed to rounding by the default ones.
#[test]
fn any_formulation_and_stabilization_goes_with_joint_coordinates() {
    let choice = |kind: &str| Some(MethodChoice { kind: kind.into(), ..MethodChoice::default() });
    for name in ["four_bar", "double_pendulum"] {
        let (model, system) = load_model(name, sarrus_zoo::model(name).unwrap());
        let reference = run_with(
            &model,
            &system,
            RunOverrides { t_end: Some(0.5), rtol: Some(1e-10), ..RunOverrides::default() },
        );
        for (formulation, stabilization, integrator) in [
            ("proximal", "projection", "dop853"),
            ("direct", "baumgarte", "dop853"),
            ("udwadia_kalaba", "violation_correction", "rk45"),
            ("partitioned", "partitioned", "abm"),
        ] {
            let overrides = RunOverrides {
                formulation: choice(formulation),
                stabilization: choice(stabilization),
                integrator: choice(integrator),
                t_end: Some(0.5),
                rtol: Some(1e-10),
                atol: Some(1e-11),
                ..joint()
            };
            let run = run_with(&model, &system, overrides);
            assert_eq!(run.report.method.formulation, formulation);
            let body = &model.bodies.last().unwrap().name;
            for field in ["x", "y"] {
                let column = format!("{body}.{field}");
                let [a, b] = [&reference, &run].map(|run| run.trajectory.last(&column).unwrap());
                assert!((a - b).abs() < 1e-7, "{name} {formulation}: {column} is {a} and {b}");
            }
        }
    }
}

#[test]
fn what_joint_coordinates_do_not_go_with_is_refused() {
    let text = |run: &str, initial: &str| {
        format!(
            "format = 'sarrus/1'\nrun = {{ coordinates = 'joint', {run} }}\n{initial}\n\
             bodies.a = {{ at = [1, 0, 0], orientation = {{ axis = [1, 0, 0], angle = 1 }}, mass = 1, inertia = [1, 1, 1] }}\n\
             joints.A = {{ kind = 'spherical', bodies = ['ground', 'a'], at = [0, 0, 0] }}\n"
        )
    };
    for (run, initial, word) in [
        ("rotation = 'euler_zxz'", "", "euler_zxz"),
        ("integrator = 'staggered', step = 0.01", "", "staggered"),
        ("formulation = 'penalty'", "", "penalty"),
        ("assembly = 'none'", "initial.a.vx = 1", "speed of 1.0e0"),
    ] {
        let (model, system) = load_model("refused", &text(run, initial));
        let error = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
        assert!(error.diagnostics()[0].hint.is_some());
    }
}

/// An arm is thrown off, another part is caught, a joint is locked and a driver let go: at each the tree is another one.
#[test]
fn events_that_change_the_joints_change_the_tree() {
    let text = "format = 'sarrus/1'\n\
        run = { t_end = 1.2, rtol = 1e-12, atol = 1e-12 }\n\
        bodies.a = { from = [0, 0, 0], to = [1, 0, 0], mass = 2 }\n\
        bodies.b = { from = [1, 0, 0], to = [2, 0, 0], mass = 1 }\n\
        bodies.c = { from = [2, 0, 0], to = [2.5, 0, 0.2], mass = 1 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0, 0], axis = [0, 1, 0] }\n\
        joints.B = { kind = 'universal', bodies = ['b', 'a'], at = [1, 0, 0], axis = [0, 1, 0], axis2 = [0, 0, 1] }\n\
        joints.C = { kind = 'spherical', bodies = ['b', 'c'], at = [2, 0, 0] }\n\
        drivers.turn = { kind = 'joint', joint = 'A', rate = '1 + t' }\n\
        events.off = { when = 't > 0.2', disable = ['C'] }\n\
        events.go = { when = 't > 0.4', disable = ['turn'] }\n\
        events.hold = { when = 'A.angle > 0.5', lock = ['B'] }\n\
        events.loose = { when = 't > 0.9', release = ['B'] }\n";
    let (model, system) = load_model("events", text);
    let [a, b] = [Coordinates::Absolute, Coordinates::Joint].map(|coordinates| {
        run_with(
            &model,
            &system,
            RunOverrides { coordinates: Some(coordinates), every: Some(0.1), ..RunOverrides::default() },
        )
    });
    let fired = |run: &Outcome| run.report.events.iter().map(|e| e.name.clone()).collect::<Vec<_>>();
    assert_eq!(fired(&a), ["off", "go", "hold", "loose"]);
    assert_eq!(fired(&a), fired(&b));
    for body in ["a", "b", "c"] {
        for field in ["x", "z", "vx", "vz", "wy", "wz"] {
            let column = format!("{body}.{field}");
            let (x, y) = (a.trajectory.column(&column).unwrap(), b.trajectory.column(&column).unwrap());
            for (x, y) in x.zip(y) {
                assert!((x - y).abs() < 1e-9 * (1.0 + x.abs()), "{column} is {x} and {y}");
            }
        }
    }
}

/// Columns of `column` in two runs, as far apart as they get relative to the largest.
fn apart(a: &Outcome, b: &Outcome, column: &str) -> f64 {
    let pairs: Vec<(f64, f64)> =
        a.trajectory.column(column).unwrap().zip(b.trajectory.column(column).unwrap()).collect();
    let size = pairs.iter().fold(1.0_f64, |m, (x, _)| m.max(x.abs()));
    pairs
        .iter()
        .fold(0.0_f64, |m, (x, y)| if (x - y).is_nan() { f64::NAN } else { m.max((x - y).abs() / size) })
}

const ARM: &str = "format = 'sarrus/1'\nrun.t_end = 2\n\
    bodies.base = { from = [0, 0, 0], to = [0, 0, 0.5], mass = 3, shape = { kind = 'rod', radius = 0.1 } }\n\
    bodies.upper = { from = [0, 0, 0.5], to = [0.6, 0, 0.5], mass = 2, shape = { kind = 'rod', radius = 0.05 } }\n\
    bodies.lower = { from = [0.6, 0, 0.5], to = [1.1, 0, 0.5], mass = 1, shape = { kind = 'rod', radius = 0.04 } }\n\
    bodies.load = { at = [1.1, 0, 0.5], mass = 1, inertia = [0.01, 0.02, 0.02] }\n\
    joints.A = { kind = 'revolute', bodies = ['ground', 'base'], at = [0, 0, 0] }\n\
    joints.B = { kind = 'revolute', bodies = ['upper', 'base'], at = [0, 0, 0.5], axis = [0, 1, 0], reads = 0.2, damping = 0.3 }\n\
    joints.C = { kind = 'revolute', bodies = ['upper', 'lower'], at = [0.6, 0, 0.5], axis = [0, 1, 0], damping = 0.2 }\n\
    joints.D = { kind = 'spherical', bodies = ['lower', 'load'], at = [1.1, 0, 0.4] }\n\
    drivers.turn = { kind = 'joint', joint = 'A', angle = '4*t + 0.3*sin(5*t)' }\n\
    drivers.lift = { kind = 'joint', joint = 'B', rate = '0.8*cos(3*t)' }\n";

const PLANAR_ARM: &str = "format = 'sarrus/1'\nspace = 'planar'\nrun.t_end = 2\n\
    bodies.cart = { at = [0, 0], mass = 3, inertia = 1 }\n\
    bodies.upper = { from = [0, 0], to = [0, 0.7], mass = 2 }\n\
    bodies.lower = { from = [0, 0.7], to = [0.5, 0.7], mass = 1 }\n\
    joints.S = { kind = 'prismatic', bodies = ['ground', 'cart'], at = [0, 0], axis = [1, 0], reads = 0.4 }\n\
    joints.A = { kind = 'revolute', bodies = ['cart', 'upper'], at = [0, 0], reads = '90 deg' }\n\
    joints.B = { kind = 'revolute', bodies = ['lower', 'upper'], at = [0, 0.7], stiffness = 3, damping = 0.1 }\n\
    drivers.slide = { kind = 'joint', joint = 'S', position = '0.4 + 0.2*sin(4*t)' }\n\
    drivers.lift = { kind = 'joint', joint = 'A', angle = '90 deg + 2*t^2' }\n";

const DRIVEN_FOUR_BAR: &str = "format = 'sarrus/1'\nspace = 'planar'\nrun.t_end = 2.0\n\
    points = { A = [0, 0], B = [0, 0.3], D = [0.8, 0], C = 'meet(B, 0.9, D, 0.6)' }\n\
    bodies.a = { from = 'A', to = 'B', mass = 1.0 }\n\
    bodies.c = { from = 'B', to = 'C', mass = 2.0 }\n\
    bodies.b = { from = 'D', to = 'C', mass = 0.7 }\n\
    joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = 'A' }\n\
    joints.B = { kind = 'revolute', bodies = ['a', 'c'], at = 'B' }\n\
    joints.C = { kind = 'revolute', bodies = ['c', 'b'], at = 'C' }\n\
    joints.D = { kind = 'revolute', bodies = ['ground', 'b'], at = 'D' }\n\
    drivers.motor = { kind = 'joint', joint = 'A', angle = 'pi/2 + 3*t + 0.5*sin(4*t)' }\n";

/// Speeds that drivers give are no unknowns: a driven tree needs no rows, follows its program to rounding, and its motors have the
/// efforts, and do the work, that rows between bodies say. Joints are driven from either side, with an offset of their own, by
/// positions and by speeds, beside free ones; in a closed loop rows close it.
#[test]
fn driven_joints_move_and_load_as_in_absolute_coordinates() {
    for (text, is_tree, drivers) in [
        (ARM, true, &["turn.torque", "lift.torque"][..]),
        (PLANAR_ARM, true, &["slide.force", "lift.torque"]),
        (DRIVEN_FOUR_BAR, false, &["motor.torque"]),
    ] {
        let (model, system) = load_model("driven", text);
        let run = |coordinates| {
            let overrides = RunOverrides {
                coordinates: Some(coordinates),
                rtol: Some(1e-12),
                atol: Some(1e-13),
                every: Some(0.1),
                ..RunOverrides::default()
            };
            run_with(&model, &system, overrides)
        };
        let (a, b) = (run(Coordinates::Absolute), run(Coordinates::Joint));
        assert_eq!(b.report.method.formulation == "articulated_body", is_tree, "{:?}", b.report.method);
        assert!(b.report.violation.position.max < 1e-12, "{:?}", b.report.violation);
        assert!(b.report.certificate.passed, "{:?}", b.report.certificate);
        let columns =
            a.trajectory.names().iter().filter(|c| !c.contains("violation") && *c != "energy.balance");
        for column in columns {
            let off = apart(&a, &b, column);
            // those of accelerations have one power of the step less
            assert!(off < 1e-9, "{column}: {off:e} apart");
        }
        for driver in drivers {
            assert!(a.trajectory.column(driver).unwrap().any(|x| x.abs() > 0.1), "{driver} does nothing");
        }
        if is_tree {
            assert!(b.report.counts.factorizations < b.report.counts.steps + 50, "{:?}", b.report.counts);
        }
    }
}

/// A driven joint stands where its program says at every sample, whatever the tolerance of the run.
#[test]
fn a_program_is_followed_to_rounding_whatever_the_tolerance() {
    let (model, system) = load_model("arm", ARM);
    let run = run_with(&model, &system, RunOverrides { rtol: Some(1e-3), atol: Some(1e-3), ..joint() });
    let (t, angle) = (run.trajectory.column("t").unwrap(), run.trajectory.column("A.angle").unwrap());
    for (t, angle) in t.zip(angle) {
        assert!((angle - (4.0 * t + 0.3 * (5.0 * t).sin())).abs() < 1e-13, "{angle} at {t}");
    }
}

/// Two components of this body's quaternion are of one size with opposite signs: no choice by size keeps them.
#[test]
fn the_sign_of_a_quaternion_does_not_jump() {
    let (model, system) = load_model("sarrus", sarrus_zoo::model("sarrus").unwrap());
    for coordinates in [Coordinates::Absolute, Coordinates::Joint] {
        let overrides =
            RunOverrides { coordinates: Some(coordinates), t_end: Some(0.3), ..RunOverrides::default() };
        let run = run_with(&model, &system, overrides);
        let q0: Vec<f64> = run.trajectory.column("upper_b.q0").unwrap().collect();
        assert!(q0.windows(2).all(|w| (w[1] - w[0]).abs() < 0.05), "{coordinates:?}: {q0:?}");
    }
}
