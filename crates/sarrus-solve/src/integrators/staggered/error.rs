//! The error of a step of the symmetric form, from accelerations at three instants.
//!
//! v' - v against ∫ v̇ over the step, and q' ⊖ q against ∫ v: both quadratures are of higher order than the step. v̇ goes through
//! the instants t₋, t and t' as a parabola, the weights being those of Adams and Moulton for unequal steps; v with its slopes at
//! both ends as a cubic. Turns do not add: to their rates belongs (h²/12) ω × ω', the first term of Magnus's series
//! \[Magnus1954\]. In the first step, without t₋, velocities are not judged. What the constraints forbid of an error is none: both
//! ends are on them, but for what their own solution leaves, which over a short step would look like a velocity.

use super::modules::{Modules, at};
use crate::error::StepError;
use crate::problem::{Accel, Equations, GroupKind, State, Structure};
use crate::views::Staggered;

/// Holds what is remembered, and room.
#[derive(Default)]
pub(super) struct ErrorEstimate {
    /// Size of the step before \[s\]; not a number at a start.
    h: f64,
    /// v̇ and ẋ at its start.
    vdot: Vec<f64>,
    xdot: Vec<f64>,
    delta: State,
    rotation: Vec<f64>,
    /// Zero (nc).
    still: Vec<f64>,
    /// The equations at the end of a step.
    eq: Option<Equations>,
}

impl ErrorEstimate {
    pub fn restart(&mut self, s: &Structure) {
        self.h = f64::NAN;
        self.vdot.resize(s.nv, 0.0);
        self.xdot.resize(s.nx, 0.0);
        self.rotation.resize(s.nv, 0.0);
        self.still.resize(s.nc, 0.0);
        if self.eq.as_ref().is_some_and(|eq| eq.f.len() != s.nv || eq.phi.len() != s.nc) {
            self.eq = None;
        }
        if self.delta.q.len() != s.nq || self.delta.v.len() != s.nv || self.delta.x.len() != s.nx {
            self.delta = State::zeros(s);
        }
    }

    /// Takes note of an accepted step.
    pub fn remember(&mut self, h: f64, vdot: &[f64], xdot: &[f64]) {
        self.h = h;
        self.vdot.copy_from_slice(vdot);
        self.xdot.copy_from_slice(xdot);
    }

    /// Workspace for the equations at the end of a step, with the masses.
    pub fn equations(&mut self, view: &dyn Staggered) -> &mut Equations {
        self.eq.get_or_insert_with(|| view.equations())
    }

    /// Takes from the error what the constraints forbid, with the J of `eq` at `end`; of positions where all rows have a position
    /// level.
    pub fn project_tangent(
        &mut self,
        m: &mut Modules,
        view: &dyn Staggered,
        eq: &Equations,
        end: &State,
    ) -> Result<(), StepError> {
        let s = view.structure();
        m.constrain(s, eq, &self.still, &mut self.delta.v).map_err(at(end))?;
        if s.rows.iter().all(|r| r.holonomic == r.size) {
            m.constrain(s, eq, &self.still, &mut self.rotation).map_err(at(end))?;
        }
        Ok(())
    }

    /// The error found, at `end`.
    pub fn delta(&mut self, view: &dyn Staggered, end: &State) -> &State {
        self.rotation.iter_mut().for_each(|d| *d = -*d);
        self.delta.q.copy_from_slice(&end.q);
        view.retract(&mut self.delta.q, &self.rotation);
        self.delta.q.iter_mut().zip(&end.q).for_each(|(d, q)| *d -= q);
        &self.delta
    }

    /// The error of the step between `ends`.
    pub fn find(
        &mut self,
        view: &dyn Staggered,
        [start, end]: [&State; 2],
        accel: &[Accel; 2],
        xdot: &[Vec<f64>; 2],
    ) {
        let h = end.t - start.t;
        let [here, there] = accel;

        // positions
        view.difference(&end.q, &start.q, &mut self.rotation);
        for (i, d) in self.rotation.iter_mut().enumerate() {
            let mean = 0.5 * h * (start.v[i] + end.v[i]);
            *d -= mean + h * h / 12.0 * (here.vdot[i] - there.vdot[i]);
        }
        let rotating = |g: &&crate::problem::NormGroup| g.kind == GroupKind::AngularVelocity && g.len == 3;
        for g in view.structure().groups.iter().filter(rotating) {
            let (a, b) = (&start.v[g.start..][..3], &end.v[g.start..][..3]);
            let d = &mut self.rotation[g.start..][..3];
            for i in 0..3 {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                d[i] -= h * h / 12.0 * (a[j] * b[k] - a[k] * b[j]);
            }
        }
        // velocities and first-order states
        let weights = weights(h, self.h);
        let judge = |out: &mut [f64], y: [&[f64]; 2], rate: [&[f64]; 3]| match weights {
            None => out.fill(0.0),
            Some([before, now, then]) => {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = y[1][i] - y[0][i] - (before * rate[0][i] + now * rate[1][i] + then * rate[2][i]);
                }
            }
        };
        judge(&mut self.delta.v, [&start.v, &end.v], [&self.vdot, &here.vdot, &there.vdot]);
        judge(&mut self.delta.x, [&start.x, &end.x], [&self.xdot, &xdot[0], &xdot[1]]);
    }
}

/// Weights of the rates at -k, 0 and h in the integral from 0 to h of the parabola through them.
fn weights(h: f64, k: f64) -> Option<[f64; 3]> {
    if k.is_nan() {
        return None;
    }
    let before = -h * h * h / (6.0 * k * (h + k));
    let then = h * (2.0 * h + 3.0 * k) / (6.0 * (h + k));
    Some([before, h - before - then, then])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_integrate_parabolas_exactly() {
        let (h, k) = (0.3, 0.2);
        let [a, b, c] = weights(h, k).unwrap();
        let integrate = |f: fn(f64) -> f64| a * f(-k) + b * f(0.0) + c * f(h);
        assert!((integrate(|_| 1.0) - h).abs() < 1e-15);
        assert!((integrate(|t| t) - h * h / 2.0).abs() < 1e-15);
        assert!((integrate(|t| t * t) - h * h * h / 3.0).abs() < 1e-15);
    }
}
