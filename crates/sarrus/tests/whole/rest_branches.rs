//! Describes where branches of rests end beside limits, contacts and events, rests that steps must not stop at, and what is said of stability, against closed
//! forms.

use crate::common::load;
use sarrus::analysis::{Equilibrium, EquilibriumOptions, equilibrium_with};
use std::f64::consts::TAU;

fn rest(text: &str, load_steps: Option<u32>) -> Equilibrium {
    let (model, system) = load(text);
    let found = equilibrium_with(&model, &system, &EquilibriumOptions { load_steps }, &mut |_| {});
    found.unwrap_or_else(|e| panic!("{text}\n{e}"))
}

/// The share of the loads at which the branch ends, as a note says it.
fn ends_at(found: &Equilibrium) -> Option<f64> {
    let note = found.report.notes.iter().find(|n| n.contains("branch of rests ends"))?;
    note.split_whitespace().find_map(|word| word.parse().ok())
}

/// Two springs of 100 N/m from (±1, 0) m to a mass of 1 kg on a rail at a height of 0.2 m, under `share` times the weight that they bear: the force is
/// largest where l³ = l₀ b².
fn truss(share: f64, own: &str, more: &str) -> String {
    let length = 1.04_f64.sqrt();
    let most = length.cbrt();
    let high = (most * most - 1.0).sqrt();
    let weight = share * 200.0 * (length - most) * high / most;
    format!(
        "space = 'planar'\ngravity = [0, -{weight}]\n\
         bodies.p = {{ at = [0, 0.2], mass = 1, inertia = 1, shape = {{ kind = 'disc', radius = 0.01 }} }}\n\
         joints.J = {{ kind = 'prismatic', bodies = ['ground', 'p'], at = [0, 0.2], axis = [0, 1]{own} }}\n\
         forces.s1 = {{ kind = 'spring', bodies = ['ground', 'p'], ends = [[-1, 0], [0, 0.2]], stiffness = 100 }}\n\
         forces.s2 = {{ kind = 'spring', bodies = ['ground', 'p'], ends = [[1, 0], [0, 0.2]], stiffness = 100 }}\n{more}"
    )
}

#[test]
fn a_snap_is_noted_beside_limits_contacts_and_events() {
    let floor = |y: f64| {
        format!(
            "ground.shape = {{ kind = 'half_space', on = [0, {y}] }}\ncontacts.c = {{ between = ['p', 'ground'], method = 'impulsive' }}\n"
        )
    };
    let event = "events.e = { when = 'J.position < -9', disable = ['s1'] }\n";
    let timed = "events.e = { when = 't > 1', disable = ['s1'] }\n";
    // what is there, and where it rests after the snap where something catches it
    for (own, more, caught) in [
        (", limits = [-9, 9]", String::new(), None),
        (", limits = [-0.3, 9]", String::new(), Some(-0.1)),
        ("", floor(-3.0), None),
        ("", floor(-0.11), Some(-0.1)),
        ("", event.into(), None),
        ("", timed.into(), None),
        (", lock_at = -0.3", String::new(), Some(-0.1)),
    ] {
        for share in [0.9, 1.1, 3.0] {
            for load_steps in [None, Some(10)] {
                let found = rest(&truss(share, own, &more), load_steps);
                let (y, at) = (found.report.values["p.y"], ends_at(&found));
                assert_eq!(
                    at.is_some(),
                    share > 1.0,
                    "{own} {more} {share} {load_steps:?}: {:?}",
                    found.report.notes
                );
                assert_eq!(y < 0.0, share > 1.0, "{own} {more} {share}: {y}");
                if let Some(at) = at {
                    assert!((at * share - 1.0).abs() < 1e-3 * share, "{at} of {share}");
                    assert!(caught.is_none_or(|due: f64| (y - due).abs() < 1e-9), "{own} {more}: {y}");
                }
            }
        }
    }
    // one that stops the snap a little beyond the end, at 0.115 m
    for load_steps in [None, Some(10)] {
        let found = rest(&truss(1.1, ", limits = [-0.1, 9]", ""), load_steps);
        let at = ends_at(&found).unwrap();
        assert!((at * 1.1 - 1.0).abs() < 1.1e-3 && (found.report.values["p.y"] - 0.1).abs() < 1e-9, "{at}");
    }
    // one that is met before the branch ends is no snap
    for load_steps in [None, Some(10)] {
        let found = rest(&truss(3.0, ", limits = [-0.02, 9]", ""), load_steps);
        assert!(ends_at(&found).is_none() && (found.report.values["p.y"] - 0.18).abs() < 1e-9);
    }
}

/// Links in any directions, which their weight alone brings to hang: the first springless, every link, or every other one, on springs.
fn chain(seed: u64, springs: fn(usize) -> bool) -> (String, usize) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let links = 2 + (4.0 * random()) as usize;
    let (mut bodies, mut joints, mut at) = (String::new(), String::new(), [0.0, 0.0]);
    for i in 0..links {
        let (angle, length, mass) = (TAU * random(), 0.3 + 0.7 * random(), 0.2 + 1.8 * random());
        let [x, y] = at;
        at = [x + length * angle.cos(), y + length * angle.sin()];
        bodies +=
            &format!("bodies.b{i} = {{ from = [{x}, {y}], to = [{}, {}], mass = {mass} }}\n", at[0], at[1]);
        let before = if i == 0 { "ground".into() } else { format!("b{}", i - 1) };
        let own = if springs(i) { format!(", stiffness = {}", 0.5 + 7.5 * random()) } else { String::new() };
        joints += &format!(
            "joints.j{i} = {{ kind = 'revolute', bodies = ['{before}', 'b{i}'], at = [{x}, {y}]{own} }}\n"
        );
    }
    (format!("space = 'planar'\n{bodies}{joints}"), links)
}

#[test]
fn chains_in_any_directions_come_to_stable_rests_at_once_and_in_load_steps() {
    for seed in 1..=25 {
        for (springs, hangs) in
            [((|_| false) as fn(usize) -> bool, true), (|_| true, false), (|i| i % 2 == 1, false)]
        {
            let (text, links) = chain(seed, springs);
            for load_steps in [None, Some(5)] {
                let found = rest(&text, load_steps);
                assert_eq!(
                    found.report.stable,
                    Some(true),
                    "{seed} {load_steps:?}: {:?}\n{text}",
                    found.report.notes
                );
                // without springs every link hangs straight down
                for i in (0..links).filter(|_| hangs) {
                    let angle = found.report.values[&format!("b{i}.angle")];
                    assert!((angle.sin() + 1.0).abs() < 1e-9, "{seed}: {angle}");
                }
            }
        }
    }
}

/// A slider without gravity that a proportional controller alone brings to its set point: F = kp (x₀ - x) = P.
#[test]
fn a_proportional_controller_alone_holds_a_free_slide() {
    for (controller, pull, due) in [
        ("kind = 'pid', input = '0.2 - J.position', kp = 50", 0.0, 0.2),
        ("kind = 'pid', input = '0.2 - J.position', kp = 50", -3.0, 0.14),
        ("kind = 'ode', outputs = { out = '-8*sin(J.position - 0.5)' }", 0.0, 0.5),
        ("kind = 'pid', input = '0.2 - J.position', kp = 50, period = 0.01", 0.0, 0.2),
    ] {
        let text = format!(
            "space = 'planar'\ngravity = [{pull}, 0]\nbodies.b = {{ at = [0, 0], mass = 1, inertia = 1 }}\n\
             joints.J = {{ kind = 'prismatic', bodies = ['ground', 'b'], at = [0, 0] }}\ncontrollers.c = {{ {controller} }}\n\
             forces.f = {{ kind = 'actuator', joint = 'J', force = 'c.out' }}\n"
        );
        let report = rest(&text, None).report;
        assert!(
            (report.values["J.position"] - due).abs() < 1e-8,
            "{controller}: {}",
            report.values["J.position"]
        );
        assert_eq!(report.stable, None, "{controller}");
        let word = if controller.contains("period") {
            "under what `c` samples is not checked"
        } else {
            "`sarrus modes` shows"
        };
        assert!(report.notes.iter().any(|n| n.contains(word)), "{controller}: {:?}", report.notes);
    }
}

/// A dead load has a potential, whatever is free beside it; a follower force has none.
#[test]
fn only_forces_without_potential_are_said_to_have_none() {
    let text = |load: &str| {
        format!(
            "space = 'planar'\ngravity = [0, 0]\nbodies.a = {{ at = [0, 0], mass = 1, inertia = 1 }}\nbodies.b = {{ at = [0.5, 2], mass = 1, inertia = 1 }}\n\
             joints.J = {{ kind = 'prismatic', bodies = ['ground', 'a'], at = [0, 0] }}\n\
             joints.K = {{ kind = 'revolute', bodies = ['ground', 'b'], at = [0, 2], reads = 0, stiffness = 50 }}\n\
             forces.f = {{ kind = 'force', body = 'b', at = [1, 2], {load} }}\n"
        )
    };
    let dead = rest(&text("force = [0, -3]"), None).report;
    assert_eq!(dead.stable, None);
    assert!(!dead.notes.iter().any(|n| n.contains("no potential")), "{:?}", dead.notes);
    // two links on springs
    let links = |load: &str| {
        format!(
            "space = 'planar'\ngravity = [0, 0]\nbodies.a = {{ from = [0, 0], to = [1, 0], mass = 1 }}\nbodies.b = {{ from = [1, 0], to = [2, 0], mass = 1 }}\n\
             joints.J = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0], stiffness = 50 }}\n\
             joints.K = {{ kind = 'revolute', bodies = ['a', 'b'], at = [1, 0], stiffness = 50 }}\n\
             forces.f = {{ kind = 'force', body = 'b', at = [2, 0], {load} }}\n"
        )
    };
    for (load, stable) in [("force = [-5, -3]", Some(true)), ("force_on = [-5, -3]", None)] {
        let report = rest(&links(load), None).report;
        assert_eq!(report.stable, stable, "{load}");
        let noted = report.notes.iter().any(|n| n.contains("no potential"));
        assert_eq!(noted, stable.is_none(), "{load}: {:?}", report.notes);
    }
}

/// Every force vanishes at the centre of a field that is the origin: it is a rest, and free rotations are no matter.
#[test]
fn bodies_come_to_rest_at_the_centre_of_a_field() {
    for [x, y, z] in [[0.3, 0.2, 0.1], [5.0, 1.0, 2.0], [0.3, 0.0, 0.7]] {
        for centre in [0.0, 0.5] {
            for inertia in ["[1, 1, 1]", "[1, 2, 2.5]"] {
                let text = format!(
                    "gravity = [0, 0, 0]\nbodies.b = {{ at = [{x}, {y}, {z}], mass = 2, inertia = {inertia} }}\n\
                     forces.f = {{ kind = 'field', bodies = ['b'], force = ['-4*mass*(x - {centre})', '-4*mass*y', '-4*mass*z'] }}\n"
                );
                let report = rest(&text, None).report;
                let at = ["b.x", "b.y", "b.z"].map(|name| report.values[name]);
                assert!(
                    (at[0] - centre).abs() < 1e-12 && at[1].abs() < 1e-12 && at[2].abs() < 1e-12,
                    "{at:?}"
                );
                assert_eq!(report.residual, 0.0);
            }
        }
    }
}

/// Four links on skew hinges hang, in load steps too: rounding makes no motion along which they would fall.
#[test]
fn a_chain_on_skew_hinges_hangs_stably_under_every_part_of_its_weight() {
    let text = "gravity = [0, 0, -10]\n\
        bodies.b0 = { at = [-0.13596912127373004, -0.3211253346724447, 0.1309587263520824], mass = 1.8289022503996617, inertia = [0.1, 0.12, 0.13] }\n\
        bodies.b1 = { at = [-0.15628289155937714, -0.433807898482716, 0.3699066268954177], mass = 1.9100703943163004, inertia = [0.1, 0.12, 0.13] }\n\
        bodies.b2 = { at = [-0.18708883323468206, 0.10227663497831252, 0.38918179165693445], mass = 1.6500531264763965, inertia = [0.1, 0.12, 0.13] }\n\
        bodies.b3 = { at = [-0.4899984173419724, 0.3524079132153955, 0.6522233791670495], mass = 0.7102503579043911, inertia = [0.1, 0.12, 0.13] }\n\
        joints.j0 = { kind = 'revolute', bodies = ['ground', 'b0'], at = [0, 0, 0], axis = [-0.4375659243085773, 0.9056253622876377, -0.9388862328338567] }\n\
        joints.j1 = { kind = 'revolute', bodies = ['b0', 'b1'], at = [-0.2719382425474601, -0.6422506693448894, 0.2619174527041648], axis = [-0.01807057637767795, -0.6498474400282893, 0.21385665346079624] }\n\
        joints.j2 = { kind = 'revolute', bodies = ['b1', 'b2'], at = [-0.040627540571294224, -0.22536512762054262, 0.4778958010866706], axis = [0.9069764557478669, -0.41174715912831894, 0.020419528925681742] }\n\
        joints.j3 = { kind = 'revolute', bodies = ['b2', 'b3'], at = [-0.33355012589806987, 0.42991839757716765, 0.3004677822271983], axis = [0.3636514169465025, -0.21898744277370805, -0.5556456511596551] }\n";
    let report = rest(text, Some(5)).report;
    assert_eq!(report.stable, Some(true));
    assert!(report.load_steps.iter().all(|step| step.stable == Some(true)), "{:?}", report.load_steps);
}
