//! `bakeoff size`: the cheapest shape in which a service keeps a promise.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use bakeoff_session::clock;
use bakeoff_session::duel::Duel;
use bakeoff_session::hint::hinted;
use bakeoff_session::session::{Audience, Ended};
use bakeoff_session::size::{self, Prices, Size};
use bakeoff_session::store::recorder::refuse_session;

use super::asked;
use super::run::status;
use super::signals::interrupted;
use crate::args::SizeArgs;
use crate::output;

/// Runs the command.
pub(crate) fn size(args: &SizeArgs) -> anyhow::Result<u8> {
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
        let ended = size::size(&order, &mut audience).await?;
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

/// Returns the question that the arguments ask.
pub(crate) fn order(args: &SizeArgs) -> anyhow::Result<Size> {
    if args.asked.cpus.is_some() {
        return Err(hinted(
            "--cpus: several CPU limits are measured",
            "name them with --shapes 0.5,1",
        ));
    }
    let results = args.out.clone().unwrap_or_else(|| {
        let name = format!("size-{}", clock::now_compact());
        PathBuf::from("results").join(name)
    });
    Ok(Size {
        duel: Duel {
            sides: vec![args.side.0.clone()],
            compose_file: args.compose.clone(),
            ..asked::duel(&args.asked)?
        },
        rate_per_s: args.rate.0,
        slo: args.slo.clone(),
        cpus: args.shapes.iter().map(|cpus| cpus.0).collect(),
        prices: Prices {
            cpu_hour: args.cpu_price.0,
            gib_hour: args.memory_price.0,
        },
        within: args.within.0,
        results,
        seed: args.asked.seed.unwrap_or_else(clock::fresh_seed),
    })
}
