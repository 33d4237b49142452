//! `sarrus plot`

use crate::args::PlotArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use sarrus::io::{LoadOptions, load};
use sarrus::model::shown::DisplayUnits;
use sarrus::model::suggest::did_you_mean;
use sarrus::system::columns::matches;
use sarrus_plot::{Axis, Figure, Panel, PlotError, Series, terminal};
use sarrus_view::ColumnTable;
use sarrus_view::folder::read_results;
use std::path::Path;

/// More curves than this are no picture.
const MOST: usize = 40;
/// Lines of a plot in a terminal.
const LINES: usize = 12;

/// Draws columns of results.
pub fn run(args: &PlotArgs, printer: &mut Printer) -> Exit {
    let table = match read_results(&args.dir) {
        Ok((table, _)) => table,
        Err(error) => {
            printer.error(&error);
            if let Some(hint) = error.hint() {
                printer.hint(hint);
            }
            return Exit::Input;
        }
    };
    let wrong = |(message, hint): (String, String), printer: &mut Printer| {
        printer.error(message);
        printer.hint(hint);
        Exit::Input
    };
    let against = args.against.as_deref().unwrap_or("t");
    if table.column(against).is_none() {
        return wrong(unknown(&table, against), printer);
    }
    let names = match select(&table, &args.columns) {
        Ok(names) => names,
        Err(error) => return wrong(error, printer),
    };
    let panels = panels(&table, &names, against, args.log, &units_of(&args.dir, printer));
    if let Some(path) = &args.output {
        let title = args.title.clone().unwrap_or_else(|| args.dir.display().to_string());
        let mut figure = Figure::new(title);
        figure.panels = panels.clone();
        if let Err(error) = figure.write(path) {
            printer.error(&error);
            if let PlotError::Extension { .. } = error {
                printer.hint("give a name that ends in .svg or .png");
            }
            return Exit::Input;
        }
        printer.say("written", path.display());
    }
    if args.terminal || args.output.is_none() {
        let mut text = String::new();
        for panel in &panels {
            for series in &panel.series {
                let y = Axis { label: series.name.clone(), ..panel.y.clone() };
                text += &terminal(&panel.x, &y, &series.points, printer.width(), LINES);
            }
        }
        printer.data(&text);
    }
    Exit::Done
}

/// Names that fit the patterns, in the order of patterns.
fn select(table: &ColumnTable, patterns: &[String]) -> Result<Vec<String>, (String, String)> {
    let mut names: Vec<String> = Vec::new();
    for pattern in patterns {
        if let Some(pattern) = pattern.strip_prefix('!') {
            names.retain(|name| !matches(pattern.as_bytes(), name.as_bytes()));
            continue;
        }
        let fits = table.names.iter().filter(|name| matches(pattern.as_bytes(), name.as_bytes()));
        let found: Vec<String> = fits.cloned().collect();
        if found.is_empty() {
            return Err(unknown(table, pattern));
        }
        let new: Vec<String> = found.into_iter().filter(|name| !names.contains(name)).collect();
        names.extend(new);
    }
    match names.len() {
        0 => Err(("no column is left to draw".into(), "`!` takes columns away again".into())),
        n if n > MOST => {
            let hint = format!("at most {MOST} are drawn: a narrower pattern, such as '{}'", table.names[0]);
            Err((format!("{n} columns fit"), hint))
        }
        _ => Ok(names),
    }
}

fn unknown(table: &ColumnTable, name: &str) -> (String, String) {
    let hint = did_you_mean(name, &table.names).unwrap_or_else(|| {
        let few: Vec<&str> = table.names.iter().take(6).map(String::as_str).collect();
        format!("`*` stands for any letters; there are {} columns: {} ...", table.names.len(), few.join(" "))
    });
    (format!("no column fits `{name}`"), hint)
}

/// The units that the model of a folder is shown in; SI where there is no model.
fn units_of(dir: &Path, printer: &mut Printer) -> DisplayUnits {
    let path = dir.join("model.toml");
    // a large model without `[view]` need not be read
    if !std::fs::read_to_string(&path).is_ok_and(|text| text.contains("[view]")) {
        return DisplayUnits::default();
    }
    match load(&path, &LoadOptions::default()) {
        Ok(model) => DisplayUnits::read(&model).unwrap_or_default(),
        Err(_) => {
            printer.say("note", format!("units are SI: `{}` cannot be loaded", path.display()));
            DisplayUnits::default()
        }
    }
}

/// A panel for each unit, in the order in which they come.
fn panels(
    table: &ColumnTable,
    names: &[String],
    against: &str,
    log: bool,
    shown: &DisplayUnits,
) -> Vec<Panel> {
    let read = |name: &str| -> Vec<f64> {
        let (column, si) = (table.column(name).unwrap_or_default(), table.unit(name));
        column.iter().map(|value| shown.value(*value, si).0).collect()
    };
    let x = read(against);
    let (_, across) = shown.value(0.0, table.unit(against));
    let label = if against == "t" { "time" } else { against };
    let mut panels: Vec<Panel> = Vec::new();
    for name in names {
        let y = read(name);
        let si = match table.unit(name) {
            "1" => "",
            unit => unit,
        };
        let (_, unit) = shown.value(0.0, si);
        let series = Series::line(name.clone(), x.iter().copied().zip(y.iter().copied()));
        match panels.iter_mut().find(|panel| panel.y.unit == unit) {
            Some(panel) => panel.series.push(series),
            None => {
                let y = if log { Axis::log(quantity(si), unit) } else { Axis::linear(quantity(si), unit) };
                panels.push(Panel::new(Axis::linear(label, across), y).with(series));
            }
        }
    }
    // one curve alone names the axis
    for panel in panels.iter_mut().filter(|panel| panel.series.len() == 1) {
        panel.y.label = panel.series[0].name.clone();
    }
    panels
}

/// What is measured in a unit.
fn quantity(unit: &str) -> &'static str {
    match unit {
        "m" => "length",
        "rad" => "angle",
        "m/s" => "speed",
        "rad/s" => "angular speed",
        "m/s^2" | "m/s²" => "acceleration",
        "N" => "force",
        "N m" => "torque",
        "J" => "energy",
        "W" => "power",
        "s" => "time",
        _ => "value",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> ColumnTable {
        ColumnTable {
            names: ["a.x", "a.y", "a.vx", "energy.work"].map(String::from).to_vec(),
            units: ["m", "m", "m/s", "J"].map(String::from).to_vec(),
            t: vec![0.0, 1.0],
            columns: vec![vec![0.0, 1.0]; 4],
        }
    }

    #[test]
    fn patterns_add_and_take_away() {
        let names =
            |patterns: &[&str]| select(&table(), &patterns.iter().map(|p| p.to_string()).collect::<Vec<_>>());
        assert_eq!(names(&["a.?"]).unwrap(), ["a.x", "a.y"]);
        assert_eq!(names(&["energy.*", "a.*", "!a.y"]).unwrap(), ["energy.work", "a.x", "a.vx"]);
        let (message, hint) = names(&["a.vy"]).unwrap_err();
        assert!(message.contains("a.vy") && hint.contains("did you mean `a."), "{message} {hint}");
        assert!(names(&["a.x", "!*"]).is_err());
    }

    #[test]
    fn units_that_differ_are_panels_of_their_own() {
        let names: Vec<String> = table().names;
        let panels = panels(&table(), &names, "t", false, &DisplayUnits::default());
        let units: Vec<&str> = panels.iter().map(|p| p.y.unit.as_str()).collect();
        assert_eq!(units, ["m", "m/s", "J"]);
        assert_eq!((panels[0].series.len(), panels[0].y.label.as_str()), (2, "length"));
        assert_eq!((panels[2].y.label.as_str(), panels[2].x.unit.as_str()), ("energy.work", "s"));
    }

    #[test]
    fn curves_are_in_the_units_of_the_view() {
        let text = "format = 'sarrus/1'\nview.units = { length = 'mm', energy = 'kJ' }\n";
        let model = sarrus::io::load_str("m.toml", text, &LoadOptions::default()).unwrap();
        let names: Vec<String> = table().names;
        let panels = panels(&table(), &names, "a.x", false, &DisplayUnits::read(&model).unwrap());
        let units: Vec<&str> = panels.iter().map(|p| p.y.unit.as_str()).collect();
        assert_eq!(units, ["mm", "m/s", "kJ"]);
        assert_eq!((panels[0].x.unit.as_str(), panels[0].y.label.as_str()), ("mm", "length"));
        assert_eq!(panels[0].series[0].points[1], (1000.0, 1000.0));
        assert_eq!(
            (panels[1].series[0].points[1], panels[2].series[0].points[1]),
            ((1000.0, 1.0), (1000.0, 0.001))
        );
    }
}
