//! Response times of contenders that take turns: from the open load after the turns, at one rate
//! for all. The times in the turns themselves are those of bursts, and not in any document.

use bakeoff_model::validity::Validity;

use super::benchmark::{RunData, StepData};
use super::metric::{self, Metric, Percentile};
use super::number::count;
use super::validity;

/// The response times of a contender in open load.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenTimes {
    /// 50th percentile of each set, ms; `None` if the load is invalid or cannot be judged, and with
    /// too few requests in every set.
    pub p50: Option<Metric>,
    /// 99th percentile of each set, ms; `None` in the same cases.
    pub p99: Option<Metric>,
    /// The worst verdict on the load of all sets.
    pub validity: Validity,
    /// Requests per second, mean over sets.
    pub rate_per_s: f64,
}

impl OpenTimes {
    /// Returns the response times of completed runs; `None` if none of them has open load.
    pub(crate) fn of(runs: &[&RunData<'_>]) -> Option<Self> {
        let steps: Vec<&StepData<'_>> = runs.iter().filter_map(|run| run.open.as_ref()).collect();
        let rates: Option<Vec<f64>> = steps.iter().map(|step| step.open_rate_per_s).collect();
        let rates = rates.filter(|rates| !rates.is_empty())?;
        Some(Self {
            p50: metric::in_open_load(runs, Percentile::P50),
            p99: metric::in_open_load(runs, Percentile::P99),
            validity: validity::worst(steps.iter().map(|step| &step.validity)),
            rate_per_s: rates.iter().sum::<f64>() / count(rates.len()),
        })
    }

    /// Returns a percentile of each set.
    pub(crate) fn percentile(&self, wanted: Percentile) -> Option<&Metric> {
        match wanted {
            Percentile::P50 => self.p50.as_ref(),
            Percentile::P99 => self.p99.as_ref(),
        }
    }
}
