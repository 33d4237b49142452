//! The models that come with the program, as a page with pictures. It is one file without scripts, and its policy lets no request out.

use sarrus::catalogue::CatalogueEntry;
use sarrus_view::report::base64;

/// Defines what the page may do: show its own pictures.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

const STYLE: &str = "\
:root{color-scheme:light dark;--back:#f6f7f9;--card:#fff;--ink:#1d232a;--faint:#5c6773;--rule:#dfe3e8}
@media(prefers-color-scheme:dark){:root{--back:#14181d;--card:#1b2127;--ink:#e6eaee;--faint:#9aa6b2;--rule:#2b333c}img{filter:brightness(.85)}}
body{margin:0 auto;max-width:84rem;padding:1.5rem;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;margin:0 0 .3rem}
ul{list-style:none;margin:1.5rem 0;padding:0;display:grid;gap:1.1rem;grid-template-columns:repeat(auto-fill,minmax(min(19rem,100%),1fr))}
li{display:flex;flex-direction:column;background:var(--card);border:1px solid var(--rule);border-radius:9px;overflow:hidden}
img{width:100%;height:auto;aspect-ratio:3/2;display:block}
div{padding:.7rem 1rem 1rem;display:flex;flex-direction:column;gap:.4rem;flex:1}
h2{font-size:1rem;margin:0}
p{margin:0;color:var(--faint)}
code{font:12.5px ui-monospace,monospace;overflow-wrap:anywhere;user-select:all}
div code{margin-top:auto;color:var(--ink);background:var(--back);border-radius:5px;padding:.2rem .5rem}
";

/// The whole page.
pub fn page(models: &[CatalogueEntry]) -> String {
    let cards: Vec<String> = models.iter().map(card).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<title>Sarrus: examples</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>Models that come with Sarrus</h1>\n\
         <p>{} of them. <code>sarrus run example:NAME --view</code> runs one before your eyes, \
         <code>sarrus examples --copy NAME</code> makes a file of it.</p>\n<ul>\n{}</ul>\n</body>\n</html>\n",
        models.len(),
        cards.concat()
    )
}

fn card(model: &CatalogueEntry) -> String {
    let name = escape(model.name);
    let picture = sarrus_zoo::picture(model.name).map_or_else(String::new, |bytes| {
        let data = base64(bytes);
        format!(
            "<img width=\"600\" height=\"400\" alt=\"{name}, drawn by the viewer\" src=\"data:image/webp;base64,{data}\">"
        )
    });
    format!(
        "<li>{picture}<div><h2>{name}</h2><p>{}.</p><code>sarrus run example:{name} --view</code></div></li>\n",
        escape(&model.doc)
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::list;

    #[test]
    fn every_model_has_its_picture_and_its_command_on_the_page() {
        let html = page(&list::examples());
        for (name, picture) in sarrus_zoo::PICTURES {
            assert!(html.contains(&format!("<code>sarrus run example:{name} --view</code>")), "{name}");
            assert!(html.contains(&base64(picture)), "{name}");
        }
        // one file that asks for nothing
        for reference in ["src=\"http", "href=", "url(", "<script"] {
            assert!(!html.contains(reference), "{reference}");
        }
    }

    #[test]
    fn text_of_a_model_is_no_markup() {
        let doc = "a <b> & \"c\"".to_string();
        let html = page(&[CatalogueEntry { name: "x", doc, remark: String::new(), keys: Vec::new() }]);
        assert!(html.contains("a &lt;b&gt; &amp; &quot;c&quot;."));
    }
}
