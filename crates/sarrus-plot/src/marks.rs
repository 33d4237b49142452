//! Markers, and the hatches of bars.

use crate::style::{PATTERNS, SeriesStyle};
use crate::svg::{Svg, px};
use std::fmt::Write;

/// Half the width of a marker \[px\].
const R: f64 = 3.6;

/// A marker at a point. Neighbouring markers differ in outline and in being filled or open.
pub(crate) fn marker(svg: &mut Svg, (x, y): (f64, f64), paint: &SeriesStyle) {
    let colour = paint.colour;
    let open = matches!(paint.marker, 1 | 5);
    let fill = if open { "#ffffff" } else { colour };
    let polygon = |svg: &mut Svg, corners: &[(f64, f64)]| {
        let points: Vec<String> =
            corners.iter().map(|(a, b)| format!("{},{}", px(x + a * R), px(y + b * R))).collect();
        let _ = writeln!(
            svg.body,
            "<polygon points=\"{}\" fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.3\"/>",
            points.join(" ")
        );
    };
    match paint.marker {
        0 | 5 => {
            let _ = writeln!(
                svg.body,
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.3\"/>",
                px(x),
                px(y),
                px(R)
            );
        }
        1 | 6 => polygon(svg, &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => polygon(svg, &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        3 => polygon(svg, &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
        _ => cross(svg, (x, y), colour),
    }
}

/// A small cross: a marker, or a bar without a value.
pub(crate) fn cross(svg: &mut Svg, (x, y): (f64, f64), colour: &str) {
    svg.line((x - R, y - R), (x + R, y + R), colour, 1.6);
    svg.line((x - R, y + R), (x + R, y - R), colour, 1.6);
}

/// Name of the pattern of a bar; none for plain colour.
pub(crate) fn hatch(paint: &SeriesStyle) -> Option<String> {
    (paint.hatch > 0).then(|| format!("hatch{}-{}", paint.hatch % PATTERNS, &paint.colour[1..]))
}

/// The definition of a hatch: white strokes on the colour.
pub(crate) fn hatch_definition(paint: &SeriesStyle) -> Option<String> {
    let name = hatch(paint)?;
    let strokes = match paint.hatch % PATTERNS {
        1 => "M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2",
        2 => "M0,1.5 h6 M0,4.5 h6",
        3 => "M-1,5 l2,2 M0,0 l6,6 M5,-1 l2,2",
        4 => "M3,0 v6",
        _ => "M0,0 l6,6 M0,6 l6,-6",
    };
    Some(format!(
        "<pattern id=\"{name}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
         <rect width=\"6\" height=\"6\" fill=\"{}\"/>\
         <path d=\"{strokes}\" stroke=\"#ffffff\" stroke-width=\"1\" fill=\"none\"/></pattern>",
        paint.colour
    ))
}
