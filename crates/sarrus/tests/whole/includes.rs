//! A file that is included moved, turned or mirrored does what it does alone, moved, turned and mirrored: every kind of element
//! that reads columns, `[initial]` by components, files in files. And its resolved form is the same model, bit for bit.

use sarrus::prelude::*;
use std::sync::Arc;

/// x_W = Q x + d.
#[derive(Clone, Copy)]
struct Motion {
    q: [[f64; 3]; 3],
    d: [f64; 3],
}

/// One include: its keys, and what they mean.
struct Step {
    keys: String,
    motion: Motion,
}

fn product(a: &[[f64; 3]; 3], b: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

fn times(a: &[[f64; 3]; 3], x: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| (0..3).map(|k| a[i][k] * x[k]).sum())
}

/// A rotation about an axis of length 1, by Rodrigues' formula.
fn rotate(u: [f64; 3], degrees: f64) -> [[f64; 3]; 3] {
    let (s, c) = degrees.to_radians().sin_cos();
    let cross = [[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]];
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let one = if i == j { c } else { 0.0 };
            one + s * cross[i][j] + (1.0 - c) * u[i] * u[j]
        })
    })
}

impl Motion {
    fn after(&self, inner: &Motion) -> Motion {
        let moved = times(&self.q, inner.d);
        Motion { q: product(&self.q, &inner.q), d: std::array::from_fn(|k| moved[k] + self.d[k]) }
    }

    fn sign(&self) -> f64 {
        let [a, b, c] = self.q;
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    }
}

fn step(planar: bool, mirror: &str, axis: [f64; 3], degrees: f64, at: [f64; 3]) -> Step {
    let n = if planar { 2 } else { 3 };
    let mut keys = format!("at = {:?}", &at[..n]);
    if planar {
        keys += &format!(", angle = '{degrees} deg'");
    } else {
        keys += &format!(", orientation = {{ axis = {axis:?}, angle = '{degrees} deg' }}");
    }
    let mut l = [1.0; 3];
    if !mirror.is_empty() {
        keys += &format!(", mirror = '{mirror}'");
        l["xyz".find(mirror).unwrap()] = -1.0;
    }
    let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    let rotation = rotate(axis.map(|x| x / length), degrees);
    let q = std::array::from_fn(|i| std::array::from_fn(|k| rotation[i][k] * l[k]));
    Step { keys, motion: Motion { q, d: at } }
}

/// Ways to place a file: one include, or two of which the second is inside the first.
fn placements(planar: bool) -> Vec<Vec<Step>> {
    let z = [0.0, 0.0, 1.0];
    let tilted = if planar { z } else { [1.0, -2.0, 0.5] };
    let lift = |x: f64| if planar { 0.0 } else { x };
    let one = |mirror, axis, degrees, at| step(planar, mirror, axis, degrees, at);
    let mut all = vec![
        vec![one("", z, 0.0, [0.7, -0.4, lift(0.2)])],
        vec![one("", z, 90.0, [0.0; 3])],
        vec![one("", z, 180.0, [0.0; 3])],
        vec![one("", tilted, 33.0, [0.3, 0.9, lift(-0.5)])],
        vec![one("x", z, 0.0, [0.0; 3])],
        vec![one("y", z, 0.0, [0.2, 0.1, lift(0.3)])],
        vec![one("x", tilted, -70.0, [1.0, 2.0, lift(3.0)])],
        vec![one("x", tilted, 25.0, [0.5, 0.0, 0.0]), one("y", z, 40.0, [0.0, 0.5, lift(0.1)])],
        vec![one("", tilted, 110.0, [0.1, 0.0, 0.0]), one("y", z, -15.0, [0.4, 0.5, lift(0.6)])],
    ];
    if !planar {
        all.push(vec![one("z", tilted, 15.0, [0.1, 0.2, 0.3])]);
    }
    all
}

const SETTINGS: &str = "run = { t_end = 0.6, rtol = 1e-9, atol = 1e-11 }\noutput.every = 0.3\n";

fn compiled(text: &str, beside: &[(String, &str)]) -> Result<(Model, Arc<System>), String> {
    let options = LoadOptions { record: true, ..LoadOptions::default() };
    let model = sarrus::io::load_among("test.toml", text, beside, &options).map_err(|e| e.render())?;
    let system = compile(&model)
        .map_err(|errors| errors.iter().map(|e| e.render(&model.sources)).collect::<String>())?;
    Ok((model, Arc::new(system)))
}

fn ran(text: &str, beside: &[(String, &str)]) -> (Model, Trajectory) {
    let (model, system) = compiled(text, beside).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let outcome = simulate(&model, &system, &Simulate::default(), &mut ())
        .unwrap_or_else(|e| panic!("{text}\n{:?}", e.diagnostics()));
    assert_eq!(outcome.report.status, Status::Completed, "{text}\n{}", outcome.report.reason);
    (model, outcome.trajectory)
}

fn last(run: &Trajectory, name: &str) -> f64 {
    run.column(name).unwrap_or_else(|| panic!("no column {name}")).last().unwrap()
}

/// A file around `step` that includes `file` as `name`.
fn around(planar: bool, name: &str, file: &str, step: &Step) -> String {
    let space = if planar { "space = 'planar'\ngravity = [0, 0]\n" } else { "gravity = [0, 0, 0]\n" };
    format!("format = 'sarrus/1'\n{space}include.{name} = {{ file = '{file}', {} }}\n{SETTINGS}", step.keys)
}

/// Compares a part alone with the part placed in every way: positions and velocities of `bodies`, and `measures`, which are
/// numbers of the part's own.
fn the_same_everywhere(planar: bool, part: &str, bodies: &[&str], measures: &[&str]) {
    let space = if planar { "space = 'planar'\ngravity = [0, 0]\n" } else { "gravity = [0, 0, 0]\n" };
    let part = format!("format = 'sarrus/1'\n{space}{part}\n{SETTINGS}");
    let (_, alone) = ran(&part, &[]);
    for steps in placements(planar) {
        let what: Vec<&str> = steps.iter().map(|s| s.keys.as_str()).collect();
        let (text, beside, prefix, motion);
        let middle;
        match &steps[..] {
            [outer, inner] => {
                middle = around(planar, "b", "part.toml", inner);
                text = around(planar, "a", "middle.toml", outer);
                beside = vec![("part.toml".to_string(), part.as_str()), ("middle.toml".to_string(), &middle)];
                (prefix, motion) = ("a.b.", outer.motion.after(&inner.motion));
            }
            [only, ..] => {
                text = around(planar, "a", "part.toml", only);
                beside = vec![("part.toml".to_string(), part.as_str())];
                (prefix, motion) = ("a.", only.motion);
            }
            [] => continue,
        }
        let (model, mounted) = ran(&text, &beside);
        let axes: &[&str] = if planar { &["x", "y"] } else { &["x", "y", "z"] };
        let close = |what: String, got: f64, due: f64| {
            assert!((got - due).abs() < 2e-6 * (1.0 + due.abs()), "{what}: {got}, not {due}");
        };
        for body in bodies {
            for (start, d) in [("", motion.d), ("v", [0.0; 3])] {
                let mut own = [0.0; 3];
                for (own, axis) in own.iter_mut().zip(axes) {
                    *own = last(&alone, &format!("{body}.{start}{axis}"));
                }
                let due = times(&motion.q, own);
                for (k, axis) in axes.iter().enumerate() {
                    let name = format!("{prefix}{body}.{start}{axis}");
                    close(format!("{name} with {what:?}"), last(&mounted, &name), due[k] + d[k]);
                }
            }
            if planar {
                let name = format!("{prefix}{body}.rate");
                let due = motion.sign() * last(&alone, &format!("{body}.rate"));
                close(format!("{name} with {what:?}"), last(&mounted, &name), due);
            }
        }
        for measure in measures {
            let name = format!("{prefix}{measure}");
            close(format!("{name} with {what:?}"), last(&mounted, &name), last(&alone, measure));
        }
        // the resolved model is the same, bit for bit
        let resolved = sarrus::io::write_resolved(&model, &[]);
        let (_, again) = ran(&resolved, &[]);
        assert_eq!(mounted.names(), again.names(), "{resolved}");
        for (a, b) in mounted.rows().zip(again.rows()) {
            let same = a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()));
            assert!(same, "{what:?}: {a:?} and {b:?}\n{resolved}");
        }
    }
}

const BODY: &str = "bodies.a = { at = [0.3, 0.1], angle = 0.2, mass = 1, inertia = 0.5, markers = { tip = { on = [0.4, 0.1] } } }\n";

#[test]
fn planar_forces_read_the_columns_of_their_file() {
    let part = format!(
        "{BODY}forces.d = {{ kind = 'force', body = 'a', force = ['-2*a.vx - a.x', '-0.5*a.vy + 0.3*a.tip.x'] }}\n\
         forces.turn = {{ kind = 'torque', body = 'a', torque = '-0.3*a.rate - sin(a.angle) + 0.1*a.tip.vy' }}\n\
         forces.v = {{ kind = 'force', body = 'a', force = '0.2*(a.tip - [1, 2])' }}\n\
         initial = {{ a.vx = 1.0, a.vy = -0.4, a.rate = 2.0 }}\nmeasures = {{ m = 'a.vx + 2*a.angle', n = 'm + a.x' }}"
    );
    the_same_everywhere(true, &part, &["a"], &["m", "n"]);
}

#[test]
fn planar_fields_and_starts_by_components_turn_with_their_file() {
    let part = format!(
        "{BODY}forces.f = {{ kind = 'field', bodies = ['a'], force = ['-mass*x + 0.2*vy', '-3*y - 0.5*vx + a.angle'] }}\n\
         initial = {{ a.x = 0.5, a.angle = 0.7, a.tip.vx = 0.8, a.rate = -1.5 }}"
    );
    the_same_everywhere(true, &part, &["a"], &[]);
}

#[test]
fn planar_constraints_by_expressions_turn_with_their_file() {
    let parts = [
        "constraints.c = { kind = 'expression', zero = 'a.y - 0.1 - 0.3*(a.x - 0.3)^2 - 0.05*(a.x - 0.3)' }\ninitial.a.vx = 1\n",
        "constraints.c = { kind = 'linear_velocity', zero = 'a.vx*sin(a.angle) - a.vy*cos(a.angle)' }\ninitial = { a.vx = 1, a.rate = 0.8 }\n",
        "constraints.c = { kind = 'point_on_curve', body = 'a', implicit = 'y - 0.1 - 2*(x - 0.3)^2 - 0.3*(x - 0.3)' }\ninitial.a.vx = 1\n",
        "constraints.c = { kind = 'point_on_curve', body = 'a', path = ['0.3 + s', '0.1 + 0.5*s - 0.8*s^2'] }\ninitial.a.vx = 1\n",
    ];
    for own in parts {
        let force = "forces.g = { kind = 'force', body = 'a', force = [0.2, '-1 - 0.3*a.vx'] }\n";
        the_same_everywhere(true, &format!("{BODY}{own}{force}"), &["a"], &[]);
    }
}

#[test]
fn planar_events_controllers_and_reactions_read_their_file() {
    let part = format!(
        "{BODY}joints.P = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }}\n\
         controllers.c = {{ kind = 'pid', input = '0.2 - a.y', kp = 3, ki = 1, kd = 0.2 }}\n\
         controllers.o = {{ kind = 'ode', states = {{ s = 0 }}, rates = {{ s = 'a.vx - s' }}, outputs = {{ u = 's + a.tip.y' }} }}\n\
         controllers.k = {{ kind = 'sampled', period = 0.05, outputs = {{ u = '0.1*P.fx - 0.2*P.tz + a.ay/10' }} }}\n\
         controllers.sw = {{ kind = 'input', values = {{ on = 0 }} }}\n\
         forces.f = {{ kind = 'actuator', joint = 'P', torque = 'c.out + o.u + k.u + sw.on' }}\n\
         events.e = {{ when = 'a.x < 0.2', set = {{ sw.on = 'a.vy' }}, once = true }}\n\
         measures = {{ r = 'P.fx + 2*P.fy', all = {{ kind = 'momentum', bodies = ['a'] }}, l = 'all.lz + all.px',\n\
         p = {{ kind = 'point', body = 'a', on = [0.4, 0.1] }}, w = 'p.x - 2*p.y' }}\ninitial.P.rate = 2\n"
    );
    the_same_everywhere(true, &part, &["a"], &["r", "l", "w", "o.u", "k.u", "c.integral"]);
}

const SOLID: &str = "bodies.a = { at = [0.1, 0.2, 0.3], mass = 1, inertia = [0.05, 0.06, 0.07], orientation = { axis = [1, 2, 3], angle = 0.7 }, markers = { tip = { on = [0.3, 0.1, -0.2] } } }\n\
    bodies.e = { at = [0.9, 0.5, 0.3], mass = 1, inertia = [0.05, 0.06, 0.07], orientation = { axis = [1, -2, 1], angle = 0.9 } }\n";

#[test]
fn spatial_forces_and_starts_turn_with_their_file() {
    let part = format!(
        "{SOLID}joints.E = {{ kind = 'spherical', bodies = ['a', 'e'], at = [0.5, 0.3, 0.3] }}\n\
         forces.d = {{ kind = 'force', body = 'a', force = ['-2*a.vx - a.x', '-0.5*a.vy', '-a.vz + 0.4*a.tip.x'] }}\n\
         forces.turn = {{ kind = 'torque', body = 'a', torque_on = ['-0.1*a.wx', '-0.2*a.wy', '0.05*a.wz + 0.01*E.wy'] }}\n\
         forces.f = {{ kind = 'field', bodies = ['e'], force = ['-x + 0.1*vz', '-2*y', '-0.5*z - 0.3*vx'] }}\n\
         initial = {{ a.vx = 0.3, a.vy = -0.2, a.vz = 0.1, a.omega_on = [1.0, -2.0, 0.5], E.wx = 1.0, E.wy = 0.0, E.wz = 0.4 }}\n\
         measures.m = 'a.wx + 2*E.wz + 3*a.vy'"
    );
    the_same_everywhere(false, &part, &["a", "e"], &["m"]);
}

#[test]
fn spatial_joints_to_the_ground_and_their_reactions_turn_with_their_file() {
    let part = format!(
        "{SOLID}joints.A = {{ kind = 'spherical', bodies = ['ground', 'a'], at = [0, 0, 0] }}\n\
         joints.B = {{ kind = 'fixed', bodies = ['a', 'e'], at = [0.5, 0.3, 0.3] }}\n\
         controllers.k = {{ kind = 'sampled', period = 0.05, outputs = {{ u = 'A.fx + 0.1*B.tz' }} }}\n\
         forces.turn = {{ kind = 'torque', body = 'a', torque = ['-0.1*A.wx', '0.2*A.wz', '0.01*k.u'] }}\n\
         initial = {{ A.wx = 1.0, A.wy = -0.5, A.wz = 0.3 }}\n\
         measures = {{ m = 'A.wx - 2*A.wy + A.wz', all = {{ kind = 'momentum', bodies = ['a', 'e'] }}, l = 'all.lx + 2*all.ly - all.lz + all.pz',\n\
         q = {{ kind = 'point', body = 'e', relative_to = 'a' }}, r = 'q.x + 2*q.y + 3*q.z' }}"
    );
    the_same_everywhere(false, &part, &["a", "e"], &["m", "l", "r", "k.u"]);
}

#[test]
fn spatial_constraints_by_expressions_turn_with_their_file() {
    let parts = [
        "constraints.c = { kind = 'expression', zero = 'a.z - 0.3 - 0.2*(a.x - 0.1) + 0.5*(a.y - 0.2)^2' }\n",
        "constraints.c = { kind = 'linear_velocity', zero = 'a.vz - 0.4*a.vx - 0.1*a.x*a.vy' }\n",
        "constraints.c = { kind = 'point_on_curve', body = 'a', implicit = 'z - 0.3 - 0.3*(x - 0.1) + (y - 0.2)^2' }\n",
        "constraints.c = { kind = 'point_on_curve', body = 'a', path = ['0.1 + s', '0.2 - 0.5*s^2', '0.3 + sin(s)'] }\n",
    ];
    for own in parts {
        let rest = "forces.g = { kind = 'force', body = 'a', force = [0.5, '-1 - 0.3*a.vx', '0.3 - a.z'] }\ninitial = { a.vx = 0.5, a.wy = 0.4 }\n";
        the_same_everywhere(false, &format!("{SOLID}{own}{rest}"), &["a"], &[]);
    }
}

#[test]
fn a_mirrored_start_by_quaternion_is_the_mirror_image() {
    let part = format!(
        "{SOLID}joints.E = {{ kind = 'spherical', bodies = ['a', 'e'], at = [0.5, 0.3, 0.3] }}\n\
         initial = {{ E.q1 = 0.2, E.q2 = 0.1, E.q3 = -0.15, a.omega = [1, 2, 3] }}\n"
    );
    let text = format!("format = 'sarrus/1'\ngravity = [0, 0, 0]\n{part}{SETTINGS}");
    let main = format!(
        "format = 'sarrus/1'\ngravity = [0, 0, 0]\ninclude.l = {{ file = 'part.toml' }}\ninclude.r = {{ file = 'part.toml', mirror = 'y' }}\n{SETTINGS}"
    );
    let (_, run) = ran(&main, &[("part.toml".into(), &text)]);
    for (axis, sign) in [("x", 1.0), ("y", -1.0), ("z", 1.0)] {
        let [l, r] = ["l", "r"].map(|side| last(&run, &format!("{side}.e.{axis}")));
        assert!((l - sign * r).abs() < 1e-8, "{axis}: {l} and {r}");
    }
}

#[test]
fn beams_of_mirrored_files_read_as_in_their_file() {
    let part = "sections.s = { kind = 'given', EA = 50, GA = 30, EI = 7, rhoA = 1.5, rhoI = 0.1 }\n\
        flexible.X = { kind = 'beam', from = [0, 0], to = [0.8, 0.3], section = 's', elements = 2 }\n\
        joints.O = { kind = 'fixed', bodies = ['ground', 'X.start'], at = [0, 0] }\n\
        forces.f = { kind = 'force', body = 'X.end', force = ['-0.3*X.end.vx', '1 - X.end.y'] }\n\
        forces.turn = { kind = 'torque', body = 'X.end', torque = '-X.end.angle - 0.2*X.end.rate' }\n\
        initial.X.end.rate = 0.4\nmeasures.m = 'X.element1.M + 2*X.element1.N + 3*X.element2.Q'\n";
    the_same_everywhere(true, part, &["X.node1", "X.node2"], &["m"]);
}

#[test]
fn repeated_includes_are_each_in_their_own_axes() {
    let part = format!(
        "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\n{BODY}\
         forces.d = {{ kind = 'force', body = 'a', force = ['-2*a.vx', '-a.y'] }}\ninitial.a.vx = 1\n{SETTINGS}"
    );
    let (_, alone) = ran(&part, &[]);
    let main = "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\n[repeat.k]\nfor = 'i = 1 to 3'\n\
         include.\"p{i}\" = { file = 'part.toml', angle = '30 deg*i', at = ['i', 0] }\n[run]\nt_end = 0.6\nrtol = 1e-9\natol = 1e-11\n[output]\nevery = 0.3\n";
    let (_, run) = ran(main, &[("part.toml".into(), &part)]);
    for i in 1..=3 {
        let motion = step(true, "", [0.0, 0.0, 1.0], 30.0 * i as f64, [i as f64, 0.0, 0.0]).motion;
        let due = times(&motion.q, [last(&alone, "a.x"), last(&alone, "a.y"), 0.0]);
        let got = last(&run, &format!("p{i}.a.x"));
        assert!((got - due[0] - i as f64).abs() < 1e-7, "{i}: {got}");
    }
}

#[test]
fn what_cannot_be_read_in_a_turned_file_is_refused_by_name() {
    let part = format!("format = 'sarrus/1'\ngravity = [0, 0, 0]\n{SOLID}measures.m = 'a.q1'\n{SETTINGS}");
    let main = |keys: &str| {
        format!(
            "format = 'sarrus/1'\ngravity = [0, 0, 0]\ninclude.i = {{ file = 'part.toml', {keys} }}\n{SETTINGS}"
        )
    };
    let beside = [("part.toml".to_string(), part.as_str())];
    let (model, system) = compiled(&main("mirror = 'x'"), &beside).unwrap();
    let error = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap_err();
    let text: String = error.diagnostics().iter().map(|d| d.render(&model.sources)).collect();
    assert!(
        text.contains("`i.a.q1` cannot be read in an included file that is turned or mirrored"),
        "{text}"
    );
    // moved only, it is the column itself
    ran(&main("at = [1, 2, 3]"), &beside);
    // a start says its component by `orientation`
    let part = format!("format = 'sarrus/1'\ngravity = [0, 0, 0]\n{SOLID}initial.a.q1 = 0.1\n{SETTINGS}");
    let (model, system) = compiled(
        &main("orientation = { axis = [0, 0, 1], angle = 0.3 }"),
        &[("part.toml".to_string(), part.as_str())],
    )
    .unwrap();
    let error = simulate(&model, &system, &Simulate::default(), &mut ()).unwrap_err();
    let text: String = error.diagnostics().iter().map(|d| d.render(&model.sources)).collect();
    assert!(text.contains("orientation"), "{text}");
}

#[test]
fn a_sum_of_columns_may_be_held_at_the_start() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\n\
        bodies.a = { at = [0, 0], mass = 1, inertia = 1 }\nbodies.b = { at = [1, 0], mass = 3, inertia = 1 }\n\
        [initial]\n\"a.vx - b.vx\" = 2\n[run]\nt_end = 0.1\n";
    let (_, run) = ran(text, &[]);
    // the least change weighted by mass: momentum stays 0
    let [a, b] = ["a", "b"].map(|body| last(&run, &format!("{body}.vx")));
    assert!((a - 1.5).abs() < 1e-9 && (b + 0.5).abs() < 1e-9, "{a} {b}");
    let mixed = text.replace("a.vx - b.vx", "a.vx - b.x");
    let (model, system) = compiled(&mixed, &[]).unwrap();
    assert!(simulate(&model, &system, &Simulate::default(), &mut ()).is_err());
}

/// Runs a model and its resolved form over the same short time; every number must be the same.
fn resolved_is_the_same(name: &str, text: &str, beside: &[(String, &str)]) -> Result<(), String> {
    let (model, system) = compiled(text, beside)?;
    let settings =
        sarrus::analysis::Settings::read(&model, &Default::default()).map_err(|e| e.to_string())?;
    let t_end = settings.t_start + 0.004 * (settings.t_end - settings.t_start);
    let overrides = RunOverrides {
        t_end: Some(t_end),
        every: Some(0.5 * (t_end - settings.t_start)),
        ..RunOverrides::default()
    };
    let request = Simulate { overrides: overrides.clone(), record: true };
    let first = simulate(&model, &system, &request, &mut ()).map_err(|e| e.to_string())?;
    let resolved = sarrus::io::write_resolved(&model, &overrides.run_entries());
    let (again, system) = compiled(&resolved, &[]).unwrap_or_else(|e| panic!("{name}: {e}\n{resolved}"));
    let second = simulate(&again, &system, &request, &mut ())
        .unwrap_or_else(|e| panic!("{name}: {:?}\n{resolved}", e.diagnostics()));
    assert_eq!(first.trajectory.names(), second.trajectory.names(), "{name}");
    assert_eq!(first.trajectory.len(), second.trajectory.len(), "{name}");
    let rows = || first.trajectory.rows().zip(second.trajectory.rows());
    for (a, b) in rows() {
        for ((a, b), column) in a.iter().zip(b).zip(first.trajectory.names()) {
            assert!(a.to_bits() == b.to_bits(), "{name}: {column} is {a:e} and {b:e}");
        }
    }
    Ok(())
}

#[test]
fn every_shipped_model_is_its_resolved_form_to_the_bit() {
    for (name, text) in sarrus_zoo::MODELS {
        resolved_is_the_same(name, text, &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

#[test]
fn every_documented_model_is_its_resolved_form_to_the_bit() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut count = 0;
    for file in std::fs::read_dir(docs).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let blocks: Vec<&str> =
            text.split("```toml\n").skip(1).filter_map(|b| b.split("```").next()).collect();
        let named = |block: &&str| {
            let name = block.lines().next()?.strip_prefix("# ")?.split_whitespace().next()?;
            name.ends_with(".toml").then(|| name.to_string())
        };
        let beside: Vec<(String, &str)> = blocks.iter().filter_map(|b| Some((named(b)?, *b))).collect();
        for block in blocks.iter().filter(|b| b.contains("format = \"sarrus/1\"")) {
            let name = format!("{}: {}", path.display(), block.lines().take(2).collect::<Vec<_>>().join(" "));
            resolved_is_the_same(&name, block, &beside).unwrap_or_else(|e| panic!("{name}: {e}"));
            count += 1;
        }
    }
    assert!(count >= 18, "{count} models in the documentation");
}

/// The motion of a model and of its resolved form, which must be the same to the bit.
fn ran_as_resolved(text: &str, beside: &[(String, &str)]) -> Trajectory {
    let (model, run) = ran(text, beside);
    let resolved = sarrus::io::write_resolved(&model, &[]);
    let (_, again) = ran(&resolved, &[]);
    assert_eq!(run.names(), again.names());
    for (a, b) in run.rows().zip(again.rows()) {
        assert!(a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()), "{resolved}");
    }
    run
}

const DROP: &str = "format = 'sarrus/1'\nspace = 'planar'\nground.shape = { kind = 'half_space' }\n\
    bodies.b = { at = [0, 0.3], mass = 1, shape = { kind = 'sphere', radius = 0.1 } }\n\
    contacts.k = { between = ['b', 'ground'], law = { kind = 'linear', stiffness = 1e4 } }\nrun.t_end = 0.25\n";

/// A ball on K x: below the floor it swings about its weight with ω² = K/m, and the energy of the drop is the greatest overlap's.
#[test]
fn an_included_ball_touches_the_floor_of_its_own_file_alone() {
    let alone = ran(DROP, &[]).1;
    let beside = [("drop.toml".to_owned(), DROP)];
    let twice = "format = 'sarrus/1'\nspace = 'planar'\ninclude.L = { file = 'drop.toml' }\n\
        include.M = { file = 'drop.toml', at = [3, 0] }\ninclude.N = { file = 'drop.toml', at = [0, 5] }\nrun.t_end = 0.25\n";
    let run = ran_as_resolved(twice, &beside);
    // drop of 0.2 m to rest and the overlap d: m g (0.2 + d) = K d²/2
    let (k, g) = (1e4, 9.81f64);
    let d = (g + (g * g + 2.0 * k * g * 0.2).sqrt()) / k;
    let deepest = |run: &Trajectory, body: &str, floor: f64| {
        let y = run.column(&format!("{body}.y")).unwrap();
        floor + 0.1 - y.into_iter().fold(f64::INFINITY, f64::min)
    };
    assert!((deepest(&alone, "b", 0.0) - d).abs() < 1e-3 * d, "{} {d}", deepest(&alone, "b", 0.0));
    for (body, floor) in [("L.b", 0.0), ("M.b", 0.0), ("N.b", 5.0)] {
        let found = deepest(&run, body, floor);
        assert!((found - d).abs() < 1e-3 * d, "{body}: {found} {d}");
    }
}

/// On an incline the floor of the file, turned with it, is met at 0.2 m/cos of the rotation along the vertical.
#[test]
fn the_floor_of_a_turned_moved_or_mirrored_file_keeps_its_place_in_the_resolved_file() {
    let beside = [("drop.toml".to_owned(), DROP)];
    for keys in [
        "at = [1, -2]",
        "angle = 0.3",
        "angle = -0.3, mirror = 'x', at = [0.1, 0.2]",
        "angle = 2.9, mirror = 'y'",
    ] {
        let text = format!(
            "format = 'sarrus/1'\nspace = 'planar'\ninclude.L = {{ file = 'drop.toml', {keys} }}\nrun.t_end = 0.25\n"
        );
        let run = ran_as_resolved(&text, &beside);
        let mut force = run.column("L.k.force").unwrap();
        assert!(force.any(|f| f > 100.0), "{keys}");
    }
    let solid = DROP.replace("space = 'planar'\n", "").replace("[0, 0.3]", "[0, 0, 0.3]");
    let nest = "format = 'sarrus/1'\ninclude.D = { file = 'drop.toml', mirror = 'z', orientation = { axis = [1, 0, 0], angle = 'pi' } }\n\
        run.t_end = 1\n";
    let files = [("drop.toml".to_owned(), solid.as_str()), ("nest.toml".to_owned(), nest)];
    let outer = "format = 'sarrus/1'\nbodies.car = { at = [0, 0, 1], mass = 9, inertia = [1, 1, 1] }\n\
        joints.J = { kind = 'fixed', bodies = ['ground', 'car'], at = [0, 0, 1] }\n\
        include.L = { file = 'nest.toml', at = [5, 2, 0], orientation = { axis = [1, 1, 0], angle = 0.2 } }\n\
        include.M = { file = 'nest.toml', at = [0, 0, 2], ground = 'car' }\nrun.t_end = 0.25\n";
    let run = ran_as_resolved(outer, &files);
    for contact in ["L.D.k", "M.D.k"] {
        let mut force = run.column(&format!("{contact}.force")).unwrap();
        assert!(force.any(|f| f > 100.0), "{contact}");
    }
}

/// A planar rate is the same in turned axes, and the other way round in a mirror.
#[test]
fn the_rate_of_a_planar_member_may_be_stated_in_a_turned_file() {
    let part = "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\n\
        sections.s = { kind = 'given', rhoA = 1, rhoI = 1e-3, EA = 1e4, GA = 1e4, EI = 5 }\n\
        flexible.X = { kind = 'beam', from = [0, 0], to = [1, 0], section = 's', elements = 2 }\n\
        initial.X.rate = 1.5\nrun.t_end = 0.01\n";
    let beside = [("part.toml".to_owned(), part)];
    for (keys, rate) in [("angle = 0.7", 1.5), ("mirror = 'x'", -1.5)] {
        let text = format!(
            "format = 'sarrus/1'\nspace = 'planar'\ngravity = [0, 0]\ninclude.L = {{ file = 'part.toml', {keys} }}\nrun.t_end = 0.01\n"
        );
        let run = ran_as_resolved(&text, &beside);
        let found = run.column("L.X.node1.rate").unwrap();
        assert!((found.into_iter().next().unwrap() - rate).abs() < 1e-12, "{keys}");
    }
}

/// The driven angle counts from the ground of the file, which is turned: the body's own is 0.4 + 0.3, mirrored 0.4 - 0.3.
#[test]
fn a_driven_pin_of_a_turned_file_reads_the_same_angle_in_the_resolved_file() {
    let part = "format = 'sarrus/1'\nspace = 'planar'\nbodies.a = { at = [6, 0], mass = 1, inertia = 0.1 }\n\
        joints.J = { kind = 'revolute', bodies = ['ground', 'a'], at = [6, 0] }\n\
        drivers.d = { kind = 'joint', joint = 'J', angle = '0.3 + t' }\nrun.t_end = 0.01\n";
    let beside = [("part.toml".to_owned(), part)];
    for (keys, angle) in [("angle = 0.4", 0.7), ("angle = 0.4, mirror = 'x'", 0.1)] {
        let text = format!(
            "format = 'sarrus/1'\nspace = 'planar'\ninclude.L = {{ file = 'part.toml', {keys} }}\nrun.t_end = 0.01\n"
        );
        let run = ran_as_resolved(&text, &beside);
        let found = run.column("L.a.angle").unwrap().next().unwrap();
        assert!((found - angle).abs() < 1e-12, "{keys}: {found}");
    }
}
