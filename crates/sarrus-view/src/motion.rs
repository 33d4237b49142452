//! Describes how bodies move: a pose each, the columns of the results and where contacts touch, sample by sample.
//!
//! A pose is where the body's origin is and its orientation: p_O = p_C - R com from a state, or the columns `X.x` … `X.q3` (planar
//! `X.x`, `X.y`, `X.angle`) of results. Bodies are those that users know, in the order of the system, without the ground.

use crate::table::ColumnTable;
use sarrus::math::{Mat3, Vec3};
use sarrus::solve::State;
use sarrus::system::body::{Body, BodyKind};
use sarrus::system::contact::TouchingPoint;
use sarrus::system::names::Directory;

/// Numbers in a pose: x y z, then the quaternion w x y z.
pub const POSE: usize = 7;

/// Numbers of a body's velocities: of its origin, then angular, both in world axes.
pub const RATES: usize = 6;

/// Poses and columns over the time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PoseTable {
    /// Times and columns.
    pub table: ColumnTable,
    /// Number of bodies.
    pub bodies: usize,
    /// [`POSE`] numbers a body, frame by frame.
    pub poses: Vec<f32>,
    /// [`RATES`] numbers a body, frame by frame; none where they are not known.
    pub rates: Vec<f32>,
    /// Marks where contacts touch.
    pub touches: Touches,
}

/// Where contacts touch, frame by frame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Touches {
    /// For each frame the point after its last.
    ends: Vec<usize>,
    points: Vec<TouchingPoint>,
}

impl Touches {
    /// Adds a frame.
    pub fn push(&mut self, points: &[TouchingPoint]) {
        self.points.extend_from_slice(points);
        self.ends.push(self.points.len());
    }

    /// The points of a frame; none of one that is not there.
    pub fn at(&self, frame: usize) -> &[TouchingPoint] {
        let Some(&end) = self.ends.get(frame) else { return &[] };
        let first = frame.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.points[first..end]
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Number of contact points in all frames.
    pub fn count(&self) -> usize {
        self.points.len()
    }

    /// Forgets all frames, and keeps their room.
    pub fn clear(&mut self) {
        self.points.clear();
        self.ends.clear();
    }
}

/// Columns that poses would have to be read from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the results have no column `{column}`, so `{body}` cannot be drawn{}", others(*.bodies))]
pub struct Missing {
    /// The first that is missing.
    pub column: String,
    /// The body it belongs to.
    pub body: String,
    /// Number of bodies that miss columns.
    pub bodies: usize,
}

fn others(bodies: usize) -> String {
    match bodies {
        0 | 1 => String::new(),
        2 => ", nor can one other body".into(),
        n => format!(", nor can {} others", n - 1),
    }
}

/// Bodies that are drawn, by number.
pub fn drawn(directory: &Directory) -> impl Iterator<Item = (u32, &Body)> + Clone {
    let all = directory.bodies.iter().enumerate().skip(1);
    all.filter(|(_, body)| !body.is_internal()).map(|(id, body)| (id as u32, body))
}

/// About z by `angle`.
pub fn about_z(angle: f64) -> [f64; 4] {
    let (sin, cos) = (0.5 * angle).sin_cos();
    [cos, 0.0, 0.0, sin]
}

/// The pose of a body at the positions `q`.
pub fn pose(body: &Body, q: &[f64]) -> [f64; POSE] {
    let own = &q[body.q..];
    let (p, rotation) = match body.kind {
        BodyKind::Ground => ([0.0; 3], [1.0, 0.0, 0.0, 0.0]),
        BodyKind::Rigid | BodyKind::RigidEuler => {
            let sign = body.sign();
            ([own[0], own[1], own[2]], body.quaternion(q).map(|x| sign * x))
        }
        BodyKind::PlanarRigid => ([own[0], own[1], 0.0], about_z(own[2])),
        BodyKind::Point => ([own[0], own[1], own[2]], [1.0, 0.0, 0.0, 0.0]),
        BodyKind::PlanarPoint => ([own[0], own[1], 0.0], [1.0, 0.0, 0.0, 0.0]),
    };
    let arm = Mat3::from_quat(rotation) * Vec3(body.com);
    join([0, 1, 2].map(|k| p[k] - arm.0[k]), rotation)
}

/// The velocities of a body at the positions `q` and velocities `v`.
pub fn rates(body: &Body, q: &[f64], v: &[f64]) -> [f64; RATES] {
    let own = &v[body.v..];
    let rotation = Mat3::from_quat(match body.kind {
        BodyKind::Rigid | BodyKind::RigidEuler => body.quaternion(q),
        BodyKind::PlanarRigid => about_z(q[body.q + 2]),
        BodyKind::Ground | BodyKind::Point | BodyKind::PlanarPoint => [1.0, 0.0, 0.0, 0.0],
    });
    let (centre, omega) = match body.kind {
        BodyKind::Ground => ([0.0; 3], Vec3([0.0; 3])),
        BodyKind::Rigid | BodyKind::RigidEuler => {
            ([own[0], own[1], own[2]], rotation * Vec3([own[3], own[4], own[5]]))
        }
        BodyKind::PlanarRigid => ([own[0], own[1], 0.0], Vec3([0.0, 0.0, own[2]])),
        BodyKind::Point => ([own[0], own[1], own[2]], Vec3([0.0; 3])),
        BodyKind::PlanarPoint => ([own[0], own[1], 0.0], Vec3([0.0; 3])),
    };
    let arm = omega.cross(rotation * Vec3(body.com));
    let p = [0, 1, 2].map(|k| centre[k] - arm.0[k]);
    [p[0], p[1], p[2], omega.0[0], omega.0[1], omega.0[2]]
}

/// Adds the velocities of all drawn bodies at a state.
pub fn add_rates(directory: &Directory, s: &State, rates_of: &mut Vec<f32>) {
    for (_, body) in drawn(directory) {
        rates_of.extend(rates(body, &s.q, &s.v).map(|x| x as f32));
    }
}

/// Seven numbers of point and turn.
pub fn join(p: [f64; 3], q: [f64; 4]) -> [f64; POSE] {
    [p[0], p[1], p[2], q[0], q[1], q[2], q[3]]
}

/// Adds the poses of all drawn bodies at a state.
pub fn add_poses(directory: &Directory, s: &State, poses: &mut Vec<f32>) {
    for (_, body) in drawn(directory) {
        poses.extend(pose(body, &s.q).map(|x| x as f32));
    }
}

/// Names of the columns that have the pose of a body, and how they are used.
fn pose_columns(body: &Body) -> &'static [&'static str] {
    match body.kind {
        BodyKind::Ground => &[],
        BodyKind::Rigid | BodyKind::RigidEuler => &["x", "y", "z", "q0", "q1", "q2", "q3"],
        BodyKind::PlanarRigid => &["x", "y", "angle"],
        BodyKind::Point => &["x", "y", "z"],
        BodyKind::PlanarPoint => &["x", "y"],
    }
}

/// Names of the columns that have its velocities.
fn rate_columns(body: &Body) -> &'static [&'static str] {
    match body.kind {
        BodyKind::Ground => &[],
        BodyKind::Rigid | BodyKind::RigidEuler => &["vx", "vy", "vz", "wx", "wy", "wz"],
        BodyKind::PlanarRigid => &["vx", "vy", "rate"],
        BodyKind::Point => &["vx", "vy", "vz"],
        BodyKind::PlanarPoint => &["vx", "vy"],
    }
}

/// Returns whether columns called `names` show where every body is.
pub fn check_pose_columns(directory: &Directory, names: &[String]) -> Result<(), Missing> {
    let known: std::collections::HashSet<&str> = names.iter().map(String::as_str).collect();
    let mut missing: Option<Missing> = None;
    for (_, body) in drawn(directory) {
        let lacks = pose_columns(body).iter().map(|field| format!("{}.{field}", body.name));
        if let Some(column) = lacks.into_iter().find(|column| !known.contains(column.as_str())) {
            let body = body.name.clone();
            missing.get_or_insert(Missing { column, body, bodies: 0 }).bodies += 1;
        }
    }
    missing.map_or(Ok(()), Err)
}

impl PoseTable {
    /// Takes the poses from the columns of a table.
    pub fn from_columns(directory: &Directory, table: ColumnTable) -> Result<PoseTable, Missing> {
        check_pose_columns(directory, &table.names)?;
        let index_of = table.indices();
        let of = |body: &Body, field: &str| index_of.get(format!("{}.{field}", body.name).as_str()).copied();
        let all = |fields: fn(&Body) -> &'static [&'static str]| -> Vec<(&Body, Vec<usize>)> {
            drawn(directory)
                .map(|(_, body)| (body, fields(body).iter().filter_map(|field| of(body, field)).collect()))
                .collect()
        };
        let bodies = all(pose_columns);
        let moving = Some(all(rate_columns))
            .filter(|all| all.iter().all(|(body, columns)| columns.len() == rate_columns(body).len()));
        let (mut poses, mut rates) = (Vec::with_capacity(table.len() * bodies.len() * POSE), Vec::new());
        for row in 0..table.len() {
            for (body, columns) in &bodies {
                let x = |k: usize| columns.get(k).map_or(0.0, |&c| table.columns[c][row]);
                let one = [1.0, 0.0, 0.0, 0.0];
                let pose = match body.kind {
                    BodyKind::Ground => join([0.0; 3], one),
                    BodyKind::Rigid | BodyKind::RigidEuler => [x(0), x(1), x(2), x(3), x(4), x(5), x(6)],
                    BodyKind::PlanarRigid => join([x(0), x(1), 0.0], about_z(x(2))),
                    BodyKind::Point => join([x(0), x(1), x(2)], one),
                    BodyKind::PlanarPoint => join([x(0), x(1), 0.0], one),
                };
                poses.extend(pose.map(|x| x as f32));
            }
            let first = poses.len() - bodies.len() * POSE;
            for (i, (body, columns)) in moving.iter().flatten().enumerate() {
                let x = |k: usize| columns.get(k).map_or(0.0, |&c| table.columns[c][row]);
                let rotation = |k: usize| f64::from(poses[first + i * POSE + 3 + k]);
                let own = match body.kind {
                    BodyKind::Ground => [0.0; RATES],
                    BodyKind::Rigid | BodyKind::RigidEuler => {
                        let rotation = Mat3::from_quat([rotation(0), rotation(1), rotation(2), rotation(3)]);
                        let omega = (rotation * Vec3([x(3), x(4), x(5)])).0;
                        [x(0), x(1), x(2), omega[0], omega[1], omega[2]]
                    }
                    BodyKind::PlanarRigid => [x(0), x(1), 0.0, 0.0, 0.0, x(2)],
                    BodyKind::Point => [x(0), x(1), x(2), 0.0, 0.0, 0.0],
                    BodyKind::PlanarPoint => [x(0), x(1), 0.0, 0.0, 0.0, 0.0],
                };
                rates.extend(own.map(|x| x as f32));
            }
        }
        let bodies = bodies.len();
        Ok(PoseTable { table, bodies, poses, rates, touches: Touches::default() })
    }

    /// The frames at `rows` with the columns at `columns`.
    pub fn pick(&self, rows: &[usize], columns: &[usize]) -> PoseTable {
        let wide = self.bodies * POSE;
        let of = |numbers: &[f32], wide: usize| -> Vec<f32> {
            let frames = rows.iter().filter_map(|&row| numbers.get(row * wide..(row + 1) * wide));
            frames.flatten().copied().collect()
        };
        let (poses, rates) = (of(&self.poses, wide), of(&self.rates, self.bodies * RATES));
        let mut touches = Touches::default();
        if self.touches.count() > 0 {
            rows.iter().for_each(|&row| touches.push(self.touches.at(row)));
        }
        PoseTable { table: self.table.pick(rows, columns), bodies: self.bodies, poses, rates, touches }
    }

    /// Largest extent of all points that bodies come to \[m\]; 1 where there is none.
    pub fn size(&self) -> f64 {
        let mut bounds = [(f64::INFINITY, f64::NEG_INFINITY); 3];
        for pose in self.poses.chunks_exact(POSE) {
            for (bound, x) in bounds.iter_mut().zip(pose) {
                let x = f64::from(*x);
                *bound = (bound.0.min(x), bound.1.max(x));
            }
        }
        let size = bounds.iter().map(|(low, high)| high - low).fold(0.0, f64::max);
        if size.is_finite() && size > 0.0 { size } else { 1.0 }
    }
}
