//! A structure from files: M and K in the Matrix Market format, nodes as CSV.
//!
//! Nodes are lines `name, x, y, z`, under a line of headings or without; their order is that of the matrices, which have six rows a node:
//! ux, uy, uz, θx, θy, θz. K is symmetric and holds nothing to the ground. M must be lumped: of each node the same mass in three
//! directions and a tensor of inertia, and nothing between nodes. Both formats of the Market are read, `coordinate` and `array`, with
//! real or integer numbers, general or symmetric.

use super::shapes::Lump;
use super::structure::{MOST_NODES, Node, Structure, Weight};
use sarrus_math::Mat3;

/// What is wrong, with the line of the file.
pub type Wrong = (usize, String, Option<String>);

/// Two numbers nearer than this part of the largest are the same.
const SAME: f64 = 1e-9;

fn number(word: &str, line: usize) -> Result<f64, Wrong> {
    let x: f64 = word.parse().map_err(|_| (line, format!("`{word}` is not a number"), None))?;
    if x.is_finite() { Ok(x) } else { Err((line, format!("`{word}` is not finite"), None)) }
}

/// A square matrix by rows, with its size; at most `most` rows.
pub fn matrix(text: &str, most: usize) -> Result<(Vec<f64>, usize), Wrong> {
    let mut lines = text.lines().enumerate().map(|(i, l)| (i + 1, l.trim()));
    let head = lines.next().map(|(_, l)| l.to_ascii_lowercase()).unwrap_or_default();
    let words: Vec<&str> = head.split_whitespace().collect();
    let hint = || Some("the first line reads `%%MatrixMarket matrix coordinate real symmetric`".to_string());
    let [first, "matrix", format, field, symmetry] = words[..] else {
        return Err((1, "this is no Matrix Market file".into(), hint()));
    };
    let known = first == "%%matrixmarket"
        && matches!(format, "coordinate" | "array")
        && matches!(field, "real" | "integer" | "double")
        && matches!(symmetry, "general" | "symmetric");
    if !known {
        let message = format!("a matrix that is `{format} {field} {symmetry}` cannot be read");
        return Err((1, message, Some("coordinate or array, real, general or symmetric".into())));
    }
    let (sparse, symmetric) = (format == "coordinate", symmetry == "symmetric");
    let mut lines = lines.filter(|(_, l)| !l.is_empty() && !l.starts_with('%'));
    let Some((line, sizes)) = lines.next() else { return Err((1, "the sizes are missing".into(), None)) };
    let sizes: Vec<Option<usize>> = sizes.split_whitespace().map(|w| w.parse().ok()).collect();
    let (rows, columns, entries) = match sizes[..] {
        [Some(m), Some(n), Some(entries)] if sparse => (m, n, entries),
        [Some(m), Some(n)] if !sparse => (m, n, 0),
        _ => return Err((line, "this line should give the sizes".into(), None)),
    };
    if rows != columns || rows == 0 || rows > most {
        let message = format!("the matrix has {rows} rows and {columns} columns");
        return Err((line, message, Some(format!("it must be square, with 1 to {most} rows"))));
    }
    let n = rows;
    let expected = match (sparse, symmetric) {
        (true, _) => entries,
        (false, true) => n * (n + 1) / 2,
        (false, false) => n * n,
    };
    let mut A = vec![0.0; n * n];
    let (mut count, mut row, mut column, mut last) = (0, 0, 0, line);
    for (line, text) in lines {
        last = line;
        if count == expected {
            return Err((line, format!("there are more than {expected} entries"), None));
        }
        count += 1;
        let words: Vec<&str> = text.split_whitespace().collect();
        let value = match words[..] {
            [i, j, value] if sparse => {
                let index = |word: &str| word.parse::<usize>().ok().filter(|k| (1..=n).contains(k));
                let (Some(i), Some(j)) = (index(i), index(j)) else {
                    return Err((line, format!("there is no entry ({i}, {j}) in {n} rows"), None));
                };
                (row, column) = (i - 1, j - 1);
                number(value, line)?
            }
            [value] if !sparse => number(value, line)?,
            _ => return Err((line, format!("`{text}` is no entry"), None)),
        };
        A[row * n + column] += value;
        if symmetric && row != column {
            A[column * n + row] += value;
        }
        if !sparse {
            row += 1;
            if row == n {
                column += 1;
                row = if symmetric { column } else { 0 };
            }
        }
    }
    if count < expected {
        return Err((last, format!("there are {count} entries of {expected}"), None));
    }
    let largest = A.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    for i in 0..n {
        for j in 0..i {
            if (A[i * n + j] - A[j * n + i]).abs() > SAME * largest {
                let message = format!("the matrix is not symmetric: entries ({}, {}) differ", i + 1, j + 1);
                return Err((1, message, None));
            }
        }
    }
    Ok((A, n))
}

/// Nodes: names and places.
pub fn nodes(text: &str) -> Result<Vec<Node>, Wrong> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut nodes: Vec<Node> = Vec::new();
    let mut is_first = true;
    for (line, text) in text.lines().enumerate().map(|(i, l)| (i + 1, l.trim())) {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let cells: Vec<&str> = text.split([',', ';', '\t']).map(|c| c.trim().trim_matches('"')).collect();
        let [name, x, y, z] = cells[..] else {
            let hint = Some("a line reads `tip, 1.0, 0, 0`".to_string());
            return Err((line, format!("there are {} cells and not name, x, y, z", cells.len()), hint));
        };
        let headings =
            std::mem::replace(&mut is_first, false) && [x, y, z].iter().all(|c| c.parse::<f64>().is_err());
        if headings {
            continue;
        }
        let p = [number(x, line)?, number(y, line)?, number(z, line)?];
        if name.is_empty() || nodes.iter().any(|node| node.names[0] == name) {
            return Err((line, format!("a node needs a name of its own, and this is `{name}`"), None));
        }
        if nodes.len() == MOST_NODES {
            return Err((line, format!("there are more than {MOST_NODES} nodes"), None));
        }
        nodes.push(Node { names: vec![name.to_string()], p, axes: Mat3::identity() });
    }
    if nodes.is_empty() { Err((1, "there are no nodes".into(), None)) } else { Ok(nodes) }
}

/// Puts them together; an error is that of M, as it says in words.
pub fn structure(nodes: Vec<Node>, M: &[f64], K: Vec<f64>) -> Result<Structure, String> {
    let size = 6 * nodes.len();
    let mut weights = Vec::new();
    for (node, of) in nodes.iter().enumerate() {
        let name = &of.names[0];
        let at = |i: usize, j: usize| M[(6 * node + i) * size + 6 * node + j];
        let mass = at(0, 0);
        let mut largest = [0.0_f64; 2];
        (0..6).for_each(|i| largest[i / 3] = largest[i / 3].max(at(i, i).abs()));
        for i in 0..6 {
            for j in 0..size {
                let (x, same) = (M[(6 * node + i) * size + j], j / 6 == node);
                let j = j % 6;
                let wanted = if same && i < 3 && i == j { mass } else { 0.0 };
                if !(same && i >= 3 && j >= 3) && (x - wanted).abs() > SAME * largest[0].max(largest[1]) {
                    return Err(match same {
                        false => format!("M is not lumped: it has entries between `{name}` and other nodes"),
                        true => {
                            format!("M is not lumped: at `{name}` it is no mass with a tensor of inertia")
                        }
                    });
                }
            }
        }
        if mass < 0.0 || (3..6).any(|i| at(i, i) < 0.0) {
            return Err(format!("the mass of `{name}` is negative"));
        }
        let inertia = Mat3([0, 1, 2].map(|i| [0, 1, 2].map(|j| at(3 + i, 3 + j))));
        weights.push(Weight { nodes: vec![node], lump: Lump { mass, inertia } });
    }
    Ok(Structure { nodes, K, weights, bars: Vec::new() })
}
