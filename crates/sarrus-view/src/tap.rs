//! Listeners between a run and whoever watches it.
//!
//! A [`Tap`] hands over what it has ten times a second, or when a block is full. What it hands over is bounded: each time half of the room that
//! was left is used up, only every second frame is taken from then on. The trajectory itself is not touched.

use crate::frames;
use crate::live::{Live, ROOM};
use crate::motion::add_poses;
use crate::scene::{MOST_COLUMNS, Scene, choose_columns};
use sarrus::analysis::{Flow, Plan, Progress, Watch};
use sarrus::solve::State;
use sarrus::system::{Directory, Mechanism};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two blocks of a run that goes on.
const BEAT: Duration = Duration::from_millis(100);
/// Most frames in a block.
const LONGEST: usize = 256;
/// The part of the room that frames may take while they wait.
const PIECES: usize = 16;

/// Columns that a run hands over, and where they come from.
#[derive(Debug, Clone, Default)]
pub struct Feed {
    /// Names of all columns of frames.
    pub names: Vec<String>,
    /// Their units.
    pub units: Vec<String>,
    /// Places in a row of the trajectory, after `t`.
    chosen: Vec<usize>,
    /// Places in q of amplitudes that the trajectory does not have: the last of the columns.
    hidden: Vec<usize>,
    /// Columns of the trajectory.
    of: usize,
}

impl Feed {
    /// From the columns that a run will record.
    pub fn new(directory: &Directory, names: &[String], units: &[&str]) -> Feed {
        let chosen = choose_columns(directory, names, MOST_COLUMNS);
        let mut feed = Feed {
            names: chosen.iter().map(|&i| names[i].clone()).collect(),
            units: chosen.iter().map(|&i| units[i].to_string()).collect(),
            chosen,
            hidden: Vec::new(),
            of: names.len(),
        };
        for floating in &directory.floating {
            let member = directory.flexible.iter().find(|f| f.all.contains(&floating.frame));
            for (k, &(after, axis)) in floating.amplitudes.iter().enumerate() {
                let name = format!("{}.eta{}", member.map_or("", |m| &m.name), k + 1);
                if !feed.names.contains(&name) {
                    feed.hidden.push(directory.bodies[floating.frame as usize + after].q + axis);
                    feed.names.push(name);
                    feed.units.push("kg^0.5 m".into());
                }
            }
        }
        feed
    }

    /// Says in a scene which columns there are.
    pub fn describe(&self, scene: &mut Scene) {
        scene.set_columns(&self.names, &self.units, self.hidden.len(), self.of);
    }
}

/// Listens to a run and hands it over, whoever else watches.
pub struct Tap<'a> {
    watch: &'a mut dyn Watch,
    live: Arc<Live>,
    directory: Arc<Directory>,
    feed: Feed,
    span: [f64; 2],
    started: Instant,
    beat: Instant,
    seen: usize,
    sent: usize,
    /// Every how many samples one is taken.
    stride: usize,
    /// Bytes there is room for, bytes at which the stride doubles, and bytes that are used.
    room: usize,
    next: usize,
    used: usize,
    t: Vec<f64>,
    rows: Vec<f64>,
    poses: Vec<f32>,
    takes: bool,
}

impl<'a> Tap<'a> {
    /// Between a run and `watch`.
    pub fn new(live: Arc<Live>, directory: Arc<Directory>, feed: Feed, watch: &'a mut dyn Watch) -> Tap<'a> {
        Tap::with_room(live, directory, feed, watch, ROOM)
    }

    /// The same with room for so many bytes.
    pub fn with_room(
        live: Arc<Live>,
        directory: Arc<Directory>,
        feed: Feed,
        watch: &'a mut dyn Watch,
        room: usize,
    ) -> Tap<'a> {
        let now = Instant::now();
        Tap {
            watch,
            live,
            directory,
            feed,
            span: [0.0; 2],
            started: now,
            beat: now,
            seen: 0,
            sent: 0,
            stride: 1,
            room,
            next: room / 2,
            used: 0,
            t: Vec::new(),
            rows: Vec::new(),
            poses: Vec::new(),
            takes: false,
        }
    }

    /// Hands over what has come since the last time.
    pub fn flush(&mut self) {
        self.beat = Instant::now();
        if self.t.is_empty() {
            return;
        }
        let (n, width) = (self.t.len(), self.feed.names.len());
        let columns: Vec<Vec<f64>> =
            (0..width).map(|c| (0..n).map(|row| self.rows[row * width + c]).collect()).collect();
        let block = frames::block(self.sent, &self.t, columns.iter().map(Vec::as_slice), &self.poses);
        self.sent += n;
        self.used += block.bytes.len();
        while self.used > self.next {
            // half of what is left until the next time; nothing more once there is none
            self.next += (self.room - self.next) / 2;
            self.stride = if self.used >= self.room { usize::MAX } else { self.stride.saturating_mul(2) };
            if self.stride == usize::MAX {
                break;
            }
        }
        self.live.add(block);
        self.t.clear();
        self.rows.clear();
        self.poses.clear();
    }

    fn tell(&mut self, progress: &Progress) {
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
}

impl Watch for Tap<'_> {
    fn begin(&mut self, plan: &Plan) {
        self.span = [plan.settings.t_start, plan.settings.t_end];
        self.watch.begin(plan);
    }

    fn step(&mut self, progress: &Progress) -> Flow {
        self.tell(progress);
        self.watch.step(progress)
    }

    fn sample(&mut self, mechanism: &mut Mechanism, s: &State) {
        self.takes = self.seen.is_multiple_of(self.stride);
        self.seen += 1;
        if self.takes {
            add_poses(&self.directory, s, &mut self.poses);
            // columns come with the row; amplitudes are the last of them
            self.rows.resize(self.rows.len() + self.feed.names.len(), 0.0);
            let last = self.rows.len() - self.feed.hidden.len();
            for (x, &place) in self.rows[last..].iter_mut().zip(&self.feed.hidden) {
                *x = s.q[place];
            }
        }
        self.watch.sample(mechanism, s);
    }

    fn row(&mut self, row: &[f64]) {
        if self.takes {
            self.t.push(row[0]);
            let first = self.rows.len() - self.feed.names.len();
            for (x, &place) in self.rows[first..].iter_mut().zip(&self.feed.chosen) {
                *x = row[place + 1];
            }
            // a fast run fills a block before its time
            let waiting = 8 * self.rows.len() + 4 * self.poses.len();
            if self.t.len() >= LONGEST || waiting > self.room / PIECES {
                self.flush();
            }
        }
        self.watch.row(row);
    }
}

impl Drop for Tap<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Keeps the poses of a run whose columns do not tell them.
pub struct Poses<'a> {
    watch: &'a mut dyn Watch,
    directory: Arc<Directory>,
    /// Poses of every sample.
    pub poses: Vec<f32>,
}

impl<'a> Poses<'a> {
    /// Between a run and `watch`.
    pub fn new(directory: Arc<Directory>, watch: &'a mut dyn Watch) -> Poses<'a> {
        Poses { watch, directory, poses: Vec::new() }
    }

    /// Who else watches.
    pub fn inner(&mut self) -> &mut dyn Watch {
        self.watch
    }
}

impl Watch for Poses<'_> {
    fn begin(&mut self, plan: &Plan) {
        self.watch.begin(plan);
    }

    fn step(&mut self, progress: &Progress) -> Flow {
        self.watch.step(progress)
    }

    fn sample(&mut self, mechanism: &mut Mechanism, s: &State) {
        add_poses(&self.directory, s, &mut self.poses);
        self.watch.sample(mechanism, s);
    }

    fn row(&mut self, row: &[f64]) {
        self.watch.row(row);
    }
}
