//! One run of a search for a capacity: as a load, but that trials follow the warm-up. Each trial is
//! a step with its slices like any other, by a separate load generator, because what it sends
//! depends on all trials before it.

use std::collections::BTreeMap;

use bakeoff_base::number::as_f64;
use bakeoff_model::load::{Connections, LoadInterval};
use bakeoff_model::record::Record;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::record::totals::Totals;
use bakeoff_model::suite::Step;
use bakeoff_model::suite::capacity::{Capacity, CapacityRecord, Purpose};
use bakeoff_model::suite::slo::Slo;
use bakeoff_store::event::{self, Observer};
use bakeoff_validity::JudgedSlice;

use super::load_run;
use super::measure::{LoadDriver, RunContext};
use super::row_count;
use super::start::stage;
use crate::capacity::{CapacitySearch, Measured};
use crate::contracts::{Halt, SessionDeps};
use crate::ready_case::Case;

/// Makes one run of this kind. `former` is what earlier runs of the same case found.
pub(crate) async fn make(
    parts: &SessionDeps<'_>,
    case: &Case,
    former: &[CapacityRecord],
    notes: &mut Vec<String>,
    observer: &mut dyn Observer,
) -> Result<Option<Connections>, Halt> {
    let mut instance = load_run::verified(parts, case, observer).await?;
    let counted = row_count::before(parts, case).await?;
    stage(observer, case, Stage::Load)?;
    let mut on = RunContext {
        parts,
        case,
        instance: instance.as_mut(),
    };
    let mut loading = LoadDriver::begin(std::slice::from_ref(&on)).await?;
    let loaded = search(&mut loading, &mut on, former, observer).await;
    let account = loading.close(0);
    load_run::finish(&mut on, account, counted, loaded, notes, observer).await
}

/// The steps before the search, then all of its trials.
async fn search(
    loading: &mut LoadDriver,
    on: &mut RunContext<'_>,
    former: &[CapacityRecord],
    observer: &mut dyn Observer,
) -> Result<(), Halt> {
    let case = on.case;
    let run = &case.begin.run;
    let Some(capacity) = &run.capacity else {
        return Err(Failure::new(Stage::Load, "the plan does not say what is looked for").into());
    };
    let steps = run.steps.len();
    let mut closed = Totals::default();
    while loading.has_next() {
        let slices = loading.play_alone(on, observer).await?;
        let loads = slices.iter().map(|slice| &slice.load);
        let last = loads.filter(|load| load.step + 1 == steps);
        last.for_each(|load| closed.add(load));
    }
    loading.end().await?;
    let to_confirm = to_confirm(capacity, former);
    let search = CapacitySearch::new(capacity, steps, closed.requests_per_s(), &to_confirm);
    let mut search = search.map_err(|why| Failure::of(Stage::Load, why))?;
    for (slo, rate_per_s) in to_confirm {
        let step = capacity.step(rate_per_s, Purpose::Confirmation);
        let measured = trial(loading, on, step, search.next_step(), observer).await?;
        let record = search.confirm(&slo, rate_per_s, &measured);
        event::record(observer, case.run_id(), Record::Trial(record))?;
    }
    while let Some(rate_per_s) = search.next_rate() {
        let step = capacity.step(rate_per_s, Purpose::Search);
        let measured = trial(loading, on, step, search.next_step(), observer).await?;
        let record = search.take(rate_per_s, &measured);
        event::record(observer, case.run_id(), Record::Trial(record))?;
    }
    for found in search.found() {
        event::record(observer, case.run_id(), Record::Capacity(found))?;
    }
    Ok(())
}

/// Plays one step of open load, the `index`-th of all steps.
async fn trial(
    loading: &mut LoadDriver,
    on: &mut RunContext<'_>,
    step: Step,
    index: usize,
    observer: &mut dyn Observer,
) -> Result<Measured, Halt> {
    let mut own = LoadDriver::begin_step(on, step, index).await?;
    let slices = own.play_alone(on, observer).await?;
    own.end().await?;
    let account = own.close(0);
    loading.absorb(0, account.without_verdicts());
    let parts = slices.into_iter().map(|slice| (slice.judged, slice.load));
    let (judged, loads): (Vec<JudgedSlice>, Vec<LoadInterval>) = parts.unzip();
    let slices: Vec<(JudgedSlice, &LoadInterval)> = judged.into_iter().zip(&loads).collect();
    Ok(Measured::of(&slices))
}

/// For each objective that former runs have a capacity of, what a fresh process must hold: a little
/// less than their geometric mean.
fn to_confirm(capacity: &Capacity, former: &[CapacityRecord]) -> Vec<(Slo, f64)> {
    let mut logs: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for record in former {
        if let Some(found) = record.capacity {
            let of_slo = logs.entry(record.slo.to_string()).or_default();
            of_slo.push(found.rate_per_s.ln());
        }
    }
    let rate = |slo: &Slo| {
        let logs = logs.get(&slo.to_string())?;
        let mean = logs.iter().sum::<f64>() / as_f64(logs.len() as u64);
        Some((slo.clone(), capacity.to_confirm(mean.exp())))
    };
    capacity.slos.iter().filter_map(rate).collect()
}
