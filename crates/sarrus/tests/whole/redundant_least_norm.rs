//! Reactions of least norm and accelerations of redundant mechanisms, by `proximal` against `pseudo_inverse` at the same states.

use sarrus::analysis::{SampleDiagnostics, Watch};
use sarrus::model::settings::MethodChoice;
use sarrus::prelude::*;
use sarrus::solve::{Accel, HUB_DEGREE, Kkt, Options, Problem, State, formulations};
use sarrus::system::Mechanism;
use std::fmt::Write;
use std::sync::Arc;

/// The largest differences from `pseudo_inverse` at the samples of a run, relative.
#[derive(Default)]
struct Compare {
    other: Option<(Box<dyn formulations::Formulation>, Kkt)>,
    lambda: f64,
    vdot: f64,
    samples: u32,
}

impl Watch for Compare {
    fn sample(&mut self, mechanism: &mut Mechanism, _s: &State, seen: &SampleDiagnostics) {
        let (eq, accel) = seen.solved.unwrap();
        let structure = mechanism.structure();
        let (formulation, kkt) = self.other.get_or_insert_with(|| {
            let made = formulations::make("pseudo_inverse", &Options::default()).unwrap();
            (made, Kkt::new(structure, eq, HUB_DEGREE).unwrap())
        });
        let mut exact = Accel::zeros(structure);
        formulation.accelerations(structure, eq, kkt, &mut exact).unwrap();
        let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
        let apart = |a: &[f64], b: &[f64]| {
            norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied())
        };
        self.lambda = self.lambda.max(apart(&accel.lambda, &exact.lambda));
        self.vdot = self.vdot.max(apart(&accel.vdot, &exact.vdot));
        self.samples += 1;
    }
}

fn run(text: &str, overrides: RunOverrides) -> (Outcome, Compare) {
    let model =
        load_str("model.toml", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    let mut compare = Compare::default();
    let out = simulate(&model, &system, &Simulate { overrides, record: true }, &mut compare).unwrap();
    (out, compare)
}

fn by(formulation: &str) -> Option<MethodChoice> {
    Some(MethodChoice { kind: formulation.into(), ..MethodChoice::default() })
}

/// Cranks about `axis` at the points `at`, `arm` long, that carry one coupler on joints of the given kinds.
fn cranks(axis: [f64; 3], arm: [f64; 3], at: &[[f64; 3]], kinds: &[&str], keys: &str) -> String {
    let sum = |a: [f64; 3], b: [f64; 3], f: f64| [a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]];
    let mut text = String::from("format = \"sarrus/1\"\ngravity = [4.9, 8.2, 2.2]\n[bodies]\n");
    writeln!(text, "cp = {{ at = [0.4, 0.5, 0.03], mass = 1.3, inertia = [0.1, 0.12, 0.15] }}").unwrap();
    for (i, p) in at.iter().enumerate() {
        let c = sum(*p, arm, 0.4);
        writeln!(
            text,
            "c{i} = {{ at = {c:?}, mass = {}, inertia = [0.1, 0.11, 0.09] }}",
            1.0 + 0.3 * i as f64
        )
        .unwrap();
    }
    text += "[joints]\n";
    for (i, (p, kind)) in at.iter().zip(kinds).enumerate() {
        let b = sum(*p, arm, 1.0);
        writeln!(text, "A{i} = {{ kind = \"revolute\", bodies = [\"ground\", \"c{i}\"], at = {p:?}, axis = {axis:?}{keys} }}")
            .unwrap();
        let second = if *kind == "universal" {
            ", axis2 = [-0.6710925943243093, 0.3354916090387543, -0.6611203446481253]"
        } else {
            ""
        };
        let rotating =
            if *kind == "spherical" { String::new() } else { format!(", axis = {axis:?}{second}") };
        writeln!(text, "B{i} = {{ kind = \"{kind}\", bodies = [\"c{i}\", \"cp\"], at = {b:?}{rotating} }}")
            .unwrap();
    }
    text + "[run]\nt_end = 0.3\n[output]\nevery = 0.01\n"
}

const AXIS: [f64; 3] = [0.4586738128247321, -0.5127111833892852, -0.7257723994864931];
const ARM: [f64; 3] = [0.4242843996671342, 0.0910730228307653, 0.2038021645789089];
const AT: [[f64; 3]; 5] = [
    [0.5434509579565995, 0.6557352232270447, 0.34105599897815214],
    [0.3786814809253004, -0.6168078598237681, 0.49344983636582995],
    [0.5763513043663662, -0.4466098678515659, 0.8137621299465756],
    [-0.31, 0.22, 0.17],
    [0.05, -0.41, -0.6],
];

/// Of three cranks a fixed order of elimination leaves out a row that has no part in the redundancy at 0.12 s.
#[test]
fn reactions_and_accelerations_are_those_of_the_pseudoinverse_at_any_tolerance() {
    for (n, kinds) in [
        (3, &["revolute", "universal", "universal"][..]),
        (2, &["revolute", "revolute"]),
        (5, &["revolute", "spherical", "revolute", "universal", "cylindrical"]),
    ] {
        for rtol in [1e-4, 1e-9, 1e-12] {
            let overrides =
                RunOverrides { rtol: Some(rtol), atol: Some(1e-2 * rtol), ..RunOverrides::default() };
            let (out, compare) = run(&cranks(AXIS, ARM, &AT[..n], kinds, ""), overrides);
            assert_eq!(out.report.status, Status::Completed);
            assert!(out.report.constraints.redundant.unwrap() > 0 && compare.samples == 31);
            assert!(
                compare.lambda < 1e-10 && compare.vdot < 1e-11,
                "{n} {rtol}: {:e} {:e}",
                compare.lambda,
                compare.vdot
            );
            let reactions = out.report.certificate.reactions.unwrap();
            assert!(reactions.passed && reactions.value < 1e-10, "{reactions:?}");
        }
    }
}

/// No step more than a formulation takes that decomposes whole matrices.
#[test]
fn redundant_rows_cost_no_steps() {
    let text = cranks(AXIS, ARM, &AT, &["revolute"; 5], "");
    let steps = |formulation| {
        let overrides = RunOverrides {
            formulation: by(formulation),
            rtol: Some(1e-11),
            atol: Some(1e-13),
            ..RunOverrides::default()
        };
        run(&text, overrides).0.report.counts.steps
    };
    let (own, other) = (steps("proximal"), steps("udwadia_kalaba"));
    assert!(own <= other + 1, "{own} {other}");
}

/// Intensities of friction follow from multipliers, which have to be the same smooth function of the state at every stage.
#[test]
fn friction_in_redundant_joints_is_that_of_the_pseudoinverse() {
    let text = cranks(AXIS, ARM, &AT[..4], &["revolute"; 4], ", friction = { mu = 0.2, radius = 0.03 }");
    let at_end = |formulation| {
        let overrides = RunOverrides {
            formulation: by(formulation),
            rtol: Some(1e-9),
            atol: Some(1e-11),
            ..RunOverrides::default()
        };
        let (out, _) = run(&text, overrides);
        assert_eq!(out.report.status, Status::Completed, "{}", out.report.reason);
        assert!(out.report.certificate.passed);
        ["A0.angle", "A0.fx", "B2.fz", "A3.tx"]
            .map(|name| out.trajectory.column(name).unwrap().last().unwrap())
    };
    let (own, other) = (at_end("proximal"), at_end("pseudo_inverse"));
    for (a, b) in own.iter().zip(other) {
        assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{own:?} {other:?}");
    }
}

/// A mechanism without redundant rows has nothing to certify there.
#[test]
fn unique_reactions_have_no_item_in_the_certificate() {
    let text = cranks(AXIS, ARM, &AT[..2], &["revolute", "spherical"], "");
    let (out, _) = run(&text, RunOverrides::default());
    assert_eq!(out.report.certificate.reactions.is_some(), out.report.constraints.redundant != Some(0));
}
