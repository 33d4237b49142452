//! Describes what to change where a run did not keep its certificate: a sentence for each item that failed.

use crate::method::Method;
use crate::report::{Certificate, CertificateItem};
use sarrus_solve::{Rotations, integrators};
use sarrus_system::MeshError;

/// A tolerance below this is rounding.
const LEAST_RTOL: f64 = 1e-13;
/// Defines what is asked for lies below what is needed by this factor.
const MARGIN: f64 = 0.5;

/// For the items of `certificate` that failed; `fixed` is the step where it is \[s\].
pub(crate) fn of(
    certificate: &Certificate,
    method: &Method,
    fixed: Option<f64>,
    rotations: &Rotations,
    mesh: Option<&MeshError>,
) -> Vec<String> {
    let failed = certificate.items().filter(|(_, item)| !item.passed);
    let mut said: Vec<String> = Vec::new();
    for (name, item) in failed {
        let sentence = match name {
            "rotation" => shorter_for_rotation(fixed, rotations),
            "reactions" => "take a formulation that finds multipliers of least norm (--formulation proximal), or leave out redundant \
                 constraints"
                .into(),
            "finite" => "correct what the note names, or leave its column out of `output.columns`".into(),
            "events" => "take shorter steps (--step) where the note says that an event may have been missed".into(),
            "mesh" => match mesh {
                Some(mesh) => format!("refine `{}`: {}", mesh.beam, finer(mesh, item.limit)),
                None => continue,
            },
            "position" | "velocity" | "drivers" if method.formulation.name.starts_with("penalty") => {
                "constraints that are springs give way: a higher `frequency` (penalty:frequency=1e4) makes them stiffer".into()
            }
            "position" | "velocity" | "drivers" if method.stabilization.name == "none" && fixed.is_none() => format!(
                "without stabilization constraints drift: take `--stabilization projection`, or {}",
                more_exact(&item, method, fixed)
            ),
            _ => more_exact(&item, method, fixed),
        };
        let sentence = format!("{name}: {sentence}");
        // one that serves several is said once
        let tail = |text: &str| text.split_once(": ").map(|(_, tail)| tail.to_string());
        if !said.iter().any(|other| tail(other) == tail(&sentence)) {
            said.push(sentence);
        }
    }
    said
}

/// A tighter tolerance, or a shorter step, that would bring `item` below its limit.
pub(crate) fn more_exact(item: &CertificateItem, method: &Method, fixed: Option<f64>) -> String {
    let part = MARGIN * item.limit / item.value;
    if let Some(h) = fixed {
        let order = integrators::find(&method.integrator.name).map_or(1, |kind| kind.least_order.max(1));
        let step = h * part.powf(1.0 / f64::from(order));
        return match step.is_finite() && step > 0.0 {
            true => format!("take shorter steps (--step {:.0e})", (step / floor(step)).floor() * floor(step)),
            false => "take shorter steps (--step)".into(),
        };
    }
    let rtol = method.rtol * part;
    if rtol >= LEAST_RTOL && rtol < method.rtol {
        return format!("tighten the tolerances (--rtol {:.0e})", floor(rtol));
    }
    format!(
        "tighten the tolerances (--rtol {LEAST_RTOL:.0e}), or find what is not smooth in the model: it is far above its limit"
    )
}

/// The power of ten below.
fn floor(x: f64) -> f64 {
    10_f64.powf(x.log10().floor())
}

fn shorter_for_rotation(fixed: Option<f64>, rotations: &Rotations) -> String {
    match (fixed, rotations.worst) {
        (Some(_), Some(worst)) if worst.angle > 0.0 => {
            let step = worst.h * worst.limit / worst.angle;
            format!("take steps of {step:.1e} s or less (--step), or an adaptive integrator")
        }
        _ => "tighten the tolerances (--rtol), which shortens steps".into(),
    }
}

/// The mesh that would bring a beam's error below `limit`.
pub(crate) fn finer(mesh: &MeshError, limit: f64) -> String {
    let MeshError { relative, elements, order, .. } = mesh;
    // errors fall with h of rigid segments, with h² of order 1, and at least with h^(p+1) of others
    let times = (relative / (MARGIN * limit)).powf(1.0 / (*order as f64 + 1.0)).max(1.0);
    let n = (*elements as f64 * times).ceil();
    match order {
        0 => format!("about {n} segments (`segments`), or a `beam`"),
        1 => format!("about {n} elements (`elements`), or {elements} of order 3 (`order`)"),
        _ => format!("about {n} elements of order {order} (`elements`)"),
    }
}
