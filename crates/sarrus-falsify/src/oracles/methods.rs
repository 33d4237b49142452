//! Methods: the motion is that of the mechanism, whatever finds it.

use super::{
    Oracle, OracleVerdict, RunComparison, SceneRun, against, beyond_estimates, refined, unique_columns,
};
use crate::compare::{ColumnPair, Extent, FixedScale, same_columns, scales, worst};
use crate::generate::settings;
use crate::rng::Rng;
use crate::run::run;
use crate::scene::{SceneFile, SceneValue, set, unset};
use sarrus::analysis::Outcome;

/// Convergence with the tolerance.
pub const TOLERANCE: Oracle = Oracle {
    name: "tolerance",
    doc: "finer tolerances change results by no more than the coarser ones allow",
    cheap: false,
    judge: tolerance,
};
/// Other methods.
pub const METHOD: Oracle = Oracle {
    name: "method",
    doc: "another formulation, stabilization, integrator, tolerance and coordinates give the same motion",
    cheap: false,
    judge: method,
};
/// Brute force.
pub const FIXED_STEPS: Oracle = Oracle {
    name: "fixed_steps",
    doc: "small steps of rk4 with a dense pseudoinverse give the same motion",
    cheap: false,
    judge: fixed_steps,
};

/// Steps of the brute force over a run.
const STEPS: f64 = 4000.0;

fn tolerance(case: &mut SceneRun, _: &mut Rng) -> OracleVerdict {
    let smooth = case.scene.is_smooth();
    let Some(rtol) = case.rtol().filter(|r| *r <= 1e-6) else { return OracleVerdict::Silent };
    let Some(finer) = case.finer().cloned() else { return OracleVerdict::Undecided };
    let Some(base) = case.certified() else { return OracleVerdict::Silent };
    let pairs = same_columns(&base.trajectory, &finer.trajectory, Extent::Motion, &[]);
    let scales = scales(&base.trajectory);
    let first = FixedScale { scales: &scales, part: 1e3 * rtol };
    if worst(&base.trajectory, &finer.trajectory, &pairs, &first, smooth).is_none() {
        return OracleVerdict::Agrees;
    }
    // the sensitivity believes an error only as far as the motion amplifies the tolerance
    let Some(sensitivity) = case.sensitivity().cloned() else { return OracleVerdict::Undecided };
    let Some(base) = case.certified() else { return OracleVerdict::Silent };
    if worst(&base.trajectory, &finer.trajectory, &pairs, &sensitivity, smooth).is_none() {
        return OracleVerdict::Agrees;
    }
    let variant = refined(&case.scene, base);
    match beyond_estimates((&case.scene, base), (&variant, &finer), &pairs, sensitivity, smooth) {
        OracleVerdict::Wrong(difference) => OracleVerdict::Wrong(format!("against rtol/100: {difference}")),
        verdict => verdict,
    }
}

fn method(case: &mut SceneRun, rng: &mut Rng) -> OracleVerdict {
    let mut variant = case.scene.clone();
    settings::replace(&mut variant, rng);
    let pairs = same(&case.scene);
    let how = RunComparison { pairs: &pairs, must_load: false, other_method: true };
    match against(case, &variant, &run, &how) {
        OracleVerdict::Wrong(what) => {
            OracleVerdict::Wrong(format!("{what}\nwith run = {}", SceneValue::from(variant.run).toml()))
        }
        verdict => verdict,
    }
}

fn fixed_steps(case: &mut SceneRun, _: &mut Rng) -> OracleVerdict {
    if case.certified().is_none() || case.scene.section("flexible").next().is_some() {
        return OracleVerdict::Silent;
    }
    let mut variant = case.scene.clone();
    for key in ["rtol", "atol", "stabilization", "coordinates", "rotation"] {
        unset(&mut variant.run, key);
    }
    set(&mut variant.run, "integrator", "rk4");
    set(&mut variant.run, "formulation", "pseudo_inverse");
    let step = variant.t_end() / STEPS;
    set(&mut variant.run, "step", step);
    let pairs = same(&case.scene);
    against(case, &variant, &run, &RunComparison { pairs: &pairs, must_load: false, other_method: true })
}

/// Columns that methods agree on. Where forces jump, their instant has the error of the method, and motions alone are compared.
fn same(scene: &SceneFile) -> impl Fn(&Outcome, &Outcome) -> Vec<ColumnPair> + use<> {
    let extent = if scene.is_smooth() { Extent::All } else { Extent::Motion };
    // friction of a reaction that is not unique is not unique either, and methods differ in it
    let has_friction = scene.section("joints").any(|e| SceneFile::has_key(&e.value, "mu"));
    move |base, other| {
        let open = (has_friction && !base.report.reactions.not_unique.is_empty())
            || !base.report.reactions.motion_not_unique.is_empty()
            || base.report.singular.iter().any(|s| s.outcome != "passed");
        if open { Vec::new() } else { unique_columns(base, other, extent) }
    }
}
