//! The flexible rod of \[Hajzman2007\] that falls in a channel of water: all methods fall alike, through its impacts.

use sarrus::analysis::MethodText;
use sarrus::prelude::*;
use std::sync::Arc;

/// x and y of the segments 1, 5, 10 and of the first at 0.5 s \[m\], by an independent integration in minimal coordinates, trusted to 2e-8.
const AT_END: [(&str, f64); 4] = [
    ("rod.seg1.x", 0.000_859_103_382_581),
    ("rod.seg5.x", -0.001_789_959_285_571),
    ("rod.seg10.x", -0.006_897_491_231_628),
    ("rod.seg1.y", -1.452_798_152_096_813),
];
/// Time when the lower end first touches the wall \[s\], from the same.
const FIRST: f64 = 0.047_925_455_856;

fn fall(integrator: &str, change: impl FnOnce(&mut RunOverrides)) -> Outcome {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/hajzman2007/rod.toml");
    let model = load(path, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    let MethodText(method) = integrator.parse().unwrap();
    let mut overrides =
        RunOverrides { integrator: Some(method), every: Some(0.01), ..RunOverrides::default() };
    change(&mut overrides);
    let run = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap();
    assert_eq!(run.report.status, Status::Completed, "{integrator}: {}", run.report.reason);
    run
}

/// Returns how far from the independent integration a run ends \[m\].
fn off(run: &Outcome) -> f64 {
    AT_END.iter().map(|(column, x)| (run.trajectory.last(column).unwrap() - x).abs()).fold(0.0, f64::max)
}

fn fixed(integrator: &str, step: f64) -> Outcome {
    fall(integrator, |o| o.step = Some(step))
}

/// Errors of 1e-7 and below are those of the method, not of the model: contact times are found, energy accounts kept.
#[test]
fn a_tight_run_meets_an_independent_integration_through_all_impacts() {
    let run = fall("dop853", |o| (o.rtol, o.atol) = (Some(1e-10), Some(1e-12)));
    assert!(off(&run) < 2e-8, "{:e}", off(&run));
    let walls = &run.report.contacts[0];
    assert!((walls.first_onset.unwrap() - FIRST).abs() < 1e-9, "{:?}", walls.first_onset);
    assert!(walls.onsets > 10 && run.report.certificate.passed);
}

#[test]
fn methods_that_choose_their_steps_fall_alike() {
    for integrator in ["rk23", "rk45", "dop853", "abm"] {
        let run = fall(integrator, |o| (o.rtol, o.atol) = (Some(1e-6), Some(1e-8)));
        // some hundred impacts, each as good as the tolerance of 1e-6 of the metre that it falls
        assert!(off(&run) < 1e-5, "{integrator}: {:e}", off(&run));
    }
}

/// The order of a fixed step shows in how the error falls with it, kinks of the contacts notwithstanding.
#[test]
fn fixed_steps_fall_alike_to_their_order() {
    for (integrator, h, order) in [
        ("rk4", 2e-4, 2.0),
        ("staggered", 1e-4, 2.0),
        ("park1987", 1e-4, 2.0),
        ("generalized_alpha", 2e-4, 2.0),
    ] {
        let [long, short] = [h, h / 2.0].map(|h| off(&fixed(integrator, h)));
        assert!(long < 2e-3, "{integrator}: {long:e}");
        let found = (long / short).log2();
        assert!(found > order - 0.6, "{integrator}: {long:e} and {short:e} are of order {found}");
    }
    let run = fixed("euler", 2e-5);
    assert!(off(&run) < 3e-3, "euler: {:e}", off(&run));
}

#[test]
fn drift_grows_without_stabilization_and_not_with_it() {
    let drift = |stabilization: &str| {
        let MethodText(stabilization) = stabilization.parse().unwrap();
        let MethodText(formulation) = "direct".parse().unwrap();
        let run = fall("rk23", |o| {
            (o.rtol, o.atol) = (Some(1e-3), Some(1e-6));
            (o.formulation, o.stabilization) = (Some(formulation), Some(stabilization));
        });
        let drift: Vec<f64> = run.trajectory.column("violation.position").unwrap().collect();
        (drift[drift.len() / 4], drift[drift.len() - 1])
    };
    let (early, late) = drift("none");
    assert!(late > 2.0 * early, "{early:e} {late:e}");
    for rates in ["baumgarte:alpha=10,beta=10", "baumgarte:alpha=50,beta=50"] {
        let (_, with) = drift(rates);
        assert!(with < 0.5 * late, "{rates}: {with:e} against {late:e}");
    }
}
