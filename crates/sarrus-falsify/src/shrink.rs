//! Small model files of what was found: elements, options and digits go while the finding stays.

use crate::scene::{SceneFile, SceneTable, SceneValue, set};
use std::time::{Duration, Instant};

/// A finding shrinks for no longer than this.
const PATIENCE: Duration = Duration::from_secs(40);

/// Runs are made no shorter than about this \[s\].
const SHORTEST: f64 = 0.02;

/// The smallest scene found that `persists`.
pub fn shrink(scene: &SceneFile, persists: &mut dyn FnMut(&SceneFile) -> bool) -> SceneFile {
    let mut best = scene.clone();
    let until = Instant::now() + PATIENCE;
    let mut keep = |best: &mut SceneFile, candidate: SceneFile| {
        let better = candidate != *best && Instant::now() < until && persists(&candidate);
        if better {
            *best = candidate;
        }
        better
    };
    loop {
        let before = best.clone();
        for name in best.elements.iter().rev().map(|e| e.name.clone()).collect::<Vec<_>>() {
            let candidate = best.without(&name);
            keep(&mut best, candidate);
        }
        shorten(&mut best, &mut keep);
        for index in 0..2 + best.elements.len() {
            thin(&mut best, index, &mut keep);
        }
        if best == before || Instant::now() >= until {
            return best;
        }
    }
}

type TryCandidate<'a> = dyn FnMut(&mut SceneFile, SceneFile) -> bool + 'a;

/// Halves the time of the run. Closed forms are values at rows, and need the run as it is.
fn shorten(best: &mut SceneFile, keep: &mut TryCandidate) {
    while best.expected.is_empty() && best.t_end() > SHORTEST {
        let mut candidate = best.clone();
        set(&mut candidate.run, "t_end", 0.5 * best.t_end());
        candidate.every *= 0.5;
        if !keep(best, candidate) {
            return;
        }
    }
}

/// The table of a place: `[run]`, `[initial]`, then the elements.
fn table_of(scene: &mut SceneFile, index: usize) -> Option<&mut SceneTable> {
    match index {
        0 => Some(&mut scene.run),
        1 => Some(&mut scene.initial),
        i => match scene.elements.get_mut(i - 2).map(|e| &mut e.value) {
            Some(SceneValue::Table(table)) => Some(table),
            _ => None,
        },
    }
}

/// Takes keys out of a table, and digits out of its numbers.
fn thin(best: &mut SceneFile, index: usize, keep: &mut TryCandidate) {
    let n = table_of(best, index).map_or(0, |t| t.len());
    for i in (0..n).rev() {
        let mut candidate = best.clone();
        if let Some(table) = table_of(&mut candidate, index)
            && table[i].0 != "t_end"
        {
            table.remove(i);
            keep(best, candidate);
        }
    }
    if !best.expected.is_empty() {
        return;
    }
    for digits in [1, 2] {
        let n = table_of(best, index).map_or(0, |t| t.len());
        for i in 0..n {
            let mut candidate = best.clone();
            if let Some(table) = table_of(&mut candidate, index) {
                table[i].1.each_number(&mut |x| *x = rounded(*x, digits));
                keep(best, candidate);
            }
        }
    }
}

/// A number in so many digits.
fn rounded(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits - 1).parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::generate;

    #[test]
    fn a_planted_fault_shrinks_to_what_carries_it() {
        // the fault: a revolute joint with damping, in a scene of several elements
        let planted = |scene: &SceneFile| {
            scene.section("joints").any(|e| e.kind() == "revolute" && e.get("damping").is_some())
        };
        let scene = (0..2000).map(|i| generate(1, i)).find(|s| planted(s) && s.elements.len() > 8);
        let scene = scene.expect("a scene with damping");
        let small = shrink(&scene, &mut |s| planted(s));
        let names: Vec<_> = small.elements.iter().map(|e| e.section).collect();
        assert_eq!(names, ["joints"], "{}", small.toml());
        assert_eq!(small.elements[0].keys().map(Vec::len), Some(2), "{}", small.toml());
        assert!(small.initial.is_empty() && small.run.len() == 1);
    }
}
