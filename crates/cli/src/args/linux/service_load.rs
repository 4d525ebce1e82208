//! The requests to the user's services and their load, for `duel` and `bisect`.

use std::path::PathBuf;

use bakeoff_model::text::json_path::JsonPath;
use clap::{ArgGroup, Args};

use crate::args::ImportedArgs;
use crate::values::{Body, Header, Positive, RequestPath, Size, Time, Variable, WarmUp};

#[derive(Debug, Args)]
#[group(skip)]
#[command(group(
    ArgGroup::new("asked")
        .args(["get", "curl", "openapi", "har", "captured", "requests"])
        .required(true)
        .multiple(true)
))]
#[command(group(ArgGroup::new("headed").args(["get", "openapi"]).multiple(true)))]
pub(crate) struct AskedArgs {
    /// Path and query that all are asked for, whatever the method is; may be repeated.
    ///
    /// Of several requests each connection sends one after the other, equally often.
    #[arg(long, visible_alias = "path", value_name = "PATH")]
    pub(crate) get: Vec<RequestPath>,
    /// A request as a command line of curl, as browsers copy it; may be repeated.
    ///
    /// The request that curl would send is sent to the services instead of its host: headers in
    /// order and as typed, data of -d, -F, -T and --json with their files, -u, -b, --compressed.
    /// Variables outside of single quotes are those of the environment. Options that send nothing,
    /// pipes and redirections are left out. It is taken even if it may change data.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) curl: Vec<String>,
    #[command(flatten)]
    pub(crate) imported: ImportedArgs,
    /// A part of JSON responses that may differ, such as `$.time`; may be repeated.
    #[arg(long, value_name = "JSON PATH")]
    pub(crate) ignore: Vec<JsonPath>,
    /// The method of `--get`.
    #[arg(
        short = 'm',
        short_alias = 'X',
        long,
        alias = "request",
        default_value = "GET",
        requires = "get"
    )]
    pub(crate) method: String,
    /// A header of `--get` and `--openapi`, `Name: value`; may be repeated.
    ///
    /// Headers are sent in this order and as typed.
    #[arg(
        short = 'H',
        long = "header",
        value_name = "HEADER",
        requires = "headed"
    )]
    pub(crate) headers: Vec<Header>,
    /// The body of `--get`; `@FILE` reads it from a text file.
    #[arg(long, default_value = "", requires = "get")]
    pub(crate) body: Body,
    /// For gRPC, a description of the messages; may be repeated.
    ///
    /// A `.proto` file, or a set of descriptors. Then `--path` is that of a method,
    /// `/helloworld.Greeter/SayHello`, and `--body` its message as JSON.
    #[arg(long, value_name = "FILE", requires = "get")]
    pub(crate) proto: Vec<PathBuf>,
    /// Port on which all services listen.
    ///
    /// [default: the port in the compose file, else 8080]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// A path that responds as soon as a service is ready.
    ///
    /// The response must have status 200, 404 or be a redirect [default: the path of the first GET,
    /// else `/`].
    #[arg(long, value_name = "PATH")]
    pub(crate) ready: Option<RequestPath>,
    /// How long a service may take from its start to its first response [default: 60s].
    #[arg(long, value_name = "TIME", hide_short_help = true)]
    pub(crate) start_timeout: Option<Time>,
    /// A path on which they report metrics in the text format of Prometheus or OpenMetrics.
    ///
    /// They are read before and after each measured step, and reported: the growth of counters
    /// for each request, and gauges.
    #[arg(
        long,
        value_name = "PATH",
        hide_short_help = true,
        conflicts_with = "proto"
    )]
    pub(crate) scrape: Option<RequestPath>,
    /// A variable for the environment of all; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<Variable>,
    /// CPU quota of each service in cores [default: 1].
    #[arg(long, value_name = "CORES")]
    pub(crate) cpus: Option<Positive>,
    /// Memory limit of each service [default: 512MiB].
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Size>,
    /// Connections, each with one request at a time.
    ///
    /// Each sends its next request after the response to the last one.
    #[arg(
        short = 'c', long, alias = "concurrency", value_name = "N", default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) connections: u32,
    /// How long each service is loaded in each repetition.
    #[arg(short = 'd', long, value_name = "TIME", default_value = "5s")]
    pub(crate) duration: Time,
    /// Warm-up time of each service.
    ///
    /// `none` for no warm-up [default: until all are warm, 0.5 to 10 s].
    #[arg(long, alias = "warmup", value_name = "TIME")]
    pub(crate) warm_up: Option<WarmUp>,
    /// Seed of the order of runs [default: random, and recorded].
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Measure them even if their responses differ.
    #[arg(long)]
    pub(crate) differ: bool,
}
