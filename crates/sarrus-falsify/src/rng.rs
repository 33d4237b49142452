//! Pseudorandom numbers: SplitMix64 \[Steele2014\].

/// A generator whose sequence depends on its seed alone.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The generator of scene `index` of a campaign: independent of all other scenes.
    pub fn new(seed: u64, index: u64) -> Rng {
        let mut rng = Rng(seed);
        let first = rng.bits();
        Rng(first ^ index.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x2545_f491_4f6c_dd1d))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from `lo` to `hi`, rounded to three decimals so that model files stay readable.
    pub fn between(&mut self, lo: f64, hi: f64) -> f64 {
        ((lo + (hi - lo) * self.unit()) * 1000.0).round() / 1000.0
    }

    /// A number from `lo` to `hi` with a uniform logarithm, rounded to three digits.
    pub fn scaled(&mut self, lo: f64, hi: f64) -> f64 {
        let x = (lo.ln() + (hi / lo).ln() * self.unit()).exp();
        let unit = 10_f64.powf(x.log10().floor() - 2.0);
        let digits = (x / unit).round();
        // a quotient by a power of ten has the shortest decimals
        if unit < 1.0 { digits / (1.0 / unit).round() } else { digits * unit.round() }
    }

    /// A whole number below `n`, which must not be zero.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    /// A whole number from `lo` to `hi`, both included.
    pub fn count(&mut self, lo: usize, hi: usize) -> usize {
        lo + self.below(hi - lo + 1)
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One entry of a list that is not empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// A random order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }

    /// A vector with entries in [-size, size].
    pub fn vector(&mut self, size: f64) -> [f64; 3] {
        [0; 3].map(|_| self.between(-size, size))
    }

    /// A direction; half of them along a world axis.
    pub fn direction(&mut self) -> [f64; 3] {
        if self.chance(0.5) {
            let mut axis = [0.0; 3];
            axis[self.below(3)] = if self.chance(0.8) { 1.0 } else { -1.0 };
            return axis;
        }
        loop {
            let v = self.vector(1.0);
            if v.iter().map(|x| x * x).sum::<f64>() > 0.05 {
                return v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_depend_on_seed_and_index_alone() {
        let first = |seed, index| Rng::new(seed, index).bits();
        assert_eq!(first(1, 7), first(1, 7));
        let all: std::collections::HashSet<u64> =
            (0..30).flat_map(|s| (0..30).map(move |i| first(s, i))).collect();
        assert_eq!(all.len(), 900);
    }

    #[test]
    fn numbers_stay_in_their_range_and_fill_it() {
        let mut rng = Rng::new(3, 3);
        let all: Vec<f64> = (0..2000).map(|_| rng.between(-2.0, 5.0)).collect();
        assert!(all.iter().all(|x| (-2.0..=5.0).contains(x)));
        let mean = all.iter().sum::<f64>() / 2000.0;
        assert!((mean - 1.5).abs() < 0.2, "{mean}");
        let scaled: Vec<f64> = (0..2000).map(|_| rng.scaled(1e-3, 1e3)).collect();
        let below = scaled.iter().filter(|x| **x < 1.0).count();
        assert!((900..1100).contains(&below), "{below}");
    }
}
