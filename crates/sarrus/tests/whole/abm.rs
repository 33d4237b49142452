//! The Adams methods on mechanisms: references are met as closely as the tolerance asks, with projection and with Baumgarte, for
//! fewer right-hand sides than Runge-Kutta methods take.

use sarrus::analysis::RunOverrides;
use sarrus::model::settings::MethodChoice;
use sarrus::prelude::*;
use sarrus_zoo::ReferenceValues;
use std::sync::Arc;

/// Largest relative error over the references at the end, what these can judge, and the number of right-hand sides.
fn error(case: &str, integrator: &str, stabilization: &str, rtol: f64) -> (f64, f64, u64) {
    let case = sarrus_zoo::problem(case).unwrap();
    let set = case.set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let options = LoadOptions { set, ..LoadOptions::default() };
    let model = load_str(case.name, case.model, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    let here: Vec<&ReferenceValues> = case.references.iter().filter(|r| r.t == case.t_end).collect();
    let name = |kind: &str| Some(MethodChoice { kind: kind.into(), ..MethodChoice::default() });
    let overrides = RunOverrides {
        integrator: name(integrator),
        stabilization: name(stabilization),
        rtol: Some(rtol),
        atol: Some(1e-2 * rtol),
        t_end: Some(case.t_end),
        every: Some(case.t_end),
        columns: Some(here.iter().flat_map(|r| r.columns).map(|c| c.to_string()).collect()),
        ..RunOverrides::default()
    };
    let run = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap();
    let what = format!("{}, {integrator}, {stabilization}, rtol {rtol}", case.name);
    assert_eq!(run.report.status, Status::Completed, "{what}: {:?}", run.report.reason);
    let found = |r: &ReferenceValues| -> Vec<f64> {
        r.columns.iter().map(|c| run.trajectory.last(c).unwrap()).collect()
    };
    let worst = here.iter().map(|r| r.relative_error(&found(r))).fold(0.0, f64::max);
    let judged = here.iter().map(|r| r.relative_tolerance()).fold(0.0, f64::max);
    println!("{what}: error {worst:.1e}, counts {:?}", run.report.counts);
    (worst, judged, run.report.counts.rhs)
}

/// Errors at the end as multiples of the tolerance: what single steps leave, times what the motion makes of it. The four-bar passes
/// its folded positions again and again, each of which stretches errors; the others are tame.
#[test]
fn references_are_met_in_proportion_to_the_tolerance() {
    for (case, multiple) in [("four_bar", 5000.0), ("double_pendulum", 50.0), ("mcpherson", 50.0)] {
        for stabilization in ["projection", "baumgarte"] {
            for rtol in [1e-4, 1e-6, 1e-8, 1e-10] {
                let (error, judged, _) = error(case, "abm", stabilization, rtol);
                let goal = (multiple * rtol).max(judged);
                assert!(
                    error <= goal,
                    "{case}, {stabilization}, rtol {rtol}: {error:.1e}, {goal:.1e} asked for"
                );
            }
        }
    }
}

#[test]
fn right_sides_are_fewer_than_those_of_runge_kutta_methods() {
    for case in ["four_bar", "double_pendulum", "mcpherson", "andrews"] {
        let rhs = |integrator| error(case, integrator, "projection", 1e-8).2;
        let (ours, rk45, dop853) = (rhs("abm"), rhs("rk45"), rhs("dop853"));
        assert!(2 * ours < rk45 && ours < dop853, "{case}: abm {ours}, rk45 {rk45}, dop853 {dop853}");
    }
}
