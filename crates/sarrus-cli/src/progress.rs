//! The progress bar, the announcement of the method, and Ctrl-C.

use crate::printer::Printer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sarrus::analysis::{Flow, Plan, Progress, Watch};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);
/// Resolution of the bar.
const TICKS: u64 = 1000;
/// Runs shorter than this show no bar.
const PATIENCE: Duration = Duration::from_millis(400);

/// Listens for Ctrl-C from here on.
pub fn listen() {
    // a second Ctrl-C does not wait for the end of a step; without a handler the first does not either
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// Whether Ctrl-C was pressed.
pub fn stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Watches a run for the command line.
pub struct Watcher<'a> {
    printer: &'a mut Printer,
    bar: Option<ProgressBar>,
    started: Instant,
    span: (f64, f64),
}

impl<'a> Watcher<'a> {
    /// Listens for Ctrl-C from here on.
    pub fn new(printer: &'a mut Printer) -> Watcher<'a> {
        listen();
        Watcher { printer, bar: None, started: Instant::now(), span: (0.0, 1.0) }
    }

    fn show(&mut self) {
        let bar = ProgressBar::with_draw_target(Some(TICKS), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent:>3}%  {msg}") {
            bar.set_style(style);
        }
        self.bar = Some(bar);
    }
}

impl Watch for Watcher<'_> {
    fn begin(&mut self, plan: &Plan) {
        self.span = (plan.settings.t_start, plan.settings.t_end);
        self.printer.method(plan.method);
        self.printer.assembly(plan.assembly);
    }

    fn step(&mut self, progress: &Progress) -> Flow {
        if self.printer.is_terminal() && self.bar.is_none() && self.started.elapsed() > PATIENCE {
            self.show();
        }
        if let Some(bar) = &self.bar {
            let done = (progress.t - self.span.0) / (self.span.1 - self.span.0);
            bar.set_position((done.clamp(0.0, 1.0) * TICKS as f64) as u64);
            bar.set_message(format!("t = {:.4} s, {} steps", progress.t, progress.steps));
        }
        if stopped() { Flow::Stop } else { Flow::Continue }
    }
}

impl Drop for Watcher<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shows a number of runs as they are made, one after the other.
pub struct Steps {
    bar: Option<ProgressBar>,
}

impl Steps {
    /// Listens for Ctrl-C from here on; shows a bar where somebody watches.
    pub fn new(printer: &Printer, label: &'static str) -> Steps {
        listen();
        let bar = printer.is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len}  {wide_msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(label);
            bar
        });
        Steps { bar }
    }

    /// `done` of `total` are made, `what` comes next. Returns whether to go on.
    pub fn at(&mut self, done: usize, total: usize, what: &str) -> bool {
        if let Some(bar) = &self.bar {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            bar.set_message(what.to_string());
        }
        !stopped()
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
