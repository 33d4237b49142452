//! Positions onto Φ = 0, nearest in the mass metric, then velocities onto Φ̇ = 0.
//!
//! Positions: q ← q ⊕ -Wᵀ S⁻¹ Φ, until Φ is rounding; velocities: v ← v - Wᵀ S⁻¹ J v with factors at these positions, which serve the next
//! accelerations too.
//!
//! A large model makes factors along with each check Φ, while its rows are in the cache: the last ones, where Φ is rounding, are those of the velocities.
//! A small one takes every second correction with the factors of the one before, and makes those of the velocities once Φ is rounding.

use super::block::BodyRows;
use super::engine::{BodySpace, Engine, Health, nothing};
use super::passes::{Excess, check_violation, multiply};
use sarrus_math::lane::{Lane, Mask};

/// Corrections before giving up.
const ITERATIONS: u32 = 6;
/// The same of velocities.
const VELOCITY_ITERATIONS: u32 = 2;

impl<L: Lane, S: BodySpace<L, C>, B: BodyRows<L, S, N, C>, const N: usize, const C: usize>
    Engine<L, S, B, N, C>
{
    #[inline(always)]
    pub fn project_positions(&mut self, q: &mut [L], v: &mut [L]) -> (Health<L>, u32) {
        let one = L::splat(1.0);
        let mut iterations = 0;
        let mut health = Health { pivot: one, residual: L::splat(0.0), refinements: 0 };
        self.moved = false;
        (self.is_held, self.is_current) = (false, false);
        let mut largest = one;
        for q in &*q {
            largest = largest.max(q.abs());
        }

        self.largest = largest;
        let mut wanting = L::splat(0.0).lt(one);
        let is_large = self.blocks.count() > 1;
        loop {
            let is_factored = is_large || iterations == 0;
            if is_factored {
                self.eliminate::<true>(Some((q, v)), true);
                note_pivot(self.pivot, &mut health);
            } else {
                self.update_kinematics(q, v);
                self.evaluate();
                self.excess = Excess::new();
                check_violation(&self.J, &self.value, self.largest, &mut self.excess);
            }
            wanting = wanting & self.exceeds_tolerance(&mut health);
            if !wanting.any() || iterations == ITERATIONS {
                break;
            }
            if !is_factored {
                self.z.copy_from_slice(&self.value);
                self.factor_or_lower(iterations % 2 == 0, &mut health);
            }
            self.change();
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
        }
        if wanting.any() {
            // not a number, where lanes did not get there
            let bad = L::splat(f64::NAN);
            health.residual = L::select(wanting, bad, health.residual);
        }

        let mut is_due = !is_large && iterations > 0;
        for pass in 0..=VELOCITY_ITERATIONS {
            let wanting = self.moving(v, &mut health);
            let is_last = !wanting.any() || pass == VELOCITY_ITERATIONS;
            if std::mem::take(&mut is_due) {
                self.factor_or_lower(true, &mut health);
                if is_last {
                    // there was nothing to solve, and Φ̇ is reported
                    self.rates(v);
                    break;
                }
            } else if is_last {
                break;
            } else {
                self.lower();
            }
            self.change();
            for (v, x) in v.chunks_exact_mut(C).zip(&self.x[1..]) {
                for p in 0..C {
                    v[p] = L::select(wanting, v[p] + x[p], v[p]);
                }
            }
            self.moved = true;
        }
        self.held[0].copy_from_slice(q);
        self.held[1].copy_from_slice(v);
        (self.is_held, self.is_current, self.is_reported) = (true, true, true);
        (health, iterations)
    }

    /// L⁻¹ z, with factors that are made anew or with those that there are.
    #[inline(always)]
    fn factor_or_lower(&mut self, anew: bool, health: &mut Health<L>) {
        if anew {
            self.factor();
            note_pivot(self.pivot, health);
        } else {
            self.lower();
        }
    }

    /// Lanes with a row beyond rounding.
    #[inline(always)]
    fn exceeds_tolerance(&self, health: &mut Health<L>) -> L::Mask {
        health.residual += nothing(self.excess.sum);
        L::splat(0.0).lt(self.excess.most)
    }

    /// Φ̇ = J v into z.
    #[inline(always)]
    pub fn rates(&mut self, v: &[L]) {
        for (x, v) in self.x[1..].iter_mut().zip(v.as_chunks().0) {
            *x = *v;
        }
        self.x[0] = [L::splat(0.0); C];
        multiply(&self.bodies, &self.J, &self.x, None, &mut self.z);
    }

    /// The same, and the lanes where it is beyond the rounding of the largest velocity.
    #[inline(always)]
    fn moving(&mut self, v: &[L], health: &mut Health<L>) -> L::Mask {
        self.rates(v);
        let mut largest = L::splat(0.0);
        for v in v {
            largest = largest.max(v.abs());
        }
        self.excess = Excess::new();
        check_violation(&self.J, &self.z, largest, &mut self.excess);
        self.exceeds_tolerance(health)
    }
}

#[inline(always)]
fn note_pivot<L: Lane>(pivot: L, health: &mut Health<L>) {
    health.pivot = L::select(pivot.lt(health.pivot), pivot, health.pivot);
}
