//! Columns of the results: every readable number, with its name and unit.

use crate::body::BodyKind;
use crate::contact::What;
pub(crate) use crate::measures::Expression as Reading;
use crate::measures::{self, Draft, Measure};
use crate::mechanism::Mechanism;
use crate::names::Named;
use crate::signal::Signal;
use crate::system::{ConstraintElement, Family, System};
use sarrus_math::Vec3;
use sarrus_model::{Diagnostic, Model, Reader, RuntimeExpr, Space};
use sarrus_solve::{Accel, Equations, State};
use std::collections::HashMap;
use std::sync::Arc;

/// Where a column's number comes from.
#[derive(Clone)]
pub(crate) enum Source {
    Live(Box<Signal>),
    /// Joint, component 0..6 (fx fy fz tx ty tz).
    Reaction(usize, usize),
    /// Minus a multiplier, by element and row: the effort of a driver. None where the driver does not act.
    Effort(usize, usize),
    /// Whether a joint is locked.
    Locked(usize),
    /// Force and reading.
    Force(usize, usize),
    /// Contact and reading: gap, force, slip.
    Contact(usize, usize),
    /// Normal force of a rigid contact.
    Bears(usize),
    /// Place among the values of measures.
    Measure(usize),
    Energy(usize),
    Violation(usize),
    /// Place among [`Row::own`].
    Own(usize),
}

/// The columns after `t`.
#[derive(Clone)]
pub struct Columns {
    /// Their names.
    pub names: Vec<String>,
    /// Their units; empty where unknown.
    pub units: Vec<&'static str>,
    sources: Vec<Source>,
    measures: Measures,
    needs_reactions: bool,
}

/// The measures that columns read, each after those that it reads itself.
#[derive(Clone, Default)]
struct Measures {
    /// Place of its first value, and the measure.
    list: Vec<(usize, Measure)>,
    /// How many values there are.
    values: usize,
}

/// Columns that others read by name.
pub(crate) type Index<'a> = HashMap<&'a str, &'a Source>;

/// What a row is computed from, beside the mechanism.
pub struct Snapshot<'a> {
    /// The state.
    pub state: &'a State,
    /// The equations there.
    pub eq: &'a Equations,
    /// Accelerations and multipliers there.
    pub accel: &'a Accel,
}

/// What one number of a row is computed from.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
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

impl<'a> Row<'a> {
    /// The same with values that the reader has found itself.
    pub fn with_own<'b>(&self, own: &'b [f64]) -> Row<'b>
    where
        'a: 'b,
    {
        Row { own, ..*self }
    }
}

/// Components of a reaction.
pub const REACTIONS: [&str; 6] = ["fx", "fy", "fz", "tx", "ty", "tz"];
const PLANAR_REACTIONS: [usize; 3] = [0, 1, 5];
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
        let few = Columns::among(model, system, &Wanted::of(&own)).and_then(|few| few.select(&own));
        few.or_else(|_| Columns::all(model, system)?.select(&own))
    }

    /// Whether there are such columns, and whether what they read is there.
    pub fn check(model: &Model, system: &Arc<System>, patterns: &[String]) -> Result<(), Vec<Diagnostic>> {
        if patterns.iter().any(|pattern| pattern != "*") {
            return Columns::new(model, system, patterns).map(drop);
        }
        // all of them can be read but measures, which say what they read
        let few = Columns::among(model, system, &Wanted::of(&[]));
        few.or_else(|_| Columns::all(model, system)).map(drop)
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
        Columns::among(model, system, &Wanted { heads: None })
    }

    /// Those that are wanted, and some others.
    fn among(model: &Model, system: &Arc<System>, wanted: &Wanted) -> Result<Columns, Vec<Diagnostic>> {
        let mut all = Columns::none();
        all.add_bodies(system, wanted);
        all.add_nodes(system);
        all.add_joints(system, wanted);
        all.add_drivers_and_forces(system);
        all.add_contacts(system);
        for controller in &system.controllers {
            for (output, slot) in &controller.outputs {
                all.push(
                    format!("{}.{output}", controller.name),
                    "",
                    Source::Live(Box::new(Signal::Output(*slot))),
                );
            }
        }
        let totals = all.names.len();
        for (i, name) in ["kinetic", "potential", "dissipated", "work", "balance"].iter().enumerate() {
            all.push(format!("energy.{name}"), "J", Source::Energy(i));
        }
        for (i, name) in ["position", "velocity", "acceleration"].iter().enumerate() {
            all.push(format!("violation.{name}"), "", Source::Violation(i));
        }
        // measures read all of these, and stand before the totals
        let totals_end = all.names.len();
        all.add_measures(model, system)?;
        all.names[totals..].rotate_left(totals_end - totals);
        all.units[totals..].rotate_left(totals_end - totals);
        all.sources[totals..].rotate_left(totals_end - totals);
        Ok(all)
    }

    /// What other columns read by name; the directory knows the live ones and the joints.
    pub(crate) fn index(&self) -> Index<'_> {
        let all = self.names.iter().map(String::as_str).zip(&self.sources);
        all.filter(|(_, source)| !matches!(source, Source::Live(_) | Source::Reaction(..))).collect()
    }

    /// Binds an expression that may read every column, by their `index`, and names `own` of its element.
    pub(crate) fn bind(
        &self,
        model: &Model,
        system: &System,
        index: &Index,
        expr: &RuntimeExpr,
        own: &[(&str, Source)],
    ) -> Result<Reading, Diagnostic> {
        let column = |name: &str| match index.get(name) {
            Some(&source) => Some(source.clone()),
            None => reaction_named(system, name),
        };
        measures::bind(model, system, expr, own, &column, &self.names)
    }

    /// Keeps of the measures what `readings` need, and no columns.
    pub(crate) fn keep_for<'a>(&mut self, readings: impl Iterator<Item = &'a Reading>) {
        let sources: Vec<Source> = readings.flat_map(|r| r.sources().iter().cloned()).collect();
        (self.names, self.units) = (vec![], vec![]);
        self.needs_reactions = self.keep_measures(&sources);
        self.sources = sources;
    }

    /// Whether a reading is known only with accelerations and multipliers, or reads totals that are.
    pub(crate) fn reading_needs_reactions(&self, reading: &Reading) -> bool {
        let mut wanted = vec![false; self.measures.values];
        let direct = Source::needs_solution;
        let mut needs = false;
        for source in reading.sources() {
            needs |= direct(source);
            source.measure().into_iter().for_each(|v| wanted[v] = true);
        }
        for (start, measure) in self.measures.list.iter().rev() {
            if wanted[*start..start + measure.components.len()].contains(&true) {
                needs |= measure.needs_solution();
                measure.sources().filter_map(Source::measure).for_each(|v| wanted[v] = true);
            }
        }
        needs
    }

    fn push(&mut self, name: String, unit: &'static str, source: Source) {
        self.names.push(name);
        self.units.push(unit);
        self.sources.push(source);
    }

    /// A column with one live signal.
    fn live(&mut self, name: String, signals: Option<Vec<Signal>>) {
        if let Some(Ok([signal])) = signals.map(<[Signal; 1]>::try_from) {
            self.push(name, signal.unit(), Source::Live(Box::new(signal)));
        }
    }

    fn add_bodies(&mut self, system: &System, wanted: &Wanted) {
        let dimensions: &[&str] =
            if system.directory.space == Space::Planar { &["x", "y"] } else { &["x", "y", "z"] };
        // identity places: a column reads bodies by their own numbers
        let mut place = |body: u32| body as usize;
        let directory = &system.directory;
        let bodies = directory.bodies.iter().enumerate().filter(|(_, b)| !b.is_internal());
        for (id, body) in bodies.filter(|(_, b)| wanted.takes(&b.name)) {
            let mut add = |field: &str| {
                self.live(
                    format!("{}.{field}", body.name),
                    directory.read_body(id as u32, field, &mut place),
                );
            };
            directory.body_columns(body).into_iter().for_each(&mut add);
            if body.kind == BodyKind::Ground {
                continue;
            }
            for (marker, _) in &body.markers {
                dimensions.iter().for_each(|axis| add(&format!("{marker}.{axis}")));
                dimensions.iter().for_each(|axis| add(&format!("{marker}.v{axis}")));
            }
        }
    }

    fn add_nodes(&mut self, system: &System) {
        for shown in &system.directory.shown {
            for field in system.directory.node_columns() {
                let name = format!("{}.{field}", shown.name);
                let signals = system.directory.read(&name, &mut |body| body as usize).ok();
                self.live(name, signals);
            }
        }
    }

    fn add_joints(&mut self, system: &System, wanted: &Wanted) {
        for (i, joint) in system.directory.joints.iter().enumerate() {
            let is_wanted = wanted.takes(&joint.name);
            if is_wanted {
                for field in system.directory.joint_columns(joint) {
                    let signals = system.directory.read_joint(i, field, &mut |body| body as usize);
                    self.live(format!("{}.{field}", joint.name), signals);
                }
            }
            // measures find it by its name among the columns, unlike the others
            if system.whole.events.lockable.binary_search(&i).is_ok() {
                self.push(format!("{}.locked", joint.name), "", Source::Locked(i));
            }
            for &k in reactions(system).iter().filter(|_| is_wanted) {
                let unit = if k < 3 { "N" } else { "N m" };
                self.push(format!("{}.{}", joint.name, REACTIONS[k]), unit, Source::Reaction(i, k));
            }
        }
    }

    fn add_drivers_and_forces(&mut self, system: &System) {
        for (index, efforts) in &system.efforts {
            let element = &system.whole.elements[*index];
            for (row, (effort, unit)) in efforts.iter().enumerate() {
                self.push(format!("{}.{effort}", element.name), unit, Source::Effort(*index, row));
            }
            if matches!(system.directory.get(&element.name), Some(Named::Pair(..))) {
                for field in ["length", "speed"] {
                    let name = format!("{}.{field}", element.name);
                    let signals = system.directory.read(&name, &mut |body| body as usize).ok();
                    self.live(name, signals);
                }
            }
        }
        for (i, force) in system.forces.iter().enumerate() {
            // springs inside joints are options of the joint: their readings are the joint's
            if inside_joint(system, &force.name) {
                continue;
            }
            for (k, (reading, unit)) in force.load.readings().iter().enumerate() {
                self.push(format!("{}.{reading}", force.name), unit, Source::Force(i, k));
            }
        }
    }

    fn add_contacts(&mut self, system: &System) {
        for (i, contact) in system.contacts.iter().enumerate() {
            let contact = &contact.contact;
            let slips = matches!(contact.what, What::Surfaces { .. });
            for (k, (reading, unit)) in [("gap", "m"), ("force", "N"), ("slip", "m/s")].iter().enumerate() {
                if k < 2 || slips {
                    let source = match (k, contact.rigid) {
                        (1, Some(_)) => Source::Bears(i),
                        _ => Source::Contact(i, k),
                    };
                    self.push(format!("{}.{reading}", contact.name), unit, source);
                }
            }
        }
    }

    fn add_measures(&mut self, model: &Model, system: &Arc<System>) -> Result<(), Vec<Diagnostic>> {
        if model.measures.is_empty() {
            return Ok(());
        }
        let (mut errors, mut drafts) = (Vec::new(), Vec::new());
        let mut values = 0;
        for element in &model.measures {
            match Draft::read(model, element, system) {
                Ok(draft) => {
                    let start = values;
                    for (k, (suffix, unit)) in draft.components().iter().enumerate() {
                        let dot = if suffix.is_empty() { "" } else { "." };
                        self.push(format!("{}{dot}{suffix}", element.name), unit, Source::Measure(start + k));
                        values += 1;
                    }
                    drafts.push((element, start, draft));
                }
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }

        // what they read: every column, their own included
        let index = self.index();
        let column = |name: &str| match index.get(name) {
            Some(&source) => Some(source.clone()),
            None => reaction_named(system, name),
        };
        let mut list = Vec::new();
        for (element, start, draft) in drafts {
            match draft.bind(model, system, &column, &self.names) {
                Ok(measure) => list.push((element, start, measure)),
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }

        // each after those that it reads
        let mut owner = vec![0; values];
        for (i, (_, start, measure)) in list.iter().enumerate() {
            owner[*start..start + measure.components.len()].fill(i);
        }
        let reads: Vec<Vec<usize>> = list
            .iter()
            .map(|(.., m)| m.sources().filter_map(Source::measure).map(|v| owner[v]).collect())
            .collect();
        match order(&reads) {
            Ok(order) => {
                let mut list: Vec<_> = list.into_iter().map(|(_, start, m)| Some((start, m))).collect();
                let list = order.into_iter().filter_map(|i| list[i].take()).collect();
                self.measures = Measures { list, values };
                Ok(())
            }
            Err(mut circle) => {
                circle.push(circle[0]);
                let names: Vec<&str> = circle.iter().map(|&i| list[i].0.name.as_str()).collect();
                let message = if names.len() == 2 {
                    format!("measure `{}` depends on itself: {}", names[0], names.join(" -> "))
                } else {
                    format!("measures read each other in a circle: {}", names.join(" -> "))
                };
                let error = Reader::open(model, list[circle[0]].0).element_error(message);
                Err(vec![error.hint("write one of them without the others")])
            }
        }
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
    fn keep_measures(&mut self, sources: &[Source]) -> bool {
        let Measures { list, values } = std::mem::take(&mut self.measures);
        let mut wanted = vec![false; values];
        let mut reactions = sources.iter().any(Source::needs_reactions);
        sources.iter().filter_map(Source::measure).for_each(|v| wanted[v] = true);
        let mut kept = Vec::new();
        for (start, measure) in list.into_iter().rev() {
            if wanted[start..start + measure.components.len()].contains(&true) {
                measure.sources().filter_map(Source::measure).for_each(|v| wanted[v] = true);
                reactions |= measure.needs_reactions() || measure.sources().any(Source::needs_reactions);
                kept.push((start, measure));
            }
        }
        kept.reverse();
        self.measures = Measures { list: kept, values };
        reactions
    }

    /// Whether a row needs accelerations and multipliers.
    pub fn needs_reactions(&self) -> bool {
        self.needs_reactions
    }

    /// Fills a row.
    pub fn row(&self, m: &mut Mechanism, s: &State, eq: &Equations, accel: &Accel, out: &mut [f64]) {
        self.with_row(m, s, Some((eq, accel)), |row, at| {
            let mut reaction = (usize::MAX, [0.0; 6]);
            for (out, source) in out.iter_mut().zip(&self.sources) {
                *out = match source {
                    Source::Reaction(joint, k) => {
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
        read: impl FnOnce(&Row, &crate::At<f64>) -> T,
    ) -> T {
        let nothing = (&Equations::default(), &Accel::default());
        let (eq, accel) = known.unwrap_or(nothing);
        let snapshot = Snapshot { state: s, eq, accel };
        let energy = m.energy(s);
        let energies = [energy.kinetic, energy.potential, energy.dissipated, energy.work, energy.balance()];
        let violations = if known.is_some() { violations(m.system(), &snapshot) } else { [f64::NAN; 3] };
        let system = m.system().clone();
        let contacts = m.take_readings(s);
        let result = m.observe(s, |at| {
            let base = Row {
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
                    let value = measure.eval(k, &Row { measures: values, ..base });
                    values[start + k] = value;
                }
            }
            read(&Row { measures: values, ..base }, at)
        });
        m.put_readings(contacts);
        result
    }
}

impl Source {
    /// The number.
    pub fn read(&self, row: &Row) -> f64 {
        match self {
            Source::Live(signal) => match **signal {
                // that of the state, whose sign does not jump
                Signal::Quaternion(body, k) => {
                    let body = &row.system.directory.bodies[row.at.ids[body] as usize];
                    body.quaternion(&row.snapshot.state.q)[k] * body.sign()
                }
                _ => signal.eval(row.at),
            },
            Source::Reaction(joint, k) => joint_reaction(row.system, row.snapshot, row.at, *joint)[*k],
            Source::Effort(id, k) => {
                row.system.element(*id).map_or(0.0, |e| -row.snapshot.accel.lambda[e.start + k])
            }
            Source::Locked(joint) => {
                let mut own = joint_elements(row.system, row.system.directory.joints[*joint].element);
                if own.any(|e| e.family == Family::Lock) { 1.0 } else { 0.0 }
            }
            Source::Force(i, k) => {
                let force = &row.system.forces[*i];
                if !force.enabled && matches!(force.load.readings()[*k].0, "force" | "torque") {
                    return 0.0;
                }
                let local = crate::At { ids: &force.ids, ..*row.at };
                force.load.reading(*k, &local)
            }
            Source::Contact(i, k) => match (&row.system.contacts[*i].contact, k) {
                (contact, 2) if contact.rigid.is_some() => rigid_reading(row, &contact.name, 2),
                _ => row.contacts[*i][*k],
            },
            Source::Bears(i) => rigid_reading(row, &row.system.contacts[*i].contact.name, 1),
            Source::Energy(i) => row.energies[*i],
            Source::Violation(i) => row.violations[*i],
            Source::Measure(v) => row.measures[*v],
            Source::Own(k) => row.own[*k],
        }
    }

    /// Place among the values of measures, if it is one.
    fn measure(&self) -> Option<usize> {
        match self {
            Source::Measure(v) => Some(*v),
            _ => None,
        }
    }

    /// Whether equations and accelerations must be known to read it.
    pub fn needs_solution(&self) -> bool {
        self.needs_reactions() || matches!(self, Source::Violation(_))
    }

    /// Whether it is known only with accelerations and multipliers.
    fn needs_reactions(&self) -> bool {
        matches!(self, Source::Reaction(..) | Source::Effort(..) | Source::Bears(_) | Source::Violation(2))
    }
}

/// Normal force or slip of a rigid contact: the sum, the largest over the places that stay closed.
fn rigid_reading(row: &Row, name: &str, k: usize) -> f64 {
    let own = row.system.elements.iter().filter(|e| e.family == Family::Contact && e.name == name);
    let closed = own.filter(|e| e.rows.holonomic() == 1);
    if k == 1 {
        return closed.map(|e| -row.snapshot.accel.lambda[e.start]).sum();
    }
    closed
        .filter_map(|e| Some(e.sliding.as_ref()?.speed(&crate::At { ids: &e.ids, ..*row.at }).abs()))
        .fold(0.0, f64::max)
}

/// The components of a reaction that there are.
pub fn reactions(system: &System) -> &'static [usize] {
    if system.directory.space == Space::Planar { &PLANAR_REACTIONS } else { &[0, 1, 2, 3, 4, 5] }
}

/// The component of a joint's reaction with a full name, such as `A.fx`.
fn reaction_named(system: &System, name: &str) -> Option<Source> {
    let (joint, component) = name.rsplit_once('.')?;
    let joint = system.directory.joint(joint)?;
    let k = reactions(system).iter().find(|&&k| REACTIONS[k] == component)?;
    Some(Source::Reaction(joint, *k))
}

/// Whether a force is a spring inside a joint: it has the joint's name, or that of one of its coordinates.
fn inside_joint(system: &System, force: &str) -> bool {
    let directory = &system.directory;
    directory.joint(force).is_some()
        || force.rsplit_once('.').is_some_and(|(joint, coordinate)| {
            directory.joint(joint).is_some_and(|i| directory.joints[i].find(coordinate).is_some())
        })
}

/// Every index after those that it reads, or a circle of them.
fn order(reads: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut order = Vec::with_capacity(reads.len());
    let (mut open, mut done) = (vec![false; reads.len()], vec![false; reads.len()]);
    for first in 0..reads.len() {
        // the way down, with how many readings of each were followed
        let mut way = if done[first] { vec![] } else { vec![(first, 0)] };
        while let Some((i, next)) = way.last_mut() {
            let i = *i;
            open[i] = true;
            match reads[i].get(*next) {
                Some(&read) => {
                    *next += 1;
                    if open[read] {
                        return Err(way.iter().map(|(i, _)| *i).skip_while(|&i| i != read).collect());
                    }
                    if !done[read] {
                        way.push((read, 0));
                    }
                }
                None => {
                    (open[i], done[i]) = (false, true);
                    order.push(i);
                    way.pop();
                }
            }
        }
    }
    Ok(order)
}

/// Force and torque that a joint exerts on its second body, in world axes at the joint's point.
pub fn joint_reaction(system: &System, snapshot: &Snapshot, at: &crate::At<f64>, joint: usize) -> [f64; 6] {
    let mut wrench = joint_wrench(system, snapshot.eq, |row| snapshot.accel.lambda[row], at, joint).0;
    let touch = clearance_force(system, at, joint);
    wrench.iter_mut().zip(&touch.0).for_each(|(w, f)| *w += f);
    wrench
}

/// The force at the end of a joint's play on its second body, at the joint's point.
pub(crate) fn clearance_force(system: &System, at: &crate::At<f64>, joint: usize) -> Vec3<f64> {
    let entry = &system.directory.joints[joint];
    match &entry.clearance {
        Some(clearance) if system.place(entry.element).is_some() => {
            clearance.reaction(&crate::At { ids: &entry.bodies, ..*at })
        }
        _ => Vec3::zero(),
    }
}

/// What a unit multiplier in one row of a joint exerts on its second body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowWrench {
    /// The row of λ.
    pub row: usize,
    /// fx fy fz tx ty tz, in world axes at the joint's point.
    pub wrench: [f64; 6],
    /// Sizes of the terms that force and torque are sums of: a component far below is rounding.
    pub size: [f64; 2],
}

/// The linear map from multipliers to the reaction of a joint, row by row.
pub fn reaction_rows(system: &System, eq: &Equations, at: &crate::At<f64>, joint: usize) -> Vec<RowWrench> {
    let rows = joint_elements(system, system.directory.joints[joint].element)
        .flat_map(|e| e.start..e.start + e.rows.rows());
    rows.map(|row| {
        let unit = |i: usize| if i == row { 1.0 } else { 0.0 };
        let (wrench, size) = joint_wrench(system, eq, unit, at, joint);
        RowWrench { row, wrench, size }
    })
    .collect()
}

/// The wrench of a joint for any multipliers, and the sizes of the terms of its force and torque.
pub(crate) fn joint_wrench(
    system: &System,
    eq: &Equations,
    lambda: impl Fn(usize) -> f64,
    at: &crate::At<f64>,
    joint: usize,
) -> ([f64; 6], [f64; 2]) {
    let entry = &system.directory.joints[joint];
    // the ground has no coordinates: what acts on it is the opposite of what acts on the first body
    let (body, sign) = if entry.bodies[1] != 0 { (entry.bodies[1], 1.0) } else { (entry.bodies[0], -1.0) };
    let (force, about) = generalized_force(system, eq, lambda, at, entry.element, body);
    let (force, about) = (force * sign, about * sign);
    // from the centre of mass to the joint's point
    let point = entry.frames.M.place(&at.poses[entry.bodies[1] as usize]).p - at.poses[body as usize].p;
    let torque = about - point.cross(force);
    let wrench = [force.0[0], force.0[1], force.0[2], torque.0[0], torque.0[1], torque.0[2]];
    (wrench, [force.norm(), about.norm() + point.norm() * force.norm()])
}

/// The rows of a joint, where it acts: its own and, right after, the row that couples its coordinates and those that lock
/// it.
fn joint_elements(system: &System, id: usize) -> impl Iterator<Item = &ConstraintElement> {
    let own = system.place(id).map_or(&[][..], |first| &system.elements[first..]);
    let family = |e: &ConstraintElement| matches!(e.family, Family::Joint | Family::Lock);
    own.iter().take_while(move |e| family(e) && e.name == own[0].name)
}

/// -Jᵀλ of the rows of a joint on one body: force and torque about the centre of mass, world axes.
fn generalized_force(
    system: &System,
    eq: &Equations,
    lambda: impl Fn(usize) -> f64,
    at: &crate::At<f64>,
    first: usize,
    body: u32,
) -> (Vec3<f64>, Vec3<f64>) {
    let kind = system.directory.bodies[body as usize].kind;
    let mut sum = [0.0; 6];
    for element in joint_elements(system, first) {
        let Some(place) = element.ids.iter().position(|&id| id == body) else { continue };
        let Some(block) = element.blocks[place] else { continue };
        let n = element.rows.rows();
        for row in 0..n {
            let lambda = lambda(element.start + row);
            let J = &eq.J[block.offset + row * block.stride..][..block.columns];
            for (sum, J) in sum.iter_mut().zip(J) {
                *sum -= J * lambda;
            }
        }
    }
    match kind {
        BodyKind::Rigid | BodyKind::RigidEuler => {
            let torque = at.poses[body as usize].rot * Vec3([sum[3], sum[4], sum[5]]);
            (Vec3([sum[0], sum[1], sum[2]]), torque)
        }
        BodyKind::PlanarRigid => (Vec3([sum[0], sum[1], 0.0]), Vec3([0.0, 0.0, sum[2]])),
        _ => (Vec3([sum[0], sum[1], sum[2]]), Vec3([0.0; 3])),
    }
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

/// Bodies and joints whose columns some pattern may fit, by how the patterns begin.
struct Wanted {
    /// The letters of each before its first `*` or `?`; none where everything is wanted.
    heads: Option<Vec<String>>,
}

impl Wanted {
    fn of(patterns: &[String]) -> Wanted {
        let adding = patterns.iter().filter(|pattern| !pattern.starts_with('!'));
        let head = |pattern: &String| pattern.split(['*', '?']).next().unwrap_or_default().to_string();
        Wanted { heads: Some(adding.map(head).collect()) }
    }

    /// Whether a pattern may fit a name that begins with `name` and a dot.
    fn takes(&self, name: &str) -> bool {
        let Some(heads) = &self.heads else { return true };
        heads.iter().any(|head| match head.strip_prefix(name) {
            Some(rest) => rest.is_empty() || rest.starts_with('.'),
            None => name.starts_with(head.as_str()),
        })
    }
}

/// Whether `name` fits `pattern`.
pub fn matches(pattern: &[u8], name: &[u8]) -> bool {
    // the place after the last `*`, to go back to
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == b'?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (p, n) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::{Wanted, matches, order};

    #[test]
    fn what_is_read_comes_first_and_circles_are_found() {
        assert_eq!(order(&[vec![2], vec![0, 2], vec![]]), Ok(vec![2, 0, 1]));
        assert_eq!(order(&[vec![1], vec![2], vec![1]]), Err(vec![1, 2]));
        assert_eq!(order(&[vec![0]]), Err(vec![0]));
        let chain: Vec<Vec<usize>> =
            (0..200_000).map(|i| if i < 199_999 { vec![i + 1] } else { vec![] }).collect();
        assert_eq!(order(&chain).map(|o| o[0]), Ok(199_999));
    }

    #[test]
    fn elements_that_a_pattern_may_fit_are_wanted() {
        let wanted = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|p| p.to_string()).collect();
            let wanted = Wanted::of(&patterns);
            move |name: &str| wanted.takes(name)
        };
        let some = wanted(&["J1.*", "arm.C.x", "li?k.x", "!*"]);
        assert!(some("J1") && some("arm") && some("arm.C") && some("link") && some("lift"));
        assert!(!some("J12") && !some("J") && !some("ar") && !some("arms") && !some("l"));
        assert!(wanted(&["*.x"])("J1") && !wanted(&["!*.x"])("J1") && !wanted(&[])("J1"));
    }

    #[test]
    fn patterns_match_like_file_names() {
        let fits = |p: &str, n: &str| matches(p.as_bytes(), n.as_bytes());
        assert!(fits("*", "crank.x") && fits("crank.*", "crank.x") && fits("*.q?", "ball.q2"));
        assert!(fits("*.f*", "A.fx") && fits("a*b*c", "a1b2bc"));
        assert!(!fits("crank.*", "rank.x") && !fits("*.q?", "ball.q") && !fits("a", "ab"));
    }
}
