//! Describes how the rows of a constraint change with positions and velocities: what tangent matrices are made of.
//!
//! Directions are those of the velocities: x, y, z in the world and rotations about the body's own axes, q ⊕ ε e. All by nested
//! scalars, so for every constraint that will ever exist:
//!
//! - [`curvature`], ∂(Jᵀλ)/∂q, from duals of duals: the pose is moved along one direction first, and J taken there;
//! - [`variation`], ∂Φ̇/∂q, ∂Φ̈/∂q and ∂Φ̈/∂v at a fixed v̇, from duals of Taylor jets along the motion. Where a body has been turned
//!   by ε e at the start and then moves as before, R = exp(ε R₀ ẽ R₀ᵀ) R(t); where its ω is ε e more, R = R(t) (1 + ε ρ̃),
//!   ρ̇ = e - ω × ρ.
//!
//! Cost: n² and 2n evaluations of an element of n bodies.

use crate::at::At;
use crate::constraint::Constraint;
use crate::derive::columns;
use sarrus_math::{Dual, Jet, Pose, Real, Twist, Vec3};

/// A value with the derivatives of its derivatives.
type Second = Dual<6, Dual<6>>;
/// A value along a motion, with its derivatives.
type TimeDerivatives = Dual<6, Jet<3>>;

/// Derivatives of an element's rows, as blocks of `rows` × `wide` one body after the other.
#[derive(Debug, Clone, Default)]
pub struct Variation {
    /// ∂Φ̇/∂q, of rows at velocity level ∂ψ/∂q.
    pub phidot_q: Vec<f64>,
    /// ∂Φ̈/∂q at a fixed v̇, of rows at velocity level ∂ψ̇/∂q.
    pub phiddot_q: Vec<f64>,
    /// ∂Φ̈/∂v at a fixed v̇, of rows at velocity level ∂ψ̇/∂v.
    pub phiddot_v: Vec<f64>,
}

/// ∂(Jᵀλ)/∂q of one element: a square matrix by rows, `wide` rows and columns a body.
pub fn curvature<C: Constraint>(c: &C, at: &At<f64>, wide: usize, lambda: &[f64], out: &mut [f64]) {
    let n = at.ids.len();
    let (rows, holonomic) = (c.rows(), c.holonomic());
    let columns = columns(wide);
    let ids: Vec<u32> = (0..n as u32).collect();
    let size = n * wide;
    out.fill(0.0);
    let mut values = vec![Second::zero(); rows];
    for moved in (0..n).filter(|i| at.ids[*i] != 0) {
        // where the bodies are once one has moved, and then where J is taken
        let new_poses: Vec<Pose<Dual<6>>> = (0..n)
            .map(|i| if i == moved { at.pose(i).seed(0, columns) } else { at.pose(i).lift() })
            .collect();
        let rotating: Vec<Twist<Dual<6>>> = (0..n)
            .map(|i| {
                let twist = at.twist(i);
                Twist::new(&new_poses[i], Vec3::from_f64(twist.v.0), Vec3::from_f64(twist.w.0))
            })
            .collect();
        let mut poses: Vec<Pose<Second>> = new_poses.iter().map(|p| p.seed(0, &[])).collect();
        let mut twists: Vec<Twist<Second>> =
            rotating.iter().zip(&new_poses).map(|(t, p)| t.seed(p, 0, &[])).collect();
        for body in (0..n).filter(|i| at.ids[*i] != 0) {
            if holonomic > 0 {
                poses[body] = new_poses[body].seed(0, columns);
                let at = seeded(at, Second::from_f64(at.t), &poses, &[], &ids);
                c.residual(&at, &mut values[..holonomic]);
                poses[body] = new_poses[body].seed(0, &[]);
            }
            if holonomic < rows {
                twists[body] = rotating[body].seed(&new_poses[body], 0, columns);
                let at = seeded(at, Second::from_f64(at.t), &poses, &twists, &ids);
                c.velocity(&at, &mut values[holonomic..]);
                twists[body] = rotating[body].seed(&new_poses[body], 0, &[]);
            }
            for (value, lambda) in values.iter().zip(lambda) {
                for j in 0..wide {
                    let row = &mut out[(body * wide + j) * size + moved * wide..][..wide];
                    row.iter_mut().zip(&value.d[j].d).for_each(|(o, d)| *o += lambda * d);
                }
            }
        }
    }
}

/// ∂Φ̇/∂q, ∂Φ̈/∂q and ∂Φ̈/∂v of one element on a motion with the accelerations `vdot`, (v̇ in W, ω̇ in B) a body.
pub fn variation<C: Constraint>(
    c: &C,
    at: &At<f64>,
    wide: usize,
    vdot: &[[[f64; 3]; 2]],
    out: &mut Variation,
) {
    let n = at.ids.len();
    let (rows, holonomic) = (c.rows(), c.holonomic());
    let columns = columns(wide);
    let ids: Vec<u32> = (0..n as u32).collect();
    let jets: Vec<(Pose<Jet<3>>, Twist<Jet<3>>)> = (0..n)
        .map(|i| {
            let twist = at.twist(i);
            let (v, w) = ([twist.v.0, vdot[i][0]], [twist.w.0, vdot[i][1]]);
            let pose = at.pose(i).jet(&v, &w);
            (pose, Twist::jet(&pose, &v, &w))
        })
        .collect();
    let mut poses: Vec<Pose<TimeDerivatives>> = jets.iter().map(|(p, _)| p.seed(0, &[])).collect();
    let mut twists: Vec<Twist<TimeDerivatives>> = jets.iter().map(|(p, t)| t.seed(p, 0, &[])).collect();
    let mut values = vec![TimeDerivatives::zero(); rows];
    for part in [&mut out.phidot_q, &mut out.phiddot_q, &mut out.phiddot_v] {
        part.clear();
        part.resize(n * rows * wide, 0.0);
    }
    for body in (0..n).filter(|i| at.ids[*i] != 0) {
        let (pose, twist) = &jets[body];
        for velocities in [false, true] {
            let moved = if velocities {
                faster(pose, at.twist(body).w, columns)
            } else {
                displaced(pose, at.pose(body), columns)
            };
            twists[body] = twist.seed_with(&moved, 0, if velocities { columns } else { &[] });
            poses[body] = moved;
            let t = Dual::constant(Jet::variable(at.t));
            let at = seeded(at, t, &poses, &twists, &ids);
            c.residual(&at, &mut values[..holonomic]);
            c.velocity(&at, &mut values[holonomic..]);
            for (row, value) in values.iter().enumerate() {
                let index = (body * rows + row) * wide;
                for (j, d) in value.d[..wide].iter().enumerate() {
                    let [rate, second] =
                        if row < holonomic { [d.c[1], 2.0 * d.c[2]] } else { [d.c[0], d.c[1]] };
                    if velocities {
                        out.phiddot_v[index + j] = second;
                    } else {
                        out.phidot_q[index + j] = rate;
                        out.phiddot_q[index + j] = second;
                    }
                }
            }
        }
        poses[body] = pose.seed(0, &[]);
        twists[body] = twist.seed(pose, 0, &[]);
    }
}

fn seeded<'a, R>(
    at: &At<'a, f64>,
    t: R,
    poses: &'a [Pose<R>],
    twists: &'a [Twist<R>],
    ids: &'a [u32],
) -> At<'a, R> {
    At { t, poses, twists, ids, discrete: at.discrete, outs: &[] }
}

/// The motion `pose` that begins displaced from `start`: turns are about axes fixed in space from then on.
fn displaced(pose: &Pose<Jet<3>>, start: &Pose<f64>, columns: &[usize]) -> Pose<TimeDerivatives> {
    let mut out: Pose<TimeDerivatives> = pose.seed(0, &[]);
    for (slot, &column) in columns.iter().enumerate() {
        if column < 3 {
            out.p.0[column].d[slot] = Jet::one();
            continue;
        }
        let axis = Vec3::from_f64(start.rot.col(column - 3).0);
        for k in 0..3 {
            let rotated = axis.cross(pose.rot.col(k));
            (0..3).for_each(|r| out.rot.0[r][k].d[slot] = rotated.0[r]);
        }
        if column == 5 {
            out.angle.d[slot] = Jet::one();
        }
    }
    out
}

/// The motion `pose` with velocities that are faster throughout; `w` is ω at its start.
fn faster(pose: &Pose<Jet<3>>, w: Vec3<f64>, columns: &[usize]) -> Pose<TimeDerivatives> {
    let mut out: Pose<TimeDerivatives> = pose.seed(0, &[]);
    for (slot, &column) in columns.iter().enumerate() {
        if column < 3 {
            out.p.0[column].d[slot] = Jet { c: [0.0, 1.0, 0.0] };
            continue;
        }
        let mut e = [0.0; 3];
        e[column - 3] = 1.0;
        let second = w.cross(Vec3(e));
        let rho = Vec3([0, 1, 2].map(|i| Jet { c: [0.0, e[i], -0.5 * second.0[i]] }));
        for r in 0..3 {
            let rotated = pose.rot.row(r).cross(rho);
            (0..3).for_each(|k| out.rot.0[r][k].d[slot] = rotated.0[k]);
        }
        if column == 5 {
            out.angle.d[slot] = rho.0[2];
        }
    }
    out
}
