//! `[include]`: another file as a part of this one.

use super::elements::name_text;
use super::overrides::ParameterOverrides;
use super::repeat::Repeats;
use super::{Done, Instance, Loader, sections};
use crate::MAX_INCLUDES;
use sarrus_model::expr::Quantity;
use sarrus_model::key::{Key, KeyType};
use sarrus_model::model::Locals;
use sarrus_model::scope::{Alias, ElementScope};
use sarrus_model::transform::matrix;
use sarrus_model::value::Entry;
use sarrus_model::{Diagnostic, Element, Frame, Reader, Section, Span, Table, Transform};
use std::path::Path;
use std::sync::Arc;

/// The keys of `[include.X]`.
pub const KEYS: &[Key] = &[
    Key::new("file", KeyType::Text, "", "the file, beside this one"),
    Key::new("set", KeyType::Map(&KeyType::Any), "", "its parameters that are set from here"),
    Key::new(
        "mirror",
        KeyType::Choice(&["x", "y", "z"]),
        "none",
        "mirrored in its own plane x = 0, y = 0 or z = 0, first",
    ),
    Key::new("at", KeyType::Point, "[0, 0, 0]", "where its origin is"),
    Key::new("angle", KeyType::Number, "0", "by which it is turned, planar [rad]"),
    Key::new("orientation", KeyType::Orientation, "identity", "how it is turned, spatial"),
    Key::new("ground", KeyType::Body, "ground", "the body that its ground becomes"),
    Key::new("replace", KeyType::Map(&KeyType::Body), "", "bodies of its own that are bodies of this file"),
];

impl Loader {
    /// All includes of a file.
    pub(super) fn includes(
        &mut self,
        root: &Table,
        folder: &Path,
        scope: u32,
        repeats: &Repeats<'_>,
        overrides: &mut ParameterOverrides,
    ) -> Done {
        for (table, locals) in repeats.with(root) {
            let Some(value) = table.get("include") else { continue };
            for e in &sections::table(value, "include")?.entries {
                self.include(e, folder, scope, locals, overrides).map_err(|d| match locals {
                    Some(l) => d.note(l.describe()),
                    None => d,
                })?;
            }
        }
        for (path, span) in overrides.lost() {
            self.fail(Diagnostic::new(span, format!("parameter `{path}` does not exist")));
        }
        Ok(())
    }

    fn include(
        &mut self,
        e: &Entry,
        folder: &Path,
        scope: u32,
        locals: Option<&Arc<Locals>>,
        overrides: &mut ParameterOverrides,
    ) -> Done {
        let data = &self.model.scopes[scope as usize];
        let prefix = data.prefix.clone();
        let own = ElementScope::new(data, locals.map(|l| &**l)).expand(&name_text(e), e.key_span)?;
        let element = Element {
            name: format!("{prefix}{own}"),
            kind: String::new(),
            section: Section::Include,
            table: sections::table(&e.value, &e.key)?.clone(),
            span: e.key_span,
            scope,
            locals: locals.cloned(),
        };
        let reader = Reader::new(&self.model, &element, KEYS)?;
        let mut inside = overrides.inside(&own);
        if !reader.flag_or("if", true)? {
            self.model.removed.insert(element.name, e.key_span);
            return Ok(());
        }
        let name = reader.text("file")?.ok_or_else(|| reader.missing("file"))?.to_string();
        let file_span = reader.span("file");
        let transform = reader.transform().after(&placement(&reader)?);
        if let Some(set) = reader.map("set")? {
            for p in set.table().entries.iter().rev() {
                let dimension = set.context().dimension_of(&p.value)?.named();
                inside.weaker(p.key.to_string(), (set.quantity(&p.key, &p.value)?, dimension), p.key_span);
            }
        }

        // names of its bodies that are bodies of this file
        let ground = reader.name("ground")?.unwrap_or_else(|| {
            (self.model.resolve(&self.model.scopes[scope as usize], "ground"), e.key_span)
        });
        let mut stand_ins = vec![("ground".to_string(), ground.0, ground.1)];
        if let Some(replace) = reader.map("replace")? {
            for p in &replace.table().entries {
                if let Some((body, span)) = replace.name(&p.key)? {
                    stand_ins.push((p.key.to_string(), body, span));
                }
            }
        }

        // the file, opened once
        let path = folder.join(&name);
        self.open_file(&path, file_span)?;
        let full = element.name.clone();
        self.claim_name(&prefix, &own, "include", e.key_span);
        let inner = format!("{full}.");
        for (own, body, span) in &stand_ins {
            let frame = transform.frame(&Frame::default());
            self.model.aliases.insert(format!("{inner}{own}"), Alias { body: body.clone(), frame });
            self.promised.push((body.clone(), *span));
        }
        let root = self.file(&path, file_span)?;
        let space = sections::header(&root)?;
        if space != self.model.space {
            let names = ["planar", "spatial"];
            let message = format!(
                "`{name}` is {}, this model is {}",
                names[space as usize], names[self.model.space as usize]
            );
            return Err(Diagnostic::new(file_span, message));
        }
        self.check_replaced(&root, &stand_ins, &name, &e.value)?;
        self.open.push(path.clone());
        let inner_folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let done = self.instance(Instance {
            root: &root,
            folder: &inner_folder,
            prefix: inner,
            transform,
            overrides: inside,
            is_root: false,
        });
        self.open.pop();
        done
    }

    /// Refuses a file that includes itself.
    fn open_file(&self, path: &Path, at: Span) -> Done {
        // two paths to one file are one: compare what they lead to
        let same = |a: &Path, b: &Path| match (a.canonicalize(), b.canonicalize()) {
            (Ok(a), Ok(b)) => a == b,
            _ => a == b,
        };
        if self.open.iter().any(|p| same(p, path)) {
            return Err(Diagnostic::new(at, format!("{} includes itself", path.display())));
        }
        if self.open.len() > MAX_INCLUDES {
            return Err(Diagnostic::new(
                at,
                format!("files include each other more than {MAX_INCLUDES} deep"),
            ));
        }
        Ok(())
    }

    /// A replaced body must be a body of the file.
    fn check_replaced(
        &self,
        root: &Table,
        stand_ins: &[(String, String, Span)],
        file: &str,
        at: &sarrus_model::Value,
    ) -> Done {
        let bodies: Vec<&str> =
            root.get("bodies").and_then(|v| v.as_table()).map(|t| t.keys().collect()).unwrap_or_default();
        let repeated = root.get("repeat").is_some() || root.get("include").is_some();
        for (own, _, _) in &stand_ins[1..] {
            if !repeated && !bodies.contains(&own.as_str()) {
                let span = at
                    .as_table()
                    .and_then(|t| t.get("replace")?.as_table()?.entry(own).map(|e| e.key_span))
                    .unwrap_or(at.span);
                return Err(Diagnostic::new(span, format!("`{file}` has no body `{own}`"))
                    .maybe_hint(sarrus_model::suggest::did_you_mean(own, bodies)));
            }
        }
        Ok(())
    }
}

/// Returns where the file is evaluated in the file that includes it.
fn placement(reader: &Reader<'_>) -> Done<Transform> {
    let planar = reader.is_planar();
    let mirror = reader.choice("mirror", &["x", "y", "z"])?;
    if planar && mirror == Some(2) {
        return Err(reader.error("mirror", "a planar file has no z to mirror"));
    }
    let at = match reader.value("at") {
        None => [0.0; 3],
        Some(v) => match reader.quantity("at", v)? {
            Quantity::Vector { v, n }
                if n == if planar { 2 } else { 3 } && v.iter().all(|x| x.is_finite()) =>
            {
                v
            }
            _ => {
                let wanted = if planar { 2 } else { 3 };
                return Err(reader
                    .error("at", format!("`at` of {}: expected {wanted} finite numbers", reader.title())));
            }
        },
    };
    let wrong = if planar { "orientation" } else { "angle" };
    if reader.has(wrong) {
        let right = if planar { "angle" } else { "orientation" };
        return Err(reader.error(wrong, format!("`{wrong}` of {}: here it is `{right}`", reader.title())));
    }
    let (rotation, angle) = if planar {
        let angle = reader.number_or("angle", 0.0)?;
        let (s, c) = angle.sin_cos();
        ([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]], angle)
    } else {
        let q = match reader.value("orientation") {
            Some(v) => reader.orientation_of("orientation", v)?,
            None => [1.0, 0.0, 0.0, 0.0],
        };
        (matrix(q), 0.0)
    };
    Ok(Transform::new(mirror, rotation, angle, at))
}
