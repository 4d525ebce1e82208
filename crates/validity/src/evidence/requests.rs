//! Requests over a stretch of time, as the load generator counted them: how many succeeded and
//! failed, and how long they took.

use std::collections::BTreeMap;

use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{ErrorClass, ErrorCount, LoadInterval};

use crate::times::Times;

/// Counts and times of requests.
#[derive(Debug, Clone)]
pub(crate) struct RequestCounts {
    /// Requests that succeeded.
    pub(crate) successful: u64,
    /// Requests that failed, by class. Only numbers and sums of times are added up; messages, an
    /// example and single times are left as in the first slice.
    pub(crate) errors: BTreeMap<ErrorClass, ErrorCount>,
    /// Times from the real send to the end of the response, of successful requests.
    pub(crate) service_time: Times,
    /// Times from the intended send, of successful requests; `None` without intended sends.
    pub(crate) response_time: Option<Histogram>,
    /// How late the load generator sent each request; `None` without intended sends.
    pub(crate) send_lag: Option<Histogram>,
    /// Age, ns, and count of requests without a response.
    pub(crate) censored: BTreeMap<u64, u64>,
    /// Requests that should have been sent by the schedule; `None` without one.
    pub(crate) offered: Option<u64>,
}

impl RequestCounts {
    /// Returns the requests of a slice.
    pub(super) fn of(load: &LoadInterval) -> Self {
        Self {
            successful: load.requests,
            errors: load.errors.clone(),
            service_time: Times::of(&load.service_time),
            response_time: load.response_time.clone(),
            send_lag: load.send_lag.clone(),
            censored: load.censored.buckets().collect(),
            offered: load.offered,
        }
    }

    /// Adds the requests of another stretch of time.
    pub(super) fn add(&mut self, other: &Self) {
        let Self {
            successful,
            errors,
            service_time,
            response_time,
            send_lag,
            censored,
            offered,
        } = other;
        self.successful += successful;
        for (class, error) in errors {
            let sum = self.errors.entry(*class).or_default();
            sum.count += error.count;
            sum.time_ns_sum += error.time_ns_sum;
        }
        self.service_time.add(service_time);
        Histogram::merge_some(&mut self.response_time, response_time.as_ref());
        Histogram::merge_some(&mut self.send_lag, send_lag.as_ref());
        for (age_ns, count) in censored {
            *self.censored.entry(*age_ns).or_default() += count;
        }
        if let Some(offered) = offered {
            *self.offered.get_or_insert(0) += offered;
        }
    }

    /// Returns the number of requests that failed.
    pub(crate) fn failed(&self) -> u64 {
        self.errors.values().map(|error| error.count).sum()
    }

    /// Returns the number of requests that ended, successfully or not.
    pub(crate) fn ended(&self) -> u64 {
        self.successful + self.failed()
    }

    /// Returns the number of requests that failed in this way.
    pub(crate) fn count(&self, class: ErrorClass) -> u64 {
        self.errors.get(&class).map_or(0, |error| error.count)
    }
}
