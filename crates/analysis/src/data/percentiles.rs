//! Percentiles of times in milliseconds.

use bakeoff_model::load::histogram::Histogram;

use super::number::milliseconds;

/// Times of one step in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latency {
    /// Mean, ms.
    pub mean_ms: f64,
    /// Median, ms.
    pub p50_ms: f64,
    /// 75th percentile, ms.
    pub p75_ms: f64,
    /// 90th percentile, ms.
    pub p90_ms: f64,
    /// 95th percentile, ms.
    pub p95_ms: f64,
    /// 99th percentile, ms.
    pub p99_ms: f64,
    /// 99.9th percentile, ms.
    pub p999_ms: f64,
    /// Longest, ms.
    pub max_ms: f64,
}

/// Merges histograms and reads the usual points; `None` if nothing was recorded.
pub fn latency<'a>(parts: impl Iterator<Item = &'a Histogram>) -> Option<Latency> {
    Latency::of(&Histogram::sum(parts)?)
}

impl Latency {
    pub(crate) fn of(times: &Histogram) -> Option<Self> {
        let at = |share: f64| Some(milliseconds(times.quantile_ns(share)?));
        Some(Self {
            mean_ms: times.mean_ns()? / 1e6,
            p50_ms: at(0.5)?,
            p75_ms: at(0.75)?,
            p90_ms: at(0.9)?,
            p95_ms: at(0.95)?,
            p99_ms: at(0.99)?,
            p999_ms: at(0.999)?,
            max_ms: milliseconds(times.max_ns()?),
        })
    }
}
