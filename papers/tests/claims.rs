//! The reproductions hold: no claim fails, and those that do not depend on the machine are reproduced.

use sarrus_papers::{Effort, Verdict, find};

fn check(paper: &str, timing: &[&str]) {
    let r = (find(paper).unwrap().run)(Effort::Quick, &mut ()).unwrap();
    assert!(!r.claims.is_empty() && !r.figures.is_empty() && !r.unsaid.is_empty());
    for c in &r.claims {
        let may_differ = timing.iter().any(|t| c.claim.contains(t));
        let good = c.verdict == Verdict::Reproduced || (may_differ && c.verdict == Verdict::Differs);
        assert!(good, "{paper}: {}: ours {} ({})", c.claim, c.ours, c.why);
    }
    for (name, figure) in &r.figures {
        assert!(figure.panels.iter().all(|p| p.series.iter().all(|s| !s.points.is_empty())), "{name}");
    }
}

#[test]
fn stabilization_of_the_four_bar_is_reproduced() {
    check("hajzman2007", &[]);
}

#[test]
fn the_ball_rolls_as_it_did() {
    let differ = ["mean velocity with offset", "slows the ball down", "0.15 s with offset"];
    check("park1987", &differ);
}

#[test]
fn the_staggered_procedure_deploys_and_swings_as_it_did() {
    let differ = ["taken generally", "form of the paper", "form paper", "form one_step", "essential"];
    check("park1990", &differ);
}

#[test]
fn formulations_on_the_struts_are_reproduced() {
    check("pekal2016", &["fastest", "slowest", "cost of", "Newton-Raphson", "right sides"]);
}
