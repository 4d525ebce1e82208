//! The protocols that a service speaks on its port.

use bakeoff_grpc::Schema;
use bakeoff_model::tls::Tls;

/// The protocols that a service speaks on its port: HTTP/1.1 without TLS unless it is said here.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wire {
    /// How it is reached over TLS; `None` where it is not.
    pub tls: Option<Tls>,
    /// The messages of a service that speaks gRPC.
    pub grpc: Option<Schema>,
}

impl Wire {
    /// Returns the protocol as TLS negotiates it (RFC 7301).
    pub(crate) fn alpn(&self) -> &'static [u8] {
        match &self.grpc {
            Some(_) => b"h2",
            None => b"http/1.1",
        }
    }
}
