//! Differences between two contenders by their stack samples: the types, without the computation.

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
    /// The function that grew most, including its callees; `None` if none grew significantly, and
    /// for contenders in different languages.
    pub grown: Option<SampledDifference>,
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
