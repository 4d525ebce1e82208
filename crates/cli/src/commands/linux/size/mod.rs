//! `bakeoff size`: the cheapest shape in which a service meets an objective.

mod args;

use std::path::PathBuf;

use bakeoff_base::hint::hinted;
use bakeoff_session::clock;
use bakeoff_workflows::duel::Duel;
use bakeoff_workflows::size::{self, Prices, Size};

use super::{series, service_load};

pub(crate) use args::SizeArgs;

/// Runs the command.
pub(crate) fn size(args: &SizeArgs) -> anyhow::Result<u8> {
    let order = order(args)?;
    series::play(&args.output, &order.results, async |audience| {
        size::size(&order, audience).await
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
            ..service_load::duel(&args.asked)?
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
