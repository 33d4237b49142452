//! A vector of run-time expressions.

use super::NO_LIMITS;
use crate::at::At;
use crate::formula::{Binder, Formula};
use sarrus_math::{Real, Vec3};
use sarrus_model::reader::RuntimeVector;
use sarrus_model::{Result, RuntimeExpr};
use sarrus_solve::tables::{LoadKind, LoadRecord, VectorOfTime};
use std::sync::{Arc, OnceLock};

/// Up to three formulas; missing components are 0.
#[derive(Clone, Debug)]
pub struct VectorFormula {
    components: [Option<Formula>; 3],
    /// The same for all records, so that the caller that has several sees that they are one.
    of_time: OnceLock<VectorOfTime>,
}

impl VectorFormula {
    /// Binds the components of a vector.
    pub fn bind(binder: &mut Binder, vector: &RuntimeVector) -> Result<Self> {
        let mut components = binder.vector(vector)?.into_iter();
        Ok(VectorFormula::of(std::array::from_fn(|_| components.next().flatten())))
    }

    /// Binds the z component alone: a torque in the plane.
    pub fn bind_z(binder: &mut Binder, z: &RuntimeExpr) -> Result<Self> {
        Ok(VectorFormula::of([None, None, Some(binder.scalar(z)?)]))
    }

    fn of(components: [Option<Formula>; 3]) -> Self {
        VectorFormula { components, of_time: OnceLock::new() }
    }

    /// A load with these numbers in world axes at `point` of its body, where they depend on nothing but time.
    pub fn record(&self, kind: LoadKind, point: [f64; 3]) -> Option<LoadRecord> {
        if !self.components.iter().flatten().all(Formula::needs_only_time) {
            return None;
        }
        let at = |t| At { t, poses: &[], twists: &[], ids: &[], discrete: &[], outs: &[] };
        let is_constant = self.components.iter().flatten().all(|formula| formula.constant().is_some());
        let [x, y, z] = if is_constant { self.eval(&at(0.0)).0 } else { [0.0; 3] };
        let of_time = || {
            let own = self.clone();
            VectorOfTime(Arc::new(move |t| own.eval(&at(t)).0))
        };
        let timed = (!is_constant).then(|| self.of_time.get_or_init(of_time).clone());
        Some(LoadRecord { kind, bodies: [0, 0], r_A: [0.0; 3], r_B: point, p: [x, y, z, 0.0], timed })
    }

    /// Calls `found` with each component.
    pub fn laws(&self, found: &mut dyn FnMut(&Formula, [f64; 2])) {
        self.components.iter().flatten().for_each(|formula| found(formula, NO_LIMITS));
    }

    /// The value at an instant.
    pub fn eval<R: Real>(&self, at: &At<R>) -> Vec3<R> {
        let component = |i: usize| self.components[i].as_ref().map_or(R::zero(), |formula| formula.eval(at));
        Vec3([component(0), component(1), component(2)])
    }
}
