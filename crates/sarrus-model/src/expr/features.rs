//! Times around short features of a program: a pulse `exp(-((t - 1)/1e-3)^2)` that the steps of an integrator would pass over.
//!
//! A function of the time is sampled at [`SAMPLES`] instants of a panel, and bounded between them by interval arithmetic. Where the
//! bounds of its value, rate or second derivative leave the sampled range by more than that range, the panel is halved. What the halves
//! then show, and their parent's samples do not, is a feature. The ends of every panel with one and the samples that show it become
//! breaks. So a step ends where the feature shows, and the error control of the integrator sees it too.

use sarrus_math::{Enclosure, Interval, Real};

use super::graph::Term;
use super::op::Op;
use super::program::{MAX_REGISTERS, Program};

/// Instants of a panel at which the function is evaluated, as many as the stages of the explicit methods of high order.
const SAMPLES: usize = 9;
/// Excursion relative to the largest value that is none: less than the tolerances of a run.
const SMALL: f64 = 1e-9;
/// Excursion relative to the widest bounds at an instant that may be rounding.
const NOISE: f64 = 8.0;
/// Most halves of panels of one function, so that one whose bounds stay wide ends.
const MOST: usize = 2000;
/// Part of a piece between switches that is left out at its ends.
const INSET: f64 = 1e-9;

impl Program {
    /// Adds the ends of panels around short features between `from` and `to`, where `breaks` are the switches. `read` bounds the
    /// slots that depend on the time alone over an interval of it.
    ///
    /// Every largest part of the expression that depends on the time alone is examined, except functions given by a program.
    pub fn features(
        &self,
        read: &dyn Fn(u32, Interval) -> Option<Enclosure>,
        span: [f64; 2],
        breaks: &[f64],
        found: &mut Vec<f64>,
    ) {
        let all = Enclosure::jumping(Interval::ALL);
        let zero = Enclosure::from_f64(0.0);
        let parts = self.timed_parts(&|slot| read(slot, Interval::point(span[0])).is_some());
        // what is not a factor, as in exp(-t^2 - x^2), shows only in the whole, where all else is 0
        let whole = self.result_instruction().filter(|whole| !parts.contains(whole));
        let roots = parts.iter().map(|part| (*part, all)).chain(whole.map(|whole| (whole, zero)));
        for (root, other) in roots {
            let function =
                |time: Interval| self.enclose_part(root, &|slot: u32| read(slot, time).unwrap_or(other));
            let mut search = FeatureSearch {
                function: &function,
                panels: Vec::new(),
                largest: [0.0; 3],
                noise: [0.0; 3],
                jumps: Vec::new(),
            };
            let mut start = span[0];
            for &end in breaks.iter().chain([&span[1]]) {
                // bounds at the switches themselves are those of both sides
                let inset = INSET * (end - start);
                if end - inset > start + inset {
                    search.add([start + inset, end - inset], None);
                }
                start = end;
            }
            search.refine();
            search.ends(found);
            found.append(&mut search.jumps);
        }
    }

    /// The instruction of the result.
    fn result_instruction(&self) -> Option<usize> {
        let Term::Node(result) = self.code.result else { return None };
        self.code.instructions.iter().rposition(|i| u32::from(i.target) == result)
    }

    /// Instructions whose results depend on the time alone, and which what depends on more reads, or are the result.
    fn timed_parts(&self, is_timed: &dyn Fn(u32) -> bool) -> Vec<usize> {
        // the instruction that wrote a register last, if its result varies with the time alone; whether it depends on more
        let mut writers: [Option<usize>; MAX_REGISTERS] = [None; MAX_REGISTERS];
        let mut other = [false; MAX_REGISTERS];
        let mut parts = Vec::new();
        for (index, i) in self.code.instructions.iter().enumerate() {
            let (is_other, varies) = match i.op {
                Op::Slot(slot) => (!is_timed(slot), true),
                Op::Given(..) => (true, true),
                _ => (
                    i.args().any(|register| other[register]),
                    i.args().any(|register| writers[register].is_some()),
                ),
            };
            if is_other {
                parts.extend(i.args().filter_map(|register| writers[register]));
            }
            writers[i.target as usize] = (varies && !is_other).then_some(index);
            other[i.target as usize] = is_other;
        }
        if let Term::Node(result) = self.code.result {
            parts.extend(writers[result as usize]);
        }
        parts.sort_unstable();
        parts.dedup();
        parts
    }
}

/// Range of the value, the rate and the second derivative.
type Ranges = [Interval; 3];

/// A part of the time, with what is known of the function there.
struct TimePanel {
    ends: [f64; 2],
    parent: Option<usize>,
    /// Over its samples.
    sampled: Ranges,
    /// Times of the samples at the ends of these ranges.
    extremes: [[f64; 2]; 3],
    /// Extent to which bounds leave these ranges.
    hidden: [f64; 3],
}

/// The search for features of one function.
struct FeatureSearch<'a> {
    function: &'a dyn Fn(Interval) -> Enclosure,
    panels: Vec<TimePanel>,
    /// Largest magnitudes that were sampled: value, rate and second derivative.
    largest: [f64; 3],
    /// Largest widths of bounds at an instant, which rounding leaves.
    noise: [f64; 3],
    /// Marks where it jumps.
    jumps: Vec<f64>,
}

impl FeatureSearch<'_> {
    /// Adds a panel.
    fn add(&mut self, ends: [f64; 2], parent: Option<usize>) {
        let at = |k: usize| match k {
            0 => ends[0],
            k if k + 1 == SAMPLES => ends[1],
            k => ends[0] + (ends[1] - ends[0]) * (k as f64 / (SAMPLES - 1) as f64),
        };
        let times: [f64; SAMPLES] = std::array::from_fn(at);
        let values = times.map(|t| {
            let bounds = ranges(&(self.function)(Interval::point(t)));
            for (noise, range) in self.noise.iter_mut().zip(&bounds) {
                let width = range.hi - range.lo;
                *noise = if width.is_finite() { noise.max(width) } else { *noise };
            }
            bounds.map(middle)
        });
        let sampled = std::array::from_fn(|i| {
            let samples = values.iter().map(|value| value[i]);
            if !samples.clone().all(f64::is_finite) {
                return UNDEFINED;
            }
            samples.map(Interval::point).reduce(Interval::hull).unwrap_or(UNDEFINED)
        });
        let extremes = std::array::from_fn(|i| {
            let of = |a: &usize, b: &usize| values[*a][i].total_cmp(&values[*b][i]);
            let lowest = (0..SAMPLES).min_by(of).unwrap_or(0);
            [times[lowest], times[(0..SAMPLES).max_by(of).unwrap_or(0)]]
        });
        let mut hidden = [0.0_f64; 3];
        for k in 1..SAMPLES {
            let w = times[k] - times[k - 1];
            let bounds = (self.function)(Interval::new(times[k - 1], times[k]));
            let ends = [values[k - 1][0], values[k][0]];
            let value = Interval { lo: bounds.lower(ends, w), hi: bounds.upper(ends, w) };
            for (i, bound) in [value, bounds.d, bounds.dd].into_iter().enumerate() {
                let beyond = (sampled[i].lo - bound.lo).max(bound.hi - sampled[i].hi);
                hidden[i] = hidden[i].max(beyond);
            }
        }
        for (largest, range) in self.largest.iter_mut().zip(&sampled) {
            let size = magnitude(range);
            *largest = if size.is_finite() { largest.max(size) } else { *largest };
        }
        self.panels.push(TimePanel { ends, parent, sampled, extremes, hidden });
    }

    /// Halves panels, the longest first, until their samples show what bounds allow.
    fn refine(&mut self) {
        let (mut next, most) = (0, self.panels.len() + MOST);
        while next < self.panels.len() && self.panels.len() < most {
            let TimePanel { ends, .. } = self.panels[next];
            let middle = ends[0] + 0.5 * (ends[1] - ends[0]);
            if !self.is_resolved(next) {
                if middle > ends[0] && middle < ends[1] {
                    self.add([ends[0], middle], Some(next));
                    self.add([middle, ends[1]], Some(next));
                } else {
                    // neighbouring numbers with a jump or a kink between
                    self.jumps.push(ends[1]);
                }
            }
            next += 1;
        }
    }

    /// Returns whether bounds leave the sampled ranges by no more than these. What is not defined at a sample is not judged there.
    fn is_resolved(&self, panel: usize) -> bool {
        let TimePanel { sampled, hidden, .. } = &self.panels[panel];
        (0..3).all(|i| !magnitude(&sampled[i]).is_finite() || hidden[i] <= self.allowed(i, &sampled[i]))
    }

    /// Excursion from a sampled range that is no feature.
    fn allowed(&self, i: usize, sampled: &Interval) -> f64 {
        let noise = (NOISE * self.noise[i]).max(f64::MIN_POSITIVE);
        (sampled.hi - sampled.lo).max(SMALL * self.largest[i]).max(noise)
    }

    /// Adds the ends of panels that show what the samples of those before them do not, and the samples that show it.
    fn ends(&self, found: &mut Vec<f64>) {
        for (index, panel) in self.panels.iter().enumerate() {
            let defined = panel.sampled.map(|range| magnitude(&range).is_finite());
            if panel.parent.is_none() && defined[0] && !(defined == [true; 3] && self.is_resolved(index)) {
                // its samples may have met a feature by chance
                found.extend(panel.extremes.as_flattened());
            }
            let (mut child, mut parent) = (panel, panel.parent);
            while let Some(above) = parent.map(|parent| &self.panels[parent]) {
                let before = found.len();
                for i in 0..3 {
                    let (own, seen) = (&panel.sampled[i], &above.sampled[i]);
                    let [lowest, highest] = panel.extremes[i];
                    let allowed = self.allowed(i, seen);
                    found.extend((seen.lo - own.lo > allowed).then_some(lowest));
                    found.extend((own.hi - seen.hi > allowed).then_some(highest));
                    // a sample that met a jump or a kink comes last
                    let is_met = !magnitude(own).is_finite() && magnitude(seen).is_finite();
                    found.extend(is_met.then_some(highest));
                }
                if found.len() == before {
                    break;
                }
                found.extend(child.ends);
                (child, parent) = (above, above.parent);
            }
        }
    }
}

/// The range of a function that is not defined at some sample.
const UNDEFINED: Interval = Interval { lo: f64::NAN, hi: f64::NAN };

fn magnitude(range: &Interval) -> f64 {
    range.lo.abs().max(range.hi.abs())
}

fn ranges(bounds: &Enclosure) -> Ranges {
    [bounds.v, bounds.d, bounds.dd]
}

/// The number that narrow bounds are around; none at a jump or a kink.
fn middle(range: Interval) -> f64 {
    if !magnitude(&range).is_finite() {
        return f64::NAN;
    }
    if range.is_point() { range.lo } else { 0.5 * range.lo + 0.5 * range.hi }
}

#[cfg(test)]
mod tests {
    use super::super::{Binding, Expr, Lookup, Scope};
    use super::*;

    struct NoNames;

    impl Scope for NoNames {
        fn lookup(&self, _: &str) -> Option<Lookup> {
            None
        }
    }

    /// Times around the features of an expression of the time `t` and a position `x`, from 0 to 10, in ascending order.
    fn features(text: &str) -> Vec<f64> {
        let mut bind = |path: &str| match path {
            "t" => Ok(Binding::Scalar(0)),
            "x" => Ok(Binding::Scalar(1)),
            _ => Err(format!("no `{path}`")),
        };
        let program = Expr::parse(text).unwrap().compile(&NoNames, &mut bind, true).unwrap().remove(0);
        let read = |slot: u32, time: Interval| {
            (slot == 0).then_some(Enclosure { v: time, d: Interval::ONE, dd: Interval::ZERO })
        };
        let mut found = Vec::new();
        program.features(&read, [0.0, 10.0], &[], &mut found);
        found.sort_by(f64::total_cmp);
        found.dedup();
        found
    }

    #[test]
    fn steps_end_within_a_short_pulse() {
        let shapes = [
            "exp(-((t - C)/W)^2)",
            "1/W*exp(-((t - C)/W)^2) + sin(t)",
            "1/cosh((t - C)/W)",
            "max(0, 1 - ((t - C)/W)^2)",
            "3*x - 2*exp(-((t - C)/W)^2)*x^2",
            "(smoothstep(t, C - W, C) - smoothstep(t, C, C + W))*(1 + t)",
            "tanh((t - C)/W)",
            "exp(-((t - C)/W)^2 - x^2)",
            "tanh((t - C)/W) - tanh((t - C)/W - 1)",
            "1/(1 + exp(-(t - C)/W))/(1 + exp((t - C)/W))",
        ];
        for shape in shapes {
            for c in [5.0, 5.123, 0.7, 9.99] {
                for w in [1e-2, 1e-3, 1e-5, 1e-7] {
                    let text = shape.replace('C', &c.to_string()).replace('W', &w.to_string());
                    let found = features(&text);
                    let nearest = found.iter().map(|t| (t - c).abs()).fold(f64::MAX, f64::min);
                    assert!(nearest < 2.0 * w, "{text}: {nearest} off");
                    assert!(found.len() < 120, "{text}: {} breaks", found.len());
                }
            }
        }
    }

    #[test]
    fn switches_on_any_function_of_time_are_located() {
        for (text, switches) in [
            ("if((t - 3.3333)^2 < 0.0005^2, 1000, 0)", [3.3328, 3.3338]),
            ("x*((t - 3.3333 - 1e-5)*(t - 3.3333 + 1e-5) < 0)", [3.33329, 3.33331]),
            ("exp(-((t - 5)/1e-3)^2) > 0.1", [5.0 - 1.517427129385147e-3, 5.0 + 1.517427129385147e-3]),
            ("pulse((t - 2)^2, 0, 1e-8)", [1.9999, 2.0001]),
            ("abs(exp(t) - 20) + abs(t^2 - 50)", [20.0_f64.ln(), 50.0_f64.sqrt()]),
        ] {
            let found = features(text);
            for switch in switches {
                let nearest = found.iter().map(|t| (t - switch).abs()).fold(f64::MAX, f64::min);
                assert!(nearest < 1e-12, "{text}: {nearest} off {switch}");
            }
        }
    }

    #[test]
    fn functions_that_steps_resolve_have_no_features() {
        for text in [
            "0.3*sin(2*t) + t^2/4",
            "sin(t)",
            "exp(-t)",
            "3*t^2 - t",
            "x*sin(x)",
            "2",
            "t*x",
            "-0.3*x - 2*sin(x)*cos(t)",
        ] {
            assert_eq!(features(text), [], "{text}");
        }
    }
}
