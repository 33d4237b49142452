//! Describes what a constraint is: a residual written once over [`Real`]; everything else follows from it.

use crate::at::At;
use crate::derive::{self, DerivativeWorkspace, Taylor};
use crate::formula::Formula;
use crate::primitive::Primitive;
use crate::variation::{self, Variation};
use sarrus_math::Real;

/// The Jacobian blocks of one element: `rows` × `wide` per body, row-major, where the columns are
/// (vx vy vz wx wy wz), in a planar model (vx vy rate).
pub struct JacobianBlocks<'a, R = f64> {
    /// All blocks, one body after the other.
    pub data: &'a mut [R],
    /// Rows of the element.
    pub rows: usize,
    /// 6, or 3 in a planar model.
    pub wide: usize,
}

impl<R> JacobianBlocks<'_, R> {
    /// Row `row` of the block of the element's body `body`.
    #[inline(always)]
    pub fn row(&mut self, body: usize, row: usize) -> &mut [R] {
        let start = (body * self.rows + row) * self.wide;
        &mut self.data[start..start + self.wide]
    }
}

/// A joint coordinate, or its speed, that a constraint gives as a function of time: joint coordinates take it as it is.
pub struct CoordinateProgram<'a> {
    /// Index of the joint in the directory.
    pub joint: usize,
    /// Identifies which of its coordinates.
    pub number: usize,
    /// The coordinate, or its speed, over time.
    pub target: &'a Formula,
    /// True if it is the speed that is given.
    pub is_speed: bool,
}

/// The column that shows the multiplier of a row of `[constraints]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Multiplier {
    /// Holds what follows the constraint's name and a dot.
    pub name: String,
    /// Its unit; empty where the file decides.
    pub unit: &'static str,
    /// Describes how it follows from λ.
    pub scale: MultiplierScale,
}

/// Describes how a number that is shown follows from the multiplier λ of a row; the row exerts -Jᵀλ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MultiplierScale {
    /// Times λ.
    Factor(f64),
    /// Minus λ times the norm of the row's gradient by the position of its first moving body: the force on that body along the
    /// gradient, whatever the unit of Φ.
    Gradient,
}

impl Multiplier {
    /// Of a constraint with one row: `force`.
    pub fn force(unit: &'static str, scale: MultiplierScale) -> Self {
        Multiplier { name: "force".into(), unit, scale }
    }

    /// Of row `row` of several: `lambda1` and so on, λ itself.
    pub fn lambda(row: usize, unit: &'static str) -> Self {
        Multiplier { name: format!("lambda{}", row + 1), unit, scale: MultiplierScale::Factor(1.0) }
    }
}

/// A constraint, as its author writes it.
///
/// Holonomic rows come first and have a residual Φ(q, t); rows at velocity level have ψ(q, v, t), linear in v.
pub trait Constraint: Send + Sync + 'static {
    /// Rows of Φ and ψ together.
    fn rows(&self) -> usize;

    /// Rows with a position level; the others hold for velocities only.
    fn holonomic(&self) -> usize {
        self.rows()
    }

    /// Φ of the holonomic rows.
    fn residual<R: Real>(&self, at: &At<R>, phi: &mut [R]);

    /// ψ of the rows at velocity level.
    fn velocity<R: Real>(&self, _at: &At<R>, _psi: &mut [R]) {}

    /// Returns whether time enters, so that Φ_t is not zero.
    fn depends_on_time(&self) -> bool {
        false
    }

    /// The primitives between two bodies that it is made of, where that is all.
    fn primitives(&self) -> Option<&[Primitive]> {
        None
    }

    /// Returns whether J is the same everywhere, so that ∂(Jᵀλ)/∂q is zero.
    fn is_linear(&self) -> bool {
        false
    }

    /// The joint coordinate that this row gives, where that is all it does.
    fn program(&self) -> Option<CoordinateProgram<'_>> {
        None
    }

    /// The whole revolutions that a driven angle, counted, is off its function beside Φ, which leaves them out \[rad\]; none where Φ counts them.
    fn revolutions_off(&self, _at: &At<f64>) -> Option<f64> {
        None
    }

    /// J by hand, where a profile asks for it; `false` leaves it to the dual numbers. The blocks start at zero.
    fn jacobian<R: Real>(&self, _at: &At<R>, _J: &mut JacobianBlocks<R>) -> bool {
        false
    }

    /// γ by hand, where a profile asks for it; `false` leaves it to the jets.
    fn gamma(&self, _at: &At<f64>, _gamma: &mut [f64]) -> bool {
        false
    }

    /// The column of the multiplier of row `row`. By default it is `force` where there is one row, -λ: the effort in the
    /// direction in which Φ grows; else `lambda1`, `lambda2`, ..., λ itself. A kind with a force of its own says so here.
    fn multiplier(&self, row: usize) -> Multiplier {
        match self.rows() {
            1 => Multiplier::force("", MultiplierScale::Factor(-1.0)),
            _ => Multiplier::lambda(row, ""),
        }
    }

    /// Calls `found` with each expression that Φ or ψ is, which may have features between the steps of a run.
    fn laws(&self, _found: &mut dyn FnMut(&Formula)) {}

    /// Reason for which features of the rows between steps are not searched for, where they may have such.
    fn unsearched(&self) -> Option<&'static str> {
        None
    }

    /// New values of the discrete state this constraint keeps (see [`At::discrete`]).
    fn update_discrete(&self, _at: &At<f64>, _discrete: &mut [f64]) {}

    /// The largest angular speed \[rad/s\] between two bodies of which it counts the angle.
    fn relative_rotation(&self, _at: &At<f64>) -> f64 {
        0.0
    }
}

/// The face of a constraint that a system stores: values and derivatives at an instant.
pub trait Rows: Send + Sync {
    /// Rows of Φ and ψ together.
    fn rows(&self) -> usize;
    /// Rows with a position level.
    fn holonomic(&self) -> usize;
    /// Returns whether Φ_t may differ from zero.
    fn depends_on_time(&self) -> bool;
    /// The primitives between two bodies that they are made of, where that is all.
    fn primitives(&self) -> Option<&[Primitive]>;
    /// Returns whether J is the same everywhere, so that ∂(Jᵀλ)/∂q is zero.
    fn is_linear(&self) -> bool {
        false
    }

    /// The joint coordinate that this row gives, where that is all it does.
    fn program(&self) -> Option<CoordinateProgram<'_>>;
    /// The whole revolutions that a driven angle is off its function beside Φ \[rad\]; none where Φ counts them.
    fn revolutions_off(&self, at: &At<f64>) -> Option<f64>;
    /// The column of the multiplier of row `row`, for a constraint of the file.
    fn multiplier(&self, row: usize) -> Multiplier;
    /// Φ; zero for rows at velocity level.
    fn phi(&self, at: &At<f64>, phi: &mut [f64]);
    /// J, by hand where there is a hand-coded one.
    fn jacobian(&self, at: &At<f64>, scratch: &mut DerivativeWorkspace, J: &mut JacobianBlocks);
    /// J by dual numbers, always: the oracle of the conformance test.
    fn derived_jacobian(&self, at: &At<f64>, scratch: &mut DerivativeWorkspace, J: &mut JacobianBlocks);
    /// γ, so that Φ̈ = 0 reads J v̇ = γ.
    fn gamma(&self, at: &At<f64>, scratch: &mut DerivativeWorkspace, gamma: &mut [f64]);
    /// γ by Taylor jets, always.
    fn derived_gamma(&self, at: &At<f64>, scratch: &mut DerivativeWorkspace, gamma: &mut [f64]);
    /// Φ_t, and ψ at v = 0.
    fn phi_t(&self, at: &At<f64>, scratch: &mut DerivativeWorkspace, phi_t: &mut [f64]);
    /// ψ and Φ̇ by Taylor jets: the oracle for J v + Φ_t.
    fn rates(&self, at: &At<f64>, scratch: &mut DerivativeWorkspace, rates: &mut [f64]);
    /// Third derivative of Φ (second of ψ) along a motion with constant v̇ = 0: the jerk terms.
    fn jerk(&self, at: &At<f64>, scratch: &mut DerivativeWorkspace, jerk: &mut [f64]);
    /// ∂(Jᵀλ)/∂q, as [`variation::curvature`].
    fn curvature(&self, at: &At<f64>, wide: usize, lambda: &[f64], out: &mut [f64]);
    /// ∂Φ̇/∂q, ∂Φ̈/∂q and ∂Φ̈/∂v, as [`variation::variation`].
    fn variation(&self, at: &At<f64>, wide: usize, vdot: &[[[f64; 3]; 2]], out: &mut Variation);
    /// Taylor coefficients of Φ along a motion, of a row at velocity level those of the integral of ψ.
    fn taylor(&self, at: &At<Taylor>, phi: &mut [Taylor]);
    /// Taylor coefficients of J, by hand where there is a hand-coded one, laid out as [`JacobianBlocks`] of `wide` columns; starts at zero.
    fn taylor_jacobian(
        &self,
        at: &At<Taylor>,
        scratch: &mut DerivativeWorkspace,
        wide: usize,
        J: &mut [Taylor],
    );
    /// Calls `found` with each expression that Φ or ψ is.
    fn laws(&self, found: &mut dyn FnMut(&Formula));
    /// Reason for which features of the rows between steps are not searched for, where they may have such.
    fn unsearched(&self) -> Option<&'static str>;
    /// New values of the discrete state this constraint keeps.
    fn update_discrete(&self, at: &At<f64>, discrete: &mut [f64]);
    /// The largest angular speed \[rad/s\] between two bodies of which it counts the angle.
    fn relative_rotation(&self, at: &At<f64>) -> f64;
}

impl<C: Constraint> Rows for C {
    fn primitives(&self) -> Option<&[Primitive]> {
        Constraint::primitives(self)
    }

    fn rows(&self) -> usize {
        Constraint::rows(self)
    }

    fn holonomic(&self) -> usize {
        Constraint::holonomic(self)
    }

    fn depends_on_time(&self) -> bool {
        Constraint::depends_on_time(self)
    }

    fn program(&self) -> Option<CoordinateProgram<'_>> {
        Constraint::program(self)
    }

    fn revolutions_off(&self, at: &At<f64>) -> Option<f64> {
        Constraint::revolutions_off(self, at)
    }

    fn multiplier(&self, row: usize) -> Multiplier {
        Constraint::multiplier(self, row)
    }

    fn phi(&self, at: &At<f64>, phi: &mut [f64]) {
        let holonomic = Constraint::holonomic(self);
        self.residual(at, &mut phi[..holonomic]);
        phi[holonomic..].fill(0.0);
    }

    fn jacobian(&self, at: &At<f64>, scratch: &mut DerivativeWorkspace, J: &mut JacobianBlocks) {
        J.data.fill(0.0);
        if !Constraint::jacobian(self, at, J) {
            derive::jacobian(self, at, scratch, J);
        }
    }

    fn derived_jacobian(&self, at: &At<f64>, scratch: &mut DerivativeWorkspace, J: &mut JacobianBlocks) {
        derive::jacobian(self, at, scratch, J);
    }

    fn gamma(&self, at: &At<f64>, scratch: &mut DerivativeWorkspace, gamma: &mut [f64]) {
        if !Constraint::gamma(self, at, gamma) {
            derive::gamma(self, at, scratch, gamma);
        }
    }

    fn derived_gamma(&self, at: &At<f64>, scratch: &mut DerivativeWorkspace, gamma: &mut [f64]) {
        derive::gamma(self, at, scratch, gamma);
    }

    fn phi_t(&self, at: &At<f64>, scratch: &mut DerivativeWorkspace, phi_t: &mut [f64]) {
        if Constraint::depends_on_time(self) {
            derive::phi_t(self, at, scratch, phi_t);
        } else {
            phi_t.fill(0.0);
        }
    }

    fn rates(&self, at: &At<f64>, scratch: &mut DerivativeWorkspace, rates: &mut [f64]) {
        derive::rates(self, at, scratch, rates);
    }

    fn jerk(&self, at: &At<f64>, scratch: &mut DerivativeWorkspace, jerk: &mut [f64]) {
        derive::jerk(self, at, scratch, jerk);
    }

    fn curvature(&self, at: &At<f64>, wide: usize, lambda: &[f64], out: &mut [f64]) {
        if Constraint::is_linear(self) {
            out.fill(0.0);
        } else {
            variation::curvature(self, at, wide, lambda, out);
        }
    }

    fn variation(&self, at: &At<f64>, wide: usize, vdot: &[[[f64; 3]; 2]], out: &mut Variation) {
        variation::variation(self, at, wide, vdot, out);
    }

    fn taylor(&self, at: &At<Taylor>, phi: &mut [Taylor]) {
        derive::taylor(self, at, phi);
    }

    fn taylor_jacobian(
        &self,
        at: &At<Taylor>,
        scratch: &mut DerivativeWorkspace,
        wide: usize,
        J: &mut [Taylor],
    ) {
        let mut blocks = JacobianBlocks { data: &mut *J, rows: Constraint::rows(self), wide };
        if !Constraint::jacobian(self, at, &mut blocks) {
            derive::taylor_jacobian(self, at, scratch, wide, J);
        }
    }

    fn laws(&self, found: &mut dyn FnMut(&Formula)) {
        Constraint::laws(self, found);
    }

    fn unsearched(&self) -> Option<&'static str> {
        Constraint::unsearched(self)
    }

    fn update_discrete(&self, at: &At<f64>, discrete: &mut [f64]) {
        Constraint::update_discrete(self, at, discrete);
    }

    fn relative_rotation(&self, at: &At<f64>) -> f64 {
        Constraint::relative_rotation(self, at)
    }
}
