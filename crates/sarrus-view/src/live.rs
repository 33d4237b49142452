//! Runs as the server has them: a scene and blocks of frames that only grow.
//!
//! A run that goes on hands over what it has ten times a second ([`Tap`]) under a lock that is held for a moment; readers keep their own place, so a
//! slow browser makes nobody wait and costs nothing. What is kept is bounded: each time half of the room that was left is used up, only every second
//! frame is taken from then on. The trajectory itself is not touched.

use crate::frames::{self, Block};
use crate::motion::{Motion, add_poses};
use crate::scene::{MOST_COLUMNS, Scene, choose_columns};
use axum::body::Bytes;
use sarrus::analysis::{Flow, Plan, Progress, Watch};
use sarrus::solve::State;
use sarrus::system::{Directory, Mechanism};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Time between two blocks of a run that goes on.
const BEAT: Duration = Duration::from_millis(100);
/// Bytes of frames that are kept of a run that goes on.
pub const ROOM: usize = 200 << 20;

/// Most frames in a block.
const LONGEST: usize = 256;
/// The part of the room that frames may take while they wait.
const PIECES: usize = 16;

/// A run that is shown.
pub struct Live {
    inner: Mutex<Inner>,
    /// Counts what was added.
    version: watch::Sender<u64>,
}

struct Inner {
    scene: Bytes,
    header: Bytes,
    blocks: Vec<Stored>,
    done: bool,
}

#[derive(Clone)]
struct Stored {
    /// One more than its last frame; 0 for notes.
    end: usize,
    bytes: Bytes,
}

impl From<Block> for Stored {
    fn from(block: Block) -> Stored {
        let end = if block.count == 0 { 0 } else { block.first + block.count };
        Stored { end, bytes: block.bytes.into() }
    }
}

impl Live {
    /// A run that begins.
    pub fn begin(scene: &Scene, bodies: usize) -> Arc<Live> {
        let header = frames::header(bodies, scene.columns.len());
        Live::new(scene, header, Vec::new(), false)
    }

    /// A run that is over.
    pub fn finished(scene: &Scene, motion: &Motion) -> Arc<Live> {
        let header = frames::header(motion.bodies, motion.table.names.len());
        let mut blocks: Vec<Stored> = frames::blocks(motion).map(Stored::from).collect();
        blocks.push(frames::note(&json!({ "type": "end", "report": null })).into());
        Live::new(scene, header, blocks, true)
    }

    fn new(scene: &Scene, header: Vec<u8>, blocks: Vec<Stored>, done: bool) -> Arc<Live> {
        let inner = Inner { scene: scene.to_json().into(), header: header.into(), blocks, done };
        Arc::new(Live { inner: Mutex::new(inner), version: watch::channel(0).0 })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // nobody panics with the lock, and if so what is there is whole
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scene as JSON.
    pub fn scene(&self) -> Bytes {
        self.lock().scene.clone()
    }

    /// Whether nothing more will come.
    pub fn is_done(&self) -> bool {
        self.lock().done
    }

    /// What comes before the blocks.
    pub fn header(&self) -> Bytes {
        self.lock().header.clone()
    }

    /// Tells when something is added.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// The block at `place` and all after it that have a frame from `from` on or are notes; the place after them, and whether that is the end.
    pub(crate) fn after(&self, place: usize, from: usize) -> (Vec<Bytes>, usize, bool) {
        let inner = self.lock();
        let new = inner.blocks.get(place..).unwrap_or_default();
        let wanted = new.iter().filter(|block| block.end == 0 || block.end > from);
        (wanted.map(|block| block.bytes.clone()).collect(), inner.blocks.len(), inner.done)
    }

    /// All that has come so far, as the page would get it.
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes_from(0)
    }

    /// The same without blocks that end before the frame `from`.
    pub fn bytes_from(&self, from: usize) -> Vec<u8> {
        let (blocks, ..) = self.after(0, from);
        [self.header()].into_iter().chain(blocks).flatten().collect()
    }

    fn add(&self, block: Block) {
        self.lock().blocks.push(block.into());
        self.version.send_modify(|version| *version += 1);
    }

    /// Adds a note.
    pub fn note(&self, note: &Value) {
        self.add(frames::note(note));
    }

    /// Ends a run: `scene` is the one with its report. `failure` says why it failed, if it did.
    pub fn finish(&self, scene: &Scene, failure: Option<(&str, Option<&str>)>) {
        for event in &scene.events {
            self.note(&json!({ "type": "event", "event": event }));
        }
        let note = match failure {
            None => json!({ "type": "end", "report": scene.report }),
            Some((message, hint)) => {
                json!({ "type": "failure", "message": message, "hint": hint, "report": scene.report })
            }
        };
        let mut inner = self.lock();
        inner.blocks.push(frames::note(&note).into());
        inner.scene = scene.to_json().into();
        inner.done = true;
        drop(inner);
        self.version.send_modify(|version| *version += 1);
    }
}

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
