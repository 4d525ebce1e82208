//! The HTTP load engine of bakeoff.
//!
//! [`run`] carries out a [`LoadSpec`]: it opens connections, sends requests by the pace of each
//! step, reads and judges the answers, and hands out one interval per slice. It knows no
//! contender, starts no service and writes no file.
//!
//! One thread per core and next to nothing shared: each thread owns its sockets, buffers, random
//! state and histograms, all of it allocated before the window opens and merged after a slice
//! ended. A request costs two system calls on the common path. There is no async runtime.

#![deny(clippy::undocumented_unsafe_blocks)]

mod check;
mod clock;
mod conduct;
mod connection;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod fuzz;
mod http1;
mod http2;
mod limits;
mod link;
mod null_server;
mod pace;
mod random;
mod reactor;
mod received;
mod request;
mod scenario;
mod shared;
mod socket;
mod tally;
mod tls;
mod verify;
mod websocket;
mod worker;

pub use conduct::run;
pub use limits::raise_nofile;
pub use null_server::NullServer;
pub use shared::Stop;

#[cfg(doc)]
use bakeoff_model::load::LoadSpec;

/// Why an order could not be carried out. What the service does wrong is never one of these: it
/// is counted.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The order makes no sense or asks for what the engine cannot do.
    #[error("{message}")]
    Spec {
        /// What is wrong, a lower-case fragment.
        message: String,
    },
    /// The host refused something that the engine cannot do without.
    #[error("{what}: {source}")]
    System {
        /// What was refused.
        what: String,
        /// The refusal.
        source: std::io::Error,
    },
}
