//! Every exact formulation gives the same accelerations and multipliers, on every shipped model and along whole runs.

use sarrus::analysis::{MethodText, Outcome, RunOverrides};
use sarrus::model::settings::{MethodChoice, WrittenOption};
use sarrus::prelude::*;
use sarrus::solve::formulations::{self, Formulation, KINDS, Needs};
use sarrus::solve::{
    Accel, Dynamics, Equations, HUB_DEGREE, Kkt, Options, Problem, RankFound, SolveError, Stage, State,
    StepControl, Structure, integrators, stabilizations,
};
use std::sync::Arc;

fn load(name: &str, set: &[(&str, &str)]) -> (Model, Arc<System>) {
    let set = set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let options = LoadOptions { set, ..LoadOptions::default() };
    let text = sarrus_zoo::model(name).unwrap();
    let model =
        load_str(&format!("{name}.toml"), text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

/// Equations at the start of a model and at every tenth of 30 steps, on the constraints.
fn equations(name: &str) -> (Structure, Vec<Equations>) {
    let (model, system) = load(name, &[]);
    let mut all = Vec::new();
    advance(&model, &system, "proximal", "projection", 1e-9, |step, dynamics, state| {
        if step % 10 == 0 {
            all.push(settled(dynamics.problem_mut(), state));
        }
        step < 30
    });
    (system.structure.clone(), all)
}

/// The equations at `state` once it is moved onto all rows alike, to rounding: rows that others determine are satisfied by a
/// projection only as well as these, and v̇ is unique only as far as they agree.
fn settled(problem: &mut sarrus::system::Mechanism, state: &State) -> Equations {
    let (mut state, s) = (state.clone(), problem.structure().clone());
    let mut eq = Equations::new(problem);
    let mut kkt = Kkt::new(&s, &eq, HUB_DEGREE).unwrap();
    let mut nearest = formulations::make("udwadia_kalaba", &Options::new()).unwrap();
    let mut out = Accel::zeros(&s);
    for pass in 0..6 {
        problem.update(&state, Stage::FORCE, &mut eq);
        eq.f.fill(0.0);
        let positions = pass < 3;
        for (i, gamma) in eq.gamma.iter_mut().enumerate() {
            *gamma = match (positions, s.is_holonomic(i)) {
                (true, true) => -eq.phi[i],
                (true, false) => 0.0,
                (false, _) => -eq.phidot[i],
            };
        }
        // of what is left at the end, rounding, rows may well contradict each other
        let _ = nearest.accelerations(&s, &eq, &mut kkt, &mut out);
        if positions {
            problem.retract(&mut state.q, &out.vdot);
        } else {
            state.v.iter_mut().zip(&out.vdot).for_each(|(v, d)| *v += d);
        }
    }
    problem.update(&state, Stage::FORCE, &mut eq);
    eq
}

/// Steps through a model with `dop853` for as long as `go_on` says, which sees the number of steps made and the state.
fn advance(
    model: &Model,
    system: &Arc<System>,
    formulation: &str,
    stabilization: &str,
    rtol: f64,
    mut go_on: impl FnMut(u32, &mut Dynamics<'_, sarrus::system::Mechanism>, &State) -> bool,
) -> Option<RankFound> {
    let start = sarrus::analysis::assemble(model, system, Default::default()).unwrap();
    let mut mechanism = system.mechanism();
    mechanism.set_discrete(&start.discrete);
    let none = Options::new();
    let formulation = make(formulation);
    let stabilization = stabilizations::make(stabilization, &none).unwrap();
    let mut dynamics = Dynamics::new(&mut mechanism, formulation, stabilization).unwrap();
    let mut method = (integrators::find("dop853").unwrap().new)(&none).unwrap();
    let mut control = StepControl::new(rtol, 1e-2 * rtol, None).unwrap();
    let mut state = start.state;
    control.t_end = state.t + 1e3;
    method.prepare(&system.structure);
    let mut step = 0;
    while go_on(step, &mut dynamics, &state) {
        method.step(&mut dynamics, &mut state, &mut control).unwrap();
        step += 1;
    }
    dynamics.statistics()[0].rank
}

/// A formulation with its options as `name:option=word`.
#[derive(Clone, Copy)]
struct Variant {
    name: &'static str,
    needs: Needs,
}

fn make(text: &str) -> Box<dyn Formulation> {
    let (name, option) = text.split_once(':').unwrap_or((text, ""));
    let mut options = Options::new();
    if let Some((option, word)) = option.split_once('=') {
        options.set(option, word);
    }
    formulations::make(name, &options).unwrap()
}

/// Every kind, and every basis of the null space.
fn variants() -> impl Iterator<Item = Variant> {
    let bases = ["null_space:basis=qr", "null_space:basis=svd"];
    let needs = formulations::find("null_space").unwrap().needs;
    let kinds = KINDS.iter().map(|k| Variant { name: k.name, needs: k.needs });
    kinds.chain(bases.map(|name| Variant { name, needs }))
}

fn exact() -> impl Iterator<Item = Variant> {
    variants().filter(|k| k.needs.exact)
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// √(xᵀM x), which compares accelerations of bodies and their rotations as forces would.
fn mass_norm(s: &Structure, eq: &Equations, x: &[f64]) -> f64 {
    let mut y = vec![0.0; s.nv];
    eq.mass_mul(s, x, &mut y);
    x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>().max(0.0).sqrt()
}

#[test]
fn exact_formulations_agree_on_every_model() {
    let wrong: Vec<String> = sarrus_zoo::MODELS.iter().flat_map(|(name, _)| disagreements(name)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns what formulations say of a model that `proximal` does not.
fn disagreements(name: &str) -> Vec<String> {
    let (s, all) = equations(name);
    let counts = sarrus_zoo::COUNTS.iter().find(|c| c.model == name).unwrap();
    let mut wrong = Vec::new();
    for kind in exact() {
        let mut reference = formulations::make("proximal", &Options::new()).unwrap();
        let mut formulation = make(kind.name);
        let mut kkts = [0, 1].map(|_| Kkt::new(&s, &all[0], HUB_DEGREE).unwrap());
        for (k, eq) in all.iter().enumerate() {
            let mut check = |holds: bool, what: String| {
                if !holds {
                    wrong.push(format!("{name}, {}, state {k}: {what}", kind.name));
                }
            };
            let (mut a, mut b) = (Accel::zeros(&s), Accel::zeros(&s));
            reference.accelerations(&s, eq, &mut kkts[0], &mut b).unwrap();
            let solved = formulation.accelerations(&s, eq, &mut kkts[1], &mut a);
            if kind.needs.full_rank && counts.rank < counts.rows {
                check(matches!(solved, Err(SolveError::RankDeficient { .. })), format!("{solved:?}"));
                continue;
            }
            if let Err(e) = solved {
                check(false, e.to_string());
                continue;
            }
            let far = mass_norm(&s, eq, &difference(&a.vdot, &b.vdot));
            let size = mass_norm(&s, eq, &b.vdot);
            check(far <= 1e-10 * size, format!("v̇ differs by {far:e} of {size:e}"));
            let (far, size) = (norm(&difference(&a.lambda, &b.lambda)), norm(&b.lambda));
            // what falls freely bears nothing but rounding, 1e-14 of its weight
            let size = size.max(1e-6 * norm(&eq.f));
            check(far <= 1e-8 * size, format!("λ differs by {far:e} of {size:e}"));
        }
        if let Some(rank) = formulation.statistics().rank {
            let right = rank.least == counts.rank && rank.most == counts.rank && rank.margin > 10.0;
            if !right {
                wrong.push(format!("{name}, {}: {rank:?} instead of {}", kind.name, counts.rank));
            }
        }
    }
    wrong
}

fn choice(text: &str) -> Option<MethodChoice> {
    let MethodText(choice) = text.parse().unwrap();
    Some(choice)
}

fn run(model: &Model, system: &Arc<System>, overrides: RunOverrides) -> Outcome {
    let run = simulate(model, system, &Simulate { overrides, record: true }, &mut ()).unwrap();
    let what = format!("{:?}: {:?}", run.report.method, run.report.reason);
    assert_eq!(run.report.status, Status::Completed, "{what}");
    run
}

/// Largest difference of a column of positions of two runs.
fn distance(a: &Outcome, b: &Outcome) -> f64 {
    let mut far = 0.0_f64;
    for name in a.trajectory.names().iter().filter(|n| n.ends_with(".y") || n.ends_with(".z")) {
        let (a, b) = (a.trajectory.column(name).unwrap(), b.trajectory.column(name).unwrap());
        // what is not a number is far
        far = a.zip(b).fold(far, |far, (a, b)| if (a - b).abs() <= far { far } else { (a - b).abs() });
    }
    far
}

/// Both struts with Baumgarte's stabilization, whose stages and ends are all a little off the constraints.
#[test]
fn whole_runs_of_both_struts_agree() {
    let (rtol, mut reference) = (1e-8, None);
    for name in ["mcpherson", "mcpherson_overconstrained"] {
        let (model, system) = load(name, &[]);
        for kind in exact().filter(|k| !k.needs.full_rank || name == "mcpherson") {
            let overrides = RunOverrides {
                formulation: choice(kind.name),
                stabilization: choice("baumgarte"),
                rtol: Some(rtol),
                atol: Some(rtol),
                t_end: Some(1.0),
                ..RunOverrides::default()
            };
            let run = run(&model, &system, overrides);
            match &reference {
                None => reference = Some(run),
                // the same equations, but steps may be chosen differently
                Some(r) => {
                    let far = distance(r, &run);
                    assert!(far < 10.0 * rtol, "{name}, {}: {far:e}", kind.name);
                }
            }
        }
    }
}

/// Ten seconds without stabilization: violations grow to 10⁻² at the loosest tolerance, and redundant rows look as
/// independent.
#[test]
fn the_rank_is_kept_through_drift() {
    let (model, system) = load("mcpherson_overconstrained", &[]);
    for kind in exact().filter(|k| !k.needs.full_rank) {
        for (rtol, stabilization) in [(1e-3, "none"), (1e-8, "none"), (1e-3, "baumgarte")] {
            let rank = advance(&model, &system, kind.name, stabilization, rtol, |_, _, s| s.t < 10.0);
            if let Some(rank) = rank {
                let what = format!("{}, {stabilization}, {rtol}: {rank:?}", kind.name);
                assert_eq!((rank.least, rank.most), (26, 26), "{what}");
            }
        }
    }
}

/// Through aligned positions, where all loops lose rank at once, the couplers stay level.
#[test]
fn dense_formulations_pass_aligned_positions_on_their_branch() {
    let (model, system) = load("n_four_bar", &[("n", "2")]);
    for kind in exact().filter(|k| k.needs.dense) {
        let overrides = RunOverrides {
            formulation: choice(kind.name),
            rtol: Some(1e-8),
            atol: Some(1e-10),
            t_end: Some(5.0),
            every: Some(0.05),
            columns: Some(vec!["bar*.angle".into()]),
            ..RunOverrides::default()
        };
        let run = run(&model, &system, overrides);
        for column in run.trajectory.names().iter().filter(|c| c.ends_with(".angle")) {
            let most = run.trajectory.column(column).unwrap().fold(0.0_f64, |m, x| m.max(x.abs()));
            assert!(most < 1e-5, "{}: {column} reaches {most}", kind.name);
        }
    }
}

/// Errors of the first power of ε = 1/(m ω²), on a strut with redundant hinges.
#[test]
fn penalty_tends_to_the_motion_of_the_strut() {
    let (model, system) = load("mcpherson_overconstrained", &[]);
    let settings =
        RunOverrides { t_end: Some(0.5), rtol: Some(1e-8), atol: Some(1e-10), ..RunOverrides::default() };
    let reference = run(&model, &system, settings.clone());
    let errors = [100.0, 200.0, 400.0].map(|omega| {
        let options = vec![("frequency".to_string(), WrittenOption::Number(omega))];
        let formulation = Some(MethodChoice { kind: "penalty".into(), options, ..MethodChoice::default() });
        let run = run(&model, &system, RunOverrides { formulation, ..settings.clone() });
        assert!(run.report.method.stabilization == "none");
        distance(&reference, &run)
    });
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((ratio - 4.0).abs() < 1.0, "{errors:?}");
    }
}
