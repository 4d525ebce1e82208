//! The thread that sends requests to a collector, one after the other.

use std::io::Write as _;
use std::net::ToSocketAddrs as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::time::Duration;

use anyhow::Context as _;
use bakeoff_base::problem::Problem;
use bakeoff_model::load::tls::Tls;
use bakeoff_model::request::check::ReceivedResponse;
use bakeoff_model::text::service_url::ServiceUrl;
use bakeoff_places::Spoken;
use bakeoff_places::http::{self, HttpRequest};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use prost::Message as _;

use super::settings::{Encoding, Settings};

/// Exports that wait to be sent, at most; what comes then is left out.
const WAITING_MAX: usize = 64;
/// How long a collector may take to respond, and at the end to take all that waits.
const LIMIT: Duration = Duration::from_secs(5);
/// Where a collector takes metrics.
const PATH: &str = "/v1/metrics";

/// Sends until it is dropped; then what waits is still sent, for as long as one response may take.
pub(super) struct Sender {
    exports: Option<SyncSender<ExportMetricsServiceRequest>>,
    /// Whether all was sent; disconnected once the thread has ended.
    ended: Receiver<()>,
    url: ServiceUrl,
}

impl Sender {
    /// Starts the thread.
    pub(super) fn new(url: &ServiceUrl, settings: Settings) -> anyhow::Result<Self> {
        let (exports, receiver) = sync_channel(WAITING_MAX);
        let collector = Collector::new(url, settings);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start the async runtime")?;
        let (alive, ended) = channel();
        let sending = move || {
            runtime.block_on(send_all(&collector, &receiver));
            drop(alive);
        };
        let thread = std::thread::Builder::new().name("otlp".to_owned());
        thread.spawn(sending).context("cannot start a thread")?;
        Ok(Self {
            exports: Some(exports),
            ended,
            url: url.clone(),
        })
    }

    /// Queues an export, unless too many wait already.
    pub(super) fn try_send(&self, export: ExportMetricsServiceRequest) {
        if let Some(exports) = &self.exports {
            let _ = exports.try_send(export);
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.exports = None;
        if self.ended.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            let (url, limit) = (&self.url, LIMIT.as_secs());
            say(&format!(
                "{url} did not take the last metrics within {limit} s"
            ));
        }
    }
}

/// Sends exports until there are no more. The first failure is reported, others are not.
async fn send_all(collector: &Collector, exports: &Receiver<ExportMetricsServiceRequest>) {
    let mut is_said = false;
    while let Ok(export) = exports.recv() {
        if let Err(why) = collector.send(&export).await
            && !is_said
        {
            is_said = true;
            let url = &collector.url;
            say(&format!(
                "metrics do not reach {url}: {why}; the measurement goes on"
            ));
        }
    }
}

fn say(note: &str) {
    // A closed terminal is not a reason to fail.
    let _ = writeln!(std::io::stderr(), "note: {note}");
}

/// Where requests go, and how they are written.
struct Collector {
    url: ServiceUrl,
    encoding: Encoding,
    path: String,
    headers: Vec<(String, String)>,
}

impl Collector {
    fn new(url: &ServiceUrl, settings: Settings) -> Self {
        let own = [
            ("host".to_owned(), url.host().to_owned()),
            (
                "content-type".to_owned(),
                match settings.encoding {
                    Encoding::Protobuf => "application/x-protobuf".to_owned(),
                    Encoding::Json => "application/json".to_owned(),
                },
            ),
        ];
        Self {
            url: url.clone(),
            encoding: settings.encoding,
            path: format!("{}{PATH}", url.prefix()),
            headers: own.into_iter().chain(settings.headers).collect(),
        }
    }

    async fn send(&self, export: &ExportMetricsServiceRequest) -> Result<(), Problem> {
        let place = (self.url.name().to_owned(), self.url.port());
        let resolving = tokio::task::spawn_blocking(move || place.to_socket_addrs());
        let found = resolving.await.map_err(Problem::new)?;
        let mut found = found.map_err(Problem::new)?;
        let address = found.next().ok_or("it has no address")?;
        let spoken = Spoken {
            tls: self.url.is_tls().then(Tls::default),
            ..Spoken::default()
        };
        let body = match self.encoding {
            Encoding::Protobuf => export.encode_to_vec(),
            Encoding::Json => serde_json::to_vec(export).map_err(Problem::new)?,
        };
        let question = HttpRequest {
            method: "POST",
            path: &self.path,
            headers: &self.headers,
            body: &body,
        };
        match http::ask_over(&spoken, address, question, LIMIT).await {
            Ok(answer) if answer.status < 300 => self.taken(&answer),
            Ok(answer) => Err(format!("status {}", answer.status).into()),
            Err(error) => Err(Problem::new(error)),
        }
    }

    /// Whether all was taken: a collector may respond that it rejected some of the numbers.
    fn taken(&self, answer: &ReceivedResponse) -> Result<(), Problem> {
        let response = match self.encoding {
            Encoding::Protobuf => ExportMetricsServiceResponse::decode(answer.body.as_slice()).ok(),
            Encoding::Json => serde_json::from_slice(&answer.body).ok(),
        };
        // A response outside the protocol says nothing; its status does.
        let partial = response.and_then(|response: ExportMetricsServiceResponse| {
            response
                .partial_success
                .filter(|partial| partial.rejected_data_points > 0)
        });
        match partial {
            Some(partial) => Err(format!(
                "it rejected {} of the numbers: {}",
                partial.rejected_data_points, partial.error_message
            )
            .into()),
            None => Ok(()),
        }
    }
}
