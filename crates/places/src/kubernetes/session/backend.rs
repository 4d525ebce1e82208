//! A backend in a Pod: the replay, an Elasticsearch, or a PostgreSQL.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::suite::ReplaySettings;

use crate::kubernetes::pods::client::PodClient;
use crate::kubernetes::session::instance::sample;
use crate::remote::protocol::{PodReply, RemoteReply, RemoteRequest};
use crate::remote::{PROGRAM, RECORDINGS, SCRATCH};
use crate::services::{Databases, ReplayNotes, Service};
use crate::{BoxFuture, StopReport};

/// The port on which the backend listens in its Pod.
pub(crate) const PORT: u16 = 9200;

/// A backend in a Pod. It goes with what the session made.
#[derive(Debug)]
pub struct BackendPod {
    pub(crate) address: SocketAddr,
    pub(crate) container: String,
    pub(crate) meter: Arc<PodClient>,
    /// The source of its request count and of the requests that the replay had no response to; with
    /// the query.
    pub(crate) notes: Option<(Arc<PodClient>, RemoteRequest)>,
    /// The databases of a PostgreSQL.
    pub(crate) databases: Option<Databases>,
    /// Unknown requests that were reported with a sample.
    pub(crate) unknown: Mutex<Vec<String>>,
}

impl BackendPod {
    async fn note(&self) -> Option<u64> {
        let (notes, question) = self.notes.as_ref()?;
        let reply = notes.ask(question).await;
        let Ok(RemoteReply::Pod(PodReply::Notes { requests, unknown })) = reply else {
            return None;
        };
        let mut noted = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        noted.extend(unknown);
        requests
    }
}

impl Service for BackendPod {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn sample(&self) -> BoxFuture<'_, ResourceSample> {
        Box::pin(async {
            let (sampled, requests) =
                tokio::join!(sample(&self.meter, &self.container), self.note());
            ResourceSample {
                requests,
                ..sampled.resources
            }
        })
    }

    fn unknown_requests(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(async {
            self.note().await;
            let mut noted = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *noted)
        })
    }

    fn databases(&self) -> Option<&Databases> {
        self.databases.as_ref()
    }

    fn stop(&mut self) -> BoxFuture<'_, StopReport> {
        Box::pin(async { StopReport::nothing() })
    }
}

/// How the replay is started in its Pod.
pub(crate) fn replay_command(settings: &ReplaySettings) -> Vec<String> {
    let [unknown, count] = ReplayNotes::FILES.map(|name| format!("{SCRATCH}/{name}"));
    let listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), PORT);
    let mut command = vec![PROGRAM.to_owned(), "replay".to_owned()];
    let flags = [
        ("--recordings", RECORDINGS.to_owned()),
        ("--listen", listen.to_string()),
        ("--delay", settings.delay.to_string()),
        ("--unknown", unknown),
        ("--count", count),
    ];
    command.extend(
        flags
            .into_iter()
            .flat_map(|(flag, value)| [flag.to_owned(), value]),
    );
    if settings.gzip {
        command.push("--gzip".to_owned());
    }
    if let Some(queue) = settings.queue {
        command.extend(["--queue".to_owned(), queue.to_string()]);
    }
    command
}
