//! Sizes to try where rounding blows up, close to a singular position: longer and shorter than the first in turn. Shorter ones
//! alone would come ever closer to it and never pass.

/// Describes how much longer or shorter, each time.
const DODGE: f64 = 0.85;

/// The sizes tried so far.
#[derive(Default)]
pub(super) struct Dodge {
    pub tries: u32,
    first: f64,
    longer: i32,
    shorter: i32,
}

impl Dodge {
    /// The size after `h`, whose error `along` the constraints at order `k` allows it to be longer or not; not above `most`.
    pub fn size(&mut self, h: f64, along: f64, k: usize, most: f64) -> f64 {
        if self.tries == 0 {
            self.first = h;
        }
        self.tries += 1;
        let longer = self.first * DODGE.powi(-self.longer - 1);
        if self.longer <= self.shorter && longer <= most && along * (longer / h).powi(k as i32 + 1) <= 1.0 {
            self.longer += 1;
            longer
        } else {
            self.shorter += 1;
            self.first * DODGE.powi(self.shorter)
        }
    }
}
