//! What the paper says of its rows, and what its print says otherwise.

use super::exact::{FOLDED, Motion, worst};
use super::printed::Row;
use super::{ALPHA, BETA, Run, said};
use crate::claim::{Claim, Verdict};

/// Runs with these rows.
fn with(runs: &[Run], row: Row, baumgarte: bool) -> impl Iterator<Item = &Run> {
    runs.iter().filter(move |r| r.is(row, baumgarte))
}

/// The one in steps of `h` in which no step is made to end near the fold.
fn free<'a>(runs: &'a [Run], row: Row, baumgarte: bool, start: &str, h: f64) -> &'a [Motion] {
    let found = with(runs, row, baumgarte).find(|r| r.start == start && r.h == h && r.landing.is_none());
    found.map_or(&[], |r| &r.track)
}

/// Least and largest error of the torques in runs that are not lost \[N m\], how many are, and how many there are.
fn spread<'a>(runs: impl Iterator<Item = &'a Run>) -> (f64, f64, usize, usize) {
    let mut all = (f64::INFINITY, 0.0_f64, 0, 0);
    for run in runs {
        all.3 += 1;
        match run.lost() {
            Some(_) => all.2 += 1,
            None => {
                let error = worst(&run.track).0;
                (all.0, all.1) = (all.0.min(error), all.1.max(error));
            }
        }
    }
    all
}

/// Figures 2-7.
pub fn of_rows(runs: &[Run]) -> Vec<Claim> {
    let landed = with(runs, Row::Kept, false).filter(|r| r.start == "exact" && r.landing == Some(0.0));
    let on_fold = landed.flat_map(|r| r.track.iter()).filter(|m| m.t == FOLDED).map(Motion::error);
    let on_fold = on_fold.fold(0.0, f64::max);
    let forced = with(runs, Row::Kept, false).filter(|r| r.landing.is_some()).count();
    let kept = |start, h| said(free(runs, Row::Kept, false, start, h));
    let (least, most, gone, all) = spread(with(runs, Row::Kept, false));
    let (smooth_least, smooth, smooth_gone, smooth_all) = spread(with(runs, Row::Modified, false));
    let (_, damped, damped_gone, _) = spread(with(runs, Row::Kept, true));
    let (both_least, both, both_gone, _) = spread(with(runs, Row::Modified, true));
    let slip = |row, baumgarte, start, h| worst(free(runs, row, baumgarte, start, h)).1;
    let (coarse_kept, coarse) =
        (slip(Row::Kept, false, "exact", 1e-2), slip(Row::Modified, false, "exact", 1e-2));
    let (fine_kept, fine) =
        (slip(Row::Kept, false, "exact", 1e-3), slip(Row::Modified, false, "exact", 1e-3));
    let end = |track: &[Motion]| track.last().map_or(f64::NAN, Motion::slip);
    let rescued = free(runs, Row::Kept, true, "printed", 1e-2);
    let jump = worst(rescued).0;
    vec![
        Claim::new(
            "with B unchanged the torques jump at the singular position (figures 2, 3)",
            "jumps",
            format!(
                "error of the torques [N m], steps of 0.01 s: exact start {}, printed start {}; of {all} runs, \
                 {forced} of them with a step made to end on the fold or up to 1e-4 s after it, {gone} are lost, the \
                 others off by {least:.1e} to {most:.1e}; where a step ends on the fold, {on_fold:.1e} at that end (exact start)",
                kept("exact", 1e-2),
                kept("printed", 1e-2)
            ),
            "1 N m with steps of 0.01 s",
            worst(free(runs, Row::Kept, false, "exact", 1e-2)).0 > 1.0 && gone > 0,
            Verdict::Failed,
            "the first row is divided by the distance to the fold: the error of a step, and the rounding of the printed start, are \
             multiplied by 1/x, and by as much as one likes when a step ends on the fold; the run is then lost for good",
        ),
        Claim::new(
            "with the modified rows the torques are smooth (figures 2, 3)",
            "smooth",
            format!(
                "off by {smooth_least:.1e} to {smooth:.1e} N m; {smooth_gone} of {smooth_all} runs lost, steps that end on the fold \
                 and beside it included"
            ),
            "1e-2 N m in every run",
            smooth < 1e-2 && smooth_gone == 0,
            Verdict::Failed,
            "no peaks; but where the rows are exchanged the torques step by about this much, whatever the step of the integrator",
        ),
        Claim::new(
            "with B unchanged the error of the velocity constraint has large peaks (figure 4)",
            "large peaks",
            format!(
                "steps of 0.01 s, exact start: {coarse_kept:.1e} % against {coarse:.1e} % with the modified rows; printed start: {}",
                kept("printed", 1e-2)
            ),
            "10 times as much",
            coarse_kept > 10.0 * coarse,
            Verdict::Failed,
            "what a wrong acceleration does to the velocity in the step over the fold stays in it afterwards",
        ),
        Claim::new(
            "the modified rows lessen the error of the velocity constraint (figure 4), taken generally",
            "less",
            format!(
                "steps of 0.001 s, exact start: {fine_kept:.1e} % with B unchanged, {fine:.1e} % with the modified rows"
            ),
            "less than with B unchanged",
            fine < fine_kept,
            Verdict::Differs,
            "B ÿ is left out of (77), so the tip leaves its line a little whatever the step; B unchanged keeps to it unless a step \
             or the rounding of the start comes near 1/x",
        ),
        Claim::new(
            "Baumgarte's terms do not take the jumps away (figures 5, 6)",
            "jumps",
            format!(
                "steps of 0.01 s: exact start {}, printed start {jump:.1e} N m; of {all} runs {damped_gone} are lost, the others off by \
                 at most {damped:.1e}",
                said(free(runs, Row::Kept, true, "exact", 1e-2)),
            ),
            "1 N m with steps of 0.01 s",
            jump > 1.0 && damped_gone > 0,
            Verdict::Failed,
            "they stand on the right-hand side, which is divided by the same x",
        ),
        Claim::new(
            "at the singular position Baumgarte's terms provide no stability at all (section 4.1, figure 7)",
            "none",
            format!(
                "runs that are lost: {damped_gone} of {all} with, {gone} without; printed start, steps of 0.01 s: passes, and the \
                 velocity is off by {:.1e} % at the end",
                end(rescued)
            ),
            "as many lost with as without",
            damped_gone >= gone,
            Verdict::Differs,
            "before the fold they make the violation smaller that 1/x then multiplies, and after it they take away what is left: \
             enough where no step comes too near",
        ),
        Claim::new(
            "what the modified rows provide is not altered by Baumgarte's terms (figures 5-7)",
            "not altered",
            format!(
                "off by {both_least:.1e} to {both:.1e} N m with them, {smooth_least:.1e} to {smooth:.1e} without; {both_gone} lost; \
                 velocity at the end {:.1e} % with, {:.1e} % without (0.001 s, exact start)",
                end(free(runs, Row::Modified, true, "exact", 1e-3)),
                end(free(runs, Row::Modified, false, "exact", 1e-3))
            ),
            "1e-2 N m in every run",
            both < 1e-2 && both_gone == 0,
            Verdict::Failed,
            "with α ḧ + β ḣ, as (41) has it; they bring the tip back onto its line after the fold",
        ),
    ]
}

/// The real part of the pair of roots of s³ + α s + β \[1/s\]: the three roots add up to zero and one is negative.
fn growth(alpha: f64, beta: f64) -> f64 {
    let (mut low, mut high) = (-(1.0 + alpha.max(beta)), 0.0_f64);
    for _ in 0..100 {
        let s = 0.5 * (low + high);
        if s * (s * s + alpha) + beta < 0.0 { low = s } else { high = s }
    }
    -0.5 * high
}

/// Misprints that change results.
pub fn of_print(runs: &[Run]) -> Vec<Claim> {
    let of = |row, baumgarte| spread(with(runs, row, baumgarte));
    let (_, right, _, _) = of(Row::Modified, false);
    let (cube, most_cube, _, _) = of(Row::Cube, false);
    let (two, most_two, _, _) = of(Row::Two, false);
    let (levels, most_levels, _, _) = of(Row::Levels, true);
    let grows = growth(ALPHA, BETA);
    vec![
        Claim::new(
            "(77) as printed, with the cube of y1 - y2",
            "smooth",
            format!("off by {cube:.1e} to {most_cube:.1e} N m"),
            "1e-2 N m",
            most_cube < 1e-2,
            Verdict::Differs,
            format!(
                "a misprint: the derivative of (73) has the cube of y1 + y2, as (78) does; with that {right:.1e} N m at most"
            ),
        ),
        Claim::new(
            "the factor of Ḃ in the next derivative is 2 (61)",
            "2",
            format!("off by {two:.1e} to {most_two:.1e} N m, with 3 by {right:.1e} at most"),
            "not more than with 3",
            most_two <= right,
            Verdict::Differs,
            "B̈ y holds ẏ too: collected, a holonomic row has the factor 3, as in (37) and (77)",
        ),
        Claim::new(
            "(78) with α ḣ + β h stabilizes",
            "stable",
            format!(
                "roots of s³ + α s + β with real part {grows:+.1}/s; torques off by {levels:.1e} to {most_levels:.1e} N m"
            ),
            "no positive real part",
            grows <= 0.0,
            Verdict::Differs,
            "the three roots add up to zero, so for all α and β ≠ 0 one has a positive real part; it does no harm here only because \
             the window lasts 0.1 s. (41), α ḧ + β ḣ, is stable",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::growth;

    /// s³ + 7 s + 8 = (s + 1)(s² - s + 8): the pair has the real part 1/2.
    #[test]
    fn the_growing_pair_is_found() {
        assert!((growth(7.0, 8.0) - 0.5).abs() < 1e-12);
    }
}
