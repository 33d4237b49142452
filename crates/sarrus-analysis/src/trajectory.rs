//! Describes what a run leaves behind: samples in rows, columns with names and units.

use std::io::{self, Write};

/// Samples of named columns, stored row by row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trajectory {
    names: Vec<String>,
    units: Vec<&'static str>,
    data: Vec<f64>,
}

impl Trajectory {
    /// No samples yet. The first column should be `t`.
    ///
    /// Columns beyond the shorter of the two lists are left out.
    pub fn new(mut names: Vec<String>, mut units: Vec<&'static str>) -> Trajectory {
        let n = names.len().min(units.len());
        names.truncate(n);
        units.truncate(n);
        Trajectory { names, units, data: Vec::new() }
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Units of the columns, `1` where a number has none.
    pub fn units(&self) -> &[&'static str] {
        &self.units
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.names.len()
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        if self.names.is_empty() { 0 } else { self.data.len() / self.names.len() }
    }

    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Position of the column `name`.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    /// The values of the column `name`, in time order.
    pub fn column(&self, name: &str) -> Option<impl ExactSizeIterator<Item = f64> + Clone + '_> {
        let index = self.index(name)?;
        Some((0..self.len()).map(move |row| self.data[row * self.names.len() + index]))
    }

    /// One sample: a number per column.
    pub fn row(&self, row: usize) -> Option<&[f64]> {
        let start = row.checked_mul(self.width())?;
        self.data.get(start..start + self.width()).filter(|r| !r.is_empty())
    }

    /// All samples in time order.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> + '_ {
        self.data.chunks_exact(self.width().max(1))
    }

    /// The value of the column `name` in the last sample.
    pub fn last(&self, name: &str) -> Option<f64> {
        let index = self.index(name)?;
        self.rows().last().map(|row| row[index])
    }

    /// Makes room for `rows` more samples.
    pub fn reserve(&mut self, rows: usize) {
        self.data.reserve(rows.saturating_mul(self.width()));
    }

    /// Adds a sample and returns it, zeros, to be filled in.
    pub fn push(&mut self) -> &mut [f64] {
        let start = self.data.len();
        self.data.resize(start + self.width(), 0.0);
        &mut self.data[start..]
    }

    /// Writes comma-separated values: a line of names, then a line per sample with the shortest digits that read
    /// back to the same numbers (`NaN`, `inf`, `-inf` where a number is not finite).
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        const BLOCK: usize = 1 << 16;
        let mut text = String::with_capacity(BLOCK + 4096);
        for (i, name) in self.names.iter().enumerate() {
            if i > 0 {
                text.push(',');
            }
            text.push_str(name);
        }
        text.push('\n');

        let mut digits = zmij::Buffer::new();
        for row in self.rows() {
            for (i, x) in row.iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                text.push_str(digits.format(*x));
                if text.len() >= BLOCK {
                    out.write_all(text.as_bytes())?;
                    text.clear();
                }
            }
            text.push('\n');
        }
        out.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Trajectory {
        let mut t = Trajectory::new(vec!["t".into(), "bar.x".into()], vec!["s", "m"]);
        t.push().copy_from_slice(&[0.0, 1.0 / 3.0]);
        t.push().copy_from_slice(&[0.1, -1e-300]);
        t
    }

    #[test]
    fn csv_reads_back_to_the_same_numbers() {
        let mut t = sample();
        t.push().copy_from_slice(&[f64::MAX, f64::MIN_POSITIVE]);
        let mut text = Vec::new();
        t.write_csv(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("t,bar.x"));
        for (line, row) in lines.by_ref().zip(t.rows()) {
            let back: Vec<f64> = line.split(',').map(|x| x.parse().unwrap()).collect();
            assert_eq!(back, row);
        }
        assert_eq!(text.lines().count(), 4);
    }

    #[test]
    fn numbers_that_are_not_finite_stay_readable() {
        let mut t = Trajectory::new(vec!["a".into(), "b".into(), "c".into()], vec!["1"; 3]);
        t.push().copy_from_slice(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        let mut text = Vec::new();
        t.write_csv(&mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "a,b,c\nNaN,inf,-inf\n");
    }

    #[test]
    fn columns_are_found_by_name() {
        let t = sample();
        assert_eq!(t.column("bar.x").unwrap().collect::<Vec<_>>(), [1.0 / 3.0, -1e-300]);
        assert!(t.column("bar.y").is_none());
        assert_eq!(t.last("t"), Some(0.1));
        assert_eq!((t.len(), t.width()), (2, 2));
        assert_eq!(t.row(1), Some(&[0.1, -1e-300][..]));
        assert_eq!(t.row(2), None);
    }

    #[test]
    fn a_trajectory_without_columns_is_empty() {
        let t = Trajectory::default();
        assert_eq!((t.len(), t.rows().count(), t.row(0)), (0, 0, None));
    }
}
