//! The rows that joints are made of, with J and γ by hand.
//!
//! A and B are the element's first and second body, r_A and r_B points fixed in them relative to the centre of
//! mass, a_A and b_B directions fixed in them; world quantities without suffix. With v = (ṗ, ω in body axes):
//!
//! | row | Φ | on v_B | on ω_B | on v_A | on ω_A |
//! |---|---|---|---|---|---|
//! | coincident | (p_B + R_B r_B) - (p_A + R_A r_A) | 1 | -R_B r̃_B | -1 | R_A r̃_A |
//! | perpendicular | a·b | 0 | b_B × R_Bᵀa | 0 | a_A × R_Aᵀb |
//! | in plane | a·d, d = P_B - P_A | a | r_B × R_Bᵀa | -a | a_A × R_Aᵀ(d + r_A) |
//!
//! and γ is minus the second derivative at ω̇ = 0, where d²(R r)/dt² = ω × (ω × r). In the plane the same with
//! a single rate, where d²(R r)/dt² = -rate² r.

use crate::at::At;
use crate::constraint::{Constraint, JacobianBlocks, Multiplier, MultiplierScale};
use sarrus_math::{Real, Vec3};

/// One building block of a joint.
#[derive(Clone, Debug)]
pub enum Primitive {
    /// Two points coincide (3 rows).
    Coincident {
        /// Point on A, from the centre of mass \[m\].
        r_A: [f64; 3],
        /// Point on B \[m\].
        r_B: [f64; 3],
    },
    /// Two directions stay at right angles (1 row).
    Perpendicular {
        /// Direction fixed in A.
        a_A: [f64; 3],
        /// Direction fixed in B.
        b_B: [f64; 3],
    },
    /// A point of B stays in a plane of A (1 row).
    InPlane {
        /// Normal of the plane, fixed in A.
        a_A: [f64; 3],
        /// Point of the plane on A \[m\].
        r_A: [f64; 3],
        /// Point on B \[m\].
        r_B: [f64; 3],
    },
    /// Planar: two points coincide (2 rows).
    Coincident2 {
        /// Point on A \[m\].
        r_A: [f64; 3],
        /// Point on B \[m\].
        r_B: [f64; 3],
    },
    /// Planar: a point of B stays on a line of A (1 row).
    OnLine2 {
        /// Normal of the line, fixed in A.
        a_A: [f64; 3],
        /// Point of the line on A \[m\].
        r_A: [f64; 3],
        /// Point on B \[m\].
        r_B: [f64; 3],
    },
    /// Planar: the angle between the bodies stays what it is (1 row).
    Angle2 {
        /// Angle of B against A \[rad\].
        angle: f64,
    },
}

use Primitive::*;

impl Primitive {
    /// Rows of Φ.
    pub fn rows(&self) -> usize {
        match self {
            Coincident { .. } => 3,
            Coincident2 { .. } => 2,
            _ => 1,
        }
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        let (A, B) = (at.pose(0), at.pose(1));
        match self {
            Coincident { r_A, r_B } => phi.copy_from_slice(&(B.point(r_B) - A.point(r_A)).0),
            Coincident2 { r_A, r_B } => phi.copy_from_slice(&(B.point(r_B) - A.point(r_A)).0[..2]),
            Perpendicular { a_A, b_B } => phi[0] = A.rotate(a_A).dot(B.rotate(b_B)),
            InPlane { a_A, r_A, r_B } | OnLine2 { a_A, r_A, r_B } => {
                phi[0] = A.rotate(a_A).dot(B.point(r_B) - A.point(r_A));
            }
            Angle2 { angle } => phi[0] = B.angle - A.angle - *angle,
        }
    }

    /// Writes J from row `row` on.
    fn jacobian<R: Real>(&self, at: &At<R>, row: usize, J: &mut JacobianBlocks<R>) {
        let (A, B) = (at.pose(0), at.pose(1));
        let one = |sign: f64| R::from_f64(sign);
        match self {
            Coincident { r_A, r_B } => {
                for (body, pose, r, sign) in [(0, A, r_A, -1.0), (1, B, r_B, 1.0)] {
                    for i in 0..3 {
                        let R = &pose.rot.0[i];
                        let out = J.row(body, row + i);
                        out[i] = one(sign);
                        // row i of -R r̃
                        out[3] = (R[2] * r[1] - R[1] * r[2]) * sign;
                        out[4] = (R[0] * r[2] - R[2] * r[0]) * sign;
                        out[5] = (R[1] * r[0] - R[0] * r[1]) * sign;
                    }
                }
            }
            Perpendicular { a_A, b_B } => {
                let (a, b) = (A.rotate(a_A), B.rotate(b_B));
                J.row(0, row)[3..].copy_from_slice(&cross(a_A, A.rot.transpose_mul(b)));
                J.row(1, row)[3..].copy_from_slice(&cross(b_B, B.rot.transpose_mul(a)));
            }
            InPlane { a_A, r_B, .. } => {
                let a = A.rotate(a_A);
                let from_com = B.point(r_B) - A.p;
                let out = J.row(1, row);
                out[..3].copy_from_slice(&a.0);
                out[3..].copy_from_slice(&cross(r_B, B.rot.transpose_mul(a)));
                let out = J.row(0, row);
                for i in 0..3 {
                    out[i] = -a.0[i];
                }
                // d + R_A r_A is the point of B seen from A's centre of mass: r_A drops out
                out[3..].copy_from_slice(&cross(a_A, A.rot.transpose_mul(from_com)));
            }
            Coincident2 { r_A, r_B } => {
                for (body, pose, r, sign) in [(0, A, r_A, -1.0), (1, B, r_B, 1.0)] {
                    let (x, y) = rotate2(pose, r);
                    let out = J.row(body, row);
                    (out[0], out[2]) = (one(sign), y * -sign);
                    let out = J.row(body, row + 1);
                    (out[1], out[2]) = (one(sign), x * sign);
                }
            }
            OnLine2 { a_A, r_B, .. } => {
                let (ax, ay) = rotate2(A, a_A);
                let (x, y) = rotate2(B, r_B);
                let (dx, dy) = (B.p.0[0] + x - A.p.0[0], B.p.0[1] + y - A.p.0[1]);
                J.row(1, row).copy_from_slice(&[ax, ay, ay * x - ax * y]);
                J.row(0, row).copy_from_slice(&[-ax, -ay, ax * dy - ay * dx]);
            }
            Angle2 { .. } => {
                J.row(0, row)[2] = one(-1.0);
                J.row(1, row)[2] = one(1.0);
            }
        }
    }

    fn gamma(&self, at: &At<f64>, gamma: &mut [f64]) {
        let (A, B) = (at.pose(0), at.pose(1));
        let (V_A, V_B) = (at.twist(0), at.twist(1));
        match self {
            Coincident { r_A, r_B } => {
                let (r_A, r_B) = (A.rotate(r_A), B.rotate(r_B));
                let second = spin2(V_A.w_W, r_A) - spin2(V_B.w_W, r_B);
                gamma.copy_from_slice(&second.0);
            }
            Perpendicular { a_A, b_B } => {
                let (a, b) = (A.rotate(a_A), B.rotate(b_B));
                let (w_A, w_B) = (V_A.w_W, V_B.w_W);
                let both = w_A.cross(a).dot(w_B.cross(b));
                gamma[0] = -(b.dot(spin2(w_A, a)) + a.dot(spin2(w_B, b)) + 2.0 * both);
            }
            InPlane { a_A, r_A, r_B } => {
                let (a, r_A, r_B) = (A.rotate(a_A), A.rotate(r_A), B.rotate(r_B));
                let (w_A, w_B) = (V_A.w_W, V_B.w_W);
                let d = B.p + r_B - A.p - r_A;
                let ddot = V_B.v + w_B.cross(r_B) - V_A.v - w_A.cross(r_A);
                let dddot = spin2(w_B, r_B) - spin2(w_A, r_A);
                gamma[0] = -(d.dot(spin2(w_A, a)) + 2.0 * w_A.cross(a).dot(ddot) + a.dot(dddot));
            }
            Coincident2 { r_A, r_B } => {
                let (a, b) = (V_A.w.0[2], V_B.w.0[2]);
                let ((ax, ay), (bx, by)) = (rotate2(A, r_A), rotate2(B, r_B));
                gamma[0] = b * b * bx - a * a * ax;
                gamma[1] = b * b * by - a * a * ay;
            }
            OnLine2 { a_A, r_A, r_B } => {
                let (w_A, w_B) = (V_A.w.0[2], V_B.w.0[2]);
                let ((nx, ny), (ax, ay), (bx, by)) = (rotate2(A, a_A), rotate2(A, r_A), rotate2(B, r_B));
                let (dx, dy) = (B.p.0[0] + bx - A.p.0[0] - ax, B.p.0[1] + by - A.p.0[1] - ay);
                let ux = V_B.v.0[0] - w_B * by - V_A.v.0[0] + w_A * ay;
                let uy = V_B.v.0[1] + w_B * bx - V_A.v.0[1] - w_A * ax;
                let (sx, sy) = (w_A * w_A * ax - w_B * w_B * bx, w_A * w_A * ay - w_B * w_B * by);
                let spin = 2.0 * w_A * (nx * uy - ny * ux);
                gamma[0] = w_A * w_A * (nx * dx + ny * dy) - spin - (nx * sx + ny * sy);
            }
            Angle2 { .. } => gamma[0] = 0.0,
        }
    }
}

/// ω × (ω × r).
fn spin2(w: Vec3<f64>, r: Vec3<f64>) -> Vec3<f64> {
    w.cross(w.cross(r))
}

#[inline(always)]
fn cross<R: Real>(a: &[f64; 3], Vec3(b): Vec3<R>) -> [R; 3] {
    [b[2] * a[1] - b[1] * a[2], b[0] * a[2] - b[2] * a[0], b[1] * a[0] - b[0] * a[1]]
}

/// Body vector turned into the world, in the plane.
#[inline(always)]
fn rotate2<R: Real>(pose: &sarrus_math::Pose<R>, r: &[f64; 3]) -> (R, R) {
    let R = &pose.rot.0;
    (R[0][0] * r[0] + R[0][1] * r[1], R[1][0] * r[0] + R[1][1] * r[1])
}

/// A constraint made of primitives between two bodies.
#[derive(Clone, Debug)]
pub struct Compound(pub Vec<Primitive>);

impl Constraint for Compound {
    fn rows(&self) -> usize {
        self.0.iter().map(Primitive::rows).sum()
    }

    fn primitives(&self) -> Option<&[Primitive]> {
        Some(&self.0)
    }

    /// Of one row the force on the second body along the normal of its plane or line, or the torque on it that opens the angle of
    /// the directions: a·b is the cosine of that.
    fn multiplier(&self, row: usize) -> Multiplier {
        let ends = self.0.iter().scan(0, |end, primitive| {
            *end += primitive.rows();
            Some((*end, primitive))
        });
        let primitive = ends.into_iter().find(|(end, _)| row < *end).map(|(_, primitive)| primitive);
        let unit = if matches!(primitive, Some(Perpendicular { .. } | Angle2 { .. })) { "N m" } else { "N" };
        match (self.rows(), primitive) {
            (1, Some(Perpendicular { .. })) => Multiplier::force(unit, MultiplierScale::Factor(1.0)),
            (1, _) => Multiplier::force(unit, MultiplierScale::Factor(-1.0)),
            _ => Multiplier::lambda(row, unit),
        }
    }

    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]) {
        let mut row = 0;
        for primitive in &self.0 {
            primitive.residual(at, &mut phi[row..row + primitive.rows()]);
            row += primitive.rows();
        }
    }

    fn jacobian<R: Real>(&self, at: &At<R>, J: &mut JacobianBlocks<R>) -> bool {
        let mut row = 0;
        for primitive in &self.0 {
            primitive.jacobian(at, row, J);
            row += primitive.rows();
        }
        true
    }

    fn gamma(&self, at: &At<f64>, gamma: &mut [f64]) -> bool {
        let mut row = 0;
        for primitive in &self.0 {
            primitive.gamma(at, &mut gamma[row..row + primitive.rows()]);
            row += primitive.rows();
        }
        true
    }
}
