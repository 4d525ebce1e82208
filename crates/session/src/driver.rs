//! Plays the planned runs of one session in order: start, stages, end, for each of them. Reaches
//! processes, containers, the load generator and the network only through [`SessionDeps`].

mod turns;

use std::time::{Duration, Instant};

use bakeoff_model::load::Connections;
use bakeoff_model::plan::{PlannedRun, RunKind};
use bakeoff_model::record::{EndRecord, Outcome, Record};
use bakeoff_model::suite::capacity::CapacityRecord;
use bakeoff_store::event::{self, Event, Observer};

use crate::contracts::{Cases, Halt, PendingRun, SessionDeps};
use crate::ready_case::Case;
use crate::sitting::Sitting;
use crate::stages::{capacity, cold_start, load_run};

/// Where a run is among those that are left to make.
struct RunPosition {
    index: usize,
    runs: usize,
}

/// A range of all the runs to make.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunRange {
    /// How many come before.
    pub(crate) before: usize,
    /// How many there are in all.
    pub(crate) runs: usize,
}

/// Plays the planned runs of one session; the caller has built and started everything else.
pub struct Driver<'a> {
    /// The parts with which the driver works.
    pub parts: SessionDeps<'a>,
    /// How contenders are started.
    pub cases: &'a dyn Cases,
    /// Makes the time stamp of a record.
    pub now: fn() -> String,
    /// Returns the results of searches for a capacity in earlier runs of a run's case.
    pub former: &'a dyn Fn(&PlannedRun) -> anyhow::Result<Vec<CapacityRecord>>,
    /// The sitting, if the session ends with one.
    pub sitting: Option<&'a Sitting>,
}

impl Driver<'_> {
    /// Makes all pending runs in order. A failed run is recorded and the next one starts.
    ///
    /// # Errors
    /// Only an observer's (nothing can be recorded), those of the load generator's start, and
    /// that the sitting is over.
    pub async fn play(
        &self,
        pending: &[PendingRun],
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let part = RunRange {
            before: 0,
            runs: pending.len(),
        };
        self.play_part(pending, &part, observer).await
    }

    /// Makes some of the pending runs in order.
    pub(crate) async fn play_part(
        &self,
        pending: &[PendingRun],
        part: &RunRange,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let mut index = 0;
        while let Some(first) = pending.get(index) {
            let place = |offset: usize| RunPosition {
                index: part.before + index + offset,
                runs: part.runs,
            };
            let rest = &pending[index..];
            let beside = rest.iter().take_while(|one| one.run.is_beside(&first.run));
            let set = beside.count();
            let next = &rest[..set.max(1)];
            let (shortest, longest) = durations(next);
            if let Some(sitting) = self.sitting {
                sitting.fits(shortest, longest)?;
            }
            let began = Instant::now();
            match set {
                0 => self.play_one(first, place(0), observer).await?,
                _ => turns::play(self, next, place, observer).await?,
            }
            if let Some(sitting) = self.sitting {
                sitting.took(longest, began.elapsed());
            }
            index += next.len();
        }
        Ok(())
    }

    async fn play_one(
        &self,
        pending: &PendingRun,
        place: RunPosition,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let case = self.begin(pending, place, observer)?;
        let mut notes = Vec::new();
        let made = match pending.run.kind {
            RunKind::Load => load_run::make(&self.parts, &case, &mut notes, observer).await,
            RunKind::Capacity => {
                let former = (self.former)(&pending.run)?;
                capacity::make(&self.parts, &case, &former, &mut notes, observer).await
            }
            RunKind::Startup => cold_start::make(&self.parts, &case, observer).await,
        };
        notes.extend(self.unknown_requests().await);
        if !matches!(made, Err(Halt::Fatal(_))) {
            load_run::checked_apart(&self.parts, &case, observer).await?;
        }
        self.conclude(&case, made, notes, observer).await
    }

    /// Reports to observers that a run starts, with its first record.
    fn begin(
        &self,
        pending: &PendingRun,
        place: RunPosition,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Case> {
        observer.observe(&Event::RunBegan {
            index: place.index,
            runs: place.runs,
            run: Box::new(pending.run.clone()),
            attempt: pending.attempt,
        })?;
        let case = self.cases.case(pending);
        let begin = Record::Begin(Box::new(case.begin.clone()));
        event::record(observer, case.run_id(), begin)?;
        Ok(case)
    }

    /// Notes on requests since the last call that the backend had no response to.
    async fn unknown_requests(&self) -> impl Iterator<Item = String> + use<> {
        let unknown = self.parts.services.unknown_requests().await.into_iter();
        unknown.map(|request| format!("the replay backend had no recording of: {request}"))
    }

    /// Ends a run by what became of it, unless that says nothing about the contender.
    async fn conclude(
        &self,
        case: &Case,
        made: Result<Option<Connections>, Halt>,
        notes: Vec<String>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        if !matches!(made, Err(Halt::Fatal(_))) {
            self.parts.services_run().await?;
        }
        let (outcome, last_connections) = match made {
            Err(Halt::Fatal(error)) => return Err(error),
            Ok(last) => (Outcome::Completed, last),
            Err(Halt::Failed(failure)) => (failure.into(), None),
        };
        let end = Record::End(EndRecord {
            at: (self.now)(),
            outcome,
            last_connections,
            notes,
        });
        event::record(observer, case.run_id(), end)
    }
}

/// Returns the least and the longest time of these runs.
fn durations(pending: &[PendingRun]) -> (Duration, Duration) {
    let runs = pending.iter().map(|one| &one.run);
    let shortest = runs.clone().map(PlannedRun::shortest).sum();
    (shortest, runs.map(|run| run.expected).sum())
}
