//! Newton's law body by body: where joints alone hold a body, m a = m g + the reactions that the results have.

use super::masses::{self, add, norm};
use super::{Oracle, OracleVerdict, SceneRun};
use crate::scene::{SceneElement, SceneFile, SceneValue, tokens};

/// Newton's law.
pub const NEWTON: Oracle = Oracle {
    name: "newton",
    doc: "mass times acceleration is weight and reactions, body by body",
    cheap: true,
    judge: |case, _| judge(case),
};

/// Defines what a joint is made of beside options that act on it.
const PLAIN: [&str; 8] = ["kind", "bodies", "at", "on", "axis", "axis_on", "axis2", "lead"];

/// The two bodies of a joint that nothing but its constraint acts through.
fn plain(e: &SceneElement) -> Option<[&str; 2]> {
    let keys = e.keys()?;
    let bodies = match e.get("bodies")? {
        SceneValue::List(list) => list.iter().filter_map(SceneValue::text).collect::<Vec<_>>(),
        _ => return None,
    };
    let is_plain = keys.iter().all(|(k, _)| PLAIN.contains(&k.as_str()));
    <[&str; 2]>::try_from(bodies).ok().filter(|_| is_plain)
}

fn judge(case: &mut SceneRun) -> OracleVerdict {
    let Some(base) = case.certified() else { return OracleVerdict::Silent };
    let (run, scene) = (&base.trajectory, &case.scene);
    let Some(bodies) = masses::bodies(scene, run) else { return OracleVerdict::Silent };
    let mut seen = false;
    for body in &bodies {
        let Some(reactions) = reactions(scene, &body.name) else { continue };
        let mut columns = Vec::new();
        for (joint, sign) in &reactions {
            let index_of = |c: &str| run.index(&format!("{joint}.{c}"));
            let (Some(x), Some(y)) = (index_of("fx"), index_of("fy")) else { return OracleVerdict::Silent };
            columns.push((x, y, index_of("fz"), *sign));
        }
        let mut scale = body.mass * norm(scene.gravity) + 1e-6;
        let mut rows = Vec::new();
        for row in run.rows() {
            let a = body.motion(row).a;
            let mut rest = add(a.map(|x| x * body.mass), -body.mass, scene.gravity);
            for &(x, y, z, sign) in &columns {
                let force = [row[x], row[y], z.map_or(0.0, |z| row[z])];
                scale = scale.max(norm(force));
                rest = add(rest, -sign, force);
            }
            scale = scale.max(body.mass * norm(a));
            rows.push((norm(rest), row[0]));
        }
        seen = true;
        if let Some((rest, t)) = rows.into_iter().find(|(rest, _)| !(*rest <= 1e-6 * scale)) {
            let relative = rest / scale;
            return OracleVerdict::Wrong(format!(
                "m a of {} misses its forces by {relative:.2e} of them at t = {t}",
                body.name
            ));
        }
    }
    if seen { OracleVerdict::Agrees } else { OracleVerdict::Silent }
}

/// The joints of a body with the signs of their reactions; none if anything else acts on it.
fn reactions<'a>(scene: &'a SceneFile, body: &str) -> Option<Vec<(&'a str, f64)>> {
    let mut out = Vec::new();
    for e in &scene.elements {
        match e.section {
            "joints" if SceneFile::mentions(&e.value, body) => {
                let [first, second] = plain(e)?;
                out.extend((first == body).then_some((e.name.as_str(), -1.0)));
                out.extend((second == body).then_some((e.name.as_str(), 1.0)));
            }
            "measures" | "materials" | "bodies" | "controllers" => {}
            // an element may act on a body through a joint or a contact of all bodies
            "joints" => {}
            "contacts" | "events" | "include" => return None,
            _ if SceneFile::mentions(&e.value, body) => return None,
            _ => {}
        }
    }
    let touched = |joint: &str| {
        let others = scene.elements.iter().filter(|e| !["joints", "measures", "bodies"].contains(&e.section));
        others.clone().any(|e| SceneFile::mentions(&e.value, joint))
    };
    let coordinates_only = out.iter().all(|(joint, _)| !touched(joint) && tokens(joint).count() == 1);
    (coordinates_only && !out.is_empty()).then_some(out)
}
