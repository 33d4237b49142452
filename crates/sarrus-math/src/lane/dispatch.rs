//! Code for eight lanes, run with the best instructions that the machine has.

use super::{Baseline, Lane, Lanes};

/// Code over a lane scalar.
pub trait Kernel {
    /// Holds what it gives.
    type Output;
    /// Does it; `#[inline(always)]`, with all it calls.
    fn run<L: Lane>(self) -> Self::Output;
}

/// Instructions that eight lanes can be worked on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionSet {
    /// Holds what every machine of its kind has.
    Baseline,
    /// Four lanes to a vector.
    Avx2,
    /// Eight lanes to a vector.
    Avx512,
}

impl InstructionSet {
    /// Those of this machine, the best one last.
    pub fn available() -> impl Iterator<Item = InstructionSet> {
        use InstructionSet::{Avx2, Avx512, Baseline};
        [Baseline, Avx2, Avx512].into_iter().filter(|set| set.is_available())
    }

    /// Returns whether this machine has it.
    pub fn is_available(self) -> bool {
        match self {
            InstructionSet::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => super::instructions::avx2::Avx2::is_there(),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => super::instructions::avx512::Avx512::is_there(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }
}

/// Runs `kernel` in eight lanes with the best instructions that the machine has. The results do not depend on which.
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    dispatch_with(InstructionSet::Avx512, kernel)
}

/// Runs `kernel` in eight lanes with `most`, or where the machine lacks it with the best of the lesser ones.
pub fn dispatch_with<K: Kernel>(most: InstructionSet, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        use super::instructions::{avx2::Avx2, avx512::Avx512};
        // these types leave the crate here alone, behind the check whether the machine has what they stand for
        if most == InstructionSet::Avx512 && Avx512::is_there() {
            return run::<Lanes<Avx512>, K>(kernel);
        }
        if most != InstructionSet::Baseline && Avx2::is_there() {
            return run::<Lanes<Avx2>, K>(kernel);
        }
    }
    let _ = most;
    run::<Lanes<Baseline>, K>(kernel)
}

#[inline(always)]
fn run<L: Lane, K: Kernel>(kernel: K) -> K::Output {
    L::vectorize(
        #[inline(always)]
        || kernel.run::<L>(),
    )
}
