//! M and its inverse.

use super::Mechanism;
use crate::body::BodyKind;
use crate::flexible::modal::floating::ModalWorkspace;
use sarrus_math::{Mat3, Pose};
use sarrus_solve::Equations;

impl Mechanism {
    /// Blocks of all bodies, in the model pose where they vary.
    pub(super) fn fill_masses(&self, mass: &mut [f64], minv: &mut [f64]) {
        let system = &self.system;
        let bodies = system.directory.bodies.iter().enumerate().skip(1);
        for (id, body) in bodies.filter(|(_, body)| !body.shares) {
            let col = &system.structure.cols[system.column(id as u32)];
            let n = col.size;
            let rotating = if body.kind.rotates() { body.kind.nv() - linear(body.kind) } else { 0 };
            let (mass, minv) = (&mut mass[col.mass..col.mass + n * n], &mut minv[col.mass..col.mass + n * n]);
            mass.fill(0.0);
            minv.fill(0.0);
            for i in 0..n - rotating {
                mass[i * n + i] = body.mass;
                minv[i * n + i] = 1.0 / body.mass;
            }
            if rotating == 1 {
                mass[n * n - 1] = body.inertia.0[2][2];
                minv[n * n - 1] = 1.0 / body.inertia.0[2][2];
            } else if rotating == 3 {
                let inverse = inverse(&body.inertia);
                for i in 0..3 {
                    for j in 0..3 {
                        mass[(3 + i) * n + 3 + j] = body.inertia.0[i][j];
                        minv[(3 + i) * n + 3 + j] = inverse.0[i][j];
                    }
                }
            }
        }
        // in the model pose, where amplitudes are zero; every update says them anew
        let poses: Vec<Pose<f64>> =
            system.directory.bodies.iter().map(|b| Pose::from_quat(b.start.0, b.start.1)).collect();
        for (id, added) in &system.directory.added {
            let col = &system.structure.cols[system.column(*id)];
            let own = col.mass..col.mass + col.size * col.size;
            let body = &system.directory.bodies[*id as usize];
            added.fill(body, &poses[*id as usize], &mut mass[own.clone()], &mut minv[own]);
        }
        for floating in &system.directory.floating {
            let col = &system.structure.cols[system.column(floating.frame)];
            let own = col.mass..col.mass + col.size * col.size;
            let mut workspace = ModalWorkspace::new(floating.inertia.n);
            floating.mass(&poses, &mut workspace, &mut mass[own.clone()], Some(&mut minv[own]));
        }
    }

    /// Blocks that vary, where bodies are evaluated.
    pub(super) fn update_masses(&mut self, eq: &mut Equations) {
        for (id, added) in self.system.directory.added.iter().filter(|(_, a)| !a.is_constant()) {
            let col = &self.system.structure.cols[self.system.column(*id)];
            let own = col.mass..col.mass + col.size * col.size;
            let body = &self.system.directory.bodies[*id as usize];
            let (mass, minv) = (&mut eq.mass[own.clone()], &mut eq.minv[own]);
            added.fill(body, &self.poses[*id as usize], mass, minv);
        }
        for floating in &self.system.directory.floating {
            let col = &self.system.structure.cols[self.system.column(floating.frame)];
            let own = col.mass..col.mass + col.size * col.size;
            let (mass, minv) = (&mut eq.mass[own.clone()], &mut eq.minv[own]);
            floating.mass(&self.poses, &mut self.workspace, mass, Some(minv));
        }
    }
}

fn linear(kind: BodyKind) -> usize {
    match kind {
        BodyKind::PlanarRigid | BodyKind::PlanarPoint => 2,
        _ => 3,
    }
}

/// Inverse of a symmetric positive definite tensor, by cofactors.
fn inverse(a: &Mat3<f64>) -> Mat3<f64> {
    let [x, y, z] = [a.row(0), a.row(1), a.row(2)];
    let (yz, zx, xy) = (y.cross(z), z.cross(x), x.cross(y));
    let factor = 1.0 / x.dot(yz);
    Mat3::from_cols(yz.scale(factor), zx.scale(factor), xy.scale(factor))
}
