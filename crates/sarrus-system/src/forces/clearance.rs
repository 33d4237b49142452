//! Clearance of a joint, written as an option of it: a journal in a bearing, or a ball in its socket, with play.
//!
//! ```text
//! e = p_FM, across the axis of a hinge;   δ = |e| - gap;   n = e/|e|;   N = N(δ, δ̇) on the second body along -n where δ > 0
//! ```
//!
//! N is a [`NormalForceLaw`] as contacts have it. The rows that hold the joint's points together are gone, those of a hinge's axis stay, and so
//! does the one along it: the shaft does not slide out. N acts on the line through both points: it has no torque about the journal's
//! centre, and what friction the joint has follows from it as from a reaction. Books: what the law stores, and (N - K δⁿ) δ̇ as heat.
//!
//! v of the law, the speed at which the place closed, is a hint: the fastest δ̇ of accepted steps since. The law has δ̇/v = 1 where
//! δ̇ is faster than v, so that a new v changes nothing of the force where it is accepted.
//!
//! A force is stiff where a row is not: steps are those of the impacts. Where play does not matter leave it out.

use super::prelude::*;
use crate::contact::laws::{Damping, NormalForceLaw};
use crate::contact::read::{LAW_KEYS, Surfaces};
use crate::joint::{Frames, JointFace};
use crate::joints::{in_plane, perpendicular};
use crate::names::Directory;
use crate::primitive::Primitive;

/// The keys of `clearance`.
pub static CLEARANCE_KEYS: &[Key] = &[
    Key::new("gap", KeyType::Number, "", "radius of the bearing less that of the journal [m]"),
    Key::new("law", KeyType::Table(LAW_KEYS), "", "the force where they touch; it needs `stiffness`"),
];

/// The option of joints that can have it.
pub static CLEARANCE_OPTION: &[Key] =
    &[Key::new("clearance", KeyType::Table(CLEARANCE_KEYS), "none", "play, and the contact at its end")];

/// Returns whether joints of a kind can have clearance.
pub fn has_clearance(kind: &str) -> bool {
    matches!(kind, "revolute" | "spherical")
}

/// A journal in a bearing.
#[derive(Clone, Debug)]
pub struct Clearance {
    frames: Frames,
    /// True if play is across z of F alone.
    across: bool,
    gap: f64,
    law: NormalForceLaw,
    /// K \[N/m, N/m^(3/2)\].
    stiffness: f64,
    /// Index of v among the discrete state.
    onset: u32,
    /// Rows that hold the journal in the middle, for the start.
    centre: Vec<Primitive>,
    /// Rows that stay.
    rest: Vec<Primitive>,
}

/// A journal that touches its bearing.
struct JournalTouch<R> {
    n: Vec3<R>,
    depth: R,
    speed: R,
}

impl Clearance {
    /// `clearance` of the joint whose table `reader` has open.
    pub fn read(
        reader: &Reader,
        directory: &Directory,
        face: &dyn JointFace,
        frames: Frames,
        discrete: &mut Vec<f64>,
    ) -> Result<Option<Clearance>> {
        if reader.has("clearance") && !has_clearance(face.kind()) {
            let message = format!("{} takes no `clearance`", reader.title());
            return Err(reader.error("clearance", message).hint("revolute and spherical joints do"));
        }
        let Some(table) = reader.sub("clearance", CLEARANCE_KEYS)? else { return Ok(None) };
        let gap = table.positive_opt("gap")?.ok_or_else(|| table.missing("gap"))?;
        let law = Surfaces { directory, all: &[] }.law(&table, None)?;
        let stiffness = law.stiffness.ok_or_else(|| table.missing("law"))?;
        let across = !reader.is_planar() && face.kind() == "revolute";
        let (centre, rest) = if across {
            let rest = vec![in_plane(&frames, 2), perpendicular(&frames, 2, 0), perpendicular(&frames, 2, 1)];
            (vec![in_plane(&frames, 0), in_plane(&frames, 1)], rest)
        } else {
            (face.rows(&frames), Vec::new())
        };
        discrete.push(0.0);
        let onset = discrete.len() as u32 - 1;
        Ok(Some(Clearance { frames, across, gap, law, stiffness, onset, centre, rest }))
    }

    /// Rows that hold the journal in the middle.
    pub fn centre(&self) -> Vec<Primitive> {
        self.centre.clone()
    }

    /// Rows of the joint that stay.
    pub fn rest(&self) -> Vec<Primitive> {
        self.rest.clone()
    }

    /// e.
    fn eccentricity<R: Real>(&self, at: &At<R>) -> Vec3<R> {
        let e = at.pose(1).point(&self.frames.M.p) - at.pose(0).point(&self.frames.F.p);
        if !self.across {
            return e;
        }
        let axis = at.pose(0).rotate(&self.frames.F.axis(2));
        e - axis.scale(e.dot(axis))
    }

    fn touch<R: Real>(&self, at: &At<R>) -> Option<JournalTouch<R>> {
        let e = self.eccentricity(at);
        let square = e.dot(e);
        if square.value() <= self.gap * self.gap {
            return None;
        }
        let length = square.sqrt();
        let n = e.scale(R::one() / length);
        let (V_A, V_B) = (at.twist(0), at.twist(1));
        let [arm_A, arm_B] = self.arms(at);
        let slip = V_B.v + V_B.w_W.cross(arm_B) - V_A.v - V_A.w_W.cross(arm_A);
        Some(JournalTouch { n, depth: length - self.gap, speed: n.dot(slip) })
    }

    /// From the centres of mass to the journal's centre.
    fn arms<R: Real>(&self, at: &At<R>) -> [Vec3<R>; 2] {
        let (A, B) = (at.pose(0), at.pose(1));
        let M = B.point(&self.frames.M.p);
        [M - A.p, M - B.p]
    }

    /// The force on the second body, and the touch.
    fn force<R: Real>(&self, at: &At<R>) -> Option<(Vec3<R>, JournalTouch<R>)> {
        let touch = self.touch(at)?;
        let onset = at.discrete[self.onset as usize];
        let normal = self.law.force(self.stiffness, touch.depth, touch.speed, onset);
        Some((touch.n.scale(-normal.force), touch))
    }

    /// The force on the second body, at the joint's point, world axes \[N\].
    pub fn reaction(&self, at: &At<f64>) -> Vec3<f64> {
        self.force(at).map_or(Vec3::zero(), |(force, _)| force)
    }
}

impl Force for Clearance {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        let Some((force, _)) = self.force(at) else { return };
        let [arm_A, arm_B] = self.arms(at);
        out[0].add_force_at(-force, arm_A);
        out[1].add_force_at(force, arm_B);
    }

    fn potential<R: Real>(&self, at: &At<R>) -> R {
        self.touch(at).map_or(R::zero(), |touch| self.law.stored(self.stiffness, touch.depth))
    }

    fn dissipation<R: Real>(&self, at: &At<R>) -> R {
        let Some(touch) = self.touch(at) else { return R::zero() };
        let onset = at.discrete[self.onset as usize];
        let normal = self.law.force(self.stiffness, touch.depth, touch.speed, onset);
        (normal.force - normal.elastic) * touch.speed
    }

    fn accounts_for_power(&self) -> bool {
        true
    }

    fn dissipates_without_motion(&self) -> bool {
        self.law.damping != Damping::Dashpot(0.0)
    }

    fn laws(&self, found: &mut dyn FnMut(&Formula, [f64; 2])) {
        // (e² - gap²)/2 gap is δ where it begins to act, and smooth where the journal is in the middle
        let component = |axis| Signal::Relative(0, self.frames.F, 1, self.frames.M.p, axis);
        let (names, square) = if self.across {
            (&["x", "y"][..], "x*x + y*y")
        } else {
            (&["x", "y", "z"][..], "x*x + y*y + z*z")
        };
        let (gap, stiffness) = (self.gap, self.stiffness);
        let text = format!("{:e}*({square} - {:e})", stiffness / (2.0 * gap), gap * gap);
        let signals = names.iter().enumerate().map(|(axis, name)| (*name, component(axis))).collect();
        Formula::of(&text, signals).iter().for_each(|formula| found(formula, [0.0, f64::INFINITY]));
    }

    fn update_discrete(&self, at: &At<f64>, discrete: &mut [f64]) {
        let onset = &mut discrete[self.onset as usize];
        *onset = self.touch(at).map_or(0.0, |touch| onset.max(touch.speed));
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        &[("eccentricity", "m"), ("force", "N"), ("heat", "W")]
    }

    fn reading(&self, k: usize, at: &At<f64>) -> f64 {
        match k {
            0 => self.eccentricity(at).norm(),
            1 => self.reaction(at).norm(),
            _ => Force::dissipation(self, at),
        }
    }
}
