//! Claims on the track, its speed, angular velocities, and what is kept.

use super::ball::{Ball, Seen, lambda_at};
use super::reference::{ENERGY, MEAN_XDOT, MEAN_XDOT_PER_RADIUS, PERIOD};
use super::{Runs, STEPS_A_PERIOD};
use crate::claim::{Claim, Verdict};
use crate::runs::largest;
use crate::table::Table;

/// Mean of ẋ over a track \[m/s\].
fn mean_xdot(track: &[Seen]) -> f64 {
    track.last().map_or(f64::NAN, |end| (end.x[0] - track[0].x[0]) / (end.t - track[0].t))
}

/// Figures 2 and 9, and the table of balls that could be meant.
pub fn speeds(runs: &Runs) -> (Vec<Claim>, Table) {
    let mean: Vec<f64> = runs.balls.iter().map(|(_, track)| mean_xdot(track)).collect();
    let [one, small, offset, printed] = [mean[0], mean[1], mean[2], mean[3]];
    let near = |ours: f64, theirs: f64| (ours / theirs - 1.0).abs() < 0.05;
    let claims = vec![
        Claim::new(
            "mean velocity along the track's axis without offset (figure 2; the text calls the axis y)",
            1.2,
            one,
            "5 %",
            near(one, 1.2),
            Verdict::Failed,
            format!(
                "with a radius of 1: the closed form is {MEAN_XDOT_PER_RADIUS:.3} a. With the 10.9 cm of Table 1 it is \
                 {small:.3} m/s, so figure 2 is of a ball of radius 1"
            ),
        ),
        Claim::new(
            "mean velocity with offset (figure 9)",
            0.35,
            offset,
            "5 %",
            near(offset, 0.35),
            Verdict::Differs,
            format!(
                "over 20 s, a = 10.9 cm and r0 = 0.15 a as in the text, the weight on top at the start; {:.3} m/s along the \
                 arc. With the 0.15 cm of Table 1 it is {printed:.3} m/s. No curve is in our copy, and neither the start of \
                 the weight nor the time is said",
                arc_speed(&runs.balls[2].1)
            ),
        ),
        Claim::new(
            "the offset slows the ball down to a third (end of section 7)",
            1.0 / 3.0,
            offset / small,
            "10 %",
            (offset / small * 3.0 - 1.0).abs() < 0.1,
            Verdict::Differs,
            format!(
                "their two balls have different radii: with the same 10.9 cm the weight falls from the top and the ball is \
                 faster with it. Across the radii it is {:.2}",
                offset / one
            ),
        ),
        Claim::new(
            "mean velocities against independent integrations, without and with offset",
            "-",
            largest([one - MEAN_XDOT[0], offset - MEAN_XDOT[1]].map(f64::abs)),
            1e-4,
            largest([one - MEAN_XDOT[0], offset - MEAN_XDOT[1]].map(f64::abs)) < 1e-4,
            Verdict::Failed,
            "m/s, park1987 in steps of 0.005 s: an error of 2 mm in 20 s",
        ),
    ];
    let mut table = Table::new(
        "Balls that could be meant, over 20 s",
        &[
            "a [m]",
            "r0 [m]",
            "mean ẋ [m/s]",
            "mean speed along the arc [m/s]",
            "least and largest speed [m/s]",
        ],
    );
    for ((ball, track), mean) in runs.balls.iter().zip(&mean) {
        let speed = || track.iter().map(Seen::speed);
        let (least, most) = (speed().fold(f64::INFINITY, f64::min), speed().fold(0.0, f64::max));
        table.rows.push(vec![
            ball.a.to_string(),
            format!("{:.5}", ball.r0),
            format!("{mean:.3}"),
            format!("{:.3}", arc_speed(track)),
            format!("{least:.3}, {most:.3}"),
        ]);
    }
    (claims, table)
}

/// Mean speed along the arc \[m/s\].
fn arc_speed(track: &[Seen]) -> f64 {
    let pieces = track.windows(2).map(|w| 0.5 * (w[0].speed() + w[1].speed()) * (w[1].t - w[0].t));
    pieces.sum::<f64>() / track.last().map_or(f64::NAN, |end| end.t - track[0].t)
}

/// How unlike a series is to itself `shift` steps later, over how far it is from its mean.
fn unlike(series: &[[f64; 3]], shift: usize) -> f64 {
    let n = (series.len() - shift) as f64;
    let mean: [f64; 3] =
        std::array::from_fn(|k| series.iter().map(|s| s[k]).sum::<f64>() / series.len() as f64);
    let square = |a: &[f64; 3], b: &[f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>();
    let apart: f64 = series.iter().zip(&series[shift..]).map(|(a, b)| square(a, b)).sum();
    let spread: f64 = series.iter().map(|a| square(a, &mean)).sum();
    (apart / n / (spread / series.len() as f64)).sqrt()
}

/// The shift after which a series is most like itself, of those above the first tenth, with at least a quarter left to compare.
fn most_alike(series: &[[f64; 3]]) -> (usize, f64) {
    let n = series.len();
    let found = (n / 10..3 * n / 4).map(|shift| (shift, unlike(series, shift)));
    found.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f64::NAN))
}

/// Figures 3 and 10.
pub fn periods(runs: &Runs) -> Vec<Claim> {
    let (centred, offset) = (&runs.periodic, &runs.balls[2].1);
    let world = |track: &[Seen]| track.iter().map(|s| s.w_W).collect::<Vec<_>>();
    let body = |track: &[Seen]| track.iter().map(|s| s.w).collect::<Vec<_>>();
    let lambda: Vec<[f64; 3]> = (1..centred.len() - 1).map(|i| lambda_at(centred, i)).collect();
    let [in_world, in_body, forces] =
        [world(centred), body(centred), lambda].map(|series| unlike(&series, STEPS_A_PERIOD));
    let twice = unlike(&body(centred), 2 * STEPS_A_PERIOD);
    let best = |track: &[Seen]| {
        let thinned: Vec<Seen> = track.iter().step_by(4).cloned().collect();
        let found = [world(&thinned), body(&thinned)].map(|series| most_alike(&series));
        let (shift, alike) = if found[0].1 < found[1].1 { found[0] } else { found[1] };
        (thinned[shift].t - thinned[0].t, alike)
    };
    let (short, long) = (best(offset), best(&runs.long));
    vec![
        Claim::new(
            "angular velocities without offset are periodic (figure 3)",
            "periodic",
            format!("after {PERIOD:.3} s alike to {in_world:.1e} of their swing"),
            "1e-3",
            in_world < 1e-3,
            Verdict::Failed,
            format!(
                "in world axes, as the track repeats itself. In body axes, in which the paper's equations are, the ball \
                 comes back turned by half a turn or so: they are alike to {in_body:.2}, and to {twice:.2} after two \
                 periods"
            ),
        ),
        Claim::new(
            "angular velocities with offset are not periodic (figure 10)",
            "not periodic",
            format!("over 20 s alike to {:.2} of their swing at best", short.1),
            "above 0.1",
            short.1 > 0.1,
            Verdict::Failed,
            format!(
                "for the best of all periods from 2 to 15 s, in world or body axes. But 20 s are less than a wave of the \
                 track: over 60 s they are alike to {:.3} after {:.1} s",
                long.1, long.0
            ),
        ),
        Claim::new(
            "constraint forces without offset are highly nonlinear while still periodic (figure 4)",
            "periodic",
            format!("after {PERIOD:.3} s alike to {forces:.1e} of their swing"),
            "1e-3",
            forces < 1e-3,
            Verdict::Failed,
            "all three",
        ),
    ]
}

/// Energy, speed, conditions on Euler parameters, and the track on the ball.
pub fn kept(runs: &Runs) -> Vec<Claim> {
    let tracks = [&runs.balls[0].1, &runs.balls[2].1];
    let start = largest([0, 1].map(|k| (tracks[k][0].energy - ENERGY[k]).abs()));
    let height = largest(tracks[1].iter().map(|s| s.height.abs()));
    let drift = [0, 1].map(|k| largest(tracks[k].iter().map(|s| (s.energy / ENERGY[k] - 1.0).abs())));
    let unsteady = |track: &[Seen]| largest(track.iter().map(|s| (s.speed() / 2.0_f64.sqrt() - 1.0).abs()));
    let (coarse, fine) = (unsteady(&runs.coarse), unsteady(tracks[0]));
    let norm = largest(tracks.iter().flat_map(|t| t.iter()).map(|s| (dot(&s.q, &s.q) - 1.0).abs()));
    let rate = largest(tracks.iter().flat_map(|t| t.iter()).map(|s| {
        let qdot = sarrus::math::quat_derivative(&s.q, &s.w);
        dot(&s.q, &qdot).abs() / dot(&qdot, &qdot).sqrt()
    }));
    let ball = &runs.balls[0];
    let on_ball: f64 = ball.1.windows(2).map(|w| ball.0.a * chord(w[0].contact(), w[1].contact())).sum();
    let on_plane: f64 = ball.1.windows(2).map(|w| (w[1].x[0] - w[0].x[0]).hypot(w[1].x[1] - w[0].x[1])).sum();
    vec![
        Claim::new(
            "energy at the start against the references, without and with offset",
            "-",
            start,
            1e-9,
            start < 1e-9,
            Verdict::Failed,
            "J; kinetic, and potential from the height of the centre",
        ),
        Claim::new(
            "energy is kept over 20 s, without and with offset",
            "-",
            format!("to {:.1e} and {:.1e} of itself", drift[0], drift[1]),
            "1e-3",
            largest(drift) < 1e-3,
            Verdict::Failed,
            format!(
                "park1987 in steps of 0.005 s, without what the height of the centre adds: the paper has no coordinate for it, \
                 and here the ball with offset drifts off the plane by {:.1} mm",
                1e3 * height
            ),
        ),
        Claim::new(
            "without offset the speed is constant, a √2 (from Table 1)",
            "-",
            format!("to {coarse:.1e}; to {fine:.1e} with half the steps"),
            "order 2 ± 0.3",
            ((coarse / fine).log2() - 2.0).abs() < 0.3,
            Verdict::Failed,
            "relative, over 20 s, steps of 0.01 and 0.005 s",
        ),
        Claim::new(
            "qᵀq = 1 and qᵀq̇ = 0 are enforced (5.15-5.18)",
            "enforced",
            format!("to {norm:.1e} and {rate:.1e}"),
            "1e-14",
            norm < 1e-14 && rate < 1e-14,
            Verdict::Failed,
            "over all steps of both balls: rounding. Both have closed solutions, so that nothing is iterated",
        ),
        Claim::new(
            "the track on the ball is as long as the track on the plane (figures 5-8)",
            "-",
            (on_ball / on_plane - 1.0).abs(),
            1e-5,
            (on_ball / on_plane - 1.0).abs() < 1e-5,
            Verdict::Failed,
            "relative, from chords of 0.005 s: what rolls without slipping has walked as far",
        ),
    ]
}

fn dot(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn chord(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// λ of every step, at its end.
pub fn forces(ball: &(Ball, Vec<Seen>)) -> impl Iterator<Item = (f64, [f64; 3])> + '_ {
    let track = &ball.1;
    (1..track.len() - 1).map(|i| (track[i].t, lambda_at(track, i)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_found_and_noise_has_none() {
        let wave = |i: usize| (i as f64 * std::f64::consts::TAU / 50.0).sin();
        let periodic: Vec<[f64; 3]> = (0..200).map(|i| [wave(i), wave(i + 7), 1.0]).collect();
        let (shift, alike) = most_alike(&periodic);
        assert!(shift % 50 == 0 && alike < 1e-12, "{shift} {alike}");
        let noise = |i: usize| (i as f64 * 0.618_034 + (i * i) as f64 * 0.414_21).fract();
        let other: Vec<[f64; 3]> = (0..200).map(|i| [noise(i), noise(i + 1000), noise(i + 5000)]).collect();
        assert!(most_alike(&other).1 > 0.5);
    }
}
