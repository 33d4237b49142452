//! Tooth forces of gears and racks in the bearings, against the closed forms of gear mechanics: F_t = T/r, F_r = F_t tan α/cos β, F_a = F_t tan β.

use sarrus::prelude::*;
use std::sync::Arc;

fn build(text: &str) -> (Model, Arc<System>) {
    let text = format!("format = 'sarrus/1'\n{text}");
    let model =
        load_str("gears.toml", &text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compile(&model).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|e| e.render(&model.sources)).collect::<String>())
    });
    (model, Arc::new(system))
}

fn run(text: &str) -> Outcome {
    let (model, system) = build(text);
    let run = simulate(&model, &system, &Simulate { record: true, ..Simulate::default() }, &mut ()).unwrap();
    assert!(run.report.certificate.passed, "{text}: {:?}", run.report.certificate);
    run
}

fn last(run: &Outcome, column: &str) -> f64 {
    run.trajectory.last(column).unwrap_or_else(|| panic!("no {column}"))
}

/// Compares columns at the end with numbers, to `tolerance` of the largest.
fn expect(what: &str, run: &Outcome, columns: &[(&str, f64)], tolerance: f64) {
    let largest = columns.iter().fold(0.0_f64, |m, (_, x)| m.max(x.abs()));
    for (column, wanted) in columns {
        let found = last(run, column);
        assert!((found - wanted).abs() <= tolerance * largest, "{what}: {column} = {found}, not {wanted}");
    }
}

fn tan20() -> f64 {
    20_f64.to_radians().tan()
}

fn cos20() -> f64 {
    20_f64.to_radians().cos()
}

/// Wheels of radii 0.05 and 0.1 m under the torques ±10 and ±20 N m, which balance: 200 N at the pitch circle.
fn pair(sign: f64, mesh: &str, options: &str) -> String {
    format!(
        "space = 'planar'\ngravity = [0, 0]\n\
         bodies.w1 = {{ at = [0, 0], mass = 1, inertia = 0.00125 }}\nbodies.w2 = {{ at = [0.15, 0], mass = 1, inertia = 0.005 }}\n\
         joints.J1 = {{ kind = 'revolute', bodies = ['ground', 'w1'], at = [0, 0] }}\n\
         joints.J2 = {{ kind = 'revolute', bodies = ['ground', 'w2'], at = [0.15, 0] }}\n\
         constraints.mesh = {{ kind = 'gear', bodies = ['w1', 'w2'], radii = [0.05, 0.1]{mesh} }}\n\
         forces.drive = {{ kind = 'torque', body = 'w1', torque = {} }}\n\
         forces.brake = {{ kind = 'torque', body = 'w2', torque = {} }}\n{options}\n",
        10.0 * sign,
        20.0 * sign
    )
}

fn pair_columns(sign: f64) -> [(&'static str, f64); 5] {
    let apart = 200.0 * tan20();
    [
        ("J1.fx", apart),
        ("J1.fy", 200.0 * sign),
        ("J2.fx", -apart),
        ("J2.fy", -200.0 * sign),
        ("mesh.force", -sign * 200.0 / cos20()),
    ]
}

/// The pair: rigid or with stiffness, on either flank; the radial part always separates.
#[test]
fn a_pair_loads_its_bearings_on_either_flank() {
    for sign in [1.0, -1.0] {
        let rigid = run(&pair(sign, "", "run = { t_end = 0.01 }"));
        expect("rigid", &rigid, &pair_columns(sign), 1e-10);
        let soft = run(&pair(sign, ", stiffness = 1e6, damping = 100", "run = { t_end = 0.1 }"));
        expect("soft", &soft, &pair_columns(sign), 1e-6);
        // started from rest under balanced torques
        assert!(last(&rigid, "J1.rate").abs() < 1e-12);
    }
    let friction_drive = run(&pair(1.0, ", pressure_angle = 0", "run = { t_end = 0.01 }"));
    let none = [("J1.fx", 0.0), ("J1.fy", 200.0), ("mesh.force", -200.0)];
    expect("no pressure angle", &friction_drive, &none, 1e-10);
}

#[test]
fn every_formulation_and_integrator_has_the_same_bearing_forces() {
    for formulation in
        ["proximal", "direct", "partitioned", "null_space", "pseudo_inverse", "least_squares_1"]
    {
        let options = format!("run = {{ t_end = 0.01, formulation = '{formulation}' }}");
        expect(formulation, &run(&pair(1.0, "", &options)), &pair_columns(1.0), 1e-9);
    }
    for integrator in ["rk4", "abm", "bdf", "radau5", "generalized_alpha"] {
        let step = if ["rk4", "generalized_alpha"].contains(&integrator) { ", step = 1e-3" } else { "" };
        let options = format!("run = {{ t_end = 0.01, integrator = '{integrator}'{step} }}");
        expect(integrator, &run(&pair(1.0, "", &options)), &pair_columns(1.0), 1e-7);
    }
}

/// Wheels that speed up under 30 N m: the motion is that of the reduced inertia, and energy is kept.
#[test]
fn the_motion_and_its_energy_do_not_depend_on_the_pressure_angle() {
    let rate = |mesh: &str| {
        let run = run(&format!(
            "{}forces.more = {{ kind = 'torque', body = 'w1', torque = 30 }}\nrun = {{ t_end = 0.1, rtol = 1e-9 }}",
            pair(1.0, mesh, "")
        ));
        assert!(last(&run, "energy.balance").abs() < 1e-6 * last(&run, "energy.kinetic"));
        last(&run, "J1.rate")
    };
    let whole = 0.00125 + 0.005 * 0.25;
    let wanted = 30.0 / whole * 0.1;
    for mesh in ["", ", pressure_angle = 0", ", pressure_angle = '25 deg'"] {
        assert!((rate(mesh) - wanted).abs() < 1e-7 * wanted, "{mesh}");
    }
}

/// A ring of radius 0.2 m around a pinion of 0.05 m: the pinion is pushed to its own centre, the ring outwards.
#[test]
fn an_internal_mesh_pushes_the_pinion_inwards() {
    for (bodies, radii, sign) in
        [("'ring', 'pinion'", "0.2, 0.05", 1.0), ("'pinion', 'ring'", "0.05, 0.2", -1.0)]
    {
        let run = run(&format!(
            "space = 'planar'\ngravity = [0, 0]\nbodies.ring = {{ at = [0, 0], mass = 1, inertia = 0.04 }}\n\
             bodies.pinion = {{ at = [0.15, 0], mass = 1, inertia = 0.001 }}\n\
             joints.R = {{ kind = 'revolute', bodies = ['ground', 'ring'], at = [0, 0] }}\n\
             joints.P = {{ kind = 'revolute', bodies = ['ground', 'pinion'], at = [0.15, 0] }}\n\
             constraints.mesh = {{ kind = 'gear', bodies = [{bodies}], radii = [{radii}], mesh = 'internal' }}\n\
             forces.drive = {{ kind = 'torque', body = 'pinion', torque = 5 }}\n\
             forces.brake = {{ kind = 'torque', body = 'ring', torque = -20 }}\nrun = {{ t_end = 0.01 }}"
        ));
        let apart = 100.0 * tan20();
        let columns = [
            ("R.fx", -apart),
            ("R.fy", -100.0),
            ("P.fx", apart),
            ("P.fy", 100.0),
            ("mesh.force", sign * 100.0 / cos20()),
        ];
        expect(bodies, &run, &columns, 1e-10);
    }
}

/// A rack under its pinion, on the move: its guide bears the separating force, at the pitch point however far the rack has gone.
#[test]
fn a_rack_loads_its_guide_at_the_pitch_point() {
    for (sign, mesh) in [(1.0, ""), (-1.0, ""), (1.0, ", stiffness = 1e6, damping = 500")] {
        let run = run(&format!(
            "space = 'planar'\ngravity = [0, 0]\nbodies.rack = {{ at = [0.2, -0.15], mass = 2, inertia = 1 }}\n\
             bodies.p = {{ at = [0, 0], mass = 1, inertia = 0.01 }}\n\
             joints.G = {{ kind = 'prismatic', bodies = ['ground', 'rack'], at = [0.2, -0.15], axis = [1, 0] }}\n\
             joints.B = {{ kind = 'revolute', bodies = ['ground', 'p'], at = [0, 0] }}\n\
             constraints.mesh = {{ kind = 'rack', bodies = ['rack', 'p'], radius = 0.1{mesh} }}\n\
             forces.drive = {{ kind = 'torque', body = 'p', torque = {} }}\n\
             forces.hold = {{ kind = 'force', body = 'rack', force = [{}, 0] }}\n\
             initial.G.speed = 1\ninitial.B.rate = 10\nrun = {{ t_end = 0.1, rtol = 1e-9 }}",
            10.0 * sign,
            -100.0 * sign
        ));
        let apart = 100.0 * tan20();
        let tolerance = if mesh.is_empty() { 1e-7 } else { 1e-4 };
        // the guide's point is 0.3 m from the pitch point by now, and 0.05 m below
        let moment = 0.3 * apart - 0.05 * 100.0 * sign;
        let columns = [
            ("G.fy", apart),
            ("G.tz", -moment),
            ("B.fx", 100.0 * sign),
            ("B.fy", -apart),
            ("mesh.force", sign * 100.0 / cos20()),
        ];
        expect(&format!("{sign}{mesh}"), &run, &columns, tolerance);
        assert!((last(&run, "G.position") - 0.1).abs() < 1e-3);
    }
}

fn spatial(body: &str, at: [f64; 3]) -> String {
    let [x, y, z] = at;
    format!("bodies.{body} = {{ at = [{x}, {y}, {z}], mass = 1, inertia = [0.01, 0.01, 0.01] }}\n")
}

/// A right-handed driver is thrust along the thumb of the right hand whose fingers go with it.
#[test]
fn helical_wheels_thrust_along_their_axles() {
    let beta = 15_f64.to_radians();
    let (apart, thrust) = (200.0 * tan20() / beta.cos(), 200.0 * beta.tan());
    for mesh in ["", ", stiffness = 1e6, damping = 100"] {
        let run = run(&format!(
            "space = 'spatial'\ngravity = [0, 0, 0]\n{}{}\
             joints.J1 = {{ kind = 'revolute', bodies = ['ground', 'w1'], at = [0, 0, 0] }}\n\
             joints.J2 = {{ kind = 'revolute', bodies = ['ground', 'w2'], at = [0.15, 0, 0] }}\n\
             constraints.mesh = {{ kind = 'gear', bodies = ['w1', 'w2'], radii = [0.05, 0.1], helix_angle = '15 deg'{mesh} }}\n\
             forces.drive = {{ kind = 'torque', body = 'w1', torque = [0, 0, 10] }}\n\
             forces.brake = {{ kind = 'torque', body = 'w2', torque = [0, 0, 20] }}\nrun = {{ t_end = {} }}",
            spatial("w1", [0.0; 3]),
            spatial("w2", [0.15, 0.0, 0.0]),
            if mesh.is_empty() { 0.01 } else { 0.3 }
        ));
        let columns = [
            ("J1.fx", apart),
            ("J1.fy", 200.0),
            ("J1.fz", -thrust),
            ("J1.tx", 0.0),
            ("J1.ty", 0.05 * thrust),
            ("J2.fx", -apart),
            ("J2.fy", -200.0),
            ("J2.fz", thrust),
            ("J2.ty", 0.1 * thrust),
            ("mesh.force", -200.0 / (cos20() * beta.cos())),
        ];
        expect(mesh, &run, &columns, if mesh.is_empty() { 1e-10 } else { 1e-5 });
    }
}

/// Cones of tan δ₁ = 1/2: F_t tan α cos δ across the axle and F_t tan α sin δ away from the apex, at the cones' common line.
#[test]
fn bevel_wheels_are_pushed_from_their_apex() {
    let run = run(&format!(
        "space = 'spatial'\ngravity = [0, 0, 0]\n{}{}\
         joints.J1 = {{ kind = 'revolute', bodies = ['ground', 'w1'], at = [0, 0, 0], axis = [0, 0, 1] }}\n\
         joints.J2 = {{ kind = 'revolute', bodies = ['ground', 'w2'], at = [0, 0, 0], axis = [1, 0, 0] }}\n\
         constraints.mesh = {{ kind = 'gear', bodies = ['w1', 'w2'], radii = [0.05, 0.1], mesh = 'bevel', axes = [[0, 0, 1], [1, 0, 0]] }}\n\
         forces.drive = {{ kind = 'torque', body = 'w1', torque = [0, 0, 10] }}\n\
         forces.brake = {{ kind = 'torque', body = 'w2', torque = [20, 0, 0] }}\nrun = {{ t_end = 0.01 }}",
        spatial("w1", [0.0, 0.0, 0.1]),
        spatial("w2", [0.05, 0.0, 0.0]),
    ));
    let delta = 0.5_f64.atan();
    let (across, along) = (200.0 * tan20() * delta.cos(), 200.0 * tan20() * delta.sin());
    // the teeth at (0.05, 0, 0.1): moments about the apex
    let (fx, fy, fz) = (-across, -200.0, along);
    let columns = [
        ("J1.fx", -fx),
        ("J1.fy", -fy),
        ("J1.fz", -fz),
        ("J1.tx", 0.1 * fy),
        ("J1.ty", -(0.1 * fx - 0.05 * fz)),
        ("J2.fx", fx),
        ("J2.fy", fy),
        ("J2.fz", fz),
        ("J2.ty", 0.1 * fx - 0.05 * fz),
        ("J2.tz", 0.05 * fy),
        ("mesh.force", -200.0 / cos20()),
    ];
    expect("bevel", &run, &columns, 1e-10);
}

/// Three planets between a sun and a fixed ring, the carrier held; the sun turns on a bearing or floats.
fn planetary(bearing: bool) -> String {
    let bearing = if bearing {
        "joints.S = { kind = 'revolute', bodies = ['ground', 'sun'], at = [0, 0] }\n"
    } else {
        ""
    };
    format!(
        "space = 'planar'\ngravity = [0, 0]\nparameters = {{ a = 0.042 }}\n\
         bodies.sun = {{ at = [0, 0], mass = 0.5, inertia = 1e-4 }}\nbodies.arm = {{ at = [0, 0], mass = 1, inertia = 1e-3 }}\n\
         joints.C = {{ kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0] }}\n{bearing}\
         drivers.hold = {{ kind = 'joint', joint = 'C', angle = 0 }}\n\
         forces.motor = {{ kind = 'torque', body = 'sun', torque = 0.72 }}\nrun = {{ t_end = 0.01 }}\n\
         [repeat.planets]\nfor = 'i = 1 to 3'\n\
         bodies.'planet{{i}}' = {{ at = ['a*cos(i*120 deg)', 'a*sin(i*120 deg)'], mass = 0.2, inertia = 1e-5 }}\n\
         joints.'pin{{i}}' = {{ kind = 'revolute', bodies = ['arm', 'planet{{i}}'], at = ['a*cos(i*120 deg)', 'a*sin(i*120 deg)'] }}\n\
         constraints.'inner{{i}}' = {{ kind = 'gear', bodies = ['sun', 'planet{{i}}'], teeth = [24, 18], carrier = 'arm' }}\n\
         constraints.'outer{{i}}' = {{ kind = 'gear', bodies = ['ground', 'planet{{i}}'], teeth = [60, 18], mesh = 'internal', carrier = 'arm' }}\n"
    )
}

/// 0.72 N m on a sun of 24 mm: 10 N at each planet. Each pin bears 20 N around the axis and nothing along its arm, the carrier
/// 2.52 N m = 0.72 (1 + 60/24); the carrier's bearing and the sun bear nothing.
#[test]
fn planets_share_the_load_of_a_floating_sun() {
    let run = run(&planetary(false));
    for i in 1..=3 {
        let angle = (120.0 * f64::from(i)).to_radians();
        let (x, y) = (last(&run, &format!("pin{i}.fx")), last(&run, &format!("pin{i}.fy")));
        let (along, around) = (x * angle.cos() + y * angle.sin(), y * angle.cos() - x * angle.sin());
        assert!(along.abs() < 1e-8 && (around + 20.0).abs() < 1e-8, "pin{i}: {along} {around}");
        for mesh in ["inner", "outer"] {
            let force = last(&run, &format!("{mesh}{i}.force"));
            assert!((force.abs() - 10.0 / cos20()).abs() < 1e-8, "{mesh}{i}: {force}");
        }
    }
    expect("carrier", &run, &[("hold.torque", -2.52), ("C.fx", 0.0), ("C.fy", 0.0)], 1e-8);
    let (model, system) = build(&planetary(false));
    let report = check(&model, &system).unwrap();
    assert!(report.reactions.iter().all(|r| r.not_unique.is_empty()), "{:?}", report.reactions);
}

/// With a bearing of the sun how the planets share the load is open, and so is what the bearing bears.
#[test]
fn the_share_of_planets_around_a_sun_on_a_bearing_is_not_unique() {
    let (model, system) = build(&planetary(true));
    let report = check(&model, &system).unwrap();
    let open = |name: &str| report.reactions.iter().any(|r| r.name == name && !r.not_unique.is_empty());
    for name in ["S", "pin1", "pin2", "pin3", "inner1", "outer2"] {
        assert!(open(name), "{name}: {:?}", report.reactions);
    }
    assert!(!open("hold"));
    let (model, system) = build(&pair(1.0, "", "run = { t_end = 0.01 }"));
    let pair = check(&model, &system).unwrap();
    assert!(pair.reactions.iter().all(|r| r.not_unique.is_empty()) && pair.constraints.redundant == Some(0));
}

/// Journal friction sees the whole tooth force: μ r |R| with |R| = 200/cos α.
#[test]
fn friction_in_a_bearing_sees_the_separating_force() {
    let text = pair(1.0, "", "run = { t_end = 0.05 }").replace(
        "at = [0, 0] }\njoints.J2",
        "at = [0, 0], friction = { mu = 0.1, radius = 0.01, slip_speed = 1e-3 } }\njoints.J2",
    );
    let run = run(&format!("{text}initial.J1.rate = 100\n"));
    // F = 200 + I₂ a/(2 r₂) with a of the first wheel, and (I₁ + I₂/4) a = -μ r F/cos α
    let lever = 0.1 * 0.01 / cos20();
    let a = -lever * 200.0 / (0.00125 + 0.005 * 0.25 + lever * 0.005 / 0.2);
    let rate = last(&run, "J1.rate");
    assert!((rate - (100.0 + a * 0.05)).abs() < 1e-5 * rate, "{rate} {}", 100.0 + a * 0.05);
}

/// Axles that the radii do not fit are reported, and the force acts where the axles have the pitch point.
#[test]
fn radii_that_do_not_fit_are_reported() {
    let text = pair(1.0, "", "run = { t_end = 0.01 }").replace("[0.05, 0.1]", "[0.04, 0.08]");
    let run = run(&text);
    let notes = run.report.notes.join("\n");
    assert!(notes.contains("do not fit axles that are 0.150000 m apart"), "{notes}");
    expect("at the axles' pitch point", &run, &pair_columns(1.0), 1e-10);
    let (model, system) = build(&text);
    assert!(check(&model, &system).unwrap().notes.join("\n").contains("do not fit"));
    let fits = self::run(&pair(1.0, "", "run = { t_end = 0.01 }"));
    assert!(!fits.report.notes.join("\n").contains("fit"));
}

#[test]
fn meshes_without_a_pitch_point_are_refused_with_a_hint() {
    let says = |text: &str| {
        let text = format!("format = 'sarrus/1'\n{text}");
        let model = load_str("mesh.toml", &text, &LoadOptions::default()).unwrap();
        let errors = compile(&model).err().unwrap_or_else(|| panic!("{text}: compiles"));
        errors.iter().map(|e| e.render(&model.sources)).collect::<String>()
    };
    let one_axle = pair(1.0, "", "").replace("[0.15, 0]", "[0, 0]");
    let said = says(&one_axle);
    assert!(said.contains("two wheels on one axle") && said.contains("`coupler`"), "{said}");
    let said = says(&pair(1.0, ", helix_angle = 0.2", ""));
    assert!(said.contains("helix angle in a planar model"), "{said}");
    let said = says(&pair(1.0, ", pressure_angle = 20", ""));
    assert!(said.contains("radians"), "{said}");
}

/// Statics and prescribed motions have the same bearing forces as a run.
#[test]
fn a_held_pair_has_the_same_forces_in_a_prescribed_motion() {
    let text = pair(1.0, "", "drivers.d = { kind = 'joint', joint = 'J1', rate = 3 }\nrun = { t_end = 0.1 }");
    let (model, system) = build(&text);
    let found = sarrus::analysis::prescribed(&model, &system, &RunOverrides::default()).unwrap();
    for (column, wanted) in pair_columns(1.0) {
        let value = found.trajectory.last(column).unwrap();
        assert!((value - wanted).abs() < 1e-7, "{column}: {value}");
    }
}
