//! Closed forms that the generator wrote beside the scene.

use super::{Oracle, OracleVerdict, SceneRun};

/// Closed forms.
pub const CLOSED_FORM: Oracle = Oracle {
    name: "closed_form",
    doc: "projectiles, pendulums, springs, bounces and rolling follow their formulas",
    cheap: true,
    judge: |case, _| judge(case),
};

fn judge(case: &mut SceneRun) -> OracleVerdict {
    let Some(base) = case.certified() else { return OracleVerdict::Silent };
    if case.scene.expected.is_empty() {
        return OracleVerdict::Silent;
    }
    for expected in &case.scene.expected {
        let name = &expected.column;
        let Some(column) = base.trajectory.column(name) else {
            return OracleVerdict::Wrong(format!("the run has no column {name}"));
        };
        let scale = expected.values.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        for (row, (x, y)) in column.zip(&expected.values).enumerate() {
            if !((x - y).abs() <= expected.tolerance * scale) {
                let t = base.trajectory.row(row).map_or(f64::NAN, |r| r[0]);
                return OracleVerdict::Wrong(format!("{name} at t = {t} is {x:e}, by its formula {y:e}"));
            }
        }
    }
    OracleVerdict::Agrees
}
