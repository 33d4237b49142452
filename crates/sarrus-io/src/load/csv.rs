//! Two columns of a CSV file.

use super::Done;
use crate::read;
use sarrus_model::suggest::did_you_mean;
use sarrus_model::{Diagnostic, Span};
use std::path::Path;

/// The columns called `x` and `y`; without names those of that name, or the first two. `at` is where the
/// file is asked for.
pub fn columns(path: &Path, x: Option<&str>, y: Option<&str>, at: Span) -> Done<Vec<[f64; 2]>> {
    parse(&read::text_of(path, at)?, x, y).map_err(|(line, message, hint)| {
        Diagnostic::new(at, format!("{}:{line}: {message}", path.display())).maybe_hint(hint)
    })
}

type CsvError = (usize, String, Option<String>);

fn parse(text: &str, x: Option<&str>, y: Option<&str>) -> Result<Vec<[f64; 2]>, CsvError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(i, l)| (i + 1, l.trim()))
        .filter(|(_, l)| !l.is_empty() && !l.starts_with('#'))
        .peekable();
    let Some(&(first, line)) = lines.peek() else { return Err((1, "the file is empty".into(), None)) };
    // semicolons and tabs separate where the comma is not used
    let separator = [',', ';', '\t'].into_iter().find(|s| line.contains(*s)).unwrap_or(',');
    let cells = |line: &str| -> Vec<String> {
        line.split(separator).map(|c| c.trim().trim_matches('"').trim().to_string()).collect()
    };
    let head = cells(line);
    let has_names = head.iter().any(|c| c.parse::<f64>().is_err());
    let pick = |wanted: Option<&str>, usual: &str, position: usize| -> Result<usize, CsvError> {
        let found = |name: &str| head.iter().position(|c| c == name);
        match wanted {
            Some(name) => found(name)
                .filter(|_| has_names)
                .ok_or_else(|| (first, format!("there is no column `{name}`"), did_you_mean(name, &head))),
            None => Ok(found(usual).filter(|_| has_names).unwrap_or(position)),
        }
    };
    let (x, y) = (pick(x, "x", 0)?, pick(y, "y", 1)?);
    if has_names {
        lines.next();
    }
    let mut points = Vec::new();
    for (number, line) in lines {
        let row = cells(line);
        let value = |column: usize| -> Result<f64, CsvError> {
            let Some(cell) = row.get(column) else {
                return Err((number, format!("there is no column {}", column + 1), None));
            };
            let v: f64 = cell.parse().map_err(|_| (number, format!("`{cell}` is not a number"), None))?;
            if v.is_finite() { Ok(v) } else { Err((number, format!("`{cell}` is not finite"), None)) }
        };
        points.push([value(x)?, value(y)?]);
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn columns_are_found_by_name_or_place() {
        let text = "# lift of the cam\nangle, \"lift\"\n0, 1\n0.5, 2\n";
        assert_eq!(parse(text, None, None).unwrap(), [[0.0, 1.0], [0.5, 2.0]]);
        assert_eq!(parse(text, Some("lift"), Some("angle")).unwrap(), [[1.0, 0.0], [2.0, 0.5]]);
        assert_eq!(parse("1;2\n3;4", None, None).unwrap(), [[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(parse("y,x\n1,2", None, None).unwrap(), [[2.0, 1.0]]);
        assert_eq!(parse(text, Some("lfit"), None).unwrap_err().2.unwrap(), "did you mean `lift`?");
        assert_eq!(parse("x,y\n1,2\n3", None, None).unwrap_err().0, 3);
        assert_eq!(parse("x,y\n1,nan", None, None).unwrap_err().1, "`nan` is not finite");
    }
}
