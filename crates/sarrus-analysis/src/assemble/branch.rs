//! A start in a singular position whose velocities do not tell the branch: why, and what would tell.

use super::{Assembled, AssemblyError};
use sarrus_model::{Model, Span};
use sarrus_solve::{BranchDirection, digits};
use sarrus_system::System;
use std::sync::Arc;

impl Assembled {
    /// Returns why no motion can begin here: in a singular position, where velocities do not tell along which branch.
    pub fn open_branch(&self, model: &Model, system: &Arc<System>) -> Option<AssemblyError> {
        let open = self
            .singular_starts
            .iter()
            .find(|s| matches!(s.way, BranchDirection::Open | BranchDirection::Astray))?;
        let involved: Vec<_> = open.rows.iter().filter_map(|&row| system.element_of_row(row)).collect();
        let is_new = |path: &String| {
            !model.initial.iter().any(|setting| setting.path == *path)
                && system.directory.read(path, &mut |_| 0).is_ok()
        };
        // the last is the least involved: not what is driven
        let example = involved.iter().rev().map(|e| format!("{}.rate", e.name)).find(is_new);
        let example = example.map(|path| match self.readings(&path, &open.choices, system) {
            values if values.is_empty() => format!("`{path}`"),
            values => {
                let written: Vec<String> = values.iter().map(|x| format!("`{path} = {x}`")).collect();
                written.join(" or ")
            }
        });
        Some(AssemblyError::Branches {
            elements: involved.iter().map(|e| format!("{} `{}`", e.family.name(), e.name)).collect(),
            astray: open.way == BranchDirection::Astray,
            example,
            at: involved.first().and_then(|e| model.find(&e.name)).map_or(Span::NONE, |e| e.span),
        })
    }
}

impl Assembled {
    /// Returns what `path` reads at the start with each of the velocities `v`.
    fn readings(&self, path: &str, v: &[Vec<f64>], system: &Arc<System>) -> Vec<f64> {
        let signals = system.directory.read(path, &mut |body| body as usize);
        let Some(signal) = signals.ok().and_then(|signals| signals.into_iter().next()) else { return vec![] };
        let mut m = system.mechanism();
        m.set_discrete(&self.discrete);
        let mut state = self.state.clone();
        let mut read = |v: &Vec<f64>| {
            state.v.copy_from_slice(v);
            digits(&m.observe(&state, |at| signal.eval(at)))
        };
        let mut values: Vec<f64> = v.iter().map(&mut read).collect();
        values.sort_by(f64::total_cmp);
        values
    }
}
