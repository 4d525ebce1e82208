//! Figures of one recorded time slice, and their mean in a carousel.

use bakeoff_model::record::IntervalRecord;
use bakeoff_model::resource::ResourceSample;

use crate::number::{as_f64, seconds};

/// Requests per second of a slice.
pub(super) fn throughput(slice: &IntervalRecord) -> f64 {
    let load = &slice.load;
    as_f64(load.requests) / seconds(load.end_ns.saturating_sub(load.start_ns).max(1))
}

/// CPU for each request that came to an end in a slice, us; `None` where it was not read.
pub(super) fn cpu_us_per_request(slice: &IntervalRecord) -> Option<f64> {
    let cpu = |sample: &Option<ResourceSample>| Some(sample.as_ref()?.cpu?.total_ns());
    let spent = cpu(&slice.contender_after)?.saturating_sub(cpu(&slice.contender_before)?);
    let failed: u64 = slice.load.errors.values().map(|error| error.count).sum();
    let ended = slice.load.requests + failed;
    (ended > 0).then(|| as_f64(spent) / 1e3 / as_f64(ended))
}

/// The geometric mean; `None` of nothing.
pub(super) fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Vec<f64> = values.map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / as_f64(logs.len() as u64)).exp())
}
