//! The nearest name, for "did you mean …?".
//!
//! Distance: insertions, deletions, replacements and swaps of neighbours (optimal string alignment),
//! capital letters counted as a third of a change each.

/// The candidate nearest to `word`, where one is near: at most one change in three letters.
pub fn suggest<I, S>(word: &str, candidates: I) -> Option<String>
where
    I: IntoIterator<Item = S>,
    S: AsRef<str>,
{
    let word: Vec<char> = word.chars().take(64).collect();
    let limit = (word.len().max(2) + 1) / 3 * 3;
    let mut best: Option<(usize, String)> = None;
    let mut rows = DistanceRows::default();
    for candidate in candidates {
        let candidate = candidate.as_ref();
        // a candidate this much longer is too far away whatever it says
        if candidate.len() > 4 * (word.len() + 2) {
            continue;
        }
        let bound = best.as_ref().map_or(limit, |(d, _)| d.saturating_sub(1));
        let distance = rows.distance(&word, candidate);
        if distance > 0 && distance <= bound {
            best = Some((distance, candidate.to_owned()));
        }
    }
    best.map(|(_, name)| name)
}

/// The hint ``did you mean `…`?``, where a candidate is near.
pub fn did_you_mean<I, S>(word: &str, candidates: I) -> Option<String>
where
    I: IntoIterator<Item = S>,
    S: AsRef<str>,
{
    suggest(word, candidates).map(|name| format!("did you mean `{name}`?"))
}

/// Three rows of the distance table, kept between candidates.
#[derive(Default)]
struct DistanceRows {
    other: Vec<char>,
    before: Vec<usize>,
    last: Vec<usize>,
    row: Vec<usize>,
}

impl DistanceRows {
    /// Distance in thirds of a change.
    fn distance(&mut self, word: &[char], candidate: &str) -> usize {
        self.other.clear();
        self.other.extend(candidate.chars());
        let other = &self.other;
        let width = other.len() + 1;
        self.before.clear();
        self.before.resize(width, 0);
        self.last.clear();
        self.last.extend((0..width).map(|j| 3 * j));
        self.row.clear();
        self.row.resize(width, 0);

        for i in 1..=word.len() {
            self.row[0] = 3 * i;
            for j in 1..width {
                let (a, b) = (word[i - 1], other[j - 1]);
                let replace = if a == b {
                    0
                } else if a.eq_ignore_ascii_case(&b) {
                    1
                } else {
                    3
                };
                let mut d = (self.last[j - 1] + replace).min(self.last[j] + 3).min(self.row[j - 1] + 3);
                if i > 1 && j > 1 && a == other[j - 2] && word[i - 2] == b {
                    d = d.min(self.before[j - 2] + 3);
                }
                self.row[j] = d;
            }
            std::mem::swap(&mut self.before, &mut self.last);
            std::mem::swap(&mut self.last, &mut self.row);
        }
        self.last[width - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_its_neighbour() {
        assert_eq!(suggest("copler", ["crank", "coupler", "rocker"]), Some("coupler".into()));
        assert_eq!(suggest("lenght", ["width", "length"]), Some("length".into()));
        assert_eq!(suggest("Crank", ["crank", "clank"]), Some("crank".into()));
        assert_eq!(suggest("mas", ["mass", "max"]), Some("mass".into()));
    }

    #[test]
    fn a_distant_name_is_not_suggested() {
        assert_eq!(suggest("spring", ["body", "joint"]), None);
        assert_eq!(suggest("a", ["b"]).as_deref(), Some("b"));
        assert_eq!(suggest("a", ["bc"]), None);
        assert_eq!(suggest("a", Vec::<String>::new()), None);
        assert_eq!(suggest("same", ["same"]), None);
    }
}
