//! Names, bodies, and points on bodies.

use super::Reader;
use crate::Result;
use crate::diagnostic::Span;
use crate::expr::is_name;
use crate::model::{Model, Section};
use crate::record::ResolvedValue;
use crate::transform::{Frame, unit};
use crate::value::{Data, Value};

/// A body that an element names.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyRef {
    /// Its full name; `ground` for the ground.
    pub name: String,
    /// Marks where it is named.
    pub span: Span,
    /// Set where it stands for a body of an included file (its ground, or a replaced one): where that
    /// body's own frame is in the model pose. Readings of the model pose refer to it.
    pub stand_in: Option<Frame>,
}

impl BodyRef {
    /// Returns whether it is the ground.
    pub fn is_ground(&self) -> bool {
        self.name == "ground"
    }
}

/// A place on a body.
#[derive(Clone, Debug, PartialEq)]
pub enum BodyPoint {
    /// In the body's frame (m).
    At([f64; 3]),
    /// A marker, by its name on the body.
    Marker(String),
}

/// Names of one side of something, with where they stand.
pub type SideNames = Vec<(String, Span)>;

impl<'a> Reader<'a> {
    /// A name, with the prefix of the file; whether it exists is for the caller to say.
    pub fn name(&self, key: &str) -> Result<Option<(String, Span)>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let name = self.model.resolve(self.scope(), &self.own_name(key, value)?);
        self.record(key, || ResolvedValue::Text(name.clone()));
        Ok(Some((name, value.span)))
    }

    /// A name without a prefix: of a material or of something that does not belong to a file.
    pub fn plain_name(&self, key: &str) -> Result<Option<(String, Span)>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let name = self.own_name(key, value)?;
        self.record(key, || ResolvedValue::Text(name.clone()));
        Ok(Some((name, value.span)))
    }

    /// A list of names, or one name, with the prefix of the file.
    pub fn names(&self, key: &str) -> Result<Vec<(String, Span)>> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let list = match &value.data {
            Data::List(list) => list.as_slice(),
            _ => std::slice::from_ref(value),
        };
        let mut out = Vec::with_capacity(list.len());
        for v in list {
            out.push((self.model.resolve(self.scope(), &self.own_name(key, v)?), v.span));
        }
        self.record(key, || {
            ResolvedValue::List(out.iter().map(|(n, _)| ResolvedValue::Text(n.clone())).collect())
        });
        Ok(out)
    }

    /// Two sides, each a name, a list of names, or `*`. A name is that of a body or member, or of something on one: `block.face`.
    /// The ground of an included file is what its `[ground]` brings to the body that it becomes: `ground.left.ground`. `*` of an
    /// included file is all of that file: `left.*`.
    pub fn sides(&self, key: &str) -> Result<Option<[SideNames; 2]>> {
        let Some([a, b]) = self.pair(key, "two sides")? else { return Ok(None) };
        let side = |value: &'a Value| -> Result<SideNames> {
            let list = match &value.data {
                Data::List(list) if list.is_empty() => {
                    let message = format!("`{key}` of {}: a side has no body", self.title());
                    return Err(self.at(value.span, message));
                }
                Data::List(list) => list.as_slice(),
                _ => std::slice::from_ref(value),
            };
            list.iter().map(|v| Ok((self.side_name(key, v)?, v.span))).collect()
        };
        Ok(Some([side(a)?, side(b)?]))
    }

    /// The full name of a side: of the body that one of an included file stands for, if it does.
    fn side_name(&self, key: &str, value: &Value) -> Result<String> {
        let prefix = &self.scope().prefix;
        if let Data::Text(text) = &value.data {
            let names = |file: &str| file.strip_suffix('.').is_some_and(|file| file.split('.').all(is_name));
            if let Some(file) = text.as_str().strip_suffix('*').filter(|file| file.is_empty() || names(file))
            {
                return Ok(format!("{prefix}{file}*"));
            }
        }
        let own = self.own_name(key, value)?;
        let full = format!("{prefix}{own}");
        Ok(match self.model.alias(&full) {
            None => full,
            Some((own, alias, part)) if own.ends_with(".ground") => {
                let shape =
                    crate::model::ground_shape(&format!("{own}."), (!part.is_empty()).then_some(part));
                format!("{}.{shape}", alias.body)
            }
            Some((_, alias, "")) => alias.body.clone(),
            Some((_, alias, part)) => format!("{}.{part}", alias.body),
        })
    }

    /// A name as the file writes it, `{…}` expanded.
    fn own_name(&self, key: &str, value: &Value) -> Result<String> {
        let Data::Text(text) = &value.data else { return Err(self.expected(key, "a name", value)) };
        let name = self.context().expand(text, value.span).map_err(|d| self.noted(d))?;
        if name.is_empty() || !name.split('.').all(is_name) {
            return Err(self.at(value.span, format!("`{key}` of {}: `{name}` is not a name", self.title())));
        }
        Ok(name)
    }

    /// An element of one of the sections that must exist, by name.
    pub fn element_named(
        &self,
        key: &str,
        sections: &[Section],
    ) -> Result<Option<(&'a crate::Element, Span)>> {
        let Some((name, span)) = self.name(key)? else { return Ok(None) };
        match self.model.find(&name).filter(|e| sections.contains(&e.section)) {
            Some(element) => Ok(Some((element, span))),
            None => Err(self.noted(self.model.unknown(&name, span, sections))),
        }
    }

    /// A body that may be left out.
    pub fn body(&self, key: &str) -> Result<Option<BodyRef>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let body = self.body_ref(key, value)?;
        self.record(key, || ResolvedValue::Text(body.name.clone()));
        Ok(Some(body))
    }

    /// A body that must be given.
    pub fn require_body(&self, key: &str) -> Result<BodyRef> {
        self.body(key)?.ok_or_else(|| self.missing(key))
    }

    /// A list of bodies of any length.
    pub fn bodies(&self, key: &str) -> Result<Vec<BodyRef>> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let Data::List(list) = &value.data else {
            return Err(self.expected(key, "a list of bodies", value));
        };
        let bodies = list.iter().map(|v| self.body_ref(key, v)).collect::<Result<Vec<_>>>()?;
        self.record(key, || {
            ResolvedValue::List(bodies.iter().map(|b| ResolvedValue::Text(b.name.clone())).collect())
        });
        Ok(bodies)
    }

    /// The two bodies of an element; the same one twice is an error.
    pub fn bodies2(&self, key: &str) -> Result<[BodyRef; 2]> {
        if !self.has(key) {
            return Err(self.missing(key));
        }
        let list = self.bodies(key)?;
        let n = list.len();
        let pair: [BodyRef; 2] = list.try_into().map_err(|_| {
            self.error(key, format!("`{key}` of {}: expected two bodies, found {n}", self.title()))
        })?;
        if pair[0].name == pair[1].name {
            let message = format!("{} connects `{}` to itself", self.title(), pair[0].name);
            return Err(self.at(pair[1].span, message));
        }
        Ok(pair)
    }

    fn body_ref(&self, key: &str, value: &Value) -> Result<BodyRef> {
        let own = self.own_name(key, value)?;
        let span = value.span;
        if own == "ground" && self.scope().prefix.is_empty() {
            return Ok(BodyRef { name: own, span, stand_in: None });
        }
        let full = format!("{}{own}", self.scope().prefix);
        let (name, stand_in) = match self.model.aliases.get(&full) {
            Some(alias) => (alias.body.clone(), Some(alias.frame.clone())),
            None => {
                // a mirrored file means the mirror images of its own frames
                let mirrored =
                    self.transform().is_reflected().then(|| self.model.placement_of(&full)).flatten();
                let frame = mirrored.and_then(|placement| placement.mirrored.clone());
                (full, frame)
            }
        };
        let known = || self.model.body(&name).is_some() || self.model.flexible_of(&name).is_some();
        if name != "ground" && !known() {
            return Err(self.noted(self.model.unknown(&name, span, &[Section::Bodies])));
        }
        Ok(BodyRef { name, span, stand_in })
    }

    /// A place on one body: `on`.
    pub fn local(&self, key: &str, body: &BodyRef) -> Result<Option<BodyPoint>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let local = self.local_of(key, value, body)?;
        self.record(key, || self.plain_local(&local));
        Ok(Some(local))
    }

    /// A place on each of two bodies: `on = [[0.2, 0], "tip"]`.
    pub fn locals2(&self, key: &str, bodies: &[BodyRef; 2]) -> Result<Option<[BodyPoint; 2]>> {
        let Some([a, b]) = self.pair(key, "two places, one on each body")? else { return Ok(None) };
        let pair = [self.local_of(key, a, &bodies[0])?, self.local_of(key, b, &bodies[1])?];
        self.record(key, || ResolvedValue::List(pair.iter().map(|l| self.plain_local(l)).collect()));
        Ok(Some(pair))
    }

    /// A vector in the axes of a body, reflected by a mirror: `force_on`.
    pub fn local_vector(&self, key: &str, body: &BodyRef) -> Result<Option<[f64; 3]>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let v = self.rotated(self.transform().local(self.raw_vector(key, value)?), body)?;
        self.record(key, || ResolvedValue::vector(v, self.is_planar()));
        Ok(Some(v))
    }

    /// An axis or other vector of rotation in the axes of a body, reflected and reversed by a mirror.
    pub fn local_axial(&self, key: &str, body: &BodyRef) -> Result<Option<[f64; 3]>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let v = self.rotated(self.transform().local_axial(self.raw_vector(key, value)?), body)?;
        self.record(key, || ResolvedValue::vector(v, self.is_planar()));
        Ok(Some(v))
    }

    /// A direction on each of two bodies, of length 1: `axis_on`. `axial`: an axis of rotation, which a
    /// mirror also reverses.
    pub fn local_directions2(
        &self,
        key: &str,
        bodies: &[BodyRef; 2],
        axial: bool,
    ) -> Result<Option<[[f64; 3]; 2]>> {
        let Some(values) = self.pair(key, "two directions, one on each body")? else { return Ok(None) };
        let mut pair = [[0.0; 3]; 2];
        for (k, value) in values.into_iter().enumerate() {
            let raw = self.raw_vector(key, value)?;
            let t = self.transform();
            let own = if axial { t.local_axial(raw) } else { t.local(raw) };
            pair[k] = self.rotated(own, &bodies[k])?;
        }
        self.record(key, || {
            ResolvedValue::List(pair.iter().map(|v| ResolvedValue::vector(*v, self.is_planar())).collect())
        });
        let units = pair.map(unit);
        match units {
            [Some(a), Some(b)] => Ok(Some([a, b])),
            _ => Err(self.no_length(key)),
        }
    }

    /// A direction on one body, of length 1.
    pub fn local_direction(&self, key: &str, body: &BodyRef, axial: bool) -> Result<Option<[f64; 3]>> {
        let v = if axial { self.local_axial(key, body)? } else { self.local_vector(key, body)? };
        v.map(|v| unit(v).ok_or_else(|| self.no_length(key))).transpose()
    }

    /// A point of the element's own body (`com`, a marker, a shape), in its frame.
    pub fn own_point(&self, key: &str) -> Result<Option<[f64; 3]>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let p = self.transform().local(self.raw_vector(key, value)?);
        self.record(key, || ResolvedValue::vector(p, self.is_planar()));
        Ok(Some(p))
    }

    /// A list of exactly two values.
    fn pair(&self, key: &str, what: &str) -> Result<Option<[&'a Value; 2]>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.as_list() {
            Some([a, b]) => Ok(Some([a, b])),
            Some(list) => Err(self.at(
                value.span,
                format!("`{key}` of {}: expected {what}, found {}", self.title(), list.len()),
            )),
            None => Err(self.expected(key, &format!("a list of {what}"), value)),
        }
    }

    fn plain_local(&self, local: &BodyPoint) -> ResolvedValue {
        match local {
            BodyPoint::At(p) => ResolvedValue::vector(*p, self.is_planar()),
            BodyPoint::Marker(name) => ResolvedValue::Text(name.clone()),
        }
    }

    fn local_of(&self, key: &str, value: &Value, body: &BodyRef) -> Result<BodyPoint> {
        if let Data::Text(text) = &value.data {
            let name = self.context().expand(text, value.span).map_err(|d| self.noted(d))?;
            if let Some(marker) = self.marker(&name, body) {
                return Ok(BodyPoint::Marker(marker));
            }
            // a bare name that is neither: the likelier mistake is a misspelt marker
            let known = |n: &str| crate::expr::Scope::lookup(&self.context(), n).is_some();
            if name.split('.').all(is_name) && !known(name.split('.').next().unwrap_or("")) {
                let markers = self.model.markers(&body.name);
                return Err(self
                    .at(value.span, format!("body `{}` has no marker `{name}`", body.name))
                    .maybe_hint(crate::suggest::did_you_mean(&name, markers)));
            }
        }
        let p = self.transform().local(self.raw_vector(key, value)?);
        match &body.stand_in {
            None => Ok(BodyPoint::At(p)),
            Some(frame) => Ok(BodyPoint::At(self.model.frame_of(&body.name)?.local(frame.point(p)))),
        }
    }

    /// A marker's name on the body: `tip`, or `crank.tip` in full.
    fn marker(&self, name: &str, body: &BodyRef) -> Option<String> {
        if !name.split('.').all(is_name) {
            return None;
        }
        let on_body = |marker: &str| self.model.has_marker(&body.name, marker).then(|| marker.to_string());
        // of the body that this one stands for
        let full = self.model.resolve(self.scope(), name);
        let own = full.strip_prefix(&format!("{}.", body.name)).and_then(on_body);
        own.or_else(|| {
            let stand_ins = self.model.aliases.iter().filter(|(_, a)| a.body == body.name);
            let mut attached = stand_ins.map(|(own, _)| format!("{own}.{name}"));
            attached.find(|m| m.starts_with(&self.scope().prefix) && self.model.attached.contains(m))
        })
        .or_else(|| on_body(name))
    }

    /// A vector in the axes of the body that is meant, from those of the body it stands for.
    fn rotated(&self, v: [f64; 3], body: &BodyRef) -> Result<[f64; 3]> {
        match &body.stand_in {
            None => Ok(v),
            Some(frame) => Ok(self.model.frame_of(&body.name)?.local_vector(frame.vector(v))),
        }
    }
}

impl Model {
    /// Returns whether a body carries a marker.
    pub fn has_marker(&self, body: &str, marker: &str) -> bool {
        self.markers(body).iter().any(|m| m == marker)
    }

    /// The markers of a body or of `ground`, by their names on it.
    pub fn markers(&self, body: &str) -> Vec<String> {
        let mut out = Vec::new();
        let mut add = |element: &crate::Element, prefix: &str| {
            if let Some(Data::Table(markers)) = element.table.get("markers").map(|v| &v.data) {
                let context = Reader::open(self, element).context();
                let names = markers.keys().filter_map(|k| context.expand_key(k).ok());
                out.extend(names.map(|n| format!("{prefix}{n}")));
            }
        };
        if let Some(element) = self.body(body) {
            add(element, "");
        }
        for attachment in self.attachments.iter().filter(|a| a.body == body) {
            add(&attachment.element, &attachment.prefix);
        }
        out
    }
}
