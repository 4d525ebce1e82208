//! Tests of the rulebook.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod audit;
mod conditions;
mod little;
mod methodology;
mod records;
mod rising;
mod steps;
mod turns;
mod warm_end;
mod warm_up;
mod work;
mod world;
