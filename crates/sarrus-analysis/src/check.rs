//! What can be known of a model without running it: size, rank of its constraints with margin, mobility, redundant
//! groups, how far assembly had to go, and the method that `auto` would take.

use crate::assemble::assemble;
use crate::error::SetupError;
use crate::method::{Facts, Method};
use crate::rank::{constraint_singular, redundant_groups};
use crate::report::{AssemblyPart, ConstraintsReport, SizeReport};
use crate::settings::{Overrides, Settings};
use crate::start::{Rows, rank_report, size};
use sarrus_math::solve::Singular;
use sarrus_model::{Model, Space};
use sarrus_solve::{Equations, Problem, Stage, State, Structure};
use sarrus_system::{Columns, Mechanism, System};
use serde::Serialize;
use std::sync::Arc;

/// Models with more rows × velocities than this are not decomposed with vectors.
const DECOMPOSED: usize = 400 * 600;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckReport {
    /// Name of the model.
    pub model: String,
    /// Version of the program.
    pub version: &'static str,
    /// `planar` or `spatial`.
    pub space: &'static str,
    /// Bodies, joints, velocities.
    pub size: SizeReport,
    /// Rows and their rank.
    pub constraints: ConstraintsReport,
    /// Degrees of freedom: velocities minus rank.
    pub dof: Option<usize>,
    /// Velocities minus rows, as counting says; below the true mobility where rows are redundant.
    pub counted_mobility: i64,
    /// Whether the redundant rows stay so when the mechanism moves; none where there are none or it cannot be told.
    pub redundancy: Option<Redundancy>,
    /// Elements whose reactions are not unique, by groups that share them.
    pub redundant_groups: Vec<GroupReport>,
    /// What assembly did.
    pub assembly: AssemblyPart,
    /// Elements that the model pose does not satisfy, the worst first.
    pub assembly_errors: Vec<ElementError>,
    /// The method that `auto` would take.
    pub method: String,
    /// Why.
    pub why: Vec<String>,
    /// Findings in words.
    pub notes: Vec<String>,
}

impl CheckReport {
    /// As indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// Whether redundancy is of the mechanism or of the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Redundancy {
    /// The same rows stay redundant when the mechanism moves.
    Structural,
    /// The rank grows when the mechanism moves: this is a singular position.
    Momentary,
}

/// Elements that hold the same thing more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupReport {
    /// Rows among them that say nothing new.
    pub redundant: usize,
    /// Their names.
    pub elements: Vec<String>,
}

/// How far an element is from being satisfied in the model pose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ElementError {
    /// Its name.
    pub name: String,
    /// ‖Φ‖ \[m, or as its rows are\].
    pub error: f64,
}

/// Checks a model.
pub fn check(model: &Model, system: &Arc<System>) -> Result<CheckReport, SetupError> {
    let settings = Settings::read(model, &Overrides::default())?;
    // measures and output.columns are part of the model, sampled or not
    Columns::new(model, system, &settings.columns)?;
    let mut mechanism = system.mechanism();
    let structure = &system.structure;

    // what the model pose violates
    let written = system.start();
    let mut eq = Equations::new(&mechanism);
    mechanism.update(&written, Stage::POSITION, &mut eq);
    let assembly_errors = element_errors(system, &eq);

    let assembled = assemble(model, system, settings.assembly)?;
    let state = assembled.state;
    mechanism.set_hints(&assembled.hints);
    mechanism.update(&state, Stage::VELOCITY, &mut eq);

    // rank, and with vectors who repeats whom
    let mut groups = Vec::new();
    let mut redundancy = None;
    let rows: Rows = if structure.nc * structure.nv <= DECOMPOSED && structure.nc > 0 {
        let d = constraint_singular(structure, &eq)?;
        groups = redundant_groups(structure, &d);
        if d.rank.rank < structure.nc {
            redundancy = tell_apart(&mut mechanism, &state, &d)?;
        }
        Rows::from_rank(&d.rank)
    } else {
        Rows::find(structure, &eq)?
    };
    let method = Method::resolve(&settings, &Facts::new(structure, rows.rank))?;

    let name = |e: &usize| system.elements[*e].name.clone();
    let mut report = CheckReport {
        model: model.name.clone(),
        version: crate::VERSION,
        space: if model.space == Space::Planar { "planar" } else { "spatial" },
        size: size(system),
        constraints: rank_report(structure, &rows),
        dof: rows.rank.map(|rank| structure.nv - rank),
        counted_mobility: structure.nv as i64 - structure.nc as i64,
        redundancy,
        redundant_groups: groups
            .iter()
            .map(|g| GroupReport { redundant: g.redundant, elements: g.elements.iter().map(name).collect() })
            .collect(),
        assembly: crate::start::assembly_part(settings.assembly, &assembled.report),
        assembly_errors,
        method: method.text(),
        why: method.why.clone(),
        notes: Vec::new(),
    };
    report.notes = notes(&report);
    Ok(report)
}

fn notes(r: &CheckReport) -> Vec<String> {
    let mut notes = Vec::new();
    let redundant = r.constraints.redundant.unwrap_or(0);
    if let (Some(dof), true) = (r.dof, redundant > 0) {
        notes.push(format!(
            "overconstrained: counting says mobility {}, the rank says {dof}; {redundant} of {} rows are redundant",
            r.counted_mobility, r.constraints.rows
        ));
    }
    match r.redundancy {
        Some(Redundancy::Structural) => notes.push(
            "the redundancy is structural: the motion is unique, but how the reactions share the load in the groups \
             above is not (minimum-norm values are reported)"
                .into(),
        ),
        Some(Redundancy::Momentary) => notes.push(
            "the redundancy is momentary: this is a singular position, in which the mechanism may go on in more than \
             one way"
                .into(),
        ),
        None => {}
    }
    if r.dof == Some(0) {
        notes.push("the mechanism cannot move: its constraints leave no freedom".into());
    }
    if let Some(margin) = r.constraints.rank_margin.filter(|m| *m < 100.0) {
        notes.push(format!("the rank is uncertain: a tolerance {margin:.1} times different would change it"));
    }
    notes
}

/// ‖Φ‖ of the elements that are not satisfied, the worst first.
fn element_errors(system: &System, eq: &Equations) -> Vec<ElementError> {
    /// Positions are written with rounding; below this they are as meant.
    const MEANT: f64 = 1e-9;
    let mut errors: Vec<ElementError> = system
        .structure
        .rows
        .iter()
        .zip(&system.elements)
        .map(|(row, element)| {
            let phi = &eq.phi[row.start..][..row.holonomic];
            let error = phi.iter().map(|x| x * x).sum::<f64>().sqrt();
            ElementError { name: format!("{} `{}`", element.family.name(), element.name), error }
        })
        .filter(|e| !(e.error <= MEANT))
        .collect();
    errors.sort_by(|a, b| b.error.total_cmp(&a.error));
    errors
}

/// Whether the rank at `state` is also the rank nearby: moves the mechanism a little along its freedoms, back onto the
/// constraints, and counts again. None where it cannot be moved.
fn tell_apart(
    mechanism: &mut Mechanism,
    state: &State,
    d: &Singular,
) -> Result<Option<Redundancy>, SetupError> {
    /// Size of the excursion, in mass-weighted units of the null vectors relative to their largest velocity.
    const EXCURSION: f64 = 1e-2;
    let system = mechanism.system().clone();
    let s = &system.structure;
    let free = d.right_null();
    if free.is_empty() || s.nc == 0 {
        return Ok(None);
    }
    // a combination without pattern, the same every time
    let mut direction = vec![0.0; s.nv];
    for (k, v) in free.iter().enumerate() {
        let weight = 0.5 + ((k as f64 + 1.0) * 0.618_033_988_749_894_9).fract();
        direction.iter_mut().zip(v).for_each(|(d, v)| *d += weight * v);
    }
    let mut eq = Equations::new(mechanism);
    let velocity = unscale(s, &eq, &direction);
    let largest = velocity.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    if largest == 0.0 {
        return Ok(None);
    }
    let delta: Vec<f64> = velocity.iter().map(|v| v * EXCURSION / largest).collect();
    let mut moved = state.clone();
    mechanism.retract(&mut moved.q, &delta);

    // Newton with the pseudo-inverse, back onto the constraints
    for _ in 0..20 {
        mechanism.update(&moved, Stage::POSITION, &mut eq);
        let step = back(s, &eq)?;
        mechanism.retract(&mut moved.q, &step);
        if step.iter().all(|x| x.abs() < 1e-13) {
            break;
        }
    }
    mechanism.update(&moved, Stage::POSITION, &mut eq);
    let left: f64 = s.holonomic_rows().flat_map(|r| eq.phi[r].iter()).map(|x| x * x).sum::<f64>().sqrt();
    if !(left < 1e-9) {
        return Ok(None);
    }
    // a mechanism that was pulled back to where it was tells nothing
    let mut way = vec![0.0; s.nv];
    mechanism.difference(&moved.q, &state.q, &mut way);
    if way.iter().all(|x| x.abs() < 1e-3 * EXCURSION) {
        return Ok(None);
    }
    let there = crate::rank::constraint_rank(s, &eq)?;
    Ok(Some(if there.rank > d.rank.rank { Redundancy::Momentary } else { Redundancy::Structural }))
}

/// C y: velocities from mass-weighted ones.
fn unscale(s: &Structure, eq: &Equations, y: &[f64]) -> Vec<f64> {
    let mut v = vec![0.0; s.nv];
    for col in &s.cols {
        let n = col.size;
        let C = crate::rank::cholesky(&eq.minv[col.mass..][..n * n], n);
        for i in 0..n {
            v[col.start + i] = (0..=i).map(|k| C[i * n + k] * y[col.start + k]).sum();
        }
    }
    v
}

/// The least mass-weighted step that takes Φ to zero, to first order.
fn back(s: &Structure, eq: &Equations) -> Result<Vec<f64>, SetupError> {
    let (A, lengths) = crate::rank::scaled_rows(s, eq);
    let d = sarrus_math::solve::singular(&A, s.nc, s.nv, Some(crate::rank::TOLERANCE))?;
    let mut y = vec![0.0; s.nv];
    for k in 0..d.rank.rank {
        let mut along = 0.0;
        for row in s.holonomic_rows().flatten() {
            if lengths[row] > 0.0 {
                along += d.left[k][row] * eq.phi[row] / lengths[row];
            }
        }
        let amount = -along / d.rank.sigma[k];
        y.iter_mut().zip(&d.right[k]).for_each(|(y, v)| *y += amount * v);
    }
    Ok(unscale(s, eq, &y))
}
