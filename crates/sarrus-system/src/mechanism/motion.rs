//! Rows along a motion, by Taylor's coefficients.

use super::Mechanism;
use crate::at::At;
use crate::body::BodyKind;
use crate::derive::Taylor;
use crate::system::System;
use sarrus_math::{Pose, Real, Twist};
use sarrus_solve::{COEFFICIENTS, Expansion, State};

/// Bodies along a motion; empty until it is asked for.
#[derive(Clone, Default)]
pub(super) struct MotionBuffer {
    poses: Vec<Pose<Taylor>>,
    twists: Vec<Twist<Taylor>>,
    /// Bodies that are expanded.
    known: Vec<bool>,
    phi: Vec<Taylor>,
    J: Vec<Taylor>,
    block: Vec<f64>,
}

impl Mechanism {
    /// Φ and J of `blocks` along the motion from `s` where velocities have the coefficients `v`; whether that can be had.
    pub(super) fn expand_rows(
        &mut self,
        s: &State,
        v: &[Vec<f64>],
        blocks: &[usize],
        with_J: bool,
        out: &mut Expansion,
    ) -> bool {
        // an expansion of the motion takes M as constant
        if !self.system.structure.varying.is_empty() {
            return false;
        }
        self.update_kinematics(s);
        let system = self.system.clone();
        let mut motion = std::mem::take(&mut self.motion);
        motion.restart(self.poses.len());
        for element in blocks.iter().map(|&block| &system.elements[block]) {
            for &id in &element.ids {
                motion.follow(&system, id as usize, &self.poses[id as usize], v);
            }
            let MotionBuffer { poses, twists, phi, J, block, .. } = &mut motion;
            let t = Taylor::variable(s.t);
            let at = At { t, poses, twists, ids: &element.ids, discrete: &self.discrete, outs: &[] };
            let (n, wide) = (element.rows.rows(), system.wide);
            phi.clear();
            phi.resize(n, Taylor::zero());
            element.rows.taylor(&at, phi);
            for (i, phi) in phi.iter().enumerate() {
                (0..COEFFICIENTS).for_each(|k| out.phi[k][element.start + i] = phi.c[k]);
            }
            if !with_J {
                continue;
            }
            J.clear();
            J.resize(element.ids.len() * n * wide, Taylor::zero());
            element.rows.taylor_jacobian(&at, &mut self.scratch, wide, J);
            for k in 0..COEFFICIENTS {
                block.clear();
                block.extend(J.iter().map(|J| J.c[k]));
                element.scatter(n, wide, block, &mut out.J[k]);
            }
        }
        self.motion = motion;
        true
    }
}

impl MotionBuffer {
    /// Forgets everything but its room.
    fn restart(&mut self, bodies: usize) {
        self.poses.resize(bodies, Pose::identity());
        self.twists.resize(bodies, Twist::zero());
        self.known.clear();
        self.known.resize(bodies, false);
        // ground stays where it is
        self.known[0] = true;
    }

    /// Expands the body `id`, at `pose` now, where velocities have the coefficients `v`.
    fn follow(&mut self, system: &System, id: usize, pose: &Pose<f64>, v: &[Vec<f64>]) {
        if std::mem::replace(&mut self.known[id], true) {
            return;
        }
        let body = &system.directory.bodies[id];
        let (mut linear, mut angular) = ([[0.0; 3]; COEFFICIENTS], [[0.0; 3]; COEFFICIENTS]);
        let mut factorial = 1.0;
        for (k, v) in v.iter().enumerate().take(COEFFICIENTS) {
            factorial *= k.max(1) as f64;
            let v = &v[body.v..body.v + body.kind.nv()];
            let (first, rotation) = match body.kind {
                BodyKind::Ground => (0, None),
                BodyKind::Rigid | BodyKind::RigidEuler => (3, Some([v[3], v[4], v[5]])),
                BodyKind::PlanarRigid => (2, Some([0.0, 0.0, v[2]])),
                BodyKind::Point => (3, None),
                BodyKind::PlanarPoint => (2, None),
            };
            (0..first).for_each(|i| linear[k][i] = factorial * v[i]);
            angular[k] = rotation.unwrap_or_default().map(|w| factorial * w);
        }
        let moving = pose.jet(&linear, &angular);
        self.twists[id] = Twist::jet(&moving, &linear, &angular);
        self.poses[id] = moving;
    }
}
