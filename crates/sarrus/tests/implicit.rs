//! Implicit integrators on mechanisms: order in positions, velocities and multipliers, redundant rows, rolling, energy, and failures.

use sarrus::prelude::*;
use sarrus::solve::{
    Control, Dynamics, Equations, Integrator, Options, Problem, Stage, State, formulations, integrators,
    stabilizations,
};
use sarrus_zoo::model;
use std::sync::Arc;

fn compiled(name: &str) -> (Model, Arc<System>) {
    let model = load_str(&format!("{name}.toml"), model(name).unwrap(), &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

fn method(text: &str) -> Integrator {
    let (kind, given) = text.split_once(':').unwrap_or((text, ""));
    let mut options = Options::new();
    for (name, value) in given.split(',').filter_map(|o| o.split_once('=')) {
        match value.parse::<f64>() {
            Ok(x) => options.set(name, x),
            Err(_) => options.set(name, value),
        };
    }
    (integrators::find(kind).unwrap().new)(&options).unwrap()
}

/// What a run shows at its end.
struct End {
    s: State,
    lambda: Vec<f64>,
    /// Largest |Φ| and |Φ̇| over all steps.
    violation: [f64; 2],
    /// Largest error of the energy balance \[J\].
    energy: f64,
    steps: u64,
}

/// A run of `text` to `t_end` with `control`.
fn run(name: &str, text: &str, mut control: Control, t_end: f64) -> End {
    let (model, system) = compiled(name);
    let start = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap();
    let mut mechanism = system.mechanism();
    mechanism.set_hints(&start.hints);
    let none = Options::new();
    let formulation = formulations::make("proximal", &none).unwrap();
    let stabilization = stabilizations::make("projection", &none).unwrap();
    let mut dynamics = Dynamics::new(&mut mechanism, formulation, stabilization).unwrap();
    let mut method = method(text);
    control.t_end = t_end;
    let mut s = start.state;
    method.prepare(&system.structure);
    let first = dynamics.problem_mut().energy(&s).balance();
    let mut eq = Equations::new(dynamics.problem());
    let (mut violation, mut energy) = ([0.0_f64; 2], 0.0_f64);
    while s.t < t_end {
        method.step(&mut dynamics, &mut s, &mut control).unwrap_or_else(|e| panic!("{name}, {text}: {e}"));
        let problem = dynamics.problem_mut();
        energy = energy.max((problem.energy(&s).balance() - first).abs());
        problem.update(&s, Stage::VELOCITY, &mut eq);
        let largest = |a: f64, x: &f64| a.max(x.abs());
        violation[0] = system.structure.holonomic_rows().flat_map(|r| &eq.phi[r]).fold(violation[0], largest);
        violation[1] = eq.phidot.iter().fold(violation[1], largest);
    }
    let lambda = match method.multipliers() {
        Some(lambda) => lambda.to_vec(),
        None => dynamics.evaluate(&s).unwrap().lambda.clone(),
    };
    End { s, lambda, violation, energy, steps: control.counts.steps }
}

fn fixed(h: f64) -> Control {
    Control::new(1.0, 1.0, Some(h)).unwrap()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Errors of q, v and λ.
fn errors(end: &End, exact: &End) -> [f64; 3] {
    [apart(&end.s.q, &exact.s.q), apart(&end.s.v, &exact.s.v), apart(&end.lambda, &exact.lambda)]
}

#[test]
fn every_method_has_its_order_in_positions_velocities_and_multipliers() {
    let cases = [
        ("double_pendulum", 0.4, 0.01),
        ("four_bar", 0.4, 0.01),
        ("slider_crank", 0.1, 0.002),
        ("andrews", 0.01, 0.0005),
    ];
    let methods = [
        ("trapezoidal:newton=1e-12", [2.0, 2.0, 2.0]),
        ("generalized_alpha:newton=1e-12", [2.0, 2.0, 2.0]),
        ("generalized_alpha:newton=1e-12,constraints=positions", [2.0, 2.0, 2.0]),
        ("generalized_alpha:newton=1e-12,constraints=velocities", [2.0, 2.0, 2.0]),
        ("hht:newton=1e-12", [2.0, 2.0, 2.0]),
        ("newmark:newton=1e-12", [2.0, 2.0, 2.0]),
        ("linearly_implicit_euler", [1.0, 1.0, 1.0]),
        ("radau5:newton=1e-12", [5.0, 5.0, 3.0]),
    ];
    for (name, t_end, h) in cases {
        let exact = run(name, "dop853", Control::new(1e-12, 1e-13, None).unwrap(), t_end);
        for (text, order) in methods {
            let h = if text.starts_with("radau5") { 4.0 * h } else { h };
            let [coarse, fine] = [h, 0.5 * h].map(|h| errors(&run(name, text, fixed(h), t_end), &exact));
            let found: Vec<f64> = (0..3).map(|i| (coarse[i] / fine[i]).log2()).collect();
            let show = |e: [f64; 3]| e.map(|x| format!("{x:.1e}")).join(" ");
            println!("{name:16} {text:55} {} | {} orders {found:.2?} {order:?}", show(coarse), show(fine));
        }
    }
}

#[test]
fn adaptive_methods_follow_the_tolerance() {
    for (name, t_end) in [("double_pendulum", 1.0), ("four_bar", 1.0), ("andrews", 0.02)] {
        let exact = run(name, "dop853", Control::new(1e-12, 1e-13, None).unwrap(), t_end);
        for text in
            ["bdf", "bdf:order=2", "radau5", "generalized_alpha:adaptive=yes", "trapezoidal:adaptive=yes"]
        {
            for tolerance in [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8] {
                if tolerance < 1e-6 && text.ends_with("yes") {
                    continue;
                }
                let end = run(name, text, Control::new(tolerance, tolerance, None).unwrap(), t_end);
                let [q, v, l] = errors(&end, &exact);
                println!("{name} {text} {tolerance:e}: {} steps, {q:.1e} {v:.1e} {l:.1e}", end.steps);
            }
        }
    }
}

#[test]
fn redundant_rows_and_rolling_do_no_harm() {
    for name in [
        "n_four_bar_spatial",
        "door",
        "coupler_spatial",
        "bennett",
        "sarrus",
        "mcpherson_overconstrained",
        "rolling_disc",
        "rolling_ball",
        "heavy_top",
    ] {
        let exact = run(name, "dop853", Control::new(1e-10, 1e-11, None).unwrap(), 0.1);
        for text in [
            "generalized_alpha",
            "generalized_alpha:constraints=positions",
            "trapezoidal",
            "radau5",
            "bdf",
            "linearly_implicit_euler",
        ] {
            let end = run(name, text, Control::new(1e-6, 1e-6, Some(1e-3)).unwrap(), 0.1);
            let [q, v, _] = errors(&end, &exact);
            println!(
                "{name:20} {text:42} {q:.1e} {v:.1e} violation {:.1e} {:.1e} energy {:.1e}",
                end.violation[0], end.violation[1], end.energy
            );
        }
    }
}
