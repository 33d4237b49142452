//! The element in the plane over plain numbers, as straight loops: explicit methods spend their time here. What needs derivatives takes the same
//! way as in space.
//!
//! With (c, s) the x axis of section i, angles θ and rates ω, and x' = (x', y'):
//!
//! (u, v) = (x' - Πc, y' - Πs),  Γ = (c u + s v, c v - s u),  κ = θ',
//!
//! (u̇, v̇) = (ẋ' + Π[ωs], ẏ' - Π[ωc]),  Γ̇ = (c u̇ + s v̇ + ω Γ₂, c v̇ - s u̇ - ω Γ₁),  κ̇ = ω',
//!
//! and since Σ_j D_ij = 0 the moments leave -Σ_i D_ij m_i on node j. Sums run along a row of D or Dᵀ, whose numbers are neighbours in memory, for all nodes at
//! once.

use super::Spectral;
use crate::at::At;
use crate::flexible::beam::lobatto::POINTS;
use crate::load::Wrench;

/// Values at N nodes along x, along y and of the angle; of strains Γ₁, Γ₂ and κ.
type Three<const N: usize> = [[f64; N]; 3];

/// Describes how the element is deformed.
struct Flat<const N: usize> {
    /// c and s.
    axis: [[f64; N]; 2],
    /// u and v.
    apart: [[f64; N]; 2],
    /// Γ and κ.
    strain: Three<N>,
}

/// Calls a method with the number of nodes as a constant.
macro_rules! sized {
    ($self:ident.$method:ident($($arg:expr),*)) => {
        match $self.rule.points {
            3 => $self.$method::<3>($($arg),*),
            4 => $self.$method::<4>($($arg),*),
            5 => $self.$method::<5>($($arg),*),
            6 => $self.$method::<6>($($arg),*),
            7 => $self.$method::<7>($($arg),*),
            8 => $self.$method::<8>($($arg),*),
            _ => $self.$method::<9>($($arg),*),
        }
    };
}

impl Spectral {
    /// The wrenches, in the plane.
    pub(super) fn planar_wrench(&self, at: &At<f64>, out: &mut [Wrench<f64>]) {
        sized!(self.flat_wrench(at, out));
    }

    /// Σ w (ΓᵀCₙΓ + Cₘκ²) of the strains, in the plane.
    pub(super) fn planar_stored(&self, at: &At<f64>) -> f64 {
        sized!(self.flat_stored(at))
    }

    /// The same of their rates.
    pub(super) fn planar_lost(&self, at: &At<f64>) -> f64 {
        sized!(self.flat_lost(at))
    }

    fn flat<const N: usize>(&self, at: &At<f64>) -> Flat<N> {
        let zero = [[0.0; N]; 3];
        let (mut position, mut axis) = (zero, [[0.0; N]; 2]);
        let first = at.pose(0);
        for i in 0..N {
            let pose = at.pose(i);
            // from the first node: what is far from the origin loses no digits
            position[0][i] = pose.p.0[0] - first.p.0[0];
            position[1][i] = pose.p.0[1] - first.p.0[1];
            position[2][i] = (pose.angle - first.angle) + (self.angles[i] - self.angles[0]);
            let (rotation, [c, s]) = (&self.axes[i].0, [pose.rot.0[0][0], pose.rot.0[1][0]]);
            axis[0][i] = c * rotation[0][0] - s * rotation[1][0];
            axis[1][i] = s * rotation[0][0] + c * rotation[1][0];
        }
        let (mut slope, mut strain) = (zero, zero);
        add::<N>(&self.across, &position, &mut slope);
        let [c, s] = &axis;
        let mut apart = axis;
        self.smooth(&mut apart, false);
        for i in 0..N {
            let (u, v) = (slope[0][i] - apart[0][i], slope[1][i] - apart[1][i]);
            (apart[0][i], apart[1][i]) = (u, v);
            strain[0][i] = c[i] * u + s[i] * v;
            strain[1][i] = c[i] * v - s[i] * u;
            strain[2][i] = slope[2][i];
        }
        Flat { axis, apart, strain }
    }

    /// Γ̇ and κ̇.
    fn flat_rates<const N: usize>(&self, at: &At<f64>, here: &Flat<N>) -> Three<N> {
        let zero = [[0.0; N]; 3];
        let (mut velocity, mut slope, mut rate) = (zero, zero, zero);
        let first = at.twist(0);
        for i in 0..N {
            let twist = at.twist(i);
            velocity[0][i] = twist.v.0[0] - first.v.0[0];
            velocity[1][i] = twist.v.0[1] - first.v.0[1];
            velocity[2][i] = twist.w_W.0[2];
        }
        add::<N>(&self.across, &velocity, &mut slope);
        let ([c, s], [along, across, _]) = (&here.axis, &here.strain);
        let mut spin = [[0.0; N]; 2];
        for i in 0..N {
            spin[0][i] = -velocity[2][i] * s[i];
            spin[1][i] = velocity[2][i] * c[i];
        }
        self.smooth(&mut spin, false);
        for i in 0..N {
            let (u, v, omega) = (slope[0][i] - spin[0][i], slope[1][i] - spin[1][i], velocity[2][i]);
            rate[0][i] = c[i] * u + s[i] * v + omega * across[i];
            rate[1][i] = c[i] * v - s[i] * u - omega * along[i];
            rate[2][i] = slope[2][i];
        }
        rate
    }

    fn flat_wrench<const N: usize>(&self, at: &At<f64>, out: &mut [Wrench<f64>]) {
        let here = self.flat::<N>(at);
        let ([c, s], [u, v], mut strain) = (&here.axis, &here.apart, here.strain);
        if self.damping != 0.0 {
            let rates = self.flat_rates(at, &here);
            for (strain, rate) in strain.iter_mut().flatten().zip(rates.iter().flatten()) {
                *strain += *rate * self.damping;
            }
        }
        // -N_i in the world, -m_i
        let (mut effort, mut force) = ([[0.0; N]; 3], [[0.0; N]; 3]);
        let [EA, GA, EI] = [self.stretch[0], self.stretch[1], self.bend[2]];
        for i in 0..N {
            let w = -self.rule.weights[i];
            let n = [strain[0][i] * (w * EA), strain[1][i] * (w * GA)];
            effort[0][i] = c[i] * n[0] - s[i] * n[1];
            effort[1][i] = s[i] * n[0] + c[i] * n[1];
            effort[2][i] = strain[2][i] * (w * EI);
            force[2][i] = v[i] * effort[0][i] - u[i] * effort[1][i];
        }
        let mut spin = [effort[0], effort[1]];
        self.smooth(&mut spin, true);
        for i in 0..N {
            force[2][i] += s[i] * spin[0][i] - c[i] * spin[1][i];
        }
        add::<N>(&self.rule.slopes, &effort, &mut force);
        for (i, out) in out.iter_mut().enumerate().take(N) {
            out.force.0[0] += force[0][i];
            out.force.0[1] += force[1][i];
            out.torque.0[2] += force[2][i];
        }
    }

    /// Π of both components, or Πᵀ.
    #[inline(always)]
    fn smooth<const N: usize>(&self, both: &mut [[f64; N]; 2], back: bool) {
        both.iter_mut().for_each(|values| self.rule.smooth(values, back, 0.0, |a, b, c| a + b * c));
    }

    fn flat_stored<const N: usize>(&self, at: &At<f64>) -> f64 {
        self.flat_sum(self.flat::<N>(at).strain)
    }

    fn flat_lost<const N: usize>(&self, at: &At<f64>) -> f64 {
        self.flat_sum(self.flat_rates(at, &self.flat::<N>(at)))
    }

    fn flat_sum<const N: usize>(&self, of: Three<N>) -> f64 {
        let ([a, b, k], mut sum) = (&of, 0.0);
        for i in 0..N {
            let stretch = a[i] * a[i] * self.stretch[0] + b[i] * b[i] * self.stretch[1];
            sum += (stretch + k[i] * k[i] * self.bend[2]) * self.rule.weights[i];
        }
        sum
    }
}

/// Adds Σ_k matrix_ki values_k to sums_i.
#[inline(always)]
fn add<const N: usize>(matrix: &[[f64; POINTS]; POINTS], values: &Three<N>, sums: &mut Three<N>) {
    for (values, sums) in values.iter().zip(sums) {
        for (row, value) in matrix.iter().zip(values) {
            for i in 0..N {
                sums[i] += *value * row[i];
            }
        }
    }
}
