//! Columns of the results: every readable number, with its name and unit.

use crate::body::BodyKind;
use crate::measures::{self, Measure};
use crate::mechanism::Mechanism;
use crate::names::Named;
use crate::signal::Signal;
use crate::system::{Family, System};
use sarrus_math::Vec3;
use sarrus_model::{Diagnostic, Model, Space};
use sarrus_solve::{Accel, Equations, State};
use std::sync::Arc;

/// Where a column's number comes from.
#[derive(Clone)]
enum Source {
    Live(Box<Signal>),
    /// Joint, component 0..6 (fx fy fz tx ty tz).
    Reaction(usize, usize),
    /// Minus a multiplier: the effort of a driver.
    Effort(usize),
    /// Force and reading.
    Force(usize, usize),
    /// A measure and its component.
    Measure(usize, usize),
    Energy(usize),
    Violation(usize),
}

/// The columns after `t`.
pub struct Columns {
    /// Their names.
    pub names: Vec<String>,
    /// Their units; empty where unknown.
    pub units: Vec<&'static str>,
    sources: Vec<Source>,
    measures: Vec<Measure>,
    needs_reactions: bool,
}

/// What a row is computed from, beside the mechanism.
pub struct Snapshot<'a> {
    /// The state.
    pub state: &'a State,
    /// The equations there.
    pub eq: &'a Equations,
    /// Accelerations and multipliers there.
    pub accel: &'a Accel,
}

const REACTIONS: [&str; 6] = ["fx", "fy", "fz", "tx", "ty", "tz"];
const PLANAR_REACTIONS: [usize; 3] = [0, 1, 5];

impl Columns {
    /// All columns whose names fit the patterns: `*` any letters, `?` one, a leading `!` takes names away again.
    pub fn new(model: &Model, system: &Arc<System>, patterns: &[String]) -> Result<Columns, Vec<Diagnostic>> {
        let mut all = Columns {
            names: vec![],
            units: vec![],
            sources: vec![],
            measures: vec![],
            needs_reactions: false,
        };
        all.add_bodies(system);
        all.add_joints(system);
        all.add_drivers_and_forces(system);
        for controller in &system.controllers {
            for (output, slot) in &controller.outputs {
                all.push(
                    format!("{}.{output}", controller.name),
                    "",
                    Source::Live(Box::new(Signal::Output(*slot))),
                );
            }
        }
        all.add_measures(model, system)?;
        for (i, (name, unit)) in
            [("kinetic", "J"), ("potential", "J"), ("dissipated", "J"), ("work", "J"), ("balance", "J")]
                .iter()
                .enumerate()
        {
            all.push(format!("energy.{name}"), unit, Source::Energy(i));
        }
        for (i, name) in ["position", "velocity", "acceleration"].iter().enumerate() {
            all.push(format!("violation.{name}"), "", Source::Violation(i));
        }
        all.select(patterns)
    }

    fn push(&mut self, name: String, unit: &'static str, source: Source) {
        self.names.push(name);
        self.units.push(unit);
        self.sources.push(source);
    }

    fn live(&mut self, system: &System, name: String) {
        // identity places: a column reads bodies by their own numbers
        if let Ok(signals) = system.directory.read(&name, &mut |body| body as usize)
            && let [signal] = &signals[..]
        {
            self.push(name, signal.unit(), Source::Live(Box::new(signal.clone())));
        }
    }

    fn add_bodies(&mut self, system: &System) {
        let dimensions: &[&str] =
            if system.directory.space == Space::Planar { &["x", "y"] } else { &["x", "y", "z"] };
        for body in &system.directory.bodies {
            for field in system.directory.body_columns(body) {
                self.live(system, format!("{}.{field}", body.name));
            }
            if body.kind == BodyKind::Ground {
                continue;
            }
            for (marker, _) in &body.markers {
                for axis in dimensions {
                    self.live(system, format!("{}.{marker}.{axis}", body.name));
                }
                for axis in dimensions {
                    self.live(system, format!("{}.{marker}.v{axis}", body.name));
                }
            }
        }
    }

    fn add_joints(&mut self, system: &System) {
        for (i, joint) in system.directory.joints.iter().enumerate() {
            for field in system.directory.joint_columns(joint) {
                self.live(system, format!("{}.{field}", joint.name));
            }
            let components: &[usize] =
                if system.directory.space == Space::Planar { &PLANAR_REACTIONS } else { &[0, 1, 2, 3, 4, 5] };
            for &k in components {
                let unit = if k < 3 { "N" } else { "N m" };
                self.push(format!("{}.{}", joint.name, REACTIONS[k]), unit, Source::Reaction(i, k));
            }
        }
    }

    fn add_drivers_and_forces(&mut self, system: &System) {
        for (index, efforts) in &system.efforts {
            let element = &system.elements[*index];
            for (row, (effort, unit)) in efforts.iter().enumerate() {
                self.push(format!("{}.{effort}", element.name), unit, Source::Effort(element.start + row));
            }
            if matches!(system.directory.get(&element.name), Some(Named::Pair(..))) {
                self.live(system, format!("{}.length", element.name));
                self.live(system, format!("{}.speed", element.name));
            }
        }
        for (i, force) in system.forces.iter().enumerate() {
            // springs inside joints are options of the joint: their readings are the joint's
            if system.directory.joint(force.name.split('.').next().unwrap_or("")).is_some() {
                continue;
            }
            for (k, (reading, unit)) in force.load.readings().iter().enumerate() {
                self.push(format!("{}.{reading}", force.name), unit, Source::Force(i, k));
            }
        }
    }

    fn add_measures(&mut self, model: &Model, system: &Arc<System>) -> Result<(), Vec<Diagnostic>> {
        let mut errors = Vec::new();
        for element in &model.measures {
            // a measure may read every column before it
            let index = |name: &str| self.names.iter().position(|n| n == name);
            let column = |name: &str| index(name).map(|i| Reading(self.sources[i].clone()));
            match measures::read(model, element, system, &column) {
                Ok(measure) => {
                    let index = self.measures.len();
                    for (k, (suffix, unit)) in measure.components.iter().enumerate() {
                        let dot = if suffix.is_empty() { "" } else { "." };
                        self.push(format!("{}{dot}{suffix}", element.name), unit, Source::Measure(index, k));
                    }
                    self.measures.push(measure);
                }
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
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
        let mut columns = Columns {
            names: vec![],
            units: vec![],
            sources: vec![],
            measures: vec![],
            needs_reactions: false,
        };
        let mut reactions = false;
        for (i, source) in self.sources.iter().enumerate() {
            if keep[i] {
                columns.push(self.names[i].clone(), self.units[i], source.clone());
                reactions |= matches!(source, Source::Reaction(..) | Source::Effort(_) | Source::Measure(..));
            }
        }
        columns.measures = self.measures;
        columns.needs_reactions = reactions;
        Ok(columns)
    }

    /// Whether a row needs accelerations and multipliers.
    pub fn needs_reactions(&self) -> bool {
        self.needs_reactions
    }

    /// Fills a row.
    pub fn row(&self, m: &mut Mechanism, s: &State, eq: &Equations, accel: &Accel, out: &mut [f64]) {
        let snapshot = Snapshot { state: s, eq, accel };
        let energy = m.energy(s);
        let energies = [energy.kinetic, energy.potential, energy.dissipated, energy.work, energy.balance()];
        let violations = violations(m.system(), &snapshot);
        let system = m.system().clone();
        m.observe(s, |at| {
            let mut reaction = (usize::MAX, [0.0; 6]);
            for (out, source) in out.iter_mut().zip(&self.sources) {
                *out = match source {
                    Source::Energy(i) => energies[*i],
                    Source::Violation(i) => violations[*i],
                    Source::Reaction(joint, k) => {
                        if reaction.0 != *joint {
                            reaction = (*joint, joint_reaction(&system, &snapshot, at, *joint));
                        }
                        reaction.1[*k]
                    }
                    Source::Measure(i, k) => self.measures[*i].eval(*k, &system, &snapshot, at, &energies),
                    other => read(other, &system, &snapshot, at, &energies),
                };
            }
        });
    }
}

/// A column as a measure reads it.
#[derive(Clone)]
pub struct Reading(Source);

impl Reading {
    /// The number.
    pub fn eval(
        &self,
        system: &System,
        snapshot: &Snapshot,
        at: &crate::At<f64>,
        energies: &[f64; 5],
    ) -> f64 {
        read(&self.0, system, snapshot, at, energies)
    }
}

fn read(
    source: &Source,
    system: &System,
    snapshot: &Snapshot,
    at: &crate::At<f64>,
    energies: &[f64; 5],
) -> f64 {
    match source {
        Source::Live(signal) => signal.eval(at),
        Source::Reaction(joint, k) => joint_reaction(system, snapshot, at, *joint)[*k],
        Source::Effort(row) => -snapshot.accel.lambda[*row],
        Source::Force(i, k) => {
            let force = &system.forces[*i];
            let local = crate::At { ids: &force.ids, ..*at };
            force.load.reading(*k, &local)
        }
        Source::Energy(i) => energies[*i],
        Source::Violation(i) => violations(system, snapshot)[*i],
        // measures inline the measures that they read
        Source::Measure(..) => f64::NAN,
    }
}

/// Force and torque that a joint exerts on its second body, in world axes at the joint's point.
pub fn joint_reaction(system: &System, snapshot: &Snapshot, at: &crate::At<f64>, joint: usize) -> [f64; 6] {
    let entry = &system.directory.joints[joint];
    let b = entry.bodies[1] as usize;
    let (mut force, mut torque, point);
    let place =
        |id: u32| entry.frames.M.place(&at.poses[entry.bodies[1] as usize]).p - at.poses[id as usize].p;
    if b != 0 {
        (force, torque) = generalized_force(system, snapshot, at, entry.element, entry.bodies[1]);
        point = place(entry.bodies[1]);
    } else {
        // the ground has no coordinates: what acts on it is the opposite of what acts on the first body
        (force, torque) = generalized_force(system, snapshot, at, entry.element, entry.bodies[0]);
        (force, torque) = (-force, -torque);
        point = entry.frames.M.place(&at.poses[0]).p - at.poses[entry.bodies[0] as usize].p;
    }
    // from the centre of mass to the joint's point
    torque -= point.cross(force);
    [force.0[0], force.0[1], force.0[2], torque.0[0], torque.0[1], torque.0[2]]
}

/// -Jᵀλ of the rows of a joint (its own and, right after, the row that couples its coordinates) on one body: force and
/// torque about the centre of mass, world axes.
fn generalized_force(
    system: &System,
    snapshot: &Snapshot,
    at: &crate::At<f64>,
    first: usize,
    body: u32,
) -> (Vec3<f64>, Vec3<f64>) {
    let kind = system.directory.bodies[body as usize].kind;
    let mut sum = [0.0; 6];
    let name = &system.elements[first].name;
    let rows = system.elements[first..].iter().take_while(|e| e.family == Family::Joint && &e.name == name);
    for element in rows {
        let Some(place) = element.ids.iter().position(|&id| id == body) else { continue };
        let Some(block) = element.blocks[place] else { continue };
        let n = element.rows.rows();
        for row in 0..n {
            let lambda = snapshot.accel.lambda[element.start + row];
            let J = &snapshot.eq.J[block.offset + row * block.columns..][..block.columns];
            for (sum, J) in sum.iter_mut().zip(J) {
                *sum -= J * lambda;
            }
        }
    }
    match kind {
        BodyKind::Rigid => {
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

/// Whether `name` fits `pattern`.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
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
    use super::matches;

    #[test]
    fn patterns_match_like_file_names() {
        let fits = |p: &str, n: &str| matches(p.as_bytes(), n.as_bytes());
        assert!(fits("*", "crank.x") && fits("crank.*", "crank.x") && fits("*.q?", "ball.q2"));
        assert!(fits("*.f*", "A.fx") && fits("a*b*c", "a1b2bc"));
        assert!(!fits("crank.*", "rank.x") && !fits("*.q?", "ball.q") && !fits("a", "ab"));
    }
}
