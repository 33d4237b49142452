//! Describes what is reported beside the columns: contact points with their forces, loads, step sizes, the smallest singular value.

mod common;

use common::{bytes, compiled, extras, live, read, request, shipped};
use sarrus::analysis::{MethodText, Simulate};
use sarrus::system::contact::TouchingPoint;
use sarrus_view::motion::{PoseTable, Touches};
use sarrus_view::{ColumnTable, SampleExtras, report};
use serde_json::Value;

fn sums(points: &[TouchingPoint]) -> ([f64; 3], f64) {
    points.iter().fold(([0.0; 3], 0.0), |(force, normal), point| {
        ([0, 1, 2].map(|k| force[k] + point.force[k]), normal + point.normal)
    })
}

/// A block on a slope of 30 degrees along x, thrown up it at 2 m/s.
fn slope(contact: &str, height: f64, space: &str) -> String {
    let (flat, size) = if space == "planar" { ("", "[0.2, 0.1]") } else { (", 0", "[0.2, 0.1, 0.1]") };
    // planar half spaces have the normal y, spatial ones z
    let (g, at) = match space {
        "planar" => ("[-4.905, -8.49570921]".to_string(), format!("[0, {height}]")),
        _ => ("[-4.905, 0, -8.49570921]".to_string(), format!("[0, 0, {height}]")),
    };
    let v = format!("[2.0, 0{flat}]");
    format!(
        "format = 'sarrus/1'\nspace = '{space}'\ngravity = {g}\n[ground]\nshape = {{ kind = 'half_space' }}\n\
         [bodies]\nblock = {{ at = {at}, mass = 1, shape = {{ kind = 'box', size = {size} }} }}\n\
         [contacts.slope]\nbetween = ['block', 'ground']\n{contact}\n\
         [initial]\nblock.velocity = {v}\n[run]\nt_end = 0.4\nrtol = 1e-7\natol = 1e-9\n"
    )
}

/// Numbers that are the same sum in another order.
fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1e-9)
}

#[test]
fn forces_of_places_add_up_to_the_column_of_their_contact() {
    let laws = [
        "law = { kind = 'linear', stiffness = 1e5, damping = 500 }",
        "law = { kind = 'hertz', stiffness = 1e7, restitution = 0.5 }",
    ];
    let frictions = [
        "",
        "friction = { kind = 'coulomb', mu = 0.6, slip_speed = 0.01 }",
        "friction = { kind = 'bristle', mu = 0.6, stiffness = 1e5 }",
        "friction = { kind = 'lugre', mu = 0.6 }",
    ];
    for (law, friction) in laws.iter().flat_map(|law| frictions.map(|friction| (law, friction))) {
        let (model, system) = compiled("slope", &slope(&format!("{law}\n{friction}"), 0.0499, "planar"));
        let (_, extras, table) = extras(&model, &system, &request(0.02, 1e-3));
        let (column, mut touched) = (table.column("slope.force").unwrap(), 0);
        for (sample, wanted) in column.iter().enumerate() {
            let points = extras.touches.at(sample);
            let (force, normal) = sums(points);
            assert!(is_same(normal, *wanted), "{law} {friction}: {normal} is not {wanted}");
            // along the normal, y on the block
            assert!(is_same(force[1], normal), "{law} {friction}");
            let across = force[0].abs();
            let most = if friction.is_empty() { 0.0 } else { 0.6 * normal };
            // bristles of LuGre that are not stretched yet only damp
            let begins = sample == 0 && friction.contains("lugre");
            // and lag a little behind a normal force that changes
            let slack = if friction.contains("lugre") { 1e-3 } else { 1e-9 };
            assert!(begins || across <= most * (1.0 + slack) + 1e-12, "{law} {friction}: {across} of {most}");
            // it is held back
            assert!(friction.is_empty() || sample == 0 || force[0] <= 0.0);
            touched += points.len();
            assert!(points.iter().all(|p| p.contact == 0 && p.point[1].abs() < 1e-3 && p.point[2] == 0.0));
        }
        assert!(touched > 20, "{law} {friction}: {touched}");
    }
}

/// What slides and sticks to the slope rests on it: forces by hand. Two corners touch in the plane, four in space.
#[test]
fn rigid_contacts_bear_weight_and_friction() {
    for (space, normal_axis, corners) in [("planar", 1, 2), ("spatial", 2, 4)] {
        let contact = "method = 'impulsive'\nrestitution = 0\nfriction = { mu = 0.6 }";
        let (model, system) = compiled("slope", &slope(contact, 0.05, space));
        let (_, extras, table) = extras(&model, &system, &request(0.4, 0.01));
        let weight = 8.49570921;
        // it stops at v/(g (sin 30° + mu cos 30°)) = 0.19995 s, and mu > tan 30° holds it
        for (sample, t) in table.t.iter().enumerate() {
            let points = extras.touches.at(sample);
            if points.is_empty() {
                // nothing is held before the run has begun
                assert!(sample == 0, "{space}: t = {t}");
                continue;
            }
            let (force, normal) = sums(points);
            assert!(points.len() <= corners, "{space}: {}", points.len());
            assert!(is_same(normal, table.column("slope.force").unwrap()[sample]), "{space}: t = {t}");
            assert!((normal - weight).abs() < 1e-6 && (force[normal_axis] - weight).abs() < 1e-6, "t = {t}");
            let wanted = if *t < 0.199 { -0.6 * weight } else { 4.905 };
            let near = (0.199..0.201).contains(t);
            assert!(near || (force[0] - wanted).abs() < 1e-6, "{space}: t = {t}: {force:?}");
        }
        assert!(extras.touches.count() > 40);
    }
}

#[test]
fn a_live_run_and_its_page_have_the_places_of_the_run() {
    let (model, system) = shipped("pile");
    let request = request(0.08, 1e-3);
    let (_, extras, _) = extras(&model, &system, &request);
    let (_, live, scene) = live(&model, &system, &request, 1 << 28);
    assert_eq!(
        (scene.contacts[0].name.as_str(), scene.contacts[0].between.as_deref()),
        ("touch", Some("9 bodies, 9 bodies"))
    );
    let frames = read(&bytes(&live));
    let mut wanted = Vec::new();
    for frame in 0..frames.t.len() {
        for point in extras.touches.at(frame) {
            let [x, y, z] = point.point.map(|x| x as f32);
            let [fx, fy, fz] = point.force.map(|x| x as f32);
            wanted.push((frame, 0, [x, y, z, fx, fy, fz]));
        }
    }
    assert!(!wanted.is_empty() && frames.touches == wanted, "{:?}", frames.touches);
    // the lowest four meet the floor first
    assert!(wanted.iter().take(4).all(|(_, _, x)| x[2].abs() < 5e-3 && x[5].abs() > 0.0), "{wanted:?}");
}

fn joined(table: ColumnTable, extras: &SampleExtras, system: &sarrus::system::System) -> PoseTable {
    let motion = PoseTable::from_columns(&system.directory, table).unwrap();
    PoseTable { touches: extras.touches.clone(), ..motion }
}

#[test]
fn a_page_keeps_the_places_of_the_frames_it_keeps() {
    let (model, system) = shipped("pile");
    let request = request(0.08, 1e-4);
    let (_, extras, table) = extras(&model, &system, &request);
    let (scene, _) = common::scene(&model, &system, &request);
    let motion = joined(table, &extras, &system);
    let (thin, few) = report::thinned(scene, &system.directory, &motion);
    assert!(few.table.len() < motion.table.len() / 2, "{:?}", thin.thinning);
    let mut touching = 0;
    for (frame, t) in few.table.t.iter().enumerate() {
        let of = motion.table.t.iter().position(|x| x == t).unwrap();
        assert_eq!(few.touches.at(frame), motion.touches.at(of));
        touching += few.touches.at(frame).len();
    }
    assert!(touching > 100, "{touching}");

    // a heap takes room in the file, so that fewer frames fit
    let mut heap = motion;
    let many = vec![TouchingPoint::default(); 4000];
    heap.touches = Touches::default();
    heap.table.t.iter().for_each(|_| heap.touches.push(&many));
    let (scene, _) = common::scene(&model, &system, &request);
    let (_, few) = report::thinned(scene, &system.directory, &heap);
    let size = 28 * few.touches.count();
    assert!(size <= report::MOST_BYTES && size > report::MOST_BYTES / 4, "{size}");
}

/// A bar on a hinge under a force that turns with time, one that turns with the bar, a torque, and a motor in the hinge.
const LOADED: &str = "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\n\
    [bodies]\nbar = { from = [0, 0], to = [1, 0], mass = 2 }\n\
    [joints]\nA = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0] }\n\
    [forces]\nwind = { kind = 'force', body = 'bar', at = [1, 0], force = ['3*t', 0.5] }\n\
    jet = { kind = 'force', body = 'bar', on = [0.25, 0], force_on = [0, 2] }\n\
    twist = { kind = 'torque', body = 'bar', torque = '4 - t' }\n\
    motor = { kind = 'actuator', joint = 'A', torque = '-1 + 2*t' }\n\
    pull = { kind = 'spring', bodies = ['ground', 'bar'], ends = [[0, 1], [1, 0]], stiffness = 10, rest = 1 }\n\
    [run]\nt_end = 0.5\n";

#[test]
fn loads_are_arrows_with_columns_of_their_own() {
    let (model, system) = compiled("loaded", LOADED);
    let request = request(0.5, 0.05);
    let (_, live, scene) = live(&model, &system, &request, 1 << 28);
    let json: Value = serde_json::from_slice(&live.scene()).unwrap();
    let loads = json["loads"].as_array().unwrap();
    let names: Vec<&str> = loads.iter().map(|load| load["name"].as_str().unwrap()).collect();
    // the spring is a line
    assert_eq!(names, ["wind", "jet", "twist", "motor"]);
    assert_eq!(
        loads.iter().map(|l| l["kind"].as_str().unwrap()).collect::<Vec<_>>(),
        ["force", "force", "torque", "torque"]
    );
    // on the bar, whose origin is its middle
    assert_eq!(loads[0]["on"], serde_json::json!([0.5, 0.0, 0.0]));
    assert_eq!(loads[1]["on"], serde_json::json!([0.25, 0.0, 0.0]));
    assert_eq!(loads[3]["on"], serde_json::json!([-0.5, 0.0, 0.0]));
    assert!(loads.iter().all(|load| load["body"] == 0));

    let frames = read(&bytes(&live));
    let column = |name: &str| {
        let index = scene.columns.iter().position(|c| c.name == name).unwrap_or_else(|| panic!("{name}"));
        (&frames.values[index], scene.columns[index].hidden)
    };
    let angle = column("bar.angle").0;
    for (frame, t) in frames.t.iter().enumerate() {
        let (sin, cos) = angle[frame].sin_cos();
        for (load, wanted) in [
            ("wind", [3.0 * t, 0.5, 0.0]),
            ("jet", [-2.0 * sin, 2.0 * cos, 0.0]),
            ("twist", [0.0, 0.0, 4.0 - t]),
            ("motor", [0.0, 0.0, 2.0 * t - 1.0]),
        ] {
            for (axis, wanted) in ["x", "y", "z"].iter().zip(wanted) {
                let (values, hidden) = column(&format!("load.{load}.{axis}"));
                assert!(hidden && (values[frame] - wanted).abs() < 1e-12, "{load}.{axis}: {}", values[frame]);
            }
        }
    }
    // nor are they counted as left out
    assert_eq!(scene.columns_left_out, 0);
}

/// J M⁻¹Jᵀ = (1 + r rᵀ/k²)/m of a hinge on one bar, r square to the arm: its smallest eigenvalue is 1/m. Twice the hinge: twice that.
#[test]
fn the_smallest_singular_value_of_a_hinge_is_known() {
    for (hinges, wanted) in [(1, 0.5_f64.sqrt()), (2, 1.0)] {
        let second = "B = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0] }\n[forces]";
        let text = if hinges == 2 { LOADED.replace("[forces]", second) } else { LOADED.into() };
        let (model, system) = compiled("loaded", &text);
        // with reactions and without
        let mut request: Simulate = request(0.5, 0.05);
        for columns in ["*", "bar.x"] {
            request.overrides.columns = Some(vec![columns.into()]);
            let (_, _, table) = extras(&model, &system, &request);
            for sigma in table.column("run.sigma").unwrap() {
                assert!((sigma / wanted - 1.0).abs() < 1e-6, "{hinges} {columns}: {sigma}");
            }
        }
    }
}

#[test]
fn steps_are_those_that_cover_the_samples() {
    let (model, system) = shipped("four_bar");
    let mut request = request(0.1, 2.5e-3);
    request.overrides.step = Some(0.01);
    request.overrides.integrator = Some("rk4".parse::<MethodText>().unwrap().0);
    let (outcome, _, table) = extras(&model, &system, &request);
    let step = table.column("run.step").unwrap();
    assert!(step[0].is_nan(), "no step covers the start");
    assert!(outcome.report.method.rtol.is_none(), "steps of fixed size: {:?}", outcome.report.method);
    assert!(step[1..].iter().all(|h| (h - 0.01).abs() < 1e-12), "{step:?}");

    // steps of chosen size: of each the samples are as many as it is long, so that all of 1/h are as many as the steps; each step may have
    // one more sample or one less
    (request.overrides.step, request.overrides.integrator) = (None, None);
    request.overrides.every = Some(1e-5);
    let (outcome, _, table) = extras(&model, &system, &request);
    let step = &table.column("run.step").unwrap()[1..];
    let steps = outcome.report.counts.steps as f64;
    let smallest = step.iter().copied().fold(f64::INFINITY, f64::min);
    let found: f64 = step.iter().map(|h| 1e-5 / h).sum();
    assert!((found - steps).abs() <= steps * 1e-5 / smallest, "{found} of {steps}");
    assert!(smallest < 0.1 * step.iter().copied().fold(0.0, f64::max), "they differ");
}
