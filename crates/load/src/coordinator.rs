//! The coordinator: starts the threads, leads them through the steps, merges their tallies, and is
//! the only one that talks to the caller.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope};

use bakeoff_model::load::{Connections, CpuTime, LoadEvent, LoadSpec, ReactorChoice, StepSpec};

use crate::clock::{cpu_between, now_ns, thread_cpu, wall_ahead_ns};
use crate::error::LoadError;
use crate::interval::{interval, own_connections};
use crate::limits::{pin, raise_nofile, unpin, usable_cores};
use crate::prepare::validate::validate;
use crate::shard::Shard;
use crate::shared::{Allowance, Go, Stop};
use crate::tally::Tally;
use crate::threads::{LoadTarget, Make, RunContext, ThreadChannels, serve, worker_channels};
use crate::transport::reactor::Reactor;
use crate::transport::reactor::epoll::Epoll;
use crate::transport::reactor::uring::Uring;
use crate::turns::gate::{Gate, Rotation, StepOfTurns};
use crate::worker::channels::{Command, Report};
use crate::worker::parts_of;

/// Distinguishes the order of turns from other draws of the same seed.
const ORDER: u64 = 0x0074_7572_6e73;

/// Time between the command to open a window and its opening, so that every thread is there, ns.
const LEAD_NS: u64 = 10_000_000;

/// Maximum time until the instant at which a window opens, ns; a later one means that two clocks
/// differ.
const START_AHEAD_NS_MAX: u64 = 60_000_000_000;

/// Carries out a spec from its first step to its last.
///
/// `emit` gets the events in order, from the calling thread, each slice a few milliseconds after
/// it ended. When the spec is stepwise, `go(step)` is called twice for each step but the first and
/// blocks: until its connections may be opened, so that the caller can read what the step before
/// cost, and after its [`LoadEvent::Ready`] until the window may open. At the first of the two it
/// may have the step before made [`Go::Again`], at the second it may say [`Go::At`] which instant
/// the window opens. [`Go::End`] ends the run there, `stop` ends it anywhere. What the service does
/// wrong is counted in the intervals.
///
/// # Errors
/// [`LoadError::Spec`] if the spec is invalid, or an instant lies more than a minute ahead;
/// [`LoadError::System`] if the host refuses threads, cores or the requested reactor.
pub fn run(
    spec: &LoadSpec,
    stop: &Stop,
    go: &mut dyn FnMut(usize) -> Go,
    emit: &mut dyn FnMut(LoadEvent),
) -> Result<(), LoadError> {
    validate(spec)?;
    let specs = spec.sides();
    let sides: Vec<LoadTarget<'_>> = specs.iter().map(LoadTarget::of).collect::<Result<_, _>>()?;
    let endpoint = sides[0].endpoint.clone();
    let context = RunContext {
        sides,
        begun: Arc::default(),
        allowance: Arc::default(),
        stop: stop.clone(),
    };
    let nofile = raise_nofile();
    let before = if spec.cores.is_empty() {
        None
    } else {
        Some(pin(&spec.cores)?)
    };
    let result = match spec.reactor {
        ReactorChoice::Auto => match Uring::<true>::new(endpoint) {
            Ok(_) => run_on(spec, nofile, Uring::<true>::new, &context, go, emit),
            Err(_) => run_on(spec, nofile, Epoll::<true>::new, &context, go, emit),
        },
        ReactorChoice::EpollRxTimestamps => {
            run_on(spec, nofile, Epoll::<true>::new, &context, go, emit)
        }
        ReactorChoice::Epoll => run_on(spec, nofile, Epoll::<false>::new, &context, go, emit),
        // Tried here, so that a refusal has a separate message.
        ReactorChoice::UringRxTimestamps | ReactorChoice::Uring => {
            match Uring::<false>::new(endpoint) {
                Ok(_) if spec.reactor == ReactorChoice::Uring => {
                    run_on(spec, nofile, Uring::<false>::new, &context, go, emit)
                }
                Ok(_) => run_on(spec, nofile, Uring::<true>::new, &context, go, emit),
                Err(errno) => Err(LoadError::System {
                    what: "the kernel does not allow io_uring".into(),
                    source: errno.into(),
                }),
            }
        }
    };
    if let Some(before) = before {
        unpin(&before);
    }
    result
}

/// Carries out a spec on one kind of reactor.
fn run_on<R: Reactor>(
    spec: &LoadSpec,
    nofile: u64,
    make: Make<R>,
    context: &RunContext<'_>,
    go: &mut dyn FnMut(usize) -> Go,
    emit: &mut dyn FnMut(LoadEvent),
) -> Result<(), LoadError> {
    std::thread::scope(|scope| {
        Coordinator::start(scope, spec, nofile, make, context)?.lead(go, emit)
    })
}

/// The coordinator's ends of the channels.
struct Coordinator<'a> {
    spec: &'a LoadSpec,
    reactor: &'static str,
    nofile: u64,
    commands: Vec<Sender<Command>>,
    /// Channels for empty tallies, by thread and target.
    spares: Vec<Vec<Sender<Box<Tally>>>>,
    /// The barrier of the threads between turns.
    gate: Arc<Gate>,
    reports: Receiver<(usize, Report)>,
    allowance: Arc<Allowance>,
    stop: Stop,
    cpu: CpuTime,
}

impl<'a> Coordinator<'a> {
    /// Starts the threads.
    fn start<'scope, R: Reactor + 'scope>(
        scope: &'scope Scope<'scope, '_>,
        spec: &'a LoadSpec,
        nofile: u64,
        make: Make<R>,
        context: &'scope RunContext<'_>,
    ) -> Result<Self, LoadError>
    where
        'a: 'scope,
    {
        let threads = match (spec.threads, spec.cores.len()) {
            (0, 0) => usable_cores(),
            (0, cores) => cores,
            (threads, _) => threads,
        };
        // A thread without connections would only look like headroom.
        let part = spec.own_part();
        let own = |step: &StepSpec| part.connections_of(step.connections);
        let most = spec.steps.iter().map(own).max().unwrap_or(1).max(1);
        let threads = u32::try_from(threads).unwrap_or(most).min(most);
        let (report, reports) = channel();
        let mut coordinator = Self {
            spec,
            reactor: R::NAME,
            nofile,
            commands: Vec::new(),
            spares: Vec::new(),
            gate: Arc::new(Gate::new(threads as usize, context.stop.clone())),
            reports,
            allowance: context.allowance.clone(),
            stop: context.stop.clone(),
            cpu: thread_cpu(),
        };
        for thread in 0..threads {
            let (command, commands) = channel();
            let (spares, channels) = (0..)
                .zip(&context.sides)
                .map(|(side, _)| worker_channels(side, &report, context))
                .unzip();
            coordinator.commands.push(command);
            coordinator.spares.push(spares);
            let shard = Shard {
                thread,
                threads,
                part,
            };
            let thread_channels = ThreadChannels {
                commands,
                reports: report.clone(),
                gate: coordinator.gate.clone(),
                sides: channels,
            };
            let body = move || serve(spec, shard, thread_channels, make, context);
            Builder::new()
                .name(format!("load-{thread}"))
                .spawn_scoped(scope, body)
                .map_err(|source| LoadError::System {
                    what: format!("cannot start thread {thread} of {threads}"),
                    source,
                })?;
        }
        Ok(coordinator)
    }

    /// Leads through all steps.
    fn lead(
        mut self,
        go: &mut dyn FnMut(usize) -> Go,
        emit: &mut dyn FnMut(LoadEvent),
    ) -> Result<(), LoadError> {
        let (mut step, mut done) = (0, false);
        while step < self.spec.steps.len() {
            if self.spec.stepwise && done {
                match go(step) {
                    Go::On | Go::At(_) => {}
                    Go::Again => step -= 1,
                    Go::End => break,
                }
            }
            let (mut connections, streams, failure) = self.prepare(step)?;
            if self.stop.is_stopped() {
                break;
            }
            emit(LoadEvent::Ready {
                step,
                connections: connections.remove(0),
                further: connections,
                reactor: self.reactor.to_owned(),
                nofile: self.nofile,
                streams,
                failure,
            });
            let asked_ns = match self.spec.stepwise.then(|| go(step)) {
                Some(Go::End) => break,
                Some(Go::At(unix_ns)) => Some(unix_ns),
                None | Some(Go::On | Go::Again) => None,
            };
            let start_ns = start_ns(asked_ns)?;
            self.cpu = thread_cpu();
            let part = self.spec.own_part();
            self.allowance.set(&self.spec.steps[step], part);
            self.begin_turns(step, start_ns);
            self.command(Command::Open(start_ns));
            self.gather(step, asked_ns, emit)?;
            emit(LoadEvent::StepDone { step, fleet: None });
            (step, done) = (step + 1, true);
        }
        emit(LoadEvent::Done);
        Ok(())
    }

    fn command(&self, command: Command) {
        for line in &self.commands {
            // A thread that has exited has reported why.
            let _ = line.send(command);
        }
    }

    /// Returns the next report of any thread.
    fn next_report(&self) -> Result<(usize, Report), LoadError> {
        let system = |source| LoadError::System {
            what: format!("a thread of the {} reactor gave up", self.reactor),
            source,
        };
        match self.reports.recv() {
            Ok((_, Report::Failed(errno))) => Err(system(errno.into())),
            Ok(report) => Ok(report),
            Err(_) => Err(system(std::io::ErrorKind::BrokenPipe.into())),
        }
    }

    /// Sets the gate up for a step in turns.
    fn begin_turns(&self, step: usize, start_ns: u64) {
        let step_spec = &self.spec.steps[step];
        let Some(turns) = step_spec.turns else {
            return;
        };
        let of_turns = StepOfTurns {
            turns,
            start_ns,
            duration_ns: step_spec.duration_ns,
            slice_ns: self.spec.slice_ns,
            seed: self.spec.seed ^ ORDER ^ ((step as u64) << 32),
        };
        self.gate
            .begin(Rotation::new(&of_turns, self.spec.side_count()));
    }

    /// Opens the connections of a step and counts them by target, with the streams that each of
    /// them may have; 0 without streams.
    fn prepare(&self, step: usize) -> Result<(Vec<Connections>, u32, Option<String>), LoadError> {
        self.command(Command::Prepare(step));
        let asked = Connections {
            asked: own_connections(self.spec, step),
            on_arrival: self.spec.connects_on_arrival(),
            ..Connections::default()
        };
        let sides = self.spec.side_count();
        let mut all = vec![asked; sides];
        let (mut fewest, mut failure) = (None, None);
        for _ in 0..self.commands.len() * sides {
            if let (_, Report::Ready(side, ready)) = self.next_report()? {
                let connections = &mut all[side];
                connections.established += ready.established;
                connections.in_flight_max += ready.in_flight_max;
                failure = ready.failure.or(failure);
                let streams = ready.streams;
                fewest = fewest.into_iter().chain(streams).min();
            }
        }
        let none = all.iter().all(|side| side.established == 0);
        Ok((all, fewest.unwrap_or(0), failure.filter(|_| none)))
    }

    /// Merges the slices of all threads as they end, until all threads are done with the step.
    /// Reports when it started if an instant was requested.
    fn gather(
        &mut self,
        step: usize,
        asked_ns: Option<u64>,
        emit: &mut dyn FnMut(LoadEvent),
    ) -> Result<(), LoadError> {
        let threads = self.commands.len();
        let mut sides: Vec<Gathered> = Vec::new();
        sides.resize_with(self.spec.side_count(), Gathered::default);
        let mut drained = 0;
        let (mut opened, mut began_ns) = (0, 0);
        while drained < threads {
            let (thread, tally) = match self.next_report()? {
                (thread, Report::Slice(tally)) => (thread, tally),
                (_, Report::Opened(at_ns)) => {
                    (opened, began_ns) = (opened + 1, at_ns.max(began_ns));
                    if let Some(asked_ns) = asked_ns.filter(|_| opened == threads) {
                        emit(began(step, began_ns, asked_ns));
                    }
                    continue;
                }
                (_, Report::Drained) => {
                    drained += 1;
                    continue;
                }
                _ => continue,
            };
            let slice = tally.slice as usize;
            let side = &mut sides[tally.side as usize];
            side.finished += usize::from(tally.last);
            if side.slices.len() <= slice {
                side.slices.resize_with(slice + 1, || (0, None));
            }
            side.slices[slice].0 += 1;
            self.merge(&mut side.slices[slice].1, thread, tally);
            // A slice is complete when every thread has sent it; once all have sent their last one,
            // the rest is complete too.
            while let Some(entry) = side.slices.get_mut(side.emitted) {
                if entry.0 < threads && side.finished < threads {
                    break;
                }
                if let Some(tally) = entry.1.take() {
                    self.emit(step, tally, emit);
                }
                side.emitted += 1;
            }
        }
        Ok(())
    }

    /// Adds a thread's tally to its slice and returns it to the thread, empty.
    fn merge(&self, slot: &mut Option<Box<Tally>>, thread: usize, mut tally: Box<Tally>) {
        let side = tally.side as usize;
        match slot {
            None => {
                // This one leaves with the interval; its thread gets a new one from here, so that
                // no thread ever allocates in its window.
                let fresh = Tally::boxed(parts_of(self.spec));
                *slot = Some(std::mem::replace(&mut tally, fresh));
            }
            Some(sum) => {
                sum.merge(&tally);
                tally.clear();
            }
        }
        // A thread that has exited needs no tally.
        let _ = self.spares[thread][side].send(tally);
    }

    fn emit(&mut self, step: usize, tally: Box<Tally>, emit: &mut dyn FnMut(LoadEvent)) {
        let interval = interval(self.spec, step, *tally, self.commands.len(), {
            let cpu = thread_cpu();
            let between = cpu_between(self.cpu, cpu);
            self.cpu = cpu;
            between
        });
        emit(LoadEvent::Interval(Box::new(interval)));
    }
}

/// The slices of a target as they arrive.
#[derive(Default)]
struct Gathered {
    /// The number of threads that have sent each slice, and their sum.
    slices: Vec<(usize, Option<Box<Tally>>)>,
    /// Number of threads that have sent their last slice.
    finished: usize,
    /// Slices that have been passed on.
    emitted: usize,
}

/// Returns when a window opens, monotonic ns: soon, or at the requested instant of the wall clock.
fn start_ns(asked_ns: Option<u64>) -> Result<u64, LoadError> {
    let soon_ns = now_ns() + LEAD_NS;
    let Some(asked_ns) = asked_ns else {
        return Ok(soon_ns);
    };
    let at_ns = asked_ns.saturating_sub(wall_ahead_ns());
    if at_ns.saturating_sub(soon_ns) > START_AHEAD_NS_MAX {
        let ahead_s = (at_ns - soon_ns) / 1_000_000_000;
        return Err(LoadError::Spec {
            message: format!(
                "the window must open {ahead_s} s from now by this machine's wall clock, and a \
                 minute is the longest wait: the clock of the caller differs from it"
            ),
        });
    }
    Ok(at_ns.max(soon_ns))
}

/// Returns the event of a window that had to open at an instant of the wall clock.
fn began(step: usize, at_ns: u64, asked_ns: u64) -> LoadEvent {
    let unix_ns = at_ns + wall_ahead_ns();
    LoadEvent::Began {
        step,
        at_ns,
        unix_ns,
        late_ns: unix_ns.saturating_sub(asked_ns),
    }
}
