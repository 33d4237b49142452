//! An included file means what it means alone, turned, moved or mirrored with it; and so does its resolved file.

use sarrus_io::{LoadOptions, load_str, write_resolved};
use sarrus_math::{Mat3, Pose, Vec3};
use sarrus_model::Space;
use sarrus_model::transform::Transform;
use sarrus_solve::{Problem, State};
use sarrus_system::body::BodyKind;
use sarrus_system::derive::DerivativeWorkspace;
use sarrus_system::joint::AxisRole;
use sarrus_system::{At, Mechanism, System, compile, constraints, drivers, joints};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::worlds::{Numbers, PLANAR, PLANAR_JOINTS, SPATIAL, SPATIAL_JOINTS};

fn system(name: &str, text: &str) -> (Arc<System>, Transform, String) {
    let options = LoadOptions { record: true, ..LoadOptions::default() };
    let model = load_str(name, text, &options).unwrap_or_else(|e| panic!("{text}\n{}", e.render()));
    let system = compile(&model).unwrap_or_else(|errors| {
        let all: Vec<String> = errors.iter().map(|e| e.render(&model.sources)).collect();
        panic!("{text}\n{}", all.join("\n"))
    });
    let transform = model.scopes.last().map_or_else(Transform::identity, |scope| scope.transform.clone());
    (Arc::new(system), transform, write_resolved(&model, &[]))
}

/// A model alone, included, and as the resolved file of the including one says it.
struct Case {
    what: String,
    alone: Arc<System>,
    included: Arc<System>,
    transform: Transform,
    resolved: Arc<System>,
}

/// The model included in every way that its space allows.
fn cases(what: &str, text: &str) -> Vec<Case> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("sarrus-includes-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("format = 'sarrus/1'\n{text}");
    std::fs::write(folder.join("part.toml"), &text).unwrap();
    let outer = folder.join("outer.toml").to_string_lossy().into_owned();
    let planar = text.contains("'planar'\nbodies");
    // a free component rotates by quarter turns only
    let angle = if text.contains("'free'") { "90 deg" } else { "1.1" };
    let (space, rotation) = if planar {
        ("space = 'planar'", format!("at = [0.4, -0.7], angle = '{angle}'"))
    } else {
        let axis = if angle == "1.1" { "[0.6, 0.2, 0.8]" } else { "[1, 0, 0]" };
        ("", format!("at = [0.4, -0.7, 0.2], orientation = {{ axis = {axis}, angle = '{angle}' }}"))
    };
    let mirrors: &[&str] = if planar { &["", "x", "y"] } else { &["", "x", "y", "z"] };
    let list = mirrors.iter().map(|mirror| {
        let key = if mirror.is_empty() { String::new() } else { format!(", mirror = '{mirror}'") };
        let include =
            format!("format = 'sarrus/1'\n{space}\ninclude.L = {{ file = 'part.toml', {rotation}{key} }}\n");
        let (included, transform, flat) = system(&outer, &include);
        let resolved = system("resolved.toml", &flat).0;
        let what = format!("{what}, mirror '{mirror}'");
        Case { what, alone: system("part.toml", &text).0, included, transform, resolved }
    });
    let list = list.collect();
    std::fs::remove_dir_all(&folder).unwrap();
    list
}

/// A state near the model pose, moving.
fn state(m: &Mechanism, numbers: &mut Numbers, away: f64) -> State {
    let mut s = m.system().start();
    let nudge: Vec<f64> = (0..s.v.len()).map(|_| away * numbers.next()).collect();
    m.retract(&mut s.q, &nudge);
    s.v.iter_mut().for_each(|v| *v = 2.0 * numbers.next());
    s.t = 0.3;
    s
}

/// The state of the included system that is the image of `s`.
fn image(case: &Case, s: &State) -> State {
    let mut out = case.included.start();
    out.t = s.t;
    let T = &case.transform;
    for body in &case.alone.directory.bodies {
        let name = format!("L.{}", body.name);
        let Some(other) = case.included.directory.bodies.iter().find(|b| b.name == name) else { continue };
        let (q, v) = (&s.q[body.q..], &s.v[body.v..]);
        match body.kind {
            BodyKind::PlanarRigid => {
                let (p, u) = (T.point([q[0], q[1], 0.0]), T.vector([v[0], v[1], 0.0]));
                let rotation = [T.angle + T.sign() * q[2], T.sign() * v[2]];
                out.q[other.q..other.q + 3].copy_from_slice(&[p[0], p[1], rotation[0]]);
                out.v[other.v..other.v + 3].copy_from_slice(&[u[0], u[1], rotation[1]]);
            }
            BodyKind::Rigid => {
                let L = Mat3::from_cols(
                    Vec3([T.l[0], 0.0, 0.0]),
                    Vec3([0.0, T.l[1], 0.0]),
                    Vec3([0.0, 0.0, T.l[2]]),
                );
                let rot = Mat3(T.q) * Mat3::from_quat([q[3], q[4], q[5], q[6]]) * L;
                out.q[other.q..other.q + 3].copy_from_slice(&T.point([q[0], q[1], q[2]]));
                out.q[other.q + 3..other.q + 7].copy_from_slice(&rot.to_quat());
                out.v[other.v..other.v + 3].copy_from_slice(&T.vector([v[0], v[1], v[2]]));
                out.v[other.v + 3..other.v + 6].copy_from_slice(&T.local_axial([v[3], v[4], v[5]]));
            }
            _ => {}
        }
    }
    out
}

fn length(a: &[f64]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Of every element the lengths of Φ and of its rates: rows may point anywhere, together they say the same.
fn rows(system: &Arc<System>, s: &State) -> Vec<[f64; 2]> {
    let mut m = system.mechanism();
    m.set_discrete(&system.discrete);
    m.accept(s);
    m.observe(s, |at| {
        let of = |e: &sarrus_system::system::ConstraintElement| {
            let at = At { ids: &e.ids, ..*at };
            let (mut phi, mut rates) = (vec![0.0; e.rows.rows()], vec![0.0; e.rows.rows()]);
            e.rows.phi(&at, &mut phi);
            e.rows.rates(&at, &mut DerivativeWorkspace::default(), &mut rates);
            [length(&phi[..e.rows.holonomic()]), length(&rates)]
        };
        system.elements.iter().map(of).collect()
    })
}

/// Values and speeds of all joint coordinates.
fn coordinates(system: &Arc<System>, s: &State) -> Vec<[f64; 2]> {
    let mut m = system.mechanism();
    m.set_discrete(&system.discrete);
    m.observe(s, |at| {
        let mut out = Vec::new();
        for joint in &system.directory.joints {
            for k in 0..joint.face.coordinates().len() {
                let c = joint.coordinate(k, 0, 1);
                let at = At { ids: &joint.bodies, ..*at };
                out.push([c.value(&at), c.speed(&at)]);
            }
        }
        out
    })
}

fn same<T: AsRef<[f64]>>(what: &str, a: &[T], b: &[T]) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        for ((a, b), part) in a.as_ref().iter().zip(b.as_ref()).zip(["position", "speed"]) {
            let off = (a - b).abs();
            assert!(off < 1e-10 * (1.0 + a.abs()), "{what}: {part} {i}: {a} against {b}");
        }
    }
}

/// Elements alone, in space at model poses only where they read angles, which bodies out of line leave open.
fn check(kind: &str, what: &str, text: &str, resolved: bool) {
    // across a path in space rows turn with its tangent, from an axis of the model: off the path their rates depend on that axis
    let parts =
        if kind == "point_on_curve" && text.contains("path") && !text.contains("planar") { 1 } else { 2 };
    let rows = |system: &Arc<System>, s: &State| -> Vec<Vec<f64>> {
        rows(system, s).iter().map(|row| row[..parts].to_vec()).collect()
    };
    let reads_angles = ["coupler", "gear", "rack", "joint"].contains(&kind) && !text.contains("planar");
    for case in cases(what, text) {
        let mut numbers = Numbers(7);
        for _ in 0..3 {
            let s = state(&case.alone.mechanism(), &mut numbers, if reads_angles { 0.0 } else { 0.2 });
            let image = image(&case, &s);
            same(&case.what, &rows(&case.alone, &s), &rows(&case.included, &image));
            if resolved {
                let what = format!("{}, resolved", case.what);
                same(&what, &rows(&case.included, &image), &rows(&case.resolved, &image));
            }
        }
    }
}

/// Keys with a default in the file's axes, left out.
const DEFAULTS: &[(&str, &str, &str)] = &[
    (
        "point_on_line",
        "bodies = ['ground', 'b'], at = [0.3, 0.2]",
        "bodies = ['ground', 'b'], at = [0.3, 0.2, 0.1]",
    ),
    (
        "point_on_plane",
        "bodies = ['ground', 'b'], at = [0.3, 0.2]",
        "bodies = ['a', 'b'], at = [0.3, 0.2, 0.1]",
    ),
    ("gear", "bodies = ['a', 'b'], teeth = [20, 30]", "bodies = ['a', 'b'], teeth = [20, 30]"),
    (
        "rack",
        "bodies = ['a', 'b'], radius = 0.2",
        "bodies = ['a', 'b'], radius = 0.2, axes = [[1, 2, 0], [0, 0, 1]]",
    ),
    (
        "rolling_disc",
        "body = 'a', radius = 0.3",
        "body = 'a', radius = 0.3, plane = { normal = [0.1, 0.1, 1] }",
    ),
    ("rolling_ball", "body = 'a', radius = 0.3", "body = 'a', radius = 0.3"),
    ("knife_edge", "body = 'a'", "body = 'a', axis_on = [1, 2, 0.3]"),
    ("knife_edge", "body = 'a', axis = [1, 2]", "body = 'a'"),
    (
        "angle",
        "bodies = ['ground', 'b'], axis_on = [[1, 0], [1, 1]], value = 0.7",
        "bodies = ['ground', 'b'], axes = [[1, 0, 0], [1, 1, 0]]",
    ),
];

#[test]
fn every_constraint_means_the_same_where_it_is_included() {
    for kind in constraints::KINDS {
        // columns that expressions read are those of the whole model
        if ["expression", "linear_velocity"].contains(&kind.name) {
            continue;
        }
        let more = |planar: bool| {
            let own = DEFAULTS.iter().filter(|(name, ..)| *name == kind.name);
            own.map(move |(_, in_plane, in_space)| if planar { *in_plane } else { *in_space })
        };
        for planar in [true, false] {
            let (examples, world) = if planar {
                (kind.planar, [PLANAR, PLANAR_JOINTS].concat())
            } else {
                (kind.spatial, [SPATIAL, SPATIAL_JOINTS].concat())
            };
            for example in examples.iter().copied().chain(more(planar)) {
                let text = format!("{world}constraints.k = {{ kind = '{}', {example} }}", kind.name);
                let what = format!("{} ({example}), planar: {planar}", kind.name);
                // a resolved file has no words for a curve in axes that are not a body's
                check(kind.name, &what, &text, kind.name != "point_on_curve");
            }
        }
    }
}

#[test]
fn every_driver_means_the_same_where_it_is_included() {
    for kind in drivers::KINDS {
        for (examples, world) in [
            (kind.planar, [PLANAR, PLANAR_JOINTS].concat()),
            (kind.spatial, [SPATIAL, SPATIAL_JOINTS].concat()),
        ] {
            for example in examples {
                let text = format!("{world}drivers.k = {{ kind = '{}', {example} }}", kind.name);
                check(kind.name, &format!("driver {} ({example})", kind.name), &text, true);
            }
        }
    }
}

#[test]
fn every_joint_means_the_same_where_it_is_included() {
    for kind in joints::KINDS {
        let planar = kind.space == Space::Planar;
        let (world, at) = if planar { (PLANAR, "[0.4, 0.2]") } else { (SPATIAL, "[0.4, 0, 0.6]") };
        let axes = match kind.axis {
            AxisRole::None => vec![""],
            AxisRole::X => vec!["", "axis = [1, 2],"],
            AxisRole::Z => vec!["", "axis = [1, 2, 3],"],
            AxisRole::ZX => vec!["", "axis = [1, 0, 0],", "axis = [1, 2, 3], axis2 = [3, 0, -1],"],
            AxisRole::Cross => vec!["", "axis = [1, 2, 3], axis2 = [3, 0, -1],"],
        };
        for (bodies, axis) in ["'a', 'b'", "'ground', 'b'", "'b', 'ground'"]
            .iter()
            .flat_map(|bodies| axes.iter().map(move |axis| (bodies, axis)))
        {
            let text = format!(
                "{world}joints.k = {{ kind = '{}', bodies = [{bodies}], at = {at}, {axis} {} }}",
                kind.name, kind.example
            );
            for case in cases(&format!("joint {} ({bodies}, {axis}), planar: {planar}", kind.name), &text) {
                joint(&case, planar);
            }
        }
    }
}

fn joint(case: &Case, planar: bool) {
    let mut numbers = Numbers(11);
    for _ in 0..3 {
        let mut m = case.alone.mechanism();
        let mut s = state(&m, &mut numbers, 0.2);
        let face = &case.alone.directory.joints[0].face;
        let q: Vec<f64> = (0..face.pose_numbers()).map(|_| numbers.next()).collect();
        set_movable_body(&mut m, &mut s, face.pose(&q), planar);
        let image = image(case, &s);
        same(&case.what, &rows(&case.alone, &s), &rows(&case.included, &image));
        same(&case.what, &coordinates(&case.alone, &s), &coordinates(&case.included, &image));
        let what = format!("{}, resolved", case.what);
        same(&what, &rows(&case.included, &image), &rows(&case.resolved, &image));
        same(&what, &coordinates(&case.included, &image), &coordinates(&case.resolved, &image));
    }
}

/// Puts the joint's second body, or the first where that is the ground, where the joint's motion has it.
fn set_movable_body(m: &mut Mechanism, s: &mut State, motion: Pose<f64>, planar: bool) {
    let system = m.system().clone();
    let joint = &system.directory.joints[0];
    let (fixed, moved, from, to, motion) = if joint.bodies[1] == 0 {
        let rot = motion.rot.transpose();
        let back = Pose { p: -(rot * motion.p), rot, angle: -motion.angle };
        (0, joint.bodies[0], joint.frames.M, joint.frames.F, back)
    } else {
        (joint.bodies[0], joint.bodies[1], joint.frames.F, joint.frames.M, motion)
    };
    let A = m.observe(s, |at| at.poses[fixed as usize]);
    let M = from.frame_pose(&A).compose(&motion);
    let rot: Mat3<f64> = M.rot * to.rot.transpose();
    let p = M.p - rot.mul_f64(&to.p);
    let q = system.directory.bodies[moved as usize].q;
    if planar {
        s.q[q..q + 3].copy_from_slice(&[p.0[0], p.0[1], M.angle - to.angle]);
    } else {
        s.q[q..q + 3].copy_from_slice(&p.0);
        s.q[q + 3..q + 7].copy_from_slice(&rot.to_quat());
    }
}

/// Axes given on both bodies that do not agree in the model pose: what the joint reads does not depend on the world.
#[test]
fn axes_on_the_bodies_read_the_same_where_they_are_included() {
    for bodies in ["'a', 'b'", "'ground', 'b'"] {
        let on = "on = [[0.1, 0.2, 0.3], [0.1, 0.1, 0.2]], axis_on = [[1, 2, 3], [3, 1, 0]]";
        let text = format!("{SPATIAL}joints.k = {{ kind = 'revolute', bodies = [{bodies}], {on} }}");
        for case in cases(&format!("axis_on ({bodies})"), &text) {
            let mut numbers = Numbers(5);
            for _ in 0..3 {
                let s = state(&case.alone.mechanism(), &mut numbers, 0.2);
                let image = image(&case, &s);
                same(&case.what, &coordinates(&case.alone, &s), &coordinates(&case.included, &image));
                same(&case.what, &coordinates(&case.included, &image), &coordinates(&case.resolved, &image));
            }
        }
    }
}
