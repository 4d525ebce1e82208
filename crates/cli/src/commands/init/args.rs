//! Arguments of `init`.

use std::path::PathBuf;

use bakeoff_workflows::init::like;
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::args::ImportedArgs;
use crate::values::RequestPath;
use crate::values::service::Side;

/// Examples below the help of `init`.
const HELP: &str = "\
Without options, the suite has two small example services in Python.
--openapi takes the GET requests of a description, with its examples.
--har takes the requests of recorded traffic (a browser's network tab saves it: \"Save all as
HAR\"), as often as they were recorded: to one host, without images, styles, scripts and other
files, without what may change data, and without cookies and other credentials.
Omitted requests are listed in checks/all.toml.
--like locations has profiles, benchmarks, checks and backends of that suite, which comes with
bakeoff, one contender that passes, and places for your own.

Examples:
  bakeoff init demo
  bakeoff init shop --openapi openapi.yaml 'old=./shop-1' 'new=./shop-2' --port 9000
  bakeoff init shop --openapi http://127.0.0.1:9000/api-docs 'shop=url:http://127.0.0.1:9000'
  bakeoff init shop --har shop.har 'old=image:shop:1.4' 'new=image:shop:1.5'
  bakeoff init shop --har shop.har 'shop=compose:web' --compose deploy/compose.yaml
  bakeoff init places --like locations";

#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct InitArgs {
    /// Folder of the new suite.
    pub(crate) folder: PathBuf,
    /// `NAME=COMMAND`, `NAME=image:IMAGE[:TAG]`, `NAME=compose:SERVICE` or `NAME=url:URL`.
    #[arg(value_name = "NAME=SERVICE", requires = "imported")]
    pub(crate) sides: Vec<Side>,
    #[command(flatten)]
    pub(crate) imported: ImportedArgs,
    /// A suite that comes with bakeoff and is taken as the example.
    #[arg(
        long, value_name = "SUITE", group = "imported",
        value_parser = PossibleValuesParser::new(like::NAMES)
    )]
    pub(crate) like: Option<String>,
    /// The compose file of services `compose:SERVICE`.
    ///
    /// [default: `compose.yaml` or `docker-compose.yml` in this folder] Services that a service
    /// depends on become `[[dependency]]` of the suite.
    #[arg(long, value_name = "FILE", conflicts_with = "like")]
    pub(crate) compose: Option<PathBuf>,
    /// The port on which all of them listen; that of the compose file, or 8080, unless given.
    #[arg(
        long, conflicts_with = "like",
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    pub(crate) port: Option<u16>,
    /// A path that returns 200, 404 or a redirect as soon as a service is ready.
    #[arg(
        long,
        value_name = "PATH",
        default_value = "/",
        conflicts_with = "like"
    )]
    pub(crate) ready: RequestPath,
}
