//! Describes how continuous controllers change with positions, velocities and their states, and what they do to forces.
//!
//! With o the outputs and states that expressions read, o = h(q, v, x), ẋ = r(q, v, x) and f = f(q, v, o). Derivatives are exact (duals
//! through every expression), and outputs that read others are followed by the chain rule in the order in which they are computed. Sampled
//! controllers hold what they put out and inputs what they are set to: both count as constant. Dense, for analyses that are dense.

use crate::at::At;
use crate::derive::columns;
use crate::load::Wrench;
use crate::mechanism::Mechanism;
use crate::system::{ControllerElement, System};
use crate::tangent::{generalized, kind_columns};
use sarrus_math::{Dual, Pose, Real, Twist};
use sarrus_solve::State;

/// Evaluates a controller with its states into a vector of outputs or rates.
type Evaluate<'a> = dyn Fn(&ControllerElement, &At<D>, &[D], &mut Vec<D>) + 'a;

/// Derivatives of a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    /// In the directions of the velocities (nv).
    pub q: Vec<f64>,
    /// (nv).
    pub v: Vec<f64>,
    /// By state.
    pub x: Vec<f64>,
}

impl Gradient {
    fn zeros(nv: usize, states: usize) -> Gradient {
        Gradient { q: vec![0.0; nv], v: vec![0.0; nv], x: vec![0.0; states] }
    }

    fn add(&mut self, factor: f64, other: &Gradient) {
        for (to, from) in [(&mut self.q, &other.q), (&mut self.v, &other.v), (&mut self.x, &other.x)] {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
        }
    }

    /// Its change with small motions and changes of the states.
    pub fn along(&self, dq: &[f64], dv: &[f64], dx: &[f64]) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        dot(&self.q, dq) + dot(&self.v, dv) + dot(&self.x, dx)
    }
}

/// A state of a continuous controller.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlState {
    /// `pid.integral`.
    pub name: String,
    /// Its place in x.
    pub x: usize,
}

/// The linear part of all controllers.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearControllers {
    /// States that forces depend on, directly or through others.
    pub states: Vec<ControlState>,
    /// Rates of these.
    pub rates: Vec<Gradient>,
    /// Outputs and states that forces read: how each changes, and ∂f/∂o (nv).
    pub acts: Vec<(Gradient, Vec<f64>)>,
    /// Names of sampled controllers that forces depend on.
    pub held: Vec<String>,
}

type D = Dual<6>;

/// Holds what is seeded.
struct Seeds<'a> {
    system: &'a System,
    at: &'a At<'a, f64>,
    /// First place of the continuous controllers' states, by controller; none of others.
    first: Vec<Option<usize>>,
    /// By place among the outputs: the state that it shows.
    shows: Vec<Option<usize>>,
    /// All states, as places in x.
    states: Vec<ControlState>,
}

impl<'a> Seeds<'a> {
    fn new(system: &'a System, at: &'a At<'a, f64>) -> Self {
        let (mut first, mut shows, mut states) = (Vec::new(), vec![None; system.outs], Vec::new());
        for element in &system.controllers {
            let is_continuous = element.controller.sampling().is_none() && !element.controller.is_input();
            first.push(is_continuous.then_some(states.len()));
            if !is_continuous {
                continue;
            }
            let named = element.named_states();
            for i in 0..element.controller.states() {
                let name = named.get(i).map_or_else(|| format!("state{}", i + 1), |(name, _)| name.clone());
                if let Some((_, index)) = named.get(i) {
                    shows[*index] = Some(states.len());
                }
                states.push(ControlState { name: format!("{}.{name}", element.name), x: element.x + i });
            }
        }
        Seeds { system, at, first, shows, states }
    }

    fn outs(&self) -> Vec<D> {
        self.at.outs.iter().map(|x| D::constant(*x)).collect()
    }

    /// Derivatives of what `eval` gives of a controller; `outs` are those of the outputs that it reads.
    fn differentiate(&self, index: usize, x: &[f64], outs: &[Gradient], eval: &Evaluate) -> Vec<Gradient> {
        let (system, at) = (self.system, self.at);
        let element = &system.controllers[index];
        let n = element.ids.len();
        let ids: Vec<u32> = (0..n as u32).collect();
        let body = |i: usize| element.ids[i] as usize;
        let mut poses: Vec<Pose<D>> = (0..n).map(|i| at.poses[body(i)].lift()).collect();
        let mut twists: Vec<Twist<D>> = (0..n).map(|i| at.twists[body(i)].lift()).collect();
        let mut lifted = self.outs();
        let mut own: Vec<D> = x.iter().map(|x| D::constant(*x)).collect();
        let mut values = Vec::new();
        let run = |poses: &[Pose<D>], twists: &[Twist<D>], lifted: &[D], own: &[D], values: &mut Vec<D>| {
            let t = D::constant(at.t);
            values.clear();
            eval(
                element,
                &At { t, poses, twists, ids: &ids, discrete: at.discrete, outs: lifted },
                own,
                values,
            );
        };
        run(&poses, &twists, &lifted, &own, &mut values);
        let mut found = vec![Gradient::zeros(system.structure.nv, self.states.len()); values.len()];
        let columns = columns(system.wide);
        for moved in (0..n).filter(|i| element.ids[*i] != 0) {
            let (pose, twist) = (&at.poses[body(moved)], &at.twists[body(moved)]);
            let first = system.directory.bodies[body(moved)].v;
            let wide = kind_columns(system, element.ids[moved]);
            for velocities in [false, true] {
                if velocities {
                    poses[moved] = pose.lift();
                    twists[moved] = twist.seed(pose, 0, columns);
                } else {
                    poses[moved] = pose.seed(0, columns);
                    twists[moved] = twist.seed_with(&poses[moved], 0, &[]);
                }
                run(&poses, &twists, &lifted, &own, &mut values);
                for (gradient, value) in found.iter_mut().zip(&values) {
                    let to = if velocities { &mut gradient.v } else { &mut gradient.q };
                    to[first..][..wide].iter_mut().zip(&value.d).for_each(|(to, d)| *to += d);
                }
            }
            (poses[moved], twists[moved]) = (pose.lift(), twist.lift());
        }
        // outputs, and states both where they are read by name and where they are the controller's own
        let outputs: Vec<usize> = (0..lifted.len()).filter(|slot| self.shows[*slot].is_none()).collect();
        for indices in outputs.chunks(6) {
            indices.iter().enumerate().for_each(|(k, slot)| lifted[*slot].d[k] = 1.0);
            run(&poses, &twists, &lifted, &own, &mut values);
            for (gradient, value) in found.iter_mut().zip(&values) {
                for (k, slot) in indices.iter().enumerate().filter(|(k, _)| value.d[*k] != 0.0) {
                    gradient.add(value.d[k], &outs[*slot]);
                }
            }
            indices.iter().for_each(|slot| lifted[*slot].d = [0.0; 6]);
        }
        let all: Vec<usize> = (0..self.states.len()).collect();
        for states in all.chunks(6) {
            for (k, state) in states.iter().enumerate() {
                let shown = self.shows.iter().position(|s| *s == Some(*state));
                shown.into_iter().for_each(|slot| lifted[slot].d[k] = 1.0);
                let mine = self.first[index].and_then(|first| state.checked_sub(first));
                mine.filter(|i| *i < own.len()).into_iter().for_each(|i| own[i].d[k] = 1.0);
            }
            run(&poses, &twists, &lifted, &own, &mut values);
            for (gradient, value) in found.iter_mut().zip(&values) {
                states.iter().enumerate().for_each(|(k, state)| gradient.x[*state] += value.d[k]);
            }
            lifted.iter_mut().chain(&mut own).for_each(|x| x.d = [0.0; 6]);
        }
        found
    }

    /// ∂f/∂o of every output and state.
    fn forces(&self) -> Vec<Vec<f64>> {
        let (system, at) = (self.system, self.at);
        let mut found = vec![vec![0.0; system.structure.nv]; system.outs];
        let mut lifted = self.outs();
        let indices: Vec<usize> = (0..lifted.len()).collect();
        for force in system.forces.iter().filter(|f| f.enabled) {
            let n = force.ids.len();
            let ids: Vec<u32> = (0..n as u32).collect();
            let body = |i: usize| force.ids[i] as usize;
            let poses: Vec<Pose<D>> = (0..n).map(|i| at.poses[body(i)].lift()).collect();
            let twists: Vec<Twist<D>> = (0..n).map(|i| at.twists[body(i)].lift()).collect();
            let mut wrenches = vec![Wrench::zero(); n];
            for batch in indices.chunks(6) {
                batch.iter().enumerate().for_each(|(k, index)| lifted[*index].d[k] = 1.0);
                wrenches.fill(Wrench::zero());
                let t = D::constant(at.t);
                let seeded =
                    At { t, poses: &poses, twists: &twists, ids: &ids, discrete: at.discrete, outs: &lifted };
                force.load.wrench_dual(&seeded, &mut wrenches);
                for i in (0..n).filter(|i| force.ids[*i] != 0) {
                    let own = &system.directory.bodies[body(i)];
                    let f = generalized(own, &poses[i], &wrenches[i]);
                    for (r, f) in f.iter().enumerate().take(own.kind.nv()) {
                        batch.iter().enumerate().for_each(|(k, index)| found[*index][own.v + r] += f.d[k]);
                    }
                }
                batch.iter().for_each(|index| lifted[*index].d = [0.0; 6]);
            }
        }
        found
    }
}

impl Mechanism {
    /// The linear part of the controllers at `s`.
    pub fn control_tangent(&mut self, s: &State) -> LinearControllers {
        let system = self.system().clone();
        self.observe(s, |at| control(&system, at, &s.x))
    }
}

fn control(system: &System, at: &At<f64>, x: &[f64]) -> LinearControllers {
    let seeds = Seeds::new(system, at);
    let (nv, count) = (system.structure.nv, seeds.states.len());
    let mut outs = vec![Gradient::zeros(nv, count); system.outs];
    for (slot, state) in seeds.shows.iter().enumerate() {
        state.iter().for_each(|state| outs[slot].x[*state] = 1.0);
    }
    let own = |element: &ControllerElement| &x[element.x..][..element.controller.states()];
    let continuous = || system.controllers.iter().enumerate().filter(|(i, _)| seeds.first[*i].is_some());
    for (index, element) in continuous() {
        let found = seeds.differentiate(index, own(element), &outs, &|element, at, x, out| {
            out.resize(element.controller.outputs().len(), D::zero());
            element.controller.output_dual(at, x, out);
        });
        for (i, gradient) in found.into_iter().enumerate() {
            outs[element.out + i] = gradient;
        }
    }
    let mut rates = Vec::new();
    for (index, element) in continuous() {
        rates.extend(seeds.differentiate(index, own(element), &outs, &|element, at, x, out| {
            out.resize(element.controller.states(), D::zero());
            element.controller.rates_dual(at, x, out);
        }));
    }
    let forces = seeds.forces();
    let acts = |slot: usize| forces[slot].iter().any(|f| *f != 0.0);
    let held = system
        .controllers
        .iter()
        .filter(|c| c.controller.sampling().is_some() && c.outputs.iter().any(|(_, slot)| acts(*slot)))
        .map(|c| c.name.clone())
        .collect();
    let acts: Vec<(Gradient, Vec<f64>)> = (0..system.outs)
        .filter(|slot| acts(*slot))
        .map(|slot| (outs[slot].clone(), forces[slot].clone()))
        .collect();

    // states that no force depends on change nothing
    let mut matters: Vec<bool> = (0..count).map(|k| acts.iter().any(|(o, _)| o.x[k] != 0.0)).collect();
    loop {
        let more = |k: usize| !matters[k] && (0..count).any(|i| matters[i] && rates[i].x[k] != 0.0);
        let Some(k) = (0..count).find(|k| more(*k)) else { break };
        matters[k] = true;
    }
    let retained = |list: &[f64]| list.iter().zip(&matters).filter(|(_, m)| **m).map(|(x, _)| *x).collect();
    let keep = |g: Gradient| Gradient { x: retained(&g.x), ..g };
    LinearControllers {
        states: seeds.states.into_iter().zip(&matters).filter(|(_, m)| **m).map(|(s, _)| s).collect(),
        rates: rates.into_iter().zip(&matters).filter(|(_, m)| **m).map(|(g, _)| keep(g)).collect(),
        acts: acts.into_iter().map(|(g, f)| (keep(g), f)).collect(),
        held,
    }
}
