//! Runs of the shipped model `two_arm_robot`, in the quantities of the paper.
//!
//! The model has absolute coordinates: six rows on six velocities, of which the tip's two are the paper's. Joint angles are read off
//! the arms, and torques follow from them as in [`super::exact`].

use super::exact::{Motion, X0};
use crate::claim::PaperError;
use crate::runs::Case;
use sarrus::analysis::MethodText;
use sarrus::model::settings::WrittenOption;
use sarrus::solve::integrators::{Because, Observer, Proceed, Samples, integrate};
use sarrus::solve::{
    Crossing, Dynamics, Options, Problem, Regularize, State, StepControl, StepInfo, StepMode, formulations,
    integrators, stabilizations,
};
use sarrus::system::Mechanism;

const MODEL: &str = include_str!("../../models/two_arm_robot.toml");

/// How a run is made.
#[derive(Debug, Clone, Copy)]
pub struct How {
    pub regularize: Regularize,
    /// With its options: `baumgarte:alpha=20`.
    pub stabilization: &'static str,
    pub integrator: &'static str,
    /// Step of a method with fixed steps \[s\], tolerance of the others.
    pub size: f64,
}

/// What a run leaves.
pub struct Track {
    /// The ends of steps.
    pub seen: Vec<Motion>,
    /// Whether it ended early.
    pub lost: bool,
    /// Whether a window opened around the fold.
    pub passed: bool,
}

/// The model with gravity along -y.
pub fn load() -> Result<Case, PaperError> {
    Case::new("two-arm robot", MODEL, &[("g", "9.81")], None)
}

/// Runs from joint angles and rates `start` to twice the time of the fold, with a step that ends at `landing`. `project` brings the
/// start onto the constraints first.
pub fn run(
    case: &Case,
    how: How,
    start: [f64; 4],
    landing: Option<f64>,
    project: bool,
) -> Result<Track, PaperError> {
    let bad = |reason: String| PaperError::Run { what: format!("{}, {how:?}", case.name), reason };
    let MethodText(choice) = how.stabilization.parse().map_err(|e| bad(format!("{e}")))?;
    let mut options = Options::new();
    for (name, value) in &choice.options {
        match value {
            WrittenOption::Number(x) => options.set(name.as_str(), *x),
            WrittenOption::Name(text) => options.set(name.as_str(), text.as_str()),
        };
    }
    let none = Options::new();
    let made = formulations::make("proximal", &none)
        .and_then(|f| Ok((f, stabilizations::make(&choice.kind, &options)?)))
        .and_then(|made| Ok((made, integrators::find(how.integrator)?)))
        .and_then(|(made, kind)| Ok((made, kind, (kind.new)(&none)?)));
    let ((formulation, stabilization), kind, mut method) = made.map_err(|e| bad(e.to_string()))?;
    let fixed = (!kind.adaptive).then_some(how.size);
    let mut control = StepControl::new(how.size, 1e-2 * how.size, fixed).map_err(|e| bad(e.to_string()))?;
    let mut s = State { t: 0.0, ..case.system.start() };
    place(&mut s, start);
    let mut mechanism = case.system.mechanism();
    mechanism.accept(&s);
    let mut dynamics =
        Dynamics::new(&mut mechanism, formulation, stabilization).map_err(|e| bad(e.to_string()))?;
    if project {
        dynamics.project(&mut s).map_err(|e| bad(e.to_string()))?;
    }
    let steps = if kind.adaptive { StepMode::Chosen(how.size) } else { StepMode::Fixed };
    dynamics.regularize(how.regularize, steps).map_err(|e| bad(e.to_string()))?;
    let mut look = Look(Vec::new());
    for stop in landing.into_iter().chain([X0]) {
        let ended = integrate(
            &mut dynamics,
            &mut method,
            &mut control,
            &mut s,
            stop,
            &mut Samples::none(),
            &mut look,
        );
        if ended.because != Because::End {
            return Ok(Track { seen: look.0, lost: true, passed: false });
        }
    }
    let passed = dynamics.passages().iter().any(|p| p.crossing == Crossing::Passed);
    Ok(Track { seen: look.0, lost: false, passed })
}

/// The arms at joint angles and rates.
fn place(s: &mut State, [q1, q2, y1, y2]: [f64; 4]) {
    let ((sa, ca), (sb, cb), w) = (q1.sin_cos(), (q1 + q2).sin_cos(), y1 + y2);
    let q = [0.5 * ca, 0.5 * sa, q1, ca + 0.25 * cb, sa + 0.25 * sb, q1 + q2];
    let v = [-0.5 * sa * y1, 0.5 * ca * y1, y1, -sa * y1 - 0.25 * sb * w, ca * y1 + 0.25 * cb * w, w];
    s.q.copy_from_slice(&q);
    s.v.copy_from_slice(&v);
}

/// Keeps the end of every step.
struct Look(Vec<Motion>);

impl Observer<Dynamics<'_, Mechanism>> for Look {
    fn step(&mut self, ode: &mut Dynamics<'_, Mechanism>, s: &State, _: &StepInfo) -> Proceed {
        let a = ode.evaluate(s).map_or([f64::NAN; 2], |a| [a.vdot[2], a.vdot[5]]);
        self.0.push(Motion {
            t: s.t,
            q: [s.q[2], s.q[5] - s.q[2]],
            y: [s.v[2], s.v[5] - s.v[2]],
            ydot: [a[0], a[1] - a[0]],
        });
        Proceed::Continue
    }
}
