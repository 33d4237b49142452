//! Modes about steady motions, against closed forms and published eigenvalues.

use sarrus::analysis::{ModeKind, ModesReport, OperatingPoint, modes};
use sarrus::prelude::*;
use std::f64::consts::TAU;
use std::sync::Arc;

const G: f64 = 9.81;

fn report(text: &str) -> ModesReport {
    let model =
        load_str("test.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    modes(&model, &system, OperatingPoint::Start).unwrap()
}

/// The report about a motion that must be steady.
fn steady(text: &str) -> ModesReport {
    let report = report(text);
    let motion = report.motion.as_ref().expect("it moves");
    assert!(motion.steady && motion.residual < 1e-9, "{:?}", report.motion);
    assert!(!report.equilibrium && report.notes.is_empty(), "{:?}", report.notes);
    report
}

fn zeros(report: &ModesReport) -> usize {
    report.modes.iter().filter(|m| m.kind == ModeKind::Free).count()
}

fn frequencies(report: &ModesReport) -> Vec<f64> {
    let mut all: Vec<f64> = report.modes.iter().filter_map(|m| m.frequency).map(|f| TAU * f).collect();
    all.sort_by(f64::total_cmp);
    all
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} instead of {expected}");
}

/// A bob on a hinge at a vertical shaft; `more` says how the shaft moves. Returns the rate of the steady rotation too.
fn conical(degrees: f64, more: &str) -> (String, f64) {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let omega = (G / cos).sqrt();
    let text = format!(
        "format = 'sarrus/1'\nrun.t_end = 5\n\
         bodies.shaft = {{ at = [0, 0, 0], mass = 1, inertia = [0.5, 0.5, 0.5] }}\n\
         bodies.bob = {{ at = [{sin}, 0, {}], mass = 1, inertia = [0.02, 0.02, 0.02] }}\n\
         joints.bearing = {{ kind = 'revolute', bodies = ['ground', 'shaft'], at = [0, 0, 0], axis = [0, 0, 1] }}\n\
         joints.hinge = {{ kind = 'revolute', bodies = ['shaft', 'bob'], at = [0, 0, 0], axis = [0, 1, 0] }}\n\
         initial.hinge.rate = 0\n{}\n",
        -cos,
        more.replace("OMEGA", &format!("{omega:.17}"))
    );
    (text, omega)
}

/// With the angular momentum kept, J(θ) = I + m l² sin²θ: (m l² + i) ω² = Ω² (J'²/J - J''/2) + m g l cos θ.
#[test]
fn a_conical_pendulum_on_a_free_shaft_has_its_frequency_and_two_zeros() {
    for degrees in [10.0_f64, 40.0, 75.0] {
        let (text, rate) = conical(degrees, "initial.shaft.omega = [0, 0, OMEGA]");
        let report = steady(&text);
        let angle = degrees.to_radians();
        let (J, J1, J2) = (0.52 + angle.sin().powi(2), (2.0 * angle).sin(), 2.0 * (2.0 * angle).cos());
        let square = (rate * rate * (J1 * J1 / J - 0.5 * J2) + G * angle.cos()) / 1.02;
        assert_eq!((report.modes.len(), zeros(&report), report.stable), (3, 2, Some(true)));
        close(frequencies(&report)[0], square.sqrt(), 1e-12);
        let omega = report.motion.unwrap().omega;
        assert!((omega[2] - rate).abs() < 1e-12 && omega[0].abs() < 1e-12, "{omega:?}");
        if degrees == 40.0 {
            close(square.sqrt(), 4.27033, 2e-6);
        }
    }
}

/// A driver is a constraint that depends on time, and the motion is steady all the same: ω² = Ω² sin²θ m l²/(m l² + i).
#[test]
fn a_pendulum_on_a_driven_shaft_is_steady() {
    let (text, rate) = conical(50.0, "drivers.D = { kind = 'joint', joint = 'bearing', angle = 'OMEGA*t' }");
    let report = steady(&text);
    assert_eq!((report.modes.len(), report.stable), (1, Some(true)));
    close(frequencies(&report)[0], rate * 50.0_f64.to_radians().sin() / 1.02_f64.sqrt(), 1e-12);
}

/// A top in steady precession at φ̇: ω² = φ̇² (1 - 2κ cos θ + κ²), κ = m g l/(I₁ φ̇²); precession and spin are cyclic.
#[test]
fn a_heavy_top_in_steady_precession_nutates_with_its_frequency() {
    for (degrees, precession) in [(30.0_f64, 2.0_f64), (70.0, 5.0), (110.0, 3.0)] {
        let angle = degrees.to_radians();
        let (i1, i3, mgl) = (0.1 + 2.0 * 0.25, 0.2, 2.0 * G * 0.5);
        let spin = (i1 * precession * precession * angle.cos() + mgl) / (i3 * precession);
        let own = spin - precession * angle.cos();
        // leaning towards x
        let axis = [angle.sin(), 0.0, angle.cos()];
        let report = steady(&format!(
            "format = 'sarrus/1'\nrun.t_end = 1.0\n\
             bodies.top = {{ at = [{}, 0, {}], mass = 2.0, inertia = [0.1, 0.1, 0.2], \
             orientation = {{ axis = [0, 1, 0], angle = {angle} }} }}\n\
             joints.O = {{ kind = 'spherical', bodies = ['ground', 'top'], at = [0, 0, 0] }}\n\
             initial.top.omega = [{}, 0, {}]\n",
            0.5 * axis[0],
            0.5 * axis[2],
            own * axis[0],
            own * axis[2] + precession
        ));
        let kappa = mgl / (i1 * precession * precession);
        assert_eq!((zeros(&report), report.stable), (4, Some(true)), "{:?}", report.modes);
        let expected = precession * (1.0 - 2.0 * kappa * angle.cos() + kappa * kappa).sqrt();
        assert_eq!(frequencies(&report).len(), 1);
        close(frequencies(&report)[0], expected, 1e-11);
        let motion = report.motion.unwrap();
        assert!((motion.omega[2] - precession).abs() < 1e-10 && motion.spins.len() == 1, "{motion:?}");
    }
}

/// A disc that rolls upright at the rate s leans with (A + m r²) ω² = C (C + m r²) s²/A - m g r, and falls below the rate where
/// that is zero.
#[test]
fn a_rolling_disc_is_stable_above_its_critical_speed() {
    let (m, r, A, C) = (2.0, 0.3, 0.045, 0.09);
    let critical = f64::sqrt(A * m * G * r / (C * (C + m * r * r)));
    for factor in [0.5, 0.95, 1.05, 3.0] {
        let rate = factor * critical;
        let report = steady(&format!(
            "format = 'sarrus/1'\nrun.t_end = 1\n\
             bodies.disc = {{ at = [0, 0, {r}], mass = {m}, inertia = [{A}, {C}, {A}] }}\n\
             constraints.roll = {{ kind = 'rolling_disc', body = 'disc', radius = {r}, axis = [0, 1, 0] }}\n\
             initial = {{ disc.omega = [0, {rate}, 0], disc.vx = {} }}\n",
            rate * r
        ));
        let square = (C * (C + m * r * r) * rate * rate / A - m * G * r) / (A + m * r * r);
        assert_eq!((report.positions, report.speeds, report.stable), (5, 3, Some(factor > 1.0)));
        if factor > 1.0 {
            close(frequencies(&report)[0], square.sqrt(), 1e-11);
        } else {
            let growth = report.modes.iter().fold(0.0_f64, |a, m| a.max(m.eigenvalue[0]));
            close(growth, (-square).sqrt(), 1e-11);
        }
    }
}

/// In space without forces: a body of revolution is seen from outside and nutates at I₃ ω/I₁; any other about its intermediate axis
/// grows away at ω √((I₂ - I₁)(I₃ - I₂)/(I₁ I₃)), and swings about the others.
#[test]
fn a_free_body_spins_stably_about_its_outer_axes() {
    let body = |inertia: [f64; 3], omega: [f64; 3]| {
        steady(&format!(
            "format = 'sarrus/1'\ngravity = [0, 0, 0]\nrun.t_end = 1\n\
             bodies.b = {{ at = [1, 2, 3], mass = 5, inertia = {inertia:?} }}\ninitial.b.omega = {omega:?}\n"
        ))
    };
    let round = body([0.4, 0.4, 0.6], [0.0, 0.0, 3.0]);
    assert_eq!((zeros(&round), round.stable), (10, Some(true)));
    close(frequencies(&round)[0], 3.0 * 0.6 / 0.4, 1e-12);
    assert_eq!(round.motion.unwrap().omega, [0.0; 3]);

    let I = [0.3, 0.4, 0.6];
    for axis in 0..3 {
        let mut omega = [0.0; 3];
        omega[axis] = 2.0;
        let found = body(I, omega);
        let (a, b, c) = (I[axis], I[(axis + 1) % 3], I[(axis + 2) % 3]);
        let square = 4.0 * (a - b) * (a - c) / (b * c);
        assert_eq!(found.stable, Some(square > 0.0), "{axis}");
        if square > 0.0 {
            assert!(frequencies(&found).iter().any(|f| (f - square.sqrt()).abs() < 1e-9), "{found:?}");
        } else {
            let growth = found.modes.iter().fold(0.0_f64, |a, m| a.max(m.eigenvalue[0]));
            close(growth, (-square).sqrt(), 1e-9);
        }
    }
}

/// A pendulum with its mass at l and its inertia i, at the radius R of a disc that rotates at Ω, in the plane: ω² = Ω² R m l/(m l² + i).
#[test]
fn a_centrifugal_pendulum_follows_the_order_of_its_lengths() {
    let report = steady(
        "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\nrun.t_end = 1\n\
         bodies.disc = { at = [0, 0], mass = 2, inertia = 0.3 }\n\
         bodies.ball = { at = [0.48, 0.36], mass = 0.2, inertia = 5e-4 }\n\
         joints.O = { kind = 'revolute', bodies = ['ground', 'disc'], at = [0, 0] }\n\
         joints.P = { kind = 'revolute', bodies = ['disc', 'ball'], at = [0.4, 0.3] }\n\
         drivers.D = { kind = 'joint', joint = 'O', angle = '7*t' }\ninitial.P.rate = 0\n",
    );
    assert_eq!((report.modes.len(), report.stable), (1, Some(true)));
    close(frequencies(&report)[0], 7.0 * f64::sqrt(0.5 * 0.2 * 0.1 / (0.2 * 0.01 + 5e-4)), 1e-12);
}

/// Two halves that are fixed together make a balanced rotor, though neither of them is: the carriage swings as if nothing turned. With
/// one of them heavier the coefficients change along the motion.
#[test]
fn a_rotor_of_two_halves_is_steady_only_if_it_is_balanced() {
    let rotor = |heavier: f64| {
        report(&format!(
            "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\nrun.t_end = 1\n\
             bodies.carriage = {{ at = [0, 0], mass = 3, inertia = 0.1 }}\n\
             bodies.a = {{ at = [0.2, 0], mass = 0.5, inertia = 0.01 }}\n\
             bodies.b = {{ at = [-0.2, 0], mass = {}, inertia = 0.01 }}\n\
             joints.slide = {{ kind = 'prismatic', bodies = ['ground', 'carriage'], axis = [1, 0], at = [0, 0], stiffness = 400 }}\n\
             joints.axle = {{ kind = 'revolute', bodies = ['carriage', 'a'], at = [0, 0] }}\n\
             joints.weld = {{ kind = 'fixed', bodies = ['a', 'b'], at = [0, 0] }}\n\
             initial = {{ axle.rate = 5, slide.speed = 0 }}\n",
            0.5 + heavier
        ))
    };
    let balanced = rotor(0.0);
    assert!(balanced.motion.as_ref().unwrap().residual < 1e-12, "{:?}", balanced.motion);
    assert_eq!((zeros(&balanced), balanced.stable), (2, Some(true)));
    close(frequencies(&balanced)[0], 10.0, 1e-12);

    let heavier = rotor(0.1);
    assert!(!heavier.motion.as_ref().unwrap().steady && heavier.stable.is_none());
    assert!(heavier.notes[0].contains("not steady") && heavier.notes[0].contains("mean little"));
}

/// At its lowest point a swinging pendulum has the velocity and acceleration of a rotation, but gravity is not the same all around.
#[test]
fn a_swing_through_the_lowest_point_is_not_steady() {
    let report = report(
        "format = 'sarrus/1'\nspace = 'planar'\nrun.t_end = 1\n\
         bodies.rod = { from = [0, 0], to = [0, -1], mass = 2 }\n\
         joints.O = { kind = 'revolute', bodies = ['ground', 'rod'], at = [0, 0] }\ninitial.O.rate = 3\n",
    );
    let motion = report.motion.as_ref().unwrap();
    assert!(!motion.steady && motion.residual > 0.05, "{motion:?}");
    assert_eq!(report.stable, None);
    assert!(report.notes[0].contains("eigenvalues mean little"), "{:?}", report.notes);
}

/// The benchmark bicycle of Meijaard, Papadopoulos, Ruina and Schwab (2007), z up.
fn bicycle(v: f64) -> String {
    format!(
        "format = 'sarrus/1'\nrun.t_end = 1\n\
         bodies.rear = {{ at = [0, 0, 0.3], mass = 2, inertia = [0.0603, 0.12, 0.0603] }}\n\
         bodies.front = {{ at = [1.02, 0, 0.35], mass = 3, inertia = [0.1405, 0.28, 0.1405] }}\n\
         bodies.frame = {{ com = [0.3, 0, 0.9], mass = 85, inertia = [[9.2, 0, -2.4], [0, 11, 0], [-2.4, 0, 2.8]] }}\n\
         bodies.fork = {{ com = [0.9, 0, 0.7], mass = 4, \
         inertia = [[0.05892, 0, 0.00756], [0, 0.06, 0], [0.00756, 0, 0.00708]] }}\n\
         joints.hub_r = {{ kind = 'revolute', bodies = ['frame', 'rear'], at = [0, 0, 0.3], axis = [0, 1, 0] }}\n\
         joints.hub_f = {{ kind = 'revolute', bodies = ['fork', 'front'], at = [1.02, 0, 0.35], axis = [0, 1, 0] }}\n\
         joints.head = {{ kind = 'revolute', bodies = ['frame', 'fork'], at = [1.1, 0, 0], axis = ['-sin(18 deg)', 0, 'cos(18 deg)'] }}\n\
         constraints.roll_r = {{ kind = 'rolling_disc', body = 'rear', radius = 0.3, axis = [0, 1, 0] }}\n\
         constraints.roll_f = {{ kind = 'rolling_disc', body = 'front', radius = 0.35, axis = [0, 1, 0] }}\n\
         initial = {{ frame.vx = {v}, frame.wx = 0, head.rate = 0 }}\n"
    )
}

/// Table 2 of the paper, by forward speed: weave (real, imaginary), capsize, caster.
const PUBLISHED: [[f64; 4]; 10] = [
    [3.526_961_709_900_70, 0.807_740_275_199_30, -3.134_231_250_665_78, -7.110_080_146_374_42],
    [2.682_345_175_127_45, 1.680_662_965_906_75, -3.071_586_456_415_14, -8.673_879_848_317_35],
    [1.706_756_056_639_75, 2.315_824_473_843_25, -2.633_661_372_536_67, -10.351_014_672_459_2],
    [0.413_253_315_211_25, 3.079_108_186_032_06, -1.429_444_273_613_26, -12.158_614_265_764_47],
    [-0.775_341_882_195_85, 4.464_867_713_788_23, -0.322_866_429_004_09, -14.078_389_692_798_22],
    [-1.526_444_865_841_42, 5.876_730_605_987_09, -0.004_066_900_769_70, -16.085_371_230_980_26],
    [-2.138_756_442_583_62, 7.195_259_133_298_05, 0.102_681_705_747_66, -18.157_884_661_252_62],
    [-2.693_486_835_810_97, 8.460_379_713_969_31, 0.143_278_797_657_13, -20.279_408_943_945_69],
    [-3.216_754_022_524_85, 9.693_773_515_317_91, 0.157_901_840_309_17, -22.437_885_590_408_58],
    [-3.720_168_404_372_87, 10.906_811_394_762_87, 0.161_053_386_531_72, -24.624_596_350_174_04],
];

#[test]
fn the_benchmark_bicycle_has_its_published_eigenvalues_at_all_speeds() {
    for (i, &[weave, swing, capsize, caster]) in PUBLISHED.iter().enumerate() {
        let v = (i + 1) as f64;
        let report = steady(&bicycle(v));
        assert_eq!((report.positions, report.speeds, zeros(&report)), (7, 3, 6), "{v}: {:?}", report.modes);
        assert_eq!(report.stable, Some((4.5..6.5).contains(&v)), "{v}");
        let found = |expected: [f64; 2]| {
            let off = |m: &sarrus::analysis::Mode| {
                (m.eigenvalue[0] - expected[0]).hypot(m.eigenvalue[1] - expected[1])
            };
            let least = report.modes.iter().map(off).fold(f64::INFINITY, f64::min);
            assert!(least < 1e-11, "{v} m/s: {expected:?} missed by {least}: {:?}", report.modes);
        };
        found([weave, swing]);
        found([capsize, 0.0]);
        found([caster, 0.0]);
        let motion = report.motion.unwrap();
        assert_eq!((motion.omega, motion.spins.len()), ([0.0; 3], 2), "{motion:?}");
        close(motion.velocity[0], v, 1e-12);
    }
}

/// At rest it falls, and steers itself, at the published rates.
#[test]
fn the_benchmark_bicycle_at_rest_falls_as_published() {
    let report = report(&bicycle(0.0));
    assert_eq!((report.equilibrium, report.stable, report.motion.is_none()), (true, Some(false), true));
    let mut found: Vec<f64> =
        report.modes.iter().filter(|m| m.kind != ModeKind::Free).map(|m| m.eigenvalue[0]).collect();
    found.sort_by(f64::total_cmp);
    let published =
        [-5.530_943_717_653_93, -3.131_643_247_906_56, 3.131_643_247_906_56, 5.530_943_717_653_93];
    assert_eq!(found.len(), 4, "{:?}", report.modes);
    found.iter().zip(published).for_each(|(found, published)| close(*found, published, 1e-12));
}
