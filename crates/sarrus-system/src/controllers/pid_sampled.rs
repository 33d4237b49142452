//! A pid controller in samples, every `period` = T.
//!
//! Backward Euler of the continuous one, with the error e_k at sample k:
//!
//! ```text
//! I_k = I_{k-1} + T e_k,    z_k = (τ z_{k-1} + T e_k)/(τ + T),    out = kp e_k + ki I_k + kd (e_k - z_{k-1})/(τ + T)
//! ```
//!
//! cut off at `limits`; where the cut-off acts and e_k would drive the integral further out, I_k = I_{k-1}. z is the error behind
//! the filter, τ = 0 without `filter`: the derivative is then the difference to the sample before. z starts at the first
//! error, so that it has no derivative. Any error will do, one that reads reactions too.

use super::sampling::SampledLaw;

/// The law; states: the integral of the error, and z where there is a derivative.
pub(super) struct DiscretePid {
    /// Factors of the error, its integral and its derivative.
    pub gains: [f64; 3],
    /// τ \[s\].
    pub filter: f64,
    /// T \[s\].
    pub period: f64,
    /// Lowest and highest output.
    pub limits: [f64; 2],
}

impl SampledLaw for DiscretePid {
    fn sample(&self, read: &[f64], first: bool, states: &mut [f64], outputs: &mut [f64]) {
        let ([kp, ki, kd], [lo, hi]) = (self.gains, self.limits);
        let (error, T, tau) = (read[0], self.period, self.filter);
        let (integral, filtered) = states.split_at_mut(1);
        let mut derivative = 0.0;
        if let [z] = filtered {
            let before = if first { error } else { *z };
            derivative = (error - before) / (tau + T);
            *z = (tau * before + T * error) / (tau + T);
        }
        let demand = |integral: f64| kp * error + ki * integral + kd * derivative;
        let further = integral[0] + T * error;
        let outward = ki * error;
        let held = (demand(further) > hi && outward > 0.0) || (demand(further) < lo && outward < 0.0);
        if !held {
            integral[0] = further;
        }
        outputs[0] = demand(integral[0]).max(lo).min(hi);
    }
}
