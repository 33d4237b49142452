//! Describes what the certificate says beside positions, velocities and energy.

use crate::common::{column, load};
use sarrus::prelude::*;

const BAR: &str = "space = 'planar'\n\
    bodies.bar = { from = [0, 0], to = [1.5, 0], mass = 1.0 }\n\
    joints.A = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0] }\n";

/// A run to its end, or to where an event stops it.
fn run_of(text: &str) -> Outcome {
    let (model, system) = load(text);
    let run = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap_or_else(|e| panic!("{e}"));
    assert_ne!(run.report.status, Status::Failed, "{}", run.report.reason);
    run
}

#[track_caller]
fn note<'a>(report: &'a Report, word: &str) -> &'a str {
    report.notes.iter().find(|n| n.contains(word)).unwrap_or_else(|| panic!("{word}: {:?}", report.notes))
}

/// √(0.5 - t) has no value in the rows after 0.5 s: 749 of those at 0.502, 0.504 … 2 s, and 750 of both measures of it together with
/// one that reads it.
#[test]
fn a_measure_that_is_not_a_number_is_counted_and_named() {
    let run = run_of(&format!(
        "{BAR}measures = {{ m = 'sqrt(0.5 - t)', n = '2*m + 1' }}\nrun.t_end = 2\noutput.every = 2e-3"
    ));
    let finite = run.report.certificate.finite;
    assert_eq!((finite.value, finite.passed, run.report.certificate.passed), (1500.0, false, false));
    let note = note(&run.report, "not certified");
    assert!(note.contains("`m` is NaN at t = 0.502: sqrt(-0.002"), "{note}");
}

/// Measures are checked where no rows are kept, too.
#[test]
fn a_run_that_is_not_recorded_looks_at_its_measures() {
    let run = |measure: &str| {
        let (model, system) = load(&format!("{BAR}measures = {{ {measure} }}\nrun.t_end = 2"));
        simulate(&model, &system, &Simulate { record: false, ..Simulate::default() }, &mut ()).unwrap().report
    };
    let report = run("m = 'sqrt(0.5 - t)', p = { kind = 'point', body = 'bar' }");
    assert!(!report.certificate.passed && report.certificate.finite.value > 10.0, "{:?}", report.certificate);
    note(&report, "`m` is NaN");
    // what needs reactions is not known here, which is no fault
    let report = run("m = 'sqrt(2.5 - t)', r = { kind = 'reaction', joint = 'A' }, s = '1/A.fy'");
    assert!(report.certificate.passed, "{:?}", report.notes);
}

#[test]
fn a_division_by_zero_is_named() {
    let run = run_of(&format!("{BAR}measures.m = '1/(t - 0.5)'\nrun.t_end = 1\noutput.every = 0.25"));
    assert_eq!(run.report.certificate.finite.value, 1.0);
    let note = note(&run.report, "not certified");
    assert!(note.contains("`m` is inf at t = 0.5: division by zero"), "{note}");
}

/// A condition that is undecided counted as false in silence; one that its other part decides is none.
#[test]
fn a_condition_that_is_not_a_number_is_not_certified() {
    let run =
        |when: &str| run_of(&format!("{BAR}events.e = {{ when = '{when}', stop = 'x' }}\nrun.t_end = 2"));
    for when in ["sqrt(0.5-t) > 0.9", "not sqrt(0.5 - t) < 2", "A.angle < 5 and sqrt(0.5 - t) > 0.9"] {
        let report = run(when).report;
        assert!(!report.certificate.passed && report.certificate.finite.value > 0.0, "{when}");
        let note = note(&report, "undecided");
        assert!(note.contains("event `e`") && note.contains("sqrt(-") && note.contains("t = 0.5"), "{note}");
    }
    for when in ["t < 0.5 and sqrt(0.5 - t) > 0.9", "t < 0.3 and log(0.5 - t) > 0"] {
        let report = run(when).report;
        assert!(
            report.certificate.passed && report.certificate.finite.value == 0.0,
            "{when}: {:?}",
            report.notes
        );
    }
    // it ends before
    let report = run("t > 0.4 or sqrt(0.5 - t) < 0.1").report;
    assert_eq!(report.certificate.finite.value, 0.0, "{:?}", report.notes);
}

/// What is documented to be infinite: the gap of a contact of which nothing is near, and what reads it.
#[test]
fn what_is_documented_to_have_no_number_is_no_fault() {
    let text = "space = 'planar'\ngravity = [0, 0]\nrun.t_end = 0.1\nmeasures.twice = '2*c.gap'\n\
        repeat.b.for = 'i = 1 to 40'\n\
        repeat.b.bodies.'b{i}' = { at = ['10*i', 0], mass = 1, shape = { kind = 'disc', radius = 0.1 } }\n\
        contacts.c = { between = ['*', '*'], law = { stiffness = 1e5 } }";
    let run = run_of(text);
    for column in ["c.gap", "twice"] {
        assert_eq!(run.trajectory.last(column), Some(f64::INFINITY), "{column}");
    }
    assert!(run.report.certificate.passed, "{:?}", run.report.certificate);
}

const WHEEL: &str = "gravity = [0, 0, 0]\n\
    bodies.wheel = { at = [0, 0, 0], mass = 1, inertia = [0.03, 0.03, 0.05] }\n\
    joints.J = { kind = 'revolute', bodies = ['ground', 'wheel'], at = [0, 0, 0] }\n";

#[test]
fn drivers_are_followed_over_many_turns() {
    for coordinates in ["absolute", "joint"] {
        let run = run_of(&format!(
            "{WHEEL}drivers.m = {{ kind = 'joint', joint = 'J', angle = '200*t + sin(t)' }}\n\
            run = {{ t_end = 1, coordinates = '{coordinates}' }}"
        ));
        let drivers = run.report.certificate.drivers.unwrap();
        assert!(drivers.passed && run.report.certificate.passed, "{drivers:?}");
        let off = run.trajectory.rows().map(|row| row[0]).zip(run.trajectory.column("J.angle").unwrap());
        let off = off.map(|(t, angle)| (angle - 200.0 * t - t.sin()).abs()).fold(0.0, f64::max);
        assert!(off < 1e-8, "{off}");
    }
    assert_eq!(run_of(&format!("{WHEEL}run.t_end = 0.1")).report.certificate.drivers, None);
}

/// Steps of ten radians: Φ is kept, and the angle that is counted loses a rotation and more in each.
#[test]
fn a_driven_angle_that_loses_turns_is_not_certified() {
    let run = run_of(&format!(
        "{WHEEL}drivers.m = {{ kind = 'joint', joint = 'J', angle = '200*t' }}\n\
        run = {{ t_end = 1, integrator = 'rk4', step = 0.05 }}\noutput.every = 0.05"
    ));
    let certificate = run.report.certificate.clone();
    let angle = run.trajectory.last("J.angle").unwrap();
    let drivers = certificate.drivers.unwrap();
    assert!((angle - 200.0).abs() > 6.0 && certificate.position.passed, "{angle}");
    assert!(!drivers.passed && (drivers.value - (angle - 200.0).abs()).abs() < 7.0, "{drivers:?} {angle}");
    note(&run.report, "driver `m`");
}

/// Without stabilization a driven rate of a four-bar drifts by the tolerance, and its driver is named.
#[test]
fn a_driver_that_is_not_followed_is_named() {
    let run = run_of(&format!(
        "{BAR}drivers.m = {{ kind = 'joint', joint = 'A', angle = 'sin(3*t)' }}\n\
        run = {{ t_end = 5, integrator = 'rk4', step = 0.05, stabilization = 'none' }}"
    ));
    let drivers = run.report.certificate.drivers.unwrap();
    assert!(!drivers.passed && drivers.value > 1e-6, "{drivers:?}");
    let note = note(&run.report, "driver `m`");
    assert!(note.contains("off its function"), "{note}");
}

/// A vertical load on the end of a beam that is held at its start, brought on slowly; `mesh` are its elements and their order.
fn cantilever(load: f64, mesh: &str) -> String {
    format!(
        "space = 'planar'\ngravity = [0, 0]\n\
        sections.s = {{ kind = 'given', EA = 2e4, GA = 1e6, EI = 100, rhoA = 1, rhoI = 1e-3 }}\n\
        flexible.bar = {{ kind = 'beam', from = [0, 0], to = [1, 0], section = 's', damping = 2e-2, {mesh} }}\n\
        joints.c = {{ kind = 'fixed', bodies = ['ground', 'bar.start'], at = [0, 0] }}\n\
        forces.f = {{ kind = 'force', body = 'bar.end', force = [0, '-{load}*min(t/2, 1)'] }}\n\
        run = {{ t_end = 3 }}\noutput.every = 0.05"
    )
}

fn rolled(mesh: &str) -> String {
    format!(
        "space = 'planar'\ngravity = [0, 0]\n\
        sections.s = {{ kind = 'given', EA = 2e4, GA = 1e4, EI = 100, rhoA = 1, rhoI = 1e-3 }}\n\
        flexible.bar = {{ kind = 'beam', from = [0, 0], to = [1, 0], section = 's', damping = 1e-3, {mesh} }}\n\
        joints.c = {{ kind = 'fixed', bodies = ['ground', 'bar.start'], at = [0, 0] }}\n\
        forces.f = {{ kind = 'torque', body = 'bar.end', torque = '314.159*min(t/2, 1)' }}\n\
        run = {{ t_end = 2.5 }}\noutput.every = 0.05"
    )
}

fn pendulum(width: f64, mesh: &str) -> String {
    format!(
        "space = 'planar'\nmaterials.rubber = {{ density = 1000, young = 5e6, poisson = 0.3 }}\n\
        sections.s = {{ kind = 'rectangle', width = {width}, height = {width} }}\n\
        flexible.bar = {{ kind = 'beam', from = [0, 0], to = [1, 0], section = 's', material = 'rubber', {mesh} }}\n\
        joints.c = {{ kind = 'revolute', bodies = ['ground', 'bar.start'], at = [0, 0] }}\n\
        run = {{ t_end = 0.6, rtol = 1e-6 }}\noutput.every = 0.01"
    )
}

fn blade(mesh: &str) -> String {
    format!(
        "space = 'planar'\ngravity = [0, 0]\n\
        sections.slim = {{ kind = 'given', EA = 2.8e7, GA = 1e7, EI = 1.4e4, rhoA = 1.2, rhoI = 6e-4 }}\n\
        flexible.bar = {{ kind = 'beam', from = [0, 0], to = [10, 0], section = 'slim', {mesh} }}\n\
        joints.root = {{ kind = 'revolute', bodies = ['ground', 'bar.start'], at = [0, 0] }}\n\
        drivers.spin = {{ kind = 'joint', joint = 'root', angle = 'if(t < 2, 0.75*t^2, 3*t - 3)' }}\n\
        run = {{ t_end = 3, rtol = 1e-4 }}\noutput.every = 0.05"
    )
}

/// Farthest that the end of a beam is from where a finer mesh has it.
fn apart(a: &Outcome, b: &Outcome) -> f64 {
    let tip = |run: &Outcome, axis: &str| {
        let names = run.trajectory.names();
        let own = |n: &&String| n.starts_with("bar.node") && n.ends_with(axis);
        column(&run.trajectory, names.iter().rfind(own).unwrap())
    };
    let [ax, ay, bx, by] = [tip(a, ".x"), tip(a, ".y"), tip(b, ".x"), tip(b, ".y")];
    ax.iter()
        .zip(&ay)
        .zip(bx.iter().zip(&by))
        .map(|((x, y), (u, v))| (x - u).hypot(y - v))
        .fold(0.0, f64::max)
}

/// The estimate against the error itself, from meshes of higher order. It is to be no less than a half of it, and of use: no more than five
/// times it, which the vibrations of the blade need.
#[test]
fn mesh_errors_are_estimated_within_a_small_factor() {
    type Case<'a> = (&'a str, &'a dyn Fn(&str) -> String, f64, &'a [u32]);
    let cases: [Case; 6] = [
        ("cantilever, small", &|mesh| cantilever(10.0, mesh), 1.0, &[4, 8]),
        ("cantilever, large", &|mesh| cantilever(200.0, mesh), 1.0, &[4, 8]),
        ("rolled up", &rolled, 1.0, &[4, 8]),
        ("thin pendulum", &|mesh| pendulum(0.02, mesh), 1.0, &[4]),
        ("thick pendulum", &|mesh| pendulum(0.06, mesh), 1.0, &[4]),
        ("blade", &blade, 10.0, &[4]),
    ];
    for (name, text, length, meshes) in cases {
        let fine = run_of(&text("elements = 4, order = 3"));
        for n in meshes {
            let run = run_of(&text(&format!("elements = {n}")));
            let (estimate, off) = (run.report.certificate.mesh.unwrap().value, apart(&run, &fine) / length);
            println!("{name}, {n} elements: estimated {estimate:.2e}, off by {off:.2e}");
            assert!(
                estimate > 0.5 * off && estimate < 5.0 * off,
                "{name}, {n}: {estimate:.3e} for {off:.3e}"
            );
        }
    }
}

/// The end of a rod of `n` segments at each row, `side` 1 or -1 from the middle of its last or first.
fn rod_end(run: &Outcome, segment: u32, n: u32, side: f64) -> Vec<[f64; 2]> {
    let of = |name: &str| column(&run.trajectory, &format!("bar.seg{segment}.{name}"));
    let half = side * 0.5 / f64::from(n);
    let poses = of("x").into_iter().zip(of("y")).zip(of("angle"));
    poses.map(|((x, y), a)| [x + half * a.cos(), y + half * a.sin()]).collect()
}

/// The first half segment of a rod that is held does not bend: 3/(2n) of the deflection. Which end is held does not matter, and a rod that
/// hangs from a hinge is off by less.
#[test]
fn segments_of_rods_have_their_mesh_error() {
    let rod = |text: String| text.replace("'beam'", "'segmented_rod'");
    let held_at_end = |mesh: &str| {
        cantilever(10.0, mesh)
            .replace("'bar.start'], at = [0, 0]", "'bar.end'], at = [1, 0]")
            .replace("body = 'bar.end'", "body = 'bar.start', at = [0, 0]")
    };
    let held =
        |mesh: &str| cantilever(10.0, mesh).replace("body = 'bar.end'", "body = 'bar.end', at = [1, 0]");
    let hung = |mesh: &str| pendulum(0.06, mesh);
    type Case<'a> = (&'a str, &'a dyn Fn(&str) -> String, bool, &'a [u32]);
    let cases: [Case; 3] = [
        ("held at its start", &held, true, &[5, 10]),
        ("held at its end", &held_at_end, false, &[10]),
        ("hung", &hung, true, &[5, 10]),
    ];
    for (name, text, at_end, counts) in cases {
        let ends = |n: u32| {
            let run = run_of(&rod(text(&format!("segments = {n}"))));
            let (segment, side) = if at_end { (n, 1.0) } else { (1, -1.0) };
            (rod_end(&run, segment, n, side), run)
        };
        // rods neither stretch nor shear: the one that hangs is compared with a finer one
        let fine = match name {
            "hung" => ends(40).0,
            _ => {
                let fine = run_of(&text("elements = 4, order = 3"));
                let node = if at_end { "bar.node12" } else { "bar.node0" };
                let [x, y] = ["x", "y"].map(|axis| column(&fine.trajectory, &format!("{node}.{axis}")));
                x.into_iter().zip(y).map(|(x, y)| [x, y]).collect()
            }
        };
        for &n in counts {
            let (ends, run) = ends(n);
            let off = ends.iter().zip(&fine).map(|(p, q)| (p[0] - q[0]).hypot(p[1] - q[1]));
            let (estimate, off) = (run.report.certificate.mesh.unwrap().value, off.fold(0.0, f64::max));
            println!("{name}, {n} segments: estimated {estimate:.2e}, off by {off:.2e}");
            // vibrations are bounded one by one
            let most = if name == "hung" { 10.0 } else { 2.0 };
            assert!(
                estimate > 0.5 * off && estimate < most * off,
                "{name}, {n}: {estimate:.3e} for {off:.3e}"
            );
        }
    }
    let coarse = run_of(&rod(cantilever(100.0, "segments = 10"))).report;
    assert!(
        !coarse.certificate.passed && !coarse.certificate.mesh.unwrap().passed,
        "{:?}",
        coarse.certificate
    );
    assert!(note(&coarse, "mesh of `bar`").contains("10 rigid segments"));
}

/// A thin rubber pendulum of four elements is some centimetres off after a second; what the note advises does.
#[test]
fn a_coarse_mesh_is_not_certified_and_the_note_says_what_would_do() {
    let coarse = run_of(&pendulum(0.02, "elements = 4")).report;
    assert!(
        !coarse.certificate.passed && !coarse.certificate.mesh.unwrap().passed,
        "{:?}",
        coarse.certificate
    );
    let note = note(&coarse, "mesh of `bar`");
    let words: Vec<&str> = note.split_whitespace().collect();
    let about = words.iter().position(|w| *w == "about").unwrap();
    let n: u32 = words[about + 1].parse().unwrap();
    assert!((5..60).contains(&n), "{note}");
    assert!(
        coarse.advice.iter().any(|a| a.starts_with("mesh: ") && a.contains(&n.to_string())),
        "{:?}",
        coarse.advice
    );
    let finer = run_of(&pendulum(0.02, "elements = 4, order = 3")).report;
    assert!(finer.certificate.mesh.unwrap().passed, "{:?}", finer.certificate.mesh);
    let rigid = run_of(&format!("{BAR}run.t_end = 0.1")).report;
    assert_eq!(rigid.certificate.mesh, None);
}

/// A beam at rest that was bent before the start counts what its mesh leaves out there.
#[test]
fn mesh_errors_have_their_own_limit() {
    let text = cantilever(200.0, "elements = 4").replace("t_end = 3", "t_end = 3, certify = { mesh = 0.5 }");
    let certificate = run_of(&text).report.certificate;
    assert!(certificate.mesh.is_some_and(|mesh| mesh.passed && mesh.limit == 0.5), "{:?}", certificate.mesh);
}

/// One sentence for each item that failed, with the number that would do.
#[test]
fn advice_says_what_to_change() {
    let said = |run: &str| {
        let text = format!(
            "{BAR}bodies.b = {{ from = [1.5, 0], to = [2.5, 0], mass = 1 }}\n\
            joints.B = {{ kind = 'revolute', bodies = ['bar', 'b'], at = [1.5, 0] }}\nrun = {{ t_end = 2, {run} }}"
        );
        let report = run_of(&text).report;
        assert_eq!(report.certificate.passed, report.advice.is_empty(), "{:?}", report.advice);
        report.advice
    };
    assert!(said("rtol = 1e-8").is_empty());
    let loose = said("integrator = 'rk45', rtol = 1e-3, atol = 1e-5");
    let [energy] = &loose[..] else { panic!("{loose:?}") };
    let rtol =
        energy.split_once("--rtol ").and_then(|(_, rest)| rest.trim_end_matches(')').parse::<f64>().ok());
    assert!(energy.starts_with("energy: tighten") && rtol.is_some_and(|rtol| rtol < 1e-3), "{energy}");
    // and it does
    let rtol = rtol.unwrap();
    assert!(said(&format!("integrator = 'rk45', rtol = {rtol}, atol = {}", 1e-2 * rtol)).is_empty());
    let fixed = said("integrator = 'rk4', step = 0.02");
    assert!(fixed.iter().all(|a| a.contains("--step") && !a.contains("--rtol")), "{fixed:?}");
    let step: f64 = fixed[0].split_once("--step ").unwrap().1.trim_end_matches(')').parse().unwrap();
    assert!(said(&format!("integrator = 'rk4', step = {step}")).is_empty());
}
