//! Claims about iterations, and about rows that become dependent.

use super::iterations::{ALPHA, H, Runs, cell};
use super::reference::LOCK_TIMES;
use super::steps::MOST;
use super::unfold::{Lock, Unfolded};
use crate::claim::{Claim, Verdict};
use crate::runs::largest;

/// Largest error of a lock's time \[s\].
fn late(run: &Unfolded) -> f64 {
    largest(run.locks.iter().zip(LOCK_TIMES).map(|(t, known)| (t - known).abs()))
}

/// Claims about iterations.
pub fn claims(runs: &Runs) -> Vec<Claim> {
    let [baumgarte, staggered] = &runs.paper[0];
    let near = |x: f64, theirs: f64| (x - theirs).abs() <= 0.1 * theirs;
    let ratios: Vec<f64> = runs.paper.iter().map(|[b, s]| b.mean() / s.mean()).collect();
    let failed = baumgarte.failed.unwrap_or(f64::NAN);
    let most = staggered.most_after(0.0);
    vec![
        Claim::new(
            "A: there are settings in which Baumgarte's technique takes about 22 iterations per step at 1e-4 (Fig. 2)",
            22.0,
            baumgarte.mean(),
            "10 %",
            near(baumgarte.mean(), 22.0),
            Verdict::Failed,
            format!(
                "α was fitted to it: by substitution with h = {H} s, α = {ALPHA}/s, β = α². The iteration contracts by αh + (αh)²/4, so \
                 that a free α gives any count from that of the other technique up, and none converges beyond αh = 0.83; Newton's \
                 method takes {:.1} for any α",
                runs.newton[0].mean()
            ),
        ),
        Claim::new(
            "A: in the same setting the staggered technique takes about 4.5 iterations per step (Fig. 2)",
            4.5,
            staggered.mean(),
            "10 %",
            near(staggered.mean(), 4.5),
            Verdict::Failed,
            format!(
                "h and the start of an iteration, the values of the last step, were chosen for it; {:.1} by Newton's method; ε has no \
                 say in it",
                runs.newton[1].mean()
            ),
        ),
        fewer(runs),
        Claim::new(
            "A: in the same setting Baumgarte's technique fails to converge when the links are straight, t ≈ 1.1",
            1.1,
            failed,
            0.01,
            (failed - 1.1).abs() <= 0.01,
            Verdict::Failed,
            format!(
                "chosen for it: the last lock, and that alone, is written as a distance; {} of {} such runs of the table over steps fail then. With \
                 all locks as distances it {}; with locks as angles it {} ({:.1} iterations per step)",
                runs.fail[0],
                runs.fail[1],
                ends(&runs.distance[0]),
                ends(&runs.angle[0]),
                runs.angle[0].mean()
            ),
        ),
        Claim::new(
            "A: in the same setting the staggered technique still converges then, within 30 iterations",
            30.0,
            most,
            "at most",
            passes(staggered) && most <= 30,
            Verdict::Failed,
            format!("most iterations of a step of the run, of {MOST} allowed"),
        ),
        Claim::new(
            "A: the same relative performance at 1e-5 and 1e-6, in the same setting",
            "the same",
            format!("Baumgarte takes {:.1}, {:.1}, {:.1} times as many", ratios[0], ratios[1], ratios[2]),
            "within a factor of 1.5",
            ratios.iter().all(|r| *r <= 1.5 * ratios[0] && *r >= ratios[0] / 1.5),
            Verdict::Failed,
            "Baumgarte's count grows with the logarithm of the accuracy, as a linear iteration's must; the other's hardly",
        ),
        singularity(runs),
        robustness(runs),
        accuracy(runs),
    ]
}

/// "4.5 against 22", where α is not fitted.
fn fewer(runs: &Runs) -> Claim {
    let few = runs.pairs.iter().filter(|[b, s]| s.mean() <= 0.5 * b.mean()).count();
    let n = runs.pairs.len();
    Claim::new(
        "A: the staggered technique takes far fewer iterations than Baumgarte's (conclusion, taken generally)",
        "4.5 against 22",
        format!("at most half as many in {few} of {n} settings"),
        "all",
        few == n,
        Verdict::Differs,
        "locks as angles, substitution and Newton's method, αh = 0, 0.1, 0.3, 0.6: with Newton's method, or a small α, there is \
         nothing between the two; what costs iterations is a large α by substitution",
    )
}

fn accuracy(runs: &Runs) -> Claim {
    let both: Vec<_> = runs.pairs.iter().filter(|pair| pair.iter().all(|r| r.locks.len() == 3)).collect();
    let better = both.iter().filter(|[b, s]| late(s) < late(b)).count();
    let ratios = || both.iter().map(|[b, s]| late(b) / late(s));
    Claim::new(
        "A: the staggered technique is more accurate than Baumgarte's (conclusion, taken generally)",
        "improved accuracy",
        format!(
            "lock times are nearer in {better} of {} settings; Baumgarte's error is {:.1} to {:.1} times that of the other",
            both.len(),
            ratios().fold(f64::INFINITY, f64::min),
            ratios().fold(0.0, f64::max)
        ),
        "all",
        better == both.len(),
        Verdict::Differs,
        "largest error of a lock's time, in the settings above in which both lock three times: both are of second order",
    )
}

fn singularity(runs: &Runs) -> Claim {
    let text = |(lock, rank, condition): &(Lock, usize, f64)| {
        format!("locks as {}: rank {rank} of 9, condition {condition:.0e}", lock.name())
    };
    let ours: Vec<String> = runs.straight.iter().map(text).collect();
    let ranks: Vec<usize> = runs.straight.iter().map(|s| s.1).collect();
    Claim::new(
        "A: rows become dependent and B M⁻¹Bᵀ singular when the links are straight",
        "singular",
        ours.join("; "),
        "ranks 9, 8, 6",
        ranks == [9, 8, 6],
        Verdict::Failed,
        "so it is a matter of how a lock is written: an angle stays independent, a distance across a straight joint says nothing to \
         first order",
    )
}

/// Whether a run locks three times and continues.
fn passes(run: &Unfolded) -> bool {
    run.failed.is_none() && run.locks.len() == 3
}

/// How a run ends.
fn ends(run: &Unfolded) -> String {
    match run.failed {
        Some(t) => format!("fails at {t:.2} s, with {} of 3 locks", run.locks.len()),
        None if passes(run) => "passes".into(),
        None => format!("goes on with {} of 3 locks", run.locks.len()),
    }
}

/// The regularization where every lock is a distance.
fn robustness(runs: &Runs) -> Claim {
    let [baumgarte, staggered] = &runs.short;
    let coarse = &runs.distance[1];
    Claim::new(
        "A: the staggered technique overcomes the singularity (conclusion, taken generally)",
        "overcomes it",
        format!(
            "all locks as distances: at h = 0.001 s it {} ({}), Baumgarte {}, with joints opened by {:.1e} rad; at h = {H} s it {}",
            ends(staggered),
            cell(staggered),
            ends(baumgarte),
            staggered.opened,
            ends(coarse)
        ),
        "all three locks at both steps",
        passes(staggered) && passes(coarse),
        Verdict::Differs,
        "ε bounds λ, but nothing holds a joint at a dead centre: it opens until its row has a direction, and in a long step this is \
         no small change. The simulator recognises the dead centre and adds a row in the angle",
    )
}
