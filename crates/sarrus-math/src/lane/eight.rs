//! Eight numbers side by side, and eight truth values.
//!
//! The memory is the same for every instruction set I: eight `f64` on a cache line of their own.

use super::{Instructions, Lane, Mask};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, AddAssign, BitAnd, BitOr, Div, DivAssign, Mul, MulAssign, Neg, Not, Sub, SubAssign};

/// Eight numbers, worked on with the instructions `I`.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Lanes<I>(pub(super) [f64; 8], PhantomData<I>);

/// Eight truth values, each the sign bit of a number.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Mask8<I>(pub(super) [f64; 8], PhantomData<I>);

impl<I> Lanes<I> {
    #[inline(always)]
    pub(super) fn new(x: [f64; 8]) -> Self {
        Lanes(x, PhantomData)
    }
}

impl<I> Mask8<I> {
    #[inline(always)]
    fn new(x: [f64; 8]) -> Self {
        Mask8(x, PhantomData)
    }
}

impl<I> Default for Lanes<I> {
    #[inline(always)]
    fn default() -> Self {
        Lanes::new([0.0; 8])
    }
}

impl<I> fmt::Debug for Lanes<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<I> fmt::Debug for Mask8<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map(f64::is_sign_negative).fmt(f)
    }
}

/// An operator with its assigning form, with eight numbers or the same one eight times on the right.
macro_rules! operator {
    ($operator:ident $method:ident $assigning:ident $assign:ident) => {
        impl<I: Instructions> $operator for Lanes<I> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, b: Self) -> Self {
                Lanes::new(I::$method(self.0, b.0))
            }
        }
        impl<I: Instructions> $operator<f64> for Lanes<I> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, b: f64) -> Self {
                Lanes::new(I::$method(self.0, [b; 8]))
            }
        }
        impl<I: Instructions> $assigning for Lanes<I> {
            #[inline(always)]
            fn $assign(&mut self, b: Self) {
                self.0 = I::$method(self.0, b.0);
            }
        }
        impl<I: Instructions> $assigning<f64> for Lanes<I> {
            #[inline(always)]
            fn $assign(&mut self, b: f64) {
                self.0 = I::$method(self.0, [b; 8]);
            }
        }
    };
}

operator!(Add add AddAssign add_assign);
operator!(Sub sub SubAssign sub_assign);
operator!(Mul mul MulAssign mul_assign);
operator!(Div div DivAssign div_assign);

impl<I: Instructions> Neg for Lanes<I> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Lanes::new(I::xor(self.0, [-0.0; 8]))
    }
}

impl<I: Instructions> Lane for Lanes<I> {
    const WIDTH: usize = 8;
    type Mask = Mask8<I>;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Lanes::new([x; 8])
    }
    #[inline(always)]
    fn lane(self, i: usize) -> f64 {
        self.0[i]
    }
    #[inline(always)]
    fn set_lane(&mut self, i: usize, x: f64) {
        self.0[i] = x;
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Lanes::new(I::sqrt(self.0))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Lanes::new(I::and(self.0, [f64::from_bits(!SIGN); 8]))
    }
    #[inline(always)]
    fn max(self, b: Self) -> Self {
        Lanes::new(I::max(self.0, b.0))
    }
    #[inline(always)]
    fn min(self, b: Self) -> Self {
        Lanes::new(I::min(self.0, b.0))
    }
    #[inline(always)]
    fn lt(self, b: Self) -> Mask8<I> {
        Mask8::new(I::lt(self.0, b.0))
    }
    #[inline(always)]
    fn le(self, b: Self) -> Mask8<I> {
        Mask8::new(I::le(self.0, b.0))
    }
    #[inline(always)]
    fn eq(self, b: Self) -> Mask8<I> {
        Mask8::new(I::eq(self.0, b.0))
    }
    #[inline(always)]
    fn select(mask: Mask8<I>, yes: Self, no: Self) -> Self {
        Lanes::new(I::select(mask.0, yes.0, no.0))
    }
    #[inline(always)]
    fn select_by_sign(self, yes: Self, no: Self) -> Self {
        Lanes::new(I::select(self.0, yes.0, no.0))
    }
    #[inline(always)]
    fn and_bits(self, b: Self) -> Self {
        Lanes::new(I::and(self.0, b.0))
    }
    #[inline(always)]
    fn xor_bits(self, b: Self) -> Self {
        Lanes::new(I::xor(self.0, b.0))
    }
    #[inline(always)]
    fn shift_bits<const N: u32>(self) -> Self {
        Lanes::new(I::shift::<N>(self.0))
    }
    #[inline(always)]
    fn vectorize<R>(f: impl FnOnce() -> R) -> R {
        I::vectorize(f)
    }
}

/// The sign bit of a number.
const SIGN: u64 = 1 << 63;

impl<I: Instructions> BitAnd for Mask8<I> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, b: Self) -> Self {
        Mask8::new(I::and(self.0, b.0))
    }
}

impl<I: Instructions> BitOr for Mask8<I> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, b: Self) -> Self {
        Mask8::new(I::or(self.0, b.0))
    }
}

impl<I: Instructions> Not for Mask8<I> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Mask8::new(I::xor(self.0, [-0.0; 8]))
    }
}

impl<I: Instructions> Mask for Mask8<I> {
    #[inline(always)]
    fn bits(self) -> u8 {
        I::signs(self.0)
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.bits() != 0
    }
    #[inline(always)]
    fn all(self) -> bool {
        self.bits() == 0xff
    }
}
