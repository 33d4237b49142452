//! PNG: the SVG drawn with the embedded font.

use resvg::{tiny_skia, usvg};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

/// The only font there is; systems may have none.
const FONT: &[u8] = include_bytes!("../font/DejaVuSans-subset.ttf");
/// Its name.
pub(crate) const FAMILY: &str = "DejaVu Sans";
/// Most pixels of a picture.
const MOST: f64 = 1e8;

/// A figure could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The file's name says neither `.svg` nor `.png`.
    #[error("`{}` is neither .svg nor .png", path.display())]
    Extension {
        /// The destination.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("cannot write `{}`: {source}", path.display())]
    Io {
        /// The destination.
        path: PathBuf,
        /// Reason why not.
        #[source]
        source: io::Error,
    },
    /// Too many pixels, or none.
    #[error("a picture of {width:.0} x {height:.0} pixels cannot be drawn")]
    Size {
        /// Pixels across.
        width: f64,
        /// Pixels down.
        height: f64,
    },
    /// The drawing failed.
    #[error("the picture could not be drawn: {0}")]
    Draw(String),
}

static FONTS: LazyLock<Arc<usvg::fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    Arc::new(fonts)
});

/// The document as it will be drawn.
pub(crate) fn tree(svg: &str) -> Result<usvg::Tree, PlotError> {
    let options =
        usvg::Options { fontdb: FONTS.clone(), font_family: FAMILY.into(), ..usvg::Options::default() };
    usvg::Tree::from_str(svg, &options).map_err(|e| PlotError::Draw(e.to_string()))
}

/// Draws an SVG document, `scale` pixels to a unit.
pub(crate) fn render(svg: &str, scale: f64) -> Result<Vec<u8>, PlotError> {
    let tree = tree(svg)?;
    let size = tree.size();
    let (width, height) =
        ((f64::from(size.width()) * scale).ceil(), (f64::from(size.height()) * scale).ceil());
    let fits = width >= 1.0 && height >= 1.0 && width * height <= MOST;
    let pixmap = if fits { tiny_skia::Pixmap::new(width as u32, height as u32) } else { None };
    let mut pixmap = pixmap.ok_or(PlotError::Size { width, height })?;
    let transform = tiny_skia::Transform::from_scale(scale as f32, scale as f32);
    resvg::render(&tree, transform, &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| PlotError::Draw(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_widths_are_those_of_the_font() {
        for text in ["The quick brown fox jumps over 0123456789", "μ λ Φ ω", "2×3 − 4 ‖Φ‖", "Ωγε·√"]
        {
            let svg = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"2000\" height=\"100\">\
                 <text x=\"0\" y=\"50\" font-size=\"40\" font-family=\"{FAMILY}\">|{text}|</text></svg>"
            );
            let seen = f64::from(tree(&svg).unwrap().root().abs_bounding_box().width());
            let listed = crate::text::width(&format!("|{text}|"), 40.0);
            assert!((seen - listed).abs() < 0.04 * listed + 20.0, "{text}: {seen} against {listed}");
        }
    }
}
