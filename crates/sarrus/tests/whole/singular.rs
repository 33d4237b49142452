//! The N-four-bar becomes singular in all its loops at once, twice a rotation; every adaptive method passes on the right branch.

use sarrus::analysis::RunOverrides;
use sarrus::model::settings::MethodChoice;
use sarrus::prelude::*;
use std::sync::Arc;

#[test]
fn every_adaptive_method_passes_aligned_positions_on_its_branch() {
    let text = sarrus_zoo::model("n_four_bar").unwrap();
    for n in [1, 2, 10] {
        let options = LoadOptions { set: vec![("n".into(), n.to_string())], ..LoadOptions::default() };
        let model = load_str("n_four_bar.toml", text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
        let system = Arc::new(compile(&model).unwrap());
        for (integrator, rtol) in [
            ("rk23", 1e-6),
            ("rk45", 1e-8),
            ("dop853", 1e-8),
            ("dop853", 1e-10),
            ("abm", 1e-8),
            ("abm", 1e-10),
        ] {
            for formulation in ["proximal", "direct"] {
                let name = |kind: &str| Some(MethodChoice { kind: kind.into(), ..MethodChoice::default() });
                let overrides = RunOverrides {
                    integrator: name(integrator),
                    formulation: name(formulation),
                    rtol: Some(rtol),
                    atol: Some(1e-2 * rtol),
                    t_end: Some(5.0),
                    every: Some(0.05),
                    columns: Some(vec!["bar*.angle".into()]),
                    ..RunOverrides::default()
                };
                let run = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap();
                let what = format!("n = {n}, {integrator}, {formulation}, rtol {rtol}");
                assert_eq!(run.report.status, Status::Completed, "{what}: {:?}", run.report.reason);
                assert!(run.report.counts.steps < 40_000, "{what}: {} steps", run.report.counts.steps);
                // on the branch of the parallelogram the couplers never turn
                for column in run.trajectory.names().iter().filter(|c| c.ends_with(".angle")) {
                    let most = run.trajectory.column(column).unwrap().fold(0.0_f64, |m, x| m.max(x.abs()));
                    assert!(most < 1e-5, "{what}: {column} reaches {most}");
                }
            }
        }
    }
}

/// A long row that starts in line with velocities that do not tell the branch: it has left no range, and words and markers do not say so.
#[test]
fn a_long_row_that_starts_in_line_does_not_end_its_range() {
    let text = sarrus_zoo::model("n_four_bar").unwrap();
    let text = text.replace("to = [\"i\", 1]", "to = [\"i + 1\", 0]").replace("[\"i - 1\", 1]", "[\"i\", 0]");
    let text = text.replace("at = [\"i\", 1]", "at = [\"i + 1\", 0]");
    let options = LoadOptions { set: vec![("n".into(), "8".into())], ..LoadOptions::default() };
    let model = load_str("n_four_bar.toml", &text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    let report = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap().report;
    assert_eq!(report.status, Status::Failed);
    assert!(report.reason.contains("singular position at the start"), "{}", report.reason);
    assert!(report.reason.contains("joint `A0`") && report.reason.contains("[initial]"), "{}", report.reason);
    assert!(report.singular.is_empty() && report.events.is_empty(), "{:?}", report.singular);
}
