//! Nesting, counted before anything is parsed.
//!
//! The tree is walked, and freed, by recursion; a file of a million brackets or dots must be refused
//! before there is a tree. The count knows strings and comments and nothing else of the syntax.

use crate::MAX_DEPTH;

/// The first byte at which a text is nested too deeply.
pub fn too_deep(text: &str, toml: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut dots) = (0usize, 0usize);
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'"' => i = after_string(bytes, i, b'"', toml),
            b'\'' if toml => i = after_string(bytes, i, b'\'', toml),
            b'#' if toml => {
                while i < bytes.len() && bytes[i] != b'\n' {
                    i += 1;
                }
            }
            b => {
                match b {
                    b'[' | b'{' => {
                        depth += 1;
                        dots = 0;
                    }
                    b']' | b'}' => {
                        depth = depth.saturating_sub(1);
                        dots = 0;
                    }
                    // a dotted key makes a table per dot
                    b'.' if toml => dots += 1,
                    b',' | b'=' | b'\n' => dots = 0,
                    _ => {}
                }
                if depth > MAX_DEPTH || dots > MAX_DEPTH {
                    return Some(i);
                }
                i += 1;
            }
        }
    }
    None
}

/// The byte after the string that begins at `start`.
fn after_string(bytes: &[u8], start: usize, quote: u8, toml: bool) -> usize {
    let escapes = quote == b'"';
    let triple = toml && bytes[start..].starts_with(&[quote; 3]);
    let mut i = start + if triple { 3 } else { 1 };
    while i < bytes.len() {
        let b = bytes[i];
        if b == b'\\' && escapes {
            i += 2;
        } else if triple && bytes[i..].starts_with(&[quote; 3]) {
            return i + 3;
        } else if !triple && (b == quote || b == b'\n') {
            return i + 1;
        } else {
            i += 1;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::too_deep;

    #[test]
    fn brackets_in_strings_and_comments_do_not_count() {
        let many = "[".repeat(1000);
        for text in [
            format!("a = \"{many}\""),
            format!("a = '{many}'"),
            format!("a = \"\"\"\n{many}\"\"\""),
            format!("# {many}\na = 1"),
            format!("a = \"\\\"{many}\""),
        ] {
            assert_eq!(too_deep(&text, true), None, "{text}");
        }
        assert_eq!(too_deep(&many, true), Some(crate::MAX_DEPTH));
        assert_eq!(too_deep(&format!("a{} = 1", ".a".repeat(1000)), true), Some(2 * crate::MAX_DEPTH + 1));
        assert_eq!(too_deep(&format!("a = [{}]", "1.5, ".repeat(1000)), true), None);
        assert_eq!(too_deep(&format!("{{\"a\": \"{many}\"}}"), false), None);
    }
}
