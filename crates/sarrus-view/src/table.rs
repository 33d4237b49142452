//! Results as columns: what plots and frames read.

use sarrus::analysis::Trajectory;
use std::collections::HashMap;

/// Named columns of equal length over the time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColumnTable {
    /// Names, without `t`.
    pub names: Vec<String>,
    /// Units; empty or `1` where a number has none or no one knows.
    pub units: Vec<String>,
    /// Times \[s\].
    pub t: Vec<f64>,
    /// The samples of each column.
    pub columns: Vec<Vec<f64>>,
}

/// A text that is no trajectory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The first line does not begin with `t`.
    #[error("the first line must name the columns and begin with `t`")]
    NoHeader,
    /// The first line is not that of the file.
    #[error("the first line must be `{wanted}`")]
    Header {
        /// Holds what it should be.
        wanted: &'static str,
    },
    /// A line with too few or too many values.
    #[error("line {line} has {found} values, the first line names {wanted}")]
    Width {
        /// Its number, from 1.
        line: usize,
        /// The number of them.
        found: usize,
        /// Describes how many it should have.
        wanted: usize,
    },
    /// Something that is no number.
    #[error("line {line}: `{text}` is not a number, or not one that can stand there")]
    NotANumber {
        /// Its number, from 1.
        line: usize,
        /// Holds what stands there.
        text: String,
    },
}

impl ColumnTable {
    /// Reads comma-separated values, bit for bit what [`Trajectory::write_csv`] wrote. Units are not in there.
    pub fn from_csv(text: &str) -> Result<ColumnTable, TableError> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let header = lines.next().map_or("", |(_, line)| line);
        let mut names: Vec<String> = header.split(',').map(|name| name.trim().to_string()).collect();
        if names[0] != "t" {
            return Err(TableError::NoHeader);
        }
        names.remove(0);
        let mut table = ColumnTable {
            units: vec![String::new(); names.len()],
            columns: vec![vec![]; names.len()],
            names,
            t: vec![],
        };
        for (number, line) in lines {
            let line_number = number + 1;
            let found = line.split(',').count();
            if found != table.names.len() + 1 {
                return Err(TableError::Width { line: line_number, found, wanted: table.names.len() + 1 });
            }
            for (i, text) in line.split(',').enumerate() {
                let value: f64 = text.trim().parse().map_err(|_| TableError::NotANumber {
                    line: line_number,
                    text: text.chars().take(40).collect(),
                })?;
                match i {
                    0 => table.t.push(value),
                    _ => table.columns[i - 1].push(value),
                }
            }
        }
        Ok(table)
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.t.len()
    }

    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.t.is_empty()
    }

    /// The column called `name`; `t` is one.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        if name == "t" {
            return Some(&self.t);
        }
        let index = self.names.iter().position(|n| n == name)?;
        Some(&self.columns[index])
    }

    /// The unit of the column called `name`.
    pub fn unit(&self, name: &str) -> &str {
        if name == "t" {
            return "s";
        }
        self.names.iter().position(|n| n == name).map_or("", |index| &self.units[index])
    }

    /// Indices of columns by name, for many questions.
    pub fn indices(&self) -> HashMap<&str, usize> {
        self.names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect()
    }

    /// The samples at `rows` of the columns at `columns`.
    pub fn pick(&self, rows: &[usize], columns: &[usize]) -> ColumnTable {
        let of = |all: &[f64]| rows.iter().map(|&row| all[row]).collect();
        ColumnTable {
            names: columns.iter().map(|&c| self.names[c].clone()).collect(),
            units: columns.iter().map(|&c| self.units[c].clone()).collect(),
            t: of(&self.t),
            columns: columns.iter().map(|&c| of(&self.columns[c])).collect(),
        }
    }
}

impl From<&Trajectory> for ColumnTable {
    fn from(trajectory: &Trajectory) -> ColumnTable {
        let width = trajectory.width().saturating_sub(1);
        let mut columns = vec![Vec::with_capacity(trajectory.len()); width];
        let mut t = Vec::with_capacity(trajectory.len());
        for row in trajectory.rows() {
            t.push(row[0]);
            columns.iter_mut().zip(&row[1..]).for_each(|(column, x)| column.push(*x));
        }
        ColumnTable {
            names: trajectory.names().iter().skip(1).cloned().collect(),
            units: trajectory.units().iter().skip(1).map(|unit| unit.to_string()).collect(),
            t,
            columns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trajectory_comes_back_from_its_csv_bit_for_bit() {
        let mut trajectory = Trajectory::new(vec!["t".into(), "a.x".into()], vec!["s", "m"]);
        trajectory.push().copy_from_slice(&[0.1, 1.0 / 3.0]);
        trajectory.push().copy_from_slice(&[0.2, f64::MIN_POSITIVE / 3.0]);
        let mut csv = Vec::new();
        trajectory.write_csv(&mut csv).unwrap();
        let back = ColumnTable::from_csv(&String::from_utf8(csv).unwrap()).unwrap();
        let direct = ColumnTable::from(&trajectory);
        assert_eq!((&back.names, &back.t, &back.columns), (&direct.names, &direct.t, &direct.columns));
        assert_eq!(direct.unit("a.x"), "m");
    }

    #[test]
    fn texts_that_are_no_trajectory_are_refused_with_the_line() {
        assert_eq!(ColumnTable::from_csv(""), Err(TableError::NoHeader));
        assert_eq!(ColumnTable::from_csv("x,y\n1,2\n"), Err(TableError::NoHeader));
        assert_eq!(
            ColumnTable::from_csv("t,x\n0,1\n1\n"),
            Err(TableError::Width { line: 3, found: 1, wanted: 2 })
        );
        assert_eq!(
            ColumnTable::from_csv("t,x\n0,one\n"),
            Err(TableError::NotANumber { line: 2, text: "one".into() })
        );
    }
}
