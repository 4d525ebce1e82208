//! Requests that cost their contender next to no CPU time: other processes serve.

use bakeoff_base::number::as_f64;
use bakeoff_model::validity::Finding;

use crate::evidence::Evidence;
use crate::measures::Measure;

/// Successful requests below which too little CPU time means nothing.
const CPU_REQUESTS_MIN: u64 = 100;
/// The longest tick by which kernels count the CPU time of single processes, ns.
const TICK_NS: u64 = 10_000_000;

/// Measures the CPU time for each successful request. Readings come a little early or late, so a
/// few requests show nothing; without a group, whose throttling is read, the kernel counts ticks.
pub(crate) fn cpu_missing(evidence: &Evidence) -> Measure {
    let cpu_ns = evidence.contender.cpu.known()?.used_ns;
    let requests = evidence.requests.successful;
    let is_exact = evidence.contender.throttling.known().is_some();
    let not_counted_ns = if is_exact { 0 } else { TICK_NS };
    let each_us = as_f64(cpu_ns + not_counted_ns) / as_f64(requests) / 1000.0;
    let finding = Finding::CpuMissing { cpu_ns, requests };
    (requests >= CPU_REQUESTS_MIN).then_some((each_us, finding))
}
