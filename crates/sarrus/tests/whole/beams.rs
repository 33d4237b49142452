//! Beams and segmented rods: laws of the element, closed forms, names and errors.

use crate::common::{PLANAR, SPATIAL, column, load, outcome, read, run};
use sarrus::analysis::{OperatingPoint, equilibrium, modes};
use sarrus::math::{Jet, Pose, Twist};
use sarrus::prelude::*;
use sarrus::solve::{Dynamics, Equations, Options, Problem, Stage, State, formulations, stabilizations};
use sarrus::system::load::Wrench;
use sarrus::system::system::ForceElement;
use sarrus::system::{At, Mechanism, flexible};
use std::f64::consts::TAU;
use std::path::Path;
use std::sync::Arc;

/// Everything that goes wrong with a model, from reading to its columns and start.
fn error(text: &str) -> String {
    let (model, system) = match read(text, Path::new("")) {
        Ok(built) => built,
        Err(said) => return said,
    };
    match check(&model, &system) {
        Err(e) => e.diagnostics().iter().map(|e| e.render(&model.sources)).collect(),
        Ok(_) => panic!("nothing is wrong with\n{text}"),
    }
}

fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let off = (found - expected).abs();
    assert!(off <= tolerance * expected.abs(), "{what}: {found} instead of {expected}, off by {off:e}");
}

/// Numbers in (-1, 1) without a pattern.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// A state near the model pose, deformed and moving.
fn anywhere(m: &Mechanism, numbers: &mut Numbers) -> State {
    let mut s = m.system().start();
    let nudge: Vec<f64> = (0..s.v.len()).map(|_| 0.3 * numbers.next()).collect();
    m.retract(&mut s.q, &nudge);
    s.v.iter_mut().for_each(|v| *v = 2.0 * numbers.next());
    s
}

/// Every example of every kind, with each of its forces, at several states.
fn every_force(mut see: impl FnMut(&str, &ForceElement, &At<f64>)) {
    for kind in flexible::KINDS {
        for (world, examples) in [(PLANAR, kind.planar), (SPATIAL, kind.spatial)] {
            // a modal body consists of other members: it has no example of its own
            assert!(!examples.is_empty() || kind.name == "modal", "{} has no example", kind.name);
            for example in examples {
                let (_, system) =
                    load(&format!("{world}flexible.X = {{ kind = '{}', {example} }}", kind.name));
                let mut m = system.mechanism();
                let mut numbers = Numbers(7);
                for _ in 0..4 {
                    let s = anywhere(&m, &mut numbers);
                    m.observe(&s, |at| {
                        for force in &system.forces {
                            see(&format!("{}: {example}", kind.name), force, &At { ids: &force.ids, ..*at });
                        }
                    });
                }
            }
        }
    }
}

fn wrenches(force: &ForceElement, at: &At<f64>) -> Vec<Wrench<f64>> {
    let mut out = vec![Wrench::zero(); at.ids.len()];
    force.load.wrench(at, &mut out);
    out
}

/// The rate of the stored energy is found by jets from the energy alone: the wrench is its exact variation.
#[test]
fn power_is_stored_or_turned_into_heat() {
    let (mut seen, mut warm) = (0, 0);
    every_force(|name, force, at| {
        let power: f64 = wrenches(force, at)
            .iter()
            .enumerate()
            .map(|(i, w)| w.force.dot(at.twist(i).v) + w.torque.dot(at.twist(i).w_W))
            .sum();
        let (poses, twists): (Vec<Pose<Jet<2>>>, Vec<Twist<Jet<2>>>) = (0..at.ids.len())
            .map(|i| {
                let (v, w) = ([at.twist(i).v.0], [at.twist(i).w.0]);
                let pose = at.pose(i).jet(&v, &w);
                (pose, Twist::jet(&pose, &v, &w))
            })
            .unzip();
        let ids: Vec<u32> = (0..at.ids.len() as u32).collect();
        let along = At {
            t: Jet::variable(at.t),
            poses: &poses,
            twists: &twists,
            ids: &ids,
            discrete: at.discrete,
            outs: &[],
        };
        let (stored, heat) = (force.load.potential_rate(&along), force.load.dissipation(at));
        assert!(force.load.accounts_for_power() && heat >= 0.0, "{name}");
        let scale = power.abs() + stored.abs() + heat;
        assert!((power + stored + heat).abs() <= 1e-12 * scale, "{name}: {power} + {stored} + {heat}");
        seen += 1;
        warm += usize::from(heat > 0.0);
    });
    assert!(seen > 40 && warm > 20, "{seen}, {warm}");
}

#[test]
fn what_acts_inside_a_member_cancels() {
    every_force(|name, force, at| {
        let all = wrenches(force, at);
        let scale: f64 = all.iter().map(|w| w.force.norm() + w.torque.norm()).sum();
        assert!(scale > 1e-3, "{name}");
        let force = all.iter().skip(1).fold(all[0].force, |sum, w| sum + w.force);
        assert!(force.norm() <= 1e-14 * scale, "{name}");
        let torque =
            all.iter().enumerate().skip(1).fold(all[0].torque, |sum, (i, w)| {
                sum + w.torque + (at.pose(i).p - at.pose(0).p).cross(w.force)
            });
        assert!(torque.norm() <= 1e-13 * scale, "{name}");
    });
}

/// A rigid motion of the whole leaves all strains as they are: none where there were none, and the same energy elsewhere.
#[test]
fn strains_do_not_see_where_the_member_is() {
    for kind in flexible::KINDS {
        for (world, examples) in [(PLANAR, kind.planar), (SPATIAL, kind.spatial)] {
            for example in examples {
                let text = format!("{world}flexible.X = {{ kind = '{}', {example} }}", kind.name);
                let (_, system) = load(&text);
                let mut m = system.mechanism();
                let mut numbers = Numbers(3);
                let deformed = State { v: vec![0.0; system.structure.nv], ..anywhere(&m, &mut numbers) };
                for state in [system.start(), deformed] {
                    let before = m.energy(&state).potential;
                    let planar = world == PLANAR;
                    let rotation = [0.0, 0.0, 2.0].map(|x| if planar { x } else { x - 0.7 });
                    let moved =
                        moved_whole(&m, &state, [0.4, -1.1, if planar { 0.0 } else { 2.0 }], rotation);
                    let after = m.energy(&moved).potential;
                    assert!((after - before).abs() <= 1e-13 * (1.0 + before), "{text}: {before} and {after}");
                }
                assert!(m.energy(&system.start()).potential.abs() < 1e-25, "{text}");
            }
        }
    }
}

/// The state rotated about the world's origin by a rotation vector and moved.
fn moved_whole(m: &Mechanism, s: &State, shift: [f64; 3], angle: [f64; 3]) -> State {
    use sarrus::math::{Mat3, Vec3, quat_from_rotation_vector};
    let rotation = Mat3::from_quat(quat_from_rotation_vector(&angle));
    let mut delta = vec![0.0; s.v.len()];
    for body in m.system().directory.bodies.iter().skip(1) {
        let linear = if m.system().wide == 3 { 2 } else { 3 };
        let mut p = [0.0; 3];
        p[..linear].copy_from_slice(&s.q[body.q..body.q + linear]);
        let to = rotation * Vec3(p) + Vec3(shift);
        (0..linear).for_each(|i| delta[body.v + i] = to.0[i] - p[i]);
        if body.kind.rotates_in_space() {
            // by world axes: Rᵀ of the vector, as velocities are in body axes
            let own = Mat3::from_quat(body.quaternion(&s.q)).transpose_mul(Vec3(angle));
            delta[body.v + 3..body.v + 6].copy_from_slice(&own.0);
        } else if body.kind.rotates() {
            delta[body.v + 2] = angle[2];
        }
    }
    let mut moved = s.clone();
    m.retract(&mut moved.q, &delta);
    moved
}

/// Forces of a beam in space, deformed in a plane, are those of the planar one.
#[test]
fn planar_and_spatial_beams_agree() {
    for order in [1, 2, 3, 4, 5, 6, 7, 8] {
        planar_and_spatial_agree(&format!("section = 's', elements = 2, order = {order}, damping = 0.05"));
    }
}

fn planar_and_spatial_agree(beam: &str) {
    let given = "EA = 50, GA = 30, EI = 7, rhoA = 1.5, rhoI = 0.1";
    let (_, flat) = load(&format!(
        "space = 'planar'\ngravity = [0, 0]\nsections.s = {{ kind = 'given', {given} }}\n\
         flexible.X = {{ kind = 'beam', path = [[0, 0], [1, 0.3], [1.2, 1]], {beam} }}"
    ));
    let (_, deep) = load(&format!(
        "gravity = [0, 0, 0]\nsections.s = {{ kind = 'given', {given}, GJ = 3 }}\n\
         flexible.X = {{ kind = 'beam', path = [[0, 0, 0], [1, 0.3, 0], [1.2, 1, 0]], up = [0, 0, 1], {beam} }}"
    ));
    let (mut a, mut b) = (flat.mechanism(), deep.mechanism());
    let s = anywhere(&a, &mut Numbers(11));
    let mut t = deep.start();
    let mut delta = vec![0.0; t.v.len()];
    let start = flat.start();
    for (one, two) in flat.directory.bodies.iter().zip(&deep.directory.bodies).skip(1) {
        for i in 0..2 {
            delta[two.v + i] = s.q[one.q + i] - start.q[one.q + i];
            t.v[two.v + i] = s.v[one.v + i];
        }
        if one.kind.rotates() {
            delta[two.v + 5] = s.q[one.q + 2] - start.q[one.q + 2];
            t.v[two.v + 5] = s.v[one.v + 2];
        }
    }
    b.retract(&mut t.q, &delta);
    let (mut x, mut y) = (Equations::new(&a), Equations::new(&b));
    a.update(&s, Stage::FORCE, &mut x);
    b.update(&t, Stage::FORCE, &mut y);
    let scale = x.f.iter().fold(1.0_f64, |most, f| most.max(f.abs()));
    for (one, two) in flat.directory.bodies.iter().zip(&deep.directory.bodies).skip(1) {
        for (i, j) in [(0, 0), (1, 1), (2, 5)].into_iter().take(one.kind.nv()) {
            let (x, y) = (x.f[one.v + i], y.f[two.v + j]);
            assert!((x - y).abs() < 1e-12 * (scale + x.abs()), "{beam}, {}: {x} and {y}", one.name);
        }
    }
    close("energy", a.energy(&s).potential, b.energy(&t).potential, 1e-13);
}

fn cantilever(n: usize, more: &str) -> String {
    format!(
        "space = 'planar'\ngravity = [0, 0]\nrun.t_end = 1\n\
         sections.s = {{ kind = 'given', EA = 2e4, GA = 800, EI = 12, rhoA = 1.5, rhoI = 2e-3 }}\n\
         flexible.X = {{ kind = 'beam', from = [0, 0], to = [2, 0], section = 's', elements = {n}{more} }}\n\
         joints.wall = {{ kind = 'fixed', bodies = ['ground', 'X.start'], at = [0, 0] }}\n"
    )
}

/// With one point of integration the curvature is constant over each element: P L³/3EI loses 1/(4n²), the shear nothing.
#[test]
fn a_loaded_cantilever_bends_as_it_should_at_order_two() {
    let (P, L, EI, GA) = (1e-4, 2.0_f64, 12.0, 800.0);
    for n in [1, 2, 4, 8] {
        let load_ = format!("forces.P = {{ kind = 'force', body = 'X.end', force = [0, -{P}] }}\n");
        let (model, system) = load(&(cantilever(n, "") + &load_));
        let rest = equilibrium(&model, &system).unwrap();
        let bending = P * L.powi(3) / (3.0 * EI);
        let expected = bending * (1.0 - 0.25 / (n * n) as f64) + P * L / GA;
        // the load is small: what is not linear is (P L²/EI)² of it
        let tip = rest.report.values[&format!("X.node{n}.y")];
        close(&format!("{n} elements"), -tip, expected, 1e-8);
        // the last element carries the moment of its middle, and all of them the force
        let moment = rest.report.values[&format!("X.element{n}.M")];
        close("moment", -moment, P * L / (2 * n) as f64, 1e-6);
        close("shear", -rest.report.values["X.element1.Q"], P, 1e-6);
    }
}

/// The frequencies of a Timoshenko cantilever: w' = ψ + Q/GA, ψ' = M/EI, M' = -Q - ρI ω²ψ, Q' = -ρA ω²w, clamped at 0 and free at L. The
/// determinant of the block of exp(A L) that takes (M, Q) at 0 to (M, Q) at L vanishes there.
fn timoshenko(count: usize) -> Vec<f64> {
    let (L, GA, EI, rho_a, rho_i) = (2.0, 800.0, 12.0, 1.5, 2e-3);
    let determinant = |omega: f64| {
        let w2 = omega * omega;
        let A = [
            [0.0, 1.0, 0.0, 1.0 / GA],
            [0.0, 0.0, 1.0 / EI, 0.0],
            [0.0, -rho_i * w2, 0.0, -1.0],
            [-rho_a * w2, 0.0, 0.0, 0.0],
        ];
        let times = |a: &[[f64; 4]; 4], b: &[[f64; 4]; 4]| -> [[f64; 4]; 4] {
            std::array::from_fn(|i| std::array::from_fn(|j| (0..4).map(|k| a[i][k] * b[k][j]).sum()))
        };
        // exp by its series over a thousandth of the length, ten times squared
        let h = L / 1024.0;
        let mut T: [[f64; 4]; 4] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(i == j)));
        let mut term = T;
        for k in 1..12 {
            let next = times(&term, &A);
            term = next.map(|row| row.map(|x| x * h / k as f64));
            for (t, x) in T.iter_mut().flatten().zip(term.iter().flatten()) {
                *t += x;
            }
        }
        (0..10).for_each(|_| T = times(&T, &T));
        T[2][2] * T[3][3] - T[2][3] * T[3][2]
    };
    let mut found = Vec::new();
    let (mut low, step) = (0.1, 0.05);
    while found.len() < count {
        let high = low + step;
        if determinant(low) * determinant(high) <= 0.0 {
            let (mut a, mut b) = (low, high);
            for _ in 0..60 {
                let c = 0.5 * (a + b);
                if determinant(a) * determinant(c) <= 0.0 { b = c } else { a = c }
            }
            found.push(0.5 * (a + b));
        }
        low = high;
    }
    found
}

#[test]
fn frequencies_of_a_cantilever_converge_to_timoshenkos_at_order_two() {
    let exact = timoshenko(2);
    // of a slender beam without shear the first is 3.516 √(EI/ρA)/L²
    assert!(exact[0] < 3.516 * (12.0_f64 / 1.5).sqrt() / 4.0 && exact[0] > 2.3, "{exact:?}");
    for (matrix, above) in [("consistent", true), ("lumped", false)] {
        let errors = |n: usize| {
            let (model, system) = load(&cantilever(n, &format!(", mass_matrix = '{matrix}'")));
            let report = modes(&model, &system, OperatingPoint::Start).unwrap();
            let mut all: Vec<f64> =
                report.modes.iter().filter_map(|m| m.frequency).map(|f| TAU * f).collect();
            all.sort_by(f64::total_cmp);
            assert!((report.modes[0].bodies.iter().map(|b| b.share).sum::<f64>() - 1.0).abs() < 1e-12);
            [0, 1].map(|k| all[k] / exact[k] - 1.0)
        };
        let (coarse, fine) = (errors(8), errors(16));
        for k in 0..2 {
            assert_eq!(fine[k] > 0.0, above, "{matrix}, mode {k}: {fine:?}");
            let order = (coarse[k] / fine[k]).log2();
            assert!((order - 2.0).abs() < 0.2, "{matrix}, mode {k}: order {order}, {coarse:?}, {fine:?}");
        }
    }
}

/// One element of order 8 has the first two to five digits: the error is that of the best polynomials, squared.
#[test]
fn frequencies_of_one_element_of_order_eight_are_timoshenkos() {
    let exact = timoshenko(2);
    let (model, system) = load(&cantilever(1, ", order = 8"));
    let report = modes(&model, &system, OperatingPoint::Start).unwrap();
    let mut all: Vec<f64> = report.modes.iter().filter_map(|m| m.frequency).map(|f| TAU * f).collect();
    all.sort_by(f64::total_cmp);
    for k in 0..2 {
        close(&format!("frequency {k}"), all[k], exact[k], 1e-5);
    }
}

/// A moment at its end rolls a beam up into a circle: nodes on a polygon of chords L, rotated by equal angles L M/EI, are in
/// equilibrium exactly, however few elements there are.
#[test]
fn a_beam_rolled_up_by_a_moment_is_in_equilibrium() {
    let n = 8;
    let (length, EI) = (2.0, 7.0);
    let rotation = TAU / n as f64;
    let moment = EI * rotation / (length / n as f64);
    for (world, to, torque) in
        [(PLANAR, "[2, 0]", format!("{moment}")), (SPATIAL, "[2, 0, 0]", format!("[0, {}, 0]", -moment))]
    {
        let (from, planar) = if world == PLANAR { ("[0, 0]", true) } else { ("[0, 0, 0]", false) };
        let (_, system) = load(&format!(
            "{world}flexible.X = {{ kind = 'beam', from = {from}, to = {to}, section = 's', elements = {n} }}\n\
             forces.M = {{ kind = 'torque', body = 'X.end', torque = {torque} }}\n"
        ));
        let mut m = system.mechanism();
        let mut s = system.start();
        let mut delta = vec![0.0; s.v.len()];
        let (mut x, mut y) = (0.0, 0.0);
        let up = if planar { 1 } else { 2 };
        for k in 0..=n {
            let body = &system.directory.bodies[k + 1];
            delta[body.v] = x - k as f64 * length / n as f64;
            delta[body.v + up] = y;
            // a rotation upwards is about z of the plane and about -y of space
            if planar {
                delta[body.v + 2] = k as f64 * rotation;
            } else {
                delta[body.v + 4] = -(k as f64) * rotation;
            }
            let (sin, cos) = ((k as f64 + 0.5) * rotation).sin_cos();
            (x, y) = (x + cos * length / n as f64, y + sin * length / n as f64);
        }
        m.retract(&mut s.q, &delta);
        let mut eq = Equations::new(&m);
        m.update(&s, Stage::FORCE, &mut eq);
        let end = &system.directory.bodies[n + 1];
        let first = &system.directory.bodies[1];
        for body in &system.directory.bodies[2..n + 2] {
            let size = eq.f[body.v..body.v + body.kind.nv()].iter().fold(0.0_f64, |m, f| m.max(f.abs()));
            assert!(size < 1e-12 * moment, "{}: {size}", body.name);
        }
        // what the start needs to be held with, and where the end has come to
        let held = eq.f[first.v + if planar { 2 } else { 4 }].abs();
        close("moment", held, moment, 1e-13);
        assert!((0..2).all(|i| (s.q[end.q + i] - s.q[first.q + i]).abs() < 1e-14));
        close("energy", m.energy(&s).potential, 0.5 * length * moment * moment / EI, 1e-13);
    }
}

/// Accelerations from rest and undeformed: M a = F with m/6 [2 1; 1 2] has a₂ = 4F/m, a₁ = -2F/m; lumped 2F/m and 0.
#[test]
fn the_consistent_mass_matrix_is_that_of_linear_velocities() {
    for (matrix, near, far) in [("consistent", -2.0, 4.0), ("lumped", 0.0, 2.0)] {
        for (world, to, force, n) in
            [(PLANAR, "[0.6, 0.8]", "[3, -2]", 2), (SPATIAL, "[0.6, 0, 0.8]", "[3, -2, 5]", 3)]
        {
            let from = if n == 2 { "[0, 0]" } else { "[0, 0, 0]" };
            let (_, system) = load(&format!(
                "{world}flexible.X = {{ kind = 'beam', from = {from}, to = {to}, section = 's', elements = 1, \
                 mass_matrix = '{matrix}' }}\nforces.F = {{ kind = 'force', body = 'X.end', force = {force} }}\n"
            ));
            let mut m = system.mechanism();
            let formulation = formulations::make("direct", &Options::new()).unwrap();
            let none = stabilizations::make("none", &Options::new()).unwrap();
            let mut dynamics = Dynamics::new(&mut m, formulation, none).unwrap();
            let accel = dynamics.evaluate(&system.start()).unwrap();
            for (body, factor) in system.directory.bodies[1..3].iter().zip([near, far]) {
                for (i, F) in [3.0, -2.0, 5.0].into_iter().take(n).enumerate() {
                    let (a, expected) = (accel.vdot[body.v + i], factor * F / 1.5);
                    assert!(
                        (a - expected).abs() < 1e-13 * F.abs(),
                        "{matrix} {}: {a}, {expected}",
                        body.name
                    );
                }
            }
        }
    }
}

const SWING: &str = "space = 'planar'\n\
    sections.s = { kind = 'given', EA = 2000, GA = 500, EI = 2, rhoA = 1, rhoI = 0.005 }\n\
    flexible.X = { kind = 'beam', from = [0, 0], to = [1, 0], section = 's', elements = 3 }\n";

#[test]
fn a_swinging_beam_keeps_its_energy() {
    let text = format!(
        "{SWING}joints.O = {{ kind = 'revolute', bodies = ['ground', 'X.start'], at = [0, 0] }}\n\
         run = {{ t_end = 1.0, integrator = 'rk45', rtol = 1e-9, atol = 1e-10 }}\n"
    );
    let Outcome { report, trajectory, .. } = outcome(&load(&text));
    let kinetic = column(&trajectory, "energy.kinetic").into_iter().fold(0.0, f64::max);
    let balance = column(&trajectory, "energy.balance");
    // it falls by half its length, and bends on the way
    assert!(kinetic > 3.0, "{kinetic}");
    let off = balance.iter().map(|e| (e - balance[0]).abs()).fold(0.0, f64::max);
    assert!(off < 1e-6 * kinetic, "{off}");
    let ends = ["X.node0.angle", "X.node3.angle"].map(|name| column(&trajectory, name));
    assert!(ends[0].iter().zip(&ends[1]).any(|(a, b)| (a - b).abs() > 0.1));
    // what is inside is not reported
    assert!(trajectory.names().iter().all(|n| !n.starts_with("X.element1.x") && !n.contains("element1.v")));
    assert!(report.constraints.per_joint.iter().all(|e| e.name == "O"));
    assert_eq!(report.size.bodies, 4);
}

/// Damping turns what vibrates into heat, and the energy accounts balance.
#[test]
fn a_damped_beam_loses_what_its_books_say() {
    let text = SWING.replace("elements = 3", "elements = 3, damping = 1e-3")
        + "run = { t_end = 0.5, rtol = 1e-9, atol = 1e-11 }\ninitial.X.node0.velocity = [0, 1]\n"
        // a kick at one end: that alone would set all of it moving
        + "initial.X.node1.velocity = [0, 0]\ninitial.X.node2.velocity = [0, 0]\ninitial.X.node3.velocity = [0, 0]\n";
    let outcome = run(&text);
    let heat = column(&outcome, "energy.dissipated");
    assert!(heat.windows(2).all(|w| w[1] >= w[0]) && heat.last().unwrap() > &1e-3, "{:?}", heat.last());
    let balance = column(&outcome, "energy.balance");
    assert!(balance.iter().all(|e| (e - balance[0]).abs() < 1e-8), "{balance:?}");
}

/// Forces inside cancel, so a free beam keeps its linear momentum to rounding and its angular momentum to the tolerance; the points inside
/// its elements have their part of it.
#[test]
fn a_free_beam_keeps_its_momentum() {
    let text = format!(
        "gravity = [0, 0, 0]\nrun = {{ t_end = 0.3, rtol = 1e-9, atol = 1e-11 }}\n{}\
         flexible.X = {{ kind = 'beam', from = [0, 0, 0], to = [1, 0.2, 0.1], section = 's', elements = 3 }}\n\
         initial.X.velocity = [0.3, 0.1, -0.2]\ninitial.X.node1.omega = [0.3, 2, -1]\n\
         measures.p = {{ kind = 'momentum', bodies = ['X'] }}\n",
        SPATIAL.replace("gravity = [0, 0, 0]\n", "")
    );
    let outcome = run(&text);
    // ρA L times the velocity
    let mass = 1.5 * (1.0 + 0.04 + 0.01_f64).sqrt();
    for (name, v) in [("p.px", 0.3), ("p.py", 0.1), ("p.pz", -0.2)] {
        for p in column(&outcome, name) {
            assert!((p - mass * v).abs() < 1e-12, "{name}: {p}");
        }
    }
    for name in ["p.lx", "p.ly", "p.lz"] {
        let l = column(&outcome, name);
        assert!(l.iter().all(|x| (x - l[0]).abs() < 1e-8), "{name}: {} {}", l[0], l[l.len() - 1]);
    }
    // it did turn and bend
    assert!(column(&outcome, "X.node1.wy").iter().any(|w| (w - 2.0).abs() > 1.0));
}

/// 001: ten segments of a rod of 1 m with EI = 20 N m², 0.03 m square, 7800 kg/m³: 0.702 kg, 6.3765e-4 kg m², 200 N m/rad.
#[test]
fn a_segmented_rod_has_the_segments_and_springs_of_the_paper() {
    let (_, system) = load(
        "space = 'planar'\nmaterials.metal = { density = 7800 }\n\
         sections.square = { kind = 'rectangle', width = 0.03, height = 0.03, EI = 20 }\n\
         flexible.rod = { kind = 'segmented_rod', from = [0, -0.5], to = [0, 0.5], section = 'square', material = 'metal' }\n",
    );
    let bodies = &system.directory.bodies[1..];
    assert_eq!(bodies.len(), 10);
    for (k, body) in bodies.iter().enumerate() {
        assert_eq!(body.name, format!("rod.seg{}", k + 1));
        close("mass", body.mass, 0.702, 1e-14);
        close("inertia", body.inertia.0[2][2], 0.000_637_65, 1e-14);
        close("place", body.start.0[1], -0.45 + 0.1 * k as f64, 1e-13);
    }
    let mut m = system.mechanism();
    let mut s = system.start();
    let before = m.energy(&s).potential;
    s.q[bodies[3].q + 2] += 0.02;
    // two joints turn by 0.02
    close("springs", m.energy(&s).potential - before, 2.0 * 0.5 * 200.0 * 0.02 * 0.02, 1e-12);
    assert_eq!(system.directory.joints.len(), 9);
}

/// The first bending frequency of a free rod, 22.3733 √(EI/ρA)/L²; rotary inertia is small. For a wave of number k the springs
/// give k⁴ (1 - k²l²/6 + ..) and the masses of straight segments 1 - k²l²/6 + ..: the errors of order 2 cancel.
#[test]
fn a_free_segmented_rod_vibrates_like_a_rod_at_order_four() {
    let error = |n: usize| {
        let (model, system) = load(&format!(
            "space = 'planar'\ngravity = [0, 0]\nrun.t_end = 1\n\
             sections.s = {{ kind = 'given', EI = 20, rhoA = 7.02, rhoI = 1e-9 }}\n\
             flexible.rod = {{ kind = 'segmented_rod', from = [0, 0], to = [1, 0], section = 's', segments = {n} }}\n"
        ));
        let report = modes(&model, &system, OperatingPoint::Start).unwrap();
        let all = report.modes.iter().filter_map(|m| m.frequency).map(|f| TAU * f);
        all.fold(f64::INFINITY, f64::min) / (22.373_285_448 * (20.0_f64 / 7.02).sqrt()) - 1.0
    };
    let (coarse, fine) = (error(10), error(20));
    let order = (coarse / fine).log2();
    assert!((order - 4.0).abs() < 0.4, "{coarse}, {fine}: order {order}");
}

/// J of the rows inside an element, by hand, is the derived one; Φ is linear.
#[test]
fn rows_inside_an_element_have_their_jacobian() {
    use sarrus::system::constraint::JacobianBlocks;
    use sarrus::system::derive::DerivativeWorkspace;
    for (world, to) in
        [(PLANAR, "from = [0, 0], to = [1, 0.3]"), (SPATIAL, "from = [0, 0, 0], to = [1, 0.3, 0]")]
    {
        let (_, system) = load(&format!("{world}flexible.X = {{ kind = 'beam', {to}, section = 's' }}"));
        assert_eq!(system.elements.len(), 4);
        let mut m = system.mechanism();
        let s = anywhere(&m, &mut Numbers(5));
        m.observe(&s, |at| {
            for element in &system.elements {
                let at = At { ids: &element.ids, ..*at };
                let (rows, wide) = (element.rows.rows(), system.wide);
                let (mut by_hand, mut derived) = (vec![0.0; 3 * rows * wide], vec![0.0; 3 * rows * wide]);
                let mut scratch = DerivativeWorkspace::default();
                element.rows.jacobian(
                    &at,
                    &mut scratch,
                    &mut JacobianBlocks { data: &mut by_hand, rows, wide },
                );
                element.rows.derived_jacobian(
                    &at,
                    &mut scratch,
                    &mut JacobianBlocks { data: &mut derived, rows, wide },
                );
                assert_eq!(by_hand, derived);
                let mut gamma = vec![1.0; rows];
                element.rows.derived_gamma(&at, &mut scratch, &mut gamma);
                assert!(gamma.iter().all(|g| g.abs() < 1e-14));
            }
        });
    }
}

/// A path with a corner is two beams welded together there, and a joint beside a node is carried rigidly.
#[test]
fn a_corner_of_a_path_is_two_beams_welded() {
    let world = SPATIAL.replace("gravity = [0, 0, 0]", "gravity = [0, 0, -1]");
    let rest = |members: &str, end: &str| {
        let (model, system) = load(&format!(
            "{world}{members}forces.P = {{ kind = 'force', body = '{end}', at = [1, 0.8, 0.1], force = [0.1, 0, -0.3] }}\n\
             run.t_end = 1\n"
        ));
        let rest = equilibrium(&model, &system).unwrap();
        ["x", "y", "z"].map(|axis| rest.report.values[&format!("{end}.{axis}")])
    };
    let wall = "joints.wall = { kind = 'fixed', bodies = ['ground', 'X.start'], at = [0, 0, 0] }\n";
    let one = rest(
        &format!(
            "flexible.X = {{ kind = 'beam', path = [[0, 0, 0], [1, 0, 0], [1, 0.8, 0]], section = 's', elements = 2 }}\n{wall}"
        ),
        "X.node4",
    );
    let two = rest(
        &format!(
            "flexible.X = {{ kind = 'beam', from = [0, 0, 0], to = [1, 0, 0], section = 's', elements = 2 }}\n{wall}\
             flexible.Y = {{ kind = 'beam', from = [1, 0, 0], to = [1, 0.8, 0], section = 's', elements = 2 }}\n\
             joints.corner = {{ kind = 'fixed', bodies = ['X.end', 'Y.start'], at = [1, 0, 0] }}\n"
        ),
        "Y.node2",
    );
    for i in 0..3 {
        assert!((one[i] - two[i]).abs() < 1e-9, "{one:?} and {two:?}");
    }
    assert!(one[2] < -0.02, "{one:?}");
}

/// A file that is included mirrored has the mirrored motion: at a joint beside a node, at frames given on nodes, in readings.
#[test]
fn a_mirrored_beam_moves_as_the_mirror_image() {
    let folder = std::env::temp_dir().join(format!("sarrus-beams-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let spatial = "sections.s = { kind = 'given', EA = 50, GA = [30, 20], EI = [7, 4], GJ = 3, rhoA = 1.5, rhoI = [0.1, 0.05] }\n\
         flexible.X = { kind = 'beam', path = [[0, 0, 0], [0.5, 0.1, 0], [0.8, 0.5, 0.3]], section = 's', elements = 1 }\n\
         joints.O = { kind = 'revolute', bodies = ['ground', 'X.start'], at = [0, 0, 0], axis = [0, 1, 0] }\n\
         forces.F = { kind = 'force', body = 'X.end', on = [0.1, 0.2, 0.05], force_on = [1, 2, 3] }\n";
    let planar = "space = 'planar'\nsections.s = { kind = 'given', EA = 50, GA = 30, EI = 7, rhoA = 1.5, rhoI = 0.1 }\n\
         flexible.X = { kind = 'beam', path = [[0, 0], [0.5, 0.1], [0.8, 0.5]], section = 's', elements = 1 }\n\
         joints.O = { kind = 'revolute', bodies = ['ground', 'X.start'], at = [0, 0] }\n\
         forces.F = { kind = 'force', body = 'X.end', on = [0.1, 0.2], force_on = [1, 2] }\n";
    for (name, text, axes) in
        [("planar", planar, &["x", "y"][..]), ("spatial", spatial, &["x", "y", "z"][..])]
    {
        let settings = "run = { t_end = 0.2, rtol = 1e-10, atol = 1e-12 }\noutput.every = 0.1\n";
        let space = if name == "planar" { "space = 'planar'\n" } else { "" };
        for (k, mirror) in axes.iter().enumerate() {
            std::fs::write(folder.join("part.toml"), format!("format = 'sarrus/1'\n{text}")).unwrap();
            // gravity is mirrored too
            let mut image = vec![0.0; axes.len()];
            image[axes.len() - 1] = if k + 1 == axes.len() { 9.81 } else { -9.81 };
            let main = format!(
                "format = 'sarrus/1'\n{space}gravity = {image:?}\n\
                 include.m = {{ file = 'part.toml', mirror = '{mirror}' }}\n{settings}"
            );
            std::fs::write(folder.join("main.toml"), main).unwrap();
            let alone = run(&format!("{text}{settings}"));
            let options = LoadOptions { record: true, ..LoadOptions::default() };
            let model = sarrus::io::load(folder.join("main.toml"), &options).unwrap();
            let system = Arc::new(compile(&model).unwrap());
            let mirrored = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap().trajectory;
            let mut names: Vec<(String, f64)> = Vec::new();
            for (i, axis) in axes.iter().enumerate() {
                names.push((format!("X.node2.{axis}"), if i == k { -1.0 } else { 1.0 }));
            }
            names.push(("X.element2.N".into(), 1.0));
            for (column_, sign) in names {
                let (a, b) = (column(&alone, &column_), column(&mirrored, &format!("m.{column_}")));
                for (a, b) in a.iter().zip(&b) {
                    assert!(
                        (a - sign * b).abs() < 1e-8,
                        "{name} mirrored in {mirror}: {column_} is {a} and {b}"
                    );
                }
            }
            // the model as resolved is the same model, bit for bit
            let text = sarrus::io::write_resolved(&model, &[]);
            let again = load_str("again.toml", &text, &LoadOptions::default())
                .unwrap_or_else(|e| panic!("{text}{}", e.render()));
            let (once, twice) = (system.start(), compile(&again).unwrap().start());
            assert_eq!(once.q, twice.q, "{text}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn members_go_by_their_names_and_by_those_of_their_bodies() {
    let text = format!(
        "{PLANAR}flexible.X = {{ kind = 'beam', from = [0, 0], to = [1, 0], section = 's', elements = 2 }}\n\
         flexible.R = {{ kind = 'segmented_rod', from = [1, 0], to = [2, 0], section = 's', segments = 3 }}\n\
         joints.J = {{ kind = 'revolute', bodies = ['X.end', 'R.seg1'], at = [1, 0] }}\n\
         forces.wind = {{ kind = 'field', bodies = ['X'], force = ['mass', 0] }}\n\
         measures = {{ all = {{ kind = 'momentum', bodies = ['X', 'R'] }}, moment = 'X.element1.M', tip = 'R.end.x - X.start.x' }}\n\
         initial.X.velocity = [0.5, 0]\ninitial.R.velocity = [0.5, 0]\n\
         output.columns = ['X.end.*', 'X.element?.N', 'R.joint1.*', 'all.px', 'moment', 'tip', '!X.end.v?']\n\
         run.t_end = 0.2\n"
    );
    let outcome = run(&text);
    let names = outcome.names().join(" ");
    let expected = "t X.node2.x X.node2.y X.node2.angle X.node2.rate X.node2.ax X.node2.ay X.node2.alpha R.joint1.angle R.joint1.rate R.joint1.accel R.joint1.fx R.joint1.fy \
                    R.joint1.tz X.element1.N X.element2.N all.px moment tip";
    assert_eq!(names, expected);
    // the wind pushes on all the mass of the beam, wherever it is: 1.5 kg with 1 m/s²
    let p = column(&outcome, "all.px");
    close("momentum at first", p[0], 3.0 * 0.5, 1e-13);
    close("momentum at last", *p.last().unwrap(), 3.0 * 0.5 + 1.5 * 0.2, 1e-9);
    close("tip", column(&outcome, "tip")[0], 2.0 - 1.0 / 6.0, 1e-13);
    // a report names what the user wrote
    let (model, system) = load(&text);
    let report = check(&model, &system).unwrap();
    assert_eq!((report.size.bodies, report.size.joints), (6, 3));
    assert_eq!(report.dof, Some(3 * 3 + 3 * 3 - 2 * 3));
    assert!(report.reactions.iter().all(|r| r.name.starts_with('J') || r.name.starts_with("R.joint")));
    assert!(report.notes.iter().any(|n| n.contains("4 velocities and 4 rows")), "{:?}", report.notes);
}

#[test]
fn errors_say_what_is_wrong_and_what_there_is() {
    let section = "sections.s = { kind = 'given', EA = 50, GA = 30, EI = 7, rhoA = 1.5, rhoI = 0.1 }\n";
    let beam = |more: &str| format!("space = 'planar'\n{section}flexible.X = {{ kind = 'beam', {more} }}\n");
    let line = "from = [0, 0], to = [1, 0]";
    let whole = beam(&format!("{line}, section = 's'"));
    let spatial = |up: &str| {
        let section = section.replace("rhoA", "GJ = 1, rhoA");
        format!(
            "{section}flexible.X = {{ kind = 'beam', from = [0, 0, 0], to = [0, 0, 1], section = 's'{up} }}\n"
        )
    };
    let shape = |section: &str, material: &str| {
        format!(
            "space = 'planar'\nsections.s = {{ {section} }}\nflexible.X = {{ kind = 'beam', {line}, section = 's'{material} }}\n"
        )
    };
    let cases: Vec<(String, &[&str])> = vec![
        (beam(line), &["flexible member `X` needs `section`"]),
        (beam(&format!("{line}, section = 'bar'")), &["section `bar` does not exist", "[sections.bar]"]),
        (
            beam("from = [1, 0], to = [1, 0], section = 's'"),
            &["has no length", "`from` and `to` are one point"],
        ),
        (beam("path = [[0, 0], [1, 0], [1, 0]], section = 's'"), &["has no length", "points 2 and 3"]),
        (beam("path = [[0, 0]], section = 's'"), &["two points or more"]),
        (beam(&format!("{line}, section = 's', path = [[0, 0], [1, 1]]")), &["`from` or `path`, not both"]),
        (beam(&format!("{line}, section = 's', elements = 0")), &["`elements`", "cannot be 0", "at least 1"]),
        (beam(&format!("{line}, section = 's', elements = 1e12")), &["cannot be 1000000000000", "at most"]),
        (beam(&format!("{line}, section = 's', elements = 2.5")), &["whole number"]),
        (beam(&format!("{line}, section = 's', order = 0")), &["`order`", "cannot be 0", "from 1 to 8"]),
        (beam(&format!("{line}, section = 's', order = 9")), &["`order`", "cannot be 9", "more `elements`"]),
        (beam(&format!("{line}, section = 's', order = 2.5")), &["`order`", "whole number", "2.5"]),
        (
            beam(&format!("{line}, section = 's', order = 4, mass_matrix = 'consistent'")),
            &["is lumped: its elements are of order 4", "leave it out"],
        ),
        (
            beam(&format!("{line}, section = 's', order = 2"))
                + "flexible.Y = { kind = 'modal', members = ['X'], interface = ['X.start'] }\n",
            &["a member of a modal body: its elements have order 1", "more `elements`"],
        ),
        (beam(&format!("{line}, section = 's', damping = -1")), &["`damping`", "-1"]),
        (beam(&format!("{line}, section = 's', up = [0, 1]")), &["no `up`: the space is planar"]),
        (beam(&format!("{line}, section = 's', enabled = false")), &["cannot be switched off"]),
        (whole.replace("EI = 7", "EI = -7"), &["`EI` of section `s`", "-7"]),
        (whole.replace("EI = 7", "EI = [7, 4]"), &["one number: the space is planar"]),
        (whole.replace("EA = 50, ", ""), &["needs EA", "section `s` is given without it", "[sections.s]"]),
        (whole.replace("'given'", "'ring'"), &["kind of section `ring` does not exist", "circle, tube"]),
        (whole.replace("'beam'", "'baem'"), &["did you mean `beam`?"]),
        (spatial(", up = [0, 0, 2]"), &["`up` of flexible member `X` is along it"]),
        (shape("kind = 'tube', radius = 0.1, wall = 0.1", ""), &["not thinner than its radius", "`circle`"]),
        (shape("kind = 'rectangle', width = 1, height = 0.1, wall = 0.05", ""), &["leaves no room"]),
        (shape("kind = 'circle', radius = 0.1", ""), &["needs EA: it has no material"]),
        (whole.replace("rhoA = 1.5", "rhoA = 1e-310"), &["`X.node0` cannot have a mass", "check the units"]),
        (shape("kind = 'circle', radius = 1e200", ", material = 'steel'"), &["cannot have", "inf"]),
        (
            shape("kind = 'circle', radius = 0.1", ", material = 'm'") + "materials.m = { density = 1000 }\n",
            &["needs EA: material `m` has no `young`", "`EA` in [sections.s]"],
        ),
        (
            shape("kind = 'circle', radius = 0.1", ", material = 'm'")
                + "materials.m = { density = 1000, young = 1e9 }\n",
            &["needs GA: material `m` has no `poisson`\n", "add `poisson = 0.3`", "to [materials.m]"],
        ),
        (
            format!("{whole}events.e = {{ when = 't - 1', disable = ['X'] }}\n"),
            &["`X` cannot be switched", "holds together always", "release a joint"],
        ),
        (
            format!("{whole}events.e = {{ when = 't - 1', disable = ['X.element2'] }}\n"),
            &["`X.element2` cannot be switched"],
        ),
        (
            format!("{whole}bodies.'X.node2' = {{ at = [0, 0], mass = 1, inertia = 1 }}\n"),
            &["`X.node2` cannot be the name of a body: it would be a part of flexible member `X`"],
        ),
        (format!("{whole}measures.m = 'X.elment1.M'\n"), &["did you mean `X.element1.M`?"]),
        (
            format!("{whole}joints.J = {{ kind = 'fixed', bodies = ['ground', 'X.node9'], at = [0, 0] }}\n"),
            &["`X` has no body `node9`", "`X.node0` to `X.node4`, `X.start` and `X.end`"],
        ),
        (
            format!("{whole}joints.J = {{ kind = 'fixed', bodies = ['ground', 'X'], at = [0, 0] }}\n"),
            &["`X` is made of several bodies", "one of: `X.node0` to"],
        ),
        (
            format!("{whole}joints.J = {{ kind = 'fixed', bodies = ['X.start', 'X.node0'], at = [0, 0] }}\n"),
            &["connects `X.node0` to itself"],
        ),
        (format!("{whole}measures.m = 'X.node9.x'\n"), &["`X` has no `node9"]),
        (
            format!("{whole}forces.F = {{ kind = 'force', body = 'X.end', force = ['X.node7.x', 0] }}\n"),
            &["`X` has no `node7`", "`X.node0` to `X.node4`"],
        ),
        (
            format!("{whole}forces.F = {{ kind = 'force', body = 'X.end', force = ['X.element1.N', 0] }}\n"),
            &["known only after a step"],
        ),
        (format!("{whole}initial.X.node9.vx = 1\n"), &["`X` has no `node9`"]),
        (format!("{whole}bodies.X = {{ at = [0, 0], mass = 1, inertia = 1 }}\n"), &["`X`", "body"]),
    ];
    for (text, parts) in cases {
        let message = error(&text);
        for part in parts {
            assert!(message.contains(part), "{text}\n{message}\nlacks: {part}");
        }
    }
    // a vertical beam needs no `up`
    load(&spatial(""));
}

/// A bend of 45 degrees and radius 100, loaded across its plane by 600 \[Bathe1979\]: the tip comes to (47.15043857, 15.68480053, 53.47485879)
/// for these stiffnesses (computed with another program at order 2, extrapolated). Errors fall with the square of the elements, so two
/// meshes give it to the next order.
#[test]
fn the_bend_of_bathe_and_bolourchi_is_found_at_order_two() {
    let tip = |n: usize| {
        let point = |k: usize| {
            let (sin, cos) = (std::f64::consts::FRAC_PI_4 * k as f64 / n as f64).sin_cos();
            format!("[{}, {}, 0]", 100.0 * sin, 100.0 * (1.0 - cos))
        };
        let path: Vec<String> = (0..=n).map(point).collect();
        let (model, system) = load(&format!(
            "gravity = [0, 0, 0]\nrun.t_end = 1\n\
             sections.s = {{ kind = 'given', EA = 1e7, GA = 5e6, EI = '1e7/12', GJ = 833330, rhoA = 1, rhoI = 1 }}\n\
             flexible.X = {{ kind = 'beam', path = [{}], section = 's', elements = 1 }}\n\
             joints.wall = {{ kind = 'fixed', bodies = ['ground', 'X.start'], at = [0, 0, 0] }}\n\
             forces.F = {{ kind = 'force', body = 'X.end', force = [0, 0, 600] }}\n",
            path.join(", ")
        ));
        let rest = equilibrium(&model, &system).unwrap();
        ["x", "y", "z"].map(|axis| rest.report.values[&format!("X.node{n}.{axis}")])
    };
    let reference = [47.150_438_57, 15.684_800_53, 53.474_858_79];
    let (coarse, fine) = (tip(8), tip(16));
    for i in 0..3 {
        let (a, b) = (coarse[i] - reference[i], fine[i] - reference[i]);
        // a thousandth of the length with sixteen elements
        assert!(b.abs() < 0.08 && ((a / b).log2() - 2.0).abs() < 0.05, "{coarse:?}, {fine:?}");
        let extrapolated = fine[i] + (fine[i] - coarse[i]) / 3.0;
        assert!((extrapolated - reference[i]).abs() < 5e-4, "{extrapolated}");
    }
}

/// Energies of single strains of an element are those of the stiffnesses that shape and material make.
#[test]
fn stiffnesses_follow_from_shape_material_and_up() {
    let (b, h, E, G) = (0.03, 0.02, 210e9, 210e9 / 2.6);
    let (about_width, about_height) = (E * b * h * h * h / 12.0, E * h * b * b * b / 12.0);
    // Saint-Venant's constant for a ratio of 1.5 is 0.1958 [Timoshenko1970]
    let twist = G * 0.1958 * b * h * h * h;
    // bending is about axes of the node, which turn with `up`
    for up in ["[0, 0, 1]", "[3, 5, 0]"] {
        let (_, system) = load(&format!(
            "gravity = [0, 0, 0]\nsections.s = {{ kind = 'rectangle', width = {b}, height = {h} }}\n\
             flexible.X = {{ kind = 'beam', from = [0, 0, 0], to = [0.5, 0, 0], section = 's', material = 'steel', elements = 1, up = {up} }}\n"
        ));
        let mut m = system.mechanism();
        // ends rotated by ±1e-3/2 about an axis of the node: κ = 2e-3 and nothing else
        let mut energy = |axis: usize, is_rotation: bool| {
            let mut s = system.start();
            let mut delta = vec![0.0; s.v.len()];
            let second = system.directory.bodies[2].v;
            if is_rotation {
                (delta[3 + axis], delta[second + 3 + axis]) = (-5e-4, 5e-4);
            } else {
                delta[second + axis] = 1e-3 * 0.5;
            }
            m.retract(&mut s.q, &delta);
            m.energy(&s).potential
        };
        let of = |strain: f64, stiffness: f64| 0.5 * 0.5 * strain * strain * stiffness;
        close("torsion", energy(0, true), of(2e-3, twist), 1e-3);
        close("about y", energy(1, true), of(2e-3, about_width), 1e-5);
        close("about z", energy(2, true), of(2e-3, about_height), 1e-5);
        close("stretch", energy(0, false), of(1e-3, E * b * h), 1e-9);
        close("shear", energy(1, false), of(1e-3, 5.0 / 6.0 * G * b * h), 1e-9);
        close("shear", energy(2, false), of(1e-3, 5.0 / 6.0 * G * b * h), 1e-9);
    }
    // up turns the section, and the node with it: its z is the side that is up
    let (_, system) = load(
        "sections.s = { kind = 'rectangle', width = 0.03, height = 0.02 }\n\
         flexible.X = { kind = 'beam', from = [0, 0, 0], to = [0.5, 0, 0], section = 's', material = 'steel', up = [3, 1, 0] }\n",
    );
    let pose = Pose::<f64>::from_quat([0.0; 3], system.directory.bodies[2].start.1);
    assert!((pose.rotate(&[0.0, 0.0, 1.0]).0[1] - 1.0).abs() < 1e-15);
    // about its centre of mass, ρ(Iy + Iz), ρIy and ρIz times half the length of two elements
    let inertia = &system.directory.bodies[2].inertia.0;
    let rho = 7850.0 * 0.125;
    close("inertia about y", inertia[1][1], rho * b * h * h * h / 12.0, 1e-13);
    close("inertia about x", inertia[0][0], rho * (b * h * h * h + h * b * b * b) / 12.0, 1e-13);
}

/// Nodes inside a circle have its tangent, and in the plane angles that are counted along the way.
#[test]
fn nodes_of_a_curved_path_lie_along_it() {
    let n = 12;
    let path = |third: &str| -> String {
        let point = |k: usize| {
            let (sin, cos) = (1.5 * TAU * k as f64 / n as f64).sin_cos();
            format!("[{cos}, {sin}{third}]")
        };
        (0..=n).map(point).collect::<Vec<_>>().join(", ")
    };
    let beam = "section = 's', elements = 1 }";
    let (_, flat) = load(&format!("{PLANAR}flexible.X = {{ kind = 'beam', path = [{}], {beam}", path("")));
    let (_, deep) =
        load(&format!("{SPATIAL}flexible.X = {{ kind = 'beam', path = [{}], {beam}", path(", 0")));
    for k in 1..n {
        let tangent = 1.5 * TAU * k as f64 / n as f64 + TAU / 4.0;
        let angle = flat.directory.bodies[k + 1].start.2;
        // the first chord is at 157.5 degrees in both
        assert!((angle - tangent).abs() < 1e-13, "{k}: {angle} {tangent}");
        let x =
            Pose::<f64>::from_quat([0.0; 3], deep.directory.bodies[k + 1].start.1).rotate(&[1.0, 0.0, 0.0]);
        assert!((x.0[0] - tangent.cos()).abs() < 1e-13 && (x.0[1] - tangent.sin()).abs() < 1e-13, "{k}");
    }
}
