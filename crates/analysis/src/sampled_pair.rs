//! In what two contenders differ by samples of their stacks: the types, without how they are found.

/// In what two contenders differ.
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
    /// The function that grew most with all that it calls; `None` where none grew significantly,
    /// and of contenders in different languages.
    pub grown: Option<SampledDifference>,
}

/// The CPU of two contenders for a request in one layer or function.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledDifference {
    /// The layer or function.
    pub name: String,
    /// CPU of the dearer contender, us.
    pub dearer_us: f64,
    /// CPU of the cheaper one, us.
    pub cheaper_us: f64,
    /// Half of the 95 % interval of the difference, us: by the numbers of samples, and by how much
    /// CPU per request varied over the measured processes; in sets, their ratio.
    pub half_us: f64,
}

impl SampledDifference {
    /// The dearer minus the cheaper one, us.
    pub fn difference_us(&self) -> f64 {
        self.dearer_us - self.cheaper_us
    }
}
