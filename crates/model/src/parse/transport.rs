//! The transport of a benchmark's requests, as people write it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::source::{KeyPath, Reading};
use crate::load::transport::Transport;
use crate::load::{Protocol, TimeUnit, WebSocket};
use crate::request::RequestSpec;

/// How the requests of a benchmark travel.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TransportTable {
    /// The protocol; `http1` unless given.
    #[serde(default)]
    pub protocol: ProtocolName,
    /// Connections stay open after a response; `true` unless given.
    pub keep_alive: Option<bool>,
    /// Requests in flight at the same time on each connection: concurrent streams of HTTP/2,
    /// pipelined requests of HTTP/1.1; 1 unless given.
    #[schemars(range(min = 1))]
    pub in_flight: Option<u32>,
    /// Messages after which a connection is closed and reopened; no bound unless given;
    /// `websocket` only.
    #[schemars(range(min = 1))]
    pub messages: Option<u32>,
    /// Each message begins with the time of its sending, in this unit since the Unix epoch, from
    /// which its latency runs; `websocket` only.
    pub timestamp: Option<TimeUnit>,
}

/// The protocols that there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProtocolName {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2 by prior knowledge.
    Http2,
    /// WebSocket: the first request is the upgrade; then each connection waits for one message
    /// after the other, and a request with a body sends it as a text before.
    Websocket,
}

pub(super) fn transport(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    table: &TransportTable,
) -> Transport {
    let of_websocket = [
        ("messages", table.messages.is_some()),
        ("timestamp", table.timestamp.is_some()),
    ];
    for (key, is_given) in of_websocket {
        if is_given && table.protocol != ProtocolName::Websocket {
            let message = format!("`{place}`: `{key}` is for `protocol = \"websocket\"`");
            reading.complain(&place.key(key), &message, None);
        }
    }
    let transport = Transport {
        protocol: match table.protocol {
            ProtocolName::Http1 => Protocol::Http1,
            ProtocolName::Http2 => Protocol::Http2,
            ProtocolName::Websocket => Protocol::Websocket(WebSocket {
                messages: table.messages.unwrap_or(0),
                timestamp: table.timestamp,
            }),
        },
        keep_alive: table.keep_alive.unwrap_or(true),
        in_flight: table.in_flight.unwrap_or(1),
        tls: false,
        grpc: false,
    };
    if let Some(why) = transport.contradiction() {
        reading.complain(place, &format!("`{place}`: {why}"), None);
    }
    transport
}

/// Complains of server-sent events if the transport cannot carry any.
pub(super) fn check_events(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    transport: &Transport,
    requests: &[RequestSpec],
) {
    let has_events = requests.iter().any(|request| request.events.is_some());
    if let Some(why) = transport.contradiction_to_events().filter(|_| has_events) {
        reading.complain(place, &format!("`{place}`: {why}"), None);
    }
}
