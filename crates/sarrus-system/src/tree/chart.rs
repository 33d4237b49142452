//! A tree as the coordinates that a run is made in.

use super::Tree;
use super::graph::InboardJoint;
use sarrus_math::{quat_derivative, quat_normalize};
use sarrus_solve::{Chart, State, Structure};

impl Tree {
    /// Places of quaternions: in q, and of their rates in y.
    fn rotations(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.links.iter().filter_map(|link| match &link.hinge {
            InboardJoint::Free if link.nq > link.ny => Some((link.q + 3, link.y + 3)),
            InboardJoint::Free => None,
            InboardJoint::Joint(on) => on.face.quaternion().map(|k| (link.q + k, link.y + k)),
        })
    }
}

impl Chart for Tree {
    fn structure(&self) -> &Structure {
        Tree::structure(self)
    }

    fn is_whole(&self) -> bool {
        self.cut.len() == self.specified.len()
    }

    fn expand(&mut self, s: &State, out: &mut State) {
        self.update_specified(s.t, &s.q, &s.v);
        self.write(out);
        out.t = s.t;
        out.x.copy_from_slice(&s.x);
    }

    fn compress(&mut self, s: &State, out: &mut State) {
        self.read(s, &mut out.q, &mut out.v);
        out.t = s.t;
        out.x.copy_from_slice(&s.x);
        if !self.specified.is_empty() {
            self.fill(s.t, &mut out.q, &mut out.v);
            self.update_specified(s.t, &out.q, &out.v);
        }
    }

    fn fill(&self, s: &mut State) {
        Tree::fill(self, s.t, &mut s.q, &mut s.v);
    }

    fn qdot(&self, s: &State, qdot: &mut [f64]) {
        // without quaternions a coordinate and its speed have one place
        if self.structure.nq == self.structure.nv {
            qdot.copy_from_slice(&s.v);
            return self.fill_qdot(qdot);
        }
        for link in &self.links {
            let quaternion = match &link.hinge {
                InboardJoint::Free if link.nq > link.ny => 3,
                InboardJoint::Free => usize::MAX,
                InboardJoint::Joint(on) => on.face.quaternion().unwrap_or(usize::MAX),
            };
            let (mut i, mut k) = (0, 0);
            while i < link.nq {
                let (q, y) = (&s.q[link.q + i..], &s.v[link.y + k..]);
                if i == quaternion {
                    let rates = quat_derivative(&[q[0], q[1], q[2], q[3]], &[y[0], y[1], y[2]]);
                    qdot[link.q + i..link.q + i + 4].copy_from_slice(&rates);
                    (i, k) = (i + 4, k + 3);
                } else {
                    qdot[link.q + i] = y[0];
                    (i, k) = (i + 1, k + 1);
                }
            }
        }
        self.fill_qdot(qdot);
    }

    fn speed_rates(&mut self, vdot: &[f64], ydot: &mut [f64]) {
        match &mut self.planar {
            Some(planar) => planar.speed_rates(vdot, ydot),
            None => Tree::speed_rates(self, vdot, ydot),
        }
        self.fill_ydot(ydot);
    }

    fn accelerations(&mut self, f: &[f64], ydot: &mut [f64]) {
        self.accelerate(f, ydot);
    }

    fn efforts(&self, phi_t: &mut [f64], lambda: &mut [f64]) {
        Tree::efforts(self, phi_t, lambda);
    }

    fn normalize(&self, q: &mut [f64]) {
        for (k, _) in self.rotations() {
            let unit = quat_normalize([q[k], q[k + 1], q[k + 2], q[k + 3]]);
            q[k..k + 4].copy_from_slice(&unit);
        }
    }

    fn gravity_accelerations(&mut self, s: &State, ydot: &mut [f64]) -> bool {
        self.accelerations_from(&s.q, &s.v, None, ydot)
    }

    fn accept(&mut self, s: &State) {
        self.last.copy_from_slice(&s.q);
        // in the plane there are no signs to be kept
        if self.planar.is_some() {
            return;
        }
        self.update_specified(s.t, &s.q, &s.v);
        for (link, state) in self.links.iter().zip(&self.states) {
            self.quaternions[link.body] = state.quaternion;
        }
    }
}
