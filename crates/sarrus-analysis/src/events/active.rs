//! Describes what acts at the moment: a part of the whole system, and the locks.

use crate::report::ImpulseReport;
use sarrus_solve::{State, StructureError};
use sarrus_system::events::{Actions, EventTarget, Lock, RigidStop};
use sarrus_system::{ConstraintElement, Family, Mechanism, System};
use std::sync::Arc;

/// Holds what acts.
#[derive(Clone)]
pub(crate) struct Active {
    elements: Vec<bool>,
    forces: Vec<bool>,
    contacts: Vec<bool>,
    /// Rigid limits: the rows of their joints, and what they limit.
    limits: Vec<(usize, Lock)>,
    /// Locks that hold, with their rows.
    locks: Vec<(Lock, ConstraintElement)>,
    /// Rows of gaps that are held closed: places of contacts, and limits.
    holds: Vec<ConstraintElement>,
    /// Every lock and place that there has been: its index here, after all elements of the model, is its number.
    known: Vec<(AddedNumber, ConstraintElement)>,
}

/// Holds what a number beyond those of the model stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum AddedNumber {
    Lock(Lock),
    Hold(GapHold),
}

/// Rows that hold a gap: along its normal, or across it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GapHold {
    /// Identifies which gap.
    pub gap: usize,
    /// True if across.
    pub across: bool,
}

/// A lock whose impulse is wanted: what it holds and its number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NewLock {
    /// Holds what it holds.
    pub lock: Lock,
    /// Number of its rows.
    pub id: usize,
}

/// Holds what an event has changed.
#[derive(Debug, Default)]
pub(crate) struct EventChanges {
    /// In words: `lock J1`.
    pub words: Vec<String>,
    /// Locks that hold from now on.
    pub locked: Vec<NewLock>,
    /// True if rows or forces are others than before.
    pub structure: bool,
}

impl EventChanges {
    /// Returns what the new locks of `system` took up, of the impulses `mu` of its rows.
    pub fn impulses(&self, system: &System, mu: &[f64]) -> Vec<ImpulseReport> {
        let report = |new: &NewLock| {
            let element = system.elements.iter().find(|e| e.id == new.id);
            let rows = element.map_or(0..0, |e| e.start..e.start + e.rows.rows());
            let joint = &system.directory.joints[new.lock.joint];
            let coordinate = new.lock.coordinate.map(|k| joint.face.coordinates()[k]);
            ImpulseReport {
                joint: joint.name.clone(),
                coordinate: coordinate.map_or("orientation", |c| c.name),
                impulse: rows.map(|row| -mu[row]).collect(),
                unit: if coordinate.is_some_and(|c| !c.is_angle()) { "N s" } else { "N m s" },
            }
        };
        self.locked.iter().map(report).collect()
    }
}

impl Active {
    /// Returns what acts when a run starts.
    pub fn new(system: &System) -> Active {
        Active {
            elements: system.all.enabled.clone(),
            forces: system.forces.iter().map(|f| f.enabled).collect(),
            contacts: system.contacts.iter().map(|c| c.enabled).collect(),
            limits: system.all.events.limits.iter().map(|limit| limited(system, limit)).collect(),
            locks: Vec::new(),
            holds: Vec::new(),
            known: Vec::new(),
        }
    }

    /// Returns whether a contact does, or a rigid limit, counted on from the contacts. That of a coordinate that is locked does not.
    pub(crate) fn acts(&self, contact: usize) -> bool {
        if let Some(acts) = self.contacts.get(contact) {
            return *acts;
        }
        let limit = self.limits.get(contact - self.contacts.len());
        limit.is_some_and(|(element, own)| {
            self.elements[*element] && !self.locks.iter().any(|(held, _)| held.is_same(own))
        })
    }

    /// Gives rows that hold a gap their number.
    pub(crate) fn register(&mut self, hold: GapHold, mut rows: ConstraintElement) -> ConstraintElement {
        let index = self.known.iter().position(|(known, _)| *known == AddedNumber::Hold(hold));
        let index = index.unwrap_or(self.known.len());
        rows.id = self.elements.len() + index;
        if index == self.known.len() {
            self.known.push((AddedNumber::Hold(hold), rows.clone()));
        }
        rows
    }

    /// Returns whether gaps are held.
    pub(super) fn has_holds(&self) -> bool {
        !self.holds.is_empty()
    }

    /// The rows that hold gaps; none from now on.
    pub(super) fn remove_holds(&mut self) -> Vec<ConstraintElement> {
        std::mem::take(&mut self.holds)
    }

    /// Holds gaps by these rows.
    pub(super) fn set_holds(&mut self, holds: Vec<ConstraintElement>) {
        self.holds = holds;
    }

    /// Holds one more gap by these rows.
    pub fn add_hold(&mut self, rows: ConstraintElement) {
        self.holds.push(rows);
    }

    /// Numbers of the rows that hold gaps, in ascending order.
    pub fn hold_ids(&self) -> Vec<usize> {
        let mut ids: Vec<usize> = self.holds.iter().map(|rows| rows.id).collect();
        ids.sort_unstable();
        ids
    }

    /// Returns whether a gap is held.
    pub fn is_held(&self, gap: usize) -> bool {
        let hold = AddedNumber::Hold(GapHold { gap, across: false });
        let id = self.known.iter().position(|(known, _)| *known == hold).map(|i| self.elements.len() + i);
        self.holds.iter().any(|rows| Some(rows.id) == id)
    }

    /// The contact that slides with friction, if one does.
    pub fn slides(&self) -> Option<&str> {
        self.holds.iter().find(|rows| rows.sliding.is_some()).map(|rows| rows.name.as_str())
    }

    /// Returns whether the same locks and gaps are held.
    pub fn is_same(&self, other: &Active) -> bool {
        let locks = |active: &Active| active.locks.iter().map(|(lock, _)| *lock).collect::<Vec<Lock>>();
        locks(self) == locks(other) && self.hold_ids() == other.hold_ids()
    }

    /// Returns whether a coordinate is locked.
    pub fn is_locked(&self, lock: &Lock) -> bool {
        self.locks.iter().any(|(held, _)| held.is_same(lock))
    }

    /// Makes the changes of an event at `s`, those of states aside.
    pub fn change(&mut self, actions: &Actions, mechanism: &mut Mechanism, s: &State) -> EventChanges {
        let mut changes = EventChanges::default();
        let directory = mechanism.system().directory.clone();
        for &joint in &actions.release {
            let before = self.locks.len();
            self.locks.retain(|(lock, _)| lock.joint != joint);
            changes.structure |= self.locks.len() < before;
            changes.words.push(format!("release {}", directory.joints[joint].name));
        }
        for (targets, on, word) in [(&actions.disable, false, "disable"), (&actions.enable, true, "enable")] {
            for target in targets {
                changes.structure |= self.switch(target, on);
                changes.words.push(format!("{word} {}", target.name));
            }
        }
        for lock in &actions.lock {
            self.lock(lock, mechanism, s, &mut changes);
        }
        changes
    }

    /// Locks a coordinate where it is at `s`, or where it is to be.
    pub fn lock(&mut self, lock: &Lock, mechanism: &mut Mechanism, s: &State, changes: &mut EventChanges) {
        let directory = mechanism.system().directory.clone();
        let word = format!("lock {}", directory.joints[lock.joint].name);
        if changes.words.last() != Some(&word) {
            changes.words.push(word);
        }
        if self.locks.iter().any(|(held, _)| held.is_same(lock)) {
            return;
        }
        let mut rows = mechanism.observe(s, |at| lock.rows(&directory, at));
        let same = |known: &AddedNumber| matches!(known, AddedNumber::Lock(known) if known.is_same(lock));
        let index = match self.known.iter().position(|(known, _)| same(known)) {
            Some(index) => index,
            None => {
                self.known.push((AddedNumber::Lock(*lock), rows.clone()));
                self.known.len() - 1
            }
        };
        rows.id = self.elements.len() + index;
        changes.locked.push(NewLock { lock: *lock, id: rows.id });
        self.locks.push((*lock, rows));
        changes.structure = true;
    }

    fn switch(&mut self, target: &EventTarget, on: bool) -> bool {
        let mut changed = false;
        let mut set = |flag: &mut bool| {
            changed |= *flag != on;
            *flag = on;
        };
        self.elements[target.elements.clone()].iter_mut().for_each(&mut set);
        target.forces.iter().for_each(|&i| set(&mut self.forces[i]));
        target.contact.iter().for_each(|&i| set(&mut self.contacts[i]));
        changed
    }

    /// The system of what acts; the locks of a joint stand behind its rows. A joint that does not act holds nothing.
    pub fn system(&self, system: &Arc<System>) -> Result<System, StructureError> {
        let whole = &system.all.elements;
        let mut elements = Vec::new();
        for (id, element) in whole.iter().enumerate().filter(|(id, _)| self.elements[*id]) {
            elements.push(element.clone());
            let ends = whole
                .get(id + 1)
                .is_none_or(|next| (next.family, &next.name) != (element.family, &element.name));
            if element.family == Family::Joint && ends {
                let locks = self.locks.iter().map(|(_, rows)| rows).chain(self.holds.iter().filter(at_limit));
                elements.extend(locks.filter(|rows| rows.name == element.name).cloned());
            }
        }
        elements.extend(self.holds.iter().filter(|rows| !at_limit(rows)).cloned());
        let mut forces = system.forces.clone();
        forces.iter_mut().zip(&self.forces).for_each(|(force, on)| force.enabled = *on);
        let mut contacts = system.contacts.clone();
        contacts.iter_mut().zip(&self.contacts).for_each(|(contact, on)| contact.enabled = *on);
        system.with_parts(elements, forces, contacts)
    }

    /// Every element there has been, by number: those of the model, then the locks.
    pub fn all<'a>(&'a self, system: &'a System) -> impl Iterator<Item = &'a ConstraintElement> {
        system.all.elements.iter().chain(self.known.iter().map(|(_, rows)| rows))
    }
}

/// Number of the rows of a limit's joint, and the coordinate that it limits.
fn limited(system: &System, limit: &RigidStop) -> (usize, Lock) {
    let coordinate = Some(limit.coordinate);
    (system.directory.joints[limit.joint].element, Lock { joint: limit.joint, coordinate, at: None })
}

/// Returns whether rows hold a coordinate at its limit.
fn at_limit(rows: &&ConstraintElement) -> bool {
    rows.family == Family::Lock
}
