//! `run.rotation = "euler_zxz"`: the same motion in other coordinates, with a word where they become singular.

use sarrus::prelude::*;
use sarrus::solve::{GroupKind, Problem};
use std::f64::consts::TAU;
use std::sync::Arc;

fn load(text: &str) -> (Model, Arc<System>) {
    let model =
        load_str("test.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap_or_else(|e| panic!("{e:?}")));
    (model, system)
}

fn run(text: &str) -> (Trajectory, Report) {
    let (model, system) = load(text);
    let run = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(run.report.status, Status::Completed, "{}", run.report.reason);
    (run.trajectory, run.report)
}

/// Largest difference over the columns of both.
fn apart(a: &Trajectory, b: &Trajectory) -> f64 {
    assert_eq!(a.names(), b.names());
    let mut most = 0.0_f64;
    for name in a.names().iter().filter(|n| !n.starts_with("violation") && !n.starts_with("energy")) {
        let (a, b) = (a.column(name).unwrap(), b.column(name).unwrap());
        for (a, b) in a.zip(b) {
            assert!(a.is_finite() && b.is_finite(), "{name}");
            most = most.max((a - b).abs());
        }
    }
    most
}

/// The strut with its bodies turned as in the paper, β = 90°; their inertia is that of a ball.
fn strut(rotation: &str) -> String {
    let mut text = sarrus_zoo::model("mcpherson").unwrap().replace("t_end = 10.0", "t_end = 2.0");
    for (body, alpha) in [("arm", 90), ("knuckle", 90), ("strut", 90), ("tie_rod", 0), ("rack", 90)] {
        let rotated = format!(
            "{body} = {{ orientation = {{ euler = \"zxz\", angles = [\"{alpha} deg\", \"90 deg\", 0] }}, at"
        );
        assert!(text.contains(&format!("\n{body} = {{ at")));
        text = text.replace(&format!("\n{body} = {{ at"), &format!("\n{rotated}"));
    }
    text.replace(
        "rtol = 1e-8\natol = 1e-10",
        &format!("rtol = 1e-10\natol = 1e-12\nrotation = \"{rotation}\""),
    )
}

#[test]
fn the_strut_moves_the_same_in_angles_as_in_quaternions() {
    let (_, system) = load(&strut("euler_zxz"));
    assert_eq!((system.structure.nq, system.structure.nv), (30, 30));
    assert_eq!(
        system.structure.groups.iter().filter(|g| g.kind == GroupKind::Angle && g.len == 3).count(),
        5
    );
    // the start reads the angles that the file gives
    let start = system.start();
    let angles = &start.q[3..6];
    assert!((angles[0] - 90f64.to_radians()).abs() < 1e-15 && (angles[1] - 90f64.to_radians()).abs() < 1e-15);

    let (angles, report) = run(&strut("euler_zxz"));
    let (quaternions, _) = run(&strut("quaternion"));
    // both to 1e-10 a step, over a hundred steps
    let apart = apart(&angles, &quaternions);
    assert!(apart < 2e-7, "{apart:e}");
    assert!(report.certificate.passed && report.violation.position.max < 1e-12, "{:?}", report.certificate);
    assert!(report.notes.iter().all(|note| !note.contains("Euler")), "{:?}", report.notes);
}

/// A free body without symmetry.
fn tumbling(rotation: &str, angles: &str, omega: &str) -> String {
    format!(
        "format = 'sarrus/1'\ngravity = [0, 0, 0]\n\
         bodies.b = {{ orientation = {{ euler = 'zxz', angles = {angles} }}, mass = 1, inertia = [1, 2, 2.5], com = [0.1, 0.2, 0.3] }}\n\
         initial.b.omega_on = {omega}\n\
         run = {{ t_end = 1, rtol = 1e-11, atol = 1e-13, rotation = '{rotation}' }}\n"
    )
}

/// Starts with β on either side of zero and turned several times.
#[test]
fn a_free_body_tumbles_the_same_whatever_the_branch() {
    for (angles, omega) in
        [("[0.3, 1.1, -0.7]", "[1, 2, 9]"), ("[2, -1.2, 3]", "[0.3, -1, 12]"), ("[9, 2, 20]", "[0, 1, -7]")]
    {
        let (a, _) = run(&tumbling("euler_zxz", angles, omega));
        let (b, _) = run(&tumbling("quaternion", angles, omega));
        assert!(apart(&a, &b) < 1e-8, "{angles} {omega}: {:e}", apart(&a, &b));
    }
}

/// β falls from 0.5 at a rate of one, about the body's own x: |sin β| = 0.02 is passed at 0.48 s.
#[test]
fn a_body_that_comes_near_the_singular_angles_is_named() {
    let text = tumbling("euler_zxz", "[0.4, 0.5, 0]", "[-1, 0, 0]").replace("t_end = 1,", "t_end = 0.48,");
    let (_, report) = run(&text);
    let note = report
        .notes
        .iter()
        .find(|n| n.contains("Euler angles"))
        .unwrap_or_else(|| panic!("{:?}", report.notes));
    assert!(note.contains("body `b`") && note.contains("|sin β| = 2.0e-2 at t = 0.48"), "{note}");
    let (_, far) = run(&text.replace("t_end = 0.48", "t_end = 0.4"));
    assert!(far.notes.iter().all(|n| !n.contains("Euler angles")), "{:?}", far.notes);
}

#[test]
fn a_body_that_starts_at_the_singular_angles_is_refused() {
    for angles in ["[0, 0, 0]", "[0.3, '180 deg', 0.1]", "[0.3, 5e-7, 0.1]"] {
        let text = tumbling("euler_zxz", angles, "[0, 0, 1]");
        let (model, system) = load(&text);
        let error = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap_err();
        let shown = error.diagnostics();
        assert!(
            shown[0].message.contains("body `b` starts where its Euler angles zxz are singular"),
            "{shown:?}"
        );
        assert!(shown[0].hint.as_ref().is_some_and(|h| h.contains("another `orientation`")), "{shown:?}");
        assert!(shown[0].at.is_some());
    }
    run(&tumbling("euler_zxz", "[0.3, 5e-3, 0.1]", "[0, 0, 0]"));
}

/// q ⊕ (p ⊖ q) = p, and the angles stay on the branch and in the rotation they are in.
#[test]
fn displacements_lead_from_one_state_to_another() {
    let (_, system) = load(&tumbling("euler_zxz", "[7, 1.1, -9]", "[0, 0, 1]"));
    let mechanism = system.mechanism();
    let mut from = system.start().q;
    from[3] += TAU;
    from[5] -= 2.0 * TAU;
    let mut at = from.clone();
    mechanism.retract(&mut at, &[0.1, 0.2, 0.3, 0.4, -0.3, 0.2]);
    let mut delta = [0.0; 6];
    mechanism.difference(&at, &from, &mut delta);
    for (a, b) in delta.iter().zip([0.1, 0.2, 0.3, 0.4, -0.3, 0.2]) {
        assert!((a - b).abs() < 1e-14, "{delta:?}");
    }
    assert!(at.iter().zip(&from).all(|(a, b)| (a - b).abs() < 1.0), "{from:?} {at:?}");
}
