//! Impacts: impulses at all points that are closed, at once.
//!
//! M (v⁺ - v⁻) = Jᵀμ + Nᵀκ with J v⁺ = J v⁻, so that u⁺ = u⁻ + W κ. With κ_n ≥ 0 and Coulomb's law for κ_t and u_t⁺
//! ([`sarrus_solve::complementarity`]):
//!
//! ```text
//! newton    0 ≤ κ_n ⊥ u_n⁺ + e u_n⁻ ≥ 0                                   where it approached, e = 0 elsewhere
//! poisson   compression  0 ≤ κ_n ⊥ u_n ≥ 0;  then e κ comes back, and what is left is 0 ≤ κ' ⊥ u_n⁺ ≥ 0
//! ```
//!
//! Several points at once are one problem: balls of a cradle that touch share an impact as it follows from that, which is not
//! what a real cradle does (there the impulses run through it one after the other: leave small gaps). In the expansion of Poisson's rule
//! friction returns as the normal impulse does, by e.
//!
//! **Energy.** ΔT = ½κᵀ(u⁺ + u⁻) beside the work of drivers and of gaps that the time moves ([`Instant::work`]). Either rule can make energy where friction and several points meet; then the other is tried, and
//! if that does too, the largest part of the way from the plastic impact (e = 0, which never makes any) to it that keeps the energy.

use super::instant::ContactInstant;
use sarrus_solve::complementarity::{ContactPoint, Contacts, NoSolution, Solution};
use sarrus_system::contact::rigid::ImpactRule;

/// Energy that is rounding, relative.
const ROUNDING: f64 = 1e-12;

/// Holds what an impact does.
pub(super) struct Impact {
    /// κ.
    pub kappa: Vec<f64>,
    /// u⁺.
    pub after: Vec<f64>,
    /// True if no other κ does the same.
    pub is_unique: bool,
    /// True if u⁺ is the same for all that do.
    pub is_motion_unique: bool,
    /// True if the rule would have made energy.
    pub corrected: bool,
}

/// Solves an impact: `e` and `rule` by point, of points with friction `places`, at velocities `before`.
pub(super) fn solve(
    at: &ContactInstant,
    points: &[ContactPoint],
    e: &[f64],
    rules: &[ImpactRule],
    before: &[f64],
) -> Result<Impact, NoSolution> {
    let plastic = problem(at, points, before)?;
    if e.iter().all(|e| *e == 0.0) {
        return Ok(accept_solution(plastic, before, at, false));
    }
    let poisson = rules.contains(&ImpactRule::Poisson);
    let mut corrected = false;
    for rule in [poisson, !poisson] {
        let found = if rule {
            by_impulses(at, points, e, before, &plastic)
        } else {
            by_velocities(at, points, e, before)
        };
        let Ok((kappa, [is_unique, is_motion_unique])) = found else { continue };
        let after = after(at, before, &kappa);
        if gained(&kappa, before, &after) <= ROUNDING * scale(&kappa, before) {
            return Ok(Impact { kappa, after, is_unique, is_motion_unique, corrected });
        }
        corrected = true;
    }
    // along the line from the plastic one, on which ΔT is a parabola that opens upwards
    let Ok((kappa, [is_unique, is_motion_unique])) = by_impulses(at, points, e, before, &plastic) else {
        return Ok(accept_solution(plastic, before, at, true));
    };
    let mix =
        |s: f64| -> Vec<f64> { plastic.kappa.iter().zip(&kappa).map(|(a, b)| a + s * (b - a)).collect() };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let s = 0.5 * (low + high);
        let kappa = mix(s);
        if gained(&kappa, before, &after(at, before, &kappa)) <= 0.0 { low = s } else { high = s }
    }
    let kappa = mix(low);
    let after = after(at, before, &kappa);
    Ok(Impact { kappa, after, is_unique, is_motion_unique, corrected: true })
}

fn problem(at: &ContactInstant, points: &[ContactPoint], b: &[f64]) -> Result<Solution, NoSolution> {
    Contacts { points, W: &at.W, symmetric: &at.W, b }.solve()
}

fn accept_solution(found: Solution, before: &[f64], at: &ContactInstant, corrected: bool) -> Impact {
    let after = after(at, before, &found.kappa);
    let Solution { kappa, is_unique, is_motion_unique, .. } = found;
    Impact { kappa, after, is_unique, is_motion_unique, corrected }
}

/// κ, and whether it and u⁺ are unique.
type ImpactSolution = (Vec<f64>, [bool; 2]);

/// Newton's rule.
fn by_velocities(
    at: &ContactInstant,
    points: &[ContactPoint],
    e: &[f64],
    before: &[f64],
) -> Result<ImpactSolution, NoSolution> {
    let mut b = before.to_vec();
    at.first.iter().zip(e).for_each(|(&i, e)| b[i] += e * before[i]);
    problem(at, points, &b).map(|found| (found.kappa, [found.is_unique, found.is_motion_unique]))
}

/// Poisson's rule.
fn by_impulses(
    at: &ContactInstant,
    points: &[ContactPoint],
    e: &[f64],
    before: &[f64],
    plastic: &Solution,
) -> Result<ImpactSolution, NoSolution> {
    let mut kappa = plastic.kappa.clone();
    for ((point, &i), e) in points.iter().zip(&at.first).zip(e) {
        kappa[i..=i + point.across].iter_mut().for_each(|k| *k *= 1.0 + e);
    }
    let left = problem(at, points, &after(at, before, &kappa))?;
    kappa.iter_mut().zip(&left.kappa).for_each(|(k, more)| *k += more);
    let unique = [plastic.is_unique && left.is_unique, plastic.is_motion_unique && left.is_motion_unique];
    Ok((kappa, unique))
}

/// u⁺.
fn after(at: &ContactInstant, before: &[f64], kappa: &[f64]) -> Vec<f64> {
    let n = at.len();
    (0..n).map(|i| before[i] + super::instant::dot(&at.W[i * n..(i + 1) * n], kappa)).collect()
}

/// ΔT.
pub(super) fn gained(kappa: &[f64], before: &[f64], after: &[f64]) -> f64 {
    kappa.iter().zip(before.iter().zip(after)).map(|(k, (a, b))| 0.5 * k * (a + b)).sum()
}

fn scale(kappa: &[f64], before: &[f64]) -> f64 {
    kappa.iter().zip(before).map(|(k, u)| (k * u).abs()).sum()
}
