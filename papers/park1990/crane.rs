//! Example C: three links whose tip is led along a line, rigid and as beams of four elements; the torques that this takes.
//!
//! The tip's velocity and the turning of the last link are prescribed, as rows of velocities (nonholonomic, the paper says). Their
//! multipliers are a force F and a moment m on the tip. The torque of a joint at P that does the same virtual work is the moment about it,
//!
//! ```text
//! τ = (P_tip - P) × F + m,
//! ```
//!
//! which for rigid links is what inverse dynamics gives. That is checked on its own: a second model drives the joints, by the angles that
//! the two links and the tip's path determine, and knows of no tip force.

use super::spectrum::{Spectrum, spectrum};
use crate::claim::PaperError;
use crate::runs::{Case, Tally};
use sarrus::analysis::{
    MethodText, ModeKind, OperatingPoint, RunOverrides, Simulate, Status, Trajectory, modes, prescribed,
    simulate,
};

const FLEXIBLE: &str = include_str!("../../models/crane.toml");
const RIGID: &str = include_str!("crane_rigid.toml");
/// Speed of the tip in both models: half a sine, whose acceleration jumps at the start and at the stop.
const HALF_SINE: &str = "pi*D/(2*T)*sin(pi*x/T)";
/// Speed of the tip over the same distance and time, with a continuous acceleration.
const ONE_MINUS_COS: &str = "D/T*(1 - cos(2*pi*x/T))";
/// Angles of the joints along the tip's path.
const ANGLES: &str = "[functions]
'way(x)' = 'if(x < T, D/2*(1 - cos(pi*x/T)), D)'
'wx(x)' = 'cos(100 deg) + cos(20 deg) + 0.6*way(x)'
'wy(x)' = 'sin(100 deg) + sin(20 deg) - 0.8*way(x)'
'aim(x)' = 'atan2(wy(x), wx(x))'
'half(x)' = 'acos(sqrt(wx(x)^2 + wy(x)^2)/2)'
";
/// Drivers of the joints in place of that of the tip.
const MOTORS: &str = "[drivers]
shoulder_motor = { kind = 'joint', joint = 'shoulder', angle = 'aim(t) + half(t)' }
elbow_motor = { kind = 'joint', joint = 'elbow', angle = '-2*half(t)' }
wrist_motor = { kind = 'joint', joint = 'wrist', angle = 'half(t) - aim(t) - 40 deg' }
";

/// When the tip stops \[s\].
pub const STOP: f64 = 2.0;
/// Time between samples of the runs that methods are compared by, and of the record whose spectrum is taken \[s\].
const EVERY: f64 = 2.5e-3;
const EVERY_FINE: f64 = 5e-4;
/// Up to where the spectrum is taken \[rad/s\].
const HIGHEST: f64 = 900.0;

/// A motion of the crane, sample by sample.
#[derive(Debug, Clone, Default)]
pub struct Motion {
    /// Instants \[s\].
    pub t: Vec<f64>,
    /// Elbow, wrist and tip \[m\].
    pub places: [Vec<[f64; 2]>; 3],
    /// Velocity of the tip \[m/s\].
    pub velocity: Vec<[f64; 2]>,
    /// Torques at shoulder, elbow and wrist \[N m\].
    pub torques: [Vec<f64>; 3],
}

impl Motion {
    /// Reads it from the columns of a run.
    fn read(run: &Trajectory, rigid: bool) -> Option<Motion> {
        let mut motion = Motion::default();
        let index = |name: &str| run.index(name);
        let force = [index("tip.fx")?, index("tip.fy")?, index("tip.tz")?];
        let keys = ["x", "y", "angle", "vx", "vy", "rate"];
        let mut ends = Vec::new();
        for arm in 1..=3 {
            let body = if rigid { format!("arm{arm}") } else { format!("arm{arm}.node4") };
            let columns: Option<Vec<usize>> =
                keys.iter().map(|key| index(&format!("{body}.{key}"))).collect();
            ends.push(columns?);
        }
        // from a bar's middle to its end
        let arm = if rigid { 0.5 } else { 0.0 };
        for row in run.rows() {
            let place = ends.iter().map(|end| {
                let [x, y, angle] = [0, 1, 2].map(|k| row[end[k]]);
                [x + arm * angle.cos(), y + arm * angle.sin()]
            });
            for (list, place) in motion.places.iter_mut().zip(place) {
                list.push(place);
            }
            let [angle, vx, vy, rate] = [2, 3, 4, 5].map(|k| row[ends[2][k]]);
            motion.velocity.push([vx - arm * rate * angle.sin(), vy + arm * rate * angle.cos()]);
            motion.t.push(row[0]);
            let n = motion.t.len() - 1;
            let [fx, fy, m] = force.map(|k| row[k]);
            let tip = motion.places[2][n];
            let joints = [[0.0, 0.0], motion.places[0][n], motion.places[1][n]];
            for (list, p) in motion.torques.iter_mut().zip(joints) {
                list.push((tip[0] - p[0]) * fy - (tip[1] - p[1]) * fx + m);
            }
        }
        Some(motion)
    }

    /// Samples whose torques can be compared: not that of the stop, where accelerations jump.
    pub fn samples(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.t.len()).filter(|&k| (self.t[k] - STOP).abs() > 1e-9)
    }

    /// Largest distance of a joint or the tip from where it is in `other` \[m\].
    pub fn apart(&self, other: &Motion) -> f64 {
        let pairs = self.places.iter().zip(&other.places).flat_map(|(a, b)| a.iter().zip(b));
        crate::runs::largest(pairs.map(|(a, b)| f64::hypot(a[0] - b[0], a[1] - b[1])))
    }

    /// Largest difference of a torque of `joint` \[N m\].
    pub fn off(&self, other: &Motion, joint: usize) -> f64 {
        let (a, b) = (&self.torques[joint], &other.torques[joint]);
        crate::runs::largest(self.samples().map(|k| (a[k] - b[k]).abs()))
    }

    /// Root of the mean square of the difference of the torques of `joint` \[N m\].
    pub fn off_rms(&self, other: &Motion, joint: usize) -> f64 {
        let (a, b) = (&self.torques[joint], &other.torques[joint]);
        let squares: Vec<f64> = self.samples().map(|k| (a[k] - b[k]).powi(2)).collect();
        (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
    }

    /// Largest torque of `joint` \[N m\].
    pub fn most(&self, joint: usize) -> f64 {
        crate::runs::largest(self.samples().map(|k| self.torques[joint][k].abs()))
    }
}

/// A method with its step \[s\] or tolerance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Way {
    Step(&'static str, f64),
    Tolerance(&'static str, f64),
}

impl Way {
    pub fn name(self) -> String {
        match self {
            Way::Step(method, h) => format!("{method}, h = {h:e} s"),
            Way::Tolerance(method, rtol) => format!("{method} at {rtol:e}"),
        }
    }

    fn overrides(self, t_end: f64, every: f64) -> Result<RunOverrides, PaperError> {
        let (method, step, rtol) = match self {
            Way::Step(method, h) => (method, Some(h), None),
            Way::Tolerance(method, rtol) => (method, None, Some(rtol)),
        };
        let MethodText(integrator) =
            method.parse().map_err(|e| PaperError::Run { what: self.name(), reason: format!("{e}") })?;
        let columns = ["arm?.*", "tip.*"].map(String::from).to_vec();
        Ok(RunOverrides {
            integrator: Some(integrator),
            step,
            rtol,
            atol: rtol.map(|x| 1e-2 * x),
            t_end: Some(t_end),
            every: Some(every),
            columns: Some(columns),
            ..RunOverrides::default()
        })
    }
}

/// A run by one method.
pub struct Run {
    pub way: Way,
    pub motion: Motion,
    pub steps: u64,
    /// Whether constraints and energy were kept.
    pub certified: bool,
}

/// Everything that was run.
pub struct Runs {
    /// Of rigid links: by `inverse`, with the tip driven.
    pub inverse: Motion,
    /// Torques at the same instants by `inverse` with the joints driven \[N m\].
    pub motors: [Vec<f64>; 3],
    /// Of rigid links, by integrators.
    pub rigid: Vec<Run>,
    /// With beams, by integrators; the first is the tightest.
    pub flexible: Vec<Run>,
    /// Spectra of the torques after the stop.
    pub spectra: [Spectrum; 3],
    /// End of all runs but that of the record \[s\].
    pub t_end: f64,
    /// Length of the record \[s\].
    pub record: f64,
    /// Natural frequencies at the start and at the end of the motion \[rad/s\].
    pub natural: [Vec<f64>; 2],
    /// Motions of flexible and of rigid links with the 1 - cos pulse in place of the half-sine pulse.
    pub smooth: [Motion; 2],
}

/// How much is run.
pub struct Slice {
    /// Methods on the crane with beams, the tightest first.
    pub flexible: &'static [Way],
    /// Methods on the rigid one.
    pub rigid: &'static [Way],
    /// End of these runs \[s\].
    pub t_end: f64,
    /// How long the vibrations after the stop are recorded \[s\].
    pub record: f64,
}

/// Runs it.
pub fn runs(slice: &Slice, tally: &mut Tally) -> Result<Runs, PaperError> {
    let &Slice { flexible, rigid, t_end, record } = slice;
    let stiff = Case::new("crane, rigid", RIGID, &[], None)?;
    let driven =
        RIGID.split("[drivers]").next().unwrap_or_default().replace("[functions]\n", ANGLES) + MOTORS;
    let driven = Case::new("crane, joints driven", &driven, &[], None)?;
    let soft = Case::new("crane", FLEXIBLE, &[], None)?;
    let bad = |what: &str, reason: String| PaperError::Run { what: what.into(), reason };
    let missing = |what: &str| bad(what, "a column is missing".into());

    tally.next("crane, inverse dynamics")?;
    let every = RunOverrides { t_end: Some(t_end), every: Some(EVERY), ..RunOverrides::default() };
    let known = prescribed(&stiff.model, &stiff.system, &every).map_err(|e| bad("crane", e.to_string()))?;
    let inverse = Motion::read(&known.trajectory, true).ok_or_else(|| missing("crane, inverse"))?;
    let known = prescribed(&driven.model, &driven.system, &every).map_err(|e| bad("crane", e.to_string()))?;
    let mut motors: [Vec<f64>; 3] = Default::default();
    for (list, joint) in motors.iter_mut().zip(["shoulder", "elbow", "wrist"]) {
        let column = known.trajectory.column(&format!("{joint}_motor.torque"));
        list.extend(column.ok_or_else(|| missing("crane, joints driven"))?);
    }

    let mut all = [Vec::new(), Vec::new()];
    for (found, (case, ways)) in all.iter_mut().zip([(&stiff, rigid), (&soft, flexible)]) {
        for &way in ways {
            tally.next(&format!("{}, {}", case.name, way.name()))?;
            found.push(run(case, way, t_end, EVERY)?);
        }
    }
    let [rigid, flexible] = all;

    tally.next("crane, vibrations after the stop")?;
    let long = run(&soft, Way::Tolerance("dop853", 1e-6), STOP + record, EVERY_FINE)?.motion;
    let first = long.t.iter().position(|&t| t > STOP + 1e-9).unwrap_or(0);
    let spectra = [0, 1, 2].map(|k| spectrum(&long.torques[k][first..], EVERY_FINE, HIGHEST));

    tally.next("crane, natural frequencies")?;
    let natural = [natural(&soft)?, natural(&at_the_end()?)?];

    tally.next("crane, 1 - cos pulse")?;
    let with_pulse = |name: &str, text: &str| {
        if !text.contains(HALF_SINE) {
            return Err(bad(name, "the model has no half-sine pulse to replace".into()));
        }
        Case::new(name, &text.replace(HALF_SINE, ONE_MINUS_COS), &[], None)
    };
    let soft = with_pulse("crane, 1 - cos pulse", FLEXIBLE)?;
    let stiff = with_pulse("crane, rigid, 1 - cos pulse", RIGID)?;
    let known = prescribed(&stiff.model, &stiff.system, &every).map_err(|e| bad("crane", e.to_string()))?;
    let known = Motion::read(&known.trajectory, true).ok_or_else(|| missing("crane, inverse"))?;
    let smooth = [run(&soft, Way::Tolerance("dop853", 1e-8), t_end, EVERY)?.motion, known];
    Ok(Runs { inverse, motors, rigid, flexible, spectra, t_end, record, natural, smooth })
}

fn run(case: &Case, way: Way, t_end: f64, every: f64) -> Result<Run, PaperError> {
    let bad = |reason: String| PaperError::Run { what: format!("{}, {}", case.name, way.name()), reason };
    let request = Simulate { overrides: way.overrides(t_end, every)?, record: true };
    let outcome = simulate(&case.model, &case.system, &request, &mut ()).map_err(|e| bad(e.to_string()))?;
    if outcome.report.status != Status::Completed {
        return Err(bad(outcome.report.reason));
    }
    let rigid = outcome.trajectory.index("arm1.x").is_some();
    let motion = Motion::read(&outcome.trajectory, rigid).ok_or_else(|| bad("a column is missing".into()))?;
    let report = outcome.report;
    Ok(Run { way, motion, steps: report.counts.steps, certified: report.certificate.passed })
}

/// The crane at rest, unbent, where rigid links would stand at the end.
fn at_the_end() -> Result<Case, PaperError> {
    let degrees = |x: f64| x.to_radians();
    let path = 0.8;
    let x = degrees(100.0).cos() + degrees(20.0).cos() + 0.6 * path;
    let y = degrees(100.0).sin() + degrees(20.0).sin() - 0.8 * path;
    let (aim, half) = (y.atan2(x), (0.5 * f64::hypot(x, y)).acos());
    let text = FLEXIBLE
        .replace("polar(1, 100 deg)", &format!("polar(1, {:?})", aim + half))
        .replace("polar(1, 20 deg)", &format!("polar(1, {:?})", aim - half));
    Case::new("crane at the end", &text, &[("D", "0")], None)
}

/// Frequencies of small vibrations about the start, slowest first \[rad/s\].
fn natural(case: &Case) -> Result<Vec<f64>, PaperError> {
    let report = modes(&case.model, &case.system, OperatingPoint::Start)
        .map_err(|e| PaperError::Run { what: format!("modes of {}", case.name), reason: e.to_string() })?;
    let swings = report.modes.iter().filter(|m| m.kind == ModeKind::Oscillation);
    Ok(swings.map(|m| m.eigenvalue[1].abs()).collect())
}
