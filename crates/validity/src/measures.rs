//! The measure of each rule: a value to compare with its limits, and the finding with its numbers.
//! `None` if there is nothing to judge, or if it cannot be judged.

use std::collections::BTreeSet;

use bakeoff_model::load::{ErrorClass, MinMax};
use bakeoff_model::measure::resource::{TcpCounters, Throttling};
use bakeoff_model::record::Others;
use bakeoff_model::record::nodes::Nodes;
use bakeoff_model::suite::warmth::Warmth;
use bakeoff_model::validity::Finding;
use bakeoff_stats::rise;

use crate::concurrency::concurrency;
use crate::evidence::Evidence;
use crate::reading::Reading;
use crate::rising::surely_rose;
use crate::taken::{self, contender_cores, cores_busy, parts_beside};
use crate::times::Wait;
use crate::used::Used;
use bakeoff_base::number::as_f64;

/// Mean responses per connection below which a connection without any means nothing.
const RESPONSES_MIN: f64 = 2.0;
/// Responses on the fastest connection below which differences between connections mean nothing.
const UNEQUAL_RESPONSES_MIN: u64 = 50;
/// Requests in flight for each core of the contender from which on it should be busy.
const IN_FLIGHT_PER_CORE: f64 = 16.0;
/// Maximum number of lost load generators that a finding names; of a thousand a whole node may be
/// gone.
const LOST_NAMED_MAX: usize = 8;
/// Period of the kernel's cgroup quota, ns.
const PERIOD_NS: f64 = 1e8;

/// A value to compare with the limits of a rule, and the finding.
pub(crate) type Measure = Option<(f64, Finding)>;

pub(crate) fn no_success(evidence: &Evidence) -> Measure {
    let requests = &evidence.requests;
    let failed = requests.failed();
    Some((as_f64(requests.successful), Finding::NoSuccess { failed }))
}

pub(crate) fn errors(evidence: &Evidence) -> Measure {
    let requests = &evidence.requests;
    let (failed, ended) = (requests.failed(), requests.ended());
    let classes = requests.errors.iter();
    let finding = Finding::Errors {
        failed,
        ended,
        classes: classes
            .map(|(class, error)| (*class, error.count))
            .collect(),
    };
    Some((as_f64(failed) / as_f64(ended.max(1)), finding))
}

pub(crate) fn wrong_bodies(evidence: &Evidence) -> Measure {
    let count = evidence.requests.count(ErrorClass::WrongBody);
    Some((as_f64(count), Finding::WrongBodies { count }))
}

/// Measures requests to the backend, only if its counts were read before the first request and
/// after the last, so only for steps: readings between slices come a little late, and miss requests
/// that are in the next slice.
pub(crate) fn backend_requests(evidence: &Evidence) -> Measure {
    let each_min = evidence.setting.work.backend_requests_min?;
    let counted = evidence.backend.requests.known()?;
    let stretch = evidence.stretch;
    let around = counted.from_ns <= stretch.from_ns && counted.to_ns >= stretch.to_ns;
    // One backend serves all contenders that take turns: its requests cannot be assigned to one of
    // them.
    let others = evidence.turns.others.map_or(0, |others| others.requests);
    let (found, requests) = (counted.count, evidence.requests.successful + others);
    let finding = Finding::BackendRequests {
        found,
        requests,
        each_min,
    };
    let due = each_min * as_f64(requests);
    (around && requests > 0).then(|| (as_f64(found) / due, finding))
}

pub(crate) fn generator_errors(evidence: &Evidence) -> Measure {
    let count = evidence.requests.count(ErrorClass::Local);
    Some((as_f64(count), Finding::GeneratorErrors { count }))
}

pub(crate) fn generator_lost(evidence: &Evidence) -> Measure {
    let asked_ns = f64::from(evidence.connections.asked) * as_f64(evidence.stretch.wall_ns);
    let generator = &evidence.generator;
    let share = generator.lost_ns / asked_ns.max(1.0);
    let named = generator.lost.iter().take(LOST_NAMED_MAX);
    let finding = Finding::GeneratorLost {
        share,
        count: generator.lost.len() as u64,
        generators: named.map(|(name, why)| format!("{name}: {why}")).collect(),
    };
    Some((share, finding))
}

/// Measures missing connections. If connections start and end by design, the number open at a time
/// means nothing.
pub(crate) fn connections_missing(evidence: &Evidence) -> Measure {
    let connections = &evidence.connections;
    (evidence.setting.keep_alive && !connections.on_arrival).then_some(())?;
    let connecting_ns = match connections.connecting_ns {
        Reading::Known(connecting_ns) => as_f64(connecting_ns),
        Reading::NotApplicable => 0.0,
        _ => return None,
    };
    let asked = f64::from(connections.asked);
    let open = (connections.open_ns + connecting_ns) / as_f64(evidence.stretch.wall_ns.max(1));
    let finding = Finding::ConnectionsMissing {
        open,
        asked: connections.asked,
    };
    Some(((asked - open) / asked.max(1.0), finding))
}

pub(crate) fn connections_starved(evidence: &Evidence) -> Measure {
    let connections = &evidence.connections;
    let MinMax { min, max } = connections.per_connection?;
    let mean = as_f64(evidence.requests.successful) / f64::from(connections.asked.max(1));
    (mean >= RESPONSES_MIN).then(|| (as_f64(min), Finding::ConnectionsStarved { min, max }))
}

pub(crate) fn connections_unequal(evidence: &Evidence) -> Measure {
    let MinMax { min, max } = evidence.connections.per_connection?;
    let ratio = as_f64(max) / as_f64(min.max(1));
    (max >= UNEQUAL_RESPONSES_MIN).then_some((ratio, Finding::ConnectionsUnequal { min, max }))
}

pub(crate) fn concurrency_missing(evidence: &Evidence) -> Measure {
    let concurrency = concurrency(evidence)?;
    let (asked, found) = (
        concurrency.asked,
        concurrency.effective + concurrency.turnaround?,
    );
    let finding = Finding::ConcurrencyMissing { found, asked };
    Some((found / asked.max(1.0), finding))
}

pub(crate) fn concurrency_low(evidence: &Evidence) -> Measure {
    let concurrency = concurrency(evidence)?;
    let (asked, effective) = (concurrency.asked, concurrency.effective);
    let finding = Finding::ConcurrencyLow { effective, asked };
    Some((effective / asked.max(1.0), finding))
}

/// Measures missed requests. Requests in flight at the end do not count as missed, up to the number
/// that follows from the mean response time at the offered rate.
pub(crate) fn rate_missed(evidence: &Evidence) -> Measure {
    let requests = &evidence.requests;
    let offered = requests.offered.filter(|offered| *offered > 0)?;
    let ended = requests.ended() - requests.count(ErrorClass::Dropped);
    let response = requests.response_time.as_ref();
    let response_ns = response.and_then(|times| times.mean_ns()).unwrap_or(0.0);
    let wall_ns = as_f64(evidence.stretch.wall_ns.max(1));
    let in_flight = as_f64(offered) * (response_ns / wall_ns).min(1.0);
    let finding = Finding::RateMissed { ended, offered };
    Some(((as_f64(ended) + in_flight) / as_f64(offered), finding))
}

pub(crate) fn send_lag(evidence: &Evidence) -> Measure {
    let requests = &evidence.requests;
    requests.offered?;
    let lag_p99_ns = requests.send_lag.as_ref()?.quantile_ns(0.99)?;
    let response_p99_ns = requests.response_time.as_ref()?.quantile_ns(0.99)?;
    let finding = Finding::SendLag {
        lag_p99_ns,
        response_p99_ns,
    };
    Some((as_f64(lag_p99_ns) / as_f64(response_p99_ns.max(1)), finding))
}

pub(crate) fn generator_full(evidence: &Evidence) -> Measure {
    let busy = evidence.generator.cpu.share();
    Some((busy, Finding::GeneratorFull { busy }))
}

/// Measures the load generator's share of a cycle. Not for a contender that is CPU-bound: nothing
/// else limits it then, however much of a cycle passes in the load generator while other requests
/// wait for the contender.
pub(crate) fn generator_share(evidence: &Evidence) -> Measure {
    let turns = evidence.turns.used;
    if turns.is_some_and(|turns| turns.is_cpu_bound()) {
        return None;
    }
    let concurrency = concurrency(evidence)?;
    let turnaround = concurrency.turnaround?;
    let cycle = concurrency.effective + turnaround;
    let share = (cycle > 0.0).then(|| turnaround / cycle)?;
    Some((share, Finding::GeneratorShare { share }))
}

pub(crate) fn backend_full(evidence: &Evidence) -> Measure {
    let used = evidence.backend.cpu.known()?.share();
    let setting = &evidence.setting;
    let elsewhere = setting.nodes.as_ref().and_then(|nodes| {
        let node = nodes.backend.as_deref()?;
        Some(nodes.cores_of(node))
    });
    let allowed = match (setting.cores.backend.len(), elsewhere) {
        (0, None) => setting.host_cores,
        (0, Some(cores)) | (cores, _) => cores,
    };
    let allowed = as_f64(allowed as u64);
    Some((used / allowed, Finding::BackendFull { used, allowed }))
}

/// Measures the cores that the load generator shares with the backend, or with all parts: their
/// work, or that of all processes if it was read and is more. In turns only their own work in the
/// contender's turns counts: other processes affect all contenders of a block alike, so they must
/// not decide in which table one of them is.
pub(crate) fn shared_cores_full(evidence: &Evidence) -> Measure {
    let cores = &evidence.setting.cores;
    if let Some(nodes) = &evidence.setting.nodes {
        return shared_node_full(evidence, nodes);
    }
    let backend = match evidence.turns.others {
        Some(others) => backend_in_turns(evidence, others),
        None => evidence.backend.cores(),
    };
    let mut parts = evidence.generator_cores() + backend;
    let with_contender = cores.contender.is_empty();
    let shared: Vec<usize> = if with_contender {
        parts += evidence.loaded_cpu().map_or(0.0, Used::share);
        (0..evidence.setting.host_cores).collect()
    } else {
        let both = cores
            .generator
            .iter()
            .any(|core| cores.backend.contains(core));
        let all: BTreeSet<usize> = cores
            .generator
            .iter()
            .chain(&cores.backend)
            .copied()
            .collect();
        both.then(|| all.into_iter().collect())?
    };
    let all = evidence.host.core_times.known();
    let all = all.filter(|_| evidence.turns.others.is_none());
    let anybody = all.map_or(0.0, |host| cores_busy(host, &shared, |core| core.busy_ns));
    let finding = Finding::SharedCoresFull {
        busy: parts.max(anybody),
        cores: shared.len(),
        with_contender,
    };
    let metered = evidence.setting.metered || !with_contender;
    metered.then(|| (parts.max(anybody) / as_f64(shared.len() as u64), finding))
}

/// Returns how many cores the backend used in the contender's turns: its use for all contenders,
/// times the share of this one's requests.
fn backend_in_turns(evidence: &Evidence, others: Others) -> f64 {
    let used_ns = evidence.backend.cpu.known().map_or(0, |used| used.used_ns);
    let own = evidence.requests.successful;
    let all = (own + others.requests).max(1);
    as_f64(used_ns) * as_f64(own) / as_f64(all) / as_f64(evidence.stretch.wall_ns.max(1))
}

/// Measures a shared node: the contender's, if all work on it was read, or the one with a load
/// generator and the backend, whose own work alone is known.
fn shared_node_full(evidence: &Evidence, nodes: &Nodes) -> Measure {
    let with_contender = !nodes.contender_is_alone();
    let node = match with_contender {
        true => nodes.contender.as_str(),
        false => nodes.beside_backend()?,
    };
    let mut busy = parts_beside(evidence, nodes, node);
    if with_contender {
        let all: Vec<usize> = (0..evidence.setting.host_cores).collect();
        let host = evidence.host.core_times.known();
        let anybody = host.map_or(0.0, |host| cores_busy(host, &all, |core| core.busy_ns));
        busy = anybody.max(busy + evidence.loaded_cpu().map_or(0.0, Used::share));
    }
    let cores = nodes.cores_of(node);
    let finding = Finding::SharedCoresFull {
        busy,
        cores,
        with_contender,
    };
    Some((busy / as_f64(cores as u64), finding))
}

/// Measures the slowdown found before the first run: it is the same in all slices.
pub(crate) fn shared_physical_core(evidence: &Evidence) -> Measure {
    let sharing = evidence.setting.core_sharing.clone()?;
    Some((sharing.steady(), Finding::SharedPhysicalCore(sharing)))
}

/// Measures steal. Contenders in turns lose equally much to the hypervisor, so it is not a finding
/// for them.
pub(crate) fn steal(evidence: &Evidence) -> Measure {
    if evidence.turns.others.is_some() {
        return None;
    }
    let share = taken::stolen(evidence)?;
    Some((share, Finding::Steal { share }))
}

/// Measures work of others on the contender's cores. Contenders in turns lose equally much to it.
pub(crate) fn foreign_work(evidence: &Evidence) -> Measure {
    if evidence.turns.others.is_some() {
        return None;
    }
    let share = taken::foreign(evidence)?;
    Some((share, Finding::ForeignWork { share }))
}

pub(crate) fn memory_pressure(evidence: &Evidence) -> Measure {
    let share = evidence.contender.memory_wait.known()?.share();
    Some((share, Finding::MemoryPressure { share }))
}

pub(crate) fn quota_stalls(evidence: &Evidence) -> Measure {
    let Throttling {
        periods,
        throttled_periods,
        throttled_ns,
    } = *evidence.contender.throttling.known()?;
    let finding = Finding::QuotaStalls {
        throttled_periods,
        periods,
        throttled_ns,
    };
    let share = as_f64(throttled_ns) / (as_f64(periods.max(1)) * PERIOD_NS);
    Some((share, finding))
}

/// Measures the contender's use of its cores, if it has enough work to fill them and no other part
/// is full.
pub(crate) fn nobody_full(evidence: &Evidence) -> Measure {
    let used = evidence.loaded_cpu()?.share();
    // While a turn drains, there is less and less to do.
    let turns = evidence.turns.used;
    let drain = turns.map_or(0.0, |turns| turns.drain_share());
    let used = used / (1.0 - drain.min(0.5));
    let allowed = evidence.setting.contender_cores();
    let in_flight = concurrency(evidence)?.asked;
    let finding = Finding::NobodyFull {
        used,
        allowed,
        in_flight,
    };
    let full = used.max(taken_in_turns(evidence).unwrap_or(0.0));
    (in_flight >= IN_FLIGHT_PER_CORE * allowed.max(1.0)).then(|| (full / allowed, finding))
}

/// Returns how many of the contender's cores were certainly taken in its turns, by it, by other
/// programs or by the hypervisor: all idle time of these cores may have been in its turns. `None`
/// without turns, and if a quota limits the contender.
fn taken_in_turns(evidence: &Evidence) -> Option<f64> {
    let in_turns = evidence.turns.used?.in_turns;
    let host = evidence.host.core_times.known()?;
    let cores = contender_cores(evidence, host);
    let all = as_f64(cores.len() as u64);
    let spent = cores_busy(host, &cores, |core| core.busy_ns + core.stolen_ns);
    let turns = as_f64(in_turns.wall_ns) / as_f64(host.wall_ns.max(1));
    let idle = (all - spent).max(0.0) / turns.max(1e-9);
    (all <= evidence.setting.contender_cores()).then_some(all - idle)
}

pub(crate) fn still_rising(evidence: &Evidence) -> Measure {
    let warmth = evidence.setting.phase.warmth()?;
    let Warmth {
        rise,
        slices,
        in_turns,
        ..
    } = warmth;
    let finding = Finding::StillRising {
        rise,
        slices,
        in_turns,
    };
    surely_rose(&warmth).then_some((rise, finding))
}

/// Measures the rise that noise may hide, unless the rise itself is known: the other finding says
/// so then. In turns it is found later in the blocks themselves.
pub(crate) fn warmth_unknown(evidence: &Evidence) -> Measure {
    let warmth = evidence.setting.phase.warmth();
    let warmth = warmth.filter(|warmth| !warmth.in_turns)?;
    let rise_most = warmth.rise_most;
    let finding = Finding::WarmthUnknown {
        rise_most,
        slices: warmth.slices,
        in_turns: warmth.in_turns,
    };
    let is_known = surely_rose(&warmth) && warmth.rise > rise::FLAT;
    (!is_known).then_some((rise_most, finding))
}

pub(crate) fn compiling(evidence: &Evidence) -> Measure {
    let share = evidence.contender.parts?.jit_share();
    (!evidence.setting.phase.is_warm_up()).then_some((share, Finding::Compiling { share }))
}

/// Measures refused keep-alive. Failed requests end their connection too, which is not a refusal.
pub(crate) fn keep_alive(evidence: &Evidence) -> Measure {
    let requests = evidence.requests.successful;
    if !evidence.setting.keep_alive || requests == 0 {
        return None;
    }
    let reconnects = evidence.connections.reconnects;
    let unkept = reconnects.saturating_sub(evidence.requests.failed());
    let finding = Finding::KeepAlive {
        reconnects: unkept,
        requests,
    };
    Some((as_f64(unkept) / as_f64(requests), finding))
}

/// Returns the share of times that gather in one of the kernel's waits. A busy contender with a
/// long queue has most of its times in one place too, wherever that is.
fn gathered(evidence: &Evidence, wait: Wait) -> Option<f64> {
    let share = evidence.requests.service_time.gathered(wait)?;
    let queue = match evidence.loaded_cpu() {
        Some(used) => used.share() > evidence.setting.contender_cores() / 2.0,
        None => f64::from(evidence.connections.asked) >= IN_FLIGHT_PER_CORE,
    };
    (share <= 0.5 || !queue).then_some(share)
}

pub(crate) fn delayed_acknowledgements(evidence: &Evidence) -> Measure {
    let share = gathered(evidence, Wait::DelayedAcknowledgement)?;
    Some((share, Finding::DelayedAcknowledgements { share }))
}

pub(crate) fn retransmission_waits(evidence: &Evidence) -> Measure {
    let share = gathered(evidence, Wait::Retransmission)?;
    Some((share, Finding::RetransmissionWaits { share }))
}

pub(crate) fn retransmissions(evidence: &Evidence) -> Measure {
    let tcp = evidence.host.tcp.known()?;
    let (resent, sent) = (tcp.resent_segments, tcp.sent_segments);
    let finding = Finding::Retransmissions { resent, sent };
    Some((as_f64(resent) / as_f64(sent.max(1)), finding))
}

pub(crate) fn listen_queue(evidence: &Evidence) -> Measure {
    let TcpCounters {
        listen_overflows: overflows,
        listen_drops: drops,
        resent_syns: resent,
        ..
    } = *evidence.host.tcp.known()?;
    let finding = Finding::ListenQueue {
        overflows,
        drops,
        resent,
    };
    let events = as_f64(overflows.max(drops).max(resent));
    Some((events / as_f64(evidence.requests.ended().max(1)), finding))
}
