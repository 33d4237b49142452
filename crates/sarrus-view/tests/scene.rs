//! Scenes of all shipped models: whole, within the contract, and where the mechanism is.

mod common;

use common::{bytes, compiled, live, read, request, scene, shipped};
use sarrus_view::motion::{PoseTable, check_pose_columns};
use sarrus_view::{ColumnTable, Scene};
use serde_json::Value;

/// Keys that the contract knows, by the object they stand in.
const KEYS: &[(&str, &[&str])] = &[
    (
        "scene",
        &[
            "format",
            "name",
            "space",
            "gravity",
            "t",
            "ground",
            "bodies",
            "joints",
            "flexible",
            "links",
            "loads",
            "contacts",
            "view",
            "columns",
            "columns_left_out",
            "events",
            "report",
            "thinning",
        ],
    ),
    ("bodies", &["name", "shapes", "markers", "part_of"]),
    (
        "shapes",
        &[
            "kind",
            "pose",
            "color",
            "role",
            "length",
            "radius",
            "thickness",
            "size",
            "width",
            "tube",
            "points",
            "vertices",
            "triangles",
        ],
    ),
    ("joints", &["name", "kind", "bodies", "on", "axis_on", "axis2_on", "coordinates", "not_unique"]),
    (
        "flexible",
        &[
            "name",
            "kind",
            "nodes",
            "frames",
            "rest",
            "section",
            "about",
            "color",
            "body",
            "lines",
            "modes",
            "amplitudes",
        ],
    ),
    ("links", &["name", "kind", "bodies", "on"]),
    ("loads", &["name", "kind", "body", "on", "vector"]),
    ("contacts", &["name", "between"]),
    ("columns", &["name", "unit", "scale", "hidden"]),
    ("events", &["t", "name", "kind", "text"]),
];

fn conforms(name: &str, of: &str, value: &Value) {
    let known = KEYS.iter().find(|(object, _)| *object == of).map(|(_, keys)| *keys).unwrap();
    for key in value.as_object().unwrap().keys() {
        assert!(
            known.contains(&key.as_str()),
            "{name}: `{of}` has `{key}`, which the contract does not know"
        );
    }
}

fn rotate(q: &[f64], r: &[f64]) -> [f64; 3] {
    let (w, u) = (q[0], [q[1], q[2], q[3]]);
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let r = [r[0], r[1], r[2]];
    let t = cross(u, r).map(|x| 2.0 * x);
    let ut = cross(u, t);
    [0, 1, 2].map(|k| r[k] + w * t[k] + ut[k])
}

/// Joints hold their bodies together in the picture too: points meet, axes are parallel. The poses are f32, so to 2⁻²³ of lengths of up to
/// tens of metres; joints themselves hold to far less.
#[test]
fn every_shipped_model_has_its_bodies_joints_and_columns_where_they_are() {
    for (name, _) in sarrus_zoo::MODELS {
        let (model, system) = shipped(name);
        let request = request(1e-4, 1e-4);
        let (outcome, live, scene) = live(&model, &system, &request, 1 << 28);
        let json: Value = serde_json::from_slice(&live.scene()).unwrap();
        conforms(name, "scene", &json);
        for family in ["bodies", "joints", "flexible", "links", "loads", "contacts", "columns", "events"] {
            json[family].as_array().into_iter().flatten().for_each(|item| conforms(name, family, item));
        }
        let shapes =
            json["bodies"].as_array().unwrap().iter().filter_map(|b| b["shapes"].as_array()).flatten();
        let ground = json["ground"]["shapes"].as_array().into_iter().flatten();
        shapes.chain(ground).for_each(|shape| conforms(name, "shapes", shape));

        let bodies: Vec<&str> = scene.bodies.iter().map(|b| b.name.as_str()).collect();
        assert!(model.bodies.iter().all(|b| bodies.contains(&b.name.as_str())), "{name}");
        let joints: Vec<&str> = scene.joints.iter().map(|j| j.name.as_str()).collect();
        let wanted: Vec<&str> = model.joints.iter().map(|j| j.name.as_str()).collect();
        assert_eq!(joints, wanted, "{name}");

        let frames = read(&bytes(&live));
        assert_eq!((frames.bodies, frames.columns), (scene.bodies.len(), scene.columns.len()), "{name}");
        assert_eq!(frames.t.len(), outcome.trajectory.len(), "{name}");
        // from states and from columns: the same poses
        let table = ColumnTable::from(&outcome.trajectory);
        check_pose_columns(&system.directory, &table.names).unwrap();
        let by_columns = PoseTable::from_columns(&system.directory, table).unwrap();
        let apart =
            frames.poses.iter().zip(&by_columns.poses).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart <= 1e-5, "{name}: {apart}");
        // and the same velocities
        assert_eq!(frames.rates.len(), by_columns.rates.len(), "{name}");
        let largest = frames.rates.iter().fold(1.0, |most: f32, x| most.max(x.abs()));
        let apart =
            frames.rates.iter().zip(&by_columns.rates).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart <= 1e-5 * largest, "{name}: {apart}");

        let pose = |body: i32| match usize::try_from(body) {
            Ok(body) => frames.poses[7 * body..7 * body + 7].iter().map(|x| f64::from(*x)).collect(),
            Err(_) => vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        };
        for joint in &scene.joints {
            let [a, b] = joint.bodies.map(pose);
            let point_of = |pose: &[f64], on: &[f64; 3]| {
                let arm = rotate(&pose[3..], on);
                [0, 1, 2].map(|k| pose[k] + arm[k])
            };
            let (p, q) = (point_of(&a, &joint.on[0]), point_of(&b, &joint.on[1]));
            let gap = (0..3).map(|k| (p[k] - q[k]).powi(2)).sum::<f64>().sqrt();
            if ["revolute", "spherical", "universal", "fixed"].contains(&joint.kind) {
                assert!(gap < 2e-5, "{name}: joint {} is {gap} m apart", joint.name);
            }
            if let (Some([u, v]), true) =
                (joint.axis_on, ["revolute", "prismatic", "cylindrical"].contains(&joint.kind))
            {
                let (u, v) = (rotate(&a[3..], &u), rotate(&b[3..], &v));
                let cosine: f64 = u.iter().zip(&v).map(|(x, y)| x * y).sum();
                assert!((cosine - 1.0).abs() < 1e-5, "{name}: axes of {} at {cosine}", joint.name);
            }
        }
    }
}

#[test]
fn flexible_members_bring_their_meshes() {
    let (model, system) = shipped("beam_pendulum");
    let (scene, _) = scene(&model, &system, &request(1e-4, 1e-4));
    let json = serde_json::to_value(&scene).unwrap();
    let beam = &json["flexible"][0];
    let nodes = beam["nodes"].as_array().unwrap();
    assert_eq!(beam["kind"], "beam");
    assert_eq!(nodes.len(), beam["rest"].as_array().unwrap().len());
    for node in nodes {
        let body = &json["bodies"][node.as_u64().unwrap() as usize];
        assert_eq!(body["part_of"], beam["name"]);
    }
}

const MODAL: &str = r#"
format = "sarrus/1"
space = "spatial"
gravity = [0, 0, -9.81]
[sections]
s = { kind = "rectangle", width = 0.02, height = 0.01 }
[flexible]
bar = { kind = "beam", from = [0, 0, 0], to = [1, 0, 0], section = "s", material = "steel", elements = 6 }
arm = { kind = "modal", members = ["bar"], interface = ["bar.start"], modes = 4 }
[joints]
A = { kind = "revolute", bodies = ["ground", "arm.node1"], at = [0, 0, 0], axis = [0, 1, 0] }
[run]
t_end = 0.01
[output]
columns = ["energy.*"]
"#;

/// x = p + R (r + S η) of an interface node is where its own body is.
#[test]
fn segments_of_a_rod_that_touch_by_their_ends_are_drawn_between_them_too() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\n[sections]\ns = { kind = 'rectangle', width = 0.02, height = 0.03, EI = 20 }\n\
                [flexible]\nrod = { kind = 'segmented_rod', from = [0, 0], to = [1, 0], segments = 4, section = 's', material = 'steel', \
                shape = { kind = 'ends', radius = 0.015, role = 'contact' } }\n[run]\nt_end = 1\n";
    let (model, system) = compiled("rod", text);
    let (scene, _) = scene(&model, &system, &request(0.1, 0.1));
    let json: Value = serde_json::from_str(&scene.to_json()).expect("JSON");
    let bodies = json["bodies"].as_array().expect("bodies");
    assert_eq!(bodies.len(), 4);
    for body in bodies {
        let kinds: Vec<&str> =
            body["shapes"].as_array().unwrap().iter().map(|s| s["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["ends", "box"]);
        // a quarter of the rod, by the length that a segment has of itself
        assert_eq!(body["shapes"][0]["points"][1][0], 0.125);
        assert_eq!(body["shapes"][1]["size"][0], 0.25);
    }
}

#[test]
fn a_modal_body_is_drawn_where_its_nodes_are_though_no_column_tells() {
    let (model, system) = compiled("modal", MODAL);
    let mut request = request(0.01, 1e-3);
    request.overrides.columns = None;
    let (_, live, _) = live(&model, &system, &request, 1 << 28);
    let scene: Value = serde_json::from_slice(&live.scene()).unwrap();
    let frames = read(&bytes(&live));
    let arm = &scene["flexible"][0];
    assert_eq!((arm["kind"].as_str(), arm["lines"][0].as_array().unwrap().len()), (Some("modal"), 7));
    let columns: Vec<&str> =
        scene["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    let hidden = scene["columns"].as_array().unwrap().iter().filter(|c| c["hidden"] == true).count();
    assert_eq!(hidden, arm["amplitudes"].as_array().unwrap().len());

    let numbers = |v: &Value| v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>();
    let last = frames.t.len() - 1;
    let pose = |body: usize| {
        let at = (last * frames.bodies + body) * 7;
        frames.poses[at..at + 7].iter().map(|x| f64::from(*x)).collect::<Vec<_>>()
    };
    let name = |i: usize| scene["bodies"][i]["name"].as_str().unwrap();
    let frame = pose(arm["body"].as_u64().unwrap() as usize);
    let node = pose((0..frames.bodies).find(|&i| name(i) == "arm.node1").unwrap());
    let mut s = numbers(&arm["nodes"][0]);
    let mut moved = 0.0_f64;
    for (k, amplitude) in arm["amplitudes"].as_array().unwrap().iter().enumerate() {
        let column = columns.iter().position(|c| *c == amplitude.as_str().unwrap()).unwrap();
        let eta = frames.values[column][last];
        for (c, u) in numbers(&arm["modes"][k][0]).iter().enumerate() {
            s[c] += u * eta;
            moved = moved.max((u * eta).abs());
        }
    }
    let arm = rotate(&frame[3..], &s);
    let apart = (0..3).map(|k| (frame[k] + arm[k] - node[k]).abs()).fold(0.0, f64::max);
    // what is left are terms of second order in η and f32
    assert!(moved > 1e-6 && apart < 1e-6 + 0.02 * moved, "{apart} m of {moved} m");
}

#[test]
fn the_view_of_a_model_is_read() {
    let text = r#"
format = "sarrus/1"
space = "planar"
[bodies.bar]
from = [0, 0]
to = [1, 0]
mass = 1
shape = { kind = "box", size = [1, 0.1], color = "red" }
[bodies.bar.markers]
tip = { on = [0.5, 0] }
[ground]
shape = { kind = "half_space", on = [0, -1] }
[joints]
A = { kind = "revolute", bodies = ["ground", "bar"], at = [0, 0] }
[run]
t_end = 1
[view]
"#;
    let read = |view: &str| {
        let (model, system) = compiled("view", &format!("{text}{view}"));
        Scene::new(&model, &system).map_err(|d| {
            let text: Vec<String> = d.iter().map(|d| d.render(&model.sources)).collect();
            text.join("\n")
        })
    };
    let scene =
        read("trace = ['bar.tip', 'bar']\nfollow = 'bar'\ncamera = { from = [0, 0, 3], to = [0.5, 0, 0] }")
            .unwrap();
    assert_eq!((scene.view.trace[0].body, scene.view.trace[0].on), (0, [0.5, 0.0, 0.0]));
    assert_eq!((scene.view.trace[1].on, scene.view.follow), ([0.0; 3], Some(0)));
    assert_eq!(scene.view.camera.unwrap().from, [0.0, 0.0, 3.0]);
    assert_eq!(
        (scene.bodies[0].shapes[0].size, scene.bodies[0].shapes[0].color.as_deref()),
        (Some([1.0, 0.1, 0.0]), Some("#d62728"))
    );
    assert_eq!((scene.ground.shapes[0].kind, scene.ground.shapes[0].pose.unwrap()[1]), ("half_space", -1.0));

    for (view, wanted) in [
        ("trace = ['bar.tipp']", "did you mean `tip`"),
        ("trace = ['baar']", "did you mean `bar`"),
        ("follow = 'nobody'", "is no body"),
        ("camera = 'above'", "camera = { from"),
        ("camera = { from = [1, 2] }", "three numbers"),
        ("camera = { from = [1, 2, 3], to = [1, 2, 3] }", "stands where it looks"),
    ] {
        let error = read(view).expect_err(view);
        assert!(error.contains(wanted), "{view}:\n{error}");
    }
}

#[test]
fn columns_are_shown_in_the_units_that_the_model_asks_for() {
    let text = "format = 'sarrus/1'\nbodies.b = { mass = 1, inertia = [1, 1, 1] }\n\
                view.units = { length = 'mm', angle = 'deg', rate = 'rpm' }\n";
    let (model, system) = compiled("b", text);
    let (_, live, _) = live(&model, &system, &request(0.1, 0.1), 1 << 28);
    let json: Value = serde_json::from_slice(&live.scene()).unwrap();
    let of = |name: &str| {
        let column = json["columns"].as_array().unwrap().iter().find(|c| c["name"] == name).unwrap();
        (column["unit"].as_str().unwrap().to_string(), column["scale"].as_f64())
    };
    assert_eq!(of("b.x"), ("mm".into(), Some(1000.0)));
    assert_eq!(of("b.vx"), ("m/s".into(), None));
    let (unit, scale) = of("b.wx");
    assert!(
        unit == "rpm" && (scale.unwrap() - 30.0 / std::f64::consts::PI).abs() < 1e-12,
        "{unit} {scale:?}"
    );
}
