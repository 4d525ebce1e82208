//! Whether the number of an interval is fair, and the evidence if it is not (C13). Pure.
//!
//! The order matters: what is broken comes before what was too slow, and the loader is suspected
//! before the backend, because a starved loader also makes the backend look idle.

use std::collections::BTreeSet;

use bakeoff_model::load::{ErrorClass, LoadInterval};
use bakeoff_model::record::{Cores, Validity};
use bakeoff_model::resource::ResourceSample;
use bakeoff_runtime::host::HostTime;

use super::closed_loop::{ClosedLoop, is_churning};

/// A part that uses this share of what it may use has no headroom left.
const FULL: f64 = 0.9;
/// Stolen time above this share of the host spoils a number.
const STEAL_MAX: f64 = 0.05;
/// Connections that may be missing for a moment: services close idle ones as they like.
const MISSING_MAX: f64 = 0.05;
/// Work of others above this share of the host spoils a number.
const FOREIGN_MAX: f64 = 0.1;

/// The slice and everything around it that bears on its fairness.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// What the load generator counted.
    pub load: &'a LoadInterval,
    /// The contender before and after.
    pub contender: Option<(&'a ResourceSample, &'a ResourceSample)>,
    /// The backend before and after.
    pub backend: Option<(&'a ResourceSample, &'a ResourceSample)>,
    /// Which cores each part may use.
    pub cores: &'a Cores,
    /// Cores of the host.
    pub host_cores: usize,
    /// What the host's cores did in the slice.
    pub host: Option<HostTime>,
}

/// The verdict on one interval.
pub fn judge(evidence: &Evidence<'_>) -> Validity {
    broken(evidence)
        .or_else(|| generator(evidence))
        .or_else(|| backend(evidence))
        .or_else(|| host(evidence))
        .unwrap_or(Validity::Fair)
}

fn broken(evidence: &Evidence<'_>) -> Option<Validity> {
    let load = evidence.load;
    let connections = load.connections;
    let count = |class: ErrorClass| load.errors.get(&class).map_or(0, |error| error.count);
    let invalid = |evidence: String| Some(Validity::Invalid { evidence });
    let missing = connections.asked.saturating_sub(connections.established);
    if f64::from(missing) > MISSING_MAX * f64::from(connections.asked)
        && !is_churning(connections, load.requests)
    {
        return invalid(format!(
            "{} of {} connections were really open",
            connections.established, connections.asked
        ));
    }
    let wrong = count(ErrorClass::WrongBody) + count(ErrorClass::UnexpectedStatus);
    if wrong > 0 {
        return invalid(format!("{wrong} wrong answers under load"));
    }
    if count(ErrorClass::Local) > 0 {
        return invalid("the loader ran out of file descriptors, ports or memory".to_owned());
    }
    if load.requests == 0 {
        return invalid("no request succeeded".to_owned());
    }
    closed_loop(load)?.idle().and_then(invalid)
}

/// The slice as a closed loop; failures break it.
fn closed_loop(load: &LoadInterval) -> Option<ClosedLoop<'_>> {
    let turnaround_ns = load.turnaround_ns.filter(|_| load.errors.is_empty())?;
    Some(ClosedLoop {
        connections: load.connections,
        requests: load.requests,
        wall_ns: wall_ns(load),
        service_time: &load.service_time,
        turnaround_ns,
    })
}

fn generator(evidence: &Evidence<'_>) -> Option<Validity> {
    let load = evidence.load;
    let threads = as_f64(load.loader_threads as u64);
    let busy = as_f64(load.loader_cpu.total_ns()) / wall_ns(load) / threads.max(1.0);
    let full = (busy > FULL)
        .then(|| format!("the loader used {:.0} % of its threads' time", busy * 100.0));
    full.or_else(|| closed_loop(load)?.held_up())
        .map(|evidence| Validity::GeneratorBound { evidence })
}

fn backend(evidence: &Evidence<'_>) -> Option<Validity> {
    let used = cpu_cores(evidence.backend, evidence.load)?;
    let allowed = match evidence.cores.backend.len() {
        0 => evidence.host_cores,
        cores => cores,
    };
    let busy = used / as_f64(allowed as u64);
    (busy > FULL).then(|| Validity::BackendBound {
        evidence: format!("the backend used {used:.2} of its {allowed} cores"),
    })
}

/// Cores that several parts share must have headroom, and the hypervisor must leave us alone.
fn host(evidence: &Evidence<'_>) -> Option<Validity> {
    let wall = wall_ns(evidence.load);
    let bound = |evidence: String| Some(Validity::HostBound { evidence });
    let all_cores = as_f64(evidence.host_cores as u64);
    if let Some(host) = evidence.host {
        let share = as_f64(host.stolen_ns) / wall / all_cores;
        if share > STEAL_MAX {
            return bound(format!(
                "{:.0} % of the host's time was stolen",
                share * 100.0
            ));
        }
        let ours = evidence.load.loader_cpu.total_ns() + host.own_ns;
        let ours = as_f64(ours) / wall
            + cpu_cores(evidence.contender, evidence.load)?
            + cpu_cores(evidence.backend, evidence.load).unwrap_or(0.0);
        let foreign = as_f64(host.busy_ns) / wall - ours;
        if foreign > FOREIGN_MAX * all_cores {
            return bound(format!(
                "something else used {foreign:.2} cores of the host"
            ));
        }
    }
    let loader = as_f64(evidence.load.loader_cpu.total_ns()) / wall;
    let backend = cpu_cores(evidence.backend, evidence.load).unwrap_or(0.0);
    let cores = evidence.cores;
    if cores.contender.is_empty() {
        let contender = cpu_cores(evidence.contender, evidence.load)?;
        let (used, all) = (
            loader + backend + contender,
            as_f64(evidence.host_cores as u64),
        );
        return (used > FULL * all).then(|| Validity::HostBound {
            evidence: format!("contender, loader and backend used {used:.2} of {all} cores"),
        });
    }
    let shared: BTreeSet<_> = cores.loader.iter().chain(&cores.backend).collect();
    let used = loader + backend;
    if used > FULL * as_f64(shared.len() as u64) && !cores.backend.is_empty() {
        return bound(format!(
            "loader and backend used {used:.2} of their {} cores",
            shared.len()
        ));
    }
    None
}

/// Cores' worth of CPU that a part used between two readings.
fn cpu_cores(
    samples: Option<(&ResourceSample, &ResourceSample)>,
    load: &LoadInterval,
) -> Option<f64> {
    let (before, after) = samples?;
    let used = after.cpu?.total_ns().saturating_sub(before.cpu?.total_ns());
    let wall = after.at_ns.saturating_sub(before.at_ns);
    let wall = if wall == 0 {
        wall_ns(load)
    } else {
        as_f64(wall)
    };
    Some(as_f64(used) / wall)
}

fn wall_ns(load: &LoadInterval) -> f64 {
    as_f64(load.end_ns.saturating_sub(load.start_ns).max(1))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts and times of a slice stay below 2^53"
)]
fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bakeoff_model::histogram::Histogram;
    use bakeoff_model::load::{Connections, CpuTime, ErrorClass, ErrorCount, LoadInterval};
    use bakeoff_model::record::Cores;
    use bakeoff_model::resource::ResourceSample;
    use bakeoff_runtime::host::HostTime;

    use super::{Evidence, judge};

    const SECOND: u64 = 1_000_000_000;

    /// A second in which 8 connections had 8000 answers of 1 ms, and 0.1 s of CPU for the loader.
    fn good() -> LoadInterval {
        let mut service_time = Histogram::new();
        for _ in 0..8000 {
            service_time.record(1_000_000);
        }
        LoadInterval {
            step: 0,
            slice: 0,
            start_ns: 0,
            end_ns: SECOND,
            requests: 8000,
            errors: BTreeMap::new(),
            service_time,
            response_time: None,
            send_lag: None,
            offered: None,
            censored: Histogram::new(),
            connections: Connections {
                asked: 8,
                established: 8,
                in_flight_max: None,
                reconnects: 0,
            },
            sent_bytes: 0,
            received_bytes: 0,
            turnaround_ns: Some(0),
            loader_cpu: CpuTime {
                user_ns: SECOND / 10,
                system_ns: 0,
            },
            loader_threads: 1,
            by_request: Vec::new(),
            users: None,
            requests_per_connection: None,
        }
    }

    fn used(share: f64) -> (ResourceSample, ResourceSample) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a test"
        )]
        let cpu = CpuTime {
            user_ns: (share * 1e9) as u64,
            system_ns: 0,
        };
        let before = ResourceSample {
            cpu: Some(CpuTime::default()),
            ..ResourceSample::default()
        };
        let after = ResourceSample {
            at_ns: SECOND,
            cpu: Some(cpu),
            ..ResourceSample::default()
        };
        (before, after)
    }

    fn check(load: &LoadInterval, backend: f64, cores: &Cores, stolen_ns: u64, expect: &str) {
        check_host(
            load,
            backend,
            cores,
            HostTime {
                stolen_ns,
                ..HostTime::default()
            },
            expect,
        );
    }

    fn check_host(load: &LoadInterval, backend: f64, cores: &Cores, host: HostTime, expect: &str) {
        let (contender, backend) = (used(0.9), used(backend));
        let validity = judge(&Evidence {
            load,
            contender: Some((&contender.0, &contender.1)),
            backend: Some((&backend.0, &backend.1)),
            cores,
            host_cores: 2,
            host: Some(host),
        });
        assert_eq!(validity.name(), expect, "{validity:?}");
    }

    #[test]
    fn parts_without_headroom_are_named() {
        let apart = Cores {
            contender: vec![0],
            loader: vec![1],
            backend: vec![1],
        };
        let shared = Cores::default();
        check(&good(), 0.2, &apart, 0, "fair");
        check(&good(), 0.95, &apart, 0, "backend-bound");
        check(&good(), 0.85, &apart, 0, "host-bound");
        check(&good(), 0.2, &apart, SECOND / 5, "host-bound");
        check(&good(), 0.2, &shared, 0, "fair");
        check(&good(), 0.85, &shared, 0, "host-bound");
        let others = |cores: u64| HostTime {
            busy_ns: SECOND * cores / 10,
            ..HostTime::default()
        };
        check_host(&good(), 0.2, &apart, others(13), "fair");
        check_host(&good(), 0.2, &apart, others(15), "host-bound");
        let with_own = HostTime {
            own_ns: SECOND / 5,
            ..others(15)
        };
        check_host(&good(), 0.2, &apart, with_own, "fair");
        let mut busy = good();
        busy.loader_cpu.user_ns = SECOND * 95 / 100;
        check(&busy, 0.0, &apart, 0, "generator-bound");
    }

    #[test]
    fn broken_loads_are_invalid() {
        let breaks: [fn(&mut LoadInterval); 4] = [
            |load| load.connections.established = 7,
            |load| {
                let count = ErrorCount {
                    count: 1,
                    ..ErrorCount::default()
                };
                load.errors.insert(ErrorClass::WrongBody, count);
            },
            |load| load.requests = 0,
            |load| load.requests = 4000,
        ];
        for break_it in breaks {
            let mut load = good();
            break_it(&mut load);
            check(&load, 0.2, &Cores::default(), 0, "invalid");
        }
    }

    #[test]
    fn all_that_can_be_in_flight_and_all_of_a_cycle_counts() {
        let mut pipelined = good();
        pipelined.connections.in_flight_max = Some(16);
        check(&pipelined, 0.2, &Cores::default(), 0, "invalid");
        pipelined.connections.established = 2;
        pipelined.connections.asked = 2;
        pipelined.connections.in_flight_max = Some(8);
        check(&pipelined, 0.2, &Cores::default(), 0, "fair");
        let mut slow = good();
        slow.requests = 4000;
        slow.turnaround_ns = Some(4000 * 1_000_000);
        check(&slow, 0.2, &Cores::default(), 0, "generator-bound");
        slow.requests = 6400;
        slow.turnaround_ns = Some(6400 * 250_000);
        check(&slow, 0.2, &Cores::default(), 0, "fair");
    }

    #[test]
    fn a_service_that_closes_each_connection_is_measured_all_the_same() {
        let mut load = good();
        load.connections.established = 5;
        load.connections.reconnects = load.requests;
        check(&load, 0.2, &Cores::default(), 0, "fair");
    }
}
