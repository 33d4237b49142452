//! Describes where everything stands on the page. Margins follow from the texts in them; areas of a column are aligned.

use crate::figure::{Axis, AxisScale, Figure, Panel, PointMark};
use crate::legend::LegendBlock;
use crate::scale::{AxisBase, AxisRange};
use crate::style::{CAPTION, LegendEntry, NAME, TICK, TITLE, entries};
use crate::text::{width, wrap};
use crate::ticks::Ticks;

/// Around everything \[px\].
const MARGIN: f64 = 12.0;
/// Length of a tick, and its distance to the number.
pub(crate) const TICK_LENGTH: f64 = 4.0;
pub(crate) const TICK_GAP: f64 = 4.0;
/// Between neighbouring panels.
const BETWEEN: f64 = 14.0;
/// Height of a line of the title, of a caption, of a remark.
const TITLE_LINE: f64 = 20.0;
const CAPTION_LINE: f64 = 19.0;
pub(crate) const NOTE_LINE: f64 = 14.5;
/// Extent to which names below an axis are turned where they do not fit \[°\].
pub(crate) const LABEL_ANGLE: f64 = 30.0;

/// A panel on the page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PanelLayout {
    /// Upper left corner of the area within the axes.
    pub corner: (f64, f64),
    /// Its size.
    pub size: (f64, f64),
    /// The axes.
    pub x: AxisRange,
    pub y: AxisRange,
    pub x_ticks: Ticks,
    pub y_ticks: Ticks,
    /// True if the name of the x axis is written here, and not below.
    pub captioned: bool,
    /// True if names below the axis are turned.
    pub slanted: bool,
    /// Marks where the name of the y axis stands.
    pub caption: f64,
    /// Workspace for numbers left of the axis, and for all below it.
    pub left: f64,
    pub below: f64,
}

/// A figure on its page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Page {
    pub size: (f64, f64),
    /// Lines of the title with their places: the middle, and the baseline.
    pub title: Vec<((f64, f64), String)>,
    pub panels: Vec<PanelLayout>,
    pub entries: Vec<LegendEntry>,
    pub legend: Option<(LegendBlock, (f64, f64))>,
    /// Lines of remarks with their places.
    pub notes: Vec<((f64, f64), String)>,
}

impl Page {
    /// Places a figure.
    pub fn new(figure: &Figure) -> Page {
        let columns = figure.columns.clamp(1, figure.panels.len().max(1));
        let rows = figure.panels.len().div_ceil(columns);
        let size = area(figure, columns, rows);
        let mut panels: Vec<PanelLayout> =
            (0..figure.panels.len()).map(|i| axes(figure, i, columns, size)).collect();

        // columns from the left, then rows from the top
        let mut x = MARGIN;
        for column in 0..columns {
            let of = |i: &usize| i % columns == column;
            let left = (0..panels.len())
                .filter(of)
                .map(|i| left(&figure.panels[i].y, &panels[i]))
                .fold(0.0, f64::max);
            x += left;
            for i in (0..panels.len()).filter(of) {
                panels[i].corner.0 = x;
                panels[i].caption = x - left + 0.85 * CAPTION;
            }
            x += size.0 + BETWEEN;
        }
        let right = x;
        let title = wrap(&figure.title, TITLE, (right - 2.0 * MARGIN).max(200.0));
        let mut y = MARGIN + title.len() as f64 * TITLE_LINE;
        for row in 0..rows {
            let range = row * columns..((row + 1) * columns).min(panels.len());
            y += range.clone().map(|i| above(&figure.panels[i], &panels[i])).fold(0.0, f64::max);
            range.clone().for_each(|i| panels[i].corner.1 = y);
            y += size.1
                + range.map(|i| panels[i].below).fold(0.0, f64::max)
                + if row + 1 < rows { 4.0 } else { 0.0 };
        }

        let middle = 0.5 * (panels.first().map_or(MARGIN, |p| p.corner.0) + right - BETWEEN);
        let title: Vec<_> = title
            .into_iter()
            .enumerate()
            .map(|(k, line)| ((middle, MARGIN + (k as f64 + 0.75) * TITLE_LINE), line))
            .collect();
        let mut page = Page {
            size: (right, y),
            title,
            panels,
            entries: entries(&figure.panels),
            legend: None,
            notes: Vec::new(),
        };
        page.add_legend(figure);
        page.add_notes(figure);
        page.size = (page.size.0.ceil(), (page.size.1 + MARGIN).ceil());
        page
    }

    fn add_legend(&mut self, figure: &Figure) {
        let first = self.panels.first().map_or((MARGIN, MARGIN), |p| p.corner);
        let area = (self.size.0 - first.0 - MARGIN, self.size.1 - first.1);
        let Some(block) = LegendBlock::new(figure, &self.entries, area) else { return };
        let (w, h) = block.size();
        if block.below {
            self.legend = Some((block, (first.0, self.size.1 + 8.0)));
            self.size = (self.size.0.max(first.0 + w + MARGIN), self.size.1 + 8.0 + h);
        } else {
            self.legend = Some((block, (self.size.0 + 4.0, first.1)));
            self.size = (self.size.0 + 4.0 + w + MARGIN, self.size.1.max(first.1 + h));
        }
    }

    fn add_notes(&mut self, figure: &Figure) {
        let all = figure.notes.iter().chain(figure.panels.iter().flat_map(|p| &p.notes));
        let left = self.panels.first().map_or(MARGIN, |p| p.corner.0);
        let lines: Vec<String> =
            all.flat_map(|note| wrap(note, NAME - 0.5, (self.size.0 - left - MARGIN).max(200.0))).collect();
        if lines.is_empty() {
            return;
        }
        let top = self.size.1 + 8.0;
        self.size.1 = top + lines.len() as f64 * NOTE_LINE;
        self.notes = lines
            .into_iter()
            .enumerate()
            .map(|(k, line)| ((left, top + (k as f64 + 0.8) * NOTE_LINE), line))
            .collect();
    }
}

/// Size of the area within the axes.
fn area(figure: &Figure, columns: usize, rows: usize) -> (f64, f64) {
    let typical = match (columns, rows) {
        (1, 0 | 1) => (540.0, 340.0),
        (1, 2) => (540.0, 220.0),
        (1, _) => (540.0, 180.0),
        (2, _) => (360.0, 270.0),
        _ => (280.0, 220.0),
    };
    let (w, h) = figure.panel_size.unwrap_or(typical);
    let sane = |x: f64, typical: f64| if x.is_finite() { x.clamp(40.0, 4000.0) } else { typical };
    (sane(w, typical.0), sane(h, typical.1))
}

/// Ranges and ticks of panel `i`. Panels of a column that measure the same to the right share the range, and the
/// lowest alone has the name.
fn axes(figure: &Figure, i: usize, columns: usize, size: (f64, f64)) -> PanelLayout {
    let panel = &figure.panels[i];
    let same = |k: &usize| k % columns == i % columns && figure.panels[*k].x == panel.x;
    let sharing: Vec<usize> = (0..figure.panels.len()).filter(same).collect();
    let x = fit_x(&panel.x, sharing.iter().map(|&k| &figure.panels[k]));
    let y = fit_y(panel);
    // panels between two that share may not, then each is named
    let adjacent = sharing.iter().enumerate().all(|(n, &k)| k == sharing[0] + n * columns);
    let captioned = !adjacent || sharing.last() == Some(&i);

    let y_ticks = Ticks::new(&y, (size.1 / 30.0) as usize);
    let (x_ticks, is_rotated) = x_ticks(&panel.x, &x, size.0);
    let left = TICK_LENGTH + TICK_GAP + widest(&y_ticks);
    let numbers =
        if is_rotated { widest(&x_ticks).min(220.0) * LABEL_ANGLE.to_radians().sin() + TICK } else { TICK };
    let caption = if captioned && !panel.x.caption().is_empty() { CAPTION_LINE } else { 2.0 };
    let below = TICK_LENGTH + TICK_GAP + numbers + caption;
    PanelLayout {
        corner: (0.0, 0.0),
        size,
        x,
        y,
        x_ticks,
        y_ticks,
        captioned,
        slanted: is_rotated,
        caption: 0.0,
        left,
        below,
    }
}

/// The range of an axis that some panels share.
fn fit_x<'a>(axis: &Axis, panels: impl Iterator<Item = &'a Panel> + Clone) -> AxisRange {
    let series = panels.clone().flat_map(|p| &p.series);
    let markers = series.clone().any(|s| matches!(s.mark, PointMark::Markers | PointMark::LineMarkers));
    // bars at numbers take half their distance beyond the ends
    let bars = series.filter(|s| s.mark == PointMark::Bars).map(|s| s.points.len()).max();
    let pad = match bars {
        Some(n) => 0.5 / (n.max(2) - 1) as f64,
        None if markers => 0.04,
        None => 0.0,
    };
    // a point that has no place up has none across, but a bar without a value is still shown
    let shown = panels.flat_map(|p| {
        let log = p.y.scale == AxisScale::Log;
        let shows = move |y: f64| y.is_finite() && (!log || y > 0.0);
        p.series
            .iter()
            .flat_map(move |s| s.points.iter().filter(move |q| s.mark == PointMark::Bars || shows(q.1)))
    });
    AxisRange::fit(axis, shown.map(|p| p.0), pad, AxisBase::Free)
}

fn fit_y(panel: &Panel) -> AxisRange {
    let foot =
        if panel.series.iter().any(|s| s.mark == PointMark::Bars) { AxisBase::Bars } else { AxisBase::Free };
    let log = panel.x.scale == AxisScale::Log;
    let points =
        panel.series.iter().flat_map(|s| &s.points).filter(|p| p.0.is_finite() && (!log || p.0 > 0.0));
    AxisRange::fit(&panel.y, points.map(|p| p.1), 0.05, foot)
}

/// As many ticks as have room, and whether they are turned.
fn x_ticks(axis: &Axis, range: &AxisRange, length: f64) -> (Ticks, bool) {
    if let AxisScale::Categories(names) = &axis.scale {
        let ticks = Ticks::categories(names);
        let margin = length / names.len().max(1) as f64;
        let is_rotated = widest(&ticks) > margin - 4.0;
        return (ticks, is_rotated);
    }
    let mut most = (length / 60.0) as usize;
    loop {
        let ticks = Ticks::new(range, most);
        let apart = ticks.major.windows(2).map(|w| {
            let distance = range.position(w[1].0).unwrap_or(1.0) - range.position(w[0].0).unwrap_or(0.0);
            distance * length - 0.5 * (width(&w[0].1, TICK) + width(&w[1].1, TICK))
        });
        if most <= 2 || apart.fold(f64::INFINITY, f64::min) > 8.0 {
            return (ticks, false);
        }
        most -= 1;
    }
}

fn widest(ticks: &Ticks) -> f64 {
    ticks.major.iter().map(|(_, label)| width(label, TICK)).fold(0.0, f64::max)
}

/// Room left of a panel's axis.
fn left(y: &Axis, panel: &PanelLayout) -> f64 {
    panel.left + if y.caption().is_empty() { 4.0 } else { CAPTION + 10.0 }
}

/// Room above a panel.
fn above(panel: &Panel, panel_layout: &PanelLayout) -> f64 {
    let title = if panel.title.is_empty() { 8.0 } else { 24.0 };
    title + if panel_layout.y_ticks.factor.is_empty() { 0.0 } else { 10.0 }
}
