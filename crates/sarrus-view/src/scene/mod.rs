//! Describes what there is to see, as the page reads it: `scene.json` of `page/PROTOCOL.md`.
//!
//! Everything comes from the model and its system: shapes with their roles `all`, `visual` and `contact`, joints with their points and axes on both
//! bodies, beams and modal bodies with their meshes, springs and distances as lines, and `[view]`. Points are from the bodies' origins in
//! their axes \[m\].

mod contacts;
mod flexible;
mod happenings;
mod joints;
mod links;
mod loads;
mod shapes;
mod view;

pub use contacts::ContactEntry;
pub use flexible::{Flexible, SectionShape};
pub use happenings::{Happening, happenings};
pub use joints::JointGlyph;
pub use links::SceneLink;
pub use loads::SceneLoad;
pub use shapes::SceneShape;
pub use view::{Camera, Trace, ViewSettings};

use crate::motion::{drawn, join, pose};
use crate::table::ColumnTable;
use crate::thin::Thinning;
use sarrus::model::shown::DisplayUnits;
use sarrus::model::{Diagnostic, Model, Space};
use sarrus::system::names::Named;
use sarrus::system::{Directory, System};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;

/// Name and version of the contract.
pub const FORMAT: &str = "sarrus-view/1";
/// Columns that a scene has at most: the bodies of ten thousand links have more than a page can list.
pub const MOST_COLUMNS: usize = 2000;

/// A pose as the page has it.
pub type Pose7 = [f64; 7];
/// Three numbers.
pub type Point3 = [f64; 3];

/// Holds what there is to see.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scene {
    /// [`FORMAT`].
    pub format: &'static str,
    /// Of the model.
    pub name: String,
    /// `planar` or `spatial`.
    pub space: &'static str,
    /// World axes \[m/s²\].
    pub gravity: Point3,
    /// Start and end asked for \[s\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t: Option<[f64; 2]>,
    /// Holds what does not move.
    pub ground: Ground,
    /// Holds what does.
    pub bodies: Vec<BodyEntry>,
    /// Joints of the model.
    pub joints: Vec<JointGlyph>,
    /// Beams and modal bodies.
    pub flexible: Vec<Flexible>,
    /// Springs, distances and the like.
    pub links: Vec<SceneLink>,
    /// Forces and torques at points.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<SceneLoad>,
    /// Contacts by name; where they touch is in the frames.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contacts: Vec<ContactEntry>,
    /// From `[view]`.
    pub view: ViewSettings,
    /// Columns of the frames.
    pub columns: Vec<ColumnEntry>,
    /// Columns of the results that are not among them.
    pub columns_left_out: usize,
    /// Holds what happened.
    pub events: Vec<Happening>,
    /// `report.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Value>,
    /// Holds what was left out of the frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinning: Option<Thinning>,
    /// Units to show columns in.
    #[serde(skip)]
    pub units: DisplayUnits,
}

/// Shapes and markers of the ground.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Ground {
    /// Its shapes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<SceneShape>,
    /// Its markers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub markers: Vec<Marker>,
}

/// A body.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BodyEntry {
    /// Its name.
    pub name: String,
    /// Its shapes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<SceneShape>,
    /// Its markers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub markers: Vec<Marker>,
    /// The flexible member that it is a node or segment of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
}

/// A named point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Marker {
    /// Its name.
    pub name: String,
    /// Marks where it is on its body \[m\].
    pub on: Point3,
}

/// A column of the frames.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnEntry {
    /// Its name.
    pub name: String,
    /// The unit in which it is shown.
    pub unit: String,
    /// Holds what its values in SI are multiplied by to be shown.
    #[serde(skip_serializing_if = "is_one")]
    pub scale: f64,
    /// Drawn from, not listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}

fn is_one(x: &f64) -> bool {
    *x == 1.0
}

/// Places of bodies among those of a scene.
pub(crate) struct Cast {
    indices: Vec<i32>,
}

impl Cast {
    pub fn new(directory: &Directory) -> Cast {
        let mut indices = vec![-1; directory.bodies.len()];
        for (index, (id, _)) in drawn(directory).enumerate() {
            indices[id as usize] = index as i32;
        }
        Cast { indices }
    }

    /// Of the body `id`; -1 is the ground.
    pub fn index_of(&self, id: u32) -> i32 {
        self.indices[id as usize]
    }
}

/// From a point given from the centre of mass to the one from the origin.
pub(crate) fn from_origin(directory: &Directory, id: u32, r: Point3) -> Point3 {
    let com = directory.bodies[id as usize].com;
    [0, 1, 2].map(|k| r[k] + com[k])
}

impl Scene {
    /// Of a model and its system, without columns and report yet.
    pub fn new(model: &Model, system: &System) -> Result<Scene, Vec<Diagnostic>> {
        // what is read for drawing is not what the kinds understood, which the resolved file says
        let silent = model.recorder.is_some().then(|| Model { recorder: None, ..model.clone() });
        let model = silent.as_ref().unwrap_or(model);
        let directory = &*system.directory;
        let cast = Cast::new(directory);
        let mut errors = Vec::new();
        let mut body_shapes = shapes::all(model, directory, &mut errors);
        let markers = |id: u32| {
            let all = directory.bodies[id as usize].markers.iter();
            all.map(|(name, on)| Marker { name: name.clone(), on: *on }).collect::<Vec<_>>()
        };
        let bodies = drawn(directory)
            .map(|(id, body)| BodyEntry {
                name: body.name.clone(),
                shapes: body_shapes.remove(&id).unwrap_or_default(),
                markers: markers(id),
                part_of: directory.flexible.iter().find(|f| f.all.contains(&id)).map(|f| f.name.clone()),
            })
            .collect();
        let ground = Ground { shapes: body_shapes.remove(&0).unwrap_or_default(), markers: markers(0) };
        let view = view::read(model, directory, &cast).unwrap_or_else(|error| {
            errors.push(error);
            ViewSettings::default()
        });
        let units = DisplayUnits::read(model).unwrap_or_else(|error| {
            errors.push(error);
            DisplayUnits::default()
        });
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Scene {
            units,
            format: FORMAT,
            name: model.name.clone(),
            space: if model.space == Space::Planar { "planar" } else { "spatial" },
            gravity: system.gravity,
            t: None,
            ground,
            bodies,
            joints: joints::all(model, system, &cast),
            flexible: flexible::all(model, directory, &cast),
            links: links::all(model, directory, &cast),
            loads: loads::all(model, system, &cast),
            contacts: contacts::all(system),
            view,
            columns: Vec::new(),
            columns_left_out: 0,
            events: Vec::new(),
            report: None,
            thinning: None,
        })
    }

    /// Says which columns the frames have; `hidden` of them at the end are not listed, nor are those of loads. `of` is how many the results have.
    pub fn set_columns(&mut self, names: &[String], units: &[String], hidden: usize, of: usize) {
        let listed = names.len() - hidden;
        let of_loads: HashSet<&str> =
            self.loads.iter().flat_map(|load| load.vector.iter().map(String::as_str)).collect();
        self.columns = names
            .iter()
            .zip(units)
            .enumerate()
            .map(|(i, (name, unit))| {
                let (scale, unit) = self.units.value(1.0, unit);
                let hidden = i >= listed || of_loads.contains(name.as_str());
                ColumnEntry { name: name.clone(), unit: unit.to_string(), scale, hidden }
            })
            .collect();
        self.columns_left_out = of.saturating_sub(listed);
    }

    /// Adds what a run has told: its report, events, and which reactions are not unique.
    pub fn set_report(&mut self, report: Value) {
        self.events = happenings(&report);
        let columns = report["reactions"]["not_unique"].as_array().into_iter().flatten();
        let columns: Vec<&str> = columns.filter_map(Value::as_str).collect();
        for joint in &mut self.joints {
            let own = columns.iter().filter_map(|c| c.strip_prefix(&joint.name)?.strip_prefix('.'));
            joint.not_unique = own.map(str::to_string).collect();
        }
        self.report = Some(report);
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        // structs of numbers, strings and lists cannot fail to serialize
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Places of at most [`MOST_COLUMNS`] columns: those of the whole and of measures first, then of joints, then of bodies.
pub fn choose_columns(directory: &Directory, names: &[String], most: usize) -> Vec<usize> {
    let rank = |name: &String| {
        let owner = name.rsplit_once('.').map_or("", |(owner, _)| owner);
        match directory.get(owner) {
            Some(Named::Body(_)) => 2,
            Some(Named::Joint(_)) => 1,
            // markers and nodes of flexible members
            _ if owner.contains('.') => 2,
            _ => 0,
        }
    };
    let mut all: Vec<usize> = (0..names.len()).collect();
    if all.len() > most {
        all.sort_by_key(|&i| rank(&names[i]));
        all.truncate(most);
        all.sort_unstable();
    }
    all
}

/// The same for a table.
pub fn chosen(directory: &Directory, table: &ColumnTable, most: usize) -> Vec<usize> {
    choose_columns(directory, &table.names, most)
}

/// The model pose of a body.
pub(crate) fn rest(system: &Directory, id: u32) -> Pose7 {
    let body = &system.bodies[id as usize];
    let (p, q, angle) = body.start;
    if system.space == Space::Planar {
        let flat = sarrus::system::body::Body { q: 0, ..body.clone() };
        return match flat.kind {
            sarrus::system::body::BodyKind::PlanarRigid => pose(&flat, &[p[0], p[1], angle]),
            _ => join(p, [1.0, 0.0, 0.0, 0.0]),
        };
    }
    let rotated = sarrus::math::Mat3::from_quat(q) * sarrus::math::Vec3(body.com);
    join([0, 1, 2].map(|k| p[k] - rotated.0[k]), q)
}
