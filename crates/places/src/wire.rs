//! The protocols that a service speaks on its port.

use bakeoff_grpc::Schema;
use bakeoff_model::load::tls::Tls;
use serde::{Deserialize, Serialize};

/// The protocols that a service speaks on its port: HTTP/1.1 without TLS unless it is said here.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wire {
    /// How the service is reached over TLS; `None` without TLS.
    pub tls: Option<Tls>,
    /// The messages of a service that speaks gRPC.
    pub grpc: Option<Schema>,
}

impl Wire {
    /// Returns what a connection to the service needs.
    #[must_use]
    pub fn spoken(&self) -> Spoken {
        Spoken {
            tls: self.tls.clone(),
            is_grpc: self.grpc.is_some(),
        }
    }
}

/// The protocols of a connection. Without the messages of gRPC: bodies are encoded before they are
/// sent, and decoded after they are received, so that Pods need no descriptors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Spoken {
    /// How TLS is made; `None` without TLS.
    pub tls: Option<Tls>,
    /// Requests are calls of gRPC over HTTP/2.
    pub is_grpc: bool,
}

impl Spoken {
    /// Returns the protocol as TLS negotiates it (RFC 7301).
    pub(crate) fn alpn(&self) -> &'static [u8] {
        match self.is_grpc {
            true => b"h2",
            false => b"http/1.1",
        }
    }
}
