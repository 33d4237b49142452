//! Bounds on a program over an interval of time.
//!
//! Smooth operations are evaluated as they are, over [`Enclosure`]. What chooses by value is bounded here: by the choice where it
//! is the same all the time, else by all that may be chosen.

use sarrus_math::{Enclosure, Interval, Real};

use super::graph::Term;
use super::op::{Library, Op, apply};
use super::program::{MAX_REGISTERS, Program};

impl Program {
    /// Bounds over an interval; `read` gives those of a slot. Functions given by a program are not bounded.
    pub fn enclose(&self, read: &impl Fn(u32) -> Enclosure) -> Enclosure {
        let result = match self.code.result {
            Term::Constant(bits) => return Enclosure::from_f64(f64::from_bits(bits)),
            Term::Node(result) => result as usize,
        };
        self.enclose_registers(self.code.instructions.len(), read)[result]
    }

    /// The same of the result of instruction `index`.
    pub(super) fn enclose_part(&self, index: usize, read: &impl Fn(u32) -> Enclosure) -> Enclosure {
        self.enclose_registers(index + 1, read)[self.code.instructions[index].target as usize]
    }

    /// Bounds on the registers after the first `count` instructions.
    pub(super) fn enclose_registers(
        &self,
        count: usize,
        read: &impl Fn(u32) -> Enclosure,
    ) -> [Enclosure; MAX_REGISTERS] {
        let mut registers = [Enclosure::from_f64(0.0); MAX_REGISTERS];
        for i in &self.code.instructions[..count] {
            let arg = |k: usize| registers[i.args[k] as usize];
            let value = match i.op {
                // one number twice
                Op::Multiply if i.args[0] == i.args[1] => arg(0).powi(2),
                _ => enclose(i.op, i.constant, &self.code.library, read, arg),
            };
            registers[i.target as usize] = value;
        }
        registers
    }
}

/// Holds what is known of a condition over an interval.
#[derive(Clone, Copy, PartialEq)]
enum TruthRange {
    True,
    False,
    Changes,
}

impl TruthRange {
    fn of(holds: bool, fails: bool) -> TruthRange {
        match (holds, fails) {
            (true, _) => TruthRange::True,
            (_, true) => TruthRange::False,
            _ => TruthRange::Changes,
        }
    }

    /// Of a number as a flag.
    fn flag(x: Enclosure) -> TruthRange {
        TruthRange::of(!x.v.contains(0.0), x.v == Interval::ZERO)
    }

    /// a < b.
    fn less(a: Enclosure, b: Enclosure) -> TruthRange {
        TruthRange::of(a.v.hi < b.v.lo, a.v.lo >= b.v.hi)
    }

    fn equal(a: Enclosure, b: Enclosure) -> TruthRange {
        let apart = a.v.hi < b.v.lo || b.v.hi < a.v.lo;
        TruthRange::of(a.v.is_point() && a.v == b.v, apart)
    }

    fn not(self) -> TruthRange {
        match self {
            TruthRange::True => TruthRange::False,
            TruthRange::False => TruthRange::True,
            TruthRange::Changes => TruthRange::Changes,
        }
    }

    fn and(self, other: TruthRange) -> TruthRange {
        TruthRange::of(
            self == TruthRange::True && other == TruthRange::True,
            self == TruthRange::False || other == TruthRange::False,
        )
    }

    fn number(self) -> Enclosure {
        match self {
            TruthRange::True => Enclosure::from_f64(1.0),
            TruthRange::False => Enclosure::from_f64(0.0),
            TruthRange::Changes => Enclosure::jumping(Interval::UNIT),
        }
    }

    fn choose(self, a: Enclosure, b: Enclosure) -> Enclosure {
        match self {
            TruthRange::True => a,
            TruthRange::False => b,
            TruthRange::Changes => Enclosure::jumping(a.v.hull(b.v)),
        }
    }
}

fn enclose(
    op: Op,
    constant: f64,
    library: &Library,
    read: &impl Fn(u32) -> Enclosure,
    arg: impl Fn(usize) -> Enclosure,
) -> Enclosure {
    match op {
        Op::Table(i) => library.tables[i as usize].enclose(arg(0)),
        Op::Given(..) => Enclosure::jumping(Interval::ALL),
        Op::Log10 => arg(0).ln() / std::f64::consts::LN_10,
        Op::Sign => rising(arg(0), |x| if x == 0.0 { 0.0 } else { x.signum() }),
        Op::Floor => rising(arg(0), f64::floor),
        Op::Ceil => rising(arg(0), f64::ceil),
        Op::Round => rising(arg(0), f64::round),
        Op::Modulo => modulo(arg(0), arg(1)),
        Op::Min => arg(0).least(arg(1)),
        Op::Max => arg(0).most(arg(1)),
        Op::Not => TruthRange::flag(arg(0)).not().number(),
        Op::Less => TruthRange::less(arg(0), arg(1)).number(),
        Op::LessEqual => TruthRange::less(arg(1), arg(0)).not().number(),
        Op::Greater => TruthRange::less(arg(1), arg(0)).number(),
        Op::GreaterEqual => TruthRange::less(arg(0), arg(1)).not().number(),
        Op::Equal => TruthRange::equal(arg(0), arg(1)).number(),
        Op::NotEqual => TruthRange::equal(arg(0), arg(1)).not().number(),
        Op::And => TruthRange::flag(arg(0)).and(TruthRange::flag(arg(1))).number(),
        Op::Or => TruthRange::flag(arg(0)).not().and(TruthRange::flag(arg(1)).not()).not().number(),
        Op::If => TruthRange::flag(arg(0)).choose(arg(1), arg(2)),
        Op::Clamp => clamp(arg(0), arg(1), arg(2)),
        Op::Smoothstep => {
            let ends = [Enclosure::from_f64(0.0), Enclosure::from_f64(1.0)];
            ramp(arg(0), [arg(1), arg(2)], ends, &quintic)
        }
        Op::Step => ramp(arg(0), [arg(1), arg(3)], [arg(2), arg(4)], &cubic),
        Op::Pulse => {
            let (since, width) = (arg(0) - arg(1), arg(2));
            TruthRange::less(since, Enclosure::from_f64(0.0))
                .not()
                .and(TruthRange::less(since, width))
                .number()
        }
        // smooth, or bounded by the scalar itself (`abs`)
        _ => apply(op, constant, library, read, arg),
    }
}

/// A function that rises by jumps.
fn rising(x: Enclosure, f: impl Fn(f64) -> f64) -> Enclosure {
    let v = Interval::new(f(x.v.lo), f(x.v.hi));
    if v.is_point() || x.is_constant() { Enclosure::constant(v) } else { Enclosure::jumping(v) }
}

/// a % b, with the sign of b.
fn modulo(a: Enclosure, b: Enclosure) -> Enclosure {
    let revolutions = rising(a / b, f64::floor);
    if revolutions.v.is_point() && revolutions.v.lo.is_finite() {
        return a - b * revolutions;
    }
    Enclosure::jumping(b.v.hull(Interval::ZERO))
}

fn clamp(x: Enclosure, lo: Enclosure, hi: Enclosure) -> Enclosure {
    if lo.v.hi <= hi.v.lo {
        return x.most(lo).least(hi);
    }
    Enclosure::jumping(x.v.hull(lo.v).hull(hi.v))
}

/// A rising polynomial of the fraction from 0 to 1 with its derivatives; level beyond.
type Rise = dyn Fn(Interval) -> [Interval; 3];

/// 6s⁵ - 15s⁴ + 10s³: its second derivative is continuous.
fn quintic(s: Interval) -> [Interval; 3] {
    let number = Interval::point;
    let f = |s: f64| s * s * s * ((s * 6.0 - 15.0) * s + 10.0);
    let rest = Interval::ONE - s;
    let slope = s.square() * rest.square() * number(30.0);
    let bend = s * rest * (Interval::ONE - s * number(2.0)) * number(60.0);
    [Interval::around(f(s.lo), ROUNDING).hull(Interval::around(f(s.hi), ROUNDING)), slope, bend]
}

/// 3s² - 2s³.
fn cubic(s: Interval) -> [Interval; 3] {
    let number = Interval::point;
    let f = |s: f64| s * s * (-s * 2.0 + 3.0);
    let slope = s * (Interval::ONE - s) * number(6.0);
    let mut bend = number(6.0) - s * number(12.0);
    if s.lo == 0.0 || s.hi == 1.0 {
        // beyond the ends it is zero
        bend = bend.hull(Interval::ZERO);
    }
    [Interval::around(f(s.lo), ROUNDING).hull(Interval::around(f(s.hi), ROUNDING)), slope, bend]
}

/// Bounds the rounding of a polynomial of s in [0, 1] whose terms are at most 15.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// `before` up to x0, `after` from x1 on, `rise` between.
fn ramp(x: Enclosure, [x0, x1]: [Enclosure; 2], [before, after]: [Enclosure; 2], rise: &Rise) -> Enclosure {
    if x.v.hi <= x0.v.lo {
        return before;
    }
    if x.v.lo > x0.v.hi && x.v.lo >= x1.v.hi {
        return after;
    }
    if x0.v.hi >= x1.v.lo {
        return Enclosure::jumping(before.v.hull(after.v));
    }
    let s = (x - x0) / (x1 - x0);
    let clipped = Interval::new(s.v.lo.clamp(0.0, 1.0), s.v.hi.clamp(0.0, 1.0));
    let [f, slope, bend] = rise(clipped);
    before + (after - before) * s.chain(f, slope, bend)
}

#[cfg(test)]
mod tests {
    use super::super::{Binding, Expr, Lookup, Program, Scope};
    use super::*;
    use crate::tables::{Curve, Interpolation, Outside};
    use std::sync::Arc;

    /// Numbers in [0, 1), the same in each run.
    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 11) as f64 / (1u64 << 53) as f64
    }

    struct Names(Vec<Arc<Curve>>);

    impl Scope for Names {
        fn lookup(&self, path: &str) -> Option<Lookup> {
            let table = self.0.iter().find(|table| table.name() == path);
            table.map(|table| Lookup::Table(table.clone()))
        }
    }

    fn tables() -> Names {
        let x = vec![-1.0, -0.4, 0.1, 0.7, 1.5];
        let y = vec![0.3, 1.0, -0.5, 0.2, 0.3];
        let kinds = [Interpolation::Linear, Interpolation::Cubic, Interpolation::Step];
        let beyond = [Outside::Hold, Outside::Extend, Outside::Error, Outside::Repeat];
        let mut all = Vec::new();
        for (i, kind) in kinds.into_iter().enumerate() {
            for (j, outside) in beyond.into_iter().enumerate() {
                let curve = Curve::new(format!("f{i}{j}"), x.clone(), y.clone(), kind, outside).unwrap();
                all.push(Arc::new(curve));
            }
        }
        Names(all)
    }

    fn compile(text: &str, names: &Names) -> Program {
        let mut bind = |path: &str| match path {
            "x" => Ok(Binding::Scalar(0)),
            "y" => Ok(Binding::Scalar(1)),
            _ => Err(format!("no `{path}`")),
        };
        Expr::parse(text).unwrap().compile(names, &mut bind, true).unwrap().remove(0)
    }

    /// x and y move with constant acceleration; values, difference quotients and their differences lie in the bounds.
    fn check(text: &str, program: &Program, seed: &mut u64) -> bool {
        let w = 10f64.powf(4.0 * random(seed) - 3.5);
        let mut motion = || [0; 3].map(|_| 4.0 * random(seed) - 2.0);
        let (x, y) = (motion(), motion());
        let at = |[x, v, a]: [f64; 3], t: f64| x + t * (v + 0.5 * a * t);
        let over = |[x, v, a]: [f64; 3]| {
            let (s, point) = (Interval::new(0.0, w), Interval::point);
            Enclosure {
                v: point(x) + s * (point(v) + point(0.5) * point(a) * s),
                d: point(v) + point(a) * s,
                dd: point(a),
            }
        };
        let bound = program.enclose(&|slot| over(if slot == 0 { x } else { y }));
        let count = 60;
        let step = w / f64::from(count);
        let values: Vec<f64> = (0..=count)
            .map(|k| {
                let t = w * f64::from(k) / f64::from(count);
                program.eval(&|slot| at(if slot == 0 { x } else { y }, t))
            })
            .collect();
        let size = values.iter().filter(|y| y.is_finite()).fold(1.0f64, |m, y| m.max(y.abs()));
        let inside = |bound: Interval, y: f64, order: i32| {
            let slack = 64.0 * f64::EPSILON * size / step.powi(order) + 1e-9 * y.abs();
            y.is_nan() || bound.lo - slack <= y && y <= bound.hi + slack
        };
        for k in 0..values.len() {
            assert!(inside(bound.v, values[k], 0), "{text}: {} in {:?}", values[k], bound.v);
            if k > 0 {
                let rate = (values[k] - values[k - 1]) / step;
                assert!(inside(bound.d, rate, 1), "{text}: rate {rate} in {:?}", bound.d);
            }
            if k > 1 {
                let bend = (values[k] - 2.0 * values[k - 1] + values[k - 2]) / (step * step);
                assert!(inside(bound.dd, bend, 2), "{text}: second {bend} in {:?}", bound.dd);
            }
        }
        bound.v.lo.is_finite() && bound.v.hi.is_finite()
    }

    #[test]
    fn every_function_of_the_language_is_enclosed() {
        let names = tables();
        let mut texts: Vec<String> = [
            "sign(x)",
            "floor(3*x)",
            "ceil(3*x)",
            "round(3*x)",
            "x % 0.7",
            "x % (y + 2.5)",
            "x % -0.7",
            "min(x, y, x*y)",
            "max(x, y, 0.3)",
            "abs(x) - abs(y)",
            "if(x < y, x, y)",
            "if(x > 0, x^2, -x)",
            "if(x <= y, 1, 2)",
            "if(x >= y and x > 0, sin(x), y)",
            "if(not (x > 0) or y < 0, x, 3)",
            "if(x == y, 1, x)",
            "if(x != y, y, x)",
            "clamp(x, -0.5, y)",
            "clamp(x, -0.5, 0.5)",
            "smoothstep(x, -0.5, 1)",
            "smoothstep(x, y, y + 1)",
            "step(x, -0.5, y, 1, 2*x)",
            "step(x, y, 1, -y, 2)",
            "x*x + y*y",
            "norm([x, y]) - 0.3",
            "dist([x, 1], [y, x])",
            "pulse(x, -0.3, 0.6)",
            "pulse(x, y, 0.6)",
            "log10(x + 2.5)",
            "log(x)",
            "sqrt(x*y + 5)",
            "x^y",
            "(x + 3)^y",
            "x^2.5",
            "x^3 - x^2",
            "exp(-(x/0.05)^2)",
            "atan2(y, x)",
            "asin(x/3)",
            "acos(y)",
            "sinh(x)*cosh(y)",
            "tanh(3*x)",
            "tan(x)",
            "hypot(x, y)",
            "0.001 - 0.002*sin(200*x)",
            "x/(y^2 + 0.1)",
            "x/y",
            "1/(x + y)",
            "cos(20*x)*abs(y - 0.2)",
        ]
        .map(String::from)
        .to_vec();
        texts.extend(names.0.iter().flat_map(|table| {
            let name = table.name();
            [format!("{name}(x)"), format!("{name}(2*x + y) - x")]
        }));
        let mut seed = 3;
        for text in &texts {
            let program = compile(text, &names);
            let bounded = (0..800).filter(|_| check(text, &program, &mut seed)).count();
            assert!(bounded > 100, "{text}: bounded {bounded} times");
        }
    }

    #[test]
    fn bounds_over_one_instant_are_the_value() {
        let names = tables();
        let exact = compile("min(abs(x), f10(y), clamp(x*y, -1, 1))", &names);
        let point = |v: f64| Enclosure::from_f64(v);
        for (x, y) in [(0.3, 0.2), (-1.2, 0.9), (0.01, 1.4)] {
            let bound = exact.enclose(&|slot| point(if slot == 0 { x } else { y })).v;
            let value = exact.eval(&|slot| if slot == 0 { x } else { y });
            assert!(bound.contains(value) && bound.hi - bound.lo < 1e-14, "{value} in {bound:?}");
        }
    }
}
