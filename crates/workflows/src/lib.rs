//! The commands of a user that measure: a session, all rounds of a suite, a duel of services that
//! have no suite, the commit that made a service worse, the cheapest limits. Others use the parts
//! of a session: a new suite, the checks alone, a recording, a capture, a contender that stays up.
//!
//! Nothing here knows where contenders run, and nothing here prints. What needs a part of a session
//! needs Linux, and the rest compiles everywhere.

pub mod captured;
pub mod init;
pub mod judge;
pub mod service;

#[cfg(target_os = "linux")]
pub mod bisect;
#[cfg(target_os = "linux")]
pub mod capture;
#[cfg(target_os = "linux")]
pub mod duel;
#[cfg(target_os = "linux")]
pub mod entry;
#[cfg(target_os = "linux")]
pub mod noise;
#[cfg(target_os = "linux")]
pub mod recording;
#[cfg(target_os = "linux")]
mod rounds;
#[cfg(target_os = "linux")]
mod series;
#[cfg(target_os = "linux")]
pub mod size;
#[cfg(target_os = "linux")]
pub mod up;
#[cfg(target_os = "linux")]
pub mod verification;
