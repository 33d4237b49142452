//! The table of elements and commands in docs/coverage.md names tests that exist.

use std::path::Path;

#[test]
fn every_test_that_the_table_of_coverage_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(root.join("../../docs/coverage.md")).unwrap();
    let named: Vec<&str> = table.split('`').filter(|word| word.contains("::")).collect();
    assert!(named.len() > 50, "{}", named.len());
    for name in named {
        let (file, test) = name.split_once("::").unwrap();
        let text = std::fs::read_to_string(root.join(format!("tests/whole/{file}.rs"))).unwrap_or_default();
        assert!(text.contains(&format!("fn {test}()")), "{name}");
    }
}
