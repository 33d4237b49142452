//! Lower bounds on gaps over an interval of time, for conservative advancement \[Mirtich1996\].
//!
//! [`MotionBounds`] bounds the speed, the acceleration of the centre of mass, |ω| and |ω̇| of each body over the step.
//!
//! **Convex surfaces.** Let n be a unit vector, and s(t) the separation of both surfaces along n by their support functions. The
//! distance is at least s. Between instants a and b each pair of material points leaves its chord by at most w²/8 times its relative
//! acceleration, w = b - a. So on all of \[a, b\]
//!
//! g ≥ min(s(a), s(b)) - w²/8 (|Δp̈| + Σ (|ω̇| + |ω|²) l),
//!
//! with l the lever of a surface about its centre of mass; the radius of a rounding is no lever. Each turning term is at most 2 l, at
//! any number of revolutions. The same holds for the distance to a wall or inside a tube, which is a concave function of a point.
//!
//! **Other surfaces.** Where no n separates the hulls, g ≥ (g(a) + g(b) - L w)/2 with L the bound on the approach speed.
//!
//! **Expressions.** The gap, its rate and its second derivative are enclosed between a and b by interval arithmetic
//! (`MotionBounds::enclose`); the largest of the three lower bounds that follow counts. Only functions given by a program have no such
//! bounds: gaps that call one are bounded by the second derivative of their samples.
//!
//! Cost: candidates of the swept boxes of the step, by [`Broad`] where there are more than a few pairs.

use super::broad::Broad;
use super::candidates::{CandidatePair, WatchedPairs, margin, pairs};
use super::geometry::bounds::{Aabb, bounds};
use super::surface::{Geometry, Surface, rounding, thickness, through, touches};
use super::{ContactSides, SurfaceEntry};
use crate::mechanism::Mechanism;
use crate::motion::{BodiesAtInstant, BodyBound, MotionBounds};
use crate::system::System;
use sarrus_math::{Enclosure, Interval, Pose, Real, Vec3};
use sarrus_model::Space;
use sarrus_solve::State;

/// Pairs of surfaces up to which each step tests all.
const FEW: usize = 64;
/// Overlap, and way between two frames, over the thickness of a pair, that steps are expected to resolve.
pub const SHALLOW: f64 = 0.25;
/// Overlaps below this part of the smaller surface are grazing: they may be passed over.
const GRAZING: f64 = 1e-9;
/// The same where only the approach speed bounds the gap.
const GRAZING_ROUGH: f64 = 1e-4;

/// A pair of surfaces or a gap given by an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapSource {
    /// Entry and surfaces.
    Pair(CandidatePair),
    /// Entry.
    Gap(u32),
}

impl GapSource {
    /// Number of its entry.
    pub fn contact(&self) -> usize {
        match *self {
            GapSource::Pair([contact, ..]) | GapSource::Gap(contact) => contact as usize,
        }
    }
}

/// Sizes of a surface \[m\].
#[derive(Clone, Copy, Debug)]
struct SurfaceSizes {
    /// From the body's centre of mass to the farthest point that turning moves.
    lever: f64,
    far: f64,
    thick: f64,
    wall: bool,
}

/// Bounds the gaps of all contacts over a step.
#[derive(Clone)]
pub struct Sweep {
    sizes: Vec<SurfaceSizes>,
    wanted: WatchedPairs,
    broad: Option<Broad>,
    boxes: Vec<Aabb>,
    meetings: Vec<GapSource>,
    motion: MotionBounds,
    /// |g̈| of gaps that call functions given by a program, by contact; none of others.
    curvatures: Vec<Option<f64>>,
}

impl Sweep {
    /// Of the contacts of `system`, for dense output of `order`.
    pub fn new(system: &System, order: u32) -> Sweep {
        let planar = system.directory.space == Space::Planar;
        let count: usize = system.contacts.iter().map(|entry| entry.contact.what.count()).sum();
        let mut meetings = Vec::new();
        let mut all = Vec::new();
        for (number, entry) in system.contacts.iter().enumerate() {
            match &entry.contact.what {
                ContactSides::Gap { .. } => meetings.push(GapSource::Gap(number as u32)),
                ContactSides::Surfaces { sides, apart } if count <= FEW => {
                    pairs(&system.surfaces, number as u32, sides, apart, FEW, &mut all);
                }
                ContactSides::Surfaces { .. } => {}
            }
        }
        meetings.extend(all.into_iter().map(GapSource::Pair));
        let sizes = system.surfaces.iter().map(|own| {
            let geometry = &own.surface.geometry;
            let wall = matches!(geometry, Geometry::Plane | Geometry::HalfSpace | Geometry::Channel { .. });
            SurfaceSizes {
                lever: if wall { 0.0 } else { own.far - rounding(geometry) },
                far: own.far,
                thick: thickness(geometry, planar),
                wall,
            }
        });
        let sampled = system.contacts.iter().map(|entry| match &entry.contact.what {
            ContactSides::Gap { rows, .. } if !rows.0.is_bounded() => Some(0.0),
            _ => None,
        });
        Sweep {
            sizes: sizes.collect(),
            wanted: WatchedPairs::new(system),
            broad: (count > FEW).then(|| Broad::new(margin(system), planar)),
            boxes: Vec::new(),
            meetings,
            motion: MotionBounds::of(system, order),
            curvatures: sampled.collect(),
        }
    }

    /// The motion that it bounds, to be read.
    pub fn path(&self) -> &MotionBounds {
        &self.motion
    }

    /// The motion that it bounds.
    pub fn motion(&mut self) -> &mut MotionBounds {
        &mut self.motion
    }

    /// The first and the last frame of the step.
    pub fn ends(&self) -> [&BodiesAtInstant; 2] {
        self.motion.ends()
    }

    /// Bounds the motion over the step that the nodes sample, and finds what may meet.
    pub fn begin(&mut self, system: &System) {
        self.motion.begin(0..system.directory.bodies.len(), std::iter::empty());
        self.find(system);
    }

    /// Finds what may meet on the straight path between two positions.
    pub fn begin_along(&mut self, system: &System, from: &BodiesAtInstant, to: &BodiesAtInstant) {
        self.motion.along(system, from, to);
        self.find(system);
    }

    fn find(&mut self, system: &System) {
        let motion = &self.motion;
        for (i, curvature) in self.curvatures.iter_mut().enumerate() {
            if let Some(curvature) = curvature {
                let [mean, rest] = motion.second(|k| motion.nodes[k].gaps[i]);
                *curvature = mean.abs() + rest;
            }
        }
        let Some(mut broad) = self.broad.take() else { return };
        let (poses, motions) = (motion.ends().map(|frame| &frame.poses), &motion.bounds);
        let (sizes, h) = (&self.sizes, motion.h);
        self.boxes.clear();
        self.boxes.extend(system.surfaces.iter().zip(sizes).map(|(own, sizes)| {
            let body = own.body as usize;
            let [a, b] = poses.map(|poses| bounds(&own.surface, &poses[body]));
            let out = h * h / 8.0 * (motions[body].mean.norm() + motions[body].spread);
            a.joined(&b).grown(out + rotation_travel(&motions[body], sizes.lever, h))
        }));
        let surface = |i: usize| (&system.surfaces[i].surface, system.surfaces[i].body as usize);
        let moves = |body: usize| motions[body].speed > 0.0 || motions[body].w > 0.0;
        let wanted = &self.wanted;
        if broad.update_swept(&self.boxes, surface, poses[0], moves, |i, j| wanted.any(system, i, j)) {
            self.meetings.retain(|meeting| matches!(meeting, GapSource::Gap(_)));
            for &[i, j] in broad.pairs() {
                let own =
                    (0..system.contacts.len()).filter(|e| wanted.has(system, *e, i as usize, j as usize));
                self.meetings.extend(own.map(|e| GapSource::Pair([e as u32, i, j])));
            }
        }
        self.broad = Some(broad);
    }

    /// Returns what may meet in the step.
    pub fn meetings(&self) -> usize {
        self.meetings.len()
    }

    /// One of them.
    pub fn meeting(&self, i: usize) -> GapSource {
        self.meetings[i]
    }

    fn sides(&self, system: &System, [_, a, b]: CandidatePair) -> [(SurfaceSizes, BodyBound); 2] {
        [a, b]
            .map(|i| (self.sizes[i as usize], self.motion.bounds[system.surfaces[i as usize].body as usize]))
    }

    /// Overlap that may be passed over \[m\].
    pub fn grazing(&self, system: &System, meeting: GapSource) -> f64 {
        match meeting {
            GapSource::Gap(i) => grazing_gap(self.motion.nodes[0].gaps[i as usize]),
            GapSource::Pair([_, a, b]) => grazing([a, b].map(|i| &system.surfaces[i as usize])),
        }
    }

    /// Returns how deep surfaces get into each other before they are through \[m\]; infinite where there is no other side.
    pub fn thickness(&self, meeting: GapSource) -> f64 {
        match meeting {
            GapSource::Gap(_) => f64::INFINITY,
            GapSource::Pair([_, a, b]) => {
                let [a, b] = [a, b].map(|i| &self.sizes[i as usize]);
                through(a.thick + b.thick, [a.far, b.far])
            }
        }
    }

    /// Bound on the speed at which a gap changes \[m/s\].
    pub fn approach(&self, system: &System, meeting: GapSource) -> f64 {
        let GapSource::Pair(candidate) = meeting else { return f64::INFINITY };
        let [a, b] = self.sides(system, candidate);
        let revolutions = |(own, bound): (SurfaceSizes, BodyBound), other: SurfaceSizes| {
            let lever = if own.wall { self.distance(system, candidate) + other.far } else { own.lever };
            if bound.w > 0.0 { bound.w * lever } else { 0.0 }
        };
        a.1.speed + b.1.speed + revolutions(a, b.0) + revolutions(b, a.0)
    }

    /// Bound on the distance of the bodies over the step \[m\].
    fn distance(&self, system: &System, [_, a, b]: CandidatePair) -> f64 {
        let [a, b] = [a, b].map(|i| system.surfaces[i as usize].body as usize);
        let start = (self.motion.nodes[0].poses[a].p - self.motion.nodes[0].poses[b].p).norm();
        start + self.motion.h * (self.motion.bounds[a].speed + self.motion.bounds[b].speed)
    }

    /// The gap at an instant \[m\]; infinite, or larger than what the step can close, where surfaces are far away.
    pub fn gap(&self, system: &System, meeting: GapSource, at: &BodiesAtInstant) -> f64 {
        let GapSource::Pair(candidate) = meeting else { return at.gaps[meeting.contact()] };
        let [_, a, b] = candidate;
        let [a, b] = [a, b].map(|i| &system.surfaces[i as usize]);
        let poses = [&at.poses[a.body as usize], &at.poses[b.body as usize]];
        // features of a mesh are many
        let rough = [a, b].iter().any(|own| matches!(own.surface.geometry, Geometry::Mesh(_)));
        let reach = if rough {
            self.approach(system, meeting) * self.motion.h + 0.1 * a.far.min(b.far)
        } else {
            f64::INFINITY
        };
        let mut least = f64::INFINITY;
        touches(&a.surface, &b.surface, poses, reach, self.motion.planar, &mut |touch| {
            least = least.min(touch.gap)
        });
        least.min(reach)
    }

    /// Lower bound on the gap between the frames \[m\], by the line of centres alone: needs no search for nearest points.
    pub fn quick(
        &self,
        system: &System,
        meeting: GapSource,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> f64 {
        let GapSource::Pair(candidate) = meeting else {
            let ends = [a, b].map(|frame| frame.gaps[meeting.contact()]);
            return self.enclose(system, meeting, a, b).lower(ends, b.t - a.t);
        };
        let [first, second] = self.sides(system, candidate);
        if first.0.wall || second.0.wall {
            return self.near_wall(system, candidate, a, b).unwrap_or(f64::NEG_INFINITY);
        }
        let off = self.off(system, candidate, a, b);
        let pose = |frame: &BodiesAtInstant, i: u32| {
            let own = &system.surfaces[i as usize];
            own.surface.centre(&frame.poses[own.body as usize])
        };
        let middle = |frame: &BodiesAtInstant| pose(frame, candidate[1]) - pose(frame, candidate[2]);
        let along = |n: Vec3| self.along(system, candidate, n, a, b) - off;
        let chord = middle(a) + middle(b);
        let best = [middle(a), chord].into_iter().filter_map(unit).map(along);
        best.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Lower bound on the gap between the frames, where it is `gaps` at these \[m\].
    pub fn lower(
        &self,
        system: &System,
        meeting: GapSource,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
        gaps: [f64; 2],
    ) -> f64 {
        let quick = self.quick(system, meeting, a, b);
        let GapSource::Pair(candidate) = meeting else { return quick };
        if quick > 0.0 {
            return quick;
        }
        let [first, second] = self.sides(system, candidate);
        let w = b.t - a.t;
        let finite = gaps.map(|gap| gap.min(1e300));
        let rough = 0.5 * (finite[0] + finite[1] - self.approach(system, meeting) * w);
        if first.0.wall || second.0.wall {
            let tube = [candidate[1], candidate[2]]
                .iter()
                .any(|i| matches!(system.surfaces[*i as usize].surface.geometry, Geometry::Channel { .. }));
            if !tube {
                return quick.max(rough);
            }
            // a concave function of each point
            let off = self.off(system, candidate, a, b) + self.off_wall(system, candidate, a, b);
            return rough.max(gaps[0].min(gaps[1]) - off);
        }
        let off = self.off(system, candidate, a, b);
        let mut best = quick.max(rough);
        for frame in [a, b] {
            if best > 0.0 {
                break;
            }
            let [i, j] = [candidate[1], candidate[2]].map(|i| &system.surfaces[i as usize]);
            let poses = [&frame.poses[i.body as usize], &frame.poses[j.body as usize]];
            let reach = self.approach(system, meeting) * w;
            let mut nearest = (f64::INFINITY, Vec3::zero());
            touches(&i.surface, &j.surface, poses, reach, self.motion.planar, &mut |touch| {
                if touch.gap < nearest.0 {
                    nearest = (touch.gap, touch.normal);
                }
            });
            if nearest.0.is_finite() {
                best = best.max(self.along(system, candidate, nearest.1, a, b) - off);
            }
        }
        best
    }

    /// Bounds a gap given by an expression between two frames.
    fn enclose(
        &self,
        system: &System,
        meeting: GapSource,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> Enclosure {
        let contact = meeting.contact();
        if let Some(curvature) = self.curvatures[contact] {
            let dd = Interval::around(0.0, curvature);
            return Enclosure { v: Interval::ALL, d: Interval::ALL, dd };
        }
        match &system.contacts[contact].contact.what {
            ContactSides::Gap { ids, rows } => self.motion.enclose(&rows.0, ids, a, b),
            ContactSides::Surfaces { .. } => Enclosure::jumping(Interval::ALL),
        }
    }

    /// Bounds the overlap of a gap given by an expression between two frames; zero where it is open.
    pub fn overlap(
        &self,
        system: &System,
        meeting: GapSource,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> Enclosure {
        self.enclose(system, meeting, a, b).least(Enclosure::from_f64(0.0))
    }

    /// Returns whether a pair that is open at the first frame and closed at the second closes once between them.
    pub fn closes_once(
        &self,
        system: &System,
        meeting: GapSource,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> bool {
        match meeting {
            GapSource::Gap(_) => self.enclose(system, meeting, a, b).d.hi < 0.0,
            GapSource::Pair(_) => {
                let way = self.approach(system, meeting) * (b.t - a.t);
                way.is_finite() && way <= SHALLOW * self.thickness(meeting)
            }
        }
    }

    /// Returns whether a gap given by an expression rises all the time between two frames, so that it does not close there; none where a
    /// shorter interval may tell.
    pub fn opens(
        &self,
        system: &System,
        meeting: GapSource,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> Option<bool> {
        if matches!(meeting, GapSource::Pair(_)) || self.curvatures[meeting.contact()].is_some() {
            return Some(false);
        }
        let rate = self.enclose(system, meeting, a, b).d;
        (rate.lo > 0.0 || rate.hi < 0.0).then_some(rate.lo > 0.0)
    }

    /// Returns whether a pair that is closed at the start of the step may open and close again within it.
    pub fn may_return(&self, system: &System, meeting: GapSource) -> bool {
        let [a, b] = self.ends();
        match meeting {
            GapSource::Gap(i) => {
                let ends = [a, b].map(|frame| frame.gaps[i as usize]);
                let bound = self.enclose(system, meeting, a, b);
                bound.d.lo <= 0.0 && bound.upper(ends, b.t - a.t) > 0.0
            }
            GapSource::Pair(_) => {
                self.approach(system, meeting) * (b.t - a.t) > SHALLOW * self.thickness(meeting)
            }
        }
    }

    /// Returns how far points of both leave the chords of their relative motion.
    fn off(
        &self,
        system: &System,
        candidate: CandidatePair,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> f64 {
        let [first, second] = self.sides(system, candidate);
        let w = b.t - a.t;
        let middle = (first.1.mean - second.1.mean).norm() + first.1.spread + second.1.spread;
        w * w / 8.0 * middle
            + rotation_travel(&first.1, first.0.lever, w)
            + rotation_travel(&second.1, second.0.lever, w)
    }

    /// The same by the rotation of a wall, in whose axes the distance is measured.
    fn off_wall(
        &self,
        system: &System,
        candidate: CandidatePair,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> f64 {
        let [first, second] = self.sides(system, candidate);
        let (wall, other) = if second.0.wall { (second, first) } else { (first, second) };
        if wall.1.w == 0.0 {
            return 0.0;
        }
        let w = b.t - a.t;
        let speed = first.1.speed + second.1.speed + other.1.w * other.0.lever;
        let arm = self.distance(system, candidate) + other.0.far;
        w * w / 8.0 * (2.0 * wall.1.w * speed + (wall.1.alpha + wall.1.w.powi(2)) * arm)
    }

    /// Least of both separations along `n`.
    fn along(
        &self,
        system: &System,
        candidate: CandidatePair,
        n: Vec3,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> f64 {
        let [_, i, j] = candidate;
        let [i, j] = [i, j].map(|i| &system.surfaces[i as usize]);
        let at = |frame: &BodiesAtInstant| {
            let support =
                |own: &SurfaceEntry, n: Vec3| support(&own.surface, &frame.poses[own.body as usize], n);
            -support(i, -n) - support(j, n)
        };
        at(a).min(at(b))
    }

    /// Lower bound on the distance to a flat wall; none to a tube.
    fn near_wall(
        &self,
        system: &System,
        candidate: CandidatePair,
        a: &BodiesAtInstant,
        b: &BodiesAtInstant,
    ) -> Option<f64> {
        let [_, i, j] = candidate;
        let [i, j] = [i, j].map(|i| &system.surfaces[i as usize]);
        let (wall, other) = if self.sizes[candidate[2] as usize].wall { (j, i) } else { (i, j) };
        if self.sizes[candidate[1] as usize].wall && self.sizes[candidate[2] as usize].wall {
            return Some(f64::INFINITY);
        }
        let up = if self.motion.planar { 1 } else { 2 };
        // how far above and below the wall's plane, along one of its axes
        let range = |frame: &BodiesAtInstant, axis: usize| {
            let pose = &frame.poses[wall.body as usize];
            let n = pose.rotate(&wall.surface.rot.col(axis).0);
            let o = n.dot(wall.surface.centre(pose));
            let own = |n: Vec3| support(&other.surface, &frame.poses[other.body as usize], n);
            [-own(-n) - o, own(n) - o]
        };
        let off = self.off(system, candidate, a, b) + self.off_wall(system, candidate, a, b);
        let least = match wall.surface.geometry {
            Geometry::HalfSpace => range(a, up)[0].min(range(b, up)[0]),
            Geometry::Plane => {
                let [[low, high], [low_b, high_b]] = [range(a, up), range(b, up)];
                low.min(low_b).max((-high).min(-high_b))
            }
            Geometry::Channel { tube: true, .. } if !self.motion.planar => return None,
            Geometry::Channel { half, .. } => {
                let inside = |[low, high]: [f64; 2]| (half + low).min(half - high);
                inside(range(a, 0)).min(inside(range(b, 0)))
            }
            _ => return None,
        };
        Some(least - off)
    }
}

/// Returns whether a surface is convex, so that a direction separates it from another one.
fn is_convex(geometry: &Geometry) -> bool {
    !matches!(geometry, Geometry::Mesh(_) | Geometry::Ends { .. })
}

/// Overlap of two surfaces that may be passed over, and gap up to which they count as touching where a step begins \[m\].
pub(super) fn grazing(own: [&SurfaceEntry; 2]) -> f64 {
    // against a wall the hull counts
    let convex =
        own.iter().any(|own| !own.far.is_finite()) || own.iter().all(|own| is_convex(&own.surface.geometry));
    let part = if convex { GRAZING } else { GRAZING_ROUGH };
    part * own[0].far.min(own[1].far)
}

/// Gap up to which a point that approaches counts as closed, where its force jumps \[m\].
pub(super) fn nearly(own: [&SurfaceEntry; 2]) -> f64 {
    GRAZING * own[0].far.min(own[1].far)
}

/// The same of a gap given by an expression.
pub(super) fn grazing_gap(gap: f64) -> f64 {
    GRAZING * gap.abs().max(1e-6)
}

/// Returns how far turning takes a point with a lever off its chord over `w` \[m\].
fn rotation_travel(bound: &BodyBound, lever: f64, w: f64) -> f64 {
    if bound.w == 0.0 {
        return 0.0;
    }
    (w * w / 8.0 * (bound.alpha + bound.w * bound.w)).min(2.0) * lever
}

fn unit(a: Vec3) -> Option<Vec3> {
    let length = a.norm();
    (length > 0.0).then(|| a * (1.0 / length))
}

/// The largest n·x of a surface with an end; of triangles that of the box around them.
fn support(surface: &Surface, pose: &Pose, n: Vec3) -> f64 {
    let frame = surface.frame(pose);
    let own = frame.to_local(n);
    let corners = |corners: &[[f64; 3]]| {
        corners.iter().map(|corner| own.dot(Vec3(*corner))).fold(f64::NEG_INFINITY, f64::max)
    };
    let beyond = match &surface.geometry {
        Geometry::Ball { radius } => *radius,
        Geometry::Ends { half, radius } | Geometry::Capsule { half, radius } => own[0].abs() * half + radius,
        Geometry::Cylinder { half, radius, along } => {
            let axial = own[*along];
            axial.abs() * half + radius * (n.norm_squared() - axial * axial).max(0.0).sqrt()
        }
        Geometry::Box { half } => (0..3).map(|i| own[i].abs() * half[i]).sum(),
        Geometry::Convex(hull) => corners(hull.corners()),
        Geometry::Mesh(triangles) => {
            let Aabb { low, high } = triangles.extent();
            (0..3).map(|i| (own[i] * low[i]).max(own[i] * high[i])).sum()
        }
        Geometry::Plane | Geometry::HalfSpace | Geometry::Channel { .. } => f64::INFINITY,
    };
    n.dot(frame.p) + beyond
}

impl Mechanism {
    /// All bodies at `s`, for [`Sweep`].
    pub fn contact_frame(&mut self, s: &State, frame: &mut BodiesAtInstant) {
        let system = self.system().clone();
        self.update_bodies(s);
        self.fill_frame(s, frame);
        self.with_contacts(s, |_, bodies, _| {
            frame.gaps.clear();
            frame.gaps.extend(system.contacts.iter().map(|entry| match &entry.contact.what {
                ContactSides::Gap { ids, rows } => rows.0.eval(&bodies.at(ids)),
                ContactSides::Surfaces { .. } => 0.0,
            }));
        });
    }
}
