//! Other model files of the same motion.

use crate::rng::Rng;
use crate::scene::{SceneElement, SceneFile, SceneTable, SceneValue, get, set};
use std::collections::HashMap;

/// Names that elements lose, in a file whose elements stand in another order.
pub fn renamed(scene: &SceneFile, rng: &mut Rng) -> (SceneFile, HashMap<String, String>) {
    let mut order: Vec<usize> = (0..scene.elements.len()).collect();
    rng.shuffle(&mut order);
    let fresh = |i: usize| format!("{}{}", ["q_", "Z", "k9_"][i % 3], order[i]);
    let fixed = ["materials", "fluids", "sections", "tables", "functions", "ground", "flexible", "include"];
    let elements = scene.elements.iter().enumerate().filter(|(_, e)| !fixed.contains(&e.section));
    let names: HashMap<String, String> = elements.map(|(i, e)| (e.name.clone(), fresh(i))).collect();
    let mut out = scene.clone();
    out.rename(&|token| names.get(token).cloned());
    (out, names)
}

/// The elements of each section in another order. Events act in the order of the file, which is theirs.
pub fn permuted(scene: &SceneFile, rng: &mut Rng) -> SceneFile {
    let mut out = scene.clone();
    let events: Vec<SceneElement> = out.section("events").cloned().collect();
    out.elements.retain(|e| e.section != "events");
    rng.shuffle(&mut out.elements);
    rng.shuffle(&mut out.initial);
    out.elements.extend(events);
    out
}

/// A rigid displacement, after a reflection if there is one: x ↦ R S x + p.
#[derive(Clone, Debug)]
pub struct Placement {
    /// R S, by rows.
    pub map: [[f64; 3]; 3],
    /// p.
    pub shift: [f64; 3],
    table: SceneTable,
}

impl Placement {
    /// A random one; a mirrored one is not moved besides.
    pub fn random(planar: bool, mirrored: bool, rng: &mut Rng) -> Placement {
        let mut map = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        if mirrored {
            let axis = rng.below(if planar { 2 } else { 3 });
            map[axis][axis] = -1.0;
            let table = crate::table!["mirror" => ["x", "y", "z"][axis]];
            return Placement { map, shift: [0.0; 3], table };
        }
        let mut shift = rng.vector(3.0);
        let angle = rng.between(-3.0, 3.0);
        let (s, c) = angle.sin_cos();
        if planar {
            shift[2] = 0.0;
            map = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]];
            let table = crate::table!["at" => shift[..2].to_vec(), "angle" => angle];
            return Placement { map, shift, table };
        }
        let axis = rng.direction();
        let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
        let n = axis.map(|x| x / length);
        for i in 0..3 {
            for j in 0..3 {
                let cross = [[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]][i][j];
                map[i][j] = n[i] * n[j] * (1.0 - c) + s * cross + if i == j { c } else { 0.0 };
            }
        }
        let rotation = crate::table!["axis" => axis, "angle" => angle];
        Placement { map, shift, table: crate::table!["at" => shift, "orientation" => rotation] }
    }

    /// The scene in a file that is included at this place, gravity turned with it.
    pub fn mounted(&self, scene: &SceneFile) -> SceneFile {
        let gravity = self.map.map(|row| row.iter().zip(scene.gravity).map(|(a, g)| a * g).sum());
        let mut table = crate::table!["file" => "inner.toml"];
        table.extend(self.table.clone());
        let include = SceneElement { section: "include", name: "m".into(), value: table.into() };
        SceneFile {
            gravity,
            elements: vec![include],
            initial: Vec::new(),
            files: vec![("inner.toml".into(), scene.toml())],
            ..scene.clone()
        }
    }
}

/// The scene with one body in two parts, joined by a fixed joint.
pub fn split(scene: &SceneFile, rng: &mut Rng) -> Option<SceneFile> {
    // what names all bodies, or acts on a body by its mass, sees one more or less of it
    if scene.elements.iter().any(|e| ["field", "include"].contains(&e.kind()) || e.value.toml().contains('*'))
    {
        return None;
    }
    let splits = |e: &&SceneElement| {
        e.section == "bodies" && e.kind() != "point" && e.get("mass").is_some_and(|m| m.number().is_some())
    };
    let bodies: Vec<&SceneElement> = scene.elements.iter().filter(splits).collect();
    let body = (*rng.pick(&bodies.into_iter().map(Some).chain([None]).collect::<Vec<_>>()))?;
    let share = rng.between(0.2, 0.8);
    let mut out = scene.clone();
    let (mut half, mut rest) = (body.clone(), body.clone());
    rest.name = format!("{}_rest", body.name);
    for (part, k) in [(&mut half, share), (&mut rest, 1.0 - share)] {
        let SceneValue::Table(table) = &mut part.value else { return None };
        for key in ["mass", "inertia"] {
            if let Some((_, value)) = table.iter_mut().find(|(k, _)| k == key) {
                value.each_number(&mut |x| *x *= k);
            }
        }
    }
    if let SceneValue::Table(table) = &mut rest.value
        && let Some((_, shape)) = table.iter_mut().find(|(k, _)| k == "shape")
    {
        // the other part is weighed, not touched
        let only_mass = |v: &mut SceneValue| {
            if let SceneValue::Table(shape) = v {
                set(shape, "role", "mass");
                shape.retain(|(k, _)| k != "name");
            }
        };
        match shape {
            SceneValue::List(list) => list.iter_mut().for_each(only_mass),
            one => only_mass(one),
        }
    }
    let position = ["at", "from"].iter().find_map(|k| body.get(k).cloned());
    let origin = if scene.planar { SceneValue::from([0.0, 0.0]) } else { SceneValue::from([0.0, 0.0, 0.0]) };
    let seam = crate::table![
        "kind" => "fixed", "bodies" => [body.name.clone(), rest.name.clone()], "at" => position.unwrap_or(origin),
    ];
    // what is not stated of a body is at rest, and would be weighed against what is stated of the other part
    for (path, value) in &scene.initial {
        if let Some(rest) = path.strip_prefix(&format!("{}.", body.name)) {
            out.initial.push((format!("{}_rest.{rest}", body.name), value.clone()));
        }
    }
    *out.elements.iter_mut().find(|e| e.name == body.name)? = half;
    out.elements.push(rest);
    out.elements.push(SceneElement { section: "joints", name: "seam".into(), value: seam.into() });
    Some(out)
}

/// The scene with a joint twice; the second has no options of its own.
pub fn doubled(scene: &SceneFile, rng: &mut Rng) -> Option<SceneFile> {
    let keeps = ["kind", "bodies", "at", "on", "axis", "axis_on", "axis2", "lead", "sense"];
    let loads = ["friction", "clearance"];
    let doubles = |e: &&SceneElement| {
        // friction follows from a reaction, which is shared then; what disables one joint leaves the other
        e.section == "joints"
            && e.keys().is_some()
            && !loads.iter().any(|k| SceneFile::has_key(&e.value, k))
            && !scene.section("events").any(|event| SceneFile::mentions(&event.value, &e.name))
    };
    if scene
        .elements
        .iter()
        .any(|e| loads.iter().any(|k| e.section == "joints" && SceneFile::has_key(&e.value, k)))
    {
        return None;
    }
    let joints: Vec<&SceneElement> = scene.elements.iter().filter(doubles).collect();
    let joint = (*rng.pick(&joints.into_iter().map(Some).chain([None]).collect::<Vec<_>>()))?;
    let table: SceneTable =
        keeps.iter().filter_map(|k| Some((k.to_string(), joint.get(k)?.clone()))).collect();
    get(&table, "bodies")?;
    let twin = SceneElement { section: "joints", name: format!("{}_twin", joint.name), value: table.into() };
    let mut out = scene.clone();
    out.elements.push(twin);
    Some(out)
}
