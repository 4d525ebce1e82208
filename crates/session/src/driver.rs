//! Plays the planned runs of one session in order: begin, stages, end, for each of them. Reaches
//! processes, containers, the load generator and the network only through [`Parts`].

use bakeoff_model::load::Connections;
use bakeoff_model::plan::RunKind;
use bakeoff_model::record::{EndRecord, Outcome, Record};

use crate::contracts::{BackendProbe, Cases, Halt, LoadGenerator, Parts, PendingRun};
use crate::event::{self, Event, Observer};
use crate::stages::{cold_start, run};

/// Plays the planned runs of one session; the caller has built and started everything else.
pub struct Driver<'a, L> {
    /// What it works with.
    pub parts: Parts<'a, L>,
    /// How contenders are started.
    pub cases: &'a dyn Cases,
    /// Makes the time stamp of a record.
    pub now: fn() -> String,
}

impl<L: LoadGenerator> Driver<'_, L> {
    /// Makes all pending runs in order. A failed run is recorded and the next one begins.
    ///
    /// # Errors
    /// Only an observer's (nothing can be recorded), and those of the load generator's start.
    pub async fn play(
        &self,
        pending: &[PendingRun],
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        for (index, one) in pending.iter().enumerate() {
            observer.observe(&Event::RunBegan {
                index,
                runs: pending.len(),
                run: Box::new(one.run.clone()),
                attempt: one.attempt,
            })?;
            self.play_one(one, observer).await?;
        }
        Ok(())
    }

    async fn play_one(
        &self,
        pending: &PendingRun,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let case = self.cases.case(pending);
        event::record(observer, Record::Begin(Box::new(case.begin.clone())))?;
        let mut notes = Vec::new();
        let made = match pending.run.kind {
            RunKind::Load => run::make(&self.parts, &case, &mut notes, observer).await,
            RunKind::Startup => cold_start::make(&self.parts, &case, observer).await,
        };
        let unknown = self
            .parts
            .backend
            .map(BackendProbe::unknown_requests)
            .unwrap_or_default();
        notes.extend(
            unknown
                .into_iter()
                .map(|request| format!("the replay backend had no recording of: {request}")),
        );
        match made {
            Ok(last) => self.end(Outcome::Completed, notes, last, observer),
            Err(Halt::Failed(failure)) => self.end(failure.into(), notes, None, observer),
            Err(Halt::Fatal(error)) => Err(error),
        }
    }

    fn end(
        &self,
        outcome: Outcome,
        notes: Vec<String>,
        last_connections: Option<Connections>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let at = (self.now)();
        event::record(
            observer,
            Record::End(EndRecord {
                at,
                outcome,
                last_connections,
                notes,
            }),
        )
    }
}
