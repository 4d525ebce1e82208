//! A set: the contenders of a benchmark are started and checked one after the other, and then one
//! load generator loads all of them in turns. Each stays a run with its own records, and one that
//! fails takes only itself out.

use bakeoff_model::record::failure::Stage;
use bakeoff_places::Instance;
use bakeoff_store::event::Observer;

use super::{Driver, RunPosition};
use crate::contracts::{Halt, PendingRun, SessionDeps};
use crate::ready_case::Case;
use crate::stages::load_run;
use crate::stages::measure::{Account, LoadDriver, RunContext};
use crate::stages::row_count::{self, Counted};
use crate::stages::start::stage;

/// One contender of a set, alive.
struct SetMember<'a> {
    case: Case,
    notes: Vec<String>,
    instance: Box<dyn Instance>,
    counted: Option<Counted<'a>>,
    /// Whether the run of the contender has ended.
    has_left: bool,
}

/// Plays one set; `place` is that of each of its runs.
pub(super) async fn play(
    driver: &Driver<'_>,
    pending: &[PendingRun],
    place: impl Fn(usize) -> RunPosition,
    observer: &mut dyn Observer,
) -> anyhow::Result<()> {
    let mut members = Vec::new();
    for (offset, one) in pending.iter().enumerate() {
        let case = driver.begin(one, place(offset), observer)?;
        let started = start_member(&driver.parts, &case, observer).await;
        let notes: Vec<String> = driver.unknown_requests().await.collect();
        match started {
            Ok((instance, counted)) => members.push(SetMember {
                case,
                notes,
                instance,
                counted,
                has_left: false,
            }),
            Err(halt) => conclude_unloaded(driver, &case, halt, notes, observer).await?,
        }
    }
    let all = members.iter_mut();
    let mut ons: Vec<RunContext<'_>> = all.map(|member| member.on(&driver.parts)).collect();
    if ons.is_empty() {
        return Ok(());
    }
    let loading = LoadDriver::begin(&ons).await;
    drop(std::mem::take(&mut ons));
    match loading {
        Ok(loading) => load(driver, &mut members, loading, observer).await,
        Err(halt) => leave_all(driver, &mut members, None, Err(halt), observer).await,
    }
}

/// Starts and checks a contender.
async fn start_member<'a>(
    parts: &SessionDeps<'a>,
    case: &Case,
    observer: &mut dyn Observer,
) -> Result<(Box<dyn Instance>, Option<Counted<'a>>), Halt> {
    let instance = load_run::verified(parts, case, observer).await?;
    let counted = row_count::before(parts, case).await?;
    stage(observer, case, Stage::Load)?;
    Ok((instance, counted))
}

/// Ends the run of a contender that was not loaded.
async fn conclude_unloaded(
    driver: &Driver<'_>,
    case: &Case,
    halt: Halt,
    notes: Vec<String>,
    observer: &mut dyn Observer,
) -> anyhow::Result<()> {
    if !matches!(halt, Halt::Fatal(_)) {
        load_run::checked_apart(&driver.parts, case, observer).await?;
    }
    driver.conclude(case, Err(halt), notes, observer).await
}

/// Plays all steps on the contenders that live, and ends their runs.
async fn load<'a>(
    driver: &Driver<'a>,
    members: &mut [SetMember<'a>],
    mut loading: LoadDriver,
    observer: &mut dyn Observer,
) -> anyhow::Result<()> {
    while loading.has_next() {
        let mut ons: Vec<RunContext<'_>> = members
            .iter_mut()
            .map(|one| one.on(&driver.parts))
            .collect();
        let played = loading.play(&mut ons, observer).await;
        drop(ons);
        if let Err(halt) = played {
            let loaded = Err(halt);
            return leave_all(driver, members, Some(&mut loading), loaded, observer).await;
        }
        for (index, member) in members.iter_mut().enumerate() {
            member.notes.extend(driver.unknown_requests().await);
            let Some(failure) = loading.lost(index).filter(|_| !member.has_left).cloned() else {
                continue;
            };
            let account = loading.close(index);
            member
                .stop(driver, account, Err(failure.into()), observer)
                .await?;
        }
        if members.iter().all(|member| member.has_left) {
            return Ok(());
        }
    }
    let mut ended = loading.end().await;
    if ended.is_ok() {
        ended = compare_times(driver, members, &mut loading, observer).await;
    }
    leave_all(driver, members, Some(&mut loading), ended, observer).await
}

/// Loads the contenders that live at one rate, if the plan says so: a new load generator on the
/// same instances, since the rate depends on what the turns have shown.
async fn compare_times<'a>(
    driver: &Driver<'a>,
    members: &mut [SetMember<'a>],
    loading: &mut LoadDriver,
    observer: &mut dyn Observer,
) -> Result<(), Halt> {
    let all = members.iter().enumerate();
    let is_compared =
        |member: &SetMember<'_>| !member.has_left && member.case.begin.run.latency.is_some();
    let living: Vec<usize> = all
        .filter(|(_, member)| is_compared(member))
        .map(|(index, _)| index)
        .collect();
    let alive = members.iter_mut().filter(|member| is_compared(member));
    let mut ons: Vec<RunContext<'_>> = alive.map(|one| one.on(&driver.parts)).collect();
    let Some(load) = loading.open_load(&ons, &living) else {
        return Ok(());
    };
    let accounts = LoadDriver::play_open(&mut ons, &load, observer).await?;
    for (index, account) in living.into_iter().zip(accounts) {
        loading.absorb(index, account);
    }
    Ok(())
}

/// Ends all runs that have not ended.
async fn leave_all(
    driver: &Driver<'_>,
    members: &mut [SetMember<'_>],
    mut loading: Option<&mut LoadDriver>,
    loaded: Result<(), Halt>,
    observer: &mut dyn Observer,
) -> anyhow::Result<()> {
    let failure = match loaded {
        Ok(()) => None,
        Err(Halt::Failed(failure)) => Some(failure),
        Err(Halt::Fatal(error)) => return Err(error),
    };
    for (index, member) in members.iter_mut().enumerate() {
        if member.has_left {
            continue;
        }
        let account = loading.as_mut().map(|loading| loading.close(index));
        let lost = account.as_ref().and_then(|account| account.lost().cloned());
        let loaded = match failure.clone().or(lost) {
            None => Ok(()),
            Some(failure) => Err(failure.into()),
        };
        member
            .stop(driver, account.unwrap_or_default(), loaded, observer)
            .await?;
    }
    Ok(())
}

impl<'a> SetMember<'a> {
    fn on<'s>(&'s mut self, parts: &'s SessionDeps<'a>) -> RunContext<'s> {
        RunContext {
            parts,
            case: &self.case,
            instance: self.instance.as_mut(),
        }
    }

    /// Ends the run: the contender is looked at and stopped.
    async fn stop(
        &mut self,
        driver: &Driver<'_>,
        account: Account,
        loaded: Result<(), Halt>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        self.has_left = true;
        let counted = self.counted.take();
        let mut notes = std::mem::take(&mut self.notes);
        let mut on = RunContext {
            parts: &driver.parts,
            case: &self.case,
            instance: self.instance.as_mut(),
        };
        let made = load_run::finish(&mut on, account, counted, loaded, &mut notes, observer).await;
        if !matches!(made, Err(Halt::Fatal(_))) {
            load_run::checked_apart(&driver.parts, &self.case, observer).await?;
        }
        let concluding = driver.conclude(&self.case, made, notes, observer);
        concluding.await
    }
}
