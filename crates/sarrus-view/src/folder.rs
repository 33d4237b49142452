//! A folder of results read back: `model.toml`, `trajectory.csv`, `report.json`, and `steps.csv` and `contacts.csv` where it has them.

use crate::extras::{CONTACTS, STEPS, read_contacts};
use crate::frames::POINT;
use crate::live::MAX_BYTES;
use crate::motion::{Missing, POSE, PoseTable, RATES};
use crate::scene::{MOST_COLUMNS, Scene, chosen};
use crate::table::{ColumnTable, TableError};
use crate::thin::measure;
use sarrus::io::{LoadOptions, load};
use sarrus::model::{Failure, Model};
use sarrus::system::{System, compile};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Results and the model that they are of.
pub struct Folder {
    /// As it was given.
    pub path: PathBuf,
    /// The model as it was run.
    pub model: Model,
    /// Compiled.
    pub system: System,
    /// The trajectory, with what `steps.csv` adds.
    pub table: ColumnTable,
    /// The report.
    pub report: Value,
}

/// A folder that results cannot be read from.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// There is none.
    #[error("`{}` does not exist", .0.display())]
    NotThere(PathBuf),
    /// It lacks a file.
    #[error("`{}` has no {file}", path.display())]
    Lacks {
        /// The folder.
        path: PathBuf,
        /// The file.
        file: &'static str,
    },
    /// A file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Reason why not.
        source: std::io::Error,
    },
    /// The trajectory is none.
    #[error("`{}`: {source}", path.display())]
    Trajectory {
        /// The file.
        path: PathBuf,
        /// Reason why not.
        source: TableError,
    },
    /// The report is none.
    #[error("`{}` is not JSON: {why}", path.display())]
    Report {
        /// The file.
        path: PathBuf,
        /// Reason why not.
        why: String,
    },
    /// The model has errors.
    #[error("the model of the results has errors")]
    Model(Box<Failure>),
    /// Columns that show where bodies are were not recorded.
    #[error(transparent)]
    Missing(#[from] Missing),
}

impl FolderError {
    /// Returns what to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            FolderError::NotThere(_) => "`sarrus run MODEL --out DIR` makes a folder of results".into(),
            FolderError::Lacks { file: "model.toml", .. } => {
                "a folder that `sarrus run --out` wrote has one; other analyses leave no motion to view".into()
            }
            FolderError::Lacks { .. } => "give a folder that `sarrus run --out` wrote".into(),
            FolderError::Missing(_) => {
                "run again without `--columns` and `output.columns`, or with `--view`, which needs none of them".into()
            }
            FolderError::Io { .. } | FolderError::Trajectory { .. } | FolderError::Report { .. } => return None,
            FolderError::Model(_) => return None,
        })
    }
}

fn text(path: &Path, file: &'static str) -> Result<String, FolderError> {
    let at = path.join(file);
    std::fs::read_to_string(&at).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => FolderError::Lacks { path: path.to_path_buf(), file },
        _ => FolderError::Io { path: at, source },
    })
}

/// The trajectory and the report of a folder; the report may be missing. Units come from it.
pub fn read_results(path: &Path) -> Result<(ColumnTable, Value), FolderError> {
    if !path.is_dir() {
        return Err(FolderError::NotThere(path.to_path_buf()));
    }
    let csv = text(path, "trajectory.csv")?;
    let mut table = ColumnTable::from_csv(&csv)
        .map_err(|source| FolderError::Trajectory { path: path.join("trajectory.csv"), source })?;
    let report = match text(path, "report.json") {
        Ok(json) => serde_json::from_str(&json).map_err(|error| FolderError::Report {
            path: path.join("report.json"),
            why: error.to_string(),
        })?,
        Err(FolderError::Lacks { .. }) => Value::Null,
        Err(error) => return Err(error),
    };
    for (name, unit) in table.names.iter().zip(&mut table.units) {
        *unit = report["units"][name].as_str().unwrap_or_default().to_string();
    }
    add_steps(path, &mut table)?;
    Ok((table, report))
}

/// The text of a file that a folder may have.
fn optional(path: &Path, file: &'static str) -> Result<Option<String>, FolderError> {
    match text(path, file) {
        Ok(text) => Ok(Some(text)),
        Err(FolderError::Lacks { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Adds the columns of `steps.csv`, where there is one of the same samples.
fn add_steps(path: &Path, table: &mut ColumnTable) -> Result<(), FolderError> {
    let Some(csv) = optional(path, STEPS)? else { return Ok(()) };
    let steps = ColumnTable::from_csv(&csv)
        .map_err(|source| FolderError::Trajectory { path: path.join(STEPS), source })?;
    // left by another run
    if steps.t != table.t {
        return Ok(());
    }
    for (name, column) in steps.names.into_iter().zip(steps.columns) {
        if !table.names.contains(&name) {
            table.units.push(if name == "run.step" { "s".into() } else { String::new() });
            table.names.push(name);
            table.columns.push(column);
        }
    }
    Ok(())
}

impl Folder {
    /// Reads a folder that `sarrus run --out` wrote.
    pub fn open(path: &Path) -> Result<Folder, FolderError> {
        let (table, report) = read_results(path)?;
        let file = path.join("model.toml");
        if !file.exists() {
            return Err(FolderError::Lacks { path: path.to_path_buf(), file: "model.toml" });
        }
        let model = load(&file, &LoadOptions::default()).map_err(|f| FolderError::Model(Box::new(f)))?;
        match compile(&model) {
            Ok(system) => Ok(Folder { path: path.to_path_buf(), model, system, table, report }),
            Err(diagnostics) => {
                Err(FolderError::Model(Box::new(Failure { diagnostics, sources: model.sources })))
            }
        }
    }

    /// Returns what there is to see, and how it moves: every sample, as long as they are not more than a page can keep.
    pub fn scene(self) -> Result<(Scene, PoseTable, System), FolderError> {
        let Folder { path, model, system, table, report } = self;
        let mut scene = match Scene::new(&model, &system) {
            Ok(scene) => scene,
            Err(diagnostics) => {
                return Err(FolderError::Model(Box::new(Failure { diagnostics, sources: model.sources })));
            }
        };
        if let (Some(start), Some(end)) = (report["t_start"].as_f64(), report["t_end"].as_f64()) {
            scene.t = Some([start, end]);
        }
        scene.set_report(report);
        let mut motion = PoseTable::from_columns(&system.directory, table)?;
        if let Some(csv) = optional(&path, CONTACTS)? {
            let names: Vec<&str> = scene.contacts.iter().map(|contact| contact.name.as_str()).collect();
            let read = read_contacts(&csv, &names, &motion.table.t)
                .map_err(|source| FolderError::Trajectory { path: path.join(CONTACTS), source })?;
            motion.touches = read.unwrap_or_default();
        }
        let columns = chosen(&system.directory, &motion.table, MOST_COLUMNS);
        let (of, n) = (motion.table.names.len(), motion.table.len());
        let frame = 8 * (columns.len() + 1) + 4 * (POSE + RATES) * motion.bodies;
        // a page keeps all that it gets: of very long motions every second frame, or third
        let stride = (n * frame + 4 * POINT * motion.touches.count()).div_ceil(MAX_BYTES).max(1);
        if columns.len() < of || stride > 1 {
            let mut rows: Vec<usize> = (0..n).step_by(stride).collect();
            rows.extend((n > 0 && (n - 1) % stride != 0).then(|| n - 1));
            scene.thinning = (stride > 1).then(|| measure(&motion, &rows, &columns));
            motion = motion.pick(&rows, &columns);
        }
        scene.set_columns(&motion.table.names, &motion.table.units, 0, of);
        Ok((scene, motion, system))
    }
}
