//! Factors that make numbers of different groups of a set comparable; 1 where a set is one.

/// The factors of numbers of a step: 1 where all contenders were alive concurrently.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Requests per second.
    pub rate: f64,
    /// CPU per request; `None` where that of the common contender is not known.
    pub cpu: Option<f64>,
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
pub struct CpuScales {
    /// Over the measured steps.
    pub measured: Option<f64>,
    /// Over the whole life.
    pub whole: Option<f64>,
}

impl Default for CpuScales {
    fn default() -> Self {
        Self {
            measured: Some(1.0),
            whole: Some(1.0),
        }
    }
}
