//! The reproductions hold: no claim fails, and those that do not depend on the machine are reproduced.

use sarrus_papers::{Effort, Verdict, find};

/// Runs a slice of a paper: claims that contain one of `differ` differ, of those that contain one of `timing` the machine
/// decides, and all others are reproduced.
fn check(paper: &str, differ: &[&str], timing: &[&str]) {
    let r = (find(paper).unwrap().run)(Effort::Quick, &mut ()).unwrap();
    assert!(!r.claims.is_empty() && !r.figures.is_empty() && !r.unsaid.is_empty());
    let mut others = Vec::new();
    for c in &r.claims {
        let is_one_of = |list: &[&str]| list.iter().any(|part| c.claim.contains(part));
        let due = if is_one_of(differ) { Verdict::Differs } else { Verdict::Reproduced };
        if c.verdict != due && !(is_one_of(timing) && c.verdict == Verdict::Differs) {
            others.push(format!("{}: {}, ours {} ({})", c.claim, c.verdict.name(), c.ours, c.why));
        }
    }
    assert!(others.is_empty(), "{paper}:\n{}", others.join("\n"));
    for part in differ.iter().chain(timing) {
        assert!(r.claims.iter().any(|c| c.claim.contains(part)), "{paper}: no claim has `{part}`");
    }
    for (name, figure) in &r.figures {
        assert!(figure.panels.iter().all(|p| p.series.iter().all(|s| !s.points.is_empty())), "{name}");
    }
}

#[test]
fn the_robot_folds_as_it_did_and_better() {
    let differ =
        ["taken generally", "no stability at all", "as printed", "factor of", "(78) with", "negligible"];
    check("amirouche1991", &differ, &[]);
}

#[test]
fn stabilization_of_the_four_bar_is_reproduced() {
    check("hajzman2007", &["the motion is corrected"], &[]);
}

#[test]
fn the_ball_rolls_as_it_did() {
    let differ = ["mean velocity with offset", "slows the ball down", "0.15 s with offset"];
    check("park1987", &differ, &[]);
}

#[test]
fn the_staggered_procedure_deploys_and_swings_as_it_did() {
    let differ = [
        "taken generally",
        "form of the paper",
        "s, form paper",
        "VII), form paper",
        "s, form one_step",
        "VII), form one_step",
        "essential",
        "1 - cos pulse",
    ];
    check("park1990", &differ, &[]);
}

#[test]
fn formulations_on_the_struts_are_reproduced() {
    check("pekal2016", &[], &["fastest", "slowest", "cost of", "Newton-Raphson", "right-hand sides"]);
}
