//! Figures 2 to 11 of the paper.

use super::Runs;
use super::ball::{Ball, Seen};
use super::motion::forces;
use sarrus_plot::{Axis, Figure, Panel, Series};

/// All of them, by file name.
pub fn all(runs: &Runs) -> Vec<(String, Figure)> {
    let (centred, offset) = (&runs.balls[0], &runs.balls[2]);
    let mut figures = vec![
        ("figure2".to_string(), track("Track without offset (figure 2)", centred)),
        ("figure3".into(), angular("Angular velocities without offset (figure 3)", centred)),
        ("figure4".into(), multipliers("Constraint forces without offset (figure 4)", centred)),
    ];
    figures.push(("figure5".into(), on_ball(centred)));
    figures.push(("figure9".into(), track("Track with offset, r0 = 0.15 a (figure 9)", offset)));
    figures.push(("figure10".into(), angular("Angular velocities with offset (figure 10)", offset)));
    figures.push(("figure11".into(), multipliers("Constraint forces with offset (figure 11)", offset)));
    figures
}

fn note(ball: &Ball) -> String {
    format!("a = {} m, r0 = {} m; park1987 in steps of 0.005 s", ball.a, ball.r0)
}

fn over_time<'a>(name: &str, track: &'a [Seen], value: impl Fn(&Seen) -> f64 + 'a) -> Series {
    Series::line(name, track.iter().map(move |s| (s.t, value(s))))
}

/// The track on the plane, and the place along it by time.
fn track(title: &str, (ball, track): &(Ball, Vec<Seen>)) -> Figure {
    let plane = Panel::new(Axis::linear("x", "m"), Axis::linear("y", "m"))
        .with(Series::line("track", track.iter().map(|s| (s.x[0], s.x[1]))));
    let time = Panel::new(Axis::linear("time", "s"), Axis::linear("place", "m"))
        .with(over_time("x", track, |s| s.x[0]))
        .with(over_time("y", track, |s| s.x[1]));
    Figure::new(title).with(plane).with(time).note(note(ball))
}

fn angular(title: &str, (ball, track): &(Ball, Vec<Seen>)) -> Figure {
    let mut figure = Figure::new(title);
    for (axes, value) in [("world axes", (|s: &Seen| s.w_W) as fn(&Seen) -> [f64; 3]), ("body axes", |s| s.w)]
    {
        let mut panel =
            Panel::new(Axis::linear("time", "s"), Axis::linear("angular velocity", "rad/s")).titled(axes);
        for (k, name) in ["ω1", "ω2", "ω3"].into_iter().enumerate() {
            panel = panel.with(over_time(name, track, move |s| value(s)[k]));
        }
        figure = figure.with(panel);
    }
    figure.note(note(ball))
}

fn multipliers(title: &str, ball: &(Ball, Vec<Seen>)) -> Figure {
    let mut panel = Panel::new(Axis::linear("time", "s"), Axis::linear("λ", "N"));
    for (k, name) in ["λ1: rolling, x", "λ2: rolling, y", "λ3: steering"].into_iter().enumerate() {
        panel = panel.with(Series::line(name, forces(ball).map(|(t, lambda)| (t, lambda[k]))));
    }
    Figure::new(title).with(panel).note(note(&ball.0))
}

/// From a point of the ball to one of a picture.
type View = fn([f64; 3]) -> (f64, f64);

/// The point of contact on the ball, along each of its axes and from aslant.
fn on_ball((ball, track): &(Ball, Vec<Seen>)) -> Figure {
    let views: [(&str, [&str; 2], View); 4] = [
        ("x-z (figure 5)", ["x", "z"], |c| (c[0], c[2])),
        ("y-z (figure 6)", ["y", "z"], |c| (c[1], c[2])),
        ("x-y (figure 7)", ["x", "y"], |c| (c[0], c[1])),
        ("from (1, 1, 1) (figure 8)", ["", ""], aslant),
    ];
    let mut figure = Figure::new("Track on the ball, without offset (figures 5-8)").columns(2);
    figure.panel_size = Some((260.0, 260.0));
    let outline = || (0..=120).map(|i| (f64::from(i) * std::f64::consts::TAU / 120.0).sin_cos());
    for (title, names, view) in views {
        let axis = |name: &str| Axis { range: Some((-1.05, 1.05)), ..Axis::linear(name, "radii") };
        let mut panel = Panel::new(axis(names[0]), axis(names[1])).titled(title);
        let is_aslant = names[0].is_empty();
        // where the other side of the ball is seen, lines end
        let side = |front: bool| {
            let seen = move |c: [f64; 3]| !is_aslant || (c.iter().sum::<f64>() >= 0.0) == front;
            let hidden = (f64::NAN, f64::NAN);
            track.iter().map(move |s| if seen(s.contact()) { view(s.contact()) } else { hidden })
        };
        panel = panel.with(Series::line("contact", side(true))).with(Series::line("outline", outline()));
        if is_aslant {
            panel = panel.with(Series::line("contact, behind", side(false)));
        }
        figure = figure.with(panel);
    }
    figure.note(note(ball))
}

/// An orthographic view from the direction (1, 1, 1).
fn aslant(c: [f64; 3]) -> (f64, f64) {
    ((c[1] - c[0]) / 2.0_f64.sqrt(), (2.0 * c[2] - c[0] - c[1]) / 6.0_f64.sqrt())
}
