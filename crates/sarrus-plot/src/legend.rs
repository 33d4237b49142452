//! The legend: names with samples of their lines, outside the axes.

use crate::figure::{Figure, Legend, PointMark};
use crate::marks;
use crate::style::{INK, LegendEntry, NAME};
use crate::svg::{Svg, TextAnchor};
use crate::text::{cut, width};

/// Width of a sample and its distance to the name \[px\].
const SAMPLE: f64 = 34.0;
const GAP: f64 = 7.0;
/// Between lines, and between columns.
const LINE: f64 = 17.0;
const BETWEEN: f64 = 18.0;
/// Widest name.
const WIDEST: f64 = 420.0;
/// Names wider than this make the legend go below.
const BESIDE: f64 = 230.0;

/// Names in rows and columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LegendBlock {
    entries: Vec<LegendEntry>,
    columns: usize,
    column_width: f64,
    /// True if it stands below the panels.
    pub below: bool,
}

impl LegendBlock {
    /// The legend of a figure whose panels take `area`; none where there is nothing to distinguish.
    pub fn new(figure: &Figure, entries: &[LegendEntry], area: (f64, f64)) -> Option<LegendBlock> {
        let entries: Vec<LegendEntry> = entries
            .iter()
            .filter(|e| !e.name.is_empty())
            .map(|e| LegendEntry { name: cut(&e.name, NAME, WIDEST), paint: e.paint })
            .collect();
        if entries.is_empty() || figure.legend == Legend::None {
            return None;
        }
        let widest = entries.iter().map(|e| width(&e.name, NAME)).fold(0.0, f64::max);
        let column_width = SAMPLE + GAP + widest;
        let fits = widest <= BESIDE && entries.len() as f64 * LINE <= area.1;
        let below = match figure.legend {
            Legend::Below => true,
            Legend::Right | Legend::None => false,
            Legend::Auto => !fits,
        };
        let columns = if below {
            let most = ((area.0 + BETWEEN) / (column_width + BETWEEN)).floor().max(1.0) as usize;
            // columns of equal length
            let rows = entries.len().div_ceil(most);
            entries.len().div_ceil(rows)
        } else {
            1
        };
        Some(LegendBlock { entries, columns, column_width, below })
    }

    fn rows(&self) -> usize {
        self.entries.len().div_ceil(self.columns)
    }

    /// Width and height \[px\].
    pub fn size(&self) -> (f64, f64) {
        let columns = self.columns as f64;
        (columns * self.column_width + (columns - 1.0) * BETWEEN, self.rows() as f64 * LINE)
    }

    /// Draws it with its upper left corner at a point.
    pub fn draw(&self, svg: &mut Svg, (x, y): (f64, f64)) {
        svg.open(" class=\"legend\"");
        for (i, entry) in self.entries.iter().enumerate() {
            let (column, row) = (i / self.rows(), i % self.rows());
            let left = x + column as f64 * (self.column_width + BETWEEN);
            let middle = y + (row as f64 + 0.5) * LINE;
            sample(svg, entry, (left, middle));
            let at = (left + SAMPLE + GAP, middle + 0.36 * NAME);
            svg.text(at, &entry.name, NAME, TextAnchor::Start, 0.0, INK);
        }
        svg.close();
    }
}

fn sample(svg: &mut Svg, entry: &LegendEntry, (left, middle): (f64, f64)) {
    let paint = &entry.paint;
    let line =
        format!("M{} {} H{}", crate::svg::px(left), crate::svg::px(middle), crate::svg::px(left + SAMPLE));
    match paint.mark {
        PointMark::Bars => {
            let fill = marks::hatch(paint).map_or(paint.colour.to_string(), |name| format!("url(#{name})"));
            let stroke = format!(" stroke=\"{}\" stroke-width=\"0.8\"", paint.colour);
            svg.rect((left + SAMPLE - 18.0, middle - 5.5), (18.0, 11.0), &fill, &stroke);
        }
        PointMark::Markers => marks::marker(svg, (left + 0.5 * SAMPLE, middle), paint),
        PointMark::Line | PointMark::Dashed => svg.path(&line, paint.colour, 1.8, paint.dash),
        PointMark::LineMarkers => {
            svg.path(&line, paint.colour, 1.5, paint.dash);
            marks::marker(svg, (left + 0.5 * SAMPLE, middle), paint);
        }
    }
}
