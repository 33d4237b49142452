//! One run of a scene, in this process: refused, panicked or done.

use crate::scene::SceneFile;
use sarrus::analysis::{Outcome, Simulate, Status, certify, simulate};
use sarrus::io::{LoadOptions, load_among, write_resolved};
use sarrus::model::{Diagnostic, Model};
use sarrus::system::{System, compile};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once};

/// Describes how a run ended.
#[derive(Clone, Debug)]
pub enum RunEnd {
    /// The model is refused, with what is said of it.
    Refused(Vec<Diagnostic>),
    /// The program panicked.
    Panicked(String),
    /// It ran, however far.
    Done(Box<Outcome>),
}

impl RunEnd {
    /// The outcome of a certified run that reached its end.
    pub fn certified(&self) -> Option<&Outcome> {
        match self {
            RunEnd::Done(outcome)
                if outcome.report.certificate.passed && outcome.report.status == Status::Completed =>
            {
                Some(outcome)
            }
            _ => None,
        }
    }
}

thread_local! {
    /// Describes how deep this thread is inside [`guarded`].
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Marks where and why it panicked last.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the messages of panics inside [`guarded`] in place of printing them.
fn keep_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match DEPTH.get() {
            0 => before(info),
            _ => PANIC.with(|p| *p.borrow_mut() = Some(info.to_string())),
        }));
    });
}

/// Returns what `work` gives, or the message of its panic.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    keep_panics();
    DEPTH.set(DEPTH.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    result.map_err(|_| {
        PANIC.with(|p| p.borrow_mut().take()).unwrap_or_else(|| "a panic without message".into())
    })
}

/// Loads a scene.
pub fn load(scene: &SceneFile) -> Result<Model, Vec<Diagnostic>> {
    load_text(&scene.toml(), &scene.files)
}

fn load_text(text: &str, files: &[(String, String)]) -> Result<Model, Vec<Diagnostic>> {
    let beside: Vec<(String, &str)> = files.iter().map(|(n, t)| (n.clone(), t.as_str())).collect();
    let options = LoadOptions { record: true, ..LoadOptions::default() };
    load_among("scene.toml", text, &beside, &options).map_err(|failure| failure.diagnostics)
}

fn compiled(model: &Model) -> Result<Arc<System>, Vec<Diagnostic>> {
    compile(model).map(Arc::new)
}

fn run_unguarded(model: &Model) -> Result<Outcome, Vec<Diagnostic>> {
    let system = compiled(model)?;
    simulate(model, &system, &Simulate::default(), &mut ()).map_err(|error| error.diagnostics())
}

fn ended(result: Result<Result<Outcome, Vec<Diagnostic>>, String>) -> RunEnd {
    match result {
        Ok(Ok(outcome)) => RunEnd::Done(Box::new(outcome)),
        Ok(Err(diagnostics)) => RunEnd::Refused(diagnostics),
        Err(message) => RunEnd::Panicked(message),
    }
}

/// Runs a scene.
pub fn run(scene: &SceneFile) -> RunEnd {
    ended(guarded(|| run_unguarded(&load(scene)?)))
}

/// Errors that the certificate of a scene's run estimates, by column; none where the run is not certified with its accuracy, as `sarrus run` asks.
pub fn estimated_errors(scene: &SceneFile) -> Option<BTreeMap<String, f64>> {
    let outcome = guarded(|| {
        let model = load(scene).ok()?;
        let system = compiled(&model).ok()?;
        certify(&model, &system, &Simulate::default(), &mut ()).ok()
    });
    let certificate = outcome.ok()??.report.certificate;
    if certificate.passed { Some(certificate.accuracy?.columns) } else { None }
}

/// Runs the scene as the program writes it resolved: parameters, includes and poses as numbers.
pub fn run_resolved(scene: &SceneFile) -> RunEnd {
    ended(guarded(|| {
        let model = load(scene)?;
        // what a run reads is recorded on the way
        run_unguarded(&model)?;
        run_unguarded(&load_text(&write_resolved(&model, &[]), &[])?)
    }))
}
