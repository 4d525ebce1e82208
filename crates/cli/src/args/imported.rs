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
    #[arg(
        long,
        value_name = "PATH",
        requires = "openapi",
        hide_short_help = true
    )]
    pub(crate) base_path: Option<RequestPath>,
    /// Of a description, take an operation that only reads though it is no GET: `POST /search`.
    ///
    /// Its body is the example of the description. May be repeated.
    #[arg(
        long,
        value_name = "METHOD PATH",
        requires = "openapi",
        hide_short_help = true
    )]
    pub(crate) operation: Vec<String>,
    /// Of a recording or a file, the requests to this host, `HOST[:PORT]`.
    ///
    /// [default: the host with the most requests]
    #[arg(
        long,
        value_name = "HOST",
        requires = "imported",
        hide_short_help = true
    )]
    pub(crate) host: Option<String>,
    /// Of a recording, copy cookies, authorization and whatever may be credentials, too.
    ///
    /// Without it, headers are copied only if they say nothing about who asks.
    #[arg(long, requires = "har", hide_short_help = true)]
    pub(crate) secrets: bool,
    /// Take requests that may change data, too: all but GET, HEAD and OPTIONS.
    ///
    /// They are sent as often as the load asks for it. What --get, --method and --curl say is sent
    /// without this option.
    #[arg(long, requires = "imported")]
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
    /// Requests that `bakeoff capture` wrote into this folder, as often as they were sent.
    #[arg(long, value_name = "DIR")]
    pub(crate) captured: Option<PathBuf>,
    /// A file of HTTP requests, as editors send them (`.http`, `.rest`).
    ///
    /// Requests that cannot be taken are left out, each with its line and the reason. Bodies may be
    /// in files (`< ./FILE`).
    #[arg(long, value_name = "FILE")]
    pub(crate) requests: Option<PathBuf>,
}
