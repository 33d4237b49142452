//! The sections of a file, its header, and the rules for names.

use super::Done;
use sarrus_model::dimension::Dimension;
use sarrus_model::expr::{Quantity, RESERVED, is_name};
use sarrus_model::scope::ElementScope;
use sarrus_model::suggest::did_you_mean;
use sarrus_model::{Data, Diagnostic, Space, Span, Table, Value};
use std::sync::Arc;

/// A top-level key.
#[derive(Clone, Copy, Debug)]
pub struct SectionInfo {
    /// As written in the file.
    pub name: &'static str,
    /// One line on what it holds.
    pub doc: &'static str,
    /// True if a `repeat` may hold it.
    pub repeats: bool,
}

const fn section(name: &'static str, doc: &'static str, repeats: bool) -> SectionInfo {
    SectionInfo { name, doc, repeats }
}

/// Every top-level key.
pub const SECTIONS: &[SectionInfo] = &[
    section("format", "the format of the file: \"sarrus/1\"", false),
    section("name", "the model's name; by default the file's", false),
    section("note", "a remark, kept in reports", true),
    section("extra", "data of other programs, not looked at", true),
    section("space", "\"spatial\" or \"planar\"", false),
    section("gravity", "acceleration of free fall (m/s²)", false),
    section("parameters", "numbers, vectors and flags with a name", true),
    section("points", "construction marks in the model pose", true),
    section("ground", "markers and shapes of the fixed body", false),
    section("bodies", "what has mass", true),
    section("flexible", "what has mass and bends", true),
    section("joints", "what connects two bodies", true),
    section("constraints", "other conditions on positions and velocities", true),
    section("drivers", "motions prescribed in time", true),
    section("forces", "what pulls and pushes", true),
    section("contacts", "what touches what", true),
    section("controllers", "what has states of its own", true),
    section("measures", "what is computed from the motion", true),
    section("events", "what happens when a condition becomes true", true),
    section("initial", "how the motion starts, kept exactly", true),
    section("guess", "how the motion starts, roughly", true),
    section("run", "how the motion is computed", false),
    section("output", "what is written", false),
    section("view", "what is drawn", false),
    section("cases", "variants of the model", false),
    section("tables", "functions given by points", true),
    section("functions", "functions given by expressions", false),
    section("repeat", "sections written once for many indices", false),
    section("include", "other files as parts of this one", true),
    section("materials", "densities and stiffnesses", true),
    section("sections", "cross sections of flexible members", true),
    section("fluids", "what bodies float and swim in", true),
];

/// Returns whether a key is a section, and which.
pub fn info(name: &str) -> Option<&'static SectionInfo> {
    SECTIONS.iter().find(|s| s.name == name)
}

/// Refuses unknown sections.
pub fn check(root: &Table, is_root: bool) -> Done {
    if !is_root {
        header(root)?;
    }
    for entry in &root.entries {
        if info(&entry.key).is_none() {
            let names = SECTIONS.iter().map(|s| s.name);
            // the one singular that is not near its plural
            let key = if &*entry.key == "body" { "bodys" } else { &entry.key };
            return Err(Diagnostic::new(entry.key_span, format!("there is no section `{}`", entry.key))
                .maybe_hint(did_you_mean(key, names)));
        }
    }
    Ok(())
}

/// `format` and `space`.
pub fn header(root: &Table) -> Done<Space> {
    let top = Span { file: root.span.file, start: 0, end: 0 };
    let Some(format) = root.get("format") else {
        return Err(Diagnostic::new(top, "the file does not say its format")
            .hint("it must begin with format = \"sarrus/1\""));
    };
    match text(format, "format")? {
        "sarrus/1" => {}
        "sarrus-study/1" => {
            return Err(Diagnostic::new(format.span, "this is a study, not a model")
                .hint("a study names its model by `model`"));
        }
        other => {
            return Err(Diagnostic::new(format.span, format!("the format `{other}` is not known"))
                .hint("this version reads \"sarrus/1\""));
        }
    }
    let Some(space) = root.get("space") else { return Ok(Space::Spatial) };
    match text(space, "space")? {
        "spatial" => Ok(Space::Spatial),
        "planar" => Ok(Space::Planar),
        other => Err(Diagnostic::new(space.span, format!("`space` cannot be `{other}`"))
            .hint("it is \"spatial\" or \"planar\"")),
    }
}

/// `gravity`, or what holds without it.
pub fn gravity(root: &Table, context: &ElementScope<'_>, space: Space) -> Done<[f64; 3]> {
    let planar = space == Space::Planar;
    let Some(value) = root.get("gravity") else {
        return Ok(if planar { [0.0, -9.81, 0.0] } else { [0.0, 0.0, -9.81] });
    };
    let wanted = if planar { 2 } else { 3 };
    let free_fall = Dimension::of_unit("m/s²").unwrap_or_default();
    context.check_dimension(value, &[free_fall], &|| "`gravity`".into())?;
    match context.quantity(value)? {
        Quantity::Vector { v, n } if n == wanted && v.iter().all(|x| x.is_finite()) => Ok(v),
        _ => Err(Diagnostic::new(value.span, format!("`gravity`: expected {wanted} finite numbers"))
            .hint(if planar { "such as [0, -9.81]" } else { "such as [0, 0, -9.81]" })),
    }
}

/// A value that must be a string.
pub fn text<'a>(value: &'a Value, key: &str) -> Done<&'a str> {
    match &value.data {
        Data::Text(t) => Ok(t.as_str()),
        _ => Err(Diagnostic::new(
            value.span,
            format!("`{key}`: expected a string, found {}", value.describe()),
        )
        .maybe_hint(Diagnostic::example(key, "a string"))),
    }
}

/// A value that must be a table.
pub fn table<'a>(value: &'a Value, what: &str) -> Done<&'a Arc<Table>> {
    value.as_table().ok_or_else(|| {
        Diagnostic::new(value.span, format!("`{what}`: expected a table, found {}", value.describe()))
            .maybe_hint(Diagnostic::example(what, "a table"))
    })
}

/// Refuses keys that are not listed.
pub fn known(table: &Table, what: &str, keys: &[&str]) -> Done {
    match table.entries.iter().find(|e| !keys.contains(&&*e.key)) {
        None => Ok(()),
        Some(e) => {
            let hint = did_you_mean(&e.key, keys.iter().copied())
                .unwrap_or_else(|| format!("it takes: {}", keys.join(" ")));
            Err(Diagnostic::new(e.key_span, format!("{what} has no key `{}`", e.key)).hint(hint))
        }
    }
}

/// The error for a name that cannot be one. Dots stand in the names of a resolved file.
pub fn bad_name(name: &str, what: &str, span: Span) -> Option<Diagnostic> {
    if name.is_empty() || !name.split('.').all(is_name) {
        return Some(
            Diagnostic::new(span, format!("`{name}` cannot be the name of a {what}"))
                .hint("a name has letters, digits and _, and does not begin with a digit"),
        );
    }
    let head = name.split('.').next().unwrap_or(name);
    RESERVED.contains(&head).then(|| {
        Diagnostic::new(span, format!("`{head}` cannot be the name of a {what}: it is reserved"))
            .hint(format!("reserved are {}", RESERVED.join(" ")))
    })
}

/// The error for a name that is taken.
pub fn twice(name: &str, what: &str, span: Span, other: &str, at: Span) -> Diagnostic {
    let message = if what == other {
        format!("there are two {what}s `{name}`").replace("bodys", "bodies")
    } else {
        format!("{what} `{name}` has the name of a {other}")
    };
    Diagnostic::new(span, message)
        .hint("names of parameters, bodies, joints, forces and the like must differ")
        .also(at, format!("the {other} `{name}` is defined here"))
}
