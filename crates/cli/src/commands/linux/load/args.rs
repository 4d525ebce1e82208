//! Arguments of `load`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use bakeoff_model::suite::slo::Slo;
use clap::Args;
use clap::builder::ArgPredicate;

use crate::values::condition::Condition;
use crate::values::feed::FeedArg;
use crate::values::{Body, Factor, Header, Rate, Reactor, Share, Time, Unit};

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// The URL, or `-` for a load spec on standard input.
    ///
    /// A load spec is JSON; events are then written as JSON Lines.
    pub(crate) url: String,
    /// Connections; a list is a ladder of steps, `1,8,64`.
    ///
    /// With `--capacity` 64 unless given.
    #[arg(
        short = 'c', long, alias = "concurrency", value_name = "LIST", default_value = "10",
        value_delimiter = ',',
        default_value_if("capacity", ArgPredicate::IsPresent, "64"),
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) connections: Vec<u32>,
    /// Threads; 0 = one per core.
    ///
    /// Never more than connections.
    #[arg(short = 't', long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Processes that make the load together.
    ///
    /// Each makes a part of it; all start a step at one instant. Then `--threads` are those of
    /// each.
    #[arg(
        long, value_name = "N", default_value_t = 1, conflicts_with_all = ["capacity", "cores"],
        value_parser = clap::value_parser!(u32).range(1..=1024)
    )]
    pub(crate) generators: u32,
    /// How long each step lasts.
    ///
    /// [default: `10s`; with `-n` as long as it takes; with `--capacity` `5s`]
    #[arg(short = 'd', long, value_name = "TIME")]
    pub(crate) duration: Option<Time>,
    /// End each step after this many requests; 0 = no bound.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 0)]
    pub(crate) requests: u64,
    /// A header, `Name: value`; may be repeated.
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<Header>,
    /// The method.
    #[arg(
        short = 'm',
        short_alias = 'X',
        long,
        alias = "request",
        default_value = "GET"
    )]
    pub(crate) method: String,
    /// The body; `@FILE` reads it from a file, text or not. `@@` starts a text with one `@`.
    #[arg(long, default_value = "")]
    pub(crate) body: Body,
    /// Variables for `${NAME}` in path, headers and body, `id=1..1000`.
    ///
    /// New for each request: `id=unique`, `id=1..`, `id=1..1000`, `id=random:1..1000`,
    /// `name,age=@people.csv`; may be repeated.
    #[arg(long, value_name = "FEED")]
    pub(crate) feed: Vec<FeedArg>,
    /// Open load: requests per second, equally spaced.
    ///
    /// Response time then runs from the intended send time, which avoids coordinated omission.
    #[arg(long, value_name = "PER_S", group = "open")]
    pub(crate) rate: Option<Rate>,
    /// Open load: a Poisson process.
    ///
    /// The distances between requests are exponential.
    #[arg(long, requires = "open")]
    pub(crate) poisson: bool,
    /// Search for the highest rate that meets this, `p99 <= 50ms`.
    ///
    /// By trials of open load: `'p99 <= 50ms and errors <= 0.1%'`; may be repeated.
    #[arg(
        long, value_name = "SLO", group = "open",
        conflicts_with_all = ["requests", "feed", "fail_if"]
    )]
    pub(crate) capacity: Vec<Slo>,
    /// With `--capacity`: trials at most.
    #[arg(
        long, value_name = "N", requires = "capacity", default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(6..)
    )]
    pub(crate) trials: u32,
    /// With `--capacity`: the precision that is enough.
    ///
    /// The search ends when the 95 % interval reaches no further from its middle.
    #[arg(
        long,
        value_name = "SHARE",
        requires = "capacity",
        default_value = "3%"
    )]
    pub(crate) within: Share,
    /// Open load: the requests of `bakeoff capture`, at their times.
    ///
    /// The URL then names the service alone, without a path. Requests that may change data are left
    /// out.
    #[arg(
        long, value_name = "DIR", group = "open",
        conflicts_with_all = [
            "method", "body", "feed", "proto", "events", "capacity", "poisson", "messages",
            "timestamp"
        ]
    )]
    pub(crate) captured: Option<PathBuf>,
    /// With `--captured`: how many times as fast.
    #[arg(
        long,
        value_name = "FACTOR",
        requires = "captured",
        default_value = "1"
    )]
    pub(crate) speed: Factor,
    /// With `--captured`: requests that may change data, too.
    #[arg(long, requires = "captured")]
    pub(crate) writes: bool,
    /// Timeout for connecting and for each response.
    #[arg(long, value_name = "TIME", default_value = "15s")]
    pub(crate) timeout: Time,
    /// Use HTTP/2 (prior knowledge; ALPN over TLS).
    #[arg(long, group = "over_http2")]
    pub(crate) http2: bool,
    /// HTTP/2 and gRPC: concurrent streams on each connection.
    #[arg(
        long, value_name = "N", requires = "over_http2",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) streams: Option<u32>,
    /// For gRPC, a description of the messages; may be repeated.
    ///
    /// A `.proto` file, or a set of descriptors. The path of the URL is that of a method,
    /// `/helloworld.Greeter/SayHello`, and `--body` its message as JSON.
    #[arg(
        long, value_name = "FILE", group = "over_http2",
        conflicts_with_all = ["pipeline", "feed", "method"]
    )]
    pub(crate) proto: Vec<PathBuf>,
    /// HTTP/1.1 pipelining: requests in flight on each connection.
    ///
    /// Each is sent without waiting for the responses before.
    #[arg(
        long, value_name = "N", conflicts_with = "http2",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) pipeline: Option<u32>,
    /// Read this many server-sent events of each response, which need not end.
    ///
    /// Over HTTP/1.1 the connection is then closed and opened anew, over HTTP/2 the stream is
    /// cancelled. A stream that ends with fewer events fails.
    #[arg(long, value_name = "N")]
    pub(crate) events: Option<NonZeroU32>,
    /// WebSocket: reconnect after this many messages; 0 = never.
    ///
    /// With `ws://` or `wss://` a request is one message; `--body` is sent before each.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) messages: u32,
    /// WebSocket: messages carry the time of sending in this unit.
    ///
    /// As digits since the Unix epoch; latency runs from there.
    #[arg(long, value_name = "UNIT")]
    pub(crate) timestamp: Option<Unit>,
    /// Accept any certificate.
    #[arg(long, conflicts_with = "cacert")]
    pub(crate) insecure: bool,
    /// Trust the certificates of this file (PEM) instead of the host's own.
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,
    /// Present the certificate of this file (PEM).
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// The key of that certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// Resume the TLS session of an earlier connection, instead of a full handshake for each.
    #[arg(long)]
    pub(crate) tls_resume: bool,
    /// Close each connection after its response.
    #[arg(long)]
    pub(crate) no_keep_alive: bool,
    /// I/O backend: io_uring or epoll.
    ///
    /// With kernel receive timestamps, or timed when a response is read, for a little less CPU.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) reactor: Reactor,
    /// Connect to this Unix socket.
    #[arg(long, value_name = "PATH")]
    pub(crate) unix_socket: Option<String>,
    /// Pin the threads to these cores, `0,2`.
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) cores: Vec<usize>,
    /// Seed of random choices.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Exit with status 3 when this holds, `p99>50ms`.
    ///
    /// `p99>50ms`, `errors>0.1%`, `rate<1000`; may be repeated.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,
    /// Print one JSON object a step.
    #[arg(long)]
    pub(crate) json: bool,
}
