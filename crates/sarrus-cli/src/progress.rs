//! The progress bar, the announcement of the method, and Ctrl-C.

use crate::printer::Printer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sarrus::analysis::{EquilibriumSearch, Proceed, Progress, RunPlan, Watch};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// An analysis that takes longer than this says where it is, and again after as long.
const SILENCE: Duration = Duration::from_secs(3);
/// Freedoms from which dense matrices take long enough to say so.
const MANY: usize = 800;
/// Seconds for a dense decomposition, over the cube of the degrees of freedom: measured, for masses and springs.
const DENSE: f64 = 2e-9;

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

/// Forgets a Ctrl-C that ended a run.
pub fn rearm() {
    STOP.store(false, Ordering::SeqCst);
}

/// Returns whether Ctrl-C was pressed.
pub fn stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Called once, when a run begins.
type Begun<'a> = Box<dyn FnOnce(&mut Printer) + Send + 'a>;

/// Watches a run for the command line.
pub struct TerminalWatcher<'a> {
    printer: &'a mut Printer,
    bar: Option<ProgressBar>,
    started: Instant,
    span: (f64, f64),
    at_begin: Option<Begun<'a>>,
}

impl<'a> TerminalWatcher<'a> {
    /// Listens for Ctrl-C from here on.
    pub fn new(printer: &'a mut Printer) -> TerminalWatcher<'a> {
        listen();
        TerminalWatcher { printer, bar: None, started: Instant::now(), span: (0.0, 1.0), at_begin: None }
    }

    /// Does `act` once the set-up of the run was found to be good.
    pub fn at_begin(mut self, act: impl FnOnce(&mut Printer) + Send + 'a) -> TerminalWatcher<'a> {
        self.at_begin = Some(Box::new(act));
        self
    }

    fn show(&mut self) {
        let bar = ProgressBar::with_draw_target(Some(TICKS), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent:>3}%  {msg}") {
            bar.set_style(style);
        }
        self.bar = Some(bar);
    }
}

impl Watch for TerminalWatcher<'_> {
    fn begin(&mut self, plan: &RunPlan) {
        self.span = (plan.settings.t_start, plan.settings.t_end);
        self.printer.method(plan.method);
        self.printer.assembly(plan.assembly);
        if let Some(act) = self.at_begin.take() {
            act(self.printer);
        }
    }

    fn step(&mut self, progress: &Progress) -> Proceed {
        if self.printer.is_terminal() && self.bar.is_none() && self.started.elapsed() > PATIENCE {
            self.show();
        }
        if let Some(bar) = &self.bar {
            let done = (progress.t - self.span.0) / (self.span.1 - self.span.0);
            bar.set_position((done.clamp(0.0, 1.0) * TICKS as f64) as u64);
            bar.set_message(format!("t = {:.4} s, {} steps", progress.t, progress.steps));
        }
        if stopped() { Proceed::Stop } else { Proceed::Continue }
    }
}

impl Drop for TerminalWatcher<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Lets an analysis that takes long say where it is.
pub struct Patience {
    last: Instant,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { last: Instant::now() }
    }
}

impl Patience {
    /// An equilibrium is searched for.
    pub fn searching(&mut self, search: &EquilibriumSearch, printer: &mut Printer) {
        if self.last.elapsed() > SILENCE {
            self.last = Instant::now();
            let EquilibriumSearch { trials, steps, residual } = search;
            printer.say(
                "searching",
                format!("the rest, {steps} steps of {trials} tried, {residual:.1e} of the forces left"),
            );
        }
    }

    /// Dense matrices of at least so many degrees of freedom are decomposed.
    pub fn decomposing(&mut self, dof: usize, printer: &mut Printer) {
        if dof >= MANY {
            let seconds = DENSE * (dof as f64).powi(3);
            printer.say(
                "note",
                format!(
                    "{dof} degrees of freedom: dense matrices are decomposed, which takes about {:.0} s, and several times that \
                     where something damps or moves",
                    seconds.max(1.0)
                ),
            );
        }
    }
}

/// Shows a number of runs as they are made, one after the other.
pub struct RunsProgress {
    bar: Option<ProgressBar>,
}

impl RunsProgress {
    /// Listens for Ctrl-C from here on; shows a bar where someone watches.
    pub fn new(printer: &Printer, label: &'static str) -> RunsProgress {
        listen();
        let bar = printer.is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len}  {wide_msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(label);
            bar
        });
        RunsProgress { bar }
    }

    /// `done` of `total` are made, `what` comes next. Returns whether to continue.
    pub fn at(&mut self, done: usize, total: usize, what: &str) -> bool {
        if let Some(bar) = &self.bar {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            bar.set_message(what.to_string());
        }
        !stopped()
    }
}

impl Drop for RunsProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
