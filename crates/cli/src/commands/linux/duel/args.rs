//! Arguments of `duel`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::linux::{AskedArgs, ClusterArgs, HostArgs, OutputArgs};
use crate::values::service::Side;
use crate::values::{Range, Time};

/// Examples below the help of `duel`.
const DUEL_HELP: &str = "\
All services listen on the port in PORT, each in a separate network. Before the measurement, each
gets each request twice, and the responses must be equal. Then all services run at the same time
and take turns of some tens of milliseconds under load. Without root, each has a separate port in
PORT. Services that listen only on 127.0.0.1 (as root), or that ignore PORT (without root), are
measured one after the other, which takes longer to decide.

From a Compose service, bakeoff uses image or build, environment, command, port, volumes, secrets
and configs of this host (read-only), and the settings of its container, such as user and ulimits.
Its dependencies are started first, from the same file, without limits, and reached by their names;
it waits until they are healthy or have completed if depends_on says so. Other volumes start empty.
The limits are those of the duel. An image in the same duel is started likewise. Services that need
devices, privileges or namespaces of the host are refused: start such a service yourself, and name
its URL. The guide for duels has a table of all keys.

From a Deployment, bakeoff reads image, command, arguments, port, limits, and the environment that
is written there or in ConfigMaps. It changes nothing: copies run as Pods in a separate namespace,
one after the other. Images in the same duel get the same. Secrets are not read: pass such
variables with --env.

Examples:
  bakeoff duel 'go=./server' 'node=node server.js' --get /hello
  bakeoff duel 'old=image:shop:1.4' 'new=image:shop:1.5' --get /items --cpus 2 --memory 1GiB
  bakeoff duel 'old=image:shop:1.4' 'mine=compose:shop' --compose deploy/compose.yaml --get /items
  bakeoff duel 'live=deployment:shop/web' 'next=image:registry.example.org/web:1.5' --get /items
  bakeoff duel 'old=./shop-1' 'new=./shop-2' --get /items --contender-host ssh://bench-2
  bakeoff duel 'a=url:http://10.0.0.7' 'b=url:http://10.0.0.8' --get /items --connections 16
  bakeoff duel 'old=./shop-1' 'new=./shop-2' --requests shop.http --ignore '$.time'
  bakeoff duel 'v1=java -jar v1.jar' 'v2=java -jar v2.jar' --get /items --env DB=off --runs 10";

#[derive(Debug, Args)]
#[command(
    override_usage = "bakeoff duel [OPTIONS] --get <PATH> <NAME=SERVICE> <NAME=SERVICE>...",
    after_long_help = DUEL_HELP
)]
pub(crate) struct DuelArgs {
    /// `NAME=COMMAND`, `NAME=image:IMAGE[:TAG]`, `NAME=compose:SERVICE`,
    /// `NAME=deployment:NAMESPACE/NAME` or `NAME=url:URL`.
    ///
    /// At least two, and all commands, all in containers, all in a cluster, or all URLs. Commands
    /// are split into words as a shell does, and start in this folder.
    #[arg(required = true, num_args = 2.., value_name = "NAME=SERVICE")]
    pub(crate) sides: Vec<Side>,
    #[command(flatten)]
    pub(crate) asked: AskedArgs,
    /// The compose file of services `compose:SERVICE`.
    ///
    /// [default: `compose.yaml` or `docker-compose.yml` in this folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) compose: Option<PathBuf>,
    /// The longest time for all repetitions; refused if the least number cannot be made in it.
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
    /// The number of repetitions instead.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Show where CPU time goes by layer, by samples of stacks in one more run of each.
    ///
    /// Of commands only; takes perf for programs that are not JVMs. Writes a flame graph of each.
    #[arg(long)]
    pub(crate) profile_cpu: bool,
    /// Say what the lines cost that changed between two commits of this repository.
    ///
    /// The services are those of GOOD and of BAD, built by you. Samples of their stacks are taken
    /// as with --profile-cpu, and compared by the functions that the lines are in.
    #[arg(long, value_name = "GOOD..BAD", hide_short_help = true)]
    pub(crate) diff: Option<Range>,
    /// Where images run; Deployments are copied in their cluster in any case.
    #[arg(long, value_enum, hide_short_help = true, default_value_t = ImagesIn::Docker)]
    pub(crate) runtime: ImagesIn,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    /// Keep the suite of this duel in a folder, for `bakeoff run`.
    #[arg(long, value_name = "SUITE")]
    pub(crate) save: Option<PathBuf>,
    /// Results folder [default: `results/duel-TIME`].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Where images run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImagesIn {
    /// Containers of a Docker engine.
    Docker,
    /// Pods of a Kubernetes cluster.
    Kubernetes,
}
