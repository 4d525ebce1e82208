//! What `duel` can be told.

use std::path::PathBuf;

use bakeoff_model::json_path::JsonPath;
use clap::{ArgGroup, Args};

use super::{ImportedArgs, OutputArgs};
use crate::commands::duel::side::Side;
use crate::values::{Body, Curl, Header, Positive, RequestPath, Size, Time, Variable, WarmUp};

/// Examples below the help of `duel`.
const DUEL_HELP: &str = "\
All listen on the same port, which they find in PORT; each has a network of its own. Before they
are measured, each is asked each request twice: they must answer alike. Then all are alive at
the same time and take turns of some tens of milliseconds under load. Without root each has a
port of its own in PORT. Services that listen on 127.0.0.1 only (as root), or ignore PORT
(without root), are measured one after the other instead, which takes longer to decide.

Of a service in a compose file the image (or what it is built of), the environment, the command
and the port are taken. Limits are those of the duel. A service that needs more, as volumes or
other services, is refused: start it yourself, and name it as a URL.

Examples:
  bakeoff duel 'go=./server' 'node=node server.js' --get /hello
  bakeoff duel 'old=image:shop:1.4' 'new=image:shop:1.5' --get /items --cpus 2 --memory 1GiB
  bakeoff duel 'old=image:shop:1.4' 'mine=compose:shop' --compose deploy/compose.yaml --get /items
  bakeoff duel 'a=url:http://10.0.0.7' 'b=url:http://10.0.0.8' --get /items --connections 16
  bakeoff duel 'old=./shop-1' 'new=./shop-2' --requests shop.http --ignore '$.time'
  bakeoff duel 'v1=java -jar v1.jar' 'v2=java -jar v2.jar' --get /items --env DB=off --runs 10";

#[derive(Debug, Args)]
#[command(
    override_usage = "bakeoff duel [OPTIONS] --get <PATH> <NAME=SERVICE> <NAME=SERVICE>...",
    after_long_help = DUEL_HELP
)]
#[command(group(
    ArgGroup::new("asked")
        .args(["get", "curl", "openapi", "har", "requests"])
        .required(true)
        .multiple(true)
))]
pub(crate) struct DuelArgs {
    /// `NAME=COMMAND`, `NAME=image:IMAGE[:TAG]`, `NAME=compose:SERVICE` or `NAME=url:URL`.
    ///
    /// At least two, and all commands, all in containers, or all URLs. Commands are split into
    /// words as a shell does, and start in this folder.
    #[arg(required = true, num_args = 2.., value_name = "NAME=SERVICE")]
    pub(crate) sides: Vec<Side>,
    /// Path and query that all are asked for, whatever the method is; may be repeated.
    ///
    /// Of several requests each connection sends one after the other, equally often.
    #[arg(long, visible_alias = "path", value_name = "PATH")]
    pub(crate) get: Vec<RequestPath>,
    /// A request as a command line of curl, as browsers copy it; may be repeated.
    ///
    /// Its host, and headers of the connection and of the browser, are left out.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) curl: Vec<Curl>,
    #[command(flatten)]
    pub(crate) imported: ImportedArgs,
    /// What may differ between responses that are JSON, such as `$.time`; may be repeated.
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
    /// A header of `--get`, `Name: value`; may be repeated.
    #[arg(short = 'H', long = "header", value_name = "HEADER", requires = "get")]
    pub(crate) headers: Vec<Header>,
    /// The body of `--get`; `@FILE` reads it from a text file.
    #[arg(long, default_value = "", requires = "get")]
    pub(crate) body: Body,
    /// The port on which all of them listen.
    ///
    /// What the compose file says, or 8080, when absent.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// The compose file of services `compose:SERVICE`.
    ///
    /// `compose.yaml` or `docker-compose.yml` in this folder when absent.
    #[arg(long, value_name = "FILE")]
    pub(crate) compose: Option<PathBuf>,
    /// A path that is answered as soon as a service is ready.
    ///
    /// With 200 or 404. That of the first GET when absent, or `/` without one.
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
    /// Connections, each with one request at a time.
    ///
    /// Each sends its next request after the response to the last one.
    #[arg(
        short = 'c', long, alias = "concurrency", value_name = "N", default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) connections: u32,
    /// How long each service is loaded in each repetition.
    #[arg(short = 'd', long, value_name = "TIME", default_value = "3s")]
    pub(crate) duration: Time,
    /// How long each service is loaded before that.
    ///
    /// Until all are warm, 1 to 10 s, when absent; `none` for not at all.
    #[arg(long, alias = "warmup", value_name = "TIME")]
    pub(crate) warm_up: Option<WarmUp>,
    /// The longest time for all repetitions, of which three are made in any case.
    ///
    /// Repetitions, each with fresh processes, follow each other until every pair is significantly
    /// different or equivalent within 3 %, or this time is over.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "2m",
        conflicts_with = "runs"
    )]
    pub(crate) within: Time,
    /// So many repetitions instead.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Show where CPU time goes by layer, by samples of stacks in one more run of each.
    ///
    /// Of commands only; takes perf for programs that are no JVMs. Writes a flame graph of each.
    #[arg(long)]
    pub(crate) profile_cpu: bool,
    /// Seed of the order of runs; chosen and recorded when absent.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Measure them even if they answer differently.
    #[arg(long)]
    pub(crate) differ: bool,
    /// Keep the suite of this duel in a folder, for `bakeoff run`.
    #[arg(long, value_name = "SUITE")]
    pub(crate) save: Option<PathBuf>,
    /// Results folder; `results/duel-TIME` when absent.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
