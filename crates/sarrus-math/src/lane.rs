//! Numbers side by side: code written once over [`Lane`] runs for one variant of a model with `f64`, and for
//! eight with [`Lanes`], one in each lane.
//!
//! Lane i of every result equals, to the bit, what `f64` gives for lane i of the arguments: +, −, ×, ÷ and √ are correctly
//! rounded on every machine, products and sums are never fused, and [`Lane::sin_cos`] is made of these. (Bits of
//! NaN alone are free: NaN is NaN in both.)
//!
//! What it needs: everything between [`dispatch`] and the operators must be `#[inline(always)]`, closures too, for
//! only then does it become instructions of the set that was chosen; a function in between that is not costs a call
//! per operation. Costs: eight lanes take as many instructions as one with AVX-512, twice as many with AVX2.
//!
//! ```
//! use sarrus_math::lane::{Kernel, Lane, dispatch};
//!
//! /// Pendulums, one in each lane.
//! struct Pendulums<L> {
//!     angle: L,
//!     rate: L,
//! }
//!
//! /// What is kept between calls knows its lanes, who keeps it does not.
//! trait Batch {
//!     fn step(&mut self, h: f64);
//!     fn angle(&self, i: usize) -> f64;
//! }
//!
//! impl<L: Lane> Batch for Pendulums<L> {
//!     fn step(&mut self, h: f64) {
//!         L::vectorize(
//!             #[inline(always)]
//!             || {
//!                 let (s, _) = self.angle.sin_cos();
//!                 self.rate -= s * (9.81 * h);
//!                 self.angle += self.rate * h;
//!             },
//!         )
//!     }
//!     fn angle(&self, i: usize) -> f64 {
//!         self.angle.lane(i)
//!     }
//! }
//!
//! struct Start<'a>(&'a [f64]);
//!
//! impl Kernel for Start<'_> {
//!     type Output = Box<dyn Batch>;
//!     #[inline(always)]
//!     fn run<L: Lane>(self) -> Box<dyn Batch> {
//!         Box::new(Pendulums { angle: L::from_lanes(|i| self.0[i]), rate: L::default() })
//!     }
//! }
//!
//! let start = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
//! let mut eight = dispatch(Start(&start));
//! let mut one = Start(&start[2..]).run::<f64>();
//! for _ in 0..100 {
//!     eight.step(1e-3);
//!     one.step(1e-3);
//! }
//! assert_eq!(eight.angle(2), one.angle(0));
//! ```

mod dispatch;
mod eight;
mod instructions;
mod sin_cos;
#[cfg(test)]
mod tests;

pub use dispatch::{InstructionSet, Kernel, dispatch, dispatch_with};
pub use eight::{Lanes, Mask8};
pub use instructions::{Baseline, Instructions};
pub use sin_cos::sin_cos_all;

use std::fmt::Debug;
use std::ops::{Add, AddAssign, BitAnd, BitOr, Div, DivAssign, Mul, MulAssign, Neg, Not, Sub, SubAssign};

/// One number, or several side by side.
///
/// A choice that depends on values is a [`Mask`] and [`select`](Lane::select): both sides are computed in all lanes. A
/// branch may ask whether [`any`](Mask::any) or [`all`](Mask::all) lanes want it, where what it does to the others
/// leaves their bits alone.
///
/// On an `f64` that is not an `L` the language's own `max`, `min` and `sin_cos` come first: write `Lane::max(a, b)`, or
/// over `L`.
pub trait Lane:
    Copy
    + Debug
    + Default
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + AddAssign<f64>
    + SubAssign<f64>
    + MulAssign<f64>
    + DivAssign<f64>
{
    /// Number of lanes.
    const WIDTH: usize;
    /// One truth value per lane.
    type Mask: Mask;

    /// `x` in every lane.
    fn splat(x: f64) -> Self;
    /// Returns what stands in lane `i` < `WIDTH`.
    fn lane(self, i: usize) -> f64;
    /// Writes `x` to lane `i` < `WIDTH`.
    fn set_lane(&mut self, i: usize, x: f64);
    /// Lane i is `f(i)`.
    #[inline(always)]
    fn from_lanes(f: impl Fn(usize) -> f64) -> Self {
        let mut x = Self::default();
        for i in 0..Self::WIDTH {
            x.set_lane(i, f(i));
        }
        x
    }

    /// √x, NaN below zero.
    fn sqrt(self) -> Self;
    /// |x|.
    fn abs(self) -> Self;
    /// The greater one: `self` where self > b, else `b`; so `b` where either is NaN and where they are equal.
    fn max(self, b: Self) -> Self;
    /// The smaller one: `self` where self < b, else `b`; so `b` where either is NaN and where they are equal.
    fn min(self, b: Self) -> Self;
    /// Sine and cosine within 1 ulp; NaN where not finite. See the file for how.
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        sin_cos::sin_cos(self)
    }

    /// self < b; false where either is NaN, as are the next four.
    fn lt(self, b: Self) -> Self::Mask;
    /// self ≤ b.
    fn le(self, b: Self) -> Self::Mask;
    /// self > b.
    #[inline(always)]
    fn gt(self, b: Self) -> Self::Mask {
        b.lt(self)
    }
    /// self ≥ b.
    #[inline(always)]
    fn ge(self, b: Self) -> Self::Mask {
        b.le(self)
    }
    /// self = b, where −0 = 0.
    fn eq(self, b: Self) -> Self::Mask;
    /// Lanes of `yes` where `mask` is true, of `no` elsewhere.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// Lanes of `yes` where the sign bit of `self` is set (negative numbers, −0), of `no` elsewhere; never a branch.
    fn select_by_sign(self, yes: Self, no: Self) -> Self;
    /// Bitwise and.
    fn and_bits(self, b: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor_bits(self, b: Self) -> Self;
    /// The bits, each moved up by `N` < 64 places, zeros below.
    fn shift_bits<const N: u32>(self) -> Self;

    /// Runs `f` compiled for the instructions of this type; `f` is a closure marked `#[inline(always)]`.
    fn vectorize<R>(f: impl FnOnce() -> R) -> R;
}

/// Truth values, one per lane.
pub trait Mask:
    Copy + Debug + Send + Sync + 'static + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// Bit i is lane i.
    fn bits(self) -> u8;
    /// Returns whether some lane is true.
    fn any(self) -> bool;
    /// Returns whether every lane is true.
    fn all(self) -> bool;
}

impl Mask for bool {
    #[inline(always)]
    fn bits(self) -> u8 {
        self as u8
    }
    #[inline(always)]
    fn any(self) -> bool {
        self
    }
    #[inline(always)]
    fn all(self) -> bool {
        self
    }
}

impl Lane for f64 {
    const WIDTH: usize = 1;
    type Mask = bool;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn lane(self, i: usize) -> f64 {
        debug_assert_eq!(i, 0, "one number has one lane");
        self
    }
    #[inline(always)]
    fn set_lane(&mut self, i: usize, x: f64) {
        debug_assert_eq!(i, 0, "one number has one lane");
        *self = x;
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }
    #[inline(always)]
    fn max(self, b: Self) -> Self {
        if self > b { self } else { b }
    }
    #[inline(always)]
    fn min(self, b: Self) -> Self {
        if self < b { self } else { b }
    }
    #[inline(always)]
    fn lt(self, b: Self) -> bool {
        self < b
    }
    #[inline(always)]
    fn le(self, b: Self) -> bool {
        self <= b
    }
    #[inline(always)]
    fn eq(self, b: Self) -> bool {
        self == b
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn select_by_sign(self, yes: Self, no: Self) -> Self {
        let sign = (self.to_bits() as i64 >> 63) as u64; // all bits as the first
        let (yes, no) = (yes.to_bits(), no.to_bits());
        f64::from_bits(no ^ ((yes ^ no) & sign))
    }
    #[inline(always)]
    fn and_bits(self, b: Self) -> Self {
        f64::from_bits(self.to_bits() & b.to_bits())
    }
    #[inline(always)]
    fn xor_bits(self, b: Self) -> Self {
        f64::from_bits(self.to_bits() ^ b.to_bits())
    }
    #[inline(always)]
    fn shift_bits<const N: u32>(self) -> Self {
        f64::from_bits(self.to_bits() << N)
    }
    #[inline(always)]
    fn vectorize<R>(f: impl FnOnce() -> R) -> R {
        f()
    }
}
