//! After the first step no integrator asks for memory.
#![allow(unsafe_code)] // a global allocator cannot be written without

#[allow(dead_code)] // shared with the other test
mod toy;

use sarrus_solve::integrators::KINDS;
use sarrus_solve::{MethodView, Ode, Options, StepControl};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use toy::{PLAIN, body, body_at, distance};

/// Counts what the current thread asks for.
struct Counting;

thread_local! {
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // the thread may be ending: then no one reads the count
    let _ = REQUESTS.try_with(|n| n.set(n.get() + 1));
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        unsafe { System.dealloc(p, layout) }
    }

    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn the_counter_counts() {
    let before = REQUESTS.get();
    drop(std::hint::black_box(vec![1.0; 10]));
    assert!(REQUESTS.get() > before);
}

#[test]
fn steps_and_dense_output_allocate_nothing_after_the_first() {
    for kind in KINDS.iter().filter(|k| k.view == MethodView::Ode) {
        let mut ode = body();
        let mut method = (kind.new)(&Options::new()).unwrap();
        let mut control = StepControl::new(1e-7, 1e-8, (!kind.adaptive).then_some(1e-3)).unwrap();
        control.t_end = 2.0;
        let mut s = body_at(0.0, &PLAIN);
        let mut between = s.clone();
        method.prepare(ode.structure());
        method.step(&mut ode, &mut s, &mut control).unwrap();

        let before = REQUESTS.get();
        for _ in 0..20 {
            let info = method.step(&mut ode, &mut s, &mut control).unwrap();
            for theta in [0.25, 0.75] {
                method.dense(&mut ode, &mut control, info.t + theta * info.h, &mut between).unwrap();
            }
            if s.t == control.t_end {
                break;
            }
        }
        assert_eq!(REQUESTS.get() - before, 0, "{}", kind.name);
        assert!(distance(&s, &body_at(s.t, &PLAIN)) < 0.1);
    }
}
