//! Laws that act on one side only, met for less than a step: a body thrown up flies a parabola, which explicit methods integrate exactly in
//! steps of 0.3 s, and is stopped for 3 ms at its top.

use crate::common::run_by;

const G: f64 = 9.81;
/// Stiffness of what stops it \[N/m\], and where \[m\].
const STIFFNESS: f64 = 1e6;
const LEVEL: f64 = 0.9999;
const END: f64 = 0.9;

/// Thrown up with √(2 g): half an oscillation against the stop, and the rest of the time it falls.
fn expected() -> f64 {
    let omega = STIFFNESS.sqrt();
    let thrown = (2.0 * G).sqrt();
    let hit = (2.0 * G * (1.0 - LEVEL)).sqrt();
    let contact = 2.0 / omega * (hit * omega / G).atan();
    let rest = END - (thrown - hit) / G - contact;
    LEVEL - hit * rest - 0.5 * G * rest * rest
}

const SLIDER: &str = "bodies.b = { at = [0, 0], mass = 1, inertia = 1 }
    joints.S = { kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0], axis = [0, 1] }
    initial.S.speed = 'sqrt(2*9.81)'";

fn models() -> Vec<(&'static str, String, &'static str)> {
    let stop = SLIDER.replace(
        "axis = [0, 1] }",
        "axis = [0, 1], limits = [-inf, 0.9999], stop = { stiffness = 1e6, damping = 0 } }",
    );
    let force = |force: &str| format!("{SLIDER}\nforces.f = {force}");
    let free = "bodies.b = { at = [0, 0], mass = 1, inertia = 1 }\ninitial.b.vy = 'sqrt(2*9.81)'\n";
    vec![
        ("springy stop", stop, "S.position"),
        ("cable", force("{ kind = 'spring', joint = 'S', stiffness = 1e6, rest = 0.9999, only = 'pull' }"), "S.position"),
        (
            "buffer",
            force("{ kind = 'spring', bodies = ['b', 'ground'], ends = [[0, 0], [0, 3]], stiffness = 1e6, rest = 2.0001, only = 'push' }"),
            "S.position",
        ),
        ("preload", force("{ kind = 'spring', joint = 'S', stiffness = 1e6, rest = 1, preload = 100, only = 'pull' }"), "S.position"),
        ("tension", force("{ kind = 'spring', joint = 'S', tension = '1e6*(length - 0.9999)', only = 'pull' }"), "S.position"),
        (
            "limited actuator",
            force("{ kind = 'actuator', joint = 'S', force = '-1e6*(S.position - 0.9999)', limits = [-inf, 0] }"),
            "S.position",
        ),
        (
            "rope between points",
            format!("{free}forces.f = {{ kind = 'spring', bodies = ['ground', 'b'], ends = [[0, -1], [0, 0]], stiffness = 1e6, rest = 1.9999, only = 'pull' }}"),
            "b.y",
        ),
        (
            "backlash",
            format!(
                "{SLIDER}\nbodies.pin = {{ at = [0.1, 0], mass = 1, inertia = 1 }}
                 joints.A = {{ kind = 'fixed', bodies = ['ground', 'pin'], at = [0.1, 0] }}
                 constraints.m = {{ kind = 'rack', bodies = ['b', 'pin'], radius = 0.1, axis = [0, -1], stiffness = 1e6, backlash = 1.9998 }}"
            ),
            "S.position",
        ),
    ]
}

#[test]
fn what_acts_on_one_side_is_met_within_a_step() {
    for integrator in ["dop853", "rk45", "abm", "radau5"] {
        for (name, model, column) in models() {
            let text = format!("format = 'sarrus/1'\nspace = 'planar'\nrun.t_end = {END}\n{model}");
            let run = run_by(&text, integrator, None);
            let found = run.trajectory.last(column).unwrap();
            assert!((found - expected()).abs() < 1e-6, "{integrator} {name}: {found} for {}", expected());
            assert!(run.report.certificate.passed, "{integrator} {name}: {:?}", run.report.certificate);
        }
    }
}

/// A journal flies across its bearing and back in steps that are longer than the touch.
#[test]
fn a_journal_meets_its_bearing_within_a_step() {
    let (k, gap) = (1e6_f64, 0.0099999);
    let text = format!(
        "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\nrun.t_end = 0.35
         bodies.b = {{ at = [0, 0], mass = 1, inertia = 1 }}
         joints.C = {{ kind = 'revolute', bodies = ['ground', 'b'], at = [0, 0], clearance = {{ gap = {gap}, law = {{ kind = 'linear', stiffness = {k}, factor = 0 }} }} }}
         forces.f = {{ kind = 'force', body = 'b', force = ['if(t < 0.1, 1, -1)', 0] }}"
    );
    let run = run_by(&text, "dop853", None);
    // at t1 with the speed v it meets the bearing under the force -1, and leaves it after T with -v
    let (x0, v0) = (0.005, 0.1_f64);
    let v = (v0 * v0 - 2.0 * (gap - x0)).sqrt();
    let (t1, contact) = (0.1 + v0 - v, 2.0 / k.sqrt() * (v * k.sqrt()).atan());
    let rest = 0.35 - t1 - contact;
    let expected = gap - v * rest - 0.5 * rest * rest;
    let found = run.trajectory.last("b.x").unwrap();
    assert!((found - expected).abs() < 1e-8, "{found} for {expected}");
    assert!(run.report.certificate.passed, "{:?}", run.report.certificate);
}
