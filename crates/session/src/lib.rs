//! A measurement from plan to records: builds contenders, starts the backend, and for each planned
//! run starts, checks, loads and stops one of them. Everything that happens is an
//! [`event::Event`]; only observers print or write.
//!
//! The program that hosts a session must offer the sub-commands that sessions start as separate
//! processes: `load -`, `null-server`, `replay` and `shim`.

pub mod baseline;
pub mod bisect;
pub mod capacity;
pub mod clock;
pub mod contracts;
pub mod driver;
pub mod duel;
pub mod entry;
pub mod event;
pub mod flame;
pub mod fleet;
mod grpc;
pub mod hint;
pub mod init;
pub mod opening;
pub mod options;
mod pilot;
pub mod placement;
pub mod ready_case;
pub mod recording;
mod remaining;
mod revision;
mod rounds;
mod run_count;
pub mod selection;
mod sequential;
mod series;
pub mod session;
pub mod shell_text;
pub mod sitting;
pub mod size;
pub mod stages;
pub mod store;
pub mod testbed;
pub mod turn_requirements;
pub mod up;
pub mod verification;

#[cfg(test)]
mod tests;
