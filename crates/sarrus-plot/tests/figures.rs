//! Figures, read back as documents and as pictures.

use roxmltree::{Document, Node};
use sarrus_plot::{Axis, Figure, Legend, Panel, PointMark, Series, number};

fn one(y: Axis, series: Series) -> Figure {
    Figure::new("A figure").with(Panel::new(Axis::linear("time", "s"), y).with(series))
}

fn texts(doc: &Document) -> Vec<String> {
    let text = |n: Node| n.descendants().filter(Node::is_text).filter_map(|d| d.text()).collect::<String>();
    doc.descendants().filter(|n| n.has_tag_name("text")).map(text).collect()
}

fn paths<'a>(doc: &'a Document) -> Vec<&'a str> {
    let series = doc.descendants().filter(|n| n.attribute("class") == Some("series"));
    series.flat_map(|g| g.descendants()).filter_map(|n| n.attribute("d")).collect()
}

/// Every coordinate of every element is a number on the page, or not far from it.
fn assert_sane(svg: &str) {
    let doc = Document::parse(svg).expect("well-formed");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "a number that is none");
    let size = |name| doc.root_element().attribute(name).unwrap().parse::<f64>().unwrap();
    let (w, h) = (size("width"), size("height"));
    for n in doc.descendants() {
        for (name, most) in [("x", w), ("x1", w), ("x2", w), ("y", h), ("y1", h), ("y2", h)] {
            if let Some(v) = n.attribute(name) {
                let v: f64 = v.parse().unwrap();
                assert!(v >= -1.0 && v <= most + 1.0, "{name} = {v} of {:?} leaves {w} x {h}", n.tag_name());
            }
        }
    }
}

#[test]
fn a_figure_has_its_captions_units_and_names() {
    let panel = Panel::new(Axis::linear("time", "s"), Axis::log("‖Φ‖", "m"))
        .with(Series::line("none", [(0.0, 1e-9), (1.0, 1e-6)]))
        .with(Series::line("projection", [(0.0, 1e-15), (1.0, 2e-15)]));
    let svg = Figure::new("Drift").with(panel).note("A remark.").svg();
    assert_sane(&svg);
    let doc = Document::parse(&svg).unwrap();
    let texts = texts(&doc);
    for text in ["Drift", "time (s)", "‖Φ‖ (m)", "none", "projection", "A remark.", "10−9"] {
        assert!(texts.iter().any(|t| t == text), "no `{text}` in {texts:?}");
    }
    assert_eq!(paths(&doc).len(), 2);
}

#[test]
fn names_with_markup_are_escaped() {
    let svg =
        one(Axis::linear("a & b", "<m>"), Series::line("x < y & \"z\"", [(0.0, 1.0), (1.0, 2.0)])).svg();
    let doc = Document::parse(&svg).unwrap();
    assert!(
        texts(&doc).iter().any(|t| t == "x < y & \"z\"") && texts(&doc).iter().any(|t| t == "a & b (<m>)")
    );
}

#[test]
fn points_that_are_not_numbers_break_the_line() {
    let points =
        [(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 1.0), (4.0, f64::INFINITY), (5.0, 3.0), (6.0, 2.0)];
    let svg = one(Axis::linear("y", ""), Series::line("a", points)).svg();
    assert_sane(&svg);
    let doc = Document::parse(&svg).unwrap();
    // two pieces of two points; the point between them is a dot
    assert_eq!(paths(&doc).len(), 1);
    assert_eq!(paths(&doc)[0].matches('M').count(), 2);
    let series = doc.descendants().find(|n| n.attribute("class") == Some("series")).unwrap();
    assert_eq!(series.descendants().filter(|n| n.has_tag_name("rect")).count(), 1);
}

#[test]
fn a_logarithmic_axis_leaves_out_what_is_not_positive() {
    let points = [(0.0, 0.0), (1.0, 1e-3), (2.0, 1e-2), (3.0, -1.0), (4.0, 1e-1), (5.0, 1.0)];
    let svg = one(Axis::log("y", ""), Series::line("a", points)).svg();
    let doc = Document::parse(&svg).unwrap();
    assert_eq!(paths(&doc)[0].matches('M').count(), 2);
    assert_eq!(paths(&doc)[0].matches('L').count(), 2);
}

#[test]
fn odd_data_makes_a_figure_all_the_same() {
    let odd: [Vec<(f64, f64)>; 7] = [
        vec![],
        vec![(1.0, 2.0)],
        vec![(0.0, 3.0), (1.0, 3.0), (2.0, 3.0)],
        vec![(0.0, f64::NAN), (f64::INFINITY, 1.0)],
        vec![(0.0, -1e308), (1.0, 1e308)],
        vec![(0.0, 5e-324), (1.0, 1e-300)],
        vec![(0.0, 1.0), (1.0, 1.0 + 1e-15)],
    ];
    for points in odd {
        for axis in [Axis::linear("y", "m"), Axis::log("y", "m")] {
            for mark in [
                PointMark::Line,
                PointMark::Dashed,
                PointMark::Markers,
                PointMark::LineMarkers,
                PointMark::Bars,
            ] {
                let figure = one(axis.clone(), Series::new("a", mark, points.clone()));
                assert_sane(&figure.svg());
            }
        }
    }
    assert_sane(&Figure::default().svg());
    let nothing = one(Axis::linear("y", ""), Series::line("", []));
    assert!(nothing.svg().contains("no data"));
}

#[test]
fn the_same_figure_gives_the_same_bytes() {
    let figure =
        || one(Axis::log("y", "m"), Series::line("a", (1..500).map(|i| (f64::from(i), 1.0 / f64::from(i)))));
    assert_eq!(figure().svg(), figure().svg());
    assert_eq!(figure().png(1.0).unwrap(), figure().png(1.0).unwrap());
}

#[test]
fn a_long_series_makes_a_small_file() {
    let points = (0..200_000).map(|i| (f64::from(i), (f64::from(i) * 0.01).sin()));
    assert!(one(Axis::linear("y", ""), Series::line("a", points)).svg().len() < 120_000);
}

#[test]
fn a_series_looks_the_same_in_all_panels_and_stands_once_in_the_legend() {
    let panel = |names: [&str; 2]| {
        names.into_iter().fold(Panel::new(Axis::linear("t", "s"), Axis::linear("y", "m")), |p, name| {
            p.with(Series::line(name, [(0.0, 1.0), (1.0, 2.0)]))
        })
    };
    let svg = Figure::new("").with(panel(["a", "b"])).with(panel(["b", "c"])).svg();
    let doc = Document::parse(&svg).unwrap();
    let stroke = |panel: usize, name: &str| {
        let panels: Vec<Node> = doc.descendants().filter(|n| n.attribute("class") == Some("panel")).collect();
        let titled = |n: &Node| n.children().any(|c| c.has_tag_name("title") && c.text() == Some(name));
        let series = panels[panel].descendants().find(titled).unwrap();
        let path = series.children().find(|n| n.has_tag_name("path")).unwrap();
        (path.attribute("stroke").unwrap().to_string(), path.attribute("stroke-dasharray").map(String::from))
    };
    assert_eq!(stroke(0, "b"), stroke(1, "b"));
    assert_ne!(stroke(0, "a"), stroke(1, "c"));
    assert_eq!(texts(&doc).iter().filter(|t| *t == "b").count(), 1);
    // panels over the same time name it once
    assert_eq!(texts(&doc).iter().filter(|t| *t == "t (s)").count(), 1);
}

#[test]
fn bars_stand_side_by_side_and_a_missing_one_is_a_cross() {
    let panel =
        Panel::new(Axis::categories("tolerance", [number(1e-4), number(1e-6)]), Axis::linear("time", "s"))
            .with(Series::bars("direct", [1.0, 2.0]))
            .with(Series::bars("proximal", [0.5, f64::NAN]));
    let svg = Figure::new("Times").with(panel).svg();
    assert_sane(&svg);
    let doc = Document::parse(&svg).unwrap();
    let series: Vec<Node> = doc.descendants().filter(|n| n.attribute("class") == Some("series")).collect();
    let rects = |n: &Node| -> Vec<(f64, f64, f64)> {
        let get = |r: Node, a: &str| r.attribute(a).unwrap().parse::<f64>().unwrap();
        n.children()
            .filter(|c| c.has_tag_name("rect"))
            .map(|r| (get(r, "x"), get(r, "width"), get(r, "height")))
            .collect()
    };
    let (first, second) = (rects(&series[0]), rects(&series[1]));
    assert_eq!((first.len(), second.len()), (2, 1));
    assert!((first[1].2 / first[0].2 - 2.0).abs() < 0.01 && (first[0].2 / second[0].2 - 2.0).abs() < 0.02);
    assert!(first[0].0 + first[0].1 <= second[0].0 + 0.01, "bars do not overlap");
    assert_eq!(series[1].children().filter(|c| c.has_tag_name("line")).count(), 2, "a cross");
}

#[test]
fn a_legend_of_long_names_goes_below_the_axes() {
    let long = "a formulation with a rather long name + a stabilization: alpha=5, beta=5";
    let svg = one(Axis::linear("y", ""), Series::line(long, [(0.0, 1.0), (1.0, 2.0)])).svg();
    let doc = Document::parse(&svg).unwrap();
    let get = |n: Node, a: &str| n.attribute(a).unwrap().parse::<f64>().unwrap();
    let legend = doc.descendants().find(|n| n.attribute("class") == Some("legend")).unwrap();
    let name = legend.descendants().find(|n| n.has_tag_name("text")).unwrap();
    let caption = doc.descendants().find(|n| n.has_tag_name("text") && n.text() == Some("time (s)")).unwrap();
    assert!(get(name, "y") > get(caption, "y"));
    let hidden = Figure { legend: Legend::None, ..one(Axis::linear("y", ""), Series::line("a", [])) };
    assert!(!hidden.svg().contains("legend"));
}

#[test]
fn a_picture_has_text_in_it() {
    // the picture is the same but for the title; more dark pixels mean that the title was drawn
    let dark = |title: &str| {
        let figure = Figure {
            title: title.into(),
            ..one(Axis::linear("y", ""), Series::line("a", [(0.0, 1.0), (1.0, 2.0)]))
        };
        let svg = figure.svg();
        let bytes = figure.png(1.0).unwrap();
        assert_eq!(&bytes[1..4], b"PNG");
        let pixmap = resvg::tiny_skia::Pixmap::decode_png(&bytes).unwrap();
        let doc = Document::parse(&svg).unwrap();
        assert_eq!(pixmap.width().to_string(), doc.root_element().attribute("width").unwrap());
        pixmap.pixels().iter().filter(|p| p.red() < 128 && p.green() < 128 && p.blue() < 128).count()
    };
    assert!(dark("MMMMMMMM") > dark("........") + 100);
}

#[test]
fn files_are_written_by_their_extension() {
    let dir = std::env::temp_dir().join(format!("sarrus-plot-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let figure = one(Axis::linear("y", ""), Series::line("a", [(0.0, 1.0), (1.0, 2.0)]));
    figure.write(&dir.join("a.svg")).unwrap();
    figure.write(&dir.join("a.PNG")).unwrap();
    assert!(std::fs::read_to_string(dir.join("a.svg")).unwrap().starts_with("<svg"));
    assert_eq!(&std::fs::read(dir.join("a.PNG")).unwrap()[1..4], b"PNG");
    assert!(figure.write(&dir.join("a.pdf")).unwrap_err().to_string().contains("neither .svg nor .png"));
    assert!(figure.write(&dir.join("none/a.svg")).is_err());
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_picture_of_impossible_size_is_refused() {
    let figure = one(Axis::linear("y", ""), Series::line("a", []));
    for scale in [0.0, -1.0, f64::NAN, 1e6] {
        assert!(figure.png(scale).is_err(), "{scale}");
    }
}
