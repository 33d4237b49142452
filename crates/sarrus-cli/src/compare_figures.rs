//! Figures of `sarrus compare`: drift against time, work against precision, reactions, times.
//!
//! A column of panels per stabilization, a line per formulation, so that each figure answers one question at a glance.

use sarrus::analysis::compare::{Comparison, ComparisonRow, Effort, RowStatus};
use sarrus_plot::{Axis, Figure, Legend, Panel, PointMark, Series, StyleOverride, number};
use std::collections::BTreeSet;

/// Most figures of drift: one per integrator and tolerance.
const MOST: usize = 8;

/// Every figure with the name of its file, without extension.
pub fn figures(found: &Comparison) -> Vec<(String, Figure)> {
    let mut all = Vec::new();
    let settings = distinct(&found.rows, setting);
    for (k, setting) in settings.iter().enumerate().take(MOST) {
        let suffix = if settings.len() == 1 { String::new() } else { format!("-{}", k + 1) };
        if let Some(figure) = drift(found, setting) {
            all.push((format!("violation{suffix}"), figure));
        }
    }
    all.extend(precision(found).map(|f| ("work_precision".to_string(), f)));
    all.extend(reactions(found).map(|f| ("reactions".to_string(), f)));
    all.extend(times(found).map(|f| ("times".to_string(), f)));
    all
}

/// Integrator and tolerance, as a title has them.
fn setting(row: &ComparisonRow) -> String {
    let effort = match row.effort {
        Effort::Tolerance(t) => format!("rtol = {}", number(t.rtol)),
        Effort::Step { step: Some(step) } => format!("step = {} s", number(step)),
        Effort::Step { step: None } => "default step".to_string(),
    };
    format!("{}, {effort}", row.integrator)
}

/// The integrator that was asked for: a line over tolerances may have several that were chosen.
fn asked(row: &ComparisonRow) -> String {
    if row.auto { "auto".into() } else { row.integrator.clone() }
}

/// Least and greatest, with room.
fn ends(values: impl Iterator<Item = f64>, margin: f64) -> Option<(f64, f64)> {
    let join =
        |ends: Option<(f64, f64)>, v: f64| Some(ends.map_or((v, v), |(lo, hi)| (lo.min(v), hi.max(v))));
    let found = values.filter(|v| v.is_finite() && *v > 0.0).fold(None, join);
    found.map(|(lo, hi)| (lo / margin, hi * margin))
}

/// Values in the order of first appearance.
fn distinct(rows: &[ComparisonRow], of: impl Fn(&ComparisonRow) -> String) -> Vec<String> {
    let mut seen = BTreeSet::new();
    rows.iter().map(of).filter(|value| seen.insert(value.clone())).collect()
}

/// A check per formulation, the same in all figures.
fn style_of(found: &Comparison, row: &ComparisonRow) -> StyleOverride {
    let index = distinct(&found.rows, |r| r.formulation.clone()).iter().position(|f| *f == row.formulation);
    StyleOverride { colour: index, dash: index, marker: index }
}

/// Norms of the violations against time: a row of panels per level, a column per stabilization.
fn drift(found: &Comparison, setting_wanted: &str) -> Option<Figure> {
    let rows: Vec<&ComparisonRow> = found
        .rows
        .iter()
        .filter(|r| setting(r) == setting_wanted && r.drift.is_some() && !r.history.t.is_empty())
        .collect();
    if rows.is_empty() {
        return None;
    }
    let stabilizations: Vec<String> = distinct(&found.rows, |r| r.stabilization.clone())
        .into_iter()
        .filter(|s| rows.iter().any(|r| r.stabilization == *s))
        .collect();
    let mut figure = Figure::new(format!("{}: violation of the constraints ({setting_wanted})", found.model));
    figure.columns = stabilizations.len();
    for (level, name) in ["position", "velocity", "acceleration"].into_iter().enumerate() {
        // one scale per level, so that panels can be compared
        let range = ends(rows.iter().flat_map(|r| &r.history.violation[level]).copied(), 2.0);
        for (column, stabilization) in stabilizations.iter().enumerate() {
            let caption = if column == 0 { format!("{name} level") } else { String::new() };
            let mut panel = Panel::new(Axis::linear("time", "s"), Axis { range, ..Axis::log(caption, "") });
            if level == 0 {
                panel.title = stabilization.clone();
            }
            for row in rows.iter().filter(|r| r.stabilization == *stabilization) {
                let points = row.history.t.iter().copied().zip(row.history.violation[level].iter().copied());
                panel.series.push(Series::line(&row.formulation, points).style(style_of(found, row)));
            }
            figure.panels.push(panel);
        }
    }
    Some(figure.note(
        "2-norms over all constraint rows. A line that ends early is a run that failed or was stopped.",
    ))
}

/// Work against precision: a row of panels per measure of work, a column per stabilization.
fn precision(found: &Comparison) -> Option<Figure> {
    let good = |r: &&ComparisonRow| {
        r.status == RowStatus::Completed && r.error.is_some_and(|e| e > 0.0 && e.is_finite())
    };
    let rows: Vec<&ComparisonRow> = found.rows.iter().filter(good).collect();
    if rows.is_empty() {
        return None;
    }
    let stabilizations: Vec<String> = distinct(&found.rows, |r| r.stabilization.clone())
        .into_iter()
        .filter(|s| rows.iter().any(|r| r.stabilization == *s))
        .collect();
    let integrators = distinct(&found.rows, asked);
    let errors = ends(rows.iter().filter_map(|r| r.error), 1.5);
    let timed = rows.iter().any(|r| r.time_s.is_some());
    type Work = fn(&ComparisonRow) -> Option<f64>;
    let mut measures: Vec<(&str, &str, Work)> =
        vec![("RHS evaluations", "", |r| r.counts.map(|c| c.rhs as f64))];
    if timed {
        measures.push(("time", "s", |r| r.time_s));
    }
    let mut figure = Figure::new(format!("{}: work and precision", found.model));
    figure.columns = stabilizations.len();
    for (k, (label, unit, work)) in measures.iter().enumerate() {
        let range = ends(rows.iter().filter_map(|r| work(r)), 1.25);
        for (column, stabilization) in stabilizations.iter().enumerate() {
            let (label, unit) = if column == 0 { (*label, *unit) } else { ("", "") };
            let mut panel = Panel::new(
                Axis { range: errors, ..Axis::log("error", "m, rad") },
                Axis { range, ..Axis::log(label, unit) },
            );
            if k == 0 {
                panel.title = stabilization.clone();
            }
            for row in rows.iter().filter(|r| r.stabilization == *stabilization) {
                // one line per method over its tolerances
                let name = if integrators.len() > 1 {
                    format!("{}, {}", row.formulation, asked(row))
                } else {
                    row.formulation.clone()
                };
                let point = (row.error.unwrap_or(f64::NAN), work(row).unwrap_or(f64::NAN));
                match panel.series.iter_mut().find(|s| s.name == name) {
                    Some(series) => series.points.push(point),
                    None => {
                        let dash = integrators.iter().position(|i| *i == asked(row));
                        let style = style_of(found, row);
                        let style =
                            if integrators.len() > 1 { StyleOverride { dash, ..style } } else { style };
                        panel.series.push(Series::line_markers(name, [point]).style(style));
                    }
                }
            }
            figure.panels.push(panel);
        }
    }
    let trust = found.reference.as_ref().and_then(|r| r.uncertainty);
    Some(match trust {
        Some(u) => figure.note(format!("The reference is good to {} m or rad.", number(rounded(u)))),
        None => figure,
    })
}

/// The largest reactions of the reference: a panel for those that are unique, one for those that are not.
fn reactions(found: &Comparison) -> Option<Figure> {
    let mut figure = Figure::new(format!("{}: largest reactions", found.model));
    for (unique, title) in [(true, "unique"), (false, "not unique: values of least norm among many")] {
        let mut panel =
            Panel::new(Axis::linear("time", "s"), Axis::linear("reaction", "N, N m")).titled(title);
        for curve in found.reactions.iter().filter(|c| c.unique == unique) {
            let (name, mark) = match unique {
                true => (curve.column.clone(), PointMark::Line),
                false => (format!("{} (not unique)", curve.column), PointMark::Dashed),
            };
            panel.series.push(Series::new(name, mark, curve.points.iter().copied()));
        }
        if !panel.series.is_empty() {
            figure.panels.push(panel);
        }
    }
    (!figure.panels.is_empty()).then(|| figure.note("Of the reference run, in world axes."))
}

/// Times against the fastest: a panel per integrator and tolerance, a group of bars per formulation.
fn times(found: &Comparison) -> Option<Figure> {
    if !found.rows.iter().any(|r| r.ratio.is_some()) {
        return None;
    }
    let formulations = distinct(&found.rows, |r| r.formulation.clone());
    let stabilizations = distinct(&found.rows, |r| r.stabilization.clone());
    let settings = distinct(&found.rows, setting);
    let mut figure = Figure::new(format!("{}: time against the fastest", found.model));
    figure.legend = if stabilizations.len() > 1 { Legend::Auto } else { Legend::None };
    let width = (60.0 + 14.0 * (formulations.len() * stabilizations.len()) as f64).clamp(300.0, 900.0);
    figure.panel_size = Some((width, 220.0));
    // one scale for all, and room below the fastest, so that it has a bar too
    let range = ends(found.rows.iter().filter_map(|r| r.ratio), 1.3).map(|(_, most)| (0.5, most.max(2.0)));
    figure.columns = if settings.len() > 2 { 2 } else { 1 };
    let mut missing = false;
    for setting_wanted in settings.iter().take(MOST) {
        let mut panel = Panel::new(
            Axis::categories("", formulations.clone()),
            Axis { range, ..Axis::log("time / fastest", "") },
        );
        if settings.len() > 1 {
            panel.title = setting_wanted.clone();
        }
        for stabilization in &stabilizations {
            let ratio = |formulation: &String| {
                let of = |r: &&ComparisonRow| {
                    r.formulation == *formulation
                        && r.stabilization == *stabilization
                        && setting(r) == *setting_wanted
                };
                found.rows.iter().find(of).and_then(|r| r.ratio).unwrap_or(f64::NAN)
            };
            let values: Vec<f64> = formulations.iter().map(ratio).collect();
            missing |= values.iter().any(|v| v.is_nan());
            panel.series.push(Series::new(
                stabilization,
                PointMark::Bars,
                values.into_iter().enumerate().map(|(i, v)| (i as f64, v)),
            ));
        }
        figure.panels.push(panel);
    }
    Some(if missing { figure.note("×: refused, failed or stopped.") } else { figure })
}

/// Two digits are enough for a note.
fn rounded(x: f64) -> f64 {
    format!("{x:.1e}").parse().unwrap_or(x)
}
