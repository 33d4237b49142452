//! Modes whose numbers are far apart, and what takes part in them: friction of joints, armature, controllers, fields on modal bodies.

use sarrus::analysis::{About, ModeKind, ModesReport, modes};
use sarrus::prelude::*;
use std::sync::Arc;

const G: f64 = 9.81;

fn load(text: &str) -> (Model, Arc<System>) {
    let text =
        if text.contains("format =") { text.to_owned() } else { format!("format = 'sarrus/1'\n{text}") };
    let model =
        load_str("test.toml", &text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

fn report(text: &str) -> ModesReport {
    let (model, system) = load(text);
    modes(&model, &system, About::Equilibrium).unwrap()
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} is not {expected}");
}

/// Imaginary parts of all oscillations, slowest first.
fn swings(report: &ModesReport) -> Vec<f64> {
    report.modes.iter().filter(|m| m.kind == ModeKind::Oscillation).map(|m| m.eigenvalue[1]).collect()
}

/// Real parts of the roots that do not swing, in the order of their sizes.
fn real_roots(report: &ModesReport) -> Vec<f64> {
    report.modes.iter().filter(|m| m.kind == ModeKind::Decay).map(|m| m.eigenvalue[0]).collect()
}

fn clamped(section: &str, member: &str) -> ModesReport {
    report(&format!(
        "gravity = [0, 0, 0]\nsections.s = {{ {section} }}\n\
         flexible.b = {{ kind = 'beam', from = [0, 0, 0], to = [1, 0, 0], section = 's', {member} }}\n\
         joints.c = {{ kind = 'fixed', bodies = ['ground', 'b.start'], at = [0, 0, 0] }}\n"
    ))
}

/// ω_i = β_i² √(EI/ρA), β = 1.8751, 4.6941, 7.8548. The fastest mode, sections that turn, has 10⁸ times the first frequency. Six elements of
/// the fourth order have these to 1e-4, 32 of the first to 1 %.
#[test]
fn an_unloaded_tape_swings_and_does_not_grow() {
    let (young, density): (f64, f64) = (2.1e11, 7850.0);
    for (thickness, mesh, tolerance) in [
        (2e-4, "elements = 6, order = 4", 3e-4),
        (1e-4, "elements = 6, order = 4", 3e-4),
        (1e-4, "elements = 32", 1e-2),
    ] {
        let material = "material = 'st'";
        let section = format!("kind = 'rectangle', width = {thickness:?}, height = 1e-2");
        let text = format!(
            "gravity = [0, 0, 0]\nmaterials.st = {{ density = {density:?}, young = {young:?}, poisson = 0.3 }}\nsections.s = {{ {section} }}\n\
             flexible.b = {{ kind = 'beam', from = [0, 0, 0], to = [1, 0, 0], section = 's', {material}, {mesh} }}\n\
             joints.c = {{ kind = 'fixed', bodies = ['ground', 'b.start'], at = [0, 0, 0] }}\n"
        );
        let found = report(&text);
        assert_eq!((found.equilibrium, found.stable), (true, Some(true)), "{:?}", found.notes);
        assert!(found.notes.is_empty(), "{:?}", found.notes);
        let root = (young * thickness * thickness / 12.0 / density).sqrt();
        for (omega, beta) in swings(&found).iter().zip([1.875_104_f64, 4.694_091, 7.854_757]) {
            close(*omega, beta * beta * root, tolerance);
        }
    }
}

/// The first frequency of a strip does not depend on how stiff it is to stretch and to bend the other way; sections that turn take
/// ρI ω² of its stiffness, which is 1e-4 of it. Rounding of EA = 10¹¹ is 10⁻⁴ of ω² in entries of K.
#[test]
fn stiffness_across_does_not_change_the_slow_modes_of_a_strip() {
    let strip = |across: f64, EA: f64, mesh: &str| {
        let section = format!(
            "kind = 'given', EA = {EA:?}, GA = {EA:?}, EI = [{across:?}, 1.0], rhoA = 1, rhoI = 1e-4, GJ = 1.0"
        );
        let found = clamped(&section, mesh);
        assert_eq!(found.stable, Some(true), "{across} {EA}: {:?}", found.notes);
        swings(&found)
    };
    let soft = strip(1e4, 1e7, "elements = 6, order = 4");
    close(soft[0], 3.516, 5e-4);
    for (across, EA, tolerance) in [(1e4, 1e9, 1e-5), (1e6, 1e9, 1e-5), (1e8, 1e9, 1e-5), (1e4, 1e11, 1e-3)] {
        let found = strip(across, EA, "elements = 6, order = 4");
        (0..3).for_each(|i| close(found[i], soft[i], tolerance));
    }
    close(strip(1e6, 1e9, "elements = 32")[0], soft[0], 1e-3);
}

/// Masses in a row along x, the first held by k₁, each tied to the last by the next: eigenvalues of the tridiagonal matrix from its
/// determinant, by bisection.
#[test]
fn springs_from_a_thousandth_to_a_billion_keep_their_frequencies() {
    for (springs, masses) in [
        ([1e-3, 1e9, 1e3], [1.0, 2.0, 3.0]),
        ([1e9, 1e-3, 1e8], [1.0, 1.0, 1.0]),
        ([1e12, 1e-3, 1.0], [1e-6, 2.0, 1e3]),
    ] {
        let mut text = "space = 'planar'\ngravity = [0, 0]\n".to_owned();
        for i in 0..3 {
            let before = if i == 0 { "ground".to_owned() } else { format!("m{}", i - 1) };
            let (x, mass, k) = (i + 1, masses[i], springs[i]);
            text += &format!(
                "bodies.m{i} = {{ at = [{x}, 0], mass = {mass:?}, inertia = 1.0 }}\n\
                 joints.j{i} = {{ kind = 'prismatic', bodies = ['ground', 'm{i}'], axis = [1, 0], at = [{x}, 0] }}\n\
                 forces.k{i} = {{ kind = 'spring', bodies = ['{before}', 'm{i}'], ends = [[{}, 0], [{x}, 0]], stiffness = {k:?} }}\n",
                x - 1
            );
        }
        let found = report(&text);
        assert_eq!(found.stable, Some(true), "{:?}", found.notes);
        let omegas = swings(&found);
        assert_eq!(omegas.len(), 3);
        // det(K - λ M) by its recursion, relative to the sizes of its factors
        let count_below = |lambda: f64| {
            let (mut last, mut below) = (f64::INFINITY, 0);
            for i in 0..3 {
                let next = springs.get(i + 1).copied().unwrap_or(0.0);
                let pivot = springs[i] * (1.0 - springs[i] / last * f64::from(u8::from(i > 0))) + next
                    - lambda * masses[i];
                below += usize::from(pivot < 0.0);
                last = pivot;
            }
            below
        };
        for (i, omega) in omegas.iter().enumerate() {
            let square = omega * omega;
            assert_eq!(count_below(square * (1.0 - 2e-3)), i, "{springs:?}: {omegas:?}");
            assert_eq!(count_below(square * (1.0 + 2e-3)), i + 1, "{springs:?}: {omegas:?}");
        }
    }
}

/// At rest friction μ r |R| tanh(w/v_s) is a damper c = μ r m g/v_s.
#[test]
fn friction_that_depends_on_the_reaction_damps() {
    let (mass, mu, r, slip) = (2.0, 0.1, 0.05, 1e-3);
    let plane = report(
        "space = 'planar'\nbodies.a = { from = [0, 0], to = [0, -1], mass = 2 }\n\
         joints.j = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0], friction = { mu = 0.1, radius = 0.05 } }\n",
    );
    let (I, k, c) = (mass / 3.0, 0.5 * mass * G, mu * r * mass * G / slip);
    let root = (c * c - 4.0 * I * k).sqrt();
    let expected = [-2.0 * k / (c + root), -(c + root) / (2.0 * I)];
    for (found, expected) in real_roots(&plane).iter().zip(expected) {
        close(*found, expected, 1e-6);
    }
    assert_eq!(plane.stable, Some(true));

    // a ball rubs about all axes; a guide with half its length as radius bears m g and the couple of its arm
    let ball = report(
        "bodies.a = { at = [0, 0, -1], mass = 2, inertia = [0.1, 0.1, 0.2] }\n\
         joints.j = { kind = 'spherical', bodies = ['ground', 'a'], at = [0, 0, 0], friction = { mu = 0.1, radius = 0.05, slip_speed = 1 } }\n",
    );
    let c = mu * r * mass * G;
    for (inertia, stiffness, times) in [(2.1, mass * G, 2), (0.2, 0.0, 1)] {
        let close_to = |m: &&sarrus::analysis::Mode| {
            let [re, im] = m.eigenvalue;
            let (d, square) = (c / (2.0 * inertia), stiffness / inertia);
            let expected = if stiffness > 0.0 { [-d, (square - d * d).sqrt()] } else { [-2.0 * d, 0.0] };
            (re - expected[0]).hypot(im - expected[1]) < 1e-6
        };
        assert_eq!(ball.modes.iter().filter(close_to).count(), times, "{:?}", ball.modes);
    }

    let guide = report(
        "bodies.a = { at = [1, 0, 0], mass = 2, inertia = [1, 1, 1] }\n\
         joints.j = { kind = 'prismatic', bodies = ['ground', 'a'], at = [1, 0, 0], axis = [1, 0, 0], friction = { mu = 0.1, slip_speed = 0.5 } }\n\
         forces.k = { kind = 'spring', joint = 'j', stiffness = 8 }\n",
    );
    let c = mu * mass * G / 0.5;
    let mode = guide.modes.iter().find(|m| m.kind == ModeKind::Oscillation).unwrap();
    close(-2.0 * mode.eigenvalue[0] * mass, c, 1e-9);
    close(mode.eigenvalue[0].hypot(mode.eigenvalue[1]), 2.0, 1e-9);
}

/// ω² = m g l/(i + m l² + A); the rotor's energy is shown with the body that turns it.
#[test]
fn armature_takes_part_in_modes() {
    for (space, body, joint) in [
        ("planar", "at = [0, -0.5], inertia = 0.2", "at = [0, 0]"),
        ("spatial", "at = [0, 0, -0.5], inertia = [0.1, 0.2, 0.3]", "at = [0, 0, 0], axis = [0, 1, 0]"),
    ] {
        let found = report(&format!(
            "space = '{space}'\nbodies.arm = {{ {body}, mass = 2 }}\n\
             joints.A = {{ kind = 'revolute', bodies = ['ground', 'arm'], {joint}, armature = 0.5 }}\n"
        ));
        close(swings(&found)[0].powi(2), G / (0.2 + 0.5 + 0.5), 1e-9);
        close(found.modes[0].bodies[0].share, 1.0, 1e-12);
    }
}
