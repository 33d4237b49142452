//! Modal bodies that bend in glTF: rods along their lines as one mesh, with a morph target a mode.
//!
//! A vertex at the part u of the way from node a to node b goes by (1 - u) m_a + u m_b per unit of the amplitude, with m the mode: cross sections are moved, not turned, which at the small angles
//! that modes are for does not show. The amplitudes are the weights, animated. Where the results have no columns of them there is nothing to
//! animate, and the body stays as it is at rest.

use super::{Writer, from_x};
use crate::motion::{PoseTable, join};
use crate::scene::{Flexible, SceneShape};
use crate::solids::{ShadedTriangles, triangles};
use sarrus::math::{Mat3, Vec3};
use serde_json::{Value, json};

/// A mesh with weights.
pub(super) struct SkinnedMesh {
    /// Its node.
    pub node: usize,
    /// Columns of its weights.
    pub columns: Vec<usize>,
}

/// Columns of the amplitudes of a member, if it is modal and the results have them all.
pub(super) fn columns(member: &Flexible, motion: &PoseTable) -> Option<Vec<usize>> {
    let Flexible::Modal { amplitudes, modes, .. } = member else { return None };
    let of = |name: &String| motion.table.names.iter().position(|known| known == name);
    let columns: Vec<usize> = amplitudes.iter().map(of).collect::<Option<_>>()?;
    (!columns.is_empty() && columns.len() == modes.len()).then_some(columns)
}

/// Rods along the lines in body axes, and for every vertex the two nodes it lies between with its part of the way.
fn rods(
    nodes: &[[f64; 3]],
    lines: &[Vec<usize>],
    shape: &SceneShape,
) -> (ShadedTriangles, Vec<(usize, usize, f64)>) {
    let (mut all, mut between) = (ShadedTriangles::default(), Vec::new());
    for pair in lines.iter().flat_map(|line| line.windows(2)) {
        let (a, b) = (nodes[pair[0]], nodes[pair[1]]);
        let d = [0, 1, 2].map(|k| b[k] - a[k]);
        let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
        let rod = SceneShape { length: Some(length), ..shape.clone() };
        let Some(rod) = triangles(&rod, false, 1.0).filter(|_| length > 0.0) else { continue };
        let rotation = Mat3::from_quat(from_x(d.map(|x| x / length)));
        let angle = |v: &[f32; 3]| (rotation * Vec3(v.map(f64::from))).0;
        let first = all.positions.len() as u32;
        for (p, n) in rod.positions.iter().zip(&rod.normals) {
            between.push((pair[0], pair[1], (f64::from(p[0]) / length + 0.5).clamp(0.0, 1.0)));
            let (p, n) = (angle(p), angle(n));
            all.positions.push([0, 1, 2].map(|k| (0.5 * (a[k] + b[k]) + p[k]) as f32));
            all.normals.push(n.map(|x| x as f32));
        }
        all.indices.extend(rod.indices.iter().map(|i| i + first));
    }
    (all, between)
}

/// Adds the mesh of a modal member and a node for it.
pub(super) fn add(
    w: &mut Writer,
    member: &Flexible,
    motion: &PoseTable,
    columns: Vec<usize>,
) -> Option<SkinnedMesh> {
    let Flexible::Modal { name, nodes, lines, section, modes, color, .. } = member else { return None };
    let radius = section.radius.or(section.height.map(|h| 0.5 * h));
    let plain = SceneShape { kind: "rod", radius, color: color.clone(), ..SceneShape::default() };
    let (mesh, between) = rods(nodes, lines, &plain);
    if mesh.indices.is_empty() {
        return None;
    }
    let mut targets: Vec<Value> = Vec::new();
    for mode in modes {
        let moved = between
            .iter()
            .flat_map(|&(a, b, u)| [0, 1, 2].map(|k| ((1.0 - u) * mode[a][k] + u * mode[b][k]) as f32));
        let moved: Vec<f32> = moved.collect();
        targets.push(json!({ "POSITION": w.floats(&moved, 3, Some(34962), true) }));
    }
    let first: Vec<f64> = columns.iter().map(|&c| finite(motion.table.columns[c].first().copied())).collect();
    let mut primitive = w.primitive(&mesh, color.as_deref());
    primitive["targets"] = json!(targets);
    w.meshes.push(json!({ "name": name, "primitives": [primitive], "weights": first }));
    let mesh = w.meshes.len() - 1;
    let node = w.node(json!({ "mesh": mesh, "name": name }));
    Some(SkinnedMesh { node, columns })
}

/// The track of weights at `rows`: all weights of a frame together.
pub(super) fn weights(bent: &SkinnedMesh, motion: &PoseTable, rows: &[usize]) -> Vec<f32> {
    let at =
        |row: usize| bent.columns.iter().map(move |&c| finite(Some(motion.table.columns[c][row])) as f32);
    rows.iter().flat_map(|&row| at(row)).collect()
}

fn finite(x: Option<f64>) -> f64 {
    x.filter(|x| x.is_finite()).unwrap_or(0.0)
}

/// The rods of a modal member that does not bend, as shapes of its body.
pub(super) fn rigid(member: &Flexible, shapes: &mut Vec<SceneShape>) {
    let Flexible::Modal { nodes, lines, section, color, .. } = member else { return };
    for pair in lines.iter().flat_map(|line| line.windows(2)) {
        let (a, b) = (nodes[pair[0]], nodes[pair[1]]);
        let d = [0, 1, 2].map(|k| b[k] - a[k]);
        let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
        let middle = [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]));
        shapes.push(SceneShape {
            kind: "rod",
            pose: Some(join(middle, from_x(d.map(|x| x / length)))),
            length: Some(length),
            radius: section.radius.or(section.height.map(|h| 0.5 * h)),
            color: color.clone(),
            role: "visual",
            ..SceneShape::default()
        });
    }
}
