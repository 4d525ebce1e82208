//! Differences between two contenders by their stack samples: the types, without the computation.

/// The most sets of samples that a session takes to find out which changes cost CPU. It looks after
/// each, so each change is tested as often.
pub const SAMPLED_SETS_MAX: usize = 3;

/// The differences between two contenders.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledPair {
    /// The contender that uses more CPU for a request.
    pub dearer: String,
    /// The other one.
    pub cheaper: String,
    /// Layers that differ significantly, the largest difference first.
    pub layers: Vec<SampledDifference>,
    /// Functions that differ significantly, the largest difference first; `None` for contenders in
    /// different languages, which have none in common.
    pub functions: Option<Vec<SampledDifference>>,
    /// The changes between the sources of the two, by the CPU of their functions with all that
    /// these call; `None` if sources were not compared.
    pub changes: Option<SampledChanges>,
    /// The function that grew most, including its callees; `None` if none grew significantly, and
    /// for contenders in different languages.
    pub grown: Option<SampledDifference>,
}

/// The CPU per request in the functions that changed between the sources of two contenders.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledChanges {
    /// Changes of which there are enough samples to compare them.
    pub compared: usize,
    /// Changes with too few samples: they take next to no CPU, or their functions were not seen.
    pub unseen: usize,
    /// Changes that differ significantly, the largest difference first: that one is false by chance
    /// is at most 5 % likely, over all that were compared (Holm) and all sets (Bonferroni).
    pub significant: Vec<SampledDifference>,
}

/// The CPU per request of two contenders in one layer or function.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledDifference {
    /// The layer or function.
    pub name: String,
    /// CPU of the more expensive contender, us.
    pub dearer_us: f64,
    /// CPU of the cheaper one, us.
    pub cheaper_us: f64,
    /// Half of the 95 % interval of the difference, us: due to the numbers of samples, and to the
    /// variation of CPU per request over the measured processes; in sets, of their ratio.
    pub half_us: f64,
}

impl SampledDifference {
    /// Returns the more expensive minus the cheaper one, us.
    pub fn difference_us(&self) -> f64 {
        self.dearer_us - self.cheaper_us
    }
}
