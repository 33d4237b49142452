//! Claims about the double pendulum and of the discussion, and what the paper leaves unsaid.

use super::pendulum::{FORMS, H_LONG, Long, Runs, Sample, T_SHORT, path};
use crate::claim::{Claim, Verdict};
use crate::runs::largest;
use sarrus::analysis::Outcome;

/// Joints that are farther apart than this, the hundredth of a bar's length, are those of another mechanism \[m\].
const APART: f64 = 0.01;

/// Claims about the double pendulum.
pub fn claims(runs: &Runs) -> Vec<Claim> {
    let mut claims = vec![
        Claim::new(
            "B: the motion, against the reference",
            "-",
            runs.path_error,
            1e-9,
            runs.path_error <= 1e-9,
            Verdict::Failed,
            "largest error of a mass centre in m at 1 s, dop853 at 1e-12",
        ),
        alike(&runs.path),
    ];
    for order in &runs.orders {
        let last = order.last();
        claims.push(Claim::new(
            format!(
                "B: central differences and mid-point rule are of second order (section IV), form {}",
                order.form
            ),
            2.0,
            format!("{:.2} in q, {:.2} in v, {:.2} in λ", last[0], last[1], last[2]),
            0.15,
            last.iter().all(|x| (x - 2.0).abs() < 0.15),
            Verdict::Failed,
            "between the two smallest steps; λ is the procedure's own",
        ));
    }
    claims.extend(samples(runs));
    claims.extend(energy(runs));
    claims.push(euler_parameters());
    claims
}

/// How alike the traces of the mass centres in plan are, as a correlation.
fn alike(run: &Outcome) -> Claim {
    let [upper, lower] = ["upper", "lower"].map(|body| path(run, body));
    let product = |a: &[Vec<f64>; 3], b: &[Vec<f64>; 3]| -> f64 {
        (0..2).flat_map(|i| a[i].iter().zip(&b[i])).map(|(x, y)| x * y).sum()
    };
    let r = product(&upper, &lower) / (product(&upper, &upper) * product(&lower, &lower)).sqrt();
    Claim::new(
        "B: the two trajectories form a similar pattern (Fig. 4)",
        "similar",
        r,
        "correlation above 0.9",
        r > 0.9,
        Verdict::Differs,
        "correlation of the horizontal positions of both mass centres over 5 s; data and figure are ours, as none are printed",
    )
}

fn find<'a>(runs: &'a Runs, form: &str, samples: usize) -> Option<&'a Sample> {
    runs.samples.iter().find(|s| s.form == form && s.samples == samples)
}

/// What a long run shows: what has become of its joints, and of its energy.
fn fate(long: &Long) -> String {
    let until = long.lost.unwrap_or(f64::INFINITY);
    let apart = largest(long.violation.iter().filter(|v| v.0 <= until).map(|v| v.1));
    match long.lost {
        None => format!("joints stay within {apart:.0e} m"),
        Some(_) if apart > APART => format!(
            "positions had drifted by {apart:.0e} m by then, so that the mechanism was another one: shorter steps put that off"
        ),
        Some(_) => {
            format!("joints were within {apart:.0e} m until then: it is the energy itself that is not kept")
        }
    }
}

/// "More than 20 samples."
fn samples(runs: &Runs) -> Vec<Claim> {
    let at_twenty: Vec<&Sample> = runs.samples.iter().filter(|s| s.samples >= 20).collect();
    let error = largest(at_twenty.iter().map(|s| s.error));
    let lost = at_twenty.iter().filter(|s| s.long.lost.is_some_and(|t| t <= T_SHORT)).count();
    let lost_text =
        if lost == 0 { "none lost".to_string() } else { format!("{lost} of {} lost", at_twenty.len()) };
    let mut claims = vec![Claim::new(
        "B: more than 20 samples per period of the highest frequency yield good accuracy and stability, over 5 s",
        "good",
        format!("mass centres within {error:.1e} m at 5 s, {lost_text}"),
        "0.02 m, the hundredth of the length",
        error <= 0.02 && lost == 0,
        Verdict::Failed,
        format!(
            "of all forms, from 20 samples on; the highest frequency is taken as {:.2} rad/s, that of small swings: the bars turn at \
             {:.2} rad/s at most",
            runs.rates[1], runs.rates[0]
        ),
    )];
    let t = runs.t_long;
    for form in FORMS {
        let of: Vec<&Sample> = at_twenty.iter().copied().filter(|s| s.form == form).collect();
        let lost: Vec<String> = of
            .iter()
            .map(|s| match s.long.lost {
                Some(t) => format!("{} samples: lost at {t:.0} s", s.samples),
                None => format!("{} samples: kept", s.samples),
            })
            .collect();
        let ten = find(runs, form, 10).map(|s| match s.long.lost {
            Some(t) => format!("with 10 samples lost at {t:.0} s; "),
            None => "with 10 samples kept; ".to_string(),
        });
        let first = of.iter().find(|s| s.long.lost.is_some()).or(of.first());
        let why = first.map(|s| format!("with {}: {}", s.samples, fate(&s.long)));
        claims.push(Claim::new(
            format!("B: more than 20 samples yield stability over {t} s, form {form}"),
            "stable",
            lost.join("; "),
            "energy within a tenth of the largest kinetic energy",
            of.iter().all(|s| s.long.lost.is_none()),
            if form == "symmetric" { Verdict::Failed } else { Verdict::Differs },
            ten.into_iter().chain(why).collect::<String>(),
        ));
    }
    claims
}

/// "Both of the integrators conserve the system energy."
fn energy(runs: &Runs) -> Vec<Claim> {
    let tenth = 0.1 * runs.t_long;
    let forms = runs.long.iter().zip(FORMS);
    forms
        .map(|(long, form)| {
            let (early, late) = (long.swing(0.0, tenth), long.swing(runs.t_long - tenth, runs.t_long));
            let keeps = long.lost.is_none() && late <= 2.0 * early;
            Claim::new(
                format!("B: the integrators conserve the energy (section VII), form {form}, h = {H_LONG} s"),
                "conserved",
                match long.lost {
                    Some(t) => format!(
                        "error {early:.1e} J in the first {tenth:.0} s; lost at {t:.0} s, and {}",
                        long.ended.map_or("goes on".into(), |t| format!("ends at {t:.0} s"))
                    ),
                    None => {
                        format!("error {early:.1e} J in the first {tenth:.0} s, {late:.1e} J in the last")
                    }
                },
                "not twice as large at the end as at the beginning",
                keeps,
                if form == "symmetric" { Verdict::Failed } else { Verdict::Differs },
                fate(long),
            )
        })
        .collect()
}

/// | |q| - 1 | after 5 s of steps by eq. 54 without normalizing, with Δ = 1 + h²|ω|²/`divisor`.
fn norm_error(divisor: f64) -> f64 {
    let (h, steps) = (0.01, 500);
    let mut q = [1.0, 0.0, 0.0, 0.0];
    for k in 0..steps {
        // any rates, of the size of the double pendulum's
        let t = h * f64::from(k);
        let w = [3.0 * (2.0 * t).sin(), 2.0 * (3.0 * t).cos(), 1.0];
        let delta = 1.0 + h * h * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) / divisor;
        // eq. 55
        let rate = [
            -0.5 * (w[0] * q[1] + w[1] * q[2] + w[2] * q[3]),
            0.5 * (w[0] * q[0] + w[2] * q[2] - w[1] * q[3]),
            0.5 * (w[1] * q[0] - w[2] * q[1] + w[0] * q[3]),
            0.5 * (w[2] * q[0] + w[1] * q[1] - w[0] * q[2]),
        ];
        for i in 0..4 {
            q[i] = 2.0 * (q[i] + 0.5 * h * rate[i]) / delta - q[i];
        }
    }
    (q.iter().map(|x| x * x).sum::<f64>().sqrt() - 1.0).abs()
}

fn euler_parameters() -> Claim {
    let (printed, right) = (norm_error(4.0), norm_error(16.0));
    Claim::new(
        "B: it is essential to enforce qᵀq = 1 at each step (section VII)",
        "essential",
        format!(
            "|q| wrong by {printed:.1e} after 500 steps with Δ as printed in eq. 54, by {right:.1e} with h²|ω|²/16"
        ),
        "above 1e-6 in both cases",
        printed > 1e-6 && right > 1e-6,
        Verdict::Differs,
        "A holds the factor ½ already, so Δ = 1 + h²|ω|²/16: then the update is a Cayley map, and keeps the length by itself; \
         essential it is with the Δ that is printed",
    )
}

/// What the paper leaves unsaid.
pub fn unsaid() -> Vec<String> {
    [
        "No data of examples A and B is printed: links of 1 m and 1 kg folded at 80 degrees, springs of 1 N m/rad slack when folded and \
         18.5 N on the tip, chosen so that the last lock falls at 1.1 s; cylinders of 1 m, 1 kg and radius 0.05 m at 45 degrees, \
         turning at 1 rad/s about the vertical.",
        "How a lock is written and when it acts is not said. Here it acts when its joint is straight, with a plastic impact; as a row \
         in the angle, or as the distance across the joint. Only the latter becomes dependent, and all of the paper's findings about \
         straight links hang on it.",
        "Step, α, β and ε are not given, nor where an iteration begins, what its accuracy is measured by, or which Newton-type method \
         it is. Here: relative change of q and λ in an iteration, each against its largest.",
        "Fig. 2's caption says accuracy 1e-6, the text 1e-4: as α is free, 22 iterations can be had at either (see the table).",
        "The setting in which the paper's numbers appear was searched for: steps of 1 to 80 ms, αh from 0 to 0.8 with β = α², ε from \
         1e-8 to 1e-2, two starts of an iteration, substitution and Newton's method, three ways to write the locks. It shows that \
         they are possible, not that the paper's setting was this one.",
        "Eqs. 25, 27, 33, 41, 50, 54 and 56 cannot be used as printed (missing terms, signs, mixed instants): the corrected \
         forms are described in `steps.rs` and in the header of the integrator.",
        "Which frequency is the highest is not said: that of small swings is taken.",
        "That modules can be replaced (section VII) is shown by tests of the integrator: `a_module_can_be_replaced` and \
         `a_controller_between_the_modules_acts_on_the_multipliers_at_second_order`.",
    ]
    .iter()
    .map(|s| s.to_string())
    .collect()
}

#[cfg(test)]
mod tests {
    use super::norm_error;

    /// 2/Δ (I + hA/2) - I is orthogonal if and only if Δ = 1 + h²|ω|²/16.
    #[test]
    fn euler_parameters_keep_their_length_with_the_right_divisor_only() {
        assert!(norm_error(16.0) < 1e-13);
        assert!(norm_error(4.0) > 1e-3 && norm_error(8.0) > 1e-4);
    }
}
