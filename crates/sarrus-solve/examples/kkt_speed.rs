//! Times one factorization and one solution of the equations of a chain of 1000 bodies, and the number of refinements.

#[allow(dead_code)]
#[path = "../tests/patterns/mod.rs"]
mod patterns;

use sarrus_solve::{Equations, HUB_DEGREE, Kkt, Rank, Rows, Structure};
use std::time::Instant;

fn main() {
    let n = 1000;
    let (s, eq) = patterns::planar_chain(n, 0.3);
    report("planar, 3 velocities, 2 rows", &s, &eq);
    let (s, eq) = spatial_chain(n, false);
    report("spatial, 6 velocities, 5 rows, principal inertia", &s, &eq);
    for n in [10, 30, 100, 300, 1000, 3000] {
        let (s, eq) = spatial_chain(n, false);
        println!("{n}");
        report("   ", &s, &eq);
    }
    let (s, eq) = spatial_chain(n, true);
    report("spatial, 6 velocities, 5 rows, full inertia", &s, &eq);
}

fn spatial_chain(n: usize, full: bool) -> (Structure, Equations) {
    let rows: Vec<_> = (0..n).map(|i| (5, if i == 0 { vec![0] } else { vec![i - 1, i] })).collect();
    let s = patterns::structure(&vec![6; n], &rows);
    let mut eq = Equations::zeros(&s);
    for (i, col) in s.cols.iter().enumerate() {
        let mut inertia = [0.02, 0.0, 0.0, 0.0, 0.09, 0.0, 0.0, 0.0, 0.1];
        if full {
            inertia = [0.02, 0.001, 0.002, 0.001, 0.09, 0.003, 0.002, 0.003, 0.1];
        }
        let inverse = patterns::invert(&inertia, 3);
        for k in 0..3 {
            eq.mass[col.mass + 7 * k] = 1.0;
            eq.minv[col.mass + 7 * k] = 1.0;
            for l in 0..3 {
                eq.mass[col.mass + 6 * (3 + k) + 3 + l] = inertia[3 * k + l];
                eq.minv[col.mass + 6 * (3 + k) + 3 + l] = inverse[3 * k + l];
            }
        }
        eq.f[6 * i + 2] = -9.81;
        eq.gamma[5 * i] = 0.3 * (i as f64).sin();
    }
    // bars of length 1 along a direction of no particular kind, hinged about z at their ends
    let d = [0.6, 0.48, 0.64];
    for row in &s.rows {
        let entries = &s.entries[row.entries.clone()];
        for (k, e) in entries.iter().enumerate() {
            let (sign, arm) = if k + 1 == entries.len() { (1.0, -0.5) } else { (-1.0, 0.5) };
            let J = &mut eq.J[e.offset..][..30];
            let r = d.map(|x| arm * x);
            let cross = [[0.0, r[2], -r[1]], [-r[2], 0.0, r[0]], [r[1], -r[0], 0.0]];
            for i in 0..3 {
                J[6 * i + i] = sign;
                (0..3).for_each(|j| J[6 * i + 3 + j] = sign * cross[i][j]);
            }
            J[6 * 3 + 3] = sign;
            J[6 * 4 + 4] = sign;
        }
    }
    (s, eq)
}

fn report(what: &str, s: &Structure, eq: &Equations) {
    let mut kkt = Kkt::new(s, eq, HUB_DEGREE).expect("a chain");
    let (mut x, mut mu) = (vec![0.0; s.nv], vec![0.0; s.nc]);
    let (mut factor, mut solve) = (f64::INFINITY, f64::INFINITY);
    let mut last = None;
    for _ in 0..400 {
        let start = Instant::now();
        kkt.factor(eq, Rows::All, Rank::Any).expect("full rank");
        factor = factor.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        last = Some(kkt.solve(eq, &eq.f, &eq.gamma, &mut x, &mut mu).expect("finite"));
        solve = solve.min(start.elapsed().as_secs_f64());
    }
    let report = last.expect("at least one");
    println!(
        "{what}: factor {:.0} µs, solve {:.0} µs, {} refinements, residual {:.1e}",
        1e6 * factor,
        1e6 * solve,
        report.refinements,
        report.residual
    );
}
