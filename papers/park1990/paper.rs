//! Park, Chiou and Downer (1990): the staggered procedure, on a deployment with lock-up, a spatial double pendulum and a flexible crane.
//!
//! No data is printed, so numbers of the paper are searched for: the deployment is run by the paper's own difference equations, over
//! steps, parameters and ways to write a lock, to see where its iteration counts and its failure appear. The library's runs
//! stand beside it.

#[path = "crane.rs"]
mod crane;
#[path = "crane_claims.rs"]
mod crane_claims;
#[path = "crane_figures.rs"]
mod crane_figures;
#[path = "crane_tables.rs"]
mod crane_tables;
#[path = "deployment.rs"]
mod deployment;
#[path = "figures.rs"]
mod figures;
#[path = "iteration_claims.rs"]
mod iteration_claims;
#[path = "iterations.rs"]
mod iterations;
#[path = "pendulum.rs"]
mod pendulum;
#[path = "pendulum_claims.rs"]
mod pendulum_claims;
#[path = "reference.rs"]
mod reference;
#[path = "spectrum.rs"]
mod spectrum;
#[path = "steps.rs"]
mod steps;
#[path = "unfold.rs"]
mod unfold;

use crate::claim::{PaperError, Reproduction};
use crate::runs::Tally;
use crate::{Effort, Paper, Progress};
use crane::Way;

pub const PAPER: Paper = Paper {
    name: "park1990",
    title: "K. C. Park, J. C. Chiou, J. D. Downer (1990): Staggered solution procedures for multibody dynamics \
            simulation",
    scope: "the deployment with lock-up, the spatial double pendulum and the flexible manipulator of section VI: figures 1, 2 and \
            4 to 8",
    run: reproduce,
};

/// How much of each part.
struct Slice {
    /// Steps of the table of iterations \[s\].
    scan: &'static [f64],
    /// Accuracies of the deployment.
    accuracies: usize,
    /// Steps of the table of errors \[s\].
    steps: &'static [f64],
    samples: &'static [usize],
    /// End of long runs \[s\].
    t_long: f64,
    crane: crane::Slice,
}

const FULL: Slice = Slice {
    scan: &[0.001, 0.002, 0.005, 0.01, 0.02, 0.05],
    accuracies: 3,
    steps: &[0.02, 0.01, 0.005, 0.0025, 0.00125],
    samples: &pendulum::SAMPLES,
    t_long: 400.0,
    crane: crane::Slice {
        flexible: &[
            Way::Tolerance("dop853", 1e-9),
            Way::Tolerance("radau5", 1e-6),
            Way::Tolerance("bdf", 1e-6),
            Way::Step("trapezoidal", 1e-3),
            Way::Step("trapezoidal", 2e-4),
            Way::Step("trapezoidal", 1e-4),
            Way::Step("trapezoidal", 5e-5),
            Way::Step("generalized_alpha", 1e-3),
            Way::Step("generalized_alpha", 2e-4),
            Way::Step("generalized_alpha", 1e-4),
            Way::Step("generalized_alpha", 5e-5),
            Way::Step("hht", 1e-4),
            Way::Step("staggered", 2e-4),
            Way::Step("staggered", 1e-4),
            Way::Step("staggered", 5e-5),
            Way::Step("staggered:form=paper", 1e-4),
            Way::Step("staggered:form=one_step", 1e-4),
        ],
        rigid: &[
            Way::Tolerance("dop853", 1e-10),
            Way::Tolerance("radau5", 1e-10),
            Way::Tolerance("bdf", 1e-9),
            Way::Step("trapezoidal", 2e-4),
            Way::Step("generalized_alpha", 2e-4),
            Way::Step("staggered", 2e-4),
            Way::Step("staggered:form=paper", 2e-4),
        ],
        t_end: 3.0,
        record: 6.0,
    },
};
const QUICK: Slice = Slice {
    scan: &[0.02],
    accuracies: 1,
    steps: &[0.01, 0.005],
    samples: &[10, 20],
    t_long: 150.0,
    crane: crane::Slice {
        flexible: &[
            Way::Tolerance("dop853", 1e-9),
            Way::Tolerance("radau5", 1e-4),
            Way::Step("trapezoidal", 1e-4),
            Way::Step("staggered", 1e-4),
            Way::Step("staggered:form=paper", 1e-4),
        ],
        rigid: &[
            Way::Tolerance("dop853", 1e-10),
            Way::Tolerance("radau5", 1e-10),
            Way::Step("trapezoidal", 2e-4),
            Way::Step("staggered", 2e-4),
        ],
        t_end: 0.5,
        record: 3.0,
    },
};

fn reproduce(effort: Effort, progress: &mut dyn Progress) -> Result<Reproduction, PaperError> {
    let slice = if effort == Effort::Full { FULL } else { QUICK };
    let total = 2 * (4 + 2 * slice.accuracies) + 7 + 1 + pendulum::FORMS.len() * (slice.samples.len() + 2);
    let total = total + slice.crane.flexible.len() + slice.crane.rigid.len() + 4;
    let mut tally = Tally { done: 0, total, progress };
    let locked = deployment::runs(slice.accuracies, &mut tally)?;
    let counted = iterations::runs(slice.scan, &mut tally)?;
    let swung = pendulum::runs(slice.steps, slice.samples, slice.t_long, &mut tally)?;
    let led = crane::runs(&slice.crane, &mut tally)?;
    let mut all = deployment::claims(&locked);
    all.extend(iteration_claims::claims(&counted));
    all.extend(pendulum_claims::claims(&swung));
    all.extend(crane_claims::claims(&led));
    let mut figures = figures::all(&locked, &counted, &swung);
    figures.extend(crane_figures::all(&led));
    let mut tables = vec![deployment::table(&locked)];
    tables.extend(counted.tables);
    tables.extend([pendulum::orders_table(&swung), pendulum::samples_table(&swung)]);
    tables.extend([crane_tables::methods(&led), crane_tables::frequencies(&led)]);
    Ok(Reproduction {
        name: PAPER.name.into(),
        title: PAPER.title.into(),
        claims: all,
        unsaid: pendulum_claims::unsaid().into_iter().chain(crane_claims::unsaid()).collect(),
        tables,
        figures,
    })
}
