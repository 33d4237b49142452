//! Mechanisms of any size keep their constraints to the rounding of their positions.

use crate::common::{column, load, outcome};

/// A crank and rocker of the given size \[m\], in the plane, or in space with a ball joint.
fn four_bar(size: f64, planar: bool) -> String {
    let point = |x: f64, y: f64| match planar {
        true => format!("[{}, {}]", x * size, y * size),
        false => format!("[{}, {}, 0]", x * size, y * size),
    };
    let body = |name: &str, from: &str, to: &str, mass: f64| {
        let moment = 0.1 * size * size;
        let moments = if planar { String::new() } else { format!(", inertia = [{moment}, {moment}, {moment}]") };
        format!("bodies.{name} = {{ from = {from}, to = {to}, mass = {mass}{moments} }}\n")
    };
    let (a, b, c, d) = (point(0.0, 0.0), point(0.0, 0.3), point(1.0, 0.6), point(0.9, 0.0));
    let joint = |name: &str, kind: &str, bodies: [&str; 2], at: &str| {
        format!("joints.{name} = {{ kind = '{kind}', bodies = {bodies:?}, at = {at} }}\n")
    };
    [
        if planar { "space = 'planar'\ngravity = [0, -9.81]\n" } else { "gravity = [0, -9.81, 0]\n" }.to_string(),
        body("a", &a, &b, 1.0) + &body("b", &b, &c, 2.0) + &body("c", &d, &c, 1.0),
        joint("A", "revolute", ["ground", "a"], &a) + &joint("B", "revolute", ["a", "b"], &b),
        joint("C", if planar { "revolute" } else { "spherical" }, ["b", "c"], &c),
        joint("D", "revolute", ["ground", "c"], &d),
        "initial.'A.rate' = 1\nrun.t_end = 3\n".to_string(),
    ]
    .concat()
}

#[test]
fn a_four_bar_of_a_millimetre_to_a_thousand_kilometres_keeps_its_constraints() {
    for planar in [true, false] {
        for size in [1e-3, 1.0, 1e3, 1e4, 1e6] {
            let outcome = outcome(&load(&four_bar(size, planar)));
            assert!(outcome.report.certificate.passed, "{size}: {:?}", outcome.report.certificate);
            let rows = column(&outcome.trajectory, "violation.position");
            let most = rows.iter().fold(0.0_f64, |most, row| most.max(row.abs()));
            assert!(most < 1e-12_f64.max(1e-13 * size), "{size} {planar}: {most:e}");
        }
    }
}
