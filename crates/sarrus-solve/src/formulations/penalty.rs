//! Constraints as stiff springs: λ_i = m_i (ω² Φ_i + 2ζω Φ̇_i), v̇ = M⁻¹ (f - Jᵀλ), no equation solved \[Park1990, eq. 24\].
//!
//! That equation has λ = Φ/ε alone; here 1/ε_i = m_i ω² with m_i = 1/(J M⁻¹Jᵀ)_ii, the mass that the row feels, so that
//! every row vibrates with about the same frequency whatever its unit, and a damper 2ζω m_i lets that die out. Rows at
//! velocity level have the damper alone, λ_i = m_i ω Φ̇_i. γ is not used.
//!
//! Not exact: a row gives by Φ = ε λ, and the motion tends to the constrained one with the first power of ε, the second
//! of 1/ω. Redundant rows share a load as parallel springs do. The force is the violation's, so a stabilization that takes
//! the violation away, or shifts γ, must not be used with it.
//!
//! Needs nothing, not even rank. Costs two products with J; but an explicit integrator has to take steps of about 1/ω.
//! Not for accuracy, nor for stiff springs by intent: those are forces.

use super::dense::{check_finite, fill_inverse_masses, inverse_mass_mul};
use super::{Formulation, FormulationKind, Needs};
use crate::error::{MethodError, SolveError};
use crate::kkt::Kkt;
use crate::options::{OptionDoc, Options};
use crate::problem::{Accel, Equations, Structure};

/// ω where none is given [1/s]: under its own weight a body then gives way by 10 µm.
const FREQUENCY: f64 = 1000.0;

pub(super) const KIND: FormulationKind = FormulationKind {
    name: "penalty",
    doc: "constraints as stiff damped springs: nothing to solve, small steps, approximate",
    needs: Needs { exact: false, violation: true, ..Needs::NOTHING },
    options: &[
        OptionDoc {
            name: "frequency",
            default: "1000",
            doc: "ω [1/s]: stiffness 1/ε = m ω² for a row that feels the mass m",
        },
        OptionDoc { name: "damping", default: "1", doc: "ζ: part of the critical damping, from 0 up" },
    ],
    new: |options| Ok(Box::new(Penalty::new(options)?)),
};

struct Penalty {
    frequency: f64,
    damping: f64,
    work: Option<PenaltyWorkspace>,
}

struct PenaltyWorkspace {
    inverse_masses: Vec<f64>,
    force: Vec<f64>,
}

impl Penalty {
    fn new(options: &Options) -> Result<Penalty, MethodError> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let frequency = options.number("penalty", "frequency", "a number above 0 [1/s]", positive)?;
        let damping =
            options.number("penalty", "damping", "a number from 0 up", |x| x == 0.0 || positive(x))?;
        Ok(Penalty { frequency: frequency.unwrap_or(FREQUENCY), damping: damping.unwrap_or(1.0), work: None })
    }
}

impl Formulation for Penalty {
    fn accelerations(
        &mut self,
        s: &Structure,
        eq: &Equations,
        _kkt: &mut Kkt,
        out: &mut Accel,
    ) -> Result<(), SolveError> {
        let work = self.work.get_or_insert_with(|| PenaltyWorkspace {
            inverse_masses: vec![0.0; s.nc],
            force: vec![0.0; s.nv],
        });
        check_finite(eq)?;
        fill_inverse_masses(s, eq, &mut work.inverse_masses);
        let (omega, zeta) = (self.frequency, self.damping);
        for row in &s.rows {
            for i in row.start..row.start + row.size {
                let bad = |quantity| SolveError::NotFinite { quantity, index: i };
                let has_position = i < row.start + row.holonomic;
                let (phi, phidot) = (if has_position { eq.phi[i] } else { 0.0 }, eq.phidot[i]);
                if !phi.is_finite() {
                    return Err(bad("phi"));
                }
                if !phidot.is_finite() {
                    return Err(bad("phidot"));
                }
                let rate = if has_position { 2.0 * zeta * omega } else { omega };
                let inverse = work.inverse_masses[i];
                // a row that moves nothing has no mass to hold
                out.lambda[i] =
                    if inverse > 0.0 { (omega * omega * phi + rate * phidot) / inverse } else { 0.0 };
            }
        }
        work.force.fill(0.0);
        eq.add_Jt_mul(s, &out.lambda, &mut work.force);
        work.force.iter_mut().zip(&eq.f).for_each(|(x, f)| *x = f - *x);
        inverse_mass_mul(s, eq, &work.force, &mut out.vdot);
        // M v̇ + Jᵀλ = f as it stands; the other equation is not one of this method
        (out.residual, out.refinements) = (0.0, 0);
        match out.vdot.iter().position(|x| !x.is_finite()) {
            None => Ok(()),
            Some(index) => Err(SolveError::NotFinite { quantity: "vdot", index }),
        }
    }
}
