//! The arguments of `size`.

use std::path::PathBuf;

use bakeoff_model::suite::slo::Slo;
use clap::Args;

use crate::args::linux::{AskedArgs, OutputArgs};
use crate::values::service::Side;
use crate::values::{Positive, Time};

/// Examples below the help of `size`.
const SIZE_HELP: &str = "\
First the service is loaded with less and less memory, until it fails. Then, with a quarter more
memory than it needed, the highest rate within --slo is searched for each CPU limit that this host
can give. One core remains for the load generator. Limits require root or an image.

Replicas are counted by the lower end of the interval, and none is added for failures or peaks.
Prices are those of CPU and memory alone.

Examples:
  bakeoff size 'shop=./shop' --get /items --rate 800 --slo 'p99 <= 50ms and errors <= 0.1%'
  bakeoff size 'shop=image:shop:1.5' --requests shop.http --rate 2000 --slo 'p99 <= 100ms' \\
      --shapes 0.5,1 --cpu-price 0.04 --memory-price 0.004
  bakeoff size 'shop=compose:web' --get /items --rate 300 --slo 'p99.9 <= 1s' --memory 1GiB";

#[derive(Debug, Args)]
#[command(
    override_usage = "bakeoff size [OPTIONS] --get <PATH> --rate <RATE> --slo <SLO> <NAME=SERVICE>",
    after_long_help = SIZE_HELP
)]
pub(crate) struct SizeArgs {
    /// `NAME=COMMAND`, `NAME=image:IMAGE[:TAG]` or `NAME=compose:SERVICE`.
    ///
    /// Commands are split into words as a shell does, and start in this folder. The service listens
    /// on the port in PORT.
    #[arg(value_name = "NAME=SERVICE")]
    pub(crate) side: Side,
    /// Requests per second of all replicas together.
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Positive,
    /// The objective: `p99 <= 50ms and errors <= 0.1%`.
    #[arg(long, value_name = "SLO")]
    pub(crate) slo: Slo,
    /// CPU limits to measure [default: 0.25, 0.5, 1, 2 and 4, as far as the host has them].
    #[arg(long, value_name = "CORES,...", value_delimiter = ',')]
    pub(crate) shapes: Vec<Positive>,
    /// The compose file of a service `compose:SERVICE`.
    ///
    /// [default: `compose.yaml` or `docker-compose.yml` in this folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) compose: Option<PathBuf>,
    /// Dollars for one CPU for an hour.
    #[arg(long, value_name = "PRICE", default_value = "0.0275")]
    pub(crate) cpu_price: Positive,
    /// Dollars for one GiB of memory for an hour.
    #[arg(long, value_name = "PRICE", default_value = "0.0037")]
    pub(crate) memory_price: Positive,
    /// Start no further session after this time.
    #[arg(long, value_name = "TIME", default_value = "20m")]
    pub(crate) within: Time,
    #[command(flatten)]
    pub(crate) asked: AskedArgs,
    /// Results folder [default: `results/size-TIME`].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
