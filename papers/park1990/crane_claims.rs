//! Claims about the crane, and what the paper leaves unsaid of it.

use super::crane::{Motion, Run, Runs, Way};
use super::crane_tables::{LEAST, disagreement, peaks};
use super::reference::{CRANE_FLEXIBLE, CRANE_FREQUENCIES, CRANE_PLACES, CRANE_RIGID};
use crate::claim::{Claim, Verdict};
use crate::runs::largest;
use std::f64::consts::TAU;

/// Torques of rigid links by whatever way are the same to this \[N m\].
const SAME: f64 = 1e-8;
/// Steps up to this are compared \[s\].
const FINE: f64 = 1e-4;
/// Methods agree if torques are within this fraction of the largest, in the mean square over 3 s. Methods of second order bring a vibration
/// out of phase by ωt (ωh)²/12: 0.4 rad for the one of 561 rad/s and 0.12 N m, and less for slower or weaker ones.
const AGREE: f64 = 0.03;

/// Largest difference to values at some instants \[N m\].
fn error(motion: &Motion, known: &[(f64, [f64; 3])]) -> f64 {
    let end = motion.t.last().copied().unwrap_or_default() + 1e-9;
    largest(known.iter().filter(|(t, _)| *t <= end).map(|(t, torques)| {
        let Some(k) = motion.t.iter().position(|x| (x - t).abs() < 1e-9) else { return f64::NAN };
        largest((0..3).map(|joint| (motion.torques[joint][k] - torques[joint]).abs()))
    }))
}

/// Largest difference over all joints \[N m\].
fn off(a: &Motion, b: &Motion) -> f64 {
    largest((0..3).map(|joint| a.off(b, joint)))
}

/// Claims about it.
pub fn claims(runs: &Runs) -> Vec<Claim> {
    let mut claims = rigid(runs);
    claims.extend(flexible(runs));
    claims.extend([path(runs), velocity(runs)]);
    claims.extend(torques_by_pulse(runs));
    claims.extend([vibrations(runs), methods_agree(runs)]);
    claims
}

/// Torques of rigid links.
fn rigid(runs: &Runs) -> Vec<Claim> {
    let known = error(&runs.inverse, &CRANE_RIGID);
    let motors = largest((0..3).flat_map(|joint| {
        let (ours, theirs) = (&runs.inverse.torques[joint], &runs.motors[joint]);
        runs.inverse.samples().map(move |k| (ours[k] - theirs[k]).abs())
    }));
    let mut claims = vec![
        Claim::new(
            "C: torques of rigid links, against the reference",
            "-",
            known,
            SAME,
            known <= SAME,
            Verdict::Failed,
            "largest error in N m at up to five instants, `sarrus inverse` with the tip driven",
        ),
        Claim::new(
            "C: the moments of the tip's multipliers are the torques of the joints (rigid)",
            "the torques are found from the multipliers",
            motors,
            SAME,
            motors <= SAME,
            Verdict::Failed,
            "largest difference in N m to the motors of a second model, whose joints are driven and whose tip is free: `sarrus inverse` both times",
        ),
    ];
    for run in &runs.rigid {
        let difference = off(&run.motion, &runs.inverse);
        claims.push(Claim::new(
            format!("C: torques of rigid links in motion equal inverse dynamics, {}", run.way.name()),
            "-",
            difference,
            SAME,
            difference <= SAME,
            Verdict::Failed,
            format!(
                "largest difference in N m; places of the joints wrong by {:.0e} m: rows of velocities leave positions to the \
                 integrator",
                run.motion.apart(&runs.inverse)
            ),
        ));
    }
    claims
}

/// The flexible crane against its references.
fn flexible(runs: &Runs) -> Vec<Claim> {
    let tight = &runs.flexible[0];
    let torques = error(&tight.motion, &CRANE_FLEXIBLE);
    let at = tight.motion.t.iter().position(|t| (t - 0.5).abs() < 1e-9);
    let places = at.map_or(f64::NAN, |k| {
        largest((0..2).map(|joint| {
            let [p, known] = [tight.motion.places[joint][k], CRANE_PLACES[joint]];
            f64::hypot(p[0] - known[0], p[1] - known[1])
        }))
    });
    let natural = largest(CRANE_FREQUENCIES.iter().zip(&runs.natural[0]).map(|(a, b)| (a - b).abs() / a));
    vec![
        Claim::new(
            "C: torques of flexible links, against the reference",
            "-",
            torques,
            1e-6,
            torques <= 1e-6 && places <= 1e-7,
            Verdict::Failed,
            format!(
                "largest error in N m at up to six instants, {}; elbow and wrist within {places:.0e} m at 0.5 s",
                tight.way.name()
            ),
        ),
        Claim::new(
            "C: natural frequencies at the start, against the reference",
            "-",
            natural,
            1e-8,
            natural <= 1e-8,
            Verdict::Failed,
            "largest relative error of the lowest eight, `sarrus modes`",
        ),
    ]
}

/// "There exists little difference in the two trajectories."
fn path(runs: &Runs) -> Claim {
    let apart = runs.flexible[0].motion.apart(&runs.inverse);
    let k = 2;
    let tip = largest(
        runs.flexible[0].motion.places[k]
            .iter()
            .zip(&runs.inverse.places[k])
            .map(|(a, b)| f64::hypot(a[0] - b[0], a[1] - b[1])),
    );
    Claim::new(
        "C: there is little difference between the trajectories of rigid and flexible members (Fig. 5)",
        "little",
        format!("joints within {apart:.1e} m, the tip within {tip:.0e} m"),
        "a hundredth of the path, 0.008 m",
        apart <= 0.008,
        Verdict::Differs,
        "largest distance of elbow, wrist and tip between rigid and flexible; the tip is led and cannot differ",
    )
}

/// Figure 6.
fn velocity(runs: &Runs) -> Claim {
    let due = |t: f64| {
        if t < 2.0 { 0.2 * std::f64::consts::PI * (0.5 * std::f64::consts::PI * t).sin() } else { 0.0 }
    };
    let off = |motion: &Motion| {
        largest(
            motion
                .t
                .iter()
                .zip(&motion.velocity)
                .map(|(&t, v)| f64::hypot(v[0] - 0.6 * due(t), v[1] + 0.8 * due(t))),
        )
    };
    let worst = largest(runs.flexible.iter().map(|run| off(&run.motion)));
    Claim::new(
        "C: the tip has the velocity that is specified (Fig. 6)",
        "yes",
        worst,
        1e-6,
        worst <= 1e-6,
        Verdict::Failed,
        "largest difference in m/s, over all methods, flexible",
    )
}

/// "Significant differences in the open-loop joint torques", with the pulse of the tip's speed that they belong to.
fn torques(pulse: &str, soft: &Motion, rigid: &Motion, otherwise: Verdict, why: &str) -> Claim {
    let percent = |x: [f64; 3]| x.map(|x| format!("{:.0} %", 100.0 * x)).join(", ");
    let peaks = [0, 1, 2].map(|j| (soft.most(j) / rigid.most(j) - 1.0).abs());
    let shares = [0, 1, 2].map(|j| soft.off(rigid, j) / rigid.most(j));
    let mean = [0, 1, 2].map(|j| soft.off_rms(rigid, j) / rigid.most(j));
    let most = |motion: &Motion| [0, 1, 2].map(|j| format!("{:.2}", motion.most(j))).join(", ");
    Claim::new(
        format!(
            "C: there are significant differences in the open-loop joint torques (Figs. 7 and 8), {pulse} pulse"
        ),
        "significant",
        format!("largest torques differ by {}", percent(peaks)),
        "above 10 % at each joint",
        peaks.iter().all(|x| *x > 0.1),
        otherwise,
        format!(
            "at shoulder, elbow and wrist: {} N m flexible, {} N m rigid. At one instant torques differ by up to {} of the \
             largest rigid torque, in the mean square by {}. {why}",
            most(soft),
            most(rigid),
            percent(shares),
            percent(mean),
        ),
    )
}

/// The half-sine pulse of the models, and the same path by a 1 - cos pulse.
fn torques_by_pulse(runs: &Runs) -> [Claim; 2] {
    [
        torques(
            "half-sine",
            &runs.flexible[0].motion,
            &runs.inverse,
            Verdict::Failed,
            "The acceleration jumps at the start and at the stop and excites all vibrations; the paper does not print its pulse",
        ),
        torques(
            "1 - cos",
            &runs.smooth[0],
            &runs.smooth[1],
            Verdict::Differs,
            "The acceleration is continuous and excites little: whether flexible members need other torques is decided by the pulse",
        ),
    ]
}

/// What the difference of the torques is.
fn vibrations(runs: &Runs) -> Claim {
    let found = peaks(runs);
    let line = TAU / runs.record;
    let away = largest(found.iter().map(|(_, omega, _, mode)| (omega - runs.natural[1][*mode]).abs()));
    let mut heard: Vec<usize> = found.iter().map(|p| p.3).collect();
    heard.sort_unstable();
    heard.dedup();
    Claim::new(
        "C: the difference is vibration of the arms (for the design of controllers for vibration suppression)",
        "vibration",
        format!(
            "{} peaks at {} natural frequencies, none farther off than {away:.2} rad/s",
            found.len(),
            heard.len()
        ),
        format!(
            "a quarter of what the record resolves, {:.2} rad/s; three frequencies at least",
            0.25 * line
        ),
        away <= 0.25 * line && heard.len() >= 3,
        Verdict::Failed,
        format!(
            "peaks in the spectra of the torques' difference over {} s after the stop, where rigid links need none, above {} of the \
             highest, against `sarrus modes` with the arms where they end",
            runs.record, LEAST
        ),
    )
}

/// Which methods give the same.
fn methods_agree(runs: &Runs) -> Claim {
    let fine = |run: &&Run| match run.way {
        Way::Step(_, h) => h <= FINE,
        Way::Tolerance(..) => true,
    };
    let fine: Vec<&Run> = runs.flexible[1..].iter().filter(fine).collect();
    let worst = largest(fine.iter().map(|run| disagreement(runs, run)));
    let names: Vec<String> = fine.iter().map(|run| run.way.name()).collect();
    Claim::new(
        "C: staggered and simultaneous procedures give the same torques of flexible links",
        "-",
        worst,
        AGREE,
        worst <= AGREE,
        Verdict::Failed,
        format!(
            "root of the mean square of the difference to {}, of the largest torque of the joint, at most: {}; with longer steps fast \
             vibrations come out of phase, and the table says by how much",
            runs.flexible[0].way.name(),
            names.join("; ")
        ),
    )
}

/// What the paper leaves unsaid of it.
pub fn unsaid() -> Vec<String> {
    [
        "No data or equations of example C are printed, and the figures have no numbers that could be read: three links of 1 m, 1 kg, EI \
         = 50 N m², at 100, 20 and -40 degrees, whose tip is led 0.8 m in 2 s, are our own. The plane is taken, though the joints are \
         said to be spherical.",
        "What a joint torque is where the tip is led and the joints are free is not said: here the moment of the tip's multipliers about \
         the joint, which for rigid links is what a motor there would need.",
        "The pulse of the tip's speed is not printed. Half a sine begins and ends with a jump of the acceleration, which excites all \
         vibrations; nothing damps them. A 1 - cos pulse is run beside it.",
    ]
    .iter()
    .map(|s| s.to_string())
    .collect()
}
