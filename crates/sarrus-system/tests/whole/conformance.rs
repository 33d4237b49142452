//! Describes what every registered joint, constraint and driver must satisfy.

use sarrus_io::{LoadOptions, load_str};
use sarrus_math::solve::rank;
use sarrus_math::{Mat3, Pose};
use sarrus_model::Space;
use sarrus_solve::{COEFFICIENTS, Equations, Expansion, Problem, Stage, State};
use sarrus_system::constraint::{JacobianBlocks, Rows};
use sarrus_system::derive::DerivativeWorkspace;
use sarrus_system::{At, Mechanism, System, compile, constraints, drivers, joints};
use std::sync::Arc;

use crate::worlds::{Numbers, PLANAR, PLANAR_JOINTS, SPATIAL, SPATIAL_JOINTS};

fn system(text: &str) -> Arc<System> {
    let text = format!("format = 'sarrus/1'\n{text}");
    let model = load_str("test.toml", &text, &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{text}\n{}", e.render()));
    let system = compile(&model).unwrap_or_else(|errors| {
        let all: Vec<String> = errors.iter().map(|e| e.render(&model.sources)).collect();
        panic!("{text}\n{}", all.join("\n"))
    });
    Arc::new(system)
}

/// A state near the model pose, moving.
fn state(m: &Mechanism, numbers: &mut Numbers) -> State {
    let mut s = m.system().start();
    let nudge: Vec<f64> = (0..s.v.len()).map(|_| 0.2 * numbers.next()).collect();
    m.retract(&mut s.q, &nudge);
    s.v.iter_mut().for_each(|v| *v = 2.0 * numbers.next());
    s.t = 0.3 + 0.2 * numbers.next();
    s
}

/// The state a time `h` later along the motion with v̇ = 0.
fn moved(m: &Mechanism, s: &State, h: f64) -> State {
    let mut later = s.clone();
    let step: Vec<f64> = s.v.iter().map(|v| h * v).collect();
    m.retract(&mut later.q, &step);
    later.t += h;
    later
}

struct Values {
    phi: Vec<f64>,
    J: Vec<f64>,
    derived_J: Vec<f64>,
    phi_t: Vec<f64>,
    rates: Vec<f64>,
    gamma: Vec<f64>,
    derived_gamma: Vec<f64>,
    jerk: Vec<f64>,
    jv: Vec<f64>,
}

fn values(m: &mut Mechanism, s: &State, element: usize) -> Values {
    let system = m.system().clone();
    let e = &system.elements[element];
    let (n, wide) = (e.rows.rows(), system.wide);
    m.observe(s, |at| {
        let at = At { ids: &e.ids, ..*at };
        let rows: &dyn Rows = &*e.rows;
        let mut scratch = DerivativeWorkspace::default();
        let zeros = || vec![0.0; n];
        let mut out = Values {
            phi: zeros(),
            J: vec![0.0; n * wide * e.ids.len()],
            derived_J: vec![0.0; n * wide * e.ids.len()],
            phi_t: zeros(),
            rates: zeros(),
            gamma: zeros(),
            derived_gamma: zeros(),
            jerk: zeros(),
            jv: zeros(),
        };
        rows.phi(&at, &mut out.phi);
        rows.jacobian(&at, &mut scratch, &mut JacobianBlocks { data: &mut out.J, rows: n, wide });
        rows.derived_jacobian(
            &at,
            &mut scratch,
            &mut JacobianBlocks { data: &mut out.derived_J, rows: n, wide },
        );
        // a hand-coded J may fill the ground's block; it is never used
        for (i, &id) in e.ids.iter().enumerate() {
            if id == 0 {
                out.J[i * n * wide..(i + 1) * n * wide].fill(0.0);
                out.derived_J[i * n * wide..(i + 1) * n * wide].fill(0.0);
            }
        }
        rows.phi_t(&at, &mut scratch, &mut out.phi_t);
        rows.rates(&at, &mut scratch, &mut out.rates);
        rows.gamma(&at, &mut scratch, &mut out.gamma);
        rows.derived_gamma(&at, &mut scratch, &mut out.derived_gamma);
        rows.jerk(&at, &mut scratch, &mut out.jerk);
        for (i, &id) in e.ids.iter().enumerate() {
            let twist = &at.twists[id as usize];
            let v = if wide == 3 {
                vec![twist.v.0[0], twist.v.0[1], twist.w.0[2]]
            } else {
                [twist.v.0, twist.w.0].concat()
            };
            for row in 0..n {
                let J = &out.J[(i * n + row) * wide..][..wide];
                out.jv[row] += J.iter().zip(&v).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        out
    })
}

fn close(what: &str, a: &[f64], b: &[f64], tolerance: f64) {
    let size = a.iter().chain(b).fold(1.0_f64, |m, x| m.max(x.abs()));
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= tolerance * size, "{what}, entry {i}: {x} against {y}");
    }
}

/// Hand-coded J and γ equal the derived ones; Φ̇ = J v + Φ_t; γ and the jerk terms are derivatives along the motion.
fn conforms(what: &str, system: &Arc<System>, element: usize) {
    let mut m = system.mechanism();
    let holonomic = system.elements[element].rows.holonomic();
    let mut numbers = Numbers(7);
    for _ in 0..5 {
        let s = state(&m, &mut numbers);
        m.set_discrete(&system.discrete);
        m.accept(&s);
        let at = values(&mut m, &s, element);
        close(&format!("{what}: J"), &at.J, &at.derived_J, 1e-12);
        close(&format!("{what}: gamma"), &at.gamma, &at.derived_gamma, 1e-11);
        let jv: Vec<f64> = at.jv.iter().zip(&at.phi_t).map(|(a, b)| a + b).collect();
        close(&format!("{what}: rates"), &at.rates, &jv, 1e-11);

        // central differences along the motion: error h², roundoff ε/h
        let h = 1e-5;
        let (before, after) = (moved(&m, &s, -h), moved(&m, &s, h));
        let (before, after) = (values(&mut m, &before, element), values(&mut m, &after, element));
        let slope =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (b - a) / (2.0 * h)).collect::<Vec<_>>();
        let rates = slope(&before.phi, &after.phi);
        close(&format!("{what}: dPhi/dt"), &rates[..holonomic], &at.rates[..holonomic], 1e-7);
        let second: Vec<f64> = slope(&before.rates, &after.rates).iter().map(|x| -x).collect();
        close(&format!("{what}: d2Phi/dt2"), &second, &at.gamma, 1e-7);
        let third: Vec<f64> = slope(&before.gamma, &after.gamma).iter().map(|x| -x).collect();
        close(&format!("{what}: d3Phi/dt3"), &third, &at.jerk, 1e-6);
        expands(what, &mut m, &s, element, &at, &mut numbers);
    }
}

/// Φ and J along a motion: the first coefficients are those above, and all of them obey Φ̇ = J v + Φ_t. Φ_t depends on time alone in
/// every example, so a motion at rest tells it.
fn expands(what: &str, m: &mut Mechanism, s: &State, element: usize, at: &Values, numbers: &mut Numbers) {
    let structure = m.structure().clone();
    let rows = structure.rows[element].start..structure.rows[element].start + structure.rows[element].size;
    let mut out = Expansion::zeros(&structure);
    assert!(m.expand(s, std::slice::from_ref(&s.v), &[element], true, &mut out));
    let holonomic = structure.rows[element].holonomic;
    close(&format!("{what}: Phi_0"), &out.phi[0][rows.clone()][..holonomic], &at.phi[..holonomic], 1e-13);
    close(&format!("{what}: Phi_1"), &out.phi[1][rows.clone()], &at.rates, 1e-12);
    let gamma: Vec<f64> = out.phi[2][rows.clone()].iter().map(|x| -2.0 * x).collect();
    close(&format!("{what}: Phi_2"), &gamma, &at.gamma, 1e-11);
    let jerk: Vec<f64> = out.phi[3][rows.clone()].iter().map(|x| 6.0 * x).collect();
    close(&format!("{what}: Phi_3"), &jerk, &at.jerk, 1e-10);

    let v: Vec<Vec<f64>> =
        (0..COEFFICIENTS - 1).map(|_| (0..s.v.len()).map(|_| numbers.next()).collect()).collect();
    let mut rest = Expansion::zeros(&structure);
    m.expand(s, &[vec![0.0; s.v.len()]], &[element], false, &mut rest);
    m.expand(s, &v, &[element], true, &mut out);
    let mut eq = Equations::zeros(&structure);
    for k in 0..COEFFICIENTS - 1 {
        let mut rate = vec![0.0; structure.nc];
        for i in 0..=k {
            eq.J.copy_from_slice(&out.J[i]);
            eq.add_J_mul(&structure, &v[k - i], &mut rate);
        }
        let moving: Vec<f64> =
            rows.clone().map(|i| (k + 1) as f64 * (out.phi[k + 1][i] - rest.phi[k + 1][i])).collect();
        close(&format!("{what}: coefficient {k} of J v"), &rate[rows.clone()], &moving, 1e-11);
    }
}

#[test]
fn every_constraint_conforms() {
    for kind in constraints::KINDS {
        assert!(!kind.planar.is_empty() && !kind.spatial.is_empty(), "{} has no example", kind.name);
        for (examples, world) in [
            (kind.planar, [PLANAR, PLANAR_JOINTS].concat()),
            (kind.spatial, [SPATIAL, SPATIAL_JOINTS].concat()),
        ] {
            for example in examples {
                let text = format!("{world}constraints.k = {{ kind = '{}', {example} }}", kind.name);
                let system = system(&text);
                conforms(&format!("{} ({example})", kind.name), &system, 2);
            }
        }
    }
}

#[test]
fn every_driver_conforms() {
    for kind in drivers::KINDS {
        for (examples, world) in [
            (kind.planar, [PLANAR, PLANAR_JOINTS].concat()),
            (kind.spatial, [SPATIAL, SPATIAL_JOINTS].concat()),
        ] {
            for example in examples {
                let text = format!("{world}drivers.k = {{ kind = '{}', {example} }}", kind.name);
                let system = system(&text);
                conforms(&format!("driver {} ({example})", kind.name), &system, 2);
            }
        }
    }
}

fn joint_text(kind: &joints::JointKind, ground_first: bool) -> String {
    let (world, at) = match kind.space {
        Space::Planar => (PLANAR, "[0.4, 0.2]"),
        Space::Spatial => (SPATIAL, "[0.4, 0, 0.6]"),
    };
    let axis = match kind.axis {
        sarrus_system::joint::AxisRole::None => "",
        sarrus_system::joint::AxisRole::X => "axis = [1, 2],",
        sarrus_system::joint::AxisRole::Z => "axis = [1, 2, 3],",
        _ => "axis = [1, 2, 3], axis2 = [3, 0, -1],",
    };
    let first = if ground_first { "ground" } else { "a" };
    format!(
        "{world}joints.k = {{ kind = '{}', bodies = ['{first}', 'b'], at = {at}, {axis} {} }}",
        kind.name, kind.example
    )
}

#[test]
fn every_joint_conforms() {
    for kind in joints::KINDS {
        for ground_first in [false, true] {
            let system = system(&joint_text(kind, ground_first));
            for element in 0..system.elements.len() {
                conforms(&format!("joint {} row block {element}", kind.name), &system, element);
            }
        }
    }
}

/// The two faces of a joint agree: the rows vanish on the motion that it allows, rows and degrees of freedom make 6 (3), and the
/// coordinates read what they were set to.
#[test]
fn the_motion_of_every_joint_satisfies_its_rows() {
    for kind in joints::KINDS {
        let system = system(&joint_text(kind, false));
        let joint = &system.directory.joints[0];
        let mut m = system.mechanism();
        let mut numbers = Numbers(11);
        for _ in 0..5 {
            let mut s = state(&m, &mut numbers);
            let q: Vec<f64> = (0..joint.face.pose_numbers()).map(|_| numbers.next()).collect();
            set_second_body(&mut m, &mut s, joint.face.pose(&q), kind.space);
            m.set_discrete(&system.discrete);
            m.accept(&s);
            let mut eq = Equations::new(&m);
            m.update(&s, Stage::POSITION, &mut eq);
            close(&format!("{}: phi on its motion", kind.name), &eq.phi, &vec![0.0; eq.phi.len()], 1e-13);

            let full = if kind.space == Space::Planar { 3 } else { 6 };
            let dof = match kind.name {
                "spherical" => 3,
                "screw" => 1,
                _ => kind.coordinates.len(),
            };
            let mut J = Vec::new();
            for row in &system.structure.rows {
                let entry = &system.structure.entries[row.entries.clone()][1];
                J.extend_from_slice(&eq.J[entry.offset..entry.offset + row.size * full]);
            }
            let found = rank(&J, system.structure.nc, full, None).unwrap();
            assert_eq!(found.rank + dof, full, "{}: rank and degrees of freedom", kind.name);
            assert_eq!(system.structure.nc, found.rank, "{}: rows are independent", kind.name);

            // the screw's numbers are fewer than its coordinates
            if kind.name != "screw" {
                for (k, &expected) in q.iter().enumerate().take(kind.coordinates.len()) {
                    let c = joint.coordinate(k, 0, 1);
                    let read = m.observe(&s, |at| c.value(&At { ids: &joint.bodies, ..*at }));
                    let off = read - c.offset - expected;
                    assert!(off.abs() < 1e-12, "{}: {} reads {read}", kind.name, kind.coordinates[k].name);
                }
            }
            for k in 0..kind.coordinates.len() {
                let c = joint.coordinate(k, 0, 1);
                let mut read = |s: &State| m.observe(s, |at| c.value(&At { ids: &joint.bodies, ..*at }));
                // along a motion that the joint allows: project the velocity onto its rows
                let v = allowed_velocity(&system, &eq, &s);
                let s = State { v, ..s.clone() };
                let h = 1e-5;
                let m2 = system.mechanism();
                let slope = (read(&moved(&m2, &s, h)) - read(&moved(&m2, &s, -h))) / (2.0 * h);
                let speed = m.observe(&s, |at| c.speed(&At { ids: &joint.bodies, ..*at }));
                assert!((slope - speed).abs() < 1e-8, "{}: speed {speed} against {slope}", kind.name);
            }
        }
    }
}

/// Velocities of `s` with the part that violates J v = 0 taken away.
fn allowed_velocity(system: &Arc<System>, eq: &Equations, s: &State) -> Vec<f64> {
    let mut kkt = sarrus_solve::Kkt::new(&system.structure, eq, sarrus_solve::HUB_DEGREE).unwrap();
    kkt.factor(eq, sarrus_solve::ActiveRows::All, sarrus_solve::RankDemand::Any).unwrap();
    let mut a = vec![0.0; s.v.len()];
    eq.mass_mul(&system.structure, &s.v, &mut a);
    let (mut v, mut mu) = (vec![0.0; s.v.len()], vec![0.0; system.structure.nc]);
    kkt.solve(eq, &a, &vec![0.0; system.structure.nc], &mut v, &mut mu).unwrap();
    v
}

/// Puts the joint's second body where the joint's motion has it.
fn set_second_body(m: &mut Mechanism, s: &mut State, motion: Pose<f64>, space: Space) {
    let system = m.system().clone();
    let joint = &system.directory.joints[0];
    let A = m.observe(s, |at| at.poses[joint.bodies[0] as usize]);
    let F = joint.frames.F.frame_pose(&A);
    let M = F.compose(&motion);
    let rot: Mat3<f64> = M.rot * joint.frames.M.rot.transpose();
    let p = M.p - rot.mul_f64(&joint.frames.M.p);
    let q = system.directory.bodies[joint.bodies[1] as usize].q;
    if space == Space::Planar {
        s.q[q..q + 3].copy_from_slice(&[p.0[0], p.0[1], M.angle - joint.frames.M.angle]);
    } else {
        s.q[q..q + 3].copy_from_slice(&p.0);
        s.q[q + 3..q + 7].copy_from_slice(&rot.to_quat());
    }
}

/// One file a kind: a file that no one registered would never be tested.
#[test]
fn every_joint_file_is_registered() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/joints");
    let files = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap());
    let mut stems: Vec<String> = files.filter_map(|f| f.strip_suffix(".rs").map(str::to_owned)).collect();
    stems.retain(|stem| stem != "mod" && stem != "frames");
    let mut names: Vec<String> = joints::KINDS
        .iter()
        .map(|k| if k.space == Space::Planar { format!("planar_{}", k.name) } else { k.name.to_owned() })
        .collect();
    stems.sort();
    names.sort();
    assert_eq!(stems, names);
}
