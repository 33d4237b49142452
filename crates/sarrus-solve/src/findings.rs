//! Describes what a method found out about a model while it ran, for the report.

/// Holds what a formulation, a stabilization or an integrator found on the way.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MethodStatistics {
    /// Its rank decisions, where it takes any.
    pub rank: Option<RankFound>,
    /// Its choices of independent coordinates, where it makes any.
    pub partition: Option<PartitionFound>,
    /// Iterations beyond the first, summed over the run.
    pub iterations: u64,
    /// Describes how near its steps came to the stability limit, where a method watches that.
    pub stability: Option<StabilityFound>,
}

impl MethodStatistics {
    /// Takes in what was found on a further segment of the same run.
    pub fn add(&mut self, segment: MethodStatistics) {
        if let Some(found) = segment.rank {
            RankFound::note(&mut self.rank, found.least, found.tolerance, found.margin);
            RankFound::note(&mut self.rank, found.most, found.tolerance, found.margin);
        }
        if let Some(mut found) = segment.partition {
            if let Some(before) = &self.partition {
                found.choices += before.choices;
                found.condition = found.condition.max(before.condition);
            }
            self.partition = Some(found);
        }
        self.iterations += segment.iterations;
    }
}

/// Rank decisions along a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankFound {
    /// Least rank.
    pub least: usize,
    /// Largest rank.
    pub most: usize,
    /// Relative size up to which a singular value or pivot counts as zero.
    pub tolerance: f64,
    /// The factor by which the tolerance could have been different without a different decision, at its least.
    pub margin: f64,
}

impl RankFound {
    /// Takes a further decision into account.
    pub fn note(found: &mut Option<RankFound>, rank: usize, tolerance: f64, margin: f64) {
        let all = found.get_or_insert(RankFound { least: rank, most: rank, tolerance, margin });
        all.least = all.least.min(rank);
        all.most = all.most.max(rank);
        if margin < all.margin {
            (all.margin, all.tolerance) = (margin, tolerance);
        }
    }
}

/// Choices of independent coordinates along a run.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionFound {
    /// Indices in v of the independent coordinates now.
    pub independent: Vec<usize>,
    /// Number of times that they were chosen; 1 where the first choice held.
    pub choices: u32,
    /// Worst condition of the dependent part of J that was worked with: ‖J‖ ‖J_u⁺‖, estimated.
    pub condition: f64,
}

/// The stability limit ω h ≤ 2 of central differences along a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StabilityFound {
    /// The highest frequency found at the start or seen on the way \[rad/s\].
    pub omega: f64,
    /// ω h / 2 at its largest: 1 at the limit.
    pub ratio: f64,
    /// ε of the multipliers, relative to the diagonal of J M⁻¹Jᵀ, where the module has one.
    pub epsilon: Option<f64>,
}
