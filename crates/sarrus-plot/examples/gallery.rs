//! Draws one figure of every kind into a folder: `cargo run -p sarrus-plot --example gallery -- out/gallery`.

use sarrus_plot::{Axis, Figure, Panel, PlotError, PointMark, Series, number};
use std::path::PathBuf;

fn main() -> Result<(), PlotError> {
    let dir = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "out/gallery".into()));
    std::fs::create_dir_all(&dir).map_err(|source| PlotError::Io { path: dir.clone(), source })?;
    for (name, figure) in [
        ("drift", drift()),
        ("precision", precision()),
        ("bars", bars()),
        ("methods", methods()),
        ("motion", motion()),
        ("constant", constant()),
    ] {
        figure.write(&dir.join(format!("{name}.svg")))?;
        figure.write(&dir.join(format!("{name}.png")))?;
    }
    Ok(())
}

fn drift() -> Figure {
    let names =
        ["direct + none", "direct + baumgarte", "proximal + projection", "pseudo_inverse + partitioned"];
    let level = |label: &str, unit: &str, factor: f64| {
        names.iter().enumerate().fold(
            Panel::new(Axis::linear("time", "s"), Axis::log(label, unit)),
            |panel, (k, name)| {
                let y = |t: f64| match k {
                    0 => 1e-9 * t * t * (1.2 + (3.0 * t).sin()),
                    1 if (3.0..3.6).contains(&t) => f64::NAN,
                    1 => 1e-8 * (1.1 + (9.0 * t).sin()),
                    2 => 1e-15 * (1.5 + (50.0 * t).cos()),
                    _ => 3e-13 * (1.5 + (7.0 * t).cos()),
                };
                panel.with(Series::line(
                    *name,
                    (0..5000).map(|i| (0.002 * f64::from(i), factor * y(0.002 * f64::from(i)))),
                ))
            },
        )
    };
    Figure::new("McPherson strut: constraint norms")
        .with(level("position", "m", 1.0))
        .with(level("velocity", "m/s", 30.0))
        .with(level("acceleration", "m/s²", 900.0))
        .note("rtol = 10⁻⁶. Accelerations of stabilized runs include the stabilizing terms.")
}

fn precision() -> Figure {
    let cost = |label: &str, unit: &str, scale: f64| {
        [
            "direct",
            "proximal",
            "pseudo_inverse",
            "udwadia_kalaba",
            "least_squares_1",
            "least_squares_2",
            "null_space",
        ]
        .iter()
        .enumerate()
        .fold(
            Panel::new(Axis::log("largest error", "m, rad"), Axis::log(label, unit)),
            |panel, (k, name)| {
                let points = (3..12).map(|e| {
                    let error = 10_f64.powi(-e) * (1.0 + 0.7 * k as f64);
                    (error, scale * error.powf(-0.14) * (1.0 + 0.4 * k as f64))
                });
                panel.with(Series::line_markers(*name, points))
            },
        )
    };
    Figure::new("Work and precision")
        .columns(2)
        .with(cost("right-hand sides", "", 300.0))
        .with(cost("time", "s", 0.01))
}

fn bars() -> Figure {
    let tolerances = [1e-4, 1e-6, 1e-8, 1e-10];
    let mut panel =
        Panel::new(Axis::categories("tolerance", tolerances.map(number)), Axis::linear("time", "s"));
    for (k, name) in ["LME", "PI", "UK", "LS1", "UP"].into_iter().enumerate() {
        let values = tolerances
            .map(|tol| if k == 1 && tol < 1e-9 { f64::NAN } else { (2.0 + k as f64) * tol.powf(-0.1) });
        panel = panel.with(Series::bars(name, values));
    }
    Figure::new("Times of methods").with(panel).note("× no result.")
}

fn methods() -> Figure {
    let names =
        ["proximal", "direct", "pseudo_inverse", "udwadia_phohomsiri", "augmented_lagrangian", "partitioned"];
    let panel = Panel::new(Axis::categories("", names), Axis::log("time against the fastest", ""))
        .with(Series::bars("none", [1.0, 1.4, 22.0, 9.0, 3.0, 5.0]))
        .with(Series::bars("baumgarte", [3.0, 4.4, 64.0, 29.0, 11.0, 15.0]));
    Figure::new("Times, by formulation & stabilization <all>").with(panel)
}

fn motion() -> Figure {
    let lines =
        (0..10).fold(Panel::new(Axis::linear("time", "s"), Axis::linear("crank.angle", "rad")), |p, k| {
            p.with(Series::line(
                format!("case {k}"),
                (0..20_000).map(|i| {
                    (
                        5e-4 * f64::from(i),
                        (f64::from(k) * 0.3 + 5e-4 * f64::from(i)).sin() * (1.0 + 0.1 * f64::from(k)),
                    )
                }),
            ))
        });
    let path = (0..4000).map(|i| (0.3 * (1e-2 * f64::from(i)).cos(), 0.2 * (3e-2 * f64::from(i)).sin()));
    let loops = Panel::new(Axis::linear("coupler.x", "m"), Axis::linear("coupler.y", "m")).with(Series::new(
        "path",
        PointMark::Dashed,
        path,
    ));
    Figure::new("Motion").columns(2).with(lines).with(loops)
}

fn constant() -> Figure {
    Figure::new("A title so long that it has to be broken into two lines, since it would else leave the page on both sides")
        .with(
            Panel::new(Axis::linear("time", "s"), Axis::linear("energy.balance − its value at the start, for the whole system", "J"))
                .with(Series::line("a", (0..100).map(|i| (f64::from(i), 3e-14 * (f64::from(i) * 0.2).sin())))),
        )
        .with(
            Panel::new(Axis::linear("time", "s"), Axis::linear("mass", "kg"))
                .with(Series::line("b", (0..100).map(|i| (f64::from(i), 12.5)))),
        )
        .with(Panel::new(Axis::linear("time", "s"), Axis::log("nothing", "N")).with(Series::line("c", [])))
}
