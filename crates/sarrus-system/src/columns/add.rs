//! Describes which columns there are.

use super::acceleration::Acceleration;
use super::patterns::WantedColumns;
use super::reaction::{REACTIONS, reactions};
use super::{ColumnSource, Columns, Measures, found};
use crate::body::BodyKind;
use crate::constraint::MultiplierScale;
use crate::contact::ContactSides;
use crate::measures::Draft;
use crate::names::Named;
use crate::signal::Signal;
use crate::system::{Family, System};
use sarrus_model::{Diagnostic, Model, Reader, Space};
use std::sync::Arc;

impl Columns {
    /// A column with one live signal.
    fn live(&mut self, name: String, signals: Option<Vec<Signal>>) {
        if let Some(Ok([signal])) = signals.map(<[Signal; 1]>::try_from) {
            self.push(name, signal.unit(), ColumnSource::Live(Box::new(signal)));
        }
    }

    /// A column with the derivative of a velocity.
    fn acceleration(&mut self, name: String, acceleration: Option<Acceleration>) {
        if let Some(acceleration) = acceleration {
            self.push(name, acceleration.unit(), ColumnSource::Acceleration(Box::new(acceleration)));
        }
    }

    pub(super) fn add_bodies(&mut self, system: &System, wanted: &WantedColumns) {
        let dimensions = axes(system);
        // identity places: a column reads bodies by their own numbers
        let mut index_of = |body: u32| body as usize;
        let directory = &system.directory;
        let bodies = directory.bodies.iter().enumerate().filter(|(_, b)| !b.is_internal());
        for (id, body) in bodies.filter(|(_, b)| wanted.accepts(&b.name)) {
            let mut add = |columns: &mut Columns, field: &str| {
                let signals = directory.read_body(id as u32, field, &mut index_of);
                columns.live(format!("{}.{field}", body.name), signals);
            };
            let accelerate = |columns: &mut Columns, field: &str| {
                if wanted.accepts_field(field) {
                    let acceleration = Acceleration::of(|p| directory.velocity_of_body(id as u32, field, p));
                    columns.acceleration(format!("{}.{field}", body.name), acceleration);
                }
            };
            directory.body_columns(body).into_iter().for_each(|field| add(self, field));
            directory.body_accelerations(body).into_iter().for_each(|field| accelerate(self, field));
            if body.kind == BodyKind::Ground {
                continue;
            }
            for (marker, _) in &body.markers {
                dimensions.iter().for_each(|axis| add(self, &format!("{marker}.{axis}")));
                dimensions.iter().for_each(|axis| add(self, &format!("{marker}.v{axis}")));
                dimensions.iter().for_each(|axis| accelerate(self, &format!("{marker}.a{axis}")));
            }
        }
    }

    pub(super) fn add_nodes(&mut self, system: &System) {
        for shown in &system.directory.shown {
            for field in system.directory.node_columns() {
                let name = format!("{}.{field}", shown.name);
                let signals = system.directory.read(&name, &mut |body| body as usize).ok();
                self.live(name, signals);
            }
            for axis in axes(system) {
                let name = format!("{}.a{axis}", shown.name);
                let acceleration = Acceleration::of(|index_of| system.directory.velocity_of(&name, index_of));
                self.acceleration(name, acceleration);
            }
        }
    }

    pub(super) fn add_joints(&mut self, system: &System, wanted: &WantedColumns) {
        for (i, joint) in system.directory.joints.iter().enumerate() {
            let is_wanted = wanted.accepts(&joint.name);
            if is_wanted {
                for field in system.directory.joint_columns(joint) {
                    let signals = system.directory.read_joint(i, field, &mut |body| body as usize);
                    self.live(format!("{}.{field}", joint.name), signals);
                }
                let fields = system.directory.joint_accelerations(joint);
                for field in fields.into_iter().filter(|field| wanted.accepts_field(field)) {
                    let acceleration =
                        Acceleration::of(|index_of| system.directory.velocity_of_joint(i, field, index_of));
                    self.acceleration(format!("{}.{field}", joint.name), acceleration);
                }
            }
            // measures find it by its name among the columns, unlike the others
            if system.all.events.lockable.binary_search(&i).is_ok() {
                self.push(format!("{}.locked", joint.name), "", ColumnSource::Locked(i));
            }
            for &k in reactions(system).iter().filter(|_| is_wanted) {
                let unit = if k < 3 { "N" } else { "N m" };
                self.push(format!("{}.{}", joint.name, REACTIONS[k]), unit, ColumnSource::Reaction(i, k));
            }
        }
    }

    pub(super) fn add_constraints(&mut self, system: &System) {
        let own = system.all.elements.iter().filter(|e| e.family == Family::Constraint);
        for element in own {
            for row in 0..element.rows.rows() {
                let shown = element.rows.multiplier(row);
                let source = ColumnSource::Multiplier(element.id, row, shown.scale);
                self.push(format!("{}.{}", element.name, shown.name), shown.unit, source);
            }
        }
    }

    pub(super) fn add_drivers_and_forces(&mut self, system: &System) {
        for (index, efforts) in &system.efforts {
            let element = &system.all.elements[*index];
            for (row, (effort, unit)) in efforts.iter().enumerate() {
                let source = ColumnSource::Multiplier(*index, row, MultiplierScale::Factor(-1.0));
                self.push(format!("{}.{effort}", element.name), unit, source);
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
                self.push(format!("{}.{reading}", force.name), unit, ColumnSource::Force(i, k));
            }
        }
    }

    pub(super) fn add_contacts(&mut self, system: &System) {
        for (i, contact) in system.contacts.iter().enumerate() {
            let contact = &contact.contact;
            let slips = matches!(contact.what, ContactSides::Surfaces { .. });
            for (k, (reading, unit)) in [("gap", "m"), ("force", "N"), ("slip", "m/s")].iter().enumerate() {
                if k < 2 || slips {
                    let source = match (k, contact.rigid) {
                        (1, Some(_)) => ColumnSource::Bears(i),
                        _ => ColumnSource::Contact(i, k),
                    };
                    self.push(format!("{}.{reading}", contact.name), unit, source);
                }
            }
        }
    }

    pub(super) fn add_measures(
        &mut self,
        model: &Model,
        system: &Arc<System>,
    ) -> Result<(), Vec<Diagnostic>> {
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
                        self.push(
                            format!("{}{dot}{suffix}", element.name),
                            unit,
                            ColumnSource::Measure(start + k),
                        );
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
        let column = |name: &str| found(system, &index, name);
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
            .map(|(.., m)| m.sources().filter_map(ColumnSource::measure).map(|v| owner[v]).collect())
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
}

/// Names of the axes.
fn axes(system: &System) -> &'static [&'static str] {
    if system.directory.space == Space::Planar { &["x", "y"] } else { &["x", "y", "z"] }
}

/// Returns whether a force is a spring inside a joint: it has the joint's name, or that of one of its coordinates.
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

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn what_is_read_comes_first_and_circles_are_found() {
        assert_eq!(order(&[vec![2], vec![0, 2], vec![]]), Ok(vec![2, 0, 1]));
        assert_eq!(order(&[vec![1], vec![2], vec![1]]), Err(vec![1, 2]));
        assert_eq!(order(&[vec![0]]), Err(vec![0]));
        let chain: Vec<Vec<usize>> =
            (0..200_000).map(|i| if i < 199_999 { vec![i + 1] } else { vec![] }).collect();
        assert_eq!(order(&chain).map(|o| o[0]), Ok(199_999));
    }
}
