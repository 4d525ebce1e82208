//! A reactor whose service and whose time are simulated: a thread's measurements must be exactly
//! what was injected, on any host and under any load.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::channel;

use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{LoadSpec, Pace, Protocol, ReactorChoice, RequestSpec, StepSpec, Target};
use rustix::io::Errno;

use super::Worker;
use super::channels::{Command, Report, WorkerChannels};
use crate::clock::simulated;
use crate::crew::Crew;
use crate::payload::Payload;
use crate::prepare::request::Requests;
use crate::prepare::scenario::Script;
use crate::shard::Shard;
use crate::shared::Stop;
use crate::tally::Tally;
use crate::transport::reactor::{Event, Reactor};
use crate::turns::gate::Gate;

pub(super) const SECOND: u64 = 1_000_000_000;
pub(super) const MILLISECOND: u64 = 1_000_000;

/// How far a look without waiting moves the clock, ns: a polling thread must not stop the time.
const LOOK_NS: u64 = 1_000;

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// Returns when the response to a request that arrives at some time (ns) is sent.
type Serve = Box<dyn FnMut(u64) -> u64>;

/// The simulated kernel, network and service.
struct Simulated {
    serve: Serve,
    /// Time to connect, ns.
    connect_ns: u64,
    /// Outstanding responses and connections: time, order, connection, and whether it is a
    /// response.
    coming: BinaryHeap<Reverse<(u64, u64, usize, bool)>>,
    ready: VecDeque<(usize, bool)>,
    order: u64,
    sent_bytes: u64,
}

impl Simulated {
    fn come(&mut self, at_ns: u64, connection: usize, response: bool) {
        self.order += 1;
        self.coming
            .push(Reverse((at_ns, self.order, connection, response)));
    }
}

fn now_ns() -> u64 {
    simulated::now_ns().unwrap_or(0)
}

impl Reactor for Simulated {
    const NAME: &'static str = "simulated";

    fn resize(&mut self, _: usize) {}

    fn open(&mut self, connection: usize) {
        self.come(now_ns() + self.connect_ns, connection, false);
    }

    fn send(&mut self, connection: usize, payload: Payload) {
        self.sent_bytes += payload.bytes().len() as u64;
        let at_ns = (self.serve)(now_ns());
        self.come(at_ns, connection, true);
    }

    fn is_sending(&self, _: usize) -> bool {
        false
    }

    fn close(&mut self, connection: usize) {
        self.coming
            .retain(|Reverse((_, _, other, _))| *other != connection);
    }

    fn wait(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        let until_ns = now_ns() + timeout_ns.max(LOOK_NS);
        let next_ns = self.coming.peek().map_or(u64::MAX, |Reverse(next)| next.0);
        simulated::set_ns(until_ns.min(next_ns).max(now_ns()));
        while let Some(&Reverse((at_ns, _, connection, response))) = self.coming.peek() {
            if at_ns > now_ns() {
                break;
            }
            self.coming.pop();
            self.ready.push_back((connection, response));
        }
        Ok(())
    }

    fn next(&mut self) -> Option<(usize, Event<'_>)> {
        let (connection, response) = self.ready.pop_front()?;
        let event = if response {
            Event::Data {
                bytes: RESPONSE,
                received_ns: now_ns(),
                ending: false,
            }
        } else {
            Event::Connected
        };
        Some((connection, event))
    }

    fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }
}

/// A spec with one step.
pub(super) fn load_spec(connections: u32, duration_ns: u64, pace: Pace) -> LoadSpec {
    LoadSpec {
        recorded: Vec::new(),
        target: Target {
            device: None,
            address: "127.0.0.1:1".to_owned(),
            host: None,
            tls: false,
            insecure: false,
            trust: None,
            unix_socket: None,
            protocol: Protocol::Http1,
            cpu_counter: None,
        },
        requests: vec![RequestSpec {
            method: "GET".to_owned(),
            path: "/".to_owned(),
            weight: 1,
            ..RequestSpec::default()
        }],
        scenario: None,
        steps: vec![StepSpec {
            connections,
            duration_ns,
            pace,
            warm_up: false,
            requests_max: 0,
            close_after: false,
            ..StepSpec::default()
        }],
        threads: 1,
        cores: Vec::new(),
        timeout_connect_ns: SECOND,
        timeout_answer_ns: 60 * SECOND,
        slice_ns: SECOND,
        seed: 1,
        check_body_every: 0,
        stepwise: false,
        reactor: ReactorChoice::Auto,
        keep_alive_off: false,
        in_flight: 1,
        grpc: None,
        part: None,
        further_targets: Vec::new(),
    }
}

/// When the simulation starts; time before it would be negative.
const BEGIN_NS: u64 = SECOND;
/// When the window opens.
pub(super) const OPEN_NS: u64 = 2 * SECOND;

/// Carries out a spec in simulated time and adds its slices up.
pub(super) fn simulate(spec: &LoadSpec, serve: impl FnMut(u64) -> u64 + 'static) -> Tally {
    simulate_connecting(spec, 0, serve)
}

/// Carries out a spec in simulated time, with this time to connect.
pub(super) fn simulate_connecting(
    spec: &LoadSpec,
    connect_ns: u64,
    serve: impl FnMut(u64) -> u64 + 'static,
) -> Tally {
    let reactor = Simulated {
        serve: Box::new(serve),
        connect_ns,
        coming: BinaryHeap::new(),
        ready: VecDeque::new(),
        order: 0,
        sent_bytes: 0,
    };
    carry_out(spec, reactor)
}

/// Carries out a spec in simulated time with a given reactor.
pub(super) fn carry_out(spec: &LoadSpec, reactor: impl Reactor) -> Tally {
    simulated::set_ns(BEGIN_NS);
    let (command, commands) = channel();
    let (reports, heard) = channel();
    let (_, spares) = channel();
    let channels = WorkerChannels {
        side: 0,
        reports: reports.clone(),
        spares,
        allowance: Arc::default(),
        stop: Stop::default(),
    };
    let part = spec.own_part();
    channels.allowance.set(&spec.steps[0], part);
    let shard = Shard {
        thread: 0,
        threads: 1,
        part,
    };
    let requests = Requests::prepare(spec).unwrap();
    let script = Script::prepare(spec, 0, Arc::default()).unwrap();
    command.send(Command::Prepare(0)).unwrap();
    command.send(Command::Open(OPEN_NS)).unwrap();
    drop(command);
    let worker = Worker::new(spec, shard, channels, reactor, requests, script, None);
    let mut crew = Crew {
        spec,
        thread: 0,
        commands,
        reports,
        gate: Arc::new(Gate::new(1, Stop::default())),
        counters: Vec::new(),
        sides: vec![worker],
    };
    crew.run();
    drop(crew);
    let mut total = Tally::boxed(super::parts_of(spec));
    for (_, report) in heard.try_iter() {
        if let Report::Slice(tally) = report {
            total.merge(&tally);
        }
    }
    *total
}

/// The recording of a simulated service: the time of each response.
pub(super) type Books = Rc<RefCell<Histogram>>;

/// Returns an empty recording.
pub(super) fn books() -> Books {
    Rc::new(RefCell::new(Histogram::new()))
}
