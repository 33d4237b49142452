//! Steps of `rk4` with projection by tables over numbers that count: each operation on them is a call, for a profiler to see where from.
//!
//!     cargo run --release -p sarrus --example operations -- MODEL STEP STEPS [NAME=VALUE ...]
//!
//! MODEL is a name of the zoo, NAME=VALUE sets a parameter. Prints bodies, rows and operations per step. `bench/phases.py` takes this for the
//! floating-point operations of each phase: products, sums, quotients and roots as the code has them, also those that the compiler finds to be needless; comparisons and signs are none.

use sarrus::math::lane::Lane;
use sarrus::prelude::*;
use sarrus::solve::tables::tables;
use std::cell::Cell;
use std::error::Error;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};
use std::sync::Arc;

thread_local! {
    static OPERATIONS: Cell<u64> = const { Cell::new(0) };
}

/// One operation. Never inlined: its calls are what is counted.
#[inline(never)]
fn operation() {
    OPERATIONS.set(OPERATIONS.get() + 1);
}

/// A number whose operations are counted.
#[derive(Debug, Clone, Copy, Default)]
struct Counted(f64);

macro_rules! operator {
    ($operator:ident $method:ident $assigning:ident $assign:ident) => {
        impl $operator for Counted {
            type Output = Self;
            #[inline(always)]
            fn $method(self, b: Self) -> Self {
                operation();
                Counted(self.0.$method(b.0))
            }
        }
        impl $operator<f64> for Counted {
            type Output = Self;
            #[inline(always)]
            fn $method(self, b: f64) -> Self {
                operation();
                Counted(self.0.$method(b))
            }
        }
        impl $assigning for Counted {
            #[inline(always)]
            fn $assign(&mut self, b: Self) {
                *self = self.$method(b);
            }
        }
        impl $assigning<f64> for Counted {
            #[inline(always)]
            fn $assign(&mut self, b: f64) {
                *self = self.$method(b);
            }
        }
    };
}

operator!(Add add AddAssign add_assign);
operator!(Sub sub SubAssign sub_assign);
operator!(Mul mul MulAssign mul_assign);
operator!(Div div DivAssign div_assign);

impl Neg for Counted {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Counted(-self.0)
    }
}

impl Lane for Counted {
    const WIDTH: usize = 1;
    type Mask = bool;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Counted(x)
    }
    #[inline(always)]
    fn lane(self, _: usize) -> f64 {
        self.0
    }
    #[inline(always)]
    fn set_lane(&mut self, _: usize, x: f64) {
        self.0 = x;
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        operation();
        Counted(self.0.sqrt())
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Counted(self.0.abs())
    }
    #[inline(always)]
    fn max(self, b: Self) -> Self {
        Counted(Lane::max(self.0, b.0))
    }
    #[inline(always)]
    fn min(self, b: Self) -> Self {
        Counted(Lane::min(self.0, b.0))
    }
    #[inline(always)]
    fn lt(self, b: Self) -> bool {
        self.0 < b.0
    }
    #[inline(always)]
    fn le(self, b: Self) -> bool {
        self.0 <= b.0
    }
    #[inline(always)]
    fn eq(self, b: Self) -> bool {
        self.0 == b.0
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn select_by_sign(self, yes: Self, no: Self) -> Self {
        if self.0.is_sign_negative() { yes } else { no }
    }
    #[inline(always)]
    fn and_bits(self, b: Self) -> Self {
        Counted(self.0.and_bits(b.0))
    }
    #[inline(always)]
    fn xor_bits(self, b: Self) -> Self {
        Counted(self.0.xor_bits(b.0))
    }
    #[inline(always)]
    fn shift_bits<const N: u32>(self) -> Self {
        Counted(self.0.shift_bits::<N>())
    }
    #[inline(always)]
    fn vectorize<R>(f: impl FnOnce() -> R) -> R {
        f()
    }
}

/// base + h k into `out`.
fn combination(out: &mut [Counted], base: &[Counted], h: f64, k: &[Counted]) {
    for ((out, base), k) in out.iter_mut().zip(base).zip(k) {
        *out = *base + *k * h;
    }
}

/// base + h/6 (k₁ + 2 k₂ + 2 k₃ + k₄) into base.
fn combination_of_all(base: &mut [Counted], h: f64, k: [&[Counted]; 4]) {
    for (i, base) in base.iter_mut().enumerate() {
        let middle = k[1][i] + k[2][i];
        *base += (k[0][i] + middle * 2.0 + k[3][i]) * (h / 6.0);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [name, step, steps, rest @ ..] = &given[..] else {
        return Err("give a model, a step and how many".into());
    };
    let (h, steps): (f64, u32) = (step.parse()?, steps.parse()?);
    let set = rest.iter().filter_map(|s| s.split_once('=')).map(|(a, b)| (a.into(), b.into())).collect();
    let text = sarrus_zoo::model(name).ok_or("no such model")?;
    let model =
        load_str(name, text, &LoadOptions { set, ..LoadOptions::default() }).map_err(|e| e.render())?;
    let system = Arc::new(compile(&model).map_err(|_| "it does not compile")?);
    let start = sarrus::analysis::assemble(&model, &system, Default::default())?.state;
    let records = system.describe().ok_or("it has no tables")?;
    let mut tables = tables::<Counted>(&[&records]).ok_or("it has no tables")?;

    let counted = |x: &[f64]| x.iter().map(|x| Counted(*x)).collect::<Vec<_>>();
    let (mut q, mut v) = (counted(&start.q), counted(&start.v));
    let (mut stage_q, mut stage_v) = (q.clone(), v.clone());
    let mut slopes = [(); 4].map(|()| (q.clone(), v.clone()));
    // a force that tables do not know is another's to count
    let outside = counted(&vec![0.0; v.len()]);
    let f = records.loads.is_none().then_some(&*outside);
    let mut corrections = 0;
    OPERATIONS.set(0);
    for n in 0..steps {
        let t = start.t + f64::from(n) * h;
        for (i, c) in [0.0, 0.5, 0.5, 1.0].into_iter().enumerate() {
            if i == 0 {
                stage_q.copy_from_slice(&q);
                stage_v.copy_from_slice(&v);
            } else {
                combination(&mut stage_q, &q, c * h, &slopes[i - 1].0);
                combination(&mut stage_v, &v, c * h, &slopes[i - 1].1);
            }
            let (dq, dv) = &mut slopes[i];
            tables.accelerate(t + c * h, &stage_q, &stage_v, f, dv);
            tables.qdot(&stage_q, &stage_v, dq);
        }
        combination_of_all(&mut q, h, slopes.each_ref().map(|k| &*k.0));
        combination_of_all(&mut v, h, slopes.each_ref().map(|k| &*k.1));
        tables.normalize(&mut q);
        corrections += tables.project(&mut q, &mut v).1;
    }
    let each = |n: u64| n as f64 / f64::from(steps);
    println!("{} bodies, {} rows, {} steps", records.bodies.len(), records.rows(), steps);
    println!(
        "{} operations and {} corrections of positions a step",
        each(OPERATIONS.get()),
        each(corrections.into())
    );
    Ok(())
}
