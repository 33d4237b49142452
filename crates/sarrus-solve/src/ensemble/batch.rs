//! Variants that step together, one in each lane.
//!
//! A step of an explicit method of fixed size and the projection after it, in the operations of [`tables`](crate::tables). A lane whose variant needs
//! more than that (a small pivot, a residual that stays, a constraint that is not reached) is reported, and its state before the step is kept.

use super::FixedStep;
use crate::problem::State;
use crate::tables::{Description, Slope, SlopeWeights, Tables, tables};
use sarrus_math::lane::{Kernel, Lane, Mask};

/// A pivot below this fraction of what is usual may announce a singular position: that is not for lanes.
const NEAR: f64 = 0.49;
/// Rate at which what is usual is forgotten.
const MEMORY: f64 = 0.99;

/// Lanes, whatever their number type.
pub(super) trait Batch: Send {
    /// Puts the state of a variant into lane `i`.
    fn set(&mut self, i: usize, s: &State);
    /// Takes the state of lane `i` out, as it was before the last step if that is not good.
    fn get(&self, i: usize, s: &mut State);
    /// Steps all lanes to `t`. Bit i of what is returned says whether lane i is good; the others are to be left alone.
    fn step(&mut self, t: f64) -> u8;
    /// Continues from where the step ended.
    fn accept(&mut self);
    /// Puts a copy of lane `from` into lane `to`, which no one uses any more.
    fn cover(&mut self, to: usize, from: usize);
}

/// A batch of the variants for as many lanes; none where there are no tables for them.
pub(super) struct BatchStart<'a> {
    pub variants: &'a [&'a Description],
    pub method: &'a FixedStep,
}

impl Kernel for BatchStart<'_> {
    type Output = Option<Box<dyn Batch>>;

    #[inline(always)]
    fn run<L: Lane>(self) -> Self::Output {
        let tables = tables::<L>(self.variants).filter(|_| self.method.tableau.is_plain())?;
        Some(Box::new(Together::new(tables, self.variants[0], self.method)))
    }
}

/// Positions, velocities and energy accounts.
#[derive(Clone)]
struct Lined<L> {
    q: Vec<L>,
    v: Vec<L>,
    x: Vec<L>,
}

impl<L: Lane> Lined<L> {
    fn zeros(nq: usize, nv: usize) -> Self {
        let zeros = |n| vec![L::splat(0.0); n];
        Lined { q: zeros(nq), v: zeros(nv), x: zeros(2) }
    }

    #[inline(always)]
    fn copy_from(&mut self, other: &Lined<L>) {
        self.q.copy_from_slice(&other.q);
        self.v.copy_from_slice(&other.v);
        self.x.copy_from_slice(&other.x);
    }

    fn parts(&mut self) -> [&mut Vec<L>; 3] {
        [&mut self.q, &mut self.v, &mut self.x]
    }
}

struct Together<L> {
    tables: Box<dyn Tables<L>>,
    method: FixedStep,
    t: f64,
    t_end: f64,
    start: Lined<L>,
    /// Σ b_i k_i of the slopes so far, then the end of the step.
    end: Lined<L>,
    stage: Lined<L>,
    vdot: Vec<L>,
    /// Least and largest of the smallest pivots in this step, and what is usual of them; zero where nothing is known.
    least: L,
    most: L,
    typical: L,
}

impl<L: Lane> Together<L> {
    fn new(tables: Box<dyn Tables<L>>, model: &Description, method: &FixedStep) -> Self {
        let n = model.bodies.len();
        let (nq, nv) = if model.planar { (3 * n, 3 * n) } else { (7 * n, 6 * n) };
        let zeros = Lined::zeros(nq, nv);
        Together {
            tables,
            method: *method,
            t: 0.0,
            t_end: 0.0,
            start: zeros.clone(),
            end: zeros.clone(),
            vdot: zeros.v.clone(),
            stage: zeros,
            least: L::splat(0.0),
            most: L::splat(0.0),
            typical: L::splat(0.0),
        }
    }

    /// Slope at `stage` and time `t`, then the next stage. Returns which lanes are good.
    fn slope(&mut self, t: f64, weights: SlopeWeights) -> u8 {
        let Together { tables, start, stage, end, vdot, .. } = self;
        let health = tables.accelerate(t, &stage.q, &stage.v, None, vdot);
        let powers = tables.powers();
        let slope = Slope { start: [&start.q, &start.v, &start.x], rates: [vdot, &powers], weights };
        tables.advance(
            slope,
            [&mut stage.q, &mut stage.v, &mut stage.x],
            [&mut end.q, &mut end.v, &mut end.x],
        );
        L::vectorize(
            #[inline(always)]
            || {
                self.least = self.least.min(health.pivot);
                self.most = self.most.max(health.pivot);
                health.good()
            },
        )
    }
}

impl<L: Lane> Batch for Together<L> {
    fn set(&mut self, i: usize, s: &State) {
        self.t = s.t;
        for (to, from) in self.start.parts().into_iter().zip([&s.q, &s.v, &s.x]) {
            to.iter_mut().zip(from).for_each(|(to, from)| to.set_lane(i, *from));
        }
    }

    fn get(&self, i: usize, s: &mut State) {
        s.t = self.t;
        let Lined { q, v, x } = &self.start;
        for (to, from) in [&mut s.q, &mut s.v, &mut s.x].into_iter().zip([q, v, x]) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from.lane(i));
        }
    }

    fn step(&mut self, t: f64) -> u8 {
        let (h, tableau) = (t - self.t, self.method.tableau);
        self.t_end = t;
        (self.least, self.most) = (L::splat(f64::INFINITY), L::splat(0.0));
        self.stage.copy_from(&self.start);
        let mut good = u8::MAX >> (8 - L::WIDTH);
        for i in 0..tableau.c.len() {
            let at = if tableau.c[i] == 1.0 { t } else { self.t + tableau.c[i] * h };
            let a = tableau.a.get(i + 1).and_then(|a| a.last()).copied();
            good &= self.slope(at, SlopeWeights { h, is_first: i == 0, a, b: tableau.b[i] });
        }
        let Together { tables, end, .. } = self;
        tables.normalize(&mut end.q);
        if self.method.projects {
            let (health, _) = tables.project(&mut end.q, &mut end.v);
            good &= health.good();
        }
        // where nothing is usual yet, nothing is less
        good & !L::vectorize(
            #[inline(always)]
            || self.least.lt(self.typical * L::splat(NEAR)).bits(),
        )
    }

    fn accept(&mut self) {
        self.t = self.t_end;
        std::mem::swap(&mut self.start, &mut self.end);
        self.typical = self.most.max(self.typical * L::splat(MEMORY));
    }

    fn cover(&mut self, to: usize, from: usize) {
        let copy = |x: &mut L| x.set_lane(to, x.lane(from));
        for part in [&mut self.start, &mut self.end].into_iter().flat_map(Lined::parts) {
            part.iter_mut().for_each(copy);
        }
        [&mut self.least, &mut self.most, &mut self.typical].into_iter().for_each(copy);
    }
}
