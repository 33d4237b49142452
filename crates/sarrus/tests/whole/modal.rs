//! Modal bodies: reduction, inertia that changes with the amplitudes, spinning beams, files and errors.

use crate::common::{column, load, read, run};
use sarrus::analysis::{OperatingPoint, modes};
use sarrus::model::Reader;
use sarrus::prelude::*;
use sarrus::solve::{Equations, Problem, Stage, State};
use sarrus::system::flexible::{beam, modal::structure::ModalStructure, section::BeamSection};
use std::fmt::Write;
use std::sync::Arc;

/// Eigenvalues with a positive imaginary part, or real ones, lowest first.
fn eigenvalues((model, system): &(Model, Arc<System>)) -> Vec<[f64; 2]> {
    let found = modes(model, system, OperatingPoint::Start).unwrap();
    let mut values: Vec<[f64; 2]> = found.modes.iter().map(|m| m.eigenvalue).collect();
    values.sort_by(|a, b| a[0].hypot(a[1]).total_cmp(&b[0].hypot(b[1])));
    values
}

fn frequencies(model: &(Model, Arc<System>)) -> Vec<f64> {
    eigenvalues(model).into_iter().map(|[re, im]| re.hypot(im)).collect()
}

/// A skew bar whose sections differ in every direction.
const BAR: &str = "gravity = [0, 0, 0]\n\
    sections.s = { kind = 'given', EA = 5e5, GA = [2e5, 3e5], EI = [70, 110], GJ = 60, rhoA = 1.5, rhoI = [2e-4, 3e-4] }\n\
    flexible.b = { kind = 'beam', from = [0, 0, 0], to = [1, 0.2, -0.3], section = 's', elements = 6 }\n";

/// The shapes with the interface held are modes of the clamped beam: these frequencies are the mesh's own.
#[test]
fn clamped_at_its_interface_a_reduced_beam_has_the_frequencies_of_the_mesh() {
    let weld = |body: &str| {
        format!("joints.o = {{ kind = 'fixed', bodies = ['ground', '{body}'], at = [0, 0, 0] }}\n")
    };
    let full = frequencies(&load(&(BAR.to_owned() + &weld("b.start"))));
    let modal = "flexible.X = { kind = 'modal', members = ['b'], interface = ['b.start'], modes = 7 }\n";
    let reduced = frequencies(&load(&(BAR.to_owned() + modal + &weld("X.node1"))));
    assert_eq!(reduced.len(), 7);
    for (reduced, full) in reduced.iter().zip(&full) {
        assert!((reduced / full - 1.0).abs() < 1e-8, "{reduced} {full}");
    }
}

/// Free, frequencies come from above (a Rayleigh quotient of few shapes) and nearer the more shapes there are.
#[test]
fn free_frequencies_come_down_to_those_of_the_mesh() {
    let mut full = frequencies(&load(BAR));
    full.retain(|f| *f > 1.0);
    let mut last = f64::INFINITY;
    for count in [2, 6, 12] {
        let modal = format!(
            "flexible.X = {{ kind = 'modal', members = ['b'], interface = ['b.end', 'b.node2'], modes = {count} }}\n"
        );
        let mut reduced = frequencies(&load(&(BAR.to_owned() + &modal)));
        reduced.retain(|f| *f > 1.0);
        let off: Vec<f64> = reduced.iter().zip(&full).take(4).map(|(r, f)| r / f - 1.0).collect();
        assert!(off.iter().all(|off| *off > -1e-8), "{off:?}");
        let worst = off.into_iter().fold(0.0, f64::max);
        assert!(worst < 0.5 * last, "{count}: {worst} {last}");
        last = worst;
    }
    assert!(last < 1e-3, "{last}");
}

/// Numbers in (-1, 1) without a pattern.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

const TWO: &str = "flexible.X = { kind = 'modal', members = ['b'], interface = ['b.end', 'b.node2'], modes = 2, damping = 0.03 }\n";

/// K and D of the whole system, M(η) included, against central differences of M v̇ + Jᵀλ - f.
#[test]
fn tangents_are_the_derivatives_of_the_equations() {
    let (_, system) = load(&(BAR.replace("gravity = [0, 0, 0]", "gravity = [1, -2, 9]") + TWO));
    let mut m = system.mechanism();
    let s = &system.structure;
    let mut numbers = Numbers(5);
    let mut state = system.start();
    let nudge: Vec<f64> = (0..s.nv).map(|_| 0.1 * numbers.next()).collect();
    m.retract(&mut state.q, &nudge);
    state.v.iter_mut().for_each(|v| *v = 2.0 * numbers.next());
    let vdot: Vec<f64> = (0..s.nv).map(|_| 3.0 * numbers.next()).collect();
    let lambda: Vec<f64> = (0..s.nc).map(|_| 5.0 * numbers.next()).collect();
    let mut tangent = system.new_tangent();
    m.tangent(&state, &vdot, &lambda, &mut tangent);
    let mut eq = Equations::new(&m);
    let mut residual = |state: &State| {
        m.update(state, Stage::FORCE, &mut eq);
        let mut r = vec![0.0; s.nv];
        eq.mass_mul(s, &vdot, &mut r);
        eq.add_Jt_mul(s, &lambda, &mut r);
        r.iter_mut().zip(&eq.f).for_each(|(r, f)| *r -= f);
        r
    };
    let largest = tangent.K.iter().fold(0.0_f64, |a, k| a.max(k.abs()));
    let other = system.mechanism();
    for j in 0..s.nv {
        for velocities in [false, true] {
            let h = 1e-5;
            let [ahead, back] = [h, -h].map(|h| {
                let mut moved = state.clone();
                if velocities {
                    moved.v[j] += h;
                } else {
                    let mut delta = vec![0.0; s.nv];
                    delta[j] = h;
                    other.retract(&mut moved.q, &delta);
                }
                residual(&moved)
            });
            let mut column = vec![0.0; s.nv];
            for pair in &tangent.pairs {
                let [a, b] = pair.at.map(|i| s.cols[i]);
                if (b.start..b.start + b.size).contains(&j) {
                    let part = if velocities { &tangent.D } else { &tangent.K };
                    for i in 0..a.size {
                        column[a.start + i] += part[pair.offset + i * b.size + j - b.start];
                    }
                }
            }
            for i in 0..s.nv {
                let difference = (ahead[i] - back[i]) / (2.0 * h);
                // rounding of stiffness times a step, and the third derivative
                assert!(
                    (column[i] - difference).abs() < 1e-9 * largest,
                    "{velocities} {i} {j}: {} {difference}",
                    column[i]
                );
            }
        }
    }
}

/// Free, bent and tumbling, it keeps momentum and energy whatever its amplitudes are: M and the forces of inertia belong together.
#[test]
fn a_free_modal_body_keeps_energy_and_momentum() {
    let text = BAR
        .replace(
            "EA = 5e5, GA = [2e5, 3e5], EI = [70, 110], GJ = 60",
            "EA = 5000, GA = [2000, 3000], EI = [40, 60], GJ = 30",
        )
        // with a corner, so that shortening moves masses across the line to the centre too
        .replace(
            "from = [0, 0, 0], to = [1, 0.2, -0.3]",
            "path = [[0, 0, 0], [0.6, 0.2, -0.2], [0.8, 0, 0.5]]",
        )
        .replace("elements = 6", "elements = 3")
        + "flexible.X = { kind = 'modal', members = ['b'], interface = ['b.start'], show = ['b.start', 'b.end'], modes = 4 }\n\
           run = { t_end = 1.0, integrator = 'dop853', rtol = 1e-10, atol = 1e-11 }\n\
           initial.X.frame.omega = [2, -3, 4]\ninitial.X.node1.velocity = [1, 2, 0.5]\ninitial.X.eta1_rate = 1\n\
           measures.p = { kind = 'momentum', bodies = ['X'] }\nmeasures.e = { kind = 'energy', bodies = ['X'] }\nmeasures.twice = '2*X.eta2'\n";
    let outcome = run(&text);
    let eta = column(&outcome, "X.eta1");
    let swing = eta.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    assert!(swing > 0.01, "{swing}");
    for name in ["p.px", "p.py", "p.pz", "p.lx", "p.ly", "p.lz", "energy.balance"] {
        let x = column(&outcome, name);
        let off = x.iter().map(|y| (y - x[0]).abs()).fold(0.0, f64::max);
        assert!(off < 1e-7 && x[0].abs() > 0.05, "{name}: {} off by {off:e}", x[0]);
    }
    let [kinetic, measured] = ["energy.kinetic", "e.kinetic"].map(|name| column(&outcome, name));
    assert!(kinetic.iter().zip(&measured).all(|(a, b)| (a - b).abs() < 1e-12 * a));
    // a node that is shown is where the body at it is, and others are where the shapes put them
    for word in ["x", "y", "z", "vx", "vy", "vz"] {
        let [body, shown] = ["X.node1", "X.b.start"].map(|name| column(&outcome, &format!("{name}.{word}")));
        assert!(body.iter().zip(&shown).all(|(a, b)| (a - b).abs() < 1e-7), "{word}");
    }
    let [x, vx] = ["X.b.end.x", "X.b.end.vx"].map(|name| column(&outcome, name));
    let t = column(&outcome, "t");
    for k in 1..x.len() - 1 {
        // Simpson's rule, of order four
        let way = (t[k + 1] - t[k - 1]) * (vx[k - 1] + 4.0 * vx[k] + vx[k + 1]) / 6.0;
        assert!(
            (x[k + 1] - x[k - 1] - way).abs() < 1e-3 * way.abs().max(1e-3),
            "{way} {}",
            x[k + 1] - x[k - 1]
        );
    }
    assert!(column(&outcome, "X.b.end.uy").iter().any(|u| u.abs() > 1e-3));
    let eta = column(&outcome, "X.eta2");
    assert!(column(&outcome, "twice").iter().zip(&eta).all(|(a, b)| (a - 2.0 * b).abs() < 1e-12));
}

/// A bar so stiff that it hardly bends swings like a rigid body of its mass and inertia; both are exact for a consistent mass.
#[test]
fn a_stiff_modal_body_swings_like_a_rigid_one() {
    let text = "sections.s = { kind = 'given', EA = 1e9, GA = [1e9, 1e9], EI = [1e7, 1e7], GJ = 1e7, rhoA = 2, rhoI = [0.01, 0.02] }\n\
        flexible.b = { kind = 'beam', from = [0, 0, 0], to = [1, 0, 0], section = 's', elements = 3 }\n\
        flexible.X = { kind = 'modal', members = ['b'], interface = ['b.start', 'b.end'], modes = 2 }\n\
        bodies.r = { at = [0.5, 0, 0], mass = 2, inertia = [0.03, 0.17666666666666667, 0.18666666666666668] }\n\
        joints.x = { kind = 'universal', bodies = ['ground', 'X.node1'], at = [0, 0, 0], axis = [1, 0, 0], axis2 = [0, 1, 0] }\n\
        joints.s = { kind = 'universal', bodies = ['ground', 'r'], at = [0, 0, 0], axis = [1, 0, 0], axis2 = [0, 1, 0] }\n\
        run = { t_end = 0.6, integrator = { kind = 'generalized_alpha', rho = 0.9 }, step = 0.002 }\n\
        measures.tip = { kind = 'point', body = 'r', at = [1, 0, 0] }\n";
    let outcome = run(text);
    for axis in ["x", "y", "z"] {
        let [modal, rigid] = [format!("X.node2.{axis}"), format!("tip.{axis}")].map(|n| column(&outcome, &n));
        let off = modal.iter().zip(&rigid).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // it bends by 1e-6 m; the two differ by the error of the steps, of order two
        assert!(off < 5e-6, "{axis}: {off}");
    }
    assert!(column(&outcome, "tip.z").last().unwrap() < &-0.7);
}

/// A cantilever in a shaft's hub that turns with `speed`; 10 m, 3.8 rad/s at rest (the blade of Kane, Ryan and Banerjee).
fn blade(speed: f64, stiffening: bool) -> Vec<[f64; 2]> {
    let text = format!(
        "gravity = [0, 0, 0]\n\
         sections.s = {{ kind = 'given', EA = 2.8e7, GA = [1e7, 1e7], EI = [1.4e4, 1.4e4], GJ = 1e4, rhoA = 1.2, rhoI = [6e-4, 6e-4] }}\n\
         flexible.b = {{ kind = 'beam', from = [0, 0, 0], to = [10, 0, 0], section = 's', elements = 16 }}\n\
         flexible.X = {{ kind = 'modal', members = ['b'], interface = ['b.start'], modes = 6, geometric_stiffness = {stiffening} }}\n\
         joints.root = {{ kind = 'revolute', bodies = ['ground', 'X.node1'], at = [0, 0, 0], axis = [0, 0, 1] }}\n\
         drivers.spin = {{ kind = 'joint', joint = 'root', angle = '{speed}*t' }}\n\
         initial.X.frame.omega = [0, 0, {speed}]\ninitial.X.frame.velocity = [0, {}, 0]\n",
        5.0 * speed
    );
    eigenvalues(&load(&text))
}

/// Out of the plane, \[Wright1982\] has λ = ω √(ρA L⁴/EI) for a hub without radius; in the plane ω² is less by Ω². Without the stiffening the
/// lower frequency falls with the speed, until the blade gives way: the false softening.
#[test]
fn a_spinning_blade_stiffens_and_without_geometric_stiffness_falsely_softens() {
    let scale = (1.2 * 1e4 / 1.4e4_f64).sqrt();
    for (eta, lambda) in [(0.0, 3.5160), (2.0, 4.1373), (4.0, 5.5850), (6.0, 7.3604)] {
        let speed = eta / scale;
        let found = blade(speed, true);
        let [lag, flap] = [found[0][1].abs(), found[1][1].abs()];
        // the mesh has 16 elements of order two: 0.3 % of the frequency at rest
        assert!((flap * scale / lambda - 1.0).abs() < 4e-3, "{eta}: {} {lambda}", flap * scale);
        let expected = (lambda * lambda - eta * eta).sqrt();
        assert!((lag * scale / expected - 1.0).abs() < 2e-2, "{eta}: {} {expected}", lag * scale);
    }
    let soft: Vec<f64> = [0.0, 2.0, 4.0, 8.0].map(|speed| blade(speed, false)[0][1].abs()).to_vec();
    assert!(soft.windows(2).all(|w| w[1] < w[0] - 1e-3), "{soft:?}");
    // faster still it is unstable, and with the stiffening it is not
    let grows = |speed, stiffening| blade(speed, stiffening).iter().map(|e| e[0]).fold(0.0, f64::max);
    assert!(
        grows(16.0, false) > 1.0 && grows(16.0, true) < 1e-6,
        "{} {}",
        grows(16.0, false),
        grows(16.0, true)
    );
}

/// The blade spun up from rest to 6 rad/s: the tip stays behind by 0.5 m, and modal body and beam mesh agree on it.
#[test]
fn a_blade_spun_up_bends_as_the_mesh_of_beams_does() {
    let text = |member: &str, root: &str, tip: &str| {
        format!(
            "gravity = [0, 0, 0]\n\
             functions = {{ 'theta(t)' = '0.4*(t^2/2 + (15/(2*pi))^2*(cos(2*pi*t/15) - 1))' }}\n\
             sections.s = {{ kind = 'given', EA = 2.8e7, GA = [1e7, 1e7], EI = [1.4e4, 1.4e4], GJ = 1e4, rhoA = 1.2, rhoI = [6e-4, 6e-4] }}\n\
             flexible.b = {{ kind = 'beam', from = [0, 0, 0], to = [10, 0, 0], section = 's', elements = 8 }}\n{member}\
             joints.root = {{ kind = 'revolute', bodies = ['ground', '{root}'], at = [0, 0, 0], axis = [0, 0, 1] }}\n\
             drivers.spin = {{ kind = 'joint', joint = 'root', angle = 'theta(t)' }}\n\
             measures.w = '{tip}.y*cos(theta(t)) - {tip}.x*sin(theta(t))'\n\
             run = {{ t_end = 9, integrator = {{ kind = 'generalized_alpha', rho = 0.8 }}, step = 0.03 }}\noutput.every = 0.5\n"
        )
    };
    let modal = |stiffening| {
        let member = format!(
            "flexible.X = {{ kind = 'modal', members = ['b'], interface = ['b.start', 'b.end'], modes = 4, geometric_stiffness = {stiffening} }}\n"
        );
        column(&run(&text(&member, "X.node1", "X.node2")), "w")
    };
    let mesh = column(&run(&text("", "b.start", "b.end")), "w");
    let off = |other: &[f64]| mesh.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let largest = mesh.iter().fold(0.0_f64, |a, w| a.max(w.abs()));
    assert!(largest > 0.5, "{largest}");
    // linear stiffness is off by the square of the slope, about 0.08 at the tip
    assert!(off(&modal(true)) < 0.01 * largest, "{} of {largest}", off(&modal(true)));
    assert!(off(&modal(false)) > 0.1 * largest, "{} of {largest}", off(&modal(false)));
}

/// K, M and nodes of a beam written to files and read again, placed elsewhere and turned.
#[test]
fn matrices_from_files_are_those_of_the_members() {
    let text = BAR.replace("elements = 6", "elements = 4, mass_matrix = 'lumped'");
    let (model, _) = load(&text);
    let sections: Vec<BeamSection> =
        model.sections.iter().map(|e| BeamSection::read(&model, e).unwrap()).collect();
    let reader = Reader::new(&model, &model.flexible[0], beam::KIND.keys).unwrap();
    let structure = ModalStructure::of_beams(&[reader], &sections).unwrap().unwrap();
    let folder = std::env::temp_dir().join(format!("sarrus-modal-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let n = 6 * structure.nodes.len();
    let mut nodes = String::from("name, x, y, z\n");
    for node in &structure.nodes {
        let [x, y, z] = node.p;
        writeln!(nodes, "{}, {x:e}, {y:e}, {z:e}", &node.names[0][2..]).unwrap();
    }
    let M = &structure.M;
    let mut mass = format!("%%MatrixMarket matrix coordinate real symmetric\n% lumped\n{n} {n} ");
    let entries: Vec<usize> = (0..n * n).filter(|k| M[*k] != 0.0 && k / n >= k % n).collect();
    writeln!(mass, "{}", entries.len()).unwrap();
    entries.iter().for_each(|k| writeln!(mass, "{} {} {:e}", k / n + 1, k % n + 1, M[*k]).unwrap());
    let mut stiffness = format!("%%MatrixMarket matrix array real general\n{n} {n}\n");
    structure.K.iter().for_each(|k| writeln!(stiffness, "{k:e}").unwrap());
    for (name, text) in [("nodes.csv", &nodes), ("M.mtx", &mass), ("K.mtx", &stiffness)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let own = "flexible.X = { kind = 'modal', members = ['b'], interface = ['b.start', 'b.end'], modes = 3, geometric_stiffness = false }\n";
    let files = "flexible.X = { kind = 'modal', mass = 'M.mtx', stiffness = 'K.mtx', nodes = 'nodes.csv', interface = ['node0', 'node4'], modes = 3, \
         at = [1, 2, 3], orientation = [0.6, 0, 0.8, 0] }\n";
    let gravity = "gravity = [0, 0, 0]\n";
    let weld = |at: &str| {
        format!("joints.o = {{ kind = 'spherical', bodies = ['ground', 'X.node1'], at = {at} }}\n")
    };
    let members = frequencies(&load(&(text.clone() + own + &weld("[0, 0, 0]"))));
    let read_back = |text: &str| read(text, &folder);
    let loaded = read_back(&(gravity.to_owned() + files + &weld("[1, 2, 3]"))).unwrap();
    let found = frequencies(&loaded);
    // without the three rotates about the joint
    let [found, members] =
        [found, members].map(|all| all.into_iter().filter(|f| *f > 1.0).collect::<Vec<_>>());
    assert_eq!(found.len(), 9);
    found.iter().zip(&members).for_each(|(a, b)| assert!((a / b - 1.0).abs() < 1e-7, "{a} {b}"));
    // the node stands where the file puts it
    let tip = &loaded.1.directory.bodies[loaded.1.directory.body("X.node2").unwrap() as usize];
    assert!((tip.start.0[1] - 2.2).abs() < 1e-12, "{:?}", tip.start);

    // what is wrong with a file is said with its line
    let bad = [
        ("M.mtx", mass.replace("% lumped", "% lumped\nx"), "M.mtx:3: this line should give the sizes"),
        ("M.mtx", format!("{mass}1 1 3\n"), "entries"),
        ("M.mtx", mass.replace("\n1 1 ", "\n1 99 "), "M.mtx:4: there is no entry (1, 99)"),
        ("M.mtx", mass.replace("coordinate", "coordinates"), "M.mtx:1: a matrix that is"),
        ("K.mtx", stiffness.replace("array", "matrix array"), "K.mtx:1: this is no Matrix Market file"),
        ("nodes.csv", nodes.replace("node3, ", ""), "nodes.csv:5: there are 3 cells"),
        ("nodes.csv", nodes.replace("node3", "node2"), "nodes.csv:5: a node needs a name of its own"),
        ("nodes.csv", format!("{nodes}more, 1, 2, 3\n"), "30 rows do not fit 6 nodes"),
    ];
    for (name, text, expected) in bad {
        std::fs::write(folder.join(name), &text).unwrap();
        let said = read_back(&(gravity.to_owned() + files)).err().unwrap_or_else(|| panic!("{expected}"));
        assert!(said.contains(expected), "{said}\n{expected}");
        for (name, text) in [("nodes.csv", &nodes), ("M.mtx", &mass), ("K.mtx", &stiffness)] {
            std::fs::write(folder.join(name), text).unwrap();
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn errors_say_what_is_wrong_and_what_there_is() {
    let modal = |keys: &str| format!("{BAR}flexible.X = {{ kind = 'modal', {keys} }}\n");
    let cases = [
        (modal("interface = ['b.start']"), "members"),
        (modal("members = ['b']"), "interface"),
        (modal("members = ['c'], interface = ['b.start']"), "`c` is no beam"),
        (modal("members = ['b'], interface = ['b.node9']"), "has no node `b.node9`"),
        (modal("members = ['b'], interface = ['b.start', 'b.node0']"), "twice"),
        (modal("members = ['b'], interface = ['b.start'], modes = 1"), "`modes` of"),
        (modal("members = ['b'], interface = ['b.start'], modes = 400"), "`modes` of"),
        (modal("members = ['b'], interface = ['b.start'], damping = -1"), "`damping` of"),
        (modal("members = ['b'], interface = ['b.start'], at = [0, 0, 0]"), "and so no `at`"),
        (modal("mass = 'none.mtx', stiffness = 'k', nodes = 'n', interface = ['a']"), "none.mtx"),
        (
            modal("members = ['b', 'c'], interface = ['b.start']")
                + "flexible.c = { kind = 'beam', from = [0, 5, 0], to = [1, 5, 0], section = 's' }\n",
            "can still move freely",
        ),
        (
            modal("members = ['b'], interface = ['b.start']")
                + "joints.o = { kind = 'fixed', bodies = ['ground', 'b.start'], at = [0, 0, 0] }\n",
            "`b` is a member of the modal body `X`",
        ),
    ];
    for (text, expected) in cases {
        let said = read(&text, std::path::Path::new("")).err().unwrap_or_else(|| panic!("{text}"));
        assert!(said.contains(expected), "{text}\n{said}\n{expected}");
    }
}

#[test]
fn a_mirrored_modal_body_is_the_mirror_image_at_every_angle() {
    let run = |planar: bool, include: &str| {
        let (space, vector, axis) = match planar {
            true => ("space = 'planar'\n", "", ""),
            false => ("", ", 0", ", axis = [0, 0, 1]"),
        };
        let inner = format!(
            "format = 'sarrus/1'\n{space}run.t_end = 0.02\ninitial.h.angle = 0.3\ninitial.h.rate = 5.0\n\
             sections.s = {{ kind = 'circle', radius = 0.04 }}\n\
             materials.soft = {{ density = 1000, young = 5e6, poisson = 0.4 }}\n\
             flexible.mesh = {{ kind = 'beam', from = [0, 0{vector}], to = [0.7, 0.2{vector}], section = 's', material = 'soft' }}\n\
             flexible.arm = {{ kind = 'modal', members = ['mesh'], interface = ['mesh.start'], modes = 3 }}\n\
             joints.h = {{ kind = 'revolute', bodies = ['ground', 'arm.node1'], at = [0, 0{vector}]{axis}, stiffness = 5, rest = 0.1 }}\n"
        );
        let outer = format!(
            "format = 'sarrus/1'\n{space}gravity = [0, 0{vector}]\nrun.t_end = 0.02\ninclude.m = {{ file = 'inner.toml'{include} }}\n"
        );
        let beside = [("inner.toml".to_string(), inner.as_str())];
        let model = sarrus::io::load_among("outer.toml", &outer, &beside, &LoadOptions::default());
        let model = model.unwrap_or_else(|e| panic!("{}", e.render()));
        let system = Arc::new(compile(&model).unwrap());
        let run = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap();
        assert!(run.report.certificate.passed);
        ["h.angle", "arm.frame.x", "arm.frame.y"].map(|c| run.trajectory.last(&format!("m.{c}")).unwrap())
    };
    for planar in [true, false] {
        let [angle, x, y] = run(planar, "");
        assert!(angle > 0.3 && x > 0.2, "{angle} {x}");
        for (mirror, sign) in [("x", [-1.0, 1.0]), ("y", [1.0, -1.0])] {
            let image = run(planar, &format!(", mirror = '{mirror}'"));
            for (found, expected) in image.iter().zip([angle, sign[0] * x, sign[1] * y]) {
                assert!((found - expected).abs() < 1e-7, "{mirror}: {found} against {expected}");
            }
        }
    }
}
