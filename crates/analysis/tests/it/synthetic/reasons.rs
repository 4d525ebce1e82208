//! Made-up results: reasons of CPU time.

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::measure::resource::{Network, ResourceSample, ThreadGroup};
use bakeoff_model::record::{Results, RunRecords};

use crate::synthetic::{contender, run};

/// Additional costs of each request of a made-up contender.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extra {
    pub(crate) collector_ns: u64,
    pub(crate) kernel_ns: u64,
    pub(crate) log_lines: u64,
    pub(crate) sent_bytes: u64,
    /// CPU that its own code takes in the first run alone.
    pub(crate) noise_ns: u64,
    /// CPU that the other contender's own code takes in its first run alone.
    pub(crate) noise_of_plain_ns: u64,
}

/// Five runs of two services that use as much CPU, the second one besides what is given.
pub(crate) fn results(extra: Extra) -> Results {
    let mut runs = Vec::new();
    let plain = Extra {
        noise_ns: extra.noise_of_plain_ns,
        ..Extra::default()
    };
    for repetition in 1..=5 {
        for (name, extra) in [("plain", plain), ("dear", extra)] {
            let one = contender(name, 5000.0, 100.0);
            let mut records = run("city-get", &one, repetition, runs.len());
            take(&mut records, extra);
            runs.push(records);
        }
    }
    Results {
        runs,
        ..Results::default()
    }
}

/// Adds to the counters of a run what its requests take besides. All have one log line.
pub(crate) fn take(records: &mut RunRecords, extra: Extra) {
    let mut requests = 0;
    let extra = Extra {
        noise_ns: extra.noise_ns * u64::from(records.begin.run.repetition == 1),
        ..extra
    };
    for slice in &mut records.intervals {
        count(slice.contender_before.as_mut().unwrap(), requests, extra);
        requests += slice.load.requests;
        count(slice.contender_after.as_mut().unwrap(), requests, extra);
    }
}

pub(crate) fn count(sample: &mut ResourceSample, requests: u64, extra: Extra) {
    let cpu = sample.cpu.as_mut().unwrap();
    let collector_ns = extra.collector_ns * requests;
    cpu.user_ns += collector_ns + extra.noise_ns * requests;
    cpu.system_ns += extra.kernel_ns * requests;
    let threads = [("GC Thread#", collector_ns), ("main", cpu.user_ns)];
    let threads = threads.map(|(name, cpu_ns)| (name.to_owned(), ThreadGroup { count: 1, cpu_ns }));
    sample.threads = threads.into_iter().collect();
    sample.log_lines = Some((1 + extra.log_lines) * requests);
    sample.network = Some(Network {
        received_bytes: 70 * requests,
        sent_bytes: (200 + extra.sent_bytes) * requests,
    });
}

pub(crate) fn analysed<T>(results: &Results, document: impl Fn(&Analysis<'_>) -> T) -> T {
    document(&Analysis::of(&AnalysisInput {
        results,
        title: "Synthetic",
        rounds: &[],
    }))
}

/// The sentence about the two, if any.
pub(crate) fn said(extra: Extra) -> Option<String> {
    analysed(&results(extra), |analysis| {
        analysis.loads[0].summary.tables[0].reasons[0].sentence()
    })
}
