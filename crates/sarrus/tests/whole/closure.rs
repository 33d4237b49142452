//! A force written in Rust does what the same force in a file does.

use sarrus::math::Vec3;
use sarrus::prelude::*;
use sarrus::system::forces::ClosureForce;
use std::sync::Arc;

const MASS: &str = "
format = 'sarrus/1'
space = 'planar'
bodies.bob = { kind = 'point', at = [0.3, 0], mass = 2 }
run = { t_end = 1.0, rtol = 1e-10, atol = 1e-12 }
";

fn end(model: &Model, system: System) -> [f64; 2] {
    let run = simulate(model, &Arc::new(system), &Simulate::default(), &mut ()).unwrap();
    assert!(run.report.certificate.passed, "{:?}", run.report.certificate);
    ["bob.x", "bob.y"].map(|column| run.trajectory.last(column).unwrap())
}

#[test]
fn a_closure_acts_like_a_force_of_the_file() {
    let plain = load_str("mass.toml", MASS, &LoadOptions::default()).unwrap();
    let mut system = compile(&plain).unwrap();
    let bob = system.directory.body("bob").unwrap();
    let pull = ClosureForce::on(vec![bob], |at, wrenches| {
        let p = at.pose(0).p;
        wrenches[0].force += Vec3([-8.0 * p.x(), -8.0 * p.y(), 0.0]);
    });
    system.add_force("pull", pull);
    let written = format!(
        "{MASS}\nforces.pull = {{ kind = 'force', body = 'bob', force = ['-8*bob.x', '-8*bob.y'] }}\n"
    );
    let written = load_str("mass.toml", &written, &LoadOptions::default()).unwrap();
    let (a, b) = (end(&plain, system), end(&written, compile(&written).unwrap()));
    assert!((a[0] - b[0]).abs() < 1e-12 && (a[1] - b[1]).abs() < 1e-12, "{a:?} {b:?}");
    // x = 0.3 cos 2t
    assert!((a[0] - 0.3 * 2_f64.cos()).abs() < 1e-8);
}
