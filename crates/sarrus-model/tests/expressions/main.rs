//! Expressions, units and tables against docs/model-file.md.

mod breaks;
mod derivatives;
mod errors;
mod given;
mod grammar;
mod programs;
mod round_trip;
mod tables;

use std::collections::HashMap;
use std::sync::Arc;

use sarrus_model::expr::{Binding, Expr, ExprError, FileFunction, Lookup, Program, Quantity, Scope};
use sarrus_model::tables::{Curve, Interpolation, Outside};

/// Names for tests, by path.
#[derive(Default)]
struct Names(HashMap<String, Lookup>);

impl Scope for Names {
    fn lookup(&self, path: &str) -> Option<Lookup> {
        self.0.get(path).cloned()
    }

    fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

impl Names {
    fn with(mut self, name: &str, lookup: Lookup) -> Self {
        self.0.insert(name.into(), lookup);
        self
    }

    fn number(self, name: &str, x: f64) -> Self {
        self.with(name, Lookup::Value(Quantity::Number(x)))
    }

    fn vector(self, name: &str, v: &[f64]) -> Self {
        self.with(name, Lookup::Value(vector(v)))
    }

    fn function(self, signature: &str, body: &str) -> Self {
        let function = FileFunction::new(signature, Expr::parse(body).unwrap()).unwrap();
        let name = function.name.clone();
        self.with(&name, Lookup::Function(Arc::new(function)))
    }

    fn table(self, name: &str, points: &[[f64; 2]], how: Interpolation, outside: Outside) -> Self {
        let (x, y) = points.iter().map(|p| (p[0], p[1])).unzip();
        let curve = Curve::new(name, x, y, how, outside).unwrap();
        self.with(name, Lookup::Table(Arc::new(curve)))
    }
}

fn vector(v: &[f64]) -> Quantity {
    let mut all = [0.0; 3];
    all[..v.len()].copy_from_slice(v);
    Quantity::Vector { v: all, n: v.len() }
}

/// Value on loading, in the plane.
fn evaluate(text: &str, names: &Names) -> Result<Quantity, ExprError> {
    Expr::parse(text)?.evaluate(names, true)
}

/// The number that `text` is, without names.
fn number(text: &str) -> f64 {
    match evaluate(text, &Names::default()) {
        Ok(Quantity::Number(x)) => x,
        other => panic!("{text:.200}: {other:.200?}"),
    }
}

/// `t` is slot 0, `x` 1, `y` 2; `p` the vector of slots 3, 4, 5; `body.tip.x` slot 3 as well.
fn bind(path: &str) -> Result<Binding, String> {
    match path {
        "t" => Ok(Binding::Scalar(0)),
        "x" => Ok(Binding::Scalar(1)),
        "y" => Ok(Binding::Scalar(2)),
        "p" | "body.tip" => Ok(Binding::Vector([3, 4, 5])),
        "fixed.value" => Ok(Binding::Constant(7.0)),
        _ => Err(format!("nothing is called `{path}`")),
    }
}

fn compile(text: &str, names: &Names, planar: bool) -> Result<Vec<Program>, ExprError> {
    Expr::parse(text)?.compile(names, &mut bind, planar)
}

fn program(text: &str) -> Program {
    match compile(text, &Names::default(), true) {
        Ok(mut programs) if programs.len() == 1 => programs.remove(0),
        other => panic!("{text:.200}: {other:.200?}"),
    }
}
