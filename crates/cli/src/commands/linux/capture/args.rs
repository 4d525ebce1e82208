//! Arguments of `capture`.

use std::net::SocketAddr;
use std::path::PathBuf;

use bakeoff_model::text::service_url::ServiceUrl;
use clap::Args;

/// Examples below the help of `capture`.
const HELP: &str = "\
Clients use the address that is printed instead of the service's own. The command finds it in
BAKEOFF_URL, and in place of {url} in its arguments. Everything passes unchanged, in both
directions. The folder is a suite: it has each request once, with its share, and arrivals.csv has
the times.

Credentials are never written: cookies, authorization, and headers, parameters and fields whose
name or value looks like a credential become variables, ${env:NAME}. Set them in the environment
before the requests are sent again. Headers that bakeoff does not know count as credentials.

If the URL begins with https, clients use https, too, and must trust the certificate that is
printed. The command finds its file in BAKEOFF_CA and NODE_EXTRA_CA_CERTS. Nothing is installed.

Examples:
  bakeoff capture --to http://127.0.0.1:8080 -- npx playwright test
  bakeoff capture --to http://127.0.0.1:8080 -- curl '{url}/items?page=2'
  bakeoff capture --to http://127.0.0.1:8080 --listen 127.0.0.1:9000 --out visit
  bakeoff duel --captured capture 'old=./shop-1' 'new=./shop-2'
  bakeoff load --captured capture --speed 2 http://127.0.0.1:8080";

#[derive(Debug, Args)]
#[command(after_long_help = HELP)]
pub(crate) struct CaptureArgs {
    /// The running service, `http://HOST[:PORT]` or `https://HOST[:PORT]`.
    #[arg(long, value_name = "URL", value_parser = ServiceUrl::new)]
    pub(crate) to: ServiceUrl,
    /// The folder to write, which becomes a suite.
    #[arg(long, value_name = "DIR", default_value = "capture")]
    pub(crate) out: PathBuf,
    /// The address for clients; port 0 is any free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// This header, parameter or field is no credential; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) harmless: Vec<String>,
    /// Write credentials as they are.
    ///
    /// Every reader of the folder has them.
    #[arg(long)]
    pub(crate) secrets: bool,
    /// Accept any certificate of the service.
    #[arg(long, conflicts_with = "cacert")]
    pub(crate) insecure: bool,
    /// Trust the certificates of this file (PEM) instead of the host's own.
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,
    /// The client; the capture ends with it [default: until Ctrl-C].
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
