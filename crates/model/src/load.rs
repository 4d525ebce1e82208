//! Input and output of the load generator: a [`LoadSpec`] as JSON on standard
//! input, [`LoadEvent`]s as JSON Lines on standard output.
//!
//! All times are nanoseconds of the host's monotonic clock (`CLOCK_MONOTONIC`), so that the
//! load generator's slices and the meter's samples of one host share one axis.

mod command;
mod connections;
mod errors;
mod event;
mod fleet;
pub mod histogram;
mod part;
pub mod step;
pub mod tls;
pub mod transport;
mod turns;

use std::collections::BTreeMap;
use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::request::Body;
use crate::request::scenario::{Connect, Scenario};
use histogram::Histogram;
use tls::Tls;

pub use crate::request::RequestSpec;
pub use command::StepCommand;
pub use connections::Connections;
pub use errors::{ErrorClass, ErrorCount, MESSAGES_MAX};
pub use event::LoadEvent;
pub use fleet::{ClockOffset, FleetReceipt, FleetRecord, LostGenerator, PartReceipt};
pub use part::LoadPart;
pub use turns::{CpuCounter, TurnCount, Turns};

/// One order for the load generator: a target, what to ask it, and the steps to go through.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadSpec {
    /// Where to send the requests.
    pub target: Target,
    /// Further targets, which get the same requests. Their connections all stay open, and each step
    /// loads one target, or all in turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_targets: Vec<Target>,
    /// The requests; each connection goes through them in turn, starting at its own offset.
    pub requests: Vec<RequestSpec>,
    /// Makes the requests a scenario: each connection is a user that goes through them in order, or
    /// has a user for each request in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Scenario>,
    /// When which of the requests was sent once, in order, for [`Pace::Recorded`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorded: Vec<RecordedRequest>,
    /// The steps, in order.
    pub steps: Vec<StepSpec>,
    /// Threads; 0 = one per usable core. There are never more than connections.
    #[serde(default)]
    pub threads: usize,
    /// Pin thread i to the i-th of these cores; empty = not pinned.
    #[serde(default)]
    pub cores: Vec<usize>,
    /// Time allowed for a connection to be established, ns.
    pub timeout_connect_ns: u64,
    /// Time allowed from the send to the end of the response, ns.
    pub timeout_answer_ns: u64,
    /// Length of a recorded slice of a step, ns; a step shorter than it is one slice.
    pub slice_ns: u64,
    /// Seed of every random choice.
    #[serde(default)]
    pub seed: u64,
    /// Check the whole body of one response in this many (1 = every one, 0 = none).
    #[serde(default)]
    pub check_body_every: u32,
    /// Wait for a line on standard input after each [`LoadEvent::Ready`] before the window opens,
    /// and after each [`LoadEvent::StepDone`] before the connections of the next step are opened.
    /// The line `go` has it go on; after a step, the line `again` has that step made once more. The
    /// line `go at NS` has the window open at that instant of the wall clock, ns since the Unix
    /// epoch, or at once if it has passed; then a [`LoadEvent::Began`] follows. The line
    /// `leave N` is taken at any time: target N, from 0, gets no further requests. Any other line
    /// ends the load with [`LoadEvent::Failed`], the end of standard input ends it at once.
    #[serde(default)]
    pub stepwise: bool,
    /// Which kernel interface carries the traffic.
    #[serde(default)]
    pub reactor: ReactorChoice,
    /// Close every connection after its response.
    #[serde(default)]
    pub keep_alive_off: bool,
    /// Requests in flight at the same time on each connection: concurrent streams of HTTP/2,
    /// pipelined requests of HTTP/1.1.
    #[serde(default = "crate::request::one")]
    pub in_flight: u32,
    /// The requests are calls of gRPC over HTTP/2: a set of descriptors
    /// (`google.protobuf.FileDescriptorSet`), by which their bodies, messages as JSON, are encoded
    /// and responses are decoded; absent = plain HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grpc: Option<Body>,
    /// Make only this part of it, because other load generators make the rest; absent = all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<LoadPart>,
}

impl LoadSpec {
    /// Whether it is one request without a before and after. In a scenario that is a request whose
    /// variables differ from one time to the next, and nothing else.
    #[must_use]
    pub fn is_single_request(&self) -> bool {
        let alone = |request: &RequestSpec| request.pause.is_none() && request.extract.is_empty();
        self.requests.len() == 1 && self.requests.iter().all(alone)
    }

    /// Whether each user of a scenario opens its connection itself.
    #[must_use]
    pub fn connects_on_arrival(&self) -> bool {
        let scenario = self.scenario.as_ref();
        scenario.is_some_and(|scenario| scenario.connect == Connect::OnArrival)
    }

    /// Whether users wait between a response and their next request.
    #[must_use]
    pub fn has_think_time(&self) -> bool {
        let waits = |request: &RequestSpec| request.pause.is_some_and(|pause| pause.max_ns > 0);
        self.scenario.is_some() && self.requests.iter().any(waits)
    }
}

/// Where the load generator sends its requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Address to connect to, `host:port`, or `[v6]:port`.
    pub address: String,
    /// The network device to which connections are bound; nothing is sent by another route. A
    /// service that ends may leave its address to a route out of the host. Absent = not bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Value of the `Host` header [default: the address].
    #[serde(default)]
    pub host: Option<String>,
    /// Speak TLS.
    #[serde(default)]
    pub tls: bool,
    /// Accept any certificate.
    #[serde(default)]
    pub insecure: bool,
    /// The certificates that TLS trusts and presents; absent = those of the host, and none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Tls>,
    /// Connect to this Unix socket instead of the address.
    #[serde(default)]
    pub unix_socket: Option<String>,
    /// The protocol.
    #[serde(default)]
    pub protocol: Protocol,
    /// Where its CPU time can be read at the edges of turns; absent = nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_counter: Option<CpuCounter>,
}

/// The protocol spoken on a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2, by prior knowledge or ALPN.
    Http2,
    /// WebSocket: the first request is the upgrade's path and headers; then each connection waits
    /// for one message after the other, and a request with a body sends it as a text before.
    Websocket(WebSocket),
}

/// How a connection of WebSocket goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebSocket {
    /// Messages after which a connection is closed and reopened; 0 = no bound.
    pub messages: u32,
    /// Each message begins with the instant of its sending, decimal digits of this unit since the
    /// Unix epoch, after anything that is not a digit: its service time runs from there. Both sides
    /// must share a clock.
    pub timestamp: Option<TimeUnit>,
}

/// The unit of a time stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TimeUnit {
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
}

impl TimeUnit {
    /// Nanoseconds of one.
    #[must_use]
    pub fn nanoseconds(self) -> u64 {
        match self {
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1_000,
            Self::Nanoseconds => 1,
        }
    }
}

/// Which kernel interface carries the traffic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReactorChoice {
    /// One with kernel receive timestamps: `uring-rx-timestamps` if the kernel allows it,
    /// otherwise `epoll-rx-timestamps`.
    #[default]
    Auto,
    /// Edge-triggered epoll with kernel receive timestamps.
    EpollRxTimestamps,
    /// Edge-triggered epoll; a response is timed when it is read.
    Epoll,
    /// io_uring with kernel receive timestamps. An error if the kernel does not allow it.
    UringRxTimestamps,
    /// io_uring; a response is timed when it is found. An error if the kernel does not allow it.
    Uring,
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

/// One step of the load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// Connections held open.
    pub connections: u32,
    /// How long the window is open, ns.
    pub duration_ns: u64,
    /// How sends are paced.
    #[serde(default)]
    pub pace: Pace,
    /// Recorded, marked as warm-up and left out of comparisons.
    #[serde(default)]
    pub warm_up: bool,
    /// End after this many requests even when the window is still open; 0 = no bound.
    #[serde(default)]
    pub requests_max: u64,
    /// Close all connections at the end of the step, before [`LoadEvent::StepDone`]; otherwise
    /// the next step takes them over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub close_after: bool,
    /// How long the requests of open load are awaited that wait or are in flight when the window
    /// would end, ns: no further one is due, and the step ends when all have their responses. 0 =
    /// not at all. They are then part of the step, which otherwise has none but their ages.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub awaited_ns: u64,
    /// Which target is loaded if the targets take no turns: 0 is [`LoadSpec::target`], others
    /// are those of [`LoadSpec::further_targets`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub side: u32,
    /// All targets are loaded in turns; closed load only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Turns>,
}

/// When one of the requests was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordedRequest {
    /// The time from the start of the recording, ns.
    pub at_ns: u64,
    /// The index of the request in [`LoadSpec::requests`].
    pub request: u32,
}

/// When the next request is due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pace {
    /// As soon as the connection is free again.
    #[default]
    Closed,
    /// At equal distances.
    Constant {
        /// Requests per second over all connections.
        rate_per_s: f64,
    },
    /// With exponential distances.
    Poisson {
        /// Mean requests per second over all connections.
        rate_per_s: f64,
    },
    /// At a rate that changes linearly over the step.
    Ramp {
        /// Requests per second at the start of the step.
        from_per_s: f64,
        /// Requests per second at the end of the step.
        to_per_s: f64,
    },
    /// At the times of [`LoadSpec::recorded`], each with its request.
    Recorded {
        /// How many times as fast.
        speed: f64,
    },
    /// As the users of a scenario arrive and go on; the step ends when the last one is done.
    /// Without this pace all users are there at once and start again until the step ends.
    Users {
        /// Time within which the users arrive, at equal distances; 0 = all at once.
        arrive_ns: u64,
        /// How often each user goes through the scenario; 0 = until the step ends.
        times: u64,
    },
}

/// CPU time of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuTime {
    /// In user space, ns.
    pub user_ns: u64,
    /// In the kernel, ns.
    pub system_ns: u64,
}

impl CpuTime {
    /// User and system time together, ns.
    #[must_use]
    pub fn total_ns(self) -> u64 {
        self.user_ns + self.system_ns
    }
}

impl AddAssign for CpuTime {
    fn add_assign(&mut self, other: Self) {
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
    }
}

/// The counts of the load generator in one slice of a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadInterval {
    /// Index of the step in [`LoadSpec::steps`].
    pub step: usize,
    /// Index of the slice in its step.
    pub slice: u32,
    /// When the slice started, monotonic ns.
    pub start_ns: u64,
    /// When the slice ended, monotonic ns.
    pub end_ns: u64,
    /// Successful requests.
    pub requests: u64,
    /// Failed requests by class; classes without one are absent.
    pub errors: BTreeMap<ErrorClass, ErrorCount>,
    /// From the real send to the end of the response, successful requests.
    pub service_time: Histogram,
    /// From the real send to the first byte of the response's body, successful requests; absent
    /// if every response came whole, so that it is the service time, and in turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<Histogram>,
    /// From the intended send, successful requests; open load and scenarios only, and in closed
    /// load not in scenarios of a single request without a pause, which are closed load like any
    /// other. In a scenario it is the end of the user's pause: waiting for a new connection is part
    /// of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time: Option<Histogram>,
    /// How late the load generator sent each request: real send minus intended send, or in open
    /// load minus the response that freed a connection, if that came later. Present if
    /// `response_time` is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_lag: Option<Histogram>,
    /// Requests that should have been sent by the schedule; open load only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<u64>,
    /// Ages of requests without a response at the end of the step ("at least this long"), ns.
    /// Timed-out requests are here too.
    pub censored: Histogram,
    /// The connections.
    pub connections: Connections,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Successful responses that lead elsewhere (status 3xx).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redirects: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// From a response to the next request in its place, summed over the requests that have one
    /// before them, ns: the load generator's share of a closed loop. Closed load over connections
    /// that are kept only; not in scenarios with pauses, and not of messages that carry their own
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turnaround_ns: Option<u64>,
    /// Time in which connections were being opened again, or by users that arrived, handshakes
    /// included, summed over those that came to be open in the slice, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connecting_ns: Option<u64>,
    /// The load generator's own CPU time in the slice.
    pub generator_cpu: CpuTime,
    /// Load generator threads with connections. Their utilisation is `generator_cpu` over wall time
    /// times this number.
    pub generator_threads: usize,
    /// Counts of each request, if the order has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_request: Vec<RequestInterval>,
    /// Requests that were sent and have no complete response, by name: failed without one in the
    /// slice, or in flight when the step ended. Names without any are absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unanswered: BTreeMap<String, u64>,
    /// Users that came to an end; scenarios only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<UserCount>,
    /// Requests of the slowest and the fastest connection, a measure of fairness; closed load,
    /// last slice of a step only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_connection: Option<MinMax>,
    /// Load generators that should have had a part in it and were lost before; a fleet only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostGenerator>,
    /// Which target it is about, as in [`StepSpec::side`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub side: u32,
    /// The turns of the target in this slice: only in them it was loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<TurnCount>,
}

/// Users of a scenario that came to an end in one slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserCount {
    /// Users that went through the whole scenario.
    pub finished: u64,
    /// Users that left the rest of it out after a failure.
    pub gave_up: u64,
}

/// Counts of one request in a slice of a step, if the order has several requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestInterval {
    /// Name of the request, [`RequestSpec::label`].
    pub name: String,
    /// How often the request succeeded.
    pub requests: u64,
    /// How often the request failed.
    pub failures: u64,
    /// Times of the successful requests: response times if there are any, else service times.
    pub times: Histogram,
    /// The times of the failed ones, as in `times`; absent if none failed, and if they are
    /// not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_times: Option<Histogram>,
}

/// A smallest and a largest count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MinMax {
    /// The smallest.
    pub min: u64,
    /// The largest.
    pub max: u64,
}
