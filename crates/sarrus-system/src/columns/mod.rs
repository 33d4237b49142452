//! Columns of the results: every readable number, with its name and unit.

mod acceleration;
mod add;
mod finite;
mod patterns;
mod reaction;
mod source;

pub(crate) use crate::measures::MeasureExpression as Reading;
pub use finite::NonFiniteNumbers;
pub use patterns::matches;
pub use reaction::{REACTIONS, RowWrench, joint_reaction, reaction_rows, reactions};
pub(crate) use reaction::{clearance_force, joint_wrench};
pub(crate) use source::ColumnSource;

use crate::At;
use crate::measures::{self, Measure};
use crate::mechanism::Mechanism;
use crate::signal::Signal;
use crate::system::System;
use acceleration::acceleration_named;
use patterns::WantedColumns;
use reaction::reaction_named;
use sarrus_math::{Enclosure, Interval};
use sarrus_model::{Diagnostic, Model, RuntimeExpr};
use sarrus_solve::{Accel, Equations, State};
use std::collections::HashMap;
use std::sync::Arc;

/// The columns after `t`.
#[derive(Clone)]
pub struct Columns {
    /// Their names.
    pub names: Vec<String>,
    /// Their units; empty where unknown.
    pub units: Vec<&'static str>,
    sources: Vec<ColumnSource>,
    measures: Measures,
    needs_reactions: bool,
}

/// The measures that columns read, each after those that it reads itself.
#[derive(Clone, Default)]
struct Measures {
    /// Place of its first value, and the measure.
    list: Vec<(usize, Measure)>,
    /// Number of values.
    values: usize,
}

impl Measures {
    /// The component and the measure of a value.
    fn of(&self, value: usize) -> Option<(usize, &Measure)> {
        let own = |(start, measure): &&(usize, Measure)| {
            (*start..start + measure.components.len()).contains(&value)
        };
        self.list.iter().find(own).map(|(start, measure)| (value - start, measure))
    }

    /// Bounds on a value over an interval of time.
    fn enclose(&self, value: usize, at: &At<Enclosure>) -> Enclosure {
        match self.of(value) {
            Some((k, measure)) => measure.enclose(k, at, &|value| self.enclose(value, at)),
            None => Enclosure::jumping(Interval::ALL),
        }
    }
}

/// Columns that others read by name.
pub(crate) type ColumnIndex<'a> = HashMap<&'a str, &'a ColumnSource>;

/// Holds what a row is computed from, beside the mechanism.
pub struct Snapshot<'a> {
    /// The state.
    pub state: &'a State,
    /// The equations there.
    pub eq: &'a Equations,
    /// Accelerations and multipliers there.
    pub accel: &'a Accel,
}

/// Holds what one number of a row is computed from.
#[derive(Clone, Copy)]
pub(crate) struct RowSource<'a> {
    pub system: &'a System,
    pub snapshot: &'a Snapshot<'a>,
    pub at: &'a crate::At<'a, f64>,
    energies: &'a [f64; 5],
    violations: &'a [f64; 3],
    /// Gap, force and slip by contact.
    contacts: &'a [[f64; 3]],
    /// Values of the measures so far.
    measures: &'a [f64],
    /// Values that the reader has found itself so far.
    own: &'a [f64],
}

impl<'a> RowSource<'a> {
    /// The same with values that the reader has found itself.
    pub fn with_own<'b>(&self, own: &'b [f64]) -> RowSource<'b>
    where
        'a: 'b,
    {
        RowSource { own, ..*self }
    }
}

/// Values of measures that fit on the stack.
const FEW: usize = 32;

impl Columns {
    /// All columns whose names fit the patterns: `*` any letters, `?` one, a leading `!` takes names away again.
    pub fn new(model: &Model, system: &Arc<System>, patterns: &[String]) -> Result<Columns, Vec<Diagnostic>> {
        let own: Vec<String> = patterns.iter().map(|pattern| system.directory.own_name(pattern)).collect();
        if own.is_empty() {
            return Columns::all(model, system)?.select(&own);
        }
        // of a large model few columns are asked for; what is wrong is said with all names at hand
        let few = Columns::among(model, system, &WantedColumns::of(&own)).and_then(|few| few.select(&own));
        few.or_else(|_| Columns::all(model, system)?.select(&own))
    }

    /// Returns whether there are such columns, and whether what they read is there.
    pub fn check(model: &Model, system: &Arc<System>, patterns: &[String]) -> Result<(), Vec<Diagnostic>> {
        if patterns.iter().any(|pattern| pattern != "*") {
            return Columns::new(model, system, patterns).map(drop);
        }
        // all of them can be read but measures, which say what they read
        let few = Columns::among(model, system, &WantedColumns::of(&[]));
        few.or_else(|_| Columns::all(model, system)).map(drop)
    }

    /// Those of the measures.
    pub fn measures(model: &Model, system: &Arc<System>) -> Result<Columns, Vec<Diagnostic>> {
        let all = Columns::among(model, system, &WantedColumns::of(&[]))
            .or_else(|_| Columns::all(model, system))?;
        let names = all.names.iter().zip(&all.sources).filter(|(_, source)| source.measure().is_some());
        let names: Vec<String> = names.map(|(name, _)| name.clone()).collect();
        if names.is_empty() { Ok(Columns::none()) } else { all.select(&names) }
    }

    /// No columns.
    pub(crate) fn none() -> Columns {
        Columns {
            names: vec![],
            units: vec![],
            sources: vec![],
            measures: Measures::default(),
            needs_reactions: false,
        }
    }

    /// Every column there is.
    pub(crate) fn all(model: &Model, system: &Arc<System>) -> Result<Columns, Vec<Diagnostic>> {
        Columns::among(model, system, &WantedColumns { ends: None })
    }

    /// Those that are wanted, and some others.
    fn among(
        model: &Model,
        system: &Arc<System>,
        wanted: &WantedColumns,
    ) -> Result<Columns, Vec<Diagnostic>> {
        let mut all = Columns::none();
        all.add_bodies(system, wanted);
        all.add_nodes(system);
        all.add_joints(system, wanted);
        all.add_constraints(system);
        all.add_drivers_and_forces(system);
        all.add_contacts(system);
        for controller in &system.controllers {
            for (output, slot) in &controller.outputs {
                all.push(
                    format!("{}.{output}", controller.name),
                    "",
                    ColumnSource::Live(Box::new(Signal::Output(*slot))),
                );
            }
        }
        let totals = all.names.len();
        for (i, name) in ["kinetic", "potential", "dissipated", "work", "balance"].iter().enumerate() {
            all.push(format!("energy.{name}"), "J", ColumnSource::Energy(i));
        }
        for (i, name) in ["position", "velocity", "acceleration"].iter().enumerate() {
            all.push(format!("violation.{name}"), "", ColumnSource::Violation(i));
        }
        // measures read all of these, and stand before the totals
        let totals_end = all.names.len();
        all.add_measures(model, system)?;
        all.names[totals..].rotate_left(totals_end - totals);
        all.units[totals..].rotate_left(totals_end - totals);
        all.sources[totals..].rotate_left(totals_end - totals);
        Ok(all)
    }

    /// Returns what other columns read by name; the directory knows the live ones, their derivatives and the joints.
    pub(crate) fn index(&self) -> ColumnIndex<'_> {
        let all = self.names.iter().map(String::as_str).zip(&self.sources);
        let found = |s: &ColumnSource| {
            matches!(s, ColumnSource::Live(_) | ColumnSource::Reaction(..) | ColumnSource::Acceleration(_))
        };
        all.filter(|(_, source)| !found(source)).collect()
    }

    /// Binds an expression that may read every column, by their `index`, and names `own` of its element.
    pub(crate) fn bind(
        &self,
        model: &Model,
        system: &System,
        index: &ColumnIndex,
        expr: &RuntimeExpr,
        own: &[(&str, ColumnSource)],
    ) -> Result<Reading, Diagnostic> {
        let column = |name: &str| found(system, index, name);
        measures::bind(model, system, expr, own, &column, &self.names)
    }

    /// Keeps of the measures what `readings` need, and no columns.
    pub(crate) fn keep_for<'a>(&mut self, readings: impl Iterator<Item = &'a Reading>) {
        let sources: Vec<ColumnSource> = readings.flat_map(|r| r.sources().iter().cloned()).collect();
        (self.names, self.units) = (vec![], vec![]);
        self.needs_reactions = self.keep_measures(&sources);
        self.sources = sources;
    }

    /// Returns what leaves a reading undecided, if it is one that is a condition and undecided.
    pub(crate) fn undecided(&self, reading: &Reading, row: &RowSource) -> Option<String> {
        reading.undecided(row, &|value| self.measures.fault(value, row))
    }

    /// Returns whether a reading is known only with accelerations and multipliers, or reads totals that are.
    pub(crate) fn reading_needs_reactions(&self, reading: &Reading) -> bool {
        let mut wanted = vec![false; self.measures.values];
        let direct = ColumnSource::needs_solution;
        let mut needs = false;
        for source in reading.sources() {
            needs |= direct(source);
            source.measure().into_iter().for_each(|v| wanted[v] = true);
        }
        for (start, measure) in self.measures.list.iter().rev() {
            if wanted[*start..start + measure.components.len()].contains(&true) {
                needs |= measure.needs_solution();
                measure.sources().filter_map(ColumnSource::measure).for_each(|v| wanted[v] = true);
            }
        }
        needs
    }

    /// Bounds on a reading over an interval of time.
    pub(crate) fn enclose(&self, reading: &Reading, at: &At<Enclosure>) -> Enclosure {
        reading.enclose(at, &|value| self.measures.enclose(value, at))
    }

    /// Returns whether there are such; calls `found` with the bodies that it reads.
    pub(crate) fn is_bounded(&self, reading: &Reading, found: &mut dyn FnMut(usize)) -> bool {
        let mut values = Vec::new();
        let mut note = |value: usize| {
            values.push(value);
            true
        };
        if !reading.is_bounded(found, &mut note) {
            return false;
        }
        // measures read measures before them
        let mut next = 0;
        while next < values.len() {
            let Some((_, measure)) = self.measures.of(values[next]) else { return false };
            next += 1;
            let mut more = Vec::new();
            let bounded = measure.is_bounded(found, &mut |value| {
                more.push(value);
                true
            });
            if !bounded {
                return false;
            }
            more.retain(|value| !values.contains(value));
            values.extend(more);
        }
        true
    }

    fn push(&mut self, name: String, unit: &'static str, source: ColumnSource) {
        self.names.push(name);
        self.units.push(unit);
        self.sources.push(source);
    }

    fn select(self, patterns: &[String]) -> Result<Columns, Vec<Diagnostic>> {
        let mut keep = vec![patterns.is_empty(); self.names.len()];
        for pattern in patterns {
            let (wanted, pattern) = match pattern.strip_prefix('!') {
                Some(rest) => (false, rest),
                None => (true, pattern.as_str()),
            };
            let mut found = pattern == "t";
            for (keep, name) in keep.iter_mut().zip(&self.names) {
                if matches(pattern.as_bytes(), name.as_bytes()) {
                    *keep = wanted;
                    found = true;
                }
            }
            if !found && wanted {
                let near = sarrus_model::suggest::suggest(pattern, self.names.iter().map(String::as_str));
                let error = Diagnostic::bare(format!("output.columns: no column fits `{pattern}`"));
                return Err(vec![match near {
                    Some(near) => error.hint(format!("did you mean `{near}`?")),
                    None => error.hint("`*` stands for any letters, `?` for one"),
                }]);
            }
        }
        let mut columns = Columns { measures: self.measures, ..Columns::none() };
        for (((name, unit), source), keep) in
            self.names.into_iter().zip(self.units).zip(self.sources).zip(keep)
        {
            if keep {
                columns.push(name, unit, source);
            }
        }

        let sources = std::mem::take(&mut columns.sources);
        columns.needs_reactions = columns.keep_measures(&sources);
        columns.sources = sources;
        Ok(columns)
    }

    /// Keeps the measures that `sources` read, from the last, which nothing before it reads. Returns whether anything of it
    /// needs accelerations and multipliers.
    fn keep_measures(&mut self, sources: &[ColumnSource]) -> bool {
        let Measures { list, values } = std::mem::take(&mut self.measures);
        let mut wanted = vec![false; values];
        let mut reactions = sources.iter().any(ColumnSource::needs_reactions);
        sources.iter().filter_map(ColumnSource::measure).for_each(|v| wanted[v] = true);
        let mut retained = Vec::new();
        for (start, measure) in list.into_iter().rev() {
            if wanted[start..start + measure.components.len()].contains(&true) {
                measure.sources().filter_map(ColumnSource::measure).for_each(|v| wanted[v] = true);
                reactions |=
                    measure.needs_reactions() || measure.sources().any(ColumnSource::needs_reactions);
                retained.push((start, measure));
            }
        }
        retained.reverse();
        self.measures = Measures { list: retained, values };
        reactions
    }

    /// Returns whether a row needs accelerations and multipliers.
    pub fn needs_reactions(&self) -> bool {
        self.needs_reactions
    }

    /// Fills a row.
    pub fn row(&self, m: &mut Mechanism, s: &State, eq: &Equations, accel: &Accel, out: &mut [f64]) {
        self.with_row(m, s, Some((eq, accel)), |row, at| {
            let mut reaction = (usize::MAX, [0.0; 6]);
            for (out, source) in out.iter_mut().zip(&self.sources) {
                *out = match source {
                    ColumnSource::Reaction(joint, k) => {
                        if reaction.0 != *joint {
                            reaction = (*joint, joint_reaction(row.system, row.snapshot, at, *joint));
                        }
                        reaction.1[*k]
                    }
                    other => other.read(row),
                };
            }
        });
    }

    /// Hands out what numbers are read from at `s`, measures included; without equations and accelerations what needs
    /// them must not be read.
    pub(crate) fn with_row<T>(
        &self,
        m: &mut Mechanism,
        s: &State,
        known: Option<(&Equations, &Accel)>,
        read: impl FnOnce(&RowSource, &crate::At<f64>) -> T,
    ) -> T {
        let nothing = (&Equations::default(), &Accel::default());
        let (eq, accel) = known.unwrap_or(nothing);
        let snapshot = Snapshot { state: s, eq, accel };
        let energy = m.energy(s);
        let energies = [energy.kinetic, energy.potential, energy.dissipated, energy.work, energy.balance()];
        let violations = if known.is_some() { violations(m.system(), &snapshot) } else { [f64::NAN; 3] };
        let system = m.system().clone();
        let contacts = m.save_readings(s);
        let result = m.observe(s, |at| {
            let base = RowSource {
                system: &system,
                snapshot: &snapshot,
                at,
                energies: &energies,
                violations: &violations,
                contacts: &contacts,
                measures: &[],
                own: &[],
            };
            // a few measures need no room of their own
            let (mut few, mut many) = ([0.0; FEW], Vec::new());
            let values = match self.measures.values {
                n if n <= FEW => &mut few[..n],
                n => {
                    many.resize(n, 0.0);
                    &mut many[..]
                }
            };
            for (start, measure) in &self.measures.list {
                if known.is_none() && measure.needs_solution() {
                    continue;
                }
                for k in 0..measure.components.len() {
                    let value = measure.eval(k, &RowSource { measures: values, ..base });
                    values[start + k] = value;
                }
            }
            read(&RowSource { measures: values, ..base }, at)
        });
        m.restore_readings(contacts);
        result
    }
}

/// The source of a column by its name: among those of `index`, or what the directory knows and that is found only with
/// accelerations and multipliers.
fn found(system: &System, index: &ColumnIndex, name: &str) -> Option<ColumnSource> {
    let listed = index.get(name).map(|&source| source.clone());
    listed.or_else(|| reaction_named(system, name)).or_else(|| acceleration_named(system, name))
}

/// 2-norms of Φ, Φ̇ and Φ̈ = J v̇ - γ.
pub fn violations(system: &System, snapshot: &Snapshot) -> [f64; 3] {
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>().sqrt();
    let s = &system.structure;
    let position = norm(&mut s.holonomic_rows().flat_map(|rows| snapshot.eq.phi[rows].iter().copied()));
    let velocity = norm(&mut snapshot.eq.phidot.iter().copied());
    let mut square = 0.0;
    for row in &s.rows {
        for i in 0..row.size {
            let mut sum = -snapshot.eq.gamma[row.start + i];
            for entry in &s.entries[row.entries.clone()] {
                let col = s.cols[entry.col];
                let J = &snapshot.eq.J[entry.offset + i * col.size..][..col.size];
                let vdot = &snapshot.accel.vdot[col.start..col.start + col.size];
                sum += J.iter().zip(vdot).map(|(a, b)| a * b).sum::<f64>();
            }
            square += sum * sum;
        }
    }
    [position, velocity, square.sqrt()]
}
