//! Sums and products of numbers, evaluated on loading as they stand: `(i - 1)*l`.
//!
//! A model of many equal parts has hundreds of thousands of these. Anything else, and anything that gives no finite number, is left to
//! the lowering, which does the same operations in the same order.

use super::ast::{Additive, ExprKind, ExprNode, Multiplicative};
use super::{Lookup, Quantity, Scope};

/// The value of a node, if there is nothing in it but numbers, names of numbers, signs, `+`, `-`, `*`, `/` and brackets.
pub(super) fn evaluate(node: &ExprNode, text: &str, scope: &dyn Scope) -> Option<f64> {
    let value = match &node.kind {
        ExprKind::Number { value, guards, .. } if guards.is_empty() => *value,
        ExprKind::Name => match node.at.of(text) {
            // constants of the language come before names of the file
            "pi" | "inf" => return None,
            path => match scope.lookup(path)? {
                Lookup::Value(Quantity::Number(x)) => x,
                _ => return None,
            },
        },
        ExprKind::Negative(inner) => -evaluate(inner, text, scope)?,
        ExprKind::Sum(terms) => {
            let ((_, first), rest) = terms.split_first()?;
            rest.iter().try_fold(evaluate(first, text, scope)?, |sum, (operator, term)| {
                let term = evaluate(term, text, scope)?;
                finite(match operator {
                    Additive::Add => sum + term,
                    Additive::Subtract => sum - term,
                })
            })?
        }
        ExprKind::Product(factors) => {
            let ((_, first), rest) = factors.split_first()?;
            rest.iter().try_fold(evaluate(first, text, scope)?, |product, (operator, factor)| {
                let factor = evaluate(factor, text, scope)?;
                finite(match operator {
                    Multiplicative::Times => product * factor,
                    Multiplicative::Over => product / factor,
                    Multiplicative::Modulo => return None,
                })
            })?
        }
        _ => return None,
    };
    finite(value)
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;
    use crate::scope::ScopeData;

    /// Both ways give the same bits, and what this one refuses is as it was.
    #[test]
    fn values_are_those_of_the_lowering_to_the_bit() {
        let mut scope = ScopeData::default();
        let parameters = [("i", 7.0), ("l", 1.0 / 3.0), ("n", 1e5), ("zero", 0.0), ("m", 2.0)];
        scope.parameters = parameters.map(|(name, x)| (name.into(), Quantity::Number(x))).into();
        scope.parameters.insert("v".into(), Quantity::Vector { v: [1.0, 2.0, 0.0], n: 2 });
        scope.parameters.insert("on".into(), Quantity::Flag(true));
        let plain = ["(i-1)*l", "-i*l + n/3 - 0.1", "1/n", "-(-l)", "0*i", "-zero", "l - l", "30 mm + l*2"];
        let others = [
            "i^2",
            "sin(i)",
            "v.x*l",
            "v*2",
            "on + 1",
            "pi*l",
            "i % 2",
            "1/zero",
            "n*1e304*n",
            "what",
            "2 kg*m",
        ];
        for (text, is_plain) in plain.iter().map(|t| (t, true)).chain(others.iter().map(|t| (t, false))) {
            let expr = Expr::parse(text).unwrap();
            let quick = evaluate(&expr.root, &expr.text, &scope);
            assert_eq!(quick.is_some(), is_plain, "{text}");
            if let Some(x) = quick {
                let Ok(Quantity::Number(y)) = super::super::lower::evaluate(&expr, &scope, true) else {
                    panic!("{text}")
                };
                assert_eq!(x.to_bits(), y.to_bits(), "{text}: {x}, {y}");
            }
        }
    }
}
