//! Describes how near J is to losing rank, for formulations that factor [`Partition`]s: the smallest eigenvalue of D_r J M⁻¹Jᵀ D_r,
//! whose diagonal is about one.
//!
//! One inverse iteration at every call, from where the last one left off: with M x + Jᵀμ = 0 and J x = b,
//! μ = -(J M⁻¹Jᵀ)⁻¹b. Cost: one solution. The pivots of J_u would not do: they fall at dead points of the choice too.

use crate::partition::Partition;

/// The estimate, and the direction that belongs to it.
#[derive(Debug, Clone)]
pub(super) struct Weakest {
    /// Unit vector (nc).
    z: Vec<f64>,
    /// Zero (nv), as the force of the iteration.
    rest: Vec<f64>,
    x: Vec<f64>,
    mu: Vec<f64>,
    value: f64,
}

impl Weakest {
    /// Nothing known yet, for `nv` velocities and `nc` rows.
    pub fn new(nv: usize, nc: usize) -> Weakest {
        let z = (0..nc).map(anything).collect();
        Weakest { z, rest: vec![0.0; nv], x: vec![0.0; nv], mu: vec![0.0; nc], value: 1.0 }
    }

    /// The eigenvalue, from above.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Improves on the estimate, with `apply` of [`Correction::solve`](super::correction::Correction::solve).
    pub fn update(
        &mut self,
        partition: &mut Partition,
        mut apply: impl FnMut(&mut Partition, &[f64], &[f64], &mut [f64], &mut [f64]),
    ) {
        let norm = |z: &[f64]| z.iter().map(|z| z * z).sum::<f64>().sqrt();
        let Weakest { z, rest, x, mu, value } = self;
        let before = norm(z);
        z.iter_mut().zip(partition.row_scale()).for_each(|(z, scale)| *z /= scale);
        apply(partition, rest, z, x, mu);
        z.iter_mut().zip(&*mu).zip(partition.row_scale()).for_each(|((z, mu), scale)| *z = mu / scale);
        let after = norm(z);
        *value = if after > 0.0 { before / after } else { 1.0 };
        for (i, z) in z.iter_mut().enumerate() {
            *z = if after.is_normal() { *z / after } else { anything(i) };
        }
    }
}

/// Numbers without a pattern that a mechanism could have too.
fn anything(i: usize) -> f64 {
    (1.0 + i as f64).sin()
}
