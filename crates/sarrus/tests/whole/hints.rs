//! Refusals say what to do about them.

use crate::common::read;
use sarrus::analysis::Settings;
use sarrus::prelude::*;
use std::path::Path;

const ARM: &str = "bodies.arm = { mass = 1.0, inertia = [0.1, 0.1, 0.1] }\n";

#[test]
fn keys_that_exclude_each_other_are_refused_with_a_hint() {
    let both = [
        (
            "joints.h = { kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0, 0], axis = [0, 0, 1], axis_on = [[0, 0, 1], [0, 0, 1]] }",
            "`axis` or `axis_on`",
        ),
        (
            "bodies.b = { mass = 1, inertia = [1, 1, 1], markers = { m = { at = [0, 0, 0], on = [0, 0, 0] } } }",
            "`at` or `on`",
        ),
    ];
    for (element, keys) in both {
        let error = read(&format!("{ARM}{element}\n"), Path::new("")).map(|_| ()).unwrap_err();
        assert!(error.contains(&format!("takes {keys}, not both")), "{error}");
        assert!(error.contains(&format!("leave out {keys}")), "{error}");
    }
}

#[test]
fn options_out_of_range_are_refused_with_a_hint() {
    let wrong = [
        "run.stabilization = { kind = 'baumgarte', beta = 'fast' }",
        "run.integrator = { kind = 'generalized_alpha', rho = 3 }",
        "run.integrator = { kind = 'staggered', form = 'none' }",
    ];
    for run in wrong {
        let (model, system) = read(&format!("{ARM}{run}\n"), Path::new("")).unwrap();
        let error = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap_err();
        let hints: Vec<_> = error.diagnostics().into_iter().map(|d| d.hint).collect();
        assert!(
            hints.iter().all(|h| h.as_ref().is_some_and(|h| h.contains("sarrus list"))),
            "{run}: {hints:?}"
        );
    }
    let (model, _) = read(ARM, Path::new("")).unwrap();
    let overrides = RunOverrides { rtol: Some(-1.0), ..RunOverrides::default() };
    let error = Settings::read(&model, &overrides).unwrap_err();
    assert!(error.diagnostics()[0].hint.is_some(), "{error}");
}

#[test]
fn values_of_a_wrong_type_and_keys_left_out_are_refused_with_a_hint() {
    let hinge =
        |keys: &str| format!("joints.h = {{ kind = 'revolute', bodies = ['ground', 'arm'], {keys} }}");
    let wrong = [
        ("bodies.b = { mass = true, inertia = [1, 1, 1] }".into(), "such as `mass = 2.5`"),
        ("bodies.b = { mass = { a = 1 } }".into(), "such as `mass = 2.5`"),
        (hinge("at = [0, 0, 0], axis = 3"), "such as `axis = [1, 0, 0]`"),
        (hinge("at = [0, 0, 0], axis = [0, 0, 1], kind_of = 2"), "it takes"),
        (hinge("axis = [0, 0, 1]"), "the joint's point"),
        ("forces.f = { kind = 'force', body = 'arm' }".into(), "sarrus list forces"),
        ("forces.f = { kind = 'spring', bodies = 'arm', stiffness = 1 }".into(), "["),
        ("joints.h = { kind = 7, bodies = ['ground', 'arm'] }".into(), "\""),
        ("events.e = { when = [1, 2], stop = 'now' }".into(), "`"),
    ];
    for (element, hint) in wrong {
        let element: String = element;
        let error = read(&format!("{ARM}{element}\n"), Path::new("")).map(|_| ()).unwrap_err();
        let found = error.split_once("hint: ").map(|(_, found)| found.to_string()).or_else(|| {
            // beneath the mark
            error.lines().find(|line| line.contains('^')).map(|line| line.replace('^', "").trim().to_string())
        });
        assert!(found.as_ref().is_some_and(|found| found.contains(hint)), "{element}\n{error}\n{found:?}");
    }
}
