//! Describes what a solution leaves, and refinement where pivots are small.

use super::block::BodyRows;
use super::engine::{BodySpace, Engine};
use super::passes::SolveTarget;
use sarrus_math::lane::{Lane, Mask};

/// A residual at this fraction of its terms is rounding.
const ROUNDING: f64 = 1e-14;
/// Passes of refinement, at most.
const PASSES: u32 = 3;
/// Keeps sizes of terms from zero.
const TINY: f64 = 1e-290;

impl<L: Lane, S: BodySpace<L, C>, B: BodyRows<L, S, N, C>, const N: usize, const C: usize>
    Engine<L, S, B, N, C>
{
    /// J x - γ into z, and how large it is beside its terms: numerator and denominator of the largest.
    #[inline(always)]
    fn residual(&mut self) -> (L, L) {
        let (mut num, mut den) = (L::splat(0.0), L::splat(1.0));
        for (((bodies, J), gamma), z) in self.bodies.iter().zip(&self.J).zip(&self.value).zip(&mut self.z) {
            let [a, b] = bodies.map(|b| b as usize);
            let (Ja, Jb) = (J[0].times(&self.x[a]), J[1].times(&self.x[b]));
            let (mut size_a, mut size_b) = ([L::splat(0.0); C], [L::splat(0.0); C]);
            for p in 0..C {
                size_a[p] = self.x[a][p].abs() + self.x0[a][p].abs();
                size_b[p] = self.x[b][p].abs() + self.x0[b][p].abs();
            }
            let (sa, sb) = (J[0].sizes(&size_a), J[1].sizes(&size_b));
            for i in 0..N {
                z[i] = Ja[i] + Jb[i] - gamma[i];
                let (r, terms) = (z[i].abs(), sa[i] + sb[i] + gamma[i].abs() + L::splat(TINY));
                let more = (num * terms).lt(r * den);
                num = L::select(more, r, num);
                den = L::select(more, terms, den);
            }
        }
        (num, den)
    }

    /// Refines the solution in the lanes that are `doubtful`. Returns the largest residual, relative to its terms, and how many passes it took.
    #[inline(always)]
    pub(super) fn refine(&mut self, doubtful: L::Mask, vdot: &mut [[L; C]]) -> (L, u32) {
        let mut refinements = 0;
        self.lambda.copy_from_slice(&self.z);
        self.x[1..].copy_from_slice(vdot);
        let (mut num, mut den) = self.residual();
        let is_large = |num: L, den: L| (L::splat(ROUNDING) * den).lt(num);
        let mut wanting = doubtful & is_large(num, den);
        while wanting.any() && refinements < PASSES {
            // a lane that needs no refinement gets none
            self.lower();
            self.ascend(SolveTarget::Own(wanting), vdot);
            self.x[1..].copy_from_slice(vdot);
            for (lambda, z) in self.lambda.iter_mut().zip(&self.z) {
                for i in 0..N {
                    lambda[i] = L::select(wanting, lambda[i] + z[i], lambda[i]);
                }
            }
            refinements += 1;
            let before = (num, den);
            (num, den) = self.residual();
            let decreases = (num * before.1 * L::splat(2.0)).lt(before.0 * den);
            wanting = wanting & decreases & is_large(num, den);
        }
        // multipliers are left in z
        self.z.copy_from_slice(&self.lambda);
        (L::select(doubtful, num / den, L::splat(0.0)), refinements)
    }
}
