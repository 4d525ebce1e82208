//! What the user can type: names, shapes and the help of every command.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use bakeoff_model::conditions::BackendName;
use bakeoff_model::delay::Delay;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::commands::duel::side::Side;
use crate::commands::load::condition::Condition;
use crate::commands::load::feed::FeedArg;
use crate::exit;
use crate::formats;
use crate::values::{
    Body, Engine, Header, Positive, Rate, Reactor, RequestPath, RuntimeKind, Size, Time, Unit,
    Variable, WarmUp,
};

/// Benchmarks web frameworks as services under real limits, and says how sure it is.
#[derive(Debug, Parser)]
#[command(name = "bakeoff", version, about, max_term_width = 100, after_help = exit::HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure contenders: build, start under limits, check, load, record, compare, report.
    Run(RunArgs),
    /// Measure services of your own against each other, without a suite.
    Duel(Box<DuelArgs>),
    /// Check how contenders behave, without load.
    Verify(VerifyArgs),
    /// Load one URL and print rates and times.
    Load(Box<LoadArgs>),
    /// Show what `run` would do, in which order, where, and for how long.
    Plan(PlanArgs),
    /// List contenders, benchmarks, profiles, rounds, backends and check groups of a suite.
    List(ListArgs),
    /// Build contenders and print their receipts.
    Build(BuildArgs),
    /// Render the report of a results folder again.
    Report(ReportArgs),
    /// Print the ranked table of a results folder.
    Rank(ReportArgs),
    /// Compare the cases that two results folders have in common.
    Compare(CompareArgs),
    /// Show what this machine can and cannot do for a fair measurement.
    Doctor(DoctorArgs),
    /// Record the exchanges of contenders with the real backend for the replay backend.
    Record(RecordArgs),
    /// Print the JSON Schema of a file format, or write all of them into a folder.
    Schema(SchemaArgs),
    /// Print the completions of a shell.
    Completions(CompletionsArgs),
    /// Print the man page, or write that of every command into a folder.
    Man(ManArgs),
    /// Send every request the same response, at once (started by `doctor --load` and `run`).
    #[command(hide = true)]
    NullServer(NullServerArgs),
    /// Serve recorded responses from memory (started by `run`; also useful by hand).
    #[command(hide = true)]
    Replay(ReplayArgs),
    /// Enter the given cgroups and become another program (started by the process runtime).
    #[command(hide = true, disable_help_flag = true)]
    Shim {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

/// Reads a backend.
fn backend() -> impl TypedValueParser<Value = BackendName> {
    let names = BackendName::ALL.iter().map(|backend| backend.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// Which contenders, on what.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Folder of the suite.
    pub(crate) suite: PathBuf,
    /// Only contenders that match this glob; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) contender: Vec<String>,
    /// Where contenders run.
    #[arg(long, value_enum, default_value_t = RuntimeKind::Process)]
    pub(crate) runtime: RuntimeKind,
    /// The backend; the suite's default one when absent.
    #[arg(long, value_name = "NAME", value_parser = backend())]
    pub(crate) backend: Option<BackendName>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// How much to measure, under which limits.
    #[arg(long, default_value = "quick")]
    pub(crate) profile: String,
    /// Only benchmarks that match this glob; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) benchmark: Vec<String>,
    /// Repetitions instead of the profile's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Seed of the order of runs; chosen and recorded when absent.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Length of a recorded slice instead of the profile's: `100ms`, `1h` for one slice a step.
    #[arg(long, value_name = "TIME")]
    pub(crate) slice: Option<Time>,
    /// Results folder; `results/SUITE-TIME` when absent.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Run this round of the suite; `all` runs the qualification rounds, then the others with the
    /// winners.
    #[arg(long, value_name = "NAME", conflicts_with = "contender")]
    pub(crate) round: Option<String>,
    /// Finish the interrupted session of this results folder, or of all its rounds.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["out", "seed", "runs", "benchmark", "contender", "slice", "round"]
    )]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Examples below the help of `duel`.
const DUEL_HELP: &str = "\
Services are started one after the other, so all listen on the same port, which they find in
PORT. Each run of one is followed by a run of the others, in random order. Before that, each is
asked once: they must answer alike.

Examples:
  bakeoff duel 'go=./server' 'node=node server.js' --get /hello
  bakeoff duel 'old=image:shop:1.4' 'new=image:shop:1.5' --get /items --cpus 2 --memory 1GiB
  bakeoff duel 'a=url:http://10.0.0.7' 'b=url:http://10.0.0.8' --get /items --connections 16
  bakeoff duel 'v1=java -jar v1.jar' 'v2=java -jar v2.jar' --get /items --env DB=off --runs 10";

#[derive(Debug, Args)]
#[command(after_help = DUEL_HELP)]
pub(crate) struct DuelArgs {
    /// `NAME=COMMAND`, `NAME=image:IMAGE[:TAG]` or `NAME=url:URL`, at least two and all of one
    /// kind. Commands are split into words as a shell does, and start in this folder.
    #[arg(required = true, num_args = 2.., value_name = "NAME=SERVICE")]
    pub(crate) sides: Vec<Side>,
    /// Path and query that all are asked for.
    #[arg(long, visible_alias = "path", value_name = "PATH")]
    pub(crate) get: RequestPath,
    /// The method.
    #[arg(short = 'm', long, default_value = "GET")]
    pub(crate) method: String,
    /// A header, `Name: value`; may be repeated.
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<Header>,
    /// The body; `@FILE` reads it from a text file.
    #[arg(long, default_value = "")]
    pub(crate) body: Body,
    /// The port on which all of them listen.
    #[arg(long, default_value_t = 8080, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
    /// A path that is answered with 200 or 404 as soon as a service is ready; that of `--get`
    /// when absent, or `/` for other methods.
    #[arg(long, value_name = "PATH")]
    pub(crate) ready: Option<RequestPath>,
    /// A variable for the environment of all; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<Variable>,
    /// CPU quota of each in cores; 1 when absent.
    #[arg(long, value_name = "CORES")]
    pub(crate) cpus: Option<Positive>,
    /// Memory limit of each; 512MiB when absent.
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Size>,
    /// Connections; each sends its next request after the response to the last one.
    #[arg(
        short = 'c', long, value_name = "N", default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) connections: u32,
    /// How long each run is measured.
    #[arg(short = 'd', long, value_name = "TIME", default_value = "10s")]
    pub(crate) duration: Time,
    /// How long each run is loaded before that; `none` for not at all.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub(crate) warm_up: WarmUp,
    /// Repetitions of each.
    #[arg(
        long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) runs: u32,
    /// Seed of the order of runs; chosen and recorded when absent.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Measure them even if they answer differently.
    #[arg(long)]
    pub(crate) differ: bool,
    /// Write the suite that is made of this into a folder to keep, for `bakeoff run`.
    #[arg(long, value_name = "SUITE")]
    pub(crate) save: Option<PathBuf>,
    /// Results folder; `results/duel-TIME` when absent.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print only errors and the final table.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print the session's events as JSON Lines (`bakeoff schema event`) and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Only this group of checks (`lifecycle` too); may be repeated.
    #[arg(long, value_name = "G")]
    pub(crate) group: Vec<String>,
    /// Check the service at this address instead of starting contenders.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) url: Option<String>,
    /// Profile whose limits hold.
    #[arg(long, default_value = "quick")]
    pub(crate) profile: String,
    /// Print one JSON object per contender.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// How much to measure, under which limits.
    #[arg(long, default_value = "quick")]
    pub(crate) profile: String,
    /// Only benchmarks that match this glob; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) benchmark: Vec<String>,
    /// Repetitions instead of the profile's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Only this round of the suite; `all` for a line about each.
    #[arg(long, value_name = "NAME", conflicts_with = "contender")]
    pub(crate) round: Option<String>,
    /// Seed of the order of runs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the plan as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the load spec of the first run of this contender, for `bakeoff load -`.
    #[arg(long, value_name = "CONTENDER")]
    pub(crate) case: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Folder of the suite.
    pub(crate) suite: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    /// Folder of the suite.
    pub(crate) suite: PathBuf,
    /// Only contenders that match this glob; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) contender: Vec<String>,
    /// Print receipts as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Results folder.
    pub(crate) results: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct NullServerArgs {
    /// Address to listen on; with port 0, the one that was chosen is printed.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Length of the body, bytes.
    #[arg(long, default_value_t = 13)]
    pub(crate) body_bytes: usize,
    /// End when standard input does.
    #[arg(long)]
    pub(crate) until_input_ends: bool,
    /// CPU time that each response takes, microseconds.
    #[arg(long, default_value_t = 0)]
    pub(crate) work_us: u64,
    /// Cores that it may use, `0,2`.
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) cores: Vec<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Results folder that is compared with.
    pub(crate) first: PathBuf,
    /// Results folder that is compared.
    pub(crate) second: PathBuf,
    /// Compare even what was measured under other conditions; the output says so.
    #[arg(long)]
    pub(crate) anyway: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Measure what the load engine can do here at best, for two seconds.
    #[arg(long)]
    pub(crate) load: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The format; all are listed when absent.
    #[arg(value_parser = PossibleValuesParser::new(formats::NAMES))]
    pub(crate) format: Option<String>,
    /// Write all schemas into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "format")]
    pub(crate) write: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Folder of the recordings.
    #[arg(long)]
    pub(crate) recordings: PathBuf,
    /// Address to listen on.
    #[arg(long)]
    pub(crate) listen: SocketAddr,
    /// `none`, `recorded`, `constant:10ms`, `exponential:10ms` or `log-normal:10ms,0.5`.
    #[arg(long, default_value = "none")]
    pub(crate) delay: Delay,
    /// Unknown requests are appended to this file.
    #[arg(long)]
    pub(crate) unknown: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// The URL, or `-`: read a load spec as JSON from standard input, write events as JSON Lines.
    pub(crate) url: String,
    /// Connections; a list is a ladder of steps, `1,8,64`.
    #[arg(
        short = 'c', long, value_name = "LIST", default_value = "10", value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) connections: Vec<u32>,
    /// Threads; 0 = one per core, but never more than connections.
    #[arg(short = 't', long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// How long each step; `10s`, or with `-n` as long as it takes.
    #[arg(short = 'd', long, value_name = "TIME")]
    pub(crate) duration: Option<Time>,
    /// End each step after this many requests; 0 = no bound.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 0)]
    pub(crate) requests: u64,
    /// A header, `Name: value`; may be repeated.
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<Header>,
    /// The method.
    #[arg(short = 'm', long, default_value = "GET")]
    pub(crate) method: String,
    /// The body; `@FILE` reads it from a file, text or not.
    #[arg(long, default_value = "")]
    pub(crate) body: Body,
    /// Variables for `${NAME}` in path, headers and body, new for each request: `id=unique`,
    /// `id=1..`, `id=1..1000`, `id=random:1..1000`, `name,age=@people.csv`; may be repeated.
    #[arg(long, value_name = "FEED")]
    pub(crate) feed: Vec<FeedArg>,
    /// Open load: requests per second, equally spaced. Response time then runs from the intended
    /// send time, which avoids coordinated omission.
    #[arg(long, value_name = "PER_S")]
    pub(crate) rate: Option<Rate>,
    /// Open load: exponential distances between requests (a Poisson process).
    #[arg(long, requires = "rate")]
    pub(crate) poisson: bool,
    /// Timeout for connecting and for each response.
    #[arg(long, value_name = "TIME", default_value = "15s")]
    pub(crate) timeout: Time,
    /// HTTP/2: by prior knowledge, or negotiated by TLS (ALPN).
    #[arg(long)]
    pub(crate) http2: bool,
    /// HTTP/2: concurrent streams on each connection.
    #[arg(
        long, value_name = "N", requires = "http2",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) streams: Option<u32>,
    /// HTTP/1.1 pipelining: requests in flight on each connection, sent without waiting for the
    /// responses before.
    #[arg(
        long, value_name = "N", conflicts_with = "http2",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) pipeline: Option<u32>,
    /// WebSocket (`ws://` or `wss://`): close a connection after this many messages and reconnect;
    /// 0 = never. A request is one message; `--body` is sent before each.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) messages: u32,
    /// WebSocket: each message carries the time at which it was sent as digits since the Unix
    /// epoch, in this unit; latency runs from there.
    #[arg(long, value_name = "UNIT")]
    pub(crate) timestamp: Option<Unit>,
    /// Accept any certificate.
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Close each connection after its response.
    #[arg(long)]
    pub(crate) no_keep_alive: bool,
    /// Kernel interface: with kernel receive timestamps, or timed when a response is read, for a
    /// little less CPU.
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
    /// Run wrk, which must be installed, after the built-in engine and print both.
    #[arg(long, value_name = "NAME", default_value = "bakeoff")]
    pub(crate) engine: Engine,
    /// Exit with status 3 when this holds, `p99>50ms`, `errors>0.1%`, `rate<1000`; may be repeated.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,
    /// Print one JSON object a step.
    #[arg(long)]
    pub(crate) json: bool,
}
