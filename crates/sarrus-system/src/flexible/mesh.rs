//! Describes where the parts of a flexible member stand in the model pose: pieces along a line or a path of points, and the
//! stations between them.
//!
//! A piece is straight and has x along it and z as near to `up` as can be; by default up is world z, and a vertical piece has
//! y = world y, as a bar has. A station has the axes of the pieces on both sides, half way from one to the other where they differ:
//! of a smooth curve that is the mean tangent. In the plane the angles are counted along the path.

use sarrus_math::{Mat3, Vec3, quat_from_rotation_vector, quat_to_rotation_vector};
use sarrus_model::transform::{Frame, apply, cross, dot, quaternion, unit};
use sarrus_model::{Reader, Result};
use std::f64::consts::{PI, TAU};

/// Most pieces of a member; more is a slip of the pen.
const MOST: u64 = 1_000_000;
/// A direction this near to `up` has no side that is up.
const PARALLEL: f64 = 1e-9;

/// A place along a member.
#[derive(Clone, Debug)]
pub struct Station {
    /// Its point \[m\].
    pub p: [f64; 3],
    /// Its axes as columns.
    pub axes: Mat3,
    /// Planar: the angle of its x axis, counted \[rad\].
    pub angle: f64,
}

/// A straight piece of a member.
#[derive(Clone, Debug)]
pub struct MemberPiece {
    /// Its length \[m\].
    pub length: f64,
    /// Its middle.
    pub middle: Station,
}

/// A member in parts: a station at each end of each piece.
#[derive(Clone, Debug)]
pub struct MemberMesh {
    /// One more than there are pieces.
    pub stations: Vec<Station>,
    /// From each station to the next.
    pub pieces: Vec<MemberPiece>,
}

impl MemberMesh {
    /// The stations, with others inside each piece, as parts of its length from its start.
    pub fn stations_with(&self, inside: &[f64]) -> Vec<Station> {
        let mut out = Vec::with_capacity(self.stations.len() + inside.len() * self.pieces.len());
        for (piece, ends) in self.pieces.iter().zip(self.stations.windows(2)) {
            out.push(ends[0].clone());
            for part in inside {
                let p = std::array::from_fn(|k| ends[0].p[k] + (ends[1].p[k] - ends[0].p[k]) * part);
                out.push(Station { p, ..piece.middle });
            }
        }
        out.extend(self.stations.last().cloned());
        out
    }
}

impl Station {
    /// The same as a frame.
    pub fn frame(&self, planar: bool) -> Frame {
        let q = if planar {
            let (sin, cos) = (0.5 * self.angle).sin_cos();
            [cos, 0.0, 0.0, sin]
        } else {
            quaternion(&self.axes.0)
        };
        Frame { p: self.p, q, angle: self.angle }
    }
}

/// Holds what a member says of its line.
pub struct MemberLine {
    points: Vec<[f64; 3]>,
    up: Up,
    planar: bool,
    /// Pieces from each point to the next.
    pieces: usize,
}

/// Identifies which way z goes.
#[derive(Clone, Copy)]
enum Up {
    /// As near to this as can be.
    Given([f64; 3]),
    /// As near to the first as can be, where x is along it with y along the second.
    Default([f64; 3], [f64; 3]),
}

impl MemberLine {
    /// Reads `from` and `to` or `path`, `up`, and how many pieces there are.
    pub fn read(reader: &Reader, count_key: &str, default: u64, path: bool) -> Result<MemberLine> {
        let points = if path && reader.one_of(&["from", "path"])? == Some("path") {
            let points = reader.points("path")?.unwrap_or_default();
            if points.len() < 2 {
                let message = format!("`path` of {} needs two points or more", reader.title());
                return Err(reader.error("path", message));
            }
            points
        } else {
            let end = |key| reader.point(key).and_then(|p| p.ok_or_else(|| reader.missing(key)));
            vec![end("from")?, end("to")?]
        };
        for (i, pair) in points.windows(2).enumerate() {
            if pair[0] == pair[1] {
                let (key, which) = if reader.has("path") {
                    ("path", format!("its points {} and {} are one", i + 1, i + 2))
                } else {
                    ("to", "`from` and `to` are one point".to_string())
                };
                return Err(reader.error(key, format!("{} has no length: {which}", reader.title())));
            }
        }
        let pieces = reader.count_opt(count_key)?.unwrap_or(default);
        if pieces == 0 || pieces.saturating_mul(points.len() as u64 - 1) > MOST {
            let message = format!("`{count_key}` of {} cannot be {pieces}", reader.title());
            return Err(reader.error(count_key, message).hint(format!("at least 1, at most {MOST} in all")));
        }
        let planar = reader.is_planar();
        if planar && reader.has("up") {
            let message = format!("{} has no `up`: the space is planar", reader.title());
            return Err(reader.error("up", message));
        }
        let up = match reader.direction("up")? {
            Some(up) => Up::Given(up),
            None => {
                let [up, side] = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]].map(|a| reader.transform().vector(a));
                Up::Default(up, side)
            }
        };
        let line = MemberLine { points, up, planar, pieces: pieces as usize };
        line.check_up(reader)?;
        Ok(line)
    }

    /// Refuses an `up` along the member, and says the default where the file is turned.
    fn check_up(&self, reader: &Reader) -> Result<()> {
        if self.planar {
            return Ok(());
        }
        let directions = || self.points.windows(2).filter_map(|p| direction(p[0], p[1]));
        match self.up {
            Up::Given(up) => {
                if directions().any(|x| across(up, x).is_none()) {
                    let message = format!("`up` of {} is along it", reader.title());
                    return Err(reader.error("up", message).hint("it says which side of the section is up"));
                }
            }
            Up::Default(up, _) if !reader.transform().is_identity() => {
                let all_along = directions().all(|x| across(up, x).is_none());
                let first = directions().next().filter(|_| all_along);
                let up = first.and_then(|x| self.axes(x)).map_or(up, |axes| axes.col(2).0);
                reader.record("up", || sarrus_model::record::ResolvedValue::numbers(&up));
            }
            Up::Default(..) => {}
        }
        Ok(())
    }

    /// The axes of a piece along the unit vector `x`.
    fn axes(&self, x: [f64; 3]) -> Option<Mat3> {
        let z = match self.up {
            Up::Given(up) => across(up, x)?,
            Up::Default(up, side) => across(up, x).or_else(|| unit(cross(x, side)))?,
        };
        Some(Mat3::from_cols(Vec3(x), Vec3(cross(z, x)), Vec3(z)))
    }

    /// The parts of the line.
    pub fn mesh(&self) -> MemberMesh {
        let mut mesh = MemberMesh { stations: Vec::new(), pieces: Vec::new() };
        let mut last: Option<(Mat3, f64)> = None;
        for ends in self.points.windows(2) {
            let [a, b] = [ends[0], ends[1]];
            let d: [f64; 3] = std::array::from_fn(|k| b[k] - a[k]);
            let (axes, angle) = if self.planar {
                let own = d[1].atan2(d[0]);
                // the rotation in which it is nearest to the piece before
                let angle = last.map_or(own, |(_, before)| own + TAU * ((before - own) / TAU).round());
                (Mat3::rot_z(angle), angle)
            } else {
                let axes = direction(a, b).and_then(|x| self.axes(x)).unwrap_or_else(Mat3::identity);
                (axes, 0.0)
            };
            let between = match &last {
                Some((before, before_angle)) => (half_way(before, &axes), 0.5 * (before_angle + angle)),
                None => (axes, angle),
            };
            match mesh.stations.last_mut() {
                Some(corner) => {
                    let planar = Mat3::rot_z(between.1);
                    (corner.axes, corner.angle) = (if self.planar { planar } else { between.0 }, between.1);
                }
                None => mesh.stations.push(Station { p: a, axes, angle }),
            }
            let n = self.pieces;
            let at = |k: f64| std::array::from_fn(|i| a[i] + d[i] * (k / n as f64));
            let length = dot(d, d).sqrt() / n as f64;
            for k in 0..n {
                let middle = Station { p: at(k as f64 + 0.5), axes, angle };
                mesh.pieces.push(MemberPiece { length, middle });
                let p = if k + 1 == n { b } else { at((k + 1) as f64) };
                mesh.stations.push(Station { p, axes, angle });
            }
            last = Some((axes, angle));
        }
        mesh
    }

    /// In a mirrored file, the line as the file writes it: its frames mirrored are those that `on` is meant in there.
    pub fn unmirrored(&self, reader: &Reader) -> Option<MemberLine> {
        let transform = reader.transform();
        if !transform.is_reflected() {
            return None;
        }
        let q = transform.q;
        let back = std::array::from_fn(|i| std::array::from_fn(|j| q[j][i]));
        let vector = |a: [f64; 3]| apply(&back, a);
        let point = |p: &[f64; 3]| vector(std::array::from_fn(|k| p[k] - transform.d[k]));
        let up = match self.up {
            Up::Given(up) => Up::Given(vector(up)),
            Up::Default(up, side) => Up::Default(vector(up), vector(side)),
        };
        Some(MemberLine { points: self.points.iter().map(point).collect(), up, ..*self })
    }
}

fn direction(a: [f64; 3], b: [f64; 3]) -> Option<[f64; 3]> {
    unit(std::array::from_fn(|k| b[k] - a[k]))
}

/// The part of `up` across the unit vector `x`, of length 1.
fn across(up: [f64; 3], x: [f64; 3]) -> Option<[f64; 3]> {
    let along = dot(up, x);
    let rest: [f64; 3] = std::array::from_fn(|k| up[k] - along * x[k]);
    unit(rest).filter(|_| dot(rest, rest).sqrt() > PARALLEL)
}

/// The rotation half way from one to another.
fn half_way(a: &Mat3, b: &Mat3) -> Mat3 {
    if a == b {
        return *a;
    }
    let rotation = quat_to_rotation_vector(&a.transpose_mul_mat(b).to_quat());
    let half = rotation.map(|x| 0.5 * x);
    debug_assert!(half.iter().all(|x| x.abs() <= PI));
    *a * Mat3::from_quat(quat_from_rotation_vector(&half))
}
