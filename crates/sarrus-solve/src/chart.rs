//! Coordinates of a problem that are fewer than its own: the face that they show to a run.
//!
//! A chart gives the problem's state (q, v) at its own coordinates and speeds y, v = V y, and back. Constraints that
//! every such state satisfies never drift; those that remain are solved for and projected as ever. A method of
//! the [`Ode`](crate::Ode) view steps in a chart through [`InChart`](crate::integrators::InChart).

use crate::problem::{State, Structure};

/// Coordinates and speeds of their own for a problem.
///
/// "Placed" is the state of the last [`expand`](Chart::expand) or [`compress`](Chart::compress): rates and accelerations refer
/// to it.
pub trait Chart: Send {
    /// Sizes, and the groups for error norms; no rows.
    fn structure(&self) -> &Structure;

    /// Returns whether its states satisfy every constraint of the problem, so that [`accelerations`](Chart::accelerations) holds.
    fn is_whole(&self) -> bool;

    /// The problem's state at `s`. The hot path: must not allocate.
    fn expand(&mut self, s: &State, out: &mut State);

    /// Coordinates and speeds of the problem's state `s`: its parts across them are dropped.
    fn compress(&mut self, s: &State, out: &mut State);

    /// Puts coordinates and speeds that are functions of time alone, where there are such, to what they are at the time of `s`.
    /// [`expand`](Chart::expand) and [`compress`](Chart::compress) do so by themselves.
    fn fill(&self, _s: &mut State) {}

    /// Rates of the coordinates at the speeds of `s`, where it was evaluated.
    fn qdot(&self, s: &State, qdot: &mut [f64]);

    /// Rates of the speeds from v̇ of the problem, v̇ = V ẏ + V̇ y, where it was evaluated.
    fn speed_rates(&mut self, vdot: &[f64], ydot: &mut [f64]);

    /// Rates of the speeds from the problem's f, VᵀM (V ẏ + V̇ y) = Vᵀf, where it was evaluated.
    fn accelerations(&mut self, f: &[f64], ydot: &mut [f64]);

    /// Rates of the speeds at `s` where nothing acts on the problem but weight
    /// ([`Problem::has_only_weight`](crate::Problem::has_only_weight)), from the chart alone; `s` is then placed. Returns false, and has
    /// done nothing, where the chart cannot.
    fn gravity_accelerations(&mut self, _s: &State, _ydot: &mut [f64]) -> bool {
        false
    }

    /// Φ_t and λ of the rows that functions of time stand for, as [`accelerations`](Chart::accelerations) found them; other rows
    /// are left alone.
    fn efforts(&self, _phi_t: &mut [f64], _lambda: &mut [f64]) {}

    /// Makes quaternions unit.
    fn normalize(&self, q: &mut [f64]);

    /// Takes note of an accepted state: rotations of angles and signs of quaternions are counted from there.
    fn accept(&mut self, s: &State);
}
