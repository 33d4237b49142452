//! A structure from files: M and K in the Matrix Market format, nodes as CSV.
//!
//! Nodes are lines `name, x, y, z`, in the plane `name, x, y`, under a line of headings or without; their order is that of the matrices.
//! These have six rows a node (ux, uy, uz, θx, θy, θz) or, of a solid, three; in the plane three (ux, uy, θ) or two. Both are
//! symmetric, lumped or not, and K holds nothing to the ground. Both formats of the Market are read, `coordinate` and `array`, with
//! real or integer numbers, general or symmetric.
//!
//! Where axial forces run is not in K in general, but it is in that of a structure of beams and bars: there every two nodes that it
//! couples are joined by one element, whose axial stiffness neither bends nor shears ([`bars`]).

use super::structure::{Bar, MOST_ROWS, ModalStructure, StructureNode};
use sarrus_math::{Mat3, Vec3};

/// Holds what is wrong, with the line of the file.
pub type ModalFileError = (usize, String, Option<String>);

/// Two numbers nearer than this part of the largest are the same.
const SAME: f64 = 1e-9;
/// A motion of the whole may cost this part of what its displacements cost one by one: files have few digits.
const WHOLE: f64 = 1e-5;
/// A bar may push across itself by this part of what it pulls.
const ALONG: f64 = 1e-5;

fn number(word: &str, line: usize) -> Result<f64, ModalFileError> {
    let x: f64 = word.parse().map_err(|_| (line, format!("`{word}` is not a number"), None))?;
    if x.is_finite() { Ok(x) } else { Err((line, format!("`{word}` is not finite"), None)) }
}

/// A square matrix by rows, with its size; at most `most` rows.
pub fn matrix(text: &str, most: usize) -> Result<(Vec<f64>, usize), ModalFileError> {
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
pub fn nodes(text: &str, planar: bool) -> Result<Vec<StructureNode>, ModalFileError> {
    let (wanted, most) =
        if planar { ("name, x, y", MOST_ROWS / 2) } else { ("name, x, y, z", MOST_ROWS / 3) };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut nodes: Vec<StructureNode> = Vec::new();
    let mut is_first = true;
    for (line, text) in text.lines().enumerate().map(|(i, l)| (i + 1, l.trim())) {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let cells: Vec<&str> = text.split([',', ';', '\t']).map(|c| c.trim().trim_matches('"')).collect();
        let (name, x, y, z) = match cells[..] {
            [name, x, y, z] if !planar => (name, x, y, z),
            [name, x, y] if planar => (name, x, y, "0"),
            _ => {
                let hint = format!("a line reads `tip, 1.0, 0{}`", if planar { "" } else { ", 0" });
                let message = format!("there are {} cells and not {wanted}", cells.len());
                return Err((line, message, Some(hint)));
            }
        };
        let headings =
            std::mem::replace(&mut is_first, false) && [x, y].iter().all(|c| c.parse::<f64>().is_err());
        if headings {
            continue;
        }
        let p = [number(x, line)?, number(y, line)?, number(z, line)?];
        if name.is_empty() || nodes.iter().any(|node| node.names[0] == name) {
            return Err((line, format!("a node needs a name of its own, and this is `{name}`"), None));
        }
        if nodes.len() == most {
            return Err((line, format!("there are more than {most} nodes"), None));
        }
        nodes.push(StructureNode {
            names: vec![name.to_string()],
            p,
            axes: Mat3::identity(),
            angle: 0.0,
            mirrored: None,
        });
    }
    if nodes.is_empty() { Err((1, "there are no nodes".into(), None)) } else { Ok(nodes) }
}

/// A motion of the whole that K resists, in words: K is held, or nodes and K do not fit.
pub fn resisted(structure: &ModalStructure) -> Option<&'static str> {
    let names = ["along x", "along y", "along z", "about x", "about y", "about z"];
    let which: &[usize] = if structure.planar { &[0, 1, 5] } else { &[0, 1, 2, 3, 4, 5] };
    let size = structure.size();
    let found = which.iter().find(|&&k| {
        let motion = super::invariants::whole(structure, k % 3, k >= 3, &[0.0; 3]);
        let (mut force, mut parts) = (0.0_f64, 0.0_f64);
        for row in structure.K.chunks_exact(size) {
            let terms = || row.iter().zip(&motion).map(|(k, x)| k * x);
            force = force.max(terms().sum::<f64>().abs());
            parts = parts.max(terms().map(f64::abs).sum());
        }
        force > WHOLE * parts
    });
    found.map(|&k| names[k])
}

/// The bars of a structure of beams and bars, from its K; none where it is no such.
///
/// K_ab t = -(EA/L) t along the line from a to b, without torques, says that one element joins the two nodes and how stiff it is along
/// itself. Solids and shells couple nodes otherwise.
pub fn bars(structure: &ModalStructure) -> Option<Vec<Bar>> {
    let (size, directions) = (structure.size(), structure.directions());
    let wide = directions.len();
    let largest = structure.K.iter().fold(0.0_f64, |a, k| a.max(k.abs()));
    let mut bars = Vec::new();
    for a in 0..structure.nodes.len() {
        for b in 0..a {
            let block = |i: usize, j: usize| structure.K[(wide * a + i) * size + wide * b + j];
            let stiffest = (0..wide * wide).map(|k| block(k / wide, k % wide).abs()).fold(0.0, f64::max);
            if stiffest <= SAME * largest {
                continue;
            }
            let way = Vec3(structure.nodes[b].p) - Vec3(structure.nodes[a].p);
            let length = way.norm();
            let axis = way.scale(1.0 / length);
            if !(length > 0.0) {
                return None;
            }
            // K_ba t: force and torque at b for a unit displacement of a along the line
            let mut pull = [[0.0; 3]; 2];
            for (j, &to) in directions.iter().enumerate() {
                for (i, &from) in directions.iter().enumerate().filter(|(_, k)| **k < 3) {
                    pull[to / 3][to % 3] += block(i, j) * axis.0[from];
                }
            }
            let [force, torque] = pull.map(Vec3);
            let stiffness = -force.dot(axis);
            let off = (force + axis.scale(stiffness)).norm().max(torque.norm() / length);
            if !(stiffness > 0.0) || off > ALONG * stiffness {
                return None;
            }
            bars.push(Bar { nodes: [a, b], axis: axis.0, length, stretch: stiffness * length });
        }
    }
    Some(bars)
}
