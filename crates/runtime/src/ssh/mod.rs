//! Other hosts, as `ssh` reaches them: this program is copied there, into a folder of its own, and
//! started there by a session whenever that needs it. It sends load, answers questions, and runs
//! contenders as processes. What it made there goes with the session, also where that is killed.

mod address;
mod answers;
mod host;
mod instance;
mod question;
mod runtime;
mod send;
mod serve;
mod way;

pub use self::address::SshAddress;
pub use self::host::{FarClock, SshHost};
pub use self::runtime::SshRuntime;
pub use self::serve::serve;
pub(crate) use self::way::{Held, READY, host_and_port};
