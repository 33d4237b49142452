//! Vector functions, taken apart into operations on numbers.

use super::ExprError;
use super::ast::TextRange;
use super::functions::Call;
use super::graph::Term;
use super::lower::{LoweredValue, Lowering};
use super::op::Op;
use super::parse::fail;

const ZERO: Term = Term::Constant(0);

type VectorResult<T> = std::result::Result<T, ExprError>;
type ExprVector = ([Term; 3], usize);

/// √Σvᵢ².
pub(super) fn length(l: &mut Lowering<'_>, v: &[Term], at: TextRange) -> Term {
    let mut sum = ZERO;
    for x in v {
        let square = l.op(Op::Power, &[*x, Term::constant(2.0)], at);
        sum = l.op(Op::Add, &[sum, square], at);
    }
    l.op(Op::Sqrt, &[sum], at)
}

/// Applies `op` to pairs of components.
pub(super) fn pairwise(
    l: &mut Lowering<'_>,
    op: Op,
    a: ExprVector,
    b: ExprVector,
    at: TextRange,
) -> ExprVector {
    let mut v = [ZERO; 3];
    for k in 0..a.1 {
        v[k] = l.op(op, &[a.0[k], b.0[k]], at);
    }
    (v, a.1)
}

/// Applies `op` to every component and a number.
pub(super) fn scaled(l: &mut Lowering<'_>, op: Op, a: ExprVector, factor: Term, at: TextRange) -> ExprVector {
    pairwise(l, op, a, ([factor; 3], a.1), at)
}

fn dot(l: &mut Lowering<'_>, a: ExprVector, b: ExprVector, at: TextRange) -> Term {
    let (products, n) = pairwise(l, Op::Multiply, a, b, at);
    products[1..n].iter().fold(products[0], |sum, x| l.op(Op::Add, &[sum, *x], at))
}

/// aᵢbⱼ - aⱼbᵢ
fn minor(l: &mut Lowering<'_>, a: ExprVector, b: ExprVector, i: usize, j: usize, at: TextRange) -> Term {
    let first = l.op(Op::Multiply, &[a.0[i], b.0[j]], at);
    let second = l.op(Op::Multiply, &[a.0[j], b.0[i]], at);
    l.op(Op::Subtract, &[first, second], at)
}

fn cross(l: &mut Lowering<'_>, a: ExprVector, b: ExprVector, at: TextRange) -> ExprVector {
    ([minor(l, a, b, 1, 2, at), minor(l, a, b, 2, 0, at), minor(l, a, b, 0, 1, at)], 3)
}

fn unit(l: &mut Lowering<'_>, v: ExprVector, at: TextRange) -> ExprVector {
    let norm = length(l, &v.0[..v.1], at);
    if norm.value() == Some(0.0) {
        l.fault(at, "a vector of length 0 has no direction".into());
        return v;
    }
    scaled(l, Op::Divide, v, norm, at)
}

/// Arguments 0 and 1 as vectors of the same size.
fn pair(call: &Call<'_>, first: usize, second: usize) -> VectorResult<(ExprVector, ExprVector)> {
    let (a, b) = (call.vector(first)?, call.vector(second)?);
    if a.1 != b.1 {
        let message = format!("vectors of {} and {} components in `{}`", a.1, b.1, call.name);
        return Err(fail(call.arguments[second].1, message, None));
    }
    Ok((a, b))
}

fn planar(call: &Call<'_>, v: ExprVector, instead: &str) -> VectorResult<()> {
    if v.1 == 2 {
        return Ok(());
    }
    Err(fail(call.at, format!("`{}` is planar only", call.name), Some(instead.into())))
}

pub(super) fn dot_of(l: &mut Lowering<'_>, call: &Call<'_>) -> VectorResult<LoweredValue> {
    let (a, b) = pair(call, 0, 1)?;
    Ok(LoweredValue::Number(dot(l, a, b, call.at)))
}

pub(super) fn cross_of(l: &mut Lowering<'_>, call: &Call<'_>) -> VectorResult<LoweredValue> {
    let (a, b) = pair(call, 0, 1)?;
    if a.1 == 2 {
        return Ok(LoweredValue::Number(minor(l, a, b, 0, 1, call.at)));
    }
    let (v, n) = cross(l, a, b, call.at);
    Ok(LoweredValue::Vector(v, n))
}

pub(super) fn norm_of(l: &mut Lowering<'_>, call: &Call<'_>) -> VectorResult<LoweredValue> {
    let (v, n) = call.vector(0)?;
    Ok(LoweredValue::Number(length(l, &v[..n], call.at)))
}

pub(super) fn unit_of(l: &mut Lowering<'_>, call: &Call<'_>) -> VectorResult<LoweredValue> {
    let (v, n) = unit(l, call.vector(0)?, call.at);
    Ok(LoweredValue::Vector(v, n))
}

pub(super) fn dist_of(l: &mut Lowering<'_>, call: &Call<'_>) -> VectorResult<LoweredValue> {
    let (p, q) = pair(call, 0, 1)?;
    let (v, n) = pairwise(l, Op::Subtract, q, p, call.at);
    Ok(LoweredValue::Number(length(l, &v[..n], call.at)))
}

pub(super) fn mid_of(l: &mut Lowering<'_>, call: &Call<'_>) -> VectorResult<LoweredValue> {
    let (p, q) = pair(call, 0, 1)?;
    let sum = pairwise(l, Op::Add, p, q, call.at);
    let (v, n) = scaled(l, Op::Multiply, sum, Term::constant(0.5), call.at);
    Ok(LoweredValue::Vector(v, n))
}

pub(super) fn lerp_of(l: &mut Lowering<'_>, call: &Call<'_>) -> VectorResult<LoweredValue> {
    let (p, q) = pair(call, 0, 1)?;
    let s = call.number(2)?;
    let way = pairwise(l, Op::Subtract, q, p, call.at);
    let part = scaled(l, Op::Multiply, way, s, call.at);
    let (v, n) = pairwise(l, Op::Add, p, part, call.at);
    Ok(LoweredValue::Vector(v, n))
}

/// v cos a + (k×v) sin a + k (k·v)(1 - cos a), with k along the axis; in the plane the axis is z.
pub(super) fn rotate_of(l: &mut Lowering<'_>, call: &Call<'_>) -> VectorResult<LoweredValue> {
    let at = call.at;
    let v = call.vector(0)?;
    let is_planar = v.1 == 2;
    if call.arguments.len() != if is_planar { 2 } else { 3 } {
        let hint = if is_planar { "write `rotate(v, angle)`" } else { "write `rotate(v, axis, angle)`" };
        return Err(fail(at, "`rotate` takes an axis in space, none in the plane".into(), Some(hint.into())));
    }
    let angle = call.number(call.arguments.len() - 1)?;
    let cos = l.op(Op::Cos, &[angle], at);
    let sin = l.op(Op::Sin, &[angle], at);
    let straight = scaled(l, Op::Multiply, v, cos, at);
    if is_planar {
        let left = l.op(Op::Negative, &[v.0[1]], at);
        let across = scaled(l, Op::Multiply, ([left, v.0[0], ZERO], 2), sin, at);
        let (v, n) = pairwise(l, Op::Add, straight, across, at);
        return Ok(LoweredValue::Vector(v, n));
    }
    let (_, axis) = pair(call, 0, 1)?;
    let k = unit(l, axis, at);
    let across = cross(l, k, v, at);
    let across = scaled(l, Op::Multiply, across, sin, at);
    let along = dot(l, k, v, at);
    let rest = l.op(Op::Subtract, &[Term::constant(1.0), cos], at);
    let along = l.op(Op::Multiply, &[along, rest], at);
    let along = scaled(l, Op::Multiply, k, along, at);
    let sum = pairwise(l, Op::Add, straight, across, at);
    let (v, n) = pairwise(l, Op::Add, sum, along, at);
    Ok(LoweredValue::Vector(v, n))
}

pub(super) fn polar_of(l: &mut Lowering<'_>, call: &Call<'_>) -> VectorResult<LoweredValue> {
    let (r, angle) = (call.number(0)?, call.number(1)?);
    if !l.planar {
        let hint = "write `[r*cos(angle), r*sin(angle), 0]`";
        return Err(fail(call.at, "`polar` is planar only".into(), Some(hint.into())));
    }
    let cos = l.op(Op::Cos, &[angle], call.at);
    let sin = l.op(Op::Sin, &[angle], call.at);
    let (v, n) = scaled(l, Op::Multiply, ([cos, sin, ZERO], 2), r, call.at);
    Ok(LoweredValue::Vector(v, n))
}

pub(super) fn angle_of(l: &mut Lowering<'_>, call: &Call<'_>) -> VectorResult<LoweredValue> {
    let (p, q) = pair(call, 0, 1)?;
    planar(call, p, "write `acos(dot(unit(a), unit(b)))` for the angle between two directions")?;
    let (way, _) = pairwise(l, Op::Subtract, q, p, call.at);
    Ok(LoweredValue::Number(l.op(Op::Atan2, &[way[1], way[0]], call.at)))
}

/// P + a u + h n with u = (Q - P)/d, n to its left, a = (r² - s² + d²)/(2d), h = √(r² - a²).
pub(super) fn meet_of(l: &mut Lowering<'_>, call: &Call<'_>) -> VectorResult<LoweredValue> {
    let at = call.at;
    let (p, q) = pair(call, 0, 2)?;
    planar(call, p, "give the point by its coordinates")?;
    let (r, s) = (call.number(1)?, call.number(3)?);
    let way = pairwise(l, Op::Subtract, q, p, at);
    let d = length(l, &way.0[..2], at);
    if let (Some(r), Some(s), Some(d)) = (r.value(), s.value(), d.value())
        && let Some(message) = unreachable(r, s, d)
    {
        l.fault(at, message);
        return Ok(LoweredValue::Vector(p.0, 2));
    }
    let two = Term::constant(2.0);
    let u = scaled(l, Op::Divide, way, d, at);
    let [r2, s2, d2] = [r, s, d].map(|x| l.op(Op::Power, &[x, two], at));
    let sum = l.op(Op::Subtract, &[r2, s2], at);
    let sum = l.op(Op::Add, &[sum, d2], at);
    let twice = l.op(Op::Multiply, &[two, d], at);
    let a = l.op(Op::Divide, &[sum, twice], at);
    let a2 = l.op(Op::Power, &[a, two], at);
    let mut h2 = l.op(Op::Subtract, &[r2, a2], at);
    if h2.value().is_some_and(|h2| h2 < 0.0) {
        // in reach by the test above: the three points are in line to rounding
        h2 = ZERO;
    }
    let h = l.op(Op::Sqrt, &[h2], at);
    let left = l.op(Op::Negative, &[u.0[1]], at);
    let along = scaled(l, Op::Multiply, u, a, at);
    let across = scaled(l, Op::Multiply, ([left, u.0[0], ZERO], 2), h, at);
    let sum = pairwise(l, Op::Add, p, along, at);
    let (v, n) = pairwise(l, Op::Add, sum, across, at);
    Ok(LoweredValue::Vector(v, n))
}

/// Returns why two circles of radius r and s, d apart, do not meet in a point.
fn unreachable(r: f64, s: f64, d: f64) -> Option<String> {
    // what rounding may add to lengths that just reach
    let slack = 1e-12 * (r.abs() + s.abs() + d);
    if r < 0.0 || s < 0.0 {
        Some(format!("`meet` needs lengths of 0 or more, not {r} and {s}"))
    } else if d == 0.0 {
        Some("`meet` of two points that are the same".into())
    } else if r + s + slack < d {
        Some(format!("`meet` is out of reach: the points are {d} apart, the lengths {r} and {s} too short"))
    } else if (r - s).abs() > d + slack {
        Some(format!(
            "`meet` is out of reach: the points are only {d} apart, the lengths {r} and {s} too unequal"
        ))
    } else {
        None
    }
}
