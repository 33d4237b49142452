//! Colours, dashes, markers, hatches, sizes.

use crate::figure::{Panel, PointMark, StyleOverride};

/// The palette of Okabe and Ito [Okabe2008], with its yellow, which is too light for lines, replaced by grey, and two
/// dark ones more.
const COLOURS: [&str; 10] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#7f7f7f", "#882255",
    "#6b6b00",
];
/// Dash patterns; the first is solid.
const DASHES: [&str; 6] = ["", "7 3", "2 2.5", "8 3 2 3", "14 4", "8 3 2 3 2 3"];
/// Number of dash patterns and hatches.
pub(crate) const PATTERNS: usize = DASHES.len();
/// Number of markers.
pub(crate) const MARKERS: usize = 7;

/// Ink of text and axes.
pub(crate) const INK: &str = "#222222";
/// Ink of remarks.
pub(crate) const FAINT: &str = "#666666";
/// Ink of the grid.
pub(crate) const GRID: &str = "#e4e4e4";

/// Size of the title, of captions, of names, of numbers along the axes \[px\].
pub(crate) const TITLE: f64 = 15.0;
pub(crate) const CAPTION: f64 = 12.0;
pub(crate) const NAME: f64 = 11.0;
pub(crate) const TICK: f64 = 10.5;

/// Describes how a series looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SeriesStyle {
    pub colour: &'static str,
    pub dash: &'static str,
    /// Number of the hatch of bars; 0 is plain.
    pub hatch: usize,
    pub marker: usize,
    pub mark: PointMark,
}

/// A name in the legend and how it looks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LegendEntry {
    pub name: String,
    pub paint: SeriesStyle,
}

/// One entry per name, in the order of first appearance.
pub(crate) fn entries(panels: &[Panel]) -> Vec<LegendEntry> {
    let mut entries: Vec<LegendEntry> = Vec::new();
    for series in panels.iter().flat_map(|p| &p.series) {
        if !entries.iter().any(|e| e.name == series.name) {
            let paint = paint(entries.len(), series.mark, series.style);
            entries.push(LegendEntry { name: series.name.clone(), paint });
        }
    }
    entries
}

/// The style of the `i`-th name. Colours, dashes and markers repeat at different lengths, so that a combination does
/// not come back before the 30th.
fn paint(i: usize, mark: PointMark, style: StyleOverride) -> SeriesStyle {
    let pattern = style.dash.unwrap_or(i) % PATTERNS;
    let dash = match mark {
        PointMark::Dashed => DASHES[if style.dash.is_some() { pattern } else { 1 }],
        _ => DASHES[pattern],
    };
    SeriesStyle {
        colour: COLOURS[style.colour.unwrap_or(i) % COLOURS.len()],
        dash,
        hatch: pattern,
        marker: style.marker.unwrap_or(i) % MARKERS,
        mark,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn two_dozen_series_all_look_different_and_neighbours_differ_in_grey_too() {
        let paints: Vec<SeriesStyle> =
            (0..24).map(|i| paint(i, PointMark::Line, StyleOverride::default())).collect();
        let lines: BTreeSet<_> = paints.iter().map(|p| (p.colour, p.dash)).collect();
        let markers: BTreeSet<_> = paints.iter().map(|p| (p.colour, p.marker)).collect();
        assert_eq!((lines.len(), markers.len()), (24, 24));
        assert!(paints.windows(2).all(|w| w[0].dash != w[1].dash && w[0].marker != w[1].marker));
    }
}
