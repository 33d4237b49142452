//! Starts beyond rigid limits of joints.

use super::AssemblyError;
use crate::events::APART;
use sarrus_model::{Model, Span};
use sarrus_solve::State;
use sarrus_system::System;
use std::sync::Arc;

/// The first coordinate that starts beyond one of its rigid limits, by more than an event at the limit would move it.
pub(super) fn beyond(
    model: &Model,
    system: &Arc<System>,
    state: &State,
    discrete: &[f64],
) -> Option<AssemblyError> {
    let joints = &system.directory.joints;
    let acts = |element: usize| system.element_index(element).is_some();
    let limited = || joints.iter().filter(|j| acts(j.element) && j.limits.iter().any(Option::is_some));
    limited().next()?;
    let tolerance = APART * state.q.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    let mut mechanism = system.mechanism();
    mechanism.set_discrete(discrete);
    mechanism.observe(state, |at| {
        for joint in limited() {
            let [a, b] = joint.bodies.map(|body| body as usize);
            for (k, limits) in joint.limits.iter().enumerate() {
                let Some(limits) = limits.map(|limits| limits.values) else { continue };
                let value = joint.coordinate(k, a, b).value(at);
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
