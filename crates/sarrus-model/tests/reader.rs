//! Readers and diagnostics on models made by hand.

use sarrus_model::expr::Binding;
use sarrus_model::key::{Key, KeyType};
use sarrus_model::model::Locals;
use sarrus_model::reader::ComponentMap;
use sarrus_model::scope::ScopeData;
use sarrus_model::{
    Data, Diagnostic, Element, Frame, Model, Reader, Section, Sources, Space, Span, Table, Text, Transform,
    Value,
};
use std::sync::Arc;

fn text(s: &str) -> Value {
    Value::new(Data::Text(Text::new(s)))
}

fn number(x: f64) -> Value {
    Value::new(Data::Number(x))
}

fn list(values: Vec<Value>) -> Value {
    Value::new(Data::List(values))
}

fn element(entries: &[(&str, Value)]) -> Element {
    let mut table = Table::default();
    for (key, value) in entries {
        table.set(key, Span::NONE, value.clone());
    }
    Element {
        name: "f".into(),
        kind: "test".into(),
        section: Section::Forces,
        table: Arc::new(table),
        span: Span::NONE,
        scope: 0,
        locals: None,
    }
}

fn spatial() -> Model {
    Model::empty("test", Space::Spatial)
}

#[test]
fn unknown_keys_are_refused_and_common_ones_are_not() {
    let model = spatial();
    let keys = [Key::new("length", KeyType::Number, "", "")];
    let good = element(&[("length", number(1.0)), ("note", text("x")), ("if", text("true"))]);
    assert!(Reader::new(&model, &good, &keys).is_ok());
    let bad = element(&[("lenght", number(1.0))]);
    let d = Reader::new(&model, &bad, &keys).err().unwrap();
    assert_eq!(d.message, "force `f` has no key `lenght`");
    assert_eq!(d.hint.as_deref(), Some("did you mean `length`?"));
}

#[test]
fn infinity_is_taken_only_where_it_is_allowed() {
    let model = spatial();
    let e = element(&[("a", text("-inf")), ("b", list(vec![number(f64::NEG_INFINITY), text("inf")]))]);
    let r = Reader::open(&model, &e);
    assert_eq!(r.number("a").unwrap_err().message, "`a` of force `f` must be finite, it is -inf");
    assert_eq!(r.number_or_inf("a").unwrap(), Some(f64::NEG_INFINITY));
    assert!(r.numbers("b").is_err());
    assert_eq!(r.limits("b").unwrap(), Some([f64::NEG_INFINITY, f64::INFINITY]));
}

#[test]
fn indices_are_numbers_in_expressions_and_named_in_errors() {
    let model = spatial();
    let mut e = element(&[("a", text("2*i")), ("b", text("1/(i - 3)"))]);
    e.locals = Some(Arc::new(Locals { entry: "links".into(), values: vec![("i".into(), 3.0)] }));
    let r = Reader::open(&model, &e);
    assert_eq!(r.number("a").unwrap(), 6.0);
    assert_eq!(r.number("b").unwrap_err().notes, ["in entry `links` of [repeat], i = 3"]);
}

/// `x` of the element hides a parameter of that name; other names come with the prefix of the file.
#[test]
fn names_of_the_element_come_before_those_of_the_file() {
    let mut model = spatial();
    let scope = ScopeData { prefix: "left.".into(), ..ScopeData::default() };
    model.scopes = vec![scope];
    model.scopes[0].parameters.insert("x".into(), sarrus_model::expr::Quantity::Number(100.0));
    model.scopes[0].parameters.insert("k".into(), sarrus_model::expr::Quantity::Number(10.0));
    let e = element(&[("zero", text("k*x + A.angle + t"))]);
    let zero = Reader::open(&model, &e).expression("zero").unwrap().unwrap();
    let mut seen = Vec::new();
    let mut bind = |path: &str| {
        seen.push(path.to_string());
        Ok(Binding::Scalar(seen.len() as u32 - 1))
    };
    let program = model.compile(&zero, &["x"], &mut bind).unwrap();
    assert_eq!(program.eval(&|slot| [1.0, 200.0, 3000.0][slot as usize]), 3210.0);
    assert_eq!(seen, ["x", "left.A.angle", "t"]);
    assert!(program.to_string().contains("left.A.angle"));
}

#[test]
fn a_free_component_follows_a_quarter_turn_and_no_other() {
    let angles_of = |angle: f64| {
        let mut model = Model::empty("test", Space::Planar);
        let (s, c) = angle.sin_cos();
        let rotation = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]];
        model.scopes[0].planar = true;
        model.scopes[0].transform = Transform::new(None, rotation, angle, [5.0, 0.0, 0.0]);
        let e = element(&[("position", list(vec![number(2.0), text("free")]))]);
        let v = Reader::open(&model, &e).expressions("position", ComponentMap::Point, true)?;
        let programs = model.compile_vector(&v.unwrap(), &[], &mut |_| Err("nothing".into()))?;
        Ok::<_, Diagnostic>(
            programs.iter().map(|p| p.as_ref().and_then(|p| p.is_constant())).collect::<Vec<_>>(),
        )
    };
    assert_eq!(angles_of(0.0).unwrap(), [Some(7.0), None]);
    assert_eq!(angles_of(std::f64::consts::FRAC_PI_2).unwrap(), [None, Some(2.0)]);
    assert!(angles_of(0.3).unwrap_err().message.contains("free"));
}

/// Both ways to place a file inside a file inside a file agree, mirrors included.
#[test]
fn transforms_compose() {
    let rotation = |axis: [f64; 3], angle: f64| {
        sarrus_model::transform::matrix(sarrus_model::transform::axis_angle(axis, angle).unwrap())
    };
    let outer = Transform::new(Some(0), rotation([1.0, 2.0, 3.0], 0.7), 0.0, [1.0, 2.0, 3.0]);
    let inner = Transform::new(Some(2), rotation([0.0, 1.0, -1.0], -1.2), 0.0, [0.3, 0.0, -5.0]);
    let both = outer.after(&inner);
    let close = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);
    let p = [0.1, -0.7, 2.0];
    assert!(close(both.point(p), outer.point(inner.point(p))));
    assert!(close(both.axial(p), outer.axial(inner.axial(p))));
    assert_eq!(both.local(p), outer.local(inner.local(p)));
    let frame = Frame { p, q: sarrus_model::transform::normalized([0.4, -0.1, 0.8, 0.3]), angle: 0.0 };
    let (a, b) = (both.frame(&frame), outer.frame(&inner.frame(&frame)));
    assert!(close(a.point([1.0, 2.0, 3.0]), b.point([1.0, 2.0, 3.0])));
    // a point of the body lands where the transform takes it
    let image = both.frame(&frame).point(both.local([1.0, 2.0, 3.0]));
    assert!(close(image, both.point(frame.point([1.0, 2.0, 3.0]))));
    assert_eq!(both.sign(), 1.0);
}

#[test]
fn a_quaternion_written_and_read_stays_the_same() {
    let mut q = [0.2, -0.5, 0.1, 0.7];
    for _ in 0..100 {
        q = sarrus_model::transform::normalized([q[1] + 0.1, q[0], -q[3], q[2]]);
        let text: Vec<String> = q.iter().map(|x| format!("{x:?}")).collect();
        let back: Vec<f64> = text.iter().map(|t| t.parse().unwrap()).collect();
        assert_eq!(sarrus_model::transform::normalized([back[0], back[1], back[2], back[3]]), q);
        let r = sarrus_model::transform::quaternion(&sarrus_model::transform::matrix(q));
        let s = if q[0] < 0.0 { -1.0 } else { 1.0 };
        assert!(r.iter().zip(q).all(|(a, b)| (a - s * b).abs() < 1e-15));
    }
}

#[test]
fn the_caret_stands_under_wide_and_strange_letters() {
    let mut sources = Sources::default();
    let file = sources.add("m.toml", "a = 1\r\nñ€ = \t\"b\"\r\nlast");
    let at = sources.get(file).unwrap().text.find("\"b\"").unwrap() as u32;
    let d = Diagnostic::new(Span { file, start: at, end: at + 3 }, "what").hint("how").note("more");
    assert_eq!(d.render(&sources), "m.toml:2:7: what\n2 | ñ€ =  \"b\"\n  |       ^^^ how\nnote: more");
    // places outside of the text do not panic
    for (start, end) in [(0, 0), (8, 9), (9, 8), (1000, 2000), (u32::MAX, u32::MAX)] {
        assert!(!Diagnostic::new(Span { file, start, end }, "x").render(&sources).is_empty());
    }
    assert_eq!(Diagnostic::bare("no place").render(&sources), "no place");
}

#[test]
fn tables_are_laid_over_each_other_key_by_key() {
    let inner = |x: f64| {
        let mut t = Table::default();
        t.set("position", Span::NONE, number(x));
        Value::new(Data::Table(Arc::new(t)))
    };
    let mut below = Table::default();
    below.set("certify", Span::NONE, inner(1.0));
    below.set("rtol", Span::NONE, number(1.0));
    let mut over = Table::default();
    let mut energy = Table::default();
    energy.set("energy", Span::NONE, number(2.0));
    over.set("certify", Span::NONE, Value::new(Data::Table(Arc::new(energy))));
    let both = below.overlaid(&over);
    assert_eq!(both.len(), 2);
    assert_eq!(both.get("certify").unwrap().as_table().unwrap().len(), 2);
}
