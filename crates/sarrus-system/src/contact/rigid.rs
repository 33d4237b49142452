//! Rigid contacts: gaps g(q) ≥ 0 that no overlap gives way to.
//!
//! An entry with `method = "impulsive"` has no force of its own. Every point at which its surfaces can touch, and a gap given by an
//! expression, is a [`Gap`]: a row g of positions whose gradient is the normal, and rows for the slip across it. The caller that runs the
//! system watches the gaps, and adds rows of those that stay closed. All rows are written over any scalar, so that J and γ
//! are exact.
//!
//! A point that slides bears friction μN against the slip, a force in proportion to a multiplier: [`Sliding`] tells it, and the
//! accelerations are solved for with it (see [`sarrus_solve::Problem::frictions`]).

use super::ContactSides;
use super::geometry::frozen::{self, FrozenFeature};
use super::geometry::patch;
use super::pair::BodyKinematics;
use super::surface::{Surface, Touch, slots, touches};
use super::sweep::GapSource;
use crate::at::At;
use crate::constraint::{Constraint, JacobianBlocks, Rows};
use crate::mechanism::Mechanism;
use crate::system::{ConstraintElement, Family, System};
use sarrus_math::{Pose, Real, Vec3};
use sarrus_model::Space;
use sarrus_solve::State;
use std::sync::Arc;

/// Every pair is a candidate.
const ALL: usize = usize::MAX / 4;

/// Angle between slips, in radians, up to which they have the same direction: below what tolerances of steps ask for.
pub const SAME_WAY: f64 = 1e-9;

/// The rule by which an impact ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImpactRule {
    /// Of velocities: u⁺ = -e u⁻.
    Newton,
    /// Of impulses: what compression took up comes back e times.
    Poisson,
}

/// Describes how rigid surfaces meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rigid {
    /// e, 0 to 1.
    pub restitution: f64,
    /// Of what.
    pub rule: ImpactRule,
    /// μ of friction.
    pub mu: f64,
}

/// A point of two surfaces: bodies are the first and the second of an element.
#[derive(Clone)]
pub struct RigidContactPoint {
    surfaces: Arc<[Surface; 2]>,
    slot: u32,
    planar: bool,
    /// Holds what meets there, of one that is held: it continues past the ends of its face and edges.
    feature: Option<FrozenFeature>,
}

impl RigidContactPoint {
    /// Returns whether it is the same place of the same surfaces.
    pub(super) fn is(&self, other: &RigidContactPoint) -> bool {
        self.slot == other.slot && Arc::ptr_eq(&self.surfaces, &other.surfaces)
    }

    /// Returns where it is; none where other features are nearer.
    pub(super) fn find<R: Real>(&self, at: &At<R>) -> Option<Touch<R>> {
        if let Some(feature) = self.feature {
            let [a, b] = &*self.surfaces;
            return frozen::touch(a, b, [at.pose(0), at.pose(1)], feature);
        }
        let mut found: Option<Touch<R>> = None;
        self.all(at, &mut |touch| {
            if touch.slot == self.slot {
                found = Some(touch);
            }
        });
        found
    }

    /// All places of its surfaces.
    fn all<R: Real>(&self, at: &At<R>, found: &mut impl FnMut(Touch<R>)) {
        let [a, b] = &*self.surfaces;
        let poses = [at.pose(0), at.pose(1)];
        touches(a, b, poses, f64::INFINITY, self.planar, &mut |touch: Touch<R>| {
            // lines of edges that are nearly parallel may cross where there is no edge
            if let Some(edges @ FrozenFeature::Faced(patch::PatchFeature::Edges(..), _)) = touch.feature {
                let values = poses.map(Pose::value);
                if frozen::within(a, b, [&values[0], &values[1]], edges).is_some_and(|margin| margin < 0.0) {
                    return;
                }
            }
            found(touch);
        });
    }

    /// Returns how far the feature that is held is from its ends \[m\]; none where it has none.
    pub fn within(&self, at: &At<f64>) -> Option<f64> {
        let [a, b] = &*self.surfaces;
        frozen::within(a, b, [at.pose(0), at.pose(1)], self.feature?)
    }

    /// Two directions across the normal, in the plane one.
    pub(super) fn across<R: Real>(&self, n: Vec3<R>) -> [Vec3<R>; 2] {
        if self.planar {
            return [Vec3([-n.0[1], n.0[0], R::zero()]), Vec3::zero()];
        }
        // from the axis that is farthest from the normal; it may be another elsewhere, which turns the two together
        let size = |k: &usize| n.0[*k].value().abs();
        let axis = (0..3).min_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(0);
        let mut e = [0.0; 3];
        e[axis] = 1.0;
        let e: Vec3<R> = Vec3::from_f64(e);
        let t = e - n.scale(n.dot(e));
        let t = t.scale(R::one() / t.norm());
        [t, n.cross(t)]
    }

    /// Slip of the first over the second, square to the normal.
    fn slip<R: Real>(&self, at: &At<R>, touch: &Touch<R>) -> Vec3<R> {
        let point = (touch.points[0] + touch.points[1]).scale_f64(0.5);
        let velocity = |i: usize| at.twist(i).v + at.twist(i).w_W.cross(point - at.pose(i).p);
        let apart = velocity(0) - velocity(1);
        apart - touch.normal.scale(apart.dot(touch.normal))
    }
}

/// g of a point.
struct ContactGap(RigidContactPoint);

impl Constraint for ContactGap {
    fn rows(&self) -> usize {
        1
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        phi[0] = self.0.find(at).map_or(R::from_f64(f64::NAN), |touch| touch.gap);
    }
}

/// The slip at a point.
struct Across(RigidContactPoint);

impl Constraint for Across {
    fn rows(&self) -> usize {
        if self.0.planar { 1 } else { 2 }
    }

    fn holonomic(&self) -> usize {
        0
    }

    fn residual<R: Real>(&self, _at: &At<R>, _phi: &mut [R]) {}

    fn velocity<R: Real>(&self, at: &At<R>, psi: &mut [R]) {
        let Some(touch) = self.0.find(at) else { return psi.fill(R::from_f64(f64::NAN)) };
        let slip = self.0.slip(at, &touch);
        let across = self.0.across(touch.normal);
        psi.iter_mut().zip(across).for_each(|(psi, t)| *psi = slip.dot(t));
    }
}

/// Friction of a point that slides.
#[derive(Clone)]
pub struct Sliding {
    point: RigidContactPoint,
    /// μ.
    pub mu: f64,
    /// The direction in which it slid when it began, world axes: what counts where it does not slip.
    pub direction: [f64; 3],
    /// The slip that is rounding \[m/s\].
    pub still: f64,
}

impl Sliding {
    /// Direction of the slip and where it is, and the slip itself.
    pub(super) fn find(&self, at: &At<f64>) -> Option<(Vec3<f64>, Vec3<f64>, Vec3<f64>)> {
        let touch = self.point.find(at)?;
        let slip = self.point.slip(at, &touch);
        let old = Vec3(self.direction) - touch.normal * touch.normal.dot(Vec3(self.direction));
        let size = old.norm();
        let old = if size > 0.0 { old * (1.0 / size) } else { old };
        let along = slip.dot(old);
        let aside = slip - old * along;
        let far = aside.norm();
        // in the plane, and where the slip turns back, the direction stays what it was until the run says so
        let rotates = !self.point.planar && (along > 0.0 || far > -along);
        // what is rounding must not turn it: at a slow slip friction would amplify that, and no explicit step be stable
        let dead = SAME_WAY * along.abs() + self.still;
        let d = if rotates && far > dead { old * along + aside * (1.0 - dead / far) } else { old };
        let size = d.norm();
        let d = if size > 0.0 { d * (1.0 / size) } else { d };
        Some((d, (touch.points[0] + touch.points[1]) * 0.5, slip))
    }

    /// Direction of the friction that it bears, reversed: that of the slip.
    pub fn way(&self, at: &At<f64>) -> Option<Vec3<f64>> {
        self.find(at).map(|(way, ..)| way)
    }

    /// Returns how fast it slips.
    pub fn speed(&self, at: &At<f64>) -> f64 {
        self.point.find(at).map_or(0.0, |touch| self.point.slip(at, &touch).norm())
    }

    /// Returns how fast it slips in the direction in which it slid.
    pub fn onward(&self, at: &At<f64>) -> f64 {
        self.point.find(at).map_or(0.0, |touch| self.point.slip(at, &touch).dot(Vec3(self.direction)))
    }
}

/// A gap that must not become negative: of a contact, or of a coordinate to its rigid limit.
#[derive(Clone)]
pub struct Gap {
    /// Index of its contact; of a limit that of the limit, counted on from the contacts.
    pub contact: usize,
    /// Index of its limit, if it is one.
    pub limit: Option<usize>,
    /// Its bodies.
    pub ids: Vec<u32>,
    /// Describes how it meets.
    pub rigid: Rigid,
    /// g.
    pub normal: Arc<dyn Rows>,
    /// The slip, where there is friction.
    pub across: Option<Arc<dyn Rows>>,
    /// Holds what it is a point of, among what the sweep bounds; nothing of a limit.
    pub meeting: Option<GapSource>,
    point: Option<RigidContactPoint>,
}

/// Rows of a gap at a state: that of the gap, then those across.
#[derive(Clone, Debug, Default)]
pub struct GapRows {
    /// g \[m\].
    pub gap: f64,
    /// u: ġ, and the slip \[m/s\].
    pub rates: Vec<f64>,
    /// γ: u̇ = N v̇ - γ.
    pub gamma: Vec<f64>,
    /// N, over all of v.
    pub N: Vec<Vec<f64>>,
}

impl Gap {
    /// The gap of limit number `limit`, without friction.
    pub(crate) fn of_limit(
        contact: usize,
        limit: usize,
        ids: Vec<u32>,
        rigid: Rigid,
        normal: Arc<dyn Rows>,
    ) -> Gap {
        Gap { contact, limit: Some(limit), ids, rigid, normal, across: None, meeting: None, point: None }
    }

    /// The same with the feature that touches at the instant `at` for its rows, where it is one with ends.
    pub fn frozen(&self, at: &At<f64>) -> Gap {
        let at = At { ids: &self.ids, ..*at };
        let Some(point) = &self.point else { return self.clone() };
        let feature = point.find(&at).and_then(|touch| touch.feature);
        let point = RigidContactPoint { feature, ..point.clone() };
        if !point.within(&at).is_some_and(|margin| margin >= 0.0) {
            return self.clone();
        }
        let across = self.across.as_ref().map(|_| Arc::new(Across(point.clone())) as Arc<dyn Rows>);
        Gap { normal: Arc::new(ContactGap(point.clone())), across, point: Some(point), ..self.clone() }
    }

    /// The feature that is held.
    pub fn feature(&self) -> Option<FrozenFeature> {
        self.point.as_ref().and_then(|point| point.feature)
    }

    /// The row that holds it closed, called as its contact, or as the joint whose limit it is; with the friction of a point that slides.
    pub fn hold(&self, system: &System, sliding: Option<Sliding>) -> ConstraintElement {
        if let Some(limit) = self.limit {
            let joint = system.all.events.limits[limit].joint;
            let name = system.directory.joints[joint].name.clone();
            return ConstraintElement::new(name, Family::Lock, self.ids.clone(), self.normal.clone());
        }
        let name = system.contacts[self.contact].contact.name.clone();
        let element = ConstraintElement::new(name, Family::Contact, self.ids.clone(), self.normal.clone());
        ConstraintElement { sliding: sliding.map(Arc::new), point: self.point.clone(), ..element }
    }

    /// The rows that keep it from slipping.
    pub fn stick(&self, system: &System) -> Option<ConstraintElement> {
        let name = system.contacts[self.contact].contact.name.clone();
        let rows = self.across.clone()?;
        let element = ConstraintElement::new(name, Family::Contact, self.ids.clone(), rows);
        Some(ConstraintElement { point: self.point.clone(), ..element })
    }

    /// Friction against a slip of these numbers across the normal, at the instant `at`; a slip up to `still` is rounding.
    pub fn sliding(&self, at: &At<f64>, slip: &[f64], still: f64) -> Option<Sliding> {
        let point = self.point.clone()?;
        let at = At { ids: &self.ids, ..*at };
        let t = point.across(point.find(&at)?.normal);
        let d = slip.iter().zip(t).fold(Vec3::zero(), |d, (u, t)| d + t * *u);
        let size = d.norm();
        let direction = (d * (1.0 / size)).0;
        (size > 0.0).then_some(Sliding { point, mu: self.rigid.mu, direction, still })
    }

    /// Returns where its bodies touch.
    pub fn bodies(&self) -> &[u32] {
        &self.ids
    }
}

impl System {
    /// The gaps of the contacts that are rigid.
    pub fn gaps(&self) -> Vec<Gap> {
        let planar = self.directory.space == Space::Planar;
        let mut gaps = Vec::new();
        for (contact, entry) in self.contacts.iter().enumerate() {
            let Some(rigid) = entry.contact.rigid else { continue };
            match &entry.contact.what {
                ContactSides::Gap { ids, rows } => gaps.push(Gap {
                    contact,
                    limit: None,
                    ids: ids.clone(),
                    rigid,
                    normal: rows.clone(),
                    across: None,
                    meeting: Some(GapSource::Gap(contact as u32)),
                    point: None,
                }),
                ContactSides::Surfaces { sides, apart } => {
                    let mut candidates = Vec::new();
                    super::candidates::pairs(
                        &self.surfaces,
                        contact as u32,
                        sides,
                        apart,
                        ALL,
                        &mut candidates,
                    );
                    for candidate in candidates {
                        let [_, a, b] = candidate;
                        let two = [a, b].map(|i| &self.surfaces[i as usize]);
                        let surfaces = Arc::new(two.map(|s| s.surface.clone()));
                        for slot in 0..slots(&surfaces[0], &surfaces[1]) {
                            let point =
                                RigidContactPoint { surfaces: surfaces.clone(), slot, planar, feature: None };
                            let across: Option<Arc<dyn Rows>> =
                                if rigid.mu > 0.0 { Some(Arc::new(Across(point.clone()))) } else { None };
                            gaps.push(Gap {
                                contact,
                                limit: None,
                                ids: two.map(|s| s.body).to_vec(),
                                rigid,
                                normal: Arc::new(ContactGap(point.clone())),
                                across,
                                meeting: Some(GapSource::Pair(candidate)),
                                point: Some(point),
                            });
                        }
                    }
                }
            }
        }
        gaps
    }
}

impl Mechanism {
    /// g of every gap at `s`; infinite where other features are nearer.
    pub fn gap_values(&mut self, s: &State, gaps: &[Gap], out: &mut [f64]) {
        self.observe(s, |at| {
            let mut rest = (gaps, out);
            while let Some((gap, _)) = rest.0.split_first() {
                // gaps of a pair follow each other
                let same = |other: &&Gap| match (&gap.point, &other.point) {
                    (Some(a), Some(b)) => Arc::ptr_eq(&a.surfaces, &b.surfaces),
                    _ => false,
                };
                let count = rest.0.iter().take_while(same).count().max(1);
                let (own, others) = rest.0.split_at(count);
                let (values, later) = rest.1.split_at_mut(count);
                let at = At { ids: &gap.ids, ..*at };
                values.fill(f64::INFINITY);
                match &gap.point {
                    Some(point) => point.all(&at, &mut |touch| {
                        let slot = own
                            .iter()
                            .position(|gap| gap.point.as_ref().is_some_and(|p| p.slot == touch.slot));
                        if let Some(k) = slot.filter(|_| !touch.gap.is_nan()) {
                            values[k] = touch.gap;
                        }
                    }),
                    None => {
                        gap.normal.phi(&at, values);
                        values.iter_mut().filter(|g| g.is_nan()).for_each(|g| *g = f64::INFINITY);
                    }
                }
                rest = (others, later);
            }
        });
    }

    /// The rows of a gap at `s`.
    pub fn gap_rows(&mut self, s: &State, gap: &Gap) -> GapRows {
        self.observe(s, |_| ());
        self.with_contacts(s, |_, bodies, scratch| {
            let mut found = GapRows::default();
            let at = bodies.at(&gap.ids);
            let mut phi = [0.0];
            gap.normal.phi(&at, &mut phi);
            found.gap = phi[0];
            for rows in std::iter::once(&gap.normal).chain(&gap.across) {
                let (n, wide) = (rows.rows(), bodies.system.wide);
                let (mut rates, mut gamma) = (vec![0.0; n], vec![0.0; n]);
                rows.rates(&at, scratch, &mut rates);
                rows.gamma(&at, scratch, &mut gamma);
                let mut J = vec![0.0; gap.ids.len() * n * wide];
                rows.jacobian(&at, scratch, &mut JacobianBlocks { data: &mut J, rows: n, wide });
                for row in 0..n {
                    let mut N = vec![0.0; bodies.system.structure.nv];
                    for (i, &id) in gap.ids.iter().enumerate().filter(|(_, id)| **id != 0) {
                        let body = &bodies.system.directory.bodies[id as usize];
                        let own = &J[(i * n + row) * wide..][..body.kind.nv()];
                        N[body.v..][..own.len()].iter_mut().zip(own).for_each(|(N, J)| *N += J);
                    }
                    found.N.push(N);
                }
                found.rates.append(&mut rates);
                found.gamma.append(&mut gamma);
            }
            found
        })
    }
}

/// Adds to `c` the friction of an element that slides under a normal force of 1.
pub(crate) fn add_friction(element: &ConstraintElement, bodies: &BodyKinematics, c: &mut [f64]) {
    let Some(sliding) = &element.sliding else { return };
    let Some((d, point, _)) = sliding.find(&bodies.at(&element.ids)) else { return };
    for (&id, sign) in element.ids.iter().zip([-sliding.mu, sliding.mu]) {
        let mut wrench = crate::load::Wrench::zero();
        wrench.add_force_at(d * sign, point - bodies.poses[id as usize].p);
        bodies.add_wrench(id, &wrench, c);
    }
}

/// Power that friction of an element that slides turns into heat under the normal force `N` \[W\].
pub(crate) fn heat(element: &ConstraintElement, bodies: &BodyKinematics, N: f64) -> f64 {
    let Some(sliding) = &element.sliding else { return 0.0 };
    let found = sliding.find(&bodies.at(&element.ids));
    found.map_or(0.0, |(d, _, slip)| sliding.mu * N * slip.dot(d))
}
