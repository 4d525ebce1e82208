//! HTTP/1.1 (RFC 9112): responses read from bytes as they arrive, in pieces of any size.
//!
//! A complete head with a status and a content-length takes the fast path of [`head`]; everything
//! else goes through `httparse`. Bodies are counted and discarded unless the response is captured.

pub(crate) mod chunked;
pub(crate) mod client;
pub(crate) mod head;
pub(crate) mod pipeline;
pub(crate) mod reader;
#[cfg(test)]
mod tests;
