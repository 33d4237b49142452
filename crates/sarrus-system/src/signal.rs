//! Everything that an expression may read and a result may list: one formula each, over any scalar.

use crate::at::At;
use crate::coordinate::CoordinateRef;
use crate::flexible::modal::recover::{NodeReading, NodeSignal};
use crate::formula::Formula;
use crate::joint::{BodyFixedFrame, Frames};
use sarrus_math::{Enclosure, Interval, Mat3, Real, Vec3};

/// The centre of mass, as a point of its body.
const CENTRE: [f64; 3] = [0.0; 3];

/// A number that can be read at an instant. Bodies are places in the reader's own list.
#[derive(Clone, Debug)]
pub enum Signal {
    /// t \[s\].
    Time,
    /// A number that does not change.
    Constant(f64),
    /// Component of the position of a body's point, from the centre of mass \[m\].
    Position(usize, [f64; 3], usize),
    /// Component of the position of a body's point in a frame that another body carries (that body, the frame on it, body,
    /// point) \[m\].
    Relative(usize, BodyFixedFrame, usize, [f64; 3], usize),
    /// Component of its velocity \[m/s\].
    Velocity(usize, [f64; 3], usize),
    /// Component of a body's quaternion.
    Quaternion(usize, usize),
    /// Angle of a planar body \[rad\].
    Angle(usize),
    /// Component of ω in body axes \[rad/s\].
    Omega(usize, usize),
    /// Component of ω in world axes \[rad/s\].
    OmegaWorld(usize, usize),
    /// A joint coordinate \[m, rad\].
    Coordinate(CoordinateRef),
    /// Its speed \[m/s, rad/s\].
    Speed(CoordinateRef),
    /// Component of the quaternion of a joint's second body against its first (frames, first body, second body).
    RelativeQuaternion(Frames, usize, usize, usize),
    /// Component of the angular velocity of the second body against the first, in the axes of the joint on the
    /// second body \[rad/s\].
    RelativeAngularVelocity(Frames, usize, usize, usize),
    /// Distance of two points.
    Length(PointDistance),
    /// Its rate.
    LengthRate(PointDistance),
    /// Component of something that a node of a modal body does: its frame, the bodies that hold its amplitudes, the node.
    Node(Box<NodeSignal>),
    /// A controller's output or state.
    Output(usize),
    /// A named expression.
    Nested(Box<Formula>),
}

/// Two points on two bodies, from their centres of mass.
#[derive(Clone, Copy, Debug)]
pub struct PointDistance {
    /// Place of the first body.
    pub a: usize,
    /// Point on it \[m\].
    pub r_A: [f64; 3],
    /// Place of the second body.
    pub b: usize,
    /// Point on it \[m\].
    pub r_B: [f64; 3],
}

impl PointDistance {
    /// From the first point to the second.
    pub fn vector<R: Real>(&self, at: &At<R>) -> Vec3<R> {
        at.pose(self.b).point(&self.r_B) - at.pose(self.a).point(&self.r_A)
    }

    /// The distance.
    pub fn length<R: Real>(&self, at: &At<R>) -> R {
        self.vector(at).norm()
    }

    /// Its rate; zero where the points coincide.
    pub fn rate<R: Real>(&self, at: &At<R>) -> R {
        let d = self.vector(at);
        let length = d.norm();
        if length.value() == 0.0 { R::zero() } else { d.dot(self.approach(at)) / length }
    }

    /// Velocity of the second point against the first.
    fn approach<R: Real>(&self, at: &At<R>) -> Vec3<R> {
        at.twist(self.b).point_velocity(at.pose(self.b), &self.r_B)
            - at.twist(self.a).point_velocity(at.pose(self.a), &self.r_A)
    }
}

/// Bounds on a component of it: within [-1, 1] where the largest one changes, and with it the sign.
fn enclose_quaternion(rot: &Mat3<Enclosure>, i: usize) -> Enclosure {
    let squares = quaternion_squares(rot);
    let largest = |k: &usize| (0..4).all(|j| j == *k || squares[*k].v.lo > squares[j].v.hi);
    match (0..4).find(largest) {
        Some(_) => quaternion(rot)[i],
        None => Enclosure::jumping(Interval::around(0.0, 1.0)),
    }
}

/// Four times the squares of the quaternion's components.
fn quaternion_squares<R: Real>(rot: &Mat3<R>) -> [R; 4] {
    let m = &rot.0;
    [
        m[0][0] + m[1][1] + m[2][2] + 1.0,
        m[0][0] - m[1][1] - m[2][2] + 1.0,
        -m[0][0] + m[1][1] - m[2][2] + 1.0,
        -m[0][0] - m[1][1] + m[2][2] + 1.0,
    ]
}

/// Quaternion of a rotation matrix, over any scalar; the sign keeps the largest component positive.
pub(crate) fn quaternion<R: Real>(rot: &Mat3<R>) -> [R; 4] {
    let m = &rot.0;
    let squares = quaternion_squares(rot);
    let largest = (1..4).fold(0, |best, i| if squares[i].value() > squares[best].value() { i } else { best });
    let double = squares[largest].sqrt();
    let (half, factor) = (double * 0.5, R::from_f64(0.5) / double);
    let (x, y, z) = (m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]);
    let (xy, xz, yz) = (m[0][1] + m[1][0], m[0][2] + m[2][0], m[1][2] + m[2][1]);
    match largest {
        0 => [half, x * factor, y * factor, z * factor],
        1 => [x * factor, half, xy * factor, xz * factor],
        2 => [y * factor, xy * factor, half, yz * factor],
        _ => [z * factor, xz * factor, yz * factor, half],
    }
}

impl Signal {
    /// The value.
    pub fn eval<R: Real>(&self, at: &At<R>) -> R {
        match self {
            Signal::Time => at.t,
            Signal::Constant(x) => R::from_f64(*x),
            Signal::Position(body, r, i) => at.pose(*body).point(r).0[*i],
            Signal::Relative(carrier, frame, body, r, i) => {
                let frame = frame.frame_pose(at.pose(*carrier));
                frame.to_local(at.pose(*body).point(r) - frame.p).0[*i]
            }
            Signal::Velocity(body, r, i) => at.twist(*body).point_velocity(at.pose(*body), r).0[*i],
            Signal::Quaternion(body, i) => quaternion(&at.pose(*body).rot)[*i],
            Signal::Angle(body) => at.pose(*body).angle,
            Signal::Omega(body, i) => at.twist(*body).w.0[*i],
            Signal::OmegaWorld(body, i) => at.twist(*body).w_W.0[*i],
            Signal::Coordinate(c) => c.value(at),
            Signal::Speed(c) => c.speed(at),
            Signal::RelativeQuaternion(frames, a, b, i) => {
                let (F, M) = (frames.F.frame_pose(at.pose(*a)), frames.M.frame_pose(at.pose(*b)));
                quaternion(&F.rot.transpose_mul_mat(&M.rot))[*i]
            }
            Signal::RelativeAngularVelocity(frames, a, b, i) => {
                let w_W = at.twist(*b).w_W - at.twist(*a).w_W;
                frames.M.frame_pose(at.pose(*b)).rot.transpose_mul(w_W).0[*i]
            }
            Signal::Length(d) => d.length(at),
            Signal::LengthRate(d) => d.rate(at),
            Signal::Node(node) => node.eval(at),
            Signal::Output(slot) => at.outs[*slot],
            Signal::Nested(formula) => formula.eval(at),
        }
    }

    /// Bounds over an interval of time. What chooses by value is bounded by all that may be chosen.
    pub fn enclose(&self, at: &At<Enclosure>) -> Enclosure {
        match self {
            Signal::Quaternion(body, i) => enclose_quaternion(&at.pose(*body).rot, *i),
            Signal::RelativeQuaternion(frames, a, b, i) => {
                let (F, M) = (frames.F.frame_pose(at.pose(*a)), frames.M.frame_pose(at.pose(*b)));
                enclose_quaternion(&F.rot.transpose_mul_mat(&M.rot), *i)
            }
            Signal::Coordinate(c) => c.enclose(at),
            Signal::Length(d) => {
                let [x, y, z] = d.vector(at).0.map(|x| x.powi(2));
                (x + y + z).sqrt()
            }
            Signal::LengthRate(d) => d.vector(at).dot(d.approach(at)) / Signal::Length(*d).enclose(at),
            Signal::Nested(formula) => formula.enclose(at),
            // the same without products with zero
            Signal::Velocity(body, CENTRE, i) => at.twist(*body).v.0[*i],
            Signal::Position(body, CENTRE, i) => at.pose(*body).p.0[*i],
            _ => self.eval(at),
        }
    }

    /// Returns whether it needs the pose of a body.
    pub fn needs_pose(&self) -> bool {
        match self {
            Signal::Time | Signal::Constant(_) | Signal::Output(_) => false,
            Signal::Velocity(_, r, _) => *r != CENTRE,
            Signal::Omega(..) | Signal::OmegaWorld(..) => false,
            Signal::Nested(formula) => formula.needs_pose(),
            _ => true,
        }
    }

    /// Calls `found` with the place of each body that it reads.
    pub fn bodies(&self, found: &mut dyn FnMut(usize)) {
        match self {
            Signal::Time | Signal::Constant(_) | Signal::Output(_) => {}
            Signal::Position(body, ..)
            | Signal::Velocity(body, ..)
            | Signal::Quaternion(body, _)
            | Signal::Angle(body)
            | Signal::Omega(body, _)
            | Signal::OmegaWorld(body, _) => found(*body),
            Signal::Relative(a, _, b, ..)
            | Signal::RelativeQuaternion(_, a, b, _)
            | Signal::RelativeAngularVelocity(_, a, b, _) => {
                [*a, *b].into_iter().for_each(found);
            }
            Signal::Coordinate(c) | Signal::Speed(c) => [c.a, c.b].into_iter().for_each(found),
            Signal::Length(d) | Signal::LengthRate(d) => [d.a, d.b].into_iter().for_each(found),
            Signal::Node(node) => node.bodies().for_each(found),
            Signal::Nested(formula) => formula.bodies(found),
        }
    }

    /// Returns whether it needs velocities.
    pub fn needs_velocity(&self) -> bool {
        match self {
            Signal::Velocity(..)
            | Signal::Omega(..)
            | Signal::OmegaWorld(..)
            | Signal::Speed(_)
            | Signal::RelativeAngularVelocity(..)
            | Signal::LengthRate(_) => true,
            Signal::Node(node) => node.what == NodeReading::Velocity,
            Signal::Nested(formula) => formula.needs_velocity(),
            _ => false,
        }
    }

    /// Returns whether it depends on a controller.
    pub fn needs_controller(&self) -> bool {
        match self {
            Signal::Output(_) => true,
            Signal::Nested(formula) => formula.needs_controller(),
            _ => false,
        }
    }

    /// Unit, for results.
    pub fn unit(&self) -> &'static str {
        match self {
            Signal::Time => "s",
            Signal::Position(..) | Signal::Relative(..) | Signal::Length(_) => "m",
            Signal::Node(node) => {
                if node.what == NodeReading::Velocity {
                    "m/s"
                } else {
                    "m"
                }
            }
            Signal::Velocity(..) | Signal::LengthRate(_) => "m/s",
            Signal::Angle(_) => "rad",
            Signal::Omega(..) | Signal::OmegaWorld(..) | Signal::RelativeAngularVelocity(..) => "rad/s",
            Signal::Coordinate(c) => {
                if is_length(c) {
                    "m"
                } else {
                    "rad"
                }
            }
            Signal::Speed(c) => {
                if is_length(c) {
                    "m/s"
                } else {
                    "rad/s"
                }
            }
            Signal::Quaternion(..) | Signal::RelativeQuaternion(..) => "1",
            Signal::Output(_) | Signal::Nested(_) | Signal::Constant(_) => "",
        }
    }
}

fn is_length(c: &CoordinateRef) -> bool {
    c.reading.is_length()
}
