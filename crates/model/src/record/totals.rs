//! Slices added up, and what is computed of the sums: rates, shares of failures, latencies and CPU
//! time per request. Live lines, `bakeoff load`, searches for a capacity and reports all take their
//! numbers from here, so that they cannot differ.

use std::collections::BTreeMap;
use std::iter::Sum;
use std::ops::AddAssign;

use bakeoff_base::number::as_f64;

use super::IntervalRecord;
use crate::load::histogram::Histogram;
use crate::load::{CpuTime, ErrorClass, LoadInterval};
use crate::measure::resource::ResourceSample;

/// Counts of slices added up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    /// Successful requests.
    pub requests: u64,
    /// Failed requests by class; classes without one are absent.
    pub errors: BTreeMap<ErrorClass, u64>,
    /// Lengths of the slices, ns.
    pub open_ns: u64,
    /// The load generator's own CPU time.
    pub generator_cpu: CpuTime,
}

impl Totals {
    /// Adds a slice.
    pub fn add(&mut self, slice: &LoadInterval) {
        self.requests += slice.requests;
        for (class, error) in &slice.errors {
            *self.errors.entry(*class).or_default() += error.count;
        }
        self.open_ns += slice.length_ns();
        self.generator_cpu += slice.generator_cpu;
    }

    /// Requests that failed.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Requests that came to an end, well or not.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.requests + self.failed()
    }

    /// Failed requests over all that ended, 0 to 1; `None` when none did.
    #[must_use]
    pub fn error_share(&self) -> Option<f64> {
        (self.ended() > 0).then(|| as_f64(self.failed()) / as_f64(self.ended()))
    }

    /// Lengths of the slices, seconds.
    #[must_use]
    pub fn open_s(&self) -> f64 {
        as_f64(self.open_ns) / 1e9
    }

    /// Successful requests per second; 0 without any time.
    #[must_use]
    pub fn requests_per_s(&self) -> f64 {
        match self.open_ns {
            0 => 0.0,
            _ => as_f64(self.requests) / self.open_s(),
        }
    }

    /// Cores' worth of CPU time that the load generator used; 0 without any time.
    #[must_use]
    pub fn generator_cores(&self) -> f64 {
        match self.open_ns {
            0 => 0.0,
            _ => as_f64(self.generator_cpu.total_ns()) / as_f64(self.open_ns),
        }
    }

    /// CPU time for each request that came to an end, us: what failed requests took is not charged
    /// to those that succeeded. `None` without any success.
    #[must_use]
    pub fn cpu_us_per_request(&self, cpu_ns: u64) -> Option<f64> {
        (self.requests > 0).then(|| as_f64(cpu_ns) / 1e3 / as_f64(self.ended()))
    }
}

impl<'a> FromIterator<&'a LoadInterval> for Totals {
    fn from_iter<I: IntoIterator<Item = &'a LoadInterval>>(slices: I) -> Self {
        let mut totals = Self::default();
        slices.into_iter().for_each(|slice| totals.add(slice));
        totals
    }
}

impl AddAssign<&Totals> for Totals {
    fn add_assign(&mut self, other: &Self) {
        self.requests += other.requests;
        for (class, count) in &other.errors {
            *self.errors.entry(*class).or_default() += count;
        }
        self.open_ns += other.open_ns;
        self.generator_cpu += other.generator_cpu;
    }
}

impl<'a> Sum<&'a Totals> for Totals {
    fn sum<I: Iterator<Item = &'a Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

/// Times of slices added up.
#[derive(Debug, Clone, Default)]
pub struct Times {
    /// Service times of the successful requests.
    pub service: Histogram,
    /// Response times of the successful requests; open load and scenarios only.
    pub response: Option<Histogram>,
    /// Times to the first byte of the body; `None` if every response came whole.
    pub first_byte: Option<Histogram>,
}

impl Times {
    /// The times of all slices, in little memory: see [`Histogram::sum`].
    #[must_use]
    pub fn of<'a>(slices: impl Iterator<Item = &'a LoadInterval> + Clone) -> Self {
        let service = slices.clone().map(|slice| &slice.service_time);
        let response = slices
            .clone()
            .filter_map(|slice| slice.response_time.as_ref());
        let in_parts = slices.clone().any(|slice| slice.first_byte.is_some());
        let first_byte = slices.map(LoadInterval::first_byte_times);
        Self {
            first_byte: in_parts.then(|| Histogram::sum(first_byte)).flatten(),
            service: Histogram::sum(service).unwrap_or_default(),
            response: Histogram::sum(response),
        }
    }

    /// Adds a slice.
    pub fn add(&mut self, slice: &LoadInterval) {
        if self.first_byte.is_some() || slice.first_byte.is_some() {
            let first_byte = self.first_byte.get_or_insert_with(|| self.service.clone());
            first_byte.merge(slice.first_byte_times());
        }
        self.service.merge(&slice.service_time);
        Histogram::merge_some(&mut self.response, slice.response_time.as_ref());
    }

    /// The times to state: response times if there are any, else service times.
    #[must_use]
    pub fn stated(&self) -> &Histogram {
        self.response.as_ref().unwrap_or(&self.service)
    }
}

impl LoadInterval {
    /// Requests that failed.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.errors.values().map(|error| error.count).sum()
    }

    /// Times from the real send to the first byte of the body.
    #[must_use]
    pub fn first_byte_times(&self) -> &Histogram {
        self.first_byte.as_ref().unwrap_or(&self.service_time)
    }

    /// The times to state: response times if there are any, else service times.
    #[must_use]
    pub fn stated_times(&self) -> &Histogram {
        self.response_time.as_ref().unwrap_or(&self.service_time)
    }

    /// Successful requests per second; 0 without any time.
    #[must_use]
    pub fn requests_per_s(&self) -> f64 {
        Totals::from_iter([self]).requests_per_s()
    }
}

impl IntervalRecord {
    /// CPU time of the contender for each request that ended, us; `None` if it was not read, or
    /// without any success.
    #[must_use]
    pub fn cpu_us_per_request(&self) -> Option<f64> {
        let mut cpu = Growth::default();
        cpu.add_contender(self, ResourceSample::cpu_ns);
        Totals::from_iter([&self.load]).cpu_us_per_request(cpu.value()?)
    }
}

/// How much a counter grew over the slices of a step, from the first to the last.
#[derive(Debug, Clone, Copy, Default)]
pub struct Growth {
    /// At the start of the first slice and at the end of the last one; outer `None` before the
    /// first.
    ends: Option<[Option<u64>; 2]>,
}

impl Growth {
    /// Adds a slice with the values of the counter `before` and `after` it, if they were read.
    pub fn add(&mut self, before: Option<u64>, after: Option<u64>) {
        self.ends = Some([self.ends.map_or(before, |[first, _]| first), after]);
    }

    /// Adds a slice by a counter of the contender.
    pub fn add_contender(
        &mut self,
        slice: &IntervalRecord,
        counter: impl Fn(&ResourceSample) -> Option<u64>,
    ) {
        let read = |sample: &Option<ResourceSample>| counter(sample.as_ref()?);
        let (before, after) = (read(&slice.contender_before), read(&slice.contender_after));
        self.add(before, after);
    }

    /// Growth of the counter; `None` if it was not read.
    #[must_use]
    pub fn value(&self) -> Option<u64> {
        let [before, after] = self.ends?;
        Some(after?.saturating_sub(before?))
    }
}

/// The geometric mean, which stands for the turns of a contender; `None` of nothing.
#[must_use]
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Vec<f64> = values.map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / as_f64(logs.len() as u64)).exp())
}
