//! The falling rod of section 4.2: ten segments in a channel of water, with impacts and friction; figures 5 to 7.
//!
//! No number of these figures is printed. The oracle is an independent solution of the same equations: its values at six
//! instants, and the time of the first contact, which depends on nothing but the fall before it.

use super::{RATES, label};
use crate::claim::{Claim, PaperError, Verdict};
use crate::runs::{Case, How, Tally, largest as most};
use crate::table::Table;
use sarrus::analysis::{ContactReport, Outcome};
use sarrus_plot::{Axis, Figure, Panel, Series};

const MODEL: &str = include_str!("rod.toml");

/// x of the segments 1, 5 and 10, y of the first, and the rotation of the last against the first, from an independent
/// solution with minimal coordinates: t \[s\], \[m\], \[m\], \[rad\].
const REFERENCE: [(f64, [f64; 3], f64, f64); 6] = [
    (
        0.05,
        [0.009_658_405_895_948, 0.005_492_670_880_907, 0.000_256_784_613_832],
        -0.460_659_397_611_293,
        0.000_710_019_874_320,
    ),
    (
        0.1,
        [0.009_739_960_168_726, 0.010_100_202_266_868, 0.004_785_362_110_662],
        -0.492_489_306_947_136,
        0.016_161_631_320_395,
    ),
    (
        0.2,
        [0.007_641_304_174_086, 0.007_706_657_581_679, 0.005_912_789_846_465],
        -0.617_601_245_109_856,
        0.008_199_703_905_213,
    ),
    (
        0.3,
        [0.005_917_318_457_583, 0.004_263_515_009_157, 0.002_849_906_953_845],
        -0.823_061_060_072_243,
        -0.005_052_548_107_548,
    ),
    (
        0.4,
        [0.003_913_053_975_237, 0.001_084_583_560_984, -0.001_814_018_672_898],
        -1.103_737_590_539_899,
        -0.007_351_963_791_291,
    ),
    (
        0.5,
        [0.000_859_103_382_581, -0.001_789_959_285_571, -0.006_897_491_231_628],
        -1.452_798_152_096_813,
        0.008_609_365_764_294,
    ),
];
/// When the lower end first touches the wall \[s\], from the same solution.
const FIRST_CONTACT: f64 = 0.047_925_455_856;
/// That solution trusts its own values at the end to 2e-8 \[m\].
const NEAR: f64 = 2e-8;

/// The runs of the rod: the defaults of ode23 without and with stabilization, and a tight one.
pub struct Rod {
    drift: Vec<Outcome>,
    tight: Outcome,
}

/// How many runs [`Rod::new`] makes.
pub const RUNS: usize = RATES.len() + 2;

impl Rod {
    /// Makes the runs.
    pub fn new(tally: &mut Tally) -> Result<Rod, PaperError> {
        let case = Case::new("falling rod", MODEL, &[], None)?;
        let mut run = |how: &How| {
            tally.next(&format!("{}, {}", case.name, how.text()))?;
            case.run(how, true)
        };
        let how = |rates, integrator, rtol, atol| How {
            t_end: 0.5,
            every: 0.001,
            ..super::how(rates, integrator, rtol, atol)
        };
        let drift = super::choices()
            .into_iter()
            .map(|c| run(&how(c.map(|c| (c.0, c.1)), "rk23", 1e-3, 1e-6)))
            .collect::<Result<_, _>>()?;
        let tight = How { stabilization: "auto".into(), ..how(None, "dop853", 1e-11, 1e-13) };
        Ok(Rod { drift, tight: run(&tight)? })
    }

    /// What the paper says, and the independent solution.
    pub fn claims(&self) -> Vec<Claim> {
        let report = &self.tight.report;
        let none = last(&self.drift[0]);
        let worst = most(self.drift[1..].iter().map(last));
        vec![
            Claim::new(
                "coordinates and constraints of the rod (equations 12 and 14)",
                "30, 2(N - 1) = 18",
                format!("{}, {}", report.size.velocities, report.constraints.rows),
                "exact",
                (report.size.velocities, report.constraints.rows) == (30, 18),
                Verdict::Failed,
                "ten segments, nine hinges",
            ),
            Claim::new(
                "the contacts of the rod's ends can be told from the motion (figures 5 and 6)",
                "seen",
                self.touches(),
                "the first within 1e-6 s of an independent solution",
                (self.first_touch() - FIRST_CONTACT).abs() < 1e-6,
                Verdict::Failed,
                format!("{FIRST_CONTACT} s there"),
            ),
            self.agreement(),
            Claim::new(
                "the drift grows without stabilization (figure 7)",
                "grows",
                format!("‖Φ‖ {:.1e} m at a tenth of the run, {none:.1e} m at its end", early(&self.drift[0])),
                "more at the end, and more than with any (α, β)",
                none > early(&self.drift[0]) && none > worst,
                Verdict::Failed,
                format!("with stabilization at most {worst:.1e} m at the end"),
            ),
        ]
    }

    /// When the lower end first touches \[s\].
    fn first_touch(&self) -> f64 {
        self.walls().and_then(|walls| walls.first_onset).unwrap_or(f64::NAN)
    }

    fn walls(&self) -> Option<&ContactReport> {
        self.tight.report.contacts.iter().find(|contact| contact.name == "walls")
    }

    fn touches(&self) -> String {
        let onsets = self.walls().map_or(0, |walls| walls.onsets);
        format!("{onsets} onsets, the first at {:.9} s", self.first_touch())
    }

    /// The tight run against the independent solution.
    fn agreement(&self) -> Claim {
        let mut worst = 0.0_f64;
        for (t, x, y, turn) in REFERENCE {
            let at = |column: &str| value(&self.tight, column, t);
            let offs = [("rod.seg1.x", x[0]), ("rod.seg5.x", x[1]), ("rod.seg10.x", x[2]), ("rod.seg1.y", y)]
                .map(|(column, exact)| (at(column) - exact).abs());
            let turned = at("rod.seg10.angle") - at("rod.seg1.angle");
            worst = most(offs.into_iter().chain([worst, 0.1 * (turned - turn).abs()]));
        }
        Claim::new(
            "positions of segments 1, 5, 10 and their rotation through all contacts",
            "-",
            worst,
            NEAR,
            worst < NEAR,
            Verdict::Failed,
            "largest difference in m (rotations times a segment's 0.1 m) from an independent solution at six instants up to 0.5 s",
        )
    }

    /// ‖Φ‖ by rates.
    pub fn table(&self) -> Table {
        let mut table =
            Table::new("Falling rod: ‖Φ‖ [m]", &["α, β [1/s]", "rule", "largest", "at 0.5 s", "steps"]);
        for (run, c) in self.drift.iter().zip(super::choices()) {
            table.rows.push(vec![
                label(c),
                c.map_or("-", |c| c.2).into(),
                format!("{:.1e}", run.report.violation.position.max),
                format!("{:.1e}", last(run)),
                run.report.counts.steps.to_string(),
            ]);
        }
        table
    }

    /// Figures 5, 6 and 7.
    pub fn figures(&self) -> Vec<(String, Figure)> {
        let t = || self.tight.trajectory.rows().map(|row| row[0]);
        let column =
            |name: &str| -> Vec<f64> { self.tight.trajectory.column(name).into_iter().flatten().collect() };
        let mut x = Panel::new(Axis::linear("time", "s"), Axis::linear("x", "m"));
        for k in [1, 5, 10] {
            x = x.with(Series::line(format!("segment {k}"), t().zip(column(&format!("rod.seg{k}.x")))));
        }
        let mut turn =
            Panel::new(Axis::linear("time", "s"), Axis::linear("rotation against segment 1", "rad"));
        let first = column("rod.seg1.angle");
        for k in [2, 5, 10] {
            let angle = column(&format!("rod.seg{k}.angle"));
            let relative = angle.into_iter().zip(&first).map(|(a, b)| a - b);
            turn = turn.with(Series::line(format!("segment {k}"), t().zip(relative)));
        }
        vec![
            ("figure5".into(), Figure::new("Displacement of segments across the channel (figure 5)").with(x)),
            ("figure6".into(), Figure::new("Rotation of segments against the first (figure 6)").with(turn)),
            (
                "figure7".into(),
                super::figure("Constraint violation of the falling rod (figure 7)", &self.drift),
            ),
        ]
    }
}

/// The value of `column` at the sample nearest to `t`.
fn value(run: &Outcome, column: &str, t: f64) -> f64 {
    let rows = run.trajectory.rows().map(|row| row[0]);
    let values = run.trajectory.column(column).into_iter().flatten();
    let nearest = rows.zip(values).min_by(|a, b| (a.0 - t).abs().total_cmp(&(b.0 - t).abs()));
    nearest.filter(|(at, _)| (at - t).abs() < 1e-9).map_or(f64::NAN, |(_, x)| x)
}

fn last(run: &Outcome) -> f64 {
    run.trajectory.last("violation.position").unwrap_or(f64::NAN)
}

/// ‖Φ‖ after a tenth of the run.
fn early(run: &Outcome) -> f64 {
    value(run, "violation.position", 0.05)
}
