//! Beams of higher order: no strain from motions of the whole, tangents, orders of convergence, closed forms, the flexible pendulum.

use crate::common::{PLANAR, SPATIAL, column, load, run};
use sarrus::analysis::{EquilibriumOptions, equilibrium, equilibrium_with};
use sarrus::solve::{Equations, Problem, Stage, State};
use std::f64::consts::TAU;

/// Numbers without a pattern in [-0.5, 0.5].
fn noise(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|i| ((i as f64 + 1.0) * seed).sin() * 43_758.545_3).map(|x| x.rem_euclid(1.0) - 0.5).collect()
}

/// Nodes at the points of Gauss and Lobatto, √(3/7) from the middle for order 4, with their weights 1/20, 49/180 and 16/45 of the mass.
#[test]
fn nodes_and_masses_are_those_of_the_rule() {
    let (_, system) = load(&format!(
        "{PLANAR}flexible.X = {{ kind = 'beam', from = [1, 0], to = [5, 0], section = 's', elements = 2, order = 4 }}\n"
    ));
    let bodies = &system.directory.bodies[1..];
    let part = 0.5 * (1.0 - (3.0_f64 / 7.0).sqrt());
    let fractions = [0.0, part, 0.5, 1.0 - part, 1.0, 1.0 + part, 1.5, 2.0 - part, 2.0];
    let shares = [1.0 / 20.0, 49.0 / 180.0, 16.0 / 45.0, 49.0 / 180.0, 1.0 / 10.0];
    assert_eq!(bodies.len(), 9);
    for (k, body) in bodies.iter().enumerate() {
        assert_eq!(body.name, format!("X.node{k}"));
        assert!((body.start.0[0] - 1.0 - 2.0 * fractions[k]).abs() < 1e-14, "{k}: {}", body.start.0[0]);
        let share = if k == 0 || k == 8 { shares[0] } else { shares[(k - 1) % 4 + 1] };
        assert!((body.mass - 1.5 * 2.0 * share).abs() < 1e-14, "{k}: {}", body.mass);
        assert!((body.inertia.0[2][2] - 0.1 * 2.0 * share).abs() < 1e-15, "{k}");
    }
}

/// In space each node has its share of the inertia about all axes of the section; at a corner it is that of elements of order 1, which have half of each
/// element at its ends, turned in the same way.
#[test]
fn in_space_nodes_have_their_share_of_the_inertia() {
    let share = [1.0 / 20.0, 49.0 / 180.0, 16.0 / 45.0];
    let (_, system) = load(&format!(
        "{SPATIAL}flexible.X = {{ kind = 'beam', from = [0, 0, 0], to = [2, 0, 0], section = 's', elements = 1, order = 4 }}\n"
    ));
    for (body, share) in system.directory.bodies[1..].iter().zip(share) {
        for (i, own) in [0.1 + 0.05, 0.1, 0.05].into_iter().enumerate() {
            for j in 0..3 {
                let expected = if i == j { own * 2.0 * share } else { 0.0 };
                assert!((body.inertia.0[i][j] - expected).abs() < 1e-15, "{}: {:?}", body.name, body.inertia);
            }
        }
    }
    let path = "path = [[0, 0, 0], [1, 0.3, 0], [1.2, 1, 0.5]], section = 's', elements = 1";
    let corner = |more: &str, k: usize| {
        let (_, system) = load(&format!("{SPATIAL}flexible.X = {{ kind = 'beam', {path}{more} }}\n"));
        system.directory.bodies[1 + k].clone()
    };
    let (one, four) = (corner("", 1), corner(", order = 4", 4));
    assert!(one.inertia.0[0][1].abs() > 1e-3, "{:?}", one.inertia);
    for (a, b) in one.inertia.0.iter().flatten().zip(four.inertia.0.iter().flatten()) {
        assert!((2.0 * share[0] * a - b).abs() < 1e-15, "{:?} {:?}", one.inertia, four.inertia);
    }
}

/// A whole that is moved far away and rotated by any angle is not strained: no energy, no force but rounding of its place times the stiffness.
#[test]
fn a_motion_of_the_whole_makes_no_force() {
    use sarrus::math::{Mat3, Vec3, quat_from_rotation_vector};
    for order in 2..=8 {
        for planar in [true, false] {
            let (world, line, angle) = if planar {
                (PLANAR, "path = [[0, 0], [1, 0.3], [1.2, 1]]", [0.0, 0.0, 17.0])
            } else {
                (SPATIAL, "path = [[0, 0, 0], [1, 0.3, 0], [1.2, 1, 0.5]]", [1.5, -2.0, 1.2])
            };
            let (_, system) = load(&format!(
                "{world}flexible.X = {{ kind = 'beam', {line}, section = 's', elements = 1, order = {order} }}\n"
            ));
            let mut m = system.mechanism();
            let mut s = system.start();
            let mut delta = vec![0.0; s.v.len()];
            let rotation = Mat3::from_quat(quat_from_rotation_vector(&angle));
            for body in system.directory.bodies.iter().skip(1) {
                let mut p = [0.0; 3];
                let linear = if planar { 2 } else { 3 };
                p[..linear].copy_from_slice(&s.q[body.q..body.q + linear]);
                let to = rotation * Vec3(p) + Vec3([3.0, -2.0, 0.5]);
                (0..linear).for_each(|i| delta[body.v + i] = to.0[i] - p[i]);
                if planar {
                    delta[body.v + 2] = angle[2];
                } else {
                    let own = Mat3::from_quat(body.quaternion(&s.q)).transpose_mul(Vec3(angle));
                    delta[body.v + 3..body.v + 6].copy_from_slice(&own.0);
                }
            }
            m.retract(&mut s.q, &delta);
            let mut eq = Equations::new(&m);
            m.update(&s, Stage::FORCE, &mut eq);
            // rounding of positions of 4 m and angles of 17 rad, twice through D, which is up to p²/L
            let rounding = 17.0 * f64::EPSILON * 50.0 * (order as f64).powi(4);
            assert!(eq.f.iter().all(|f| f.abs() < rounding), "order {order}: {:?}", eq.f);
            assert!(m.energy(&s).potential < 1e-20, "order {order}");
        }
    }
}

/// K and D are the derivatives of the forces: differences over ±h are off by h² and rounding over h.
#[test]
fn tangents_are_the_derivatives_of_the_forces() {
    let h = 1e-5;
    for order in [2, 5, 8] {
        for (world, line) in [
            (PLANAR, "path = [[0, 0], [1, 0.3], [1.2, 1]]"),
            (SPATIAL, "path = [[0, 0, 0], [1, 0.3, 0], [1.2, 1, 0.5]]"),
        ] {
            let (_, system) = load(&format!(
                "{world}flexible.X = {{ kind = 'beam', {line}, section = 's', elements = 1, order = {order}, damping = 0.02 }}\n"
            ));
            let mut m = system.mechanism();
            let (nv, nc) = (system.structure.nv, system.structure.nc);
            let mut s = system.start();
            m.retract(&mut s.q, &noise(nv, 12.9).iter().map(|x| 0.3 * x).collect::<Vec<_>>());
            s.v.copy_from_slice(&noise(nv, 78.2));
            let mut tangent = system.new_tangent();
            m.tangent(&s, &vec![0.0; nv], &vec![0.0; nc], &mut tangent);
            let direction = noise(nv, 5.3);
            for velocities in [false, true] {
                let blocks = if velocities { &tangent.D } else { &tangent.K };
                let mut found = vec![0.0; nv];
                for pair in &tangent.pairs {
                    let [row, col] = pair.at.map(|i| system.structure.cols[i]);
                    for i in 0..row.size {
                        let block = &blocks[pair.offset + i * col.size..][..col.size];
                        let x = &direction[col.start..];
                        found[row.start + i] -= block.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
                    }
                }
                let ends = [h, -h].map(|h| {
                    let mut moved: State = s.clone();
                    let step: Vec<f64> = direction.iter().map(|d| h * d).collect();
                    if velocities {
                        moved.v.iter_mut().zip(&step).for_each(|(v, d)| *v += d);
                    } else {
                        m.retract(&mut moved.q, &step);
                    }
                    let mut eq = Equations::new(&m);
                    m.update(&moved, Stage::FORCE, &mut eq);
                    eq.f
                });
                let largest = found.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                for (i, found) in found.iter().enumerate() {
                    let difference = (ends[0][i] - ends[1][i]) / (2.0 * h);
                    assert!(
                        (found - difference).abs() < 1e-7 * largest,
                        "order {order}, v {velocities}, [{i}]: {found} is not {difference}"
                    );
                }
            }
        }
    }
}

const LENGTH: f64 = 2.0;
const STIFFNESS: [f64; 3] = [2e3, 800.0, 12.0];

fn cantilever(elements: usize, order: usize, load: &str) -> String {
    let [ea, ga, ei] = STIFFNESS;
    format!(
        "space = 'planar'\ngravity = [0, 0]\nrun.t_end = 1\n\
         sections.s = {{ kind = 'given', EA = {ea}, GA = {ga}, EI = {ei}, rhoA = 1.5, rhoI = 2e-3 }}\n\
         flexible.X = {{ kind = 'beam', from = [0, 0], to = [{LENGTH}, 0], section = 's', elements = {elements}, order = {order} }}\n\
         joints.wall = {{ kind = 'fixed', bodies = ['ground', 'X.start'], at = [0, 0] }}\n{load}"
    )
}

/// The tip of the cantilever under a force P down at it: Reissner's equations, from the clamp, with the moment there that leaves none at the tip.
fn elastica(P: f64) -> [f64; 2] {
    let [EA, GA, EI] = STIFFNESS;
    let rate = |y: [f64; 4]| {
        let (sin, cos) = y[2].sin_cos();
        let (stretch, shear) = (1.0 - P * sin / EA, -P * cos / GA);
        let along = [cos * stretch - sin * shear, sin * stretch + cos * shear];
        [along[0], along[1], y[3] / EI, P * along[0]]
    };
    let n = 4000;
    let h = LENGTH / f64::from(n);
    let moved = |y: [f64; 4], k: [f64; 4], h: f64| [0, 1, 2, 3].map(|i| y[i] + h * k[i]);
    let along = |moment: f64| {
        let mut y = [0.0, 0.0, 0.0, moment];
        for _ in 0..n {
            let a = rate(y);
            let b = rate(moved(y, a, h / 2.0));
            let c = rate(moved(y, b, h / 2.0));
            let d = rate(moved(y, c, h));
            y = [0, 1, 2, 3].map(|i| y[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
        }
        y
    };
    let (mut low, mut high) = (-P * LENGTH, 0.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if along(middle)[3] > 0.0 { high = middle } else { low = middle }
    }
    let y = along(low);
    [y[0], y[1]]
}

/// Displacements at the ends of elements converge with L^(2p), since the sums are integrals of that degree.
#[test]
fn a_cantilever_that_bends_far_converges_with_twice_the_order() {
    let P = 6.0;
    let exact = elastica(P);
    // it hangs by half its length
    assert!(exact[1] < -0.45 * LENGTH, "{exact:?}");
    for (order, elements) in [(2, [8, 16]), (3, [4, 8]), (4, [2, 4])] {
        let errors = elements.map(|n| {
            let force = format!("forces.P = {{ kind = 'force', body = 'X.end', force = [0, -{P}] }}\n");
            let (model, system) = load(&cantilever(n, order, &force));
            let values = equilibrium(&model, &system).unwrap().report.values;
            let [x, y] = ["x", "y"].map(|axis| values[&format!("X.node{}.{axis}", n * order)]);
            (x - exact[0]).hypot(y - exact[1])
        });
        let found = (errors[0] / errors[1]).log2();
        assert!((found - 2.0 * order as f64).abs() < 0.7, "order {order}: {errors:?}, {found}");
    }
}

/// Deflections of small loads are cubics, P L³/3EI + P L/GA at the tip: order 3 has them in one element, and the moments at its nodes.
#[test]
fn one_element_of_order_three_bends_as_the_cubic_does() {
    let (P, [_, GA, EI]) = (1e-4, STIFFNESS);
    let load_ = format!("forces.P = {{ kind = 'force', body = 'X.end', force = [0, -{P}] }}\n");
    let (model, system) = load(&cantilever(1, 3, &load_));
    let values = equilibrium(&model, &system).unwrap().report.values;
    let close = |what: &str, found: f64, expected: f64, tolerance: f64| {
        assert!((found - expected).abs() <= tolerance * expected.abs(), "{what}: {found}, {expected}");
    };
    // what is not linear is (P L²/EI)² of it
    close("tip", -values["X.node3.y"], P * LENGTH.powi(3) / (3.0 * EI) + P * LENGTH / GA, 1e-8);
    let part = 0.5 * (1.0 - 0.2_f64.sqrt());
    for (k, s) in [0.0, part, 1.0 - part].into_iter().enumerate() {
        close("moment", -values[&format!("X.element1.M{k}")], P * LENGTH * (1.0 - s), 1e-6);
        close("shear", -values[&format!("X.element1.Q{k}")], P, 1e-6);
    }
    assert!(values["X.element1.M3"].abs() < 1e-9 * P * LENGTH);
}

/// The same in space, where all six stiffnesses differ, with each of the loads at the tip alone: EIy bends along z, where GAz shears. The tip rotates by
/// some 1e-6 rad, and what it carries with it.
#[test]
fn in_space_each_load_meets_its_own_stiffness() {
    let (L, small) = (1.0_f64, 1e-5);
    let ([EA, GAy, GAz], [GJ, EIy, EIz]) = ([50.0, 30.0, 20.0], [3.0, 7.0, 4.0]);
    let bent = |GA: f64, EI: f64| L.powi(3) / (3.0 * EI) + L / GA;
    let part = 0.5 * (1.0 - 0.2_f64.sqrt());
    for (k, tip) in [L / EA, bent(GAy, EIz), bent(GAz, EIy), L / GJ].into_iter().enumerate() {
        let mut load_ = [0.0; 4];
        load_[k] = small;
        let [x, y, z, rotation] = load_;
        let (model, system) = load(&format!(
            "{SPATIAL}run.t_end = 1\n\
             flexible.X = {{ kind = 'beam', from = [0, 0, 0], to = [{L}, 0, 0], section = 's', elements = 1, order = 3 }}\n\
             joints.wall = {{ kind = 'fixed', bodies = ['ground', 'X.start'], at = [0, 0, 0] }}\n\
             forces.F = {{ kind = 'force', body = 'X.end', force = [{x:e}, {y:e}, {z:e}] }}\n\
             forces.T = {{ kind = 'torque', body = 'X.end', torque = [{rotation:e}, 0, 0] }}\n"
        ));
        let values = equilibrium(&model, &system).unwrap().report.values;
        let end = ["x", "y", "z", "q1"].map(|field| values[&format!("X.node3.{field}")]);
        let found = [end[0] - L, end[1], end[2], 2.0 * end[3]][k];
        assert!((found - small * tip).abs() < 1e-6 * small * tip, "load {k}: {found} and {}", small * tip);
        for (node, s) in [0.0, part, 1.0 - part, 1.0].into_iter().enumerate() {
            let arm = L * (1.0 - s);
            let carried = [x, y, z, rotation, -arm * z, arm * y];
            for (name, expected) in ["N", "Qy", "Qz", "Mx", "My", "Mz"].into_iter().zip(carried) {
                let found = values[&format!("X.element1.{name}{node}")];
                assert!(
                    (found - expected).abs() < 1e-3 * small,
                    "load {k}: {name}{node} {found}, {expected}"
                );
            }
        }
    }
}

/// Damping takes energy out, and the energy accounts say how much.
#[test]
fn a_damped_beam_loses_what_its_books_say() {
    for (world, line) in
        [(PLANAR, "to = [1, 0.2], from = [0, 0]"), (SPATIAL, "to = [1, 0.2, 0.1], from = [0, 0, 0]")]
    {
        // a kick at one end: that alone would set all of it moving
        let (kick, rest) = if world == PLANAR { ("[0, 1]", "[0, 0]") } else { ("[0, 1, 0.5]", "[0, 0, 0]") };
        let outcome = run(&format!(
            "run = {{ t_end = 0.2, rtol = 1e-9, atol = 1e-11, integrator = 'dop853' }}\n{world}\
             flexible.X = {{ kind = 'beam', {line}, section = 's', elements = 1, order = 3, damping = 5e-3 }}\n\
             initial.X.node0.velocity = {kick}\ninitial.X.node1.velocity = {rest}\n\
             initial.X.node2.velocity = {rest}\ninitial.X.node3.velocity = {rest}\n"
        ));
        let heat = column(&outcome, "energy.dissipated");
        assert!(heat.windows(2).all(|w| w[1] >= w[0]) && heat.last().unwrap() > &1e-3, "{:?}", heat.last());
        let balance = column(&outcome, "energy.balance");
        assert!(balance.iter().all(|e| (e - balance[0]).abs() < 1e-8), "{balance:?}");
    }
}

/// M = 2π EI/L bends a cantilever to a circle. Turns are linear along it and found exactly, so that four equal elements close it exactly; their chords are good to
/// the square of what a sine has along the polynomial of degree 4 over a quarter of a circle, (π/4)⁴/105: 1.3e-5.
#[test]
fn a_moment_rolls_a_cantilever_up() {
    let given = "EA = 1e4, GA = 1e4, EI = 100, rhoA = 1, rhoI = 10";
    let beam = "section = 's', elements = 4, order = 4";
    let planar = format!(
        "space = 'planar'\ngravity = [0, 0]\nrun.t_end = 1\nsections.s = {{ kind = 'given', {given} }}\n\
         flexible.X = {{ kind = 'beam', from = [0, 0], to = [10, 0], {beam} }}\n\
         joints.wall = {{ kind = 'fixed', bodies = ['ground', 'X.start'], at = [0, 0] }}\n\
         forces.M = {{ kind = 'torque', body = 'X.end', torque = '2*pi*100/10' }}\n"
    );
    let spatial = format!(
        "gravity = [0, 0, 0]\nrun.t_end = 1\nsections.s = {{ kind = 'given', {given}, GJ = 80 }}\n\
         flexible.X = {{ kind = 'beam', from = [0, 0, 0], to = [10, 0, 0], {beam} }}\n\
         joints.wall = {{ kind = 'fixed', bodies = ['ground', 'X.start'], at = [0, 0, 0] }}\n\
         forces.M = {{ kind = 'torque', body = 'X.end', torque_on = [0, 0, '2*pi*100/10'] }}\n"
    );
    for text in [&planar, &spatial] {
        let (model, system) = load(text);
        let options = EquilibriumOptions { load_steps: Some(8) };
        let values = equilibrium_with(&model, &system, &options, &mut |_| {}).unwrap().report.values;
        let tip = ["x", "y"].map(|axis| values[&format!("X.node16.{axis}")]);
        assert!(tip[0].hypot(tip[1]) < 1e-9, "{tip:?}");
        let middle = ["x", "y"].map(|axis| values[&format!("X.node8.{axis}")]);
        assert!(middle[0].abs() < 1e-9 && (middle[1] - 20.0 / TAU).abs() < 1.3e-5 * 20.0 / TAU, "{middle:?}");
        if text == &planar {
            assert!((values["X.node16.angle"] - TAU).abs() < 1e-9);
        }
    }
}

/// A bar of 1 m and 2 cm × 2 cm on a hinge, E = 5 MPa, let go from the horizontal.
fn pendulum(elements: usize, order: usize, settings: &str) -> String {
    format!(
        "space = 'planar'\ngravity = [0, -9.81]\nmaterials.rubber = {{ density = 1000, young = 5e6, poisson = 0.3 }}\n\
         sections.square = {{ kind = 'rectangle', width = 0.02, height = 0.02, GA = '10*1.3/(12 + 11*0.3)*5e6/2.6*4e-4' }}\n\
         flexible.bar = {{ kind = 'beam', from = [0, 0], to = [1, 0], section = 'square', material = 'rubber', elements = {elements}, order = {order} }}\n\
         joints.hinge = {{ kind = 'revolute', bodies = ['ground', 'bar.start'], at = [0, 0] }}\n{settings}"
    )
}

/// Its tip comes to (-0.870223, 0.137112) after a second, to 2e-6 (`bench/flexible.py`, which solves the same continuum by a program of its own). Central
/// differences keep the energy within (ω h)²/8 of what vibrates, about 1e-4 at 100 rad/s, and it does not drift.
#[test]
fn the_flexible_pendulum_swings_where_it_should() {
    let settings = "run = { t_end = 1, integrator = 'staggered', step = 1.8e-4 }\noutput.every = 0.05\n";
    let outcome = run(&pendulum(4, 4, settings));
    let [x, y] = ["x", "y"].map(|axis| *column(&outcome, &format!("bar.node16.{axis}")).last().unwrap());
    let off = (x + 0.870_223).hypot(y - 0.137_112);
    assert!(off < 1e-4, "{x}, {y}: {off}");
    let kinetic = column(&outcome, "energy.kinetic").into_iter().fold(0.0, f64::max);
    let balance = column(&outcome, "energy.balance");
    let worst = balance.iter().map(|e| (e - balance[0]).abs()).fold(0.0, f64::max);
    assert!(kinetic > 1.0 && worst < 1e-4 * kinetic, "{worst} of {kinetic}");
}

/// Sections that turn within an element shorten its chord, whatever they turn along; weight and swing stretch the bar by no more than
/// 3 m g / EA, half a percent, a little more where it sways.
#[test]
fn coarse_elements_keep_their_length() {
    let settings = "run = { t_end = 1, integrator = 'staggered', step = 1.5e-4 }\noutput.every = 0.02\n";
    for (elements, order) in [(1, 3), (2, 2)] {
        let outcome = run(&pendulum(elements, order, settings));
        let tip = ["x", "y"].map(|axis| column(&outcome, &format!("bar.node{}.{axis}", elements * order)));
        let longest = tip[0].iter().zip(&tip[1]).map(|(x, y)| x.hypot(*y)).fold(0.0, f64::max);
        assert!(longest < 1.02, "{elements} of order {order}: {longest}");
    }
}

/// The same in space, with its own tip; the planar and the spatial element are one.
#[test]
fn a_pendulum_in_space_swings_as_in_the_plane() {
    let settings = "run = { t_end = 0.1, rtol = 1e-8, atol = 1e-10, integrator = 'dop853' }\n";
    let flat = run(&pendulum(1, 4, settings));
    let deep = pendulum(1, 4, settings)
        .replace("space = 'planar'\n", "")
        .replace("[0, -9.81]", "[0, -9.81, 0]")
        .replace("from = [0, 0], to = [1, 0]", "from = [0, 0, 0], to = [1, 0, 0]")
        .replace("at = [0, 0]", "at = [0, 0, 0], axis = [0, 0, 1]");
    let deep = run(&deep);
    for axis in ["x", "y"] {
        let [a, b] = [&flat, &deep].map(|o| *column(o, &format!("bar.node4.{axis}")).last().unwrap());
        assert!((a - b).abs() < 1e-7, "{axis}: {a} and {b}");
    }
}

/// Forces inside cancel: a free beam keeps its momentum, linear to rounding and angular to the tolerance.
#[test]
fn a_free_beam_keeps_its_momentum() {
    let outcome = run(&format!(
        "run = {{ t_end = 0.3, rtol = 1e-9, atol = 1e-11, integrator = 'dop853' }}\n{SPATIAL}\
         flexible.X = {{ kind = 'beam', from = [0, 0, 0], to = [1, 0.2, 0.1], section = 's', elements = 1, order = 5 }}\n\
         initial.X.velocity = [0.3, 0.1, -0.2]\ninitial.X.node1.omega = [0.3, 2, -1]\n\
         measures.p = {{ kind = 'momentum', bodies = ['X'] }}\n"
    ));
    let mass = 1.5 * (1.0 + 0.04 + 0.01_f64).sqrt();
    for (name, v) in [("p.px", 0.3), ("p.py", 0.1), ("p.pz", -0.2)] {
        assert!(column(&outcome, name).iter().all(|p| (p - mass * v).abs() < 1e-12), "{name}");
    }
    for name in ["p.lx", "p.ly", "p.lz"] {
        let l = column(&outcome, name);
        assert!(l.iter().all(|x| (x - l[0]).abs() < 1e-8), "{name}: {} {}", l[0], l[l.len() - 1]);
    }
    assert!(column(&outcome, "X.node1.wy").iter().any(|w| (w - 2.0).abs() > 1.0));
}
