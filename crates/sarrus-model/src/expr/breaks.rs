//! Times at which a program switches: where its value or a derivative may jump because of the time alone.
//!
//! Instructions are checked in order, with the breaks of those before. Between these every register that depends
//! on nothing but the time is smooth, and of a known [`Shape`]; a function given by a program counts as smooth everywhere. An argument that is affine there takes each of its
//! levels at a time that two values tell; any other is sampled. A change found either way is then bisected to the
//! first floating point number on the other side.

use std::sync::Arc;

use super::op::{MAX_ARGUMENTS, Op, apply};
use super::program::{MAX_REGISTERS, Program};
use crate::tables::{Curve, Interpolation, Outside};

/// Most breaks of one program.
const MOST: usize = 10_000;
/// Samples over the run of an argument that is not affine.
const SAMPLES: f64 = 2000.0;

/// Holds what a number is as a function of time, between its breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeShape {
    /// Constant.
    Constant,
    /// a + bt.
    Affine,
    /// Any other function of the time.
    Smooth,
    /// Not a function of the time alone.
    Other,
}

/// Holds what a slot is as a function of time.
#[derive(Clone, Copy)]
pub enum TimeSlot<'a> {
    /// The time itself.
    Time,
    /// A function of the time, of this shape between the breaks that are given.
    Function(TimeShape, &'a dyn Fn(f64) -> f64),
    /// It depends on something else.
    Other,
}

impl Program {
    /// Adds the times between `from` and `to` at which an operation switches that depends on time only: `if`, a
    /// comparison, `abs`, `min`, `smoothstep`, `pulse`, `%`, a table, …. Returns what the value is between them.
    ///
    /// Each is the first floating point number on the new side; what is so for one instant only, such as `t == 1`,
    /// gives two. `breaks` holds those of the slots before, and all of them in ascending order afterwards. There
    /// are at most 10 000, so that `floor(1e9*t)` ends. Exact for arguments that are affine in `t` piece by piece;
    /// others are sampled 2000 times, and what begins and ends between two samples is not found.
    pub fn breakpoints<'a>(
        &self,
        slot: &dyn Fn(u32) -> TimeSlot<'a>,
        from: f64,
        to: f64,
        breaks: &mut Vec<f64>,
    ) -> TimeShape {
        if self.is_constant().is_some() {
            return TimeShape::Constant;
        }
        tidy(breaks, from, to);
        let mut shapes = [TimeShape::Constant; MAX_REGISTERS];
        let mut result = TimeShape::Constant;
        for (index, i) in self.code.instructions.iter().enumerate() {
            let arg = |k: usize| shapes[i.args[k] as usize];
            if i.op.switches() && deciding(i.op).iter().any(|&k| arg(k) != TimeShape::Other) {
                let shape = deciding(i.op).iter().map(|&k| arg(k)).max().unwrap_or(TimeShape::Other);
                let flags = matches!(i.op, Op::And | Op::Or);
                // what decides is constant between the breaks before: nothing new
                if shape != TimeShape::Constant && (shape != TimeShape::Other || flags) {
                    let ratio = i.op == Op::Modulo && arg(1) != TimeShape::Constant;
                    let affine = shape == TimeShape::Affine && !ratio;
                    let search = BreakSearch { program: self, index, slot, affine };
                    let found = search.all(breaks, from, to);
                    breaks.extend(found);
                    tidy(breaks, from, to);
                }
            }
            result = match i.op {
                Op::Slot(s) => match slot(s) {
                    TimeSlot::Time => TimeShape::Affine,
                    TimeSlot::Function(shape, _) => shape,
                    TimeSlot::Other => TimeShape::Other,
                },
                op => shape(op, &self.code.library.tables, arg),
            };
            shapes[i.target as usize] = result;
        }
        result
    }
}

/// In order, each once, inside, and not too many.
fn tidy(breaks: &mut Vec<f64>, from: f64, to: f64) {
    breaks.retain(|t| *t > from && *t < to);
    breaks.sort_by(f64::total_cmp);
    breaks.dedup();
    breaks.truncate(MOST);
}

/// The arguments that decide which way an operation goes.
fn deciding(op: Op) -> &'static [usize] {
    match op {
        Op::If => &[0],
        Op::Step => &[0, 1, 3],
        _ => &[0, 1, 2, 3, 4][..op.arity()],
    }
}

/// Shape of the result of an operation.
fn shape(op: Op, tables: &[Arc<Curve>], arg: impl Fn(usize) -> TimeShape) -> TimeShape {
    let largest = (0..op.arity()).map(&arg).max().unwrap_or(TimeShape::Constant);
    if largest == TimeShape::Other {
        return TimeShape::Other;
    }
    let smooth = if largest == TimeShape::Constant { TimeShape::Constant } else { TimeShape::Smooth };
    match op {
        Op::Constant | Op::Sign | Op::Floor | Op::Ceil | Op::Round | Op::Pulse => TimeShape::Constant,
        op if op.is_flag() => TimeShape::Constant,
        Op::Negative | Op::Abs | Op::Add | Op::Subtract | Op::Min | Op::Max | Op::If | Op::Clamp => largest,
        Op::AddConstant | Op::MultiplyConstant | Op::DivideConstant => largest,
        Op::Multiply if arg(0).min(arg(1)) == TimeShape::Constant => largest,
        Op::Divide | Op::Modulo if arg(1) == TimeShape::Constant => largest,
        Op::Table(i) => match tables[i as usize].interpolation() {
            Interpolation::Cubic => smooth,
            Interpolation::Linear | Interpolation::Step => largest,
        },
        _ => smooth,
    }
}

/// The search for the switches of one instruction.
struct BreakSearch<'a, 'b> {
    program: &'a Program,
    index: usize,
    slot: &'a dyn Fn(u32) -> TimeSlot<'b>,
    affine: bool,
}

impl BreakSearch<'_, '_> {
    /// The switches, piece by piece.
    fn all(&self, breaks: &[f64], from: f64, to: f64) -> Vec<f64> {
        let mut found = Vec::new();
        let mut start = from;
        for &next in breaks.iter().chain([&to]) {
            let end = next.next_down();
            if end > start && found.len() < MOST {
                self.piece(start, end, to - from, &mut found);
            }
            start = next;
        }
        found
    }

    /// The switches in one piece.
    fn piece(&self, start: f64, end: f64, span: f64, found: &mut Vec<f64>) {
        if !self.affine {
            let n = (SAMPLES * (end - start) / span).ceil().max(8.0);
            let mut before = start;
            for k in 1..=n as usize {
                let t = if k as f64 == n { end } else { start + (end - start) * (k as f64 / n) };
                self.between(before, t, found);
                before = t;
            }
            return;
        }

        // two values tell the line
        let (t1, t2) = (start + 0.25 * (end - start), start + 0.75 * (end - start));
        let (a1, a2) = (self.arguments(t1), self.arguments(t2));
        let mut times = Vec::new();
        for (u1, u2, levels) in self.levels(&a1, &a2) {
            let slope = (u2 - u1) / (t2 - t1);
            let ends = [u1 + slope * (start - t1), u1 + slope * (end - t1)];
            let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            if slope != 0.0 && slope.is_finite() && low.is_finite() && high.is_finite() {
                // a little more than the piece: rounding must not lose a level at its ends
                let more = 1e-9 * (high - low);
                levels.visit(low - more, high + more, &mut |level| times.push(t1 + (level - u1) / slope));
            }
        }
        times.sort_by(f64::total_cmp);
        // around each time, farther where rounding of a large argument has moved it
        let near = 16.0 * f64::EPSILON * start.abs().max(end.abs()).max(end - start);
        let mut done = start;
        for t in times {
            for width in [near, near + 1e-9 * (end - start)] {
                let (lo, hi) = ((t - width).max(done), (t + width).min(end));
                let known = found.len();
                if lo < hi {
                    self.between(lo, hi, found);
                }
                if found.len() > known {
                    done = hi;
                    break;
                }
            }
        }
    }

    /// Adds the changes between two times whose sides differ.
    fn between(&self, mut lo: f64, hi: f64, found: &mut Vec<f64>) {
        let last = self.side(hi);
        let mut side = self.side(lo);
        for _ in 0..4 {
            if side == last || (side.is_nan() && last.is_nan()) || found.len() >= MOST {
                return;
            }
            let (mut a, mut b) = (lo, hi);
            while a.next_up() < b {
                let middle = a + 0.5 * (b - a);
                let middle = if middle <= a || middle >= b { a.next_up() } else { middle };
                if self.side(middle) == side { a = middle } else { b = middle }
            }
            found.push(b);
            (lo, side) = (b, self.side(b));
        }
    }

    /// The arguments of the instruction at a time; those that are not known then are not numbers.
    fn arguments(&self, t: f64) -> [f64; MAX_ARGUMENTS] {
        let code = &self.program.code;
        let read = |s: u32| match (self.slot)(s) {
            TimeSlot::Time => t,
            TimeSlot::Function(_, f) => f(t),
            TimeSlot::Other => f64::NAN,
        };
        let mut registers = [0.0; MAX_REGISTERS];
        for i in &code.instructions[..self.index] {
            let value = apply(i.op, i.constant, &code.library, &read, |k| registers[i.args[k] as usize]);
            registers[i.target as usize] = value;
        }
        let mut arguments = [0.0; MAX_ARGUMENTS];
        for (k, register) in code.instructions[self.index].args().enumerate() {
            arguments[k] = registers[register];
        }
        arguments
    }

    /// A number for the way that the instruction goes at a time.
    fn side(&self, t: f64) -> f64 {
        let [x, a, b, c, ..] = self.arguments(t);
        let code = &self.program.code;
        let region = |below: bool, above: bool| if below { 0.0 } else { 1.0 + f64::from(u8::from(above)) };
        let flag = |condition: bool| f64::from(u8::from(condition));
        let ramp = |x0: f64, x1: f64| region(x < x0 || (x0 == x1 && x <= x0), x >= x1);
        let op = code.instructions[self.index].op;
        match op {
            // as they are evaluated where both sides agree, so that a derivative jumps at the break and not before it
            Op::Abs if x == 0.0 => flag(self.arguments(t.next_up())[0] >= 0.0),
            Op::Abs => flag(x >= 0.0),
            Op::Min => flag(a < x),
            Op::Max => flag(x < a),
            Op::If => flag(x != 0.0),
            Op::And | Op::Or => flag(x != 0.0) + 2.0 * flag(a != 0.0),
            Op::Clamp => region(x < a, x > b),
            Op::Smoothstep => ramp(a, b),
            Op::Step => ramp(a, c),
            Op::Pulse => region(x - a < 0.0, x - a >= b),
            Op::Modulo => {
                let rest = apply(op, 0.0, &code.library, &|_| f64::NAN, |k| [x, a][k]);
                ((x - rest) / a).round()
            }
            Op::Table(i) => {
                let table = &code.library.tables[i as usize];
                let [first, last] = table.range();
                let revolutions = ((x - first) / (last - first)).floor();
                let repeats = table.outside() == Outside::Repeat;
                let at = if repeats { x - revolutions * (last - first) } else { x };
                let knot = table.knots().partition_point(|knot| *knot <= at) as f64;
                if repeats { revolutions * table.knots().len() as f64 + knot } else { knot }
            }
            // one instant of equality counts
            Op::Equal | Op::NotEqual => region(x < a, x > a),
            // the value itself tells: signs, whole numbers, flags
            op => apply(op, 0.0, &code.library, &|_| f64::NAN, |k| [x, a][k]),
        }
    }

    /// Numbers that are affine in time, at two times, with the levels at which the instruction switches.
    fn levels(
        &self,
        p: &[f64; MAX_ARGUMENTS],
        q: &[f64; MAX_ARGUMENTS],
    ) -> Vec<(f64, f64, SwitchLevels<'_>)> {
        let code = &self.program.code;
        let difference = |i: usize, j: usize| (p[i] - p[j], q[i] - q[j], SwitchLevels::Zero);
        match code.instructions[self.index].op {
            Op::Abs | Op::Sign | Op::Not | Op::If => vec![(p[0], q[0], SwitchLevels::Zero)],
            Op::And | Op::Or => vec![(p[0], q[0], SwitchLevels::Zero), (p[1], q[1], SwitchLevels::Zero)],
            Op::Clamp | Op::Smoothstep => vec![difference(0, 1), difference(0, 2)],
            Op::Step => vec![difference(0, 1), difference(0, 3)],
            Op::Pulse => vec![difference(0, 1), (p[0] - p[1] - p[2], q[0] - q[1] - q[2], SwitchLevels::Zero)],
            Op::Floor | Op::Ceil => vec![(p[0], q[0], SwitchLevels::Whole(0.0))],
            Op::Round => vec![(p[0], q[0], SwitchLevels::Whole(0.5))],
            Op::Modulo => vec![(p[0] / p[1], q[0] / q[1], SwitchLevels::Whole(0.0))],
            Op::Table(i) => vec![(p[0], q[0], SwitchLevels::Knots(&code.library.tables[i as usize]))],
            _ => vec![difference(0, 1)],
        }
    }
}

/// Values at which something switches.
#[derive(Clone, Copy)]
enum SwitchLevels<'a> {
    Zero,
    /// Whole numbers, shifted.
    Whole(f64),
    /// Points of a table.
    Knots(&'a Curve),
}

impl SwitchLevels<'_> {
    /// Those from `low` to `high`, not too many.
    fn visit(self, low: f64, high: f64, visit: &mut dyn FnMut(f64)) {
        match self {
            SwitchLevels::Zero => visit(0.0),
            SwitchLevels::Whole(shift) => {
                let first = (low - shift).ceil();
                let count = ((high - shift).floor() - first + 1.0).clamp(0.0, MOST as f64);
                (0..count as usize).for_each(|k| visit(first + k as f64 + shift));
            }
            SwitchLevels::Knots(table) => {
                let [first, last] = table.range();
                let (period, knots) = (last - first, table.knots());
                let (rotation, revolutions) = match table.outside() {
                    Outside::Repeat => {
                        let rotation = ((low - first) / period).floor();
                        (rotation, ((high - first) / period).floor() - rotation + 1.0)
                    }
                    _ => (0.0, 1.0),
                };
                let most = MOST.div_ceil(knots.len()).max(1);
                for k in 0..(revolutions as usize).min(most) {
                    let shift = (rotation + k as f64) * period;
                    knots
                        .iter()
                        .map(|x| x + shift)
                        .filter(|x| (low..=high).contains(x))
                        .for_each(&mut *visit);
                }
            }
        }
    }
}
