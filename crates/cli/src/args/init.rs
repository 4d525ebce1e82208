//! What `init` can be told.

use std::path::PathBuf;

use clap::Args;

use crate::commands::duel::side::Side;
use crate::values::RequestPath;

/// Examples below the help of `init`.
const HELP: &str = "\
Without a description the suite has two small services in Python to begin with. With one, its
GET requests are taken, with the examples that it gives; what is left out is listed in
checks/all.toml.

Examples:
  bakeoff init demo
  bakeoff init shop --openapi openapi.yaml 'old=./shop-1' 'new=./shop-2' --port 9000
  bakeoff init shop --openapi http://127.0.0.1:9000/api-docs 'shop=url:http://127.0.0.1:9000'";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct InitArgs {
    /// Folder of the new suite.
    pub(crate) folder: PathBuf,
    /// The services, `NAME=COMMAND`, `NAME=image:IMAGE[:TAG]` or `NAME=url:URL`.
    #[arg(value_name = "NAME=SERVICE", requires = "openapi")]
    pub(crate) sides: Vec<Side>,
    /// An OpenAPI description, JSON or YAML; `http://HOST[:PORT]/PATH` or a file.
    #[arg(long, value_name = "FILE|URL", requires = "sides")]
    pub(crate) openapi: Option<String>,
    /// The port on which all of them listen.
    #[arg(long, default_value_t = 8080, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
    /// A path that is answered with 200 or 404 as soon as a service is ready.
    #[arg(long, value_name = "PATH", default_value = "/")]
    pub(crate) ready: RequestPath,
}
