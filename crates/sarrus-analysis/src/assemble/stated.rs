//! Rigid motions that `[initial]` states: the point from which assembly departs.
//!
//! A unit is a body, or a flexible member as a whole. The values stated of a unit fix a pose and a twist of it. What is not stated stays as in
//! the model pose, or at rest: the orientation, the angular velocity, and the reference point. That is the origin of a body, and the centre of
//! mass of a member. So a velocity alone does not make a body spin, wherever its centre of mass is. Least change is then measured
//! from these motions.

use sarrus_math::{Mat3, Pose, Vec3, quat_mul, quat_normalize, quat_to_euler};
use sarrus_solve::State;
use sarrus_system::body::{Body, BodyKind};
use sarrus_system::names::{Directory, FlexibleEntry};
use sarrus_system::signal::Signal;
use std::collections::BTreeMap;
use std::ops::Range;

/// A value that is stated of one body.
#[derive(Clone)]
pub(super) struct Stated {
    /// The body.
    pub body: u32,
    /// Holds what is read of it: a sum.
    pub terms: Vec<(f64, Signal)>,
    /// The value.
    pub value: f64,
}

impl Stated {
    /// Returns whether it is a velocity.
    pub fn needs_velocity(&self) -> bool {
        self.terms.iter().any(|(_, signal)| signal.needs_velocity())
    }

    /// Returns what is read, where that is one reading.
    fn signal(&self) -> Option<&Signal> {
        if let [(1.0, signal)] = &self.terms[..] { Some(signal) } else { None }
    }
}

/// The part of a row that must remain beside the rows before it, or it depends on them: half of the digits.
const INDEPENDENT: f64 = 1.5e-8;

/// Bodies that move as one, and the point of one of them that is the reference point of all.
struct RigidUnit {
    bodies: Range<u32>,
    carrier: u32,
    point: [f64; 3],
}

/// The axes of a body in the model pose.
pub(super) fn model_axes(body: &Body) -> Mat3<f64> {
    match body.kind {
        BodyKind::PlanarRigid => Mat3::rot_z(body.start.2),
        kind if kind.rotates_in_space() => Mat3::from_quat(body.start.1),
        _ => Mat3::identity(),
    }
}

/// The centre of mass of a member, as a point that one of its bodies carries.
pub(super) fn centre(directory: &Directory, member: &FlexibleEntry) -> (u32, [f64; 3]) {
    if let Some(floating) = directory.floating.iter().find(|f| member.all.contains(&f.frame)) {
        return (floating.frame, [0.0; 3]);
    }
    let (mut mass, mut moment) = (0.0, Vec3([0.0; 3]));
    for body in member.all.clone().map(|id| &directory.bodies[id as usize]) {
        mass += body.mass;
        moment += Vec3(body.start.0).scale(body.mass);
    }
    let centre = moment.scale(1.0 / mass);
    let from = |id: &u32| centre - Vec3(directory.bodies[*id as usize].start.0);
    let near = member.bodies.clone().min_by(|a, b| from(a).norm_squared().total_cmp(&from(b).norm_squared()));
    let carrier = near.unwrap_or(member.bodies.start);
    let axes = model_axes(&directory.bodies[carrier as usize]);
    (carrier, axes.transpose_mul(from(&carrier)).0)
}

/// The values by unit: members for which `is_rigid` holds, by index, and other bodies.
fn by_unit<'s>(
    directory: &Directory,
    stated: &'s [Stated],
    is_rigid: &dyn Fn(usize) -> bool,
) -> Vec<(RigidUnit, Vec<&'s Stated>)> {
    let mut units: BTreeMap<u32, (RigidUnit, Vec<&Stated>)> = BTreeMap::new();
    for value in stated {
        let id = value.body;
        let mut members = directory.flexible.iter().enumerate();
        let member = members.find(|(i, member)| member.all.contains(&id) && is_rigid(*i)).map(|(_, m)| m);
        let first = member.map_or(id, |member| member.all.start);
        let (_, values) = units.entry(first).or_insert_with(|| {
            let (carrier, point) = match member {
                Some(member) => centre(directory, member),
                None => (id, directory.bodies[id as usize].from_com([0.0; 3])),
            };
            let bodies = member.map_or(id..id + 1, |member| member.all.clone());
            (RigidUnit { bodies, carrier, point }, Vec::new())
        });
        values.push(value);
    }
    units.into_values().collect()
}

/// Moves every unit of which positions are stated; `poses` are those of `state`.
pub(super) fn apply_stated(directory: &Directory, stated: &[Stated], poses: &[Pose<f64>], state: &mut State) {
    for (unit, values) in by_unit(directory, stated, &|_| true) {
        let reference = poses[unit.carrier as usize].point(&unit.point);
        let UnitRotation { quaternion, angle } = stated_rotation(directory, &values, &state.q);
        let rot = if angle == 0.0 { Mat3::from_quat(quaternion) } else { Mat3::rot_z(angle) };
        let rotated = |point: Vec3<f64>| reference + rot * (point - reference);
        let mut rows = Elimination::default();
        for value in &values {
            let (mut row, mut at) = (Vec3([0.0; 3]), 0.0);
            for (factor, signal) in &value.terms {
                if let Signal::Position(_, r, axis) = signal {
                    row += unit_vector(*axis).scale(*factor);
                    at += factor * rotated(poses[value.body as usize].point(r)).0[*axis];
                }
            }
            rows.add(row, Vec3([0.0; 3]), value.value - at);
        }
        let shift = rows.least(Vec3([0.0; 3]));
        for id in unit.bodies {
            let body = &directory.bodies[id as usize];
            let p = rotated(poses[id as usize].p) + shift;
            let before = body.quaternion(&state.q);
            let q = &mut state.q[body.q..][..body.kind.nq()];
            let linear = q.len().min(if is_planar(body) { 2 } else { 3 });
            q[..linear].copy_from_slice(&p.0[..linear]);
            match body.kind {
                BodyKind::PlanarRigid => q[2] += angle,
                BodyKind::Rigid => q[3..].copy_from_slice(&quat_normalize(quat_mul(&quaternion, &before))),
                BodyKind::RigidEuler => {
                    let near = [q[3], q[4], q[5]];
                    q[3..].copy_from_slice(&quat_to_euler(&quat_mul(&quaternion, &before), near));
                }
                _ => {}
            }
        }
    }
}

/// A rotation of a unit: in space a quaternion, in the plane an angle.
struct UnitRotation {
    quaternion: [f64; 4],
    angle: f64,
}

/// The rotation from where a unit is to the orientation that is stated first.
fn stated_rotation(directory: &Directory, values: &[&Stated], q: &[f64]) -> UnitRotation {
    let mut rotation = UnitRotation { quaternion: [1.0, 0.0, 0.0, 0.0], angle: 0.0 };
    for value in values {
        let body = &directory.bodies[value.body as usize];
        match value.signal() {
            Some(Signal::Angle(_)) => {
                rotation.angle = value.value - q[body.q + 2];
                break;
            }
            Some(Signal::Quaternion(..)) => {
                let before = body.quaternion(q);
                let mut target = before;
                let own = values.iter().filter(|other| other.body == value.body);
                for other in own {
                    if let Some(Signal::Quaternion(_, i)) = other.signal() {
                        target[*i] = other.value;
                    }
                }
                let back = [before[0], -before[1], -before[2], -before[3]];
                rotation.quaternion = quat_normalize(quat_mul(&quat_normalize(target), &back));
                break;
            }
            _ => {}
        }
    }
    rotation
}

fn is_planar(body: &Body) -> bool {
    matches!(body.kind, BodyKind::PlanarRigid | BodyKind::PlanarPoint)
}

/// Gives every unit of which velocities are stated its twist; `poses` are those of `state`.
pub(super) fn set_moving(
    directory: &Directory,
    stated: &[Stated],
    poses: &[Pose<f64>],
    is_rigid: &dyn Fn(usize) -> bool,
    state: &mut State,
) {
    for (unit, values) in by_unit(directory, stated, is_rigid) {
        let reference = poses[unit.carrier as usize].point(&unit.point);
        let (v, w) = twist(&values, poses, reference, is_planar(&directory.bodies[unit.carrier as usize]));
        for id in unit.bodies {
            let (body, pose) = (&directory.bodies[id as usize], &poses[id as usize]);
            let linear = (v + w.cross(pose.p - reference)).0;
            let angular = pose.rot.transpose_mul(w).0;
            let out = &mut state.v[body.v..][..body.kind.nv()];
            match body.kind {
                BodyKind::PlanarRigid => out.copy_from_slice(&[linear[0], linear[1], angular[2]]),
                kind if kind.rotates_in_space() => {
                    out[..3].copy_from_slice(&linear);
                    out[3..].copy_from_slice(&angular);
                }
                _ => out.copy_from_slice(&linear[..out.len()]),
            }
        }
    }
}

/// Rows a·x + b·ω = c, orthonormalized in a, and what they leave for ω alone: b·ω = c.
#[derive(Default)]
struct Elimination {
    rows: Vec<(Vec3<f64>, Vec3<f64>, f64)>,
    rest: Vec<(Vec3<f64>, f64)>,
}

impl Elimination {
    /// Takes one more row; one whose a depends on those before it says something of ω alone.
    fn add(&mut self, a: Vec3<f64>, b: Vec3<f64>, c: f64) {
        let (mut x, mut b, mut c) = (a, b, c);
        for (e, own, value) in &self.rows {
            let along = e.dot(x);
            x -= e.scale(along);
            b -= own.scale(along);
            c -= value * along;
        }
        if x.norm() > INDEPENDENT * a.norm() {
            let scale = 1.0 / x.norm();
            self.rows.push((x.scale(scale), b.scale(scale), c * scale));
        } else {
            self.rest.push((b, c));
        }
    }

    /// The smallest x that meets the rows with ω.
    fn least(&self, w: Vec3<f64>) -> Vec3<f64> {
        self.rows.iter().fold(Vec3([0.0; 3]), |x, (e, b, c)| x + e.scale(c - b.dot(w)))
    }
}

/// The twist (v at `reference`, ω) that meets `values` with the smallest |ω|, and with that the smallest |v|.
fn twist(
    values: &[&Stated],
    poses: &[Pose<f64>],
    reference: Vec3<f64>,
    planar: bool,
) -> (Vec3<f64>, Vec3<f64>) {
    let none = Vec3([0.0; 3]);
    let mut linear = Elimination::default();
    for value in values {
        let pose = &poses[value.body as usize];
        let (mut a, mut b) = (none, none);
        for (factor, signal) in &value.terms {
            match signal {
                Signal::Velocity(_, r, axis) => {
                    let unit = unit_vector(*axis);
                    a += unit.scale(*factor);
                    b += (pose.point(r) - reference).cross(unit).scale(*factor);
                }
                Signal::Omega(_, i) => b += pose.rot.col(*i).scale(*factor),
                Signal::OmegaWorld(_, i) => b += unit_vector(*i).scale(*factor),
                _ => {}
            }
        }
        linear.add(a, b, value.value);
    }
    let mut angular = Elimination::default();
    for (row, value) in &linear.rest {
        let row = if planar { Vec3([0.0, 0.0, row.z()]) } else { *row };
        angular.add(row, none, *value);
    }
    let w = angular.least(none);
    (linear.least(w), w)
}

fn unit_vector(axis: usize) -> Vec3<f64> {
    let mut unit = [0.0; 3];
    unit[axis] = 1.0;
    Vec3(unit)
}
