//! After warm-up a step allocates nothing.

use sarrus::prelude::*;
use sarrus::solve::integrators::InChart;
use sarrus::solve::{
    Dynamics, Integrator, Options, State, StepControl, formulations, integrators, stabilizations,
};
use sarrus::system::Tree;
use sarrus_zoo::model;
use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; the counter is a plain thread-local cell without destructor.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are passed on
        unsafe { Heap.alloc(layout) }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on
        unsafe { Heap.dealloc(p, layout) }
    }

    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are passed on
        unsafe { Heap.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations in 50 steps after 20 for warming up.
fn allocations(name: &str, integrator: &str, methods: [&str; 2]) -> u64 {
    allocations_in(name, integrator, methods, false)
}

/// The same, in joint coordinates where asked for; after the name of the model perhaps a parameter and its value.
fn allocations_in(name: &str, integrator: &str, methods: [&str; 2], joint: bool) -> u64 {
    let (name, set) = name.split_once(' ').unwrap_or((name, ""));
    let set = set.split_once('=').into_iter().map(|(key, value)| (key.into(), value.into())).collect();
    let options = LoadOptions { set, ..LoadOptions::default() };
    let text = model(name).unwrap();
    let model =
        load_str(&format!("{name}.toml"), text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    let start = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap();
    let mut mechanism = system.mechanism();
    mechanism.set_discrete(&start.discrete);
    let none = Default::default();
    let mut dynamics = Dynamics::new(
        &mut mechanism,
        formulations::make(methods[0], &none).unwrap(),
        stabilizations::make(methods[1], &none).unwrap(),
    )
    .unwrap();
    let (kind, option) = integrator.split_once(':').unwrap_or((integrator, ""));
    let mut options = Options::new();
    if let Some((name, value)) = option.split_once('=') {
        options.set(name, value);
    }
    let mut method = (integrators::find(kind).unwrap().new)(&options).unwrap();
    if joint {
        let Integrator::Ode(inner) = method else { panic!("{integrator} needs the bodies' own coordinates") };
        let tree = Tree::new(&system, &start.discrete).unwrap();
        method = Integrator::Ode(Box::new(InChart::new(inner, Box::new(tree), true)));
    }
    let mut control = StepControl::new(1e-8, 1e-10, Some(1e-3)).unwrap();
    let mut state: State = start.state;
    control.t_end = state.t + 1e3;
    method.prepare(&system.structure);
    let mut before = 0;
    for step in 0..70 {
        if step == 20 {
            before = ALLOCATIONS.get();
        }
        method.step(&mut dynamics, &mut state, &mut control).unwrap();
    }
    ALLOCATIONS.get() - before
}

#[test]
fn a_step_allocates_nothing_after_warm_up() {
    // loops, drivers, redundant rows, rolling and expressions, a controller, quaternions, beams, a modal body, a contact
    let names =
        ["four_bar", "strandbeest", "mcpherson_overconstrained", "rolling_ball", "slider_crank", "chain"];
    for name in names.into_iter().chain([
        "beam_pendulum order=1",
        "beam_pendulum order=3",
        "spinning_blade",
        "incline",
    ]) {
        for integrator in ["rk4", "rk45", "dop853", "abm"] {
            let methods = ["proximal", "projection"];
            assert_eq!(allocations(name, integrator, methods), 0, "{name} with {integrator}");
        }
    }
}

/// Trees by articulated bodies, and loops.
#[test]
fn a_step_in_joint_coordinates_allocates_nothing_after_warm_up() {
    for name in ["chain", "gyroscope", "four_bar", "mcpherson_overconstrained", "rolling_ball", "strandbeest"]
    {
        for integrator in ["rk4", "dop853", "abm"] {
            let found = allocations_in(name, integrator, ["proximal", "projection"], true);
            assert_eq!(found, 0, "{name} with {integrator}");
        }
    }
}

/// Counts allocations between two steps of a run.
#[derive(Default)]
struct Steps {
    at: [u64; 2],
}

impl sarrus::analysis::Watch for Steps {
    fn step(&mut self, progress: &sarrus::analysis::Progress) -> sarrus::analysis::Proceed {
        for (at, step) in self.at.iter_mut().zip([30, 80]) {
            if progress.steps == step {
                *at = ALLOCATIONS.get();
            }
        }
        sarrus::analysis::Proceed::Continue
    }
}

#[test]
fn looking_for_events_allocates_nothing_after_warm_up() {
    let text = "format = 'sarrus/1'\nrun = { t_end = 20, step = 0.05 }\n\
        bodies.a = { from = [0, 0, 0], to = [1, 0, 0], mass = 1 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0, 0], axis = [0, 1, 0], lock_at = '7 rev' }\n\
        events.far = { when = 'A.angle > 10 or energy.kinetic > 1e3', stop = 'far' }\n\
        events.high = { when = 'a.z > 0.4 and A.fz > 1e4', stop = 'high' }\n";
    let model =
        load_str("model.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    let mut steps = Steps::default();
    let request = Simulate { record: false, ..Simulate::default() };
    let report = simulate(&model, &system, &request, &mut steps).unwrap().report;
    assert!(report.events.is_empty() && report.counts.steps > 80, "{:?}", report.counts);
    assert_eq!(steps.at[1] - steps.at[0], 0);
}

/// Controllers that read a reaction and an energy at every step, one of them with a delay.
#[test]
fn sampling_allocates_nothing_after_warm_up() {
    for run in
        ["integrator = 'staggered', step = 0.01", "integrator = 'rk4', step = 0.01", "integrator = 'dop853'"]
    {
        let text = format!(
            "format = 'sarrus/1'\nrun = {{ t_end = 2, {run} }}\n\
            bodies.a = {{ from = [0, 0, 0], to = [1, 0, 0], mass = 1 }}\n\
            joints.A = {{ kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0, 0], axis = [0, 1, 0] }}\n\
            measures.load = {{ kind = 'reaction', joint = 'A', axes = 'a' }}\n\
            controllers.c = {{ kind = 'sampled', period = 0.01, delay = 0.02, states = {{ x = 0 }}, \
            update = {{ x = 'x + u' }}, outputs = {{ u = '-0.01*load.fx' }} }}\n\
            controllers.p = {{ kind = 'pid', period = 0.01, input = '1 - energy.kinetic', kp = 0.1, ki = 0.1, kd = 0.01 }}\n\
            forces.F = {{ kind = 'actuator', joint = 'A', torque = 'c.u + p.out' }}\n"
        );
        let model = load_str("model.toml", &text, &LoadOptions::default())
            .unwrap_or_else(|e| panic!("{}", e.render()));
        let system = Arc::new(compile(&model).unwrap());
        let mut steps = Steps::default();
        let request = Simulate { record: false, ..Simulate::default() };
        let report = simulate(&model, &system, &request, &mut steps).unwrap().report;
        assert!(report.counts.steps > 80, "{run}: {:?}", report.counts);
        assert_eq!(steps.at[1] - steps.at[0], 0, "{run}");
    }
}

/// A torque and a driver by functions, with derivatives and without.
#[test]
fn functions_given_by_a_program_allocate_nothing_after_warm_up() {
    use sarrus::model::functions::{Closure, Functions};
    let mut functions = Functions::default();
    functions.add("law", Closure::new(2, |x| -0.3 * x[0] - x[1].sin()));
    let ramp = Closure::new(1, |t| t[0].sin())
        .with_gradient(|t, out| out[0] = t[0].cos())
        .with_second(|t, out| out[0] = -t[0].sin());
    functions.add("ramp", ramp);
    let text = "format = 'sarrus/1'\nspace = 'planar'\n\
        bodies.a = { from = [0, 0], to = [1, 0], mass = 1 }\n\
        bodies.b = { from = [1, 0], to = [2, 0], mass = 1 }\n\
        joints.A = { kind = 'revolute', bodies = ['ground', 'a'], at = [0, 0] }\n\
        joints.B = { kind = 'revolute', bodies = ['a', 'b'], at = [1, 0] }\n\
        drivers.D = { kind = 'joint', joint = 'A', angle = 'ramp(t)' }\n\
        forces.T = { kind = 'actuator', joint = 'B', torque = 'law(B.rate, B.angle)' }\n";
    let options = LoadOptions { functions, ..LoadOptions::default() };
    let model = load_str("model.toml", text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    let start = sarrus::analysis::assemble(&model, &system, Default::default()).unwrap();
    let mut mechanism = system.mechanism();
    mechanism.set_discrete(&start.discrete);
    let none = Options::new();
    let formulation = formulations::make("proximal", &none).unwrap();
    let stabilization = stabilizations::make("projection", &none).unwrap();
    let mut dynamics = Dynamics::new(&mut mechanism, formulation, stabilization).unwrap();
    let mut method = (integrators::find("rk4").unwrap().new)(&none).unwrap();
    let mut control = StepControl::new(1e-8, 1e-10, Some(1e-2)).unwrap();
    let mut state = start.state;
    control.t_end = 10.0;
    method.prepare(&system.structure);
    let mut before = 0;
    for step in 0..70 {
        if step == 20 {
            before = ALLOCATIONS.get();
        }
        method.step(&mut dynamics, &mut state, &mut control).unwrap();
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
}

/// A loop, redundant rows, and rows at velocity level.
#[test]
fn partitioning_and_correction_allocate_nothing_after_warm_up() {
    for name in ["four_bar", "mcpherson_overconstrained", "rolling_ball"] {
        for methods in [["partitioned", "partitioned"], ["proximal", "violation_correction"]] {
            assert_eq!(allocations(name, "rk45", methods), 0, "{name} with {methods:?}");
        }
    }
}

/// Drivers, redundant rows, rows at velocity level, a controller, quaternions.
#[test]
fn staggered_steps_allocate_nothing_after_warm_up() {
    for name in
        ["four_bar", "strandbeest", "mcpherson_overconstrained", "rolling_ball", "slider_crank", "chain"]
    {
        for integrator in [
            "staggered",
            "staggered:form=paper",
            "staggered:form=one_step",
            "staggered:adaptive=yes",
            "park1987",
        ] {
            assert_eq!(allocations(name, integrator, ["proximal", "none"]), 0, "{name} with {integrator}");
        }
    }
}

/// The counter counts: otherwise the test above could not fail.
#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    let workspace: Vec<u8> = Vec::with_capacity(100);
    assert!(ALLOCATIONS.get() > before && workspace.capacity() >= 100);
}
