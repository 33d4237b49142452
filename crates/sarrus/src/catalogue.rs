//! Describes what exists, from the registries: families, kinds, and their keys or options, as data.

use sarrus_model::key::KeyType;
use sarrus_model::{Key, Space};
use sarrus_solve::OptionDoc;
use sarrus_solve::formulations::Needs;
use sarrus_system::row_options::ROW_KEYS;

/// One kind of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// Name in model files and on the command line.
    pub name: &'static str,
    /// One line on what it is.
    pub doc: String,
    /// Holds what else to know in a word or two: the space it lives in, an integrator's order.
    pub remark: String,
    /// Keys or options of its own.
    pub keys: Vec<KeyEntry>,
}

/// A key of a kind in a model file, or an option of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyEntry {
    /// Name.
    pub name: &'static str,
    /// Holds what it takes.
    pub accepted: String,
    /// Holds what holds where it is left out, in words.
    pub default: &'static str,
    /// One line on what it means.
    pub doc: &'static str,
}

/// Marks what the file format names and this version does not have.
const LATER: &str = "not available yet";

/// The families, as `sarrus list` calls them.
pub const FAMILIES: &[&str] = &[
    "flexible",
    "sections",
    "joints",
    "constraints",
    "drivers",
    "forces",
    "contacts",
    "controllers",
    "measures",
    "events",
    "shapes",
    "materials",
    "formulations",
    "stabilizations",
    "integrators",
];

/// Every kind of a family of [`FAMILIES`]; none for another name.
pub fn family(name: &str) -> Vec<CatalogueEntry> {
    match name {
        "flexible" => {
            sarrus_system::flexible::KINDS.iter().map(|k| entry(k.name, k.doc, "", k.keys)).collect()
        }
        "sections" => {
            let kinds = sarrus_system::flexible::section::KINDS.iter();
            kinds.map(|k| entry(k.name, k.doc, "", k.keys)).collect()
        }
        "joints" => joints(),
        "constraints" => {
            let spaces = |planar: bool, spatial: bool| match (planar, spatial) {
                (true, false) => "planar",
                (false, true) => "spatial",
                _ => "",
            };
            let kinds = sarrus_system::constraints::KINDS.iter();
            kinds
                .map(|k| {
                    let keys = [k.keys, ROW_KEYS].concat();
                    entry(k.name, k.doc, spaces(!k.planar.is_empty(), !k.spatial.is_empty()), &keys)
                })
                .collect()
        }
        "drivers" => sarrus_system::drivers::KINDS
            .iter()
            .map(|k| entry(k.name, k.doc, "", &[k.keys, ROW_KEYS].concat()))
            .collect(),
        "forces" => sarrus_system::forces::KINDS.iter().map(|k| entry(k.name, k.doc, "", k.keys)).collect(),
        "controllers" => {
            sarrus_system::controllers::KINDS.iter().map(|k| entry(k.name, k.doc, "", k.keys)).collect()
        }
        "measures" => {
            sarrus_system::measures::KINDS.iter().map(|k| entry(k.name, k.doc, "", k.keys)).collect()
        }
        "events" => {
            use sarrus_system::events::{KEYS, KIND};
            vec![entry(KIND.0, KIND.1, "", KEYS)]
        }
        "contacts" => {
            use sarrus_system::contact::{KEYS, KIND};
            vec![entry(KIND.0, KIND.1, "", KEYS)]
        }
        "shapes" => shapes(),
        "materials" => materials(),
        "formulations" => sarrus_solve::formulations::KINDS
            .iter()
            .map(|k| method(k.name, k.doc, needs(&k.needs), k.options))
            .collect(),
        "stabilizations" => sarrus_solve::stabilizations::KINDS
            .iter()
            .map(|k| method(k.name, k.doc, if k.dense { "dense" } else { "" }.to_string(), k.options))
            .collect(),
        "integrators" => sarrus_solve::integrators::KINDS
            .iter()
            .map(|k| method(k.name, k.doc, orders(k.least_order, k.order), k.options))
            .collect(),
        _ => Vec::new(),
    }
}

fn orders(least: u32, most: u32) -> String {
    if least < most { format!("order {least} to {most}") } else { format!("order {most}") }
}

fn joints() -> Vec<CatalogueEntry> {
    sarrus_system::joints::KINDS
        .iter()
        .map(|k| {
            let space = if k.space == Space::Planar { "planar" } else { "spatial" };
            entry(k.name, k.doc, space, &sarrus_system::compile::joint_keys(k))
        })
        .collect()
}

fn shapes() -> Vec<CatalogueEntry> {
    use sarrus_system::shapes::{KEYS, KINDS};
    KINDS
        .iter()
        .filter(|k| !k.doc.contains(LATER))
        .map(|k| {
            let own: Vec<Key> = KEYS.iter().filter(|key| k.accepted.contains(&key.name)).copied().collect();
            entry(k.name, k.doc, "", &own)
        })
        .collect()
}

fn materials() -> Vec<CatalogueEntry> {
    // names of built-in materials come as owned text: find the static ones again
    const NAMES: &[&str] = &["steel", "aluminium", "titanium", "brass", "abs", "wood"];
    sarrus_model::materials::built_in()
        .into_iter()
        .filter_map(|m| {
            let name = NAMES.iter().find(|n| **n == m.name)?;
            let number = |x: Option<f64>, unit: &str| x.map_or(String::new(), |x| format!("{x} {unit}"));
            let doc = [number(m.density, "kg/m³"), number(m.young.map(|e| e / 1e9), "GPa")].join(", ");
            Some(CatalogueEntry { name, doc, remark: String::new(), keys: Vec::new() })
        })
        .collect()
}

fn entry(name: &'static str, doc: &str, remark: &str, keys: &[Key]) -> CatalogueEntry {
    // keys that a later version will take are known to the reader so that it can say so; here they would mislead
    let keys = keys.iter().filter(|k| !k.doc.contains(LATER));
    let keys =
        keys.map(|k| KeyEntry { name: k.name, accepted: accepted(&k.ty), default: k.default, doc: k.doc });
    CatalogueEntry { name, doc: doc.to_string(), remark: remark.to_string(), keys: keys.collect() }
}

fn method(name: &'static str, doc: &str, remark: String, options: &[OptionDoc]) -> CatalogueEntry {
    let keys = options.iter().map(|o| KeyEntry {
        name: o.name,
        accepted: "number or word".to_string(),
        default: o.default,
        doc: o.doc,
    });
    CatalogueEntry { name, doc: doc.to_string(), remark, keys: keys.collect() }
}

/// Returns what a formulation asks of a model and what it gives, in words; nothing where it asks for nothing.
fn needs(needs: &Needs) -> String {
    let words = [
        (needs.full_rank, "needs independent constraints"),
        (needs.violation, "without stabilization"),
        (!needs.exact, "approximate"),
        (needs.dense, "dense"),
    ];
    words.iter().filter(|(holds, _)| *holds).map(|(_, words)| *words).collect::<Vec<_>>().join(", ")
}

/// Returns what a key takes, in words.
pub fn accepted(ty: &KeyType) -> String {
    match ty {
        KeyType::Number => "number".into(),
        KeyType::Numbers => "numbers".into(),
        KeyType::Matrix => "matrix".into(),
        KeyType::Flag => "true or false".into(),
        KeyType::Choice(words) => words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(" or "),
        KeyType::Text => "text".into(),
        KeyType::Name => "name".into(),
        KeyType::Names => "names".into(),
        KeyType::Body => "body".into(),
        KeyType::Bodies => "bodies".into(),
        KeyType::Point => "world point".into(),
        KeyType::Points => "world points".into(),
        KeyType::Vector | KeyType::Axial => "world vector".into(),
        KeyType::Vectors => "world vectors".into(),
        KeyType::Local => "body point or marker".into(),
        KeyType::LocalVector => "body vector".into(),
        KeyType::Inertia => "inertia".into(),
        KeyType::Orientation => "orientation".into(),
        KeyType::Expression => "expression".into(),
        KeyType::Expressions => "expressions".into(),
        KeyType::Method => "name or { kind, options }".into(),
        KeyType::Table(_) => "table".into(),
        KeyType::Tables(_) => "table or list of tables".into(),
        KeyType::Map(inner) => format!("table of {}", accepted(inner)),
        KeyType::Either(a, b) => format!("{} or {}", accepted(a), accepted(b)),
        KeyType::Any => "anything".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_kinds_with_distinct_names_and_docs() {
        for name in FAMILIES {
            let entries = family(name);
            assert!(!entries.is_empty(), "{name}");
            for (i, e) in entries.iter().enumerate() {
                assert!(!e.doc.is_empty(), "{name}: {} has no doc", e.name);
                let twin = entries[..i].iter().any(|o| (o.name, &o.remark) == (e.name, &e.remark));
                assert!(!twin, "{name}: {} twice", e.name);
            }
        }
        assert!(family("nothing").is_empty());
    }

    #[test]
    fn formulations_say_what_they_need() {
        let remark = |name| family("formulations").into_iter().find(|e| e.name == name).unwrap().remark;
        assert_eq!(remark("proximal"), "");
        assert_eq!(remark("direct"), "needs independent constraints");
        assert_eq!(remark("least_squares_1"), "dense");
        assert_eq!(remark("penalty"), "without stabilization, approximate");
    }

    #[test]
    fn every_built_in_material_is_listed() {
        assert_eq!(materials().len(), sarrus_model::materials::built_in().len());
    }
}
