//! Tables and lanes: accelerations as the general path has them, on every shipped model that has tables; variants in lanes equal
//! to the bit to variants alone, on any number of threads; variants that leave their lane come out as if they had been alone.

use sarrus::math::Vec3;
use sarrus::prelude::*;
use sarrus::solve::ensemble::{self, FixedStep, LANES, Variant, VariantOutcome};
use sarrus::solve::tables::{Tables, tables};
use sarrus::solve::{
    Accel, Dynamics, Equations, HUB_DEGREE, Kkt, Ode, Options, Problem, Regularize, Stage, State, StepMode,
    formulations, stabilizations,
};
use sarrus::system::load::Wrench;
use std::sync::{Arc, Mutex};

fn load(name: &str, set: &[(&str, String)]) -> (Arc<System>, State) {
    read(name, sarrus_zoo::model(name).unwrap(), set)
}

fn read(name: &str, text: &str, set: &[(&str, String)]) -> (Arc<System>, State) {
    let set = set.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    let options = LoadOptions { set, ..LoadOptions::default() };
    let model =
        load_str(&format!("{name}.toml"), text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    let start = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap().state;
    (system, start)
}

fn member(name: &str, set: &[(&str, String)]) -> Variant {
    let (system, start) = load(name, set);
    Variant { problem: Box::new(system.mechanism()), start }
}

/// Crank-rockers of other angles and loads.
fn four_bars(n: usize) -> Vec<Variant> {
    (0..n).map(|i| member("four_bar", &[("phi", format!("{} deg", 40.0 + 3.7 * i as f64))])).collect()
}

fn bits(s: &State) -> Vec<u64> {
    [&s.q, &s.v, &s.x].into_iter().flatten().chain([&s.t]).map(|x| x.to_bits()).collect()
}

fn run(members: Vec<Variant>, method: &FixedStep, width: usize) -> Vec<VariantOutcome> {
    ensemble::run_in(members, method, &|_, _| (), width)
}

/// A random state near `s`, off the constraints.
fn beside(s: &State, seed: u64) -> State {
    let mut random = seed;
    let mut next = move || {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let mut s = s.clone();
    s.t = 0.3;
    s.q.iter_mut().for_each(|q| *q += 1e-5 * next());
    s.v.iter_mut().for_each(|v| *v += next());
    s
}

/// Tables know most shipped models, and solve what the general solver solves, to the rounding of both over the smallest pivot.
#[test]
fn tables_find_the_accelerations_that_the_general_solver_finds() {
    let mut seen = Vec::new();
    for &(name, _) in sarrus_zoo::MODELS {
        let (system, start) = load(name, &[]);
        let Some(model) = system.describe() else { continue };
        let Some(mut tables) = tables::<f64>(&[&model]) else { continue };
        let mut mechanism = system.mechanism();
        let (mut eq, mut out) = (Equations::new(&mechanism), Accel::zeros(&system.structure));
        let mut kkt = Kkt::new(&system.structure, &eq, HUB_DEGREE).unwrap();
        let mut general = formulations::make("proximal", &Options::new()).unwrap();
        for seed in 1..4 {
            let mut s = beside(&start, seed);
            mechanism.normalize(&mut s.q);
            mechanism.update(&s, Stage::FORCE, &mut eq);
            let found = general.accelerations(&system.structure, &eq, &mut kkt, &mut out);
            if found.is_err() || !kkt.dependent_rows().is_empty() {
                continue; // not for tables
            }
            let (mut vdot, mut lambda) = (out.vdot.clone(), out.lambda.clone());
            let f = model.loads.is_none().then_some(&*eq.f);
            let health = tables.accelerate(s.t, &s.q, &s.v, f, &mut vdot);
            tables.multipliers(&mut lambda);
            if health.pivot < 1e-6 {
                continue;
            }
            assert!(health.good() == 1, "{name}: {health:?}");
            assert!((health.pivot / kkt.smallest_pivot() - 1.0).abs() < 1e-6, "{name}: pivots");
            for (what, ours, theirs) in [("v̇", &vdot, &out.vdot), ("λ", &lambda, &out.lambda)] {
                let size = theirs.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
                for (a, b) in ours.iter().zip(theirs) {
                    assert!((a - b).abs() <= 1e-13 / health.pivot * size, "{name}: {what} {a} against {b}");
                }
            }
            seen.push(name);
        }
    }
    seen.dedup();
    for name in ["four_bar", "andrews", "mcpherson", "double_pendulum", "chain", "n_four_bar", "slider_crank"]
    {
        assert!(seen.contains(&name), "{name} has tables; seen: {seen:?}");
    }
}

/// A projection by tables leaves nothing for the general one to do.
#[test]
fn tables_reach_the_constraints_to_rounding() {
    for name in ["four_bar", "andrews", "mcpherson", "double_pendulum", "slider_crank"] {
        let (system, start) = load(name, &[]);
        let model = system.describe().unwrap();
        let mut tables = tables::<f64>(&[&model]).unwrap();
        let mut s = beside(&start, 5);
        let (health, iterations) = tables.project(&mut s.q, &mut s.v);
        assert!(health.good() == 1 && iterations > 0 && tables.moved(), "{name}: {health:?}");
        let mut mechanism = system.mechanism();
        let mut eq = Equations::new(&mechanism);
        mechanism.update(&s, Stage::VELOCITY, &mut eq);
        let worst = |x: &[f64]| x.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        assert!(worst(&eq.phi) < 1e-13, "{name}: Φ {:e}", worst(&eq.phi));
        assert!(worst(&eq.phidot) < 1e-12 * (1.0 + worst(&s.v)), "{name}: Φ̇ {:e}", worst(&eq.phidot));
        // what is left is rounding, and a second projection finds no more
        let before = s.clone();
        tables.project(&mut s.q, &mut s.v);
        for (a, b) in before.q.iter().chain(&before.v).zip(s.q.iter().chain(&s.v)) {
            assert!((a - b).abs() <= 1e-14 * (1.0 + a.abs()), "{name}: {a} moved to {b}");
        }
    }
}

/// What is kept from a projection, and of loads from another time, shows in no bit.
#[test]
fn accelerations_do_not_depend_on_what_was_asked_before() {
    for name in ["four_bar", "andrews", "mcpherson", "double_pendulum"] {
        let (system, start) = load(name, &[]);
        let model = system.describe().unwrap();
        let ask = |tables: &mut dyn Tables<f64>, s: &State| {
            let (mut vdot, mut lambda) = (s.v.clone(), vec![0.0; model.rows()]);
            tables.accelerate(s.t, &s.q, &s.v, None, &mut vdot);
            tables.multipliers(&mut lambda);
            vdot.into_iter().chain(lambda).map(f64::to_bits).collect::<Vec<_>>()
        };
        let fresh = |s: &State| ask(&mut *tables(&[&model]).unwrap(), s);
        let mut used = tables::<f64>(&[&model]).unwrap();
        let mut s = beside(&start, 5);
        let other = State { t: 0.7, ..beside(&start, 6) };
        used.project(&mut s.q, &mut s.v);
        let faster = State { v: s.v.iter().map(|v| 2.0 * v).collect(), ..s.clone() };
        let (mut phi, mut phidot) = (vec![0.0; model.rows()], vec![0.0; model.rows()]);
        for (i, state) in [&s, &faster, &s, &other, &s].into_iter().enumerate() {
            if i == 2 {
                used.violation(&other.q, &other.v, &mut phi, &mut phidot);
            }
            assert_eq!(ask(&mut *used, state), fresh(state), "{name}: question {i}");
        }
    }
}

/// However many corrections a projection takes, with old factors and new ones, and whether or not velocities need any: what it tells of Φ and Φ̇, and the
/// accelerations with its factors, are those of tables that have never projected.
#[test]
fn what_a_projection_leaves_is_what_it_tells() {
    let mut most = 0;
    for name in ["four_bar", "andrews", "mcpherson", "double_pendulum"] {
        let (system, start) = load(name, &[]);
        let model = system.describe().unwrap();
        let seen = |tables: &mut dyn Tables<f64>, s: &State| {
            let rows = || vec![0.0; model.rows()];
            let (mut phi, mut phidot, mut vdot) = (rows(), rows(), s.v.clone());
            tables.violation(&s.q, &s.v, &mut phi, &mut phidot);
            tables.accelerate(s.t, &s.q, &s.v, None, &mut vdot);
            [phi, phidot, vdot].into_iter().flatten().map(f64::to_bits).collect::<Vec<_>>()
        };
        for (far, moving) in [(1e-5, true), (1e-3, true), (1e-2, true), (1e-5, false), (1e-2, false)] {
            let mut s = beside(&start, 7);
            for (q, from) in s.q.iter_mut().zip(&start.q) {
                *q = from + far / 1e-5 * (*q - from);
            }
            system.mechanism().normalize(&mut s.q);
            s.v.iter_mut().for_each(|v| *v *= f64::from(u8::from(moving)));
            let mut used = tables::<f64>(&[&model]).unwrap();
            let (health, iterations) = used.project(&mut s.q, &mut s.v);
            assert!(health.good() == 1, "{name}, {far}: {health:?}");
            most = most.max(iterations);
            let fresh = seen(&mut *tables(&[&model]).unwrap(), &s);
            assert_eq!(seen(&mut *used, &s), fresh, "{name}, {far}, {moving}: {iterations} corrections");
        }
    }
    assert!(most >= 4, "corrections with old and new factors were not needed: {most}");
}

#[test]
fn variants_in_lanes_equal_variants_alone_to_the_bit() {
    let method = FixedStep::rk4(1e-3, 0.25).unwrap();
    // eleven: one full vector, and one filled up
    let (lanes, single) = (run(four_bars(11), &method, LANES), run(four_bars(11), &method, 1));
    for (i, (a, b)) in lanes.iter().zip(&single).enumerate() {
        assert_eq!(bits(&a.state), bits(&b.state), "variant {i}");
        assert!(a.left.is_none() && a.error.is_none() && a.state.t == 0.25, "variant {i}: {a:?}");
    }
    assert_ne!(bits(&lanes[0].state), bits(&lanes[1].state), "the variants differ");
}

#[test]
fn spatial_variants_with_loads_of_time_and_springs_equal_those_alone() {
    let method = FixedStep::rk4(2e-3, 0.1).unwrap();
    let struts =
        || (0..9).map(|i| member("mcpherson", &[("Jb", format!("[{0}, {0}, 0.1]", 0.08 + 0.01 * i as f64))]));
    let squeezers = || (0..8).map(|_| member("andrews", &[]));
    let short = FixedStep::rk4(1e-5, 1e-3).unwrap();
    for (a, b) in [
        (run(struts().collect(), &method, LANES), run(struts().collect(), &method, 1)),
        (run(squeezers().collect(), &short, LANES), run(squeezers().collect(), &short, 1)),
    ] {
        for (a, b) in a.iter().zip(&b) {
            assert!(a.left.is_none() && a.error.is_none(), "{a:?}");
            assert_eq!(bits(&a.state), bits(&b.state));
        }
    }
}

/// Parallelograms become singular when level; those that start faster get there sooner.
fn parallelograms(n: usize) -> Vec<Variant> {
    let one = |i: usize| {
        let mut one = member("n_four_bar", &[]);
        one.start.v.iter_mut().for_each(|v| *v *= 1.0 + 0.1 * i as f64);
        one
    };
    (0..n).map(one).collect()
}

#[test]
fn variants_that_meet_a_singular_position_leave_and_the_others_do_not_notice() {
    let method = FixedStep::rk4(5e-3, 1.2).unwrap();
    let (lanes, single) = (run(parallelograms(8), &method, LANES), run(parallelograms(8), &method, 1));
    assert!(lanes.iter().all(|o| o.error.is_none()), "{lanes:?}");
    assert!(lanes.iter().any(|o| o.left.is_some()), "some leave");
    for (a, b) in lanes.iter().zip(&single) {
        assert_eq!(a.left, b.left);
        assert_eq!(bits(&a.state), bits(&b.state));
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let method = FixedStep::rk4(1e-3, 0.05).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(four_bars(20), &method, LANES))
    };
    let (one, three) = (on(1), on(3));
    assert_eq!(one.len(), 20);
    for (a, b) in one.iter().zip(&three) {
        assert_eq!(bits(&a.state), bits(&b.state));
    }
}

/// A chain that sags between two walls: far from the ground is its middle, and elimination has two branches.
const BRIDGE: &str = r#"
    format = "sarrus/1"
    space = "planar"
    [parameters]
    n = 6000
    [functions]
    "sag(i)" = "-1e-4 * i * (n - i)"
    [repeat.links]
    for = "i = 1 to n"
    bodies."link{i}" = { from = ["i - 1", "sag(i - 1)"], to = ["i", "sag(i)"], mass = 1.0 }
    [repeat.joints]
    for = "i = 1 to n - 1"
    joints."J{i}" = { kind = "revolute", bodies = ["link{i}", "link{i+1}"], at = ["i", "sag(i)"] }
    [joints]
    left = { kind = "revolute", bodies = ["ground", "link1"], at = [0, 0] }
    right = { kind = "revolute", bodies = ["link6000", "ground"], at = ["n", 0] }
"#;

/// Loops over thousands of bodies are shared among threads, and branches of the elimination where there are any.
#[test]
fn the_number_of_threads_changes_no_bit_of_one_large_model() {
    for (name, (system, start)) in [
        ("chain", load("chain", &[("n", "5000".into())])),
        ("n_four_bar", load("n_four_bar", &[("n", "2500".into())])),
        ("bridge", read("bridge", BRIDGE, &[])),
    ] {
        let model = system.describe().unwrap();
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut tables = tables::<f64>(&[&model]).unwrap();
                let mut s = beside(&start, 3);
                tables.project(&mut s.q, &mut s.v);
                let (mut vdot, mut lambda) = (s.v.clone(), vec![0.0; model.rows()]);
                let health = tables.accelerate(0.0, &s.q, &s.v, None, &mut vdot);
                tables.multipliers(&mut lambda);
                assert!(health.good() == 1, "{health:?}");
                // once more with the factors that there are, and without
                let mut again = vdot.clone();
                tables.accelerate(0.0, &s.q, &s.v, None, &mut again);
                let moved = beside(&s, 4);
                let mut elsewhere = vdot.clone();
                let there = tables.accelerate(0.0, &moved.q, &moved.v, None, &mut elsewhere);
                let all = [s.q, s.v, vdot, lambda, again, elsewhere, vec![health.pivot, there.pivot]];
                all.into_iter().flatten().map(f64::to_bits).collect::<Vec<_>>()
            })
        };
        let alone = on(1);
        assert!(alone == on(2) && alone == on(4), "{name}");
    }
}

/// M v̇ + Jᵀλ = f and J v̇ = γ hold as well as by the general path, and pivots are the same.
#[test]
fn branches_of_a_large_model_solve_the_equations() {
    let (system, start) = read("bridge", BRIDGE, &[]);
    let (model, structure) = (system.describe().unwrap(), &system.structure);
    let mut tables = tables::<f64>(&[&model]).unwrap();
    let mut mechanism = system.mechanism();
    let (mut eq, mut out) = (Equations::new(&mechanism), Accel::zeros(structure));
    let mut kkt = Kkt::new(structure, &eq, HUB_DEGREE).unwrap();
    let mut general = formulations::make("proximal", &Options::new()).unwrap();
    let s = beside(&start, 2);
    mechanism.update(&s, Stage::FORCE, &mut eq);
    general.accelerations(structure, &eq, &mut kkt, &mut out).unwrap();
    let residual = |vdot: &[f64], lambda: &[f64]| {
        let mut force = vec![0.0; vdot.len()];
        eq.mass_mul(structure, vdot, &mut force);
        eq.add_Jt_mul(structure, lambda, &mut force);
        force.iter_mut().zip(&eq.f).for_each(|(a, f)| *a -= f);
        let mut rows: Vec<_> = eq.gamma.iter().map(|g| -g).collect();
        eq.add_J_mul(structure, vdot, &mut rows);
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        (largest(&force) / largest(lambda)).max(largest(&rows) / largest(vdot))
    };
    let (mut vdot, mut lambda) = (out.vdot.clone(), out.lambda.clone());
    let health = tables.accelerate(s.t, &s.q, &s.v, None, &mut vdot);
    tables.multipliers(&mut lambda);
    assert!(health.good() == 1, "{health:?}");
    assert!((health.pivot / kkt.smallest_pivot() - 1.0).abs() < 1e-6, "{health:?} {}", kkt.smallest_pivot());
    // another order of the same sums
    let (ours, theirs) = (residual(&vdot, &lambda), residual(&out.vdot, &out.lambda));
    assert!(ours < 4.0 * theirs, "{ours}, the general way {theirs}, {health:?}");
}

/// The same steps by `rk4`, `proximal` and `projection`, from the same start: both are the same method, and differ by rounding.
#[test]
fn an_ensemble_makes_the_motion_of_single_runs() {
    let method = FixedStep::rk4(1e-3, 0.25).unwrap();
    let (system, start) = load("four_bar", &[]);
    let outcome = &run(vec![member("four_bar", &[])], &method, LANES)[0];
    let mut mechanism = system.mechanism();
    let formulation = formulations::make("proximal", &Options::new()).unwrap();
    let stabilization = stabilizations::make("projection", &Options::new()).unwrap();
    let mut dynamics = Dynamics::new(&mut mechanism, formulation, stabilization).unwrap();
    let mut rk4 = (sarrus::solve::integrators::find("rk4").unwrap().new)(&Options::new()).unwrap();
    let mut s = start;
    let mut control = sarrus::solve::StepControl::new(1e-6, 1e-8, Some(1e-3)).unwrap();
    control.t_end = 0.25;
    let sarrus::solve::Integrator::Ode(step) = &mut rk4 else { panic!("rk4 is explicit") };
    step.prepare(&system.structure);
    while s.t < 0.25 {
        step.step(&mut dynamics, &mut s, &mut control).unwrap();
    }
    for (a, b) in outcome.state.q.iter().zip(&s.q) {
        // 250 steps, each rounded some hundred times
        assert!((a - b).abs() < 1e-10, "{a} against {b}");
    }
}

/// Returns which variants were seen when, in steps of 1 ms, and how they came out.
fn seen(members: Vec<Variant>, method: &FixedStep) -> (Vec<(usize, i64)>, Vec<VariantOutcome>) {
    let seen = Mutex::new(Vec::new());
    let see = |i, s: &State| seen.lock().unwrap().push((i, (s.t * 1e3).round() as i64));
    let outcomes = ensemble::run(members, method, &see);
    let mut seen = seen.into_inner().unwrap();
    seen.sort_unstable();
    (seen, outcomes)
}

/// The end is reported once, whether it is asked for or not, in lanes as alone.
#[test]
fn whoever_watches_sees_every_variant_at_the_steps_asked_for() {
    let redundant = || (0..3).map(|_| member("four_bar_spatial", &[])).collect();
    for (t_end, every, times) in
        [(0.035, 10, &[10, 20, 30, 35][..]), (0.030, 10, &[10, 20, 30]), (0.030, 0, &[30])]
    {
        let mut method = FixedStep::rk4(1e-3, t_end).unwrap();
        method.every = every;
        let expected: Vec<_> = (0..3).flat_map(|i| times.iter().map(move |t| (i, *t))).collect();
        for (what, batch) in [("lanes", four_bars(3)), ("alone", redundant())] {
            assert_eq!(seen(batch, &method).0, expected, "{what}, to {t_end} by {every}");
        }
    }
}

/// Those who leave their lane continue counting steps where the others are.
#[test]
fn whoever_watches_sees_variants_that_leave_at_the_same_steps() {
    let mut method = FixedStep::rk4(5e-3, 1.2).unwrap();
    method.every = 7;
    let (seen, outcomes) = seen(parallelograms(8), &method);
    assert!(outcomes.iter().any(|o| o.left.is_some_and(|t| (t / 5e-3).round() % 7.0 != 0.0)), "{outcomes:?}");
    let times: Vec<i64> = (35..1200).step_by(35).chain([1200]).collect();
    let expected: Vec<_> = (0..8).flat_map(|i| times.iter().map(move |t| (i, *t))).collect();
    assert_eq!(seen, expected);
}

/// What pushes from outside is none of the loads that tables know. It moves a variant as a force of the model does, to the rounding of single runs, and those beside
/// it do not notice.
#[test]
fn what_pushes_one_variant_moves_it_and_no_other() {
    let method = FixedStep::rk4(1e-3, 0.25).unwrap();
    let force = [12.0, -7.0];
    let pushed = |mut batch: Vec<Variant>, k: usize| {
        let (system, start) = load("four_bar", &[]);
        let mut mechanism = system.mechanism();
        let wrench = Wrench { force: Vec3([force[0], force[1], 0.0]), torque: Vec3([0.0; 3]) };
        mechanism.set_external_wrench(system.directory.body("coupler").unwrap(), wrench);
        batch[k] = Variant { problem: Box::new(mechanism), start };
        batch
    };
    let line = format!("push = {{ kind = 'force', body = 'coupler', force = {force:?} }}\n");
    let text = sarrus_zoo::model("four_bar").unwrap().replace("[forces]\n", &format!("[forces]\n{line}"));
    let (system, start) = read("four_bar", &text, &[]);
    let written = &run(vec![Variant { problem: Box::new(system.mechanism()), start }], &method, LANES)[0];
    let free = run(four_bars(3), &method, LANES);
    for k in 0..3 {
        for (i, outcome) in run(pushed(four_bars(3), k), &method, LANES).iter().enumerate() {
            if i != k {
                assert_eq!(bits(&outcome.state), bits(&free[i].state), "variant {i} beside {k}");
                continue;
            }
            let all = |s: &State| [&s.q[..], &s.v, &s.x].concat();
            for (a, b) in all(&outcome.state).iter().zip(&all(&written.state)) {
                assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "variant {k}: {a} against {b}");
            }
        }
    }
}

#[test]
fn models_without_tables_and_mixed_crews_run_all_the_same() {
    let method = FixedStep::rk4(1e-3, 0.02).unwrap();
    let batch =
        || vec![member("four_bar", &[]), member("double_pendulum", &[]), member("four_bar_spatial", &[])];
    let (lanes, single) = (run(batch(), &method, LANES), run(batch(), &method, 1));
    for (a, b) in lanes.iter().zip(&single) {
        assert!(a.error.is_none(), "{a:?}");
        assert_eq!(bits(&a.state), bits(&b.state));
    }
}

/// Accelerations at `s`, and whether the general path was asked for them.
fn accelerations(system: &Arc<System>, s: &State, kind: Regularize) -> (Vec<f64>, bool) {
    let mut mechanism = system.mechanism();
    let formulation = formulations::make("proximal", &Options::new()).unwrap();
    let stabilization = stabilizations::make("projection", &Options::new()).unwrap();
    let mut dynamics = Dynamics::new(&mut mechanism, formulation, stabilization).unwrap();
    dynamics.regularize(kind, StepMode::Fixed).unwrap();
    dynamics.begin_step(1e-3);
    let mut rates = s.clone();
    dynamics.rhs(s, &mut rates.q, &mut rates.v, &mut rates.x).unwrap();
    assert!(dynamics.passages().is_empty());
    (rates.v, dynamics.kkt().factorizations() > 0)
}

/// Where the general path is asked whether a singular position is near and finds none, the accelerations are still those of tables: whether it was asked shows in
/// no bit.
#[test]
fn a_look_that_finds_nothing_leaves_no_trace() {
    let (mut asked, mut apart) = (0, 0);
    for phi in (10..360).step_by(10) {
        let (system, start) = load("four_bar", &[("phi", format!("{phi} deg"))]);
        let (tables, by_general) = accelerations(&system, &start, Regularize::Off);
        assert!(!by_general, "{phi}");
        let (found, was_asked) = accelerations(&system, &start, Regularize::default());
        assert_eq!(found, tables, "{phi}");
        let mut mechanism = system.mechanism();
        let formulation = formulations::make("proximal", &Options::new()).unwrap();
        let none = stabilizations::make("none", &Options::new()).unwrap();
        let mut general = Dynamics::new(&mut mechanism, formulation, none).unwrap();
        asked += usize::from(was_asked);
        apart += usize::from(was_asked && general.evaluate(&start).unwrap().vdot != tables);
    }
    // the general path rounds otherwise, or this would tell nothing
    assert!(apart > 0, "{apart} of {asked}");
}
