//! Closed forms and published numbers: the error shrinks with the tolerance, down to what a reference's own digits can judge.

use sarrus::analysis::certify;
use sarrus::prelude::*;
use sarrus_zoo::{PROBLEMS, ReferenceKind, ReferenceProblem, ReferenceValues};
use std::sync::Arc;

fn read(problem: &ReferenceProblem) -> (Model, Arc<System>) {
    let set = problem.set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let options = LoadOptions { set, ..LoadOptions::default() };
    let name = format!("{}.toml", problem.name);
    let model = load_str(&name, problem.model, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap_or_else(|e| panic!("{name}: {e:?}")));
    (model, system)
}

/// Times of its references.
fn times(problem: &ReferenceProblem) -> Vec<f64> {
    let mut times: Vec<f64> = problem.references.iter().map(|r| r.t).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// Largest relative error over the references at one tolerance, and the reference it belongs to.
fn error(problem: &ReferenceProblem, rtol: f64) -> (f64, &'static ReferenceValues) {
    let ((model, system), name) = (read(problem), problem.name);
    let mut worst = (0.0, &problem.references[0]);
    for t in times(problem) {
        let here: Vec<&ReferenceValues> = problem.references.iter().filter(|r| r.t == t).collect();
        let columns = here.iter().flat_map(|r| r.columns).map(|c| c.to_string()).collect();
        // a reference at the start is judged after an instant too short to matter
        let t_end = if t > 0.0 { t } else { 1e-12 };
        let overrides = RunOverrides {
            rtol: Some(rtol),
            atol: Some(1e-2 * rtol),
            t_end: Some(t_end),
            every: Some(t_end),
            columns: Some(columns),
            ..RunOverrides::default()
        };
        let run = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ())
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(run.report.status, Status::Completed, "{name} to {t}: {:?}", run.report.reason);
        for reference in here {
            let found: Vec<f64> = reference.columns.iter().map(|c| run.trajectory.last(c).unwrap()).collect();
            let error = reference.relative_error(&found);
            if error > worst.0 || error.is_nan() {
                worst = (error, reference);
            }
        }
    }
    worst
}

#[test]
fn errors_shrink_with_the_tolerance_down_to_the_reference() {
    let mut failures = Vec::new();
    for problem in PROBLEMS {
        let loose = error(problem, 1e-5);
        let middle = error(problem, 1e-8);
        let (tight, at) = error(problem, 1e-11);
        // 1e-9 is asked for; a reference with fewer digits cannot judge so much
        let goal = 1e-9_f64.max(10.0 * at.relative_tolerance());
        println!(
            "{:24} {:9.1e} {:9.1e} {:9.1e}  (goal {goal:.1e}, {:?} at t = {})",
            problem.name, loose.0, middle.0, tight, at.columns, at.t
        );
        if !(tight <= goal) {
            failures.push(format!("{}: {tight:.2e} at rtol 1e-11, {goal:.1e} asked for", problem.name));
        }
        // below the goal there is only rounding left to compare
        if !(middle.0 <= loose.0.max(goal) && tight <= middle.0.max(goal)) {
            failures.push(format!(
                "{}: {:.1e}, {:.1e}, {tight:.1e} do not shrink",
                problem.name, loose.0, middle.0
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// At default tolerances: how often the true error is below twice its estimate. What the digits of a reference cannot tell is left out.
#[test]
fn estimated_errors_hold_for_published_numbers() {
    let mut ratios = Vec::new();
    for problem in PROBLEMS {
        let (model, system) = read(problem);
        for t in times(problem).into_iter().filter(|t| *t > 0.0) {
            let here =
                problem.references.iter().filter(|r| r.t == t && matches!(r.kind, ReferenceKind::Value));
            let here: Vec<&ReferenceValues> = here.collect();
            let columns = here.iter().flat_map(|r| r.columns).map(|c| c.to_string()).collect();
            let overrides = RunOverrides {
                t_end: Some(t),
                every: Some(t / 20.0),
                columns: Some(columns),
                ..RunOverrides::default()
            };
            let request = Simulate { overrides, record: true };
            let run = certify(&model, &system, &request, &mut ())
                .unwrap_or_else(|e| panic!("{}: {e}", problem.name));
            let Some(accuracy) = run.report.certificate.accuracy else { continue };
            for reference in here {
                for (column, value) in reference.columns.iter().zip(reference.values) {
                    let off = (run.trajectory.last(column).unwrap() - value).abs();
                    let estimate = accuracy.columns[*column];
                    if off > 2.0 * reference.tol {
                        ratios.push((off / estimate, problem.name, *column, t));
                    }
                }
            }
        }
    }
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let below = ratios.iter().filter(|r| r.0 <= 2.0).count() as f64 / ratios.len() as f64;
    println!(
        "{} columns, median {:.2}, {:.1} % below twice the estimate",
        ratios.len(),
        ratios[ratios.len() / 2].0,
        100.0 * below
    );
    ratios.iter().rev().take(10).for_each(|r| println!("{r:?}"));
    assert!(ratios.len() > 20 && below > 0.9, "{below} of {}: {:?}", ratios.len(), ratios.last());
}
