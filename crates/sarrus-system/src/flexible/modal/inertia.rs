//! Inertia of a modal body: M(η), the forces of inertia and gravity, from [`invariants`](super::invariants) of the shapes.
//!
//! Mass dm of the structure stands at x = p + R s, s = r + S η + ½ ηᵀg η. The quadratic part g is the shortening that bending brings
//! along: it is what stress stiffening is made of, and zero without `geometric_stiffness`. With sums over the mass
//!
//! ```text
//! c = Σ m s,   C_j = ∂c/∂η_j,   G = Σ m (s sᵀ - r rᵀ),   H_j = Σ m s (∂s/∂η_j)ᵀ,   h_j = axial(H_j) = Σ m s × ∂s/∂η_j
//! ```
//!
//! the kinetic energy is ½ vᵀM v for v = (ṗ in the world, ω in body axes, η̇) with
//!
//! ```text
//!     [ m 1        -R c̃              R C        ]
//! M = [  ·     I₀ + tr(G) 1 - G      h          ]
//!     [  ·           ·               Σ SᵀmS     ]
//! ```
//!
//! c and G are kept to the second order in η, H to the first, the block of η̇ to order zero: what is left out is of the third
//! order in the energy. I₀, the skew part of H at η = 0 and the last block have the inertia of turning nodes in them. The forces of inertia are
//! those of this M exactly, so that energy and momentum are conserved whatever η is:
//!
//! ```text
//! f_p = m g - R (ω×(ω×c) + 2 ω×(C η̇) + Σ η̇_i η̇_j C2_ij)
//! f_ω = c × Rᵀg - ω×(I ω) - 2 (tr(Q) ω - Qᵀω) - Σ η̇_i η̇_j axial(F_ij),   Q = Σ η̇_j H_j
//! f_j = C_j·Rᵀg + tr(H_j) |ω|² - ωᵀH_j ω - 2 ω·Σ_i η̇_i axial(E2_ij)
//! ```
//!
//! with C2 = Σ m g, F = Σ m r gᵀ and E2_ij = Σ m S_i S_jᵀ. In the plane the same with ṗ = (ẋ, ẏ) and ω about z alone.
//! Written over [`Real`], so that tangents follow. Cost: 18 n² products an evaluation, without a check of the mesh.

use sarrus_math::solve::{cholesky, cholesky_solve};
use sarrus_math::{Mat3, Real, Vec3};

pub(super) type Tensor = [[f64; 3]; 3];

/// The invariants.
#[derive(Clone, Debug)]
pub struct InertiaInvariants {
    /// Number of amplitudes.
    pub n: usize,
    /// m \[kg\].
    pub mass: f64,
    /// True if it moves in the plane.
    pub planar: bool,
    pub(super) c: [f64; 3],
    pub(super) C1: Vec<[f64; 3]>,
    pub(super) C2: Vec<[f64; 3]>,
    /// I₀.
    pub(super) tensor: Tensor,
    pub(super) E1: Vec<Tensor>,
    pub(super) E2: Vec<Tensor>,
    pub(super) F: Vec<Tensor>,
    pub(super) amplitudes: Vec<f64>,
}

/// The sums at one instant.
#[derive(Clone, Debug)]
pub struct InertiaSums<R> {
    c: Vec3<R>,
    C: Vec<Vec3<R>>,
    G: Mat3<R>,
    H: Vec<Mat3<R>>,
}

impl<R: Real> InertiaSums<R> {
    /// Workspace for `n` amplitudes.
    pub fn new(n: usize) -> Self {
        let zero = Mat3([[R::zero(); 3]; 3]);
        InertiaSums { c: Vec3::zero(), C: vec![Vec3::zero(); n], G: zero, H: vec![zero; n] }
    }
}

/// Where a modal body is and how it moves, over any scalar.
#[derive(Clone, Copy)]
pub struct ModalMotion<'a, R> {
    /// R.
    pub rot: &'a Mat3<R>,
    /// ω in body axes \[rad/s\].
    pub w: Vec3<R>,
    /// η.
    pub eta: &'a [R],
    /// η̇.
    pub rate: &'a [R],
}

pub(super) fn outer(sum: &mut Tensor, factor: f64, a: &[f64; 3], b: &[f64; 3]) {
    for (row, a) in sum.iter_mut().zip(a) {
        row.iter_mut().zip(b).for_each(|(x, b)| *x += factor * a * b);
    }
}

fn add<R: Real>(sum: &mut Mat3<R>, factor: R, a: &Tensor) {
    for (row, a) in sum.0.iter_mut().zip(a) {
        row.iter_mut().zip(a).for_each(|(x, a)| *x += factor * *a);
    }
}

pub(super) fn axial_f64(a: &Tensor) -> [f64; 3] {
    [a[1][2] - a[2][1], a[2][0] - a[0][2], a[0][1] - a[1][0]]
}

fn axial<R: Real>(a: &Mat3<R>) -> Vec3<R> {
    let a = &a.0;
    Vec3([a[1][2] - a[2][1], a[2][0] - a[0][2], a[0][1] - a[1][0]])
}

fn trace<R: Real>(a: &Mat3<R>) -> R {
    a.0[0][0] + a.0[1][1] + a.0[2][2]
}

impl InertiaInvariants {
    /// Returns which of the six velocities of a frame it has.
    pub fn directions(&self) -> &'static [usize] {
        super::structure::directions(self.planar, true)
    }

    /// Returns how many velocities the body has.
    pub fn nv(&self) -> usize {
        self.directions().len() + self.n
    }

    /// The sums at the amplitudes `eta`.
    pub fn sums<R: Real>(&self, eta: &[R], out: &mut InertiaSums<R>) {
        let n = self.n;
        out.c = Vec3::from_f64(self.c);
        out.G = Mat3([[R::zero(); 3]; 3]);
        for j in 0..n {
            let mut C = Vec3::from_f64(self.C1[j]);
            let mut H = Mat3::from_f64(self.E1[j]);
            for (i, eta) in eta.iter().enumerate() {
                add(&mut H, *eta, &self.E2[i * n + j]);
            }
            // half of ηη C2 and of ηη (F + Fᵀ): the other half is in what c and G add up below
            let (mut half, mut sides) = (C, H);
            if !self.C2.is_empty() {
                for (i, eta) in eta.iter().enumerate() {
                    let C2 = Vec3::from_f64(self.C2[i * n + j]).scale(*eta);
                    C += C2;
                    half += C2.scale_f64(0.5);
                    add(&mut H, *eta, &self.F[i * n + j]);
                    add(&mut sides, *eta * 0.5, &self.F[i * n + j]);
                }
            }
            out.c += half.scale(eta[j]);
            // G = η (E1 + E1ᵀ) + ηη (E2 + ½ F + ½ Fᵀ)
            for a in 0..3 {
                for b in 0..3 {
                    let first = self.E1[j][b][a];
                    let second = if self.F.is_empty() {
                        R::zero()
                    } else {
                        (0..n).fold(R::zero(), |sum, i| sum + eta[i] * (0.5 * self.F[i * n + j][b][a]))
                    };
                    out.G.0[a][b] += eta[j] * (sides.0[a][b] + first + second);
                }
            }
            out.C[j] = C;
            out.H[j] = H;
        }
    }

    /// I₀ + tr(G) 1 - G.
    fn tensor<R: Real>(&self, sums: &InertiaSums<R>) -> Mat3<R> {
        let mut out = Mat3::from_f64(self.tensor);
        let trace = trace(&sums.G);
        for a in 0..3 {
            for b in 0..3 {
                out.0[a][b] -= sums.G.0[a][b];
            }
            out.0[a][a] += trace;
        }
        out
    }

    /// M by rows.
    pub fn mass(&self, rot: &Mat3<f64>, sums: &InertiaSums<f64>, M: &mut [f64]) {
        let (n, size, directions) = (self.n, self.nv(), self.directions());
        let first = directions.len();
        let mut set = |i: usize, j: usize, value: f64| {
            M[i * size + j] = value;
            M[j * size + i] = value;
        };
        let rotated = *rot * Mat3::skew(sums.c);
        let tensor = self.tensor(sums);
        let own = |i: usize, j: usize| match (i / 3, j / 3) {
            (0, 0) if i == j => self.mass,
            (0, 0) => 0.0,
            (0, _) => -rotated.0[i][j - 3],
            (_, 0) => -rotated.0[j][i - 3],
            _ => tensor.0[i - 3][j - 3],
        };
        for (i, &a) in directions.iter().enumerate() {
            (0..=i).for_each(|j| set(i, j, own(a, directions[j])));
        }
        for j in 0..n {
            let (C, h) = (*rot * sums.C[j], axial(&sums.H[j]));
            for (i, &a) in directions.iter().enumerate() {
                set(i, first + j, if a < 3 { C.0[a] } else { h.0[a - 3] });
            }
            (0..=j).for_each(|i| set(first + i, first + j, self.amplitudes[i * n + j]));
        }
    }

    /// Adds a force and a torque to those of the frame.
    fn add_wrench<R: Real>(&self, force: &Vec3<R>, torque: &Vec3<R>, out: &mut [R]) {
        for (out, &k) in out.iter_mut().zip(self.directions()) {
            *out += if k < 3 { force.0[k] } else { torque.0[k - 3] };
        }
    }

    /// Adds -M v̇.
    pub fn subtract_mass<R: Real>(&self, rot: &Mat3<R>, sums: &InertiaSums<R>, vdot: &[f64], out: &mut [R]) {
        let (n, first) = (self.n, self.directions().len());
        let mut frame = [0.0; 6];
        self.directions().iter().zip(vdot).for_each(|(&k, v)| frame[k] = *v);
        let [a, w] = [0, 3].map(|k| Vec3::from_f64([frame[k], frame[k + 1], frame[k + 2]]));
        let local = rot.transpose_mul(a);
        let mut force = w.cross(sums.c);
        let mut torque = sums.c.cross(local) + self.tensor(sums) * w;
        let vdot = &vdot[first..];
        for j in 0..n {
            let h = axial(&sums.H[j]);
            force += sums.C[j].scale_f64(vdot[j]);
            torque += h.scale_f64(vdot[j]);
            let own: f64 = (0..n).map(|i| self.amplitudes[i * n + j] * vdot[i]).sum();
            out[first + j] -= sums.C[j].dot(local) + h.dot(w) + own;
        }
        let force = *rot * force + a.scale_f64(self.mass);
        self.add_wrench(&-force, &-torque, out);
    }

    /// Adds the forces of inertia and of gravity `g`.
    pub fn add_force<R: Real>(
        &self,
        motion: &ModalMotion<R>,
        sums: &InertiaSums<R>,
        g: &[f64; 3],
        out: &mut [R],
    ) {
        let (n, first, w) = (self.n, self.directions().len(), motion.w);
        let weight = motion.rot.transpose_mul(Vec3::from_f64(*g));
        let mut sliding = Vec3::zero();
        let mut Q = Mat3([[R::zero(); 3]; 3]);
        let (mut bent, mut spun) = (Vec3::zero(), Vec3::zero());
        for j in 0..n {
            let rate = motion.rate[j];
            sliding += sums.C[j].scale(rate);
            let H = &sums.H[j];
            for a in 0..3 {
                (0..3).for_each(|b| Q.0[a][b] += rate * H.0[a][b]);
            }
            let mut rotating = Vec3::zero();
            for i in 0..n {
                rotating += Vec3::from_f64(axial_f64(&self.E2[i * n + j])).scale(motion.rate[i]);
                if !self.C2.is_empty() {
                    let both = rate * motion.rate[i];
                    bent += Vec3::from_f64(self.C2[i * n + j]).scale(both);
                    spun += Vec3::from_f64(axial_f64(&self.F[i * n + j])).scale(both);
                }
            }
            let centrifugal = trace(H) * w.norm_squared() - w.dot(*H * w);
            out[first + j] += sums.C[j].dot(weight) + centrifugal - w.dot(rotating) * 2.0;
        }
        let inner = w.cross(w.cross(sums.c)) + w.cross(sliding).scale_f64(2.0) + bent;
        let force = Vec3::from_f64(g.map(|g| self.mass * g)) - *motion.rot * inner;
        let flow = w.scale(trace(&Q)) - Q.transpose_mul(w);
        let torque = sums.c.cross(weight) - w.cross(self.tensor(sums) * w) - flow.scale_f64(2.0) - spun;
        self.add_wrench(&force, &torque, out);
    }

    /// Σ m x: the place of the masses times them.
    pub fn moment(&self, p: Vec3<f64>, rot: &Mat3<f64>, sums: &InertiaSums<f64>) -> Vec3<f64> {
        p.scale(self.mass) + *rot * sums.c
    }
}

/// M⁻¹ by rows from M; `workspace` takes its factor. NaN throughout where M is not positive definite.
pub fn invert(M: &[f64], n: usize, workspace: &mut Vec<f64>, out: &mut [f64]) {
    workspace.clear();
    workspace.extend_from_slice(M);
    if cholesky(workspace, n).is_err() {
        out.fill(f64::NAN);
        return;
    }
    out.fill(0.0);
    for (i, column) in out.chunks_exact_mut(n).enumerate() {
        column[i] = 1.0;
        cholesky_solve(workspace, n, column);
    }
}

impl InertiaInvariants {
    /// The tensor of inertia about the frame at η = 0; none where M is not positive definite there.
    pub fn at_rest(&self) -> Option<Mat3> {
        let mut sums = InertiaSums::new(self.n);
        self.sums(&vec![0.0; self.n], &mut sums);
        let mut M = vec![0.0; self.nv() * self.nv()];
        self.mass(&Mat3::identity(), &sums, &mut M);
        // M scaled to a unit diagonal: pivots of rounding size are none
        let size = self.nv();
        let roots: Vec<f64> = (0..size).map(|i| M[i * (size + 1)].sqrt()).collect();
        (0..size * size).for_each(|k| M[k] /= roots[k / size] * roots[k % size]);
        cholesky(&mut M, size).ok()?;
        (0..size).all(|i| M[i * (size + 1)] > 1e-7).then(|| self.tensor(&sums))
    }
}
