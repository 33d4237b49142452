//! Errors against the references, method by method, and the orders in them.

use super::ball::{Ball, Seen, lambda_at, nearest};
use super::reference::{At, CENTRED, OFFSET};
use super::{METHOD, Runs};
use crate::Effort;
use crate::claim::{Claim, PaperError, Verdict};
use crate::runs::{Tally, largest};
use crate::table::Table;

/// Compared with each other, beside the procedure.
const METHODS: [&str; 6] =
    [METHOD, "park1987:iterations=1", "park1987:iterations=4", "staggered", "staggered:form=paper", "rk4"];
/// What errors are of.
const COLUMNS: [&str; 6] = ["offset", "method", "place", "Euler parameters", "ω", "λ"];

fn methods(effort: Effort) -> &'static [&'static str] {
    match effort {
        Effort::Full => &METHODS,
        Effort::Quick => &METHODS[..2],
    }
}

/// How many runs are announced.
pub fn count(effort: Effort) -> usize {
    2 * methods(effort).len()
}

/// Largest errors at the times of `reference`, each over the largest number of its kind there: place, Euler parameters, ω, λ.
fn errors(track: &[Seen], reference: &[At], until: f64) -> [f64; 4] {
    let size =
        |of: fn(&At) -> &[f64]| largest(reference.iter().flat_map(|at| of(at).iter()).map(|x| x.abs()));
    let sizes = [size(|at| &at.x), size(|at| &at.q), size(|at| &at.w), size(|at| &at.lambda)];
    let apart = |found: &[f64], exact: &[f64]| largest(found.iter().zip(exact).map(|(a, b)| (a - b).abs()));
    let mut worst = [0.0; 4];
    for at in reference.iter().filter(|at| at.t <= until) {
        let i = nearest(track, at.t);
        let seen = &track[i];
        let sign = if (0..4).map(|k| seen.q[k] * at.q[k]).sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
        let now = [
            apart(&seen.x, &at.x),
            apart(&seen.q.map(|q| sign * q), &at.q),
            apart(&seen.w, &at.w),
            apart(&lambda_at(track, i), &at.lambda),
        ];
        worst = std::array::from_fn(|k| largest([worst[k], now[k] / sizes[k]]));
    }
    worst
}

/// Errors up to `until` with steps of `h`, or when the method gives up \[s\].
fn attempt(
    ball: &Ball,
    reference: &[At],
    method: &str,
    h: f64,
    until: f64,
) -> Result<Result<[f64; 4], f64>, PaperError> {
    // one step more than is compared, as λ lies between steps
    Ok(match ball.attempt(method, h, until + h)? {
        (track, None) => Ok(errors(&track, reference, until)),
        (track, Some(_)) => Err(track.last().map_or(0.0, |s| s.t)),
    })
}

/// Orders at 1 and 2 s, errors up to 20 s, and what they say.
pub fn run(runs: &Runs, effort: Effort, tally: &mut Tally) -> Result<(Vec<Claim>, [Table; 2]), PaperError> {
    let mut orders = Table::new(
        "Largest relative errors at 1 and 2 s with steps of 0.004 s, and the order from steps of 0.002 s",
        &COLUMNS,
    );
    let mut all =
        Table::new("Largest relative errors at 1, 2, 5, 10 and 20 s with steps of 0.002 s", &COLUMNS);
    let mut claims = Vec::new();
    for (k, reference) in [(0, &CENTRED), (2, &OFFSET)] {
        let (ball, words) = (&runs.balls[k].0, if k == 0 { "none" } else { "0.15 a" });
        for &method in methods(effort) {
            tally.next(&format!("errors, offset {words}, {method}"))?;
            let at = |h: f64, until: f64| attempt(ball, reference, method, h, until);
            let row = |cells: [String; 4]| [words.into(), method.into()].into_iter().chain(cells).collect();
            let gives_up = |t: f64| std::array::from_fn(|_| format!("gives up at {t:.1} s"));
            let long = at(0.002, 20.0)?;
            all.rows.push(row(match long {
                Ok(errors) => errors.map(|e| format!("{e:.1e}")),
                Err(t) => gives_up(t),
            }));
            let (coarse, fine) = match (at(0.004, 2.0)?, at(0.002, 2.0)?) {
                (Ok(coarse), Ok(fine)) => (coarse, fine),
                (Err(t), _) | (_, Err(t)) => {
                    orders.rows.push(row(gives_up(t)));
                    continue;
                }
            };
            let order: [f64; 4] = std::array::from_fn(|i| (coarse[i] / fine[i]).log2());
            orders.rows.push(row(std::array::from_fn(|i| format!("{:.1e}, {:.1}", coarse[i], order[i]))));
            match method {
                METHOD => claims.push(traced(words, order, long)),
                "park1987:iterations=1" => claims.push(without_iteration(words, order)),
                _ => {}
            }
        }
    }
    Ok((claims, [orders, all]))
}

fn traced(words: &str, order: [f64; 4], long: Result<[f64; 4], f64>) -> Claim {
    let worst = long.map_or(f64::INFINITY, largest);
    Claim::new(
        format!(
            "angular motions, Euler parameters and constraint forces are traced accurately, offset {words} (section 7)"
        ),
        "accurately",
        format!(
            "errors of {worst:.1e} at most over 20 s; orders: place {:.2}, q {:.2}, ω {:.2}, λ {:.2}",
            order[0], order[1], order[2], order[3]
        ),
        "1e-2; order 2, less 0.3",
        worst < 1e-2 && order.iter().all(|o| *o > 1.7),
        Verdict::Failed,
        "with two iterations of (5.7), relative, steps of 0.002 s; orders from steps of 0.004 and 0.002 s over 2 s. An order \
         above 2 is that of a part of the error that is still the larger",
    )
}

fn without_iteration(words: &str, order: [f64; 4]) -> Claim {
    Claim::new(
        format!(
            "without iteration, ω at the middle of a step taken as that at its start (5.8), the order is 1, offset {words}"
        ),
        "-",
        format!("orders: place {:.2}, q {:.2}, ω {:.2}, λ {:.2}", order[0], order[1], order[2], order[3]),
        "order 1 ± 0.2 in q and ω",
        order[1..3].iter().all(|o| (o - 1.0).abs() < 0.2),
        Verdict::Failed,
        "the paper does not say; ω̇ is that of the step before",
    )
}
