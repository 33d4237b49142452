//! Decides whether a run can be made in joint coordinates.

use crate::error::SetupError;
use crate::notes;
use crate::settings::Settings;
use sarrus_model::Span;
use sarrus_solve::{Chart, Problem, State};
use sarrus_system::{Mechanism, Tree};

/// Refuses a run from `s` that joint coordinates cannot make; otherwise reports whether those of the tree satisfy every
/// constraint.
pub(crate) fn fit(settings: &Settings, mechanism: &Mechanism, s: &State) -> Result<bool, SetupError> {
    let refuse =
        |what: String, hint: &'static str| SetupError::JointCoordinates { what, hint, at: Span::NONE };
    if notes::rotation(mechanism.system()) == Some("euler_zxz") {
        let what = "`rotation = \"euler_zxz\"`".into();
        return Err(refuse(what, "bodies have no angles of their own there: leave one of the two out"));
    }
    let tree = Tree::new(mechanism.system(), mechanism.discrete());
    let mut tree = tree.map_err(|e| refuse(e.to_string(), "take `coordinates = \"absolute\"`"))?;
    let (mut own, mut back) = (State::zeros(tree.structure()), s.clone());
    tree.compress(s, &mut own);
    tree.expand(&own, &mut back);

    // a joint of the tree cannot stand open, nor move across itself
    let mut apart = vec![0.0; s.v.len()];
    mechanism.difference(&back.q, &s.q, &mut apart);
    let most = |x: &mut dyn Iterator<Item = f64>| x.fold(0.0_f64, |most, x| most.max(x.abs()));
    let open = most(&mut apart.iter().copied());
    let sliding = most(&mut back.v.iter().zip(&s.v).map(|(a, b)| a - b));
    if open > settings.certify.position || sliding > settings.certify.velocity {
        let what = format!(
            "a start that violates its joints or drivers, by {open:.1e} and a speed of {sliding:.1e}"
        );
        return Err(refuse(what, "`assembly = \"full\"` makes it consistent"));
    }
    Ok(Chart::is_whole(&tree))
}
