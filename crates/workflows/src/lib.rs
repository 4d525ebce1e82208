//! The commands of a user that measure: a session, all rounds of a suite, a duel of services that
//! have no suite, the commit that made a service worse, the cheapest limits. Others use the parts
//! of a session: a new suite, the checks alone, a recording, a capture, a contender that stays up.
//!
//! Nothing here knows where contenders run, and nothing here prints.

pub mod bisect;
pub mod capture;
pub mod duel;
pub mod entry;
pub mod init;
pub mod judge;
pub mod noise;
pub mod recording;
mod rounds;
mod series;
pub mod size;
pub mod up;
pub mod verification;
