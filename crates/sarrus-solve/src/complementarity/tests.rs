use super::*;
use proptest::prelude::*;

fn solve(points: &[ContactPoint], W: &[f64], b: &[f64]) -> Result<Solution, NoSolution> {
    Contacts { points, W, symmetric: W, b }.solve()
}

const SMOOTH: ContactPoint = ContactPoint { mu: 0.0, across: 0 };

/// A ball of mass m that falls at v: κ = m v.
#[test]
fn one_place_takes_up_the_momentum() {
    let found = solve(&[SMOOTH], &[0.5], &[-3.0]).unwrap();
    assert_eq!((found.kappa[0], found.u[0], found.is_unique), (6.0, 0.0, true));
    let found = solve(&[SMOOTH], &[0.5], &[3.0]).unwrap();
    assert_eq!(found.kappa[0], 0.0);
}

/// A bar falls with one end on a prop, the other end rests on one: hit at one end it is pressed on the other.
#[test]
fn a_bar_hit_at_one_end_presses_on_the_other() {
    // m = 1, J = 1/12, props at the ends of l = 1: W = 1/m ± l²/4J
    let W = [4.0, -2.0, -2.0, 4.0];
    let found = solve(&[SMOOTH; 2], &W, &[-1.0, 0.0]).unwrap();
    assert!(
        (found.kappa[0] - 1.0 / 3.0).abs() < 1e-15 && (found.kappa[1] - 1.0 / 6.0).abs() < 1e-15,
        "{found:?}"
    );
    // where that end leaves fast enough it is left alone
    let found = solve(&[SMOOTH; 2], &W, &[-1.0, 1.0]).unwrap();
    assert_eq!((&found.kappa[..], &found.u[..]), (&[0.25, 0.0][..], &[0.0, 0.5][..]));
}

/// Four corners under a plate: rank 3. Each bears a quarter, which is the least norm.
#[test]
fn redundant_places_share_by_least_norm_and_say_so() {
    let corners = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]];
    let W: Vec<f64> = corners
        .iter()
        .flat_map(|a| corners.iter().map(move |b| 1.0 + 3.0 * (a[0] * b[0] + a[1] * b[1])))
        .collect();
    let found = solve(&[SMOOTH; 4], &W, &[-2.0; 4]).unwrap();
    assert!(!found.is_unique);
    assert!(found.kappa.iter().all(|k| (k - 0.5).abs() < 1e-14), "{:?}", found.kappa);
}

/// Two contacts that say the same share 2: at best each bears 1. Where they contradict each other the margin is negative.
#[test]
fn a_margin_is_that_of_the_best_of_all_forces() {
    let margin =
        |b: [f64; 2]| Contacts { points: &[SMOOTH; 2], W: &[1.0; 4], symmetric: &[1.0; 4], b: &b }.margin().0;
    assert!((margin([-2.0, -2.0]) - 1.0).abs() < 1e-9, "{}", margin([-2.0, -2.0]));
    assert!((margin([2.0, 2.0]) + 1.0).abs() < 1e-9, "{}", margin([2.0, 2.0]));
    assert!(margin([-2.0, -2.1]) < -1e-3, "{}", margin([-2.0, -2.1]));
}

/// κ_t = μ κ_n where it slips, less where it sticks.
#[test]
fn friction_holds_what_it_can() {
    let point = ContactPoint { mu: 0.5, across: 1 };
    let W = [1.0, 0.0, 0.0, 1.0];
    let stuck = solve(&[point], &W, &[-1.0, 0.3]).unwrap();
    assert_eq!((stuck.kappa.clone(), stuck.status[0]), (vec![1.0, -0.3], ContactStatus::Stick));
    let slides = solve(&[point], &W, &[-1.0, 2.0]).unwrap();
    let expected = [1.0, -0.5];
    assert!(slides.kappa.iter().zip(expected).all(|(k, e)| (k - e).abs() < 1e-14), "{slides:?}");
    assert!((slides.u[1] - 1.5).abs() < 1e-14);
}

/// N (1 - 2) = -b: nothing that pushes will do; with b > 0 it leaves.
#[test]
fn a_place_whose_friction_drives_it_into_the_ground_has_no_force() {
    let none = Contacts { points: &[SMOOTH], W: &[-1.0], symmetric: &[1.0], b: &[-1.0] };
    assert_eq!(none.solve(), Err(NoSolution::None));
    let leaves = Contacts { b: &[1.0], ..none };
    assert_eq!(leaves.solve().unwrap().kappa, [0.0]);
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]
    /// Whatever bodies meet: W = B Bᵀ of random rows. The conditions hold to rounding, and with b = u⁻ (plastic) no energy is made.
    #[test]
    fn the_law_holds_to_rounding_and_makes_no_energy(
        n in 1_usize..6,
        across in 0_usize..3,
        rank in 1_usize..9,
        mu in 0.0_f64..1.5,
        numbers in prop::collection::vec(-1.0_f64..1.0, 18 * 9 + 18),
    ) {
        let rows = n * (1 + across);
        let row = |i: usize| &numbers[i * 9..][..rank];
        let W: Vec<f64> = (0..rows)
            .flat_map(|i| (0..rows).map(move |j| row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum()))
            .collect();
        // u⁻ = B v is what the points can do
        let v = &numbers[18 * 9..][..rank];
        let b: Vec<f64> = (0..rows).map(|i| row(i).iter().zip(v).map(|(a, b)| a * b).sum()).collect();
        let points = vec![ContactPoint { mu, across }; n];
        let Ok(found) = solve(&points, &W, &b) else {
            // with friction nothing promises that one is found, without it does
            prop_assert!(across > 0);
            return Ok(());
        };
        let size = |x: &[f64]| norm(x).max(1e-3);
        let (ku, kk) = (size(&found.u) + size(&b), size(&found.kappa));
        for p in 0..n {
            let i = p * (1 + across);
            let (k, u) = (&found.kappa[i..=i + across], &found.u[i..=i + across]);
            prop_assert!(k[0] >= -1e-9 * kk && u[0] >= -1e-9 * ku, "{k:?} {u:?}");
            prop_assert!(k[0] * u[0] <= 1e-9 * kk * ku);
            let (kt, ut) = (&k[1..], &u[1..]);
            if across > 0 {
                prop_assert!(norm(kt) <= mu * k[0] + 1e-8 * kk);
                let power: f64 = kt.iter().zip(ut).map(|(a, b)| a * b).sum();
                // maximal dissipation: κ_t·u_t = -μκ_n|u_t|
                prop_assert!((power + mu * k[0] * norm(ut)).abs() <= 1e-7 * kk * ku, "{power} {k:?} {u:?}");
            }
        }
        // ½κᵀ(u⁺ + u⁻)
        let gained: f64 = found.kappa.iter().zip(found.u.iter().zip(&b)).map(|(k, (u, b))| 0.5 * k * (u + b)).sum();
        prop_assert!(gained <= 1e-9 * kk * ku, "{gained}");
    }
}

/// W and b of the corners under a box of mass 1 at rest: accelerations `pull` without contacts.
fn box_on_corners(size: [f64; 3], yaw: f64, pull: [f64; 3]) -> (Vec<f64>, Vec<f64>) {
    let J = [0, 1, 2].map(|i| (size[(i + 1) % 3].powi(2) + size[(i + 2) % 3].powi(2)) / 12.0);
    let mut rows: Vec<[f64; 6]> = Vec::new();
    for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)] {
        let r = [0.5 * x * size[0], 0.5 * y * size[1], -0.5 * size[2]];
        // normal and two directions across, in the axes of the box
        let (s, c) = yaw.sin_cos();
        for n in [[0.0, 0.0, 1.0], [c, s, 0.0], [-s, c, 0.0]] {
            let m = [r[1] * n[2] - r[2] * n[1], r[2] * n[0] - r[0] * n[2], r[0] * n[1] - r[1] * n[0]];
            let rotation = [0, 1, 2].map(|i| m[i] / J[i].sqrt());
            rows.push([n[0], n[1], n[2], rotation[0], rotation[1], rotation[2]]);
        }
    }
    let W = rows.iter().flat_map(|a| rows.iter().map(move |b| a.iter().zip(b).map(|(a, b)| a * b).sum()));
    let b = (0..12).map(|i| [pull[2], pull[0], pull[1]][i % 3]).collect();
    (W.collect(), b)
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]
    /// A box on an incline, four corners on 6 degrees of freedom: it sticks where μ > tan φ, else all corners slide downhill alike.
    #[test]
    fn a_box_on_an_incline_rests_or_slides_as_one(
        a in 0.1_f64..0.5,
        b in 0.1_f64..0.5,
        height in 0.1_f64..0.95,
        tilt in 0.05_f64..0.6,
        way in 0.0_f64..std::f64::consts::TAU,
        yaw in 0.0_f64..std::f64::consts::TAU,
        ratio in prop_oneof![0.5_f64..1.5, 0.95_f64..1.05, 0.9999_f64..1.0001],
    ) {
        let mu = ratio * tilt.tan();
        let h = height * a.min(b) / mu.max(tilt.tan());
        let pull = [tilt.sin() * way.cos(), tilt.sin() * way.sin(), -tilt.cos()];
        let (W, b) = box_on_corners([a, b, h], yaw, pull);
        let found = solve(&[ContactPoint { mu, across: 2 }; 4], &W, &b);
        prop_assert!(found.is_ok(), "{found:?}");
        let found = found.unwrap();
        let down = [way.cos(), way.sin()];
        let expected = (tilt.sin() - mu * tilt.cos()).max(0.0);
        for (u, status) in found.u.chunks(3).zip(&found.status) {
            prop_assert!(u[0].abs() < 1e-9, "{u:?}");
            prop_assert!((u[1] - expected * down[0]).abs() < 1e-9 && (u[2] - expected * down[1]).abs() < 1e-9, "{found:?}");
            match status {
                ContactStatus::Open => {}
                ContactStatus::Stick => prop_assert!(expected < 1e-8, "{found:?}"),
                ContactStatus::Slide(d) => prop_assert!(d[0] * down[0] + d[1] * down[1] > 1.0 - 1e-9, "{found:?}"),
            }
        }
    }
}
