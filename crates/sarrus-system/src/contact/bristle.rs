//! Stretch of a bristle between accepted steps.
//!
//! A bristle obeys ξ̇ = v as long as k|ξ| ≤ μN; beyond that its foot is dragged, with |ξ| = μN/k (elastic-plastic friction). Both bodies
//! carry ξ along: it turns with the normal, and about it at the mean rate of the two. The contact point c is known at the start of the step
//! and at the state where the force is asked for. So is the slip, at both ends of its path
//!
//! ```text
//! d = ∫ v dt = f₁ - f₂ + ∫ (ω₁ × a₁ - ω₂ × a₂) dt,   a_i = c - f_i
//! ```
//!
//! f_i is the material point of body i that was at c when the step began. Across the normal a_i grows linearly in time. Along it, it grows
//! quadratically, but for the change of the overlap. The path is the cubic with these ends and slips.
//!
//! A foot that slides trails the contact point as the end of a string does, ė = (v - e (e·v))/|ξ| for the direction e of ξ. For a constant
//! v/|ξ| the solution is a tractrix, and such flows form a group. So the commutator-free Magnus method of fourth order \[Blanes2006\] applies, on
//! intervals that shrink towards the end: many lengths of the string may pass in a step.

use sarrus_math::{Pose, Real, Twist, Vec3};

/// Intervals into which the path is divided; each but the last is half as long as the one before.
const INTERVALS: i32 = 12;
/// Gauss's two points, 1/2 ∓ √3/6, and the weights of the two flows of an interval, 1/4 ± √3/6.
const GAUSS: [f64; 2] = [0.211_324_865_405_187_1, 0.788_675_134_594_812_9];
const WEIGHTS: [f64; 2] = [0.538_675_134_594_812_9, -0.038_675_134_594_812_9];

/// A contact point with a bristle at an accepted step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BristleAnchor {
    /// Time when that was \[s\].
    pub t: f64,
    /// Poses of the two bodies.
    pub poses: [Pose<f64>; 2],
    /// Their angular velocities, world axes \[rad/s\].
    pub spins: [Vec3<f64>; 2],
    /// Marks where the force acted \[m\].
    pub point: Vec3<f64>,
    /// Extent to which that is off each surface, along the normal \[m\], and the rate of it \[m/s\].
    pub offsets: [[f64; 2]; 2],
    /// The normal.
    pub normal: Vec3<f64>,
    /// Slip \[m/s\].
    pub slip: Vec3<f64>,
    /// Stretch of the bristle, world axes \[m\].
    pub stretch: Vec3<f64>,
    /// True if its foot slides.
    pub slides: bool,
    /// Of one that slid at the accepted step before, too: when that was \[s\], and its stretch then \[m\].
    pub before: Option<[f64; 2]>,
}

/// A contact point at a state.
#[derive(Clone, Copy, Debug)]
pub struct Here<'a, R> {
    /// Time \[s\].
    pub t: f64,
    /// Poses of the two bodies.
    pub poses: [&'a Pose<R>; 2],
    /// Their velocities.
    pub twists: [&'a Twist<R>; 2],
    /// Marks where the force acts \[m\].
    pub point: Vec3<R>,
    /// Extent to which that is off each surface, along the normal \[m\], and the rate of it \[m/s\].
    pub offsets: [[R; 2]; 2],
    /// The normal.
    pub normal: Vec3<R>,
    /// Slip \[m/s\].
    pub slip: Vec3<R>,
}

/// Describes how a bristle that was stretched by `stretch` is led along, in the tangent plane at the end.
#[derive(Clone, Copy, Debug)]
pub struct BristlePath<R> {
    /// Stretch at the start \[m\].
    pub stretch: Vec3<R>,
    /// The way from the start to the end \[m\].
    way: Vec3<R>,
    /// Slip times duration, at the start and at the end \[m\].
    slips: [Vec3<R>; 2],
    /// True if the foot slides at the start.
    slides: bool,
    /// The stretch at the step before, and how long that was over the duration.
    before: Option<[f64; 2]>,
}

impl<R: Real> BristlePath<R> {
    /// That of a bristle that was not led anywhere.
    pub fn at(stretch: Vec3<R>) -> BristlePath<R> {
        BristlePath { stretch, way: Vec3::zero(), slips: [Vec3::zero(); 2], slides: false, before: None }
    }

    /// From `anchor` to `here`.
    pub fn between(anchor: &BristleAnchor, here: &Here<R>) -> BristlePath<R> {
        let (n, passed) = (here.normal, here.t - anchor.t);
        let across = |v: Vec3<R>| v - n.scale(v.dot(n));
        let mut way = Vec3::zero();
        for (i, sign) in [1.0, -1.0].into_iter().enumerate() {
            let from = &anchor.poses[i];
            let foot = here.poses[i].point(&from.to_local(anchor.point - from.p).0);
            let moved = here.point - foot;
            let ([before, rate], [after, later]) = (anchor.offsets[i], here.offsets[i]);
            let spins = [Vec3::from_f64(anchor.spins[i].0), here.twists[i].w_W];
            // ∫ ω f dt over the step for an angular velocity that is linear in time, from the moments of f about the end and the start
            let moments = |[a, b]: [R; 2]| spins[0].scale(a) + spins[1].scale(b);
            // the offset is a cubic; what else lies along the normal grows quadratically, what lies across it linearly
            let change = after - R::from_f64(before);
            let [rate, later] = [R::from_f64(rate * passed), times(later, passed)];
            let along = moments([
                times(change, 0.15) + times(rate, 0.05) - times(later, 1.0 / 30.0),
                times(change, 0.35) + times(rate, 1.0 / 30.0) - times(later, 0.05),
            ]);
            let rest = moved.dot(n) - change;
            let along = along + moments([times(rest, 1.0 / 12.0), times(rest, 0.25)]);
            let about = moments([R::from_f64(1.0 / 6.0), R::from_f64(1.0 / 3.0)]);
            let rolled = (along.cross(n) + about.cross(across(moved))).scale_f64(passed);
            way += (foot + rolled).scale_f64(sign);
        }
        let rotation = AnchorRotation::new(anchor, here);
        let [stretch, slip] = [anchor.stretch, anchor.slip].map(|a| rotation.of(Vec3::from_f64(a.0)));
        let rates = [
            R::from_f64(anchor.spins.iter().map(|spin| 0.5 * spin.dot(anchor.normal)).sum()),
            times(here.twists[0].w_W.dot(n) + here.twists[1].w_W.dot(n), 0.5),
        ];
        let led = slip.scale(times(rates[0], 1.0 / 8.0) + times(rates[1], 5.0 / 24.0))
            + here.slip.scale(times(rates[0], 1.0 / 24.0) + times(rates[1], 1.0 / 8.0));
        // what was led early has rotated about the normal since: ∫ θ(s) n × v ds, with rates of the rotation and slips that are linear in time
        let way = across(way) + n.cross(led).scale_f64(passed * passed);
        let slips = [slip, here.slip].map(|slip| slip.scale_f64(passed));
        let before =
            anchor.before.filter(|_| passed > 0.0).map(|[t, length]| [length, (anchor.t - t) / passed]);
        BristlePath { stretch, way, slips, slides: anchor.slides, before }
    }

    /// Stretch at the end if the foot has not slid.
    pub fn stuck(&self) -> Vec3<R> {
        self.stretch + self.way
    }

    /// Stretch at the end, which is at most `longest` there, and whether the foot slides.
    pub fn dragged(&self, longest: R) -> (Vec3<R>, bool) {
        let stuck = self.stuck();
        let square = stuck.norm_squared();
        if !(square.value() > longest.value() * longest.value()) {
            return (stuck, false);
        }
        let start = self.stretch.norm_squared();
        if !self.slides || !(start.value() > 0.0) {
            return (stuck.scale(longest / square.sqrt()), true);
        }
        let start = start.sqrt();
        let mut along = self.stretch.scale(R::one() / start);
        let [a, b] = self.slips;
        // the limit is a parabola through the step before, or a line
        let bend = self.before.map(|[before, ratio]| {
            times(R::from_f64(before) - start + times(longest - start, ratio), 1.0 / (ratio * (1.0 + ratio)))
        });
        let low = start.value().min(longest.value());
        let bend = bend.filter(|bend| bend.value().abs() < 2.0 * low).unwrap_or(R::zero());
        let mut from = 0.0;
        for interval in 1..=INTERVALS {
            let to = if interval < INTERVALS { 1.0 - 0.5_f64.powi(interval) } else { 1.0 };
            // what leads over the length of the string, at Gauss's two points
            let lead = GAUSS.map(|node| {
                let s = from + node * (to - from);
                let rest = 1.0 - s;
                let length = times(longest, s) + times(start, rest) - times(bend, s * rest);
                let slip = self.way.scale_f64(6.0 * s * rest)
                    + a.scale_f64(rest * (1.0 - 3.0 * s))
                    + b.scale_f64(s * (3.0 * s - 2.0));
                slip.scale(times(R::one() / length, to - from))
            });
            for [first, second] in [WEIGHTS, [WEIGHTS[1], WEIGHTS[0]]] {
                along = tractrix(along, lead[0].scale_f64(first) + lead[1].scale_f64(second));
            }
            from = to;
        }
        (along.scale(longest), true)
    }
}

fn times<R: Real>(a: R, b: f64) -> R {
    a * R::from_f64(b)
}

/// The direction of a string of length 1 whose end has been led straight by `way`, while the other trails.
fn tractrix<R: Real>(along: Vec3<R>, way: Vec3<R>) -> Vec3<R> {
    let square = way.norm_squared();
    if !(square.value() > 0.0) {
        // to first order
        return along + way - along.scale(way.dot(along));
    }
    let far = square.sqrt();
    // tan(χ/2) falls with exp(-far), χ being the angle between the two; scaled so that nothing overflows
    let small = (-far).exp();
    let ahead = way.scale(R::one() / far);
    let cosine = along.dot(ahead);
    let [near, double] = [R::one() - small, small * small];
    let below = (R::one() + cosine) + (R::one() - cosine) * double;
    if !(below.value() > 0.0) {
        return along;
    }
    let retained = times(small, 2.0) / below;
    along.scale(retained) + ahead.scale((R::one() - double + cosine * near * near) / below)
}

/// Describes how vectors across the normal turn from an anchor to a state: with the normal, and about it by the mean of the two bodies' turns.
struct AnchorRotation<R> {
    from: [Vec3<f64>; 2],
    to: [Vec3<R>; 2],
}

impl<R: Real> AnchorRotation<R> {
    fn new(anchor: &BristleAnchor, here: &Here<R>) -> AnchorRotation<R> {
        let normal = anchor.normal;
        let i = (0..3).fold(0, |i, k| if normal.0[k].abs() < normal.0[i].abs() { k } else { i });
        let mut axis = Vec3::zero();
        axis.0[i] = 1.0;
        let aside = normal.cross(axis);
        let aside = aside.scale_f64(1.0 / aside.norm());
        let n = here.normal;
        let mut sum = Vec3::zero();
        for (from, to) in anchor.poses.iter().zip(here.poses) {
            let [m, a] = [normal, aside].map(|v| to.rotate(&from.to_local(v).0));
            // back by the least turn that takes m to n
            let (axis, cosine) = (m.cross(n), m.dot(n));
            if cosine.value() > -0.9 {
                let once = axis.cross(a);
                sum = sum + a + once + axis.cross(once).scale(R::one() / (R::one() + cosine));
            }
        }
        let sum = sum - n.scale(sum.dot(n));
        let square = sum.norm_squared();
        let first = if square.value() > 0.0 { sum.scale(R::one() / square.sqrt()) } else { Vec3::zero() };
        AnchorRotation { from: [aside, normal.cross(aside)], to: [first, n.cross(first)] }
    }

    fn of(&self, a: Vec3<R>) -> Vec3<R> {
        let part = |k: usize| self.to[k].scale(a.dot(Vec3::from_f64(self.from[k].0)));
        part(0) + part(1)
    }
}
