//! Files for others: `report.html` and glTF.

mod common;

use common::{compiled, request, scene, shipped};
use sarrus::analysis::simulate;
use sarrus_view::motion::PoseTable;
use sarrus_view::{ColumnTable, Scene, between, gltf, report};

fn simulated(
    name: &str,
    t_end: f64,
    every: f64,
) -> (Scene, PoseTable, std::sync::Arc<sarrus::system::System>) {
    simulated_of(shipped(name), t_end, every)
}

fn simulated_of(
    (model, system): (sarrus::model::Model, std::sync::Arc<sarrus::system::System>),
    t_end: f64,
    every: f64,
) -> (Scene, PoseTable, std::sync::Arc<sarrus::system::System>) {
    let request = request(t_end, every);
    let outcome = simulate(&model, &system, &request, &mut ()).unwrap();
    let (mut scene, _) = scene(&model, &system, &request);
    scene.set_report(serde_json::to_value(&outcome.report).unwrap());
    let motion = PoseTable::from_columns(&system.directory, ColumnTable::from(&outcome.trajectory)).unwrap();
    (scene, motion, system)
}

/// The error that the page states is the one there is, by another way of interpolating: positions only, by the cubic's basis.
#[test]
fn a_page_has_fewer_frames_and_says_what_that_costs() {
    let (scene, motion, system) = simulated("four_bar", 1.0, 1e-3);
    let (thin, few) = report::thinned(scene, &system.directory, &motion);
    let said = thin.thinning.unwrap();
    assert_eq!((said.retained, said.of), (few.table.len(), motion.table.len()));
    assert!(said.retained < said.of / 2, "{said:?}");
    assert!(said.position <= 1e-4 * motion.size() && said.angle <= 2e-4 && said.columns <= 2e-3, "{said:?}");

    let mut worst = 0.0_f64;
    for (row, t) in motion.table.t.iter().enumerate() {
        let after = few.table.t.partition_point(|x| x < t).clamp(1, few.table.len() - 1);
        let (t0, t1) = (few.table.t[after - 1], few.table.t[after]);
        let u = (t - t0) / (t1 - t0);
        for body in 0..motion.bodies {
            let at =
                |m: &PoseTable, row: usize, k: usize| f64::from(m.poses[(row * m.bodies + body) * 7 + k]);
            let rate = |row: usize, k: usize| f64::from(few.rates[(row * few.bodies + body) * 6 + k]);
            let (uu, h) = (u * u, t1 - t0);
            let apart = (0..3)
                .map(|k| {
                    let ends = (1.0 - 3.0 * uu + 2.0 * u * uu) * at(&few, after - 1, k)
                        + (3.0 * uu - 2.0 * u * uu) * at(&few, after, k);
                    let slopes =
                        (u - 2.0 * uu + u * uu) * rate(after - 1, k) + (u * uu - uu) * rate(after, k);
                    (ends + h * slopes - at(&motion, row, k)).powi(2)
                })
                .sum::<f64>();
            worst = worst.max(apart.sqrt());
        }
    }
    assert!((worst - said.position).abs() <= 1e-6 * motion.size(), "{worst} is not {said:?}");
}

/// The largest distance between the two points of a pin or ball, between the frames of a motion, relative to its size.
fn widest_gap(scene: &Scene, motion: &PoseTable) -> f64 {
    let mut widest = 0.0_f64;
    let pins = || scene.joints.iter().filter(|joint| ["revolute", "spherical"].contains(&joint.kind));
    assert!(pins().count() > 0);
    for frame in 1..motion.table.len() {
        for part in 1..8 {
            let u = f64::from(part) / 8.0;
            let poses: Vec<_> =
                (0..motion.bodies).map(|i| between::pose(motion, i, [frame - 1, frame], u)).collect();
            let point = |body: i32, on: [f64; 3]| match usize::try_from(body) {
                Ok(body) => {
                    let (p, q) = poses[body];
                    let arm = sarrus::math::Mat3::from_quat(q) * sarrus::math::Vec3(on);
                    [0, 1, 2].map(|k| p[k] + arm.0[k])
                }
                Err(_) => on,
            };
            for joint in pins() {
                let [a, b] = [0, 1].map(|side| point(joint.bodies[side], joint.on[side]));
                let apart = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
                widest = if apart.is_nan() { f64::NAN } else { widest.max(apart) };
            }
        }
    }
    widest / motion.size()
}

/// Also where the page has few of the samples, and where these are far apart.
#[test]
fn no_joint_is_seen_open_between_frames() {
    let wheel = "format = 'sarrus/1'\nspace = 'planar'\n\
        bodies.w = { at = [0, 0], mass = 1, shape = { kind = 'disc', radius = 0.1 } }\n\
        bodies.rim = { at = [0.1, 0], mass = 0.1, inertia = 1e-4 }\n\
        joints.J = { kind = 'revolute', bodies = ['ground', 'w'], at = [0, 0] }\n\
        joints.K = { kind = 'revolute', bodies = ['w', 'rim'], at = [0.1, 0] }\n\
        drivers.d = { kind = 'joint', joint = 'J', angle = '3000 rpm*t' }\n\
        drivers.e = { kind = 'joint', joint = 'K', angle = '-3000 rpm*t' }\nrun.t_end = 1\n";
    let cases = [
        ("four_bar", shipped("four_bar"), 2.0, 2e-3),
        ("four_bar, coarse", shipped("four_bar"), 2.0, 0.005),
        ("strandbeest", shipped("strandbeest"), 1.0, 2e-3),
        ("heavy_top", shipped("heavy_top"), 0.2, 1e-3),
        ("a wheel at 3000 rpm", compiled("wheel", wheel), 0.2, 1e-3),
    ];
    for (name, model, t_end, every) in cases {
        let (scene, motion, system) = simulated_of(model, t_end, every);
        let all = widest_gap(&scene, &motion);
        let (scene, few) = report::thinned(scene, &system.directory, &motion);
        let thin = widest_gap(&scene, &few);
        println!("{name}: {all:.1e} with {} frames, {thin:.1e} with {}", motion.table.len(), few.table.len());
        assert!(all < 1e-3 && thin < 1e-3, "{name}: {all} with all frames, {thin} with few");
    }
}

#[test]
fn a_page_is_one_file_without_a_way_out() {
    let (mut scene, motion, system) = simulated("four_bar", 0.2, 1e-3);
    scene.bodies[0].name = "</script><i>evil</i>".into();
    let html = report::html(&[report::thinned(scene, &system.directory, &motion)]);
    assert!(html.starts_with("<!doctype html>") || html.starts_with("<!DOCTYPE html>"));
    assert!(html.contains("Content-Security-Policy"));
    assert!(html.len() < 6 << 20, "{} bytes", html.len());
    // nothing is loaded but what stands in the file
    for attribute in [" src=", " href="] {
        for (at, _) in html.match_indices(attribute) {
            let value = html[at + attribute.len()..].trim_start_matches(['"', '\'']);
            assert!(value.starts_with("data:"), "{}", &html[at..(at + 60).min(html.len())]);
        }
    }
    assert!(!html.contains("@import") && !html.contains("url(http"));
    assert!(!html.contains("<i>evil"));
    if let Some(at) = html.find("id=\"sarrus-data\">") {
        let json = &html[at + "id=\"sarrus-data\">".len()..];
        let json = &json[..json.find("</script>").unwrap()];
        let data: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(data["format"], "sarrus-view/1");
        assert_eq!(data["runs"][0]["scene"]["report"]["status"], "completed");
        assert!(data["runs"][0]["frames"].as_str().unwrap().len() > 1000);
    }
}

/// Read back with another program's library.
#[test]
fn an_animation_comes_back_from_its_file() {
    for name in ["four_bar", "governor", "beam_pendulum"] {
        let (scene, motion, _) = simulated(name, 0.1, 2e-3);
        let (document, buffers) = {
            let file = ::gltf::Gltf::from_slice(&gltf::binary(&scene, &motion))
                .unwrap_or_else(|e| panic!("{name}: {e}"));
            let blob = file.blob.clone().expect("a binary chunk");
            (file.document, [blob])
        };
        let nodes: Vec<String> = document.nodes().filter_map(|n| n.name().map(str::to_string)).collect();
        assert!(scene.bodies.iter().all(|body| nodes.contains(&body.name)), "{name}");
        let animation = document.animations().next().expect("an animation");
        assert_eq!(animation.channels().count(), 2 * scene.bodies.len(), "{name}");
        let mut drawn = 0;
        for primitive in document.meshes().flat_map(|mesh| mesh.primitives().collect::<Vec<_>>()) {
            let reader = primitive.reader(|buffer| Some(&buffers[buffer.index()]));
            let vertices = reader.read_positions().expect("positions").count();
            assert!(reader.read_indices().expect("indices").into_u32().all(|i| (i as usize) < vertices));
            drawn += vertices;
        }
        assert!(drawn > 0, "{name}");
        for (i, channel) in animation.channels().enumerate() {
            let reader = channel.reader(|buffer| Some(&buffers[buffer.index()]));
            let times: Vec<f32> = reader.read_inputs().expect("times").collect();
            assert!(times.windows(2).all(|pair| pair[0] < pair[1]) && times[0] == 0.0, "{name}");
            let last = motion.table.len() - 1;
            let pose = &motion.poses[(last * motion.bodies + i / 2) * 7..][..7];
            match reader.read_outputs().expect("outputs") {
                ::gltf::animation::util::ReadOutputs::Translations(all) => {
                    let all: Vec<[f32; 3]> = all.collect();
                    assert_eq!((all.len(), &all.last().unwrap()[..]), (times.len(), &pose[..3]), "{name}");
                }
                ::gltf::animation::util::ReadOutputs::Rotations(all) => {
                    let last = all.into_f32().last().unwrap();
                    let dot = last[3] * pose[3] + last[0] * pose[4] + last[1] * pose[5] + last[2] * pose[6];
                    assert!((dot.abs() - 1.0).abs() < 1e-5, "{name}: {dot}");
                }
                _ => panic!("{name}: an unknown track"),
            }
        }
    }
}

#[test]
fn a_column_that_is_missing_is_named() {
    let text = "format = 'sarrus/1'\nspace = 'planar'\n[bodies]\na = { from = [0, 0], to = [1, 0], mass = 1 }\n\
                b = { from = [1, 0], to = [2, 0], mass = 1 }\n[run]\nt_end = 0.1\n";
    let (_, system) = compiled("two", text);
    let table = ColumnTable { names: vec!["a.x".into(), "a.y".into()], ..ColumnTable::default() };
    let missing = PoseTable::from_columns(&system.directory, table).unwrap_err();
    assert_eq!((missing.column.as_str(), missing.body.as_str(), missing.bodies), ("a.angle", "a", 2));
    assert!(missing.to_string().contains("nor can one other body"), "{missing}");
}

/// A tetrahedron from a file: its corners in the scene, its four faces with outward normals in the animation.
#[test]
fn a_surface_from_a_file_is_drawn() {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("stl");
    std::fs::create_dir_all(&dir).unwrap();
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut stl = String::from("solid t\n");
    for face in [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
        stl += "facet normal 0 0 0\nouter loop\n";
        for [x, y, z] in face.map(|i: usize| corners[i]) {
            stl += &format!("vertex {x} {y} {z}\n");
        }
        stl += "endloop\nendfacet\n";
    }
    std::fs::write(dir.join("t.stl"), stl + "endsolid t\n").unwrap();
    let text = "format = 'sarrus/1'\nspace = 'spatial'\n[bodies]\n\
                a = { mass = 1, shape = { kind = 'mesh', file = 't.stl', scale = 2 } }\n[run]\nt_end = 0.1\n";
    std::fs::write(dir.join("m.toml"), text).unwrap();
    let model = sarrus::io::load(dir.join("m.toml"), &sarrus::io::LoadOptions::default()).unwrap();
    let system = std::sync::Arc::new(sarrus::system::compile(&model).unwrap());
    let request = request(0.1, 0.05);
    let outcome = simulate(&model, &system, &request, &mut ()).unwrap();
    let (scene, _) = scene(&model, &system, &request);
    let shape = &scene.bodies[0].shapes[0];
    assert_eq!((shape.kind, shape.vertices.as_ref().map(Vec::len)), ("mesh", Some(12)));
    assert_eq!(shape.vertices.as_ref().unwrap().iter().fold(0.0_f64, |most, x| most.max(*x)), 2.0);
    assert_eq!(shape.triangles.as_ref().map(Vec::len), Some(12));
    let motion = PoseTable::from_columns(&system.directory, ColumnTable::from(&outcome.trajectory)).unwrap();
    let file = ::gltf::Gltf::from_slice(&gltf::binary(&scene, &motion)).unwrap();
    let blob = file.blob.clone().unwrap();
    let mesh = file.meshes().next().expect("a mesh");
    let primitive = mesh.primitives().next().expect("triangles");
    let reader = primitive.reader(|_| Some(&blob));
    let away = reader.read_positions().unwrap().zip(reader.read_normals().unwrap()).all(|(p, n)| {
        let from_middle: f32 = (0..3).map(|k| (p[k] - 0.5) * n[k]).sum();
        from_middle > 0.0
    });
    assert!(away, "a face looks inwards");
}

/// The tip of a blade in the file, rest and morph targets by their weights, is where the columns say it is. Modes are f32 there, of lengths of 10 m.
#[test]
fn a_modal_body_bends_in_its_file() {
    // without the shortening that goes with its stiffness, which is of second order and is not drawn
    let text = sarrus_zoo::model("spinning_blade").unwrap();
    let plain = text.replace("stiffening = { value = true", "stiffening = { value = false");
    assert_ne!(plain, text);
    let (scene, motion, _) = simulated_of(compiled("spinning_blade", &plain), 4.0, 0.1);
    let Some(sarrus_view::scene::Flexible::Modal { nodes, amplitudes, body, .. }) =
        scene.flexible.iter().find(|f| matches!(f, sarrus_view::scene::Flexible::Modal { .. }))
    else {
        panic!("a modal body")
    };
    let file = ::gltf::Gltf::from_slice(&gltf::binary(&scene, &motion)).unwrap();
    let blob = file.blob.clone().unwrap();
    let mesh = file.meshes().find(|mesh| mesh.name() == Some("blade")).expect("a mesh");
    let primitive = mesh.primitives().next().unwrap();
    let reader = primitive.reader(|_| Some(&blob));
    let rest: Vec<[f32; 3]> = reader.read_positions().unwrap().collect();
    let targets: Vec<Vec<[f32; 3]>> =
        reader.read_morph_targets().map(|(moved, ..)| moved.unwrap().collect()).collect();
    assert_eq!(targets.len(), amplitudes.len());
    let animation = file.animations().next().unwrap();
    let track = animation
        .channels()
        .find(|c| c.target().property() == ::gltf::animation::Property::MorphTargetWeights)
        .expect("a track of weights");
    assert_eq!(track.target().node().name(), Some("blade"));
    let reader = track.reader(|_| Some(&blob));
    let times = reader.read_inputs().unwrap().count();
    let Some(::gltf::animation::util::ReadOutputs::MorphTargetWeights(weights)) = reader.read_outputs()
    else {
        panic!("weights")
    };
    let weights: Vec<f32> = weights.into_f32().collect();
    assert_eq!(weights.len(), times * targets.len());

    // at the last frame, on the axis of the last rod
    let weights = &weights[weights.len() - targets.len()..];
    let tip = nodes.iter().copied().max_by(|a, b| a[0].total_cmp(&b[0])).unwrap();
    let vertex =
        rest.iter().position(|p| (0..3).all(|k| (f64::from(p[k]) - tip[k]).abs() < 1e-5)).expect("a tip");
    let on = [0, 1, 2].map(|k| {
        let bent = targets.iter().zip(weights).map(|(target, w)| w * target[vertex][k]).sum::<f32>();
        f64::from(rest[vertex][k] + bent)
    });
    let bend = (on[1] - tip[1]).abs();
    assert!(bend > 0.01, "{bend}: it stays behind");
    let last = motion.table.len() - 1;
    let pose: Vec<f64> = motion.poses[(last * motion.bodies + *body as usize) * 7..][..7]
        .iter()
        .map(|x| f64::from(*x))
        .collect();
    let (w, u) = (pose[3], [pose[4], pose[5], pose[6]]);
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let twice = cross(u, on).map(|x| 2.0 * x);
    let again = cross(u, twice);
    for (k, axis) in ["x", "y", "z"].iter().enumerate() {
        let world = pose[k] + on[k] + w * twice[k] + again[k];
        let wanted = motion.table.column(&format!("blade.mesh.end.{axis}")).expect("a column")[last];
        assert!((world - wanted).abs() < 1e-4, "{axis}: {world} is not {wanted}");
    }
}
