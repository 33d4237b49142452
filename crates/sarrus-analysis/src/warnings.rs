//! Describes what a model says that its author may not mean: facts at the start, in notes of `check` and of a run.

use crate::overlaps;
use sarrus_math::Vec3;
use sarrus_solve::{State, digits};
use sarrus_system::contact::ContactSides;
use sarrus_system::{Mechanism, System};

/// A joint this many times the size of everything else away from both its bodies.
const FAR: f64 = 10.0;
/// Other points that a size is taken from, at least.
const POINTS: usize = 3;
/// Kinetic energy at the start over what gravity does along the mechanism's size: 1 km/s over 1 m is 5e4.
const FAST: f64 = 1e7;
/// Names that a note lists.
const NAMED: usize = 6;

/// Doubts about a mechanism that starts at `s`.
pub(crate) fn find(mechanism: &mut Mechanism, s: &State) -> Vec<String> {
    let system = mechanism.system().clone();
    let directory = system.directory.clone();
    let (bodies, joints, overlap) = mechanism.observe(s, |at| {
        let bodies: Vec<Vec3<f64>> = at.poses.iter().map(|pose| pose.p).collect();
        let joint = |joint: &sarrus_system::names::JointEntry| {
            joint.frames.M.frame_pose(&at.poses[joint.bodies[1] as usize]).p
        };
        let overlap = overlaps::find(&system, at.poses);
        (bodies, directory.joints.iter().map(joint).collect::<Vec<_>>(), overlap)
    });
    let mut notes = far_joints(&system, &bodies, &joints);
    notes.extend(unheld(&system, mechanism.energy(s).kinetic));
    notes.extend(idle_forces(&system));
    notes.extend(overlap);
    let points = || bodies.iter().skip(1).chain(&joints).copied();
    notes.extend(fast(mechanism, s, size(points())));
    notes
}

/// The diagonal of the box around points.
fn size(points: impl Iterator<Item = Vec3<f64>>) -> f64 {
    let mut range = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    for p in points {
        for i in 0..3 {
            range[0][i] = range[0][i].min(p.0[i]);
            range[1][i] = range[1][i].max(p.0[i]);
        }
    }
    let sides = (0..3).map(|i| range[1][i] - range[0][i]);
    if range[0][0] > range[1][0] { 0.0 } else { sides.map(|side| side * side).sum::<f64>().sqrt() }
}

/// Joints far from both their bodies, measured by where bodies and the other joints are. Only the two outermost joints along each axis can be
/// as far as that: the search is linear.
fn far_joints(system: &System, bodies: &[Vec3<f64>], joints: &[Vec3<f64>]) -> Vec<String> {
    let mut outermost: Vec<usize> = Vec::new();
    for axis in 0..3 {
        let by = |a: &usize, b: &usize| joints[*a].0[axis].total_cmp(&joints[*b].0[axis]);
        outermost.extend((0..joints.len()).max_by(by));
        outermost.extend((0..joints.len()).min_by(by));
    }
    outermost.sort_unstable();
    outermost.dedup();
    let moving =
        || system.directory.bodies.iter().zip(bodies).skip(1).filter(|(body, _)| !body.is_internal());
    let note = |i: usize| {
        let entry = &system.directory.joints[i];
        let others = joints.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, p)| *p);
        let others: Vec<Vec3<f64>> = moving().map(|(_, p)| *p).chain(others).collect();
        let (size, here) = (size(others.iter().copied()), joints[i]);
        let away =
            entry.bodies.iter().filter(|body| **body != 0).map(|body| (bodies[*body as usize] - here).norm());
        let away = away.fold(f64::INFINITY, f64::min);
        (others.len() >= POINTS && size > 0.0 && away.is_finite() && away > FAR * size).then(|| {
            format!(
                "joint `{}` is {} m away from its bodies, {:.0} times the size of all else: are its coordinates in metres?",
                entry.name,
                digits(&away),
                away / size
            )
        })
    };
    outermost.into_iter().filter_map(note).collect()
}

/// Bodies that fall beside a mechanism: nothing holds, pushes or touches them, and nothing moves at the start.
fn unheld(system: &System, kinetic: f64) -> Option<String> {
    if system.gravity == [0.0; 3] || kinetic > 0.0 {
        return None;
    }
    let mut held = vec![false; system.directory.bodies.len()];
    let elements = system.all.elements.iter().flat_map(|e| &e.ids);
    elements.chain(system.forces.iter().flat_map(|f| &f.ids)).for_each(|id| held[*id as usize] = true);
    for contact in &system.contacts {
        match &contact.contact.what {
            ContactSides::Gap { ids, .. } => ids.iter().for_each(|id| held[*id as usize] = true),
            ContactSides::Surfaces { sides, .. } => {
                let surfaces = sides.iter().flatten().filter_map(|i| system.surfaces.get(*i as usize));
                surfaces.for_each(|surface| held[surface.body as usize] = true);
            }
        }
    }
    let bodies =
        || system.directory.bodies.iter().enumerate().skip(1).filter(|(_, body)| !body.is_internal());
    let loose: Vec<String> = bodies()
        .filter(|(i, body)| !held[*i] && body.gravitational_mass() > 0.0)
        .map(|(_, body)| format!("`{}`", body.name))
        .collect();
    let beside = bodies().any(|(i, _)| held[i]);
    (beside && !loose.is_empty()).then(|| {
        let more =
            if loose.len() > NAMED { format!(" and {} more", loose.len() - NAMED) } else { String::new() };
        format!("nothing holds or touches {}{more}: free fall", loose[..loose.len().min(NAMED)].join(", "))
    })
}

/// Forces that act on the ground alone.
fn idle_forces(system: &System) -> Option<String> {
    let on_ground = |ids: &[u32]| !ids.is_empty() && ids.iter().all(|id| *id == 0);
    let names = system.forces.iter().filter(|f| on_ground(&f.ids)).map(|f| format!("`{}`", f.name));
    let names: Vec<String> = names.take(NAMED).collect();
    (!names.is_empty())
        .then(|| format!("force on the ground alone, which does nothing: {}", names.join(", ")))
}

/// A kinetic energy beyond all that gravity can do along the mechanism's `size` \[m\].
fn fast(mechanism: &mut Mechanism, s: &State, size: f64) -> Option<String> {
    let system = mechanism.system().clone();
    let gravity = Vec3(system.gravity).norm();
    let mass: f64 = system.directory.bodies.iter().skip(1).map(|body| body.gravitational_mass()).sum();
    let (kinetic, fall) = (mechanism.energy(s).kinetic, mass * gravity * size);
    (fall > 0.0 && kinetic > FAST * fall).then(|| {
        format!(
            "the kinetic energy at the start, {} J, is {:.0e} times what gravity does over the mechanism's size: check the units of \
             velocities and lengths",
            digits(&kinetic),
            kinetic / fall
        )
    })
}
