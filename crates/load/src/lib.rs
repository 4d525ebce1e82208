//! The load engine of bakeoff.
//!
//! [`run`] carries out a [`LoadSpec`]: it opens connections, sends requests by the pace of each
//! step, reads and judges the responses, and emits one interval per slice. The engine knows no
//! contender, starts no service and writes no file. [`core_sharing()`] measures how much its cores
//! slow down those of the service, which distinguishes hyper-threads of one core from separate
//! cores.
//!
//! One thread per core and next to nothing shared: each thread owns its sockets, buffers, random
//! state and histograms, all of it allocated before the window opens and merged after a slice
//! ended. A request costs two system calls on the common path. There is no async runtime.

#![deny(clippy::undocumented_unsafe_blocks)]

mod clock;
mod coordinator;
mod core_sharing;
mod crew;
mod error;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod fuzz;
mod interval;
mod limits;
mod null_server;
mod payload;
mod prepare;
mod protocol;
mod schedule;
mod shard;
mod shared;
mod tally;
mod threads;
mod transport;
mod turns;
mod worker;

pub use clock::{wall_ahead_ns, wall_ns};
pub use coordinator::run;
pub use core_sharing::core_sharing;
pub use error::LoadError;
pub use limits::raise_nofile;
pub use null_server::NullServer;
pub use prepare::request::single_head;
pub use shared::{Go, Stop};
pub use transport::socket::{chosen_address, may_bind_to_device};

#[cfg(doc)]
use bakeoff_model::load::LoadSpec;
