//! Text: width, escapes, superscripts, numbers.

use crate::widths::width as letter;

/// Superscripts are this much smaller, and raised by this much of the size.
const SUPER: f64 = 0.7;
const RAISED: f64 = 0.42;

/// A number as a figure has it: `−0.25`, `2×10⁻⁴`.
///
/// Six digits at most; numbers below 0.001 and from 100 000 on have a power of ten.
pub fn number(x: f64) -> String {
    if x == 0.0 {
        return "0".into();
    }
    if !x.is_finite() {
        return if x.is_nan() {
            "NaN".into()
        } else if x > 0.0 {
            "∞".into()
        } else {
            "−∞".into()
        };
    }
    let size = x.abs();
    if (1e-3..1e5).contains(&size) {
        let digits = (5 - size.log10().floor() as i32).clamp(0, 8) as usize;
        return minus(trim(&format!("{x:.digits$}")));
    }
    let text = format!("{x:.5e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    match trim(mantissa) {
        "1" => power(exponent),
        "-1" => format!("−{}", power(exponent)),
        mantissa => format!("{}×{}", minus(mantissa), power(exponent)),
    }
}

/// A power of ten: `10⁻⁴`.
pub fn power(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = exponent.to_string();
    let raised = digits.chars().map(|c| match c {
        '-' => '⁻',
        c => DIGITS[c as usize - '0' as usize],
    });
    "10".chars().chain(raised).collect()
}

/// A number with so many digits after the point.
pub(crate) fn fixed(x: f64, digits: usize) -> String {
    let text = format!("{x:.digits$}");
    let zero = text.bytes().all(|c| matches!(c, b'-' | b'0' | b'.'));
    minus(if zero { text.trim_start_matches('-') } else { &text })
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
}

fn trim(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// The digit or sign that a superscript raises.
fn lowered(c: char) -> Option<char> {
    Some(match c {
        '⁰' => '0',
        '¹' => '1',
        '²' => '2',
        '³' => '3',
        '⁴'..='⁹' => char::from(b'4' + (c as u32 - '⁴' as u32) as u8),
        '⁻' => '−',
        '⁺' => '+',
        _ => return None,
    })
}

/// Runs of a text, each with whether it is raised. Superscripts that every font has (`m/s²`) stay letters.
fn runs(text: &str) -> Vec<(bool, String)> {
    let mut runs: Vec<(bool, String)> = Vec::new();
    for c in text.chars() {
        let (raised, c) = lowered(c).map_or((false, c), |c| (true, c));
        match runs.last_mut() {
            Some((r, run)) if *r == raised => run.push(c),
            _ => runs.push((raised, c.to_string())),
        }
    }
    runs
}

fn common(text: &str) -> bool {
    text.chars().filter(|c| lowered(*c).is_some()).all(|c| matches!(c, '¹' | '²' | '³'))
}

/// Width of a line \[px\].
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let plain = |text: &str| text.chars().map(|c| f64::from(letter(c))).sum::<f64>() / 1000.0;
    if common(text) {
        return plain(text) * size;
    }
    runs(text).iter().map(|(raised, run)| plain(run) * if *raised { SUPER * size } else { size }).sum()
}

/// Returns what goes between the tags of a `text` element.
pub(crate) fn content(text: &str, size: f64) -> String {
    if common(text) {
        return escape(text);
    }
    let (small, rise) = (crate::svg::px(SUPER * size), crate::svg::px(RAISED * size));
    let mut out = String::new();
    let mut up = false;
    for (raised, run) in runs(text) {
        let run = escape(&run);
        match (raised, up) {
            (true, _) => out += &format!("<tspan dy=\"-{rise}\" font-size=\"{small}\">{run}</tspan>"),
            (false, true) => out += &format!("<tspan dy=\"{rise}\">{run}</tspan>"),
            (false, false) => out += &run,
        }
        up = raised;
    }
    out
}

/// Text that is safe in XML, without the characters that XML forbids.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' | '\t' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

/// Lines no wider than `most`, broken at spaces; a longer word is a line of its own.
pub(crate) fn wrap(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = if line.is_empty() { word.to_string() } else { format!("{line} {word}") };
        if !line.is_empty() && width(&longer, size) > most {
            lines.push(std::mem::replace(&mut line, word.to_string()));
        } else {
            line = longer;
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The text, cut with an ellipsis to fit into `most`.
pub(crate) fn cut(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.to_string();
    }
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if width(&out, size) + width("…", size) > most {
            out.pop();
            break;
        }
    }
    out.trim_end().to_string() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_set_as_in_print() {
        let cases = [
            (0.0, "0"),
            (-0.25, "−0.25"),
            (1234.5, "1234.5"),
            (1e-4, "10⁻⁴"),
            (-1e-12, "−10⁻¹²"),
            (2.5e-4, "2.5×10⁻⁴"),
            (123456.0, "1.23456×10⁵"),
            (f64::NEG_INFINITY, "−∞"),
        ];
        for (x, text) in cases {
            assert_eq!(number(x), text);
        }
        assert_eq!(fixed(-0.001, 2), "0.00");
    }

    #[test]
    fn powers_are_raised_and_come_back_down() {
        let text = content("2×10⁻⁴ m", 10.0);
        assert_eq!(text, "2×10<tspan dy=\"-4.2\" font-size=\"7\">−4</tspan><tspan dy=\"4.2\"> m</tspan>");
        assert_eq!(content("m/s²", 10.0), "m/s²");
    }

    #[test]
    fn what_xml_forbids_is_escaped_or_dropped() {
        assert_eq!(escape("a<b & \"c\">\u{1}"), "a&lt;b &amp; &quot;c&quot;&gt;");
    }

    #[test]
    fn long_text_is_wrapped_and_cut() {
        let text = "one two three four five six";
        let lines = wrap(text, 10.0, 60.0);
        assert!(lines.len() > 1 && lines.iter().all(|l| width(l, 10.0) <= 60.0));
        assert_eq!(lines.join(" "), text);
        let short = cut(text, 10.0, 60.0);
        assert!(short.ends_with('…') && width(&short, 10.0) <= 60.0);
    }
}
