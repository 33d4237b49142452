//! Play with two springy flanks: the stops of a joint coordinate, the backlash of a mesh.
//!
//! Of x = Σ factor·coordinate - value nothing acts while lo ≤ x ≤ hi. Beyond, with δ > 0 the way past the flank, it pushes back with
//!
//! F = k δ + d,  d = c δ̇ held between -k δ and k δ.
//!
//! The damper is never stronger than the spring: so the force begins and ends at zero, never pulls, and is continuous for any damping;
//! where c is small against √(k m) it is a spring and a damper side by side. Books: k δ²/2 is stored, d δ̇ ≥ 0 is heat. The
//! force has corners at the flanks: integrators with error control make their steps smaller there.

use super::prelude::*;
use crate::coordinate::CoordinateRef;

/// The force.
#[derive(Clone, Debug)]
pub struct Flanks {
    /// Factors and coordinates.
    pub terms: Vec<(f64, CoordinateRef)>,
    /// What is taken from their sum.
    pub value: f64,
    /// Where the flanks are; either may be infinite.
    pub limits: [f64; 2],
    /// k \[N/m, N m/rad\].
    pub stiffness: f64,
    /// c \[N s/m, N m s/rad\].
    pub damping: f64,
    /// Whether x is an angle.
    pub is_angle: bool,
    /// Hints of coordinates that belong to no joint and are kept here.
    pub own_hints: Vec<(u32, CoordinateRef)>,
}

/// How far x is past a flank.
struct Past<R> {
    /// 1 past the upper flank, -1 past the lower one.
    side: f64,
    /// δ.
    way: R,
    /// δ̇.
    rate: R,
}

impl Flanks {
    fn x<R: Real>(&self, at: &At<R>) -> R {
        let start = R::from_f64(-self.value);
        self.terms.iter().fold(start, |x, (factor, c)| x + c.value(at) * *factor)
    }

    fn speed<R: Real>(&self, at: &At<R>) -> R {
        self.terms.iter().fold(R::zero(), |x, (factor, c)| x + c.speed(at) * *factor)
    }

    fn past<R: Real>(&self, at: &At<R>) -> Option<Past<R>> {
        let (x, [lo, hi]) = (self.x(at), self.limits);
        let (side, way) = if x.value() < lo {
            (-1.0, -x + lo)
        } else if x.value() > hi {
            (1.0, x - hi)
        } else {
            return None;
        };
        let rate = if self.damping == 0.0 { R::zero() } else { self.speed(at) * side };
        Some(Past { side, way, rate })
    }

    /// d.
    fn damper<R: Real>(&self, past: &Past<R>) -> R {
        let (elastic, d) = (past.way * self.stiffness, past.rate * self.damping);
        if d.value() > elastic.value() {
            elastic
        } else if d.value() < -elastic.value() {
            -elastic
        } else {
            d
        }
    }

    /// Effort along x.
    fn effort<R: Real>(&self, at: &At<R>) -> R {
        match self.past(at) {
            Some(past) => (past.way * self.stiffness + self.damper(&past)) * -past.side,
            None => R::zero(),
        }
    }
}

impl Force for Flanks {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        if self.past(at).is_none() {
            return;
        }
        let effort = self.effort(at);
        for (factor, c) in &self.terms {
            let [on_A, on_B] = c.effort(at, effort * *factor);
            for (place, (force, torque)) in [(c.a, on_A), (c.b, on_B)] {
                out[place].force += force;
                out[place].torque += torque;
            }
        }
    }

    fn potential<R: Real>(&self, at: &At<R>) -> R {
        self.past(at).map_or(R::zero(), |past| past.way * past.way * (0.5 * self.stiffness))
    }

    fn dissipation<R: Real>(&self, at: &At<R>) -> R {
        self.past(at).map_or(R::zero(), |past| self.damper(&past) * past.rate)
    }

    fn keeps_books(&self) -> bool {
        true
    }

    fn heats_unseen(&self) -> bool {
        self.damping > 0.0
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        if self.is_angle { &[("force", "N m"), ("play", "rad")] } else { &[("force", "N"), ("play", "m")] }
    }

    fn reading(&self, k: usize, at: &At<f64>) -> f64 {
        if k == 0 { self.effort(at) } else { self.x(at) }
    }

    fn update_hints(&self, at: &At<f64>, hints: &mut [f64]) {
        for (hint, coordinate) in &self.own_hints {
            hints[*hint as usize] = coordinate.value(at);
        }
    }

    fn relative_rotation(&self, at: &At<f64>) -> f64 {
        self.own_hints.iter().map(|(_, coordinate)| coordinate.rotation(at)).fold(0.0, f64::max)
    }
}
