//! Runs as the server has them: a scene and blocks of frames that only grow.
//!
//! The caller that adds holds the lock for a moment; readers keep their own place, so a slow browser makes no one wait and costs nothing.

use crate::frames::{self, FrameBlock};
use crate::motion::PoseTable;
use crate::scene::Scene;
use axum::body::Bytes;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Bytes of frames that are kept of a run that continues.
pub const MAX_BYTES: usize = 200 << 20;

/// A run that is shown.
pub struct Live {
    inner: Mutex<LiveInner>,
    /// Counts what was added.
    version: watch::Sender<u64>,
}

struct LiveInner {
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

impl From<FrameBlock> for Stored {
    fn from(block: FrameBlock) -> Stored {
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
    pub fn finished(scene: &Scene, motion: &PoseTable) -> Arc<Live> {
        let header = frames::header(motion.bodies, motion.table.names.len());
        let mut blocks: Vec<Stored> = frames::blocks(motion).map(Stored::from).collect();
        blocks.push(frames::note(&json!({ "type": "end", "report": null })).into());
        Live::new(scene, header, blocks, true)
    }

    fn new(scene: &Scene, header: Vec<u8>, blocks: Vec<Stored>, done: bool) -> Arc<Live> {
        let inner = LiveInner { scene: scene.to_json().into(), header: header.into(), blocks, done };
        Arc::new(Live { inner: Mutex::new(inner), version: watch::channel(0).0 })
    }

    fn lock(&self) -> MutexGuard<'_, LiveInner> {
        // no one panics with the lock, and if so what is there is whole
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scene as JSON.
    pub fn scene(&self) -> Bytes {
        self.lock().scene.clone()
    }

    /// Returns whether nothing more will come.
    pub fn is_done(&self) -> bool {
        self.lock().done
    }

    /// Returns what comes before the blocks.
    pub fn header(&self) -> Bytes {
        self.lock().header.clone()
    }

    /// Reports when something is added.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// The block at `place` and all after it that have a frame from `from` on or are notes; the place after them, and whether that is the end.
    pub(crate) fn after(&self, index: usize, from: usize) -> (Vec<Bytes>, usize, bool) {
        let inner = self.lock();
        let new = inner.blocks.get(index..).unwrap_or_default();
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

    /// Adds a block.
    pub(crate) fn add(&self, block: FrameBlock) {
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
