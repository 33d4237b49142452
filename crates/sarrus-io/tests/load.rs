//! Whole files: what a model says arrives where it should.

use sarrus_io::{LoadOptions, load, load_among, load_str};
use sarrus_model::expr::Quantity;
use sarrus_model::reader::{ComponentMap, WrittenInertia};
use sarrus_model::settings::{Assembly, OutputSettings, RunSettings, WrittenOption};
use sarrus_model::{BodyPoint, Element, Model, Reader};
use std::path::PathBuf;

fn model(text: &str) -> Model {
    load_str("test.toml", text, &LoadOptions::default()).unwrap_or_else(|f| panic!("{}", f.render()))
}

fn error(text: &str) -> String {
    load_str("test.toml", text, &LoadOptions::default()).expect_err("the text is wrong").render()
}

fn reader<'a>(m: &'a Model, name: &str) -> Reader<'a> {
    Reader::open(m, m.find(name).unwrap_or_else(|| panic!("no `{name}`")))
}

fn names(list: &[Element]) -> Vec<&str> {
    list.iter().map(|e| e.name.as_str()).collect()
}

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// A folder of files that is removed at the end.
struct Files(PathBuf);

impl Files {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("sarrus-io-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        for (name, text) in files {
            std::fs::write(path.join(name), text).unwrap();
        }
        Files(path)
    }

    fn load(&self, name: &str, options: &LoadOptions) -> Result<Model, String> {
        load(self.0.join(name), options).map_err(|f| f.render())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn close(a: [f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14)
}

#[test]
fn the_models_of_the_format_load() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder("models")).unwrap() {
        let path = entry.unwrap().path();
        count += 1;
        match load(&path, &LoadOptions::default()) {
            Ok(m) => assert!(
                !(m.bodies.is_empty() && m.flexible.is_empty()) && path.file_stem().unwrap() == &*m.name
            ),
            Err(f) => panic!("{}", f.render()),
        }
    }
    assert_eq!(count, 11);
}

/// The numbers that the first lines of the models state.
#[test]
fn the_four_bar_closes_where_the_format_says() {
    let m = load(folder("models/four_bar.toml"), &LoadOptions::default()).unwrap();
    let c = reader(&m, "C").point("at").unwrap().unwrap();
    assert!((c[0] - 0.4958).abs() < 5e-5 && (c[1] - 0.2309).abs() < 5e-5, "{c:?}");
    let frame = reader(&m, "coupler").body_frame().unwrap();
    assert!((frame.frame.angle.to_degrees() - 8.29).abs() < 5e-3);
    assert!((frame.length.unwrap() - 0.4).abs() < 1e-15);
    assert_eq!(names(&m.bodies), ["crank", "coupler", "rocker"]);
    assert_eq!(m.gravity, [0.0, -9.81, 0.0]);
}

#[test]
fn json_is_the_same_format() {
    let text = r#"{ "format": "sarrus/1", "space": "planar", "parameters": { "l": "2 m" },
        "bodies": { "bar": { "from": [0, 0], "to": ["l", 0], "mass": 1 } } }"#;
    let m = load_str("bar.json", text, &LoadOptions::default()).unwrap();
    assert_eq!(reader(&m, "bar").body_frame().unwrap().length, Some(2.0));
    // without an ending the first letter decides
    assert!(load_str("bar", text, &LoadOptions::default()).is_ok());
}

#[test]
fn repeat_makes_names_and_numbers_from_the_index() {
    let m = model(
        r#"format = "sarrus/1"
        space = "planar"
        parameters = { n = 3, h = "n*2" }
        [repeat.ring]
        for = "i = 1 to n"
        points."P{i}" = ["i", "h"]
        bodies."link{i}" = { at = "P{i}", mass = "i/2" }
        joints."J{i}" = { kind = "revolute", bodies = ["link{i}", "link{i % n + 1}"], at = "P{i}" }
        initial."J{i}".rate = "10*i"
        [joints.last]
        kind = "revolute"
        bodies = ["ground", "link{n}"]
        at = [0, 0]"#,
    );
    assert_eq!(names(&m.bodies), ["link1", "link2", "link3"]);
    assert_eq!(names(&m.joints), ["last", "J1", "J2", "J3"]);
    let bodies = reader(&m, "J3").bodies2("bodies").unwrap();
    assert_eq!([bodies[0].name.as_str(), bodies[1].name.as_str()], ["link3", "link1"]);
    assert_eq!(reader(&m, "last").bodies2("bodies").unwrap()[1].name, "link3");
    assert_eq!(reader(&m, "link3").number("mass").unwrap(), 1.5);
    assert_eq!(reader(&m, "J2").point("at").unwrap(), Some([2.0, 6.0, 0.0]));
    assert_eq!(m.initial[1].path, "J2.rate");
    assert_eq!(Reader::setting(&m, &m.initial[1]).number("value").unwrap(), 20.0);
}

#[test]
fn repeat_may_be_empty_and_may_combine_indices() {
    let m = model(
        r#"format = "sarrus/1"
        parameters.n = 0
        repeat.none = { for = "i = 1 to n", bodies = { "a{i}" = { mass = 1 } } }
        repeat.grid = { for = ["i = 0 to 1", "j = i to 2"], bodies = { "b{i}_{j}" = { mass = 1 } } }"#,
    );
    assert_eq!(names(&m.bodies), ["b0_0", "b0_1", "b0_2", "b1_1", "b1_2"]);
}

#[test]
fn a_long_chain_of_points_needs_no_stack() {
    let m = model(
        r#"format = "sarrus/1"
        parameters.n = 20000
        points.P0 = [0, 0, 0]
        repeat.points = { for = "i = 1 to n", points = { "P{n+1-i}" = "P{n-i} + [1, 0, 0]" } }"#,
    );
    assert_eq!(m.scopes[0].points["P20000"], Quantity::Vector { v: [20000.0, 0.0, 0.0], n: 3 });
}

#[test]
fn an_element_left_out_by_if_is_gone_and_said_to_be() {
    let text = |who: &str| {
        format!(
            r#"format = "sarrus/1"
            parameters.spare = false
            bodies = {{ a = {{ mass = 1 }}, b = {{ mass = 1, if = "spare" }} }}
            joints.j = {{ kind = "fixed", bodies = ["a", "{who}"], at = [0, 0, 0] }}"#
        )
    };
    let m = model(&text("b"));
    assert_eq!(names(&m.bodies), ["a"]);
    let d = reader(&m, "j").bodies2("bodies").unwrap_err();
    assert_eq!(d.message, "body `b` is left out of the model by its `if`");
    let set = LoadOptions { set: vec![("spare".into(), "true".into())], ..Default::default() };
    assert_eq!(load_str("test.toml", &text("b"), &set).unwrap().bodies.len(), 2);
}

#[test]
fn the_command_line_is_stronger_than_a_case_and_a_case_than_the_file() {
    let text = r#"format = "sarrus/1"
        parameters = { n = 1, l = { value = "2*n", min = 0, max = 100 } }
        bodies.b = { mass = "l" }
        initial.b.vx = 1
        run = { t_end = 3, integrator = { kind = "rk4", a = 1 } }
        [cases.big]
        set = { n = 5 }
        initial.b = { vx = 7, vy = 8 }
        run = { t_end = 4 }"#;
    let mass = |options: &LoadOptions| {
        let m = load_str("test.toml", text, options).unwrap();
        reader(&m, "b").number("mass").unwrap()
    };
    let case = Some("big".to_string());
    let set = vec![("n".to_string(), "7".to_string())];
    assert_eq!(mass(&LoadOptions::default()), 2.0);
    assert_eq!(mass(&LoadOptions { case: case.clone(), ..Default::default() }), 10.0);
    assert_eq!(mass(&LoadOptions { case: case.clone(), set, ..Default::default() }), 14.0);
    let m = load_str("test.toml", text, &LoadOptions { case, ..Default::default() }).unwrap();
    let run = RunSettings::read(&m).unwrap();
    assert_eq!((run.t_end(), run.integrator.unwrap().kind.as_str()), (4.0, "rk4"));
    let paths: Vec<&str> = m.initial.iter().map(|s| s.path.as_str()).collect();
    assert_eq!(paths, ["b.vx", "b.vy"]);
    assert_eq!(Reader::setting(&m, &m.initial[0]).column("value", "vx").unwrap(), 7.0);
    let too_big = LoadOptions { set: vec![("l".into(), "101".into())], ..Default::default() };
    let failure = load_str("test.toml", text, &too_big).unwrap_err().render();
    assert!(failure.starts_with("--set:1:3: parameter `l` is 101, above its max 100"), "{failure}");
}

#[test]
fn run_and_output_are_read_typed() {
    let m = model(
        r#"format = "sarrus/1"
        parameters.T = 4
        [run]
        t_start = 1
        t_end = "T/2"
        max_steps = 1000
        stabilization = { kind = "baumgarte", alpha = "T + 1", beta = "auto" }
        formulation = "direct"
        rtol = 1e-9
        assembly = "velocity"
        certify = { position = 1e-6 }
        [output]
        every = "10 ms"
        columns = ["crank.*", "!*.q?"]"#,
    );
    let run = RunSettings::read(&m).unwrap();
    assert_eq!(
        (run.t_start, run.t_end, run.max_steps, run.rtol),
        (Some(1.0), Some(2.0), Some(1000), Some(1e-9))
    );
    assert_eq!((run.assembly, run.certify.position, run.certify.energy), (Assembly::Velocity, 1e-6, 1e-6));
    let s = run.stabilization.unwrap();
    assert_eq!(s.kind, "baumgarte");
    let auto = WrittenOption::Name("auto".into());
    assert_eq!(s.options, [("alpha".into(), WrittenOption::Number(5.0)), ("beta".into(), auto)]);
    assert!(run.integrator.is_none());
    let output = OutputSettings::read(&m).unwrap();
    assert_eq!((output.every, output.columns.unwrap().len()), (Some(0.01), 2));
}

#[test]
fn tables_and_functions_are_known_on_loading() {
    let files = Files::new("tables", &[("lift.csv", "angle,lift\n0,1\n1,3\n")]);
    std::fs::write(
        files.0.join("m.toml"),
        r#"format = "sarrus/1"
        functions."twice(x)" = "2*x + off"
        tables = { cam = { file = "lift.csv", y = "lift" }, f = { points = [["a", 0], [2, "a*10"]], outside = "extend" } }
        parameters = { off = "cam(0.5)", a = 1, b = "twice(10)", c = "f(3)" }"#,
    )
    .unwrap();
    let m = files.load("m.toml", &LoadOptions::default()).unwrap();
    let p = |n: &str| m.scopes[0].parameters[n].number().unwrap();
    assert_eq!((p("off"), p("b"), p("c")), (2.0, 22.0, 20.0));
}

const ARM: &str = r#"format = "sarrus/1"
parameters = { l = 1, w = 2 }
points.P = ["l", 2, 3]
initial.hub.velocity = [1, 2, 3]
initial.hub.x = 5
initial.pin.angle = 0.5
ground.markers.C = { at = [0, 1, 0] }
[bodies]
hub = { at = "P", mass = 1, com = [0.1, 0.2, 0.3], inertia = [[2, 0.1, 0], [0.1, 2, 0.2], [0, 0.2, 2]], markers = { tip = { on = [0, 0.5, 0] } } }
rack = { at = [0, 4, 0], mass = 1 }
[joints]
pin = { kind = "revolute", bodies = ["ground", "hub"], at = "P", axis = [1, 2, 3] }
slide = { kind = "prismatic", bodies = ["rack", "hub"], on = [[0, 0, 1], "tip"], axis = [0, 1, 0] }
[forces]
push = { kind = "force", body = "hub", force = ["w*t", 0, "hub.vx"] }
[run]
t_end = 3
"#;

fn arm(extra: &str) -> (Files, Model) {
    let outer = format!(
        r#"format = "sarrus/1"
        bodies.chassis = {{ at = [10, 0, 0], mass = 5 }}
        bodies.bar = {{ at = [0, 0, 7], mass = 5 }}
        include.left = {{ file = "arm.toml", set = {{ l = "3*1" }}, {extra} }}"#
    );
    let name: String = extra.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let files = Files::new(&name, &[("arm.toml", ARM), ("outer.toml", &outer)]);
    let m = files.load("outer.toml", &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    (files, m)
}

#[test]
fn an_included_file_is_prefixed_and_moved() {
    let (_files, m) = arm("at = [0, 0, 10]");
    assert_eq!(names(&m.bodies), ["chassis", "bar", "left.hub", "left.rack"]);
    assert_eq!(reader(&m, "left.hub").body_frame().unwrap().frame.p, [3.0, 2.0, 13.0]);
    let pin = reader(&m, "left.pin");
    assert_eq!(pin.point("at").unwrap(), Some([3.0, 2.0, 13.0]));
    let bodies = pin.bodies2("bodies").unwrap();
    assert_eq!((bodies[0].name.as_str(), bodies[1].name.as_str()), ("ground", "left.hub"));
    assert_eq!(bodies[0].stand_in.as_ref().unwrap().p, [0.0, 0.0, 10.0]);
    // run stays behind, initial comes along
    assert_eq!(RunSettings::read(&m).unwrap().t_end, None);
    assert_eq!(m.initial[1].path, "left.hub.x");
    assert_eq!(Reader::setting(&m, &m.initial[1]).column("value", "x").unwrap(), 5.0);
    assert_eq!(m.markers("ground"), ["left.ground.C"]);
    assert_eq!(m.resolve(&m.scopes[1], "ground.C.x"), "ground.left.ground.C.x");
    assert_eq!(m.resolve(&m.scopes[1], "hub.tip.x"), "left.hub.tip.x");
    assert_eq!(m.resolve(&m.scopes[1], "energy.kinetic"), "energy.kinetic");
}

#[test]
fn a_mirrored_file_is_the_mirror_image() {
    let (_files, m) = arm("mirror = 'y', at = [0, 0, 10]");
    let hub = reader(&m, "left.hub");
    let frame = hub.body_frame().unwrap().frame;
    assert_eq!(frame.p, [3.0, -2.0, 13.0]);
    assert_eq!(frame.q, [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(hub.own_point("com").unwrap(), Some([0.1, -0.2, 0.3]));
    let Some(WrittenInertia::Tensor(i)) = hub.inertia("inertia").unwrap() else { panic!() };
    assert_eq!(i, [[2.0, -0.1, 0.0], [-0.1, 2.0, -0.2], [0.0, -0.2, 2.0]]);
    // axes of rotation are reflected and reversed, directions of motion reflected
    let axis = reader(&m, "left.pin").axis_or("axis", [0.0, 0.0, 1.0]).unwrap();
    let s = 14f64.sqrt();
    assert!(close(axis, [-1.0 / s, 2.0 / s, -3.0 / s]));
    assert_eq!(reader(&m, "left.slide").direction("axis").unwrap(), Some([0.0, -1.0, 0.0]));
    assert_eq!(reader(&m, "left.slide").axis_or("none", [0.0, 0.0, 1.0]).unwrap(), [0.0, 0.0, -1.0]);
    let bodies = reader(&m, "left.slide").bodies2("bodies").unwrap();
    let on = reader(&m, "left.slide").locals2("on", &bodies).unwrap().unwrap();
    assert_eq!(on, [BodyPoint::At([0.0, 0.0, 1.0]), BodyPoint::Marker("tip".into())]);
    assert_eq!(Reader::setting(&m, &m.initial[0]).vector("value").unwrap(), Some([1.0, -2.0, 3.0]));
    assert_eq!(Reader::setting(&m, &m.initial[1]).column("value", "x").unwrap(), 5.0);
}

/// A mirror keeps distances: any point of a body lands on the mirror image of where it was.
#[test]
fn frames_of_a_mirrored_file_stay_right_handed_and_fit() {
    let body = r#"bodies.b = { from = [1, 2, 3], to = [2, 4, 1], mass = 1 }
        bodies.c = { at = [1, 0, 0], orientation = { euler = "zxz", angles = [0.3, 0.5, -1] }, mass = 1, com = [1, 2, 3] }"#;
    let files = Files::new("mirror", &[("part.toml", &format!("format = \"sarrus/1\"\n{body}"))]);
    let alone = files.load("part.toml", &LoadOptions::default()).unwrap();
    for (mirror, k) in [("x", 0), ("y", 1), ("z", 2)] {
        let outer = format!(
            "format = \"sarrus/1\"\ninclude.i = {{ file = \"part.toml\", mirror = \"{mirror}\", at = [1, 2, 3], \
             orientation = {{ axis = [1, 1, 0], angle = 0.7 }} }}"
        );
        std::fs::write(files.0.join("outer.toml"), outer).unwrap();
        let m = files.load("outer.toml", &LoadOptions::default()).unwrap();
        let rotation = sarrus_model::transform::axis_angle([1.0, 1.0, 0.0], 0.7).unwrap();
        let r = sarrus_model::transform::matrix(rotation);
        for name in ["b", "c"] {
            let before = reader(&alone, name).body_frame().unwrap().frame;
            let after = reader(&m, &format!("i.{name}")).body_frame().unwrap().frame;
            let p = [0.3, -0.2, 0.9];
            let mut image = before.point(p);
            image[k] = -image[k];
            let image = sarrus_model::transform::apply(&r, image);
            let image = [image[0] + 1.0, image[1] + 2.0, image[2] + 3.0];
            let mut local = p;
            local[k] = -local[k];
            assert!(close(after.point(local), image), "{mirror} {name}");
        }
    }
}

#[test]
fn ground_and_replaced_bodies_become_bodies_of_the_outer_file() {
    let (_files, m) = arm("ground = 'chassis', replace = { rack = 'bar' }, at = [0, 0, 10]");
    assert_eq!(names(&m.bodies), ["chassis", "bar", "left.hub"]);
    let slide = reader(&m, "left.slide");
    let bodies = slide.bodies2("bodies").unwrap();
    assert_eq!(bodies[0].name, "bar");
    // the rack stood at (0, 4, 10); the point (0, 0, 1) on it is (0, 4, 11), which is (0, 4, 4) on the bar
    let on = slide.locals2("on", &bodies).unwrap().unwrap();
    assert_eq!(on[0], BodyPoint::At([0.0, 4.0, 4.0]));
    assert_eq!(reader(&m, "left.pin").bodies2("bodies").unwrap()[0].name, "chassis");
    assert_eq!(m.resolve(&m.scopes[1], "rack.vx"), "bar.vx");
    assert_eq!(m.resolve(&m.scopes[0], "left.rack.vx"), "bar.vx");
    assert_eq!(m.resolve(&m.scopes[1], "ground.C.x"), "chassis.left.ground.C.x");
    let attachment = &m.attachments[0];
    assert_eq!(attachment.body, "chassis");
    let marker = Reader::open(&m, &attachment.element)
        .map_of_tables("markers", sarrus_model::reader::MARKER_KEYS)
        .unwrap();
    let frame = m.frame_of("chassis").unwrap();
    let marker_frame = marker[0].1.marker_frame(&frame, Some(&attachment.frame)).unwrap();
    assert_eq!(marker_frame.p, [-10.0, 1.0, 10.0]);
}

/// Programs of a turned vector: evaluated with hub.vx = 5 (slot 1) at t = 3 (slot 0).
#[test]
fn expressions_of_an_included_file_turn_with_it() {
    let value = |extra: &str| {
        let (_files, m) = arm(extra);
        let v = reader(&m, "left.push").expressions("force", ComponentMap::Polar, false).unwrap().unwrap();
        let mut bind = |path: &str| match path {
            "t" => Ok(sarrus_model::expr::Binding::Scalar(0)),
            "left.hub.vx" => Ok(sarrus_model::expr::Binding::Scalar(1)),
            other => Err(format!("`{other}` does not exist")),
        };
        let programs =
            m.compile_vector(&v, &[], &mut bind).unwrap_or_else(|d| panic!("{}", d.render(&m.sources)));
        let read = |slot: u32| if slot == 0 { 3.0 } else { 5.0 };
        let values: Vec<f64> = programs.iter().map(|p| p.as_ref().unwrap().eval(&read)).collect();
        [values[0], values[1], values[2]]
    };
    assert_eq!(value("at = [0, 0, 1]"), [6.0, 0.0, 5.0]);
    assert_eq!(value("mirror = 'x'"), [-6.0, 0.0, 5.0]);
    assert!(close(value("orientation = { axis = [0, 0, 1], angle = '90 deg' }"), [0.0, 6.0, 5.0]));
}

#[test]
fn included_parameters_can_be_set_from_outside() {
    let (files, m) = arm("at = [0, 0, 1]");
    assert_eq!(m.scopes[1].parameters["l"], Quantity::Number(3.0));
    let set = |name: &str| LoadOptions { set: vec![(name.into(), "8".into())], ..Default::default() };
    let m = files.load("outer.toml", &set("left.l")).unwrap();
    assert_eq!(m.scopes[1].parameters["l"], Quantity::Number(8.0));
    let e = files.load("outer.toml", &set("left.lx")).unwrap_err();
    assert!(e.starts_with("--set:1:1: parameter `lx` does not exist"), "{e}");
    let e = files.load("outer.toml", &set("right.l")).unwrap_err();
    assert!(e.starts_with("--set:1:1: parameter `right.l` does not exist"), "{e}");
}

#[test]
fn texts_that_stand_beside_each_other_include_each_other_without_files() {
    let part = "format = \"sarrus/1\"\nbodies.b = { mass = 2, inertia = [1, 1, 1] }\ninclude.inner = { file = \"./leaf.toml\" }";
    let leaf = "format = \"sarrus/1\"\nbodies.c = { mass = 3, inertia = [1, 1, 1] }";
    let beside = [("part.toml".to_string(), part), ("leaf.toml".to_string(), leaf)];
    let text = "format = \"sarrus/1\"\ninclude.p = { file = \"part.toml\", at = [1, 0, 0] }";
    let m = load_among("whole.toml", text, &beside, &LoadOptions::default()).unwrap();
    let names: Vec<&str> = m.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["p.b", "p.inner.c"]);
    // what is not among them is searched for on the disk, and not found
    let lost = load_among("whole.toml", text, &beside[1..], &LoadOptions::default()).unwrap_err().render();
    assert!(lost.contains("part.toml"), "{lost}");
    let itself = [("part.toml".to_string(), text)];
    let circle = load_among("whole.toml", text, &itself, &LoadOptions::default()).unwrap_err().render();
    assert!(circle.contains("includes itself"), "{circle}");
}

#[test]
fn a_file_that_includes_itself_is_refused() {
    let files = Files::new(
        "cycle",
        &[
            ("a.toml", "format = \"sarrus/1\"\ninclude.b = { file = \"b.toml\" }"),
            ("b.toml", "format = \"sarrus/1\"\ninclude.a = { file = \"./a.toml\" }"),
            ("flat.toml", "format = \"sarrus/1\"\nspace = \"planar\"\ninclude.c = { file = \"c.toml\" }"),
            ("c.toml", "format = \"sarrus/1\""),
            ("lost.toml", "format = \"sarrus/1\"\ninclude.c = { file = \"nowhere.toml\" }"),
            (
                "no_body.toml",
                "format = \"sarrus/1\"\ninclude.c = { file = \"c.toml\", ground = \"chasis\" }\nbodies.chassis = { mass = 1 }",
            ),
        ],
    );
    let error = |name: &str| files.load(name, &LoadOptions::default()).unwrap_err();
    assert!(error("a.toml").contains("includes itself"));
    assert!(error("flat.toml").contains("`c.toml` is spatial, this model is planar"));
    assert!(error("lost.toml").contains("lost.toml:2:22: "), "{}", error("lost.toml"));
    assert!(error("lost.toml").contains("cannot be read: it does not exist"));
    assert!(error("no_body.toml").contains("body `chasis` does not exist"));
    assert!(error("no_body.toml").contains("did you mean `chassis`?"));
}

#[test]
fn planar_includes_turn_angles() {
    let part = r#"format = "sarrus/1"
        space = "planar"
        bodies.b = { from = [0, 0], to = [1, 1], mass = 1 }
        initial.b.angle = 0.1
        forces.f = { kind = "torque", body = "b", torque = "2*t" }"#;
    let outer = r#"format = "sarrus/1"
        space = "planar"
        include.p = { file = "part.toml", mirror = "x", angle = "90 deg", at = [5, 0] }"#;
    let files = Files::new("planar", &[("part.toml", part), ("outer.toml", outer)]);
    let m = files.load("outer.toml", &LoadOptions::default()).unwrap();
    let frame = reader(&m, "p.b").body_frame().unwrap().frame;
    assert!(close(frame.p, [4.5, -0.5, 0.0]), "{:?}", frame.p);
    assert!((frame.angle - std::f64::consts::FRAC_PI_4).abs() < 1e-15);
    assert_eq!(reader(&m, "p.f").axis_or("axis", [0.0, 0.0, 1.0]).unwrap(), [0.0, 0.0, -1.0]);
    let torque = reader(&m, "p.f").axial_expression("torque").unwrap().unwrap();
    let program = m.compile(&torque, &[], &mut |_| Ok(sarrus_model::expr::Binding::Scalar(0))).unwrap();
    assert_eq!(program.eval(&|_| 3.0), -6.0);
    let angle = Reader::setting(&m, &m.initial[0]).column("value", "angle").unwrap();
    assert!((angle - (std::f64::consts::FRAC_PI_2 - 0.1)).abs() < 1e-15);
}

#[test]
fn an_error_shows_the_line_the_place_and_a_hint() {
    let text = "format = \"sarrus/1\"\n[bodies]\ncrank = { mass = 1 }\ncoupler = { mass = 1 }\n[joints]\n\
        B = { kind = \"revolute\", bodies = [\"crank\", \"copler\"], at = [0, 0, 0] }\n";
    let m = model(text);
    let d = reader(&m, "B").bodies2("bodies").unwrap_err();
    let expected = "test.toml:6:45: body `copler` does not exist\n\
        6 | B = { kind = \"revolute\", bodies = [\"crank\", \"copler\"], at = [0, 0, 0] }\n  \
        |                                             ^^^^^^^^ did you mean `coupler`?";
    assert_eq!(d.render(&m.sources), expected);
}

#[test]
fn several_errors_are_reported_at_once() {
    let e =
        error("format = \"sarrus/1\"\njoints.a = 3\njoints.b = { bodies = [] }\nforces.c = { kind = 2 }\n");
    assert_eq!(e.matches("test.toml:").count(), 3, "{e}");
}

#[test]
fn every_body_needs_no_more_than_its_names_in_the_common_namespace() {
    // points, materials and cases have namespaces of their own
    model(
        r#"format = "sarrus/1"
        points.A = [0, 0, 0]
        materials.A = { density = 1 }
        cases.A = {}
        joints.A = { kind = "fixed", bodies = ["ground", "b"], at = "A" }
        bodies.b = { mass = 1, material = "A" }"#,
    );
}

#[test]
fn a_plain_number_typed_for_a_parameter_with_a_unit_is_asked_about() {
    let text = "format = \"sarrus/1\"\n[parameters]\nn = \"3000 rpm\"\nl = \"2 m\"\n";
    let set = |name: &str, value: &str| {
        let options = LoadOptions { set: vec![(name.into(), value.into())], ..Default::default() };
        load_str("test.toml", text, &options).map_err(|failure| failure.render())
    };
    for (name, value) in [("n", "6000 rpm"), ("n", "600 rad/s"), ("n", "0"), ("n", "2*pi*100"), ("l", "3")] {
        assert!(set(name, value).is_ok(), "{name}={value}");
    }
    let error = set("n", "6000").unwrap_err();
    assert!(error.contains("rpm") && error.contains("n=6000 rpm"), "{error}");
    let error = set("n", "3 kg").unwrap_err();
    assert!(error.contains("expected an angular velocity [rad/s], found a mass [kg]"), "{error}");
}
