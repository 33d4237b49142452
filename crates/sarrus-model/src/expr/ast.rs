//! The tree of an expression, with the place of every part in its text.
//!
//! Chains such as `a + b - c` are one node with many terms, so that the depth of the tree is bounded by
//! the nesting of the text and a sum of ten thousand terms recurses no deeper than a sum of two.

use crate::dimension::Dimension;
use std::ops::Range;

/// Bytes of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextRange {
    pub start: u32,
    pub end: u32,
}

impl TextRange {
    pub fn to(self, end: TextRange) -> TextRange {
        TextRange { start: self.start, end: end.end }
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
pub(crate) struct ExprNode {
    pub kind: ExprKind,
    pub at: TextRange,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    /// A number, its unit applied; `guards` are the places of unit names after the first, which no
    /// parameter may be called by.
    Number {
        value: f64,
        guards: Vec<TextRange>,
        /// That of its unit, if it has one.
        dimension: Option<Dimension>,
    },
    /// A dotted name; its text is that of the node.
    Name,
    Call {
        name: TextRange,
        arguments: Vec<ExprNode>,
    },
    Vector(Vec<ExprNode>),
    /// `.x`, `.y`, `.z` as 0, 1, 2.
    Component(Box<ExprNode>, u8),
    Negative(Box<ExprNode>),
    Not(Box<ExprNode>),
    Power(Box<ExprNode>, Box<ExprNode>),
    /// The first operator is `Add`.
    Sum(Vec<(Additive, ExprNode)>),
    /// The first operator is `Times`.
    Product(Vec<(Multiplicative, ExprNode)>),
    Compare(Relation, Box<ExprNode>, Box<ExprNode>),
    And(Vec<ExprNode>),
    Or(Vec<ExprNode>),
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
pub(crate) enum Relation {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

impl ExprNode {
    /// Calls `see` for this node and every one below, in the order of the text.
    pub fn visit(&self, see: &mut dyn FnMut(&ExprNode)) {
        see(self);
        match &self.kind {
            ExprKind::Number { .. } | ExprKind::Name => {}
            ExprKind::Call { arguments: list, .. }
            | ExprKind::Vector(list)
            | ExprKind::And(list)
            | ExprKind::Or(list) => {
                for node in list {
                    node.visit(see);
                }
            }
            ExprKind::Component(a, _) | ExprKind::Negative(a) | ExprKind::Not(a) => a.visit(see),
            ExprKind::Power(a, b) | ExprKind::Compare(_, a, b) => {
                a.visit(see);
                b.visit(see);
            }
            ExprKind::Sum(terms) => terms.iter().for_each(|(_, node)| node.visit(see)),
            ExprKind::Product(factors) => factors.iter().for_each(|(_, node)| node.visit(see)),
        }
    }
}
