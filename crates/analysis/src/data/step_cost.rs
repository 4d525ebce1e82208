//! CPU time, memory and time for a request that a contender used in a step.

use bakeoff_model::measure::resource::{Memory, ResourceSample};
use bakeoff_model::record::IntervalRecord;
use bakeoff_model::record::totals::{self, Growth};

use super::benchmark::StepData;
use super::number::{as_f64, seconds};

impl StepData<'_> {
    /// Returns the CPU time of the contender while it was loaded, ns.
    pub(super) fn cpu_ns(&self) -> Option<u64> {
        let own_us = |slice: &IntervalRecord| -> u64 {
            slice.load.turns.iter().map(|turn| turn.own_cpu_us).sum()
        };
        match self.slices.iter().map(|slice| own_us(slice)).sum::<u64>() {
            0 => self.grew(ResourceSample::cpu_ns),
            own_us => Some(own_us * 1000),
        }
    }

    /// Returns the CPU time of the contender, s.
    pub fn cpu_s(&self) -> Option<f64> {
        self.cpu_ns().map(seconds)
    }

    /// Returns the CPU for each request that ended, microseconds; in a set the geometric mean over
    /// its slices. `None` without any success.
    pub fn cpu_us_per_request(&self) -> Option<f64> {
        let scale = self.scale.cpu?;
        if self.kept.is_empty() {
            let cpu_ns = self.cpu_ns()?;
            return Some(self.totals.cpu_us_per_request(cpu_ns)? * scale);
        }
        let kept = self.kept.iter();
        let each: Option<Vec<f64>> = kept.map(|turn| turn.cpu_us).collect();
        Some(totals::geometric_mean(each?.into_iter())? * scale)
    }

    /// Returns the kernel's part of the CPU per request, microseconds. Counters also cover the
    /// turns of others, in which a contender idles, so they only determine the share.
    pub fn kernel_us_per_request(&self) -> Option<f64> {
        let kernel_ns = self.grew(|sample| Some(sample.cpu?.system_ns))?;
        let all_ns = self.grew(ResourceSample::cpu_ns).filter(|all| *all > 0)?;
        Some(self.cpu_us_per_request()? * as_f64(kernel_ns) / as_f64(all_ns))
    }

    /// Returns how long the contender was throttled, s.
    pub fn throttled_s(&self) -> Option<f64> {
        let throttled_ns = |sample: &ResourceSample| Some(sample.throttling?.throttled_ns);
        self.grew(throttled_ns).map(seconds)
    }

    /// Returns the memory of the contender at the end of the step.
    pub fn memory(&self) -> Option<Memory> {
        self.slices
            .iter()
            .rev()
            .find_map(|slice| slice.contender_after.as_ref()?.memory)
    }

    /// Returns the contender's mean time for a request, ms. In turns it is the geometric mean over
    /// those that count, without the load generator's turnaround; `None` there with several
    /// connections, because some idle at the end of a turn.
    pub fn service_ms(&self) -> Option<f64> {
        if !self.is_in_turns() {
            return Some(self.service?.mean_ms);
        }
        let mut each_us = Vec::new();
        for slice in self.slices.iter().filter(|_| self.connections == 1) {
            let turns = || slice.load.turns.iter();
            let ended: u64 = turns().map(|turn| turn.requests + turn.failed).sum();
            let turnaround_us = as_f64(slice.load.turnaround_ns?) / 1e3 / as_f64(ended.max(1));
            let counts = |block| self.kept.iter().any(|turn| turn.block == block);
            let counting = turns().filter(|turn| turn.requests > 0 && counts(turn.block));
            each_us.extend(counting.map(|turn| {
                as_f64(turn.length_us) / as_f64(turn.requests + turn.failed) - turnaround_us
            }));
        }
        Some(totals::geometric_mean(each_us.into_iter())? / 1e3 / self.scale.rate)
    }

    /// Returns the number of cores that the contender used.
    pub fn contender_cores(&self) -> Option<f64> {
        self.cores(self.cpu_ns()?)
    }

    /// Returns the number of cores that the backend used.
    pub fn backend_cores(&self) -> Option<f64> {
        let cpu_ns = |sample: &Option<ResourceSample>| sample.as_ref()?.cpu_ns();
        let mut growth = Growth::default();
        for slice in &self.slices {
            let (before, after) = (&slice.backend_before, &slice.backend_after);
            growth.add(cpu_ns(before), cpu_ns(after));
        }
        self.cores(growth.value()?)
    }

    /// Returns a CPU time as a number of cores over the step.
    fn cores(&self, cpu_ns: u64) -> Option<f64> {
        let open_s = self.totals.open_s();
        (open_s > 0.0).then(|| seconds(cpu_ns) / open_s)
    }
}
