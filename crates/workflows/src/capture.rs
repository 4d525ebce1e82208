//! Captures what clients ask a running service, as a suite with the times of its requests.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::Context as _;
use bakeoff_base::content_encoding;
use bakeoff_base::hint::hinted;
use bakeoff_import::captured::{Capture, CaptureChoice, Captured, CapturedRequest};
use bakeoff_model::load::tls::Tls;
use bakeoff_model::text::service_url::ServiceUrl;
use bakeoff_replay::{Authority, Exchange, Exchanges, Proxy, Upstream};
use bakeoff_tls::Client;

/// Most bytes of a response that are looked at, for the keys of its JSON.
const RESPONSE_BYTES_MAX: usize = 1 << 20;

/// The settings of a capture.
#[derive(Debug, Clone)]
pub struct CaptureOptions {
    /// The running service.
    pub to: ServiceUrl,
    /// How its certificate is checked.
    pub tls: Tls,
    /// The address on which clients are served; port 0 is any free one.
    pub listen: SocketAddr,
    /// Keep credentials as they are.
    pub secrets: bool,
    /// Headers, parameters and fields, by name, that are no credentials.
    pub harmless: Vec<String>,
}

/// A proxy that listens, in front of a service.
pub struct Capturing {
    proxy: Proxy,
    authority: Option<Authority>,
    log: Arc<Log>,
}

/// The requests that passed so far.
struct Log {
    since: Instant,
    capture: Mutex<Capture>,
}

impl Capturing {
    /// Listens, over TLS if the service is reached over TLS.
    ///
    /// # Errors
    /// The service's host is not known, the address is in use, or a certificate cannot be read.
    pub async fn open(options: &CaptureOptions) -> anyhow::Result<Self> {
        let to = &options.to;
        if !to.prefix().is_empty() {
            return Err(hinted(
                format_args!("{to}: a service is captured with all of its paths"),
                format_args!("leave out {}", to.prefix()),
            ));
        }
        let mut addresses = tokio::net::lookup_host((to.name(), to.port()))
            .await
            .with_context(|| format!("{to}: no such host"))?;
        let address = addresses
            .next()
            .with_context(|| format!("{to}: no such host"))?;
        let (tls, authority) = match to.is_tls() {
            true => {
                let client = |alpn: &[u8]| Client::new(&options.tls, to.host(), alpn);
                let tls = [client(b"http/1.1")?, client(b"h2")?];
                let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
                let addresses = [local, options.listen.ip()];
                (Some(tls), Some(Authority::new(&addresses, &["localhost"])?))
            }
            false => (None, None),
        };
        let upstream = Upstream { address, tls };
        let proxy = Proxy::bind(upstream, options.listen, authority.as_ref()).await;
        let proxy = proxy.with_context(|| format!("cannot listen on {}", options.listen))?;
        let choice = CaptureChoice {
            secrets: options.secrets,
            harmless: options.harmless.clone(),
            proxy_hosts: ["127.0.0.1", "localhost", &proxy.address().ip().to_string()]
                .map(|name| format!("{name}:{}", proxy.address().port()))
                .into(),
        };
        Ok(Self {
            proxy,
            authority,
            log: Arc::new(Log {
                since: Instant::now(),
                capture: Mutex::new(Capture::new(choice)),
            }),
        })
    }

    /// Returns the URL for clients.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = match self.authority {
            Some(_) => "https",
            None => "http",
        };
        format!("{scheme}://{}", self.proxy.address())
    }

    /// Returns the certificate that clients must trust, as PEM; `None` without TLS.
    #[must_use]
    pub fn certificate(&self) -> Option<&str> {
        self.authority.as_ref().map(Authority::pem)
    }

    /// Serves clients until `stop` is ready.
    pub async fn serve(&self, stop: impl Future<Output = ()>) {
        let log: Arc<Log> = Arc::clone(&self.log);
        self.proxy.serve(log, stop).await;
    }

    /// Returns what was captured, and forgets it.
    #[must_use]
    pub fn take(&self) -> Captured {
        let empty = Capture::new(CaptureChoice::default());
        std::mem::replace(&mut *self.log.capture(), empty).finish()
    }
}

impl Log {
    fn capture(&self) -> MutexGuard<'_, Capture> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Exchanges for Log {
    fn take(&self, exchange: Exchange) {
        let request = &exchange.request;
        if request.body.is_cut {
            self.leave_out(&request.line(), "its body is too long");
            return;
        }
        let body = &exchange.body.bytes;
        let content = match exchange.body.is_cut {
            true => Ok(Some(Vec::new())),
            false => content_encoding::decoded(&exchange.headers, body, RESPONSE_BYTES_MAX),
        };
        // A body that cannot be decoded is one of which nothing is known.
        let content = content.unwrap_or_default();
        self.capture().add(&CapturedRequest {
            at: exchange.arrived.saturating_duration_since(self.since),
            is_http2: exchange.is_http2,
            method: &request.method,
            target: &request.target,
            headers: &request.headers,
            body: &request.body.bytes,
            status: exchange.status,
            response_headers: &exchange.headers,
            content: content.as_ref().unwrap_or(body),
        });
    }

    fn leave_out(&self, request: &str, why: &str) {
        self.capture().leave_out(request, why);
    }

    fn response_bytes_max(&self) -> usize {
        RESPONSE_BYTES_MAX
    }
}
