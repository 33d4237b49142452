//! A curve in letters, for terminals: dots of Braille characters, 2 × 4 to a letter.

use crate::figure::Axis;
use crate::text::number;

/// First of the Braille characters; its dots are the bits added to it.
const BLANK: u32 = 0x2800;
/// Bits of the dots by column and row.
const DOTS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
/// Letters left of the frame.
const LABEL: usize = 11;

/// Draws points, joined in their order, into `width` × `height` letters with the ends of the axes beside them; a point that is not a
/// finite number breaks the line. The caption of `y` stands above, that of `x` below.
pub fn terminal(x: &Axis, y: &Axis, points: &[(f64, f64)], width: usize, height: usize) -> String {
    let (columns, rows) = (width.saturating_sub(LABEL + 2).clamp(10, 400), height.clamp(2, 100));
    let finite = || points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
    let (left, right) = span(finite().map(|p| p.0));
    let (low, high) = span(finite().map(|p| p.1));
    let (across, down) = (2 * columns, 4 * rows);
    let cell = |(px, py): (f64, f64)| {
        let u = (px - left) / (right - left) * (across - 1) as f64;
        let v = (high - py) / (high - low) * (down - 1) as f64;
        (u.round() as i64, v.round() as i64)
    };

    let mut cells = vec![0_u32; columns * rows];
    let mut dot = |u: i64, v: i64| {
        let (u, v) = (u.clamp(0, across as i64 - 1) as usize, v.clamp(0, down as i64 - 1) as usize);
        cells[v / 4 * columns + u / 2] |= DOTS[u % 2][v % 4];
    };
    let mut last: Option<(i64, i64)> = None;
    for &point in points {
        if !(point.0.is_finite() && point.1.is_finite()) {
            last = None;
            continue;
        }
        let to = cell(point);
        let from = last.unwrap_or(to);
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).max(1);
        for step in 0..=steps {
            let part = |a: i64, b: i64| a + ((b - a) as f64 * step as f64 / steps as f64).round() as i64;
            dot(part(from.0, to.0), part(from.1, to.1));
        }
        last = Some(to);
    }

    let mut text = format!("{:LABEL$} {}\n", "", y.caption());
    for row in 0..rows {
        let label = match row {
            _ if finite().next().is_none() => String::new(),
            0 => number(high),
            row if row + 1 == rows => number(low),
            _ => String::new(),
        };
        let line: String = cells[row * columns..][..columns]
            .iter()
            .filter_map(|bits| char::from_u32(BLANK + bits))
            .collect();
        text += &format!("{label:>LABEL$} │{line}\n");
    }
    let ends = (number(left), number(right));
    let caption = x.caption();
    let gap = columns.saturating_sub(ends.0.chars().count() + ends.1.chars().count());
    let before = gap.saturating_sub(caption.chars().count()) / 2;
    let after = gap.saturating_sub(caption.chars().count() + before);
    text += &format!("{:LABEL$} └{}\n", "", "─".repeat(columns));
    text +=
        &format!("{:LABEL$}  {}{}{caption}{}{}\n", "", ends.0, " ".repeat(before), " ".repeat(after), ends.1);
    text
}

/// Least and greatest, apart from each other.
fn span(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    if !(low <= high) {
        return (0.0, 1.0);
    }
    if high - low > 1e-12 * low.abs().max(high.abs()) {
        return (low, high);
    }
    let half = if low == 0.0 { 1.0 } else { 0.5 * low.abs() };
    (low - half, high + half)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<Vec<char>> {
        let lines = text.lines().filter_map(|line| line.split_once('│'));
        lines.map(|(_, line)| line.chars().collect()).collect()
    }

    #[test]
    fn a_rising_line_goes_from_the_lower_left_to_the_upper_right() {
        let (x, y) = (Axis::linear("time", "s"), Axis::linear("a.x", "m"));
        let text = terminal(&x, &y, &[(0.0, -1.0), (2.0, 3.0)], 40, 6);
        let cells = cells(&text);
        assert_eq!((cells.len(), cells[0].len()), (6, 40 - 13));
        assert_ne!(cells[5][0], '\u{2800}');
        assert_ne!(cells[0][26], '\u{2800}');
        assert_eq!((cells[0][0], cells[5][26]), ('\u{2800}', '\u{2800}'));
        for word in ["a.x (m)", "time (s)", "−1", "3", "2"] {
            assert!(text.contains(word), "{word} in\n{text}");
        }
    }

    #[test]
    fn gaps_stay_open_and_nothing_is_drawn_of_nothing() {
        let axis = Axis::linear("x", "");
        let points = [(0.0, 0.0), (1.0, f64::NAN), (2.0, 0.0)];
        let drawn = |points: &[(f64, f64)]| {
            let cells = cells(&terminal(&axis, &axis, points, 40, 4));
            cells.iter().flatten().filter(|c| **c != '\u{2800}').count()
        };
        assert_eq!(drawn(&points), 2);
        assert_eq!(drawn(&[]), 0);
        assert_eq!(drawn(&[(f64::INFINITY, 0.0)]), 0);
    }
}
