//! One module a command. A command reads its arguments, calls the parts and prints; it holds no
//! rule of its own about what a number means.

pub(crate) mod bench;
pub(crate) mod build;
pub(crate) mod doctor;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod load_summary;
pub(crate) mod plan;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod verify;

use bakeoff_model::plan::{self as planning, Plan, PlanOptions};
use bakeoff_model::suite::Suite;

/// Becomes the contender that the arguments name; returns only when that failed.
pub(crate) fn shim(args: &[String]) -> anyhow::Result<u8> {
    match bakeoff_runtime::shim::shim_main(args) {
        Ok(never) => match never {},
        Err(error) => Err(error.into()),
    }
}

/// The plan, or every unknown name at once.
pub(crate) fn planned(suite: &Suite, options: &PlanOptions) -> anyhow::Result<Plan> {
    planning::plan(suite, options).map_err(|errors| {
        let list: Vec<String> = errors.iter().map(ToString::to_string).collect();
        anyhow::anyhow!(list.join("\n"))
    })
}

/// Cores that this process may use.
pub(crate) fn host_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
