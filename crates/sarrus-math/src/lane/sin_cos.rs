//! Sine and cosine over lanes: the same operations in every width, no branch but the one for large arguments.
//!
//! x = n π/2 + r with n the nearest integer and |r| ≤ π/4: π/2 in three parts, the first two of 33 bits, so
//! that n times either is exact \[Cody1980\], and what r leaves behind its last bit kept as a second number. Then
//! the polynomials of \[fdlibm\] for sin r and cos r, and n modulo 4 to swap them and set signs. Error below 1 ulp
//! for |x| ≤ 1e5; beyond, each lane asks the system's library, with one number as with eight.

use super::{Kernel, Lane, Mask, dispatch};

/// Largest |x| of the fast path: n stays below 2¹⁷, n times 33 bits exact.
pub(super) const LIMIT: f64 = 1e5;

/// Added to a small number, leaves it rounded to an integer in the last bits: 1.5 · 2⁵².
const ROUND: f64 = 6755399441055744.0;

// π/2 = PART_1 + PART_2 + PART_3, as fdlibm's e_rem_pio2.c splits it
const PART_1: f64 = f64::from_bits(0x3FF9_21FB_5440_0000);
const PART_2: f64 = f64::from_bits(0x3DD0_B461_1A60_0000);
const PART_3: f64 = f64::from_bits(0x3BA3_198A_2E03_7073);

// sin r = r + S1 r³ + S2 r⁵ + …, cos r = 1 - r²/2 + C1 r⁴ + …: fdlibm's k_sin.c and k_cos.c
const S1: f64 = f64::from_bits(0xBFC5_5555_5555_5549);
const S2: f64 = f64::from_bits(0x3F81_1111_1110_F8A6);
const S3: f64 = f64::from_bits(0xBF2A_01A0_19C1_61D5);
const S4: f64 = f64::from_bits(0x3EC7_1DE3_57B1_FE7D);
const S5: f64 = f64::from_bits(0xBE5A_E5E6_8A2B_9CEB);
const S6: f64 = f64::from_bits(0x3DE5_D93A_5ACF_D57C);
const C1: f64 = f64::from_bits(0x3FA5_5555_5555_554C);
const C2: f64 = f64::from_bits(0xBF56_C16C_16C1_5177);
const C3: f64 = f64::from_bits(0x3EFA_01A0_19CB_1590);
const C4: f64 = f64::from_bits(0xBE92_7E4F_809C_52AD);
const C5: f64 = f64::from_bits(0x3E21_EE9E_BDB4_B1C4);
const C6: f64 = f64::from_bits(0xBDA8_FAE9_BE88_38D4);

/// Sine and cosine of every lane.
#[inline(always)]
pub(super) fn sin_cos<L: Lane>(x: L) -> (L, L) {
    let fast = x.abs().le(L::splat(LIMIT));
    let (mut s, mut c) = fast_sin_cos(x);
    if !fast.all() {
        // copies, so that s and c themselves have no address and stay in registers
        let (mut sines, mut cosines) = (s, c);
        repair(&x, fast.bits(), &mut sines, &mut cosines);
        (s, c) = (sines, cosines);
    }
    (s, c)
}

/// For |x| ≤ `LIMIT`; anything elsewhere.
#[inline(always)]
fn fast_sin_cos<L: Lane>(x: L) -> (L, L) {
    let angle = x * std::f64::consts::FRAC_2_PI + ROUND;
    let n = angle - ROUND;

    // r + tail = x - n π/2; the first difference is exact, and so is what the second one lost
    let first = x - n * PART_1;
    let w = n * PART_2;
    let r = first - w;
    let tail = ((first - r) - w) - n * PART_3;

    let z = r * r;
    let w = z * z;
    let v = z * r;
    let p = (z * S4 + S3) * z + S2 + z * w * (z * S6 + S5);
    let sine = r - ((z * (tail * 0.5 - v * p) - tail) - v * S1);

    let p = z * ((z * C3 + C2) * z + C1) + w * w * ((z * C6 + C5) * z + C4);
    let half = z * 0.5;
    let most = -(half - 1.0);
    let cosine = most + ((-(most - 1.0) - half) + (z * p - r * tail));

    // n modulo 4 stands in the last two bits of `turned`: odd ones swap, 2 and 3 negate the sine, 1 and 2 the cosine
    let last = angle.shift_bits::<63>();
    let negative = angle.shift_bits::<62>();
    let sign = L::splat(-0.0);
    let s = last.select_by_sign(cosine, sine).xor_bits(negative.and_bits(sign));
    let c = last.select_by_sign(sine, cosine).xor_bits(negative.xor_bits(last).and_bits(sign));
    (s, c)
}

/// The lanes whose bit in `fast` is not set, by the system's library; out of line, for it works on single numbers only.
#[cold]
#[inline(never)]
fn repair<L: Lane>(x: &L, fast: u8, sines: &mut L, cosines: &mut L) {
    for i in 0..L::WIDTH {
        if fast >> i & 1 == 0 {
            let far = x.lane(i);
            let (s, c) = if far.is_finite() { far.sin_cos() } else { (f64::NAN, f64::NAN) };
            sines.set_lane(i, s);
            cosines.set_lane(i, c);
        }
    }
}

/// Sines and cosines of many numbers, eight at a time; each as [`Lane::sin_cos`] of a single one has it, to the bit. All three are of one length, or the
/// shortest counts.
pub fn sin_cos_all(x: &[f64], sin: &mut [f64], cos: &mut [f64]) {
    dispatch(All { x, sin, cos });
}

struct All<'a> {
    x: &'a [f64],
    sin: &'a mut [f64],
    cos: &'a mut [f64],
}

impl Kernel for All<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let parts =
            self.x.chunks(L::WIDTH).zip(self.sin.chunks_mut(L::WIDTH)).zip(self.cos.chunks_mut(L::WIDTH));
        for ((x, sin), cos) in parts {
            let mut own = L::default();
            for (i, x) in x.iter().enumerate() {
                own.set_lane(i, *x);
            }
            let (s, c) = own.sin_cos();
            for (i, (sin, cos)) in sin.iter_mut().zip(cos).enumerate() {
                (*sin, *cos) = (s.lane(i), c.lane(i));
            }
        }
    }
}
