//! The constraints' own non-ideal force, C of M v̇ = Q + C - Jᵀλ, on a bead that slides down a straight wire.

use sarrus::model::settings::MethodChoice;
use sarrus::prelude::*;
use sarrus::solve::formulations;
use std::sync::Arc;

/// A wire along e, 30° below the level, that brakes the bead by C = -c v.
const WIRE: &str = r#"
format = "sarrus/1"
gravity = [0, 0, -10]
parameters = { m = 2, c = 3, e = ["cos(30 deg)", 0, "-sin(30 deg)"] }
bodies.bead = { at = [0, 0, 0], mass = "m", inertia = [1, 1, 1] }
joints.wire = { kind = "prismatic", bodies = ["ground", "bead"], at = [0, 0, 0], axis = "e" }
forces.grip = { kind = "force", body = "bead", force = ["-c*bead.vx", "-c*bead.vy", "-c*bead.vz"], nonideal = true }
initial.wire.speed = 5
run = { t_end = 2, rtol = 1e-10, atol = 1e-12 }
"#;

/// m v̇ = m g sin 30° - c v: v = v∞ + (v₀ - v∞) exp(-c t/m), v∞ = m g sin 30°/c.
#[test]
fn a_viscous_wire_brakes_its_bead_exponentially() {
    let model =
        load_str("wire.toml", WIRE, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    assert!(system.forces.iter().find(|f| f.name == "grip").unwrap().nonideal);
    let (m, c, t) = (2.0_f64, 3.0, 2.0);
    let limit = m * 10.0 * 0.5 / c;
    let speed = limit + (5.0 - limit) * (-c * t / m).exp();
    let way = limit * t + (5.0 - limit) * m / c * (1.0 - (-c * t / m).exp());

    for kind in formulations::KINDS.iter().filter(|kind| kind.needs.exact) {
        let name = kind.name;
        let formulation = Some(MethodChoice { kind: name.into(), ..MethodChoice::default() });
        let overrides = RunOverrides { formulation, ..RunOverrides::default() };
        let run = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap();
        let last = |column: &str| run.trajectory.last(column).unwrap();
        assert!((last("wire.speed") - speed).abs() < 1e-9 * speed, "{name}: {}", last("wire.speed"));
        assert!((last("wire.position") - way).abs() < 1e-9 * way, "{name}: {}", last("wire.position"));
        // its work is booked: what gravity gave and the start had, less what is left
        let work = 0.5 * m * (speed * speed - 25.0) - m * 10.0 * 0.5 * way;
        assert!((last("energy.work") - work).abs() < 1e-8 * work.abs(), "{name}: {}", last("energy.work"));
        assert!(run.report.notes.iter().any(|n| n.contains("`grip`")), "{:?}", run.report.notes);
        assert!(run.report.certificate.passed, "{name}: {:?}", run.report.certificate);
        // the wire itself bears only what is across it, m g cos 30°, and not the grip
        let reaction = [last("wire.fx"), last("wire.fy"), last("wire.fz")];
        let along = reaction[0] * 30f64.to_radians().cos() - reaction[2] * 30f64.to_radians().sin();
        let size = reaction.iter().map(|f| f * f).sum::<f64>().sqrt();
        assert!(along.abs() < 1e-10, "{name}: {along}");
        assert!((size - m * 10.0 * 30f64.to_radians().cos()).abs() < 1e-9, "{name}: {size}");
    }
}
