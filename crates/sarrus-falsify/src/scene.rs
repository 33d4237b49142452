//! A model file as data: what the generator writes, transformations change and the shrinker takes apart.

use std::fmt::Write as _;

/// A value of a model file.
#[derive(Clone, Debug, PartialEq)]
pub enum SceneValue {
    /// A number.
    Number(f64),
    /// A string: a name or an expression.
    Text(String),
    /// `true` or `false`.
    Flag(bool),
    /// A list.
    List(Vec<SceneValue>),
    /// A table.
    Table(SceneTable),
    /// TOML as it is written, such as an example of a registry.
    Raw(String),
}

/// Keys with their values, in the order of the file.
pub type SceneTable = Vec<(String, SceneValue)>;

impl From<f64> for SceneValue {
    fn from(x: f64) -> SceneValue {
        SceneValue::Number(x)
    }
}

impl From<&str> for SceneValue {
    fn from(text: &str) -> SceneValue {
        SceneValue::Text(text.into())
    }
}

impl From<String> for SceneValue {
    fn from(text: String) -> SceneValue {
        SceneValue::Text(text)
    }
}

impl From<bool> for SceneValue {
    fn from(flag: bool) -> SceneValue {
        SceneValue::Flag(flag)
    }
}

impl<T: Into<SceneValue>> From<Vec<T>> for SceneValue {
    fn from(list: Vec<T>) -> SceneValue {
        SceneValue::List(list.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<SceneValue>, const N: usize> From<[T; N]> for SceneValue {
    fn from(list: [T; N]) -> SceneValue {
        SceneValue::List(list.into_iter().map(Into::into).collect())
    }
}

/// A table from `key => value` pairs.
#[macro_export]
macro_rules! table {
    ($($key:expr => $value:expr),* $(,)?) => {{
        let table: $crate::scene::SceneTable = vec![$(($key.to_string(), $crate::scene::SceneValue::from($value))),*];
        table
    }};
}

impl From<SceneTable> for SceneValue {
    fn from(table: SceneTable) -> SceneValue {
        SceneValue::Table(table)
    }
}

/// The value of a key.
pub fn get<'a>(table: &'a SceneTable, key: &str) -> Option<&'a SceneValue> {
    table.iter().find(|(k, _)| k == key).map(|(_, v)| v)
}

/// Sets a key, in place of the value it has.
pub fn set(table: &mut SceneTable, key: &str, value: impl Into<SceneValue>) {
    match table.iter_mut().find(|(k, _)| k == key) {
        Some((_, old)) => *old = value.into(),
        None => table.push((key.to_string(), value.into())),
    }
}

/// Removes a key.
pub fn unset(table: &mut SceneTable, key: &str) {
    table.retain(|(k, _)| k != key);
}

impl SceneValue {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            SceneValue::Number(x) => Some(*x),
            _ => None,
        }
    }

    /// The numbers, if it is a list of them.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        match self {
            SceneValue::List(list) => list.iter().map(SceneValue::number).collect(),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            SceneValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Calls `f` with every number in it.
    pub fn each_number(&mut self, f: &mut dyn FnMut(&mut f64)) {
        match self {
            SceneValue::Number(x) => f(x),
            SceneValue::List(list) => list.iter_mut().for_each(|v| v.each_number(f)),
            SceneValue::Table(table) => table.iter_mut().for_each(|(_, v)| v.each_number(f)),
            SceneValue::Text(_) | SceneValue::Flag(_) | SceneValue::Raw(_) => {}
        }
    }

    /// Calls `f` with every string in it.
    pub fn each_text(&mut self, f: &mut dyn FnMut(&mut String)) {
        match self {
            SceneValue::Text(text) | SceneValue::Raw(text) => f(text),
            SceneValue::List(list) => list.iter_mut().for_each(|v| v.each_text(f)),
            SceneValue::Table(table) => table.iter_mut().for_each(|(_, v)| v.each_text(f)),
            SceneValue::Number(_) | SceneValue::Flag(_) => {}
        }
    }

    /// As TOML on one line.
    pub fn toml(&self) -> String {
        match self {
            SceneValue::Number(x) => number(*x),
            SceneValue::Text(text) => quoted(text),
            SceneValue::Flag(flag) => flag.to_string(),
            SceneValue::List(list) => {
                format!("[{}]", list.iter().map(SceneValue::toml).collect::<Vec<_>>().join(", "))
            }
            SceneValue::Table(table) => {
                let pairs: Vec<String> =
                    table.iter().map(|(k, v)| format!("{} = {}", key(k), v.toml())).collect();
                format!("{{ {} }}", pairs.join(", "))
            }
            SceneValue::Raw(text) => text.clone(),
        }
    }
}

fn number(x: f64) -> String {
    // whole numbers without a point, all else by the shortest digits that read back
    match x {
        0.0 => "0".into(),
        x if x.fract() == 0.0 && x.abs() < 1e6 => format!("{x:.0}"),
        x => format!("{x:?}"),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if name.chars().all(plain) { name.to_string() } else { quoted(name) }
}

/// A named entry of a section.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneElement {
    /// `bodies`, `joints`, ...
    pub section: &'static str,
    /// Its name.
    pub name: String,
    /// Its table, or an expression.
    pub value: SceneValue,
}

impl SceneElement {
    /// Its keys; none where it is no table.
    pub fn keys(&self) -> Option<&SceneTable> {
        match &self.value {
            SceneValue::Table(table) => Some(table),
            _ => None,
        }
    }

    /// A key of its table.
    pub fn get(&self, key: &str) -> Option<&SceneValue> {
        self.keys().and_then(|table| get(table, key))
    }

    /// Its kind; empty where the file leaves it out.
    pub fn kind(&self) -> &str {
        self.get("kind").and_then(SceneValue::text).unwrap_or("")
    }
}

/// Values that a closed form gives for a column, one per row of the results.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The column.
    pub column: String,
    /// Its values.
    pub values: Vec<f64>,
    /// The largest error that the method may have.
    pub tolerance: f64,
}

/// A model file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneFile {
    /// Holds what was generated: `tree`, `loop`, ...
    pub flavour: &'static str,
    /// True if it is planar.
    pub planar: bool,
    /// Gravity in world axes.
    pub gravity: [f64; 3],
    /// Named entries.
    pub elements: Vec<SceneElement>,
    /// `[initial]`
    pub initial: SceneTable,
    /// `[run]`
    pub run: SceneTable,
    /// Time between two rows \[s\].
    pub every: f64,
    /// Files that it includes, with their names.
    pub files: Vec<(String, String)>,
    /// Closed forms.
    pub expected: Vec<Expected>,
}

impl SceneFile {
    /// The model file.
    pub fn toml(&self) -> String {
        let mut out = String::from("format = \"sarrus/1\"\n");
        if self.planar {
            out.push_str("space = \"planar\"\n");
        }
        let _ = writeln!(out, "gravity = {}", self.vector(self.gravity).toml());
        for e in &self.elements {
            let _ = writeln!(out, "{}.{} = {}", e.section, key(&e.name), e.value.toml());
        }
        let _ = writeln!(out, "output.every = {}", number(self.every));
        for (section, table) in [("initial", &self.initial), ("run", &self.run)] {
            if !table.is_empty() {
                let _ = writeln!(out, "\n[{section}]");
            }
            for (k, v) in table {
                let _ = writeln!(out, "{} = {}", key(k), v.toml());
            }
        }
        out
    }

    /// A vector with as many entries as the space has.
    pub fn vector(&self, v: [f64; 3]) -> SceneValue {
        SceneValue::from(v[..if self.planar { 2 } else { 3 }].to_vec())
    }

    /// Time at the end \[s\].
    pub fn t_end(&self) -> f64 {
        get(&self.run, "t_end").and_then(SceneValue::number).unwrap_or(10.0)
    }

    /// Entries of a section.
    pub fn section<'a>(&'a self, section: &'a str) -> impl Iterator<Item = &'a SceneElement> {
        self.elements.iter().filter(move |e| e.section == section)
    }

    /// Returns whether positions or velocities may bend or jump at an instant.
    pub fn is_smooth(&self) -> bool {
        let jumps = ["contacts", "events"];
        let options = ["limits", "lock_at", "clearance", "only", "backlash", "period", "surface"];
        let text = self.toml();
        !self.elements.iter().any(|e| jumps.contains(&e.section))
            && !options.iter().any(|o| tokens(&text).any(|t| t == *o))
    }

    /// Applies `f` to each identifier of all strings and keys that may be a name.
    pub fn rename(&mut self, f: &dyn Fn(&str) -> Option<String>) {
        let text = |s: &mut String| *s = replaced(s, f);
        for e in &mut self.elements {
            text(&mut e.name);
            e.value.each_text(&mut |s| text(s));
        }
        for (k, v) in &mut self.initial {
            text(k);
            v.each_text(&mut |s| text(s));
        }
    }

    /// Returns whether an entry mentions a name.
    pub fn mentions(value: &SceneValue, name: &str) -> bool {
        let mut found = false;
        value.clone().each_text(&mut |s| found |= tokens(s).any(|t| t == name));
        found
    }

    /// Returns whether a table has a key, in itself or in its tables.
    pub fn has_key(value: &SceneValue, key: &str) -> bool {
        match value {
            SceneValue::Table(table) => table.iter().any(|(k, v)| k == key || SceneFile::has_key(v, key)),
            SceneValue::List(list) => list.iter().any(|v| SceneFile::has_key(v, key)),
            SceneValue::Raw(text) => tokens(text).any(|t| t == key),
            _ => false,
        }
    }

    /// This scene without an element and what mentions it.
    pub fn without(&self, name: &str) -> SceneFile {
        let mut scene = self.clone();
        let mut gone = vec![name.to_string()];
        while let Some(name) = gone.pop() {
            scene.elements.retain(|e| {
                let keep = e.name != name && !SceneFile::mentions(&e.value, &name);
                if !keep && e.name != name {
                    gone.push(e.name.clone());
                }
                keep
            });
            scene.initial.retain(|(k, _)| !tokens(k).any(|t| t == name));
        }
        scene
    }
}

/// The identifiers of a text; a dot ends one.
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|t| !t.is_empty())
}

/// A text with its identifiers replaced; what follows a dot is a part of another name, and stays.
fn replaced(text: &str, f: &dyn Fn(&str) -> Option<String>) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut out, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        if length == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let (token, later) = rest.split_at(length);
        let follows_dot = out.ends_with('.');
        match f(token).filter(|_| !follows_dot) {
            Some(new) => out.push_str(&new),
            None => out.push_str(token),
        }
        rest = later;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_whole_and_not_behind_dots() {
        let f = |t: &str| (t == "b1").then(|| "zz".to_string());
        assert_eq!(replaced("b1.b1 + b11*b1", &f), "zz.b1 + b11*zz");
    }

    #[test]
    fn an_element_goes_with_all_that_depends_on_it() {
        let mut scene = SceneFile { initial: table!["j.rate" => 1.0, "b.vx" => 2.0], ..SceneFile::default() };
        let mut add = |section, name: &str, value: SceneTable| {
            scene.elements.push(SceneElement { section, name: name.into(), value: value.into() });
        };
        add("bodies", "a", table!["mass" => 1.0]);
        add("bodies", "b", table!["mass" => 1.0]);
        add("joints", "j", table!["bodies" => ["ground", "a"]]);
        add("forces", "f", table!["joint" => "j"]);
        let left = scene.without("a");
        assert_eq!(left.elements.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), ["b"]);
        assert_eq!(left.initial.len(), 1);
    }
}
