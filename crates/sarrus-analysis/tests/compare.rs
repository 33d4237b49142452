//! Methods side by side: what rows say, and what becomes of those that do not complete.

use sarrus_analysis::compare::{
    self, Comparison, ComparisonMatrix, ComparisonProgress, ComparisonWatch, RowStatus, Tolerance,
};
use sarrus_analysis::{Proceed, RunOverrides, Settings, SetupError};
use sarrus_io::{LoadOptions, load_str};
use sarrus_model::Model;
use sarrus_system::{System, compile};
use std::sync::Arc;

const PENDULUM: &str = r#"
format = "sarrus/1"
space = "planar"
[bodies]
bar = { from = [0, 0], to = [1.5, 0], mass = 2.0 }
[joints]
A = { kind = "revolute", bodies = ["ground", "bar"], at = [0, 0] }
[run]
t_end = 1.0
rtol = 1e-6
atol = 1e-8
"#;

fn open(text: &str) -> (Model, Arc<System>) {
    let model = load_str("test.toml", text, &LoadOptions::default()).unwrap();
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

/// A matrix of one integrator without times, changed by `change`.
fn run_watched(
    text: &str,
    change: impl Fn(&mut ComparisonMatrix),
    watch: &mut dyn ComparisonWatch,
) -> Result<Comparison, SetupError> {
    let (model, system) = open(text);
    let settings = Settings::read(&model, &RunOverrides::default()).unwrap();
    let mut matrix = ComparisonMatrix { timing: None, jobs: 2, ..ComparisonMatrix::all(&settings) };
    matrix.formulations = compare::choices("proximal,direct").unwrap();
    matrix.stabilizations = compare::choices("projection").unwrap();
    change(&mut matrix);
    compare::run(&model, &system, &matrix, watch)
}

fn run(text: &str, change: impl Fn(&mut ComparisonMatrix)) -> Comparison {
    run_watched(text, change, &mut ()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_combination_is_a_row_in_order() {
    let found = run(PENDULUM, |m| {
        m.stabilizations = compare::choices("none,baumgarte:alpha=5,beta=6").unwrap();
        m.integrators = compare::choices("rk4,rk45").unwrap();
        m.steps = vec![0.01, 0.001];
    });
    let methods: Vec<String> = found.rows.iter().map(|r| r.method()).collect();
    let of = |f: &str, s: &str| {
        [format!("{f} + {s} + rk4"), format!("{f} + {s} + rk4"), format!("{f} + {s} + rk45")]
    };
    let wanted: Vec<String> = [
        of("proximal", "none"),
        of("proximal", "baumgarte:alpha=5,beta=6"),
        of("direct", "none"),
        of("direct", "baumgarte:alpha=5,beta=6"),
    ]
    .concat();
    assert_eq!(methods, wanted);
    assert!(found.rows.iter().all(|r| r.status == RowStatus::Completed && r.drift.is_some()));
    assert_eq!(found.to_csv().lines().count(), 13);
    assert!(found.to_csv().contains("\"baumgarte:alpha=5,beta=6\""));
}

/// RK4 halves its step: the error falls by 2⁴. The pendulum is smooth and 1 s is no more than two swings, so that the
/// leading term rules at steps of 20 and 10 ms.
#[test]
fn errors_against_the_reference_show_the_order_of_a_method() {
    let found = run(PENDULUM, |m| {
        m.formulations = compare::choices("proximal").unwrap();
        m.integrators = compare::choices("rk4").unwrap();
        m.steps = vec![0.02, 0.01];
    });
    let errors: Vec<f64> = found.rows.iter().map(|r| r.error.unwrap()).collect();
    let order = (errors[0] / errors[1]).log2();
    assert!((3.6..4.4).contains(&order), "{order}: {errors:?}");
    // and the reference is much better than what it judges
    let reference = found.reference.unwrap();
    assert!(reference.uncertainty.unwrap() < 1e-3 * errors[1], "{reference:?}");
    assert_eq!(reference.method.rtol, Some(1e-12));
}

#[test]
fn a_method_that_does_not_do_for_the_model_is_a_row_with_the_reason() {
    // the same pin twice: two of four rows say nothing new, and both pins' forces are shared
    let twice = PENDULUM
        .replace("[run]", "B = { kind = \"revolute\", bodies = [\"ground\", \"bar\"], at = [0, 0] }\n[run]");
    let found = run(&twice, |_| {});
    assert_eq!(found.rows[0].status, RowStatus::Completed);
    assert_eq!(found.rows[1].status, RowStatus::Refused);
    assert!(found.rows[1].reason.contains("independent"), "{}", found.rows[1].reason);
    assert!(found.rows[1].error.is_none() && found.rows[1].counts.is_none());
    // the integrator that `auto` would have taken is named all the same
    assert_eq!(found.rows[1].integrator, found.rows[0].integrator);

    let shared = ["A.fx", "A.fy", "B.fx", "B.fy"].map(String::from);
    assert!(shared.iter().all(|c| found.not_unique.contains(c) && !found.unique.contains(c)), "{found:?}");
    let deviation = found.rows[0].deviation.as_ref().unwrap();
    assert!(shared.contains(&deviation.not_unique.worst.as_ref().unwrap().name));
    let unique = deviation.reactions.worst.as_ref().map(|w| w.name.clone());
    assert!(unique.is_none_or(|name| !shared.contains(&name)));
}

/// A bar on two hinges at one point: how they share the load is not unique, what both carry together is.
#[test]
fn reactions_of_the_reference_come_with_their_uniqueness() {
    let doubled = PENDULUM
        .replace("[run]", "B = { kind = \"revolute\", bodies = [\"ground\", \"bar\"], at = [0, 0] }\n[run]");
    let found = run(&doubled, |m| m.formulations = compare::choices("proximal").unwrap());
    let names: Vec<_> = found.reactions.iter().map(|c| (c.column.as_str(), c.unique, c.unit)).collect();
    let shared = ["A.fx", "A.fy", "B.fx", "B.fy"];
    assert_eq!(names.len(), shared.len(), "{names:?}");
    assert!(names.iter().all(|n| shared.contains(&n.0) && !n.1 && n.2 == "N"), "{names:?}");
    let alone = run(PENDULUM, |m| m.formulations = compare::choices("proximal").unwrap());
    assert!(
        alone.reactions.iter().all(|c| c.unique && c.points.len() == 1001),
        "{:?}",
        alone.reactions.len()
    );
    assert_eq!(alone.reactions.len(), 2);
}

#[test]
fn a_failed_run_is_a_row_that_says_how_far_it_came() {
    // no step in floating point meets this tolerance
    let found = run(PENDULUM, |m| {
        m.formulations = compare::choices("proximal").unwrap();
        m.stabilizations = compare::choices("none").unwrap();
        m.integrators = compare::choices("euler,dop853").unwrap();
        m.steps = vec![0.3];
        m.tolerances = vec![Tolerance { rtol: 1e-300, atol: 1e-300 }];
    });
    assert_eq!(found.rows[0].status, RowStatus::Completed);
    let failed = &found.rows[1];
    assert_eq!(failed.status, RowStatus::Failed, "{failed:?}");
    assert!(!failed.reason.is_empty() && failed.t_reached.is_some_and(|t| t < 1.0) && failed.ratio.is_none());
}

#[test]
fn a_run_that_takes_too_long_is_stopped_and_says_so() {
    let found = run(PENDULUM, |m| m.wall_limit = Some(1e-9));
    for row in &found.rows {
        assert_eq!(row.status, RowStatus::Stopped);
        assert!(row.reason.contains("limit") && row.t_reached.unwrap() < 1.0, "{row:?}");
    }
    assert!(found.reference.is_none() && found.notes[0].contains("no reference"));
    assert!(!found.interrupted);
}

#[test]
fn dense_formulations_are_not_tried_on_large_models() {
    let found = run(PENDULUM, |m| {
        m.formulations = compare::choices("pseudo_inverse,proximal").unwrap();
        m.dense_limit = 3;
    });
    assert_eq!(found.rows[0].status, RowStatus::Refused);
    assert!(found.rows[0].reason.contains("dense"), "{}", found.rows[0].reason);
    assert_eq!(found.rows[1].status, RowStatus::Completed);
}

#[test]
fn whoever_watches_may_stop_and_keeps_the_rows() {
    struct Stopper;
    impl ComparisonWatch for Stopper {
        fn progress(&mut self, _: &ComparisonProgress) -> Proceed {
            Proceed::Stop
        }
    }
    let found = run_watched(PENDULUM, |_| {}, &mut Stopper).unwrap();
    assert!(found.interrupted);
    assert_eq!(found.rows.len(), 2);
    assert!(found.rows.iter().all(|r| r.status == RowStatus::Stopped));
}

#[test]
fn a_misspelt_method_is_an_error_with_a_suggestion() {
    let error = run_watched(PENDULUM, |m| m.formulations = compare::choices("proximla").unwrap(), &mut ())
        .unwrap_err();
    assert_eq!(error.diagnostics()[0].hint.as_deref(), Some("did you mean `proximal`?"));
}

#[test]
fn times_are_taken_of_what_completed_and_the_fastest_is_one() {
    let found = run(PENDULUM, |m| {
        m.timing = Some(compare::Timing { repeat: 2, least: 0.0, most: 1.0 });
    });
    assert!(found.rows.iter().all(|r| r.timed == 2 && r.ratio.unwrap() >= 1.0));
    assert!(found.rows.iter().any(|r| r.ratio == Some(1.0)));
    let json: serde_json::Value = serde_json::from_str(&found.to_json()).unwrap();
    assert_eq!(json["rows"][0]["rtol"], 1e-6);
    assert_eq!(json["rows"][0]["status"], "completed");
}

/// They combine with no formulation and no stabilization: one row per step, or per tolerance where steps are chosen.
#[test]
fn an_integrator_that_resolves_the_constraints_itself_is_one_row() {
    let found = run(PENDULUM, |m| {
        m.stabilizations = compare::choices("none,projection").unwrap();
        m.integrators = compare::choices("staggered,rk45,staggered:adaptive=yes,park1987").unwrap();
        m.steps = vec![0.02, 0.01];
        m.tolerances = [1e-3, 1e-5].map(|rtol| Tolerance { rtol, atol: rtol }).to_vec();
    });
    // 2 formulations x 2 stabilizations x 2 tolerances of rk45, then the others with two rows each
    assert_eq!(found.rows.len(), 8 + 3 * 2);
    let own = &found.rows[8..];
    let methods: Vec<String> = own.iter().map(|r| r.method()).collect();
    let each = ["staggered", "staggered:adaptive=yes", "park1987"];
    assert_eq!(methods, each.map(|m| [m, m]).concat());
    for row in own {
        assert_eq!(row.status, RowStatus::Completed, "{}: {}", row.method(), row.reason);
        assert_eq!((&*row.formulation, &*row.stabilization), ("own", "own"));
        assert_eq!(row.rtol().is_some(), row.method().contains("adaptive"), "{}", row.method());
    }
    let rtols: Vec<_> = own[2..4].iter().map(|r| r.rtol().unwrap()).collect();
    assert_eq!(rtols, [1e-3, 1e-5]);
    // second order
    let order = (own[0].error.unwrap() / own[1].error.unwrap()).log2();
    assert!((1.7..2.3).contains(&order), "{order}");
}
