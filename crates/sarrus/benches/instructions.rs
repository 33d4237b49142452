//! Instructions that the main kernels take, each with the most that it may take.
//!
//!     scripts/test-instructions
//!
//! Counted by callgrind, so that neither the load of the machine nor its clock shows. `most(n)` stands where n were counted, and lets pass
//! five percent more: for the C library, whose `memcpy`, sine and allocator differ from one to the next, and for small changes of the compiler. No kernel
//! here uses matrices of the library `faer` in a loop, which would take other instructions on other processors; callgrind knows no AVX-512, so that
//! lanes are counted with AVX2 wherever there is that.
//!
//! Where a change makes a kernel faster, write the new number, which the output has, or the gain may be lost again unnoticed. Where one must be slower, say
//! why in the commit.

#![allow(missing_docs)] // of what the macros make

use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind, LibraryBenchmarkConfig};
use sarrus::prelude::*;
use sarrus::solve::ensemble::{self, FixedStep, LANES, Variant};
use sarrus::solve::{Chart, Dynamics, Ode, Options, State, formulations, stabilizations};
use sarrus::system::{Mechanism, Tree, TreeDynamics};
use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;

/// Calls of a kernel that takes a few thousand instructions.
const CALLS: usize = 10;
/// Links of a tree.
const LINKS: usize = 100;

/// The most instructions that a kernel may take where `counted` were: five percent more.
fn most(counted: u64) -> LibraryBenchmarkConfig {
    let mut config = LibraryBenchmarkConfig::default();
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, counted + counted / 20)]);
    config.tool(callgrind);
    config
}

/// A model of the zoo with something set in it.
fn zoo(name: &str, set: &[(&str, &str)]) -> Model {
    let set = set.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    let text = sarrus_zoo::model(name).expect("a model of the zoo");
    load_str(name, text, &LoadOptions { set, ..LoadOptions::default() }).expect("it loads")
}

/// A system, and its start.
fn started(name: &str, set: &[(&str, &str)]) -> (Arc<System>, State) {
    let model = zoo(name, set);
    let system = Arc::new(compile(&model).expect("it compiles"));
    let start =
        sarrus::analysis::assemble(&model, &system, Default::default()).expect("it has a start").state;
    (system, start)
}

/// Equations with a state, and room for its rates.
struct Case {
    dynamics: Dynamics<'static, Mechanism>,
    state: State,
    rates: State,
}

/// A mechanism a little off its constraints, after a first call of everything.
fn case(name: &str, set: &[(&str, &str)], stabilization: &str) -> Case {
    let (system, mut state) = started(name, set);
    let none = Options::default();
    let mut dynamics = Dynamics::new(
        Box::leak(Box::new(system.mechanism())),
        formulations::make("proximal", &none).expect("it is there"),
        stabilizations::make(stabilization, &none).expect("it is there"),
    )
    .expect("it has equations");
    let mut rates = state.clone();
    dynamics.rhs(&state, &mut rates.q, &mut rates.v, &mut rates.x).expect("accelerations");
    // as after a step of so many seconds, which leaves the constraints by its square
    for (q, dq) in state.q.iter_mut().zip(&rates.q) {
        *q += 1e-4 * dq;
    }
    for (v, dv) in state.v.iter_mut().zip(&rates.v) {
        *v += 1e-4 * dv;
    }
    let mut case = Case { dynamics, state, rates };
    let there = case.state.clone();
    case.dynamics.project(&mut case.state).expect("it gets there");
    case.state = there;
    right_sides(case)
}

fn by_tables(name: &str, set: &[(&str, &str)]) -> Case {
    case(name, set, "projection")
}

/// A shift of γ is not for tables.
fn in_general(name: &str, set: &[(&str, &str)]) -> Case {
    case(name, set, "baumgarte")
}

fn right_sides(mut case: Case) -> Case {
    let Case { dynamics, state, rates } = &mut case;
    for _ in 0..CALLS {
        dynamics.rhs(black_box(state), &mut rates.q, &mut rates.v, &mut rates.x).expect("accelerations");
    }
    case
}

#[library_benchmark(setup = by_tables)]
#[bench::four_bar(args = ("four_bar", &[]), config = most(26_895))]
#[bench::n_four_bar(args = ("n_four_bar", &[("n", "4")]), config = most(105_455))]
#[bench::andrews(args = ("andrews", &[]), config = most(51_285))]
#[bench::mcpherson(args = ("mcpherson", &[]), config = most(121_275))]
fn rhs_by_tables(case: Case) -> Case {
    right_sides(case)
}

#[library_benchmark(setup = in_general)]
#[bench::four_bar(args = ("four_bar", &[]), config = most(111_313))]
#[bench::mcpherson(args = ("mcpherson", &[]), config = most(338_353))]
fn rhs_in_general(case: Case) -> Case {
    right_sides(case)
}

#[library_benchmark(setup = by_tables)]
#[bench::four_bar(args = ("four_bar", &[]), config = most(51_208))]
#[bench::mcpherson(args = ("mcpherson", &[]), config = most(311_988))]
fn projection_by_tables(mut case: Case) -> Case {
    let Case { dynamics, state, rates } = &mut case;
    for _ in 0..CALLS {
        rates.copy_from(black_box(state));
        assert!(dynamics.project(rates).expect("it gets there"));
    }
    case
}

/// A tree with a state and room.
struct Branch {
    chart: Tree,
    tree: TreeDynamics,
    state: State,
    rates: Vec<f64>,
    out: Vec<f64>,
}

/// A chain of hinges, in space about axes that differ, in motion.
fn chain(planar: bool) -> Branch {
    let mut text = "format = 'sarrus/1'\n".to_string();
    text += if planar { "space = 'planar'\n" } else { "" };
    let zeros = if planar { ", 0" } else { ", 0, 0" };
    let mut before = "ground".to_string();
    for i in 0..LINKS {
        let shape = if planar { "" } else { ", shape = { kind = 'capsule', radius = 0.1 }" };
        let axis = match (planar, i % 3) {
            (true, _) => "",
            (_, 0) => ", axis = [0, 1, 0]",
            (_, 1) => ", axis = [0, 0, 1]",
            _ => ", axis = [0.6, 0.8, 0]",
        };
        writeln!(text, "bodies.b{i} = {{ from = [{i}{zeros}], to = [{}{zeros}], mass = 1{shape} }}", i + 1)
            .and_then(|()| {
                writeln!(text, "joints.j{i} = {{ kind = 'revolute', bodies = ['{before}', 'b{i}'], at = [{i}{zeros}]{axis} }}")
            })
            .expect("text grows");
        before = format!("b{i}");
    }
    let model = load_str("chain.toml", &text, &LoadOptions::default()).expect("it loads");
    let system = Arc::new(compile(&model).expect("it compiles"));
    let chart = Tree::new(&system, system.mechanism().discrete()).expect("it is a tree");
    let mut tree = TreeDynamics::new(&system).expect("it is a tree");
    let mut state = tree.start();
    state.q.iter_mut().enumerate().for_each(|(i, q)| *q = 0.01 * i as f64);
    state.v.iter_mut().enumerate().for_each(|(i, v)| *v = 0.1 - 0.002 * i as f64);
    let n = state.v.len();
    inverse(forward(Branch { chart, tree, state, rates: vec![0.3; n], out: vec![0.0; n] }))
}

/// As a step in joint coordinates takes it.
fn forward(mut branch: Branch) -> Branch {
    let Branch { chart, state, out, .. } = &mut branch;
    assert!(chart.gravity_accelerations(black_box(state), out));
    branch
}

fn inverse(mut branch: Branch) -> Branch {
    let Branch { tree, state, rates, out, .. } = &mut branch;
    tree.inverse_dynamics(black_box(state), rates, out);
    branch
}

#[library_benchmark(setup = chain)]
#[bench::planar(args = (true), config = most(32_161))]
#[bench::spatial(args = (false), config = most(128_880))]
fn forward_dynamics(branch: Branch) -> Branch {
    forward(branch)
}

#[library_benchmark(setup = chain)]
#[bench::planar(args = (true), config = most(83_367))]
#[bench::spatial(args = (false), config = most(81_664))]
fn inverse_dynamics(branch: Branch) -> Branch {
    inverse(branch)
}

/// Variants for all lanes, how they step, and a pool of this thread alone: what others do is not counted.
struct Batch {
    members: Vec<Variant>,
    method: FixedStep,
    pool: rayon::ThreadPool,
}

fn batch(name: &str, step: f64) -> Batch {
    let (system, start) = started(name, &[]);
    let member = |k: usize| {
        let mut start = start.clone();
        start.v.iter_mut().for_each(|v| *v *= 1.0 + 1e-3 * k as f64);
        Variant { problem: Box::new(system.mechanism()), start }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().expect("a pool");
    let method = FixedStep::rk4(step, start.t + 50.0 * step).expect("a step");
    Batch { members: (0..LANES).map(member).collect(), method, pool }
}

// Fifty steps of eight variants, and what goes before them once.
#[library_benchmark(setup = batch)]
#[bench::four_bar(args = ("four_bar", 1e-4), config = most(1_616_228))]
#[bench::mcpherson(args = ("mcpherson", 1e-3), config = most(12_236_023))]
fn rk4_in_lanes(batch: Batch) -> Vec<ensemble::VariantOutcome> {
    let Batch { members, method, pool } = batch;
    let outcomes = pool.install(|| ensemble::run(members, &method, &|_, _| ()));
    assert!(outcomes.iter().all(|o| o.left.is_none() && o.error.is_none()));
    outcomes
}

fn long_chain() -> Model {
    zoo("chain", &[("n", "1000")])
}

#[library_benchmark]
#[bench::chain_of_1000(setup = long_chain, config = most(30_839_216))]
fn compiled(model: Model) -> (System, Model) {
    (compile(black_box(&model)).expect("it compiles"), model)
}

/// The four-bar for half a second, with the settings of its file.
fn short_run() -> (Model, Arc<System>, Simulate) {
    let model = zoo("four_bar", &[]);
    let system = Arc::new(compile(&model).expect("it compiles"));
    let mut request = Simulate::default();
    request.overrides.t_end = Some(0.5);
    (model, system, request)
}

#[library_benchmark]
// all columns: 60, of which 13 are accelerations, with their peaks, which take a tenth
#[bench::four_bar(setup = short_run, config = most(55_895_682))]
fn dop853((model, system, request): (Model, Arc<System>, Simulate)) -> (Outcome, Model) {
    let outcome = simulate(black_box(&model), &system, &request, &mut ()).expect("it runs");
    assert_eq!(
        (outcome.report.status, outcome.report.method.integrator.as_str()),
        (Status::Completed, "dop853")
    );
    (outcome, model)
}

library_benchmark_group!(
    name = kernels,
    benchmarks = [
        rhs_by_tables,
        rhs_in_general,
        projection_by_tables,
        forward_dynamics,
        inverse_dynamics,
        rk4_in_lanes,
        compiled,
        dop853
    ]
);

main!(library_benchmark_groups = kernels);
