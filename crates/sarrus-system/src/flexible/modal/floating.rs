//! A modal body among the others: the frame and the amplitudes that share one block of M, which changes with them.

use super::inertia::{InertiaInvariants, InertiaSums, ModalMotion, invert};
use super::points::MassPoint;
use crate::at::At;
use sarrus_math::{Dual, Pose, Real, Twist, Vec3};
use std::sync::Arc;

/// The bodies of one, by number, and its inertia.
#[derive(Clone, Debug)]
pub struct Floating {
    /// The frame; the bodies that hold the amplitudes follow it.
    pub frame: u32,
    /// By amplitude: how many bodies after the frame the one is that holds it, and which of its coordinates it is ([`amplitude`]).
    pub amplitudes: Vec<(usize, usize)>,
    /// Its inertia.
    pub inertia: Arc<InertiaInvariants>,
    /// Holds what is drawn of it.
    pub picture: Arc<Picture>,
    /// Its mass at the nodes of its mesh, in models with a force that acts on it there.
    pub points: Arc<Vec<MassPoint>>,
}

/// The mesh of a modal body, for those who draw it; axes of the frame.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// Marks where the nodes are at rest, from the frame \[m\].
    pub nodes: Vec<[f64; 3]>,
    /// By amplitude: how far it moves each node per unit.
    pub modes: Vec<Vec<[f64; 3]>>,
    /// Nodes that a beam joins.
    pub lines: Vec<[usize; 2]>,
}

/// An amplitude that a body at `pose` holds: a coordinate of its place, or 5, its angle in the plane.
pub fn amplitude<R: Real>(pose: &Pose<R>, k: usize) -> R {
    if k < 3 { pose.p.0[k] } else { pose.angle }
}

/// Its rate.
pub fn rate<R: Real>(twist: &Twist<R>, k: usize) -> R {
    if k < 3 { twist.v.0[k] } else { twist.w.0[k - 3] }
}

/// Buffers to evaluate modal bodies in.
#[derive(Clone)]
pub struct ModalWorkspace<R> {
    eta: Vec<R>,
    rate: Vec<R>,
    sums: InertiaSums<R>,
    /// Generalized forces, or momenta.
    pub f: Vec<R>,
    block: Vec<f64>,
    factor: Vec<f64>,
}

impl<R: Real> ModalWorkspace<R> {
    /// For up to `n` amplitudes.
    pub fn new(n: usize) -> Self {
        ModalWorkspace {
            eta: Vec::with_capacity(n),
            rate: Vec::with_capacity(n),
            sums: InertiaSums::new(n),
            f: vec![R::zero(); 6 + n],
            block: vec![0.0; (6 + n) * (6 + n)],
            factor: Vec::with_capacity((6 + n) * (6 + n)),
        }
    }
}

impl Floating {
    /// Its bodies, by number.
    pub fn bodies(&self) -> std::ops::Range<u32> {
        let after = self.amplitudes.last().map_or(0, |(body, _)| *body);
        self.frame..self.frame + 1 + after as u32
    }

    fn gather<R: Real>(
        &self,
        first: usize,
        poses: &[Pose<R>],
        twists: &[Twist<R>],
        workspace: &mut ModalWorkspace<R>,
    ) {
        workspace.eta.clear();
        workspace.eta.extend(self.amplitudes.iter().map(|&(body, k)| amplitude(&poses[first + body], k)));
        workspace.rate.clear();
        if !twists.is_empty() {
            workspace.rate.extend(self.amplitudes.iter().map(|&(body, k)| rate(&twists[first + body], k)));
        }
        self.inertia.sums(&workspace.eta, &mut workspace.sums);
    }

    /// Fills its block of M, and M⁻¹ where asked for.
    pub fn mass(
        &self,
        poses: &[Pose<f64>],
        workspace: &mut ModalWorkspace<f64>,
        M: &mut [f64],
        minv: Option<&mut [f64]>,
    ) {
        let frame = self.frame as usize;
        self.gather(frame, poses, &[], workspace);
        self.inertia.mass(&poses[frame].rot, &workspace.sums, M);
        if let Some(minv) = minv {
            invert(M, self.inertia.nv(), &mut workspace.factor, minv);
        }
    }

    /// Forces of inertia and gravity `g`, in `workspace.f`.
    pub fn force(
        &self,
        poses: &[Pose<f64>],
        twists: &[Twist<f64>],
        g: &[f64; 3],
        workspace: &mut ModalWorkspace<f64>,
    ) {
        self.force_from(self.frame as usize, poses, twists, g, None, workspace);
    }

    fn force_from<R: Real>(
        &self,
        frame: usize,
        poses: &[Pose<R>],
        twists: &[Twist<R>],
        g: &[f64; 3],
        vdot: Option<&[f64]>,
        workspace: &mut ModalWorkspace<R>,
    ) {
        self.gather(frame, poses, twists, workspace);
        let (rot, w) = (&poses[frame].rot, twists[frame].w);
        let ModalWorkspace { eta, rate, sums, f, .. } = workspace;
        f.fill(R::zero());
        self.inertia.add_force(&ModalMotion { rot, w, eta, rate }, sums, g, f);
        if let Some(vdot) = vdot {
            self.inertia.subtract_mass(rot, sums, vdot, f);
        }
    }

    /// Kinetic energy, that of gravity, and the momenta: linear, and angular about the world's origin.
    pub fn energies(&self, at: &At<f64>, g: &[f64; 3]) -> (f64, f64, [Vec3<f64>; 2]) {
        let mut workspace = ModalWorkspace::new(self.inertia.n);
        self.energies_in(at.poses, at.twists, g, &mut workspace)
    }

    /// The same in a given room.
    pub fn energies_in(
        &self,
        poses: &[Pose<f64>],
        twists: &[Twist<f64>],
        g: &[f64; 3],
        workspace: &mut ModalWorkspace<f64>,
    ) -> (f64, f64, [Vec3<f64>; 2]) {
        let frame = self.frame as usize;
        let (pose, twist) = (&poses[frame], &twists[frame]);
        self.gather(frame, poses, twists, workspace);
        let size = self.inertia.nv();
        self.inertia.mass(&pose.rot, &workspace.sums, &mut workspace.block[..size * size]);
        let directions = self.inertia.directions();
        let velocity = |i: usize| match directions.get(i) {
            Some(&k) => rate(twist, k),
            None => workspace.rate[i - directions.len()],
        };
        let (mut kinetic, mut momenta) = (0.0, [0.0; 6]);
        for (i, row) in workspace.block.chunks_exact(size).take(size).enumerate() {
            let p: f64 = row.iter().enumerate().map(|(j, m)| m * velocity(j)).sum();
            kinetic += 0.5 * p * velocity(i);
            if let Some(&k) = directions.get(i) {
                momenta[k] = p;
            }
        }
        let linear = Vec3([momenta[0], momenta[1], momenta[2]]);
        let angular = pose.p.cross(linear) + pose.rot * Vec3([momenta[3], momenta[4], momenta[5]]);
        let moment = self.inertia.moment(pose.p, &pose.rot, &workspace.sums);
        (kinetic, -moment.dot(Vec3(*g)), [linear, angular])
    }

    /// Its blocks of K = ∂(M v̇ - f)/∂q and D = -∂f/∂v, by rows, added to `K` and `D`.
    pub fn tangent(&self, at: &At<f64>, g: &[f64; 3], vdot: &[f64], K: &mut [f64], D: &mut [f64]) {
        let bodies = self.bodies();
        let first = bodies.start as usize;
        let count = bodies.len();
        let size = self.inertia.nv();
        let lift = |i: usize| (at.poses[first + i].lift(), at.twists[first + i].lift());
        let (mut poses, mut twists): (Vec<Pose<Dual<6>>>, Vec<Twist<Dual<6>>>) = (0..count).map(lift).unzip();
        let mut workspace = ModalWorkspace::<Dual<6>>::new(self.inertia.n);
        let mut column = 0;
        for moved in 0..count {
            let (pose, twist) = (&at.poses[first + moved], &at.twists[first + moved]);
            let mut held = [0; 6];
            let columns = if moved == 0 {
                self.inertia.directions()
            } else {
                let own = self.amplitudes.iter().filter(|(body, _)| *body == moved);
                let wide = own.zip(&mut held).map(|((_, k), to)| *to = *k).count();
                &held[..wide]
            };
            let wide = columns.len();
            for velocities in [false, true] {
                if velocities {
                    poses[moved] = pose.lift();
                    twists[moved] = twist.seed(pose, 0, columns);
                } else {
                    poses[moved] = pose.seed(0, columns);
                    twists[moved] = twist.seed_with(&poses[moved], 0, &[]);
                }
                let vdot = (!velocities).then_some(vdot);
                self.force_from(0, &poses, &twists, g, vdot, &mut workspace);
                let to = if velocities { &mut *D } else { &mut *K };
                for (row, f) in to.chunks_exact_mut(size).zip(&workspace.f) {
                    row[column..][..wide].iter_mut().zip(&f.d).for_each(|(x, d)| *x -= d);
                }
            }
            (poses[moved], twists[moved]) = lift(moved);
            column += wide;
        }
    }
}
