//! Trees of joints: their kinematics against the rows of the joints, their dynamics against closed forms and against the
//! equations between bodies.

use sarrus_io::{LoadOptions, load_str};
use sarrus_model::Space;
use sarrus_solve::{ActiveRows, Chart, Equations, HUB_DEGREE, Kkt, Problem, RankDemand, Stage, State};
use sarrus_system::joint::AxisRole;
use sarrus_system::tree::InboardJoint;
use sarrus_system::tree::motion::JointMotion;
use sarrus_system::tree::spatial::Vec6;
use sarrus_system::{System, Tree, TreeDynamics, compile, joints};
use std::sync::Arc;

use crate::worlds::{Numbers, PLANAR, SPATIAL};

fn system(text: &str) -> Arc<System> {
    let text = format!("format = 'sarrus/1'\n{text}");
    let model = load_str("test.toml", &text, &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{text}\n{}", e.render()));
    Arc::new(compile(&model).unwrap_or_else(|errors| {
        let all: Vec<String> = errors.iter().map(|e| e.render(&model.sources)).collect();
        panic!("{text}\n{}", all.join("\n"))
    }))
}

fn close(what: &str, a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len(), "{what}");
    let size = a.iter().chain(b).fold(1.0_f64, |m, x| m.max(x.abs()));
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= tolerance * size, "{what}, entry {i}: {x} against {y}");
    }
}

/// A joint of the kind between `a` and `b`, or `b` and `a`, in a tree that has a hinge before it and a ball (a pin) behind.
fn world(kind: &joints::JointKind, reversed: bool) -> String {
    let (bodies, at, before, behind) = match kind.space {
        Space::Planar => (
            PLANAR,
            "[0.4, 0.2]",
            "joints.h = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0.3] }",
            "joints.g = { kind = 'revolute', bodies = ['c', 'b'], at = [0.9, 0.1] }",
        ),
        Space::Spatial => (
            SPATIAL,
            "[0.4, 0, 0.6]",
            "joints.h = { kind = 'revolute', bodies = ['a', 'ground'], at = [0, 0.3, 0.1], axis = [1, -1, 2] }",
            "joints.g = { kind = 'spherical', bodies = ['c', 'b'], at = [0.9, 0.1, 0.5] }",
        ),
    };
    let axis = match kind.axis {
        AxisRole::None => "",
        AxisRole::X => "axis = [1, 2],",
        AxisRole::Z => "axis = [1, 2, 3],",
        _ => "axis = [1, 2, 3], axis2 = [3, 0, -1],",
    };
    let pair = if reversed { "['b', 'a']" } else { "['a', 'b']" };
    let joint = format!(
        "joints.k = {{ kind = '{}', bodies = {pair}, at = {at}, {axis} {} }}",
        kind.name, kind.example
    );
    format!("{bodies}\n{before}\n{joint}\n{behind}\n")
}

/// A state of the tree away from the model pose, moving.
fn random(tree: &Tree, start: &State, numbers: &mut Numbers) -> State {
    let mut s = start.clone();
    s.q.iter_mut().for_each(|q| *q += numbers.next());
    tree.normalize(&mut s.q);
    s.v.iter_mut().for_each(|v| *v = 2.0 * numbers.next());
    s
}

/// Every kind of joint, either way round, and one system with a free body, a branch and a thread that starts shifted.
fn systems() -> Vec<(String, Arc<System>)> {
    let mut all = Vec::new();
    for kind in joints::KINDS {
        for reversed in [false, true] {
            let name = format!("{:?} {} reversed: {reversed}", kind.space, kind.name);
            all.push((name, system(&world(kind, reversed))));
        }
    }
    let text = format!(
        "{SPATIAL}
        bodies.d = {{ at = [0.2, 0.9, 0.9], mass = 0.5, inertia = [0.03, 0.02, 0.04] }}
        bodies.p = {{ kind = 'point', at = [2, 0, 0], mass = 0.3 }}
        joints.k = {{ kind = 'cylindrical', bodies = ['a', 'b'], at = [0.4, 0, 0.6], axis = [1, 2, 3] }}
        joints.l = {{ kind = 'universal', bodies = ['c', 'a'], at = [0.6, 0.3, 0.3], axis = [0, 0, 1], axis2 = [1, 0, 0] }}
        joints.m = {{ kind = 'screw', bodies = ['ground', 'd'], on = [[0.2, 0.9, 0.4], [0, 0, -0.3]], axis = [0, 0, 1], lead = 0.2 }}"
    );
    all.push(("free".into(), system(&text)));
    let planar = format!(
        "{PLANAR}\njoints.k = {{ kind = 'revolute', bodies = ['a', 'b'], at = [0.4, 0.2], sense = 'against' }}"
    );
    all.push(("free planar, angle against z".into(), system(&planar)));
    all
}

/// Hand-coded partial velocities equal the derived ones, and these the differences of the pose along the motion.
#[test]
fn partial_velocities_of_every_joint_are_derivatives_of_its_pose() {
    for kind in joints::KINDS {
        let system = system(&world(kind, false));
        let joint = &system.directory.joints[system.directory.joint("k").unwrap()];
        let face = &joint.face;
        let mut numbers = Numbers(3);
        for _ in 0..5 {
            let q: Vec<f64> = (0..face.pose_numbers()).map(|_| numbers.next()).collect();
            let y: Vec<f64> = (0..face.dof()).map(|_| numbers.next()).collect();
            let [mut hand, mut derived] = [JointMotion::default(); 2];
            face.motion(&q, &y, &mut hand);
            face.derived_motion(&q, &y, &mut derived);
            let flat = |m: &JointMotion| -> Vec<f64> {
                let S = m.S[..y.len()].iter().chain([&m.bias]);
                S.flat_map(|s| [s.v.0, s.w.0]).chain([m.pose.p.0]).chain(m.pose.rot.0).flatten().collect()
            };
            close(kind.name, &flat(&hand), &flat(&derived), 1e-14);

            // along the motion with constant y: central differences, error h², roundoff ε/h
            let h = 1e-5;
            let later = |h: f64| {
                let mut q = q.clone();
                match face.quaternion() {
                    Some(k) => {
                        let rotation =
                            sarrus_math::quat_from_rotation_vector(&[h * y[k], h * y[k + 1], h * y[k + 2]]);
                        let at = [q[k], q[k + 1], q[k + 2], q[k + 3]];
                        q[k..k + 4].copy_from_slice(&sarrus_math::quat_mul(&at, &rotation));
                    }
                    None => q.iter_mut().zip(&y).for_each(|(q, y)| *q += h * y),
                }
                let mut motion = JointMotion::default();
                face.derived_motion(&q, &y, &mut motion);
                let mut rate = Vec6::ZERO;
                motion.S.iter().zip(&y).for_each(|(S, y)| rate.add_scaled(*y, S));
                (motion.pose, rate)
            };
            let ((before, rate_before), (after, rate_after)) = (later(-h), later(h));
            let (_, rate) = later(0.0);
            let shift = (after.p - before.p).scale(0.5 / h);
            let rotation =
                sarrus_math::quat_to_rotation_vector(&(after.rot * before.rot.transpose()).to_quat());
            close(
                kind.name,
                &[rate.v.0, rate.w.0].concat(),
                &[shift.0, rotation.map(|x| 0.5 * x / h)].concat(),
                1e-9,
            );
            let second = rate_after.minus(&rate_before).scale(0.5 / h);
            close(
                kind.name,
                &[derived.bias.v.0, derived.bias.w.0].concat(),
                &[second.v.0, second.w.0].concat(),
                1e-9,
            );
        }
    }
}

/// Wherever the tree puts the bodies, its joints hold in position and velocity, and its coordinates are read back.
#[test]
fn the_states_of_a_tree_satisfy_its_joints() {
    for (name, system) in systems() {
        let mut mechanism = system.mechanism();
        let mut tree = Tree::new(&system, mechanism.discrete()).unwrap();
        assert!(tree.is_whole(), "{name}");
        let mut eq = Equations::new(&mechanism);
        let mut start = State::zeros(tree.structure());
        tree.compress(&system.start(), &mut start);
        let mut bodies = system.start();
        tree.expand(&start, &mut bodies);
        close(&format!("{name}: the model pose"), &bodies.q, &system.start().q, 1e-14);
        let mut numbers = Numbers(5);
        for _ in 0..5 {
            let s = random(&tree, &start, &mut numbers);
            tree.accept(&start);
            tree.expand(&s, &mut bodies);
            mechanism.set_discrete(&system.discrete);
            mechanism.update(&bodies, Stage::VELOCITY, &mut eq);
            let none = vec![0.0; eq.phi.len()];
            close(&format!("{name}: phi"), &eq.phi, &none, 1e-14);
            close(&format!("{name}: phidot"), &eq.phidot, &none, 2e-14);
            let mut back = s.clone();
            tree.compress(&bodies, &mut back);
            let mut again = system.start();
            tree.expand(&back, &mut again);
            close(&format!("{name}: v"), &again.v, &bodies.v, 1e-13);
            close(&format!("{name}: y"), &back.v, &s.v, 1e-13);

            // several turns on, counted from the state that was accepted
            let mut far = s.clone();
            far.q.iter_mut().for_each(|q| *q *= 9.0);
            tree.normalize(&mut far.q);
            tree.accept(&far);
            tree.expand(&far, &mut bodies);
            tree.compress(&bodies, &mut back);
            close(&format!("{name}: turns"), &back.q, &far.q, 1e-13);
        }
    }
}

/// ẏ of articulated bodies are the accelerations of the equations between bodies, read along the joints; that v̇ there
/// satisfies J v̇ = γ makes this a test of the bias too.
#[test]
fn articulated_bodies_accelerate_as_the_constrained_ones_do() {
    for (name, system) in systems() {
        let mut mechanism = system.mechanism();
        let mut tree = Tree::new(&system, mechanism.discrete()).unwrap();
        let mut eq = Equations::new(&mechanism);
        let structure = system.structure.clone();
        let mut kkt = Kkt::new(&structure, &eq, HUB_DEGREE).unwrap();
        let mut start = State::zeros(tree.structure());
        tree.compress(&system.start(), &mut start);
        let (mut bodies, mut numbers) = (system.start(), Numbers(7));
        for _ in 0..5 {
            let s = random(&tree, &start, &mut numbers);
            tree.expand(&s, &mut bodies);
            mechanism.update(&bodies, Stage::FORCE, &mut eq);
            kkt.factor(&eq, ActiveRows::All, RankDemand::Any).unwrap();
            let (mut vdot, mut lambda) = (vec![0.0; structure.nv], vec![0.0; structure.nc]);
            kkt.solve(&eq, &eq.f, &eq.gamma, &mut vdot, &mut lambda).unwrap();
            let (mut read, mut found) = (s.v.clone(), s.v.clone());
            tree.speed_rates(&vdot, &mut read);
            tree.forward_dynamics(&eq.f, None, &mut found);
            close(&name, &found, &read, 1e-11);
        }
    }
}

/// M = VᵀM V with V column by column; c at rest and moving; M ẏ + c = τ both ways.
#[test]
fn the_recursions_agree_with_each_other() {
    for (name, system) in systems() {
        let mut dynamics = TreeDynamics::new(&system).unwrap();
        let (start, n) = (dynamics.start(), dynamics.tree().structure().nv);
        let mechanism = system.mechanism();
        let eq = Equations::new(&mechanism);
        let mut numbers = Numbers(9);
        for _ in 0..3 {
            let s = random(dynamics.tree(), &start, &mut numbers);
            let mut M = vec![0.0; n * n];
            dynamics.mass_matrix(&s, &mut M);
            let column = |dynamics: &mut TreeDynamics, k: usize| {
                let mut one = s.clone();
                one.v.fill(0.0);
                one.v[k] = 1.0;
                dynamics.bodies(&one).v.clone()
            };
            let V: Vec<Vec<f64>> = (0..n).map(|k| column(&mut dynamics, k)).collect();
            let formed: Vec<f64> = V
                .iter()
                .flat_map(|v| {
                    let mut momentum = vec![0.0; v.len()];
                    eq.mass_mul(&system.structure, v, &mut momentum);
                    V.iter()
                        .map(move |w| w.iter().zip(&momentum).map(|(a, b)| a * b).sum::<f64>())
                        .collect::<Vec<_>>()
                })
                .collect();
            close(&format!("{name}: M"), &M, &formed, 1e-13);

            let [mut c, mut tau, mut back] = [s.v.clone(), s.v.clone(), s.v.clone()];
            let ydot: Vec<f64> = (0..n).map(|_| 3.0 * numbers.next()).collect();
            dynamics.bias(&s, &mut c);
            dynamics.inverse_dynamics(&s, &ydot, &mut tau);
            let product: Vec<f64> =
                (0..n).map(|i| c[i] + (0..n).map(|j| M[i * n + j] * ydot[j]).sum::<f64>()).collect();
            close(&format!("{name}: tau"), &tau, &product, 1e-12);
            dynamics.forward_dynamics(&s, &tau, &mut back);
            close(&format!("{name}: ydot"), &back, &ydot, 1e-11);

            // specified speeds on every other link: what they need, and how the others move
            let links = dynamics.tree().links().len();
            for first in [true, false] {
                let given: Vec<bool> = (0..links).map(|i| (i % 2 == 0) == first).collect();
                let mut mixed = [s.v.clone(), s.v.clone()];
                for (link, given) in dynamics.tree().links().iter().zip(&given) {
                    for k in link.y..link.y + link.ny {
                        mixed[0][k] = if *given { ydot[k] } else { f64::NAN };
                        mixed[1][k] = if *given { f64::NAN } else { tau[k] };
                    }
                }
                let [found, needed] = &mut mixed;
                dynamics.hybrid_dynamics(&s, &given, found, needed);
                close(&format!("{name}: specified"), found, &ydot, 1e-11);
                close(&format!("{name}: needed"), needed, &tau, 1e-11);
            }
        }
    }
}

/// c + Vᵀf = VᵀM V̇ y, with V̇ y by differences of the velocities along a motion with constant y. That ẏ of forward dynamics
/// and of accelerations agree does not show it: an error along a joint's degrees of freedom would be in both.
#[test]
fn the_bias_is_the_acceleration_at_constant_speeds() {
    for (name, system) in systems() {
        let mut dynamics = TreeDynamics::new(&system).unwrap();
        let (start, n) = (dynamics.start(), dynamics.tree().structure().nv);
        let mut mechanism = system.mechanism();
        let mut eq = Equations::new(&mechanism);
        let mut numbers = Numbers(13);
        for _ in 0..3 {
            let s = random(dynamics.tree(), &start, &mut numbers);
            let mut qdot = s.q.clone();
            dynamics.tree().qdot(&s, &mut qdot);
            // off by h²/6 of the third derivative, and by rounding over h
            let h = 1e-5;
            let mut velocities = |h: f64| {
                let mut later = s.clone();
                later.q.iter_mut().zip(&qdot).for_each(|(q, rate)| *q += h * rate);
                dynamics.bodies(&later).v.clone()
            };
            let (before, after) = (velocities(-h), velocities(h));
            let rates: Vec<f64> = before.iter().zip(&after).map(|(a, b)| (b - a) / (2.0 * h)).collect();
            mechanism.update(dynamics.bodies(&s), Stage::LOADS, &mut eq);
            let mut force = rates.clone();
            eq.mass_mul(&system.structure, &rates, &mut force);
            force.iter_mut().zip(&eq.f).for_each(|(force, f)| *force -= f);
            let mut expected = vec![0.0; n];
            for (k, expected) in expected.iter_mut().enumerate() {
                let mut one = s.clone();
                one.v.fill(0.0);
                one.v[k] = 1.0;
                *expected = dynamics.bodies(&one).v.iter().zip(&force).map(|(v, f)| v * f).sum();
            }
            let mut c = vec![0.0; n];
            dynamics.bias(&s, &mut c);
            close(&name, &c, &expected, 1e-8);
        }
    }
}

const PENDULUM: &str = "
    space = 'planar'
    gravity = [0, -9.81]
    bodies.a = { from = [0, 0], to = [1.2, 0], mass = 2 }
    bodies.b = { from = [1.2, 0], to = [2, 0], mass = 0.7 }
    joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }
    joints.B = { kind = 'revolute', bodies = ['a', 'b'], at = [1.2, 0] }";

/// Two bars, angles from the horizontal, the second against the first: with α = θ₁ + θ₂ the textbook's equations.
#[test]
fn a_double_pendulum_has_the_textbooks_equations() {
    let mut dynamics = TreeDynamics::new(&system(PENDULUM)).unwrap();
    let mut s = dynamics.start();
    (s.q, s.v) = (vec![0.4, -0.9], vec![1.3, -2.1]);
    let ([m1, m2], [l1, l2], g) = ([2.0, 0.7], [1.2, 0.8], 9.81);
    let (c2, s2) = (s.q[1].cos(), s.q[1].sin());
    let (c1, c12) = (s.q[0].cos(), (s.q[0] + s.q[1]).cos());
    let (b, k) = (m2 * l2 * l2 / 3.0, 0.5 * m2 * l1 * l2);
    let M = [m1 * l1 * l1 / 3.0 + m2 * l1 * l1 + b + 2.0 * k * c2, b + k * c2, b + k * c2, b];
    let (w1, w2) = (s.v[0], s.v[1]);
    let bias = [
        -k * s2 * (2.0 * w1 * w2 + w2 * w2) + (0.5 * m1 + m2) * g * l1 * c1 + 0.5 * m2 * g * l2 * c12,
        k * s2 * w1 * w1 + 0.5 * m2 * g * l2 * c12,
    ];
    let (mut found, mut c) = ([0.0; 4], [0.0; 2]);
    dynamics.mass_matrix(&s, &mut found);
    dynamics.bias(&s, &mut c);
    close("M", &found, &M, 1e-15);
    close("c", &c, &bias, 1e-15);
}

/// A cart with a bar: M = [m₁ + m₂, -m₂ l/2 sin θ; ., m₂ l²/3], c = [-m₂ l/2 cos θ ω², m₂ g l/2 cos θ] for θ from the rail.
#[test]
fn a_cart_with_a_pole_has_the_textbooks_equations() {
    let text = "
        space = 'planar'
        gravity = [0, -9.81]
        bodies.cart = { at = [0, 0], mass = 1.5, inertia = 0.2 }
        bodies.pole = { from = [0, 0], to = [0.9, 0], mass = 0.4 }
        joints.rail = { kind = 'prismatic', bodies = ['cart', 'ground'], at = [0, 0], axis = [1, 0] }
        joints.pin = { kind = 'revolute', bodies = ['cart', 'pole'], at = [0, 0] }";
    let mut dynamics = TreeDynamics::new(&system(text)).unwrap();
    let mut s = dynamics.start();
    // the rail measures the ground against the cart
    (s.q, s.v) = (vec![0.7, 0.6], vec![-0.8, 1.7]);
    let (m1, m2, l, g) = (1.5, 0.4, 0.9, 9.81);
    let (sin, cos) = 0.6_f64.sin_cos();
    let half = 0.5 * m2 * l;
    let (mut M, mut c) = ([0.0; 4], [0.0; 2]);
    dynamics.mass_matrix(&s, &mut M);
    dynamics.bias(&s, &mut c);
    close("M", &M, &[m1 + m2, half * sin, half * sin, m2 * l * l / 3.0], 1e-15);
    close("c", &c, &[half * cos * 1.7 * 1.7, half * g * cos], 1e-15);
}

/// A body on a ball joint: M is its tensor about the joint and c = ω × M ω - arm × m g, both in body axes.
#[test]
fn a_body_on_a_ball_joint_has_eulers_equations() {
    let text = "
        bodies.top = { at = [0, 0, 0], mass = 3, com = [0.1, 0.2, 0.4], inertia = [0.5, 0.4, 0.3] }
        joints.A = { kind = 'spherical', bodies = ['ground', 'top'], at = [0, 0, 0] }";
    let mut dynamics = TreeDynamics::new(&system(text)).unwrap();
    let mut s = dynamics.start();
    let q = sarrus_math::quat_normalize([0.7, 0.2, -0.4, 0.5]);
    (s.q, s.v) = (q.to_vec(), vec![0.9, -1.4, 2.2]);
    let (m, d) = (3.0, [0.1, 0.2, 0.4]);
    let d2: f64 = d.iter().map(|x| x * x).sum();
    let I = [0.5, 0.4, 0.3];
    let M: Vec<f64> = (0..9)
        .map(|k| {
            let (i, j) = (k / 3, k % 3);
            let own = if i == j { I[i] + m * d2 } else { 0.0 };
            own - m * d[i] * d[j]
        })
        .collect();
    let (mut found, mut c) = ([0.0; 9], [0.0; 3]);
    dynamics.mass_matrix(&s, &mut found);
    dynamics.bias(&s, &mut c);
    close("M", &found, &M, 1e-15);
    let w = sarrus_math::Vec3([0.9, -1.4, 2.2]);
    let Mw = sarrus_math::Vec3(std::array::from_fn(|i| (0..3).map(|j| M[3 * i + j] * w.0[j]).sum()));
    let weight = sarrus_math::Mat3::from_quat(q).transpose_mul(sarrus_math::Vec3([0.0, 0.0, -9.81 * m]));
    let expected = w.cross(Mw) - sarrus_math::Vec3(d).cross(weight);
    close("c", &c, &expected.0, 1e-14);
}

/// The loop of a crank, a rod on two ball joints and a rocker is cut at a ball joint; that of four pins far from the ground.
#[test]
fn loops_are_cut_where_joints_have_most_freedoms_and_arms_are_even() {
    let pins = "
        space = 'planar'
        bodies.a = { from = [0, 0], to = [0, 1], mass = 1 }
        bodies.b = { from = [0, 1], to = [1, 1], mass = 1 }
        bodies.c = { from = [1, 1], to = [2, 1], mass = 1 }
        bodies.d = { from = [2, 1], to = [2, 0], mass = 1 }
        joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }
        joints.B = { kind = 'revolute', bodies = ['a', 'b'], at = [0, 1] }
        joints.C = { kind = 'revolute', bodies = ['b', 'c'], at = [1, 1] }
        joints.D = { kind = 'revolute', bodies = ['c', 'd'], at = [2, 1] }
        joints.E = { kind = 'revolute', bodies = ['ground', 'd'], at = [2, 0] }";
    let balls = "
        bodies.a = { from = [0, 0, 0], to = [0, 0, 1], mass = 1 }
        bodies.b = { from = [0, 0, 1], to = [1, 1, 1], mass = 1 }
        bodies.c = { from = [1, 1, 1], to = [1, 1, 0], mass = 1 }
        joints.B = { kind = 'spherical', bodies = ['a', 'b'], at = [0, 0, 1] }
        joints.C = { kind = 'universal', bodies = ['b', 'c'], at = [1, 1, 1], axis = [1, 0, 0], axis2 = [0, 1, 0] }
        joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0, 0], axis = [0, 1, 0] }
        joints.D = { kind = 'revolute', bodies = ['ground', 'c'], at = [1, 1, 0], axis = [1, 0, 0] }";
    for (text, cut, speeds) in [(pins, "C", 4), (balls, "B", 4)] {
        let system = system(text);
        let tree = Tree::new(&system, &system.discrete).unwrap();
        let names: Vec<&str> = tree.cut().iter().map(|&i| system.elements[i].name.as_str()).collect();
        assert_eq!(names, [cut]);
        assert_eq!(tree.structure().nv, speeds);
    }
}

/// Bodies without a way to the ground stand free; a point mass too, and its joints are cut.
#[test]
fn what_hangs_on_nothing_keeps_its_own_coordinates() {
    let text = format!(
        "{SPATIAL}
        bodies.p = {{ kind = 'point', at = [2, 0, 0], mass = 0.3 }}
        joints.k = {{ kind = 'revolute', bodies = ['a', 'b'], at = [0.4, 0, 0.6], axis = [1, 2, 3] }}
        joints.l = {{ kind = 'spherical', bodies = ['b', 'p'], at = [2, 0, 0] }}"
    );
    let system = system(&text);
    let tree = Tree::new(&system, &system.discrete).unwrap();
    let free: Vec<&str> = tree
        .links()
        .iter()
        .filter(|link| matches!(link.hinge, InboardJoint::Free))
        .map(|link| system.directory.bodies[link.body].name.as_str())
        .collect();
    // of a and b with one joint each b is the lighter; c and p stand alone
    assert_eq!(free, ["a", "c", "p"]);
    assert_eq!(tree.cut().len(), 1);
    assert_eq!(tree.structure().nv, 6 + 1 + 6 + 3);
}

/// A chain twice as long costs twice as much, whatever is computed but the dense mass matrix.
#[test]
fn the_recursions_take_a_time_that_grows_with_the_links() {
    let visits = |n: usize| {
        let mut text = String::from("space = 'planar'\n");
        for i in 1..=n {
            let before = if i == 1 { "ground".to_string() } else { format!("b{}", i - 1) };
            text += &format!("bodies.b{i} = {{ from = [{}, 0], to = [{i}, 0], mass = 1 }}\n", i - 1);
            text += &format!(
                "joints.j{i} = {{ kind = 'revolute', bodies = ['{before}', 'b{i}'], at = [{}, 0] }}\n",
                i - 1
            );
        }
        let mut dynamics = TreeDynamics::new(&system(&text)).unwrap();
        let s = dynamics.start();
        let before = dynamics.tree().visits();
        let (mut a, mut tau) = (vec![0.0; n], vec![0.0; n]);
        dynamics.forward_dynamics(&s, &tau, &mut a);
        dynamics.inverse_dynamics(&s, &a, &mut tau);
        dynamics.tree().visits() - before
    };
    assert_eq!(visits(40), 2 * visits(20));
}
