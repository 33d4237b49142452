//! Figures as SVG and PNG, in one style.
//!
//! A [`Figure`] holds [`Panel`]s, a panel two axes and [`Series`]. The same figure gives the same bytes everywhere: the
//! SVG is written here, and the PNG is drawn from it with an embedded font.
//!
//! - Axes carry a name and a unit; ticks are round numbers, minus signs and powers of ten are set as such.
//! - Series of one name look alike in all panels, and stand once in the legend, which is outside the axes.
//! - Colours can be distinguished by the colour-blind \[Okabe2008\]; dashes, markers and hatches differ too, for grey print.
//! - A point that is not a finite number breaks its line, as does one that is not positive on a logarithmic axis:
//!   nothing is drawn where nothing is known. A bar without a value is a small cross.
//! - Long series are thinned to what a picture can show: first, least, greatest and last of every half pixel.
//!
//! ```
//! use sarrus_plot::{Axis, Figure, Panel, Series};
//! let drift = Series::line("none", (0..100).map(|i| (0.1 * f64::from(i), 1e-9 * f64::from(i * i))));
//! let panel = Panel::new(Axis::linear("time", "s"), Axis::log("‖Φ‖", "m")).with(drift);
//! let figure = Figure::new("Drift off the constraints").with(panel);
//! assert!(figure.svg().starts_with("<svg"));
//! ```
//!
//! General plotting crates were tried; the one that came nearest drew missing values, and values below a floor of its
//! own, as points on the axis.

mod draw;
mod figure;
mod layout;
mod legend;
mod marks;
mod png;
mod scale;
mod style;
mod svg;
mod terminal;
mod text;
mod thin;
mod ticks;
mod widths;

pub use figure::{Axis, AxisScale, Figure, Legend, Panel, PointMark, Series, StyleOverride};
pub use png::PlotError;
pub use terminal::terminal;
pub use text::{number, power};
