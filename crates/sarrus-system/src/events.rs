//! Events: what is to happen when a condition becomes true, as the file says it.
//!
//! An event is a condition and a list of actions. Joints with `lock_at` are events too, before those of the file: they lock
//! a coordinate when it reaches a value. What a condition reads is bound later ([`crate::conditions`]), since it may be any
//! column; what happens at an event is the business of the caller that runs the system. Rigid `limits` of joints are unilateral
//! constraints ([`System::stops`](crate::System::stops)), not events.

mod lock;
mod stops;

pub use lock::Lock;
pub use stops::RigidStop;

use crate::contact::ContactElement;
use crate::context::Context;
use crate::names::{Directory, Named};
use crate::system::{ConstraintElement, ControllerElement, ForceElement};
use sarrus_model::{Diagnostic, Element, Key, KeyType, Model, Reader, Result, RuntimeExpr, Section};
use std::ops::Range;

/// The one kind of event, and what it is.
pub const KIND: (&str, &str) = ("event", "something that happens when a condition becomes true");

/// The keys of an event.
pub static KEYS: &[Key] = &[
    Key::new("when", KeyType::Expression, "", "the condition; it fires when this becomes true"),
    Key::new("once", KeyType::Flag, "false", "whether it fires only the first time"),
    Key::new("lock", KeyType::Names, "none", "joints that are held where they are"),
    Key::new("release", KeyType::Names, "none", "joints whose lock is undone"),
    Key::new(
        "enable",
        KeyType::Names,
        "none",
        "joints, constraints, drivers and forces that act from now on",
    ),
    Key::new("disable", KeyType::Names, "none", "joints, constraints, drivers and forces that act no longer"),
    Key::new("set", KeyType::Map(&KeyType::Any), "none", "new values of controllers' states, by path"),
    Key::new("stop", KeyType::Text, "", "ends the run, and says why"),
];

/// Everything that may happen in a run.
#[derive(Clone, Default)]
pub struct Events {
    /// In the order in which simultaneous ones act: joints with `lock_at`, then those of the file.
    pub list: Vec<Event>,
    /// Rigid limits of joints.
    pub limits: Vec<RigidStop>,
    /// Joints that may be locked, in ascending order.
    pub lockable: Vec<usize>,
}

/// One event.
#[derive(Clone)]
pub struct Event {
    /// Its name; of a joint with `lock_at` such as `A.lock_at`.
    pub name: String,
    /// Time when it fires.
    pub when: When,
    /// True if it fires only the first time.
    pub once: bool,
    /// Holds what happens.
    pub actions: Actions,
}

/// Describes when an event fires.
#[derive(Clone)]
pub enum When {
    /// A condition becomes true.
    Holds(RuntimeExpr),
    /// A coordinate reaches a value, from either side.
    Reaches {
        /// Index of the joint.
        joint: usize,
        /// The coordinate among the joint's.
        coordinate: usize,
        /// The value \[m, rad\].
        value: f64,
    },
}

/// Holds what happens at an event, in this order.
#[derive(Clone, Default)]
pub struct Actions {
    /// Locks that are undone, by joint.
    pub release: Vec<usize>,
    /// Holds what acts no longer.
    pub disable: Vec<EventTarget>,
    /// Holds what acts from now on.
    pub enable: Vec<EventTarget>,
    /// New values of states: the place in x, its path, the value.
    pub set: Vec<(usize, String, RuntimeExpr)>,
    /// Coordinates that are locked.
    pub lock: Vec<Lock>,
    /// Reason why the run ends, if it does.
    pub stop: Option<String>,
}

impl Actions {
    /// Returns whether rows or forces begin to act, or cease to.
    pub fn switches(&self) -> bool {
        let Actions { release, disable, enable, lock, .. } = self;
        !(release.is_empty() && disable.is_empty() && enable.is_empty() && lock.is_empty())
    }
}

/// Something that can be enabled and disabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventTarget {
    /// Its name.
    pub name: String,
    /// Its rows, by their numbers in the whole system.
    pub elements: Range<usize>,
    /// Its forces; of a joint its springs.
    pub forces: Vec<usize>,
    /// The contact that it is.
    pub contact: Option<usize>,
}

/// Holds what names of events stand for.
struct EventNames<'a> {
    directory: &'a Directory,
    elements: &'a [ConstraintElement],
    forces: &'a [ForceElement],
    contacts: &'a [ContactElement],
    controllers: &'a [ControllerElement],
}

impl Events {
    /// Reads `[events]` and `lock_at`.
    pub(crate) fn read(
        model: &Model,
        directory: &Directory,
        elements: &[ConstraintElement],
        forces: &[ForceElement],
        contacts: &[ContactElement],
        controllers: &[ControllerElement],
    ) -> std::result::Result<Events, Vec<Diagnostic>> {
        let mut list = Vec::new();
        for (joint, entry) in directory.joints.iter().enumerate() {
            for (coordinate, value) in entry.lock_at.iter().enumerate() {
                let Some(value) = *value else { continue };
                let own = match &entry.lock_at[..] {
                    [_] => String::new(),
                    _ => format!(".{}", entry.face.coordinates()[coordinate].name),
                };
                let lock = Lock { joint, coordinate: Some(coordinate), at: Some(value) };
                list.push(Event {
                    name: format!("{}{own}.lock_at", entry.name),
                    when: When::Reaches { joint, coordinate, value },
                    once: true,
                    actions: Actions { lock: vec![lock], ..Actions::default() },
                });
            }
        }
        let names = EventNames { directory, elements, forces, contacts, controllers };
        let mut errors = Vec::new();
        for element in &model.events {
            match names.event(model, element) {
                Ok(event) => list.push(event),
                Err(error) => errors.push(error),
            }
        }
        let limits = RigidStop::all(directory);
        let mut lockable: Vec<usize> =
            list.iter().flat_map(|e| e.actions.lock.iter().map(|lock| lock.joint)).collect();
        lockable.extend(limits.iter().map(|limit| limit.joint));
        lockable.sort_unstable();
        lockable.dedup();
        if errors.is_empty() { Ok(Events { list, limits, lockable }) } else { Err(errors) }
    }
}

impl EventNames<'_> {
    fn event(&self, model: &Model, element: &Element) -> Result<Event> {
        let reader = Reader::new(model, element, KEYS)?;
        if element.kind != "event" {
            let error = reader.error("kind", format!("{} takes no `kind`", reader.title()));
            return Err(error.hint("what it does is said by `lock`, `enable`, `set`, `stop` and the like"));
        }
        let when = When::Holds(reader.require_expression("when")?);
        let once = reader.flag_or("once", false)?;
        let ctx = Context::new(reader, self.directory);
        let reader = &ctx.reader;
        let mut lock = Vec::new();
        for (joint, name, span) in self.joints(&ctx, "lock")? {
            let parts = Lock::all(self.directory, joint);
            if parts.is_empty() {
                let message = format!("joint `{name}` cannot be locked: it does not move");
                return Err(reader.at(span, message));
            }
            lock.extend(parts);
        }
        let mut set = Vec::new();
        for (path, span, expr) in reader.settings("set")? {
            set.push((self.state(reader, &path, span)?, path, expr));
        }
        let actions = Actions {
            lock,
            release: self.joints(&ctx, "release")?.into_iter().map(|(joint, ..)| joint).collect(),
            enable: self.targets(&ctx, "enable")?,
            disable: self.targets(&ctx, "disable")?,
            set,
            stop: reader.text("stop")?.map(str::to_owned),
        };
        if !["lock", "release", "enable", "disable", "set", "stop"].iter().any(|key| reader.has(key)) {
            let error = reader.element_error(format!("nothing happens at {}", reader.title()));
            return Err(error.hint("give `lock`, `release`, `enable`, `disable`, `set` or `stop`"));
        }
        Ok(Event { name: element.name.clone(), when, once, actions })
    }

    fn joints(&self, ctx: &Context, key: &str) -> Result<Vec<(usize, String, sarrus_model::Span)>> {
        let named =
            ctx.reader.names(key)?.into_iter().map(|(name, span)| match self.directory.joint(&name) {
                Some(joint) => Ok((joint, name, span)),
                None => Err(ctx.model.unknown(&name, span, &[Section::Joints])),
            });
        named.collect()
    }

    fn targets(&self, ctx: &Context, key: &str) -> Result<Vec<EventTarget>> {
        const SECTIONS: [Section; 5] =
            [Section::Joints, Section::Constraints, Section::Drivers, Section::Forces, Section::Contacts];
        let mut targets = Vec::new();
        for (name, span) in ctx.reader.names(key)? {
            let section = ctx.model.names.get(&name).map(|named| named.section);
            if !section.is_some_and(|section| SECTIONS.contains(&section)) {
                let error = ctx.model.unknown(&name, span, &SECTIONS);
                // also what stands inside one: `arm.element2`
                let member = name.split_once('.').map_or(name.as_str(), |(head, _)| head);
                let member = self.directory.member(&name).or_else(|| self.directory.member(member));
                return Err(match (member, section) {
                    (Some(member), _) => {
                        let message = format!(
                            "`{name}` cannot be switched: a flexible member such as `{}` holds together always",
                            member.name
                        );
                        let hint = "release a joint that holds it, or build it of two members with a joint between them";
                        sarrus_model::Diagnostic::new(span, message).hint(hint)
                    }
                    (None, Some(_)) => error.hint(
                        "joints, constraints, drivers, forces and contacts can be enabled and disabled",
                    ),
                    (None, None) => error,
                });
            }
            if self.elements.iter().any(|e| e.name.strip_suffix(".armature") == Some(&name)) {
                let message = format!("joint `{name}` has `armature`: it cannot be switched");
                let hint = "model the rotor as a body of its own, with a gear";
                return Err(sarrus_model::Diagnostic::new(span, message).hint(hint));
            }
            let own = |e: &ConstraintElement| e.name == name;
            let first = self.elements.iter().position(own).unwrap_or(0);
            let count = self.elements[first..].iter().take_while(|e| own(e)).count();
            let inside = |force: &str| {
                force == name
                    || (section == Some(Section::Joints)
                        && force.strip_prefix(&name).is_some_and(|rest| rest.starts_with('.')))
            };
            let forces = self.forces.iter().enumerate().filter(|(_, f)| inside(&f.name)).map(|(i, _)| i);
            let forces = forces.collect();
            let contact = self.contacts.iter().position(|c| c.contact.name == name);
            targets.push(EventTarget { forces, contact, elements: first..first + count, name });
        }
        Ok(targets)
    }

    /// The place in x of a controller's state.
    fn state(&self, reader: &Reader, path: &str, span: sarrus_model::Span) -> Result<usize> {
        let hint = "a switch is a controller of kind `input`, or a state of an `ode` one with the rate 0";
        let (name, state) = path.rsplit_once('.').unwrap_or((path, ""));
        let Some(controller) = self.controllers.iter().find(|c| c.name == name) else {
            if matches!(self.directory.get(name), Some(Named::Controller(_))) {
                return Err(reader.at(span, format!("`{path}` cannot be set")));
            }
            let message = format!("`{path}` is no state of a controller");
            return Err(reader.at(span, message).hint(hint));
        };
        let states = controller.named_states();
        match states.iter().position(|(own, _)| own == state) {
            Some(index) => Ok(controller.x + index),
            None => {
                let names = states.iter().map(|(own, _)| own.as_str());
                let near = sarrus_model::suggest::suggest(state, names);
                let message = format!("controller `{name}` has no state `{state}`");
                let hint = near.map_or(hint.to_owned(), |near| format!("did you mean `{name}.{near}`?"));
                Err(reader.at(span, message).hint(hint))
            }
        }
    }
}
