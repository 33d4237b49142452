//! Factoring and solving ask for no memory, whatever the rank.
#![allow(unsafe_code)] // a global allocator cannot be written without

mod patterns;

use patterns::*;
use sarrus_solve::{ActiveRows, HUB_DEGREE, Kkt, RankDemand};
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

#[test]
fn factoring_and_solving_ask_for_no_memory() {
    // a wheel with a duplicated spoke, blocks with and without kernels of their own
    let mut rows: Vec<_> = (1..=20).map(|i| (2, vec![0, i])).collect();
    rows.push((2, vec![0, 20]));
    rows.push((7, vec![1, 2, 3, 4, 5, 6, 7, 8, 9]));
    let s = structure(&[3; 21], &rows);
    let mut eq = random_equations(&s, 3);
    let twice = s.entries[s.rows[19].entries.start].offset;
    let copy: Vec<f64> = eq.J[twice..][..12].to_vec();
    let to = s.entries[s.rows[20].entries.start].offset;
    eq.J[to..][..12].copy_from_slice(&copy);
    let share = eq.gamma[38..40].to_vec();
    eq.gamma[40..42].copy_from_slice(&share);

    let mut kkt = Kkt::new(&s, &eq, HUB_DEGREE).unwrap();
    let (mut x, mut mu) = (vec![0.0; s.nv], vec![0.0; s.nc]);
    // the second factorization takes its room when it is first wanted
    kkt.factor(&eq, ActiveRows::All, RankDemand::ResolveRank).unwrap();
    kkt.solve(&eq, &eq.f, &eq.gamma, &mut x, &mut mu).unwrap();
    kkt.least_norm(&eq, &mut mu).unwrap();
    let before = REQUESTS.get();
    for rows in [ActiveRows::All, ActiveRows::Holonomic, ActiveRows::All] {
        kkt.factor(&eq, rows, RankDemand::Any).unwrap();
        let report = kkt.solve(&eq, &eq.f, &eq.gamma, &mut x, &mut mu).unwrap();
        assert!(report.residual < 1e-10, "{report:?}");
        assert_eq!(kkt.dependent_rows().len(), 2);
        kkt.least_norm(&eq, &mut mu).unwrap();
        kkt.hold(&eq);
        kkt.factor(&eq, rows, RankDemand::Any).unwrap();
        eq.J[0] += 1e-3;
    }
    assert_eq!(REQUESTS.get() - before, 0);
}
