//! One thread of the load generator. It shares next to nothing with the other threads; the
//! coordinator sends it commands and takes its tallies over.
//!
//! It consists of independent parts: the connections, the schedule, the recorder and the body
//! checks. This module has the steps of its life; `requests` sends requests and takes responses,
//! `failures` handles failures.

pub(crate) mod channels;
mod checks;
mod connection;
mod connections;
#[cfg(test)]
mod early;
mod failures;
mod recorder;
mod requests;
#[cfg(test)]
mod simulation;
mod slot;
#[cfg(test)]
mod truth;
mod turns;

use std::collections::VecDeque;

use bakeoff_model::load::{LoadPart, LoadSpec, Pace};
use rustix::io::Errno;

use crate::clock::now_ns;
use crate::prepare::request::Requests;
use crate::prepare::scenario::Script;
use crate::protocol::event::ProtocolEvent;
use crate::protocol::interface::Protocol as _;
use crate::schedule::arrivals::{Arrivals, ThreadArrivals};
use crate::schedule::users::{SlotShare, Users};
use crate::schedule::{Position, Schedule};
use crate::shard::Shard;
use crate::shared::Stop;
use crate::transport::reactor::Reactor;
use crate::transport::tls::TlsSettings;
use bakeoff_base::random::Random;
use channels::{Ready, Report, WorkerChannels};
use checks::BodyChecks;
use connection::ConnectionStage;
use connections::{Connections, Setup};
use recorder::Recorder;

/// Maximum number of connections being made at the same time before a window; a burst of thousands
/// would overflow the service's queue and measure the retransmission timer.
const CONNECTING_MAX: usize = 64;

/// Maximum time to connect in a step, as a multiple of the connect timeout.
const PREPARE_TIMEOUTS_MAX: u64 = 4;

/// Time without a further connection after which a step starts with those that it has, ns: two
/// retransmissions of a lost SYN. A service whose threads all wait for requests on connections that
/// have none accepts no further ones before the window opens.
const PREPARE_STALL_NS: u64 = 4_000_000_000;

/// How long responses may still arrive after a step, so that the next one starts with free
/// connections, ns.
const DRAIN_NS_MAX: u64 = 1_000_000_000;

/// Longest time without a look at the clock, ns.
const WAIT_NS_MAX: u64 = 100_000_000;

/// Time before a send during which the thread polls instead of sleeping, ns: waking up takes the
/// kernel longer than this is worth.
const SPIN_NS: u64 = 30_000;

/// Returns the number of requests that are counted separately: all, if there are several.
pub(crate) fn parts_of(spec: &LoadSpec) -> usize {
    match spec.requests.len() {
        1 => 0,
        several => several,
    }
}

/// Returns the number of a thread's connection among those of the whole load.
fn number_of(share: LoadPart, connection: usize) -> usize {
    usize::try_from(share.number(connection as u64)).unwrap_or(connection)
}

/// A thread of the load generator, as far as it concerns one target.
#[derive(Debug)]
pub(crate) struct Worker<'a, R> {
    spec: &'a LoadSpec,
    shard: Shard,
    /// Index of the target.
    side: usize,
    stop: Stop,
    requests: Requests,
    connections: Connections<R>,
    schedule: Schedule,
    recorder: Recorder,
    checks: BodyChecks,
    /// Events of the connection that is being handled.
    events: Vec<ProtocolEvent>,
    /// Slots whose response came: they get their next request when all events are handled.
    responded: Vec<usize>,
    /// When timeouts are looked for next, monotonic ns.
    scan_ns: u64,
    /// Why the last attempt to open a connection before the window failed.
    opening_failure: Option<String>,
}

impl<'a, R: Reactor> Worker<'a, R> {
    /// A thread without connections.
    pub(crate) fn new(
        spec: &'a LoadSpec,
        shard: Shard,
        channels: WorkerChannels,
        reactor: R,
        requests: Requests,
        script: Option<Script>,
        tls: Option<TlsSettings>,
    ) -> Self {
        let WorkerChannels {
            side,
            reports,
            spares,
            allowance,
            stop,
        } = channels;
        let mut random =
            Random::new(spec.seed ^ u64::from(shard.thread).wrapping_mul(0xD134_2543_DE82_EF95));
        let checks = BodyChecks::new(spec, Random::new(random.bits()));
        let setup = Setup {
            tls,
            upgrade: requests.get(requests.index_at(0)).bytes.clone(),
            random,
        };
        Self {
            spec,
            shard,
            side: side as usize,
            stop,
            requests,
            connections: Connections::new(spec, reactor, setup),
            schedule: Schedule::new(allowance, script.map(Users::new)),
            recorder: Recorder::new(shard.thread as usize, side, parts_of(spec), reports, spares),
            checks,
            events: Vec::new(),
            responded: Vec::new(),
            scan_ns: 0,
            opening_failure: None,
        }
    }

    /// Whether the worker has connections to check.
    pub(crate) fn has_connections(&self) -> bool {
        self.connections.len() > 0
    }

    /// Whether nothing may be sent to the target any more.
    fn is_stopped(&self) -> bool {
        self.stop.is_side_stopped(self.side)
    }

    /// Handles events of its connections without waiting.
    pub(crate) fn look(&mut self) -> Result<(), Errno> {
        self.turn(0)
    }

    /// Ends a step after its window.
    pub(crate) fn finish(&mut self, step: usize) -> Result<(), Errno> {
        self.drain()?;
        if self.spec.steps[step].close_after || self.spec.connects_on_arrival() {
            self.connections.resize(self.spec, 0, |_, slot| slot);
            self.turn(0)?;
        }
        Ok(())
    }

    /// Opens or closes connections until the step has its number.
    pub(crate) fn prepare(&mut self, step: usize) -> Result<Ready, Errno> {
        let share = self.shard.share();
        let count = match self.is_stopped() {
            true => 0,
            false => share.connections_of(self.spec.steps[step].connections) as usize,
        };
        let in_flight = self.spec.in_flight.max(1) as usize;
        self.connections
            .resize(self.spec, count, |connection, slot| {
                number_of(share, connection) * in_flight + slot
            });
        let slots = self.connections.slot_count();
        let pace = self.spec.steps[step].pace;
        let is_open_load = !matches!(pace, Pace::Closed | Pace::Users { .. });
        self.schedule.reserve(slots, is_open_load);
        self.responded.reserve(slots);
        if self.spec.connects_on_arrival() {
            return Ok(Ready::default());
        }
        // Each attempt ends after the timeout; this bounds waiting in turn as well.
        let timeout_ns = self.spec.timeout_connect_ns;
        let deadline_ns = now_ns().saturating_add(timeout_ns.saturating_mul(PREPARE_TIMEOUTS_MAX));
        let closed = |one: &usize| self.connections.get(*one).stage == ConnectionStage::Closed;
        let mut fresh: VecDeque<usize> = (0..count).filter(closed).collect();
        let mut established = self.connections.established();
        let mut stall_ns = now_ns() + PREPARE_STALL_NS;
        while now_ns() < deadline_ns.min(stall_ns) && !self.is_stopped() {
            if self.connections.established() > established {
                established = self.connections.established();
                stall_ns = now_ns() + PREPARE_STALL_NS;
            }
            let mut opening = self.connections.opening();
            while opening < CONNECTING_MAX {
                let Some(connection) = fresh.pop_front() else {
                    break;
                };
                self.connections.connect(connection, now_ns());
                opening += 1;
            }
            if opening == 0 && self.connections.next_retry_ns().is_none() {
                break;
            }
            self.turn(WAIT_NS_MAX)?;
        }
        Ok(Ready {
            established: self.connections.established(),
            in_flight_max: self.connections.in_flight_max(),
            streams: self.connections.streams_min(),
            failure: self.opening_failure.take(),
        })
    }

    /// Runs the window of a prepared step from `start_ns` on.
    pub(crate) fn run_window(&mut self, step: usize, start_ns: u64) -> Result<(), Errno> {
        let began_ns = loop {
            let now = now_ns();
            if now >= start_ns {
                break now;
            }
            if self.is_stopped() {
                return Ok(());
            }
            self.turn((start_ns - now).min(WAIT_NS_MAX))?;
        };
        self.open_window(step, start_ns);
        self.recorder.report(Report::Opened(began_ns));
        loop {
            let now = now_ns();
            if !self.in_window(now) {
                break;
            }
            let is_done = self.schedule.is_done(now) && !self.connections.has_unfinished();
            if is_done || self.is_stopped() {
                self.close_window(now);
                break;
            }
            let end_ns = self.schedule.next_end_ns(now);
            let until_ns = self.send_due(now).map_or(end_ns, |due| due.min(end_ns));
            self.wait_until(until_ns)?;
        }
        self.schedule.end();
        self.connections.clear_postponed();
        Ok(())
    }

    /// Starts the first slice and the first requests.
    fn open_window(&mut self, step: usize, start_ns: u64) {
        let step_spec = &self.spec.steps[step];
        let end_ns = start_ns + step_spec.duration_ns + step_spec.awaited_ns;
        self.set_up_window(step, start_ns, end_ns);
        self.send_first(start_ns);
    }

    /// Starts the first slice, without a request.
    fn set_up_window(&mut self, step: usize, start_ns: u64, end_ns: u64) {
        let step_spec = &self.spec.steps[step];
        let seed = self.spec.seed.wrapping_add(step as u64);
        let pace = step_spec.pace;
        let recorded = &self.spec.recorded;
        let arrivals = Arrivals::new(step_spec, recorded, self.shard.part, seed);
        let arrivals = arrivals.map(|all| ThreadArrivals::new(all, self.shard));
        self.schedule.open(start_ns, end_ns, arrivals);
        self.recorder.begin(self.connections.bytes());
        let slice_ns = match step_spec.turns {
            None => self.spec.slice_ns,
            Some(_) => 0,
        };
        self.begin_slice(0, start_ns, slice_ns);
        let is_open_load = self.schedule.is_open_load();
        if let Some(users) = &mut self.schedule.users {
            let in_flight = u64::from(self.spec.in_flight.max(1));
            let slots = SlotShare {
                own: self.connections.slot_count(),
                of_all: u64::from(step_spec.connections) * in_flight,
                share: self.shard.share(),
            };
            users.arrive(pace, start_ns, is_open_load, slots);
        }
        for slot in self.connections.all_slots() {
            slot.responses = 0;
            slot.received_ns = 0;
        }
        for connection in 0..self.connections.len() {
            let one = self.connections.get_mut(connection);
            one.protocol.open_window(start_ns);
        }
    }

    /// Sets up the tally for the slice that starts now; `length_ns` 0 = to the end of the window.
    fn begin_slice(&mut self, slice: u32, start_ns: u64, length_ns: u64) {
        self.schedule.begin_slice(start_ns, length_ns);
        let established = self.connections.established();
        let in_flight_max = self.connections.in_flight_max();
        self.recorder
            .begin_slice(slice, start_ns, established, in_flight_max);
    }

    /// Whether the window is open at `now`; ends the slices that are over.
    #[inline]
    fn in_window(&mut self, now: u64) -> bool {
        match self.schedule.position(now) {
            Position::InSlice => true,
            Position::Outside => false,
            Position::AfterSlice(_) => self.end_slices(now),
        }
    }

    /// Ends all slices that are over at `now`; `false` when the window is over too.
    fn end_slices(&mut self, now: u64) -> bool {
        while let Position::AfterSlice(end_ns) = self.schedule.position(now) {
            // Requests that were due in this slice belong to it even if nothing was checked in
            // time.
            self.schedule
                .collect_due(end_ns.saturating_sub(1), &mut self.recorder.tally);
            if self.schedule.is_last_slice() {
                self.close_window(end_ns);
                return false;
            }
            let slice = self.recorder.tally.slice;
            let bytes = self.connections.bytes();
            self.recorder.end_slice(end_ns, false, bytes);
            self.begin_slice(slice + 1, end_ns, self.spec.slice_ns);
        }
        self.schedule.position(now) == Position::InSlice
    }

    /// Ends the window: requests in flight or waiting become censored samples.
    fn close_window(&mut self, end_ns: u64) {
        let tally = &mut self.recorder.tally;
        if !self.checks.has_timestamps() {
            let slots = self.connections.all_slots().iter();
            for slot in slots.filter(|slot| slot.in_flight) {
                let age_ns = end_ns.saturating_sub(slot.intended_ns);
                tally.censored.record(age_ns);
                tally.leave_unanswered(slot.request);
            }
        }
        self.schedule.close(end_ns, tally);
        if !self.schedule.is_open_load() {
            tally.per_connection = self.connections.responses();
        }
        let bytes = self.connections.bytes();
        self.recorder.end_slice(end_ns, true, bytes);
    }

    /// Waits for events until then at most, without sleeping if that is soon.
    #[inline]
    fn wait_until(&mut self, until_ns: u64) -> Result<(), Errno> {
        let sleep_ns = until_ns.saturating_sub(now_ns());
        self.turn(if sleep_ns > SPIN_NS {
            sleep_ns - SPIN_NS / 2
        } else {
            0
        })
    }

    /// Waits once, then handles events and whatever is due.
    fn turn(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        let now = now_ns();
        self.retry(now);
        let retry_ns = self.connections.next_retry_ns().unwrap_or(u64::MAX);
        let until_ns = retry_ns.min(self.scan_ns.max(now));
        self.connections
            .wait(timeout_ns.min(until_ns.saturating_sub(now)))?;
        self.handle_events();
        self.expire(now_ns());
        Ok(())
    }

    /// Lets outstanding responses arrive, uncounted, and gives up on the rest.
    fn drain(&mut self) -> Result<(), Errno> {
        self.connections.clear_retries();
        let deadline_ns = now_ns() + DRAIN_NS_MAX.min(self.spec.timeout_answer_ns);
        while self.connections.in_flight() > 0 && now_ns() < deadline_ns {
            self.turn(WAIT_NS_MAX)?;
        }
        for connection in 0..self.connections.len() {
            if self.connections.is_busy(connection) {
                self.connections.close(connection);
            }
        }
        Ok(())
    }
}
