//! World points and vectors, through the include's transform.

use super::Reader;
use crate::Result;
use crate::expr::Quantity;
use crate::record::ResolvedValue;
use crate::transform::unit;
use crate::value::{Data, Value};

impl Reader<'_> {
    /// A vector of the space's dimension, as written: no transform. z = 0 where planar.
    pub(super) fn raw_vector(&self, key: &str, value: &Value) -> Result<[f64; 3]> {
        let wanted = if self.is_planar() { 2 } else { 3 };
        let (v, n) = match &value.data {
            Data::Text(_) | Data::List(_) => match self.quantity(key, value)? {
                Quantity::Vector { v, n } => (v, n),
                other => {
                    return Err(self.at(
                        value.span,
                        format!("`{key}` of {}: expected a vector, found {}", self.title(), other.kind()),
                    ));
                }
            },
            _ => {
                return Err(self.expected(key, &format!("a vector of {wanted} numbers"), value));
            }
        };
        if n != wanted {
            let space = if wanted == 2 { "planar" } else { "spatial" };
            return Err(self
                .at(value.span, format!("`{key}` of {}: expected {wanted} numbers, found {n}", self.title()))
                .hint(format!("the space is {space}")));
        }
        if v.iter().any(|x| !x.is_finite()) {
            return Err(self.at(value.span, format!("`{key}` of {} must be finite", self.title())));
        }
        Ok(v)
    }

    /// A vector of rotation: planar a number about z.
    fn raw_axial(&self, key: &str, value: &Value) -> Result<[f64; 3]> {
        if self.is_planar() {
            Ok([0.0, 0.0, self.scalar(key, value, false)?])
        } else {
            self.raw_vector(key, value)
        }
    }

    fn record_vector(&self, key: &str, v: [f64; 3]) {
        self.record(key, || ResolvedValue::vector(v, self.is_planar()));
    }

    fn record_axial(&self, key: &str, v: [f64; 3]) {
        self.record(key, || {
            if self.is_planar() { ResolvedValue::Number(v[2]) } else { ResolvedValue::numbers(&v) }
        });
    }

    /// A world point in the model pose.
    pub fn point(&self, key: &str) -> Result<Option<[f64; 3]>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let p = self.transform().point(self.raw_vector(key, value)?);
        self.record_vector(key, p);
        Ok(Some(p))
    }

    /// A list of world points.
    pub fn points(&self, key: &str) -> Result<Option<Vec<[f64; 3]>>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let Data::List(list) = &value.data else { return Err(self.expected(key, "a list of points", value)) };
        let points = list
            .iter()
            .map(|v| Ok(self.transform().point(self.raw_vector(key, v)?)))
            .collect::<Result<Vec<_>>>()?;
        self.record(key, || {
            ResolvedValue::List(points.iter().map(|p| ResolvedValue::vector(*p, self.is_planar())).collect())
        });
        Ok(Some(points))
    }

    /// Two world points, the first on the first body, the second on the second: `ends`.
    pub fn points2(&self, key: &str) -> Result<Option<[[f64; 3]; 2]>> {
        let Some(list) = self.points(key)? else { return Ok(None) };
        <[[f64; 3]; 2]>::try_from(list.as_slice()).map(Some).map_err(|_| {
            self.error(key, format!("`{key}` of {}: expected two points, found {}", self.title(), list.len()))
        })
    }

    /// A polar world vector: a force, a velocity, a direction of motion.
    pub fn vector(&self, key: &str) -> Result<Option<[f64; 3]>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let v = self.transform().vector(self.raw_vector(key, value)?);
        self.record_vector(key, v);
        Ok(Some(v))
    }

    /// A polar world vector, or the default in the file's own axes.
    pub fn vector_or(&self, key: &str, default: [f64; 3]) -> Result<[f64; 3]> {
        match self.vector(key)? {
            Some(v) => Ok(v),
            None => {
                let v = self.transform().vector(default);
                // a default of the file's axes must be said where the file is turned
                if v != default {
                    self.record_vector(key, v);
                }
                Ok(v)
            }
        }
    }

    /// An axial world vector: a torque, an angular velocity. Planar: a number, returned along z.
    pub fn axial(&self, key: &str) -> Result<Option<[f64; 3]>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let v = self.transform().axial(self.raw_axial(key, value)?);
        self.record_axial(key, v);
        Ok(Some(v))
    }

    /// A direction of motion, of length 1; zero is an error. The default is in the file's own axes.
    pub fn direction_or(&self, key: &str, default: [f64; 3]) -> Result<[f64; 3]> {
        let v = self.vector_or(key, default)?;
        unit(v).ok_or_else(|| self.no_length(key))
    }

    /// A direction of motion, of length 1; zero is an error.
    pub fn direction(&self, key: &str) -> Result<Option<[f64; 3]>> {
        match self.vector(key)? {
            Some(v) => unit(v).map(Some).ok_or_else(|| self.no_length(key)),
            None => Ok(None),
        }
    }

    /// An axis of rotation, of length 1 (spatial; planar it is ±z and no key); zero is an error. The
    /// default is in the file's own axes.
    pub fn axis_or(&self, key: &str, default: [f64; 3]) -> Result<[f64; 3]> {
        if self.is_planar() {
            return Ok(self.transform().axial([0.0, 0.0, 1.0]));
        }
        let v = match self.value(key) {
            Some(value) => {
                let v = self.transform().axial(self.raw_vector(key, value)?);
                self.record_vector(key, v);
                v
            }
            None => {
                let v = self.transform().axial(default);
                if v != default {
                    self.record_vector(key, v);
                }
                v
            }
        };
        unit(v).ok_or_else(|| self.no_length(key))
    }

    /// A list of world directions of length 1, reflected and reversed by a mirror: `axes`.
    pub fn axes(&self, key: &str) -> Result<Option<Vec<[f64; 3]>>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let Data::List(list) = &value.data else {
            return Err(self.expected(key, "a list of directions", value));
        };
        let mut raw = Vec::with_capacity(list.len());
        for v in list {
            raw.push(self.transform().axial(self.raw_vector(key, v)?));
        }
        self.record(key, || {
            ResolvedValue::List(raw.iter().map(|p| ResolvedValue::vector(*p, self.is_planar())).collect())
        });
        raw.into_iter().map(|v| unit(v).ok_or_else(|| self.no_length(key))).collect::<Result<_>>().map(Some)
    }

    /// A list of world directions of length 1, reflected by a mirror.
    pub fn directions(&self, key: &str) -> Result<Option<Vec<[f64; 3]>>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let Data::List(list) = &value.data else {
            return Err(self.expected(key, "a list of directions", value));
        };
        let mut raw = Vec::with_capacity(list.len());
        for v in list {
            raw.push(self.transform().vector(self.raw_vector(key, v)?));
        }
        self.record(key, || {
            ResolvedValue::List(raw.iter().map(|p| ResolvedValue::vector(*p, self.is_planar())).collect())
        });
        raw.into_iter().map(|v| unit(v).ok_or_else(|| self.no_length(key))).collect::<Result<_>>().map(Some)
    }

    /// The error for a direction of length 0.
    pub fn no_length(&self, key: &str) -> crate::Diagnostic {
        self.error(key, format!("`{key}` of {} has no length", self.title()))
            .hint("a direction needs a component that is not 0")
    }
}
