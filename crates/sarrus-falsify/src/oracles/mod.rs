//! Oracles: statements about a run that need no reference. One file each, one line each in [`ORACLES`].
//!
//! A scene is wrong where its run is certified and an oracle disagrees by more than tolerance and sensitivity allow.

mod closed;
mod energy;
mod finite;
mod kinematics;
mod masses;
mod methods;
mod momentum;
mod newton;
mod refusal;
mod rewritten;
#[cfg(test)]
mod tests;

use crate::compare::{ColumnPair, Extent, FixedScale, Sensitivity, same_columns, scales, worst};
use crate::rng::Rng;
use crate::run::{RunEnd, estimated_errors, run};
use crate::scene::{SceneFile, SceneValue, get, set};
use sarrus::analysis::{Outcome, Trajectory};

/// Holds what an oracle says of a scene.
#[derive(Clone, Debug, PartialEq)]
pub enum OracleVerdict {
    /// It has nothing to say of scenes of this form, or of runs that are not certified.
    Silent,
    /// It could not tell: the other run was refused or is not certified, or the motion is too sensitive.
    Undecided,
    /// It agrees.
    Agrees,
    /// It disagrees, with what disagrees.
    Wrong(String),
}

/// An oracle.
pub struct Oracle {
    /// Its name, as `--only` takes it.
    pub name: &'static str,
    /// Holds what it states.
    pub doc: &'static str,
    /// True if it makes no run of its own unless it finds something; the others take turns.
    pub cheap: bool,
    /// Judges a scene.
    pub judge: fn(&mut SceneRun, &mut Rng) -> OracleVerdict,
}

/// Every oracle, in the order of the table.
pub static ORACLES: &[Oracle] = &[
    refusal::PANIC,
    refusal::HINT,
    finite::FINITE,
    kinematics::KINEMATICS,
    newton::NEWTON,
    momentum::MOMENTUM,
    energy::ENERGY,
    closed::CLOSED_FORM,
    rewritten::RENAMED,
    rewritten::PERMUTED,
    rewritten::RESOLVED,
    rewritten::MOUNTED,
    rewritten::MIRRORED,
    rewritten::SPLIT_BODY,
    rewritten::DOUBLED_JOINT,
    methods::TOLERANCE,
    methods::METHOD,
    methods::FIXED_STEPS,
];

/// A scene with its run, and what has been found out about it.
pub struct SceneRun {
    /// The scene.
    pub scene: SceneFile,
    /// Its run.
    pub run: RunEnd,
    finer: Option<Option<Box<Outcome>>>,
    sensitivity: Option<Option<Sensitivity>>,
}

impl SceneRun {
    /// Runs a scene.
    pub fn new(scene: SceneFile) -> SceneRun {
        let run = run(&scene);
        SceneRun::of(scene, run)
    }

    /// A scene with a run that has been made.
    pub fn of(scene: SceneFile, run: RunEnd) -> SceneRun {
        SceneRun { scene, run, finer: None, sensitivity: None }
    }

    /// The outcome, if it is certified.
    pub fn certified(&self) -> Option<&Outcome> {
        self.run.certified()
    }

    /// The relative tolerance of the run; none of fixed steps.
    pub fn rtol(&self) -> Option<f64> {
        self.certified().and_then(|o| o.report.method.rtol)
    }

    /// A certified run of the scene with finer tolerances or steps.
    pub fn finer(&mut self) -> Option<&Outcome> {
        if self.finer.is_none() {
            let finer = self.certified().map(|base| refined(&self.scene, base));
            self.finer = Some(finer.and_then(|scene| certified(run(&scene))));
        }
        self.finer.as_ref().and_then(|f| f.as_deref())
    }

    /// Returns how far other runs of this motion may be from it; none where that cannot be found.
    pub fn sensitivity(&mut self) -> Option<&Sensitivity> {
        if self.sensitivity.is_none() {
            self.sensitivity = Some(self.find_sensitivity());
        }
        self.sensitivity.as_ref().and_then(Option::as_ref)
    }

    fn find_sensitivity(&mut self) -> Option<Sensitivity> {
        let (rtol, smooth) = (self.rtol(), self.scene.is_smooth());
        let perturbed = [1, 2].map(|k| certified(run(&perturbed(&self.scene, k))));
        let [Some(one), Some(two)] = perturbed else { return None };
        let finer = self.finer()?.trajectory.clone();
        let base = self.certified()?;
        Sensitivity::new(&base.trajectory, &finer, [&one.trajectory, &two.trajectory], rtol, smooth)
    }
}

fn certified(run: RunEnd) -> Option<Box<Outcome>> {
    run.certified()?;
    match run {
        RunEnd::Done(outcome) => Some(outcome),
        _ => None,
    }
}

/// The scene with tolerances a hundredth, or steps a quarter, of those of its run.
pub(crate) fn refined(scene: &SceneFile, base: &Outcome) -> SceneFile {
    let mut finer = scene.clone();
    let method = &base.report.method;
    match (method.rtol, method.atol) {
        (Some(rtol), Some(atol)) => {
            set(&mut finer.run, "rtol", (rtol / 100.0).max(1e-13));
            set(&mut finer.run, "atol", (atol / 100.0).max(1e-15));
        }
        _ => {
            if let Some(step) = method.step {
                set(&mut finer.run, "step", step / 4.0);
            }
        }
    }
    more_time(&mut finer);
    finer
}

/// Raises the limits of a run that takes more steps than the first.
fn more_time(scene: &mut SceneFile) {
    for key in ["max_steps", "wall_limit"] {
        if let Some(x) = get(&scene.run, key).and_then(SceneValue::number) {
            set(&mut scene.run, key, 4.0 * x);
        }
    }
}

/// The scene with masses, gravity and values at the start off by about [`crate::compare::PERTURBATION`].
fn perturbed(scene: &SceneFile, k: u64) -> SceneFile {
    let mut scene = scene.clone();
    let mut rng = Rng::new(0x5eed, k);
    let mut off = move |x: &mut f64, absolute: bool| {
        let by = crate::compare::PERTURBATION * if rng.chance(0.5) { 1.0 } else { -1.0 };
        *x += by * if absolute { x.abs().max(1.0) } else { *x };
    };
    scene.gravity.iter_mut().for_each(|g| off(g, false));
    for e in &mut scene.elements {
        if e.section != "bodies" {
            continue;
        }
        if let SceneValue::Table(table) = &mut e.value
            && let Some((_, mass)) = table.iter_mut().find(|(k, _)| k == "mass")
        {
            mass.each_number(&mut |x| off(x, false));
        }
    }
    scene.initial.iter_mut().for_each(|(_, v)| v.each_number(&mut |x| off(x, true)));
    scene
}

/// Describes how two runs are compared.
pub(crate) struct RunComparison<'a> {
    /// Pairs of columns.
    pub pairs: &'a dyn Fn(&Outcome, &Outcome) -> Vec<ColumnPair>,
    /// True if a refusal of the second scene is wrong.
    pub must_load: bool,
    /// True if the second run has errors of its own.
    pub other_method: bool,
}

/// Compares the run of a case with that of a scene that should move the same way.
pub(crate) fn against(
    case: &mut SceneRun,
    variant: &SceneFile,
    make: &dyn Fn(&SceneFile) -> RunEnd,
    how: &RunComparison,
) -> OracleVerdict {
    let smooth = case.scene.is_smooth();
    let Some(base) = case.certified() else { return OracleVerdict::Silent };
    let other = match make(variant) {
        RunEnd::Panicked(message) => return OracleVerdict::Wrong(format!("the other run panics: {message}")),
        RunEnd::Refused(all) if how.must_load => {
            let first = all.first().map_or("", |d| d.message.as_str());
            return OracleVerdict::Wrong(format!("the other model is refused: {first}"));
        }
        run => match certified(run) {
            Some(outcome) => outcome,
            None => return OracleVerdict::Undecided,
        },
    };
    let pairs = (how.pairs)(base, &other);
    if pairs.is_empty() {
        return OracleVerdict::Silent;
    }
    let scales = scales(&base.trajectory);
    let first = FixedScale { scales: &scales, part: 1e-6 };
    if worst(&base.trajectory, &other.trajectory, &pairs, &first, smooth).is_none() {
        return OracleVerdict::Agrees;
    }
    let Some(mut sensitivity) = case.sensitivity().cloned() else { return OracleVerdict::Undecided };
    if how.other_method {
        let Some(finer) = certified(make(&refined(variant, &other))) else { return OracleVerdict::Undecided };
        if finer.trajectory.names() != other.trajectory.names() {
            return OracleVerdict::Undecided;
        }
        sensitivity.with_error_of(&other.trajectory, &finer.trajectory, &pairs, smooth);
    }
    let Some(base) = case.certified() else { return OracleVerdict::Silent };
    let rows = base.trajectory.len().min(other.trajectory.len());
    match worst(&base.trajectory, &other.trajectory, &pairs, &sensitivity, smooth) {
        Some(_) => beyond_estimates((&case.scene, base), (variant, &other), &pairs, sensitivity, smooth),
        None if 2 * sensitivity.rows() < rows => OracleVerdict::Undecided,
        None => OracleVerdict::Agrees,
    }
}

/// Judges a difference by what the certificates of both runs say of their errors. A run that is not certified with them is not wrong.
pub(crate) fn beyond_estimates(
    (scene, base): (&SceneFile, &Outcome),
    (variant, other): (&SceneFile, &Outcome),
    pairs: &[ColumnPair],
    mut sensitivity: Sensitivity,
    smooth: bool,
) -> OracleVerdict {
    let (Some(errors), Some(others)) = (estimated_errors(scene), estimated_errors(variant)) else {
        return OracleVerdict::Undecided;
    };
    let (a, b) = (&base.trajectory, &other.trajectory);
    sensitivity.with_estimates((a.names(), &errors), (b.names(), &others), pairs);
    match worst(a, b, pairs, &sensitivity, smooth) {
        Some(difference) => OracleVerdict::Wrong(difference.to_string()),
        None => OracleVerdict::Agrees,
    }
}

/// Pairs of columns of the same name; reactions that are not unique are left out.
pub(crate) fn unique_columns(base: &Outcome, other: &Outcome, extent: Extent) -> Vec<ColumnPair> {
    let skip = [&base.report.reactions.not_unique[..], &other.report.reactions.not_unique[..]].concat();
    same_columns(&base.trajectory, &other.trajectory, extent, &skip)
}

/// Judges a number that should be zero relative to its scale. Between what is surely error and what is surely wrong, it must
/// shrink with the tolerances.
pub(crate) fn judge_residual(
    case: &mut SceneRun,
    what: &str,
    residual: &dyn Fn(&Trajectory) -> Option<(f64, f64)>,
) -> OracleVerdict {
    let Some(base) = case.certified() else { return OracleVerdict::Silent };
    let Some((found, t)) = residual(&base.trajectory) else { return OracleVerdict::Silent };
    let (small, large) = match base.report.method.rtol {
        Some(rtol) => (100.0 * rtol + 1e-7, (1e4 * rtol).max(1e-5)),
        // rows of fixed steps are no finer than these
        None => (1e-5, 0.1),
    };
    if found <= small {
        return OracleVerdict::Agrees;
    }
    let wrong = || OracleVerdict::Wrong(format!("{what} by {found:.2e} of its scale, most at t = {t}"));
    if !(found <= large) {
        return wrong();
    }
    match case.finer().and_then(|finer| residual(&finer.trajectory)) {
        Some((finer, _)) if finer <= 0.5 * found => OracleVerdict::Agrees,
        Some(_) => wrong(),
        None => OracleVerdict::Undecided,
    }
}
