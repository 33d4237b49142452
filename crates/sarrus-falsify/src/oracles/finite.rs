//! Every number of a certified run is finite.

use super::{Oracle, OracleVerdict, SceneRun};

/// Finite columns.
pub const FINITE: Oracle = Oracle {
    name: "finite",
    doc: "a certified run has finite columns",
    cheap: true,
    judge: |case, _| judge(case),
};

fn judge(case: &mut SceneRun) -> OracleVerdict {
    let Some(base) = case.certified() else { return OracleVerdict::Silent };
    let run = &base.trajectory;
    for row in run.rows() {
        if let Some(column) = row.iter().position(|x| !x.is_finite()) {
            return OracleVerdict::Wrong(format!(
                "{} is {} at t = {}",
                run.names()[column],
                row[column],
                row[0]
            ));
        }
    }
    let last = run.rows().last().map_or(f64::NAN, |row| row[0]);
    if (last - case.scene.t_end()).abs() > 1e-9 * case.scene.t_end().abs().max(1.0) {
        return OracleVerdict::Wrong(format!("the last row of a completed run is at t = {last}"));
    }
    OracleVerdict::Agrees
}
