//! Coordinates and components beside those that are stated.

use super::initial::HeldReading;
use super::preferred::{Preference, Preferred};
use sarrus_model::Setting;
use sarrus_system::signal::Signal;
use sarrus_system::system::Family;
use sarrus_system::{ConstraintElement, System};
use std::sync::Arc;

const OMEGAS: [&str; 3] = ["wx", "wy", "wz"];

/// Returns what a dotted path reads, with the bodies that it reads, each once.
pub(super) fn signals(system: &System, path: &str) -> Result<(Vec<Signal>, Vec<u32>), String> {
    let mut ids: Vec<u32> = Vec::new();
    let signals = system.directory.read(path, &mut |body| {
        ids.iter().position(|id| *id == body).unwrap_or_else(|| {
            ids.push(body);
            ids.len() - 1
        })
    })?;
    Ok((signals, ids))
}

/// The same for one number.
fn signal(system: &System, path: &str) -> Option<(Signal, Vec<u32>)> {
    let (signals, ids) = signals(system, path).ok()?;
    Some((signals.into_iter().next()?, ids))
}

/// A joint and the coordinate of it that `path` names: its index, and whether it is the speed.
fn coordinate(system: &System, path: &str) -> Option<(usize, usize, bool)> {
    let (name, word) = path.rsplit_once('.')?;
    let joint = system.directory.joint(name)?;
    let coordinates = system.directory.joints[joint].face.coordinates();
    let number = coordinates.iter().position(|c| c.name == word || c.speed == word)?;
    Some((joint, number, coordinates[number].speed == word))
}

/// The readings of the coordinates of a joint in the model pose.
fn model_readings(system: &Arc<System>, joint: usize) -> Vec<f64> {
    let entry = &system.directory.joints[joint];
    let [a, b] = entry.bodies.map(|body| body as usize);
    let count = entry.face.coordinates().len();
    let mut mechanism = system.mechanism();
    mechanism.observe(&system.start(), |at| (0..count).map(|k| entry.coordinate(k, a, b).value(at)).collect())
}

/// The angle that says the same as `value` of the length that `path` names, where a joint couples them: the nut on a thread. It counts turns, and
/// leads an iteration along the thread.
pub(super) fn coupled(
    system: &Arc<System>,
    settings: &[Setting],
    path: &str,
    value: f64,
) -> Option<(Signal, Vec<u32>, f64)> {
    let (joint, number, is_speed) = coordinate(system, path)?;
    let entry = &system.directory.joints[joint];
    let coordinates = entry.face.coordinates();
    let factors = entry.face.coupling().filter(|_| !is_speed && !coordinates[number].is_angle())?;
    let angle = coordinates.iter().position(|c| c.is_angle()).filter(|k| factors[*k] != 0.0)?;
    let other = format!("{}.{}", entry.name, coordinates[angle].name);
    if settings.iter().any(|setting| setting.path == other) {
        return None;
    }
    let read = model_readings(system, joint);
    let (signal, ids) = signal(system, &other)?;
    Some((signal, ids, read[angle] - factors[number] / factors[angle] * (value - read[number])))
}

/// Rows of coordinates of joints, and of components of angular velocities, that are not stated beside others that are: of positions, and of
/// velocities.
pub(super) fn find(system: &Arc<System>, settings: &[Setting]) -> [Vec<Preferred>; 2] {
    let mut rows = [Vec::new(), Vec::new()];
    let is_stated = |path: &str| settings.iter().any(|setting| setting.path == path);
    let mut done = std::collections::HashSet::new();
    let mut add = |path: String, value: f64| {
        if is_stated(&path) || !done.insert(path.clone()) {
            return;
        }
        if let Some((signal, ids)) = signal(system, &path) {
            let level = usize::from(signal.needs_velocity());
            let hold = Arc::new(HeldReading { terms: vec![(1.0, signal)], value });
            let element = ConstraintElement::new(path, Family::Hold, ids, hold);
            rows[level].push(Preferred::new(element, Preference::Sibling));
        }
    };
    for setting in settings {
        let Some((name, word)) = setting.path.rsplit_once('.') else { continue };
        if OMEGAS.contains(&word) {
            OMEGAS.iter().for_each(|other| add(format!("{name}.{other}"), 0.0));
            continue;
        }
        let Some((joint, _, is_speed)) = coordinate(system, &setting.path) else { continue };
        let face = &system.directory.joints[joint].face;
        // coupled coordinates follow each other
        if face.coordinates().len() < 2 || face.coupling().is_some() {
            continue;
        }
        let read = if is_speed { Vec::new() } else { model_readings(system, joint) };
        for (k, c) in face.coordinates().iter().enumerate() {
            let word = if is_speed { c.speed } else { c.name };
            add(format!("{name}.{word}"), read.get(k).copied().unwrap_or(0.0));
        }
    }
    rows
}
