//! A vector of run-time expressions.

use crate::at::At;
use crate::formula::{Binder, Formula};
use sarrus_math::{Real, Vec3};
use sarrus_model::reader::RuntimeVector;
use sarrus_model::{Result, RuntimeExpr};
use sarrus_solve::tables::OfTime;
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

    /// Its value if it depends on nothing.
    pub fn constant(&self) -> Option<[f64; 3]> {
        let component = |i: usize| self.0[i].as_ref().map_or(Some(0.0), Formula::constant);
        Some([component(0)?, component(1)?, component(2)?])
    }

    /// It as a function of time, where it depends on nothing else.
    pub fn of_time(&self) -> Option<OfTime> {
        let own = self.clone();
        let plain = self.0.iter().flatten().all(Formula::needs_only_time);
        plain.then(|| {
            let at = |t| At { t, poses: &[], twists: &[], ids: &[], hints: &[], outs: &[] };
            OfTime(Arc::new(move |t| own.eval(&at(t)).0))
        })
    }

    /// The value at an instant.
    pub fn eval<R: Real>(&self, at: &At<R>) -> Vec3<R> {
        let component = |i: usize| self.0[i].as_ref().map_or(R::zero(), |formula| formula.eval(at));
        Vec3([component(0), component(1), component(2)])
    }
}
