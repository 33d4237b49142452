//! Describes how far a condition is from changing: a number that is positive where the condition holds and negative where it does not.
//!
//! | condition | margin |
//! |---|---|
//! | `a > b`, `a >= b` | a - b |
//! | `a < b`, `a <= b` | b - a |
//! | `not c` | -m(c) |
//! | `c and d` | min(m(c), m(d)) |
//! | `c or d` | max(m(c), m(d)) |
//! | anything else, such as `a == b` or a flag | 1 or -1 |
//!
//! At zero both signs of a comparison meet: whether the condition holds there only the condition itself tells.

use super::Expr;
use super::ast::{Additive, ExprKind, ExprNode, Relation, TextRange};
use std::sync::Arc;

/// Functions that a margin calls, written behind the text so that nodes can name them.
const CALLED: [&str; 3] = ["min", "max", "if"];

impl Expr {
    /// The margin of this expression, read as a condition. Its errors are those of the expression, which is to be
    /// compiled first.
    pub fn margin(&self) -> Expr {
        let mut text = self.text.to_string();
        let [min, max, choose] = CALLED.map(|word| {
            text.push(' ');
            let start = text.len() as u32;
            text.push_str(word);
            TextRange { start, end: text.len() as u32 }
        });
        let root = Called { min, max, choose }.margin(&self.root);
        Expr { text: text.into(), root: Arc::new(root) }
    }
}

/// Places of the functions' names.
struct Called {
    min: TextRange,
    max: TextRange,
    choose: TextRange,
}

impl Called {
    fn margin(&self, node: &ExprNode) -> ExprNode {
        let at = node.at;
        let difference = |a: &ExprNode, b: &ExprNode| {
            ExprKind::Sum(vec![(Additive::Add, a.clone()), (Additive::Subtract, b.clone())])
        };
        let all = |name: TextRange, list: &[ExprNode]| ExprKind::Call {
            name,
            arguments: list.iter().map(|node| self.margin(node)).collect(),
        };
        let kind = match &node.kind {
            ExprKind::Compare(Relation::Greater | Relation::GreaterEqual, a, b) => difference(a, b),
            ExprKind::Compare(Relation::Less | Relation::LessEqual, a, b) => difference(b, a),
            ExprKind::Not(a) => ExprKind::Negative(Box::new(self.margin(a))),
            ExprKind::And(list) => all(self.min, list),
            ExprKind::Or(list) => all(self.max, list),
            _ => {
                let number = |value| ExprNode {
                    kind: ExprKind::Number { value, guards: Vec::new(), dimension: None },
                    at,
                };
                ExprKind::Call { name: self.choose, arguments: vec![node.clone(), number(1.0), number(-1.0)] }
            }
        };
        ExprNode { kind, at }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Lookup, Quantity, Scope};
    use super::*;

    struct Names(f64, f64);

    impl Scope for Names {
        fn lookup(&self, path: &str) -> Option<Lookup> {
            let value = match path {
                "a" => self.0,
                "b" => self.1,
                _ => return None,
            };
            Some(Lookup::Value(Quantity::Number(value)))
        }
    }

    #[test]
    fn a_margin_is_positive_where_the_condition_holds() {
        let conditions = [
            "a > b",
            "a <= 2*b",
            "(a + b)*2 < 3 and a > b",
            "not (a > b) or a == 1",
            "not a < b",
            "a*(b - 1) > 0 or (a < 0 and b < 0)",
            "a != b",
        ];
        for text in conditions {
            let condition = Expr::parse(text).unwrap();
            let margin = condition.margin();
            for (a, b) in [(1.0, 2.0), (2.0, 1.1), (-1.0, -0.6), (0.3, 0.2), (1.0, 0.4)] {
                let names = Names(a, b);
                let holds = condition.evaluate(&names, true).unwrap().flag().unwrap();
                let margin = margin.evaluate(&names, true).unwrap().number().unwrap();
                assert_eq!(holds, margin > 0.0, "{text} at a = {a}, b = {b}: margin {margin}");
            }
        }
    }

    #[test]
    fn a_comparison_has_the_difference_of_its_sides() {
        let margin = |text: &str| {
            Expr::parse(text).unwrap().margin().evaluate(&Names(1.5, 0.25), true).unwrap().number()
        };
        assert_eq!(margin("a > b"), Some(1.25));
        assert_eq!(margin("a < b and b < 1"), Some(-1.25));
        assert_eq!(margin("a < b or b < 1"), Some(0.75));
    }
}
