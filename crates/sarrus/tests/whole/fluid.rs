//! Drag and buoyancy against closed forms.

use sarrus::prelude::*;
use std::sync::Arc;

fn run(text: &str) -> Outcome {
    let run = outcome(text);
    assert!(run.report.certificate.passed, "{:?}", run.report.certificate);
    run
}

fn outcome(text: &str) -> Outcome {
    let text = format!("format = 'sarrus/1'\n{text}");
    let model =
        load_str("fluid.toml", &text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compile(&model).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|e| e.render(&model.sources)).collect::<String>())
    });
    simulate(&model, &Arc::new(system), &Simulate::default(), &mut ()).unwrap()
}

fn last(run: &Outcome, column: &str) -> f64 {
    run.trajectory.last(column).unwrap()
}

/// The balance of energies drifts no more than the integration errs.
fn balanced(run: &Outcome, scale: f64) {
    let balance: Vec<f64> = run.trajectory.column("energy.balance").unwrap().collect();
    let off = balance.iter().fold(0.0_f64, |m, e| m.max((e - balance[0]).abs()));
    assert!(off <= 1e-7 * scale, "balance is off by {off} of {scale}");
}

/// m v̇ = m g - k v²: v = v∞ tanh(g t/v∞), s = v∞²/g ln cosh(g t/v∞), v∞ = √(m g/k). In water the weight is that less ρ V.
#[test]
fn a_ball_falls_to_its_terminal_velocity() {
    let (m, r, rho, c) = (2.0_f64, 0.05_f64, 1000.0, 0.47);
    let run = run(&format!(
        "gravity = [0, 0, -10]\nfluids.water = {{ density = {rho} }}\n\
         bodies.ball = {{ at = [0, 0, 0], mass = {m}, shape = {{ kind = 'sphere', radius = {r} }} }}\n\
         forces.drag = {{ kind = 'drag', bodies = ['ball'], fluid = 'water', isotropic = {{ coefficient = {c}, area = 'pi*{r}^2' }} }}\n\
         forces.uplift = {{ kind = 'buoyancy', bodies = ['ball'], fluid = 'water' }}\n\
         run = {{ t_end = 1.0, rtol = 1e-10, atol = 1e-12 }}"
    ));
    let pi = std::f64::consts::PI;
    let k = 0.5 * rho * c * pi * r * r;
    let g = 10.0 * (1.0 - rho * 4.0 / 3.0 * pi * r.powi(3) / m);
    let limit = (m * g / k).sqrt();
    let way = limit * limit / g * (g / limit).cosh().ln();
    assert!((last(&run, "ball.vz") + limit * (g / limit).tanh()).abs() < 1e-8);
    assert!((last(&run, "ball.z") + way).abs() < 1e-8);
    // all that drag takes is heat, and nothing is work
    let heat = m * g * way - 0.5 * m * (limit * (g / limit).tanh()).powi(2);
    assert!((last(&run, "energy.dissipated") - heat).abs() < 1e-7 * heat);
    assert_eq!(last(&run, "energy.work"), 0.0);
    balanced(&run, heat);
}

/// Along x and across it bodies are braked by their own laws: v = v₀/(1 + k v₀ t/m) each, and a body without gravity keeps its way
/// across the rest.
#[test]
fn a_rod_is_braked_along_and_across_by_different_areas() {
    let run = run("gravity = [0, 0, 0]\nfluids.water = { density = 1000 }\n\
         bodies.rod = { at = [0, 0, 0], mass = 3, inertia = [1, 1, 1], orientation = { axis = [0, 0, 1], angle = '30 deg' } }\n\
         forces.drag = { kind = 'drag', bodies = ['rod'], fluid = 'water', axial = { coefficient = 0.1, area = 0.02 }, \
         transverse = { coefficient = 1.2, area = 0.01 } }\n\
         initial.rod.velocity = ['2*cos(30 deg) - 3*sin(30 deg)', '2*sin(30 deg) + 3*cos(30 deg)', 4]\n\
         run = { t_end = 0.7, rtol = 1e-10, atol = 1e-12 }");
    let (s, c) = 30_f64.to_radians().sin_cos();
    let (vx, vy) = (last(&run, "rod.vx"), last(&run, "rod.vy"));
    let (along, across) = (c * vx + s * vy, (c * vy - s * vx).hypot(last(&run, "rod.vz")));
    let slowed = |v: f64, k: f64| v / (1.0 + k * v * 0.7 / 3.0);
    assert!((along - slowed(2.0, 500.0 * 0.1 * 0.02)).abs() < 1e-8, "{along}");
    assert!((across - slowed(5.0, 500.0 * 1.2 * 0.01)).abs() < 1e-8, "{across}");
    balanced(&run, 0.5 * 3.0 * 29.0);
}

/// In a stream a body at rest is carried along; its work is that of the stream.
#[test]
fn a_stream_carries_what_is_in_it() {
    let run = run("gravity = [0, 0, 0]\nfluids.stream = { density = 1000, velocity = [2, 0, 0] }\n\
         bodies.dot = { kind = 'point', at = [0, 0, 0], mass = 3 }\n\
         forces.drag = { kind = 'drag', bodies = ['dot'], fluid = 'stream', isotropic = { coefficient = 1, area = 0.01 } }\n\
         run = { t_end = 1.5, rtol = 1e-10, atol = 1e-12 }");
    let v = 2.0 - 2.0 / (1.0 + 5.0 * 2.0 * 1.5 / 3.0);
    assert!((last(&run, "dot.vx") - v).abs() < 1e-8);
    assert!((last(&run, "energy.work") - 1.5 * v * v).abs() < 1e-7);
}

/// A box that floats level bobs with ω² = ρ g A/m about the depth m/(ρ A).
#[test]
fn a_box_bobs_with_the_frequency_of_its_waterline() {
    let (a, b, h, m) = (0.8, 0.5, 0.6, 120.0);
    let run = run(&format!(
        "gravity = [0, 0, -10]\nfluids.sea = {{ density = 1000, surface = 2 }}\n\
         bodies.box = {{ at = [0, 0, 2.05], mass = {m}, shape = {{ kind = 'box', size = [{a}, {b}, {h}] }} }}\n\
         joints.guide = {{ kind = 'prismatic', bodies = ['ground', 'box'], at = [0, 0, 2], axis = [0, 0, 1] }}\n\
         forces.uplift = {{ kind = 'buoyancy', bodies = ['box'], fluid = 'sea' }}\n\
         run = {{ t_end = 1.7, rtol = 1e-10, atol = 1e-12 }}"
    ));
    let omega = (1000.0_f64 * 10.0 * a * b / m).sqrt();
    // it floats where the depth of its bottom is m/(ρ A) = 0.3: centre at the surface
    let expected = 2.0 + 0.3 - m / (1000.0 * a * b) + 0.05 * (omega * 1.7).cos();
    assert!((last(&run, "box.z") - expected).abs() < 1e-7, "{} {expected}", last(&run, "box.z"));
    assert!((last(&run, "uplift.volume") - a * b * (2.0 + h / 2.0 - expected)).abs() < 1e-7);
    balanced(&run, m * 10.0 * 0.3);
}

/// A float that tumbles and dives through the surface keeps its energy: the wrench is the gradient of what is stored.
#[test]
fn what_falls_into_the_sea_and_tumbles_keeps_its_energy() {
    for shape in [
        "{ kind = 'box', size = [0.8, 0.5, 0.3] }",
        "{ kind = 'rod', length = 1.2, radius = 0.1 }",
        "{ kind = 'disc', radius = 0.4, thickness = 0.2 }",
        "{ kind = 'capsule', length = 0.6, radius = 0.2 }",
        "[{ kind = 'sphere', radius = 0.3 }, { kind = 'sphere', radius = 0.2, on = [0.5, 0, 0] }]",
    ] {
        let run = run(&format!(
            "gravity = [0, 0, -10]\nfluids.sea = {{ density = 1000, surface = 0.2 }}\n\
             bodies.float = {{ at = [0, 0, 1.2], mass = 30, orientation = {{ axis = [1, 2, 3], angle = 0.5 }}, shape = {shape} }}\n\
             forces.uplift = {{ kind = 'buoyancy', bodies = ['float'], fluid = 'sea' }}\n\
             initial.float.omega = [1, 2, -1]\n\
             run = {{ t_end = 2, rtol = 1e-10, atol = 1e-12 }}"
        ));
        let volume: Vec<f64> = run.trajectory.column("uplift.volume").unwrap().collect();
        assert!(volume.iter().any(|v| *v > 1e-3) && volume[0] == 0.0, "{shape}: it gets wet");
        balanced(&run, 300.0);
    }
}

/// A buoy that leans is righted: where it has turned, its centre of buoyancy is off. A square of side w at the waterline has the metacentre
/// w²/(12 T) above the centre of buoyancy, T its depth: ω² = ρ g V (BM - BG)/I for a small rotation.
#[test]
fn a_square_pontoon_rolls_about_its_metacentre() {
    // half immersed, heavy below: BG = KG - T/2
    let (w, h, m, kg, i) = (1.0_f64, 0.4_f64, 200.0_f64, 0.15_f64, 30.0_f64);
    let run = run(&format!(
        "space = 'planar'\ngravity = [0, -10]\nfluids.sea = {{ density = 1000, surface = 0 }}\n\
         bodies.pontoon = {{ at = [0, 0], mass = {m}, inertia = {i}, com = [0, '{kg} - {h}/2'], shape = {{ kind = 'box', size = [{w}, {h}] }}, angle = 0.001 }}\n\
         forces.uplift = {{ kind = 'buoyancy', bodies = ['pontoon'], fluid = 'sea', volume = 0.4 }}\n\
         run = {{ t_end = 3, rtol = 1e-11, atol = 1e-14 }}"
    ));
    let draught = h / 2.0;
    let gm = w * w / (12.0 * draught) - (kg - draught / 2.0);
    let omega = (m * 10.0 * gm / i).sqrt();
    let expected = 0.001 * (omega * 3.0).cos();
    // the rotation is small: errors of its square, and of the heave that goes with it
    assert!(
        (last(&run, "pontoon.angle") - expected).abs() < 1e-3 * 0.001,
        "{} {expected}",
        last(&run, "pontoon.angle")
    );
}

/// Segments of a rod displace what their section says, each its part.
#[test]
fn a_segmented_rod_displaces_its_volume() {
    let run = run("space = 'planar'\nmaterials.metal = { density = 7800 }\n\
         sections.square = { kind = 'rectangle', width = 0.03, height = 0.03, EI = 20 }\n\
         fluids.water = { density = 1000 }\n\
         flexible.rod = { kind = 'segmented_rod', from = [-0.5, 0], to = [0.5, 0], segments = 10, section = 'square', material = 'metal' }\n\
         forces.uplift = { kind = 'buoyancy', bodies = ['rod'], fluid = 'water' }\n\
         run = { t_end = 0.1, rtol = 1e-10, atol = 1e-12 }");
    assert!((last(&run, "uplift.volume") - 9e-4).abs() < 1e-15);
    assert!((last(&run, "rod.seg3.vy") + 9.81 * (1.0 - 1.0 / 7.8) * 0.1).abs() < 1e-9);
}

/// The ten-segment rod of \[Hajzman2007\] that falls slantwise through water, before it touches a wall: from an independent program with
/// forces -½ρCA|v|v along and across each segment and ρgV up, to 1e-9.
#[test]
fn a_slanting_rod_falls_through_water_as_published() {
    let run = run("space = 'planar'\nparameters = { w = 0.03, along = ['-sin(0.6 deg)', 'cos(0.6 deg)'] }\n\
         materials.metal = { density = 7800 }\nsections.square = { kind = 'rectangle', width = 'w', height = 'w', EI = 20 }\n\
         fluids.water = { density = 1000 }\ninitial.rod.velocity = [0.1, 0]\n\
         flexible.rod = { kind = 'segmented_rod', from = '-0.5*along', to = '0.5*along', segments = 10, section = 'square', material = 'metal' }\n\
         forces.drag = { kind = 'drag', bodies = ['rod'], fluid = 'water', transverse = { coefficient = 1.2, area = 0.003 }, axial = { coefficient = 0.02, area = 0.012 } }\n\
         forces.uplift = { kind = 'buoyancy', bodies = ['rod'], fluid = 'water' }\n\
         run = { t_end = 0.045, rtol = 1e-11, atol = 1e-13 }");
    for (column, expected) in [
        ("rod.seg1.x", 0.009187180930138457),
        ("rod.seg1.y", -0.45863048533132866),
        ("rod.seg10.x", -0.00023742477448275394),
        ("rod.seg1.vx", 0.09890067861716789),
        ("rod.seg5.vy", -0.384482950620699),
    ] {
        assert!((last(&run, column) - expected).abs() < 1e-9, "{column}: {}", last(&run, column));
    }
}

/// A ball with the added mass of half the water it displaces falls with (m - ρV) g/(m + ρV/2) where nothing brakes it.
#[test]
fn a_ball_in_an_ideal_fluid_falls_with_the_mass_of_the_fluid_too() {
    let (m, r) = (2.0, 0.05_f64);
    let volume = 4.0 / 3.0 * std::f64::consts::PI * r.powi(3);
    let (a, weight) = (500.0 * volume, (m - 1000.0 * volume) * 10.0);
    for kind in [
        "shape = { kind = 'sphere', radius = 0.05 }",
        "kind = 'point', shape = { kind = 'sphere', radius = 0.05 }",
    ] {
        let run = run(&format!(
            "gravity = [0, 0, -10]\nfluids.water = {{ density = 1000 }}\nbodies.ball = {{ at = [0, 0, 0], mass = {m}, {kind} }}\n\
             forces.water = {{ kind = 'drag', bodies = ['ball'], fluid = 'water', added_mass = [{a}, {a}] }}\n\
             forces.uplift = {{ kind = 'buoyancy', bodies = ['ball'], fluid = 'water' }}\nrun = {{ t_end = 1 }}"
        ));
        assert!((last(&run, "ball.vz") + weight / (m + a)).abs() < 1e-9, "{}", last(&run, "ball.vz"));
        balanced(&run, 20.0);
    }
}

/// Kirchhoff: a body in an ideal fluid keeps the energy of both, their impulse (m 1 + A) v and their moment of it, in every integrator.
#[test]
fn a_body_in_an_ideal_fluid_keeps_energy_and_impulse() {
    let (m, axial, transverse, inertia) = (3.0, 0.5, 4.0, [0.2, 0.5, 0.6]);
    let mut ends = Vec::new();
    // the last one is of second order with steps of its own: 3 h² of what changes in a second
    for (integrator, step) in
        [("rk45", ""), ("dop853", ""), ("radau5", ""), ("generalized_alpha", ", step = 5e-4")]
    {
        let rtol = 1e-10;
        let run = outcome(&format!(
            "gravity = [0, 0, 0]\nfluids.water = {{ density = 1000 }}\n\
             bodies.fish = {{ at = [0, 0, 0], mass = {m}, inertia = {inertia:?} }}\n\
             forces.water = {{ kind = 'drag', bodies = ['fish'], fluid = 'water', added_mass = [{axial}, {transverse}] }}\n\
             initial.fish = {{ velocity = [1, 0.4, -0.2], omega = [0.3, 1, 0.5] }}\n\
             run = {{ t_end = 3, integrator = '{integrator}'{step}, rtol = {rtol:e}, atol = {:e} }}",
            1e-2 * rtol
        ));
        let retained = |k: usize| {
            let c = |name: &str| run.trajectory.column(&format!("fish.{name}")).unwrap().nth(k).unwrap();
            let q = ["q0", "q1", "q2", "q3"].map(c);
            let (p, v, w) = (["x", "y", "z"].map(c), ["vx", "vy", "vz"].map(c), ["wx", "wy", "wz"].map(c));
            let u = [
                1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]),
                2.0 * (q[1] * q[2] + q[0] * q[3]),
                2.0 * (q[1] * q[3] - q[0] * q[2]),
            ];
            let along: f64 = (0..3).map(|i| u[i] * v[i]).sum();
            let impulse = [0, 1, 2].map(|i| (m + transverse) * v[i] + (axial - transverse) * along * u[i]);
            // R I ω + p × P
            let l = [0, 1, 2].map(|i| inertia[i] * w[i]);
            let rotated = rotate(q, l);
            let moment = [0, 1, 2].map(|i| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                rotated[i] + p[j] * impulse[k] - p[k] * impulse[j]
            });
            [impulse, moment].concat()
        };
        let (first, end) = (retained(0), retained(run.trajectory.len() - 1));
        let allowed = if integrator == "generalized_alpha" { 1e-5 } else { 1e-8 };
        for (a, b) in first.iter().zip(&end) {
            assert!((a - b).abs() < allowed, "{integrator}: {first:?} {end:?}");
        }
        let kinetic: Vec<f64> = run.trajectory.column("energy.kinetic").unwrap().collect();
        assert!(kinetic.iter().all(|e| (e - kinetic[0]).abs() < allowed * kinetic[0]), "{integrator}");
        ends.push([last(&run, "fish.x"), last(&run, "fish.y"), last(&run, "fish.wx")]);
    }
    for end in &ends {
        for (a, b) in end.iter().zip(&ends[1]) {
            assert!((a - b).abs() < 1e-5, "{ends:?}");
        }
    }
}

fn rotate(q: [f64; 4], a: [f64; 3]) -> [f64; 3] {
    let [w, x, y, z] = q;
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let t = cross([x, y, z], a).map(|t| 2.0 * t);
    let s = cross([x, y, z], t);
    [0, 1, 2].map(|i| a[i] + w * t[i] + s[i])
}

/// A pendulum in water swings the same in both coordinates, and as its closed form does: I + A l² about the pin, since it moves across itself.
#[test]
fn a_pendulum_with_added_mass_swings_the_same_in_both_coordinates() {
    for coordinates in ["absolute", "joint"] {
        let run = run(&format!(
            "space = 'planar'\ngravity = [0, -10]\nfluids.water = {{ density = 1000 }}\n\
             bodies.bar = {{ from = [0, 0], to = [0, -1], mass = 3 }}\n\
             joints.pin = {{ kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0], reads = 0 }}\n\
             forces.water = {{ kind = 'drag', bodies = ['bar'], fluid = 'water', added_mass = [0.1, 2] }}\n\
             initial.pin.angle = 1e-4\nrun = {{ t_end = 2, coordinates = '{coordinates}', rtol = 1e-10, atol = 1e-14 }}"
        ));
        let omega = (3.0 * 10.0 * 0.5 / (3.0 / 3.0 + 2.0 * 0.25_f64)).sqrt();
        assert!((last(&run, "pin.angle") - 1e-4 * (2.0 * omega).cos()).abs() < 1e-10, "{coordinates}");
    }
}

#[test]
fn what_cannot_float_is_told_why() {
    let says = |text: &str| {
        let text = format!(
            "format = 'sarrus/1'\nfluids.water = {{ density = 1000, surface = 0 }}\nbodies.a = {{ mass = 1, inertia = [1, 1, 1] }}\n{text}"
        );
        match load_str("fluid.toml", &text, &LoadOptions::default()) {
            Err(failure) => failure.render(),
            Ok(model) => {
                let errors = compile(&model).err().unwrap_or_else(|| panic!("{text}: compiles"));
                errors.iter().map(|e| e.render(&model.sources)).collect::<String>()
            }
        }
    };
    let unknown = says("forces.f = { kind = 'buoyancy', bodies = ['a'], fluid = 'watr', volume = 1 }");
    assert!(unknown.contains("fluid `watr` does not exist") && unknown.contains("water"), "{unknown}");
    let no_volume = says("forces.f = { kind = 'buoyancy', bodies = ['a'], fluid = 'water' }");
    assert!(no_volume.contains("volume of `a` is not known"), "{no_volume}");
    let no_shape = says("forces.f = { kind = 'buoyancy', bodies = ['a'], fluid = 'water', volume = 1 }");
    assert!(no_shape.contains("it has no shape"), "{no_shape}");
    let no_part = says("forces.f = { kind = 'drag', bodies = ['a'], fluid = 'water' }");
    assert!(no_part.contains("needs `axial`, `transverse` or `isotropic`"), "{no_part}");
    let level = says("gravity = [0, 0, 0]");
    assert!(level.contains("no section") || level.contains("no gravity"), "{level}");
}
