//! Files to one [`Model`]: definitions, `repeat`, `include`, elements, cases, the command line.

mod cases;
mod csv;
mod definitions;
mod elements;
mod given;
mod include;
mod order;
mod overrides;
mod repeat;
mod sections;
mod settings;
mod tables;

pub use include::KEYS as INCLUDE_KEYS;
pub use sections::{SECTIONS, SectionInfo};
pub use tables::KEYS as TABLE_KEYS;

use crate::{LoadOptions, read};
use definitions::Definitions;
use overrides::ParameterOverrides;
use repeat::Repeats;
use sarrus_model::Data;
use sarrus_model::functions::Functions;
use sarrus_model::scope::{ElementScope, NamedFile, ScopeData};
use sarrus_model::settings::{OutputSettings, RunSettings};
use sarrus_model::shown::DisplayUnits;
use sarrus_model::{
    Attachment, Diagnostic, Element, Failure, Frame, Model, Reader, Section, Space, Span, Table, Transform,
};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most errors that are reported.
const MAX_ERRORS: usize = 20;

/// Loads a file.
pub fn load_path(path: &Path, options: &LoadOptions) -> Result<Model, Failure> {
    let mut loader = Loader::new();
    let done = loader.file(path, Span::NONE).and_then(|root| loader.model_of(root, path, options));
    loader.finish(done, options)
}

/// Loads a text.
pub fn load_text(name: &str, text: &str, options: &LoadOptions) -> Result<Model, Failure> {
    load_among(name, text, &[], options)
}

/// Loads a text among others that it may include: each a file's name, as an include says it, and what it holds.
pub fn load_among(
    name: &str,
    text: &str,
    beside: &[(String, &str)],
    options: &LoadOptions,
) -> Result<Model, Failure> {
    let mut loader = Loader::new();
    loader.included = beside.iter().map(|(name, text)| (PathBuf::from(name), text.to_string())).collect();
    let done = read::parse(name, text, &mut loader.model.sources)
        .and_then(|root| loader.model_of(Arc::new(root), Path::new(name), options));
    loader.finish(done, options)
}

/// The state of one loading.
struct Loader {
    model: Model,
    diagnostics: Vec<Diagnostic>,
    /// Files that were parsed, by the path that names them.
    parsed: HashMap<PathBuf, Arc<Table>>,
    /// Files that are not on the disk.
    included: HashMap<PathBuf, String>,
    /// Files being loaded, the outermost first.
    open: Vec<PathBuf>,
    /// Parameters, functions, tables and includes, which share the namespace of the elements.
    claimed: HashMap<String, (&'static str, Span)>,
    /// Elements made so far.
    count: usize,
    /// Bodies that includes name as their ground or as replacements.
    promised: Vec<(String, Span)>,
    /// Bodies of included files that others replace.
    replaced: Vec<Element>,
    /// Functions that a program gives.
    functions: Functions,
}

/// A file on its way into the model.
struct Instance<'a> {
    root: &'a Arc<Table>,
    /// Its folder.
    folder: &'a Path,
    prefix: String,
    transform: Transform,
    overrides: ParameterOverrides,
    is_root: bool,
}

type Done<T = ()> = std::result::Result<T, Diagnostic>;

impl Loader {
    fn new() -> Self {
        let mut model = Model::empty("", Space::Spatial);
        model.scopes.clear();
        Loader {
            model,
            diagnostics: Vec::new(),
            parsed: HashMap::new(),
            included: HashMap::new(),
            open: Vec::new(),
            claimed: HashMap::new(),
            count: 0,
            promised: Vec::new(),
            replaced: Vec::new(),
            functions: Functions::default(),
        }
    }

    /// Notes an error and continues.
    fn fail(&mut self, d: Diagnostic) {
        if self.diagnostics.len() < MAX_ERRORS {
            self.diagnostics.push(d);
        }
    }

    fn finish(mut self, done: Done, options: &LoadOptions) -> Result<Model, Failure> {
        if let Err(d) = done {
            self.fail(d);
        }
        if !self.diagnostics.is_empty() {
            return Err(Failure { diagnostics: self.diagnostics, sources: self.model.sources });
        }
        if options.record {
            self.model.recorder = Some(Default::default());
        }
        Ok(self.model)
    }

    /// The tree of a file; parsed once however often it is included.
    fn file(&mut self, path: &Path, at: Span) -> Done<Arc<Table>> {
        if let Some(table) = self.parsed.get(path) {
            return Ok(table.clone());
        }
        let text = match self.included.get(path.strip_prefix(".").unwrap_or(path)) {
            Some(text) => text.clone(),
            None => read::text_of(path, at)?,
        };
        let table = Arc::new(read::parse(&path.display().to_string(), &text, &mut self.model.sources)?);
        self.parsed.insert(path.to_path_buf(), table.clone());
        Ok(table)
    }

    /// The outermost file.
    fn model_of(&mut self, root: Arc<Table>, path: &Path, options: &LoadOptions) -> Done {
        let stem = path.file_stem().map_or_else(|| "model".into(), |s| s.to_string_lossy().into_owned());
        self.model.name = match root.get("name") {
            None => stem,
            Some(v) => sections::text(v, "name")?.to_string(),
        };
        self.model.note = root.get("note").and_then(|v| v.as_text()).map(|t| t.to_string());
        self.model.space = sections::header(&root)?;
        let case = self.cases(&root, options.case.as_deref())?;
        let mut overrides = ParameterOverrides::default();
        if let Some(case) = &case {
            overrides.case(case)?;
        }
        overrides.command_line(&options.set, &mut self.model.sources)?;
        given::check_names(&options.functions)?;
        self.functions = options.functions.clone();
        self.open.push(path.to_path_buf());
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        self.instance(Instance {
            root: &root,
            folder: &folder,
            prefix: String::new(),
            transform: Transform::identity(),
            overrides,
            is_root: true,
        })?;
        self.case_settings(case.as_deref());
        self.root_settings(&root, case.as_deref())?;
        self.check_promises();
        self.check_dots();
        if self.diagnostics.is_empty() {
            RunSettings::read(&self.model)?;
            OutputSettings::read(&self.model)?;
            DisplayUnits::read(&self.model)?;
        }
        Ok(())
    }

    /// One file, its own or an included one, with the prefix and place it has in the model.
    fn instance(&mut self, file: Instance<'_>) -> Done {
        let Instance { root, folder, prefix, transform, mut overrides, is_root } = file;
        sections::check(root, is_root)?;
        let mut scope = ScopeData {
            prefix,
            file: root.span.file,
            planar: self.model.is_planar(),
            transform,
            given: self.functions.clone(),
            ..ScopeData::default()
        };

        // names that are known on loading, those that `repeat` makes included
        let mut definitions = Definitions::new(folder);
        let own = definitions.add_sections(root, None, &scope, &mut overrides);
        own.into_iter().for_each(|d| self.fail(d));
        let repeats = Repeats::read(self, root, &mut definitions, &mut scope)?;
        for repeat in &repeats.list {
            for locals in &repeat.indices {
                let errors = definitions.add_sections(repeat.table, Some(locals), &scope, &mut overrides);
                // one index shows what is wrong with all
                if let Some(d) = errors.into_iter().next() {
                    self.fail(d.note(locals.describe()));
                    break;
                }
            }
        }
        definitions.evaluate_all(&mut scope).into_iter().for_each(|d| self.fail(d));
        for (name, what, span) in definitions.names() {
            self.claim_name(&scope.prefix, name, what, span);
        }
        self.check_given(&scope, &definitions);
        for (path, span) in overrides.unused(root) {
            let hint = sarrus_model::suggest::did_you_mean(&path, definitions.parameters());
            self.fail(Diagnostic::new(span, format!("parameter `{path}` does not exist")).maybe_hint(hint));
        }
        if !self.diagnostics.is_empty() {
            return Ok(());
        }

        // elements
        let index = self.model.scopes.len();
        self.elements(root, &scope, index as u32, &repeats);
        scope.texts = self.texts(folder, index as u32)?;
        scope.files = self.shape_files(root, folder, index as u32)?;
        self.model.scopes.push(scope);
        self.stand_ins(root, index as u32)?;
        self.materials(root, index as u32, &repeats);
        self.apart(Section::Sections, root, index as u32, &repeats);
        self.apart(Section::Fluids, root, index as u32, &repeats);
        self.settings(root, index as u32, &repeats);
        self.includes(root, folder, index as u32, &repeats, &mut overrides)
    }

    /// The files that modal bodies name.
    fn texts(&self, folder: &Path, scope: u32) -> Done<HashMap<String, NamedFile>> {
        let mut texts = HashMap::new();
        let modal = self.model.flexible.iter().filter(|e| e.scope == scope && e.kind == "modal");
        for element in modal {
            for key in ["mass", "stiffness", "nodes"] {
                let Some(value) = element.table.get(key) else { continue };
                if let Data::Text(name) = &value.data {
                    let name = name.as_str();
                    let path = folder.join(name);
                    let text = read::text_of(&path, value.span)?;
                    let path = std::path::absolute(&path).unwrap_or(path).display().to_string();
                    texts.insert(name.to_owned(), NamedFile { path, text });
                }
            }
        }
        Ok(texts)
    }

    /// The files that shapes of bodies, members and the ground name.
    fn shape_files(&self, root: &Table, folder: &Path, scope: u32) -> Done<HashMap<String, Arc<[u8]>>> {
        let mut files = HashMap::new();
        let elements = self.model.bodies.iter().chain(&self.model.flexible).chain(&self.replaced);
        let shapes = elements.filter(|e| e.scope == scope).filter_map(|e| e.table.get("shape"));
        let ground = root.get("ground").and_then(|value| match &value.data {
            Data::Table(table) => table.get("shape"),
            _ => None,
        });
        for shape in shapes.chain(ground) {
            let one = std::slice::from_ref(shape);
            for value in if let Data::List(list) = &shape.data { list.as_slice() } else { one } {
                let Data::Table(table) = &value.data else { continue };
                let Some(file) = table.get("file") else { continue };
                if let Data::Text(name) = &file.data
                    && !files.contains_key(name.as_str())
                {
                    let bytes = read::bytes_of(&folder.join(name.as_str()), file.span)?;
                    files.insert(name.as_str().to_owned(), bytes.into());
                }
            }
        }
        Ok(files)
    }

    /// `[ground]`, and what replaced bodies leave behind.
    fn stand_ins(&mut self, root: &Table, scope: u32) -> Done {
        let data = &self.model.scopes[scope as usize];
        let own = format!("{}ground", data.prefix);
        let (body, frame, prefix) = match self.model.aliases.get(&own) {
            Some(alias) => (alias.body.clone(), alias.frame.clone(), format!("{own}.")),
            None => ("ground".to_string(), Frame::default(), String::new()),
        };
        if let Some(value) = root.get("ground") {
            let table = sections::table(value, "ground")?.clone();
            sections::known(&table, "[ground]", &["markers", "shape", "note", "extra"])?;
            let element = Element {
                name: own,
                kind: String::new(),
                section: Section::Ground,
                span: value.span,
                table,
                scope,
                locals: None,
            };
            self.attach(Attachment { body, prefix, frame, shapes: true, element });
        }
        for element in std::mem::take(&mut self.replaced) {
            let frame = Reader::open(&self.model, &element).body_frame()?.frame;
            let Some(alias) = self.model.aliases.get_mut(&element.name) else { continue };
            alias.frame = frame.clone();
            let (body, prefix) = (alias.body.clone(), format!("{}.", element.name));
            self.attach(Attachment { body, prefix, frame, shapes: false, element });
        }
        Ok(())
    }

    fn attach(&mut self, attachment: Attachment) {
        if let Some(markers) = attachment.element.table.get("markers").and_then(|v| v.as_table()) {
            let data = &self.model.scopes[attachment.element.scope as usize];
            let context = ElementScope::new(data, attachment.element.locals.as_deref());
            let names: Vec<String> = markers.keys().filter_map(|k| context.expand_key(k).ok()).collect();
            for name in names {
                self.model.attached.insert(format!("{}{name}", attachment.prefix));
            }
        }
        self.model.attachments.push(attachment);
    }

    /// Returns what only the outermost file says.
    fn root_settings(&mut self, root: &Table, case: Option<&Table>) -> Done {
        let Some(scope) = self.model.scopes.first() else { return Ok(()) };
        self.model.gravity = sections::gravity(root, &ElementScope::new(scope, None), self.model.space)?;
        for section in [Section::Run, Section::Output, Section::View] {
            let mut table = Table::default();
            let mut span = Span::NONE;
            for source in [Some(root), case].into_iter().flatten() {
                if let Some(value) = source.get(section.name()) {
                    span = value.span;
                    table = table.overlaid(sections::table(value, section.name())?);
                }
            }
            let element = match section {
                Section::Run => &mut self.model.run,
                Section::Output => &mut self.model.output,
                _ => &mut self.model.view,
            };
            element.table = Arc::new(table);
            element.span = span;
        }
        Ok(())
    }

    /// Bodies that an include names must exist once everything is read.
    fn check_promises(&mut self) {
        for (name, span) in std::mem::take(&mut self.promised) {
            let known = self.model.body(&name).is_some() || self.model.flexible_of(&name).is_some();
            if name != "ground" && !known {
                let d = self.model.unknown(&name, span, &[Section::Bodies]);
                self.fail(d);
            }
        }
    }

    /// A dot leads inside: what is written as `b.node2` must not pass for a part of the element `b`. Dots themselves stay: files
    /// that are written as resolved have those of `include`.
    fn check_dots(&mut self) {
        let mut bad = Vec::new();
        for (name, named) in &self.model.names {
            let heads = name.match_indices('.').map(|(dot, _)| &name[..dot]);
            if let Some((head, owner)) = heads.filter_map(|h| Some((h, self.model.names.get(h)?))).next() {
                let (what, other) = (named.section.singular(), owner.section.singular());
                let message = format!(
                    "`{name}` cannot be the name of a {what}: it would be a part of {other} `{head}`"
                );
                let hint = "a name has letters, digits and _; a dot leads inside what stands before it";
                let d = Diagnostic::new(named.span, message).hint(hint);
                bad.push((
                    named.span.start,
                    d.also(owner.span, format!("the {other} `{head}` is defined here")),
                ));
            }
        }
        bad.sort_by_key(|(start, _)| *start);
        bad.into_iter().for_each(|(_, d)| self.fail(d));
    }

    /// Takes a name of the common namespace that is not an element's.
    fn claim_name(&mut self, prefix: &str, name: &str, what: &'static str, span: Span) {
        if let Some(d) = sections::bad_name(name, what, span) {
            return self.fail(d);
        }
        let full = format!("{prefix}{name}");
        if let Some((other, at)) = self.owner(&full) {
            return self.fail(sections::twice(&full, what, span, other, at));
        }
        self.claimed.insert(full, (what, span));
    }

    /// Returns who has a full name already.
    fn owner(&self, full: &str) -> Option<(&'static str, Span)> {
        let element = self.model.names.get(full).map(|n| (n.section.singular(), n.span));
        element.or_else(|| self.claimed.get(full).copied())
    }
}
