//! A simulation step by step: what a controller, an optimizer or a learner wants.
//!
//! The same run as [`simulate`](crate::simulate()) makes, with events, contacts and sampled controllers, but it pauses wherever it is
//! told to. In between, inputs (states of controllers) and forces from outside may be set, the state read or replaced, and the equations
//! at it checked ([`equations`](crate::equations)). [`Simulation::copy`] and [`Simulation::reset`] cost no assembly.
//!
//! What is set between steps acts from there on: the next step begins with a new slope, and integrators that remember steps begin anew.

use crate::error::SetupError;
use crate::failure::with_functions;
use crate::instants::Instants;
use crate::pausing::RunSnapshot;
use crate::recorder::RunStop;
use crate::report::{FailureReport, Report};
use crate::run::Run;
use crate::settings::Settings;
use crate::simulate::{Simulate, Watch};
use crate::trajectory::Trajectory;
use sarrus_math::Vec3;
use sarrus_model::suggest::did_you_mean;
use sarrus_model::value::{Data, Value};
use sarrus_model::{Diagnostic, Model};
use sarrus_solve::integrators::Because;
use sarrus_solve::{SolveError, State};
use sarrus_system::load::Wrench;
use sarrus_system::{Columns, Mechanism, System};
use std::sync::Arc;

/// Reason why a simulation could not do what it was asked to.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SimulationError {
    /// The run cannot begin, or an analysis not be made.
    #[error("{0}")]
    Setup(#[from] SetupError),
    /// A name that stands for nothing of the kind.
    #[error("there is no {what} `{name}`")]
    Unknown {
        /// Holds what was searched for.
        what: &'static str,
        /// The name.
        name: String,
        /// Holds what may have been meant.
        hint: String,
    },
    /// A list of the wrong length.
    #[error("{what} needs {expected} numbers, not {found}")]
    Size {
        /// The subject.
        what: &'static str,
        /// Describes how many there should be.
        expected: usize,
        /// The number of them.
        found: usize,
    },
    /// A number that is none.
    #[error("{what} is not a finite number")]
    NotFinite {
        /// The subject.
        what: String,
    },
    /// A time before the present one.
    #[error("t = {t} s is before the present time, {now} s")]
    Backwards {
        /// The time asked for \[s\].
        t: f64,
        /// The present \[s\].
        now: f64,
    },
    /// The simulation is over.
    #[error("the simulation is over: {0}")]
    Over(String),
    /// The observer has interrupted it; it may continue from where it is.
    #[error("interrupted at t = {t} s")]
    Interrupted {
        /// Marks where it is \[s\].
        t: f64,
    },
    /// The step could not be made; the state is the last one that was reached.
    #[error("{}", .0.message)]
    Failed(Box<FailureReport>),
    /// The state that was set is not on the constraints and could not be brought there; the old one stays.
    #[error("the state cannot be brought onto the constraints: {0}")]
    NotOnConstraints(SolveError),
    /// A matrix that does not fit.
    #[error("a matrix of {rows} by {cols} is too large to be had whole")]
    TooLarge {
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
    },
    /// Accelerations could not be found.
    #[error("{0}")]
    Solve(SolveError),
}

impl SimulationError {
    /// Returns what to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            SimulationError::Unknown { hint, .. } => Some(hint.clone()).filter(|hint| !hint.is_empty()),
            SimulationError::Over(_) | SimulationError::Failed(_) => Some("`reset` starts it again".into()),
            SimulationError::Backwards { .. } => Some("`reset` goes back to the start".into()),
            SimulationError::NotOnConstraints(_) => {
                Some("take a state nearer to one that the mechanism can have".into())
            }
            SimulationError::TooLarge { .. } => Some("take its entries: `sparse`".into()),
            _ => None,
        }
    }

    /// The same for a reader of the model file, where it is about that.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        match self {
            SimulationError::Setup(error) => error.diagnostics(),
            error => {
                let diagnostic = Diagnostic::bare(error.to_string());
                vec![match error.hint() {
                    Some(hint) => diagnostic.hint(hint),
                    None => diagnostic,
                }]
            }
        }
    }
}

/// A simulation that continues when it is reported to.
///
/// ```
/// use sarrus_analysis::{Simulate, Simulation};
/// # let text = r#"
/// # format = "sarrus/1"
/// # space = "planar"
/// # bodies.bar = { from = [0, 0], to = [1.5, 0], mass = 1.0 }
/// # joints.A = { kind = "revolute", bodies = ["ground", "bar"], at = [0, 0] }
/// # run.t_end = 10.0
/// # "#;
/// # let model = sarrus_io::load_str("pendulum.toml", text, &Default::default()).unwrap();
/// # let system = std::sync::Arc::new(sarrus_system::compile(&model).unwrap());
/// let mut sim = Simulation::new(std::sync::Arc::new(model), &system, &Simulate::default())?;
/// let mut angle = sim.sensor(&["A.angle"])?;
/// let mut now = [0.0];
/// for _ in 0..50 {
///     // hold the bar up by a force on it
///     sim.push("bar", [0.0, 9.81, 0.0], [0.0; 3], None)?;
///     sim.advance(sim.t() + 0.01)?;
///     sim.read(&mut angle, &mut now)?;
/// }
/// assert!(now[0].abs() < 0.2);
/// # Ok::<(), sarrus_analysis::SimulationError>(())
/// ```
pub struct Simulation {
    model: Arc<Model>,
    request: Simulate,
    run: Run<'static>,
    start: RunSnapshot,
    /// Time that [`step`](Simulation::step) covers \[s\].
    dt: f64,
    /// Marks where steps of that size began \[s\], and how many there were since.
    origin: f64,
    steps: u64,
    over: Option<String>,
}

/// Columns to be read, by [`Simulation::sensor`].
pub struct Sensor {
    columns: Columns,
    /// Place among the columns of each number asked for; none: the time.
    order: Vec<Option<usize>>,
    row: Vec<f64>,
}

impl Sensor {
    /// Number of numbers it reads.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns whether it reads nothing.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

impl Simulation {
    /// Puts the mechanism together; with `request.record` every [`step`](Simulation::step) ends with a sample.
    ///
    /// `run.max_steps` and `run.wall_limit` do not bound it.
    pub fn new(
        model: Arc<Model>,
        system: &Arc<System>,
        request: &Simulate,
    ) -> Result<Simulation, SimulationError> {
        Simulation::watched(model, system, request, Box::new(()))
    }

    /// The same with an observer that sees every step inside, and may interrupt it.
    pub fn watched(
        model: Arc<Model>,
        system: &Arc<System>,
        request: &Simulate,
        watch: Box<dyn Watch>,
    ) -> Result<Simulation, SimulationError> {
        let mut run = with_functions(|| {
            let mut run = Run::new(&model, system, request, watch)?;
            run.unbounded();
            run.run_to(run.state.t)?;
            Ok(run)
        })?;
        if request.record {
            run.sample();
        }
        let (start, dt) = (run.snapshot(), run.settings.every);
        let (request, origin) = (request.clone(), run.state.t);
        let mut simulation = Simulation { model, request, run, start, dt, origin, steps: 0, over: None };
        simulation.judge()?;
        Ok(simulation)
    }

    /// Continues by [`dt`](Simulation::dt).
    pub fn step(&mut self) -> Result<(), SimulationError> {
        // products, not sums of what came before: nothing accumulates, and steps meet the samples of controllers
        let now = self.run.state.t;
        if now != self.origin + self.steps as f64 * self.dt {
            (self.origin, self.steps) = (now, 0);
        }
        let next = self.origin + (self.steps + 1) as f64 * self.dt;
        self.advance(next)?;
        self.steps += 1;
        Ok(())
    }

    /// Continues to `t` \[s\], exactly, unless an event stops it before; then [`over`](Simulation::over) says why.
    pub fn advance(&mut self, t: f64) -> Result<(), SimulationError> {
        if let Some(why) = &self.over {
            return Err(SimulationError::Over(why.clone()));
        }
        if !t.is_finite() {
            return Err(SimulationError::NotFinite { what: "the time to go on to".into() });
        }
        if t < self.run.state.t {
            return Err(SimulationError::Backwards { t, now: self.run.state.t });
        }
        let moves = t > self.run.state.t;
        self.run.check_ahead(t);
        with_functions(|| self.run.run_to(t).map(|_| ()))?;
        if self.request.record && moves && self.run.ended.because == Because::End {
            self.run.sample();
        }
        self.judge()
    }

    /// Notes whether it is over.
    fn judge(&mut self) -> Result<(), SimulationError> {
        if self.run.ended.because == Because::End {
            return Ok(());
        }
        if self.run.recorder.stop == Some(RunStop::Asked) {
            self.run.recorder.stop = None;
            return Err(SimulationError::Interrupted { t: self.run.state.t });
        }
        let report = self.run.report();
        self.over = Some(report.reason);
        match report.failure {
            Some(failure) => Err(SimulationError::Failed(Box::new(failure))),
            None => Ok(()),
        }
    }

    /// Time that [`step`](Simulation::step) covers \[s\]: `output.every` unless it was set.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Sets it.
    pub fn set_dt(&mut self, dt: f64) -> Result<(), SimulationError> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(SimulationError::NotFinite { what: format!("a step of {dt} s is not positive, or") });
        }
        (self.dt, self.origin, self.steps) = (dt, self.run.state.t, 0);
        Ok(())
    }

    /// The present time \[s\].
    pub fn t(&self) -> f64 {
        self.run.state.t
    }

    /// The present state.
    pub fn state(&self) -> &State {
        &self.run.state
    }

    /// Returns why it is over, if it is.
    pub fn over(&self) -> Option<&str> {
        self.over.as_deref()
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Returns what is asked of it.
    pub fn settings(&self) -> &Settings {
        &self.run.settings
    }

    /// The mechanism with what acts at the moment.
    pub fn mechanism(&self) -> &Mechanism {
        &self.run.mechanism
    }

    pub(crate) fn run(&mut self) -> &mut Run<'static> {
        &mut self.run
    }

    /// The samples so far, one at the start and one after every step; none unless they are asked for.
    pub fn trajectory(&self) -> &Trajectory {
        &self.run.recorder.trajectory
    }

    /// Rows at events, impacts and switches so far, and of the largest contact forces.
    pub fn instants(&self) -> &Instants {
        &self.run.recorder.instants
    }

    /// Returns how it has gone so far.
    pub fn report(&mut self) -> Report {
        self.run.report()
    }

    /// Replaces positions, velocities or both; with `project` they are brought onto the constraints. Returns whether they were moved.
    pub fn set_state(
        &mut self,
        q: Option<&[f64]>,
        v: Option<&[f64]>,
        project: bool,
    ) -> Result<bool, SimulationError> {
        let mut state = self.run.state.clone();
        for (what, new, old) in [("q", q, &mut state.q), ("v", v, &mut state.v)] {
            let Some(new) = new else { continue };
            if new.len() != old.len() {
                return Err(SimulationError::Size { what, expected: old.len(), found: new.len() });
            }
            if let Some(i) = new.iter().position(|x| !x.is_finite()) {
                return Err(SimulationError::NotFinite { what: format!("{what}[{i}]") });
            }
            old.copy_from_slice(new);
        }
        let moved = self.run.replace(state, project).map_err(SimulationError::NotOnConstraints)?;
        Ok(moved)
    }

    /// Sets a state of a controller by its name, such as `motor.out` of an `input`; the name alone means `out`.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), SimulationError> {
        let index = self.input_index(name)?;
        self.set_at(index, value, name)
    }

    /// The place of a controller's state, for [`set_at`](Simulation::set_at).
    pub fn input_index(&self, name: &str) -> Result<usize, SimulationError> {
        let controllers = &self.run.system.controllers;
        let named = || {
            controllers.iter().flat_map(|c| {
                let states = c.named_states().iter().enumerate();
                states.map(move |(i, (state, _))| (format!("{}.{state}", c.name), c.x + i))
            })
        };
        let found = named().find(|(path, _)| path == name || path.strip_suffix(".out") == Some(name));
        found.map(|(_, index)| index).ok_or_else(|| {
            let names: Vec<String> = named().map(|(path, _)| path).collect();
            let known = match names.is_empty() {
                true => "the model has no controller with a state: an `input` has one".into(),
                false => format!("one of: {}", names.join(" ")),
            };
            let hint = did_you_mean(name, names.iter().map(String::as_str)).unwrap_or(known);
            SimulationError::Unknown { what: "input or state", name: name.into(), hint }
        })
    }

    /// Sets the state at the index that [`input_index`](Simulation::input_index) found; `name` is for the error.
    pub fn set_at(&mut self, index: usize, value: f64, name: &str) -> Result<(), SimulationError> {
        if !value.is_finite() {
            return Err(SimulationError::NotFinite { what: format!("the value for `{name}`") });
        }
        self.run.state.x[index] = value;
        self.run.changed();
        Ok(())
    }

    /// A force \[N\] and a torque \[N m\] from outside, in world axes, on a body until they are set anew. The force acts at the
    /// point `at` of the world \[m\], as the body is now, or through the centre of mass.
    pub fn push(
        &mut self,
        body: &str,
        force: [f64; 3],
        torque: [f64; 3],
        at: Option<[f64; 3]>,
    ) -> Result<(), SimulationError> {
        let directory = self.run.system.directory.clone();
        let Some(id) = directory.body(body).filter(|id| *id != 0) else {
            let names: Vec<&str> = directory
                .bodies
                .iter()
                .skip(1)
                .filter(|b| !b.is_internal())
                .map(|b| b.name.as_str())
                .collect();
            let hint = did_you_mean(body, names.iter().copied()).unwrap_or_default();
            return Err(SimulationError::Unknown { what: "moving body", name: body.into(), hint });
        };
        let given = force.iter().chain(&torque).chain(at.iter().flatten());
        if given.into_iter().any(|x| !x.is_finite()) {
            return Err(SimulationError::NotFinite { what: format!("a component of the push on `{body}`") });
        }
        let mut wrench = Wrench { force: Vec3(force), torque: Vec3(torque) };
        if let Some(at) = at {
            let Run { mechanism, state, .. } = &mut self.run;
            let centre = mechanism.observe(state, |at| at.poses[id as usize].p);
            wrench.torque += (Vec3(at) - centre).cross(Vec3(force));
        }
        self.run.mechanism.set_external_wrench(id, wrench);
        self.run.changed();
        Ok(())
    }

    /// Takes all forces from outside away.
    pub fn let_go(&mut self) {
        self.run.mechanism.clear_external_wrenches();
        self.run.changed();
    }

    /// Back to the start, as it was assembled.
    pub fn reset(&mut self) {
        self.run.restore(&self.start);
        (self.origin, self.steps) = (self.run.state.t, 0);
        self.over = None;
    }

    /// Back to the start with other values in `[initial]`, such as `("A.angle", 0.3)`: they take the place of the file's, and the mechanism
    /// is assembled anew. Where that fails the simulation stays as it is.
    pub fn reset_to(&mut self, initial: &[(String, f64)]) -> Result<(), SimulationError> {
        let mut model = (*self.model).clone();
        for (path, value) in initial {
            if !value.is_finite() {
                return Err(SimulationError::NotFinite { what: format!("the initial value of `{path}`") });
            }
            model.initial.retain(|setting| setting.path != *path);
            model.initial.push(Model::setting(path.clone(), Value::new(Data::Number(*value))));
        }
        let mut fresh = Simulation::new(Arc::new(model), &self.run.system, &self.request)?;
        self.run.hand_over(&mut fresh.run);
        // what a plain reset goes back to is the model's own start
        (fresh.model, fresh.dt) = (self.model.clone(), self.dt);
        std::mem::swap(&mut fresh.start, &mut self.start);
        *self = fresh;
        Ok(())
    }

    /// Another simulation that continues from here by itself. Integrators that remember steps begin anew in it.
    pub fn copy(&self, watch: Box<dyn Watch>) -> Result<Simulation, SimulationError> {
        let (model, request) = (self.model.clone(), self.request.clone());
        let run = self.run.copy(watch).map_err(SimulationError::Setup)?;
        let (start, dt, over) = (self.start.clone(), self.dt, self.over.clone());
        Ok(Simulation { model, request, run, start, dt, origin: self.origin, steps: self.steps, over })
    }

    /// Chooses columns to be read: names as in results, `t` too.
    pub fn sensor(&self, names: &[&str]) -> Result<Sensor, SimulationError> {
        let asked: Vec<String> = names.iter().filter(|n| **n != "t").map(|n| n.to_string()).collect();
        let (model, system) = (&self.model, &self.run.system);
        let bad = |diagnostics| SimulationError::Setup(SetupError::Model(diagnostics));
        let unknown = |name: &str| {
            let all = Columns::new(model, system, &["*".to_string()]).map_or(vec![], |all| all.names);
            let other = || "give the full name of one column, as results have it".into();
            let hint = did_you_mean(name, all.iter().map(String::as_str)).unwrap_or_else(other);
            SimulationError::Unknown { what: "column", name: name.to_string(), hint }
        };
        for name in &asked {
            Columns::new(model, system, std::slice::from_ref(name)).map_err(|_| unknown(name))?;
        }
        let columns = Columns::new(model, system, &asked).map_err(bad)?;
        let mut order = Vec::with_capacity(names.len());
        for name in names {
            let own = self.run.system.directory.own_name(name);
            let index = columns.names.iter().position(|column| *column == own);
            if *name != "t" && index.is_none() {
                return Err(unknown(name));
            }
            order.push(index);
        }
        let row = vec![0.0; columns.names.len()];
        Ok(Sensor { columns, order, row })
    }

    /// Reads the columns of `sensor` at the present state, as many as it has, into `out`.
    pub fn read(&mut self, sensor: &mut Sensor, out: &mut [f64]) -> Result<(), SimulationError> {
        if out.len() != sensor.len() {
            let (expected, found) = (sensor.len(), out.len());
            return Err(SimulationError::Size { what: "what is read", expected, found });
        }
        let Sensor { columns, order, row } = sensor;
        self.run.read(columns, row).map_err(SimulationError::Solve)?;
        let t = self.run.state.t;
        out.iter_mut().zip(order).for_each(|(out, index)| *out = index.map_or(t, |index| row[index]));
        Ok(())
    }
}
