//! Many runs on many cores, with progress and a way to stop.
//!
//! Workers take the next run from a counter; the observer is asked from the calling thread only, about ten times a
//! second.

use crate::simulate;
use crate::{Proceed, RunPlan};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Number of times that the observer is asked.
const TICK: Duration = Duration::from_millis(100);
/// Resolution of the progress of one run.
const WHOLE: u32 = 10_000;

/// Holds what a comparison is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The reference runs.
    Reference,
    /// Every method, in parallel.
    Runs,
    /// Every method that completed, one at a time.
    Timing,
}

/// Describes how far a comparison is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparisonProgress {
    /// Holds what it is doing.
    pub phase: Phase,
    /// Runs of this phase that are done.
    pub done: usize,
    /// Runs of this phase.
    pub total: usize,
    /// Part of all the work that is done, 0 to 1, as far as can be determined.
    pub fraction: f64,
}

/// Object that watches a comparison, and may stop it.
pub trait ComparisonWatch: Send {
    /// Asked now and then.
    fn progress(&mut self, _progress: &ComparisonProgress) -> Proceed {
        Proceed::Continue
    }
}

/// No one watches.
impl ComparisonWatch for () {}

/// Runs things, shows how far it is, stops when asked.
pub(crate) struct Pool<'a> {
    jobs: usize,
    watch: &'a mut dyn ComparisonWatch,
    stop: AtomicBool,
    /// Weights of the phases.
    weights: [f64; 3],
}

/// Watches one run: tells its progress, ends it at its limit or when all is to end.
pub(crate) struct Meter<'a> {
    stop: &'a AtomicBool,
    progress: &'a AtomicU32,
    span: (f64, f64),
    started: Instant,
    limit: Option<f64>,
    passed: bool,
    /// Asked at every step where a run is alone.
    alone: Option<&'a mut (dyn FnMut() -> Proceed + Send)>,
}

impl<'a> Meter<'a> {
    fn new(stop: &'a AtomicBool, progress: &'a AtomicU32) -> Meter<'a> {
        Meter {
            stop,
            progress,
            span: (0.0, 1.0),
            started: Instant::now(),
            limit: None,
            passed: false,
            alone: None,
        }
    }

    /// Ends the run after so much wall time \[s\].
    pub fn set_limit(&mut self, limit: Option<f64>) {
        (self.limit, self.started, self.passed) = (limit, Instant::now(), false);
    }

    /// The limit, where it ended the run.
    pub fn passed_limit(&self) -> Option<f64> {
        self.limit.filter(|_| self.passed)
    }
}

impl simulate::Watch for Meter<'_> {
    fn begin(&mut self, plan: &RunPlan) {
        self.span = (plan.settings.t_start, plan.settings.t_end);
    }

    fn step(&mut self, at: &simulate::Progress) -> Proceed {
        let done = (at.t - self.span.0) / (self.span.1 - self.span.0);
        self.progress.store((done.clamp(0.0, 1.0) * f64::from(WHOLE)) as u32, Ordering::Relaxed);
        self.passed = self.limit.is_some_and(|limit| self.started.elapsed().as_secs_f64() > limit);
        let asked = self.alone.as_mut().is_some_and(|ask| ask() == Proceed::Stop);
        if asked || self.passed || self.stop.load(Ordering::Relaxed) {
            Proceed::Stop
        } else {
            Proceed::Continue
        }
    }
}

impl<'a> Pool<'a> {
    /// For so many cases, timed or not.
    pub fn new(jobs: usize, cases: usize, timed: bool, watch: &'a mut dyn ComparisonWatch) -> Pool<'a> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = if jobs == 0 { cores } else { jobs };
        let all = cases as f64;
        // the reference costs as much as a few runs; timing repeats each, alone
        let parts = [4.0, all / jobs as f64, if timed { 3.0 * all } else { 0.0 }];
        let sum: f64 = parts.iter().sum();
        Pool { jobs, watch, stop: AtomicBool::new(false), weights: parts.map(|p| p / sum) }
    }

    /// Returns whether someone asked for an end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn progress(&self, phase: Phase, done: usize, total: usize, within: f64) -> ComparisonProgress {
        let before: f64 = self.weights[..phase as usize].iter().sum();
        let fraction = before + self.weights[phase as usize] * within / total.max(1) as f64;
        ComparisonProgress { phase, done, total, fraction: fraction.clamp(0.0, 1.0) }
    }

    /// Does `work` for 0 to `n` - 1 on all cores; none for what was not begun when it was stopped.
    pub fn run<T: Send>(
        &mut self,
        phase: Phase,
        n: usize,
        work: impl Fn(usize, &mut Meter) -> T + Sync,
    ) -> Vec<Option<T>> {
        let next = AtomicUsize::new(0);
        let meters: Vec<AtomicU32> = (0..n).map(|_| AtomicU32::new(0)).collect();
        let mut found: Vec<Option<T>> = (0..n).map(|_| None).collect();
        let mut done = 0;
        // watched from this thread, stopped by all
        let stop = std::mem::replace(&mut self.stop, AtomicBool::new(false));
        std::thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            for _ in 0..self.jobs.min(n) {
                let (send, next, meters, stop, work) = (send.clone(), &next, &meters, &stop, &work);
                scope.spawn(move || {
                    loop {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        if i >= n || stop.load(Ordering::Relaxed) {
                            break;
                        }
                        let result = work(i, &mut Meter::new(stop, &meters[i]));
                        meters[i].store(WHOLE, Ordering::Relaxed);
                        if send.send((i, result)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(send);
            loop {
                match receive.recv_timeout(TICK) {
                    Ok((i, result)) => {
                        found[i] = Some(result);
                        done += 1;
                    }
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
                let within: f64 =
                    meters.iter().map(|m| f64::from(m.load(Ordering::Relaxed)) / f64::from(WHOLE)).sum();
                let progress = self.progress(phase, done, n, within);
                if self.watch.progress(&progress) == Proceed::Stop {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        });
        self.stop = stop;
        found
    }

    /// Does `work` on this thread, the `done`-th of `total`.
    pub fn alone<T>(&mut self, done: f64, total: usize, work: impl FnOnce(&mut Meter) -> T) -> T {
        let progress = self.progress(Phase::Timing, done as usize, total, done);
        let mut asked = Instant::now();
        if self.watch.progress(&progress) == Proceed::Stop {
            self.stop.store(true, Ordering::Relaxed);
        }
        let (stop, watch) = (&self.stop, &mut *self.watch);
        let mut ask = || {
            if asked.elapsed() < TICK {
                return Proceed::Continue;
            }
            asked = Instant::now();
            let flow = watch.progress(&progress);
            if flow == Proceed::Stop {
                stop.store(true, Ordering::Relaxed);
            }
            flow
        };
        let mark = AtomicU32::new(0);
        let mut meter = Meter { alone: Some(&mut ask), ..Meter::new(stop, &mark) };
        work(&mut meter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once_and_in_its_place() {
        let mut nobody = ();
        let mut pool = Pool::new(3, 20, false, &mut nobody);
        let found = pool.run(Phase::Runs, 20, |i, _| i * i);
        assert_eq!(found, (0..20).map(|i| Some(i * i)).collect::<Vec<_>>());
        assert!(!pool.stopped());
    }

    #[test]
    fn nothing_new_is_begun_after_a_stop() {
        struct Impatient;
        impl ComparisonWatch for Impatient {
            fn progress(&mut self, progress: &ComparisonProgress) -> Proceed {
                assert!((0.0..=1.0).contains(&progress.fraction));
                if progress.done >= 2 { Proceed::Stop } else { Proceed::Continue }
            }
        }
        let mut watch = Impatient;
        let mut pool = Pool::new(1, 100, false, &mut watch);
        let found = pool.run(Phase::Runs, 100, |i, _| {
            std::thread::sleep(Duration::from_millis(5));
            i
        });
        let begun = found.iter().flatten().count();
        assert!(pool.stopped() && (2..100).contains(&begun), "{begun}");
    }
}
