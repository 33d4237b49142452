//! Formulations ask for memory at their first call only.
#![allow(unsafe_code)] // a global allocator cannot be written without

mod patterns;

use patterns::*;
use sarrus_solve::{Accel, HUB_DEGREE, Kkt, Options, formulations};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts what the current thread asks for.
struct Counting;

thread_local! {
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // the thread may be ending: then no one reads the count
        let _ = REQUESTS.try_with(|n| n.set(n.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = REQUESTS.try_with(|n| n.set(n.get() + 1));
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Chains short and long enough for either way of the library, the last joint twice where dependent rows will do.
#[test]
fn a_call_asks_for_no_memory_once_there_was_one() {
    for n in [8, 80] {
        for kind in formulations::KINDS {
            let mut rows: Vec<_> = (0..n - 1).map(|i| (2, vec![i, i + 1])).collect();
            if !kind.needs.full_rank {
                rows.push((2, vec![n - 2, n - 1]));
            }
            let s = structure(&vec![3; n], &rows);
            let mut eq = random_equations(&s, 5);
            if !kind.needs.full_rank {
                let copy = eq.J[(n - 2) * 12..][..12].to_vec();
                eq.J[(n - 1) * 12..][..12].copy_from_slice(&copy);
                let gamma = eq.gamma[(n - 2) * 2..][..2].to_vec();
                eq.gamma[(n - 1) * 2..][..2].copy_from_slice(&gamma);
            }
            eq.phi.fill(0.0);
            let mut formulation = (kind.new)(&Options::new()).unwrap();
            let mut kkt = Kkt::new(&s, &eq, HUB_DEGREE).unwrap();
            let mut out = Accel::zeros(&s);
            formulation.accelerations(&s, &eq, &mut kkt, &mut out).unwrap();
            let before = REQUESTS.get();
            for _ in 0..3 {
                formulation.accelerations(&s, &eq, &mut kkt, &mut out).unwrap();
            }
            assert_eq!(REQUESTS.get() - before, 0, "{} on {n} bodies", kind.name);
        }
    }
}
