//! Describes what happens at one point, over any scalar.

use super::Contact;
use super::bristle::{BristleAnchor, BristlePath, Here};
use super::laws::{ImpactOnset, Normal};
use super::memory::Memory;
use super::surface::Touch;
use sarrus_math::{Pose, Real, Twist, Vec3};

/// The two bodies at a point.
#[derive(Clone, Copy)]
pub struct BodyPair<'a, R> {
    /// Their poses.
    pub poses: [&'a Pose<R>; 2],
    /// Their velocities.
    pub twists: [&'a Twist<R>; 2],
    /// 1/(1/m₁ + 1/m₂) \[kg\].
    pub mass: f64,
    /// Time \[s\].
    pub t: f64,
}

/// Holds what a point does.
#[derive(Clone, Copy, Debug)]
pub struct Act<R> {
    /// Force on the first body; the second gets the opposite \[N\].
    pub force: Vec3<R>,
    /// Marks where both act \[m\].
    pub point: Vec3<R>,
    /// The normal force.
    pub normal: Normal<R>,
    /// δ̇ \[m/s\].
    pub speed: R,
    /// Slip, square to the normal \[m/s\].
    pub slip: Vec3<R>,
    /// Force across the normal, on the first body \[N\].
    pub across: Vec3<R>,
    /// Stretch of the bristle \[m\].
    pub stretch: Vec3<R>,
    /// True if its foot slides.
    pub slides: bool,
    /// Describes how much farther the bristle could stretch before its foot slides, from where it was at the last accepted step \[m\].
    pub slack: f64,
}

impl<R: Real> Act<R> {
    /// Power turned into heat along the normal and across it \[W\]; the second has what bristles take up.
    pub fn heat(&self) -> [R; 2] {
        [(self.normal.force - self.normal.elastic) * self.speed, -self.across.dot(self.slip)]
    }
}

/// Where the forces of a point act: between the surfaces or, `at_centre`, at the centre of the rounding of radius `r` of the surface
/// `side`.
fn point<R: Real>(touch: &Touch<R>, rounding: [f64; 2], at_centre: bool) -> Vec3<R> {
    if at_centre {
        // the first is pushed along the normal, so its inside lies that way
        if rounding[0] > 0.0 {
            return touch.points[0] + touch.normal.scale_f64(rounding[0]);
        }
        if rounding[1] > 0.0 {
            return touch.points[1] - touch.normal.scale_f64(rounding[1]);
        }
    }
    (touch.points[0] + touch.points[1]).scale_f64(0.5)
}

/// Rate of the overlap at a point \[m/s\], and the slip across the normal.
pub fn approach<R: Real>(touch: &Touch<R>, two: &BodyPair<R>, point: Vec3<R>) -> (R, Vec3<R>) {
    let velocity = |i: usize| two.twists[i].v + two.twists[i].w_W.cross(point - two.poses[i].p);
    let apart = velocity(0) - velocity(1);
    let rate = apart.dot(touch.normal);
    (-rate, apart - touch.normal.scale(rate))
}

/// Computes what a point of `contact` does that overlaps, with stiffness `K`.
pub fn act<R: Real>(
    contact: &Contact,
    K: f64,
    rounding: [f64; 2],
    touch: &Touch<R>,
    two: &BodyPair<R>,
    memory: &Memory,
) -> Act<R> {
    let point = point(touch, rounding, contact.at_centre);
    let (speed, slip) = approach(touch, two, point);
    let mut normal = contact.law.force(K, -touch.gap, speed, memory.onset);
    let (mut across, mut stretch, mut slack, mut slides) = (Vec3::zero(), Vec3::zero(), f64::INFINITY, false);
    if let Some(friction) = &contact.friction {
        let path = match &memory.anchor {
            Some(anchor) => {
                BristlePath::between(anchor, &here(contact, rounding, touch, two, point, speed, slip))
            }
            None => {
                let z = Vec3::from_f64(memory.stretch);
                BristlePath::at(z - touch.normal.scale(z.dot(touch.normal)))
            }
        };
        (across, stretch, slides) = friction.force(normal.force, slip, &path, two.mass);
        if let Some(longest) = friction.longest(normal.force.value()) {
            slack = longest - Vec3(path.stuck().value()).norm();
        }
    }
    normal.force = normal.force * touch.weight;
    normal.elastic = normal.elastic * touch.weight;
    across = across.scale_f64(touch.weight);
    let force = touch.normal.scale(normal.force) + across;
    Act { force, point, normal, speed, slip, across, stretch, slides, slack }
}

/// Returns how a point closed that has the gap `gap` now, which falls with `speed`, `passed` after the last accepted step. Where that was
/// before it closed, the speed is that of the cubic through both gaps and rates where it is zero.
pub fn impact_onset(old: &Memory, gap: f64, speed: f64, passed: f64) -> ImpactOnset {
    if old.closed {
        return old.onset.after(speed);
    }
    let Some([g, rate]) = old.open.filter(|[g, _]| passed > 0.0 && *g > 0.0 && gap < 0.0) else {
        return ImpactOnset::at(speed);
    };
    // Hermite's basis over s in [0, 1]
    let (a, b) = (rate * passed, -speed * passed);
    let (c2, c3) = (3.0 * (gap - g) - 2.0 * a - b, 2.0 * (g - gap) + a + b);
    let value = |s: f64| g + s * (a + s * (c2 + s * c3));
    let (mut low, mut high) = (0.0, 1.0);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if value(middle) > 0.0 { low = middle } else { high = middle }
    }
    ImpactOnset::at(-(a + high * (2.0 * c2 + high * 3.0 * c3)) / passed)
}

/// Returns what is to be remembered of a point where the overlap grows with `speed`: of one that is closed by what it does, with the time
/// since the last accepted step.
pub fn remember(
    old: &Memory,
    touch: &Touch<f64>,
    speed: f64,
    anchor: Option<BristleAnchor>,
    closed: Option<f64>,
) -> Memory {
    let Some(passed) = closed else {
        let open = Some([touch.gap, -speed]);
        return Memory { onset: ImpactOnset::at(speed), open, anchor, ..Memory::unknown(old.key) };
    };
    Memory {
        key: old.key,
        closed: true,
        open: old.open.filter(|_| !old.closed),
        onset: impact_onset(old, touch.gap, speed, passed),
        stretch: [0.0; 3],
        anchor,
    }
}

/// The contact point of a touch with the force at `point`, whose overlap grows with `speed`.
fn here<'a, R: Real>(
    contact: &Contact,
    rounding: [f64; 2],
    touch: &Touch<R>,
    two: &BodyPair<'a, R>,
    point: Vec3<R>,
    speed: R,
    slip: Vec3<R>,
) -> Here<'a, R> {
    // how much of the gap lies between the point and each surface
    let shares = match rounding {
        [a, _] if contact.at_centre && a > 0.0 => [0.0, 1.0],
        [_, b] if contact.at_centre && b > 0.0 => [-1.0, 0.0],
        _ => [-0.5, 0.5],
    };
    let offset = |i: usize| [(point - touch.points[i]).dot(touch.normal), speed * R::from_f64(-shares[i])];
    let BodyPair { t, poses, twists, .. } = *two;
    Here { t, poses, twists, point, offsets: [offset(0), offset(1)], normal: touch.normal, slip }
}

/// The contact point of a point that does `act` now, where its friction has bristles that remember.
pub fn anchor(
    contact: &Contact,
    rounding: [f64; 2],
    touch: &Touch<f64>,
    two: &BodyPair<f64>,
    act: &Act<f64>,
    old: &Memory,
) -> Option<BristleAnchor> {
    contact.friction.filter(|friction| friction.remembers())?;
    let Here { t, poses, twists, point, offsets, normal, slip } =
        here(contact, rounding, touch, two, act.point, act.speed, act.slip);
    let (poses, spins) = (poses.map(|pose| *pose), twists.map(|twist| twist.w_W));
    let Act { stretch, slides, .. } = *act;
    let before =
        old.anchor.filter(|old| slides && old.slides && t > old.t).map(|old| [old.t, old.stretch.norm()]);
    Some(BristleAnchor { t, poses, spins, point, offsets, normal, slip, stretch, slides, before })
}
