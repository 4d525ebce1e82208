//! Factors that make numbers of different groups of a set comparable; 1 if a set has one group.

/// The factors for the numbers of a step: 1 if all contenders were alive concurrently.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Factor for requests per second.
    pub rate: f64,
    /// Factor for CPU per request; `None` if the common contender's CPU is not known.
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

/// The factors for CPU per request over several steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuScales {
    /// Factor over the measured steps.
    pub measured: Option<f64>,
    /// Factor over the whole life.
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
