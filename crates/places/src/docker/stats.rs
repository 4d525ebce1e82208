//! Metrics of a container from the engine's own API: for engines on other hosts, whose groups
//! cannot be read from here. An engine publishes them once a second, so a reading may take that
//! long. Threads, context switches, pressure and the JVM remain unknown.

use std::collections::HashMap;

use bakeoff_model::load::CpuTime;
use bakeoff_model::measure::resource::{Memory, Network, ResourceSample, Throttling};
use bollard::models::{
    ContainerCpuStats, ContainerMemoryStats, ContainerNetworkStats, ContainerStatsResponse,
};
use bollard::query_parameters::StatsOptions;
use futures_util::StreamExt as _;

use crate::docker::engine::Engine;
use crate::ready::monotonic_ns;

/// Reads the metrics now; those that the engine does not report are absent.
pub(super) async fn sample(engine: &Engine, id: &str) -> ResourceSample {
    // One shot: otherwise the engine waits a second for a second reading to compute percentages.
    let options = StatsOptions {
        stream: false,
        one_shot: true,
    };
    let mut reading = std::pin::pin!(engine.docker.stats(id, Some(options)));
    let answer = match reading.next().await {
        Some(Ok(answer)) => answer,
        _ => ContainerStatsResponse::default(),
    };
    ResourceSample {
        at_ns: monotonic_ns(),
        ..figures(&answer)
    }
}

fn figures(answer: &ContainerStatsResponse) -> ResourceSample {
    ResourceSample {
        cpu: answer.cpu_stats.as_ref().and_then(cpu),
        throttling: answer.cpu_stats.as_ref().and_then(throttling),
        memory: answer.memory_stats.as_ref().and_then(memory),
        network: answer.networks.as_ref().map(network),
        ..ResourceSample::default()
    }
}

/// The total is exact, its split an estimate: the parts are scaled to the total.
fn cpu(stats: &ContainerCpuStats) -> Option<CpuTime> {
    let usage = stats.cpu_usage.as_ref()?;
    let total = usage.total_usage?;
    let user = usage.usage_in_usermode.unwrap_or(0);
    let system = usage.usage_in_kernelmode.unwrap_or(0);
    let parts = u128::from(user) + u128::from(system);
    let user_ns = (u128::from(total) * u128::from(user))
        .checked_div(parts)
        .and_then(|user| u64::try_from(user).ok())
        .unwrap_or(total);
    Some(CpuTime {
        user_ns,
        system_ns: total - user_ns,
    })
}

fn throttling(stats: &ContainerCpuStats) -> Option<Throttling> {
    let data = stats.throttling_data.as_ref()?;
    Some(Throttling {
        periods: data.periods?,
        throttled_periods: data.throttled_periods?,
        throttled_ns: data.throttled_time?,
    })
}

/// Names of the parts differ between the versions of cgroups.
fn memory(stats: &ContainerMemoryStats) -> Option<Memory> {
    let now_bytes = stats.usage?;
    let part = |names: [&str; 2]| {
        let parts = stats.stats.as_ref()?;
        names.iter().find_map(|name| parts.get(*name)).copied()
    };
    Some(Memory {
        now_bytes,
        peak_bytes: stats.max_usage.unwrap_or(0).max(now_bytes),
        anon_bytes: part(["total_rss", "anon"]),
        file_bytes: part(["total_cache", "file"]),
        socket_bytes: part(["sock", "sock"]),
        kernel_bytes: part(["kernel", "kernel"]),
        ..Memory::default()
    })
}

fn network(stats: &HashMap<String, ContainerNetworkStats>) -> Network {
    let sum =
        |part: fn(&ContainerNetworkStats) -> Option<u64>| stats.values().filter_map(part).sum();
    Network {
        received_bytes: sum(|stats| stats.rx_bytes),
        sent_bytes: sum(|stats| stats.tx_bytes),
    }
}

#[cfg(test)]
mod tests {
    use bollard::models::ContainerStatsResponse;

    use super::figures;

    #[test]
    fn answers_of_both_versions_are_read() {
        let answer = r#"{
            "cpu_stats": {
                "cpu_usage": {
                    "total_usage": 1000, "usage_in_usermode": 300, "usage_in_kernelmode": 100
                },
                "throttling_data": {"periods": 5, "throttled_periods": 2, "throttled_time": 70}
            },
            "memory_stats": {
                "usage": 50, "max_usage": 80, "stats": {"total_rss": 30, "total_cache": 9}
            },
            "networks": {
                "eth0": {"rx_bytes": 1, "tx_bytes": 2}, "eth1": {"rx_bytes": 10, "tx_bytes": 20}
            }
        }"#;
        let first: ContainerStatsResponse = serde_json::from_str(answer).unwrap();
        let sample = figures(&first);
        let cpu = sample.cpu.unwrap();
        assert_eq!((cpu.user_ns, cpu.system_ns), (750, 250));
        assert_eq!(sample.throttling.unwrap().throttled_ns, 70);
        let memory = sample.memory.unwrap();
        assert_eq!((memory.peak_bytes, memory.anon_bytes), (80, Some(30)));
        assert_eq!(sample.network.unwrap().sent_bytes, 22);
        let answer = r#"{"memory_stats": {"usage": 50, "stats": {"anon": 30, "file": 9}}}"#;
        let second: ContainerStatsResponse = serde_json::from_str(answer).unwrap();
        let sample = figures(&second);
        let memory = sample.memory.unwrap();
        assert_eq!((memory.peak_bytes, memory.file_bytes), (50, Some(9)));
        assert_eq!((sample.cpu, sample.network), (None, None));
    }
}
