//! What makes numbers of different groups of a set comparable: factors, 1 where a set is one.

/// The factors of numbers of a step: 1 where all contenders were alive concurrently.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    /// Requests per second.
    pub(crate) rate: f64,
    /// CPU per request; `None` where that of the common contender is not known.
    pub(crate) cpu: Option<f64>,
}

impl Default for Scale {
    fn default() -> Self {
        Self {
            rate: 1.0,
            cpu: Some(1.0),
        }
    }
}

/// The same for CPU per request over several steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CpuScales {
    /// Over the measured steps.
    pub(crate) measured: Option<f64>,
    /// Over the whole life.
    pub(crate) whole: Option<f64>,
}

impl Default for CpuScales {
    fn default() -> Self {
        Self {
            measured: Some(1.0),
            whole: Some(1.0),
        }
    }
}
