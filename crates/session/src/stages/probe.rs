//! The cost of one part of a request's work: a separate program does that part alone, as often as
//! configured, under the run's limits and on its cores, and says its CPU time.
//!
//! The program measures itself, because only it can separate the work from its own start and
//! warm-up.

use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_model::record::failure::Stage;
use bakeoff_model::record::{CheckRecord, ProbeRecord, Record};
use bakeoff_model::request::check::CheckOutcome;
use bakeoff_model::suite::conditions::TrafficPath;
use bakeoff_places::{Instance, Runtime, StartSpec};
use bakeoff_store::event::{self, Observer};
use tokio::time::{Instant, sleep};

use super::start::stage;
use super::verify::elapsed_ns;
use crate::contracts::SessionDeps;
use crate::ready_case::Case;

/// The group of probes that say nothing.
const GROUP: &str = "probe";
/// How often an end is looked for.
const POLL: Duration = Duration::from_millis(20);
/// How long a probe may take.
const LIMIT: Duration = Duration::from_secs(120);
/// Longest line of a probe that a message shows, characters.
const SHOWN_CHARS: usize = 100;

/// Measures every probe of the case. One that says nothing is a bad check, not a failed run: what
/// is measured under load does not depend on it.
///
/// # Errors
/// Errors of the observer.
pub(crate) async fn measure(
    parts: &SessionDeps<'_>,
    case: &Case,
    observer: &mut dyn Observer,
) -> anyhow::Result<()> {
    let is_ours = parts.place.runtime.traffic_path() != TrafficPath::External;
    if case.probes.is_empty() || !is_ours {
        return Ok(());
    }
    stage(observer, case, Stage::Probe)?;
    for probe in &case.probes {
        let begun = Instant::now();
        let record = match cpu_ns(&*parts.place.runtime, &probe.start).await {
            Ok(cpu_ns) => Record::Probe(ProbeRecord {
                name: probe.name.clone(),
                request: probe.request.clone(),
                operations: probe.operations,
                cpu_ns,
            }),
            Err(problem) => Record::Check(CheckRecord {
                group: GROUP.to_owned(),
                name: probe.name.clone(),
                outcome: CheckOutcome::Bad {
                    assertion: problem.to_string(),
                },
                duration_ns: elapsed_ns(begun),
                value: None,
            }),
        };
        event::record(observer, case.run_id(), record)?;
    }
    Ok(())
}

/// CPU time of all operations of a probe, ns.
async fn cpu_ns(runtime: &dyn Runtime, start: &StartSpec) -> Result<u64, Problem> {
    let mut instance = runtime.start(start).await?;
    let ended = tokio::time::timeout(LIMIT, end(instance.as_mut())).await;
    instance.stop(Duration::ZERO).await;
    match ended {
        Ok(Ok(())) => said(&instance.logs()),
        Ok(Err(message)) => Err(message),
        Err(_) => Err(format!("still running after {} s", LIMIT.as_secs()).into()),
    }
}

/// Waits for the end of a probe, which must be a good one.
async fn end(instance: &mut dyn Instance) -> Result<(), Problem> {
    let exit = loop {
        match instance.exited().await {
            Some(exit) => break exit,
            None => sleep(POLL).await,
        }
    };
    if exit.code == Some(0) {
        return Ok(());
    }
    let log = instance.logs();
    let last = last_line(&log).unwrap_or_default();
    Err(format!("{exit}: {last}").into())
}

/// The CPU time that a probe says, ns: seconds, on its last line.
fn said(log: &str) -> Result<u64, Problem> {
    let line = last_line(log).ok_or("it prints nothing")?;
    let seconds: Option<f64> = line.parse().ok();
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match time.map(|time| u64::try_from(time.as_nanos())) {
        Some(Ok(ns)) if ns > 0 => Ok(ns),
        _ => Err(format!("its last line is not a time in seconds: {line:?}").into()),
    }
}

fn last_line(log: &str) -> Option<String> {
    let last = log
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty());
    last.map(|line| line.chars().take(SHOWN_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn the_last_line_is_a_time() {
        for (log, expect) in [
            ("warming up\n1.25\n", Ok(1_250_000_000)),
            ("0.000000001", Ok(1)),
            ("3 \n\n", Ok(3_000_000_000)),
            ("\n", Err("it prints nothing")),
            ("0\n", Err("its last line is not a time in seconds: \"0\"")),
            (
                "-1\n",
                Err("its last line is not a time in seconds: \"-1\""),
            ),
            (
                "1e40",
                Err("its last line is not a time in seconds: \"1e40\""),
            ),
            (
                "1 s",
                Err("its last line is not a time in seconds: \"1 s\""),
            ),
        ] {
            assert_eq!(said(log), expect.map_err(Into::into), "{log:?}");
        }
    }
}
