//! The largest stable step, by bisection, for several meanings of stable.

use super::ball::{Ball, nearest};
use super::reference::{CENTRED, ENERGY, OFFSET};
use super::{METHOD, Runs};
use crate::claim::{Claim, PaperError, Verdict};
use crate::runs::Tally;
use crate::table::Table;
use crate::{Effort, runs::largest};

/// Their largest step \[s\].
const THEIRS: f64 = 0.15;
/// Steps are tried from the smallest, each so many times the one before, up to the largest \[s\].
const SMALLEST: f64 = 0.02;
const LARGEST: f64 = 2.0;
const FACTOR: f64 = 1.15;
/// Halvings of the last interval.
const HALVINGS: u32 = 5;

/// What stable is to mean.
#[derive(Clone, Copy)]
struct Stable {
    /// Over this time \[s\].
    t_end: f64,
    /// The energy stays within this fraction of itself; infinite where it is enough not to give up.
    energy: f64,
}

impl Stable {
    fn words(self) -> String {
        match self.energy.is_finite() {
            false => format!("finishes {} s", self.t_end),
            true => format!("energy to {} % over {} s", 100.0 * self.energy, self.t_end),
        }
    }
}

/// Whether `method` is stable in steps of `h`.
fn is_stable(ball: &Ball, energy: f64, method: &str, h: f64, meaning: Stable) -> Result<bool, PaperError> {
    let mut kept = true;
    let ended = ball.roll(method, h, meaning.t_end, &mut |seen| {
        kept = seen.energy.is_finite() && !((seen.energy / energy - 1.0).abs() > meaning.energy);
        kept
    })?;
    Ok(kept && ended.is_none())
}

/// What a search found.
#[derive(Clone, Copy)]
enum Found {
    /// Not even the smallest step is stable.
    None,
    /// The largest step up to which all that were tried are \[s\].
    Step(f64),
    /// Every step is; this was the last \[s\].
    All(f64),
}

impl Found {
    fn words(self) -> String {
        match self {
            Found::None => format!("below {SMALLEST}"),
            Found::Step(h) => format!("{h:.3}"),
            Found::All(h) => format!("above {h:.3}"),
        }
    }

    /// Whether steps of `h` are within it.
    fn includes(self, h: f64) -> bool {
        matches!(self, Found::Step(most) | Found::All(most) if h <= most)
    }
}

fn find(ball: &Ball, energy: f64, method: &str, meaning: Stable) -> Result<Found, PaperError> {
    let stable = |h: f64| is_stable(ball, energy, method, h, meaning);
    let (mut good, mut bad) = (None, SMALLEST);
    while bad <= LARGEST && stable(bad)? {
        good = Some(bad);
        bad *= FACTOR;
    }
    let Some(mut good) = good else { return Ok(Found::None) };
    if bad > LARGEST {
        return Ok(Found::All(good));
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (good + bad);
        if stable(middle)? { good = middle } else { bad = middle }
    }
    Ok(Found::Step(good))
}

/// Bisections, and what their step does to the motion.
pub fn run(runs: &Runs, effort: Effort, tally: &mut Tally) -> Result<(Vec<Claim>, Table), PaperError> {
    let (methods, meanings) = plan(effort);
    let meanings: Vec<Stable> = meanings.iter().map(|&(t_end, energy)| Stable { t_end, energy }).collect();
    let mut columns: Vec<String> = vec!["offset".into(), "method".into()];
    columns.extend(meanings.iter().map(|m| m.words()));
    columns.push("place at 20 s off with 0.15 s [m]".into());
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(
        "Largest stable step [s], by meaning of stable; energy without that of the height of the centre, `rk4` with projection",
        &columns,
    );
    let mut ours = Vec::new();
    for (k, reference) in [(0, &CENTRED), (2, &OFFSET)] {
        let (ball, words) = (&runs.balls[k].0, if k == 0 { "none" } else { "0.15 a" });
        for method in methods {
            let mut row = vec![words.to_string(), method.to_string()];
            for &meaning in &meanings {
                tally.next(&format!("largest step, offset {words}, {method}, {}", meaning.words()))?;
                let h = find(ball, ENERGY[k / 2], method, meaning)?;
                row.push(h.words());
                if *method == METHOD {
                    ours.push((k, meaning, h));
                }
            }
            let (track, ended) = ball.attempt(method, THEIRS, 20.0)?;
            let end = &track[nearest(&track, 20.0)];
            let exact = &reference[4];
            let off = (end.x[0] - exact.x[0]).hypot(end.x[1] - exact.x[1]);
            row.push(ended.map_or(format!("{off:.3}"), |_| format!("gives up at {:.1} s", end.t)));
            table.rows.push(row);
        }
    }
    Ok((claims(&ours, runs)?, table))
}

/// Methods, and meanings of stable (time, energy).
fn plan(effort: Effort) -> (&'static [&'static str], &'static [(f64, f64)]) {
    let all: &[&str] = &[
        METHOD,
        "park1987:iterations=1",
        "park1987:iterations=4",
        "staggered",
        "staggered:form=paper",
        "rk4",
    ];
    match effort {
        Effort::Full => (
            all,
            &[(20.0, f64::INFINITY), (20.0, 1.0), (20.0, 0.1), (20.0, 0.01), (200.0, 1.0), (200.0, 0.1)],
        ),
        Effort::Quick => (&[METHOD, "staggered"], &[(20.0, 1.0), (20.0, 0.1)]),
    }
}

/// How many searches are announced.
pub fn count(effort: Effort) -> usize {
    let (methods, meanings) = plan(effort);
    2 * methods.len() * meanings.len()
}

fn claims(ours: &[(usize, Stable, Found)], runs: &Runs) -> Result<Vec<Claim>, PaperError> {
    let said = |k: usize| {
        let of_ball = ours.iter().filter(|o| o.0 == k);
        of_ball.map(|o| format!("{} s ({})", o.2.words(), o.1.words())).collect::<Vec<_>>().join(", ")
    };
    let holds = |k: usize| {
        let found = ours.iter().find(|o| o.0 == k && o.1.t_end == 20.0 && o.1.energy == 0.1);
        found.is_some_and(|o| o.2.includes(THEIRS))
    };
    let track = runs.balls[0].0.track(METHOD, THEIRS, 20.0)?;
    let fastest = largest(runs.balls[2].1.iter().map(|s| s.w.iter().map(|w| w * w).sum::<f64>().sqrt()));
    let off = (track[nearest(&track, 20.0)].x[0] - CENTRED[4].x[0]).abs();
    Ok(vec![
        Claim::new(
            "stable for steps up to 0.15 s, without offset (section 7)",
            "0.15 s",
            said(0),
            "0.15 s, with energy to 10 % over 20 s",
            holds(0),
            Verdict::Differs,
            "largest steps found by bisection. What stable means is not said: it is in brackets. Radius 1, two iterations",
        ),
        Claim::new(
            "accuracy is maintained up to a step of 0.15 s, without offset (section 7)",
            "maintained",
            format!("after 20 s and {:.1} m the place is off by {off:.2} m", CENTRED[4].x[0]),
            "1 % of the way",
            off < 0.01 * CENTRED[4].x[0],
            Verdict::Differs,
            "two iterations; the error is of second order in the step",
        ),
        Claim::new(
            "a step of 0.15 s with offset (the text does not say whether it is meant too)",
            "0.15 s",
            said(2),
            "0.15 s, with energy to 10 % over 20 s",
            holds(2),
            Verdict::Differs,
            format!(
                "a = 10.9 cm: the weight turns the ball at up to {fastest:.1} rad/s, without offset and with a radius of 1 it is \
                 1.4 rad/s"
            ),
        ),
    ])
}
