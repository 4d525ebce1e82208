//! The runtime against real processes, real control groups and real toolchains.
//!
//! What a host does not permit is said loudly and not passed over in silence.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows tests by their attribute, not their helpers"
)]

mod backend;
mod build;
mod docker;
mod http;
mod jvm;
mod postgres;
mod process;
mod side_by_side;
mod support;
