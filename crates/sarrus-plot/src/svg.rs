//! A small writer of SVG elements. Coordinates have two decimals, so that the text is the same on every machine.

use crate::text::content;
use std::fmt::Write;

/// A coordinate: two decimals, no trailing zeros.
pub(crate) fn px(x: f64) -> String {
    let x = if x.is_finite() { x.clamp(-1e6, 1e6) } else { 0.0 };
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// Marks where a text stands against its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextAnchor {
    Start,
    Middle,
    End,
}

/// A document in the making.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    pub body: String,
}

impl Svg {
    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
        let _ = writeln!(
            self.body,
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{colour}\" stroke-width=\"{}\"/>",
            px(from.0),
            px(from.1),
            px(to.0),
            px(to.1),
            px(width)
        );
    }

    /// A rectangle; `extra` holds further attributes.
    pub fn rect(&mut self, (x, y): (f64, f64), (w, h): (f64, f64), fill: &str, extra: &str) {
        let _ = writeln!(
            self.body,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"{extra}/>",
            px(x),
            px(y),
            px(w.max(0.0)),
            px(h.max(0.0))
        );
    }

    /// An open path along `d`.
    pub fn path(&mut self, d: &str, colour: &str, width: f64, dash: &str) {
        let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        let _ = writeln!(
            self.body,
            "<path d=\"{d}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dash}/>",
            px(width)
        );
    }

    /// A line of text, rotated by `turn` degrees about its point.
    pub fn text(
        &mut self,
        (x, y): (f64, f64),
        text: &str,
        size: f64,
        anchor: TextAnchor,
        rotation: f64,
        colour: &str,
    ) {
        let anchor = match anchor {
            TextAnchor::Start => "",
            TextAnchor::Middle => " text-anchor=\"middle\"",
            TextAnchor::End => " text-anchor=\"end\"",
        };
        let (x, y) = (px(x), px(y));
        let rotation = if rotation == 0.0 {
            String::new()
        } else {
            format!(" transform=\"rotate({} {x} {y})\"", px(rotation))
        };
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{colour}\"{anchor}{rotation}>{}</text>",
            px(size),
            content(text, size)
        );
    }

    /// Opens a group; `attributes` begins with a space or is empty.
    pub fn open(&mut self, attributes: &str) {
        let _ = writeln!(self.body, "<g{attributes}>");
    }

    /// Closes a group.
    pub fn close(&mut self) {
        self.body += "</g>\n";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_never_broken() {
        assert_eq!(
            [px(1.0), px(-0.001), px(2.345_6), px(f64::NAN), px(-1e300)],
            ["1", "0", "2.35", "0", "-1000000"]
        );
    }
}
