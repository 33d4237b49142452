//! Modes whose numbers are far apart, and what takes part in them: friction of joints, armature, controllers, fields on modal bodies.

use sarrus::analysis::{ModeKind, ModesReport, OperatingPoint, equilibrium, modes};
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
    modes(&model, &system, OperatingPoint::Equilibrium).unwrap()
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
    let block = |across: f64, EA: f64, mesh: &str| {
        let section = format!(
            "kind = 'given', EA = {EA:?}, GA = {EA:?}, EI = [{across:?}, 1.0], rhoA = 1, rhoI = 1e-4, GJ = 1.0"
        );
        let found = clamped(&section, mesh);
        assert_eq!(found.stable, Some(true), "{across} {EA}: {:?}", found.notes);
        swings(&found)
    };
    let soft = block(1e4, 1e7, "elements = 6, order = 4");
    close(soft[0], 3.516, 5e-4);
    for (across, EA, tolerance) in [(1e4, 1e9, 1e-5), (1e6, 1e9, 1e-5), (1e8, 1e9, 1e-5), (1e4, 1e11, 1e-3)] {
        let found = block(across, EA, "elements = 6, order = 4");
        (0..3).for_each(|i| close(found[i], soft[i], tolerance));
    }
    close(block(1e6, 1e9, "elements = 32")[0], soft[0], 1e-3);
}

/// Nothing drives a beam on a hinge without weight, however stiff it is: its forces at rest are rounding. Free and free, it bends at
/// β² = 4.7300² without rounding of what it may do as a whole.
#[test]
fn a_beam_that_nothing_drives_is_free() {
    for EA in [1e5, 1e9] {
        let beam = |joint: &str, about: OperatingPoint| {
            let (model, system) = load(&format!(
                "gravity = [0, 0, 0]\nsections.s = {{ kind = 'given', EA = {EA:?}, GA = {EA:?}, EI = [1e4, 1], rhoA = 1, rhoI = 1e-4, GJ = 1 }}\n\
                 flexible.b = {{ kind = 'beam', from = [0, 0, 0], to = [1, 0, 0], section = 's', elements = 6, order = 2 }}\n{joint}\n"
            ));
            let found = modes(&model, &system, about).unwrap();
            let free = found.modes.iter().filter(|m| m.kind == ModeKind::Free).count();
            assert_eq!(found.stable, Some(true), "{EA}: {:?}", found.notes);
            (free, swings(&found)[0])
        };
        let hinge = "joints.c = { kind = 'revolute', bodies = ['ground', 'b.start'], at = [0, 0, 0], axis = [0, 0, 1] }";
        let (free, first) = beam(hinge, OperatingPoint::Equilibrium);
        assert_eq!(free, 1);
        close(first, 3.926_602_f64.powi(2), 2e-3);
        let (free, first) = beam("", OperatingPoint::Start);
        assert_eq!(free, 6);
        close(first, 4.730_041_f64.powi(2), 3e-3);
    }
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

/// A cantilever of 16 beams, or the same as a modal body, with `more` in the model.
fn cantilever(space: &str, modal: bool, more: &str) -> String {
    let (from, to, origin, still) = match space {
        "planar" => ("[0, 0]", "[1, 0]", "[0, 0]", "[0, 0]"),
        _ => ("[0, 0, 0]", "[1, 0, 0]", "[0, 0, 0]", "[0, 0, 0]"),
    };
    let EI = "EA = 1e4, GA = 1e4, EI = 1, rhoA = 1, rhoI = 1e-3";
    let section = if space == "planar" { EI.to_owned() } else { format!("{EI}, GJ = 1") };
    let (body, start) = if modal {
        (
            "b = { kind = 'modal', members = ['mesh'], interface = ['mesh.start'], show = ['mesh.end'], modes = 8 }\n",
            "b.start",
        )
    } else {
        ("", "mesh.start")
    };
    let gravity = if more.contains("gravity =") { String::new() } else { format!("gravity = {still}\n") };
    format!(
        "format = 'sarrus/1'\nspace = '{space}'\nrun.t_end = 0.3\n{gravity}{more}\n\
         sections.s = {{ kind = 'given', {section} }}\n[flexible]\n\
         mesh = {{ kind = 'beam', from = {from}, to = {to}, section = 's', elements = 16 }}\n{body}\
         [joints]\nc = {{ kind = 'fixed', bodies = ['ground', '{start}'], at = {origin} }}\n"
    )
}

/// A uniform field is gravity, on all of the mass: at rest, in modes, and along a run.
#[test]
fn a_uniform_field_on_a_modal_body_is_gravity() {
    for (space, gravity, field) in [
        ("spatial", "gravity = [0, 0, -0.1]", "force = [0, 0, '-0.1*mass']"),
        ("spatial", "gravity = [0.3, 0.2, -0.1]", "force = ['0.3*mass', '0.2*mass', '-0.1*mass']"),
        ("planar", "gravity = [0.05, -0.1]", "force = ['0.05*mass', '-0.1*mass']"),
    ] {
        let with_field = format!("forces.g = {{ kind = 'field', bodies = ['b'], {field} }}");
        let at_rest = |more: &str| {
            let (model, system) = load(&cantilever(space, true, more));
            (
                equilibrium(&model, &system).unwrap().report.values,
                modes(&model, &system, OperatingPoint::Equilibrium).unwrap(),
            )
        };
        let ((a, modes_a), (b, modes_b)) = (at_rest(gravity), at_rest(&with_field));
        let largest = a.values().fold(0.0_f64, |most, x| most.max(x.abs()));
        let same = |name: &str| name.starts_with("b.") || name.starts_with("c.");
        assert!(a.keys().filter(|name| same(name)).count() > 10);
        for (name, x) in a.iter().filter(|(name, _)| same(name)) {
            assert!((x - b[name]).abs() <= 1e-9 * largest, "{space} {name}: {x} {}", b[name]);
        }
        for (a, b) in swings(&modes_a).iter().zip(swings(&modes_b)) {
            close(b, *a, 1e-7);
        }
        let end = |more: &str| {
            let (model, system) = load(&cantilever(space, true, more));
            simulate(&model, &system, &Simulate::default(), &mut ()).unwrap()
        };
        let (a, b) = (end(gravity), end(&with_field));
        let [a, b] = [&a, &b].map(|run| {
            let y = if space == "planar" { "b.mesh.end.y" } else { "b.mesh.end.z" };
            run.trajectory.column(y).unwrap().last().unwrap()
        });
        assert!(a.abs() > 1e-3 && (a - b).abs() < 1e-6 * a.abs(), "{space}: {a} {b}");
    }
}

/// What is uniform over 1 m weighs ρA g l²/2 at the clamp; the tip sinks by ρA g l⁴/8EI and what shear adds.
#[test]
fn a_field_on_a_modal_body_loads_its_clamp_and_bends_it() {
    let text = cantilever(
        "spatial",
        true,
        "forces.g = { kind = 'field', bodies = ['b'], force = [0, 0, '-0.1*mass'] }",
    );
    let (model, system) = load(&text);
    let values = equilibrium(&model, &system).unwrap().report.values;
    close(values["c.ty"], -0.05, 1e-4);
    close(values["b.mesh.end.z"], -0.0125, 1e-3);
}

/// In a centrifugal field and in one that grows with the square of the distance modal bodies stiffen and bend as their mesh of beams does.
#[test]
fn a_field_that_depends_on_the_place_acts_on_a_modal_body_as_on_its_mesh() {
    let field = |bodies: &str, force: &str| {
        format!("forces.g = {{ kind = 'field', bodies = ['{bodies}'], force = {force} }}")
    };
    for (space, force, count) in [
        ("spatial", "['9*mass*x', '9*mass*y', 0]", 2),
        ("spatial", "['9*mass*x - 2*mass*vy', '9*mass*y + 2*mass*vx', '-mass*vz']", 2),
        ("planar", "['9*mass*x', '9*mass*y']", 1),
    ] {
        let of = |modal: bool, bodies: &str| {
            let found = report(&cantilever(space, modal, &field(bodies, force)));
            assert_eq!(found.stable, Some(true), "{:?}", found.notes);
            let mut all: Vec<[f64; 2]> = found
                .modes
                .iter()
                .filter(|m| m.kind == ModeKind::Oscillation)
                .map(|m| m.eigenvalue)
                .collect();
            all.truncate(count);
            all
        };
        for (a, b) in of(true, "b").iter().zip(of(false, "mesh")) {
            assert!((a[0] - b[0]).hypot(a[1] - b[1]) < 1e-3 * b[1], "{space} {force}: {a:?} {b:?}");
        }
    }
    let tip = |modal: bool, bodies: &str, name: &str| {
        let (model, system) =
            load(&cantilever("spatial", modal, &field(bodies, "[0, 0, '0.05*mass*x^2*(1 + y^2)']")));
        equilibrium(&model, &system).unwrap().report.values[name]
    };
    close(tip(true, "b", "b.mesh.end.z"), tip(false, "mesh", "mesh.node16.z"), 2e-3);
}

#[test]
fn a_field_on_a_node_of_a_modal_body_is_refused_by_name() {
    let text = cantilever(
        "spatial",
        true,
        "forces.g = { kind = 'field', bodies = ['b.start'], force = [0, 0, 'mass'] }",
    );
    let model = load_str("test.toml", &text, &LoadOptions::default()).unwrap();
    let error = compile(&model).err().unwrap()[0].message.clone();
    assert!(error.contains("`g`") && error.contains("modal body `b`"), "{error}");
}

/// A mass of 2 kg on a slide without friction, moved by `effort` with these controllers.
fn controlled_slide(space: &str, controllers: &str, effort: &str) -> String {
    let (still, at, axis, inertia) = match space {
        "planar" => ("[0, 0]", "[0, 0]", "[1, 0]", "1"),
        _ => ("[0, 0, 0]", "[0, 0, 0]", "[1, 0, 0]", "[1, 1, 1]"),
    };
    format!(
        "space = '{space}'\ngravity = {still}\nbodies.m = {{ at = {at}, mass = 2, inertia = {inertia} }}\n\
         joints.j = {{ kind = 'prismatic', bodies = ['ground', 'm'], at = {at}, axis = {axis} }}\n\
         forces.f = {{ kind = 'actuator', joint = 'j', force = '{effort}' }}\n{controllers}\n"
    )
}

/// |p(s)| of a polynomial, highest power first, relative to its terms.
fn misses(polynomial: &[f64], [re, im]: [f64; 2]) -> f64 {
    let (mut sum, mut terms) = ([0.0, 0.0], 0.0_f64);
    for a in polynomial {
        sum = [sum[0] * re - sum[1] * im + a, sum[0] * im + sum[1] * re];
        terms = terms * re.hypot(im) + a.abs();
    }
    f64::hypot(sum[0], sum[1]) / terms
}

/// Characteristic polynomials: m s³ + kd s² + kp s + ki of a PID, with its derivative filtered by τ, of a filter before the effort, and of a
/// speed loop within a position loop.
#[test]
fn states_of_controllers_take_part_in_modes() {
    let pid = |more: &str| format!("controllers.c = {{ kind = 'pid', input = '-j.position', {more} }}");
    let tau = 0.05;
    let filtered = [2.0 * tau, 2.0, 50.0 * tau + 8.0, 50.0 + 20.0 * tau, 20.0];
    let ode = "controllers.c = { kind = 'ode', states = { a = 0, b = 0 }, \
               rates = { a = 'b', b = '-4*a - 2*b - 3*j.position - 5*j.speed' }, outputs = { out = 'a' } }";
    let loops = "controllers = { o = { kind = 'ode', outputs = { u = '-2*j.position' } }, \
                 c = { kind = 'pid', input = 'o.u - j.speed', kp = 12, ki = 3 } }";
    let cases: [(String, &[f64], usize); 6] = [
        (pid("kp = 50, ki = 20, kd = 8"), &[2.0, 8.0, 50.0, 20.0], 1),
        (pid("kp = 0, ki = 1, kd = 5"), &[2.0, 5.0, 0.0, 1.0], 1),
        (pid("kp = 50, kd = 8, limits = [-9, 9]"), &[2.0, 8.0, 50.0], 0),
        (pid("kp = 50, ki = 20, kd = 8, filter = 0.05"), &filtered, 2),
        (ode.into(), &[2.0, 4.0, 8.0, 5.0, 3.0], 2),
        (loops.into(), &[2.0, 12.0, 24.0 + 3.0, 6.0], 1),
    ];
    for space in ["planar", "spatial"] {
        for (controllers, polynomial, states) in &cases {
            let found = report(&controlled_slide(space, controllers, "c.out"));
            assert!(found.equilibrium && found.notes.is_empty(), "{controllers}: {:?}", found.notes);
            assert_eq!(found.states.len(), *states, "{controllers}: {:?}", found.states);
            let roots: usize = found.modes.iter().map(|m| if m.eigenvalue[1] > 0.0 { 2 } else { 1 }).sum();
            assert_eq!(roots, polynomial.len() - 1, "{controllers}");
            for mode in &found.modes {
                assert!(misses(polynomial, mode.eigenvalue) < 1e-12, "{controllers}: {:?}", mode.eigenvalue);
            }
            let grows = found.modes.iter().any(|m| m.eigenvalue[0] > 1e-9);
            assert_eq!(found.stable, Some(!grows), "{controllers}");
        }
    }
}

#[test]
fn what_a_sampled_controller_does_is_said_to_be_left_out() {
    let controllers =
        "controllers.hold = { kind = 'pid', input = '-j.position', kp = 50, kd = 8, period = 0.01 }";
    let found = report(&controlled_slide("planar", controllers, "hold.out"));
    assert_eq!(found.stable, None);
    assert!(found.notes.iter().any(|n| n.contains("sampled") && n.contains("hold")), "{:?}", found.notes);
    // one that nothing listens to is no matter
    let alone = report(&controlled_slide("planar", controllers, "-8*j.position"));
    assert_eq!((alone.stable, alone.notes.len()), (Some(true), 0), "{:?}", alone.notes);
}

/// An integral that continues rising is no rest, though nothing moves at this instant.
#[test]
fn a_controller_whose_state_changes_is_no_rest() {
    let controllers = "controllers.c = { kind = 'pid', input = '0.3 - j.position', ki = 20 }\n\
                       forces.k = { kind = 'spring', joint = 'j', stiffness = 10 }";
    let text = controlled_slide("planar", controllers, "c.out");
    let (model, system) = load(&text);
    let found = modes(&model, &system, OperatingPoint::Start).unwrap();
    assert_eq!((found.equilibrium, found.stable), (false, None));
    assert!(found.notes.iter().any(|n| n.contains("c.integral")), "{:?}", found.notes);
    // at rest the integral holds the spring: 2 s³ + 10 s + 20 has roots to the right
    let at_rest = report(&text);
    assert_eq!((at_rest.equilibrium, at_rest.stable), (true, Some(false)), "{:?}", at_rest.notes);
}

#[test]
fn rigid_limits_and_events_are_said_to_be_left_out() {
    let found = report(
        "space = 'planar'\nbodies.a = { from = [0, 0], to = [0, -1], mass = 2 }\n\
         joints.j = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0], reads = 0, limits = [-0.5, 0.5] }\n",
    );
    assert!(found.notes.iter().any(|n| n.contains("limits") && n.contains("j.")), "{:?}", found.notes);
}

/// Beck's column: a load that turns with the end lets it flutter above 20.05 EI/l², whatever its stiffness along. At 10 EI/l² its first
/// frequencies are 5.18 and 18.6 √(EI/ρA)/l².
#[test]
fn a_follower_load_lets_a_column_flutter_beside_any_stiffness() {
    for EA in [1e5, 1e7, 1e9] {
        let column = |load: f64| {
            report(&format!(
                "space = 'planar'\ngravity = [0, 0]\n\
                 sections.s = {{ kind = 'given', EA = {EA:?}, GA = {EA:?}, EI = 1, rhoA = 1, rhoI = 1e-4 }}\n\
                 flexible.b = {{ kind = 'beam', from = [0, 0], to = [1, 0], section = 's', elements = 6, order = 3 }}\n\
                 joints.c = {{ kind = 'fixed', bodies = ['ground', 'b.start'], at = [0, 0] }}\n\
                 forces.p = {{ kind = 'force', body = 'b.end', at = [1, 0], force_on = [{load:?}, 0] }}\n"
            ))
        };
        let below = column(-10.0);
        assert_eq!(below.stable, Some(true), "{EA}: {:?}", below.notes);
        close(swings(&below)[0], 5.18, 2e-3);
        close(swings(&below)[1], 18.6, 4e-3);
        assert_eq!((column(-19.7).stable, column(-20.4).stable), (Some(true), Some(false)), "{EA}");
    }
}

/// A rotor whose bearing is 10¹⁵ times as stiff along as across: I s² ± i H s + k = 0 of its tilts, beside a frequency of 10⁶ 1/s.
#[test]
fn a_spinning_rotor_keeps_its_slow_precession_beside_stiff_bearings() {
    for (across, tilt, along, omega) in
        [(100.0, 5.0, 300.0, 50.0), (1e-3, 1e-2, 1e12, 50.0), (1e2, 10.0, 1e10, 500.0)]
    {
        let text = format!(
            "gravity = [0, 0, 0]\nrun.t_end = 1\nbodies.h = {{ at = [0, 0, 0], mass = 0.1, inertia = [1e-3, 1e-3, 1e-3] }}\n\
             bodies.d = {{ at = [0, 0, 0], mass = 1, inertia = [0.02, 0.01, 0.01] }}\n\
             joints.r = {{ kind = 'revolute', bodies = ['h', 'd'], at = [0, 0, 0], axis = [1, 0, 0] }}\n\
             forces.k = {{ kind = 'bushing', bodies = ['ground', 'h'], at = [0, 0, 0], axis = [1, 0, 0], \
             stiffness = [{across:?}, {across:?}, {along:?}, {tilt:?}, {tilt:?}, 2] }}\n\
             initial = {{ h.omega = [0, 0, 0], d.omega = [{omega:?}, 0, 0] }}\n"
        );
        let (model, system) = load(&text);
        let found = modes(&model, &system, OperatingPoint::Start).unwrap();
        assert_eq!(found.stable, Some(true), "{:?}", found.notes);
        let (I, H) = (0.011, 0.02 * omega);
        let root = f64::sqrt(H * H + 4.0 * I * tilt);
        let expected =
            [(root - H) / (2.0 * I), (root + H) / (2.0 * I), f64::sqrt(across / 1.1), f64::sqrt(along / 1.1)];
        for expected in expected {
            assert!(
                swings(&found).iter().any(|x| (x - expected).abs() < 1e-9 * expected),
                "{expected}: {:?}",
                swings(&found)
            );
        }
    }
}
