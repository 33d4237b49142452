//! Files beside `trajectory.csv`: `steps.csv` and `contacts.csv`.
//!
//! ```text
//! steps.csv      t,run.step,run.sigma,load.NAME.x,…            a row per sample of the trajectory
//! contacts.csv   sample,t,contact,x,y,z,fx,fy,fz,normal        a row per touching point; sample counts rows of the trajectory from 0
//! ```
//!
//! Points and forces are in world axes, forces those on the second body. `normal` is the part along the normal; over the points of a sample these add up to the
//! contact's column `force`.

use crate::motion::Touches;
use crate::sample_meter::MAX_POINTS;
use crate::table::{ColumnTable, TableError};
use sarrus::system::contact::TouchingPoint;
use std::io::{self, Write};

/// The file of numbers per sample.
pub const STEPS: &str = "steps.csv";
/// The file of contact points.
pub const CONTACTS: &str = "contacts.csv";
/// Touching points that are kept of a run, at most.
pub const MAX_SAMPLES: usize = 500_000;

const HEADER: &str = "sample,t,contact,x,y,z,fx,fy,fz,normal";

/// Holds what is kept of a run beside its trajectory, in the order of its samples.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampleExtras {
    /// Poses, where they are asked for.
    pub poses: Vec<f32>,
    /// Velocities of the bodies, with these.
    pub rates: Vec<f32>,
    /// Names of the numbers per sample.
    pub names: Vec<String>,
    /// Their units.
    pub units: Vec<String>,
    /// The numbers, sample by sample.
    pub rows: Vec<f64>,
    /// Marks where contacts touch.
    pub touches: Touches,
    /// The time from which on there was no room for points \[s\].
    pub full: Option<f64>,
}

impl SampleExtras {
    /// Takes the points of another sample, as long as there is room.
    pub(crate) fn add_points(&mut self, t: f64, points: &[TouchingPoint]) {
        let fits = self.full.is_none() && self.touches.count() + points.len() <= MAX_SAMPLES;
        if !fits {
            self.full.get_or_insert(t);
        }
        self.touches.push(if fits { points } else { &[] });
    }

    /// Adds the numbers to the columns of a table of the same samples; says whether it could.
    pub fn join(&self, table: &mut ColumnTable) -> bool {
        let width = self.names.len();
        if self.rows.len() != table.len() * width {
            return false;
        }
        for (k, (name, unit)) in self.names.iter().zip(&self.units).enumerate() {
            table.names.push(name.clone());
            table.units.push(unit.clone());
            table.columns.push(self.rows.iter().skip(k).step_by(width).copied().collect());
        }
        true
    }

    /// Returns what a user should know of points that are not there.
    pub fn note(&self) -> Option<String> {
        let t = self.full?;
        Some(format!(
            "{CONTACTS} ends at t = {t}: it holds at most {MAX_SAMPLES} contact points, and of a sample the {MAX_POINTS} strongest"
        ))
    }

    /// Writes `steps.csv`.
    pub fn write_steps(&self, t: impl Iterator<Item = f64>, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "t,{}", self.names.join(","))?;
        for (t, row) in t.zip(self.rows.chunks_exact(self.names.len().max(1))) {
            write!(out, "{t:?}")?;
            row.iter().try_for_each(|x| write!(out, ",{x:?}"))?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// Writes `contacts.csv`, with the names of contacts.
    pub fn write_contacts(
        &self,
        t: impl Iterator<Item = f64>,
        names: &[&str],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(out, "{HEADER}")?;
        for (sample, t) in t.enumerate() {
            for point in self.touches.at(sample) {
                let name = names.get(point.contact as usize).copied().unwrap_or_default();
                write!(out, "{sample},{t:?},{name}")?;
                let numbers = point.point.iter().chain(&point.force).chain([&point.normal]);
                numbers.into_iter().try_for_each(|x| write!(out, ",{x:?}"))?;
                writeln!(out)?;
            }
        }
        Ok(())
    }
}

/// Reads `contacts.csv` of samples at the times `t`, by the names of contacts; none where it was left by another run.
pub fn read_contacts(text: &str, names: &[&str], t: &[f64]) -> Result<Option<Touches>, TableError> {
    let mut lines = text.lines().enumerate();
    if lines.next().is_none_or(|(_, line)| line.trim() != HEADER) {
        return Err(TableError::Header { wanted: HEADER });
    }
    let (mut touches, mut now) = (Touches::default(), Vec::new());
    for (number, text) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let line = number + 1;
        let wrong = |text: &str| TableError::NotANumber { line, text: text.chars().take(40).collect() };
        let fields: Vec<&str> = text.split(',').map(str::trim).collect();
        let [sample, time, name, numbers @ ..] = &fields[..] else {
            return Err(TableError::Width { line, found: fields.len(), wanted: 10 });
        };
        if numbers.len() != 7 {
            return Err(TableError::Width { line, found: fields.len(), wanted: 10 });
        }
        let sample: usize = sample.parse().map_err(|_| wrong(sample))?;
        let mut x = [0.0; 7];
        for (x, text) in x.iter_mut().zip(numbers) {
            *x = text.parse().map_err(|_| wrong(text))?;
        }
        let time: f64 = time.parse().map_err(|_| wrong(time))?;
        let contact = names.iter().position(|known| known == name);
        let (Some(contact), true) = (contact, t.get(sample) == Some(&time)) else { return Ok(None) };
        // in the order of samples
        if sample < touches.len() {
            return Err(wrong(fields[0]));
        }
        while touches.len() < sample {
            touches.push(&std::mem::take(&mut now));
        }
        now.push(TouchingPoint {
            contact: contact as u32,
            bodies: [0; 2],
            point: [x[0], x[1], x[2]],
            force: [x[3], x[4], x[5]],
            normal: x[6],
        });
    }
    while touches.len() < t.len() {
        touches.push(&std::mem::take(&mut now));
    }
    Ok(Some(touches))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(contact: u32, x: f64) -> TouchingPoint {
        TouchingPoint {
            contact,
            bodies: [0; 2],
            point: [x, 1.0 / 3.0, -0.0],
            force: [0.1, 2e-300, x],
            normal: 3.5 * x,
        }
    }

    fn extras() -> SampleExtras {
        let mut extras = SampleExtras {
            names: vec!["run.step".into()],
            units: vec!["s".into()],
            ..SampleExtras::default()
        };
        extras.rows = vec![f64::NAN, 0.1, 1.0 / 3.0, 0.2];
        for points in [&[][..], &[point(0, 1.0), point(1, 2.0)], &[], &[point(1, 3.0)]] {
            extras.add_points(0.0, points);
        }
        extras
    }

    #[test]
    fn places_come_back_from_their_file_bit_for_bit() {
        let (extras, names) = (extras(), ["floor", "wall"]);
        let mut csv = Vec::new();
        let t = [0.0, 0.5, 0.5, 1.0];
        extras.write_contacts(t.into_iter(), &names, &mut csv).unwrap();
        let text = String::from_utf8(csv).unwrap();
        assert_eq!(text.lines().nth(2), Some("1,0.5,wall,2.0,0.3333333333333333,-0.0,0.1,2e-300,2.0,7.0"));
        assert_eq!(read_contacts(&text, &names, &t), Ok(Some(extras.touches)));
        // of another run
        assert_eq!(read_contacts(&text, &names, &t[..3]), Ok(None));
        assert_eq!(read_contacts(&text, &names, &[0.0, 0.4, 0.5, 1.0]), Ok(None));
        assert_eq!(read_contacts(&text, &names[..1], &t), Ok(None));
    }

    #[test]
    fn numbers_per_sample_come_back_and_are_joined_to_the_same_samples_only() {
        let extras = extras();
        let mut csv = Vec::new();
        extras.write_steps([0.0, 0.5, 0.5, 1.0].into_iter(), &mut csv).unwrap();
        let mut table = ColumnTable::from_csv(&String::from_utf8(csv).unwrap()).unwrap();
        assert_eq!(table.t, [0.0, 0.5, 0.5, 1.0]);
        assert_eq!(table.columns[0][1..], extras.rows[1..]);
        assert!(table.columns[0][0].is_nan());
        assert!(extras.join(&mut table) && table.columns.len() == 2);
        table.t.pop();
        assert!(!extras.join(&mut table));
    }

    #[test]
    fn files_that_are_no_contacts_are_refused_with_the_line() {
        let read = |text: &str| read_contacts(text, &["floor"], &[0.0, 0.0]).unwrap_err();
        assert_eq!(read("t,x\n"), TableError::Header { wanted: HEADER });
        let row = |start: &str| format!("{HEADER}\n{start}");
        assert_eq!(read(&row("0,0,floor,1,2\n")), TableError::Width { line: 2, found: 5, wanted: 10 });
        for (wrong, what) in [
            ("0,0,floor,1,two,3,4,5,6,7", "two"),
            ("-1,0,floor,1,2,3,4,5,6,7", "-1"),
            ("1,0,floor,1,2,3,4,5,6,7\n0,0,floor,1,2,3,4,5,6,7", "0"),
        ] {
            let TableError::NotANumber { text, .. } = read(&row(wrong)) else { panic!("{wrong}") };
            assert_eq!(text, what);
        }
    }

    #[test]
    fn places_beyond_the_room_are_left_out_with_a_word() {
        let mut extras = SampleExtras::default();
        let many = vec![point(0, 1.0); MAX_SAMPLES / 2 + 1];
        extras.add_points(0.1, &many);
        assert!(extras.note().is_none());
        extras.add_points(0.2, &many);
        extras.add_points(0.3, &many[..1]);
        assert_eq!((extras.touches.count(), extras.touches.len(), extras.full), (many.len(), 3, Some(0.2)));
        assert!(extras.note().unwrap().contains("t = 0.2"));
    }
}
