//! Describes what the symmetric form knows of λ⁺ before Φ is evaluated.

use super::super::chain::equal;
use super::super::modules::Modules;
use super::{Next, SymmetricStaggered};
use crate::problem::{Accel, State, Structure};
use crate::staggered::add_Jt_mul_each;

/// A step longer than this times the one before it begins as a start does: 4³ = 64 roundings of Φ are still as good as none.
const LONGER: f64 = 4.0;

impl SymmetricStaggered {
    /// λ⁺ and (h/2)(f - Jᵀλ⁺) as far as they are known.
    pub(super) fn predict_plus(&mut self, m: &mut Modules, s: &Structure, start: &State, h: f64) {
        if h > LONGER * self.h[0] {
            self.start_with_lambda(m, s, start);
        }
        let SymmetricStaggered {
            eq: [eq, _], accel: [accel, _], next: [next, _], plus, missed, impulse, ..
        } = self;
        let Next { minus, plus: predicted, rest } = next;
        let change = &mut self.eta[0];
        plus.copy_from_slice(predicted);
        if self.h[0].is_nan() || equal(h, self.h[0]) {
            for (i, missed) in missed.iter_mut().enumerate() {
                *missed = plus[i] - (2.0 * accel.lambda[i] - minus[i]);
            }
            impulse.iter_mut().zip(&*rest).for_each(|(i, f)| *i = 0.5 * h * f);
            return;
        }
        let ratio = h / self.h[0];
        for (i, plus) in plus.iter_mut().enumerate() {
            let l = accel.lambda[i];
            missed[i] = ratio * ratio * (predicted[i] - (2.0 * l - minus[i]));
            *plus = l + ratio * (l - minus[i]) + missed[i];
            change[i] = *plus - predicted[i];
        }
        impulse.copy_from_slice(rest);
        add_Jt_mul_each(s, eq, [-1.0], [change], [impulse]);
        impulse.iter_mut().for_each(|i| *i *= 0.5 * h);
    }

    /// Makes `start` the start of the chain: λ there is all that is known.
    pub(super) fn start_with_lambda(&mut self, m: &mut Modules, s: &Structure, start: &State) {
        let ([eq, _], [Accel { lambda, .. }, _]) = (&self.eq, &self.accel);
        let Next { minus, plus, rest } = &mut self.next[0];
        for to in [minus, plus, &mut self.before] {
            to.copy_from_slice(lambda);
        }
        // anew: a λ⁺ that is all rounding has left its digits in the old one
        rest.copy_from_slice(m.remaining(s, eq, &eq.f, lambda));
        m.motion.applied(&start.v, rest);
        self.h = [f64::NAN; 2];
        (self.is_smooth, self.share) = (false, 1.0);
        (self.good, self.needed) = (0, 1);
    }
}
