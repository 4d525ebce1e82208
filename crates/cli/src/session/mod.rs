//! The session, conductor of everything: provision, await ready, verify, load, stop, for each
//! planned run, and an [`event::Event`] for each thing that happens.
//!
//! The session neither prints nor writes: observers do. It reaches processes, containers, the
//! loader and the network only through [`Parts`], so its tests bring fakes and a virtual clock.

pub(crate) mod case;
pub(crate) mod event;
pub(crate) mod lifecycle;
pub(crate) mod measure;
pub(crate) mod order;
pub(crate) mod placement;
pub(crate) mod run;
pub(crate) mod startup;
#[cfg(test)]
mod tests;
pub(crate) mod validity;
pub(crate) mod verify;

use std::net::SocketAddr;

use bakeoff_model::check::{Answer, Check};
use bakeoff_model::plan::RunKind;
use bakeoff_model::record::{EndRecord, Outcome, Record};
use bakeoff_model::resource::ResourceSample;
use bakeoff_model::suite::Suite;
use bakeoff_runtime::host::HostTime;
use bakeoff_runtime::{BoxFuture, Runtime};

use crate::loader::Loader;
use event::{Event, Observer};

/// Asks a service one question over a fresh connection.
pub(crate) trait Client: Send + Sync {
    /// The answer, or why there is none.
    fn ask<'a>(&'a self, to: SocketAddr, check: &'a Check)
    -> BoxFuture<'a, Result<Answer, String>>;
}

/// A backend at work, as far as a session needs it.
pub(crate) trait BackendProbe: Send + Sync {
    /// What it has cost up to now.
    fn sample(&self) -> BoxFuture<'_, ResourceSample>;

    /// Requests that the replay backend had no answer to since the last call.
    fn unknown_requests(&self) -> Vec<String>;
}

/// Everything a session works with.
pub(crate) struct Parts<'a, L> {
    pub(crate) suite: &'a Suite,
    pub(crate) runtime: &'a dyn Runtime,
    pub(crate) loader: &'a L,
    pub(crate) client: &'a dyn Client,
    pub(crate) backend: Option<&'a dyn BackendProbe>,
    pub(crate) host_cores: usize,
    /// What the host's cores did up to now; `None` where the host does not tell.
    pub(crate) host_time: fn() -> Option<HostTime>,
}

/// Why a run cannot go on.
#[derive(Debug)]
pub(crate) enum Halt {
    /// This run failed; the next one may work.
    Failed {
        stage: &'static str,
        message: String,
        evidence: String,
    },
    /// Nothing can be recorded any more.
    Fatal(anyhow::Error),
}

impl From<anyhow::Error> for Halt {
    fn from(error: anyhow::Error) -> Self {
        Self::Fatal(error)
    }
}

/// Tells observers about records.
pub(crate) fn tell(observer: &mut dyn Observer, record: Record) -> anyhow::Result<()> {
    observer.observe(&Event::Recorded {
        record: Box::new(record),
    })
}

/// Plays the planned runs of one session; the caller has built and started everything else.
pub(crate) struct Session<'a, L> {
    pub(crate) parts: Parts<'a, L>,
    pub(crate) cases: &'a dyn Cases,
    /// Makes the time stamp of a record.
    pub(crate) now: fn() -> String,
}

/// A run that is left to make.
#[derive(Debug, Clone)]
pub(crate) struct PendingRun {
    pub(crate) run: bakeoff_model::plan::PlannedRun,
    pub(crate) attempt: u32,
}

/// What the session must know about a contender to start it: supplied by the command that built
/// it, or by a test.
pub(crate) trait Cases {
    /// The case of a planned run.
    fn case(&self, pending: &PendingRun) -> case::Case;
}

impl<L: Loader> Session<'_, L> {
    /// Makes all pending runs in order. A failed run is recorded and the next one begins; only
    /// an observer's error (nothing can be recorded) ends the session early.
    pub(crate) async fn play(
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
        tell(observer, Record::Begin(Box::new(case.begin.clone())))?;
        let mut notes = Vec::new();
        let made = match pending.run.kind {
            RunKind::Load => run::make(&self.parts, &case, &mut notes, observer).await,
            RunKind::Startup => startup::make(&self.parts, &case, observer).await,
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
            Err(Halt::Failed {
                stage,
                message,
                evidence,
            }) => {
                let outcome = Outcome::Failed {
                    stage: stage.to_owned(),
                    message,
                    evidence,
                };
                self.end(outcome, notes, None, observer)
            }
            Err(Halt::Fatal(error)) => Err(error),
        }
    }

    fn end(
        &self,
        outcome: Outcome,
        notes: Vec<String>,
        last_connections: Option<bakeoff_model::load::Connections>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let at = (self.now)();
        tell(
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
