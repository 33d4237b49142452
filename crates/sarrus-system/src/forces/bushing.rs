//! An elastic bearing between two bodies: forces and torques from a small displacement and rotation.
//!
//! F is fixed in A, M in B; in the model pose both have the same axes. With d = R_FWᵀ p_FM and the rotation vector θ of
//! R_FM, ξ = (d, θ), the efforts are (f, m) = K ξ + C ξ̇, where
//!
//! ḋ = Rᵀ (v_B - v_A) of the points of B and A at M's origin, θ̇ = D w, w = Rᵀ (ω_B - ω_A),
//! D = I - ½ θ̃ + c θ̃², c = 1/θ² - cot(θ/2)/(2θ).
//!
//! The wrench on B is -(R f, R Dᵀm) at M's origin and its opposite on A at the same point, so that the power
//! is exactly -ξ̇·(f, m): a symmetric K stores ½ ξᵀKξ, C turns ξ̇ᵀCξ̇ into heat. Not for rotations near half a
//! turn, where θ jumps; in the plane the angle is counted and any will do.

use super::prelude::*;
use crate::joint::{BodyFixedFrame, Frames};
use crate::signal::quaternion;
use sarrus_model::Diagnostic;
use sarrus_model::record::ResolvedValue;

type Matrix6 = [[f64; 6]; 6];

/// The force.
#[derive(Clone, Debug)]
pub struct Bushing {
    frames: Frames,
    planar: bool,
    /// K in the axes of F: forces, then torques \[N/m, N, N m/rad\].
    stiffness: Matrix6,
    /// C, likewise \[N s/m, N s, N m s/rad\].
    damping: Matrix6,
    damped: bool,
    symmetric: bool,
}

/// Marks where the bushing stands: F, M and ξ.
struct BushingDeformation<R> {
    F: Pose<R>,
    M: Pose<R>,
    d: Vec3<R>,
    theta: Vec3<R>,
}

impl Bushing {
    pub(crate) fn new(frames: Frames, planar: bool, stiffness: Matrix6, damping: Matrix6) -> Self {
        let symmetric = (0..6).all(|i| (0..i).all(|j| stiffness[i][j] == stiffness[j][i]));
        let damped = damping.iter().flatten().any(|x| *x != 0.0);
        Bushing { frames, planar, stiffness, damping, damped, symmetric }
    }

    fn deformed<R: Real>(&self, at: &At<R>) -> BushingDeformation<R> {
        let F = self.frames.F.frame_pose(at.pose(0));
        let M = self.frames.M.frame_pose(at.pose(1));
        let d = F.rot.transpose_mul(M.p - F.p);
        let theta = if self.planar {
            Vec3([R::zero(), R::zero(), M.angle - F.angle])
        } else {
            rotation_vector(&F.rot.transpose_mul_mat(&M.rot))
        };
        BushingDeformation { F, M, d, theta }
    }

    /// ξ̇.
    fn rate<R: Real>(&self, at: &At<R>, here: &BushingDeformation<R>) -> [R; 6] {
        let (V_A, V_B) = (at.twist(0), at.twist(1));
        let v_A = V_A.v + V_A.w_W.cross(here.M.p - at.pose(0).p);
        let v_B = V_B.v + V_B.w_W.cross(here.M.p - at.pose(1).p);
        let d = here.F.rot.transpose_mul(v_B - v_A);
        let w = here.F.rot.transpose_mul(V_B.w_W - V_A.w_W);
        let theta = if self.planar { w } else { rotated(here.theta, w, -0.5) };
        join(d, theta)
    }
}

impl Force for Bushing {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        let here = self.deformed(at);
        let mut effort = times(&self.stiffness, &join(here.d, here.theta));
        if self.damped {
            let viscous = times(&self.damping, &self.rate(at, &here));
            for (e, v) in effort.iter_mut().zip(viscous) {
                *e += v;
            }
        }
        let [f0, f1, f2, m0, m1, m2] = effort;
        let m = Vec3([m0, m1, m2]);
        let force = here.F.rot * Vec3([f0, f1, f2]);
        let torque = here.F.rot * if self.planar { m } else { rotated(here.theta, m, 0.5) };
        let (arm_A, arm_B) = (here.M.p - at.pose(0).p, here.M.p - at.pose(1).p);
        out[0].add_force_at(force, arm_A);
        out[0].add_torque(torque);
        out[1].add_force_at(-force, arm_B);
        out[1].add_torque(-torque);
    }

    fn potential<R: Real>(&self, at: &At<R>) -> R {
        if !self.symmetric {
            return R::zero();
        }
        let here = self.deformed(at);
        let strain = join(here.d, here.theta);
        dot(&strain, &times(&self.stiffness, &strain)) * 0.5
    }

    fn dissipation<R: Real>(&self, at: &At<R>) -> R {
        if !self.damped {
            return R::zero();
        }
        let rate = self.rate(at, &self.deformed(at));
        dot(&rate, &times(&self.damping, &rate))
    }

    fn accounts_for_power(&self) -> bool {
        self.symmetric
    }
}

fn join<R: Real>(a: Vec3<R>, b: Vec3<R>) -> [R; 6] {
    [a.0[0], a.0[1], a.0[2], b.0[0], b.0[1], b.0[2]]
}

fn times<R: Real>(m: &Matrix6, x: &[R; 6]) -> [R; 6] {
    std::array::from_fn(|i| {
        (0..6).fold(R::zero(), |sum, j| if m[i][j] == 0.0 { sum } else { sum + x[j] * m[i][j] })
    })
}

fn dot<R: Real>(a: &[R; 6], b: &[R; 6]) -> R {
    (0..6).fold(R::zero(), |sum, i| sum + a[i] * b[i])
}

/// Rotation vector of a rotation, smooth through zero.
fn rotation_vector<R: Real>(rot: &Mat3<R>) -> Vec3<R> {
    let (w, v) = half_rotation(rot);
    rotation_of_half(w, v)
}

/// cos(θ/2) and sin(θ/2) n of the rotation by θ ≤ π about n that a rotation is: its unit quaternion with w ≥ 0.
pub(crate) fn half_rotation<R: Real>(rot: &Mat3<R>) -> (R, Vec3<R>) {
    let [w, x, y, z] = quaternion(rot);
    let flip = if w.value() < 0.0 { -1.0 } else { 1.0 };
    (w * flip, Vec3([x, y, z]).scale_f64(flip))
}

/// The rotation vector θ n from cos(θ/2) and sin(θ/2) n, 0 ≤ θ < 2π.
pub(crate) fn rotation_of_half<R: Real>(w: R, v: Vec3<R>) -> Vec3<R> {
    let s2 = v.norm_squared();
    // angle over sin(angle/2): a series where the norm has no slope
    let factor = if s2.value() < 1e-3 && w.value() > 0.0 {
        ((((s2 * (35.0 / 1152.0) + 5.0 / 112.0) * s2 + 3.0 / 40.0) * s2 + 1.0 / 6.0) * s2 + 1.0) * 2.0
    } else {
        let s = s2.sqrt();
        s.atan2(w) * 2.0 / s
    };
    v.scale(factor)
}

/// a + `half` θ × a + c θ × (θ × a): D a for half = -½, Dᵀa for ½.
pub(crate) fn rotated<R: Real>(theta: Vec3<R>, a: Vec3<R>, half: f64) -> Vec3<R> {
    let t2 = theta.norm_squared();
    let c = if t2.value() < 1e-2 {
        (((t2 * (1.0 / 47_900_160.0) + 1.0 / 1_209_600.0) * t2 + 1.0 / 30_240.0) * t2 + 1.0 / 720.0) * t2
            + 1.0 / 12.0
    } else {
        let angle = t2.sqrt();
        let (sin, cos) = (angle * 0.5).sin_cos();
        R::one() / t2 - cos / (sin * angle * 2.0)
    };
    let first = theta.cross(a);
    a + first.scale_f64(half) + theta.cross(first).scale(c)
}

/// The rotation that takes z to `axis` by the shortest way: columns are the axes of a bushing.
fn axes_about(axis: [f64; 3]) -> Mat3 {
    let [x, y, z] = axis;
    if z < -1.0 + 1e-12 {
        return Mat3([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]);
    }
    let f = 1.0 / (1.0 + z);
    Mat3([[1.0 - x * x * f, -x * y * f, x], [-x * y * f, 1.0 - y * y * f, y], [-x, -y, z]])
}

/// A 6 × 6 matrix from six numbers of a diagonal or from rows; planar from three, as x, y and the angle.
fn matrix(ctx: &Context, key: &str) -> Result<Option<Matrix6>> {
    let reader = &ctx.reader;
    let Some(value) = reader.value(key) else { return Ok(None) };
    let indices: &[usize] = if ctx.is_planar() { &[0, 1, 5] } else { &[0, 1, 2, 3, 4, 5] };
    let n = indices.len();
    let expected = |found: String| {
        let message = format!(
            "`{key}` of {}: expected {n} numbers or a {n} × {n} matrix, found {found}",
            reader.title()
        );
        Err(reader.error(key, message))
    };
    let mut full = [[0.0; 6]; 6];
    if value.as_list().is_some_and(|list| list.iter().any(|row| row.as_list().is_some())) {
        let rows = reader.matrix(key)?.unwrap_or_default();
        if rows.len() != n {
            return expected(format!("{} rows", rows.len()));
        }
        for (row, &i) in rows.iter().zip(indices) {
            if row.len() != n {
                return expected(format!("a row of {}", row.len()));
            }
            for (x, &j) in row.iter().zip(indices) {
                full[i][j] = *x;
            }
        }
    } else {
        let diagonal = reader.numbers(key)?.unwrap_or_default();
        if diagonal.len() != n {
            return expected(diagonal.len().to_string());
        }
        for (x, &i) in diagonal.iter().zip(indices) {
            full[i][i] = *x;
        }
    }
    if let Some(i) = (0..6).find(|&i| full[i][i] < 0.0) {
        return Err(reader.error(
            key,
            format!("`{key}` of {} must not be negative, it is {}", reader.title(), full[i][i]),
        ));
    }
    Ok(Some(full))
}

/// B m Bᵀ for B = diag(A, sA): the matrix of a file that is rotated by A (and mirrored, s = -1) in the model's axes.
fn rotate_matrix(m: &Matrix6, rotation: &Mat3, sign: f64) -> Matrix6 {
    let b = |i: usize, j: usize| match (i / 3, j / 3) {
        (0, 0) => rotation.0[i][j],
        (1, 1) => sign * rotation.0[i - 3][j - 3],
        _ => 0.0,
    };
    let half: Matrix6 =
        std::array::from_fn(|i| std::array::from_fn(|j| (0..6).map(|k| b(i, k) * m[k][j]).sum()));
    let mut full: Matrix6 =
        std::array::from_fn(|i| std::array::from_fn(|j| (0..6).map(|k| half[i][k] * b(j, k)).sum()));
    // what was symmetric stays so to the last bit: its energy depends on it
    for i in 0..6 {
        for j in 0..i {
            if m[i][j] == m[j][i]
                && (full[i][j] - full[j][i]).abs() <= 1e-12 * (full[i][i].abs() + full[j][j].abs())
            {
                full[i][j] = full[j][i];
            }
        }
    }
    full
}

/// Returns whether xᵀ m x ≥ 0 for all x, by elimination on the symmetric part.
fn is_passive(m: &Matrix6) -> bool {
    let mut s: Matrix6 = std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (m[i][j] + m[j][i])));
    let scale: [f64; 6] = std::array::from_fn(|i| s[i][i]);
    for k in 0..6 {
        if s[k][k] < -1e-12 * scale[k] {
            return false;
        }
        if s[k][k] <= 1e-12 * scale[k] {
            // a direction without damping: nothing may couple to it
            if (k + 1..6).any(|j| s[k][j].abs() > 1e-9 * (scale[k] * scale[j]).sqrt().max(f64::MIN_POSITIVE))
            {
                return false;
            }
            continue;
        }
        for i in k + 1..6 {
            let factor = s[i][k] / s[k][k];
            for j in k + 1..6 {
                s[i][j] -= factor * s[k][j];
            }
        }
    }
    true
}

fn planar_axis(ctx: &Context) -> Result<()> {
    if ctx.is_planar() && ctx.reader.has("axis") {
        let message = format!("{}: a planar bushing has no `axis`", ctx.reader.title());
        return Err(ctx.reader.error("axis", message).hint("its forces are along x and y of the model pose"));
    }
    Ok(())
}

fn read(ctx: &mut Context) -> Result<BuiltForce> {
    let bodies = ctx.bodies2()?;
    for body in bodies {
        ctx.require_orientation(body, "bodies")?;
    }
    let points = ctx.points_on_two(bodies)?.ok_or_else(|| ctx.reader.missing("at"))?;
    planar_axis(ctx)?;
    let (stiffness, damping) = (matrix(ctx, "stiffness")?, matrix(ctx, "damping")?);
    if stiffness.is_none() && damping.is_none() {
        return Err(ctx
            .reader
            .element_error(format!("{} needs `stiffness` or `damping`", ctx.reader.title())));
    }
    let z = [0.0, 0.0, 1.0];
    let axes_W = if ctx.is_planar() { Mat3::identity() } else { axes_about(ctx.reader.axis_or("axis", z)?) };
    let in_model = |key: &str, m: Option<Matrix6>| -> Matrix6 {
        let Some(m) = m else { return [[0.0; 6]; 6] };
        let file = ctx.reader.transform();
        if file.is_identity() {
            return m;
        }
        // the file's own x and y axes of the bushing, against those that its axis has in the model
        let own = if ctx.is_planar() {
            Mat3::identity()
        } else {
            let (q, s) = (Mat3(file.q), file.sign());
            axes_about(q.transpose_mul(axes_W.col(2)).scale_f64(s).0)
        };
        let m = rotate_matrix(&m, &(axes_W.transpose() * Mat3(file.q) * own), file.sign());
        record(ctx, key, &m);
        m
    };
    let (stiffness, damping) = (in_model("stiffness", stiffness), in_model("damping", damping));
    if !is_passive(&damping) {
        return Err(feeds(ctx));
    }
    let fixed = |body: u32, p: [f64; 3]| {
        let pose = ctx.model_pose(body);
        BodyFixedFrame { p, rot: pose.rot.transpose() * axes_W, angle: -pose.angle }
    };
    let frames = Frames { F: fixed(bodies[0], points[0]), M: fixed(bodies[1], points[1]) };
    Ok(BuiltForce::new(bodies.to_vec(), Bushing::new(frames, ctx.is_planar(), stiffness, damping)))
}

fn feeds(ctx: &Context) -> Diagnostic {
    let message = format!("`damping` of {} would feed energy in some directions", ctx.reader.title());
    ctx.reader.error("damping", message).hint("its symmetric part must be positive semidefinite")
}

/// Writes the matrix as it is in the model's axes.
fn record(ctx: &Context, key: &str, m: &Matrix6) {
    let indices: &[usize] = if ctx.is_planar() { &[0, 1, 5] } else { &[0, 1, 2, 3, 4, 5] };
    let row = |i: &usize| ResolvedValue::numbers(&indices.iter().map(|&j| m[*i][j]).collect::<Vec<_>>());
    ctx.reader.record(key, || ResolvedValue::List(indices.iter().map(row).collect()));
}

/// `kind = "bushing"`
pub const KIND: ForceKind = ForceKind {
    name: "bushing",
    doc: "elastic bearing: forces and torques from a small displacement and rotation",
    keys: &[
        Key::new("bodies", KeyType::Bodies, "", "the two bodies"),
        Key::new("at", KeyType::Point, "", "its point, in the world"),
        Key::new("on", KeyType::Local, "", "its point on each body, or a marker"),
        Key::new("axis", KeyType::Axial, "z", "its third axis, spatial"),
        Key::new(
            "stiffness",
            KeyType::Either(&KeyType::Numbers, &KeyType::Matrix),
            "0",
            "3 for forces, 3 for torques (planar 2 + 1), the third along or about `axis`; or 6 × 6 [N/m, N m/rad]",
        ),
        Key::new(
            "damping",
            KeyType::Either(&KeyType::Numbers, &KeyType::Matrix),
            "0",
            "likewise [N s/m, N m s/rad]",
        ),
    ],
    planar: &["bodies = ['a', 'b'], at = [0.5, 0.2], stiffness = [200, 300, 20], damping = [2, 3, 0.2]"],
    spatial: &[
        "bodies = ['a', 'b'], at = [0.5, 0.2, 0.1], axis = [1, 2, 2], stiffness = [200, 300, 1000, 20, 30, 5], damping = [2, 3, 10, 0.2, 0.3, 0.05]",
    ],
    read,
};
