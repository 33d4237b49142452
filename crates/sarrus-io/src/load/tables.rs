//! `[tables.f]`: a function given by points or a CSV file.

use super::{Done, csv, sections};
use sarrus_model::expr::Inferred;
use sarrus_model::key::{Key, KeyType};
use sarrus_model::scope::ElementScope;
use sarrus_model::tables::{Curve, Interpolation, Outside};
use sarrus_model::{Data, Diagnostic, Table, Value};
use std::path::Path;

/// The keys of `[tables.X]`.
pub const KEYS: &[Key] = &[
    Key::new("file", KeyType::Text, "", "a CSV file"),
    Key::new("x", KeyType::Text, "x, or the first", "its column of x"),
    Key::new("y", KeyType::Text, "y, or the second", "its column of y"),
    Key::new("points", KeyType::Matrix, "", "the points [[x, y], …], x increasing"),
    Key::new("interpolation", KeyType::Choice(INTERPOLATIONS), "linear", "between the points"),
    Key::new("outside", KeyType::Choice(OUTSIDES), "hold", "beyond them"),
];

/// The names of [`Interpolation`], in its order.
pub const INTERPOLATIONS: &[&str] = &["linear", "cubic", "step"];
/// The names of [`Outside`], in its order.
pub const OUTSIDES: &[&str] = &["hold", "extend", "error", "repeat"];

/// Reads an entry of `[tables]`: its points and the curve through them.
pub fn read(
    name: &str,
    value: &Value,
    context: &ElementScope<'_>,
    folder: &Path,
) -> Done<(Vec<[f64; 2]>, Curve)> {
    let table = sections::table(value, name)?;
    let keys: Vec<&str> = KEYS.iter().map(|k| k.name).chain(["note", "extra"]).collect();
    sections::known(table, &format!("table `{name}`"), &keys)?;
    let interpolation = match choice(table, "interpolation", INTERPOLATIONS)? {
        1 => Interpolation::Cubic,
        2 => Interpolation::Step,
        _ => Interpolation::Linear,
    };
    let outside = match choice(table, "outside", OUTSIDES)? {
        1 => Outside::Extend,
        2 => Outside::Error,
        3 => Outside::Repeat,
        _ => Outside::Hold,
    };
    let mut dimensions = [Inferred::Unknown; 2];
    let (points, at) = match (table.get("points"), table.get("file")) {
        (Some(v), None) => {
            let points = pairs(name, v, context)?;
            for k in 0..2 {
                dimensions[k] = column_dimension(name, v, k, context)?;
            }
            (points, v.span)
        }
        (None, Some(v)) => {
            let path = folder.join(sections::text(v, "file")?);
            let column = |key: &str| table.get(key).map(|v| sections::text(v, key)).transpose();
            (csv::columns(&path, column("x")?, column("y")?, v.span)?, v.span)
        }
        (Some(_), Some(v)) => {
            return Err(Diagnostic::new(
                v.span,
                format!("table `{name}` takes `points` or `file`, not both"),
            ));
        }
        (None, None) => {
            return Err(Diagnostic::new(value.span, format!("table `{name}` needs `points` or `file`")));
        }
    };
    // calls of the resolved file have no dots: the prefix of an include becomes part of the name
    let full = format!("{}{name}", context.scope().prefix.replace('.', "_"));
    let (x, y) = points.iter().map(|p| (p[0], p[1])).unzip();
    let mut curve = Curve::new(full, x, y, interpolation, outside)
        .map_err(|e| Diagnostic::new(at, format!("table `{name}`: {e}")))?;
    curve.dimensions = dimensions;
    Ok((points, curve))
}

fn choice(table: &Table, key: &str, names: &[&str]) -> Done<usize> {
    let Some(value) = table.get(key) else { return Ok(0) };
    let text = sections::text(value, key)?;
    names.iter().position(|n| *n == text).ok_or_else(|| {
        Diagnostic::new(value.span, format!("`{key}` cannot be `{text}`"))
            .hint(format!("one of: {}", names.join(" ")))
    })
}

/// The dimension of the x (`k` = 0) or y of all points.
fn column_dimension(name: &str, points: &Value, k: usize, context: &ElementScope<'_>) -> Done<Inferred> {
    let mut all = Inferred::Unknown;
    let column = points.as_list().unwrap_or_default().iter();
    for value in column.filter_map(|point| point.as_list().and_then(|xy| xy.get(k))) {
        if let Inferred::Known(dimension) = all {
            context.check_dimension(value, &[dimension], &|| format!("table `{name}`"))?;
        } else {
            all = context.dimension_of(value)?.named();
        }
    }
    Ok(all)
}

fn pairs(name: &str, value: &Value, context: &ElementScope<'_>) -> Done<Vec<[f64; 2]>> {
    let bad = |v: &Value| {
        let message = format!("`points` of table `{name}`: expected [x, y], found {}", v.describe());
        Diagnostic::new(v.span, message)
    };
    let Data::List(list) = &value.data else { return Err(bad(value)) };
    list.iter()
        .map(|p| match &p.data {
            Data::List(xy) if xy.len() == 2 => Ok([context.number(&xy[0])?, context.number(&xy[1])?]),
            _ => Err(bad(p)),
        })
        .collect()
}
