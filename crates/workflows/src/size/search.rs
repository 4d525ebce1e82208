//! The sessions of sizing: the least memory that the service needs, then the rate that it sustains
//! with each CPU limit.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use bakeoff_analysis::{Analysis, AnalysisInput, WithInterval};
use bakeoff_base::hint::hinted;
use bakeoff_base::number::as_f64;
use bakeoff_model::parse::DurationText;
use bakeoff_model::parse::files::{KindName, SuiteFiles};
use bakeoff_model::record::{Outcome, Purpose, Results, RunRecords};
use bakeoff_model::suite::Limits;
use bakeoff_session::session::Audience;
use bakeoff_session::store::locked_folder::LockedFolder;
use bakeoff_store::event::Event;
use bakeoff_store::event::sizing::{MemoryNeed, Shape, Sizing};
use bakeoff_store::options::SessionOptions;

use crate::duel::{self, Asked, Duel, DuelRuns, DuelWarmUp, MadeSuite, Unprepared};
use crate::series::{self, Stopped};
use crate::size::Size;
use crate::size::outcome::{self, mib};

/// The least memory that is tried.
const MEMORY_MIN: u64 = 4 << 20;

/// The search for memory ends when the smallest limit that it lived with is this much larger than
/// the largest that it died with.
const MEMORY_PRECISION: f64 = 1.25;

/// Shapes have this much more memory than the service lived with: load of a few seconds does not
/// show all that a service needs in a month.
const MEMORY_MARGIN: f64 = 1.25;

/// Fresh processes of each shape. Each of them searches, and all but the first hold what those
/// before them found. Five short searches take as long as three long ones, and Student's t
/// multiplies the error by 2.8 with five, and by 4.3 with three.
const PROCESSES: u32 = 5;

/// Trials of the first search; those of later ones are half as many.
const TRIALS_AT_MOST: u32 = 12;

/// The outcome of a limit of memory.
enum Tried {
    /// The process served every request; with its highest use of memory, bytes.
    Lived(Option<u64>),
    /// The process failed, with the reason.
    Died(String),
}

/// The state of sizing.
pub(super) struct Search<'a, 'w> {
    order: &'a Size,
    audience: &'a mut Audience<'w>,
    asked: Asked,
    service: String,
    began: Instant,
    sessions: usize,
}

impl<'a, 'w> Search<'a, 'w> {
    /// Starts the service, and sends it the requests.
    pub(super) async fn new(
        order: &'a Size,
        audience: &'a mut Audience<'w>,
    ) -> anyhow::Result<Self> {
        let duel = Duel {
            runs: DuelRuns::Fixed(1),
            control: false,
            latency: false,
            ..order.duel.clone()
        };
        let asked = tokio::select! {
            asked = duel::ask(&duel) => asked,
            () = (audience.interruption)() => return Err(Stopped.into()),
        };
        let asked = asked.map_err(|error| match error {
            Unprepared::Services(error) | Unprepared::Order(error) => error,
        })?;
        let side = order.duel.sides.first().context("no service is named")?;
        Ok(Self {
            order,
            audience,
            asked,
            service: side.name.clone(),
            began: Instant::now(),
            sessions: 0,
        })
    }

    pub(super) fn tell(&mut self, event: &Event) -> anyhow::Result<()> {
        self.audience.watcher.observe(event)
    }

    /// Measures the memory, then each of these CPU limits, as long as there is time.
    pub(super) async fn run(
        &mut self,
        shapes: &[f64],
        mut not_measured: Vec<String>,
    ) -> anyhow::Result<Sizing> {
        let order = self.order;
        let largest = shapes.last().copied().context("no shape is named")?;
        let mut memory = self.memory(largest).await?;
        let mut measured = Vec::new();
        for cpus in shapes {
            if self.is_time_over() && !measured.is_empty() {
                let why = "the time was over; --within gives it more";
                not_measured.push(format!("{cpus} CPU: {why}"));
                continue;
            }
            let shape = self.shape_that_lives(*cpus, &mut memory).await?;
            measured.push(outcome::priced(shape, order.rate_per_s, order.prices));
        }
        let slo = order.slo.to_string();
        let sentence = outcome::sentence(&self.service, order.rate_per_s, &slo, &measured, &memory);
        Ok(Sizing {
            service: self.service.clone(),
            rate_per_s: order.rate_per_s,
            slo,
            sentence,
            cheapest_cpus: outcome::cheapest(&measured).map(|shape| shape.cpus),
            memory,
            shapes: measured,
            not_measured,
            took_s: self.began.elapsed().as_secs_f64(),
            results: order.results.clone(),
        })
    }

    fn is_time_over(&self) -> bool {
        self.began.elapsed() >= self.order.within
    }

    /// Halves the range between a limit with which the service lives and one with which it does
    /// not, by ratios.
    async fn memory(&mut self, cpus: f64) -> anyhow::Result<MemoryNeed> {
        let most = self.order.duel.limits.memory_bytes;
        let most = most.context("no limit of memory is named")?;
        let peak_bytes = match self.try_memory(cpus, most).await? {
            Tried::Lived(peak) => peak,
            Tried::Died(why) => {
                return Err(hinted(
                    format_args!(
                        "{} is killed or fails with {}: {why}",
                        self.service,
                        mib(most)
                    ),
                    "give it more with --memory; the smallest that it needs is looked for",
                ));
            }
        };
        let (mut low, mut high, mut died_bytes) = (MEMORY_MIN, most, None);
        while as_f64(high) > MEMORY_PRECISION * as_f64(low) && !self.is_time_over() {
            let middle = whole_mib((as_f64(low) * as_f64(high)).sqrt());
            if middle <= low || middle >= high {
                break;
            }
            match self.try_memory(cpus, middle).await? {
                Tried::Lived(_) => high = middle,
                Tried::Died(_) => {
                    low = middle;
                    died_bytes = Some(middle);
                }
            }
        }
        Ok(MemoryNeed {
            limit_bytes: whole_mib(MEMORY_MARGIN * as_f64(high)),
            lived_bytes: high,
            died_bytes,
            outgrown_bytes: None,
            peak_bytes,
        })
    }

    /// Loads a fresh process with this limit of memory.
    async fn try_memory(&mut self, cpus: f64, memory_bytes: u64) -> anyhow::Result<Tried> {
        let duel = Duel {
            limits: Limits {
                cpus: Some(cpus),
                memory_bytes: Some(memory_bytes),
            },
            warm_up: DuelWarmUp::Skipped,
            ..self.asked.duel.clone()
        };
        let suite = self.asked.files(&duel);
        let (recorded, _) = self.play(cpus, memory_bytes, suite).await?;
        let run = recorded.runs.last().context("the session has no run")?;
        must_be_limited(run)?;
        Ok(tried(run))
    }

    /// Measures a shape, with more memory each time that one of its processes is killed for memory:
    /// they take load for much longer than those that the need for memory was found with.
    async fn shape_that_lives(
        &mut self,
        cpus: f64,
        memory: &mut MemoryNeed,
    ) -> anyhow::Result<Shape> {
        let most = self.order.duel.limits.memory_bytes.unwrap_or(u64::MAX);
        loop {
            let limit = memory.limit_bytes;
            let (shape, is_killed) = self.shape(cpus, limit).await?;
            if !is_killed {
                return Ok(shape);
            }
            memory.outgrown_bytes = Some(limit);
            if limit >= most || self.is_time_over() {
                return Ok(outcome::killed(shape));
            }
            memory.limit_bytes = whole_mib(MEMORY_MARGIN * as_f64(limit)).min(most);
        }
    }

    /// Looks for the rate that the service sustains in a shape. Returns whether a process was
    /// killed for memory, too.
    async fn shape(&mut self, cpus: f64, memory_bytes: u64) -> anyhow::Result<(Shape, bool)> {
        let duel = Duel {
            limits: Limits {
                cpus: Some(cpus),
                memory_bytes: Some(memory_bytes),
            },
            runs: DuelRuns::Fixed(PROCESSES),
            ..self.asked.duel.clone()
        };
        let mut suite = self.asked.files(&duel);
        search_capacity(&mut suite, self.order);
        let (recorded, results) = self.play(cpus, memory_bytes, suite).await?;
        let analysis = Analysis::of(&AnalysisInput::new(&recorded, ""));
        let summary = analysis.capacities.first().map(|one| &one.summary);
        let table = summary.and_then(|summary| summary.tables.first());
        let row = table.and_then(|table| table.rows.first());
        let unranked = table.and_then(|table| table.unranked.first());
        let without = || {
            let reason = unranked.map(|one| one.reason.clone());
            reason.unwrap_or_else(|| "its session has no number".to_owned())
        };
        let shape = Shape {
            cpus,
            memory_bytes,
            capacity_per_s: row.map(|row| WithInterval::from(&row.rate)),
            at_least_per_s: table
                .and_then(|table| table.at_least_per_s.values().next())
                .copied(),
            confirmed: row.map_or([0, 0], |row| [row.confirmed.met, row.confirmed.held]),
            replicas: None,
            dollars_per_month: None,
            throttled: row.and_then(|row| row.throttled),
            start_s: row.and_then(|row| row.start_s),
            cpu_us: row.and_then(|row| row.cpu_us),
            without: row.is_none().then(without),
            results,
        };
        Ok((shape, recorded.runs.iter().any(is_killed_for_memory)))
    }

    /// Plays a session of a suite. Returns its records and their folder.
    async fn play(
        &mut self,
        cpus: f64,
        memory_bytes: u64,
        suite: SuiteFiles,
    ) -> anyhow::Result<(Arc<Results>, PathBuf)> {
        self.tell(&Event::SizingMeasures { cpus, memory_bytes })?;
        self.sessions += 1;
        let folder = self.order.results.join(format!("{:02}", self.sessions));
        let locked = LockedFolder::make(&folder)?;
        let duel = &self.asked.duel;
        let suite = MadeSuite::new(suite, duel.grpc.as_ref())?;
        let suite = suite.written(&folder.join("suite"), self.asked.credentials().files())?;
        let (runtime, seed) = (self.asked.runtime, self.order.seed);
        let options = SessionOptions {
            purpose: Purpose::Size,
            ..self.asked.duel.options()
        };
        let open = duel::open(suite, runtime, locked, options, seed)?;
        let recorded = series::play(open, &folder, self.audience).await?;
        Ok((recorded, folder))
    }
}

/// Refuses numbers of a service without limits: they would say nothing of any shape.
fn must_be_limited(run: &RunRecords) -> anyhow::Result<()> {
    match run.begin.enforcement.unlimited_because() {
        None => Ok(()),
        Some(why) => Err(hinted(
            format_args!("limits are not enforced here: {why}"),
            "run it as root, or name an image of the service: NAME=image:IMAGE",
        )),
    }
}

fn is_killed_for_memory(run: &RunRecords) -> bool {
    let outcome = run.end.as_ref().map(|end| &end.outcome);
    matches!(outcome, Some(Outcome::Failed(failure)) if failure.oom_killed)
}

fn tried(run: &RunRecords) -> Tried {
    match run.end.as_ref().map(|end| &end.outcome) {
        Some(Outcome::Completed) => {}
        Some(Outcome::Failed(failure)) => return Tried::Died(failure.message.clone()),
        Some(Outcome::Interrupted) | None => return Tried::Died("it was interrupted".to_owned()),
    }
    let failures: u64 = run
        .intervals
        .iter()
        .flat_map(|slice| slice.load.errors.values())
        .map(|error| error.count)
        .sum();
    if failures > 0 {
        return Tried::Died(format!("{failures} requests failed"));
    }
    let samples = run
        .intervals
        .iter()
        .filter_map(|slice| slice.contender_after.as_ref());
    let peaks = samples.filter_map(|sample| sample.memory.map(|memory| memory.peak_bytes));
    Tried::Lived(peaks.max())
}

/// Puts a search for a capacity in the place of the closed load.
fn search_capacity(files: &mut SuiteFiles, order: &Size) {
    for benchmark in &mut files.suite.benchmark {
        benchmark.kind = KindName::Capacity;
        benchmark.slo = vec![order.slo.to_string()];
        benchmark.connections = Some(order.duel.connections);
        benchmark.trial = Some(DurationText(order.duel.duration));
        benchmark.trials_at_most = Some(TRIALS_AT_MOST);
    }
}

/// Whole MiB, rounded up.
fn whole_mib(bytes: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a size in memory"
    )]
    let mib = (bytes / f64::from(1 << 20)).ceil() as u64;
    mib << 20
}

#[cfg(test)]
mod tests {
    use super::whole_mib;

    #[test]
    fn sizes_are_whole_mib() {
        assert_eq!(whole_mib(1.0), 1 << 20);
        assert_eq!(whole_mib(f64::from(3 << 20)), 3 << 20);
    }
}
