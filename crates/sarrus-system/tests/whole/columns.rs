//! Columns and measures: what can be read, in which order, and what is refused.

use sarrus_io::{LoadOptions, load, load_str};
use sarrus_model::Model;
use sarrus_solve::{Accel, Equations, Problem, Stage};
use sarrus_system::{Columns, System, compile};
use std::collections::HashMap;
use std::sync::Arc;

const PENDULUM: &str = "
format = 'sarrus/1'
space = 'planar'
bodies.bar = { from = [0, 0], to = [1, 0], mass = 2.0 }
joints.A = { kind = 'revolute', bodies = ['ground', 'bar'], at = [0, 0] }
";

fn model(more: &str) -> Model {
    let text = format!("{PENDULUM}{more}");
    load_str("test.toml", &text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{text}\n{}", e.render()))
}

fn compiled(model: &Model) -> Arc<System> {
    let system = compile(model).unwrap_or_else(|errors| {
        let all: Vec<String> = errors.iter().map(|e| e.render(&model.sources)).collect();
        panic!("{}", all.join("\n"))
    });
    Arc::new(system)
}

/// The errors of a model, when it is compiled or when its columns are made.
fn refused(more: &str) -> String {
    let model = model(more);
    let errors = match compile(&model) {
        Err(errors) => errors,
        Ok(system) => match Columns::new(&model, &Arc::new(system), &[]) {
            Err(errors) => errors,
            Ok(_) => panic!("not refused: {more}"),
        },
    };
    errors.iter().map(|e| e.render(&model.sources)).collect::<Vec<_>>().join("\n")
}

/// A row with made-up multipliers, moving.
fn row(more: &str, patterns: &[&str]) -> (HashMap<String, f64>, bool) {
    let model = model(more);
    let system = compiled(&model);
    let patterns: Vec<String> = patterns.iter().map(|p| p.to_string()).collect();
    let columns = Columns::new(&model, &system, &patterns).unwrap_or_else(|e| panic!("{e:?}"));
    let mut mechanism = system.mechanism();
    let mut state = system.start();
    state.v.iter_mut().enumerate().for_each(|(i, v)| *v = 0.3 + i as f64);
    let mut eq = Equations::new(&mechanism);
    mechanism.update(&state, Stage::FORCE, &mut eq);
    let mut accel = Accel::zeros(&system.structure);
    accel.lambda.iter_mut().enumerate().for_each(|(i, l)| *l = 1.5 + i as f64);
    let mut out = vec![f64::NAN; columns.names.len()];
    columns.row(&mut mechanism, &state, &eq, &accel, &mut out);
    (columns.names.iter().cloned().zip(out).collect(), columns.needs_reactions())
}

#[test]
fn measures_read_measures_of_every_kind_in_any_order() {
    let (row, _) = row(
        "
        [measures]
        last = 'double + r.fy'
        double = '2*r.fx'
        r = { kind = 'reaction', joint = 'A' }
        p = { kind = 'point', body = 'bar', on = [0.5, 0] }
        m = { kind = 'momentum', bodies = ['bar'] }
        e = { kind = 'energy', bodies = ['bar'] }
        d = { kind = 'distance', bodies = ['ground', 'bar'], on = [[0, 3], [0, 0]] }
        way = 'norm(p) + d'
        twice = 'e.kinetic - m.px'
        ",
        &[],
    );
    assert!(row.values().all(|x| x.is_finite()), "{row:?}");
    assert!(row["A.fx"].abs() > 0.1, "{row:?}");
    assert_eq!(row["double"], 2.0 * row["A.fx"]);
    assert_eq!(row["last"], 2.0 * row["A.fx"] + row["A.fy"]);
    assert!((row["way"] - row["p.x"].hypot(row["p.y"]) - row["d"]).abs() < 1e-14, "{row:?}");
    assert_eq!(row["twice"], row["e.kinetic"] - row["m.px"]);
}

#[test]
fn measures_read_energies_and_violations() {
    let (row, _) = row(
        "
        [measures]
        half = '0.5*energy.kinetic'
        sum = 'half + violation.velocity'
        ",
        &[],
    );
    assert!(row["energy.kinetic"] > 0.0 && row["violation.velocity"] > 0.0, "{row:?}");
    assert_eq!(row["half"], 0.5 * row["energy.kinetic"]);
    assert_eq!(row["sum"], row["half"] + row["violation.velocity"]);
}

#[test]
fn a_measure_that_shares_readings_is_evaluated_once() {
    // 2^200 evaluations, were every reading evaluated anew
    let mut more = String::from("[measures]\nm0 = 'bar.x'\n");
    (1..=200).for_each(|i| more.push_str(&format!("m{i} = '0.5*m{0} + 0.5*m{0}'\n", i - 1)));
    let (row, _) = row(&more, &["m200", "bar.x"]);
    assert_eq!(row["m200"], row["bar.x"]);
}

#[test]
fn only_what_is_selected_needs_accelerations() {
    let more = "
        [measures]
        r = { kind = 'reaction', joint = 'A' }
        s = '2*r.fx'
        x = '2*bar.x'
        a = 'violation.acceleration'
        ";
    let needs = |pattern| row(more, &[pattern]).1;
    assert!(needs("s") && needs("r.*") && needs("A.fx") && needs("a") && needs("bar.*"));
    assert!(!needs("x") && !needs("bar.v?") && !needs("energy.*"));
    let (row, _) = row(more, &["s", "A.fx"]);
    assert_eq!(row["s"], 2.0 * row["A.fx"]);
}

#[test]
fn circles_of_measures_are_refused_with_the_chain() {
    let said = refused("[measures]\na = 'b + 1'\nb = '2*c'\nc = 'a'\n");
    assert!(said.contains("a -> b -> c -> a"), "{said}");
    let said = refused("[measures]\na = 'a + 1'\n");
    assert!(said.contains("depends on itself"), "{said}");
}

#[test]
fn wrong_names_in_measures_come_with_a_suggestion() {
    for (measure, parts) in [
        ("s = 'bra.x'", &["`bra.x` is not known", "did you mean `bar.x`?"][..]),
        ("s = 'bar.rat'", &["`bar` has no `rat`", "did you mean `bar.rate`?"]),
        ("s = 'A.fz'", &["`A` has no `fz`", "did you mean `A.f"]),
        ("s = 'A'", &["`A` is not a number", "it has angle, rate, accel, fx, fy, tz"]),
        ("s = 'energy.kinetik'", &["`energy` has no `kinetik`", "did you mean `energy.kinetic`?"]),
        ("s = 'enregy.kinetic'", &["did you mean `energy.kinetic`?"]),
        (
            "r = { kind = 'reaction', joint = 'A' }\ns = 'r.fxx'",
            &["`r` has no `fxx`", "did you mean `r.fx`?"],
        ),
        ("r = { kind = 'reaction', joint = 'A' }\ns = 'r'", &["`r` is not a number", "it has fx, fy, tz"]),
        ("r = { kind = 'reaction', joint = 'B' }", &["`B` does not exist", "did you mean `A`?"]),
    ] {
        let said = refused(&format!("[measures]\n{measure}\n"));
        for part in parts {
            assert!(said.contains(part), "{measure}: `{part}` is missing in\n{said}");
        }
    }
}

#[test]
fn springs_inside_joints_of_included_files_have_no_columns() {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("columns_include");
    std::fs::create_dir_all(&dir).unwrap();
    let arm = "
        format = 'sarrus/1'
        bodies.a = { mass = 1, inertia = [1, 1, 1] }
        bodies.b = { at = [1, 0, 0], mass = 1, inertia = [1, 1, 1] }
        joints.J = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0, 0], stiffness = 5 }
        joints.K = { kind = 'cylindrical', bodies = ['a', 'b'], at = [1, 0, 0], angle = { stiffness = 3 } }
        forces.S = { kind = 'spring', bodies = ['a', 'b'], ends = [[0, 1, 0], [1, 1, 0]], stiffness = 2 }
        ";
    std::fs::write(dir.join("arm.toml"), arm).unwrap();
    let whole = "format = 'sarrus/1'\ninclude.L = { file = 'arm.toml' }\n";
    std::fs::write(dir.join("whole.toml"), whole).unwrap();
    for (file, prefix) in [("arm.toml", ""), ("whole.toml", "L.")] {
        let model =
            load(dir.join(file), &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
        let columns = Columns::new(&model, &compiled(&model), &[]).unwrap_or_else(|e| panic!("{e:?}"));
        let has = |name: &str| columns.names.contains(&format!("{prefix}{name}"));
        assert!(has("J.angle") && has("K.angle") && has("S.length") && has("S.force"), "{:?}", columns.names);
        assert!(!has("J.length") && !has("J.force"), "{:?}", columns.names);
        assert!(!has("K.angle.force") && !has("K.angle.length"), "{:?}", columns.names);
        let mut names = columns.names.clone();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), columns.names.len(), "{:?}", columns.names);
    }
}

#[test]
fn what_can_be_disabled_may_begin_so_and_the_rest_says_that_it_cannot() {
    for (kind, element) in [
        ("measure", "measures.M = { kind = 'energy', bodies = ['bar'], E }"),
        ("controller", "controllers.P = { kind = 'pid', input = 'A.angle', target = 0, kp = 1, E }"),
        ("event", "events.P = { when = 't > 1', stop = 'over', E }"),
    ] {
        let said = refused(&element.replace('E', "enabled = false"));
        assert!(said.contains("cannot be disabled") && said.contains("`if = false`"), "{kind}: {said}");
        assert!(said.contains(kind), "{kind}: {said}");
    }
    for (kind, element) in [
        ("constraint", "constraints.C = { kind = 'point', bodies = ['ground', 'bar'], at = [0, 0], E }"),
        ("driver", "drivers.D = { kind = 'joint', joint = 'A', angle = '0.1*t', E }"),
        ("joint", "joints.B = { kind = 'revolute', bodies = ['ground', 'bar'], at = [1, 0], E }"),
    ] {
        let [on, off] =
            ["true", "false"].map(|e| compiled(&model(&element.replace('E', &format!("enabled = {e}")))));
        assert!(on.structure.nc > off.structure.nc, "{kind}");
        assert_eq!(on.all.elements.len(), off.all.elements.len(), "{kind}");
    }
    let off = compiled(&model(
        "forces.F = { kind = 'force', body = 'bar', at = [1, 0], force = [1, 0], enabled = false }",
    ));
    assert!(off.forces.iter().any(|f| f.name == "F" && !f.enabled));
}

#[test]
fn options_of_joints_with_several_coordinates_say_where_they_belong() {
    let refused = |options: &str| {
        let text = format!(
            "format = 'sarrus/1'\nbodies.a = {{ mass = 1, inertia = [1, 1, 1] }}\n\
             joints.J = {{ kind = 'cylindrical', bodies = ['ground', 'a'], at = [0, 0, 0], {options} }}\n"
        );
        let model = load_str("test.toml", &text, &LoadOptions::default()).unwrap();
        let errors = compile(&model).err().unwrap_or_default();
        errors.iter().map(|e| e.render(&model.sources)).collect::<Vec<_>>().join("\n")
    };
    let said = refused("stiffness = 3");
    assert!(said.contains("has 2 coordinates") && said.contains("angle = { stiffness = … }"), "{said}");
    let said = refused("angle1 = { stiffness = 3 }");
    assert!(said.contains("takes no table `angle1`"), "{said}");
    // what is not available is no advice
    let said = refused("something = 3");
    assert!(said.contains("it takes:") && said.contains(" angle"), "{said}");
    for later in ["friction", "limits", "clearance", "stiffness", "angle1"] {
        assert!(!said.contains(later), "{later}: {said}");
    }
}

#[test]
fn a_hundred_thousand_bodies_have_their_columns_at_once() {
    let text = r#"
        format = 'sarrus/1'
        [repeat.chain]
        for = 'i = 1 to 100000'
        bodies."b{i}" = { at = ['i', 0, 0], mass = 1, inertia = [1, 1, 1] }
        [measures]
        s = 'b77.x + b100000.vx + energy.kinetic'
        "#;
    let model =
        load_str("test.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compiled(&model);
    let patterns: Vec<String> = ["b9999?.*", "!*.q?", "s"].iter().map(|p| p.to_string()).collect();
    let start = std::time::Instant::now();
    let columns = Columns::new(&model, &system, &patterns).unwrap_or_else(|e| panic!("{e:?}"));
    let took = start.elapsed().as_secs_f64();
    println!("columns of 100 000 bodies: {took:.2} s");
    assert_eq!(columns.names.len(), 10 * 15 + 1);
    // about 0.5 s; a search through all names for each would take minutes
    assert!(took < 10.0, "{took} s");
}

/// Only bodies and joints that a pattern may fit have their columns made: which ones that are must not be seen.
#[test]
fn columns_of_a_few_elements_are_those_among_all() {
    let text = "
        format = 'sarrus/1'
        bodies.arm = { from = [0, 0, 0], to = [1, 0, 0], mass = 1, markers = { tip = { on = [0.5, 0, 0] } } }
        bodies.arm2 = { from = [1, 0, 0], to = [2, 0, 0], mass = 1 }
        joints.A = { kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0, 0], axis = [0, 1, 0] }
        joints.A2 = { kind = 'spherical', bodies = ['arm', 'arm2'], at = [1, 0, 0] }
        forces.S = { kind = 'spring', bodies = ['ground', 'arm2'], ends = [[0, 0, 1], [2, 0, 0]], stiffness = 2 }
        controllers.C = { kind = 'pid', input = 'A.angle', kp = 1 }
        [measures]
        sum = 'A2.fx + S.force + arm2.x + energy.kinetic'
        ";
    let model =
        load_str("test.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = compiled(&model);
    let all = Columns::new(&model, &system, &[]).unwrap_or_else(|e| panic!("{e:?}"));
    for patterns in [
        &["arm.*"][..],
        &["arm.tip.*", "!*.v?"],
        &["A2.f?", "sum"],
        &["*.x", "!arm2.x"],
        &["?rm2.vx", "C.*"],
        &["S.length", "A.angle"],
        &["*"],
        &["!A.*", "violation.*"],
    ] {
        let patterns: Vec<String> = patterns.iter().map(|p| p.to_string()).collect();
        let few = Columns::new(&model, &system, &patterns).unwrap_or_else(|e| panic!("{e:?}"));
        let fits = |name: &&String| {
            let last = patterns.iter().rev().find(|p| {
                sarrus_system::columns::matches(p.trim_start_matches('!').as_bytes(), name.as_bytes())
            });
            last.is_some_and(|p| !p.starts_with('!'))
        };
        let wanted: Vec<&String> = all.names.iter().filter(fits).collect();
        assert_eq!(few.names.iter().collect::<Vec<_>>(), wanted, "{patterns:?}");
        assert!(!wanted.is_empty());
        Columns::check(&model, &system, &patterns).unwrap_or_else(|e| panic!("{e:?}"));
    }
    // what is not there is searched for among all names
    let error = Columns::new(&model, &system, &["arm22.x".to_string()]).err().unwrap_or_default();
    assert!(error[0].render(&model.sources).contains("did you mean `arm2.x`?"), "{error:?}");
}
