//! Embeds the page: `page/dist` as it is, or built by npm where that is there. Without either the crate compiles all the same, and the
//! page says how to build it.
//!
//! `SARRUS_PAGE=skip` leaves npm alone: what is in `page/dist` is embedded, if anything.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;
use std::{env, fs};

/// Defines what `npm run build` makes.
const FILES: &[&str] = &["index.html", "app.js", "app.css", "single.html"];
/// Defines what it is made from, in `page`.
const SOURCES: &[&str] =
    &["src", "index.html", "package.json", "package-lock.json", "vite.config.ts", "tsconfig.json"];

fn main() {
    let page = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("page");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    println!("cargo::rerun-if-env-changed=SARRUS_PAGE");
    println!("cargo::rerun-if-changed=build.rs");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", page.join(source).display());
    }
    let dist = page.join("dist");
    println!("cargo::rerun-if-changed={}", dist.join("index.html").display());

    let skip = env::var_os("SARRUS_PAGE").is_some_and(|value| value == "skip");
    let sources = SOURCES.iter().filter_map(|source| newest(&page.join(source))).max();
    let stale = match (oldest(&dist), sources) {
        (Some(built), Some(source)) => source > built,
        (None, source) => source.is_some() && page.join("index.html").exists(),
        (Some(_), None) => false,
    };
    if stale && !skip {
        build(&page);
    }
    embed(&dist, &out);
}

/// Returns when the newest file under `path` was written.
fn newest(path: &Path) -> Option<SystemTime> {
    if path.is_dir() {
        let entries = fs::read_dir(path).ok()?.filter_map(Result::ok);
        return entries.filter_map(|entry| newest(&entry.path())).max();
    }
    fs::metadata(path).and_then(|meta| meta.modified()).ok()
}

/// Returns when the oldest of the built files was written; none where one is missing.
fn oldest(dist: &Path) -> Option<SystemTime> {
    let times = FILES.iter().map(|file| fs::metadata(dist.join(file)).and_then(|m| m.modified()).ok());
    times.collect::<Option<Vec<_>>>()?.into_iter().min()
}

/// `npm ci`, or `npm install`, where nothing is installed yet, then `npm run build`; what fails is said and tolerated.
fn build(page: &Path) {
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let run = |args: &[&str], last: bool| {
        let command = Command::new(npm).args(args).current_dir(page).stdin(Stdio::null()).output();
        match command {
            Ok(done) if done.status.success() => true,
            Ok(done) if last => {
                let text = String::from_utf8_lossy(&done.stderr);
                let why = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                println!("cargo::warning=the viewer's page was not built: `npm {}`: {why}", args.join(" "));
                false
            }
            Ok(_) => false,
            Err(_) if !last => false,
            Err(_) => {
                println!(
                    "cargo::warning=the viewer's page was not built: there is no npm; the viewer will say so"
                );
                false
            }
        }
    };
    let installed = page.join("node_modules").join(".package-lock.json").exists();
    let quiet = ["--fetch-timeout=30000", "--fetch-retries=1", "--no-audit", "--no-fund", "--loglevel=error"];
    // a lock file without the registry's addresses, which belong in no repository, is too little for `ci` of some versions
    let install = || {
        run(&[&["ci"], &quiet[..]].concat(), false)
            || run(&[&["install", "--no-save"], &quiet[..]].concat(), true)
    };
    if installed || install() {
        run(&["run", "build"], true);
    }
}

/// Copies what was built and writes the list of it.
fn embed(dist: &Path, out: &Path) {
    let mut list = String::new();
    let whole = FILES.iter().all(|file| dist.join(file).exists());
    for file in FILES.iter().filter(|_| whole) {
        let copy = out.join(file);
        if fs::copy(dist.join(file), &copy).is_ok() {
            list += &format!("    ({file:?}, include_bytes!({:?})),\n", copy.display().to_string());
        }
    }
    let text = format!("/// Files of the page.\npub static FILES: &[(&str, &[u8])] = &[\n{list}];\n");
    if let Err(error) = fs::write(out.join("page.rs"), text) {
        println!("cargo::error=cannot write the list of the page's files: {error}");
    }
}
