//! Files to one [`Model`]: definitions, `repeat`, `include`, elements, cases, the command line.

mod cases;
mod csv;
mod definitions;
mod elements;
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
use overrides::Overrides;
use repeat::Repeats;
use sarrus_model::scope::{Context, ScopeData};
use sarrus_model::settings::{OutputSettings, RunSettings, VIEW_KEYS};
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
    let mut loader = Loader::new();
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
    /// Files being loaded, the outermost first.
    open: Vec<PathBuf>,
    /// Parameters, functions, tables and includes, which share the namespace of the elements.
    taken: HashMap<String, (&'static str, Span)>,
    /// Elements made so far.
    count: usize,
    /// Bodies that includes name as their ground or as replacements.
    promised: Vec<(String, Span)>,
    /// Bodies of included files that others replace.
    replaced: Vec<Element>,
}

/// A file on its way into the model.
struct Instance<'a> {
    root: &'a Arc<Table>,
    /// Its folder.
    folder: &'a Path,
    prefix: String,
    transform: Transform,
    overrides: Overrides,
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
            open: Vec::new(),
            taken: HashMap::new(),
            count: 0,
            promised: Vec::new(),
            replaced: Vec::new(),
        }
    }

    /// Notes an error and goes on.
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
        let text = read::text_of(path, at)?;
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
        let mut overrides = Overrides::default();
        if let Some(case) = &case {
            overrides.case(case)?;
        }
        overrides.command_line(&options.set, &mut self.model.sources)?;
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
        if self.diagnostics.is_empty() {
            RunSettings::read(&self.model)?;
            OutputSettings::read(&self.model)?;
            Reader::new(&self.model, &self.model.view, VIEW_KEYS)?;
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
            self.take(&scope.prefix, name, what, span);
        }
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
        self.model.scopes.push(scope);
        self.stand_ins(root, index as u32)?;
        self.materials(root, index as u32, &repeats);
        self.apart(Section::Sections, root, index as u32, &repeats);
        self.apart(Section::Fluids, root, index as u32, &repeats);
        self.settings(root, index as u32, &repeats);
        self.includes(root, folder, index as u32, &repeats, &mut overrides)
    }

    /// The files that modal bodies name.
    fn texts(&self, folder: &Path, scope: u32) -> Done<HashMap<String, String>> {
        let mut texts = HashMap::new();
        let modal = self.model.flexible.iter().filter(|e| e.scope == scope && e.kind == "modal");
        for element in modal {
            for key in ["mass", "stiffness", "nodes"] {
                let Some(value) = element.table.get(key) else { continue };
                if let sarrus_model::Data::Text(name) = &value.data {
                    let name = name.as_str();
                    texts.insert(name.to_owned(), read::text_of(&folder.join(name), value.span)?);
                }
            }
        }
        Ok(texts)
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
            let context = Context::new(data, attachment.element.locals.as_deref());
            let names: Vec<String> = markers.keys().filter_map(|k| context.expand_key(k).ok()).collect();
            for name in names {
                self.model.attached.insert(format!("{}{name}", attachment.prefix));
            }
        }
        self.model.attachments.push(attachment);
    }

    /// What only the outermost file says.
    fn root_settings(&mut self, root: &Table, case: Option<&Table>) -> Done {
        let Some(scope) = self.model.scopes.first() else { return Ok(()) };
        self.model.gravity = sections::gravity(root, &Context::new(scope, None), self.model.space)?;
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

    /// Takes a name of the common namespace that is not an element's.
    fn take(&mut self, prefix: &str, name: &str, what: &'static str, span: Span) {
        if let Some(d) = sections::bad_name(name, what, span) {
            return self.fail(d);
        }
        let full = format!("{prefix}{name}");
        if let Some((other, at)) = self.owner(&full) {
            return self.fail(sections::twice(&full, what, span, other, at));
        }
        self.taken.insert(full, (what, span));
    }

    /// Who has a full name already.
    fn owner(&self, full: &str) -> Option<(&'static str, Span)> {
        let element = self.model.names.get(full).map(|n| (n.section.singular(), n.span));
        element.or_else(|| self.taken.get(full).copied())
    }
}
