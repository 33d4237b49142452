//! Independent coordinates on whole models: accelerations, drift, and dead points.

use sarrus::prelude::*;
use sarrus::solve::integrators;
use sarrus::solve::{
    Accel, Dynamics, Equations, MethodStatistics, Options, Problem, Stage, State, StepControl, formulations,
    stabilizations,
};
use sarrus_zoo::{MODELS, model};
use std::sync::Arc;

/// A shipped model, compiled, and its start.
fn compiled(name: &str, text: &str) -> (Arc<System>, State, Vec<f64>) {
    let model = load_str(&format!("{name}.toml"), text, &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    let start = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap();
    (system, start.state, start.discrete)
}

/// Marks where a run ended, its largest ‖Φ‖ and ‖Φ̇‖ after a step in each quarter of it, and what its methods found.
struct Ran {
    end: State,
    drift: [[f64; 2]; 4],
    found: [MethodStatistics; 2],
}

fn run(name: &str, formulation: &str, stabilization: &str, t_end: f64, rtol: f64) -> Ran {
    run_text(name, model(name).unwrap(), formulation, stabilization, t_end, rtol)
}

fn run_text(name: &str, text: &str, formulation: &str, stabilization: &str, t_end: f64, rtol: f64) -> Ran {
    let (system, mut state, discrete) = compiled(name, text);
    let mut mechanism = system.mechanism();
    mechanism.set_discrete(&discrete);
    let mut judge = system.mechanism();
    let mut eq = Equations::new(&judge);
    let none = Options::new();
    let mut stabilization = stabilizations::make(stabilization, &none).unwrap();
    stabilization.set_tolerance(rtol, 1e-2 * rtol);
    let formulation = formulations::make(formulation, &none).unwrap();
    let mut dynamics = Dynamics::new(&mut mechanism, formulation, stabilization).unwrap();
    let mut method = (integrators::find("rk45").unwrap().new)(&none).unwrap();
    let mut control = StepControl::new(rtol, 1e-2 * rtol, None).unwrap();
    method.prepare(&system.structure);
    control.t_end = t_end;
    let mut drift = [[0.0_f64; 2]; 4];
    while state.t < t_end {
        method.step(&mut dynamics, &mut state, &mut control).unwrap_or_else(|e| panic!("{name}: {e} {e:?}"));
        judge.set_discrete(dynamics.problem().discrete());
        judge.update(&state, Stage::VELOCITY, &mut eq);
        let quarter = &mut drift[((4.0 * state.t / t_end) as usize).min(3)];
        for (worst, values) in quarter.iter_mut().zip([&eq.phi, &eq.phidot]) {
            *worst = worst.max(values.iter().map(|x| x * x).sum::<f64>().sqrt());
        }
    }
    let found = dynamics.statistics();
    Ran { end: state, drift, found }
}

/// Drift without stabilization grows through the quarters of a run; with any other it stays where it was.
#[test]
fn drift_grows_without_stabilization_and_with_none_of_the_others() {
    for name in ["mcpherson", "mcpherson_overconstrained", "slider_crank", "rolling_ball"] {
        let none = run(name, "proximal", "none", 10.0, 1e-6).drift;
        assert!((0..3).all(|k| none[k + 1][0] > 1.2 * none[k][0]), "{name}: {none:?}");
        for (stabilization, position, velocity) in [
            ("projection", 1e-13, 1e-13),
            ("partitioned", 1e-11, 1e-13),
            ("violation_correction", 1e-11, 1e-13),
        ] {
            let drift = run(name, "proximal", stabilization, 10.0, 1e-6).drift;
            let retained = drift.iter().all(|quarter| quarter[0] <= position && quarter[1] <= velocity);
            assert!(retained, "{name} with {stabilization}: {drift:?}");
        }
        let baumgarte = run(name, "proximal", "baumgarte", 10.0, 1e-6).drift;
        assert!(baumgarte[3][0] < 0.2 * none[3][0], "{name}: {baumgarte:?} {none:?}");
    }
}

/// J M⁻¹Jᵀλ = J M⁻¹f - γ is solved by both, by `proximal` in blocks: v̇ agrees, and the shortest λ.
#[test]
fn partitioned_accelerations_are_those_of_the_mechanism_on_every_model() {
    for &(name, text) in MODELS {
        let (system, state, discrete) = compiled(name, text);
        if system.structure.nv > 400 {
            continue;
        }
        let evaluate = |formulation: &str| -> Accel {
            let mut mechanism = system.mechanism();
            mechanism.set_discrete(&discrete);
            let formulation = formulations::make(formulation, &Options::new()).unwrap();
            let none = stabilizations::make("none", &Options::new()).unwrap();
            let mut dynamics = Dynamics::new(&mut mechanism, formulation, none).unwrap();
            dynamics.evaluate(&state).unwrap_or_else(|e| panic!("{name}: {e}")).clone()
        };
        let (proximal, partitioned) = (evaluate("proximal"), evaluate("partitioned"));
        for (a, b) in [(&proximal.vdot, &partitioned.vdot), (&proximal.lambda, &partitioned.lambda)] {
            let size = a.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
            let error = a.iter().zip(b).fold(0.0_f64, |error, (a, b)| error.max((a - b).abs()));
            assert!(error <= 1e-10 * size.max(1.0), "{name}: {error:e} of {size:e}");
        }
    }
}

/// Index in v of the rack's speed.
const RACK: usize = 25;

/// Pivoting never takes the rack for independent, though it passes dead points.
#[test]
fn the_rack_of_the_strut_is_not_chosen() {
    let ran = run("mcpherson", "partitioned", "partitioned", 10.0, 1e-8);
    for found in ran.found {
        let partition = found.partition.unwrap();
        assert!(!partition.independent.contains(&RACK), "{partition:?}");
        assert!(partition.choices == 1 && partition.condition < 20.0, "{partition:?}");
        assert_eq!(found.rank.map(|r| (r.least, r.most)), Some((26, 26)));
    }
}

/// A rack of 30 kg is chosen at first. At its dead point, where its speed no longer shows how the knuckle turns, it is
/// given up, and the motion is that of `projection`.
#[test]
fn a_rack_at_its_dead_point_is_given_up() {
    let strut = model("mcpherson").unwrap();
    let (rack, force) = ("rack = { at = \"mid(P12, P13)\", mass = 1.0", "\"2 + 0.01*sin(t)\"");
    assert!(strut.contains(rack) && strut.contains(force));
    let heavy = strut.replace(rack, &rack.replace("1.0", "30.0")).replace(force, &force.replace('2', "60"));

    let early = run_text("mcpherson", &heavy, "partitioned", "partitioned", 0.01, 1e-8);
    let late = run_text("mcpherson", &heavy, "partitioned", "partitioned", 10.0, 1e-8);
    for found in early.found {
        let early = found.partition.unwrap();
        assert!(early.independent.contains(&RACK) && early.choices == 1, "{early:?}");
    }
    let [formulation, stabilization] = late.found.map(|found| found.partition.unwrap());
    assert!(!formulation.independent.contains(&RACK) && formulation.choices > 1, "{formulation:?}");
    // the stabilization wants the best: behind the dead point that is the rack again
    assert!(stabilization.choices > 2 && stabilization.condition < 100.0, "{stabilization:?}");
    // each is off by some 100 tolerances after 10 s
    let other = run_text("mcpherson", &heavy, "proximal", "projection", 10.0, 1e-8);
    let apart = late.end.q.iter().zip(&other.end.q).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
    assert!(apart < 1e-5, "{apart:e}");
}
