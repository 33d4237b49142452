//! `baumgarte` and `compliance`, options of the rows themselves.

use sarrus_io::{LoadOptions, load_str};
use sarrus_solve::Problem;
use sarrus_system::{Compliance, System, compile};
use std::sync::Arc;

fn system(planar: bool, more: &str) -> Result<Arc<System>, String> {
    let world = if planar { crate::worlds::PLANAR } else { crate::worlds::SPATIAL };
    let text = format!("format = 'sarrus/1'\n{world}\n{more}\n");
    let model = load_str("test.toml", &text, &LoadOptions::default()).map_err(|e| e.render())?;
    let render =
        |errors: Vec<sarrus_model::Diagnostic>| errors.iter().map(|d| d.render(&model.sources)).collect();
    compile(&model).map(Arc::new).map_err(render)
}

const JOINT: &str =
    "joints.k = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0, 0], axis = [1, 2, 0], ";

#[test]
fn rates_of_their_own_reach_the_stabilization() {
    let text = format!(
        "{JOINT} baumgarte = [3, '2*4'] }}
         joints.s = {{ kind = 'screw', bodies = ['a', 'b'], at = [0, 0, 1], lead = 0.1, baumgarte = [5, 6] }}
         constraints.p = {{ kind = 'point', bodies = ['b', 'c'], on = [[0, 0, 0], [0, 0, 0]], baumgarte = [1, 1.5] }}
         constraints.r = {{ kind = 'point', bodies = ['b', 'c'], on = [[0, 0, 1], [0, 0, 0]] }}
         drivers.m = {{ kind = 'joint', joint = 'k', angle = 't', baumgarte = [7, 7] }}"
    );
    let system = system(false, &text).unwrap();
    let mechanism = system.mechanism();
    let rates: Vec<_> =
        system.elements.iter().enumerate().map(|(i, e)| (e.name.as_str(), mechanism.rates(i))).collect();
    let expected = [
        ("k", Some([3.0, 8.0])),
        ("s", Some([5.0, 6.0])),
        ("s", Some([5.0, 6.0])),
        ("p", Some([1.0, 1.5])),
        ("r", None),
        ("m", Some([7.0, 7.0])),
    ];
    assert_eq!(rates, expected);
}

#[test]
fn compliance_is_one_number_or_one_for_each_axis() {
    let of = |planar: bool, text: &str| {
        let joint = if planar {
            format!("joints.k = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0], {text} }}")
        } else {
            format!("{JOINT} {text} }}")
        };
        system(planar, &joint).unwrap().directory.joints[0].compliance
    };
    let all = Compliance { force: [1e-8; 3], torque: [2e-6; 3] };
    assert_eq!(of(false, "compliance = { force = 1e-8, torque = '2e-6' }"), Some(all));
    let each = Compliance { force: [1e-8, 2e-8, 0.0], torque: [0.0; 3] };
    assert_eq!(of(false, "compliance = { force = [1e-8, '2e-8', 0] }"), Some(each));
    let planar = Compliance { force: [1e-8, 3e-8, 0.0], torque: [0.0, 0.0, 2e-6] };
    assert_eq!(of(true, "compliance = { force = [1e-8, 3e-8], torque = 2e-6 }"), Some(planar));
    assert_eq!(of(false, "damping = 1"), None);
}

#[test]
fn options_that_make_no_sense_are_refused_with_their_place() {
    for (text, message) in [
        ("baumgarte = [1, 2, 3]", "expected 2 numbers, found 3"),
        ("baumgarte = 5", "expected a list of numbers"),
        ("baumgarte = [5, 0]", "must be positive rates, one is 0"),
        ("baumgarte = [-1, 2]", "must be positive rates, one is -1"),
        ("compliance = 1e-8", "expected a table"),
        ("compliance = {}", "all of it is zero"),
        ("compliance = { force = -1e-8 }", "must not be negative"),
        ("compliance = { force = [1, 2] }", "expected a number or 3 numbers, found 2"),
        ("compliance = { forces = 1 }", "did you mean `force`?"),
        ("clearance = { gap = 1 }", "needs `stiffness`"),
    ] {
        let error =
            system(false, &format!("{JOINT} {text} }}")).err().unwrap_or_else(|| panic!("accepted: {text}"));
        assert!(error.contains(message) && error.contains("test.toml:"), "{text}\n{error}");
    }
}
