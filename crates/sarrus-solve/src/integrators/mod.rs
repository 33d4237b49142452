//! Integrators: how a state is advanced in time. Every kind stands in [`KINDS`]; [`integrate`] is the loop around
//! all of them.

mod abm;
mod between;
mod dense;
mod drive;
mod explicit_rk;
pub mod implicit;
mod in_chart;
mod park1987;
mod staggered;
pub mod tableaux;

pub use abm::Abm;
pub use drive::{Because, Change, Ended, Observer, Proceed, Samples, TakenStep, continue_drive, integrate};
pub use explicit_rk::ExplicitRk;
pub use in_chart::InChart;
pub use park1987::Park1987;
pub use staggered::{StaggeredForm, StaggeredMethod};

use crate::error::MethodError;
use crate::options::{OptionDoc, Options};
use crate::views::{Integrator, MethodView};
use explicit_rk::ADAPTIVE_OPTIONS;
use implicit::{bdf, linear_euler, newmark, radau5};
use tableaux::{DOP853, EULER, RK4, RK23, RK45, Tableau};

/// An integrator that can be asked for by name.
#[derive(Debug, Clone, Copy)]
pub struct IntegratorKind {
    /// Name on the command line and in model files.
    pub name: &'static str,
    /// One line for `sarrus list`.
    pub doc: &'static str,
    /// Order of convergence; the highest of a method of variable order.
    pub order: u32,
    /// The lowest order; less than `order` where the method chooses it as it goes.
    pub least_order: u32,
    /// True if it chooses its steps from the tolerances.
    pub adaptive: bool,
    /// Holds what it must be shown of a problem.
    pub view: MethodView,
    /// Options that it knows.
    pub options: &'static [OptionDoc],
    /// Makes one.
    pub new: fn(&Options) -> Result<Integrator, MethodError>,
}

/// Every kind, in the order that `sarrus list integrators` prints.
pub static KINDS: &[IntegratorKind] = &[
    IntegratorKind {
        name: "euler",
        doc: "explicit Euler, fixed step; a baseline, not for use",
        order: 1,
        least_order: 1,
        adaptive: false,
        view: MethodView::Ode,
        options: &[],
        new: |o| runge_kutta("euler", &EULER, o),
    },
    IntegratorKind {
        name: "rk4",
        doc: "classical Runge-Kutta, fixed step",
        order: 4,
        least_order: 4,
        adaptive: false,
        view: MethodView::Ode,
        options: &[],
        new: |o| runge_kutta("rk4", &RK4, o),
    },
    IntegratorKind {
        name: "rk23",
        doc: "Bogacki-Shampine 3(2), adaptive; for loose tolerances and rough forces",
        order: 3,
        least_order: 3,
        adaptive: true,
        view: MethodView::Ode,
        options: ADAPTIVE_OPTIONS,
        new: |o| runge_kutta("rk23", &RK23, o),
    },
    IntegratorKind {
        name: "rk45",
        doc: "Dormand-Prince 5(4), adaptive; for tolerances of about 1e-4 to 1e-7",
        order: 5,
        least_order: 5,
        adaptive: true,
        view: MethodView::Ode,
        options: ADAPTIVE_OPTIONS,
        new: |o| runge_kutta("rk45", &RK45, o),
    },
    IntegratorKind {
        name: "dop853",
        doc: "Dormand-Prince 8(5,3), adaptive; for tight tolerances",
        order: 8,
        least_order: 8,
        adaptive: true,
        view: MethodView::Ode,
        options: ADAPTIVE_OPTIONS,
        new: |o| runge_kutta("dop853", &DOP853, o),
    },
    IntegratorKind {
        name: "abm",
        doc: "Adams-Bashforth-Moulton, adaptive in step and order; for tight tolerances and costly, smooth forces",
        order: 12,
        least_order: 1,
        adaptive: true,
        view: MethodView::Ode,
        options: abm::OPTIONS,
        new: |o| Ok(Integrator::Ode(Box::new(Abm::from_options(o)?))),
    },
    IntegratorKind {
        name: "staggered",
        doc: "motion and multipliers in turn, fixed step; bounded energy and violation over long runs",
        order: 2,
        least_order: 2,
        adaptive: false,
        view: MethodView::Staggered,
        options: staggered::options::OPTIONS,
        new: |o| Ok(Integrator::Staggered(Box::new(StaggeredMethod::from_options(o)?))),
    },
    IntegratorKind {
        name: "park1987",
        doc: "nonlinearly implicit Euler parameters with multipliers in turn, fixed step; to compare with",
        order: 2,
        least_order: 1,
        adaptive: false,
        view: MethodView::Staggered,
        options: park1987::OPTIONS,
        new: |o| Ok(Integrator::Staggered(Box::new(Park1987::from_options(o)?))),
    },
    second_order(
        "trapezoidal",
        "trapezoidal rule, motion and multipliers at once, fixed step; no damping",
        newmark::TRAPEZOIDAL,
        |o| newmark::from_options("trapezoidal", o),
    ),
    second_order(
        "generalized_alpha",
        "generalized-alpha, implicit, fixed step; for stiff and flexible members",
        newmark::GENERALIZED_ALPHA,
        |o| newmark::from_options("generalized_alpha", o),
    ),
    second_order(
        "hht",
        "Hilber-Hughes-Taylor, implicit, fixed step; for stiff and flexible members",
        newmark::HHT,
        |o| newmark::from_options("hht", o),
    ),
    second_order(
        "newmark",
        "Newmark's method, implicit, fixed step; no damping as it comes",
        newmark::NEWMARK,
        |o| newmark::from_options("newmark", o),
    ),
    IntegratorKind {
        name: "bdf",
        doc: "backward differentiation, adaptive in step and order; for stiff and damped systems",
        order: 5,
        least_order: 1,
        adaptive: true,
        view: MethodView::Implicit,
        options: bdf::OPTIONS,
        new: bdf::from_options,
    },
    IntegratorKind {
        name: "radau5",
        doc: "Radau IIA, implicit, adaptive; for stiff systems at tight tolerances",
        order: 5,
        least_order: 5,
        adaptive: true,
        view: MethodView::Implicit,
        options: radau5::OPTIONS,
        new: radau5::from_options,
    },
    IntegratorKind {
        name: "linearly_implicit_euler",
        doc: "implicit Euler, one iteration and a projection a step, fixed step; for real time",
        order: 1,
        least_order: 1,
        adaptive: false,
        view: MethodView::Implicit,
        options: linear_euler::OPTIONS,
        new: linear_euler::from_options,
    },
];

/// An implicit method of second order, fixed step unless asked otherwise.
const fn second_order(
    name: &'static str,
    doc: &'static str,
    options: &'static [OptionDoc],
    new: fn(&Options) -> Result<Integrator, MethodError>,
) -> IntegratorKind {
    IntegratorKind {
        name,
        doc,
        order: 2,
        least_order: 2,
        adaptive: false,
        view: MethodView::Implicit,
        options,
        new,
    }
}

fn runge_kutta(
    kind: &'static str,
    tableau: &'static Tableau,
    options: &Options,
) -> Result<Integrator, MethodError> {
    Ok(Integrator::Ode(Box::new(ExplicitRk::from_options(kind, tableau, options)?)))
}

/// The kind called `name`.
pub fn find(name: &str) -> Result<&'static IntegratorKind, MethodError> {
    KINDS.iter().find(|k| k.name == name).ok_or_else(|| MethodError::UnknownKind {
        family: "integrator",
        name: name.to_string(),
        known: KINDS.iter().map(|k| k.name).collect(),
    })
}
