//! The model as the file says it, after `if`, `repeat`, `include`, cases and `--set`.

use crate::Result;
use crate::diagnostic::{Diagnostic, Sources, Span};
use crate::materials::Material;
use crate::record::ValueRecorder;
use crate::scope::{Alias, ScopeData};
use crate::suggest::suggest;
use crate::transform::Frame;
use crate::value::{Table, Value};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, OnceLock};

/// Planar or spatial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// x right, y up; a body has 3 coordinates.
    Planar,
    /// z up; a body has a position and a unit quaternion.
    Spatial,
}

/// The sections that hold named elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// `[bodies]`
    Bodies,
    /// `[flexible]`
    Flexible,
    /// `[joints]`
    Joints,
    /// `[constraints]`
    Constraints,
    /// `[drivers]`
    Drivers,
    /// `[forces]`
    Forces,
    /// `[contacts]`
    Contacts,
    /// `[controllers]`
    Controllers,
    /// `[measures]`
    Measures,
    /// `[events]`
    Events,
    /// `[ground]`, and what stands in for a body of an included file
    Ground,
    /// `[run]`
    Run,
    /// `[output]`
    Output,
    /// `[view]`
    View,
    /// `[initial]`
    Initial,
    /// `[guess]`
    Guess,
    /// `[materials]`
    Materials,
    /// `[sections]`
    Sections,
    /// `[fluids]`
    Fluids,
    /// `[tables]`
    Tables,
    /// `[include]`
    Include,
}

impl Section {
    /// The families whose elements carry names of the common namespace.
    pub const ELEMENTS: [Section; 10] = [
        Section::Bodies,
        Section::Flexible,
        Section::Joints,
        Section::Constraints,
        Section::Drivers,
        Section::Forces,
        Section::Contacts,
        Section::Controllers,
        Section::Measures,
        Section::Events,
    ];

    /// As the file writes it.
    pub fn name(self) -> &'static str {
        match self {
            Section::Bodies => "bodies",
            Section::Flexible => "flexible",
            Section::Joints => "joints",
            Section::Constraints => "constraints",
            Section::Drivers => "drivers",
            Section::Forces => "forces",
            Section::Contacts => "contacts",
            Section::Controllers => "controllers",
            Section::Measures => "measures",
            Section::Events => "events",
            Section::Ground => "ground",
            Section::Run => "run",
            Section::Output => "output",
            Section::View => "view",
            Section::Initial => "initial",
            Section::Guess => "guess",
            Section::Materials => "materials",
            Section::Sections => "sections",
            Section::Fluids => "fluids",
            Section::Tables => "tables",
            Section::Include => "include",
        }
    }

    /// Returns what one entry is called: `body`, `joint`.
    pub fn singular(self) -> &'static str {
        match self {
            Section::Bodies => "body",
            Section::Flexible => "flexible member",
            Section::Joints => "joint",
            Section::Constraints => "constraint",
            Section::Drivers => "driver",
            Section::Forces => "force",
            Section::Contacts => "contact",
            Section::Controllers => "controller",
            Section::Measures => "measure",
            Section::Events => "event",
            Section::Materials => "material",
            Section::Sections => "section",
            Section::Fluids => "fluid",
            Section::Tables => "table",
            other => other.name(),
        }
    }
}

/// The index values of a repeated element.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Locals {
    /// The entry of `[repeat]`.
    pub entry: Arc<str>,
    /// Names and values, such as `i` = 3.
    pub values: Vec<(Arc<str>, f64)>,
}

impl Locals {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(n, _)| &**n == name).map(|(_, v)| *v)
    }

    /// `entry `links` of [repeat], i = 3`
    pub fn describe(&self) -> String {
        let values: Vec<String> = self.values.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        format!("in entry `{}` of [repeat], {}", self.entry, values.join(", "))
    }
}

/// A named thing: its table as written, and the scope in which its expressions stand.
#[derive(Clone, Debug)]
pub struct Element {
    /// The full name, with the prefix of its include.
    pub name: String,
    /// `kind`, or the section's default; `expression` for a measure that is a string.
    pub kind: String,
    /// Marks where it belongs.
    pub section: Section,
    /// The table as written; shared by all indices of a `repeat`.
    pub table: Arc<Table>,
    /// Marks where the name stands.
    pub span: Span,
    /// Index in [`Model::scopes`].
    pub scope: u32,
    /// Index values, where it is repeated.
    pub locals: Option<Arc<Locals>>,
}

impl Element {
    /// `joint `A``
    pub fn title(&self) -> String {
        match self.section {
            Section::Run | Section::Output | Section::View | Section::Ground => {
                format!("[{}]", self.section.name())
            }
            s => format!("{} `{}`", s.singular(), self.name),
        }
    }
}

/// An entry of `[initial]` or `[guess]`.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The full path: `A.angle`, `left.ball.velocity`; or a sum of columns, see [`sum_of_columns`].
    pub path: String,
    /// Marks where the path stands.
    pub span: Span,
    /// An element whose table has the one key `value`, to be read with [`crate::Reader::setting`].
    pub element: Element,
}

/// The terms of a sum of columns, such as `0.5*a.vx - b.vx`: factors and names. None where it is something else.
pub fn sum_of_columns(text: &str) -> Option<Vec<(f64, String)>> {
    let mut terms = Vec::new();
    let (mut sign, mut start) = (1.0, 0);
    for (i, c) in text.char_indices().filter(|(_, c)| matches!(c, '+' | '-')) {
        let term = text[start..i].trim();
        // 1e-5: the sign of an exponent
        if term.strip_suffix(['e', 'E']).is_some_and(|number| number.parse::<f64>().is_ok()) {
            continue;
        }
        if !term.is_empty() {
            terms.push((sign, term));
        } else if i > start || start > 0 || c == '+' {
            return None;
        }
        sign = if c == '-' { -1.0 } else { 1.0 };
        start = i + 1;
    }
    terms.push((sign, text[start..].trim()));
    let column = |(sign, term): (f64, &str)| {
        let (factor, name) = match term.split_once('*') {
            Some((factor, name)) => (factor.trim().parse().ok()?, name.trim()),
            None => (1.0, term),
        };
        let is_path = name.contains('.') && name.split('.').all(crate::expr::is_name);
        (is_path && f64::is_finite(factor)).then(|| (sign * factor, name.to_owned()))
    };
    terms.into_iter().map(column).collect()
}

/// The text of a sum of columns.
pub fn sum_text(terms: &[(f64, String)]) -> String {
    let mut out = String::new();
    for (factor, name) in terms {
        let size = if out.is_empty() { *factor } else { factor.abs() };
        out.push_str(match (out.is_empty(), *factor < 0.0) {
            (true, _) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        });
        if size == 1.0 {
            out.push_str(name);
        } else {
            let _ = write!(out, "{size:?}*{name}");
        }
    }
    out
}

/// Markers and shapes that a body gets from elsewhere: from `[ground]`, from an included file's ground,
/// or from a body of it that is replaced.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// The body that carries them.
    pub body: String,
    /// Holds what stands before a marker's name: `left.ground.` for an included file's, else nothing.
    pub prefix: String,
    /// The frame in which `on` is meant, in the model pose.
    pub frame: Frame,
    /// True if the shapes come too (not for a replaced body).
    pub shapes: bool,
    /// The table with `markers` and `shape`.
    pub element: Element,
}

/// The name of a shape of an included file's ground on the body that this becomes; `prefix` is that of its markers, `left.ground.`,
/// and `own` its name in the file. What the file itself includes keeps its place: `left.hub.ground`.
pub fn ground_shape(prefix: &str, own: Option<&str>) -> String {
    let ground = prefix.trim_end_matches('.');
    match own {
        None => ground.to_owned(),
        Some(own) if own.split('.').any(|part| part == "ground") => {
            format!("{}{own}", ground.strip_suffix("ground").unwrap_or(prefix))
        }
        Some(own) => format!("{prefix}{own}"),
    }
}

/// A variant of the model.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its remark.
    pub note: Option<String>,
    /// Marks where it stands.
    pub span: Span,
}

/// Marks where a name of the common namespace is.
#[derive(Clone, Copy, Debug)]
pub struct NameEntry {
    /// Its section.
    pub section: Section,
    /// Its position in the section's list.
    pub index: u32,
    /// Marks where the name stands.
    pub span: Span,
}

/// Marks where a body of a flexible member stands in the model pose.
#[derive(Clone, Debug)]
pub struct BodyPlacement {
    /// Its frame.
    pub frame: Frame,
    /// The frame that its file means, where that is mirrored: the mirror image of the frame there.
    pub mirrored: Option<Frame>,
}

/// A whole model.
#[derive(Clone, Debug)]
pub struct Model {
    /// `name`, or the file's.
    pub name: String,
    /// Planar or spatial.
    pub space: Space,
    /// In world axes (m/s²).
    pub gravity: [f64; 3],
    /// Holds what `[ground]` and the like give to bodies.
    pub attachments: Vec<Attachment>,
    /// `[bodies]`
    pub bodies: Vec<Element>,
    /// `[flexible]`
    pub flexible: Vec<Element>,
    /// `[joints]`
    pub joints: Vec<Element>,
    /// `[constraints]`
    pub constraints: Vec<Element>,
    /// `[drivers]`
    pub drivers: Vec<Element>,
    /// `[forces]`
    pub forces: Vec<Element>,
    /// `[contacts]`
    pub contacts: Vec<Element>,
    /// `[controllers]`
    pub controllers: Vec<Element>,
    /// `[measures]`
    pub measures: Vec<Element>,
    /// `[events]`
    pub events: Vec<Element>,
    /// `[initial]`
    pub initial: Vec<Setting>,
    /// `[guess]`
    pub guess: Vec<Setting>,
    /// `[run]`, with the case's keys laid over it; read with [`crate::settings::RunSettings::read`].
    pub run: Element,
    /// `[output]`, likewise.
    pub output: Element,
    /// `[view]`
    pub view: Element,
    /// `[materials]`, without the built-in ones.
    pub materials: Vec<Material>,
    /// `[sections]`, which have names of their own.
    pub sections: Vec<Element>,
    /// `[fluids]`, likewise.
    pub fluids: Vec<Element>,
    /// `[cases]`
    pub cases: Vec<Case>,
    /// The case that was asked for.
    pub case: Option<String>,
    /// `note` of the file.
    pub note: Option<String>,
    /// One per file instance; 0 is the model's own.
    pub scopes: Vec<ScopeData>,
    /// The texts.
    pub sources: Sources,
    /// Every element by its full name.
    pub names: HashMap<String, NameEntry>,
    /// Elements left out by `if`, by full name.
    pub removed: HashMap<String, Span>,
    /// Names that mean another body: `left.ground`, replaced bodies.
    pub aliases: HashMap<String, Alias>,
    /// Markers that such a body brings along, by its own full name: `left.ground.C`.
    pub attached: HashSet<String>,
    /// Marks where the bodies of flexible members stand in the model pose, by full name; known once the model is compiled.
    pub placements: OnceLock<HashMap<String, BodyPlacement>>,
    /// Holds what was read, for the resolved file; none unless asked for.
    pub recorder: Option<Arc<Mutex<ValueRecorder>>>,
}

impl Model {
    /// An empty model, to be filled by a loader or a builder.
    pub fn empty(name: impl Into<String>, space: Space) -> Self {
        let blank = |section: Section| Element {
            name: section.name().into(),
            kind: String::new(),
            section,
            table: Arc::default(),
            span: Span::NONE,
            scope: 0,
            locals: None,
        };
        Model {
            name: name.into(),
            space,
            gravity: [0.0; 3],
            attachments: Vec::new(),
            bodies: Vec::new(),
            flexible: Vec::new(),
            joints: Vec::new(),
            constraints: Vec::new(),
            drivers: Vec::new(),
            forces: Vec::new(),
            contacts: Vec::new(),
            controllers: Vec::new(),
            measures: Vec::new(),
            events: Vec::new(),
            initial: Vec::new(),
            guess: Vec::new(),
            run: blank(Section::Run),
            output: blank(Section::Output),
            view: blank(Section::View),
            materials: Vec::new(),
            sections: Vec::new(),
            fluids: Vec::new(),
            cases: Vec::new(),
            case: None,
            note: None,
            scopes: vec![ScopeData::default()],
            sources: Sources::default(),
            names: HashMap::new(),
            removed: HashMap::new(),
            aliases: HashMap::new(),
            attached: HashSet::new(),
            placements: OnceLock::new(),
            recorder: None,
        }
    }

    /// Returns whether the space is planar.
    pub fn is_planar(&self) -> bool {
        self.space == Space::Planar
    }

    /// The elements of a section; none for a section that is not a list of elements.
    pub fn elements(&self, section: Section) -> &[Element] {
        match section {
            Section::Bodies => &self.bodies,
            Section::Flexible => &self.flexible,
            Section::Sections => &self.sections,
            Section::Fluids => &self.fluids,
            Section::Joints => &self.joints,
            Section::Constraints => &self.constraints,
            Section::Drivers => &self.drivers,
            Section::Forces => &self.forces,
            Section::Contacts => &self.contacts,
            Section::Controllers => &self.controllers,
            Section::Measures => &self.measures,
            Section::Events => &self.events,
            _ => &[],
        }
    }

    /// The list of a section's elements, to add to.
    pub fn elements_mut(&mut self, section: Section) -> Option<&mut Vec<Element>> {
        Some(match section {
            Section::Bodies => &mut self.bodies,
            Section::Flexible => &mut self.flexible,
            Section::Sections => &mut self.sections,
            Section::Fluids => &mut self.fluids,
            Section::Joints => &mut self.joints,
            Section::Constraints => &mut self.constraints,
            Section::Drivers => &mut self.drivers,
            Section::Forces => &mut self.forces,
            Section::Contacts => &mut self.contacts,
            Section::Controllers => &mut self.controllers,
            Section::Measures => &mut self.measures,
            Section::Events => &mut self.events,
            _ => return None,
        })
    }

    /// The element with a full name.
    pub fn find(&self, name: &str) -> Option<&Element> {
        let named = self.names.get(name)?;
        self.elements(named.section).get(named.index as usize)
    }

    /// The body with a full name; none for `ground`.
    pub fn body(&self, name: &str) -> Option<&Element> {
        self.find(name).filter(|e| e.section == Section::Bodies)
    }

    /// The flexible member that a full name is, or one of whose bodies it names: `arm`, `arm.node2`. Whether there is
    /// such a body is known once the model is compiled.
    pub fn flexible_of(&self, name: &str) -> Option<&Element> {
        let own = |name: &str| self.find(name).filter(|e| e.section == Section::Flexible);
        own(name).or_else(|| own(name.rsplit_once('.')?.0))
    }

    /// The error for a name that is not there: left out by `if`, of another section, or misspelt.
    pub fn unknown(&self, name: &str, span: Span, sections: &[Section]) -> Diagnostic {
        let what = match sections {
            [one] => one.singular(),
            _ => "name",
        };
        if let Some(at) = self.removed.get(name) {
            return Diagnostic::new(span, format!("{what} `{name}` is left out of the model by its `if`"))
                .also(*at, format!("`{name}` is defined here"));
        }
        if let Some(named) = self.names.get(name) {
            return Diagnostic::new(
                span,
                format!("`{name}` is a {}, not a {what}", named.section.singular()),
            )
            .also(named.span, format!("`{name}` is defined here"));
        }
        let candidates = sections.iter().flat_map(|s| self.elements(*s)).map(|e| e.name.as_str());
        let hint = suggest(name, candidates).map(|near| format!("did you mean `{near}`?"));
        Diagnostic::new(span, format!("{what} `{name}` does not exist")).maybe_hint(hint)
    }

    /// The frame of a body in the model pose; `ground` has the world's.
    pub fn frame_of(&self, body: &str) -> Result<Frame> {
        match self.body(body) {
            Some(element) => Ok(crate::reader::Reader::open(self, element).body_frame()?.frame),
            None => {
                Ok(self.placement_of(body).map_or_else(Frame::default, |placement| placement.frame.clone()))
            }
        }
    }

    /// Returns where a body of a flexible member stands.
    pub fn placement_of(&self, body: &str) -> Option<&BodyPlacement> {
        self.placements.get()?.get(body)
    }

    /// A setting made by the program, such as one of the command line.
    pub fn setting(path: impl Into<String>, value: Value) -> Setting {
        let span = value.span;
        let mut table = Table::default();
        table.set("value", span, value);
        let path = path.into();
        let element = Element {
            name: path.clone(),
            kind: String::new(),
            section: Section::Initial,
            table: Arc::new(table),
            span,
            scope: 0,
            locals: None,
        };
        Setting { path, span, element }
    }
}

#[cfg(test)]
mod tests {
    use super::{sum_of_columns, sum_text};

    #[test]
    fn sums_of_columns_read_back_as_written() {
        for text in ["a.vx", "-a.vx", "0.5*a.vx - b.vx", "a.x + 1e-5*i.b.x - 0.25*c.d.e"] {
            let terms = sum_of_columns(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(sum_of_columns(&sum_text(&terms)), Some(terms), "{text}");
        }
        assert_eq!(sum_of_columns("2*a.x - b.y"), Some(vec![(2.0, "a.x".into()), (-1.0, "b.y".into())]));
        assert_eq!(sum_of_columns("a.x-1e-5*b.y+c.z"), sum_of_columns("a.x - 1e-5*b.y + c.z"));
        assert_eq!(sum_of_columns("2e1*e.x-e.y"), Some(vec![(20.0, "e.x".into()), (-1.0, "e.y".into())]));
        for text in [
            "--a.x",
            "a.x - -b.x",
            "+a.x",
            "",
            "a",
            "a.x*b.x",
            "a.x^2",
            "nan*a.x",
            "a.x +",
            "sin(a.x)",
            "a.x + 3",
        ] {
            assert_eq!(sum_of_columns(text), None, "{text}");
        }
    }
}
