//! The open load of a set, in which the response times of its contenders are compared: after all
//! steps, at one rate for all, one contender at a time.

use bakeoff_model::load::Pace;
use bakeoff_model::plan::{LatencyLoad, stated_step};
use bakeoff_model::suite::Step as PlannedStep;
use bakeoff_store::event::Observer;

use super::{Account, Block, LoadDriver, RunContext};
use crate::contracts::Halt;
use crate::stages::load_spec::{self, OpenLoad, OpenSlice, SpecInput};

impl LoadDriver {
    /// The open load of the contenders of these indices, which live: at a share of what the slowest
    /// of them served at the stated step. `None` if the plan has none, and if one of them served
    /// nothing.
    pub(crate) fn open_load(&self, on: &[RunContext<'_>], living: &[usize]) -> Option<OpenLoad> {
        let run = &on.first()?.case.begin.run;
        let load = run.latency?;
        let stated = stated_step(&run.steps)?;
        let rates = living.iter().map(|index| {
            let loaded = self.accounts.get(*index)?.loaded.get(&stated)?;
            Some(loaded.requests_per_s())
        });
        let rates: Option<Vec<f64>> = rates.collect();
        let slowest = rates?.into_iter().min_by(f64::total_cmp)?;
        let seed = on.first()?.case.seed ^ u64::from(run.repetition);
        let rate_per_s = slowest * LatencyLoad::SHARE_OF_SLOWEST;
        (rate_per_s > 0.0).then(|| OpenLoad::new(load, rate_per_s, on.len(), seed))
    }

    /// Plays an open load on contenders that live, and ends it.
    pub(crate) async fn play_open(
        on: &mut [RunContext<'_>],
        load: &OpenLoad,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Account>, Halt> {
        let spec = |input: &SpecInput<'_>| load_spec::open_load_spec(input, load);
        let mut own = Self::begin_with(on, Vec::new(), spec).await?;
        let steps = on.first().map_or(0, |one| one.case.begin.run.steps.len());
        let mut announced = None;
        for slice in load.slices() {
            let is_new = announced != Some(slice.warm_up);
            announced = Some(slice.warm_up);
            own.slices = slice.number;
            let begins = (steps + usize::from(!slice.warm_up), steps + 2);
            let block = Block {
                step: steps,
                planned: planned(load, slice),
                is_again: false,
                announced: is_new.then_some(begins),
                at_once: 1,
                latency_rate_per_s: Some(load.rate_per_s),
            };
            own.block(on, block, observer).await?;
            if own.all_lost() {
                return Ok(own.accounts);
            }
        }
        own.end().await?;
        Ok(own.accounts)
    }
}

/// A slice as a separate step.
fn planned(load: &OpenLoad, slice: &OpenSlice) -> PlannedStep {
    PlannedStep {
        connections: load.latency.connections,
        duration: slice.duration,
        pace: Pace::Poisson {
            rate_per_s: load.rate_per_s,
        },
        warm_up: slice.warm_up,
        at_least: None,
    }
}
