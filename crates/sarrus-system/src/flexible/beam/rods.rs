//! Describes how far the segments of a rod leave it off.
//!
//! A joint between segments of length l takes the curvature of half a segment on either side as one angle φ = κ l: the midpoint rule. Along the
//! travel e from one end, the true chord from middle to middle differs from the rod's by
//!
//! d = -l³/12 κ' × e + l³/12 |κ × e|² e
//!
//! (rigid segments touch the arc where the chords of an arc of length l are l (1 - φ²/24), and theirs l (1 - φ²/8)). No joint takes
//! the curvature of the first half segment: a section that is held there misses the angle κ₀ l/2, with κ₀ extrapolated from the first two
//! joints, which leaves all that follows off by this angle times its distance. At a hinge or a free end κ₀ is nothing. For a cantilever under an end
//! load of n segments this is 3/(2n) of its deflection, the closed form up to 1/n².
//!
//! The error is taken from both ends, without the missed angle about an axis that a hinge leaves free; the larger counts.

use super::error::{MeshError, RelativeNode};
use crate::at::At;
use crate::coordinate::Reading;
use crate::system::{Family, System};
use sarrus_math::{Mat3, Vec3};
use std::ops::Range;

/// A rod of rigid segments.
#[derive(Clone, Debug)]
pub(super) struct Rod {
    name: String,
    bodies: Range<u32>,
    /// Length of a segment \[m\].
    length: f64,
    /// Ends of segments, seen from the first section and from the last.
    nodes: [Vec<RelativeNode>; 2],
    /// Describes how the first section and the last are held.
    held: [SectionHold; 2],
    kappa: Vec<Vec3<f64>>,
    is_new: bool,
}

/// Describes how a section is held against rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SectionHold {
    /// Not at all.
    Free,
    /// But for the rotation about an axis of its segment.
    Hinge(Vec3<f64>),
    /// Entirely, as far as is known.
    Fixed,
}

impl SectionHold {
    /// Segment `id` of the rod with these bodies.
    fn of(system: &System, bodies: &Range<u32>, id: u32) -> SectionHold {
        let own = |ids: &[u32]| ids.contains(&id) && !ids.iter().all(|other| bodies.contains(other));
        let mut held = SectionHold::Free;
        for element in system.elements.iter().filter(|element| own(&element.ids)) {
            let joint = system.directory.joints.iter().find(|joint| joint.element == element.id);
            held = match (joint.filter(|_| element.family == Family::Joint), held) {
                (Some(joint), SectionHold::Free) => {
                    let rotates = joint.face.coordinates().iter().filter(|c| c.is_angle()).map(|c| c.reading);
                    let frame = if joint.bodies[0] == id { &joint.frames.F } else { &joint.frames.M };
                    match rotates.collect::<Vec<_>>()[..] {
                        _ if joint.face.quaternion().is_some() => SectionHold::Free,
                        [Reading::PlanarAngle] | [_, _, ..] => SectionHold::Free,
                        [Reading::RotationZ] => {
                            SectionHold::Hinge(Vec3([0, 1, 2].map(|i| frame.rot.0[i][2])))
                        }
                        _ => SectionHold::Fixed,
                    }
                }
                _ => SectionHold::Fixed,
            };
        }
        held
    }

    /// The part of a missed rotation that the hold does not take up.
    fn missed(self, angle: Vec3<f64>) -> Vec3<f64> {
        match self {
            SectionHold::Free => Vec3::zero(),
            SectionHold::Hinge(axis) => angle - axis.scale(angle.dot(axis)),
            SectionHold::Fixed => angle,
        }
    }
}

impl Rod {
    /// The rods of `system` that can bend.
    pub fn all(system: &System) -> Vec<Rod> {
        let bodies = &system.directory.bodies;
        let rods =
            system.directory.flexible.iter().filter(|entry| entry.part == "seg" && entry.bodies.len() > 1);
        rods.map(|entry| {
            let at = |k: u32| Vec3(bodies[k as usize].start.0);
            let n = entry.bodies.len();
            Rod {
                name: entry.name.clone(),
                bodies: entry.bodies.clone(),
                length: (at(entry.bodies.start + 1) - at(entry.bodies.start)).norm(),
                nodes: [vec![RelativeNode::default(); n], vec![RelativeNode::default(); n]],
                held: [entry.bodies.start, entry.bodies.end - 1]
                    .map(|id| SectionHold::of(system, &entry.bodies, id)),
                kappa: Vec::with_capacity(n),
                is_new: true,
            }
        })
        .collect()
    }

    /// Takes note of the motion.
    pub fn add(&mut self, at: &At<f64>) {
        self.advance(at, 0, 1.0);
        self.advance(at, 1, -1.0);
        self.is_new = false;
    }

    /// Along the rod from its first end, or, with `sign` -1, from its last.
    fn advance(&mut self, at: &At<f64>, end: usize, sign: f64) {
        let Rod { bodies, length: l, nodes, held, kappa, is_new, .. } = self;
        let (l, n) = (*l, bodies.len());
        let id = |k: usize| if sign > 0.0 { bodies.start as usize + k } else { bodies.end as usize - 1 - k };
        let rot = |k: usize| &at.poses[id(k)].rot;
        let e = Vec3([sign, 0.0, 0.0]);
        kappa.clear();
        kappa.extend((1..n).map(|k| angle(rot(k - 1), rot(k)).scale(1.0 / l)));
        let zero = Vec3::zero();
        let of = |j: usize| kappa.get(j).copied();
        let missed = (of(0).unwrap_or(zero).scale(2.0) - of(1).unwrap_or(zero)).scale(0.5 * l);
        let missed = held[end].missed(missed);
        let start = at.poses[id(0)].p - *rot(0) * e.scale(0.5 * l);
        let mut along = zero;
        for (k, node) in nodes[end].iter_mut().enumerate() {
            if let Some(j) = k.checked_sub(1) {
                let (before, after) = (j.checked_sub(1).and_then(of), of(j + 1));
                let here = of(j).unwrap_or(zero);
                let slope = match (before, after) {
                    (Some(a), Some(b)) => (b - a).scale(0.5 / l),
                    (Some(a), None) => (here - a).scale(1.0 / l),
                    (None, Some(b)) => (b - here).scale(1.0 / l),
                    (None, None) => zero,
                };
                let across = here.cross(e);
                let d = (e.scale(across.dot(across)) - slope.cross(e)).scale(l.powi(3) / 12.0);
                along += rot(0).transpose_mul(*rot(j) * d);
            }
            let tip = at.poses[id(k)].p + *rot(k) * e.scale(0.5 * l);
            let position = rot(0).transpose_mul(tip - start);
            let lever = if k == 0 { position.scale(0.25) } else { position - e.scale(0.25 * l) };
            node.advance(missed.cross(lever) + along, position, *is_new);
        }
    }

    /// The estimate.
    pub fn estimate(&self) -> MeshError {
        let error = self.nodes.iter().flatten().map(RelativeNode::error).fold(0.0, f64::max);
        let length = self.length * self.bodies.len() as f64;
        MeshError {
            beam: self.name.clone(),
            relative: error / length.max(f64::MIN_POSITIVE),
            elements: self.bodies.len(),
            order: 0,
        }
    }
}

/// The rotation vector from `a` to `b`, in the axes of `a`.
fn angle(a: &Mat3<f64>, b: &Mat3<f64>) -> Vec3<f64> {
    let [x, y, z] = [0, 1, 2].map(|i| a.transpose_mul(Vec3([b.0[0][i], b.0[1][i], b.0[2][i]])));
    let axis = Vec3([y[2] - z[1], z[0] - x[2], x[1] - y[0]]).scale(0.5);
    let (sin, cos) = (axis.norm(), 0.5 * (x[0] + y[1] + z[2] - 1.0));
    if sin > 0.0 { axis.scale(sin.atan2(cos) / sin) } else { axis }
}
