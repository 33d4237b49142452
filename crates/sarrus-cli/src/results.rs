//! The folder of results: `trajectory.csv`, `report.json`, `model.toml`, and what stands beside them.
//!
//! Each file is written beside its place and then moved there, so that a reader never sees half of one.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A folder that results can be written to.
pub struct Results {
    dir: PathBuf,
}

/// A folder or file of results could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// There is a file where the folder should be.
    #[error("`{}` is a file, not a folder", .0.display())]
    IsFile(PathBuf),
    /// The system refuses.
    #[error("cannot write `{}`: {source}", path.display())]
    Io {
        /// Holds what was to be written.
        path: PathBuf,
        /// Reason why not.
        #[source]
        source: io::Error,
    },
}

impl Results {
    /// Makes the folder, so that a run is not in vain.
    pub fn create(dir: &Path) -> Result<Results, ResultsError> {
        if dir.exists() && !dir.is_dir() {
            return Err(ResultsError::IsFile(dir.to_path_buf()));
        }
        fs::create_dir_all(dir).map_err(|source| ResultsError::Io { path: dir.to_path_buf(), source })?;
        Ok(Results { dir: dir.to_path_buf() })
    }

    /// Takes a file away, if there is one: it is not of this run.
    pub fn remove(&self, name: &str) -> Result<(), ResultsError> {
        let path = self.dir.join(name);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(ResultsError::Io { path, source }),
            _ => Ok(()),
        }
    }

    /// Writes one file.
    pub fn write(
        &self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), ResultsError> {
        let path = self.dir.join(name);
        let beside = self.dir.join(format!(".{name}.{}.part", std::process::id()));
        let written = File::create(&beside).and_then(|file| {
            let mut out = BufWriter::with_capacity(1 << 17, file);
            fill(&mut out)?;
            out.flush()?;
            drop(out);
            fs::rename(&beside, &path)
        });
        written.map_err(|source| {
            let _ = fs::remove_file(&beside);
            ResultsError::Io { path, source }
        })
    }
}
