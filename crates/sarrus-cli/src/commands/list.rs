//! `sarrus list`

use crate::args::{ListArgs, ListFamily};
use crate::exit::Exit;
use crate::printer::Printer;
use clap::ValueEnum;
use sarrus::catalogue::{self, CatalogueEntry};
use serde_json::{Map, Value, json};

/// Lists one family or all.
pub fn run(args: &ListArgs, printer: &mut Printer) -> Exit {
    let families: Vec<ListFamily> = match args.family {
        Some(family) => vec![family],
        None => ListFamily::value_variants().to_vec(),
    };
    let all: Vec<(String, Vec<CatalogueEntry>)> = families.iter().map(|f| (name(*f), entries(*f))).collect();
    if args.json {
        printer.data(&as_json(&all));
    } else if args.markdown {
        printer.data(&as_markdown(&all));
    } else {
        printer.list(&all);
    }
    Exit::Done
}

/// Lists one family.
pub fn family(family: ListFamily, json: bool, printer: &mut Printer) -> Exit {
    run(&ListArgs { family: Some(family), json, markdown: false }, printer)
}

fn name(family: ListFamily) -> String {
    family.to_possible_value().map_or_else(String::new, |v| v.get_name().to_string())
}

fn entries(family: ListFamily) -> Vec<CatalogueEntry> {
    if family == ListFamily::Examples { examples() } else { catalogue::family(&name(family)) }
}

/// The models that come with the program, each with what it shows.
pub fn examples() -> Vec<CatalogueEntry> {
    sarrus_zoo::MODELS
        .iter()
        .map(|&(name, text)| CatalogueEntry {
            name,
            doc: first_sentence(text),
            remark: String::new(),
            keys: Vec::new(),
        })
        .collect()
}

/// The first sentence of a model's opening comment.
fn first_sentence(text: &str) -> String {
    let comment: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix('#'))
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect();
    let comment = comment.join(" ");
    let end = comment.find(". ").unwrap_or(comment.len());
    comment[..end].trim_end_matches('.').to_string()
}

fn as_json(all: &[(String, Vec<CatalogueEntry>)]) -> String {
    let mut object = Map::new();
    for (family, entries) in all {
        let list = entries.iter().map(|e| {
            let keys = e
                .keys
                .iter()
                .map(|k| json!({ "name": k.name, "takes": k.accepted, "default": k.default, "doc": k.doc }));
            json!({ "name": e.name, "doc": e.doc, "remark": e.remark, "keys": keys.collect::<Vec<_>>() })
        });
        object.insert(family.clone(), list.collect());
    }
    serde_json::to_string_pretty(&Value::Object(object)).unwrap_or_default()
}

fn as_markdown(all: &[(String, Vec<CatalogueEntry>)]) -> String {
    let mut text = String::new();
    // a bar inside a cell would end it
    let cell = |s: &str| s.replace('|', "\\|");
    for (family, entries) in all {
        text += &format!("## {family}\n\n");
        for e in entries {
            let remark = if e.remark.is_empty() { String::new() } else { format!(" ({})", e.remark) };
            text += &format!("### `{}`{remark}\n\n{}.\n\n", e.name, e.doc);
            if e.keys.is_empty() {
                continue;
            }
            text += "| key | takes | default | |\n|---|---|---|---|\n";
            for k in &e.keys {
                text += &format!(
                    "| `{}` | {} | {} | {} |\n",
                    k.name,
                    cell(&k.accepted),
                    cell(k.default),
                    cell(k.doc)
                );
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_of_a_comment_is_its_doc() {
        let text = "# A bar on\n# one hinge. It swings.\n#\n# Expect: more.\nformat = 1\n";
        assert_eq!(first_sentence(text), "A bar on one hinge");
        assert_eq!(first_sentence("format = 1"), "");
        assert_eq!(first_sentence("# Only this.\n\nx = 1"), "Only this");
    }

    #[test]
    fn a_bar_does_not_break_a_table() {
        let keys = vec![catalogue::KeyEntry { name: "k", accepted: "a|b".into(), default: "", doc: "d" }];
        let all = [(
            "f".to_string(),
            vec![CatalogueEntry { name: "n", doc: "x".into(), remark: String::new(), keys }],
        )];
        assert!(as_markdown(&all).contains("| `k` | a\\|b |  | d |"));
    }
}
