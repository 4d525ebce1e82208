//! Services that run already, by their addresses: they are checked and loaded, and nothing about
//! their resources is known.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_model::load::tls::Tls;
use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::record::Startup;
use bakeoff_model::suite::conditions::{Enforcement, TrafficPath};
use bakeoff_model::text::service_url::ServiceUrl;

use crate::Wire;
use crate::api::{
    BoxFuture, ExitInfo, Instance, ReadyError, Runtime, Sampled, StartError, StartSpec, StopReport,
    SweepError,
};
use crate::ready::{Unanswered, await_answer, monotonic_ns};

/// How long one more connection may take, made to find out why there is none.
const AGAIN: Duration = Duration::from_millis(200);

/// Finds the service that a specification names.
#[derive(Debug, Clone, Copy)]
pub struct External;

fn resolve(service: &ServiceUrl) -> Result<SocketAddr, Problem> {
    let mut found = (service.name(), service.port())
        .to_socket_addrs()
        .map_err(|error| format!("{} has no address: {error}", service.name()))?;
    found
        .next()
        .ok_or_else(|| format!("{} has no address", service.name()).into())
}

impl Runtime for External {
    fn start<'a>(
        &'a self,
        spec: &'a StartSpec,
    ) -> BoxFuture<'a, Result<Box<dyn Instance>, StartError>> {
        Box::pin(async move {
            let asked_ns = monotonic_ns();
            let failed = |why: Problem| StartError::failed(&spec.label, why);
            let Some(service) = spec.service.clone() else {
                return Err(failed("it has no `url` at which it runs".into()));
            };
            let path = format!("{}{}", service.prefix(), spec.ready_path);
            let host = service.host().to_owned();
            // Certificates are of the name in the URL, unless another one is given.
            let name = service.name().to_owned();
            let tls = spec.wire.tls.clone().map(|tls| Tls {
                name: tls.name.or(Some(name)),
                ..tls
            });
            let wire = Wire {
                tls,
                ..spec.wire.clone()
            };
            let address = tokio::task::spawn_blocking(move || resolve(&service))
                .await
                .map_err(|error| failed(Problem::new(error)))?
                .map_err(failed)?;
            let instance = ExternalInstance {
                shared: Arc::new((spec.label.clone(), path)),
                host,
                wire,
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
    host: String,
    wire: Wire,
    address: SocketAddr,
    asked_ns: u64,
}

impl Instance for ExternalInstance {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn host(&self) -> Option<&str> {
        Some(&self.host)
    }

    fn wire(&self) -> Wire {
        self.wire.clone()
    }

    /// The service has long been started, so only the two moments of the wait are given; the value
    /// to quote stays 0.
    fn await_ready(&mut self, limit: Duration) -> BoxFuture<'_, Result<Startup, ReadyError>> {
        let (shared, address, asked_ns) = (Arc::clone(&self.shared), self.address, self.asked_ns);
        let spoken = self.wire.spoken();
        Box::pin(async move {
            let label = shared.0.clone();
            let asking = tokio::task::spawn_blocking(move || {
                await_answer(address, &shared.1, &spoken, limit, &mut || false)
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
                    let hint = Some(match TcpStream::connect_timeout(&address, AGAIN) {
                        Ok(_) => format!("{address} accepts connections only now"),
                        Err(why) => format!("nothing accepts connections at {address}: {why}"),
                    });
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

    fn sample(&self) -> BoxFuture<'_, Sampled> {
        let resources = ResourceSample {
            at_ns: monotonic_ns(),
            ..ResourceSample::default()
        };
        Box::pin(async {
            Sampled {
                resources,
                host: None,
            }
        })
    }

    fn exited(&self) -> BoxFuture<'_, Option<ExitInfo>> {
        Box::pin(async { None })
    }

    /// An external service is not ours to stop: nothing happens.
    fn stop(&mut self, _grace: Duration) -> BoxFuture<'_, StopReport> {
        Box::pin(async { StopReport::nothing() })
    }

    fn logs(&self) -> String {
        String::new()
    }

    fn log_path(&self) -> &Path {
        Path::new("")
    }
}
