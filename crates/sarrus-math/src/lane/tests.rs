use super::sin_cos::LIMIT;
use super::{InstructionSet, Kernel, Lane, Mask, dispatch_with};
use proptest::prelude::*;

mod reference;

/// The same to the bit; which NaN it is, is free.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// As `operations` below, by the operators of the language.
fn expected(a: f64, b: f64, c: f64) -> Vec<f64> {
    let truth = |x: bool| x as u8 as f64;
    let mut r = vec![a + b, a - b, a * b, a / b, a + c, a - c, a * c, a / c, -a];
    r.extend([a.sqrt(), a.abs(), if a > b { a } else { b }, if a < b { a } else { b }]);
    r.extend([a < b, a <= b, a > b, a >= b, a == b, !(a < b), a < b && b < c, a < b || b < c].map(truth));
    r.extend([if a < b { a } else { b }, if a.is_sign_negative() { b } else { c }]);
    let bits = [a.to_bits() & b.to_bits(), a.to_bits() ^ b.to_bits(), a.to_bits() << 62, a.to_bits() << 1];
    r.extend(bits.map(f64::from_bits));
    r
}

/// Every operation of `Lane` on a and b, and on a and c, which is the same in all lanes.
#[inline(always)]
fn operations<L: Lane>(a: L, b: L, c: f64) -> Vec<L> {
    let all = L::splat(c);
    let truth = |m: L::Mask| L::select(m, L::splat(1.0), L::splat(0.0));
    let assigned = |f: fn(&mut L, L), g: fn(&mut L, f64)| {
        let (mut x, mut y) = (a, a);
        f(&mut x, b);
        g(&mut y, c);
        (x, y)
    };
    let mut r = vec![a + b, a - b, a * b, a / b, a + c, a - c, a * c, a / c, -a];
    r.extend([a.sqrt(), a.abs(), a.max(b), a.min(b)]);
    let less = a.lt(b);
    r.extend(
        [less, a.le(b), a.gt(b), a.ge(b), a.eq(b), !less, less & b.lt(all), less | b.lt(all)].map(truth),
    );
    r.extend([L::select(less, a, b), a.select_by_sign(b, all)]);
    r.extend([a.and_bits(b), a.xor_bits(b), a.shift_bits::<62>(), a.shift_bits::<1>()]);
    for (k, (x, y)) in [
        assigned(L::add_assign, |x, c| *x += c),
        assigned(L::sub_assign, |x, c| *x -= c),
        assigned(L::mul_assign, |x, c| *x *= c),
        assigned(L::div_assign, |x, c| *x /= c),
    ]
    .into_iter()
    .enumerate()
    {
        for i in 0..L::WIDTH {
            assert!(same(x.lane(i), r[k].lane(i)) && same(y.lane(i), r[k + 4].lane(i)), "assigning form {k}");
        }
    }
    r
}

/// Holds what `operations` gives, lane by lane.
struct Operations([f64; 8], [f64; 8], f64);

impl Kernel for Operations {
    type Output = Vec<Vec<f64>>;
    #[inline(always)]
    fn run<L: Lane>(self) -> Vec<Vec<f64>> {
        let r = operations(L::from_lanes(|i| self.0[i]), L::from_lanes(|i| self.1[i]), self.2);
        (0..L::WIDTH).map(|i| r.iter().map(|x| x.lane(i)).collect()).collect()
    }
}

/// Bits, any, all of a < b.
struct Less([f64; 8], [f64; 8]);

impl Kernel for Less {
    type Output = (u8, bool, bool);
    #[inline(always)]
    fn run<L: Lane>(self) -> Self::Output {
        let mask = L::from_lanes(|i| self.0[i]).lt(L::from_lanes(|i| self.1[i]));
        (mask.bits(), mask.any(), mask.all())
    }
}

/// Sines, then cosines, of eight numbers.
struct SinCos([f64; 8]);

impl Kernel for SinCos {
    type Output = [Vec<f64>; 2];
    #[inline(always)]
    fn run<L: Lane>(self) -> Self::Output {
        let (s, c) = L::from_lanes(|i| self.0[i]).sin_cos();
        [s, c].map(|x| (0..L::WIDTH).map(|i| x.lane(i)).collect())
    }
}

fn sin_cos(x: f64) -> (f64, f64) {
    Lane::sin_cos(x)
}

/// Numbers of all kinds: zeros, subnormals, infinities, NaN, any pattern of bits, and ordinary ones.
fn number() -> impl Strategy<Value = f64> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MIN_POSITIVE,
        5e-324,
        f64::MAX,
    ];
    prop_oneof![
        prop::sample::select(special.to_vec()),
        any::<u64>().prop_map(f64::from_bits),
        -10.0..10.0f64,
        (0..1u64 << 52).prop_map(f64::from_bits),
    ]
}

/// Angles of all sizes.
fn angle() -> impl Strategy<Value = f64> {
    prop_oneof![4 => -10.0..10.0f64, 4 => -LIMIT..LIMIT, 1 => number()]
}

proptest! {
    #[test]
    fn every_operation_equals_that_of_one_number_to_the_bit(
        a in prop::array::uniform8(number()), b in prop::array::uniform8(number()), c in number()
    ) {
        for i in 0..8 {
            let one = operations(a[i], b[i], c);
            for (k, (x, y)) in one.iter().zip(expected(a[i], b[i], c)).enumerate() {
                prop_assert!(same(*x, y), "one number, operation {k} of {} and {}: {x} and {y}", a[i], b[i]);
            }
        }
        for set in InstructionSet::available() {
            let lanes = dispatch_with(set, Operations(a, b, c));
            for i in 0..8 {
                for (k, (x, y)) in lanes[i].iter().zip(expected(a[i], b[i], c)).enumerate() {
                    prop_assert!(same(*x, y), "{set:?}, operation {k} of {} and {}: {x} and {y}", a[i], b[i]);
                }
            }
        }
    }

    #[test]
    fn masks_say_which_lanes(a in prop::array::uniform8(number()), b in prop::array::uniform8(number())) {
        let bits = (0..8).fold(0, |bits, i| bits | ((a[i] < b[i]) as u8) << i);
        for set in InstructionSet::available() {
            prop_assert_eq!(dispatch_with(set, Less(a, b)), (bits, bits != 0, bits == 0xff));
        }
    }

    #[test]
    fn sine_and_cosine_of_lanes_equal_those_of_one_number_to_the_bit(x in prop::array::uniform8(angle())) {
        for set in InstructionSet::available() {
            let [s, c] = dispatch_with(set, SinCos(x));
            for i in 0..8 {
                let one = sin_cos(x[i]);
                prop_assert!(same(s[i], one.0) && same(c[i], one.1), "{set:?} at {}", x[i]);
            }
        }
    }

    #[test]
    fn sine_is_odd_and_cosine_even_to_the_bit(x in angle()) {
        let ((s, c), (t, d)) = (sin_cos(x), sin_cos(-x));
        prop_assert!(same(s, -t) && same(c, d));
    }

    #[test]
    fn sine_and_cosine_are_within_an_ulp(x in -LIMIT..LIMIT, y in -10.0..10.0f64) {
        for x in [x, y, x * 1e-9] {
            let error = reference::ulps(x, sin_cos(x));
            prop_assert!(error < 0.9, "{error} ulp at {x:e}");
        }
    }
}

#[test]
fn masks_of_all_lanes_and_of_none_are_told_from_the_rest() {
    for set in InstructionSet::available() {
        assert_eq!(dispatch_with(set, Less([0.0; 8], [1.0; 8])), (0xff, true, true));
        assert_eq!(dispatch_with(set, Less([0.0; 8], [0.0; 8])), (0, false, false));
    }
}

#[test]
fn sine_and_cosine_are_within_an_ulp_next_to_every_multiple_of_a_quarter_turn() {
    // there one of the two is nearly zero, and the bits of π/2 run out first
    let mut worst = (0.0, 0.0);
    let mut n = 1.0;
    while n * std::f64::consts::FRAC_PI_2 < LIMIT {
        let x: f64 = n * std::f64::consts::FRAC_PI_2;
        for x in [x.next_down(), x, x.next_up()] {
            let error = reference::ulps(x, sin_cos(x));
            if error > worst.0 {
                worst = (error, x);
            }
        }
        n += 1.0;
    }
    assert!(worst.0 < 0.9, "{} ulp at {:e}", worst.0, worst.1);
}

#[test]
fn sine_and_cosine_have_the_values_of_long_arithmetic() {
    // rounded from 400 bits; the last three lie closest to multiples of π/2
    #[rustfmt::skip]
    let table = [
        (0.5, 0.479425538604203, 0.8775825618903728),
        (1.0, 0.8414709848078965, 0.5403023058681398),
        (2.0, 0.9092974268256817, -0.4161468365471424),
        (3.0, 0.1411200080598672, -0.9899924966004454),
        (-4.0, 0.7568024953079282, -0.6536436208636119),
        (22.0, -0.008851309290403876, -0.9999608263946371),
        (355.0, -3.014435335948845e-05, -0.999999999545659),
        (99999.5, 0.5104916150747798, -0.8598827309222711),
        (5e-05, 4.999999997916667e-05, 0.99999999875),
        (0.785, 0.706825181105366, 0.7073882691671998),
        (-1000.0, -0.8268795405320025, 0.5623790762907029),
        (45.553093477052, 1.0, -6.189806365883577e-19),
        (91.106186954104, -1.2379612731767154e-18, -1.0),
        (182.212373908208, 2.475922546353431e-18, 1.0),
    ];
    for (x, s, c) in table {
        let (a, b) = sin_cos(x);
        for (got, exact) in [(a, s), (b, c)] {
            let apart = (got.to_bits() as i64 - f64::to_bits(exact) as i64).abs();
            assert!(apart <= 1, "{got:e} for {exact:e} at {x:e}"); // within 1 ulp, next to one rounded
        }
    }
}

#[test]
fn large_angles_are_those_of_the_system_and_no_number_gives_none() {
    for x in [LIMIT.next_up(), -1e6, 1e22, f64::MAX] {
        assert_eq!(sin_cos(x), f64::sin_cos(x));
    }
    for x in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let (s, c) = sin_cos(x);
        assert!(s.is_nan() && c.is_nan());
    }
}

#[test]
fn the_sine_of_a_tiny_angle_is_the_angle() {
    for x in [0.0, -0.0, 5e-324, -f64::MIN_POSITIVE, 1e-9] {
        let (s, c) = sin_cos(x);
        assert!(same(s, x) && c == 1.0, "{s:e}, {c} at {x:e}");
    }
}

#[test]
fn many_sines_and_cosines_are_those_of_single_numbers_to_the_bit() {
    // lengths around a vector, and an angle that is not for the fast path
    for n in [0, 1, 7, 8, 9, 29] {
        let x: Vec<f64> = (0..n).map(|i| if i == 5 { 3e7 } else { 0.7 * i as f64 - 3.0 }).collect();
        let (mut sin, mut cos) = (vec![0.0; n], vec![0.0; n]);
        super::sin_cos_all(&x, &mut sin, &mut cos);
        for i in 0..n {
            let (s, c) = Lane::sin_cos(x[i]);
            assert_eq!((sin[i].to_bits(), cos[i].to_bits()), (s.to_bits(), c.to_bits()), "{}", x[i]);
        }
    }
}
