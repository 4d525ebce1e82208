//! Rules for fair numbers: one rulebook for `run`, `load` and the report.
//!
//! [`Evidence`] is what was counted and read over a stretch of time; it can be added up.
//! [`judge()`] applies every rule of [`RULES`] to it. Nothing here reads a clock or a file, so that
//! any caller can judge the records again and reach the same verdicts.

pub mod audit;
mod concurrency;
mod cpu_missing;
mod disturbance;
mod evidence;
mod in_turns;
mod judge;
mod load;
mod measures;
mod reading;
mod record;
mod rising;
mod rules;
mod taken;
mod times;
mod turns;
mod used;
mod warm_end;
mod warm_up;
mod work;

pub use disturbance::disturbance;
pub use evidence::{Evidence, Phase, Setting, Slice};
pub use judge::{JudgedSlice, StepJudge, judge};
pub use reading::Reading;
pub use record::{evidence_of, judge_record, judged_record, taken_by_others};
pub use rising::{RiseInTurns, growth_beside};
pub use rules::{Limit, LimitSide, RULES, Rule};
pub use turns::{FULL, UNDISTURBED};
pub use warm_end::count_warm_ends;
pub use warm_up::{WarmUp, is_warm};
pub use work::{log_lines_due, logs_under_load};
