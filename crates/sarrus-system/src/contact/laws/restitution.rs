//! The restitution that damping in proportion to the elastic force delivers.
//!
//! With u = δ̇/v, m δ̈ = -K δⁿ (1 + χ u) gives u du/(1 + χ u) = -K δⁿ dδ/(m v²). Over an impact the right-hand side integrates to
//! nothing, whatever K, m and n are, so that with u from 1 to -e
//!
//! ```text
//! χ (1 + e) = ln((1 + χ)/(1 - χ e))
//! ```
//!
//! which is solved for e, or for χ. The force never pulls, as χ e < 1.

/// Iterations that halve an interval down to the last bit, and some more.
const HALVINGS: u32 = 200;

/// χ (1 + e) - ln((1 + χ)/(1 - χ e)), free of cancellation for small χ: positive where e is too small.
fn left(chi: f64, e: f64) -> f64 {
    chi * (1.0 + e) - chi.ln_1p() + (-chi * e).ln_1p()
}

/// e that χ delivers.
pub fn delivered(chi: f64) -> f64 {
    if !(chi > 0.0) {
        return 1.0;
    }
    if chi < 1e-4 {
        // e = 1 - 2χ/3 + 4χ²/9 - ..., where the logarithms cancel
        return 1.0 - chi * (2.0 / 3.0 - chi * (4.0 / 9.0));
    }
    bisect(0.0, (1.0 / chi).min(1.0), |e| left(chi, e) > 0.0)
}

/// χ that delivers e, 0 < e ≤ 1.
pub fn needed(e: f64) -> f64 {
    if e >= 1.0 {
        return 0.0;
    }
    // χ e < 1
    bisect(0.0, 1.0 / e, |chi| delivered(chi) > e)
}

/// Determines where `holds` ends between two numbers.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// χ of Hunt and Crossley.
pub fn hunt_crossley(e: f64) -> f64 {
    1.5 * (1.0 - e)
}

/// χ of Lankarani and Nikravesh.
pub fn lankarani_nikravesh(e: f64) -> f64 {
    0.75 * (1.0 - e * e)
}

/// χ of Flores and others.
pub fn flores(e: f64) -> f64 {
    1.6 * (1.0 - e) / e
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values to ten digits from the phase-plane integral by quadrature, made apart from this code.
    #[test]
    fn laws_deliver_what_the_phase_plane_says() {
        let table = [
            (0.9, 0.9090157413, 0.9131766778, 0.8939206927),
            (0.7, 0.7679997891, 0.7959725954, 0.6831841997),
            (0.5, 0.6629622, 0.725241114, 0.4704447793),
            (0.3, 0.5812880418, 0.6842246057, 0.2562079067),
            (0.1, 0.5158326164, 0.6652654068, 0.06944422515),
        ];
        for (e, hunt, lankarani, flores_) in table {
            let laws = [hunt_crossley(e), lankarani_nikravesh(e), flores(e)];
            for (chi, out) in laws.into_iter().zip([hunt, lankarani, flores_]) {
                assert!((delivered(chi) - out).abs() < 1e-10, "{e} {chi}: {}", delivered(chi));
            }
        }
    }

    #[test]
    fn the_damping_that_delivers_a_restitution_does() {
        for e in [0.01, 0.1, 0.5, 0.9, 0.999, 0.999999, 1.0] {
            assert!((delivered(needed(e)) - e).abs() < 1e-9, "{e}: {}", delivered(needed(e)));
        }
    }

    /// Where the series takes over nothing jumps: its error there is of order χ³, that of the logarithms of order 1e-16/χ.
    #[test]
    fn small_damping_goes_over_smoothly() {
        let (below, above) = (delivered(1e-4 - 1e-13), delivered(1e-4 + 1e-13));
        assert!((below - above).abs() < 1e-11, "{below} {above}");
    }
}
