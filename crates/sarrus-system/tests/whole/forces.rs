//! The laws of a force, over every registered kind: its power is accounted for, internal forces cancel, and its wrench
//! has derivatives.

use sarrus_io::{LoadOptions, load, load_str};
use sarrus_math::{Dual, Jet, Mat3, Pose, Twist, Vec3, quat_from_rotation_vector, quat_mul, quat_normalize};
use sarrus_model::{Frame, Transform};
use sarrus_solve::{Accel, Equations, Problem, Stage, State};
use sarrus_system::load::{Load, Wrench};
use sarrus_system::system::ForceElement;
use sarrus_system::{At, Sampler, System, compile, controllers, forces};
use std::sync::Arc;

/// Point of the hinge `h` in the model pose, where `a` is at the origin and `b` at (1, 0, 0), both unturned.
const HINGE: [f64; 3] = [0.5, 0.1, 0.2];
/// Its axis.
const AXIS: [f64; 3] = [1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0];

fn text(planar: bool, elements: &str) -> String {
    let (space, inertia, b, hinge, size) = if planar {
        ("planar", "0.3", "[1, 0]", "at = [0.5, 0.1]", "[0.9, 0.5]")
    } else {
        (
            "spatial",
            "[0.3, 0.4, 0.5]",
            "[1, 0, 0]",
            "at = [0.5, 0.1, 0.2], axis = [1, 2, 2]",
            "[0.9, 0.5, 0.3]",
        )
    };
    format!(
        "format = 'sarrus/1'\nspace = '{space}'\n\
         bodies.a = {{ mass = 2, inertia = {inertia}, shape = {{ kind = 'box', size = {size} }} }}\n\
         bodies.b = {{ at = {b}, mass = 3, inertia = {inertia}, shape = {{ kind = 'rod', length = 1.5, radius = 0.2, on = {b} }} }}\n\
         bodies.dot = {{ kind = 'point', at = {b}, mass = 1 }}\n\
         joints.h = {{ kind = 'revolute', bodies = ['a', 'b'], {hinge} }}\n{elements}\n"
    )
}

fn system(planar: bool, elements: &str) -> Result<Arc<System>, String> {
    let text = text(planar, elements);
    let model = load_str("test.toml", &text, &LoadOptions::default()).map_err(|failure| {
        failure.diagnostics.iter().map(|d| d.render(&failure.sources)).collect::<String>()
    })?;
    compile(&model)
        .map(Arc::new)
        .map_err(|errors| errors.iter().map(|d| d.render(&model.sources)).collect::<String>())
}

fn with_element(planar: bool, section: &str, kind: &str, example: &str) -> Arc<System> {
    let flow = if planar { "[0.4, 0.1]" } else { "[0.4, 0.1, -0.2]" };
    let fluids = format!(
        "fluids = {{ water = {{ density = 1000 }}, stream = {{ density = 900, velocity = {flow} }}, \
         sea = {{ density = 1000, surface = 0.1 }} }}"
    );
    system(planar, &format!("{fluids}\n{section}.X = {{ kind = '{kind}', {example} }}"))
        .unwrap_or_else(|error| panic!("{kind}: {example}\n{error}"))
}

/// Numbers in (-1, 1) without a pattern.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> [f64; 3] {
        [self.next(), self.next(), self.next()]
    }
}

/// A motion of the bodies. On the hinge: `b` follows `a`, rotated about the hinge.
fn motion(planar: bool, on_hinge: bool, seed: u64) -> (Vec<Pose>, Vec<Twist>) {
    let mut numbers = Numbers(seed);
    let mut free = |scale: f64| {
        let (mut p, mut v, rotation, mut w) =
            (numbers.vector(), numbers.vector(), numbers.vector(), numbers.vector());
        if planar {
            (p[2], v[2]) = (0.0, 0.0);
            w = [0.0, 0.0, w[2]];
            let pose = Pose::planar(p[0], p[1], scale * rotation[2]);
            return (pose, Twist::new(&pose, Vec3(v), Vec3(w)));
        }
        let pose = Pose::from_quat(p, quat_from_rotation_vector(&rotation.map(|x| scale * x)));
        (pose, Twist::new(&pose, Vec3(v), Vec3(w)))
    };
    let (a, V_a) = free(2.0);
    let (mut b, mut V_b) = free(0.8);
    let (dot, V_dot) = free(0.0);
    if on_hinge {
        let (rotation, rate) = (numbers.next(), numbers.next());
        let (point, axis) = if planar { ([0.5, 0.1, 0.0], [0.0, 0.0, 1.0]) } else { (HINGE, AXIS) };
        let relative = Mat3::from_quat(quat_from_rotation_vector(&axis.map(|x| x * rotation)));
        let at = a.point(&point);
        let arm = relative.mul_f64(&[1.0 - point[0], -point[1], -point[2]]);
        b.rot = a.rot * relative;
        b.angle = if planar { a.angle + rotation } else { 0.0 };
        b.p = at + a.rot * arm;
        let w_W = V_a.w_W + a.rotate(&axis).scale(rate);
        let v = V_a.point_velocity(&a, &point) + w_W.cross(b.p - at);
        V_b = Twist::new(&b, v, b.to_local(w_W));
    }
    let zero = Vec3([0.0; 3]);
    (
        vec![Pose::identity(), a, b, Pose { rot: Mat3::identity(), angle: 0.0, ..dot }],
        vec![Twist::zero(), V_a, V_b, Twist { w: zero, w_W: zero, ..V_dot }],
    )
}

/// Every example of every force, each at several motions.
fn every_force(mut check: impl FnMut(&str, &ForceElement, &At<f64>)) {
    for kind in forces::KINDS {
        for (planar, examples) in [(true, kind.planar), (false, kind.spatial)] {
            assert!(!examples.is_empty(), "{} has no example", kind.name);
            for example in examples {
                let system = with_element(planar, "forces", kind.name, example);
                let force = &system.forces[0];
                // a joint's angle is what it is only where the joint holds
                let on_joint = example.contains("joint");
                for seed in 0..8 {
                    let on_hinge = on_joint || seed % 2 == 1;
                    let (poses, twists) = motion(planar, on_hinge, 17 + seed);
                    let discrete = vec![0.0; system.discrete.len()];
                    let at = At {
                        t: 0.3,
                        poses: &poses,
                        twists: &twists,
                        ids: &force.ids,
                        discrete: &discrete,
                        outs: &[],
                    };
                    check(&format!("{}: {example}", kind.name), force, &at);
                }
            }
        }
    }
}

fn wrenches(load: &dyn Load, at: &At<f64>) -> Vec<Wrench<f64>> {
    let mut out = vec![Wrench::zero(); at.ids.len()];
    load.wrench(at, &mut out);
    out
}

#[test]
fn every_force_does_something() {
    let mut largest = std::collections::HashMap::new();
    every_force(|name, force, at| {
        let size: f64 = wrenches(&*force.load, at).iter().map(|w| w.force.norm() + w.torque.norm()).sum();
        let entry = largest.entry(name.to_owned()).or_insert(0.0_f64);
        *entry = entry.max(size);
    });
    for (name, size) in largest {
        assert!(size > 1e-3, "{name}");
    }
}

#[test]
fn power_is_stored_or_turned_into_heat_where_books_are_kept() {
    let mut retained = 0;
    every_force(|name, force, at| {
        if !force.load.accounts_for_power() {
            return;
        }
        retained += 1;
        let mut power = 0.0;
        for (i, wrench) in wrenches(&*force.load, at).iter().enumerate() {
            power += wrench.force.dot(at.twist(i).v) + wrench.torque.dot(at.twist(i).w_W);
        }
        let (poses, twists) = jets(at);
        let ids: Vec<u32> = (0..at.ids.len() as u32).collect();
        let along = At {
            t: Jet::variable(at.t),
            poses: &poses,
            twists: &twists,
            ids: &ids,
            discrete: at.discrete,
            outs: &[],
        };
        let stored = force.load.potential_rate(&along);
        let heat = force.load.dissipation(at);
        assert!(heat >= -1e-12 * power.abs(), "{name}: heat {heat}");
        let scale = power.abs() + stored.abs() + heat.abs();
        assert!((power + stored + heat).abs() <= 1e-11 * scale, "{name}: {power} + {stored} + {heat}");
    });
    assert!(retained > 30, "only {retained} cases were looked at");
}

fn jets(at: &At<f64>) -> (Vec<Pose<Jet<2>>>, Vec<Twist<Jet<2>>>) {
    (0..at.ids.len())
        .map(|i| {
            let (v, w) = ([at.twist(i).v.0], [at.twist(i).w.0]);
            let pose = at.pose(i).jet(&v, &w);
            (pose, Twist::jet(&pose, &v, &w))
        })
        .unzip()
}

#[test]
fn forces_between_two_bodies_cancel() {
    every_force(|name, force, at| {
        if !["spring", "actuator", "bushing"].iter().any(|kind| name.starts_with(kind)) {
            return;
        }
        let (mut total, mut moment, mut scale) = (Vec3([0.0; 3]), Vec3([0.0; 3]), 0.0);
        for (i, wrench) in wrenches(&*force.load, at).iter().enumerate() {
            total += wrench.force;
            moment += wrench.torque + at.pose(i).p.cross(wrench.force);
            scale += wrench.force.norm() + wrench.torque.norm();
        }
        assert!(total.norm() <= 1e-13 * scale, "{name}: {total:?}");
        assert!(moment.norm() <= 1e-13 * scale, "{name}: {moment:?}");
    });
}

/// Dual numbers leave the value as it is and have a derivative in every direction.
#[test]
fn every_wrench_has_a_finite_tangent() {
    every_force(|name, force, at| {
        let n = at.ids.len();
        let plain = wrenches(&*force.load, at);
        let ids: Vec<u32> = (0..n as u32).collect();
        let twists: Vec<Twist<Dual<6>>> = (0..n).map(|i| at.twist(i).lift()).collect();
        for body in 0..n {
            let mut poses: Vec<Pose<Dual<6>>> = (0..n).map(|i| at.pose(i).lift()).collect();
            poses[body] = at.pose(body).seed(0, &[0, 1, 2, 3, 4, 5]);
            let seeded = At {
                t: Dual::constant(at.t),
                poses: &poses,
                twists: &twists,
                ids: &ids,
                discrete: at.discrete,
                outs: &[],
            };
            let mut out = vec![Wrench::zero(); n];
            force.load.wrench_dual(&seeded, &mut out);
            for (with, without) in out.iter().zip(&plain) {
                for i in 0..3 {
                    for (x, value) in [(with.force[i], without.force[i]), (with.torque[i], without.torque[i])]
                    {
                        assert!((x.v - value).abs() <= 1e-12 * (1.0 + value.abs()), "{name}");
                        assert!(x.d.iter().all(|d| d.is_finite()), "{name}: {x:?}");
                    }
                }
            }
        }
    });
}

/// A bushing at rest in the model pose has no deformation: the rotation vector must be smooth through zero.
#[test]
fn a_bushing_is_smooth_where_it_is_not_deformed() {
    let kind = forces::KINDS.iter().find(|kind| kind.name == "bushing").unwrap();
    let system = with_element(false, "forces", "bushing", kind.spatial[0]);
    let force = &system.forces[0];
    let b = Pose { p: Vec3([1.0, 0.0, 0.0]), ..Pose::identity() };
    let poses = [Pose::identity(), Pose::identity(), b];
    let lifted: Vec<Pose<Dual<6>>> =
        vec![poses[0].lift(), poses[1].lift(), poses[2].seed(0, &[0, 1, 2, 3, 4, 5])];
    let twists = vec![Twist::zero(); 3];
    let at = At {
        t: Dual::constant(0.0),
        poses: &lifted,
        twists: &twists,
        ids: &force.ids,
        discrete: &[],
        outs: &[],
    };
    let mut out = vec![Wrench::zero(); 2];
    force.load.wrench_dual(&at, &mut out);
    // the tangent is minus the stiffness: the trace of its force block is rotation-invariant
    let trace: f64 = (0..3).map(|i| out[1].force[i].d[i]).sum();
    assert!(out[1].force.value().iter().all(|x| x.abs() < 1e-12));
    assert!((trace + 1500.0).abs() < 1e-9, "{trace}");
}

/// In an included file that is mirrored, turned and moved, the mirrored state gives the mirrored wrench: Q F and, since
/// a torque is axial, det(Q) Q τ.
#[test]
fn forces_turn_with_the_file_that_has_them() {
    let spatial = [
        "kind = 'force', body = 'b', force = [1, 2, 3]",
        "kind = 'force', body = 'b', on = [0.1, 0.2, 0.3], force_on = '[1, 2*t, 3]'",
        "kind = 'torque', body = 'b', torque = '[1, 2, 3]'",
        "kind = 'torque', body = 'b', torque_on = [1, '2*t', 3]",
        "kind = 'field', bodies = ['a', 'b'], force = [1, 2, 'mass']",
        "kind = 'actuator', joint = 'h', torque = '5*t'",
        "kind = 'spring', joint = 'h', stiffness = 3, damping = 1, rest = 0.4",
        "kind = 'spring', bodies = ['a', 'b'], ends = [[0, 0, 1], [1, 0, 0]], stiffness = 3, damping = 1, rest = 0.4",
        "kind = 'bushing', bodies = ['a', 'b'], at = [0.5, 0.1, 0.3], axis = [1, 2, 2], \
         stiffness = [1, 2, 3, 4, 5, 6], damping = [3, 2, 1, 2, 3, 4]",
        "kind = 'bushing', bodies = ['a', 'b'], on = [[0.5, 0.1, 0.3], [0, 0, 0]], stiffness = [\
         [9, 1, 2, 0.1, 0.2, 0.3], [1, 8, 3, 0.4, 0.5, 0.6], [2, 3, 7, 0.7, 0.8, 0.9], \
         [0.1, 0.4, 0.7, 6, 1, 2], [0.2, 0.5, 0.8, 1, 5, 1], [0.3, 0.6, 0.9, 2, 1, 4]]",
    ];
    let planar = [
        "kind = 'force', body = 'b', on = [0.1, 0.2], force_on = '[1, 2*t]'",
        "kind = 'torque', body = 'b', torque = '2*t'",
        "kind = 'actuator', joint = 'h', torque = '5*t'",
        "kind = 'spring', joint = 'h', stiffness = 3, damping = 1, rest = 0.4",
        "kind = 'bushing', bodies = ['a', 'b'], at = [0.5, 0.1], stiffness = [[3, 1, 2], [1, 4, 3], [2, 3, 5]]",
    ];
    let third = 0.9 / 3.0;
    let rotated = Mat3::from_quat(quat_from_rotation_vector(&[2.0 * third, third, 2.0 * third]));
    let in_space = Transform::new(Some(0), rotated.0, 0.0, [1.0, 2.0, 3.0]);
    let in_plane = Transform::new(Some(0), Mat3::rot_z(0.9).0, 0.9, [1.0, 2.0, 0.0]);
    for element in spatial {
        check_mirrored(
            false,
            element,
            "at = [1, 2, 3], orientation = { axis = [2, 1, 2], angle = 0.9 }",
            &in_space,
        );
    }
    for element in planar {
        check_mirrored(true, element, "at = [1, 2], angle = 0.9", &in_plane);
    }
}

fn check_mirrored(planar: bool, element: &str, include: &str, transform: &Transform) {
    // a file of its own, included by another
    let folder = std::env::temp_dir().join(format!("sarrus-forces-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let space = if planar { "planar" } else { "spatial" };
    let main = format!(
        "format = 'sarrus/1'\nspace = '{space}'\ninclude.left = {{ file = 'part.toml', mirror = 'x', {include} }}\n"
    );
    let force = format!("forces.X = {{ {element} }}");
    std::fs::write(folder.join("main.toml"), main).unwrap();
    std::fs::write(folder.join("part.toml"), text(planar, &force)).unwrap();
    let alone = system(planar, &force).unwrap();
    let model = load(folder.join("main.toml"), &LoadOptions::default());
    let model = model.unwrap_or_else(|failure| panic!("{:?}", failure.diagnostics));
    let whole = compile(&model).unwrap_or_else(|errors| panic!("{errors:?}"));
    std::fs::remove_dir_all(&folder).unwrap();

    // a state and its image
    let (poses, twists) = motion(planar, true, 5);
    let Q = Mat3(transform.q);
    let mut images = (vec![poses[0]], vec![twists[0]]);
    for (pose, twist) in poses.iter().zip(&twists).skip(1) {
        let frame = transform.frame(&Frame { p: pose.p.0, q: pose.rot.to_quat(), angle: pose.angle });
        let image = if planar {
            Pose::planar(frame.p[0], frame.p[1], frame.angle)
        } else {
            Pose::from_quat(frame.p, frame.q)
        };
        let w_W = -(Q * twist.w_W);
        images.0.push(image);
        images.1.push(Twist::new(&image, Q * twist.v, image.to_local(w_W)));
    }

    let wrench = |system: &System, poses: &[Pose], twists: &[Twist]| {
        let force = &system.forces[0];
        wrenches(
            &*force.load,
            &At { t: 0.3, poses, twists, ids: &force.ids, discrete: &system.discrete, outs: &[] },
        )
    };
    let (before, after) = (wrench(&alone, &poses, &twists), wrench(&whole, &images.0, &images.1));
    for (w, image) in before.iter().zip(&after) {
        assert!((Q * w.force - image.force).norm() < 1e-12, "{element}: {w:?} {image:?}");
        assert!((Q * w.torque + image.torque).norm() < 1e-12, "{element}: {w:?} {image:?}");
    }
}

#[test]
fn a_closure_is_a_force() {
    let built = forces::ClosureForce::on(vec![2], |at: &At<f64>, out: &mut [Wrench<f64>]| {
        out[0].add_force_at(at.twist(0).v.scale(-2.0), Vec3([0.0, 0.0, 1.0]));
    });
    let (poses, twists) = motion(false, false, 3);
    let at = At { t: 0.0, poses: &poses, twists: &twists, ids: &built.ids, discrete: &[], outs: &[] };
    let out = wrenches(&*built.load, &at);
    assert_eq!(out[0].force.0, twists[2].v.scale(-2.0).0);
    assert!(!built.load.accounts_for_power());
}

/// Springs of a joint itself act like forces along its coordinate.
#[test]
fn options_of_a_joint_make_springs() {
    let options = "joints.k = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0, 0], axis = [0, 0, 1], \
                   stiffness = 4, damping = 0.5, rest = 0.25 }\n\
                   joints.u = { kind = 'universal', bodies = ['ground', 'b'], at = [1, 0, 0], axis = [0, 0, 1], \
                   axis2 = [1, 0, 0], angle2 = { stiffness = 7, reads = 2 } }";
    let system = system(false, options).unwrap();
    let names: Vec<&str> = system.forces.iter().map(|force| force.name.as_str()).collect();
    assert_eq!(names, ["k", "u.angle2"]);

    // k reads 0.1 and turns at 2 rad/s, u.angle2 is where it rests
    let rotated = Pose::from_quat([0.0; 3], quat_from_rotation_vector(&[0.0, 0.0, 0.1]));
    let b = Pose { p: Vec3([1.0, 0.0, 0.0]), ..Pose::identity() };
    let poses = [Pose::identity(), rotated, b, b];
    let mut twists = [Twist::zero(); 4];
    twists[1] = Twist::new(&rotated, Vec3([0.0; 3]), Vec3([0.0, 0.0, 2.0]));
    let torque = |k: usize| {
        let force = &system.forces[k];
        let discrete = &system.discrete;
        let at = At { t: 0.0, poses: &poses, twists: &twists, ids: &force.ids, discrete, outs: &[] };
        wrenches(&*force.load, &at)[1].torque
    };
    assert!((torque(0)[2] + 4.0 * (0.1 - 0.25) + 0.5 * 2.0).abs() < 1e-14);
    assert!(torque(1).norm() < 1e-14);
}

#[test]
fn every_controller_runs() {
    for kind in controllers::KINDS {
        for (planar, examples) in [(true, kind.planar), (false, kind.spatial)] {
            for example in examples {
                let system = with_element(planar, "controllers", kind.name, example);
                let mut mechanism = system.mechanism();
                let state = spinning(&system, planar, 0.4);
                let outs = mechanism.observe(&state, |at| at.outs.to_vec());
                assert!(outs.iter().all(|x| x.is_finite()), "{}: {example}", kind.name);
                assert_eq!(outs.len(), system.controllers[0].outputs.len());
                sample(planar, kind.name, example, &state);
            }
        }
    }
}

/// What is sampled takes its sample at `state`, whose multipliers are 1, and its states stay finite.
fn sample(planar: bool, kind: &str, example: &str, state: &State) {
    let text = text(planar, &format!("controllers.X = {{ kind = '{kind}', {example} }}"));
    let model = load_str("test.toml", &text, &LoadOptions::default()).unwrap();
    let system = Arc::new(compile(&model).unwrap());
    let is_sampled = system.controllers[0].controller.sampling().is_some();
    let mut sampler = Sampler::new(&model, &system, (state.t, 1.0), &[]).unwrap();
    assert_eq!(is_sampled, example.contains("period"), "{kind}: {example}");
    assert_eq!(sampler.is_empty(), !is_sampled, "{kind}: {example}");
    let (mut mechanism, mut s) = (system.mechanism(), state.clone());
    let (mut eq, mut accel) = (Equations::new(&mechanism), Accel::zeros(&system.structure));
    mechanism.update(&s, Stage::FORCE, &mut eq);
    accel.lambda.fill(1.0);
    let changed = sampler.act(&mut mechanism, &mut s, Some((&eq, &accel)));
    assert_eq!(changed, is_sampled, "{kind}: {example}");
    assert!(s.is_finite(), "{kind}: {example}");
    assert!(sampler.next() > state.t, "{kind}: {example}");
}

/// The model pose with `b` rotating about the hinge at 1 rad/s since t = 0.
fn spinning(system: &System, planar: bool, t: f64) -> State {
    let mut state = system.start();
    state.t = t;
    let (point, axis) = if planar { ([0.5, 0.1, 0.0], [0.0, 0.0, 1.0]) } else { (HINGE, AXIS) };
    let rotation = quat_from_rotation_vector(&axis.map(|x| x * t));
    let rot = Mat3::from_quat(rotation);
    let arm = rot.mul_f64(&[1.0 - point[0], -point[1], -point[2]]);
    let v = Vec3(axis).cross(arm);
    let body = &system.directory.bodies[2];
    let (q, v_out) = (&mut state.q[body.q..], &mut state.v[body.v..]);
    if planar {
        q[..3].copy_from_slice(&[point[0] + arm[0], point[1] + arm[1], t]);
        v_out[..3].copy_from_slice(&[v[0], v[1], 1.0]);
    } else {
        for i in 0..3 {
            q[i] = point[i] + arm[i];
            v_out[i] = v[i];
            v_out[3 + i] = axis[i];
        }
        q[3..7].copy_from_slice(&quat_normalize(quat_mul(&[1.0, 0.0, 0.0, 0.0], &rotation)));
    }
    state
}

/// The error is 3 t - angle = 2 t, its derivative 2: out = 5·2 t + 0.5·2.
#[test]
fn the_derivative_of_a_pid_is_exact_without_a_filter() {
    for planar in [true, false] {
        let reads = if planar { "3*t - h.angle" } else { "3*t - h.angle + 0*a.x" };
        let system =
            with_element(planar, "controllers", "pid", &format!("input = '{reads}', kp = 5, kd = 0.5"));
        let out = system.mechanism().observe(&spinning(&system, planar, 0.7), |at| at.outs[0]);
        assert!((out - (5.0 * 1.4 + 1.0)).abs() < 1e-12, "{out}");
    }
}

#[test]
fn limits_of_a_pid_hold_its_integral_while_it_would_grow() {
    let text = "controllers.up = { kind = 'pid', input = '1', kp = 3, ki = 2, limits = [-1, 1] }\n\
                controllers.back = { kind = 'pid', input = '-1', ki = 2, limits = [-1, 1] }\n\
                controllers.open = { kind = 'pid', input = '1', kp = 3, ki = 2 }";
    let system = system(true, text).unwrap();
    let rates = |i: usize, integral: f64| {
        let element = &system.controllers[i];
        let at = At { t: 0.0, poses: &[], twists: &[], ids: &[], discrete: &[], outs: &[] };
        let mut xdot = [f64::NAN];
        element.controller.rates(&at, &[integral], &[], &mut xdot);
        (element.name.as_str(), xdot[0])
    };
    assert_eq!(rates(0, 0.0), ("up", 0.0));
    // saturated high, but the error leads back
    assert_eq!(rates(1, 4.0), ("back", -1.0));
    assert_eq!(rates(2, 0.0), ("open", 1.0));
}

#[test]
fn controllers_read_each_others_states_and_outputs() {
    let text = "controllers.late = { kind = 'ode', outputs = { u = '2*early.u + early.x' } }\n\
                controllers.early = { kind = 'ode', states = { x = 3 }, rates = { x = 'late.u' }, \
                outputs = { u = 'x + 1' } }\n\
                forces.pull = { kind = 'force', body = 'a', force = ['late.u', 0] }";
    let system = system(true, text).unwrap();
    let mut mechanism = system.mechanism();
    let state = system.start();
    let named = |name: &str| system.controllers.iter().find(|c| c.name == name).unwrap();
    let outs = mechanism.observe(&state, |at| at.outs.to_vec());
    let (early, late) = (named("early"), named("late"));
    assert_eq!(outs[early.out], 4.0);
    assert_eq!(outs[early.out + 1], 3.0);
    assert_eq!(outs[late.out], 11.0);
    let at = At { t: 0.0, poses: &[], twists: &[], ids: &[], discrete: &[], outs: &outs };
    let mut xdot = [0.0];
    early.controller.rates(&at, &[3.0], &[4.0], &mut xdot);
    assert_eq!(xdot[0], 11.0);
}

/// z starts at the error, so that a constant error has no derivative.
#[test]
fn the_filter_of_a_pid_starts_without_a_kick() {
    let system = with_element(true, "controllers", "pid", "input = '7 - a.vx', kd = 0.5, filter = 0.1");
    let mut mechanism = system.mechanism();
    let mut state = system.start();
    mechanism.initialize_controllers(&mut state);
    assert_eq!(mechanism.observe(&state, |at| at.outs[0]), 0.0);
}

#[test]
fn bad_forces_and_controllers_are_refused_with_their_place() {
    let cases = [
        ("forces.F = { kind = 'spirng', bodies = ['a', 'b'] }", "did you mean `spring`?"),
        ("forces.F = { kind = 'drag', bodies = ['a'] }", "needs `fluid`"),
        ("forces.F = { body = 'a', force = [1, 0, 0] }", "needs `kind`"),
        (
            "forces.F = { kind = 'force', body = 'a', force = [1, 0, 0], nonideal = 'perhaps' }",
            "`perhaps` is not known",
        ),
        ("forces.F = { kind = 'force', body = 'aa', force = [1, 0, 0] }", "body `aa` does not exist"),
        ("forces.F = { kind = 'force', body = 'a', force = [1, 0] }", "expected 3 components"),
        ("forces.F = { kind = 'force', body = 'a', force = [1, 0, 0], force_on = [1, 0, 0] }", "not both"),
        ("forces.F = { kind = 'force', body = 'a', force = [1, 0, 'a.spin'] }", "`a` has no `spin`"),
        (
            "forces.F = { kind = 'force', body = 'a', at = [0, 0, 0], on = [0, 0, 0], force = [1, 0, 0] }",
            "not both",
        ),
        ("forces.F = { kind = 'force', body = 'dot', on = [0, 0, 1], force = [1, 0, 0] }", "point mass"),
        ("forces.F = { kind = 'torque', body = 'dot', torque = [1, 0, 0] }", "takes no torque"),
        ("forces.F = { kind = 'torque', body = 'a' }", "needs `torque` or `torque_on`"),
        ("forces.F = { kind = 'actuator', joint = 'h', force = 1 }", "takes `torque`, not `force`"),
        ("forces.F = { kind = 'actuator', joint = 'k', torque = 1 }", "joint `k` does not exist"),
        ("forces.F = { kind = 'actuator', joint = 'h.position', torque = 1 }", "`h.angle`"),
        ("forces.F = { kind = 'actuator', joint = 'h', torque = 1, limits = [2, 1] }", "2 is not below 1"),
        ("forces.F = { kind = 'spring', bodies = ['a', 'a'], ends = [[0, 0, 0], [1, 0, 0]] }", "to itself"),
        ("forces.F = { kind = 'spring', bodies = ['a', 'b'], stiffness = 1 }", "needs `ends` or `on`"),
        (
            "forces.F = { kind = 'spring', bodies = ['a', 'b'], ends = [[0, 0, 0], [1, 0, 0]] }",
            "needs `stiffness`",
        ),
        ("forces.F = { kind = 'spring', joint = 'h', stiffness = -1 }", "must not be negative"),
        ("forces.F = { kind = 'spring', joint = 'h', tension = 'length', stiffness = 1 }", "not both"),
        ("forces.F = { kind = 'spring', joint = 'h', stiffness = 1, lenght = 2 }", "has no key `lenght`"),
        ("forces.F = { kind = 'spring', joint = 'h', stiffness = 1, only = 'twist' }", "cannot be `twist`"),
        (
            "forces.F = { kind = 'bushing', bodies = ['a', 'b'], at = [0, 0, 0], stiffness = [1, 2] }",
            "expected 6 numbers",
        ),
        (
            "forces.F = { kind = 'bushing', bodies = ['a', 'b'], at = [0, 0, 0], axis = [0, 0, 0], stiffness = [1, 1, 1, 1, 1, 1] }",
            "no length",
        ),
        ("forces.F = { kind = 'field', bodies = ['a', 'a'], force = [0, 0, 0] }", "twice"),
        ("forces.F = { kind = 'field', bodies = [], force = [0, 0, 0] }", "needs a body"),
        (
            "joints.k = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0, 0], armature = -1 }",
            "must not be negative",
        ),
        ("controllers.C = { kind = 'pid', input = 'a.vx', kd = 1 }", "give `filter`"),
        ("controllers.C = { kind = 'pid', input = '1', period = 0 }", "must be positive"),
        ("controllers.C = { kind = 'state_space' }", "not available yet"),
        ("controllers.C = { kind = 'pid', kp = 1 }", "needs `input`"),
        ("controllers.C = { kind = 'sampled', outputs = { u = 1 } }", "needs `period`"),
        ("controllers.C = { kind = 'ode' }", "needs `states` or `outputs`"),
        ("controllers.C = { kind = 'ode', states = { x = 1 } }", "has no rate"),
        (
            "controllers.C = { kind = 'ode', states = { x = 1 }, rates = { x = 0, y = 1 } }",
            "has no state `y`",
        ),
        (
            "controllers.C = { kind = 'ode', states = { x = 1 }, rates = { x = 0 }, outputs = { x = 'x' } }",
            "both",
        ),
        ("controllers.C = { kind = 'pid', input = 'C.out', kp = 1 }", "circle"),
    ];
    for (text, message) in cases {
        let error = system(false, text).err().unwrap_or_else(|| panic!("accepted: {text}"));
        assert!(error.contains(message), "{text}\n{error}");
        assert!(error.contains("test.toml:"), "no place: {error}");
    }
}
