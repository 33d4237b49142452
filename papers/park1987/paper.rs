//! Park and Chiou (1987): a nonlinearly implicit procedure for large rotations, on a ball that rolls along y = sin x.
//!
//! The procedure is the integrator `park1987`, with the print corrected in its description. The paper's figures have no numbers,
//! and two of the numbers in its text contradict its data: what is compared is said claim by claim.

#[path = "ball.rs"]
mod ball;
#[path = "errors.rs"]
mod errors;
#[path = "figures.rs"]
mod figures;
#[path = "motion.rs"]
mod motion;
#[path = "reference.rs"]
mod reference;
#[path = "stability.rs"]
mod stability;

use crate::claim::{PaperError, Reproduction};
use crate::runs::Tally;
use crate::{Effort, Paper, Progress};
use ball::{Ball, Seen};

pub const PAPER: Paper = Paper {
    name: "park1987",
    title: "K. C. Park, J. C. Chiou (1987): A computational procedure for large rotational motions in multibody dynamics",
    scope: "the ball of section 7 with and without offset: figures 2-11, orders, largest stable step",
    run: reproduce,
};

/// The procedure with the two iterations that make it one of second order.
const METHOD: &str = "park1987";
/// Radii and offsets that could be meant \[m\]: radius 1 without offset, the radius of Table 1 without, with that of the text,
/// with that of Table 1, and radius 1 with that of the text.
const BALLS: [(f64, f64); 5] =
    [(1.0, 0.0), (0.109, 0.0), (0.109, 0.15 * 0.109), (0.109, 0.0015), (1.0, 0.15)];
/// Steps in a period without offset.
const STEPS_A_PERIOD: usize = 1000;

/// Everything that was run for figures.
struct Runs {
    /// Steps of 0.005 s to 20 s, in the order of [`BALLS`].
    balls: Vec<(Ball, Vec<Seen>)>,
    /// The first in steps of 0.01 s.
    coarse: Vec<Seen>,
    /// The first in steps that make up a period.
    periodic: Vec<Seen>,
    /// The third to 60 s.
    long: Vec<Seen>,
}

fn reproduce(effort: Effort, progress: &mut dyn Progress) -> Result<Reproduction, PaperError> {
    let total = BALLS.len() + 3 + errors::count(effort) + stability::count(effort);
    let mut tally = Tally { done: 0, total, progress };
    let mut balls = Vec::new();
    for (a, r0) in BALLS {
        let ball = Ball::new(a, r0)?;
        tally.next(&format!("radius {a} m, offset {r0} m"))?;
        let track = ball.track(METHOD, 0.005, 20.0)?;
        balls.push((ball, track));
    }
    tally.next("speed with coarse steps")?;
    let coarse = balls[0].0.track(METHOD, 0.01, 20.0)?;
    tally.next("periods")?;
    let h = reference::PERIOD / STEPS_A_PERIOD as f64;
    let periodic = balls[0].0.track(METHOD, h, 3.5 * reference::PERIOD)?;
    tally.next("60 s")?;
    let long = balls[2].0.track(METHOD, 0.005, 60.0)?;
    let runs = Runs { balls, coarse, periodic, long };
    let (mut claims, speeds) = motion::speeds(&runs);
    claims.extend(motion::periods(&runs));
    let (traced, [orders, errors]) = errors::run(&runs, effort, &mut tally)?;
    claims.extend(traced);
    claims.extend(motion::kept(&runs));
    let (steps, stable) = stability::run(&runs, effort, &mut tally)?;
    claims.extend(steps);
    Ok(Reproduction {
        name: PAPER.name.into(),
        title: PAPER.title.into(),
        claims,
        unsaid: unsaid(),
        tables: vec![speeds, orders, errors, stable],
        figures: figures::all(&runs),
    })
}

fn unsaid() -> Vec<String> {
    [
        "Figures 2-11 are named but not in our copy of the report: nothing can be compared with a curve.",
        "Table 1 gives 71.32 N for the mass: taken as a weight, 7.27 kg with 9.81 m/s².",
        "Table 1 gives an offset of 0.15 cm, the text 0.15 a: 0.15 a is taken, and both are in the table of speeds.",
        "The moments of inertia are taken about the centre, and the centre of mass is on top at the start: M and f of (7.2), (7.5).",
        "The start's velocity is printed with the wrong sign: rolling gives ẋ = a ω2, so +a in x and y.",
        "Which radius figures 2-8 have: 1, as only that gives the 1.2 units/s of the text; figures 9-11 that of Table 1.",
        "Over which time means were taken: 20 s is taken.",
        "What stable means, and how often a step is iterated: see the table of steps.",
        "In the tables the two-stage form of [Park1990] stands beside the procedure, as `staggered:form=paper`: on the ball its \
         two chains come apart by some e each second, whatever the step, and it is lost after 4 to 18 s.",
        "(5.7b) and (5.10) need A(ω̇) on the right, (7.3) the other sign, (6.4) the velocity at n - 1/2; f = 0 in (7.7) \
         contradicts (7.5). Translations take the mid-point rule in place of (6.4), so that forces know all velocities at \
         one instant.",
    ]
    .iter()
    .map(|s| s.to_string())
    .collect()
}
