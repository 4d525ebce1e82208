//! One thread of the loader: its sockets, its connections, its counts. It shares next to nothing
//! with the other threads; the conductor tells it what to do next and takes its tallies over.

mod events;
mod failures;
mod messages;
mod outcome;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod truth;
mod users;
mod window;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use bakeoff_model::load::{ErrorClass, LoadSpec, Protocol, TimeUnit};
use rustix::io::Errno;

use crate::clock::now_ns;
use crate::connection::{Connection, State};
use crate::http1::LastHead;
use crate::link::{Link, Stage, Told, width};
use crate::random::Random;
use crate::reactor::Reactor;
use crate::request::Requests;
use crate::scenario::Script;
use crate::shared::{Allowance, Stop};
use crate::tally::Tally;
use crate::tls::Settings;
use users::Users;
use window::Window;

/// Connections that are being made at the same time before a window; a burst of thousands would
/// overflow the service's queue and measure the retransmission timer.
const CONNECTING_MAX: usize = 64;

/// Failed attempts after which a connection is given up until the window opens.
const ATTEMPTS_MAX: u32 = 3;

/// How many times the connect timeout the connections of a step may take together.
const PREPARE_TIMEOUTS_MAX: u64 = 4;

/// How long no further connection may come before a step begins with those that it has, ns: two
/// repetitions of a lost request to connect. A service whose threads all wait for requests on
/// connections that have none takes no further ones before the window opens.
const PREPARE_STALL_NS: u64 = 4_000_000_000;

/// How long answers may still come after a step, so that the next one begins with free
/// connections, ns.
const DRAIN_NS_MAX: u64 = 1_000_000_000;

/// How often a waiting thread looks at its connections.
const IDLE_LOOK: Duration = Duration::from_millis(2);

/// Distances between two looks for timeouts, ns.
const SCAN_NS_MIN: u64 = 1_000_000;
const SCAN_NS_MAX: u64 = 50_000_000;

/// Longest time without a look at the clock, ns.
const WAIT_NS_MAX: u64 = 100_000_000;

/// Requests that are counted apart: all, when there are several.
pub(crate) fn parts_of(spec: &LoadSpec) -> usize {
    match spec.requests.len() {
        1 => 0,
        several => several,
    }
}

/// What the conductor asks of a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Command {
    /// Open the connections of this step.
    Prepare(usize),
    /// Open the window of the prepared step at this instant, monotonic ns.
    Open(u64),
}

/// What a thread tells the conductor.
#[derive(Debug)]
pub(crate) enum Report {
    /// The connections of the step are open, as many as could be.
    Ready(Ready),
    /// A slice ended.
    Slice(Box<Tally>),
    /// The step ended and nothing of it is in flight.
    Drained,
    /// The thread cannot go on.
    Failed(Errno),
}

/// The connections with which a thread begins a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ready {
    /// How many are open.
    pub(crate) opened: u32,
    /// Requests that they may have in flight together.
    pub(crate) in_flight_max: u32,
    /// The fewest streams that one of them may have; `None` without streams.
    pub(crate) streams: Option<u32>,
}

/// Which of the threads this is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Its index.
    pub(crate) thread: usize,
    /// How many there are.
    pub(crate) threads: usize,
}

impl Place {
    /// How many of all connections belong to this thread: every `threads`-th one.
    fn share_of(self, connections: usize) -> usize {
        (connections + self.threads - 1 - self.thread) / self.threads
    }
}

/// The ends of the channels to the conductor, and what it shares with all threads.
#[derive(Debug)]
pub(crate) struct Lines {
    /// What to do next.
    pub(crate) commands: Receiver<Command>,
    /// What came of it, with the index of the thread.
    pub(crate) reports: Sender<(usize, Report)>,
    /// Empty tallies.
    pub(crate) spares: Receiver<Box<Tally>>,
    /// What the threads may still begin in this step of closed load.
    pub(crate) allowance: Arc<Allowance>,
    /// Whether the run has to end.
    pub(crate) stop: Stop,
}

/// One thread of the loader.
#[derive(Debug)]
pub(crate) struct Worker<'a, R> {
    spec: &'a LoadSpec,
    place: Place,
    lines: Lines,
    reactor: R,
    requests: Requests,
    /// TLS, if the order wants it.
    tls: Option<Settings>,
    /// Decrypted bytes of the event in hand.
    plain: Vec<u8>,
    /// Sockets and their protocols.
    links: Vec<Link>,
    /// Requests in flight, `width` for each link in turn.
    connections: Vec<Connection>,
    /// Connections that share a link.
    width: usize,
    /// The unit of the time stamps in messages of WebSocket.
    stamp: Option<TimeUnit>,
    /// The head that any connection read last.
    last_head: LastHead,
    /// What the protocol of the event in hand has told.
    told: Vec<Told>,
    /// The link whose event is in hand: what it has to send goes out after the event.
    in_hand: Option<usize>,
    /// Connections whose answer came: they get their next request when all events are handled.
    answered: Vec<usize>,
    /// Established links.
    open: u32,
    /// Connections with a request in flight.
    busy: u32,
    /// Attempts to connect that are due at some instant, earliest first.
    retries: BinaryHeap<Reverse<(u64, usize)>>,
    /// Open load: connections without a request, longest idle first.
    free: VecDeque<usize>,
    /// Open load: instants of requests that wait for a connection.
    waiting: VecDeque<u64>,
    /// The users of a scenario, one for each connection.
    users: Option<Users>,
    tally: Box<Tally>,
    window: Option<Window>,
    /// When timeouts are looked for next, monotonic ns.
    scan_ns: u64,
    /// Answers until the next sampled one.
    until_sample: u64,
    random: Random,
}

impl<'a, R: Reactor> Worker<'a, R> {
    /// A thread without connections.
    pub(crate) fn new(
        spec: &'a LoadSpec,
        place: Place,
        lines: Lines,
        reactor: R,
        requests: Requests,
        script: Option<Script>,
        tls: Option<Settings>,
    ) -> Self {
        let seed = spec.seed ^ (place.thread as u64).wrapping_mul(0xD134_2543_DE82_EF95);
        let mut worker = Self {
            spec,
            place,
            lines,
            reactor,
            requests,
            tls,
            plain: Vec::new(),
            links: Vec::new(),
            connections: Vec::new(),
            width: width(spec),
            stamp: match spec.target.protocol {
                Protocol::Websocket(websocket) => websocket.timestamp,
                Protocol::Http1 | Protocol::Http2 => None,
            },
            last_head: LastHead::default(),
            told: Vec::new(),
            in_hand: None,
            answered: Vec::new(),
            open: 0,
            busy: 0,
            retries: BinaryHeap::new(),
            free: VecDeque::new(),
            waiting: VecDeque::new(),
            users: script.map(Users::new),
            tally: Tally::boxed(parts_of(spec)),
            window: None,
            scan_ns: 0,
            until_sample: 0,
            random: Random::new(seed),
        };
        worker.choose_sample();
        worker
    }

    /// Does what the conductor asks until it asks no more.
    pub(crate) fn run(&mut self) {
        if let Err(errno) = self.obey() {
            // A conductor that is gone needs no report.
            let _ = self
                .lines
                .reports
                .send((self.place.thread, Report::Failed(errno)));
        }
    }

    fn obey(&mut self) -> Result<(), Errno> {
        let mut step = 0;
        loop {
            match self.lines.commands.recv_timeout(IDLE_LOOK) {
                Ok(Command::Prepare(prepared)) => {
                    step = prepared;
                    self.prepare(step)?;
                    let open = self.links.iter().filter(|link| link.is_up());
                    self.report(Report::Ready(Ready {
                        opened: self.open,
                        in_flight_max: self.in_flight_max(),
                        streams: open.filter_map(|link| link.wire.streams()).min(),
                    }));
                }
                Ok(Command::Open(start_ns)) => {
                    self.run_window(step, start_ns)?;
                    self.drain()?;
                    self.report(Report::Drained);
                }
                // A service may close idle connections while the conductor waits for its caller.
                Err(RecvTimeoutError::Timeout) => self.turn(0)?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn report(&self, report: Report) {
        // A conductor that is gone is noticed at the next command.
        let _ = self.lines.reports.send((self.place.thread, report));
    }

    /// Opens or closes connections until there are as many as the step wants.
    fn prepare(&mut self, step: usize) -> Result<(), Errno> {
        let connections = self.spec.steps[step].connections as usize;
        let count = self.place.share_of(connections);
        for slot in count..self.links.len() {
            self.drop_socket(slot);
        }
        self.links.truncate(count);
        self.connections.truncate(count * self.width);
        self.reactor.resize(count);
        self.links.resize_with(count, || {
            Link::new(self.spec, &self.requests, self.random.bits())
        });
        for index in self.connections.len()..count * self.width {
            let (slot, place) = self.link_of(index);
            let offset = slot * self.place.threads + self.place.thread;
            self.connections
                .push(Connection::new(offset * self.width + place));
        }
        self.reserve(step, count * self.width);
        for link in &mut self.links {
            link.failures = 0;
        }
        // Each attempt ends after the timeout; this bounds waiting in turn as well.
        let bound_ns = self
            .spec
            .timeout_connect_ns
            .saturating_mul(PREPARE_TIMEOUTS_MAX);
        let deadline_ns = now_ns().saturating_add(bound_ns);
        self.retries.clear();
        let down = |slot: &usize| self.links[*slot].stage == Stage::Down;
        let mut fresh: VecDeque<usize> = (0..count).filter(down).collect();
        let (mut opened, mut stall_ns) = (self.open, now_ns() + PREPARE_STALL_NS);
        while now_ns() < deadline_ns.min(stall_ns) && !self.lines.stop.is_stopped() {
            if self.open > opened {
                (opened, stall_ns) = (self.open, now_ns() + PREPARE_STALL_NS);
            }
            let mut pending = self.links.iter().filter(|link| link.is_opening()).count();
            while pending < CONNECTING_MAX {
                let Some(slot) = fresh.pop_front() else { break };
                self.connect(slot, now_ns());
                pending += 1;
            }
            if pending == 0 && self.retries.is_empty() {
                break;
            }
            self.turn(WAIT_NS_MAX)?;
        }
        Ok(())
    }

    /// Allocates what the window will need.
    fn reserve(&mut self, step: usize, connections: usize) {
        self.free.clear();
        self.free.reserve(connections);
        self.answered.reserve(connections);
        self.waiting.clear();
        if Window::is_open_load(self.spec, step) {
            self.waiting.reserve(window::WAITING_RESERVED);
        }
        self.retries.reserve(connections);
    }

    /// Waits once, handles what happened and what became due.
    fn turn(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        let now = now_ns();
        self.retry(now);
        let retry_ns = self.retries.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        let until_ns = retry_ns.min(self.scan_ns.max(now));
        self.reactor
            .wait(timeout_ns.min(until_ns.saturating_sub(now)))?;
        self.take_events();
        self.expire(now_ns());
        Ok(())
    }

    /// Fails what has waited longer than it may. Looked at now and then: a timeout may be noticed
    /// late by a fiftieth of itself.
    fn expire(&mut self, now: u64) {
        if now < self.scan_ns {
            return;
        }
        let (connect_ns, answer_ns) = (self.spec.timeout_connect_ns, self.spec.timeout_answer_ns);
        let every_ns = connect_ns.min(answer_ns) / 50;
        self.scan_ns = now + every_ns.clamp(SCAN_NS_MIN, SCAN_NS_MAX);
        let late = |age_ns: u64| move || format!("nothing more after {} ms", age_ns / 1_000_000);
        for slot in 0..self.links.len() {
            let sending = self.reactor.is_sending(slot);
            let link = &mut self.links[slot];
            link.stalled = sending && link.sending;
            link.sending = sending;
            // What was held back while the kernel took nothing more.
            if !sending && link.is_up() {
                self.flush(slot);
            }
            let link = &self.links[slot];
            let age_ns = now.saturating_sub(link.since_ns);
            if self.links[slot].is_opening() && age_ns > connect_ns {
                self.fail_link(slot, ErrorClass::ConnectTimeout, late(age_ns));
            }
        }
        for index in 0..self.connections.len() {
            let connection = &self.connections[index];
            let age_ns = now.saturating_sub(connection.since_ns);
            if connection.state == State::Busy && age_ns > answer_ns {
                self.give_up(index, late(age_ns));
            }
        }
    }

    /// Fails a request whose answer did not come in time.
    fn give_up(&mut self, index: usize, example: impl Fn() -> String) {
        let (slot, place) = self.link_of(index);
        let link = &mut self.links[slot];
        let class = if link.wire.received(place).begun {
            ErrorClass::BodyTimeout
        } else {
            ErrorClass::HeaderTimeout
        };
        // A link that neither takes nor gives anything takes no cancellation either.
        let dead = link.stalled && link.wire.is_silent(place);
        if dead || !link.wire.cancel(place) {
            self.fail_link(slot, class, example);
        } else {
            self.fail_request(index, class, example);
            self.flush(slot);
            self.let_go(slot);
        }
    }

    /// Lets the answers that are still under way arrive, uncounted, and gives up on the rest.
    fn drain(&mut self) -> Result<(), Errno> {
        self.retries.clear();
        let deadline_ns = now_ns() + DRAIN_NS_MAX.min(self.spec.timeout_answer_ns);
        while self.busy > 0 && now_ns() < deadline_ns {
            self.turn(WAIT_NS_MAX)?;
        }
        for index in 0..self.connections.len() {
            if self.connections[index].state == State::Busy {
                let (slot, _) = self.link_of(index);
                self.drop_socket(slot);
            }
        }
        Ok(())
    }

    /// Begins to connect a slot that is down.
    fn connect(&mut self, slot: usize, now: u64) {
        let link = &mut self.links[slot];
        link.stage = Stage::Connecting;
        link.since_ns = now;
        self.reactor.open(slot);
    }

    /// Goes on with the connections whose pause is over.
    fn retry(&mut self, now: u64) {
        while let Some(&Reverse((at, index))) = self.retries.peek() {
            if at > now {
                return;
            }
            self.retries.pop();
            let (slot, _) = self.link_of(index);
            match self.links.get(slot).map(|link| link.stage) {
                Some(Stage::Down) => self.connect(slot, now),
                Some(Stage::Open) => self.pass_on(index, now),
                _ => {}
            }
        }
    }

    /// The link of a connection, and its place on it.
    #[inline]
    fn link_of(&self, index: usize) -> (usize, usize) {
        // The usual case without a division, which would cost more than all else.
        match self.width {
            1 => (index, 0),
            width => (index / width, index % width),
        }
    }

    /// The connections of a link.
    fn connections_of(&self, slot: usize) -> std::ops::Range<usize> {
        slot * self.width..(slot + 1) * self.width
    }

    /// Closes the socket of a slot, whatever it was doing.
    fn drop_socket(&mut self, slot: usize) {
        if self.links[slot].stage == Stage::Down {
            return;
        }
        self.open -= u32::from(self.links[slot].is_up());
        for index in self.connections_of(slot) {
            let connection = &mut self.connections[index];
            self.busy -= u32::from(connection.state == State::Busy);
            connection.state = State::Idle;
            connection.came_ns = 0;
        }
        let link = &mut self.links[slot];
        link.stage = Stage::Down;
        link.session = None;
        self.reactor.close(slot);
    }

    /// Draws how many answers lie before the next sampled one: on average as many as the order
    /// says, but at random, so that no request of a regular mix is always left out.
    fn choose_sample(&mut self) {
        let every = u64::from(self.spec.check_body_every);
        self.until_sample = match every {
            0 => u64::MAX,
            every => 1 + self.random.bits() % (2 * every - 1),
        };
    }

    /// Whether the next answer is a sampled one.
    fn next_is_sampled(&mut self) -> bool {
        self.until_sample -= 1;
        let sampled = self.until_sample == 0;
        if sampled {
            self.choose_sample();
        }
        sampled
    }
}
