//! Strips of bodies and parts, and which need which: a solution goes over large models once, each strip through all its loops while it is in the cache.

use super::pattern::EliminationPattern;

/// Bodies or parts of a strip; a thread takes that many at a time.
pub const BLOCK_BODIES: usize = 512;

/// A list of numbers for each strip.
#[derive(Debug, Clone, Default)]
struct Lists {
    items: Vec<u32>,
    ends: Vec<u32>,
}

impl Lists {
    fn new(lists: Vec<Vec<usize>>) -> Lists {
        let mut out = Lists::default();
        for mut list in lists {
            list.sort_unstable();
            list.dedup();
            out.items.extend(list.into_iter().map(|i| i as u32));
            out.ends.push(out.items.len() as u32);
        }
        out
    }

    #[inline(always)]
    fn of(&self, block: usize) -> &[u32] {
        let begin = if block == 0 { 0 } else { self.ends[block - 1] as usize };
        &self.items[begin..self.ends[block] as usize]
    }
}

/// Identifies which strips need which.
#[derive(Debug, Clone, Default)]
pub struct CacheBlocks {
    needs: Lists,
    bodies: Lists,
    complete: Lists,
}

impl CacheBlocks {
    /// The strips of `pattern`; `bodies` are those of each part, zero for the ground.
    pub fn new(pattern: &EliminationPattern, bodies: &[[u32; 2]]) -> CacheBlocks {
        let n = bodies.len().div_ceil(BLOCK_BODIES);
        let [mut needs, mut moving, mut complete] = [0; 3].map(|_| vec![Vec::new(); n]);
        let mut coupled = 0;
        for (k, &end) in pattern.ends.iter().enumerate() {
            let own = k / BLOCK_BODIES;
            needs[own].push(own);
            let last = if end == 0 { 0 } else { pattern.coupling_ends[end as usize - 1] };
            let couplings = &pattern.couplings[coupled as usize..last as usize];
            needs[own].extend(couplings.iter().map(|c| c.later.part() / BLOCK_BODIES));
            coupled = last;
            moving[own]
                .extend(bodies[k].iter().filter(|&&b| b > 0).map(|&b| (b as usize - 1) / BLOCK_BODIES));
        }
        // bodies without parts go with the last
        let count = pattern.body_ends.len() - 1;
        for block in 0..count.div_ceil(BLOCK_BODIES) {
            let (first, last) = (block * BLOCK_BODIES, ((block + 1) * BLOCK_BODIES).min(count));
            let sides =
                &pattern.at_bodies[pattern.body_ends[first] as usize..pattern.body_ends[last] as usize];
            let earliest = sides.iter().map(|s| s.part() / BLOCK_BODIES).min().unwrap_or(n - 1);
            complete[earliest].push(block);
            if sides.is_empty() {
                moving[n - 1].push(block);
            }
        }
        CacheBlocks { needs: Lists::new(needs), bodies: Lists::new(moving), complete: Lists::new(complete) }
    }

    /// Returns how many there are of parts.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.needs.ends.len()
    }

    /// Strips of parts whose J the columns of `strip` need, itself among them.
    #[inline(always)]
    pub fn needs(&self, block: usize) -> &[u32] {
        self.needs.of(block)
    }

    /// Strips of bodies that the parts of `strip` are on.
    #[inline(always)]
    pub fn bodies(&self, block: usize) -> &[u32] {
        self.bodies.of(block)
    }

    /// Strips of bodies that have no parts in earlier strips than `strip`, but in this.
    #[inline(always)]
    pub fn complete(&self, block: usize) -> &[u32] {
        self.complete.of(block)
    }
}
