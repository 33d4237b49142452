//! Sums over all numbers of states; times are left alone.

use crate::problem::State;

fn arrays(s: &State) -> [&[f64]; 3] {
    [&s.q, &s.v, &s.x]
}

fn arrays_mut(s: &mut State) -> [&mut [f64]; 3] {
    [&mut s.q, &mut s.v, &mut s.x]
}

/// a = 0.
pub(super) fn clear(a: &mut State) {
    arrays_mut(a).into_iter().for_each(|a| a.fill(0.0));
}

/// `f` of each number of `a` and its like in `b`.
fn each(a: &mut State, b: &State, f: impl Fn(&mut f64, f64)) {
    for (a, b) in arrays_mut(a).into_iter().zip(arrays(b)) {
        a.iter_mut().zip(b).for_each(|(a, b)| f(a, *b));
    }
}

/// a = a + c b.
pub(super) fn add_times(a: &mut State, c: f64, b: &State) {
    each(a, b, |a, b| *a += c * b);
}

/// a = c a + b.
pub(super) fn scale_and_add(a: &mut State, c: f64, b: &State) {
    each(a, b, |a, b| *a = c * *a + b);
}

/// out = a - b.
pub(super) fn subtract(out: &mut State, a: &State, b: &State) {
    each(out, a, |out, a| *out = a);
    each(out, b, |out, b| *out -= b);
}

/// y = y + c a - excess, where `excess` is what rounding has added to y beyond what was to be added, before and after.
pub(super) fn add_compensated(y: &mut State, c: f64, a: &State, excess: &mut State) {
    for ((y, a), excess) in arrays_mut(y).into_iter().zip(arrays(a)).zip(arrays_mut(excess)) {
        for ((y, a), excess) in y.iter_mut().zip(a).zip(excess) {
            let add = c * a - *excess;
            let sum = *y + add;
            *excess = (sum - *y) - add;
            *y = sum;
        }
    }
}
