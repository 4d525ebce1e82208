//! Evidence from records: a session records what it judges, so that records can be judged again.

use bakeoff_model::load::{Pace, Protocol};
use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::record::{Begin, IntervalRecord};
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::conditions::{BackendName, RuntimeKind};
use bakeoff_model::validity::Validity;

use crate::evidence::{Evidence, Phase, Setting, Slice};
use crate::judge::{JudgedSlice, judge};
use crate::reading::Reading;
use crate::taken;

/// Returns the evidence of a recorded slice; `begin` is its run's first record.
#[must_use]
pub fn evidence_of(begin: &Begin, interval: &IntervalRecord) -> Evidence {
    let before = interval.contender_before.as_ref();
    let after = interval.contender_after.as_ref();
    let backend = interval.backend_before.as_ref();
    let tcp = |sample: Option<&ResourceSample>| sample.and_then(|sample| sample.tcp);
    let tcp = tcp(after).zip(tcp(before));
    let tcp = tcp.map(|(after, before)| after.since(&before));
    Evidence::of(
        &setting(begin, interval),
        &Slice {
            load: &interval.load,
            contender: before.zip(after),
            backend: backend.zip(interval.backend_after.as_ref()),
            host: interval.host.as_ref(),
            tcp: tcp.as_ref(),
            others: interval.others,
            unloaded: interval.unloaded,
        },
    )
}

/// Judges a slice by the readings in its record.
#[must_use]
pub fn judge_record(begin: &Begin, interval: &IntervalRecord) -> Validity {
    judge(&evidence_of(begin, interval))
}

/// Judges a recorded slice by today's rules. If the record itself has a worse verdict, that one
/// applies: it may be based on readings that were not recorded.
#[must_use]
pub fn judged_record(begin: &Begin, interval: &IntervalRecord) -> JudgedSlice {
    let mut judged = JudgedSlice::new(evidence_of(begin, interval));
    let recorded = &interval.validity;
    if recorded.verdict() > judged.validity.verdict() {
        let reasons = recorded.reasons().iter().chain(judged.validity.reasons());
        judged.validity = Validity::of(reasons.cloned().collect());
    }
    judged
}

/// Returns the share of the contender's cores that the hypervisor withheld or other processes used
/// in these slices of one step, in turns, too; `None` if it was not read.
///
/// Contenders of one block lose equally much to it, but the blocks of another step do not.
#[must_use]
pub fn taken_by_others(begin: &Begin, slices: &[&IntervalRecord]) -> Option<f64> {
    let mut slices = slices.iter().map(|slice| evidence_of(begin, slice));
    let mut all = slices.next()?;
    slices.for_each(|slice| all += &slice);
    Some(taken::stolen(&all)? + taken::foreign(&all)?)
}

fn setting(begin: &Begin, interval: &IntervalRecord) -> Setting {
    let load = &interval.load;
    let transport = begin.run.transport;
    let (stamped, bounded) = match transport.protocol {
        Protocol::Websocket(websocket) => (websocket.timestamp.is_some(), websocket.messages > 0),
        Protocol::Http1 | Protocol::Http2 => (false, false),
    };
    let step = begin.run.steps.get(load.step);
    // Trials come after the planned steps; they are open load, which records the offered requests.
    let closed = step.map_or(load.offered.is_none(), |step| step.pace == Pace::Closed);
    let backend = match interval.backend_before {
        Some(_) => Reading::Known(()),
        None if begin.backend == BackendName::None => Reading::NotApplicable,
        None => Reading::NotMetered,
    };
    // Turnaround of users is recorded if they have no think time.
    let is_loop = load.users.is_none() || load.turnaround_ns.is_some();
    Setting {
        cores: begin.cores.clone(),
        core_sharing: begin.host.core_sharing.clone(),
        host_cores: begin.host.cores.max(1),
        nodes: begin.nodes.clone(),
        limits: match begin.enforcement.unlimited_because() {
            Some(_) => Limits::default(),
            None => begin.run.limits,
        },
        closed_loop: closed && is_loop && !stamped,
        keep_alive: transport.keep_alive && !bounded,
        metered: begin.runtime != RuntimeKind::External,
        backend,
        work: begin.run.work,
        phase: match interval.warm_up {
            true => Phase::WarmUp,
            false => Phase::Measured {
                warmth: interval.warmth,
            },
        },
        not_recorded: begin.not_recorded.clone(),
    }
}
