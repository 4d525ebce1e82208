//! Requests from files of other formats, for `init` and `duel`.

use std::path::PathBuf;

use clap::Args;

use crate::values::RequestPath;

#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct ImportedArgs {
    #[command(flatten)]
    pub(crate) source: ImportedSource,
    /// The prefix of each path of a description; `/` for none.
    ///
    /// [default: the path of its first server]
    #[arg(long, value_name = "PATH", requires = "openapi")]
    pub(crate) base_path: Option<RequestPath>,
    /// Of a recording, the requests to this host, `HOST[:PORT]`.
    ///
    /// [default: the host with the most requests]
    #[arg(long, value_name = "HOST", requires = "har")]
    pub(crate) host: Option<String>,
    /// Of a recording, copy cookies, authorization and other credentials, too.
    #[arg(long, requires = "har")]
    pub(crate) secrets: bool,
    /// Of a recording, take requests that may change data, too.
    #[arg(long, requires = "har")]
    pub(crate) writes: bool,
}

/// The source of the requests.
#[derive(Debug, Args)]
#[group(id = "imported", multiple = false)]
pub(crate) struct ImportedSource {
    /// An OpenAPI description, JSON or YAML; `http://HOST[:PORT]/PATH` or a file.
    #[arg(long, value_name = "FILE|URL")]
    pub(crate) openapi: Option<String>,
    /// Recorded traffic, a file in the format HAR.
    #[arg(long, value_name = "FILE")]
    pub(crate) har: Option<PathBuf>,
    /// A file of HTTP requests, as editors send them (`.http`, `.rest`).
    #[arg(long, value_name = "FILE")]
    pub(crate) requests: Option<PathBuf>,
}
