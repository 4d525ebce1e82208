//! `bakeoff bisect`: which commit made a service worse.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use bakeoff_session::bisect::{self, Bisect};
use bakeoff_session::clock;
use bakeoff_session::session::{Audience, Ended};
use bakeoff_session::store::recorder::refuse_session;

use super::asked;
use super::run::status;
use super::signals::interrupted;
use crate::args::BisectArgs;
use crate::output;

/// Runs the command.
pub(crate) fn bisect(args: &BisectArgs) -> anyhow::Result<u8> {
    let order = order(args)?;
    refuse_session(&order.results)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    runtime.block_on(async {
        let mut watcher = output::watcher(&args.output)?;
        let mut audience = Audience {
            watcher: &mut *watcher,
            interruption: || Box::pin(interrupted()),
            sitting: None,
        };
        let ended = bisect::bisect(&order, &mut audience).await?;
        if ended == Ended::Interrupted && !args.output.quiet {
            let folder = order.results.display();
            // A closed terminal is no reason to fail.
            let _ = writeln!(
                std::io::stderr(),
                "interrupted; what was measured is in {folder}"
            );
        }
        Ok(status(ended))
    })
}

/// Returns the search that the arguments ask for.
pub(crate) fn order(args: &BisectArgs) -> anyhow::Result<Bisect> {
    let results = args.out.clone().unwrap_or_else(|| {
        let name = format!("bisect-{}", clock::now_compact());
        PathBuf::from("results").join(name)
    });
    let duel = asked::duel(&args.asked)?;
    Ok(Bisect {
        good: args.range.good.clone(),
        bad: args.range.bad.clone(),
        folder: duel.workdir.clone(),
        build: args.build.clone(),
        command: args.command.0.clone(),
        condition: args.fail_if,
        duel,
        at_once: args.at_once.into(),
        within: args.within.0,
        results,
        seed: args.asked.seed.unwrap_or_else(clock::fresh_seed),
    })
}
