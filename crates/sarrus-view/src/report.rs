//! `report.html`: one file with the animation, the plots, the certificate, the method and the redundancy, for who has no Sarrus.
//!
//! The page with everything inlined has one place for data; there go scene and frames, deflated and in base64. Frames are thinned
//! ([`crate::thin`]) to a bound relative to the mechanism's size, which is doubled until the frames take no more than [`MOST_BYTES`]; the
//! error that came of it stands in the page. Without the page the file is a plain summary that says how to get it.

use crate::frames::{self, POINT as NUMBERS};
use crate::motion::{POSE, PoseTable, RATES};
use crate::page;
use crate::scene::{FORMAT, Scene, chosen};
use crate::thin::{ThinningBound, choose, measure};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use sarrus::system::Directory;
use serde_json::{Value, json};
use std::io::Write;

/// Bytes of frames before they are deflated, at most.
pub const MOST_BYTES: usize = 4 << 20;
/// Columns at most.
const COLUMNS: usize = 400;
/// Defines what interpolation may miss at first, in sizes of the mechanism, rad, and largest values of columns.
const FINE: f64 = 2.5e-4;
/// The place for the data.
const DATA_SLOT: &str = "<script type=\"application/json\" id=\"sarrus-data\">null</script>";

/// Frames and scene of a page: few enough, with what that costs written down.
pub fn thinned(mut scene: Scene, directory: &Directory, motion: &PoseTable) -> (Scene, PoseTable) {
    let columns = chosen(directory, &motion.table, COLUMNS);
    let size = motion.size();
    let frame = 8 * (columns.len() + 1) + 4 * (POSE + RATES) * motion.bodies;
    let count_points = |rows: &[usize]| rows.iter().map(|&row| motion.touches.at(row).len()).sum::<usize>();
    let bytes = |rows: &[usize]| rows.len() * frame + 4 * NUMBERS * count_points(rows);
    let mut rows: Vec<usize> = Vec::new();
    let mut fine = FINE;
    // wide enough for anything: then as many as there is room for, evenly
    while fine < 0.1 {
        rows = choose(
            motion,
            &columns,
            &ThinningBound { position: 0.4 * fine * size, angle: 0.8 * fine, columns: 8.0 * fine },
        );
        if bytes(&rows) <= MOST_BYTES {
            break;
        }
        fine *= 2.0;
    }
    if bytes(&rows) > MOST_BYTES {
        let last = motion.table.len() - 1;
        let mean = frame + 4 * NUMBERS * motion.touches.count().div_ceil(last + 1);
        let capacity = (MOST_BYTES / mean).max(2);
        rows = (0..=last).step_by(last.div_ceil(capacity - 1).max(1)).collect();
        if rows.last() != Some(&last) {
            rows.push(last);
        }
    }
    scene.thinning = Some(measure(motion, &rows, &columns));
    let of = motion.table.names.len();
    let motion = motion.pick(&rows, &columns);
    scene.set_columns(&motion.table.names, &motion.table.units, 0, of);
    (scene, motion)
}

/// The file, of runs that were [`thinned`].
pub fn html(runs: &[(Scene, PoseTable)]) -> String {
    let Some((before, after)) = page::single().and_then(|page| page.split_once(DATA_SLOT)) else {
        return plain(runs);
    };
    [before, &element(runs), after].concat()
}

/// The data as an element of the page.
fn element(runs: &[(Scene, PoseTable)]) -> String {
    let runs = runs.iter().map(|(scene, motion)| {
        // keys come in alphabetical order: the first that is called so is this one
        const FRAMES: &str = "\"frames\":\"";
        let run = json!({ "encoding": "deflate-raw", "frames": "", "name": scene.name, "scene": scene });
        let run = harmless(&run.to_string());
        let (before, after) = run.split_once(FRAMES).unwrap_or((run.as_str(), ""));
        [before, FRAMES, &base64(&deflate(&frames::encode(motion))), after].concat()
    });
    let runs: Vec<String> = runs.collect();
    let data = format!("{{\"format\":{},\"runs\":[{}]}}", json!(FORMAT), runs.join(","));
    DATA_SLOT.replacen("null", &data, 1)
}

/// JSON that no name of a body can leave: nothing in it ends a script, or a line of one.
fn harmless(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        let (good, bad) = rest.split_at(at);
        let mut letters = bad.chars();
        text.push_str(good);
        text.extend(letters.next().map(|c| format!("\\u{:04x}", c as u32)));
        rest = letters.as_str();
    }
    text + rest
}

/// Quickly: digits of motions hardly repeat, and the best that can be had is less than a hundredth smaller.
fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(bytes.len()), Compression::fast());
    // writing to memory does not fail
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// Bytes as the letters of RFC 4648, for `data:` addresses and the like.
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |bits: u32, k: u32| LETTERS[(bits >> (18 - 6 * k)) as usize & 63];
    let mut text = vec![b'='; bytes.len().div_ceil(3) * 4];
    let (threes, rest) = bytes.as_chunks::<3>();
    let (fours, _) = text.as_chunks_mut::<4>();
    for (four, three) in fours.iter_mut().zip(threes) {
        let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
        *four = [letter(bits, 0), letter(bits, 1), letter(bits, 2), letter(bits, 3)];
    }
    if let (Some(&first), Some(four)) = (rest.first(), fours.last_mut()) {
        let bits = u32::from(first) << 16 | u32::from(rest.get(1).copied().unwrap_or(0)) << 8;
        (0..=rest.len()).for_each(|k| four[k] = letter(bits, k as u32));
    }
    // letters of ASCII alone
    String::from_utf8(text).unwrap_or_default()
}

/// A summary in words and numbers, where there is no page.
fn plain(runs: &[(Scene, PoseTable)]) -> String {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut body = String::new();
    for (scene, _) in runs {
        let report = scene.report.clone().unwrap_or_default();
        let text = |value: &Value| match value {
            Value::String(text) => escape(text),
            Value::Null => String::new(),
            Value::Array(list) => {
                list.iter().map(|v| escape(v.as_str().unwrap_or_default())).collect::<Vec<_>>().join("; ")
            }
            other => escape(&other.to_string()),
        };
        let certificate = &report["certificate"];
        let items =
            certificate.as_object().into_iter().flatten().filter(|(_, item)| item["limit"].is_number());
        let items = items.map(|(name, item)| {
            let name = match name.as_str() {
                "position" => "violation of positions",
                "velocity" => "violation of velocities",
                "energy" => "energy balance",
                "finite" => "values that are not numbers",
                name => name,
            };
            (name, format!("{} of at most {}", text(&item["value"]), text(&item["limit"])))
        });
        let verdict = if certificate["passed"] == true { "passed" } else { "not passed" };
        let head = [
            ("status", format!("{}: {}", text(&report["status"]), text(&report["reason"]))),
            ("certificate", verdict.to_string()),
            ("what to change", text(&report["advice"])),
        ];
        let rest = [
            ("formulation", text(&report["method"]["formulation"])),
            ("stabilization", text(&report["method"]["stabilization"])),
            ("integrator", text(&report["method"]["integrator"])),
            ("why", text(&report["method"]["why"])),
            ("degrees of freedom", text(&report["dof"])),
            ("redundant constraints", text(&report["constraints"]["redundant"])),
            ("reactions that are not unique", text(&report["reactions"]["not_unique"])),
            ("notes", text(&report["notes"])),
        ];
        body += &format!("<h1>{}</h1>\n<table>\n", escape(&scene.name));
        for (name, value) in head.into_iter().chain(items).chain(rest).filter(|(_, value)| !value.is_empty())
        {
            body += &format!("<tr><th>{name}</th><td>{value}</td></tr>\n");
        }
        body += "</table>\n";
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>Sarrus</title>\n\
         <style>body{{font:16px/1.5 sans-serif;max-width:50em;margin:2em auto;padding:0 1em}}th{{text-align:left;vertical-align:top;\
         padding-right:1em}}</style>\n{body}<p>The program that wrote this has no viewer's page, so there is no animation here. To get \
         one, {}.</p>\n</html>\n",
        escape(page::HOW_TO_BUILD)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648, section 10.
    #[test]
    fn base64_is_that_of_the_standard() {
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ];
        for (plain, coded) in pairs {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn names_cannot_leave_the_data() {
        let json = json!({ "name": "</script><script>alert(1)</script>\u{2028}&amp;" });
        let text = harmless(&json.to_string());
        assert!(!text.contains('<') && !text.contains('\u{2028}'));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json);
    }
}
