//! What happens at one place, over any scalar.

use super::Contact;
use super::friction::Friction;
use super::laws::{Normal, Onset};
use super::memory::Memory;
use super::surface::Touch;
use sarrus_math::{Pose, Real, Twist, Vec3};

/// The two bodies at a place.
#[derive(Clone, Copy)]
pub struct Two<'a, R> {
    /// Their poses.
    pub poses: [&'a Pose<R>; 2],
    /// Their velocities.
    pub twists: [&'a Twist<R>; 2],
    /// 1/(1/m₁ + 1/m₂) \[kg\].
    pub mass: f64,
}

/// What a place does.
#[derive(Clone, Copy, Debug)]
pub struct Act<R> {
    /// Force on the first body; the second gets the opposite \[N\].
    pub force: Vec3<R>,
    /// Where both act \[m\].
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
}

impl<R: Real> Act<R> {
    /// Power turned into heat along the normal and across it \[W\]; the second has what bristles take up.
    pub fn heat(&self) -> [R; 2] {
        [(self.normal.force - self.normal.elastic) * self.speed, -self.across.dot(self.slip)]
    }
}

/// Where the forces of a place act: between the surfaces or, `at_centre`, at the centre of the rounding of radius `r` of the surface
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

/// Rate of the overlap at a place \[m/s\], and the slip across the normal.
pub fn approach<R: Real>(touch: &Touch<R>, two: &Two<R>, point: Vec3<R>) -> (R, Vec3<R>) {
    let velocity = |i: usize| two.twists[i].v + two.twists[i].w_W.cross(point - two.poses[i].p);
    let apart = velocity(0) - velocity(1);
    let rate = apart.dot(touch.normal);
    (-rate, apart - touch.normal.scale(rate))
}

/// What a place of `contact` does that overlaps, with stiffness `K`.
pub fn act<R: Real>(
    contact: &Contact,
    K: f64,
    rounding: [f64; 2],
    touch: &Touch<R>,
    two: &Two<R>,
    memory: &Memory,
) -> Act<R> {
    let point = point(touch, rounding, contact.at_centre);
    let (speed, slip) = approach(touch, two, point);
    let mut normal = contact.law.force(K, -touch.gap, speed, memory.onset);
    let (mut across, stretch) = match &contact.friction {
        Some(friction) => {
            friction.force(normal.force, slip, stretched(friction, touch, two, memory), two.mass)
        }
        None => (Vec3::zero(), Vec3::zero()),
    };
    normal.force = normal.force * touch.weight;
    normal.elastic = normal.elastic * touch.weight;
    across = across.scale_f64(touch.weight);
    let force = touch.normal.scale(normal.force) + across;
    Act { force, point, normal, speed, slip, across, stretch }
}

/// The stretch of a bristle; of one that remembers, whose foot has not slid since the last accepted step: what it was, and the way of the two points that
/// touched then.
fn stretched<R: Real>(friction: &Friction, touch: &Touch<R>, two: &Two<R>, memory: &Memory) -> Vec3<R> {
    if friction.has_states() {
        let z = Vec3::from_f64(memory.stretch);
        return z - touch.normal.scale(z.dot(touch.normal));
    }
    if !friction.remembers() || !memory.closed {
        return Vec3::zero();
    }
    let foot = |i: usize| two.poses[i].point(&memory.feet[i]);
    let all = Vec3::from_f64(memory.stretch) + foot(0) - foot(1);
    all - touch.normal.scale(all.dot(touch.normal))
}

/// How a place closed that has the gap `gap` now, which falls with `speed`, `passed` after the last accepted step. Where that was
/// before it closed, the speed is that of the cubic through both gaps and rates where it is zero.
pub fn onset(old: &Memory, gap: f64, speed: f64, passed: f64) -> Onset {
    if old.closed {
        return old.onset.after(speed);
    }
    let Some([g, rate]) = old.open.filter(|[g, _]| passed > 0.0 && *g > 0.0 && gap < 0.0) else {
        return Onset::at(speed);
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
    Onset::at(-(a + high * (2.0 * c2 + high * 3.0 * c3)) / passed)
}

/// What is to be remembered of a place where the overlap grows with `speed`: of one that is closed by what it does, with the time
/// since the last accepted step.
pub fn remember(
    old: &Memory,
    touch: &Touch<f64>,
    two: &Two<f64>,
    speed: f64,
    closed: Option<(&Act<f64>, f64)>,
) -> Memory {
    let Some((act, passed)) = closed else {
        let open = Some([touch.gap, -speed]);
        return Memory { onset: Onset::at(speed), open, ..Memory::unknown(old.key) };
    };
    let middle = (touch.points[0] + touch.points[1]).scale_f64(0.5);
    Memory {
        key: old.key,
        closed: true,
        open: old.open.filter(|_| !old.closed),
        onset: onset(old, touch.gap, speed, passed),
        stretch: act.stretch.0,
        feet: [0, 1].map(|i| two.poses[i].to_local(middle - two.poses[i].p).0),
    }
}
