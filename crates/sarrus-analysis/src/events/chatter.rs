//! Events that chatter.
//!
//! An event that fires [`MOST`] times within [`WINDOW`] of the run's duration is taken for chattering: at one instant without
//! an end, or on a surface that the motion comes back to from both sides.

/// Firings within the window that are one too many.
pub(super) const MOST: usize = 100;
/// The window, as a part of the run's duration.
const WINDOW: f64 = 1e-3;

/// Describes when events have fired.
#[derive(Clone)]
pub(super) struct Firings {
    /// Times of the last firings \[s\], by event.
    times: Vec<Vec<f64>>,
    /// The window \[s\].
    window: f64,
    /// Firings within it that are one too many.
    most: usize,
}

impl Firings {
    /// None yet, of `events` in a run over `span`, from start to end \[s\].
    pub fn new(events: usize, span: (f64, f64)) -> Firings {
        Firings::of(events, span, MOST)
    }

    /// The same where `most` are one too many.
    pub fn of(events: usize, span: (f64, f64), most: usize) -> Firings {
        Firings { times: vec![Vec::new(); events], window: WINDOW * (span.1 - span.0), most }
    }

    /// Notes that event `i` fires at `t` \[s\]; returns whether it chatters.
    pub fn chatter(&mut self, i: usize, t: f64) -> bool {
        let times = &mut self.times[i];
        times.retain(|before| t - before <= self.window);
        times.push(t);
        times.len() >= self.most
    }
}
