//! Listeners between a run and its observers.
//!
//! A [`SampleObserver`] checks every sample ([`SampleDiagnostics`]), keeps what the trajectory does not have ([`SampleExtras`]), and streams frames to a page. A
//! [`Stream`] hands over what it has ten times a second, or when a block is full. What it hands over is bounded: each time half of the workspace that
//! was left is used up, only every second frame is taken from then on. The trajectory itself is not touched.

use crate::extras::SampleExtras;
use crate::frames::{self, POINT};
use crate::live::{Live, MAX_BYTES};
use crate::motion::{Touches, add_poses, add_rates};
use crate::sample_meter::SampleMeter;
use crate::scene::{MOST_COLUMNS, Scene, choose_columns};
use sarrus::analysis::{Proceed, Progress, RunPlan, SampleDiagnostics, Watch};
use sarrus::solve::State;
use sarrus::system::{Directory, Mechanism};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two blocks of a run that continues.
const BEAT: Duration = Duration::from_millis(100);
/// Most frames in a block.
const LONGEST: usize = 256;
/// The part of the workspace that frames may take while they wait.
const PIECES: usize = 16;

/// Columns that a run hands over, and where they come from.
#[derive(Debug, Clone, Default)]
pub struct StreamColumns {
    /// Names of all columns of frames.
    pub names: Vec<String>,
    /// Their units.
    pub units: Vec<String>,
    /// Places in a row of the trajectory, after `t`.
    chosen: Vec<usize>,
    /// Numbers of the [`SampleDiagnostics`], which come after them.
    extras: usize,
    /// Places in q of amplitudes that the trajectory does not have: the last of the columns.
    hidden: Vec<usize>,
    /// Columns of the trajectory, and numbers beside them.
    of: usize,
}

impl StreamColumns {
    /// From the columns that a run will record, and what `diagnostics` tells beside them.
    pub fn new(
        directory: &Directory,
        names: &[String],
        units: &[&str],
        diagnostics: &SampleMeter,
    ) -> StreamColumns {
        let chosen = choose_columns(directory, names, MOST_COLUMNS);
        let mut columns = StreamColumns {
            names: chosen.iter().map(|&i| names[i].clone()).collect(),
            units: chosen.iter().map(|&i| units[i].to_string()).collect(),
            chosen,
            extras: diagnostics.names.len(),
            hidden: Vec::new(),
            of: names.len() + diagnostics.names.len(),
        };
        columns.names.extend_from_slice(&diagnostics.names);
        columns.units.extend_from_slice(&diagnostics.units);
        for floating in &directory.floating {
            let member = directory.flexible.iter().find(|f| f.all.contains(&floating.frame));
            for (k, &(after, axis)) in floating.amplitudes.iter().enumerate() {
                let name = format!("{}.eta{}", member.map_or("", |m| &m.name), k + 1);
                if !columns.names.contains(&name) {
                    columns.hidden.push(directory.bodies[floating.frame as usize + after].q + axis);
                    columns.names.push(name);
                    columns.units.push("kg^0.5 m".into());
                }
            }
        }
        columns
    }

    /// Says in a scene which columns there are.
    pub fn describe(&self, scene: &mut Scene) {
        scene.set_columns(&self.names, &self.units, self.hidden.len(), self.of);
    }
}

/// Hands frames over to the observer.
pub struct Stream {
    live: Arc<Live>,
    directory: Arc<Directory>,
    columns: StreamColumns,
    span: [f64; 2],
    started: Instant,
    beat: Instant,
    seen: usize,
    sent: usize,
    /// Every how many samples one is taken.
    stride: usize,
    /// Bytes there is room for, bytes at which the stride doubles, and bytes that are used.
    capacity: usize,
    next: usize,
    used: usize,
    t: Vec<f64>,
    rows: Vec<f64>,
    poses: Vec<f32>,
    rates: Vec<f32>,
    touches: Touches,
    accepts: bool,
}

impl Stream {
    /// To `live`, with room for so many bytes.
    pub fn new(
        live: Arc<Live>,
        directory: Arc<Directory>,
        columns: StreamColumns,
        capacity: usize,
    ) -> Stream {
        let now = Instant::now();
        Stream {
            live,
            directory,
            columns,
            span: [0.0; 2],
            started: now,
            beat: now,
            seen: 0,
            sent: 0,
            stride: 1,
            capacity,
            next: capacity / 2,
            used: 0,
            t: Vec::new(),
            rows: Vec::new(),
            poses: Vec::new(),
            rates: Vec::new(),
            touches: Touches::default(),
            accepts: false,
        }
    }

    /// Hands over what has come since the last time.
    fn flush(&mut self) {
        self.beat = Instant::now();
        if self.t.is_empty() {
            return;
        }
        let (n, width) = (self.t.len(), self.columns.names.len());
        let columns: Vec<Vec<f64>> =
            (0..width).map(|c| (0..n).map(|row| self.rows[row * width + c]).collect()).collect();
        let block = frames::block(self.sent, &self.t, columns.iter().map(Vec::as_slice), &self.poses);
        self.used += block.bytes.len();
        self.live.add(block);
        let block = frames::rates(self.sent, n, &self.rates);
        self.used += block.bytes.len();
        self.live.add(block);
        if self.touches.count() > 0 {
            let block = frames::contacts(self.sent, (0..n).map(|frame| self.touches.at(frame)));
            self.used += block.bytes.len();
            self.live.add(block);
        }
        self.sent += n;
        while self.used > self.next {
            // half of what is left until the next time; nothing more once there is none
            self.next += (self.capacity - self.next) / 2;
            self.stride = if self.used >= self.capacity { usize::MAX } else { self.stride.saturating_mul(2) };
            if self.stride == usize::MAX {
                break;
            }
        }
        self.t.clear();
        self.rows.clear();
        self.poses.clear();
        self.rates.clear();
        self.touches.clear();
    }

    fn report(&mut self, progress: &Progress) {
        if self.beat.elapsed() < BEAT {
            return;
        }
        self.flush();
        self.live.note(&json!({
            "type": "progress",
            "t": progress.t,
            "t_end": self.span[1],
            "steps": progress.steps,
            "wall_s": self.started.elapsed().as_secs_f64(),
        }));
    }

    fn sample(&mut self, s: &State, diagnostics: &SampleMeter) {
        self.accepts = self.seen.is_multiple_of(self.stride);
        self.seen += 1;
        if !self.accepts {
            return;
        }
        add_poses(&self.directory, s, &mut self.poses);
        add_rates(&self.directory, s, &mut self.rates);
        self.touches.push(&diagnostics.points);
        // columns come with the row; what is reported beside them and amplitudes are the last of them
        self.rows.resize(self.rows.len() + self.columns.names.len(), 0.0);
        let last = self.rows.len() - self.columns.hidden.len();
        self.rows[last - self.columns.extras..last].copy_from_slice(&diagnostics.values);
        for (x, &index) in self.rows[last..].iter_mut().zip(&self.columns.hidden) {
            *x = s.q[index];
        }
    }

    fn row(&mut self, row: &[f64]) {
        if !self.accepts {
            return;
        }
        self.t.push(row[0]);
        let first = self.rows.len() - self.columns.names.len();
        for (x, &index) in self.rows[first..].iter_mut().zip(&self.columns.chosen) {
            *x = row[index + 1];
        }
        // a fast run fills a block before its time
        let waiting =
            8 * self.rows.len() + 4 * (self.poses.len() + self.rates.len() + POINT * self.touches.count());
        if self.t.len() >= LONGEST || waiting > self.capacity / PIECES {
            self.flush();
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Listens to a run beside other observers.
pub struct SampleObserver<'a> {
    watch: &'a mut dyn Watch,
    directory: Arc<Directory>,
    diagnostics: SampleMeter,
    stream: Option<Stream>,
    extras: Option<SampleExtras>,
    /// True if poses are kept too.
    poses: bool,
}

impl<'a> SampleObserver<'a> {
    /// Between a run and `watch`.
    pub fn new(
        directory: Arc<Directory>,
        diagnostics: SampleMeter,
        watch: &'a mut dyn Watch,
    ) -> SampleObserver<'a> {
        SampleObserver { watch, directory, diagnostics, stream: None, extras: None, poses: false }
    }

    /// Hands the run over to the caller that checks `live`.
    pub fn streaming(self, live: Arc<Live>, columns: StreamColumns) -> SampleObserver<'a> {
        self.streaming_within(live, columns, MAX_BYTES)
    }

    /// The same with room for so many bytes.
    pub fn streaming_within(
        mut self,
        live: Arc<Live>,
        columns: StreamColumns,
        capacity: usize,
    ) -> SampleObserver<'a> {
        self.stream = Some(Stream::new(live, self.directory.clone(), columns, capacity));
        self
    }

    /// Keeps what the trajectory does not have; with `poses` where bodies are too, for columns that do not tell.
    pub fn keeping(mut self, poses: bool) -> SampleObserver<'a> {
        let (names, units) = (self.diagnostics.names.clone(), self.diagnostics.units.clone());
        self.extras = Some(SampleExtras { names, units, ..SampleExtras::default() });
        self.poses = poses;
        self
    }

    /// Returns what was kept.
    pub fn into_extras(mut self) -> SampleExtras {
        self.extras.take().unwrap_or_default()
    }
}

impl Watch for SampleObserver<'_> {
    fn begin(&mut self, plan: &RunPlan) {
        if let Some(stream) = &mut self.stream {
            stream.span = [plan.settings.t_start, plan.settings.t_end];
        }
        self.watch.begin(plan);
    }

    fn step(&mut self, progress: &Progress) -> Proceed {
        if let Some(stream) = &mut self.stream {
            stream.report(progress);
        }
        self.watch.step(progress)
    }

    fn sample(&mut self, mechanism: &mut Mechanism, s: &State, seen: &SampleDiagnostics) {
        if self.stream.is_some() || self.extras.is_some() {
            self.diagnostics.sample(mechanism, s, seen);
        }
        if let Some(stream) = &mut self.stream {
            stream.sample(s, &self.diagnostics);
        }
        if let Some(extras) = &mut self.extras {
            extras.rows.extend_from_slice(&self.diagnostics.values);
            extras.add_points(s.t, &self.diagnostics.points);
            if self.poses {
                add_poses(&self.directory, s, &mut extras.poses);
                add_rates(&self.directory, s, &mut extras.rates);
            }
        }
        self.watch.sample(mechanism, s, seen);
    }

    fn row(&mut self, row: &[f64]) {
        if let Some(stream) = &mut self.stream {
            stream.row(row);
        }
        self.watch.row(row);
    }
}
