//! Eight lanes as one vector of AVX-512.
#![allow(unsafe_code)]

use super::{Eight, Instructions};
use std::arch::x86_64::*;
use std::mem::transmute;

/// Instructions of AVX-512 (F, DQ, VL).
///
/// It must stay private to `lane`: every `unsafe` below rests on the machine having these instructions, which
/// `dispatch` makes sure of before anyone else gets hold of the type.
#[derive(Clone, Copy, Debug)]
pub struct Avx512;

impl Avx512 {
    /// Returns whether the machine has them.
    pub fn is_there() -> bool {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
    }
}

/// SAFETY of all: the machine has the instruction, as `Avx512` says; `Eight` and `__m512d` are 64 bytes of which every
/// pattern is a value.
macro_rules! vector {
    ($intrinsic:ident($($a:ident),+)) => {
        unsafe { transmute::<__m512d, Eight>($intrinsic($(transmute::<Eight, __m512d>($a)),+)) }
    };
}

/// As above, for a comparison: bits of a mask to sign bits.
macro_rules! compare {
    ($relation:ident($a:ident, $b:ident)) => {
        unsafe {
            let mask = _mm512_cmp_pd_mask::<$relation>(
                transmute::<Eight, __m512d>($a),
                transmute::<Eight, __m512d>($b),
            );
            transmute::<__m512i, Eight>(_mm512_movm_epi64(mask))
        }
    };
}

impl Instructions for Avx512 {
    #[inline(always)]
    fn add(a: Eight, b: Eight) -> Eight {
        vector!(_mm512_add_pd(a, b))
    }
    #[inline(always)]
    fn sub(a: Eight, b: Eight) -> Eight {
        vector!(_mm512_sub_pd(a, b))
    }
    #[inline(always)]
    fn mul(a: Eight, b: Eight) -> Eight {
        vector!(_mm512_mul_pd(a, b))
    }
    #[inline(always)]
    fn div(a: Eight, b: Eight) -> Eight {
        vector!(_mm512_div_pd(a, b))
    }
    #[inline(always)]
    fn sqrt(a: Eight) -> Eight {
        vector!(_mm512_sqrt_pd(a))
    }
    #[inline(always)]
    fn max(a: Eight, b: Eight) -> Eight {
        vector!(_mm512_max_pd(a, b))
    }
    #[inline(always)]
    fn min(a: Eight, b: Eight) -> Eight {
        vector!(_mm512_min_pd(a, b))
    }
    #[inline(always)]
    fn lt(a: Eight, b: Eight) -> Eight {
        compare!(_CMP_LT_OQ(a, b))
    }
    #[inline(always)]
    fn le(a: Eight, b: Eight) -> Eight {
        compare!(_CMP_LE_OQ(a, b))
    }
    #[inline(always)]
    fn eq(a: Eight, b: Eight) -> Eight {
        compare!(_CMP_EQ_OQ(a, b))
    }
    #[inline(always)]
    fn select(mask: Eight, a: Eight, b: Eight) -> Eight {
        let mask = Self::signs(mask);
        // SAFETY: as `vector`
        unsafe {
            let (a, b) = (transmute::<Eight, __m512d>(a), transmute::<Eight, __m512d>(b));
            transmute::<__m512d, Eight>(_mm512_mask_blend_pd(mask, b, a))
        }
    }
    #[inline(always)]
    fn signs(a: Eight) -> u8 {
        // SAFETY: as `vector`
        unsafe { _mm512_movepi64_mask(transmute::<Eight, __m512i>(a)) }
    }
    #[inline(always)]
    fn and(a: Eight, b: Eight) -> Eight {
        vector!(_mm512_and_pd(a, b))
    }
    #[inline(always)]
    fn or(a: Eight, b: Eight) -> Eight {
        vector!(_mm512_or_pd(a, b))
    }
    #[inline(always)]
    fn xor(a: Eight, b: Eight) -> Eight {
        vector!(_mm512_xor_pd(a, b))
    }
    #[inline(always)]
    fn shift<const N: u32>(a: Eight) -> Eight {
        // SAFETY: as `vector`
        unsafe { transmute::<__m512i, Eight>(_mm512_slli_epi64::<N>(transmute::<Eight, __m512i>(a))) }
    }
    #[inline(always)]
    fn vectorize<R>(f: impl FnOnce() -> R) -> R {
        #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
        fn run<R>(f: impl FnOnce() -> R) -> R {
            f()
        }
        // SAFETY: the machine has these instructions, as `Avx512` says
        unsafe { run(f) }
    }
}
