//! Settings of the load generator's threads, and the life of each.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use bakeoff_model::load::LoadSpec;
use rustix::io::Errno;

use crate::crew::Crew;
use crate::error::LoadError;
use crate::limits::{own_files, pin};
use crate::prepare::request::Requests;
use crate::prepare::scenario::Script;
use crate::shard::Shard;
use crate::shared::{Allowance, Stop};
use crate::tally::Tally;
use crate::transport::reactor::Reactor;
use crate::transport::socket::Endpoint;
use crate::transport::tls::TlsSettings;
use crate::turns::counters::Counter;
use crate::turns::gate::Gate;
use crate::worker::channels::{Command, Report, WorkerChannels};
use crate::worker::{Worker, parts_of};

/// Number of empty tallies ready for each thread; the third one covers a late coordinator.
const SPARES: usize = 2;

/// A target, and how it is reached.
pub(crate) struct LoadTarget<'a> {
    /// The load on this target alone.
    pub(crate) spec: &'a LoadSpec,
    pub(crate) endpoint: Endpoint,
    pub(crate) tls: Option<TlsSettings>,
}

impl<'a> LoadTarget<'a> {
    pub(crate) fn of(spec: &'a LoadSpec) -> Result<Self, LoadError> {
        let timeout = Duration::from_nanos(spec.timeout_connect_ns);
        let endpoint = Endpoint::resolve(&spec.target, timeout)?;
        // Errors are found here rather than in a thread.
        Requests::prepare(spec)?;
        Script::prepare(spec, 0, Arc::default())?;
        Ok(Self {
            spec,
            endpoint,
            tls: TlsSettings::of(&spec.target)?,
        })
    }
}

/// The state that threads share, and how the targets are reached.
pub(crate) struct RunContext<'a> {
    pub(crate) sides: Vec<LoadTarget<'a>>,
    /// Users of the scenario that started.
    pub(crate) begun: Arc<AtomicU64>,
    pub(crate) allowance: Arc<Allowance>,
    pub(crate) stop: Stop,
}

/// Makes a thread's reactor.
pub(crate) type Make<R> = fn(Endpoint) -> Result<R, Errno>;

/// A thread's ends of the channels to the coordinator.
pub(crate) struct ThreadChannels {
    pub(crate) commands: Receiver<Command>,
    pub(crate) reports: Sender<(usize, Report)>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) sides: Vec<WorkerChannels>,
}

/// Returns the channels of a worker, including the source of empty tallies.
pub(crate) fn worker_channels(
    side: u32,
    reports: &Sender<(usize, Report)>,
    context: &RunContext<'_>,
) -> (Sender<Box<Tally>>, WorkerChannels) {
    let (spare, spares) = channel();
    let parts = context.sides.first().map_or(0, |one| parts_of(one.spec));
    for _ in 0..SPARES {
        // The receiver is a line above.
        let _ = spare.send(Tally::boxed(parts));
    }
    let channels = WorkerChannels {
        side,
        reports: reports.clone(),
        spares,
        allowance: context.allowance.clone(),
        stop: context.stop.clone(),
    };
    (spare, channels)
}

/// Runs a thread from start to end.
pub(crate) fn serve<R: Reactor>(
    spec: &LoadSpec,
    shard: Shard,
    channels: ThreadChannels,
    make: Make<R>,
    context: &RunContext<'_>,
) {
    let (reports, gate) = (channels.reports.clone(), channels.gate.clone());
    match set_up(spec, shard, channels, make, context) {
        Ok(mut crew) => crew.run(),
        Err(errno) => {
            gate.abandon();
            // A coordinator that is gone has its own reason.
            drop(reports.send((shard.thread as usize, Report::Failed(errno))));
        }
    }
}

fn set_up<'a, R: Reactor>(
    spec: &'a LoadSpec,
    shard: Shard,
    channels: ThreadChannels,
    make: Make<R>,
    context: &'a RunContext<'_>,
) -> Result<Crew<'a, R>, Errno> {
    let thread = shard.thread as usize;
    if !spec.cores.is_empty() {
        let core = spec.cores[thread % spec.cores.len()];
        pin(&[core]).map_err(|_| Errno::INVAL)?;
    }
    own_files();
    // A timer that may be late by the usual 50 us would show up as send lag.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZero::new(1));
    let sides = channels.sides.into_iter().zip(&context.sides);
    let sides = sides.map(|(channels, side)| {
        let requests = Requests::prepare(side.spec).map_err(|_| Errno::INVAL)?;
        let script = Script::prepare(side.spec, thread, context.begun.clone());
        let script = script.map_err(|_| Errno::INVAL)?;
        let reactor = make(side.endpoint.clone())?;
        let tls = side.tls.clone();
        Ok(Worker::new(
            side.spec, shard, channels, reactor, requests, script, tls,
        ))
    });
    Ok(Crew {
        spec,
        thread,
        commands: channels.commands,
        reports: channels.reports,
        gate: channels.gate,
        counters: {
            let targets = context.sides.iter().map(|side| &side.spec.target);
            let counters = targets.map(|target| Counter::open(target.cpu_counter.as_ref()));
            counters.collect()
        },
        sides: sides.collect::<Result<_, Errno>>()?,
    })
}
