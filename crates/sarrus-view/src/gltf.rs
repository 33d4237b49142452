//! The animation as a binary glTF 2.0 file, for Blender, browsers and the like.
//!
//! A node a body, its shapes as children with meshes, and an animation with a track of translations and one of rotations a body. glTF
//! has y up: spatial models, which have z up, stand under a node that turns them. Beams are drawn as a rod on each node, half way to its neighbours;
//! modal bodies bend, where the results have their amplitudes. Frames that straight lines miss by less than 1/4000 of the mechanism's size are left out.

mod bent;

use crate::motion::{POSE, PoseTable, join};
use crate::scene::{Flexible, Scene, SceneShape};
use crate::solids::{ShadedTriangles, triangles};
use crate::thin::{ThinningBound, choose};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Defines what interpolation may miss, in sizes of the mechanism and in rad.
const FINE: f64 = 2.5e-4;
/// Colour of what has none.
const GREY: &str = "#9aa5b1";
const FLOAT: u32 = 5126;
const UNSIGNED: u32 = 5125;

/// The parts of a file that grow while it is written.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    nodes: Vec<Value>,
    meshes: Vec<Value>,
    materials: Vec<Value>,
    known_meshes: HashMap<String, usize>,
    known_materials: HashMap<String, usize>,
}

impl Writer {
    /// Numbers with `width` to an element; glTF wants their extent where they are positions or times.
    fn floats(&mut self, numbers: &[f32], width: usize, target: Option<u32>, extent: bool) -> usize {
        let kind = ["SCALAR", "SCALAR", "VEC2", "VEC3", "VEC4"][width];
        let view = self.view(numbers.iter().flat_map(|x| x.to_le_bytes()).collect(), target);
        let mut accessor = json!({
            "bufferView": view, "componentType": FLOAT, "count": numbers.len() / width, "type": kind,
        });
        if extent {
            let fold = |start: f32, pick: fn(f32, f32) -> f32| -> Vec<f32> {
                (0..width).map(|k| numbers.iter().skip(k).step_by(width).copied().fold(start, pick)).collect()
            };
            accessor["min"] = json!(fold(f32::INFINITY, f32::min));
            accessor["max"] = json!(fold(f32::NEG_INFINITY, f32::max));
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn view(&mut self, bytes: Vec<u8>, target: Option<u32>) -> usize {
        let mut view = json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.bytes.extend(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    fn node(&mut self, node: Value) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn material(&mut self, color: &str) -> usize {
        if let Some(&known) = self.known_materials.get(color) {
            return known;
        }
        let digits = u32::from_str_radix(color.trim_start_matches('#'), 16).unwrap_or(0x9a_a5_b1);
        // sRGB to linear, as glTF counts
        let part = |shift: u32| (f64::from(digits >> shift & 0xff) / 255.0).powf(2.2);
        self.materials.push(json!({
            "name": color,
            "pbrMetallicRoughness": {
                "baseColorFactor": [part(16), part(8), part(0), 1.0], "metallicFactor": 0.1, "roughnessFactor": 0.7,
            },
        }));
        self.known_materials.insert(color.to_string(), self.materials.len() - 1);
        self.materials.len() - 1
    }

    /// The mesh of a shape; equal ones are one.
    fn mesh(&mut self, shape: &SceneShape, planar: bool, extent: f64) -> Option<usize> {
        let plain = SceneShape { pose: None, role: "", ..shape.clone() };
        let key = serde_json::to_string(&plain).unwrap_or_default();
        if let Some(&known) = self.known_meshes.get(&key) {
            return Some(known);
        }
        let primitive = self.primitive(&triangles(shape, planar, extent)?, shape.color.as_deref());
        self.meshes.push(json!({ "name": shape.kind, "primitives": [primitive] }));
        self.known_meshes.insert(key, self.meshes.len() - 1);
        Some(self.meshes.len() - 1)
    }

    /// Triangles in one colour.
    fn primitive(&mut self, mesh: &ShadedTriangles, color: Option<&str>) -> Value {
        let ShadedTriangles { positions, normals, indices } = mesh;
        let flat = |all: &[[f32; 3]]| all.iter().flatten().copied().collect::<Vec<f32>>();
        let position = self.floats(&flat(positions), 3, Some(34962), true);
        let normal = self.floats(&flat(normals), 3, Some(34962), false);
        let view = self.view(indices.iter().flat_map(|i| i.to_le_bytes()).collect(), Some(34963));
        self.accessors.push(json!({
            "bufferView": view, "componentType": UNSIGNED, "count": indices.len(), "type": "SCALAR",
        }));
        let index = self.accessors.len() - 1;
        let material = self.material(color.unwrap_or(GREY));
        json!({
            "attributes": { "POSITION": position, "NORMAL": normal }, "indices": index, "material": material,
        })
    }

    /// Nodes of shapes, as children of a body's.
    fn shapes(&mut self, shapes: &[SceneShape], planar: bool, extent: f64) -> Vec<usize> {
        let mut children = Vec::new();
        for shape in shapes.iter().filter(|s| s.role != "mass" && s.role != "contact") {
            if let Some(mesh) = self.mesh(shape, planar, extent) {
                let mut node = json!({ "mesh": mesh, "name": shape.kind });
                if let Some([x, y, z, w, i, j, k]) = shape.pose {
                    node["translation"] = json!([x, y, z]);
                    node["rotation"] = json!([i, j, k, w]);
                }
                children.push(self.node(node));
            }
        }
        children
    }
}

/// The file.
pub fn binary(scene: &Scene, motion: &PoseTable) -> Vec<u8> {
    let (planar, size) = (scene.space == "planar", motion.size());
    let mut w = Writer::default();
    let mut shapes: Vec<Vec<SceneShape>> = scene.bodies.iter().map(|body| body.shapes.clone()).collect();
    // of each body the meshes that bend
    let mut bent: Vec<(usize, bent::SkinnedMesh)> = Vec::new();
    for member in &scene.flexible {
        let body = match member {
            Flexible::Modal { body, .. } => usize::try_from(*body).ok(),
            Flexible::Beam { .. } => None,
        };
        let bends = body.zip(bent::columns(member, motion));
        match bends.and_then(|(body, columns)| Some((body, bent::add(&mut w, member, motion, columns)?))) {
            Some(found) => bent.push(found),
            None => stand_in(member, &mut shapes),
        }
    }

    let weights: Vec<usize> = bent.iter().flat_map(|(_, bent)| bent.columns.iter().copied()).collect();
    let rows = keyframes(motion, size, &weights);
    let at = |row: usize, body: usize| {
        let from = (row * motion.bodies + body) * POSE;
        &motion.poses[from..from + POSE]
    };
    let mut roots = Vec::new();
    let ground = w.shapes(&scene.ground.shapes, planar, size);
    roots.push(w.node(with_children(json!({ "name": "ground" }), ground)));
    let mut bodies = Vec::new();
    for (i, body) in scene.bodies.iter().enumerate() {
        let mut children = w.shapes(&shapes[i], planar, size);
        children.extend(bent.iter().filter(|(body, _)| *body == i).map(|(_, bent)| bent.node));
        let mut node = json!({ "name": body.name });
        if let Some(&row) = rows.first() {
            let p = at(row, i);
            node["translation"] = json!([p[0], p[1], p[2]]);
            node["rotation"] = json!(unit([p[4], p[5], p[6], p[3]]));
        }
        bodies.push(w.node(with_children(node, children)));
    }
    roots.extend(&bodies);

    let mut file = json!({
        "asset": { "version": "2.0", "generator": format!("Sarrus {}", sarrus::analysis::VERSION) },
        "scene": 0,
    });
    if rows.len() > 1 {
        file["animations"] = json!([animation(&mut w, scene, motion, &rows, &bodies, &bent)]);
    }
    let top = json!({ "name": scene.name, "children": roots });
    let top = match planar {
        true => top,
        // z up to y up: a quarter rotation about x, backwards
        false => {
            let mut top = top;
            top["rotation"] = json!([-(0.5_f64.sqrt()), 0.0, 0.0, 0.5_f64.sqrt()]);
            top
        }
    };
    let top = w.node(top);
    file["scenes"] = json!([{ "nodes": [top] }]);
    file["nodes"] = json!(w.nodes);
    for (key, list) in [
        ("meshes", &w.meshes),
        ("materials", &w.materials),
        ("accessors", &w.accessors),
        ("bufferViews", &w.views),
    ] {
        if !list.is_empty() {
            file[key] = json!(list);
        }
    }
    if !w.bytes.is_empty() {
        file["buffers"] = json!([{ "byteLength": w.bytes.len() }]);
    }
    pack(&file.to_string(), w.bytes)
}

fn with_children(mut node: Value, children: Vec<usize>) -> Value {
    if !children.is_empty() {
        node["children"] = json!(children);
    }
    node
}

fn unit(q: [f32; 4]) -> [f32; 4] {
    let norm = q.iter().map(|x| x * x).sum::<f32>().sqrt();
    if norm > 0.0 && norm.is_finite() { q.map(|x| x / norm) } else { [0.0, 0.0, 0.0, 1.0] }
}

/// Frames of the animation: finite, at times that grow, and such that the columns of weights are not missed either.
fn keyframes(motion: &PoseTable, size: f64, weights: &[usize]) -> Vec<usize> {
    let wide = motion.bodies * POSE;
    let bound = ThinningBound { position: FINE * size, angle: FINE, columns: 4.0 * FINE };
    let mut rows: Vec<usize> = Vec::new();
    for row in choose(motion, weights, &bound) {
        let t = motion.table.t[row] as f32;
        if !t.is_finite() || !motion.poses[row * wide..(row + 1) * wide].iter().all(|x| x.is_finite()) {
            continue;
        }
        // of two frames at one time the later one counts
        if rows.last().is_some_and(|&last| motion.table.t[last] as f32 >= t) {
            rows.pop();
        }
        rows.push(row);
    }
    rows
}

fn animation(
    w: &mut Writer,
    scene: &Scene,
    motion: &PoseTable,
    rows: &[usize],
    nodes: &[usize],
    bent: &[(usize, bent::SkinnedMesh)],
) -> Value {
    // players begin at zero
    let start = motion.table.t[rows[0]];
    let times: Vec<f32> = rows.iter().map(|&row| (motion.table.t[row] - start) as f32).collect();
    let input = w.floats(&times, 1, None, true);
    let (mut channels, mut samplers) = (Vec::new(), Vec::new());
    for (body, &node) in nodes.iter().enumerate() {
        let (mut positions, mut rotations) = (Vec::new(), Vec::<f32>::new());
        let mut last = [0.0, 0.0, 0.0, 1.0];
        for &row in rows {
            let from = (row * motion.bodies + body) * POSE;
            let p = &motion.poses[from..from + POSE];
            positions.extend(&p[..3]);
            // the short way from the one before
            let mut q = unit([p[4], p[5], p[6], p[3]]);
            if q.iter().zip(&last).map(|(a, b)| a * b).sum::<f32>() < 0.0 {
                q = q.map(|x| -x);
            }
            last = q;
            rotations.extend(q);
        }
        for (path, numbers, width) in [("translation", &positions, 3), ("rotation", &rotations, 4)] {
            let output = w.floats(numbers, width, None, false);
            channels.push(json!({ "sampler": samplers.len(), "target": { "node": node, "path": path } }));
            samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
        }
    }
    for (_, bent) in bent {
        let output = w.floats(&bent::weights(bent, motion, rows), 1, None, false);
        channels
            .push(json!({ "sampler": samplers.len(), "target": { "node": bent.node, "path": "weights" } }));
        samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
    }
    json!({ "name": scene.name, "channels": channels, "samplers": samplers })
}

/// Rods in place of what bends.
fn stand_in(member: &Flexible, shapes: &mut [Vec<SceneShape>]) {
    match member {
        Flexible::Beam { nodes, rest, section, color, .. } => {
            let apart =
                |i: usize, j: usize| (0..3).map(|k| (rest[j][k] - rest[i][k]).powi(2)).sum::<f64>().sqrt();
            for (i, &node) in nodes.iter().enumerate() {
                let back = if i > 0 { 0.5 * apart(i - 1, i) } else { 0.0 };
                let ahead = if i + 1 < nodes.len() { 0.5 * apart(i, i + 1) } else { 0.0 };
                let thick = section.radius.or(section.height.map(|h| 0.5 * h));
                if let Some(own_shapes) = usize::try_from(node).ok().and_then(|index| shapes.get_mut(index)) {
                    own_shapes.push(SceneShape {
                        kind: "rod",
                        pose: Some(join([0.5 * (ahead - back), 0.0, 0.0], [1.0, 0.0, 0.0, 0.0])),
                        length: Some(back + ahead),
                        radius: thick,
                        color: color.clone(),
                        role: "visual",
                        ..SceneShape::default()
                    });
                }
            }
        }
        Flexible::Modal { body, .. } => {
            if let Some(own_shapes) = usize::try_from(*body).ok().and_then(|index| shapes.get_mut(index)) {
                bent::rigid(member, own_shapes);
            }
        }
    }
}

/// The shortest turn from x to a direction of length 1: q ∝ (1 + x·d, x × d).
fn from_x(d: [f64; 3]) -> [f64; 4] {
    if d[0] < -1.0 + 1e-9 {
        return [0.0, 0.0, 0.0, 1.0];
    }
    let q = [1.0 + d[0], 0.0, -d[2], d[1]];
    let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    q.map(|x| x / norm)
}

/// Header, JSON padded with spaces, bytes padded with zeros.
fn pack(json: &str, mut bytes: Vec<u8>) -> Vec<u8> {
    let mut text = json.as_bytes().to_vec();
    text.resize(text.len().next_multiple_of(4), b' ');
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let total = 12 + 8 + text.len() + if bytes.is_empty() { 0 } else { 8 + bytes.len() };
    let mut file = b"glTF".to_vec();
    for number in [2, total as u32, text.len() as u32] {
        file.extend_from_slice(&number.to_le_bytes());
    }
    file.extend_from_slice(b"JSON");
    file.extend_from_slice(&text);
    if !bytes.is_empty() {
        file.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        file.extend_from_slice(b"BIN\0");
        file.extend_from_slice(&bytes);
    }
    file
}
