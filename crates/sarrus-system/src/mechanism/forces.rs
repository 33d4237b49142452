//! f: weight, gyroscopic torques, forces of elements and contacts, and pushes from outside.

use super::Mechanism;
use crate::at::At;
use crate::body::BodyKind;
use crate::load::Wrench;
use sarrus_solve::{Equations, State};

impl Mechanism {
    pub(super) fn update_forces(&mut self, s: &State, eq: &mut Equations) {
        let system = self.system.clone();
        let g = system.gravity;
        for (body, twist) in system.directory.bodies.iter().zip(&self.twists).skip(1) {
            let f = &mut eq.f[body.v..body.v + body.kind.nv()];
            let plane =
                if matches!(body.kind, BodyKind::PlanarRigid | BodyKind::PlanarPoint) { 2 } else { 3 };
            for i in 0..plane {
                f[i] = body.gravitational_mass() * g[i];
            }
            match body.kind {
                BodyKind::Rigid | BodyKind::RigidEuler => {
                    let gyroscopic = twist.w.cross(body.inertia * twist.w);
                    for i in 0..3 {
                        f[3 + i] = -gyroscopic.0[i];
                    }
                }
                BodyKind::PlanarRigid => f[2] = 0.0,
                _ => {}
            }
        }
        for (id, added) in &system.directory.added {
            let body = &system.directory.bodies[*id as usize];
            let (pose, twist) = (&self.poses[*id as usize], &self.twists[*id as usize]);
            added.add_force(body, pose, twist, &mut eq.f[body.v..body.v + body.kind.nv()]);
        }
        for floating in &system.directory.floating {
            let first = system.directory.bodies[floating.frame as usize].v;
            let size = floating.inertia.nv();
            floating.force(&self.poses, &self.twists, &g, &mut self.workspace);
            eq.f[first..first + size].copy_from_slice(&self.workspace.f[..size]);
        }
        for force in system.forces.iter().filter(|f| f.enabled) {
            let wrenches = &mut self.wrenches[..force.ids.len()];
            wrenches.fill(Wrench::zero());
            let at = At {
                t: s.t,
                poses: &self.poses,
                twists: &self.twists,
                ids: &force.ids,
                discrete: &self.discrete,
                outs: &self.outs,
            };
            force.load.wrench(&at, wrenches);
            for (&id, wrench) in force.ids.iter().zip(wrenches) {
                let body = &system.directory.bodies[id as usize];
                let own = &mut eq.f[body.v..body.v + body.kind.nv()];
                wrench.add_to(body.kind, &self.poses[id as usize], own);
            }
        }
        let pushed = self.external[..self.pushed].iter().zip(&system.directory.bodies).zip(&self.poses);
        for ((wrench, body), pose) in pushed {
            wrench.add_to(body.kind, pose, &mut eq.f[body.v..body.v + body.kind.nv()]);
        }
        self.with_contacts(s, |contacts, bodies, scratch| contacts.add_forces(bodies, scratch, &mut eq.f));
    }
}
