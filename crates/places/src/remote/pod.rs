//! The view of this program in a Pod: it asks a service, waits for it, reads the meters of a
//! container.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use bakeoff_model::measure::resource::ResourceSample;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::meter::Meter;
use crate::ready::monotonic_ns;
use crate::remote::protocol::{PodReply, PodRequest, RemoteReply, ServiceRequest};
use crate::remote::watch::{await_program, meter, watch};
use crate::remote::{CGROUP_MOUNT, RECORDINGS, SCRATCH, sidecar};
use crate::services::{ReplayNotes, elasticsearch};
use crate::{host, http};

/// The other containers of this Pod or this node.
pub(super) struct Containers {
    /// The cgroup files of the node, if this Pod sees them.
    root: Option<&'static Path>,
    notes: ReplayNotes,
    meters: HashMap<String, Meter>,
}

impl Containers {
    pub(super) fn of_this_pod() -> Self {
        Self {
            root: Some(Path::new(CGROUP_MOUNT)).filter(|mount| mount.is_dir()),
            notes: ReplayNotes::in_folder(Path::new(SCRATCH)),
            meters: HashMap::new(),
        }
    }

    pub(super) async fn reply(&mut self, question: PodRequest) -> RemoteReply {
        RemoteReply::Pod(match question {
            PodRequest::Ask(request) => response(&request).await,
            PodRequest::Watch(watched) => {
                let root = self.root;
                let watching = tokio::task::spawn_blocking(move || {
                    watch(&watched, |deadline| match root {
                        Some(root) => await_program(root, &watched, deadline),
                        None => sidecar::await_program(deadline),
                    })
                });
                watching.await.unwrap_or(PodReply::NoProgram)
            }
            PodRequest::Notes => PodReply::Notes {
                requests: self.notes.requests().await,
                unknown: self.notes.unknown(),
            },
            PodRequest::Sample { container } => return self.sample(container),
            PodRequest::Fill { node, warm_up_ns } => fill(node, warm_up_ns).await,
            PodRequest::Statistics { node } => PodReply::Notes {
                requests: elasticsearch::requests(node).await,
                unknown: Vec::new(),
            },
        })
    }

    fn sample(&mut self, container: String) -> RemoteReply {
        let found = || match self.root {
            Some(root) => meter(root, &container),
            None => sidecar::meter(),
        };
        if !self.meters.contains_key(&container)
            && let Some(meter) = found()
        {
            // Contenders come one after the other: the files of former ones lead nowhere.
            self.meters
                .retain(|_, meter: &mut Meter| !meter.processes().is_empty());
            self.meters.insert(container.clone(), meter);
        }
        let sample = self.meters.get(&container).map(Meter::sample);
        let absent = || ResourceSample {
            at_ns: monotonic_ns(),
            ..ResourceSample::default()
        };
        RemoteReply::Sample(Box::new(sample.unwrap_or_else(absent)), host::time())
    }
}

async fn fill(node: SocketAddr, warm_up_ns: u64) -> PodReply {
    let warm_up = Duration::from_nanos(warm_up_ns);
    match elasticsearch::prepare(node, Path::new(RECORDINGS), warm_up).await {
        Ok(()) => PodReply::Filled,
        Err(error) => PodReply::NoAnswer(error.to_string()),
    }
}

async fn response(request: &ServiceRequest) -> PodReply {
    let body = STANDARD.decode(&request.body).unwrap_or_default();
    let limit = Duration::from_nanos(request.limit_ns);
    let question = http::HttpRequest {
        method: &request.method,
        path: &request.path,
        headers: &request.headers,
        body: &body,
    };
    match http::ask_over(&request.spoken, request.to, question, limit).await {
        Ok(answer) => PodReply::Response {
            status: answer.status,
            grpc_status: answer.grpc_status,
            headers: answer.headers,
            body: STANDARD.encode(answer.body),
        },
        Err(error) => PodReply::NoResponse(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{SocketAddr, TcpListener};
    use std::sync::Arc;
    use std::thread;

    use bakeoff_model::load::tls::{Pem, Tls};
    use rcgen::{CertificateParams, KeyPair};
    use rustls::crypto::ring::default_provider;
    use rustls::pki_types::PrivateKeyDer;
    use rustls::{ServerConfig, ServerConnection, StreamOwned};

    use super::response;
    use crate::Spoken;
    use crate::remote::protocol::{PodReply, PodRequest, ServiceRequest};

    /// A service over TLS that responds to one request; its address, and the text of its
    /// certificate.
    fn secure_service() -> (SocketAddr, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let text = certificate.pem();
        let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let chain = vec![certificate.der().clone()];
        let config = builder.with_no_client_auth().with_single_cert(chain, key);
        let config = Arc::new(config.unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let session = ServerConnection::new(config).unwrap();
            let mut stream = StreamOwned::new(session, stream);
            let _ = stream.read(&mut [0; 1024]);
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            let _ = stream.write_all(answer).and_then(|()| stream.flush());
        });
        (address, text)
    }

    #[tokio::test]
    async fn a_request_goes_over_tls_with_certificates_that_came_with_it() {
        let (to, pem) = secure_service();
        let tls = Tls {
            name: Some("localhost".to_owned()),
            ca: Some(Pem::Text { pem }),
            ..Tls::default()
        };
        let asked = PodRequest::Ask(Box::new(ServiceRequest {
            to,
            spoken: Spoken {
                tls: Some(tls),
                is_grpc: false,
            },
            method: "GET".to_owned(),
            path: "/".to_owned(),
            headers: Vec::new(),
            body: String::new(),
            limit_ns: 5_000_000_000,
        }));
        let line = serde_json::to_string(&asked).unwrap();
        let PodRequest::Ask(request) = serde_json::from_str(&line).unwrap() else {
            panic!("another question: {line}");
        };
        match response(&request).await {
            PodReply::Response { status, body, .. } => assert_eq!((status, &*body), (200, "b2s=")),
            other => panic!("{other:?}"),
        }
    }
}
