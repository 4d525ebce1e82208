//! The transport of requests: the protocol and how a connection is used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::{Protocol, WebSocket};
use crate::request::scenario::{Connect, Scenario};

/// Most requests in flight on one connection; services allow a few hundred.
pub const IN_FLIGHT_MAX: u32 = 65_536;

/// How requests travel: the protocol and how a connection is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// The protocol.
    pub protocol: Protocol,
    /// Connections stay open after a response.
    pub keep_alive: bool,
    /// Requests in flight at the same time on each connection: concurrent streams of HTTP/2,
    /// pipelined requests of HTTP/1.1.
    pub in_flight: u32,
    /// Connections are encrypted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tls: bool,
    /// Requests are calls of gRPC.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grpc: bool,
}

impl Default for Transport {
    fn default() -> Self {
        Self {
            protocol: Protocol::Http1,
            keep_alive: true,
            in_flight: 1,
            tls: false,
            grpc: false,
        }
    }
}

impl Transport {
    /// Whether this is the usual transport: HTTP/1.1 with keep-alive, one request at a time.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Returns why this transport is impossible; `None` if it is possible.
    #[must_use]
    pub fn contradiction(&self) -> Option<String> {
        let several = self.in_flight > 1;
        let message = match self.protocol {
            Protocol::Http1 if several && !self.keep_alive => {
                "requests cannot be pipelined with keep-alive off"
            }
            Protocol::Http2 if !self.keep_alive => {
                "HTTP/2 keeps its connections; keep-alive is always on"
            }
            Protocol::Websocket(_) if several || !self.keep_alive => {
                "WebSocket waits for one message at a time and keeps its connections"
            }
            _ if self.in_flight == 0 => "at least one request is in flight on a connection",
            _ if self.in_flight > IN_FLIGHT_MAX => {
                return Some(format!(
                    "more than {IN_FLIGHT_MAX} requests in flight on a connection"
                ));
            }
            _ => return None,
        };
        Some(message.to_owned())
    }

    /// Returns why the requests of a scenario cannot travel like this; `None` if they can.
    #[must_use]
    pub fn contradiction_to(&self, scenario: &Scenario) -> Option<&'static str> {
        let is_shared = self.in_flight > 1;
        match self.protocol {
            Protocol::Websocket(_) => Some("scenarios do not support WebSocket"),
            _ if self.grpc => Some("scenarios do not support gRPC"),
            _ if is_shared && scenario.connect == Connect::OnArrival => {
                Some("users that connect on arrival share no connections")
            }
            _ => None,
        }
    }

    /// Returns why a stream of server-sent events cannot be read up to an event; `None` if it can.
    #[must_use]
    pub fn contradiction_to_events(&self) -> Option<&'static str> {
        match self.protocol {
            Protocol::Websocket(_) => Some("server-sent events do not come over WebSocket"),
            Protocol::Http2 if self.grpc => Some("a call of gRPC has messages, not events"),
            Protocol::Http1 if self.in_flight > 1 => {
                Some("a stream that does not end holds up pipelined requests")
            }
            Protocol::Http1 | Protocol::Http2 => None,
        }
    }

    /// Returns the transport in words: `HTTP/2, 8 streams a connection`.
    #[must_use]
    pub fn label(&self) -> String {
        let over = if self.tls { " over TLS" } else { "" };
        format!("{}{over}", self.plain_label())
    }

    fn plain_label(&self) -> String {
        let Self {
            protocol,
            keep_alive,
            in_flight,
            tls: _,
            grpc,
        } = self;
        match (protocol, in_flight) {
            (Protocol::Http1, _) if !keep_alive => {
                "HTTP/1.1, a connection for each request".to_owned()
            }
            (Protocol::Http1, 1) => "HTTP/1.1".to_owned(),
            (Protocol::Http1, _) => format!("HTTP/1.1, {in_flight} requests pipelined"),
            (Protocol::Http2, 1) if *grpc => "gRPC, one call at a time on a connection".to_owned(),
            (Protocol::Http2, _) if *grpc => format!("gRPC, {in_flight} calls a connection"),
            (Protocol::Http2, 1) => "HTTP/2, one stream a connection".to_owned(),
            (Protocol::Http2, _) => format!("HTTP/2, {in_flight} streams a connection"),
            (Protocol::Websocket(WebSocket { messages: 0, .. }), _) => "WebSocket".to_owned(),
            (Protocol::Websocket(WebSocket { messages, .. }), _) => {
                format!("WebSocket, {messages} messages a connection")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Transport;
    use crate::load::{Protocol, WebSocket};

    fn transport(protocol: Protocol, keep_alive: bool, in_flight: u32) -> Transport {
        Transport {
            protocol,
            keep_alive,
            in_flight,
            ..Transport::default()
        }
    }

    #[test]
    fn encrypted_connections_are_said() {
        let encrypted = Transport {
            tls: true,
            ..Transport::default()
        };
        assert_eq!(encrypted.label(), "HTTP/1.1 over TLS");
        assert!(!encrypted.is_usual());
    }

    #[test]
    fn calls_of_grpc_are_said() {
        let mut calls = transport(Protocol::Http2, true, 8);
        calls.grpc = true;
        assert_eq!(calls.label(), "gRPC, 8 calls a connection");
        calls.in_flight = 1;
        assert_eq!(calls.label(), "gRPC, one call at a time on a connection");
    }

    #[test]
    fn labels_name_what_is_unusual() {
        let websocket = Protocol::Websocket(WebSocket {
            messages: 600,
            timestamp: None,
        });
        let cases = [
            (transport(Protocol::Http1, true, 1), "HTTP/1.1"),
            (
                transport(Protocol::Http1, false, 1),
                "HTTP/1.1, a connection for each request",
            ),
            (
                transport(Protocol::Http1, true, 8),
                "HTTP/1.1, 8 requests pipelined",
            ),
            (
                transport(Protocol::Http2, true, 8),
                "HTTP/2, 8 streams a connection",
            ),
            (
                transport(websocket, true, 1),
                "WebSocket, 600 messages a connection",
            ),
        ];
        for (transport, words) in cases {
            assert_eq!(transport.label(), words);
            assert_eq!(transport.contradiction(), None, "{words}");
        }
    }

    #[test]
    fn contradictions_are_named() {
        let websocket = Protocol::Websocket(WebSocket::default());
        for (transport, text) in [
            (transport(Protocol::Http1, false, 2), "pipelined"),
            (transport(Protocol::Http2, false, 1), "keep-alive"),
            (transport(websocket, true, 2), "one message at a time"),
            (transport(Protocol::Http2, true, 65_537), "more than 65536"),
            (transport(Protocol::Http2, true, 0), "at least one"),
        ] {
            let why = transport.contradiction().unwrap_or_default();
            assert!(why.contains(text), "{why}");
        }
    }
}
