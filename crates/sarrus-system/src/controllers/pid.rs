//! Proportional, integral and derivative of an error e.
//!
//! out = kp e + ki ∫e dt + kd ė, cut off at `limits`; where the cut-off acts, an error that would drive the integral
//! further out does not count. Where the demand comes back to the limit by itself and the integral drives it out again, the
//! integral follows the limit ([`Limited`]). With `filter` = τ the derivative is that of a low-pass, kd (e - z)/τ with ż = (e - z)/τ
//! and z = e at the start; without it ė is exact, by a Taylor jet along the motion, which needs an error of time and
//! positions only. With `period` it is sampled: see [`pid_sampled`](super::pid_sampled).

use super::mode;
use super::output_slots;
use super::pid_sampled::DiscretePid;
use super::prelude::*;
use super::sampling::{DELAY, OwnNames, PERIOD, Sampled, SampledRead, Times};
use sarrus_math::{Interval, Mat3, Vec3};

/// Most bodies that an error may read whose derivative is exact: their jets lie on the stack.
const MOST_BODIES: usize = 8;

/// Describes how the derivative comes about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Derivative {
    /// Not at all.
    None,
    /// Exactly.
    Exact,
    /// Through a low-pass with this time constant \[s\].
    Filtered(f64),
}

/// The controller; states: the integral of the error, and z where there is a filter.
#[derive(Clone, Debug)]
pub struct Pid {
    input: Formula,
    kp: f64,
    ki: f64,
    kd: f64,
    derivative: Derivative,
    limits: [f64; 2],
    outputs: Vec<String>,
    /// Index among the discrete state of its mode.
    discrete_index: Option<usize>,
}

/// ė along the motion, over the scalars that controllers are evaluated with.
trait ErrorRate: Real {
    fn rate(input: &Formula, at: &At<Self>) -> Self;
}

impl ErrorRate for f64 {
    fn rate(input: &Formula, at: &At<f64>) -> f64 {
        const IDS: [u32; MOST_BODIES] = [0, 1, 2, 3, 4, 5, 6, 7];
        let mut poses = [Pose::<Jet<2>>::identity(); MOST_BODIES];
        let n = at.ids.len();
        for (i, pose) in poses[..n].iter_mut().enumerate() {
            let twist = at.twist(i);
            *pose = at.pose(i).jet(&[twist.v.0], &[twist.w.0]);
        }
        let along = At {
            t: Jet::variable(at.t),
            poses: &poses[..n],
            twists: &[],
            ids: &IDS[..n],
            discrete: at.discrete,
            outs: &[],
        };
        input.eval(&along).derivative(1)
    }
}

/// A number and its rate, both with derivatives, as one along the motion.
fn join(value: Dual<6>, rate: Dual<6>) -> Dual<6, Jet<2>> {
    Dual { v: Jet { c: [value.v, rate.v] }, d: std::array::from_fn(|k| Jet { c: [value.d[k], rate.d[k]] }) }
}

impl ErrorRate for Dual<6> {
    fn rate(input: &Formula, at: &At<Dual<6>>) -> Dual<6> {
        let ids: Vec<u32> = (0..at.ids.len() as u32).collect();
        let along = |i: usize| {
            let (pose, twist) = (at.pose(i), at.twist(i));
            let rotating = pose.rot * Mat3::skew(twist.w);
            Pose {
                p: Vec3(std::array::from_fn(|k| join(pose.p.0[k], twist.v.0[k]))),
                rot: Mat3(std::array::from_fn(|r| {
                    std::array::from_fn(|c| join(pose.rot.0[r][c], rotating.0[r][c]))
                })),
                angle: join(pose.angle, twist.w.0[2]),
            }
        };
        let poses: Vec<Pose<Dual<6, Jet<2>>>> = (0..at.ids.len()).map(along).collect();
        let t = join(at.t, Dual::constant(1.0));
        let found =
            input.eval(&At { t, poses: &poses, twists: &[], ids: &ids, discrete: at.discrete, outs: &[] });
        Dual { v: found.v.derivative(1), d: found.d.map(|d| d.derivative(1)) }
    }
}

/// Over an interval of time the rate is among the bounds on e itself; it has no second derivative.
impl ErrorRate for Enclosure {
    fn rate(input: &Formula, at: &At<Enclosure>) -> Enclosure {
        let error = input.enclose(at);
        Enclosure { v: error.d, d: error.dd, dd: Interval::ALL }
    }
}

impl Pid {
    /// kp e + ki ∫e dt + kd ė before it is cut off.
    fn demand<R: ErrorRate>(&self, at: &At<R>, x: &[R], error: R) -> R {
        let derivative = match self.derivative {
            Derivative::None => R::zero(),
            Derivative::Exact => R::rate(&self.input, at) * self.kd,
            Derivative::Filtered(tau) => (error - x[1]) * (self.kd / tau),
        };
        error * self.kp + x[0] * self.ki + derivative
    }

    /// Returns whether the output depends on the input itself, not on its integral alone.
    fn feeds_through(&self) -> bool {
        self.kp != 0.0 || self.derivative != Derivative::None
    }

    fn out<R: ErrorRate>(&self, at: &At<R>, x: &[R]) -> R {
        let ([lo, hi], side) = (self.limits, self.side(at));
        if side != 0.0 {
            return R::from_f64(self.limit(side));
        }
        let demand = self.demand(at, x, self.input.eval(at));
        match demand.value() {
            value if value < lo => R::from_f64(lo),
            value if value > hi => R::from_f64(hi),
            _ => demand,
        }
    }

    fn state_rates<R: ErrorRate>(&self, at: &At<R>, x: &[R], xdot: &mut [R]) {
        let error = self.input.eval(at);
        let [lo, hi] = self.limits;
        let held = if lo == f64::NEG_INFINITY && hi == f64::INFINITY {
            false
        } else if self.mode(at) != mode::OWN {
            // while it slides the integral is what the limit leaves for it
            self.mode(at) != mode::FREE
        } else {
            let demand = self.demand(at, x, error).value();
            let outward = self.ki * error.value();
            (demand > hi && outward > 0.0) || (demand < lo && outward < 0.0)
        };
        xdot[0] = if held { R::zero() } else { error };
        if let Derivative::Filtered(tau) = self.derivative {
            xdot[1] = (error - x[1]) / tau;
        }
    }

    /// The limit that it slides along: its side, or 0.
    fn side<R: Real>(&self, at: &At<R>) -> f64 {
        Some(self.mode(at)).filter(|m| m.abs() == mode::SLIDES).unwrap_or(0.0)
    }

    fn mode<R: Real>(&self, at: &At<R>) -> f64 {
        self.discrete_index
            .and_then(|discrete_index| at.discrete.get(discrete_index).copied())
            .unwrap_or(mode::OWN)
    }

    fn limit(&self, side: f64) -> f64 {
        if side > 0.0 { self.limits[1] } else { self.limits[0] }
    }
}

impl Limited for Pid {
    fn discrete_index(&self) -> usize {
        self.discrete_index.unwrap_or_default()
    }

    fn beyond(&self, at: &At<f64>, x: &[f64]) -> ([f64; 2], f64) {
        let error = self.input.eval(at);
        let demand = self.demand(at, x, error);
        let (known, outward) = ([self.kp * error, self.ki * x[0]], self.ki * error);
        let size = known.iter().map(|term| term.abs()).sum::<f64>() + (demand - known[0] - known[1]).abs();
        ([(demand - self.limits[1]).min(outward), (self.limits[0] - demand).min(-outward)], size)
    }

    fn demand_rates(&self, at: &At<Jet<3>>, x: &[f64]) -> [f64; 2] {
        let error = self.input.eval(at);
        let (e, rate) = (error.derivative(0), error.derivative(1));
        let derivative = match self.derivative {
            Derivative::None => 0.0,
            Derivative::Exact => error.derivative(2),
            Derivative::Filtered(tau) => (rate - (e - x[1]) / tau) / tau,
        };
        [self.kp * rate + self.kd * derivative, self.ki * e]
    }

    fn integral_at(&self, at: &At<f64>, x: &[f64], side: f64) -> f64 {
        let rest = self.demand(at, x, self.input.eval(at)) - self.ki * x[0];
        (self.limit(side) - rest) / self.ki
    }

    fn enclose_integral(&self, at: &At<Enclosure>, x: &[Enclosure], side: f64) -> Enclosure {
        let none = Enclosure::from_f64(0.0);
        let rest = self.demand(at, &[none, x.get(1).copied().unwrap_or(none)], self.input.enclose(at));
        (-rest + self.limit(side)) / self.ki
    }
}

impl CutOff for Pid {
    fn limits(&self) -> [f64; 2] {
        self.limits
    }

    fn demand(&self, at: &At<f64>, x: &[f64]) -> f64 {
        match self.side(at) {
            0.0 => Pid::demand(self, at, x, self.input.eval(at)),
            side => self.limit(side),
        }
    }

    fn enclose_demand(&self, at: &At<Enclosure>, x: &[Enclosure]) -> Enclosure {
        match self.side(at) {
            0.0 => Pid::demand(self, at, x, self.input.enclose(at)),
            side => Enclosure::from_f64(self.limit(side)),
        }
    }
}

impl Controller for Pid {
    fn states(&self) -> usize {
        if let Derivative::Filtered(_) = self.derivative { 2 } else { 1 }
    }

    fn start(&self) -> Vec<f64> {
        vec![0.0; self.states()]
    }

    fn initialize(&self, at: &At<f64>, x: &mut [f64]) {
        if let Derivative::Filtered(_) = self.derivative {
            x[1] = self.input.eval(at);
        }
    }

    fn outputs(&self) -> &[String] {
        &self.outputs
    }

    fn output(&self, at: &At<f64>, x: &[f64], out: &mut [f64]) {
        out[0] = self.out(at, x);
    }

    fn rates(&self, at: &At<f64>, x: &[f64], _out: &[f64], xdot: &mut [f64]) {
        self.state_rates(at, x, xdot);
    }

    fn enclose(&self, at: &At<Enclosure>, x: &[Enclosure], out: &mut [Enclosure]) {
        let [lo, hi] = self.limits.map(Enclosure::from_f64);
        out[0] = self.enclose_demand(at, x).most(lo).least(hi);
    }

    fn is_bounded(&self) -> bool {
        !self.feeds_through() || self.input.is_bounded()
    }

    fn has_bends(&self) -> bool {
        self.derivative != Derivative::Exact
    }

    fn parts(&self, found: &mut dyn FnMut(ExpressionRole, &Formula)) {
        if self.feeds_through() {
            found(ExpressionRole::Output, &self.input);
        }
        found(ExpressionRole::Rate(0, 1.0), &self.input);
        if let Derivative::Filtered(tau) = self.derivative {
            found(ExpressionRole::Rate(1, 1.0 / tau), &self.input);
        }
    }

    fn cut_off(&self) -> Option<&dyn CutOff> {
        self.limits.iter().any(|limit| limit.is_finite()).then_some(self as &dyn CutOff)
    }

    fn output_dual(&self, at: &At<Dual<6>>, x: &[Dual<6>], out: &mut [Dual<6>]) {
        out[0] = self.out(at, x);
    }

    fn rates_dual(&self, at: &At<Dual<6>>, x: &[Dual<6>], xdot: &mut [Dual<6>]) {
        self.state_rates(at, x, xdot);
    }

    fn limited(&self) -> Option<&dyn Limited> {
        self.discrete_index.map(|_| self as &dyn Limited)
    }

    fn with_discrete_index(&self, discrete_index: usize) -> Option<Arc<dyn Controller>> {
        let is_limited = self.limits.iter().any(|limit| limit.is_finite());
        // what another controller gives out has no derivative along the motion
        let slides = is_limited && self.ki != 0.0 && !self.input.needs_controller();
        slides.then(|| {
            Arc::new(Pid { discrete_index: Some(discrete_index), ..self.clone() }) as Arc<dyn Controller>
        })
    }
}

fn derivative(reader: &Reader) -> Result<Derivative> {
    let kd = reader.number_or("kd", 0.0)?;
    Ok(match reader.positive_opt("filter")? {
        _ if kd == 0.0 => Derivative::None,
        Some(tau) => Derivative::Filtered(tau),
        None => Derivative::Exact,
    })
}

fn declare(reader: &Reader) -> Result<Declared> {
    let mut states = vec!["integral".to_owned()];
    let is_sampled = Times::read(reader)?.is_some();
    let remembers = match derivative(reader)? {
        Derivative::None => false,
        Derivative::Exact => is_sampled,
        Derivative::Filtered(_) => true,
    };
    if remembers {
        states.push("filtered".to_owned());
    }
    Ok(Declared { outputs: vec!["out".to_owned()], states })
}

fn read(ctx: &mut Context) -> Result<BuiltController> {
    let reader = &ctx.reader;
    let expr = reader.require_expression("input")?;
    let [kp, ki, kd] = ["kp", "ki", "kd"].map(|key| reader.number_or(key, 0.0));
    let (kp, ki, kd) = (kp?, ki?, kd?);
    let derivative = derivative(reader)?;
    let limits = reader.limits("limits")?.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    if let Some(times) = Times::read(reader)? {
        let filter = if let Derivative::Filtered(tau) = derivative { tau } else { 0.0 };
        let law = DiscretePid { gains: [kp, ki, kd], filter, period: times.period, limits };
        let start = vec![0.0; declare(reader)?.states.len()];
        let reads = vec![SampledRead { expr, own: OwnNames::None }];
        let controller = Arc::new(Sampled::new(times, reads, 1, &start, law));
        return Ok(BuiltController { ids: vec![], controller, outputs: output_slots(ctx)?, reads: vec![] });
    }
    let mut binder = ctx.binder(ReadLevel::Force, Vec::new());
    let input = binder.scalar(&expr)?;
    let ids = binder.ids;
    if derivative == Derivative::Exact {
        let what = if input.needs_controller() {
            Some("a controller".to_owned())
        } else if input.needs_velocity() {
            Some("a velocity".to_owned())
        } else if ids.len() > MOST_BODIES {
            Some(format!("more than {MOST_BODIES} bodies"))
        } else {
            None
        };
        if let Some(what) = what {
            let message =
                format!("`kd` of {} needs the rate of an `input` that reads {what}", reader.title());
            return Err(reader
                .error("kd", message)
                .hint("give `filter`, the time constant of the derivative in s"));
        }
    }
    let (outputs, own) = (output_slots(ctx)?, declare(reader)?.outputs);
    let controller = Pid { input, kp, ki, kd, derivative, limits, outputs: own, discrete_index: None };
    let mut reads = Vec::new();
    if controller.feeds_through() {
        controller.input.outputs(&mut reads);
    }
    Ok(BuiltController { ids, controller: Arc::new(controller), outputs, reads })
}

/// `kind = "pid"`
pub const KIND: ControllerKind = ControllerKind {
    name: "pid",
    doc: "proportional, integral and derivative of an error; read as `X.out`, state `X.integral`",
    keys: &[
        Key::new("input", KeyType::Expression, "", "the error"),
        Key::new("kp", KeyType::Number, "0", "factor of the error"),
        Key::new("ki", KeyType::Number, "0", "factor of its integral [1/s]"),
        Key::new("kd", KeyType::Number, "0", "factor of its derivative [s]"),
        Key::new("filter", KeyType::Number, "none", "time constant of the derivative [s]"),
        Key::new("limits", KeyType::Numbers, "none", "lowest and highest output; they hold the integral too"),
        Key { default: "none", ..PERIOD },
        DELAY,
    ],
    planar: &[
        "input = '0.3*t - h.angle', kp = 2, ki = 0.5, kd = 0.1, limits = [-5, 5]",
        "input = '2 - h.rate', kp = 2, kd = 0.1, filter = 0.01",
        "input = '2 - h.fx', kp = 2, ki = 1, kd = 0.1, period = 0.01, delay = 0.01",
    ],
    spatial: &[
        "input = '0.3*t - h.angle', kp = 2, ki = 0.5, kd = 0.1, limits = [-5, 5]",
        "input = '2 - h.rate', kp = 2, kd = 0.1, filter = 0.01",
        "input = '2 - h.fx', kp = 2, ki = 1, kd = 0.1, period = 0.01, delay = 0.01",
    ],
    declare,
    read,
};
