//! A service that somebody else runs, by its address: it is asked and loaded, and nothing about
//! its resources is known.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bakeoff_model::conditions::{Enforcement, TrafficPath};
use bakeoff_model::record::Startup;
use bakeoff_model::resource::ResourceSample;

use crate::api::{
    BoxFuture, ExitInfo, Instance, ReadyError, Runtime, StartError, StartSpec, StopReport,
    SweepError,
};
use crate::ready::{Unanswered, await_answer, monotonic_ns};

/// Why a text does not name a service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url}: {message}")]
pub struct UrlError {
    /// The text.
    pub url: String,
    /// What is wrong with it.
    pub message: String,
}

/// An external service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct External {
    host: String,
    port: u16,
    prefix: String,
}

impl External {
    /// Parses `http://HOST[:PORT][/PREFIX]`.
    ///
    /// # Errors
    /// The text is not such a URL.
    pub fn new(url: &str) -> Result<Self, UrlError> {
        let fail = |message: &str| UrlError {
            url: url.to_owned(),
            message: message.to_owned(),
        };
        let rest = match url.split_once("://") {
            Some(("http", rest)) => rest,
            Some(("https", _)) => {
                return Err(fail(
                    "checks speak plain HTTP; only `bakeoff load` speaks TLS",
                ));
            }
            Some(_) => return Err(fail("the scheme must be http")),
            None => return Err(fail("a URL begins with http://")),
        };
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        if path.contains(['?', '#']) || authority.contains(['?', '#', '@']) {
            return Err(fail("a prefix has no user, query or fragment"));
        }
        let port_at = authority
            .rfind(':')
            .filter(|at| !authority[*at..].contains(']'));
        let (host, port) = match port_at {
            Some(at) => {
                let port = authority[at + 1..]
                    .parse()
                    .map_err(|_| fail("the port is no port"))?;
                (&authority[..at], port)
            }
            None => (authority, 80),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(fail("it names no host"));
        }
        let prefix = path.trim_end_matches('/').to_owned();
        Ok(Self {
            host: host.to_owned(),
            port,
            prefix,
        })
    }

    /// What goes before every path of the suite; empty or beginning with a slash.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Value of the `Host` header.
    #[must_use]
    pub fn host(&self) -> String {
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        if self.port == 80 {
            host
        } else {
            format!("{host}:{}", self.port)
        }
    }

    fn resolve(&self) -> Result<SocketAddr, String> {
        let mut found = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(|error| format!("{} has no address: {error}", self.host))?;
        found
            .next()
            .ok_or_else(|| format!("{} has no address", self.host))
    }
}

impl Runtime for External {
    fn start<'a>(
        &'a self,
        spec: &'a StartSpec,
    ) -> BoxFuture<'a, Result<Box<dyn Instance>, StartError>> {
        let (external, label) = (self.clone(), spec.label.clone());
        let path = format!("{}{}", self.prefix, spec.ready_path);
        Box::pin(async move {
            let asked_ns = monotonic_ns();
            let failed = |message: String| StartError::Failed {
                label: label.clone(),
                message,
                hint: None,
            };
            let address = tokio::task::spawn_blocking(move || external.resolve())
                .await
                .map_err(|error| failed(error.to_string()))?
                .map_err(failed)?;
            let instance = ExternalInstance {
                shared: Arc::new((label, path)),
                address,
                asked_ns,
            };
            Ok(Box::new(instance) as Box<dyn Instance>)
        })
    }

    fn enforcement(&self) -> Enforcement {
        Enforcement::Unlimited {
            reason: "the service is external".to_owned(),
        }
    }

    fn traffic_path(&self) -> TrafficPath {
        TrafficPath::External
    }

    fn sweep(&self) -> BoxFuture<'_, Result<Vec<String>, SweepError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

#[derive(Debug)]
struct ExternalInstance {
    /// Label and ready path.
    shared: Arc<(String, String)>,
    address: SocketAddr,
    asked_ns: u64,
}

impl Instance for ExternalInstance {
    fn address(&self) -> SocketAddr {
        self.address
    }

    /// The service has long been started, so only the two moments of the wait are given; the
    /// figure to quote stays 0.
    fn await_ready(&mut self, limit: Duration) -> BoxFuture<'_, Result<Startup, ReadyError>> {
        let (shared, address, asked_ns) = (Arc::clone(&self.shared), self.address, self.asked_ns);
        Box::pin(async move {
            let label = shared.0.clone();
            let asking = tokio::task::spawn_blocking(move || {
                await_answer(address, &shared.1, limit, &mut || false)
            });
            let log = String::new();
            match asking.await.unwrap_or(Err(Unanswered::NoListener)) {
                Ok(answered) => Ok(Startup {
                    listened_ns: answered.listened_ns.saturating_sub(asked_ns),
                    answered_ns: answered.answered_ns.saturating_sub(asked_ns),
                    ..Startup::default()
                }),
                Err(Unanswered::NoAnswer(found)) => Err(ReadyError::NoAnswer {
                    label,
                    limit,
                    found,
                    log,
                }),
                Err(Unanswered::NoListener | Unanswered::Ended) => {
                    let hint = Some(format!("nobody accepts connections at {address}"));
                    Err(ReadyError::NoListener {
                        label,
                        limit,
                        hint,
                        log,
                    })
                }
            }
        })
    }

    fn sample(&self) -> BoxFuture<'_, ResourceSample> {
        let sample = ResourceSample {
            at_ns: monotonic_ns(),
            ..ResourceSample::default()
        };
        Box::pin(async move { sample })
    }

    fn exited(&mut self) -> BoxFuture<'_, Option<ExitInfo>> {
        Box::pin(async { None })
    }

    /// An external service is not ours to stop: nothing happens.
    fn stop(&mut self, _grace: Duration) -> BoxFuture<'_, StopReport> {
        let exit = ExitInfo::default();
        let report = StopReport {
            graceful: true,
            took: Duration::ZERO,
            exit,
            killed: false,
        };
        Box::pin(async move { report })
    }

    fn logs(&self) -> String {
        String::new()
    }

    fn log_path(&self) -> &Path {
        Path::new("")
    }
}

#[cfg(test)]
mod tests {
    use super::External;

    #[test]
    fn urls_are_taken_apart() {
        for (url, host, prefix) in [
            ("http://example.org", "example.org", ""),
            ("http://example.org:80/", "example.org", ""),
            ("http://10.0.0.1:8080/a/b/", "10.0.0.1:8080", "/a/b"),
            ("http://[::1]:9/", "[::1]:9", ""),
            ("http://[::1]", "[::1]", ""),
        ] {
            let external = External::new(url).unwrap();
            assert_eq!(
                (external.host().as_str(), external.prefix()),
                (host, prefix)
            );
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for (url, message) in [
            ("example.org", "a URL begins with http://"),
            ("ftp://x", "the scheme must be http"),
            (
                "https://x",
                "checks speak plain HTTP; only `bakeoff load` speaks TLS",
            ),
            ("http://:80", "it names no host"),
            ("http://x:y", "the port is no port"),
            ("http://x/?a", "a prefix has no user, query or fragment"),
        ] {
            assert_eq!(External::new(url).unwrap_err().message, message);
        }
    }
}
