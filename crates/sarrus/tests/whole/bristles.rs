//! Friction with bristles that remember: their stretch follows the slip within a step as closely as the tolerances ask.

use crate::common::{column, load, outcome};

fn last(text: &str, names: &[&str]) -> Vec<f64> {
    let outcome = outcome(&load(text));
    assert!(outcome.report.certificate.passed, "{:?}", outcome.report.certificate);
    names.iter().map(|name| *column(&outcome.trajectory, name).last().unwrap()).collect()
}

fn close(own: &[f64], known: &[f64], within: f64, of: &str) {
    for (own, known) in own.iter().zip(known) {
        assert!((own - known).abs() < within, "{of}: {own} for {known}");
    }
}

/// The angular momentum about the line of contact stays while it slides, and rolling does not slip: v = v₀/(1 + I/(m r²)) from v₀ along
/// x, and -ω₀ I/(m r + I/r) along y from ω₀ about x, r being the height above the middle of the overlap.
#[test]
fn a_ball_that_slides_rolls_on_as_angular_momentum_says() {
    for (vx, wx, stiffness) in [(1.0, 20.0, 2e5), (-0.7, 8.0, 1e6), (0.4, -35.0, 5e4)] {
        let text = format!(
            "gravity = [0, 0, -9.81]
            run = {{ t_end = 2 }}
            ground.shape = {{ kind = 'half_space' }}
            bodies.b = {{ at = [0, 0, '0.1 - 3*9.81/2e4'], mass = 3, inertia = [0.012, 0.012, 0.012], shape = {{ kind = 'sphere', radius = 0.1 }} }}
            contacts.c = {{ between = ['b', 'ground'], law = {{ kind = 'linear', stiffness = 2e4, damping = 300 }}, friction = {{ kind = 'bristle', mu = 0.4, stiffness = {stiffness} }} }}
            initial = {{ 'b.vx' = {vx}, 'b.wx' = {wx}, 'b.wz' = 5 }}"
        );
        let (m, I, r) = (3.0, 0.012, 0.1 - 3.0 * 9.81 / 2e4 / 2.0);
        let known = [vx / (1.0 + I / (m * r * r)), -wx * I / (m * r + I / r)];
        close(&last(&text, &["b.vx", "b.vy"]), &known, 2e-6, &format!("{vx} {wx} {stiffness}"));
    }
}

/// What rests on a table that turns goes with it: the stretch that holds it, mω²r/k, turns too. The distance grows by that, and stays.
#[test]
fn what_sticks_to_a_turning_table_does_not_creep() {
    let text = "gravity = [0, 0, -9.81]
        run = { t_end = 4 }
        bodies.table = { at = [0, 0, -0.05], mass = 10, inertia = [1, 1, 1], shape = { kind = 'box', size = [2, 2, 0.1] } }
        bodies.b = { at = [0.5, 0, 0.05], mass = 3, inertia = [0.02, 0.02, 0.02], shape = { kind = 'box', size = [0.2, 0.2, 0.1] } }
        joints.axis = { kind = 'revolute', bodies = ['ground', 'table'], at = [0, 0, 0], axis = [0, 0, 1] }
        drivers.turn = { kind = 'joint', joint = 'axis', angle = 'pi*t' }
        contacts.c = { between = ['b', 'table'], law = { kind = 'linear', stiffness = 2e5, damping = 300 }, friction = { kind = 'bristle', mu = 0.8, stiffness = 2e5 } }
        initial = { b.velocity = [0, '0.5*pi', 0], b.omega = [0, 0, 'pi'] }
        measures.r = 'sqrt(b.x^2 + b.y^2)'";
    let outcome = outcome(&load(text));
    let r = column(&outcome.trajectory, "r");
    let (half, end) = (r[r.len() / 2], r[r.len() - 1]);
    assert!((end - half).abs() < 1e-9, "{half} {end}");
    assert!((half - 0.5).abs() < 3e-5, "{half}");
}

const PLANAR: [f64; 4] = [0.468818438, 2.75493948, 1.50247643, -8.45994115];
const SPATIAL: [f64; 6] = [-0.629883906, 3.47550174, -3.13867676, -0.330950086, -3.62941129, -2.18121812];

/// Converged values: dop853 with steps of at most 20 µs and rtol = 1e-10, which differ from those with twice the step in the digit after
/// the last one here.
#[test]
fn boxes_dropped_on_an_edge_or_a_corner_are_as_exact_as_the_tolerance_says() {
    let planar = "space = 'planar'
        run = { t_end = 0.6 }
        ground.shape = { kind = 'half_space' }
        bodies.b = { at = [0, 0.4], mass = 3, angle = '20 deg', inertia = 0.03, shape = { kind = 'box', size = [0.2, 0.3] } }
        initial.'b.vx' = 1
        contacts.c = ";
    let spatial = "run = { t_end = 0.42 }
        ground.shape = { kind = 'half_space' }
        bodies.b = { at = [0, 0, 0.4], mass = 3, orientation = { axis = [1, 0.4, 0.2], angle = '35 deg' }, inertia = [0.0289, 0.0164, 0.0325], shape = { kind = 'box', size = [0.2, 0.3, 0.16] } }
        contacts.c = ";
    let contact = |law: &str, friction: &str| {
        format!(
            "{{ between = ['b', 'ground'], law = {{ kind = 'linear', stiffness = 2e4{law} }}, friction = {{ kind = 'bristle', mu = 0.4, stiffness = 2e4{friction} }} }}"
        )
    };
    for (text, law, friction, names, known) in [
        (planar, ", damping = 30", "", &["b.vx", "b.rate"][..], &PLANAR[..2]),
        (planar, "", "", &["b.vx", "b.rate"], &PLANAR[2..]),
        (spatial, ", damping = 30", "", &["b.vx", "b.wx", "b.wz"], &SPATIAL[..3]),
        (spatial, ", damping = 30", ", damping = 0", &["b.vx", "b.wx", "b.wz"], &SPATIAL[3..]),
    ] {
        let text = format!("{text}{}", contact(law, friction));
        close(&last(&text, names), known, 3e-5, &text);
    }
}
