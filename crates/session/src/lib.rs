//! A measurement from plan to records: builds contenders, starts the backend, and for each planned
//! run starts, checks, loads and stops one of them. Everything that happens is an
//! [`bakeoff_store::event::Event`]; only observers print or write.
//!
//! The program that hosts a session must offer the sub-commands that sessions start as separate
//! processes: `load -`, `null-server`, `replay` and `shim`.

pub mod baseline;
pub mod capacity;
mod changes;
pub mod clock;
pub mod contracts;
pub mod driver;
pub mod environment;
pub mod flame;
pub mod opening;
mod pilot;
pub mod placement;
pub mod ready_case;
mod remaining;
pub mod revision;
mod run_count;
pub mod selection;
mod sequential;
pub mod session;
pub mod sitting;
pub mod stages;
pub mod store;
pub mod testbed;
pub mod turn_requirements;

#[cfg(test)]
mod tests;
