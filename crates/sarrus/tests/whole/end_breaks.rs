//! Forces and drivers that switch right at the end of a run: what they do belongs to the time after it.

use crate::common::{column, load, outcome};
use sarrus::analysis::{Outcome, RunOverrides, prescribed};
use sarrus::prelude::*;

/// A body of 2 kg on a guide, without gravity, for 1 s.
fn slider(more: &str) -> String {
    format!(
        "space = 'planar'\ngravity = [0, 0]\nbodies.b = {{ at = [0, 0], mass = 2, inertia = 1 }}\n\
         joints.J = {{ kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0] }}\n\
         tables.ramp = {{ points = [[0, 0], [1, 0.5]] }}\n{more}\n\
         run.t_end = 1\noutput.every = 0.25\n"
    )
}

fn certified(text: &str) -> Outcome {
    let found = outcome(&load(text));
    let Outcome { report, .. } = &found;
    assert_eq!(report.status, Status::Completed, "{}\n{text}", report.reason);
    assert!(report.certificate.passed, "{text}\n{:?}", report.certificate);
    found
}

/// The last row: its time and the columns `names`.
fn last<const N: usize>(found: &Trajectory, names: [&str; N]) -> [f64; N] {
    names.map(|name| column(found, name)[found.len() - 1])
}

const DRIVEN: [(&str, f64, f64); 5] = [
    // position and its rate in the last row
    ("'0.5*t + if(t >= 1, 3*(t-1), 0)'", 0.5, 0.5),
    ("'if(t < 1, 0.5*t, 0.5)'", 0.5, 0.5),
    ("'if(t < 1, 0.5*t, 7)'", 0.5, 0.5),
    ("'min(t, 1)^2'", 1.0, 2.0),
    ("'ramp(t)'", 0.5, 0.5),
];

#[test]
fn the_last_row_is_the_limit_from_before_a_driver_switches() {
    for (law, x, rate) in DRIVEN {
        let text = slider(&format!("drivers.motor = {{ kind = 'joint', joint = 'J', position = {law} }}"));
        let found = certified(&text).trajectory;
        let [t, own_x, own_rate, work, kinetic] =
            last(&found, ["t", "b.x", "b.vx", "energy.work", "energy.kinetic"]);
        assert_eq!(t, 1.0, "{text}");
        assert!((own_x - x).abs() < 1e-9 && (own_rate - rate).abs() < 1e-8, "{own_x} {own_rate}\n{text}");
        assert!((kinetic - rate * rate).abs() < 1e-8, "{kinetic}\n{text}");
        let first = column(&found, "energy.kinetic")[0];
        assert!((work - (kinetic - first)).abs() < 1e-7, "{work}\n{text}");
    }
}

#[test]
fn a_prescribed_motion_ends_before_its_driver_switches() {
    for (law, x, rate) in DRIVEN {
        let text = slider(&format!("drivers.motor = {{ kind = 'joint', joint = 'J', position = {law} }}"));
        let (model, system) = load(&text);
        let found =
            prescribed(&model, &system, &RunOverrides::default()).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let [t, own_x, own_rate, work] = last(&found.trajectory, ["t", "b.x", "b.vx", "energy.work"]);
        assert_eq!((found.report.t_end, t), (1.0, 1.0), "{text}");
        assert!((own_x - x).abs() < 1e-9 && (own_rate - rate).abs() < 1e-8, "{own_x} {own_rate}\n{text}");
        let first = column(&found.trajectory, "energy.kinetic")[0];
        assert!((work - (rate * rate - first)).abs() < 1e-7, "{work}\n{text}");
    }
}

#[test]
fn a_force_that_switches_at_the_end_has_not_switched_in_the_last_row() {
    for method in ["dop853", "rk4", "radau5", "generalized_alpha", "abm"] {
        let text = slider(&format!(
            "forces.f = {{ kind = 'force', body = 'b', force = ['if(t < 1, 6, 1000)', 0] }}\nrun.integrator = '{method}'"
        ));
        let found = outcome(&load(&text)).trajectory;
        let [t, v, a] = last(&found, ["t", "b.vx", "b.ax"]);
        assert_eq!(t, 1.0);
        assert!((v - 3.0).abs() < 1e-5 && (a - 3.0).abs() < 1e-5, "{method}: {v} {a}");
    }
}

#[test]
fn a_run_up_to_a_switch_has_the_rows_of_a_longer_one_before_it() {
    let text = slider("forces.f = { kind = 'force', body = 'b', force = ['if(t < 1, 6, 1000)', 0] }");
    let short = certified(&text).trajectory;
    let long = certified(&text.replace("t_end = 1", "t_end = 2")).trajectory;
    let (short_x, long_x) = (column(&short, "b.x"), column(&long, "b.x"));
    for (i, (a, b)) in short_x.iter().zip(&long_x).enumerate() {
        assert!((a - b).abs() < 1e-9, "row {i}: {a} {b}");
    }
}

#[test]
fn an_event_at_the_end_still_fires_beside_a_switch() {
    let text = slider(
        "drivers.motor = { kind = 'joint', joint = 'J', position = 'if(t < 1, 0.5*t, 0.5)' }\n\
         controllers.c = { kind = 'input', values = { on = 0 } }\n\
         events.e = { when = 't >= 1', set = { c.on = 4 } }",
    );
    let found = certified(&text);
    assert!(found.report.events.iter().any(|event| event.name == "e"), "{:?}", found.report.events);
}

/// Whether something happens at the end of the run or not, what switches there has not switched in the last row.
#[test]
fn an_event_at_the_end_makes_nothing_else_switch() {
    for (event, fires) in [
        ("events.e = { when = 't >= 1', set = { c.on = 4 } }", true),
        ("events.e = { when = 't >= 1', lock = ['K'] }", true),
        ("events.e = { when = 't >= 1 and b.x > 0', set = { c.on = 4 } }", true),
        ("events.e = { when = 't >= 1', stop = 'enough' }", true),
        ("events.e = { when = 't > 1', set = { c.on = 4 } }", false),
        ("events.e = { when = 'f.force > 50', set = { c.on = 4 } }", false),
        (
            "events = { e = { when = 'f.force > 50', set = { c.on = 4 } }, z = { when = 't >= 1', set = { c.on = 3 } } }",
            false,
        ),
        (
            "controllers.s = { kind = 'sampled', period = 0.25, states = { n = 0 }, update = { n = 'n + 1' } }",
            false,
        ),
    ] {
        for integrator in ["dop853", "rk4", "radau5"] {
            let text = slider(&format!(
                "drivers.motor = {{ kind = 'joint', joint = 'J', speed = 'if(t < 1, 1, 5)' }}\n\
                 bodies.k = {{ at = [0, 1], mass = 1, inertia = 1 }}\n\
                 joints.K = {{ kind = 'prismatic', bodies = ['ground', 'k'], at = [0, 1] }}\n\
                 forces.f = {{ kind = 'actuator', joint = 'K', force = 'if(t < 1, 0, 100)' }}\n\
                 controllers.c = {{ kind = 'input', values = {{ on = 0 }} }}\nrun.integrator = '{integrator}'\n{event}"
            ));
            let (model, system) = load(&text);
            let found = simulate(&model, &system, &Simulate { record: true, ..Simulate::default() }, &mut ())
                .unwrap();
            let names = ["t", "J.speed", "f.force", "k.ax", "energy.work"];
            let row = last(&found.trajectory, names);
            for ((name, own), expected) in names.iter().zip(row).zip([1.0, 1.0, 0.0, 0.0, 0.0]) {
                assert!((own - expected).abs() < 1e-9, "{name} is {own}, not {expected}\n{text}");
            }
            let own: Vec<f64> = found.report.events.iter().filter(|e| e.name == "e").map(|e| e.t).collect();
            assert_eq!(own, if fires { vec![1.0] } else { vec![] }, "{text}");
            assert_eq!(found.report.t_end, 1.0, "{text}");
        }
    }
}
