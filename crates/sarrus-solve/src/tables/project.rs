//! Positions onto Φ = 0, nearest in the mass metric, then velocities onto Φ̇ = 0.
//!
//! Positions: q ← q ⊕ -Wᵀ S⁻¹ Φ with the factors of the first correction, until Φ is rounding; velocities: v ← v - Wᵀ S⁻¹ J v with factors
//! at these positions, which serve the next accelerations too.

use super::block::Block;
use super::engine::{Engine, Frame, From, Health, copy, nothing};
use sarrus_math::lane::{Lane, Mask};

/// Roundings in a row of Φ or Φ̇.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Corrections before giving up.
const ITERATIONS: u32 = 6;
/// The same of velocities.
const VELOCITY_ITERATIONS: u32 = 2;

impl<L: Lane, S: Frame<L, C>, B: Block<L, S, N, C>, const N: usize, const C: usize> Engine<L, S, B, N, C> {
    #[inline(always)]
    pub fn onto_constraints(&mut self, q: &mut [L], v: &mut [L]) -> (Health<L>, u32) {
        let one = L::splat(1.0);
        let mut iterations = 0;
        let mut health = Health { pivot: one, residual: L::splat(0.0), refinements: 0 };
        self.moved = false;
        self.is_held = false;
        let mut largest = one;
        for q in &*q {
            largest = largest.max(q.abs());
        }

        self.place(q, v);
        self.evaluate::<true>();
        let mut wanting = self.off(largest, &mut health);
        while wanting.any() && iterations < ITERATIONS {
            if iterations == 0 {
                self.factor();
                health.pivot = self.pivot;
            }
            self.z.copy_from_slice(&self.value);
            self.correct(From::Rest);
            for (q, x) in q.chunks_exact_mut(S::NQ).zip(&self.x[1..]) {
                // a lane that is there stays
                let mut before = [one; 7];
                before[..S::NQ].copy_from_slice(q);
                S::retract(q, x);
                for i in 0..S::NQ {
                    q[i] = L::select(wanting, q[i], before[i]);
                }
            }
            iterations += 1;
            self.moved = true;
            self.place(q, v);
            self.evaluate::<true>();
            wanting = wanting & self.off(largest, &mut health);
        }
        if wanting.any() {
            // not a number, where lanes did not get there
            let bad = L::splat(f64::NAN);
            health.residual = L::select(wanting, bad, health.residual);
        }

        self.factor();
        let less = self.pivot.lt(health.pivot);
        health.pivot = L::select(less, self.pivot, health.pivot);
        for pass in 0..=VELOCITY_ITERATIONS {
            let wanting = self.moving(v, &mut health);
            if !wanting.any() || pass == VELOCITY_ITERATIONS {
                break;
            }
            self.correct(From::Rest);
            for (v, x) in v.chunks_exact_mut(C).zip(&self.x[1..]) {
                for p in 0..C {
                    v[p] = L::select(wanting, v[p] + x[p], v[p]);
                }
            }
            self.moved = true;
        }
        self.held.copy_from_slice(q);
        (self.is_held, self.is_placed) = (true, true);
        (health, iterations)
    }

    /// Lanes with a row of Φ beyond rounding.
    #[inline(always)]
    fn off(&self, largest: L, health: &mut Health<L>) -> L::Mask {
        let (mut excess, mut sum) = (L::splat(-1.0), L::splat(0.0));
        let unit = L::splat(ROUNDING) * largest;
        for (J, phi) in self.J.iter().zip(&self.value) {
            let (a, b) = (J[0].slopes(), J[1].slopes());
            for i in 0..N {
                sum += phi[i];
                excess = excess.max(phi[i].abs() - unit * (a[i] + b[i]));
            }
        }
        health.residual += nothing(sum);
        L::splat(0.0).lt(excess)
    }

    /// Φ̇ = J v into z.
    #[inline(always)]
    pub fn rates(&mut self, v: &[L]) {
        for (x, v) in self.x[1..].iter_mut().zip(v.as_chunks().0) {
            copy(x, v);
        }
        self.x[0] = [L::splat(0.0); C];
        for ((element, J), z) in self.elements.iter().zip(&self.J).zip(&mut self.z) {
            let [a, b] = element.bodies.map(|b| &self.x[b as usize]);
            let (a, b) = (J[0].times(a), J[1].times(b));
            for i in 0..N {
                z[i] = a[i] + b[i];
            }
        }
    }

    /// The same, and the lanes where it is beyond the rounding of the largest velocity.
    #[inline(always)]
    fn moving(&mut self, v: &[L], health: &mut Health<L>) -> L::Mask {
        self.rates(v);
        let (mut excess, mut sum) = (L::splat(-1.0), L::splat(0.0));
        let mut largest = L::splat(0.0);
        for v in v {
            largest = largest.max(v.abs());
        }
        let unit = L::splat(ROUNDING) * largest;
        for (J, z) in self.J.iter().zip(&self.z) {
            let (a, b) = (J[0].slopes(), J[1].slopes());
            for i in 0..N {
                sum += z[i];
                excess = excess.max(z[i].abs() - unit * (a[i] + b[i]));
            }
        }
        health.residual += nothing(sum);
        L::splat(0.0).lt(excess)
    }
}
