//! A placed figure as SVG.

use crate::figure::{Axis, Figure, Panel, PointMark, Series};
use crate::layout::{LABEL_ANGLE, Page, PanelLayout, TICK_GAP, TICK_LENGTH};
use crate::marks::{cross, hatch, hatch_definition, marker};
use crate::png::FAMILY;
use crate::style::{CAPTION, FAINT, GRID, INK, LegendEntry, NAME, SeriesStyle, TICK, TITLE};
use crate::svg::{Svg, TextAnchor, px};
use crate::text::{cut, escape, width};
use crate::thin::{PagePoint, pieces};
use std::fmt::Write;

/// Most markers on a line whose points are many.
const FEW: usize = 12;
/// Lines with more points than this count as such.
const MANY: usize = 60;
/// Part of a category's width that its bars take.
const BARS: f64 = 0.8;

/// The whole document.
pub(crate) fn figure(figure: &Figure) -> String {
    let page = Page::new(figure);
    let mut svg = Svg::default();
    let (w, h) = (px(page.size.0), px(page.size.1));
    let _ = writeln!(
        svg.body,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"'{FAMILY}', Verdana, Arial, sans-serif\">"
    );
    if !figure.title.is_empty() {
        let _ = writeln!(svg.body, "<title>{}</title>", escape(&figure.title));
    }
    definitions(&mut svg, &page);
    svg.rect((0.0, 0.0), page.size, "#ffffff", "");
    for (at, line) in &page.title {
        svg.text(*at, line, TITLE, TextAnchor::Middle, 0.0, INK);
    }
    for (i, (panel, panel_layout)) in figure.panels.iter().zip(&page.panels).enumerate() {
        svg.open(" class=\"panel\"");
        frame(&mut svg, panel, panel_layout);
        svg.open(&format!(" clip-path=\"url(#area{i})\""));
        series(&mut svg, panel, panel_layout, &page.entries);
        svg.close();
        svg.close();
    }
    if let Some((legend, at)) = &page.legend {
        legend.draw(&mut svg, *at);
    }
    for (at, line) in &page.notes {
        svg.text(*at, line, NAME - 0.5, TextAnchor::Start, 0.0, FAINT);
    }
    svg.body += "</svg>\n";
    svg.body
}

/// Clips of the areas, hatches of the bars.
fn definitions(svg: &mut Svg, page: &Page) {
    svg.body += "<defs>\n";
    for (i, panel) in page.panels.iter().enumerate() {
        // markers on the edge are not cut
        let margin = 5.0;
        let _ = write!(svg.body, "<clipPath id=\"area{i}\">");
        let corner = (panel.corner.0 - margin, panel.corner.1 - margin);
        svg.rect(corner, (panel.size.0 + 2.0 * margin, panel.size.1 + 2.0 * margin), INK, "");
        svg.body += "</clipPath>\n";
    }
    let mut defined = Vec::new();
    for entry in page.entries.iter().filter(|e| e.paint.mark == PointMark::Bars) {
        if let Some(definition) = hatch_definition(&entry.paint).filter(|d| !defined.contains(d)) {
            let _ = writeln!(svg.body, "{definition}");
            defined.push(definition);
        }
    }
    svg.body += "</defs>\n";
}

/// Grid, axes, ticks, numbers and captions.
fn frame(svg: &mut Svg, panel: &Panel, at: &PanelLayout) {
    let ((x, y), (w, h)) = (at.corner, at.size);
    let bottom = y + h;
    let across = |v: f64| at.x.position(v).map_or(x, |p| x + p * w);
    let up = |v: f64| at.y.position(v).map_or(bottom, |p| bottom - p * h);
    let named = matches!(panel.x.scale, crate::figure::AxisScale::Categories(_));

    for (v, _) in at.y_ticks.major.iter() {
        svg.line((x, up(*v)), (x + w, up(*v)), GRID, 1.0);
    }
    for (v, _) in at.x_ticks.major.iter().filter(|_| !named) {
        svg.line((across(*v), y), (across(*v), bottom), GRID, 1.0);
    }
    svg.rect(at.corner, at.size, "none", &format!(" stroke=\"{INK}\" stroke-width=\"0.8\""));
    for v in &at.y_ticks.minor {
        svg.line((x - 0.5 * TICK_LENGTH, up(*v)), (x, up(*v)), INK, 0.6);
    }
    for v in &at.x_ticks.minor {
        svg.line((across(*v), bottom), (across(*v), bottom + 0.5 * TICK_LENGTH), INK, 0.6);
    }
    for (v, label) in &at.y_ticks.major {
        svg.line((x - TICK_LENGTH, up(*v)), (x, up(*v)), INK, 0.8);
        let point = (x - TICK_LENGTH - TICK_GAP, up(*v) + 0.36 * TICK);
        svg.text(point, label, TICK, TextAnchor::End, 0.0, INK);
    }
    for (v, label) in &at.x_ticks.major {
        let middle = across(*v);
        if !named {
            svg.line((middle, bottom), (middle, bottom + TICK_LENGTH), INK, 0.8);
        }
        let below = bottom + TICK_LENGTH + TICK_GAP + 0.76 * TICK;
        if at.slanted {
            let label = cut(label, TICK, 220.0);
            svg.text((middle + 0.3 * TICK, below), &label, TICK, TextAnchor::End, -LABEL_ANGLE, INK);
        } else {
            svg.text((middle, below), label, TICK, TextAnchor::Middle, 0.0, INK);
        }
    }
    captions(svg, panel, at);
}

fn captions(svg: &mut Svg, panel: &Panel, at: &PanelLayout) {
    let ((x, y), (w, h)) = (at.corner, at.size);
    if !at.y_ticks.factor.is_empty() {
        svg.text((x, y - 5.0), &at.y_ticks.factor, TICK, TextAnchor::Start, 0.0, INK);
    }
    if !panel.title.is_empty() {
        let lift = if at.y_ticks.factor.is_empty() { 8.0 } else { 16.0 };
        svg.text((x + 0.5 * w, y - lift), &panel.title, CAPTION, TextAnchor::Middle, 0.0, INK);
    }
    let foot = y + h + at.below - 5.0;
    if !at.x_ticks.factor.is_empty() {
        svg.text((x + w, foot), &at.x_ticks.factor, TICK, TextAnchor::End, 0.0, INK);
    }
    let caption = panel.x.caption();
    if at.captioned && !caption.is_empty() {
        svg.text((x + 0.5 * w, foot), &caption, fitted(&caption, w), TextAnchor::Middle, 0.0, INK);
    }
    let caption = panel.y.caption();
    if !caption.is_empty() {
        let point = (at.caption, y + 0.5 * h);
        svg.text(point, &caption, fitted(&caption, h + 20.0), TextAnchor::Middle, -90.0, INK);
    }
    let empty = !panel.series.iter().flat_map(|s| &s.points).any(|p| page_point(at, p).is_some());
    if empty {
        svg.text((x + 0.5 * w, y + 0.5 * h), "no data", CAPTION, TextAnchor::Middle, 0.0, FAINT);
    }
}

/// The size at which a caption fits into a length.
fn fitted(caption: &str, length: f64) -> f64 {
    (CAPTION * length / width(caption, CAPTION)).clamp(7.0, CAPTION)
}

/// A point on the page; none where it has no place on an axis.
fn page_point(at: &PanelLayout, p: &(f64, f64)) -> PagePoint {
    let (x, y) = (at.x.position(p.0)?, at.y.position(p.1)?);
    Some((at.corner.0 + x * at.size.0, at.corner.1 + (1.0 - y) * at.size.1))
}

fn series(svg: &mut Svg, panel: &Panel, at: &PanelLayout, entries: &[LegendEntry]) {
    // many lines are thinner
    let thickness = if panel.series.len() > 6 { 1.1 } else { 1.6 };
    let bars: Vec<&Series> = panel.series.iter().filter(|s| s.mark == PointMark::Bars).collect();
    for (i, series) in panel.series.iter().enumerate() {
        let Some(entry) = entries.iter().find(|e| e.name == series.name) else { continue };
        let paint = SeriesStyle { mark: series.mark, ..entry.paint };
        svg.open(" class=\"series\"");
        if !series.name.is_empty() {
            let _ = writeln!(svg.body, "<title>{}</title>", escape(&series.name));
        }
        match series.mark {
            PointMark::Bars => {
                let rank = panel.series[..i].iter().filter(|s| s.mark == PointMark::Bars).count();
                draw_bars(svg, series, at, &paint, &panel.x, (rank, bars.len()));
            }
            PointMark::Markers => {
                series.points.iter().filter_map(|p| page_point(at, p)).for_each(|p| marker(svg, p, &paint));
            }
            PointMark::Line | PointMark::Dashed => draw_line(svg, series, at, &paint, thickness),
            PointMark::LineMarkers => {
                draw_line(svg, series, at, &paint, 1.3);
                draw_some_markers(svg, series, at, &paint, i);
            }
        }
        svg.close();
    }
}

fn draw_line(svg: &mut Svg, series: &Series, at: &PanelLayout, paint: &SeriesStyle, thickness: f64) {
    let mut d = String::new();
    for piece in pieces(series.points.iter().map(|p| page_point(at, p))) {
        // a point alone is a dot
        if let [(x, y)] = piece[..] {
            svg.rect((x - 1.2, y - 1.2), (2.4, 2.4), paint.colour, "");
            continue;
        }
        for (k, (x, y)) in piece.iter().enumerate() {
            let _ = write!(d, "{}{} {}", if k == 0 { "M" } else { "L" }, px(*x), px(*y));
        }
    }
    if !d.is_empty() {
        svg.path(&d, paint.colour, thickness, paint.dash);
    }
}

/// Markers of a line: all where they are few, else some, at other places for every series.
fn draw_some_markers(svg: &mut Svg, series: &Series, at: &PanelLayout, paint: &SeriesStyle, i: usize) {
    let n = series.points.len();
    let every = if n > MANY { n.div_ceil(FEW) } else { 1 };
    let first = if every > 1 { (i * every / 3) % every } else { 0 };
    let chosen = series.points.iter().skip(first).step_by(every);
    chosen.filter_map(|p| page_point(at, p)).for_each(|p| marker(svg, p, paint));
}

fn draw_bars(
    svg: &mut Svg,
    series: &Series,
    at: &PanelLayout,
    paint: &SeriesStyle,
    x: &Axis,
    (rank, of): (usize, usize),
) {
    let slots = match &x.scale {
        crate::figure::AxisScale::Categories(names) => names.len().max(1),
        _ => series.points.len().max(1),
    };
    let group = BARS * at.size.0 / slots as f64;
    let thickness = group / of.max(1) as f64;
    let (top, height) = (at.corner.1, at.size.1);
    let foot = at.y.position(0.0).map_or(top + height, |p| top + (1.0 - p.clamp(0.0, 1.0)) * height);
    let fill = hatch(paint).map_or(paint.colour.to_string(), |name| format!("url(#{name})"));
    let stroke = format!(" stroke=\"{}\" stroke-width=\"0.8\"", paint.colour);
    for (category, value) in &series.points {
        let Some(along) = at.x.position(*category) else { continue };
        let left = at.corner.0 + along * at.size.0 - 0.5 * group + rank as f64 * thickness;
        match at.y.position(*value) {
            Some(p) => {
                let head = top + (1.0 - p.clamp(0.0, 1.0)) * height;
                let (upper, lower) = (head.min(foot), head.max(foot));
                let inset = (0.06 * thickness).min(1.5);
                svg.rect((left + inset, upper), (thickness - 2.0 * inset, lower - upper), &fill, &stroke);
            }
            None => cross(svg, (left + 0.5 * thickness, foot - 6.0), paint.colour),
        }
    }
}
