//! Eight lanes as two vectors of AVX2.
#![allow(unsafe_code)]

use super::{Eight, Instructions};
use std::arch::x86_64::*;
use std::mem::transmute;

/// Instructions of AVX2.
///
/// It must stay private to `lane`: every `unsafe` below rests on the machine having these instructions, which
/// `dispatch` makes sure of before anyone else gets hold of the type.
#[derive(Clone, Copy, Debug)]
pub struct Avx2;

impl Avx2 {
    /// Returns whether the machine has them.
    pub fn is_there() -> bool {
        is_x86_feature_detected!("avx2")
    }
}

/// Eight lanes.
type LanePair = [__m256d; 2];

/// SAFETY of all: the machine has the instruction, as `Avx2` says; `Eight` and `LanePair` are 64 bytes of which every
/// pattern is a value.
macro_rules! vectors {
    ($intrinsic:ident$(::<$relation:ident>)?($($a:ident),+)) => {
        unsafe {
            $(let $a = transmute::<Eight, LanePair>($a);)+
            transmute::<LanePair, Eight>([$intrinsic$(::<$relation>)?($($a[0]),+), $intrinsic$(::<$relation>)?($($a[1]),+)])
        }
    };
}

impl Instructions for Avx2 {
    #[inline(always)]
    fn add(a: Eight, b: Eight) -> Eight {
        vectors!(_mm256_add_pd(a, b))
    }
    #[inline(always)]
    fn sub(a: Eight, b: Eight) -> Eight {
        vectors!(_mm256_sub_pd(a, b))
    }
    #[inline(always)]
    fn mul(a: Eight, b: Eight) -> Eight {
        vectors!(_mm256_mul_pd(a, b))
    }
    #[inline(always)]
    fn div(a: Eight, b: Eight) -> Eight {
        vectors!(_mm256_div_pd(a, b))
    }
    #[inline(always)]
    fn sqrt(a: Eight) -> Eight {
        vectors!(_mm256_sqrt_pd(a))
    }
    #[inline(always)]
    fn max(a: Eight, b: Eight) -> Eight {
        vectors!(_mm256_max_pd(a, b))
    }
    #[inline(always)]
    fn min(a: Eight, b: Eight) -> Eight {
        vectors!(_mm256_min_pd(a, b))
    }
    #[inline(always)]
    fn lt(a: Eight, b: Eight) -> Eight {
        vectors!(_mm256_cmp_pd::<_CMP_LT_OQ>(a, b))
    }
    #[inline(always)]
    fn le(a: Eight, b: Eight) -> Eight {
        vectors!(_mm256_cmp_pd::<_CMP_LE_OQ>(a, b))
    }
    #[inline(always)]
    fn eq(a: Eight, b: Eight) -> Eight {
        vectors!(_mm256_cmp_pd::<_CMP_EQ_OQ>(a, b))
    }
    #[inline(always)]
    fn select(mask: Eight, a: Eight, b: Eight) -> Eight {
        vectors!(_mm256_blendv_pd(b, a, mask))
    }
    #[inline(always)]
    fn signs(a: Eight) -> u8 {
        // SAFETY: as `vectors`
        unsafe {
            let a = transmute::<Eight, LanePair>(a);
            (_mm256_movemask_pd(a[0]) | _mm256_movemask_pd(a[1]) << 4) as u8
        }
    }
    #[inline(always)]
    fn and(a: Eight, b: Eight) -> Eight {
        vectors!(_mm256_and_pd(a, b))
    }
    #[inline(always)]
    fn or(a: Eight, b: Eight) -> Eight {
        vectors!(_mm256_or_pd(a, b))
    }
    #[inline(always)]
    fn xor(a: Eight, b: Eight) -> Eight {
        vectors!(_mm256_xor_pd(a, b))
    }
    #[inline(always)]
    fn shift<const N: u32>(a: Eight) -> Eight {
        // SAFETY: as `vectors`
        unsafe {
            let count = _mm_cvtsi32_si128(N as i32); // a constant: becomes the immediate form
            let a = transmute::<Eight, [__m256i; 2]>(a);
            transmute::<[__m256i; 2], Eight>([_mm256_sll_epi64(a[0], count), _mm256_sll_epi64(a[1], count)])
        }
    }
    #[inline(always)]
    fn vectorize<R>(f: impl FnOnce() -> R) -> R {
        #[target_feature(enable = "avx2")]
        fn run<R>(f: impl FnOnce() -> R) -> R {
            f()
        }
        // SAFETY: the machine has these instructions, as `Avx2` says
        unsafe { run(f) }
    }
}
