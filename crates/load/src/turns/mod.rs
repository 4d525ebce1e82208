//! Turns: several targets, one at a time, over connections that stay open.

pub(crate) mod counters;
pub(crate) mod gate;
mod length;
