//! Rows that a start keeps where the constraints and `[initial]` allow it.
//!
//! A flexible member starts undeformed and moves as a rigid body: a hinged blade of which the rate of the hinge is stated turns as a whole. Without
//! these rows least change in the mass metric would move the first node alone. Coordinates of a joint that are not stated stay as they are
//! where another one of the joint is stated, and so do the components of an angular velocity.
//!
//! Where a part of the mechanism contradicts its preferred rows, it gives up the rows of one [`Preference`] after the other.

use super::AssemblyError;
use super::close::OffElement;
use super::initial::HeldReading;
use super::stated::model_axes;
use crate::components::parts;
use sarrus_math::{Mat3, Real, Vec3};
use sarrus_system::body::BodyKind;
use sarrus_system::constraint::Constraint;
use sarrus_system::signal::Signal;
use sarrus_system::system::Family;
use sarrus_system::{At, ConstraintElement, System};
use std::sync::Arc;

/// Reason why a row is preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preference {
    /// A member moves as a rigid body: index among the members.
    Rigid(usize),
    /// A coordinate or component beside one that is stated stays as it is.
    Sibling,
}

/// A preferred row.
#[derive(Clone)]
pub(super) struct Preferred {
    /// The row.
    pub element: ConstraintElement,
    /// The reason.
    pub kind: Preference,
    /// Number of times that its part of the mechanism contradicted its preferred rows.
    refused: usize,
}

impl Preferred {
    pub fn new(element: ConstraintElement, kind: Preference) -> Self {
        Preferred { element, kind, refused: 0 }
    }

    /// Returns whether it is still kept: rows of siblings are given up first, then those of members instead, then all.
    pub fn is_preserved(&self) -> bool {
        match self.kind {
            Preference::Rigid(_) => self.refused < 2,
            Preference::Sibling => matches!(self.refused, 0 | 2),
        }
    }
}

/// Rows that are still kept.
pub(super) fn preserved(preferred: &[Preferred]) -> Vec<ConstraintElement> {
    preferred.iter().filter(|p| p.is_preserved()).map(|p| p.element.clone()).collect()
}

/// Gives up rows in the parts of `all` in which one of its elements `off` is. False where nothing is left to give up.
fn give_up(all: &System, off: &[OffElement], preferred: &mut [Preferred]) -> bool {
    let mut touched = vec![false; all.structure.cols.len()];
    for part in parts(&all.structure) {
        if part.rows.iter().any(|row| off.iter().any(|(element, _)| element == row)) {
            part.cols.iter().for_each(|col| touched[*col] = true);
        }
    }
    let mut changed = false;
    for p in preferred {
        let is_hit = p.element.ids.iter().any(|id| *id != 0 && touched[all.column(*id)]);
        changed |= is_hit && p.is_preserved();
        p.refused += usize::from(is_hit);
    }
    changed
}

/// Attempts a start with the rows that are still kept, until none contradicts. False where none are kept.
pub(super) fn release_until_solvable(
    preferred: &mut [Preferred],
    mut attempt: impl FnMut(&[Preferred]) -> Result<(Arc<System>, Vec<OffElement>), AssemblyError>,
) -> Result<bool, AssemblyError> {
    while preferred.iter().any(Preferred::is_preserved) {
        let (all, off) = attempt(preferred)?;
        if off.is_empty() {
            return Ok(true);
        }
        if !give_up(&all, &off, preferred) {
            break;
        }
    }
    Ok(false)
}

/// Returns whether the member with this index moves as a rigid body.
pub(super) fn is_rigid(preferred: &[Preferred], member: usize) -> bool {
    preferred.iter().all(|p| p.kind != Preference::Rigid(member) || p.is_preserved())
}

/// Keeps a body of a member as it stands to its neighbour where the member is undeformed.
struct UndeformedNeighbour {
    planar: bool,
    /// True if a joint keeps their points together, so that the rotation is all there is.
    hinged: bool,
    offset: Vec3<f64>,
    rot: Mat3<f64>,
    angle: f64,
}

impl Constraint for UndeformedNeighbour {
    fn rows(&self) -> usize {
        match (self.planar, self.hinged) {
            (true, true) => 1,
            (false, false) => 6,
            _ => 3,
        }
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        let (a, b) = (at.pose(0), at.pose(1));
        let position = a.rot.transpose_mul(b.p - a.p) - Vec3::from_f64(self.offset.0);
        let linear = if self.planar { 2 } else { 3 };
        let mut rows = phi.iter_mut();
        if !self.hinged {
            position.0[..linear].iter().zip(&mut rows).for_each(|(x, phi)| *phi = *x);
        }
        if self.planar {
            rows.for_each(|phi| *phi = b.angle - a.angle - self.angle);
            return;
        }
        // half the axial vector of the rotation from where it belongs
        let off = a.rot.mul_mat_f64(&self.rot).transpose_mul_mat(&b.rot).0;
        let axial = [off[2][1] - off[1][2], off[0][2] - off[2][0], off[1][0] - off[0][1]];
        axial.iter().zip(rows).for_each(|(x, phi)| *phi = *x * 0.5);
    }
}

/// The rows by which members stay rigid, apart from what `is_stated` names: amplitudes of modal bodies, joints of segmented rods.
pub(super) fn rigid(system: &System, is_stated: &dyn Fn(&str) -> bool) -> Vec<Preferred> {
    let mut rows = Vec::new();
    for (i, member) in system.directory.flexible.iter().enumerate() {
        let mut add = |ids: Vec<u32>, constraint: Arc<dyn sarrus_system::constraint::Rows>| {
            let element = ConstraintElement::new(member.name.clone(), Family::Internal, ids, constraint);
            rows.push(Preferred::new(element, Preference::Rigid(i)));
        };
        match system.directory.floating.iter().find(|f| member.all.contains(&f.frame)) {
            Some(floating) => {
                for (number, &(after, k)) in floating.amplitudes.iter().enumerate() {
                    let signal = if k < 3 { Signal::Position(0, [0.0; 3], k) } else { Signal::Angle(0) };
                    if !is_stated(&format!("{}.eta{}", member.name, number + 1)) {
                        add(
                            vec![floating.frame + after as u32],
                            Arc::new(HeldReading { terms: vec![(1.0, signal)], value: 0.0 }),
                        );
                    }
                }
            }
            None => {
                for id in member.bodies.clone().skip(1) {
                    // a segmented rod numbers its joints from 1
                    let joint = format!("{}.joint{}", member.name, id - member.bodies.start);
                    if !is_stated(&joint) {
                        let hinged = system.directory.joint(&joint).is_some();
                        add(vec![id - 1, id], Arc::new(stiff(system, id, hinged)));
                    }
                }
            }
        }
    }
    rows
}

fn stiff(system: &System, id: u32, hinged: bool) -> UndeformedNeighbour {
    let [a, b] = [id - 1, id].map(|id| &system.directory.bodies[id as usize]);
    let axes = model_axes(a);
    UndeformedNeighbour {
        planar: b.kind == BodyKind::PlanarRigid,
        hinged,
        offset: axes.transpose_mul(Vec3(b.start.0) - Vec3(a.start.0)),
        rot: axes.transpose_mul_mat(&model_axes(b)),
        angle: b.start.2 - a.start.2,
    }
}
