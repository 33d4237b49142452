//! To check a sample allocates nothing after the first ones.

mod common;

use common::{diagnostics, request, scene, shipped};
use sarrus::analysis::{SampleDiagnostics, Watch, simulate};
use sarrus::solve::State;
use sarrus::system::Mechanism;
use sarrus_view::SampleMeter;
use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; the counter is a plain thread-local cell without destructor.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are passed on
        unsafe { Heap.alloc(layout) }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on
        unsafe { Heap.dealloc(p, layout) }
    }

    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are passed on
        unsafe { Heap.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Looks twice at every sample, and counts what the second look allocates.
struct Twice {
    diagnostics: SampleMeter,
    allocated: u64,
    touched: usize,
}

impl Watch for Twice {
    fn sample(&mut self, mechanism: &mut Mechanism, s: &State, seen: &SampleDiagnostics) {
        self.diagnostics.sample(mechanism, s, seen);
        let before = ALLOCATIONS.get();
        self.diagnostics.sample(mechanism, s, seen);
        self.allocated += ALLOCATIONS.get() - before;
        self.touched += self.diagnostics.points.len();
    }
}

#[test]
fn a_look_at_a_sample_allocates_nothing() {
    // redundant rows, contacts with friction, a load, rows and contacts
    for (name, t_end) in
        [("four_bar_spatial", 0.05), ("pile", 0.06), ("four_bar", 0.05), ("chain_on_floor", 0.1)]
    {
        let (model, system) = shipped(name);
        for columns in ["*", "energy.*"] {
            let mut request = request(t_end, t_end / 20.0);
            request.overrides.columns = Some(vec![columns.into()]);
            let (scene, _) = scene(&model, &system, &request);
            let mut twice = Twice { diagnostics: diagnostics(&system, &scene), allocated: 0, touched: 0 };
            simulate(&model, &system, &request, &mut twice).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(twice.allocated, 0, "{name} {columns}");
            assert!(twice.touched > 0 || system.contacts.is_empty(), "{name}");
        }
    }
}
