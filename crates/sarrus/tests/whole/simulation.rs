//! Step by step: the same motion as a run, inputs and pushes, the equations, reset and copy.

use sarrus::analysis::equations::{jacobian, mass_matrix};
use sarrus::analysis::{MethodText, Simulation, SimulationError};
use sarrus::prelude::*;
use sarrus::solve::State;
use std::path::Path;
use std::sync::Arc;

fn build(model: Model, overrides: RunOverrides, record: bool) -> Simulation {
    let system = Arc::new(compile(&model).expect("it compiles"));
    Simulation::new(Arc::new(model), &system, &Simulate { overrides, record }).expect("it starts")
}

fn shipped(name: &str) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
    load(path, &LoadOptions::default()).expect("a model that is shipped")
}

fn text(text: &str) -> Model {
    load_str("test.toml", text, &LoadOptions::default()).expect("it loads")
}

const CART: &str = r#"
format = "sarrus/1"
space = "planar"
bodies.cart = { at = [0, 0], mass = 2.0, inertia = 1.0 }
bodies.pole = { from = [0, 0], to = [0, 1], mass = 0.5 }
joints.rail = { kind = "prismatic", bodies = ["ground", "cart"], at = [0, 0] }
joints.pin = { kind = "revolute", bodies = ["cart", "pole"], at = [0, 0] }
controllers.motor = { kind = "ode", states = { out = 0 }, rates = { out = 0 } }
forces.drive = { kind = "actuator", joint = "rail", force = "motor.out" }
initial."pin.angle" = 0.05
run = { t_end = 1.0, rtol = 1e-10, atol = 1e-12 }
"#;

fn with(integrator: &str) -> RunOverrides {
    RunOverrides {
        integrator: Some(integrator.parse::<MethodText>().expect("a method").0),
        ..RunOverrides::default()
    }
}

#[test]
fn fixed_steps_are_those_of_a_run() {
    // pauses on the grid of the steps change nothing
    for integrator in ["rk4", "generalized_alpha", "euler"] {
        let overrides = RunOverrides { step: Some(0.0078125), t_end: Some(0.5), ..with(integrator) };
        let model = shipped("four_bar.toml");
        let system = Arc::new(compile(&model).unwrap());
        let request = Simulate { overrides: overrides.clone(), record: true };
        let whole = simulate(&model, &system, &request, &mut ()).unwrap();
        let mut sim = build(model, overrides, false);
        let mut sensor = sim.sensor(&["B.angle", "crank.angle"]).unwrap();
        sim.set_dt(0.0078125).unwrap();
        let mut now = [0.0; 2];
        for _ in 0..64 {
            sim.step().unwrap();
            sim.read(&mut sensor, &mut now).unwrap();
        }
        assert_eq!(sim.t(), 0.5);
        let end = ["B.angle", "crank.angle"].map(|name| whole.trajectory.last(name).unwrap());
        let off = now.iter().zip(&end).fold(0.0_f64, |off, (a, b)| off.max((a - b).abs()));
        // Newton's method starts from the factors at hand, which those who read have changed: rounding
        let most = if integrator == "generalized_alpha" { 1e-11 } else { 0.0 };
        assert!(off <= most, "{integrator}: {off:e}");
    }
}

#[test]
fn adaptive_steps_agree_within_their_tolerance_and_remember() {
    for integrator in ["rk45", "dop853", "abm", "radau5", "bdf"] {
        let overrides = RunOverrides { t_end: Some(1.0), ..with(integrator) };
        let model = shipped("four_bar.toml");
        let system = Arc::new(compile(&model).unwrap());
        let request = Simulate { overrides: overrides.clone(), record: true };
        let whole = simulate(&model, &system, &request, &mut ()).unwrap();
        let mut sim = build(model, overrides, true);
        sim.set_dt(0.05).unwrap();
        (0..20).for_each(|_| sim.step().unwrap());
        let off =
            sim.trajectory().last("crank.angle").unwrap() - whole.trajectory.last("crank.angle").unwrap();
        // rtol 1e-8 over a second, with the growth of errors that the crank shows at any tolerance
        assert!(off.abs() < 2e-5, "{integrator}: {off:e}");
        assert_eq!(sim.trajectory().len(), 21);
        let (one, many) = (whole.report.counts.rhs, sim.report().counts.rhs);
        assert!(many < 3 * one, "{integrator}: {many} right-hand sides against {one}");
        assert!(sim.report().certificate.passed);
    }
}

#[test]
fn an_input_acts_from_where_it_is_set() {
    let mut sim = build(text(CART), RunOverrides::default(), false);
    let free = sim.accelerations().unwrap().vdot[0];
    sim.set("motor", 3.0).unwrap();
    let pushed = sim.accelerations().unwrap().vdot[0];
    assert!(pushed > free + 1.0);
    sim.advance(0.5).unwrap();
    // the same force written into the file
    let fixed = text(&CART.replace("force = \"motor.out\"", "force = 3.0"));
    let mut other = build(fixed, RunOverrides::default(), false);
    other.advance(0.5).unwrap();
    let off = |a: &Simulation, b: &Simulation| {
        a.state().q.iter().zip(&b.state().q).fold(0.0_f64, |off, (x, y)| off.max((x - y).abs()))
    };
    assert!(off(&sim, &other) < 1e-9, "{:e}", off(&sim, &other));

    // and back: only from there on
    sim.set("motor.out", 0.0).unwrap();
    sim.advance(0.6).unwrap();
    let switched = text(&CART.replace("force = \"motor.out\"", "force = \"if(t < 0.5, 3.0, 0)\""));
    let mut other = build(switched, RunOverrides::default(), false);
    other.advance(0.6).unwrap();
    assert!(off(&sim, &other) < 1e-9, "{:e}", off(&sim, &other));
}

#[test]
fn a_push_does_work_that_the_books_know() {
    let spatial = r#"
        format = "sarrus/1"
        space = "spatial"
        gravity = [0, 0, 0]
        bodies.top = { at = [0, 0, 0], mass = 2.0, inertia = [0.2, 0.3, 0.4] }
        run = { t_end = 1.0, rtol = 1e-11, atol = 1e-13 }
    "#;
    for integrator in ["dop853", "radau5"] {
        let mut sim = build(text(spatial), with(integrator), false);
        sim.push("top", [1.0, 0.0, 0.0], [0.1, 0.2, 0.3], Some([0.0, 0.5, 0.0])).unwrap();
        sim.advance(1.0).unwrap();
        let report = sim.report();
        assert!(report.energy.balance_error < 1e-9, "{integrator}: {:e}", report.energy.balance_error);
        // a = F/m
        assert!((sim.state().q[0] - 0.25).abs() < 1e-10);
        let spin = sim.state().v[3..6].to_vec();
        sim.let_go();
        sim.advance(1.5).unwrap();
        assert!((sim.state().v[0] - 0.5).abs() < 1e-10, "no force, no change");
        assert_ne!(spin, sim.state().v[3..6], "it still tumbles");
    }
}

#[test]
fn a_torque_from_outside_is_in_the_tangent() {
    // a body held by a ball joint under a torque of the world: the tangent of its turning against differences
    let spatial = r#"
        format = "sarrus/1"
        space = "spatial"
        gravity = [0, 0, 0]
        bodies.top = { at = [0, 0, 0], mass = 2.0, inertia = [1, 1, 1] }
        joints.J = { kind = "spherical", bodies = ["ground", "top"], at = [0, 0, 0] }
        run.t_end = 1.0
    "#;
    let mut sim = build(text(spatial), RunOverrides::default(), false);
    sim.push("top", [0.0; 3], [0.3, -0.2, 0.5], None).unwrap();
    let linear = sim.linearize().unwrap();
    let n = linear.size();
    let (h, q) = (1e-6, sim.state().q.clone());
    for i in 0..3 {
        let z = &linear.displacements[i];
        let vdot = |sim: &mut Simulation, h: f64| {
            let mut q = q.clone();
            let [x, y, w] = [z[3], z[4], z[5]].map(|z| 0.5 * h * z);
            (q[3], q[4], q[5], q[6]) = (1.0, x, y, w);
            sim.set_state(Some(&q), None, false).unwrap();
            sim.accelerations().unwrap().vdot
        };
        let (up, down) = (vdot(&mut sim, h), vdot(&mut sim, -h));
        for j in 0..3 {
            let difference: f64 =
                (0..6).map(|k| linear.velocities[j][k] * (up[k] - down[k]) / (2.0 * h)).sum();
            let exact = linear.A[(3 + j) * n + i];
            assert!((difference - exact).abs() < 1e-8, "{i} {j}: {difference} {exact}");
        }
    }
}

#[test]
fn events_and_sampled_controllers_happen_in_steps_too() {
    let model = shipped("trolley.toml");
    let system = Arc::new(compile(&model).unwrap());
    let overrides = RunOverrides { t_end: Some(1.0), ..RunOverrides::default() };
    let whole =
        simulate(&model, &system, &Simulate { overrides: overrides.clone(), record: true }, &mut ()).unwrap();
    let mut sim = build(model, overrides, true);
    // steps that do not fall on the samples
    sim.set_dt(0.0307).unwrap();
    while sim.t() < 0.95 {
        sim.step().unwrap();
    }
    sim.advance(1.0).unwrap();
    let off = sim.trajectory().last("pin.angle").unwrap() - whole.trajectory.last("pin.angle").unwrap();
    assert!(off.abs() < 1e-5, "{off:e}");

    // and steps that do, up to rounding: nothing is stepped over by what that leaves
    let mut sim = build(shipped("trolley.toml"), RunOverrides::default(), true);
    sim.set_dt(0.02).unwrap();
    (0..50).for_each(|_| sim.step().unwrap());
    let off = sim.trajectory().last("pin.angle").unwrap() - whole.trajectory.last("pin.angle").unwrap();
    assert!(off.abs() < 1e-9, "{off:e}");
    assert_eq!(sim.trajectory().len(), 51);

    let model = shipped("bouncing_ball.toml");
    let overrides = RunOverrides { t_end: Some(1.5), ..RunOverrides::default() };
    let system = Arc::new(compile(&model).unwrap());
    let whole =
        simulate(&model, &system, &Simulate { overrides: overrides.clone(), record: true }, &mut ()).unwrap();
    let mut sim = build(model, overrides, true);
    sim.set_dt(0.1).unwrap();
    (0..15).for_each(|_| sim.step().unwrap());
    let report = sim.report();
    let times = |events: &[sarrus::analysis::EventReport]| events.iter().map(|e| e.t).collect::<Vec<_>>();
    assert_eq!(report.events.len(), whole.report.events.len());
    for (a, b) in times(&report.events).iter().zip(times(&whole.report.events)) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn breaks_are_seen_beyond_the_end_of_the_file() {
    // a force that switches on at 2.5 s, long after t_end
    let model = text(&CART.replace("force = \"motor.out\"", "force = \"if(t < 2.5, 0, 1000)\""));
    let mut sim = build(model, RunOverrides::default(), false);
    sim.advance(2.5).unwrap();
    let before = sim.state().v[0];
    sim.advance(2.501).unwrap();
    let after = sim.state().v[0];
    assert!(after - before > 0.2, "{before} {after}");
    // a blow between two steps, which no stage falls on by itself: 20 N s
    let blow = "force = \"if(t < 2.5, 0, if(t < 2.50001, 2e6, 0))\"";
    let mut struck =
        build(text(&CART.replace("force = \"motor.out\"", blow)), RunOverrides::default(), false);
    struck.advance(2.6).unwrap();
    let mut calm = build(text(CART), RunOverrides::default(), false);
    calm.advance(2.6).unwrap();
    assert!(struck.state().v[0] - calm.state().v[0] > 1.0);
    // the step to 2.5 knew nothing of it
    let mut other = build(text(CART), RunOverrides::default(), false);
    other.advance(2.5).unwrap();
    assert!((before - other.state().v[0]).abs() < 1e-6);
}

#[test]
fn an_event_may_end_it_and_reset_begins_again() {
    let stops =
        format!("{CART}\nevents.fallen = {{ when = \"abs(pin.angle) > 0.5\", stop = \"the pole fell\" }}\n");
    let mut sim = build(text(&stops), RunOverrides::default(), true);
    let start = sim.state().clone();
    while sim.over().is_none() {
        sim.step().unwrap();
    }
    assert!(sim.over().unwrap().contains("the pole fell"));
    let fell = sim.t();
    let error = sim.step().unwrap_err();
    assert!(matches!(error, SimulationError::Over(_)) && error.hint().unwrap().contains("reset"));
    sim.reset();
    assert_eq!((sim.state(), sim.trajectory().len()), (&start, 1));
    while sim.over().is_none() {
        sim.step().unwrap();
    }
    assert_eq!(sim.t(), fell);
}

#[test]
fn reset_takes_other_initial_values() {
    let mut sim = build(text(CART), RunOverrides::default(), false);
    sim.reset_to(&[("pin.angle".into(), -0.2)]).unwrap();
    let mut angle = sim.sensor(&["pin.angle", "t"]).unwrap();
    let mut now = [1.0; 2];
    sim.read(&mut angle, &mut now).unwrap();
    assert!((now[0] + 0.2).abs() < 1e-12 && now[1] == 0.0);
    assert!(sim.reset_to(&[("pin.angel".into(), 0.1)]).is_err());
    sim.read(&mut angle, &mut now).unwrap();
    assert!((now[0] + 0.2).abs() < 1e-12, "a reset that fails changes nothing");
    sim.reset();
    sim.read(&mut angle, &mut now).unwrap();
    assert!((now[0] - 0.05).abs() < 1e-12, "the file's own start");
}

#[test]
fn a_copy_goes_its_own_way() {
    let mut sim = build(text(CART), RunOverrides { step: Some(0.01), ..with("rk4") }, true);
    sim.set_dt(0.01).unwrap();
    (0..10).for_each(|_| sim.step().unwrap());
    let mut copy = sim.copy(Box::new(())).unwrap();
    (0..10).for_each(|_| sim.step().unwrap());
    (0..10).for_each(|_| copy.step().unwrap());
    assert_eq!(sim.state(), copy.state());
    assert_eq!(sim.trajectory(), copy.trajectory());
    copy.set("motor", 5.0).unwrap();
    copy.step().unwrap();
    sim.step().unwrap();
    assert_ne!(sim.state(), copy.state());
}

#[test]
fn the_equations_are_those_of_motion() {
    let mut sim = build(shipped("four_bar_spatial.toml"), RunOverrides::default(), false);
    sim.advance(0.1).unwrap();
    let accel = sim.accelerations().unwrap();
    let eq = sim.equations();
    let s = sim.structure().clone();
    let (M, J) = (mass_matrix(&s, &eq).dense().unwrap(), jacobian(&s, &eq).dense().unwrap());
    let scale = eq.f.iter().fold(0.0_f64, |a, f| a.max(f.abs()));
    for i in 0..s.nv {
        let Mv: f64 = (0..s.nv).map(|j| M[i * s.nv + j] * accel.vdot[j]).sum();
        let Jl: f64 = (0..s.nc).map(|k| J[k * s.nv + i] * accel.lambda[k]).sum();
        assert!((Mv + Jl - eq.f[i]).abs() < 1e-9 * scale, "{i}");
    }
    for k in 0..s.nc {
        let Jv: f64 = (0..s.nv).map(|j| J[k * s.nv + j] * accel.vdot[j]).sum();
        assert!((Jv - eq.gamma[k]).abs() < 1e-8);
    }
    assert_eq!(sim.velocity_names().len(), s.nv);
    assert_eq!(sim.row_names().len(), s.nc);
    assert!(sim.velocity_names().iter().chain(&sim.row_names()).all(|name| !name.is_empty()));
}

#[test]
fn inverse_dynamics_undoes_forward_dynamics() {
    // a closed loop: the effort that gives the crank an acceleration, given back as a torque
    let mut sim = build(shipped("four_bar.toml"), RunOverrides::default(), false);
    sim.advance(0.3).unwrap();
    let (effort, vdot) = sim.inverse_dynamics(&[("A", 7.0)]).unwrap();
    sim.push("crank", [0.0; 3], [0.0, 0.0, effort[0]], None).unwrap();
    let found = sim.accelerations().unwrap().vdot;
    for (a, b) in found.iter().zip(&vdot) {
        assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
    }
    let names = sim.velocity_names();
    let crank = names.iter().position(|name| name == "crank.rate").unwrap();
    assert!((vdot[crank] - 7.0).abs() < 1e-10);
    assert!(matches!(sim.inverse_dynamics(&[("E", 1.0)]), Err(SimulationError::Unknown { .. })));
}

#[test]
fn bad_input_is_told_and_changes_nothing() {
    let mut sim = build(text(CART), RunOverrides::default(), false);
    sim.advance(0.1).unwrap();
    let before = sim.state().clone();
    let n = before.q.len();
    let message = |error: SimulationError| format!("{error} / {}", error.hint().unwrap_or_default());
    assert!(message(sim.set("moter", 1.0).unwrap_err()).contains("motor"));
    assert!(message(sim.set("motor", f64::NAN).unwrap_err()).contains("not a finite number"));
    assert!(message(sim.push("card", [0.0; 3], [0.0; 3], None).unwrap_err()).contains("cart"));
    assert!(sim.push("ground", [0.0; 3], [0.0; 3], None).is_err());
    assert!(sim.push("cart", [f64::INFINITY, 0.0, 0.0], [0.0; 3], None).is_err());
    assert!(
        message(sim.set_state(Some(&[0.0]), None, true).unwrap_err()).contains(&format!("needs {n} numbers"))
    );
    assert!(sim.set_state(Some(&vec![f64::NAN; n]), None, true).is_err());
    assert!(message(sim.advance(0.05).unwrap_err()).contains("before the present"));
    assert!(sim.advance(f64::NAN).is_err() && sim.set_dt(0.0).is_err() && sim.set_dt(f64::NAN).is_err());
    assert!(sim.sensor(&["pin.angel"]).is_err());
    assert_eq!(*sim.state(), before);
    sim.advance(0.2).unwrap();
}

#[test]
fn a_state_that_is_set_is_brought_onto_the_constraints() {
    let mut sim = build(shipped("four_bar.toml"), RunOverrides::default(), false);
    let mut q = sim.state().q.clone();
    q[2] += 1e-3;
    assert!(sim.set_state(Some(&q), None, true).unwrap());
    let eq = sim.equations();
    assert!(eq.phi.iter().all(|x| x.abs() < 1e-10));
    sim.advance(0.1).unwrap();
    assert!(sim.report().certificate.passed);
}

/// Interrupts after some steps.
struct Impatient(u32);

impl sarrus::analysis::Watch for Impatient {
    fn step(&mut self, _: &sarrus::analysis::Progress) -> sarrus::analysis::Proceed {
        self.0 += 1;
        if self.0 == 5 { sarrus::analysis::Proceed::Stop } else { sarrus::analysis::Proceed::Continue }
    }
}

#[test]
fn an_interrupted_step_can_be_gone_on_from() {
    let model = shipped("four_bar.toml");
    let system = Arc::new(compile(&model).unwrap());
    let request = Simulate { overrides: RunOverrides { step: Some(0.01), ..with("rk4") }, record: false };
    let mut sim = Simulation::watched(Arc::new(model), &system, &request, Box::new(Impatient(0))).unwrap();
    assert!(matches!(sim.advance(0.5), Err(SimulationError::Interrupted { .. })));
    assert!((sim.t() - 0.05).abs() < 1e-12 && sim.over().is_none());
    sim.advance(0.5).unwrap();
    let mut other = build(shipped("four_bar.toml"), request.overrides, false);
    other.advance(0.5).unwrap();
    assert_eq!(sim.state(), other.state());
}

#[test]
fn simulations_may_move_to_other_threads() {
    fn moves<T: Send>(_: &T) {}
    moves(&build(text(CART), RunOverrides::default(), false));
}

#[test]
fn a_copy_that_is_read_before_it_goes_on_is_no_other() {
    for integrator in ["rk45", "abm", "bdf", "radau5", "newmark", "staggered", "rk4"] {
        let overrides = RunOverrides { step: Some(0.01), ..with(integrator) };
        let mut sim = build(shipped("four_bar.toml"), overrides, false);
        sim.advance(0.1).unwrap();
        let mut copy = sim.copy(Box::new(())).unwrap();
        copy.accelerations().unwrap();
        copy.advance(0.2).unwrap();
        sim.reset();
        sim.accelerations().unwrap();
        sim.advance(0.1).unwrap();
        sim.advance(0.2).unwrap();
        let off =
            sim.state().q.iter().zip(&copy.state().q).fold(0.0_f64, |off, (a, b)| off.max((a - b).abs()));
        assert!(off < 1e-5, "{integrator}: {off:e}");
    }
}

#[test]
fn slivers_between_pauses_do_no_harm() {
    for integrator in ["trapezoidal", "newmark", "hht", "generalized_alpha", "staggered", "rk4"] {
        let overrides = RunOverrides { step: Some(0.002), t_end: Some(1.0), ..with(integrator) };
        let mut straight = build(shipped("double_pendulum.toml"), overrides.clone(), false);
        (1..=10).for_each(|k| straight.advance(0.05 * f64::from(k)).unwrap());
        for sliver in [1e-15, 1e-12] {
            let mut sim = build(shipped("double_pendulum.toml"), overrides.clone(), true);
            for k in 1..=10 {
                sim.advance(0.05 * f64::from(k)).unwrap();
                sim.advance(0.05 * f64::from(k) + sliver).unwrap();
            }
            let off = |a: &State, b: &State| {
                a.v.iter().zip(&b.v).fold(0.0_f64, |off, (a, b)| off.max((a - b).abs()))
            };
            let off = off(straight.state(), sim.state());
            // methods that remember begin anew, to their order: 2 at 2 ms
            assert!(off < 1e-4, "{integrator}, {sliver:e}: {off:e}");
        }
    }
}

#[test]
fn the_present_is_sampled_once() {
    let mut sim = build(text(CART), RunOverrides::default(), true);
    sim.advance(0.5).unwrap();
    sim.advance(0.5).unwrap();
    assert_eq!(sim.trajectory().len(), 2);
}
