//! The N-four-bar becomes singular in all its loops at once, twice a turn; every adaptive method passes on the right branch.

use sarrus::analysis::Overrides;
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
                let overrides = Overrides {
                    integrator: name(integrator),
                    formulation: name(formulation),
                    rtol: Some(rtol),
                    atol: Some(1e-2 * rtol),
                    t_end: Some(5.0),
                    every: Some(0.05),
                    columns: Some(vec!["bar*.angle".into()]),
                    ..Overrides::default()
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
