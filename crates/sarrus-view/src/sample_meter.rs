//! Describes what a sample has beside its row: the step that covers it, how far the constraints are from losing rank, what loads do, and
//! where contacts touch.
//!
//! These are no columns of the trajectory, which stays as it is asked for; live runs have them in their frames, and a folder of results in files
//! of their own ([`crate::extras`]).
//!
//! Cost: of σ a factorization and a few solutions a sample, left out above [`MOST_ROWS`] rows; of contacts the search for their
//! points.

use crate::scene::SceneLoad;
use sarrus::analysis::{SampleDiagnostics, SmallestSingular};
use sarrus::solve::{Equations, Problem, Stage, State};
use sarrus::system::contact::TouchingPoint;
use sarrus::system::{Mechanism, System};
use std::sync::Arc;

/// Rows of constraints above which σ is not searched for.
pub const MOST_ROWS: usize = 2000;
/// Points of a sample at most: the ones with the largest forces.
pub const MAX_POINTS: usize = 4096;

/// A number beside the columns.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Extra {
    Step,
    Sigma,
    /// Component of a load, by its number.
    Load(usize, usize),
}

/// Checks samples.
pub struct SampleMeter {
    /// Names of its numbers, those of loads last.
    pub names: Vec<String>,
    /// Their units.
    pub units: Vec<String>,
    /// Its numbers at the last sample.
    pub values: Vec<f64>,
    /// Marks where contacts touch there.
    pub points: Vec<TouchingPoint>,
    extras: Vec<Extra>,
    /// Force and body of each load, and whether it is a torque.
    sources: Vec<(usize, usize)>,
    rotates: Vec<bool>,
    vectors: Vec<[f64; 3]>,
    sigma: SmallestSingular,
    /// The system whose rows σ is of: events change them.
    of: Option<Arc<System>>,
    eq: Equations,
}

impl SampleMeter {
    /// For runs of `system` with these loads, whose trajectory has the columns `taken`: those are not reported twice.
    pub fn new(system: &System, loads: &[SceneLoad], taken: &[String]) -> SampleMeter {
        let mut diagnostics = SampleMeter {
            names: Vec::new(),
            units: Vec::new(),
            values: Vec::new(),
            points: Vec::new(),
            extras: Vec::new(),
            sources: loads.iter().map(|load| load.source).collect(),
            rotates: loads.iter().map(|load| load.kind == "torque").collect(),
            vectors: vec![[0.0; 3]; loads.len()],
            sigma: SmallestSingular::default(),
            of: None,
            eq: Equations::default(),
        };
        let mut add = |name: &str, unit: &str, extra: Extra| {
            if !taken.iter().any(|taken| taken == name) {
                diagnostics.names.push(name.into());
                diagnostics.units.push(unit.into());
                diagnostics.extras.push(extra);
            }
        };
        add("run.step", "s", Extra::Step);
        if (1..=MOST_ROWS).contains(&system.structure.nc) {
            add("run.sigma", "", Extra::Sigma);
        }
        for (i, load) in loads.iter().enumerate() {
            let unit = if load.kind == "torque" { "N m" } else { "N" };
            load.vector.iter().enumerate().for_each(|(k, name)| add(name, unit, Extra::Load(i, k)));
        }
        diagnostics.values = vec![f64::NAN; diagnostics.names.len()];
        diagnostics
    }

    /// Checks the sample `s`. Numbers that are not known are NaN.
    pub fn sample(&mut self, mechanism: &mut Mechanism, s: &State, seen: &SampleDiagnostics) {
        mechanism.contact_points(s, seen.solved.map(|(_, accel)| &accel.lambda[..]), &mut self.points);
        if self.points.len() > MAX_POINTS {
            let size = |point: &TouchingPoint| point.force.iter().map(|f| f * f).sum::<f64>();
            self.points.select_nth_unstable_by(MAX_POINTS, |a, b| size(b).total_cmp(&size(a)));
            self.points.truncate(MAX_POINTS);
        }
        if !self.sources.is_empty() {
            let SampleMeter { sources, rotates, vectors, .. } = self;
            mechanism.wrenches(s, sources, |i, wrench| {
                vectors[i] = if rotates[i] { wrench.torque.0 } else { wrench.force.0 };
            });
        }
        let sigma =
            if self.extras.contains(&Extra::Sigma) { self.sigma(mechanism, s, seen) } else { f64::NAN };
        for (value, extra) in self.values.iter_mut().zip(&self.extras) {
            *value = match *extra {
                Extra::Step => seen.step.unwrap_or(f64::NAN),
                Extra::Sigma => sigma,
                Extra::Load(i, k) => self.vectors[i][k],
            };
        }
    }

    fn sigma(&mut self, mechanism: &mut Mechanism, s: &State, seen: &SampleDiagnostics) -> f64 {
        let system = mechanism.system();
        if !self.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, system)) {
            self.of = Some(system.clone());
            self.sigma.forget();
            self.eq = Equations::default();
        }
        let found = match seen.solved {
            Some((eq, _)) => self.sigma.update(mechanism.structure(), eq),
            None => {
                if self.eq.J.is_empty() {
                    self.eq = Equations::new(mechanism);
                }
                mechanism.update(s, Stage::POSITION, &mut self.eq);
                self.sigma.update(mechanism.structure(), &self.eq)
            }
        };
        // a run continues without it
        found.ok().filter(|sigma| sigma.is_finite()).unwrap_or(f64::NAN)
    }
}
