//! Triangles from files: STL, binary or text, and Wavefront OBJ.
//!
//! Numbers of text files are read in full, those of binary STL are single precision. Normals in the file are not checked: the order of the
//! corners says which side is out. Polygons of an OBJ file are cut into triangles from their first corner, which is right for convex ones;
//! textures, groups, lines and curves are passed over.

use super::geometry::mesh::Raw;

/// Holds what is wrong with a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeFileError {
    /// Marks where, from 1; none for a file as a whole or a binary one.
    pub line: Option<usize>,
    /// The subject.
    pub message: String,
    /// Holds what to do.
    pub hint: Option<&'static str>,
}

fn wrong(
    line: impl Into<Option<usize>>,
    message: impl Into<String>,
    hint: impl Into<Option<&'static str>>,
) -> ShapeFileError {
    ShapeFileError { line: line.into(), message: message.into(), hint: hint.into() }
}

/// Bytes before the triangles of a binary STL file, and of each triangle.
const HEAD: usize = 84;
const EACH: usize = 50;

/// The triangles of a file; the ending of its name says what it is.
pub fn read(name: &str, bytes: &[u8]) -> Result<Raw, ShapeFileError> {
    let lower = name.to_ascii_lowercase();
    let raw = if lower.ends_with(".stl") {
        stl(bytes)?
    } else if lower.ends_with(".obj") {
        obj(text(bytes)?)?
    } else {
        return Err(wrong(None, "its name ends neither in .stl nor in .obj", "write it as STL or OBJ"));
    };
    if raw.faces.is_empty() {
        return Err(wrong(None, "there are no triangles in it", "is it the right file?"));
    }
    Ok(raw)
}

fn text(bytes: &[u8]) -> Result<&str, ShapeFileError> {
    std::str::from_utf8(bytes).map_err(|e| {
        let line = bytes[..e.valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
        wrong(line, "this is not text", "was it written as another format?")
    })
}

fn stl(bytes: &[u8]) -> Result<Raw, ShapeFileError> {
    let count = bytes.get(80..HEAD).and_then(|b| b.try_into().ok()).map(|b| u32::from_le_bytes(b) as usize);
    // some binary files begin with `solid` too: the length decides
    if let Some(count) = count
        && count.checked_mul(EACH).and_then(|n| n.checked_add(HEAD)) == Some(bytes.len())
    {
        return binary(&bytes[HEAD..], count);
    }
    let start = bytes.trim_ascii_start();
    if start.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid")) {
        return ascii(text(bytes)?);
    }
    Err(match count {
        Some(count) => {
            let whole = HEAD as u128 + EACH as u128 * count as u128;
            let message = format!("a file of {count} triangles has {whole} bytes, this one {}", bytes.len());
            wrong(None, message, "it was cut short, or is no STL file")
        }
        None => wrong(None, format!("{} bytes are no STL file", bytes.len()), "was it written in full?"),
    })
}

fn binary(bytes: &[u8], count: usize) -> Result<Raw, ShapeFileError> {
    let mut raw = Raw { corners: Vec::with_capacity(3 * count), faces: Vec::with_capacity(count) };
    for (i, triangle) in bytes.chunks_exact(EACH).enumerate() {
        // behind the normal
        for corner in triangle[12..48].chunks_exact(12) {
            let mut p = [0.0; 3];
            for (x, bytes) in p.iter_mut().zip(corner.chunks_exact(4)) {
                *x = f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
                if !x.is_finite() {
                    let message = format!("a corner of triangle {} is not finite", i + 1);
                    return Err(wrong(None, message, "was it written as another format?"));
                }
            }
            raw.corners.push(p);
        }
        push_last(&mut raw);
    }
    Ok(raw)
}

/// A triangle of the last three corners.
fn push_last(raw: &mut Raw) {
    let n = raw.corners.len() as u32;
    raw.faces.push([n - 3, n - 2, n - 1]);
}

fn number(word: Option<&str>, line: usize) -> Result<f64, ShapeFileError> {
    let word = word.ok_or_else(|| wrong(line, "a coordinate is missing", "three numbers a corner"))?;
    let x: f64 = word.parse().map_err(|_| wrong(line, format!("`{word}` is not a number"), None))?;
    if x.is_finite() { Ok(x) } else { Err(wrong(line, format!("`{word}` is not finite"), None)) }
}

fn corner<'a>(words: &mut impl Iterator<Item = &'a str>, line: usize) -> Result<[f64; 3], ShapeFileError> {
    Ok([number(words.next(), line)?, number(words.next(), line)?, number(words.next(), line)?])
}

fn ascii(text: &str) -> Result<Raw, ShapeFileError> {
    let mut raw = Raw::default();
    let mut corners = 0;
    let mut ended = false;
    let mut last = 0;
    for (line, words) in text.lines().enumerate().map(|(i, line)| (i + 1, line)) {
        last = line;
        let mut words = words.split_ascii_whitespace().peekable();
        while let Some(word) = words.next() {
            match word.to_ascii_lowercase().as_str() {
                // names follow
                "solid" => words.by_ref().for_each(drop),
                "endsolid" => {
                    ended = true;
                    words.by_ref().for_each(drop);
                }
                "facet" => {
                    words.next_if(|word| word.eq_ignore_ascii_case("normal"));
                    words.by_ref().take(3).for_each(drop);
                    (corners, ended) = (0, false);
                }
                "outer" | "loop" | "endfacet" => {}
                "vertex" => {
                    raw.corners.push(corner(&mut words, line)?);
                    corners += 1;
                }
                "endloop" if corners == 3 => push_last(&mut raw),
                "endloop" => {
                    return Err(wrong(
                        line,
                        format!("a facet has {corners} corners"),
                        "STL has triangles only",
                    ));
                }
                _ => {
                    let message = format!("`{word}` is no word of an STL file");
                    return Err(wrong(line, message, "facet, outer loop, vertex, endloop, endfacet"));
                }
            }
        }
    }
    if ended { Ok(raw) } else { Err(wrong(last, "the file ends before `endsolid`", "it was cut short")) }
}

fn obj(text: &str) -> Result<Raw, ShapeFileError> {
    let mut raw = Raw::default();
    let mut polygon: Vec<u32> = Vec::new();
    for (line, words) in text.lines().enumerate().map(|(i, line)| (i + 1, line)) {
        let mut words = words.split_ascii_whitespace();
        match words.next() {
            Some("v") => raw.corners.push(corner(&mut words, line)?),
            Some("f") => {
                polygon.clear();
                for word in words.take_while(|word| !word.starts_with('#')) {
                    polygon.push(index(word, raw.corners.len(), line)?);
                }
                if polygon.len() < 3 {
                    let message = format!("a face has {} corners", polygon.len());
                    return Err(wrong(line, message, "three at least"));
                }
                for k in 1..polygon.len() - 1 {
                    raw.faces.push([polygon[0], polygon[k], polygon[k + 1]]);
                }
            }
            _ => {}
        }
    }
    Ok(raw)
}

/// The corner that `7`, `7/1/2` or `-1` stands for, of `count` so far.
fn index(word: &str, count: usize, line: usize) -> Result<u32, ShapeFileError> {
    let first = word.split('/').next().unwrap_or_default();
    let number: i64 =
        first.parse().map_err(|_| wrong(line, format!("`{word}` is no number of a corner"), None))?;
    let at = if number < 0 { count as i64 + number } else { number - 1 };
    match usize::try_from(at) {
        Ok(at) if at < count => Ok(at as u32),
        _ => Err(wrong(
            line,
            format!("corner {number} does not exist: there are {count} so far"),
            "they count from 1",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TETRAHEDRON: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.5]];
    const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

    fn ascii_file() -> String {
        let mut text = String::from("solid t\n");
        for face in FACES {
            text += " facet normal 0 0 0\n  outer loop\n";
            for i in face {
                let [x, y, z] = TETRAHEDRON[i];
                text += &format!("   vertex {x:e} {y} {z}\n");
            }
            text += "  endloop\n endfacet\n";
        }
        text + "endsolid t\n"
    }

    fn binary_file() -> Vec<u8> {
        let mut bytes = b"solid that is binary all the same".to_vec();
        bytes.resize(80, 0);
        bytes.extend((FACES.len() as u32).to_le_bytes());
        for face in FACES {
            bytes.extend([0; 12]);
            for i in face {
                TETRAHEDRON[i].iter().for_each(|x| bytes.extend((*x as f32).to_le_bytes()));
            }
            bytes.extend([0; 2]);
        }
        bytes
    }

    fn obj_file() -> String {
        let mut text = String::from("# a tetrahedron\no t\n");
        for [x, y, z] in TETRAHEDRON {
            text += &format!("v {x} {y} {z} 1.0\nvn 0 0 1\n");
        }
        for [a, b, c] in FACES {
            text += &format!("f {}//1 {}/2/3 {} # side\n", a + 1, b as i64 - 4, c + 1);
        }
        text
    }

    fn joined(name: &str, bytes: &[u8]) -> Raw {
        read(name, bytes).unwrap().joined()
    }

    #[test]
    fn the_same_solid_in_three_formats_is_the_same() {
        let files = [
            joined("t.STL", ascii_file().as_bytes()),
            joined("t.stl", &binary_file()),
            joined("t.obj", obj_file().as_bytes()),
        ];
        for raw in &files {
            assert_eq!((raw.corners.len(), raw.faces.len()), (4, 4));
            let triangles = raw.faces.iter().map(|face| face.map(|i| raw.corners[i as usize]));
            assert_eq!(triangles.collect::<Vec<_>>(), FACES.map(|face| face.map(|i| TETRAHEDRON[i])));
        }
    }

    #[test]
    fn polygons_become_triangles() {
        let raw = joined("q.obj", b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
        assert_eq!(raw.faces, [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let said = |name: &str, text: &str| {
            let wrong = read(name, text.as_bytes()).unwrap_err();
            (wrong.line, wrong.message)
        };
        assert_eq!(
            said("a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 1 2 x"),
            (Some(4), "`x` is not a number".into())
        );
        assert_eq!(said("a.stl", "solid\nvertex 1 2 3\nendloop").1, "a facet has 1 corners");
        assert_eq!(said("a.stl", "solid\nfacet\n"), (Some(2), "the file ends before `endsolid`".into()));
        assert_eq!(said("a.stl", "solid a\nendsolid a\n").1, "there are no triangles in it");
        assert_eq!(said("a.stl", "stolid").1, "6 bytes are no STL file");
        assert_eq!(
            said("a.obj", "v 0 0 0\nf 1 1 2\n"),
            (Some(2), "corner 2 does not exist: there are 1 so far".into())
        );
        assert_eq!(said("a.obj", "v 0 0\n"), (Some(1), "a coordinate is missing".into()));
        assert_eq!(said("a.obj", "v 0 0 inf\n").1, "`inf` is not finite");
        assert_eq!(said("a.step", "").1, "its name ends neither in .stl nor in .obj");
        let mut cut = binary_file();
        cut.truncate(100);
        cut[0] = b'x';
        assert_eq!(
            read("a.stl", &cut).unwrap_err().message,
            "a file of 4 triangles has 284 bytes, this one 100"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

        /// Cut short or with bytes changed: an answer or an error, never a panic, and no index out of range.
        #[test]
        fn spoilt_files_are_refused_or_read(cut in 0..400usize, at in 0..400usize, byte: u8) {
            for (name, mut bytes) in
                [("a.stl", ascii_file().into_bytes()), ("a.stl", binary_file()), ("a.obj", obj_file().into_bytes())]
            {
                bytes.truncate(bytes.len().saturating_sub(cut));
                if let Some(b) = bytes.get_mut(at) {
                    *b = byte;
                }
                if let Ok(raw) = read(name, &bytes) {
                    let raw = raw.joined();
                    prop_assert!(raw.faces.iter().flatten().all(|i| (*i as usize) < raw.corners.len()));
                }
            }
        }
    }
}
