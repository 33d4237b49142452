//! Play with two springy flanks: the stops of a joint coordinate, the backlash of a mesh.
//!
//! Of x = Σ factor·coordinate - value nothing acts while lo ≤ x ≤ hi. Beyond, with δ > 0 the way past the flank, it pushes back with
//!
//! F = k δ + d,  d = c δ̇ held between -k δ and k δ.
//!
//! The damper is never stronger than the spring: so the force begins and ends at zero, never pulls, and is continuous for any damping;
//! where c is small against √(k m) it is a spring and a damper side by side. Teeth under a pressure angle have flanks that move away from x as the
//! axles move apart, by y = Σ factor·coordinate: δ = x - hi - y, or lo - x - y. So F acts along x and pushes apart along y. Books: k δ²/2 is stored, d δ̇ ≥ 0 is heat. The
//! force has corners at the flanks: integrators with error control make their steps smaller there.

use super::prelude::*;
use crate::coordinate::CoordinateRef;

/// The force.
#[derive(Clone, Debug)]
pub struct Flanks {
    /// Factors and coordinates.
    pub terms: Vec<(f64, CoordinateRef)>,
    /// Holds what is taken from their sum.
    pub value: f64,
    /// Factors and coordinates of y; none where flanks stay.
    pub apart: Vec<(f64, CoordinateRef)>,
    /// The force that is shown over that along x.
    pub scale: f64,
    /// Marks where the flanks are; either may be infinite.
    pub limits: [f64; 2],
    /// k \[N/m, N m/rad\].
    pub stiffness: f64,
    /// c \[N s/m, N m s/rad\].
    pub damping: f64,
    /// True if x is an angle.
    pub is_angle: bool,
    /// Hints of coordinates that belong to no joint and are kept here.
    pub own_discrete: Vec<(u32, CoordinateRef)>,
}

/// Describes how far x is past a flank.
struct FlankOverlap<R> {
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

    fn y<R: Real>(&self, at: &At<R>) -> R {
        self.apart.iter().fold(R::zero(), |y, (factor, c)| y + c.value(at) * *factor)
    }

    /// The flanks that x is past: both only where axles come nearer than they should.
    fn past<R: Real>(&self, at: &At<R>) -> [Option<FlankOverlap<R>>; 2] {
        let (x, [lo, hi]) = (self.x(at), self.limits);
        let y = self.y(at);
        let rates = |side: f64| {
            let apart = self.apart.iter().fold(R::zero(), |y, (factor, c)| y + c.speed(at) * *factor);
            self.speed(at) * side - apart
        };
        [(-1.0, -x + lo - y), (1.0, x - hi - y)].map(|(side, way)| {
            (way.value() > 0.0).then(|| {
                let rate = if self.damping == 0.0 { R::zero() } else { rates(side) };
                FlankOverlap { side, way, rate }
            })
        })
    }

    /// d.
    fn damper<R: Real>(&self, past: &FlankOverlap<R>) -> R {
        at_most(past.way * self.stiffness, past.rate * self.damping)
    }

    /// Efforts along x and y.
    fn efforts<R: Real>(&self, at: &At<R>) -> [R; 2] {
        self.past(at).iter().flatten().fold([R::zero(); 2], |[along, apart], past| {
            let force = past.way * self.stiffness + self.damper(past);
            [along - force * past.side, apart + force]
        })
    }
}

impl Force for Flanks {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        if self.past(at).iter().all(Option::is_none) {
            return;
        }
        let [along, apart] = self.efforts(at);
        let terms =
            self.terms.iter().map(|term| (term, along)).chain(self.apart.iter().map(|term| (term, apart)));
        for ((factor, c), effort) in terms {
            let [on_A, on_B] = c.effort(at, effort * *factor);
            for (index, (force, torque)) in [(c.a, on_A), (c.b, on_B)] {
                out[index].force += force;
                out[index].torque += torque;
            }
        }
    }

    fn potential<R: Real>(&self, at: &At<R>) -> R {
        let past = self.past(at);
        past.iter().flatten().fold(R::zero(), |sum, past| sum + past.way * past.way * (0.5 * self.stiffness))
    }

    fn dissipation<R: Real>(&self, at: &At<R>) -> R {
        let past = self.past(at);
        past.iter().flatten().fold(R::zero(), |sum, past| sum + self.damper(past) * past.rate)
    }

    fn accounts_for_power(&self) -> bool {
        true
    }

    fn dissipates_without_motion(&self) -> bool {
        self.damping > 0.0
    }

    fn laws(&self, found: &mut dyn FnMut(&Formula, [f64; 2])) {
        let terms = self.terms.iter().map(|(factor, c)| (*factor, c));
        let apart: Vec<(f64, &CoordinateRef)> = self.apart.iter().map(|(factor, c)| (*factor, c)).collect();
        let x: Vec<(f64, &CoordinateRef)> = terms.collect();
        for (side, limit) in [-1.0, 1.0].into_iter().zip(self.limits).filter(|(_, limit)| limit.is_finite()) {
            // k δ, which acts where it is positive
            let names: Vec<String> = (0..x.len() + apart.len()).map(|i| format!("c{i}")).collect();
            let factors =
                x.iter().map(|(factor, _)| side * factor).chain(apart.iter().map(|(factor, _)| -factor));
            let sum: String =
                factors.zip(&names).map(|(factor, name)| format!(" + ({factor:e})*{name}")).collect();
            let text = format!("{:e}*({:e}{sum})", self.stiffness, -side * (self.value + limit));
            let coordinates = x.iter().chain(&apart).map(|(_, c)| Signal::Coordinate((*c).clone()));
            let signals = names.iter().map(String::as_str).zip(coordinates).collect();
            Formula::of(&text, signals).iter().for_each(|formula| found(formula, [0.0, f64::INFINITY]));
        }
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        if self.is_angle { &[("force", "N m"), ("play", "rad")] } else { &[("force", "N"), ("play", "m")] }
    }

    fn reading(&self, k: usize, at: &At<f64>) -> f64 {
        if k == 0 { self.efforts(at)[0] * self.scale } else { self.x(at) }
    }

    fn update_discrete(&self, at: &At<f64>, discrete: &mut [f64]) {
        for (discrete_index, coordinate) in &self.own_discrete {
            discrete[*discrete_index as usize] = coordinate.value(at);
        }
    }

    fn relative_rotation(&self, at: &At<f64>) -> f64 {
        self.own_discrete.iter().map(|(_, coordinate)| coordinate.rotation(at)).fold(0.0, f64::max)
    }
}
