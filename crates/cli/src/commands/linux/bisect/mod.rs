//! `bakeoff bisect`: the search for the commit that made a service worse.

mod args;

use std::path::PathBuf;

use bakeoff_session::clock;
use bakeoff_workflows::bisect::{self, Bisect};

use super::{series, service_load};

pub(crate) use args::BisectArgs;

/// Runs the command.
pub(crate) fn bisect(args: &BisectArgs) -> anyhow::Result<u8> {
    let order = order(args)?;
    series::play(&args.output, &order.results, async |audience| {
        bisect::bisect(&order, audience).await
    })
}

/// Returns the search that the arguments ask for.
pub(crate) fn order(args: &BisectArgs) -> anyhow::Result<Bisect> {
    let results = args.out.clone().unwrap_or_else(|| {
        let name = format!("bisect-{}", clock::now_compact());
        PathBuf::from("results").join(name)
    });
    let duel = service_load::duel(&args.asked)?;
    Ok(Bisect {
        good: args.range.good.clone(),
        bad: args.range.bad.clone(),
        folder: duel.workdir.clone(),
        build: args.build.clone(),
        command: args.command.0.clone(),
        condition: args.fail_if,
        duel,
        profile_cpu: args.profile_cpu,
        at_once: args.at_once.into(),
        within: args.within.0,
        results,
        seed: args.asked.seed.unwrap_or_else(clock::fresh_seed),
    })
}
