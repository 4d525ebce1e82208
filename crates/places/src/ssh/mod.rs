//! Other hosts, as `ssh` reaches them: this program is copied there, into a separate folder, and
//! started there by a session whenever that needs it. It sends load, serves requests, and runs
//! contenders as processes. Everything that it made there is removed with the session, even if that
//! is killed.

mod connection;
mod file_copy;
mod host;
mod instance;
mod runtime;
mod way;

pub(crate) use crate::ssh::connection::{Held, READY, host_and_port};
pub use crate::ssh::host::{FarClock, SshHost};
pub use crate::ssh::runtime::SshRuntime;
