//! The tree of an expression, with the place of every part in its text.
//!
//! Chains such as `a + b - c` are one node with many terms, so that the depth of the tree is bounded by
//! the nesting of the text and a sum of ten thousand terms recurses no deeper than a sum of two.

use crate::dimension::Dimension;
use std::ops::Range;

/// Bytes of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At {
    pub start: u32,
    pub end: u32,
}

impl At {
    pub fn to(self, end: At) -> At {
        At { start: self.start, end: end.end }
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The text it covers.
    pub fn of(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or("")
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub kind: Kind,
    pub at: At,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// A number, its unit applied; `guards` are the places of unit names after the first, which no
    /// parameter may be called by.
    Number {
        value: f64,
        guards: Vec<At>,
        /// That of its unit, if it has one.
        dimension: Option<Dimension>,
    },
    /// A dotted name; its text is that of the node.
    Name,
    Call {
        name: At,
        arguments: Vec<Node>,
    },
    Vector(Vec<Node>),
    /// `.x`, `.y`, `.z` as 0, 1, 2.
    Component(Box<Node>, u8),
    Negative(Box<Node>),
    Not(Box<Node>),
    Power(Box<Node>, Box<Node>),
    /// The first operator is `Add`.
    Sum(Vec<(Additive, Node)>),
    /// The first operator is `Times`.
    Product(Vec<(Multiplicative, Node)>),
    Compare(Comparison, Box<Node>, Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Additive {
    Add,
    Subtract,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Multiplicative {
    Times,
    Over,
    Modulo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

impl Node {
    /// Calls `see` for this node and every one below, in the order of the text.
    pub fn visit(&self, see: &mut dyn FnMut(&Node)) {
        see(self);
        match &self.kind {
            Kind::Number { .. } | Kind::Name => {}
            Kind::Call { arguments: list, .. } | Kind::Vector(list) | Kind::And(list) | Kind::Or(list) => {
                for node in list {
                    node.visit(see);
                }
            }
            Kind::Component(a, _) | Kind::Negative(a) | Kind::Not(a) => a.visit(see),
            Kind::Power(a, b) | Kind::Compare(_, a, b) => {
                a.visit(see);
                b.visit(see);
            }
            Kind::Sum(terms) => terms.iter().for_each(|(_, node)| node.visit(see)),
            Kind::Product(factors) => factors.iter().for_each(|(_, node)| node.visit(see)),
        }
    }
}
