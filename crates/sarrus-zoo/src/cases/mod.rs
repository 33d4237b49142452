//! One file a case.

mod a01_pendulum;
mod a02_n_four_bar;
mod andrews;
mod chaplygin_sleigh;
pub mod deployment;
mod double_pendulum;
mod four_bar;
mod free_top;
mod governor;
mod heavy_top;
mod mcpherson;
mod oscillator;
mod redundant;
mod rolling_ball;
mod rolling_disc;
mod rolling_sphere;
mod screw;
mod torsion_pendulum;

use crate::ReferenceProblem;

/// Every case, published ones first.
pub static PROBLEMS: &[&ReferenceProblem] = &[
    &a01_pendulum::PENDULUM,
    &a01_pendulum::BAR,
    &a02_n_four_bar::N1,
    &a02_n_four_bar::N2,
    &a02_n_four_bar::N10,
    &a02_n_four_bar::N40,
    &andrews::ANDREWS,
    &governor::GOVERNOR,
    &heavy_top::HEAVY_TOP,
    &rolling_sphere::ROLLING_SPHERE,
    &chaplygin_sleigh::CHAPLYGIN_SLEIGH,
    &deployment::DEPLOYMENT,
    &double_pendulum::DOUBLE_PENDULUM,
    &four_bar::FOUR_BAR,
    &rolling_ball::ROLLING_BALL,
    &mcpherson::MCPHERSON,
    &mcpherson::MCPHERSON_OVERCONSTRAINED,
    &oscillator::OSCILLATOR,
    &torsion_pendulum::TORSION_PENDULUM,
    &free_top::FREE_TOP,
    &screw::SCREW,
    &rolling_disc::ROLLING_DISC,
    &redundant::DOOR,
    &redundant::COUPLER,
    &redundant::COUPLER_SPATIAL,
    &redundant::N_FOUR_BAR_SPATIAL,
];

#[cfg(test)]
mod tests {
    use super::PROBLEMS;
    use crate::ReferenceKind;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = PROBLEMS.iter().map(|p| p.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PROBLEMS.len());
    }

    #[test]
    fn every_case_has_references_that_a_run_can_be_held_to() {
        for p in PROBLEMS {
            assert!(!p.references.is_empty(), "{}: no references", p.name);
            assert!(p.model.contains("format = \"sarrus/1\""), "{}", p.name);
            assert!(p.references.iter().any(|r| r.t == p.t_end), "{}: nothing at the end", p.name);
            for r in p.references {
                assert_eq!(r.columns.len(), r.values.len(), "{} at {}", p.name, r.t);
                assert!(0.0 < r.t && r.t <= p.t_end, "{} at {}", p.name, r.t);
                let row = r.t / p.t_end * 1000.0;
                assert!(
                    (row - row.round()).abs() < 1e-9,
                    "{} at {}: not a row of a default run",
                    p.name,
                    r.t
                );
                assert!(r.values.iter().all(|v| v.is_finite()) && r.tol > 0.0, "{} at {}", p.name, r.t);
                assert!(r.relative_tolerance() < 1e-6, "{} at {}: {:?}", p.name, r.t, r.columns);
                if r.kind == ReferenceKind::Quaternion {
                    let norm: f64 = r.values.iter().map(|v| v * v).sum();
                    assert!((norm - 1.0).abs() < 1e-9, "{} at {}: |q|² = {norm}", p.name, r.t);
                }
            }
        }
    }

    /// The file's text names every body and joint whose columns a reference reads, or the repeat that makes it.
    #[test]
    fn columns_belong_to_elements_of_the_model() {
        for p in PROBLEMS {
            for column in p.references.iter().flat_map(|r| r.columns) {
                let name = column.split('.').next().unwrap();
                let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
                let written = p.model.contains(&format!("\n{name} = "))
                    || p.model.contains(&format!("[bodies.{name}]"))
                    || p.model.contains(&format!("\"{stem}{{"));
                assert!(written, "{}: {column}", p.name);
            }
        }
    }
}
