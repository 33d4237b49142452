//! Describes what eight lanes ask of an instruction set, and how it is done without any in particular.
//!
//! Masks are sign bits: what else a lane of a mask holds says nothing.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;

/// Eight numbers in memory.
type Eight = [f64; 8];

/// Operations on eight numbers; each does in every lane what `f64` does, to the bit.
///
/// Only [`Baseline`] can be named: the others are handed to a [`Kernel`](super::Kernel) once the machine is known to
/// have them. That is why their functions may run their instructions without looking again.
pub trait Instructions: Copy + Send + Sync + 'static {
    /// a + b
    fn add(a: Eight, b: Eight) -> Eight;
    /// a - b
    fn sub(a: Eight, b: Eight) -> Eight;
    /// a × b
    fn mul(a: Eight, b: Eight) -> Eight;
    /// a ÷ b
    fn div(a: Eight, b: Eight) -> Eight;
    /// √a
    fn sqrt(a: Eight) -> Eight;
    /// a where a > b, else b
    fn max(a: Eight, b: Eight) -> Eight;
    /// a where a < b, else b
    fn min(a: Eight, b: Eight) -> Eight;
    /// Sign bits: a < b
    fn lt(a: Eight, b: Eight) -> Eight;
    /// Sign bits: a ≤ b
    fn le(a: Eight, b: Eight) -> Eight;
    /// Sign bits: a = b
    fn eq(a: Eight, b: Eight) -> Eight;
    /// a where the sign bit of `mask` is set, else b
    fn select(mask: Eight, a: Eight, b: Eight) -> Eight;
    /// The sign bits
    fn signs(a: Eight) -> u8;
    /// Bitwise and
    fn and(a: Eight, b: Eight) -> Eight;
    /// Bitwise or
    fn or(a: Eight, b: Eight) -> Eight;
    /// Bitwise exclusive or
    fn xor(a: Eight, b: Eight) -> Eight;
    /// The bits moved up by N < 64 places
    fn shift<const N: u32>(a: Eight) -> Eight;
    /// Runs `f` compiled for these instructions.
    fn vectorize<R>(f: impl FnOnce() -> R) -> R;
}

/// Holds what every machine has: eight lanes by loops.
#[derive(Clone, Copy, Debug)]
pub struct Baseline;

/// Lane by lane; a loop, not `map`, whose closure would be a function of its own in unoptimised code.
macro_rules! lanes {
    ($r:ident[$i:ident] = $value:expr) => {{
        let mut $r = [0.0; 8];
        for $i in 0..8 {
            $r[$i] = $value;
        }
        $r
    }};
}

/// As a sign bit.
#[inline(always)]
fn truth(x: bool) -> f64 {
    f64::from_bits((x as u64) << 63)
}

impl Instructions for Baseline {
    #[inline(always)]
    fn add(a: Eight, b: Eight) -> Eight {
        lanes!(r[i] = a[i] + b[i])
    }
    #[inline(always)]
    fn sub(a: Eight, b: Eight) -> Eight {
        lanes!(r[i] = a[i] - b[i])
    }
    #[inline(always)]
    fn mul(a: Eight, b: Eight) -> Eight {
        lanes!(r[i] = a[i] * b[i])
    }
    #[inline(always)]
    fn div(a: Eight, b: Eight) -> Eight {
        lanes!(r[i] = a[i] / b[i])
    }
    #[inline(always)]
    fn sqrt(a: Eight) -> Eight {
        lanes!(r[i] = a[i].sqrt())
    }
    #[inline(always)]
    fn max(a: Eight, b: Eight) -> Eight {
        lanes!(r[i] = if a[i] > b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn min(a: Eight, b: Eight) -> Eight {
        lanes!(r[i] = if a[i] < b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn lt(a: Eight, b: Eight) -> Eight {
        lanes!(r[i] = truth(a[i] < b[i]))
    }
    #[inline(always)]
    fn le(a: Eight, b: Eight) -> Eight {
        lanes!(r[i] = truth(a[i] <= b[i]))
    }
    #[inline(always)]
    fn eq(a: Eight, b: Eight) -> Eight {
        lanes!(r[i] = truth(a[i] == b[i]))
    }
    #[inline(always)]
    fn select(mask: Eight, a: Eight, b: Eight) -> Eight {
        lanes!(r[i] = if mask[i].is_sign_negative() { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn signs(a: Eight) -> u8 {
        let mut bits = 0;
        for i in 0..8 {
            bits |= (a[i].is_sign_negative() as u8) << i;
        }
        bits
    }
    #[inline(always)]
    fn and(a: Eight, b: Eight) -> Eight {
        lanes!(r[i] = f64::from_bits(a[i].to_bits() & b[i].to_bits()))
    }
    #[inline(always)]
    fn or(a: Eight, b: Eight) -> Eight {
        lanes!(r[i] = f64::from_bits(a[i].to_bits() | b[i].to_bits()))
    }
    #[inline(always)]
    fn xor(a: Eight, b: Eight) -> Eight {
        lanes!(r[i] = f64::from_bits(a[i].to_bits() ^ b[i].to_bits()))
    }
    #[inline(always)]
    fn shift<const N: u32>(a: Eight) -> Eight {
        lanes!(r[i] = f64::from_bits(a[i].to_bits() << N))
    }
    #[inline(always)]
    fn vectorize<R>(f: impl FnOnce() -> R) -> R {
        f()
    }
}
