//! Rows at velocity level, rolling and prescribed speeds, with every formulation, stabilization and integrator of the registries:
//! the motion is that of closed forms and references, and nothing ever searches for a position that such a row does not have.

use sarrus::analysis::{MethodText, SetupError};
use sarrus::prelude::*;
use sarrus::solve::{
    Accel, Dynamics, Equations, Options, Problem, Stage, State, StepControl, Structure, Tangent,
    formulations, integrators, stabilizations,
};
use sarrus_zoo::{ReferenceProblem as Case, ReferenceValues};
use std::sync::Arc;

/// A slide at a speed that depends on time: x = (2/3) sin 3t, so that ψ has a part that does not come from v.
const DRIVEN: Case = Case {
    name: "driven_slide",
    model: "format = 'sarrus/1'\nspace = 'planar'\nrun.t_end = 1\n\
        bodies.m = { at = [0, 0], mass = 1.5, inertia = 1 }\n\
        joints.A = { kind = 'prismatic', bodies = ['ground', 'm'], at = [0, 0] }\n\
        drivers.go = { kind = 'joint', joint = 'A', speed = '2*cos(3*t)' }\n\
        initial.A.speed = 2\n",
    set: &[],
    t_end: 1.0,
    references: &[
        ReferenceValues::value(1.0, &["m.x", "m.y"], &[0.094_080_005_373_244_8, 0.0], 1e-15),
        ReferenceValues::value(1.0, &["m.vx"], &[-1.979984993200891], 1e-15),
    ],
    source: "Closed form.",
};

/// A ball with a weight off its centre on a track, Chaplygin's sleigh, a leaning disc, a ball on an incline, and the slide.
fn cases() -> [&'static Case; 5] {
    let zoo = ["rolling_ball", "chaplygin_sleigh", "rolling_disc", "rolling_sphere"];
    let [ball, sleigh, disc, sphere] = zoo.map(|name| sarrus_zoo::problem(name).unwrap());
    [ball, sleigh, disc, sphere, &DRIVEN]
}

fn compiled(case: &Case) -> (Model, Arc<System>) {
    let model = load_str(&format!("{}.toml", case.name), case.model, &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap_or_else(|e| panic!("{}: {e:?}", case.name)));
    (model, system)
}

fn method(text: &str) -> Option<sarrus::model::settings::MethodChoice> {
    let MethodText(choice) = text.parse().unwrap();
    Some(choice)
}

/// Largest relative error at the first time that a case has references for.
fn error(case: &Case, overrides: RunOverrides) -> f64 {
    let (model, system) = compiled(case);
    let t = case.references[0].t;
    let here = || case.references.iter().filter(|r| r.t == t);
    let columns = here().flat_map(|r| r.columns).map(|c| c.to_string()).collect();
    let overrides = RunOverrides { t_end: Some(t), every: Some(t), columns: Some(columns), ..overrides };
    let run = simulate(&model, &system, &Simulate { overrides, record: true }, &mut ())
        .unwrap_or_else(|e| panic!("{}: {e}", case.name));
    let what = format!("{}, {:?}", case.name, run.report.method);
    assert_eq!(run.report.status, Status::Completed, "{what}: {}", run.report.reason);
    let error = |r: &ReferenceValues| {
        let found: Vec<f64> = r.columns.iter().map(|c| run.trajectory.last(c).unwrap()).collect();
        r.relative_error(&found)
    };
    here().map(error).fold(0.0, f64::max)
}

fn tight() -> RunOverrides {
    RunOverrides {
        rtol: Some(1e-10),
        atol: Some(1e-12),
        integrator: method("dop853"),
        ..RunOverrides::default()
    }
}

#[test]
fn the_cases_have_rows_without_positions_with_and_without_others() {
    let counts = cases().map(|case| {
        let (_, system) = compiled(case);
        let holonomic: usize = system.structure.rows.iter().map(|r| r.holonomic).sum();
        (holonomic, system.structure.nc - holonomic)
    });
    assert_eq!(counts, [(2, 2), (0, 1), (1, 2), (1, 2), (2, 1)]);
}

/// An exact formulation leaves the error of the integrator at 10⁻¹⁰, some hundred times that over thousands of steps.
/// `penalty` lets a row at velocity level slip by λ/(m ω): twice the frequency, half the error.
#[test]
fn every_formulation_follows_the_references() {
    for case in cases() {
        for kind in formulations::KINDS {
            let with = |text: &str| error(case, RunOverrides { formulation: method(text), ..tight() });
            if kind.needs.exact {
                let error = with(kind.name);
                assert!(error < 1e-8, "{}, {}: {error:e}", case.name, kind.name);
                continue;
            }
            assert_eq!(kind.name, "penalty", "say how it converges");
            let [coarse, fine] = [400, 800].map(|omega| with(&format!("penalty:frequency={omega}")));
            assert!(coarse < 0.2 && fine < 0.6 * coarse, "{}: {coarse:e} {fine:e}", case.name);
        }
    }
}

/// `baumgarte` and `none` leave what the steps leave; the others move the state, within that.
#[test]
fn every_stabilization_follows_the_references() {
    for case in cases() {
        for kind in stabilizations::KINDS {
            let error = error(case, RunOverrides { stabilization: method(kind.name), ..tight() });
            assert!(error < 1e-8, "{}, {}: {error:e}", case.name, kind.name);
        }
    }
}

/// Fixed steps by their order, from two of them; where a motion is a polynomial of low degree there is nothing to see. On the
/// disc the two chains of `staggered:form=paper` come apart by a factor of 1000 a second, whatever the step: it is lost after
/// 1.1 to 2.4 s with steps from 10⁻² to 10⁻⁴ s, and the run says so.
#[test]
fn every_integrator_follows_the_references() {
    let more = [
        "staggered:form=paper",
        "staggered:form=one_step",
        "staggered:adaptive=yes",
        "park1987:iterations=1",
    ];
    for case in cases() {
        for text in integrators::KINDS.iter().map(|k| k.name).chain(more) {
            if (case.name, text) == ("rolling_disc", "staggered:form=paper") {
                let overrides =
                    RunOverrides { integrator: method(text), step: Some(5e-3), ..RunOverrides::default() };
                let (model, system) = compiled(case);
                let run = simulate(&model, &system, &Simulate { overrides, record: false }, &mut ()).unwrap();
                assert_eq!(run.report.status, Status::Failed);
                continue;
            }
            let MethodText(choice) = text.parse().unwrap();
            let mut options = Options::new();
            for (name, value) in &choice.options {
                match value {
                    sarrus::model::settings::WrittenOption::Number(x) => options.set(name.as_str(), *x),
                    sarrus::model::settings::WrittenOption::Name(s) => options.set(name.as_str(), s.as_str()),
                };
            }
            let made = (integrators::find(&choice.kind).unwrap().new)(&options).unwrap();
            let with = |step: Option<f64>| {
                let rtol = if step.is_none() { Some(1e-9) } else { None };
                let atol = rtol.map(|rtol| 1e-2 * rtol);
                error(
                    case,
                    RunOverrides { integrator: method(text), step, rtol, atol, ..RunOverrides::default() },
                )
            };
            if made.is_adaptive() {
                // an error per step of a method of order 2 leaves (10⁻⁹)^(2/3) at the end; `bdf` chooses orders down to that
                let most = if made.order() > 2 && text != "bdf" { 1e-6 } else { 1e-5 };
                let error = with(None);
                assert!(error < most, "{}, {text}: {error:e}", case.name);
                continue;
            }
            let h = match made.order() {
                1 => 5e-4,
                2 => 5e-3,
                _ => 2e-2,
            };
            let [coarse, fine] = [h, 0.5 * h].map(|h| with(Some(h)));
            let order = (coarse / fine).log2();
            let converges = coarse < 0.1 && order > f64::from(made.order()) - 0.3;
            assert!(
                converges || coarse < 1e-9,
                "{}, {text}: {coarse:e} {fine:e}, order {order:.2}",
                case.name
            );
        }
    }
}

/// Returns why a combination may be refused: an integrator that resolves the constraints itself takes neither of the others, and a
/// formulation that lives on the violation no stabilization.
fn is_refused(
    f: &formulations::FormulationKind,
    s: &stabilizations::StabilizationKind,
    i: &integrators::IntegratorKind,
) -> bool {
    i.view.resolves_constraints() || (f.needs.violation && s.name != "none")
}

/// Over a twentieth of a second, in which the ball rotates by 0.05 rad.
#[test]
fn every_combination_rolls_alike_or_says_why_not() {
    let (model, system) = compiled(cases()[0]);
    let run = |formulation: &str, stabilization: &str, integrator: &str| {
        let overrides = RunOverrides {
            formulation: method(formulation),
            stabilization: method(stabilization),
            integrator: method(integrator),
            rtol: Some(1e-6),
            atol: Some(1e-8),
            t_end: Some(0.05),
            step: Some(5e-4),
            every: Some(0.05),
            ..RunOverrides::default()
        };
        simulate(&model, &system, &Simulate { overrides, record: true }, &mut ())
    };
    let position = |outcome: &Outcome| {
        ["ball.x", "ball.y", "ball.wx", "ball.wy"].map(|c| outcome.trajectory.last(c).unwrap())
    };
    let expected = position(&run("proximal", "projection", "dop853").unwrap());
    let mut refused = 0;
    for f in formulations::KINDS {
        for s in stabilizations::KINDS {
            for i in integrators::KINDS {
                let what = format!("{} + {} + {}", f.name, s.name, i.name);
                let outcome = match run(f.name, s.name, i.name) {
                    Ok(outcome) => outcome,
                    Err(SetupError::OwnConstraints { .. } | SetupError::NeedsViolation { .. }) => {
                        assert!(is_refused(f, s, i), "{what}");
                        refused += 1;
                        continue;
                    }
                    Err(other) => panic!("{what}: {other}"),
                };
                assert!(!is_refused(f, s, i), "{what}");
                assert_eq!(outcome.report.status, Status::Completed, "{what}: {}", outcome.report.reason);
                // `euler` leaves some 10⁻⁴, `penalty` slips by 10⁻³ of what it holds
                let error =
                    position(&outcome).iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                let most = if f.needs.exact && i.order > 1 { 1e-5 } else { 5e-3 };
                assert!(error < most, "{what}: {error:e}");
            }
        }
    }
    let own = integrators::KINDS.iter().filter(|i| i.view.resolves_constraints()).count();
    let lives = formulations::KINDS.iter().filter(|f| f.needs.violation).count();
    let (f, s, i) = (formulations::KINDS.len(), stabilizations::KINDS.len(), integrators::KINDS.len());
    assert_eq!(refused, own * f * s + lives * (s - 1) * (i - own));
}

/// A problem whose rows at velocity level have no Φ at all.
struct Blind<P> {
    inner: P,
    /// Rows that were blinded so far.
    blinded: usize,
}

impl<P: Problem> Problem for Blind<P> {
    fn structure(&self) -> &Structure {
        self.inner.structure()
    }

    fn mass(&self, mass: &mut [f64], minv: &mut [f64]) {
        self.inner.mass(mass, minv);
    }

    fn update(&mut self, s: &State, stage: Stage, eq: &mut Equations) {
        self.inner.update(s, stage, eq);
        for row in &self.inner.structure().rows {
            eq.phi[row.start + row.holonomic..row.start + row.size].fill(f64::NAN);
            self.blinded += row.size - row.holonomic;
        }
    }

    fn qdot(&self, s: &State, qdot: &mut [f64]) {
        self.inner.qdot(s, qdot);
    }

    fn xdot(&mut self, s: &State, eq: &Equations, accel: &Accel, xdot: &mut [f64]) {
        self.inner.xdot(s, eq, accel, xdot);
    }

    fn retract(&self, q: &mut [f64], delta: &[f64]) {
        self.inner.retract(q, delta);
    }

    fn difference(&self, a: &[f64], b: &[f64], delta: &mut [f64]) {
        self.inner.difference(a, b, delta);
    }

    fn normalize(&self, q: &mut [f64]) {
        self.inner.normalize(q);
    }

    fn accept(&mut self, s: &State) {
        self.inner.accept(s);
    }

    fn name_of_row(&self, row: usize) -> String {
        self.inner.name_of_row(row)
    }

    fn rates(&self, block: usize) -> Option<[f64; 2]> {
        self.inner.rates(block)
    }

    fn new_tangent(&self) -> Option<Tangent> {
        self.inner.new_tangent()
    }

    fn fill_tangent(
        &mut self,
        s: &State,
        vdot: &[f64],
        lambda: &[f64],
        with_variations: bool,
        out: &mut Tangent,
    ) {
        self.inner.fill_tangent(s, vdot, lambda, with_variations, out);
    }
}

/// Returns where 20 steps lead, and what a multiplier, if the method has its own, is there. The start is a little off the
/// constraints, so that there is something to bring back; not for steps that `staggered` or `bdf` choose, as Φ over a short step would
/// be an error that none is short enough for.
fn steps<P: Problem>(
    problem: &mut P,
    start: &State,
    formulation: &str,
    stabilization: &str,
    integrator: &str,
) -> (State, Vec<f64>) {
    let none = Options::new();
    let mut made = stabilizations::make(stabilization, &none).unwrap();
    made.set_tolerance(1e-6, 1e-8);
    let structure = problem.structure().clone();
    let mut dynamics = Dynamics::new(problem, formulations::make(formulation, &none).unwrap(), made).unwrap();
    let (kind, form) = integrator.split_once(':').unwrap_or((integrator, ""));
    let mut options = Options::new();
    if let Some((name, value)) = form.split_once('=') {
        options.set(name, value);
    }
    let mut method = (integrators::find(kind).unwrap().new)(&options).unwrap();
    let mut control = StepControl::new(1e-6, 1e-8, (!method.is_adaptive()).then_some(1e-3)).unwrap();
    control.t_end = start.t + 10.0;
    method.prepare(&structure);
    let mut s = start.clone();
    let off = if form == "adaptive=yes" || kind == "bdf" { 0.0 } else { 1e-7 };
    s.q.iter_mut().chain(&mut s.v).enumerate().for_each(|(i, x)| *x += off * (i as f64).cos());
    dynamics.problem().normalize(&mut s.q);
    let what = format!("{formulation} + {stabilization} + {integrator}");
    for _ in 0..20 {
        method.step(&mut dynamics, &mut s, &mut control).unwrap_or_else(|e| panic!("{what}: {e}"));
    }
    let middle = s.t - 0.4e-3;
    let mut between = s.clone();
    method.dense(&mut dynamics, &mut control, middle, &mut between).unwrap();
    let lambda = method.multipliers().map(<[f64]>::to_vec).unwrap_or_default();
    (s, [&between.q[..], &between.v, &lambda].concat())
}

/// Bit for bit, with NaN where such a row would have its Φ: no method reads it, not even to multiply it by zero.
#[test]
fn no_method_asks_a_row_at_velocity_level_for_a_position() {
    let own = [
        "staggered",
        "staggered:form=paper",
        "staggered:form=one_step",
        "staggered:adaptive=yes",
        "park1987",
    ];
    let every: Vec<&str> = integrators::KINDS.iter().map(|k| k.name).chain(own).collect();
    for case in cases() {
        let (model, system) = compiled(case);
        let start = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap();
        let compare = |formulation: &str, stabilization: &str, integrator: &str| {
            let mut plain = system.mechanism();
            plain.set_discrete(&start.discrete);
            let mut blind = Blind { inner: system.mechanism(), blinded: 0 };
            blind.inner.set_discrete(&start.discrete);
            let seeing = steps(&mut plain, &start.state, formulation, stabilization, integrator);
            let unseeing = steps(&mut blind, &start.state, formulation, stabilization, integrator);
            let what = format!("{}: {formulation} + {stabilization} + {integrator}", case.name);
            assert!(seeing.0.is_finite() && blind.blinded > 0, "{what}");
            assert_eq!(seeing, unseeing, "{what}");
        };
        for f in formulations::KINDS {
            for s in stabilizations::KINDS {
                compare(f.name, s.name, "rk45");
            }
        }
        for integrator in &every {
            compare("proximal", "projection", integrator);
        }
    }
}

/// Φ̈ + α Φ̇ = 0: a slip of the sleigh's blade dies out as exp(-α t), its place across the blade stays where the slip has led.
#[test]
fn baumgarte_lets_a_slip_die_out_and_leaves_the_place() {
    let (model, system) = compiled(cases()[1]);
    let start = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap();
    let mut mechanism = system.mechanism();
    mechanism.set_discrete(&start.discrete);
    let mut rates = Options::new();
    rates.set("alpha", 5.0).set("beta", 40.0);
    let mut dynamics = Dynamics::new(
        &mut mechanism,
        formulations::make("proximal", &Options::new()).unwrap(),
        stabilizations::make("baumgarte", &rates).unwrap(),
    )
    .unwrap();
    let mut method = (integrators::find("dop853").unwrap().new)(&Options::new()).unwrap();
    let mut control = StepControl::new(1e-11, 1e-13, None).unwrap();
    control.t_end = 0.5;
    method.prepare(&system.structure);
    let mut s = start.state;
    s.v[0] += 0.02;
    s.v[1] += 0.01;
    let mut eq = Equations::new(dynamics.problem());
    dynamics.problem_mut().update(&s, Stage::VELOCITY, &mut eq);
    let slip = eq.phidot[0];
    assert!(slip.abs() > 1e-3);
    while s.t < control.t_end {
        method.step(&mut dynamics, &mut s, &mut control).unwrap();
        dynamics.problem_mut().update(&s, Stage::VELOCITY, &mut eq);
        let expected = slip * (-5.0 * s.t).exp();
        assert!((eq.phidot[0] - expected).abs() < 1e-9, "{} at {}: {expected}", eq.phidot[0], s.t);
    }
}
