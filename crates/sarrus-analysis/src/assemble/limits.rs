//! Starts beyond rigid limits of joints.

use super::AssemblyError;
use super::close::{CLOSED, TOLERABLE};
use sarrus_model::{Model, Span};
use sarrus_solve::State;
use sarrus_system::{At, System};
use std::sync::Arc;

/// The first coordinate that starts beyond one of its rigid limits, by more than rounding of what it is computed from, or than constraints are
/// off by `error` as assembled.
pub(super) fn beyond(
    model: &Model,
    system: &Arc<System>,
    state: &State,
    discrete: &[f64],
    error: f64,
) -> Option<AssemblyError> {
    let joints = &system.directory.joints;
    let acts = |element: usize| system.element_index(element).is_some();
    let limited = || joints.iter().filter(|j| acts(j.element) && j.limits.iter().any(Option::is_some));
    limited().next()?;
    let error = error.min(TOLERABLE);
    let mut mechanism = system.mechanism();
    mechanism.set_discrete(discrete);
    mechanism.observe(state, |at| {
        for joint in limited() {
            let [a, b] = joint.bodies.map(|body| body as usize);
            for (k, limits) in joint.limits.iter().enumerate() {
                let Some(limits) = limits.map(|limits| limits.values) else { continue };
                let value = joint.coordinate(k, a, b).value(at);
                let is_angle = joint.face.coordinates()[k].is_angle();
                let other = if is_angle { 1.0 } else { farthest(at, [a, b]) };
                let tolerance = error.max(CLOSED * value.abs().max(other));
                if value >= limits[0] - tolerance && value <= limits[1] + tolerance {
                    continue;
                }
                let coordinate = format!("{}.{}", joint.name, joint.face.coordinates()[k].name);
                let stated = model.initial.iter().find(|setting| setting.path == coordinate);
                let at = stated.map(|setting| setting.span);
                let at = at.or_else(|| model.find(&joint.name).map(|e| e.span)).unwrap_or(Span::NONE);
                return Some(AssemblyError::Limit { coordinate, value, limits, at });
            }
        }
        None
    })
}

/// Distance of the bodies `pair` from the origin, the larger \[m\].
fn farthest(at: &At<f64>, pair: [usize; 2]) -> f64 {
    pair.iter().fold(0.0, |most, &body| at.pose(body).p.norm().max(most))
}
