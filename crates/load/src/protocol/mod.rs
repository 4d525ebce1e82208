//! The protocols, each as a client that loads a service: bytes in, events and bytes out. Nothing
//! here touches a socket or a clock, so each protocol is tested and fuzzed alone.
//!
//! All of them implement one trait, [`interface::Protocol`]; [`any::AnyProtocol`] is the one that a
//! connection uses.

pub(crate) mod any;
pub(crate) mod event;
pub(crate) mod http1;
pub(crate) mod http2;
pub(crate) mod interface;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod sse;
pub(crate) mod token;
pub(crate) mod websocket;
