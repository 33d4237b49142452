//! Many variants of a model at once: eight in the lanes of a vector, lanes on all cores.
//!
//! Variants have the same bodies, rows and loads, with other numbers and another start. They step together by an explicit method of fixed size, with
//! projection, in the operations of [`tables`](crate::tables): what a variant gives does not depend on who is in the other lanes, nor on
//! how many cores there are, to the bit. One that needs more (a singular position near, rows that depend on others) leaves: it continues alone from the state
//! before that step, by the general path, and the others do not notice. Variants that have no tables, or not those of their
//! neighbours, go alone from the start.
//!
//! Cost: what eight lanes take over one depends on the machine: with AVX-512 little, with AVX2 less than twice.

mod batch;
mod scalar_fallback;

use crate::control::last_steps;
use crate::error::{MethodError, SolveError, StepError};
use crate::integrators::tableaux::{RK4, Tableau};
use crate::problem::{Problem, State};
use crate::singularity::Regularize;
use crate::tables::Description;
use batch::{Batch, BatchStart};
use rayon::prelude::*;
use sarrus_math::lane::{Kernel, dispatch};

/// Variants in the lanes of one vector.
pub const LANES: usize = 8;

/// A variant: its equations, and where it starts, on its constraints.
pub struct Variant {
    /// The equations.
    pub problem: Box<dyn Problem + Send>,
    /// The start.
    pub start: State,
}

/// Describes how time is stepped: an explicit method with steps of one size.
#[derive(Debug, Clone, Copy)]
pub struct FixedStep {
    tableau: &'static Tableau,
    /// Size of a step \[s\].
    pub step: f64,
    /// Marks where it ends \[s\]; the last step is shorter where whole ones do not end there.
    pub t_end: f64,
    /// True if states are brought onto the constraints after each step.
    pub projects: bool,
    /// Describes how variants that have left pass singular positions.
    pub regularize: Regularize,
    /// Steps between two calls of the observer; zero for none but the last.
    pub every: u64,
}

impl FixedStep {
    /// Steps of `rk4`, with projection; none where the step is not positive.
    pub fn rk4(step: f64, t_end: f64) -> Option<FixedStep> {
        let good = step.is_finite() && step > 0.0 && t_end.is_finite();
        let regularize = Regularize::default();
        good.then_some(FixedStep { tableau: &RK4, step, t_end, projects: true, regularize, every: 0 })
    }

    /// The end of step number `n` from `start`.
    fn end(&self, start: f64, n: u64) -> f64 {
        let at = |n: u64| start + n as f64 * self.step;
        last_steps(at(n), at(n + 1), self.step, self.t_end)
    }
}

/// Describes how a variant came out.
#[derive(Debug, Clone)]
pub struct VariantOutcome {
    /// The last state.
    pub state: State,
    /// Time when it left its lane to continue alone \[s\], if it did.
    pub left: Option<f64>,
    /// Reason why it did not reach the end, if it did not.
    pub error: Option<Stopped>,
}

/// Reason why a variant did not reach the end.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Stopped {
    /// Its method cannot be made.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// Its equations cannot be analysed.
    #[error(transparent)]
    Setup(#[from] SolveError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Object that receives states on the way: number of the variant, and its state.
pub type VariantWatch<'a> = &'a (dyn Fn(usize, &State) + Sync);

/// Steps all members to the end, in lanes of [`LANES`] and on the threads of the current pool. Outcomes are in the order of the members.
pub fn run(members: Vec<Variant>, method: &FixedStep, watch: VariantWatch<'_>) -> Vec<VariantOutcome> {
    run_in(members, method, watch, LANES)
}

/// The same in lanes of `width`: one, or [`LANES`].
pub fn run_in(
    mut members: Vec<Variant>,
    method: &FixedStep,
    watch: VariantWatch<'_>,
    width: usize,
) -> Vec<VariantOutcome> {
    let width = if width == 1 { 1 } else { LANES };
    let crews = members.par_chunks_mut(width).enumerate();
    crews.flat_map_iter(|(i, batch)| together(batch, i * width, method, watch, width)).collect()
}

/// Steps the members of one vector.
fn together(
    variants: &mut [Variant],
    first: usize,
    method: &FixedStep,
    watch: VariantWatch<'_>,
    width: usize,
) -> Vec<VariantOutcome> {
    let records: Vec<Option<Description>> = variants.iter().map(|m| m.problem.description()).collect();
    match lanes(variants, &records, method, width) {
        Some(batch) => step_together(variants, batch, first, method, watch),
        // not alike: each in a vector of its own
        None if width > 1 => {
            let one = |(i, member)| together(std::slice::from_mut(member), first + i, method, watch, 1);
            variants.iter_mut().enumerate().flat_map(one).collect()
        }
        None => variants
            .iter_mut()
            .enumerate()
            .map(|(i, member)| scalar_fallback::run_scalar(member, first + i, method, watch))
            .collect(),
    }
}

/// Lanes for all of a batch; one that is too small is filled up with copies of its last member.
fn lanes(
    lane_variants: &[Variant],
    records: &[Option<Description>],
    method: &FixedStep,
    width: usize,
) -> Option<Box<dyn Batch>> {
    let mut variants: Vec<&Description> = Vec::with_capacity(width);
    for i in 0..width {
        let model = records[i.min(lane_variants.len() - 1)].as_ref()?;
        variants.push(model);
    }
    let knows = variants.iter().all(|model| model.loads.is_some());
    let together =
        lane_variants.iter().all(|m| m.start.t == lane_variants[0].start.t && m.start.x.len() == 2);
    let plain = |p: &dyn Problem| p.frictions() == 0 && p.reactive_forces() == 0 && !p.is_pushed();
    let plain = lane_variants.iter().all(|m| plain(&*m.problem));
    if !(knows && together && plain) {
        return None;
    }
    let start = BatchStart { variants: &variants, method };
    let mut batch = if width == 1 { start.run::<f64>()? } else { dispatch(start)? };
    for i in 0..width {
        batch.set(i, &lane_variants[i.min(lane_variants.len() - 1)].start);
    }
    Some(batch)
}

fn step_together(
    variants: &mut [Variant],
    mut batch: Box<dyn Batch>,
    first: usize,
    method: &FixedStep,
    watch: VariantWatch<'_>,
) -> Vec<VariantOutcome> {
    let t0 = variants[0].start.t;
    let mut outcomes: Vec<Option<VariantOutcome>> = vec![None; variants.len()];
    let mut state = variants[0].start.clone();
    let mut t = t0;
    for n in 0.. {
        let Some(other) = outcomes.iter().position(Option::is_none).filter(|_| t < method.t_end) else {
            break;
        };
        t = method.end(t0, n);
        let good = batch.step(t);
        let stays =
            |outcomes: &[Option<VariantOutcome>], i: usize| outcomes[i].is_none() && good >> i & 1 == 1;
        let guide = (other..variants.len()).find(|&i| stays(&outcomes, i));
        for i in 0..variants.len() {
            if outcomes[i].is_none() && !stays(&outcomes, i) {
                batch.get(i, &mut state);
                variants[i].start.copy_from(&state);
                let left = Some(state.t);
                outcomes[i] = Some(VariantOutcome {
                    left,
                    ..scalar_fallback::continue_scalar(&mut variants[i], first + i, n, method, watch)
                });
                // a lane that no one uses follows one that is used
                guide.into_iter().for_each(|guide| batch.cover(i, guide));
            }
        }
        if guide.is_none() {
            break;
        }
        batch.accept();
        if method.every > 0 && t < method.t_end && (n + 1u64).is_multiple_of(method.every) {
            for i in (0..variants.len()).filter(|&i| outcomes[i].is_none()) {
                batch.get(i, &mut state);
                watch(first + i, &state);
            }
        }
    }
    let mut outcomes = outcomes.into_iter().enumerate();
    let mut finish = |(i, outcome): (usize, Option<VariantOutcome>)| {
        outcome.unwrap_or_else(|| {
            batch.get(i, &mut state);
            watch(first + i, &state);
            VariantOutcome { state: state.clone(), left: None, error: None }
        })
    };
    outcomes.by_ref().map(&mut finish).collect()
}
