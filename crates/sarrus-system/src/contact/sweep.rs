//! Lower bounds on gaps over an interval of time, for conservative advancement \[Mirtich1996\].
//!
//! A step is sampled at Chebyshev-Lobatto nodes, as many as the degree of its dense output asks for. They bound for each body the speed,
//! the acceleration of its centre of mass, |ω| and |ω̇| over the step: |p| ≤ Λ max |pₖ| for a polynomial p with the values pₖ at the
//! nodes, with Λ the Lebesgue constant.
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
//! Cost: candidates of the swept boxes of the step, by [`Broad`] where there are more than a few pairs.

use super::broad::Broad;
use super::candidates::{Candidate, Wanted, margin, pairs};
use super::geometry::bounds::{Aabb, bounds};
use super::surface::{Geometry, Surface, rounding, thickness, through, touches};
use super::{SurfaceEntry, What};
use crate::mechanism::Mechanism;
use crate::system::System;
use sarrus_math::{Pose, Twist, Vec3};
use sarrus_model::Space;
use sarrus_solve::State;

/// Bounds the Lebesgue constant of up to [`MOST_NODES`] Chebyshev-Lobatto intervals: 2/π (ln 8 + 0.5772 + ln 8/π).
const LEBESGUE: f64 = 2.3;
/// Least and most intervals between nodes.
const MOST_NODES: usize = 8;
const FEWEST_NODES: usize = 3;
/// Pairs of surfaces up to which each step tests all.
const FEW: usize = 64;
/// Overlaps below this part of the smaller surface are grazing: they may be passed over.
const GRAZING: f64 = 1e-9;
/// The same where only the approach speed bounds the gap.
const GRAZING_ROUGH: f64 = 1e-4;

/// All bodies at an instant.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Time \[s\].
    pub t: f64,
    poses: Vec<Pose>,
    twists: Vec<Twist>,
    /// Gaps given by expressions, by contact \[m\].
    gaps: Vec<f64>,
}

impl Frame {
    /// Takes over another.
    pub fn copy_from(&mut self, other: &Frame) {
        self.t = other.t;
        self.poses.clone_from(&other.poses);
        self.gaps.clone_from(&other.gaps);
    }
}

/// A pair of surfaces or a gap given by an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// Entry and surfaces.
    Pair(Candidate),
    /// Entry.
    Gap(u32),
}

impl Meeting {
    /// Number of its entry.
    pub fn contact(&self) -> usize {
        match *self {
            Meeting::Pair([contact, ..]) | Meeting::Gap(contact) => contact as usize,
        }
    }
}

/// Bounds on the motion of a body over a step.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// Speed \[m/s\].
    speed: f64,
    /// Mean acceleration, and the deviation from it \[m/s²\].
    mean: Vec3,
    spread: f64,
    /// |ω| and |ω̇|.
    w: f64,
    alpha: f64,
}

const AT_REST: Bound = Bound { speed: 0.0, mean: Vec3([0.0; 3]), spread: 0.0, w: 0.0, alpha: 0.0 };

/// Sizes of a surface \[m\].
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// From the body's centre of mass to the farthest point that turning moves.
    lever: f64,
    far: f64,
    thick: f64,
    wall: bool,
}

/// Bounds the gaps of all contacts over a step.
#[derive(Clone)]
pub struct Sweep {
    sizes: Vec<Sizes>,
    wanted: Wanted,
    broad: Option<Broad>,
    boxes: Vec<Aabb>,
    meetings: Vec<Meeting>,
    nodes: Vec<Frame>,
    /// Intervals, fractions of the step at the nodes, and the matrix of differentiation over the step.
    n: usize,
    fractions: Vec<f64>,
    D: Vec<f64>,
    bounds: Vec<Bound>,
    /// |g̈| of gaps given by expressions, by contact.
    curvatures: Vec<f64>,
    planar: bool,
    h: f64,
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
                What::Gap { .. } => meetings.push(Meeting::Gap(number as u32)),
                What::Surfaces { sides, apart } if count <= FEW => {
                    pairs(&system.surfaces, number as u32, sides, apart, FEW, &mut all);
                }
                What::Surfaces { .. } => {}
            }
        }
        meetings.extend(all.into_iter().map(Meeting::Pair));
        let n = (order as usize).clamp(FEWEST_NODES, MOST_NODES);
        let fractions: Vec<f64> =
            (0..=n).map(|k| 0.5 - 0.5 * (std::f64::consts::PI * k as f64 / n as f64).cos()).collect();
        let sizes = system.surfaces.iter().map(|own| {
            let geometry = &own.surface.geometry;
            let wall = matches!(geometry, Geometry::Plane | Geometry::HalfSpace | Geometry::Channel { .. });
            Sizes {
                lever: if wall { 0.0 } else { own.far - rounding(geometry) },
                far: own.far,
                thick: thickness(geometry, planar),
                wall,
            }
        });
        let bodies = system.directory.bodies.len();
        Sweep {
            sizes: sizes.collect(),
            wanted: Wanted::new(system),
            broad: (count > FEW).then(|| Broad::new(margin(system), planar)),
            boxes: Vec::new(),
            meetings,
            nodes: vec![Frame::default(); n + 1],
            n,
            D: differentiation(&fractions),
            fractions,
            bounds: vec![AT_REST; bodies],
            curvatures: vec![0.0; system.contacts.len()],
            planar,
            h: 0.0,
        }
    }

    /// Fractions of a step at which it is sampled.
    pub fn fractions(&self) -> &[f64] {
        &self.fractions
    }

    /// The frame of a node.
    pub fn node(&mut self, k: usize) -> &mut Frame {
        &mut self.nodes[k]
    }

    /// The first and the last frame of the step.
    pub fn ends(&self) -> [&Frame; 2] {
        [&self.nodes[0], &self.nodes[self.n]]
    }

    /// Bounds the motion over the step that the nodes sample, and finds what may meet.
    pub fn begin(&mut self, system: &System) {
        let n = self.n;
        self.h = self.nodes[n].t - self.nodes[0].t;
        for body in 1..self.bounds.len() {
            self.bounds[body] = self.bound(body);
        }
        for i in 0..self.curvatures.len() {
            let g = |k: usize| Vec3([self.nodes[k].gaps[i], 0.0, 0.0]);
            let (rates, rest) = self.twice(g);
            self.curvatures[i] = ((rates[n] - rates[0]) * (1.0 / self.h)).norm() + rest;
        }
        let Some(mut broad) = self.broad.take() else { return };
        let (poses, motions) = ([&self.nodes[0].poses, &self.nodes[n].poses], &self.bounds);
        let (sizes, h) = (&self.sizes, self.h);
        self.boxes.clear();
        self.boxes.extend(system.surfaces.iter().zip(sizes).map(|(own, sizes)| {
            let body = own.body as usize;
            let [a, b] = poses.map(|poses| bounds(&own.surface, &poses[body]));
            let out = h * h / 8.0 * (motions[body].mean.norm() + motions[body].spread);
            a.joined(&b).grown(out + turning(&motions[body], sizes.lever, h))
        }));
        let surface = |i: usize| (&system.surfaces[i].surface, system.surfaces[i].body as usize);
        let moves = |body: usize| motions[body].speed > 0.0 || motions[body].w > 0.0;
        let wanted = &self.wanted;
        if broad.update_swept(&self.boxes, surface, poses[0], moves, |i, j| wanted.any(system, i, j)) {
            self.meetings.retain(|meeting| matches!(meeting, Meeting::Gap(_)));
            for &[i, j] in broad.pairs() {
                let own =
                    (0..system.contacts.len()).filter(|e| wanted.has(system, *e, i as usize, j as usize));
                self.meetings.extend(own.map(|e| Meeting::Pair([e as u32, i, j])));
            }
        }
        self.broad = Some(broad);
    }

    /// What may meet in the step.
    pub fn meetings(&self) -> usize {
        self.meetings.len()
    }

    /// One of them.
    pub fn meeting(&self, i: usize) -> Meeting {
        self.meetings[i]
    }

    /// Rates at the nodes of a path with these values there, and a bound on the deviation of its second derivative from the mean.
    fn twice(&self, value: impl Fn(usize) -> Vec3) -> ([Vec3; MOST_NODES + 1], f64) {
        let n = self.n;
        let scale = 1.0 / self.h;
        let mut rates = [Vec3::zero(); MOST_NODES + 1];
        for (k, rate) in rates[..=n].iter_mut().enumerate() {
            *rate = self.derivative(k, &value) * scale;
        }
        let rest = self.deviation(|k| rates[k]);
        (rates, rest)
    }

    /// Over the whole step and with respect to its fraction.
    fn derivative(&self, k: usize, value: &impl Fn(usize) -> Vec3) -> Vec3 {
        let row = &self.D[k * (self.n + 1)..][..=self.n];
        row.iter().enumerate().fold(Vec3::zero(), |sum, (j, d)| sum + (value(j) - value(k)) * *d)
    }

    /// Bound on |ṗ - mean of ṗ|.
    fn deviation(&self, value: impl Fn(usize) -> Vec3) -> f64 {
        let mean = value(self.n) - value(0);
        let most = (0..=self.n).map(|k| (self.derivative(k, &value) - mean).norm()).fold(0.0, f64::max);
        LEBESGUE * most / self.h
    }

    fn bound(&self, body: usize) -> Bound {
        let (n, h) = (self.n, self.h);
        let v = |k: usize| self.nodes[k].twists[body].v;
        let w = |k: usize| self.nodes[k].twists[body].w;
        let p = |k: usize| self.nodes[k].poses[body].p;
        if (0..=n).all(|k| v(k).norm_squared() == 0.0 && w(k).norm_squared() == 0.0) && p(n) == p(0) {
            return AT_REST;
        }
        // largest value of a vector: between its ends, and beyond by its deviation from the straight line
        let largest = |value: &dyn Fn(usize) -> Vec3| {
            let line = |k: usize| value(0) + (value(n) - value(0)) * self.fractions[k];
            let off = (0..=n).map(|k| (value(k) - line(k)).norm()).fold(0.0, f64::max);
            value(0).norm().max(value(n).norm()) + LEBESGUE * off
        };
        let (rates, path) = self.twice(p);
        // the interpolants of positions and of velocities differ by the error of the step
        let spread = self.deviation(v).max(path);
        let mean = (v(n) - v(0)) * (1.0 / h);
        let spread = spread + ((rates[n] - rates[0]) * (1.0 / h) - mean).norm();
        let still = (0..=n).all(|k| w(k).norm_squared() == 0.0);
        Bound {
            speed: largest(&v).max(largest(&|k| rates[k])),
            mean,
            spread,
            w: if still { 0.0 } else { largest(&w) },
            alpha: if still { 0.0 } else { (w(n) - w(0)).norm() / h + self.deviation(w) },
        }
    }

    fn sides(&self, system: &System, [_, a, b]: Candidate) -> [(Sizes, Bound); 2] {
        [a, b].map(|i| (self.sizes[i as usize], self.bounds[system.surfaces[i as usize].body as usize]))
    }

    /// Overlap that may be passed over \[m\].
    pub fn grazing(&self, system: &System, meeting: Meeting) -> f64 {
        match meeting {
            Meeting::Gap(i) => grazing_gap(self.nodes[0].gaps[i as usize]),
            Meeting::Pair([_, a, b]) => grazing([a, b].map(|i| &system.surfaces[i as usize])),
        }
    }

    /// How deep surfaces get into each other before they are through \[m\]; infinite where there is no other side.
    pub fn thickness(&self, meeting: Meeting) -> f64 {
        match meeting {
            Meeting::Gap(_) => f64::INFINITY,
            Meeting::Pair([_, a, b]) => {
                let [a, b] = [a, b].map(|i| &self.sizes[i as usize]);
                through(a.thick + b.thick, [a.far, b.far])
            }
        }
    }

    /// Bound on the speed at which a gap changes \[m/s\].
    pub fn approach(&self, system: &System, meeting: Meeting) -> f64 {
        let Meeting::Pair(candidate) = meeting else { return f64::INFINITY };
        let [a, b] = self.sides(system, candidate);
        let turns = |(own, bound): (Sizes, Bound), other: Sizes| {
            let lever = if own.wall { self.distance(system, candidate) + other.far } else { own.lever };
            if bound.w > 0.0 { bound.w * lever } else { 0.0 }
        };
        a.1.speed + b.1.speed + turns(a, b.0) + turns(b, a.0)
    }

    /// Bound on the distance of the bodies over the step \[m\].
    fn distance(&self, system: &System, [_, a, b]: Candidate) -> f64 {
        let [a, b] = [a, b].map(|i| system.surfaces[i as usize].body as usize);
        let start = (self.nodes[0].poses[a].p - self.nodes[0].poses[b].p).norm();
        start + self.h * (self.bounds[a].speed + self.bounds[b].speed)
    }

    /// The gap at an instant \[m\]; infinite, or larger than what the step can close, where surfaces are far away.
    pub fn gap(&self, system: &System, meeting: Meeting, at: &Frame) -> f64 {
        let Meeting::Pair(candidate) = meeting else { return at.gaps[meeting.contact()] };
        let [_, a, b] = candidate;
        let [a, b] = [a, b].map(|i| &system.surfaces[i as usize]);
        let poses = [&at.poses[a.body as usize], &at.poses[b.body as usize]];
        // features of a mesh are many
        let rough = [a, b].iter().any(|own| matches!(own.surface.geometry, Geometry::Mesh(_)));
        let reach = if rough {
            self.approach(system, meeting) * self.h + 0.1 * a.far.min(b.far)
        } else {
            f64::INFINITY
        };
        let mut least = f64::INFINITY;
        touches(&a.surface, &b.surface, poses, reach, self.planar, &mut |touch| least = least.min(touch.gap));
        least.min(reach)
    }

    /// Lower bound on the gap between the frames \[m\], by the line of centres alone: needs no search for nearest points.
    pub fn quick(&self, system: &System, meeting: Meeting, a: &Frame, b: &Frame) -> f64 {
        let Meeting::Pair(candidate) = meeting else {
            return self.bend(meeting, a.gaps[meeting.contact()].min(b.gaps[meeting.contact()]), a, b);
        };
        let [first, second] = self.sides(system, candidate);
        if first.0.wall || second.0.wall {
            return self.beside_wall(system, candidate, a, b).unwrap_or(f64::NEG_INFINITY);
        }
        let off = self.off(system, candidate, a, b);
        let pose = |frame: &Frame, i: u32| {
            let own = &system.surfaces[i as usize];
            own.surface.centre(&frame.poses[own.body as usize])
        };
        let middle = |frame: &Frame| pose(frame, candidate[1]) - pose(frame, candidate[2]);
        let along = |n: Vec3| self.along(system, candidate, n, a, b) - off;
        let chord = middle(a) + middle(b);
        let best = [middle(a), chord].into_iter().filter_map(unit).map(along);
        best.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Lower bound on the gap between the frames, where it is `gaps` at these \[m\].
    pub fn lower(&self, system: &System, meeting: Meeting, a: &Frame, b: &Frame, gaps: [f64; 2]) -> f64 {
        let quick = self.quick(system, meeting, a, b);
        let Meeting::Pair(candidate) = meeting else { return quick };
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
            touches(&i.surface, &j.surface, poses, reach, self.planar, &mut |touch| {
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

    /// A gap given by an expression leaves its chord by its curvature.
    fn bend(&self, meeting: Meeting, gap: f64, a: &Frame, b: &Frame) -> f64 {
        gap - (b.t - a.t).powi(2) / 8.0 * self.curvatures[meeting.contact()]
    }

    /// How far points of both leave the chords of their relative motion.
    fn off(&self, system: &System, candidate: Candidate, a: &Frame, b: &Frame) -> f64 {
        let [first, second] = self.sides(system, candidate);
        let w = b.t - a.t;
        let middle = (first.1.mean - second.1.mean).norm() + first.1.spread + second.1.spread;
        w * w / 8.0 * middle + turning(&first.1, first.0.lever, w) + turning(&second.1, second.0.lever, w)
    }

    /// The same by the rotation of a wall, in whose axes the distance is measured.
    fn off_wall(&self, system: &System, candidate: Candidate, a: &Frame, b: &Frame) -> f64 {
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
    fn along(&self, system: &System, candidate: Candidate, n: Vec3, a: &Frame, b: &Frame) -> f64 {
        let [_, i, j] = candidate;
        let [i, j] = [i, j].map(|i| &system.surfaces[i as usize]);
        let at = |frame: &Frame| {
            let support =
                |own: &SurfaceEntry, n: Vec3| support(&own.surface, &frame.poses[own.body as usize], n);
            -support(i, -n) - support(j, n)
        };
        at(a).min(at(b))
    }

    /// Lower bound on the distance to a flat wall; none to a tube.
    fn beside_wall(&self, system: &System, candidate: Candidate, a: &Frame, b: &Frame) -> Option<f64> {
        let [_, i, j] = candidate;
        let [i, j] = [i, j].map(|i| &system.surfaces[i as usize]);
        let (wall, other) = if self.sizes[candidate[2] as usize].wall { (j, i) } else { (i, j) };
        if self.sizes[candidate[1] as usize].wall && self.sizes[candidate[2] as usize].wall {
            return Some(f64::INFINITY);
        }
        let up = if self.planar { 1 } else { 2 };
        // how far above and below the wall's plane, along one of its axes
        let range = |frame: &Frame, axis: usize| {
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
            Geometry::Channel { tube: true, .. } if !self.planar => return None,
            Geometry::Channel { half, .. } => {
                let inside = |[low, high]: [f64; 2]| (half + low).min(half - high);
                inside(range(a, 0)).min(inside(range(b, 0)))
            }
            _ => return None,
        };
        Some(least - off)
    }
}

/// Whether a surface is convex, so that a direction separates it from another one.
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

/// Gap up to which a place that approaches counts as closed, where its force jumps \[m\].
pub(super) fn nearly(own: [&SurfaceEntry; 2]) -> f64 {
    GRAZING * own[0].far.min(own[1].far)
}

/// The same of a gap given by an expression.
pub(super) fn grazing_gap(gap: f64) -> f64 {
    GRAZING * gap.abs().max(1e-6)
}

/// The matrix of differentiation on Chebyshev-Lobatto nodes, without its diagonal \[Berrut2004\].
fn differentiation(x: &[f64]) -> Vec<f64> {
    let n = x.len() - 1;
    let weight = |k: usize| {
        let sign = if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        if k == 0 || k == n { 0.5 * sign } else { sign }
    };
    let entry = |k: usize, j: usize| if j == k { 0.0 } else { weight(j) / weight(k) / (x[k] - x[j]) };
    (0..=n).flat_map(|k| (0..=n).map(move |j| (k, j))).map(|(k, j)| entry(k, j)).collect()
}

/// How far turning takes a point with a lever off its chord over `w` \[m\].
fn turning(bound: &Bound, lever: f64, w: f64) -> f64 {
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
    pub fn contact_frame(&mut self, s: &State, frame: &mut Frame) {
        let system = self.system().clone();
        let gaps = system.contacts.iter().any(|c| matches!(c.contact.what, What::Gap { .. }));
        if gaps {
            self.observe(s, |_| ());
        } else {
            self.place_bodies(s);
        }
        frame.t = s.t;
        self.with_contacts(s, |_, bodies, _| {
            frame.poses.clear();
            frame.poses.extend_from_slice(bodies.poses);
            frame.twists.clear();
            frame.twists.extend_from_slice(bodies.twists);
            frame.gaps.clear();
            frame.gaps.extend(system.contacts.iter().map(|entry| match &entry.contact.what {
                What::Gap { ids, rows } => {
                    let mut gap = [0.0];
                    rows.phi(&bodies.at(ids), &mut gap);
                    gap[0]
                }
                What::Surfaces { .. } => 0.0,
            }));
        });
    }
}
