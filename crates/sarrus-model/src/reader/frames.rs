//! Frames of bodies, orientations and inertias.

use super::Reader;
use crate::Result;
use crate::key::{Key, KeyType};
use crate::record::ResolvedValue;
use crate::transform::{self, Frame, Matrix3, cross, dot, normalized, quaternion, unit};
use crate::value::{Data, Value};

/// Marks where a body is in the model pose.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyFrame {
    /// The body's frame.
    pub frame: Frame,
    /// The length of a bar given by `from` and `to` (m).
    ///
    /// In an included file that is turned or mirrored the resolved file has `at` and an orientation in
    /// their place, so whatever follows from the length (a default shape or inertia) must be recorded.
    pub length: Option<f64>,
}

/// An inertia as it is written, mirrored where the file is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WrittenInertia {
    /// Planar, about z (kg m²).
    Planar(f64),
    /// The moments about the body axes (kg m²).
    Moments([f64; 3]),
    /// The tensor, symmetric (kg m²).
    Tensor(Matrix3),
}

/// A marker in the frame of its body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkerFrame {
    /// Its origin (m).
    pub p: [f64; 3],
    /// Marker to body, unit, scalar first.
    pub q: [f64; 4],
}

/// The keys of a marker.
pub const MARKER_KEYS: &[Key] = &[
    Key::new("at", KeyType::Point, "", "its origin, in the world"),
    Key::new("on", KeyType::Local, "[0, 0, 0]", "its origin, on the body"),
    Key::new("orientation", KeyType::Orientation, "the body's", "its axes, against the world's"),
    Key::new("orientation_on", KeyType::Orientation, "identity", "its axes, against the body's"),
];

/// The keys of an orientation written as a table.
pub const ORIENTATION: &[Key] = &[
    Key::new("axis", KeyType::Vector, "", "axis of the turn"),
    Key::new("angle", KeyType::Number, "", "angle of the turn [rad]"),
    Key::new("euler", KeyType::Text, "", "sequence of body axes, such as `zxz`"),
    Key::new("angles", KeyType::Numbers, "", "the three angles of the sequence [rad]"),
    Key::new("x", KeyType::Vector, "", "direction of the x axis"),
    Key::new("y", KeyType::Vector, "", "direction of the y axis"),
    Key::new("z", KeyType::Vector, "", "direction of the z axis"),
];

impl Reader<'_> {
    /// The frame of the element itself, a body, from `from` and `to` or `at` and `angle` or
    /// `orientation`.
    pub fn body_frame(&self) -> Result<BodyFrame> {
        let (own, length) = self.own_frame()?;
        let mut frame = self.transform().frame(&own);
        if self.is_planar() {
            frame.q = about_z(frame.angle);
        }
        if self.is_recording() {
            self.record_frame(&frame, length.is_some());
        }
        Ok(BodyFrame { frame, length })
    }

    fn record_frame(&self, frame: &Frame, bar: bool) {
        let planar = self.is_planar();
        let raw = |key: &str| self.value(key).and_then(|v| self.raw_vector(key, v).ok());
        if self.transform().is_identity() && bar {
            for key in ["from", "to"] {
                if let Some(p) = raw(key) {
                    self.record(key, || ResolvedValue::vector(p, planar));
                }
            }
            return;
        }
        self.record("at", || ResolvedValue::vector(frame.p, planar));
        if planar {
            if frame.angle != 0.0 {
                self.record("angle", || ResolvedValue::Number(frame.angle));
            }
        } else if frame.q != [1.0, 0.0, 0.0, 0.0] {
            self.record("orientation", || ResolvedValue::numbers(&frame.q));
        }
    }

    /// The frame in the file's own world, and the length of a bar.
    fn own_frame(&self) -> Result<(Frame, Option<f64>)> {
        let raw = |key: &str| self.value(key).map(|v| self.raw_vector(key, v)).transpose();
        match (raw("from")?, raw("to")?) {
            (Some(a), Some(b)) => {
                for key in ["at", "angle", "orientation"] {
                    if self.has(key) {
                        return Err(
                            self.error(key, format!("{} has `from` and `to`: no `{key}`", self.title()))
                        );
                    }
                }
                let d: [f64; 3] = std::array::from_fn(|k| b[k] - a[k]);
                let Some(x) = unit(d) else {
                    return Err(self.error(
                        "to",
                        format!("{} has no length: `from` and `to` are one point", self.title()),
                    ));
                };
                let p = std::array::from_fn(|k| 0.5 * (a[k] + b[k]));
                Ok((self.bar(p, d, x), Some(dot(d, x))))
            }
            (Some(_), None) => Err(self.missing("to")),
            (None, Some(_)) => Err(self.missing("from")),
            (None, None) => {
                let p = raw("at")?.unwrap_or([0.0; 3]);
                if self.is_planar() {
                    let angle = match self.value("angle") {
                        Some(v) => self.scalar("angle", v, false)?,
                        None => 0.0,
                    };
                    return Ok((Frame { p, q: about_z(angle), angle }, None));
                }
                let q = match self.value("orientation") {
                    Some(v) => self.orientation_of("orientation", v)?,
                    None => [1.0, 0.0, 0.0, 0.0],
                };
                Ok((Frame { p, q, angle: 0.0 }, None))
            }
        }
    }

    /// The frame of a bar: x along it, z as near to world z as can be; a vertical one has y = world y.
    fn bar(&self, p: [f64; 3], d: [f64; 3], x: [f64; 3]) -> Frame {
        if self.is_planar() {
            let angle = d[1].atan2(d[0]);
            return Frame { p, q: about_z(angle), angle };
        }
        // a bar written with cos(90 deg) is vertical to roundoff
        const VERTICAL: f64 = 1e-9;
        let (y, z) = if x[0].hypot(x[1]) > VERTICAL {
            let y = unit(cross([0.0, 0.0, 1.0], x)).unwrap_or([0.0, 1.0, 0.0]);
            (y, cross(x, y))
        } else {
            let z = unit(cross(x, [0.0, 1.0, 0.0])).unwrap_or([1.0, 0.0, 0.0]);
            (cross(z, x), z)
        };
        Frame { p, q: quaternion(&columns(x, y, z)), angle: 0.0 }
    }

    /// An orientation in world axes, as the unit quaternion of a frame: of a marker.
    pub fn orientation(&self, key: &str) -> Result<Option<[f64; 4]>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let own = Frame { p: [0.0; 3], q: self.orientation_of(key, value)?, angle: 0.0 };
        let q = self.transform().frame(&own).q;
        self.record(key, || ResolvedValue::numbers(&q));
        Ok(Some(q))
    }

    /// An orientation relative to the element's own body, as a unit quaternion.
    pub fn orientation_on(&self, key: &str) -> Result<Option<[f64; 4]>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let q = self.transform().local_rotation(self.orientation_of(key, value)?);
        self.record(key, || ResolvedValue::numbers(&q));
        Ok(Some(q))
    }

    /// The quaternion of any of the ways to write an orientation, in the file's own axes.
    pub fn orientation_of(&self, key: &str, value: &Value) -> Result<[f64; 4]> {
        match &value.data {
            Data::List(list) if list.len() == 4 => {
                let mut q = [0.0; 4];
                for (x, v) in q.iter_mut().zip(list) {
                    *x = self.scalar(key, v, false)?;
                }
                let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
                if !(norm > 0.0 && norm.is_finite()) {
                    return Err(
                        self.at(value.span, format!("`{key}` of {}: the quaternion is zero", self.title()))
                    );
                }
                Ok(normalized(q))
            }
            Data::Table(_) => {
                let table = self.nested(key, None, value, ORIENTATION)?;
                table.orientation_table(value)
            }
            _ => Err(self
                .expected(key, "an orientation", value)
                .hint("[w, x, y, z], { axis, angle }, { euler = \"zxz\", angles }, or two of { x, y, z }")),
        }
    }

    fn orientation_table(&self, value: &Value) -> Result<[f64; 4]> {
        let quiet = |key: &str| self.value(key).map(|v| self.spatial_vector(key, v)).transpose();
        let number = |key: &str| self.value(key).map(|v| self.scalar(key, v, false)).transpose();
        let keys: Vec<&str> = self.table.keys().filter(|k| *k != "note" && *k != "extra").collect();
        match keys.as_slice() {
            ["axis", "angle"] | ["angle", "axis"] => {
                let axis = quiet("axis")?.unwrap_or_default();
                let angle = number("angle")?.unwrap_or_default();
                transform::axis_angle(axis, angle).ok_or_else(|| self.no_length("axis"))
            }
            ["euler", "angles"] | ["angles", "euler"] => self.euler(),
            [a, b] if a.len() == 1 && b.len() == 1 => {
                // in the order x y z: the first is kept, the second made square to it
                let (a, b) = if a < b { (*a, *b) } else { (*b, *a) };
                let first = unit(quiet(a)?.unwrap_or_default()).ok_or_else(|| self.no_length(a))?;
                let second = quiet(b)?.unwrap_or_default();
                let along = dot(first, second);
                let square = std::array::from_fn(|k| second[k] - along * first[k]);
                let size = dot(second, second).sqrt();
                let second =
                    unit(square).filter(|_| dot(square, square).sqrt() > 1e-9 * size).ok_or_else(|| {
                        self.error(b, format!("{}: `{a}` and `{b}` point the same way", self.title()))
                    })?;
                let third = cross(first, second);
                let r = match (a, b) {
                    ("x", "y") => columns(first, second, third),
                    // x × z = -y
                    ("x", _) => columns(first, third.map(|t| -t), second),
                    _ => columns(third, first, second),
                };
                Ok(quaternion(&r))
            }
            _ => Err(self
                .at(value.span, format!("{}: this is no orientation", self.title()))
                .hint("{ axis, angle }, { euler = \"zxz\", angles }, or two of { x, y, z }")),
        }
    }

    /// A vector of three, whatever the space.
    fn spatial_vector(&self, key: &str, value: &Value) -> Result<[f64; 3]> {
        match self.quantity(key, value)? {
            crate::expr::Quantity::Vector { v, n: 3 } if v.iter().all(|x| x.is_finite()) => Ok(v),
            _ => Err(self.at(value.span, format!("`{key}` of {}: expected 3 numbers", self.title()))),
        }
    }

    fn euler(&self) -> Result<[f64; 4]> {
        let sequence = self.value("euler").and_then(Value::as_text).map_or("", |t| t.as_str());
        let axes: Vec<usize> = sequence.chars().filter_map(|c| "xyz".find(c)).collect();
        let good = sequence.len() == 3 && axes.len() == 3 && axes[0] != axes[1] && axes[1] != axes[2];
        if !good {
            return Err(self
                .error("euler", format!("{}: `{sequence}` is no Euler sequence", self.title()))
                .hint("three letters of x y z, neighbours different, such as zxz or zyx"));
        }
        let value = self.value("angles").ok_or_else(|| self.missing("angles"))?;
        let Some(list) = value.as_list().filter(|l| l.len() == 3) else {
            return Err(self.at(value.span, format!("`angles` of {}: expected 3 angles", self.title())));
        };
        let mut q = [1.0, 0.0, 0.0, 0.0];
        for (axis, v) in axes.into_iter().zip(list) {
            let (s, c) = (0.5 * self.scalar("angles", v, false)?).sin_cos();
            let mut rotation = [c, 0.0, 0.0, 0.0];
            rotation[axis + 1] = s;
            q = transform::quaternion_product(q, rotation);
        }
        Ok(normalized(q))
    }

    /// The marker that this table (of `markers`) describes, in the frame `body` of the body that carries
    /// it. `stand_in` is the frame in which `on` is meant, where that is another
    /// ([`crate::Attachment::frame`]).
    pub fn marker_frame(&self, body: &Frame, stand_in: Option<&Frame>) -> Result<MarkerFrame> {
        let conjugate = |q: [f64; 4]| [q[0], -q[1], -q[2], -q[3]];
        let (at, on) = (self.point("at")?, self.own_point("on")?);
        if let (Some(_), Some(_)) = (at, on) {
            return Err(self.both("at", "on"));
        }
        let mut p = match (at, on) {
            (Some(at), _) => body.local(at),
            (None, on) => on.unwrap_or([0.0; 3]),
        };
        let relative = |q: [f64; 4]| normalized(transform::quaternion_product(conjugate(body.q), q));
        let (world, on_body) = (self.orientation("orientation")?, self.orientation_on("orientation_on")?);
        let mut q = match (world, on_body) {
            (Some(_), Some(_)) => return Err(self.both("orientation", "orientation_on")),
            (Some(world), None) => relative(world),
            (None, q) => q.unwrap_or([1.0, 0.0, 0.0, 0.0]),
        };
        if let Some(frame) = stand_in {
            // from the frame it is meant in to that of the body which carries it
            if at.is_none() {
                p = body.local(frame.point(p));
                self.record("on", || ResolvedValue::vector(p, self.is_planar()));
            }
            if world.is_none() {
                q = relative(normalized(transform::quaternion_product(frame.q, q)));
                if q != [1.0, 0.0, 0.0, 0.0] {
                    self.record("orientation_on", || ResolvedValue::numbers(&q));
                }
            }
        }
        Ok(MarkerFrame { p, q })
    }

    /// An inertia: planar a number, else three moments or a symmetric tensor; mirrored where the file is.
    pub fn inertia(&self, key: &str) -> Result<Option<WrittenInertia>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let inertia = if self.is_planar() {
            WrittenInertia::Planar(self.scalar(key, value, false)?)
        } else if let Some(rows) = value.as_list().filter(|l| l.iter().any(|r| r.as_list().is_some())) {
            let mut tensor = [[0.0; 3]; 3];
            if rows.len() != 3 {
                return Err(self.at(
                    value.span,
                    format!("`{key}` of {}: expected 3 rows, found {}", self.title(), rows.len()),
                ));
            }
            for (row, v) in tensor.iter_mut().zip(rows) {
                *row = self.raw_vector(key, v)?;
            }
            for (i, j) in [(0, 1), (0, 2), (1, 2)] {
                if tensor[i][j] != tensor[j][i] {
                    return Err(self.at(
                        value.span,
                        format!(
                            "`{key}` of {} is not symmetric: {} and {}",
                            self.title(),
                            tensor[i][j],
                            tensor[j][i]
                        ),
                    ));
                }
            }
            WrittenInertia::Tensor(self.transform().local_tensor(tensor))
        } else {
            WrittenInertia::Moments(self.raw_vector(key, value)?)
        };
        self.record(key, || match inertia {
            WrittenInertia::Planar(x) => ResolvedValue::Number(x),
            WrittenInertia::Moments(m) => ResolvedValue::numbers(&m),
            WrittenInertia::Tensor(t) => {
                ResolvedValue::List(t.iter().map(|r| ResolvedValue::numbers(r)).collect())
            }
        });
        Ok(Some(inertia))
    }
}

fn about_z(angle: f64) -> [f64; 4] {
    let (s, c) = (0.5 * angle).sin_cos();
    [c, 0.0, 0.0, s]
}

/// The matrix with these columns.
fn columns(x: [f64; 3], y: [f64; 3], z: [f64; 3]) -> Matrix3 {
    std::array::from_fn(|i| [x[i], y[i], z[i]])
}
