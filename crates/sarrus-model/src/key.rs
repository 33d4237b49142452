//! The keys of a table: one row each, from which come unknown-key errors, `sarrus list` and the schema.

use crate::dimension::Dimension;

/// Holds what a key takes.
#[derive(Clone, Copy, Debug)]
pub enum KeyType {
    /// A number or an expression evaluated on loading.
    Number,
    /// A list of numbers of any length, or a vector expression.
    Numbers,
    /// A list of lists of numbers.
    Matrix,
    /// `true`, `false` or a condition of parameters.
    Flag,
    /// One of the names listed.
    Choice(&'static [&'static str]),
    /// Free text.
    Text,
    /// The name of something.
    Name,
    /// A list of names.
    Names,
    /// A body's name.
    Body,
    /// A list of bodies' names.
    Bodies,
    /// A world point in the model pose.
    Point,
    /// A list of world points.
    Points,
    /// A world vector that a mirror reflects.
    Vector,
    /// A world vector that a mirror reflects and reverses: an axis of rotation, a torque, an angular velocity.
    /// A number where the space is planar.
    Axial,
    /// A list of world vectors.
    Vectors,
    /// A point of the body or a marker's name; a list of two for two bodies.
    Local,
    /// A vector in body axes; a list of two for two bodies.
    LocalVector,
    /// An inertia: a number, three moments or a tensor.
    Inertia,
    /// An orientation: a quaternion or a table.
    Orientation,
    /// An expression evaluated at run time.
    Expression,
    /// A list of expressions evaluated at run time, or one vector expression.
    Expressions,
    /// A name, or a table with `kind` and options.
    Method,
    /// A table with the keys listed.
    Table(&'static [Key]),
    /// A table with the keys listed, or a list of such tables.
    Tables(&'static [Key]),
    /// A table whose keys are names the file chooses, each with a value of the type.
    Map(&'static KeyType),
    /// Either of two types.
    Either(&'static KeyType, &'static KeyType),
    /// Anything.
    Any,
}

impl KeyType {
    /// Returns whether it takes numbers, which may have units.
    pub fn is_quantity(&self) -> bool {
        match self {
            KeyType::Number | KeyType::Numbers | KeyType::Matrix | KeyType::Inertia => true,
            KeyType::Point | KeyType::Points | KeyType::Local => true,
            KeyType::Vector | KeyType::Axial | KeyType::Vectors | KeyType::LocalVector => true,
            KeyType::Expression | KeyType::Expressions => true,
            KeyType::Either(a, b) => a.is_quantity() || b.is_quantity(),
            _ => false,
        }
    }
}

/// One key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As written in the file.
    pub name: &'static str,
    /// Holds what it takes.
    pub ty: KeyType,
    /// Holds what holds where it is left out, in words; empty if it must be given or nothing holds.
    pub default: &'static str,
    /// One line on what it means, with its unit.
    pub doc: &'static str,
}

impl Key {
    /// A row of a table of keys.
    pub const fn new(name: &'static str, ty: KeyType, default: &'static str, doc: &'static str) -> Self {
        Key { name, ty, default, doc }
    }

    /// Dimensions that its value may have: those of the units in its `doc`, a length for a point. Empty: any.
    pub fn dimensions(&self) -> Vec<Dimension> {
        let named = Dimension::of_doc(self.doc);
        match self.ty {
            KeyType::Point | KeyType::Points | KeyType::Local if named.is_empty() => vec![Dimension::LENGTH],
            _ => named,
        }
    }
}

/// Keys that every element takes.
pub const COMMON: &[Key] = &[
    Key::new("kind", KeyType::Text, "", "which kind of element it is"),
    Key::new("note", KeyType::Text, "", "a remark, kept in reports"),
    Key::new("extra", KeyType::Any, "", "data of other programs, not looked at"),
    Key::new("if", KeyType::Flag, "true", "false leaves the element out of the model"),
    Key::new("enabled", KeyType::Flag, "true", "false: present but without effect until an event enables it"),
];

/// Keys that a table inside an element takes besides its own.
pub const COMMON_NESTED: &[&str] = &["note", "extra"];
