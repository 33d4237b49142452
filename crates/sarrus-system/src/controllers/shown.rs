//! Describes what others read of a controller: its outputs and states, at an instant and over an interval of time.

use super::{Limited, mode};
use crate::at::At;
use crate::system::ControllerElement;
use sarrus_math::{Enclosure, Interval};

impl ControllerElement {
    /// Its outputs, from the states `x`, and then the integral if that follows a limit; returns how many numbers that are.
    pub(crate) fn show(&self, at: &At<f64>, x: &[f64], own: &mut [f64]) -> usize {
        let count = self.controller.outputs().len();
        self.controller.output(at, x, &mut own[..count]);
        let Some((limited, side)) = self.sliding(at.discrete) else { return count };
        own[count] = limited.integral_at(at, x, side);
        count + 1
    }

    /// Bounds on the same over an interval of time, into `own`; the states are among `at.outs`.
    pub(crate) fn enclose(&self, at: &At<Enclosure>, own: &mut Vec<Enclosure>) {
        let count = self.controller.outputs().len();
        let x = self.states_in(at.outs);
        own.clear();
        own.resize(count, Enclosure::jumping(Interval::ALL));
        self.controller.enclose(at, x, own);
        own.extend(self.sliding(at.discrete).map(|(limited, side)| limited.enclose_integral(at, x, side)));
    }

    /// The limit that it slides along, if it does.
    fn sliding(&self, discrete: &[f64]) -> Option<(&dyn Limited, f64)> {
        let limited = self.controller.limited()?;
        let mode = discrete[limited.discrete_index()];
        (mode.abs() == mode::SLIDES).then_some((limited, mode))
    }

    /// Its states, of what all controllers show.
    pub(crate) fn states_in<'a, T>(&self, outs: &'a [T]) -> &'a [T] {
        &outs[self.out + self.controller.outputs().len()..self.out + self.outputs.len()]
    }
}
