//! Every paper has its figures beside its descriptions of them, and no figure lies unused.

use sarrus_papers::PAPERS;
use std::path::Path;

#[test]
fn every_figure_that_a_readme_shows_is_there_and_every_figure_that_is_there_is_shown() {
    for paper in PAPERS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(paper.name);
        let readme = std::fs::read_to_string(folder.join("README.md")).expect("a README");
        assert!(readme.contains("\n## Figures\n"), "{}", paper.name);
        let shown: Vec<&str> =
            readme.split("<img src=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(shown.len() >= 5, "{}: {} figures", paper.name, shown.len());
        for figure in &shown {
            assert!(folder.join(figure).is_file(), "{}: {figure}", paper.name);
        }
        for entry in std::fs::read_dir(folder.join("figures")).expect("figures") {
            let name = entry.expect("a file").file_name().to_string_lossy().into_owned();
            assert!(shown.contains(&format!("figures/{name}").as_str()), "{}: {name}", paper.name);
        }
    }
}
