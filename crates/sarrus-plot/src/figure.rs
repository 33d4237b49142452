//! Describes what a figure is made of.

use crate::png::PlotError;
use std::path::Path;

/// One or more panels under a title, with one legend.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figure {
    /// Above everything; empty for none.
    pub title: String,
    /// In rows from the left, then downwards.
    pub panels: Vec<Panel>,
    /// Panels side by side; 0 counts as 1.
    pub columns: usize,
    /// Marks where names of series stand.
    pub legend: Legend,
    /// Width and height of the area within the axes of each panel \[px\]; none for a usual size.
    pub panel_size: Option<(f64, f64)>,
    /// Remarks below everything, one paragraph each.
    pub notes: Vec<String>,
}

/// Marks where names of series stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Legend {
    /// Right of the panels where it fits there, else below; none for a single series without a name.
    #[default]
    Auto,
    /// Right of the panels.
    Right,
    /// Below the panels.
    Below,
    /// Nowhere.
    None,
}

/// Two axes and what is drawn in them.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Above the panel; empty for none.
    pub title: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// Drawn in this order.
    pub series: Vec<Series>,
    /// Remarks, set below the figure after its own.
    pub notes: Vec<String>,
}

/// An axis: what is measured, in which unit, on which scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Name of the quantity.
    pub label: String,
    /// Unit, shown in brackets; empty or `1` for none.
    pub unit: String,
    /// Describes how values become places.
    pub scale: AxisScale,
    /// Ends of the axis; none to fit the data.
    pub range: Option<(f64, f64)>,
}

/// Describes how values become places.
#[derive(Debug, Clone, PartialEq)]
pub enum AxisScale {
    /// In proportion.
    Linear,
    /// By their logarithm; what is not positive is not drawn.
    Log,
    /// Names side by side: value i is the place of the i-th, from 0. Only to the right.
    Categories(Vec<String>),
}

/// Points under one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// As the legend has it; empty for none.
    pub name: String,
    /// In the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// Describes how they are drawn.
    pub mark: PointMark,
    /// Colour, dash and marker, where they are not to follow from the order of names.
    pub style: StyleOverride,
}

/// Describes how points are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointMark {
    /// Joined by a line; each series has a dash pattern of its own.
    Line,
    /// Joined by a dashed line.
    Dashed,
    /// A marker each.
    Markers,
    /// Both; a long line has a few markers only.
    LineMarkers,
    /// A bar each, side by side with the bars of the other series.
    Bars,
}

/// Numbers of a colour, a dash pattern (0 is solid), and a marker; a hatch goes with the dash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StyleOverride {
    /// Identifies which colour; they repeat after ten.
    pub colour: Option<usize>,
    /// Identifies which dash pattern or hatch; they repeat after six.
    pub dash: Option<usize>,
    /// Identifies which marker; they repeat after seven.
    pub marker: Option<usize>,
}

impl Figure {
    /// A figure without panels yet.
    pub fn new(title: impl Into<String>) -> Figure {
        Figure { title: title.into(), columns: 1, ..Figure::default() }
    }

    /// With one more panel.
    #[must_use]
    pub fn with(mut self, panel: Panel) -> Figure {
        self.panels.push(panel);
        self
    }

    /// With so many panels side by side.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Figure {
        self.columns = columns;
        self
    }

    /// With one more remark.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Figure {
        self.notes.push(note.into());
        self
    }

    /// The figure as an SVG document.
    pub fn svg(&self) -> String {
        crate::draw::figure(self)
    }

    /// The figure as a PNG file, `scale` pixels to a unit of the SVG.
    pub fn png(&self, scale: f64) -> Result<Vec<u8>, PlotError> {
        crate::png::render(&self.svg(), scale)
    }

    /// Writes the figure to a file: `.svg`, or `.png` at twice the size.
    pub fn write(&self, path: &Path) -> Result<(), PlotError> {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        let bytes = match extension.as_str() {
            "svg" => self.svg().into_bytes(),
            "png" => self.png(2.0)?,
            _ => return Err(PlotError::Extension { path: path.to_path_buf() }),
        };
        std::fs::write(path, bytes).map_err(|source| PlotError::Io { path: path.to_path_buf(), source })
    }
}

impl Panel {
    /// A panel without series yet.
    pub fn new(x: Axis, y: Axis) -> Panel {
        Panel { title: String::new(), x, y, series: Vec::new(), notes: Vec::new() }
    }

    /// With a title of its own.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Panel {
        self.title = title.into();
        self
    }

    /// With one more series.
    #[must_use]
    pub fn with(mut self, series: Series) -> Panel {
        self.series.push(series);
        self
    }
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>, unit: impl Into<String>) -> Axis {
        Axis { label: label.into(), unit: unit.into(), scale: AxisScale::Linear, range: None }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>, unit: impl Into<String>) -> Axis {
        Axis { scale: AxisScale::Log, ..Axis::linear(label, unit) }
    }

    /// An axis of names.
    pub fn categories<S: Into<String>>(label: impl Into<String>, names: impl IntoIterator<Item = S>) -> Axis {
        let names = names.into_iter().map(Into::into).collect();
        Axis { scale: AxisScale::Categories(names), ..Axis::linear(label, "") }
    }

    /// Name and unit as they are written along the axis.
    pub(crate) fn caption(&self) -> String {
        match (self.label.as_str(), self.unit.as_str()) {
            (label, "" | "1") => label.to_string(),
            ("", unit) => format!("({unit})"),
            (label, unit) => format!("{label} ({unit})"),
        }
    }
}

impl Series {
    /// Points with a mark.
    pub fn new(
        name: impl Into<String>,
        mark: PointMark,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Series {
        Series {
            name: name.into(),
            points: points.into_iter().collect(),
            mark,
            style: StyleOverride::default(),
        }
    }

    /// A line.
    pub fn line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series::new(name, PointMark::Line, points)
    }

    /// A line with markers.
    pub fn line_markers(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series::new(name, PointMark::LineMarkers, points)
    }

    /// Markers.
    pub fn markers(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series::new(name, PointMark::Markers, points)
    }

    /// Bars at categories 0, 1, 2, ...
    pub fn bars(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Series {
        Series::new(name, PointMark::Bars, values.into_iter().enumerate().map(|(i, y)| (i as f64, y)))
    }

    /// In a look of its own.
    #[must_use]
    pub fn style(mut self, style: StyleOverride) -> Series {
        self.style = style;
        self
    }
}
