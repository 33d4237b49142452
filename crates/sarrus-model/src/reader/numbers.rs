//! Numbers, flags, choices and texts.

use super::Reader;
use crate::Result;
use crate::expr::Quantity;
use crate::record::ResolvedValue;
use crate::value::{Data, Value};

impl<'a> Reader<'a> {
    /// A number that must be given.
    pub fn number(&self, key: &str) -> Result<f64> {
        self.number_opt(key)?.ok_or_else(|| self.missing(key))
    }

    /// A number, or the default.
    pub fn number_or(&self, key: &str, default: f64) -> Result<f64> {
        Ok(self.number_opt(key)?.unwrap_or(default))
    }

    /// A number that may be left out; finite.
    pub fn number_opt(&self, key: &str) -> Result<Option<f64>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let x = self.scalar(key, value, false)?;
        self.record(key, || ResolvedValue::Number(x));
        Ok(Some(x))
    }

    /// A number that may be left out and may be infinite.
    pub fn number_or_inf(&self, key: &str) -> Result<Option<f64>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let x = self.scalar(key, value, true)?;
        self.record(key, || ResolvedValue::Number(x));
        Ok(Some(x))
    }

    /// A number above zero that may be left out.
    pub fn positive_opt(&self, key: &str) -> Result<Option<f64>> {
        match self.number_opt(key)? {
            Some(x) if x <= 0.0 => {
                Err(self.error(key, format!("`{key}` of {} must be positive, it is {x}", self.title())))
            }
            x => Ok(x),
        }
    }

    /// A number above zero that must be given.
    pub fn positive(&self, key: &str) -> Result<f64> {
        self.positive_opt(key)?.ok_or_else(|| self.missing(key))
    }

    /// A number not below zero that may be left out.
    pub fn not_negative_opt(&self, key: &str) -> Result<Option<f64>> {
        match self.number_opt(key)? {
            Some(x) if x < 0.0 => {
                Err(self.error(key, format!("`{key}` of {} must not be negative, it is {x}", self.title())))
            }
            x => Ok(x),
        }
    }

    /// A whole number not below zero that may be left out.
    pub fn count_opt(&self, key: &str) -> Result<Option<u64>> {
        match self.number_opt(key)? {
            Some(x) if x >= 0.0 && x.fract() == 0.0 && x < 9.0e15 => Ok(Some(x as u64)),
            Some(x) => Err(self.error(
                key,
                format!("`{key}` of {} must be a whole number, not negative; it is {x}", self.title()),
            )),
            None => Ok(None),
        }
    }

    /// The value of a state column, `x y z vx vy vz wx wy wz angle rate`, read from `key` in the file's own
    /// world: for [`Reader::setting`]. A file that is turned has no such columns and must give vectors.
    pub fn column(&self, key: &str, column: &str) -> Result<f64> {
        let x = self.scalar(key, self.value(key).ok_or_else(|| self.missing(key))?, false)?;
        let t = self.transform();
        let axis = |c: &str| "xyz".find(c).filter(|_| c.len() == 1);
        let straight = |k: usize| (0..3).all(|j| j == k || t.q[k][j].abs() < 1e-15);
        let angle = if t.is_identity() {
            Some(x)
        } else if let Some(k) = axis(column) {
            straight(k).then(|| t.q[k][k].signum() * x + t.d[k])
        } else if let Some(k) = column.strip_prefix('v').and_then(axis) {
            straight(k).then(|| t.q[k][k].signum() * x)
        } else if let Some(k) = column.strip_prefix('w').and_then(axis) {
            Some(t.sign() * t.l[k] * x)
        } else {
            match column {
                "angle" => Some(t.angle + t.sign() * x),
                "rate" => Some(t.sign() * x),
                _ => None,
            }
        };
        let Some(x) = angle else {
            return Err(self
                .error(
                    key,
                    format!("{}: a file that is turned cannot set the column `{column}`", self.title()),
                )
                .hint("give the whole vector, such as `velocity = [...]`"));
        };
        self.record(key, || ResolvedValue::Number(x));
        Ok(x)
    }

    /// A list of numbers of any length; a vector expression gives its components.
    pub fn numbers(&self, key: &str) -> Result<Option<Vec<f64>>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let list = self.number_list(key, value, false)?;
        self.record(key, || ResolvedValue::numbers(&list));
        Ok(Some(list))
    }

    /// A list of numbers, infinite ones allowed: `limits = [0, inf]`.
    pub fn numbers_or_inf(&self, key: &str) -> Result<Option<Vec<f64>>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let list = self.number_list(key, value, true)?;
        self.record(key, || ResolvedValue::numbers(&list));
        Ok(Some(list))
    }

    /// A list of exactly `N` numbers.
    pub fn array<const N: usize>(&self, key: &str) -> Result<Option<[f64; N]>> {
        let Some(list) = self.numbers(key)? else { return Ok(None) };
        <[f64; N]>::try_from(list.as_slice()).map(Some).map_err(|_| {
            self.error(
                key,
                format!("`{key}` of {}: expected {N} numbers, found {}", self.title(), list.len()),
            )
        })
    }

    /// A pair `[lo, hi]` with lo < hi; either may be infinite.
    pub fn limits(&self, key: &str) -> Result<Option<[f64; 2]>> {
        let Some(list) = self.numbers_or_inf(key)? else { return Ok(None) };
        match list.as_slice() {
            [lo, hi] if lo < hi => Ok(Some([*lo, *hi])),
            [lo, hi] => Err(self.error(key, format!("`{key}` of {}: {lo} is not below {hi}", self.title()))),
            _ => Err(self.error(
                key,
                format!("`{key}` of {}: expected [lo, hi], found {} numbers", self.title(), list.len()),
            )),
        }
    }

    /// A list of lists of numbers.
    pub fn matrix(&self, key: &str) -> Result<Option<Vec<Vec<f64>>>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let Data::List(rows) = &value.data else {
            return Err(self.expected(key, "a list of lists of numbers", value));
        };
        let rows = rows.iter().map(|r| self.number_list(key, r, false)).collect::<Result<Vec<_>>>()?;
        self.record(key, || ResolvedValue::List(rows.iter().map(|r| ResolvedValue::numbers(r)).collect()));
        Ok(Some(rows))
    }

    /// A flag, or the default.
    pub fn flag_or(&self, key: &str, default: bool) -> Result<bool> {
        Ok(self.flag_opt(key)?.unwrap_or(default))
    }

    /// A flag that may be left out: `true`, `false` or a condition of parameters.
    pub fn flag_opt(&self, key: &str) -> Result<Option<bool>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let flag = match &value.data {
            Data::Bool(b) => *b,
            Data::Text(_) => match self.quantity(key, value)? {
                Quantity::Flag(b) => b,
                Quantity::Number(x) => x != 0.0,
                Quantity::Vector { .. } => {
                    return Err(
                        self.at(value.span, format!("`{key}`: expected true or false, found a vector"))
                    );
                }
            },
            _ => return Err(self.expected(key, "true, false or a condition", value)),
        };
        self.record(key, || ResolvedValue::Flag(flag));
        Ok(Some(flag))
    }

    /// One of several names, by its position.
    pub fn choice(&self, key: &str, names: &[&str]) -> Result<Option<usize>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let Data::Text(text) = &value.data else {
            return Err(self.expected(key, &format!("one of {}", names.join(", ")), value));
        };
        let Some(position) = names.iter().position(|n| *n == text.as_str()) else {
            let near = crate::suggest::suggest(text, names.iter().copied());
            let hint = near
                .map_or_else(|| format!("one of: {}", names.join(" ")), |n| format!("did you mean `{n}`?"));
            return Err(self
                .at(value.span, format!("`{key}` of {} cannot be `{}`", self.title(), text.as_str()))
                .hint(hint));
        };
        self.record(key, || ResolvedValue::Text(text.to_string()));
        Ok(Some(position))
    }

    /// A text that is neither a name nor an expression.
    pub fn text(&self, key: &str) -> Result<Option<&'a str>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let Data::Text(text) = &value.data else { return Err(self.expected(key, "a string", value)) };
        self.record(key, || ResolvedValue::Text(text.to_string()));
        Ok(Some(text.as_str()))
    }

    /// A list of texts.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<&'a str>>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let Data::List(list) = &value.data else {
            return Err(self.expected(key, "a list of strings", value));
        };
        let mut out = Vec::with_capacity(list.len());
        for v in list {
            let Data::Text(text) = &v.data else { return Err(self.expected(key, "a string", v)) };
            out.push(text.as_str());
        }
        self.record(key, || {
            ResolvedValue::List(out.iter().map(|t| ResolvedValue::Text(t.to_string())).collect())
        });
        Ok(Some(out))
    }

    /// A value evaluated on loading.
    pub fn quantity(&self, key: &str, value: &Value) -> Result<Quantity> {
        match &value.data {
            Data::Number(x) => Ok(Quantity::Number(*x)),
            Data::Bool(b) => Ok(Quantity::Flag(*b)),
            Data::Text(text) => self.context().evaluate(text, value.span).map_err(|d| self.noted(d)),
            Data::List(list) => {
                let n = list.len();
                if !(2..=3).contains(&n) {
                    return Err(
                        self.at(value.span, format!("`{key}`: a vector has 2 or 3 components, found {n}"))
                    );
                }
                let mut v = [0.0; 3];
                for (x, c) in v.iter_mut().zip(list) {
                    *x = self.scalar(key, c, false)?;
                }
                Ok(Quantity::Vector { v, n })
            }
            Data::Table(_) => Err(self.expected(key, "a number or a vector", value)),
        }
    }

    /// The index of a repeated element put to an error.
    pub(super) fn noted(&self, d: crate::Diagnostic) -> crate::Diagnostic {
        match &self.element.locals {
            Some(locals) => d.note(locals.describe()),
            None => d,
        }
    }

    /// One number of a value.
    pub(super) fn scalar(&self, key: &str, value: &Value, infinite: bool) -> Result<f64> {
        let x = match &value.data {
            Data::Number(x) => *x,
            Data::Text(_) => match self.quantity(key, value)? {
                Quantity::Number(x) => x,
                Quantity::Flag(b) => {
                    return Err(self.at(value.span, format!("`{key}`: expected a number, found {b}")));
                }
                Quantity::Vector { n, .. } => {
                    return Err(
                        self.at(value.span, format!("`{key}`: expected a number, found a vector of {n}"))
                    );
                }
            },
            _ => return Err(self.expected(key, "a number", value)),
        };
        if x.is_nan() || (x.is_infinite() && !infinite) {
            return Err(self.at(value.span, format!("`{key}` of {} must be finite, it is {x}", self.title())));
        }
        Ok(x)
    }

    fn number_list(&self, key: &str, value: &Value, infinite: bool) -> Result<Vec<f64>> {
        match &value.data {
            Data::List(list) => list.iter().map(|v| self.scalar(key, v, infinite)).collect(),
            Data::Text(_) => match self.quantity(key, value)? {
                Quantity::Vector { v, n } => {
                    if v[..n].iter().any(|x| !x.is_finite()) {
                        return Err(
                            self.at(value.span, format!("`{key}` of {} must be finite", self.title()))
                        );
                    }
                    Ok(v[..n].to_vec())
                }
                _ => Err(self.at(value.span, format!("`{key}`: expected a list of numbers, found a number"))),
            },
            _ => Err(self.expected(key, "a list of numbers", value)),
        }
    }
}
