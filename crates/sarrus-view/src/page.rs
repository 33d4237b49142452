//! The page, as npm built it.

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Defines what stands in for a page that was not built.
const NO_PAGE: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>Sarrus</title>
<h1>The viewer's page is not in this program</h1>
<p>It was compiled where the page could not be built. Node.js 20 or newer with npm builds it:</p>
<pre>cd crates/sarrus-view/page
npm ci
npm run build
cargo build --release -p sarrus-cli</pre>
<p>Results, plots (<code>sarrus plot</code>) and animations (<code>--out x.glb</code>) need no page.</p>
</html>
";

/// Describes how to get the page, for the command line.
pub const HOW_TO_BUILD: &str =
    "build it with Node.js: `npm ci && npm run build` in crates/sarrus-view/page, then compile again";

/// Returns whether the page is there.
pub fn is_built() -> bool {
    !FILES.is_empty()
}

/// A file of the page; where it was not built, an `index.html` that says so.
pub fn file(name: &str) -> Option<&'static [u8]> {
    let found = FILES.iter().find(|(file, _)| *file == name).map(|(_, bytes)| *bytes);
    found.or_else(|| (name == "index.html" && !is_built()).then_some(NO_PAGE.as_bytes()))
}

/// The page in one file, with a place for the data.
pub fn single() -> Option<&'static str> {
    file("single.html").and_then(|bytes| std::str::from_utf8(bytes).ok())
}
