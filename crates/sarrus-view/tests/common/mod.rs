//! Describes what the tests share: runs of shipped models, and a reader of frames that knows the contract only.
#![allow(dead_code)] // each test file uses its part

use sarrus::analysis::{Outcome, RunOverrides, Settings, Simulate, Watch, simulate};
use sarrus::io::{LoadOptions, load_str};
use sarrus::model::Model;
use sarrus::system::{Columns, System, compile};
use sarrus_view::motion::drawn;
use sarrus_view::observer::StreamColumns;
use sarrus_view::{ColumnTable, Live, SampleExtras, SampleMeter, SampleObserver, Scene};
use serde_json::Value;
use std::sync::Arc;

/// A model from a text, compiled.
pub fn compiled(name: &str, text: &str) -> (Model, Arc<System>) {
    let model = load_str(&format!("{name}.toml"), text, &LoadOptions::default())
        .unwrap_or_else(|f| panic!("{name}: {:?}", f.diagnostics));
    let system = compile(&model).unwrap_or_else(|d| panic!("{name}: {d:?}"));
    (model, Arc::new(system))
}

/// A shipped model.
pub fn shipped(name: &str) -> (Model, Arc<System>) {
    compiled(name, sarrus_zoo::model(name).expect("a shipped model"))
}

/// A short run.
pub fn request(t_end: f64, every: f64) -> Simulate {
    // all columns, whatever the model asks for
    let columns = Some(vec!["*".to_string()]);
    let overrides =
        RunOverrides { t_end: Some(t_end), every: Some(every), columns, ..RunOverrides::default() };
    Simulate { overrides, record: true }
}

/// A scene with the columns of a run.
pub fn scene(model: &Model, system: &Arc<System>, request: &Simulate) -> (Scene, StreamColumns) {
    let mut scene = Scene::new(model, system).unwrap_or_else(|d| panic!("{}: {d:?}", model.name));
    let settings = Settings::read(model, &request.overrides).expect("settings");
    let columns = Columns::new(model, system, &settings.columns).expect("columns");
    let diagnostics = SampleMeter::new(system, &scene.loads, &columns.names);
    let stream_columns = StreamColumns::new(&system.directory, &columns.names, &columns.units, &diagnostics);
    stream_columns.describe(&mut scene);
    (scene, stream_columns)
}

/// A gauge that tells all there is.
pub fn diagnostics(system: &System, scene: &Scene) -> SampleMeter {
    SampleMeter::new(system, &scene.loads, &[])
}

/// Runs a model, and keeps what the trajectory does not have.
pub fn extras(
    model: &Model,
    system: &Arc<System>,
    request: &Simulate,
) -> (Outcome, SampleExtras, ColumnTable) {
    let (scene, _) = scene(model, system, request);
    let mut nobody = ();
    let mut observer =
        SampleObserver::new(system.directory.clone(), diagnostics(system, &scene), &mut nobody).keeping(true);
    let outcome =
        simulate(model, system, request, &mut observer).unwrap_or_else(|e| panic!("{}: {e}", model.name));
    let extras = observer.into_extras();
    let mut table = ColumnTable::from(&outcome.trajectory);
    assert!(extras.join(&mut table), "{}: as many samples", model.name);
    (outcome, extras, table)
}

/// Runs a model with someone looking.
pub fn live(
    model: &Model,
    system: &Arc<System>,
    request: &Simulate,
    capacity: usize,
) -> (Outcome, Arc<Live>, Scene) {
    let (mut scene, columns) = scene(model, system, request);
    let live = Live::begin(&scene, drawn(&system.directory).count());
    let mut nobody = ();
    let watch: &mut dyn Watch = &mut nobody;
    let outcome = {
        let mut observer = SampleObserver::new(system.directory.clone(), diagnostics(system, &scene), watch)
            .streaming_within(live.clone(), columns, capacity);
        simulate(model, system, request, &mut observer).unwrap_or_else(|e| panic!("{}: {e}", model.name))
    };
    scene.set_report(serde_json::to_value(&outcome.report).expect("a report"));
    live.finish(&scene, None);
    (outcome, live, scene)
}

/// Frames that were read.
#[derive(Default, Debug)]
pub struct Read {
    pub bodies: usize,
    pub columns: usize,
    pub t: Vec<f64>,
    /// By column.
    pub values: Vec<Vec<f64>>,
    /// Seven numbers a body, frame by frame.
    pub poses: Vec<f32>,
    /// Six numbers a body, frame by frame.
    pub rates: Vec<f32>,
    pub notes: Vec<Value>,
    /// Frame, contact, place and force of every touching place.
    pub touches: Vec<(usize, usize, [f32; 6])>,
}

/// Reads by the letters of PROTOCOL.md.
pub fn read(bytes: &[u8]) -> Read {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let double = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!((&bytes[..4], word(4)), (&b"SRSF"[..], 1));
    let mut read = Read { bodies: word(8), columns: word(12), ..Read::default() };
    read.values = vec![Vec::new(); read.columns];
    let mut at = 32;
    while at < bytes.len() {
        assert_eq!(at % 8, 0);
        let (size, first, count) = (word(at + 4), word(at + 8), word(at + 12));
        let from = at + 16;
        match &bytes[at..at + 4] {
            b"FRAM" => {
                assert_eq!(first, read.t.len());
                read.t.extend((0..count).map(|i| double(from + 8 * i)));
                for (c, column) in read.values.iter_mut().enumerate() {
                    column.extend((0..count).map(|i| double(from + 8 * (count * (c + 1) + i))));
                }
                let poses = from + 8 * count * (read.columns + 1);
                for i in 0..count * read.bodies * 7 {
                    read.poses.push(f32::from_le_bytes(bytes[poses + 4 * i..][..4].try_into().unwrap()));
                }
            }
            b"RATE" => {
                assert_eq!((first + count, first * read.bodies * 6), (read.t.len(), read.rates.len()));
                let float = |i: usize| f32::from_le_bytes(bytes[from + 4 * i..][..4].try_into().unwrap());
                read.rates.extend((0..count * read.bodies * 6).map(float));
            }
            b"CONT" => {
                assert!(first + count <= read.t.len(), "contacts come after their frames");
                let mut index = from + 4 * count;
                for frame in 0..count {
                    for _ in 0..word(from + 4 * frame) {
                        let float = |k: usize| {
                            f32::from_le_bytes(bytes[index + 4 + 4 * k..][..4].try_into().unwrap())
                        };
                        read.touches.push((first + frame, word(index), [0, 1, 2, 3, 4, 5].map(float)));
                        index += 28;
                    }
                }
                assert!(index <= from + size && from + size - index < 8);
            }
            b"NOTE" => {
                let text = std::str::from_utf8(&bytes[from..from + size]).unwrap();
                read.notes.push(serde_json::from_str(text).unwrap());
            }
            other => panic!("unknown block {other:?}"),
        }
        at = from + size;
    }
    read
}

/// All bytes that the server would send of a run.
pub fn bytes(live: &Live) -> Vec<u8> {
    live.bytes()
}
