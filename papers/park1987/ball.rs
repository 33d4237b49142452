//! The ball, step by step, in the quantities of the paper.
//!
//! λ1 and λ2 belong to the rows (7.2) of rolling, λ3 to cos x ẋ - ẏ = 0. Here the row of the track is y - sin x, so that λ3 has
//! the other sign; the two directions of rolling are read off J, in which they are constant.

use crate::claim::PaperError;
use crate::runs::Case;
use sarrus::analysis::{MethodText, assemble};
use sarrus::math::{quat_conjugate, quat_mul};
use sarrus::model::settings::{Assembly, WrittenOption};
use sarrus::solve::{
    Dynamics, Equations, Options, Problem, Stage, State, StepControl, formulations, integrators,
    stabilizations,
};

const MODEL: &str = include_str!("ball.toml");
const GRAVITY: f64 = 9.81;

/// A ball of one radius and offset.
pub struct Ball {
    pub case: Case,
    /// Radius \[m\].
    pub a: f64,
    /// Centre of mass above the centre, at the start \[m\].
    pub r0: f64,
}

/// What a step shows at its end.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Time \[s\].
    pub t: f64,
    /// Place and velocity of the centre \[m, m/s\].
    pub x: [f64; 2],
    pub v: [f64; 2],
    /// Euler parameters.
    pub q: [f64; 4],
    /// Angular velocity, body and world axes \[rad/s\].
    pub w: [f64; 3],
    pub w_W: [f64; 3],
    /// λ1, λ2, λ3 \[N\], and their time: of `park1987` the middle of the step.
    pub lambda: [f64; 3],
    pub t_lambda: f64,
    /// Kinetic energy, and potential from the height of the centre \[J\]: the paper has no coordinate for that height, in which
    /// `park1987` drifts here.
    pub energy: f64,
    /// How far the ball has drifted off the plane \[m\].
    pub height: f64,
}

impl Ball {
    /// A ball of radius `a`, its weight `r0` off the centre.
    pub fn new(a: f64, r0: f64) -> Result<Ball, PaperError> {
        let set = [a, r0].map(|x| x.to_string());
        let case = Case::new("rolling ball", MODEL, &[("a", &set[0]), ("r0", &set[1])], None)?;
        Ok(Ball { case, a, r0 })
    }

    /// Steps of `h` to `t_end` with `method`, shown to `see` with the start, for as long as it wants. Where the method gives up,
    /// why; steps of fixed size only. A method of right-hand sides projects.
    pub fn roll(
        &self,
        method: &str,
        h: f64,
        t_end: f64,
        see: &mut dyn FnMut(Seen) -> bool,
    ) -> Result<Option<String>, PaperError> {
        let bad = |reason: String| PaperError::Run { what: format!("{}, {method}", self.case.name), reason };
        let MethodText(choice) = method.parse().map_err(|e| bad(format!("{e}")))?;
        let mut options = Options::new();
        for (name, value) in &choice.options {
            match value {
                WrittenOption::Number(x) => options.set(name.as_str(), *x),
                WrittenOption::Name(text) => options.set(name.as_str(), text.as_str()),
            };
        }
        let start = assemble(&self.case.model, &self.case.system, Assembly::default())
            .map_err(|e| bad(e.to_string()))?;
        let mut mechanism = self.case.system.mechanism();
        mechanism.set_discrete(&start.discrete);
        let made = formulations::make("proximal", &Options::new())
            .and_then(|f| Ok((f, stabilizations::make("projection", &Options::new())?)))
            .and_then(|made| Ok((made, (integrators::find(&choice.kind)?.new)(&options)?)));
        let ((formulation, stabilization), mut integrator) = made.map_err(|e| bad(e.to_string()))?;
        let mut control = StepControl::new(1e-6, 1e-8, Some(h)).map_err(|e| bad(e.to_string()))?;
        control.t_end = t_end;
        let mut dynamics =
            Dynamics::new(&mut mechanism, formulation, stabilization).map_err(|e| bad(e.to_string()))?;
        integrator.prepare(&self.case.system.structure);

        let mut s = start.state;
        let mut eq = Equations::new(dynamics.problem());
        let late = if choice.kind == "park1987" { 0.5 } else { 0.0 };
        let mut before = s.t;
        loop {
            let own = if s.t > before { integrator.multipliers() } else { None };
            let lambda = match own {
                Some(lambda) => lambda.to_vec(),
                None => match dynamics.evaluate(&s) {
                    Ok(accel) => accel.lambda.clone(),
                    Err(e) => return Ok(Some(e.to_string())),
                },
            };
            dynamics.problem_mut().update(&s, Stage::POSITION, &mut eq);
            let balance = dynamics.problem_mut().energy(&s).balance();
            if !see(self.seen(&s, &eq, &lambda, balance, s.t - late * (s.t - before))) || s.t >= t_end {
                return Ok(None);
            }
            before = s.t;
            if let Err(e) = integrator.step(&mut dynamics, &mut s, &mut control) {
                return Ok(Some(e.to_string()));
            }
        }
    }

    fn seen(&self, s: &State, eq: &Equations, lambda: &[f64], balance: f64, t_lambda: f64) -> Seen {
        let q = [s.q[3], s.q[4], s.q[5], s.q[6]];
        let w = [s.v[3], s.v[4], s.v[5]];
        let (arm, w_W) = (rotate(&q, &[0.0, 0.0, self.r0]), rotate(&q, &w));
        let of_centre =
            [s.v[0] - (w_W[1] * arm[2] - w_W[2] * arm[1]), s.v[1] - (w_W[2] * arm[0] - w_W[0] * arm[2])];
        // rows of the first element: height, then two directions along the plane
        let rolling = |k: usize| lambda[1] * eq.J[6 + k] + lambda[2] * eq.J[12 + k];
        let mass = self.case.system.directory.bodies[1].mass;
        Seen {
            t: s.t,
            x: [s.q[0] - arm[0], s.q[1] - arm[1]],
            v: of_centre,
            q,
            w,
            w_W,
            lambda: [rolling(0), rolling(1), -lambda[3]],
            t_lambda,
            energy: balance - mass * GRAVITY * (s.q[2] - arm[2]),
            height: s.q[2] - arm[2] - self.a,
        }
    }

    /// All steps to `t_end`, or as far as the method goes and why no farther.
    pub fn attempt(
        &self,
        method: &str,
        h: f64,
        t_end: f64,
    ) -> Result<(Vec<Seen>, Option<String>), PaperError> {
        let mut track = Vec::new();
        let ended = self.roll(method, h, t_end, &mut |seen| {
            track.push(seen);
            true
        })?;
        Ok((track, ended))
    }

    /// All steps to `t_end`; giving up is an error.
    pub fn track(&self, method: &str, h: f64, t_end: f64) -> Result<Vec<Seen>, PaperError> {
        match self.attempt(method, h, t_end)? {
            (track, None) => Ok(track),
            (_, Some(reason)) => {
                let what = format!("{}, {method} in steps of {h}", self.case.name);
                Err(PaperError::Run { what, reason })
            }
        }
    }
}

/// A vector of body axes in those of the world.
fn rotate(q: &[f64; 4], a: &[f64; 3]) -> [f64; 3] {
    let turned = quat_mul(&quat_mul(q, &[0.0, a[0], a[1], a[2]]), &quat_conjugate(q));
    [turned[1], turned[2], turned[3]]
}

impl Seen {
    /// The point that touches the plane, seen from the ball, in radii.
    pub fn contact(&self) -> [f64; 3] {
        rotate(&quat_conjugate(&self.q), &[0.0, 0.0, -1.0])
    }

    /// Speed of the centre \[m/s\].
    pub fn speed(&self) -> f64 {
        self.v[0].hypot(self.v[1])
    }
}

/// The step that ends nearest to `t`.
pub fn nearest(track: &[Seen], t: f64) -> usize {
    let away = |i: &usize| (track[*i].t - t).abs();
    (0..track.len()).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap_or(0)
}

/// λ at the end of step `i`, from those before and after it.
pub fn lambda_at(track: &[Seen], i: usize) -> [f64; 3] {
    let t = track[i].t;
    let j = if track[i].t_lambda < t { (i + 1).min(track.len() - 1) } else { i };
    let (a, b) = (&track[i], &track[j]);
    let part = if b.t_lambda > a.t_lambda { (t - a.t_lambda) / (b.t_lambda - a.t_lambda) } else { 0.0 };
    std::array::from_fn(|k| a.lambda[k] + part * (b.lambda[k] - a.lambda[k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rolling: ẋ = a ω_y, ẏ = -a ω_x, whatever the offset; the track: ẏ = cos x ẋ.
    #[test]
    fn the_centre_moves_as_the_ball_rolls() {
        let ball = Ball::new(0.109, 0.01635).unwrap();
        for seen in ball.track("staggered", 0.01, 0.5).unwrap() {
            assert!((seen.v[0] - ball.a * seen.w_W[1]).abs() < 1e-9, "{seen:?}");
            assert!((seen.v[1] + ball.a * seen.w_W[0]).abs() < 1e-9, "{seen:?}");
            assert!((seen.v[1] - seen.x[0].cos() * seen.v[0]).abs() < 1e-9, "{seen:?}");
            assert!((seen.x[1] - seen.x[0].sin()).abs() < 1e-6, "{seen:?}");
        }
    }
}
