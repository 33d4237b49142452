//! A vector of run-time expressions.

use crate::at::At;
use crate::formula::{Binder, Formula};
use sarrus_math::{Real, Vec3};
use sarrus_model::reader::RuntimeVector;
use sarrus_model::{Result, RuntimeExpr};
use sarrus_solve::tables::{LoadKind, LoadRecord, OfTime};
use std::sync::Arc;

/// Up to three formulas; missing components are 0.
#[derive(Clone, Debug)]
pub struct VectorFormula([Option<Formula>; 3]);

impl VectorFormula {
    /// Binds the components of a vector.
    pub fn bind(binder: &mut Binder, vector: &RuntimeVector) -> Result<Self> {
        let mut components = binder.vector(vector)?.into_iter();
        Ok(VectorFormula(std::array::from_fn(|_| components.next().flatten())))
    }

    /// Binds the z component alone: a torque in the plane.
    pub fn bind_z(binder: &mut Binder, z: &RuntimeExpr) -> Result<Self> {
        Ok(VectorFormula([None, None, Some(binder.scalar(z)?)]))
    }

    /// A load with these numbers in world axes at `point` of its body, where they depend on nothing but time.
    pub fn record(&self, kind: LoadKind, point: [f64; 3]) -> Option<LoadRecord> {
        if !self.0.iter().flatten().all(Formula::needs_only_time) {
            return None;
        }
        let at = |t| At { t, poses: &[], twists: &[], ids: &[], hints: &[], outs: &[] };
        let is_constant = self.0.iter().flatten().all(|formula| formula.constant().is_some());
        let [x, y, z] = if is_constant { self.eval(&at(0.0)).0 } else { [0.0; 3] };
        let own = self.clone();
        let timed = (!is_constant).then(|| OfTime(Arc::new(move |t| own.eval(&at(t)).0)));
        Some(LoadRecord { kind, bodies: [0, 0], r_A: [0.0; 3], r_B: point, p: [x, y, z, 0.0], timed })
    }

    /// The value at an instant.
    pub fn eval<R: Real>(&self, at: &At<R>) -> Vec3<R> {
        let component = |i: usize| self.0[i].as_ref().map_or(R::zero(), |formula| formula.eval(at));
        Vec3([component(0), component(1), component(2)])
    }
}
