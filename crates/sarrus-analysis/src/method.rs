//! Describes which formulation, stabilization and integrator a run takes, and why.
//!
//! What the settings name is taken, after the registry has agreed to the name and its options. What they leave to
//! `auto` is chosen from a few facts about the model, and every choice comes with its reason:
//!
//! | part | chosen | when |
//! |---|---|---|
//! | formulation | `proximal` | always: exact for full rank, and the one that does not care when rank is lost on the way |
//! | stabilization | `none` | no constraint rows nor rigid contacts, or a formulation that makes its forces from the violation |
//! | | `projection` | otherwise: drift is removed to roundoff at the cost of about one more solve a step |
//! | integrator | `rk4` | a step is given and no tolerance |
//! | | `rk23` | rtol above 1e-3 |
//! | | `rk45` | rtol above 1e-5 |
//! | | `dop853` | otherwise |
//!
//! Where a model has beams, and nothing is named: `radau5`, or `generalized_alpha` where a step is given and no tolerance, unless
//! friction of rigid contacts or `amirouche` needs an explicit one.
//!
//! In joint coordinates a tree without further constraints needs neither formulation nor stabilization: what is left to
//! `auto` becomes `articulated_body`, and the two serve the results, and what events may add.
//!
//! An integrator that takes motion and multipliers in turn resolves the constraints itself: a formulation or stabilization
//! named with it is refused. Between its steps, where states are interpolated, results are brought onto the constraints by
//! `projection`; their accelerations and reactions are those of the equations of motion there, found as `auto` would.
//!
//! A step that time cannot resolve is refused: t + h = t would never end.

use crate::error::SetupError;
use crate::memory;
use crate::report::MethodReport;
use crate::settings::Settings;
use sarrus_model::Span;
use sarrus_model::settings::{Coordinates, MethodChoice, Regularization, WrittenOption};
use sarrus_solve::formulations::{self, Formulation};
use sarrus_solve::integrators;
use sarrus_solve::stabilizations::{self, Stabilization};
use sarrus_solve::{
    Dynamics, Integrator, MethodError, MethodView, Options, Problem, Regularize, SolveError, StepMode,
};
use sarrus_system::System;

/// Memory of a dense method for n unknowns, over n² [bytes]: some three matrices of all of them.
const DENSE: f64 = 24.0;

/// Defines what accelerations are found by where the coordinates of a tree satisfy every constraint.
const ARTICULATED: &str = "articulated_body";

/// Largest relative tolerance of the steps that lead methods which resolve the constraints themselves past singular positions: few, and a near
/// miss takes tight ones.
const LED: f64 = 1e-10;

/// Defines what the bodies of beams are called.
const NODE: &str = "node";

/// Unknowns beyond which a dense method is worth a word.
const SLOW: usize = 1000;

/// Steps beyond which a run is worth a word.
const MANY_STEPS: f64 = 1e12;

/// Holds what is known of a model when its method is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelFacts {
    /// Velocities.
    pub nv: usize,
    /// Constraint rows.
    pub rows: usize,
    /// True if rows may begin to act later: rigid contacts and limits, locks, disabled elements.
    pub gains_rows: bool,
    /// Their rank at the start, where it is known.
    pub rank: Option<usize>,
    /// True if it has members that bend by elements.
    pub bends: bool,
    /// True if friction depends on what rigid contacts bear.
    pub slides: bool,
}

impl ModelFacts {
    /// Facts of a system, with the rank of its constraints where it is known.
    pub fn new(system: &System, rank: Option<usize>) -> ModelFacts {
        let s = &system.structure;
        let all = &system.all;
        let switched = !all.events.lockable.is_empty() || all.enabled.contains(&false);
        let rigid = || system.contacts.iter().any(|entry| entry.contact.rigid.is_some());
        ModelFacts {
            nv: s.nv,
            rows: s.nc,
            gains_rows: switched || !all.events.limits.is_empty() || rigid(),
            rank,
            bends: system.directory.flexible.iter().any(|member| member.part == NODE),
            slides: system.contacts.iter().any(|e| e.contact.rigid.as_ref().is_some_and(|r| r.mu > 0.0)),
        }
    }
}

/// A part of a method by name, with its options.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodPart {
    /// Name in its registry.
    pub name: String,
    /// Options as given.
    pub options: Options,
}

impl MethodPart {
    /// As the command line writes it: `baumgarte:alpha=5,beta=5`.
    pub fn text(&self) -> String {
        let options: Vec<String> =
            self.options.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
        if options.is_empty() { self.name.clone() } else { format!("{}:{}", self.name, options.join(",")) }
    }

    /// As settings name it.
    pub fn choice(&self) -> MethodChoice {
        let options = self.options.iter().map(|(name, value)| {
            let value = match value {
                sarrus_solve::OptionValue::Number(x) => WrittenOption::Number(*x),
                sarrus_solve::OptionValue::Text(s) => WrittenOption::Name(s.clone()),
            };
            (name.to_string(), value)
        });
        MethodChoice { kind: self.name.clone(), options: options.collect(), span: Span::NONE }
    }
}

fn plain(value: &sarrus_solve::OptionValue) -> String {
    match value {
        sarrus_solve::OptionValue::Number(x) => x.to_string(),
        sarrus_solve::OptionValue::Text(s) => s.clone(),
    }
}

/// A method, checked and ready to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// Describes how accelerations are found.
    pub formulation: MethodPart,
    /// Describes how drift is removed.
    pub stabilization: MethodPart,
    /// Describes how time is stepped.
    pub integrator: MethodPart,
    /// Describes how singular positions are passed.
    pub regularize: Regularize,
    /// True if the integrator chooses its steps from the tolerances.
    pub adaptive: bool,
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance.
    pub atol: f64,
    /// Step \[s\].
    pub step: Option<f64>,
    /// One reason per part that was left to the program.
    pub why: Vec<String>,
    /// Holds what the reader should know: settings without effect and the like.
    pub notes: Vec<String>,
    /// Holds what the integrator needs; where it resolves the constraints itself, the formulation only serves the results.
    pub view: MethodView,
    /// Coordinates that time is stepped in.
    pub coordinates: Coordinates,
    /// True if accelerations come from the tree where that satisfies every constraint.
    pub articulated: bool,
}

impl Method {
    /// Takes what `settings` name and chooses the rest from `facts`.
    pub fn resolve(settings: &Settings, facts: &ModelFacts) -> Result<Method, SetupError> {
        resolvable(settings)?;
        if let Some(own) = own_constraints(settings)? {
            return Ok(own);
        }
        if let Some(own) = stiff(settings, facts)? {
            return Ok(own);
        }
        let coordinates = settings.coordinates;
        let mut why = Vec::new();
        let mut choose = |asked: &Option<MethodChoice>, auto: (&'static str, String)| match asked {
            None => {
                why.push(auto.1);
                Ok((auto.0.to_string(), Options::new(), Span::NONE))
            }
            Some(c) if c.kind == "auto" => Err(SetupError::AutoWithOptions { at: c.span }),
            Some(c) => Ok((c.kind.clone(), options(c), c.span)),
        };
        let formulation = choose(&settings.formulation, auto_formulation(facts))?;
        let lives_on_violation =
            formulations::find(&formulation.0).is_ok_and(|f| f.needs.violation).then_some(&*formulation.0);
        let stabilization = choose(&settings.stabilization, auto_stabilization(facts, lives_on_violation))?;
        let integrator = choose(&settings.integrator, auto_integrator(settings, facts))?;

        // the registries agree to names and options
        let at = |at: Span| move |source: MethodError| SetupError::Method { source, at };
        let f = formulations::find(&formulation.0).map_err(at(formulation.2))?;
        formulations::make(f.name, &formulation.1).map_err(at(formulation.2))?;
        stabilizations::make(&stabilization.0, &stabilization.1).map_err(at(stabilization.2))?;
        let i = integrators::find(&integrator.0).map_err(at(integrator.2))?;
        (i.new)(&integrator.1).map_err(at(integrator.2))?;
        least_step(settings, i.name, &integrator.1).map_err(at(integrator.2))?;

        // methods that the model is too large for
        let st = stabilizations::find(&stabilization.0).map_err(at(stabilization.2))?;
        let dense = [(f.name, f.needs.dense, formulation.2), (st.name, st.dense, stabilization.2)];
        let unknowns = facts.nv + facts.rows;
        let bytes = DENSE * (unknowns as f64).powi(2);
        if let Some(&(kind, _, at)) = dense.iter().find(|d| d.1)
            && bytes > memory::available()
        {
            return Err(SetupError::TooDense { kind, unknowns, bytes, at });
        }

        // mixes that cannot work
        if let (true, Some(rank)) = (f.needs.full_rank, facts.rank.filter(|rank| *rank < facts.rows)) {
            let at = formulation.2;
            return Err(SetupError::NotIndependent { formulation: f.name, rows: facts.rows, rank, at });
        }
        if f.needs.violation && facts.rows > 0 && stabilization.0 != "none" {
            let (formulation, at) = (f.name, stabilization.2);
            return Err(SetupError::NeedsViolation { formulation, stabilization: stabilization.0, at });
        }
        if f.needs.violation && coordinates == Coordinates::Joint {
            let what = format!("formulation `{}`, which makes its forces from the violation", f.name);
            let hint = "joints of the tree are never violated: take another formulation";
            return Err(SetupError::JointCoordinates { what, hint, at: formulation.2 });
        }
        Ok(Method {
            formulation: MethodPart { name: formulation.0, options: formulation.1 },
            stabilization: MethodPart { name: stabilization.0, options: stabilization.1 },
            integrator: MethodPart { name: integrator.0, options: integrator.1 },
            // forces made from the violation know nothing of rank
            regularize: if f.needs.violation { Regularize::Off } else { regularize(settings) },
            adaptive: i.adaptive,
            rtol: settings.rtol,
            atol: settings.atol,
            step: settings.step,
            why,
            notes: [notes(settings, i.name, i.adaptive), slow(&dense, unknowns)].concat(),
            view: i.view,
            coordinates,
            articulated: false,
        })
    }

    /// Takes note that the coordinates of the tree satisfy every constraint: what `settings` left to the program is not needed.
    pub(crate) fn set_tree(&mut self, settings: &Settings) {
        if settings.formulation.is_some() || settings.stabilization.is_some() {
            return;
        }
        self.articulated = true;
        self.why.drain(..2);
        self.why.insert(0, "the joints make a tree, on which nothing drifts".into());
        self.notes
            .push(format!("accelerations and reactions shown are found by `{}`", self.formulation.name));
    }

    /// Makes the formulation.
    pub fn new_formulation(&self) -> Result<Box<dyn Formulation>, MethodError> {
        formulations::make(&self.formulation.name, &self.formulation.options)
    }

    /// Makes the stabilization. For an integrator that resolves the constraints itself, which never asks it, that is what
    /// brings interpolated states onto them.
    pub fn new_stabilization(&self) -> Result<Box<dyn Stabilization>, MethodError> {
        let mut made = match self.view {
            MethodView::Staggered | MethodView::Implicit => {
                stabilizations::make("projection", &Options::new())?
            }
            _ => stabilizations::make(&self.stabilization.name, &self.stabilization.options)?,
        };
        made.set_tolerance(self.rtol, self.atol);
        Ok(made)
    }

    /// Makes the integrator.
    pub fn new_integrator(&self) -> Result<Integrator, MethodError> {
        (integrators::find(&self.integrator.name)?.new)(&self.integrator.options)
    }

    /// Lets `dynamics` pass singular positions.
    pub fn regularize<P: Problem + ?Sized>(&self, dynamics: &mut Dynamics<'_, P>) -> Result<(), SolveError> {
        let steps = match self.view {
            MethodView::Staggered | MethodView::Implicit => StepMode::Chosen(self.rtol.min(LED)),
            MethodView::Ode if self.adaptive => StepMode::Chosen(self.rtol),
            MethodView::Ode => StepMode::Fixed,
        };
        dynamics.regularize(self.regularize, steps)
    }

    /// `proximal + projection + dop853`, or the integrator alone where it resolves the constraints itself.
    pub fn text(&self) -> String {
        if self.view.resolves_constraints() {
            return self.integrator.text();
        }
        let integrator = match self.coordinates {
            Coordinates::Absolute => self.integrator.text(),
            Coordinates::Joint => format!("{} in joint coordinates", self.integrator.text()),
        };
        if self.articulated {
            return format!("{ARTICULATED} + {integrator}");
        }
        format!("{} + {} + {integrator}", self.formulation.text(), self.stabilization.text())
    }

    /// `auto -> proximal + projection + dop853 because ...`, or without `auto` where nothing was left to it.
    pub fn announcement(&self) -> String {
        if self.why.is_empty() {
            return self.text();
        }
        format!("auto -> {} because {}", self.text(), self.why.join("; "))
    }

    /// For `report.json`.
    pub fn report(&self) -> MethodReport {
        let own = self.view.resolves_constraints();
        MethodReport {
            // the integrator's own: naming another would claim what was not done
            formulation: match (own, self.articulated) {
                (true, _) => self.integrator.name.clone(),
                (_, true) => ARTICULATED.into(),
                _ => self.formulation.text(),
            },
            stabilization: if self.articulated { "none".into() } else { self.stabilization.text() },
            integrator: self.integrator.text(),
            regularize: match self.regularize {
                Regularize::Off => "false",
                Regularize::Jets => "jets",
                Regularize::Amirouche => "amirouche",
            },
            rtol: self.adaptive.then_some(self.rtol),
            atol: self.adaptive.then_some(self.atol),
            step: self.step,
            why: self.why.clone(),
            coordinates: self.coordinates.name(),
            rotation: None,
            found: Vec::new(),
        }
    }
}

/// The method, where the settings name an integrator that resolves the constraints itself.
fn own_constraints(settings: &Settings) -> Result<Option<Method>, SetupError> {
    let Some(choice) = &settings.integrator else { return Ok(None) };
    let Ok(kind) = integrators::find(&choice.kind) else { return Ok(None) };
    if !kind.view.resolves_constraints() {
        return Ok(None);
    }
    let asked = [("formulation", &settings.formulation), ("stabilization", &settings.stabilization)];
    for (family, part) in asked {
        if let Some(part) = part {
            let (name, at) = (part.kind.clone(), part.span);
            return Err(SetupError::OwnConstraints { integrator: kind.name, family, name, at });
        }
    }
    if settings.regularize == Regularization::Amirouche {
        let (family, name) = ("regularize", settings.regularize.name().to_string());
        return Err(SetupError::OwnConstraints { integrator: kind.name, family, name, at: choice.span });
    }
    if settings.coordinates == Coordinates::Joint {
        let what =
            format!("integrator `{}`, which resolves the constraints between bodies itself", kind.name);
        let hint = "take another integrator, or `coordinates = \"absolute\"`";
        return Err(SetupError::JointCoordinates { what, hint, at: choice.span });
    }
    let options = options(choice);
    let made = (kind.new)(&options).map_err(|source| SetupError::Method { source, at: choice.span })?;
    least_step(settings, kind.name, &options)
        .map_err(|source| SetupError::Method { source, at: choice.span })?;
    let adaptive = made.is_adaptive();
    let mut notes = notes(settings, kind.name, adaptive);
    notes.push(format!(
        "accelerations and reactions shown are those of the equations of motion at the states of `{}`",
        kind.name
    ));
    let (rtol, atol) = settings.implicit_tolerance(kind.adaptive && kind.least_order < kind.order);
    let plain = |name: &str| MethodPart { name: name.into(), options: Options::new() };
    Ok(Some(Method {
        formulation: plain("proximal"),
        stabilization: plain("none"),
        integrator: MethodPart { name: choice.kind.clone(), options },
        regularize: regularize(settings),
        adaptive,
        rtol,
        atol,
        step: settings.step,
        why: Vec::new(),
        notes,
        view: kind.view,
        coordinates: Coordinates::Absolute,
        articulated: false,
    }))
}

/// An implicit method for members that bend, where nothing is named that it does not go with: their fastest oscillations would make
/// explicit steps very short.
fn stiff(settings: &Settings, facts: &ModelFacts) -> Result<Option<Method>, SetupError> {
    let named = [&settings.formulation, &settings.stabilization, &settings.integrator];
    let named = named.iter().any(|part| part.is_some()) || settings.coordinates == Coordinates::Joint;
    if !facts.bends || named || explicit_only(settings, facts).is_some() {
        return Ok(None);
    }
    let (kind, why) = match settings.step {
        Some(step) if !settings.tolerance_given => {
            ("generalized_alpha", format!("a step of {step} s is given and no tolerance"))
        }
        _ => ("radau5", format!("steps follow rtol = {:e}", settings.implicit_tolerance(false).0)),
    };
    let choice = MethodChoice { kind: kind.into(), options: Vec::new(), span: Span::NONE };
    let chosen = own_constraints(&Settings { integrator: Some(choice), ..settings.clone() })?;
    Ok(chosen.map(|own| Method { why: vec!["beams are stiff".into(), why], ..own }))
}

/// Returns what integrators that resolve the constraints themselves cannot take in.
fn explicit_only(settings: &Settings, facts: &ModelFacts) -> Option<&'static str> {
    if facts.slides {
        return Some("friction of rigid contacts needs an explicit integrator");
    }
    (settings.regularize == Regularization::Amirouche).then_some("`amirouche` needs an explicit integrator")
}

/// Returns whether time can resolve the step that is asked for, everywhere in the run.
fn resolvable(settings: &Settings) -> Result<(), SetupError> {
    let least = f64::EPSILON * settings.t_start.abs().max(settings.t_end.abs());
    match settings.step {
        Some(step) if step < least => Err(SetupError::StepBelowTime { step, least }),
        _ => Ok(()),
    }
}

/// Returns how singular positions are passed.
pub(crate) fn regularize(settings: &Settings) -> Regularize {
    match settings.regularize {
        Regularization::Auto | Regularization::Jets => Regularize::Jets,
        Regularization::Amirouche => Regularize::Amirouche,
        Regularization::Off => Regularize::Off,
    }
}

fn options(choice: &MethodChoice) -> Options {
    let mut options = Options::new();
    for (name, value) in &choice.options {
        match value {
            WrittenOption::Number(x) => options.set(name.as_str(), *x),
            WrittenOption::Name(text) => options.set(name.as_str(), text.as_str()),
        };
    }
    options
}

fn auto_formulation(facts: &ModelFacts) -> (&'static str, String) {
    let why = match facts.rank {
        _ if facts.rows == 0 => "there are no constraints to solve for".to_string(),
        Some(rank) if rank < facts.rows => {
            format!("{} of the {} constraint rows say nothing new", facts.rows - rank, facts.rows)
        }
        Some(_) => format!("the {} constraint rows are independent now but need not stay so", facts.rows),
        None => format!("the rank of {} constraint rows need not be known", facts.rows),
    };
    ("proximal", why)
}

fn auto_stabilization(facts: &ModelFacts, lives_on_violation: Option<&str>) -> (&'static str, String) {
    if facts.rows == 0 && !facts.gains_rows {
        ("none", "there is no drift to remove".to_string())
    } else if let Some(formulation) = lives_on_violation {
        ("none", format!("`{formulation}` makes its forces from the violation"))
    } else {
        ("projection", "drift is removed at every step".to_string())
    }
}

fn auto_integrator(settings: &Settings, facts: &ModelFacts) -> (&'static str, String) {
    let rtol = settings.rtol;
    let (kind, why) = match settings.step {
        Some(step) if !settings.tolerance_given => {
            ("rk4", format!("a step of {step} s is given and no tolerance"))
        }
        _ if rtol > 1e-3 => ("rk23", format!("rtol = {rtol:e} is loose")),
        _ if rtol > 1e-5 => ("rk45", format!("rtol = {rtol:e} is moderate")),
        _ => ("dop853", format!("rtol = {rtol:e} asks for high order")),
    };
    match explicit_only(settings, facts).filter(|_| facts.bends) {
        None => (kind, why),
        Some(but) => (kind, format!("{but}, though beams are stiff, and {why}")),
    }
}

/// Dense methods on models where a single right-hand side takes long.
fn slow(dense: &[(&'static str, bool, Span)], unknowns: usize) -> Vec<String> {
    let kinds = dense.iter().filter(|d| d.1 && unknowns > SLOW);
    let say = |(kind, ..): &(&str, bool, Span)| {
        format!(
            "`{kind}` decomposes dense matrices of {unknowns} unknowns, in a time that grows with their cube"
        )
    };
    kinds.map(say).collect()
}

/// Refuses a least step above the `step` of the settings, which is the largest.
fn least_step(settings: &Settings, kind: &'static str, options: &Options) -> Result<(), MethodError> {
    let Some(step) = settings.step else { return Ok(()) };
    let expected = "at most `step` (`--step`), which is the first step and the largest";
    options.number(kind, "min_step", expected, |least| least <= step).map(|_| ())
}

/// Settings that have no effect on the integrator, and defaults that matter.
fn notes(settings: &Settings, name: &str, adaptive: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if !adaptive {
        if settings.tolerance_given {
            notes.push(format!("`rtol` and `atol` have no effect on `{name}`, whose step is fixed"));
        }
        if settings.step.is_none() {
            let step = (settings.t_end - settings.t_start) / 1000.0;
            notes.push(format!("no step is given: `{name}` takes 1000 steps of {step} s"));
        }
    }
    // also the largest step where others are chosen
    let steps = settings.step.map_or(0.0, |step| (settings.t_end - settings.t_start) / step);
    if steps > MANY_STEPS {
        notes.push(format!(
            "steps of at most {:e} s: the run needs {steps:.0e} of them",
            settings.step.unwrap_or(0.0)
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use sarrus_model::settings::{Assembly, Certify};

    const FACTS: ModelFacts =
        ModelFacts { nv: 9, rows: 8, gains_rows: false, rank: Some(8), bends: false, slides: false };

    fn settings() -> Settings {
        Settings {
            t_start: 0.0,
            t_end: 1.0,
            every: 0.1,
            peaks: false,
            columns: vec!["*".into()],
            formulation: None,
            stabilization: None,
            integrator: None,
            coordinates: Coordinates::Absolute,
            regularize: Regularization::Auto,
            rtol: 1e-6,
            atol: 1e-8,
            tolerance_given: false,
            step: None,
            max_steps: None,
            wall_limit: None,
            assembly: Assembly::Full,
            certify: Certify::default(),
        }
    }

    fn named(kind: &str) -> Option<MethodChoice> {
        Some(MethodChoice { kind: kind.into(), options: vec![], span: Span::NONE })
    }

    #[test]
    fn auto_gives_a_reason_for_every_part() {
        let m = Method::resolve(&settings(), &FACTS).unwrap();
        assert_eq!(m.text(), "proximal + projection + dop853");
        assert_eq!(m.why.len(), 3);
        assert!(m.announcement().starts_with("auto -> proximal + projection + dop853 because "));
    }

    #[test]
    fn auto_sees_redundant_rows_steps_and_free_bodies() {
        let m = Method::resolve(&settings(), &ModelFacts { rank: Some(6), ..FACTS }).unwrap();
        assert!(m.why[0].contains("2 of the 8"), "{}", m.why[0]);

        let stepped = Settings { step: Some(0.01), ..settings() };
        assert_eq!(Method::resolve(&stepped, &FACTS).unwrap().integrator.name, "rk4");
        let both = Settings { step: Some(0.01), tolerance_given: true, ..settings() };
        assert_eq!(Method::resolve(&both, &FACTS).unwrap().integrator.name, "dop853");

        let free = Method::resolve(
            &settings(),
            &ModelFacts { nv: 6, rows: 0, gains_rows: false, rank: Some(0), bends: false, slides: false },
        )
        .unwrap();
        assert_eq!(free.stabilization.name, "none");
        let limited =
            ModelFacts { nv: 6, rows: 0, gains_rows: true, rank: Some(0), bends: false, slides: false };
        assert_eq!(Method::resolve(&settings(), &limited).unwrap().stabilization.name, "projection");
    }

    #[test]
    fn beams_are_taken_by_an_implicit_method_unless_something_is_named() {
        let bends = ModelFacts { bends: true, ..FACTS };
        let m = Method::resolve(&settings(), &bends).unwrap();
        assert!(
            m.announcement().starts_with("auto -> radau5 because beams are stiff"),
            "{}",
            m.announcement()
        );
        let stepped = Settings { step: Some(0.01), ..settings() };
        assert_eq!(Method::resolve(&stepped, &bends).unwrap().integrator.name, "generalized_alpha");
        let slides = ModelFacts { slides: true, ..bends };
        let m = Method::resolve(&settings(), &slides).unwrap();
        assert_eq!(m.integrator.name, "dop853");
        assert!(
            m.announcement().contains("friction of rigid contacts needs an explicit"),
            "{}",
            m.announcement()
        );
        let amirouche = Settings { regularize: Regularization::Amirouche, ..settings() };
        assert_eq!(Method::resolve(&amirouche, &bends).unwrap().integrator.name, "dop853");
        let formulated = Settings { formulation: named("direct"), ..settings() };
        assert_eq!(Method::resolve(&formulated, &bends).unwrap().integrator.name, "dop853");
        let joint = Settings { coordinates: Coordinates::Joint, ..settings() };
        assert_eq!(Method::resolve(&joint, &bends).unwrap().integrator.name, "dop853");
    }

    #[test]
    fn a_least_step_above_the_largest_is_refused() {
        for kind in ["radau5", "dop853"] {
            let options = vec![("min_step".into(), WrittenOption::Number(1e-3))];
            let integrator = Some(MethodChoice { kind: kind.into(), options, span: Span::NONE });
            let with = |step| Settings { step: Some(step), integrator: integrator.clone(), ..settings() };
            let said = Method::resolve(&with(1e-4), &FACTS).unwrap_err().to_string();
            assert!(said.contains("`min_step`") && said.contains("at most `step`"), "{said}");
            assert!(Method::resolve(&with(1e-2), &FACTS).is_ok());
        }
    }

    #[test]
    fn named_parts_need_no_reason() {
        let s = Settings {
            formulation: named("direct"),
            stabilization: named("none"),
            integrator: named("rk45"),
            ..settings()
        };
        let m = Method::resolve(&s, &FACTS).unwrap();
        assert_eq!(m.announcement(), "direct + none + rk45");
    }

    #[test]
    fn a_misspelt_method_is_refused_with_a_suggestion() {
        let s = Settings { integrator: named("dop835"), ..settings() };
        let error = Method::resolve(&s, &FACTS).unwrap_err();
        let d = &error.diagnostics()[0];
        assert_eq!(d.hint.as_deref(), Some("did you mean `dop853`?"));
    }

    /// A million unknowns would take 24 TB.
    #[test]
    fn dense_methods_are_refused_where_they_cannot_fit() {
        let huge = ModelFacts {
            nv: 600_000,
            rows: 400_000,
            gains_rows: false,
            rank: None,
            bends: false,
            slides: false,
        };
        for (formulation, stabilization) in [("least_squares_2", "none"), ("proximal", "partitioned")] {
            let s = Settings {
                formulation: named(formulation),
                stabilization: named(stabilization),
                ..settings()
            };
            let error = Method::resolve(&s, &huge).unwrap_err();
            assert!(matches!(error, SetupError::TooDense { unknowns: 1_000_000, .. }), "{error:?}");
            assert!(Method::resolve(&s, &FACTS).is_ok());
        }
    }

    #[test]
    fn direct_is_refused_for_dependent_rows() {
        let s = Settings { formulation: named("direct"), ..settings() };
        let error = Method::resolve(&s, &ModelFacts { rank: Some(7), ..FACTS }).unwrap_err();
        assert!(matches!(error, SetupError::NotIndependent { rows: 8, rank: 7, .. }));
    }

    #[test]
    fn penalty_keeps_the_violation_that_it_lives_on() {
        let s = Settings { formulation: named("penalty"), ..settings() };
        let m = Method::resolve(&s, &FACTS).unwrap();
        assert_eq!(m.stabilization.name, "none");
        assert!(m.why[0].contains("violation"), "{:?}", m.why);

        for kind in stabilizations::KINDS {
            let s = Settings { stabilization: named(kind.name), ..s.clone() };
            let resolved = Method::resolve(&s, &FACTS);
            match kind.name {
                "none" => assert!(resolved.is_ok()),
                name => {
                    let error = resolved.unwrap_err();
                    assert!(error.to_string().contains(name), "{error}");
                    assert!(error.diagnostics()[0].hint.as_deref().unwrap().contains("`none`"));
                }
            }
        }
    }

    #[test]
    fn an_integrator_that_resolves_the_constraints_itself_takes_no_formulation() {
        let s = Settings { integrator: named("staggered"), step: Some(0.01), ..settings() };
        let m = Method::resolve(&s, &FACTS).unwrap();
        assert_eq!(m.announcement(), "staggered");
        // what brings its samples onto the constraints
        assert!(m.new_stabilization().unwrap().projects());
        assert_eq!(
            (m.report().formulation.as_str(), m.report().stabilization.as_str()),
            ("staggered", "none")
        );

        let formulation = Settings { formulation: named("direct"), ..s.clone() };
        let stabilization = Settings { stabilization: named("projection"), ..s };
        for (s, name) in [(formulation, "`direct`"), (stabilization, "`projection`")] {
            let error = Method::resolve(&s, &FACTS).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
            assert!(error.diagnostics()[0].hint.is_some());
        }
    }

    /// At t = 10 neighbouring numbers are 1.8e-15 apart: a step of 1e-15 s goes nowhere.
    #[test]
    fn a_step_that_time_cannot_resolve_is_refused() {
        for integrator in ["rk4", "staggered", "park1987", "dop853"] {
            let at = |step| {
                let s =
                    Settings { integrator: named(integrator), t_end: 10.0, step: Some(step), ..settings() };
                Method::resolve(&s, &FACTS)
            };
            for step in [1e-300, 1e-15] {
                let error = at(step).unwrap_err();
                assert!(matches!(error, SetupError::StepBelowTime { .. }), "{integrator}: {error}");
                assert!(error.diagnostics()[0].hint.is_some());
            }
            let many = at(1e-12).unwrap().notes;
            assert!(many.iter().any(|n| n.contains("1e13")), "{integrator}: {many:?}");
            let few = at(1e-3).unwrap().notes;
            assert!(!few.iter().any(|n| n.contains("needs")), "{integrator}: {few:?}");
        }
    }

    #[test]
    fn joint_coordinates_are_refused_with_what_needs_the_bodies_own() {
        let joint = Settings { coordinates: Coordinates::Joint, ..settings() };
        let staggered = Settings { integrator: named("staggered"), step: Some(0.01), ..joint.clone() };
        let penalty = Settings { formulation: named("penalty"), ..joint.clone() };
        for (s, name) in [(staggered, "`staggered`"), (penalty, "`penalty`")] {
            let error = Method::resolve(&s, &FACTS).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
            assert!(error.diagnostics()[0].hint.is_some());
        }
        let m = Method::resolve(&joint, &FACTS).unwrap();
        assert_eq!(m.text(), "proximal + projection + dop853 in joint coordinates");
    }

    #[test]
    fn a_tree_needs_no_formulation_unless_one_is_named() {
        let joint = Settings { coordinates: Coordinates::Joint, ..settings() };
        let mut m = Method::resolve(&joint, &FACTS).unwrap();
        m.set_tree(&joint);
        assert_eq!(m.text(), "articulated_body + dop853 in joint coordinates");
        assert_eq!((m.report().formulation.as_str(), m.why.len()), ("articulated_body", 2));

        let named = Settings { formulation: named("direct"), ..joint };
        let mut m = Method::resolve(&named, &FACTS).unwrap();
        m.set_tree(&named);
        assert_eq!(m.text(), "direct + projection + dop853 in joint coordinates");
    }

    #[test]
    fn a_tolerance_without_effect_is_noted() {
        let s = Settings { integrator: named("rk4"), tolerance_given: true, ..settings() };
        let notes = Method::resolve(&s, &FACTS).unwrap().notes;
        assert!(notes[0].contains("no effect") && notes[1].contains("1000 steps"), "{notes:?}");
    }
}
