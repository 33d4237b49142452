//! Runs the real binary.
#![allow(dead_code)] // each test file uses its part

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Holds what a command did.
pub struct Done {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Done {
    fn from(o: Output) -> Done {
        Done {
            code: o.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&o.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&o.stderr).into_owned(),
        }
    }
}

/// `sarrus` in the repository's root.
pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sarrus"));
    command.args(args).current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs `sarrus` and waits.
pub fn sarrus(args: &[&str]) -> Done {
    command(args).output().expect("the binary runs").into()
}

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository exists")
}

/// An empty folder of this test's own.
pub fn folder(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a folder can be made");
    dir
}

/// A model file of this test's own.
pub fn model(name: &str, text: &str) -> PathBuf {
    let path = folder(name).join("model.toml");
    std::fs::write(&path, text).expect("a file can be written");
    path
}

/// A path as an argument.
pub fn arg(path: &Path) -> &str {
    path.to_str().expect("paths of tests are UTF-8")
}

/// JSON from a command.
pub fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in\n{text}"))
}
