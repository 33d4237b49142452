//! Describes what a model says of a modal body: its structure from beams or files, its nodes, its damping, and what is wrong with them.

use super::files;
use super::reduce::Failed;
use super::structure::{MOST_ROWS, ModalStructure, directions};
use crate::flexible::prelude::*;
use sarrus_model::{Section as Sort, Span};

/// The structure, with its interface nodes.
pub(super) fn source(reader: &Reader, sections: &[BeamSection]) -> Result<(ModalStructure, Vec<usize>)> {
    let from_files = reader.require_one_of(&["members", "mass"])? == "mass";
    let structure = if from_files {
        from_matrices(reader)?
    } else {
        for key in ["stiffness", "nodes", "at", "angle", "orientation"] {
            if reader.has(key) {
                let message = format!("{} has `members`, and so no `{key}`", reader.title());
                return Err(reader.error(key, message));
            }
        }
        let mut members = Vec::new();
        for (name, span) in reader.names("members")? {
            let found = reader.model().find(&name).filter(|e| e.section == Sort::Flexible);
            let Some(element) = found.filter(|e| e.kind == "beam") else {
                return Err(reader.at(span, format!("`{name}` is no beam of [flexible]")));
            };
            members.push(Reader::new(reader.model(), element, crate::flexible::beam::KIND.keys)?);
        }
        if members.is_empty() {
            return Err(reader.error("members", format!("{} has no members", reader.title())));
        }
        ModalStructure::of_beams(&members, sections)?.map_err(|nodes| {
            let most = MOST_ROWS / directions(reader.is_planar(), true).len();
            let message = format!("{} has {nodes} nodes or more, and {most} are the most", reader.title());
            reader.error("members", message).hint("fewer `elements`: the reduction is dense")
        })?
    };
    let interface = nodes(reader, &structure, "interface")?;
    if interface.is_empty() {
        let error = reader.missing("interface");
        return Err(
            error.hint("the nodes at which joints can hold it, such as `interface = [\"arm.start\"]`")
        );
    }
    let least = if structure.planar { 2 } else { 3 };
    if !structure.rotates && interface.len() < least {
        let message =
            format!("{} has {} at its interface, which hold no turns", reader.title(), interface.len());
        let hint =
            format!("name {least} nodes or more that do not stand in a line, or give matrices with turns");
        let hint = if structure.planar { hint.replace(" that do not stand in a line", "") } else { hint };
        return Err(reader.error("interface", message).hint(hint));
    }
    Ok((structure, interface.into_iter().map(|(_, node)| node).collect()))
}

/// The structure that `mass`, `stiffness` and `nodes` describe.
fn from_matrices(reader: &Reader) -> Result<ModalStructure> {
    let planar = reader.is_planar();
    if reader.transform().sign() < 0.0 {
        let message = format!("{} is given by matrices, which cannot be mirrored", reader.title());
        return Err(reader.error("mass", message).hint("include the file without `mirror`"));
    }
    let text = |key: &str| -> Result<(&str, &str)> {
        let name = reader.text(key)?.ok_or_else(|| reader.missing(key))?;
        let file = reader.scope().texts.get(name);
        let file = file.ok_or_else(|| reader.error(key, format!("the file `{name}` was not read")))?;
        // a model that is written elsewhere reads the same file
        reader.record(key, || sarrus_model::record::ResolvedValue::Text(file.path.clone()));
        Ok((name, &file.text))
    };
    let said = |key: &str, file: &str, (line, message, hint): files::ModalFileError| {
        reader.error(key, format!("{file}:{line}: {message}")).maybe_hint(hint)
    };
    let (file, csv) = text("nodes")?;
    let nodes = files::nodes(csv, planar).map_err(|wrong| said("nodes", file, wrong))?;
    let [all, few] = [true, false].map(|rotates| directions(planar, rotates).len());
    let mut structure = ModalStructure { planar, nodes, ..ModalStructure::default() };
    let n = structure.nodes.len();
    for key in ["mass", "stiffness"] {
        let (file, market) = text(key)?;
        let (A, size) = files::matrix(market, MOST_ROWS).map_err(|wrong| said(key, file, wrong))?;
        let before = (key == "stiffness").then_some(structure.M.len());
        if ![all * n, few * n].contains(&size) || before.is_some_and(|before| before != size * size) {
            let message = format!("{file}: {size} rows do not fit {n} nodes");
            let hint = match before {
                Some(before) if before != size * size => {
                    "`mass` and `stiffness` have the same rows".to_string()
                }
                _ => format!("{all} rows a node, or {few} without turns: {} or {}", all * n, few * n),
            };
            return Err(reader.error(key, message).hint(hint));
        }
        structure.rotates = size == all * n;
        if key == "mass" {
            structure.M = A;
        } else {
            structure.K = A;
        }
    }
    if let Some(motion) = files::resisted(&structure) {
        let message = format!("{}: K resists a motion of the whole {motion}", reader.title());
        let hint = "give K without supports (joints hold the body), with nodes in the order of its rows";
        return Err(reader.error("stiffness", message).hint(hint));
    }
    Ok(structure)
}

/// The nodes that a key names, none twice.
pub(super) fn nodes(reader: &Reader, structure: &ModalStructure, key: &str) -> Result<Vec<(String, usize)>> {
    let names: Vec<(String, Span)> = if reader.has("members") {
        reader.names(key)?
    } else {
        let span = reader.span(key);
        let names = reader.texts(key)?.unwrap_or_default();
        names.into_iter().map(|name| (name.to_string(), span)).collect()
    };
    let mut found: Vec<(String, usize)> = Vec::new();
    for (name, span) in names {
        let at = structure.nodes.iter().position(|node| node.names.contains(&name));
        let Some(at) = at else {
            let known = structure.nodes.iter().flat_map(|n| n.names.iter().map(String::as_str));
            let hint = sarrus_model::suggest::did_you_mean(&name, known);
            return Err(reader.at(span, format!("{} has no node `{name}`", reader.title())).maybe_hint(hint));
        };
        if found.iter().any(|(_, other)| *other == at) {
            return Err(reader.at(span, format!("node `{name}` is in `{key}` of {} twice", reader.title())));
        }
        // in an included file as that file says it
        let own = name.strip_prefix(reader.scope().prefix.as_str()).unwrap_or(&name);
        found.push((own.to_string(), at));
    }
    Ok(found)
}

/// Returns what is wrong with a structure that cannot be reduced.
pub(super) fn failed(reader: &Reader, structure: &ModalStructure, why: &Failed) -> sarrus_model::Diagnostic {
    let key = if reader.has("members") { "members" } else { "stiffness" };
    let name = reader.title();
    match why {
        Failed::Loose(node) => {
            let node = &structure.nodes[*node].names[0];
            let message = format!("{name}: held at its interface, node `{node}` can still move freely");
            reader.error(key, message).hint("its parts must be connected, at nodes in the same place")
        }
        Failed::Held => {
            let message = format!("{name}: K resists motions of the whole, so something holds it");
            reader.error(key, message).hint("give K without supports; joints hold the body")
        }
        Failed::Mechanism => {
            reader.error(key, format!("{name}: K lets parts move against each other without resistance"))
        }
        Failed::Mass => reader
            .error("modes", format!("{name}: the masses of its nodes do not tell so many shapes apart"))
            .hint("more elements, or fewer modes"),
        Failed::Decomposition => reader.element_error("its modes were not found"),
    }
}

/// Damping ratios of `n` amplitudes: one for all, or a list whose last continues.
pub(super) fn ratios(reader: &Reader, n: usize) -> Result<Vec<f64>> {
    let Some(value) = reader.value("damping") else { return Ok(vec![0.0; n]) };
    let list = match &value.data {
        sarrus_model::Data::List(_) => reader.numbers("damping")?.unwrap_or_default(),
        _ => vec![reader.number("damping")?],
    };
    if list.is_empty() || list.len() > n || list.iter().any(|r| *r < 0.0) {
        let message =
            format!("`damping` of {} is a ratio, or up to {n} of them, not negative", reader.title());
        return Err(reader.error("damping", message));
    }
    Ok((0..n).map(|j| list[j.min(list.len() - 1)]).collect())
}
